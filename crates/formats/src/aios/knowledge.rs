//! Reads the knowledge sections of an AIOS tool. Each item becomes part of the record with whatever
//! could be read of it; `shape` has reported the rest.
//!
//! The lists skip items that are not objects, so the positions in the record and in the document
//! can differ: `note_list` records where each one came from.
//!
//! ```text
//! executable_knowledge.helpers, processors, validators  ─▶  knowledge.helpers, …
//! api_complexity.payload_schemas, field_mappings        ─▶  knowledge.payloadSchemas, …
//! anti_patterns                                         ─▶  knowledge.antiPatterns
//! ```
//!
//! Code is kept as text: nothing here parses it.

use toolwright_model::{
    AntiPattern, FieldMapping, Function, Json, Knowledge, KnowledgeStrategy, PayloadSchema,
    Processor, ProcessorStage, Quirk, Validator, ValidatorCheck,
};
use toolwright_source::{Node, Origin, RecordPath, ValueKind};

use super::fields::{
    ANTI_PATTERN, HELPER, PAYLOAD_SCHEMA, PROCESSOR, QUIRK, VALIDATOR, is_group, is_mapping,
};
use crate::{Field, extract};

/// The knowledge of a tool, empty if it has none. Never fails: a section of another type reads as
/// empty.
pub(super) fn read(tool: Node<'_>, origin: &mut Origin) -> Knowledge {
    let mut knowledge = Knowledge::default();
    let word = tool.get("knowledge_strategy").and_then(Node::text);
    // An unknown word has been reported. The default, `embedded`, is what `declarative` means in
    // tools of version 1.0.
    knowledge.strategy =
        KnowledgeStrategy::ALL.into_iter().find(|s| Some(s.name()) == word).unwrap_or_default();
    extract::note_if_present(origin, "/knowledge/strategy", tool.get("knowledge_strategy"));
    if let Some(code) = extract::object(tool, "executable_knowledge") {
        // Items that are not objects are skipped here, and noted below.
        knowledge.helpers =
            extract::objects(code, "helpers").map(|node| function(node, HELPER)).collect();
        knowledge.processors = extract::objects(code, "processors").map(processor).collect();
        knowledge.validators = extract::objects(code, "validators").map(validator).collect();
        // The document calls the lists what the record calls them, but keeps them in a section of
        // its own.
        for kind in ["helpers", "processors", "validators"] {
            note_list(origin, kind, code.get(kind));
        }
        note_checks(code, origin);
    }
    if let Some(api) = extract::object(tool, "api_complexity") {
        knowledge.payload_schemas =
            extract::objects(api, "payload_schemas").map(payload_schema).collect();
        let mappings = extract::object(api, "field_mappings").map(field_mappings);
        for (n, (mapping, node)) in mappings.into_iter().flatten().enumerate() {
            knowledge.field_mappings.push(mapping);
            let path = format!("/knowledge/fieldMappings/{n}");
            extract::note_if_present(origin, &path, Some(node));
        }
        knowledge.quirks = extract::objects(api, "api_quirks").map(quirk).collect();
        extract::note_if_present(origin, "/knowledge/fieldMappings", api.get("field_mappings"));
        note_list(origin, "payloadSchemas", api.get("payload_schemas"));
        note_list(origin, "quirks", api.get("api_quirks"));
    }
    knowledge.anti_patterns = extract::objects(tool, "anti_patterns").map(anti_pattern).collect();
    note_list(origin, "antiPatterns", tool.get("anti_patterns"));
    knowledge
}

/// Notes the origin of a list and, where needed, of its items.
fn note_list(origin: &mut Origin, name: &str, list: Option<Node<'_>>) {
    // Two notes: where the list is, and, if items were skipped, where each item is.
    let record = RecordPath::root().child("knowledge").child(name);
    extract::note_filtered_items(origin, &record, list, ValueKind::Map);
    if let Some(list) = list {
        origin.note(record, list);
    }
}

/// Notes the origin of the checks of each validator. The document groups checks into objects; the
/// record has one check for each member. Without these notes a finding about the second check of an
/// object would be shown at the next object.
fn note_checks(code: Node<'_>, origin: &mut Origin) {
    let validators = RecordPath::root().child("knowledge").child("validators");
    for (n, validator) in extract::objects(code, "validators").enumerate() {
        let at = validators.child(n).child("checks");
        // `[{a: 1, b: 2}, {c: 3}]` has three checks, numbered 0 to 2. This must visit them in the
        // same order as [`validator`], which makes the record.
        let checks = validator.get("checks").into_iter().flat_map(extract::items).flat_map(members);
        checks.enumerate().for_each(|(n, check)| origin.note(at.child(n), check.value));
    }
}

/// One check, as the document writes it. `members` makes them, for the record and for its positions
/// alike, so that both agree.
struct CheckMember<'d> {
    /// Its key; `None` for an item that is not an object.
    name: Option<&'d str>,
    value: Node<'d>,
    /// The `field` beside a `format`.
    field: Option<&'d str>,
}

/// The members of one item of `checks`. An item that is not an object is a check without a name. A
/// `format` and the `field` beside it are one check.
///
/// ```text
/// {required_fields: [id], max: 3}      ─▶  required_fields, max
/// {field: date, format: iso8601}       ─▶  format, with the field `date`
/// ```
fn members(check: Node<'_>) -> Vec<CheckMember<'_>> {
    if check.kind() != ValueKind::Map {
        return vec![CheckMember { name: None, value: check, field: None }];
    }
    let field = check.get("field").and_then(Node::text);
    let field = field.filter(|_| check.get("format").is_some_and(|it| it.text().is_some()));
    let entries = check.members().into_iter();
    let entries = entries.filter(|entry| field.is_none() || entry.name() != "field");
    entries
        .map(|entry| CheckMember {
            name: Some(entry.name()),
            value: entry.value,
            field: field.filter(|_| entry.name() == "format"),
        })
        .collect()
}

/// The part that helpers, processors and validators have in common. `fields` is the table of its
/// kind; what is in no table is kept in `rest`.
fn function(node: Node<'_>, fields: &'static [Field]) -> Function {
    Function {
        id: extract::text(node, "id"),
        language: extract::text(node, "language"),
        description: extract::text(node, "description"),
        code: extract::text(node, "function"),
        rest: extract::members_outside(node, fields),
    }
}

/// A processor. The stage is optional, and `response` by default.
fn processor(node: Node<'_>) -> Processor {
    // Any other word has been reported; `response` is the default.
    let stage = if node.get("stage").and_then(Node::text) == Some("request") {
        ProcessorStage::Request
    } else {
        ProcessorStage::Response
    };
    Processor {
        function: function(node, PROCESSOR),
        // `None` is allowed: only other functions call such a processor.
        processes: extract::text(node, "processes"),
        stage,
    }
}

/// A validator with its checks.
fn validator(node: Node<'_>) -> Validator {
    let checks = node.get("checks").into_iter().flat_map(extract::items).flat_map(members);
    Validator {
        function: function(node, VALIDATOR),
        validates: extract::text(node, "validates"),
        checks: checks.map(read_check).collect(),
    }
}

/// One check. Those that are not understood are kept and reported by the crate `check`. `Other`
/// holds the check as an object with one member or, without a name, the value alone.
fn read_check(check: CheckMember<'_>) -> ValidatorCheck {
    let CheckMember { name, value, field } = check;
    if let (Some(field), Some(format)) = (field, value.text()) {
        return ValidatorCheck::Format { field: field.to_owned(), format: format.to_owned() };
    }
    match (name, value.kind()) {
        // Items that are not strings keep their text: `required_fields: [id, 1]` requires a field
        // `1`.
        (Some("required_fields"), ValueKind::List) => ValidatorCheck::RequiredFields(
            value.items().map(|item| item.raw().to_owned()).collect(),
        ),
        (Some(name), _) => ValidatorCheck::Other(Json::Object(
            [(name.to_owned(), value.to_json())].into_iter().collect(),
        )),
        (None, _) => ValidatorCheck::Other(value.to_json()),
    }
}

/// A payload schema. `example` is in the table but not in the record, so it is kept with the
/// unknown members.
fn payload_schema(node: Node<'_>) -> PayloadSchema {
    let mut rest: toolwright_model::Object = extract::members_outside(node, PAYLOAD_SCHEMA);
    rest.extend(node.get("example").map(|example| ("example".to_owned(), example.to_json())));
    PayloadSchema {
        kind: extract::text(node, "type"),
        detection: extract::text(node, "detection"),
        payload_path: extract::text(node, "payload_path"),
        rest,
    }
}

/// The mappings at the top level and one group deep, each with the path of names that leads to it.
/// The notes of a group become a mapping without `structure` and `extraction`.
fn field_mappings(node: Node<'_>) -> Vec<(FieldMapping, Node<'_>)> {
    let mut out = Vec::new();
    for entry in node.members() {
        let name = || vec![entry.name().to_owned()];
        // An object can have `structure` and also contain mappings; it is a mapping then.
        if is_group(entry.value) && !is_mapping(entry.value) {
            let members = entry.value.members();
            for member in members.iter().filter(|member| is_mapping(member.value)) {
                let path = [name(), vec![member.name().to_owned()]].concat();
                out.push((field_mapping(path, member.value), member.value));
            }
            // Members of a group that are not mappings, such as `description`. They must not be
            // lost when the document is written back.
            let notes = members.iter().filter(|member| !is_mapping(member.value));
            let rest: toolwright_model::Object =
                notes.map(|m| (m.name().to_owned(), m.value.to_json())).collect();
            if !rest.is_empty() {
                let mapping = FieldMapping { path: name(), rest, ..FieldMapping::default() };
                out.push((mapping, entry.value));
            }
        } else {
            out.push((field_mapping(name(), entry.value), entry.value));
        }
    }
    out
}

/// Reads an entry of `field_mappings`; `path` are the names above it.
fn field_mapping(path: Vec<String>, node: Node<'_>) -> FieldMapping {
    FieldMapping {
        path,
        structure: node.get("structure").map(Node::to_json),
        extraction: extract::text(node, "extraction"),
        rest: extract::members_except(node, &["structure", "extraction"]),
    }
}

/// Reads an entry of `quirks`.
fn quirk(node: Node<'_>) -> Quirk {
    Quirk {
        name: extract::text(node, "quirk"),
        description: extract::text(node, "description"),
        impact: extract::text(node, "impact"),
        mitigation: extract::text(node, "mitigation"),
        rest: extract::members_outside(node, QUIRK),
    }
}

/// One anti-pattern.
fn anti_pattern(node: Node<'_>) -> AntiPattern {
    AntiPattern {
        name: extract::text(node, "pattern"),
        description: extract::text(node, "description"),
        category: extract::text(node, "category"),
        wrong: extract::text(node, "wrong"),
        correct: extract::text(node, "correct"),
        rationale: extract::text(node, "rationale"),
        rest: extract::members_outside(node, ANTI_PATTERN),
    }
}
