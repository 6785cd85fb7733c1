//! `toolwright cost`: prints how many tokens each tool, each source and all of them cost, and what
//! would save most. What is counted, and how, is in `toolwright_workspace`.
//!
//! ```text
//!     1234   61.7 %  notion, 12 tools      a source, then its tools, then
//!     2000 tokens in all: …                the total, then
//!      300  notion: advice (tools)         the savings, largest first
//! ```

use std::fmt::Write;

use serde_json::json;
use toolwright_source::Severity;
use toolwright_workspace::{CostReport, Saving, SourceCost};

use crate::args::{CostArgs, DiagnosticFormat};
use crate::messages::print_note;
use crate::output::{self, ExitStatus};
use crate::record_text::{one_line, shorten};
use crate::report::{self, plural};
use crate::sources::{self, PlanLog, SourceSearch};

/// The most savings that the text lists. The JSON has all. A person acts on the first ones, and
/// runs the command again.
const MOST_SAVINGS: usize = 5;
/// The most tools that a saving names.
const MOST_TOOLS: usize = 3;

/// What was only found is not started without a question. Servers are started, because only they
/// know what their tools cost.
const FIND: SourceSearch = SourceSearch { command: "cost", starts: true, announced: true };

/// Prints the costs to stdout, and sources that could not be read to stderr. Errors inside of
/// definitions do not change the exit status: what could be read was counted. Exits with 2 and
/// prints no costs if nothing at all could be read.
///
/// # Errors
/// If there is nothing to count, the async runtime cannot start, the user interrupts, or stdout
/// cannot be written.
pub(crate) fn run(args: &CostArgs) -> anyhow::Result<ExitStatus> {
    let selected = sources::resolve(&args.selected, &FIND)?;
    let load = sources::load_resolved(&selected, PlanLog::All(DiagnosticFormat::Full))?;
    let cost = sources::workspace().cost(&load.documents);
    // "0 tokens in all" beside a failure or a broken configuration would look like a result.
    let mut status = report::settings_status(&load);
    let nothing_read = status != ExitStatus::Clean
        && load.documents.iter().all(|document| document.reading.is_none());
    if nothing_read {
        status = ExitStatus::CouldNotRun;
    }
    match args.json {
        _ if nothing_read => {}
        true => output::print_json(&as_json(&cost))?,
        false => output::print(&as_text(&cost, &report::tools_and_sources(&load)))?,
    }
    // A definition with errors may have more tools than could be read. Mistakes of the
    // configuration have been printed before it was loaded.
    let documents = load.documents.iter().filter(|document| document.reading.is_some());
    let errors = documents.flat_map(|document| &document.diagnostics);
    let errors = errors.filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    if errors > 0 {
        let (check, them) =
            (report::check_command(&selected), if errors == 1 { "it" } else { "them" });
        print_note(&format!("{}: `{check}` shows {them}", plural(errors, "error")));
    }
    output::write_stderr(&report::skipped_files(&load));
    for failure in &load.failures {
        output::print_error(&failure.clone().into());
    }
    Ok(status)
}

/// The costs as an object. `tokenizer` names the vocabulary, because other models count
/// differently. Keys are part of the interface.
fn as_json(cost: &CostReport) -> serde_json::Value {
    let source = |source: &SourceCost| {
        let tools = source.tools.iter();
        let tools: Vec<_> =
            tools.map(|tool| json!({ "name": tool.name, "tokens": tool.tokens })).collect();
        json!({ "source": source.name, "tokens": source.tokens(), "tools": tools })
    };
    let saving = |saving: &Saving| {
        json!({
            "kind": saving.kind.id(), "advice": saving.kind.advice(), "source": saving.source,
            "tokens": saving.tokens, "tools": saving.tools,
        })
    };
    json!({
        "tokenizer": "o200k",
        "tokens": cost.tokens(),
        "sources": cost.sources.iter().map(source).collect::<Vec<_>>(),
        "savings": cost.savings.iter().map(saving).collect::<Vec<_>>(),
    })
}

/// The costs as a table: each source with its tools below it, the total, then the savings. The
/// lines that matter most are the last ones, because a list of tools can be long. `counted` is how
/// many tools of which sources were read. A source with one tool takes one line.
fn as_text(cost: &CostReport, counted: &str) -> String {
    let mut text = String::new();
    let all = cost.tokens();
    let mut row = |tokens: usize, label: &str| {
        // 0.1 % is one in a thousand, which is as much as anybody acts on.
        let share = tokens as f64 * 100.0 / all.max(1) as f64;
        let _ = writeln!(text, "{tokens:>8}  {share:>5.1} %  {label}");
    };
    for source in &cost.sources {
        let name = one_line(&source.name);
        if let [tool] = source.tools.as_slice() {
            row(tool.tokens, &format!("{name}: {}", label(&tool.name)));
            continue;
        }
        row(source.tokens(), &format!("{name}, {}", plural(source.tools.len(), "tool")));
        for tool in &source.tools {
            row(tool.tokens, &format!("  {}", label(&tool.name)));
        }
    }
    let _ = writeln!(text, "{all:>8} tokens in all: {counted} (o200k)");
    if !cost.savings.is_empty() {
        text.push_str("\nwhat would save most:\n");
    }
    for saving in cost.savings.iter().take(MOST_SAVINGS) {
        let Saving { kind, source, tokens, tools } = saving;
        let named: Vec<String> = tools.iter().take(MOST_TOOLS).map(|name| label(name)).collect();
        let more = match tools.len().saturating_sub(MOST_TOOLS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (source, advice) = (one_line(source), kind.advice());
        let _ = writeln!(text, "{tokens:>8}  {source}: {advice} ({}{more})", named.join(", "));
    }
    text
}

/// The name of a tool on one line, at most as long as MCP allows.
fn label(name: &str) -> String {
    shorten(&one_line(name), 128)
}
