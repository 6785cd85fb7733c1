//! The record of a toolset as text, for `toolwright show` without `--json`.
//!
//! ```text
//! tickets 1.2.0: 2 tools, aios        heading: the toolset, then its rows
//!   file        tickets.yaml
//!
//! tickets:create                      one block per tool: id, then a row per non-empty field
//!   about       Creates a ticket.
//! ```
//!
//! Everything here comes from definitions that may be hostile or broken, so every text passes
//! through [`one_line`], and fields that could not be read are shown as such or left out. The text
//! is for people: programs read the JSON of `toolwright_workspace::record`, which loses nothing.

use std::fmt::Write;

use toolwright_formats::Reading;
use toolwright_model::{
    AgentTexts, Binding, CallLimits, Capability, Connection, DeclaredLimits, Draft, FieldValue,
    InputSchema, Json, Knowledge,
};
use toolwright_schema::{Schema, SchemaSide};
use toolwright_source::{Anchor, RecordPath, Source, TextOrigin};
use toolwright_workspace::record;

use crate::report::plural;

/// How bodies of BTCP tools are isolated, whatever their manifest prefers. A manifest may prefer
/// less isolation; `show` prints the preference beside this.
const USED_SANDBOX: &str = "a jailed process of its own";

/// Where a body runs that does not run in the sandbox.
///
/// Empty for a tool whose body runs in the sandbox or that has none. `page:full` comes first: a
/// body that has it runs in the page, also if it uses names of workers. `worker_names` are the
/// globals of workers that the body uses and the sandbox lacks.
fn other_place(tool: &Draft, worker_names: Option<&Vec<String>>) -> String {
    let mut needs = tool.needs.iter().filter_map(|need| need.ok());
    if tool.details.binding == Binding::Script && needs.any(Capability::is_full_page) {
        return "the page itself, for `page:full`: nothing it does there is enforced".to_owned();
    }
    worker_names.map_or(String::new(), |names| {
        format!("a worker of the browser without network, for `{}`", names.join("`, `"))
    })
}

/// The id of a tool. If it has no valid name: the invalid value from the file, or `(no name)`.
pub(crate) fn tool_label(reading: &Reading, tool: &Draft) -> String {
    if let Some(id) = tool.id(reading.toolset.namespace.ok()) {
        return one_line(&id.to_string());
    }
    match &tool.name {
        FieldValue::Invalid(Json::String(name)) => one_line(name),
        FieldValue::Invalid(json) => one_line(&json.to_string()),
        _ => "(no name)".to_owned(),
    }
}

/// Whether the tool has one of these ids or names; always if there are none. A name without its
/// namespace selects the tool in every document, so two may be shown.
pub(crate) fn is_selected(reading: &Reading, tool: &Draft, ids: &[String]) -> bool {
    let name = tool.name.ok().map(|name| name.as_str());
    let is_meant = |id: &String| tool_label(reading, tool) == *id || name == Some(id.as_str());
    ids.is_empty() || ids.iter().any(is_meant)
}

/// The text on one line, with runs of white space collapsed and control characters made visible: it
/// cannot move the cursor, colour the terminal or hide anything.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    toolwright_source::render::visible(&words.join(" "))
}

/// The text of a toolset and of those of its tools that are shown, with the time limits that hold
/// under `limits`.
///
/// `workers` are the tools whose bodies run in a worker of the browser, with the reason. `shown`
/// has one element for each tool. The numbers in `workers` are positions in the list of tools.
pub(crate) fn toolset_text(
    reading: &Reading,
    shown: &[bool],
    limits: &CallLimits,
    workers: &[(usize, Vec<String>)],
) -> String {
    let mut out = String::new();
    heading(&mut out, reading);
    let texts = record::agent_texts(reading);
    let tools = reading.toolset.tools.iter().zip(shown).enumerate();
    for (n, tool) in tools.filter_map(|(n, (tool, shown))| shown.then_some((n, tool))) {
        out.push('\n');
        tool_text(&mut out, (reading, &texts), limits, n, tool);
        let names = workers.iter().find_map(|(of, names)| (*of == n).then_some(names));
        row(&mut out, "runs in", other_place(tool, names));
    }
    out
}

/// Writes a row, unless its text is empty. Labels have at most eleven characters. The text becomes
/// one line here, so callers may pass texts of definitions as they are.
fn row(out: &mut String, label: &str, text: impl AsRef<str>) {
    let text = text.as_ref();
    if !text.is_empty() {
        let _ = writeln!(out, "  {label:<11} {}", one_line(text));
    }
}

/// Writes the line with name, number of tools and format, and the fields of the toolset. Rows are
/// left out by `row` if they are empty, so most of them need no condition.
fn heading(out: &mut String, reading: &Reading) {
    let toolset = &reading.toolset;
    let source = reading.origin.document().source();
    let dialect = reading.dialect.as_deref().map_or(String::new(), |d| format!(" {}", one_line(d)));
    // Without a namespace the file names the toolset, and needs no row of its own.
    let name = one_line(
        &toolset.namespace.ok().map_or_else(|| source.name().to_owned(), ToString::to_string),
    );
    let version = toolset.version.ok().map_or(String::new(), |v| format!(" {v}"));
    let tools = plural(toolset.tools.len(), "tool");
    let _ = writeln!(out, "{name}{version}: {tools}, {}{dialect}", reading.format);
    let file = match source.origin() {
        TextOrigin::Answer(_) => anchor_text(source),
        _ if toolset.namespace.ok().is_some() => source.name().to_owned(),
        _ => String::new(),
    };
    row(out, "file", file);
    row(out, "title", toolset.title.as_deref().unwrap_or_default());
    description(out, toolset.description.as_deref());
    if let Some(provider) = &toolset.provider {
        // The icon is left out: a terminal cannot show it.
        let parts = [&provider.name, &provider.url, &provider.contact];
        row(out, "provider", parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", "));
    }
    if let Some(declares) = &toolset.declares {
        row(out, "declares", capabilities(declares));
    }
    // A default of the format is not a declaration of the author.
    let declared = DeclaredLimits { default_concurrent: None, ..toolset.limits };
    if declared != DeclaredLimits::default() {
        let concurrent = toolset.limits.concurrent().unwrap_or(DeclaredLimits::DEFAULT_CONCURRENT);
        row(out, "limits", format!("{concurrent} at once"));
    }
    // A preference of the author. What is used is the same for all of them, and isolates more.
    if toolset.tools.iter().any(|tool| tool.details.binding == Binding::Script) {
        let asked = toolset.limits.sandbox;
        let asked =
            asked.map_or("worker by default".to_owned(), |it| format!("asked for {}", it.name()));
        row(out, "sandbox", format!("{asked}, used: {USED_SANDBOX}"));
    }
    row(out, "knowledge", knowledge(&toolset.knowledge));
    row(out, "by hand", detached_processors(&toolset.knowledge));
    // Examples under a misspelled command would be lost silently.
    for (command, examples) in &toolset.stray_examples {
        let count = plural(examples.len(), "example");
        row(out, "stray", format!("{count} for `{command}`, which is not a command"));
    }
}

/// Writes the block of the tool with number `n`.
///
/// The order of the rows is fixed, and snapshots of tests have it. `limits` are those of the
/// configuration: the row `time limit` shows what holds, and what the definition asks for if that
/// is more.
///
/// ```text
/// title, about    from the definition           needs         capabilities, with their risk
/// agents read     what `serve` adds to it       hints, task   as MCP has them
/// instead         what to use if deprecated     examples      number, and their scenarios
/// input, output   parameters, or the problem    time limit    what holds for a call
/// validators      those of this command         runs as       the binding, in words
/// upstream        another name at the server    from          file, line and column
/// ```
fn tool_text(
    out: &mut String,
    (reading, texts): (&Reading, &AgentTexts),
    limits: &CallLimits,
    n: usize,
    tool: &Draft,
) {
    let details = &tool.details;
    let version = tool.version.ok().map_or(String::new(), |v| format!(" {v}"));
    let deprecated = if details.deprecation.deprecated { " (deprecated)" } else { "" };
    let _ = writeln!(out, "{}{version}{deprecated}", tool_label(reading, tool));
    // MCP has a title of the tool and an older one among the annotations; the first takes
    // precedence.
    let title = details.title.as_ref().or(details.annotations.title.as_ref());
    row(out, "title", title.map_or("", |title| title));
    description(out, tool.description.ok().map(String::as_str));
    agent_text(out, texts, tool);
    // The message of a deprecated tool usually names its replacement.
    row(out, "instead", details.deprecation.message.as_deref().unwrap_or_default());
    row(
        out,
        "input",
        schema_problem(tool, SchemaSide::Input).unwrap_or_else(|| input(&tool.input)),
    );
    let output = || tool.output.ok().map_or(String::new(), parameters);
    row(out, "output", schema_problem(tool, SchemaSide::Output).unwrap_or_else(output));
    // BTCP tools declare capabilities, so an empty list means "needs nothing". In the other formats
    // there is no such declaration, and "nothing" would be a claim that the author did not make.
    if !tool.needs.is_empty() || details.binding == Binding::Script {
        row(out, "needs", capabilities(&tool.needs));
    }
    row(out, "hints", hints(tool));
    row(out, "task", task_support(tool));
    // Normalised, as in the JSON record; the spelling of the author is in the file.
    let tags: Vec<&str> = details.tags.normalised().iter().map(|tag| tag.as_str()).collect();
    row(out, "tags", tags.join(", "));
    // In the formats with scenarios their names say what is covered.
    if !details.examples.is_empty() {
        let named: Vec<&str> =
            details.examples.iter().filter_map(|e| e.scenario.as_deref()).collect();
        let names =
            if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
        row(out, "examples", format!("{}{names}", details.examples.len()));
    }
    // Validators are declared once in the toolset, with the commands that they apply to.
    let name = tool.name.ok().map_or("", |name| name.as_str());
    let validators: Vec<&str> =
        reading.toolset.validators_of(name).filter_map(|v| v.function.id.as_deref()).collect();
    row(out, "validators", validators.join(", "));
    let declared = details.limits.timeout_ms.or(reading.toolset.limits.timeout_ms);
    let toolset = &reading.toolset.limits;
    let holds = limits.time_limit(&details.limits, toolset, &details.binding).as_millis() as u64;
    let why = match declared {
        Some(declared) if declared > holds => format!(" (it asks for {})", time(declared)),
        _ => String::new(),
    };
    row(out, "time limit", time(holds) + &why);
    row(out, "runs as", binding(&details.binding));
    if let Binding::Server { tool: own, .. } = &details.binding
        && own != name
    {
        row(out, "upstream", own);
    }
    let source = reading.origin.document().source();
    if source.is_answer() {
        return row(out, "from", anchor_text(source));
    }
    // Of a command in a mapping the key is its start, of one in a list the value.
    let at = RecordPath::root().child("tools").child(n);
    let place = reading.origin.location(&at);
    let start = source.line_column(place.key.unwrap_or(place.value).start as usize);
    row(out, "from", format!("{}:{}:{}", source.name(), start.line, start.column));
}

/// The place that names a server or a program; empty if the command line does.
///
/// Example: `toolwright.toml:12`. A server has no file with its definition, so the entry that
/// starts it is what a person can open.
fn anchor_text(source: &Source) -> String {
    let TextOrigin::Answer(Some(Anchor { source, span })) = source.origin() else {
        return String::new();
    };
    let line = span.map(|span| source.line_column(span.start as usize).line);
    source.name().to_owned() + &line.map_or(String::new(), |line| format!(":{line}"))
}

/// Writes a description as a model reads it: whole, with its lines. Further lines are indented, so
/// that none can pass for a row.
fn description(out: &mut String, text: Option<&str>) {
    for (n, line) in text.unwrap_or_default().trim().lines().enumerate() {
        let label = if n == 0 { "about" } else { "" };
        // With the white space at its start, which shows lists and code.
        let line = toolwright_source::render::visible(line.trim_end());
        let _ = writeln!(out, "{}", format!("  {label:<11} {line}").trim_end());
    }
}

/// Writes what an agent is given to read besides the description.
///
/// Advice and examples of the definition are added when the tool is served. The author's own
/// description has a row of its own, so its first occurrence is taken out.
fn agent_text(out: &mut String, texts: &AgentTexts, tool: &Draft) {
    let served = record::served_description(texts, tool).unwrap_or_default();
    let authored = tool.description.ok().map(String::as_str).unwrap_or_default();
    let added = served.replacen(authored, "", 1);
    let lines = added.lines().map(str::trim).filter(|line| !line.is_empty());
    for (n, line) in lines.enumerate() {
        row(out, if n == 0 { "agents read" } else { "" }, line);
    }
}

/// A code span whose fence does not occur in it (CommonMark, section 6.1): one backtick more than
/// the longest run in the text, and a blank on both sides if there is any.
pub(crate) fn markdown_code(text: &str) -> String {
    let longest = text.split(|c: char| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The text if it has at most `max` characters, otherwise its start and an ellipsis.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    // One character less, because the ellipsis counts, too.
    let start: String = text.chars().take(max - 1).collect();
    start + "…"
}

/// The capabilities with their risk; those that do not exist are marked.
///
/// "nothing" only where a format has such a declaration: elsewhere silence means nothing.
///
/// Invalid ones are shown as written: a misspelled capability would otherwise look like none.
/// Example: `dom:read (low risk), "fly" (not a capability)`.
fn capabilities(list: &[FieldValue<toolwright_model::Capability>]) -> String {
    let one = |given: &FieldValue<toolwright_model::Capability>| match given {
        FieldValue::Valid(capability) => {
            format!("{capability} ({} risk)", capability.risk().name())
        }
        FieldValue::Invalid(json) => format!("{json} (not a capability)"),
        FieldValue::Missing => String::new(),
    };
    if list.is_empty() {
        "nothing".to_owned()
    } else {
        list.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// Why a schema cannot be used, so that calls of the tool are refused; `None` if it can be used, or
/// if there is none. Example: `not usable: …` with the first mistake.
pub(crate) fn schema_problem(tool: &Draft, side: SchemaSide) -> Option<String> {
    let schema = match (side, &tool.input, &tool.output) {
        (SchemaSide::Input, FieldValue::Valid(InputSchema::Written(schema)), _) => schema,
        (SchemaSide::Output, _, FieldValue::Valid(schema)) => schema,
        (SchemaSide::Input, FieldValue::Invalid(_), _)
        | (SchemaSide::Output, _, FieldValue::Invalid(_)) => {
            return Some("not a schema".to_owned());
        }
        _ => return None,
    };
    // The quick test accepts nearly all schemas, so few are compiled.
    if toolwright_schema::is_certainly_valid_schema(schema) {
        return None;
    }
    Schema::compile(schema).err().map(|error| format!("not usable: {error}"))
}

/// The parameters, or why they are unknown.
///
/// "defined by its server" for AIOS commands that leave the schema open.
fn input(input: &FieldValue<InputSchema>) -> String {
    match input {
        FieldValue::Valid(InputSchema::Deferred) => "defined by its server".to_owned(),
        FieldValue::Valid(InputSchema::Written(schema)) => parameters(schema),
        FieldValue::Invalid(_) | FieldValue::Missing => "missing".to_owned(),
    }
}

/// The properties of a schema with their types: `path* string, depth integer (* required)`. A
/// schema without properties gives its type, or `no parameters` if it is closed. The order is that
/// of the schema. `*` is explained once, at the end.
fn parameters(schema: &Json) -> String {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let Some(properties) =
        schema.get("properties").and_then(Json::as_object).filter(|p| !p.is_empty())
    else {
        // An open object without properties takes anything; only a closed one takes nothing.
        let closed = schema.get("additionalProperties") == Some(&Json::Bool(false));
        return if closed { "no parameters".to_owned() } else { type_of(schema) };
    };
    let one = |(name, schema): (&String, &Json)| {
        let star = if required.contains(&name.as_str()) { "*" } else { "" };
        format!("{name}{star} {}", type_of(schema))
    };
    let shown: Vec<String> = properties.iter().map(one).collect();
    let has_star = properties.keys().any(|name| required.contains(&name.as_str()));
    shown.join(", ") + if has_star { " (* required)" } else { "" }
}

/// The most values of an `enum`, and alternatives of an `anyOf`, that are spelled out. More would
/// push the other parameters out of sight.
const SHOWN_ALTERNATIVES: usize = 6;

/// The type of a schema in words. Combinations are `any`, unless they are a few types: spelling
/// them out would take more room than a row has. Examples: `string`, `list of integer`,
/// `"a" or "b"`, `string or null`.
fn type_of(schema: &Json) -> String {
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        let (first, rest) = values.split_at(values.len().min(SHOWN_ALTERNATIVES));
        let mut words: Vec<String> =
            first.iter().map(|value| shorten(&value.to_string(), 40)).collect();
        words.extend((!rest.is_empty()).then(|| format!("{} more", rest.len())));
        return words.join(" or ");
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    if let Some(alternatives) = alternatives.filter(|all| all.len() <= SHOWN_ALTERNATIVES) {
        let mut words: Vec<String> = alternatives.iter().map(type_of).collect();
        words.dedup();
        if !words.iter().any(|word| word == "any" || word == "object") {
            return words.join(" or ");
        }
    }
    match schema.get("type") {
        Some(Json::String(name)) if name == "array" => match schema.get("items") {
            // The recursion is bounded by the nesting of documents, at most 128 levels.
            Some(items) => format!("list of {}", type_of(items)),
            None => "list".to_owned(),
        },
        Some(Json::String(name)) => name.clone(),
        Some(Json::Array(names)) => {
            names.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

/// The MCP annotations that the definition sets. Unset hints are left out, not shown with their
/// defaults.
fn hints(tool: &Draft) -> String {
    let hints = &tool.details.annotations;
    let words = [
        (hints.read_only, "read-only", "writes"),
        (hints.destructive, "destructive", "not destructive"),
        (hints.idempotent, "idempotent", "not idempotent"),
        (hints.open_world, "open world", "closed world"),
    ];
    let set =
        words.iter().filter_map(|(hint, yes, no)| hint.map(|hint| if hint { *yes } else { *no }));
    set.collect::<Vec<_>>().join(", ")
}

/// Whether calls are tasks of the tool's server, as MCP 2025-11-25 has them.
///
/// Read from the rest, because only MCP has `execution` and the record has no field for it.
fn task_support(tool: &Draft) -> &'static str {
    let mut formats = tool.details.rest.iter();
    let execution = formats.find_map(|(_, members)| members.get("/execution"));
    match execution.and_then(|execution| execution["taskSupport"].as_str()) {
        Some("required") => "required: each call is a task of its server, which `call` waits for",
        Some("optional") => "optional: a client can run a call as a task",
        _ => "",
    }
}

/// A time limit in seconds if it is a whole number of them.
fn time(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { format!("{} s", ms / 1_000) } else { format!("{ms} ms") }
}

/// What a call of the tool executes.
///
/// For people, so in words; `record` has the members. Addresses and commands are shown without
/// secrets. All bindings are listed, so that a new one fails to compile here.
fn binding(binding: &Binding) -> String {
    match binding {
        Binding::Unbound => "nothing: the definition does not say how to run it".to_owned(),
        Binding::Script => "a script in a sandbox or a page".to_owned(),
        Binding::Executable { program: Some(program) } => format!("the program {program}"),
        Binding::Executable { program: None } => {
            "a program that prints this document for --schema".to_owned()
        }
        Binding::Command { executable, words, .. } => {
            format!("the command {executable} {}", words.join(" "))
        }
        Binding::Local { runtime, entry_point, .. } => {
            format!(
                "the script {entry_point}{}",
                runtime.as_ref().map_or(String::new(), |r| format!(" under {r}"))
            )
        }
        Binding::Server { server, .. } => {
            match toolwright_workspace::record::shown_connection(server) {
                Connection::Stdio { command } => {
                    format!("a tool of the MCP server {}", command.join(" "))
                }
                Connection::Http { url }
                | Connection::Sse { url }
                | Connection::WebSocket { url } => {
                    format!("a tool of the MCP server at {url}")
                }
            }
        }
        Binding::Orchestration { helper, aggregates } => {
            format!("the helper {helper} over {}", aggregates.join(", "))
        }
        Binding::Builtin { toolset, .. } => format!("a built-in tool of the toolset {toolset}"),
    }
}

/// The processors that no call runs, and the line that would attach them.
fn detached_processors(knowledge: &Knowledge) -> String {
    let detached = knowledge.processors.iter().filter(|it| it.processes.is_none());
    let ids: Vec<&str> = detached.filter_map(|it| it.function.id.as_deref()).collect();
    match ids.as_slice() {
        [] => String::new(),
        ids => format!(
            "{} {} only with `eval`; `processes: COMMAND` makes calls run {}",
            ids.join(", "),
            if ids.len() == 1 { "runs" } else { "run" },
            if ids.len() == 1 { "it" } else { "them" }
        ),
    }
}

/// How many functions and notes of each kind an AIOS definition has. Zeros are left out.
fn knowledge(knowledge: &Knowledge) -> String {
    let counts = [
        (knowledge.helpers.len(), "helper"),
        (knowledge.processors.len(), "processor"),
        (knowledge.validators.len(), "validator"),
        (knowledge.payload_schemas.len(), "payload schema"),
        (knowledge.field_mappings.len(), "field mapping"),
        (knowledge.quirks.len(), "quirk"),
        (knowledge.anti_patterns.len(), "anti-pattern"),
    ];
    let present = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| plural(*n, word));
    present.collect::<Vec<_>>().join(", ")
}
