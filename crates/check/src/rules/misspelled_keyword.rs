//! Keywords of schemas are spelled as JSON Schema spells them.
//!
//! Source: JSON Schema ignores unknown keywords, so a misspelled one has no effect, and nothing
//! else reports it.
//!
//! Only words close to a keyword, whose value that keyword could have: with a slip, in the singular
//! (`additionalProperty`), or shortened (`maxlen`, `desc`, `min`). Silent about `x-…`, and about
//! keywords of OpenAPI, editors, forms and older drafts.
//!
//! ```text
//! maxlength, propertes   a slip ............. reported, with a repair
//! desc, min, maxlen      shortened .......... reported, where the value and the type fit
//! note: "…"              near `not` ......... not: `not` holds no text
//! ref: "Page"            near `$ref` ........ not: only `#…` is surely a reference
//! x-order, enumNames     another vocabulary . not: `schema::mistakes` leaves them out
//! ```
//!
//! The repair renames the key at all places. It is unsafe, because the keyword starts to have an
//! effect: calls that pass today may be refused.

use toolwright_model::Json;
use toolwright_schema::{SchemaMistake, keyword_names};
use toolwright_source::words::{nearest, shorten};
use toolwright_source::{Edit, RecordFinding, Safety};

use super::schemas::{CheckedSchema, first_finding};

toolwright_source::codes! {
    MISSPELLED_KEYWORD Warning
        "A schema has a keyword that JSON Schema does not define, and that is close to one it \
         does define: `maxlength` for `maxLength`, `propertes` for `properties`, `max` for \
         `maximum`. Unknown keywords are ignored, so the restriction or the properties that it \
         states do not exist for callers.\n\n\
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

/// The finding for an unknown keyword; `None` if it resembles no keyword, or if its value does not
/// fit the one it resembles.
///
/// Keywords with `$` are compared among themselves, so that a property-like word such as `id` is
/// not taken for `$id`. If both spellings are there, only the author can merge them, and there is
/// no repair.
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
    let kind = || value(place.rsplit_once('/')?.0)?.get("type")?.as_str();
    let meant = match is_reference() {
        true => "$ref",
        false => nearest(keyword, names.clone())
            .or_else(|| names.clone().find(|name| singular(name) == singular(keyword)))
            .or_else(|| shortened(keyword, kind()))?,
    };
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

/// A keyword in the singular and in lower case. `additionalProperties` and `additionalProperty` are
/// both `additionalproperty`. Not grammar, but the same for both sides of the comparison.
fn singular(keyword: &str) -> String {
    let keyword = keyword.to_ascii_lowercase();
    match keyword.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => keyword.trim_end_matches('s').to_owned(),
    }
}

/// The keyword that a shorter word stands for, where `type` is `kind`.
///
/// `min` means `minimum`, `minLength` or `minItems` by the `type` beside it; without a type it is
/// not reported. A longer word has to begin exactly one bound, so that the choice is certain.
fn shortened(keyword: &str, kind: Option<&str>) -> Option<&'static str> {
    // Only the bounds: `unique` of a text is a word of databases, and `content` has many meanings.
    let is_bound = |name: &&str| name.starts_with("min") || name.starts_with("max");
    let begins = |name: &&str| name.to_ascii_lowercase().starts_with(&keyword.to_ascii_lowercase());
    Some(match (keyword, kind) {
        ("desc" | "descr", _) => "description",
        ("props", _) => "properties",
        ("typ", None) => "type",
        ("min", Some("integer" | "number")) => "minimum",
        ("max", Some("integer" | "number")) => "maximum",
        ("min", Some("string")) => "minLength",
        ("max", Some("string")) => "maxLength",
        ("min", Some("array")) => "minItems",
        ("max", Some("array")) => "maxItems",
        (keyword, _) if keyword.len() > 5 => {
            let mut names = keyword_names().filter(is_bound).filter(begins);
            names.next().filter(|_| names.next().is_none())?
        }
        _ => return None,
    })
}

/// Whether a value has the type that a keyword of JSON Schema needs. `note: "…"` is not `not`.
///
/// Otherwise every annotation that happens to look like a keyword would be reported.
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
