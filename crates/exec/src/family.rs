//! Programs we start, and everything they start. When a run ends, nothing of it is left: its
//! process group is killed, and so is whoever left the group with `setsid` or a double fork.
//!
//! How the second kind is found, on Linux: this process is a subreaper, so a descendant whose
//! parent died becomes our child and not init's. Such an orphan carries the run's mark in its
//! environment. One that cleaned its environment is a suspect of every run that was alive when it
//! was first seen, and ends with the last of them. Elsewhere only the process group is ended.
//! Children that this process had before it first started a program are strangers and never
//! touched.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

/// The variable that marks what belongs to a run.
const MARK: &str = "TOOLWRIGHT_RUN";

/// Which of our children are whose. One per process, as children are.
static FAMILY: LazyLock<Mutex<Family>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Family {
    /// The runs that are alive, with the process each began with.
    runs: HashMap<u64, Option<i32>>,
    /// First processes of runs that are over, until somebody has reaped them.
    leaving: Vec<i32>,
    /// Children from before the first run: none of ours.
    strangers: Vec<i32>,
    /// Orphans without a mark, and the runs that can have started them.
    suspects: HashMap<i32, HashSet<u64>>,
}

fn family() -> MutexGuard<'static, Family> {
    FAMILY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everything that came of starting one program. Dropping it ends all of it.
#[derive(Debug)]
pub(crate) struct Run {
    number: u64,
    group: Option<Pid>,
}

impl Run {
    /// Starts the program in a process group of its own, with exactly this environment.
    pub(crate) fn start(
        command: &mut Command,
        environment: &[(OsString, OsString)],
    ) -> io::Result<(Child, Run)> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        become_reaper();
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        // Known before it is started: an orphan that turns up meanwhile may be its own.
        family().runs.insert(number, None);
        let mut run = Run { number, group: None };
        command.env_clear().envs(environment.iter().cloned()).env(MARK, mark(number));
        // Nobody may take it for an orphan between its start and the moment it is known.
        let mut family = family();
        let started = command.process_group(0).kill_on_drop(true).spawn();
        if let Ok(child) = &started {
            run.group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
            family.runs.insert(number, run.group.map(Pid::as_raw_pid));
        }
        drop(family);
        Ok((started?, run))
    }

    /// Asks the whole group to end.
    pub(crate) fn ask_to_end(&self) {
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, Signal::TERM);
        }
    }

    /// Ends the group and everything that left it. Done at the latest when the run is dropped.
    pub(crate) fn end(&mut self) {
        let mut known = HashSet::new();
        if let Some(group) = self.group {
            // Who is still in the tree is known without a mark.
            known.extend(descendants(group.as_raw_pid()));
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        sweep(self.number, known);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.end();
        let mut family = family();
        let first = family.runs.remove(&self.number).flatten();
        family.leaving.extend(first);
        for runs in family.suspects.values_mut() {
            runs.remove(&self.number);
        }
    }
}

/// Ends whatever is left of any run, for when the program itself ends.
pub fn end_all() {
    let runs: Vec<i32> = family().runs.values().copied().flatten().collect();
    for pid in runs {
        descendants(pid).into_iter().chain([pid]).filter_map(Pid::from_raw).for_each(|pid| {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        });
    }
    let ours = |pid: &i32| mark_of(*pid).is_some_and(|mark| number_of(&mark).is_some());
    let suspects: Vec<i32> = family().suspects.keys().copied().collect();
    for pid in orphans().into_iter().filter(|pid| ours(pid) || suspects.contains(pid)) {
        condemn(pid);
    }
}

fn mark(number: u64) -> String {
    format!("{}.{number}", std::process::id())
}

fn become_reaper() {
    static ONCE: Once = Once::new();
    #[cfg(target_os = "linux")]
    ONCE.call_once(|| {
        family().strangers = children();
        // Refused nowhere that matters; if it is, orphans go to init as they always did.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    });
    #[cfg(not(target_os = "linux"))]
    ONCE.call_once(|| {});
}

/// Finds and ends the orphans of a run. Each round may bring up more: who loses its parent to one
/// round is our child in the next.
fn sweep(number: u64, mut ended: HashSet<i32>) {
    let own = mark(number);
    for pid in ended.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
    // Half a second at most: on a busy machine a tree takes its time to die.
    for _ in 0..1_000 {
        let mut found = false;
        for pid in orphans() {
            // One that has died needs no owner, only somebody to reap it.
            if reap(pid) {
                continue;
            }
            if ended.contains(&pid) || belongs(pid, number, &own) {
                found = true;
                ended.extend(condemn(pid));
            }
        }
        // Who was killed is there until it has died and somebody has reaped it.
        ended.retain(|pid| Path::new(&format!("/proc/{pid}")).exists());
        if !found && ended.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// Our children that are not the first process of a run.
fn orphans() -> Vec<i32> {
    let children = children();
    let mut family = family();
    family.leaving.retain(|pid| children.contains(pid));
    // A number that is used again belongs to somebody else.
    family.suspects.retain(|pid, _| children.contains(pid));
    let known = |pid: &i32| {
        family.leaving.contains(pid)
            || family.strangers.contains(pid)
            || family.runs.values().any(|first| *first == Some(*pid))
    };
    children.into_iter().filter(|pid| !known(pid)).collect()
}

/// Whether the orphan ends with this run.
fn belongs(pid: i32, number: u64, own: &str) -> bool {
    match mark_of(pid) {
        Some(mark) if mark == own => true,
        // Of another run of ours: it ends with that one, which may be over already.
        Some(mark) if number_of(&mark).is_some() => !is_alive(&mark),
        // The first process of a container inherits everybody's orphans.
        _ if std::process::id() == 1 => false,
        _ => {
            let mut family = family();
            let alive: HashSet<u64> = family.runs.keys().copied().collect();
            let runs = family.suspects.entry(pid).or_insert(alive);
            runs.iter().all(|run| *run == number)
        }
    }
}

/// The run of this process that a mark stands for.
fn number_of(mark: &str) -> Option<u64> {
    mark.strip_prefix(&format!("{}.", std::process::id()))?.parse().ok()
}

fn is_alive(mark: &str) -> bool {
    number_of(mark).is_some_and(|number| family().runs.contains_key(&number))
}

/// Kills a process with all its descendants, and reaps it. Gives the descendants, which are our
/// children as soon as it is gone.
fn condemn(pid: i32) -> Vec<i32> {
    let mut all = descendants(pid);
    all.insert(0, pid);
    for pid in all.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
    reap(pid);
    all
}

/// Reaps a child that has died; whether it had.
fn reap(pid: i32) -> bool {
    let pid = Pid::from_raw(pid);
    matches!(rustix::process::waitpid(pid, rustix::process::WaitOptions::NOHANG), Ok(Some(_)))
}

/// The children of a process, their children, and so on.
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

/// The children of every thread of a process; none where there is no `/proc`.
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

/// The mark in the environment a process was started with.
fn mark_of(pid: i32) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let variable = environment
        .split(|byte| *byte == 0)
        .find_map(|v| v.strip_prefix(format!("{MARK}=").as_bytes()))?;
    String::from_utf8(variable.to_vec()).ok()
}
