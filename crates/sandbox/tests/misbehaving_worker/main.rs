//! A worker that misbehaves, for the tests. Its first argument says how:
//!
//! - `--without LAYER…`: an ordinary worker whose jail lacks layers.
//! - `--attack`: enters the jail, then attempts what a worker must not be able to do, and reports
//!   one line per attempt.
//! - `--crash`, `--abort`: enters the jail, then does what a bug of the engine would do.
//! - `--forge KIND FILE NUMBER`: answers every `Run`, without running anything, with a frame of that
//!   kind whose content is that of the file. The number of the request in it is the `right` one, a
//!   `wrong` one, or the right one in two frames (`twice`).
//! - `--parent WORKER`: is a program with a pool of its own instead. It prints the process id of a
//!   worker that runs an endless program, and waits to be killed.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use toolwright_sandbox::{
    GuestLimits, JailLayer, PoolOptions, ProgramForm, ProgramInput, WorkerCommand, WorkerPool,
    jail_this_process, worker_main_without_layers,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |layer: &JailLayer| args.iter().any(|arg| arg == layer.name());
    match args.first().map(String::as_str) {
        Some("--attack") => {
            jail_this_process();
            attempt_everything();
            ExitCode::SUCCESS
        }
        Some("--crash") => {
            jail_this_process();
            // SAFETY: it is not safe. The process must end here.
            unsafe { std::ptr::null_mut::<u8>().write_volatile(1) };
            ExitCode::SUCCESS
        }
        Some("--abort") => {
            jail_this_process();
            std::process::abort();
        }
        Some("--parent") => run_pool(&args[1]),
        Some("--forge") => {
            let content = std::fs::read(&args[2]).expect("a file");
            // Fails when the parent closes the socket.
            let _ = args[1].parse().map(|kind| forge_answers(kind, &content, &args[3]));
            ExitCode::SUCCESS
        }
        _ => worker_main_without_layers(
            &JailLayer::ALL.into_iter().filter(is_named).collect::<Vec<_>>(),
        ),
    }
}

/// Follows the protocol, without jail and engine. The numbers of frames are those of `FrameKind`:
/// 1 compile, 4 hello, 5 compiled.
fn forge_answers(kind: u8, content: &[u8], number: &str) -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let send = |kind: u8, parts: &[&[u8]]| {
        let body = parts.concat();
        let mut frame = (body.len() as u32 + 1).to_le_bytes().to_vec();
        frame.push(kind);
        frame.extend_from_slice(&body);
        (&socket).write_all(&frame)
    };
    send(4, &[b"twsandbx\x04\0\0\0{}"])?;
    loop {
        let mut head = [0; 4];
        (&socket).read_exact(&mut head)?;
        let mut frame = vec![0; u32::from_le_bytes(head) as usize];
        (&socket).read_exact(&mut frame)?;
        let mut request = frame[1..9].to_vec();
        // In an answer come processor time and memory behind the number.
        if frame[0] == 1 {
            // No names, no prelude, no names of it, no bytecode.
            send(5, &[&request, &[0; 16], &[0; 12]])?;
            continue;
        }
        if number == "wrong" {
            request[0] ^= 1;
        }
        let time_and_memory: &[u8] = if (5..=7).contains(&kind) { &[0; 16] } else { &[] };
        for _ in 0..if number == "twice" { 2 } else { 1 } {
            send(kind, &[&request, time_and_memory, content])?;
        }
    }
}

fn run_pool(worker: &str) -> ExitCode {
    let pool =
        WorkerPool::new(PoolOptions { workers: 1, ..PoolOptions::new(WorkerCommand::new(worker)) });
    // Nothing inside of the worker ends this program: only the system does, when the parent dies.
    let source = "const a = new Float64Array(1e6); for (;;) a.sort()";
    let program = pool.compile_blocking(source, ProgramForm::Script, None).expect("it compiles");
    let limits = GuestLimits {
        cpu: Duration::from_secs(3600),
        wall: Duration::from_secs(3600),
        ..GuestLimits::default()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| pool.run_blocking(&program, &ProgramInput::default(), &limits, None));
        loop {
            if let Some(pid) = pool.busy().first() {
                // An error means that the test is gone, and does not need the line.
                let _ = writeln!(io::stdout(), "{pid}");
                break;
            }
            std::thread::yield_now();
        }
    });
    ExitCode::SUCCESS
}

/// What must be refused: a name, the system call and its arguments. Pointers are null where the
/// call takes some: a call that is refused does not get as far as reading them.
#[cfg(target_os = "linux")]
fn attempts() -> Vec<(&'static str, i64, [i64; 6])> {
    let path = c"/etc/passwd".as_ptr() as i64;
    let at = i64::from(libc::AT_FDCWD);
    let parent = i64::from(std::os::unix::process::parent_id());
    let (page, code) = (4096, i64::from(libc::PROT_READ | libc::PROT_EXEC));
    let anonymous = i64::from(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
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
        ("shmget", libc::SYS_shmget, [0, page, 0, 0, 0, 0]),
        ("reboot", libc::SYS_reboot, [0; 6]),
        ("uname", libc::SYS_uname, [0; 6]),
        ("read another descriptor", libc::SYS_read, [1, 0, 0, 0, 0, 0]),
        ("receive from another descriptor", libc::SYS_recvfrom, [1, 0, 0, 0, 0, 0]),
        ("receive with the sender's address", libc::SYS_recvfrom, [0, 0, 0, 0, 1 << 32, 0]),
        ("write another descriptor", libc::SYS_write, [1, 0, 0, 0, 0, 0]),
        ("mmap of code", libc::SYS_mmap, [0, page, code, anonymous, -1, 0]),
        ("mmap of a file", libc::SYS_mmap, [0, page, 1, i64::from(libc::MAP_PRIVATE), 0, 0]),
        ("mprotect to code", libc::SYS_mprotect, [0, 0, code, 0, 0, 0]),
        ("an unknown system call", 4095, [0; 6]),
    ];
    #[cfg(target_arch = "x86_64")]
    attempts.extend([
        ("open", libc::SYS_open, [path, 0, 0, 0, 0, 0]),
        ("fork", libc::SYS_fork, [0; 6]),
        ("vfork", libc::SYS_vfork, [0; 6]),
        // The same call through the x32 numbers, which a filter may forget.
        ("openat of x32", libc::SYS_openat | 0x4000_0000, [at, path, 0, 0, 0, 0]),
    ]);
    attempts
}

#[cfg(target_os = "linux")]
fn attempt_everything() {
    for (name, number, a) in attempts() {
        // SAFETY: the filter must refuse each call before the kernel reads the arguments. If it
        // does not, they contain no memory that the kernel could write to.
        let result = unsafe { libc::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) };
        let outcome = match (result, io::Error::last_os_error().raw_os_error()) {
            (-1, Some(libc::EPERM)) => "refused",
            (-1, _) => "failed with another error than EPERM",
            _ => "DONE",
        };
        report(&format!("{name}: {outcome}\n"));
    }
    // Allocating memory must still work.
    let memory: Vec<u8> = vec![1; 8 << 20];
    report(&format!("memory: {}\n", memory.iter().map(|byte| usize::from(*byte)).sum::<usize>()));
    report(&format!("environment: {}\n", std::env::vars_os().count()));
}

#[cfg(not(target_os = "linux"))]
fn attempt_everything() {}

#[cfg(target_os = "linux")]
fn report(line: &str) {
    // SAFETY: the system reads the bytes. Only descriptor 0 is left open in the jail.
    unsafe { libc::write(0, line.as_ptr().cast(), line.len()) };
}
