//! Writes an AIOS tool. The commands are written as `tools`, with their schemas; those of a program
//! as `command_groups`, because that is where their words are. The section of the type describes
//! the binding that all commands share.
//!
//! ```text
//! namespace, title, version    ─▶  tool: {id, name, version, …}
//! tools                        ─▶  tools; command_groups.commands for lines of a program
//! knowledge                    ─▶  executable_knowledge, api_complexity, anti_patterns
//! examples of tools            ─▶  examples: {command: […]}
//! binding of the first tool    ─▶  mcp_specific, cli_specific, local_specific or meta_specific
//! rest                         ─▶  where it was read
//! ```
//!
//! What reading fills in is not written: default schemas, and a command that is the tool itself. A
//! toolset of another format gets version 2.0, and only what that version demands is made up for it
//! (a version, the scenario of an example).
//!
//! A document that was read as AIOS is written such that reading it gives the same record. Fields
//! that the record lacks are in `rest` and return to their places at the end (`put_rest`), so no
//! function here has to know them.

use serde_json::json;
use toolwright_model::{
    AntiPattern, Binding, Connection, Example, FieldMapping, Function, HealthCheck, InputSchema,
    Json, Knowledge, KnowledgeStrategy, Object, PayloadSchema, ProcessorStage, Quirk, Server, Tool,
    Toolset, ValidatorCheck,
};
use toolwright_source::words::join_words;

use super::ID;
use crate::write::{ObjectWriter, object_of, put_rest};

/// The version of a tool whose toolset has none. AIOS demands a version; this one promises nothing.
const FIRST_VERSION: &str = "0.1.0";

/// The toolset as a document. `crate::write` has refused a toolset without a namespace or a
/// description, which the format demands.
pub(crate) fn write(toolset: &Toolset<Tool>) -> Json {
    let binding = toolset.tools.first().map(|tool| &tool.details.binding);
    let kind = kind_of(toolset, binding);
    let mut tool = ObjectWriter::default();
    // A document that was read has a type in `rest`; only such a one may lack what 2.0 demands.
    let is_aios = toolset.rest.get(ID, "/tool/type").is_some();
    let version = toolset.rest.get(ID, "/tool/schema_version").cloned();
    // A tool of this format keeps its version, also if it states none.
    tool.put_some("schema_version", version.or_else(|| (!is_aios).then(|| json!(2.0))));
    let namespace = toolset.namespace.ok().map(ToString::to_string);
    tool.put_some("id", namespace.clone());
    tool.put("type", kind);
    tool.put_some("name", toolset.title.clone().or(namespace));
    tool.put("version", toolset.version.ok().map_or(FIRST_VERSION, |version| version.authored()));
    tool.put_some("description", toolset.description.as_deref());
    let knowledge = &toolset.knowledge;
    if knowledge.strategy != KnowledgeStrategy::default() {
        tool.put("knowledge_strategy", knowledge.strategy.name());
    }
    write_commands(toolset, kind, &mut tool);
    tool.put_object("executable_knowledge", write_functions(knowledge));
    tool.put_object("api_complexity", write_api(knowledge));
    tool.put_list("anti_patterns", knowledge.anti_patterns.iter().map(anti_pattern).collect());
    tool.put_object("examples", write_examples(toolset, is_aios));
    write_section(toolset, binding, &mut tool);
    let mut value = object_of("tool", tool.finish());
    put_rest(&mut value, &toolset.rest, ID, |_| true);
    value
}

/// The type: the written one, else that of the binding, else `mcp`. All other bindings become
/// `mcp`, whose section may be empty.
fn kind_of<'t>(toolset: &'t Toolset<Tool>, binding: Option<&Binding>) -> &'t str {
    let written = toolset.rest.get(ID, "/tool/type").and_then(Json::as_str);
    written.unwrap_or(match binding {
        Some(Binding::Command { .. }) => "cli",
        Some(Binding::Local { .. }) => "local",
        Some(Binding::Orchestration { .. }) => "meta",
        _ => "mcp",
    })
}

/// The commands. One that is the tool itself, called by its id and without anything of its own, is
/// not written: reading gives it back.
///
/// ```text
/// `gh pr list`, named pr_list   ─▶  command_groups: {commands: [{command: gh pr list}]}
/// `gh status`, named status     ─▶  tools: [{id: status, …}]
/// `gh`, the tool itself         ─▶  nothing, if it is the only command
/// ```
///
/// A line in `command_groups` has no place for schemas, so these are not written for it.
fn write_commands(toolset: &Toolset<Tool>, kind: &str, out: &mut ObjectWriter) {
    let (mut described, mut lines) = (Vec::new(), Vec::new());
    for tool in &toolset.tools {
        match &tool.details.binding {
            // A command whose only word is its name is described by its name.
            Binding::Command { executable, words, .. }
                if !words.is_empty() && *words != [tool.name.as_str()] =>
            {
                let line: Vec<String> =
                    std::iter::once(executable).chain(words).map(String::clone).collect();
                let mut command = ObjectWriter::default();
                command.put("command", join_words(&line));
                command.put_some("description", tool.description.as_deref());
                lines.push(with_rest(command, tool));
            }
            _ if is_own_command(tool, toolset, kind) => {}
            _ => described.push(write_command(tool, kind)),
        }
    }
    out.put_list("tools", described);
    if !lines.is_empty() {
        out.put("command_groups", object_of("commands", lines));
    }
}

/// Whether a tool is the only command of its toolset and has nothing of its own. Reading a document
/// without commands makes exactly this tool. A tool of type `mcp` is never one: its server lists
/// the commands.
fn is_own_command(tool: &Tool, toolset: &Toolset<Tool>, kind: &str) -> bool {
    let is_default = match &tool.input {
        InputSchema::Written(schema) => kind != "mcp" && **schema == super::default_schema(kind),
        InputSchema::Deferred => false,
    };
    toolset.tools.len() == 1
        && kind != "mcp"
        && toolset.namespace.ok().is_some_and(|id| id.as_str() == tool.name.as_str())
        && tool.description == toolset.description
        && is_default
        && tool.output.is_none()
}

/// A command with its schemas, for `tools`. For `mcp`, every schema is written, because reading
/// fills in none.
fn write_command(tool: &Tool, kind: &str) -> Json {
    let mut command = ObjectWriter::default();
    command.put("id", tool.name.as_str());
    command.put_some("description", tool.description.as_deref());
    // A schema that reading fills in is not written.
    let schema = tool
        .input
        .written()
        .filter(|schema| kind == "mcp" || **schema != super::default_schema(kind));
    command.put_some("inputSchema", schema.cloned());
    command.put_some("outputSchema", tool.output.clone());
    with_rest(command, tool)
}

/// A command with what was kept of it when it was read. What is put back never replaces what was
/// written.
fn with_rest(command: ObjectWriter, tool: &Tool) -> Json {
    let mut value = command.into_json();
    put_rest(&mut value, &tool.details.rest, ID, |_| true);
    value
}

/// The functions of the definition, each list only if it has any. A helper always states its
/// runtime, because the specification demands it of helpers alone. `stage` is written only for
/// `request`, as `response` is the default.
fn write_functions(knowledge: &Knowledge) -> Object {
    let helpers = knowledge.helpers.iter().map(|helper| {
        let mut object = function(helper);
        object.put("runtime", "isolated_vm");
        finish_function(object, helper)
    });
    let processors = knowledge.processors.iter().map(|processor| {
        let mut object = function(&processor.function);
        object.put_some("processes", processor.processes.as_deref());
        if processor.stage == ProcessorStage::Request {
            object.put("stage", "request");
        }
        finish_function(object, &processor.function)
    });
    let validators = knowledge.validators.iter().map(|validator| {
        let mut object = function(&validator.function);
        object.put_some("validates", validator.validates.as_deref());
        let check = |check: &ValidatorCheck| match check {
            ValidatorCheck::RequiredFields(fields) => json!({ "required_fields": fields }),
            ValidatorCheck::Format { field, format } => json!({ "field": field, "format": format }),
            ValidatorCheck::Other(json) => json.clone(),
        };
        object.put_list("checks", validator.checks.iter().map(check).collect());
        finish_function(object, &validator.function)
    });
    let mut object = ObjectWriter::default();
    object.put_list("helpers", helpers.collect());
    object.put_list("processors", processors.collect());
    object.put_list("validators", validators.collect());
    object.finish()
}

/// The start of a function; its code comes last, as it is the longest part. `finish_function` has
/// to follow.
fn function(function: &Function) -> ObjectWriter {
    let mut object = ObjectWriter::default();
    object.put_some("id", function.id.as_deref());
    object.put_some("description", function.description.as_deref());
    object.put_some("language", function.language.as_deref());
    object
}

/// The function with its unknown members and, last, its code.
fn finish_function(mut object: ObjectWriter, function: &Function) -> Json {
    object.extend(&function.rest);
    object.put_some("function", function.code.as_deref());
    object.into_json()
}

/// What is known about the API behind the tool: shapes of payloads, mappings of fields, quirks.
/// Each part is there only if it has anything.
fn write_api(knowledge: &Knowledge) -> Object {
    let payload = |payload: &PayloadSchema| {
        let mut object = ObjectWriter::default();
        object.put_some("type", payload.kind.as_deref());
        object.put_some("detection", payload.detection.as_deref());
        object.put_some("payload_path", payload.payload_path.as_deref());
        object.extend(&payload.rest);
        object.into_json()
    };
    let quirk = |quirk: &Quirk| {
        let mut object = ObjectWriter::default();
        object.put_some("quirk", quirk.name.as_deref());
        object.put_some("description", quirk.description.as_deref());
        object.put_some("impact", quirk.impact.as_deref());
        object.put_some("mitigation", quirk.mitigation.as_deref());
        object.extend(&quirk.rest);
        object.into_json()
    };
    let mut object = ObjectWriter::default();
    object.put_list("payload_schemas", knowledge.payload_schemas.iter().map(payload).collect());
    object.put_object("field_mappings", field_mappings(&knowledge.field_mappings));
    object.put_list("api_quirks", knowledge.quirks.iter().map(quirk).collect());
    object.finish()
}

/// The mappings by their path: at the top, or one group deep.
///
/// ```text
/// path [a]      ─▶  {a: mapping}
/// path [g, a]   ─▶  {g: {a: mapping}}
/// ```
///
/// A path of three names or more does not occur: reading makes one or two.
fn field_mappings(mappings: &[FieldMapping]) -> Object {
    let mut all = Object::new();
    for mapping in mappings {
        let mut object = ObjectWriter::default();
        object.put_some("structure", mapping.structure.clone());
        object.put_some("extraction", mapping.extraction.as_deref());
        object.extend(&mapping.rest);
        let Some((first, below)) = mapping.path.split_first() else { continue };
        match below {
            [name] => {
                let group = all.entry(first.clone()).or_insert_with(|| json!({}));
                if let Json::Object(group) = group {
                    group.insert(name.clone(), object.into_json());
                }
            }
            // The notes of a group join the mappings in it.
            _ => {
                let own = all.entry(first.clone()).or_insert_with(|| json!({}));
                if let Json::Object(own) = own {
                    own.extend(object.finish());
                }
            }
        }
    }
    all
}

/// All fields are optional here, though required by the format: a draft that lacked one was read
/// all the same.
fn anti_pattern(pattern: &AntiPattern) -> Json {
    let mut object = ObjectWriter::default();
    object.put_some("pattern", pattern.name.as_deref());
    object.put_some("description", pattern.description.as_deref());
    object.put_some("category", pattern.category.as_deref());
    object.put_some("wrong", pattern.wrong.as_deref());
    object.put_some("correct", pattern.correct.as_deref());
    object.put_some("rationale", pattern.rationale.as_deref());
    object.extend(&pattern.rest);
    object.into_json()
}

/// The examples by command, and those of commands that do not exist. Version 2.0 demands a scenario
/// and one outcome of each: an example of another format without one is left out. What was read
/// from AIOS is written as it was, even without a scenario.
fn write_examples(toolset: &Toolset<Tool>, is_aios: bool) -> Object {
    let mut all = Object::new();
    for tool in &toolset.tools {
        let examples = tool.details.examples.iter().filter_map(|example| {
            let mut written = write_example(example);
            if !is_aios && example.scenario.is_none() {
                let scenario = scenario(example)?;
                written.as_object_mut()?.shift_insert(0, "scenario".to_owned(), json!(scenario));
            }
            let has_outcome = example.output.is_some() != example.error.is_some();
            (is_aios || has_outcome).then_some(written)
        });
        let examples: Vec<Json> = examples.collect();
        if !examples.is_empty() {
            all.insert(tool.name.to_string(), examples.into());
        }
    }
    for (command, examples) in &toolset.stray_examples {
        all.insert(command.clone(), examples.iter().map(write_example).collect());
    }
    all
}

/// The scenario that the outcome of an example shows. The codes are those of the specification's
/// own examples. `None` if there is no outcome, and so no scenario that could be stated.
fn scenario(example: &Example) -> Option<&'static str> {
    let Some(error) = &example.error else { return example.output.as_ref().map(|_| "success") };
    Some(match error.code.as_deref() {
        Some("VALIDATION_ERROR") => "failure_invalid_param",
        Some("API_ERROR") => "failure_api_error",
        _ => "failure_error",
    })
}

/// One example by scenario, with the error it expects if it shows a failure. What the record lacks
/// of it (`mitigation`, `http_status`) is in `rest`.
fn write_example(example: &Example) -> Json {
    let mut object = ObjectWriter::default();
    object.put_some("scenario", example.scenario.as_deref());
    object.put_some("description", example.description.as_deref());
    object.put_some("input", example.input.clone());
    object.put_some("output", example.output.clone());
    if let Some(error) = &example.error {
        let mut expected = ObjectWriter::default();
        expected.put_some("code", error.code.as_deref());
        expected.put_some("message", error.message.as_deref());
        expected.put_some("validator", error.validator.as_deref());
        expected.extend(&error.rest);
        object.put("error", expected.into_json());
    }
    object.extend(&example.rest);
    object.into_json()
}

/// The section of the type: how the commands are run. The first command decides, because all share
/// one binding; without commands, the server of the toolset is what is left. Empty sections are not
/// written. A built-in tool or a body has no section: AIOS cannot run it.
fn write_section(toolset: &Toolset<Tool>, binding: Option<&Binding>, out: &mut ObjectWriter) {
    let mut section = ObjectWriter::default();
    let server = match binding {
        Some(Binding::Server { server, .. }) => Some(server),
        _ => toolset.server.as_ref(),
    };
    let name = match binding {
        Some(Binding::Command { executable, install_check, install_guide, .. }) => {
            section.put("executable", executable.as_str());
            section.put_some("install_check", install_check.as_ref().map(|it| it.line.as_str()));
            section.put_some("install_guide", install_guide.as_deref());
            "cli_specific"
        }
        Some(Binding::Local { runtime, entry_point, dependencies, .. }) => {
            section.put_some("runtime", runtime.as_deref());
            section.put("entry_point", entry_point.as_str());
            section.put_list("dependencies", dependencies.iter().map(|d| json!(d)).collect());
            "local_specific"
        }
        Some(Binding::Orchestration { helper, aggregates }) => {
            section.put_list("aggregates", aggregates.iter().map(|a| json!(a)).collect());
            section.put("orchestration", format!("helpers.{helper}"));
            "meta_specific"
        }
        _ => {
            if let Some(server) = server {
                write_server(server, &mut section);
            }
            "mcp_specific"
        }
    };
    out.put_object(name, section.finish());
}

/// How the server is reached. AIOS has no word for streamable HTTP; `sse` tries it first. Headers
/// and the working directory are not written, as AIOS has no fields for them.
fn write_server(server: &Server, section: &mut ObjectWriter) {
    match &server.connection {
        Connection::Stdio { command } => {
            section.put("server_command", join_words(command));
            section.put("transport", "stdio");
        }
        Connection::Http { url } | Connection::Sse { url } => {
            section.put("transport", "sse");
            section.put("connection", json!({ "url": url }));
        }
        Connection::WebSocket { url } => {
            section.put("transport", "websocket");
            section.put("connection", json!({ "url": url }));
        }
    }
    let variables = server.environment.iter().map(|variable| {
        let mut object = ObjectWriter::default();
        object.put("name", variable.name.as_str());
        object.put_some("required", variable.required.then_some(true));
        object.put_some("description", variable.description.as_deref());
        object.put_some("value", variable.value.as_deref());
        object.into_json()
    });
    section.put_list("environment_variables", variables.collect());
    section.put_some("health_check", server.health_check.as_ref().map(health_check));
}

/// Members without a value are left out, so the default method stays a default.
fn health_check(check: &HealthCheck) -> Json {
    let mut object = ObjectWriter::default();
    object.put_some("method", check.method.as_deref());
    object.put_some("command", check.command.as_deref());
    object.put_some("arguments", check.arguments.clone());
    object.put_some("expected_response", check.expected_response.clone());
    object.put_some("timeout_ms", check.timeout_ms);
    object.into_json()
}
