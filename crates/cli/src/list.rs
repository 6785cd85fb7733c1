//! `toolwright list`: prints one line per tool with id, format and the start of the description, in
//! aligned columns. `show` prints everything else.

use std::fmt::Write;

use toolwright_model::Draft;

use crate::args::ListArgs;
use crate::output::{self, ExitStatus};
use crate::{record_text, report, sources};

/// Prints the tools to stdout and diagnostics to stderr.
///
/// # Errors
/// If the async runtime cannot start, the user interrupts, or stdout cannot be written.
pub(crate) fn run(args: &ListArgs) -> anyhow::Result<ExitStatus> {
    let load = sources::load(&args.definitions)?;
    // Collected first: the widths of the columns depend on all rows.
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for file in &load.documents {
        let Some(reading) = &file.reading else { continue };
        for tool in &reading.toolset.tools {
            let id = record_text::tool_label(reading, tool);
            rows.push((id, reading.format.to_string(), first_line(tool)));
        }
    }
    // At most 48, so that one very long id does not push all descriptions out of the terminal.
    let width = |column: fn(&(String, String, String)) -> &str| {
        rows.iter().map(|row| column(row).chars().count()).max().unwrap_or(0).min(48)
    };
    let (ids, formats) = (width(|row| &row.0), width(|row| &row.1));
    let mut text = String::new();
    for (id, format, about) in &rows {
        let line = format!("{id:ids$}  {format:formats$}  {about}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    output::print(&text)?;
    Ok(report::print_report(&load, args.definitions.report.output_format))
}

/// The first line of the description, at most 80 characters.
fn first_line(tool: &Draft) -> String {
    let description = tool.description.ok().map_or("", String::as_str);
    let line = record_text::one_line(description.trim().lines().next().unwrap_or(""));
    record_text::shorten(&line, 80)
}
