//! `toolwright-bench convert`: converting between formats, and looking for instances that show what
//! was lost.
//!
//! The peer reads the same JSON with serde_json and writes it again, which is less than converting
//! it. Ours is everything that `toolwright convert --losses none` does after its process has
//! started: parse, detect, read, check for errors, convert, write. The search for a loss has no
//! peer; it is compared with a time that nobody notices.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright_formats::WriteTarget;
use toolwright_script::InProcessAnalyzer;
use toolwright_workspace::{
    CheckOptions, ConvertOptions, FieldSetting, LoadedDocument, ReadOptions, RuleScope, Workspace,
    convert,
};

use crate::timing::{compare, median, quantile, time, verdict};

const TOOLS: usize = 100;
const ROUNDS: usize = 9;
/// Rounds against the peer: a round takes milliseconds, and other programs disturb some of them.
const PAIRED_ROUNDS: usize = 51;

/// Formats that tools are converted from.
const SOURCES: [&str; 6] = ["mcp", "btcp", "aios", "openai", "anthropic", "gemini-openapi"];

/// The most that converting without a report may take, as a multiple of the peer.
const RATIO: f64 = 3.0;
/// Milliseconds that a comparison may take: half of them, and every one.
const MEDIAN_MS: f64 = 2.0;
const LONGEST_MS: f64 = 50.0;

/// A tool whose schema has keywords that some targets do not have.
fn tool(n: usize) -> Value {
    json!({
        "name": format!("book_trip_{n}"),
        "title": "Book a trip",
        "description": format!("Books trip {n} of the ferry for some people, and returns the ticket."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "day": {"type": "string", "format": "date", "pattern": "^20[0-9]{2}-", "description": "The day"},
                "seats": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "description": "How many"},
                "class": {"enum": ["deck", "cabin"], "default": "deck", "description": "Where to sit"},
                "names": {
                    "type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 60 + n},
                    "uniqueItems": true, "maxItems": 9, "description": "The passengers"
                },
                "back": {"oneOf": [{"type": "string"}, {"type": "null"}], "description": "The way back"},
                "car": {
                    "type": "object",
                    "properties": {"length": {"type": "number", "multipleOf": 0.5}},
                    "required": ["length"], "additionalProperties": false
                }
            },
            "required": ["day", "seats"],
            "additionalProperties": false
        },
        "annotations": {"destructiveHint": false}
    })
}

/// Reads a document without any rule.
fn load(text: &str, format: &str) -> LoadedDocument {
    let mut workspace = Workspace::new(Arc::new(InProcessAnalyzer));
    let name = if format == "aios" { "tools.yaml" } else { "tools.json" };
    workspace.overlay.set(name, text);
    let format = toolwright_formats::by_name(format).map(|format| format.id());
    let options = ReadOptions { format, ..ReadOptions::default() };
    let loaded = workspace.load(&[PathBuf::from(name)], options);
    loaded.documents.into_iter().next().expect("one document")
}

/// Reads a document and checks it for errors, as the command does.
fn load_checked(text: &str) -> LoadedDocument {
    let mut workspace = Workspace::new(Arc::new(InProcessAnalyzer));
    workspace.overlay.set("tools.json", text);
    let read = ReadOptions { rules: true, scope: RuleScope::Errors, ..ReadOptions::default() };
    let load = workspace.load(&[PathBuf::from("tools.json")], read);
    let options = CheckOptions { read, ..CheckOptions::default() };
    let load = workspace.check_loaded(load, &[], &options).load;
    load.documents.into_iter().next().expect("one document")
}

fn options(target: WriteTarget, find_losses: bool) -> ConvertOptions {
    let setting =
        |field: &str, value: &str| FieldSetting { field: field.into(), value: value.into() };
    let settings = match target {
        WriteTarget::Btcp | WriteTarget::Aios => {
            vec![setting("namespace", "ferry"), setting("description", "Trips of the ferry")]
        }
        _ => Vec::new(),
    };
    ConvertOptions { target, settings, leave_out_bad_tools: false, find_losses }
}

pub(crate) fn run() {
    let tools: Vec<Value> = (0..TOOLS).map(tool).collect();
    let mcp = json!({ "tools": tools }).to_string();
    println!("converting {TOOLS} tools, one core, median of {ROUNDS} rounds");
    per_pair(&mcp);
    against_serde_json(&mcp);
    losses();
}

/// Tools per second for each pair of formats, without a report and with one.
fn per_pair(mcp: &str) {
    let first = load(mcp, "mcp");
    let sources: Vec<(&str, LoadedDocument)> = SOURCES
        .into_iter()
        .map(|id| {
            let target = WriteTarget::by_id(id).expect("a target");
            let text = match id {
                "mcp" => mcp.to_owned(),
                _ => convert(&first, &options(target, false)).expect("it converts").text,
            };
            (id, load(&text, target.format().0))
        })
        .collect();
    for (name, find_losses) in [("tools/s, --losses none", false), ("tools/s, with losses", true)] {
        print!("  {name:24}");
        SOURCES.iter().for_each(|source| print!(" {source:>14}"));
        println!();
        for target in WriteTarget::all() {
            print!("  to {:21}", target.id());
            for (_, source) in &sources {
                let options = options(target, find_losses);
                let once = || {
                    time(|| {
                        black_box(convert(source, &options).expect("it converts"));
                    })
                };
                let rounds = if find_losses { 1 } else { ROUNDS };
                let seconds = median((0..rounds).map(|_| once()).collect()).as_secs_f64();
                print!(" {:14.0}", TOOLS as f64 / seconds);
            }
            println!();
        }
    }
}

/// Reading, converting and writing against reading and writing.
fn against_serde_json(mcp: &str) {
    for target in WriteTarget::all() {
        let options = options(target, false);
        let peer = || {
            let value: Value = serde_json::from_str(mcp).expect("JSON");
            black_box(serde_json::to_string_pretty(&value).expect("a value"));
        };
        let ours = |loaded: LoadedDocument| {
            black_box(convert(&loaded, &options).expect("it converts"));
        };
        let (time, theirs, ratio) = compare(PAIRED_ROUNDS, || ours(load_checked(mcp)), peer);
        let (_, _, unchecked) = compare(PAIRED_ROUNDS, || ours(load(mcp, "mcp")), peer);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "  mcp to {:23} {:6.2} ms   serde_json, read and written {:6.2} ms   {ratio:.2}x the \
             time (bound {RATIO:.2}) {}; {unchecked:.2}x without looking for errors",
            target.id(),
            ms(time),
            ms(theirs),
            verdict(ratio <= RATIO)
        );
    }
}

/// The time that it takes to show what dropping one keyword means.
fn losses() {
    let schemas: Vec<Value> = (0..20).map(|n| tool(n)["inputSchema"].clone()).collect();
    let mut times = Vec::new();
    for schema in &schemas {
        for pointer in keywords(schema, String::new()) {
            let changed = without(schema, &pointer);
            times.push(time(|| {
                black_box(toolwright_schema::compare(schema, &changed));
            }));
        }
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (half, longest) = (ms(median(times.clone())), ms(quantile(times.clone(), 1.0)));
    println!(
        "  witness of a loss, {} dropped keywords: p50 {half:.2} ms (bound {MEDIAN_MS} ms) {}, \
         longest {longest:.1} ms (bound {LONGEST_MS} ms) {}",
        times.len(),
        verdict(half <= MEDIAN_MS),
        verdict(longest <= LONGEST_MS)
    );
}

/// The pointers of all keywords that are not annotations.
fn keywords(schema: &Value, at: String) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        let here = format!("{at}/{key}");
        match key.as_str() {
            "description" | "default" => continue,
            "properties" => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    found.extend(keywords(value, format!("{here}/{name}")));
                }
            }
            "items" => found.extend(keywords(value, here.clone())),
            _ => {}
        }
        found.push(here);
    }
    found
}

fn without(schema: &Value, pointer: &str) -> Value {
    let mut changed = schema.clone();
    let (parent, keyword) = pointer.rsplit_once('/').expect("a pointer");
    if let Some(Value::Object(members)) = changed.pointer_mut(parent) {
        members.shift_remove(keyword);
    }
    changed
}
