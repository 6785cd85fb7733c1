//! The one place that touches the API.

use toolwright_script::{Goal, Script, read};

pub(crate) fn function(code: &str) -> Script {
    read(code, Goal::Function, &[])
}

/// Line and column, from 1, columns in characters.
pub(crate) fn place(code: &str, offset: usize) -> String {
    let before = &code[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("{line}:{column}")
}

/// `line:column message (help)` of every problem.
pub(crate) fn problems(code: &str, goal: Goal) -> Vec<String> {
    let script = read(code, goal, &[]);
    let told = script.problems.iter().map(|problem| {
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{} {}{help}", place(code, problem.range.start), problem.message)
    });
    told.collect()
}
