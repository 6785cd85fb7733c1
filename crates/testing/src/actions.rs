//! Small things that both programs do: end, hang, complain, flood.

use std::io::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The longest life of a test program. No test takes this long; a process that is still there was
/// forgotten.
const LONGEST_LIFE: Duration = Duration::from_secs(120);

/// Ends this process after `LONGEST_LIFE`, so that a failed test leaves nothing behind for ever.
/// Every program calls this first.
pub fn start_watchdog() {
    std::thread::spawn(|| {
        std::thread::sleep(LONGEST_LIFE);
        std::process::exit(124);
    });
}

/// Ends a program that was started in a wrong way, with an exit status that no mode uses.
pub fn refuse(message: &str) -> ! {
    print_stderr(message);
    std::process::exit(64);
}

/// Writes a line to stderr, and ignores it if stderr is closed.
pub fn print_stderr(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Waits until the watchdog or a signal ends the process.
pub fn hang() -> ! {
    loop {
        std::thread::sleep(LONGEST_LIFE);
    }
}

/// Writes `bytes` of `x` to stderr, in lines of 64 KiB. Stops when stderr is closed.
pub fn flood_stderr(bytes: usize) {
    let mut line = vec![b'x'; 64 * 1024];
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
    let mut stderr = std::io::stderr();
    for _ in 0..bytes.div_ceil(line.len()) {
        if stderr.write_all(&line).is_err() {
            return;
        }
    }
}

/// Replaces this process by `/bin/sh -c SCRIPT` with `$0` and `$1…` set to `arguments`. A shell can
/// ignore signals and close descriptors, which needs `unsafe` in Rust.
pub fn become_shell(script: &str, arguments: &[&str]) -> ! {
    use std::os::unix::process::CommandExt;
    let error = std::process::Command::new("/bin/sh").arg("-c").arg(script).args(arguments).exec();
    refuse(&format!("cannot become a shell: {error}"));
}

/// The environment of this process as a JSON object.
pub fn environment() -> Map<String, Value> {
    std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into()))
        .collect()
}

/// Adds two numbers. Two integers give an integer.
pub fn sum(a: &Value, b: &Value) -> Value {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => json!(a + b),
        _ => json!(a.as_f64().unwrap_or(f64::NAN) + b.as_f64().unwrap_or(f64::NAN)),
    }
}
