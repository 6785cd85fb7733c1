//! The layers of the jail on Linux.

use std::collections::BTreeMap;
use std::io;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus,
    Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::JailLayer;
use crate::limits::ADDRESS_SPACE;

/// The newest version of landlock whose rules are requested. An older kernel enforces those that it
/// has.
const LANDLOCK: ABI = ABI::V6;

/// Puts one layer around this process.
pub(super) fn enter_layer(layer: JailLayer) -> io::Result<()> {
    match layer {
        JailLayer::ParentDeath => die_with_parent(),
        JailLayer::ProcessGroup => lead_process_group(),
        JailLayer::Environment => clear_environment(),
        JailLayer::Descriptors => close_descriptors(),
        JailLayer::NoNewPrivileges => set_no_new_privileges(),
        JailLayer::Landlock => restrict_with_landlock(),
        JailLayer::ResourceLimits => limit_resources(),
        JailLayer::Seccomp => filter_system_calls(),
    }
}

/// The error of a system call that returned `result`.
fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The system kills this process when its parent ends: precisely, when the *thread* that started it
/// ends, so `worker_process` starts all workers from one thread.
fn die_with_parent() -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
}

/// The signals of a terminal, such as Ctrl-C, go to its foreground process group.
fn lead_process_group() -> io::Result<()> {
    // SAFETY: these functions take and return numbers only. The parent has usually made the group
    // already.
    unsafe { if libc::getpgrp() == libc::getpid() { Ok(()) } else { check(libc::setpgid(0, 0)) } }
}

fn clear_environment() -> io::Result<()> {
    // SAFETY: the process has one thread, so no other reads the environment meanwhile.
    check(unsafe { libc::clearenv() })
}

/// The parent opens all of its descriptors so that children do not inherit them; this holds even if
/// a library in the parent's process does not.
fn close_descriptors() -> io::Result<()> {
    // SAFETY: nothing in this process owns a descriptor from 1 on: the socket is descriptor 0, no
    // file is open, and nothing is printed.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 1u32, u32::MAX, 0u32) };
    check(closed as libc::c_int)
}

/// Without this the system lets only privileged processes install a filter of system calls.
fn set_no_new_privileges() -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

/// A ruleset that handles every kind of access and allows none.
fn restrict_with_landlock() -> io::Result<()> {
    let restrict = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .restrict_self()
    };
    match restrict().map_err(io::Error::other)?.ruleset {
        RulesetStatus::NotEnforced => Err(io::Error::other("the kernel has no landlock")),
        _ => Ok(()),
    }
}

/// Limits that the system enforces, in case the engine's own limits fail.
fn limit_resources() -> io::Result<()> {
    let limits = [
        (libc::RLIMIT_AS, ADDRESS_SPACE),
        // The socket.
        (libc::RLIMIT_NOFILE, 1),
        (libc::RLIMIT_NPROC, 0),
        (libc::RLIMIT_FSIZE, 0),
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_MEMLOCK, 0),
        (libc::RLIMIT_MSGQUEUE, 0),
    ];
    // Every limit is set before the first failure is reported: a part is better than nothing.
    let set = limits.map(|(resource, value)| {
        // A limit can only be lowered; a smaller one that was inherited stays.
        let value = value.min(hard_limit(resource));
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: the system reads the structure.
        check(unsafe { libc::setrlimit(resource, &limit) })
    });
    // Other processes of this user may not read the memory of this one, nor attach to it.
    // SAFETY: takes numbers only.
    let hidden = check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) });
    set.into_iter().chain([hidden]).collect()
}

/// The value up to which this process may raise a limit.
fn hard_limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the system writes the structure.
    if unsafe { libc::getrlimit(resource, &mut limit) } < 0 { u64::MAX } else { limit.rlim_max }
}

/// Bytes of address space that this process, and so its children, may use.
pub(super) fn address_space() -> u64 {
    hard_limit(libc::RLIMIT_AS)
}

/// The last layer: from here on the other layers cannot be changed any more.
fn filter_system_calls() -> io::Result<()> {
    let program = filter().map_err(io::Error::other)?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}

/// The filter of system calls. Allowed are reading and writing the socket, memory that is not
/// executable, clocks, random numbers and exiting. All others fail with EPERM instead of killing
/// the process, because the C library attempts some that it can do without, such as reading the
/// time zone.
fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let is_socket = condition(0, SeccompCmpOp::Eq, 0)?;
    // Without a buffer for the sender's address `recvfrom` is `recv`. A pointer has 64 bits.
    let no_address = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    let not_executable = condition(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0)?;
    let is_anonymous = condition(
        3,
        SeccompCmpOp::MaskedEq(libc::MAP_ANONYMOUS as u64),
        libc::MAP_ANONYMOUS as u64,
    )?;
    let rules: BTreeMap<i64, Vec<SeccompRule>> = [
        (libc::SYS_recvfrom, vec![SeccompRule::new(vec![is_socket.clone(), no_address])?]),
        (libc::SYS_write, vec![SeccompRule::new(vec![is_socket])?]),
        (libc::SYS_mmap, vec![SeccompRule::new(vec![not_executable.clone(), is_anonymous])?]),
        (libc::SYS_mprotect, vec![SeccompRule::new(vec![not_executable])?]),
        (libc::SYS_munmap, vec![]),
        (libc::SYS_mremap, vec![]),
        (libc::SYS_madvise, vec![]),
        (libc::SYS_brk, vec![]),
        (libc::SYS_futex, vec![]),
        (libc::SYS_clock_gettime, vec![]),
        (libc::SYS_gettimeofday, vec![]),
        (libc::SYS_getrandom, vec![]),
        (libc::SYS_sigaltstack, vec![]),
        (libc::SYS_rt_sigreturn, vec![]),
        (libc::SYS_restart_syscall, vec![]),
        (libc::SYS_exit, vec![]),
        (libc::SYS_exit_group, vec![]),
    ]
    .into();
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, refuse, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?
        .try_into()
}

/// A condition on the lower 32 bits of an argument: the kernel ignores the upper half of these.
fn condition(
    argument: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)
}
