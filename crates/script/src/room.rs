//! Room to recurse. The parser underneath recurses once per nested bracket and per operator of a
//! chain; when that could outgrow the caller's stack, the work moves to a thread that has enough.

use std::{io, thread};

use crate::guard::Extent;

/// What may run on the caller's own stack: a quarter of the smallest thread we promise to work on
/// (2 MB).
const OWN_STACK: usize = 512 * 1024;

/// What the deepest measured frames take, with a margin: 4.5 KB a bracket and 0.6 KB a token in a
/// release build.
const PER_LEVEL: usize = 16 * 1024;
const PER_TOKEN: usize = 2 * 1024;

/// What there is before the first level.
const BASE: usize = 128 * 1024;

/// Runs `work` with stack enough for code of this extent.
pub(crate) fn with_room<T: Send>(extent: Extent, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let bytes = BASE + extent.depth * PER_LEVEL + extent.tokens * PER_TOKEN;
    if bytes <= OWN_STACK {
        return Ok(work());
    }
    thread::scope(|scope| {
        let helper = thread::Builder::new()
            .name("toolwright-script".to_owned())
            .stack_size(bytes)
            .spawn_scoped(scope, work)?;
        Ok(helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
