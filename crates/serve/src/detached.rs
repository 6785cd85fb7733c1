//! A future that continues when its caller no longer waits for it.
//!
//! Dropping an ordinary future ends its work. A client that loses its connection has not cancelled
//! its call, though: it may reconnect and ask for the rest. So the future of such a call moves to a
//! task of its own when the connection that polls it is dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tokio::runtime::Handle;

/// Runs in place while it is polled, and moves to a task of its own when it is dropped before its
/// end.
///
/// Used for calls of HTTP sessions: a client that closes its connection has not cancelled the call
/// and may come back for the result. Spawning every call from the start would have the same effect,
/// but costs two switches between tasks per call, and most calls end while they are polled here.
pub(crate) struct DetachOnDrop(Option<BoxFuture<'static, ()>>);

impl DetachOnDrop {
    /// Wraps a future. Nothing runs until it is polled or dropped.
    pub(crate) fn new(work: impl Future<Output = ()> + Send + 'static) -> DetachOnDrop {
        DetachOnDrop(Some(Box::pin(work)))
    }
}

impl Future for DetachOnDrop {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(work) = &mut self.0 else { return Poll::Ready(()) };
        let polled = work.as_mut().poll(context);
        // A finished future must not be polled again, nor be spawned on drop.
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl Drop for DetachOnDrop {
    fn drop(&mut self) {
        // Without a runtime the program is ending, and the call with it.
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}
