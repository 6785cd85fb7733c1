//! The whole report for people: what has errors first, and all of them; then each kind of warning
//! once, and notes as numbers.
//!
//! ```text
//! findings ─ by severity ─ fold ─▶ entries ─┬─ of a file ────▶ excerpt with carets
//!                                           └─ of a server ──▶ lines under the server's name
//! ```
//!
//! Ten servers have hundreds of findings, most of them the same few in one tool after the other,
//! and nobody reads the fifth page. So the same warning many times in one source is one entry, with
//! its number and its first tools, and notes are shown on request. Codes whose findings are about
//! different words each time, such as attacks on a model, are shown one by one up to a higher
//! number. An error is never folded or left out; only its excerpt gives way to one line where there
//! are very many. The ids that two documents have in common are one entry that lists all of them.
//! Each server has one section with all its findings. The other forms carry every finding by
//! itself.
//!
//! ```text
//! notion (.mcp.json:4)
//!   warning[CODE] 3 times, first in create_page › properties.parent: the message
//!     in 3 tools: create_page, move_page, delete_page
//!     help: what to do
//!
//! info[OTHER_CODE] 12 times: the title of the code
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::full::full_with_note;
use super::place::{path_in_words, shorten};
use super::{Colour, concise, visible, wrap};
use crate::{Diagnostic, Severity, SharedId};

/// A finding to report.
#[derive(Clone, Copy, Debug)]
pub struct ReportedFinding<'d> {
    /// The finding with its place.
    pub diagnostic: &'d Diagnostic,
    /// Whether its lines may hold a secret and must not be shown.
    pub secret: bool,
}

/// How [`grouped`] writes.
#[derive(Clone, Copy, Debug)]
pub struct GroupedOptions {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether to write escape sequences.
    pub colour: Colour,
    /// Whether notes are shown like warnings, and not only counted.
    pub notes: bool,
    /// The codes whose findings are shown one by one, up to [`MOST_OF_SEPARATE_CODES`] in a source.
    pub separate_codes: &'static [&'static str],
}

/// Findings of one code in one source that are shown one by one; more of them become one entry.
const MOST_SEPARATE: usize = 3;
/// The same for codes of [`GroupedOptions::separate_codes`]. Further ones are counted.
pub const MOST_OF_SEPARATE_CODES: usize = 10;
/// Tools or places that such an entry names.
const NAMED_PLACES: usize = 3;
/// Excerpts in one report. Further errors have one line each: a thousand excerpts are a book.
const MOST_EXCERPTS: usize = 100;

/// The findings as text; empty if there are none, otherwise it ends with an empty line. Findings of
/// one document are expected in the order of its text.
pub fn grouped<'d>(
    findings: impl IntoIterator<Item = ReportedFinding<'d>>,
    options: GroupedOptions,
) -> String {
    let findings: Vec<ReportedFinding<'d>> = findings.into_iter().collect();
    let mut report =
        ReportText { options, out: String::new(), excerpts: 0, explained: HashSet::new() };
    let of = |severity| findings.iter().filter(move |it| it.diagnostic.severity == severity);
    let mut entries = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        if severity == Severity::Info && !options.notes {
            continue;
        }
        entries.extend(fold(&of(severity).copied().collect::<Vec<_>>(), options.separate_codes));
    }
    let is_folded = entries.iter().any(|entry| entry.all.len() > 1);
    by_server(entries).into_iter().for_each(|section| report.section(section));
    let notes = if options.notes { 0 } else { report.count_notes(of(Severity::Info)) };
    let mut hints = Vec::new();
    if notes > 0 {
        hints.push("`--notes` prints each of them");
    }
    if is_folded {
        hints.push("`--output-format concise` lists every finding");
    }
    if !hints.is_empty() {
        report.out += &format!("{}\n\n", hints.join(", "));
    }
    report.out
}

/// One finding, or many of one code in one source.
struct ReportEntry<'d> {
    first: ReportedFinding<'d>,
    /// All of them, the first included.
    all: Vec<&'d Diagnostic>,
    /// Whether others of the same code are shown before it.
    is_rest: bool,
}

/// What the findings of one entry have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FoldKey<'d> {
    /// The code, and the server, or all files together: a folder of definitions is one source, and
    /// its files often have one tool each.
    Code(Option<&'d str>, &'d str),
    /// The pair of documents whose tools have the same ids.
    SharedIds(&'d str, &'d str),
}

/// `None` for a finding that is never folded.
fn fold_key(d: &Diagnostic) -> Option<FoldKey<'_>> {
    match &d.shared_id {
        Some(shared) => Some(FoldKey::SharedIds(d.source_name(), &shared.other)),
        None if d.severity == Severity::Error => None,
        None => Some(FoldKey::Code(server_of(d), d.code.name)),
    }
}

impl ReportEntry<'_> {
    /// The text of an entry that shows no single finding: the ids that two documents have in
    /// common, or the number of findings that are left.
    ///
    /// `None` for an entry that is shown by its first finding.
    fn in_short(&self) -> Option<String> {
        let count = self.all.len();
        let shared: Vec<&SharedId> =
            self.all.iter().filter_map(|d| d.shared_id.as_deref()).collect();
        match shared.first() {
            _ if count < 2 => None,
            Some(first) => {
                let ids: Vec<String> = shared.iter().map(|shared| visible(&shared.id)).collect();
                let documents = [first.other.as_str(), self.first.diagnostic.source_name()];
                let [one, two] = documents.map(visible);
                Some(format!("{count} ids are in both `{one}` and `{two}`: {}", ids.join(", ")))
            }
            None if self.is_rest => {
                let tools = tools_of(&self.all);
                let tools = match tools.len() {
                    0 => String::new(),
                    1 => format!(" in {}", first_names(&tools)),
                    n => format!(" in {n} tools: {}", first_names(&tools)),
                };
                let hint = "`--output-format concise` lists every finding";
                Some(format!("{count} more{tools} ({hint})"))
            }
            None => None,
        }
    }
}

/// The first names, and the number of the others: `a, b, c and 2 more`.
fn first_names(tools: &[&str]) -> String {
    let named: Vec<String> = tools.iter().take(NAMED_PLACES).map(|it| visible(it)).collect();
    let more = tools.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// The server that a finding is about; `None` for a finding about a file. What is wrong with a
/// server's entry in a servers file is about the server.
fn server_of(d: &Diagnostic) -> Option<&str> {
    (d.about.is_some() || d.source.is_answer()).then(|| d.source_name())
}

/// Makes one entry of the findings that have too much in common to be shown one by one.
///
/// Counts first, because whether a finding is folded depends on how many follow it. A code of
/// `separate_codes` is shown one by one up to its number, and the rest of it is one entry.
fn fold<'d>(findings: &[ReportedFinding<'d>], separate_codes: &[&str]) -> Vec<ReportEntry<'d>> {
    let mut counts: HashMap<FoldKey<'d>, usize> = HashMap::new();
    for key in findings.iter().filter_map(|it| fold_key(it.diagnostic)) {
        *counts.entry(key).or_default() += 1;
    }
    let mut entries: Vec<ReportEntry<'d>> = Vec::new();
    // The entry of each key that is folded, and how many findings of each key were shown before.
    let mut folded: HashMap<FoldKey<'d>, usize> = HashMap::new();
    let mut shown: HashMap<FoldKey<'d>, usize> = HashMap::new();
    for finding in findings {
        let d = finding.diagnostic;
        let is_separate = separate_codes.contains(&d.code.name);
        let most = if is_separate { MOST_OF_SEPARATE_CODES } else { MOST_SEPARATE };
        let mut is_rest = false;
        if let Some(key) = fold_key(d).filter(|key| counts[key] > most) {
            let shown = shown.entry(key).or_default();
            is_rest = is_separate && *shown == most;
            if !is_separate || is_rest {
                let known = *folded.entry(key).or_insert(entries.len());
                if let Some(entry) = entries.get_mut(known) {
                    entry.all.push(d);
                    continue;
                }
            } else {
                *shown += 1;
            }
        }
        entries.push(ReportEntry { first: *finding, all: vec![d], is_rest });
    }
    entries
}

/// The entries of each server, and those of all files for each severity, in the order of their
/// first ones. Errors come first in `entries`, so sections with errors do, too.
fn by_server(entries: Vec<ReportEntry<'_>>) -> Vec<Vec<ReportEntry<'_>>> {
    let mut sections: Vec<Vec<ReportEntry<'_>>> = Vec::new();
    let mut known: HashMap<Result<&str, Severity>, usize> = HashMap::new();
    for entry in entries {
        let d = entry.first.diagnostic;
        let section = *known.entry(server_of(d).ok_or(d.severity)).or_insert(sections.len());
        match sections.get_mut(section) {
            Some(section) => section.push(entry),
            None => sections.push(vec![entry]),
        }
    }
    sections
}

/// The text so far.
struct ReportText {
    options: GroupedOptions,
    out: String,
    /// How many findings were shown with lines of their file, up to [`MOST_EXCERPTS`].
    excerpts: usize,
    /// The codes whose help was printed for a server. The user did not write its tools, and the
    /// same advice ten times is noise; `explain` has it, too.
    explained: HashSet<&'static str>,
}

impl ReportText {
    /// The entries of one server, or of all files.
    fn section(&mut self, entries: Vec<ReportEntry<'_>>) {
        let Some(name) = entries.first().and_then(|entry| server_of(entry.first.diagnostic)) else {
            return self.file_entries(&entries);
        };
        let answer = |entry: &&ReportEntry<'_>| entry.first.diagnostic.source.is_answer();
        // The file that names the server, if there is one: what the user can edit.
        let anchor = entries.iter().find(answer).and_then(|entry| entry.first.diagnostic.file());
        let anchor = anchor.filter(|(source, _)| source.name() != name);
        let anchor = anchor.map_or(String::new(), |(source, span)| {
            let line = span.map(|span| source.line_column(span.start as usize).line);
            let line = line.map_or(String::new(), |line| format!(":{line}"));
            format!(" ({}{line})", visible(source.name()))
        });
        let name = self.styled(BOLD, &visible(name));
        self.out += &format!("{name}{anchor}\n");
        entries.iter().for_each(|entry| self.server_entry(entry));
        self.out.push('\n');
    }

    /// The entries of files: an excerpt each, or one line where the lines may hold a secret or
    /// where there are too many. In the latter case no empty line follows.
    fn file_entries(&mut self, entries: &[ReportEntry<'_>]) {
        for entry in entries {
            if let Some(text) = entry.in_short() {
                let d = entry.first.diagnostic;
                let label = format!("{}[{}]", d.severity.label(), d.code.name);
                self.wrapped(0, Some((&label, d.severity)), &text);
                d.help.iter().filter(|_| !entry.is_rest).for_each(|help| {
                    self.wrapped(2, None, &format!("help: {}", visible(help)));
                });
                self.out.push('\n');
                continue;
            }
            let (d, note) = (entry.first.diagnostic, places_in_files(&entry.all));
            let is_short = self.excerpts >= MOST_EXCERPTS;
            if entry.first.secret || is_short {
                self.wrapped(0, None, &concise(d));
                let help = d.help.iter().filter(|_| !is_short).map(|help| visible(help));
                for line in help.chain(note) {
                    self.wrapped(2, None, &format!("= {line}"));
                }
                if !is_short {
                    self.out.push('\n');
                }
            } else {
                self.excerpts += 1;
                let GroupedOptions { width, colour, .. } = self.options;
                self.out += &full_with_note(d, colour, width, note.as_deref());
                self.out += "\n\n";
            }
        }
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// An entry below the name of its server.
    fn server_entry(&mut self, entry: &ReportEntry<'_>) {
        let d = entry.first.diagnostic;
        let place = place_at_server(d);
        let (count, tools) = (entry.all.len(), tools_of(&entry.all));
        let place = match count {
            1 => place,
            _ if place.is_empty() => format!("{count} times"),
            _ => format!("{count} times, first in {place}"),
        };
        let colon = if place.is_empty() { "" } else { ": " };
        let label = format!("{}[{}]", d.severity.label(), d.code.name);
        if let Some(text) = entry.in_short() {
            self.wrapped(2, Some((&label, d.severity)), &text);
            if !entry.is_rest {
                let help = d.help.iter().map(|help| format!("help: {}", visible(help)));
                help.for_each(|help| self.wrapped(4, None, &help));
            }
            return;
        }
        self.wrapped(
            2,
            Some((&label, d.severity)),
            &format!("{place}{colon}{}", visible(&d.message)),
        );
        if let Some(words) = quoted_words(&entry.first) {
            self.wrapped(4, None, &words);
        }
        if tools.len() > 1 {
            let wasted = entry.all.iter().map(|d| d.wasted_bytes).sum::<usize>();
            let cost = if wasted > 0 { format!(", {wasted} bytes in all") } else { String::new() };
            let text = format!("in {} tools{cost}: {}", tools.len(), first_names(&tools));
            self.wrapped(4, None, &text);
        }
        // A finding without help must not keep the next one of its code from showing its own.
        let is_new = !d.help.is_empty() && self.explained.insert(d.code.name);
        if d.severity == Severity::Error || is_new {
            d.help
                .iter()
                .for_each(|help| self.wrapped(4, None, &format!("help: {}", visible(help))));
        }
    }

    /// One line for each code of the notes, the most frequent first. Returns how many notes there
    /// are.
    fn count_notes<'f>(&mut self, notes: impl Iterator<Item = &'f ReportedFinding<'f>>) -> usize {
        let mut counts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        for note in notes {
            let code = note.diagnostic.code;
            counts.entry(code.name).or_insert((0, code.title())).0 += 1;
        }
        let mut counts: Vec<(usize, &str, &str)> =
            counts.into_iter().map(|(name, (count, title))| (count, name, title)).collect();
        counts.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
        for (count, name, title) in &counts {
            let label = format!("{}[{name}]", Severity::Info.label());
            let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
            let text = shorten(&format!("{label} {times}: {title}"), self.options.width);
            self.out += &text.replacen(&label, &self.styled(colour_of(Severity::Info), &label), 1);
            self.out.push('\n');
        }
        if !counts.is_empty() {
            self.out.push('\n');
        }
        counts.iter().map(|(count, ..)| count).sum()
    }

    /// A paragraph that is broken between words, its further lines indented by two more.
    fn wrapped(&mut self, indent: usize, label: Option<(&str, Severity)>, text: &str) {
        let text = match label {
            Some((label, _)) => format!("{label} {text}"),
            None => text.to_owned(),
        };
        let mut text = wrap(&text, indent, self.options.width);
        if let Some((label, severity)) = label {
            text = text.replacen(label, &self.styled(colour_of(severity), label), 1);
        }
        self.out += &text;
    }

    /// The text in a style, if the report has colours.
    fn styled(&self, style: &str, text: &str) -> String {
        match self.options.colour {
            Colour::On => format!("{style}{text}{RESET}"),
            Colour::Off => text.to_owned(),
        }
    }
}

const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// The colours of `full`.
fn colour_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "\x1b[1m\x1b[91m",
        Severity::Warning => "\x1b[1m\x1b[33m",
        Severity::Info => "\x1b[1m\x1b[94m",
    }
}

/// The place of a finding below the name of its server: the tool and the path inside it, or the
/// line of the servers file.
fn place_at_server(d: &Diagnostic) -> String {
    if !d.source.is_answer() {
        let start =
            d.line_column().map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
        return format!("{}{start}", visible(d.source.name()));
    }
    let path = path_in_words(&d.path_in_tool());
    let parts = [d.tool.as_ref().map_or("", |tool| tool.name.as_str()), path.as_str()];
    let parts =
        parts.iter().filter(|part| !part.is_empty()).map(|part| shorten(&visible(part), 120));
    parts.collect::<Vec<_>>().join(" › ")
}

/// The names of the tools that findings lie in, in order.
fn tools_of<'d>(all: &[&'d Diagnostic]) -> Vec<&'d str> {
    let mut seen = HashSet::new();
    let names = all.iter().filter_map(|d| Some(d.tool.as_ref()?.name.as_str()));
    names.filter(|name| seen.insert(*name)).collect()
}

/// The number of findings of one entry in files, and the first places behind the one that is shown;
/// `None` if it is alone.
fn places_in_files(all: &[&Diagnostic]) -> Option<String> {
    if all.len() < 2 {
        return None;
    }
    let place = |d: &&Diagnostic| {
        let line = d.line_column().map_or(1, |(line, _)| line);
        let tool = d.tool.as_ref().map(|tool| format!(" ({})", shorten(&visible(&tool.name), 60)));
        let tool = tool.unwrap_or_default();
        match d.source.name() == all[0].source.name() {
            true => format!("line {line}{tool}"),
            false => format!("{}:{line}{tool}", visible(d.source.name())),
        }
    };
    let tools = tools_of(all).len();
    let files = all.iter().map(|d| d.source.name()).collect::<BTreeSet<_>>().len();
    let tools = if tools > 1 { format!(" in {tools} tools") } else { String::new() };
    let files = if files > 1 { format!(" of {files} files") } else { String::new() };
    let named: Vec<String> = all.iter().skip(1).take(NAMED_PLACES - 1).map(place).collect();
    let more = all.len() - 1 - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("{} times{tools}{files}; also at {}{more}", all.len(), named.join(", ")))
}

/// The value that a finding in an answer points at, if it is a text or number that the message does
/// not contain: nobody can look it up in a file.
fn quoted_words(finding: &ReportedFinding<'_>) -> Option<String> {
    let d = finding.diagnostic;
    let slice = d.source.slice(d.span?).trim();
    let words = slice.trim_matches('"');
    let is_scalar = !words.is_empty() && !slice.starts_with(['{', '[']) && !slice.contains('\n');
    // Something that is missing is shown at the key of what lacks it, which is part of the path.
    let is_key = d.path.tokens().any(|token| token == words);
    // Enough to recognise them: messages shorten what they quote.
    let start = &words[..words.floor_char_boundary(20)];
    let is_new = is_scalar && !is_key && !d.message.contains(start);
    (is_new && d.source.is_answer() && !finding.secret).then(|| shorten(&visible(slice), 100))
}
