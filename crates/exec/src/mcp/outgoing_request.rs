//! A request to a server, written as text.
//!
//! The text is put together in one buffer, so that arguments stay as the caller wrote them and are
//! copied once. `_meta` has three sources:
//!
//! ```text
//! progress token (always) ─┐
//! `_meta` of the client ───┼─▶ "_meta": {…}
//! context of the client ───┘   (2026-07-28: revision, client, capabilities, log level)
//! ```

use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};
use toolwright_mcp::{meta, standard_headers};

use super::tasks::{TaskLink, TaskRequest};
use crate::CallArguments;

/// What is asked of a server.
pub(super) struct OutgoingRequest<'a> {
    pub(super) method: &'a str,
    pub(super) params: OutgoingParams<'a>,
    /// The task whose result is asked for: what the server sends about it belongs to this request.
    pub(super) task: Option<&'a TaskLink>,
    /// The number of the only connection that it makes sense on: a restarted server may use the id
    /// of a task again, for another client.
    pub(super) connection: Option<u64>,
}

/// The parameters of a request.
pub(super) enum OutgoingParams<'a> {
    /// Those of `tools/call`, with the arguments as the caller wrote them.
    Call(&'a ToolCall<'a>),
    /// Any others.
    Members(&'a Map<String, Json>),
}

/// A call of a tool.
#[derive(Clone, Copy)]
pub(super) struct ToolCall<'a> {
    pub(super) tool: &'a str,
    /// As the caller wrote them.
    pub(super) arguments: &'a CallArguments,
    /// Members that nothing here knows.
    pub(super) more: &'a [(String, Box<RawValue>)],
    /// Set if it is to be a task.
    pub(super) task: Option<&'a TaskRequest>,
}

/// The answers to the questions of an earlier round (2026-07-28), for the next one.
pub(super) struct InputRound {
    /// By the keys of the questions.
    pub(super) responses: Option<Map<String, Json>>,
    /// Given back as the server sent it.
    pub(super) state: Option<Json>,
}

impl InputRound {
    /// Whether the person agreed to everything.
    pub(super) fn is_accepted(&self) -> bool {
        self.responses.iter().flatten().all(|(_, answer)| answer["action"] == "accept")
    }
}

impl<'a> OutgoingRequest<'a> {
    /// A request with these parameters.
    pub(super) fn new(method: &'a str, params: &'a Map<String, Json>) -> OutgoingRequest<'a> {
        let params = OutgoingParams::Members(params);
        OutgoingRequest { method, params, task: None, connection: None }
    }

    /// A call of a tool.
    pub(super) fn call(call: &'a ToolCall<'a>) -> OutgoingRequest<'a> {
        let params = OutgoingParams::Call(call);
        OutgoingRequest { method: "tools/call", params, task: None, connection: None }
    }

    /// The task that it creates.
    pub(super) fn new_task(&self) -> Option<&'a TaskRequest> {
        match &self.params {
            OutgoingParams::Call(call) => call.task,
            OutgoingParams::Members(_) => None,
        }
    }

    /// The message as JSON on one line.
    ///
    /// The capacity is computed beforehand, because arguments may have megabytes and would
    /// otherwise be copied while the buffer grows. Members end with a comma each, which `_meta`,
    /// always the last one, makes correct.
    pub(super) fn to_bytes(
        &self,
        id: i64,
        client_meta: Option<&Map<String, Json>>,
        context: &[(&str, Json)],
        round: Option<&InputRound>,
    ) -> Vec<u8> {
        let arguments = match &self.params {
            OutgoingParams::Call(call) => Some(call.arguments.to_text()),
            OutgoingParams::Members(_) => None,
        };
        let more = match &self.params {
            OutgoingParams::Call(call) => call.more,
            OutgoingParams::Members(_) => &[],
        };
        let more: usize = more.iter().map(|(name, value)| name.len() + value.get().len() + 4).sum();
        let arguments_size = arguments.as_ref().map_or(64, |it| it.len());
        let mut text = Vec::with_capacity(192 + more + arguments_size);
        text.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        text.extend_from_slice(id.to_string().as_bytes());
        text.extend_from_slice(br#","method":"#);
        write_json(&mut text, self.method);
        text.extend_from_slice(br#","params":{"#);
        match &self.params {
            OutgoingParams::Call(call) => {
                write_member(&mut text, "name", call.tool);
                text.extend_from_slice(br#""arguments":"#);
                text.extend_from_slice(arguments.as_deref().unwrap_or("{}").as_bytes());
                text.push(b',');
                for (name, value) in call.more {
                    write_raw(&mut text, name, value);
                }
                if let Some(task) = call.task {
                    write_raw(&mut text, "task", &task.params);
                }
            }
            OutgoingParams::Members(members) => {
                for (name, value) in members.iter().filter(|(name, _)| *name != "_meta") {
                    write_member(&mut text, name, value);
                }
            }
        }
        if let Some(InputRound { responses, state }) = round {
            if let Some(responses) = responses {
                write_member(&mut text, "inputResponses", &Json::Object(responses.clone()));
            }
            if let Some(state) = state {
                write_member(&mut text, "requestState", state);
            }
        }
        self.write_meta(&mut text, id, client_meta, context);
        text.extend_from_slice(b"}}");
        text
    }

    /// Writes the member `_meta`. Keys about one hop of the way are ours, whatever came before.
    fn write_meta(
        &self,
        text: &mut Vec<u8>,
        id: i64,
        client_meta: Option<&Map<String, Json>>,
        context: &[(&str, Json)],
    ) {
        // The id of a request is also its token: unique, and needs no second table. The token of a
        // task outlives its request.
        let token = self.new_task().map_or(id, |task| task.progress_token);
        text.extend_from_slice(br#""_meta":{"progressToken":"#);
        text.extend_from_slice(token.to_string().as_bytes());
        let own = match &self.params {
            OutgoingParams::Members(members) => members.get("_meta").and_then(Json::as_object),
            OutgoingParams::Call(_) => None,
        };
        // The `_meta` of the host comes later and replaces what the parameters have.
        let is_replaced = |key: &str| client_meta.is_some_and(|meta| meta.contains_key(key));
        let of_params = own.into_iter().flatten().filter(|(key, _)| !is_replaced(key));
        for (key, value) in of_params.chain(client_meta.into_iter().flatten()) {
            if !meta::is_of_one_hop(key) {
                text.push(b',');
                write_member(text, key, value);
                text.pop();
            }
        }
        for (key, value) in context {
            text.push(b',');
            write_member(text, key, value);
            text.pop();
        }
        text.push(b'}');
    }

    /// The value of `Mcp-Name`; `None` for methods without one.
    pub(super) fn name(&self) -> Option<&str> {
        let member = standard_headers::name_member(self.method)?;
        match &self.params {
            OutgoingParams::Call(call) => Some(call.tool),
            OutgoingParams::Members(members) => members.get(member)?.as_str(),
        }
    }

    /// The arguments of a call of a tool.
    pub(super) fn arguments(&self) -> Option<&Json> {
        match &self.params {
            OutgoingParams::Call(call) => Some(call.arguments),
            OutgoingParams::Members(members) if self.method == "tools/call" => {
                members.get("arguments")
            }
            OutgoingParams::Members(_) => None,
        }
    }
}

/// Writes `"name":json,` as it was written, on one line: inside of strings, JSON has no line
/// breaks.
fn write_raw(text: &mut Vec<u8>, name: &str, json: &RawValue) {
    write_json(text, name);
    text.push(b':');
    let start = text.len();
    text.extend_from_slice(json.get().as_bytes());
    for byte in &mut text[start..] {
        *byte = if matches!(*byte, b'\n' | b'\r') { b' ' } else { *byte };
    }
    text.push(b',');
}

/// Writes `"name":value,`.
fn write_member<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, name: &str, value: &T) {
    write_json(text, name);
    text.push(b':');
    write_json(text, value);
    text.push(b',');
}

fn write_json<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(text, value).expect("a JSON value is written to memory");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(bytes: &[u8]) -> Json {
        serde_json::from_slice(bytes).expect("the message is JSON")
    }

    #[test]
    fn arguments_are_written_as_they_were_given() {
        let text = r#"{"n": 12345678901234567890123, "z": -0.0, "d": 0.10}"#;
        let arguments = CallArguments::parse(text).expect("JSON");
        let other = RawValue::from_string("[1.0,\n2]".to_owned()).expect("JSON");
        let more = [("x\"y".to_owned(), other)];
        let call = ToolCall { tool: "echo", arguments: &arguments, more: &more, task: None };
        let written = OutgoingRequest::call(&call).to_bytes(7, None, &[], None);
        let message = String::from_utf8(written.clone()).expect("UTF-8");
        assert!(message.contains(&format!(r#""arguments":{text}"#)), "{message}");
        assert!(message.contains(r#""x\"y":[1.0, 2],"#), "{message}");
        let params = &read(&written)["params"];
        assert_eq!(
            (&params["name"], &params["_meta"]),
            (&json!("echo"), &json!({"progressToken": 7}))
        );
    }

    #[test]
    fn meta_is_merged_and_keys_of_one_hop_are_ours() {
        let params = json!({"uri": "x:y", "_meta": {"a": 1, "b": 1, "progressToken": "theirs"}});
        let client = json!({"b": 2, "progressToken": "theirs", (meta::CLIENT_INFO): 0});
        let context = [(meta::PROTOCOL_VERSION, json!("2026-07-28"))];
        let round = InputRound { responses: Some(Map::new()), state: Some(json!("s")) };
        let request =
            OutgoingRequest::new("resources/read", params.as_object().expect("an object"));
        let written = read(&request.to_bytes(3, client.as_object(), &context, Some(&round)));
        assert_eq!(
            written["params"],
            json!({
                "uri": "x:y", "inputResponses": {}, "requestState": "s",
                "_meta": {"progressToken": 3, "a": 1, "b": 2, (meta::PROTOCOL_VERSION): "2026-07-28"},
            })
        );
        assert_eq!(request.name(), Some("x:y"));
    }
}
