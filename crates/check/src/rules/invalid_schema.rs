//! The schemas of a tool are valid JSON Schemas, in a supported dialect, without references to
//! other documents; and the input schema describes an object.
//!
//! Source: BTCP tool, `inputSchema`; toolfoundation, schema rules (draft-07 and 2020-12, no
//! external references); MCP, where an input schema must have `type: object`. Other formats leave
//! the type open, so its absence is a warning there.
//!
//! A mistake whose meaning is evident, such as `null` for a keyword, is marked as tolerable, and
//! all of them are reported: then `--compat`, and the reader of a running server, use the schema
//! that is meant (`toolwright_schema::tolerate`).
//!
//! Silent about: values that cannot be a schema at all, such as a number (the shape reports them),
//! and schemas that a server supplies later. Its codes are declared in `source::codes`, because the
//! command `validate` reports them for schemas outside of definitions, too.
//!
//! ```text
//! {type: text}              did you mean `string`? with an unsafe repair
//! {properties: {}}          no `type: object`: safe repair; an error or a warning by the format
//! {$ref: "other.json#/x"}   EXTERNAL_REF: nothing is ever fetched
//! {$schema: draft-04}       UNSUPPORTED_DIALECT
//! {required: null}          tolerable: read as if it were left out; safe repair
//! ```

use toolwright_model::Json;
use toolwright_schema::{
    Schema, SchemaCorrection, SchemaError, SchemaSide, TYPES, ToleratedMistake, tolerate,
    type_meant,
};
use toolwright_source::codes::{EXTERNAL_REF, INVALID_SCHEMA, UNSUPPORTED_DIALECT};
use toolwright_source::words::{alternatives, nearest_word};
use toolwright_source::{Edit, Finding, Pointer, RecordFinding, Safety, Severity};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::{ToolPath, written_schema};

pub(crate) static RULE: Rule = Rule { codes: &[], check };

/// Both schemas of each tool. A schema that compiles is only asked for the type of the arguments.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    for (at, tool) in subject.tools() {
        for side in [SchemaSide::Input, SchemaSide::Output] {
            let Some(schema) = written_schema(tool, side) else { continue };
            // The quick test accepts nearly all schemas, so few are compiled here.
            if !subject.has_valid_schema(at.0, side) {
                let error = subject.schema(at.0, side).and_then(|compiled| compiled.as_ref().err());
                let Some(error) = error else { continue };
                findings(schema, error, &at.child(side.field()))
                    .into_iter()
                    .for_each(|finding| out.push(finding));
            // Only of a valid schema: in an invalid one, `type` itself may be the mistake. Results
            // may be any value, so an output schema needs no type.
            } else if side == SchemaSide::Input {
                check_object_type(subject, schema, at, out);
            }
        }
    }
}

/// What is wrong with a schema that does not compile: every mistake with an evident meaning, and
/// what prevents it from being compiled without them, or just the `error` of its compilation.
pub fn findings<Space>(
    schema: &Json,
    error: &SchemaError,
    at: &Pointer<Space>,
) -> Vec<Finding<Space>> {
    let Some(tolerated) = tolerate(schema) else { return vec![finding(error, at)] };
    let mistakes = tolerated.mistakes.iter().map(|mistake| tolerated_finding(mistake, at));
    let other = Schema::compile(&tolerated.schema).err();
    mistakes.chain(other.map(|error| finding(&error, at))).collect()
}

/// The finding for a mistake of a schema that can be read as what it means. `at` points to the
/// schema.
pub fn tolerated_finding<Space>(mistake: &ToleratedMistake, at: &Pointer<Space>) -> Finding<Space> {
    let at = Pointer::parse(&mistake.at).map_or_else(|| at.clone(), |inside| at.join(&inside));
    let finding = match &mistake.type_word {
        Some(word) => wrong_type_finding(word, at.clone()),
        None => Finding::new(&INVALID_SCHEMA, at.clone(), mistake.message.clone()),
    };
    let (remedy, edit) = match &mistake.correction {
        SchemaCorrection::LeaveOut => ("leave it out".to_owned(), Edit::Remove(at)),
        SchemaCorrection::Replace(value) => {
            (format!("write `{value}`"), Edit::Replace(at, value.clone()))
        }
        SchemaCorrection::Rename(name) => {
            (format!("rename it to `{name}`"), Edit::RenameKey(at, (*name).to_owned()))
        }
        // Two edits, of which one depends on whether the list is there: left to the author.
        SchemaCorrection::Require(name) => {
            let remedy = format!("list `{name}` under `required` of the object that has it");
            return finding.help(remedy).tolerable();
        }
    };
    // `null` restricts nothing in any reading; the other corrections are what is probably meant.
    let is_null = mistake.message.ends_with("is null");
    let safety = if is_null { Safety::Safe } else { Safety::Unsafe };
    // A wrong type has its help and its repair, unless no type is meant.
    let finding = match finding.help.is_empty() {
        true => finding.help(remedy.clone()).repair(safety, remedy, vec![edit]),
        false => finding,
    };
    finding.tolerable()
}

/// How a mistake is read where it is tolerated.
pub fn tolerated_reading(correction: &SchemaCorrection) -> String {
    match correction {
        SchemaCorrection::LeaveOut => "it is read as if it were left out".to_owned(),
        SchemaCorrection::Replace(value) => format!("it is read as `{value}`"),
        SchemaCorrection::Rename(name) => format!("it is read as `{name}`"),
        SchemaCorrection::Require(name) => format!("`{name}` is read as required"),
    }
}

/// The finding for a schema that does not compile. `at` points to the schema; the finding points to
/// the keyword inside it that is wrong. Generic over what the pointer leads into, because
/// `validate` uses it for schema files and rules for records.
pub fn finding<Space>(error: &SchemaError, at: &Pointer<Space>) -> Finding<Space> {
    // If the position of the error cannot be read, the finding points to the whole schema.
    let at = Pointer::parse(error.at()).map_or_else(|| at.clone(), |inside| at.join(&inside));
    match error {
        SchemaError::InvalidSchema { message, .. } => {
            // The schema compiler has no error kind for this case, so the text of its message
            // decides.
            match message.split_once("` matches no alternative of `anyOf`") {
                // A wrong `type` is the most frequent mistake, and the meta-schema explains it
                // badly: it allows a word or a list of words by `anyOf`.
                Some((word, _)) if at.last().is_some_and(|token| token == "type") => {
                    wrong_type_finding(word, at)
                }
                _ => Finding::new(&INVALID_SCHEMA, at, message.clone()),
            }
        }
        SchemaError::UnsupportedDialect { dialect, .. } => {
            // No guess at the nearest dialect: keywords changed their meaning between drafts.
            let message = format!("`{dialect}` is neither draft-07 nor 2020-12");
            Finding::new(&UNSUPPORTED_DIALECT, at, message)
        }
        SchemaError::ExternalRef { reference, .. } => {
            Finding::new(&EXTERNAL_REF, at, format!("`{reference}` is not in this document"))
                .help("nothing is ever fetched: copy what it refers to into `$defs`")
        }
    }
}

/// A finding for an unknown type, with a suggestion. `word` is as the message of the schema
/// compiler quotes it, in backticks and double quotes.
fn wrong_type_finding<Space>(word: &str, at: Pointer<Space>) -> Finding<Space> {
    let word = word.trim_start_matches('`').trim_matches('"');
    let message =
        format!("`{word}` is not a type of JSON Schema, expected {}", alternatives(TYPES));
    let finding = Finding::new(&INVALID_SCHEMA, at.clone(), message);
    // Names of types in other languages are too far from the right word for a spelling comparison.
    let meant = match word {
        // Close to `array`, and not meant as it.
        "any" => None,
        // A list of seven words, so one slip is enough also for short ones.
        other => type_meant(other).or_else(|| nearest_word(other, TYPES.iter().copied())),
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

/// Reports an input schema that does not have `type: object`. Arguments are always an object. MCP
/// requires the schema to state it, and clients reject tools without it; in other formats it is a
/// warning. One finding: at the type if there is one, else at the schema.
fn check_object_type(subject: &Subject<'_>, schema: &Json, tool: ToolPath, out: &mut Report<'_>) {
    let message = match schema.get("type") {
        // A list such as `["object", "null"]` is not accepted either: MCP demands the word itself.
        Some(Json::String(word)) if word == "object" => return,
        Some(_) => "the input schema has another type than `object`, but arguments are an object",
        None => "the input schema has no `type: object`, but arguments are always an object",
    };
    let at = tool.child("inputSchema");
    let severity = if subject.conventions().requires_object_input {
        Severity::Error
    } else {
        Severity::Warning
    };
    let kind = at.child("type");
    let finding = match schema.get("type") {
        // No repair for another type: the author may have meant it, or the wrong schema is here.
        Some(_) => RecordFinding::new(&INVALID_SCHEMA, kind, message),
        None => {
            let edit = Edit::Insert(kind, Json::from("object"));
            RecordFinding::new(&INVALID_SCHEMA, at, message).on_key().repair(
                // Safe, because arguments are an object in every call: the schema rejects nothing
                // more.
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

    /// An MCP tool with this input schema.
    fn tool(schema: &str) -> String {
        format!(r#"{{"name": "now", "inputSchema": {schema}}}"#)
    }

    #[test]
    fn invalid_schemas_are_reported_at_the_wrong_keyword() {
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
    fn a_schema_without_a_type_is_explained() {
        let messages = messages("INVALID_SCHEMA", &tool("{}"));
        assert_eq!(
            messages,
            ["the input schema has no `type: object`, but arguments are always an object"]
        );
    }
}
