//! Tools that an `[[agent]]` may not use do not exist for it: no answer differs from that of a
//! server that does not have them.

use serde_json::{Value as Json, json};

use crate::client::{HttpClient, request};
use crate::granting::{Office, new_agent};
use crate::orchestrations::meta;

/// What an agent that may use `up` and `all` hears about the tools of `press`, which the server has
/// or has not.
fn answers(has_press: bool) -> Vec<Json> {
    let office = Office::new("[[source]]\nname = \"all\"\npath = \"all.yaml\"\n");
    // Headers repeat such an argument, so that a missing one is an error of the request.
    let press = office.path().join("press.json");
    let text = std::fs::read_to_string(&press).expect("a file");
    let text = text.replace(
        r#"{"text": {"type": "string"}}"#,
        r#"{"text": {"type": "string", "x-mcp-header": "Text"}}"#,
    );
    assert!(text.contains("x-mcp-header"), "{text}");
    std::fs::write(&press, text).expect("a file");
    let code = "async () => Promise.all(['press:count', 'press:nothing', 'count'].map(
  (id) => tools.call(id).catch((error) => [error.code, error.message, error.suggestion])))";
    std::fs::write(office.path().join("all.yaml"), meta("all", "[up]", code)).expect("a file");
    let token = new_agent(&office, "narrow", "tools = [\"up:*\", \"all:*\"]\n");
    if !has_press {
        let path = office.path().join("toolwright.toml");
        let text = std::fs::read_to_string(&path).expect("a file");
        let source = "[[source]]\nname = \"press\"\npath = \"press.json\"\n";
        assert!(text.contains(source), "{text}");
        std::fs::write(&path, text.replace(source, "")).expect("a file");
    }
    let mut web = HttpClient::start(office.path(), &[], &office.variables());
    web.token = Some(token);
    let list = web.ask_modern(1, "tools/list", json!({})).answer(&json!(1))["result"].clone();
    assert!(list.to_string().contains("up__echo"), "{list}");
    let mut answers = vec![web.call("all__all", json!({}))["result"]["structuredContent"].clone()];
    assert!(answers[0].is_array(), "{answers:?}");
    let names = ["press__count", "press:count", "count", "press:count:9.0.0", "press__nothing"];
    for name in names.into_iter().chain(["press__print"]) {
        let params = json!({"name": name, "arguments": {"text": "x"}});
        let reply = web.ask_modern(2, "tools/call", params.clone());
        answers.push(json!([reply.status, reply.answer(&json!(2))]));
        let session = web.session("2025-11-25");
        let mut as_task = params;
        as_task["task"] = json!({"ttl": 1000});
        let reply = session.post(&request(&json!(3), "tools/call", &as_task));
        answers.push(json!([reply.status, reply.answer(&json!(3))]));
    }
    answers
}

#[test]
fn a_hidden_tool_cannot_be_told_from_an_unknown_one() {
    let (hidden, unknown) = (answers(true), answers(false));
    for (hidden, unknown) in hidden.iter().zip(&unknown) {
        assert_eq!(hidden, unknown);
    }
    assert_eq!(hidden.len(), unknown.len());
}
