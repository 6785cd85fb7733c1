//! Replaces the secrets of a source in everything that comes from its server, before agents, the
//! log or the cache see it. Servers like to repeat a wrong key in their error messages, and tools
//! that show an environment show it whole.
//!
//! ```text
//! bytes of a message ─ one search for all forms of all secrets ─┬─ nothing: the message as it is
//!                                                               └─ found: replaced by `***`
//! ```
//!
//! The search is over the bytes, so it looks for the forms that writers of JSON give a text. What
//! it finds is replaced in the parsed strings, never in the bytes: a number or a name of the
//! protocol that happens to be equal must stay.
//!
//! Not here: secrets that a server encodes in another way, such as base64.

use std::path::Path;

use aho_corasick::AhoCorasick;
use serde_json::value::RawValue;
use toolwright_mcp::{MalformedMessage, Message, RpcError, raw_json};
use toolwright_model::{Connection, Server};

use crate::{Failure, Json};

/// The shortest value that is replaced, in bytes. Shorter ones (`true`, `8080`) are in many texts
/// by chance, and are not secrets worth the name.
const SHORTEST: usize = 8;

/// Members of a result that only its server reads again. Changed ones would be useless to it, and
/// agents do not get them.
const FOR_THE_SERVER: [&str; 2] = ["requestState", "nextCursor"];

/// The values that are configured for a server: variables, headers, and the secrets of its command
/// or address.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    /// The secrets as they are and as JSON writes them, the longest first.
    forms: Vec<String>,
    /// Finds all of them in one pass; `None` if there are no secrets.
    search: Option<AhoCorasick>,
}

impl Redactor {
    /// The values of this server's variables and headers, what is hidden of its connection, and the
    /// values that all servers get.
    pub(super) fn of(server: &Server, for_all: &[String]) -> Redactor {
        let values = server.environment.iter().chain(&server.headers);
        let values = values.filter_map(|variable| variable.value.as_deref());
        let values = values.chain(hidden_in_connection(server));
        let mut secrets: Vec<String> = Vec::new();
        for value in values.chain(for_all.iter().map(String::as_str)) {
            // Of `Bearer abc…`, servers repeat either the whole or the second word.
            for part in std::iter::once(value).chain(value.split_whitespace()) {
                let is_new = !secrets.iter().any(|known| known == part);
                if part.len() >= SHORTEST && is_new && !is_public(part) {
                    secrets.push(part.to_owned());
                }
            }
        }
        let mut forms: Vec<String> =
            secrets.iter().flat_map(|secret| forms_in_json(secret)).collect();
        // The longest first, so that a part does not spoil the whole.
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        let search = if forms.is_empty() { None } else { AhoCorasick::new(&forms).ok() };
        Redactor { forms, search }
    }

    /// Parses a message of the server and replaces the secrets in it.
    ///
    /// # Errors
    /// If the text is not a message.
    pub(super) fn parse(&self, text: &[u8]) -> Result<Message, MalformedMessage> {
        let message = Message::parse(text)?;
        match &self.search {
            Some(search) if search.is_match(text) => Ok(self.message(message)),
            _ => Ok(message),
        }
    }

    fn message(&self, mut message: Message) -> Message {
        match &mut message {
            Message::Request(request) => self.content(request.params.as_mut()),
            Message::Notification(notification) => self.content(notification.params.as_mut()),
            Message::Response(response) => match &mut response.outcome {
                Ok(result) => self.content(Some(result)),
                Err(error) => self.error(error),
            },
        }
        message
    }

    fn content(&self, content: Option<&mut Box<RawValue>>) {
        let Some(content) = content else { return };
        // Text that is nested too deeply to be parsed is refused later, where it is needed.
        let Ok(mut value) = serde_json::from_str::<Json>(content.get()) else { return };
        match &mut value {
            Json::Object(members) => {
                let own = members.iter_mut();
                let own = own.filter(|(name, _)| !FOR_THE_SERVER.contains(&name.as_str()));
                own.for_each(|(_, value)| self.json(value));
            }
            value => self.json(value),
        }
        *content = raw_json(&value);
    }

    /// Replaces every secret in a text by `***`.
    pub(super) fn text(&self, text: &mut String) {
        for form in &self.forms {
            if text.contains(form.as_str()) {
                *text = text.replace(form.as_str(), "***");
            }
        }
    }

    /// Replaces secrets in all strings of a value. The depth is that of a parsed message: 128.
    fn json(&self, value: &mut Json) {
        match value {
            Json::String(text) => self.text(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Json::Object(members) => {
                members.values_mut().for_each(|value| self.json(value));
                if members.keys().any(|name| self.is_in_name(name)) {
                    let old = std::mem::take(members);
                    members.extend(old.into_iter().map(|(mut name, value)| {
                        if self.is_in_name(&name) {
                            self.text(&mut name);
                        }
                        (name, value)
                    }));
                }
            }
            _ => {}
        }
    }

    /// Whether the name of a member has a secret. A single word has none: it may be one of the
    /// protocol's.
    fn is_in_name(&self, name: &str) -> bool {
        name.len() >= SHORTEST
            && !name.bytes().all(|byte| byte.is_ascii_alphabetic())
            && self.forms.iter().any(|form| name.contains(form.as_str()))
    }

    /// Replaces secrets in an error of the server.
    fn error(&self, error: &mut RpcError) {
        self.text(&mut error.message);
        error.data.iter_mut().for_each(|data| self.json(data));
    }

    /// Replaces secrets in a failure.
    pub(super) fn failure(&self, mut failure: Failure) -> Failure {
        self.text(&mut failure.message);
        if let Some(detail) = failure.detail.take() {
            let mut detail = String::from(detail);
            self.text(&mut detail);
            failure.detail = Some(detail.into());
        }
        if let Some(error) = &mut failure.rpc_error {
            self.error(error);
        }
        failure
    }
}

/// The texts of the connection in the place of which messages show `***` or `${VAR}`.
fn hidden_in_connection(server: &Server) -> Vec<&str> {
    let Some(shown) = &server.shown else { return Vec::new() };
    fn texts(connection: &Connection) -> Vec<&str> {
        match connection {
            Connection::Stdio { command } => command.iter().map(String::as_str).collect(),
            Connection::Http { url } | Connection::Sse { url } | Connection::WebSocket { url } => {
                vec![url.as_str()]
            }
        }
    }
    let pairs = texts(&server.connection).into_iter().zip(texts(shown));
    pairs.flat_map(|(text, shown)| hidden_parts(text, shown)).collect()
}

/// The parts of `text` that `shown` has `***` or `${…}` for: what lies between the parts that both
/// have.
fn hidden_parts<'t>(text: &'t str, shown: &str) -> Vec<&'t str> {
    let mut hidden = Vec::new();
    let mut rest = text;
    let mut shown = shown;
    loop {
        let start = [shown.find("***"), shown.find("${")].into_iter().flatten().min();
        let Some(start) = start else { return hidden };
        let Some(behind) = rest.strip_prefix(&shown[..start]) else { return hidden };
        let mark = &shown[start..];
        let mark = if mark.starts_with("***") { 3 } else { mark.find('}').map_or(2, |at| at + 1) };
        shown = &shown[start + mark..];
        // Up to the next mark, both have the same text.
        let next = [shown.find("***"), shown.find("${")].into_iter().flatten().min();
        let same = &shown[..next.unwrap_or(shown.len())];
        let end = match next {
            None => behind.strip_suffix(same).map(str::len),
            Some(_) => behind.find(same),
        };
        let Some(end) = end else { return hidden };
        hidden.push(&behind[..end]);
        rest = &behind[end..];
    }
}

/// Whether a configured value is evidently not a secret: a place on this machine, or an address
/// without anything behind it. Results of servers are full of the folder that they were given.
fn is_public(value: &str) -> bool {
    let path = Path::new(value);
    let is_place = path.is_absolute()
        && (path.exists() || path.parent().is_some_and(|it| it.parent().is_some() && it.exists()));
    let address = ["http://", "https://"].iter().find_map(|scheme| value.strip_prefix(scheme));
    let is_address = address.is_some_and(|rest| {
        let host = rest.strip_suffix('/').unwrap_or(rest);
        !host.contains(['/', '@', '?', '#'])
    });
    is_place || is_address
}

/// A text as it is, and the ways in which common writers of JSON write it, without quotes: in ASCII
/// (Python), with `\/` (PHP), with characters of HTML escaped (Go, Gson, .NET); and each of them
/// once more inside of a text that is itself JSON.
fn forms_in_json(text: &str) -> Vec<String> {
    const STYLES: [(&str, &str); 5] =
        [("", "/"), ("", "\\/"), ("<>&", "/"), ("<>&'=", "/"), ("<>&'+`", "/")];
    let mut forms: Vec<String> = vec![text.to_owned()];
    let mut add = |form: String| {
        if !forms.contains(&form) {
            forms.push(form);
        }
    };
    for in_ascii in [false, true] {
        for (escaped, slash) in STYLES {
            for is_upper in [false, true] {
                let style = JsonStyle { in_ascii, escaped, slash, is_upper };
                let form = style.write(text);
                // Quotation marks, as .NET writes them.
                let quoted = form.replace("\\\"", "\\u0022");
                for form in [quoted, form] {
                    add(JsonStyle::PLAIN.write(&form));
                    add(form);
                }
            }
        }
    }
    forms
}

/// How a writer of JSON escapes characters.
struct JsonStyle<'s> {
    in_ascii: bool,
    /// The characters besides those that must be escaped.
    escaped: &'s str,
    slash: &'s str,
    is_upper: bool,
}

impl JsonStyle<'static> {
    /// Only what must be escaped.
    const PLAIN: JsonStyle<'static> =
        JsonStyle { in_ascii: false, escaped: "", slash: "/", is_upper: false };
}

impl JsonStyle<'_> {
    fn write(&self, text: &str) -> String {
        let mut written = String::new();
        for c in text.chars() {
            match c {
                '"' => written.push_str("\\\""),
                '\\' => written.push_str("\\\\"),
                '\n' => written.push_str("\\n"),
                '\r' => written.push_str("\\r"),
                '\t' => written.push_str("\\t"),
                '/' => written.push_str(self.slash),
                c if c.is_control()
                    || self.escaped.contains(c)
                    || (self.in_ascii && !c.is_ascii()) =>
                {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        written.push_str(&match self.is_upper {
                            true => format!("\\u{unit:04X}"),
                            false => format!("\\u{unit:04x}"),
                        });
                    }
                }
                c => written.push(c),
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_model::{ServerSettings, Variable};

    use super::*;

    fn redactor(values: &[&str]) -> Redactor {
        let variable = |value: &&str| Variable {
            name: "X".to_owned(),
            value: Some((*value).to_owned()),
            ..Variable::default()
        };
        let server = Server {
            connection: Connection::Stdio { command: vec!["x".to_owned()] },
            shown: None,
            environment: values.iter().map(variable).collect(),
            headers: Vec::new(),
            directory: None,
            health_check: None,
            settings: ServerSettings::default(),
        };
        Redactor::of(&server, &["of-the-command-line".to_owned()])
    }

    fn result_of(redactor: &Redactor, line: &str) -> Json {
        match redactor.parse(line.as_bytes()) {
            Ok(Message::Response(response)) => {
                serde_json::from_str(response.outcome.expect("a result").get()).expect("JSON")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn secrets_are_found_however_they_are_escaped() {
        let redactor = redactor(&["ké/y+\"1<2=\\"]);
        for form in [
            r#"ké/y+\"1<2=\\"#,
            r#"k\u00e9/y+\"1<2=\\"#,
            r#"k\u00e9\/y+\"1<2=\\"#,
            r#"ké/y+\"1\u003c2=\\"#,
            r#"ké/y+\"1\u003c2\u003d\\"#,
            r#"k\u00E9/y\u002B\u00221\u003C2=\\"#,
            r#"{\"a\":\"ké/y+\\\"1<2=\\\\\"}"#,
            "of-the-command-line",
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":["<{form}>"]}}}}"#);
            let result = result_of(&redactor, &line);
            let text = result["a"][0].as_str().expect("text");
            assert!(["<***>", r#"<{"a":"***"}>"#].contains(&text), "{form}: {text}");
        }
    }

    #[test]
    fn what_messages_hide_of_a_connection_is_found() {
        for (text, shown, expected) in [
            ("--token=sesame123", "--token=***", &["sesame123"][..]),
            ("sesame123", "${TOKEN}", &["sesame123"]),
            ("postgres://u:word@h/db", "postgres://u:***@h/db", &["word"]),
            ("A=one B=two", "A=*** B=${X}", &["one", "two"]),
            ("same", "same", &[]),
            ("other", "text=***", &[]),
        ] {
            assert_eq!(hidden_parts(text, shown), expected, "{text} {shown}");
        }
    }

    #[test]
    fn only_strings_change() {
        let redactor = redactor(&["12345678", "structuredContent", "tok-12345-x"]);
        let line = r#"{"jsonrpc":"2.0","id":12345678,"result":{"structuredContent":
            {"n":12345678,"s":"a12345678b","tok-12345-x":1},"requestState":"tok-12345-x"}}"#;
        let expected = json!({
            "structuredContent": {"n": 12345678, "s": "a***b", "***": 1},
            "requestState": "tok-12345-x",
        });
        assert_eq!(result_of(&redactor, line), expected);
    }

    #[test]
    fn places_and_addresses_are_not_secrets() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("new.db").display().to_string();
        let found = redactor(&[
            &place,
            "https://api.example.com/",
            "https://user:pass@example.com",
            "https://example.com/hooks/T0123",
            "/kX9dW2pQ7bR4tY",
        ]);
        let secrets = [
            "https://example.com/hooks/T0123",
            "https://user:pass@example.com",
            "of-the-command-line",
            "/kX9dW2pQ7bR4tY",
        ];
        let found: Vec<&String> = found.forms.iter().filter(|it| !it.contains('\\')).collect();
        assert_eq!(found, secrets);
    }
}
