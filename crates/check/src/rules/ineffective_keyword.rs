//! Keywords of a schema apply to the type that it states.
//!
//! Source: JSON Schema, where `minLength` restricts strings and says nothing about integers. So
//! such a keyword has no effect, and its author meant another one or another type.
//!
//! Silent without a `type`, about `format` (OpenAPI has formats of numbers) and about values that
//! restrict nothing, such as an empty `required`.
//!
//! ```text
//! {type: integer, minLength: 1}          reported: did you mean `minimum`?
//! {type: [string, null], minLength: 1}   fine: it applies to one of the types
//! {minLength: 1}                         fine: no type is stated
//! {type: integer, format: int64}         fine
//! ```
//!
//! No repair: the type may be the wrong one as well as the keyword.

use toolwright_schema::SchemaMistake;
use toolwright_source::RecordFinding;
use toolwright_source::words::shorten;

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    INEFFECTIVE_KEYWORD Warning
        "A keyword restricts values of a type that the schema does not allow, such as \
         `minLength` beside `type: integer`. It has no effect: JSON Schema applies it to \
         strings only.\n\n\
         Write the keyword for the type (`minimum` for numbers, `minItems` for arrays), correct \
         the `type`, or remove the keyword."
    => (
        "tool.json",
        r#"{
  "name": "read_page",
  "description": "Returns one page of a book",
  "inputSchema": {
    "type": "object",
    "properties": {"page": {"type": "integer", "minLength": 1, "description": "Its number"}}
  }
}
"#,
        r#"{
  "name": "read_page",
  "description": "Returns one page of a book",
  "inputSchema": {
    "type": "object",
    "properties": {"page": {"type": "integer", "minimum": 1, "description": "Its number"}}
  }
}
"#
    )
}

/// The finding for a keyword of another type. `types` is quoted as a message quotes it, so the
/// patterns below have backticks and quotes. Where another keyword does the same for this type, the
/// help names it. `applies_to` names the types that the keyword is for, such as `strings`.
pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    keyword: &str,
    applies_to: &str,
    types: &str,
) -> RecordFinding {
    let message =
        format!("`{}` applies to {applies_to}, but the type is {types}", shorten(keyword));
    let finding = first_finding(schema, mistake, &INEFFECTIVE_KEYWORD, message).on_key();
    match (keyword, types) {
        ("minLength", "`\"integer\"`" | "`\"number\"`") => finding.help("did you mean `minimum`?"),
        ("maxLength", "`\"integer\"`" | "`\"number\"`") => finding.help("did you mean `maximum`?"),
        ("minLength" | "minimum", "`\"array\"`") => finding.help("did you mean `minItems`?"),
        ("maxLength" | "maximum", "`\"array\"`") => finding.help("did you mean `maxItems`?"),
        ("minimum", "`\"string\"`") => finding.help("did you mean `minLength`?"),
        ("maximum", "`\"string\"`") => finding.help("did you mean `maxLength`?"),
        _ => finding.help("it has no effect; remove it, or correct the `type`"),
    }
}
