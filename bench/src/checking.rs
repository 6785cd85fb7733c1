//! Checking definitions: every rule against merely reading them, and the whole program against ajv and
//! check-jsonschema on the same files, process start included.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use toolwright_catalog::{Reader, read};
use toolwright_source::{Document, Syntax};

use crate::definitions::{Definition, definitions};
use crate::processes::beside_us;
use crate::timing::{compare, median, time, verdict};

const COUNT: usize = 10_000;
const ROUNDS: usize = 9;
/// Runs of our program; its peers take their time.
const RUNS: usize = 5;

fn read_one(definition: &Definition, rules: bool) {
    let document = Arc::new(Document::parse("bench", definition.text.as_str(), definition.syntax));
    black_box(read(&document, Reader { rules, ..Reader::default() }));
}

/// Prints the figures; peers are looked for in `peers`.
pub(crate) fn run(peers: &Path) {
    let all = definitions(COUNT);
    println!("checking {COUNT} definitions, one core, median of {ROUNDS} rounds");
    for (name, syntax) in [("all", None), ("JSON", Some(Syntax::Json)), ("YAML", Some(Syntax::Yaml))] {
        let some: Vec<&Definition> = all.iter().filter(|d| syntax.is_none_or(|s| s == d.syntax)).collect();
        let (checked, merely_read, ratio) = compare(
            ROUNDS,
            || some.iter().for_each(|d| read_one(d, true)),
            || some.iter().for_each(|d| read_one(d, false)),
        );
        let each = |time: Duration| time.as_secs_f64() * 1e6 / some.len() as f64;
        let bound =
            if syntax.is_none() { format!("(bound 3.00) {}", verdict(ratio <= 3.0)) } else { String::new() };
        println!(
            "  {name:5} check {:6.1} µs each   read {:6.1} µs   {ratio:.2}x its time {bound}",
            each(checked),
            each(merely_read)
        );
    }
    programs(&all, peers);
}

/// Whole programs on files: ajv reads JSON alone, check-jsonschema everything.
fn programs(all: &[Definition], peers: &Path) {
    let folder = std::env::temp_dir().join(format!("toolwright-bench-{}", std::process::id()));
    let (json, yaml) = (folder.join("json"), folder.join("yaml"));
    for (syntax, below, ending) in [(Syntax::Json, &json, "json"), (Syntax::Yaml, &yaml, "yaml")] {
        std::fs::create_dir_all(below).expect("a temporary folder");
        for (n, definition) in all.iter().enumerate().filter(|(_, d)| d.syntax == syntax) {
            std::fs::write(below.join(format!("{n}.{ending}")), &definition.text).expect("a file");
        }
    }
    println!(
        "checking files with whole programs, process start included; median of {RUNS} runs of ours, one of a peer"
    );
    let schema = format!("{OWN}/definition.schema.json");
    let some = ours("the JSON ones", &json);
    let ajv = |how: &str| {
        let mut command = Command::new("node");
        command.arg(format!("{OWN}/ajv_files.cjs")).arg(peers).args([&schema]).arg(&json).arg(how);
        time_of(&mut command)
    };
    if peers.join("node_modules/ajv").is_dir() {
        report("ajv", ajv("schemas"), some, Some(10.0));
        report("ajv, shape alone", ajv("shape"), some, None);
    } else {
        println!("  ajv is not installed and not measured");
    }
    let everything = ours("all of them", &folder);
    let python = peers.join("check-jsonschema/bin/check-jsonschema");
    if python.is_file() {
        let below = |folder: &Path| {
            std::fs::read_dir(folder).expect("it is ours").flatten().map(|entry| entry.path())
        };
        let mut command = Command::new(python);
        command.args(["--schemafile", &schema]).args(below(&json)).args(below(&yaml));
        report("check-jsonschema", time_of(&mut command), everything, Some(50.0));
    } else {
        println!("  check-jsonschema is not installed and not measured");
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

const OWN: &str = env!("CARGO_MANIFEST_DIR");

/// The median time of `toolwright check` on a folder, in seconds.
fn ours(what: &str, folder: &Path) -> f64 {
    let mut command = Command::new(beside_us("toolwright"));
    command.args(["check", "--output-format", "concise", "--fail-on", "never"]).arg(folder);
    let seconds = median((0..RUNS).map(|_| time_of(&mut command)).collect::<Vec<f64>>());
    println!("  toolwright check   {:8.0} ms   {what}", seconds * 1e3);
    seconds
}

fn report(name: &str, seconds: f64, ours: f64, bound: Option<f64>) {
    let ratio = seconds / ours;
    let bound = bound.map(|b| format!("(bound {b:.0}) {}", verdict(ratio >= b))).unwrap_or_default();
    println!("  {name:18} {:8.0} ms   ours is {ratio:.1}x as fast {bound}", seconds * 1e3);
}

/// The time of a program that must succeed, in seconds.
fn time_of(command: &mut Command) -> f64 {
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    time(|| assert!(command.status().expect("it starts").success(), "{command:?} succeeds")).as_secs_f64()
}
