//! An analyzer whose parser runs elsewhere: in a process that hostile code may end.
//!
//! ```text
//! scripts ─ batches ─▶ AnalysisWorker::call ─┬▶ facts
//!                            ▲               └▶ no answer: each script of the batch by itself
//!                            └──────────────────────┘       └▶ again none: a `Limit` problem
//! ```
//!
//! Scripts travel together, since a message to another process costs more than parsing a short
//! function. If a batch fails, its scripts are sent one by one, so hostile code costs only itself
//! its facts. What one document may cost is bounded: after [`MAX_FAILURES`] scripts without an
//! answer, or [`DOCUMENT_CPU`], the rest of its scripts is not tried.
//!
//! Which process it is, and what holds it, is decided by the implementation of [`AnalysisWorker`].

use std::collections::HashMap;
use std::time::Duration;

use crate::analyzer::{ScriptAnalyzer, ScriptSource, too_large};
use crate::facts::{ScriptFacts, SyntaxProblemKind};
use crate::wire;

/// Processor time for one request: a script, or a batch of them. A megabyte of ordinary code takes
/// a tenth of it.
const REQUEST_CPU: Duration = Duration::from_secs(2);
/// Wall-clock time for one request, for machines with much else to do.
const REQUEST_WALL: Duration = Duration::from_secs(60);
/// Processor time for all scripts of one document.
const DOCUMENT_CPU: Duration = Duration::from_secs(5);
/// Scripts of one document that may fail before the others are given up.
const MAX_FAILURES: usize = 3;
/// Scripts of one document that are analyzed. A tool has a handful.
const MAX_SCRIPTS: usize = 1_000;
/// Scripts of one batch, and bytes of code after which a batch ends.
const BATCH_SCRIPTS: usize = 128;
const BATCH_BYTES: usize = 512 * 1024;
/// Bytes of the facts about one script, and of those about one of a batch on average. The lists of
/// facts are bounded, so that no correct answer is longer.
const MAX_FACTS: usize = 512 * 1024;
const AVERAGE_FACTS: usize = 32 * 1024;

/// Runs [`answer_analysis_request`](crate::answer_analysis_request) in another process.
pub trait AnalysisWorker: Send + Sync {
    /// The answer to a request, and the processor time that it took. Blocks.
    ///
    /// # Errors
    /// If there is no answer.
    fn call(
        &self,
        request: &[u8],
        limits: &AnalysisLimits,
    ) -> Result<(Vec<u8>, Duration), AnalysisFailure>;
}

/// The limits of one request.
#[derive(Debug, Clone, Copy)]
pub struct AnalysisLimits {
    /// Processor time.
    pub cpu: Duration,
    /// Wall-clock time.
    pub wall: Duration,
    /// Bytes of the answer.
    pub answer: usize,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalysisFailure {
    /// The time was used up.
    TimedOut,
    /// The process ended, as it does if it runs out of stack or memory.
    Died,
    /// The process sent something else than an answer.
    InvalidAnswer,
    /// No process could be started, for this reason. The code has no part in it.
    NotStarted(String),
}

/// An analyzer that sends code to a worker.
#[derive(Debug)]
pub struct WorkerAnalyzer<W>(pub W);

/// What the scripts of one document have cost so far.
#[derive(Default)]
struct DocumentCost {
    scripts: usize,
    failures: usize,
    cpu: Duration,
}

impl DocumentCost {
    /// Counts one more script, or returns the facts about one too many.
    fn add_script(&mut self) -> Option<ScriptFacts> {
        self.scripts += 1;
        if self.scripts > MAX_SCRIPTS {
            let reason = format!("the definition has more than {MAX_SCRIPTS} functions");
            return Some(limit(format!("the code was not analysed: {reason}")));
        }
        self.if_used_up()
    }

    /// The facts about every further script, if the document has cost enough.
    fn if_used_up(&self) -> Option<ScriptFacts> {
        let is_used_up = self.failures >= MAX_FAILURES || self.cpu >= DOCUMENT_CPU;
        let message =
            "the code was not analysed: other functions of the definition took all the time";
        is_used_up.then(|| limit(message.to_owned()))
    }
}

impl<W: AnalysisWorker> ScriptAnalyzer for WorkerAnalyzer<W> {
    /// The facts about each script, in their order. Scripts that are too large, or too many for
    /// their document, get facts that say so without being sent; all others are sent in batches.
    fn analyze_all(&self, scripts: &[ScriptSource<'_>]) -> Vec<ScriptFacts> {
        let mut found: Vec<Option<ScriptFacts>> = scripts.iter().map(|_| None).collect();
        let mut costs: HashMap<usize, DocumentCost> = HashMap::new();
        let mut next = 0;
        while next < scripts.len() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while next < scripts.len() && batch.len() < BATCH_SCRIPTS && bytes < BATCH_BYTES {
                let cost = costs.entry(scripts[next].document).or_default();
                found[next] = too_large(scripts[next].code).or_else(|| cost.add_script());
                if found[next].is_none() {
                    bytes += scripts[next].code.len();
                    batch.push(next);
                }
                next += 1;
            }
            self.analyze_batch(scripts, &batch, &mut costs, &mut found);
        }
        found.into_iter().map(|facts| facts.expect("every script was in a batch")).collect()
    }
}

impl<W: AnalysisWorker> WorkerAnalyzer<W> {
    /// Analyzes the scripts with these numbers, together if possible.
    fn analyze_batch(
        &self,
        scripts: &[ScriptSource<'_>],
        batch: &[usize],
        costs: &mut HashMap<usize, DocumentCost>,
        found: &mut [Option<ScriptFacts>],
    ) {
        let sources: Vec<ScriptSource<'_>> = batch.iter().map(|n| scripts[*n]).collect();
        let Some(first) = sources.first() else { return };
        let (answer, cpu) = self.request(&sources);
        // The cost of a batch can be charged to a document only if all of its scripts are from that
        // one. A document with much code fills batches of its own.
        if sources.iter().all(|source| source.document == first.document) {
            costs.entry(first.document).or_default().cpu += cpu;
        }
        match answer {
            Ok(facts) => batch.iter().zip(facts).for_each(|(n, facts)| found[*n] = Some(facts)),
            Err(AnalysisFailure::NotStarted(reason)) => {
                let message = format!("the code cannot be analysed: {reason}");
                let unread = ScriptFacts::unread(SyntaxProblemKind::Unavailable, message);
                batch.iter().for_each(|n| found[*n] = Some(unread.clone()));
            }
            Err(failure) if batch.len() == 1 => {
                costs.entry(first.document).or_default().failures += 1;
                found[batch[0]] = Some(limit(too_complex(&failure)));
            }
            Err(_) => {
                for n in batch {
                    found[*n] = costs.entry(scripts[*n].document).or_default().if_used_up();
                    if found[*n].is_none() {
                        self.analyze_batch(scripts, &[*n], costs, found);
                    }
                }
            }
        }
    }

    /// Sends one request. Returns the facts about each script, and the processor time.
    fn request(
        &self,
        scripts: &[ScriptSource<'_>],
    ) -> (Result<Vec<ScriptFacts>, AnalysisFailure>, Duration) {
        let answer = MAX_FACTS.max(AVERAGE_FACTS * scripts.len());
        let limits = AnalysisLimits { cpu: REQUEST_CPU, wall: REQUEST_WALL, answer };
        match self.0.call(&wire::encode_request(scripts), &limits) {
            Ok((bytes, cpu)) => {
                let facts = wire::decode_facts(&bytes, scripts);
                (facts.ok_or(AnalysisFailure::InvalidAnswer), cpu)
            }
            Err(AnalysisFailure::TimedOut) => (Err(AnalysisFailure::TimedOut), limits.cpu),
            Err(failure) => (Err(failure), Duration::ZERO),
        }
    }
}

fn limit(message: String) -> ScriptFacts {
    ScriptFacts::unread(SyntaxProblemKind::Limit, message)
}

/// The problem with a script that has no answer even by itself.
fn too_complex(failure: &AnalysisFailure) -> String {
    let reason = match failure {
        AnalysisFailure::TimedOut => {
            format!("it takes more than {} s of processor time", REQUEST_CPU.as_secs())
        }
        AnalysisFailure::Died => "it is nested too deeply or takes too much memory".to_owned(),
        AnalysisFailure::InvalidAnswer | AnalysisFailure::NotStarted(_) => {
            "its analysis gave no usable answer".to_owned()
        }
    };
    format!("the code is too complex to analyse: {reason}")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{EntryPoint, InProcessAnalyzer, ParseGoal, answer_analysis_request};

    /// Fails for code that contains these words, as a process would, and counts requests.
    #[derive(Default)]
    struct FakeWorker {
        requests: Mutex<usize>,
        cpu: Duration,
    }

    impl AnalysisWorker for FakeWorker {
        fn call(
            &self,
            request: &[u8],
            limits: &AnalysisLimits,
        ) -> Result<(Vec<u8>, Duration), AnalysisFailure> {
            *self.requests.lock().expect("no panic") += 1;
            let text = String::from_utf8_lossy(request);
            let answer = answer_analysis_request(request);
            assert!(answer.len() <= limits.answer);
            match () {
                () if text.contains("SLOW") => Err(AnalysisFailure::TimedOut),
                () if text.contains("DEEP") => Err(AnalysisFailure::Died),
                () if text.contains("FORGED") => Ok((b"[]".to_vec(), self.cpu)),
                () if text.contains("ABSENT") => {
                    Err(AnalysisFailure::NotStarted("no processes left".to_owned()))
                }
                () => Ok((answer, self.cpu)),
            }
        }
    }

    /// The facts about code of these documents, and the number of requests.
    fn analyze(worker: FakeWorker, codes: &[(usize, &str)]) -> (Vec<ScriptFacts>, usize) {
        let source = |(document, code): &(usize, &'static str)| ScriptSource {
            code,
            goal: ParseGoal::Function,
            provided: &[],
            document: *document,
        };
        let codes: Vec<(usize, &'static str)> =
            codes.iter().map(|(n, code)| (*n, &*String::leak((*code).to_owned()))).collect();
        let analyzer = WorkerAnalyzer(worker);
        let facts = analyzer.analyze_all(&codes.iter().map(source).collect::<Vec<_>>());
        let requests = *analyzer.0.requests.lock().expect("no panic");
        (facts, requests)
    }

    /// The first problem of each script; empty if it has none.
    fn messages<'a>(facts: &'a [ScriptFacts]) -> Vec<&'a str> {
        let first = |facts: &'a ScriptFacts| facts.problems.first().map_or("", |p| &*p.message);
        facts.iter().map(first).collect()
    }

    #[test]
    fn scripts_of_all_documents_travel_in_one_request() {
        let codes = [(0, "function a() {}"), (1, "let b = ;"), (2, "x")];
        let (facts, requests) = analyze(FakeWorker::default(), &codes);
        assert_eq!((facts.len(), requests), (3, 1));
        for (facts, (_, code)) in facts.iter().zip(codes) {
            assert_eq!(*facts, InProcessAnalyzer.analyze(code, ParseGoal::Function, &[]));
        }
        assert_eq!(analyze(FakeWorker::default(), &[]).1, 0);
        // Long code costs no request.
        let long = " ".repeat((1 << 20) + 1);
        let (facts, requests) = analyze(FakeWorker::default(), &[(0, &long)]);
        assert_eq!(messages(&facts), ["the code has 1048577 bytes, more than 1048576"]);
        assert_eq!(requests, 0);
        let many: Vec<(usize, &str)> = (0..200).map(|_| (0, "function a() {}")).collect();
        assert_eq!(analyze(FakeWorker::default(), &many).1, 2);
    }

    #[test]
    fn a_script_without_an_answer_costs_only_itself_its_facts() {
        let codes =
            [(0, "a"), (0, "'SLOW'"), (1, "function b() {}"), (1, "'DEEP'"), (1, "'FORGED'")];
        let (facts, requests) = analyze(FakeWorker::default(), &codes);
        assert_eq!(requests, 6);
        assert_eq!(
            messages(&facts),
            [
                "",
                "the code is too complex to analyse: it takes more than 2 s of processor time",
                "",
                "the code is too complex to analyse: it is nested too deeply or takes too much \
                 memory",
                "the code is too complex to analyse: its analysis gave no usable answer",
            ]
        );
        assert_eq!(facts[2].entry, EntryPoint::Declared("b".to_owned()));
        assert!(facts.iter().all(|facts| facts.first_error().is_none()));
    }

    #[test]
    fn what_a_document_costs_is_bounded() {
        let mut codes = vec![(7, "'SLOW'"); 100];
        codes.push((8, "function ok() {}"));
        let (facts, requests) = analyze(FakeWorker::default(), &codes);
        // The batch, three failures, the other document.
        assert_eq!(requests, 5);
        let given_up =
            "the code was not analysed: other functions of the definition took all the time";
        assert_eq!(messages(&facts)[3..100], [given_up; 97]);
        assert_eq!(facts[100].problems, []);
        // Slow answers count, too.
        let worker = FakeWorker { cpu: Duration::from_secs(1), ..FakeWorker::default() };
        let half = format!("'{}'", "x".repeat(BATCH_BYTES));
        let (facts, requests) = analyze(worker, &[(0, half.as_str()); 9]);
        assert_eq!(requests, 5);
        assert_eq!(messages(&facts)[5..], [given_up; 4]);
        let (facts, _) = analyze(FakeWorker::default(), &vec![(0, "1"); MAX_SCRIPTS + 1]);
        let message = "the code was not analysed: the definition has more than 1000 functions";
        assert_eq!(messages(&facts)[MAX_SCRIPTS - 1..], ["", message]);
    }

    #[test]
    fn a_machine_without_workers_is_not_the_fault_of_the_code() {
        let (facts, requests) = analyze(FakeWorker::default(), &[(0, "'ABSENT'"), (0, "1")]);
        assert_eq!(requests, 1);
        assert_eq!(messages(&facts), ["the code cannot be analysed: no processes left"; 2]);
        assert_eq!(facts[0].problems[0].kind, SyntaxProblemKind::Unavailable);
    }
}
