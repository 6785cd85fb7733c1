//! Programs in a session of their own. Here, because it needs `unsafe`, which only this crate has.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the program the leader of a new session and process group: it has no terminal, so it
/// cannot read from the person's keyboard, and keys such as Ctrl-C do not reach it.
pub fn start_in_own_session(command: &mut Command) {
    // SAFETY: the call has no arguments and touches no memory.
    let new_session = || match unsafe { libc::setsid() } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    // SAFETY: between fork and exec the closure makes one system call and allocates nothing.
    unsafe { command.pre_exec(new_session) };
}
