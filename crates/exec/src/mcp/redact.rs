//! Replaces the secrets of a source in everything that comes from its server, before agents, the
//! log or the cache see it. Servers like to repeat a wrong key in their error messages, and tools
//! that show an environment show it whole.
//!
//! ```text
//! bytes of a message ─ one search for all forms of all secrets ─┬─ nothing: the message as it is
//!                                                               └─ found: replaced by `***`
//! ```
//!
//! The search is over the bytes, so it looks for the forms that a text has in JSON, in URLs and in
//! Base64 (`secret_forms`). What it finds is replaced in the parsed strings, never in the bytes: a
//! number or a name of the protocol that happens to be equal must stay.
//!
//! Not here: secrets that a server encodes in another way, such as hexadecimal or compressed.

use std::path::Path;

use aho_corasick::AhoCorasick;
use serde_json::value::RawValue;
use toolwright_mcp::{MalformedMessage, Message, RpcError, raw_json};
use toolwright_model::{Connection, Server};

use super::secret_forms::forms_of;
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
    /// The secrets as they are and as they may be written, the longest first.
    forms: Vec<String>,
    /// Finds all of them in one pass; `None` if there are no secrets.
    search: Option<AhoCorasick>,
}

impl Redactor {
    /// The values of this server's variables and headers, what is hidden of its connection, and the
    /// values that all servers get.
    pub(super) fn of(server: &Server, for_all: &[String]) -> Redactor {
        let secrets = secrets_of(server, for_all);
        let mut forms: Vec<String> = secrets.iter().flat_map(|secret| forms_of(secret)).collect();
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
        let message = match Message::parse(text) {
            // Some servers cut texts in the middle of a character. SDKs replace such bytes, too.
            Err(MalformedMessage::NotJson) if std::str::from_utf8(text).is_err() => {
                Message::parse(String::from_utf8_lossy(text).as_bytes())
            }
            message => message,
        }?;
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
        error.more.values_mut().for_each(|value| self.json(value));
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

/// The values of this server's variables and headers, what is hidden of its connection, and the
/// values that all servers get, as far as they are secrets.
fn secrets_of(server: &Server, for_all: &[String]) -> Vec<String> {
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
    secrets
}

/// The texts of the connection that messages replace with `***` or `${VAR}`.
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwright_model::{ServerSettings, Variable};

    use super::*;

    fn server(values: &[&str]) -> Server {
        let variable = |value: &&str| Variable {
            name: "X".to_owned(),
            value: Some((*value).to_owned()),
            ..Variable::default()
        };
        Server {
            connection: Connection::Stdio { command: vec!["x".to_owned()] },
            shown: None,
            environment: values.iter().map(variable).collect(),
            headers: Vec::new(),
            directory: None,
            health_check: None,
            settings: ServerSettings::default(),
        }
    }

    fn redactor(values: &[&str]) -> Redactor {
        Redactor::of(&server(values), &["of-the-command-line".to_owned()])
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
    fn secrets_are_found_in_urls_and_in_base64() {
        let redactor = redactor(&["pä+ss/wörd 1"]);
        for (form, left) in [
            ("?key=p%C3%A4%2Bss%2Fw%C3%B6rd%201&b", "?key=***&b"),
            ("?key=p%c3%a4%2bss%2fw%c3%b6rd%201&b", "?key=***&b"),
            ("?key=p%C3%A4%2Bss%2Fw%C3%B6rd+1&b", "?key=***&b"),
            // `pä+ss/wörd 1` alone, and behind one and two other bytes.
            ("<cMOkK3NzL3fDtnJkIDE=>", "<***>"),
            (r"<cMOkK3NzL3fDtnJkIDE\u003d>", "<***>"),
            (r"<cMOkK3NzL3fDtnJkIDE>", "<***>"),
            ("<OnDDpCtzcy93w7ZyZCAx>", "<On***>"),
            ("<YTpww6Qrc3Mvd8O2cmQgMQ==>", "<YTp***Q==>"),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{form}"}}}}"#);
            assert_eq!(result_of(&redactor, &line)["a"], left, "{form}");
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
    fn bytes_that_are_not_text_are_replaced() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"x\xff\xfey\"}}";
        let Ok(Message::Response(response)) = redactor(&[]).parse(line) else { panic!() };
        let result = response.outcome.expect("a result");
        assert_eq!(result.get(), "{\"a\":\"x\u{fffd}\u{fffd}y\"}");
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
        let server = server(&[
            &place,
            "https://api.example.com/",
            "https://user:pass@example.com",
            "https://example.com/hooks/T0123",
            "/kX9dW2pQ7bR4tY",
        ]);
        let secrets = [
            "https://user:pass@example.com",
            "https://example.com/hooks/T0123",
            "/kX9dW2pQ7bR4tY",
            "of-the-command-line",
        ];
        assert_eq!(secrets_of(&server, &["of-the-command-line".to_owned()]), secrets);
    }
}
