//! `toolwright serve`: serves all tools to agents over MCP.
//!
//! Without `--http`, one agent talks over stdin and stdout, so nothing else may use them; with
//! `--http`, any number of agents connect. The log goes to stderr in both cases. Sources are loaded
//! in the background, so agents can connect while slow servers still start.
//!
//! Elsewhere: the protocol (`toolwright_serve`), loading and reloading (`toolwright_catalog`).
//!
//! ```text
//! plan ─▶ Catalog (watch: load, reload) ─▶ Runner ─▶ Gateway ─┬─ serve_stdio: one client
//!   └─ errors end the start                                   └─ HttpServer: many
//! ```

use std::sync::Arc;

use anyhow::bail;
use tokio_util::sync::CancellationToken;
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_serve::{AgentTokens, Gateway, HttpError, HttpServer, ServeOptions, serve_stdio};
use toolwright_source::Severity;
use toolwright_workspace::{ServeSettings, SourcePlan, SourceTarget, special_file};

use crate::args::ServeArgs;
use crate::output::ExitStatus;
use crate::{environment, messages, report, runtime, sources, start_progress};

/// Serves until the agent disconnects or a signal arrives, then ends all processes. The exit status
/// is 0 after a signal, too: that is how a server is ended.
///
/// # Errors
/// If there is no source to serve, or the address cannot be used.
pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<ExitStatus> {
    // The log of a server is read later, often together with others.
    messages::log_with_times();
    let runtime = match args.http {
        Some(_) => runtime::new_runtime()?,
        None => runtime::new_runtime_for_one_client()?,
    };
    let result = runtime.block_on(serve(args));
    start_progress::clear();
    // The read of stdin blocks a thread that cannot be cancelled; an ordinary shutdown would wait
    // for it.
    runtime.shutdown_background();
    // Also after an error: no process of a tool may survive this one.
    toolwright_exec::kill_all_processes();
    result
}

/// Serves on the transport that the arguments choose.
///
/// The order at the start: the plan, so that typing errors are reported at once; the catalog; the
/// address (programs wait for the line with the port); and only then sources are started. At the
/// end the tasks of the catalog stop before its servers do.
async fn serve(args: &ServeArgs) -> anyhow::Result<ExitStatus> {
    // Planned once before serving: without any source a typing error is likely, and an agent would
    // only see an empty list. A single broken source does not stop the others.
    let source = args.all_sources();
    let planner = sources::planner(&source, source.options(), "serve")?;
    let plan = planner();
    if plan.specs.is_empty() {
        match plan.diagnostics.is_empty() && plan.failures.is_empty() {
            true => bail!("there is no source to serve"),
            false => return Err(messages::plan_error(&plan)),
        }
    }
    refuse_unreadable(&source.from, &plan)?;
    let reads_stdin = source.from.iter().any(|source| source == "-");
    if reads_stdin && args.http.is_none() {
        bail!(
            "`-` cannot be a source, because the agent uses standard input (use --http, or a file)"
        );
    }
    let catalog = sources::open_catalog(
        planner,
        args.jail_policy(),
        &args.source.allowed,
        runtime::executor_context(runtime::stderr_log()),
        Arc::new(log_event),
    )?;
    if let Some(folder) = environment::cache_folder().filter(|_| !args.no_cache) {
        catalog.use_cache(&folder);
    }
    tokio::spawn(show_start(Arc::clone(&catalog)));
    let gateway = Gateway::new(Arc::clone(&catalog), serve_options(&plan.serve));
    let until = CancellationToken::new();
    end_on_signals(&until);
    match &args.http {
        None => {
            catalog.watch(&until);
            serve_stdio(gateway, until.clone()).await;
            // Before servers are closed: the tasks of the catalog would start them again.
            until.cancel();
            catalog.runner().close().await;
        }
        Some(address) => {
            // An empty variable counts as not set.
            let token = environment::variable("TOOLWRIGHT_TOKEN")
                .map(|token| token.trim().to_owned())
                .filter(|token| !token.is_empty());
            let agents = match plan.policy.agents.is_empty() {
                true => AgentTokens::None,
                false => AgentTokens::Some,
            };
            let http =
                HttpServer::bind(address, token, agents).await.map_err(|error| match error {
                    HttpError::NoToken(_) => {
                        anyhow::anyhow!("{error}: set TOOLWRIGHT_TOKEN, or listen on 127.0.0.1")
                    }
                    HttpError::Listen(..) if address.parse::<u16>().is_ok() => {
                        anyhow::anyhow!(
                            "`{address}` is not an address; write `127.0.0.1:{address}`"
                        )
                    }
                    other => other.into(),
                })?;
            // Before the sources: programs that start this one wait for this line to find the port.
            messages::print_note(&format!("listening on {}", http.url()));
            catalog.watch(&until);
            http.serve(gateway, until.clone()).await;
            catalog.runner().close().await;
        }
    }
    Ok(ExitStatus::Clean)
}

/// Refuses to serve nothing: if the command line names only files and folders, and none of them can
/// be read or has a definition, a path is probably wrong. A folder that the configuration names may
/// be filled later. A server or a program among the sources is enough to serve, since it may appear
/// later.
///
/// # Errors
/// If there is nothing to serve.
fn refuse_unreadable(named: &[String], plan: &SourcePlan) -> anyhow::Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    let mut failures = Vec::new();
    for spec in &plan.specs {
        let SourceTarget::Definitions(path) = &spec.target else { return Ok(()) };
        // A mistake in a single file is reported when it is loaded.
        if !path.is_dir() && special_file(path).is_none() {
            return Ok(());
        }
        let load = sources::workspace().load(std::slice::from_ref(path), spec.options);
        if !load.documents.is_empty() {
            return Ok(());
        }
        failures.extend(load.failures);
    }
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| messages::print_note(&failure.to_string()));
    Err(last.into())
}

/// The settings of the configuration, as the server takes them.
fn serve_options(settings: &ServeSettings) -> ServeOptions {
    // By destructuring, so that a new setting cannot be forgotten here.
    let ServeSettings { session_idle, list_wait, answer_tokens, allowed_hosts, allowed_origins } =
        settings.clone();
    ServeOptions {
        session_idle,
        list_wait,
        answer_tokens,
        allowed_hosts,
        allowed_origins,
        ..ServeOptions::default()
    }
}

/// Shows on a terminal how many sources are still starting, until the last one was tried. Without a
/// terminal, nothing is shown.
async fn show_start(catalog: Arc<Catalog>) {
    let mut changes = catalog.changes();
    loop {
        let (starting, all) = (catalog.untried_sources(), catalog.source_count());
        if starting == 0 {
            return start_progress::clear();
        }
        start_progress::show(start_progress::text(starting, all));
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// Logs what happens to sources. Warnings about definitions are left out: `check` is the place for
/// them. Those about servers are logged, because servers are about to be started. Called from any
/// thread that loads a source.
fn log_event(event: &CatalogEvent) {
    match event {
        // The usual line; the second number appears only if there is something to look at.
        CatalogEvent::Loaded { source, ready, quarantined: 0 } => {
            messages::print_note(&format!("{source}: {}", report::plural(*ready, "tool")));
        }
        CatalogEvent::Loaded { source, ready, quarantined } => {
            let ready = report::plural(*ready, "tool");
            messages::print_note(&format!(
                "{source}: {ready}, {quarantined} quarantined because of errors"
            ));
        }
        CatalogEvent::Problem(diagnostic) if diagnostic.severity < Severity::Error => {}
        CatalogEvent::PlanProblem(diagnostic) if diagnostic.severity == Severity::Info => {}
        event => messages::print_event(event),
    }
}

/// After the first signal running calls may finish; the second one ends the process at once. The
/// token also ends the tasks of the catalog, so nothing is started any more.
fn end_on_signals(until: &CancellationToken) {
    let until = until.clone();
    tokio::spawn(async move {
        runtime::wait_for_signal().await;
        messages::print_note("shutting down");
        until.cancel();
        // A tool that ignores its cancellation can delay the end until its deadline.
        runtime::wait_for_signal().await;
        toolwright_exec::kill_all_processes();
        std::process::exit(1);
    });
}
