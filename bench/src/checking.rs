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
/// Rounds of whole programs; check-jsonschema takes its time.
const RUNS: usize = 3;

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

/// Whole programs on the JSON files.
fn programs(all: &[Definition], peers: &Path) {
    let folder = std::env::temp_dir().join(format!("toolwright-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let json = all.iter().filter(|d| d.syntax == Syntax::Json);
    let count =
        json.enumerate().map(|(n, d)| std::fs::write(folder.join(format!("{n}.json")), &d.text)).count();
    println!("checking {count} JSON files, whole programs, median of {RUNS} runs");
    let own = format!("{}/", env!("CARGO_MANIFEST_DIR"));
    let schema = format!("{own}definition.schema.json");
    let folder_text = folder.display().to_string();
    let ours = timed(Command::new(beside_us("toolwright")).args([
        "check",
        "--output-format",
        "concise",
        "--fail-on",
        "never",
        &folder_text,
    ]));
    println!("  toolwright check   {:8.0} ms", ours * 1e3);
    let ajv = peers.join("node_modules/ajv");
    let node = |how: &str| {
        let mut command = Command::new("node");
        command.arg(format!("{own}ajv_files.cjs")).arg(peers).arg(&schema).arg(&folder).arg(how);
        command
    };
    if ajv.is_dir() {
        report("ajv", timed(&mut node("schemas")), ours, Some(10.0));
        report("ajv, shape alone", timed(&mut node("shape")), ours, None);
    } else {
        println!("  ajv is not installed and not measured");
    }
    let python = peers.join("check-jsonschema/bin/check-jsonschema");
    if python.is_file() {
        let files = std::fs::read_dir(&folder).expect("it is ours").flatten().map(|entry| entry.path());
        let mut command = Command::new(python);
        command.args(["--schemafile", &schema]).args(files);
        report("check-jsonschema", timed(&mut command), ours, Some(50.0));
    } else {
        println!("  check-jsonschema is not installed and not measured");
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

fn report(name: &str, seconds: f64, ours: f64, bound: Option<f64>) {
    let ratio = seconds / ours;
    let bound = bound.map(|b| format!("(bound {b:.0}) {}", verdict(ratio >= b))).unwrap_or_default();
    println!("  {name:18} {:8.0} ms   ours is {ratio:.1}x as fast {bound}", seconds * 1e3);
}

/// The median time of a program that must succeed.
fn timed(command: &mut Command) -> f64 {
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    let times: Vec<f64> = (0..RUNS)
        .map(|_| {
            time(|| assert!(command.status().expect("it starts").success(), "{command:?} succeeds"))
                .as_secs_f64()
        })
        .collect();
    median(times)
}
