//! The schemas of a tool are JSON Schemas: of a dialect that is known, whole, and of an object.

use toolwright_model::{InputSchema, Json};
use toolwright_schema::SchemaError;
use toolwright_source::codes::{EXTERNAL_REF, INVALID_SCHEMA, UNSUPPORTED_DIALECT};
use toolwright_source::{Edit, Finding, Pointer, Safety, Severity};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { check };

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for ((at, tool), schemas) in subject.tools().zip(subject.schemas()) {
        for (name, compiled) in [("inputSchema", &schemas.input), ("outputSchema", &schemas.output)] {
            if let Some(Err(error)) = compiled {
                out.push(finding(error, &at.child(name)));
            }
        }
        if let (Some(InputSchema::Written(schema)), Some(Ok(_))) = (tool.input.ok(), &schemas.input) {
            must_take_an_object(subject, schema, at.child("inputSchema"), out);
        }
    }
}

/// Why a schema is refused, as a finding; `at` is the place of the schema.
pub fn finding(error: &SchemaError, at: &Pointer) -> Finding {
    let at = Pointer::parse(error.at()).map_or_else(|| at.clone(), |inside| at.join(&inside));
    match error {
        SchemaError::InvalidSchema { message, .. } => Finding::new(&INVALID_SCHEMA, at, message.clone()),
        SchemaError::UnsupportedDialect { dialect, .. } => {
            let message = format!("`{dialect}` is neither draft-07 nor 2020-12");
            Finding::new(&UNSUPPORTED_DIALECT, at, message)
        }
        SchemaError::ExternalRef { reference, .. } => {
            Finding::new(&EXTERNAL_REF, at, format!("`{reference}` is not in this document"))
                .help("nothing is ever fetched: copy what it refers to into `$defs`")
        }
    }
}

/// Arguments are an object. MCP wants the schema to say so; elsewhere it is left open at a risk.
fn must_take_an_object(subject: &Subject<'_>, schema: &Json, at: Pointer, out: &mut Report<'_>) {
    let message = match schema.get("type") {
        Some(Json::String(word)) if word == "object" => return,
        Some(_) => "the type of an input schema is `object`, because arguments are one",
        None => "an input schema says `type: object`, because arguments are one",
    };
    let severity = if subject.is("mcp") { Severity::Error } else { Severity::Warning };
    let kind = at.child("type");
    let finding = match schema.get("type") {
        // What is there may have been meant: a person decides.
        Some(_) => Finding::new(&INVALID_SCHEMA, kind, message),
        None => {
            let edit = Edit::Insert(kind, Json::from("object"));
            Finding::new(&INVALID_SCHEMA, at, message).on_key().repair(
                Safety::Safe,
                "add `type: object`",
                vec![edit],
            )
        }
    };
    out.push(finding.severity(severity));
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "now", "inputSchema": {schema}}}"#)
    }

    #[test]
    fn schemas_that_are_none() {
        for (schema, code, at) in [
            (r#"{"type": "object", "properties": 1}"#, "INVALID_SCHEMA", "/inputSchema/properties"),
            (r#"{"type": "objekt"}"#, "INVALID_SCHEMA", "/inputSchema/type"),
            (r#"{"$schema": "draft-03"}"#, "UNSUPPORTED_DIALECT", "/inputSchema/$schema"),
            (r#"{"type": "object", "$ref": "a.json"}"#, "EXTERNAL_REF", "/inputSchema/$ref"),
            (r#"{"properties": {}}"#, "INVALID_SCHEMA", "/inputSchema"),
            (r#"{"type": "array"}"#, "INVALID_SCHEMA", "/inputSchema/type"),
            (r#"{"type": ["object", "null"]}"#, "INVALID_SCHEMA", "/inputSchema/type"),
        ] {
            assert_eq!(found(code, &tool(schema)), [format!("{code} at {at}")], "{schema}");
        }
        let fine = tool(r#"{"type": "object", "properties": {"a": true}}"#);
        assert_eq!(found("INVALID_SCHEMA", &fine), [""; 0]);
        let output = r#"{"name": "now", "inputSchema": {"type": "object"}, "outputSchema": {"type": 1}}"#;
        assert_eq!(found("INVALID_SCHEMA", output), ["INVALID_SCHEMA at /outputSchema/type"]);
    }

    #[test]
    fn what_people_read() {
        let messages = messages("INVALID_SCHEMA", &tool("{}"));
        assert_eq!(messages, ["an input schema says `type: object`, because arguments are one"]);
    }
}
