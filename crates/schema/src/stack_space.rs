//! Enough stack for recursive work.
//!
//! `jsonschema` recurses once per nested subschema, and a stack overflow aborts the process. The
//! depth of the recursion is known before it starts (`cost_analysis`, `measure`), so the work
//! either fits the caller's stack or moves to a thread whose stack is large enough. A loop instead
//! of the recursion is not possible: the recursive code is not ours.

use std::{io, thread};

/// Bytes of work allowed on the caller's own stack: half of the smallest thread this crate supports
/// (256 KiB). The other half is for what the caller already has on it.
pub(crate) const CALLER_STACK: usize = 128 * 1024;

/// Bytes of the largest helper thread. The system commits a stack page by page as it is touched, so
/// a large one costs address space, not memory.
pub(crate) const MAX_STACK: usize = 512 * 1024 * 1024;

/// Runs `work` with at least `bytes` of stack, on the caller's thread if they fit there.
///
/// # Errors
/// The system refuses to start another thread.
pub(crate) fn run_with_stack<T: Send>(
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    if bytes <= CALLER_STACK {
        return Ok(work());
    }
    thread::scope(|scope| {
        let helper = thread::Builder::new()
            .name("toolwright-schema".to_owned())
            .stack_size(bytes + CALLER_STACK)
            .spawn_scoped(scope, work)?;
        // A panic of the work is a panic of the caller, as if no other thread had been there.
        Ok(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
