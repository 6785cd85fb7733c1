//! `toolwright show`: prints the record of every tool, as text or as JSON. The text is made in
//! `record_text`, the JSON in `toolwright_workspace::record` (its fields are in docs/record.md).

use serde_json::json;
use toolwright_workspace::record;

use crate::args::{DiagnosticFormat, ShowArgs};
use crate::output::{self, ExitStatus};
use crate::sources::{self, FoundSources, PlanLog};
use crate::{record_text, report};

/// Prints the records to stdout and diagnostics to stderr. Definitions with errors are shown as far
/// as they could be read.
///
/// # Errors
/// If nothing is named or found, the configuration has an error, the async runtime cannot start,
/// the user interrupts, or stdout cannot be written.
pub(crate) fn run(args: &ShowArgs) -> anyhow::Result<ExitStatus> {
    let format = args.report.output_format;
    let how = FoundSources {
        command: "show",
        starts: true,
        trusts_configuration: false,
        // With `json`, every line of stderr is an object.
        announced: format != DiagnosticFormat::Json,
    };
    let selected = sources::resolve(&args.selected, &how)?;
    let limits = sources::configured_limits(selected.named_configuration())?;
    let load = sources::load_resolved(&selected, PlanLog::All(format))?;
    let readings: Vec<_> = load.documents.iter().filter_map(|file| file.reading.as_ref()).collect();
    if args.json {
        let tools: Vec<_> =
            readings.iter().enumerate().flat_map(|(n, r)| record::tools(r, n, &limits)).collect();
        let toolsets: Vec<_> = readings.iter().map(|reading| record::toolset(reading)).collect();
        let record = json!({"tools": tools, "toolsets": toolsets});
        output::print(&format!("{record:#}\n"))?;
    } else {
        let texts: Vec<String> =
            readings.iter().map(|reading| record_text::toolset_text(reading, &limits)).collect();
        output::print(&texts.join("\n"))?;
    }
    Ok(report::print_report(&load, format))
}
