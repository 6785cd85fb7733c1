//! A connection whose client must read: a write that makes no progress for a while fails, which
//! ends the connection. Otherwise a client that does not read would hold its responses in memory
//! for ever.
//!
//! It wraps the stream of a connection, or standard output, and is invisible to what writes. The
//! limit is on a single blocked write and not on a whole response: a slow client that goes on
//! reading may take as long as it needs.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// How long a write may make no progress.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// A stream with a limit on the time of each write.
///
/// Reads pass through without a limit: a client may be silent as long as it likes.
pub(crate) struct WriteDeadline<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write is blocked; `None` otherwise, so a write that succeeds at once costs no
    /// timer.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteDeadline<S> {
    /// `limit` is `WRITE_TIMEOUT` but in tests.
    pub(crate) fn new(stream: S, limit: Duration) -> WriteDeadline<S> {
        WriteDeadline { stream, limit, timer: None }
    }

    /// Passes on the outcome of a write, and fails one that has been blocked for too long.
    ///
    /// Any progress starts the time again, because a finished poll drops the timer. The error is
    /// `TimedOut`, after which the owner of the stream closes it.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.timer = None;
            return polled;
        }
        let deadline = Instant::now() + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        match timer.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(context, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, polled)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn a_write_that_nobody_reads_fails() {
        let (client, server) = tokio::io::duplex(10);
        let mut server = WriteDeadline::new(server, Duration::from_millis(20));
        let failed = server.write_all(&[0; 100]).await.expect_err("nobody reads");
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        drop(client);
    }

    #[tokio::test]
    async fn a_client_that_reads_in_parts_is_not_cut_off() {
        let (mut client, server) = tokio::io::duplex(10);
        let mut server = WriteDeadline::new(server, WRITE_TIMEOUT);
        let reading = async {
            for _ in 0..10 {
                client.read_exact(&mut [0; 10]).await.expect("bytes");
            }
        };
        let (written, ()) = tokio::join!(server.write_all(&[0; 100]), reading);
        assert!(written.is_ok());
        assert!(server.timer.is_none(), "a finished write stops the clock");
    }
}
