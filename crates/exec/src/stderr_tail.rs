//! The last part of what a program wrote to stderr. Programs explain a failure in their last
//! lines, so this part goes into messages and the log; the rest is read and dropped, because a
//! program whose stderr is not read blocks when the pipe is full.

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that are kept.
const KEPT: usize = 8 * 1024;

/// The last [`KEPT`] bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct StderrTail(Vec<u8>);

impl StderrTail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        // Cutting only at twice the size keeps the cost per byte constant: cutting at every read
        // would move all kept bytes each time.
        if self.0.len() > 2 * KEPT {
            self.0.drain(..self.0.len() - KEPT);
        }
    }

    /// The kept bytes as text; what is not UTF-8 becomes U+FFFD.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0[self.0.len().saturating_sub(KEPT)..]).into_owned()
    }
}

/// Reads a stream to its end or first error. For every chunk, `keep` is called with a function
/// that appends the chunk to a tail, so that a caller can hold the tail behind a lock and take the
/// lock for an append only.
pub(crate) async fn read_tail(
    from: Option<impl AsyncRead + Unpin>,
    mut keep: impl FnMut(&dyn Fn(&mut StderrTail)),
) {
    let Some(mut from) = from else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        keep(&|tail| tail.push(&buffer[..read]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_bytes_of_a_long_stream_are_kept() {
        let mut long = vec![b'x'; 5 * KEPT];
        long.extend(b"the end");
        let mut tail = StderrTail::default();
        read_tail(Some(long.as_slice()), |push| push(&mut tail)).await;
        assert_eq!(tail.text().len(), KEPT);
        assert!(tail.text().ends_with("xthe end"));
    }
}
