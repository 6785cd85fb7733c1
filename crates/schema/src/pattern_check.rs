//! The regular expressions of a schema, tried one by one before the schema is compiled.
//!
//! Compiling the schema would try them too, but as a whole: it could not tell which of them is at
//! fault, how much memory each takes, or whether one of them backtracks, which decides how
//! instances are evaluated.

use crate::SchemaError;
use crate::cost_analysis::SchemaPattern;
use crate::jsonschema_engine::{self, PatternSize, RegexEngine};
use crate::limits::{MAX_LARGE_PATTERNS, MAX_PATTERN_BYTES, MAX_PATTERNS};

/// The engine for the patterns of a schema: backtracking if at least one of them needs it.
///
/// # Errors
/// A pattern is not a regular expression or too large, or there are too many of them.
pub(crate) fn check_patterns(patterns: &[SchemaPattern]) -> Result<RegexEngine, SchemaError> {
    if let Some(extra) = patterns.get(MAX_PATTERNS) {
        return Err(SchemaError::invalid(&extra.at, format!("more than {MAX_PATTERNS} patterns")));
    }
    let mut large = 0;
    let mut overall = RegexEngine::Linear;
    for pattern in patterns {
        if pattern.text.len() > MAX_PATTERN_BYTES {
            return Err(rejection(pattern, &format!("is longer than {MAX_PATTERN_BYTES} bytes")));
        }
        let engine = match jsonschema_engine::try_pattern(&pattern.text, PatternSize::Ordinary) {
            Some(engine) => engine,
            None if !jsonschema_engine::is_regular_expression(&pattern.text) => {
                return Err(rejection(pattern, "is not a regular expression"));
            }
            // A regular expression that does not compile is too large, at least for the first size.
            None => {
                large += 1;
                try_large_pattern(pattern, large)?
            }
        };
        if engine == RegexEngine::Backtracking {
            overall = RegexEngine::Backtracking;
        }
    }
    Ok(overall)
}

/// Tries the larger size. `count` is the number of patterns so far that need it.
fn try_large_pattern(pattern: &SchemaPattern, count: usize) -> Result<RegexEngine, SchemaError> {
    if count > MAX_LARGE_PATTERNS {
        return Err(rejection(
            pattern,
            &format!("is one of more than {MAX_LARGE_PATTERNS} very large patterns"),
        ));
    }
    jsonschema_engine::try_pattern(&pattern.text, PatternSize::Large).ok_or_else(|| {
        rejection(
            pattern,
            "cannot be compiled: it is too large, or it has an unsupported construct",
        )
    })
}

fn rejection(pattern: &SchemaPattern, why: &str) -> SchemaError {
    let text = crate::error_message::shorten(&pattern.text);
    SchemaError::invalid(&pattern.at, format!("the pattern `{text}` {why}"))
}
