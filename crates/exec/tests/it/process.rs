//! Programs as tools, well and badly behaved. Whatever they do, the right code comes in time and
//! nothing of them is left running.

use std::time::Duration;

use futures::future::join_all;
use toolwright_exec::process::schema_of;

use crate::support::*;

/// More than any program here may take beyond its time limit.
const IN_TIME: Duration = Duration::from_secs(8);

/// The modes that leave somebody behind, each with whether it answers.
const OFFSPRING: [(&str, &str); 6] = [
    ("fork", "TIMEOUT"),
    ("fork-exit", "ok"),
    ("setsid", "TIMEOUT"),
    ("setsid-exit", "ok"),
    ("daemon", "TIMEOUT"),
    ("daemon-exit", "ok"),
];

fn large(output: usize) -> Limits {
    Limits { output, ..Limits::default() }
}

#[tokio::test]
async fn every_mode_ends_with_its_code_in_time() {
    let modes = [
        ("echo", json!({"a": [1, "ü", null]}), "ok", r#"{"echo":{"a":[1,"ü",null]}}"#),
        ("add", json!({"a": 1, "b": 2}), "ok", r#"{"sum":3}"#),
        ("big", json!({"bytes": 1000}), "ok", "xxx"),
        ("sleep", json!({"ms": 50}), "ok", r#"{"slept":50}"#),
        ("no-read", json!({}), "ok", r#"{"ok":true}"#),
        ("slow-read", json!({"x": "y"}), "ok", r#"{"bytes":9}"#),
        ("late", json!({"ms": 9_000}), "TIMEOUT", "did not answer within 3000 ms"),
        ("hang", json!({}), "TIMEOUT", "did not answer within 3000 ms"),
        ("ignore-term", json!({}), "TIMEOUT", "did not answer within 3000 ms"),
        ("close-stdin", json!({}), "TIMEOUT", "did not answer within 3000 ms"),
        ("close-out", json!({}), "TIMEOUT", "did not answer within 3000 ms"),
        ("garbage", json!({}), "OUTPUT_INVALID", "this is not json"),
        ("empty", json!({}), "OUTPUT_INVALID", "the program ended without an answer"),
        ("half", json!({}), "OUTPUT_INVALID", "the program's answer is not JSON"),
        ("die", json!({}), "TOOL_FAILED", "the program ended with status 3"),
        ("error-exit", json!({}), "TOOL_FAILED", "it broke"),
        ("error-zero", json!({}), "TOOL_FAILED", "it broke"),
        ("stderr-exit", json!({}), "TOOL_FAILED", "the program ended with status 2: third line"),
        ("crash", json!({}), "TOOL_FAILED", "the program was ended by signal 6"),
        ("flood-out", json!({}), "OUTPUT_TOO_LARGE", "printed more than the 1048576 bytes"),
        ("flood-both", json!({}), "OUTPUT_TOO_LARGE", "printed more than the 1048576 bytes"),
        ("schema-hang", json!({}), "ok", r#"{"echo":{}}"#),
        ("no-such-mode", json!({}), "TOOL_FAILED", "there is no process mode `no-such-mode`"),
    ];
    let bench = Bench::new(large(1 << 20))
        .put(modes.iter().map(|(mode, ..)| tool(&format!("t:{mode}"), process(mode))));
    let calls = modes.map(|(mode, arguments, expected, says)| {
        let bench = &bench;
        async move {
            let id = format!("t:{mode}");
            let (took, answer) = timed(bench.call_within(&id, arguments, 3_000)).await;
            assert_eq!(word(&answer), expected, "{mode}: {answer:?}");
            assert!(took < IN_TIME, "{mode} took {took:?}");
            let said = match answer {
                Ok(outcome) => outcome.texts(),
                answer => failure(answer),
            };
            assert!(said.contains(says), "{mode}: {said}");
        }
    });
    join_all(calls).await;
    bench.nothing_left("all of them").await;
}

#[tokio::test]
async fn nothing_that_was_left_behind_lives_on() {
    let bench = Bench::alone(Limits::default())
        .put(OFFSPRING.map(|(mode, _)| tool(&format!("t:{mode}"), process(mode))));
    let calls = OFFSPRING.map(|(mode, expected)| {
        let bench = &bench;
        async move {
            let (id, file) = (format!("t:{mode}"), bench.file(mode));
            let (took, answer) = timed(bench.call_within(&id, json!({"file": file}), 2_000)).await;
            assert_eq!(word(&answer), expected, "{mode}: {answer:?}");
            assert!(took < IN_TIME, "{mode} took {took:?}");
            let pid = pid_in(&file).await;
            until(&format!("the grandchild of {mode} is gone"), || !is_there(pid)).await;
        }
    });
    join_all(calls).await;
    bench.nothing_left("all of them").await;
}

/// Alone and one after the other, since the end of another call would clean up after this one.
/// Often, since a process that is killed takes a moment to die, and its children are not orphans
/// before.
#[tokio::test]
async fn nor_after_the_caller_gave_up() {
    let modes = ["fork", "setsid", "daemon"];
    let bench = Bench::alone(Limits::default())
        .put(modes.map(|mode| tool(&format!("t:{mode}"), process(mode))));
    for (mode, how) in
        modes.map(|mode| [(mode, "cancelled"), (mode, "dropped")]).concat().repeat(10)
    {
        let file = bench.file(mode);
        let (call, cancel) = bench.start(&format!("t:{mode}"), json!({"file": file}));
        let pid = pid_in(&file).await;
        match how {
            "cancelled" => {
                cancel.cancel();
                assert_eq!(word(&call.await.unwrap()), "CANCELLED");
            }
            _ => call.abort(),
        }
        until(&format!("the grandchild of {mode} is gone, the call being {how}"), || {
            !is_there(pid)
        })
        .await;
        bench.nothing_left(mode).await;
        std::fs::remove_file(&file).unwrap();
    }
}

/// Whoever is started while its parent is being ended is found too.
#[tokio::test]
async fn nor_who_is_born_at_the_last_moment() {
    let script = "while :; do setsid sleep 20 & sleep 0.001; done";
    let bench = Bench::alone(Limits::default()).put([tool("t:breed", shell(script))]);
    for _ in 0..15 {
        let (call, cancel) = bench.start("t:breed", json!({}));
        until("some are born", || bench.left().len() > 8).await;
        cancel.cancel();
        assert_eq!(word(&call.await.unwrap()), "CANCELLED");
        bench.nothing_left("a call that breeds").await;
    }
}

/// An orphan that hides where it came from ends with the last run that can have started it.
#[tokio::test]
async fn an_orphan_that_cleaned_its_environment_ends_too() {
    let bench = Bench::alone(Limits::default())
        .put([tool("t:it", process("daemon-clean")), tool("t:sleep", process("sleep"))]);
    let file = bench.file("pid");
    let answer = bench.call_within("t:it", json!({"file": file}), 1_000).await;
    assert_eq!(word(&answer), "TIMEOUT");
    let pid = pid_in(&file).await;
    until("the orphan is gone", || !is_there(pid)).await;

    std::fs::remove_file(&file).unwrap();
    let (other, _) = bench.start("t:sleep", json!({"ms": 1_500}));
    let (call, cancel) = bench.start("t:it", json!({"file": file}));
    let pid = pid_in(&file).await;
    cancel.cancel();
    assert_eq!(word(&call.await.unwrap()), "CANCELLED");
    assert_eq!(value(other.await.unwrap()), json!({"slept": 1_500}));
    until("the orphan is gone", || !is_there(pid)).await;
    bench.nothing_left("an orphan").await;
}

#[tokio::test]
async fn others_are_not_ended_along_with_an_orphans_run() {
    let bench = Bench::alone(Limits::default()).put([
        tool("t:sleep", process("sleep")),
        tool("t:setsid-exit", process("setsid-exit")),
        tool("t:daemon-exit", process("daemon-exit")),
        tool("t:daemon-clean", process("daemon-clean")),
        // One whose own orphan is to answer for it, so that orphans of others may not end either.
        tool(
            "t:patient",
            shell(r#"f=$1; (setsid sh -c "sleep 2; echo done >$f" &); sleep 2.5; cat "$f""#),
        ),
    ]);
    let (sleeper, _) = bench.start("t:sleep", json!({"ms": 2_000}));
    let (patient, _) = bench.start("t:patient", json!({"args": [bench.file("done")]}));
    until("both run", || bench.left().len() >= 2).await;
    let files: Vec<String> = (0..12).map(|n| bench.file(&n.to_string())).collect();
    let calls = files.iter().enumerate().map(|(n, file)| {
        let id = ["t:setsid-exit", "t:daemon-exit", "t:daemon-clean"][n % 3];
        let bench = &bench;
        async move { word(&bench.call_within(id, json!({"file": file}), 1_000).await) }
    });
    let words = join_all(calls).await;
    assert_eq!(words, ["ok", "ok", "TIMEOUT"].repeat(4));
    assert_eq!(value(sleeper.await.unwrap()), json!({"slept": 2_000}));
    assert_eq!(patient.await.unwrap().unwrap().texts(), "done\n");
    for file in files {
        let pid = pid_in(&file).await;
        until("the orphan is gone", || !is_there(pid)).await;
    }
    bench.nothing_left("all of them").await;
}

/// Our children that have ended and that nobody has asked after.
fn zombies() -> Vec<String> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats =
        processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_ours = |stat: &String| {
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let mut fields = rest.split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&own)
    };
    stats.filter(is_ours).collect()
}

/// While a server is connected, which can be for days, calls come and go and leave no entry in the
/// table of processes.
#[tokio::test]
async fn no_orphan_stays_a_zombie_while_a_server_is_connected() {
    let server = Upstream::stdio("good", &[]);
    // Orphans that end by themselves while their run goes on, and one that is ended.
    let script = r#"i=0; while [ $i -lt 5 ]; do (setsid true &); i=$((i+1)); done; (setsid sleep 20 &); sleep 0.1"#;
    let bench = Bench::alone(Limits::default()).put([
        server.tool("pid"),
        tool("t:leave", shell(script)),
        tool("t:hang", process("hang")),
    ]);
    let pid = value(bench.call("good:pid", json!({})).await);
    for _ in 0..5 {
        assert_eq!(word(&bench.call("t:leave", json!({})).await), "ok");
        assert_eq!(word(&bench.call_within("t:hang", json!({}), 20).await), "TIMEOUT");
    }
    until("there are no zombies", || zombies().is_empty()).await;
    assert_eq!(value(bench.call("good:pid", json!({})).await), pid);
    bench.close().await;
}

/// `helper & exec toolwright` makes the helper our child, and still none of our business.
#[tokio::test]
async fn a_child_from_before_is_left_alone() {
    const NAME: &str = "process::a_child_from_before_is_left_alone";
    let script = r#"sleep 60 & exec env CHILD_FROM_BEFORE=$! "$1" --exact "$2""#;
    let bench = Bench::with([tool("t:echo", process("echo")), tool("t:again", shell(script))]);
    if let Ok(before) = std::env::var("CHILD_FROM_BEFORE") {
        let before: i32 = before.parse().unwrap();
        for _ in 0..3 {
            assert_eq!(word(&bench.call("t:echo", json!({})).await), "ok");
        }
        assert!(is_running(before), "it was ended along with a call");
        return;
    }
    // This very test in a process of its own. That is started through the runner, which ends the
    // child along with it.
    let myself = std::env::current_exe().unwrap();
    let inner = bench.call("t:again", json!({"args": [myself.to_str().unwrap(), NAME]})).await;
    assert_eq!(word(&inner), "ok", "{inner:?}");
    bench.nothing_left("the test").await;
}

#[tokio::test]
async fn when_the_program_ends_everything_can_be_ended_at_once() {
    let server = Upstream::stdio("hang-start", &[]);
    let bench = Bench::alone(Limits::default()).put([
        server.tool("echo"),
        tool("t:hang", process("hang")),
        tool("t:daemon", process("daemon")),
    ]);
    let file = bench.file("pid");
    let calls = [
        bench.start("hang-start:echo", json!({})).0,
        bench.start("t:hang", json!({})).0,
        bench.start("t:daemon", json!({"file": file})).0,
    ];
    let pid = pid_in(&file).await;
    until("all of it runs", || bench.left().len() >= 4).await;
    toolwright_exec::end_all_processes();
    bench.nothing_left("the end").await;
    until("the orphan is gone", || !is_there(pid)).await;
    calls.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn programs_see_what_they_were_given_and_nothing_else() {
    let bench = Bench::with([
        tool("t:env", process("echo-env")).variable("EXTRA", "ü").variable("PATH", "/bin"),
        tool("t:plain", process("echo-env")),
    ]);
    let home = bench.folder.path().to_str().unwrap().to_owned();
    let run = format!("{}.", std::process::id());
    for (id, expected) in [
        ("t:env", json!({"PATH": "/bin", "BENCH": home, "EXTRA": "ü"})),
        ("t:plain", json!({"PATH": "/usr/bin:/bin", "BENCH": home})),
    ] {
        let mut seen = value(bench.call(id, json!({})).await)["env"].take();
        let mark = seen.as_object_mut().unwrap().remove("TOOLWRIGHT_RUN").unwrap();
        assert!(mark.as_str().unwrap().starts_with(&run), "{mark}");
        assert_eq!(seen, expected, "{id}");
    }
}

#[tokio::test]
async fn streams_of_any_size() {
    let bench = Bench::new(large(32 << 20)).put([
        tool("t:echo", process("echo")),
        tool("t:slow-read", process("slow-read")),
        tool("t:no-read", process("no-read")),
        tool("t:flood-err", process("flood-err")),
        tool("t:flood-both", process("flood-both")),
    ]);
    let text = "z".repeat(10_000_000);
    let big = json!({"text": text});
    assert_eq!(value(bench.call("t:echo", big.clone()).await)["echo"], big);
    assert_eq!(value(bench.call("t:slow-read", big.clone()).await), json!({"bytes": 10_000_011}));
    assert_eq!(value(bench.call("t:no-read", big).await), json!({"ok": true}));
    assert_eq!(value(bench.call("t:flood-err", json!({})).await), json!({"ok": true}));
    let both = value(bench.call("t:flood-both", json!({})).await);
    assert_eq!(both["data"].as_str().unwrap().len(), 20_000_000);
    assert!(bench.log().len() < 100_000, "the end of stderr is enough for the log");
    bench.nothing_left("floods").await;
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let bench = Bench::with([]);
    let none = bench.file("none");
    let plain = bench.write("plain", "#!/bin/sh\necho 1\n", 0o644);
    let no_interpreter = bench.write("no-interpreter", "#!/no/such/sh\n", 0o755);
    let no_header = bench.write("no-header", "echo 1\n", 0o755);
    let empty = bench.write("empty", "", 0o755);
    let folder = bench.folder.path().to_str().unwrap().to_owned();
    let missing = "there is no such program (or its interpreter is missing)";
    for (program, why) in [
        (none.as_str(), missing),
        ("no-such-program-anywhere", missing),
        ("", missing),
        (&no_interpreter, missing),
        (&plain, "it may not be executed"),
        (&folder, "it may not be executed"),
        (&no_header, "it is neither a program nor a script with `#!`"),
        (&empty, "it is neither a program nor a script with `#!`"),
    ] {
        let executable = Binding::Executable { program: Some(program.to_owned()) };
        let Binding::Command { words, .. } = shell("true") else { unreachable!() };
        let command = Binding::Command {
            executable: program.to_owned(),
            words,
            install_check: None,
            install_guide: None,
        };
        bench.runner.replace(toolbox([tool("t:it", executable), tool("t:command", command)]));
        for id in ["t:it", "t:command"] {
            let failure = bench.call(id, json!({})).await.unwrap_err();
            let expected = format!("`{program}` cannot be started: {why}");
            assert_eq!((failure.code.name, failure.message), ("SPAWN_FAILED", expected));
        }
    }
}

#[tokio::test]
async fn a_nul_in_a_word_is_no_reason_to_fall_over() {
    let bench = Bench::with([tool("t:sh", shell("echo \"$1\""))]);
    let answer = bench.call("t:sh", json!({"args": ["a\0b"]})).await;
    assert_eq!(word(&answer), "SPAWN_FAILED", "{answer:?}");
}

#[tokio::test]
async fn command_lines_take_words_and_a_text() {
    let guide = Binding::Command {
        executable: "/bin/sh".into(),
        words: ["-c", "exit 127"].map(str::to_owned).to_vec(),
        install_check: None,
        install_guide: Some("get it from the shop".into()),
    };
    let bench = Bench::with([
        tool("t:words", shell(r#"for word in "$@"; do echo "[$word]"; done; cat"#)),
        tool("t:bytes", shell(r"printf 'a\377b'")),
        tool("t:fail", shell("echo one >&2; echo two >&2; exit 4")),
        tool("t:kill", shell("kill -9 $$")),
        tool("t:guide", guide),
    ]);
    let given = json!({"args": ["a b", "$HOME", "", "ü;ls"], "stdin": "the end"});
    assert_eq!(
        bench.call("t:words", given).await.unwrap().texts(),
        "[a b]\n[$HOME]\n[]\n[ü;ls]\nthe end"
    );
    assert_eq!(bench.call("t:bytes", json!({})).await.unwrap().texts(), "a\u{fffd}b");
    for (id, message, suggestion) in [
        (
            "t:fail",
            "the program ended with status 4: two",
            "read the message: it is the tool's own",
        ),
        ("t:kill", "the program was ended by signal 9", "read the message: it is the tool's own"),
        ("t:guide", "the program ended with status 127", "get it from the shop"),
    ] {
        let failure = bench.call(id, json!({})).await.unwrap_err();
        assert_eq!(
            (failure.code.name, failure.message.as_str(), failure.suggestion.as_str()),
            ("TOOL_FAILED", message, suggestion)
        );
    }
}

#[tokio::test]
async fn programs_tell_their_schema_or_why_not() {
    let bench = Bench::with([]);
    for (mode, says) in [
        ("schema-hang", "TOOL_FAILED: `--schema` printed nothing within 1"),
        ("schema-big", "TOOL_FAILED: `--schema` printed more than 8192 bytes"),
        (
            "schema-exit",
            "TOOL_FAILED: `--schema`: the program ended with status 1: cannot tell the schema",
        ),
    ] {
        let program = bench.link(mode);
        let (took, schema) = timed(schema_of(&program, bench.runner.parts(), &[])).await;
        let failure = schema.unwrap_err().to_string();
        assert!(failure.starts_with(says), "{failure}");
        assert!(took < IN_TIME, "{mode} took {took:?}");
        bench.nothing_left(mode).await;
    }
    let none = schema_of(&bench.file("none-tool"), bench.runner.parts(), &[]).await;
    assert_eq!(none.unwrap_err().code.name, "SPAWN_FAILED");
    // What it prints is for somebody else to judge.
    let garbage = schema_of(&bench.link("schema-garbage"), bench.runner.parts(), &[]).await;
    assert_eq!(garbage.unwrap(), b"usage: schema-garbage < input.json\n");
    let good = schema_of(&bench.link("add"), bench.runner.parts(), &[]).await.unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&good).unwrap()["name"], "add");
    let script = bench.write("env-tool", "#!/bin/sh\nprintf %s \"$GIVEN\"\n", 0o755);
    let given = schema_of(&script, bench.runner.parts(), &[("GIVEN".into(), "this".into())]).await;
    assert_eq!(given.unwrap(), b"this");
}

#[tokio::test]
async fn a_program_speaks_the_protocol_under_its_own_name() {
    let bench = Bench::with([]);
    let program = bench.link("echo");
    bench.runner.replace(toolbox([tool("t:it", Binding::Executable { program: Some(program) })]));
    assert_eq!(value(bench.call("t:it", json!({"n": 7})).await), json!({"echo": {"n": 7}}));
    // A script that is named without its interpreter brings one along.
    let script = bench.write(
        "script",
        "#!/bin/sh\nprintf '{\"command\":\"%s\",\"input\":%s}' \"$1\" \"$(cat)\"\n",
        0o755,
    );
    let local = Binding::Local {
        runtime: None,
        entry_point: script,
        command: "go".to_owned(),
        dependencies: Vec::new(),
    };
    bench.runner.replace(toolbox([tool("t:it", local)]));
    let answer = value(bench.call("t:it", json!({"n": 7})).await);
    assert_eq!(answer, json!({"command": "go", "input": {"n": 7}}));
}
