//! The record as a flat list of its parts, to compare two records: each part has a path in the
//! record, by which the source is found, and a value.
//!
//! Not parts: the names of tools (`naming`), input schemas (`schemas`), and what a format implies
//! without writing it, such as that a BTCP tool is a script.
//!
//! ```text
//! a tool with two tags and an example   ─▶   /description   "Reads a file"
//!                                            /tags/0        "files"
//!                                            /tags/1        "text"
//!                                            /examples/0/input   {…}
//! ```
//!
//! `convert` makes the parts of the source and of what it wrote and read back. A part that is
//! missing or different on the other side is a loss. So a part has to be as small as what a user
//! wants to read about, and as large as what a target holds or drops as one.

use serde_json::json;
use toolwright_model::{
    Binding, Capability, Connection, Example, FieldValue, Json, Object, ProcessorStage, Rest,
    Server, Tool, Toolset, ValidatorCheck,
};

/// The parts in the order of the record.
pub(super) type RecordParts = Vec<RecordPart>;

/// A part of a record.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecordPart {
    /// The path below the tool, or below the toolset.
    pub(super) path: String,
    /// Compared as it is. Several fields may be one array, without their names: nobody reads it.
    pub(super) value: Json,
    /// For a field that only one format has: its pointer there.
    pub(super) is_rest: bool,
}

/// Collects parts, leaving out what is absent.
#[derive(Default)]
struct PartList(RecordParts);

impl PartList {
    /// A part that is always there.
    fn add(&mut self, path: impl Into<String>, value: impl Into<Json>) {
        self.0.push(RecordPart { path: path.into(), value: value.into(), is_rest: false });
    }

    /// A part that is there if it has a value. A part that is absent on both sides does not differ.
    fn add_some(&mut self, path: impl Into<String>, value: Option<impl Into<Json>>) {
        if let Some(value) = value {
            self.add(path, value);
        }
    }

    /// Each member as a part of its own.
    fn add_members(&mut self, path: &str, members: &Object) {
        for (name, value) in members {
            self.add(format!("{path}/{}", escaped(name)), value.clone());
        }
    }

    /// Fields that only one format has. Each format of the toolset has a map of them.
    fn add_rest(&mut self, rest: &Rest) {
        for (pointer, value) in rest.iter().flat_map(|(_, fields)| fields) {
            let value = value.clone();
            self.0.push(RecordPart { path: pointer.clone(), value, is_rest: true });
        }
    }
}

/// A name as a token of a pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The parts of a tool. In the order of the record. Paths of fields that only one format has are
/// pointers in that format.
///
/// Tags and capabilities are parts one by one, so that a report can name the one that is lost. An
/// icon is one part, because a target has icons or has none.
pub(super) fn tool_parts(tool: &Tool, toolset: &Toolset<Tool>) -> RecordParts {
    let mut parts = PartList::default();
    let details = &tool.details;
    parts.add_some("/title", details.title.as_deref());
    parts.add_some("/description", tool.description.as_deref());
    parts.add_some("/version", tool.version.as_ref().map(ToString::to_string));
    parts.add_some("/outputSchema", tool.output.clone());
    for (n, need) in tool.needs.iter().enumerate() {
        parts.add(format!("/capabilities/{n}"), need.as_str());
    }
    for (n, tag) in details.tags.authored().iter().enumerate() {
        parts.add(format!("/tags/{n}"), tag.as_str());
    }
    add_examples("/examples", &details.examples, &mut parts);
    let hints = &details.annotations;
    parts.add_some("/annotations/title", hints.title.as_deref());
    parts.add_some("/annotations/readOnlyHint", hints.read_only);
    parts.add_some("/annotations/destructiveHint", hints.destructive);
    parts.add_some("/annotations/idempotentHint", hints.idempotent);
    parts.add_some("/annotations/openWorldHint", hints.open_world);
    parts.add_members("/annotations", &hints.rest);
    for (n, icon) in details.icons.iter().enumerate() {
        let value = json!([icon.src, icon.mime_type, icon.sizes, icon.rest]);
        parts.add(format!("/icons/{n}"), value);
    }
    parts.add_some("/_meta", details.meta.clone());
    parts.add_some("/deprecated", details.deprecation.deprecated.then_some(true));
    parts.add_some("/deprecationMessage", details.deprecation.message.as_deref());
    parts.add_some("/limits/timeoutMs", details.limits.timeout_ms);
    parts.add_some("/binding", binding(&details.binding, toolset));
    if let Binding::Command { words, .. } = &details.binding
        && !words.is_empty()
    {
        parts.add("/binding/words", json!(words));
    }
    parts.add_rest(&details.rest);
    parts.0
}

/// The parts of examples, each field by itself: Anthropic's `input_examples` hold the arguments
/// only.
fn add_examples(path: &str, examples: &[Example], parts: &mut PartList) {
    for (n, example) in examples.iter().enumerate() {
        let at = format!("{path}/{n}");
        parts.add_some(format!("{at}/scenario"), example.scenario.as_deref());
        parts.add_some(format!("{at}/description"), example.description.as_deref());
        parts.add_some(format!("{at}/input"), example.input.clone());
        parts.add_some(format!("{at}/output"), example.output.clone());
        if let Some(error) = &example.error {
            parts.add(
                format!("{at}/error"),
                json!([error.code, error.message, error.validator, error.rest]),
            );
        }
        parts.add_members(&at, &example.rest);
    }
}

/// How a tool is run, if the definition says more than its format implies.
///
/// The first item is the kind, so that two bindings of different kinds never compare equal.
fn binding(binding: &Binding, toolset: &Toolset<Tool>) -> Option<Json> {
    Some(match binding {
        Binding::Unbound | Binding::Script | Binding::Executable { program: None } => return None,
        Binding::Executable { program: Some(program) } => json!(["executable", program]),
        Binding::Command { executable, words: _, install_check, install_guide } => {
            let install_check = install_check.as_ref().map(|it| &it.line);
            json!(["command", executable, install_check, install_guide])
        }
        Binding::Local { runtime, entry_point, command: _, dependencies } => {
            json!(["local", runtime, entry_point, dependencies])
        }
        // The server of all tools is a part of the toolset.
        Binding::Server { server, .. } if toolset.server.as_ref() == Some(server) => return None,
        Binding::Server { server: own, .. } => server(own),
        Binding::Builtin { toolset, tool } => json!(["builtin", toolset, tool]),
        Binding::Orchestration { helper, aggregates } => {
            json!(["orchestration", helper, aggregates])
        }
    })
}

/// How a server is reached, with its variables and its health check, as one part.
fn server(server: &Server) -> Json {
    let connection = match &server.connection {
        Connection::Stdio { command } => json!(["stdio", command]),
        // Formats without a word for streamable HTTP try it first where they say `sse`.
        Connection::Http { url } | Connection::Sse { url } => json!(["http", url]),
        Connection::WebSocket { url } => json!(["websocket", url]),
    };
    let environment: Vec<Json> = server
        .environment
        .iter()
        .map(|v| json!([v.name, v.required, v.description, v.value]))
        .collect();
    let check = server.health_check.as_ref().map(|check| {
        json!([
            check.method,
            check.command,
            check.arguments,
            check.expected_response,
            check.timeout_ms
        ])
    });
    json!([connection, environment, check])
}

/// The parts of a toolset, without its tools.
pub(super) fn toolset_parts(toolset: &Toolset<Tool>) -> RecordParts {
    let mut parts = PartList::default();
    parts.add_some("/title", toolset.title.as_deref());
    parts.add_some("/description", toolset.description.as_deref());
    parts.add_some("/version", toolset.version.ok().map(ToString::to_string));
    if let Some(provider) = &toolset.provider {
        parts.add_some("/provider/name", provider.name.as_deref());
        parts.add_some("/provider/url", provider.url.as_deref());
        parts.add_some("/provider/contact", provider.contact.as_deref());
        parts.add_some("/provider/icon", provider.icon.as_deref());
    }
    if let Some(declares) = &toolset.declares {
        let names: Vec<&str> =
            declares.iter().filter_map(FieldValue::ok).map(Capability::as_str).collect();
        parts.add("/declares", json!(names));
    }
    parts.add_some("/instructions", toolset.instructions.as_deref());
    parts.add_some("/limits/timeoutMs", toolset.limits.timeout_ms);
    parts.add_some("/limits/maxConcurrent", toolset.limits.max_concurrent);
    parts.add_some("/limits/sandbox", toolset.limits.sandbox.map(|sandbox| sandbox.name()));
    parts.add_some("/server", toolset.server.as_deref().map(server));
    add_knowledge(toolset, &mut parts);
    for (command, examples) in &toolset.stray_examples {
        add_examples(&format!("/strayExamples/{}", escaped(command)), examples, &mut parts);
    }
    parts.add_rest(&toolset.rest);
    parts.0
}

/// The functions and the advice of a definition, one part for each. No format but AIOS holds them,
/// so their fields are not told apart.
fn add_knowledge(toolset: &Toolset<Tool>, parts: &mut PartList) {
    let knowledge = &toolset.knowledge;
    let at = |list: &str, n: usize| format!("/knowledge/{list}/{n}");
    if knowledge.strategy != toolwright_model::KnowledgeStrategy::default() {
        parts.add("/knowledge/strategy", knowledge.strategy.name());
    }
    let function =
        |f: &toolwright_model::Function| json!([f.id, f.language, f.description, f.code, f.rest]);
    for (n, helper) in knowledge.helpers.iter().enumerate() {
        parts.add(at("helpers", n), function(helper));
    }
    for (n, processor) in knowledge.processors.iter().enumerate() {
        let is_request = processor.stage == ProcessorStage::Request;
        let value = json!([function(&processor.function), processor.processes, is_request]);
        parts.add(at("processors", n), value);
    }
    for (n, validator) in knowledge.validators.iter().enumerate() {
        let check = |check: &ValidatorCheck| match check {
            ValidatorCheck::RequiredFields(fields) => json!({ "required": fields }),
            ValidatorCheck::Format { field, format } => json!({ "format": format, "field": field }),
            ValidatorCheck::Other(json) => json!({ "other": json }),
        };
        let checks: Vec<Json> = validator.checks.iter().map(check).collect();
        let value = json!([function(&validator.function), validator.validates, checks]);
        parts.add(at("validators", n), value);
    }
    for (n, payload) in knowledge.payload_schemas.iter().enumerate() {
        let value = json!([payload.kind, payload.detection, payload.payload_path, payload.rest]);
        parts.add(at("payloadSchemas", n), value);
    }
    for (n, mapping) in knowledge.field_mappings.iter().enumerate() {
        let value = json!([mapping.path, mapping.structure, mapping.extraction, mapping.rest]);
        parts.add(at("fieldMappings", n), value);
    }
    for (n, quirk) in knowledge.quirks.iter().enumerate() {
        let value =
            json!([quirk.name, quirk.description, quirk.impact, quirk.mitigation, quirk.rest]);
        parts.add(at("quirks", n), value);
    }
    for (n, pattern) in knowledge.anti_patterns.iter().enumerate() {
        let value = json!([
            pattern.name,
            pattern.description,
            pattern.category,
            pattern.wrong,
            pattern.correct,
            pattern.rationale,
            pattern.rest
        ]);
        parts.add(at("antiPatterns", n), value);
    }
}
