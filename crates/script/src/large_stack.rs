//! Runs the parser with a stack that is large enough.
//!
//! The parser recurses once per nested bracket and once per operator of a chain, and a Rust program
//! cannot catch a stack overflow. So the stack that the code could need is computed from its
//! measured size beforehand. If the caller's stack may be too small, the work moves to a thread
//! with a stack of that size. Nearly all functions of definitions are small and run on the caller's
//! thread, which saves the start of a thread.

use std::{io, thread};

use crate::size_limits::CodeSize;

/// Bytes of stack that may be used on the caller's thread: a quarter of the smallest thread that
/// this crate promises to work on (2 MiB, a worker of tokio).
const CALLER_STACK: usize = 512 * 1024;

/// Bytes of stack per nested bracket. 4.5 KB were measured in a release build; unoptimised builds
/// use larger frames.
const PER_LEVEL: usize = 16 * 1024;

/// Bytes of stack per token: a chain such as `a+a+a` makes a tree as deep as it is long. 0.6 KB
/// were measured in a release build.
const PER_TOKEN: usize = 2 * 1024;

/// Bytes of stack for everything before the first level.
const BASE: usize = 128 * 1024;

/// Runs `work` with enough stack for code of this size.
///
/// # Errors
/// If a thread is needed and the system does not start it. A panic of `work` is passed on.
pub(crate) fn run_with_stack_for<T: Send>(
    size: CodeSize,
    work: impl FnOnce() -> T + Send,
) -> io::Result<T> {
    let bytes = BASE + size.depth * PER_LEVEL + size.tokens * PER_TOKEN;
    if bytes <= CALLER_STACK {
        return Ok(work());
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("toolwright-script".to_owned())
            .stack_size(bytes)
            .spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
