//! An object of the input schema rejects properties that it does not declare.
//!
//! Source: our own advice. JSON Schema accepts undeclared properties by default, so a misspelled
//! optional argument passes and is ignored.
//!
//! One finding and one repair for each tool, because an author means all of its objects or none.
//!
//! Silent about: schemas that are invalid or that the reader filled in; objects without properties;
//! objects that state `additionalProperties` in any way; and objects composed of several schemas,
//! where `additionalProperties: false` in one part would reject the properties of the others.
//!
//! ```text
//! {properties: {a}}                                 reported
//! {properties: {a}, additionalProperties: true}     fine: stated
//! {type: object}                                    fine: usually a map with free keys
//! {properties: {a}, allOf: [{properties: {b}}]}     fine: `false` here would refuse `b`
//! a definition under $defs, a branch of allOf       fine: other schemas may build on it
//! ```

use toolwright_model::{Json, Object};
use toolwright_source::{Edit, RecordFinding, Safety};

use super::parameters::{self, SchemaPath, SchemaStep};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    OPEN_OBJECT Info
        "An object of the input schema declares its properties, but accepts others as well. If \
         an agent misspells an optional argument, the call passes and the argument is ignored \
         silently. A closed object reports the mistake to the agent at once.\n\n\
         Add `additionalProperties: false`, or write `additionalProperties: true` if other \
         properties should be accepted. Objects composed of several schemas (`allOf`, `$ref`) \
         are not reported, because closing one part would reject the properties of the others. \
         The repair is applied only on request, because calls that pass today may be rejected \
         then."
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

/// Keywords that state whether other properties are accepted, or that compose the object of several
/// schemas, so that none of them may be closed on its own.
const STATED_OR_COMPOSED: &[&str] = &[
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
    // A schema with a dynamic anchor is meant to be extended by another one.
    "$dynamicAnchor",
];

/// The repair is unsafe: a caller may rely on a property that is not declared.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (tool, schema) in parameters::valid_input_schemas(subject) {
        // All open objects of the tool: the finding points to the first, the repair closes all.
        let mut paths = Vec::new();
        parameters::visit_object_schemas(schema, &mut |object, path| {
            if is_open(object) && !is_part(path) {
                paths.push(path.to_vec());
            }
        });
        let Some(first) = paths.first() else { continue };
        // Last, because it is slow. A schema that the reader filled in cannot be improved.
        let Some(at) = parameters::authored_path(subject, tool) else { continue };
        let place = parameters::pointer_to(&at, first);
        let closing = |path: &Vec<SchemaStep<'_>>| {
            Edit::Insert(
                parameters::pointer_to(&at, path).child("additionalProperties"),
                Json::Bool(false),
            )
        };
        let finding = RecordFinding::new(&OPEN_OBJECT, place, message(&paths)).on_key().repair(
            Safety::Unsafe,
            "add `additionalProperties: false`",
            // Inner objects first: in YAML two insertions may go to the end of the same line, and
            // the inner one must come before the outer one.
            paths.iter().rev().map(closing).collect(),
        );
        out.push(finding.help("a misspelled argument would pass and be ignored"));
    }
}

/// The message for the open objects of one tool. The input schema itself, whose name is empty,
/// comes first if it is among them. `paths` is not empty.
fn message(paths: &[Vec<SchemaStep<'_>>]) -> String {
    // Three forms: the arguments alone, the arguments and nested objects, nested objects alone.
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

/// Whether an object schema declares properties and accepts others without stating it.
fn is_open(object: &Object) -> bool {
    // An object without `properties` is usually a map with free keys, which must stay open.
    let declares =
        object.get("properties").and_then(Json::as_object).is_some_and(|named| !named.is_empty());
    declares && !STATED_OR_COMPOSED.iter().any(|keyword| object.contains_key(*keyword))
}

/// Whether the schema is part of another one: in an `allOf`, or a definition that an `allOf` may
/// refer to. References are not resolved, so every definition counts.
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

    /// An MCP tool with this input schema.
    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "a", "description": "Does it", "inputSchema": {schema}}}"#)
    }

    #[test]
    fn objects_that_accept_undeclared_properties_are_reported() {
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
            // Invalid schemas are reported elsewhere.
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
    fn the_repair_closes_all_objects_of_a_tool() {
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
    fn messages_name_the_open_objects() {
        let message =
            |schema: &str| crate::testing::messages("OPEN_OBJECT", &tool(schema)).concat();
        assert_eq!(
            message(r#"{"type": "object", "properties": {"a": {"properties": {"b": {}}}}}"#),
            "the arguments may have properties that are not declared, and so may `a`"
        );
        assert_eq!(
            message(
                r#"{"type": "object", "additionalProperties": false, "properties": {"a": {"properties": {"b": {}}}}}"#
            ),
            "`a` may have properties that are not declared"
        );
    }
}
