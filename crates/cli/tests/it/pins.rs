//! Pins: definitions that changed since they were accepted, `toolwright trust` and the lock.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::client::{LONG, StdioClient, faulty_server, run_with, until};
use crate::found_sources::answered_in;
use crate::program::{Run, folder};
use crate::running_programs::command;

/// A configuration with a server whose lists a test can change, and with definitions. It has a
/// store of its own.
struct PinnedProject {
    folder: tempfile::TempDir,
    state: String,
    /// Which script the server has now.
    script: Json,
}

const BTCP: &str = r#"{
  "btcp": "1.0", "name": "shop", "version": "1.0.0", "capabilities": ["dom:read"],
  "tools": [
    {"name": "addItem", "description": "Adds an item to the basket.", "capabilities": [],
     "inputSchema": {"type": "object"}},
    {"name": "getTotal", "description": "Adds up the basket.", "capabilities": [],
     "inputSchema": {"type": "object"}}
  ]
}
"#;

const AIOS: &str = "tool:
  id: notes
  name: Notes
  version: 1.0.0
  description: Keeps notes.
  type: cli
  cli_specific:
    command: /bin/echo
  tools:
    - id: write
      description: Writes a note.
    - id: read
      description: Reads a note.
";

impl PinnedProject {
    /// With this text at the end of the configuration.
    fn new(more: &str) -> PinnedProject {
        let folder = folder(&[
            ("shop.json", BTCP.as_bytes()),
            ("addItem.js", b"export default () => ({});\n"),
            ("getTotal.js", b"export default () => ({});\n"),
            ("notes.yaml", AIOS.as_bytes()),
        ]);
        let state = folder.path().join("state").display().to_string();
        let list = |name: &str, text: &str| json!({"name": name, "description": text, "inputSchema": {"type": "object"}});
        let changed = |what: &str| json!({"jsonrpc": "2.0", "method": format!("notifications/{what}/list_changed")});
        let script = json!({
            "initialize": {"result": {
                "protocolVersion": "2025-06-18",
                "capabilities": {
                    "tools": {"listChanged": true}, "prompts": {"listChanged": true},
                },
                "serverInfo": {"name": "up", "version": "1"},
                "instructions": "Use echo for words.",
            }},
            "tools/list": {"result": {"tools": [
                list("echo", "Repeats the words of the caller."), list("add", "Adds numbers."),
            ]}},
            // So that a call makes the server report that its lists have changed.
            "tools/call": {
                "result": {"content": [{"type": "text", "text": "called"}]},
                "after": [changed("tools"), changed("prompts")],
            },
            "prompts/list": {"result": {"prompts": [
                {"name": "greet", "description": "Greets."}, {"name": "part", "description": "Parts."},
            ]}},
            "prompts/get": {"result": {"messages": []}},
        });
        let project = PinnedProject { folder, state, script };
        project.write_script();
        project.configure(more);
        project
    }

    fn configure(&self, more: &str) {
        let text = format!(
            "{more}\n[[source]]\nname = \"up\"\ncommand = [\"{}\", \"scripted\", \"{}\"]\n\
             [[source]]\nname = \"shop\"\npath = \"shop.json\"\n\
             [[source]]\nname = \"notes\"\npath = \"notes.yaml\"\n[serve]\nlist_wait = 60000\n",
            faulty_server(),
            self.file("up.json").display()
        );
        std::fs::write(self.file("toolwright.toml"), text).expect("a file");
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write_script(&self) {
        // As a whole: the server reads it before every message.
        let new = self.file("up.json.new");
        std::fs::write(&new, self.script.to_string()).expect("a file");
        std::fs::rename(new, self.file("up.json")).expect("renamed");
    }

    /// The tools that the server lists.
    fn tools(&mut self) -> &mut Vec<Json> {
        self.script["tools/list"]["result"]["tools"].as_array_mut().expect("a list")
    }

    /// Changes the words of `echo`, and adds a tool.
    fn pull_the_rug(&mut self) {
        self.tools()[0]["description"] = "Repeats the secrets of the caller.".into();
        self.tools().push(json!({"name": "shell", "inputSchema": {"type": "object"}}));
        self.write_script();
    }

    fn variables(&self) -> [(&str, &str); 1] {
        [("XDG_STATE_HOME", &self.state)]
    }

    fn run(&self, args: &[&str]) -> Run {
        run_with(self.folder.path(), args, &self.variables(), "")
    }

    /// Runs `trust` with the configuration named, which is consent to start the server.
    fn trust(&self, args: &[&str]) -> Run {
        self.run(&[&["trust", "--config", "toolwright.toml"], args].concat())
    }

    fn call(&self, id: &str) -> Run {
        self.run(&["call", id])
    }

    fn serve(&self) -> StdioClient {
        StdioClient::start(self.folder.path(), &["--no-cache"], &self.variables())
    }

    fn replace(&self, file: &str, old: &str, new: &str) {
        let text = std::fs::read_to_string(self.file(file)).expect("a file");
        assert!(text.contains(old), "{old} is not in {file}");
        std::fs::write(self.file(file), text.replace(old, new)).expect("a file");
    }

    fn store(&self) -> PathBuf {
        self.file("state/toolwright/store.db")
    }
}

const ENFORCE: &str = "[trust]\npin = \"enforce\"\n";

/// All tools, as `serve` names them.
const ALL: [&str; 6] =
    ["notes__read", "notes__write", "shop__addItem", "shop__getTotal", "up__add", "up__echo"];

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| name != "read_result");
    names.sort();
    names
}

/// Waits until the client is told that its tools have changed and they are these.
fn until_tools(client: &mut StdioClient, expected: &[&str]) {
    until("the tools", LONG, || {
        let names = sorted(client.names());
        if names == expected {
            return Some(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        None
    });
}

fn is_tools_changed(message: &Json) -> bool {
    message["method"] == "notifications/tools/list_changed"
}

#[test]
fn a_server_that_changes_in_mid_session_loses_the_changed_tools_alone() {
    let mut project = PinnedProject::new(ENFORCE);
    let mut client = project.serve();
    assert_eq!(sorted(client.names()), ALL);
    let before = project.script.clone();
    project.pull_the_rug();
    assert_eq!(client.call("up__add", json!({}))["isError"], false);
    client.find("the change", is_tools_changed);
    let left = ["notes__read", "notes__write", "shop__addItem", "shop__getTotal", "up__add"];
    until_tools(&mut client, &left);
    let refused = client.call("up__echo", json!({}));
    let text = refused["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("QUARANTINED: `up:echo` is quarantined: this tool changed"), "{text}");
    assert!(text.contains("`toolwright trust up`"), "{text}");
    let refused = client.call("up__shell", json!({}));
    let text = refused["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("is new, and nobody has accepted it"), "{text}");
    let logged = "up differs from what was accepted: `echo` changed, `shell` is new; set aside";
    until("a line of the log", LONG, || client.stderr().contains(logged).then_some(()));
    // A new process of the server lists what was accepted. What the running one changed is shown.
    let pulled = std::mem::replace(&mut project.script, before);
    project.write_script();
    let shown = project.trust(&["up"]);
    assert_eq!(shown.code, 1, "{shown:?}");
    let words = "description: `Repeats the [-words-]{+secrets+} of the caller.`";
    assert!(
        shown.stdout.contains("changed  up:echo\n") && shown.stdout.contains(words),
        "{shown:?}"
    );
    assert!(shown.stdout.contains("new      up:shell\n"), "{shown:?}");
    project.script = pulled;
    project.write_script();
    client.kept.clear();
    let accepted = project.trust(&["up", "--accept", "shell"]);
    assert_eq!(accepted.code, 1, "one is left: {accepted:?}");
    client.find("the change", is_tools_changed);
    until_tools(&mut client, &[&left[..], &["up__shell"]].concat());
    client.kept.clear();
    let accepted = project.trust(&["up", "--all"]);
    assert_eq!(accepted.code, 0, "{accepted:?}");
    client.find("the change", is_tools_changed);
    until_tools(&mut client, &[&ALL[..], &["up__shell"]].concat());
    assert_eq!(client.call("up__echo", json!({}))["isError"], false);
    assert_eq!(project.trust(&["--check"]).code, 0);
}

#[test]
fn changes_are_found_over_a_restart() {
    let mut project = PinnedProject::new(ENFORCE);
    assert_eq!(sorted(project.serve().names()), ALL);
    project.pull_the_rug();
    let mut client = project.serve();
    let left = ["notes__read", "notes__write", "shop__addItem", "shop__getTotal", "up__add"];
    assert_eq!(sorted(client.names()), left);
    let called = project.call("up:echo");
    assert_eq!(called.code, 1);
    called.assert_on_stderr("QUARANTINED: `up:echo` is quarantined: this tool changed");
    assert_eq!(project.call("up:add").code, 0);
    assert_eq!(project.trust(&["--check"]).code, 1);
    assert_eq!(project.trust(&["up", "--all"]).code, 0);
    // Two processes: the one that runs takes it over, and so does the next one.
    until_tools(&mut client, &[&ALL[..], &["up__shell"]].concat());
    assert_eq!(project.call("up:echo").code, 0);
}

#[test]
fn files_are_pinned_tool_by_tool_with_their_code() {
    let left_of = |gone: &[&str]| -> Vec<&str> {
        ALL.iter().copied().filter(|name| !gone.contains(name)).collect()
    };
    type Change = (&'static str, &'static str, &'static str, &'static [&'static str]);
    let changes: &[Change] = &[
        ("shop.json", "to the basket", "to any basket", &["shop__addItem"]),
        ("shop.json", "addItem", "putItem", &["shop__addItem"]),
        ("addItem.js", "({})", "({ sold: true })", &["shop__addItem"]),
        ("shop.json", "dom:read", "dom:write", &["shop__addItem", "shop__getTotal"]),
        ("notes.yaml", "Writes a note", "Burns a note", &["notes__write"]),
        ("notes.yaml", "Keeps notes", "Loses notes", &["notes__read", "notes__write"]),
    ];
    for (file, old, new, gone) in changes {
        let project = PinnedProject::new(ENFORCE);
        let mut client = project.serve();
        assert_eq!(sorted(client.names()), ALL);
        project.replace(file, old, new);
        until_tools(&mut client, &left_of(gone));
        assert_eq!(project.trust(&["--check"]).code, 1, "{file}: {new}");
        let accepted = project.trust(&["--all"]);
        assert_eq!(accepted.code, 0, "{accepted:?}");
        until("all tools", LONG, || (client.names().len() >= ALL.len()).then_some(()));
        assert_eq!(project.trust(&["--check"]).code, 0, "{file}: {new}");
    }
}

#[test]
fn changed_instructions_set_the_server_aside_and_changed_prompts_themselves() {
    let mut project = PinnedProject::new(ENFORCE);
    let names = |client: &mut StdioClient| -> Vec<String> {
        let list = client.ask("prompts/list", json!({}));
        let prompts = list["result"]["prompts"].as_array().expect("a list").clone();
        prompts.iter().map(|prompt| prompt["name"].as_str().expect("text").to_owned()).collect()
    };
    let mut client = project.serve();
    assert_eq!(sorted(client.names()), ALL);
    assert_eq!(names(&mut client).len(), 2);
    project.script["prompts/list"]["result"]["prompts"][0]["description"] = "Lies.".into();
    project.write_script();
    let mut client = project.serve();
    assert_eq!(sorted(client.names()), ALL);
    assert_eq!(names(&mut client), ["up__part"]);
    assert_eq!(project.trust(&["up", "--accept", "greet"]).code, 0);
    until("the prompt", LONG, || (names(&mut client).len() == 2).then_some(()));
    project.script["initialize"]["result"]["instructions"] = "Use shell for words.".into();
    project.write_script();
    let mut client =
        StdioClient::bare(project.folder.path(), &["--no-cache"], &project.variables());
    let answer = client.shake_hands("2025-06-18");
    assert!(!answer.to_string().contains("Use shell"), "{answer}");
    assert_eq!(sorted(client.names()), ALL[..4]);
    assert!(names(&mut client).is_empty());
    let called = project.call("up:add");
    called.assert_on_stderr("the instructions of up changed since it was accepted");
    let shown = project.trust(&["up"]);
    assert!(shown.stdout.contains("`Use [-echo-]{+shell+} for words.`"), "{shown:?}");
    assert_eq!(project.trust(&["up", "--accept", "instructions"]).code, 0);
    assert_eq!(project.call("up:add").code, 0);
}

#[test]
fn without_a_lock_changes_are_reported_and_with_off_they_are_not() {
    let mut project = PinnedProject::new("");
    assert_eq!(project.call("up:add").code, 0);
    project.pull_the_rug();
    let called = project.call("up:echo");
    assert_eq!((called.code, called.stdout.as_str()), (0, "called\n"), "{called:?}");
    let line = "toolwright: up differs from what was accepted: `echo` changed, `shell` is new; \
                still served, because `pin` is `warn`; see `toolwright trust up`\n";
    assert_eq!(called.stderr, line);
    let listed = project.run(&["list", "--config", "toolwright.toml"]);
    assert!(listed.stderr.contains(line), "{listed:?}");
    project.configure("[trust]\npin = \"off\"\n");
    assert_eq!(project.call("up:echo").stderr, "");
    project.configure("[trust]\npin = \"on\"\n");
    let refused = project.call("up:echo");
    assert_eq!(refused.code, 2, "{refused:?}");
    refused.assert_on_stderr("`pin` is `on`");
}

#[test]
fn a_lock_is_enforced_and_checked() {
    let mut project = PinnedProject::new("");
    let written = project.trust(&["--lock"]);
    assert_eq!(written.code, 0, "{written:?}");
    let lock = std::fs::read_to_string(project.file("toolwright.lock")).expect("a lock");
    assert!(lock.contains("\n[server.up]\nstarts = \"faulty-server\"\npath = "), "{lock}");
    assert!(lock.contains("\n[server.up.tools]\nadd = \"v1:"), "{lock}");
    assert!(lock.contains("\n[file.\"shop.json\".tools]\naddItem = \"v1:"), "{lock}");
    assert_eq!(project.trust(&["--check"]).code, 0);
    // Another machine has the lock, and no store.
    std::fs::remove_dir_all(&project.state).expect("a folder");
    assert_eq!(project.trust(&["--check"]).code, 0);
    assert_eq!(project.call("up:echo").code, 0);
    project.pull_the_rug();
    let drift = project.trust(&["--check", "--output-format", "json"]);
    assert_eq!(drift.code, 1, "{drift:?}");
    let json: Json = serde_json::from_str(&drift.stdout).expect("JSON");
    let up = json["toolsets"].as_array().expect("a list").iter().find(|it| it["name"] == "up");
    let differences = up.expect("the server")["differences"].as_array().expect("a list").clone();
    let found: Vec<_> =
        differences.iter().map(|it| (it["name"].as_str(), it["change"].as_str())).collect();
    assert_eq!(found, [(Some("echo"), Some("changed")), (Some("shell"), Some("new"))]);
    assert_eq!(project.call("up:echo").code, 1);
    assert_eq!(project.trust(&["up", "--all"]).code, 0);
    let after = std::fs::read_to_string(project.file("toolwright.lock")).expect("a lock");
    let differing = after.lines().filter(|line| !lock.contains(*line)).collect::<Vec<_>>();
    assert_eq!(differing.len(), 2, "one line for each tool: {differing:?}");
    assert_eq!(project.call("up:echo").code, 0);
    // A source that the lock does not have, and an entry that no source has.
    let other = after.replace("[server.up", "[server.gone");
    std::fs::write(project.file("toolwright.lock"), other).expect("a file");
    let unknown = project.trust(&["--check"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.stdout.contains("unknown  server gone: no source has it"), "{unknown:?}");
    assert_eq!(project.call("up:echo").code, 1);
    assert_eq!(project.trust(&["--all"]).code, 0);
    assert_eq!(std::fs::read_to_string(project.file("toolwright.lock")).expect("a lock"), after);
}

#[test]
fn a_change_is_no_first_use_when_the_lock_is_gone() {
    // With a run that saw the change beside the lock, and without one.
    for was_seen in [true, false] {
        let mut project = PinnedProject::new(ENFORCE);
        assert_eq!(project.trust(&["--lock"]).code, 0);
        // Another machine: its store has what the lock accepts, and nothing else.
        std::fs::remove_dir_all(&project.state).expect("a folder");
        assert_eq!(project.call("up:echo").code, 0);
        project.pull_the_rug();
        if was_seen {
            assert_eq!(project.call("up:echo").code, 1);
        }
        std::fs::remove_file(project.file("toolwright.lock")).expect("a lock");
        for (tool, code) in [("up:echo", 1), ("up:shell", 1), ("up:add", 0)] {
            let called = project.call(tool);
            assert_eq!(called.code, code, "{tool} {was_seen}: {called:?}");
        }
        let shown = project.trust(&["up"]);
        assert_eq!(shown.code, 1, "{shown:?}");
        assert!(shown.stdout.contains("[-words-]{+secrets+}"), "{shown:?}");
        assert!(!shown.stdout.contains("up:add"), "{shown:?}");
        assert_eq!(project.trust(&["up", "--all"]).code, 0);
        assert_eq!(project.call("up:echo").code, 0);
    }
}

#[test]
fn another_program_sets_its_server_aside() {
    let project = PinnedProject::new("");
    assert_eq!(project.trust(&["--lock"]).code, 0);
    project.replace("toolwright.lock", "starts = \"faulty-server\"", "starts = \"npx up@1.0.0\"");
    // Where the program lies differs from machine to machine.
    let lock = std::fs::read_to_string(project.file("toolwright.lock")).expect("a lock");
    let path = lock.lines().find(|line| line.starts_with("path = ")).expect("a path").to_owned();
    project.replace("toolwright.lock", &path, "path = \"/elsewhere/npx\"");
    let called = project.call("up:add");
    assert_eq!(called.code, 1);
    called.assert_on_stderr("the program that is started of up changed since it was accepted");
    project.replace("toolwright.lock", "npx up@1.0.0", "faulty-server");
    assert_eq!(project.call("up:add").code, 0);
    assert_eq!(project.trust(&["--check"]).code, 0);
}

#[test]
fn a_person_at_a_terminal_is_asked_for_each_tool() {
    let mut project = PinnedProject::new(ENFORCE);
    assert_eq!(project.call("up:add").code, 0);
    project.pull_the_rug();
    let args = ["trust", "--config", "toolwright.toml", "up"];
    let (text, code) = answered_in(project.folder.path(), &args, &project.variables(), "y\nn\n");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("accept this? [y/N]"), "{text}");
    assert_eq!(project.call("up:echo").code, 0, "{text}");
    assert_eq!(project.call("up:shell").code, 1, "{text}");
}

#[test]
fn a_lock_or_store_that_cannot_be_used_is_one_sentence() {
    let project = PinnedProject::new("[audit]\nrequired = false\n");
    assert_eq!(project.trust(&["--lock"]).code, 0);
    let lock = std::fs::read(project.file("toolwright.lock")).expect("a lock");
    for (text, message) in [
        ("version = 1\n<<<<<<< HEAD\n=======\n>>>>>>> other\n", "conflict markers of a merge"),
        ("version = 7\n", "which a newer version of toolwright wrote"),
        ("version = 1\n[server", "is damaged (line 2"),
    ] {
        std::fs::write(project.file("toolwright.lock"), text).expect("a file");
        for args in [&["call", "up:echo"][..], &["trust", "--config", "toolwright.toml", "--all"]] {
            let refused = project.run(args);
            assert_eq!((refused.code, refused.stderr.lines().count()), (2, 1), "{refused:?}");
            refused.assert_on_stderr(message);
        }
        let kept = std::fs::read_to_string(project.file("toolwright.lock")).expect("a lock");
        assert_eq!(kept, text, "nothing is lost");
    }
    // A named pipe, which would block the reader forever, and a folder.
    for (make, message) in [("mkfifo", "it is a named pipe, not a file"), ("mkdir", "a folder")] {
        std::fs::remove_file(project.file("toolwright.lock")).expect("a lock");
        let path = project.file("toolwright.lock");
        let made = std::process::Command::new(make).arg(&path).status().expect("it starts");
        assert!(made.success(), "{make}");
        let refused = project.call("up:echo");
        assert_eq!((refused.code, refused.stderr.lines().count()), (2, 1), "{refused:?}");
        refused.assert_on_stderr(message);
        std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path)).expect("removed");
        std::fs::write(&path, "version = 1\n[server").expect("a file");
    }
    project.configure("[audit]\nrequired = false\n[trust]\nrequired = false\n");
    let called = project.call("up:echo");
    assert_eq!((called.code, called.stderr.lines().count()), (0, 1), "{called:?}");
    called.assert_on_stderr("definitions are not compared with pins: ");
    std::fs::write(project.file("toolwright.lock"), lock).expect("a file");
    assert_eq!(project.call("up:echo").code, 0);
    // The store, without a lock.
    std::fs::remove_file(project.file("toolwright.lock")).expect("a lock");
    std::fs::write(project.store(), "not a database, and long enough to look like a file of one")
        .expect("a file");
    for (more, code) in
        [(ENFORCE, 2), ("", 0), ("[trust]\npin = \"enforce\"\nrequired = false\n", 0)]
    {
        project.configure(&format!("[audit]\nrequired = false\n{more}"));
        let called = project.call("up:echo");
        assert_eq!(called.code, code, "{more}: {called:?}");
        called.assert_on_stderr("store.db` is damaged");
    }
}

#[test]
fn a_damaged_lock_does_not_stop_a_running_server() {
    let project = PinnedProject::new("");
    assert_eq!(project.trust(&["--lock"]).code, 0);
    let mut client = project.serve();
    assert_eq!(sorted(client.names()), ALL);
    std::fs::write(project.file("toolwright.lock"), "<<<<<<< HEAD\n").expect("a file");
    until("a line of the log", LONG, || {
        client.stderr().contains("the previous pins stay in use").then_some(())
    });
    assert_eq!(sorted(client.names()), ALL);
}

#[test]
fn a_writer_that_is_killed_leaves_the_lock_whole() {
    let mut project = PinnedProject::new("");
    assert_eq!(project.trust(&["--lock"]).code, 0);
    let path = project.file("toolwright.lock");
    let mut known = std::fs::read_to_string(&path).expect("a lock");
    for round in 0..8 {
        project.tools()[0]["description"] = format!("Round {round}.").into();
        project.write_script();
        let args = ["trust", "--config", "toolwright.toml", "--all"];
        let mut child = command(project.folder.path(), &args, &project.variables())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(std::time::Duration::from_millis(40 * round));
        child.kill().expect("killed");
        child.wait().expect("ended");
        let now = std::fs::read_to_string(&path).expect("a lock");
        assert!(now == known || now.lines().count() == known.lines().count(), "{now}");
        assert!(now.ends_with('\n') && now.starts_with("# The definitions"), "{now}");
        known = now;
    }
}
