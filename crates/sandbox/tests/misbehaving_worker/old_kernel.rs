//! Runs a program as on an older kernel: a supervisor answers its question for the version of
//! landlock. The rights that the program then requests are those of that version, and the real
//! kernel enforces them.

use std::io;
use std::process::{Command, ExitCode};

use libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};

/// The flag of `landlock_create_ruleset` that asks for the version instead of making a ruleset.
const ASK_VERSION: u32 = 1;

/// Runs `command` and returns its exit code.
pub(crate) fn run(version: &str, command: &[String]) -> ExitCode {
    let version: i64 = version.parse().expect("a number");
    let listener = install_filter().expect("the kernel takes the filter");
    // Ends with this process.
    std::thread::spawn(move || while answer(listener, version).is_ok() {});
    let status = Command::new(&command[0]).args(&command[1..]).status().expect("it starts");
    ExitCode::from(status.code().unwrap_or(1) as u8)
}

/// Lets a supervisor answer the question, in this thread and the processes that it starts. Returns
/// the supervisor's descriptor.
fn install_filter() -> io::Result<libc::c_int> {
    let step = |code: u32, k: u32, otherwise: u8| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: otherwise,
        k,
    };
    // Offsets in `seccomp_data`: the number of the call, and the lower half of its third argument.
    let mut steps = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0),
        step(BPF_JMP | BPF_JEQ | BPF_K, libc::SYS_landlock_create_ruleset as u32, 3),
        step(BPF_LD | BPF_W | BPF_ABS, 32, 0),
        step(BPF_JMP | BPF_JEQ | BPF_K, ASK_VERSION, 1),
        step(BPF_RET | BPF_K, libc::SECCOMP_RET_USER_NOTIF, 0),
        step(BPF_RET | BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the first takes numbers only; the second reads the program, which lives long enough.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &program)
    };
    if listener < 0 { Err(io::Error::last_os_error()) } else { Ok(listener as libc::c_int) }
}

/// Waits for one question and answers it.
fn answer(listener: libc::c_int, version: i64) -> io::Result<()> {
    // SAFETY: both structures consist of numbers, for which zeros are valid. The system writes the
    // first and reads the second.
    unsafe {
        let mut question: libc::seccomp_notif = std::mem::zeroed();
        if libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &mut question) < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut answer: libc::seccomp_notif_resp = std::mem::zeroed();
        (answer.id, answer.val) = (question.id, version);
        // Fails if the asking process was killed meanwhile.
        libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer);
    }
    Ok(())
}
