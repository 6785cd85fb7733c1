//! `enum` lists each value once.
//!
//! Source: JSON Schema, validation, section 6.1.2: elements should be unique. A repeated value
//! usually stands where another one was meant.
//!
//! Values are compared as JSON: `1` and `1.0` are one value, `1` and `"1"` are two. One finding for
//! each value, at its first repetition, however often it is repeated.

use toolwright_schema::SchemaMistake;
use toolwright_source::{Edit, RecordFinding, Safety};

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    DUPLICATE_ENUM_VALUE Warning
        "`enum` lists a value twice. The second one has no effect, and often stands where \
         another value was meant. Some vendors refuse such a schema.\n\n\
         Remove it, or write the value that is missing."
    => (
        "tool.json",
        r#"{
  "name": "set_light",
  "description": "Switches a lamp of the house",
  "inputSchema": {
    "type": "object",
    "properties": {"state": {"type": "string", "enum": ["on", "on"], "description": "The new state"}}
  }
}
"#,
        r#"{
  "name": "set_light",
  "description": "Switches a lamp of the house",
  "inputSchema": {
    "type": "object",
    "properties": {"state": {"type": "string", "enum": ["on", "off"], "description": "The new state"}}
  }
}
"#
    )
}

/// The finding for all repetitions of one value; the repair removes each.
pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    value: &str,
) -> RecordFinding {
    let message = format!("`enum` lists {value} twice");
    // Safe: the same values match.
    first_finding(schema, mistake, &DUPLICATE_ENUM_VALUE, message).repair(
        Safety::Safe,
        "remove the second one",
        mistake.places.iter().map(|at| Edit::Remove(schema.path(at))).collect(),
    )
}
