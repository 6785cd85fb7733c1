//! What a program needs is looked at before its first call, so that a missing part is answered with
//! a sentence and not with the error of an interpreter.
//!
//! | binding | looked at |
//! |---|---|
//! | command line | the program on the PATH, `install_check` |
//! | local script | the entry point, the runtime on the PATH, the dependencies |
//!
//! A Python or Node runtime is asked once which versions of the packages it finds, and these are
//! compared with what the definition asks for; for other runtimes a dependency is a program. An
//! install check that only asks where a program is (`command -v gh`) is answered without running
//! anything, because `command` and `type` are parts of a shell. Whatever is there is looked at once
//! for all commands of a toolset; whatever is missing is looked at again by the next call, because
//! someone may have installed it.
//!
//! A runtime that does not answer the question for packages, or answers something else, is no
//! reason to refuse: the call goes on, and fails by itself if something is missing.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Map;
use tokio::process::Command;
use tokio::sync::OnceCell;
use toolwright_model::{Binding, InstallCheck};

use super::program::run_program;
use super::version_ranges::{Dependency, RangeNotation};
use super::{STDERR_LINE, describe_exit, shown_guide};
use crate::{Failure, Json, code};

/// How long a check may take. Most print a version, which takes milliseconds.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// Bytes that a check may print.
const CHECK_BYTES: usize = 64 << 10;

/// Prints the versions of the packages that Node finds from the entry point, as a JSON object:
/// `null` for one that it does not find, an empty text for one without a version.
const ASK_NODE: &str = "const [entry, ...names] = process.argv.slice(1);
const [fs, path] = [require('fs'), require('path')];
const from = require('module').createRequire(path.resolve(entry));
const version = (name) => {
  for (const folder of from.resolve.paths(name) ?? []) {
    try { return JSON.parse(fs.readFileSync(path.join(folder, name, 'package.json'))).version ?? ''; }
    catch { /* not there */ }
  }
  try { from.resolve(name); return ''; }
  catch (error) { return error.code === 'MODULE_NOT_FOUND' ? null : ''; }
};
console.log(JSON.stringify(Object.fromEntries(names.map((name) => [name, version(name)]))));";

/// The same for Python: a dependency is a distribution or a module.
const ASK_PYTHON: &str = "import importlib.metadata, importlib.util, json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))
def version(name):
    try:
        return importlib.metadata.version(name) or ''
    except importlib.metadata.PackageNotFoundError:
        found = importlib.util.find_spec(name.split('.')[0].replace('-', '_'))
        return None if found is None else ''
print(json.dumps({name: version(name) for name in sys.argv[2:]}))";

/// The requirements that were met once. Lives as long as the executor.
///
/// By everything that the answer depends on, the variables of the source among it. A cell is filled
/// only by success; calls that come meanwhile wait for the same check.
#[derive(Default)]
pub(super) struct MetRequirements(Mutex<HashMap<String, Arc<OnceCell<()>>>>);

impl MetRequirements {
    /// Looks at what a binding needs, unless it was there before. `environment` is that of the
    /// program, `own` the part of it that belongs to the tool's source.
    ///
    /// # Errors
    /// What is missing, and how to install it if the definition says so.
    pub(super) async fn check(
        &self,
        binding: &Binding,
        environment: &[(OsString, OsString)],
        own: &[(OsString, OsString)],
    ) -> Result<(), Failure> {
        match binding {
            Binding::Command { executable, install_check, install_guide, .. } => {
                let Some(check) = install_check else { return Ok(()) };
                let cell = self.cell(format!("{:?}", (executable, &check.line, own)));
                let run = || check_installed(executable, check, environment);
                let met = cell.get_or_try_init(run).await;
                met.map(drop).map_err(|failure| match install_guide {
                    Some(guide) => failure.suggest(shown_guide(guide)),
                    None => failure.suggest(format!("install `{executable}`")),
                })
            }
            Binding::Local { runtime, entry_point, dependencies, .. } => {
                let key = (runtime, entry_point, dependencies, own);
                let cell = self.cell(format!("{key:?}"));
                let run =
                    || check_script(runtime.as_deref(), entry_point, dependencies, environment);
                cell.get_or_try_init(run).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    fn cell(&self, key: String) -> Arc<OnceCell<()>> {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(cells.entry(key).or_default())
    }
}

fn missing(message: String) -> Failure {
    Failure::new(&code::SPAWN_FAILED, message)
}

/// Runs the install check of a command line. A check that needs a shell is not run.
///
/// # Errors
/// SPAWN_FAILED with how the check ended.
async fn check_installed(
    executable: &str,
    check: &InstallCheck,
    environment: &[(OsString, OsString)],
) -> Result<(), Failure> {
    if !is_program(executable, environment) {
        return Err(missing(format!("`{executable}` is not installed: it is not on the PATH")));
    }
    let Some((program, arguments)) = check.words.split_first() else { return Ok(()) };
    if let Some(wanted) = programs_asked_for(program, arguments) {
        return match wanted.iter().find(|name| !is_program(name, environment)) {
            Some(name) => Err(missing(format!(
                "`{executable}` is not installed: its check `{}` does not find `{name}` on the PATH",
                check.line
            ))),
            None => Ok(()),
        };
    }
    let mut command = Command::new(program);
    command.args(arguments);
    let work = run_program(&mut command, environment, Vec::new(), CHECK_BYTES);
    let line = &check.line;
    let failed = |why: String| {
        Err(missing(format!("`{executable}` is not installed: its check `{line}` {why}")))
    };
    match tokio::time::timeout(CHECK_TIME, work).await {
        Err(_) => failed(format!("did not end within {} s", CHECK_TIME.as_secs())),
        Ok(Err(error)) => failed(format!("cannot be started ({error})")),
        // One that prints more than that was killed, and has started.
        Ok(Ok(exit)) if exit.status.success() || exit.too_large => Ok(()),
        Ok(Ok(exit)) => failed(format!("failed: {}", describe_exit(&exit))),
    }
}

/// Looks for the parts of a local tool.
///
/// # Errors
/// SPAWN_FAILED with everything that is missing, and the command that installs it.
async fn check_script(
    runtime: Option<&str>,
    entry_point: &str,
    dependencies: &[String],
    environment: &[(OsString, OsString)],
) -> Result<(), Failure> {
    if tokio::fs::metadata(entry_point).await.is_err() {
        return Err(missing(format!("the script `{entry_point}` does not exist"))
            .suggest("correct `entry_point`, which is relative to the definition"));
    }
    if let Some(runtime) = runtime.filter(|runtime| !is_program(runtime, environment)) {
        return Err(missing(format!("`{runtime}`, which runs the script, is not on the PATH"))
            .suggest(format!("install `{runtime}`, or name another `runtime`")));
    }
    if dependencies.is_empty() {
        return Ok(());
    }
    let name = runtime.map(Path::new).and_then(Path::file_name).and_then(|name| name.to_str());
    let (question, notation) = match name.unwrap_or_default() {
        name if name.starts_with("python") => (["-c", ASK_PYTHON], RangeNotation::Pip),
        "node" | "nodejs" => (["-e", ASK_NODE], RangeNotation::Npm),
        _ => return check_programs(dependencies, environment),
    };
    // A condition is about the machine, which the installer looks at.
    let wanted = dependencies.iter().map(|it| (it, Dependency::parse(it)));
    let wanted: Vec<_> = wanted.filter(|(_, it)| !it.is_conditional).collect();
    let mut command = Command::new(runtime.unwrap_or_default());
    command.args(question).arg(entry_point).args(wanted.iter().map(|(_, it)| it.name));
    let installed = ask_runtime(&mut command, environment).await;
    let (mut absent, mut to_install) = (Vec::new(), Vec::new());
    for (written, dependency) in wanted {
        let name = dependency.name;
        match installed.get(name) {
            Some(Json::Null) => absent.push(format!("`{name}`, which is not installed")),
            Some(Json::String(version)) if !dependency.allows(version, notation) => {
                absent.push(format!("`{written}`, but version {version} is installed"));
            }
            // It is there, or the runtime does not answer: then the call itself will show it.
            _ => continue,
        }
        to_install.push(match written.contains([' ', '<', '>', '|', '*']) {
            true => format!("'{written}'"),
            false => written.clone(),
        });
    }
    if absent.is_empty() {
        return Ok(());
    }
    let installer = if notation == RangeNotation::Pip { "pip install" } else { "npm install" };
    let listed: String = absent.join("; ").chars().take(STDERR_LINE).collect();
    Err(missing(format!("the script needs {listed}"))
        .suggest(format!("{installer} {}", to_install.join(" "))))
}

/// Looks for dependencies that are programs.
fn check_programs(
    dependencies: &[String],
    environment: &[(OsString, OsString)],
) -> Result<(), Failure> {
    let names = dependencies.iter().map(|it| Dependency::parse(it).name);
    let absent: Vec<&str> = names.filter(|name| !is_program(name, environment)).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let listed: String = absent.join("`, `").chars().take(STDERR_LINE).collect();
    Err(missing(format!("the script needs `{listed}`, which is not installed"))
        .suggest(format!("install `{listed}`")))
}

/// What a runtime answers about packages, by their names; empty if it does not answer.
///
/// The question is a short program of ours, run by the runtime of the tool: nothing of the tool
/// runs.
async fn ask_runtime(
    command: &mut Command,
    environment: &[(OsString, OsString)],
) -> Map<String, Json> {
    let work = run_program(command, environment, Vec::new(), CHECK_BYTES);
    let exit = match tokio::time::timeout(CHECK_TIME, work).await {
        Ok(Ok(exit)) if exit.status.success() => exit,
        _ => return Map::new(),
    };
    serde_json::from_slice(&exit.output).unwrap_or_default()
}

/// The programs whose place a command line asks for: `command -v gh`, `which gh`, `type gh`. `None`
/// if it is another one.
fn programs_asked_for<'w>(program: &str, arguments: &'w [String]) -> Option<Vec<&'w str>> {
    let is_option = |word: &&String| word.starts_with('-');
    let asks = match program {
        "command" => arguments.first().is_some_and(|option| ["-v", "-V"].contains(&&**option)),
        "which" | "type" => true,
        _ => false,
    };
    let names: Vec<&str> =
        arguments.iter().filter(|word| !is_option(word)).map(String::as_str).collect();
    (asks && !names.is_empty()).then_some(names)
}

/// Whether a program is where the system will look for it: at its path, or on the PATH.
fn is_program(name: &str, environment: &[(OsString, OsString)]) -> bool {
    if name.contains('/') {
        return Path::new(name).exists();
    }
    // The last one counts: a source can replace a variable.
    let path = environment.iter().rev().find(|(variable, _)| variable == "PATH");
    // Without a PATH the system has one of its own.
    path.is_none_or(|(_, path)| std::env::split_paths(path).any(|it| it.join(name).is_file()))
}
