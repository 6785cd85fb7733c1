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
    match_steps: usize,
    /// Inside an alternative: alternatives of alternatives are not spelled out.
    nested: bool,
}

impl<'a> Context<'a> {
    pub(crate) fn new(document: &'a Value, match_steps: usize) -> Context<'a> {
        Context { document, schema_path: "", match_steps, nested: false }
    }

    /// For a schema judged by its meta-schema.
    pub(crate) fn of_schema(document: &'a Value) -> Context<'a> {
        Context::new(document, 0)
    }

    pub(crate) fn at(&self, schema_path: &'a str) -> Context<'a> {
        Context { schema_path, ..*self }
    }
}

/// What is wrong with `value`.
pub(crate) fn describe(kind: &ValidationErrorKind, value: &Value, context: &Context<'_>) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("{} is not of type {}", quoted(value), types(kind)),
        Kind::Required { property } => format!("the required property {} is missing", name(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("unexpected {}", names(unexpected, "property", "properties"))
        }
        Kind::UnevaluatedItems { unexpected } => {
            format!("unexpected {}", if unexpected.len() == 1 { "item" } else { "items" })
        }
        Kind::AdditionalItems { limit } => format!("more than {}", count(*limit as u64, "item", "items")),
        Kind::Enum { options } => format!("{} is not one of {}", quoted(value), list(options)),
        Kind::Constant { expected_value } => format!("{} is not {}", quoted(value), quoted(expected_value)),
        Kind::Not { .. } => format!("{} matches the schema under `not`", quoted(value)),
        Kind::Contains => "too few or too many items match `contains`".to_owned(),
        Kind::UniqueItems => "the items are not unique".to_owned(),
        Kind::FalseSchema => "nothing is allowed here".to_owned(),
        Kind::AnyOf { context: branches } => alternatives("anyOf", branches, value, context),
        Kind::OneOfNotValid { context: branches } => alternatives("oneOf", branches, value, context),
        Kind::OneOfMultipleValid { .. } => format!("{} matches more than one alternative of `oneOf`", quoted(value)),
        Kind::PropertyNames { error } => {
            format!("a property name is refused: {}", describe(error.kind(), error.instance(), context))
        }
        Kind::Custom { message, .. } => message.clone(),
        Kind::Referencing(error) => error.to_string(),
        _ => describe_measure(kind, value, context),
    }
}

/// Bounds, patterns and formats.
fn describe_measure(kind: &ValidationErrorKind, value: &Value, context: &Context<'_>) -> String {
    use ValidationErrorKind as Kind;
    let value = quoted(value);
    match kind {
        Kind::Minimum { limit } => format!("{value} is less than {}", quoted(limit)),
        Kind::Maximum { limit } => format!("{value} is greater than {}", quoted(limit)),
        Kind::ExclusiveMinimum { limit } => format!("{value} is not greater than {}", quoted(limit)),
        Kind::ExclusiveMaximum { limit } => format!("{value} is not less than {}", quoted(limit)),
        Kind::MultipleOf { multiple_of } => format!("{value} is not a multiple of `{multiple_of}`"),
        Kind::MinLength { limit } => format!("{value} is shorter than {}", count(*limit, "character", "characters")),
        Kind::MaxLength { limit } => format!("{value} is longer than {}", count(*limit, "character", "characters")),
        Kind::MinItems { limit } => format!("fewer than {}", count(*limit, "item", "items")),
        Kind::MaxItems { limit } => format!("more than {}", count(*limit, "item", "items")),
        Kind::MinProperties { limit } => format!("fewer than {}", count(*limit, "property", "properties")),
        Kind::MaxProperties { limit } => format!("more than {}", count(*limit, "property", "properties")),
        Kind::Pattern { pattern } => format!("{value} does not match the pattern `{}`", shortened(pattern)),
        Kind::BacktrackLimitExceeded { .. } => {
            let steps = context.match_steps;
            format!("matching {value} against {} gave up after {steps} steps", pattern_at(context))
        }
        Kind::RegexEngineFailure { .. } => format!("matching {value} against {} failed", pattern_at(context)),
        Kind::Format { format } => format!("{value} is not a valid `{format}`"),
        Kind::ContentEncoding { content_encoding } => format!("{value} is not encoded as `{content_encoding}`"),
        Kind::ContentMediaType { content_media_type } => format!("{value} is not `{content_media_type}`"),
        Kind::FromUtf8 { .. } => format!("{value} does not decode to UTF-8"),
        _ => format!("{value} does not match"),
    }
}

/// Why no alternative matches: the first complaint of each.
fn alternatives(keyword: &str, branches: &[Vec<ValidationError<'_>>], value: &Value, context: &Context<'_>) -> String {
    let mut text = format!("{} matches no alternative of `{keyword}`", quoted(value));
    if context.nested {
        return text;
    }
    let nested = Context { nested: true, ..*context };
    let reasons = branches.iter().filter_map(|branch| branch.first()).take(LISTED);
    for (index, error) in reasons.enumerate() {
        text.push_str(if index == 0 { ": " } else { "; or " });
        // The path of a complaint further inside is longer than the path of the value itself.
        match inside(error, value, context) {
            Some((place, inner)) => {
                let reason = describe(error.kind(), inner, &nested);
                let _ = write!(text, "at `{place}`, {reason}");
            }
            None => text.push_str(&describe(error.kind(), value, &nested)),
        }
    }
    text
}
