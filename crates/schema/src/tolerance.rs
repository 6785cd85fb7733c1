//! Mistakes of schemas that have one evident meaning, and the schema that is meant.
//!
//! A tool whose schema does not compile cannot be called. Many schemas of running servers break a
//! rule in a way that leaves no doubt, because a serialiser or an older draft writes it so:
//!
//! | written | read |
//! |---|---|
//! | `null` for a keyword | without the keyword; `default` and `const` may be `null` |
//! | `null` for the schema of a property, definition or item | as `{}` |
//! | `null` among names of `required`, or among schemas of `anyOf` | without it |
//! | one value for `enum` | as a list |
//! | `[]` for an object, `{}` for `required`, an empty `anyOf` | without the keyword |
//! | `"type": "String"`, `"int"`, `["string", null]` | `string`, `integer`, `["string", "null"]` |
//! | `"type": "any"` | without the keyword |
//! | `"required": true` of a property (draft-03) | as its name in `required` of the object |
//! | `"exclusiveMinimum": true` (draft-04) | as a bound, the value of `minimum` |
//! | a list under `items` in 2020-12 | as `prefixItems`, the keyword for it since then |
//! | `"10"` for a number, `"true"` for a boolean | as the number or the boolean |
//! | a title, description or the like of a wrong type | without the keyword |
//!
//! Deliberately absent: guesses. A misspelled type, a subschema that is a number or a reference to
//! nothing stay errors. Valid schemas are never changed.
//!
//! ```text
//! read_schema ─ read_keyword: what is meant by this value? ─▶ apply, and note the mistake
//!      │ read_required_flags: `required: true` of properties
//!      └ each subschema ─▶ read_schema
//! ```

use serde_json::{Map, Value};

use crate::error_message::quoted;
use crate::limits::MAX_DEPTH;
use crate::mistakes::is_keyword;
use crate::{Dialect, Schema, SchemaError, measure, pointer, quick_check, subschema_keywords};

/// The types of JSON Schema, most frequent first: messages list them in this order.
pub const TYPES: &[&str] = &["object", "string", "number", "integer", "boolean", "array", "null"];

/// A schema without its mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToleratedSchema {
    /// The schema that is meant. It may have other mistakes, for which it does not compile.
    pub schema: Value,
    /// What was read differently, in the order of the schema. Never empty.
    pub mistakes: Vec<ToleratedMistake>,
}

/// A mistake with one evident meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct ToleratedMistake {
    /// JSON pointer of the value, in the schema as it is written.
    pub at: String,
    /// What is wrong, in one line.
    pub message: String,
    /// The word under `type`, if that is the mistake.
    pub type_word: Option<String>,
    /// What the schema should have instead.
    pub correction: SchemaCorrection,
}

/// What to write instead of a mistake.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaCorrection {
    /// Nothing: the keyword is left out.
    LeaveOut,
    /// This value.
    Replace(Value),
    /// The same value under this keyword.
    Rename(&'static str),
    /// The name of the property among `required` of the object that has it.
    Require(String),
}

/// The type that a word of another language or with other letters means.
///
/// `None` for words with several meanings, such as `date`. They stay errors.
pub fn type_meant(word: &str) -> Option<&'static str> {
    let word = word.trim().to_ascii_lowercase();
    Some(match word.as_str() {
        "text" | "str" => "string",
        "int" => "integer",
        "float" | "double" => "number",
        "bool" => "boolean",
        "list" => "array",
        "dict" | "map" => "object",
        "none" | "nil" => "null",
        word => TYPES.iter().find(|known| **known == word)?,
    })
}

/// The schema that an invalid one means, as far as that is evident. `None` if there is nothing to
/// tolerate: the schema is valid, or its mistakes have no evident meaning.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::tolerate;
///
/// let tolerated = tolerate(&json!({"type": "object", "required": null})).unwrap();
/// assert_eq!(tolerated.schema, json!({"type": "object"}));
/// assert_eq!(tolerated.mistakes[0].at, "/required");
/// ```
pub fn tolerate(schema: &Value) -> Option<ToleratedSchema> {
    if quick_check::is_certainly_valid_schema(schema) {
        return None;
    }
    measure::depth_within(schema, MAX_DEPTH)?;
    let dialect = match Dialect::of(schema) {
        Ok(dialect) => dialect,
        // `$schema` is not a text.
        Err(SchemaError::InvalidSchema { .. }) => Dialect::Draft202012,
        Err(_) => return None,
    };
    let mut reader = TolerantReader { dialect, mistakes: Vec::new() };
    let mut tolerated = schema.clone();
    reader.read_schema(&mut tolerated, "");
    // The dialects differ in what they know: `"$defs": null` is valid in draft-07.
    if reader.mistakes.is_empty() || Schema::compile(schema).is_ok() {
        return None;
    }
    Some(ToleratedSchema { schema: tolerated, mistakes: reader.mistakes })
}

/// Changes a copy of the schema in place, and lists what it changed.
struct TolerantReader {
    dialect: Dialect,
    mistakes: Vec<ToleratedMistake>,
}

impl TolerantReader {
    /// Reads a schema and everything inside. Recursion ends at [`MAX_DEPTH`].
    ///
    /// A renamed keyword is in the copy under its new name, while mistakes inside of it are
    /// reported at the place where they are written.
    fn read_schema(&mut self, schema: &mut Value, at: &str) {
        let Value::Object(members) = schema else { return };
        let mut is_renamed = false;
        for keyword in members.keys().cloned().collect::<Vec<String>>() {
            // The correction is applied while reading, so later keywords see the corrected schema.
            if let Some((message, correction)) = self.read_keyword(&keyword, members) {
                let word = members.get(&keyword).and_then(Value::as_str);
                let type_word = word.filter(|_| keyword == "type").map(str::to_owned);
                let (at, own) = (pointer::join(at, &keyword), correction.clone());
                self.mistakes.push(ToleratedMistake { at, message, type_word, correction: own });
                is_renamed |= matches!(correction, SchemaCorrection::Rename(_));
                apply(correction, &keyword, members);
            }
        }
        self.read_required_flags(members, at);
        let dialect = self.dialect;
        subschema_keywords::subschemas_mut(members, dialect, |keyword, token, inner| {
            // Where it is written.
            let keyword = match keyword {
                "prefixItems" if is_renamed => "items",
                "items" if is_renamed => "additionalItems",
                keyword => keyword,
            };
            let mut at = pointer::join(at, keyword);
            if let Some(token) = token {
                pointer::extend(&mut at, token);
            }
            // Of `anyOf` and the like it is left out below: here the others would move.
            let is_left_out = matches!(keyword, "allOf" | "anyOf" | "oneOf");
            if inner.is_null() && token.is_some() && !is_left_out {
                *inner = Value::Object(Map::new());
                let message = format!("the schema `{}` is null", token.unwrap_or_default());
                self.report(at, message, SchemaCorrection::Replace(inner.clone()));
            } else {
                self.read_schema(inner, &at);
            }
        });
        self.leave_out_null_choices(members, at);
    }

    /// Leaves out `null` among the schemas of `anyOf` and the like.
    ///
    /// After the schemas inside were read: leaving one out moves the others, and their mistakes
    /// have the old numbers.
    fn leave_out_null_choices(&mut self, members: &mut Map<String, Value>, at: &str) {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(choices)) = members.get_mut(keyword) else { continue };
            let before = choices.len();
            choices.retain(|choice| !choice.is_null());
            if choices.len() == before {
                continue;
            }
            let correction = match choices.is_empty() {
                true => SchemaCorrection::LeaveOut,
                false => SchemaCorrection::Replace(choices.clone().into()),
            };
            if choices.is_empty() {
                members.shift_remove(keyword);
            }
            let message = format!("`{keyword}` has null among its schemas");
            self.report(pointer::join(at, keyword), message, correction);
        }
    }

    /// Notes a mistake that is not about a word under `type`.
    fn report(&mut self, at: String, message: String, correction: SchemaCorrection) {
        self.mistakes.push(ToleratedMistake { at, message, type_word: None, correction });
    }

    /// What is wrong with a keyword, and what is meant by it.
    ///
    /// `None` if the value is right, or if it has no evident meaning; then compiling reports it.
    fn read_keyword(
        &self,
        keyword: &str,
        members: &Map<String, Value>,
    ) -> Option<(String, SchemaCorrection)> {
        use SchemaCorrection::{LeaveOut, Rename, Replace};
        let value = members.get(keyword)?;
        let (expected, correction) = match (keyword, value) {
            ("default" | "const", _) => return None,
            (_, Value::Null) if is_keyword(keyword) => {
                return Some((format!("`{keyword}` is null"), LeaveOut));
            }
            ("type", value) => return read_type(value),
            // Of a property it is read by the object that has the property.
            ("required", Value::Bool(_)) => return None,
            ("required", value) => ("a list of different names", read_required(value, members)?),
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependencies"
                | "dependentSchemas" | "dependentRequired",
                Value::Array(list),
            ) if list.is_empty() => ("an object", LeaveOut),
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) if list.is_empty() => {
                ("a list of schemas", LeaveOut)
            }
            ("enum", Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
                ("a list of values", Replace(vec![value.clone()].into()))
            }
            ("items", Value::Array(list)) if self.dialect == Dialect::Draft202012 => {
                match list.is_empty() {
                    true => ("a schema", LeaveOut),
                    false if members.contains_key("prefixItems") => return None,
                    false => ("a schema; `prefixItems` has a list", Rename("prefixItems")),
                }
            }
            ("exclusiveMinimum", Value::Bool(flag)) => {
                ("a number", read_bound(*flag, members.get("minimum")))
            }
            ("exclusiveMaximum", Value::Bool(flag)) => {
                ("a number", read_bound(*flag, members.get("maximum")))
            }
            (
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
                | "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                | "maxProperties" | "minContains" | "maxContains",
                Value::String(text),
            ) => {
                let number = serde_json::from_str(text.trim()).ok().filter(Value::is_number)?;
                ("a number", Replace(number))
            }
            (
                "additionalProperties" | "uniqueItems" | "deprecated" | "readOnly" | "writeOnly",
                Value::String(text),
            ) if matches!(text.as_str(), "true" | "false") => {
                ("a boolean", Replace(Value::Bool(text == "true")))
            }
            ("deprecated" | "readOnly" | "writeOnly", value) if !value.is_boolean() => {
                ("a boolean", LeaveOut)
            }
            ("examples", value) if !value.is_array() => ("a list", LeaveOut),
            (
                "title" | "description" | "$comment" | "format" | "contentEncoding"
                | "contentMediaType",
                value,
            ) if !value.is_string() => ("a text", LeaveOut),
            _ => return None,
        };
        Some((format!("`{keyword}` is {}, expected {expected}", quoted(value)), correction))
    }

    /// `required` as a boolean: draft-03 writes it into the property and not into the object that
    /// has the property. Elsewhere it has no meaning.
    ///
    /// `{"properties": {"a": {"required": true}}}` becomes
    /// `{"properties": {"a": {}}, "required": ["a"]}`.
    fn read_required_flags(&mut self, members: &mut Map<String, Value>, at: &str) {
        let expected = |flag| format!("`required` is `{flag}`, expected a list of names");
        if let Some(flag) = members.get("required").and_then(Value::as_bool) {
            let place = pointer::join(at, "required");
            self.report(place, expected(flag), SchemaCorrection::LeaveOut);
            members.shift_remove("required");
        }
        let mut required = Vec::new();
        let properties = members.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            let Some(property) = property.as_object_mut() else { continue };
            let Some(flag) = property.get("required").and_then(Value::as_bool) else { continue };
            property.shift_remove("required");
            let correction = match flag {
                true => SchemaCorrection::Require(name.clone()),
                false => SchemaCorrection::LeaveOut,
            };
            let mut place = pointer::join(at, "properties");
            pointer::extend(&mut place, name);
            pointer::extend(&mut place, "required");
            self.report(place, expected(flag), correction);
            if flag {
                required.push(name.clone());
            }
        }
        let Some(names) = (!required.is_empty())
            .then(|| members.entry("required").or_insert_with(|| Value::Array(Vec::new())))
            .and_then(Value::as_array_mut)
        else {
            return;
        };
        for name in required {
            if !names.iter().any(|listed| listed == name.as_str()) {
                names.push(name.into());
            }
        }
    }
}

/// Makes a correction of a keyword.
///
/// `Require` only removes the flag here; the object that has the property adds the name.
fn apply(correction: SchemaCorrection, keyword: &str, members: &mut Map<String, Value>) {
    match correction {
        SchemaCorrection::Replace(value) => {
            members.insert(keyword.to_owned(), value);
        }
        SchemaCorrection::LeaveOut | SchemaCorrection::Require(_) => {
            members.shift_remove(keyword);
        }
        SchemaCorrection::Rename(name) => {
            let value = members.shift_remove(keyword);
            members.extend(value.map(|value| (name.to_owned(), value)));
            // What applied to the other items.
            let others = members.shift_remove("additionalItems");
            members.extend(others.map(|others| (keyword.to_owned(), others)));
        }
    }
}

/// `type` with words of other languages.
///
/// `None` if a word has no evident meaning, or if the value is right as it is.
fn read_type(value: &Value) -> Option<(String, SchemaCorrection)> {
    let is_any = |word: &Value| matches!(word.as_str(), Some("any" | "Any" | ""));
    let meant = |word: &Value| match word {
        Value::Null => Some("null"),
        word => type_meant(word.as_str()?),
    };
    let correction = match value {
        value if is_any(value) => SchemaCorrection::LeaveOut,
        Value::String(_) => SchemaCorrection::Replace(meant(value)?.into()),
        Value::Array(words) if words.is_empty() || words.iter().any(is_any) => {
            SchemaCorrection::LeaveOut
        }
        Value::Array(words) => {
            let meant: Vec<&str> = words.iter().map(meant).collect::<Option<_>>()?;
            SchemaCorrection::Replace(without_repetitions(&meant))
        }
        _ => return None,
    };
    let message = match value {
        Value::String(word) => format!("`{word}` is not a type of JSON Schema"),
        value => format!("`type` is {}, expected different types of JSON Schema", quoted(value)),
    };
    let is_valid = matches!(&correction, SchemaCorrection::Replace(meant) if meant == value);
    (!is_valid).then_some((message, correction))
}

/// `required` as one name, as an empty object, with a name twice, or with `null` among the names.
///
/// A single name has to be that of a property: otherwise it may be anything.
fn read_required(value: &Value, members: &Map<String, Value>) -> Option<SchemaCorrection> {
    match value {
        Value::Object(names) if names.is_empty() => Some(SchemaCorrection::LeaveOut),
        Value::String(name) => {
            members.get("properties")?.get(name)?;
            Some(SchemaCorrection::Replace(Value::Array(vec![value.clone()])))
        }
        Value::Array(names) => {
            let names = names.iter().filter(|name| !name.is_null());
            let names: Vec<&str> = names.map(Value::as_str).collect::<Option<_>>()?;
            let meant = without_repetitions(&names);
            (&meant != value).then_some(SchemaCorrection::Replace(meant))
        }
        _ => None,
    }
}

/// The words in their order, each once.
fn without_repetitions(words: &[&str]) -> Value {
    let mut seen = std::collections::HashSet::new();
    words.iter().filter(|word| seen.insert(**word)).copied().collect()
}

/// A bound that draft-04 marks as exclusive.
///
/// `"minimum": 5, "exclusiveMinimum": true` reads as `"exclusiveMinimum": 5`. Beside it, `minimum`
/// stays, which changes nothing. `false` reads as nothing.
fn read_bound(is_exclusive: bool, bound: Option<&Value>) -> SchemaCorrection {
    match bound.filter(|bound| is_exclusive && bound.is_number()) {
        Some(bound) => SchemaCorrection::Replace(bound.clone()),
        None => SchemaCorrection::LeaveOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn mistakes_with_an_evident_meaning_are_read_as_it() {
        let cases = [
            (json!({"required": null}), json!({}), &["/required"][..]),
            (
                json!({"properties": null, "default": null}),
                json!({"default": null}),
                &["/properties"],
            ),
            (json!({"items": {"enum": null}}), json!({"items": {}}), &["/items/enum"]),
            (
                json!({"properties": {"a/b": {"items": null, "additionalProperties": null}}}),
                json!({"properties": {"a/b": {}}}),
                &["/properties/a~1b/items", "/properties/a~1b/additionalProperties"],
            ),
            (
                json!({"properties": {"a": null}}),
                json!({"properties": {"a": {}}}),
                &["/properties/a"],
            ),
            (json!({"$schema": null, "$ref": null}), json!({}), &["/$schema", "/$ref"]),
            (json!({"properties": [], "required": {}}), json!({}), &["/properties", "/required"]),
            (json!({"anyOf": []}), json!({}), &["/anyOf"]),
            (json!({"type": "String"}), json!({"type": "string"}), &["/type"]),
            (json!({"type": "int"}), json!({"type": "integer"}), &["/type"]),
            (json!({"type": "any"}), json!({}), &["/type"]),
            (json!({"type": ["str", null]}), json!({"type": ["string", "null"]}), &["/type"]),
            (
                json!({"properties": {
                    "a": {"required": true, "type": "string"}, "b": {"required": false},
                }}),
                json!({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}),
                &["/properties/a/required", "/properties/b/required"],
            ),
            (
                json!({"required": ["b"], "properties": {"b": {"required": true}}}),
                json!({"required": ["b"], "properties": {"b": {}}}),
                &["/properties/b/required"],
            ),
            (json!({"required": true}), json!({}), &["/required"]),
            (json!({"required": ["a", null]}), json!({"required": ["a"]}), &["/required"]),
            (json!({"required": [null]}), json!({"required": []}), &["/required"]),
            (
                json!({"oneOf": [null, {"title": 1}, null, {"type": "str"}]}),
                json!({"oneOf": [{}, {"type": "string"}]}),
                &["/oneOf", "/oneOf/1/title", "/oneOf/3/type"],
            ),
            (json!({"anyOf": [null], "allOf": [{}]}), json!({"allOf": [{}]}), &["/anyOf"]),
            (
                json!({"prefixItems": [{}, null]}),
                json!({"prefixItems": [{}, {}]}),
                &["/prefixItems/1"],
            ),
            (json!({"enum": "a"}), json!({"enum": ["a"]}), &["/enum"]),
            (json!({"required": ["a", "a"]}), json!({"required": ["a"]}), &["/required"]),
            (
                json!({"required": "a", "properties": {"a": {}}}),
                json!({"required": ["a"], "properties": {"a": {}}}),
                &["/required"],
            ),
            (
                json!({"minimum": 0, "exclusiveMinimum": true, "exclusiveMaximum": false}),
                json!({"minimum": 0, "exclusiveMinimum": 0}),
                &["/exclusiveMinimum", "/exclusiveMaximum"],
            ),
            (
                json!({"items": [{"type": null}], "additionalItems": {"title": 1}}),
                json!({"prefixItems": [{}], "items": {}}),
                &["/items", "/items/0/type", "/additionalItems/title"],
            ),
            (
                json!({"minLength": "1", "additionalProperties": "false"}),
                json!({"minLength": 1, "additionalProperties": false}),
                &["/minLength", "/additionalProperties"],
            ),
            (
                json!({"examples": "x", "description": ["x"]}),
                json!({}),
                &["/examples", "/description"],
            ),
            // The rest stays an error.
            (json!({"type": "date", "title": null}), json!({"type": "date"}), &["/title"]),
        ];
        for (schema, expected, places) in cases {
            let tolerated = tolerate(&schema).unwrap_or_else(|| panic!("{schema}"));
            assert_eq!(tolerated.schema, expected, "{schema}");
            let found: Vec<&str> = tolerated.mistakes.iter().map(|it| it.at.as_str()).collect();
            let (mut found, mut places) = (found, places.to_vec());
            found.sort_unstable();
            places.sort_unstable();
            assert_eq!(found, places, "{schema}");
            assert!(found.iter().all(|at| schema.pointer(at).is_some()), "{schema}");
        }
    }

    #[test]
    fn other_mistakes_and_valid_schemas_are_left_alone() {
        for schema in [
            json!({"type": "objekt"}),
            json!({"type": "date"}),
            json!({"type": ["string", "date"]}),
            json!({"type": 1}),
            json!({"properties": {"a": 1}}),
            json!({"anyOf": [1, {}]}),
            json!({"required": ["a", 1]}),
            json!({"enum": {"a": 1}}),
            json!({"enum": ["a", "a"]}),
            json!({"required": "b", "properties": {"a": {}}}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "required": null}),
            json!({"minimum": "low"}),
            json!({"default": null, "const": null, "examples": [null], "enum": [null]}),
            json!({"properties": {"required": true, "type": {}, "items": {"const": null}}}),
            json!({"enum": [{"required": null}], "x-own": null, "required": [], "nullable": null}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "$defs": null}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]}),
            json!(true),
            json!(null),
        ] {
            assert_eq!(tolerate(&schema), None, "{schema}");
        }
    }
}
