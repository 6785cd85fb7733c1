//! Programs that are measured: where they are, what memory they and their children have, and their
//! end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// How long a program may take to end when it is asked to.
const TIME_TO_END: Duration = Duration::from_secs(2);

/// A program of this workspace, built into the same folder as this one.
pub(crate) fn beside_us(name: &str) -> String {
    let ours = std::env::current_exe().expect("this program is a file");
    let path = ours.with_file_name(name);
    assert!(path.is_file(), "{} is not built: bench/run builds all that is needed", path.display());
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// A program in a process group of its own, which ends when this is dropped.
pub(crate) struct Started {
    pub(crate) child: Child,
}

impl Started {
    /// Its output is thrown away, unless it speaks through it.
    pub(crate) fn new(words: &[String], stdout: Stdio) -> std::io::Result<Started> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).process_group(0);
        command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::null());
        Ok(Started { child: command.spawn()? })
    }

    /// Resident bytes of the program and its descendants, without those that run `except`.
    pub(crate) fn memory(&self, except: &Path) -> u64 {
        let mut all = vec![self.child.id()];
        let mut next = 0;
        while let Some(parent) = all.get(next) {
            all.extend(children_of(*parent));
            next += 1;
        }
        let counts = |pid: &&u32| {
            std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|program: PathBuf| program != except)
        };
        all.iter().filter(counts).filter_map(|pid| resident(*pid)).sum()
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.signal(Signal::TERM);
        let deadline = Instant::now() + TIME_TO_END;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

fn children_of(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
