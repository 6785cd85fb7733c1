//! Before a call: the checks that need no code, then all validators of the command, in order.

use std::time::Duration;

use toolwright_model::{Validator, ValidatorCheck};
use toolwright_sandbox::{SandboxErrorCode, WorkerPool};

use super::{Code, FunctionLimits, Knowledge, Role, guest_limits, input};
use crate::{Json, Log};

/// A validator that takes longer is slow, though it is heard (aios seed, Validators: target under
/// 50 ms).
pub const SLOW: Duration = Duration::from_millis(50);

/// What validators say about arguments.
#[derive(Debug, Default)]
pub struct Judged {
    /// Why the call is refused; empty if it is not.
    pub errors: Vec<String>,
    /// What is odd about the validators themselves.
    pub warnings: Vec<String>,
    /// Whether a validator could not do its work. The call is refused all the same.
    pub broken: bool,
    /// What validators threw, in their own words.
    pub thrown: Vec<String>,
    /// Why no validator can run at all.
    pub no_sandbox: Option<String>,
}

impl Knowledge {
    /// Judges the arguments of a call. A validator that cannot do its work refuses.
    pub async fn judge(
        &self,
        command: &str,
        arguments: &Json,
        pool: Option<&WorkerPool>,
        limits: &FunctionLimits,
        log: &Log,
    ) -> Judged {
        let mut judged = Judged::default();
        let own = self.model.validators.iter().zip(&self.validators);
        let own = own.filter(|(validator, _)| validator.validates.as_deref() == Some(command));
        let own: Vec<(bool, &Code)> = own
            .map(|(validator, code)| (check(validator, arguments, &mut judged), &**code))
            .collect();
        for (is_checked, code) in own {
            let Some(pool) = pool else {
                judged.no_sandbox =
                    Some(format!("validator `{}` cannot run: there is no sandbox", code.id));
                return judged;
            };
            let limits = guest_limits(limits, Role::Validator);
            match code.run(pool, &input(Role::Validator, arguments), &limits, None).await {
                Ok(output) => {
                    code.log(&output.log, log);
                    if output.cpu > SLOW {
                        let ms = output.cpu.as_millis();
                        judged
                            .warnings
                            .push(format!("validator `{}` took {ms} ms, more than 50", code.id));
                    }
                    match read_verdict(code, &output.value) {
                        Ok((errors, warning)) => {
                            judged.errors.extend(errors);
                            judged.warnings.extend(warning);
                        }
                        Err(no_verdict) => judged.fail(is_checked, no_verdict),
                    }
                }
                Err(error) => {
                    code.log(&error.log, log);
                    if error.code == SandboxErrorCode::StartFailed {
                        judged.no_sandbox = Some(error.message);
                        return judged;
                    }
                    judged.fail(is_checked, code.explain(&error));
                    if error.code == SandboxErrorCode::Threw {
                        judged.thrown.push(error.message);
                    }
                }
            }
        }
        judged
    }
}

impl Judged {
    /// A validator could not do its work. If its own checks have refused the arguments, it may have
    /// relied on them: then they are at fault, and not the validator.
    fn fail(&mut self, is_checked: bool, why: String) {
        if is_checked {
            self.errors.push(why);
            self.broken = true;
        } else {
            self.warnings.push(why);
        }
    }
}

/// The checks that need no code; whether the arguments pass them.
fn check(validator: &Validator, arguments: &Json, judged: &mut Judged) -> bool {
    let known = judged.errors.len();
    for check in &validator.checks {
        let ValidatorCheck::RequiredFields(fields) = check else { continue };
        let missing =
            fields.iter().filter(|field| arguments.get(field.as_str()).is_none_or(Json::is_null));
        judged.errors.extend(missing.map(|field| format!("{field} is required")));
    }
    judged.errors.len() == known
}

/// What a validator answered: why it refuses (nothing if it does not), and what is odd about the
/// answer.
///
/// # Errors
/// If it is no verdict at all.
pub fn read_verdict(code: &Code, value: &Json) -> Result<(Vec<String>, Option<String>), String> {
    let id = &code.id;
    let odd = |what: &str| format!("INVALID_VALIDATOR_RESULT: validator `{id}` {what}");
    let Some(valid) = value.get("valid").and_then(Json::as_bool) else {
        let shown = super::respond::shown(value);
        return Err(odd(&format!(
            "answered {shown}, expected {{ valid: boolean, errors: string[] }}"
        )));
    };
    let (listed, mut warning) = match value.get("errors") {
        Some(Json::Array(errors)) => (errors.as_slice(), None),
        None | Some(Json::Null) => (&[][..], None),
        // Whatever it is, it is said to be wrong.
        Some(error) => {
            let says_nothing = error.as_str().is_some_and(|text| text.trim().is_empty())
                || error.as_object().is_some_and(serde_json::Map::is_empty);
            let listed = if says_nothing { &[][..] } else { std::slice::from_ref(error) };
            (listed, Some(odd("gave `errors` that are no list")))
        }
    };
    let mut errors = Vec::new();
    for error in listed {
        match (error, error.get("message").and_then(Json::as_str)) {
            (Json::String(text), _) => errors.push(text.clone()),
            (_, Some(message)) => {
                errors.push(message.to_owned());
                warning.get_or_insert_with(|| odd("gave errors that are objects, not texts"));
            }
            (other, None) => {
                errors.push(other.to_string());
                warning.get_or_insert_with(|| odd("gave errors that are no texts"));
            }
        }
    }
    if !valid && errors.is_empty() {
        errors.push(format!("validator `{id}` refuses the arguments and does not say why"));
    }
    if valid && !errors.is_empty() {
        warning.get_or_insert_with(|| odd("says `valid: true` and gives errors: they count"));
    }
    Ok((errors, warning))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn verdicts_of_all_kinds() {
        let code = Code::function(Role::Validator, "v", "", None);
        let read = |value: Json| {
            let (errors, warning) = read_verdict(&code, &value).expect("a verdict");
            (errors.join("|"), warning.is_some())
        };
        let refused = |text: &str, odd: bool| (text.to_owned(), odd);
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
            let no_verdict = read_verdict(&code, &value).unwrap_err();
            assert!(no_verdict.starts_with("INVALID_VALIDATOR_RESULT"), "{value}: {no_verdict}");
        }
    }
}
