//! Some value matches every schema.
//!
//! Source: follows from JSON Schema. A schema that nothing matches makes every call, or every call
//! that uses the property, fail, so it is an error; on a running server, whose author is somebody
//! else, it is a warning.
//!
//! Silent about `false`, and `not: {}` with nothing beside it, which forbid a property on purpose,
//! and about schemas too large to be decided.
//!
//! ```text
//! {minimum: 10, maximum: 1}                         reported
//! {enum: []}                                        reported
//! {allOf: [{type: string}, {type: integer}]}        reported
//! {properties: {old: false}}                        fine: forbidden on purpose
//! ```
//!
//! No repair: which of the keywords is wrong is not known.

use toolwright_schema::SchemaMistake;
use toolwright_source::RecordFinding;

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    UNSATISFIABLE_SCHEMA Error
        "No value matches this schema, or this part of it: its keywords contradict each other. \
         If it describes the arguments, every call is refused. If it describes an optional \
         property, every call that has the property is refused.\n\n\
         Correct the keywords that the message names, such as a `minimum` above the `maximum`, \
         an empty `enum`, or branches of `allOf` with different types. To forbid a property, \
         write `false` as its schema: that is not reported. On a running server this is a \
         warning."
    => (
        "tool.json",
        r#"{
  "name": "roll_dice",
  "description": "Rolls dice and returns the numbers",
  "inputSchema": {
    "type": "object",
    "properties": {"dice": {"type": "integer", "minimum": 10, "maximum": 1, "description": "How many"}}
  }
}
"#,
        r#"{
  "name": "roll_dice",
  "description": "Rolls dice and returns the numbers",
  "inputSchema": {
    "type": "object",
    "properties": {"dice": {"type": "integer", "minimum": 1, "maximum": 10, "description": "How many"}}
  }
}
"#
    )
}

/// At the last keyword that takes part in the contradiction. `reason` names all of them.
pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    reason: &str,
) -> RecordFinding {
    let message = format!("no value matches this schema: {reason}");
    first_finding(schema, mistake, &UNSATISFIABLE_SCHEMA, message).on_key()
}
