//! Where tools come from, as the command line and the environment say it. This is the one place
//! where the environment is read.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use tokio::signal::unix::{SignalKind, signal};
use toolwright_catalog::{
    Catalog, Config, Event, Listener, Load, Loaded, Named, Plan, Planner, Reader,
};
use toolwright_exec::{Log, Parts, Runner};
use toolwright_source::{Diagnostic, Severity, render};

use crate::args::{Inputs, SourceArgs};
use crate::{output, sandbox, script_analyzer};

/// Variables that programs are given without being asked for: where things are and which language
/// is spoken, no secrets. Everything else stays out unless a source's `env` names it.
const PASSED_ON: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Characters of one line in the log; what a tool prints can be long.
const LONGEST_LINE: usize = 2_000;

/// A variable of the environment.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn environment() -> Vec<(OsString, OsString)> {
    PASSED_ON
        .iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
        .collect()
}

/// The parts of the outside world that running tools needs.
pub(crate) fn parts(log: Log) -> Parts {
    Parts::new(environment(), log)
}

/// A log on stderr, one line each, with nothing in it that a terminal would obey.
pub(crate) fn log() -> Log {
    Log(Arc::new(|line| {
        let line: String = line.chars().take(LONGEST_LINE).collect();
        let mut err = std::io::stderr().lock();
        let _ = writeln!(err, "toolwright: {}", render::visible(&line.replace('\n', " | ")));
    }))
}

/// A runtime for what waits. It has half of the cores: the other half is for the servers and
/// programs that it waits for. With a thread on every core each call woke two of them, and took a
/// third longer on two cores.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    toolwright_sandbox::room_for_a_runtime()
        .context("too few files may be open at a time (`ulimit -n`)")?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.div_ceil(2))
        .enable_all()
        .build()
        .context("no threads can be started")
}

/// Reads everything that `show` and `list` name.
pub(crate) fn load(inputs: &Inputs) -> anyhow::Result<Load> {
    load_named(&inputs.sources, &inputs.command, inputs.manner.reader(false), |_| {})
}

/// Reads sources as they were named on the command line. Servers and programs are asked. `then` is
/// done with each file as soon as it is read, where there are only files.
pub(crate) fn load_named(
    sources: &[String],
    command: &[String],
    reader: Reader,
    then: impl Fn(&mut Loaded) + Sync,
) -> anyhow::Result<Load> {
    let named = named(sources, command);
    let paths: Option<Vec<PathBuf>> = named
        .iter()
        .map(|named| match named {
            Named::Path(path) if !Plan::is_live(path, reader) => Some(path.clone()),
            _ => None,
        })
        .collect();
    // Files alone need no runtime, and are read side by side.
    if let Some(paths) = paths {
        return Ok(toolwright_catalog::load_and(&paths, reader, then));
    }
    load_plan(Plan::of_named(&named, reader, &variable))
}

/// Reads all sources of a plan.
pub(crate) fn load_plan(plan: Plan) -> anyhow::Result<Load> {
    let parts = parts(Log::default());
    let runtime = runtime()?;
    let load = runtime.block_on(async {
        let load = tokio::select! {
            load = toolwright_catalog::load_plan(plan, &parts) => Ok(load),
            () = interrupted() => Err(anyhow::anyhow!("interrupted")),
        };
        parts.upstreams.close().await;
        load
    });
    toolwright_exec::end_all_processes();
    load
}

/// Waits for the first signal that asks this program to end.
pub(crate) async fn interrupted() {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    let heard = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    futures::future::select_all(heard).await;
}

fn named(sources: &[String], command: &[String]) -> Vec<Named> {
    let mut named: Vec<Named> = sources.iter().map(|word| Named::parse(word)).collect();
    if !command.is_empty() {
        named.push(Named::Command(command.to_vec()));
    }
    named
}

/// The configuration that holds: the one that was named, else the one here or in the nearest folder
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

/// The limits of the configuration that holds here, else the usual ones.
pub(crate) fn limits(config: Option<&Path>) -> anyhow::Result<toolwright_exec::Limits> {
    let Some(path) = configuration(config)? else { return Ok(toolwright_exec::Limits::default()) };
    let plan = Plan::of_config(&path, &variable);
    match plan.diagnostics.iter().find(|d| d.severity == Severity::Error) {
        Some(wrong) => bail!("{}", in_a_line(wrong)),
        None => Ok(plan.limits),
    }
}

/// How the sources of `call` and `serve` are planned, now and after a change.
pub(crate) fn planner(args: &SourceArgs, reader: Reader) -> anyhow::Result<Planner> {
    let named = named(&args.from, &args.command);
    if !named.is_empty() {
        return Ok(Arc::new(move || Plan::of_named(&named, reader, &variable)));
    }
    let Some(config) = configuration(args.config.as_deref())? else {
        bail!(
            "there is no `toolwright.toml` here or above; write one, or name a source (`--from SOURCE`, `-- COMMAND`)"
        );
    };
    Ok(Arc::new(move || Plan::of_config(&config, &variable)))
}

/// A catalog of these sources, which tells on stderr what goes wrong.
pub(crate) fn catalog(
    args: &SourceArgs,
    reader: Reader,
    parts: Parts,
    listener: Listener,
) -> anyhow::Result<Arc<Catalog>> {
    let planner = planner(args, reader)?;
    if let Some(wrong) = planner().bad_limit() {
        bail!("{}", in_a_line(wrong));
    }
    let pool = sandbox::pool(args.sandbox.require_jail)?;
    let parts =
        Parts { sandbox: Some(pool), analyzer: Some(script_analyzer::script_analyzer()), ..parts };
    let runner = Arc::new(Runner::new(parts, toolwright_exec::Limits::default()));
    Ok(Catalog::new(runner, planner, listener))
}

/// One line for an event; nothing for what needs no words.
pub(crate) fn sentence(event: &Event) -> Option<String> {
    match event {
        // No lines of the file: they may hold secrets, and this is a log.
        Event::Problem(diagnostic) => {
            let help: String =
                diagnostic.help.iter().map(|help| format!(" (help: {help})")).collect();
            Some(format!("{}{help}", render::concise(diagnostic)))
        }
        Event::Unloaded(unloaded) => Some(unloaded.to_string()),
        Event::Note(text) => Some(text.clone()),
        Event::Loaded { .. } => None,
    }
}

/// What is wrong and what was meant, in the sentence of a command that cannot go on.
pub(crate) fn in_a_line(diagnostic: &Diagnostic) -> String {
    let help: String = diagnostic.help.iter().map(|help| format!(" ({help})")).collect();
    format!("{}{help}", render::concise(diagnostic))
}

/// Says a line on stderr.
pub(crate) fn note(text: &str) {
    output::say(&format!("toolwright: {}\n", render::visible(&text.replace('\n', " | "))));
}
