//! Tasks of scripted servers and of clients through the gateway: questions that come too early,
//! results that are there at once, errors that are too large, and questions that a client makes
//! tasks of.

use serde_json::{Value as Json, json};

use crate::client::{LONG, StdioClient, handshake, modern, until};
use crate::scripted_servers::{ScriptedServers, is_question};

const RELATED: &str = "io.modelcontextprotocol/related-task";
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn status(id: &str, status: &str) -> Json {
    json!({
        "taskId": id, "status": status, "ttl": null, "pollInterval": 200,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
    })
}

/// Responses to all requests that the gateway can have made: one of them is the one that waits.
fn results(result: &Json) -> Vec<Json> {
    (1..60).map(|id| json!({"jsonrpc": "2.0", "id": id, "result": result})).collect()
}

fn done() -> Json {
    json!({"content": [{"type": "text", "text": "done"}]})
}

/// A server of 2025-11-25 that asks about this task before it answers the call that creates `x`.
fn asks_early(task: &str) -> Json {
    let params = json!({
        "message": "?", "requestedSchema": {"type": "object", "properties": {}},
        "_meta": {RELATED: {"taskId": task}},
    });
    let question =
        json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params});
    let tool = |name: &str, support: &str| {
        json!({
            "name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": support},
        })
    };
    json!({
        "initialize": {"result": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
        }},
        "tools/list": {"result": {"tools": [tool("may", "optional"), tool("must", "required")]}},
        "tools/call": {"before": [question], "result": {"task": status("x", "working")}},
        "tasks/get": {"result": status("x", "working")},
        "tasks/result": {},
    })
}

/// What a server got as the answer to its question `q`.
fn answer_to_question(servers: &ScriptedServers, name: &str) -> Json {
    until("the answer to the question", LONG, || {
        let mut sent = servers.sent_to(name).into_iter();
        sent.find(|message| message["id"] == "q" && message.get("method").is_none())
    })
}

#[test]
fn a_question_that_comes_before_its_task_waits_for_the_task() {
    let mut early = asks_early("x");
    early["answered"] = json!(results(&done()));
    let isolated = "isolation = \"session\"";
    let servers = ScriptedServers::new(&[("up", "", early.clone()), ("own", isolated, early)]);
    let mut client = servers.serve();
    for name in ["up", "own"] {
        let call = json!({"name": format!("{name}__may"), "arguments": {}, "task": {}});
        let created = client.ask("tools/call", call);
        let task = created["result"]["task"]["taskId"].clone();
        let waiting = client.send("tasks/result", json!({"taskId": task}));
        let asked = client.find("the question", is_question);
        assert_eq!(asked["params"]["_meta"][RELATED]["taskId"], task, "{asked}");
        let accept = json!({"action": "accept", "content": {}});
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": accept});
        client.line(answer.to_string().as_bytes());
        assert_eq!(answer_to_question(&servers, name)["result"], accept);
        let ended = client.answer(&waiting);
        assert_eq!(ended["result"]["content"][0]["text"], "done", "{ended}");
    }
}

/// Here the gateway makes the task for a client without tasks.
#[test]
fn an_early_question_of_a_hidden_task_reaches_the_client() {
    let mut early = asks_early("x");
    early["answered"] = json!(results(&done()));
    let servers = ScriptedServers::new(&[("up", "", early)]);
    let mut client = servers.serve();
    let call = client.send_call("up__must", json!({}));
    let asked = client.find("the question", is_question);
    assert_eq!(asked["params"]["_meta"].get(RELATED), None, "{asked}");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}});
    client.line(answer.to_string().as_bytes());
    let ended = client.answer(&call);
    assert_eq!(ended["result"]["content"][0]["text"], "done", "{ended}");
}

#[test]
fn a_question_about_a_task_that_never_comes_is_refused() {
    let servers = ScriptedServers::new(&[("up", "", asks_early("other"))]);
    let mut client = servers.serve();
    client.ask("tools/call", json!({"name": "up__may", "arguments": {}, "task": {}}));
    let refused = answer_to_question(&servers, "up");
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let why = "`elicitation/create` cannot be attributed to a client";
    assert_eq!(refused["error"]["message"], why, "{refused}");
    assert!(!client.kept.iter().any(is_question), "{:?}", client.kept);
}

/// A server with the extension of 2026-07-28 that creates and describes its task like this.
fn with_extension(created: Json, found: Json) -> Json {
    let output = json!({"type": "object", "properties": {"n": {"type": "number"}}});
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": output});
    json!({
        "initialize": {"error": {"code": -32601, "message": "there is no such method"}},
        "server/discover": {"result": {
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "extensions": {EXTENSION: {}}},
            "ttlMs": 0, "cacheScope": "private",
        }},
        "tools/list": {"result": {
            "resultType": "complete", "tools": [tool], "ttlMs": 0, "cacheScope": "private",
        }},
        "tools/call": {"result": created},
        "tasks/get": {"result": found},
    })
}

fn with_members(mut task: Json, members: Json) -> Json {
    for (name, value) in members.as_object().expect("members") {
        task[name] = value.clone();
    }
    task
}

/// Calls the tool of a server and asks for its task.
fn ask_modern(client: &mut StdioClient, method: &str, params: Json) -> Json {
    let extensions = json!({"extensions": {EXTENSION: {}}});
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": extensions});
    client.ask(method, modern(with_members(params, json!({"_meta": meta}))))
}

#[test]
fn a_result_that_comes_with_the_new_task_is_checked_like_others() {
    let ended = |structured: Json| {
        let result = json!({"content": [], "structuredContent": structured});
        let members = json!({"resultType": "task", "result": result, "_meta": {"a": 1}});
        with_extension(with_members(status("t1", "completed"), members), json!({}))
    };
    let servers = ScriptedServers::new(&[
        ("wrong", "", ended(json!({"n": "one"}))),
        ("right", "", ended(json!({"n": 1}))),
    ]);
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let mut call = |name: &str| {
        let params = json!({"name": format!("{name}__t"), "arguments": {}});
        let task = ask_modern(&mut client, "tools/call", params)["result"].clone();
        assert_eq!(task["status"], "completed", "{task}");
        assert_eq!((&task["resultType"], &task["_meta"]["a"]), (&json!("task"), &json!(1)));
        task["result"].clone()
    };
    let wrong = call("wrong");
    assert_eq!(wrong["_meta"]["toolwright/error"]["code"], "OUTPUT_INVALID", "{wrong}");
    assert_eq!(wrong["isError"], true, "{wrong}");
    let right = call("right");
    assert_eq!(right["structuredContent"], json!({"n": 1}), "{right}");
}

#[test]
fn the_error_and_the_text_of_a_task_have_a_limit() {
    let created = with_members(status("t1", "working"), json!({"resultType": "task"}));
    let long = |letter: &str| letter.repeat(2 << 20);
    let error = json!({"code": -32050, "message": long("m"), "data": {"d": long("d")}});
    let failed = |members: Json| {
        let task = with_members(status("t1", "failed"), json!({"resultType": "complete"}));
        with_extension(created.clone(), with_members(task, members))
    };
    let servers = ScriptedServers::new(&[
        ("up", "", failed(json!({"error": error, "statusMessage": long("s")}))),
        ("huge", "", failed(json!({"other": long("o")}))),
        ("short", "", failed(json!({"error": {"code": 1, "message": "m", "more": [1]}}))),
    ]);
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let mut get = |name: &str| {
        let params = json!({"name": format!("{name}__t"), "arguments": {}});
        let created = ask_modern(&mut client, "tools/call", params);
        let params = json!({"taskId": created["result"]["taskId"]});
        ask_modern(&mut client, "tasks/get", params)
    };
    let found = get("up")["result"].clone();
    assert_eq!((&found["status"], &found["error"]["code"]), (&json!("failed"), &json!(-32050)));
    for text in [&found["error"]["message"], &found["statusMessage"]] {
        let text = text.as_str().expect("a text");
        assert!(text.ends_with("[shortened from 2097152 bytes]"), "{}", &text[..100]);
        assert!(text.len() < 70_000, "{}", text.len());
    }
    let note = "the data of the error is larger than 1048576 bytes";
    assert_eq!(found["error"]["data"]["toolwright/omitted"], note);
    let refused = get("huge")["error"].clone();
    assert_eq!(refused["data"]["code"], "OUTPUT_TOO_LARGE", "{refused}");
    let short = get("short")["result"].clone();
    assert_eq!(short["error"], json!({"code": 1, "message": "m", "more": [1]}), "{short}");
}

/// A server that asks for sampling as a task, and follows the task; in between it asks for a task
/// that the client has not made for it.
fn follows_a_task_of_the_client() -> Json {
    let request = |id: &str, method: &str, params: Json| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let sampling = json!({"messages": [], "maxTokens": 1, "task": {"ttl": 60000}});
    json!({
        "initialize": {"result": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {"tools": {}},
        }},
        "tools/call": {"before": [request("sample", "sampling/createMessage", sampling)]},
        "answered": {
            "before": [request("get", "tasks/get", json!({"taskId": "c1"}))],
            "then": {
                "before": [request("foreign", "tasks/get", json!({"taskId": "c2"}))],
                "then": {
                    "before": [request("result", "tasks/result", json!({"taskId": "c1"}))],
                    "then": {"before": results(&done())},
                },
            },
        },
    })
}

fn serve_to(servers: &ScriptedServers, capabilities: Json) -> StdioClient {
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let mut params = handshake("2025-11-25");
    params["capabilities"] = capabilities;
    client.ask("initialize", params);
    client.notify("notifications/initialized", json!({}));
    client
}

/// What the last process of a server was told that clients can do as tasks.
fn announced(servers: &ScriptedServers, name: &str) -> Json {
    let sent = servers.sent_to(name);
    let mut greetings = sent.iter().filter(|it| it["method"] == "initialize");
    let last = greetings.next_back().expect("a handshake");
    last["params"]["capabilities"]["tasks"].clone()
}

#[test]
fn a_client_with_tasks_can_make_one_of_a_question_of_its_own_server() {
    let isolated = "isolation = \"session\"";
    let servers = ScriptedServers::new(&[("up", isolated, follows_a_task_of_the_client())]);
    let requests = json!({"sampling": {"createMessage": {}}});
    let tasks = json!({"list": {}, "cancel": {}, "requests": requests});
    let mut client = serve_to(&servers, json!({"sampling": {}, "elicitation": {}, "tasks": tasks}));
    let call = client.send_call("up__t", json!({}));
    let mut reply = |method: &str, expected: Json, result: &Json| {
        let asked = client.find(method, |it| it["method"] == method);
        assert_eq!(asked["params"], expected, "{asked}");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        client.line(answer.to_string().as_bytes());
    };
    let params = json!({"messages": [], "maxTokens": 1, "task": {"ttl": 60000}});
    let created = json!({"task": status("c1", "working")});
    reply("sampling/createMessage", params, &created);
    reply("tasks/get", json!({"taskId": "c1"}), &status("c1", "completed"));
    let sampled = json!({"role": "assistant", "model": "m", "content": {"type": "text"}});
    reply("tasks/result", json!({"taskId": "c1"}), &sampled);
    let ended = client.answer(&call);
    assert_eq!(ended["result"]["content"][0]["text"], "done", "{ended}");
    // Other tasks of the client are not the business of this server.
    let sent = servers.sent_to("up");
    let answer = |id: &str| sent.iter().find(|it| it["id"] == id).expect("an answer").clone();
    assert_eq!(answer("sample")["result"], created);
    assert_eq!(answer("foreign")["error"]["code"], -32602, "{}", answer("foreign"));
    assert_eq!(answer("result")["result"], sampled);
    assert_eq!(announced(&servers, "up"), json!({"cancel": {}, "requests": requests}));
}

#[test]
fn tasks_of_clients_are_announced_to_servers_of_clients_that_have_them() {
    let (isolated, script) = ("isolation = \"session\"", follows_a_task_of_the_client());
    let servers = ScriptedServers::new(&[("own", isolated, script.clone()), ("all", "", script)]);
    let mut client = serve_to(&servers, json!({"sampling": {}}));
    for name in ["own", "all"] {
        client.send_call(&format!("{name}__t"), json!({}));
        let asked = client.find("the question", |it| it["method"] == "sampling/createMessage");
        assert_eq!(asked["params"].get("task"), None, "{name}: {asked}");
        assert_eq!(announced(&servers, name), Json::Null, "{name}");
    }
}
