//! The way into this crate: code in, [`ScriptFacts`] out.
//!
//! [`ScriptAnalyzer`] is a trait because parsing untrusted code is itself a risk: the parser
//! recurses as deep as the code is nested, and on some code its time grows with the square of the
//! length. So programs use a [`WorkerAnalyzer`](crate::WorkerAnalyzer), whose parser runs in
//! another process. [`InProcessAnalyzer`] has no protection and is for tests and benchmarks.

use crate::facts::{ParseGoal, ScriptFacts, SyntaxProblemKind};
use crate::{parse, wire};

/// The longest code that is read, in bytes. The sandbox does not compile more either.
pub const MAX_CODE_BYTES: usize = 1024 * 1024;

/// A piece of code to analyze.
#[derive(Debug, Clone, Copy)]
pub struct ScriptSource<'a> {
    /// The source text.
    pub code: &'a str,
    /// What it is for.
    pub goal: ParseGoal,
    /// Names that exist beside [`GLOBALS`](crate::GLOBALS), such as `tools` for orchestrations.
    pub provided: &'a [&'a str],
    /// The document that holds it: any number. Scripts of one document share a budget of time, so
    /// that a hostile document costs no other one its facts.
    pub document: usize,
}

/// Finds out what the source text alone says about JavaScript code.
///
/// An implementation never fails: code that it cannot read comes back with a problem that says why.
pub trait ScriptAnalyzer: Send + Sync {
    /// The facts about each script, in order. May block for seconds.
    ///
    /// Callers are checks, which look at every function of a definition, and the reports of
    /// programs that failed. No call that succeeds waits for an analyzer.
    fn analyze_all(&self, scripts: &[ScriptSource<'_>]) -> Vec<ScriptFacts>;

    /// The facts about one piece of code.
    fn analyze(&self, code: &str, goal: ParseGoal, provided: &[&str]) -> ScriptFacts {
        let source = ScriptSource { code, goal, provided, document: 0 };
        self.analyze_all(&[source]).pop().expect("one for each script")
    }
}

/// Parses in the calling process, with the caller's stack and without any limit of time. For tests,
/// benchmarks and fuzzing: deeply nested code ends the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcessAnalyzer;

impl ScriptAnalyzer for InProcessAnalyzer {
    fn analyze_all(&self, scripts: &[ScriptSource<'_>]) -> Vec<ScriptFacts> {
        let analyze = |script: &ScriptSource<'_>| {
            too_large(script.code).unwrap_or_else(|| match script.goal {
                ParseGoal::Function => parse::read_function(script.code, script.provided),
                ParseGoal::Module => parse::read_module(script.code, script.provided),
                ParseGoal::File => parse::read_file(script.code),
            })
        };
        scripts.iter().map(analyze).collect()
    }
}

/// Answers a request of a [`WorkerAnalyzer`](crate::WorkerAnalyzer): the function that its workers
/// run. The answer to bytes that are not a request is empty, which is not an answer.
pub fn answer_analysis_request(request: &[u8]) -> Vec<u8> {
    let Some(received) = wire::decode_request(request) else { return Vec::new() };
    let analyze = |script: &wire::ReceivedScript<'_>| {
        let provided: Vec<&str> = script.provided.iter().map(|name| &**name).collect();
        InProcessAnalyzer.analyze(&script.code, script.goal, &provided)
    };
    wire::encode_facts(&received.iter().map(analyze).collect::<Vec<_>>())
}

/// The facts about code that is longer than [`MAX_CODE_BYTES`]; `None` for shorter code.
pub(crate) fn too_large(code: &str) -> Option<ScriptFacts> {
    (code.len() > MAX_CODE_BYTES).then(|| {
        let message = format!("the code has {} bytes, more than {MAX_CODE_BYTES}", code.len());
        ScriptFacts::unread(SyntaxProblemKind::Limit, message)
    })
}

/// Short for [`InProcessAnalyzer::analyze`], for tests and fuzzing.
pub fn read(code: &str, goal: ParseGoal, provided: &[&str]) -> ScriptFacts {
    InProcessAnalyzer.analyze(code, goal, provided)
}
