//! `toolwright-bench check`: checking definitions.
//!
//! First what the rules add to reading, in one process. Then `toolwright check` as a whole program
//! against ajv and check-jsonschema on the same files, process start included. The peers only
//! compare with a JSON Schema; ours also reads four formats and runs every rule, so the comparison
//! favours the peers.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Document, Syntax};
use toolwright_workspace::{ReadOptions, Workspace};

use crate::generated_definitions::{GeneratedDefinition, definitions};
use crate::processes::built_program;
use crate::timing::{compare, median, time, verdict};

/// How many definitions there are.
const COUNT: usize = 10_000;
const ROUNDS: usize = 9;
/// The folders for the files of each language.
const JSON: &str = "json";
const YAML: &str = "yaml";
/// Runs of our program before a peer and again after it. A peer takes seconds, and the machine may
/// be busier at one end.
const RUNS: usize = 5;

/// How many definitions are read together, as the program does.
const TOGETHER: usize = 32;

/// Reads and, with `rules`, checks definitions in memory.
fn read_some(definitions: &[&GeneratedDefinition], rules: bool) {
    let parse = |definition: &&GeneratedDefinition| {
        Arc::new(Document::parse("bench", definition.text.as_str(), definition.syntax))
    };
    let documents: Vec<Arc<Document>> = definitions.iter().map(parse).collect();
    black_box(
        Workspace::new(Arc::new(InProcessAnalyzer))
            .read_all(&documents, ReadOptions { rules, ..ReadOptions::default() }),
    );
}

/// Prints the figures. Peers that are not installed in `peers` are left out.
pub(crate) fn run(peers: &Path) {
    let all = definitions(COUNT);
    let folder = std::env::temp_dir().join(format!("toolwright-bench-{}", std::process::id()));
    for (n, definition) in all.iter().enumerate() {
        let (below, ending) = match definition.syntax {
            Syntax::Json | Syntax::Jsonc => (folder.join(JSON), "json"),
            Syntax::Yaml => (folder.join(YAML), "yaml"),
        };
        std::fs::create_dir_all(&below).expect("a temporary folder");
        std::fs::write(below.join(format!("{n}.{ending}")), &definition.text).expect("a file");
    }
    println!(
        "checking {COUNT} files, against only reading them; all cores, median of {ROUNDS} rounds"
    );
    let files = |rules| {
        let options = ReadOptions { rules, ..ReadOptions::default() };
        drop(black_box(
            Workspace::new(Arc::new(InProcessAnalyzer))
                .load(std::slice::from_ref(&folder), options),
        ));
    };
    ratio("all", COUNT, Some(3.0), || files(true), || files(false));
    println!("the same in memory, one core");
    for (name, syntax) in
        [("all", None), ("JSON", Some(Syntax::Json)), ("YAML", Some(Syntax::Yaml))]
    {
        let some: Vec<&GeneratedDefinition> =
            all.iter().filter(|d| syntax.is_none_or(|s| s == d.syntax)).collect();
        let each = |rules| some.chunks(TOGETHER).for_each(|some| read_some(some, rules));
        let bound = syntax.is_none().then_some(3.0);
        ratio(name, some.len(), bound, || each(true), || each(false));
    }
    programs(&folder, peers);
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// The time of `check --no-start` on a servers file with 40 servers, as a share of its limit.
pub(crate) fn servers_file() {
    const LIMIT: f64 = 0.050;
    let entry = |n: usize| {
        format!(
            r#"    "server-{n}": {{"command": "npx", "args": ["-y", "@scope/server-{n}", "--token",
      "tok-{n}a9f8e7d6c"], "env": {{"API_KEY": "0123abcd4567-{n}", "HOME_PAGE": "https://h/{n}"}}}}"#
        )
    };
    let entries: Vec<String> = (0..40).map(entry).collect();
    let folder = std::env::temp_dir().join(format!("toolwright-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let text = format!("{{\n  \"mcpServers\": {{\n{}\n  }}\n}}\n", entries.join(",\n"));
    std::fs::write(folder.join(".mcp.json"), text).expect("a file");
    let mut command = Command::new(built_program("toolwright"));
    command.args(["check", "--no-start", "--fail-on", "never", ".mcp.json"]).current_dir(&folder);
    // Once before, so that the program is in memory.
    time_of(&mut command);
    let seconds = median((0..ROUNDS).map(|_| time_of(&mut command)).collect());
    println!("checking a servers file without starting anything, process start included");
    println!(
        "  toolwright check --no-start  {:6.1} ms   {:.2} of the limit of {:.0} ms {}",
        seconds * 1e3,
        seconds / LIMIT,
        LIMIT * 1e3,
        verdict(seconds <= LIMIT)
    );
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// How much longer checking takes than reading.
fn ratio(name: &str, count: usize, bound: Option<f64>, check: impl FnMut(), read: impl FnMut()) {
    let (checked, merely_read, ratio) = compare(ROUNDS, check, read);
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    let bound =
        bound.map(|b| format!("(bound {b:.2}) {}", verdict(ratio <= b))).unwrap_or_default();
    println!(
        "  {name:5} check {:6.1} µs per file   only read {:6.1} µs   {ratio:.2}x the time {bound}",
        each(checked),
        each(merely_read)
    );
}

/// Whole programs on files. ajv reads only JSON, check-jsonschema both languages.
fn programs(folder: &Path, peers: &Path) {
    let (json, yaml) = (folder.join(JSON), folder.join(YAML));
    println!(
        "checking files with whole programs, process start included; one run of the peer, \
         median of {RUNS} runs of ours before it and {RUNS} after it"
    );
    let schema = format!("{OWN}/definition.schema.json");
    let ajv = |how: &str| {
        let mut command = Command::new("node");
        command.arg(format!("{OWN}/ajv_files.cjs")).arg(peers).args([&schema]).arg(&json).arg(how);
        time_of(&mut command)
    };
    if peers.join("node_modules/ajv").is_dir() {
        let some = measure_around("ajv", "the JSON files", &json, Some(10.0), || ajv("schemas"));
        report("ajv, shape only", ajv("shape"), some, None);
    } else {
        println!("  ajv is not installed and not measured");
    }
    let python = peers.join("check-jsonschema/bin/check-jsonschema");
    if python.is_file() {
        let below = |folder: &Path| {
            std::fs::read_dir(folder).expect("it is ours").flatten().map(|entry| entry.path())
        };
        let mut command = Command::new(python);
        command.args(["--schemafile", &schema]).args(below(&json)).args(below(&yaml));
        measure_around("check-jsonschema", "all files", folder, Some(50.0), || {
            time_of(&mut command)
        });
    } else {
        println!("  check-jsonschema is not installed and not measured");
    }
}

/// The folder of this crate, where the scripts for peers are.
const OWN: &str = env!("CARGO_MANIFEST_DIR");

/// Measures `toolwright check` on a folder before and after the run of a peer, prints both, and
/// returns the median of ours in seconds.
fn measure_around(
    name: &str,
    what: &str,
    folder: &Path,
    bound: Option<f64>,
    peer: impl FnOnce() -> f64,
) -> f64 {
    let mut command = Command::new(built_program("toolwright"));
    command.args(["check", "--output-format", "concise", "--fail-on", "never"]).arg(folder);
    let mut runs = || (0..RUNS).map(|_| time_of(&mut command)).collect::<Vec<f64>>();
    let before = runs();
    let theirs = peer();
    let seconds = median([before, runs()].concat());
    println!("  toolwright check   {:8.0} ms   {what}", seconds * 1e3);
    report(name, theirs, seconds, bound);
    seconds
}

/// Prints how a peer compares with ours; both times are in seconds.
fn report(name: &str, seconds: f64, ours: f64, bound: Option<f64>) {
    let ratio = seconds / ours;
    let bound =
        bound.map(|b| format!("(bound {b:.0}) {}", verdict(ratio >= b))).unwrap_or_default();
    println!("  {name:18} {:8.0} ms   ours is {ratio:.1}x as fast {bound}", seconds * 1e3);
}

/// How long a program takes, in seconds. It must succeed.
fn time_of(command: &mut Command) -> f64 {
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    time(|| assert!(command.status().expect("it starts").success(), "{command:?} succeeds"))
        .as_secs_f64()
}
