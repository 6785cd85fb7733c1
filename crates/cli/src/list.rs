//! `toolwright list`: prints one line per tool with id, format and the start of the description, in
//! aligned columns. `show` prints everything else, and `check` what is wrong: here problems are
//! one line on stderr with their number and the command that shows them. They are counted by
//! checking, so that both commands report the same number. Only mistakes of the configuration are
//! printed, because a source that is missing from the list would otherwise be missing silently.
//!
//! ```text
//! resolve ─▶ check_selected ─▶ documents with findings ─┬─ quarantine_reasons ─┐
//!                                                       ├─ compare_listed ─────┼─▶ rows, or JSON
//!                                                       └─ filters ────────────┘
//! ```
//!
//! Reasons why a tool is not served come from two places: what the gate quarantines for errors, and
//! what differs from the accepted pins. A tool with both shows the first.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Value as Json, json};
use toolwright_catalog::{QuarantineReason, compare_listed, quarantine_reasons};
use toolwright_formats::Reading;
use toolwright_model::{Draft, Tags, ToolId, Version};
use toolwright_schema::SchemaSide;
use toolwright_source::Severity;
use toolwright_workspace::{LoadResult, SourcePlan};

use crate::args::{ListArgs, SelectedSources};
use crate::environment::{state_folder, variable};
use crate::output::{self, ExitStatus};
use crate::sources::{self, SourceSearch, WaitingLine};
use crate::{check, messages, record_text, report};

/// Prints the tools to stdout, and failures and the number of problems to stderr.
///
/// The check runs in full, though only its numbers are printed; `check` run afterwards shows the
/// same. Findings of definitions count for the exit status, as in `check`, though only their number
/// is shown.
///
/// # Errors
/// If nothing is named or found, the async runtime cannot start, the user interrupts, or stdout
/// cannot be written.
pub(crate) fn run(args: &ListArgs) -> anyhow::Result<ExitStatus> {
    let how = SourceSearch { command: "list", starts: true, announced: !args.quiet };
    sources::refuse_tool_ids(&args.selected, "list")?;
    let selected = sources::resolve(&args.selected, &how)?;
    let line = if args.quiet { WaitingLine::LeftOut } else { WaitingLine::Printed };
    let load = check::check_selected(&selected, line)?;
    let (aside, lines) = set_aside(&selected, &load)?;
    // Collected first: the widths of the columns depend on all rows.
    let mut rows: Vec<(String, String, String)> = Vec::new();
    let mut entries: Vec<Json> = Vec::new();
    let filter = ToolFilter::new(args);
    let versions = ToolVersions::of(&load);
    for (document, aside) in load.documents.iter().zip(aside) {
        let Some(reading) = &document.reading else { continue };
        let mut reasons = quarantine_reasons(document);
        for (why, reason) in reasons.iter_mut().zip(aside) {
            let aside = reason.map(|reason| QuarantineReason { code: "differs", reason });
            *why = why.take().or(aside);
        }
        for (tool, why) in reading.toolset.tools.iter().zip(&reasons) {
            if !filter.accepts(tool) {
                continue;
            }
            if !record_text::is_selected(reading, tool, &args.tool) {
                continue;
            }
            if args.newest && !versions.is_newest(reading, tool) {
                continue;
            }
            let id = record_text::tool_label(reading, tool);
            if args.json {
                entries.push(entry(reading, tool, &id, why.as_ref()));
            }
            let version = versions.shown(reading, tool).filter(|_| !args.newest);
            rows.push((id, reading.format.to_string(), about(tool, version, why.as_ref())));
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
    match args.json {
        true => output::print_json(&json!({ "tools": entries }))?,
        false => output::print(&text)?,
    }
    lines.iter().for_each(|line| messages::print_note(line));
    if !args.quiet {
        output::write_stderr(&report::skipped_files(&load));
        report::print_settings_mistakes(&load);
        print_counts(&load, &rows, &report::check_command(&selected));
    }
    for failure in &load.failures {
        output::print_error(&failure.clone().into());
    }
    Ok(report::exit_status(&load))
}

/// For each document, and each of its tools: why it is set aside, if it is.
type ReasonsAside = Vec<Vec<Option<String>>>;

/// For each document, why its tools are set aside because they differ from the accepted ones; and
/// lines about that for stderr.
///
/// `trust` accepts what differs. Nothing is accepted here: `list` only compares.
///
/// # Errors
/// If there is no such configuration.
fn set_aside(
    selected: &SelectedSources,
    load: &LoadResult,
) -> anyhow::Result<(ReasonsAside, Vec<String>)> {
    let config = sources::find_configuration(selected.named_configuration())?;
    let options = selected.reading.options(false);
    let plan = config.map(|config| SourcePlan::from_config(&config, options, &variable));
    let plan = plan.unwrap_or_default();
    let folder = state_folder().map_err(|error| format!("{error:#}"));
    Ok(compare_listed(folder, plan.trust, plan.lock, &load.documents))
}

/// A tool as an object of `--json`. `show --json` has everything.
///
/// Keys are part of the interface. `unusable` names the schemas that do not compile, and
/// `quarantined` is null for a tool that agents would get.
fn entry(reading: &Reading, tool: &Draft, id: &str, why: Option<&QuarantineReason>) -> Json {
    let unusable = [SchemaSide::Input, SchemaSide::Output]
        .into_iter()
        .filter(|side| record_text::schema_problem(tool, *side).is_some())
        .map(SchemaSide::field);
    json!({
        "id": id,
        "format": reading.format.to_string(),
        "source": reading.origin.document().source().name(),
        "description": tool.description.ok(),
        "version": tool.version.ok().map(Version::authored),
        "tags": tool.details.tags.normalised().iter().map(|it| it.as_str()).collect::<Vec<_>>(),
        "deprecated": tool.details.deprecation.deprecated,
        "deprecationMessage": tool.details.deprecation.message,
        "example": example(tool),
        "unusable": unusable.collect::<Vec<_>>(),
        "quarantined": why.map(|why| &why.reason),
    })
}

/// The arguments of the first example of a success. For programs that want a call to try. Examples
/// of an expected error would fail.
fn example(tool: &Draft) -> Option<&Json> {
    let is_success = |it: &&toolwright_model::Example| it.error.is_none();
    tool.details.examples.iter().filter(is_success).find_map(|it| it.input.as_ref())
}

/// The versions of the tools that have one, by id.
///
/// Formats with versions may have several definitions of one id; calls mean the newest. Tools
/// without a version are not in it.
struct ToolVersions<'a>(HashMap<ToolId, Vec<&'a Version>>);

impl<'a> ToolVersions<'a> {
    fn of(load: &'a LoadResult) -> ToolVersions<'a> {
        let mut versions: HashMap<ToolId, Vec<&Version>> = HashMap::new();
        for reading in load.documents.iter().filter_map(|file| file.reading.as_ref()) {
            for tool in &reading.toolset.tools {
                let id = tool.id(reading.toolset.namespace.ok());
                if let (Some(id), Some(version)) = (id, tool.version.ok()) {
                    versions.entry(id).or_default().push(version);
                }
            }
        }
        ToolVersions(versions)
    }

    /// All versions of the tool's id.
    fn all(&self, reading: &Reading, tool: &Draft) -> &[&'a Version] {
        let id = tool.id(reading.toolset.namespace.ok());
        id.and_then(|id| self.0.get(&id)).map_or(&[], Vec::as_slice)
    }

    /// Whether no other version of the tool is newer. One without a version is the oldest. Two
    /// definitions of the same version are both the newest.
    fn is_newest(&self, reading: &Reading, tool: &Draft) -> bool {
        self.all(reading, tool)
            .iter()
            .all(|other| tool.version.ok().is_some_and(|own| !other.precedence(own).is_gt()))
    }

    /// The version of a tool whose id has several. `None` if there is only one: then the version
    /// says nothing that the id does not.
    fn shown<'t>(&self, reading: &Reading, tool: &'t Draft) -> Option<&'t Version> {
        tool.version.ok().filter(|_| self.all(reading, tool).len() > 1)
    }
}

/// Which tools are listed. Every condition that is given must hold.
struct ToolFilter<'a> {
    /// Normalised as those of the tools are, so that `--tag "Web Search"` finds `web-search`.
    tags: Tags,
    capabilities: &'a [String],
    deprecated: bool,
}

impl ToolFilter<'_> {
    fn new(args: &ListArgs) -> ToolFilter<'_> {
        ToolFilter {
            tags: Tags::new(args.tag.clone()),
            capabilities: &args.capability,
            deprecated: args.deprecated,
        }
    }

    /// Whether the tool has everything that was asked for.
    fn accepts(&self, tool: &Draft) -> bool {
        let tags = tool.details.tags.normalised();
        let needs = |wanted: &String| {
            tool.needs.iter().any(|given| given.ok().is_some_and(|given| given.as_str() == wanted))
        };
        self.tags.normalised().iter().all(|tag| tags.contains(tag))
            && self.capabilities.iter().all(needs)
            && (!self.deprecated || tool.details.deprecation.deprecated)
    }
}

/// Characters of a description, and of the message of a deprecation, at most. With id and format a
/// line has about 120 columns then.
const MAX_DESCRIPTION: usize = 80;

/// The first paragraph of a description on one line, or as much of it as can be shown. What only
/// introduces the next lines, such as `Purpose:` or a heading of Markdown, is continued with them.
/// Example: "Purpose:\n\nReads a file.\nMore." becomes "Purpose: Reads a file. More.".
fn beginning(description: &str) -> String {
    let (mut text, mut is_introduction) = (String::new(), true);
    for line in description.lines().map(str::trim) {
        if line.is_empty() && is_introduction {
            continue;
        }
        if line.is_empty() || text.chars().count() > MAX_DESCRIPTION {
            break;
        }
        is_introduction = line.ends_with(':') || line.starts_with('#');
        text.push_str(line.trim_start_matches('#'));
        text.push(' ');
    }
    record_text::one_line(&text)
}

/// The beginning of the description, behind what a user must know before they choose the tool.
/// Example: `[deprecated: use read_text] Reads a file. #files`.
fn about(tool: &Draft, version: Option<&Version>, why: Option<&QuarantineReason>) -> String {
    let description = tool.description.ok().map_or("", String::as_str);
    let line = record_text::shorten(&beginning(description), MAX_DESCRIPTION);
    let mut marks: Vec<String> = [SchemaSide::Input, SchemaSide::Output]
        .into_iter()
        .filter(|side| record_text::schema_problem(tool, *side).is_some())
        .map(|side| format!("{} not usable", side.field()))
        .collect();
    // Tools with a schema that cannot be used are marked above.
    if let Some(why) = why.filter(|_| marks.is_empty()) {
        marks.push(format!("quarantined: {}", why.code));
    }
    marks.extend(version.map(|version| record_text::one_line(version.authored())));
    let deprecation = &tool.details.deprecation;
    if deprecation.deprecated {
        let message = record_text::one_line(deprecation.message.as_deref().unwrap_or_default());
        let separator = if message.is_empty() { "" } else { ": " };
        let message = record_text::shorten(&message, MAX_DESCRIPTION);
        marks.push(format!("deprecated{separator}{message}"));
    }
    let tags: Vec<&str> = tool.details.tags.normalised().iter().map(|tag| tag.as_str()).collect();
    let tags = if tags.is_empty() { String::new() } else { format!(" #{}", tags.join(" #")) };
    match marks.is_empty() {
        true => line + &tags,
        false => format!("[{}] {line}{tags}", marks.join(", ")),
    }
}

/// Writes how many problems were found and which command shows them, and that a filter left nothing
/// to list: an empty output would look as if there were no tools. `check` is the command line that
/// shows the problems.
fn print_counts(load: &LoadResult, rows: &[(String, String, String)], check: &str) {
    let readings = load.documents.iter().flat_map(|file| &file.reading);
    let tools: usize = readings.map(|reading| reading.toolset.tools.len()).sum();
    if rows.is_empty() && tools > 0 {
        messages::print_note(&format!("no tool of {tools} matches"));
    }
    // Notes are not problems.
    let problems = load.documents.iter().flat_map(|file| &file.diagnostics);
    let count = |severity| problems.clone().filter(|it| it.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let counts = [(errors, "error"), (warnings, "warning")].into_iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, word)| report::plural(n, word)).collect();
    if !counts.is_empty() {
        let them = if errors + warnings == 1 { "it" } else { "them" };
        messages::print_note(&format!("{}: `{check}` shows {them}", counts.join(", ")));
    }
}
