//! Finds the top-level `id` of a JSON message that is too large to be kept, byte by byte as the
//! message passes.
//!
//! The `id` may come before or after the large part, so the scan covers the whole message. It is
//! not a JSON parser: it follows strings, escapes and nesting depth, which is enough to tell a
//! top-level `"id"` key from the same text inside a string or a nested value. On malformed input it
//! may find nothing; the message is then dropped without an answer.

/// A scanner with a few bytes of state; see the file header.
#[derive(Debug, Default)]
pub(crate) struct IdFinder {
    /// How many `{` and `[` are open. Members of the message itself are at depth 1.
    depth: u32,
    in_string: bool,
    /// Whether the previous byte was a `\` inside a string.
    escaped: bool,
    /// The text at depth 1 since the last `{`, `,` or `:`, cut off at [`MAX_ID`]: a key or a value.
    token: Vec<u8>,
    /// Whether the key of the current member is `id`, so that `token` is its value.
    at_id: bool,
    /// The JSON text of the `id`, once its member has ended.
    id: Option<Vec<u8>>,
}

/// The longest JSON text of an `id`, in bytes. Clients and servers use numbers and UUIDs; a longer
/// one is cut off, does not parse and counts as missing.
const MAX_ID: usize = 128;

impl IdFinder {
    /// Scans the next bytes of the message. Messages may be split anywhere.
    pub(crate) fn scan(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.scan_byte(*byte);
        }
    }

    fn scan_byte(&mut self, byte: u8) {
        // Inside a string at depth 1 every byte belongs to the token. Outside of one, `[` and `{`
        // start a nested value, whose content is at depth 2 and is not collected.
        if self.depth == 1
            && self.token.len() < MAX_ID
            && (self.in_string || !b",:}{[".contains(&byte))
        {
            self.token.push(byte);
        }
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            // A batch (an array of messages) is at depth 1 as well, but has no `:` there.
            b'{' | b'[' => self.depth += 1,
            b':' if self.depth == 1 => {
                self.at_id = self.token.trim_ascii() == b"\"id\"";
                self.token.clear();
            }
            b',' if self.depth == 1 => self.end_member(),
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// Ends a key-value pair of the message. If there are several `id` keys, the last one counts,
    /// as in serde_json.
    fn end_member(&mut self) {
        if std::mem::take(&mut self.at_id) {
            self.id = Some(self.token.trim_ascii().to_vec());
        }
        self.token.clear();
    }

    /// The id, once the whole message has been scanned. `None` if there was none, or if it is
    /// neither a number nor a string.
    pub(crate) fn id(&self) -> Option<crate::RequestId> {
        serde_json::from_slice(self.id.as_deref()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::IdFinder;
    use crate::RequestId;

    /// Scans `text` in one piece and byte by byte, which must give the same.
    fn find(text: &str) -> Option<RequestId> {
        let mut whole = IdFinder::default();
        whole.scan(text.as_bytes());
        let mut bytewise = IdFinder::default();
        text.bytes().for_each(|byte| bytewise.scan(&[byte]));
        assert_eq!(whole.id(), bytewise.id(), "{text}");
        whole.id()
    }

    #[test]
    fn the_top_level_id_is_found_before_and_after_the_result() {
        let seven = Some(RequestId::Number(7));
        assert_eq!(find(r#"{"jsonrpc":"2.0","id":7,"result":{"id":1}}"#), seven);
        assert_eq!(find(r#"{"result":{"id":1,"x":["id",{"id":2}]}, "id" : 7 }"#), seven);
        assert_eq!(find(r#"{"result":"\"id\":3,}","id":7}"#), seven);
        assert_eq!(find(r#"{"a":"\\","id":7}"#), seven);
        assert_eq!(find(r#"{"id":"a,b:{}","result":1}"#), Some(RequestId::Text("a,b:{}".into())));
        assert_eq!(find(r#"{"result":{"id":7}}"#), None);
        assert_eq!(find(r#"["id",7]"#), None);
        assert_eq!(find("not json at all"), None);
    }
}
