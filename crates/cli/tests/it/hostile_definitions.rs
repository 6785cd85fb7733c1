//! Hostile definitions through `check`, `eval`, `call`, `test` and `serve`: whatever a definition
//! says, the program lives, its answers have the right code and a bounded size, other toolsets get
//! theirs meanwhile, memory stays below a cap and nothing is left running.
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
//! `//@ budget` marks programs that need the byte cap of a whole call; [`budget_attacks`] runs
//! those.
//!
//! Definitions whose text is the attack are made by small functions below: code that is hard to
//! compile ([`compile_bombs`]), sections of knowledge ([`knowledge_bombs`]), schemas
//! ([`schema_bombs`]).
//!
//! Times are compared only with margins of many seconds. What is really measured is printed.

#![allow(clippy::print_stdout, reason = "figures for a run with `--no-capture`")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::client::{EXIT, StdioClient, descendants, gone, until};
use crate::program::{folder, project, toolwright};

/// The argument that lights a time bomb.
const LIT: &str = "lit";
/// Bytes of an answer to a caller at most: a result at its limit of 1 MiB, as text and as
/// structured content, and what is around it.
const MAX_ANSWER: usize = 2_500_000;
/// Bytes that `check`, `test` and `eval` may print: many diagnostics, or a result with indentation.
const MAX_PRINTED: usize = 8 << 20;
/// Bytes that a command may write to stderr. The console of a guest is cut at 64 KiB, and a few
/// functions may run in one command.
const MAX_STDERR: usize = 1 << 20;
/// Bytes of memory of the server and all its workers.
const MAX_MEMORY: u64 = 300_000_000;
/// The longest that any single command may take. The slowest ones take a few seconds on an idle
/// machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest that a quick tool may take beside attacks. Alone it takes some milliseconds.
const QUICK_PATIENCE: Duration = Duration::from_secs(10);
/// Limits that make endless programs end soon, for tests of many of them.
const SHORT_LIMITS: &str = "[limits]\nvalidator_timeout = 60\nfunction_timeout = 60\n\
                            timeout = 400\nbody_memory = 8388608\n";

// ---- The programs --------------------------------------------------------------------------

const CLASSES: [&str; 5] = ["endless", "memory", "stack", "results", "compile"];

/// One program of `tests/hostile`.
struct HostileProgram {
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
fn programs(class: &str, needs_budget: bool) -> Vec<HostileProgram> {
    let all = read_programs(class);
    all.into_iter().filter(|program| program.needs_budget == needs_budget).collect()
}

/// An AIOS definition of type `cli` whose commands do nothing.
fn aios(id: &str, commands: &[String], more: Json) -> Json {
    let mut tool = json!({
        "schema_version": 2.0, "id": id, "type": "cli", "name": id, "version": "1.0.0",
        "description": "A tool whose definition is hostile.",
        "cli_specific": {"executable": "true"}, "commands": commands,
    });
    for (key, value) in more.as_object().expect("an object") {
        tool[key] = value.clone();
    }
    json!({"tool": tool})
}

/// One function of a definition.
fn function(id: &str, code: &str) -> Json {
    json!({"id": id, "language": "javascript", "runtime": "isolated_vm", "function": code})
}

/// A validator of a command.
fn validator(id: &str, command: &str, code: &str) -> Json {
    let mut function = function(id, code);
    function["validates"] = json!(command);
    function
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

/// A toolset that does nothing wrong: `quick` is refused by its validator, `strict` by its schema.
fn calm() -> Json {
    let code = "module.exports = (args) => ({ valid: args.args[0] !== 'no', errors: ['refused quickly'] });";
    let schema = json!({"type": "object", "required": ["args", "stdin"]});
    let tools = json!([{"id": "quick", "description": "Is refused by its validator."},
                       {"id": "strict", "description": "Is refused.", "inputSchema": schema}]);
    let knowledge = json!({"validators": [validator("quick", "quick", code)]});
    aios("calm", &[], json!({"commands": null, "tools": tools, "executable_knowledge": knowledge}))
}

// ---- Running commands ----------------------------------------------------------------------

/// A command that has ended by itself, within its time and with bounded output.
struct CappedRun {
    code: i32,
    stdout: String,
    stderr: String,
    time: Duration,
}

/// Runs the program in a session of its own and checks what must hold for every command.
///
/// # Errors
/// A sentence, if a signal ended it, it did not end, wrote too much or left processes behind.
fn run(folder: &Path, args: &[&str]) -> Result<CappedRun, String> {
    // `setsid` makes a session, which every descendant stays in; then it becomes the program.
    let mut command = Command::new("/usr/bin/setsid");
    command.arg(toolwright().get_program()).args(args).current_dir(folder);
    command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    let began = Instant::now();
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("`setsid` starts");
    let session = child.id();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (out, err) = (read_to_end(stdout.expect("piped")), read_to_end(stderr.expect("piped")));
    let mut status = None;
    while status.is_none() && began.elapsed() < PATIENCE {
        status = child.try_wait().expect("our child");
        std::thread::sleep(Duration::from_millis(2));
    }
    let time = began.elapsed();
    if status.is_none() {
        let _ = child.kill();
    }
    let _ = child.wait();
    let (stdout, stderr) =
        (out.join().expect("no thread panics"), err.join().expect("no thread panics"));
    let start: String = stderr.chars().take(300).collect();
    let status = status.ok_or_else(|| format!("did not end within {PATIENCE:?}: {start}"))?;
    let code = status.code().ok_or_else(|| format!("ended by a signal ({status}): {start}"))?;
    let most = if args[0] == "call" { MAX_ANSWER } else { MAX_PRINTED };
    if stdout.len() > most || stderr.len() > MAX_STDERR {
        let (out, err) = (stdout.len(), stderr.len());
        return Err(format!("wrote {out} bytes to stdout and {err} to stderr: {start}"));
    }
    // Workers are killed when the program ends; the kernel may take a moment.
    until("the end of all its processes", EXIT, || in_session(session).is_empty().then_some(()));
    Ok(CappedRun { code, stdout, stderr, time })
}

fn read_to_end(mut from: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The processes of a session: the sixth field of `stat`. Zombies do not count.
fn in_session(session: u32) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").expect("Linux").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_in = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() != Some(&"Z")
            && fields.get(3).and_then(|field| field.parse().ok()) == Some(session)
    };
    pids.filter(is_in).collect()
}

/// Runs `work` for every item on as many threads as there are cores, and panics with all failures.
fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failures = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = work(item) {
                        failures.lock().expect("no thread panics").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panics");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// What the sandbox said about a program, in the text of a refusal.
fn outcome_in(text: &str) -> &'static str {
    const CODES: [&str; 9] = [
        "TIMEOUT",
        "MEMORY_LIMIT",
        "STACK_OVERFLOW",
        "NOT_JSON",
        "OUTPUT_TOO_LARGE",
        "INPUT_TOO_LARGE",
        "SYNTAX",
        "NO_ENTRY_POINT",
        "WORKER_DIED",
    ];
    // A guest can write these words itself, but they come first where the sandbox says them.
    let start = &text[..text.floor_char_boundary(400)];
    let code = CODES.into_iter().find(|code| start.contains(&format!("failed with {code}")));
    match code {
        Some(code) => code,
        None if start.contains(" threw ") => "THREW",
        // The call ran out of its own time, not one of its functions.
        None if start.starts_with("TIMEOUT: ") => "TIMEOUT",
        None => "OK",
    }
}

// ---- The server ----------------------------------------------------------------------------

/// A server whose memory is sampled, with a quick tool of another toolset.
struct WatchedServer {
    client: StdioClient,
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    sampler: Option<std::thread::JoinHandle<()>>,
    /// Times of the quick tool alone and beside attacks.
    alone: Vec<Duration>,
    beside: Vec<Duration>,
    failures: Vec<String>,
}

impl WatchedServer {
    /// Starts the server in a folder with a configuration, and measures the quick tool.
    fn start(folder: &Path) -> WatchedServer {
        let client = StdioClient::start(folder, &[], &[]);
        let (pid, peak, stop) =
            (client.pid(), Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (into, end) = (Arc::clone(&peak), Arc::clone(&stop));
        let sampler = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                into.fetch_max(memory_of_tree(pid), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let mut server = WatchedServer {
            client,
            peak,
            stop,
            sampler: Some(sampler),
            alone: Vec::new(),
            beside: Vec::new(),
            failures: Vec::new(),
        };
        server.client.names();
        for _ in 0..20 {
            let time = server.quick();
            server.alone.push(time);
        }
        server
    }

    /// Calls the quick tools once: one that needs the sandbox, one that does not.
    fn quick(&mut self) -> Duration {
        let began = Instant::now();
        let refused = self.client.call("calm__quick", json!({"args": ["no"]}));
        let strict = self.client.call("calm__strict", json!({}));
        let time = began.elapsed();
        let said = refused["content"][0]["text"].as_str().unwrap_or_default();
        if !said.contains("refused quickly") || !strict.to_string().contains("INPUT_INVALID") {
            self.failures.push(format!("the quick tools answered {refused} and {strict}"));
        }
        time
    }

    /// Calls hostile tools at once, the quick ones beside them, and returns the answers.
    fn attack(&mut self, calls: &[(String, Json)]) -> Vec<Json> {
        let began = Instant::now();
        let ids: Vec<Json> = calls
            .iter()
            .map(|(name, arguments)| self.client.send_call(name, arguments.clone()))
            .collect();
        let quick = self.quick();
        self.beside.push(quick);
        let answers: Vec<Json> = ids.iter().map(|id| self.client.answer(id)).collect();
        let all = began.elapsed();
        if quick > QUICK_PATIENCE {
            let name = &calls[0].0;
            self.failures.push(format!("{name}: a quick call beside it took {quick:?} of {all:?}"));
        }
        for ((name, _), answer) in calls.iter().zip(&answers) {
            let length = answer.to_string().len();
            if length > MAX_ANSWER {
                self.failures.push(format!("{name}: an answer of {length} bytes"));
            }
        }
        answers
    }

    fn expect(&mut self, is_right: bool, message: impl FnOnce() -> String) {
        if !is_right {
            let text = message();
            self.failures.push(text[..text.floor_char_boundary(600)].to_owned());
        }
    }

    /// Ends the server and checks memory, stderr and what is left.
    fn end(mut self) {
        let last = self.quick();
        self.stop.store(true, Ordering::Relaxed);
        let sampler = self.sampler.take().expect("ended once");
        sampler.join().expect("the sampler does not panic");
        let children = descendants(self.client.pid());
        self.client.hang_up();
        let (code, _, stderr) = self.client.end(EXIT);
        for pid in children {
            gone("a worker", pid, EXIT);
        }
        let peak = self.peak.load(Ordering::Relaxed);
        let p95 = |times: &mut Vec<Duration>| {
            times.sort();
            times.get(times.len() * 95 / 100).copied().unwrap_or_default()
        };
        println!(
            "quick tools: p95 {:?} alone, {:?} beside {} attacks, {last:?} after them; {} MB; \
             {} bytes on stderr",
            p95(&mut self.alone),
            p95(&mut self.beside),
            self.beside.len(),
            peak / 1_000_000,
            stderr.len(),
        );
        assert!(self.failures.is_empty(), "{}", self.failures.join("\n"));
        assert_eq!(code, 0, "{stderr}");
        assert!(peak > 1_000_000, "memory is not measured");
        assert!(peak < MAX_MEMORY, "{peak} bytes of memory");
    }
}

/// Bytes of memory of a process and its descendants: what is their own, and the file of the
/// program once. A child that has not become a worker yet still shares all memory of its parent, so
/// it does not count.
fn memory_of_tree(pid: u32) -> u64 {
    let field = |pid: u32, name: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    let command = |pid: u32| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let own = command(pid);
    let started = descendants(pid).into_iter().filter(|child| command(*child) != own);
    started.chain([pid]).map(|pid| field(pid, "RssAnon:") + field(pid, "RssShmem:")).sum::<u64>()
        + field(pid, "RssFile:")
}

/// A folder with the definitions of all classes and a configuration that names them.
fn all_classes(needs_budget: bool) -> tempfile::TempDir {
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

// ---- The tests -----------------------------------------------------------------------------

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
            for ((_, program), lit) in group.iter().zip(lit) {
                let result = &lit["result"];
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                let text = text.split_once("- ").map_or(text, |(_, first)| first);
                let outcome = outcome_in(text);
                server.expect(program.fits(outcome), || {
                    format!("{}: {outcome}, expected {:?}: {lit}", program.name, program.expected)
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

// ---- Definitions whose text is the attack --------------------------------------------------

/// A definition, and one call of its command `run`.
struct HostileDefinition {
    name: &'static str,
    text: String,
    arguments: Json,
    /// The outcomes of the call that are right: those of [`outcome_in`], or the code of a failure.
    expected: &'static [&'static str],
}

/// Items with a separator between them.
fn list(count: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(separator)
}

/// A definition with these sections, called without arguments.
fn definition(
    name: &'static str,
    sections: Json,
    expected: &'static [&'static str],
) -> HostileDefinition {
    let text = aios(name, &["run".to_owned()], sections).to_string();
    HostileDefinition { name, text, arguments: json!({"args": []}), expected }
}

/// A definition whose validator and helper are this code.
fn coded(name: &'static str, code: &str, expected: &'static [&'static str]) -> HostileDefinition {
    let knowledge =
        json!({"helpers": [function("h", code)], "validators": [validator("v", "run", code)]});
    definition(name, json!({"executable_knowledge": knowledge}), expected)
}

const VALID: &str = "module.exports = () => ({ valid: true, errors: [] });";

/// Code that is hard to compile or to analyse. It is compiled at the first call, so that every one
/// of these waits for its moment.
fn compile_bombs() -> Vec<HostileDefinition> {
    let and_valid = |code: String| code + ";" + VALID;
    let levels = |count: usize, open: &dyn Fn(usize) -> String, inner: &str, close: &str| {
        list(count, "", open) + inner + &close.repeat(count)
    };
    let padded = |length: usize| format!("{VALID}{}", " ".repeat(length - VALID.len()));
    let groups = list(75_000, "", |n| format!("(?<g{n}>)"));
    let slow: &[&str] = &["OK", "TIMEOUT", "MEMORY_LIMIT", "STACK_OVERFLOW", "SYNTAX", "THREW"];
    vec![
        coded("a-mebibyte", &padded(1 << 20), &["OK"]),
        coded("a-byte-more", &padded((1 << 20) + 1), &["INPUT_TOO_LARGE"]),
        coded("named-groups", &and_valid(format!("const r = /{groups}/")), &["SYNTAX", "TIMEOUT"]),
        coded(
            "captures",
            &and_valid(levels(
                500,
                &|n| format!("let a{n} = 1; (() => {{"),
                &list(500, "+", |n| format!("a{n}")),
                "})();",
            )),
            slow,
        ),
        coded(
            "array",
            &and_valid(format!("const a = [{}]", list(300_000, ",", |_| "1".into()))),
            slow,
        ),
        coded(
            "object",
            &and_valid(format!("const a = {{{}}}", list(60_000, ",", |n| format!("k{n}: {n}")))),
            slow,
        ),
        coded(
            "switch",
            &and_valid(format!(
                "function f(x) {{ switch (x) {{{}}} }}",
                list(25_000, "", |n| format!("case {n}: return {n};"))
            )),
            slow,
        ),
        coded(
            "fields",
            &and_valid(format!(
                "class A {{{}}} new A()",
                list(10_000, "", |n| format!("f{n} = {n};"))
            )),
            slow,
        ),
        coded(
            "private-names",
            &and_valid(format!("class A {{{}}}", list(3_000, "", |n| format!("#f{n} = {n};")))),
            slow,
        ),
        coded(
            "locals",
            &and_valid(format!(
                "function f() {{ let {} }}",
                list(60_000, ",", |n| format!("v{n}"))
            )),
            slow,
        ),
        coded("arguments", &and_valid(format!("f({})", list(70_000, ",", |_| "1".into()))), slow),
        coded("template", &and_valid(format!("const s = `{}`", "${1}".repeat(70_000))), slow),
        coded("big-integer", &and_valid(format!("const n = {}n", "9".repeat(900_000))), slow),
        coded(
            "alternatives",
            &and_valid(format!("const r = /{}/", list(80_000, "|", |n| format!("a{n}")))),
            slow,
        ),
        coded(
            "sum",
            &and_valid(format!("const s = {}", list(150_000, "+", |_| "'s'".into()))),
            slow,
        ),
        coded(
            "evals",
            &and_valid(format!(
                "function f() {{ let {}; {} }}",
                list(800, ",", |n| format!("x{n} = 1")),
                "(() => eval('1'))();".repeat(800)
            )),
            slow,
        ),
        coded(
            "steps",
            &and_valid(format!("function* g() {{{}}}", "yield 1;".repeat(50_000))),
            slow,
        ),
        coded("name", &and_valid(format!("const {} = 1", "n".repeat(900_000))), slow),
        coded("comment", &format!("{VALID}/*{}", "x".repeat(900_000)), &["SYNTAX"]),
        coded("directives", &and_valid("'use strict';".repeat(70_000)), slow),
        coded("labels", &and_valid(list(50_000, "", |n| format!("l{n}:"))), slow),
        coded(
            "finally",
            &and_valid(levels(300, &|_| "try {".into(), "1", "} finally { g() }")),
            slow,
        ),
        coded("fails-at-run", "module.exports = () => late; let late = missing;", &["THREW"]),
    ]
}

/// Sections of knowledge that are large, refer to themselves or are not what they should be.
fn knowledge_bombs() -> Vec<HostileDefinition> {
    let refuses = "module.exports = () => ({ valid: false, errors: ['word7 word8 field must be a number'] });";
    let judged = |sections: Json| {
        let mut sections = sections;
        sections["executable_knowledge"]["validators"] = json!([validator("v", "run", refuses)]);
        sections
    };
    let words = |n: usize| list(60, " ", |word| format!("word{word}field{}", n % 7 + word));
    let many = |count: usize, item: &dyn Fn(usize) -> Json| -> Vec<Json> {
        (0..count).map(item).collect()
    };
    let pattern = |n: usize| {
        json!({"pattern": words(n), "description": words(n + 1), "wrong": "run({".repeat(20),
               "correct": words(n), "category": "api_usage"})
    };
    let quirk =
        |n: usize| json!({"quirk": words(n), "description": words(n), "mitigation": words(n)});
    let helper = |id: &str| function(id, "module.exports = () => 1;");
    let deep = (0..100).fold(json!(1), |value, _| json!({"k": value}));
    let mut all = vec![
        definition(
            "anti-patterns",
            judged(json!({"anti_patterns": many(4_000, &pattern)})),
            &["VALIDATION_FAILED"],
        ),
        definition(
            "quirks",
            judged(json!({"api_complexity": {"api_quirks": many(5_000, &quirk)}})),
            &["VALIDATION_FAILED"],
        ),
        definition(
            "same-id",
            json!({"executable_knowledge": {"helpers": many(5_000, &|_| helper("h"))}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "long-id",
            json!({"executable_knowledge": {"helpers": [helper(&"h".repeat(1 << 20))],
                   "validators": [validator(&"v".repeat(1 << 20), "run", refuses)]}}),
            &["VALIDATION_FAILED", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "odd-ids",
            json!({"executable_knowledge": {"helpers": many(7, &|n| helper(["", "\0", "\u{202e}", "a\nb",
                   "__proto__", "\u{1b}[2J", "'; throw 1; '"][n]))}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "validates-a-list",
            json!({"executable_knowledge": {"validators": [{"id": "v", "language": "javascript",
                   "validates": many(9_000, &|n| json!(format!("c{n}"))), "function": VALID}]}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "functions-that-are-not",
            json!({"executable_knowledge": {"helpers": [1, null, [], {"function": {}}, {"id": {}, "function": []}],
                   "processors": {"a": 1}, "validators": "all"}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "deep-sections",
            json!({"executable_knowledge": {"helpers": [{"id": "h", "function": "1", "x": deep.clone()}]},
                   "api_complexity": {"field_mappings": deep.clone(), "payload_schemas": [deep]}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "self-referring",
            json!({"executable_knowledge": {"helpers": [helper("helpers.h"), helper("h")]},
                   "api_complexity": {
                       "payload_schemas": [{"type": "a", "detection": "helpers.helpers.h", "payload_path": "a.a.a"},
                                           {"type": "b", "detection": "helpers.none"}],
                       "field_mappings": {"a": {"extraction": "helpers.helpers.h"}, "b": {"extraction": "none"}}}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "detections",
            json!({"api_complexity": {"payload_schemas": many(5_000, &|n| json!({
                   "type": format!("t{n}"), "detection": format!("{} == {n}", "a.".repeat(200) + "b"),
                   "payload_path": "a.".repeat(500)}))}}),
            &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
        definition(
            "required-fields",
            json!({"executable_knowledge": {"validators": [{"id": "v", "validates": "run",
                   "language": "javascript", "function": VALID,
                   "checks": [{"required_fields": many(9_000, &|n| json!(format!("f{n}")))}]}]}}),
            &["VALIDATION_FAILED", "QUARANTINED", "TOOL_NOT_FOUND"],
        ),
    ];
    // A text of a megabyte that aliases repeat three thousand times: three gigabytes if each of
    // them were a copy.
    let head = "tool:\n  schema_version: 2.0\n  id: aliases\n  type: cli\n  name: a\n  version: 1.0.0\n  \
                description: A tool.\n  cli_specific: { executable: \"true\" }\n  commands: [run]\n  \
                executable_knowledge:\n    helpers:\n";
    let code = format!("\"{VALID}{}\"", " ".repeat(1_000_000));
    let aliases = list(3_000, "", |n| match n {
        0 => format!("      - {{ id: h0, language: javascript, function: &code {code} }}\n"),
        n => format!("      - {{ id: h{n}, language: javascript, function: *code }}\n"),
    });
    all.push(HostileDefinition {
        name: "aliases",
        text: format!("{head}{aliases}"),
        arguments: json!({"args": []}),
        expected: &["OK", "QUARANTINED", "TOOL_NOT_FOUND"],
    });
    all
}

/// Schemas that are hard to decide, with arguments that make them so.
fn schema_bombs() -> Vec<HostileDefinition> {
    let schema = |name: &'static str, schema: Json, arguments: Json| {
        let sections = json!({"commands": null, "tools": [{"id": "run", "inputSchema": schema}]});
        let refused: &[&str] =
            &["OK", "INPUT_INVALID", "QUARANTINED", "TOOL_NOT_FOUND", "SCHEMA_INVALID"];
        HostileDefinition { arguments, ..definition(name, sections, refused) }
    };
    let property = |schema: Json| json!({"type": "object", "properties": {"x": schema}});
    // Each definition refers to the next one twice, so that there are 2^30 paths.
    let doubling = |keyword: &str| {
        let definitions: serde_json::Map<String, Json> = (0..30)
            .map(|n| {
                let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
                (format!("d{n}"), json!({keyword: [next, next]}))
            })
            .chain([("d30".to_owned(), json!({"type": "string"}))])
            .collect();
        json!({"type": "object", "$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d0"}}})
    };
    let objects: Vec<Json> = (0..5_000).map(|n| json!({"a": [n, {"b": "x".repeat(20)}]})).collect();
    let keys: serde_json::Map<String, Json> =
        (0..5_000).map(|n| (format!("aaaaaaaaaaaa{n}"), json!(n))).collect();
    let patterns: serde_json::Map<String, Json> =
        (0..200).map(|n| (format!("^(a|a)*{n}$"), json!({"type": "string"}))).collect();
    let nested = (0..100).fold(json!({"type": "string"}), |inner, _| {
        json!({"type": "object", "properties": {"x": inner}, "unevaluatedProperties": false})
    });
    let arrays = (0..60).fold(json!("deep"), |inner, _| json!([inner]));
    let tree = json!({"$id": "t", "$dynamicAnchor": "n", "type": "array",
                      "items": {"anyOf": [{"$dynamicRef": "#n"}, {"$dynamicRef": "#n"}]}});
    let long = "a".repeat(50_000) + "!";
    vec![
        schema("pattern", property(json!({"pattern": "^(a+)+$"})), json!({"x": long})),
        schema("look-ahead", property(json!({"pattern": "^(?=(a+)+b)a"})), json!({"x": long})),
        schema("back-reference", property(json!({"pattern": "^(a*)*\\1b$"})), json!({"x": long})),
        schema("any-of", doubling("anyOf"), json!({"x": 1})),
        schema("all-of", doubling("allOf"), json!({"x": 1})),
        schema("one-of", doubling("oneOf"), json!({"x": "x"})),
        schema("cycle", property(json!({"$ref": "#/properties/x"})), json!({"x": 1})),
        schema(
            "large-enum",
            property(json!({"enum": (0..50_000).collect::<Vec<_>>()})),
            json!({"x": -1}),
        ),
        schema("unique-items", property(json!({"uniqueItems": true})), json!({"x": objects})),
        schema(
            "contains",
            property(json!({"contains": {"contains": {"const": 1}}, "minContains": 4_999})),
            json!({"x": objects}),
        ),
        schema(
            "pattern-properties",
            property(json!({"patternProperties": patterns, "additionalProperties": false})),
            json!({"x": keys}),
        ),
        schema("unevaluated", nested, json!({"x": {"x": {"y": 1}}})),
        schema("dynamic-tree", property(tree), json!({"x": arrays})),
        schema("multiple-of", property(json!({"multipleOf": 1e-300})), json!({"x": 1e300})),
        schema(
            "long-text",
            property(json!({"maxLength": 10, "format": "email"})),
            json!({"x": long}),
        ),
        schema(
            "required",
            json!({"type": "object", "required": (0..20_000).map(|n| format!("r{n}")).collect::<Vec<_>>()}),
            json!({}),
        ),
    ]
}

/// Writes definitions as the sources of a configuration, beside the calm toolset.
fn sources(definitions: &[HostileDefinition], limits: &str) -> tempfile::TempDir {
    let folder = folder(&[("calm.json", calm().to_string().as_bytes())]);
    let mut config = format!("{limits}[[source]]\nname = \"calm\"\npath = \"calm.json\"\n");
    for definition in definitions {
        let name = definition.name;
        std::fs::write(folder.path().join(format!("{name}.yaml")), &definition.text)
            .expect("a file");
        config.push_str(&format!("[[source]]\nname = \"{name}\"\npath = \"{name}.yaml\"\n"));
    }
    std::fs::write(folder.path().join("toolwright.toml"), config).expect("a file");
    folder
}

/// Calls every definition on one server, two at a time, and compares the outcomes.
fn serve_definitions(definitions: &[HostileDefinition], limits: &str) {
    let folder = sources(definitions, limits);
    let mut server = WatchedServer::start(folder.path());
    for pair in definitions.chunks(2) {
        let calls: Vec<(String, Json)> = pair
            .iter()
            .map(|definition| (format!("{}__run", definition.name), definition.arguments.clone()))
            .collect();
        for (definition, answer) in pair.iter().zip(server.attack(&calls)) {
            let result = &answer["result"];
            let error = &result["_meta"]["toolwright/error"]["code"];
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            let text = text.split_once("- ").map_or(text, |(_, first)| first);
            let said = [outcome_in(text), error.as_str().unwrap_or("OK")];
            // A tool that the gate keeps back is unknown to the protocol.
            let said = if answer.get("error").is_some() { ["TOOL_NOT_FOUND"; 2] } else { said };
            let is_right = match said {
                // The short time of a call may pass on a busy machine before the answer is ready.
                [_, "TIMEOUT"] => true,
                ["OK", code] | [code, "VALIDATION_FAILED"] => definition.expected.contains(&code),
                [_, code] => definition.expected.contains(&code),
            };
            server.expect(is_right, || {
                format!(
                    "{}: {said:?}, expected {:?}: {answer}",
                    definition.name, definition.expected
                )
            });
        }
    }
    server.end();
}

/// `check`, `list` and `show` of each definition, and `eval` and `call` where they do not only
/// repeat what the server does.
fn run_definitions(definitions: &[HostileDefinition]) {
    let folder = sources(definitions, SHORT_LIMITS);
    for_each(definitions, |definition| {
        let (name, file) = (definition.name, format!("{}.yaml", definition.name));
        let id = format!("{name}:run");
        let commands: [&[&str]; 4] = [
            &["check", &file],
            &["list", &file],
            &["test", &file],
            &["call", &id, "--args", "{\"args\": []}", "--json"],
        ];
        for command in commands {
            let run = run(folder.path(), command)
                .map_err(|failure| format!("{} {name}: {failure}", command[0]))?;
            if !matches!(run.code, 0..=2) {
                return Err(format!("{} {name}: exit code {}", command[0], run.code));
            }
            if run.time > Duration::from_secs(2) {
                println!("{} {name}: {:?}", command[0], run.time);
            }
        }
        Ok(())
    });
}

#[test]
fn code_that_is_hard_to_compile_is_refused_in_time() {
    serve_definitions(&compile_bombs(), SHORT_LIMITS);
}

#[test]
fn sections_of_knowledge_cannot_hurt_the_server() {
    serve_definitions(&knowledge_bombs(), SHORT_LIMITS);
}

#[test]
fn schemas_cannot_hurt_the_server() {
    serve_definitions(&schema_bombs(), SHORT_LIMITS);
}

#[test]
fn commands_survive_sections_and_schemas() {
    let mut all = knowledge_bombs();
    all.extend(schema_bombs());
    run_definitions(&all);
}

// ---- What needs one budget for all functions of a call --------------------------------------

/// The limits of the attacks on the budget: a call may take a second and a half.
const BUDGET_LIMITS: &str = "[limits]\ntimeout = 1500\n";
/// When a call with these limits must be over, on a busy machine.
const BUDGET_PATIENCE: Duration = Duration::from_secs(15);

/// Definitions whose functions are within their limits one by one, and far beyond them together.
fn budget_bombs() -> Vec<HostileDefinition> {
    let many = |count: usize, item: &dyn Fn(usize) -> Json| -> Vec<Json> {
        (0..count).map(item).collect()
    };
    let validators = |count: usize, code: &str| {
        let all = many(count, &|n| validator(&format!("v{n}"), "run", code));
        json!({"executable_knowledge": {"validators": all}})
    };
    let processors = |count: usize, stage: &str, code: &str| {
        let processor = |n: usize| {
            let mut function = function(&format!("p{n}"), code);
            function["processes"] = json!("run");
            function["stage"] = json!(stage);
            function
        };
        json!({"executable_knowledge": {"processors": many(count, &processor)}})
    };
    let fields = |count: usize, code: &str| {
        let mapping = |n: usize| (format!("f{n}"), json!({"extraction": "helpers.h"}));
        let mappings: serde_json::Map<String, Json> = (0..count).map(mapping).collect();
        json!({"executable_knowledge": {"helpers": [function("h", code)]},
               "api_complexity": {"field_mappings": mappings}})
    };
    let busy = "module.exports = () => { const end = Date.now() + 120; while (Date.now() < end); \
                return { valid: true, errors: [] }; };";
    let endless = "module.exports = () => { for (;;); };";
    let long_error = "module.exports = () => ({ valid: false, errors: ['e'.repeat(1e6)] });";
    let long_warning = "module.exports = () => ({ valid: true, errors: { x: 'w'.repeat(9e5) } });";
    let long_throw = "module.exports = () => { throw new Error('t'.repeat(8000)); };";
    let long_log = "module.exports = (a) => { for (let i = 0; i < 60; i++) \
                    console.log('l'.repeat(1000)); return { valid: true, errors: [] }; };";
    let long_text = "module.exports = () => 'x'.repeat(1e6);";
    let groups = list(75_000, "", |n| format!("(?<g{n}>)"));
    let slow_to_locate = format!("const r = /{groups}/; )");
    let shapes = many(5_000, &|n| {
        json!({"type": "t".repeat(2_000) + &n.to_string(),
                                          "detection": "nowhere exists"})
    });
    let mut unknown_shape = processors(1, "response", "module.exports = (d) => d;");
    unknown_shape["api_complexity"] = json!({"payload_schemas": shapes});
    let mut detected = processors(1, "response", "module.exports = (d) => d;");
    detected["executable_knowledge"]["helpers"] = json!([function("h", endless)]);
    let slow_shape = |n: usize| json!({"type": format!("t{n}"), "detection": "helpers.h"});
    detected["api_complexity"] = json!({"payload_schemas": many(50, &slow_shape)});
    let mut advice = validators(
        1,
        "module.exports = () => ({ valid: false, errors: ['colour must be a number'] });",
    );
    advice["anti_patterns"] = json!([{"pattern": "colour", "description": "colour ".repeat(300_000),
        "wrong": "run({colour})", "correct": "c".repeat(4_000_000), "category": "api_usage"}]);
    advice["api_complexity"] = json!({"api_quirks": [{"quirk": "colour",
        "description": "colour", "mitigation": "m".repeat(4_000_000)}]});
    let any: &[&str] = &[];
    vec![
        definition("slow-validators", validators(400, busy), any),
        definition("endless-validators", validators(40, endless), any),
        definition("long-errors", validators(50, long_error), any),
        definition("long-warnings", validators(50, long_warning), any),
        definition("long-exceptions", validators(400, long_throw), any),
        definition("long-logs", validators(100, long_log), any),
        definition("endless-requests", processors(40, "request", endless), any),
        definition("endless-responses", processors(40, "response", endless), any),
        definition("long-responses", processors(50, "response", long_text), any),
        definition("long-fields", fields(100, long_text), any),
        definition("many-fields", fields(9_000, "module.exports = () => 1;"), any),
        definition("endless-fields", fields(50, endless), any),
        definition("endless-detections", detected, any),
        definition("unknown-shape", unknown_shape, any),
        definition("long-advice", advice, any),
        definition("slow-to-locate", validators(6, &slow_to_locate), any),
    ]
}

/// Functions that are within their limits one by one, and far beyond them together: the call ends
/// at its own deadline, its answer is capped, and the quick tools answer meanwhile.
#[test]
fn budget_attacks() {
    let definitions = budget_bombs();
    let folder = sources(&definitions, BUDGET_LIMITS);
    let mut server = WatchedServer::start(folder.path());
    for definition in &definitions {
        let calls = [(format!("{}__run", definition.name), definition.arguments.clone())];
        let began = Instant::now();
        let answer = server.attack(&calls).pop().expect("one answer");
        let time = began.elapsed();
        println!("{}: {time:?}, {} bytes", definition.name, answer.to_string().len());
        server.expect(time < BUDGET_PATIENCE, || format!("{} took {time:?}", definition.name));
        server.expect(answer.get("result").is_some(), || format!("{}: {answer}", definition.name));
    }
    server.end();
    // The programs whose verdicts are larger than an answer may be.
    let folder = all_classes(true);
    let mut server = WatchedServer::start(folder.path());
    for class in CLASSES {
        for n in 0..programs(class, true).len() {
            let call = (format!("{class}__p{n}"), json!({"args": [], "stdin": LIT}));
            let answer = server.attack(&[call]).pop().expect("one answer");
            server.expect(answer["result"]["isError"] == true, || format!("{class} {n}"));
        }
    }
    server.end();
}
