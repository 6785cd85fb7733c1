//! Standard input and output as asynchronous streams.
//!
//! Tokio reads and writes its standard streams on other threads, which costs two hand-overs per
//! message. Where both are pipes, as with all clients that start this program, they are opened
//! again without blocking. Opened again, because the flag belongs to the open file, which other
//! processes may share.

use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

/// Where messages of the client come from.
pub(crate) type InputStream = Pin<Box<dyn AsyncRead + Send>>;
/// Where messages to the client go.
pub(crate) type OutputStream = Pin<Box<dyn AsyncWrite + Send>>;

/// The standard streams of this process.
pub(crate) fn standard_streams() -> (InputStream, OutputStream) {
    match nonblocking_pipes() {
        Some(streams) => streams,
        None => (Box::pin(tokio::io::stdin()), Box::pin(tokio::io::stdout())),
    }
}

#[cfg(target_os = "linux")]
fn nonblocking_pipes() -> Option<(InputStream, OutputStream)> {
    use tokio::net::unix::pipe::OpenOptions;
    // `open_receiver` and `open_sender` refuse what is not a pipe.
    let from = OpenOptions::new().open_receiver("/proc/self/fd/0").ok()?;
    let to = OpenOptions::new().open_sender("/proc/self/fd/1").ok()?;
    Some((Box::pin(from), Box::pin(to)))
}

#[cfg(not(target_os = "linux"))]
fn nonblocking_pipes() -> Option<(InputStream, OutputStream)> {
    None
}
