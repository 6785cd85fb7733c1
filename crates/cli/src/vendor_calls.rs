//! `toolwright call --as TARGET`: runs the tool calls that a model of a vendor made, and prints the
//! results as the vendor's next request has them.
//!
//! ```text
//! stdin ─ read_calls ─▶ VendorCall ─ CallTable::restore ─▶ Runner::call, all at once
//!                                        │ refused               │
//!                       stdout ◀─ write_results ◀── VendorResult ┘
//! ```
//!
//! Shapes, names and arguments are the business of `toolwright_workspace::vendor_calls`; the runner
//! validates the restored arguments against the schema of the source. A call that fails is a result
//! like any other, because the vendor demands one for each call; exit 1 reports it to a script.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::{CallArguments, CallRequest, Failure, NoHost, Outcome, ResultContent};
use toolwright_formats::WriteTarget;
use toolwright_schema::VendorTarget;
use toolwright_source::Severity;
use toolwright_workspace::codes;
use toolwright_workspace::vendor_calls::{
    CallTable, RestoredCall, VendorCall, VendorResult, read_calls, write_results,
};

use crate::args::CallArgs;
use crate::output::{self, ExitStatus};
use crate::{call, messages, runtime, sources};

/// The longest input. As much as a definition may have; a pipe can be endless.
const MAX_INPUT: u64 = 16 << 20;

/// Runs all calls and prints their results.
///
/// The input is parsed before any source is started.
///
/// # Errors
/// If the input or the file of the session is unusable, there is no source, or the user interrupts
/// while a server is still starting.
pub(crate) fn run(args: &CallArgs, target: &str) -> anyhow::Result<ExitStatus> {
    let target =
        VendorTarget::by_id(target).with_context(|| format!("there is no target `{target}`"))?;
    let session = args.session.as_deref().map(|file| read_session(file, target)).transpose()?;
    let mut input = Vec::new();
    std::io::stdin().take(MAX_INPUT).read_to_end(&mut input).context("cannot read the calls")?;
    let answer = toolwright_schema::decode(&input).map_err(|why| anyhow!("the input is {why}"))?;
    let calls = read_calls(target, &answer)?;
    let listener = Arc::new(|event: &CatalogEvent| match event {
        CatalogEvent::Problem(d) if d.severity < Severity::Error => {}
        CatalogEvent::PlanProblem(d) if !codes::is_mistake(d) => {}
        event => messages::print_event(event),
    });
    runtime::new_runtime()?.block_on(async {
        let context = runtime::console_context();
        let policy = args.source.sandbox.jail_policy();
        let command = format!("call --as {} --from", target.id());
        let planner = sources::planner(&args.source, args.source.options(), &command)?;
        let catalog =
            sources::open_catalog(planner, policy, &args.source.allowed, context, listener)?;
        if catalog.source_count() == 0 {
            bail!("there is no source to load tools from");
        }
        let cancel = CancellationToken::new();
        let work = run_all(args, target, session, calls, &catalog, &cancel);
        let results = call::until_interrupted(&catalog, &cancel, work).await?;
        output::print_json(&write_results(target, &results))?;
        let failed = results.iter().any(|result| result.is_error);
        Ok(if failed { ExitStatus::Findings } else { ExitStatus::Clean })
    })
}

/// Reads the file that `convert --session` wrote for the target. The file maps the names in the
/// request to ids, and has what restores rewritten arguments.
///
/// # Errors
/// If the file was written for another target: names and rewrites differ between vendors.
fn read_session(file: &Path, target: VendorTarget) -> anyhow::Result<CallTable> {
    let name = file.display();
    let text = std::fs::read(file).with_context(|| format!("cannot read `{name}`"))?;
    let json = toolwright_schema::decode(&text).map_err(|why| anyhow!("`{name}` is {why}"))?;
    let table = CallTable::from_json(&json).with_context(|| format!("`{name}` cannot be used"))?;
    if table.target() != WriteTarget::Vendor(target) {
        let own = table.target().id();
        bail!("`{name}` was written for `{own}`, and the calls are those of `{}`", target.id());
    }
    Ok(table)
}

/// Loads the tools and runs the calls side by side, as the vendors mean them. The results are in
/// the order of the calls.
///
/// Without a session, tools are matched by the names that a conversion would give them, so all
/// sources have to be loaded. A call of a tool that is not in the table cannot be restored. Its
/// result is that error, and the other calls are made all the same.
///
/// ```text
/// with a session      its file has names and ids: only these sources are loaded
/// without a session   all sources are loaded, and names are computed as `convert` does
/// ```
async fn run_all(
    args: &CallArgs,
    target: VendorTarget,
    session: Option<CallTable>,
    calls: Vec<VendorCall>,
    catalog: &Catalog,
    cancel: &CancellationToken,
) -> Vec<VendorResult> {
    // `--timeout` covers loading and the calls together, so both start here.
    let started = Instant::now();
    let timeout = args.timeout.map(Duration::from_millis);
    let loading = async {
        match &session {
            // The file has the ids, so only their sources are started.
            Some(table) => {
                for restored in calls.iter().filter_map(|call| table.restore(call).ok()) {
                    catalog.load_for(&restored.id).await;
                }
            }
            None => drop(catalog.load_all().await),
        }
    };
    // A source that is not ready in time has no tools, and calls of them fail for this reason.
    match timeout {
        None => loading.await,
        Some(time) => drop(tokio::time::timeout(time, loading).await),
    }
    let table = session.unwrap_or_else(|| {
        let registry = catalog.runner().registry();
        let tools = registry.all_versions().map(|entry| {
            let tool = &entry.tool;
            (entry.id.to_string(), tool.version.as_ref(), tool.input.written())
        });
        CallTable::of_tools(target, tools)
    });
    let run = |call: VendorCall| {
        let table = &table;
        async move {
            let restored = match table.restore(&call) {
                Ok(restored) => restored,
                Err(error) => return VendorResult::error(call, &error.to_string()),
            };
            match run_one(restored, timeout, started, catalog, cancel).await {
                Ok(outcome) => result_of(call, outcome),
                Err(failure) => VendorResult::error(call, &failure.to_text()),
            }
        }
    };
    futures::future::join_all(calls.into_iter().map(run)).await
}

/// No person is asked: the input is a pipe, and questions of grants are refused (`NoHost`). The
/// deadline counts from `started`, so loading and all calls share `timeout`.
async fn run_one(
    restored: RestoredCall,
    timeout: Option<Duration>,
    started: Instant,
    catalog: &Catalog,
    cancel: &CancellationToken,
) -> Result<Outcome, Failure> {
    let mut request = CallRequest::new(restored.id);
    // Restoring has parsed it already, so this cannot fail.
    if let Ok(arguments) = CallArguments::parse(&restored.arguments) {
        request.arguments = arguments;
    }
    request.timeout = timeout;
    request.started = started;
    request.cancel = cancel.clone();
    catalog.runner().call(request, &NoHost).await
}

/// Content and structured content are both handed over; `write_results` decides which of them the
/// vendor takes. Warnings of the runner go to stderr: a vendor has no place for them.
fn result_of(call: VendorCall, outcome: Outcome) -> VendorResult {
    for warning in &outcome.warnings {
        messages::print_note(warning);
    }
    VendorResult {
        call,
        content: outcome.content.iter().map(ResultContent::to_json).collect(),
        structured: outcome.structured,
        is_error: outcome.is_error,
    }
}
