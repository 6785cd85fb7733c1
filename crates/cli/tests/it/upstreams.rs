//! MCP servers behind `toolwright serve`, through the binary: their start and end, and what clients
//! get of their answers. Hostile ones are in `hostile_servers`, questions in `questions`,
//! subscriptions in `server_sessions`.

use serde_json::{Value as Json, json};

use crate::client::{
    EXIT, HttpClient, LONG, MODERN, StdioClient, configured, descendants, faulty_server, gone,
    handshake, modern, pid_in, request, until,
};
use crate::scripted_servers::{ScriptedServers, is_question, notification};
use crate::serving::{LONG_STARTUP, server};

#[test]
fn a_server_that_is_useless_after_initialize_is_started_again() {
    for mode in ["modern-dies", "modern-stuck"] {
        let (folder, _) = configured(&(server("up", mode) + LONG_STARTUP));
        let mut client = StdioClient::start(folder.path(), &[], &[]);
        let done = client.call("up__echo", json!({"n": 1}));
        assert_eq!(done["structuredContent"], json!({"echo": {"n": 1}}), "{mode}: {done}");
    }
}

#[test]
fn embedded_resources_that_are_not_listed_lead_to_their_server() {
    let server = |text: &str| {
        json!({
            "resources/list": {"result": {"resources": [{"uri": "doc://shared", "name": "s"}]}},
            "resources/read": {"result": {"contents": [{"uri": "doc://new", "text": text}]}},
            "tools/call": {"result": {"content": [
                {"type": "resource", "resource": {"uri": "doc://new", "text": "new"}},
                {"type": "resource_link", "uri": "doc://new", "name": "new"},
            ]}},
        })
    };
    let servers = ScriptedServers::new(&[("a", "", server("of a")), ("b", "", server("of b"))]);
    let mut client = servers.serve();
    // The first to name it keeps it.
    for (name, exposed) in [("a", "doc://new"), ("b", "toolwright+b:doc://new")] {
        let done = client.call(&format!("{name}__t"), json!({}));
        assert_eq!(done["content"][0]["resource"]["uri"], exposed, "{done}");
        assert_eq!(done["content"][1]["uri"], exposed, "{done}");
        let read = client.ask("resources/read", json!({"uri": exposed}));
        let expected = json!([{"uri": exposed, "text": format!("of {name}")}]);
        assert_eq!(read["result"]["contents"], expected, "{read}");
    }
}

#[test]
fn servers_are_asked_for_the_most_verbose_level_that_a_client_wants() {
    let servers = ScriptedServers::new(&[("up", "", json!({}))]);
    let web = HttpClient::start(servers.path(), &[], &[]);
    let reaches = |level: &str| {
        until(&format!("the level {level}"), LONG, || {
            let mut sent = servers.sent_to("up").into_iter();
            let last = sent.rfind(|message| message["method"] == "logging/setLevel");
            (last?["params"]["level"] == level).then_some(())
        });
    };
    let set = |session: &crate::client::Session<'_>, level: &str| {
        let answer = session.ask(1, "logging/setLevel", json!({"level": level}));
        assert_eq!(answer.answer(&json!(1))["result"], json!({}));
    };
    let one = web.session("2025-06-18");
    set(&one, "error");
    reaches("error");
    // A client that sets no level gets information.
    let two = web.session("2025-06-18");
    reaches("info");
    // From the least to the most severe, as MCP names them; "error" of the first one holds.
    for level in ["debug", "info", "notice", "warning", "error"] {
        set(&two, level);
        reaches(level);
    }
    for level in ["critical", "alert", "emergency"] {
        set(&two, level);
    }
    set(&two, "debug");
    reaches("debug");
    assert_eq!(web.exchange("DELETE", "/mcp", &two.headers(), "").status, 204);
    reaches("error");
    let level = json!({"io.modelcontextprotocol/logLevel": "warning"});
    let call = json!({"name": "up__t", "arguments": {}, "_meta": level});
    assert_eq!(web.ask_modern(1, "tools/call", call).status, 200);
    reaches("warning");
}

#[test]
fn kill_9_ends_servers_that_ignore_the_end_of_their_input() {
    let (folder, path) = configured("");
    let file = path.join("pid");
    let forks = format!("env = {{ PID_FILE = \"{}\" }}\n", file.display());
    let text = server("up", "ignore-term") + &server("forks", "forks") + &forks + LONG_STARTUP;
    std::fs::write(path.join("toolwright.toml"), text).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let pid = client.call("up__pid", json!({}))["structuredContent"]["pid"].as_u64();
    let pid = u32::try_from(pid.expect("a number")).expect("a pid");
    client.call("forks__pid", json!({}));
    let fork = pid_in(&file);
    let mut all = descendants(client.pid());
    assert!(all.contains(&pid), "{pid} is not in {all:?}");
    all.push(fork);
    client.child.kill().expect("SIGKILL");
    for pid in all {
        gone("a process of a killed gateway", pid, EXIT);
    }
}

/// 16 MiB of media is the limit, decoded. In base64 a third more, and just below the limit of a
/// message, so it passes both.
#[test]
fn media_of_sixteen_mebibytes_pass_whole() {
    const MOST: usize = 16 << 20;
    // Without padding, four characters are three bytes.
    let media = |bytes: usize| "A".repeat(bytes.div_ceil(3) * 4);
    let image =
        |bytes: usize| json!({"type": "image", "mimeType": "image/png", "data": media(bytes)});
    let answer = |bytes: usize| json!({"tools/call": {"result": {"content": [image(bytes)]}}});
    let blob = json!({"uri": "x://a", "mimeType": "image/png", "blob": media(MOST - 1)});
    let mut whole = answer(MOST - 1);
    whole["resources/list"] = json!({"result": {"resources": [{"uri": "x://a", "name": "a"}]}});
    whole["resources/read"] = json!({"result": {"contents": [blob.clone()]}});
    let servers = [("whole", "", whole), ("more", "", answer(MOST + 3))];
    let scripted = ScriptedServers::new(&servers);
    // Not `assert_eq!`, which would print them.
    let same = |content: &Json, expected: &Json| content == expected;
    let mut client = scripted.serve();
    let web = HttpClient::start(scripted.path(), &[], &[]);
    let call = |name: &str| web.call(name, json!({}))["result"].clone();
    for done in [client.call("whole__t", json!({})), call("whole__t")] {
        assert!(same(&done["content"][0], &image(MOST - 1)), "the image is whole");
    }
    let read = client.ask("resources/read", json!({"uri": "x://a"}));
    assert!(same(&read["result"]["contents"][0], &blob), "the blob is whole");
    for refused in [client.call("more__t", json!({})), call("more__t")] {
        let error = &refused["_meta"]["toolwright/error"];
        assert_eq!(
            (&refused["isError"], &error["code"]),
            (&json!(true), &json!("OUTPUT_TOO_LARGE"))
        );
    }
    assert_eq!(client.call("good__echo", json!({}))["isError"], json!(false));
}

/// Two servers with the same URI: whatever refers to it leads to the right one.
#[test]
fn references_in_metadata_follow_renamed_resources() {
    let script = |text: &str| {
        let meta = json!({"ui": {"resourceUri": "ui://app"}, "ui/resourceUri": "ui://app"});
        let read = json!({"contents": [{"uri": "ui://app", "text": text}]});
        let update = json!({
            "jsonrpc": "2.0", "method": "notifications/resources/updated",
            "params": {"uri": "ui://app/part"},
        });
        json!({
            "tools/list": {"result": {"tools": [
                {"name": "t", "inputSchema": {"type": "object"}, "_meta": meta, "later": {"n": 1}},
            ]}},
            "tools/call": {"before": [update], "result": {"content": [], "_meta": meta}},
            "resources/list": {"result": {"resources": [{"uri": "ui://app", "name": "app"}]}},
            "resources/read": {"result": read},
            "resources/subscribe": {"result": {}},
            "prompts/list": {"result": {"prompts": [{"name": "p", "_meta": meta}]}},
            "initialize": {"result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "resources": {"subscribe": true}, "prompts": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }},
        })
    };
    let scripted = ScriptedServers::new(&[("one", "", script("1")), ("two", "", script("2"))]);
    let mut client = scripted.serve();
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let prompts = client.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    let find = |list: &Json, name: &str| {
        let mut items = list.as_array().expect("a list").iter();
        items.find(|item| item["name"] == name).unwrap_or_else(|| panic!("{list}")).clone()
    };
    for (name, text) in [("one", "1"), ("two", "2")] {
        let tool = find(&tools, &format!("{name}__t"));
        assert_eq!(tool["later"], json!({"n": 1}), "members that MCP does not have pass: {tool}");
        let uri = tool["_meta"]["ui"]["resourceUri"].as_str().expect("a URI").to_owned();
        let read = client.ask("resources/read", json!({"uri": uri}));
        assert_eq!(read["result"]["contents"][0]["text"], text, "{read}");
        let subscribed = client.ask("resources/subscribe", json!({"uri": uri}));
        assert!(subscribed["error"].is_null(), "{subscribed}");
        let called = client.call(&format!("{name}__t"), json!({}));
        for meta in [&called["_meta"], &find(&prompts, &format!("{name}__p"))["_meta"]] {
            assert_eq!(meta["ui"]["resourceUri"], uri, "{name}: {meta}");
            assert_eq!(meta["ui/resourceUri"], uri, "{name}: {meta}");
        }
        // A part of the resource that the client has subscribed to.
        let updated =
            client.find("an update", |it| it["method"] == "notifications/resources/updated");
        assert_eq!(updated["params"]["uri"], format!("{uri}/part"), "{updated}");
    }
}

/// Everything that a model reads counts, and nothing is out of reach of `read_result`.
#[test]
fn long_answers_of_every_form_are_stored() {
    let long = "word ".repeat(40_000);
    let rows: Vec<Json> = (0..20_000).map(|n| json!({"row": n})).collect();
    let answer = |result: Json| json!({"tools/call": {"result": result}});
    let resource = json!({"uri": "x://a", "mimeType": "text/plain", "text": long});
    let blocks = json!([
        {"type": "text", "text": "Rows:"}, {"type": "text", "text": json!({"rows": rows}).to_string()},
    ]);
    let scripted = ScriptedServers::new(&[
        ("embedded", "", answer(json!({"content": [{"type": "resource", "resource": resource}]}))),
        (
            "value",
            "",
            answer(json!({
                "content": [{"type": "text", "text": "see the rows"}],
                "structuredContent": {"rows": rows},
            })),
        ),
        ("blocks", "", answer(json!({"content": blocks}))),
    ]);
    let mut client = scripted.serve();
    for (name, pointer, expected) in [
        ("embedded", None, "word word"),
        ("value", Some("/rows/19999/row"), "19999"),
        ("blocks", Some("/rows/19999/row"), "19999"),
    ] {
        let done = client.call(&format!("{name}__t"), json!({}));
        assert!(done.to_string().len() < 40_000, "{name}: {} bytes", done.to_string().len());
        let handle = &done["_meta"]["toolwright/stored-result"]["handle"];
        let mut arguments = json!({"handle": handle});
        if let Some(pointer) = pointer {
            arguments["pointer"] = pointer.into();
        }
        let read = client.call("read_result", arguments);
        let text = read["content"][0]["text"].as_str().expect("text");
        assert!(text.starts_with(expected), "{name}: {}", &text[..text.len().min(300)]);
        if name == "embedded" {
            let uri = done["content"][0]["resource"]["uri"].as_str().expect("a URI");
            assert!(uri.ends_with("x://a"), "its address stays: {uri}");
        }
    }
}

/// Once there is a stored answer, a tool of the same name can still be called.
#[test]
fn a_tool_named_read_result_stays_reachable() {
    let script = json!({
        "tools/list": {"result": {"tools": [
            {"name": "read_result", "inputSchema": {"type": "object"}},
        ]}},
        "tools/call": {"result": {"content": [{"type": "text", "text": "word ".repeat(40_000)}]}},
    });
    let scripted = ScriptedServers::new(&[("up", "", script)]);
    let file = scripted.file("up.json");
    let file = file.to_str().expect("UTF-8");
    let mut client =
        StdioClient::start(scripted.path(), &["--", &faulty_server(), "scripted", file], &[]);
    let done = client.call("read_result", json!({}));
    let handle = &done["_meta"]["toolwright/stored-result"]["handle"];
    assert!(handle.is_string(), "{}", done.to_string().len());
    assert_eq!(client.names(), ["read_result", "toolwright_read_result"]);
    let again = client.call("read_result", json!({}));
    assert!(again["_meta"]["toolwright/stored-result"].is_object(), "the server's own tool");
    let read = client.call("toolwright_read_result", json!({"handle": handle, "limit": 4}));
    assert!(read["content"][0]["text"].as_str().expect("text").starts_with("word"), "{read}");
}

#[test]
fn secrets_are_replaced_wherever_a_server_repeats_them() {
    const SECRET: &str = "s3cr3t\"v\u{e5}lue/1234";
    const GIVEN: &str = "of-the-command-line";
    let both = format!("<{SECRET}> <{GIVEN}>");
    let ascii = r#"{"jsonrpc":"2.0","method":"notifications/odd","params":{"a":"<s3cr3t\"v\u00e5lue\/1234>"}}"#;
    let progress = |token: u64| {
        let params = json!({"progressToken": token, "progress": 1, "message": both});
        notification("notifications/progress", params)
    };
    let mut before: Vec<Json> = (1..40).map(progress).collect();
    before.push(notification("notifications/message", json!({"level": "error", "data": both})));
    before.push(notification("notifications/other", json!({"a": [both]})));
    before.push(ascii.into());
    before.push(json!({
        "jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
        "params": {"message": both, "requestedSchema": {"type": "object"}},
    }));
    let result = json!({
        "content": [{"type": "text", "text": both}], "structuredContent": {"k": both},
        "_meta": {"k": both}, "more": both, "number": 12345678,
    });
    // One of these is the id of the call; the others are of no request.
    let answers = (1..40).map(|id| json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "logging": {}});
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "serverInfo": {"name": "x", "version": "1"}, "instructions": both,
        }},
        "tools/list": {"result": {"tools": [
            {"name": "t", "description": both, "inputSchema": {"type": "object"}},
        ]}},
        "tools/call": {"before": before},
        "answered": answers.collect::<Vec<_>>(),
        "resources/list": {"result": {"resources": [{"uri": "x://y", "name": both}]}},
        "resources/read": {"result": {"contents": [{"uri": "x://y", "text": both}]}},
        "prompts/list": {"result": {"prompts": [{"name": "p", "description": both}]}},
        "prompts/get": {"error": {"code": -32099, "message": both, "data": {"k": both}}},
    });
    let env = format!("env = {{ API_KEY = '{SECRET}', COUNT = '12345678' }}\n");
    let servers = ScriptedServers::new(&[("up", &env, script)]);
    let cache = servers.file("cache");
    let variables = [("XDG_CACHE_HOME", cache.to_str().expect("UTF-8"))];
    let given = format!("GIVEN={GIVEN}");
    let mut client = StdioClient::bare(servers.path(), &["--env", &given], &variables);
    let mut params = crate::client::handshake("2025-11-25");
    params["capabilities"] = json!({"elicitation": {}});
    let mut seen = vec![client.ask("initialize", params)];
    client.notify("notifications/initialized", json!({}));
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({"uri": "x://y"})),
        ("prompts/get", json!({"name": "up__p"})),
    ] {
        seen.push(client.ask(method, params));
    }
    let call = json!({"name": "up__t", "arguments": {}, "_meta": {"progressToken": 7}});
    let call = client.send("tools/call", call);
    let question = client.find("the question", is_question);
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "cancel"}});
    client.line(answer.to_string().as_bytes());
    seen.push(question);
    let done = client.answer(&call);
    assert_eq!(done["result"]["structuredContent"], json!({"k": "<***> <***>"}), "{done}");
    assert_eq!(done["result"]["number"], 12345678, "{done}");
    seen.push(done);
    for method in ["notifications/progress", "notifications/message", "notifications/other"] {
        seen.push(client.find(method, |message| message["method"] == method));
    }
    let odd = client.find("the odd one", |message| message["method"] == "notifications/odd");
    assert_eq!(odd["params"]["a"], "<***>", "{odd}");
    let kept = until("the answers are kept", LONG, || {
        let files = std::fs::read_dir(cache.join("toolwright/servers")).ok()?.flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.find(|text| text.contains("x://y"))
    });
    seen.push(Json::String(kept));
    seen.extend(client.kept.iter().cloned());
    for message in &seen {
        let text = message.to_string();
        assert!(!text.contains("s3cr3t") && !text.contains(GIVEN), "{text}");
    }
    // All but the last were made to have both.
    for message in &seen[..11] {
        assert!(message.to_string().contains("<***> <***>"), "{message}");
    }
    assert!(!client.stderr().contains("s3cr3t"), "{}", client.stderr());
}

#[test]
fn rules_for_headers_of_arguments_hold_on_every_transport_and_for_ids() {
    let tool = |name: &str, properties: Json| json!({"name": name, "inputSchema": {"type": "object", "properties": properties}});
    let marked = |header: &str| json!({"type": "string", "x-mcp-header": header});
    let tools = [
        tool("good", json!({"r": marked("Region")})),
        tool("space", json!({"r": marked("Bad Header")})),
        tool("twice", json!({"r": marked("A"), "s": marked("a")})),
    ];
    let script = json!({"tools/list": {"result": {"tools": tools}}});
    let servers = ScriptedServers::new(&[("up", "", script)]);
    let web = HttpClient::start(servers.path(), &[], &[]);
    let list = web.ask_modern(1, "tools/list", json!({})).body;
    assert!(list.contains("up__good"), "{list}");
    assert!(!list.contains("up__space") && !list.contains("up__twice"), "{list}");
    let log = web.running.stderr();
    assert!(log.contains("up: the tool `space` is left out: `x-mcp-header` of `r`"), "{log}");
    for name in ["up__good", "up:good"] {
        let call = |headers: &[(&str, &str)]| {
            let params = modern(json!({"name": name, "arguments": {"r": "eu"}}));
            let own = [
                ("MCP-Protocol-Version", MODERN),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", name),
            ];
            let call = request(&json!(1), "tools/call", &params);
            web.post(&[&own, headers].concat(), &call).answer(&json!(1))
        };
        assert_eq!(call(&[])["error"]["code"], -32020, "{name}");
        let done = call(&[("Mcp-Param-Region", "eu")]);
        assert_eq!(done["result"]["content"][0]["text"], "called", "{name}: {done}");
    }
}

#[test]
fn what_the_protocol_does_not_know_passes_in_both_directions() {
    let capabilities = |own: &str| {
        json!({"initialize": {"result": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {
                "tools": {},
                "experimental": {"alike": {"a": 1}, (own): {}},
                "extensions": {
                    "org.example/x": {"v": [1]}, "io.modelcontextprotocol/ui": {"types": ["a/b"]},
                },
            },
        }}})
    };
    // The first request of a client after the handshake of `one` is its call.
    let mut one = capabilities("one");
    let report = |id: u64| {
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": id, "progress": 1, "total": 2.5, "message": "m".repeat(1500),
            "_meta": {"org.example/p": true}, "more": [null],
        }})
    };
    one["tools/call"] = json!({
        "before": (1..40).map(report).collect::<Vec<_>>(),
        "result": {"content": [{"type": "text", "text": "called"}]},
    });
    let servers = ScriptedServers::new(&[("one", "", one), ("two", "", capabilities("two"))]);
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let greeting = client.shake_hands("2025-11-25");
    let announced = &greeting["result"]["capabilities"];
    // Methods that MCP does not have are not passed on, and only this extension has none.
    let expected = json!({"io.modelcontextprotocol/ui": {"types": ["a/b"]}});
    assert_eq!(announced["extensions"], expected, "{greeting}");
    assert_eq!(announced.get("experimental"), None, "{greeting}");
    let refused = client.ask("org.example/x/do", json!({}));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    let params = json!({
        "name": "one__t", "arguments": {"n": 1}, "org.example/new": {"x": [1.0]},
        "_meta": {"progressToken": "p"},
    });
    let done = client.ask("tools/call", params);
    assert_eq!(done["result"]["content"][0]["text"], "called", "{done}");
    let call = servers.sent_to("one").into_iter().find(|it| it["method"] == "tools/call");
    let call = call.expect("the call");
    assert_eq!(call["params"]["org.example/new"], json!({"x": [1.0]}), "{call}");
    let mut reports = client.kept.iter().filter(|it| it["method"] == "notifications/progress");
    let report = reports.next().expect("a report");
    assert_eq!(
        report["params"].to_string(),
        json!({
            "progress": 1, "total": 2.5, "message": "m".repeat(1500),
            "_meta": {"org.example/p": true}, "more": [null], "progressToken": "p",
        })
        .to_string()
    );
}

#[test]
fn changed_roots_are_reported_to_servers_that_asked_for_them() {
    let question = json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"});
    let asking = |protocol: &str| {
        json!({
            "initialize": {"result": {
                "protocolVersion": protocol, "capabilities": {"tools": {}},
                "serverInfo": {"name": "x", "version": "1"},
            }},
            "tools/call": {
                "before": [question], "result": {"content": [{"type": "text", "text": "called"}]},
            },
        })
    };
    let servers = ScriptedServers::new(&[
        ("asks", "", asking("2025-06-18")),
        ("silent", "", json!({})),
        ("own", "isolation = \"session\"", json!({})),
    ]);
    let mut client = servers.serve();
    for name in ["asks__t", "silent__t", "own__t"] {
        client.call(name, json!({}));
    }
    client.notify("notifications/roots/list_changed", json!({}));
    let changed = |name: &str| {
        let sent = servers.sent_to(name);
        sent.iter().filter(|it| it["method"] == "notifications/roots/list_changed").count()
    };
    until("the notification", LONG, || (changed("asks") == 1 && changed("own") == 1).then_some(()));
    // Sent after it on the same way.
    client.call("silent__t", json!({}));
    assert_eq!(changed("silent"), 0);
    let declared = servers.sent_to("asks")[0]["params"]["capabilities"]["roots"].clone();
    assert_eq!(declared, json!({"listChanged": true}));
}

#[test]
fn a_server_that_asks_for_changed_roots_gets_those_of_the_client_that_changed_them() {
    let question = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"});
    let asking = json!({
        "tools/call": {
            "before": [question("first")],
            "result": {"content": [{"type": "text", "text": "called"}]},
        },
        "notifications/roots/list_changed": {"before": [question("changed"), question("more")]},
    });
    let own = "isolation = \"session\"";
    let servers = ScriptedServers::new(&[("shared", "", asking.clone()), ("own", own, asking)]);
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let mut params = handshake("2025-06-18");
    params["capabilities"] = json!({"roots": {"listChanged": true}});
    client.ask("initialize", params);
    client.notify("notifications/initialized", json!({}));
    for name in ["shared__t", "own__t"] {
        client.call(name, json!({}));
    }
    client.kept.clear();
    client.notify("notifications/roots/list_changed", json!({}));
    for _ in ["shared", "own"] {
        let asked = client.find("the question", |it| it["method"] == "roots/list");
        let roots = json!({"roots": [{"uri": "file:///new"}]});
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots});
        client.line(answer.to_string().as_bytes());
    }
    for name in ["shared", "own"] {
        let answer_to = |id: &str| {
            until("an answer", LONG, || servers.sent_to(name).into_iter().find(|it| it["id"] == id))
        };
        let given = answer_to("changed");
        assert_eq!(given["result"]["roots"][0]["uri"], "file:///new", "{name}: {given}");
        // One change is one question.
        let refused = answer_to("more");
        assert_eq!(refused["error"]["code"], -32600, "{name}: {refused}");
    }
}

/// A server that ends again and again, and answers in between.
#[test]
fn calls_wait_for_the_restart_of_a_server_that_works() {
    let (folder, _) = configured(&(server("up", "good") + LONG_STARTUP));
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let mut pids = std::collections::HashSet::new();
    for _ in 0..5 {
        let done = client.call("up__pid", json!({}));
        assert_eq!(done["isError"], false, "{done}");
        assert!(pids.insert(done["structuredContent"]["pid"].as_u64()), "{done}");
        let failed = client.call("up__exit", json!({})).to_string();
        assert!(failed.contains("about to fall over"), "{failed}");
        assert!(!failed.contains("in a row"), "{failed}");
    }
}

/// The error of 2025-11-25 by which a server asks to open an address first.
#[test]
fn an_error_that_asks_for_urls_passes_whole() {
    let data = json!({
        "elicitations": [{
            "mode": "url", "elicitationId": "e1", "url": "https://example.com/connect?e=e1",
            "message": "Sign in first.",
        }],
        "more": 1,
    });
    let error = json!({"code": -32042, "message": "URL elicitation required", "data": data});
    let complete =
        notification("notifications/elicitation/complete", json!({"elicitationId": "e1"}));
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {"tools": {}, "resources": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
        }},
        "tools/list": {"result": {"tools": [
            {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
            {
                "name": "task", "inputSchema": {"type": "object"},
                "execution": {"taskSupport": "required"},
            },
        ]}},
        "tools/call": {"error": error, "after": [complete]},
        "resources/list": {"result": {"resources": [{"uri": "x://a", "name": "a"}]}},
        "resources/read": {"error": error},
    });
    let servers = ScriptedServers::new(&[("up", "", script)]);
    let mut client = servers.serve();
    for (method, params) in [
        ("tools/call", json!({"name": "up__t"})),
        // Made a task here, and by the client.
        ("tools/call", json!({"name": "up__task"})),
        ("tools/call", json!({"name": "up__task", "task": {}})),
        ("resources/read", json!({"uri": "x://a"})),
    ] {
        let answer = client.ask(method, params.clone());
        assert_eq!(answer["error"], error, "{method} {params}: {answer}");
    }
    client.find("the end of the elicitation", |it| {
        it["method"] == "notifications/elicitation/complete"
            && it["params"]["elicitationId"] == "e1"
    });
    // Clients of other revisions, which can show the message at least.
    let web = HttpClient::start(servers.path(), &[], &[]);
    let answer = web.call("up__t", json!({}));
    assert_eq!(answer["error"], error, "{answer}");
}

#[test]
fn numbers_of_results_are_those_that_the_server_wrote() {
    let numbers = [
        "12345678901234567890123",
        "0.1000000000000000055511151231257827",
        "-1.50",
        "1E5",
        "18446744073709551616",
        "3",
        "0.25",
    ];
    let long = [78, 300].map(|digits| "7".repeat(digits));
    let numbers: Vec<&str> = numbers.into_iter().chain(long.iter().map(String::as_str)).collect();
    let list = numbers.join(",");
    let members = format!(r#"{{"n":[{list}],"m":{{"k":{}}}}}"#, numbers[0]);
    // A string is sent as it is. One of these is the id of the call.
    let answers: Vec<_> = (1..40)
        .map(|id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"t"}},{{"type":"x","n":[{list}]}}],"structuredContent":{members},"more":{members}}}}}"#
            )
        })
        .collect();
    let servers = ScriptedServers::new(&[("up", "", json!({"tools/call": {"before": answers}}))]);
    let mut client = servers.serve();
    client.send("tools/call", json!({"name": "up__t", "arguments": {}}));
    let answer = client.find_line("the answer", |line| line.contains("structuredContent"));
    assert!(answer.contains(&format!(r#"{{"type":"x","n":[{list}]}}"#)), "{answer}");
    assert_eq!(answer.matches(&members).count(), 2, "{answer}");
}

/// A server that answers the call `t` with the text of this result.
fn answering_with(result: &str, tool: Json) -> ScriptedServers {
    // A string is sent as it is. One of these is the id of the call.
    let answers: Vec<_> =
        (1..40).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).collect();
    let script = json!({
        "tools/list": {"result": {"tools": [tool]}}, "tools/call": {"before": answers},
    });
    ScriptedServers::new(&[("up", "", script)])
}

/// A number alone, between white space.
#[test]
fn a_long_number_alone_keeps_its_digits() {
    for digits in [78, 300] {
        let number = "7".repeat(digits);
        let result = format!(r#"{{ "content": [], "structuredContent": {{ "n" : {number} }} }}"#);
        let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
        let servers = answering_with(&result, tool);
        let mut client = servers.serve();
        client.send("tools/call", json!({"name": "up__t", "arguments": {}}));
        let answer = client.find_line("the answer", |line| line.contains("structuredContent"));
        assert!(answer.contains(&format!(r#"{{"n":{number}}}"#)), "{answer}");
    }
}

/// Readers differ in which of two members with one name they take.
#[test]
fn a_member_that_is_written_twice_reaches_clients_as_it_was_checked() {
    let output = json!({"type": "object", "properties": {"amount": {"type": "number"}}});
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": output});
    let twice = r#"{"amount":"evil","\u0061mount":1.50,"a:b\":{":{"amount":2}}"#;
    let result = format!(r#"{{"content":[{twice}],"structuredContent":{twice}}}"#);
    let servers = answering_with(&result, tool);
    let mut client = servers.serve();
    client.send("tools/call", json!({"name": "up__t", "arguments": {}}));
    let answer = client.find_line("the answer", |line| line.contains("structuredContent"));
    assert!(!answer.contains("evil"), "{answer}");
    assert_eq!(answer.matches(r#""amount":1.5,"#).count(), 2, "{answer}");
}

/// The limit of a result counts the digits that clients get.
#[test]
fn digits_count_in_the_size_of_a_result() {
    let number = format!("0.{}", "7".repeat(1000));
    let list = vec![number; 1100].join(",");
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    let result = format!(r#"{{"content":[],"structuredContent":{{"n":[{list}]}}}}"#);
    let servers = answering_with(&result, tool);
    let mut client = servers.serve();
    let refused = client.call("up__t", json!({})).to_string();
    assert!(refused.contains("OUTPUT_TOO_LARGE"), "{refused:.300}");
}
