//! The programs of `tests/programs`, each with its expected outcome: `//// NAME => JSON`, or a code
//! with part of the message, alternatives separated by `|`. Lines that begin with `//@` set up the
//! call. After each program the parent must not have grown, and the pool must answer the next call.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};
use toolwright_sandbox::{
    GuestLimits, ProgramForm, ProgramInput, ProgramOutput, SandboxError, SandboxErrorCode,
};

use crate::support::{POOL, PROCESS_METRICS, assert_works, resident, short_time};

/// Processor time that a guest may use beyond its limit in this test. On an idle machine it is at
/// most 50 ms; here the parent that kills the worker may have to wait for a processor itself. The
/// programs would use far more than this, if they were not stopped.
const MAX_OVERRUN: Duration = Duration::from_secs(5);
/// Bytes that the parent may grow by.
const MAX_GROWTH: usize = 32 << 20;

#[derive(Default)]
struct Case {
    name: String,
    expected: String,
    source: String,
    /// The lines with `//@`: a word and its value.
    setup: Vec<(String, String)>,
}

impl Case {
    fn setup(&self, word: &str) -> Option<&str> {
        self.setup.iter().find(|(known, _)| known == word).map(|(_, value)| value.as_str())
    }

    fn json(&self, word: &str) -> Option<Json> {
        self.setup(word).map(|text| serde_json::from_str(text).expect("JSON behind //@"))
    }
}

fn read_cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(file);
    let text = std::fs::read_to_string(path).expect("the file with the programs");
    let mut cases: Vec<Case> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("//// ") {
            let (name, expected) = head.trim_end().split_once(" => ").expect("an expectation");
            cases.push(Case {
                name: name.to_owned(),
                expected: expected.to_owned(),
                ..Case::default()
            });
            continue;
        }
        let case = cases.last_mut().expect("the name comes before the program");
        match line.strip_prefix("//@ ") {
            Some(setup) => {
                let (word, value) =
                    setup.trim_end().split_once(' ').unwrap_or((setup.trim_end(), ""));
                case.setup.push((word.to_owned(), value.to_owned()));
            }
            None => case.source.push_str(line),
        }
    }
    cases
}

fn run(case: &Case, limits: &GuestLimits) -> Result<ProgramOutput, SandboxError> {
    let form =
        if case.setup("module").is_some() { ProgramForm::Module } else { ProgramForm::Script };
    let program = POOL.compile_blocking(&case.source, form, Some("the-entry"))?;
    let args = case.json("args").unwrap_or_else(|| json!({}));
    let data = case.json("data").map(Into::into);
    let input = ProgramInput { data, ..ProgramInput::args(args) };
    POOL.run_blocking(&program, &input, limits, None)
}

fn depth(json: &Json) -> usize {
    json.as_array().map_or(0, |items| 1 + items.first().map_or(0, depth))
}

/// Compares an outcome with the expectation. Returns the difference.
fn difference(case: &Case, outcome: &Result<ProgramOutput, SandboxError>) -> Option<String> {
    let actual = match outcome {
        Ok(output) if case.setup("depth").is_some() => depth(&output.value).to_string(),
        Ok(output) if case.setup("length").is_some() => {
            output.value.as_str().map_or(0, str::len).to_string()
        }
        Ok(output) => output.value.to_string(),
        Err(error) => {
            let name = error.name.as_deref().filter(|_| error.code == SandboxErrorCode::Threw);
            let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
            format!("{} {name}{}", error.code, error.message)
        }
    };
    let matches = |expected: &str| match (outcome, expected.split_once(' ')) {
        (Ok(_), _) => {
            serde_json::from_str(expected).is_ok_and(|json: Json| actual == format!("{json}"))
        }
        (Err(error), Some((code, part))) => error.code.name() == code && actual.contains(part),
        (Err(error), None) => error.code.name() == expected,
    };
    // The whole text is tried first, because a message may contain `|`.
    if !matches(&case.expected) && !case.expected.split('|').any(matches) {
        return Some(format!("expected {}, got {:.300}", case.expected, actual));
    }
    let Err(error) = outcome else { return None };
    if let Some(expected) = case.setup("position") {
        let found = error.position().map(|found| format!("{}:{}", found.line, found.column));
        if found.as_deref() != Some(expected) {
            return Some(format!("expected it at {expected}, got {found:?}"));
        }
    }
    let fields = case.json("fields");
    let found = error.fields.as_deref().map(|fields| Json::Object(fields.clone()));
    (fields.is_some() && fields != found)
        .then(|| format!("expected the fields {fields:?}, got {found:?}"))
}

fn run_all_of(file: &str) {
    let _metrics = PROCESS_METRICS.write();
    assert_works(&POOL);
    let before = resident();
    let mut wrong = Vec::new();
    let cases = read_cases(file);
    for case in &cases {
        // Programs that never end get little time, so that the test does not take long.
        let is_endless = case.expected.contains("TIMEOUT");
        let limits = if is_endless { short_time() } else { GuestLimits::default() };
        let outcome = run(case, &limits);
        let mut found = difference(case, &outcome);
        if let Err(error) = &outcome
            && error.cpu > limits.cpu + MAX_OVERRUN
            && error.code != SandboxErrorCode::Syntax
        {
            found = Some(format!("used {:?} of processor time", error.cpu));
        }
        if let Some(found) = found {
            wrong.push(format!("{}: {found}", case.name));
        }
        assert_works(&POOL);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let growth = resident().saturating_sub(before);
    assert!(growth < MAX_GROWTH, "the parent grew by {growth} bytes");
}

#[test]
fn programs_that_never_end_are_stopped() {
    run_all_of("time.js");
}

#[test]
fn programs_that_use_too_much_memory_or_stack_are_stopped() {
    run_all_of("memory.js");
}

#[test]
fn programs_cannot_reach_the_host_or_other_calls() {
    run_all_of("escape.js");
}

#[test]
fn results_are_json_or_an_error() {
    run_all_of("results.js");
}

/// `e2e/values.mjs` compares the expected values with those of Node.
#[test]
fn values_leave_as_in_node_or_are_refused() {
    run_all_of("values.js");
}

#[test]
fn entry_points_are_found() {
    run_all_of("entry_points.js");
}

#[test]
fn exceptions_are_reported() {
    run_all_of("exceptions.js");
}
