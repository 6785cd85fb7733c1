//! Before a call: the checks that need no code, then all validators of the command, in order.
//!
//! Validators fail closed. One that throws, exceeds a limit or returns something that is not a
//! verdict refuses the call like one that says `valid: false`, because a call that nothing has
//! checked must not leave. The verdict remembers the difference (`broken`): then the definition is
//! at fault, and the caller cannot do anything about it.
//!
//! Only where the call itself cannot go on, because its time is used up or no worker can be had,
//! the rest of the validators do not run; the call fails with that.

use std::sync::Arc;
use std::time::Duration;

use toolwright_model::{Validator, ValidatorCheck};
use toolwright_sandbox::SandboxErrorCode;
use toolwright_schema::{TEXT_FORMATS, has_format};

use super::field_formats;
use super::processors::RunFailure;
use super::{FunctionRole, FunctionRunner, KnowledgeFunction, RunnableKnowledge, function_input};
use crate::capped_texts::{MAX_CHARS, shorten_json};
use crate::offload::{WorkSize, offload};
use crate::{CallArguments, CappedTexts, Failure, Json};

/// A validator that takes longer causes a warning; its verdict counts all the same (aios seed,
/// Validators: target under 50 ms).
pub const SLOW_VALIDATOR: Duration = Duration::from_millis(50);

/// What the validators of a command say about the arguments of one call.
#[derive(Debug, Default)]
pub struct ValidatorVerdict {
    /// Why the call is refused; empty if it is not.
    pub errors: CappedTexts,
    /// What is wrong with the validators themselves, for the log and the result's metadata.
    pub warnings: CappedTexts,
    /// Whether a validator could not do its work. The call is refused all the same.
    pub broken: bool,
    /// The messages of exceptions that validators threw. `toolwright test` accepts them where an
    /// example expects an error.
    pub thrown: CappedTexts,
    /// Why not all validators ran, if so: no worker, or no time left.
    pub stopped: Option<Failure>,
}

impl RunnableKnowledge {
    /// Runs the checks and validators of a command on the arguments of a call.
    ///
    /// All validators run, also after one has refused: a caller should learn about all errors at
    /// once.
    pub async fn judge(
        &self,
        command: &str,
        arguments: &CallArguments,
        runner: FunctionRunner<'_>,
    ) -> ValidatorVerdict {
        let mut verdict = ValidatorVerdict::default();
        field_formats::check_arguments(
            &self.model.field_mappings,
            command,
            arguments,
            &mut verdict.warnings,
        );
        let validators = self.model.validators.iter().zip(&self.validators);
        let validators =
            validators.filter(|(validator, _)| validator.validates.as_deref() == Some(command));
        // Each check is remembered with its validator, which may rely on it (`add_broken`).
        // The checks of all validators come first: they are cheap, and their errors are the
        // clearest.
        let validators: Vec<(bool, &Arc<KnowledgeFunction>)> = validators
            .map(|(validator, function)| (run_checks(validator, arguments, &mut verdict), function))
            .collect();
        if validators.is_empty() {
            return verdict;
        }
        let input = function_input(FunctionRole::Validator, arguments.shared());
        for (passed_checks, function) in validators {
            match runner.execute(function, &input).await {
                Ok(output) => {
                    if output.cpu > SLOW_VALIDATOR {
                        let ms = output.cpu.as_millis();
                        let id = &function.id;
                        let slow = format!("validator `{id}` took {ms} ms, more than 50");
                        verdict.warnings.push(&slow);
                    }
                    let (size, function) = (WorkSize::of(&output.value), Arc::clone(function));
                    // The answer is also dropped there.
                    let read = move || read_validator_answer(&function, &output.value);
                    match offload(size, read).await {
                        Ok(ValidatorAnswer { errors, warning }) => {
                            verdict.errors.append(errors);
                            warning.iter().for_each(|warning| verdict.warnings.push(warning));
                        }
                        Err(why) => verdict.add_broken(passed_checks, &why),
                    }
                }
                // No other validator can run either.
                Err(RunFailure::Call(failure)) => {
                    verdict.stopped = Some(failure);
                    return verdict;
                }
                Err(RunFailure::Function(failure)) => {
                    verdict.add_broken(passed_checks, &function.explain(&failure));
                    if failure.error.code == SandboxErrorCode::Threw {
                        verdict.thrown.push(&failure.error.message);
                    }
                }
            }
        }
        verdict
    }
}

impl RunnableKnowledge {
    /// The errors of the declarative checks of the validator with this id, of several the first.
    /// `eval` uses it, which runs one validator and not those of a command.
    pub fn check_errors(&self, validator: &str, arguments: &Json) -> Vec<String> {
        let mut verdict = ValidatorVerdict::default();
        let has_id = |it: &&Validator| it.function.id.as_deref() == Some(validator);
        if let Some(validator) = self.model.validators.iter().find(has_id) {
            run_checks(validator, arguments, &mut verdict);
        }
        verdict.errors.into_texts("errors")
    }
}

impl ValidatorVerdict {
    /// Notes that a validator could not do its work. If its own checks have refused the arguments
    /// already, it may have relied on them: then the arguments are at fault, not the validator, and
    /// its failure is only a warning.
    fn add_broken(&mut self, passed_checks: bool, why: &str) {
        if passed_checks {
            self.errors.push(why);
            self.broken = true;
        } else {
            self.warnings.push(why);
        }
    }
}

/// Runs the checks of a validator that need no code, and returns whether the arguments pass them.
/// Those of other kinds, and formats that are not known, describe the code to readers.
fn run_checks(validator: &Validator, arguments: &Json, verdict: &mut ValidatorVerdict) -> bool {
    let mut passed = true;
    for check in &validator.checks {
        let given = |field: &str| field_of(arguments, field).filter(|value| !value.is_null());
        let errors: Vec<String> = match check {
            ValidatorCheck::RequiredFields(fields) => {
                let missing = fields.iter().filter(|field| given(field).is_none());
                missing.map(|field| format!("{field} is required")).collect()
            }
            // Whether it must be there is the matter of `required_fields`.
            ValidatorCheck::Format { field, format } => {
                let is_wrong = |value: &Json| match value.as_str() {
                    Some(text) => has_format(format, text) == Some(false),
                    None => TEXT_FORMATS.contains(&format.as_str()),
                };
                let wrong = given(field).is_some_and(is_wrong);
                wrong.then(|| format!("{field} is not a valid {format}")).into_iter().collect()
            }
            ValidatorCheck::Other(_) => continue,
        };
        passed &= errors.is_empty();
        errors.iter().for_each(|error| verdict.errors.push(error));
    }
    passed
}

/// The argument of this name, or the member of an argument that a path such as `customer.email`
/// leads to.
fn field_of<'v>(arguments: &'v Json, field: &str) -> Option<&'v Json> {
    let member = || field.split('.').try_fold(arguments, |value, name| value.get(name));
    arguments.get(field).or_else(member)
}

/// The answer of one validator.
#[derive(Debug, PartialEq, Eq)]
pub struct ValidatorAnswer {
    /// Why it refuses the arguments; empty if it accepts them.
    pub errors: CappedTexts,
    /// How the answer departs from `{ valid, errors }` although its meaning is clear.
    pub warning: Option<String>,
}

/// Reads what a validator returned. Lenient where the meaning is clear, because validators in the
/// wild return `errors` in many shapes: a single text, objects with a `message`, nothing at all.
/// Anything in `errors` refuses the call, also beside `valid: true`.
///
/// # Errors
/// If there is no boolean `valid`: then it is not an answer. The text starts with
/// `INVALID_VALIDATOR_RESULT`.
pub fn read_validator_answer(
    function: &KnowledgeFunction,
    value: &Json,
) -> Result<ValidatorAnswer, String> {
    let id = &function.id;
    let unusual = |what: &str| format!("INVALID_VALIDATOR_RESULT: validator `{id}` {what}");
    let Some(valid) = value.get("valid").and_then(Json::as_bool) else {
        let answer = super::processors::quote_shortened(value);
        return Err(unusual(&format!(
            "answered {answer}, expected {{ valid: boolean, errors: string[] }}"
        )));
    };
    let (listed, mut warning) = match value.get("errors") {
        Some(Json::Array(errors)) => (errors.as_slice(), None),
        // Validators that accept often leave the list out.
        None | Some(Json::Null) => (&[][..], None),
        // Not a list: one error, unless it is an empty text or object.
        Some(error) => {
            let is_blank = error.as_str().is_some_and(|text| text.trim().is_empty())
                || error.as_object().is_some_and(serde_json::Map::is_empty);
            let listed = if is_blank { &[][..] } else { std::slice::from_ref(error) };
            (listed, Some(unusual("returned `errors` that is not a list")))
        }
    };
    let mut errors = CappedTexts::default();
    for error in listed {
        match (error, error.get("message").and_then(Json::as_str)) {
            (Json::String(text), _) => errors.push(text),
            (_, Some(message)) => {
                errors.push(message);
                warning.get_or_insert_with(|| unusual("returned errors that are objects"));
            }
            (other, None) => {
                errors.push(&shorten_json(other, MAX_CHARS));
                warning.get_or_insert_with(|| unusual("returned errors that are not strings"));
            }
        }
    }
    // A refusal needs a reason, or the caller would see an empty list.
    if !valid && errors.is_empty() {
        errors.push(&format!("validator `{id}` refuses the arguments and does not say why"));
    }
    if valid && !errors.is_empty() {
        warning
            .get_or_insert_with(|| unusual("returned `valid: true` with errors: the errors count"));
    }
    Ok(ValidatorAnswer { errors, warning })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_of_validators_are_read_leniently() {
        let function = KnowledgeFunction::function(
            FunctionRole::Validator,
            "v",
            "",
            toolwright_sandbox::ShareId::new(),
            None,
        );
        let read = |value: Json| {
            let answer = read_validator_answer(&function, &value).expect("an answer");
            (answer.errors.into_texts("errors").join("|"), answer.warning.is_some())
        };
        let refused = |text: &str, has_warning: bool| (text.to_owned(), has_warning);
        for (value, expected) in [
            (json!({"valid": true, "errors": []}), refused("", false)),
            (json!({"valid": true}), refused("", false)),
            (json!({"valid": true, "errors": null}), refused("", false)),
            (json!({"valid": false, "errors": ["a", "b"]}), refused("a|b", false)),
            (json!({"valid": true, "errors": ["a"]}), refused("a", true)),
            (
                json!({"valid": false, "errors": [{"message": "a", "field": "x"}]}),
                refused("a", true),
            ),
            (json!({"valid": false, "errors": [7]}), refused("7", true)),
            (json!({"valid": false, "errors": "a"}), refused("a", true)),
            (json!({"valid": true, "errors": "a"}), refused("a", true)),
            (
                json!({"valid": true, "errors": {"title": "bad"}}),
                refused("{\"title\":\"bad\"}", true),
            ),
            (json!({"valid": true, "errors": {}}), refused("", true)),
            (
                json!({"valid": false}),
                refused("validator `v` refuses the arguments and does not say why", false),
            ),
        ] {
            assert_eq!(read(value.clone()), expected, "{value}");
        }
        for value in
            [json!(null), json!(true), json!({"ok": true}), json!({"valid": "yes"}), json!([])]
        {
            let why = read_validator_answer(&function, &value).unwrap_err();
            assert!(why.starts_with("INVALID_VALIDATOR_RESULT"), "{value}: {why}");
        }
    }
}
