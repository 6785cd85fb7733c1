//! The jail from inside: what a guest could do that has taken its worker over.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use toolwright_sandbox::JailLayer;

use crate::support::{POOL, assert_works, example, pool, wait_until};

#[test]
fn every_forbidden_system_call_is_refused() {
    let (mut ours, theirs) = UnixStream::pair().expect("a socket");
    let mut child = Command::new(example("sandbox-misbehaving-worker"))
        .arg("--attack")
        .env("SECRET", "of the parent")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .expect("it starts");
    let mut report = String::new();
    ours.read_to_string(&mut report).expect("a report");
    assert!(child.wait().expect("our child").success(), "{report}");
    let lines: Vec<&str> = report.lines().collect();
    let attempts: Vec<&&str> = lines.iter().filter(|line| line.contains(": ")).collect();
    assert!(attempts.len() > 50, "{report}");
    for line in lines {
        let is_fine =
            line.ends_with(": refused") || line == "memory: 8388608" || line == "environment: 0";
        assert!(is_fine, "{line}");
    }
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
