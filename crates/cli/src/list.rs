//! `toolwright list`: one line per tool.

use std::fmt::Write;

use toolwright_model::Draft;

use crate::args::ListArgs;
use crate::output::{self, Exit};
use crate::{card, report, sources};

pub(crate) fn run(args: &ListArgs) -> anyhow::Result<Exit> {
    let load = sources::load(&args.inputs)?;
    let mut rows: Vec<(String, String, String)> = Vec::new();
    for file in &load.documents {
        let Some(reading) = &file.reading else { continue };
        for tool in &reading.toolset.tools {
            let id = card::id(reading, tool);
            rows.push((id, reading.format.to_string(), first_line(tool)));
        }
    }
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
    Ok(report::finish(&load, args.inputs.report.output_format))
}

/// The first line of the description, cut to what fits a terminal.
fn first_line(tool: &Draft) -> String {
    let description = tool.description.ok().map_or("", String::as_str);
    let line = card::plain(description.trim().lines().next().unwrap_or(""));
    if line.chars().count() <= 80 {
        line
    } else {
        format!("{}…", line.chars().take(79).collect::<String>())
    }
}
