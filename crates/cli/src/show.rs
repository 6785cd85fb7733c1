//! `toolwright show`: prints the record of every tool, as text or as JSON. The text is made in
//! `record_text`, the JSON in `toolwright_workspace::record` (its fields are in docs/record.md).
//!
//! Nothing is judged here: a definition with errors is shown as far as it was read. No rule runs;
//! what was found while reading goes to stderr.

use anyhow::bail;
use serde_json::Value as Json;
use toolwright_formats::Reading;
use toolwright_workspace::{LoadedDocument, record, worker_bodies};

use crate::args::{DiagnosticFormat, ShowArgs};
use crate::output::{self, ExitStatus};
use crate::sources::{self, PlanLog, SourceSearch};
use crate::{record_text, report, script_analyzer};

/// Prints the records to stdout and diagnostics to stderr. Definitions with errors are shown as far
/// as they could be read. `--tool` selects tools by id or name, in all documents. Where bodies of
/// BTCP tools run is found out for the text only: it needs the analyzer.
///
/// # Errors
/// If nothing is named or found, the configuration has an error, the async runtime cannot start,
/// the user interrupts, or stdout cannot be written.
pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<ExitStatus> {
    let format = args.report.output_format;
    let how = SourceSearch {
        command: "show",
        starts: true,
        // With `json`, every line of stderr is an object.
        announced: format != DiagnosticFormat::Json,
    };
    sources::refuse_tool_ids(&args.selected, "show")?;
    let selected = sources::resolve(&args.selected, &how)?;
    let limits = sources::configured_limits(selected.named_configuration())?;
    let load = sources::load_resolved(&selected, PlanLog::All(format))?;
    let readings = load.documents.iter().filter_map(|file| Some((file, file.reading.as_ref()?)));
    let is_shown = |reading: &Reading| -> Vec<bool> {
        let tools = reading.toolset.tools.iter();
        tools.map(|tool| record_text::is_selected(reading, tool, &args.tool)).collect()
    };
    // With `--tool`, without the toolsets that have no such tool.
    let found: Vec<(&LoadedDocument, &Reading, Vec<bool>)> = readings
        .map(|(file, reading)| (file, reading, is_shown(reading)))
        .filter(|(_, _, shown)| args.tool.is_empty() || shown.contains(&true))
        .collect();
    let readings: Vec<(&Reading, Vec<bool>)> =
        found.iter().map(|(_, reading, shown)| (*reading, shown.clone())).collect();
    if readings.is_empty() && !args.tool.is_empty() && load.failures.is_empty() {
        bail!("no tool has the id or name `{}`", args.tool.join("` or `"));
    }
    if args.json {
        let of = |(n, (reading, shown)): (usize, &(&Reading, Vec<bool>))| {
            let tools = record::tools(reading, n, &limits).into_iter().zip(shown.clone());
            tools.filter_map(|(tool, shown)| shown.then_some(tool)).collect::<Vec<_>>()
        };
        let tools: Vec<_> = readings.iter().enumerate().flat_map(of).collect();
        let toolsets: Vec<_> = readings.iter().map(|(it, _)| record::toolset(it)).collect();
        // Not `json!`, which would copy every value.
        let lists = [("tools", tools), ("toolsets", toolsets)];
        let record: Json =
            lists.into_iter().map(|(name, list)| (name.to_owned(), Json::Array(list))).collect();
        output::print(&format!("{record:#}\n"))?;
    } else {
        let analyzer = script_analyzer::new_analyzer();
        let text = |(file, reading, shown): &(&LoadedDocument, &Reading, Vec<bool>)| {
            let workers = worker_bodies(file, &*analyzer);
            record_text::toolset_text(reading, shown, &limits, &workers)
        };
        let texts: Vec<String> = found.iter().map(text).collect();
        output::print(&texts.join("\n"))?;
    }
    Ok(report::print_report(&load, format))
}
