//! One program from start to end: its three streams are served together at any size, and whatever
//! happens, nothing of it is left running.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::family::Run;
use crate::tail::{self, Tail};

/// How long the streams may stay open when the program and all its descendants are gone.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// A program that has ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    /// The end of what it wrote to stderr.
    pub(super) errors: String,
    /// Whether it was ended because it printed more than `cap` bytes.
    pub(super) too_large: bool,
    /// Whether somebody we could not find still held its output when it had ended.
    pub(super) unfinished: bool,
}

/// Starts the program, gives it `input`, and takes at most `cap` bytes of its output. Dropping the
/// future ends the program.
pub(super) async fn drive(
    command: &mut Command,
    environment: &[(OsString, OsString)],
    input: Vec<u8>,
    cap: usize,
) -> io::Result<Ended> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (mut child, mut run) = Run::start(command, environment)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async move {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input is its own business.
            let _ = stdin.write_all(&input).await;
        }
    };
    let (mut output, mut errors) = (Vec::new(), Tail::default());
    let (status, too_large, unfinished) = {
        let read = read_up_to(stdout, &mut output, cap);
        let note = tail::follow(stderr, |push| push(&mut errors));
        let mut write = std::pin::pin!(write);
        let mut read = std::pin::pin!(read);
        let mut note = std::pin::pin!(note);
        let (mut written, mut all_read, mut noted) = (false, None, false);
        let status = loop {
            tokio::select! {
                () = &mut write, if !written => written = true,
                within = &mut read, if all_read.is_none() => {
                    all_read = Some(within);
                    if !within {
                        run.end();
                    }
                }
                () = &mut note, if !noted => noted = true,
                status = child.wait() => break status?,
            }
        };
        // Whoever it left behind may hold the streams open.
        run.end();
        let rest = async {
            if !noted {
                note.await;
            }
        };
        let last = async {
            match all_read {
                Some(within) => within,
                None => read.await,
            }
        };
        let all = tokio::time::timeout(LAST_BYTES, async { tokio::join!(rest, last) }).await;
        let unfinished = all.is_err() && all_read.is_none();
        let within = all.map_or(all_read.unwrap_or(true), |((), within)| within);
        (status, !within, unfinished)
    };
    Ok(Ended { status, output, errors: errors.text(), too_large, unfinished })
}

/// Reads to the end; `false` if there is more than `cap` bytes.
async fn read_up_to(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>, cap: usize) -> bool {
    let Some(from) = from else { return true };
    let read = from.take(cap as u64 + 1).read_to_end(into).await;
    read.is_err() || into.len() <= cap
}
