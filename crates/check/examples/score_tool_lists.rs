//! Prints the findings of tool poisoning in lists of tools from outside, and the share of tools
//! that have any. For maintainers of the weights: the tools of published servers are not kept here,
//! so a test cannot read them.
//!
//! ```text
//! cargo run -p toolwright-check --example score_tool_lists -- FILE
//! ```
//!
//! FILE is an object `{"server": [tool, …], …}`. Each list is read as if its server had sent it, so
//! the findings are those of `toolwright check`.

#![allow(clippy::print_stdout, reason = "its output is the measurement")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_check::{Subject, check};
use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Document, Finding, Syntax};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: score_tool_lists FILE")?;
    let lists: BTreeMap<String, Vec<Json>> = serde_json::from_slice(&std::fs::read(path)?)?;
    let (mut all, mut reported) = (0, 0);
    for (server, tools) in &lists {
        let mut tools_with_findings = BTreeSet::new();
        for finding in poisoning_findings(server, tools) {
            let number = finding.at.tokens().nth(1).and_then(|token| token.parse::<usize>().ok());
            let name = number.and_then(|n| tools.get(n)).map_or(&Json::Null, |tool| &tool["name"]);
            println!("{server} {name}: {}", finding.message);
            tools_with_findings.extend(number);
        }
        all += tools.len();
        reported += tools_with_findings.len();
    }
    println!("{reported} of {all} tools of {} servers", lists.len());
    Ok(())
}

/// The findings in the texts of a server's tools, at `/tools/N/…` of the list as it is sent.
fn poisoning_findings(server: &str, tools: &[Json]) -> impl Iterator<Item = Finding> + use<> {
    let text = json!({ "tools": tools }).to_string();
    let document = Arc::new(Document::parse(server, text, Syntax::Json));
    let reading = toolwright_formats::live::read_live(&document);
    let subject = Subject::new(reading.dialect.as_deref(), &reading.toolset, &reading.origin);
    let found = check(&subject, &InProcessAnalyzer);
    found.into_iter().filter(|finding| finding.code.name == "MODEL_INSTRUCTION")
}
