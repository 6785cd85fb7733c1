//! `toolwright-bench wrong-calls [FOLDER]`: which share of wrong calls the validators of AIOS
//! definitions stop. The specification has a target of 80 %. Never a gate.
//!
//! Wrong calls are made of the inputs of examples that succeed: each member once left out, once
//! null, once of another type. They become examples of an expected refusal in a copy of the
//! definition, and `toolwright test` runs its validators on them. Leaving out an optional argument
//! is not a mistake, so the share is a lower bound.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};
use toolwright_source::{Document, Syntax};

use crate::processes::built_program;

/// How an input is made wrong.
type Mutation = (&'static str, fn(&Json) -> Option<Json>);

/// `None` leaves the member out.
const MUTATIONS: [Mutation; 3] = [
    ("left out", |_| None),
    ("null", |_| Some(Json::Null)),
    ("of another type", |value| {
        Some(match value {
            Json::String(_) => json!(7),
            Json::Array(_) => json!({"wrong": true}),
            Json::Object(_) => json!(["wrong"]),
            _ => json!("wrong"),
        })
    }),
];

/// Prints the share of each definition of a folder, and of all.
pub(crate) fn run(folder: &Path) {
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    println!("wrong calls that validators stop, of commands that have validators");
    let mut all = [(0, 0); MUTATIONS.len()];
    for file in files.iter().map(std::fs::DirEntry::path) {
        let Ok(text) = std::fs::read(&file) else { continue };
        let tool = Document::parse("tool", text, Syntax::Yaml).root().to_json();
        let counts = MUTATIONS.map(|(_, mutation)| stopped(&tool, mutation));
        if counts.iter().any(|(_, of)| *of > 0) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            println!("  {name:<28} {}", shares(&counts));
        }
        for (sum, (stopped, of)) in all.iter_mut().zip(counts) {
            *sum = (sum.0 + stopped, sum.1 + of);
        }
    }
    println!("  {:<28} {}", "all", shares(&all));
    let (stopped, of) = all.iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    println!("  {stopped} of {of} calls are stopped ({:.0} %)", percent((stopped, of)));
}

fn percent((stopped, of): (usize, usize)) -> f64 {
    100.0 * stopped as f64 / of.max(1) as f64
}

fn shares(counts: &[(usize, usize)]) -> String {
    let share = |((name, _), count): (&Mutation, &(usize, usize))| {
        format!("{name} {:3.0} % of {:<4}", percent(*count), count.1)
    };
    MUTATIONS.iter().zip(counts).map(share).collect::<Vec<_>>().join("   ")
}

/// How many of the wrong calls are refused, and how many there are.
fn stopped(definition: &Json, mutation: fn(&Json) -> Option<Json>) -> (usize, usize) {
    let mut copy = definition.clone();
    let Some(examples) = copy["tool"]["examples"].as_object_mut() else { return (0, 0) };
    for list in examples.values_mut().filter_map(Json::as_array_mut) {
        let right = list.iter().filter(|example| {
            example["scenario"].as_str().is_some_and(|scenario| scenario.starts_with("success"))
        });
        let wrong = right.filter_map(|example| example["input"].as_object()).flat_map(|input| {
            input.iter().map(|(name, value)| {
                let mut input = input.clone();
                match mutation(value) {
                    Some(other) => drop(input.insert(name.clone(), other)),
                    None => drop(input.shift_remove(name)),
                }
                // Any refusal will do.
                json!({"scenario": "failure_invalid_param", "input": input, "error": {}})
            })
        });
        *list = wrong.collect();
    }
    let folder = std::env::temp_dir().join(format!("toolwright-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("wrong.json");
    std::fs::write(&file, copy.to_string()).expect("a file");
    let test = Command::new(built_program("toolwright"))
        .args(["test", "--output-format", "json"])
        .arg(&file)
        .output()
        .expect("the program starts");
    std::fs::remove_dir_all(&folder).expect("it is ours");
    let text = String::from_utf8_lossy(&test.stdout);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    // Examples of commands without validators are skipped.
    let lines: Vec<Json> =
        lines.filter(|line| line["status"] == "passed" || line["status"] == "failed").collect();
    // A validator that fails on the arguments stops the call as well.
    let is_stopped =
        |line: &&Json| line["status"] == "passed" || line["messages"][0] == "a validator failed:";
    (lines.iter().filter(is_stopped).count(), lines.len())
}
