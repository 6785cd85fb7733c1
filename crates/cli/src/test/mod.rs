//! `toolwright test`: runs every example of every definition as a test.
//!
//! ```text
//! definitions ─ cases ─▶ ExampleCase ─ ExampleRunner ─▶ ExampleResult ─ render ─▶ text
//!                                         └─ with --run: Catalog, calls the tool
//! ```
//!
//! This file loads the definitions, runs the examples side by side, and decides the exit status.
//! Which examples there are is in `toolwright_workspace::examples`; `run` runs one, `render` prints
//! the results. Definitions with errors are tested as far as they can be read, but an error that
//! may hide examples makes the exit status 2: a green run must mean that everything was tested.

mod render;
mod run;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use futures::StreamExt;
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::Log;
use toolwright_model::CallLimits;
use toolwright_source::{Diagnostic, Severity, render as diagnostics};
use toolwright_workspace::examples::{self, ExampleCase};
use toolwright_workspace::{LoadResult, codes};

use self::run::{ExampleResult, ExampleRunner, ExampleStatus};
use crate::args::{DiagnosticFormat, SourceArgs, TestArgs, TestFormat};
use crate::output::{self, ExitStatus};
use crate::sources::{self, PlanLog, SourceSearch};
use crate::{messages, report, runtime, sandbox, script_analyzer};

/// What was only found is not started without a question.
const FIND: SourceSearch = SourceSearch { command: "test", starts: true, announced: true };

/// Runs the command.
///
/// ```text
/// 0  every example passed or was skipped
/// 1  an example failed
/// 2  a source, or something that may hold examples, could not be read
/// ```
///
/// # Errors
/// If arguments contradict each other, there is no example or none matches `--filter`, the sandbox
/// cannot start, or the user interrupts.
pub(crate) fn run(args: &TestArgs) -> anyhow::Result<ExitStatus> {
    if args.exact && !args.run {
        bail!("`--exact` compares the results of tools, so it needs `--run`");
    }
    // The definitions are loaded twice with `--run`, and stdin can be read once.
    let is_stdin = |source: &String| toolwright_workspace::is_stdin(source.as_ref());
    if args.run && args.selected.sources.iter().any(is_stdin) {
        bail!("`--run` cannot read `-`: name the file of the definition");
    }
    let args = &TestArgs { selected: sources::resolve(&args.selected, &FIND)?, ..args.clone() };
    // First, because it fails on a wrong configuration with all of its mistakes.
    let limits = sources::configured_limits(args.selected.named_configuration())?;
    let load = sources::load_resolved(&args.selected, PlanLog::All(DiagnosticFormat::Full))?;
    let unread = report_errors(&load);
    let mut cases = examples::cases(&load);
    let total = cases.len();
    // Several filters narrow the selection: an example must match all of them.
    cases.retain(|case| args.filter.iter().all(|part| case.matches(part)));
    // A filter without any match is probably misspelled; "0 failed" would hide that.
    if total > 0 && cases.is_empty() {
        bail!("no example of {total} has a name with `{}` in it", args.filter.join("` and `"));
    }
    let found_none = total == 0 && unread.is_empty();
    // Loading is not measured: the times are those of the examples.
    let began = Instant::now();
    let results = run_examples(args, &limits, &load, &unread, &cases)?;
    // "0 passed" is for programs; people read the sentence below.
    if !found_none || args.output_format != TestFormat::Tree {
        print_results(&cases, &results, &unread, began.elapsed(), args.output_format)?;
    }
    for failure in &load.failures {
        output::print_error(&failure.clone().into());
    }
    // Printed after the results, which show the examples that need no sandbox.
    if let Some(why) = results.iter().find_map(|result| result.no_sandbox.as_ref()) {
        bail!("the sandbox cannot start: {why}");
    }
    // A run without any example shows nothing, and must not look like a success.
    if found_none {
        let tools = load.documents.iter().flat_map(|file| &file.reading);
        let tools = tools.map(|reading| reading.toolset.tools.len()).sum();
        bail!("there is nothing to test: {} without an example", report::plural(tools, "tool"));
    }
    // Skipped examples do not fail a run: they show nothing either way.
    let failed = results.iter().any(|result| matches!(result.status, ExampleStatus::Failed(_)));
    // A source that could not be loaded makes the run incomplete, whatever its other examples show.
    // A failed example weighs more than an error that may hide others.
    Ok(match () {
        () if !load.failures.is_empty() => ExitStatus::CouldNotRun,
        () if failed => ExitStatus::Findings,
        () if !unread.is_empty() => ExitStatus::CouldNotRun,
        () => ExitStatus::Clean,
    })
}

/// Runs the examples side by side, and ends all processes afterwards. The results are in the order
/// of the cases. The catalog is loaded only with `--run`: without it, no server is started for the
/// examples.
///
/// # Errors
/// If the configuration, the sandbox or the tools cannot be set up, or the user interrupts.
fn run_examples(
    args: &TestArgs,
    limits: &CallLimits,
    load: &LoadResult,
    unread: &[String],
    cases: &[ExampleCase],
) -> anyhow::Result<Vec<ExampleResult>> {
    let pool = sandbox::new_pool(args.sandbox.jail_policy())?;
    let analyzer = script_analyzer::new_analyzer();
    // As many as there are cores: validators use a processor each.
    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    // Once per document, not per example.
    let knowledge: Vec<_> = load
        .documents
        .iter()
        .map(|file| file.reading.as_ref().and_then(toolwright_catalog::knowledge).map(Arc::new))
        .collect();
    let results = runtime::new_runtime()?.block_on(async {
        let catalog = if args.run { Some(load_catalog(args, unread).await?) } else { None };
        let runner = ExampleRunner {
            pool: &pool,
            analyzer: &analyzer,
            limits,
            knowledge: &knowledge,
            catalog: catalog.as_deref(),
            exact: args.exact,
        };
        // `buffered` keeps the order of the cases, which the output formats rely on.
        let work =
            futures::stream::iter(cases).map(|case| runner.run(case)).buffered(jobs).collect();
        let results = tokio::select! {
            results = work => Ok(results),
            () = runtime::wait_for_signal() => Err(anyhow::anyhow!("interrupted")),
        };
        if let Some(catalog) = catalog {
            catalog.runner().close().await;
        }
        results
    })?;
    toolwright_exec::kill_all_processes();
    Ok(results)
}

/// Prints the results to stdout. Only the tree has colours, so only it is filtered.
fn print_results(
    cases: &[ExampleCase],
    results: &[ExampleResult],
    unread: &[String],
    time: Duration,
    form: TestFormat,
) -> anyhow::Result<()> {
    match form {
        TestFormat::Tree => output::print(&render::tree(cases, results, time)),
        TestFormat::Json => output::print_unfiltered(&render::json(cases, results, unread, time)),
        TestFormat::Junit => output::print_unfiltered(&render::junit(cases, results, unread, time)),
    }
}

/// Writes the errors of the definitions to stderr. Returns the errors that may have hidden
/// examples. Each of them is also in the output for programs, as `unread`.
fn report_errors(load: &LoadResult) -> Vec<String> {
    let errors = load.documents.iter().flat_map(|file| &file.diagnostics);
    let errors: Vec<_> =
        errors.filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    // The errors of the plan have been written before it was loaded.
    let of_documents = load.documents.iter().filter(|file| !file.secret);
    let of_documents = of_documents.flat_map(|file| &file.diagnostics);
    for diagnostic in of_documents.filter(|d| d.severity == Severity::Error) {
        output::write_stderr(&format!("{}\n", diagnostics::concise(diagnostic)));
    }
    let unparsed = |name: &String| format!("`{name}` could not be parsed and is skipped");
    load.unparsed.iter().map(unparsed).for_each(|sentence| messages::print_note(&sentence));
    // A list of examples of the wrong type has unknown content, and behind a mistake of the syntax
    // nothing was read.
    let may_hide = |diagnostic: &&Diagnostic| match diagnostic.code.name {
        // Any other wrong type leaves the examples readable.
        "INVALID_TYPE" => diagnostic.path.tokens().any(|token| token == "examples"),
        name => ["INVALID_SYNTAX", "INVALID_ENCODING", "TOO_DEEP"].contains(&name),
    };
    // Documents that no format could read: all of their diagnostics count, each once.
    let unread = load
        .documents
        .iter()
        .filter(|file| file.reading.is_none())
        .flat_map(|file| &file.diagnostics)
        .filter(|diagnostic| !codes::is_advice(diagnostic.code));
    let mut hiding: Vec<&Diagnostic> = errors.into_iter().filter(may_hide).collect();
    hiding.extend(unread.filter(|diagnostic| !may_hide(diagnostic)));
    let failures = load.failures.iter().map(ToString::to_string);
    hiding
        .into_iter()
        .map(diagnostics::concise)
        .chain(load.unparsed.iter().map(unparsed))
        .chain(failures)
        .collect()
}

/// Loads the same sources a second time, with tools that can be called. Diagnostics and the sources
/// in `unread` are reported by the first load; only other sources that fail are reported here.
async fn load_catalog(args: &TestArgs, unread: &[String]) -> anyhow::Result<Arc<Catalog>> {
    // The arguments of `test` name sources as positionals, those of `call` with `--from`.
    let source = SourceArgs {
        config: args.selected.config.clone(),
        from: args.selected.sources.clone(),
        command: args.selected.command.clone(),
        compat: args.selected.reading.options(false).compat,
        allowed: args.allowed.clone(),
        environment: args.selected.environment.clone(),
        sandbox: args.sandbox.clone(),
    };
    let unread = unread.to_vec();
    let listener = Arc::new(move |event: &CatalogEvent| match event {
        CatalogEvent::Problem(_) | CatalogEvent::PlanProblem(_) => {}
        event if messages::event_text(event).is_some_and(|text| unread.contains(&text)) => {}
        event => messages::print_event(event),
    });
    let planner = sources::planner(&source, args.selected.reading.options(false), "test")?;
    let catalog = sources::open_catalog(
        planner,
        args.sandbox.jail_policy(),
        &args.allowed,
        runtime::executor_context(Log::default()),
        listener,
    )?;
    catalog.load_all().await;
    Ok(catalog)
}
