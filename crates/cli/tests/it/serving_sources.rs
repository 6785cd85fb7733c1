//! What clients see while sources start, fail, hang or change. No test measures time; where one
//! must show that something does not wait, it compares the order of events with that of a server
//! that hangs, which is given up after 20 s.

use serde_json::json;

use crate::client::{
    EXIT, LONG, StdioClient, configured, faulty_server, modern, names, process_tool, until,
};
use crate::serving::{LONG_STARTUP, SHORT_STARTUP, config_with_tools, server, text_of};

/// A line of the log without the time that it starts with.
fn without_time(line: &str) -> &str {
    line.split_once("Z ").expect("a time").1
}

#[test]
fn the_list_follows_changes_of_its_sources() {
    let tool = |name: &str| {
        format!(
            r#"{{"name": "{name}", "description": "A tool.", "inputSchema": {{"type": "object"}}}}"#
        )
    };
    let (folder, path) = configured(&format!(
        "{}[[source]]\nname = \"files\"\npath = \"files\"\n{LONG_STARTUP}",
        server("up", "changing")
    ));
    std::fs::create_dir(path.join("files")).expect("a folder");
    std::fs::write(path.join("files/a.json"), tool("first")).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let before = client.names();
    assert!(
        before.contains(&"first".to_owned()) && !before.contains(&"up__added".to_owned()),
        "{before:?}"
    );
    let changed = |client: &mut StdioClient| {
        client.find("`list_changed`", |message| {
            message["method"] == "notifications/tools/list_changed"
        });
    };
    client.kept.clear();
    client.call("up__echo", json!({}));
    changed(&mut client);
    until("the added tool", LONG, || {
        client.names().contains(&"up__added".to_owned()).then_some(())
    });
    assert_eq!(client.call("up__added", json!({"x": 1}))["isError"], false);
    // Add a file, remove a file, add a source.
    client.kept.clear();
    std::fs::write(path.join("files/b.json"), tool("second")).expect("a file");
    changed(&mut client);
    until("the second file", LONG, || client.names().contains(&"second".to_owned()).then_some(()));
    client.kept.clear();
    std::fs::remove_file(path.join("files/a.json")).expect("a file");
    changed(&mut client);
    until("the first file to go", LONG, || {
        (!client.names().contains(&"first".to_owned())).then_some(())
    });
    client.kept.clear();
    let config = std::fs::read_to_string(path.join("toolwright.toml")).expect("ours");
    std::fs::write(path.join("toolwright.toml"), config + &server("more", "good")).expect("a file");
    changed(&mut client);
    until("the new source", LONG, || {
        client.names().contains(&"more__echo".to_owned()).then_some(())
    });
    assert!(
        client.names().contains(&"up__added".to_owned()),
        "unchanged sources are not restarted"
    );
}

#[test]
fn a_configuration_with_mistakes_keeps_the_last_good_one() {
    let good = server("a", "good") + &server("b", "good");
    let (folder, path) = configured(&(good.clone() + LONG_STARTUP));
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let before = client.names();
    assert!(before.contains(&"b__echo".to_owned()), "{before:?}");
    let half = server("a", "good") + "[[source]]\nname = \"b\"\n";
    let unknown = server("a", "good") + &server("b", "good") + "bogus = 1\n";
    let stays = "the configuration has errors; the previous one stays in use";
    for (n, text) in [half, unknown].iter().enumerate() {
        std::fs::write(path.join("toolwright.toml"), format!("{text}{LONG_STARTUP}"))
            .expect("a file");
        until("the report", LONG, || {
            (client.stderr().matches(stays).count() == n + 1).then_some(())
        });
        assert_eq!(client.names(), before);
        assert_eq!(client.call("b__echo", json!({}))["isError"], false);
    }
    assert!(client.stderr().contains("bogus"), "{}", client.stderr());
    std::fs::write(path.join("toolwright.toml"), server("b", "good") + LONG_STARTUP)
        .expect("a file");
    until("the next good one", LONG, || {
        (!client.names().contains(&"a__echo".to_owned())).then_some(())
    });
}

#[test]
fn subscribers_of_the_newest_revision_are_notified() {
    let (folder, _) = configured(&(server("up", "changing") + LONG_STARTUP));
    let mut client = StdioClient::bare(folder.path(), &[], &[]);
    assert!(
        names(&client.ask("tools/list", modern(json!({})))["result"])
            .contains(&"up__echo".to_owned())
    );
    let id = client.send(
        "subscriptions/listen",
        modern(json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}})),
    );
    let accepted = client.find("the acknowledgement", |message| {
        message["method"] == "notifications/subscriptions/acknowledged"
    });
    assert_eq!(
        accepted["params"]["notifications"],
        json!({"toolsListChanged": true}),
        "{accepted}"
    );
    client.ask("tools/call", modern(json!({"name": "up__echo", "arguments": {}})));
    let changed = client
        .find("`list_changed`", |message| message["method"] == "notifications/tools/list_changed");
    let subscription = &changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*subscription, id, "{changed}");
}

/// Sources that fail in different ways.
fn trouble() -> String {
    let bad = "[[source]]\nname = \"bad-program\"\ncommand = [\"/no/such/program\"]\n\
               [[source]]\nname = \"bad-folder\"\nexecutables = \"no/such/folder\"\n\
               [[source]]\nname = \"bad-file\"\npath = \"no-such-file.json\"\n\
               [[source]]\nname = \"torn\"\npath = \"torn.json\"\n\
               [[source]]\nname = \"unreachable\"\nurl = \"http://127.0.0.1:1/mcp\"\n";
    let modes =
        ["exit-start", "garbage", "garbage-only", "flood-err", "close-stdout-start", "bad-list"];
    bad.to_owned() + &modes.map(|mode| server(mode, mode)).concat()
}

#[test]
fn sources_that_fail_do_not_affect_others() {
    let (folder, path) = config_with_tools(
        &["add", "schema-exit", "schema-garbage", "schema-big"],
        &(trouble() + SHORT_STARTUP),
    );
    std::fs::write(
        path.join("torn.json"),
        r#"[{"name": "whole", "inputSchema": {}}, {"name": "torn", "inputSchema": {"type": 12}}, {"name"#,
    )
    .expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let listed = until("the tools of the good sources", LONG, || {
        let listed = client.names();
        let is_there = |name: &&str| listed.contains(&(*name).to_owned());
        ["add", "up__echo", "bad-list__echo"].iter().all(is_there).then_some(listed)
    });
    assert!(!listed.iter().any(|name| name.contains("external_ref")), "{listed:?}");
    assert_eq!(client.call("add", json!({"a": 1, "b": 2}))["structuredContent"], json!({"sum": 3}));
    assert_eq!(
        client.call("up__add", json!({"a": 1, "b": 2}))["structuredContent"],
        json!({"sum": 3})
    );
    assert_eq!(client.call("bad-list__echo", json!({}))["isError"], false);
    let aside = client.call("bad-list__external_ref", json!({}));
    assert!(text_of(&aside).starts_with("QUARANTINED: "), "{aside}");
    // Each problem is reported on stderr. The client has checked that stdout has messages only.
    until("the problems on stderr", LONG, || {
        let stderr = client.stderr();
        let words = [
            "error[COMMAND_NOT_FOUND]",
            "bad-folder: ",
            "no-such-file.json",
            "unreachable: UPSTREAM_UNAVAILABLE: ",
            "cannot find the database",
            "error[EXTERNAL_REF]",
            "schema-exit-tool: TOOL_FAILED: ",
            "tools: 1 tool",
        ];
        words.iter().all(|words| stderr.contains(words)).then_some(())
    });
    client.hang_up();
    let (code, _, stderr) = client.end(EXIT);
    assert_eq!(code, 0, "{stderr}");
    let is_ours = |line: &str| without_time(line).starts_with("toolwright: ");
    assert!(stderr.lines().all(is_ours), "{stderr}");
}

/// Whether the server `stuck`, which hangs, was given up. That takes 20 s, so until then no answer
/// can have waited for it, and no time below has to be measured.
fn gave_up_stuck(client: &StdioClient) -> bool {
    client.stderr().contains("stuck: ")
}

/// Neither a call nor a list waits for a server that hangs; only the first list does, for the
/// startup time. If each of the 25 lists waited for one second, `stuck` would be given up
/// meanwhile.
#[test]
fn a_server_that_hangs_does_not_delay_others() {
    let more = server("stuck", "hang-start") + "[serve]\nlist_wait = 1000\n";
    let (folder, _) = config_with_tools(&["add"], &more);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    // The first call may come before the tool was loaded.
    for _ in 0..25 {
        let sum = client.call("add", json!({"a": 1, "b": 2}));
        assert_eq!(sum["structuredContent"], json!({"sum": 3}), "{sum}");
    }
    for _ in 0..25 {
        assert!(client.names().contains(&"add".to_owned()));
    }
    assert!(!gave_up_stuck(&client), "an answer waited for `stuck`: {}", client.stderr());
}

/// While sources are loading, a call of `echo` must not fall back to the only tool with that name
/// so far, `up:echo`: the real `echo` may still come. Here it comes when the call is already
/// waiting. `stuck` keeps the startup from ending.
#[test]
fn a_call_during_the_start_waits_for_the_tool_it_names() {
    let more = server("stuck", "hang-start") + LONG_STARTUP;
    let (folder, path) = config_with_tools(&[], &more);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    assert_eq!(client.call("up__echo", json!({}))["isError"], false, "`up` has loaded");
    let id = client.send_call("echo", json!({}));
    // Lines are read in order, so the call was received when the answer to `ping` arrives.
    client.ask("ping", json!({}));
    let schema = json!({
        "name": "echo", "description": "The late echo.", "parameters": {"type": "object"},
    });
    // Moved into place, so that the server never sees half a script.
    process_tool(&path.join("late-tool"), &schema, r#"printf '{"late": true}'"#);
    std::fs::rename(path.join("late-tool"), path.join("tools/late-tool")).expect("a file");
    let result = client.answer(&id)["result"].clone();
    assert_eq!(result["structuredContent"], json!({"late": true}), "{result}");
}

/// A call of a tool that is still loading waits for that tool, not for all sources.
#[test]
fn a_call_during_the_start_does_not_wait_for_other_sources() {
    let late = server("late", "slow-start")
        + "env = { START_MS = \"300\" }\n"
        + &server("stuck", "hang-start")
        + LONG_STARTUP;
    let (folder, _) = config_with_tools(&[], &late);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    assert_eq!(client.call("late__echo", json!({}))["isError"], false);
    assert!(!gave_up_stuck(&client), "the call waited for `stuck`: {}", client.stderr());
}

#[test]
fn the_log_of_a_start_is_readable() {
    let (folder, _) = config_with_tools(&["echo"], &server("broken", "exit-start"));
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    until("all sources", LONG, || {
        let stderr = client.stderr();
        (stderr.contains("up: 14 tools")
            && stderr.contains("tools: 1 tool")
            && stderr.contains("database"))
        .then_some(())
    });
    let stderr = client.stderr();
    let mut lines: Vec<String> = Vec::new();
    for line in stderr.lines() {
        let line = without_time(line);
        let source = line.split(": ").nth(1).unwrap_or_default();
        // A source that failed is tried again and reported again.
        if !lines.iter().any(|known| known.contains(&format!(": {source}: "))) {
            lines.push(line.to_owned());
        }
    }
    // Sources load concurrently, so the order differs. So does what is noticed first: that the
    // server's process has ended or that its output has.
    lines.sort();
    for line in &mut lines {
        if let (Some(start), Some(end)) =
            (line.find("reached: "), line.find(": the server's process"))
        {
            line.replace_range(start + 9..end, "[how it was noticed]");
        }
        *line = line.replace(&faulty_server(), "[server]");
    }
    insta::assert_snapshot!("log_of_serve", lines.join("\n"));
}
