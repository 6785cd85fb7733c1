//! `toolwright doctor`: reports which layers of the sandbox's jail this system supports, files by
//! which agents could raise their rights, and which servers of the named sources answer and pass
//! the health checks of their definitions.
//!
//! It starts a real worker and runs a program in it, instead of asking the kernel for its features:
//! container runtimes and security modules may forbid what the kernel supports. The layers are
//! implemented in `toolwright_sandbox`.
//!
//! A report for people: its lines have no fixed form, and programs use the exit status. Weaknesses
//! of the browser that are settings (`weaker: …`) do not count for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolwright_catalog::{CatalogEvent, SourceFailure};
use toolwright_model::Binding;
use toolwright_sandbox::{
    GuestLimits, JailPolicy, JailReport, LayerState, PoolOptions, ProgramForm, ProgramInput,
    WorkerPool,
};

use toolwright_source::render::visible;
use toolwright_workspace::Config;

use crate::args::{AllowArgs, DoctorArgs, SourceArgs};
use crate::output::{self, ExitStatus};
use crate::record_text::one_line;
use crate::report::plural;
use crate::{browser_command, call, messages, reachable_files, runtime, sandbox, sources};

/// Prints the report. Exits with 1 if a layer is missing or holds only in part, agents could change
/// what they may do, or a server does not work. The order: the jail, the browser, files in reach,
/// servers. Servers take longest to answer, so the rest is printed before they are asked.
///
/// # Errors
/// If no worker can be started or it computes nonsense: then no JavaScript can run at all. If the
/// sources cannot be read, or the user interrupts.
pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<ExitStatus> {
    let pool =
        WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(sandbox::worker_command()?) });
    let report = pool.jail_blocking()?;
    let program =
        pool.compile_blocking("module.exports = ({ n }) => n + 1", ProgramForm::Script, None)?;
    let input = ProgramInput::args(serde_json::json!({ "n": 1 }));
    let output = pool.run_blocking(&program, &input, &GuestLimits::default(), None)?;
    anyhow::ensure!(output.value == 2, "the sandbox computed 1 + 1 = {}", output.value);
    output::print(&report_text(&report))?;
    let mut reachable = Vec::new();
    for config in configurations(args)? {
        output::print(&browser_command::doctor_line(&config)?)?;
        reachable.extend(reachable_files::report(&config));
    }
    for sentence in &reachable {
        let help = "help: move it, or give the server another folder";
        output::print(&format!("trust: {}\n  {help}\n", visible(sentence)))?;
    }
    let servers = match args.named_sources() {
        Some(sources) => check_servers(&sources)?,
        None => ServerReport::default(),
    };
    output::print(&servers.to_text())?;
    let is_well =
        report.is_complete() && reachable.is_empty() && servers.rows.iter().all(|row| row.is_well);
    Ok(if is_well { ExitStatus::Clean } else { ExitStatus::Findings })
}

/// The configurations that are looked at: those that are named, else the one of this folder.
///
/// Several `--from` may be configurations; then there is a report for each.
fn configurations(args: &DoctorArgs) -> anyhow::Result<Vec<PathBuf>> {
    let named = args.named_sources();
    let from = named.iter().flat_map(|sources| &sources.from).map(PathBuf::from);
    let from: Vec<PathBuf> = from.filter(|path| Config::is_named(path)).collect();
    if !from.is_empty() {
        return Ok(from);
    }
    let config = named.as_ref().and_then(|sources| sources.config.as_deref());
    Ok(sources::find_configuration(config)?.into_iter().collect())
}

/// What is reported about servers. One row for each server: those that failed first, then the
/// others by name.
#[derive(Default)]
struct ServerReport {
    rows: Vec<ServerRow>,
}

/// `what` is the number of tools, or the failure. `name` is the namespace of its tools or, without
/// one, the name of the source.
struct ServerRow {
    name: String,
    is_well: bool,
    what: String,
}

/// Connects to all servers of the sources. Their health checks are a part of connecting. Nothing is
/// called, and everything that was started is ended.
///
/// A server counts as well if its list could be loaded. Its tools may still have errors: `check`
/// shows them.
///
/// A server that lists no tool and did not fail has no row.
///
/// # Errors
/// If the sources cannot be read, or the user interrupts.
fn check_servers(sources: &SourceArgs) -> anyhow::Result<ServerReport> {
    let planner = sources::planner(sources, sources.options(), "doctor")?;
    let listener = Arc::new(|event: &CatalogEvent| match event {
        // In the report, or the business of `check`.
        CatalogEvent::SourceFailure(_) | CatalogEvent::Loaded { .. } | CatalogEvent::Problem(_) => {
        }
        event => messages::print_event(event),
    });
    runtime::new_runtime()?.block_on(async {
        let context = runtime::console_context();
        let policy = sources.sandbox.jail_policy();
        let catalog =
            sources::open_catalog(planner, policy, &AllowArgs::default(), context, listener)?;
        let cancel = CancellationToken::new();
        let failures = call::until_interrupted(&catalog, &cancel, catalog.load_all()).await?;
        let mut tools: BTreeMap<String, (usize, Option<String>)> = BTreeMap::new();
        for entry in catalog.runner().registry().iter() {
            if let Binding::Server { server, .. } = &entry.tool.details.binding {
                let name = entry.id.namespace.as_ref();
                let name = name.map_or_else(|| server.settings.source.clone(), ToString::to_string);
                let row = tools.entry(name).or_default();
                row.0 += 1;
                let check = server.health_check.as_ref();
                row.1 = check.and_then(|it| it.runnable_command()).map(str::to_owned);
            }
        }
        catalog.ineffective_policy().iter().for_each(|sentence| messages::print_note(sentence));
        let mut report = ServerReport::default();
        for SourceFailure { source, failure } in failures {
            tools.remove(&source);
            let what = format!("{}: {}", failure.code.name, failure.message);
            report.rows.push(ServerRow { name: source, is_well: false, what });
        }
        for (name, (count, check)) in tools {
            let what = plural(count, "tool");
            let check = check.map(|command| format!(", health check `{command}` passed"));
            let what = what + &check.unwrap_or_default();
            report.rows.push(ServerRow { name, is_well: true, what });
        }
        Ok(report)
    })
}

impl ServerReport {
    fn to_text(&self) -> String {
        let mut text = String::new();
        for ServerRow { name, is_well, what } in &self.rows {
            let state = if *is_well { "ok" } else { "failed" };
            let (name, what) = (one_line(name), one_line(what));
            let _ = writeln!(text, "server {name:<18} {state:<8} {what}");
        }
        text
    }
}

/// A line per layer with what it protects from. Below a layer that does not hold completely, the
/// reason and the remedy; at the end the consequence.
fn report_text(report: &JailReport) -> String {
    let mut text = String::from("sandbox: a worker started and ran a program\n");
    let mut line = |name: &str, state: &str, what: &str| {
        let _ = writeln!(text, "  {name:<18} {state:<8} {what}");
    };
    line("layer", "state", "protects from");
    for (layer, state) in report.layers() {
        let word = match state {
            LayerState::Active => "ok",
            LayerState::Partial(_) => "partly",
            LayerState::Missing(_) => "missing",
        };
        line(layer.name(), word, layer.protects_from());
        if let Some(reason) = state.reason() {
            line("", "", &format!("reason: {reason}"));
            line("", "", &format!("help: {}", layer.remedy()));
        }
    }
    text.push_str(if report.is_complete() {
        "all layers of the sandbox hold\n"
    } else if report.refusal(JailPolicy::RequireEssential).is_some() {
        "`serve` runs no JavaScript here unless it is given `--allow-weak-jail`; \
         other commands do, with a note\n"
    } else {
        "JavaScript runs with the remaining layers; `--require-jail` refuses to run it\n"
    });
    text
}
