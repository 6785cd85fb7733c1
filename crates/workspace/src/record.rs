//! The record as JSON, for other programs (`show --json`). `docs/record.md` describes it. Its keys
//! are stable, and a key without a value is `null` and never absent, so that consumers need not
//! tell the two apart. Values of environment variables are hidden: they are where people put their
//! keys.
//!
//! This is written by hand and not derived with `serde`: the types of the record change with the
//! code, and the JSON must not.

use crate::masked_connection;
use serde_json::{Map, json};
use toolwright_formats::Reading;
use toolwright_model::{
    AgentTexts, Annotations, Binding, CallLimits, Connection, DeclaredLimits, Draft, Example,
    FieldValue, Function, Icon, InputSchema, Json, Knowledge, Object, ProcessorStage, Rest,
    Sandbox, ServedTool, Server, ValidatorCheck,
};
use toolwright_source::{DocumentPath, Node, RecordPath};

use crate::code_files::code_files;
use crate::content_hash::ContentHasher;

/// The tools of a reading. `index` is the position of their toolset in the output. A toolset and
/// its tools are separate lists in the output, so that each tool carries the number of its toolset
/// instead of a copy of it. `limits` are those of the configuration under which they would run.
///
/// The order is that of the document. Tools with mistakes are listed as well, with `null` for what
/// is invalid.
pub fn tools(reading: &Reading, index: usize, limits: &CallLimits) -> Vec<Json> {
    let (hasher, texts) = (ContentHasher::new(reading), agent_texts(reading));
    let tools = reading.toolset.tools.iter().enumerate();
    tools.map(|(n, tool)| tool_json(reading, (&hasher, &texts), limits, index, n, tool)).collect()
}

/// What agents are given to read about the tools of a document, as far as the document decides: a
/// command of a server that has no description here gets that of the server.
pub fn agent_texts(reading: &Reading) -> AgentTexts {
    let toolset = &reading.toolset;
    let commands = toolset.tools.iter().filter_map(|tool| tool.name.ok());
    let commands = commands.map(ToString::to_string).collect();
    let has_examples = toolset.tools.iter().any(|tool| !tool.details.examples.is_empty());
    let namespace = toolset.namespace.ok().map_or("tools", |namespace| namespace.as_str());
    let has_document = toolwright_model::has_document(&toolset.knowledge, has_examples);
    let document = has_document.then(|| toolwright_model::document_uri(namespace));
    AgentTexts::new(&toolset.knowledge, &commands, document)
}

/// The description of a tool as `serve` gives it to agents.
pub fn served_description(texts: &AgentTexts, tool: &Draft) -> Option<String> {
    texts.description(&ServedTool {
        name: tool.name.ok().map_or("", |name| name.as_str()),
        description: tool.description.ok().map(String::as_str),
        examples: &tool.details.examples,
        deprecation: &tool.details.deprecation,
    })
}

/// One tool, the `n`th of its toolset.
///
/// What all tools of a document share (the hasher, the texts for agents) is made by the caller.
fn tool_json(
    reading: &Reading,
    (hasher, texts): (&ContentHasher<'_>, &AgentTexts),
    caps: &CallLimits,
    toolset: usize,
    n: usize,
    tool: &Draft,
) -> Json {
    let namespace = reading.toolset.namespace.ok();
    let details = &tool.details;
    // An invalid name is `null` here and is listed under `invalid`: consumers never have to check
    // whether a name is one that they can call.
    let name = tool.name.ok().map(ToString::to_string);
    json!({
        "id": tool.id(namespace).map(|id| id.to_string()),
        // A tool without a namespace of its own has that of its toolset, as in its id.
        "namespace": tool.namespace.ok().or(namespace).map(ToString::to_string),
        "name": name,
        // MCP has two places for a title. The one of the tool itself has precedence, as the
        // specification of MCP states.
        "title": details.title.as_ref().or(details.annotations.title.as_ref()),
        "description": tool.description.ok(),
        // As `serve` gives it to agents: with knowledge, an example, and whether it is deprecated.
        "servedDescription": served_description(texts, tool),
        "version": tool.version.ok().map(ToString::to_string),
        // The form that is stored and searched, not the one that the author wrote.
        "tags": details.tags.normalised().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "capabilities": tool.needs.iter().filter_map(capability).collect::<Vec<_>>(),
        "inputSchema": tool.input.ok().map(InputSchema::to_json),
        // Known only once the server is connected; `inputSchema` is a placeholder until then.
        "inputSchemaDeferred": tool.input.ok() == Some(&InputSchema::Deferred),
        "outputSchema": tool.output.ok(),
        "examples": details.examples.iter().map(example).collect::<Vec<_>>(),
        // Defaults are filled in, so that consumers need not implement them.
        "limits": limits(&details.limits, &reading.toolset.limits, &details.binding, caps),
        "binding": binding(&details.binding),
        "annotations": annotations(&details.annotations),
        "icons": details.icons.iter().map(icon).collect::<Vec<_>>(),
        "meta": details.meta,
        "deprecated": details.deprecation.deprecated,
        "deprecationMessage": details.deprecation.message,
        // By id only. The functions themselves are listed once, with the toolset.
        "knowledge": references(reading, name.as_deref().unwrap_or_default()),
        "extra": unknown_fields(&details.rest),
        "invalid": invalid(tool),
        // Covers the definition as written and not this record, so that a consumer can pin it and
        // notice a tool that was exchanged.
        "hash": hasher.tool(n).as_str(),
        "format": reading.format.0,
        // The index of the toolset, as the caller counts them.
        "toolset": toolset,
        "origin": origin(reading, &RecordPath::root().child("tools").child(n)),
    })
}

/// A capability with its risk; `None` for an invalid one, which is listed under `invalid`.
fn capability(value: &FieldValue<toolwright_model::Capability>) -> Option<Json> {
    let capability = value.ok()?;
    Some(json!({
        "name": capability.as_str(),
        "risk": capability.risk().name(),
        // An unknown capability is listed, too: leaving it out would make the tool look harmless.
        "known": capability.is_known(),
    }))
}

/// An example. Here an absent key means something: an example may expect the output `null`, or not
/// state its output at all.
fn example(example: &Example) -> Json {
    let mut json = Map::new();
    json.insert("scenario".into(), json!(example.scenario));
    json.insert("description".into(), json!(example.description));
    // `extend` with an `Option`: the key is there only if the definition has it.
    json.extend(example.input.clone().map(|input| ("input".to_owned(), input)));
    json.extend(example.output.clone().map(|output| ("output".to_owned(), output)));
    if let Some(error) = &example.error {
        let error = json!({
            "code": error.code, "message": error.message, "validator": error.validator,
            "extra": error.rest,
        });
        json.insert("error".into(), error);
    }
    json.insert("extra".into(), json!(example.rest));
    Json::Object(json)
}

/// The time-out that holds under the configuration, and the one that the tool itself declares.
///
/// The first depends on the configuration of this machine, so a comparison of two definitions reads
/// the second.
fn limits(
    tool: &DeclaredLimits,
    toolset: &DeclaredLimits,
    binding: &Binding,
    caps: &CallLimits,
) -> Json {
    json!({
        "timeoutMs": caps.time_limit(tool, toolset, binding).as_millis() as u64,
        "declaredTimeoutMs": tool.timeout_ms,
    })
}

/// How the tool is run. `kind` is the first key.
fn binding(binding: &Binding) -> Json {
    // Keys are in camelCase like those of MCP, whatever the format calls them.
    let mut json = match binding {
        // Neither has settings: nothing is known, or the body is a file that the loader finds.
        Binding::Unbound | Binding::Script => json!({}),
        Binding::Executable { program } => json!({"program": program}),
        Binding::Command { executable, words, install_check, install_guide } => json!({
            "executable": executable, "words": words,
            "installCheck": install_check.as_ref().map(|it| &it.line), "installGuide": install_guide,
        }),
        Binding::Local { runtime, entry_point, command, dependencies } => json!({
            "runtime": runtime, "entryPoint": entry_point, "command": command,
            "dependencies": dependencies,
        }),
        Binding::Server { server, tool } => server_json(server, tool),
        Binding::Builtin { toolset, tool } => json!({"toolset": toolset, "tool": tool}),
        Binding::Orchestration { helper, aggregates } => {
            json!({"helper": helper, "aggregates": aggregates})
        }
    };
    if let Json::Object(map) = &mut json {
        // People read this output, too, and the kind decides which other keys there are.
        map.shift_insert(0, "kind".into(), json!(binding.kind()));
    }
    json
}

/// The connection to a server without secrets, for everything that prints it.
pub fn shown_connection(server: &Server) -> Connection {
    server.shown.clone().unwrap_or_else(|| masked_connection(&server.connection))
}

/// The server behind a tool.
///
/// `tool` is the name under which the server knows it, which may differ from the name in the
/// record.
fn server_json(server: &Server, tool: &str) -> Json {
    // All four keys are always there; those that do not apply to the transport are `null`.
    let (transport, command, url) = match shown_connection(server) {
        Connection::Stdio { command } => ("stdio", Some(command), None),
        Connection::Http { url } => ("http", None, Some(url)),
        Connection::Sse { url } => ("sse", None, Some(url)),
        Connection::WebSocket { url } => ("websocket", None, Some(url)),
    };
    // The values of variables are left out: they may be secrets.
    let environment = server
        .environment
        .iter()
        .map(|v| json!({"name": v.name, "required": v.required, "description": v.description}));
    let check = server.health_check.as_ref().map(|check| {
        json!({
            "method": check.method, "command": check.command, "arguments": check.arguments,
            "expectedResponse": check.expected_response, "timeoutMs": check.timeout_ms,
        })
    });
    json!({
        "tool": tool, "transport": transport, "command": command, "url": url,
        "environment": environment.collect::<Vec<_>>(), "healthCheck": check,
    })
}

/// The hints of MCP; `null` for those that are not stated.
fn annotations(annotations: &Annotations) -> Json {
    json!({
        "title": annotations.title,
        "readOnly": annotations.read_only,
        "destructive": annotations.destructive,
        "idempotent": annotations.idempotent,
        "openWorld": annotations.open_world,
        "extra": annotations.rest,
    })
}

/// An icon as `show --json` prints it.
fn icon(icon: &Icon) -> Json {
    json!({"src": icon.src, "mimeType": icon.mime_type, "sizes": icon.sizes, "extra": icon.rest})
}

/// The validators and processors of the toolset that apply to this tool, by id.
fn references(reading: &Reading, name: &str) -> Json {
    let knowledge = &reading.toolset.knowledge;
    // Validators are listed in the order in which they run.
    let validators = reading.toolset.validators_of(name).map(|v| &v.function.id);
    // A processor without `processes` takes no part in calls; it is listed with the toolset only.
    let processors = knowledge.processors.iter().filter(|p| p.processes.as_deref() == Some(name));
    json!({
        "validators": validators.collect::<Vec<_>>(),
        "processors": processors.map(|p| &p.function.id).collect::<Vec<_>>(),
    })
}

/// Fields that the format does not define, by format and pointer, without secrets.
fn unknown_fields(rest: &Rest) -> Json {
    // Unknown fields can hold anything, also an environment under a name that the format does not
    // define. So they are searched for secrets by name.
    let visible = |fields: &Object| {
        let shown = fields
            .iter()
            .map(|(name, value)| (name.clone(), without_secrets(value, is_environment(name))));
        Json::Object(shown.collect())
    };
    Json::Object(
        rest.iter().map(|(format, fields)| (format.0.to_owned(), visible(fields))).collect(),
    )
}

/// Whether a pointer leads through something that is named like an environment.
fn is_environment(name: &str) -> bool {
    const NAMES: [&str; 5] =
        ["env", "environment", "env_vars", "env_variables", "environment_variables"];
    // `Rest` stores nested fields under a JSON Pointer such as `/mcp_specific/env`.
    name.split('/').any(|part| NAMES.contains(&part))
}

/// The value with every scalar below an environment replaced by `(hidden)`. The names and
/// descriptions of variables are not secret.
///
/// ```text
/// {"env": {"TOKEN": "abc", "DEBUG": true}}   ─▶   {"env": {"TOKEN": "(hidden)", "DEBUG": true}}
/// ```
fn without_secrets(value: &Json, environment: bool) -> Json {
    match value {
        Json::Array(items) => items.iter().map(|item| without_secrets(item, environment)).collect(),
        Json::Object(map) => {
            let shown = map.iter().map(|(name, value)| {
                // A variable may be written as `{name, description, required, value}`: only the
                // value is secret.
                let describes = matches!(name.as_str(), "name" | "description" | "required");
                let inside = is_environment(name) || (environment && !describes);
                (name.clone(), without_secrets(value, inside))
            });
            Json::Object(shown.collect())
        }
        // Booleans and null carry no secret, and show whether a variable is set at all.
        Json::String(_) | Json::Number(_) if environment => json!("(hidden)"),
        other => other.clone(),
    }
}

/// The value as written, if it is invalid.
///
/// `None` if the field is valid or missing.
fn invalid_value<T>(value: &FieldValue<T>) -> Option<&Json> {
    match value {
        FieldValue::Invalid(json) => Some(json),
        _ => None,
    }
}

/// The invalid values of a tool by field, so that consumers can tell "absent" from "wrong".
fn invalid(tool: &Draft) -> Json {
    // Capabilities are a list, so their invalid items are a list as well.
    let needs: Vec<&Json> = tool.needs.iter().filter_map(invalid_value).collect();
    let mut map = Map::new();
    let mut put =
        |name: &str, value: Option<&Json>| map.extend(value.map(|v| (name.to_owned(), v.clone())));
    put("name", invalid_value(&tool.name));
    put("namespace", invalid_value(&tool.namespace));
    put("description", invalid_value(&tool.description));
    put("version", invalid_value(&tool.version));
    put("inputSchema", invalid_value(&tool.input));
    put("outputSchema", invalid_value(&tool.output));
    if !needs.is_empty() {
        map.insert("capabilities".into(), json!(needs));
    }
    Json::Object(map)
}

/// The position of a tool in its file, and of each of its parts that has a position of its own.
///
/// `parts` has the parts whose place differs from that of the tool. Keys are names, or paths with
/// dots for parts below the top level (`examples.0.input`).
fn origin(reading: &Reading, at: &RecordPath) -> Json {
    let document = reading.origin.document();
    let mut parts = Map::new();
    // Top-level parts are looked up by name, because readers note an origin only where the names
    // of the record and of the document differ.
    for key in [
        "name",
        "namespace",
        "title",
        "description",
        "version",
        "tags",
        "capabilities",
        "inputSchema",
        "outputSchema",
        "examples",
    ] {
        let pointer = at.child(key);
        let place = reading.origin.location(&pointer);
        // Otherwise this is the position of the tool itself, because the part is not in the
        // document.
        if place.exact {
            parts.insert(
                key.into(),
                location_json(reading, place.value.start, &reading.origin.document_path(&pointer)),
            );
        }
    }
    // Parts below the top level, such as one example, have a position only if the reader noted it.
    for (pointer, node) in reading.origin.parts() {
        // More than one token: parts with one token were handled above.
        if let Some(rest) = pointer.below(at).filter(|rest| rest.tokens().count() > 1) {
            parts.insert(rest.tokens().collect::<Vec<_>>().join("."), node_json(reading, node));
        }
    }
    let place = reading.origin.location(at);
    // The key of the tool, where it has one, is what an editor should jump to. Without a key, as in
    // a list, it is the first byte of the value.
    let start = place.key.unwrap_or(place.value).start;
    let mut json = location_json(reading, start, &reading.origin.document_path(at));
    if let Json::Object(map) = &mut json {
        map.shift_insert(0, "file".into(), json!(document.source().name()));
        map.insert("parts".into(), Json::Object(parts));
    }
    json
}

/// The position of a value.
fn node_json(reading: &Reading, node: Node<'_>) -> Json {
    location_json(reading, node.span().start, &node.pointer())
}

/// A position: the pointer into the document, with line and column counted from 1.
fn location_json(reading: &Reading, byte: u32, pointer: &DocumentPath) -> Json {
    let at = reading.origin.document().source().line_column(byte as usize);
    json!({"path": pointer.as_str(), "line": at.line, "column": at.column})
}

/// The toolset of a reading, without its tools.
///
/// `capabilities` is `null` if the document declares none, and a list if it declares an empty one.
pub fn toolset(reading: &Reading) -> Json {
    let toolset = &reading.toolset;
    // Invalid entries of `declares` are left out: they have no place of their own in the output.
    let bad_fields = [
        ("namespace", invalid_value(&toolset.namespace)),
        ("version", invalid_value(&toolset.version)),
    ];
    let invalid: Map<String, Json> = bad_fields
        .into_iter()
        .filter_map(|(name, json)| Some((name.to_owned(), json?.clone())))
        .collect();
    let declares = toolset
        .declares
        .as_ref()
        .map(|list| list.iter().filter_map(capability).collect::<Vec<_>>());
    // Defaults are filled in here, as for the time-out of a tool.
    let max_concurrent =
        toolset.limits.max_concurrent.unwrap_or(DeclaredLimits::DEFAULT_CONCURRENT);
    let stray_examples: Map<String, Json> = toolset
        .stray_examples
        .iter()
        .map(|(command, list)| (command.clone(), list.iter().map(example).collect()))
        .collect();
    json!({
        "namespace": toolset.namespace.ok().map(ToString::to_string),
        "title": toolset.title,
        "description": toolset.description,
        "version": toolset.version.ok().map(ToString::to_string),
        "format": reading.format.0,
        "dialect": reading.dialect,
        "file": reading.origin.document().source().name(),
        "provider": toolset.provider.as_ref().map(|p| {
            json!({"name": p.name, "url": p.url, "contact": p.contact, "icon": p.icon})
        }),
        "capabilities": declares,
        "limits": json!({
            "timeoutMs": toolset.limits.timeout_ms.unwrap_or(DeclaredLimits::DEFAULT_TIMEOUT_MS),
            "maxConcurrent": max_concurrent,
            "sandbox": toolset.limits.sandbox.unwrap_or(Sandbox::Worker).name(),
            // The preference above never changes it: it isolates more than any of them.
            "usedSandbox": "process",
        }),
        "knowledge": knowledge(&toolset.knowledge),
        "strayExamples": stray_examples,
        "extra": unknown_fields(&toolset.rest),
        "hash": ContentHasher::new(reading).toolset(&code_files(reading, None)).as_str(),
        "invalid": invalid,
    })
}

/// The part that helpers, processors and validators have in common. Returns a map and not a value,
/// because callers add keys.
fn function(function: &Function) -> Map<String, Json> {
    let json = json!({
        "id": function.id, "description": function.description, "code": function.code,
        "extra": function.rest,
    });
    match json {
        Json::Object(map) => map,
        _ => Map::new(),
    }
}

/// The knowledge of a toolset.
///
/// The code of functions is included as it is written.
fn knowledge(knowledge: &Knowledge) -> Json {
    let validators = knowledge.validators.iter().map(|v| {
        let mut map = function(&v.function);
        map.insert("validates".into(), json!(v.validates));
        map.insert("checks".into(), v.checks.iter().map(check).collect());
        map
    });
    let processors = knowledge.processors.iter().map(|p| {
        let mut map = function(&p.function);
        map.insert("processes".into(), json!(p.processes));
        map.insert(
            "stage".into(),
            // The words that definitions use.
            json!(if p.stage == ProcessorStage::Request { "request" } else { "response" }),
        );
        map
    });
    let payloads = knowledge.payload_schemas.iter().map(|p| {
        json!({
            "type": p.kind, "detection": p.detection, "payloadPath": p.payload_path,
            "extra": p.rest,
        })
    });
    let mappings = knowledge.field_mappings.iter().map(|m| {
        json!({
            "path": m.path, "structure": m.structure, "extraction": m.extraction, "extra": m.rest,
        })
    });
    let quirks = knowledge.quirks.iter().map(|q| {
        json!({
            "name": q.name, "description": q.description, "impact": q.impact,
            "mitigation": q.mitigation, "extra": q.rest,
        })
    });
    let anti_patterns = knowledge.anti_patterns.iter().map(|a| {
        json!({
            "name": a.name, "description": a.description, "category": a.category, "wrong": a.wrong,
            "correct": a.correct, "rationale": a.rationale, "extra": a.rest,
        })
    });
    json!({
        "strategy": knowledge.strategy.name(),
        "helpers": knowledge.helpers.iter().map(function).collect::<Vec<_>>(),
        "processors": processors.collect::<Vec<_>>(),
        "validators": validators.collect::<Vec<_>>(),
        "payloadSchemas": payloads.collect::<Vec<_>>(),
        "fieldMappings": mappings.collect::<Vec<_>>(),
        "quirks": quirks.collect::<Vec<_>>(),
        "antiPatterns": anti_patterns.collect::<Vec<_>>(),
    })
}

/// One check of a validator.
fn check(check: &ValidatorCheck) -> Json {
    match check {
        ValidatorCheck::RequiredFields(fields) => json!({"requiredFields": fields}),
        ValidatorCheck::Format { field, format } => json!({"field": field, "format": format}),
        // Under a key of its own, so that consumers cannot take it for a check that is run.
        ValidatorCheck::Other(json) => json!({"other": json}),
    }
}
