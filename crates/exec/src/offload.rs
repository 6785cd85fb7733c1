//! Work that may take longer than a millisecond, away from the threads that all calls share.
//!
//! The tasks of all calls run on a few threads of tokio's. A definition decides how large its
//! results and how expensive its schemas are, so what they cost must not be spent there:
//!
//! ```text
//! ≤ LARGE bytes, quick schema ─▶ in place: moving it to another thread would cost more
//! else                        ─▶ a thread for blocking work, which the task awaits
//! ```
//!
//! Work with JSON (parsing, copying, writing) is linear and takes a few milliseconds per megabyte;
//! [`offload`] is for that. Schemas and advice can take seconds; they go through
//! [`ConcurrencyLimit::run_expensive`](crate::ConcurrencyLimit), which bounds their threads.
//!
//! A task that is dropped does not stop work that has begun; the work ends by its own limits.

use crate::Json;
use crate::outcome::json_size;

/// Bytes of JSON that are handled in place. Parsing, copying or dropping as much takes about half a
/// millisecond where it consists of tiny values.
pub(crate) const LARGE: usize = 32 << 10;

/// Whether work is done in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkSize {
    /// Takes less than a millisecond: it is done on the thread of the call.
    Small,
    /// May take longer: it is done on another thread.
    Large,
}

impl WorkSize {
    /// Work with this many bytes of JSON text.
    pub(crate) fn of_bytes(bytes: usize) -> WorkSize {
        if bytes > LARGE { WorkSize::Large } else { WorkSize::Small }
    }

    /// Work with a value. Counts no further than [`LARGE`].
    pub(crate) fn of(value: &Json) -> WorkSize {
        WorkSize::of_bytes(json_size(value, LARGE))
    }
}

/// Does the work in place if it is small, else on a thread for blocking work.
pub async fn offload<T: Send + 'static>(
    size: WorkSize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match size {
        WorkSize::Small => work(),
        WorkSize::Large => run_blocking(work).await,
    }
}

/// Does the work on a thread for blocking work. A panic of the work is one of the caller.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime is ending, and nothing polls this any more.
        Err(_) => std::future::pending().await,
    }
}
