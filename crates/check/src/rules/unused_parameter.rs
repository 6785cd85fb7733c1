//! A command of a tool of type `cli` declares only parameters that reach its program.
//!
//! Source: AIOS, CLI tools, as read here: a call gives a program its words (`args`) and its
//! standard input (`stdin`), and nothing else. A schema of the command's own may say more about
//! these two; other parameters need a processor of the request that makes words of them.
//!
//! Silent about commands with such a processor, and about schemas behind a reference.

use std::collections::HashSet;

use toolwright_model::{Binding, Json, ProcessorStage};
use toolwright_schema::SchemaSide;
use toolwright_source::{RecordFinding, words::shorten};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::written_schema;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    UNUSED_PARAMETER Warning
        "A command of an AIOS tool of type `cli` declares a parameter that its program never \
         gets. A call of such a command has `args`, the words after the command, and `stdin`, the \
         text for its standard input. Any other argument fails the call, because the program \
         would run without it.\n\n\
         Describe the words under `args`, or add a processor with `processes` and \
         `stage: request` that turns the arguments into `args`. A program that reads its \
         arguments as JSON is a tool of type `local`."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  tools:
    - id: search
      description: Searches all notes for a word
      inputSchema:
        type: object
        additionalProperties: false
        properties:
          word: {type: string, description: The word to look for}
  cli_specific: {executable: notes}
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  tools:
    - id: search
      description: Searches all notes for a word
      inputSchema:
        type: object
        additionalProperties: false
        properties:
          args: {type: array, items: {type: string}, description: The word to look for}
  cli_specific: {executable: notes}
"#
    )
}

/// What a program gets of a call.
const GIVEN: [&str; 2] = ["args", "stdin"];

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let processors = &subject.toolset.knowledge.processors;
    let prepared = processors.iter().filter(|it| it.stage == ProcessorStage::Request);
    let prepared: HashSet<&str> = prepared.filter_map(|it| it.processes.as_deref()).collect();
    for (at, tool) in subject.tools() {
        let is_prepared = tool.name.ok().is_some_and(|name| prepared.contains(name.as_str()));
        if !matches!(tool.details.binding, Binding::Command { .. }) || is_prepared {
            continue;
        }
        let schema = written_schema(tool, SchemaSide::Input);
        let declared = schema.and_then(|schema| schema.get("properties")).and_then(Json::as_object);
        let names = declared.into_iter().flat_map(|declared| declared.keys());
        for name in names.filter(|name| !GIVEN.contains(&name.as_str())) {
            if out.is_full(&UNUSED_PARAMETER) {
                return;
            }
            let message = format!("the program does not get the parameter `{}`", shorten(name));
            let help = "a call has `args` and `stdin` only: describe the words under `args`, or \
                        make words of it in a processor of the request";
            let at = at.child("inputSchema").child("properties").child(name);
            out.push(RecordFinding::new(&UNUSED_PARAMETER, at, message).on_key().help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    fn tool(kind: &str, properties: &str, more: &str) -> String {
        format!(
            "tool: {{id: a, type: {kind}, {kind}_specific: {{executable: x, entry_point: x}}, \
             tools: [{{id: go, inputSchema: {{type: object, properties: {{{properties}}}}}}}]{more}}}"
        )
    }

    #[test]
    fn parameters_that_no_program_gets_are_reported() {
        let bad = tool("cli", "args: {}, word: {}, stdin: {}", "");
        assert_eq!(
            found("UNUSED_PARAMETER", &bad),
            ["UNUSED_PARAMETER at /tool/tools/0/inputSchema/properties/word"]
        );
        assert_eq!(
            messages("UNUSED_PARAMETER", &bad),
            ["the program does not get the parameter `word`"]
        );
        let processor = |stage: &str| {
            format!(
                ", executable_knowledge: {{processors: [{{id: p, language: javascript, \
                 processes: go{stage}, function: '(data) => data'}}]}}"
            )
        };
        let response = tool("cli", "word: {}", &processor(""));
        assert_eq!(found("UNUSED_PARAMETER", &response).len(), 1);
        for fine in [
            tool("cli", "args: {}, stdin: {}", ""),
            tool("cli", "word: {}", &processor(", stage: request")),
            tool("local", "word: {}", ""),
            "tool: {id: a, type: cli, cli_specific: {executable: x}, commands: [go]}".to_owned(),
        ] {
            assert_eq!(found("UNUSED_PARAMETER", &fine), [""; 0], "{fine}");
        }
    }
}
