//! Answers "surely valid" for common schemas and instances without compiling the schema.
//!
//! Compiling a schema takes several times as long as reading the whole definition of a tool, and
//! checking a definition only has to know that its schemas and examples are valid. Nearly all
//! schemas of tools consist of a dozen keywords without references; those are decided here in one
//! pass. The answer is one-sided:
//!
//! ```text
//! true    certainly valid, nothing to report
//! false   unknown: compile the schema, and report its errors if it has any
//! ```
//!
//! So this file never produces an error, and a keyword it does not list costs time, not
//! correctness. Property tests hold that `true` never contradicts the compiler and the validator.

use serde_json::{Map, Value};

use crate::limits::MAX_DEPTH;

/// Subschemas that are visited; the answer for a larger schema is "unknown".
const MAX_VISITED_SUBSCHEMAS: usize = 2_000;

/// Lists up to this length are checked for duplicates, by comparing all pairs.
const MAX_UNIQUE_LIST: usize = 64;

/// Whether `schema` certainly compiles, in either dialect. `false` means that only
/// [`Schema::compile`](crate::Schema::compile) can tell.
pub fn is_certainly_valid_schema(schema: &Value) -> bool {
    let mut left = MAX_VISITED_SUBSCHEMAS;
    schema.is_object() && check_schema(schema, 0, &mut left)
}

/// `left` counts down the subschemas that may still be visited.
fn check_schema(schema: &Value, depth: usize, left: &mut usize) -> bool {
    // Each level of subschemas takes up to two levels of JSON (`properties` and its members), and
    // the limit of the compiler counts those.
    if *left == 0 || depth > MAX_DEPTH / 2 {
        return false;
    }
    *left -= 1;
    match schema {
        Value::Bool(_) => true,
        Value::Object(members) => {
            members.iter().all(|(keyword, value)| check_keyword(keyword, value, depth, left))
        }
        _ => false,
    }
}

/// Whether `value` certainly is what the meta-schemas of both dialects demand of `keyword`.
///
/// Deliberately absent: references and identifiers, which only the compiler can resolve, keywords
/// that differ between the dialects, and unknown keywords, under which a reference may point.
fn check_keyword(keyword: &str, value: &Value, depth: usize, left: &mut usize) -> bool {
    match keyword {
        "type" => is_type(value),
        "properties" => {
            value.as_object().is_some_and(|members| check_all(members.values(), depth, left))
        }
        "items" | "additionalProperties" => check_schema(value, depth + 1, left),
        "anyOf" | "oneOf" | "allOf" => value
            .as_array()
            .is_some_and(|list| !list.is_empty() && check_all(list.iter(), depth, left)),
        "required" => is_list_of_unique_names(value),
        "enum" => value.as_array().is_some_and(|list| !list.is_empty() && are_shallow(list)),
        "title" | "description" | "format" | "$comment" => value.is_string(),
        "examples" => value.as_array().is_some_and(|list| are_shallow(list)),
        "default" | "const" => are_shallow(std::slice::from_ref(value)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        "pattern" => value.as_str().is_some_and(is_simple_pattern),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        _ => false,
    }
}

fn check_all<'v>(
    mut schemas: impl Iterator<Item = &'v Value>,
    depth: usize,
    left: &mut usize,
) -> bool {
    schemas.all(|schema| check_schema(schema, depth + 1, left))
}

/// A type name, or a list of different ones.
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

/// Whether no value nests further: data counts against the compiler's limit for nesting, too.
fn are_shallow(values: &[Value]) -> bool {
    values.iter().all(|value| match value {
        Value::Array(list) => list.iter().all(|item| !item.is_array() && !item.is_object()),
        Value::Object(members) => members.is_empty(),
        _ => true,
    })
}

/// Whether `pattern` only has letters, digits, a few other characters, classes of these, and
/// repetitions: `^[a-z0-9_-]+$`. Such a pattern compiles and never backtracks.
fn is_simple_pattern(pattern: &str) -> bool {
    let body = pattern.strip_prefix('^').unwrap_or(pattern);
    let mut rest = body.strip_suffix('$').unwrap_or(body).chars().peekable();
    // Whether a repetition may follow; `a**` is an error.
    let mut repeatable = false;
    while let Some(c) = rest.next() {
        repeatable = match c {
            '*' | '+' | '?' if repeatable => false,
            '[' => {
                let class: String = rest.by_ref().take_while(|c| *c != ']').collect();
                if !is_simple_class(&class) {
                    return false;
                }
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
    // A class without its `]` also ends with the pattern; counting the brackets finds it.
    pattern.matches('[').count() == pattern.matches(']').count()
}

/// Whether the inside of `[…]` only has letters, digits, `_` and ranges in order.
fn is_simple_class(class: &str) -> bool {
    let is_member = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !class.is_empty()
        && class.split('-').all(|part| part.chars().all(is_member))
        && has_ordered_ranges(class)
}

/// Whether every range of a class goes from a lower to a higher letter or digit of the same kind.
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
pub(crate) fn is_certainly_valid_without(
    schema: &Map<String, Value>,
    keyword: &str,
    instance: &Value,
) -> bool {
    schema
        .iter()
        .filter(|(name, _)| *name != keyword)
        .all(|(name, value)| name == "$schema" || allows(schema, name, value, instance))
}

/// Whether one keyword of `schema` certainly allows `instance`. Keywords that apply to another type
/// allow every value, as the specification prescribes.
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
        "minimum" => are_ordered(value, instance),
        "maximum" => are_ordered(instance, value),
        // Annotations. `format` is one as well; a caller that asserts formats must compile.
        "title" | "description" | "default" | "examples" | "format" | "deprecated" | "readOnly"
        | "writeOnly" | "$comment" => true,
        // `oneOf` and the rest would need a certain "no", which is not to be had here.
        _ => false,
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
