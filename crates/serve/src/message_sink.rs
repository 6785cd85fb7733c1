//! Where messages to a client go: standard output, or the event stream of an HTTP request.

use futures::future::BoxFuture;
use hyper::body::Bytes;

/// A way to a client. Messages are JSON text on one line.
pub(crate) trait MessageSink: Send + Sync {
    /// Sends a message. A message that cannot be sent is dropped: the client has left.
    fn send(&self, message: Bytes) -> BoxFuture<'_, ()>;
}

/// For clients that get messages only as answers to requests: the stateless protocol on HTTP.
pub(crate) struct NullSink;

impl MessageSink for NullSink {
    fn send(&self, _: Bytes) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
