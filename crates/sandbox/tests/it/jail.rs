//! The jail from inside: what a guest could do that has taken its worker over.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};

use toolwright_sandbox::JailLayer;

use crate::support::{POOL, assert_works, example, pool, wait_until};

/// Runs `sandbox-misbehaving-worker` with an argument and checks that the system refused each of
/// its attempts. Returns how many there were.
fn attack(worker: &Path, mode: &str, user: Option<u32>) -> usize {
    let (mut ours, theirs) = UnixStream::pair().expect("a socket");
    let mut command = Command::new(worker);
    command.arg(mode).env("SECRET", "of the parent").stdin(Stdio::from(OwnedFd::from(theirs)));
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let mut child = command.spawn().expect("it starts");
    // The command keeps a copy of the socket, which would never end then.
    drop(command);
    let mut report = String::new();
    ours.read_to_string(&mut report).expect("a report");
    assert!(child.wait().expect("our child").success(), "{report}");
    let results = ["memory: 8388608", "environment: 0"];
    let wrong: Vec<&str> = report
        .lines()
        .filter(|line| !line.ends_with(": refused") && !results.contains(line))
        .collect();
    assert!(wrong.is_empty(), "{mode} as {user:?}: {wrong:#?}");
    report.lines().count()
}

#[test]
fn every_forbidden_system_call_is_refused() {
    let worker = example("sandbox-misbehaving-worker");
    assert!(attack(&worker, "--attack", None) > 400);
}

/// As the user that runs the tests, and if that is root as another one, too.
#[test]
fn no_worker_has_the_rights_of_root() {
    let worker = example("sandbox-misbehaving-worker");
    assert!(attack(&worker, "--attack-as-root", None) > 10);
    // SAFETY: returns a number.
    if unsafe { libc::geteuid() } == 0 {
        // Where every user may execute it: the target folder may be a private one.
        let folder = tempfile::tempdir().expect("a folder");
        let everyone = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), everyone).expect("our folder");
        let copy = folder.path().join("worker");
        std::fs::copy(worker, &copy).expect("a copy");
        let nobody = Some(65534);
        assert!(attack(&copy, "--attack-as-root", nobody) > 10);
        assert!(attack(&copy, "--attack", nobody) > 400);
    }
}

/// The engine is C. A guard before every return address makes an overflow of a buffer on the stack
/// end the worker. `.cargo/config.toml` asks for it; the worker links no other C than the engine.
#[test]
fn the_engine_is_compiled_with_stack_protectors() {
    let worker = std::fs::read(example("sandbox-worker")).expect("the file of the worker");
    let symbol = b"__stack_chk_fail";
    assert!(
        worker.windows(symbol.len()).any(|bytes| bytes == symbol),
        "if CFLAGS are set, they must contain -fstack-protector-strong"
    );
}

/// The crashing instruction must not run again and again because the jail refuses what a signal
/// handler attempts.
#[test]
fn a_crash_ends_the_worker() {
    for how in ["--crash", "--abort"] {
        let mut command = Command::new(example("sandbox-misbehaving-worker"));
        let mut child = command.arg(how).stdin(Stdio::null()).spawn().expect("it starts");
        let status = std::cell::Cell::new(None);
        let child = std::cell::RefCell::new(&mut child);
        wait_until("the worker ends", || {
            status.set(child.borrow_mut().try_wait().expect("our child"));
            status.get().is_some()
        });
        let status = status.get().expect("it ended");
        assert!(status.signal().is_some(), "{how}: {status}");
    }
}

#[test]
fn this_system_has_every_layer() {
    let report = POOL.jail_blocking().expect("a worker");
    assert_eq!(report.layers().count(), JailLayer::ALL.len());
    assert!(report.is_complete(), "{report:?}");
}

#[test]
fn the_system_shows_the_jail_of_a_worker() {
    let pool = pool(1);
    assert_works(&pool);
    let pid = pool.idle()[0];
    let read =
        |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let status = read("status");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim).unwrap_or_default().to_owned()
    };
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(field(set), "0000000000000000", "{set}");
    }
    // SAFETY: returns a number.
    if unsafe { libc::geteuid() } == 0 {
        assert_eq!(field("CapBnd:"), "0000000000000000", "root can change it");
    }
    assert_eq!(read("oom_score_adj").trim(), "1000");
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2", "2 is a filter");
    assert_eq!(field("Threads:"), "1");
    let limits = read("limits");
    assert!(
        limits.lines().any(|line| line.starts_with("Max open files") && line.contains(" 1 ")),
        "{limits}"
    );
    let stat = read("stat");
    let group =
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(2)).unwrap_or_default();
    assert_eq!(group, pid.to_string(), "it leads its own process group");
    // Readable only by a privileged test.
    if let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) {
        assert_eq!(open.count(), 1);
    }
}
