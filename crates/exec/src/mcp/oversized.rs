//! Whose answer it was: finds the top-level `id` of a JSON message that is too large to be kept,
//! while it streams by.

/// Looks for the `id` in the bytes it is shown.
#[derive(Debug, Default)]
pub(super) struct IdFinder {
    depth: u32,
    in_string: bool,
    escaped: bool,
    /// What stands at the top level since the last `{`, `,` or `:`; as much as an id can have.
    token: Vec<u8>,
    at_id: bool,
    id: Option<Vec<u8>>,
}

/// No id that anybody uses is longer.
const LONGEST: usize = 128;

impl IdFinder {
    /// Takes the next bytes.
    pub(super) fn see(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if self.depth == 1
            && self.token.len() < LONGEST
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

    fn end_member(&mut self) {
        if std::mem::take(&mut self.at_id) {
            self.id = Some(self.token.trim_ascii().to_vec());
        }
        self.token.clear();
    }

    /// The id, when the whole message has been seen.
    pub(super) fn id(&self) -> Option<rmcp::model::RequestId> {
        serde_json::from_slice(self.id.as_deref()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::IdFinder;
    use rmcp::model::RequestId;

    fn find(text: &str) -> Option<RequestId> {
        let mut whole = IdFinder::default();
        whole.see(text.as_bytes());
        let mut bytewise = IdFinder::default();
        text.bytes().for_each(|byte| bytewise.see(&[byte]));
        assert_eq!(whole.id(), bytewise.id(), "{text}");
        whole.id()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let seven = Some(RequestId::Number(7));
        assert_eq!(find(r#"{"jsonrpc":"2.0","id":7,"result":{"id":1}}"#), seven);
        assert_eq!(find(r#"{"result":{"id":1,"x":["id",{"id":2}]}, "id" : 7 }"#), seven);
        assert_eq!(find(r#"{"result":"\"id\":3,}","id":7}"#), seven);
        assert_eq!(find(r#"{"a":"\\","id":7}"#), seven);
        assert_eq!(find(r#"{"id":"a,b:{}","result":1}"#), Some(RequestId::String("a,b:{}".into())));
        assert_eq!(find(r#"{"result":{"id":7}}"#), None);
        assert_eq!(find(r#"["id",7]"#), None);
        assert_eq!(find("not json at all"), None);
    }
}
