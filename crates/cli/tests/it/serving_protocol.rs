//! What `toolwright serve` does besides calling tools, through the binary: pages, batches, long
//! answers, capabilities, health.

use serde_json::{Value as Json, json};

use crate::client::{HttpClient, LONG, StdioClient, configured, modern, names, request, until};
use crate::serving::{LONG_STARTUP, config_with_tools, server};

/// A configuration with this many tools in one file, which cannot be called.
fn many_tools(count: usize) -> (tempfile::TempDir, std::path::PathBuf) {
    let config = format!("[[source]]\nname = \"many\"\npath = \"many.json\"\n{LONG_STARTUP}");
    let (folder, path) = configured(&config);
    let tool = |n: usize| {
        json!({
            "name": format!("tool_{n:04}"), "description": format!("Number {n} of many tools."),
            "inputSchema": {"type": "object", "properties": {}},
        })
    };
    let tools: Vec<Json> = (0..count).map(tool).collect();
    std::fs::write(path.join("many.json"), json!(tools).to_string()).expect("a file");
    (folder, path)
}

#[test]
fn long_lists_come_in_pages_whose_cursors_survive_changes() {
    let (folder, path) = many_tools(450);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let first = client.ask("tools/list", json!({}))["result"].clone();
    assert_eq!(names(&first).len(), 200);
    // The last tool of the page goes away.
    let text = std::fs::read_to_string(path.join("many.json")).expect("ours");
    let mut tools: Vec<Json> = serde_json::from_str(&text).expect("a list");
    tools.remove(199);
    std::fs::write(path.join("many.json"), json!(tools).to_string()).expect("a file");
    client.find("`list_changed`", |it| it["method"] == "notifications/tools/list_changed");
    let cursor = json!({"cursor": first["nextCursor"]});
    let second = client.ask("tools/list", cursor)["result"].clone();
    assert_eq!(names(&second)[0], "tool_0200", "{second}");
    let third = client.ask("tools/list", json!({"cursor": second["nextCursor"]}));
    assert_eq!(names(&third["result"]).last().map(String::as_str), Some("tool_0449"));
    assert_eq!(third["result"].get("nextCursor"), None, "{third}");
    let tampered = client.ask("tools/list", json!({"cursor": "6.0"}));
    assert_eq!(tampered["error"]["code"], -32602, "{tampered}");
}

#[test]
fn batches_are_answered_where_the_revision_has_them() {
    let (folder, _) = config_with_tools(&["add"], "");
    let batch = json!([
        request(&json!("a"), "ping", &json!({})),
        {"jsonrpc": "2.0", "method": "notifications/unknown"},
        request(&json!("b"), "nonsense", &json!({})),
        request(&json!("c"), "tools/call", &json!({"name": "add", "arguments": {"a": 1, "b": 2}})),
    ]);
    let check = |answers: &Json| {
        let answers = answers.as_array().unwrap_or_else(|| panic!("no batch: {answers}"));
        let find = |id: &str| answers.iter().find(|it| it["id"] == id).expect("an answer");
        assert_eq!(answers.len(), 3, "{answers:?}");
        assert_eq!(find("a")["result"], json!({}));
        assert_eq!(find("b")["error"]["code"], -32601);
        assert_eq!(find("c")["result"]["structuredContent"], json!({"sum": 3}));
    };
    let web = HttpClient::start(folder.path(), &[], &[]);
    let old = web.session("2025-03-26");
    let reply = old.post(&batch);
    assert_eq!(reply.status, 200, "{reply:?}");
    let answers = reply.messages();
    check(&answers[0]);
    let newer = web.session("2025-06-18").post(&batch);
    assert_eq!(newer.status, 400, "{newer:?}");
    for (revision, is_answered) in
        [("2024-11-05", true), ("2025-03-26", true), ("2025-06-18", false)]
    {
        let mut client = StdioClient::bare(folder.path(), &[], &[]);
        client.shake_hands(revision);
        client.line(batch.to_string().as_bytes());
        if is_answered {
            check(&client.batch());
        } else {
            let refused = client.find("an error", |message| message.get("error").is_some());
            assert_eq!(refused["error"]["code"], -32600, "{refused}");
        }
    }
}

/// The text of the first block of a result.
fn text_of(result: &Json) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn long_answers_are_stored_and_read_in_parts() {
    let (folder, _) = config_with_tools(&[], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    assert!(!client.names().contains(&"read_result".to_owned()), "there is nothing to read yet");
    let short = client.call("up__big", json!({"bytes": 79_000}));
    assert_eq!(text_of(&short).len(), 79_000, "19,750 tokens fit");
    let long = client.call("up__big", json!({"bytes": 500_000}));
    let shown = text_of(&long);
    assert!(shown.len() < 30_000, "{}", shown.len());
    assert!(shown.contains("first 20000 of 500000 characters"), "{}", &shown[19_900..]);
    let handle = long["_meta"]["toolwright/stored-result"]["handle"].clone();
    assert!(shown.contains(handle.as_str().expect("a handle")), "{}", &shown[19_900..]);
    client.find("`list_changed`", |it| it["method"] == "notifications/tools/list_changed");
    assert!(client.names().contains(&"read_result".to_owned()));
    let read = |client: &mut StdioClient, more: Json| {
        let mut arguments = json!({"handle": handle});
        for (name, value) in more.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        client.call("read_result", arguments)
    };
    let end = read(&mut client, json!({"offset": 499_990, "limit": 100}));
    assert_eq!((text_of(&end), &end["isError"]), ("xxxxxxxxxx", &json!(false)));
    // Nothing is lost: all pages together are the answer.
    let (mut all, mut offset) = (0, 0);
    while offset < 500_000 {
        let page = read(&mut client, json!({"offset": offset, "limit": 60_000}));
        let count = text_of(&page).chars().take_while(|c| *c == 'x').count();
        assert!(count > 0, "{page}");
        (all, offset) = (all + count, offset + count);
    }
    assert_eq!(all, 500_000);
    let found = read(&mut client, json!({"pattern": "x{5}y", "regex": true}));
    assert!(text_of(&found).contains("0 matching lines"), "{found}");
    for wrong in [
        json!({"handle": "0".repeat(32)}),
        json!({"handle": handle, "pointer": "/a"}),
        json!({"handle": handle, "limit": "x"}),
        json!({}),
    ] {
        assert_eq!(client.call("read_result", wrong.clone())["isError"], true, "{wrong}");
    }
    // Another client has neither the tool nor the answer.
    let mut other = StdioClient::start(folder.path(), &[], &[]);
    let unknown =
        other.ask("tools/call", json!({"name": "read_result", "arguments": {"handle": handle}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn stored_answers_belong_to_their_session_over_http() {
    let (folder, _) = config_with_tools(&[], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    let (one, two) = (web.session("2025-11-25"), web.session("2025-11-25"));
    let call = json!({"name": "up__big", "arguments": {"bytes": 200_000}});
    let store = |session: &crate::client::Session<'_>| {
        let stored = session.ask(1, "tools/call", call.clone()).answer(&json!(1));
        stored["result"]["_meta"]["toolwright/stored-result"]["handle"].clone()
    };
    let handles = (store(&one), store(&two));
    let read = |session: &crate::client::Session<'_>, handle: &Json| {
        let params = json!({"name": "read_result", "arguments": {"handle": handle, "limit": 5}});
        session.ask(2, "tools/call", params).answer(&json!(2))["result"]["isError"].clone()
    };
    assert_eq!((read(&one, &handles.0), read(&two, &handles.1)), (json!(false), json!(false)));
    assert_eq!((read(&one, &handles.1), read(&two, &handles.0)), (json!(true), json!(true)));
}

#[test]
fn only_what_a_server_has_is_announced() {
    let (folder, _) = config_with_tools(&["add"], "");
    let mut client = StdioClient::bare(folder.path(), &[], &[]);
    let answer = client.shake_hands("2025-11-25");
    let announced = &answer["result"]["capabilities"];
    assert_eq!(announced["tools"], json!({"listChanged": true}), "{answer}");
    // Clients with a handshake often ask for every list; newer ones get an error.
    if announced.get("prompts").is_none() {
        let empty = client.ask("prompts/list", json!({}));
        assert_eq!(empty["result"], json!({"prompts": []}), "{empty}");
        let refused = client.ask("prompts/list", modern(json!({})));
        assert_eq!(refused["error"]["code"], -32601, "{refused}");
    }
    let unknown = client.ask("resources/read", json!({"uri": "nothing:here"}));
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    assert_eq!(unknown["error"]["data"]["uri"], "nothing:here", "{unknown}");
    let unknown = client.ask("resources/read", modern(json!({"uri": "nothing:here"})));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for (method, params) in [
        ("prompts/get", json!({"name": "nothing"})),
        ("prompts/get", json!({})),
        ("resources/read", json!({"uri": 7})),
        ("tasks/get", json!({"taskId": "nothing"})),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "nothing"}})),
        ("completion/complete", json!({})),
    ] {
        let refused = client.ask(method, params.clone());
        assert_eq!(refused["error"]["code"], -32602, "{method} {params}: {refused}");
    }
    for method in ["subscriptions/listen", "tasks/list", "tasks/nonsense", "nonsense"] {
        let refused = client.ask(method, json!({"notifications": {}}));
        assert_eq!(refused["error"]["code"], -32601, "{method}: {refused}");
    }
}

#[test]
fn health_and_readiness_need_no_token() {
    let more = server("stuck", "hang-start") + "start_timeout = 3000\n" + LONG_STARTUP;
    let (folder, _) = config_with_tools(&[], &more);
    let web = HttpClient::start(folder.path(), &[], &[("TOOLWRIGHT_TOKEN", "secret-token")]);
    let status = |path: &str| web.exchange("GET", path, &[("Authorization", "")], "").status;
    assert_eq!((status("/healthz"), status("/mcp")), (200, 401));
    assert_eq!(status("/readyz"), 503, "`stuck` has not been tried");
    // After its `start_timeout` it is given up.
    until("readiness", LONG, || (status("/readyz") == 200).then_some(()));
}

#[test]
fn a_request_whose_id_is_null_is_refused() {
    let (folder, _) = config_with_tools(&[], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let ping = json!({"jsonrpc": "2.0", "id": null, "method": "ping"});
    client.line(ping.to_string().as_bytes());
    let refused = client.find("an error", |it| it.get("error").is_some());
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert_eq!(refused["id"], Json::Null, "{refused}");
    let web = HttpClient::start(folder.path(), &[], &[]);
    let session = web.session("2025-11-25");
    let reply = session.post(&ping);
    assert_eq!(reply.status, 400, "{reply:?}");
    assert_eq!(reply.messages()[0]["error"]["code"], -32600, "{reply:?}");
    // Some clients send notifications that way.
    let note = json!({"jsonrpc": "2.0", "id": null, "method": "notifications/initialized"});
    assert_eq!(session.post(&note).status, 202);
}
