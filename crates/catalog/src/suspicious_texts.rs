//! Sentences for the log about tools whose texts a person should read before a model does: `serve`
//! passes the texts of foreign servers on to agents, and nobody may have run `check`.
//!
//! Only names and a number: `check` shows the words. Tools are not withheld for their texts, unless
//! the operator does so. What counts as suspicious is in `toolwright_check`.

use std::path::Path;

use toolwright_check::{HIDDEN_TEXT, MODEL_INSTRUCTION};
use toolwright_source::Diagnostic;
use toolwright_workspace::{SourceSpec, SourceTarget};

use crate::gate::check_command;

/// Tools that a line of the log names.
const NAMED_TOOLS: usize = 3;

/// One sentence for each code among `found`, the suspicious texts of all tools of a source.
pub(crate) fn sentences(spec: &SourceSpec, found: &[Diagnostic]) -> Vec<String> {
    let codes = [
        (MODEL_INSTRUCTION.name, "that reads like orders to the model"),
        (HIDDEN_TEXT.name, "that a person does not see"),
    ];
    codes.into_iter().filter_map(|(code, what)| sentence(spec, found, code, what)).collect()
}

/// `None` if no tool has such a text. A tool counts once, however many of its texts are suspicious.
fn sentence(spec: &SourceSpec, found: &[Diagnostic], code: &str, what: &str) -> Option<String> {
    let mut tools: Vec<&str> = Vec::new();
    for diagnostic in found.iter().filter(|found| found.code.name == code) {
        let name = diagnostic.tool.as_ref().map(|tool| tool.name.as_str());
        tools.extend(name.filter(|name| !tools.contains(name)));
    }
    let count = match tools.len() {
        0 => return None,
        1 => "1 tool of".to_owned(),
        n => format!("{n} tools of"),
    };
    let verb = if tools.len() == 1 { "carries" } else { "carry" };
    let named = tools.iter().take(NAMED_TOOLS).copied().collect::<Vec<_>>().join(", ");
    let more = match tools.len().saturating_sub(NAMED_TOOLS) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let path = match &spec.target {
        SourceTarget::Definitions(path)
        | SourceTarget::Executables(path)
        | SourceTarget::Program(path) => path.as_path(),
        SourceTarget::Server(..) | SourceTarget::Builtin(..) => Path::new(""),
    };
    let command = check_command(&path.display().to_string(), spec);
    let source = &spec.name;
    Some(format!("{count} {source} {verb} text {what} ({code}): {named}{more}; see {command}"))
}
