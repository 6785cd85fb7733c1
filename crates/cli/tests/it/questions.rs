//! Questions of MCP servers behind `toolwright serve`: which client they reach, and for how long
//! they stay open.

use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::client::{
    HttpClient, LONG, MODERN, StdioClient, configured, handshake, modern, request, until,
};
use crate::scripted_servers::{ScriptedServers, is_question, notification};
use crate::serving::{LONG_STARTUP, server};

/// A stateless call by a client that can answer everything.
fn call_modern(web: &HttpClient, name: &str, arguments: Json, more: Json) -> Json {
    let mut params = modern(json!({"name": name, "arguments": arguments}));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"roots": {}, "sampling": {}, "elicitation": {}});
    for (member, value) in more.as_object().expect("an object") {
        params[member] = value.clone();
    }
    let headers =
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", name)];
    let call = request(&json!(1), "tools/call", &params);
    web.post(&headers, &call).answer(&json!(1))["result"].clone()
}

fn keys(questions: &Json) -> Vec<&str> {
    questions.as_object().expect("questions").keys().map(String::as_str).collect()
}

/// The sentence reaches the server and the log.
#[test]
fn a_client_without_the_capability_is_not_asked() {
    let (folder, _) = configured(&(server("up", "asks-roots") + LONG_STARTUP));
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let sentence = "`sampling/createMessage` is refused: the client does not let servers use its \
                    model (`sampling`)";
    let asked = json!({"method": "sampling/createMessage", "params": {"messages": []}});
    client.call("up__ask", asked);
    until("a line in the log", LONG, || client.stderr().contains(sentence).then_some(()));
}

/// `task` is for clients that declare tasks to the server, and none can on a shared connection.
#[test]
fn sampling_with_tools_reaches_clients_that_declare_it_and_never_as_a_task() {
    let (folder, _) = configured(&(server("up", "asks-roots") + LONG_STARTUP));
    let params = json!({"messages": [], "tools": [{"name": "x"}], "task": {"ttl": 1}});
    let asked = json!({"method": "sampling/createMessage", "params": params});
    for (sampling, is_asked) in [(json!({}), false), (json!({"tools": {}}), true)] {
        let mut client = StdioClient::bare(folder.path(), &[], &[]);
        let mut params = handshake("2025-11-25");
        params["capabilities"] = json!({"sampling": sampling});
        client.ask("initialize", params);
        client.notify("notifications/initialized", json!({}));
        let call = client.send_call("up__ask", asked.clone());
        let is_question = |message: &Json| message["method"] == "sampling/createMessage";
        if is_asked {
            let question = client.find("the question", is_question);
            assert_eq!(question["params"]["tools"][0]["name"], "x", "{question}");
            assert_eq!(question["params"].get("task"), None, "{question}");
            let result = json!({"role": "assistant", "content": [], "model": "m"});
            let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
            client.line(answer.to_string().as_bytes());
        }
        let done = client.answer(&call).to_string();
        assert_eq!(done.contains("assistant"), is_asked, "{done}");
        assert_eq!(done.contains("sampling.tools"), !is_asked, "{done}");
        assert!(!client.kept.iter().any(is_question), "{:?}", client.kept);
    }
}

#[test]
fn a_question_that_no_call_waits_for_reaches_nobody() {
    let answers = tempfile::NamedTempFile::new().expect("a file");
    let environment = format!("env = {{ ANSWER_LOG = \"{}\" }}\n", answers.path().display());
    let (folder, _) = configured(&(server("up", "asks-roots") + &environment + LONG_STARTUP));
    let web = HttpClient::start(folder.path(), &[], &[]);
    // The server asks for the roots while this call is open, and answers it without waiting.
    let done = call_modern(&web, "up__echo", json!({"n": 1}), json!({}));
    assert_eq!(done["resultType"], "complete", "{done}");
    let refusal = until("a refusal", LONG, || {
        let text = std::fs::read_to_string(answers.path()).expect("a file");
        text.lines().next().map(|line| serde_json::from_str::<Json>(line).expect("JSON"))
    });
    assert_eq!(refusal["error"]["code"], -32600, "{refusal}");
    until("a line in the log", LONG, || {
        let log = web.running.stderr();
        let line = "up: a request of the server was refused: `roots/list` cannot be attributed";
        log.contains(line).then_some(())
    });
    // A call that waits for the answer has asked.
    let question = json!({"method": "roots/list", "params": {}});
    let asked = call_modern(&web, "up__ask", question.clone(), json!({}));
    assert_eq!(asked["inputRequests"]["question-1"]["method"], "roots/list", "{asked}");
    let more = json!({
        "requestState": asked["requestState"],
        "inputResponses": {"question-1": {"roots": [{"uri": "file:///here"}]}},
    });
    let done = call_modern(&web, "up__ask", question, more);
    let answers = &done["structuredContent"]["answers"];
    assert_eq!(answers[0]["roots"][0]["uri"], "file:///here", "{done}");
}

#[test]
fn questions_that_a_server_sends_one_by_one_are_gathered() {
    let (folder, _) = configured(&(server("up", "asks-roots") + LONG_STARTUP));
    let web = HttpClient::start(folder.path(), &[], &[]);
    let question =
        json!({"method": "elicitation/create", "params": {"message": "how many?"}, "times": 3});
    let ask = |more: Json| call_modern(&web, "up__ask", question.clone(), more);
    let asked = ask(json!({}));
    let expected = ["question-1", "question-2", "question-3"];
    assert_eq!(keys(&asked["inputRequests"]), expected, "{asked}");
    // One answer: the other questions are asked again, and only those.
    let answer = |asked: &Json, keys: &[&str]| {
        let responses = keys.iter().map(|key| ((*key).to_owned(), json!({"action": "accept"})));
        json!({
            "requestState": asked["requestState"],
            "inputResponses": responses.collect::<serde_json::Map<_, _>>(),
        })
    };
    let left = ask(answer(&asked, &["question-2"]));
    assert_eq!(keys(&left["inputRequests"]), ["question-1", "question-3"], "{left}");
    let done = ask(answer(&left, &["question-1", "question-3"]));
    let answers = done["structuredContent"]["answers"].as_array().expect("answers");
    assert_eq!(*answers, vec![json!({"action": "accept"}); 3], "{done}");
    // Calls that were left behind do not keep others from asking.
    for _ in 0..4 {
        assert_eq!(keys(&ask(json!({}))["inputRequests"]).len(), 3);
    }
}

/// A server that never answers `tools/call` before the client has answered a question, and asks it
/// and logs while it answers `resources/read`.
fn asks_during_another_request(timeout: &str) -> ScriptedServers {
    let read = json!({
        "before": [
            notification("notifications/message", json!({"level": "debug", "data": "asking"})),
            {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
             "params": {"message": "?", "requestedSchema": {"type": "object"}}},
        ],
        "result": {"contents": [{"uri": "x://y", "text": "read"}]},
    });
    // One of these is the id of the call; the others are of no request.
    let done = json!({"content": [{"type": "text", "text": "done"}]});
    let answers = (1..40).map(|id| json!({"jsonrpc": "2.0", "id": id, "result": done}));
    let script = json!({
        "resources/list": {"result": {"resources": [{"uri": "x://y", "name": "y"}]}},
        "resources/read": read,
        "tools/call": {},
        "answered": answers.collect::<Vec<_>>(),
    });
    ScriptedServers::new(&[("up", timeout, script)])
}

/// Waits until the server has received a call.
fn wait_for_call(servers: &ScriptedServers) {
    until("the call", LONG, || {
        let mut sent = servers.sent_to("up").into_iter();
        sent.find(|message| message["method"] == "tools/call")
    });
}

/// What the server got as the answer to its question.
fn answer_to_question(servers: &ScriptedServers) -> Json {
    until("the answer to the question", LONG, || {
        let mut sent = servers.sent_to("up").into_iter();
        sent.find(|message| message["id"] == "q" && message.get("method").is_none())
    })
}

#[test]
fn a_question_stays_open_as_long_as_a_call_of_its_client() {
    let servers = asks_during_another_request("timeout = 2000");
    let mut client = servers.serve();
    let call = client.send_call("up__t", json!({}));
    wait_for_call(&servers);
    // Newer than the call, and answered at once.
    let read = client.ask("resources/read", json!({"uri": "x://y"}));
    assert_eq!(read["result"]["contents"][0]["text"], "read", "{read}");
    let question = client.find("the question", is_question);
    // The time of the call stands still meanwhile.
    let early = client.find_within(Duration::from_secs(3), &|message: &Json| {
        message["id"] == call || message["method"] == "notifications/cancelled"
    });
    assert_eq!(early, None);
    let result = json!({"action": "accept", "content": {"a": 1}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    client.line(answer.to_string().as_bytes());
    assert_eq!(answer_to_question(&servers)["result"], result);
    let done = client.answer(&call);
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
}

#[test]
fn a_question_is_withdrawn_with_the_last_call_of_its_client() {
    let servers = asks_during_another_request("");
    let mut client = servers.serve();
    let call = client.send_call("up__t", json!({}));
    wait_for_call(&servers);
    client.ask("resources/read", json!({"uri": "x://y"}));
    let question = client.find("the question", is_question);
    client.notify("notifications/cancelled", json!({"requestId": call}));
    let withdrawn =
        client.find("the withdrawal", |message| message["method"] == "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"], "{withdrawn}");
    assert_eq!(answer_to_question(&servers)["error"]["code"], -32600);
}

#[test]
fn stateless_calls_get_questions_and_log_messages_that_newer_ones_do_not_want() {
    let servers = asks_during_another_request("");
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let able = json!({"elicitation": {}});
    let mut params = modern(json!({"name": "up__t", "arguments": {}}));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = able;
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let call = client.send("tools/call", params.clone());
    wait_for_call(&servers);
    let mut read = modern(json!({"uri": "x://y"}));
    read["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    client.ask("resources/read", read);
    let log = client.find("the log message", |it| it["method"] == "notifications/message");
    assert_eq!(log["params"]["data"], "asking", "{log}");
    let asked = client.answer(&call)["result"].clone();
    assert_eq!(keys(&asked["inputRequests"]).len(), 1, "{asked}");
    let key = keys(&asked["inputRequests"])[0].to_owned();
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({(key): {"action": "accept"}});
    let done = client.ask("tools/call", params);
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    assert_eq!(answer_to_question(&servers)["result"], json!({"action": "accept"}));
}
