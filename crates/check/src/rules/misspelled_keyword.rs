//! Keywords of schemas are spelled as JSON Schema spells them.
//!
//! Source: JSON Schema ignores unknown keywords, so a misspelled one has no effect, and nothing
//! else reports it.
//!
//! Only words close to a keyword, whose value that keyword could have. Silent about `x-…`, and
//! about keywords of OpenAPI, editors, forms and older drafts.

use toolwright_model::Json;
use toolwright_schema::{SchemaMistake, keyword_names};
use toolwright_source::words::{nearest, shorten};
use toolwright_source::{Edit, RecordFinding, Safety};

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    MISSPELLED_KEYWORD Warning
        "A schema has a keyword that JSON Schema does not define, and that is close to one it \
         does define: `maxlength` for `maxLength`, `propertes` for `properties`. Unknown \
         keywords are ignored, so the restriction or the properties that it states do not \
         exist for callers.\n\n\
         Write the keyword as the help shows. If it is meant as it is, let it start with `x-`."
    => (
        "tool.json",
        r#"{
  "name": "send_note",
  "description": "Sends a short text to a colleague",
  "inputSchema": {
    "type": "object",
    "properties": {"text": {"type": "string", "maxlength": 280, "description": "The text"}}
  }
}
"#,
        r#"{
  "name": "send_note",
  "description": "Sends a short text to a colleague",
  "inputSchema": {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 280, "description": "The text"}}
  }
}
"#
    )
}

pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    mistake: &SchemaMistake,
    keyword: &str,
) -> Option<RecordFinding> {
    let value = |at: &str| schema.schema.pointer(at);
    let place = mistake.places.first()?;
    // `id` and `ref` are words of their own; only a reference to a place is surely a `$ref`.
    let with_dollar = keyword.starts_with('$');
    let is_reference = || {
        keyword == "ref"
            && value(place).and_then(Json::as_str).is_some_and(|to| to.starts_with('#'))
    };
    let names = keyword_names().filter(|name| name.starts_with('$') == with_dollar);
    let meant = if is_reference() { "$ref" } else { nearest(keyword, names)? };
    if !can_have(meant, value(place)?) {
        return None;
    }
    let message = format!("`{}` is not a keyword of JSON Schema", shorten(keyword));
    let finding = first_finding(schema, mistake, &MISSPELLED_KEYWORD, message).on_key();
    // Renaming would make a key appear twice.
    let is_there = |at: &String| {
        let owner = at.rsplit_once('/').map_or("", |(owner, _)| owner);
        value(owner).is_some_and(|owner| owner.get(meant).is_some())
    };
    if mistake.places.iter().any(is_there) {
        return Some(finding.help(format!("`{meant}` is there as well; remove one of the two")));
    }
    let rename = |at: &String| Edit::RenameKey(schema.path(at), meant.to_owned());
    // Unsafe: the keyword starts to have an effect.
    Some(finding.help(format!("did you mean `{meant}`?")).repair(
        Safety::Unsafe,
        format!("rename it to `{meant}`"),
        mistake.places.iter().map(rename).collect(),
    ))
}

/// Whether a value has the type that a keyword of JSON Schema needs. `note: "…"` is not `not`.
fn can_have(keyword: &str, value: &Json) -> bool {
    match keyword {
        "title" | "description" | "format" | "pattern" | "$ref" | "$id" | "$schema" | "$anchor"
        | "$comment" | "$dynamicRef" | "$dynamicAnchor" | "contentEncoding"
        | "contentMediaType" => value.is_string(),
        "type" => value.is_string() || value.is_array(),
        "required" | "enum" | "examples" | "allOf" | "anyOf" | "oneOf" | "prefixItems" => {
            value.is_array()
        }
        "default" | "const" => true,
        "deprecated" | "readOnly" | "writeOnly" | "uniqueItems" => value.is_boolean(),
        "items" => value.is_object() || value.is_boolean() || value.is_array(),
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentRequired"
        | "dependentSchemas" | "dependencies" | "$vocabulary" => value.is_object(),
        name if name.starts_with("m") || name.starts_with("exclusive") => value.is_number(),
        _ => value.is_object() || value.is_boolean(),
    }
}
