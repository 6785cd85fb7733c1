//! `toolwright test`: every example of every definition is a test. What the examples are is in
//! `toolwright_workspace::examples`; `run` runs one, `render` shows the results.

mod render;
mod run;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use futures::StreamExt;
use toolwright_catalog::{Catalog, CatalogEvent};
use toolwright_exec::Log;
use toolwright_source::{Diagnostic, Severity, render as diagnostics};
use toolwright_workspace::examples::{self, ExampleCase};
use toolwright_workspace::{LoadResult, SourcePlan};

use self::run::{ExampleResult, ExampleRunner, ExampleStatus};
use crate::args::{SelectedSources, SourceArgs, TestArgs, TestForm};
use crate::output::{self, Exit};
use crate::{environment, messages, runtime, sandbox, script_analyzer, sources};

pub(crate) fn run(args: &TestArgs) -> anyhow::Result<Exit> {
    if args.exact && !args.run {
        bail!("`--exact` compares what tools answer, which only `--run` asks them for");
    }
    if args.run
        && args
            .selected
            .sources
            .iter()
            .any(|source| toolwright_workspace::is_stdin(source.as_ref()))
    {
        bail!("`--run` calls tools from where they are, so `-` cannot be a source: name the file");
    }
    let load = load(args)?;
    let unread = tell_of_errors(&load);
    let mut cases = examples::cases(&load);
    let total = cases.len();
    cases.retain(|case| args.filter.iter().all(|part| case.matches(part)));
    if total > 0 && cases.is_empty() {
        bail!("no example of {total} has a name with `{}` in it", args.filter.join("` and `"));
    }
    let began = Instant::now();
    let limits = sources::limits(args.selected.config.as_deref())?;
    let pool = sandbox::pool(args.sandbox.require_jail)?;
    let analyzer = script_analyzer::script_analyzer();
    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let knowledge: Vec<_> = load
        .documents
        .iter()
        .map(|it| it.reading.as_ref().and_then(toolwright_catalog::knowledge).map(Arc::new))
        .collect();
    let tried: Vec<ExampleResult> = runtime::runtime()?.block_on(async {
        let catalog = if args.run { Some(catalog(args).await?) } else { None };
        let runner = ExampleRunner {
            pool: &pool,
            analyzer: &*analyzer,
            limits: &limits.functions,
            knowledge: &knowledge,
            catalog: catalog.as_deref(),
            exact: args.exact,
        };
        let work =
            futures::stream::iter(&cases).map(|case| runner.run(case)).buffered(jobs).collect();
        let tried = tokio::select! {
            tried = work => Ok(tried),
            () = runtime::interrupted() => Err(anyhow::anyhow!("interrupted")),
        };
        if let Some(catalog) = catalog {
            catalog.runner().close().await;
        }
        tried
    })?;
    toolwright_exec::kill_all_processes();
    print(&cases, &tried, &unread, began.elapsed(), args.output_format)?;
    for failure in &load.failures {
        output::complain(&failure.clone().into());
    }
    let failed = tried.iter().any(|tried| matches!(tried.status, ExampleStatus::Failed(_)));
    if let Some(why) = tried.iter().find_map(|tried| tried.no_sandbox.as_ref()) {
        bail!("the sandbox cannot start: {why}");
    }
    Ok(match () {
        () if !load.failures.is_empty() => Exit::CouldNotRun,
        () if failed => Exit::Findings,
        () if !unread.is_empty() => Exit::CouldNotRun,
        () => Exit::Clean,
    })
}

fn print(
    cases: &[ExampleCase],
    tried: &[ExampleResult],
    unread: &[String],
    time: Duration,
    form: TestForm,
) -> anyhow::Result<()> {
    match form {
        TestForm::Tree => output::print(&render::tree(cases, tried, time)),
        TestForm::Json => output::print_raw(&render::json(cases, tried, unread, time)),
        TestForm::Junit => output::print_raw(&render::junit(cases, tried, unread, time)),
    }
}

/// Says what is wrong with the definitions. Returns what of it may hide examples.
fn tell_of_errors(load: &LoadResult) -> Vec<String> {
    let errors = load.documents.iter().flat_map(|file| &file.diagnostics);
    let errors: Vec<_> =
        errors.filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    for diagnostic in &errors {
        output::say(&format!("{}\n", diagnostics::concise(diagnostic)));
    }
    let unparsed = |name: &String| format!("`{name}` could not be parsed and is skipped");
    load.unparsed.iter().map(unparsed).for_each(|sentence| messages::note(&sentence));
    // A list of examples that cannot be read is one that cannot be tried; nor is what stands behind
    // a mistake of the text.
    let missed = |diagnostic: &&Diagnostic| match diagnostic.code.name {
        "INVALID_TYPE" => diagnostic.path.tokens().any(|token| token == "examples"),
        name => ["INVALID_SYNTAX", "INVALID_ENCODING", "TOO_DEEP"].contains(&name),
    };
    let unread = load
        .documents
        .iter()
        .filter(|file| file.reading.is_none())
        .flat_map(|file| &file.diagnostics);
    let mut hiding: Vec<&Diagnostic> = errors.into_iter().filter(missed).collect();
    hiding.extend(unread.filter(|diagnostic| !missed(diagnostic)));
    let failures = load.failures.iter().map(ToString::to_string);
    hiding
        .into_iter()
        .map(diagnostics::concise)
        .chain(load.unparsed.iter().map(unparsed))
        .chain(failures)
        .collect()
}

/// The definitions that were named, else those of the configuration.
fn load(args: &TestArgs) -> anyhow::Result<LoadResult> {
    let SelectedSources { sources, command, config, reading } = &args.selected;
    if !sources.is_empty() || !command.is_empty() {
        return sources::load_named(sources, command, reading.options(false));
    }
    match sources::configuration(config.as_deref())? {
        Some(config) => {
            sources::load_plan(SourcePlan::from_config(&config, &environment::variable))
        }
        None => {
            bail!("there is nothing to test: name files or folders, or write a `toolwright.toml`")
        }
    }
}

/// The same sources, with tools that can be called.
async fn catalog(args: &TestArgs) -> anyhow::Result<Arc<Catalog>> {
    let source = SourceArgs {
        config: args.selected.config.clone(),
        from: args.selected.sources.clone(),
        command: args.selected.command.clone(),
        sandbox: args.sandbox.clone(),
    };
    let listener = Arc::new(|event: &CatalogEvent| match event {
        CatalogEvent::Note(_) | CatalogEvent::SourceFailure(_) => {
            messages::sentence(event).into_iter().for_each(|sentence| messages::note(&sentence));
        }
        _ => {}
    });
    let catalog = sources::catalog(
        &source,
        args.selected.reading.options(false),
        runtime::executor_context(Log::default()),
        listener,
    )?;
    catalog.load_all().await;
    Ok(catalog)
}
