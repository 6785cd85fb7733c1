//! Every parameter has a description, also inside nested objects and lists.
//!
//! Source: our own advice; the BTCP tool specification describes every property in its examples.
//!
//! One finding for each tool names all of its parameters without a description. A finding for each
//! parameter would bury everything else: definitions without any descriptions are common.
//!
//! Silent about: schemas that are invalid or that the reader filled in, properties that no value
//! matches (`false`), and properties that refer to a schema by anchor or id, which is not looked
//! up.
//!
//! ```text
//! {type: number}                                     reported
//! {$ref: "#/$defs/Place"}, which has a description   fine
//! {anyOf: [{description: …}, {type: null}]}          fine
//! {$ref: "https://x.example/place"}                  fine: not looked up
//! ```
//!
//! A description of blanks counts as missing. No repair: the author knows what to say.

use toolwright_model::Json;
use toolwright_source::RecordFinding;

use super::parameters::{self, SchemaStep};
use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    MISSING_PARAMETER_DESCRIPTION Info
        "A parameter has no description. An agent chooses arguments by their descriptions; it \
         has to guess units, formats and defaults that are not written down.\n\n\
         Give each property of the input schema a `description`, also inside nested objects and \
         lists. If a property only refers to a definition, the description may be in the \
         definition. One finding names all parameters of a tool and points to the first."
    => (
        "tool.json",
        r#"{
  "name": "wait",
  "description": "Returns after some seconds",
  "inputSchema": {
    "type": "object",
    "properties": {"seconds": {"type": "number", "minimum": 0}},
    "additionalProperties": false
  }
}
"#,
        r#"{
  "name": "wait",
  "description": "Returns after some seconds",
  "inputSchema": {
    "type": "object",
    "properties": {"seconds": {"type": "number", "minimum": 0, "description": "How long to wait"}},
    "additionalProperties": false
  }
}
"#
    )
}

/// The most references that are followed from one property. A cycle of references ends here. Real
/// schemas have one or two in a row: a property refers to a definition, which may refer to another
/// one. Eight leaves room and keeps the cost for a hostile schema small.
const MAX_REFERENCES: usize = 8;

/// One finding for each tool, at its first parameter without a description.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (tool, schema) in parameters::valid_input_schemas(subject) {
        // The path to the first parameter without a description, and the names of all of them.
        let mut first = None;
        let mut names = Vec::new();
        parameters::visit_object_schemas(schema, &mut |object, path| {
            let properties = object.get("properties").and_then(Json::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if !is_described(property, schema) {
                    // The path of the object, and one step to the property inside it.
                    let path = [path, &[SchemaStep::Property(name)]].concat();
                    names.push(parameters::display_name(&path));
                    first.get_or_insert(path);
                }
            }
        });
        // Nothing to report for most tools, so the document is not looked into.
        let Some(path) = first else { continue };
        let Some(at) = parameters::authored_path(subject, tool) else { continue };
        let message = match names.len() {
            1 => format!("parameter {} has no description", parameters::join_names(&names)),
            _ => format!("parameters {} have no description", parameters::join_names(&names)),
        };
        out.push(
            RecordFinding::new(
                &MISSING_PARAMETER_DESCRIPTION,
                parameters::pointer_to(&at, &path),
                message,
            )
            // The key is the name of the parameter. Its value may be an object of many lines.
            .on_key(),
        );
    }
}

/// Whether a property has a description: its own, that of a schema it refers to, or that of one of
/// its branches, as for an optional value written as `anyOf` with `null`. `root` is the input
/// schema.
pub(super) fn is_described(property: &Json, root: &Json) -> bool {
    let Json::Object(members) = property else {
        // `true` is a parameter without a description. `false` allows no value, so it is not one.
        return property != &Json::Bool(true);
    };
    // `anyOf: [{type: string, description: …}, {type: null}]` is how generators write an optional
    // parameter. One described branch is enough.
    let mut branches =
        ["anyOf", "oneOf", "allOf"].iter().filter_map(|keyword| members.get(*keyword)?.as_array());
    has_description(property, root)
        || branches.any(|list| list.iter().any(|branch| has_description(branch, root)))
}

/// Whether a schema, or a schema that it refers to directly, has a description that is not blank.
fn has_description(schema: &Json, root: &Json) -> bool {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        if schema
            .get("description")
            .and_then(Json::as_str)
            .is_some_and(|text| !text.trim().is_empty())
        {
            return true;
        }
        let Some(reference) = schema.get("$ref").and_then(Json::as_str) else { return false };
        // `#/$defs/x` becomes the JSON Pointer `/$defs/x`; `#` alone is the whole schema.
        match reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            // A reference by anchor or id is not looked up. It counts as described, so that nothing
            // is reported that may be right.
            None => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    /// An MCP tool with this input schema.
    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "a", "description": "Does it", "inputSchema": {schema}}}"#)
    }

    /// The pointer, from the input schema on, and the message of the only finding.
    fn only_finding(schema: &str) -> Option<(String, String)> {
        let text = tool(schema);
        let (place, message) = (
            found("MISSING_PARAMETER_DESCRIPTION", &text),
            messages("MISSING_PARAMETER_DESCRIPTION", &text),
        );
        assert!(place.len() < 2, "{place:?}");
        let place = place.into_iter().next()?;
        Some((place.replace("MISSING_PARAMETER_DESCRIPTION at /inputSchema", ""), message.concat()))
    }

    #[test]
    fn parameters_without_a_description_are_named_in_one_finding() {
        for fine in [
            r#"{"type": "object"}"#,
            r#"{"type": "object", "properties": {}}"#,
            r#"{"type": "object", "properties": {"a": {"description": "x"}, "b": false}}"#,
            r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"description": "x"}}}"##,
            r##"{"type": "object", "properties": {"a": {"$ref": "#a"}}, "$defs": {"A": {"$anchor": "a"}}}"##,
            r#"{"type": "object", "properties": {"a": {"anyOf": [{"description": "x"}, {"type": "null"}]}}}"#,
            // Not parameters: data, conditions, restatements.
            r#"{"type": "object", "default": {"properties": {"a": {}}}}"#,
            r#"{"type": "object", "not": {"properties": {"a": {"const": 1}}}}"#,
            r#"{"type": "object", "properties": {"a": {"description": "x"}}, "anyOf": [{"properties": {"a": {"const": 1}}}]}"#,
            // Invalid schemas are reported elsewhere.
            r#"{"type": "objekt", "properties": {"a": {}}}"#,
            "null",
        ] {
            assert_eq!(only_finding(fine), None, "{fine}");
        }
        for (schema, at, names) in [
            (
                r#"{"type": "object", "properties": {"a": {}}}"#,
                "/properties/a",
                "parameter `a` has",
            ),
            (
                r#"{"type": "object", "properties": {"a": true}}"#,
                "/properties/a",
                "parameter `a` has",
            ),
            (
                r#"{"type": "object", "properties": {"a": {"description": " "}}}"#,
                "/properties/a",
                "parameter `a` has",
            ),
            (
                r##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "string"}}}"##,
                "/properties/a",
                "parameter `a` has",
            ),
            (
                r#"{"type": "object", "properties": {"o": {"description": "x", "properties": {"a": {}, "b": {}}}}}"#,
                "/properties/o/properties/a",
                "parameters `o.a` and `o.b` have",
            ),
            (
                r#"{"type": "object", "properties": {"l": {"description": "x", "items": {"properties": {"a/b": {}}}}}}"#,
                "/properties/l/items/properties/a~1b",
                "parameter `l[].a/b` has",
            ),
            (
                r#"{"type": "object", "anyOf": [{"properties": {"a": {}}}]}"#,
                "/anyOf/0/properties/a",
                "parameter `a` has",
            ),
            (
                r#"{"type": "object", "$defs": {"A": {"properties": {"a": {}}}}}"#,
                "/$defs/A/properties/a",
                "parameter `A.a` has",
            ),
            (
                r#"{"type": "object", "properties": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}, "f": {}, "g": {}}}"#,
                "/properties/a",
                "parameters `a`, `b`, `c`, `d`, `e` and 2 more have",
            ),
        ] {
            let expected = Some((at.to_owned(), format!("{names} no description")));
            assert_eq!(only_finding(schema), expected, "{schema}");
        }
    }

    #[test]
    fn schemas_that_the_reader_filled_in_are_not_checked() {
        for kind in ["cli", "local", "mcp"] {
            let text = format!("tool:\n  id: t\n  type: {kind}\n  commands: [a]\n");
            assert_eq!(messages("MISSING_PARAMETER_DESCRIPTION", &text), [""; 0]);
        }
        let written = "tool:\n  id: t\n  type: cli\n  tools: [{id: a, inputSchema: {type: object, properties: {n: {}}}}]\n";
        assert_eq!(
            found("MISSING_PARAMETER_DESCRIPTION", written),
            ["MISSING_PARAMETER_DESCRIPTION at /tool/tools/0/inputSchema/properties/n"]
        );
    }
}
