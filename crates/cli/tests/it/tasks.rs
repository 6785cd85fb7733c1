//! Tasks of revision 2025-11-25 through the gateway: clients that know them, and clients that do
//! not. The server is `faulty-server tasks`; what its tasks do is in the arguments of a call.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::client::{
    HttpClient, LONG, Reply, Session, StdioClient, configured, faulty_server, handshake, modern,
    request, until,
};
use crate::scripted_servers::{ScriptedServers, notification};
use crate::serving::{LONG_STARTUP, server};

const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A source with tasks, with more keys.
pub(crate) fn with_tasks(name: &str, more: &str) -> String {
    let log = format!("env = {{ CALL_LOG = \"calls.{name}\" }}");
    let program = faulty_server();
    format!("[[source]]\nname = \"{name}\"\ncommand = [\"{program}\", \"tasks\"]\n{log}\n{more}\n")
}

/// The methods that a source was sent.
pub(crate) fn sent_to(folder: &Path, name: &str) -> Vec<String> {
    let log = std::fs::read_to_string(folder.join(format!("calls.{name}"))).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// A client of 2025-11-25 that can be asked, with more capabilities; also its handshake.
pub(crate) fn knowing_tasks(folder: &Path, capabilities: Json) -> (StdioClient, Json) {
    let mut client = StdioClient::bare(folder, &[], &[]);
    let mut params = handshake("2025-11-25");
    params["capabilities"] = capabilities;
    let answer = client.ask("initialize", params);
    client.notify("notifications/initialized", json!({}));
    (client, answer["result"].clone())
}

pub(crate) fn call_params(name: &str, arguments: &Json) -> Json {
    json!({"name": name, "arguments": arguments, "task": {"ttl": 60000}})
}

/// Calls a tool as a task and returns the id of the task.
pub(crate) fn create(client: &mut StdioClient, name: &str, arguments: Json) -> String {
    let answer = client.ask("tools/call", call_params(name, &arguments));
    let id = answer["result"]["task"]["taskId"].as_str();
    id.unwrap_or_else(|| panic!("not a task: {answer}")).to_owned()
}

pub(crate) fn of_task(client: &mut StdioClient, method: &str, id: &str) -> Json {
    client.ask(method, json!({"taskId": id}))
}

pub(crate) fn gate(folder: &Path) -> (Json, PathBuf) {
    let gate = folder.join("gate");
    (json!(gate.display().to_string()), gate)
}

pub(crate) fn open(gate: &Path) {
    std::fs::write(gate, "").expect("a file");
}

#[test]
fn a_client_with_tasks_has_them_as_on_the_server() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let (mut client, greeting) = knowing_tasks(&path, json!({}));
    let tasks = json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
    assert_eq!(greeting["capabilities"]["tasks"], tasks, "{greeting}");
    let listed = client.ask("tools/list", json!({}));
    let support = |tool: &Json| tool["execution"]["taskSupport"].as_str().map(str::to_owned);
    let found: Vec<_> =
        listed["result"]["tools"].as_array().expect("tools").iter().filter_map(support).collect();
    assert_eq!(found, ["optional", "required", "forbidden"], "{listed}");

    let (file, gate) = gate(&path);
    let made = client.ask("tools/call", call_params("up__must", &json!({"n": 1, "gate": file})));
    let task = json!({
        "taskId": "t1", "status": "working", "statusMessage": "begun",
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        "ttl": 60000, "pollInterval": 10,
    });
    let meta = json!({"io.modelcontextprotocol/model-immediate-response": "wait"});
    assert_eq!(made["result"], json!({"task": task, "_meta": meta}));
    assert_eq!(of_task(&mut client, "tasks/get", "t1")["result"], task);
    let waiting = client.send("tasks/result", json!({"taskId": "t1"}));
    until("the request for the result", LONG, || {
        sent_to(&path, "up").contains(&"tasks/result".to_owned()).then_some(())
    });
    open(&gate);
    let done = client.answer(&waiting);
    assert_eq!(done["result"]["structuredContent"]["echo"]["n"], 1, "{done}");
    assert_eq!(done["result"]["_meta"][RELATED], json!({"taskId": "t1"}), "{done}");

    let second = create(&mut client, "up__may", json!({"gate": "/nowhere/ever"}));
    let dropped = create(&mut client, "up__may", json!({"forget": true}));
    until("the end of the third task", LONG, || {
        let gone = of_task(&mut client, "tasks/get", &dropped);
        (gone["error"]["code"] == -32602).then_some(())
    });
    let cancelled = of_task(&mut client, "tasks/cancel", &second);
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    let refused = of_task(&mut client, "tasks/result", &second);
    assert_eq!(refused["error"]["code"], -32000, "{refused}");
    let list = client.ask("tasks/list", json!({}));
    let states = list["result"]["tasks"].as_array().expect("tasks").iter();
    let states: Vec<_> =
        states.map(|task| (task["taskId"].clone(), task["status"].clone())).collect();
    let expected = [("t1", "completed"), ("t2", "cancelled")];
    assert_eq!(states, expected.map(|(id, status)| (json!(id), json!(status))), "{list}");
    let unknown = client.ask("tasks/list", json!({"cursor": "t9"}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    drop(folder);
}

#[test]
fn tasks_of_two_servers_with_one_id_do_not_collide() {
    let (folder, path) = configured(&(with_tasks("a", "") + &with_tasks("b", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({"elicitation": {}}));
    let own = create(&mut client, "a__may", json!({"n": 1}));
    let arguments = json!({"n": 2, "ask": true, "early": true, "status": ["busy"]});
    let other = create(&mut client, "b__may", arguments);
    assert_eq!((own.as_str(), other.as_str()), ("t1", "t1-2"));
    // Every place that names the task follows: notifications, questions, answers, results.
    for text in ["begun", "busy"] {
        let status = client.find("a status", |it| {
            it["method"] == "notifications/tasks/status" && it["params"]["statusMessage"] == text
        });
        assert_eq!(status["params"]["taskId"], "t1-2", "{status}");
    }
    let waiting = client.send("tasks/result", json!({"taskId": "t1-2"}));
    let asked = client.find("a question", |it| it["method"] == "elicitation/create");
    assert_eq!(asked["params"]["_meta"][RELATED]["taskId"], "t1-2", "{asked}");
    let found = of_task(&mut client, "tasks/get", "t1-2");
    assert_eq!(found["result"]["taskId"], "t1-2", "{found}");
    let answer = json!({"action": "accept", "_meta": {RELATED: {"taskId": "t1-2"}}});
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
    client.line(answer.to_string().as_bytes());
    let done = client.answer(&waiting);
    let structured = &done["result"]["structuredContent"];
    assert_eq!(structured["answer"]["action"], "accept", "{done}");
    assert_eq!(structured["answer"]["_meta"][RELATED]["taskId"], "t1", "{done}");
    assert_eq!(done["result"]["_meta"][RELATED]["taskId"], "t1-2", "{done}");
    let done = of_task(&mut client, "tasks/result", "t1");
    assert_eq!(done["result"]["structuredContent"]["echo"]["n"], 1, "{done}");
    let list = client.ask("tasks/list", json!({}));
    let ids = list["result"]["tasks"].as_array().expect("tasks").iter();
    let ids: Vec<_> = ids.map(|task| task["taskId"].clone()).collect();
    assert_eq!(ids, ["t1", "t1-2"], "{list}");
    drop(folder);
}

/// Two clients share the server, so that a question that names no task belongs to nobody.
#[test]
fn a_question_of_a_task_waits_until_its_client_wants_the_result() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let web = HttpClient::start(&path, &[], &[]);
    let greet = || {
        let mut params = handshake("2025-11-25");
        params["capabilities"] = json!({"elicitation": {}});
        web.session_with(params)
    };
    let (one, two) = (greet(), greet());
    let mut streams = [events(&web, &one.headers()), events(&web, &two.headers())];
    let create = |session: &Session<'_>, n: u32| {
        let params = call_params("up__may", &json!({"n": n, "ask": "early"}));
        let made = session.ask(1, "tools/call", params).answer(&json!(1));
        made["result"]["task"]["taskId"].as_str().expect("a task").to_owned()
    };
    let tasks = [create(&one, 1), create(&two, 2)];
    for (n, (session, task)) in [(&one, &tasks[0]), (&two, &tasks[1])].into_iter().enumerate() {
        until("the question", LONG, || {
            let found = session.ask(2, "tasks/get", json!({"taskId": task})).answer(&json!(2));
            (found["result"]["status"] == "input_required").then_some(())
        });
        let mut stream = web.connect();
        let wait = request(&json!(3), "tasks/result", &json!({"taskId": task})).to_string();
        stream.write_all(&web.bytes("POST", "/mcp", &session.headers(), &wait)).expect("it reads");
        let mut reader = BufReader::new(stream);
        assert_eq!(Reply::read_head(&mut reader).status, 200);
        let asked = next_events(&mut reader, 1).remove(0);
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["_meta"][RELATED]["taskId"], task.as_str(), "{asked}");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}});
        assert_eq!(session.post(&answer).status, 202);
        let done = next_events(&mut reader, 1).remove(0);
        let structured = &done["result"]["structuredContent"];
        assert_eq!(structured["answer"]["action"], "accept", "{done}");
        assert_eq!(structured["echo"]["n"], n + 1, "{done}");
    }
    // Nothing is asked outside of the requests, and a task that is cancelled gets an answer.
    let third = create(&one, 3);
    one.ask(4, "tasks/cancel", json!({"taskId": third})).answer(&json!(4));
    let params = call_params("up__may", &json!({"log": "marker"}));
    one.ask(5, "tools/call", params);
    let next = next_events(&mut streams[0], 1);
    assert_eq!(next[0]["params"]["data"], "marker", "{next:?}");
    drop(folder);
}

/// The messages that a session is sent outside of its requests.
fn events(web: &HttpClient, headers: &[(&str, &str)]) -> BufReader<TcpStream> {
    let mut stream = web.connect();
    let headers = [headers, &[("Accept", "text/event-stream")]].concat();
    stream.write_all(&web.bytes("GET", "/mcp", &headers, "")).expect("it reads");
    let mut reader = BufReader::new(stream);
    assert_eq!(Reply::read_head(&mut reader).status, 200);
    reader
}

/// The next `count` messages on such a stream.
fn next_events(stream: &mut BufReader<TcpStream>, count: usize) -> Vec<Json> {
    let (mut found, deadline) = (Vec::new(), Instant::now() + LONG);
    while found.len() < count {
        assert!(Instant::now() < deadline, "only {found:?}");
        let mut line = String::new();
        assert!(stream.read_line(&mut line).expect("an event") > 0, "only {found:?}");
        let data = line.strip_prefix("data:").map(str::trim).filter(|data| !data.is_empty());
        found.extend(data.map(|data| serde_json::from_str::<Json>(data).expect("JSON")));
    }
    found
}

#[test]
fn a_task_belongs_to_the_session_that_created_it() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let web = HttpClient::start(&path, &[], &[]);
    let (one, two) = (web.session("2025-11-25"), web.session("2025-11-25"));
    let mut streams = [events(&web, &one.headers()), events(&web, &two.headers())];
    let create = |session: &Session<'_>, token: &str, text: &str| {
        let arguments = json!({"status": [text], "progress": 2, "log": text});
        let mut params = call_params("up__may", &arguments);
        params["_meta"] = json!({"progressToken": token});
        let made = session.ask(1, "tools/call", params).answer(&json!(1));
        made["result"]["task"]["taskId"].as_str().expect("a task").to_owned()
    };
    let tasks = [create(&one, "one", "of one"), create(&two, "two", "of two")];
    assert_eq!(tasks, ["t1", "t2"]);
    for (stream, (task, name)) in streams.iter_mut().zip(tasks.iter().zip(["one", "two"])) {
        // All of its own, and nothing else.
        let events = next_events(stream, 4);
        let of = |method: &str| {
            let method = format!("notifications/{method}");
            let fits = |event: &&Json| event["method"] == method.as_str();
            events.iter().filter(fits).map(|event| event["params"].clone()).collect::<Vec<_>>()
        };
        let [status] = &of("tasks/status")[..] else { panic!("{events:?}") };
        assert_eq!(status["taskId"], *task, "{events:?}");
        let [log] = &of("message")[..] else { panic!("{events:?}") };
        assert_eq!(log["data"], format!("of {name}"), "{events:?}");
        let progress: Vec<_> = of("progress");
        let found = progress.iter().map(|it| (it["progressToken"].clone(), it["progress"].clone()));
        let found: Vec<_> = found.collect();
        assert_eq!(found, [(json!(name), json!(1)), (json!(name), json!(2))], "{events:?}");
    }
    for (stream, session) in streams.iter_mut().zip([&one, &two]) {
        let params = call_params("up__may", &json!({"log": "marker"}));
        session.ask(4, "tools/call", params);
        let next = next_events(stream, 1);
        assert_eq!(next[0]["params"]["data"], "marker", "{next:?}");
    }
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let foreign = two.ask(2, method, json!({"taskId": "t1"})).answer(&json!(2));
        assert_eq!(foreign["error"]["code"], -32602, "{method}: {foreign}");
    }
    let list = two.ask(3, "tasks/list", json!({})).answer(&json!(3));
    let list = list["result"]["tasks"].as_array().expect("tasks").clone();
    let ids: Vec<_> = list.iter().map(|task| task["taskId"].clone()).collect();
    assert_eq!(ids, ["t2", "t4"]);
    drop(folder);
}

#[test]
fn the_wait_for_a_result_lasts_as_long_as_its_task() {
    let (folder, path) = configured(&(with_tasks("up", "timeout = 6000") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let (file, gate) = gate(&path);
    let task = create(&mut client, "up__must", json!({"gate": file}));
    let waiting = client.send("tasks/result", json!({"taskId": task}));
    // Asked three times in the idle time, so this is longer.
    until("signs of life", LONG, || {
        let asked = sent_to(&path, "up").iter().filter(|method| *method == "tasks/get").count();
        (asked >= 4).then_some(())
    });
    open(&gate);
    let done = client.answer(&waiting);
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    drop(folder);
}

#[test]
fn a_client_without_tasks_gets_the_result_of_a_tool_that_needs_one() {
    let (folder, path) = configured(&(with_tasks("up", "timeout = 6000") + LONG_STARTUP));
    for (revision, capabilities) in
        [("2025-06-18", json!({"elicitation": {}})), ("2025-11-25", json!({"elicitation": {}}))]
    {
        let mut client = StdioClient::bare(&path, &[], &[]);
        let mut params = handshake(revision);
        params["capabilities"] = capabilities;
        client.ask("initialize", params);
        client.notify("notifications/initialized", json!({}));
        if revision == "2025-06-18" {
            let list = client.ask("tools/list", json!({})).to_string();
            assert!(!list.contains("taskSupport"), "{list}");
        }
        // Waits longer than the idle time: the task is a sign of life.
        let (file, gate) = gate(&path);
        let arguments = json!({"ask": true, "gate": file, "status": ["one", "two"]});
        let mut params = json!({"name": "up__must", "arguments": arguments});
        params["_meta"] = json!({"progressToken": 7});
        let call = client.send("tools/call", params);
        for (n, text) in [(1, "begun"), (2, "one"), (3, "two")] {
            let progress = client.find("progress", |it| it["method"] == "notifications/progress");
            assert_eq!(progress["params"]["message"], text, "{progress}");
            let done = Some(f64::from(n) / 1000.0);
            assert_eq!(progress["params"]["progress"].as_f64(), done, "{progress}");
        }
        let asked = client.find("a question", |it| it["method"] == "elicitation/create");
        assert_eq!(asked["params"]["_meta"].get(RELATED), None, "{asked}");
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}});
        client.line(answer.to_string().as_bytes());
        let before = sent_to(&path, "up").len();
        // Asked every 200 ms, so this is longer than the idle time.
        until("signs of life", LONG, || (sent_to(&path, "up").len() >= before + 31).then_some(()));
        open(&gate);
        let done = client.answer(&call);
        assert_eq!(done["result"]["structuredContent"]["answer"]["action"], "accept", "{done}");
        assert_eq!(done["result"].get("_meta"), None, "{done}");
        std::fs::remove_file(&gate).expect("a file");
    }
    // The revision without sessions, and an error of the task.
    let web = HttpClient::start(&path, &[], &[]);
    let list = web.ask_modern(1, "tools/list", json!({})).body;
    assert!(list.contains("up__must") && !list.contains("taskSupport"), "{list}");
    let done = web.call("up__must", json!({"n": 3}));
    assert_eq!(done["result"]["structuredContent"]["echo"]["n"], 3, "{done}");
    let failed = web.call("up__must", json!({"error": {"code": -32050, "message": "no"}}));
    assert_eq!(failed["error"]["code"], -32050, "{failed}");
    drop(folder);
}

#[test]
fn progress_of_a_hidden_task_reaches_the_client_and_cancelling_the_call_cancels_it() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let mut client = StdioClient::start(&path, &[], &[]);
    let mut params =
        json!({"name": "up__must", "arguments": {"progress": 2, "gate": "/nowhere/ever"}});
    params["_meta"] = json!({"progressToken": "p"});
    let call = client.send("tools/call", params);
    for n in [1.0, 2.0] {
        let progress = client.find("progress", |it| {
            it["method"] == "notifications/progress" && it["params"].get("message").is_none()
        });
        assert_eq!(progress["params"]["progress"].as_f64(), Some(n), "{progress}");
        assert_eq!(progress["params"]["progressToken"], "p", "{progress}");
    }
    client.notify("notifications/cancelled", json!({"requestId": call}));
    until("the end of the task", LONG, || {
        sent_to(&path, "up").contains(&"tasks/cancel".to_owned()).then_some(())
    });
    drop(folder);
}

/// The answers to `tasks/get` are behind the notifications here, and the server repeats itself.
#[test]
fn progress_of_a_hidden_task_never_goes_back() {
    let status = |message: &str, second: u32| {
        let at = format!("2026-01-01T00:00:0{second}Z");
        json!({
            "taskId": "x", "status": "working", "statusMessage": message, "ttl": null,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": at, "pollInterval": 200,
        })
    };
    let status_report =
        |message, second| notification("notifications/tasks/status", status(message, second));
    // Tokens of tasks count down from -1.
    let report = |done: f64| {
        notification("notifications/progress", json!({"progressToken": -1, "progress": done}))
    };
    // One of these is the id of `tasks/result`.
    let result = json!({"content": [{"type": "text", "text": "done"}]});
    let results = (1..60).map(|id| json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let mut after =
        vec![status_report("three", 2), status_report("one", 1), status_report("four", 3)];
    after.extend([0.0, 1.0, 1.0, 0.5, 2.0].map(report));
    after.push(status_report("five", 4));
    after.extend(results);
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
        }},
        "tools/list": {"result": {"tools": [{
            "name": "t", "inputSchema": {"type": "object"},
            "execution": {"taskSupport": "required"},
        }]}},
        "tools/call": {"result": {"task": status("one", 1)}, "after": [status_report("two", 2)]},
        "tasks/get": {"result": status("one", 2), "after": after},
        "tasks/result": {},
    });
    let servers = ScriptedServers::new(&[("up", "", script)]);
    let mut client = servers.serve();
    let call = json!({"name": "up__t", "arguments": {}, "_meta": {"progressToken": "p"}});
    let done = client.ask("tools/call", call);
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    let reports = client.kept.iter().filter(|it| it["method"] == "notifications/progress");
    let reports: Vec<_> = reports
        .map(|it| (it["params"]["progress"].as_f64(), it["params"]["message"].as_str()))
        .collect();
    let expected = [
        (0.001, Some("one")),
        (0.002, Some("two")),
        (0.003, Some("three")),
        (0.004, Some("four")),
        (1.0, None),
        (2.0, None),
    ];
    assert_eq!(reports, expected.map(|(done, message)| (Some(done), message)));
}

/// A task takes no more than 128 notifications at once, and here the result is there before the
/// rest.
#[test]
fn all_reports_that_a_server_sends_before_the_result_reach_the_client() {
    const REPORTS: usize = 200;
    let status = |message: &str| {
        json!({
            "taskId": "x", "status": "working", "statusMessage": message, "ttl": null,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        })
    };
    let notifications = (1..=REPORTS)
        .map(|n| notification("notifications/tasks/status", status(&format!("step {n}"))));
    // One of these is the id of `tasks/result`.
    let result = json!({"content": [{"type": "text", "text": "done"}]});
    let results = (1..60).map(|id| json!({"jsonrpc": "2.0", "id": id, "result": result}));
    let at_once: Vec<String> = notifications.chain(results).map(|it| it.to_string()).collect();
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "x", "version": "1"},
            "capabilities": {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}},
        }},
        "tools/list": {"result": {"tools": [{
            "name": "t", "inputSchema": {"type": "object"},
            "execution": {"taskSupport": "required"},
        }]}},
        "tools/call": {"result": {"task": status("begun")}},
        "tasks/result": {"before": [at_once.join("\n")]},
    });
    let servers = ScriptedServers::new(&[("up", "", script)]);
    let mut client = servers.serve();
    let call = json!({"name": "up__t", "arguments": {}, "_meta": {"progressToken": "p"}});
    let done = client.ask("tools/call", call);
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    let reports = client.kept.iter().filter(|it| it["method"] == "notifications/progress");
    let last = reports.clone().next_back().map(|it| it["params"]["message"].clone());
    assert_eq!((reports.count(), last), (REPORTS + 1, Some(json!("step 200"))));
}

#[test]
fn results_of_tasks_are_checked_like_others() {
    let more = format!("{LONG_STARTUP}answer_tokens = 100\n");
    let (folder, path) = configured(&(with_tasks("up", "") + &more));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let wrong = client.ask("tools/call", call_params("up__may", &json!({"n": "one"})));
    // The task was not created, so the call itself gets the error.
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    assert_eq!(wrong["error"]["data"]["code"], "INPUT_INVALID", "{wrong}");
    assert_eq!(wrong["error"]["data"]["errors"][0]["path"], "/n", "{wrong}");
    assert!(!sent_to(&path, "up").contains(&"tools/call".to_owned()));
    let code = |answer: &Json| answer["result"]["_meta"]["toolwright/error"]["code"].clone();
    let result = json!({"content": [], "structuredContent": {"other": 1}});
    let task = create(&mut client, "up__may", json!({"result": result}));
    let done = of_task(&mut client, "tasks/result", &task);
    assert_eq!(code(&done), "OUTPUT_INVALID", "{done}");
    assert_eq!(done["result"]["_meta"][RELATED]["taskId"], task, "{done}");
    let long =
        json!({"content": [{"type": "text", "text": "long ".repeat(1000)}], "isError": true});
    let task = create(&mut client, "up__may", json!({"result": long}));
    let done = of_task(&mut client, "tasks/result", &task);
    assert!(done.to_string().contains("read_result"), "{done}");
    assert!(done.to_string().len() < 3000, "{done}");
    drop(folder);
}

/// The extension of 2026-07-28 has no `tasks/result`: `tasks/get` brings the result.
#[test]
fn results_in_tasks_of_the_newest_revision_are_checked_like_others() {
    const EXTENSION: &str = "io.modelcontextprotocol/tasks";
    let script = |result: Json| {
        let task = |status: &str| {
            json!({
                "taskId": "t1", "status": status, "ttlMs": 60000,
                "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
            })
        };
        let mut created = task("working");
        created["resultType"] = json!("task");
        let mut ended = task("completed");
        (ended["resultType"], ended["result"]) = (json!("complete"), result);
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
            "tasks/get": {"result": ended},
        })
    };
    let structured = |value: Json| json!({"content": [], "structuredContent": value});
    let long =
        json!({"content": [{"type": "text", "text": "long ".repeat(40_000)}], "isError": true});
    let huge = json!({"content": [{"type": "text", "text": "x".repeat(2 << 20)}], "isError": true});
    let secret = "env = { TOKEN = \"correct-horse-battery\" }";
    let servers = ScriptedServers::new(&[
        ("wrong", "", script(structured(json!({"n": "one"})))),
        ("long", "", script(long)),
        ("huge", "", script(huge)),
        ("right", secret, script(structured(json!({"n": 1, "t": "correct-horse-battery"})))),
    ]);
    let mut client = StdioClient::bare(servers.path(), &[], &[]);
    let extensions = json!({"extensions": {EXTENSION: {}}});
    let meta = json!({"io.modelcontextprotocol/clientCapabilities": extensions});
    let mut ended = |name: &str| {
        let params = json!({"name": format!("{name}__t"), "arguments": {}, "_meta": meta});
        let created = client.ask("tools/call", modern(params));
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        let params = json!({"taskId": created["result"]["taskId"], "_meta": meta});
        let ended = client.ask("tasks/get", modern(params));
        let task = &ended["result"];
        assert_eq!(
            (&task["status"], &task["resultType"]),
            (&json!("completed"), &json!("complete"))
        );
        assert_eq!(task["taskId"], created["result"]["taskId"], "{task}");
        task["result"].clone()
    };
    let code = |result: &Json| result["_meta"]["toolwright/error"]["code"].clone();
    let wrong = ended("wrong");
    assert_eq!((&wrong["isError"], code(&wrong)), (&json!(true), json!("OUTPUT_INVALID")));
    let long = ended("long");
    assert!(long.to_string().contains("read_result"), "{long}");
    assert!(long.to_string().len() < 100_000, "{long}");
    let huge = ended("huge");
    assert_eq!(code(&huge), "OUTPUT_TOO_LARGE");
    let right = ended("right");
    assert_eq!(right["structuredContent"], json!({"n": 1, "t": "***"}), "{right}");
}

#[test]
fn a_task_for_a_tool_without_tasks_is_refused_or_ignored() {
    let both = with_tasks("up", "") + &server("good", "good") + LONG_STARTUP;
    let (folder, path) = configured(&both);
    let (mut client, _) = knowing_tasks(&path, json!({"tasks": {}}));
    for name in ["good__echo", "up__plain", "up__silent"] {
        let refused = client.ask("tools/call", call_params(name, &json!({})));
        assert_eq!(refused["error"]["code"], -32601, "{name}: {refused}");
        let message = format!("the tool `{}` cannot be called as a task", name.replace("__", ":"));
        assert_eq!(refused["error"]["message"], message, "{refused}");
    }
    assert!(!sent_to(&path, "up").contains(&"tools/call".to_owned()));
    // A client that accepts tasks need not make any: its capability is about requests to it.
    let done = client.ask("tools/call", json!({"name": "up__must", "arguments": {"n": 1}}));
    assert_eq!(done["result"]["structuredContent"]["echo"]["n"], 1, "{done}");
    for task in [json!(true), json!(null)] {
        let wrong = json!({"name": "up__may", "arguments": {}, "task": task});
        assert_eq!(client.ask("tools/call", wrong)["error"]["code"], -32602, "{task}");
    }
    drop((client, folder));

    // Without any tasks, the wish for one is ignored, as the specification has it.
    let (folder, path) = configured(&(server("good", "good") + LONG_STARTUP));
    let (mut client, greeting) = knowing_tasks(&path, json!({}));
    assert_eq!(greeting["capabilities"].get("tasks"), None, "{greeting}");
    let done = client.ask("tools/call", call_params("good__echo", &json!({"n": 1})));
    assert_eq!(done["result"]["structuredContent"], json!({"echo": {"n": 1}}), "{done}");
    let refused = client.ask("tasks/list", json!({}));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    let stateless = modern(call_params("good__echo", &json!({"n": 2})));
    let done = client.ask("tools/call", stateless);
    assert_eq!(done["result"]["structuredContent"], json!({"echo": {"n": 2}}), "{done}");
    drop(folder);
}

#[test]
fn a_restarted_server_does_not_show_one_client_the_task_of_another() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let web = HttpClient::start(&path, &[], &[]);
    let (one, two) = (web.session("2025-11-25"), web.session("2025-11-25"));
    let create = |session: &Session<'_>, n: u64| {
        let params = call_params("up__may", &json!({"n": n, "gate": "/nowhere/ever"}));
        let made = session.ask(1, "tools/call", params).answer(&json!(1));
        made["result"]["task"]["taskId"].as_str().map(str::to_owned)
    };
    assert_eq!(create(&one, 1).as_deref(), Some("t1"));
    one.ask(2, "tools/call", json!({"name": "up__plain", "arguments": {"exit": true}}));
    // There is a pause before the next start.
    let second = until("the restart", LONG, || create(&two, 2));
    assert_eq!(second, "t1");
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let lost = one.ask(3, method, json!({"taskId": "t1"})).answer(&json!(3));
        assert_eq!(lost["error"]["code"], -32602, "{method}: {lost}");
    }
    let list = one.ask(4, "tasks/list", json!({})).answer(&json!(4));
    assert_eq!(list["result"]["tasks"], json!([]), "{list}");
    let kept = two.ask(5, "tasks/get", json!({"taskId": "t1"})).answer(&json!(5));
    assert_eq!(kept["result"]["status"], "working", "{kept}");
    // A new task of the first client does not get the name of the one that it lost.
    let lost = create(&one, 3);
    assert_eq!(lost.as_deref(), Some("t2"));
    drop(folder);
}

#[test]
fn hidden_tasks_of_isolated_servers_do_not_mix() {
    let (folder, path) = configured(&(with_tasks("up", "isolation = \"session\"") + LONG_STARTUP));
    let web = HttpClient::start(&path, &[], &[]);
    let (one, two) = (web.session("2025-11-25"), web.session("2025-11-25"));
    let (file, gate) = gate(&path);
    let call = |session: &Session<'_>, text: &str| {
        let mut params = json!({"name": "up__must", "arguments": {"gate": file, "status": [text]}});
        params["_meta"] = json!({"progressToken": text});
        let reply = session.ask(1, "tools/call", params);
        let of_progress = |message: &Json| message["method"] == "notifications/progress";
        let reports: Vec<_> = reply.messages().into_iter().filter(of_progress).collect();
        let texts = reports.iter().map(|it| it["params"]["message"].clone());
        (texts.collect::<Vec<_>>(), reply.answer(&json!(1)))
    };
    let waiting = |count: usize| {
        until("the wait for a result", LONG, || {
            let sent = sent_to(&path, "up");
            (sent.iter().filter(|it| *it == "tasks/result").count() >= count).then_some(())
        });
    };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| call(&one, "of one"));
        waiting(1);
        let second = scope.spawn(|| call(&two, "of two"));
        waiting(2);
        open(&gate);
        (first.join().expect("an answer"), second.join().expect("an answer"))
    });
    for ((texts, done), own) in [(first, "of one"), (second, "of two")] {
        assert_eq!(texts, ["begun", own], "{done}");
        assert_eq!(done["result"]["structuredContent"]["echo"]["status"], json!([own]), "{done}");
    }
    drop(folder);
}

#[test]
fn a_server_cannot_report_progress_of_the_task_of_another() {
    let (folder, path) = configured(&(with_tasks("a", "") + &with_tasks("b", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let mut params = call_params("a__may", &json!({"gate": "/nowhere/ever"}));
    params["_meta"] = json!({"progressToken": "of a"});
    client.ask("tools/call", params);
    // Tokens count down from -1.
    for token in [-1, -2] {
        create(&mut client, "b__may", json!({"progress": 1, "token": token, "log": token}));
        client.find("the log message after it", |it| it["params"]["data"] == token);
    }
    let forged = client.kept.iter().find(|it| it["method"] == "notifications/progress");
    assert_eq!(forged, None);
    drop(folder);
}

#[test]
fn the_end_of_a_session_cancels_its_running_tasks() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let web = HttpClient::start(&path, &[], &[]);
    let session = web.session("2025-11-25");
    let done = call_params("up__may", &json!({}));
    session.ask(1, "tools/call", done);
    session.ask(2, "tasks/result", json!({"taskId": "t1"}));
    session.ask(3, "tools/call", call_params("up__may", &json!({"gate": "/nowhere/ever"})));
    assert_eq!(web.exchange("DELETE", "/mcp", &session.headers(), "").status, 204);
    until("the end of the task", LONG, || {
        sent_to(&path, "up").contains(&"tasks/cancel".to_owned()).then_some(())
    });
    // The other one had ended: a later request comes after all that were sent.
    web.session("2025-11-25").ask(1, "tools/call", call_params("up__may", &json!({})));
    let cancelled = sent_to(&path, "up").iter().filter(|it| *it == "tasks/cancel").count();
    assert_eq!(cancelled, 1);
    drop(folder);
}

#[test]
fn a_call_that_is_cancelled_before_its_task_exists_cancels_the_task() {
    for params in [call_params("up__may", &json!({})), json!({"name": "up__must"})] {
        let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
        let (mut client, _) = knowing_tasks(&path, json!({}));
        let (late, gate) = gate(&path);
        let mut params = params;
        params["arguments"] = json!({"late": late, "gate": "/nowhere/ever"});
        let call = client.send("tools/call", params);
        let sent = |method: &str| {
            until(method, LONG, || sent_to(&path, "up").contains(&method.to_owned()).then_some(()));
        };
        sent("tools/call");
        client.notify("notifications/cancelled", json!({"requestId": call}));
        sent("notifications/cancelled");
        open(&gate);
        sent("tasks/cancel");
        drop(folder);
    }
}

#[test]
fn ids_tokens_and_progress_of_tasks_have_a_limit() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let arguments = json!({"id_bytes": 2000, "gate": "/nowhere/ever"});
    let refused = client.ask("tools/call", call_params("up__may", &arguments));
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    assert_eq!(refused["error"]["data"]["code"], "OUTPUT_INVALID", "{refused}");
    until("the end of the task", LONG, || {
        sent_to(&path, "up").contains(&"tasks/cancel".to_owned()).then_some(())
    });
    let mut params = call_params("up__may", &json!({}));
    params["_meta"] = json!({"progressToken": "p".repeat(2000)});
    let refused = client.ask("tools/call", params);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    // Of a task that the client knows, and of one that it does not.
    let arguments = json!({"progress": 1, "pad": 100_000});
    for params in
        [call_params("up__may", &arguments), json!({"name": "up__must", "arguments": arguments})]
    {
        let mut params = params;
        params["_meta"] = json!({"progressToken": "p"});
        client.send("tools/call", params);
        let report = client.find("progress", |it| {
            it["method"] == "notifications/progress" && it["params"]["message"] != "begun"
        });
        assert_eq!(report["params"]["message"], "m".repeat(1000), "{report}");
        assert_eq!(report["params"]["progressToken"], "p", "{report}");
    }
    drop(folder);
}
