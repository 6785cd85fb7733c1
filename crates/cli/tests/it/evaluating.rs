//! `toolwright eval`: one function of a definition at a time, for its author.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{LONG, configured, until};
use crate::knowing::{json_of, workshop};
use crate::program::folder;

#[test]
fn one_function_for_its_author() {
    let folder = workshop();
    let eval = |args: &[&str]| run(folder.path(), &[&["eval", "board.yaml"], args].concat());
    let judged = eval(&["--validator", "has-title", "--args", "{}"]);
    // It worked, though it refuses.
    assert_eq!(judged.code, 0, "{judged:?}");
    let value: Json = serde_json::from_str(&judged.stdout).expect("JSON");
    assert_eq!(value, json!({"valid": false, "errors": ["title must be a text"]}));
    assert!(judged.stderr.starts_with("took "), "{judged:?}");
    let all = eval(&["--processor", "shout", "--args", r#"{"said": "a"}"#, "--json"]);
    let all = json_of(&all);
    assert_eq!(all["result"], json!({"said": "A!"}), "{all}");
    assert!(
        all["cpuMs"].is_number() && all["memoryBytes"].is_number() && all["log"] == json!([]),
        "{all}"
    );
    let helped = eval(&[
        "--helper",
        "pick",
        "--args",
        r#"{"data": {"echo": {"owner": 1}}, "fieldName": "f"}"#,
    ]);
    assert_eq!(helped.code, 0, "{helped:?}");
    for (args, part) in [
        (&["--validator", "has-titel"][..], "did you mean `has-title`?"),
        (&["--helper", "nothing-alike"], "it has `pick`"),
        (&["--validator", "has-title", "--args", "{"], "`--args` is not JSON"),
        (&["--helper", "pick", "--validator", "has-title"], "cannot be used with"),
        (&[], "required"),
    ] {
        let run = eval(args);
        assert!(run.code == 2 && run.stderr.contains(part), "{args:?}: {run:?}");
    }
    let none = run(folder.path(), &["eval", "toolwright.toml", "--helper", "x"]);
    assert_eq!(none.code, 2, "{none:?}");
}

#[test]
fn every_way_a_function_fails_has_its_code() {
    let cases = [
        ("timeout", "for (;;) {}", "TIMEOUT"),
        (
            "memory",
            "module.exports = () => { const all = []; for (;;) all.push('x'.repeat(1000) + all.length); }",
            "MEMORY_LIMIT",
        ),
        ("stack", "module.exports = function f() { return f() + 1; }", "STACK_OVERFLOW"),
        ("threw", "// a comment\nmodule.exports = () => { throw new TypeError('no'); }", "THREW"),
        ("threw-text", "module.exports = () => { throw 'only a text'; }", "THREW"),
        ("not-json", "module.exports = () => 10n;", "NOT_JSON"),
        ("never", "module.exports = () => new Promise(() => {});", "NOT_JSON"),
        ("undefined", "module.exports = () => undefined;", "NOT_JSON"),
        ("no-entry", "const a = 1;", "NO_ENTRY_POINT"),
        ("syntax", "function ( {", "SYNTAX"),
        ("wants", "module.exports = () => require('fs');", "THREW"),
        ("flood", "module.exports = () => 'x'.repeat(2e6);", "OUTPUT_TOO_LARGE"),
    ];
    let text = with_helpers(cases.iter().map(|(id, body, _)| (*id, *body)));
    let folder = folder(&[("bad.yaml", text.as_bytes())]);
    for (id, body, code) in cases {
        let people = run(folder.path(), &["eval", "bad.yaml", "--helper", id]);
        assert_eq!((people.code, people.stdout.as_str()), (1, ""), "{id}: {people:?}");
        assert!(people.stderr.starts_with(&format!("{code}: ")), "{id}: {people:?}");
        let programs = run(folder.path(), &["eval", "bad.yaml", "--helper", id, "--json"]);
        let error = &json_of(&programs)["error"];
        assert_eq!(error["code"], code, "{id}: {error}");
        if id == "threw" {
            let first =
                text.lines().position(|line| line.contains("new TypeError")).expect("it is there")
                    + 1;
            assert_eq!(error["name"], "TypeError");
            let at = error["at"].as_str().expect("a place");
            assert!(at.starts_with(&format!("bad.yaml:{first}:")), "{at} in {body}");
        }
    }
}

/// A definition that has these functions.
fn with_helpers<'a>(helpers: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let function = |(id, body): (&str, &str)| {
        let body: String = body.lines().map(|line| format!("          {line}\n")).collect();
        format!(
            "      - id: {id}\n        language: javascript\n        runtime: isolated_vm\n        function: |\n{body}"
        )
    };
    let helpers: String = helpers.into_iter().map(function).collect();
    format!(
        "tool:\n  schema_version: 2.0\n  id: bad\n  type: local\n  name: Bad\n  version: 1.0.0\n  description: Functions that fail.\n  executable_knowledge:\n    helpers:\n{helpers}"
    )
}

/// What is to be blamed stands behind `¦`. The engine notes names, calls and operators, not
/// patterns, and of what is no error nothing.
#[test]
fn errors_are_told_at_what_is_to_be_blamed() {
    let cases = [
        "module.exports = (args) => args.a.¦b;",
        "function f(args) {\n  const ä = 'ÄÖÜ', b = args.none.¦more;\n}",
        "const top = ¦nothing;\nmodule.exports = () => 1;",
        "module.exports = async (args) => {\n  await null;\n  return args.a.¦b;\n};",
        // Members, over lines and of what the engine does not note.
        "class A {\n  run(x) {\n    if (x) {\n      const y = String(x);\n      return y.trim();\n    }\n    return this.opts.¦strict;\n  }\n}\nmodule.exports = () => new A().run();",
        "class A {\n  run(raw) {\n    const id = String(raw);\n    return {\n      id,\n      title: this.raw.¦title,\n    };\n  }\n}\nmodule.exports = (args) => new A().run(args);",
        "class A {\n  async run() {\n    const t = Number('1');\n    return await this.client.¦send(t);\n  }\n}\nmodule.exports = () => new A().run();",
        "module.exports = function () {\n  return this.x.¦y;\n}",
        "function f(args) {\n  const items = [{ id: 1 }];\n  const name = items.find((i) => {\n    return i.id === 2;\n  }).¦name;\n  return name;\n}",
        "module.exports = (args) => args.list\n  .find((n) => n > 5)\n  .¦value;",
        "function f(args) {\n  const b = String(1);\n  return [1, 2][9].¦x;\n}",
        "function f(args) {\n  const key = String('k');\n  return args.none[¦key];\n}",
        "module.exports = (args) => {\n  const { user } = args;\n  args.n = user?.name.length;\n  return args.n.¦big;\n};",
        // Assignments.
        "module.exports = (args) => {\n  const out = {};\n  out.meta.¦stats = {\n    count: Number(1),\n    at: String(args.n),\n  };\n  return out;\n};",
        "module.exports = (args) => {\n  const total = 0;\n  ¦total = args.list\n    .map((n) => n);\n};",
        // What authors throw.
        "module.exports = () => {\n  throw ¦new RangeError('too far');\n};",
        "module.exports = (args) => {\n  const id = 7;\n  throw ¦new Error('ticket ' + id +\n    ' is not in ' +\n    args.project);\n};",
        "class ToolError extends Error {}\nmodule.exports = () => {\n  const q = 1;\n  throw ¦new ToolError('nope');\n};",
        "class A extends Error {\n  constructor(text, code) {\n    super(text);\n    this.code = code;\n  }\n}\nclass B extends A {\n  constructor(text) { super(text, 7); }\n}\nmodule.exports = () => {\n  throw ¦new B('nope');\n};",
        "class A extends Map {\n  constructor() {\n    super();\n    this.x.¦y = 1;\n  }\n}\nmodule.exports = () => new A();",
        "module.exports = (args) => {\n  if (!args.tags) throw ¦TypeError(`${args.name} is not iterable`);\n  const [first] = args.tags;\n};",
        "module.exports = (args) => {\n  let config;\n  config = args.config;\n  if (!config) throw ¦new Error('config is not defined');\n};",
        "module.exports = (args) => {\n  const v = args.v;\n  if (typeof v !== 'function') throw ¦new TypeError('not a function');\n  return v();\n};",
        "module.exports = (args) => {\n  if (args.list) throw ¦new TypeError('value is not iterable');\n  for (const x of args.list) args.n = x;\n};",
        // What the language throws.
        "module.exports = (args) => {\n  return JSON.¦parse(\n    args.text,\n    args.n);\n};",
        "module.exports = (args) => {\n  const { q } = args;\n  return Object.¦keys(q);\n};",
        "function f(args) {\n  return ¦new RegExp(args.p ?? '(', 'g');\n}",
        "class A {}\nmodule.exports = () => {\n  const x = 1;\n  return ¦A();\n};",
        // Patterns.
        "function f(args) {\n  const a = args.a;\n  const ¦{ q } = a;\n  return q;\n}",
        "function f(args) {\n  const a = args.a;\n  const ¦[q] = a;\n  return q;\n}",
        "function f(args) {\n  const ¦[q] = 5;\n}",
        "module.exports = (args) => {\n  const [head] = [1, 2];\n  const { a } = { a: head };\n  const ¦[b] = args.none;\n  return [a, b];\n};",
        "module.exports = ({\n  ticket: {\n    title,\n    author: ¦{ login },\n  },\n}) => `${title} by ${login}`;",
        "module.exports = (args) => {\n  const {\n    title,\n    by: [first, ¦{ login }],\n  } = args.ticket;\n  return title + first + login;\n};",
        "function f({ a: ¦{ b } }) {\n  return b;\n}",
        "module.exports = async ({ a: ¦[b] }) => b;",
        "function f(args) {\n  args.n = 1;\n  for (const ¦{ q } of [args.a]) args.n = q;\n}",
        "function f(args) {\n  let q, a = args.a;\n  (¦{ q } = a);\n}",
        "function f() {\n  try { null.x; } catch ({ a: ¦{ b } }) { return b; }\n}",
        "module.exports = (args) => {\n  const g = ({ z }) => z;\n  const s = args.a + 1;\n  const ¦{ q } = args.a;\n};",
        "module.exports = (args) => {\n  const all = [1].map(({ z }) => z);\n  const ¦{ q } = args.a;\n};",
        "module.exports = () => {\n  const all = [1, null].map((¦{ z }) => z);\n  const { q } = all;\n};",
        "module.exports = () => {\n  const all = [1, null].map(\n    (¦{ z }) => z\n  );\n  const { q } = all;\n};",
        "module.exports = () => Promise.all([1].map(async ({ a: ¦[b] }) => b));",
        "const g = (¦{ z }) => z;\nmodule.exports = (args) => {\n  const { q } = args;\n  return g(q);\n};",
        "module.exports = (args) => {\n  const { q } = args;\n  for (const x of ¦q) args.n = x;\n};",
        "class A {\n  run(x) {\n    const y = String(x);\n    for (const q of ¦this.items) y.push(q);\n  }\n}\nmodule.exports = () => new A().run();",
        "class A {\n  run() {\n    const out = String(1);\n    return [...¦this.items];\n  }\n}\nmodule.exports = () => new A().run();",
        "module.exports = (args) => new Promise((good) => {\n  const a = args.a;\n  const ¦{ q } = a;\n  good(q);\n});",
        "module.exports = (args) => {\n  for (const x of args.list.map((y) => { const z = y; const ¦[q] = z; return q; })) args.n = x;\n};",
        "module.exports = (args) => {\n  const copy = { ...args };\n  ¦delete copy.meta.internal;\n  copy.n = 1;\n  const { title } = copy;\n};",
        // Calls.
        "module.exports = (args) => args.¦nothing();",
        "module.exports = (args) => {\n  return args.¦nothing(\n    1,\n    args.a);\n};",
        "module.exports = () => [1]\n  .map((x) => x)\n  .¦mapp((y) => y);",
        "module.exports = (args) => JSON.stringify(args.¦nothing(args.a));",
        "module.exports = (args) => {\n  const handlers = {};\n  return ¦handlers[args.kind](\n    args.value,\n    String(args.x),\n  );\n};",
        "module.exports = (args) => ¦new args.Klass(Number(1), String(2));",
        // Imports.
        "module.exports = async () => {\n  const fs = await ¦import('fs');\n};",
        // What is no error.
        "function f() {\n  ¦throw 'text';\n}",
        "function f() {\n  const unused = new Error('x');\n  ¦throw { message: 'hm', code: 3 };\n}",
        "class Api {\n  constructor(text) { this.message = text; }\n}\nmodule.exports = () => {\n  ¦throw new Api('boom');\n};",
        "async function inner() {\n  await null;\n  ¦throw 'inner';\n}\nmodule.exports = async () => { await inner(); };",
        "const a = async () => { throw 'a'; };\nconst b = async () => { await 1; ¦throw 'b'; };\nmodule.exports = async () => { await a().catch(() => 1); await b(); };",
        "module.exports = async () => {\n  await ¦Promise.reject('r');\n};",
        "const wait = () => new Promise((good) => good(1));\nmodule.exports = async () => {\n  if (!(await wait())) throw 'no time';\n  ¦throw { code: 3 };\n};",
    ];
    let ids: Vec<String> = (0..cases.len()).map(|n| format!("case-{n}")).collect();
    let marked = with_helpers(ids.iter().map(String::as_str).zip(cases));
    let places: Vec<String> = (1..)
        .zip(marked.lines())
        .filter_map(|(line, text)| {
            text.split_once('¦')
                .map(|(before, _)| format!("bad.yaml:{line}:{}", before.chars().count() + 1))
        })
        .collect();
    assert_eq!(places.len(), cases.len());
    let folder = folder(&[("bad.yaml", marked.replace('¦', "").as_bytes())]);
    let mut wrong = Vec::new();
    for ((id, place), source) in ids.iter().zip(&places).zip(cases) {
        let failed = json_of(&run(
            folder.path(),
            &[
                "eval",
                "bad.yaml",
                "--helper",
                id,
                "--json",
                "--args",
                r#"{"list": [1], "ticket": {"title": "t", "by": [1]}}"#,
            ],
        ));
        assert_eq!(failed["error"]["code"], "THREW", "{source}: {failed}");
        if failed["error"]["at"] != place.as_str() {
            wrong.push(format!(
                "{source}\n  {} is at {place}, not {}",
                failed["error"]["message"], failed["error"]["at"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the author needs beside the message.
#[test]
fn failures_tell_what_they_know() {
    let cases = [
        // Words, and places behind `¦`.
        (
            "function f() {\n  try { ¦null.x; } catch (e) { throw new Error('no ticket', { cause: e }); }\n}",
            "THREW: Error: no ticket\n  caused by TypeError: cannot read property 'x' of null\n",
        ),
        (
            "module.exports = () => ¦Promise.any([Promise.reject(new Error('a')), Promise.reject('b')]);",
            "THREW: AggregateError: Error: a; the string \"b\"\n",
        ),
        ("const x = ¦/(/;\nmodule.exports = () => x;", "SYNTAX: SyntaxError: "),
        ("function f(args) {\n  ¦await args.x;\n}", "SYNTAX: SyntaxError: "),
        (
            "¦import fs from 'fs';\nmodule.exports = () => 1;",
            "SYNTAX: SyntaxError: `import fs from 'fs';` imports something",
        ),
        ("¦module.exports = class A {};", "NO_ENTRY_POINT: what is to be called is a class"),
        ("¦const a = 1;", "NO_ENTRY_POINT: "),
        ("¦module.exports = () => 10n;", "NOT_JSON: the result is a BigInt"),
        (
            "const wait = ¦() => { for (;;); };\nmodule.exports = () => {\n  wait();\n};",
            "TIMEOUT: the program used up its processor time of 1s",
        ),
        (
            "¦module.exports = () => {\n  const a = [];\n  for (;;) a.push(a.length);\n};",
            "MEMORY_LIMIT: the program used up its memory",
        ),
        (
            "module.exports = () => {\n  throw ¦new Error('one\\n  --> other.yaml:1:1');\n};",
            "THREW: Error: one\n  |   --> other.yaml:1:1\n",
        ),
        (
            "module.exports = () => {\n  const e = ¦new Error('x');\n  e.name = 'Boom\\n  --> other.yaml:1:1\\u001b[2J';\n  throw e;\n};",
            "THREW: Boom\n  |   --> other.yaml:1:1\\u{1b}[2J: x\n",
        ),
        (
            "module.exports = () => {\n  const bad = '\\u0001'.repeat(5000);\n  const deep = (n) => new Error(bad, n ? { cause: deep(n - 1) } : {});\n  throw ¦new AggregateError(Array.from({ length: 8 }, () => deep(3)), bad, { cause: deep(3) });\n};",
            "THREW: AggregateError: ",
        ),
        (
            "¦console.log('a\\nb');\nmodule.exports = () => undefined;",
            "console.log: a\n  | b\nNOT_JSON: ",
        ),
    ];
    let ids: Vec<String> = (0..cases.len()).map(|n| format!("case-{n}")).collect();
    let marked = with_helpers(ids.iter().map(String::as_str).zip(cases.map(|(source, _)| source)));
    let lines: Vec<usize> = (1..)
        .zip(marked.lines())
        .filter(|(_, text)| text.contains('¦'))
        .map(|(line, _)| line)
        .collect();
    let folder = folder(&[("bad.yaml", marked.replace('¦', "").as_bytes())]);
    for ((id, line), (source, words)) in ids.iter().zip(lines).zip(cases) {
        let failed = run(folder.path(), &["eval", "bad.yaml", "--helper", id]);
        assert_eq!((failed.code, failed.stdout.as_str()), (1, ""), "{source}: {failed:?}");
        assert!(failed.stderr.starts_with(words), "{source}: {failed:?}");
        assert!(
            failed.stderr.contains(&format!("  --> bad.yaml:{line}:")),
            "{source}, line {line}: {failed:?}"
        );
    }
}

/// A worker that is killed from outside costs its call, and that is said.
#[test]
fn a_worker_that_is_killed_has_its_code() {
    let text = "tool:\n  schema_version: 2.0\n  id: slow\n  type: local\n  name: Slow\n  version: 1.0.0\n  description: Takes its time.\n  executable_knowledge:\n    helpers:\n      - id: endless\n        language: javascript\n        runtime: isolated_vm\n        function: for (;;);\n";
    let (folder, path) = configured("[limits]\nfunction_timeout = 60000\n");
    std::fs::write(path.join("slow.yaml"), text).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["eval", "slow.yaml", "--helper", "endless", "--json"]).current_dir(folder.path());
    let eval = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let worker = until("its worker", LONG, || {
        let children = format!("/proc/{0}/task/{0}/children", eval.id());
        let of_threads = std::fs::read_dir(format!("/proc/{}/task", eval.id())).ok()?.flatten();
        let all = of_threads.map(|thread| thread.path().join("children")).chain([children.into()]);
        let text: String = all.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
        // It is at work when it has used up some time.
        let busy = |pid: &&str| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.split(' ')
                .nth(13)
                .and_then(|ticks| ticks.parse::<u64>().ok())
                .is_some_and(|ticks| ticks > 5)
        };
        text.split_whitespace().find(busy).map(str::to_owned)
    });
    assert!(Command::new("/bin/kill").args(["-9", &worker]).status().expect("it starts").success());
    let output = eval.wait_with_output().expect("it ends");
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (output.status.code(), &json["error"]["code"]),
        (Some(1), &json!("WORKER_DIED")),
        "{json}"
    );
}

/// Every function of others' definitions runs: it gives a result, or stumbles over being given
/// nothing.
#[test]
fn real_functions_run() {
    let Some(shared) = crate::corpus::shared("real_functions") else { return };
    let corpus = Path::new(&shared).join("corpus/aios");
    let shown = run(&corpus, &["show", "--json", "--compat", "."]);
    let shown: Json = serde_json::from_str(&shown.stdout).expect("JSON");
    let (mut results, mut tried) = (0, 0);
    for toolset in shown["toolsets"].as_array().expect("a list") {
        for (kind, flag) in
            [("helpers", "--helper"), ("processors", "--processor"), ("validators", "--validator")]
        {
            for function in toolset["knowledge"][kind].as_array().expect("a list") {
                let (file, id) = (
                    toolset["file"].as_str().expect("a text"),
                    function["id"].as_str().expect("a text"),
                );
                let eval = run(&corpus, &["eval", file, flag, id, "--json"]);
                let code = json_of(&eval)["error"]["code"].as_str().map(str::to_owned);
                let fine = eval.code == 0
                    || code.as_deref().is_some_and(|code| ["THREW", "NOT_JSON"].contains(&code));
                assert!(fine, "{file}, {id}: {eval:?}");
                tried += 1;
                results += u32::from(eval.code == 0);
            }
        }
    }
    assert!(tried >= 30 && results * 2 > tried, "{results} of {tried}");
}
