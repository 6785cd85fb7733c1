//! How long tasks live: what becomes of them, and of their results, when their source is removed or
//! changed, their server ends, or their client goes. What tasks do otherwise is in `tasks`.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::client::{HttpClient, LONG, StdioClient, configured, descendants, until};
use crate::serving::{LONG_STARTUP, server};
use crate::tasks::{call_params, create, gate, knowing_tasks, of_task, open, sent_to, with_tasks};

#[test]
fn a_task_goes_on_when_its_source_is_removed() {
    let (folder, path) = configured(&(with_tasks("old", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let (file, gate) = gate(&path);
    let task = create(&mut client, "old__may", json!({"gate": file}));
    let before = descendants(client.pid()).len();
    let changed = with_tasks("new", "") + LONG_STARTUP;
    std::fs::write(path.join("toolwright.toml"), changed).expect("a file");
    until("the new tools", LONG, || {
        let names = client.names();
        names
            .iter()
            .all(|name| name.starts_with("new__"))
            .then_some(())
            .filter(|()| !names.is_empty())
    });
    assert!(descendants(client.pid()).len() > before, "the old server has ended");
    let found = of_task(&mut client, "tasks/get", &task);
    assert_eq!(found["result"]["status"], "working", "{found}");
    open(&gate);
    let done = of_task(&mut client, "tasks/result", &task);
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    // Nothing runs there any more.
    until("the end of the server", LONG, || {
        (descendants(client.pid()).len() == before).then_some(())
    });
    drop(folder);
}

/// Waits until the tools of all sources but `good` are gone.
fn until_only_good(client: &mut StdioClient) {
    until("the new tools", LONG, || {
        let names = client.names();
        (!names.is_empty() && names.iter().all(|name| name.starts_with("good__"))).then_some(())
    });
}

/// Replaces the configuration by one whose only server has no tasks.
fn remove_tasks(folder: &Path) {
    let changed = server("good", "good") + LONG_STARTUP;
    std::fs::write(folder.join("toolwright.toml"), changed).expect("a file");
}

#[test]
fn the_result_of_a_finished_task_outlives_its_source() {
    let (folder, path) = configured(&(with_tasks("old", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let [fetched, other] = [1, 2].map(|n| create(&mut client, "old__may", json!({"n": n})));
    for task in [&fetched, &other] {
        until_completed(&mut client, task);
    }
    remove_tasks(&path);
    until_only_good(&mut client);
    // The capability was announced to this client.
    let list = client.ask("tasks/list", json!({}));
    assert_eq!(list["result"]["tasks"].as_array().map(Vec::len), Some(2), "{list}");
    let refused = client.ask("tools/call", call_params("good__echo", &json!({})));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    for (task, n) in [(&fetched, 1), (&other, 2)] {
        let done = of_task(&mut client, "tasks/result", task);
        assert_eq!(done["result"]["structuredContent"]["echo"]["n"], n, "{done}");
    }
    // Nothing is left to fetch, so the server ends.
    let lost = until("the end of the server", LONG, || {
        let lost = of_task(&mut client, "tasks/get", &fetched);
        lost.get("error").is_some().then_some(lost)
    });
    assert_eq!(lost["error"]["code"], -32602, "{lost}");
    let message = lost["error"]["message"].as_str().expect("a text");
    assert!(message.contains("was removed from the configuration"), "{lost}");
    let list = client.ask("tasks/list", json!({}));
    assert_eq!(list["result"]["tasks"], json!([]), "{list}");
    drop(folder);
}

#[test]
fn running_tasks_of_a_removed_source_end_with_a_status() {
    let (folder, path) = configured(&(with_tasks("old", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let (file, gate) = gate(&path);
    let done = create(&mut client, "old__may", json!({"gate": file, "announce": true}));
    let mut params = call_params("old__may", &json!({"gate": "/nowhere/ever"}));
    params["task"]["ttl"] = json!(15_000);
    let lost = client.ask("tools/call", params)["result"]["task"]["taskId"].clone();
    remove_tasks(&path);
    until_only_good(&mut client);
    open(&gate);
    let of = |task: &Json| {
        let task = task.clone();
        move |it: &Json| {
            it["method"] == "notifications/tasks/status" && it["params"]["taskId"] == task
        }
    };
    let status = client.find("the last status", of(&json!(done)));
    assert_eq!(status["params"]["status"], "completed", "{status}");
    assert_eq!(of_task(&mut client, "tasks/result", &done)["result"]["isError"], false);
    // The server ends with the time to live of its last task.
    let status = client.find("the last status", of(&lost));
    let expected = json!({
        "taskId": lost, "status": "failed", "statusMessage": "the server of the task has ended",
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
        "ttl": 15_000, "pollInterval": 10,
    });
    assert_eq!(status["params"], expected);
    drop(folder);
}

/// Waits until a task is completed.
fn until_completed(client: &mut StdioClient, task: &str) {
    until("the end of the task", LONG, || {
        let found = of_task(client, "tasks/get", task);
        (found["result"]["status"] == "completed").then_some(())
    });
}

/// Its result is checked by the schema that the tool had when it was called.
#[test]
fn the_result_of_a_finished_task_outlives_a_change_of_its_source() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let task = create(&mut client, "up__may", json!({"n": 1}));
    until_completed(&mut client, &task);
    let other = with_tasks("up", "").replace("CALL_LOG", "OUTPUT = \"other\", CALL_LOG");
    std::fs::write(path.join("toolwright.toml"), other + LONG_STARTUP).expect("a file");
    until("the new schema", LONG, || {
        let list = client.ask("tools/list", json!({})).to_string();
        list.contains(r#""required":["other"]"#).then_some(())
    });
    let done = of_task(&mut client, "tasks/result", &task);
    assert_eq!(done["result"]["structuredContent"]["echo"]["n"], 1, "{done}");
    drop(folder);
}

#[test]
fn a_session_that_ends_leaves_no_results_on_a_removed_server() {
    let (folder, path) = configured(&(with_tasks("old", "") + LONG_STARTUP));
    let web = HttpClient::start(&path, &[], &[]);
    let session = web.session("2025-11-25");
    let mut params = call_params("old__may", &json!({}));
    params["task"]["ttl"] = json!(3_600_000);
    session.ask(1, "tools/call", params).answer(&json!(1));
    until("the end of the task", LONG, || {
        let found = session.ask(2, "tasks/get", json!({"taskId": "t1"})).answer(&json!(2));
        (found["result"]["status"] == "completed").then_some(())
    });
    remove_tasks(&path);
    until("the new tools", LONG, || {
        let list = session.ask(3, "tools/list", json!({})).body;
        (list.contains("good__") && !list.contains("old__")).then_some(())
    });
    let before = descendants(web.running.pid()).len();
    assert_eq!(web.exchange("DELETE", "/mcp", &session.headers(), "").status, 204);
    until("the end of the server", LONG, || {
        (descendants(web.running.pid()).len() < before).then_some(())
    });
    drop(folder);
}

#[test]
fn a_source_that_is_removed_twice_reports_its_tasks_once() {
    let with = with_tasks("old", "") + &server("good", "good") + LONG_STARTUP;
    let (folder, path) = configured(&with);
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let (file, gate) = gate(&path);
    let task = create(&mut client, "old__may", json!({"gate": file, "announce": true}));
    remove_tasks(&path);
    until_only_good(&mut client);
    std::fs::write(path.join("toolwright.toml"), &with).expect("a file");
    until("the old tools", LONG, || {
        client.names().iter().any(|name| name.starts_with("old__")).then_some(())
    });
    remove_tasks(&path);
    until_only_good(&mut client);
    open(&gate);
    let is_status = |it: &Json| it["method"] == "notifications/tasks/status";
    let status = client.find("the last status", is_status);
    assert_eq!(status["params"]["status"], "completed", "{status}");
    // Later than the status, wherever it waits.
    for _ in 0..20 {
        let found = of_task(&mut client, "tasks/get", &task);
        assert_eq!(found["result"]["status"], "completed", "{found}");
    }
    assert_eq!(client.kept.iter().find(|it| is_status(it)), None);
    drop(folder);
}

/// Its source is removed before the server has answered the call.
#[test]
fn a_task_that_begins_after_the_end_of_its_source_has_its_client() {
    let (folder, path) = configured(&(with_tasks("old", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let (file, gate) = gate(&path);
    let call = client.send("tools/call", call_params("old__may", &json!({"n": 1, "late": file})));
    until("the call", LONG, || {
        sent_to(&path, "old").contains(&"tools/call".to_owned()).then_some(())
    });
    remove_tasks(&path);
    until_only_good(&mut client);
    open(&gate);
    let task = client.answer(&call)["result"]["task"]["taskId"].clone();
    let done = of_task(&mut client, "tasks/result", task.as_str().expect("an id"));
    assert_eq!(done["result"]["structuredContent"]["echo"]["n"], 1, "{done}");
    drop(folder);
}

/// As many clients as may have a server of their own, and one more.
#[test]
fn results_that_nobody_fetches_do_not_keep_others_from_an_isolated_server() {
    let (folder, path) = configured(&(with_tasks("up", "isolation = \"session\"") + LONG_STARTUP));
    let web = HttpClient::start(&path, &[], &[]);
    let sessions: Vec<_> = (0..64).map(|_| web.session("2025-11-25")).collect();
    for session in &sessions {
        session.ask(1, "tools/call", call_params("up__may", &json!({}))).answer(&json!(1));
        until("the end of the task", LONG, || {
            let found = session.ask(2, "tasks/get", json!({"taskId": "t1"})).answer(&json!(2));
            (found["result"]["status"] == "completed").then_some(())
        });
    }
    let plain = json!({"name": "up__plain", "arguments": {"n": 1}});
    let done = web.session("2025-11-25").ask(1, "tools/call", plain).answer(&json!(1));
    assert_eq!(done["result"]["structuredContent"]["echo"]["n"], 1, "{done}");
    drop((sessions, folder));
}

/// The answer is so long that the end of the server is noticed before it is read.
#[test]
fn a_task_of_a_server_that_ends_at_once_is_reported_as_failed() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    for _ in 0..3 {
        let task = create(&mut client, "up__may", json!({"crash": 1_000_000}));
        let status = client.find("the last status", |it| {
            it["method"] == "notifications/tasks/status" && it["params"]["taskId"] == task
        });
        assert_eq!(status["params"]["status"], "failed", "{status}");
    }
    drop(folder);
}

/// An error that Toolwright answers with for its server does not show that the server works.
#[test]
fn requests_about_lost_tasks_do_not_end_a_row_of_failures() {
    let (folder, path) = configured(&(with_tasks("up", "") + LONG_STARTUP));
    let (mut client, _) = knowing_tasks(&path, json!({}));
    let task = create(&mut client, "up__may", json!({"gate": "/nowhere/ever"}));
    for n in 1..=4 {
        let gate = path.join(format!("gate{n}"));
        let arguments = json!({"late": gate.display().to_string(), "exit": true});
        let call = client.send("tools/call", json!({"name": "up__plain", "arguments": arguments}));
        until("the call", LONG, || {
            let calls = sent_to(&path, "up").iter().filter(|it| *it == "tools/call").count();
            (calls == 1 + n).then_some(())
        });
        let found = of_task(&mut client, "tasks/get", &task);
        assert_eq!(found["error"]["code"] == -32602, n > 1, "{found}");
        open(&gate);
        client.answer(&call);
    }
    let mut crashes = 4;
    // A call waits for the end of a short pause, and the pauses become longer.
    until("a long pause", LONG, || {
        let failed = client.call("up__plain", json!({"exit": true})).to_string();
        match failed.contains("failed before this call") {
            true => {
                let row = format!("failed {crashes} times in a row");
                assert!(failed.contains(&row), "{row}: {failed}");
                Some(())
            }
            false => {
                crashes += 1;
                None
            }
        }
    });
    drop(folder);
}
