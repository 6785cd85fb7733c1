//! A name that `required` lists is declared under `properties`.
//!
//! Source: our own advice. JSON Schema allows it, but a caller has to send a value that nothing
//! describes, and nearly always the name is misspelled in one of the two places.
//!
//! A name is declared if any schema for the same value declares it: beside it, around it, in a
//! branch, behind a reference. Silent under `not` and `if`, and where the schema states that other
//! names are allowed, unless the name looks like a misspelled one.
//!
//! ```text
//! properties {email}, required [mail]   reported, with an unsafe repair to `email`
//! properties {email}, required [id]     reported, without a repair: declare it or remove it
//! … and additionalProperties: {…}       only `mail`: other names are allowed
//! required beside a `$ref`              names that the target declares count
//! ```
//!
//! The repair is unsafe, since it changes what callers must send.

use toolwright_model::Json;
use toolwright_schema::SchemaMistake;
use toolwright_source::words::{nearest, shorten};
use toolwright_source::{Edit, RecordFinding, Safety};

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    REQUIRED_NOT_DECLARED Warning
        "`required` lists a name that is not under `properties`. Every call must then have a \
         value whose type and meaning the model does not know, and most often the name is \
         misspelled in one of the two places.\n\n\
         Correct the name, declare it under `properties`, or remove it from `required`. Names \
         that `allOf`, `anyOf` or a `$ref` declare for the same object count as declared. A \
         schema that states what other properties may be, by `additionalProperties` or \
         `patternProperties`, is reported only if the name is close to a declared one."
    => (
        "tool.json",
        r#"{
  "name": "find_user",
  "description": "Searches the directory by mail address",
  "inputSchema": {
    "type": "object",
    "properties": {"email": {"type": "string", "description": "The address to look for"}},
    "required": ["mail"]
  }
}
"#,
        r#"{
  "name": "find_user",
  "description": "Searches the directory by mail address",
  "inputSchema": {
    "type": "object",
    "properties": {"email": {"type": "string", "description": "The address to look for"}},
    "required": ["email"]
  }
}
"#
    )
}

/// The finding for a name in `required`; `None` if other names are allowed and none is similar.
///
/// `declared` are the names that some schema for the same value declares. The edit replaces the
/// name at every place of the mistake.
pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    name: &str,
    declared: &[String],
    is_open: bool,
) -> Option<RecordFinding> {
    let meant = nearest(name, declared.iter().map(String::as_str));
    if is_open && meant.is_none() {
        return None;
    }
    let message = format!("`{}` is required but not declared under `properties`", shorten(name));
    let finding = first_finding(schema, mistake, &REQUIRED_NOT_DECLARED, message);
    let Some(meant) = meant else {
        return Some(finding.help("declare it, or remove it from `required`"));
    };
    let edits = mistake.places.iter().map(|at| Edit::Replace(schema.path(at), Json::from(meant)));
    let title = format!("write `{}`", shorten(meant));
    let help = format!("did you mean `{}`?", shorten(meant));
    Some(finding.help(help).repair(Safety::Unsafe, title, edits.collect()))
}
