//! The programs of `tests/programs`, each with what must become of it: `//// NAME => JSON`, or a
//! code with part of the message, alternatives separated by `|`. Lines that begin with `//@` set
//! the call up. After every one of them the parent is alive, has not grown, and the pool answers
//! the next call.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};
use toolwright_sandbox::{
    GuestLimits, ProgramForm, ProgramInput, ProgramOutput, SandboxError, SandboxErrorCode,
};

use crate::support::{ALONE, POOL, assert_alive, resident, tight};

/// What guests may take beyond their time.
const OVERRUN: Duration = Duration::from_millis(50);
/// What the parent may grow by, whatever its guests do.
const GROWTH: usize = 32 << 20;

#[derive(Default)]
struct Case {
    name: String,
    expected: String,
    source: String,
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

fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(file);
    let text = std::fs::read_to_string(path).expect("the programs");
    let mut cases: Vec<Case> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("//// ") {
            let (name, expected) = head.trim_end().split_once(" => ").expect("what is expected");
            cases.push(Case {
                name: name.to_owned(),
                expected: expected.to_owned(),
                ..Case::default()
            });
            continue;
        }
        let case = cases.last_mut().expect("a program begins with its name");
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
    let input = ProgramInput { args, data: case.json("data"), ..ProgramInput::default() };
    POOL.run_blocking(&program, &input, limits, None)
}

fn depth(json: &Json) -> usize {
    json.as_array().map_or(0, |items| 1 + items.first().map_or(0, depth))
}

/// What is wrong with what became of a program.
fn judge(case: &Case, outcome: &Result<ProgramOutput, SandboxError>) -> Option<String> {
    let told = match outcome {
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
    let fits = |expected: &str| match (outcome, expected.split_once(' ')) {
        (Ok(_), _) => {
            serde_json::from_str(expected).is_ok_and(|json: Json| told == format!("{json}"))
        }
        (Err(error), Some((code, part))) => error.code.name() == code && told.contains(part),
        (Err(error), None) => error.code.name() == expected,
    };
    // The whole is tried first, because a message may have a `|`.
    if !fits(&case.expected) && !case.expected.split('|').any(fits) {
        return Some(format!("expected {}, got {:.300}", case.expected, told));
    }
    let Err(error) = outcome else { return None };
    if let Some(place) = case.setup("place") {
        let found = error.place().map(|place| format!("{}:{}", place.line, place.column));
        if found.as_deref() != Some(place) {
            return Some(format!("expected it at {place}, got {found:?}"));
        }
    }
    let fields = case.json("fields");
    let found = error.fields.as_deref().map(|fields| Json::Object(fields.clone()));
    (fields.is_some() && fields != found)
        .then(|| format!("expected the fields {fields:?}, got {found:?}"))
}

fn all_of(file: &str) {
    let _alone = ALONE.write();
    assert_alive(&POOL);
    let before = resident();
    let mut wrong = Vec::new();
    let cases = cases(file);
    for case in &cases {
        // Honest programs get honest time; hostile ones end at theirs.
        let limits =
            if case.expected.contains("TIMEOUT") { tight() } else { GuestLimits::default() };
        let outcome = run(case, &limits);
        let mut found = judge(case, &outcome);
        if let Err(error) = &outcome
            && error.cpu > limits.cpu + OVERRUN
            && error.code != SandboxErrorCode::Syntax
        {
            found = Some(format!("took {:?} of the processor", error.cpu));
        }
        if let Some(found) = found {
            wrong.push(format!("{}: {found}", case.name));
        }
        assert_alive(&POOL);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    let growth = resident().saturating_sub(before);
    assert!(growth < GROWTH, "the parent grew by {growth} bytes");
}

#[test]
fn programs_that_never_end() {
    all_of("time.js");
}

#[test]
fn programs_that_want_it_all() {
    all_of("memory.js");
}

#[test]
fn programs_that_want_out() {
    all_of("escape.js");
}

#[test]
fn what_can_be_a_result() {
    all_of("results.js");
}

#[test]
fn what_is_called() {
    all_of("entry.js");
}

#[test]
fn what_is_thrown() {
    all_of("thrown.js");
}
