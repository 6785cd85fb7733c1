//! What a program needs is looked at before its first call, so that a missing part is answered with
//! a sentence and not with the error of an interpreter.
//!
//! | binding | looked at |
//! |---|---|
//! | command line | the program on the PATH, `install_check` |
//! | local script | the entry point, the runtime on the PATH, the dependencies |
//!
//! A Python or Node runtime is asked once which packages it does not find; for other runtimes a
//! dependency is a program. Whatever is there is looked at once for all commands of a toolset;
//! whatever is missing is looked at again by the next call, because someone may have installed it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::OnceCell;
use toolwright_model::{Binding, InstallCheck};

use super::program::run_program;
use super::{STDERR_LINE, describe_exit};
use crate::{Failure, Json, code};

/// How long a check may take. Most print a version, which takes milliseconds.
const CHECK_TIME: Duration = Duration::from_secs(10);
/// Bytes that a check may print.
const CHECK_BYTES: usize = 64 << 10;

/// Prints the packages that Node does not find from the entry point, as a JSON list.
const ASK_NODE: &str = "const [entry, ...names] = process.argv.slice(1);
const from = require('module').createRequire(require('path').resolve(entry));
const isMissing = (name) => {
  try { from.resolve(name); } catch (error) { return error.code === 'MODULE_NOT_FOUND'; }
};
console.log(JSON.stringify(names.filter(isMissing)));";

/// The same for Python: a dependency is a distribution or a module.
const ASK_PYTHON: &str = "import importlib.metadata, importlib.util, json, os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))
def is_missing(name):
    try:
        importlib.metadata.distribution(name)
        return False
    except importlib.metadata.PackageNotFoundError:
        return importlib.util.find_spec(name.split('.')[0].replace('-', '_')) is None
print(json.dumps([name for name in sys.argv[2:] if is_missing(name)]))";

/// The requirements that were met once. Lives as long as the executor.
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
                    Some(guide) => failure.suggest(guide.trim()),
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
async fn check_installed(
    executable: &str,
    check: &InstallCheck,
    environment: &[(OsString, OsString)],
) -> Result<(), Failure> {
    if !is_program(executable, environment) {
        return Err(missing(format!("`{executable}` is not installed: it is not on the PATH")));
    }
    let Some((program, arguments)) = check.words.split_first() else { return Ok(()) };
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
    let (question, installer) = match name.unwrap_or_default() {
        name if name.starts_with("python") => (Some(["-c", ASK_PYTHON]), "pip install"),
        "node" | "nodejs" => (Some(["-e", ASK_NODE]), "npm install"),
        _ => (None, ""),
    };
    let names: Vec<&str> = dependencies.iter().map(|it| package_name(it)).collect();
    let absent: Vec<String> = match (question, runtime) {
        (Some(question), Some(runtime)) => {
            let mut command = Command::new(runtime);
            command.args(question).arg(entry_point).args(&names);
            ask_runtime(&mut command, environment).await
        }
        _ => {
            let absent = names.into_iter().filter(|name| !is_program(name, environment));
            absent.map(str::to_owned).collect()
        }
    };
    if absent.is_empty() {
        return Ok(());
    }
    let listed: String = absent.join("`, `").chars().take(STDERR_LINE).collect();
    let failure = missing(format!("the script needs `{listed}`, which is not installed"));
    Err(match installer {
        "" => failure.suggest(format!("install `{listed}`")),
        installer => failure.suggest(format!("{installer} {}", absent.join(" "))),
    })
}

/// What a runtime answers about packages; nothing if it does not answer. Then the call itself will
/// show what is missing.
async fn ask_runtime(command: &mut Command, environment: &[(OsString, OsString)]) -> Vec<String> {
    let work = run_program(command, environment, Vec::new(), CHECK_BYTES);
    let exit = match tokio::time::timeout(CHECK_TIME, work).await {
        Ok(Ok(exit)) if exit.status.success() => exit,
        _ => return Vec::new(),
    };
    let answer: Json = serde_json::from_slice(&exit.output).unwrap_or_default();
    let names = answer.as_array().into_iter().flatten();
    names.filter_map(Json::as_str).map(str::to_owned).collect()
}

/// A dependency without its version: `requests>=2`, `left-pad@1.3`, `@scope/name@^2`.
fn package_name(dependency: &str) -> &str {
    let end = dependency.find(['<', '>', '=', '!', '~', ';', '[', ' ']).unwrap_or(dependency.len());
    let name = &dependency[..end];
    // The first character of a scope is `@`, too.
    match name.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => &name[..at],
        None => name,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_no_part_of_a_package_name() {
        for (dependency, name) in [
            ("requests", "requests"),
            ("requests>=2.0", "requests"),
            ("uvicorn[standard]", "uvicorn"),
            ("left-pad@1.3.0", "left-pad"),
            ("@scope/name", "@scope/name"),
            ("@scope/name@^2", "@scope/name"),
            ("", ""),
        ] {
            assert_eq!(package_name(dependency), name);
        }
    }
}
