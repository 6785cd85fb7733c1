//! The process of an MCP server that we started: its start, its standard streams and its end.
//!
//! The end follows the specification's shutdown for stdio: close its input, then ask it to
//! terminate, then kill it. Killing includes everything it started (`process_tree`).

use std::ffi::OsString;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use toolwright_model::Server;

use super::connect_error::unavailable;
use super::upstreams::ServerEnvironment;
use crate::process_tree::{ProcessTree, TreeKind};
use crate::stderr_tail::{self, StderrTail};
use crate::{Failure, code};

/// How long a server may take to end by itself when its input is closed, and again after the signal
/// to terminate.
pub(super) const TIME_TO_END: Duration = Duration::from_millis(1_500);
/// How long to wait for the rest of a dead server's stderr. A process that it left behind may hold
/// the pipe open, so the end of the stream may never come.
const TIME_FOR_STDERR: Duration = Duration::from_millis(100);
/// Lines and characters of stderr that an error message shows.
const SHOWN_LINES: usize = 5;
const SHOWN_CHARS: usize = 1_000;

/// A running server.
pub(super) struct ServerProcess {
    /// The server itself, for its exit status.
    child: Child,
    /// Knows all processes that the server started.
    tree: ProcessTree,
    /// Its streams, until the connection takes them.
    pub(super) streams: Option<(ChildStdout, ChildStdin)>,
    /// The end of what it wrote to stderr.
    stderr: Arc<Mutex<StderrTail>>,
    stderr_reader: tokio::task::JoinHandle<()>,
}

impl ServerProcess {
    /// Starts a server. Its environment is what `base` passes on and the variables of its source,
    /// nothing else.
    pub(super) fn start(
        command: &[String],
        server: &Server,
        base: &ServerEnvironment,
    ) -> Result<ServerProcess, Failure> {
        let Some((program, words)) = command.split_first() else {
            return Err(unavailable("its command is empty"));
        };
        // Checked before the start: a server without its key often fails in ways that are hard to
        // understand.
        let environment = environment(server, base)?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Without one, the server inherits our working directory.
        if let Some(directory) = &server.directory {
            // The system reports it as if the program were missing.
            if !std::path::Path::new(directory).is_dir() {
                let why = format!("its directory `{directory}` does not exist");
                let message = format!("`{program}` cannot be started: {why}");
                return Err(Failure::new(&code::SPAWN_FAILED, message));
            }
            command.current_dir(directory);
        }
        let (mut child, tree) = ProcessTree::start(&mut command, &environment, TreeKind::Server)
            .map_err(|error| crate::process::cannot_start(program, &error))?;
        let stderr = Arc::new(Mutex::new(StderrTail::default()));
        // Read all the time: a server whose stderr pipe is full blocks.
        let stderr_reader = tokio::spawn({
            let (from, stderr) = (child.stderr.take(), Arc::clone(&stderr));
            async move {
                stderr_tail::read_tail(from, |push| {
                    push(&mut stderr.lock().unwrap_or_else(PoisonError::into_inner))
                })
                .await;
            }
        });
        let streams = child.stdout.take().zip(child.stdin.take());
        Ok(ServerProcess { child, tree, streams, stderr, stderr_reader })
    }

    /// Ends the process and everything it started. Returns a sentence about how it ended. The
    /// caller has closed its input before, by closing the wire.
    pub(super) async fn end(mut self) -> String {
        let mut status = tokio::time::timeout(TIME_TO_END, self.child.wait()).await;
        // The server ignored the end of its input, as those do that do not read it.
        if status.is_err() {
            self.tree.terminate();
            status = tokio::time::timeout(TIME_TO_END, self.child.wait()).await;
        }
        // Also after an orderly exit: the server may have left processes behind.
        self.tree.kill();
        let how = match status {
            Ok(Ok(status)) => match status.code() {
                Some(code) => format!("the server's process ended with status {code}"),
                None => "the server's process was ended by a signal".to_owned(),
            },
            _ => "the server's process did not end and was killed".to_owned(),
        };
        self.with_stderr(how).await
    }

    /// Kills the process and everything it started, for this reason. Returns the reason with what
    /// happened. The caller has closed its input before, so that it can end in order.
    pub(super) async fn kill_because(mut self, why: &str) -> String {
        self.tree.terminate();
        let _ = tokio::time::timeout(TIME_TO_END, self.child.wait()).await;
        self.tree.kill();
        self.with_stderr(format!("{why} and was killed")).await
    }

    /// Adds the last lines of stderr to a sentence about the end.
    async fn with_stderr(self, how: String) -> String {
        let _ = tokio::time::timeout(TIME_FOR_STDERR, self.stderr_reader).await;
        match last_lines(&self.stderr) {
            lines if lines.is_empty() => how,
            lines => format!("{how}; its stderr ends with: {lines}"),
        }
    }
}

/// The environment of a server's process: later entries override earlier ones.
fn environment(
    server: &Server,
    base: &ServerEnvironment,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut environment = base.passed.clone();
    for variable in &server.environment {
        match &variable.value {
            Some(value) => environment.push(((&variable.name).into(), value.into())),
            None if variable.required
                && !environment.iter().any(|(name, _)| *name == *variable.name) =>
            {
                let name = &variable.name;
                let (which, remedy) = match base.withheld.iter().any(|other| *other == **name) {
                    true => (
                        "which is not passed on to it, although it is set here",
                        format!("give `--env {name}`, or name it in the `env` of the source"),
                    ),
                    false => ("which is not set", "set it in the source's `env`".to_owned()),
                };
                let message = format!("the server needs the variable `{name}`, {which}");
                return Err(Failure::new(&code::UPSTREAM_UNAVAILABLE, message).suggest(remedy));
            }
            // Set in `base`, or optional.
            None => {}
        }
    }
    Ok(environment)
}

/// The last lines of a server's stderr, joined into one for an error message, behind the first line
/// that names an error if that is not among them: node prints it above a long stack trace.
fn last_lines(stderr: &Mutex<StderrTail>) -> String {
    let text = stderr.lock().unwrap_or_else(PoisonError::into_inner).text();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // Most programs print the cause last, after their stack trace or usage text.
    let (above, last) = lines.split_at(lines.len().saturating_sub(SHOWN_LINES));
    let cause = above.iter().find(|line| line.contains("Error"));
    let cause = cause.map_or(String::new(), |line| format!("{line} | … | "));
    (cause + &last.join(" | ")).chars().take(SHOWN_CHARS).collect()
}
