//! What a guest that has taken its worker over could attempt. Each attempt is reported on the
//! socket, in a line `NAME: refused` if the system refused it for lack of permission.

use std::io;

/// A name, the number of a system call, and its arguments.
type Attempt = (&'static str, i64, [i64; 6]);

/// What the filter of system calls must refuse. Pointers are null where the call takes some: a
/// call that is refused does not get as far as reading them.
fn forbidden_calls(parent: i64) -> Vec<Attempt> {
    let path = c"/etc/passwd".as_ptr() as i64;
    let at = i64::from(libc::AT_FDCWD);
    let mut attempts = vec![
        ("openat", libc::SYS_openat, [at, path, 0, 0, 0, 0]),
        ("openat2", libc::SYS_openat2, [at, path, 0, 0, 0, 0]),
        ("readlinkat", libc::SYS_readlinkat, [at, path, 0, 0, 0, 0]),
        ("unlinkat", libc::SYS_unlinkat, [at, path, 0, 0, 0, 0]),
        ("mkdirat", libc::SYS_mkdirat, [at, path, 0, 0, 0, 0]),
        ("chdir", libc::SYS_chdir, [path, 0, 0, 0, 0, 0]),
        ("memfd_create", libc::SYS_memfd_create, [path, 0, 0, 0, 0, 0]),
        ("socket", libc::SYS_socket, [i64::from(libc::AF_INET), 1, 0, 0, 0, 0]),
        ("socketpair", libc::SYS_socketpair, [1, 1, 0, 0, 0, 0]),
        ("connect", libc::SYS_connect, [0; 6]),
        ("sendmsg", libc::SYS_sendmsg, [0; 6]),
        ("recvmsg", libc::SYS_recvmsg, [0; 6]),
        ("pipe2", libc::SYS_pipe2, [0; 6]),
        ("dup", libc::SYS_dup, [0; 6]),
        ("fcntl", libc::SYS_fcntl, [0, i64::from(libc::F_DUPFD), 3, 0, 0, 0]),
        ("ioctl", libc::SYS_ioctl, [0; 6]),
        ("execve", libc::SYS_execve, [path, 0, 0, 0, 0, 0]),
        ("execveat", libc::SYS_execveat, [at, path, 0, 0, 0, 0]),
        ("clone", libc::SYS_clone, [i64::from(libc::SIGCHLD), 0, 0, 0, 0, 0]),
        ("clone3", libc::SYS_clone3, [0; 6]),
        ("unshare", libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER), 0, 0, 0, 0, 0]),
        ("setns", libc::SYS_setns, [0; 6]),
        ("ptrace", libc::SYS_ptrace, [i64::from(libc::PTRACE_ATTACH), parent, 0, 0, 0, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, [parent, 0, 0, 0, 0, 0]),
        ("process_vm_writev", libc::SYS_process_vm_writev, [parent, 0, 0, 0, 0, 0]),
        ("kill the parent", libc::SYS_kill, [parent, 0, 0, 0, 0, 0]),
        ("kill every process", libc::SYS_kill, [-1, 0, 0, 0, 0, 0]),
        ("tgkill", libc::SYS_tgkill, [parent, parent, 0, 0, 0, 0]),
        ("pidfd_open", libc::SYS_pidfd_open, [parent, 0, 0, 0, 0, 0]),
        ("prctl", libc::SYS_prctl, [i64::from(libc::PR_SET_PDEATHSIG), 0, 0, 0, 0, 0]),
        ("prctl dumpable", libc::SYS_prctl, [i64::from(libc::PR_SET_DUMPABLE), 1, 0, 0, 0, 0]),
        ("setrlimit", libc::SYS_setrlimit, [i64::from(libc::RLIMIT_NOFILE), 0, 0, 0, 0, 0]),
        ("prlimit64", libc::SYS_prlimit64, [0; 6]),
        ("seccomp", libc::SYS_seccomp, [0; 6]),
        ("setuid", libc::SYS_setuid, [0; 6]),
        ("setpgid", libc::SYS_setpgid, [0, parent, 0, 0, 0, 0]),
        ("setsid", libc::SYS_setsid, [0; 6]),
        ("setpriority", libc::SYS_setpriority, [0, 0, -20, 0, 0, 0]),
        ("sched_setaffinity", libc::SYS_sched_setaffinity, [0; 6]),
        ("setitimer", libc::SYS_setitimer, [0; 6]),
        ("rt_sigaction", libc::SYS_rt_sigaction, [i64::from(libc::SIGTERM), 0, 0, 8, 0, 0]),
        ("rt_sigprocmask", libc::SYS_rt_sigprocmask, [0, 0, 0, 8, 0, 0]),
        ("nanosleep", libc::SYS_nanosleep, [0; 6]),
        ("mount", libc::SYS_mount, [0; 6]),
        ("bpf", libc::SYS_bpf, [0; 6]),
        ("perf_event_open", libc::SYS_perf_event_open, [0; 6]),
        ("userfaultfd", libc::SYS_userfaultfd, [0; 6]),
        ("io_uring_setup", libc::SYS_io_uring_setup, [0; 6]),
        ("keyctl", libc::SYS_keyctl, [0; 6]),
        ("shmget", libc::SYS_shmget, [0, 4096, 0, 0, 0, 0]),
        ("reboot", libc::SYS_reboot, [0; 6]),
        ("uname", libc::SYS_uname, [0; 6]),
        ("read another descriptor", libc::SYS_read, [1, 0, 0, 0, 0, 0]),
        ("sendto", libc::SYS_sendto, [0; 6]),
        ("sendmmsg", libc::SYS_sendmmsg, [0; 6]),
        ("read", libc::SYS_read, [0; 6]),
        ("writev", libc::SYS_writev, [0; 6]),
        ("splice", libc::SYS_splice, [0; 6]),
        ("close", libc::SYS_close, [0; 6]),
        ("shutdown", libc::SYS_shutdown, [0; 6]),
        ("setsockopt", libc::SYS_setsockopt, [0; 6]),
        ("capget", libc::SYS_capget, [0; 6]),
        ("capset", libc::SYS_capset, [0; 6]),
        ("rt_sigreturn", libc::SYS_rt_sigreturn, [0; 6]),
        ("restart_syscall", libc::SYS_restart_syscall, [0; 6]),
        ("sigaltstack", libc::SYS_sigaltstack, [0; 6]),
        ("exit of one thread", libc::SYS_exit, [0; 6]),
        ("clock_nanosleep", libc::SYS_clock_nanosleep, [0; 6]),
        ("mlock", libc::SYS_mlock, [0, 4096, 0, 0, 0, 0]),
        ("remap_file_pages", libc::SYS_remap_file_pages, [0; 6]),
        ("pkey_mprotect", libc::SYS_pkey_mprotect, [0, 0, 1, -1, 0, 0]),
        ("process_madvise", libc::SYS_process_madvise, [0; 6]),
        ("landlock_create_ruleset", libc::SYS_landlock_create_ruleset, [0; 6]),
        ("an unknown system call", 4095, [0; 6]),
    ];
    #[cfg(target_arch = "x86_64")]
    attempts.extend([
        ("open", libc::SYS_open, [path, 0, 0, 0, 0, 0]),
        ("fork", libc::SYS_fork, [0; 6]),
        ("vfork", libc::SYS_vfork, [0; 6]),
        ("arch_prctl", libc::SYS_arch_prctl, [0; 6]),
        ("iopl", libc::SYS_iopl, [3, 0, 0, 0, 0, 0]),
        // The same call through the x32 numbers, which a filter may forget.
        ("openat of x32", libc::SYS_openat | 0x4000_0000, [at, path, 0, 0, 0, 0]),
    ]);
    attempts
}

/// Arguments that must be refused of system calls that are allowed with others.
fn forbidden_arguments(parent: i64) -> Vec<Attempt> {
    let page = 4096;
    let (none, read) = (i64::from(libc::PROT_NONE), i64::from(libc::PROT_READ));
    let read_write = read | i64::from(libc::PROT_WRITE);
    let code = read | i64::from(libc::PROT_EXEC);
    let private = i64::from(libc::MAP_PRIVATE);
    let anonymous = private | i64::from(libc::MAP_ANONYMOUS);
    let mmap = |protection, flags| [0, page, protection, flags, -1, 0];
    let mut attempts = vec![
        ("receive from another descriptor", libc::SYS_recvfrom, [1, 0, 0, 0, 0, 0]),
        ("receive with the sender's address", libc::SYS_recvfrom, [0, 0, 0, 0, 1 << 32, 0]),
        ("write another descriptor", libc::SYS_write, [1, 0, 0, 0, 0, 0]),
        ("mmap of code", libc::SYS_mmap, mmap(code, anonymous)),
        ("mmap of writable code", libc::SYS_mmap, mmap(code | read_write, anonymous)),
        ("mmap of constants", libc::SYS_mmap, mmap(read, anonymous)),
        ("mmap of a guard", libc::SYS_mmap, mmap(none, anonymous)),
        ("mmap of a file", libc::SYS_mmap, [0, page, read_write, private, 0, 0]),
        ("mremap to a fixed place", libc::SYS_mremap, [0, page, page, 3, 0, 0]),
        ("mremap in place", libc::SYS_mremap, [0, page, page, 0, 0, 0]),
        ("mremap that keeps the old", libc::SYS_mremap, [0, page, page, 5, 0, 0]),
        ("mprotect to code", libc::SYS_mprotect, [0, 0, code, 0, 0, 0]),
        ("mprotect to writable", libc::SYS_mprotect, [0, 0, read_write, 0, 0, 0]),
        ("gettimeofday with a time zone", libc::SYS_gettimeofday, [0, 1 << 32, 0, 0, 0, 0]),
        ("random numbers from the pool", libc::SYS_getrandom, [0, 0, 2, 0, 0, 0]),
    ];
    // Every flag beside the two that are allowed, in combination with them.
    let shared =
        [libc::MAP_SHARED, libc::MAP_SHARED_VALIDATE, libc::MAP_SHARED | libc::MAP_PRIVATE];
    for flag in shared {
        let flags = i64::from(flag | libc::MAP_ANONYMOUS);
        attempts.push(("mmap of shared memory", libc::SYS_mmap, mmap(read_write, flags)));
    }
    for bit in 2..32 {
        let flag = 1i64 << bit;
        if flag & (anonymous | i64::from(libc::MAP_NORESERVE)) == 0 {
            attempts.push(("mmap with a flag", libc::SYS_mmap, mmap(read_write, anonymous | flag)));
        }
    }
    for bit in (0..32).filter(|bit| 1 << bit != libc::MSG_DONTWAIT) {
        attempts.push(("receive with a flag", libc::SYS_recvfrom, [0, 0, 0, 1 << bit, 0, 0]));
    }
    // Every operation but waking, each for this process and for others, with both clocks.
    let wake = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    for operation in (0..512).filter(|operation| *operation != wake) {
        attempts.push(("futex", libc::SYS_futex, [0, i64::from(operation), 0, 0, 0, 0]));
    }
    for advice in (0..128).filter(|advice| *advice != i64::from(libc::MADV_DONTNEED)) {
        attempts.push(("madvise", libc::SYS_madvise, [0, 0, advice, 0, 0, 0]));
    }
    // Clocks of threads, of the system, of other processes, and of descriptors.
    let allowed = [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC, libc::CLOCK_THREAD_CPUTIME_ID];
    for clock in (-64..64).filter(|clock| !allowed.contains(clock)) {
        let clock = i64::from(clock);
        attempts.push(("clock_gettime", libc::SYS_clock_gettime, [clock, 0, 0, 0, 0, 0]));
    }
    // The id of the clock of a process, as the C library makes it.
    let clock = (!parent << 3) | 2;
    attempts.push(("the parent's clock", libc::SYS_clock_gettime, [clock, 0, 0, 0, 0, 0]));
    attempts
}

/// What must fail for lack of a capability. None has an effect if it succeeds.
fn calls_of_root() -> Vec<Attempt> {
    let (root, nothing) = (c"/".as_ptr() as i64, c"".as_ptr() as i64);
    vec![
        ("chroot", libc::SYS_chroot, [root, 0, 0, 0, 0, 0]),
        ("setuid to another user", libc::SYS_setuid, [12345, 0, 0, 0, 0, 0]),
        ("setgid to another group", libc::SYS_setgid, [12345, 0, 0, 0, 0, 0]),
        ("setgroups", libc::SYS_setgroups, [0; 6]),
        ("set the clock", libc::SYS_settimeofday, [0; 6]),
        ("swapoff", libc::SYS_swapoff, [nothing, 0, 0, 0, 0, 0]),
        (
            "a name space of mounts",
            libc::SYS_unshare,
            [i64::from(libc::CLONE_NEWNS), 0, 0, 0, 0, 0],
        ),
        ("the name of the host", libc::SYS_sethostname, [0, -1, 0, 0, 0, 0]),
        ("process accounting", libc::SYS_acct, [nothing, 0, 0, 0, 0, 0]),
        ("the kernel's log", libc::SYS_syslog, [5, 0, 0, 0, 0, 0]),
        ("reboot", libc::SYS_reboot, [0; 6]),
        ("drop a capability of the bounding set", libc::SYS_prctl, [24, 0, 0, 0, 0, 0]),
        ("hang up the terminal", libc::SYS_vhangup, [0; 6]),
    ]
}

/// Reports attempts with system calls and their arguments, then that memory still works. `parent`
/// is the id of the parent's process, which the jail does not tell.
pub(crate) fn attack_system_calls(parent: u32) {
    attempt(forbidden_calls(parent.into()));
    attempt(forbidden_arguments(parent.into()));
    report(&format!("send a descriptor: {}\n", outcome(send_descriptor())));
    // Allocating memory must still work.
    let memory: Vec<u8> = vec![1; 8 << 20];
    report(&format!("memory: {}\n", memory.iter().map(|byte| usize::from(*byte)).sum::<usize>()));
    report(&format!("environment: {}\n", std::env::vars_os().count()));
}

/// Reports attempts to use the rights of root.
pub(crate) fn attack_as_root() {
    attempt(calls_of_root());
}

fn attempt(attempts: Vec<Attempt>) {
    for (name, number, a) in attempts {
        // SAFETY: each call must be refused before the kernel reads the arguments. If it is not,
        // they contain no memory that the kernel could write to.
        let result = unsafe { libc::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) };
        let arguments = a.map(|argument| format!("{argument:#x}")).join(" ");
        report(&format!("{name} ({arguments}): {}\n", outcome(result)));
    }
}

fn outcome(result: i64) -> &'static str {
    match (result, io::Error::last_os_error().raw_os_error()) {
        (-1, Some(libc::EPERM)) => "refused",
        (-1, _) => "failed with another error than EPERM",
        _ => "DONE",
    }
}

/// Sends the socket itself over the socket. A parent would keep such descriptors open until it has
/// no more.
fn send_descriptor() -> i64 {
    // SAFETY: all structures live until the call returns, and the lengths are theirs. The space for
    // the control message is aligned and large enough for one descriptor.
    unsafe {
        let mut data = *b"x";
        let mut part = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: 1 };
        let mut space = [0u64; 8];
        let mut message: libc::msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (&mut part, 1);
        message.msg_control = space.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as _;
        let control = libc::CMSG_FIRSTHDR(&message);
        (*control).cmsg_level = libc::SOL_SOCKET;
        (*control).cmsg_type = libc::SCM_RIGHTS;
        (*control).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(control).cast::<libc::c_int>().write_unaligned(0);
        libc::sendmsg(0, &message, 0) as i64
    }
}

fn report(line: &str) {
    // SAFETY: the system reads the bytes. Only descriptor 0 is left open in the jail.
    unsafe { libc::write(0, line.as_ptr().cast(), line.len()) };
}
