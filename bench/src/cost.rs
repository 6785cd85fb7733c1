//! `toolwright-bench cost`: what `toolwright cost` takes on 1,000 tools, process start included.
//! There is no peer: the figure is compared with half a second, below which nobody waits.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::processes::built_program;
use crate::timing::{median, time, verdict};

const TOOLS: usize = 1_000;
const ROUNDS: usize = 9;
/// Seconds.
const LIMIT: f64 = 0.5;

/// Prints the figures: without kept counts, and with them.
pub(crate) fn run() {
    let folder = std::env::temp_dir().join(format!("toolwright-bench-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let tools: Vec<_> = (0..TOOLS).map(tool).collect();
    let file = folder.join("tools.json");
    std::fs::write(&file, json!({ "tools": tools }).to_string()).expect("a file");
    println!(
        "counting the tokens of {TOOLS} tools, process start included; median of {ROUNDS} runs"
    );
    let cache = folder.join("cache");
    let once = || {
        let mut command = Command::new(built_program("toolwright"));
        command.args(["cost", "--json"]).arg(&file).env("XDG_CACHE_HOME", &cache);
        command.stdout(Stdio::null());
        time(|| assert!(command.status().expect("it starts").success())).as_secs_f64()
    };
    let first = || {
        // Missing in the first round.
        let _ = std::fs::remove_dir_all(&cache);
        once()
    };
    report("without kept counts", median((0..ROUNDS).map(|_| first()).collect()));
    report("with kept counts", median((0..ROUNDS).map(|_| once()).collect()));
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

fn report(name: &str, seconds: f64) {
    let ratio = seconds / LIMIT;
    let verdict = verdict(ratio <= 1.0);
    println!("  {name:20} {:6.0} ms   {ratio:.2}x the limit of {LIMIT} s {verdict}", seconds * 1e3);
}

/// A tool of the size that well-known servers have, some 300 tokens, each with other words.
fn tool(n: usize) -> serde_json::Value {
    let property = |m: usize| {
        let text = format!("The value number {} of part {m}, as the owner of {n} wrote it.", n * m);
        (format!("value_{m}"), json!({ "type": "string", "description": text, "title": "Value" }))
    };
    let properties: serde_json::Map<_, _> = (0..8).map(property).collect();
    json!({
        "name": format!("read_part_{n}"),
        "description": format!("Reads part {n} of the archive. ").repeat(8),
        "inputSchema": { "type": "object", "properties": properties, "required": ["value_0"] },
    })
}
