//! The shapes of servers files: whose file it is, in which dialect of JSON, and where in it the
//! servers and their settings stand. What the settings mean is in `servers_file`.
//!
//! ```text
//! file ─ parse ─▶ Document ─ servers_and_client ─┬─▶ the object of the servers
//!                                                └─▶ the client: may it have comments? `inputs`?
//! entry ─┬─ launch_settings ─▶ where `command`, `args` and `env` stand
//!        └─ written_server ──▶ its texts with their places, for `server_rules`
//! ```

use std::path::{Path, PathBuf};

use toolwright_formats::MAX_ITEMS;
use toolwright_source::words::nearest_word;
use toolwright_source::{Diagnostic, Document, DocumentPath, Node, Syntax, ValueKind};

use super::{ADDRESS_KEYS, flag};
use crate::files::{LoadError, Overlay, syntax_of};
use crate::server_rules::{ReferenceStyle, WrittenServer, WrittenText};
use crate::variables::variable_for;

/// Whether the document lists servers. Whether the entries are valid does not matter here: a file
/// with mistakes must still be read as what it is.
pub fn is_servers_file(document: &Document) -> bool {
    servers_and_client(document).is_some()
}

/// The client whose file it is, as far as the shape and the path tell.
///
/// It decides which JSON is allowed, how references are written, and whether there are `inputs`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileClient {
    VsCode,
    Zed,
    /// Gemini CLI, whose file has the shape of the others and is known by its path.
    Gemini,
    /// Claude Code, Cursor and most others.
    Other,
}

/// The object that holds the servers, and the client that keeps them there. A value of `mcpServers`
/// that is not an object is returned too, to be reported; the other keys are common words, so there
/// only an object counts.
pub(super) fn servers_and_client(document: &Document) -> Option<(Node<'_>, FileClient)> {
    let root = document.root();
    let object = |node: &Node<'_>| node.kind() == ValueKind::Map;
    let client = || match absolute_path(document).ends_with(".gemini/settings.json") {
        true => FileClient::Gemini,
        false => FileClient::Other,
    };
    let other = root.get("mcpServers").map(|node| (node, client()));
    let code = || {
        root.get("servers")
            .filter(object)
            .or_else(|| root.get("mcp")?.get("servers").filter(object))
            .or_else(|| root.get("settings")?.get("mcp")?.get("servers").filter(object))
    };
    let zed = || root.get("context_servers").filter(object).map(|node| (node, FileClient::Zed));
    other.or_else(|| code().map(|node| (node, FileClient::VsCode))).or_else(zed)
}

/// Where the file is, whatever the working directory is: some clients are known by a folder.
fn absolute_path(document: &Document) -> PathBuf {
    let name = document.source().name();
    std::path::absolute(name).unwrap_or_else(|_| name.into())
}

/// Parses a servers file in the dialect of JSON that its own client reads, or as YAML. Returns the
/// mistakes of the text with it.
///
/// # Errors
/// If it cannot be read, or is not text.
///
/// JSON is read in the relaxed dialect first, in which any of these files can be recognised, and
/// again in the strict one if the client of the file reads only that.
pub(crate) fn parse(path: &Path) -> Result<(Document, Vec<Diagnostic>), LoadError> {
    let document = Overlay::default().parse_with(path, |bytes| {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        match syntax_of(path) {
            Some(Syntax::Yaml) => Syntax::Yaml,
            // Other endings, such as `.code-workspace`: an object, or a comment above it.
            None if !matches!(first, Some(b'{' | b'/')) => Syntax::Yaml,
            _ => Syntax::Jsonc,
        }
    })?;
    let client = servers_and_client(&document).map(|(_, client)| client);
    let relaxed = document.problems().to_vec();
    if document.syntax() == Syntax::Yaml
        || matches!(client, Some(FileClient::VsCode | FileClient::Zed))
    {
        return Ok((document, relaxed));
    }
    // Which client it is is known only after parsing. These files are small.
    let source = document.source();
    let strict = Document::parse(source.name(), source.with_text(source.text()), Syntax::Json);
    let is_gemini = client == Some(FileClient::Gemini);
    let is_comment = |problem: &&Diagnostic| {
        problem.span.is_some_and(|span| matches!(source.slice(span), "//" | "/*"))
    };
    let help = |problem: &Diagnostic| {
        let is_relaxed = relaxed.iter().any(|other| other.span == problem.span);
        let text = match is_gemini {
            true => "Gemini CLI allows comments in this file, but no trailing commas",
            false => {
                "the client of this file reads plain JSON; only VS Code and Zed allow comments and \
                 trailing commas in theirs, and Gemini CLI comments"
            }
        };
        if is_relaxed { problem.clone() } else { problem.clone().help(text) }
    };
    let problems = strict.problems().iter().filter(|p| !(is_gemini && is_comment(p))).map(help);
    let problems = problems.collect();
    Ok((strict, problems))
}

/// The settings of all servers of the file as they are written, also of those with mistakes and of
/// those that are switched off.
///
/// The reader in `servers_file` expands references and leaves entries with mistakes out; here the
/// texts stay as they are, so that a secret is found in every entry. References are written as
/// `${env:VAR}` in files of VS Code and Cursor. Cursor's file has no shape of its own and is
/// recognised by its folder.
pub(crate) fn written_servers(document: &Document) -> Vec<WrittenServer<DocumentPath>> {
    let Some((node, client)) = servers_and_client(document) else { return Vec::new() };
    let is_cursor = absolute_path(document).components().any(|c| c.as_os_str() == ".cursor");
    let style = match client == FileClient::VsCode || is_cursor {
        true => ReferenceStyle::Env,
        false => ReferenceStyle::Plain,
    };
    let entries = node.members().into_iter().take(MAX_ITEMS);
    entries
        .filter(|entry| entry.value.kind() == ValueKind::Map)
        .map(|entry| written_server(entry.name(), entry.value, style))
        .collect()
}

/// The settings of one entry as they are written. Values of the wrong type are left out.
fn written_server(
    name: &str,
    node: Node<'_>,
    style: ReferenceStyle,
) -> WrittenServer<DocumentPath> {
    let written = |node: Node<'_>| WrittenText { text: node.raw().to_owned(), at: node.pointer() };
    let is_scalar = |node: &Node<'_>| {
        !matches!(node.kind(), ValueKind::Null | ValueKind::List | ValueKind::Map)
    };
    let launch = launch_settings(node);
    let pairs = |node: Option<Node<'_>>| {
        let members = node.map(Node::members).unwrap_or_default().into_iter().take(MAX_ITEMS);
        let scalars = members.filter(|member| is_scalar(&member.value));
        scalars.map(|member| (member.name().to_owned(), written(member.value))).collect()
    };
    let program = launch.program().filter(|node| node.text().is_some());
    let args = launch.node.get("args").into_iter().flat_map(Node::items).take(MAX_ITEMS);
    let text = |key: &str| node.get(key).filter(|node| node.text().is_some()).map(written);
    WrittenServer {
        name: name.to_owned(),
        at: node.pointer(),
        disabled: is_disabled(node),
        command: program
            .into_iter()
            .chain(args.filter(|node| node.text().is_some()))
            .map(written)
            .collect(),
        environment: pairs(launch.node.get("env")),
        headers: pairs(node.get("headers")),
        url: ADDRESS_KEYS.into_iter().find_map(text),
        directory: text("cwd"),
        other_values: other_values(node),
        style,
    }
}

/// The texts of an entry that neither start nor reach the server, each with its key. All of them,
/// also of keys that no client has: a secret is one wherever it stands.
///
/// A walk without recursion, in the order of the text.
///
/// `disabledTools: ["a", "b"]` gives two values under the key `disabledTools`. Of several
/// addresses, those that are not used count here. At most `MAX_ITEMS` values.
fn other_values(entry: Node<'_>) -> Vec<(String, WrittenText<DocumentPath>)> {
    const USED: [&str; 8] =
        ["command", "args", "env", "headers", "cwd", "type", "transport", "description"];
    let address = ADDRESS_KEYS.into_iter().find(|key| entry.get(key).is_some_and(is_text));
    let is_used = |key: &str| USED.contains(&key) || address == Some(key);
    let mut values = Vec::new();
    // The last one first, because the next one is taken from the end.
    let mut open = members_backwards(entry);
    open.retain(|(key, _)| !is_used(key));
    while let Some((key, node)) = open.pop() {
        match node.kind() {
            _ if values.len() >= MAX_ITEMS => break,
            ValueKind::Map => open.extend(members_backwards(node)),
            ValueKind::List => {
                let items: Vec<_> = node.items().take(MAX_ITEMS).collect();
                open.extend(items.into_iter().rev().map(|item| (key.clone(), item)));
            }
            ValueKind::String => {
                let text = WrittenText { text: node.raw().to_owned(), at: node.pointer() };
                values.push((key, text));
            }
            _ => {}
        }
    }
    values
}

/// The members of an object, the last one first, each with its key.
fn members_backwards(node: Node<'_>) -> Vec<(String, Node<'_>)> {
    let members = node.members().into_iter().take(MAX_ITEMS);
    let mut members: Vec<_> =
        members.map(|member| (member.name().to_owned(), member.value)).collect();
    members.reverse();
    members
}

fn is_text(node: Node<'_>) -> bool {
    node.text().is_some()
}

/// The object with `args` and `env`, and the key of the program in it.
///
/// Most entries are flat; Zed once had an object `command` with `path`, `args` and `env`.
pub(super) struct LaunchSettings<'d> {
    pub(super) node: Node<'d>,
    key: &'static str,
}

impl<'d> LaunchSettings<'d> {
    /// The program, of whatever type it is.
    pub(super) fn program(&self) -> Option<Node<'d>> {
        self.node.get(self.key)
    }
}

/// Where an entry says how its program is started: in the entry, or in the object `command`.
pub(super) fn launch_settings(node: Node<'_>) -> LaunchSettings<'_> {
    match node.get("command").filter(|command| command.kind() == ValueKind::Map) {
        Some(command) => LaunchSettings { node: command, key: "path" },
        None => LaunchSettings { node, key: "command" },
    }
}

/// Whether an entry is switched off. Clients have two spellings for it.
pub(super) fn is_disabled(node: Node<'_>) -> bool {
    flag(node, "disabled") == Some(true) || flag(node, "enabled") == Some(false)
}

/// The inputs that a file of VS Code declares: the variable that stands for each, and its default.
///
/// VS Code asks a person for an input. Nobody is asked here, so the environment or the default has
/// to supply it.
pub(crate) fn input_defaults(document: &Document) -> Vec<(String, String)> {
    let inputs = inputs(document.root()).into_iter();
    let default = |(id, node): (&str, Node<'_>)| {
        Some((variable_for(id), node.get("default")?.text()?.to_owned()))
    };
    inputs.filter_map(default).collect()
}

/// The inputs of a file of VS Code, by their ids.
///
/// They stand beside the servers: at the root, below `mcp`, or below `settings` and `mcp`.
pub(super) fn inputs(root: Node<'_>) -> Vec<(&str, Node<'_>)> {
    let below =
        [Some(root), root.get("mcp"), root.get("settings").and_then(|node| node.get("mcp"))];
    let lists = below.into_iter().flatten().filter_map(|node| node.get("inputs"));
    let items = lists.flat_map(Node::items).take(MAX_ITEMS);
    items.filter_map(|node| Some((node.get("id")?.text()?, node))).collect()
}

/// The first `${input:id}` of a text whose id is not among `inputs`, and what to do about it.
///
/// `None` if all are declared, or there is no such reference.
pub(super) fn unknown_input(text: &str, inputs: &[&str]) -> Option<(String, String)> {
    let ids = text.split("${input:").skip(1).filter_map(|rest| rest.split('}').next());
    let id = ids.into_iter().find(|id| !inputs.contains(id))?;
    let help = match nearest_word(id, inputs.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "declare it in `inputs`, or write `${env:VAR}`".to_owned(),
    };
    Some((id.to_owned(), help))
}

/// The name of the server whose entry is at or around `path`; `None` outside of the entries.
pub(crate) fn server_around(document: &Document, path: &DocumentPath) -> Option<String> {
    let (entries, _) = servers_and_client(document)?;
    let key = path.below(&entries.pointer())?.tokens().next()?.into_owned();
    Some(namespace_of(&key))
}

/// The namespace made of a key. Other clients allow names such as `My Server`, hence the
/// replacement.
///
/// Two keys may become one name; the reader reports the second.
pub(super) fn namespace_of(key: &str) -> String {
    // The characters that `Namespace::is_portable` accepts.
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '-' };
    key.chars().map(plain).collect()
}
