//! The knowledge sections of an AIOS tool. Items keep whatever could be read of them.

use toolwright_model::{
    AntiPattern, Check, FieldMapping, Function, Json, Knowledge, PayloadSchema, Processor, Quirk, Stage,
    Strategy, Validator,
};
use toolwright_source::{Kind, Node, Origin};

use super::fields::{ANTI_PATTERN, HELPER, PAYLOAD, PROCESSOR, QUIRK, VALIDATOR, is_group, is_mapping};
use crate::{Field, take};

pub(super) fn read(tool: Node<'_>, origin: &mut Origin) -> Knowledge {
    let mut knowledge = Knowledge::default();
    let word = tool.get("knowledge_strategy").and_then(Node::text);
    knowledge.strategy = Strategy::ALL.into_iter().find(|s| Some(s.name()) == word).unwrap_or_default();
    if let Some(code) = take::object(tool, "executable_knowledge") {
        knowledge.helpers = take::objects(code, "helpers").map(|node| function(node, HELPER)).collect();
        knowledge.processors = take::objects(code, "processors").map(processor).collect();
        knowledge.validators = take::objects(code, "validators").map(validator).collect();
        for kind in ["helpers", "processors", "validators"] {
            take::note(origin, &format!("/knowledge/{kind}"), code.get(kind));
        }
    }
    if let Some(api) = take::object(tool, "api_complexity") {
        knowledge.payload_schemas = take::objects(api, "payload_schemas").map(payload_schema).collect();
        knowledge.field_mappings =
            take::object(api, "field_mappings").map(field_mappings).unwrap_or_default();
        knowledge.quirks = take::objects(api, "api_quirks").map(quirk).collect();
        for (record, field) in [
            ("/knowledge/payloadSchemas", "payload_schemas"),
            ("/knowledge/fieldMappings", "field_mappings"),
            ("/knowledge/quirks", "api_quirks"),
        ] {
            take::note(origin, record, api.get(field));
        }
    }
    knowledge.anti_patterns = take::objects(tool, "anti_patterns").map(anti_pattern).collect();
    take::note(origin, "/knowledge/antiPatterns", tool.get("anti_patterns"));
    knowledge
}

fn function(node: Node<'_>, fields: &'static [Field]) -> Function {
    Function {
        id: take::text(node, "id"),
        description: take::text(node, "description"),
        code: take::text(node, "function"),
        rest: take::unclaimed(node, fields).into_iter().collect(),
    }
}

fn processor(node: Node<'_>) -> Processor {
    let stage = if node.get("stage").and_then(Node::text) == Some("request") {
        Stage::Request
    } else {
        Stage::Response
    };
    Processor { function: function(node, PROCESSOR), processes: take::text(node, "processes"), stage }
}

fn validator(node: Node<'_>) -> Validator {
    let checks = node.get("checks").into_iter().flat_map(take::items);
    Validator {
        function: function(node, VALIDATOR),
        validates: take::text(node, "validates"),
        checks: checks.flat_map(read_checks).collect(),
    }
}

/// Each member of a check is a check of its own.
fn read_checks(node: Node<'_>) -> Vec<Check> {
    if node.kind() != Kind::Map {
        return vec![Check::Other(node.to_json())];
    }
    let read = |name: &str, value: Node<'_>| match (name, value.kind()) {
        ("required_fields", Kind::List) => {
            Check::RequiredFields(value.items().map(|item| item.raw().to_owned()).collect())
        }
        _ => Check::Other(Json::Object([(name.to_owned(), value.to_json())].into_iter().collect())),
    };
    node.entries().iter().map(|entry| read(entry.name(), entry.value)).collect()
}

fn payload_schema(node: Node<'_>) -> PayloadSchema {
    let mut rest: toolwright_model::Object = take::unclaimed(node, PAYLOAD).into_iter().collect();
    rest.extend(node.get("example").map(|example| ("example".to_owned(), example.to_json())));
    PayloadSchema {
        kind: take::text(node, "type"),
        detection: take::text(node, "detection"),
        payload_path: take::text(node, "payload_path"),
        rest,
    }
}

/// Mappings at the top and one group deep, each with the names that lead to it.
fn field_mappings(node: Node<'_>) -> Vec<FieldMapping> {
    let mut out = Vec::new();
    for entry in node.entries() {
        let name = || vec![entry.name().to_owned()];
        if is_group(entry.value) && !is_mapping(entry.value) {
            let members = entry.value.entries();
            for member in members.iter().filter(|member| is_mapping(member.value)) {
                let path = [name(), vec![member.name().to_owned()]].concat();
                out.push(field_mapping(path, member.value));
            }
            let notes = members.iter().filter(|member| !is_mapping(member.value));
            let rest: toolwright_model::Object =
                notes.map(|m| (m.name().to_owned(), m.value.to_json())).collect();
            if !rest.is_empty() {
                out.push(FieldMapping { path: name(), rest, ..FieldMapping::default() });
            }
        } else {
            out.push(field_mapping(name(), entry.value));
        }
    }
    out
}

fn field_mapping(path: Vec<String>, node: Node<'_>) -> FieldMapping {
    FieldMapping {
        path,
        structure: node.get("structure").map(Node::to_json),
        extraction: take::text(node, "extraction"),
        rest: take::rest(node, &["structure", "extraction"]),
    }
}

fn quirk(node: Node<'_>) -> Quirk {
    Quirk {
        name: take::text(node, "quirk"),
        description: take::text(node, "description"),
        impact: take::text(node, "impact"),
        mitigation: take::text(node, "mitigation"),
        rest: take::unclaimed(node, QUIRK).into_iter().collect(),
    }
}

fn anti_pattern(node: Node<'_>) -> AntiPattern {
    AntiPattern {
        name: take::text(node, "pattern"),
        description: take::text(node, "description"),
        category: take::text(node, "category"),
        wrong: take::text(node, "wrong"),
        correct: take::text(node, "correct"),
        rationale: take::text(node, "rationale"),
        rest: take::unclaimed(node, ANTI_PATTERN).into_iter().collect(),
    }
}
