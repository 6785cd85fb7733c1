//! The layers as Linux has them.

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

use super::Layer;
use crate::limits::ADDRESS_SPACE;

/// The newest rules of landlock that are asked for; an older kernel enforces what it knows of them.
const LANDLOCK: ABI = ABI::V6;

pub(super) fn enter_layer(layer: Layer) -> io::Result<()> {
    match layer {
        Layer::ParentDeath => die_with_parent(),
        Layer::ProcessGroup => lead_group(),
        Layer::Environment => forget_environment(),
        Layer::Descriptors => close_descriptors(),
        Layer::NoNewPrivileges => renounce_privileges(),
        Layer::Landlock => forbid_paths(),
        Layer::ResourceLimits => limit_resources(),
        Layer::Seccomp => filter_system_calls(),
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn die_with_parent() -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) })
}

fn lead_group() -> io::Result<()> {
    // SAFETY: these take and give numbers only.
    unsafe { if libc::getpgrp() == libc::getpid() { Ok(()) } else { check(libc::setpgid(0, 0)) } }
}

fn forget_environment() -> io::Result<()> {
    // SAFETY: no other thread runs yet, so nobody is reading the environment.
    check(unsafe { libc::clearenv() })
}

fn close_descriptors() -> io::Result<()> {
    // SAFETY: closes what nobody here uses: the socket is descriptor 0, and no file is open.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 1u32, u32::MAX, 0u32) };
    check(closed as libc::c_int)
}

fn renounce_privileges() -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

fn forbid_paths() -> io::Result<()> {
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

fn limit_resources() -> io::Result<()> {
    let limits = [
        (libc::RLIMIT_AS, ADDRESS_SPACE),
        (libc::RLIMIT_NOFILE, 1),
        (libc::RLIMIT_NPROC, 0),
        (libc::RLIMIT_FSIZE, 0),
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_MEMLOCK, 0),
        (libc::RLIMIT_MSGQUEUE, 0),
    ];
    let set = limits.map(|(resource, value)| {
        // Who is limited more already stays so.
        let value = value.min(hard_limit(resource));
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: the structure is read.
        check(unsafe { libc::setrlimit(resource, &limit) })
    });
    // No other process of this user may look into this one.
    // SAFETY: takes numbers only.
    let hidden = check(unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) });
    // All are tried before the first that failed is told of.
    set.into_iter().chain([hidden]).collect()
}

/// The most that this process may raise a limit to.
pub(super) fn hard_limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is written.
    if unsafe { libc::getrlimit(resource, &mut limit) } < 0 { u64::MAX } else { limit.rlim_max }
}

/// The addresses that this process may use, and so its children.
pub(super) fn address_space() -> u64 {
    hard_limit(libc::RLIMIT_AS)
}

fn filter_system_calls() -> io::Result<()> {
    let program = filter().map_err(io::Error::other)?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}

/// What is let through: words with the parent, memory that holds no code, clocks, the end.
/// Everything else is refused with EPERM rather than a signal, because the C library tries things
/// that it can do without (the local time zone, say).
fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let socket = condition(0, SeccompCmpOp::Eq, 0)?;
    let no_address = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    let not_code = condition(2, SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64), 0)?;
    let not_a_file = condition(
        3,
        SeccompCmpOp::MaskedEq(libc::MAP_ANONYMOUS as u64),
        libc::MAP_ANONYMOUS as u64,
    )?;
    let rules: BTreeMap<i64, Vec<SeccompRule>> = [
        (libc::SYS_recvfrom, vec![SeccompRule::new(vec![socket.clone(), no_address])?]),
        (libc::SYS_write, vec![SeccompRule::new(vec![socket])?]),
        (libc::SYS_mmap, vec![SeccompRule::new(vec![not_code.clone(), not_a_file])?]),
        (libc::SYS_mprotect, vec![SeccompRule::new(vec![not_code])?]),
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

fn condition(
    argument: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)
}
