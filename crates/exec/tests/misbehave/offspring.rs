//! Processes that a tool or server leaves behind.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// How far a grandchild has got away from the process that started it.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Descent {
    /// In the same process group and session.
    Forked,
    /// In a session, and so a group, of its own; still our child.
    OwnSession,
    /// In a session of its own, and its parent has gone.
    Orphan,
    /// The same, and nothing in its environment tells whence it came.
    OrphanWithoutEnvironment,
}

/// Tells its pid in the file `$1`, in one step so that no reader sees half of it, and sleeps
/// 55 s, which with its pauses stays below the 60 s promised.
const SLEEPER: &str = r#"printf %s $$ >"$1.part"; mv "$1.part" "$1"
i=0; while [ $i -lt 55 ]; do sleep 1; i=$((i+1)); done"#;

/// Starts a grandchild that holds our stdin, stdout and stderr. When this returns it has got where
/// `descent` says, and its pid is in `file`.
pub(crate) fn start(descent: Descent, file: &str) {
    let _ = std::fs::remove_file(file);
    let mut child = command(descent, file).spawn().expect("`sh` and `setsid` are installed");
    // An orphan's parent ends at once; any other grandchild is reaped whenever it ends.
    let reaper = std::thread::spawn(move || child.wait());
    if matches!(descent, Descent::Orphan | Descent::OrphanWithoutEnvironment) {
        reaper.join().unwrap().unwrap();
    }
    while !Path::new(file).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn command(descent: Descent, file: &str) -> Command {
    let mut command = match descent {
        Descent::Forked => Command::new("/bin/sh"),
        _ => Command::new("/usr/bin/setsid"),
    };
    match descent {
        Descent::Forked => command.args(["-c", SLEEPER, "sleeper", file]),
        Descent::OwnSession => command.args(["/bin/sh", "-c", SLEEPER, "sleeper", file]),
        Descent::Orphan => {
            command.args(["/bin/sh", "-c", r#"/bin/sh -c "$1" sleeper "$2" & exit 0"#])
        }
        Descent::OrphanWithoutEnvironment => command.args([
            "/bin/sh",
            "-c",
            r#"/usr/bin/env -i /bin/sh -c "$1" sleeper "$2" & exit 0"#,
        ]),
    };
    if matches!(descent, Descent::Orphan | Descent::OrphanWithoutEnvironment) {
        command.args(["starter", SLEEPER, file]);
    }
    command
}
