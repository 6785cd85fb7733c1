//! The last checks of a call: the size of the result, and the output schema.
//!
//! They run after the permit was given back, so the next call of the toolset may start meanwhile.
//! Quick results are checked where they are; others on another thread.

use std::sync::Arc;

use toolwright_model::{CallLimits, OutputCheck};
use toolwright_schema::{SchemaValidator, ValidationErrors};

use crate::knowledge::too_large;
use crate::offload::LARGE;
use crate::outcome::json_size;
use crate::{Failure, Json, Outcome, RegisteredTool, ResultContent, code};

/// Whether a result is small and matches the output schema; also false if checking it could take
/// long.
pub(crate) fn is_quickly_complete(
    tool: &RegisteredTool,
    outcome: &Outcome,
    limits: &CallLimits,
) -> bool {
    let (bytes, media) = (outcome.size(LARGE), outcome.media_size());
    bytes <= LARGE.min(limits.output)
        && media <= limits.media
        && tool.validator.as_ref().is_none_or(|validator| {
            let is_exempt =
                outcome.is_error || outcome.is_task() || limits.output_check == OutputCheck::Off;
            let matches = |value: &Json| {
                validator.is_quick_for_output(json_size(value, LARGE))
                    && validator.accepts_output(value)
            };
            is_exempt || !validator.has_output() || outcome.structured.as_ref().is_some_and(matches)
        })
}

impl RegisteredTool {
    /// Returns a value if the output schema accepts it; without a schema every value.
    pub async fn accept_output(&self, value: Json) -> Option<Json> {
        let Some(validator) = self.validator.clone() else { return Some(value) };
        if validator.is_quick_for_output(json_size(&value, LARGE)) {
            return validator.accepts_output(&value).then_some(value);
        }
        let work = move || validator.accepts_output(&value).then_some(value);
        self.concurrency.run_expensive(work).await
    }
}

/// Checks the size of a result and the output schema. How long that takes is up to the definition.
pub(crate) async fn check_outcome(
    tool: &Arc<RegisteredTool>,
    outcome: Outcome,
    limits: &CallLimits,
) -> Result<Outcome, Failure> {
    let (own, check) = (Arc::clone(tool), limits.output_check);
    let (cap, media) = (limits.output, limits.media);
    let work = move || check_output(&own, check_size(outcome, cap, media)?, check);
    tool.concurrency.run_expensive(work).await
}

/// Refuses a result that is too large. It is never cut: half a JSON document is worth nothing, and
/// half a text can say the opposite.
fn check_size(outcome: Outcome, cap: usize, media: usize) -> Result<Outcome, Failure> {
    let bytes = outcome.media_size();
    if bytes > media {
        let message =
            format!("the images, sounds and files of the answer are larger than {media} bytes");
        return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message));
    }
    // `size` counts each value only up to the cap, so a huge result costs no more than a large one.
    if outcome.size(cap) > cap { Err(too_large(cap)) } else { Ok(outcome) }
}

/// Checks the result against the output schema. A result that reports an error is exempt, as MCP
/// has it: its content is the error, not the promised data. A task has no result yet.
fn check_output(
    tool: &RegisteredTool,
    mut outcome: Outcome,
    check: OutputCheck,
) -> Result<Outcome, Failure> {
    // The reasons to skip the check: no schema, a configuration that switches it off, an error, a
    // task.
    let has_to_match = |own: &&Arc<SchemaValidator>| {
        own.has_output() && check != OutputCheck::Off && !outcome.is_error && !outcome.is_task()
    };
    let Some(validator) = tool.validator.as_ref().filter(has_to_match) else {
        return Ok(outcome);
    };
    let mismatch = |errors: &ValidationErrors| {
        let message = format!("the answer of `{}` does not match its output schema", tool.id);
        Failure::new(&code::OUTPUT_INVALID, message).schema_errors(errors)
    };
    let failure = match &outcome.structured {
        Some(value) => match validator.validate_output(value) {
            Ok(()) => return Ok(outcome),
            Err(errors) => mismatch(&errors),
        },
        None => match match_text(validator, &outcome) {
            Ok(value) => return Ok(Outcome { structured: Some(value), ..outcome }),
            Err(TextMismatch::Errors(errors)) => mismatch(&errors),
            Err(TextMismatch::NoValue) => Failure::new(
                &code::OUTPUT_INVALID,
                format!(
                    "`{}` has an output schema, but its answer has no structured content",
                    tool.id
                ),
            ),
        },
    };
    if check == OutputCheck::Enforce {
        return Err(failure);
    }
    // The warning has the text of the failure, with the position of every wrong value.
    outcome.warnings.push(failure.to_text());
    Ok(outcome)
}

/// Why the text of an answer does not match the output schema.
enum TextMismatch {
    Errors(ValidationErrors),
    /// The result has no text or several, or its text is not JSON and the schema does not describe
    /// a text.
    NoValue,
}

/// Matches an answer without structured content with the output schema: command lines print text,
/// and before revision 2026-07-28 structured content is always an object, so servers send strings,
/// numbers and lists as text. The text counts as it is, or else as the JSON that it holds. Returns
/// the structured content that the answer lacks: clients demand it where a schema promises it.
fn match_text(validator: &SchemaValidator, outcome: &Outcome) -> Result<Json, TextMismatch> {
    let mut texts = outcome.content.iter().filter_map(ResultContent::as_text);
    let (Some(text), None) = (texts.next(), texts.next()) else {
        return Err(TextMismatch::NoValue);
    };
    let own = Json::from(text);
    let Err(of_text) = validator.validate_output(&own) else { return Ok(own) };
    match serde_json::from_str::<Json>(text) {
        Ok(value) => match validator.validate_output(&value) {
            Ok(()) => Ok(value),
            Err(errors) => Err(TextMismatch::Errors(errors)),
        },
        // The schema is about texts if anything but the type is wrong with this one.
        Err(_) if of_text.iter().any(|error| error.keyword != "type") => {
            Err(TextMismatch::Errors(of_text))
        }
        Err(_) => Err(TextMismatch::NoValue),
    }
}
