//! Programs as tools. Three bindings end in starting a program: an executable that speaks the
//! process protocol (JSON in, JSON out), a script that speaks the same through its interpreter, and
//! a command line whose arguments are words.

mod drive;

use std::ffi::OsString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::process::Command;
use toolwright_model::Binding;

use crate::{BoxFuture, Call, Executor, Failure, Host, Json, Kind, Outcome, Parts, code};
use drive::{Ended, drive};

/// The line in the table of executors.
pub(crate) const KIND: Kind = Kind {
    id: "process",
    takes: |binding| {
        matches!(
            binding,
            Binding::Executable { program: Some(_) }
                | Binding::Command { .. }
                | Binding::Local { .. }
        )
    },
    build: |parts| Arc::new(Processes { parts: parts.clone() }),
};

/// How long a program may take to print its schema.
const SCHEMA_TIME: Duration = Duration::from_secs(1);
/// How long that schema may be.
const SCHEMA_BYTES: usize = 8 * 1024;

struct Processes {
    parts: Parts,
}

impl Executor for Processes {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        Box::pin(async move {
            let start = Start::of(&call)?;
            let mut environment = self.parts.environment.clone();
            environment.extend(call.environment.iter().cloned());
            let mut command = Command::new(&start.program);
            command.args(&start.words);
            let ended = drive(&mut command, &environment, start.input, call.budget.output).await;
            let ended = ended.map_err(|error| cannot_start(&start.program, &error))?;
            if ended.too_large {
                let cap = call.budget.output;
                let message = format!(
                    "`{}` printed more than the {cap} bytes that are allowed",
                    call.tool.name
                );
                return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message));
            }
            if ended.unfinished {
                let message =
                    format!("`{}` ended and left its output open to others", call.tool.name);
                return Err(Failure::new(&code::TOOL_FAILED, message).detail(ended.errors));
            }
            let result = match &call.tool.details.binding {
                Binding::Command { install_guide, .. } => {
                    read_text(&ended, install_guide.as_deref())
                }
                _ => read_json(&ended),
            };
            // A failure takes it along as its detail.
            if result.is_ok() && !ended.errors.trim().is_empty() {
                self.parts.log.line(&format!(
                    "{}: stderr: {}",
                    call.tool.name,
                    ended.errors.trim()
                ));
            }
            result
        })
    }
}

/// What to start, and what to give it.
struct Start {
    program: String,
    words: Vec<String>,
    input: Vec<u8>,
}

impl Start {
    fn of(call: &Call<'_>) -> Result<Start, Failure> {
        let json = || call.arguments.to_string().into_bytes();
        match &call.tool.details.binding {
            Binding::Executable { program: Some(program) } => {
                Ok(Start { program: program.clone(), words: Vec::new(), input: json() })
            }
            Binding::Local { runtime, entry_point, command, .. } => {
                let mut words = vec![entry_point.clone(), command.clone()];
                let program = runtime.clone().unwrap_or_else(|| words.remove(0));
                Ok(Start { program, words, input: json() })
            }
            Binding::Command { executable, words, .. } => {
                let mut words = words.clone();
                let given =
                    call.arguments.get("args").and_then(Json::as_array).into_iter().flatten();
                words.extend(given.filter_map(Json::as_str).map(str::to_owned));
                let input = call.arguments.get("stdin").and_then(Json::as_str).unwrap_or_default();
                Ok(Start { program: executable.clone(), words, input: input.into() })
            }
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

pub(crate) fn cannot_start(program: &str, error: &std::io::Error) -> Failure {
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => {
            "there is no such program (or its interpreter is missing)".to_owned()
        }
        std::io::ErrorKind::PermissionDenied => "it may not be executed".to_owned(),
        _ if error.raw_os_error() == Some(8) => {
            "it is neither a program nor a script with `#!`".to_owned()
        }
        _ => error.to_string(),
    };
    Failure::new(&code::SPAWN_FAILED, format!("`{program}` cannot be started: {why}"))
}

/// The process protocol: one JSON value; a failed exit or an `error` member is a failure.
fn read_json(ended: &Ended) -> Result<Outcome, Failure> {
    let value = serde_json::from_slice::<Json>(&ended.output);
    let error = value.as_ref().ok().and_then(|value| value.get("error"));
    if let Some(error) = error {
        let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Err(Failure::new(&code::TOOL_FAILED, text).detail(ended.errors.as_str()));
    }
    if !ended.status.success() {
        return Err(
            Failure::new(&code::TOOL_FAILED, how_it_ended(ended)).detail(ended.errors.as_str())
        );
    }
    value.map(Outcome::json).map_err(|error| {
        let message = if ended.output.is_empty() {
            "the program ended without an answer".to_owned()
        } else {
            format!("the program's answer is not JSON: {error}")
        };
        let printed =
            String::from_utf8_lossy(&ended.output[..ended.output.len().min(400)]).into_owned();
        Failure::new(&code::OUTPUT_INVALID, message).detail(printed)
    })
}

/// A command line: what it prints is the result.
fn read_text(ended: &Ended, install_guide: Option<&str>) -> Result<Outcome, Failure> {
    if ended.status.success() {
        return Ok(Outcome::text(String::from_utf8_lossy(&ended.output)));
    }
    let failure =
        Failure::new(&code::TOOL_FAILED, how_it_ended(ended)).detail(ended.errors.as_str());
    Err(match install_guide {
        Some(guide) if ended.status.code() == Some(127) => failure.suggest(guide),
        _ => failure,
    })
}

/// The status and the last line on stderr, which is where programs say why.
fn how_it_ended(ended: &Ended) -> String {
    use std::os::unix::process::ExitStatusExt;
    let how = match (ended.status.code(), ended.status.signal()) {
        (Some(code), _) => format!("the program ended with status {code}"),
        (None, Some(signal)) => format!("the program was ended by signal {signal}"),
        (None, None) => "the program ended in an unknown way".to_owned(),
    };
    match ended.errors.trim().lines().last() {
        Some(line) => format!("{how}: {}", line.chars().take(300).collect::<String>()),
        None => how,
    }
}

/// Asks a program for its schema document (`--schema`).
///
/// # Errors
/// Why there is none; nothing of the program is left running.
pub async fn schema_of(
    program: &str,
    parts: &Parts,
    extra: &[(OsString, OsString)],
) -> Result<Vec<u8>, Failure> {
    let mut environment = parts.environment.clone();
    environment.extend(extra.iter().cloned());
    let mut command = Command::new(program);
    command.arg("--schema");
    let started = Instant::now();
    let work = drive(&mut command, &environment, Vec::new(), SCHEMA_BYTES);
    let ended = tokio::time::timeout(SCHEMA_TIME, work).await;
    let failed = |message: String| Failure::new(&code::TOOL_FAILED, message);
    match ended {
        Err(_) => Err(failed(format!(
            "`--schema` printed nothing within {} ms",
            started.elapsed().as_millis()
        ))),
        Ok(Err(error)) => Err(cannot_start(program, &error)),
        Ok(Ok(ended)) if ended.too_large => {
            Err(failed(format!("`--schema` printed more than {SCHEMA_BYTES} bytes")))
        }
        Ok(Ok(ended)) if !ended.status.success() => {
            Err(failed(format!("`--schema`: {}", how_it_ended(&ended))))
        }
        Ok(Ok(ended)) => Ok(ended.output),
    }
}
