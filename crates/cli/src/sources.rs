//! From what the command line names to what is loaded: files, folders, servers, or all sources of
//! the configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use toolwright_catalog::{Catalog, EventListener, Planner};
use toolwright_exec::{ExecutorContext, Log, Runner};
use toolwright_model::CallLimits;
use toolwright_source::Severity;
use toolwright_workspace::{
    Config, LoadResult, ReadOptions, SourceArgument, SourcePlan, Workspace,
};

use crate::args::{Inputs, SourceArgs};
use crate::environment::variable;
use crate::messages::on_one_line;
use crate::runtime::{executor_context, interrupted, runtime};
use crate::{sandbox, script_analyzer};

/// The workspace of this process.
pub(crate) fn workspace() -> Workspace {
    Workspace::new(script_analyzer::script_analyzer())
}

/// Reads everything that `show` and `list` name.
pub(crate) fn load(inputs: &Inputs) -> anyhow::Result<LoadResult> {
    load_named(&inputs.sources, &inputs.command, inputs.reading.options(false))
}

/// Reads sources as they were named on the command line. Servers and programs are asked.
pub(crate) fn load_named(
    sources: &[String],
    command: &[String],
    options: ReadOptions,
) -> anyhow::Result<LoadResult> {
    // Files alone need no async runtime, and are read on all cores.
    if let Some(paths) = only_files(sources, command, options) {
        return Ok(workspace().load(&paths, options));
    }
    load_plan(SourcePlan::from_arguments(&named(sources, command), options, &variable))
}

/// The paths that were named, if nothing has to be started or connected for them.
pub(crate) fn only_files(
    sources: &[String],
    command: &[String],
    options: ReadOptions,
) -> Option<Vec<PathBuf>> {
    let named = named(sources, command);
    let paths = named.into_iter().map(|named| match named {
        SourceArgument::Path(path) if !SourcePlan::is_live(&path, options) => Some(path),
        _ => None,
    });
    paths.collect()
}

/// Reads all sources of a plan.
pub(crate) fn load_plan(plan: SourcePlan) -> anyhow::Result<LoadResult> {
    let context = executor_context(Log::default());
    let workspace = workspace();
    let load = runtime()?.block_on(async {
        let load = tokio::select! {
            load = toolwright_catalog::load_plan(plan, &workspace, &context) => Ok(load),
            () = interrupted() => Err(anyhow::anyhow!("interrupted")),
        };
        context.upstreams.close().await;
        load
    });
    toolwright_exec::kill_all_processes();
    load
}

/// The words of a command line as sources.
pub(crate) fn named(sources: &[String], command: &[String]) -> Vec<SourceArgument> {
    let mut named: Vec<SourceArgument> =
        sources.iter().map(|word| SourceArgument::parse(word)).collect();
    if !command.is_empty() {
        named.push(SourceArgument::Command(command.to_vec()));
    }
    named
}

/// The configuration file: the one that was named, else the one here or in the nearest folder
/// above.
pub(crate) fn configuration(named: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    match named {
        Some(path) if path.is_file() => Ok(Some(path.to_owned())),
        Some(path) => bail!("there is no configuration `{}`", path.display()),
        None => {
            Ok(Config::find(&std::env::current_dir().context("the working directory is gone")?))
        }
    }
}

/// The limits of the configuration, else the defaults.
pub(crate) fn limits(config: Option<&Path>) -> anyhow::Result<CallLimits> {
    let Some(path) = configuration(config)? else { return Ok(CallLimits::default()) };
    let plan = SourcePlan::from_config(&path, &variable);
    match plan.diagnostics.iter().find(|d| d.severity == Severity::Error) {
        Some(error) => bail!("{}", on_one_line(error)),
        None => Ok(plan.limits),
    }
}

/// Makes the plan of `call` and `serve`, now and again after each change of its files.
pub(crate) fn planner(args: &SourceArgs, options: ReadOptions) -> anyhow::Result<Planner> {
    let named = named(&args.from, &args.command);
    if !named.is_empty() {
        return Ok(Arc::new(move || SourcePlan::from_arguments(&named, options, &variable)));
    }
    let Some(config) = configuration(args.config.as_deref())? else {
        bail!(
            "there is no `toolwright.toml` here or above; write one, or name a source (`--from SOURCE`, `-- COMMAND`)"
        );
    };
    Ok(Arc::new(move || SourcePlan::from_config(&config, &variable)))
}

/// A catalog of these sources, with a sandbox for their JavaScript.
pub(crate) fn catalog(
    args: &SourceArgs,
    options: ReadOptions,
    context: ExecutorContext,
    listener: EventListener,
) -> anyhow::Result<Arc<Catalog>> {
    let planner = planner(args, options)?;
    if let Some(error) = planner().bad_limit() {
        bail!("{}", on_one_line(error));
    }
    let pool = sandbox::pool(args.sandbox.require_jail)?;
    let context = ExecutorContext {
        sandbox: Some(pool),
        analyzer: Some(script_analyzer::script_analyzer()),
        ..context
    };
    let runner = Arc::new(Runner::new(context, CallLimits::default()));
    Ok(Catalog::new(runner, workspace(), planner, listener))
}
