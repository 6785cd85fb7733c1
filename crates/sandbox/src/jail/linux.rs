//! The layers of the jail on Linux.

use std::collections::BTreeMap;
use std::io;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::{JailLayer, LayerState};
use crate::limits::ADDRESS_SPACE;

/// The newest version of landlock whose rules are requested. An older kernel enforces those that it
/// has.
const LANDLOCK: ABI = ABI::V6;
/// What kernels before a version of landlock cannot refuse, and the first Linux that can. Not
/// listed is version 2, which only lets rules permit what version 1 always refuses.
const LANDLOCK_ADDITIONS: [(ABI, &str, &str); 4] = [
    (ABI::V3, "truncating files", "6.2"),
    (ABI::V4, "TCP ports", "6.7"),
    (ABI::V5, "commands to devices", "6.10"),
    (ABI::V6, "signals and abstract sockets", "6.12"),
];

/// Puts one layer around this process.
pub(super) fn enter_layer(layer: JailLayer) -> io::Result<LayerState> {
    let entered = match layer {
        JailLayer::ParentDeath => die_with_parent(),
        JailLayer::ProcessGroup => lead_process_group(),
        JailLayer::Environment => clear_environment(),
        JailLayer::Descriptors => close_descriptors(),
        JailLayer::OomScore => raise_oom_score(),
        JailLayer::NoNewPrivileges => set_no_new_privileges(),
        JailLayer::Capabilities => drop_capabilities(),
        JailLayer::Landlock => return restrict_with_landlock(),
        JailLayer::ResourceLimits => limit_resources(),
        JailLayer::Seccomp => filter_system_calls(),
    };
    entered.map(|()| LayerState::Active)
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

/// When memory runs out, the system ends the process with the highest score; 1000 is the highest.
/// A process may always raise its own.
fn raise_oom_score() -> io::Result<()> {
    std::fs::write("/proc/self/oom_score_adj", "1000").map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write /proc/self/oom_score_adj: {error}"))
    })
}

/// Without this the system lets only privileged processes install a filter of system calls.
fn set_no_new_privileges() -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })
}

/// The argument of `capget` and `capset` that says which version of the second argument follows.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    /// 0 for the calling process.
    pid: libc::c_int,
}

/// 32 of the 64 possible capabilities, one bit for each.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq)]
struct CapabilityBits {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Gives up the rights of root, for good: also those that a program could be started with. The
/// worker may still be of the user root, whom the owner's permissions of many files favour;
/// landlock and seccomp refuse those.
fn drop_capabilities() -> io::Result<()> {
    // `_LINUX_CAPABILITY_VERSION_3` of the kernel's headers.
    let header = CapabilityHeader { version: 0x2008_0522, pid: 0 };
    let none = [CapabilityBits::default(); 2];
    // First the bounding set, because changing it takes a capability. A process that lacks that
    // one keeps the set, which is of no use to it: `no-new-privileges` holds.
    let mut capability = 0;
    // SAFETY: takes numbers only. It fails at the first number that is not a capability.
    while unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) } >= 0 {
        // SAFETY: takes numbers only.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        capability += 1;
    }
    // SAFETY: the first takes numbers only. The second reads the two structures, which have the
    // layout of this version.
    unsafe {
        check(libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))?;
        check(libc::syscall(libc::SYS_capset, &header, &none) as libc::c_int)
    }
}

/// A ruleset that handles every kind of access and allows none.
fn restrict_with_landlock() -> io::Result<LayerState> {
    let restrict = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(LANDLOCK))?
            .handle_access(AccessNet::from_all(LANDLOCK))?
            .scope(Scope::from_all(LANDLOCK))?
            .create()?
            .restrict_self()
    };
    landlock_state(&restrict().map_err(io::Error::other)?)
}

/// What the kernel made of the ruleset.
fn landlock_state(status: &RestrictionStatus) -> io::Result<LayerState> {
    let reason = match (&status.ruleset, status.landlock) {
        (RulesetStatus::FullyEnforced, _) => return Ok(LayerState::Active),
        (RulesetStatus::PartiallyEnforced, LandlockStatus::Available { effective_abi, .. }) => {
            return Ok(LayerState::Partial(landlock_lack(effective_abi)));
        }
        (_, LandlockStatus::NotEnabled) => "landlock is not enabled in this kernel",
        _ => "the kernel has no landlock",
    };
    Err(io::Error::other(reason))
}

/// What a kernel with this version of landlock cannot refuse.
fn landlock_lack(version: ABI) -> String {
    let lacking = LANDLOCK_ADDITIONS.iter().filter(|(since, ..)| *since > version);
    let lacking: Vec<String> =
        lacking.map(|(_, what, linux)| format!("{what} (Linux {linux})")).collect();
    format!("this kernel has version {version} of landlock, without {}", lacking.join(", "))
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
/// executable, clocks, random numbers and exiting, each only with the arguments that the C library,
/// the engine and this crate use. All others fail with EPERM instead of killing the process,
/// because the C library attempts some that it can do without, such as reading the time zone.
///
/// Absent although other programs of one thread have them: `mprotect`, which could make constants
/// and the linker's tables writable; `rt_sigreturn`, which loads all registers from memory and
/// which only a signal handler needs.
fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let is_socket = || equals(0, 0);
    // Without a buffer for the sender's address `recvfrom` is `recv`. A pointer has 64 bits.
    let no_address = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    let no_time_zone = SeccompCondition::new(1, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    let readable_and_writable = || equals(2, libc::PROT_READ | libc::PROT_WRITE);
    let private = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // Negative ids are clocks of other processes or of descriptors.
    let clocks = [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC, libc::CLOCK_THREAD_CPUTIME_ID];
    let clocks = clocks.into_iter().map(|clock| SeccompRule::new(vec![equals(0, clock)?]));
    let mappings = [private, private | libc::MAP_NORESERVE]
        .into_iter()
        .map(|flags| SeccompRule::new(vec![readable_and_writable()?, equals(3, flags)?]));
    let random = libc::GRND_NONBLOCK | libc::GRND_INSECURE;
    let rules: BTreeMap<i64, Vec<SeccompRule>> = [
        (libc::SYS_recvfrom, one(vec![is_socket()?, at_most(3, libc::MSG_DONTWAIT)?, no_address])?),
        (libc::SYS_write, one(vec![is_socket()?])?),
        (libc::SYS_mmap, mappings.collect::<Result<_, _>>()?),
        (libc::SYS_munmap, vec![]),
        (libc::SYS_mremap, one(vec![equals(3, libc::MREMAP_MAYMOVE)?])?),
        (libc::SYS_madvise, one(vec![equals(2, libc::MADV_DONTNEED)?])?),
        (libc::SYS_brk, vec![]),
        // `pthread_once` wakes others, although there is nobody to wake.
        (libc::SYS_futex, one(vec![equals(1, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG)?])?),
        (libc::SYS_clock_gettime, clocks.collect::<Result<_, _>>()?),
        (libc::SYS_gettimeofday, one(vec![no_time_zone])?),
        (libc::SYS_getrandom, one(vec![at_most(2, random as libc::c_int)?])?),
        (libc::SYS_exit_group, vec![]),
    ]
    .into();
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, refuse, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?
        .try_into()
}

/// The rules of a system call that is allowed in one way: if all conditions hold.
fn one(conditions: Vec<SeccompCondition>) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    Ok(vec![SeccompRule::new(conditions)?])
}

/// The argument has this value.
fn equals(argument: u8, value: libc::c_int) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::Eq, value as u32)
}

/// The argument has no other flags than these.
fn at_most(
    argument: u8,
    flags: libc::c_int,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    condition(argument, SeccompCmpOp::MaskedEq(u64::from(!flags as u32)), 0)
}

/// A condition on the lower 32 bits of an argument: the kernel ignores the upper half of these.
fn condition(
    argument: u8,
    op: SeccompCmpOp,
    value: u32,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_landlock_lacks_is_named() {
        for (version, expected) in [
            (ABI::V5, "version 5 of landlock, without signals and abstract sockets (Linux 6.12)"),
            (ABI::V2, "version 2 of landlock, without truncating files (Linux 6.2), TCP ports"),
        ] {
            let lack = landlock_lack(version);
            assert!(lack.contains(expected), "{lack}");
        }
    }
}
