//! What servers and clients say to each other arrives whole and is understood on the other side:
//! URIs, members that nothing here knows, long and odd answers.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::client::{HttpClient, LONG, StdioClient, configured, modern, request, until};
use crate::scripted_servers::{ScriptedServers, is_question, notification, question};
use crate::serving::{LONG_STARTUP, server, text_of};

/// A handshake of a server with resources that can be subscribed to.
fn greeting(revision: &str) -> Json {
    let capabilities = json!({"tools": {}, "resources": {"subscribe": true}});
    json!({"result": {
        "protocolVersion": revision, "capabilities": capabilities,
        "serverInfo": {"name": "x", "version": "1"},
    }})
}

fn text(text: &str) -> Json {
    json!({"type": "text", "text": text})
}

fn answer(result: Json) -> Json {
    json!({"tools/call": {"result": result}})
}

#[test]
fn links_that_no_other_server_has_stay_as_they_are() {
    let content = json!([
        {"type": "resource_link", "uri": "file:///tmp/new.txt", "name": "new"},
        {"type": "resource_link", "uri": "doc://shared", "name": "shared"},
    ]);
    let script = |text: &str| {
        json!({
            "resources/list": {"result": {"resources": [{"uri": "doc://shared", "name": "s"}]}},
            "resources/read": {"result": {"contents": [
                {"uri": "file:///tmp/new.txt", "text": text},
            ]}},
            "tools/call": {"result": {"content": content}},
        })
    };
    let servers = ScriptedServers::new(&[("a", "", script("of a")), ("b", "", script("of b"))]);
    let mut client = servers.serve();
    let done = client.call("b__t", json!({}));
    assert_eq!(done["content"][0]["uri"], "file:///tmp/new.txt", "{done}");
    assert_eq!(done["content"][1]["uri"], "toolwright+b:doc://shared", "{done}");
    // It is read where it came from.
    let read = client.ask("resources/read", json!({"uri": "file:///tmp/new.txt"}));
    let expected = json!([{"uri": "file:///tmp/new.txt", "text": "of b"}]);
    assert_eq!(read["result"]["contents"], expected, "{read}");
    // A URI that was renamed is the server's own again in arguments.
    let uris = json!({"uri": "toolwright+b:doc://shared", "all": ["toolwright+a:doc://shared"]});
    client.call("b__t", uris);
    let sent = servers.sent_to("b");
    let call = sent.iter().rfind(|it| it["method"] == "tools/call").expect("a call");
    let expected = json!({"uri": "doc://shared", "all": ["toolwright+a:doc://shared"]});
    assert_eq!(call["params"]["arguments"], expected, "{call}");
}

#[test]
fn references_in_data_follow_renamed_uris() {
    let script = json!({
        "resources/list": {"result": {"resources": [
            {"uri": "file:///same", "name": "s"}, {"uri": "file:///own-$N", "name": "o"},
        ]}},
        "tools/call": {"result": {
            "content": [text("file:///same")],
            "structuredContent": {
                "uri": "file:///same", "all": [{"in": "file:///same"}, "file:///x"],
            },
            "_meta": {"example.com/of": {"from": ["file:///same"]}, "n": 1},
        }},
    });
    let servers = ScriptedServers::new(&[("a", "", script.clone()), ("b", "", script)]);
    let mut client = servers.serve();
    let done = client.call("a__t", json!({}));
    let same = "toolwright+a:file:///same";
    assert_eq!(
        done["structuredContent"],
        json!({"uri": same, "all": [{"in": same}, "file:///x"]}),
        "{done}"
    );
    assert_eq!(done["_meta"], json!({"example.com/of": {"from": [same]}, "n": 1}), "{done}");
    assert_eq!(text_of(&done), "file:///same", "text stays");
}

#[test]
fn errors_of_servers_are_bounded() {
    let (long, small) = ("m".repeat(3 << 20), json!({"code": -5, "message": "no", "x": 1}));
    let script = |error: Json| {
        json!({
            "resources/list": {"result": {"resources": [{"uri": "x://$N", "name": "x"}]}},
            "tools/call": {"error": error}, "resources/read": {"error": error},
        })
    };
    let both = json!({"code": -5, "message": long, "data": {"long": long}});
    let message = json!({"code": -5, "message": long, "data": {"short": 1}});
    let servers = ScriptedServers::new(&[
        ("both", "", script(both)),
        ("message", "", script(message)),
        ("small", "", script(small.clone())),
    ]);
    let mut client = servers.serve();
    for name in ["both", "message"] {
        let params = json!({"name": format!("{name}__t"), "arguments": {}});
        let failed = client.ask("tools/call", params);
        let error = &failed["error"];
        assert!(failed.to_string().len() < 100_000, "{} bytes", failed.to_string().len());
        let message = error["message"].as_str().expect("text");
        assert!(message.starts_with("mmm") && message.contains("shortened"), "{name}");
        assert_eq!(error["code"], -5);
        let note = &error["data"]["toolwright/omitted"];
        match name {
            "both" => assert!(note.as_str().is_some_and(|it| it.contains("1048576")), "{note}"),
            _ => assert_eq!(error["data"], json!({"short": 1})),
        }
    }
    let failed = client.ask("tools/call", json!({"name": "small__t", "arguments": {}}));
    assert_eq!(failed["error"], small, "unknown members of an error stay");
}

#[test]
fn everything_that_a_model_reads_counts_as_the_answer() {
    let links: Vec<Json> = (0..3_000)
        .map(|n| json!({"type": "resource_link", "uri": format!("doc://{n}"), "name": "a link"}))
        .collect();
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let mut long = text(&"word ".repeat(40_000));
    long["annotations"] = json!({"priority": 1});
    long["_meta"] = json!({"n": 2});
    let mut last = text("the end");
    last["annotations"] = json!({"audience": ["user"]});
    let mixed = json!([text("before"), image, long, links[7], last, text("plain")]);
    let servers = ScriptedServers::new(&[
        ("links", "", answer(json!({"content": links}))),
        ("mixed", "", answer(json!({"content": mixed}))),
    ]);
    let mut client = servers.serve();
    let done = client.call("links__t", json!({}));
    assert!(done.to_string().len() < 40_000, "{} bytes", done.to_string().len());
    let handle = done["_meta"]["toolwright/stored-result"]["handle"].clone();
    let found = client.call("read_result", json!({"handle": handle, "pattern": "doc://2999"}));
    assert!(text_of(&found).contains("resource_link"), "{found}");

    let done = client.call("mixed__t", json!({}));
    let kinds: Vec<_> = done["content"].as_array().expect("blocks").iter().collect();
    let kinds: Vec<_> = kinds.iter().map(|it| it["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds, ["text", "image", "text", "resource_link", "text"], "{done}");
    assert_eq!(text_of(&done), "before");
    let (cut, last) = (&done["content"][2], &done["content"][4]);
    assert!(cut["text"].as_str().is_some_and(|it| it.contains("longer than 20000")), "{cut}");
    assert_eq!((&cut["annotations"], &cut["_meta"]), (&json!({"priority": 1}), &json!({"n": 2})));
    assert_eq!(last["annotations"], json!({"audience": ["user"]}));
    assert!(last["text"].as_str().is_some_and(|it| it.starts_with("[stored")), "{last}");
}

#[test]
fn data_that_a_client_cannot_take_is_text() {
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let servers = ScriptedServers::new(&[
        ("empty", "", answer(json!({"content": [], "structuredContent": [1, 0.10]}))),
        ("image", "", answer(json!({"content": [image], "structuredContent": "a text"}))),
        ("both", "", answer(json!({"content": [text("one")], "structuredContent": [1]}))),
    ]);
    let mut client = servers.serve();
    for (name, expected) in [("empty", "[1,0.1]"), ("image", "a text"), ("both", "one")] {
        let done = client.call(&format!("{name}__t"), json!({}));
        let blocks = done["content"].as_array().expect("blocks");
        let texts: Vec<_> = blocks.iter().filter_map(|it| it["text"].as_str()).collect();
        assert_eq!(texts, [expected], "{done}");
        assert_eq!(done.get("structuredContent"), None, "{done}");
    }
    let web = HttpClient::start(servers.path(), &[], &[]);
    let done = web.call("empty__t", json!({}));
    assert_eq!(done["result"]["structuredContent"], json!([1, 0.1]), "{done}");
    assert_eq!(done["result"]["content"], json!([]), "{done}");
}

#[test]
fn a_call_that_reaches_the_cap_names_it() {
    let up = server("up", "good") + "timeout = 4000\nmax_timeout = 4500\n" + LONG_STARTUP;
    let (folder, _) = configured(&up);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let done = client.call("up__progress", json!({"steps": 1_000, "ms": 50}));
    let said = text_of(&done);
    let expected = "did not answer within 4500 ms, the `max_timeout`, which progress does not";
    assert!(said.contains(expected), "{done}");
}

#[test]
fn answers_that_sdks_accept_are_accepted() {
    let hello = text("hello");
    let servers = ScriptedServers::new(&[
        ("text", "", json!({"tools/call": {"id": "$ID", "result": {"content": [hello]}}})),
        ("bytes", "", answer(json!({"content": [text("a$FFb")]}))),
        (
            "noise",
            "",
            json!({"tools/call": {
                "before": ["Loading the $N model"], "result": {"content": [hello]},
            }}),
        ),
        ("wrong", "timeout = 1500", json!({"tools/call": {"id": "other", "result": {}}})),
    ]);
    let mut client = servers.serve();
    for (name, expected) in [("text", "hello"), ("bytes", "a\u{fffd}b"), ("noise", "hello")] {
        let done = client.call(&format!("{name}__t"), json!({}));
        assert_eq!(text_of(&done), expected, "{name}: {done}");
    }
    client.call("noise__t", json!({}));
    let done = client.call("wrong__t", json!({}));
    assert!(text_of(&done).starts_with("TIMEOUT"), "{done}");
    let stderr = client.stderr();
    assert_eq!(stderr.matches("noise: its output has a line that is not a message").count(), 1);
    assert!(stderr.contains("`Loading the "), "{stderr}");
    let wrong = "wrong: it answered a request that was not made, with the id \"other\"";
    assert!(stderr.contains(wrong), "{stderr}");
}

#[test]
fn the_end_of_a_wrong_batch_is_answered() {
    let servers = ScriptedServers::new(&[("up", "", json!({}))]);
    let batch = json!([request(&json!(1), "ping", &json!({})), {"foo": 1}, 5]);
    let check = |answers: &Json| {
        let answers = answers.as_array().unwrap_or_else(|| panic!("no batch: {answers}"));
        assert_eq!(answers.len(), 3, "{answers:?}");
        assert!(answers.iter().any(|it| it["id"] == 1 && it["result"] == json!({})));
        let errors =
            answers.iter().filter(|it| it["error"]["code"] == -32600 && it["id"].is_null());
        assert_eq!(errors.count(), 2, "{answers:?}");
    };
    let web = HttpClient::start(servers.path(), &[], &[]);
    let reply = web.session("2025-03-26").post(&batch);
    assert_eq!(reply.status, 200, "{reply:?}");
    check(&serde_json::from_str(&reply.body).expect("JSON"));
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    client.shake_hands("2025-03-26");
    client.line(batch.to_string().as_bytes());
    check(&client.batch());
}

#[test]
fn small_members_are_not_lost() {
    let read = json!({"contents": [{"uri": "x://y", "text": "t"}], "ttlMs": 5, "cacheScope": "x"});
    let updated = json!({"uri": "x://y", "more": 1, "_meta": {"trace": "t"}});
    let late = json!({"requestId": "q1", "reason": "too late"});
    let update = notification("notifications/resources/updated", updated.clone());
    let mut script = json!({
        "initialize": greeting("2025-11-25"),
        "resources/list": {"result": {"resources": [{"uri": "x://y", "name": "y"}]}},
        // When the question is open, a second time.
        "resources/read": {
            "result": read, "before": [notification("notifications/cancelled", late)],
        },
        "resources/subscribe": {"result": {"more": [1]}, "after": [update]},
        "resources/unsubscribe": {"result": {"less": 1}},
        "tools/call": {"before": [question("elicitation/create")]},
    });
    script["tools/call"]["before"][0]["id"] = json!("q1");
    let servers = ScriptedServers::new(&[("up", "", script)]);
    let mut client = servers.serve();
    let found = client.ask("resources/read", json!({"uri": "x://y"}));
    assert_eq!(found["result"], read);
    let subscribed = client.ask("resources/subscribe", json!({"uri": "x://y"}));
    assert_eq!(subscribed["result"], json!({"more": [1]}));
    let update = client.find("an update", |it| it["method"] == "notifications/resources/updated");
    assert_eq!(update["params"], updated, "{update}");
    let unsubscribed = client.ask("resources/unsubscribe", json!({"uri": "x://y"}));
    assert_eq!(unsubscribed["result"], json!({"less": 1}));
    // Reasons, in both directions.
    let call = client.send_call("up__t", json!({}));
    client.find("the question", is_question);
    client.ask("resources/read", json!({"uri": "x://y"}));
    let is_cancelled = |it: &Json| it["method"] == "notifications/cancelled";
    let withdrawn = client.find("its withdrawal", is_cancelled);
    assert_eq!(withdrawn["params"]["reason"], "too late", "{withdrawn}");
    client.notify("notifications/cancelled", json!({"requestId": call, "reason": "enough"}));
    until("the cancellation", LONG, || {
        let sent = servers.sent_to("up");
        let cancelled = sent.iter().find(|it| is_cancelled(it))?;
        assert_eq!(cancelled["params"]["reason"], "enough", "{cancelled}");
        Some(())
    });
}

#[test]
fn messages_about_depth_and_ranges_are_plain() {
    // As text: it cannot be parsed.
    let deep = format!("{}1{}", "[".repeat(130), "]".repeat(130));
    let deep = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{{"structuredContent":{deep}}}}}"#);
    let servers = ScriptedServers::new(&[
        ("long", "", answer(json!({"content": [text(&"word ".repeat(40_000))]}))),
        ("deep", "", json!({"tools/call": {"before": [deep]}})),
    ]);
    let mut client = servers.serve();
    let done = client.call("deep__t", json!({}));
    assert!(text_of(&done).contains("is nested too deeply"), "{done}");
    let done = client.call("long__t", json!({}));
    let handle = &done["_meta"]["toolwright/stored-result"]["handle"];
    for (wrong, expected) in [
        (json!({"handle": handle, "offset": -1}), "`offset` is -1, expected 0 or more"),
        (json!({"handle": handle, "limit": 0}), "`limit` is 0, expected 1 or more"),
        (json!({"handle": handle, "limit": "x"}), "`limit` is \"x\", expected 1 or more"),
    ] {
        let refused = client.call("read_result", wrong);
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(text_of(&refused).ends_with(expected), "{refused}");
    }
}

#[test]
fn the_error_that_asks_to_visit_a_url_becomes_a_question() {
    let elicitation = json!({
        "mode": "url", "url": "https://example.com/sign-in", "elicitationId": "e1", "message": "go",
    });
    let error =
        json!({"code": -32042, "message": "sign in", "data": {"elicitations": [elicitation]}});
    let script = json!({
        "initialize": greeting("2025-11-25"),
        "tools/call": {"error": error, "after": [
            notification("notifications/elicitation/complete", json!({"elicitationId": "e1"})),
        ]},
    });
    let servers = ScriptedServers::new(&[("up", "", script)]);
    // A client of the same revision knows the error.
    let mut client = servers.serve();
    let params = json!({"name": "up__t", "arguments": {}});
    let failed = client.ask("tools/call", params.clone());
    assert_eq!(failed["error"], error, "{failed}");

    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let mut ask = |able: Json, more: Json| {
        let mut params = modern(params.clone());
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = able;
        for (name, value) in more.as_object().expect("an object") {
            params[name] = value.clone();
        }
        client.ask("tools/call", params)
    };
    let refused = ask(json!({"elicitation": {"form": {}}}), json!({}));
    assert_eq!(refused["error"]["code"], -32042, "{refused}");
    let able = json!({"elicitation": {"form": {}, "url": {}}});
    for (action, calls) in [("decline", 1), ("accept", 2)] {
        let before = servers.sent_to("up").len();
        let asked = ask(able.clone(), json!({}));
        let result = &asked["result"];
        assert_eq!(result["resultType"], "input_required", "{asked}");
        assert_eq!(result["inputRequests"]["url-1"]["params"], elicitation, "{asked}");
        let answers = json!({"url-1": {"action": action}});
        let state = &result["requestState"];
        // The server refuses for ever, so the error comes in the end.
        let done = ask(able.clone(), json!({"inputResponses": answers, "requestState": state}));
        assert_eq!(done["error"]["code"], -32042, "{done}");
        let message = done["error"]["message"].as_str().expect("a text");
        let expected = "the person agreed to open the web page, but the server still waits";
        assert_eq!(message.starts_with(expected), action == "accept", "{done}");
        assert!(message.ends_with("sign in"), "{done}");
        let sent = servers.sent_to("up");
        let sent = sent.iter().skip(before).filter(|it| it["method"] == "tools/call");
        assert_eq!(sent.count(), calls, "{action}");
    }
}

/// Servers need not report the end of a visit, so the call is repeated without a report, long
/// before the minute that the person has.
#[test]
fn a_call_goes_on_after_a_visit_that_the_server_does_not_report() {
    let elicitation = json!({
        "mode": "url", "url": "https://example.com/sign-in", "elicitationId": "e1", "message": "go",
    });
    let error =
        json!({"code": -32042, "message": "sign in", "data": {"elicitations": [elicitation]}});
    let result = json!({"content": [text("called")]});
    let script = json!({
        "initialize": greeting("2025-11-25"),
        "tools/call": {"error": error, "then": {"error": error, "then": {"result": result}}},
    });
    let servers = ScriptedServers::new(&[("up", "", script)]);
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let mut params = modern(json!({"name": "up__t", "arguments": {}}));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {"form": {}, "url": {}}});
    let asked = client.ask("tools/call", params.clone());
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({"url-1": {"action": "accept"}});
    let began = Instant::now();
    let done = client.ask("tools/call", params);
    assert_eq!(done["result"]["content"][0]["text"], "called", "{done}");
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
}

#[test]
fn uris_in_structured_content_follow_unless_the_schema_forbids_it() {
    let template = json!([{"uriTemplate": "n://{id}", "name": "n"}]);
    let structured = json!({
        "expanded": "n://7", "of_other": "m://1", "named": "k://1", "text": "see n://7",
        "web": "https://example.com/", "other": "n:7",
    });
    let result = json!({
        "content": [
            {"type": "resource_link", "uri": "n://7", "name": "n"},
            {"type": "resource_link", "uri": "k://1", "name": "k"},
        ],
        "structuredContent": structured, "_meta": {"x": {"y": "n://7"}},
    });
    let tool = |schema: Json| {
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema});
        json!({"result": {"tools": [tool]}})
    };
    let script = |schema: Json| {
        json!({
            "resources/templates/list": {"result": {"resourceTemplates": template}},
            "tools/list": tool(schema),
            "tools/call": {"result": result},
        })
    };
    let strict = json!({"type": "object", "properties": {"expanded": {"pattern": "^n://"}}});
    let mut first = script(json!({"type": "object"}));
    first["resources/list"] = json!({"result": {"resources": [{"uri": "m://1", "name": "m"}]}});
    let servers = ScriptedServers::new(&[
        ("first", "", first),
        ("free", "", script(json!({"type": "object"}))),
        ("strict", "", script(strict)),
    ]);
    let mut client = servers.serve();
    // It lists `m://1`, and is the first to name `k://1`.
    let done = client.call("first__t", json!({}));
    let mut expected = structured.clone();
    expected["expanded"] = json!("toolwright+first:n://7");
    assert_eq!(done["structuredContent"], expected, "{done}");
    let done = client.call("free__t", json!({}));
    expected["expanded"] = json!("toolwright+free:n://7");
    expected["of_other"] = json!("toolwright+free:m://1");
    expected["named"] = json!("toolwright+free:k://1");
    assert_eq!(done["structuredContent"], expected, "{done}");
    assert_eq!(done["_meta"]["x"]["y"], "toolwright+free:n://7", "{done}");
    // Links follow all the same.
    let done = client.call("strict__t", json!({}));
    assert_eq!(done["structuredContent"], structured, "{done}");
    assert_eq!(done["content"][0]["uri"], "toolwright+strict:n://7", "{done}");
}
