//! Collects the commands of an AIOS tool, makes a draft of each, and works out how it is run.
//!
//! Documents name commands in several places. A name that occurs in more than one place is one
//! command:
//!
//! ```text
//! commands: [a, b]             bare names
//! tools: [{id: a, …}]          with descriptions and schemas
//! command_groups.*[].command   command lines, for type cli only
//! examples, validators         names in use, if the first two are absent
//! id                           the tool itself, if there is nothing else
//! ```
//!
//! All commands of a tool share one binding, which the section of its type describes.
//!
//! ```text
//! collect_commands ─▶ AiosCommands, each name once
//!       └─▶ CommandContext::draft: name, description, schemas, binding ─▶ toolset.tools
//! examples of a known command ─▶ its draft;  of another one ─▶ toolset.stray_examples
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use toolwright_model::{
    Binding, Connection, Details, Draft, Example, ExpectedError, FieldValue, HealthCheck,
    InputSchema, InstallCheck, Json, Rest, Server, ServerSettings, ToolName, Toolset, Variable,
};
use toolwright_source::codes::TOO_LARGE;
use toolwright_source::{
    DocumentPath, Finding, MAX_BYTES, MAX_NODES, Node, Origin, RecordPath, ValueKind, words,
};

use super::ID;
use super::fields::{COMMAND, EXAMPLE, EXPECTED_ERROR, GROUPED_COMMAND};
use crate::findings::FindingList;
use crate::{Field, MAX_ITEMS, codes, extract, shape};

/// A command that the document names.
struct AiosCommand<'d> {
    /// As it is written, valid or not; empty for a description without an id.
    name: String,
    /// The value that names it.
    name_node: Node<'d>,
    /// The object that describes it and the table of that object; `None` for a bare name.
    described: Option<(Node<'d>, &'static [Field])>,
    /// The words of its command line after the program, which precede the arguments of every call.
    words: Vec<String>,
}

/// Adds a draft for each command, and the examples that belong to no command, to the toolset.
///
/// The order of the tools is that of `collect_commands`, and positions in the record are noted in
/// `origin` by it.
pub(super) fn read(
    tool: Node<'_>,
    toolset: &mut Toolset<Draft>,
    origin: &mut Origin,
    findings: &mut FindingList,
) {
    let mut commands = collect_commands(tool).list;
    // The lists are bounded one by one, but together they may still exceed the bound.
    if commands.len() > MAX_ITEMS {
        let message =
            format!("the tool has {} commands; the first {MAX_ITEMS} are read", commands.len());
        findings.push(Finding::new(&TOO_LARGE, tool.pointer(), message).on_key());
        commands.truncate(MAX_ITEMS);
    }
    let section = tool_type(tool).and_then(|kind| tool.get(&format!("{kind}_specific")));
    let too_large = section.filter(|section| is_too_large_for(*section, tool, commands.len()));
    if let Some(section) = too_large {
        let message = format!(
            "the section is repeated for each of the {} commands, which makes more than {} MiB or \
             {MAX_NODES} values",
            commands.len(),
            MAX_BYTES >> 20
        );
        findings.push(Finding::new(&TOO_LARGE, section.pointer(), message).on_key());
    }
    // Once for all commands: with thousands of them, reading the server for each would be slow, and
    // each would have a server of its own.
    let host = CommandContext::of(tool, too_large.is_none());
    let mut examples = tool.get("examples").map(Node::members).unwrap_or_default();
    examples.truncate(MAX_ITEMS);
    // A map, because a hostile document has thousands of commands and of examples, and a scan for
    // each command would be quadratic.
    let by_name: HashMap<&str, Node<'_>> =
        examples.iter().map(|entry| (entry.name(), entry.value)).collect();
    for command in &commands {
        let at = RecordPath::root().child("tools").child(toolset.tools.len());
        // A bare name is noted as the tool itself, so that a finding about a missing part of the
        // tool is shown at the name.
        origin.note(at.clone(), command.described.map_or(command.name_node, |(node, _)| node));
        origin.note(at.child("name"), command.name_node);
        if let Some(section) = section {
            origin.note(at.child("binding"), section);
        }
        if !command.words.is_empty() {
            origin.note(at.child("binding").child("words"), command.name_node);
        }
        let mut draft = host.draft(command);
        // An id that cannot be a tool name has been reported as an id already.
        if Some(command.name_node.span()) != tool.get("id").map(Node::span) {
            report_unusable_name(command, findings);
        }
        if let Some(list) = by_name.get(command.name.as_str()) {
            extract::note_filtered_items(
                origin,
                &at.child("examples"),
                Some(*list),
                ValueKind::Map,
            );
            origin.note(at.child("examples"), *list);
            draft.details.examples = read_examples(*list);
        }
        toolset.tools.push(draft);
    }
    // Also on the toolset: a tool without listed commands has no binding, but the catalog must know
    // the server to ask it for its tools.
    toolset.server = host.server;
    extract::note_if_present(origin, "/server", section);
    note_binding(tool, toolset, origin);
    // Examples of commands that do not exist are kept apart, for a check that reports them.
    let known: HashSet<&str> = commands.iter().map(|command| command.name.as_str()).collect();
    for entry in examples.iter().filter(|entry| !known.contains(entry.name())) {
        let at = RecordPath::root().child("strayExamples").child(entry.name());
        extract::note_filtered_items(origin, &at, Some(entry.value), ValueKind::Map);
        origin.note(at, entry.value);
        toolset.stray_examples.push((entry.name().to_owned(), read_examples(entry.value)));
    }
}

/// Notes the origin of the value that refers to another part of the tool or to a file, for the
/// checks that report a dangling reference. All commands share it, so it is noted for the first one
/// only.
///
/// Values that are missing are not noted; a finding about them is shown at the section.
fn note_binding(tool: Node<'_>, toolset: &Toolset<Draft>, origin: &mut Origin) {
    let (part, node) = match toolset.tools.first().map(|draft| &draft.details.binding) {
        Some(Binding::Server { .. }) => ("healthCheck", health_check(tool)),
        Some(Binding::Local { .. }) => {
            let section = extract::object(tool, "local_specific");
            ("entryPoint", section.and_then(|section| section.get("entry_point")))
        }
        Some(Binding::Orchestration { .. }) => {
            let section = extract::object(tool, "meta_specific");
            let named = section.and_then(|meta| meta.get("aggregates"));
            let at = RecordPath::path(&[&"tools", &0, &"binding", &"aggregates"]);
            extract::note_filtered_items(origin, &at, named, ValueKind::String);
            extract::note_if_present(origin, "/tools/0/binding/aggregates", named);
            ("helper", section.and_then(|meta| meta.get("orchestration")))
        }
        _ => return,
    };
    extract::note_if_present(origin, &format!("/tools/0/binding/{part}"), node);
}

/// The health check, in the section of the type or at the top level. Documents have it in both
/// places; the more specific one has precedence. The writer puts it back into the section.
fn health_check(tool: Node<'_>) -> Option<Node<'_>> {
    let section = extract::object(tool, "mcp_specific");
    section
        .and_then(|section| extract::object(section, "health_check"))
        .or_else(|| extract::object(tool, "health_check"))
}

/// Reports a command whose name cannot be the name of a tool. Only here, because the tables accept
/// any text as a command.
fn report_unusable_name(command: &AiosCommand<'_>, out: &mut FindingList) {
    let Err(error) = ToolName::parse(&command.name) else { return };
    // A blank name, or one that is not a string, has been reported by its table.
    if out.is_full()
        || command.name.trim().is_empty()
        // `commands: [404]` in YAML: the type was reported, with a repair that adds quotes.
        || command.name_node.kind() == ValueKind::Number
    {
        return;
    }
    let message = format!("command `{}` cannot be called: {error}", words::shorten(&command.name));
    out.push(Finding::new(&codes::INVALID_PATTERN, command.name_node.pointer(), message));
}

/// Commands in the order of the document, by name. The map keeps merging linear: a hostile document
/// names thousands of commands.
#[derive(Default)]
struct AiosCommands<'d> {
    list: Vec<AiosCommand<'d>>,
    /// The index of the first command of each name.
    by_name: HashMap<String, usize>,
}

impl<'d> AiosCommands<'d> {
    /// Adds a command that only has a name. Used for `commands`, for names in use and for the id.
    fn add_bare(&mut self, name: &str, name_node: Node<'d>, words: Vec<String>) {
        self.add(AiosCommand { name: name.to_owned(), name_node, described: None, words });
    }

    /// Adds a command, or merges it with the one of the same name: a description completes a bare
    /// name, and a bare name adds nothing. Two descriptions of one name stay two commands, so that
    /// neither is lost and the duplicate is reported.
    ///
    /// ```text
    /// a, then {id: a, …}          one command, described; its name is where the bare one stands
    /// {id: a, …}, then a          one command
    /// {id: a, …}, then {id: a}    two, which DUPLICATE_ID reports
    /// ```
    fn add(&mut self, command: AiosCommand<'d>) {
        match self.by_name.get(&command.name).map(|n| &mut self.list[*n]) {
            Some(_) if command.described.is_none() => {}
            // The position of the name stays that of the bare name, which came first.
            Some(known) if known.described.is_none() => {
                known.described = command.described;
                known.words = command.words;
            }
            _ => {
                // Commands without a name stay apart: each is a mistake of its own.
                if !command.name.is_empty() {
                    self.by_name.entry(command.name.clone()).or_insert(self.list.len());
                }
                self.list.push(command);
            }
        }
    }
}

/// All commands, from every place that may name them. The order of the places decides which one a
/// name is shown at.
fn collect_commands(tool: Node<'_>) -> AiosCommands<'_> {
    let mut commands = AiosCommands::default();
    for item in tool.get("commands").into_iter().flat_map(extract::items) {
        // The raw text, because YAML reads an unquoted `404` as a number; it is reported, but the
        // command exists.
        commands.add_bare(item.raw(), item, own_words(tool, item.raw()));
    }
    for described in extract::objects(tool, "tools") {
        let id = described.get("id");
        let name = id.and_then(Node::text).unwrap_or_default();
        commands.add(AiosCommand {
            name: name.to_owned(),
            // A description without an id becomes a draft without a name, which the checks report.
            name_node: id.unwrap_or(described),
            described: Some((described, COMMAND)),
            words: own_words(tool, name),
        });
    }
    // Also if the lists are empty or malformed: the author meant to list the commands.
    let listed = tool.has("commands") || tool.has("tools");
    // Command lines mean something for programs only.
    if tool_type(tool) == Some("cli") {
        for (line, object) in grouped_commands(tool) {
            let (name, words) = name_and_words(tool, line.raw());
            let described = Some((object, GROUPED_COMMAND));
            commands.add(AiosCommand { name, name_node: line, described, words });
        }
    }
    // Only if the document has no list: beside a list, a name that is not in it is a mistake.
    if !listed {
        for (name, node) in referenced_names(tool) {
            commands.add_bare(name, node, own_words(tool, name));
        }
    }
    // Not for `mcp`: the names of a server's tools are unknown until it is connected, and the id of
    // the definition is not one of them.
    let own_command = matches!(tool_type(tool), Some("cli" | "local" | "meta"));
    if let Some((id, name)) = tool.get("id").and_then(|id| Some((id, id.text()?)))
        && own_command
        && commands.list.is_empty()
    {
        commands.add_bare(name, id, Vec::new());
    }
    commands
}

/// The type of the tool, if it is a string. Not checked here: an unknown type is in no arm of a
/// match, and so has no binding.
fn tool_type(tool: Node<'_>) -> Option<&str> {
    tool.get("type").and_then(Node::text)
}

/// `command_groups.*[].command`, each with the object around it. The names of groups are topics for
/// people and are not read.
fn grouped_commands(tool: Node<'_>) -> Vec<(Node<'_>, Node<'_>)> {
    let groups = extract::object(tool, "command_groups").map(Node::members).unwrap_or_default();
    let objects = groups.into_iter().take(MAX_ITEMS).flat_map(|group| extract::items(group.value));
    objects
        .filter_map(|object| {
            Some((object.get("command").filter(|c| c.kind() == ValueKind::String)?, object))
        })
        .collect()
}

/// The name of a command line and its words after the program: `gh pr list` is the command
/// `pr_list` with the words `pr` and `list`, if the program of the tool is `gh`. The program alone
/// is a command with the program's name and no words. A line that does not start with the program
/// is taken as the words after it.
fn name_and_words(tool: Node<'_>, line: &str) -> (String, Vec<String>) {
    let mut words = command_words(line);
    if words.first().is_some_and(|word| is_program(tool, word)) {
        let program = words.remove(0);
        if words.is_empty() {
            return (file_name(&program).to_owned(), words);
        }
    }
    (words.join("_"), words)
}

/// The words of a command of a program that is listed by its name: `status` of `git` is
/// `git status`. The program itself is a command without words, and so is the tool's id. Empty for
/// other types, which have no command line.
fn own_words(tool: Node<'_>, name: &str) -> Vec<String> {
    let is_tool = tool.get("id").and_then(Node::text) == Some(name);
    match tool_type(tool) == Some("cli") && !is_program(tool, name) && !is_tool && !name.is_empty()
    {
        true => vec![name.to_owned()],
        false => Vec::new(),
    }
}

/// Whether a word is the program of the tool. One may be a path where the other is only a name:
/// `/usr/bin/gh` is `gh`. Two different paths are two programs. False if the section names no
/// program.
fn is_program(tool: Node<'_>, word: &str) -> bool {
    let program = extract::object(tool, "cli_specific")
        .and_then(|section| extract::text(section, "executable"));
    program.is_some_and(|program| {
        let is_name = !word.contains('/') || !program.contains('/');
        word == program || (is_name && file_name(word) == file_name(&program))
    })
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Names that scenarios and validators refer to, each with the value that the name belongs to. They
/// define the commands of a document that lists none. A name that occurs several times is merged by
/// `add`.
fn referenced_names(tool: Node<'_>) -> Vec<(&str, Node<'_>)> {
    let lists = extract::object(tool, "examples").map(Node::members).unwrap_or_default();
    let scenarios = lists
        .into_iter()
        // Examples without scenarios may have any keys, not only names of commands.
        .filter(|entry| entry.value.items().any(|example| example.has("scenario")));
    let mut names: Vec<(&str, Node<'_>)> =
        scenarios.map(|entry| (entry.name(), entry.value)).collect();
    if let Some(knowledge) = extract::object(tool, "executable_knowledge") {
        let validators = extract::objects(knowledge, "validators");
        let validated = validators.filter_map(|v| v.get("validates"));
        names.extend(validated.filter_map(|node| Some((node.text()?, node))));
    }
    names
}

/// Whether what says how a tool is run is too large to be repeated for every command, as bindings
/// and records do. The bounds are those of a document: a guide of a mebibyte and ten thousand
/// commands would be ten gigabytes.
fn is_too_large_for(section: Node<'_>, tool: Node<'_>, commands: usize) -> bool {
    let mut left =
        SharedSize { bytes: MAX_BYTES / commands.max(1), nodes: MAX_NODES / commands.max(1) };
    !left.takes(section) || !health_check(tool).is_none_or(|check| left.takes(check))
}

/// What is left for the values of a shared part.
struct SharedSize {
    bytes: usize,
    nodes: usize,
}

impl SharedSize {
    /// Whether a value fits. The recursion is bounded: documents nest at most 128 levels.
    fn takes(&mut self, node: Node<'_>) -> bool {
        let own = match node.kind() {
            ValueKind::String => node.raw().len(),
            _ => 0,
        };
        let (Some(bytes), Some(nodes)) = (self.bytes.checked_sub(own), self.nodes.checked_sub(1))
        else {
            return false;
        };
        (self.bytes, self.nodes) = (bytes, nodes);
        match node.kind() {
            ValueKind::List => node.items().all(|item| self.takes(item)),
            ValueKind::Map => node.members().iter().all(|member| self.takes(member.value)),
            _ => true,
        }
    }
}

/// The parts of a tool that all its commands share.
struct CommandContext<'d> {
    tool: Node<'d>,
    /// Whether the section of its type can be read; without it the commands are unbound.
    has_section: bool,
    /// The server of a tool of type `mcp`.
    server: Option<Arc<Server>>,
}

impl<'d> CommandContext<'d> {
    /// Reads the shared parts once for all commands. Called once for each document.
    fn of(tool: Node<'d>, has_section: bool) -> CommandContext<'d> {
        // The section of another type has no effect, so its server is not read.
        let is_server = has_section && tool_type(tool) == Some("mcp");
        let server = is_server.then(|| read_server(tool)).flatten();
        CommandContext { tool, has_section, server: server.map(Arc::new) }
    }

    /// The draft of one command.
    ///
    /// Only `name`, `details.binding`, the description and the schemas are set; examples follow in
    /// `read`.
    fn draft(&self, command: &AiosCommand<'_>) -> Draft {
        let mut draft = Draft {
            name: match ToolName::parse(&command.name) {
                Ok(name) => FieldValue::Valid(name),
                // Empty is missing and not invalid: there is nothing to show in a message.
                Err(_) if command.name.is_empty() => FieldValue::Missing,
                Err(_) => FieldValue::Invalid(Json::from(command.name.as_str())),
            },
            details: Details { binding: self.binding(command), ..Details::default() },
            ..Draft::default()
        };
        match command.described {
            Some((described, fields)) => apply_description(&mut draft, described, fields),
            // The command is the tool itself, so it has the tool's description.
            None if self.tool.get("id").is_some_and(|id| id.span() == command.name_node.span()) => {
                draft.description = extract::non_blank_text(self.tool, "description");
            }
            None => {}
        }
        // An invalid schema stays invalid: a default would let calls through that the author wanted
        // to restrict.
        if draft.input == FieldValue::Missing {
            draft.input = FieldValue::Valid(self.default_input());
        }
        draft
    }

    /// The schema of a command that declares none. A program takes any arguments; a server states
    /// its own schemas when it is connected. Without a known type nothing is known about the
    /// arguments, so the schema is deferred, too.
    fn default_input(&self) -> InputSchema {
        match tool_type(self.tool) {
            Some(kind @ ("cli" | "local" | "meta")) => default_schema(kind).into(),
            // Type `mcp`, or a type that does not exist.
            _ => InputSchema::Deferred,
        }
    }

    /// How the command is run; unbound if the section of its type is missing or lacks what is
    /// needed.
    ///
    /// ```text
    /// mcp    server_command or connection.url    Server, shared by all commands
    /// cli    executable                          Command, with the words of the line
    /// local  entry_point                         Local: the script gets the command's name
    /// meta   orchestration                       Orchestration: the helper calls the others
    /// ```
    fn binding(&self, command: &AiosCommand<'_>) -> Binding {
        let section = |name| extract::object(self.tool, name).filter(|_| self.has_section);
        // `?` inside the closures: without the field that running needs, the tool is unbound, and
        // NOT_RUNNABLE reports that.
        let bound = match tool_type(self.tool) {
            Some("mcp") => self
                .server
                .clone()
                .map(|server| Binding::Server { server, tool: command.name.clone() }),
            Some("cli") => section("cli_specific").and_then(|cli| {
                Some(Binding::Command {
                    executable: extract::text(cli, "executable")?,
                    words: command.words.clone(),
                    install_check: extract::text(cli, "install_check").map(read_install_check),
                    install_guide: extract::text(cli, "install_guide"),
                })
            }),
            Some("local") => section("local_specific").and_then(|local| {
                Some(Binding::Local {
                    runtime: extract::text(local, "runtime"),
                    entry_point: extract::text(local, "entry_point")?,
                    command: command.name.clone(),
                    dependencies: extract::texts(local, "dependencies"),
                })
            }),
            Some("meta") => section("meta_specific").and_then(|meta| {
                // Both `merge` and `helpers.merge` are in use.
                let helper = extract::text(meta, "orchestration")?;
                Some(Binding::Orchestration {
                    helper: helper.strip_prefix("helpers.").unwrap_or(&helper).to_owned(),
                    aggregates: extract::texts(meta, "aggregates"),
                })
            }),
            _ => None,
        };
        bound.unwrap_or_default()
    }
}

/// The schema of a command of a type whose commands have one without declaring it. The writer
/// compares with it, to leave out what reading fills in.
pub(super) fn default_schema(kind: &str) -> Json {
    match kind {
        // The arguments of a program are its words. Nothing else is accepted, so that a misspelled
        // `stdin` is an error and not ignored.
        "cli" => serde_json::json!({
            "type": "object",
            "properties": {
                "args": {"type": "array", "items": {"type": "string"}},
                "stdin": {"type": "string"}
            },
            "required": ["args"],
            "additionalProperties": false
        }),
        // A script or a helper decides itself what it accepts.
        _ => serde_json::json!({"type": "object"}),
    }
}

/// Fills the draft from the object that describes the command. `fields` is the table of the object,
/// by which its unknown members are told from the others.
fn apply_description(draft: &mut Draft, described: Node<'_>, fields: &'static [Field]) {
    draft.description = extract::non_blank_text(described, "description");
    // A missing schema leaves room for the default.
    if let schema @ (FieldValue::Valid(_) | FieldValue::Invalid(_)) =
        extract::input_schema(described, "inputSchema")
    {
        draft.input = schema;
    }
    draft.output = extract::output_schema(described, "outputSchema");
    let mut rest = Rest::default();
    extract::keep_unknown(described, fields, &DocumentPath::root(), ID, &mut rest);
    // Prose, for which the record has no field.
    if let Some(parameters) = described.get("parameters") {
        rest.keep(ID, "/parameters", parameters.to_json());
    }
    draft.details.rest = rest;
}

/// The server of a tool of type `mcp`; `None` if the section does not say where it is.
///
/// ```text
/// transport │ connection.url │ server_command │ result
/// websocket │ first          │ else           │ WebSocket
/// sse       │ first          │ else           │ Sse
/// other     │ –              │ if present     │ Stdio, with `server_args`
/// other     │ if present     │ –              │ Sse
/// ```
fn read_server(tool: Node<'_>) -> Option<Server> {
    let section = extract::object(tool, "mcp_specific")?;
    let remote = extract::object(section, "connection");
    let url = remote.and_then(|c| extract::text(c, "url"));
    let line = extract::text(section, "server_command");
    let transport = section.get("transport").or_else(|| remote?.get("type"));
    let transport = transport.and_then(Node::text).unwrap_or("stdio");
    // Published tools put a URL into `server_command`, or state the transport as `connection.type`.
    let connection = match (transport, url) {
        // `url.or(line)?`: the address may be in either field. Without any, there is no server.
        ("websocket", url) => Connection::WebSocket { url: url.or(line)? },
        ("sse", url) => Connection::Sse { url: url.or(line)? },
        // A `connection` with an address and no command, but without a transport for it.
        (_, Some(url)) if line.is_none() => Connection::Sse { url },
        _ => {
            let mut command = command_words(&line?);
            command.extend(extract::texts(section, "server_args"));
            Connection::Stdio { command }
        }
    };
    Some(Server {
        connection,
        shown: None,
        environment: extract::objects(section, "environment_variables")
            .map(read_variable)
            .collect(),
        headers: Vec::new(),
        directory: None,
        health_check: health_check(tool).map(read_health_check),
        settings: ServerSettings::default(),
    })
}

/// An environment variable of the server.
fn read_variable(node: Node<'_>) -> Variable {
    Variable {
        // A variable without a name was reported. It stays in the list, so that positions agree.
        name: extract::text(node, "name").unwrap_or_default(),
        required: node.get("required").and_then(Node::boolean).unwrap_or(false),
        description: extract::text(node, "description"),
        value: extract::text(node, "value"),
    }
}

/// A health check. Negative and broken time-outs count as missing; the table has reported them.
fn read_health_check(node: Node<'_>) -> HealthCheck {
    HealthCheck {
        method: extract::text(node, "method"),
        command: extract::text(node, "command"),
        arguments: node.get("arguments").map(Node::to_json),
        expected_response: node.get("expected_response").map(Node::to_json),
        timeout_ms: node
            .get("timeout_ms")
            .and_then(shape::as_integer)
            .and_then(|ms| u64::try_from(ms).ok()),
    }
}

/// The examples in a list, without items that are not objects. `mitigation` is in the table but not
/// in the record, so it is kept with the unknown members. `list` may be of another type, and then
/// has no items.
fn read_examples(list: Node<'_>) -> Vec<Example> {
    let read = |node: Node<'_>| Example {
        scenario: extract::text(node, "scenario"),
        description: extract::text(node, "description"),
        input: node.get("input").map(Node::to_json),
        output: node.get("output").map(Node::to_json),
        error: extract::object(node, "error").map(read_error),
        rest: extract::members_outside_and(node, EXAMPLE, "mitigation"),
    };
    extract::items(list).filter(|node| node.kind() == ValueKind::Map).map(read).collect()
}

/// The expected error. `http_status` is kept in the same way.
fn read_error(node: Node<'_>) -> ExpectedError {
    ExpectedError {
        code: extract::text(node, "code"),
        message: extract::text(node, "message"),
        validator: extract::text(node, "validator"),
        rest: extract::members_outside_and(node, EXPECTED_ERROR, "http_status"),
    }
}

/// An install check. Without a shell, operators and variables in it would be words of the program.
/// Its output is not looked at, so throwing that away means nothing.
///
/// ```text
/// gh --version                  gh, --version
/// gh --version > /dev/null      gh, --version
/// command -v gh && gh auth      no words: it needs a shell, and UNKNOWN_CHECK reports that
/// ```
fn read_install_check(line: String) -> InstallCheck {
    let mut words = command_words(&line);
    while let [.., last] = words.as_slice() {
        let is_target = last == "/dev/null";
        match last.as_str() {
            ">/dev/null" | "1>/dev/null" | "2>/dev/null" | "&>/dev/null" | "2>&1" | ">&2" => {}
            _ if is_target && words.len() > 1 => {
                let operator = words.len() - 2;
                if ![">", "1>", "2>", "&>"].contains(&words[operator].as_str()) {
                    break;
                }
                words.pop();
            }
            _ => break,
        }
        words.pop();
    }
    let needs_shell = words.iter().any(|word| word.contains(['|', '&', ';', '<', '>', '$', '`']));
    InstallCheck { line, words: if needs_shell { Vec::new() } else { words } }
}

/// The words of a command line as a shell splits them, without expanding anything. A line with an
/// unclosed quote is split at its spaces.
fn command_words(line: &str) -> Vec<String> {
    words::split_words(line).unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_as_a_shell_does() {
        let cases: &[(&str, &[&str])] = &[
            ("npx -y @scope/server", &["npx", "-y", "@scope/server"]),
            ("  a   b ", &["a", "b"]),
            ("run 'two words' \"and more\"", &["run", "two words", "and more"]),
            (r#"a\ b "c\"d" 'e\f' """#, &["a b", "c\"d", "e\\f", ""]),
            ("pre'fix'ed $HOME *", &["prefixed", "$HOME", "*"]),
            ("", &[]),
        ];
        for (line, words) in cases {
            assert_eq!(command_words(line), *words, "{line}");
        }
    }
}
