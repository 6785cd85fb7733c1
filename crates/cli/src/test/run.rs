//! Runs one example as a test, and says what came of it.
//!
//! An AIOS example is judged by the validators of its command. In the other formats the input must
//! match the input schema and the output the output schema; with `--run` the tool must return that
//! output, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use toolwright_catalog::Catalog;
use toolwright_exec::knowledge::{FunctionRunner, RunnableKnowledge};
use toolwright_exec::{CallRequest, Log, NoHost, code};
use toolwright_model::{Binding, Example, FunctionLimits};
use toolwright_sandbox::WorkerPool;
use toolwright_schema::{SchemaValidator, ValidateError};
use toolwright_script::ScriptAnalyzer;
use toolwright_source::RecordPath;
use toolwright_workspace::examples::{ExampleCase, Expectation};

/// What came of an example.
pub(super) struct ExampleResult {
    pub(super) status: ExampleStatus,
    pub(super) time: Duration,
    /// Why no example can be judged.
    pub(super) no_sandbox: Option<String>,
}

pub(super) enum ExampleStatus {
    Passed,
    /// What is wrong, a line each.
    Failed(Vec<String>),
    /// Why it says nothing.
    Skipped(String),
}

/// What examples are run with.
pub(super) struct ExampleRunner<'a> {
    pub(super) pool: &'a WorkerPool,
    pub(super) analyzer: &'a dyn ScriptAnalyzer,
    pub(super) limits: &'a FunctionLimits,
    /// The functions of each document that was loaded, by its number.
    pub(super) knowledge: &'a [Option<Arc<RunnableKnowledge>>],
    /// The tools to call, if they are to be called.
    pub(super) catalog: Option<&'a Catalog>,
    /// Whether an answer must be the expected one, not only hold it.
    pub(super) exact: bool,
}

impl ExampleRunner<'_> {
    pub(super) async fn run(&self, case: &ExampleCase) -> ExampleResult {
        let began = Instant::now();
        let mut no_sandbox = None;
        let status = match &case.expectation {
            Expectation::NotACommand if case.example.scenario.is_none() => {
                ExampleStatus::Skipped("it has no `scenario`".to_owned())
            }
            Expectation::NotACommand => {
                ExampleStatus::Skipped(format!("`{}` is not a command of the tool", case.command))
            }
            Expectation::Validators => {
                let knowledge = self.knowledge[case.document].as_deref();
                self.judged(case, knowledge, &mut no_sandbox).await
            }
            Expectation::Schemas { input, output } => {
                self.typed(case, input.as_ref(), output.as_ref()).await
            }
        };
        ExampleResult { status, time: began.elapsed(), no_sandbox }
    }

    /// aios readings, examples as tests.
    async fn judged(
        &self,
        case: &ExampleCase,
        knowledge: Option<&RunnableKnowledge>,
        no_sandbox: &mut Option<String>,
    ) -> ExampleStatus {
        let Example { scenario, input, output, error, .. } = &case.example;
        let scenario = scenario.as_deref().filter(|scenario| !scenario.trim().is_empty());
        let Some(scenario) = scenario else {
            return ExampleStatus::Skipped("it has no `scenario`".to_owned());
        };
        let failed = |line: String| ExampleStatus::Failed(vec![line]);
        let Some(input) = input else { return failed("it has no `input`".to_owned()) };
        match (output, error) {
            (None, None) => {
                return failed(
                    "it has neither `output` nor an `error` that can be read".to_owned(),
                );
            }
            (Some(_), Some(_)) => return failed("it has both `output` and `error`".to_owned()),
            _ => {}
        }
        let refused = error.as_ref().filter(|_| scenario != "failure_api_error");
        let Some(knowledge) = knowledge.filter(|knowledge| knowledge.has_validators(&case.command))
        else {
            return match refused {
                Some(_) => ExampleStatus::Skipped(format!(
                    "`{}` has no validator that could refuse it",
                    case.command
                )),
                None => ExampleStatus::Passed,
            };
        };
        let log = Log::default();
        let functions = FunctionRunner {
            pool: Some(self.pool),
            analyzer: Some(self.analyzer),
            limits: self.limits,
            log: &log,
        };
        let judged = knowledge.judge(&case.command, input, functions).await;
        if judged.no_sandbox.is_some() {
            *no_sandbox = judged.no_sandbox;
            return failed("it could not be judged".to_owned());
        }
        let expected = refused
            .and_then(|expected| expected.message.as_deref())
            .filter(|text| !text.is_empty());
        if expected
            .is_some_and(|message| judged.thrown.iter().any(|thrown| thrown.contains(message)))
        {
            return ExampleStatus::Passed;
        }
        if judged.broken {
            // A validator that cannot do its work refuses a call, but shows nothing about an
            // example.
            let first = "a validator could not judge it:".to_owned();
            return ExampleStatus::Failed(std::iter::once(first).chain(judged.errors).collect());
        }
        let said = || judged.errors.iter().map(|error| format!("  {error}"));
        match refused {
            None if judged.errors.is_empty() => ExampleStatus::Passed,
            None => ExampleStatus::Failed(
                std::iter::once("the validators should pass it, and say:".to_owned())
                    .chain(said())
                    .collect(),
            ),
            Some(_) if judged.errors.is_empty() => {
                failed("the validators should refuse it, and pass it".to_owned())
            }
            Some(expected) => match &expected.message {
                Some(message)
                    if !judged.errors.iter().any(|error| error.contains(message.as_str())) =>
                {
                    let first =
                        format!("expected an error with `{message}` in it, the validators say:");
                    ExampleStatus::Failed(std::iter::once(first).chain(said()).collect())
                }
                _ => ExampleStatus::Passed,
            },
        }
    }

    async fn typed(
        &self,
        case: &ExampleCase,
        input: Option<&Json>,
        output: Option<&Json>,
    ) -> ExampleStatus {
        let example = &case.example;
        if example.input.is_none() {
            return ExampleStatus::Failed(vec!["it has no `input`".to_owned()]);
        }
        let mut wrong = mismatch("input", input, example.input.as_ref());
        wrong.extend(mismatch("output", output, example.output.as_ref()));
        match (wrong.is_empty(), self.catalog) {
            (false, _) => ExampleStatus::Failed(wrong),
            (true, None) => ExampleStatus::Passed,
            (true, Some(catalog)) => self.called(case, catalog).await,
        }
    }

    /// Calls the tool and looks at its answer.
    async fn called(&self, case: &ExampleCase, catalog: &Catalog) -> ExampleStatus {
        if let Some(file) = &case.shadowed_by {
            let other = format!(
                "it was not called: `{}` is a tool of `{file}` too, and that one would answer",
                case.tool
            );
            return ExampleStatus::Failed(vec![
                other,
                "test the two files one at a time".to_owned(),
            ]);
        }
        let mut request = CallRequest::new(case.tool.clone());
        request.arguments = case.example.input.clone().unwrap_or_else(|| serde_json::json!({}));
        let outcome = match catalog.runner().call(request, &NoHost).await {
            Ok(outcome) => outcome,
            Err(failure) if failure.code == &code::BROWSER_REQUIRED => {
                return ExampleStatus::Skipped(failure.message);
            }
            Err(failure) => {
                return ExampleStatus::Failed(
                    failure.to_text().lines().map(str::to_owned).collect(),
                );
            }
        };
        if outcome.is_error {
            return ExampleStatus::Failed(vec![format!(
                "the tool says that it failed: {}",
                outcome.texts()
            )]);
        }
        let Some(expected) = &case.example.output else { return ExampleStatus::Passed };
        // A text is compared as one, also if it could be read as JSON; of a body it is known to be
        // one.
        let toolbox = catalog.runner().registry();
        let has_body = toolbox
            .get(&case.tool)
            .is_some_and(|entry| entry.tool.details.binding == Binding::Script);
        let value = match &outcome.structured {
            None if has_body || expected.is_string() => Json::String(outcome.texts()),
            _ => outcome.value(),
        };
        let mut wrong = Vec::new();
        compare(expected, &value, self.exact, &RecordPath::root(), &mut wrong);
        if wrong.is_empty() { ExampleStatus::Passed } else { ExampleStatus::Failed(wrong) }
    }
}

fn mismatch(which: &str, schema: Option<&Json>, value: Option<&Json>) -> Vec<String> {
    let (Some(schema), Some(value)) = (schema, value) else { return Vec::new() };
    match SchemaValidator::validate(schema, value) {
        Ok(()) => Vec::new(),
        Err(ValidateError::Schema(error)) => vec![format!("`{which}Schema` is none: {error}")],
        Err(ValidateError::Instance(failures)) => failures
            .iter()
            .map(|failure| format!("`{which}{}`: {}", failure.instance_path, failure.message))
            .collect(),
    }
}

/// What of the expected value is not in the actual one. Members may be more than expected unless it
/// must be exact; lists have the same length.
fn compare(expected: &Json, actual: &Json, exact: bool, at: &RecordPath, wrong: &mut Vec<String>) {
    match (expected, actual) {
        (Json::Object(expected), Json::Object(actual)) => {
            for (name, value) in expected {
                match actual.get(name) {
                    Some(other) => compare(value, other, exact, &at.child(name), wrong),
                    None => wrong.push(format!("`{}` is missing in the answer", at.child(name))),
                }
            }
            let more = actual.keys().filter(|name| exact && !expected.contains_key(*name));
            wrong.extend(
                more.map(|name| format!("`{}` is in the answer and not expected", at.child(name))),
            );
        }
        (Json::Array(expected), Json::Array(actual)) if expected.len() == actual.len() => {
            for (n, (value, other)) in expected.iter().zip(actual).enumerate() {
                compare(value, other, exact, &at.child(n), wrong);
            }
        }
        // `3` and `3.0` are one number; whole numbers are compared to their last digit.
        (Json::Number(a), Json::Number(b))
            if (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64() => {}
        (expected, actual) if expected == actual => {}
        (expected, actual) => {
            let place =
                if at.as_str().is_empty() { "the answer".to_owned() } else { format!("`{at}`") };
            wrong.push(format!("{place} is {}, expected {}", shown(actual), shown(expected)));
        }
    }
}

fn shown(value: &Json) -> String {
    toolwright_source::words::shorten(&value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_hold_what_is_expected() {
        let wrong = |expected: Json, actual: Json, exact: bool| {
            let mut wrong = Vec::new();
            compare(&expected, &actual, exact, &RecordPath::root(), &mut wrong);
            wrong.join("; ")
        };
        let more = json!({"a": {"b": [1.0, {"c": 2, "d": 3}]}, "e": null});
        assert_eq!(wrong(json!({"a": {"b": [1, {"c": 2}]}}), more.clone(), false), "");
        assert_eq!(
            wrong(json!({"a": {"b": [1, {"c": 2}]}}), more.clone(), true),
            "`/a/b/1/d` is in the answer and not expected; `/e` is in the answer and not expected"
        );
        assert_eq!(wrong(more.clone(), more.clone(), true), "");
        assert_eq!(
            wrong(json!({"a": {"b": [1]}, "x": 1}), more, false),
            "`/a/b` is [1.0,{\"c\":2,\"d\":3}], expected [1]; `/x` is missing in the answer"
        );
        assert_eq!(wrong(json!("a"), json!("b"), false), "the answer is \"b\", expected \"a\"");
    }
}
