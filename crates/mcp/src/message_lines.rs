//! JSON-RPC over a byte stream, as MCP's stdio transport defines it: one message per line.
//!
//! Both directions use this reader: `exec` for what an MCP server prints, `serve` for what an agent
//! sends. It bounds the memory that the other side can make us use. A longer line is skipped as it
//! arrives, and only the `id` of its message is kept, so that the request can still be answered
//! with an error instead of never.
//!
//! The lines are not parsed here; blank and malformed ones are the caller's business.

use crate::RequestId;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::id_finder::IdFinder;

/// The longest message that is kept, in bytes. The cap on a tool's result is far below this; the
/// limit is this high because a list of many tools with large schemas is one message.
pub const MAX_MESSAGE: usize = 24 << 20;

/// Reads a stream line by line, with at most [`MAX_MESSAGE`] bytes in memory.
pub struct MessageLines<R> {
    from: BufReader<R>,
    /// The bytes of the current line so far.
    line: Vec<u8>,
    /// Whether `line` was returned to the caller. It is cleared on the next call and not before:
    /// the caller borrows it until then.
    returned: bool,
    /// Set while the rest of a line that is too long is skipped.
    skipping: Option<IdFinder>,
}

/// One line of the stream.
#[derive(Debug)]
pub enum MessageLine<'l> {
    /// The whole line, without its `\n`.
    Complete(&'l [u8]),
    /// The line was longer than [`MAX_MESSAGE`] and was discarded. Holds the `id` of its message,
    /// if the message had one.
    TooLong(Option<RequestId>),
}

impl<R: AsyncRead + Unpin> MessageLines<R> {
    /// A reader at the start of `from`.
    pub fn new(from: R) -> MessageLines<R> {
        let from = BufReader::with_capacity(64 * 1024, from);
        MessageLines { from, line: Vec::new(), returned: false, skipping: None }
    }

    /// The next line; the last one may lack its `\n`. `None` at the end of the stream and after a
    /// read error.
    ///
    /// Safe to cancel: the future can be dropped at any point without losing a byte, because all
    /// progress is kept in `self` and the only await comes before any byte is consumed.
    pub async fn next(&mut self) -> Option<MessageLine<'_>> {
        if std::mem::take(&mut self.returned) {
            self.line.clear();
        }
        loop {
            let bytes = self.from.fill_buf().await.ok()?;
            let at_end = bytes.is_empty();
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            match &mut self.skipping {
                Some(finder) => finder.scan(part),
                None if self.line.len() + part.len() > MAX_MESSAGE => {
                    let mut finder = IdFinder::default();
                    finder.scan(&self.line);
                    finder.scan(part);
                    // A new vector instead of `clear`, which would keep the 24 MiB allocated.
                    self.line = Vec::new();
                    self.skipping = Some(finder);
                }
                None => self.line.extend_from_slice(part),
            }
            let used = part.len() + usize::from(end.is_some());
            self.from.consume(used);
            if at_end && self.line.is_empty() {
                return None;
            }
            if end.is_some() || at_end {
                if let Some(finder) = self.skipping.take() {
                    return Some(MessageLine::TooLong(finder.id()));
                }
                self.returned = true;
                return Some(MessageLine::Complete(&self.line));
            }
        }
    }
}
