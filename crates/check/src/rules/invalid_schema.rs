//! The schemas of a tool are JSON Schemas: of a dialect that is known, whole, and of an object.

use toolwright_model::Json;
use toolwright_schema::SchemaError;
use toolwright_source::codes::{EXTERNAL_REF, INVALID_SCHEMA, UNSUPPORTED_DIALECT};
use toolwright_source::words::{alternatives, nearest_word};
use toolwright_source::{Edit, Finding, Pointer, RecordFinding, Safety, Severity};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::{ToolPath, WhichSchema};

pub(crate) static RULE: Rule = Rule { check };

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        let n = at.0;
        for which in WhichSchema::BOTH {
            let Some(schema) = which.written(tool) else { continue };
            if !subject.is_good(n, which) {
                let error = subject.schema(n, which).and_then(|compiled| compiled.as_ref().err());
                error
                    .into_iter()
                    .for_each(|error| out.push(finding(error, &at.child(which.name()))));
            } else if which == WhichSchema::Input {
                must_take_an_object(subject, schema, at, out);
            }
        }
    }
}

/// Why a schema is refused, as a finding; `at` is the place of the schema.
pub fn finding<Space>(error: &SchemaError, at: &Pointer<Space>) -> Finding<Space> {
    let at = Pointer::parse(error.at()).map_or_else(|| at.clone(), |inside| at.join(&inside));
    match error {
        SchemaError::InvalidSchema { message, .. } => {
            match message.split_once("` matches no alternative of `anyOf`") {
                // The most frequent mistake deserves better words than the meta-schema has for it.
                Some((word, _)) if at.last().is_some_and(|token| token == "type") => {
                    wrong_type(word, at)
                }
                _ => Finding::new(&INVALID_SCHEMA, at, message.clone()),
            }
        }
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

const TYPES: &[&str] = &["object", "string", "number", "integer", "boolean", "array", "null"];

/// `word` is as the message quotes it.
fn wrong_type<Space>(word: &str, at: Pointer<Space>) -> Finding<Space> {
    let word = word.trim_start_matches('`').trim_matches('"');
    let message =
        format!("`{word}` is not a type of JSON Schema, expected {}", alternatives(TYPES));
    let finding = Finding::new(&INVALID_SCHEMA, at.clone(), message);
    let meant = match word {
        "text" | "str" => Some("string"),
        "int" => Some("integer"),
        "float" | "double" => Some("number"),
        "bool" => Some("boolean"),
        "list" => Some("array"),
        "dict" | "map" => Some("object"),
        other => nearest_word(other, TYPES.iter().copied()),
    };
    match meant {
        Some(meant) => finding.help(format!("did you mean `{meant}`?")).repair(
            Safety::Unsafe,
            format!("write `{meant}`"),
            vec![Edit::Replace(at, Json::from(meant))],
        ),
        None => finding,
    }
}

/// Arguments are an object. MCP wants the schema to say so; elsewhere it is left open at a risk.
fn must_take_an_object(subject: &Subject<'_>, schema: &Json, tool: ToolPath, out: &mut Report<'_>) {
    let message = match schema.get("type") {
        Some(Json::String(word)) if word == "object" => return,
        Some(_) => "the type of an input schema is `object`, because arguments are one",
        None => "an input schema says `type: object`, because arguments are one",
    };
    let at = tool.child("inputSchema");
    let severity = if subject.conventions().requires_object_input {
        Severity::Error
    } else {
        Severity::Warning
    };
    let kind = at.child("type");
    let finding = match schema.get("type") {
        // What is there may have been meant: a person decides.
        Some(_) => RecordFinding::new(&INVALID_SCHEMA, kind, message),
        None => {
            let edit = Edit::Insert(kind, Json::from("object"));
            RecordFinding::new(&INVALID_SCHEMA, at, message).on_key().repair(
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
        let output =
            r#"{"name": "now", "inputSchema": {"type": "object"}, "outputSchema": {"type": 1}}"#;
        assert_eq!(found("INVALID_SCHEMA", output), ["INVALID_SCHEMA at /outputSchema/type"]);
    }

    #[test]
    fn what_people_read() {
        let messages = messages("INVALID_SCHEMA", &tool("{}"));
        assert_eq!(messages, ["an input schema says `type: object`, because arguments are one"]);
    }
}
