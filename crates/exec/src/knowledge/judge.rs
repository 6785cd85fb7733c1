//! Before a call: the checks that need no code, then all validators of the command, in order.

use std::time::Duration;

use toolwright_model::{Check, Validator};
use toolwright_sandbox::{Error, Pool};

use super::{Code, FunctionLimits, Knowledge, Role, input};
use crate::Json;

/// A validator that takes longer is slow, though it is heard (aios seed, Validators: target under 50 ms).
const SLOW: Duration = Duration::from_millis(50);

/// What validators say about arguments.
#[derive(Debug, Default)]
pub struct Judged {
    /// Why the call is refused; empty if it is not.
    pub errors: Vec<String>,
    /// What is odd about the validators themselves.
    pub warnings: Vec<String>,
    /// The first validator that could not do its work. The call is refused all the same.
    pub broken: Option<Error>,
}

impl Knowledge {
    /// Judges the arguments of a call. A validator that cannot do its work refuses.
    pub async fn judge(
        &self,
        command: &str,
        arguments: &Json,
        pool: Option<&Pool>,
        limits: &FunctionLimits,
    ) -> Judged {
        let mut judged = Judged::default();
        let own = self.model.validators.iter().zip(&self.validators);
        for (validator, code) in own.filter(|(v, _)| v.validates.as_deref() == Some(command)) {
            check(validator, arguments, &mut judged);
            let Some(pool) = pool else {
                judged.errors.push(format!("validator `{}` cannot run: there is no sandbox", code.id));
                continue;
            };
            let limits = limits.of(Role::Validator);
            match code.run(pool, &input(Role::Validator, arguments), &limits, None).await {
                Ok(output) => {
                    if output.cpu > SLOW {
                        let ms = output.cpu.as_millis();
                        judged.warnings.push(format!("validator `{}` took {ms} ms, more than 50", code.id));
                    }
                    let (errors, warning) = read_verdict(code, &output.value);
                    judged.errors.extend(errors);
                    judged.warnings.extend(warning);
                }
                Err(error) => {
                    judged.errors.push(code.explain(&error));
                    judged.broken.get_or_insert(error);
                }
            }
        }
        judged
    }
}

/// The checks that need no code.
fn check(validator: &Validator, arguments: &Json, judged: &mut Judged) {
    for check in &validator.checks {
        let Check::RequiredFields(fields) = check else { continue };
        let missing = fields.iter().filter(|field| arguments.get(field.as_str()).is_none_or(Json::is_null));
        judged.errors.extend(missing.map(|field| format!("{field} is required")));
    }
}

/// What a validator answered: why it refuses (nothing if it does not), and what is odd about the answer.
pub fn read_verdict(code: &Code, value: &Json) -> (Vec<String>, Option<String>) {
    let id = &code.id;
    let odd = |what: &str| format!("INVALID_VALIDATOR_RESULT: validator `{id}` {what}");
    let Some(valid) = value.get("valid").and_then(Json::as_bool) else {
        let shown = super::respond::shown(value);
        let what = odd(&format!("answered {shown}, expected {{ valid: boolean, errors: string[] }}"));
        return (vec![what], None);
    };
    let none = Vec::new();
    let (listed, mut warning) = match value.get("errors") {
        Some(Json::Array(errors)) => (errors, None),
        None | Some(Json::Null) => (&none, None),
        Some(_) => (&none, Some(odd("gave `errors` that are no list"))),
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
    (errors, warning)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn verdicts_of_all_kinds() {
        let code = Code::function(Role::Validator, "v", "", None);
        let read = |value: Json| {
            let (errors, warning) = read_verdict(&code, &value);
            (errors.join("|"), warning.is_some())
        };
        let refused = |text: &str, odd: bool| (text.to_owned(), odd);
        for (value, expected) in [
            (json!({"valid": true, "errors": []}), refused("", false)),
            (json!({"valid": true}), refused("", false)),
            (json!({"valid": true, "errors": null}), refused("", false)),
            (json!({"valid": false, "errors": ["a", "b"]}), refused("a|b", false)),
            (json!({"valid": true, "errors": ["a"]}), refused("a", true)),
            (json!({"valid": false, "errors": [{"message": "a", "field": "x"}]}), refused("a", true)),
            (json!({"valid": false, "errors": [7]}), refused("7", true)),
            (
                json!({"valid": false, "errors": "a"}),
                refused("validator `v` refuses the arguments and does not say why", true),
            ),
            (
                json!({"valid": false}),
                refused("validator `v` refuses the arguments and does not say why", false),
            ),
        ] {
            assert_eq!(read(value.clone()), expected, "{value}");
        }
        for value in [json!(null), json!(true), json!({"ok": true}), json!({"valid": "yes"}), json!([])] {
            let (errors, _) = read(value.clone());
            assert!(errors.starts_with("INVALID_VALIDATOR_RESULT"), "{value}: {errors}");
        }
    }
}
