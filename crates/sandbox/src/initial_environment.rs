//! Hides the environment that this process was started with. Here, because it needs `unsafe`, which
//! only this crate has.
//!
//! `/proc/PID/environ` shows the memory that the kernel filled at the start. Its mode keeps other
//! programs of the same user away, but not those of root, so a server that root starts could read
//! the token of `serve` there. The variables move to memory of their own, and the values in the old
//! place are overwritten.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Overwrites the values of all variables, except of `kept`, where other processes can read them.
/// They stay available to this one. To be called before any thread is started.
///
/// # Errors
/// If the system does not tell where they are, or there are other threads, which may be looking a
/// variable up. Nothing was changed then.
pub fn hide_initial_environment(kept: &[&str]) -> io::Result<()> {
    let (start, end) = initial_place()?;
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("there are other threads"));
    }
    for (name, value) in std::env::vars_os() {
        // SAFETY: this is the only thread. The name comes from the environment, so it is neither
        // empty nor has `=` in it.
        unsafe { std::env::set_var(name, value) };
    }
    // SAFETY: the kernel put the environment there; it is writable memory of this process.
    let bytes = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, end - start) };
    // What still points there (lines without a name) stays a text with its end.
    for variable in bytes.split_mut(|byte| *byte == 0) {
        let Some(at) = variable.iter().position(|byte| *byte == b'=') else { continue };
        let (name, value) = variable.split_at_mut(at + 1);
        let name = OsStr::from_bytes(&name[..at]);
        if !kept.iter().any(|kept| *kept == name) {
            value.fill(b'*');
        }
    }
    Ok(())
}

/// Where the kernel put the environment: fields 50 and 51 of `/proc/self/stat`.
fn initial_place() -> io::Result<(usize, usize)> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The second field is the name of the program in parentheses, and may have anything in it.
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let field = |number: usize| fields.split(' ').nth(number - 3)?.trim().parse::<usize>().ok();
    match (field(50), field(51)) {
        (Some(start), Some(end)) if 0 < start && start <= end => Ok((start, end)),
        _ => Err(io::Error::other("/proc/self/stat does not have the place of the environment")),
    }
}
