//! The end of what a program writes to stderr: that is where programs say what went wrong.

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that are kept.
const KEPT: usize = 8 * 1024;

/// The last bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        // Twice as much before it is cut, so that not every byte moves every other.
        if self.0.len() > 2 * KEPT {
            self.0.drain(..self.0.len() - KEPT);
        }
    }

    /// As text, whatever it was.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0[self.0.len().saturating_sub(KEPT)..]).into_owned()
    }
}

/// Reads to the end; `keep` puts every part into a tail.
pub(crate) async fn follow(
    from: Option<impl AsyncRead + Unpin>,
    mut keep: impl FnMut(&dyn Fn(&mut Tail)),
) {
    let Some(mut from) = from else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        keep(&|tail| tail.push(&buffer[..read]));
    }
}
