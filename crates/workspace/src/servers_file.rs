//! Reads the servers files of other MCP clients, with the meaning that those clients give them.
//!
//! | file | shape |
//! |---|---|
//! | Claude Code, Claude Desktop, Cursor, Windsurf, most others | `{"mcpServers": {name: {…}}}` |
//! | VS Code, `.vscode/mcp.json` | `{"servers": {name: {…}}, "inputs": […]}` |
//! | VS Code, `settings.json` | `{"mcp": {"servers": {name: {…}}}}` |
//! | VS Code, `*.code-workspace` | the same, at the root or below `settings` |
//! | Zed, `settings.json` | `{"context_servers": {name: {…}}}` |
//! | Gemini CLI, `.gemini/settings.json` | `{"mcpServers": {name: {…}}}`, and `$VAR` |
//!
//! There is no specification of these files, only the documentation of each client. The keys of all
//! clients are accepted in every file, because users copy entries from one to the other. A bad
//! entry is reported and left out; the others stay. Comments and trailing commas are read in the
//! files of VS Code and Zed, and comments in those of Gemini CLI, which allow them; they are errors
//! in all others.
//!
//! What is wrong with a server that could be started, such as a secret in its settings, is not
//! found here but in `server_rules`, which gets the texts as they are written
//! ([`written_servers`]).
//!
//! No finding quotes a value of `env` or `headers`, or a text whose references were expanded: they
//! may be secrets.
//!
//! ```text
//! entry ─┬─ check_key, for each key ──────────▶ findings about one value
//!        └─ ServerValues::server ─ transport ─┬─ stdio: command, args, env, cwd ─▶ Server
//!                                             └─ http, sse, ws: url, headers ────▶ Server
//! ```

mod shape;

use std::borrow::Cow;
use std::collections::HashSet;

use toolwright_formats::MAX_ITEMS;
use toolwright_formats::codes::{
    INVALID_ENUM_VALUE, INVALID_PATTERN, INVALID_TYPE, MISSING_REQUIRED_FIELD, MISSPELLED_FIELD,
    UNKNOWN_FIELD,
};
use toolwright_model::{Connection, Namespace, Server, ServerSettings, Variable};
use toolwright_source::words::{alternatives, nearest, nearest_word, shorten, split_words};
use toolwright_source::{
    Document, DocumentPath, Edit, Finding, Member, Node, Safety, Severity, ValueKind,
};

pub use self::shape::is_servers_file;
use self::shape::{
    FileClient, inputs, is_disabled, launch_settings, namespace_of, servers_and_client,
    unknown_input,
};
pub(crate) use self::shape::{input_defaults, parse, server_around, written_servers};
use crate::codes::{
    DUPLICATE_SOURCE, IGNORED_SETTING, INVALID_REFERENCE, INVALID_SOURCE, SUSPICIOUS_COMMAND,
};
use crate::server_rules::{masked_text, masked_words};
use crate::text_forms::{can_be_variable, is_address, is_header_name};
use crate::variables::with_braces;
use crate::{VariableScope, expand};

/// Findings kept for one file: further ones would not help its author, and the file may be hostile.
const MAX_FINDINGS: usize = 1_000;

/// A server of the file.
///
/// Only entries without an error become one.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedServer {
    /// Its namespace: the key, with `-` for every character that ids do not allow.
    pub name: String,
    /// How to reach it, with references expanded. In a disabled entry, those that cannot be
    /// expanded stay as they are written.
    pub server: Server,
    /// Whether the file switches it off.
    pub disabled: bool,
    /// The entry in the file.
    pub at: DocumentPath,
}

/// The settings of other clients that a server misses here, each with what to write instead.
pub(crate) fn lost_settings() -> impl Iterator<Item = (&'static str, &'static str)> {
    SERVER_KEYS.iter().filter_map(|(key, form)| match form {
        ServerKeyForm::IgnoredWithWarning(help) => Some((*key, *help)),
        _ => None,
    })
}

/// The values that a key of an entry accepts, and what becomes of them.
#[derive(Clone, Copy)]
enum ServerKeyForm {
    Text,
    /// A program: a string, or in older settings of Zed an object with `path`, `args` and `env`.
    Program,
    /// A list of strings.
    Texts,
    Flag,
    /// One of [`TRANSPORTS`].
    Transport,
    /// An object of strings. Clients also accept numbers, booleans and null as values.
    Variables,
    /// The same for HTTP headers.
    Headers,
    /// A setting of another client without which the server behaves differently, so that ignoring
    /// it is reported, with what to write instead.
    IgnoredWithWarning(&'static str),
    /// A setting of another client that makes no difference here.
    Ignored,
}

/// What to write instead of a file of variables.
const VARIABLES: &str = "put the variables into `env`, as `${VAR}` if they are secret";

/// What to write instead of a setting that makes headers.
const HEADERS: &str = "put the header into `headers`, as `${VAR}` if it is secret";

/// The keys of an entry, of all clients together.
const SERVER_KEYS: &[(&str, ServerKeyForm)] = &[
    ("command", ServerKeyForm::Program),
    ("args", ServerKeyForm::Texts),
    ("env", ServerKeyForm::Variables),
    // The server would start without its variables and fail in a way that is hard to explain.
    ("envFile", ServerKeyForm::IgnoredWithWarning(VARIABLES)), // VS Code, Cursor
    ("headersHelper", ServerKeyForm::IgnoredWithWarning(HEADERS)), // Claude Code
    ("authProviderType", ServerKeyForm::IgnoredWithWarning(HEADERS)), // Gemini CLI
    ("cwd", ServerKeyForm::Text),
    ("type", ServerKeyForm::Transport),
    ("transport", ServerKeyForm::Transport),
    ("url", ServerKeyForm::Text),
    ("serverUrl", ServerKeyForm::Text), // Windsurf
    ("httpUrl", ServerKeyForm::Text),   // Gemini CLI
    ("headers", ServerKeyForm::Headers),
    ("disabled", ServerKeyForm::Flag),
    ("enabled", ServerKeyForm::Flag),
    // From here on, settings of other clients that are accepted and have no effect.
    ("disabledTools", ServerKeyForm::Ignored),
    ("autoApprove", ServerKeyForm::Ignored),
    ("alwaysAllow", ServerKeyForm::Ignored),
    ("timeout", ServerKeyForm::Ignored),
    ("description", ServerKeyForm::Ignored),
    ("oauth", ServerKeyForm::Ignored),
    ("auth", ServerKeyForm::Ignored),  // Cursor, the same as `oauth`
    ("tools", ServerKeyForm::Ignored), // Copilot, the tools that it offers
    ("watchPaths", ServerKeyForm::Ignored), // Roo Code
    ("gallery", ServerKeyForm::Ignored),
    ("version", ServerKeyForm::Ignored),
    ("dev", ServerKeyForm::Ignored),
    ("sandbox", ServerKeyForm::Ignored),
    ("sandboxEnabled", ServerKeyForm::Ignored),
    ("trust", ServerKeyForm::Ignored), // Gemini CLI, with the next four
    ("includeTools", ServerKeyForm::Ignored),
    ("excludeTools", ServerKeyForm::Ignored),
    ("targetAudience", ServerKeyForm::Ignored),
    ("targetServiceAccount", ServerKeyForm::Ignored),
    ("source", ServerKeyForm::Ignored), // Zed, with the next one
    ("settings", ServerKeyForm::Ignored),
];

/// The keys for an address, by precedence. An entry that was copied between clients may have
/// several of them.
const ADDRESS_KEYS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// The transports under all the names that clients use.
const TRANSPORTS: &[(&str, ServerTransport)] = &[
    ("stdio", ServerTransport::Stdio),
    ("local", ServerTransport::Stdio), // Copilot
    ("http", ServerTransport::Http),
    ("streamable-http", ServerTransport::Http),
    ("streamableHttp", ServerTransport::Http),
    ("sse", ServerTransport::Sse),
    ("ws", ServerTransport::WebSocket),
];

/// A transport of MCP.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerTransport {
    Stdio,
    Http,
    /// HTTP with server-sent events; connecting tries streamable HTTP first.
    Sse,
    WebSocket,
}

/// The servers of a servers file and the findings about it. Other documents have no servers and no
/// findings.
///
/// At most `MAX_ITEMS` servers and `MAX_FINDINGS` findings. `scope` has the variables for
/// references and the folder that `${workspaceFolder}` stands for.
pub fn read_servers(
    document: &Document,
    scope: &VariableScope<'_>,
) -> (Vec<NamedServer>, Vec<Finding>) {
    // Not a finding: the caller knows whether the document was meant to list servers.
    let Some((node, client)) = servers_and_client(document) else {
        return (Vec::new(), Vec::new());
    };
    let inputs = (client == FileClient::VsCode)
        .then(|| inputs(document.root()).into_iter().map(|(id, _)| id).collect());
    let (findings, names) = (Vec::new(), HashSet::new());
    let mut reader = ServersReader { scope, client, inputs, findings, names };
    let mut list = Vec::new();
    if node.kind() == ValueKind::Map {
        // The last of several members with the same key counts, and a pointer can lead only to it.
        let counts =
            |entry: &Member<'_>| node.get(entry.name()).map(Node::span) == Some(entry.value.span());
        // The same bound as for lists of a definition.
        let entries = node.members().into_iter().filter(counts).take(MAX_ITEMS);
        list.extend(entries.filter_map(|entry| reader.read_entry(&entry)));
    } else {
        reader.report_wrong_type(node, "an object");
    }
    (list, reader.findings)
}

/// Reads the entries one by one.
struct ServersReader<'d, 'r, 'v> {
    scope: &'r VariableScope<'v>,
    client: FileClient,
    /// The ids that `${input:id}` can name, in a file of VS Code.
    inputs: Option<Vec<&'d str>>,
    findings: Vec<Finding>,
    /// The names so far, after replacing characters.
    names: HashSet<String>,
}

impl ServersReader<'_, '_, '_> {
    /// Adds a finding, up to the bound.
    ///
    /// A full list also ends the list of servers: see `read_entry`.
    fn report(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// Reports that a value is not `wanted`, a phrase such as "a string".
    fn report_wrong_type(&mut self, node: Node<'_>, wanted: &str) {
        let name =
            node.key().map_or_else(|| "this".to_owned(), |key| format!("`{}`", shown(key.raw())));
        let message = format!("{name} is {}, expected {wanted}", node.kind().name());
        self.report(Finding::new(&INVALID_TYPE, node.pointer(), message));
    }

    /// One server, or `None` if it has an error. Warnings do not keep a server out.
    ///
    /// An entry with an error gives no server: starting half of what its author meant could do
    /// harm.
    fn read_entry(&mut self, entry: &Member<'_>) -> Option<NamedServer> {
        let node = entry.value;
        if node.kind() != ValueKind::Map {
            self.report_wrong_type(node, "an object");
            return None;
        }
        // Zed starts these itself, with a program that only the extension knows.
        let is_extension = node.get("source").and_then(Node::text) == Some("extension")
            || node.has("settings") && !node.has("command") && !node.has("url");
        if is_extension {
            let message = "the server belongs to an extension of Zed, and only Zed can start it";
            self.report(Finding::new(&IGNORED_SETTING, node.pointer(), message).on_key());
            return None;
        }
        // The findings behind this index are those about this entry.
        let before = self.findings.len();
        let name = self.name(entry);
        // First each key by itself, then the server as a whole, so that the findings of both are
        // reported.
        node.members().iter().for_each(|entry| self.check_key(node, entry));
        let disabled = is_disabled(node);
        let server = ServerValues { node, disabled, reader: self }.server();
        let is_bad =
            self.findings[before..].iter().any(|finding| finding.severity == Severity::Error);
        // With a full list its errors may have been dropped, so nothing is known to be right any
        // more.
        if is_bad || self.findings.len() >= MAX_FINDINGS {
            return None;
        }
        Some(NamedServer { name: name?, server: server?, disabled, at: node.pointer() })
    }

    /// The namespace of an entry, or `None` after reporting why it has none.
    fn name(&mut self, entry: &Member<'_>) -> Option<String> {
        let name = namespace_of(entry.name());
        let finding = |code, message| Finding::new(code, entry.value.pointer(), message).on_key();
        if let Err(error) = Namespace::parse(&name) {
            let message =
                format!("`{}` cannot be the name of a server: {error}", shown(entry.name()));
            self.report(finding(&INVALID_PATTERN, message));
            return None;
        }
        // `My Server` and `My-Server` are two keys, but one name.
        if !self.names.insert(name.clone()) {
            let message = format!("two servers have the name `{name}`");
            let finding = finding(&DUPLICATE_SOURCE, message);
            self.report(finding.help("characters that ids do not have count as `-`"));
            return None;
        }
        Some(name)
    }

    /// Checks one member of an entry by itself.
    ///
    /// `null` counts as not set under every key.
    fn check_key(&mut self, node: Node<'_>, entry: &Member<'_>) {
        let (name, value) = (entry.name(), entry.value);
        let Some((_, form)) = SERVER_KEYS.iter().find(|(known, _)| entry.is(known)) else {
            return self.report_unknown_key(node, entry);
        };
        let kind = value.kind();
        match form {
            ServerKeyForm::Ignored => {}
            // Many serialisers write `null` for settings that are not set.
            _ if kind == ValueKind::Null => {}
            ServerKeyForm::Text if kind != ValueKind::String => {
                self.report_wrong_type(value, "a string")
            }
            ServerKeyForm::Flag if kind != ValueKind::Bool => {
                self.report_wrong_type(value, "a boolean")
            }
            ServerKeyForm::Texts if kind != ValueKind::List => {
                self.report_wrong_type(value, "a list of strings")
            }
            ServerKeyForm::Variables | ServerKeyForm::Headers if kind != ValueKind::Map => {
                self.report_wrong_type(value, "an object")
            }
            ServerKeyForm::Program if !matches!(kind, ValueKind::String | ValueKind::Map) => {
                self.report_wrong_type(value, "a string")
            }
            ServerKeyForm::Program if kind == ValueKind::Map => {
                // Older settings of Zed. The same keys, checked in the same way.
                for entry in value.members().iter().filter(|entry| !entry.is("path")) {
                    self.check_key(value, entry);
                }
            }
            // From here on, texts, flags, lists and objects have the right type.
            ServerKeyForm::Text | ServerKeyForm::Program if value.raw().trim().is_empty() => {
                let message = format!("`{name}` is blank");
                self.report(Finding::new(&MISSING_REQUIRED_FIELD, value.pointer(), message));
            }
            ServerKeyForm::Text | ServerKeyForm::Program | ServerKeyForm::Flag => {}
            ServerKeyForm::Texts => {
                let others =
                    value.items().take(MAX_ITEMS).filter(|item| item.kind() != ValueKind::String);
                others.for_each(|item| self.report_wrong_type(item, "a string"));
            }
            ServerKeyForm::Transport => self.check_transport(value),
            ServerKeyForm::Variables => {
                self.check_texts(value, can_be_variable, "an environment variable")
            }
            ServerKeyForm::Headers => self.check_texts(value, is_header_name, "a header"),
            ServerKeyForm::IgnoredWithWarning(help) => {
                let message = format!("`{name}` is not read here");
                let finding = Finding::new(&IGNORED_SETTING, value.pointer(), message).on_key();
                self.report(finding.help(*help));
            }
        }
    }

    /// Reports a key that no client has, as a misspelling if it resembles a known one.
    ///
    /// Other clients have keys that are not known here, so an unknown key never keeps a server out.
    fn report_unknown_key(&mut self, node: Node<'_>, entry: &Member<'_>) {
        let (name, at) = (entry.name(), entry.value.pointer());
        let suggestion = nearest(name, SERVER_KEYS.iter().map(|(known, _)| *known))
            // If the right key is there as well, this one is not a misspelling of it.
            .filter(|suggestion| !node.has(suggestion));
        self.report(match suggestion {
            Some(suggestion) => {
                let message = format!(
                    "unknown field `{}`; `{suggestion}` is spelled almost like it",
                    shown(name)
                );
                let edit = Edit::RenameKey(at.clone(), suggestion.to_owned());
                Finding::new(&MISSPELLED_FIELD, at, message).on_key().repair(
                    Safety::Safe,
                    format!("rename it to `{suggestion}`"),
                    vec![edit],
                )
            }
            None => {
                let message = format!("unknown field `{}`", shown(name));
                Finding::new(&UNKNOWN_FIELD, at, message).on_key()
            }
        });
    }

    /// Reports an unknown transport.
    fn check_transport(&mut self, value: Node<'_>) {
        if value.kind() != ValueKind::String {
            return self.report_wrong_type(value, "a string");
        }
        if transport(value).is_some() {
            return;
        }
        let words: Vec<&str> = TRANSPORTS.iter().map(|(word, _)| *word).collect();
        let name = value.key().map_or("type", Node::raw);
        let message =
            format!("`{name}` is `{}`, expected {}", shown(value.raw()), alternatives(&words));
        let finding = Finding::new(&INVALID_ENUM_VALUE, value.pointer(), message);
        let suggestion = nearest_word(value.raw(), words.iter().copied());
        self.report(
            suggestion
                .into_iter()
                .fold(finding, |f, suggestion| f.help(format!("did you mean `{suggestion}`?"))),
        );
    }

    /// Checks the keys of an object with `allowed`, and that its values are scalars.
    ///
    /// Values may be numbers and booleans, as clients accept them; only lists and objects are
    /// reported.
    fn check_texts(&mut self, node: Node<'_>, allowed: fn(&str) -> bool, what: &str) {
        for entry in node.members() {
            if !allowed(entry.name()) {
                let message = format!("`{}` cannot be the name of {what}", shown(entry.name()));
                // A path is printed, too, and would have the secret in it.
                self.report(match masked_text(entry.name()) == entry.name() {
                    true => Finding::new(&INVALID_PATTERN, entry.value.pointer(), message).on_key(),
                    false => Finding::new(&INVALID_PATTERN, node.pointer(), message).on_key(),
                });
            }
            if matches!(entry.value.kind(), ValueKind::List | ValueKind::Map) {
                self.report_wrong_type(entry.value, "a string");
            }
        }
    }
}

/// A name or word of the file as messages quote it. A whole setting may stand in the place of a
/// name, as in `"API_KEY=…": ""`.
fn shown(text: &str) -> String {
    shorten(&masked_text(text))
}

/// The finding about a whole command line in `command`, with the repair that moves its arguments
/// into `args`.
fn command_line_finding(command: Node<'_>, entry: &Node<'_>) -> Finding {
    let message = "`command` is one program, and its name has a space";
    // The plan looks for such a program: it drops the warning if there is one, and raises it to an
    // error otherwise.
    let finding = Finding::new(&SUSPICIOUS_COMMAND, command.pointer(), message)
        .severity(Severity::Warning)
        .help("put what follows the program into `args`, one item for each word");
    let words = split_words(command.raw()).unwrap_or_default();
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        // A repair is printed, so one with a secret in it is not offered.
        _ if masked_words(&texts) != words => finding,
        [program, args @ ..] if !args.is_empty() => finding.repair(
            // The program may really have a space in its name.
            Safety::Unsafe,
            "move the arguments into `args`",
            vec![
                Edit::Replace(command.pointer(), program.as_str().into()),
                Edit::Insert(entry.pointer().child("args"), args.into()),
            ],
        ),
        _ => finding,
    }
}

/// A boolean setting.
fn flag(node: Node<'_>, name: &str) -> Option<bool> {
    node.get(name)?.boolean()
}

/// The transport that a value names.
fn transport(value: Node<'_>) -> Option<ServerTransport> {
    let word = value.text()?;
    TRANSPORTS.iter().find(|(name, _)| *name == word).map(|(_, transport)| *transport)
}

/// Builds the server from an entry whose keys were checked.
struct ServerValues<'d, 'r, 'i, 's, 'v> {
    node: Node<'d>,
    disabled: bool,
    reader: &'r mut ServersReader<'i, 's, 'v>,
}

impl<'d> ServerValues<'d, '_, '_, '_, '_> {
    /// The server, or `None` if it cannot be reached as the entry says. All parts are expanded
    /// before that is known, so that every unset variable is reported at once.
    fn server(mut self) -> Option<Server> {
        let environment = self.variables(launch_settings(self.node).node.get("env"));
        let headers = self.variables(self.node.get("headers"));
        let directory = self.text("cwd");
        let connection = self.connection()?;
        let shown = None;
        Some(Server {
            connection,
            shown,
            environment,
            headers,
            directory,
            health_check: None,
            settings: ServerSettings::default(),
        })
    }

    /// The value at `name`, if it is a string and not blank.
    fn non_blank(&self, name: &str) -> Option<Node<'d>> {
        self.node.get(name).filter(|value| value.text().is_some_and(|text| !text.trim().is_empty()))
    }

    /// The string at `name`, with its references expanded.
    fn text(&mut self, name: &str) -> Option<String> {
        self.expand_value(self.non_blank(name)?)
    }

    /// A text with its references expanded, or `None` after reporting why that is impossible.
    fn expand_value(&mut self, value: Node<'_>) -> Option<String> {
        let unknown =
            self.reader.inputs.as_deref().and_then(|inputs| unknown_input(value.raw(), inputs));
        if let Some((id, help)) = unknown {
            let message = format!("`inputs` has no input `{}`", shorten(&id));
            let finding = Finding::new(&INVALID_REFERENCE, value.pointer(), message);
            self.reader.report(finding.help(help));
            return None;
        }
        let text = match self.reader.client {
            FileClient::Gemini => Cow::Owned(with_braces(value.raw())),
            _ => Cow::Borrowed(value.raw()),
        };
        match expand(&text, self.reader.scope) {
            Ok(text) => Some(text),
            // A user who switched a server off need not have its variables set.
            Err(_) if self.disabled => Some(value.raw().to_owned()),
            Err(error) => {
                let finding = Finding::new(error.code(), value.pointer(), error.to_string());
                self.reader.report(finding.help(error.help()));
                None
            }
        }
    }

    /// The members of an object. A variable that is null is left out, as VS Code does.
    fn variables(&mut self, object: Option<Node<'_>>) -> Vec<Variable> {
        let entries = object.map(Node::members).unwrap_or_default();
        // Lists and objects have been reported; null means "not set".
        let scalar = |entry: &Member<'_>| {
            !matches!(entry.value.kind(), ValueKind::Null | ValueKind::List | ValueKind::Map)
        };
        let mut list = Vec::new();
        for entry in entries.into_iter().filter(scalar) {
            // `None` after a failed expansion. The entry is left out then, because the finding is
            // an error.
            let value = self.expand_value(entry.value);
            let name = entry.name().to_owned();
            list.push(Variable { name, required: false, description: None, value });
        }
        list
    }

    /// How to reach the server: by the transport that the entry states, otherwise by the keys it
    /// has.
    ///
    /// ```text
    /// stated        keys                 result
    /// stdio         command              started; an address beside it is ignored
    /// http, sse, ws address              reached; a command beside it is ignored
    /// nothing       command              started
    /// nothing       address              by the scheme; `httpUrl` is streamable HTTP
    /// nothing       both                 an error
    /// ```
    fn connection(&mut self) -> Option<Connection> {
        // Two names for one setting; `type` is the one that most clients write.
        let declared = ["type", "transport"].into_iter().find_map(|name| self.non_blank(name));
        let is_text = |node: &Node<'_>| node.text().is_some_and(|text| !text.trim().is_empty());
        let command = launch_settings(self.node).program().filter(is_text);
        let address = ADDRESS_KEYS.into_iter().find_map(|name| Some((name, self.non_blank(name)?)));
        match (declared.and_then(transport), command, address) {
            // With a stated transport, the keys of the other transports are ignored.
            (Some(ServerTransport::Stdio), Some(command), _) | (None, Some(command), None) => {
                self.stdio(command)
            }
            (Some(ServerTransport::Stdio), None, _) => {
                self.report_missing("command", "`type` says that it is started")
            }
            (Some(transport), _, Some((_, address))) => self.remote(transport, address),
            (Some(_), _, None) => {
                self.report_missing("url", "`type` says that it is reached over the network")
            }
            (None, None, Some((key, address))) => {
                let transport = match key {
                    "httpUrl" => ServerTransport::Http,
                    _ if is_address(address.raw(), &["ws", "wss"]) => ServerTransport::WebSocket,
                    // Clients try streamable HTTP first and fall back to SSE, which is what `Sse`
                    // means.
                    _ => ServerTransport::Sse,
                };
                self.remote(transport, address)
            }
            // Nothing tells which of the two counts, and starting the wrong one could do harm.
            (None, Some(_), Some((key, address))) => {
                let message = format!("the server has both `command` and `{key}`");
                let finding = Finding::new(&INVALID_SOURCE, address.pointer(), message).on_key();
                self.reader
                    .report(finding.help("keep one of them, or say which one counts with `type`"));
                None
            }
            (None, None, None) => self.report_no_connection(),
        }
    }

    /// Reports a missing key. A value that is blank or of the wrong type has been reported already.
    fn report_missing(&mut self, name: &str, why: &str) -> Option<Connection> {
        if self.node.get(name).is_none_or(|value| value.kind() == ValueKind::Null) {
            let message = format!("the server has no `{name}`, but {why}");
            self.reader.report(Finding::new(
                &MISSING_REQUIRED_FIELD,
                self.node.pointer().child(name),
                message,
            ));
        }
        None
    }

    /// Reports an entry with neither a command nor an address.
    fn report_no_connection(&mut self) -> Option<Connection> {
        let keys = ADDRESS_KEYS.into_iter().chain(["command"]);
        if keys.filter_map(|name| self.node.get(name)).all(|value| value.kind() == ValueKind::Null)
        {
            let message = "the server has neither `command` nor `url`";
            self.reader.report(Finding::new(
                &MISSING_REQUIRED_FIELD,
                self.node.pointer().child("command"),
                message,
            ));
        }
        None
    }

    /// A server that is started. `command` is one program and not a command line: no client splits
    /// it.
    ///
    /// At most `MAX_ITEMS` arguments. Items that are not texts were reported by `check_key` and
    /// make the entry an error.
    fn stdio(&mut self, command: Node<'_>) -> Option<Connection> {
        // Only without `args`: the path of a program may have a space, and with `args` it is clear
        // where the arguments are.
        let launch = launch_settings(self.node);
        if command.raw().trim().contains(char::is_whitespace) && !launch.node.has("args") {
            self.reader.report(command_line_finding(command, &launch.node));
        }
        // Every word is expanded before the first failure counts, so that all unset variables are
        // reported.
        let mut words = vec![self.expand_value(command)];
        let args = launch.node.get("args");
        for item in args
            .into_iter()
            .flat_map(Node::items)
            .take(MAX_ITEMS)
            .filter(|item| item.text().is_some())
        {
            words.push(self.expand_value(item));
        }
        let command = words.into_iter().collect::<Option<Vec<String>>>()?;
        Some(Connection::Stdio { command })
    }

    /// A server that is reached over the network.
    ///
    /// The scheme has to fit the transport: `ws` and `wss` for WebSockets, `http` and `https` for
    /// both others. The message does not quote the address, which may have a token in it.
    fn remote(&mut self, transport: ServerTransport, address: Node<'_>) -> Option<Connection> {
        let url = self.expand_value(address)?;
        let schemes: &[&str] = if transport == ServerTransport::WebSocket {
            &["ws", "wss"]
        } else {
            &["http", "https"]
        };
        // In a disabled entry the address may still contain references.
        if !self.disabled && !is_address(&url, schemes) {
            let key = address.key().map_or("url", Node::raw);
            let message =
                format!("`{key}` is not an address that starts with {}", alternatives(schemes));
            self.reader.report(Finding::new(&INVALID_PATTERN, address.pointer(), message));
        }
        Some(match transport {
            ServerTransport::WebSocket => Connection::WebSocket { url },
            ServerTransport::Http => Connection::Http { url },
            // `Stdio` does not come here: it has no address.
            _ => Connection::Sse { url },
        })
    }
}
