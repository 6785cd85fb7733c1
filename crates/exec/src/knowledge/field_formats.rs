//! Compares values with the formats that `field_mappings` of a definition describe.
//!
//! ```text
//! structure: {lat: number, lng: number}              arguments and results
//! structure: {create_format: [id],                   arguments of commands that create
//!             update_format: {add: [id], rem: [id]}} arguments of commands that update
//! ```
//!
//! A format is an example written with words: `number`, `string` and the other types of JSON mean
//! that type, any other word a single value such as an id, a list means a list of such items, an
//! object one with some of these members. Authors write it for people, so a difference is a warning
//! in the result and never a refusal.
//!
//! Formats have no grammar and no validator of their own, so this errs on the side of silence: what
//! is not understood differs from nothing, `null` counts as absent, and only the first difference
//! of a field is reported. Depth and length are bounded, because values come from callers and
//! servers.

use toolwright_model::FieldMapping;

use crate::{CappedTexts, Json};

/// Levels of a format that are compared.
const MAX_DEPTH: usize = 16;
/// Items of one list that are compared.
const MAX_ITEMS: usize = 1_000;

/// What a command does with a field.
///
/// Chosen from the name of the command, since definitions do not say it anywhere else.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldUse {
    Create,
    Update,
    Other,
}

impl FieldUse {
    /// By the first word of the command that says it.
    fn of(command: &str) -> FieldUse {
        let spaced: String = command
            .chars()
            .flat_map(|c| [c.is_uppercase().then_some(' '), Some(c.to_ascii_lowercase())])
            .flatten()
            .collect();
        let mut words = spaced.split(|c: char| !c.is_alphanumeric());
        let found = words.find_map(|word| match word {
            "create" | "add" | "new" | "insert" => Some(FieldUse::Create),
            "update" | "edit" | "set" | "patch" | "modify" | "change" => Some(FieldUse::Update),
            _ => None,
        });
        found.unwrap_or(FieldUse::Other)
    }

    /// The member of `structure` or of the mapping that holds the format.
    fn key(self) -> &'static str {
        match self {
            FieldUse::Create => "create_format",
            FieldUse::Update => "update_format",
            FieldUse::Other => "structure",
        }
    }
}

/// Adds a warning for every argument that differs from the format of its field.
///
/// A field with formats for creating and updating is compared by that of the command, and by none
/// for a command that does neither: `structure` then only holds the two.
pub(super) fn check_arguments(
    mappings: &[FieldMapping],
    command: &str,
    arguments: &Json,
    warnings: &mut CappedTexts,
) {
    let usage = FieldUse::of(command);
    for mapping in mappings {
        let has_formats = formats_of(mapping).next().is_some();
        let (format, key) = match (usage, has_formats) {
            (_, false) => (mapping.structure.as_ref(), FieldUse::Other.key()),
            (FieldUse::Other, true) => (None, ""),
            (usage, true) => {
                (formats_of(mapping).find(|(own, _)| *own == usage).map(|it| it.1), usage.key())
            }
        };
        if let (Some(format), Some((value, path))) = (format, value_of(mapping, arguments)) {
            let what = ("the argument {}", path);
            compare(value, format, what, &format!("`{key}` of the definition"), warnings);
        }
    }
}

/// Adds a warning for every field of a result that differs from its structure. Fields that have
/// formats for creating and updating are left out: those describe arguments.
pub(super) fn check_response(mappings: &[FieldMapping], data: &Json, warnings: &mut CappedTexts) {
    for mapping in mappings.iter().filter(|mapping| formats_of(mapping).next().is_none()) {
        if let (Some(format), Some((value, path))) = (&mapping.structure, value_of(mapping, data)) {
            let what = ("the field {} of the answer", path);
            compare(value, format, what, "`structure` of the definition", warnings);
        }
    }
}

/// The formats for creating and updating, inside of `structure` or beside it.
fn formats_of(mapping: &FieldMapping) -> impl Iterator<Item = (FieldUse, &Json)> {
    [FieldUse::Create, FieldUse::Update].into_iter().filter_map(|usage| {
        let inside = mapping.structure.as_ref().and_then(|own| own.get(usage.key()));
        Some((usage, inside.or_else(|| mapping.rest.get(usage.key()))?))
    })
}

/// The value of a field and where it was found: where its whole path leads, or under its own name.
/// Null counts as absent.
fn value_of<'v, 'm>(mapping: &'m FieldMapping, data: &'v Json) -> Option<(&'v Json, &'m [String])> {
    let whole = mapping.path.iter().try_fold(data, |value, name| value.get(name));
    let whole = whole.map(|value| (value, mapping.path.as_slice()));
    let own = || {
        let name = mapping.path.last()?;
        Some((data.get(name)?, std::slice::from_ref(name)))
    };
    whole.or_else(own).filter(|(value, _)| !value.is_null())
}

/// Adds a warning if a value differs, unless the same was said before. `{}` in `what` is replaced
/// by the path of the difference.
fn compare(
    value: &Json,
    format: &Json,
    (what, path): (&str, &[String]),
    by: &str,
    warnings: &mut CappedTexts,
) {
    let mut at = path.to_vec();
    if let Some((expected, found)) = difference(value, format, &mut at) {
        let at = at.join(".");
        let what = what.replace("{}", &format!("`{at}`"));
        warnings.push_once(&format!("{what} is {found}, and {by} expects {expected}"));
    }
}

/// What was expected and what was found, at the first difference, whose path is left in `at`.
/// `None` if the value fits, and beyond `MAX_DEPTH`, where nothing is compared any more.
fn difference(value: &Json, format: &Json, at: &mut Vec<String>) -> Option<(String, &'static str)> {
    if at.len() > MAX_DEPTH || value.is_null() {
        return None;
    }
    let found = kind_of(value);
    let mismatch = |expected: &str| Some((expected.to_owned(), found));
    match (format, value) {
        (Json::Array(of), Json::Array(items)) => {
            let format = of.first()?;
            let mut items = items.iter().take(MAX_ITEMS).enumerate();
            items.find_map(|(n, item)| inside(n.to_string(), item, format, at))
        }
        (Json::Array(_), _) => mismatch("a list"),
        (Json::Object(of), Json::Object(members)) => {
            let is_other = !members.is_empty() && !of.keys().any(|key| members.contains_key(key));
            if is_other && !of.is_empty() {
                let names: Vec<String> = of.keys().take(5).map(|it| format!("`{it}`")).collect();
                let expected = format!("an object with {}", names.join(", "));
                return Some((expected, "an object with other members"));
            }
            of.iter()
                .find_map(|(name, format)| inside(name.clone(), members.get(name)?, format, at))
        }
        (Json::Object(_), _) => mismatch("an object"),
        (Json::String(word), value) => {
            let fits = match word.trim() {
                "any" => true,
                "string" | "text" => value.is_string(),
                "number" => value.is_number(),
                "integer" => value.is_i64() || value.is_u64(),
                "boolean" => value.is_boolean(),
                "array" | "list" => value.is_array(),
                "object" => value.is_object(),
                // A placeholder, such as `user_id`.
                _ => !value.is_array() && !value.is_object(),
            };
            if fits { None } else { mismatch(&format!("`{}`", word.trim())) }
        }
        // A value as an example of its type.
        (format, value) if kind_of(format) == kind_of(value) || format.is_null() => None,
        (format, _) => mismatch(kind_of(format)),
    }
}

/// The difference in a part of a value.
///
/// Leaves the name in `at` only if there is a difference, so `at` is its path in the end.
fn inside(
    name: String,
    value: &Json,
    format: &Json,
    at: &mut Vec<String>,
) -> Option<(String, &'static str)> {
    at.push(name);
    let found = difference(value, format, at);
    if found.is_none() {
        at.pop();
    }
    found
}

fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapping(name: &str, structure: Json) -> FieldMapping {
        FieldMapping {
            path: vec!["custom_fields".to_owned(), name.to_owned()],
            structure: Some(structure),
            ..FieldMapping::default()
        }
    }

    #[test]
    fn arguments_are_compared_with_the_format_of_their_command() {
        let assignees = mapping(
            "assignees",
            json!({"create_format": ["user_id"], "update_format": {"add": ["user_id"]}}),
        );
        let location = mapping("location", json!({"lat": "number", "lng": "number"}));
        let mappings = [assignees, location];
        let warnings = |command: &str, arguments: Json| {
            let mut warnings = CappedTexts::default();
            check_arguments(&mappings, command, &arguments, &mut warnings);
            warnings.into_texts("warnings")
        };
        assert_eq!(
            warnings("create_task", json!({"assignees": {"add": [4]}})),
            [
                "the argument `assignees` is an object, and `create_format` of the definition expects \
              a list"
            ]
        );
        for (command, arguments) in [
            ("create_task", json!({"assignees": [4]})),
            ("updateTask", json!({"assignees": {"add": [4]}})),
            ("get_task", json!({"assignees": "anything"})),
            ("create_task", json!({"location": {"lat": 1, "lng": 2.5, "more": true}})),
            ("create_task", json!({"location": null})),
        ] {
            assert_eq!(warnings(command, arguments.clone()), Vec::<String>::new(), "{arguments}");
        }
        assert_eq!(
            warnings("move_task", json!({"custom_fields": {"location": {"x": 1}}})),
            ["the argument `custom_fields.location` is an object with other members, and \
                 `structure` of the definition expects an object with `lat`, `lng`"]
        );
        assert_eq!(
            warnings("create_task", json!({"assignees": [4, [5]]})),
            [
                "the argument `assignees.1` is a list, and `create_format` of the definition expects \
              `user_id`"
            ]
        );
        let mut found = CappedTexts::default();
        check_response(&mappings, &json!({"location": {"lat": "1"}, "assignees": 3}), &mut found);
        assert_eq!(
            found.into_texts("warnings"),
            ["the field `location.lat` of the answer is a string, and `structure` of the \
                 definition expects `number`"]
        );
    }
}
