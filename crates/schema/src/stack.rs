//! Room to recurse. The validator underneath recurses once per nested subschema; when that could
//! outgrow the caller's stack, the work moves to a thread that has enough.

use std::{io, thread};

/// What may run on the caller's own stack: half of the smallest thread we promise to work on (256
/// KB).
pub(crate) const OWN_STACK: usize = 128 * 1024;

/// The most a helper thread gets. Stacks are committed lazily, so only touched pages cost memory.
pub(crate) const MAX_STACK: usize = 512 * 1024 * 1024;

/// Runs `work` with at least `bytes` of stack.
pub(crate) fn with_room<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if bytes <= OWN_STACK {
        return Ok(work());
    }
    thread::scope(|scope| {
        let helper = thread::Builder::new()
            .name("toolwright-schema".to_owned())
            .stack_size(bytes + OWN_STACK)
            .spawn_scoped(scope, work)?;
        Ok(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
