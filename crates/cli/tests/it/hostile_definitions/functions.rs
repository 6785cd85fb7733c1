//! Functions that turn hostile while they run: endless ones, and those that use up memory, the
//! stack or the output.
//!
//! The programs are data, in `tests/hostile/*.js`, one file per class of attack:
//!
//! ```text
//! //// NAME => CODE|CODE      the outcomes that are right; OK is a result of any kind
//! statements                  the body of a function that is given `args`
//! ```
//!
//! Each of them becomes a helper that attacks at once, and two time bombs, which work until one
//! argument has a certain value: a validator of an AIOS command and the body of a BTCP tool. A line
//! `//@ budget` marks programs that need the byte cap of a whole call; `budgets` runs those.

use serde_json::{Value as Json, json};

use super::capped_run::{for_each, run};
use super::watched_server::WatchedServer;
use super::{LIT, PATIENCE, SHORT_LIMITS, aios, calm, function, outcome_in, validator};
use crate::client::until;
use crate::program::{folder, project};

pub(super) const CLASSES: [&str; 5] = ["endless", "memory", "stack", "results", "compile"];

/// One program of `tests/hostile`.
pub(super) struct HostileProgram {
    name: String,
    /// The outcomes that are right.
    expected: Vec<String>,
    code: String,
    needs_budget: bool,
}

impl HostileProgram {
    /// As a helper, which attacks when it is called.
    fn helper(&self) -> String {
        format!("module.exports = (args) => {{\n{}}};\n", self.code)
    }

    /// As a validator that works until the argument arrives.
    fn validator(&self) -> String {
        format!(
            "module.exports = (args) => {{\nif (args.stdin !== '{LIT}') \
             return {{ valid: true, errors: [] }};\n{}}};\n",
            self.code
        )
    }

    /// The same as the body of a BTCP tool.
    fn body(&self) -> String {
        format!(
            "export default (args) => {{\nif (args.fuse !== '{LIT}') return {{ works: true }};\n\
             {}}};\n",
            self.code
        )
    }

    fn fits(&self, outcome: &str) -> bool {
        self.expected.iter().any(|code| code == outcome)
    }
}

fn read_programs(class: &str) -> Vec<HostileProgram> {
    let path = project().join(format!("crates/cli/tests/hostile/{class}.js"));
    let text = std::fs::read_to_string(path).expect("the programs of the class");
    let mut programs: Vec<HostileProgram> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("//// ") {
            let (name, expected) = head.trim_end().rsplit_once(" => ").expect("an outcome");
            programs.push(HostileProgram {
                name: format!("{class}: {name}"),
                expected: expected.split('|').map(str::to_owned).collect(),
                code: String::new(),
                needs_budget: false,
            });
        } else if let Some(program) = programs.last_mut() {
            match line.starts_with("//@ budget") {
                true => program.needs_budget = true,
                false => program.code.push_str(line),
            }
        }
    }
    programs
}

/// The programs of a class that do not need the budget of a whole call, or only those.
pub(super) fn programs(class: &str, needs_budget: bool) -> Vec<HostileProgram> {
    let all = read_programs(class);
    all.into_iter().filter(|program| program.needs_budget == needs_budget).collect()
}

/// The AIOS definition of a class: helper and validator `pN` of each program, and two examples,
/// before and after the argument arrives.
fn class_definition(class: &str, programs: &[HostileProgram]) -> Json {
    let names: Vec<String> = (0..programs.len()).map(|n| format!("p{n}")).collect();
    let numbered = || names.iter().zip(programs);
    let example = |n: &String, stdin: &str| {
        json!({"scenario": "success", "description": format!("{stdin} {n}"),
               "input": {"args": [], "stdin": stdin}, "output": {}})
    };
    let examples: serde_json::Map<String, Json> = names
        .iter()
        .map(|name| (name.clone(), json!([example(name, "calm"), example(name, LIT)])))
        .collect();
    let knowledge = json!({
        "helpers": numbered().map(|(n, p)| function(n, &p.helper())).collect::<Vec<_>>(),
        "validators": numbered().map(|(n, p)| validator(n, n, &p.validator())).collect::<Vec<_>>(),
    });
    aios(class, &names, json!({"executable_knowledge": knowledge, "examples": examples}))
}

/// The BTCP manifest of a class, whose bodies are `pN.js`.
fn class_manifest(class: &str, programs: &[HostileProgram]) -> Json {
    let tool = |n: usize| {
        json!({"name": format!("p{n}"), "description": "A tool with a hostile body.",
               "capabilities": [], "inputSchema": {"type": "object"},
               "examples": [{"description": "calm", "input": {}, "output": {"works": true}},
                            {"description": "lit", "input": {"fuse": LIT}, "output": {"works": true}}]})
    };
    json!({"btcp": "1.0", "name": format!("{class}-bodies"), "version": "1.0.0",
           "capabilities": [], "tools": (0..programs.len()).map(tool).collect::<Vec<_>>()})
}

/// A folder with the definitions of all classes and a configuration that names them.
pub(super) fn all_classes(needs_budget: bool) -> tempfile::TempDir {
    let folder = folder(&[("calm.json", calm().to_string().as_bytes())]);
    let mut config = format!("{SHORT_LIMITS}[[source]]\nname = \"calm\"\npath = \"calm.json\"\n");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    for class in CLASSES {
        let programs = programs(class, needs_budget);
        if programs.is_empty() {
            continue;
        }
        write(&format!("{class}.json"), &class_definition(class, &programs).to_string());
        write(&format!("{class}/bodies.json"), &class_manifest(class, &programs).to_string());
        for (n, program) in programs.iter().enumerate() {
            write(&format!("{class}/p{n}.js"), &program.body());
        }
        config.push_str(&format!("[[source]]\nname = \"{class}\"\npath = \"{class}.json\"\n"));
        config.push_str(&format!(
            "[[source]]\nname = \"{class}-bodies\"\npath = \"{class}/bodies.json\"\n"
        ));
    }
    write("toolwright.toml", &config);
    folder
}

/// The outcome of the first validator that a refused call names.
fn refusal_outcome(result: &Json) -> &'static str {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    outcome_in(text.split_once("- ").map_or(text, |(_, first)| first))
}

/// Every program, as a validator: it works, and when the argument arrives the call is refused with
/// the right code, while the tools of another toolset answer.
#[test]
fn validators_that_turn_hostile_refuse_their_own_calls_only() {
    let folder = all_classes(false);
    let mut server = WatchedServer::start(folder.path());
    for class in CLASSES {
        let programs = programs(class, false);
        let numbered: Vec<(usize, &HostileProgram)> = programs.iter().enumerate().collect();
        for group in numbered.chunks(4) {
            let calls = |stdin: &str| {
                let call = |(n, _): &(usize, &HostileProgram)| {
                    (format!("{class}__p{n}"), json!({"args": [], "stdin": stdin}))
                };
                group.iter().map(call).collect::<Vec<_>>()
            };
            server.attack(&calls("calm"));
            for ((_, program), (name, arguments)) in group.iter().zip(calls("calm")) {
                // On a busy machine a call may exceed the short time limit; a bomb always would.
                until(&format!("{} works", program.name), PATIENCE, || {
                    let calm = server.client.call(&name, arguments.clone());
                    (calm["isError"] != true).then_some(())
                });
            }
            let lit = server.attack(&calls(LIT));
            for (((_, program), lit), (name, arguments)) in group.iter().zip(lit).zip(calls(LIT)) {
                let mut refused = lit["result"].clone();
                if refusal_outcome(&refused) == "TIMEOUT" && !program.fits("TIMEOUT") {
                    // A busy machine, as above: a program that is slow by itself never gets
                    // through.
                    refused = until(&format!("{} ends", program.name), PATIENCE, || {
                        let again = server.client.call(&name, arguments.clone());
                        (refusal_outcome(&again) != "TIMEOUT").then_some(again)
                    });
                }
                let outcome = refusal_outcome(&refused);
                server.expect(program.fits(outcome), || {
                    let expected = &program.expected;
                    format!("{}: {outcome}, expected {expected:?}: {refused}", program.name)
                });
            }
        }
    }
    server.end();
}

/// One program in four, as the body of a BTCP tool, each class in one burst: more calls than the
/// toolset may run at a time.
#[test]
fn bodies_that_turn_hostile_fail_their_own_calls_only() {
    let folder = all_classes(false);
    let mut server = WatchedServer::start(folder.path());
    for class in CLASSES {
        let programs = programs(class, false);
        let some: Vec<(usize, &HostileProgram)> = programs.iter().enumerate().step_by(4).collect();
        let name = |n: usize| format!("{class}-bodies__p{n}");
        for (n, program) in &some {
            // On a busy machine a call may exceed the short time limit; a bomb always would.
            let answer = until(&format!("{} works", program.name), PATIENCE, || {
                let answer = server.client.call(&name(*n), json!({}));
                (answer["isError"] != true).then_some(answer)
            });
            server.expect(answer["structuredContent"] == json!({"works": true}), || {
                format!("{}: {answer}", program.name)
            });
        }
        let calls: Vec<(String, Json)> =
            some.iter().map(|(n, _)| (name(*n), json!({"fuse": LIT}))).collect();
        for ((_, program), answer) in some.iter().zip(server.attack(&calls)) {
            let result = &answer["result"];
            let error = &result["_meta"]["toolwright/error"];
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            let outcome = match (error["code"].as_str(), outcome_in(text)) {
                (None, _) => "OK",
                (Some("TIMEOUT"), _) => "TIMEOUT",
                (Some("OUTPUT_TOO_LARGE"), _) => "OUTPUT_TOO_LARGE",
                (Some("TOOL_FAILED"), "OK") => "THREW",
                // What the sandbox lacks threw, and there is no browser to run it in.
                (Some("BROWSER_REQUIRED"), _) => "THREW",
                (Some(_), outcome) => outcome,
            };
            // Every body may also run out of the short time of its call.
            server.expect(program.fits(outcome) || outcome == "TIMEOUT", || {
                format!("{}: {outcome}, expected {:?}: {answer}", program.name, program.expected)
            });
        }
    }
    server.end();
}

/// Every program, as a helper that `eval` runs once.
#[test]
fn eval_reports_every_hostile_helper() {
    let folder = all_classes(false);
    let mut all = Vec::new();
    for class in CLASSES {
        let programs = programs(class, false).into_iter().enumerate();
        all.extend(programs.map(|(n, program)| (class, n, program)));
    }
    for_each(&all, |(class, n, program)| {
        let (file, id) = (format!("{class}.json"), format!("p{n}"));
        let run = run(folder.path(), &["eval", &file, "--helper", &id, "--json"])
            .map_err(|failure| format!("{}: {failure}", program.name))?;
        let said: Json = serde_json::from_str(&run.stdout)
            .map_err(|error| format!("{}: {error}: {}", program.name, run.stderr))?;
        let outcome = said["error"]["code"].as_str().unwrap_or("OK");
        if run.code != i32::from(outcome != "OK") || !program.fits(outcome) {
            let said = said["error"].to_string();
            let (name, expected) = (&program.name, &program.expected);
            return Err(format!("{name}: {outcome}, expected {expected:?}: {said}"));
        }
        Ok(())
    });
}

/// `check` reads all classes at once; `test` runs every bomb before and after its argument; `call`
/// makes one call of a bomb of each class.
#[test]
fn check_test_and_call_survive_every_class() {
    let folder = all_classes(false);
    let checked = run(folder.path(), &["check", "."]).expect("check");
    assert!(matches!(checked.code, 0 | 1), "{}", checked.stderr);
    for_each(&CLASSES, |class| {
        let count = programs(class, false).len();
        for (file, run_tools) in
            [(format!("{class}.json"), false), (format!("{class}/bodies.json"), true)]
        {
            if run_tools && *class != "results" {
                continue;
            }
            let mut args = vec!["test", &*file, "--output-format", "json"];
            args.extend(run_tools.then_some("--run"));
            let tested =
                run(folder.path(), &args).map_err(|failure| format!("{file}: {failure}"))?;
            println!("test {file}: {:?}", tested.time);
            let passed = tested.stdout.matches("\"passed\"").count();
            if tested.code != 1 || passed < count {
                return Err(format!("test {file}: {} passed of {count} calm ones", passed));
            }
        }
        for n in (0..count).step_by(9) {
            let (id, file) = (format!("{class}-bodies:p{n}"), format!("{class}/bodies.json"));
            let lit = json!({"fuse": LIT}).to_string();
            let call = ["call", &id, "--from", &file, "--json", "--timeout", "300", "--args", &lit];
            let called = run(folder.path(), &call).map_err(|failure| format!("{id}: {failure}"))?;
            let said: Json = serde_json::from_str(&called.stdout)
                .map_err(|error| format!("{id}: {error}: {}", called.stderr))?;
            if called.code != i32::from(said.get("error").is_some()) {
                return Err(format!("{id}: exit code {}: {said}", called.code));
            }
        }
        Ok(())
    });
}
