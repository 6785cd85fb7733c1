//! What is valid at a glance: schemas of everyday keywords, each with a value of its own form,
//! without references; and instances that such a schema plainly allows. Nearly all schemas and
//! examples of tools are, and whoever only wants to know that need not compile the schema, which
//! takes several times as long as reading the tool. Tests hold that all of them compile, and that
//! the validator agrees.

use serde_json::{Map, Value};

use crate::limits::MAX_DEPTH;

/// Subschemas looked at; a larger schema is for the compiler to judge.
const MAX_SUBSCHEMAS: usize = 2_000;

/// Whether `schema` surely compiles. `false` means that only compiling it would tell.
pub fn is_plain(schema: &Value) -> bool {
    let mut left = MAX_SUBSCHEMAS;
    schema.is_object() && plain(schema, 0, &mut left)
}

fn plain(schema: &Value, depth: usize, left: &mut usize) -> bool {
    // Half of the bound: lists and objects of values count as levels, too.
    if *left == 0 || depth > MAX_DEPTH / 2 {
        return false;
    }
    *left -= 1;
    match schema {
        Value::Bool(_) => true,
        Value::Object(members) => {
            members.iter().all(|(keyword, value)| keeps_form(keyword, value, depth, left))
        }
        _ => false,
    }
}

fn keeps_form(keyword: &str, value: &Value, depth: usize, left: &mut usize) -> bool {
    match keyword {
        "type" => is_type(value),
        "properties" => value.as_object().is_some_and(|members| all(members.values(), depth, left)),
        "items" | "additionalProperties" => plain(value, depth + 1, left),
        "anyOf" | "oneOf" | "allOf" => {
            value.as_array().is_some_and(|list| !list.is_empty() && all(list.iter(), depth, left))
        }
        "required" => is_list_of_names(value),
        "enum" => value.as_array().is_some_and(|list| !list.is_empty() && is_flat(list)),
        "title" | "description" | "format" => value.is_string(),
        "default" | "const" => is_flat(std::slice::from_ref(value)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        "pattern" => value.as_str().is_some_and(is_plain_pattern),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        _ => false,
    }
}

fn all<'v>(mut schemas: impl Iterator<Item = &'v Value>, depth: usize, left: &mut usize) -> bool {
    schemas.all(|schema| plain(schema, depth + 1, left))
}

fn is_type(value: &Value) -> bool {
    let known = |word: &str| {
        matches!(word, "object" | "string" | "number" | "integer" | "boolean" | "array" | "null")
    };
    match value {
        Value::String(word) => known(word),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.is_some_and(|words| {
                !words.is_empty() && words.iter().all(|word| known(word)) && are_unique(&words)
            })
        }
        _ => false,
    }
}

fn is_list_of_names(value: &Value) -> bool {
    let names = value
        .as_array()
        .and_then(|list| list.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
    names.is_some_and(|names| are_unique(&names))
}

/// Quadratic, and therefore only for few.
fn are_unique(names: &[&str]) -> bool {
    names.len() <= 64 && names.iter().enumerate().all(|(n, name)| !names[..n].contains(name))
}

/// Values that are not nested: what is deep is for the compiler to judge.
fn is_flat(values: &[Value]) -> bool {
    values.iter().all(|value| match value {
        Value::Array(list) => list.iter().all(|item| !item.is_array() && !item.is_object()),
        Value::Object(members) => members.is_empty(),
        _ => true,
    })
}

/// Whether a regular expression is of the simplest kind: letters, digits, a few signs, classes of
/// these, and repetitions.
fn is_plain_pattern(pattern: &str) -> bool {
    let body = pattern.strip_prefix('^').unwrap_or(pattern);
    let mut rest = body.strip_suffix('$').unwrap_or(body).chars().peekable();
    let mut repeatable = false;
    while let Some(c) = rest.next() {
        repeatable = match c {
            '*' | '+' | '?' if repeatable => false,
            '[' => {
                let class: String = rest.by_ref().take_while(|c| *c != ']').collect();
                let is_plain = !class.is_empty()
                    && class
                        .split('-')
                        .all(|part| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
                    && has_sound_ranges(&class);
                if !is_plain {
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
    // An unclosed class ate the rest, and what was taken off the end may have been its bracket.
    pattern.matches('[').count() == pattern.matches(']').count()
}

/// Whether every range of a class goes from a lower letter or digit to a higher one of its kind.
fn has_sound_ranges(class: &str) -> bool {
    let letters: Vec<char> = class.chars().collect();
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

/// Whether `instance` surely matches a schema that is plain. `false` means that only validating
/// would tell.
pub fn is_plainly_valid(schema: &Value, instance: &Value) -> bool {
    let Value::Object(members) = schema else { return schema == &Value::Bool(true) };
    members.iter().all(|(keyword, value)| allows(members, keyword, value, instance))
}

fn allows(schema: &Map<String, Value>, keyword: &str, value: &Value, instance: &Value) -> bool {
    let each =
        |test: &dyn Fn(&Value) -> bool| value.as_array().is_some_and(|list| list.iter().all(test));
    match keyword {
        "type" => match value {
            Value::Array(words) => words.iter().any(|word| is_of_type(word, instance)),
            word => is_of_type(word, instance),
        },
        "properties" => match (value, instance) {
            (Value::Object(known), Value::Object(given)) => given.iter().all(|(name, value)| {
                known.get(name).is_none_or(|schema| is_plainly_valid(schema, value))
            }),
            _ => !instance.is_object(),
        },
        "additionalProperties" => match instance {
            Value::Object(given) => {
                let known = |name: &str| {
                    schema.get("properties").is_some_and(|known| known.get(name).is_some())
                };
                given.iter().all(|(name, item)| known(name) || is_plainly_valid(value, item))
            }
            _ => true,
        },
        "required" => instance
            .as_object()
            .is_none_or(|given| each(&|name| name.as_str().is_some_and(|n| given.contains_key(n)))),
        "items" => instance
            .as_array()
            .is_none_or(|list| list.iter().all(|item| is_plainly_valid(value, item))),
        "anyOf" => value
            .as_array()
            .is_some_and(|list| list.iter().any(|schema| is_plainly_valid(schema, instance))),
        "allOf" => each(&|schema| is_plainly_valid(schema, instance)),
        // Texts alone: what makes two numbers equal is not for here.
        "enum" => {
            instance.is_string() && value.as_array().is_some_and(|list| list.contains(instance))
        }
        "const" => instance.is_string() && value == instance,
        "minLength" | "maxLength" => {
            instance.as_str().is_none_or(|text| within(keyword, value, text.chars().count()))
        }
        "minItems" | "maxItems" => {
            instance.as_array().is_none_or(|list| within(keyword, value, list.len()))
        }
        "minimum" => in_order(value, instance),
        "maximum" => in_order(instance, value),
        "title" | "description" | "default" | "format" | "deprecated" | "readOnly"
        | "writeOnly" => true,
        _ => false,
    }
}

fn within(keyword: &str, bound: &Value, size: usize) -> bool {
    let size = size as u64;
    bound
        .as_u64()
        .is_some_and(|bound| if keyword.starts_with("min") { size >= bound } else { size <= bound })
}

/// Whether two integers are in this order; what is no number at all is not bounded by one.
fn in_order(low: &Value, high: &Value) -> bool {
    match (low, high) {
        (Value::Number(_), Value::Number(_)) => {
            low.as_i64().zip(high.as_i64()).is_some_and(|(low, high)| low <= high)
        }
        _ => true,
    }
}

fn is_of_type(word: &Value, instance: &Value) -> bool {
    match (word.as_str(), instance) {
        (Some("object"), Value::Object(_))
        | (Some("array"), Value::Array(_))
        | (Some("string"), Value::String(_)) => true,
        (Some("boolean"), Value::Bool(_))
        | (Some("null"), Value::Null)
        | (Some("number"), Value::Number(_)) => true,
        (Some("integer"), Value::Number(number)) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}
