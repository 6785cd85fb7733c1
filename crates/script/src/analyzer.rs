//! The way into this crate: code in, [`ScriptFacts`] out.
//!
//! [`ScriptAnalyzer`] is a trait because parsing untrusted code is itself a risk: a parser can be
//! made to crash. Users hold a `dyn ScriptAnalyzer` and do not depend on where the parser runs. The
//! one implementation here, [`InProcessAnalyzer`], parses in the calling process.

use crate::facts::{ParseGoal, ScriptFacts, SyntaxProblem, SyntaxProblemKind};
use crate::{large_stack, parse, size_limits};

/// Finds out what the source text alone says about JavaScript code.
///
/// An implementation never fails: code that it cannot read comes back with a problem that says why.
pub trait ScriptAnalyzer: Send + Sync {
    /// The facts about `code`. `provided` are names that exist beside [`GLOBALS`](crate::GLOBALS),
    /// such as `tools` for orchestrations.
    ///
    /// Callers are checks, which look at every function of a definition, and the reports of
    /// programs that failed. No call that succeeds waits for an analyzer.
    fn analyze(&self, code: &str, goal: ParseGoal, provided: &[&str]) -> ScriptFacts;
}

/// Parses in the calling process, on a thread with a larger stack where the code is nested deeply.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcessAnalyzer;

impl ScriptAnalyzer for InProcessAnalyzer {
    fn analyze(&self, code: &str, goal: ParseGoal, provided: &[&str]) -> ScriptFacts {
        let size = match size_limits::measure(code) {
            Ok(size) => size,
            Err(problem) => return ScriptFacts::only_problems(vec![problem]),
        };
        let facts = large_stack::run_with_stack_for(size, || match goal {
            ParseGoal::Function => parse::read_function(code, provided),
            ParseGoal::Module => parse::read_module(code, provided),
            ParseGoal::File => parse::read_file(code),
        });
        // The thread could not be started. That is reported as a limit: the code may be right.
        facts.unwrap_or_else(|error| {
            let message = format!("no memory to read the code: {error}");
            let kind = SyntaxProblemKind::Limit;
            let problem = SyntaxProblem { kind, message, range: 0..0, help: None };
            ScriptFacts::only_problems(vec![problem])
        })
    }
}

/// Short for [`InProcessAnalyzer::analyze`], for tests and fuzzing.
pub fn read(code: &str, goal: ParseGoal, provided: &[&str]) -> ScriptFacts {
    InProcessAnalyzer.analyze(code, goal, provided)
}
