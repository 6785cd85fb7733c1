//! The executors there are. Adding one is a folder beside this file and a line in [`KINDS`].

use std::ffi::OsString;
use std::sync::Arc;

use toolwright_model::{Binding, Tool};

use toolwright_sandbox::Pool;
use toolwright_script::ScriptAnalyzer;

use crate::knowledge::{FunctionLimits, KnowledgeFunction};
use crate::{BoxFuture, Budget, Failure, Host, Json, Outcome, js, mcp, process};

/// One call, as an executor sees it: resolved, its arguments checked, its permit held.
pub struct Call<'a> {
    /// What to run.
    pub tool: &'a Tool,
    /// The arguments.
    pub arguments: &'a Json,
    /// Its body, if it is one of JavaScript; else why there is none.
    pub body: Result<&'a KnowledgeFunction, &'a str>,
    /// What functions may use.
    pub limits: &'a FunctionLimits,
    /// What its source adds to the environment.
    pub environment: &'a [(OsString, OsString)],
    /// What may be used.
    pub budget: &'a Budget,
}

/// A way to run tools. The runner drops the future when the budget is used up or the caller gives
/// up, so dropping it must end the work, everywhere.
pub trait Executor: Send + Sync {
    /// Runs the tool.
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>>;

    /// Lets go of everything it holds: connections and processes.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// What executors are made of: the part of the outside world that only the binary knows.
#[derive(Clone, Default)]
pub struct Parts {
    /// The environment that every program is given; nothing else is passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Takes lines for the log.
    pub log: Log,
    /// Takes what functions and bodies write to `console`.
    pub console: Log,
    /// The connections to MCP servers, shared with whoever lists their tools.
    pub upstreams: Arc<mcp::Upstreams>,
    /// Where JavaScript runs. Without it, what needs some is refused.
    pub sandbox: Option<Pool>,
    /// Locates syntax errors in code that failed. Without it, they are reported where the engine
    /// noticed them.
    pub analyzer: Option<Arc<dyn ScriptAnalyzer>>,
}

impl Parts {
    /// Parts for programs that see this environment.
    pub fn new(environment: Vec<(OsString, OsString)>, log: Log) -> Parts {
        let upstreams = Arc::new(mcp::Upstreams::new(environment.clone(), log.clone()));
        Parts { environment, console: log.clone(), log, upstreams, sandbox: None, analyzer: None }
    }
}

/// Where lines for the log go.
#[derive(Clone)]
pub struct Log(pub Arc<dyn Fn(&str) + Send + Sync>);

impl Default for Log {
    fn default() -> Log {
        Log(Arc::new(|_| {}))
    }
}

impl Log {
    /// Writes one line.
    pub fn line(&self, text: &str) {
        (self.0)(text);
    }
}

/// A kind of executor: which bindings it takes, and how it is made.
pub struct Kind {
    /// One word for it.
    pub id: &'static str,
    /// Whether it can run this.
    pub takes: fn(&Binding) -> bool,
    /// Makes one; it lives as long as the runner.
    pub build: fn(&Parts) -> Arc<dyn Executor>,
}

/// All kinds. The first that takes a binding runs it.
pub static KINDS: &[Kind] = &[process::KIND, mcp::KIND, js::KIND];
