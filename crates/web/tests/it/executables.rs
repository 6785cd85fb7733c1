//! Runs the executables as agents run them: JSON on standard input, JSON on standard output.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

pub(crate) const FETCH: &str = env!("CARGO_BIN_EXE_web-fetch-tool");
pub(crate) const BRAVE: &str = env!("CARGO_BIN_EXE_web-search-brave-tool");
pub(crate) const GOOGLE: &str = env!("CARGO_BIN_EXE_web-search-google-tool");

/// What an executable did.
#[derive(Debug)]
pub(crate) struct ToolRun {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
    pub(crate) elapsed: Duration,
    /// The highest resident memory in KiB, at the last of the samples that are taken about every
    /// millisecond. The kernel keeps the maximum, so only memory of the last moments can be
    /// missed.
    pub(crate) peak: u64,
}

impl ToolRun {
    /// The one JSON object on standard output.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The message of a failure. Panics unless it is the only thing that was written.
    pub(crate) fn error(&self) -> String {
        assert_eq!(self.code, 1, "{self:?}");
        let json = self.json();
        assert_eq!(json.as_object().expect("an object").len(), 1, "{self:?}");
        json["error"].as_str().expect("a message").to_owned()
    }

    /// The Markdown of a success.
    pub(crate) fn content(&self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.json()["content"].as_str().expect("content").to_owned()
    }
}

/// Runs an executable with no other environment variables than the given ones.
pub(crate) fn run(
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
    input: &str,
) -> ToolRun {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // An executable that does not read its input (`--schema`) closes the pipe.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut peak = 0;
        // The line is missing once the process has ended.
        while let Some(now) = high_water(&status) {
            peak = peak.max(now);
            std::thread::sleep(Duration::from_millis(1));
        }
        peak
    });
    let output = child.wait_with_output().expect("it ends");
    ToolRun {
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code().unwrap_or(-1),
        elapsed: start.elapsed(),
        peak: watch.join().expect("no panic"),
    }
}

/// The highest resident memory of a process so far, in KiB.
fn high_water(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Runs `web-fetch-tool` on a test server's URL.
pub(crate) fn fetch(url: &str) -> ToolRun {
    run(FETCH, &["--allow-private"], &[], &json!({ "url": url }).to_string())
}
