//! The regular expressions of a schema, tried one by one before the schema is compiled.
//!
//! Compiling the schema would try them too, but as a whole: it could not tell which of them is at
//! fault, how much memory each takes, or whether one of them backtracks, which decides how
//! instances are evaluated.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::json;

use crate::cost_analysis::SchemaPattern;
use crate::jsonschema_engine::{self, PatternSize, RegexEngine};
use crate::limits::{MAX_LARGE_PATTERNS, MAX_PATTERN_BYTES, MAX_PATTERNS};
use crate::{Schema, SchemaError};

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

/// Answers of [`is_ordinary`] that are kept. The patterns of one server are few, and often the
/// same in many tools: of a date, of an identifier.
const MAX_KNOWN_PATTERNS: usize = 500;

/// The longest pattern that [`is_ordinary`] tries.
const MAX_KNOWN_BYTES: usize = 500;

/// Whether a schema with this pattern, and any number of others for which this holds, compiles as
/// far as patterns are concerned. `false` also for patterns that are too long to be tried here.
/// Trying takes as long as compiling a schema, so answers are kept.
pub(crate) fn is_ordinary(pattern: &str) -> bool {
    static KNOWN: LazyLock<Mutex<HashMap<String, bool>>> = LazyLock::new(Mutex::default);
    if pattern.len() > MAX_KNOWN_BYTES {
        return false;
    }
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answer) = known().get(pattern) {
        return *answer;
    }
    // The size first: of larger ones, a schema may have a few only.
    // Draft 7 refuses more of them, such as `]`: there, the formats of its own schema hold.
    let draft7 = "http://json-schema.org/draft-07/schema#";
    let answer = jsonschema_engine::try_pattern(pattern, PatternSize::Ordinary).is_some()
        && Schema::compile(&json!({ "pattern": pattern })).is_ok()
        && Schema::compile(&json!({ "$schema": draft7, "pattern": pattern })).is_ok();
    let mut known = known();
    if known.len() >= MAX_KNOWN_PATTERNS {
        known.clear();
    }
    known.insert(pattern.to_owned(), answer);
    answer
}
