//! Starts programs so that everything they start can be killed with them.
//!
//! A program runs in a process group of its own, and killing the group kills most of what it
//! started. Two kinds of descendants are outside the group: those that called `setsid`, and those
//! whose parent has exited (a double fork), which do not even have the program as an ancestor any
//! more. On Linux both are found like this:
//!
//! ```text
//! toolwright (subreaper)
//!  ├─ program            process group of the tree, killed as a group
//!  │   └─ setsid child   found below the program in /proc, killed by pid
//!  └─ orphan             its parent exited, so Linux made it our child;
//!                        TOOLWRIGHT_RUN in its environment names the tree it came from
//! ```
//!
//! An orphan that cleared its environment could belong to any tree that was alive when it was
//! first seen. It is killed with the last of them: late, but it can never outlive all of them, and
//! no other call loses a process.
//!
//! Children that this process already had before it started the first program (a shell can do
//! `helper & exec toolwright`) are never touched. On systems other than Linux, only the process
//! group is killed.
//!
//! Not here: asking a program to end and waiting for it; callers do that before they kill.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

use crate::process_watcher;

/// The variable that names the tree of a process. Its value is `PID.NUMBER`: our process id, so
/// that a Toolwright below another one does not mix up their trees, and the number of the tree.
pub const TREE_VARIABLE: &str = "TOOLWRIGHT_RUN";

/// All trees of this process. Global, because the children of a process are: two runners in one
/// process see the same orphans.
static TABLE: LazyLock<Mutex<ProcessTable>> = LazyLock::new(Mutex::default);

/// What each of our children is. Children that are listed nowhere are orphans.
#[derive(Default)]
struct ProcessTable {
    /// The trees that are alive, by number, with the pid of their program once it is started.
    trees: HashMap<u64, Option<i32>>,
    /// Programs of trees that are gone but that tokio has not reaped yet. Reaping them here would
    /// take their exit status away from tokio.
    unreaped: Vec<i32>,
    /// Children from before the first tree.
    foreign: Vec<i32>,
    /// Orphans without [`TREE_VARIABLE`], with the trees that may have started them.
    unmarked: HashMap<i32, HashSet<u64>>,
}

fn table() -> MutexGuard<'static, ProcessTable> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program and everything it started. Dropping this kills all of it.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    number: u64,
    /// The process group, whose id is the program's pid; absent before the program is started.
    group: Option<Pid>,
    kind: TreeKind,
}

/// What a program is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeKind {
    /// One call, which ends the tree when it ends.
    Call,
    /// A server that outlives calls: it has a session of its own, and is killed even if this
    /// process is killed (`process_watcher`).
    Server,
}

impl ProcessTree {
    /// Starts the program in a process group of its own, with exactly this environment and
    /// [`TREE_VARIABLE`].
    pub(crate) fn start(
        command: &mut Command,
        environment: &[(OsString, OsString)],
        kind: TreeKind,
    ) -> io::Result<(Child, ProcessTree)> {
        static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);
        adopt_orphans();
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        // Listed before it is started: an orphan seen in between may be its own.
        table().trees.insert(number, None);
        let mut tree = ProcessTree { number, group: None, kind };
        command.env_clear().envs(environment.iter().cloned());
        command.env(TREE_VARIABLE, tree_id(number));
        // The lock is held over the start. Otherwise another thread could see the new child before
        // it is listed, take it for an orphan and kill it.
        let mut table = table();
        match kind {
            TreeKind::Call => drop(command.process_group(0)),
            TreeKind::Server => toolwright_sandbox::start_in_own_session(command.as_std_mut()),
        }
        let started = command.kill_on_drop(true).spawn();
        if let Ok(child) = &started {
            tree.group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
            table.trees.insert(number, tree.group.map(Pid::as_raw_pid));
        }
        drop(table);
        if let (TreeKind::Server, Some(group)) = (kind, tree.group) {
            process_watcher::watch(group.as_raw_pid());
        }
        Ok((started?, tree))
    }

    /// Sends SIGTERM to the process group. Returns at once.
    pub(crate) fn terminate(&self) {
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, Signal::TERM);
        }
    }

    /// Kills the process group and everything that left it. Blocks for up to half a second, until
    /// the processes are gone; usually a few milliseconds. Harmless if repeated.
    pub(crate) fn kill(&mut self) {
        let mut killed = HashSet::new();
        if let Some(group) = self.group {
            // Listed before the group dies: after that, those in other groups are orphans, and one
            // without the variable could no longer be attributed to this tree.
            killed.extend(descendants(group.as_raw_pid()));
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        kill_orphans(self.number, killed);
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
        if let (TreeKind::Server, Some(group)) = (self.kind, self.group) {
            process_watcher::forget(group.as_raw_pid());
        }
        let mut table = table();
        let program = table.trees.remove(&self.number).flatten();
        table.unreaped.extend(program);
        for candidates in table.unmarked.values_mut() {
            candidates.remove(&self.number);
        }
    }
}

/// Kills every process of every tree. Called right before this process exits, because destructors
/// of the trees do not run then.
pub fn kill_all_processes() {
    let programs: Vec<i32> = table().trees.values().copied().flatten().collect();
    for pid in programs {
        descendants(pid).into_iter().chain([pid]).for_each(kill_process);
    }
    let is_ours = |pid: &i32| tree_id_of(*pid).is_some_and(|id| number_of(&id).is_some());
    let unmarked: Vec<i32> = table().unmarked.keys().copied().collect();
    for pid in orphans().into_iter().filter(|pid| is_ours(pid) || unmarked.contains(pid)) {
        kill_with_descendants(pid);
    }
}

/// The mark in the environment of every program that this process starts.
pub(crate) fn mark_of_all() -> String {
    format!("{TREE_VARIABLE}={}.", std::process::id())
}

/// The value of [`TREE_VARIABLE`] for a tree of this process.
fn tree_id(number: u64) -> String {
    format!("{}.{number}", std::process::id())
}

/// Makes this process the parent of orphaned descendants (on Linux), once per process.
fn adopt_orphans() {
    static ONCE: Once = Once::new();
    #[cfg(target_os = "linux")]
    ONCE.call_once(|| {
        table().foreign = children();
        // The call exists since Linux 3.4 and needs no privilege. Should it fail, orphans go to
        // init and live on, as without this module.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        hide_memory();
        // Before anything looks for orphans: the watcher is a child that no tree has.
        process_watcher::start_watcher();
    });
    #[cfg(not(target_os = "linux"))]
    ONCE.call_once(|| {});
}

/// Keeps programs that run as the same user from reading `/proc/PID/environ` and the memory of this
/// process, where the token of the server is. They are not started with it, but they could look it
/// up. Does not hold programs of root back, and ends core dumps.
#[cfg(target_os = "linux")]
fn hide_memory() {
    let hidden = rustix::process::DumpableBehavior::NotDumpable;
    let _ = rustix::process::set_dumpable_behavior(hidden);
}

/// The rounds in which a process without an environment may get one: 100 ms. Longer than a busy
/// machine takes to start a program, and waited for once for each process that has cleared it.
const EXEC_ROUNDS: u32 = 200;

/// Kills `killed` and the orphans of a tree, and waits until they are gone.
///
/// In rounds, because killing a process can produce new orphans: its children become ours, and
/// until the next look at `/proc` they are not in any list.
fn kill_orphans(number: u64, mut killed: HashSet<i32>) {
    let own_id = tree_id(number);
    killed.iter().copied().for_each(kill_process);
    // 1,000 rounds of 0.5 ms: on a busy machine a large tree takes that long to die. A process in
    // an uninterruptible system call can take longer; it is killed already and will die.
    for round in 0..1_000 {
        let mut found = false;
        for pid in orphans() {
            // A dead orphan stays a zombie until its new parent, this process, reaps it.
            if reap(pid) {
                continue;
            }
            // Perhaps it is just becoming another program: the environment is empty meanwhile.
            if round < EXEC_ROUNDS && is_unmarked_yet(pid) {
                found = true;
                continue;
            }
            if killed.contains(&pid) || belongs_to(pid, number, &own_id) {
                found = true;
                killed.extend(kill_with_descendants(pid));
            }
        }
        killed.retain(|pid| Path::new(&format!("/proc/{pid}")).exists());
        if !found && killed.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Whether a process has no environment, and was not seen so before.
fn is_unmarked_yet(pid: i32) -> bool {
    let is_empty = std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| text.is_empty());
    is_empty && !table().unmarked.contains_key(&pid)
}

/// Our children that are neither the program of a tree nor foreign. Workers of the sandbox and the
/// processes of the browser are our children, too, and not ours to kill or reap.
fn orphans() -> Vec<i32> {
    let children = children();
    let watcher = process_watcher::watcher_pid();
    let mut table = table();
    // Linux uses pids again, so an entry must not outlive its process.
    table.unreaped.retain(|pid| children.contains(pid));
    table.unmarked.retain(|pid, _| children.contains(pid));
    let is_listed = |pid: &i32| {
        toolwright_sandbox::is_worker(pid.cast_unsigned())
            || toolwright_browser::is_browser_process(pid.cast_unsigned())
            || watcher == Some(*pid)
            || table.unreaped.contains(pid)
            || table.foreign.contains(pid)
            || table.trees.values().any(|program| *program == Some(*pid))
    };
    children.into_iter().filter(|pid| !is_listed(pid)).collect()
}

/// Whether an orphan must be killed with this tree.
fn belongs_to(pid: i32, number: u64, own_id: &str) -> bool {
    match tree_id_of(pid) {
        Some(id) if id == own_id => true,
        // It belongs to another tree of this process: killed with it, or now if that tree is gone.
        Some(id) if number_of(&id).is_some() => !is_alive(&id),
        // As the first process of a container we are the parent of every orphan in it, also of
        // those that no program of ours started.
        _ if std::process::id() == 1 => false,
        _ => {
            let mut table = table();
            let alive: HashSet<u64> = table.trees.keys().copied().collect();
            let candidates = table.unmarked.entry(pid).or_insert(alive);
            candidates.iter().all(|candidate| *candidate == number)
        }
    }
}

/// The number in a value of [`TREE_VARIABLE`]; `None` if another process wrote the value.
fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix(&format!("{}.", std::process::id()))?.parse().ok()
}

fn is_alive(id: &str) -> bool {
    number_of(id).is_some_and(|number| table().trees.contains_key(&number))
}

/// Sends SIGKILL; a process that is gone already is not an error.
fn kill_process(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Kills a child of ours with all its descendants, and reaps it if it is dead already. Returns
/// everything it killed: the descendants become our children, and a later round reaps them.
fn kill_with_descendants(pid: i32) -> Vec<i32> {
    let mut all = descendants(pid);
    all.insert(0, pid);
    all.iter().copied().for_each(kill_process);
    reap(pid);
    all
}

/// Reaps a child if it has died; returns whether it had.
fn reap(pid: i32) -> bool {
    let pid = Pid::from_raw(pid);
    matches!(rustix::process::waitpid(pid, rustix::process::WaitOptions::NOHANG), Ok(Some(_)))
}

/// The children of a process, their children, and so on, in breadth-first order.
fn descendants(pid: i32) -> Vec<i32> {
    let mut all = children_of(Path::new(&format!("/proc/{pid}")));
    let mut next = 0;
    while let Some(parent) = all.get(next) {
        all.extend(children_of(Path::new(&format!("/proc/{parent}"))));
        next += 1;
    }
    all
}

fn children() -> Vec<i32> {
    children_of(Path::new("/proc/self"))
}

/// The children of all threads of a process, from `/proc/PID/task/TID/children`; empty on systems
/// without that file.
fn children_of(process: &Path) -> Vec<i32> {
    let threads = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
        })
        .collect()
}

/// The value of [`TREE_VARIABLE`] in the environment that a process was started with.
fn tree_id_of(pid: i32) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let variable = environment
        .split(|byte| *byte == 0)
        .find_map(|v| v.strip_prefix(format!("{TREE_VARIABLE}=").as_bytes()))?;
    String::from_utf8(variable.to_vec()).ok()
}
