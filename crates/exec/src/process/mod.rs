//! Tools that are programs. Three bindings start one:
//!
//! | binding | arguments of the program | stdin | answer |
//! |---|---|---|---|
//! | executable | none | the call's arguments as JSON | JSON on stdout |
//! | local script | entry point and command | the call's arguments as JSON | JSON on stdout |
//! | command line | the tool's own, then the call's `args` | the call's `stdin` | stdout as text |
//!
//! No shell is involved: arguments reach the program as they are, so that a model cannot inject a
//! second command. How the program runs is in `program`, how all of it is killed in
//! `process_tree`, and what must be installed before in `requirements`.

mod program;
mod requirements;
mod version_ranges;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;
use toolwright_model::{Binding, ToolName};

use crate::capped_texts::shorten;
use crate::offload::{WorkSize, offload};
use crate::{
    BoxFuture, Call, CallArguments, Executor, ExecutorContext, ExecutorKind, Failure, Host, Json,
    Outcome, code,
};
use program::{ProgramExit, run_program};
use requirements::MetRequirements;

/// The entry in [`crate::EXECUTORS`].
pub(crate) const EXECUTOR: ExecutorKind = ExecutorKind {
    id: "process",
    accepts: |tool| {
        matches!(
            tool.details.binding,
            Binding::Executable { program: Some(_) }
                | Binding::Command { .. }
                | Binding::Local { .. }
        )
    },
    needs: |_| &["process:spawn"],
    build: |context| {
        let met = MetRequirements::default();
        Arc::new(ProcessExecutor { context: context.clone(), met })
    },
};

/// How long a program may take to print its schema. Printing a constant takes milliseconds; a
/// program that has to start a network connection for it delays every listing.
const SCHEMA_TIME: Duration = Duration::from_secs(1);
/// Largest schema document, in bytes. One tool's name, description and parameters fit easily.
const SCHEMA_BYTES: usize = 8 * 1024;
/// The exit status that shells use for a command that is not found.
const COMMAND_NOT_FOUND: i32 = 127;
/// The error of `execve` for a file without a known format (`ENOEXEC`).
const NO_EXECUTABLE_FORMAT: i32 = 8;
/// Bytes of an invalid answer that go to the log.
const LOGGED_ANSWER: usize = 400;
/// Characters of the last line on stderr that go into a message.
const STDERR_LINE: usize = 300;
/// Characters of an install guide in an answer.
const MAX_GUIDE: usize = 4_000;
/// Characters of the name of an argument in a message.
const MAX_NAME: usize = 200;

/// Every call starts a process; only what was found to be installed is remembered.
///
/// A call starts its process, writes the arguments and reads everything to the end; there is no
/// state between two calls of a tool but what the tool itself keeps.
struct ProcessExecutor {
    context: ExecutorContext,
    met: MetRequirements,
}

impl Executor for ProcessExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let invocation = Invocation::of(&call)?;
            // Later entries win, so the source can replace a variable of the context.
            let mut environment = self.context.environment.clone();
            environment.extend(call.environment.iter().cloned());
            let binding = &call.tool.details.binding;
            self.met.check(binding, &environment, call.environment).await?;
            let mut command = Command::new(&invocation.file);
            // Programs look at their name, such as Python in a virtual environment.
            command.arg0(&invocation.program).args(&invocation.arguments);
            let cap = call.budget.output;
            let exit = run_program(&mut command, &environment, invocation.input, cap).await;
            let exit = exit.map_err(|error| {
                let failure = cannot_start(&invocation.program, &error);
                match binding {
                    Binding::Command { install_guide: Some(guide), .. } => {
                        failure.suggest(shown_guide(guide))
                    }
                    _ => failure,
                }
            })?;
            let name = &call.tool.name;
            if exit.too_large {
                let message = format!("`{name}` printed more than the {cap} bytes allowed");
                return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message));
            }
            // What was read so far may look complete, such as a short text. It is refused, because
            // there is no telling what is missing.
            if exit.incomplete {
                let message =
                    format!("`{name}` exited, but another process still holds its output open");
                return Err(Failure::new(&code::TOOL_FAILED, message).detail(exit.errors));
            }
            let errors = exit.errors.clone();
            let result = match binding {
                Binding::Command { install_guide, .. } => {
                    read_text(&exit, install_guide.as_deref())
                }
                _ => {
                    let size = WorkSize::of_bytes(exit.output.len());
                    offload(size, move || read_json(&exit)).await
                }
            };
            // A failure has stderr as its detail, which the runner logs.
            if result.is_ok() && !errors.trim().is_empty() {
                self.context.log.line(&format!("{name}: stderr: {}", errors.trim()));
            }
            result
        })
    }
}

/// A program with its arguments and its input.
struct Invocation {
    /// The name of the program.
    program: String,
    /// Its file: the name, or what links behind it led to when the code was compared.
    file: PathBuf,
    arguments: Vec<String>,
    /// The bytes for stdin.
    input: Vec<u8>,
}

impl Invocation {
    /// `file_behind_links` gives the file that was compared with the accepted hash, so a link that
    /// is changed between the comparison and the start leads nowhere else.
    fn of(call: &Call<'_>) -> Result<Invocation, Failure> {
        let json = || call.arguments.to_text().into_owned().into_bytes();
        let linked = |word: &String| call.code.and_then(|code| code.file_behind_links(word));
        let file = |program: &String| linked(program).unwrap_or(Path::new(program)).to_owned();
        let checked = |word: &String| match linked(word) {
            Some(file) => file.display().to_string(),
            None => word.clone(),
        };
        match &call.tool.details.binding {
            Binding::Executable { program: Some(program) } => Ok(Invocation {
                program: program.clone(),
                file: file(program),
                arguments: Vec::new(),
                input: json(),
            }),
            Binding::Local { runtime, entry_point, command, .. } => {
                // Without a runtime the entry point is a program itself (or has a `#!` line).
                let program = runtime.as_ref().unwrap_or(entry_point);
                let script = runtime.as_ref().map(|_| checked(entry_point));
                let arguments = script.into_iter().chain([command.clone()]).collect();
                let (file, program) = (file(program), program.clone());
                Ok(Invocation { program, file, arguments, input: json() })
            }
            Binding::Command { executable, words, .. } => {
                let mut arguments: Vec<String> = words.iter().map(checked).collect();
                let (given, input) = words_and_input(&call.tool.name, call.arguments)?;
                arguments.extend(given);
                let (file, program) = (file(executable), executable.clone());
                Ok(Invocation { program, file, arguments, input })
            }
            // Not reached through the runner: `EXECUTOR.accepts` lists the same bindings.
            other => {
                let message = format!(
                    "`{}` is not run as a program (binding: {})",
                    call.tool.name,
                    other.kind()
                );
                Err(Failure::new(&code::NOT_RUNNABLE, message))
            }
        }
    }
}

/// What a call of a command line gives its program: the words after the command, and the bytes for
/// stdin. A definition may have a schema of its own and a processor that changes the arguments, so
/// there may be others: a program that runs without them does something else than was asked for.
fn words_and_input(
    name: &ToolName,
    arguments: &CallArguments,
) -> Result<(Vec<String>, Vec<u8>), Failure> {
    let wrong = |what: &str| {
        let message = format!("`{name}` is a command line, and {what}");
        Failure::new(&code::INPUT_INVALID, message)
            .suggest("pass the words after the command as `args`, and `stdin` as a text")
    };
    let members = arguments.as_object().into_iter().flatten();
    let other = members.map(|(name, _)| name).find(|name| !["args", "stdin"].contains(&&***name));
    if let Some(other) = other {
        let other = shorten(other, MAX_NAME);
        return Err(wrong(&format!("its program does not get the argument `{other}`")));
    }
    let words = match arguments.get("args") {
        None | Some(Json::Null) => Some(Vec::new()),
        Some(Json::Array(words)) => {
            words.iter().map(|word| word.as_str().map(str::to_owned)).collect()
        }
        Some(_) => None,
    };
    let input = match arguments.get("stdin") {
        None | Some(Json::Null) => Some(String::new()),
        Some(input) => input.as_str().map(str::to_owned),
    };
    let words = words.ok_or_else(|| wrong("`args` is not a list of texts"))?;
    let input = input.ok_or_else(|| wrong("`stdin` is not a text"))?;
    Ok((words, input.into_bytes()))
}

/// The guide of a definition, as help in an answer.
fn shown_guide(guide: &str) -> String {
    shorten(guide.trim(), MAX_GUIDE).into_owned()
}

/// The failure of a program that could not be started. Names the program only, not its arguments,
/// which can hold secrets.
pub(crate) fn cannot_start(program: &str, error: &std::io::Error) -> Failure {
    let why = match error.kind() {
        // The system reports a missing `#!` interpreter as if the script itself were missing.
        std::io::ErrorKind::NotFound => {
            "there is no such program (or its interpreter is missing)".to_owned()
        }
        std::io::ErrorKind::PermissionDenied => "it may not be executed".to_owned(),
        _ if error.raw_os_error() == Some(NO_EXECUTABLE_FORMAT) => {
            "it is neither a program nor a script with `#!`".to_owned()
        }
        _ => error.to_string(),
    };
    Failure::new(&code::SPAWN_FAILED, format!("`{program}` cannot be started: {why}"))
}

/// Reads the answer of the process protocol: one JSON value. A member `error` and an exit status
/// other than 0 are both failures; `error` is preferred, because it has the tool's own message.
fn read_json(exit: &ProgramExit) -> Result<Outcome, Failure> {
    let value = serde_json::from_slice::<Json>(&exit.output);
    if let Some(text) = value.as_ref().ok().and_then(own_error) {
        return Err(Failure::new(&code::TOOL_FAILED, text).detail(exit.errors.as_str()));
    }
    // A result of a program that failed is not trusted, even if it is JSON.
    if !exit.status.success() {
        return Err(failed_exit(exit));
    }
    value.map(Outcome::json).map_err(|error| {
        let message = if exit.output.is_empty() {
            "the program ended without an answer".to_owned()
        } else {
            format!("the program's answer is not JSON: {error}")
        };
        // The output goes to the log only: it can be anything, and a model would read it.
        let printed = &exit.output[..exit.output.len().min(LOGGED_ANSWER)];
        Failure::new(&code::OUTPUT_INVALID, message).detail(String::from_utf8_lossy(printed))
    })
}

/// The tool's own message in an answer of the process protocol that reports a failure.
///
/// The member `error` of an object; a text as it is, anything else as JSON.
fn own_error(answer: &Json) -> Option<String> {
    let error = answer.get("error")?;
    Some(error.as_str().map_or_else(|| error.to_string(), str::to_owned))
}

/// Reads the answer of a command line: everything it printed, as text.
fn read_text(exit: &ProgramExit, install_guide: Option<&str>) -> Result<Outcome, Failure> {
    if exit.status.success() {
        return Ok(Outcome::text(String::from_utf8_lossy(&exit.output)));
    }
    let failure = failed_exit(exit);
    Err(match install_guide {
        Some(guide) if exit.status.code() == Some(COMMAND_NOT_FOUND) => failure.suggest(guide),
        _ => failure,
    })
}

/// The failure of a program whose exit status is not 0.
///
/// Stderr goes to the log as the detail, and only its last line into the message.
fn failed_exit(exit: &ProgramExit) -> Failure {
    Failure::new(&code::TOOL_FAILED, describe_exit(exit)).detail(exit.errors.as_str())
}

/// The exit status and the last line on stderr, which is where programs print the reason.
fn describe_exit(exit: &ProgramExit) -> String {
    use std::os::unix::process::ExitStatusExt;
    let how = match (exit.status.code(), exit.status.signal()) {
        (Some(code), _) => format!("the program ended with status {code}"),
        (None, Some(signal)) => format!("the program was ended by signal {signal}"),
        (None, None) => "the program ended in an unknown way".to_owned(),
    };
    match exit.errors.trim().lines().last() {
        Some(line) => format!("{how}: {}", line.chars().take(STDERR_LINE).collect::<String>()),
        None => how,
    }
}

/// Runs `PROGRAM --schema` and returns what it prints. The catalog calls this when it lists
/// executables, and judges the document; nothing of the program is left running.
///
/// # Errors
/// If the program cannot be started, fails, prints too much, or takes too long.
pub async fn request_schema(
    program: &str,
    context: &ExecutorContext,
    extra: &[(OsString, OsString)],
) -> Result<Vec<u8>, Failure> {
    let mut environment = context.environment.clone();
    environment.extend(extra.iter().cloned());
    let mut command = Command::new(program);
    command.arg("--schema");
    let work = run_program(&mut command, &environment, Vec::new(), SCHEMA_BYTES);
    let failed = |message: String| Failure::new(&code::TOOL_FAILED, message);
    match tokio::time::timeout(SCHEMA_TIME, work).await {
        Err(_) => {
            Err(failed(format!("`--schema` printed nothing within {} ms", SCHEMA_TIME.as_millis())))
        }
        Ok(Err(error)) => Err(cannot_start(program, &error)),
        Ok(Ok(exit)) if exit.too_large => {
            Err(failed(format!("`--schema` printed more than {SCHEMA_BYTES} bytes")))
        }
        Ok(Ok(exit)) if !exit.status.success() => {
            // Programs of this protocol report failures on stdout; the others do it on stderr.
            let own = serde_json::from_slice(&exit.output).ok().as_ref().and_then(own_error);
            let why = own.map_or_else(
                || describe_exit(&exit),
                |text| text.chars().take(STDERR_LINE).collect(),
            );
            Err(failed(format!("`--schema`: {why}")))
        }
        Ok(Ok(exit)) => Ok(exit.output),
    }
}
