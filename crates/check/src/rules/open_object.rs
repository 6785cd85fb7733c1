//! An object of parameters refuses what it does not know.

use toolwright_model::{Json, Object};
use toolwright_source::{Edit, RecordFinding, Safety};

use super::parameters::{self, SchemaPath, SchemaStep};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    OPEN_OBJECT Info "An object of the input schema lists its properties and takes others as well. When an agent misspells an argument that is not required, the call passes and the argument is silently ignored; a closed object would have told the agent at once.\n\nAdd `additionalProperties: false`, or say `additionalProperties: true` if further properties are meant to pass. Objects that are put together from several schemas (`allOf`, `$ref`) are left out: there it would refuse what another part allows. The repair is not applied without being asked for, because calls that pass today may fail then."
    => (
        "tool.json",
        r#"{
  "name": "wait",
  "description": "Returns after some seconds",
  "inputSchema": {
    "type": "object",
    "properties": {"seconds": {"type": "number", "description": "How long to wait"}}
  }
}
"#,
        r#"{
  "name": "wait",
  "description": "Returns after some seconds",
  "inputSchema": {
    "type": "object",
    "properties": {"seconds": {"type": "number", "description": "How long to wait"}},
    "additionalProperties": false
  }
}
"#
    )
}

/// What settles the question, or puts an object together from parts that must not close it.
const DECIDED: &[&str] = &[
    "additionalProperties",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "$ref",
    "$dynamicRef",
    "if",
    "not",
    "dependentSchemas",
    "dependencies",
    "$dynamicAnchor",
];

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (tool, schema) in parameters::valid_input_schemas(subject) {
        let mut paths = Vec::new();
        parameters::visit_object_schemas(schema, &mut |object, path| {
            if is_open(object) && !is_part(path) {
                paths.push(path.to_vec());
            }
        });
        let Some(first) = paths.first() else { continue };
        let Some(at) = parameters::authored_path(subject, tool) else { continue };
        let place = parameters::pointer_to(&at, first);
        let closing = |path: &Vec<SchemaStep<'_>>| {
            Edit::Insert(
                parameters::pointer_to(&at, path).child("additionalProperties"),
                Json::Bool(false),
            )
        };
        // One finding and one repair for each tool: the author means all of them or none.
        let finding = RecordFinding::new(&OPEN_OBJECT, place, message(&paths)).on_key().repair(
            Safety::Unsafe,
            "add `additionalProperties: false`",
            // What is inside comes first: in YAML both may go to the end of the same line.
            paths.iter().rev().map(closing).collect(),
        );
        out.push(finding.help("a misspelled argument would pass and be ignored"));
    }
}

fn message(paths: &[Vec<SchemaStep<'_>>]) -> String {
    let names: Vec<String> = paths.iter().map(|path| parameters::display_name(path)).collect();
    match names.split_first() {
        Some((top, [])) if top.is_empty() => {
            "the arguments may have properties that are not declared".to_owned()
        }
        Some((top, inner)) if top.is_empty() => {
            let inner = parameters::join_names(inner);
            format!("the arguments may have properties that are not declared, and so may {inner}")
        }
        _ => {
            format!("{} may have properties that are not declared", parameters::join_names(&names))
        }
    }
}

fn is_open(object: &Object) -> bool {
    let declares =
        object.get("properties").and_then(Json::as_object).is_some_and(|named| !named.is_empty());
    declares && !DECIDED.iter().any(|keyword| object.contains_key(*keyword))
}

/// Whether the schema is a part of others: of an `allOf`, or a definition that one may refer to.
fn is_part(path: &SchemaPath<'_>) -> bool {
    let part = |step: &SchemaStep<'_>| {
        matches!(step, SchemaStep::Definition(..) | SchemaStep::One("allOf", _))
    };
    path.iter().any(part)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolwright_source::{Document, Syntax, locate, splice};

    use crate::testing::{findings, found};

    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "a", "description": "Does it", "inputSchema": {schema}}}"#)
    }

    #[test]
    fn objects_are_closed() {
        for fine in [
            r#"{"type": "object"}"#,
            r#"{"type": "object", "properties": {}}"#,
            r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": true}"#,
            r#"{"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}}"#,
            r#"{"type": "object", "properties": {"a": {}}, "unevaluatedProperties": false}"#,
            r#"{"type": "object", "properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}"#,
            r#"{"type": "object", "allOf": [{"properties": {"b": {}}}]}"#,
            r##"{"type": "object", "allOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"properties": {"b": {}}}}}"##,
            r##"{"type": "object", "properties": {"a": {}}, "$ref": "#/$defs/A", "$defs": {"A": {}}}"##,
            r#"{"type": "object", "properties": {"a": {}}, "if": {"required": ["a"]}}"#,
            // A schema that is none.
            r#"{"type": "objekt", "properties": {"a": {}}}"#,
            "null",
        ] {
            assert_eq!(found("OPEN_OBJECT", &tool(fine)), [""; 0], "{fine}");
        }
        for (schema, at, edits) in [
            (r#"{"type": "object", "properties": {"a": {}}}"#, "", 1),
            (r#"{"type": "object", "properties": {"a": {"properties": {"b": {}}}}}"#, "", 2),
            (
                r#"{"type": "object", "additionalProperties": false, "properties": {"a": {"properties": {"b": {}}}}}"#,
                "/properties/a",
                1,
            ),
            (
                r#"{"type": "object", "additionalProperties": false, "properties": {"a": {"items": {"properties": {"b": {}}}}}}"#,
                "/properties/a/items",
                1,
            ),
            (r#"{"type": "object", "anyOf": [{"properties": {"b": {}}}]}"#, "/anyOf/0", 1),
        ] {
            assert_eq!(
                found("OPEN_OBJECT", &tool(schema)),
                [format!("OPEN_OBJECT at /inputSchema{at}")],
                "{schema}"
            );
            let finding =
                findings(&tool(schema)).into_iter().find(|f| f.code.name == "OPEN_OBJECT");
            let repair = finding.and_then(|f| f.repair);
            assert_eq!(repair.map(|repair| repair.edits.len()), Some(edits), "{schema}");
        }
        let cli = "tool:\n  id: t\n  type: cli\n  commands: [a]\n";
        assert_eq!(found("OPEN_OBJECT", cli), [""; 0]);
    }

    #[test]
    fn the_repair_closes_all_of_them() {
        let block = "name: a\ninputSchema:\n  type: object\n  properties:\n    a:\n      type: object\n      properties:\n        b:\n          type: string\n";
        let flow = tool(
            r#"{"type": "object", "properties": {"a": {"properties": {"b": {}}}, "c": {"properties": {"d": {}}}}}"#,
        );
        for (text, syntax) in [(block, Syntax::Yaml), (flow.as_str(), Syntax::Json)] {
            let document = Arc::new(Document::parse("test", text, syntax));
            let finding = findings(text)
                .into_iter()
                .find(|f| f.code.name == "OPEN_OBJECT")
                .expect("it is open");
            let fix = locate(finding, &document).fix.expect("it can be repaired");
            let closed = splice(text, &fix.edits);
            assert_eq!(found("OPEN_OBJECT", &closed), [""; 0], "{closed}");
            assert_eq!(found("INVALID_SCHEMA", &closed), [""; 0], "{closed}");
        }
    }

    #[test]
    fn what_people_read() {
        let says = |schema: &str| crate::testing::messages("OPEN_OBJECT", &tool(schema)).concat();
        assert_eq!(
            says(r#"{"type": "object", "properties": {"a": {"properties": {"b": {}}}}}"#),
            "the arguments may have properties that are not declared, and so may `a`"
        );
        assert_eq!(
            says(
                r#"{"type": "object", "additionalProperties": false, "properties": {"a": {"properties": {"b": {}}}}}"#
            ),
            "`a` may have properties that are not declared"
        );
    }
}
