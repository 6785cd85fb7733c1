//! One JSON-RPC message a line, from either side of a conversation: lines up to a limit, and whose
//! message it was when one is longer.

use rmcp::model::RequestId;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::oversized::IdFinder;

/// Bytes of one message that are kept. The cap on results is far below; lists of tools can be long.
pub const MAX_MESSAGE: usize = 16 << 20;

/// Reads lines.
pub struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    /// Whether `line` was handed out, and the next one begins.
    whole: bool,
    /// Set while a line that is too long goes by.
    skipping: Option<IdFinder>,
}

/// A line.
#[derive(Debug)]
pub enum Line<'l> {
    /// All of it, without its end.
    Whole(&'l [u8]),
    /// It was longer than [`MAX_MESSAGE`], and is gone; the id of the message, if it had one.
    TooLong(Option<RequestId>),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads from here.
    pub fn new(from: R) -> Lines<R> {
        let from = BufReader::with_capacity(64 * 1024, from);
        Lines { from, line: Vec::new(), whole: false, skipping: None }
    }

    /// The next line; the last one may lack its end. Can be dropped and called again at any point
    /// without losing a byte.
    pub async fn next(&mut self) -> Option<Line<'_>> {
        if std::mem::take(&mut self.whole) {
            self.line.clear();
        }
        loop {
            let bytes = self.from.fill_buf().await.ok()?;
            let at_end = bytes.is_empty();
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            match &mut self.skipping {
                Some(finder) => finder.see(part),
                None if self.line.len() + part.len() > MAX_MESSAGE => {
                    let mut finder = IdFinder::default();
                    finder.see(&self.line);
                    finder.see(part);
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
                    return Some(Line::TooLong(finder.id()));
                }
                self.whole = true;
                return Some(Line::Whole(&self.line));
            }
        }
    }
}
