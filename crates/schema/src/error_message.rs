//! The text of validation errors: one line, lower case, literals in backticks, long values cut.
//!
//! `jsonschema` has messages of its own, but they quote whole instances, name its internals, and
//! its errors hold no value here (`BudgetedNode::to_value`). So each kind of error is worded here,
//! from the value at the error's path. Messages never contain a line break: JSON text has none.
//!
//! ```text
//! `"5"` is not of type `integer`
//! the required property `name` is missing
//! `7` matches no alternative of `anyOf`: `7` is not of type `string`; or …
//! ```

use std::fmt::{self, Write};

use jsonschema::ValidationError as EngineError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::limits::QUOTED_CHARS;

/// The most branches of `anyOf` or `oneOf` that a message explains, and the most names or values
/// that it lists. Eight fit into a message that a person reads; generated schemas have hundreds of
/// them.
const MAX_LISTED: usize = 8;

/// What a message needs beyond the error.
#[derive(Clone, Copy)]
pub(crate) struct MessageContext<'a> {
    /// The schema that the instance should match.
    document: &'a Value,
    /// JSON pointer of the failing keyword.
    schema_path: &'a str,
    /// JSON pointer of the failing value.
    instance_path: &'a str,
    /// Backtracks that a match could take.
    backtrack_limit: usize,
    /// Inside an alternative. Alternatives of alternatives are not explained: the message of a
    /// recursive union would grow exponentially.
    nested: bool,
}

impl<'a> MessageContext<'a> {
    /// For errors of instances of the schema `document`.
    pub(crate) fn new(document: &'a Value, backtrack_limit: usize) -> MessageContext<'a> {
        let (schema_path, instance_path) = ("", "");
        MessageContext { document, schema_path, instance_path, backtrack_limit, nested: false }
    }

    /// For errors of the schema `document` itself, found by its meta-schema. Meta-schemas have no
    /// pattern that backtracks.
    pub(crate) fn for_schema(document: &'a Value) -> MessageContext<'a> {
        MessageContext::new(document, 0)
    }

    /// The same for the error at these paths.
    ///
    /// Paths change from error to error, the rest does not.
    pub(crate) fn at<'b>(&self, schema_path: &'b str, instance_path: &'b str) -> MessageContext<'b>
    where
        'a: 'b,
    {
        MessageContext { schema_path, instance_path, ..*self }
    }
}

/// Says what is wrong with `value`, the value at the error's path.
///
/// The path is not part of the message: callers show it beside it.
pub(crate) fn describe(
    kind: &ValidationErrorKind,
    value: &Value,
    context: &MessageContext<'_>,
) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("{} is not of type {}", quoted(value), types(kind)),
        Kind::Required { property } => {
            format!("the required property {} is missing", name(property))
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("unexpected {}", names(unexpected, "property", "properties"))
        }
        Kind::UnevaluatedItems { unexpected } => {
            format!("unexpected {}", if unexpected.len() == 1 { "item" } else { "items" })
        }
        Kind::AdditionalItems { limit } => {
            format!("more than {}", count(*limit as u64, "item", "items"))
        }
        Kind::Enum { options } => format!("{} is not one of {}", quoted(value), list(options)),
        Kind::Constant { expected_value } => {
            format!("{} is not {}", quoted(value), quoted(expected_value))
        }
        Kind::Not { .. } => format!("{} matches the schema under `not`", quoted(value)),
        Kind::Contains => "too few or too many items match `contains`".to_owned(),
        Kind::UniqueItems => "the items are not unique".to_owned(),
        Kind::FalseSchema => "nothing is allowed here".to_owned(),
        Kind::AnyOf { context: branches } => alternatives("anyOf", branches, value, context),
        Kind::OneOfNotValid { context: branches } => {
            alternatives("oneOf", branches, value, context)
        }
        Kind::OneOfMultipleValid { .. } => {
            format!("{} matches more than one alternative of `oneOf`", quoted(value))
        }
        Kind::PropertyNames { error } => {
            format!(
                "a property name is not allowed: {}",
                describe(error.kind(), error.instance(), context)
            )
        }
        Kind::Custom { message, .. } => message.clone(),
        Kind::Referencing(error) => error.to_string(),
        _ => describe_bound(kind, value, context),
    }
}

/// The properties that an error calls unexpected; empty for every other error.
///
/// For callers that suggest a similar name, such as the argument errors of a call.
pub(crate) fn unexpected_names(
    kind: &ValidationErrorKind,
    value: &Value,
    context: &MessageContext<'_>,
) -> Vec<String> {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unexpected.clone()
        }
        _ => closed_object(kind, value, context).unwrap_or_default(),
    }
}

/// The property that an error calls missing; `None` for every other error.
pub(crate) fn missing_name(kind: &ValidationErrorKind) -> Option<String> {
    match kind {
        ValidationErrorKind::Required { property } => property.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Keyword and message for an object that is closed by `additionalProperties: false` without
/// `properties`, the usual schema of a tool without parameters; `None` for any other error.
///
/// `jsonschema` reports it as a `false` schema for the whole object. People expect the names of the
/// properties and the keyword that they wrote, as with `properties` beside it.
pub(crate) fn describe_closed_object(
    kind: &ValidationErrorKind,
    value: &Value,
    context: &MessageContext<'_>,
) -> Option<(String, String)> {
    let unexpected = closed_object(kind, value, context)?;
    Some((
        "additionalProperties".to_owned(),
        format!("unexpected {}", names(&unexpected, "property", "properties")),
    ))
}

/// The members of an object that is closed in this way. `None` for any other error.
fn closed_object(
    kind: &ValidationErrorKind,
    value: &Value,
    context: &MessageContext<'_>,
) -> Option<Vec<String>> {
    // The keyword at the end of the path distinguishes this case from a property whose own schema
    // is `false`.
    let alone = matches!(kind, ValidationErrorKind::FalseSchema)
        && context.schema_path.rsplit('/').next() == Some("additionalProperties");
    Some(value.as_object().filter(|_| alone)?.keys().cloned().collect())
}

/// The second half of [`describe`]: errors of bounds, patterns and formats, which all start with
/// the value.
///
/// Bounds of arrays and objects are worded without the value, which may be long.
fn describe_bound(
    kind: &ValidationErrorKind,
    value: &Value,
    context: &MessageContext<'_>,
) -> String {
    use ValidationErrorKind as Kind;
    let value = quoted(value);
    match kind {
        Kind::Minimum { limit } => format!("{value} is less than {}", quoted(limit)),
        Kind::Maximum { limit } => format!("{value} is greater than {}", quoted(limit)),
        Kind::ExclusiveMinimum { limit } => {
            format!("{value} is not greater than {}", quoted(limit))
        }
        Kind::ExclusiveMaximum { limit } => format!("{value} is not less than {}", quoted(limit)),
        Kind::MultipleOf { multiple_of } => format!("{value} is not a multiple of `{multiple_of}`"),
        Kind::MinLength { limit } => {
            format!("{value} is shorter than {}", count(*limit, "character", "characters"))
        }
        Kind::MaxLength { limit } => {
            format!("{value} is longer than {}", count(*limit, "character", "characters"))
        }
        Kind::MinItems { limit } => format!("fewer than {}", count(*limit, "item", "items")),
        Kind::MaxItems { limit } => format!("more than {}", count(*limit, "item", "items")),
        Kind::MinProperties { limit } => {
            format!("fewer than {}", count(*limit, "property", "properties"))
        }
        Kind::MaxProperties { limit } => {
            format!("more than {}", count(*limit, "property", "properties"))
        }
        Kind::Pattern { pattern } => {
            format!("{value} does not match the pattern `{}`", shorten(pattern))
        }
        Kind::BacktrackLimitExceeded { .. } => {
            let steps = context.backtrack_limit;
            format!("matching {value} against {} gave up after {steps} steps", pattern_at(context))
        }
        Kind::RegexEngineFailure { .. } => {
            format!("matching {value} against {} failed", pattern_at(context))
        }
        Kind::Format { format } => format!("{value} is not a valid `{format}`"),
        Kind::ContentEncoding { content_encoding } => {
            format!("{value} is not encoded as `{content_encoding}`")
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("{value} is not `{content_media_type}`")
        }
        Kind::FromUtf8 { .. } => format!("{value} does not decode to UTF-8"),
        // Kinds without a wording of their own, such as those that a later `jsonschema` may add.
        _ => format!("{value} does not match"),
    }
}

/// Why no alternative matches: the first error of each, at most [`MAX_LISTED`] of them.
///
/// An error inside the value is described with its place below the value.
///
/// `` `7` matches no alternative of `anyOf`: `7` is not of type `string`; or at `/a`, … ``
fn alternatives(
    keyword: &str,
    branches: &[Vec<EngineError<'_>>],
    value: &Value,
    context: &MessageContext<'_>,
) -> String {
    let mut text = format!("{} matches no alternative of `{keyword}`", quoted(value));
    if context.nested {
        return text;
    }
    let nested = MessageContext { nested: true, ..*context };
    // The first error of a branch is usually the reason; the others follow from it.
    let reasons = branches.iter().filter_map(|branch| branch.first()).take(MAX_LISTED);
    for (index, error) in reasons.enumerate() {
        text.push_str(if index == 0 { ": " } else { "; or " });
        // The path is counted from the root of the instance; shown is the part below `value`.
        // "at `/a`, …" tells which part of the value an alternative refuses.
        let path = error.instance_path().as_str();
        let inside = path.strip_prefix(context.instance_path).filter(|inside| !inside.is_empty());
        match inside.and_then(|inside| Some((inside, value.pointer(inside)?))) {
            Some((inside, inner)) => {
                let reason = describe(error.kind(), inner, &nested);
                text.push_str(&format!("at `{inside}`, {reason}"));
            }
            None => text.push_str(&describe(error.kind(), value, &nested)),
        }
    }
    text
}

/// Expected types: `` `string` or `null` ``.
fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => format!("`{one}`"),
        TypeKind::Multiple(several) => {
            let several: Vec<String> = several.iter().map(|one| format!("`{one}`")).collect();
            several.join(" or ")
        }
    }
}

/// A property name, which the error holds as a JSON string.
fn name(property: &Value) -> String {
    match property {
        Value::String(name) => format!("`{}`", shorten(name)),
        other => quoted(other),
    }
}

/// `property `a`` or `properties `a`, `b` and 3 more`.
fn names(all: &[String], one: &str, many: &str) -> String {
    let listed: Vec<String> =
        all.iter().take(MAX_LISTED).map(|name| format!("`{}`", shorten(name))).collect();
    let rest = and_more(all.len());
    format!("{} {}{rest}", if all.len() == 1 { one } else { many }, listed.join(", "))
}

/// The values of an `enum`.
fn list(options: &Value) -> String {
    let Some(options) = options.as_array() else {
        return quoted(options);
    };
    let listed: Vec<String> = options.iter().take(MAX_LISTED).map(quoted).collect();
    let rest = and_more(options.len());
    if listed.is_empty() { "an empty `enum`".to_owned() } else { listed.join(", ") + &rest }
}

/// The end of a list of `count` things whose first [`MAX_LISTED`] are shown.
fn and_more(count: usize) -> String {
    match count.checked_sub(MAX_LISTED) {
        // Exactly at the limit nothing is left out.
        Some(more @ 1..) => format!(" and {more} more"),
        _ => String::new(),
    }
}

/// `1 item` or `2 items`.
fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The pattern under the failing keyword. The path of an error inside an embedded resource is
/// counted from that resource, so the pattern is not always found.
fn pattern_at(context: &MessageContext<'_>) -> String {
    match context.document.pointer(context.schema_path) {
        Some(Value::String(pattern)) => format!("the pattern `{}`", shorten(pattern)),
        _ => "a pattern".to_owned(),
    }
}

/// `value` as JSON in backticks, cut to a readable length.
pub(crate) fn quoted(value: &Value) -> String {
    // Writing stops at the limit, so a large value costs no more than a small one.
    let mut writer = TruncatingWriter { text: String::new(), left: QUOTED_CHARS };
    let truncated = write!(writer, "{value}").is_err();
    format!("`{}{}`", writer.text, if truncated { "…" } else { "" })
}

/// `text` cut to [`QUOTED_CHARS`] characters.
pub(crate) fn shorten(text: &str) -> String {
    let mut writer = TruncatingWriter { text: String::new(), left: QUOTED_CHARS };
    match writer.write_str(text) {
        Ok(()) => writer.text,
        Err(_) => writer.text + "…",
    }
}

/// Keeps a number of characters, then fails, which makes the writing code stop.
///
/// The error is how a writer asks to stop; it never reaches a caller.
struct TruncatingWriter {
    text: String,
    /// Characters that still fit.
    left: usize,
}

impl fmt::Write for TruncatingWriter {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for character in more.chars() {
            if self.left == 0 {
                return Err(fmt::Error);
            }
            self.left -= 1;
            self.text.push(character);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_values_are_truncated() {
        assert_eq!(quoted(&json!({ "a": [1, "x"] })), "`{\"a\":[1,\"x\"]}`");
        assert_eq!(quoted(&json!("a\nb")), "`\"a\\nb\"`");
        let long = quoted(&json!("é".repeat(1000)));
        assert_eq!(long.chars().count(), QUOTED_CHARS + 3);
        assert!(long.ends_with("…`"), "{long}");
        assert_eq!(shorten(&"x".repeat(QUOTED_CHARS)), "x".repeat(QUOTED_CHARS));
    }
}
