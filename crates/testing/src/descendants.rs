//! Processes that a tool or server leaves behind. Tests check that they are killed.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How a descendant is related to the process that started it.
#[derive(Clone, Copy, PartialEq)]
pub enum DescendantKind {
    /// In the same process group and session.
    Forked,
    /// In a session, and so a process group, of its own; still a child.
    OwnSession,
    /// In a session of its own, and its parent has exited.
    Orphan,
    /// The same, and its environment is empty.
    OrphanWithoutEnvironment,
}

impl DescendantKind {
    fn is_orphan(self) -> bool {
        matches!(self, DescendantKind::Orphan | DescendantKind::OrphanWithoutEnvironment)
    }
}

/// Writes its pid to the file `$1`, by a rename so that no reader sees half of it. Sleeps 55 s in
/// steps: nothing that a failed test leaves behind lives longer than a minute.
const SLEEPER: &str = r#"printf %s $$ >"$1.part"; mv "$1.part" "$1"
i=0; while [ $i -lt 55 ]; do sleep 1; i=$((i+1)); done"#;

/// Starts a process that holds our stdin, stdout and stderr open. When this returns, it has the
/// kind asked for, and its pid is in `file`.
///
/// # Panics
/// If `sh` or `setsid` is not installed.
pub fn start(kind: DescendantKind, file: &str) {
    let _ = std::fs::remove_file(file);
    let mut child = command(kind, file).spawn().expect("`sh` and `setsid` are installed");
    // A thread reaps the child whenever it exits. The parent of an orphan exits at once, and only
    // then is the orphan one.
    let reaper = std::thread::spawn(move || child.wait());
    if kind.is_orphan() {
        let _ = reaper.join();
    }
    while !Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn command(kind: DescendantKind, file: &str) -> Command {
    let mut command = match kind {
        DescendantKind::Forked => Command::new("/bin/sh"),
        _ => Command::new("/usr/bin/setsid"),
    };
    match kind {
        DescendantKind::Forked => command.args(["-c", SLEEPER, "sleeper", file]),
        DescendantKind::OwnSession => command.args(["/bin/sh", "-c", SLEEPER, "sleeper", file]),
        DescendantKind::Orphan => {
            command.args(["/bin/sh", "-c", r#"/bin/sh -c "$1" sleeper "$2" & exit 0"#])
        }
        DescendantKind::OrphanWithoutEnvironment => command.args([
            "/bin/sh",
            "-c",
            r#"/usr/bin/env -i /bin/sh -c "$1" sleeper "$2" & exit 0"#,
        ]),
    };
    if kind.is_orphan() {
        command.args(["starter", SLEEPER, file]);
    }
    command
}
