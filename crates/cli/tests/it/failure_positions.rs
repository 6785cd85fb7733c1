//! Where `toolwright eval` reports that a function failed: the line and column of the engine or the
//! parser, or the function as a whole.

use serde_json::Value as Json;

use crate::calling::run;
use crate::knowledge::json_of;
use crate::program::folder;

/// A definition that has these functions.
pub(crate) fn with_helpers<'a>(helpers: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
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

/// A program with a `¦` before the expression that fails, `NAME: MESSAGE` of what it throws, and
/// the reported position in the program.
type FailingProgram = (&'static str, &'static str, &'static str);

/// Programs whose error is reported on the line of the expression that fails. The column is that of
/// the last name or call that the engine recorded before it.
const REPORTED_ON_THE_LINE: &[FailingProgram] = &[
    (
        "module.exports = (args) => args.a.¦b;",
        "TypeError: cannot read property 'b' of undefined",
        "1:28",
    ),
    (
        "function f(args) {\n  const ä = 'ÄÖÜ', b = args.none.¦more;\n}",
        "TypeError: cannot read property 'more' of undefined",
        "2:24",
    ),
    (
        "const top = ¦nothing;\nmodule.exports = () => 1;",
        "ReferenceError: nothing is not defined",
        "1:13",
    ),
    (
        "module.exports = async (args) => {\n  await null;\n  return args.a.¦b;\n};",
        "TypeError: cannot read property 'b' of undefined",
        "3:10",
    ),
    // Members, over several lines.
    (
        "function f(args) {\n  const key = String('k');\n  return args.none[¦key];\n}",
        "TypeError: cannot read property 'k' of undefined",
        "3:20",
    ),
    (
        "module.exports = (args) => {\n  const { user } = args;\n  args.n = user?.name.length;\n  return args.n.¦big;\n};",
        "TypeError: cannot read property 'big' of undefined",
        "4:10",
    ),
    // Errors that authors throw.
    (
        "module.exports = () => {\n  throw ¦new RangeError('too far');\n};",
        "RangeError: too far",
        "2:13",
    ),
    (
        "class A extends Map {\n  constructor() {\n    super();\n    this.x.¦y = 1;\n  }\n}\nmodule.exports = () => new A();",
        "TypeError: cannot set property 'y' of undefined",
        "4:5",
    ),
    (
        "module.exports = (args) => {\n  if (!args.tags) throw ¦TypeError(`${args.name} is not iterable`);\n  const [first] = args.tags;\n};",
        "TypeError: undefined is not iterable",
        "2:38",
    ),
    (
        "module.exports = (args) => {\n  let config;\n  config = args.config;\n  if (!config) throw ¦new Error('config is not defined');\n};",
        "Error: config is not defined",
        "4:26",
    ),
    (
        "module.exports = (args) => {\n  const v = args.v;\n  if (typeof v !== 'function') throw ¦new TypeError('not a function');\n  return v();\n};",
        "TypeError: not a function",
        "3:42",
    ),
    (
        "module.exports = (args) => {\n  if (args.list) throw ¦new TypeError('value is not iterable');\n  for (const x of args.list) args.n = x;\n};",
        "TypeError: value is not iterable",
        "2:28",
    ),
    // Errors that functions of the language throw.
    (
        "module.exports = (args) => {\n  const { q } = args;\n  return Object.¦keys(q);\n};",
        "TypeError: Cannot convert undefined or null to object",
        "3:22",
    ),
    (
        "function f(args) {\n  return ¦new RegExp(args.p ?? '(', 'g');\n}",
        "SyntaxError: expecting ')'",
        "2:21",
    ),
    // Patterns.
    (
        "function f({ a: ¦{ b } }) {\n  return b;\n}",
        "TypeError: Cannot convert undefined or null to object",
        "1:1",
    ),
    (
        "module.exports = async ({ a: ¦[b] }) => b;",
        "TypeError: cannot read property 'Symbol.iterator' of undefined",
        "1:17",
    ),
    (
        "function f(args) {\n  args.n = 1;\n  for (const ¦{ q } of [args.a]) args.n = q;\n}",
        "TypeError: Cannot convert undefined or null to object",
        "3:24",
    ),
    (
        "function f(args) {\n  let q, a = args.a;\n  (¦{ q } = a);\n}",
        "TypeError: Cannot convert undefined or null to object",
        "3:3",
    ),
    (
        "function f() {\n  try { null.x; } catch ({ a: ¦{ b } }) { return b; }\n}",
        "TypeError: Cannot convert undefined or null to object",
        "2:9",
    ),
    (
        "module.exports = () => {\n  const all = [1, null].map((¦{ z }) => z);\n  const { q } = all;\n};",
        "TypeError: Cannot convert undefined or null to object",
        "2:25",
    ),
    (
        "module.exports = () => {\n  const all = [1, null].map(\n    (¦{ z }) => z\n  );\n  const { q } = all;\n};",
        "TypeError: Cannot convert undefined or null to object",
        "3:5",
    ),
    (
        "module.exports = () => Promise.all([1].map(async ({ a: ¦[b] }) => b));",
        "TypeError: cannot read property 'Symbol.iterator' of undefined",
        "1:43",
    ),
    (
        "const g = (¦{ z }) => z;\nmodule.exports = (args) => {\n  const { q } = args;\n  return g(q);\n};",
        "TypeError: Cannot convert undefined or null to object",
        "1:10",
    ),
    (
        "module.exports = (args) => {\n  const { q } = args;\n  for (const x of ¦q) args.n = x;\n};",
        "TypeError: cannot read property 'Symbol.iterator' of undefined",
        "3:19",
    ),
    (
        "module.exports = (args) => {\n  for (const x of args.list.map((y) => { const z = y; const ¦[q] = z; return q; })) args.n = x;\n};",
        "TypeError: value is not iterable",
        "2:52",
    ),
    (
        "module.exports = (args) => {\n  const copy = { ...args };\n  ¦delete copy.meta.internal;\n  copy.n = 1;\n  const { title } = copy;\n};",
        "TypeError: Cannot convert undefined or null to object",
        "3:10",
    ),
    // Calls.
    ("module.exports = (args) => args.¦nothing();", "TypeError: not a function", "1:32"),
    (
        "module.exports = () => [1]\n  .map((x) => x)\n  .¦mapp((y) => y);",
        "TypeError: not a function",
        "3:4",
    ),
    (
        "module.exports = (args) => JSON.stringify(args.¦nothing(args.a));",
        "TypeError: not a function",
        "1:56",
    ),
    (
        "module.exports = (args) => ¦new args.Klass(Number(1), String(2));",
        "TypeError: not a function",
        "1:53",
    ),
];

/// FIXME: programs whose error is reported on another line. The engine records positions of names,
/// calls and thrown expressions, and not those of patterns, members of `this` and literals; of a
/// call over several lines it records the last argument, and of an error the constructor of its
/// class. A row whose line becomes right with an update of the engine fails the test and moves to
/// the table above.
const REPORTED_ON_ANOTHER_LINE: &[FailingProgram] = &[
    // Members, over several lines.
    (
        "class A {\n  run(x) {\n    if (x) {\n      const y = String(x);\n      return y.trim();\n    }\n    return this.opts.¦strict;\n  }\n}\nmodule.exports = () => new A().run();",
        "TypeError: cannot read property 'strict' of undefined",
        "5:16",
    ),
    (
        "class A {\n  run(raw) {\n    const id = String(raw);\n    return {\n      id,\n      title: this.raw.¦title,\n    };\n  }\n}\nmodule.exports = (args) => new A().run(args);",
        "TypeError: cannot read property 'title' of undefined",
        "3:23",
    ),
    (
        "class A {\n  async run() {\n    const t = Number('1');\n    return await this.client.¦send(t);\n  }\n}\nmodule.exports = () => new A().run();",
        "TypeError: cannot read property 'send' of undefined",
        "3:15",
    ),
    (
        "module.exports = function () {\n  return this.x.¦y;\n}",
        "TypeError: cannot read property 'y' of undefined",
        "1:1",
    ),
    (
        "function f(args) {\n  const items = [{ id: 1 }];\n  const name = items.find((i) => {\n    return i.id === 2;\n  }).¦name;\n  return name;\n}",
        "TypeError: cannot read property 'name' of undefined",
        "3:22",
    ),
    (
        "module.exports = (args) => args.list\n  .find((n) => n > 5)\n  .¦value;",
        "TypeError: cannot read property 'value' of undefined",
        "2:4",
    ),
    (
        "function f(args) {\n  const b = String(1);\n  return [1, 2][9].¦x;\n}",
        "TypeError: cannot read property 'x' of undefined",
        "2:13",
    ),
    // Assignments.
    (
        "module.exports = (args) => {\n  const out = {};\n  out.meta.¦stats = {\n    count: Number(1),\n    at: String(args.n),\n  };\n  return out;\n};",
        "TypeError: cannot set property 'stats' of undefined",
        "5:16",
    ),
    (
        "module.exports = (args) => {\n  const total = 0;\n  ¦total = args.list\n    .map((n) => n);\n};",
        "TypeError: 'total' is read-only",
        "4:6",
    ),
    // Errors that authors throw.
    (
        "module.exports = (args) => {\n  const id = 7;\n  throw ¦new Error('ticket ' + id +\n    ' is not in ' +\n    args.project);\n};",
        "Error: ticket 7 is not in undefined",
        "5:5",
    ),
    (
        "class ToolError extends Error {}\nmodule.exports = () => {\n  const q = 1;\n  throw ¦new ToolError('nope');\n};",
        "Error: nope",
        "1:1",
    ),
    (
        "class A extends Error {\n  constructor(text, code) {\n    super(text);\n    this.code = code;\n  }\n}\nclass B extends A {\n  constructor(text) { super(text, 7); }\n}\nmodule.exports = () => {\n  throw ¦new B('nope');\n};",
        "Error: nope",
        "3:11",
    ),
    // Errors that functions of the language throw.
    (
        "module.exports = (args) => {\n  return JSON.¦parse(\n    args.text,\n    args.n);\n};",
        "SyntaxError: unexpected token: 'undefined'",
        "4:5",
    ),
    (
        "class A {}\nmodule.exports = () => {\n  const x = 1;\n  return ¦A();\n};",
        "TypeError: class constructors must be invoked with 'new'",
        "1:1",
    ),
    // Patterns.
    (
        "function f(args) {\n  const a = args.a;\n  const ¦{ q } = a;\n  return q;\n}",
        "TypeError: Cannot convert undefined or null to object",
        "2:13",
    ),
    (
        "function f(args) {\n  const a = args.a;\n  const ¦[q] = a;\n  return q;\n}",
        "TypeError: cannot read property 'Symbol.iterator' of undefined",
        "2:13",
    ),
    ("function f(args) {\n  const ¦[q] = 5;\n}", "TypeError: value is not iterable", "1:1"),
    (
        "module.exports = (args) => {\n  const [head] = [1, 2];\n  const { a } = { a: head };\n  const ¦[b] = args.none;\n  return [a, b];\n};",
        "TypeError: cannot read property 'Symbol.iterator' of undefined",
        "3:22",
    ),
    (
        "module.exports = ({\n  ticket: {\n    title,\n    author: ¦{ login },\n  },\n}) => `${title} by ${login}`;",
        "TypeError: Cannot convert undefined or null to object",
        "1:17",
    ),
    (
        "module.exports = (args) => {\n  const {\n    title,\n    by: [first, ¦{ login }],\n  } = args.ticket;\n  return title + first + login;\n};",
        "TypeError: Cannot convert undefined or null to object",
        "1:17",
    ),
    (
        "module.exports = (args) => {\n  const g = ({ z }) => z;\n  const s = args.a + 1;\n  const ¦{ q } = args.a;\n};",
        "TypeError: Cannot convert undefined or null to object",
        "3:22",
    ),
    (
        "module.exports = (args) => {\n  const all = [1].map(({ z }) => z);\n  const ¦{ q } = args.a;\n};",
        "TypeError: Cannot convert undefined or null to object",
        "2:19",
    ),
    (
        "class A {\n  run(x) {\n    const y = String(x);\n    for (const q of ¦this.items) y.push(q);\n  }\n}\nmodule.exports = () => new A().run();",
        "TypeError: cannot read property 'Symbol.iterator' of undefined",
        "3:22",
    ),
    (
        "class A {\n  run() {\n    const out = String(1);\n    return [...¦this.items];\n  }\n}\nmodule.exports = () => new A().run();",
        "TypeError: cannot read property 'Symbol.iterator' of undefined",
        "3:17",
    ),
    (
        "module.exports = (args) => new Promise((good) => {\n  const a = args.a;\n  const ¦{ q } = a;\n  good(q);\n});",
        "TypeError: Cannot convert undefined or null to object",
        "2:13",
    ),
    // Calls.
    (
        "module.exports = (args) => {\n  return args.¦nothing(\n    1,\n    args.a);\n};",
        "TypeError: not a function",
        "4:5",
    ),
    (
        "module.exports = (args) => {\n  const handlers = {};\n  return ¦handlers[args.kind](\n    args.value,\n    String(args.x),\n  );\n};",
        "TypeError: not a function",
        "5:12",
    ),
];

/// Programs whose error has no stack trace of its own: the position is marked as approximate.
const REPORTED_NEAR: &[FailingProgram] = &[
    // Dynamic imports.
    (
        "module.exports = async () => {\n  const fs = await ¦import('fs');\n};",
        "Error: `fs` cannot be imported: a program has only what is in it",
        "near 1",
    ),
    // Thrown values that are not errors.
    (
        "function f() {\n  ¦throw 'text';\n}",
        "threw the string \"text\", which is not an Error",
        "near 2",
    ),
    (
        "function f() {\n  const unused = new Error('x');\n  ¦throw { message: 'hm', code: 3 };\n}",
        "threw an object with the message \"hm\", which is not an Error",
        "near 1",
    ),
    (
        "class Api {\n  constructor(text) { this.message = text; }\n}\nmodule.exports = () => {\n  ¦throw new Api('boom');\n};",
        "threw an object with the message \"boom\", which is not an Error",
        "near 5",
    ),
    (
        "async function inner() {\n  await null;\n  ¦throw 'inner';\n}\nmodule.exports = async () => { await inner(); };",
        "threw the string \"inner\", which is not an Error",
        "near 3",
    ),
    (
        "const a = async () => { throw 'a'; };\nconst b = async () => { await 1; ¦throw 'b'; };\nmodule.exports = async () => { await a().catch(() => 1); await b(); };",
        "threw the string \"b\", which is not an Error",
        "near 1",
    ),
    (
        "module.exports = async () => {\n  await ¦Promise.reject('r');\n};",
        "threw the string \"r\", which is not an Error",
        "near 2",
    ),
    (
        "const wait = () => new Promise((good) => good(1));\nmodule.exports = async () => {\n  if (!(await wait())) throw 'no time';\n  ¦throw { code: 3 };\n};",
        "threw an object, which is not an Error",
        "near 4",
    ),
];

#[test]
fn exceptions_are_reported_at_the_position_of_the_engine() {
    let programs = [REPORTED_ON_THE_LINE, REPORTED_ON_ANOTHER_LINE, REPORTED_NEAR].concat();
    let ids: Vec<String> = (0..programs.len()).map(|n| format!("case-{n}")).collect();
    let sources = programs.iter().map(|(source, ..)| source.replace('¦', ""));
    let sources: Vec<String> = sources.collect();
    let text = with_helpers(ids.iter().map(String::as_str).zip(sources.iter().map(String::as_str)));
    let folder = folder(&[("bad.yaml", text.as_bytes())]);
    let lines_before_code = lines_before_code(&text);
    let mut wrong = Vec::new();
    for (n, (source, error, at)) in programs.iter().enumerate() {
        let args = r#"{"list": [1], "ticket": {"title": "t", "by": [1]}}"#;
        let eval = ["eval", "bad.yaml", "--helper", &ids[n], "--json", "--args", args];
        let failed = json_of(&run(folder.path(), &eval))["error"].clone();
        assert_eq!(failed["code"], "THREW", "{source}: {failed}");
        let name = failed["name"].as_str().map(|name| format!("{name}: ")).unwrap_or_default();
        let message = failed["message"].as_str().expect("a message");
        assert_eq!(format!("{name}{message}"), *error, "{source}");
        let reported = in_function(&failed, lines_before_code[n]);
        if reported != *at {
            wrong.push(format!("{source}\n  {error} is at {reported}, not {at}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The tables say for themselves which lines are right.
#[test]
fn the_tables_of_positions_are_sorted_by_their_line() {
    let is_on_the_line = |(source, _, at): &FailingProgram| {
        let failing = source.lines().position(|line| line.contains('¦')).expect("a mark") + 1;
        at.split(':').next() == Some(failing.to_string().as_str())
    };
    for program in REPORTED_ON_THE_LINE {
        assert!(is_on_the_line(program), "{program:?}");
    }
    for program in REPORTED_ON_ANOTHER_LINE {
        assert!(!is_on_the_line(program), "the line is right now, move the row: {program:?}");
    }
}

/// The line of each `function: |`, which is the one before the first line of its code.
fn lines_before_code(text: &str) -> Vec<usize> {
    let keys = (1..).zip(text.lines()).filter(|(_, line)| line.trim() == "function: |");
    keys.map(|(line, _)| line).collect()
}

/// The reported position, relative to the code of the function, which is indented by ten columns.
fn in_function(error: &Json, line_before: usize) -> String {
    let at = error["at"].as_str().expect("a position").split(':').collect::<Vec<_>>();
    let number = |text: &str| text.parse::<usize>().expect("a number");
    match (at.as_slice(), error["approximate"] == true) {
        ([_, line], true) => format!("near {}", number(line) - line_before),
        ([_, line, column], false) => {
            format!("{}:{}", number(line) - line_before, number(column) - 10)
        }
        other => panic!("{other:?}: only an approximate position has no column"),
    }
}

/// How a position is shown to people.
#[derive(Clone, Copy, Debug)]
enum ShownPosition {
    /// `FILE:LINE:COLUMN`, from the parser or the engine.
    Exact,
    /// `near FILE:LINE`, the first line of the function.
    Near,
}

/// Programs with a `¦` on the reported line, the start of the report, and how the position is
/// shown.
const FAILURES: &[(&str, &str, ShownPosition)] = &[
    (
        "function f() {\n  try { ¦null.x; } catch (e) { throw new Error('no ticket', { cause: e }); }\n}",
        "THREW: Error: no ticket\n  caused by TypeError: cannot read property 'x' of null\n",
        ShownPosition::Exact,
    ),
    (
        "module.exports = () => ¦Promise.any([Promise.reject(new Error('a')), Promise.reject('b')]);",
        "THREW: AggregateError: Error: a; the string \"b\"\n",
        ShownPosition::Near,
    ),
    ("const x = ¦/(/;\nmodule.exports = () => x;", "SYNTAX: SyntaxError: ", ShownPosition::Exact),
    ("function f(args) {\n  ¦await args.x;\n}", "SYNTAX: SyntaxError: ", ShownPosition::Exact),
    (
        "¦import fs from 'fs';\nmodule.exports = () => 1;",
        "SYNTAX: SyntaxError: `import fs from 'fs';` imports something",
        ShownPosition::Exact,
    ),
    (
        "¦module.exports = class A {};",
        "NO_ENTRY_POINT: the entry point is a class",
        ShownPosition::Exact,
    ),
    ("¦const a = 1;", "NO_ENTRY_POINT: ", ShownPosition::Near),
    ("¦module.exports = () => 10n;", "NOT_JSON: the result is a BigInt", ShownPosition::Near),
    (
        "const wait = ¦() => { for (;;); };\nmodule.exports = () => {\n  wait();\n};",
        "TIMEOUT: the program used up its processor time of 1s",
        ShownPosition::Exact,
    ),
    (
        "¦module.exports = () => {\n  const a = [];\n  for (;;) a.push(a.length);\n};",
        "MEMORY_LIMIT: the program used up its memory",
        ShownPosition::Near,
    ),
    (
        "module.exports = () => {\n  throw ¦new Error('one\\n  --> other.yaml:1:1');\n};",
        "THREW: Error: one\n  |   --> other.yaml:1:1\n",
        ShownPosition::Exact,
    ),
    (
        "module.exports = () => {\n  const e = ¦new Error('x');\n  e.name = 'Boom\\n  --> other.yaml:1:1\\u001b[2J';\n  throw e;\n};",
        "THREW: Boom\n  |   --> other.yaml:1:1\\u{1b}[2J: x\n",
        ShownPosition::Exact,
    ),
    (
        "module.exports = () => {\n  const bad = '\\u0001'.repeat(5000);\n  const deep = (n) => new Error(bad, n ? { cause: deep(n - 1) } : {});\n  throw ¦new AggregateError(Array.from({ length: 8 }, () => deep(3)), bad, { cause: deep(3) });\n};",
        "THREW: AggregateError: ",
        ShownPosition::Exact,
    ),
    (
        "¦console.log('a\\nb');\nmodule.exports = () => undefined;",
        "console.log: a\n  | b\nNOT_JSON: ",
        ShownPosition::Near,
    ),
];

/// Causes, console, and texts of the program that try to pass for lines of the report.
#[test]
fn failures_are_reported_with_causes_console_and_position() {
    let ids: Vec<String> = (0..FAILURES.len()).map(|n| format!("case-{n}")).collect();
    let sources = FAILURES.iter().map(|(source, ..)| *source);
    let marked = with_helpers(ids.iter().map(String::as_str).zip(sources));
    let lines: Vec<usize> = (1..)
        .zip(marked.lines())
        .filter(|(_, text)| text.contains('¦'))
        .map(|(line, _)| line)
        .collect();
    let folder = folder(&[("bad.yaml", marked.replace('¦', "").as_bytes())]);
    for ((id, line), (source, start, shown)) in ids.iter().zip(lines).zip(FAILURES) {
        let failed = run(folder.path(), &["eval", "bad.yaml", "--helper", id]);
        assert_eq!((failed.code, failed.stdout.as_str()), (1, ""), "{source}: {failed:?}");
        assert!(failed.stderr.starts_with(start), "{source}: {failed:?}");
        let position = match shown {
            ShownPosition::Exact => format!("\n  --> bad.yaml:{line}:"),
            ShownPosition::Near => format!("\n  --> near bad.yaml:{line}\n"),
        };
        assert!(failed.stderr.contains(&position), "{source}, {position:?}: {failed:?}");
    }
}
