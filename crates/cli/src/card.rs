//! The record as cards, for people.

use std::fmt::Write;

use toolwright_formats::Reading;
use toolwright_model::{
    Binding, Connection, DeclaredLimits, Draft, FieldValue, InputSchema, Json, Knowledge,
};
use toolwright_source::RecordPath;

use crate::report::plural;

/// The id of a tool, or what stands in its place in the file.
pub(crate) fn id(reading: &Reading, tool: &Draft) -> String {
    if let Some(id) = tool.id(reading.toolset.namespace.ok()) {
        return plain(&id.to_string());
    }
    match &tool.name {
        FieldValue::Invalid(Json::String(name)) => plain(name),
        FieldValue::Invalid(json) => plain(&json.to_string()),
        _ => "(no name)".to_owned(),
    }
}

/// Text on one line that cannot move the cursor, colour the terminal or hide anything.
pub(crate) fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    toolwright_source::render::visible(&words.join(" "))
}

/// The toolset, then each of its tools.
pub(crate) fn card(reading: &Reading) -> String {
    let mut out = String::new();
    heading(&mut out, reading);
    for (n, tool) in reading.toolset.tools.iter().enumerate() {
        out.push('\n');
        tool_card(&mut out, reading, n, tool);
    }
    out
}

fn row(out: &mut String, label: &str, text: impl AsRef<str>) {
    let text = text.as_ref();
    if !text.is_empty() {
        let _ = writeln!(out, "  {label:<11} {}", plain(text));
    }
}

fn heading(out: &mut String, reading: &Reading) {
    let toolset = &reading.toolset;
    let source = reading.origin.document().source();
    let dialect = reading.dialect.as_deref().map_or(String::new(), |d| format!(" {}", plain(d)));
    let name = plain(
        &toolset.namespace.ok().map_or_else(|| source.name().to_owned(), ToString::to_string),
    );
    let version = toolset.version.ok().map_or(String::new(), |v| format!(" {v}"));
    let tools = plural(toolset.tools.len(), "tool");
    let _ = writeln!(out, "{name}{version}: {tools}, {}{dialect}", reading.format);
    row(out, "file", if toolset.namespace.ok().is_some() { source.name() } else { "" });
    row(out, "title", toolset.title.as_deref().unwrap_or_default());
    row(out, "about", first_paragraph(toolset.description.as_deref()));
    if let Some(provider) = &toolset.provider {
        let parts = [&provider.name, &provider.url, &provider.contact];
        row(out, "provider", parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(", "));
    }
    if let Some(declares) = &toolset.declares {
        row(out, "declares", capabilities(declares));
    }
    let declared = DeclaredLimits { default_concurrent: None, ..toolset.limits };
    if declared != DeclaredLimits::default() {
        let concurrent = toolset.limits.concurrent().unwrap_or(DeclaredLimits::DEFAULT_CONCURRENT);
        let sandbox =
            toolset.limits.sandbox.map_or(String::new(), |s| format!(", sandbox {}", s.name()));
        row(out, "limits", format!("{concurrent} at once{sandbox}"));
    }
    row(out, "knowledge", knowledge(&toolset.knowledge));
    for (command, examples) in &toolset.stray_examples {
        row(
            out,
            "stray",
            format!(
                "{} for `{command}`, which is not a command",
                plural(examples.len(), "example")
            ),
        );
    }
}

fn tool_card(out: &mut String, reading: &Reading, n: usize, tool: &Draft) {
    let details = &tool.details;
    let version = tool.version.ok().map_or(String::new(), |v| format!(" {v}"));
    let deprecated = if details.deprecation.deprecated { " (deprecated)" } else { "" };
    let _ = writeln!(out, "{}{version}{deprecated}", id(reading, tool));
    row(
        out,
        "title",
        details.title.as_ref().or(details.annotations.title.as_ref()).map_or("", |t| t),
    );
    row(out, "about", first_paragraph(tool.description.ok().map(String::as_str)));
    row(out, "instead", details.deprecation.message.as_deref().unwrap_or_default());
    row(out, "input", input(&tool.input));
    row(out, "output", tool.output.ok().map_or(String::new(), parameters));
    // Where a format knows no capabilities, silence does not mean that none are needed.
    if !tool.needs.is_empty() || details.binding == Binding::Script {
        row(out, "needs", capabilities(&tool.needs));
    }
    row(out, "hints", hints(tool));
    let tags: Vec<&str> = details.tags.normalised().iter().map(|tag| tag.as_str()).collect();
    row(out, "tags", tags.join(", "));
    if !details.examples.is_empty() {
        let named: Vec<&str> =
            details.examples.iter().filter_map(|e| e.scenario.as_deref()).collect();
        let names =
            if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
        row(out, "examples", format!("{}{names}", details.examples.len()));
    }
    let name = tool.name.ok().map_or("", |name| name.as_str());
    let validators: Vec<&str> =
        reading.toolset.validators_of(name).filter_map(|v| v.function.id.as_deref()).collect();
    row(out, "validators", validators.join(", "));
    row(
        out,
        "time limit",
        time(DeclaredLimits::timeout_ms(&details.limits, &reading.toolset.limits)),
    );
    row(out, "runs as", binding(&details.binding));
    let at = RecordPath::root().child("tools").child(n);
    let place = reading.origin.location(&at);
    let source = reading.origin.document().source();
    let start = source.line_column(place.key.unwrap_or(place.value).start as usize);
    row(out, "from", format!("{}:{}:{}", source.name(), start.line, start.column));
}

fn first_paragraph(text: Option<&str>) -> String {
    let paragraph = text.unwrap_or_default().trim().split("\n\n").next().unwrap_or_default();
    let line: Vec<&str> = paragraph.split_whitespace().collect();
    let line = line.join(" ");
    if line.chars().count() <= 200 {
        line
    } else {
        format!("{}…", line.chars().take(199).collect::<String>())
    }
}

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

fn input(input: &FieldValue<InputSchema>) -> String {
    match input {
        FieldValue::Valid(InputSchema::Deferred) => "as its server says".to_owned(),
        FieldValue::Valid(InputSchema::Written(schema)) => parameters(schema),
        FieldValue::Invalid(_) => "not a schema".to_owned(),
        FieldValue::Missing => "missing".to_owned(),
    }
}

/// `path* string, depth integer`: the star marks what is required.
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
        let closed = schema.get("additionalProperties") == Some(&Json::Bool(false));
        return if closed { "no parameters".to_owned() } else { type_of(schema) };
    };
    let one = |(name, schema): (&String, &Json)| {
        let star = if required.contains(&name.as_str()) { "*" } else { "" };
        format!("{name}{star} {}", type_of(schema))
    };
    let mut shown: Vec<String> = properties.iter().take(8).map(one).collect();
    if properties.len() > 8 {
        shown.push(format!("and {} more", properties.len() - 8));
    }
    shown.join(", ")
}

fn type_of(schema: &Json) -> String {
    match schema.get("type") {
        Some(Json::String(name)) if name == "array" => match schema.get("items") {
            Some(items) => format!("list of {}", type_of(items)),
            None => "list".to_owned(),
        },
        Some(Json::String(name)) => name.clone(),
        Some(Json::Array(names)) => {
            names.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("enum").is_some() => "one of a few values".to_owned(),
        _ => "any".to_owned(),
    }
}

fn hints(tool: &Draft) -> String {
    let hints = &tool.details.annotations;
    let words = [
        (hints.read_only, "read-only", "writes"),
        (hints.destructive, "destructive", "not destructive"),
        (hints.idempotent, "idempotent", "not idempotent"),
        (hints.open_world, "open world", "closed world"),
    ];
    let said =
        words.iter().filter_map(|(hint, yes, no)| hint.map(|hint| if hint { *yes } else { *no }));
    said.collect::<Vec<_>>().join(", ")
}

fn time(ms: u64) -> String {
    if ms.is_multiple_of(1_000) { format!("{} s", ms / 1_000) } else { format!("{ms} ms") }
}

fn binding(binding: &Binding) -> String {
    match binding {
        Binding::Unbound => "nothing: the definition does not say how".to_owned(),
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
        Binding::Server { server, .. } => match &server.connection {
            Connection::Stdio { command } => {
                format!("a tool of the MCP server {}", command.join(" "))
            }
            Connection::Http { url } | Connection::Sse { url } | Connection::WebSocket { url } => {
                format!("a tool of the MCP server at {url}")
            }
        },
        Binding::Orchestration { helper, aggregates } => {
            format!("the helper {helper} over {}", aggregates.join(", "))
        }
    }
}

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
    let said = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| plural(*n, word));
    said.collect::<Vec<_>>().join(", ")
}
