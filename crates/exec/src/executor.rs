//! The interface of executors, and the list of those that exist.
//!
//! To add an executor: a folder beside this file with an [`ExecutorKind`], and a line in
//! [`EXECUTORS`]. The runner asks the kinds in order which of them accepts a tool.
//!
//! An executor does not implement deadlines, cancellation, queues, size limits or schemas: the
//! runner does, around it. In return it must accept that its future is dropped at any await.

use std::ffi::OsString;
use std::sync::Arc;

use serde_json::value::RawValue;
use toolwright_model::{FunctionLimits, Tool};
use toolwright_sandbox::WorkerPool;
use toolwright_script::ScriptAnalyzer;

use crate::knowledge::{KnowledgeFunction, RunnableKnowledge};
use crate::{
    BoxFuture, Budget, BuiltinToolset, CallAllowance, CallArguments, Failure, Host, InnerCaller,
    LoadedCode, Outcome, RegisteredTool, SessionNumber, browser, builtin, js, mcp, meta, process,
};

/// One call as an executor receives it: the tool is found, its arguments are valid, and the permit
/// of its toolset is held until the executor's future ends.
pub struct Call<'a> {
    /// The tool to run.
    pub tool: &'a Tool,
    /// The arguments: as the caller wrote them, unless request processors of the definition
    /// replaced them.
    pub arguments: &'a CallArguments,
    /// The JavaScript body of the tool, or why it has none. Only the executors of JavaScript look
    /// at it.
    pub body: Result<&'a KnowledgeFunction, &'a str>,
    /// The functions of the tool's definition, if it has any.
    pub knowledge: Option<&'a RunnableKnowledge>,
    /// Calls other tools on behalf of this call. Only the executor of orchestrations uses it.
    pub inner: InnerCaller<'a>,
    /// The limits of JavaScript functions.
    pub limits: &'a FunctionLimits,
    /// The files with the tool's code, if it has any.
    pub code: Option<&'a dyn LoadedCode>,
    /// Variables that the tool's source adds to [`ExecutorContext::environment`].
    pub environment: &'a [(OsString, OsString)],
    /// Members of the caller's request that nothing here knows, for the server of the tool.
    pub more: &'a [(String, Box<RawValue>)],
    /// How the call deals with tasks of its server.
    pub task: &'a mcp::TaskMode,
    /// What [`Executor::page_origin`] returned: the page that the call was allowed for.
    pub origin: Option<&'a str>,
    /// Time and output that the call may use.
    pub budget: &'a Budget,
}

/// A way to run tools.
pub trait Executor: Send + Sync {
    /// Runs the tool once.
    ///
    /// The runner drops the future when the deadline passes or the caller cancels. Dropping must
    /// end the work everywhere: kill processes, cancel the request at a server.
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>>;

    /// The capabilities that a call of this tool takes besides those that it declares, also if its
    /// source was named.
    fn needs(&self, _tool: &Tool) -> &'static [&'static str] {
        &[]
    }

    /// The origin of the page that a call of this tool would work on: grants are for an origin.
    /// Asked only for tools that need a page, before the policy decides. `None` if there is no
    /// page; then the call fails when it is run.
    fn page_origin<'a>(
        &'a self,
        _tool: &'a RegisteredTool,
        _arguments: &'a CallArguments,
        _host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Releases what belongs to a client session that has ended. Must not block.
    fn end_session(&self, _session: SessionNumber) {}

    /// Releases what outlives a single call, such as connections and server processes. Executors
    /// without any keep this default.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// What executors need from the outside world. Only the binary reads the environment and the
/// arguments of this process, so it puts this together and passes it in.
#[derive(Clone, Default)]
pub struct ExecutorContext {
    /// The complete environment of every program; nothing is inherited from this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Receives lines for the log.
    pub log: Log,
    /// Receives what JavaScript functions and bodies write to `console`.
    pub console: Log,
    /// The connections to MCP servers. Shared: the catalog lists tools over the same connections
    /// that calls use.
    pub upstreams: Arc<mcp::Upstreams>,
    /// The workers that run JavaScript. Without them, tools that need JavaScript are refused.
    pub sandbox: Option<WorkerPool>,
    /// Locates syntax errors in code that failed. Without it, they are reported where the engine
    /// noticed them.
    pub analyzer: Option<Arc<dyn ScriptAnalyzer>>,
    /// The pages that tools work on. Without it, tools that need a page are refused.
    pub pages: Option<Arc<dyn browser::PageProvider>>,
    /// The toolsets that the program brings along. Shared: the catalog asks them for their tools.
    pub builtins: Vec<Arc<dyn BuiltinToolset>>,
}

impl ExecutorContext {
    /// The workers for a call. If a tool makes the call, a guest waits for it: it fails where
    /// another guest would have to wait for that one.
    pub(crate) fn pool_for(&self, calls: &CallAllowance) -> Option<WorkerPool> {
        let pool = self.sandbox.as_ref()?;
        Some(if calls.is_inner() { pool.nested() } else { pool.clone() })
    }

    /// A context without a sandbox, whose console output goes to the log.
    pub fn new(environment: Vec<(OsString, OsString)>, log: Log) -> ExecutorContext {
        ExecutorContext::withholding(environment, Vec::new(), Vec::new(), log)
    }

    /// The same, with the names of variables that are set here and not passed on to programs: the
    /// failure of a server that needs one of them gives that reason. `secrets` are values that are
    /// replaced in everything that servers send.
    pub fn withholding(
        environment: Vec<(OsString, OsString)>,
        withheld: Vec<OsString>,
        secrets: Vec<String>,
        log: Log,
    ) -> ExecutorContext {
        let upstreams = mcp::Upstreams::new(environment.clone(), withheld, secrets, log.clone());
        let upstreams = Arc::new(upstreams);
        ExecutorContext {
            environment,
            console: log.clone(),
            log,
            upstreams,
            sandbox: None,
            analyzer: None,
            pages: None,
            builtins: Vec::new(),
        }
    }

    /// The built-in toolset of this name.
    ///
    /// # Errors
    /// If the program that uses this library brings no such toolset along.
    pub fn builtin(&self, name: &str) -> Result<&Arc<dyn BuiltinToolset>, Failure> {
        builtin::find(&self.builtins, name)
    }
}

/// A function that writes one line of the log. The default discards lines.
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

/// A kind of executor: which tools it accepts, what it needs, and how to make one.
pub struct ExecutorKind {
    /// The word for it in messages and in the log, such as `process`.
    pub id: &'static str,
    /// Whether it runs this tool.
    pub accepts: fn(&Tool) -> bool,
    /// The capabilities that running this tool takes, whatever it declares. Naming the source of
    /// the tool on the command line or in the configuration grants them.
    pub needs: fn(&Tool) -> &'static [&'static str],
    /// Makes an executor. There is one of each kind per runner, and it lives as long.
    pub build: fn(&ExecutorContext) -> Arc<dyn Executor>,
}

/// All kinds of executors. The first that accepts a tool runs it.
pub static EXECUTORS: &[ExecutorKind] = &[
    process::EXECUTOR,
    mcp::EXECUTOR,
    browser::EXECUTOR,
    js::EXECUTOR,
    meta::EXECUTOR,
    builtin::EXECUTOR,
];
