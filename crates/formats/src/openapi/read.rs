//! Reads an OpenAPI document into the record: the API is a toolset, its operations are the tools.
//!
//! ```text
//! info                         ─ read_info ──────────▶  title, description, version
//! paths ─ path ─ method        ─ read_operation ─────▶  Draft
//!           parameters, body     operation_input            inputSchema, with its own `$defs`
//!           responses            operation_output           outputSchema, with its own `$defs`
//! servers, security and others ─ keep_rest ──────────▶  Rest
//! ```
//!
//! Each schema is complete: what it refers to in `components` is copied into it (`schemas`). The
//! copies multiply, so their values are counted against `MAX_VALUES` for the whole document.
//!
//! A document of another version is not read at all: the report says which versions are, and an
//! empty toolset follows.

use std::collections::HashSet;
use std::sync::Arc;

use toolwright_model::{
    Deprecation, Details, Draft, FieldValue, Json, Rest, Tags, ToolName, Toolset, Version,
    short_hash,
};
use toolwright_source::codes::{EXTERNAL_REF, INVALID_SCHEMA, TOO_LARGE};
use toolwright_source::{
    Document, DocumentPath, Finding, Node, Origin, RecordPath, Severity, ValueKind, words,
};

use super::fields::{METHODS, ROOT};
use super::input::{json_media_type, operation_input};
use super::schemas::{Definitions, OpenApiSchemas, SchemaUse};
use super::{CONVENTIONS, ID};
use crate::findings::FindingList;
use crate::function_tools::keep_members;
use crate::{MAX_ITEMS, Reading, codes, extract, shape};

/// The most values that the schemas of all tools together have, with a copy of each definition for
/// each tool that refers to it: some 200 MB. Reading stops at the operation that would exceed it;
/// the tools before it stay.
const MAX_VALUES: usize = 2_000_000;

/// Reads a document: each operation with a method and a path becomes a tool. The version as it is
/// written becomes the dialect.
pub(super) fn read(document: &Arc<Document>) -> Reading {
    let root = document.root();
    let mut findings = FindingList::default();
    let mut origin = Origin::whole(document);
    let mut toolset = Toolset { conventions: &CONVENTIONS, ..Toolset::default() };
    let version = root.get("openapi").or_else(|| root.get("swagger")).map(Node::raw);
    if is_supported(version) {
        shape::check_object(root, ROOT, &mut findings);
        read_info(root, &mut toolset, &mut origin);
        let is_version_3_0 = version.is_some_and(|version| version.starts_with("3.0"));
        let mut context =
            OpenApiSchemas { root, is_version_3_0, budget: MAX_VALUES, unresolved: Vec::new() };
        read_operations(&mut context, &mut toolset, &mut origin, &mut findings);
        report_unresolved(&context, &mut findings);
        keep_rest(root, &mut toolset.rest);
    } else {
        report_version(root, version, &mut findings);
    }
    let dialect = version.map(str::to_owned);
    Reading { format: ID, dialect, toolset, origin, findings: findings.into_vec() }
}

/// Versions 3.0 to 3.2. YAML reads `3.1` as a number, whose text is looked at all the same. `3.1.0`
/// and `3.1` are the same here; `3.10` is another minor version.
fn is_supported(version: Option<&str>) -> bool {
    let parts = version.and_then(|version| version.split_once('.'));
    parts.is_some_and(|(major, rest)| {
        major == "3" && rest.split('.').next().is_some_and(|minor| ["0", "1", "2"].contains(&minor))
    })
}

/// Reports a version that is not read, Swagger 2.0 first of all. An error: without it the document
/// would look like an API without operations.
fn report_version(root: Node<'_>, version: Option<&str>, findings: &mut FindingList) {
    let key = if root.has("swagger") { "swagger" } else { "openapi" };
    let given = words::shorten(version.unwrap_or_default());
    let message = format!("`{key}` is `{given}`; OpenAPI 3.0 and 3.1 are read");
    let at = DocumentPath::root().child(key);
    let finding = Finding::new(&codes::UNSUPPORTED_PROTOCOL, at, message);
    findings.push(match key {
        "swagger" => finding.help("converters from Swagger 2.0 to OpenAPI 3 exist, use one first"),
        _ => finding,
    });
}

/// What the document says about the API as a whole. A document without `info` was reported by its
/// table.
fn read_info(root: Node<'_>, toolset: &mut Toolset<Draft>, origin: &mut Origin) {
    let Some(info) = extract::object(root, "info") else { return };
    toolset.title = extract::text(info, "title");
    toolset.description = extract::text(info, "description");
    for part in ["title", "description", "version"] {
        extract::note_if_present(origin, &format!("/{part}"), info.get(part));
    }
    // The version of an API may be any text. One that is not a semantic version is kept as written.
    match extract::text(info, "version").map(|text| (Version::parse(&text), text)) {
        Some((Ok(version), _)) => toolset.version = FieldValue::Valid(version),
        Some((Err(_), text)) => toolset.rest.keep(ID, "/info/version", Json::from(text)),
        None => {}
    }
    let at = DocumentPath::root().child("info");
    keep_members(info, &["title", "description", "version"], &at, ID, &mut toolset.rest);
}

/// Keeps what the record does not have of the rest of the document. The pointers in `rest` are
/// those of the document, so that a writer could put them back.
fn keep_rest(root: Node<'_>, rest: &mut Rest) {
    let at = DocumentPath::root();
    // The schemas and parameters of `components` are in the tools that refer to them.
    keep_members(root, &["openapi", "info", "paths", "components"], &at, ID, rest);
    if let Some(components) = extract::object(root, "components") {
        let used = ["schemas", "parameters", "requestBodies", "responses", "pathItems"];
        keep_members(components, &used, &at.child("components"), ID, rest);
    }
    for path in extract::object(root, "paths").map(Node::members).unwrap_or_default() {
        let at = at.child("paths").child(path.name());
        let taken: Vec<&str> = METHODS.into_iter().chain(["$ref"]).collect();
        keep_members(path.value, &taken, &at, ID, rest);
    }
}

/// Adds a tool for each operation.
///
/// Stops at the first operation that exceeds a bound, with a finding: what follows would exceed it
/// as well.
///
/// Paths in the order of the document, and for each path the methods as they stand there.
fn read_operations(
    context: &mut OpenApiSchemas<'_>,
    toolset: &mut Toolset<Draft>,
    origin: &mut Origin,
    findings: &mut FindingList,
) {
    let mut names = HashSet::new();
    let paths = extract::object(context.root, "paths").map(Node::members).unwrap_or_default();
    for path in paths {
        // The tools of other paths are as good without it.
        let item = context.resolve(path.value, Severity::Warning);
        for member in item.members() {
            let (method, operation) = (member.name(), member.value);
            if !METHODS.contains(&method) || operation.kind() != ValueKind::Map {
                continue;
            }
            let at = RecordPath::root().child("tools").child(toolset.tools.len());
            let draft = (toolset.tools.len() < MAX_ITEMS)
                .then(|| read_operation(item, operation, &at, context, origin))
                .flatten();
            let Some(mut draft) = draft else {
                let message = format!(
                    "the document is too large; its first {} operations are read",
                    toolset.tools.len()
                );
                return findings
                    .push(Finding::new(&TOO_LARGE, operation.pointer(), message).on_key());
            };
            draft.name = operation_name(operation, method, path.name(), &mut names);
            let rest = &mut draft.details.rest;
            // For a binding that calls the API.
            rest.keep(ID, "/method", Json::from(method));
            rest.keep(ID, "/path", Json::from(path.name()));
            let id = extract::text(operation, "operationId");
            if let Some(id) = id.filter(|id| ToolName::parse(id).is_err()) {
                rest.keep(ID, "/operationId", Json::from(id));
            }
            toolset.tools.push(draft);
        }
    }
}

/// Reports the parameters, bodies, responses and paths that are references to nothing, or to
/// another document. What they stand for is in no tool.
///
/// A parameter or body that is missing makes calls fail, so it is an error; a response or a path is
/// a warning. The severity comes with each entry.
fn report_unresolved(context: &OpenApiSchemas<'_>, findings: &mut FindingList) {
    let mut seen = HashSet::new();
    for (node, severity) in &context.unresolved {
        let at = node.pointer().child("$ref");
        // Parameters of a path are read for each of its operations.
        if !seen.insert(at.clone()) {
            continue;
        }
        let reference = node.get("$ref").and_then(Node::text).unwrap_or_default();
        let shown = words::shorten(reference);
        let finding = match reference.starts_with('#') {
            true => {
                Finding::new(&INVALID_SCHEMA, at, format!("`$ref` `{shown}` points to nothing"))
            }
            false => {
                let message = format!("`{shown}` is not in this document");
                let help = "nothing is ever fetched: bundle the documents into one first";
                Finding::new(&EXTERNAL_REF, at, message).help(help)
            }
        };
        findings.push(finding.severity(*severity));
    }
}

/// The name of an operation: its id, or its method and path. An id that is not a name gets one that
/// stands for it.
///
/// ```text
/// operationId: listPets            ─▶  listPets
/// GET /pets/{id}                   ─▶  get_pets_id
/// GET /a/b, then GET /a_b          ─▶  get_a_b, then get_a_b_HASH
/// ```
///
/// The hash is of method and path.
///
/// Ids are not made distinct here: two equal ones are a mistake of the document, for the checks to
/// report.
fn operation_name(
    operation: Node<'_>,
    method: &str,
    path: &str,
    names: &mut HashSet<String>,
) -> FieldValue<ToolName> {
    if let Some(id) = extract::text(operation, "operationId").filter(|id| !id.trim().is_empty()) {
        names.insert(id.clone());
        let name = ToolName::parse(&id).ok().or_else(|| ToolName::stand_in_for(&id));
        return name.map_or(FieldValue::Missing, FieldValue::Valid);
    }
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = std::iter::once(method).chain(words).collect();
    let mut name = words.join("_");
    // `/a/b` and `/a_b` have the same words.
    if name.len() > 100 || !names.insert(name.clone()) {
        name.truncate(100);
        name = format!("{name}_{:08x}", short_hash(&format!("{method} {path}")));
        names.insert(name.clone());
    }
    ToolName::parse(&name).map_or(FieldValue::Missing, FieldValue::Valid)
}

/// The tool of an operation, without its name; `None` if the budget for schemas is spent.
///
/// Its parts are elsewhere in the document, so the place of each is noted: an input schema is made
/// of parameters, and a finding about a property has to be shown at its parameter. `at` is the path
/// of the tool in the record.
fn read_operation<'d>(
    item: Node<'d>,
    operation: Node<'d>,
    at: &RecordPath,
    context: &mut OpenApiSchemas<'d>,
    origin: &mut Origin,
) -> Option<Draft> {
    let input = operation_input(item, operation, context)?;
    let output = operation_output(operation, context)?;
    origin.note(at.clone(), operation);
    if let Some(id) = operation.get("operationId") {
        origin.note(at.child("name"), id);
    }
    let input_at = at.child("inputSchema");
    origin.note(input_at.clone(), operation);
    for (name, node) in &input.properties {
        origin.note(input_at.child("properties").child(name), *node);
    }
    note_definitions(origin, &input_at, &input.definitions);
    // A result that no response describes leaves the schema missing.
    let mut schema_of_output = FieldValue::Missing;
    if let Some((schema, node, definitions)) = output {
        let output_at = at.child("outputSchema");
        origin.note(output_at.clone(), node);
        note_definitions(origin, &output_at, &definitions);
        schema_of_output = FieldValue::Valid(schema);
    }
    // With both texts, the short one is the title.
    let description = extract::non_blank_text(operation, "description");
    let summary = extract::non_blank_text(operation, "summary");
    let (title, description) = match description {
        FieldValue::Valid(_) => (summary.into_ok(), description),
        _ => {
            extract::note_if_present(
                origin,
                at.child("description").as_str(),
                operation.get("summary"),
            );
            (None, summary)
        }
    };
    if title.is_some() {
        extract::note_if_present(origin, at.child("title").as_str(), operation.get("summary"));
    }
    extract::note_filtered_items(
        origin,
        &at.child("tags"),
        operation.get("tags"),
        ValueKind::String,
    );
    let mut rest = Rest::default();
    let taken = ["tags", "summary", "description", "operationId", "deprecated"];
    keep_members(operation, &taken, &DocumentPath::root(), ID, &mut rest);
    Some(Draft {
        description,
        input: FieldValue::Valid(input.schema.into()),
        output: schema_of_output,
        details: Details {
            title,
            tags: Tags::new(extract::texts(operation, "tags")),
            deprecation: Deprecation {
                deprecated: operation.get("deprecated").and_then(Node::boolean).unwrap_or(false),
                message: None,
            },
            rest,
            ..Details::default()
        },
        ..Draft::default()
    })
}

/// Notes where definitions came from. A definition is in the record once for each schema that has
/// it, and in the document once.
fn note_definitions(origin: &mut Origin, schema: &RecordPath, definitions: &Definitions<'_>) {
    for (name, _, node) in &definitions.read {
        origin.note(schema.child("$defs").child(name), *node);
    }
}

/// A schema of a result, where it is, and its definitions.
type OutputSchema<'d> = (Json, Node<'d>, Definitions<'d>);

/// The schema of the first successful response that has content, or of `default` where no success
/// is declared; `None` if the budget is spent.
///
/// "First" is by status code, not by position. Statuses such as `2XX` come after `200`.
///
/// `Some(None)` means that no response describes a result. `default` counts only without a success,
/// since it usually describes errors.
fn operation_output<'d>(
    operation: Node<'d>,
    context: &mut OpenApiSchemas<'d>,
) -> Option<Option<OutputSchema<'d>>> {
    let responses = extract::object(operation, "responses").map(Node::members).unwrap_or_default();
    let mut successes: Vec<_> = responses.iter().filter(|r| r.name().starts_with('2')).collect();
    successes.sort_by_key(|response| response.name().to_owned());
    if successes.is_empty() {
        successes.extend(responses.iter().find(|response| response.name() == "default"));
    }
    let schema = successes.into_iter().find_map(|response| {
        // Without it, the result is not described.
        let response = context.resolve(response.value, Severity::Warning);
        let content = extract::object(response, "content")?;
        json_media_type(content)?.get("schema").filter(|schema| schema.kind() == ValueKind::Map)
    });
    let Some(node) = schema else { return Some(None) };
    let mut definitions = Definitions::new(SchemaUse::Response);
    let mut schema = definitions.schema(node, context)?;
    definitions.finish(context)?;
    if let Json::Object(members) = &mut schema {
        definitions.add_to(members);
    }
    Some(Some((schema, node, definitions)))
}
