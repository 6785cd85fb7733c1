//! One example as a test: what must come of it, and whether it does.
//!
//! An AIOS example is judged by the validators of its command. In the other formats the input must
//! match the input schema and the output the output schema; with `--run` the tool must give that
//! output, too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use toolwright_catalog::{Catalog, Load};
use toolwright_exec::knowledge::{FunctionLimits, FunctionRunner, Knowledge};
use toolwright_exec::{Log, Quiet, Request, code};
use toolwright_formats::Reading;
use toolwright_model::{Binding, Draft, Example, InputSchema};
use toolwright_sandbox::Pool;
use toolwright_schema::Schema;
use toolwright_script::ScriptAnalyzer;
use toolwright_source::Pointer;

/// An example, and where it stands.
pub(super) struct Case {
    pub(super) file: String,
    pub(super) line: usize,
    /// The id of its tool.
    pub(super) tool: String,
    pub(super) name: String,
    /// Its tool's name among the commands of its toolset.
    command: String,
    example: Example,
    kind: Kind,
    /// The file before its own that has a tool of the same id. A call reaches that one.
    called_instead: Option<String>,
}

enum Kind {
    /// It stands under a name that is no command.
    Stray,
    /// The validators of its command judge it.
    Judged(Option<Arc<Knowledge>>),
    /// Its values are held against the schemas of its tool.
    Typed { input: Option<Json>, output: Option<Json> },
}

/// What came of an example.
pub(super) struct Tried {
    pub(super) status: Status,
    pub(super) time: Duration,
    /// Why no example can be judged.
    pub(super) no_sandbox: Option<String>,
}

pub(super) enum Status {
    Passed,
    /// What is wrong, a line each.
    Failed(Vec<String>),
    /// Why it says nothing.
    Skipped(String),
}

impl Case {
    /// Whether its name or that of its tool has this part.
    pub(super) fn is_called(&self, part: &str) -> bool {
        let part = part.to_lowercase();
        format!("{} {}", self.tool, self.name).to_lowercase().contains(&part)
    }
}

/// Every example of every definition, in order.
pub(super) fn all(load: &Load) -> Vec<Case> {
    let readings = || load.files.iter().filter_map(|file| file.reading.as_ref());
    let mut first: HashMap<String, &str> = HashMap::new();
    for reading in readings() {
        let drafts = reading.toolset.tools.iter();
        for id in drafts.filter_map(|draft| draft.id(reading.toolset.namespace.ok())) {
            first.entry(id.to_string()).or_insert(reading.origin.document().source().name());
        }
    }
    let mut cases: Vec<Case> = readings().flat_map(of_reading).collect();
    for case in &mut cases {
        let file = first.get(&case.tool).filter(|file| **file != case.file);
        case.called_instead = file.map(|file| (*file).to_owned());
    }
    cases
}

fn of_reading(reading: &Reading) -> Vec<Case> {
    let source = reading.origin.document().source();
    let knowledge = toolwright_catalog::knowledge(reading).map(Arc::new);
    let mut cases = Vec::new();
    for (n, draft) in reading.toolset.tools.iter().enumerate() {
        let Some(id) = draft.id(reading.toolset.namespace.ok()) else { continue };
        let tool = Pointer::root().child("tools").child(n);
        let own = draft.details.examples.iter().enumerate().map(|(m, example)| {
            (tool.child("examples").child(m), name_of(example, m), example.clone())
        });
        let of_schema = examples_of_schema(reading, draft).iter().enumerate().map(|(m, input)| {
            let example = Example { input: Some(input.clone()), ..Example::default() };
            let at = tool.child("inputSchema").child("examples").child(m);
            (at, format!("example {} of its schema", m + 1), example)
        });
        for (at, name, example) in own.chain(of_schema) {
            let byte = reading.origin.place(&at).value.start as usize;
            cases.push(Case {
                file: source.name().to_owned(),
                line: source.line_column(byte).line,
                tool: id.to_string(),
                name,
                command: draft.name.ok().map(ToString::to_string).unwrap_or_default(),
                example,
                kind: kind_of(reading, draft, knowledge.as_ref()),
                called_instead: None,
            });
        }
    }
    if reading.format.0 == "aios" {
        cases.extend(strays(reading));
    }
    cases
}

/// The examples of an input schema, which is where MCP tools have them. Those of AIOS are of
/// another kind.
fn examples_of_schema<'a>(reading: &Reading, draft: &'a Draft) -> &'a [Json] {
    match draft.input.ok() {
        Some(InputSchema::Written(schema)) if reading.format.0 != "aios" => {
            schema["examples"].as_array().map(Vec::as_slice).unwrap_or_default()
        }
        _ => &[],
    }
}

/// Examples under names that are no commands: they say nothing about any tool, and are shown all
/// the same.
fn strays(reading: &Reading) -> Vec<Case> {
    let document = reading.origin.document();
    let root = document.root();
    let Some(examples) = root.get("tool").unwrap_or(root).get("examples") else {
        return Vec::new();
    };
    let is_command = |name: &str| {
        reading
            .toolset
            .tools
            .iter()
            .any(|draft| draft.name.ok().is_some_and(|known| known.as_str() == name))
    };
    let namespace =
        reading.toolset.namespace.ok().map(|namespace| format!("{namespace}:")).unwrap_or_default();
    let mut cases = Vec::new();
    for entry in examples.entries().into_iter().filter(|entry| !is_command(entry.name())) {
        for (n, item) in entry.value.items().enumerate() {
            let text = |name: &str| item.get(name).and_then(|node| node.text()).map(str::to_owned);
            let example = Example {
                scenario: text("scenario"),
                description: text("description"),
                ..Example::default()
            };
            cases.push(Case {
                file: document.source().name().to_owned(),
                line: document.source().line_column(item.span().start as usize).line,
                tool: format!("{namespace}{}", entry.name()),
                name: name_of(&example, n),
                command: entry.name().to_owned(),
                example,
                kind: Kind::Stray,
                called_instead: None,
            });
        }
    }
    cases
}

fn kind_of(reading: &Reading, draft: &Draft, knowledge: Option<&Arc<Knowledge>>) -> Kind {
    if reading.format.0 == "aios" {
        return Kind::Judged(knowledge.cloned());
    }
    let input = match draft.input.ok() {
        Some(InputSchema::Written(schema)) => Some(schema.clone()),
        _ => None,
    };
    Kind::Typed { input, output: draft.output.ok().cloned() }
}

fn name_of(example: &Example, n: usize) -> String {
    match (&example.scenario, &example.description) {
        (Some(scenario), Some(description)) => format!("{scenario}: {}", description.trim()),
        (Some(only), None) | (None, Some(only)) => only.trim().to_owned(),
        (None, None) => format!("example {}", n + 1),
    }
}

/// What examples are tried with.
pub(super) struct Bench<'a> {
    pub(super) pool: &'a Pool,
    pub(super) analyzer: &'a dyn ScriptAnalyzer,
    pub(super) limits: &'a FunctionLimits,
    /// The tools to call, if they are to be called.
    pub(super) catalog: Option<&'a Catalog>,
    /// Whether an answer must be the expected one, not only hold it.
    pub(super) exact: bool,
}

impl Bench<'_> {
    pub(super) async fn try_one(&self, case: &Case) -> Tried {
        let began = Instant::now();
        let mut no_sandbox = None;
        let status = match &case.kind {
            Kind::Stray if case.example.scenario.is_none() => {
                Status::Skipped("it has no `scenario`".to_owned())
            }
            Kind::Stray => Status::Skipped(format!("`{}` is no command of the tool", case.command)),
            Kind::Judged(knowledge) => {
                self.judged(case, knowledge.as_deref(), &mut no_sandbox).await
            }
            Kind::Typed { input, output } => {
                self.typed(case, input.as_ref(), output.as_ref()).await
            }
        };
        Tried { status, time: began.elapsed(), no_sandbox }
    }

    /// aios readings, examples as tests.
    async fn judged(
        &self,
        case: &Case,
        knowledge: Option<&Knowledge>,
        no_sandbox: &mut Option<String>,
    ) -> Status {
        let Example { scenario, input, output, error, .. } = &case.example;
        let scenario = scenario.as_deref().filter(|scenario| !scenario.trim().is_empty());
        let Some(scenario) = scenario else {
            return Status::Skipped("it has no `scenario`".to_owned());
        };
        let failed = |line: String| Status::Failed(vec![line]);
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
                Some(_) => Status::Skipped(format!(
                    "`{}` has no validator that could refuse it",
                    case.command
                )),
                None => Status::Passed,
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
            return Status::Passed;
        }
        if judged.broken {
            // A validator that cannot do its work refuses a call, but shows nothing about an
            // example.
            let first = "a validator could not judge it:".to_owned();
            return Status::Failed(std::iter::once(first).chain(judged.errors).collect());
        }
        let said = || judged.errors.iter().map(|error| format!("  {error}"));
        match refused {
            None if judged.errors.is_empty() => Status::Passed,
            None => Status::Failed(
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
                    Status::Failed(std::iter::once(first).chain(said()).collect())
                }
                _ => Status::Passed,
            },
        }
    }

    async fn typed(&self, case: &Case, input: Option<&Json>, output: Option<&Json>) -> Status {
        let example = &case.example;
        if example.input.is_none() {
            return Status::Failed(vec!["it has no `input`".to_owned()]);
        }
        let mut wrong = mismatch("input", input, example.input.as_ref());
        wrong.extend(mismatch("output", output, example.output.as_ref()));
        match (wrong.is_empty(), self.catalog) {
            (false, _) => Status::Failed(wrong),
            (true, None) => Status::Passed,
            (true, Some(catalog)) => self.called(case, catalog).await,
        }
    }

    /// Calls the tool and looks at its answer.
    async fn called(&self, case: &Case, catalog: &Catalog) -> Status {
        if let Some(file) = &case.called_instead {
            let other = format!(
                "it was not called: `{}` is a tool of `{file}` too, and that one would answer",
                case.tool
            );
            return Status::Failed(vec![other, "test the two files one at a time".to_owned()]);
        }
        let mut request = Request::new(case.tool.clone());
        request.arguments = case.example.input.clone().unwrap_or_else(|| serde_json::json!({}));
        let outcome = match catalog.runner().call(request, &Quiet).await {
            Ok(outcome) => outcome,
            Err(failure) if failure.code == &code::BROWSER_REQUIRED => {
                return Status::Skipped(failure.message);
            }
            Err(failure) => {
                return Status::Failed(failure.to_text().lines().map(str::to_owned).collect());
            }
        };
        if outcome.is_error {
            return Status::Failed(vec![format!(
                "the tool says that it failed: {}",
                outcome.texts()
            )]);
        }
        let Some(expected) = &case.example.output else { return Status::Passed };
        // A text is compared as one, also if it could be read as JSON; of a body it is known to be
        // one.
        let toolbox = catalog.runner().toolbox();
        let has_body = toolbox
            .get(&case.tool)
            .is_some_and(|entry| entry.tool.details.binding == Binding::Script);
        let value = match &outcome.structured {
            None if has_body || expected.is_string() => Json::String(outcome.texts()),
            _ => outcome.value(),
        };
        let mut wrong = Vec::new();
        compare(expected, &value, self.exact, &Pointer::root(), &mut wrong);
        if wrong.is_empty() { Status::Passed } else { Status::Failed(wrong) }
    }
}

fn mismatch(which: &str, schema: Option<&Json>, value: Option<&Json>) -> Vec<String> {
    let (Some(schema), Some(value)) = (schema, value) else { return Vec::new() };
    let schema = match Schema::compile(schema) {
        Ok(schema) => schema,
        Err(error) => return vec![format!("`{which}Schema` is none: {error}")],
    };
    match schema.validate(value) {
        Ok(()) => Vec::new(),
        Err(failures) => failures
            .iter()
            .map(|failure| format!("`{which}{}`: {}", failure.instance_path, failure.message))
            .collect(),
    }
}

/// What of the expected value is not in the actual one. Members may be more than expected unless it
/// must be exact; lists have the same length.
fn compare(expected: &Json, actual: &Json, exact: bool, at: &Pointer, wrong: &mut Vec<String>) {
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
            compare(&expected, &actual, exact, &Pointer::root(), &mut wrong);
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
