//! Errors in words: one line, lower case, literals in backticks, long values cut.

use std::fmt::{self, Write};

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use crate::limits::QUOTED_CHARS;

/// Branches of `anyOf` or `oneOf` explained in a message, and names or options listed.
const LISTED: usize = 8;

/// What a message needs beyond the error.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    document: &'a Value,
    /// Where the failing keyword stands.
    schema_path: &'a str,
    /// Where the failing value stands.
    instance_path: &'a str,
    match_steps: usize,
    /// Inside an alternative: alternatives of alternatives are not spelled out.
    nested: bool,
}

impl<'a> Context<'a> {
    pub(crate) fn new(document: &'a Value, match_steps: usize) -> Context<'a> {
        Context { document, schema_path: "", instance_path: "", match_steps, nested: false }
    }

    /// For a schema judged by its meta-schema.
    pub(crate) fn of_schema(document: &'a Value) -> Context<'a> {
        Context::new(document, 0)
    }

    pub(crate) fn at<'b>(&self, schema_path: &'b str, instance_path: &'b str) -> Context<'b>
    where
        'a: 'b,
    {
        Context { schema_path, instance_path, ..*self }
    }
}

/// What is wrong with `value`.
pub(crate) fn describe(kind: &ValidationErrorKind, value: &Value, context: &Context<'_>) -> String {
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
                "a property name is refused: {}",
                describe(error.kind(), error.instance(), context)
            )
        }
        Kind::Custom { message, .. } => message.clone(),
        Kind::Referencing(error) => error.to_string(),
        _ => describe_measure(kind, value, context),
    }
}

/// Keyword and message for `additionalProperties: false` standing alone, the usual way to write a
/// tool without parameters: the validator reports it as a `false` schema on the whole object.
pub(crate) fn refused_properties(
    kind: &ValidationErrorKind,
    value: &Value,
    context: &Context<'_>,
) -> Option<(String, String)> {
    let keyword = context.schema_path.rsplit('/').next()?;
    let alone =
        matches!(kind, ValidationErrorKind::FalseSchema) && keyword == "additionalProperties";
    let members = value.as_object().filter(|_| alone)?;
    let unexpected: Vec<String> = members.keys().cloned().collect();
    Some((
        keyword.to_owned(),
        format!("unexpected {}", names(&unexpected, "property", "properties")),
    ))
}

/// Bounds, patterns and formats.
fn describe_measure(kind: &ValidationErrorKind, value: &Value, context: &Context<'_>) -> String {
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
            format!("{value} does not match the pattern `{}`", shortened(pattern))
        }
        Kind::BacktrackLimitExceeded { .. } => {
            let steps = context.match_steps;
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
        _ => format!("{value} does not match"),
    }
}

/// Why no alternative matches: the first complaint of each.
fn alternatives(
    keyword: &str,
    branches: &[Vec<ValidationError<'_>>],
    value: &Value,
    context: &Context<'_>,
) -> String {
    let mut text = format!("{} matches no alternative of `{keyword}`", quoted(value));
    if context.nested {
        return text;
    }
    let nested = Context { nested: true, ..*context };
    let reasons = branches.iter().filter_map(|branch| branch.first()).take(LISTED);
    for (index, error) in reasons.enumerate() {
        text.push_str(if index == 0 { ": " } else { "; or " });
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
        Value::String(name) => format!("`{}`", shortened(name)),
        other => quoted(other),
    }
}

fn names(all: &[String], one: &str, many: &str) -> String {
    let listed: Vec<String> =
        all.iter().take(LISTED).map(|name| format!("`{}`", shortened(name))).collect();
    let rest = if all.len() > LISTED {
        format!(" and {} more", all.len() - LISTED)
    } else {
        String::new()
    };
    format!("{} {}{rest}", if all.len() == 1 { one } else { many }, listed.join(", "))
}

fn list(options: &Value) -> String {
    let Some(options) = options.as_array() else {
        return quoted(options);
    };
    let listed: Vec<String> = options.iter().take(LISTED).map(quoted).collect();
    let rest = if options.len() > LISTED {
        format!(" and {} more", options.len() - LISTED)
    } else {
        String::new()
    };
    if listed.is_empty() { "an empty `enum`".to_owned() } else { listed.join(", ") + &rest }
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The pattern at the failing keyword, where the document shows it.
fn pattern_at(context: &Context<'_>) -> String {
    match context.document.pointer(context.schema_path) {
        Some(Value::String(pattern)) => format!("the pattern `{}`", shortened(pattern)),
        _ => "a pattern".to_owned(),
    }
}

/// `value` as JSON in backticks, cut to a readable length.
fn quoted(value: &Value) -> String {
    // Writing stops at the limit, so a large or deep value costs no more than a small one.
    let mut text = Cut { text: String::new(), left: QUOTED_CHARS };
    let cut = write!(text, "{value}").is_err();
    format!("`{}{}`", text.text, if cut { "…" } else { "" })
}

/// `text` cut to a readable length.
pub(crate) fn shortened(text: &str) -> String {
    let mut kept = Cut { text: String::new(), left: QUOTED_CHARS };
    match kept.write_str(text) {
        Ok(()) => kept.text,
        Err(_) => kept.text + "…",
    }
}

/// Takes so many characters, then refuses.
struct Cut {
    text: String,
    left: usize,
}

impl fmt::Write for Cut {
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
    fn long_values_are_cut() {
        assert_eq!(quoted(&json!({ "a": [1, "x"] })), "`{\"a\":[1,\"x\"]}`");
        assert_eq!(quoted(&json!("a\nb")), "`\"a\\nb\"`");
        let long = quoted(&json!("é".repeat(1000)));
        assert_eq!(long.chars().count(), QUOTED_CHARS + 3);
        assert!(long.ends_with("…`"), "{long}");
        assert_eq!(shortened(&"x".repeat(QUOTED_CHARS)), "x".repeat(QUOTED_CHARS));
    }
}
