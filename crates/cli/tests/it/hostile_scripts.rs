//! JavaScript that is aimed at a parser: deep nesting of every kind, long chains, expensive regular
//! expressions, things that never end. Whatever it does to the process that parses, `check` and
//! `call` end with a plain answer, and the tool beside it gets the findings that it always gets.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::calling;
use crate::knowledge::json_of;
use crate::program::{Run, folder, run_in};

/// The longest that one source may take, on a machine with much else to do. The analysis itself
/// may take a few seconds of processor time.
const PATIENCE: Duration = Duration::from_secs(240);

/// What must be found about a source.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ExpectedProblem {
    /// It cannot be parsed within the limits.
    TooComplex,
    /// It is longer than what is read.
    TooLong,
    /// It is not JavaScript.
    Broken,
    /// Anything but a crash. How deep a tree the stack holds depends on the build.
    Anything,
}

use ExpectedProblem::{Anything, Broken, TooComplex, TooLong};

/// `unit` repeated up to a length, between a start and an end.
fn filled(start: &str, unit: &str, middle: &str, close: &str, end: &str) -> String {
    let count = (900_000 - start.len() - end.len()) / (unit.len() + close.len());
    format!("{start}{}{middle}{}{end}", unit.repeat(count), close.repeat(count))
}

/// Sources that one unit makes, opened and closed again and again: the name, the start, the unit,
/// the middle, what closes a unit, the end.
type Nest = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    ExpectedProblem,
);

#[rustfmt::skip]
const NESTS: &[Nest] = &[
    ("round", "", "(", "a", ")", "", TooComplex),
    ("round, open", "", "(", "", "", "", TooComplex),
    ("square", "", "[", "", "]", "", TooComplex),
    ("square, open", "", "[", "", "", "", TooComplex),
    ("curly", "", "{", "", "}", "", TooComplex),
    ("curly, open", "", "{", "", "", "", TooComplex),
    ("objects", "x=", "{a:", "1", "}", "", TooComplex),
    ("objects after a private name", "class A{#in;m(){this.#in / ", "{a:", "1", "}", "}}", TooComplex),
    ("objects after an escaped keyword", "", "\\u0069f /[/]{a:", "1", "}", "", Broken),
    ("brackets after an escaped keyword", "typ\\u0065of /", "[", "", "", "", Broken),
    ("lists after an escaped name", "a\\u{66} / ", "[", "1", "]", "", TooComplex),
    ("default values", "", "(a=", "1", ")", "", TooComplex),
    ("default parameters", "", "(a=", "1", ")=>1", "", TooComplex),
    ("templates", "", "`${", "a", "}`", "", TooComplex),
    ("tagged templates", "a", "`${b", "", "}`", "", TooComplex),
    ("calls", "", "f(", "", ")", "", TooComplex),
    ("functions", "", "function f(){", "", "}", "", TooComplex),
    ("functions that are called", "", "(function(){", "", "})()", "", TooComplex),
    ("methods", "", "x={a(){return ", "1", "}}", "", TooComplex),
    ("classes", "", "class A{static{", "", "}}", "", TooComplex),
    ("arrows with bodies", "", "()=>{", "", "}", "", TooComplex),
    ("arrows in choices", "", "a?(b)=>(", "c", "):d", "", TooComplex),
    ("patterns", "", "({a:", "b", "}=1)", "", TooComplex),
    ("list patterns", "let ", "[", "a", "]", "=1", TooComplex),
    ("prefixes", "", "!", "a", "", "", TooComplex),
    ("signs", "", "- ", "a", "", "", Anything),
    ("awaits", "async()=>", "await ", "a", "", "", TooComplex),
    ("yields", "function*f(){", "yield ", "a", "", "}", TooComplex),
    ("typeof", "", "typeof ", "a", "", "", Anything),
    ("new", "", "new ", "a", "", "", Anything),
    ("do", "", "do ", "a", "", "", TooComplex),
    ("labels", "", "a:", "b", "", "", TooComplex),
    ("while", "", "while(a)", "b", "", "", Anything),
    ("switch", "", "switch(a){default:", "b", "}", "", TooComplex),
    ("try", "", "try{", "b", "}catch{}", "", Anything),
    ("if", "", "if(a)", "b", "", "", Anything),
    ("else if", "", "if(a)b;else ", "c", "", "", Anything),
    ("arrows", "", "a=>", "a", "", "", TooComplex),
    ("async arrows", "", "async a=>", "a", "", "", Anything),
    ("choices", "", "a?a:", "a", "", "", Anything),
    ("assignments", "", "a=", "a", "", "", TooComplex),
    ("powers", "", "a**", "a", "", "", TooComplex),
    ("class heads", "x=", "class extends ", "a{}", "", "", Anything),
    ("sums", "", "a+", "a", "", "", Anything),
    ("joined strings", "", "'a'+", "'b'", "", "", Anything),
    ("members", "a", ".a", "", "", "", Anything),
    ("optional members", "a", "?.a", "", "", "", Anything),
    ("called results", "a", "()", "", "", "", Anything),
    ("commas", "", "a,", "a", "", "", Anything),
    ("tags", "", "<a>", "b", "</a>", "", Broken),
    ("groups", "/", "(", "a", ")", "/", TooComplex),
    ("groups, open", "/", "(", "", "", "/", TooComplex),
    ("classes of characters", "/", "[", "a", "]", "/v", TooComplex),
    ("lookaheads", "/", "(?=", "a", ")", "/", TooComplex),
    ("choices of groups", "/", "(?:a|", "b", ")", "/", TooComplex),
    ("one long list", "[", "1,", "", "", "]", Anything),
    ("one long object", "({", "a:1,", "", "", "})", Anything),
    ("declarations", "", "let a;", "", "", "", Broken),
    ("parameters", "function f(", "a,", "b", "", "){}", Anything),
    ("requires", "", "require('fs');", "", "", "", Anything),
    ("exports", "", "exports.a=()=>{return 1};", "", "", "", Anything),
    ("regular expressions", "", "/a/;", "", "", "", Anything),
    ("one name", "", "a", "", "", "", Anything),
    ("one number", "", "9", "", "", "", Anything),
    ("one string, open", "'", "a", "", "", "", Broken),
    ("one template, open", "`", "a", "", "", "", Broken),
    ("one comment, open", "/*", "a", "", "", "", Broken),
    ("one regular expression, open", "/", "a", "", "", "", Broken),
    ("closing brackets", "", ")", "", "", "", Broken),
    ("old comments", "", "<!-- -->", "", "", "", Anything),
    ("carriage returns", "", "\r", "a", "", "", Anything),
    ("line separators", "", "\u{2028}", "a", "", "", Anything),
    ("byte order marks", "", "\u{feff}", "a", "", "", Anything),
    ("backslashes", "", "\\", "", "", "", Broken),
    ("surrogate pairs", "'", "\u{1f600}", "", "", "'", Anything),
    ("numbers signs", "", "#", "", "", "", Broken),
    ("decorators", "", "@a ", "class A{}", "", "", Anything),
    ("html comments that hide brackets", "", "(<!-- )\n", "a", ")", "", TooComplex),
    ("strings that hide brackets", "", "(')',", "a", ")", "", TooComplex),
];

fn sources() -> Vec<(&'static str, String, ExpectedProblem)> {
    let nest = |&(name, start, unit, middle, close, end, expected): &Nest| {
        (name, filled(start, unit, middle, close, end), expected)
    };
    let mut sources: Vec<(&str, String, ExpectedProblem)> = NESTS.iter().map(nest).collect();
    // The time of the parser grows with the square of the number of named groups.
    let groups: String = (0..60_000).map(|n| format!("(?<g{n}>a)")).collect();
    sources.push(("named groups", format!("/{groups}/"), TooComplex));
    let names: String = (0..60_000).map(|n| format!("a{n};")).collect();
    sources.push(("names", names, Anything));
    let exports: String = (0..30_000).map(|n| format!("exports.e{n}=()=>1;")).collect();
    sources.push(("many exports", exports, Anything));
    let scopes = "{let a;".repeat(3_000) + &"a;".repeat(100_000);
    sources.push(("names in deep scopes", scopes, Anything));
    sources.push(("spaces", format!("{}a", " ".repeat(1 << 20)), TooLong));
    sources.push(("spaces up to the limit", format!("{}a", " ".repeat((1 << 20) - 1)), Anything));
    sources
}

/// An AIOS tool with this code.
fn tool(id: &str, code: &str) -> String {
    json!({"tool": {
        "id": id, "type": "mcp", "name": "A", "version": "1.0.0", "description": "Keeps notes",
        "mcp_specific": {"server_command": "notes-server"},
        "executable_knowledge": {"helpers": [
            {"id": "h", "language": "javascript", "runtime": "isolated_vm", "function": code},
        ]},
    }})
    .to_string()
}

/// The diagnostics about each file: `CODE message`.
fn diagnostics(run: &Run, file: &str) -> Vec<String> {
    let lines = run.stdout.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let ours = lines.filter(|line| line["file"].as_str().is_some_and(|name| name == file));
    ours.map(|line| {
        format!(
            "{} {}",
            line["code"].as_str().unwrap_or_default(),
            line["message"].as_str().unwrap_or_default()
        )
    })
    .collect()
}

/// Runs `work` for each source, two at a time, and collects what is wrong.
fn for_each_source(work: impl Fn(&str, &str, ExpectedProblem) -> Vec<String> + Sync) {
    let sources = sources();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, code, expected)) =
                    sources.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let start = Instant::now();
                    let mut wrong = work(name, code, *expected);
                    if start.elapsed() > PATIENCE {
                        wrong.push(format!("took {:?}", start.elapsed()));
                    }
                    let wrong = wrong.into_iter().map(|wrong| format!("{name}: {wrong}"));
                    failures.lock().expect("no panic").extend(wrong);
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const FINE: &str = "function h(args) { return require('fs') + missing; }";

#[test]
fn hostile_scripts_end_in_a_finding_and_spare_the_tool_beside() {
    assert!(NESTS.len() > 30);
    for_each_source(|_, code, expected| {
        let folder = folder(&[
            ("hostile.json", tool("hostile", code).as_bytes()),
            ("hostile.js", code.as_bytes()),
            ("fine.json", tool("fine", FINE).as_bytes()),
        ]);
        let files = ["hostile.json", "hostile.js", "fine.json"];
        let options = ["check", "--output-format", "json"];
        let run = run_in(folder.path(), &[&options[..], &files].concat(), b"");
        let mut wrong = Vec::new();
        let fine = diagnostics(&run, "fine.json");
        let is_fine = |found: &String| {
            found.starts_with("FORBIDDEN_REQUIRE ") || found.starts_with("NOT_SELF_CONTAINED ")
        };
        if run.code != 1 || !run.stderr.is_empty() || fine.len() != 2 || !fine.iter().all(is_fine) {
            wrong.push(format!("{} {} beside it {fine:?}", run.code, run.stderr));
        }
        let found = [diagnostics(&run, "hostile.json"), diagnostics(&run, "hostile.js")].concat();
        let count = |part: &str| found.iter().filter(|found| found.contains(part)).count();
        let syntax = "INVALID_FUNCTION_SYNTAX ";
        let is_expected = match expected {
            TooComplex => {
                count("INVALID_FUNCTION_SYNTAX the code is too complex to analyse: ") == 2
            }
            TooLong => count("INVALID_FUNCTION_SYNTAX the code has 1048577 bytes") == 2,
            Broken => count(syntax) >= 2 && count("too complex") == 0,
            Anything => count("the code cannot be analysed") == 0,
        };
        if !is_expected {
            let found: Vec<String> = found.iter().take(5).map(|found| start(found)).collect();
            wrong.push(format!("expected {expected:?}, found {found:?}"));
        }
        wrong
    });
}

fn start(text: &str) -> String {
    text.chars().take(150).collect()
}

/// The body of a BTCP tool is compiled by the engine; where that fails, the parser is asked for the
/// position of the mistake.
#[test]
fn hostile_bodies_fail_with_a_code_when_they_are_called() {
    let manifest = json!({
        "btcp": "1.0", "name": "b", "version": "1.0.0", "capabilities": [],
        "tools": [
            {"name": "hostile", "description": "A tool for trying bodies.", "capabilities": [],
             "inputSchema": {"type": "object"}},
        ],
    })
    .to_string();
    for_each_source(|name, code, _| {
        // With a mistake at its end, so that the engine refuses what it could compile.
        let folder = folder(&[
            ("b.json", manifest.as_bytes()),
            ("hostile.js", format!("{code}\n(]").as_bytes()),
        ]);
        let run = calling::run(
            folder.path(),
            &["call", "b:hostile", "--from", "b.json", "--json", "--args", "{}"],
        );
        let error = &json_of(&run)["error"];
        let code = error["code"].as_str().unwrap_or_default();
        let expected = ["QUARANTINED", "NOT_RUNNABLE", "TIMEOUT", "TOOL_FAILED"];
        if run.code == 1 && expected.contains(&code) {
            Vec::new()
        } else {
            vec![format!("{name}: {} {}", run.code, start(&error.to_string()))]
        }
    });
}

#[test]
fn hostile_functions_of_one_definition_cost_it_a_bounded_time() {
    let helper = |n: usize| {
        let code = if n == 90 { FINE.to_owned() } else { "[".repeat(100_000) };
        json!({"id": format!("h{n}"), "language": "javascript", "runtime": "isolated_vm",
               "function": code})
    };
    let mut document: Json = serde_json::from_str(&tool("many", FINE)).expect("JSON");
    document["tool"]["executable_knowledge"]["helpers"] = (0..100).map(helper).collect();
    let folder = folder(&[
        ("many.json", document.to_string().as_bytes()),
        ("fine.json", tool("fine", FINE).as_bytes()),
    ]);
    let run =
        run_in(folder.path(), &["check", "--output-format", "json", "many.json", "fine.json"], b"");
    let many = diagnostics(&run, "many.json");
    let count = |part: &str| many.iter().filter(|found| found.contains(part)).count();
    assert_eq!(count("the code is too complex to analyse"), 3, "{:?}", many.first());
    assert_eq!(count("other functions of the definition took all the time"), 97);
    assert_eq!(diagnostics(&run, "fine.json").len(), 2);
}

#[test]
fn check_does_not_pass_where_no_code_can_be_analysed() {
    let fine = "function h(args) { return args; }";
    let two = json!([
        {"id": "h", "language": "javascript", "runtime": "isolated_vm", "function": fine},
        {"id": "i", "language": "javascript", "runtime": "isolated_vm", "function": fine},
    ]);
    let mut document: Json = serde_json::from_str(&tool("fine", fine)).expect("JSON");
    document["tool"]["executable_knowledge"]["helpers"] = two;
    let folder = folder(&[
        ("fine.json", document.to_string().as_bytes()),
        ("plain.json", br#"{"name": "now", "description": "Tells the time of day", "inputSchema": {"type": "object", "additionalProperties": false}}"#),
    ]);
    let check = |file: &str| {
        // No process can be started without descriptors for its socket.
        let limited = format!("ulimit -n 5; exec \"$0\" check --output-format json {file}");
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_toolwright")])
            .current_dir(folder.path())
            .output()
            .expect("a shell");
        Run::of(output)
    };
    let run = check("fine.json");
    let found = diagnostics(&run, "fine.json");
    assert_eq!((run.code, found.len()), (1, 1), "{run:?}");
    let start = "INVALID_FUNCTION_SYNTAX the code cannot be analysed: cannot start the worker `";
    assert!(found[0].starts_with(start), "{found:?}");
    assert_eq!(check("plain.json").code, 0);
}
