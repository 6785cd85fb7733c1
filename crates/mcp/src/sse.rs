//! Server-sent events, as both transports over HTTP carry messages: bytes in, events out, bounded.
//!
//! ```text
//! chunks of bytes ─ push ─▶ lines ─▶ fields ─ empty line ─▶ SseEvent ─ next_event ─▶ caller
//! ```
//!
//! An event whose data is longer than [`MAX_MESSAGE`] is skipped as it arrives; like a line that is
//! too long on standard streams, only the `id` of its message is kept.

use std::collections::VecDeque;

use crate::id_finder::IdFinder;
use crate::{MAX_MESSAGE, RequestId};

/// The longest `id` of an event that is kept, in bytes. It is sent back in a header.
const MAX_EVENT_ID: usize = 4 << 10;
/// The longest name of an event that is kept, in bytes. MCP has `message` and `endpoint`.
const MAX_EVENT_NAME: usize = 64;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct SseEvent {
    /// The kind of event, if it has a name; without one it is a message.
    pub name: Option<String>,
    /// The id to resume the stream after this event with; `None` if the event has none.
    pub id: Option<String>,
    /// How long to wait before the stream is opened again, in milliseconds, if the event sets it.
    pub retry: Option<u64>,
    /// The message, if there is one.
    pub data: SseData,
}

/// The data of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum SseData {
    /// None: the event only carries an id or a time to retry.
    Empty,
    /// All lines of data.
    Complete(Vec<u8>),
    /// More than [`MAX_MESSAGE`] bytes, discarded, with the `id` of the message if it had one.
    TooLong(Option<RequestId>),
}

/// Reads events from the chunks of a stream.
#[derive(Debug, Default)]
pub struct SseParser {
    /// The bytes of the current line so far.
    line: Vec<u8>,
    /// Whether the last byte was a `\r`: a `\n` after it belongs to the same line end.
    after_return: bool,
    data: Option<Vec<u8>>,
    /// Set while the rest of an event that is too long is skipped.
    skipping: Option<IdFinder>,
    name: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
    events: VecDeque<SseEvent>,
}

impl SseParser {
    /// Takes the next bytes of the stream, split anywhere.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if std::mem::take(&mut self.after_return) && bytes.first() == Some(&b'\n') {
            bytes = &bytes[1..];
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend_line(&bytes[..end]);
            self.end_line();
            let is_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            match (is_return, bytes.first()) {
                (true, Some(b'\n')) => bytes = &bytes[1..],
                (true, None) => self.after_return = true,
                _ => {}
            }
        }
        self.extend_line(bytes);
    }

    /// The next event that is complete.
    pub fn next_event(&mut self) -> Option<SseEvent> {
        self.events.pop_front()
    }

    fn extend_line(&mut self, part: &[u8]) {
        if let Some(finder) = &mut self.skipping {
            // Also scans field names of later lines, which look like nothing to the finder.
            finder.scan(part);
            // Only as much as tells an empty line from others.
            self.line.extend_from_slice(&part[..part.len().min(1)]);
            return;
        }
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held + part.len() <= MAX_MESSAGE + "data: ".len() {
            self.line.extend_from_slice(part);
            return;
        }
        let mut finder = IdFinder::default();
        finder.scan(&self.data.take().unwrap_or_default());
        let start = self.line.strip_prefix(b"data:").unwrap_or(&self.line);
        finder.scan(start);
        finder.scan(part);
        // A new vector instead of `clear`, which would keep the memory.
        self.line = vec![b'x'];
        self.skipping = Some(finder);
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            return self.end_event();
        }
        let mut line = std::mem::take(&mut self.line);
        if self.skipping.is_some() {
            return;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let mut value = (colon + 1).min(line.len());
        value += usize::from(line.get(value) == Some(&b' '));
        match &line[..colon] {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(&line[value..]);
                }
                // Nearly always the only line: its memory is used again.
                data => {
                    line.drain(..value);
                    *data = Some(line);
                }
            },
            b"id" if line.len() <= MAX_EVENT_ID && !line.contains(&0) => {
                self.id = String::from_utf8(line[value..].to_vec()).ok();
            }
            b"event" if line.len() <= MAX_EVENT_NAME => {
                self.name = String::from_utf8(line[value..].to_vec()).ok();
            }
            b"retry" => {
                let text = std::str::from_utf8(&line[value..]).unwrap_or_default();
                self.retry = text.parse().ok().or(self.retry);
            }
            // Comments have an empty name.
            _ => {}
        }
    }

    fn end_event(&mut self) {
        let data = match (self.skipping.take(), self.data.take()) {
            (Some(finder), _) => SseData::TooLong(finder.id()),
            (None, Some(data)) if !data.is_empty() => SseData::Complete(data),
            _ => SseData::Empty,
        };
        let (name, id, retry) = (self.name.take(), self.id.take(), self.retry.take());
        let event = SseEvent { name, id, retry, data };
        if event.id.is_some() || event.retry.is_some() || event.data != SseData::Empty {
            self.events.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut parser = SseParser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            parser.push(chunk);
            events.extend(std::iter::from_fn(|| parser.next_event()));
        }
        events
    }

    #[test]
    fn events_are_the_same_however_the_stream_is_split() {
        let text = b": hello\r\n\r\nid: 7\nevent: message\ndata: {\"a\":\ndata:1}\n\nretry: 20\r\r\
                     data:x\r\n\r\ndata: half";
        let event = |id: Option<&str>, retry, data: &[u8]| SseEvent {
            name: id.map(|_| "message".to_owned()),
            id: id.map(str::to_owned),
            retry,
            data: match data {
                b"" => SseData::Empty,
                data => SseData::Complete(data.to_vec()),
            },
        };
        let expected = vec![
            event(Some("7"), None, b"{\"a\":\n1}"),
            event(None, Some(20), b""),
            event(None, None, b"x"),
        ];
        assert_eq!(events(&[text]), expected);
        for at in 0..text.len() {
            assert_eq!(events(&[&text[..at], &text[at..]]), expected, "split at {at}");
        }
    }

    #[test]
    fn a_long_event_is_skipped_and_names_its_message() {
        let filler = vec![b'x'; MAX_MESSAGE];
        let end = b"\",\"id\":7}\n\ndata: next\n\n";
        let found = events(&[b"id: 1\ndata: {\"result\":\"", &filler, end]);
        let id = Some(RequestId::Number(7));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].data, SseData::TooLong(id));
        assert_eq!(found[1].data, SseData::Complete(b"next".to_vec()));
    }
}
