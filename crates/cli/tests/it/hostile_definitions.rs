//! Hostile definitions through `check`, `eval`, `call`, `test` and `serve`: whatever a definition
//! contains, the program survives, its answers have the right code and a bounded size, other
//! toolsets get theirs meanwhile, memory stays below a cap and nothing is left running.
//!
//! ```text
//! functions       JavaScript that turns hostile while it runs
//! texts           code that is hard to compile, large sections, costly schemas
//! budgets         functions that are harmless one by one and exceed the limits together
//! capped_run      runs a command and checks its end, its time and its output
//! watched_server  a server under attack, its memory, and quick calls beside the attacks
//! ```
//!
//! Times are compared only with margins of many seconds. What is really measured is printed.

#![allow(clippy::print_stdout, reason = "figures for a run with `--no-capture`")]

mod budgets;
mod capped_run;
mod functions;
mod texts;
mod watched_server;

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::program::folder;

/// The argument that lights a time bomb.
const LIT: &str = "lit";
/// Bytes of an answer to a caller at most: a result at its limit of 1 MiB, as text and as
/// structured content, and what is around it.
const MAX_ANSWER: usize = 2_500_000;
/// The longest that any single command may take. The slowest ones take a few seconds on an idle
/// machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Limits that make endless programs end soon, for tests of many of them.
const SHORT_LIMITS: &str = "[limits]\nvalidator_timeout = 60\nfunction_timeout = 60\n\
                            timeout = 400\nbody_memory = 8388608\n";

/// An AIOS definition of type `cli` whose commands do nothing.
fn aios(id: &str, commands: &[String], more: Json) -> Json {
    let mut tool = json!({
        "schema_version": 2.0, "id": id, "type": "cli", "name": id, "version": "1.0.0",
        "description": "A tool whose definition is hostile.",
        "cli_specific": {"executable": "true"}, "commands": commands,
    });
    for (key, value) in more.as_object().expect("an object") {
        tool[key] = value.clone();
    }
    json!({"tool": tool})
}

/// One function of a definition.
fn function(id: &str, code: &str) -> Json {
    json!({"id": id, "language": "javascript", "runtime": "isolated_vm", "function": code})
}

/// A validator of a command.
fn validator(id: &str, command: &str, code: &str) -> Json {
    let mut function = function(id, code);
    function["validates"] = json!(command);
    function
}

/// A toolset that does nothing wrong: `quick` is refused by its validator, `strict` by its schema.
fn calm() -> Json {
    let code = "module.exports = (args) => ({ valid: args.args[0] !== 'no', errors: ['refused quickly'] });";
    let schema = json!({"type": "object", "required": ["args", "stdin"]});
    let tools = json!([{"id": "quick", "description": "Is refused by its validator."},
                       {"id": "strict", "description": "Is refused.", "inputSchema": schema}]);
    let knowledge = json!({"validators": [validator("quick", "quick", code)]});
    aios("calm", &[], json!({"commands": null, "tools": tools, "executable_knowledge": knowledge}))
}

/// A definition, and one call of its command `run`.
struct HostileDefinition {
    name: &'static str,
    text: String,
    arguments: Json,
    /// The outcomes of the call that are right: those of [`outcome_in`], or the code of a failure.
    expected: &'static [&'static str],
}

/// Items with a separator between them.
fn list(count: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(separator)
}

/// A definition with these sections, called without arguments.
fn definition(
    name: &'static str,
    sections: Json,
    expected: &'static [&'static str],
) -> HostileDefinition {
    let text = aios(name, &["run".to_owned()], sections).to_string();
    HostileDefinition { name, text, arguments: json!({"args": []}), expected }
}

/// Writes definitions as the sources of a configuration, beside the calm toolset.
fn sources(definitions: &[HostileDefinition], limits: &str) -> tempfile::TempDir {
    let folder = folder(&[("calm.json", calm().to_string().as_bytes())]);
    let mut config = format!("{limits}[[source]]\nname = \"calm\"\npath = \"calm.json\"\n");
    for definition in definitions {
        let name = definition.name;
        std::fs::write(folder.path().join(format!("{name}.yaml")), &definition.text)
            .expect("a file");
        config.push_str(&format!("[[source]]\nname = \"{name}\"\npath = \"{name}.yaml\"\n"));
    }
    std::fs::write(folder.path().join("toolwright.toml"), config).expect("a file");
    folder
}

/// What the sandbox said about a program, in the text of a refusal.
fn outcome_in(text: &str) -> &'static str {
    const CODES: [&str; 9] = [
        "TIMEOUT",
        "MEMORY_LIMIT",
        "STACK_OVERFLOW",
        "NOT_JSON",
        "OUTPUT_TOO_LARGE",
        "INPUT_TOO_LARGE",
        "SYNTAX",
        "NO_ENTRY_POINT",
        "WORKER_DIED",
    ];
    // A guest can write these words itself, but they come first where the sandbox says them.
    let start = &text[..text.floor_char_boundary(400)];
    let code = CODES.into_iter().find(|code| start.contains(&format!("failed with {code}")));
    match code {
        Some(code) => code,
        None if start.contains(" threw ") => "THREW",
        // The call ran out of its own time, not one of its functions.
        None if start.starts_with("TIMEOUT: ") => "TIMEOUT",
        None => "OK",
    }
}
