//! Runs one program from start to exit.
//!
//! Its three streams are served at the same time: a program may fill stdout before it reads all of
//! stdin, or write megabytes to stderr first, and serving one stream after the other would block
//! both sides for ever.
//!
//! ```text
//! input ──▶ stdin   ┐
//! output ◀─ stdout  ├ until the program exits ─▶ kill its tree ─▶ up to LAST_BYTES for the rest
//! tail ◀─── stderr  ┘
//! ```
//!
//! There is no deadline here. The runner drops the future, which kills the process tree.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::process_tree::{ProcessTree, TreeKind};
use crate::stderr_tail::{self, StderrTail};

/// How long to read on after the program has exited and its tree is killed. What it wrote is in
/// the pipes by then, so this ends at once unless a process that was not found holds a pipe open.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// A program that has exited.
pub(super) struct ProgramExit {
    pub(super) status: ExitStatus,
    /// What it wrote to stdout, at most one byte more than the cap.
    pub(super) output: Vec<u8>,
    /// The last part of what it wrote to stderr.
    pub(super) errors: String,
    /// Whether it was killed because it wrote more than the cap to stdout.
    pub(super) too_large: bool,
    /// Whether stdout was still open [`LAST_BYTES`] after the exit, so that `output` may be
    /// incomplete.
    pub(super) incomplete: bool,
}

/// Starts the program, writes `input` to its stdin, and reads at most `cap` bytes of its stdout.
/// Dropping the future kills the program and everything it started.
///
/// # Errors
/// If it cannot be started.
pub(super) async fn run_program(
    command: &mut Command,
    environment: &[(OsString, OsString)],
    input: Vec<u8>,
    cap: usize,
) -> io::Result<ProgramExit> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, mut tree) = ProcessTree::start(command, environment, TreeKind::Call)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write_input = async move {
        if let Some(mut stdin) = stdin {
            // Fails when the program closes stdin early. It may answer without reading its input.
            let _ = stdin.write_all(&input).await;
        }
    };
    let (mut output, mut errors) = (Vec::new(), StderrTail::default());
    let (status, too_large, incomplete) = {
        let mut write_input = std::pin::pin!(write_input);
        let mut read_stdout = std::pin::pin!(read_up_to(stdout, &mut output, cap));
        let mut read_stderr =
            std::pin::pin!(stderr_tail::read_tail(stderr, |push| push(&mut errors)));
        // A future that has ended must not be polled again, so each has a flag.
        let (mut input_written, mut stdout_read, mut stderr_read) = (false, None, false);
        let status = loop {
            tokio::select! {
                () = &mut write_input, if !input_written => input_written = true,
                within_cap = &mut read_stdout, if stdout_read.is_none() => {
                    stdout_read = Some(within_cap);
                    if !within_cap {
                        tree.kill();
                    }
                }
                () = &mut read_stderr, if !stderr_read => stderr_read = true,
                status = child.wait() => break status?,
            }
        };
        // Processes that the program left behind may hold the streams open.
        tree.kill();
        let rest_of_stderr = async {
            if !stderr_read {
                read_stderr.await;
            }
        };
        let rest_of_stdout = async {
            match stdout_read {
                Some(within_cap) => within_cap,
                None => read_stdout.await,
            }
        };
        let rest = async { tokio::join!(rest_of_stderr, rest_of_stdout) };
        let rest = tokio::time::timeout(LAST_BYTES, rest).await;
        let incomplete = rest.is_err() && stdout_read.is_none();
        let within_cap = rest.map_or(stdout_read.unwrap_or(true), |((), within_cap)| within_cap);
        (status, !within_cap, incomplete)
    };
    Ok(ProgramExit { status, output, errors: errors.text(), too_large, incomplete })
}

/// Reads to the end of the stream. Returns `false` if it has more than `cap` bytes; then it stops
/// one byte above. A read error counts as the end.
async fn read_up_to(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>, cap: usize) -> bool {
    let Some(from) = from else { return true };
    let read = from.take(cap as u64 + 1).read_to_end(into).await;
    read.is_err() || into.len() <= cap
}
