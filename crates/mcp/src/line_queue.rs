//! Messages that wait to be written to a stream, one per line. Those that wait at the same time are
//! written together: a write, and to wake the process that reads, is a tenth of a short call.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of several messages that are written together at most: what a pipe holds. A longer message
/// is written alone, so that at most one is in memory twice.
const MAX_TOGETHER: usize = 64 << 10;

/// A queue of messages. A task that adds one then takes lines and writes them until there are none,
/// under a lock of the stream: its own message is among them, or another task has written it.
#[derive(Debug)]
pub struct LineQueue<M>(Mutex<VecDeque<M>>);

impl<M> Default for LineQueue<M> {
    fn default() -> LineQueue<M> {
        LineQueue(Mutex::default())
    }
}

impl<M: AsRef<[u8]>> LineQueue<M> {
    fn messages(&self) -> MutexGuard<'_, VecDeque<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message, without its line end.
    pub fn push(&self, message: M) {
        self.messages().push_back(message);
    }

    /// Takes the next messages as lines. `None` if there are none.
    pub fn take_lines(&self) -> Option<Vec<u8>> {
        let mut messages = self.messages();
        let (mut count, mut bytes) = (0, 0);
        for message in messages.iter() {
            let all = bytes + message.as_ref().len() + 1;
            if count > 0 && all > MAX_TOGETHER {
                break;
            }
            (count, bytes) = (count + 1, all);
        }
        let mut lines = Vec::with_capacity(bytes);
        for message in messages.drain(..count) {
            lines.extend_from_slice(message.as_ref());
            lines.push(b'\n');
        }
        (count > 0).then_some(lines)
    }

    /// Forgets all messages: the stream is closed.
    pub fn clear(&self) {
        self.messages().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_are_taken_together_and_long_ones_alone() {
        let queue = LineQueue::default();
        let long = "x".repeat(MAX_TOGETHER);
        for message in ["a", "b", &long, "c", ""] {
            queue.push(message.to_owned());
        }
        let lines = std::iter::from_fn(|| queue.take_lines());
        let lines: Vec<String> = lines.map(|lines| String::from_utf8(lines).unwrap()).collect();
        assert_eq!(lines, ["a\nb\n".to_owned(), format!("{long}\n"), "c\n\n".to_owned()]);
    }
}
