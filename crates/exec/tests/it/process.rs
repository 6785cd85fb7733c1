//! Tools that are programs, working and faulty. Whatever a program does, the call ends with the
//! right code and no process of it is left.

use std::path::Path;

use futures::future::join_all;
use toolwright_exec::process::request_schema;

use crate::support::*;

/// The time limit of calls that must exceed it, in milliseconds.
const SHORT: u64 = 3_000;

/// The modes that leave a process behind. Those that do not answer must be stopped.
const LEAVES_A_PROCESS: [(&str, &str); 6] = [
    ("fork", "TIMEOUT"),
    ("fork-exit", "ok"),
    ("setsid", "TIMEOUT"),
    ("setsid-exit", "ok"),
    ("daemon", "TIMEOUT"),
    ("daemon-exit", "ok"),
];

#[tokio::test]
async fn every_mode_ends_with_its_code() {
    let late = "did not answer within 3000 ms";
    let modes = [
        ("echo", json!({"a": [1, "ü", null]}), "ok", r#"{"echo":{"a":[1,"ü",null]}}"#),
        ("add", json!({"a": 1, "b": 2}), "ok", r#"{"sum":3}"#),
        ("big", json!({"bytes": 1000}), "ok", "xxx"),
        ("sleep", json!({"ms": 50}), "ok", r#"{"slept":50}"#),
        ("no-read", json!({}), "ok", r#"{"ok":true}"#),
        ("slow-read", json!({"x": "y"}), "ok", r#"{"bytes":9}"#),
        ("late", json!({"ms": 60_000}), "TIMEOUT", late),
        ("hang", json!({}), "TIMEOUT", late),
        ("ignore-term", json!({}), "TIMEOUT", late),
        ("close-stdin", json!({}), "TIMEOUT", late),
        ("close-out", json!({}), "TIMEOUT", late),
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
        ("no-such-mode", json!({}), "TOOL_FAILED", "there is no mode `no-such-mode`"),
    ];
    let test = TestRunner::new(CallLimits { output: 1 << 20, ..long_limits() })
        .tools(modes.iter().map(|(mode, ..)| tool(&format!("t:{mode}"), process(mode))));
    let calls = modes.map(|(mode, arguments, expected, says)| {
        let test = &test;
        async move {
            let id = format!("t:{mode}");
            let result = match expected {
                "TIMEOUT" => test.call_within(&id, arguments, SHORT).await,
                _ => test.call(&id, arguments).await,
            };
            assert_eq!(word(&result), expected, "{mode}: {result:?}");
            let said = match result {
                Ok(outcome) => outcome.texts(),
                result => failure(result),
            };
            assert!(said.contains(says), "{mode}: {said}");
        }
    });
    join_all(calls).await;
    test.assert_no_processes_left("all of them").await;
}

/// Calls a tool that starts a process, whose pid it writes to `file`, and hangs. The call must end
/// with TIMEOUT. If the machine is so busy that the process was not started by then, the limit was
/// too short, and a longer one is tried.
async fn time_out_after_start(test: &TestRunner, id: &str, file: &str) -> i32 {
    for ms in [1_000, 4_000, 16_000, 64_000] {
        let result = test.call_within(id, json!({"file": file}), ms).await;
        assert_eq!(word(&result), "TIMEOUT", "{id}: {result:?}");
        if Path::new(file).exists() {
            return pid_in(file).await;
        }
    }
    panic!("{id} did not start a process within a minute");
}

#[tokio::test]
async fn processes_that_a_program_leaves_behind_are_killed() {
    let test = TestRunner::exclusive()
        .tools(LEAVES_A_PROCESS.map(|(mode, _)| tool(&format!("t:{mode}"), process(mode))));
    let calls = LEAVES_A_PROCESS.map(|(mode, expected)| {
        let test = &test;
        async move {
            let (id, file) = (format!("t:{mode}"), test.file(mode));
            let pid = match expected {
                "TIMEOUT" => time_out_after_start(test, &id, &file).await,
                _ => {
                    let result = test.call(&id, json!({"file": file})).await;
                    assert_eq!(word(&result), expected, "{mode}: {result:?}");
                    pid_in(&file).await
                }
            };
            wait_until(&format!("the process of {mode} is gone"), || !exists(pid)).await;
        }
    });
    join_all(calls).await;
    test.assert_no_processes_left("all of them").await;
}

/// One call at a time, because the end of another call would kill the orphan too. Many times,
/// because a killed process takes a moment to die, and until then its children are not orphans.
#[tokio::test]
async fn cancelling_or_dropping_a_call_kills_its_process_tree() {
    let modes = ["fork", "setsid", "daemon"];
    let test =
        TestRunner::exclusive().tools(modes.map(|mode| tool(&format!("t:{mode}"), process(mode))));
    for (mode, how) in
        modes.map(|mode| [(mode, "cancelled"), (mode, "dropped")]).concat().repeat(10)
    {
        let file = test.file(mode);
        let (call, cancel) = test.start(&format!("t:{mode}"), json!({"file": file}));
        let pid = pid_in(&file).await;
        match how {
            "cancelled" => {
                cancel.cancel();
                assert_eq!(word(&call.await.unwrap()), "CANCELLED");
            }
            _ => call.abort(),
        }
        wait_until(&format!("the process of {mode} is gone, the call being {how}"), || {
            !exists(pid)
        })
        .await;
        test.assert_no_processes_left(mode).await;
        std::fs::remove_file(&file).unwrap();
    }
}

#[tokio::test]
async fn processes_that_start_while_their_parent_is_killed_are_killed_too() {
    let script = "while :; do setsid sleep 20 & sleep 0.001; done";
    let test = TestRunner::exclusive().tools([tool("t:spawn", shell(script))]);
    for _ in 0..15 {
        let (call, cancel) = test.start("t:spawn", json!({}));
        wait_until("some processes run", || test.processes().len() > 8).await;
        cancel.cancel();
        assert_eq!(word(&call.await.unwrap()), "CANCELLED");
        test.assert_no_processes_left("a call that keeps starting processes").await;
    }
}

/// Such an orphan could belong to any call that ran when it was first seen, so it is killed with
/// the last of them.
#[tokio::test]
async fn an_orphan_without_environment_is_killed_with_the_last_call_it_may_belong_to() {
    let test = TestRunner::exclusive()
        .tools([tool("t:daemon", process("daemon-clean")), tool("t:gate", gate())]);
    let file = test.file("pid");
    let pid = time_out_after_start(&test, "t:daemon", &file).await;
    wait_until("the orphan of the only call is gone", || !exists(pid)).await;

    std::fs::remove_file(&file).unwrap();
    let (other, _) = test.start("t:gate", json!({"args": [test.file("release")]}));
    wait_until("the other call runs", || test.path("release.started").exists()).await;
    let (call, cancel) = test.start("t:daemon", json!({"file": file}));
    let pid = pid_in(&file).await;
    cancel.cancel();
    assert_eq!(word(&call.await.unwrap()), "CANCELLED");
    assert!(is_running(pid), "the orphan was killed while the other call still ran");
    std::fs::write(test.path("release"), "").unwrap();
    assert_eq!(other.await.unwrap().unwrap().texts(), "released\n");
    wait_until("the orphan is gone", || !exists(pid)).await;
    test.assert_no_processes_left("an orphan").await;
}

#[tokio::test]
async fn killing_the_orphans_of_a_call_spares_other_calls() {
    let test = TestRunner::exclusive().tools([
        tool("t:gate", gate()),
        tool("t:setsid-exit", process("setsid-exit")),
        tool("t:daemon-exit", process("daemon-exit")),
        tool("t:daemon-clean", process("daemon-clean")),
        // Its answer comes from an orphan of its own, which must survive too.
        tool(
            "t:orphan-gate",
            shell(
                r#"f=$1
                (setsid sh -c "while [ ! -e $f ]; do sleep 0.05; done; echo done >$f.done" &)
                : >"$f.started"; while [ ! -s "$f.done" ]; do sleep 0.05; done; cat "$f.done""#,
            ),
        ),
    ]);
    let [release, orphan] = ["release", "orphan"].map(|name| test.file(name));
    let (plain, _) = test.start("t:gate", json!({"args": [release]}));
    let (by_orphan, _) = test.start("t:orphan-gate", json!({"args": [orphan]}));
    wait_until("both calls run", || {
        test.path("release.started").exists() && test.path("orphan.started").exists()
    })
    .await;
    let files: Vec<String> = (0..12).map(|n| test.file(&n.to_string())).collect();
    let calls = files.iter().enumerate().map(|(n, file)| {
        let id = ["t:setsid-exit", "t:daemon-exit", "t:daemon-clean"][n % 3];
        let test = &test;
        async move {
            if id != "t:daemon-clean" {
                return word(&test.call(id, json!({"file": file})).await);
            }
            let (call, cancel) = test.start(id, json!({"file": file}));
            pid_in(file).await;
            cancel.cancel();
            word(&call.await.unwrap())
        }
    });
    assert_eq!(join_all(calls).await, ["ok", "ok", "CANCELLED"].repeat(4));
    std::fs::write(&release, "").unwrap();
    std::fs::write(&orphan, "").unwrap();
    assert_eq!(plain.await.unwrap().unwrap().texts(), "released\n");
    assert_eq!(by_orphan.await.unwrap().unwrap().texts(), "done\n");
    for file in files {
        let pid = pid_in(&file).await;
        wait_until("the orphan is gone", || !exists(pid)).await;
    }
    test.assert_no_processes_left("all of them").await;
}

/// Children of this process that have exited and are not reaped.
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

/// A connection to a server can last for days. The calls in that time must not fill the process
/// table.
#[tokio::test]
async fn orphans_do_not_stay_zombies_while_a_server_is_connected() {
    let server = TestServer::stdio("good", &[]);
    // Five orphans write a file and exit while the call runs; one is killed. The script waits for
    // the files: then the five have been adopted and are about to exit.
    let script = r#"for i in 1 2 3 4 5; do (setsid sh -c ': >"$0"' "$1.$i" &); done
        (setsid sleep 20 &)
        for i in 1 2 3 4 5; do until [ -e "$1.$i" ]; do sleep 0.01; done; done"#;
    let test = TestRunner::exclusive().tools([
        server.tool("pid"),
        tool("t:leave", shell(script)),
        tool("t:hang", process("hang")),
    ]);
    let pid = value(test.call("good:pid", json!({})).await);
    for round in 0..5 {
        let files = json!({"args": [test.file(&format!("orphan-{round}"))]});
        let left = test.call("t:leave", files).await;
        assert_eq!(word(&left), "ok", "{left:?}");
        assert_eq!(word(&test.call_within("t:hang", json!({}), 20).await), "TIMEOUT");
    }
    wait_until("there are no zombies", || zombies().is_empty()).await;
    assert_eq!(value(test.call("good:pid", json!({})).await), pid);
    test.close().await;
}

/// A program that runs as the same user could otherwise read the token of the server from
/// `/proc/PID/environ`. That file is protected by this flag, but never from root, as which tests
/// may run.
#[tokio::test]
async fn programs_cannot_read_the_memory_of_this_process() {
    let test = TestRunner::with([tool("t:echo", process("echo"))]);
    assert_eq!(word(&test.call("t:echo", json!({})).await), "ok");
    let hidden = rustix::process::DumpableBehavior::NotDumpable;
    assert_eq!(rustix::process::dumpable_behavior().unwrap(), hidden);
}

/// `helper & exec toolwright` makes the helper our child, and it must not be killed.
#[tokio::test]
async fn children_from_before_the_first_call_are_not_killed() {
    const NAME: &str = "process::children_from_before_the_first_call_are_not_killed";
    let script = r#"sleep 60 & exec env CHILD_FROM_BEFORE=$! "$1" --exact "$2""#;
    let test = TestRunner::with([tool("t:echo", process("echo")), tool("t:again", shell(script))]);
    if let Ok(before) = std::env::var("CHILD_FROM_BEFORE") {
        let before: i32 = before.parse().unwrap();
        for _ in 0..3 {
            assert_eq!(word(&test.call("t:echo", json!({})).await), "ok");
        }
        assert!(is_running(before), "it was killed with a call");
        return;
    }
    // The same test again, in a process that has a child from before. The runner starts it, and
    // kills that child afterwards.
    let own_path = std::env::current_exe().unwrap();
    let inner = test.call("t:again", json!({"args": [own_path.to_str().unwrap(), NAME]})).await;
    assert_eq!(word(&inner), "ok", "{inner:?}");
    test.assert_no_processes_left("the test").await;
}

#[tokio::test]
async fn all_processes_can_be_killed_at_once() {
    let server = TestServer::stdio("hang-start", &[]);
    let test = TestRunner::exclusive().tools([
        server.tool("echo"),
        tool("t:hang", process("hang")),
        tool("t:daemon", process("daemon")),
    ]);
    let file = test.file("pid");
    let calls = [
        test.start("hang-start:echo", json!({})).0,
        test.start("t:hang", json!({})).0,
        test.start("t:daemon", json!({"file": file})).0,
    ];
    let pid = pid_in(&file).await;
    wait_until("all processes run", || test.processes().len() >= 4).await;
    toolwright_exec::kill_all_processes();
    test.assert_no_processes_left("killing all").await;
    wait_until("the orphan is gone", || !exists(pid)).await;
    calls.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn programs_have_exactly_the_environment_they_were_given() {
    let test = TestRunner::with([
        tool("t:env", process("echo-env")).variable("EXTRA", "ü").variable("PATH", "/bin"),
        tool("t:plain", process("echo-env")),
    ]);
    let folder = test.folder.path().to_str().unwrap().to_owned();
    let own_trees = format!("{}.", std::process::id());
    for (id, expected) in [
        ("t:env", json!({"PATH": "/bin", "TEST_FOLDER": folder, "EXTRA": "ü"})),
        ("t:plain", json!({"PATH": "/usr/bin:/bin", "TEST_FOLDER": folder})),
    ] {
        let mut seen = value(test.call(id, json!({})).await)["env"].take();
        let tree = seen.as_object_mut().unwrap().remove("TOOLWRIGHT_RUN").unwrap();
        assert!(tree.as_str().unwrap().starts_with(&own_trees), "{tree}");
        assert_eq!(seen, expected, "{id}");
    }
}

#[tokio::test]
async fn streams_can_have_any_size() {
    let test = TestRunner::new(CallLimits { output: 32 << 20, ..long_limits() }).tools([
        tool("t:echo", process("echo")),
        tool("t:slow-read", process("slow-read")),
        tool("t:no-read", process("no-read")),
        tool("t:flood-err", process("flood-err")),
        tool("t:flood-both", process("flood-both")),
    ]);
    let text = "z".repeat(10_000_000);
    let big = json!({"text": text});
    assert_eq!(value(test.call("t:echo", big.clone()).await)["echo"], big);
    assert_eq!(value(test.call("t:slow-read", big.clone()).await), json!({"bytes": 10_000_011}));
    assert_eq!(value(test.call("t:no-read", big).await), json!({"ok": true}));
    assert_eq!(value(test.call("t:flood-err", json!({})).await), json!({"ok": true}));
    let both = value(test.call("t:flood-both", json!({})).await);
    assert_eq!(both["data"].as_str().unwrap().len(), 20_000_000);
    assert!(test.log().len() < 100_000, "the log has more than the last part of stderr");
    test.assert_no_processes_left("floods").await;
}

#[tokio::test]
async fn a_program_that_cannot_be_started_fails_with_the_reason() {
    let test = TestRunner::with([]);
    let none = test.file("none");
    let plain = test.write("plain", "#!/bin/sh\necho 1\n", 0o644);
    let no_interpreter = test.write("no-interpreter", "#!/no/such/sh\n", 0o755);
    let no_header = test.write("no-header", "echo 1\n", 0o755);
    let empty = test.write("empty", "", 0o755);
    let folder = test.folder.path().to_str().unwrap().to_owned();
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
        test.runner.set_tools(registry([tool("t:it", executable), tool("t:command", command)]));
        for id in ["t:it", "t:command"] {
            let failure = test.call(id, json!({})).await.unwrap_err();
            let expected = format!("`{program}` cannot be started: {why}");
            assert_eq!((failure.code.name, failure.message), ("SPAWN_FAILED", expected));
        }
    }
}

#[tokio::test]
async fn a_nul_byte_in_an_argument_is_a_failure_not_a_panic() {
    let test = TestRunner::with([tool("t:sh", shell("echo \"$1\""))]);
    let result = test.call("t:sh", json!({"args": ["a\0b"]})).await;
    assert_eq!(word(&result), "SPAWN_FAILED", "{result:?}");
}

#[tokio::test]
async fn command_lines_take_arguments_and_stdin() {
    let guide = Binding::Command {
        executable: "/bin/sh".into(),
        words: ["-c", "exit 127"].map(str::to_owned).to_vec(),
        install_check: None,
        install_guide: Some("get it from the shop".into()),
    };
    let test = TestRunner::with([
        tool("t:words", shell(r#"for word in "$@"; do echo "[$word]"; done; cat"#)),
        tool("t:bytes", shell(r"printf 'a\377b'")),
        tool("t:fail", shell("echo one >&2; echo two >&2; exit 4")),
        tool("t:kill", shell("kill -9 $$")),
        tool("t:guide", guide),
    ]);
    let given = json!({"args": ["a b", "$HOME", "", "ü;ls"], "stdin": "the end"});
    assert_eq!(
        test.call("t:words", given).await.unwrap().texts(),
        "[a b]\n[$HOME]\n[]\n[ü;ls]\nthe end"
    );
    assert_eq!(test.call("t:bytes", json!({})).await.unwrap().texts(), "a\u{fffd}b");
    for (id, message, suggestion) in [
        (
            "t:fail",
            "the program ended with status 4: two",
            "read the message: it is the tool's own",
        ),
        ("t:kill", "the program was ended by signal 9", "read the message: it is the tool's own"),
        ("t:guide", "the program ended with status 127", "get it from the shop"),
    ] {
        let failure = test.call(id, json!({})).await.unwrap_err();
        assert_eq!(
            (failure.code.name, failure.message.as_str(), &*failure.suggestion),
            ("TOOL_FAILED", message, suggestion)
        );
    }
}

/// Runs `--schema`. A program has one second for that, which may be too short on a busy machine; so
/// this tries again if the time was over.
async fn schema(
    test: &TestRunner,
    program: &str,
    extra: &[(std::ffi::OsString, std::ffi::OsString)],
) -> Result<Vec<u8>, Failure> {
    let mut result = request_schema(program, test.runner.context(), extra).await;
    for _ in 0..30 {
        match &result {
            Err(failure) if failure.message.contains("printed nothing within") => {}
            _ => break,
        }
        result = request_schema(program, test.runner.context(), extra).await;
    }
    result
}

#[tokio::test]
async fn programs_print_their_schema_or_the_failure_says_why_not() {
    let test = TestRunner::with([]);
    let hang = request_schema(&test.link("schema-hang"), test.runner.context(), &[]).await;
    let late = "TOOL_FAILED: `--schema` printed nothing within 1000 ms";
    assert_eq!(hang.unwrap_err().to_string(), late);
    test.assert_no_processes_left("schema-hang").await;
    for (mode, says) in [
        ("schema-big", "TOOL_FAILED: `--schema` printed more than 8192 bytes"),
        (
            "schema-exit",
            "TOOL_FAILED: `--schema`: the program ended with status 1: cannot tell the schema",
        ),
    ] {
        let failure = schema(&test, &test.link(mode), &[]).await.unwrap_err().to_string();
        assert!(failure.starts_with(says), "{failure}");
        test.assert_no_processes_left(mode).await;
    }
    let none = schema(&test, &test.file("none-tool"), &[]).await;
    assert_eq!(none.unwrap_err().code.name, "SPAWN_FAILED");
    // The document is not checked here; the catalog does that.
    let garbage = schema(&test, &test.link("schema-garbage"), &[]).await;
    assert_eq!(garbage.unwrap(), b"usage: schema-garbage < input.json\n");
    let good = schema(&test, &test.link("add"), &[]).await.unwrap();
    assert_eq!(serde_json::from_slice::<Json>(&good).unwrap()["name"], "add");
    let script = test.write("env-tool", "#!/bin/sh\nprintf %s \"$GIVEN\"\n", 0o755);
    let given = schema(&test, &script, &[("GIVEN".into(), "this".into())]).await;
    assert_eq!(given.unwrap(), b"this");
}

#[tokio::test]
async fn executables_and_scripts_run_without_an_interpreter() {
    let test = TestRunner::with([]);
    let program = test.link("echo");
    test.runner.set_tools(registry([tool("t:it", Binding::Executable { program: Some(program) })]));
    assert_eq!(value(test.call("t:it", json!({"n": 7})).await), json!({"echo": {"n": 7}}));
    // The `#!` line of the script names its interpreter.
    let script = test.write(
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
    test.runner.set_tools(registry([tool("t:it", local)]));
    let answer = value(test.call("t:it", json!({"n": 7})).await);
    assert_eq!(answer, json!({"command": "go", "input": {"n": 7}}));
}
