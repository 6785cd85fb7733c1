//! Runs commands on hostile definitions and checks what must hold for every one of them: it ends by
//! itself, in time, with bounded output, and leaves no process behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::{MAX_ANSWER, PATIENCE};
use crate::client::{EXIT, until};
use crate::program::{state_home, toolwright};

/// Bytes that `check`, `test` and `eval` may print: many diagnostics, or a result with indentation.
const MAX_PRINTED: usize = 8 << 20;
/// Bytes that a command may write to stderr. The console of a guest is cut at 64 KiB, and a few
/// functions may run in one command.
const MAX_STDERR: usize = 1 << 20;

/// A command that has ended by itself, within its time and with bounded output.
pub(super) struct CappedRun {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) time: Duration,
}

/// Runs the program in a session of its own and checks what must hold for every command.
///
/// # Errors
/// A sentence, if a signal ended it, it did not end, wrote too much or left processes behind.
pub(super) fn run(folder: &Path, args: &[&str]) -> Result<CappedRun, String> {
    // `setsid` makes a session, which every descendant stays in; then it becomes the program.
    let mut command = Command::new("/usr/bin/setsid");
    command.arg(toolwright().get_program()).args(args).current_dir(folder);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("XDG_STATE_HOME", state_home());
    command.stdin(Stdio::null());
    let began = Instant::now();
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("`setsid` starts");
    let session = child.id();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (out, err) = (read_to_end(stdout.expect("piped")), read_to_end(stderr.expect("piped")));
    let mut status = None;
    while status.is_none() && began.elapsed() < PATIENCE {
        status = child.try_wait().expect("our child");
        std::thread::sleep(Duration::from_millis(2));
    }
    let time = began.elapsed();
    if status.is_none() {
        let _ = child.kill();
    }
    let _ = child.wait();
    let (stdout, stderr) =
        (out.join().expect("no thread panics"), err.join().expect("no thread panics"));
    let start: String = stderr.chars().take(300).collect();
    let status = status.ok_or_else(|| format!("did not end within {PATIENCE:?}: {start}"))?;
    let code = status.code().ok_or_else(|| format!("ended by a signal ({status}): {start}"))?;
    let most = if args[0] == "call" { MAX_ANSWER } else { MAX_PRINTED };
    if stdout.len() > most || stderr.len() > MAX_STDERR {
        let (out, err) = (stdout.len(), stderr.len());
        return Err(format!("wrote {out} bytes to stdout and {err} to stderr: {start}"));
    }
    // Workers are killed when the program ends; the kernel may take a moment.
    until("the end of all its processes", EXIT, || in_session(session).is_empty().then_some(()));
    Ok(CappedRun { code, stdout, stderr, time })
}

fn read_to_end(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The processes of a session: the sixth field of `stat`. Zombies do not count.
fn in_session(session: u32) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").expect("Linux").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_in = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() != Some(&"Z")
            && fields.get(3).and_then(|field| field.parse().ok()) == Some(session)
    };
    pids.filter(is_in).collect()
}

/// Runs `work` for every item on as many threads as there are cores, and panics with all failures.
pub(super) fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = work(item) {
                        failures.lock().expect("no thread panics").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panics");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
