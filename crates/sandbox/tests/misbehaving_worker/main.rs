//! A worker that misbehaves, for the tests. Its first argument says how:
//!
//! - `--without LAYER…`: an ordinary worker whose jail lacks layers.
//! - `--attack`: enters the jail, then attempts what a worker must not be able to do, and reports
//!   one line per attempt.
//! - `--attack-as-root`: the same without landlock and seccomp, with what only root may do.
//! - `--landlock VERSION PROGRAM ARG…`: runs a program as on a kernel with that version of
//!   landlock.
//! - `--crash`, `--abort`: enters the jail, then does what a bug of the engine would do.
//! - `--forge KIND FILE NUMBER`: answers every `Run`, without running anything, with a frame of
//!   that kind whose content is that of the file. The number of the request in it is the `right`
//!   one, a
//!   `wrong` one, or the right one in two frames (`twice`).
//! - `--parent WORKER`: is a program with a pool of its own instead. It prints the process id of a
//!   worker that runs an endless program, and waits to be killed.

#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod old_kernel;

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
        #[cfg(target_os = "linux")]
        Some("--attack") => {
            let parent = std::os::unix::process::parent_id();
            jail_this_process(&[]);
            attacks::attack_system_calls(parent);
            ExitCode::SUCCESS
        }
        #[cfg(target_os = "linux")]
        Some("--attack-as-root") => {
            jail_this_process(&[JailLayer::Landlock, JailLayer::Seccomp]);
            attacks::attack_as_root();
            ExitCode::SUCCESS
        }
        #[cfg(target_os = "linux")]
        Some("--landlock") => old_kernel::run(&args[1], &args[2..]),
        Some("--crash") => {
            jail_this_process(&[]);
            // SAFETY: it is not safe. The process must end here.
            unsafe { std::ptr::null_mut::<u8>().write_volatile(1) };
            ExitCode::SUCCESS
        }
        Some("--abort") => {
            jail_this_process(&[]);
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
    send(4, &[b"twsandbx\x05\0\0\0{}"])?;
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
