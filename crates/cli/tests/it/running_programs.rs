//! Programs that tests start, watch and end: `toolwright` itself, and the tools and servers that it
//! calls (`toolwright-testing`). `client` talks MCP with the servers among them.
//!
//! All waiting has a deadline, which is long: the tests also run on machines whose processors are
//! busy with other work. Tests compare the order of events, not times; a [`Gate`] holds a call
//! until the test has seen what must come before its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::program::{Run, toolwright};

/// Longer than any answer takes, also on a slow and busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Longer than it takes to end the program and its processes, and shorter than what they would
/// otherwise wait for: 20 s for a server that hangs, 30 s for a call, 55 s for processes that
/// `toolwright-testing` leaves behind.
pub(crate) const EXIT: Duration = Duration::from_secs(15);

/// The program that plays MCP servers.
pub(crate) fn faulty_server() -> String {
    toolwright_testing::faulty_server().to_owned()
}

/// A folder `tools` with a process tool for each mode, below `folder`.
pub(crate) fn add_tools(folder: &Path, modes: &[&str]) {
    let tools = folder.join("tools");
    std::fs::create_dir_all(&tools).expect("a folder");
    for mode in modes {
        std::os::unix::fs::symlink(
            toolwright_testing::faulty_tool(),
            tools.join(format!("{mode}-tool")),
        )
        .expect("a link");
    }
}

/// Writes an executable script. A shell writes it, not this process: a file that this process has
/// open for writing is inherited by children that other threads start at that moment, and as long
/// as it is open for writing it cannot be executed (ETXTBSY).
pub(crate) fn script(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
    let mut shell = Command::new("/bin/sh")
        .args(["-c", r#"cat > "$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell");
    shell.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
    assert!(shell.wait().expect("it ends").success());
}

/// Writes a process tool as a script: it prints `schema` for `--schema` and runs `answer`, a piece
/// of shell, for a call.
pub(crate) fn process_tool(path: &Path, schema: &Json, answer: &str) {
    let text = format!(
        "#!/bin/sh\nif [ \"$1\" = --schema ]; then\ncat <<'END'\n{schema}\nEND\nelse\n{answer}\nfi\n"
    );
    script(path, &text);
}

/// Calls `look` until it returns something; panics when `patience` is over.
pub(crate) fn until<T>(what: &str, patience: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}: not within {patience:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The pid that a program wrote into a file.
pub(crate) fn pid_in(file: &Path) -> u32 {
    until("a pid in a file", LONG, || std::fs::read_to_string(file).ok()?.trim().parse().ok())
}

/// Whether a process is running. A zombie counts as ended.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Waits until a process has ended.
pub(crate) fn gone(what: &str, pid: u32, patience: Duration) {
    until(&format!("the end of {what} ({pid})"), patience, || (!runs(pid)).then_some(()));
}

/// All descendants of a process.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(parent) = all.get(next).copied() {
        let threads =
            std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for thread in threads {
            let list = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            all.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        next += 1;
    }
    all.split_off(1)
}

/// Sends a signal such as `TERM`.
pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("/bin/kill").arg(format!("-{name}")).arg(pid.to_string()).status();
    assert!(status.expect("`kill` is installed").success(), "no signal for {pid}");
}

/// The command with a minimal environment and piped streams.
pub(crate) fn command(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = toolwright();
    command
        .current_dir(folder)
        .env("PATH", "/usr/bin:/bin")
        .envs(environment.iter().copied())
        .args(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running program whose output is collected.
pub(crate) struct RunningProgram {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: CollectedOutput,
    stderr: CollectedOutput,
    readers: Vec<std::thread::JoinHandle<()>>,
}

/// The output of a stream so far.
#[derive(Clone, Default)]
pub(crate) struct CollectedOutput(Arc<Mutex<Vec<u8>>>);

impl CollectedOutput {
    pub(crate) fn of(
        mut from: impl Read + Send + 'static,
    ) -> (CollectedOutput, std::thread::JoinHandle<()>) {
        let collected = CollectedOutput::default();
        let into = collected.clone();
        let reader = std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                into.0.lock().expect("no thread panics").extend_from_slice(&buffer[..read]);
            }
        });
        (collected, reader)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no thread panics")).into_owned()
    }
}

impl RunningProgram {
    pub(crate) fn start(
        folder: &Path,
        args: &[&str],
        environment: &[(&str, &str)],
    ) -> RunningProgram {
        RunningProgram::of(&mut command(folder, args, environment))
    }

    /// Starts any command whose output is piped.
    pub(crate) fn of(command: &mut Command) -> RunningProgram {
        let mut child = command.spawn().expect("the binary starts");
        let (stdout, out) = CollectedOutput::of(child.stdout.take().expect("piped"));
        let (stderr, err) = CollectedOutput::of(child.stderr.take().expect("piped"));
        let stdin = child.stdin.take();
        RunningProgram { child, stdin, stdout, stderr, readers: vec![out, err] }
    }

    /// Starts the program and does not read its stdout; the test may.
    pub(crate) fn start_unread(
        folder: &Path,
        args: &[&str],
        environment: &[(&str, &str)],
    ) -> RunningProgram {
        let mut child = command(folder, args, environment).spawn().expect("the binary starts");
        let (stderr, err) = CollectedOutput::of(child.stderr.take().expect("piped"));
        let stdin = child.stdin.take();
        RunningProgram {
            child,
            stdin,
            stdout: CollectedOutput::default(),
            stderr,
            readers: vec![err],
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stdout(&self) -> String {
        self.stdout.text()
    }

    pub(crate) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Closes stdin and waits until the program has ended.
    pub(crate) fn end(mut self, patience: Duration) -> Run {
        drop(self.stdin.take());
        let status = until("the end of `toolwright`", patience, || {
            self.child.try_wait().expect("our child")
        });
        for reader in self.readers.drain(..) {
            reader.join().expect("the thread does not panic");
        }
        Run {
            stdout: self.stdout.text(),
            stderr: self.stderr.text(),
            code: status.code().expect("not killed by a signal"),
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        terminate(&mut self.child);
    }
}

/// Ends a program so that it ends its own processes; kills it if it does not.
pub(crate) fn terminate(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        let _ = Command::new("/bin/kill").args(["-TERM", &child.id().to_string()]).status();
        let deadline = Instant::now() + EXIT;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Runs the program to its end with this standard input.
pub(crate) fn run_with(
    folder: &Path,
    args: &[&str],
    environment: &[(&str, &str)],
    stdin: &str,
) -> Run {
    let mut child = command(folder, args, environment).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("piped");
    let stdin = stdin.to_owned();
    let writer = std::thread::spawn(move || drop(input.write_all(stdin.as_bytes())));
    let (stdout, out) = CollectedOutput::of(child.stdout.take().expect("piped"));
    let (stderr, err) = CollectedOutput::of(child.stderr.take().expect("piped"));
    let status =
        until(&format!("the end of {args:?}"), LONG, || child.try_wait().expect("our child"));
    for thread in [writer, out, err] {
        thread.join().expect("the thread does not panic");
    }
    let code = status.code().expect("not killed by a signal");
    Run { stdout: stdout.text(), stderr: stderr.text(), code }
}

/// An MCP server of `toolwright-testing` on HTTP, which is killed when this is dropped.
pub(crate) struct UpstreamServer {
    child: Child,
    pub(crate) url: String,
}

impl UpstreamServer {
    pub(crate) fn start(mode: &str) -> UpstreamServer {
        UpstreamServer::start_with(mode, &[])
    }

    pub(crate) fn start_with(mode: &str, environment: &[(&str, &str)]) -> UpstreamServer {
        let mut child = Command::new(faulty_server())
            .envs(environment.iter().copied())
            .args(["http", mode, "127.0.0.1:0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut line)
            .expect("its first line");
        let url = line.trim().strip_prefix("listening ").expect("its address").to_owned();
        UpstreamServer { child, url }
    }
}

impl Drop for UpstreamServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with a configuration in it.
pub(crate) fn configured(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("toolwright.toml"), text).expect("a file");
    let path = folder.path().to_owned();
    (folder, path)
}

/// Process tools that run until the test lets one of them finish. So a test can check what happens
/// during a call without depending on time.
///
/// The tools read a line from a named pipe. The test holds the pipe open in both directions, so
/// neither side blocks in `open`, and a line that is written before the tool reads is not lost.
pub(crate) struct Gate(std::fs::File);

impl Gate {
    /// Adds the tool `name` to the folder `tools` below `folder`. It answers `{"released": true}`.
    pub(crate) fn add(folder: &Path, name: &str) -> Gate {
        let pipe = folder.join(format!("{name}.pipe"));
        let made = Command::new("mkfifo").arg(&pipe).status().expect("`mkfifo` is installed");
        assert!(made.success(), "no pipe at {}", pipe.display());
        let schema = json!({
            "name": name, "description": "Waits for the test.", "parameters": {"type": "object"},
        });
        let answer =
            format!("read -r line < '{}'\nprintf '{{\"released\": true}}'", pipe.display());
        process_tool(&folder.join(format!("tools/{name}-tool")), &schema, &answer);
        let open = std::fs::OpenOptions::new().read(true).write(true).open(&pipe);
        Gate(open.expect("the pipe opens"))
    }

    /// Lets one call finish.
    pub(crate) fn release(&mut self) {
        self.0.write_all(b"go\n").expect("the pipe has room");
    }
}
