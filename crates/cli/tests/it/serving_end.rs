//! How calls and `toolwright serve` itself end: by cancellation, by the end of standard input and
//! by signals. No process stays behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde_json::json;

use crate::client::{
    EXIT, LONG, RunningProgram, StdioClient, add_tools, configured, descendants, faulty_server,
    gone, handshake, pid_in, request, runs, signal, until,
};
use crate::serving::{LONG_STARTUP, SHORT_STARTUP, config_with_tools, server};

/// Starts a call that starts a process, cancels the call, and waits for the process to end.
fn cancel_one(client: &mut StdioClient, mode: &str, file: &Path) {
    let id = client.send_call(mode, json!({"file": file.display().to_string()}));
    let pid = pid_in(file);
    assert!(runs(pid));
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "a test"}));
    gone(mode, pid, EXIT);
    // A cancelled request gets no answer.
    client.ask("ping", json!({}));
    assert!(client.kept.iter().all(|message| message["id"] != id), "{:?}", client.kept);
}

/// The process is in a session of its own, so a signal to the group does not reach it. It becomes
/// our child a moment after its parent was killed; ten rounds hit that moment.
#[test]
fn cancelling_a_call_kills_processes_in_other_sessions() {
    let (folder, path) = config_with_tools(&["setsid"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    for round in 0..10 {
        cancel_one(&mut client, "setsid", &path.join(format!("pid-{round}")));
    }
}

#[test]
fn cancelling_a_call_ends_its_processes_and_its_upstream_call() {
    let log = tempfile::tempdir().expect("a folder");
    let log = log.path().join("cancelled");
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\n{}\
         env = {{ CANCEL_LOG = \"{}\" }}\n{LONG_STARTUP}",
        server("up", "good"),
        log.display()
    ));
    std::fs::create_dir_all(log.parent().expect("a folder")).expect("a folder");
    add_tools(&path, &["fork", "daemon"]);
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    for mode in ["fork", "daemon"] {
        cancel_one(&mut client, mode, &path.join(mode));
    }
    let id = client.send(
        "tools/call",
        json!({
            "name": "up__progress", "arguments": {"steps": 1000, "ms": 10},
            "_meta": {"progressToken": 1},
        }),
    );
    client.find("progress", |message| message["method"] == "notifications/progress");
    client.notify("notifications/cancelled", json!({"requestId": id}));
    until("the cancellation at the upstream", LONG, || {
        std::fs::read_to_string(&log).ok().filter(|text| text.starts_with("cancelled "))
    });
    // Cancelling an unknown request is allowed and has no effect.
    client.notify("notifications/cancelled", json!({"requestId": 4711}));
    assert_eq!(client.call("up__echo", json!({}))["isError"], false);
}

#[test]
fn the_end_of_stdin_ends_the_server_and_its_processes() {
    let (folder, _) = config_with_tools(
        &["echo"],
        &(server("stuck", "hang-start") + &server("deaf", "ignore-term") + SHORT_STARTUP),
    );
    for stage in ["at once", "greeted", "idle"] {
        let mut client = StdioClient::bare(folder.path(), &[], &[]);
        if stage != "at once" {
            client.shake_hands("2025-06-18");
        }
        if stage == "idle" {
            assert_eq!(client.call("up__echo", json!({}))["isError"], false);
            until("the server that ignores signals", LONG, || {
                client.stderr().contains("deaf: 14 tools").then_some(())
            });
        }
        let pids = descendants(client.pid());
        client.hang_up();
        let (code, _, stderr) = client.end(EXIT);
        assert_eq!(code, 0, "{stage}: {stderr}");
        for pid in pids {
            gone(stage, pid, EXIT);
        }
    }
}

#[test]
fn the_end_of_stdin_ends_running_calls() {
    let (folder, path) = config_with_tools(&["fork", "setsid"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    let mut pids: Vec<u32> = Vec::new();
    for mode in ["fork", "setsid"] {
        client.send_call(mode, json!({"file": path.join(mode).display().to_string()}));
        pids.push(pid_in(&path.join(mode)));
    }
    client.send_call("up__sleep", json!({"ms": 30_000}));
    pids.extend(descendants(client.pid()));
    client.hang_up();
    let (code, _, stderr) = client.end(EXIT);
    assert_eq!(code, 0, "{stderr}");
    for pid in pids {
        gone("a call", pid, EXIT);
    }
}

/// `printf … | toolwright serve` is a way to use it.
#[test]
fn requests_before_the_end_of_stdin_are_answered() {
    let (folder, _) = config_with_tools(&["add"], "");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    client.names();
    let id = client.send_call("add", json!({"a": 1, "b": 2}));
    client.hang_up();
    assert_eq!(client.answer(&id)["result"]["structuredContent"], json!({"sum": 3}));
    assert_eq!(client.end(EXIT).0, 0);
}

#[test]
fn a_signal_ends_the_server_and_its_processes() {
    let (folder, path) =
        config_with_tools(&["fork", "setsid"], &(server("stuck", "hang-start") + SHORT_STARTUP));
    for name in ["TERM", "INT"] {
        let mut client = StdioClient::start(folder.path(), &[], &[]);
        let mut pids = Vec::new();
        for mode in ["fork", "setsid"] {
            let file = path.join(mode);
            let _ = std::fs::remove_file(&file);
            until("the tool in the list", LONG, || {
                client.names().contains(&mode.to_owned()).then_some(())
            });
            client.send_call(mode, json!({"file": file.display().to_string()}));
            pids.push(pid_in(&file));
        }
        pids.extend(descendants(client.pid()));
        signal(client.pid(), name);
        let (code, _, stderr) = client.end(EXIT);
        assert_eq!(code, 0, "{name}: {stderr}");
        for pid in pids {
            gone(name, pid, EXIT);
        }
    }
}

/// A client that does not read its answers blocks the server's writes, but not its end.
#[test]
fn a_signal_ends_the_server_while_its_client_does_not_read() {
    let (folder, _) = config_with_tools(&[], "");
    let mut running = RunningProgram::start_unread(folder.path(), &["serve"], &[]);
    let mut stdin = running.stdin.take().expect("open");
    let mut stdout = BufReader::new(running.child.stdout.take().expect("piped"));
    writeln!(stdin, "{}", request(&json!(0), "initialize", &handshake("2025-06-18")))
        .expect("it reads");
    stdout.read_line(&mut String::new()).expect("the answer to the handshake");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    writeln!(stdin, "{initialized}").expect("it reads");
    for id in 1..=50 {
        let params = json!({"name": "up__big", "arguments": {"bytes": 100_000}});
        writeln!(stdin, "{}", request(&json!(id), "tools/call", &params)).expect("it reads");
    }
    // An answer has begun. The rest of the 5 MB does not fit into the pipe, so the server blocks in
    // a write, or will, for ever.
    stdout.read_exact(&mut [0]).expect("the beginning of an answer");
    signal(running.pid(), "TERM");
    let status = until("the end", EXIT, || running.child.try_wait().expect("ours"));
    assert_eq!(status.code(), Some(0), "{}", running.stderr());
}

/// The tests rely on these helpers to see which processes are alive.
#[test]
fn the_helpers_recognise_running_processes() {
    assert!(runs(std::process::id()) && !runs(u32::MAX));
    assert!(Path::new(&faulty_server()).is_file());
}
