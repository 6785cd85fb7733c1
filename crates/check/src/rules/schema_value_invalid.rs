//! Values under `default`, `enum` and `examples` match the schema they belong to.
//!
//! Source: JSON Schema recommends it for `default` and `examples` (validation, sections 9.2 and
//! 9.5); a member of `enum` that does not match the rest of its schema can never be sent. Models
//! copy all three.
//!
//! `null` as the default of an optional property is a note: generators write it for "not given",
//! and no caller sends it. Silent about values that match together with the defaults of the
//! properties they leave out.
//!
//! ```text
//! {type: integer, default: "20"}                  reported
//! {type: string, enum: ["a", 1]}                  reported: 1 can never be sent
//! {type: integer, default: null}, optional        a note
//! ```
//!
//! No repair: the value or the schema may be wrong.

use toolwright_schema::SchemaMistake;
use toolwright_source::{RecordFinding, Severity};

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    SCHEMA_VALUE_INVALID Warning
        "A value under `default`, `enum` or `examples` does not match the schema beside it. A \
         model that sends the default or copies the example gets its call refused, and a member \
         of `enum` that breaks the `type` can never be sent at all.\n\n\
         Correct the value, or the schema if the value is right. `null` as the default of an \
         optional property is only a note, because generators write it for a property that was \
         not given; leave the default out, or allow the type `null`."
    => (
        "tool.json",
        r#"{
  "name": "list_files",
  "description": "Returns the files of a folder, newest first",
  "inputSchema": {
    "type": "object",
    "properties": {"limit": {"type": "integer", "default": "20", "description": "The most to return"}}
  }
}
"#,
        r#"{
  "name": "list_files",
  "description": "Returns the files of a folder, newest first",
  "inputSchema": {
    "type": "object",
    "properties": {"limit": {"type": "integer", "default": 20, "description": "The most to return"}}
  }
}
"#
    )
}

/// The finding for a value that its own schema refuses. A `null` default is a note, because
/// generators write it for "not given". `reason` is the first violation, as the validator words it.
pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    keyword: &str,
    reason: &str,
    is_null_default: bool,
) -> RecordFinding {
    let what = match keyword {
        "default" => "the default",
        "enum" => "a value of `enum`",
        _ => "an example",
    };
    let message = format!("{what} does not match its schema: {reason}");
    let finding = first_finding(schema, mistake, &SCHEMA_VALUE_INVALID, message);
    match is_null_default {
        true => {
            finding.severity(Severity::Info).help("leave it out, or allow the type `null` as well")
        }
        false => finding,
    }
}
