//! The analyzer of JavaScript source that this binary passes to everything that needs one.
//!
//! Code of a definition is untrusted, and its parser can be made to crash. So the parser runs in
//! worker processes of the same binary, started with a hidden argument and jailed like those of the
//! sandbox: no file, no network, limits of time, memory and stack. This process only sends the
//! code and reads the facts.
//!
//! The only place that names the parser's function: all other code holds a `dyn ScriptAnalyzer`. A
//! test in `tests/it/architecture.rs` checks this.

use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use toolwright_sandbox::{
    JailedFunction, JailedFunctionError, JailedFunctionLimits, WorkerCommand, jailed_function_main,
};
use toolwright_script::{
    AnalysisFailure, AnalysisLimits, AnalysisWorker, ScriptAnalyzer, WorkerAnalyzer,
};

/// The first argument that makes this binary a worker that parses. It is not a command of `args`,
/// so that it does not appear in the help.
pub(crate) const WORKER_ARGUMENT: &str = "script-worker";

/// The analyzer of this process. All users share its workers, which are started when there is code
/// to analyse.
pub(crate) fn new_analyzer() -> Arc<dyn ScriptAnalyzer> {
    static ANALYZER: LazyLock<Arc<WorkerAnalyzer<ScriptWorker>>> =
        LazyLock::new(|| Arc::new(WorkerAnalyzer(ScriptWorker::new())));
    Arc::<WorkerAnalyzer<ScriptWorker>>::clone(&ANALYZER)
}

/// The main function of a worker.
pub(crate) fn worker_main() -> ExitCode {
    jailed_function_main(toolwright_script::answer_analysis_request)
}

/// The parser in jailed processes; or why there is none. The error is kept and not returned at
/// once, since most commands never analyse code.
struct ScriptWorker(Result<JailedFunction, String>);

impl ScriptWorker {
    fn new() -> ScriptWorker {
        let program = std::env::current_exe().map_err(|error| {
            format!("cannot find the file of this program, which analyses JavaScript: {error}")
        });
        ScriptWorker(
            program.map(|path| JailedFunction::new(WorkerCommand::new(path).arg(WORKER_ARGUMENT))),
        )
    }
}

impl AnalysisWorker for ScriptWorker {
    fn call(
        &self,
        request: &[u8],
        limits: &AnalysisLimits,
    ) -> Result<(Vec<u8>, Duration), AnalysisFailure> {
        let function =
            self.0.as_ref().map_err(|reason| AnalysisFailure::NotStarted(reason.clone()))?;
        let AnalysisLimits { cpu, wall, answer } = *limits;
        match function.call(request, &JailedFunctionLimits { cpu, wall, answer }) {
            Ok(answer) => Ok((answer.bytes, answer.cpu)),
            Err(JailedFunctionError::TimedOut) => Err(AnalysisFailure::TimedOut),
            Err(JailedFunctionError::Died(_)) => Err(AnalysisFailure::Died),
            Err(JailedFunctionError::InvalidAnswer(_)) => Err(AnalysisFailure::InvalidAnswer),
            Err(JailedFunctionError::StartFailed(reason)) => {
                Err(AnalysisFailure::NotStarted(reason))
            }
        }
    }
}
