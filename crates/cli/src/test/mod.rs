//! `toolwright test`: every example of every definition is a test. What an example must come to is
//! in `case`, how that is shown in `show`.

mod case;
mod show;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use futures::StreamExt;
use toolwright_catalog::{Catalog, Event, Load, Plan};
use toolwright_exec::Log;
use toolwright_source::{Diagnostic, Severity, render};

use self::case::{Case, Status, Tried};
use crate::args::{Chosen, SourceArgs, TestArgs, TestForm};
use crate::output::{self, Exit};
use crate::{sandbox, script_analyzer, sources};

pub(crate) fn run(args: &TestArgs) -> anyhow::Result<Exit> {
    if args.exact && !args.run {
        bail!("`--exact` compares what tools answer, which only `--run` asks them for");
    }
    if args.run
        && args.chosen.sources.iter().any(|source| toolwright_catalog::is_stdin(source.as_ref()))
    {
        bail!("`--run` calls tools from where they are, so `-` cannot be a source: name the file");
    }
    let load = load(args)?;
    let unread = tell_of_errors(&load);
    let mut cases = case::all(&load);
    let total = cases.len();
    cases.retain(|case| args.filter.iter().all(|part| case.is_called(part)));
    if total > 0 && cases.is_empty() {
        bail!("no example of {total} has a name with `{}` in it", args.filter.join("` and `"));
    }
    let began = Instant::now();
    let limits = sources::limits(args.chosen.config.as_deref())?;
    let pool = sandbox::pool(args.sandbox.require_jail)?;
    let analyzer = script_analyzer::script_analyzer();
    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let tried: Vec<Tried> = sources::runtime()?.block_on(async {
        let catalog = if args.run { Some(catalog(args).await?) } else { None };
        let bench = case::Bench {
            pool: &pool,
            analyzer: &*analyzer,
            limits: &limits.functions,
            catalog: catalog.as_deref(),
            exact: args.exact,
        };
        let work =
            futures::stream::iter(&cases).map(|case| bench.try_one(case)).buffered(jobs).collect();
        let tried = tokio::select! {
            tried = work => Ok(tried),
            () = sources::interrupted() => Err(anyhow::anyhow!("interrupted")),
        };
        if let Some(catalog) = catalog {
            catalog.runner().close().await;
        }
        tried
    })?;
    toolwright_exec::end_all_processes();
    print(&cases, &tried, &unread, began.elapsed(), args.output_format)?;
    for failure in &load.failures {
        output::complain(&failure.clone().into());
    }
    let failed = tried.iter().any(|tried| matches!(tried.status, Status::Failed(_)));
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
    cases: &[Case],
    tried: &[Tried],
    unread: &[String],
    time: Duration,
    form: TestForm,
) -> anyhow::Result<()> {
    match form {
        TestForm::Tree => output::print(&show::tree(cases, tried, time)),
        TestForm::Json => output::print_raw(&show::json(cases, tried, unread, time)),
        TestForm::Junit => output::print_raw(&show::junit(cases, tried, unread, time)),
    }
}

/// Says what is wrong with the definitions. Returns what of it may hide examples.
fn tell_of_errors(load: &Load) -> Vec<String> {
    let errors = load.files.iter().flat_map(|file| &file.diagnostics);
    let errors: Vec<_> =
        errors.filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    for diagnostic in &errors {
        output::say(&format!("{}\n", render::concise(diagnostic)));
    }
    let unparsed = |name: &String| format!("`{name}` could not be parsed and is skipped");
    load.unparsed.iter().map(unparsed).for_each(|sentence| sources::note(&sentence));
    // A list of examples that cannot be read is one that cannot be tried; nor is what stands behind
    // a mistake of the text.
    let missed = |diagnostic: &&Diagnostic| match diagnostic.code.name {
        "INVALID_TYPE" => diagnostic.path.tokens().any(|token| token == "examples"),
        name => ["INVALID_SYNTAX", "INVALID_ENCODING", "TOO_DEEP"].contains(&name),
    };
    let unread =
        load.files.iter().filter(|file| file.reading.is_none()).flat_map(|file| &file.diagnostics);
    let mut hiding: Vec<&Diagnostic> = errors.into_iter().filter(missed).collect();
    hiding.extend(unread.filter(|diagnostic| !missed(diagnostic)));
    let failures = load.failures.iter().map(ToString::to_string);
    hiding
        .into_iter()
        .map(render::concise)
        .chain(load.unparsed.iter().map(unparsed))
        .chain(failures)
        .collect()
}

/// The definitions that were named, else those of the configuration.
fn load(args: &TestArgs) -> anyhow::Result<Load> {
    let Chosen { sources, command, config, manner } = &args.chosen;
    if !sources.is_empty() || !command.is_empty() {
        return sources::load_named(sources, command, manner.reader(false), |_| {});
    }
    match sources::configuration(config.as_deref())? {
        Some(config) => sources::load_plan(Plan::of_config(&config, &sources::variable)),
        None => {
            bail!("there is nothing to test: name files or folders, or write a `toolwright.toml`")
        }
    }
}

/// The same sources, with tools that can be called.
async fn catalog(args: &TestArgs) -> anyhow::Result<Arc<Catalog>> {
    let source = SourceArgs {
        config: args.chosen.config.clone(),
        from: args.chosen.sources.clone(),
        command: args.chosen.command.clone(),
        sandbox: args.sandbox.clone(),
    };
    let listener = Arc::new(|event: &Event| match event {
        Event::Note(_) | Event::Unloaded(_) => {
            sources::sentence(event).into_iter().for_each(|sentence| sources::note(&sentence));
        }
        _ => {}
    });
    let catalog = sources::catalog(
        &source,
        args.chosen.manner.reader(false),
        sources::parts(Log::default()),
        listener,
    )?;
    catalog.load_all().await;
    Ok(catalog)
}
