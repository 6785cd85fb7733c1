//! Answers "surely valid" for common schemas and instances without compiling the schema.
//!
//! Compiling a schema takes several times as long as reading the whole definition of a tool, and
//! checking a definition only has to know that its schemas and examples are valid. Nearly all
//! schemas of tools consist of a few dozen keywords and references to their own definitions; those
//! are decided here in one pass. The answer is one-sided:
//!
//! ```text
//! true    certainly valid, nothing to report
//! false   unknown: compile the schema, and report its errors if it has any
//! ```
//!
//! So this file never produces an error, and a keyword it does not list costs time, not
//! correctness. Property tests hold that `true` never contradicts the compiler and the validator.
//!
//! A reference is checked by checking what it refers to in its place. So a loop of references runs
//! into the limits and is "unknown", as is everything that the cost analysis could refuse.

use serde_json::{Map, Value};

use crate::{Dialect, pattern_check};

/// Subschemas that are visited, those behind a reference once for each reference; the answer for a
/// larger schema is "unknown".
const MAX_VISITED_SUBSCHEMAS: usize = 2_000;

/// Nested subschemas that are visited. Each takes up to two levels of JSON (`properties` and its
/// members), so this and [`MAX_DATA_DEPTH`] together stay below the limit of the compiler, 128.
const MAX_SUBSCHEMA_DEPTH: usize = 40;

/// Nested lists and objects of a value under `default`, `enum` and the like.
const MAX_DATA_DEPTH: usize = 16;

/// Lists up to this length are checked for duplicates, by comparing all pairs.
const MAX_UNIQUE_LIST: usize = 64;

/// Whether `schema` certainly compiles. `false` means that only
/// [`Schema::compile`](crate::Schema::compile) can tell.
pub fn is_certainly_valid_schema(schema: &Value) -> bool {
    let Value::Object(root) = schema else { return false };
    SchemaCheck { root, left: MAX_VISITED_SUBSCHEMAS }.check_schema(schema, 0)
}

/// The check of one schema.
///
/// Made anew for each schema.
struct SchemaCheck<'s> {
    /// What references start from.
    root: &'s Map<String, Value>,
    /// Subschemas that may still be visited.
    left: usize,
}

impl<'s> SchemaCheck<'s> {
    /// Whether a subschema certainly is one. `depth` counts the subschemas around it, those that a
    /// reference leads through included.
    fn check_schema(&mut self, schema: &'s Value, depth: usize) -> bool {
        if self.left == 0 || depth > MAX_SUBSCHEMA_DEPTH {
            return false;
        }
        self.left -= 1;
        match schema {
            Value::Bool(_) => true,
            Value::Object(members) => {
                members.iter().all(|(keyword, value)| self.check_keyword(keyword, value, depth))
            }
            _ => false,
        }
    }

    /// Whether `value` certainly is what the meta-schemas of both dialects demand of `keyword`.
    ///
    /// Deliberately absent: identifiers and references to other places than definitions, which only
    /// the compiler can resolve, keywords whose values differ between the dialects, and unknown
    /// keywords, under which the compiler may find a reference.
    ///
    /// `example` and `nullable` are no keywords of JSON Schema, but are common in tools and do no
    /// harm.
    fn check_keyword(&mut self, keyword: &str, value: &'s Value, depth: usize) -> bool {
        match keyword {
            "type" => is_type(value),
            "properties" | "$defs" | "definitions" => {
                value.as_object().is_some_and(|members| self.check_all(members.values(), depth))
            }
            "items"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "not"
            | "if"
            | "then"
            | "else" => self.check_schema(value, depth + 1),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => value
                .as_array()
                .is_some_and(|list| !list.is_empty() && self.check_all(list.iter(), depth)),
            "patternProperties" => value.as_object().is_some_and(|members| {
                members.keys().all(|pattern| is_pattern(pattern))
                    && self.check_all(members.values(), depth)
            }),
            "$ref" => self.definition(value).is_some_and(|to| self.check_schema(to, depth + 1)),
            "required" => is_list_of_unique_names(value),
            "dependentRequired" => value
                .as_object()
                .is_some_and(|members| members.values().all(is_list_of_unique_names)),
            "enum" => value.as_array().is_some_and(|list| !list.is_empty() && is_data(value, 0)),
            "title" | "description" | "format" | "$comment" | "contentEncoding"
            | "contentMediaType" => value.is_string(),
            "examples" => value.is_array() && is_data(value, 0),
            "default" | "const" | "example" => is_data(value, 0),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
            "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" | "minContains" | "maxContains" => value.is_u64(),
            "pattern" => value.as_str().is_some_and(is_pattern),
            "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" | "nullable" => {
                value.is_boolean()
            }
            // Elsewhere it has no meaning without an `$id`.
            "$schema" => {
                depth == 0 && value.as_str().is_some_and(|uri| Dialect::from_uri(uri).is_some())
            }
            name => name.starts_with("x-") && is_data(value, 0),
        }
    }

    /// Whether all of these are certainly schemas, one level below `depth`.
    fn check_all(&mut self, mut schemas: impl Iterator<Item = &'s Value>, depth: usize) -> bool {
        schemas.all(|schema| self.check_schema(schema, depth + 1))
    }

    /// What `#/$defs/name` or `#/definitions/name` refers to, if nothing in the name is escaped.
    ///
    /// `None` for every other reference, and if there is no such definition: then the compiler
    /// decides.
    fn definition(&self, reference: &Value) -> Option<&'s Value> {
        let (keyword, name) = reference.as_str()?.strip_prefix("#/")?.split_once('/')?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_readable = matches!(keyword, "$defs" | "definitions") && name.chars().all(is_plain);
        is_readable.then(|| self.root.get(keyword)?.get(name))?
    }
}

/// Whether `value` is data in which the compiler finds neither a reference nor too many levels.
///
/// A member that starts with `$` could be a reference or an identifier.
fn is_data(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(list) => {
            depth < MAX_DATA_DEPTH && list.iter().all(|item| is_data(item, depth + 1))
        }
        Value::Object(members) => {
            depth < MAX_DATA_DEPTH
                && members
                    .iter()
                    .all(|(name, item)| !name.starts_with('$') && is_data(item, depth + 1))
        }
        _ => true,
    }
}

/// A type name, or a list of different ones.
///
/// The meta-schemas demand names that exist and differ.
fn is_type(value: &Value) -> bool {
    let is_type_name = |word: &str| {
        matches!(word, "object" | "string" | "number" | "integer" | "boolean" | "array" | "null")
    };
    match value {
        Value::String(word) => is_type_name(word),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.is_some_and(|words| {
                !words.is_empty()
                    && words.iter().all(|word| is_type_name(word))
                    && are_unique(&words)
            })
        }
        _ => false,
    }
}

/// The meta-schemas demand that names in `required` differ.
fn is_list_of_unique_names(value: &Value) -> bool {
    let names = value
        .as_array()
        .and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
    names.is_some_and(|names| are_unique(&names))
}

/// Compares all pairs, which is faster than a set for the few names that such lists have.
fn are_unique(names: &[&str]) -> bool {
    names.len() <= MAX_UNIQUE_LIST
        && names.iter().enumerate().all(|(n, name)| !names[..n].contains(name))
}

/// Whether `pattern` certainly compiles, beside any number of others.
fn is_pattern(pattern: &str) -> bool {
    is_simple_pattern(pattern) || pattern_check::is_ordinary(pattern)
}

/// The largest weight of a simple pattern, in bytes of its text and repetitions of its parts. A
/// test holds that patterns of this weight compile to an ordinary size.
const MAX_PATTERN_WEIGHT: usize = 64;

/// Whether `pattern` only has letters, digits, a few other characters, classes of these, and
/// repetitions: `^[a-z0-9_-]{2,}$`. Such a pattern compiles and never backtracks.
///
/// Read from left to right. `repeatable` tells whether the last part may be repeated; a repetition
/// of a repetition, or one at the start, is not simple.
fn is_simple_pattern(pattern: &str) -> bool {
    let body = pattern.strip_prefix('^').unwrap_or(pattern);
    let mut rest = body.strip_suffix('$').unwrap_or(body);
    // Whether a repetition may follow; `a**` is an error.
    let mut repeatable = false;
    // It bounds the size of the compiled pattern: `a{1,50}` counts 50 more than its text.
    let mut weight = pattern.len();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        repeatable = match c {
            '*' | '+' | '?' if repeatable => false,
            '{' if repeatable => {
                let Some((most, after)) = repetitions(rest) else { return false };
                (weight, rest) = (weight + most, after);
                false
            }
            '[' => {
                let Some((class, after)) = rest.split_once(']') else { return false };
                if !is_simple_class(class) {
                    return false;
                }
                rest = after;
                true
            }
            c if c.is_ascii_alphanumeric()
                || matches!(c, '_' | ' ' | '/' | ':' | '@' | ',' | '-' | '.') =>
            {
                true
            }
            _ => return false,
        };
    }
    weight <= MAX_PATTERN_WEIGHT
}

/// Reads `2}`, `2,}` or `2,4}`: how often something is repeated at most, or at least if there is
/// no bound, and the text that follows.
fn repetitions(text: &str) -> Option<(usize, &str)> {
    let (counts, rest) = text.split_once('}')?;
    let (least, most) = counts.split_once(',').unwrap_or((counts, counts));
    let number = |digits: &str| -> Option<usize> {
        let is_number = matches!(digits.len(), 1..=3) && digits.bytes().all(|c| c.is_ascii_digit());
        is_number.then(|| digits.parse().ok())?
    };
    let least = number(least)?;
    let most = if most.is_empty() { least } else { number(most)? };
    (least <= most).then_some((most, rest))
}

/// Whether the inside of `[…]` only has letters, digits, `_` and ranges in order.
fn is_simple_class(class: &str) -> bool {
    let is_member = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !class.is_empty()
        && class.split('-').all(|part| part.chars().all(is_member))
        && has_ordered_ranges(class)
}

/// Whether every range of a class goes from a lower to a higher letter or digit of the same kind.
///
/// `a-z` and `0-5` are; `z-a` is an error, and `A-z` takes in other characters.
fn has_ordered_ranges(class: &str) -> bool {
    let letters: Vec<char> = class.chars().collect();
    // A `-` at either end stands for itself.
    let inner = letters
        .iter()
        .enumerate()
        .filter(|(at, c)| **c == '-' && *at > 0 && at + 1 < letters.len());
    inner.map(|(at, _)| (letters[at - 1], letters[at + 1])).all(|(from, to)| {
        from <= to
            && [char::is_ascii_digit, char::is_ascii_lowercase, char::is_ascii_uppercase]
                .iter()
                .any(|is| is(&from) && is(&to))
    })
}

/// Whether `instance` certainly matches `schema`, for which [`is_certainly_valid_schema`] must
/// hold. `false` means that only validating can tell.
///
/// Recursion ends with the schema, whose depth that function has limited.
pub fn is_certainly_valid_instance(schema: &Value, instance: &Value) -> bool {
    let Value::Object(members) = schema else { return schema == &Value::Bool(true) };
    members.iter().all(|(keyword, value)| allows(members, keyword, value, instance))
}

/// Whether `instance` certainly matches all keywords of `schema` but one.
///
/// Asked for values that are written in the schema itself: listed ones, defaults, examples.
pub(crate) fn is_certainly_valid_without(
    schema: &Map<String, Value>,
    keyword: &str,
    instance: &Value,
) -> bool {
    schema
        .iter()
        .filter(|(name, _)| *name != keyword)
        .all(|(name, value)| allows(schema, name, value, instance))
}

/// Whether one keyword of `schema` certainly allows `instance`. Keywords that apply to another type
/// allow every value, as the specification prescribes.
///
/// A closed object is found by `additionalProperties`, which looks at the names that `properties`
/// beside it does not have.
fn allows(schema: &Map<String, Value>, keyword: &str, value: &Value, instance: &Value) -> bool {
    let each =
        |test: &dyn Fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(test));
    match keyword {
        "type" => match value {
            Value::Array(words) => words.iter().any(|word| is_of_type(word, instance)),
            word => is_of_type(word, instance),
        },
        "properties" => match (value, instance) {
            (Value::Object(declared), Value::Object(given)) => given.iter().all(|(name, value)| {
                declared.get(name).is_none_or(|schema| is_certainly_valid_instance(schema, value))
            }),
            _ => !instance.is_object(),
        },
        "additionalProperties" => match instance {
            Value::Object(given) => {
                let is_declared = |name: &str| {
                    schema.get("properties").is_some_and(|declared| declared.get(name).is_some())
                };
                given.iter().all(|(name, item)| {
                    is_declared(name) || is_certainly_valid_instance(value, item)
                })
            }
            _ => true,
        },
        "required" => instance
            .as_object()
            .is_none_or(|given| each(&|name| name.as_str().is_some_and(|n| given.contains_key(n)))),
        "items" => instance
            .as_array()
            .is_none_or(|list| list.iter().all(|item| is_certainly_valid_instance(value, item))),
        "anyOf" => value.as_array().is_some_and(|list| {
            list.iter().any(|schema| is_certainly_valid_instance(schema, instance))
        }),
        "allOf" => each(&|schema| is_certainly_valid_instance(schema, instance)),
        // `1` and `1.0` are equal to the validator but not here, so "no" is not certain.
        "enum" => value.as_array().is_some_and(|list| list.contains(instance)),
        "const" => value == instance,
        // The specification counts characters, not bytes.
        "minLength" | "maxLength" => {
            instance.as_str().is_none_or(|text| is_within(keyword, value, text.chars().count()))
        }
        "minItems" | "maxItems" => {
            instance.as_array().is_none_or(|list| is_within(keyword, value, list.len()))
        }
        "minProperties" | "maxProperties" => {
            instance.as_object().is_none_or(|given| is_within(keyword, value, given.len()))
        }
        // Fractions are left to the validator, which computes with more digits.
        "multipleOf" => !instance.is_number() || is_multiple(instance, value),
        "minimum" => are_ordered(value, instance),
        "maximum" => are_ordered(instance, value),
        // Annotations. `format` is one as well; a caller that asserts formats must compile.
        "title" | "description" | "default" | "examples" | "format" | "deprecated" | "readOnly"
        | "writeOnly" | "$comment" | "$schema" | "$defs" | "definitions" | "example"
        | "contentEncoding" | "contentMediaType" => true,
        // `oneOf` and the rest would need a certain "no", which is not to be had here.
        name => name.starts_with("x-"),
    }
}

/// Whether `size` keeps the bound of a keyword whose name starts with `min` or `max`.
fn is_within(keyword: &str, bound: &Value, size: usize) -> bool {
    let size = size as u64;
    bound
        .as_u64()
        .is_some_and(|bound| if keyword.starts_with("min") { size >= bound } else { size <= bound })
}

/// Whether two integers are in this order; fractions are left to the validator. `minimum` and
/// `maximum` do not apply to values that are not numbers.
fn are_ordered(low: &Value, high: &Value) -> bool {
    match (low, high) {
        (Value::Number(_), Value::Number(_)) => {
            low.as_i64().zip(high.as_i64()).is_some_and(|(low, high)| low <= high)
        }
        _ => true,
    }
}

/// Whether an integer certainly is a multiple of another, of a size that every number type holds.
fn is_multiple(instance: &Value, of: &Value) -> bool {
    let small = |value: &Value| value.as_i64().filter(|number| number.unsigned_abs() < 1 << 53);
    small(instance).zip(small(of)).is_some_and(|(number, of)| of > 0 && number % of == 0)
}

/// `1.0` is an integer to the validator; here the answer is "unknown".
fn is_of_type(word: &Value, instance: &Value) -> bool {
    match (word.as_str(), instance) {
        (Some("object"), Value::Object(_))
        | (Some("array"), Value::Array(_))
        | (Some("string"), Value::String(_))
        | (Some("boolean"), Value::Bool(_))
        | (Some("null"), Value::Null)
        | (Some("number"), Value::Number(_)) => true,
        (Some("integer"), Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}
