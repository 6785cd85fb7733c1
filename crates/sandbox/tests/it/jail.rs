//! The jail from the inside: what a worker that has been taken over could still do.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use toolwright_sandbox::JailLayer;

use crate::support::POOL;

#[test]
fn every_forbidden_system_call_is_refused() {
    let (mut ours, theirs) = UnixStream::pair().expect("a socket");
    let mut child = Command::new(env!("CARGO_BIN_EXE_sandbox-convict"))
        .arg("--try")
        .env("SECRET", "of the parent")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .expect("it starts");
    let mut told = String::new();
    ours.read_to_string(&mut told).expect("what it tried");
    assert!(child.wait().expect("it ends").success(), "{told}");
    let lines: Vec<&str> = told.lines().collect();
    let tried: Vec<&&str> = lines.iter().filter(|line| line.contains(": ")).collect();
    assert!(tried.len() > 50, "{told}");
    for line in lines {
        let fine =
            line.ends_with(": refused") || line == "memory: 8388608" || line == "environment: 0";
        assert!(fine, "{line}");
    }
}

/// A crash of the engine ends its worker at once; what cannot be caught cannot be tried again and
/// again.
#[test]
fn a_worker_that_crashes_dies() {
    for how in ["--crash", "--abort"] {
        let began = std::time::Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_sandbox-convict"));
        let mut child = command.arg(how).stdin(Stdio::null()).spawn().expect("it starts");
        let status = loop {
            if let Some(status) = child.try_wait().expect("our child") {
                break status;
            }
            if began.elapsed() > std::time::Duration::from_secs(10) {
                child.kill().expect("our child");
                panic!("{how}: it does not die");
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        assert!(status.signal().is_some(), "{how}: {status}");
    }
}

#[test]
fn this_kernel_has_every_layer() {
    let report = POOL.jail_blocking().expect("a worker");
    assert_eq!(report.layers().count(), JailLayer::ALL.len());
    assert!(report.is_complete(), "{report:?}");
}

#[test]
fn a_worker_looks_jailed_from_outside() {
    let pool = crate::support::pool(1);
    crate::support::assert_alive(&pool);
    let pid = pool.idle()[0];
    let read =
        |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let status = read("status");
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2", "a filter is at work");
    assert_eq!(field("Threads:"), "1");
    let limits = read("limits");
    assert!(
        limits.lines().any(|line| line.starts_with("Max open files") && line.contains(" 1 ")),
        "{limits}"
    );
    let group = read("stat");
    let group = group
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(2))
        .unwrap_or_default();
    assert_eq!(group, pid.to_string(), "it leads its own process group");
    if let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) {
        assert_eq!(open.count(), 1);
    }
}
