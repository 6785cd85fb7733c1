//! The regular expressions of a schema, tried one by one before it is compiled: a bad one is named
//! with its place, a bomb is refused while it is small, and one that backtracks is known in
//! advance.

use crate::SchemaError;
use crate::analysis::Pattern;
use crate::engine::{self, Engine, Size};
use crate::limits::{MAX_LARGE_PATTERNS, MAX_PATTERN_CHARS, MAX_PATTERNS};

/// How the patterns of a schema are matched: by backtracking if one of them needs it.
pub(crate) fn check(patterns: &[Pattern]) -> Result<Engine, SchemaError> {
    if let Some(extra) = patterns.get(MAX_PATTERNS) {
        return Err(SchemaError::invalid(&extra.at, format!("more than {MAX_PATTERNS} patterns")));
    }
    let mut large = 0;
    let mut overall = Engine::Linear;
    for pattern in patterns {
        if pattern.text.len() > MAX_PATTERN_CHARS {
            return Err(refused(pattern, &format!("is longer than {MAX_PATTERN_CHARS} bytes")));
        }
        let engine = match engine::try_pattern(&pattern.text, Size::Ordinary) {
            Some(engine) => engine,
            None if !engine::is_regular_expression(&pattern.text) => {
                return Err(refused(pattern, "is not a regular expression"));
            }
            None => {
                large += 1;
                large_pattern(pattern, large)?
            }
        };
        if engine == Engine::Backtracking {
            overall = Engine::Backtracking;
        }
    }
    Ok(overall)
}

fn large_pattern(pattern: &Pattern, count: usize) -> Result<Engine, SchemaError> {
    if count > MAX_LARGE_PATTERNS {
        return Err(refused(
            pattern,
            &format!("is one of more than {MAX_LARGE_PATTERNS} very large patterns"),
        ));
    }
    engine::try_pattern(&pattern.text, Size::Large).ok_or_else(|| {
        refused(pattern, "cannot be compiled: too large, or a construct that is not supported")
    })
}

fn refused(pattern: &Pattern, why: &str) -> SchemaError {
    let text = crate::message::shortened(&pattern.text);
    SchemaError::invalid(&pattern.at, format!("the pattern `{text}` {why}"))
}
