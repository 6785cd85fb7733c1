//! From the words of the command line to loaded definitions or to a catalog. All commands share
//! this, so that a word means the same source everywhere.
//!
//! ```text
//! nothing named ─ found_sources::resolve
//! SOURCE … -- COMMAND ─ parse_sources ─┬─ only files ───▶ LoadResult, without an async runtime
//! toolwright.toml ─ SourcePlan ────────┼─ load_plan ────▶ LoadResult: show, list, check, test
//!                                      └─ open_catalog ─▶ Catalog: call, serve, test --run
//! ```
//!
//! How a word is recognised and a configuration is read is in `toolwright_workspace`.

use std::io::IsTerminal;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, bail};
use toolwright_catalog::{Catalog, EventListener, Planner};
use toolwright_exec::{CallPolicy, ExecutorContext, Log, Runner};
use toolwright_model::CallLimits;
use toolwright_sandbox::JailPolicy;
use toolwright_source::render::visible;
use toolwright_source::{Diagnostic, Severity};
use toolwright_workspace::{
    BrowserConfig, Config, LoadResult, ReadOptions, SourceArgument, SourcePlan, SourceSpec,
    Workspace, codes, is_stdin, special_file,
};

use crate::args::{AllowArgs, DiagnosticFormat, SelectedSources, SourceArgs};
use crate::environment::{cache_folder, state_folder, variable};
pub(crate) use crate::found_sources::{SourceSearch, resolve, servers_file_in};
use crate::messages::{plan_error, print_note};
use crate::runtime::{executor_context, new_runtime, wait_for_signal};
use crate::{
    audit, browser, builtin_tools, grants, report, sandbox, script_analyzer, start_progress,
};

/// How long sources may take to start before a line says which ones are waited for.
const LONG_START: Duration = Duration::from_secs(3);

/// A workspace with the analyzer of this process. Cheap to make. Counts of tokens are kept in the
/// user's cache folder, if there is one.
pub(crate) fn workspace() -> Workspace {
    let mut workspace = Workspace::new(script_analyzer::new_analyzer());
    workspace.token_cache = cache_folder().map(|folder| folder.join("tokens"));
    workspace
}

/// Which problems of a plan are written to stderr before anything of it is started.
pub(crate) enum PlanLog {
    /// All of them, in this format. Notes are in JSON only: nobody has to act on them before a
    /// server is started, and `check` counts them.
    All(DiagnosticFormat),
    /// Its mistakes, without notes and advice, a line each.
    Mistakes,
}

/// Loads the named sources, or else those of the configuration. Servers and programs are started
/// and asked for their tools; what is wrong with their settings is written to stderr before.
/// Nothing stays: servers and programs are ended before this returns.
///
/// # Errors
/// If there is no such configuration, the async runtime cannot start, or the user interrupts.
/// Sources that fail are in the result.
pub(crate) fn load_resolved(
    selected: &SelectedSources,
    log: PlanLog,
) -> anyhow::Result<LoadResult> {
    load_with(selected, selected.reading.options(false), log)
}

/// The same, read in another way than the command line says. `options` take the place of those of
/// the command line.
pub(crate) fn load_with(
    selected: &SelectedSources,
    options: ReadOptions,
    log: PlanLog,
) -> anyhow::Result<LoadResult> {
    let SelectedSources { sources, command, config, .. } = selected;
    let plan = match find_configuration(config.as_deref())? {
        Some(config) if sources.is_empty() && command.is_empty() => {
            SourcePlan::from_config(&config, options, &variable)
        }
        // Files alone need no async runtime, and are read on all cores.
        _ => match paths_if_all_files(sources, command, options) {
            Some(paths) => return Ok(workspace().load(&paths, options)),
            None => plan_named(sources, command, options),
        },
    };
    let diagnostics = plan.diagnostics.iter();
    let waiting = match log {
        // Every line of stderr is an object.
        PlanLog::All(DiagnosticFormat::Json) => WaitingLine::LeftOut,
        _ => WaitingLine::Printed,
    };
    match log {
        PlanLog::All(format) => report::print_without_lines(
            diagnostics.filter(|d| format == DiagnosticFormat::Json || d.severity > Severity::Info),
            format,
        ),
        PlanLog::Mistakes => report::print_without_lines(
            diagnostics.filter(|d| codes::is_mistake(d)),
            DiagnosticFormat::Full,
        ),
    }
    load_plan(plan, waiting)
}

/// Whether a line on stderr names the sources that take long to start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitingLine {
    Printed,
    LeftOut,
}

/// The named paths, if all sources are files and folders that can be read any number of times: not
/// standard input, a pipe, a program or a server. `None` also if nothing or a configuration is
/// named.
pub(crate) fn paths_if_repeatable(selected: &SelectedSources) -> Option<Vec<PathBuf>> {
    let SelectedSources { sources, command, config: None, .. } = selected else { return None };
    let paths = paths_if_all_files(sources, command, selected.reading.options(true))?;
    let is_repeatable = |path: &PathBuf| !is_stdin(path) && (path.is_file() || path.is_dir());
    (!paths.is_empty() && paths.iter().all(is_repeatable)).then_some(paths)
}

/// Refuses a source that is not there and is spelled like the id of a tool, with the option that
/// takes one. `show fs:read_file` is a common mistake: other commands take an id in this place.
///
/// # Errors
/// If there is such a source.
pub(crate) fn refuse_tool_ids(selected: &SelectedSources, command: &str) -> anyhow::Result<()> {
    let is_id = |word: &&String| {
        let is_part = |c: char| c.is_alphanumeric() || "_-:".contains(c);
        word.as_str() != "-" && word.chars().all(is_part) && !Path::new(word.as_str()).exists()
    };
    match selected.sources.iter().find(is_id) {
        Some(id) => bail!(
            "cannot read `{id}`: there is no such file; if it is the id of a tool: `toolwright \
             {command} --tool {id}`"
        ),
        None => Ok(()),
    }
}

/// The plan of the sources that the command line names.
pub(crate) fn plan_named(
    sources: &[String],
    command: &[String],
    options: ReadOptions,
) -> SourcePlan {
    SourcePlan::from_arguments(&parse_sources(sources, command), options, &variable)
}

/// The named paths, if all sources are files and folders that can be read without starting a
/// program or a connection; `None` otherwise.
pub(crate) fn paths_if_all_files(
    sources: &[String],
    command: &[String],
    options: ReadOptions,
) -> Option<Vec<PathBuf>> {
    let named = parse_sources(sources, command);
    let paths = named.into_iter().map(|named| match named {
        SourceArgument::Path(path) if !SourcePlan::is_live(&path, options) => Some(path),
        _ => None,
    });
    paths.collect()
}

/// Loads all sources of a plan, then closes servers and ends programs.
///
/// # Errors
/// If the async runtime cannot start, or the user interrupts. A source that fails is in the result.
pub(crate) fn load_plan(plan: SourcePlan, line: WaitingLine) -> anyhow::Result<LoadResult> {
    let context = executor_context(Log::default());
    let workspace = workspace();
    let names: Vec<String> = plan.live_specs().map(|spec| spec.name.clone()).collect();
    let all = names.len();
    // The sources that have not answered yet.
    let waiting = Mutex::new(names);
    let waiting = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let show = || match waiting().as_slice() {
        [] => start_progress::clear(),
        names => start_progress::show(start_progress::text_with_names(names, all)),
    };
    let loaded = |spec: &SourceSpec| {
        waiting().retain(|name| *name != spec.name);
        show();
    };
    let load = new_runtime()?.block_on(async {
        show();
        let load = tokio::select! {
            load = toolwright_catalog::load_plan(plan, &workspace, &context, loaded) => Ok(load),
            () = wait_for_signal() => Err(anyhow::anyhow!("interrupted")),
            // Without a terminal, nothing else shows what takes so long.
            () = report_waiting(line, || waiting().clone()) => unreachable!("it waits for ever"),
        };
        start_progress::clear();
        context.upstreams.close().await;
        load
    });
    toolwright_exec::kill_all_processes();
    load
}

/// Writes which sources are waited for, once, after a while. Does not return.
async fn report_waiting(line: WaitingLine, waiting: impl Fn() -> Vec<String>) {
    if line == WaitingLine::Printed && !std::io::stderr().is_terminal() {
        tokio::time::sleep(LONG_START).await;
        if let names @ [_, ..] = waiting().as_slice() {
            print_note(&format!("waiting for: {}", start_progress::listed(names)));
        }
    }
    std::future::pending().await
}

/// The sources that the command line names. Everything after `--` is one server. How a word is
/// recognised is decided by `SourceArgument::parse` alone.
fn parse_sources(sources: &[String], command: &[String]) -> Vec<SourceArgument> {
    let mut named: Vec<SourceArgument> =
        sources.iter().map(|word| SourceArgument::parse(word)).collect();
    if !command.is_empty() {
        named.push(SourceArgument::Command(command.to_vec()));
    }
    named
}

/// The path of the configuration: the named one, else `toolwright.toml` in this folder or the
/// nearest one above; `None` if there is none.
///
/// # Errors
/// If the named path is not a file.
pub(crate) fn find_configuration(named: Option<&Path>) -> anyhow::Result<Option<PathBuf>> {
    match named {
        Some(path) if path.is_file() => Ok(Some(path.to_owned())),
        Some(path) => match special_file(path) {
            Some(kind) => bail!("cannot read `{}`: it is {kind}", path.display()),
            None if path.is_dir() => {
                let inside = path.join("toolwright.toml");
                let hint = match inside.is_file() {
                    true => format!("; name the file in it: `{}`", inside.display()),
                    false => String::new(),
                };
                bail!("cannot read the configuration `{}`: it is a folder{hint}", path.display())
            }
            None => bail!("there is no configuration file `{}`", path.display()),
        },
        None => found_configuration(
            &std::env::current_dir().context("cannot find the working directory")?,
        ),
    }
}

/// The configuration of a folder that nobody has named.
///
/// # Errors
/// If somebody else has put it into a folder that everybody may write to, such as `/tmp`: it would
/// decide what this user starts anywhere below.
pub(crate) fn found_configuration(from: &Path) -> anyhow::Result<Option<PathBuf>> {
    let Some(path) = Config::find(from) else { return Ok(None) };
    let owner_of = |path: &Path| path.metadata().map(|metadata| metadata.uid()).ok();
    let is_open = path.parent().and_then(|folder| folder.metadata().ok());
    let is_open = is_open.is_some_and(|folder| folder.mode() & 0o002 != 0);
    // The files of a process belong to its user. Root may change everything anyway.
    let own = [owner_of(Path::new("/proc/self")), Some(0)];
    if is_open && !own.contains(&owner_of(&path)) {
        bail!(
            "`{}` belongs to another user and lies in a folder that everybody may write to; to use \
             it, name it with `--config`",
            visible(&path.display().to_string())
        );
    }
    Ok(Some(path))
}

/// The limits of the configuration, or the defaults without one. `eval` and `test` use them, so
/// that functions behave as in `serve`, and `show` prints them.
///
/// # Errors
/// If the configuration has any error: a limit that cannot be read must not become a looser one.
pub(crate) fn configured_limits(config: Option<&Path>) -> anyhow::Result<CallLimits> {
    let Some(path) = find_configuration(config)? else { return Ok(CallLimits::default()) };
    let plan = SourcePlan::from_config(&path, ReadOptions::default(), &variable);
    let is_error =
        |d: &Diagnostic| d.severity == Severity::Error && !codes::is_about_server(d.code);
    match plan.config_error().is_some() || plan.diagnostics.iter().any(is_error) {
        true => Err(plan_error(&plan)),
        false => Ok(plan.limits),
    }
}

/// `[browser]` of the configuration, or the defaults without one.
///
/// # Errors
/// If the configuration cannot be read.
pub(crate) fn configured_browser(config: Option<&Path>) -> anyhow::Result<BrowserConfig> {
    let Some(path) = find_configuration(config)? else { return Ok(BrowserConfig::default()) };
    let plan = SourcePlan::from_config(&path, ReadOptions::default(), &variable);
    match plan.config_error() {
        Some(_) => Err(plan_error(&plan)),
        None => Ok(plan.browser),
    }
}

/// The function that makes the plan of `call` and `serve`. The catalog calls it again after each
/// change of the plan's files; the words of the command line stay as they are.
///
/// `command` is how the command line names a source: `serve`, `call ID --from`.
///
/// # Errors
/// If no source is named and there is no configuration.
pub(crate) fn planner(
    args: &SourceArgs,
    options: ReadOptions,
    command: &str,
) -> anyhow::Result<Planner> {
    let named = parse_sources(&args.from, &args.command);
    if !named.is_empty() {
        return Ok(Arc::new(move || SourcePlan::from_arguments(&named, options, &variable)));
    }
    let Some(config) = find_configuration(args.config.as_deref())? else {
        let here = std::env::current_dir().context("cannot find the working directory")?;
        match servers_file_in(&here) {
            Some(name) => bail!(
                "there is no `toolwright.toml` here or above; to use the servers of `{name}`: \
                 `toolwright {command} {name}`, or write a configuration with `toolwright init`"
            ),
            None => bail!(
                "there is no `toolwright.toml` here or above; write one with `toolwright init`, or \
                 name a source: `toolwright {command} SOURCE`, or a server to start after `--`"
            ),
        }
    };
    Ok(Arc::new(move || SourcePlan::from_config(&config, options, &variable)))
}

/// A catalog of the sources with a runner, a policy and a sandbox. Nothing is loaded yet.
///
/// ```text
/// plan ─┬─ limits ────▶ refused if wrong       ┌─ journal: audit
///       ├─ browser ───▶ builtins, pages ──▶ Runner ─▶ Catalog
///       └─ policy ────▶ GrantPolicy ──────────┘    └─ pins, policy
/// ```
///
/// # Errors
/// If a limit of the configuration is invalid, or the sandbox cannot be set up.
pub(crate) fn open_catalog(
    planner: Planner,
    jail_policy: JailPolicy,
    allowed: &AllowArgs,
    context: ExecutorContext,
    listener: EventListener,
) -> anyhow::Result<Arc<Catalog>> {
    // A wrong limit stops the command; other mistakes of the configuration concern one source.
    let plan = planner();
    if plan.bad_limit().is_some() {
        return Err(plan_error(&plan));
    }
    let pool = sandbox::new_pool(jail_policy)?;
    let browser = browser::new_browser(&plan.browser, &context.log);
    let context = ExecutorContext {
        sandbox: Some(pool),
        analyzer: Some(script_analyzer::new_analyzer()),
        builtins: builtin_tools::all(&browser),
        pages: Some(browser),
        ..context
    };
    let journal = audit::open_journal(&plan.audit, &context.log);
    let policy = Arc::new(grants::open_policy(plan.policy, &allowed.allow));
    let mut runner = Runner::new(context, CallLimits::default())
        .with_policy(Arc::clone(&policy) as Arc<dyn CallPolicy>);
    if let Some(journal) = journal {
        runner = runner.with_audit(journal);
    }
    let runner = Arc::new(runner);
    let catalog = Catalog::new(runner, workspace(), planner, listener);
    catalog.use_pins(state_folder().map_err(|error| format!("{error:#}")))?;
    catalog.use_policy(policy);
    Ok(catalog)
}
