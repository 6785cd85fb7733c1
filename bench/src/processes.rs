//! Processes that are measured: where their programs are, how much memory they and their
//! descendants use, and how they are ended.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// How long a process may take to end after SIGTERM, before it is killed.
const TIME_TO_END: Duration = Duration::from_secs(2);

/// The path of a program of this workspace, which is built into the same folder as this one.
pub(crate) fn built_program(name: &str) -> String {
    let ours = std::env::current_exe().expect("this program is a file");
    let path = ours.with_file_name(name);
    assert!(path.is_file(), "{} is not built: bench/run builds all that is needed", path.display());
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// A process in a process group of its own. The whole group is ended when this is dropped, because
/// proxies start servers that would outlive them.
pub(crate) struct MeasuredProcess {
    pub(crate) child: Child,
}

impl MeasuredProcess {
    /// Starts a program. Standard error is discarded, standard input is a pipe.
    pub(crate) fn new(words: &[String], stdout: Stdio) -> std::io::Result<MeasuredProcess> {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).process_group(0);
        command.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::null());
        Ok(MeasuredProcess { child: command.spawn()? })
    }

    /// Resident bytes of the process and its descendants, without those whose program is `except`:
    /// the server behind a proxy does not count.
    pub(crate) fn memory(&self, except: &Path) -> u64 {
        let all = self.with_descendants();
        let counts = |pid: &&u32| {
            std::fs::read_link(format!("/proc/{pid}/exe"))
                .is_ok_and(|program: PathBuf| program != except)
        };
        all.iter().filter(counts).filter_map(|pid| resident(*pid)).sum()
    }

    /// The number of files, pipes and sockets that the process has open.
    pub(crate) fn open_descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// Kills the descendants that have `word` on their command line. Returns how many.
    pub(crate) fn kill_descendants(&self, word: &str) -> usize {
        let has_word = |pid: &&u32| {
            let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split('\0').any(|argument| argument == word)
        };
        // One of them may have ended by now.
        let kill = |pid: &u32| {
            let pid = Pid::from_raw(pid.cast_signed())?;
            rustix::process::kill_process(pid, Signal::KILL).ok()
        };
        let descendants = self.with_descendants();
        descendants.iter().skip(1).filter(has_word).filter_map(kill).count()
    }

    /// The process and all that it has started, itself first.
    fn with_descendants(&self) -> Vec<u32> {
        let mut all = vec![self.child.id()];
        let mut next = 0;
        while let Some(parent) = all.get(next) {
            all.extend(children_of(*parent));
            next += 1;
        }
        all
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for MeasuredProcess {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.signal(Signal::TERM);
        let deadline = Instant::now() + TIME_TO_END;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            // `wait` has no timeout.
            std::thread::sleep(Duration::from_millis(5));
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}

/// The ids of the children, which Linux lists by the thread that started them.
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

/// Resident bytes of one process; `None` if it has ended.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
