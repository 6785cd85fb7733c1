//! The records of calls: `toolwright audit`, and what calls leave in the store.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value as Json, json};

use crate::client::{HttpClient, LONG, StdioClient, run_with, signal, until};
use crate::program::{Run, folder, toolwright};
use crate::serving::server;

/// A folder with a configuration, and the state of a user of its own.
struct AuditedProject {
    folder: tempfile::TempDir,
    state: String,
}

impl AuditedProject {
    /// With the server `up`, which echoes, and more of the configuration.
    fn new(more: &str) -> AuditedProject {
        let config = format!("{}\n{more}\n[serve]\nlist_wait = 60000\n", server("up", "good"));
        let folder = folder(&[("toolwright.toml", config.as_bytes())]);
        let state = folder.path().join("state").display().to_string();
        AuditedProject { folder, state }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn variables(&self) -> [(&str, &str); 1] {
        [("XDG_STATE_HOME", &self.state)]
    }

    fn run(&self, args: &[&str]) -> Run {
        run_with(self.path(), args, &self.variables(), "")
    }

    fn client(&self) -> StdioClient {
        StdioClient::start(self.path(), &[], &self.variables())
    }

    fn store(&self) -> PathBuf {
        self.path().join("state/toolwright/store.db")
    }

    /// Waits until a process writes to the database. Without pauses: that takes a millisecond.
    fn wait_for_transfer(&self) {
        let log = PathBuf::from(format!("{}-wal", self.store().display()));
        let state = || log.metadata().ok().map(|it| (it.len(), it.modified().ok()));
        let (before, began) = (state(), Instant::now());
        while state() == before {
            assert!(began.elapsed() < LONG, "nothing was carried over");
            std::thread::yield_now();
        }
    }

    /// The calls on record, with these arguments of `audit`.
    fn calls(&self, args: &[&str]) -> Vec<Json> {
        let args = [&["audit", "--output-format", "json"], args].concat();
        let run = self.run(&args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

fn codes(calls: &[Json]) -> Vec<&str> {
    calls.iter().map(|call| call["code"].as_str().expect("a code")).collect()
}

#[test]
fn every_call_of_the_command_line_is_on_record() {
    let project = AuditedProject::new("");
    project.run(&["call", "up:echo", "text=hello"]);
    project.run(&["call", "up:add", "a=x"]);
    project.run(&["call", "up:ecko"]);
    let calls = project.calls(&[]);
    assert_eq!(codes(&calls), ["OK", "INPUT_INVALID", "TOOL_NOT_FOUND"], "{calls:#?}");
    let first = &calls[0];
    assert_eq!((&first["agent"], &first["tool"]), (&json!("local"), &json!("up:echo")));
    assert!(first["toolHash"].as_str().is_some_and(|hash| hash.starts_with("v1:")), "{first}");
    assert!(first["toolsetHash"].as_str().is_some_and(|hash| hash.starts_with("v1:")), "{first}");
    assert_eq!(first["argumentBytes"], r#"{"text": "hello"}"#.len());
    assert!(first["resultBytes"].as_u64() > Some(4), "{first}");
    assert!(first["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{first}");
    for step in ["check", "wait", "run"] {
        assert!(first["steps"][step].is_u64(), "{step}: {first}");
    }
    // By default only the hash of the arguments is kept.
    assert!(first["arguments"].as_str().is_some_and(|it| it.starts_with("sha256:")), "{first}");
    assert_eq!(calls[2]["tool"], "up:ecko");
    // The filters, alone and together.
    for (args, count) in [
        (vec!["--tool", "up:echo"], 1),
        (vec!["--tool", "echo"], 1),
        (vec!["--tool", "cho"], 0),
        (vec!["--code", "OK"], 1),
        (vec!["--code", "OK", "--tool", "up:ecko"], 0),
        (vec!["--agent", "local"], 3),
        (vec!["--agent", "http"], 0),
        (vec!["--since", "1h"], 3),
        (vec!["--since", "0s"], 0),
    ] {
        assert_eq!(project.calls(&args).len(), count, "{args:?}");
    }
    let wrong = project.run(&["audit", "--since", "soon"]);
    wrong.assert_on_stderr("write a number and a unit, such as `90s`, `15m`, `1h` or `7d`");
    assert_eq!(wrong.code, 2);
    for (typed, said) in [
        ("TIMOUT", "no call ends with the code `TIMOUT` (did you mean `TIMEOUT`?)"),
        ("ok1", "no call ends with the code `ok1` (did you mean `OK`?)"),
        ("nonsense", "the codes of calls are OK, TOOL_NOT_FOUND, CAPABILITY_DENIED, "),
    ] {
        let unknown = project.run(&["audit", "--code", typed]);
        unknown.assert_on_stderr(said);
        assert_eq!(unknown.code, 2, "{unknown:?}");
    }
    assert_eq!(project.calls(&["--code", "ok"]).len(), 1);
    let none = project.run(&["audit", "--agent", "nobody"]);
    none.assert_on_stderr("no such call is on record in `");
    let text = project.run(&["audit", "--code", "OK"]).stdout;
    let line = text.lines().next().expect("a line");
    assert!(line.contains("local") && line.contains("OK") && line.contains("up:echo"), "{line}");
}

#[test]
fn clients_are_on_record_by_the_way_they_came() {
    let project = AuditedProject::new("");
    let mut client = project.client();
    assert_eq!(client.call("up__echo", json!({"text": "one"}))["isError"], false);
    // A result that left is on record, although the server still runs and has not written it to
    // the database.
    assert_eq!(codes(&project.calls(&["--agent", "local"])), ["OK"]);
    // An argument twice is refused before the call is made.
    client.line(br#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"up__echo","arguments":{"text":"a","text":"b"}}}"#);
    client.answer(&json!(77));
    assert_eq!(codes(&project.calls(&["--agent", "local"])), ["OK", "INPUT_INVALID"]);
    let web = HttpClient::start(project.path(), &[], &project.variables());
    web.call("up__echo", json!({"text": "two"}));
    let calls = project.calls(&["--agent", "http"]);
    assert_eq!(codes(&calls), ["OK"], "{calls:#?}");
    assert!(calls[0]["session"].is_u64(), "{calls:#?}");
    drop((client, web));
    // Nothing is lost or doubled when the servers end.
    assert_eq!(project.calls(&[]).len(), 3);
}

#[test]
fn arguments_are_kept_as_the_configuration_says_without_secrets() {
    let secret = "tok-1234567890";
    let config = |mode: &str| {
        format!(
            "[audit]\narguments = \"{mode}\"\n[[source]]\nname = \"own\"\nexecutables = \"none\"\n"
        )
    };
    for (mode, kept) in [("none", Json::Null), ("full", json!(r#"{"text": "my *** and more"}"#))] {
        let project = AuditedProject::new(&config(mode));
        let file = project.path().join("toolwright.toml");
        let text = std::fs::read_to_string(&file).expect("a file");
        let with_secret = text.replacen("\n", &format!("\nenv = {{ KEY = \"{secret}\" }}\n"), 2);
        let with_secret = with_secret.replacen(
            &format!("[[source]]\nenv = {{ KEY = \"{secret}\" }}\n"),
            "[[source]]\n",
            1,
        );
        std::fs::write(&file, with_secret).expect("a file");
        std::fs::create_dir_all(project.path().join("none")).expect("a folder");
        let run = project.run(&["call", "up:echo", &format!("text=my {secret} and more")]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        // It may also be that of a tool whose name is misspelled.
        let run = project.run(&["call", "up:ecko", &format!("text=my {secret} and more")]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        let calls = project.calls(&[]);
        for call in &calls {
            assert_eq!(call["arguments"], kept, "{mode}: {calls:#?}");
        }
        let bytes = std::fs::read(project.store()).expect("the store");
        let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!found, "the secret is in the store");
    }
}

#[test]
fn a_store_that_cannot_be_used_stops_calls_unless_the_configuration_allows_it() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage, &str); 4] = [
        (
            "no database",
            |store| {
                std::fs::write(store, "this is not a database, and long enough").expect("written")
            },
            "is damaged",
        ),
        (
            "newer",
            |store| sqlite(store, "PRAGMA user_version = 99"),
            "which a newer version of toolwright made",
        ),
        (
            "a folder",
            |store| {
                std::fs::remove_file(store).expect("removed");
                std::fs::create_dir(store).expect("a folder");
            },
            "cannot be used",
        ),
        (
            "no table",
            |store| sqlite(store, "DROP TABLE calls; CREATE TABLE calls (other TEXT)"),
            "is damaged",
        ),
    ];
    for (name, damage, message) in damages {
        let project = AuditedProject::new("");
        assert_eq!(project.run(&["call", "up:echo", "text=a"]).code, 0);
        let store = project.store();
        for more in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{more}", store.display()));
        }
        damage(&store);
        let before = std::fs::read(&store).ok();
        let run = project.run(&["call", "up:echo", "text=b"]);
        assert_ne!(run.code, 0, "{name}: {}", run.stdout);
        run.assert_on_stderr(message);
        run.assert_on_stderr("`required = false` under `[audit]`");
        assert_eq!(std::fs::read(&store).ok(), before, "{name}: the file was changed");
        let file = project.path().join("toolwright.toml");
        let config = std::fs::read_to_string(&file).expect("a file");
        std::fs::write(&file, config + "[audit]\nrequired = false\n").expect("written");
        let run = project.run(&["call", "up:echo", "text=c"]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        run.assert_on_stderr("calls are not recorded");
    }
}

/// Root may write everywhere, so the program is somebody else then.
#[test]
fn a_store_that_cannot_be_written_is_one_sentence() {
    let project = AuditedProject::new("");
    assert_eq!(project.run(&["call", "up:echo", "text=a"]).code, 0);
    let change = |path: &Path, mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, mode).expect("its owner may");
    };
    change(project.path(), 0o755);
    let (store, folder) = (project.store(), project.path().join("state/toolwright"));
    for more in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{more}", store.display()));
    }
    // Each file and folder of it can be read by everybody and written by nobody.
    for path in [&project.path().join("state"), &folder, &folder.join("journals")] {
        change(path, 0o555);
    }
    change(&store, 0o444);
    let before = std::fs::read(&store).expect("the store");
    let run = |args: &[&str]| {
        let mut command = toolwright();
        command.current_dir(project.path()).envs(project.variables()).args(args);
        if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.stdin(Stdio::null()).output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stderr).expect("UTF-8"))
    };
    for args in [&["audit"][..], &["grants", "list"]] {
        let (code, stderr) = run(args);
        assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{args:?}: {stderr}");
        assert!(stderr.contains("` cannot be used: "), "{args:?}: {stderr}");
    }
    let (code, stderr) = run(&["call", "up:echo", "text=b"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("AUDIT_UNAVAILABLE: the call is not made, because it"), "{stderr}");
    let file = project.path().join("toolwright.toml");
    let config = std::fs::read_to_string(&file).expect("a file");
    std::fs::write(&file, config + "[audit]\nrequired = false\n").expect("written");
    let (code, stderr) = run(&["call", "up:echo", "text=c"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stderr.matches("calls are not recorded: ").count(), 1, "{stderr}");
    assert_eq!(std::fs::read(&store).expect("the store"), before);
    // So that it can be removed.
    for path in [&project.path().join("state"), &folder, &folder.join("journals")] {
        change(path, 0o755);
    }
}

/// The user without rights on nearly every system.
const NOBODY: u32 = 65_534;

/// Runs statements on a database.
fn sqlite(store: &Path, statements: &str) {
    let database = rusqlite::Connection::open(store).expect("a database");
    database.execute_batch(statements).expect("it can be changed");
}

/// How often the next test kills the server: as often as the variable says, for `make soak`.
fn kills() -> u64 {
    std::env::var("TOOLWRIGHT_TEST_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

#[test]
fn after_a_kill_every_result_that_left_has_one_record() {
    let project = AuditedProject::new("[audit]\narguments = \"full\"\n");
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..kills() {
        let mut client = project.client();
        // Eight in flight. The moment of the kill is another one in every round.
        let ids: Vec<Json> = (0..40)
            .map(|n| client.send_call("up__echo", json!({"text": format!("{round}-{n}")})))
            .collect();
        for (n, id) in ids.iter().enumerate().take((round * 2 % 41) as usize) {
            client.answer(id);
            seen.insert(format!(r#"{{"text":"{round}-{n}"}}"#), 0);
        }
        // In every fifth round while the records are carried over into the database.
        if round % 5 == 4 {
            project.wait_for_transfer();
        }
        signal(client.pid(), "KILL");
        drop(client);
    }
    let calls = project.calls(&[]);
    let mut records: BTreeMap<&str, usize> = BTreeMap::new();
    for call in &calls {
        *records.entry(call["arguments"].as_str().expect("kept")).or_default() += 1;
    }
    for arguments in seen.keys() {
        assert_eq!(records.get(arguments.as_str()), Some(&1), "{arguments}");
    }
    assert!(records.values().all(|count| *count == 1), "{records:?}");
    let journals = project.path().join("state/toolwright/journals");
    assert_eq!(std::fs::read_dir(journals).expect("a folder").count(), 0, "nothing is left over");
}

#[test]
fn audit_follows_calls_of_a_running_server() {
    let project = AuditedProject::new("");
    let mut client = project.client();
    let mut command = toolwright();
    command.current_dir(project.path()).envs(project.variables());
    command.args(["audit", "--follow"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let following = crate::client::RunningProgram::of(&mut command);
    for n in 1..=3 {
        client.call("up__echo", json!({"text": "x"}));
        until("the call is followed", LONG, || {
            (following.stdout().matches("up:echo").count() == n).then_some(())
        });
    }
}

#[test]
fn csv_has_a_header_and_no_formulas() {
    let project = AuditedProject::new("[audit]\narguments = \"full\"\n");
    project.run(&["call", "=cmd|'/c calc'!A1"]);
    project.run(&["call", "up:echo", "text=a, \"b\""]);
    let csv = project.run(&["audit", "--output-format", "csv"]).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("time,agent,session,tool,code,"), "{csv}");
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(lines[1].contains(",'=cmd|"), "{csv}");
    assert!(lines[2].ends_with(r#""{""text"": ""a, \""b\""""}","#), "{csv}");
}

#[test]
fn old_records_go_when_the_store_is_too_large() {
    let project = AuditedProject::new("[audit]\narguments = \"full\"\nmax_bytes = 1048576\n");
    let mut client = project.client();
    // 300 records of 8 KB.
    let long = "x".repeat(8_000);
    for n in 0..300 {
        client.call("up__echo", json!({"text": format!("{n} {long}")}));
    }
    drop(client);
    let calls = project.calls(&[]);
    assert!(calls.len() < 300 && !calls.is_empty(), "{} records", calls.len());
    let last = calls.last().and_then(|call| call["arguments"].as_str()).unwrap_or_default();
    assert!(last.starts_with(r#"{"text":"299 "#), "the newest one is there");
}

#[test]
fn records_go_after_the_days_that_they_are_kept() {
    let project = AuditedProject::new("[audit]\narguments = \"full\"\nkeep_days = 2\n");
    for text in ["older", "nearly"] {
        assert_eq!(project.run(&["call", "up:echo", &format!("text={text}")]).code, 0);
    }
    assert_eq!(project.calls(&[]).len(), 2);
    // One is a minute older than two days, one an hour younger.
    let ago = "UPDATE calls SET ends = ends - 2 * 86400000000 - \
               CASE WHEN arguments LIKE '%older%' THEN 60000000 ELSE -3600000000 END";
    sqlite(&project.store(), ago);
    assert_eq!(project.run(&["call", "up:echo", "text=new"]).code, 0);
    let calls = project.calls(&[]);
    let kept: Vec<&str> = calls.iter().filter_map(|call| call["arguments"].as_str()).collect();
    assert_eq!(kept, [r#"{"text": "nearly"}"#, r#"{"text": "new"}"#]);
}

/// The store is that of the user. A configuration, perhaps of somebody else or written by an agent,
/// must not remove what was recorded under another one.
#[test]
fn another_configuration_does_not_remove_records() {
    let project = AuditedProject::new("[audit]\narguments = \"full\"\n");
    let file = project.path().join("toolwright.toml");
    let config = std::fs::read_to_string(&file).expect("a file");
    let other = "[audit]\narguments = \"full\"\nkeep_days = 1\nmax_bytes = 1048576\n";
    let other = config.replace("[audit]\narguments = \"full\"\n", other);
    std::fs::write(project.path().join("other.toml"), other).expect("a file");
    let long = "x".repeat(8_000);
    let mut client = project.client();
    for n in 0..200 {
        client.call("up__echo", json!({"text": format!("{n} {long}")}));
    }
    drop(client);
    let kept = |text: &str| {
        let calls = project.calls(&[]);
        calls.iter().filter(|call| call["arguments"].to_string().contains(text)).count()
    };
    assert_eq!(kept("xxx"), 200);
    // Three days later.
    let later = "UPDATE calls SET time = time - 259200000000, ends = ends - 259200000000";
    sqlite(&project.store(), later);
    for text in ["one", "two"] {
        let run =
            project.run(&["call", "up:echo", &format!("text={text}"), "--config", "other.toml"]);
        assert_eq!(run.code, 0, "{run:?}");
    }
    assert_eq!((kept("xxx"), kept("one"), kept("two")), (200, 1, 1));
    // What was recorded under it is kept as long as it says, whichever process looks.
    sqlite(&project.store(), &format!("{later} WHERE arguments NOT LIKE '%xxx%'"));
    assert_eq!(project.run(&["call", "up:echo", "text=three"]).code, 0);
    assert_eq!((kept("xxx"), kept("one"), kept("three")), (200, 0, 1));
}

/// An agent that may call nothing must not push out the records of others by calls that fail.
#[test]
fn refused_calls_are_forgotten_before_those_that_ran() {
    let project = AuditedProject::new("[audit]\narguments = \"full\"\nmax_bytes = 1048576\n");
    let mut client = project.client();
    let long = "x".repeat(8_000);
    for n in 0..20 {
        client.call("up__echo", json!({"text": format!("{n} ran")}));
    }
    for n in 0..300 {
        let id = client.send_call("up__ecko", json!({"text": format!("{n} {long}")}));
        client.answer(&id);
    }
    client.hang_up();
    let (code, _, stderr) = client.end(LONG);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("records of calls were removed before their time"), "{stderr}");
    let calls = project.calls(&[]);
    assert!(calls.len() < 320, "{} records", calls.len());
    let ran = calls.iter().filter(|call| call["code"] == "OK").count();
    assert_eq!(ran, 20);
}

/// Whatever happens to the files of the store, the server goes on, ends when it should, and records
/// what it can.
#[test]
fn a_server_survives_the_loss_of_its_store() {
    let project = AuditedProject::new("");
    let mut client = project.client();
    client.call("up__echo", json!({"text": "one"}));
    let journals = project.path().join("state/toolwright/journals");
    for file in std::fs::read_dir(&journals).expect("a folder") {
        std::fs::remove_file(file.expect("a file").path()).expect("removed");
    }
    std::fs::create_dir(journals.join("stray")).expect("a folder");
    client.call("up__echo", json!({"text": "two"}));
    until("both calls are in the store", LONG, || (project.calls(&[]).len() == 2).then_some(()));
    client.call("up__echo", json!({"text": "three"}));
    client.hang_up();
    let (code, _, stderr) = client.end(LONG);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(project.calls(&[]).len(), 3);
}

/// A process that holds the store makes calls fail, and they succeed again when it is gone.
#[test]
fn calls_go_on_when_the_store_is_free_again() {
    let project = AuditedProject::new("");
    assert_eq!(project.run(&["call", "up:echo", "text=a"]).code, 0);
    let holder = rusqlite::Connection::open(project.store()).expect("a database");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("it is free");
    let mut client = project.client();
    let refused = client.call("up__echo", json!({"text": "b"}));
    let text = refused["content"][0]["text"].as_str().expect("a text");
    assert!(text.starts_with("AUDIT_UNAVAILABLE: the call is not made"), "{text}");
    assert!(text.contains("was locked by another process for 5 s"), "{text}");
    drop(holder);
    until("a call succeeds", LONG, || {
        let result = client.call("up__echo", json!({"text": "c"}));
        (result["isError"] == false).then_some(())
    });
    assert!(client.stderr().contains("calls cannot be recorded: "), "{}", client.stderr());
    until("the log says so", LONG, || {
        client.stderr().contains("calls are recorded again").then_some(())
    });
}

/// The journal, the grants and the pins are in one database: it is waited for once.
#[test]
fn a_call_waits_for_a_store_that_is_locked_only_once() {
    let project = AuditedProject::new("");
    let usual = Instant::now();
    assert_eq!(project.run(&["call", "up:echo", "text=a"]).code, 0);
    let usual = usual.elapsed();
    let holder = rusqlite::Connection::open(project.store()).expect("a database");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("it is free");
    let file = project.path().join("toolwright.toml");
    let config = std::fs::read_to_string(&file).expect("a file");
    for (required, code) in [("true", 1), ("false", 0)] {
        std::fs::write(&file, format!("{config}[audit]\nrequired = {required}\n"))
            .expect("written");
        let began = Instant::now();
        let run = project.run(&["call", "up:echo", "text=b"]);
        // Five seconds each would be fifteen.
        let waited = began.elapsed().saturating_sub(usual).as_secs_f32();
        assert_eq!(run.code, code, "{run:?}");
        assert!((4.0..10.0).contains(&waited), "{required}: {waited} s");
    }
}

/// Ctrl-C at the question of a call is its end, and that is on record.
#[test]
fn a_call_that_is_interrupted_at_its_question_is_on_record() {
    let rule = "[[rule]]\ntool = \"up:echo\"\naction = \"ask\"\n";
    let project = AuditedProject::new(rule);
    let mut command = crate::calling::terminal(project.path(), &["call", "up:echo", "text=a"], "");
    let mut child =
        command.envs(project.variables()).stdin(Stdio::piped()).spawn().expect("`script`");
    let mut shown = Vec::new();
    let mut output = child.stdout.take().expect("piped");
    while !String::from_utf8_lossy(&shown).contains("Allow it?") {
        let mut bytes = [0; 256];
        let read = output.read(&mut bytes).expect("output");
        assert_ne!(read, 0, "it ended: {}", String::from_utf8_lossy(&shown));
        shown.extend_from_slice(&bytes[..read]);
    }
    // Typed, so that the terminal makes a signal of it.
    let mut typed = child.stdin.take().expect("piped");
    typed.write_all(b"\x03").expect("it reads");
    output.read_to_end(&mut shown).expect("output");
    child.wait().expect("it ends");
    assert_eq!(codes(&project.calls(&[])), ["CANCELLED"], "{}", String::from_utf8_lossy(&shown));
}
