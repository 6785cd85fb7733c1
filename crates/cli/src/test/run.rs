//! Runs one example as a test.
//!
//! | format | the example passes if |
//! |---|---|
//! | AIOS | the validators of its command accept its input, or refuse it with its `error` |
//! | others | input and output match the schemas |
//! | all, with `--run` | the call of the tool returns the output, or fails with the error |
//!
//! An example that cannot show anything is skipped, not passed: one without a scenario, one for a
//! tool that needs a browser, one without validators or schemas that is not called. Validators run
//! in the sandbox with the limits of `serve`. How results are printed is in `render`.
//!
//! ```text
//! example ─▶ validators or schemas ─┬─ against its `output` or `error` ─▶ Failed
//!                                   ├─ a refusal that it expects ───────▶ Passed
//!                                   └─ accepted ─ with --run ─▶ call_tool ─▶ compare
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::Catalog;
use toolwright_exec::knowledge::{
    FunctionRunner, KnowledgeBudget, RunnableKnowledge, ValidatorVerdict,
};
use toolwright_exec::{
    Budget, CallArguments, CallLimits, CallRequest, Failure, Log, Outcome, RunCode, code,
};
use toolwright_model::{Binding, Example, ExpectedError};
use toolwright_sandbox::WorkerPool;
use toolwright_schema::{SchemaValidator, ValidateError};
use toolwright_script::ScriptAnalyzer;
use toolwright_source::RecordPath;
use toolwright_workspace::examples::{ExampleCase, Expectation};

use crate::grant_question::TerminalHost;

/// The result of one example.
///
/// There is one for each case, in the order of the cases.
pub(super) struct ExampleResult {
    pub(super) status: ExampleStatus,
    /// The wall-clock time, with the call of the tool.
    pub(super) time: Duration,
    /// Set if the sandbox cannot start. This concerns all examples, so the command fails with it.
    pub(super) no_sandbox: Option<String>,
}

/// What validators show about an example.
///
/// Decides whether `--run` calls the tool.
enum ScenarioStatus {
    /// All of it: the tool need not be called.
    Decided(ExampleStatus),
    /// That the call may be made. The status is that of the example if it is not made.
    Undecided(ExampleStatus),
}

/// The scenario of an error that the service behind the tool reports (aios seed, Required
/// Scenarios): validators accept such a call. So its `error` is compared with the call only, and
/// never with the validators.
const API_ERROR_SCENARIO: &str = "failure_api_error";

/// Whether an example passed.
pub(super) enum ExampleStatus {
    /// It agrees with the definition.
    Passed,
    /// It does not; one line per mistake, the first one a summary.
    Failed(Vec<String>),
    /// It can neither pass nor fail, for this reason.
    Skipped(String),
}

/// Everything that running examples needs. Shared by all examples of a run.
pub(super) struct ExampleRunner<'a> {
    /// The sandbox for validators.
    pub(super) pool: &'a WorkerPool,
    /// Locates exceptions of validators in their source.
    pub(super) analyzer: &'a Arc<dyn ScriptAnalyzer>,
    /// Time and memory of one validator, and the time of all of them, from the configuration.
    pub(super) limits: &'a CallLimits,
    /// The functions of each loaded document, by `ExampleCase::document`.
    pub(super) knowledge: &'a [Option<Arc<RunnableKnowledge>>],
    /// The tools, with `--run`.
    pub(super) catalog: Option<&'a Catalog>,
    /// Whether a result with more members than the expected output fails.
    pub(super) exact: bool,
}

impl ExampleRunner<'_> {
    /// Runs one example. Never fails: every failure is a status.
    pub(super) async fn run(&self, case: &ExampleCase) -> ExampleResult {
        let began = Instant::now();
        let mut no_sandbox = None;
        let status = match &case.expectation {
            // Without a scenario it would be skipped under the name of a command, too.
            Expectation::NotACommand if case.example.scenario.is_none() => {
                ExampleStatus::Skipped("it has no `scenario`".to_owned())
            }
            Expectation::NotACommand => {
                ExampleStatus::Skipped(format!("`{}` is not a command of the tool", case.command))
            }
            Expectation::Validators => {
                let knowledge = self.knowledge[case.document].as_deref();
                match (self.run_validators(case, knowledge, &mut no_sandbox).await, self.catalog) {
                    // A wrong example is not called: its result would show nothing. One that
                    // validators refuse as it promises never reaches the tool.
                    (ScenarioStatus::Undecided(_), Some(catalog)) => {
                        self.call_tool(case, catalog).await
                    }
                    (ScenarioStatus::Undecided(status) | ScenarioStatus::Decided(status), _) => {
                        status
                    }
                }
            }
            Expectation::Schemas { input, output } => {
                self.check_schemas(case, input.as_ref(), output.as_ref()).await
            }
        };
        ExampleResult { status, time: began.elapsed(), no_sandbox }
    }

    /// Runs the validators of an AIOS command on the input of an example, and compares their
    /// verdict with the example: `output` means that they must accept the input, `error` that they
    /// must refuse it with a message that contains the example's.
    ///
    /// ```text
    /// example        │ validators │ without a call │ with --run
    /// output         │ accept     │ passed         │ the call decides
    /// output         │ refuse     │ failed         │ failed
    /// error          │ refuse     │ passed         │ passed
    /// error          │ accept     │ failed         │ failed
    /// error of API   │ accept     │ passed         │ the call decides
    /// either         │ none       │ skipped        │ the call decides
    /// ```
    async fn run_validators(
        &self,
        case: &ExampleCase,
        knowledge: Option<&RunnableKnowledge>,
        no_sandbox: &mut Option<String>,
    ) -> ScenarioStatus {
        let Example { scenario, input, output, error, .. } = &case.example;
        let scenario = scenario.as_deref().filter(|scenario| !scenario.trim().is_empty());
        let Some(scenario) = scenario else {
            let why = "it has no `scenario`".to_owned();
            return ScenarioStatus::Decided(ExampleStatus::Skipped(why));
        };
        // An incomplete example is a mistake of its author, so it fails.
        let failed = |line: String| ScenarioStatus::Decided(ExampleStatus::Failed(vec![line]));
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
        // An error of the API happens after the validators, so they must accept the input.
        let refused = error.as_ref().filter(|_| scenario != API_ERROR_SCENARIO);
        let Some(knowledge) = knowledge.filter(|knowledge| knowledge.has_validators(&case.command))
        else {
            // Nothing has looked at the input. Only the call can show whether the example is right.
            let why = match refused {
                Some(_) => format!("`{}` has no validator that could refuse it", case.command),
                None => format!("`{}` has no validator; `--run` calls it", case.command),
            };
            return ScenarioStatus::Undecided(ExampleStatus::Skipped(why));
        };
        // The console of validators is dropped: `eval` shows it.
        let log = Log::default();
        let cancel = CancellationToken::new();
        let budget = Budget::fixed(self.limits.timeout, cancel, self.limits.output);
        let functions = FunctionRunner {
            tool: &case.command,
            pool: Some(self.pool),
            analyzer: Some(self.analyzer),
            limits: &self.limits.functions,
            log: &log,
            budget: &budget,
            usage: &KnowledgeBudget::default(),
        };
        let input = CallArguments::from(input.clone());
        let verdict = knowledge.judge(&case.command, &input, functions).await;
        match verdict.stopped {
            // Not a fault of the example: the caller ends the whole run with this message.
            Some(failure) if failure.code == &code::SANDBOX_FAILED => {
                *no_sandbox = Some(failure.message);
                return failed("its validators could not run".to_owned());
            }
            Some(failure) => return failed(failure.message),
            None => {}
        }
        match compare_verdict(verdict, refused) {
            ExampleStatus::Passed if refused.is_none() => {
                ScenarioStatus::Undecided(ExampleStatus::Passed)
            }
            status => ScenarioStatus::Decided(status),
        }
    }

    /// Checks input and output against the schemas of the tool, then calls it with `--run`. An
    /// example without an output is valid for every output schema. Without any schema it is
    /// skipped, unless the call is made.
    async fn check_schemas(
        &self,
        case: &ExampleCase,
        input: Option<&Json>,
        output: Option<&Json>,
    ) -> ExampleStatus {
        let example = &case.example;
        if example.input.is_none() {
            return ExampleStatus::Failed(vec!["it has no `input`".to_owned()]);
        }
        let mut wrong = schema_errors("input", input, example.input.as_ref());
        wrong.extend(schema_errors("output", output, example.output.as_ref()));
        match (wrong.is_empty(), self.catalog) {
            // The tool is not called: with a wrong example its result would show nothing.
            (false, _) => ExampleStatus::Failed(wrong),
            (true, None) if input.is_none() && (output.is_none() || example.output.is_none()) => {
                let why = format!("`{}` has no schema; `--run` calls it", case.command);
                ExampleStatus::Skipped(why)
            }
            (true, None) => ExampleStatus::Passed,
            (true, Some(catalog)) => self.call_tool(case, catalog).await,
        }
    }

    /// Calls the tool with the input of the example, and compares the result with its output.
    ///
    /// Goes through the runner, so limits, policy and validators are those of `serve`. A call that
    /// nobody has allowed is skipped, with the option that allows it. The example passes if the
    /// call ends as it states. Members of the result that the example does not have are allowed
    /// unless `exact`.
    async fn call_tool(&self, case: &ExampleCase, catalog: &Catalog) -> ExampleStatus {
        // Ids are unique in the registry: the call would reach the tool of the other file.
        if let Some(file) = &case.shadowed_by {
            let other = format!(
                "it was not called: `{file}` also defines `{}`, and that tool would be called",
                case.tool
            );
            return ExampleStatus::Failed(vec![
                other,
                "test the two files one at a time".to_owned(),
            ]);
        }
        // Without a time-out of its own: the limits of the configuration hold, as in `serve`.
        let mut request = CallRequest::new(case.reference.clone());
        let input = case.example.input.clone();
        request.arguments = input.unwrap_or_else(|| serde_json::json!({})).into();
        let result = catalog.runner().call(request, &TerminalHost).await;
        if let Some(expected) = &case.example.error {
            let is_api_error = case.example.scenario.as_deref() == Some(API_ERROR_SCENARIO);
            return compare_failure(expected, result, is_api_error);
        }
        let outcome = match result {
            Ok(outcome) => outcome,
            // A BTCP tool that works on a page cannot run here at all.
            Err(failure) if failure.code == &code::BROWSER_REQUIRED => {
                return ExampleStatus::Skipped(failure.message);
            }
            Err(failure) if failure.code == &code::CAPABILITY_DENIED => {
                return not_allowed(&failure);
            }
            Err(failure) => {
                return ExampleStatus::Failed(
                    failure.to_text().lines().map(str::to_owned).collect(),
                );
            }
        };
        if outcome.is_error {
            return ExampleStatus::Failed(vec![format!(
                "the tool reported a failure: {}",
                outcome.texts()
            )]);
        }
        // An example without an output promises only that the call succeeds.
        let Some(expected) = &case.example.output else { return ExampleStatus::Passed };
        // A tool that returns text is compared as text, even if the text is valid JSON. A BTCP body
        // always returns text.
        let registry = catalog.runner().registry();
        let has_body = registry
            .get(&case.reference)
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

/// Failures of calls that did not reach their tool, whatever it would have said. An example that
/// expects any failure must not pass because the server was down. One that names such a code itself
/// may pass.
const NEVER_RAN: [&RunCode; 8] = [
    &code::BUSY,
    &code::CANCELLED,
    &code::NOT_RUNNABLE,
    &code::QUARANTINED,
    &code::SANDBOX_FAILED,
    &code::SPAWN_FAILED,
    &code::TOOL_NOT_FOUND,
    &code::UPSTREAM_UNAVAILABLE,
];

/// What nobody has allowed shows nothing about an example. The message is that of the refusal, with
/// the option that would allow the call.
fn not_allowed(failure: &Failure) -> ExampleStatus {
    ExampleStatus::Skipped(format!("{}; `--allow`", failure.message))
}

/// What a failure says about the call, without the suggestion, which is not the tool's. With the
/// errors of single arguments, each on a line with its path: an expected message may be part of one
/// of them.
fn errors_of(failure: &Failure) -> String {
    let mut text = format!("{}: {}", failure.code.name, failure.message);
    for error in &failure.errors {
        text.push_str(&format!("\n{}: {}", error.path, error.message));
    }
    text
}

/// Compares a call that should have failed with the error that its example expects.
///
/// A message matches if it is part of the actual one. A code matches if it is the tool's own or the
/// call's, or if it is a word of the AIOS specification for that kind of failure. The code of
/// another vocabulary is compared only where the tool reports one. An example whose code and
/// message could not be compared is skipped.
///
/// `is_api_error` is set for the scenario in which the service behind the tool fails: validators
/// cannot cause that, and a service that works does not show it.
fn compare_failure(
    expected: &ExpectedError,
    result: Result<Outcome, Failure>,
    is_api_error: bool,
) -> ExampleStatus {
    let (codes, kind, text) = match &result {
        Ok(outcome) if !outcome.is_error => {
            let why = "the call must fail, but succeeded".to_owned();
            // A service does not fail on demand.
            return match is_api_error {
                true => ExampleStatus::Skipped(
                    "the service did not fail, so there was no error to compare".to_owned(),
                ),
                false => ExampleStatus::Failed(vec![why]),
            };
        }
        Ok(outcome) => {
            let value = outcome.value();
            let inner = value.get("error").filter(|it| it.is_object()).unwrap_or(&value);
            let own = inner.get("code").and_then(Json::as_str).map(str::to_owned);
            (own.into_iter().collect(), &code::TOOL_FAILED, outcome.texts())
        }
        Err(failure) if failure.code == &code::BROWSER_REQUIRED => {
            return ExampleStatus::Skipped(failure.message.clone());
        }
        Err(failure) if failure.code == &code::CAPABILITY_DENIED => return not_allowed(failure),
        // It shows nothing about the example, unless exactly this was expected.
        Err(failure)
            if NEVER_RAN.contains(&failure.code)
                && expected.code.as_deref() != Some(failure.code.name) =>
        {
            let first = "the call must fail, but it never reached the tool:".to_owned();
            let lines = failure.to_text();
            let lines = lines.lines().map(|line| format!("  {line}"));
            return ExampleStatus::Failed(std::iter::once(first).chain(lines).collect());
        }
        Err(failure) => {
            let own = failure.tool_code.as_deref().map(str::to_owned);
            (own.into_iter().collect::<Vec<_>>(), failure.code, errors_of(failure))
        }
    };
    let mut wrong = Vec::new();
    let message = expected.message.as_deref().filter(|message| !message.is_empty());
    if let Some(message) = message.filter(|message| !text.contains(*message)) {
        wrong.push(format!("expected an error that contains `{message}`, but the call failed:"));
    }
    let code_matches = expected.code.as_deref().and_then(|code| matches_code(code, &codes, kind));
    if let (Some(false), Some(code)) = (code_matches, &expected.code) {
        let actual = codes.first().map_or(kind.name, String::as_str);
        wrong.push(format!("expected the code `{code}`, but the call failed with `{actual}`:"));
    }
    match (wrong.is_empty(), message.is_none() && code_matches.is_none()) {
        (false, _) => {
            wrong.extend(text.lines().map(|line| format!("  {line}")));
            ExampleStatus::Failed(wrong)
        }
        (true, true) if expected.code.is_some() => {
            let why = "the call failed, but it reports no code that could be compared";
            ExampleStatus::Skipped(why.to_owned())
        }
        // An expected error without code and message is met by any failure.
        (true, _) => ExampleStatus::Passed,
    }
}

/// Whether an expected code is that of a failure; `None` if that is not known. `own` are codes
/// that the tool reports itself.
///
/// ```text
/// expected           │ own code    │ result
/// NOT_FOUND          │ NOT_FOUND   │ yes
/// NOT_FOUND          │ GONE        │ no
/// VALIDATION_ERROR   │ none        │ whether the call was refused before it ran
/// TIMEOUT            │ none        │ whether the call ended with TIMEOUT
/// RATE_LIMIT         │ none        │ not known
/// ```
fn matches_code(expected: &str, own: &[String], kind: &RunCode) -> Option<bool> {
    let is_refusal = [&code::VALIDATION_FAILED, &code::INPUT_INVALID].contains(&kind);
    match expected {
        _ if own.iter().any(|own| own == expected) || expected == kind.name => Some(true),
        _ if !own.is_empty() => Some(false),
        // The words of the AIOS specification (Enhanced Examples).
        "VALIDATION_ERROR" | "FORMAT_ERROR" => Some(is_refusal),
        "API_ERROR" => Some(!is_refusal),
        _ if code::ALL.iter().any(|known| known.name == expected) => Some(false),
        _ => None,
    }
}

/// Compares what the validators decided with the error that the example expects; `None` if it
/// expects that they accept the input.
///
/// An expected error without a message is met by any refusal. Validators report messages only, so
/// its code is compared with that of a refused call; one of another vocabulary is not compared.
fn compare_verdict(verdict: ValidatorVerdict, refused: Option<&ExpectedError>) -> ExampleStatus {
    let message = refused.and_then(|expected| expected.message.as_deref());
    // A validator may throw the expected message instead of returning it. An empty message would be
    // part of every exception, also of a programming error.
    let thrown = message.filter(|message| !message.is_empty());
    let exceptions = verdict.thrown.into_texts("exceptions");
    if thrown.is_some_and(|message| exceptions.iter().any(|it| it.contains(message))) {
        return ExampleStatus::Passed;
    }
    let failed = |first: String, errors: Vec<String>| {
        ExampleStatus::Failed(std::iter::once(first).chain(errors).collect())
    };
    // A validator that fails refuses a call for safety, but a refusal for the wrong reason must not
    // let the example of an expected refusal pass.
    let reported = verdict.errors.into_texts("errors");
    if verdict.broken {
        return failed("a validator failed:".to_owned(), reported);
    }
    // Indented below the first line, which is a summary.
    let errors = reported.iter().map(|error| format!("  {error}")).collect();
    match (refused, reported.is_empty()) {
        (None, true) => ExampleStatus::Passed,
        (None, false) => failed("the validators must accept it, but report:".to_owned(), errors),
        (Some(_), true) => {
            failed("the validators must refuse it, but accept it".to_owned(), errors)
        }
        (Some(ExpectedError { code: Some(code), .. }), false)
            if matches_code(code, &[], &code::VALIDATION_FAILED) == Some(false) =>
        {
            let actual = code::VALIDATION_FAILED.name;
            let first =
                format!("expected the code `{code}`, but the validators refuse it (`{actual}`):");
            failed(first, errors)
        }
        (Some(_), false) => match message {
            Some(message) if !reported.iter().any(|error| error.contains(message)) => {
                let first = format!(
                    "expected an error that contains `{message}`, but the validators report:"
                );
                failed(first, errors)
            }
            _ => ExampleStatus::Passed,
        },
    }
}

/// The violations of a schema, one line each. A missing schema or value cannot be violated. `which`
/// is `input` or `output`, the first part of each path. A schema that does not compile is an error
/// of its own, because nothing can be validated with it.
fn schema_errors(which: &str, schema: Option<&Json>, value: Option<&Json>) -> Vec<String> {
    let (Some(schema), Some(value)) = (schema, value) else { return Vec::new() };
    match SchemaValidator::validate(schema, value) {
        Ok(()) => Vec::new(),
        Err(ValidateError::Schema(error)) => {
            vec![format!("`{which}Schema` is not a valid schema: {error}")]
        }
        Err(ValidateError::Instance(failures)) => failures
            .iter()
            .map(|failure| format!("`{which}{}`: {}", failure.instance_path, failure.message))
            .collect(),
    }
}

/// Collects the differences between the expected and the actual value, with their paths. Objects
/// may have more members than expected unless `exact`; lists must have the same length, because a
/// shorter list is rarely a part of a longer one. Recursive: values of examples are at most as deep
/// as documents can be.
fn compare(expected: &Json, actual: &Json, exact: bool, at: &RecordPath, wrong: &mut Vec<String>) {
    match (expected, actual) {
        (Json::Object(expected), Json::Object(actual)) => {
            for (name, value) in expected {
                match actual.get(name) {
                    Some(other) => compare(value, other, exact, &at.child(name), wrong),
                    None => wrong.push(format!("`{}` is missing in the result", at.child(name))),
                }
            }
            let more = actual.keys().filter(|name| exact && !expected.contains_key(*name));
            wrong.extend(
                more.map(|name| format!("`{}` is in the result but not expected", at.child(name))),
            );
        }
        (Json::Array(expected), Json::Array(actual)) if expected.len() == actual.len() => {
            for (n, (value, other)) in expected.iter().zip(actual).enumerate() {
                compare(value, other, exact, &at.child(n), wrong);
            }
        }
        // `3` and `3.0` are the same number. Two integers are compared exactly, below: as floating
        // point numbers, large ones would be equal to their neighbours.
        (Json::Number(a), Json::Number(b))
            if (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64() => {}
        // Lists of different lengths fail this test and are reported as a whole.
        (expected, actual) if expected == actual => {}
        (expected, actual) => {
            let place =
                if at.as_str().is_empty() { "the result".to_owned() } else { format!("`{at}`") };
            wrong.push(format!(
                "{place} is {}, expected {}",
                shorten_json(actual),
                shorten_json(expected)
            ));
        }
    }
}

/// The value as JSON, cut to the length of a message.
fn shorten_json(value: &Json) -> String {
    toolwright_source::words::shorten(&value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_compared_member_by_member() {
        let wrong = |expected: Json, actual: Json, exact: bool| {
            let mut wrong = Vec::new();
            compare(&expected, &actual, exact, &RecordPath::root(), &mut wrong);
            wrong.join("; ")
        };
        let more = json!({"a": {"b": [1.0, {"c": 2, "d": 3}]}, "e": null});
        assert_eq!(wrong(json!({"a": {"b": [1, {"c": 2}]}}), more.clone(), false), "");
        assert_eq!(
            wrong(json!({"a": {"b": [1, {"c": 2}]}}), more.clone(), true),
            "`/a/b/1/d` is in the result but not expected; `/e` is in the result but not expected"
        );
        assert_eq!(wrong(more.clone(), more.clone(), true), "");
        assert_eq!(
            wrong(json!({"a": {"b": [1]}, "x": 1}), more, false),
            "`/a/b` is [1.0,{\"c\":2,\"d\":3}], expected [1]; `/x` is missing in the result"
        );
        assert_eq!(wrong(json!("a"), json!("b"), false), "the result is \"b\", expected \"a\"");
    }
}
