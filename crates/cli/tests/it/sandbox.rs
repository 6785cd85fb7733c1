//! The sandbox as this binary uses it: `doctor`, and workers, which are the same binary.

use std::process::Command;

use serde_json::{Value as Json, json};
use toolwright_sandbox::{
    GuestLimits, JailPolicy, PoolOptions, ProgramForm, ProgramInput, WorkerCommand, WorkerPool,
};

use crate::client::{LONG, StdioClient, add_tools, until};
use crate::program::{Run, run};

fn pool() -> WorkerPool {
    let worker = WorkerCommand::new(env!("CARGO_BIN_EXE_toolwright")).arg("sandbox-worker");
    let jail_policy = JailPolicy::RequireAll;
    WorkerPool::new(PoolOptions { workers: 1, jail_policy, ..PoolOptions::new(worker) })
}

fn value(pool: &WorkerPool, source: &str) -> Json {
    let program = pool.compile_blocking(source, ProgramForm::Script, None).expect("it compiles");
    pool.run_blocking(&program, &ProgramInput::args(json!({})), &GuestLimits::default(), None)
        .expect("it runs")
        .value
}

#[test]
fn doctor_names_every_layer() {
    let run = run(&["doctor"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    insta::assert_snapshot!(run.stdout, @r"
    sandbox: a worker started and ran a program
      layer              state    protects from
      parent-death       ok       workers that go on after this program has ended
      process-group      ok       signals of the terminal that end a worker during a call
      environment        ok       reading secrets in environment variables
      descriptors        ok       using files and connections that this program has open
      oom-score          ok       the system ending this program, not the worker, for memory
      no-new-privileges  ok       gaining rights by starting a privileged program
      capabilities       ok       using the rights of root where this program has them
      landlock           ok       opening files and ports, and signals to other processes
      resource-limits    ok       using up the memory, processes or disk of the system
      seccomp            ok       all other requests to the system, even after a bug of the engine
    all layers of the sandbox hold
    ");
}

/// Limits of the shell that are stricter than those of the jail stay, and the jail is complete;
/// under limits that are too strict for a worker, `doctor` names the layer.
#[test]
fn lower_limits_of_the_shell_are_kept_or_reported() {
    let doctor = |kilobytes: u64| {
        let script = format!("ulimit -v {kilobytes}; exec \"$0\" doctor");
        let run = Command::new("/bin/sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_toolwright")])
            .output();
        let run = run.expect("a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (run.status.code(), text(&run.stdout), text(&run.stderr))
    };
    let (code, stdout, stderr) = doctor(900_000);
    assert!(
        code == Some(0) && stdout.contains("all layers of the sandbox hold"),
        "{stdout}{stderr}"
    );
    let (code, _, stderr) = doctor(400_000);
    assert!(
        code == Some(2) && stderr.contains("START_FAILED: the layer `resource-limits`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("390 MiB of addresses (`ulimit -v`), and a worker needs 640 MiB"),
        "{stderr}"
    );
}

/// With few file descriptors, `doctor` succeeds or names the limit; it never crashes.
#[test]
fn too_few_file_descriptors_are_reported() {
    for descriptors in 4..16 {
        // Descriptors that the test runner was started with would count; they are closed first.
        let close = "for fd in 3 4 5 6 7 8 9; do eval \"exec $fd>&-\"; done";
        let script = format!("{close}; ulimit -n {descriptors}; exec \"$0\" doctor");
        let mut command = Command::new("/bin/sh");
        let output = command
            .args(["-c", &script, env!("CARGO_BIN_EXE_toolwright")])
            .output()
            .expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_reported = stderr.contains("ulimit -n") || stderr.contains("Too many open files");
        assert!(
            output.status.success() || (output.status.code() == Some(2) && is_reported),
            "{descriptors}: {output:?}"
        );
    }
}

/// Runs `work` on a thread whose system calls to landlock fail as on a kernel without it; programs
/// that it starts inherit that.
#[cfg(target_os = "linux")]
fn without_landlock<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    // The first of its system calls has this number everywhere.
    let (landlock_create_ruleset, no_such_call) = (444, 38);
    let refuse = SeccompAction::Errno(no_such_call);
    let rules = [(landlock_create_ruleset, Vec::new())].into();
    let here = std::env::consts::ARCH.try_into().expect("a known processor");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, here).expect("a filter");
    let filter: BpfProgram = filter.try_into().expect("a program");
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            seccompiler::apply_filter(&filter).expect("a filter that the kernel takes");
            work()
        });
        thread.join().expect("the thread does not panic")
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_missing_layer_is_reported_and_refused_on_request() {
    let doctor = without_landlock(|| run(&["doctor"]));
    assert_eq!((doctor.code, doctor.stderr.as_str()), (1, ""), "{doctor:?}");
    for part in [
        "  landlock           missing  opening files and ports",
        " reason: the kernel has no landlock\n",
        " help: use Linux 6.12 or newer, with `landlock` in /sys/kernel/security/lsm",
        "\n`serve` runs no JavaScript here unless it is given `--allow-weak-jail`",
    ] {
        assert!(doctor.stdout.contains(part), "{part}: {}", doctor.stdout);
    }

    let args = "{\"labels\": [\"A\", \"a\"]}";
    let helper = [
        "eval",
        "examples/aios/tickets.yaml",
        "--helper",
        "normalise-labels",
        "--args",
        args,
        "--json",
    ];
    let words = ["call", "--from", "examples/btcp/count-words.json", "countWords", "text=a b"];
    for command in [&helper[..], &words] {
        let warned = without_landlock(|| run(command));
        assert_eq!(warned.code, 0, "{warned:?}");
        assert!(
            warned
                .stderr
                .contains("the jail lacks its layer `landlock`: the kernel has no landlock"),
            "{warned:?}"
        );
        let strict: Vec<&str> = command.iter().copied().chain(["--require-jail"]).collect();
        let refused = without_landlock(|| run(&strict));
        assert_ne!(refused.code, 0, "{refused:?}");
        let all = refused.stdout.clone() + &refused.stderr;
        assert!(all.contains("the jail lacks its layer `landlock`"), "{refused:?}");
        assert_eq!(run(&strict).code, 0, "with all layers it runs");
    }
}

/// A server runs unattended: without landlock it serves all tools, and refuses to run JavaScript
/// until its operator accepts that.
#[cfg(target_os = "linux")]
#[test]
fn serve_refuses_a_weak_jail_unless_it_is_allowed() {
    let folder = crate::program::folder(&[]);
    add_tools(folder.path(), &["echo"]);
    let example = crate::program::project().join("examples/btcp/count-words.json");
    let sources = ["--from", "tools/echo-tool", "--from", example.to_str().expect("UTF-8")];
    let calls = |option: &[&str]| {
        let arguments: Vec<&str> = sources.iter().chain(option).copied().collect();
        without_landlock(|| {
            let mut client = StdioClient::start(folder.path(), &arguments, &[]);
            let plain = client.call("echo", json!({"a": 1}));
            let script = client.call("countWords", json!({"text": "a b"}));
            // Written before the answer; read by another thread.
            let log = until("the note about the jail", LONG, || {
                Some(client.stderr()).filter(|log| log.contains("`landlock`"))
            });
            (plain, script, log)
        })
    };
    let (plain, refused, log) = calls(&[]);
    assert_eq!(plain["structuredContent"]["echo"]["a"], 1, "{plain}");
    assert_eq!(refused["_meta"]["toolwright/error"]["code"], "SANDBOX_FAILED", "{refused}");
    let message = refused["content"][0]["text"].as_str().expect("a text");
    for part in ["START_FAILED: the jail lacks its layer `landlock`", "`--allow-weak-jail`"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(
        log.contains("the jail lacks its layer `landlock`: the kernel has no landlock"),
        "{log}"
    );
    let (_, allowed, log) = calls(&["--allow-weak-jail"]);
    assert_eq!(allowed["structuredContent"]["words"], 2, "{allowed}");
    assert!(!log.contains("no JavaScript is run"), "{log}");
    let both = run(&["serve", "--allow-weak-jail", "--require-jail"]);
    assert!(both.code == 2 && both.stderr.contains("cannot be used with"), "{both:?}");
}

/// A kernel whose landlock has rules for files and none for ports.
#[cfg(target_os = "linux")]
#[test]
fn a_layer_that_holds_in_part_is_reported_as_such() {
    let kernel = toolwright_testing::programs::example("sandbox", "sandbox-misbehaving-worker");
    let on_old_kernel = |arguments: &[&str]| {
        let mut command = Command::new(&kernel);
        command.args(["--landlock", "3", env!("CARGO_BIN_EXE_toolwright")]).args(arguments);
        command.current_dir(crate::program::project());
        Run::of(command.output().expect("it runs"))
    };
    let doctor = on_old_kernel(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    let lines: Vec<&str> = doctor.stdout.lines().filter(|line| !line.contains(" ok ")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    sandbox: a worker started and ran a program
      layer              state    protects from
      landlock           partly   opening files and ports, and signals to other processes
                                  reason: this kernel has version 3 of landlock, without TCP ports (Linux 6.7), commands to devices (Linux 6.10), signals and abstract sockets (Linux 6.12)
                                  help: use Linux 6.12 or newer, with `landlock` in /sys/kernel/security/lsm; a container must allow the system calls `landlock_*`
    JavaScript runs with the remaining layers; `--require-jail` refuses to run it
    ");
    let words = ["call", "--from", "examples/btcp/count-words.json", "countWords", "text=a b"];
    let called = on_old_kernel(&words);
    assert_eq!(called.code, 0, "{called:?}");
    let note = "the layer `landlock` of the jail holds only in part: this kernel has version 3";
    assert!(called.stderr.contains(note), "{called:?}");
    let strict: Vec<&str> = words.into_iter().chain(["--require-jail"]).collect();
    let refused = on_old_kernel(&strict);
    assert!(refused.code != 0 && (refused.stdout + &refused.stderr).contains(note));
}

#[test]
fn this_binary_runs_as_a_worker() {
    assert_eq!(value(&pool(), "module.exports = () => [1, 'a']"), json!([1, "a"]));
}

#[test]
fn the_globals_of_the_checks_are_those_of_the_sandbox() {
    let names =
        value(&pool(), "module.exports = () => Object.getOwnPropertyNames(globalThis).sort()");
    let names: Vec<String> = serde_json::from_value(names).expect("names");
    // `data` is there for programs that process something.
    let known: Vec<&str> = toolwright_script::GLOBALS
        .iter()
        .copied()
        .filter(|name| *name != "data" && *name != "undefined")
        .collect();
    let missing: Vec<&&str> =
        known.iter().filter(|name| !names.iter().any(|found| found == **name)).collect();
    assert!(
        missing.is_empty(),
        "the checks list these globals, and the sandbox lacks them: {missing:?}"
    );
    let unknown: Vec<&String> = names
        .iter()
        .filter(|name| !known.contains(&name.as_str()) && !matches!(name.as_str(), "undefined"))
        .collect();
    assert!(
        unknown.is_empty(),
        "the sandbox has these globals, and the checks do not list them: {unknown:?}"
    );
}
