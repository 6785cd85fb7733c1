//! Tools that call other tools (AIOS, `type: meta`): `tools.call` in the sandbox, what it may call,
//! and how calls end that loop, recurse, fan out or never return.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{StdioClient, until};
use crate::program::{Run, folder, project};

/// The definition of a meta tool whose helper has this code.
fn meta(id: &str, aggregates: &str, code: &str) -> String {
    let code = code.replace('\n', "\n          ");
    format!(
        "tool:
  schema_version: 2.0
  id: {id}
  type: meta
  name: {id}
  version: 1.0.0
  description: Calls other tools
  executable_knowledge:
    helpers:
      - id: run-it
        language: javascript
        runtime: isolated_vm
        function: |
          {code}
  meta_specific: {{aggregates: {aggregates}, orchestration: helpers.run-it}}
"
    )
}

/// A program `shell:say`, which prints its arguments, and `shell:sh`, which runs them.
const SHELL: &str = "tool:
  id: shell
  type: cli
  name: Shell
  version: 1.0.0
  description: Runs small programs
  cli_specific: {executable: sh}
  command_groups:
    all:
      - {command: 'sh -c \"echo \\\"$@\\\"\" say', description: Prints its arguments}
      - {command: sh -c, description: Runs a line}
";

/// A folder with the shell, a meta tool `all` over it, and these limits.
fn with_meta(aggregates: &str, code: &str, limits: &str) -> tempfile::TempDir {
    let config = format!("{limits}\n[audit]\narguments = true\n[[source]]\npath = \"tools\"\n");
    let shell = SHELL.replace("'sh -c \"echo \\\"$@\\\"\" say'", "sh -c");
    let shell = shell.replace("      - {command: sh -c, description: Prints its arguments}\n", "");
    folder(&[
        ("toolwright.toml", config.as_bytes()),
        ("tools/shell.yaml", shell.as_bytes()),
        ("tools/all.yaml", meta("all", aggregates, code).as_bytes()),
    ])
}

fn call(folder: &Path, id: &str) -> Run {
    run(folder, &["call", id, "--json"])
}

fn answer(run: &Run) -> Json {
    serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", run.stdout, run.stderr))
}

#[test]
fn a_meta_tool_calls_the_tools_that_it_aggregates() {
    let code = "async function runIt(args) {
  const [one, two] = await Promise.all([
    tools.call('shell:-c', { args: ['echo one'] }),
    tools.call('shell:-c', { args: ['echo two'] }),
  ]);
  return { said: one.trim() + ' ' + two.trim(), given: args.given };
}
module.exports = { runIt };";
    let folder = with_meta("[shell]", code, "");
    let run = run(folder.path(), &["call", "all:all", "--json", "given=x"]);
    let answer = answer(&run);
    assert_eq!(answer["structuredContent"], json!({"said": "one two", "given": "x"}), "{answer}");
    let made = json!([{"tool": "shell:-c", "code": "OK"}, {"tool": "shell:-c", "code": "OK"}]);
    assert_eq!(answer["_meta"]["toolwright/calls"], made, "{answer}");
}
