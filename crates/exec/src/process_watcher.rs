//! A small process that outlives this one, to kill the servers that it leaves behind.
//!
//! Servers end when their input does, and those that ignore that are killed at the end of this
//! program. `kill -9` leaves no time for it. So a shell reads from us which process groups there
//! are; when we are gone, the kernel closes the pipe, and the shell kills them, and on Linux also
//! what has left its group, by the variable that names its tree (`process_tree`):
//!
//! ```text
//! toolwright ─ "+ GROUP", "- GROUP" ─▶ sh: while read …; kill -9 -GROUP …, kill -9 PID …
//! ```
//!
//! `PR_SET_PDEATHSIG` cannot be used: it acts when the *thread* that started the child ends, and
//! threads of the runtime come and go. It also would not reach what the server itself started. The
//! sandbox can use it, because it has a thread of its own for starting workers.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::process_tree;

/// Keeps the groups as a list of words. Ignores the signals of a terminal: it must outlive us.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
groups=
while read -r change group; do
  case $change in
    +) groups="$groups $group" ;;
    -) left=; for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
       groups=$left ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
for file in $(grep -Fls "$1" /proc/[0-9]*/environ); do
  pid=${file#/proc/}
  kill -s KILL "${pid%/environ}" 2>/dev/null
done
"#;

/// The shell of this process; `None` if it cannot be started, which leaves the other ways to end
/// servers.
static WATCHER: LazyLock<Option<Mutex<Child>>> =
    LazyLock::new(|| start(&process_tree::mark_of_all()).map(Mutex::new));

/// Starts the shell. `mark` is in the environment of everything that we start.
fn start(mark: &str) -> Option<Child> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "sh", mark]).env_clear().process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}

/// The pid of the shell, once there is one. It is a child of ours and not an orphan.
pub(crate) fn watcher_pid() -> Option<i32> {
    let child = LazyLock::get(&WATCHER)?.as_ref()?;
    let child = child.lock().unwrap_or_else(PoisonError::into_inner);
    Some(child.id().cast_signed())
}

/// Starts the shell, unless it runs. Called before anything looks for orphans.
pub(crate) fn start_watcher() {
    LazyLock::force(&WATCHER);
}

/// Has a process group killed if this process dies before [`forget`].
pub(crate) fn watch(group: i32) {
    if let Some(child) = &*WATCHER {
        tell(&mut child.lock().unwrap_or_else(PoisonError::into_inner), '+', group);
    }
}

/// Ends the watch of a process group, which is gone.
pub(crate) fn forget(group: i32) {
    if let Some(child) = LazyLock::get(&WATCHER).and_then(Option::as_ref) {
        tell(&mut child.lock().unwrap_or_else(PoisonError::into_inner), '-', group);
    }
}

fn tell(child: &mut Child, change: char, group: i32) {
    if let Some(to) = &mut child.stdin {
        let _ = to.write_all(format!("{change} {group}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeping_group() -> Child {
        Command::new("sleep").arg("100").process_group(0).spawn().expect("`sleep` starts")
    }

    /// The end of the pipe is all that the shell sees of our death.
    #[test]
    fn groups_are_killed_when_the_pipe_ends_unless_they_are_forgotten() {
        let mut watcher = start("nothing has this mark").expect("`sh` starts");
        let (mut watched, mut forgotten) = (sleeping_group(), sleeping_group());
        for group in [watched.id(), forgotten.id()] {
            tell(&mut watcher, '+', group.cast_signed());
        }
        tell(&mut watcher, '-', forgotten.id().cast_signed());
        drop(watcher.stdin.take());
        assert!(watcher.wait().expect("it ends").success());
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(watched.wait().expect("it ends").signal(), Some(9));
        assert_eq!(forgotten.try_wait().expect("it can be asked"), None);
        forgotten.kill().expect("it runs");
        forgotten.wait().expect("it ends");
    }
}
