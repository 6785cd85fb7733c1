//! Tools that the program itself brings along, such as `web:fetch`.
//!
//! ```text
//! binary ─▶ ExecutorContext::builtins ─┬─ catalog: list, changes ─▶ definitions, read like others
//!                                      └─ BuiltinExecutor: run ──▶ Outcome or Failure
//! ```
//!
//! The binary implements the toolsets and passes them in, so this crate depends on none
//! of them. What it lists is read, checked, pinned and gated like the list of an MCP server, and a
//! call takes all steps of the runner. Only a source of the configuration names a toolset, and
//! naming it grants its use: no definition can.

use std::ffi::OsString;
use std::sync::Arc;

use tokio::sync::watch;
use toolwright_model::{Binding, Tool};

use crate::executor::{Call, Executor, ExecutorKind};
use crate::{
    BoxFuture, Budget, CallArguments, Failure, Host, Json, Outcome, RegisteredTool, SessionNumber,
    code,
};

/// A set of tools that the program brings along.
pub trait BuiltinToolset: Send + Sync {
    /// The name by which `builtin` of a source names it.
    fn name(&self) -> &'static str;

    /// Its tools at this moment, as the result of MCP's `tools/list`: `{"tools": […]}`. The names
    /// in it come back in [`BuiltinCall::tool`]. `environment` are the variables that the source
    /// sets.
    ///
    /// # Errors
    /// If the tools cannot be found out now. Those of the last list stay in use.
    fn list<'a>(
        &'a self,
        environment: &'a [(OsString, OsString)],
    ) -> BoxFuture<'a, Result<Json, Failure>>;

    /// A number that changes with the list: the catalog then asks for it again. `None` for a
    /// toolset whose list stays as it is while the program runs.
    fn changes(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Whether a tool of the list exists for a session, whose page may be the one that offers it.
    fn may_see(&self, _tool: &str, _session: Option<SessionNumber>) -> bool {
        true
    }

    /// A number that changes with what [`BuiltinToolset::may_see`] answers.
    fn visibility(&self) -> u64 {
        0
    }

    /// The capabilities that a tool takes although its source was named.
    fn needs(&self, _tool: &str) -> &'static [&'static str] {
        &[]
    }

    /// The origin of the page that a call would work on, for a tool whose needs are about pages.
    fn page_origin<'a>(
        &'a self,
        _tool: &'a str,
        _arguments: &'a CallArguments,
        _host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Runs a tool once. [`Host::session`] tells the sessions of clients apart.
    ///
    /// The runner drops the future when the deadline passes or the caller cancels. Work on another
    /// thread must end soon after [`Budget::remaining`] has passed.
    fn run<'a>(
        &'a self,
        call: BuiltinCall<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>>;

    /// Releases what outlives a single call, such as a browser.
    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// One call of a built-in tool. Its arguments are valid.
pub struct BuiltinCall<'a> {
    /// The name that the toolset gave to the tool.
    pub tool: &'a str,
    /// The arguments.
    pub arguments: &'a CallArguments,
    /// The variables that the source sets.
    pub environment: &'a [(OsString, OsString)],
    /// The origin of the page that the call was allowed for.
    pub origin: Option<&'a str>,
    /// Time and output that the call may use.
    pub budget: &'a Budget,
}

/// The entry in the table of executors.
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "builtin",
    accepts: |tool| matches!(tool.details.binding, Binding::Builtin { .. }),
    // A source that names the toolset is the only way to such a tool.
    needs: |_| &[],
    build: |parts| Arc::new(BuiltinExecutor { toolsets: parts.builtins.clone() }),
};

/// Runs the tools of all built-in toolsets.
struct BuiltinExecutor {
    toolsets: Vec<Arc<dyn BuiltinToolset>>,
}

impl Executor for BuiltinExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            // Cannot happen while `EXECUTOR.accepts` is right, but a wrong table must not panic.
            let Binding::Builtin { toolset, tool } = &call.tool.details.binding else {
                let message = format!("`{}` is not a built-in tool", call.tool.name);
                return Err(Failure::new(&code::NOT_RUNNABLE, message));
            };
            let Call { arguments, environment, origin, budget, .. } = call;
            let call = BuiltinCall { tool, arguments, environment, origin, budget };
            find(&self.toolsets, toolset)?.run(call, host).await
        })
    }

    fn needs(&self, tool: &Tool) -> &'static [&'static str] {
        let Binding::Builtin { toolset, tool } = &tool.details.binding else { return &[] };
        find(&self.toolsets, toolset).map_or(&[], |toolset| toolset.needs(tool))
    }

    fn page_origin<'a>(
        &'a self,
        entry: &'a RegisteredTool,
        arguments: &'a CallArguments,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Option<String>, Failure>> {
        Box::pin(async move {
            let Binding::Builtin { toolset, tool } = &entry.tool.details.binding else {
                return Ok(None);
            };
            find(&self.toolsets, toolset)?.page_origin(tool, arguments, host).await
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            for toolset in &self.toolsets {
                toolset.close().await;
            }
        })
    }
}

/// The toolset of this name.
pub(crate) fn find<'t>(
    toolsets: &'t [Arc<dyn BuiltinToolset>],
    name: &str,
) -> Result<&'t Arc<dyn BuiltinToolset>, Failure> {
    toolsets.iter().find(|toolset| toolset.name() == name).ok_or_else(|| {
        let message = format!("this program has no built-in toolset `{name}`");
        Failure::new(&code::NOT_RUNNABLE, message)
    })
}
