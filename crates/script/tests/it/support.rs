//! Helpers around the API, so that the tables of cases do not touch it.

use toolwright_script::{ParseGoal, ScriptFacts, read};

/// The facts about a function of a definition.
pub(crate) fn function(code: &str) -> ScriptFacts {
    read(code, ParseGoal::Function, &[])
}

/// `line:column` of a byte, counted from 1, columns in characters.
pub(crate) fn line_column(code: &str, offset: usize) -> String {
    let before = &code[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}

/// `line:column message (help)` of every problem.
pub(crate) fn problems(code: &str, goal: ParseGoal) -> Vec<String> {
    let facts = read(code, goal, &[]);
    let shown = facts.problems.iter().map(|problem| {
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{} {}{help}", line_column(code, problem.range.start), problem.message)
    });
    shown.collect()
}
