//! The form for people: the lines of the file with carets under the place, as rustc shows it.
//!
//! `annotate_snippets` draws. This file chooses what it sees, because given a whole file it would
//! print too much or take too long: a few lines around all places, or one excerpt for each place
//! where they lie far apart, and of a very long line (minified JSON) only a window around the
//! place. Characters that would disturb the layout or the terminal are replaced by others of the
//! same length in bytes, so that every offset stays valid.
//!
//! The answer of a server has no lines that a user could open: its place is described in words.
//!
//! ```text
//! error[INVALID_TYPE]: `timeout` is a string, expected an integer
//!  --> tool.json:6:14
//!   |
//! 6 |   "timeout": "5000"
//!   |              ^^^^^^
//!   |
//!   = help: …
//! ```

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{broken, place, visible};
use crate::{Diagnostic, Severity, Source, Span};

/// Whether to write escape sequences for colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// With escape sequences, for a terminal.
    On,
    /// Plain text, for files and pipes.
    Off,
}

/// Lines longer than this many bytes are shown as a window around the place; shorter ones, too, if
/// the terminal is narrower.
const MAX_LINE_BYTES: usize = 160;
/// The least of a line that is shown, however narrow the terminal is.
const MIN_LINE_BYTES: usize = 40;
/// The least columns for words, however long the label before them is.
const MIN_ROOM: usize = 20;
/// Columns for the number of the line and the bar behind it.
const GUTTER: usize = 8;
/// Places that span more lines than this are shown separately, each by its first line.
const MAX_LINES: usize = 8;

/// The diagnostic with its lines, its help and its fix. Ends without a line break.
pub fn full(d: &Diagnostic, colour: Colour) -> String {
    full_with_note(d, colour, usize::MAX, None)
}

/// [`full`] for a terminal of `width` columns, with a last line that says more.
pub(super) fn full_with_note(
    d: &Diagnostic,
    colour: Colour,
    width: usize,
    note: Option<&str>,
) -> String {
    let most_bytes = width.saturating_sub(GUTTER).clamp(MIN_LINE_BYTES, MAX_LINE_BYTES);
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO.with_name(Severity::Info.label()),
    };
    // The renderer aligns the lines of a text, but does not break it.
    let label = d.severity.label().len() + d.code.name.len() + "[]: ".len();
    let room = width.saturating_sub(label).max(MIN_ROOM);
    let message = broken(&visible(&d.message), room, room).join("\n");
    let room = width.saturating_sub(GUTTER + " = help: ".len()).max(MIN_ROOM);
    let text = |text: &str| broken(text, room, room).join("\n");
    let file = visible(d.source.name());
    let title = level.primary_title(&message).id(d.code.name);
    let mut group = Group::with_title(title);
    let windows: Vec<SnippetWindow<'_>> = windows(d, most_bytes);
    for window in &windows {
        let snippet = Snippet::source(window.text.as_str())
            .path(file.as_str())
            .line_start(window.line)
            .fold(true)
            .annotations(
                window
                    .marks
                    .iter()
                    .map(|(range, kind, label)| kind.span(range.clone()).label(visible(label))),
            );
        group = group.element(snippet);
    }
    let place = place_without_lines(d);
    if windows.is_empty() {
        group = group.element(annotate_snippets::Origin::path(place.as_str()));
    }
    for help in &d.help {
        group = group.element(Level::HELP.message(text(&visible(help))));
    }
    if let Some(fix) = d.fix.as_ref().filter(|_| !d.source.is_answer()) {
        // The rule calls the fix safe, but nobody has tried it: this form does not promise more.
        if fix.safe {
            let possible = format!("possible fix: {}", visible(&fix.title));
            group = group.element(Level::HELP.message(text(&possible)));
        // An unsafe fix is a guess, and the help usually names it already.
        } else if d.help.is_empty() {
            let risky = format!("unsafe fix: {}", visible(&fix.title));
            group = group.element(Level::HELP.message(text(&risky)));
        }
    }
    if let Some(note) = note {
        group = group.element(Level::NOTE.message(text(note)));
    }
    // Wide enough that the renderer never cuts a line itself: the windows above are the cut.
    let renderer = match colour {
        Colour::On => Renderer::styled(),
        Colour::Off => Renderer::plain(),
    };
    let mut out = renderer.term_width(MAX_LINE_BYTES + 40).render(&[group]).to_string();
    // For a window inside a line, the renderer counts columns from the start of the window. It has
    // no setting for that, so the header line is corrected afterwards.
    for (line, shown, column) in
        windows.iter().filter_map(|w| Some((w.line, w.shown_column(), w.column?)))
    {
        out =
            out.replace(&format!("{file}:{line}:{shown}\n"), &format!("{file}:{line}:{column}\n"));
    }
    out
}

/// The place of a diagnostic whose lines are not shown: `server › tool › path (.mcp.json:3)` for an
/// answer, otherwise the file.
fn place_without_lines(d: &Diagnostic) -> String {
    if !d.source.is_answer() {
        return visible(d.source.name());
    }
    let anchor = d.file().map_or(String::new(), |(source, span)| {
        let line = span.map(|span| line_of(source, span.start));
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        format!(" ({}{line})", visible(source.name()))
    });
    place(d) + &anchor
}

/// A range to underline, in bytes of the window; how; and its label.
type SnippetMark<'d> = (std::ops::Range<usize>, AnnotationKind, &'d str);

/// A piece of the file to show, from the start of a line or from inside a long one.
struct SnippetWindow<'d> {
    /// The number of its first line, from 1.
    line: usize,
    /// The column of the place in the whole line, if the window starts inside it.
    column: Option<usize>,
    /// The piece, with disturbing characters replaced.
    text: String,
    /// The places in it. The header line of the excerpt names the first.
    marks: Vec<SnippetMark<'d>>,
}

impl SnippetWindow<'_> {
    /// The column that the renderer prints for the first mark.
    fn shown_column(&self) -> usize {
        let before = self.marks.first().and_then(|mark| self.text.get(..mark.0.start));
        before.map_or(0, |text| text.chars().count()) + 1
    }
}

/// One window if all places fit into a few ordinary lines, otherwise one for each place.
fn windows(d: &Diagnostic, most_bytes: usize) -> Vec<SnippetWindow<'_>> {
    let Some(span) = d.span else { return Vec::new() };
    // An empty text has no line to show, only the name of the file.
    if d.source.text().is_empty() || d.source.is_answer() {
        return Vec::new();
    }
    let primary = (span, AnnotationKind::Primary, "");
    let labels = d.labels.iter().map(|l| (l.span, AnnotationKind::Context, l.text.as_str()));
    let places: Vec<_> = std::iter::once(primary).chain(labels).collect();
    let lines = |s: Span| (line_of(&d.source, s.start), line_of(&d.source, s.end));
    // The lines from the first to the last place, labels included.
    let first = places.iter().map(|p| lines(p.0).0).min().unwrap_or(1);
    let last = places.iter().map(|p| lines(p.0).1).max().unwrap_or(1);
    if last - first < MAX_LINES && (first..=last).all(|n| !is_wide(&d.source, n, most_bytes)) {
        return vec![window(&d.source, first, last, &places)];
    }
    places.iter().map(|place| window_around(&d.source, *place, most_bytes)).collect()
}

/// The line of a byte, from 1.
fn line_of(source: &Source, byte: u32) -> usize {
    source.line_column(byte as usize).line
}

/// Whether a line is too long to show as a whole.
fn is_wide(source: &Source, line: usize, most_bytes: usize) -> bool {
    source.line(line).is_some_and(|(_, text)| text.len() > most_bytes)
}

/// The lines `first` to `last` with all places marked.
fn window<'d>(
    source: &Source,
    first: usize,
    last: usize,
    places: &[(Span, AnnotationKind, &'d str)],
) -> SnippetWindow<'d> {
    let start = source.line(first).map_or(0, |(start, _)| start);
    let end = source.line(last).map_or(start, |(start, text)| start + text.len());
    let text = &source.text()[start..end];
    let marks =
        places.iter().map(|(span, kind, label)| (clip(source, *span, start, end), *kind, *label));
    SnippetWindow { line: first, column: None, text: keep_width(text), marks: marks.collect() }
}

/// One place by itself: its first line only, and of a long line only the part around it.
fn window_around<'d>(
    source: &Source,
    (span, kind, label): (Span, AnnotationKind, &'d str),
    most_bytes: usize,
) -> SnippetWindow<'d> {
    let line = line_of(source, span.start);
    let (start, text) = source.line(line).unwrap_or((0, ""));
    let at = (span.start as usize).clamp(start, start + text.len());
    // Half of the window before the place and half behind it; at either end of the line, all of it
    // on the other side.
    let end = start + text.len();
    let last_start = end.saturating_sub(most_bytes).max(start);
    let whole = source.text();
    let from =
        whole.floor_char_boundary(at.saturating_sub(most_bytes / 2).clamp(start, last_start));
    let to = whole.floor_char_boundary((from + most_bytes).min(end));
    let text = keep_width(&source.text()[from..to]);
    let column = (from > start).then(|| source.line_column(at).column);
    SnippetWindow { line, column, text, marks: vec![(clip(source, span, from, to), kind, label)] }
}

/// The part of `span` between `start` and `end`, counted from `start`, in whole characters: the
/// renderer slices the text by these ranges.
fn clip(source: &Source, span: Span, start: usize, end: usize) -> std::ops::Range<usize> {
    let text = source.text();
    let at = |byte: u32| (byte as usize).clamp(start, end);
    text.floor_char_boundary(at(span.start)) - start..text.ceil_char_boundary(at(span.end)) - start
}

/// Replaces what would break the layout or steer the terminal by characters of the same length in
/// bytes. `visible` cannot be used here: escapes are longer and would move every mark.
fn keep_width(text: &str) -> String {
    let lines: Vec<String> =
        text.split("\r\n").map(|line| line.chars().map(harmless).collect()).collect();
    lines.join("\r\n")
}

/// A stand-in of the same UTF-8 length. Control characters of one byte are left: the renderer shows
/// them as symbols itself.
fn harmless(c: char) -> char {
    match c {
        '\r' => ' ',
        // Two bytes: among them the eight-bit form of the escape character.
        '\u{80}'..='\u{9f}' => '\u{bf}',
        // Three bytes: what is invisible or turns text around.
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => '\u{fffd}',
        c => c,
    }
}
