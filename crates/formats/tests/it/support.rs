//! The only module that uses the API of the crate: text in; out come the record as JSON (a "card")
//! and the findings as lines of text.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_formats::{DetectionResult, Reading, by_name, detect, read};
use toolwright_model::{
    Binding, Connection, Draft, Example, FieldValue, FormatId, Function, InputSchema, Knowledge,
    ProcessorStage, Rest, Toolset, ValidatorCheck,
};
use toolwright_source::{Diagnostic, Document, Syntax, locate, render};

/// A file: the syntax comes from its name.
pub(crate) fn parse(name: &str, text: impl Into<Vec<u8>>) -> Arc<Document> {
    let syntax = if name.ends_with(".json") { Syntax::Json } else { Syntax::Yaml };
    Arc::new(Document::parse(name, text, syntax))
}

/// The detected format of a file, or the code and message of the finding that it has none.
pub(crate) fn detected(name: &str, text: &str) -> Result<&'static str, (&'static str, String)> {
    match detect(&parse(name, text)) {
        DetectionResult::Format(format) => Ok(format.0),
        DetectionResult::Unreadable(finding) => Err((finding.code.name, finding.message)),
    }
}

/// The formats that can be read.
pub(crate) fn format_ids() -> impl Iterator<Item = &'static str> {
    toolwright_formats::FORMATS.iter().map(|format| format.id().0)
}

pub(crate) fn format(name: &str) -> FormatId {
    by_name(name).unwrap_or_else(|| panic!("no format `{name}`")).id()
}

pub(crate) fn read_as(id: &str, name: &str, text: impl Into<Vec<u8>>) -> Reading {
    read(&parse(name, text), format(id))
}

/// All diagnostics of a text, in the order of their locations.
pub(crate) fn diagnose(reading: &Reading) -> Vec<Diagnostic> {
    let document = reading.origin.document();
    let mut all = document.problems().to_vec();
    all.extend(reading.findings.iter().map(|finding| locate(finding.clone(), document)));
    render::sort(&mut all);
    all
}

/// `CODE path`, and `CODE path (compat)` for what compat mode tolerates; sorted.
pub(crate) fn findings(reading: &Reading) -> Vec<String> {
    let problems = reading.origin.document().problems().iter();
    let mut lines: Vec<String> =
        problems.map(|d| format!("{} {}", d.code.name, d.path).trim_end().to_owned()).collect();
    lines.extend(reading.findings.iter().map(|f| {
        let compat = if f.tolerable { " (compat)" } else { "" };
        format!("{} {}{compat}", f.code.name, f.at)
    }));
    lines.sort();
    lines
}

/// `line:column CODE path`, in the order of the text.
pub(crate) fn places(reading: &Reading) -> Vec<String> {
    let line = |d: &Diagnostic| {
        let (line, column) = d.line_column().expect("every diagnostic has a place");
        format!("{line}:{column} {} {}", d.code.name, d.path)
    };
    diagnose(reading).iter().map(line).collect()
}

/// The lines that are not blank, trimmed and sorted.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        text.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Compares parts of a card, by pointer, with the expected values.
pub(crate) fn assert_card(what: &str, card: &Json, expected: &[(&str, Json)]) {
    for (pointer, expected) in expected {
        let found = card.pointer(pointer).unwrap_or(&Json::Null);
        assert_eq!(found, expected, "{what}: {pointer}\nin {card:#}");
    }
}

/// The definitions of this project that tests read: `tests/corpus`.
pub(crate) fn own_corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The folder of definitions and specifications by other people, which the repository does not
/// contain. Where `TOOLWRIGHT_SHARED` does not name it, standard error says that the test read only
/// our own files.
pub(crate) fn shared(test: &str) -> Option<PathBuf> {
    let found = std::env::var_os("TOOLWRIGHT_SHARED").map(PathBuf::from);
    if found.is_none() {
        // `eprintln!` would be captured by the harness, which hides the output of passing tests.
        let line = format!("{test}: only our own files, TOOLWRIGHT_SHARED is not set");
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    found
}

/// The project's own examples.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// All files below a folder, in a stable order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
        .into_iter()
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

/// The definitions among them, without the scripts beside some.
pub(crate) fn definitions(folder: &Path) -> Vec<PathBuf> {
    let mut paths = files(folder);
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "json" || ext == "yaml"));
    paths
}

fn given<T>(given: &FieldValue<T>, show: impl FnOnce(&T) -> Json) -> Json {
    match given {
        FieldValue::Missing => Json::Null,
        FieldValue::Invalid(json) => json!({"bad": json}),
        FieldValue::Valid(value) => show(value),
    }
}

/// A toolset as JSON; a missing value is null, an invalid one is `{"bad": …}`.
pub(crate) fn card(reading: &Reading) -> Json {
    let set: &Toolset<Draft> = &reading.toolset;
    let namespace = set.namespace.ok();
    json!({
        "dialect": reading.dialect,
        "namespace": given(&set.namespace, |n| json!(n.as_str())),
        "title": set.title,
        "description": set.description,
        "version": given(&set.version, |v| json!(v.authored())),
        "provider": set.provider.as_ref().map(|p| json!([p.name, p.url, p.contact, p.icon])),
        "declares": set.declares.as_ref().map(|list| {
            list.iter().map(|c| given(c, |c| json!(c.as_str()))).collect::<Vec<_>>()
        }),
        "limits": json!([set.limits.timeout_ms, set.limits.max_concurrent, set.limits.sandbox.map(|s| s.name())]),
        "ids": set.tools.iter().map(|t| json!(t.id(namespace).map(|id| id.to_string()))).collect::<Vec<_>>(),
        "knowledge": knowledge(&set.knowledge),
        "tools": set.tools.iter().map(tool).collect::<Vec<_>>(),
        "stray": set.stray_examples.iter()
            .map(|(name, list)| json!([name, list.iter().map(example).collect::<Vec<_>>()]))
            .collect::<Vec<_>>(),
        "rest": rest(&set.rest),
    })
}

fn tool(draft: &Draft) -> Json {
    let details = &draft.details;
    let hints = &details.annotations;
    json!({
        "name": given(&draft.name, |n| json!(n.as_str())),
        "namespace": given(&draft.namespace, |n| json!(n.as_str())),
        "title": details.title,
        "description": given(&draft.description, |d| json!(d)),
        "version": given(&draft.version, |v| json!(v.authored())),
        "input": given(&draft.input, |input| match input {
            InputSchema::Written(json) => Json::clone(json),
            InputSchema::Deferred => json!("deferred"),
        }),
        "output": given(&draft.output, Json::clone),
        "needs": draft.needs.iter().map(|c| given(c, |c| json!(c.as_str()))).collect::<Vec<_>>(),
        "tags": details.tags.normalised().iter().map(|t| json!(t.as_str())).collect::<Vec<_>>(),
        "authored_tags": details.tags.authored(),
        "examples": details.examples.iter().map(example).collect::<Vec<_>>(),
        "hints": json!([hints.title, hints.read_only, hints.destructive, hints.idempotent, hints.open_world, hints.rest]),
        "icons": details.icons.iter()
            .map(|i| json!([i.src, i.mime_type, i.sizes, i.rest]))
            .collect::<Vec<_>>(),
        "meta": details.meta,
        "deprecation": json!([details.deprecation.deprecated, details.deprecation.message]),
        "timeout": details.limits.timeout_ms,
        "binding": binding(&details.binding),
        "rest": rest(&details.rest),
        "finishes": draft.clone().finish().is_ok(),
    })
}

fn example(example: &Example) -> Json {
    let error = example.error.as_ref().map(|e| json!([e.code, e.message, e.validator, e.rest]));
    // An absent output and `null` are different: the list is empty or has one item.
    json!({
        "scenario": example.scenario,
        "description": example.description,
        "input": example.input.iter().collect::<Vec<_>>(),
        "output": example.output.iter().collect::<Vec<_>>(),
        "error": error,
        "rest": example.rest,
    })
}

fn binding(binding: &Binding) -> Json {
    let kind = binding.kind();
    match binding {
        Binding::Unbound | Binding::Script => json!([kind]),
        Binding::Executable { program } => json!([kind, program]),
        Binding::Command { executable, words, install_check, install_guide } => {
            let install_check = install_check.as_ref().map(|it| &it.line);
            json!([kind, executable, words, install_check, install_guide])
        }
        Binding::Local { runtime, entry_point, command, dependencies } => {
            json!([kind, runtime, entry_point, command, dependencies])
        }
        Binding::Orchestration { helper, aggregates } => json!([kind, helper, aggregates]),
        Binding::Builtin { toolset, tool } => json!([kind, toolset, tool]),
        Binding::Server { server, tool } => {
            let connection = match &server.connection {
                Connection::Stdio { command } => json!(["stdio", command]),
                Connection::Http { url } => json!(["http", url]),
                Connection::Sse { url } => json!(["sse", url]),
                Connection::WebSocket { url } => json!(["websocket", url]),
            };
            let environment = server.environment.iter();
            let check = server.health_check.as_ref();
            json!([
                kind,
                tool,
                connection,
                environment
                    .map(|v| json!([v.name, v.required, v.description, v.value]))
                    .collect::<Vec<_>>(),
                check.map(|c| json!([
                    c.method,
                    c.command,
                    c.arguments,
                    c.expected_response,
                    c.timeout_ms
                ])),
            ])
        }
    }
}

fn function(f: &Function) -> Json {
    json!([f.id, f.description, f.code, f.rest])
}

fn knowledge(k: &Knowledge) -> Json {
    let stage = |stage: ProcessorStage| {
        if stage == ProcessorStage::Request { "request" } else { "response" }
    };
    let check = |check: &ValidatorCheck| match check {
        ValidatorCheck::RequiredFields(fields) => json!({"required": fields}),
        ValidatorCheck::Format { field, format } => json!({"field": field, "format": format}),
        ValidatorCheck::Other(json) => json!({"other": json}),
    };
    let list = |items: Vec<Json>| Json::Array(items);
    json!({
        "strategy": k.strategy.name(),
        "helpers": list(k.helpers.iter().map(function).collect()),
        "processors": list(
            k.processors.iter().map(|p| json!([function(&p.function), p.processes, stage(p.stage)])).collect(),
        ),
        "validators": list(
            k.validators.iter()
                .map(|v| json!([function(&v.function), v.validates, v.checks.iter().map(check).collect::<Vec<_>>()]))
                .collect(),
        ),
        "payloads": list(
            k.payload_schemas.iter().map(|p| json!([p.kind, p.detection, p.payload_path, p.rest])).collect(),
        ),
        "mappings": list(
            k.field_mappings.iter().map(|m| json!([m.path, m.structure, m.extraction, m.rest])).collect(),
        ),
        "quirks": list(
            k.quirks.iter().map(|q| json!([q.name, q.description, q.impact, q.mitigation, q.rest])).collect(),
        ),
        "anti_patterns": list(
            k.anti_patterns.iter()
                .map(|a| json!([a.name, a.description, a.category, a.wrong, a.correct, a.rationale, a.rest]))
                .collect(),
        ),
    })
}

fn rest(rest: &Rest) -> Json {
    let mut formats = rest.iter().map(|(_, fields)| json!(fields));
    formats.next().unwrap_or_else(|| json!({}))
}
