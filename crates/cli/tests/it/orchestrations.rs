//! Tools that call other tools (AIOS, `type: meta`): `tools.call` in the sandbox, what it may call,
//! and how calls end that loop, recurse, fan out or never return.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::client::{LONG, StdioClient, faulty_server, run_with, until};
use crate::program::{Run, folder, project};

/// The definition of a meta tool whose helper has this code.
pub(crate) fn meta(id: &str, aggregates: &str, code: &str) -> String {
    let code = code.replace('\n', "\n          ");
    format!(
        "tool:
  schema_version: 2.0
  id: {id}
  type: meta
  name: {id}
  version: 1.0.0
  description: Calls other tools
  executable_knowledge:
    helpers:
      - id: run-it
        language: javascript
        runtime: isolated_vm
        function: |
          {code}
  meta_specific: {{aggregates: {aggregates}, orchestration: helpers.run-it}}
"
    )
}

/// A script with three commands.
const PARTS: &str = "tool:
  id: parts
  type: local
  name: Parts
  version: 1.0.0
  description: Small steps
  commands: [say, fail, hang]
  local_specific: {runtime: sh, entry_point: ./parts.sh}
";

/// `say` repeats its arguments, `fail` fails, and `hang` leaves a file and a process behind.
const SCRIPT: &str = r#"case "$1" in
say) cat ;;
fail) echo '{"error": "no luck"}'; exit 1 ;;
hang) touch started; sleep 600; touch ended; echo '{}' ;;
esac
"#;

/// A folder with the parts, meta tools by their ids, and these limits.
fn with_meta(tools: &[(&str, &str, &str)], limits: &str) -> tempfile::TempDir {
    // The definitions lie in a folder, so nobody has named the program of `parts` or the tools
    // that call others.
    let grant = "[[grant]]\ntoolset = \"parts\"\ncapabilities = [\"process:spawn\"]\n\
        [[grant]]\ntoolset = \"*\"\ncapabilities = [\"tool:call\"]\n";
    let config = format!("[[source]]\nname = \"tools\"\npath = \"tools\"\n{grant}{limits}");
    let mut files = vec![
        ("toolwright.toml".to_owned(), config),
        ("tools/parts.yaml".to_owned(), PARTS.to_owned()),
        ("tools/parts.sh".to_owned(), SCRIPT.to_owned()),
    ];
    for (id, aggregates, code) in tools {
        files.push((format!("tools/{id}.yaml"), meta(id, aggregates, code)));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    folder(&files)
}

/// Runs with a store of calls in the folder.
fn run(folder: &Path, args: &[&str]) -> Run {
    let state = folder.join("state").display().to_string();
    run_with(folder, args, &[("XDG_STATE_HOME", &state)], "")
}

/// The answer of `call --json`.
fn call(folder: &Path, id: &str) -> Json {
    answer(&run(folder, &["call", id, "--json"]))
}

fn answer(run: &Run) -> Json {
    let text = &run.stdout;
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}{}", run.stderr))
}

/// The code and the message of a call that failed.
fn failure(answer: &Json) -> (&str, &str) {
    let error = &answer["error"];
    (error["code"].as_str().unwrap_or_default(), error["message"].as_str().unwrap_or_default())
}

/// The tools and codes that `audit` has on record, sorted.
fn recorded(folder: &Path) -> Vec<String> {
    let run = run(folder, &["audit", "--output-format", "json"]);
    let lines = run.stdout.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let mut lines: Vec<String> = lines
        .map(|it| {
            format!(
                "{} {}",
                it["tool"].as_str().expect("a tool"),
                it["code"].as_str().expect("a code")
            )
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_meta_tool_calls_the_tools_that_it_aggregates() {
    let code = "async function runIt(args) {
  const [one, two] = await Promise.all([
    tools.call('parts:say', { text: 'one' }),
    tools.call('parts:say', { text: args.second }),
  ]);
  return { said: one.text + ' ' + two.text };
}
module.exports = { runIt };";
    let folder = with_meta(&[("all", "[parts]", code)], "");
    let run = run(folder.path(), &["call", "all:all", "--json", "second=two"]);
    let answer = answer(&run);
    assert_eq!(answer["structuredContent"], json!({"said": "one two"}), "{answer}");
    let one = json!({"tool": "parts:say", "code": "OK"});
    assert_eq!(answer["_meta"]["toolwright/calls"], json!([one, one]), "{answer}");
    // Every inner call has a record of its own.
    let expected = ["all:all OK", "parts:say OK", "parts:say OK"];
    assert_eq!(recorded(folder.path()), expected);
}

#[test]
fn a_failed_call_rejects_the_promise_and_is_listed() {
    let code = "async function runIt(args) {
  const done = await Promise.allSettled([
    tools.call('parts:fail'),
    tools.call('parts:say', { text: 'fine' }),
    tools.call('parts:nothing'),
    tools.call('other:say'),
    tools.call(7),
  ]);
  return done.map((it) => it.value?.text ?? [it.reason.code ?? null, it.reason.message]);
}";
    let folder = with_meta(&[("all", "[parts]", code), ("other", "[]", "(() => 1)")], "");
    let answer = call(folder.path(), "all:all");
    let expected = json!([
        ["TOOL_FAILED", "`parts:fail`: no luck"],
        "fine",
        ["TOOL_NOT_FOUND", "`parts:nothing`: there is no tool `parts:nothing`"],
        ["TOOL_NOT_FOUND", "`other:say`: there is no tool `other:say`"],
        [null, "the first argument of `tools.call` is the id of a tool, as a text"],
    ]);
    assert_eq!(answer["structuredContent"], expected, "{answer}");
    let calls = answer["_meta"]["toolwright/calls"].as_array().expect("a list");
    let codes: Vec<&str> = calls.iter().map(|call| call["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["TOOL_FAILED", "OK", "TOOL_NOT_FOUND", "TOOL_NOT_FOUND"]);
    assert_eq!(calls[0]["message"], "no luck");
    let shown = run(folder.path(), &["call", "all:all"]);
    shown.assert_on_stderr("3 of 4 calls of other tools failed: `parts:fail` (TOOL_FAILED)");
}

#[test]
fn only_aggregated_tools_can_be_called() {
    let code = "async () => tools.call('parts:say', { text: 'x' })";
    for (aggregates, is_allowed) in
        [("[parts]", true), ("[\"parts:say\"]", true), ("[\"parts:fail\"]", false), ("[]", false)]
    {
        let folder = with_meta(&[("all", aggregates, code)], "");
        let answer = call(folder.path(), "all:all");
        if is_allowed {
            assert_eq!(answer["structuredContent"], json!({"text": "x"}), "{aggregates}: {answer}");
            continue;
        }
        let (code, message) = failure(&answer);
        assert_eq!(code, "TOOL_FAILED", "{answer}");
        let why = "`parts:say` is not among the `aggregates` of the tool that calls it";
        assert!(message.contains(why), "{message}");
        assert!(message.contains("1 of 1 calls of other tools failed"), "{message}");
        let expected = ["all:all TOOL_FAILED", "parts:say TOOL_NOT_FOUND"];
        assert_eq!(recorded(folder.path()), expected);
    }
}

/// Otherwise everybody who can write to the folder could use the grants of another toolset.
#[test]
fn a_meta_tool_that_was_met_in_a_folder_needs_a_grant_to_call_others() {
    let code = "async () => tools.call('parts:say', { text: 'x' })";
    let alone = "() => 'alone'";
    let folder = with_meta(&[("all", "[parts]", code), ("none", "[]", alone)], "");
    let path = folder.path();
    let config = std::fs::read_to_string(path.join("toolwright.toml")).expect("a file");
    let (config, _) = config.rsplit_once("[[grant]]").expect("the grant of `tool:call`");
    std::fs::write(path.join("toolwright.toml"), config).expect("a file");
    let refused = run(path, &["call", "all:all"]);
    refused.assert_on_stderr("CAPABILITY_DENIED: `all:all` needs `tool:call`");
    // Nothing was called, and a tool that calls nothing needs nothing.
    assert_eq!(recorded(path), ["all:all CAPABILITY_DENIED"]);
    assert!(call(path, "none:none").get("error").is_none());
    let allowed = run(path, &["call", "all:all", "--allow", "tool:call"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    // Naming the file is the consent; its inner calls still need the grants of their own tools.
    let both = ["--from", "tools/all.yaml", "--from", "tools/parts.yaml"];
    let named = run(path, &[&["call", "all:all"], &both[..]].concat());
    assert_eq!(named.code, 0, "{named:?}");
    let met = ["--from", "tools/all.yaml", "--from", "tools"];
    let inner = run(path, &[&["call", "all:all"], &met[..]].concat());
    inner.assert_on_stderr("`parts:say` (CAPABILITY_DENIED)");
    // A grant is for this content.
    let granted = run(path, &["grants", "add", "all", "tool:call"]);
    assert_eq!(granted.code, 0, "{granted:?}");
    assert_eq!(run(path, &["call", "all:all"]).code, 0);
    let text = std::fs::read_to_string(path.join("tools/all.yaml")).expect("a file");
    std::fs::write(path.join("tools/all.yaml"), text.replace("'x'", "'y'")).expect("a file");
    assert_eq!(failure(&call(path, "all:all")).0, "CAPABILITY_DENIED");
}

/// Whatever the helper does about refused calls, it ends with a clear code.
#[test]
fn calls_end_at_their_limits() {
    let own = "async () => { try { return await tools.call('all:all'); } catch (e) { throw e; } }";
    let other = |id: &str| format!("async () => ({{ below: await tools.call('{id}:{id}') }})");
    let (to_b, to_a) = (other("b"), other("all"));
    let forever = "async () => { for (;;) { try { await tools.call('parts:say'); } catch {} } }";
    let refused = "async () => { for (;;) { try { await tools.call('no:no'); } catch {} } }";
    let fan_out = "async () => { const all = [];
  for (let n = 0; n < 1000; n++) { try { all.push(tools.call('parts:say')); } catch {} }
  return Promise.allSettled(all); }";
    let no_wait = "() => { for (let n = 0; n < 100; n++) tools.call('parts:say'); return 1; }";
    let both = "async () => {
  const all = await Promise.allSettled([1, 2, 3, 4, 5].map(() => tools.call('all:all')));
  return all.map((one) => one.status); }";
    for (name, tools, expected) in [
        ("loops", vec![("all", "[parts]", forever)], "64 calls of other tools were made for it"),
        ("loops over nothing", vec![("all", "[no]", refused)], "64 calls of other tools"),
        ("fans out", vec![("all", "[parts]", fan_out)], "64 calls of other tools were made for it"),
        ("does not wait", vec![("all", "[parts]", no_wait)], "64 calls of other tools"),
        ("recurses", vec![("all", "[all]", own)], "calls may be nested 4 levels deep"),
        (
            "recurses over two",
            vec![("all", "[b]", to_b.as_str()), ("b", "[all]", to_a.as_str())],
            "calls may be nested 4 levels deep",
        ),
        ("recurses and fans out", vec![("all", "[all]", both)], "64 calls of other tools"),
    ] {
        let limits = "[limits]\ntimeout = 120000\n";
        let folder = with_meta(&tools, limits);
        let answer = call(folder.path(), "all:all");
        let (code, message) = failure(&answer);
        assert_eq!(code, "CALL_LIMIT", "{name}: {answer}");
        assert!(message.contains(expected), "{name}: {message}");
        // 64 calls below the one that was asked for, and no more.
        assert!(recorded(folder.path()).len() <= 65, "{name}");
    }
}

/// One call at a time is enough for a tool that calls itself: the inner calls run in its place.
#[test]
fn a_recursion_does_not_wait_for_its_own_place() {
    let code = "async (args) => args.n === 0 ? [] : \
                [args.n, ...await tools.call('all:all', { n: args.n - 1 })]";
    let folder = with_meta(&[("all", "[all]", code)], "[limits]\nmax_concurrent = 1\n");
    let run = run(folder.path(), &["call", "all:all", "--json", "n:=4"]);
    let answer = answer(&run);
    assert_eq!(answer["structuredContent"], json!([4, 3, 2, 1]), "{answer}");
}

/// The wait for an inner call counts against the deadline of the call, and ends with it.
#[test]
fn inner_calls_end_with_the_outer_call() {
    let code = "async () => { try { await tools.call('parts:hang'); } catch { return 'caught'; } }";
    let folder = with_meta(&[("all", "[parts]", code)], "");
    let run = run(folder.path(), &["call", "all:all", "--json", "--timeout", "3000"]);
    let answer = answer(&run);
    assert_eq!(failure(&answer).0, "TIMEOUT", "{answer}");
    assert!(folder.path().join("started").exists(), "it was called");
    assert!(!folder.path().join("ended").exists(), "it was stopped");
    let records = recorded(folder.path());
    assert_eq!(records, ["all:all TIMEOUT", "parts:hang CANCELLED"]);
}

/// The same when the client cancels, and the place of the call is free again.
#[test]
fn inner_calls_end_when_the_client_cancels() {
    let code = "async () => tools.call('parts:hang')";
    let folder = with_meta(&[("all", "[parts]", code)], "");
    let state = folder.path().join("state").display().to_string();
    let mut client = StdioClient::start(folder.path(), &[], &[("XDG_STATE_HOME", &state)]);
    let name = client.names().into_iter().find(|name| name.starts_with("all")).expect("a tool");
    let id = client.send_call(&name, json!({}));
    let started = || folder.path().join("started").exists().then_some(());
    until("the inner call has started", LONG, started);
    client.notify("notifications/cancelled", json!({"requestId": id}));
    let expected = ["all:all CANCELLED", "parts:hang CANCELLED"];
    until("both are on record", LONG, || (recorded(folder.path()) == expected).then_some(()));
    client.hang_up();
    client.end(LONG);
    assert!(!folder.path().join("ended").exists(), "it was stopped");
}

/// A helper may wait for longer than the processor time that it has.
#[test]
fn waiting_does_not_count_as_processor_time() {
    let code = "async () => { for (let n = 0; n < 30; n++) await tools.call('parts:say');
  return 'done'; }";
    let folder = with_meta(&[("all", "[parts]", code)], "[limits]\nfunction_timeout = 60\n");
    let answer = call(folder.path(), "all:all");
    assert_eq!(answer["content"][0]["text"], "done", "{answer}");
    let busy = "async () => { await tools.call('parts:say'); for (;;) {} }";
    let folder = with_meta(&[("all", "[parts]", busy)], "[limits]\nfunction_timeout = 60\n");
    let answer = call(folder.path(), "all:all");
    let (code, message) = failure(&answer);
    assert_eq!(code, "TIMEOUT", "{answer}");
    assert!(message.contains("all its 1 calls of other tools succeeded"), "{message}");
    // More time for the call would not help.
    let help = answer["error"]["suggestion"].as_str().expect("a text");
    assert!(help.contains("`function_timeout` of `[limits]`"), "{help}");
}

#[test]
fn what_a_meta_tool_aggregates_is_looked_for_in_the_other_documents() {
    let code = "async () => tools.call('parts:say')";
    let folder = with_meta(&[("all", "[parts, \"parts:say\", part, \"parts:shout\"]", code)], "");
    let checked = run(folder.path(), &["check", "tools", "--output-format", "concise"]);
    let found: Vec<&str> =
        checked.stdout.lines().filter(|line| line.contains("UNRESOLVED_REFERENCE")).collect();
    assert_eq!(found.len(), 2, "{}", checked.stdout);
    assert!(found[0].contains("`part` is not among the tools that are loaded"), "{}", found[0]);
    assert!(found[1].contains("`parts:shout` is not among the tools"), "{}", found[1]);
    // Alone, nothing can be said about the others but where to look.
    let alone = run(folder.path(), &["check", "tools/all.yaml", "--output-format", "json"]);
    let lines = alone.stdout.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let found: Vec<Json> = lines.filter(|it| it["code"] == "UNRESOLVED_REFERENCE").collect();
    assert_eq!(found.len(), 4, "{}", alone.stdout);
    assert_eq!(found[0]["severity"], "info", "{}", alone.stdout);
    assert_eq!(found[0]["message"], "`parts` is not defined in this file");
    assert!(found[0]["help"][0].as_str().expect("help").contains("`toolwright check` with"));
    assert_eq!(alone.code, 0, "{}", alone.stdout);
    // Nor where a source was not read: its server may have the tool.
    let server = format!("[[source]]\nname = \"part\"\ncommand = [\"{}\"]\n", faulty_server());
    let path = folder.path().join("toolwright.toml");
    let config = std::fs::read_to_string(&path).expect("a file") + &server;
    std::fs::write(path, config).expect("a file");
    let args = ["check", "--no-start", "--notes", "--output-format", "concise"];
    let checked = run(folder.path(), &args);
    let note = "note[UNRESOLVED_REFERENCE]: `part` is not among the tools that are loaded";
    assert!(checked.stdout.contains(note), "{}", checked.stdout);
    assert!(!checked.stdout.contains("warning[UNRESOLVED_REFERENCE]"), "{}", checked.stdout);
}

/// A bare name means the only aggregated tool that has it.
#[test]
fn a_bare_name_means_one_aggregated_tool() {
    let code = "async () => {
  const done = await Promise.allSettled([tools.call('say', { text: 'one' }), tools.call('all')]);
  return done.map((it) => it.value?.text ?? [it.reason.code, it.reason.message]);
}";
    for aggregates in ["[parts]", "['parts:say']"] {
        let folder = with_meta(&[("all", aggregates, code)], "");
        let answer = call(folder.path(), "all:all");
        assert_eq!(answer["structuredContent"][0], "one", "{answer}");
        assert_eq!(answer["_meta"]["toolwright/calls"][0]["tool"], "parts:say", "{answer}");
        assert_eq!(answer["structuredContent"][1][0], "TOOL_NOT_FOUND", "{answer}");
    }
    let folder = with_meta(&[("all", "[parts, more]", code)], "");
    let more = PARTS.replace("id: parts", "id: more");
    std::fs::write(folder.path().join("tools/more.yaml"), more).expect("written");
    let answer = call(folder.path(), "all:all");
    assert_eq!(
        answer["structuredContent"][0],
        json!([
            "TOOL_NOT_FOUND",
            "`say`: `say` is the name of several tools: `more:say`, `parts:say`"
        ]),
        "{answer}"
    );
}

/// A definition with several commands runs one helper for all of them, which sees which it is.
#[test]
fn a_meta_tool_may_have_several_commands() {
    let code =
        "async (args) => ({ said: (await tools.call('parts:say', { text: command })).text })";
    let definition = meta("all", "[parts]", code)
        .replace("  meta_specific", "  commands: [first, second]\n  meta_specific");
    let folder = with_meta(&[], "");
    std::fs::write(folder.path().join("tools/all.yaml"), definition).expect("written");
    for name in ["first", "second"] {
        let answer = call(folder.path(), &format!("all:{name}"));
        assert_eq!(answer["structuredContent"], json!({"said": name}), "{answer}");
    }
    let checked = run(folder.path(), &["check", "tools", "--output-format", "concise"]);
    assert!(!checked.stdout.contains("NOT_SELF_CONTAINED"), "{}", checked.stdout);
}

/// What failed inside of a tool that succeeded is seen outside, with the way to it.
#[test]
fn failures_of_nested_meta_tools_are_listed() {
    let inner = "async () => {
  const done = await Promise.allSettled([tools.call('parts:fail'), tools.call('parts:say')]);
  return { failed: done.filter((it) => it.reason).length };
}";
    let outer = "async () => tools.call('inner:inner')";
    let folder = with_meta(&[("outer", "[inner]", outer), ("inner", "[parts]", inner)], "");
    let answer = call(folder.path(), "outer:outer");
    assert_eq!(answer["structuredContent"], json!({"failed": 1}), "{answer}");
    let calls = &answer["_meta"]["toolwright/calls"];
    assert_eq!(calls[0]["tool"], "inner:inner", "{answer}");
    assert_eq!(calls[0]["calls"][0]["code"], "TOOL_FAILED", "{answer}");
    assert_eq!(calls[0]["calls"][0]["message"], "no luck", "{answer}");
    assert_eq!(calls[0]["calls"][1]["code"], "OK", "{answer}");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let answer = client.call("outer__outer", json!({}));
    assert_eq!(
        answer["_meta"]["toolwright/warnings"],
        json!(["1 of 3 calls of other tools failed: `inner:inner` → `parts:fail` (TOOL_FAILED)"]),
        "{answer}"
    );
}

/// The example of this repository, against a working tree and its own script.
#[test]
fn the_example_of_a_meta_tool_works() {
    let folder = folder(&[("a.txt", b"a"), ("b.txt", b"b")]);
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).current_dir(folder.path()).output();
        assert!(done.expect("git runs").status.success(), "{args:?}");
    };
    git(&["init", "--quiet"]);
    let examples = project().join("examples/aios");
    let path = |name: &str| examples.join(name).to_str().expect("a path").to_owned();
    let (triage, tools) = (path("triage.yaml"), [path("git.yaml"), path("slugs.yaml")]);
    let mut args = vec!["call", "triage:triage", "--json", "title=Two new files"];
    for file in [&triage, &tools[0], &tools[1]] {
        args.extend(["--from", file]);
    }
    // The store of calls is elsewhere: it would be a third file.
    let answer = answer(&crate::calling::run(folder.path(), &args));
    let expected = json!({"files": 2, "branch": "wip/two-new-files"});
    assert_eq!(answer["structuredContent"], expected, "{answer}");
}
