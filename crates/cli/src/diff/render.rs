//! The changes as text for a terminal, as JSON for programs, and as Markdown for a pull request.
//!
//! Texts of definitions are quoted on one line, shortened, with control characters made visible;
//! in Markdown inside code spans, so that they cannot mark anything up. The JSON has them in full.
//!
//! All three forms are made from the same `DefinitionsDiff` and decide nothing: what counts as
//! breaking, and which version is needed, was found out before. `trust` uses `line` and
//! `change_json` for its own list, so that a change reads the same in both commands.
//!
//! ```text
//! text       for people: one line per change, short
//! markdown   the same lines as a list, for a comment of a bot
//! json       whole values, paths and witnesses
//! ```

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use toolwright_schema::{SchemaComparison, Verdict};
use toolwright_workspace::diff::{
    DefinitionsDiff, EditKind, PartChange, ToolDiff, ToolPresence, VersionCheck, VersionStep,
};

use crate::record_text::{markdown_code, one_line, shorten};
use crate::report::plural;

/// Characters of a value that are shown.
///
/// Longer ones are cut in the text and in Markdown. JSON has all of it.
const SHOWN_VALUE: usize = 120;

/// Characters of a text with marked words that are shown.
///
/// Five times as long as a value: the marks and the words around them take room.
const SHOWN_TEXT: usize = 600;

/// Unchanged words kept on each side of a changed one.
const CONTEXT_WORDS: usize = 4;

/// The differences as text for a terminal: each tool, then the demanded version. The documents come
/// after the tools, with the changes outside of any tool.
///
/// ```text
/// changed  weather  (major)                       a tool, and the step that its changes need
///   description: `Returns [-the-]{+a+} weather`   a line for each change
/// 1 tool changed: breaking, needs a new major version
/// version of weather: 1.2.0 → 1.3.0 is a new minor version, a new major version is needed
/// ```
pub(super) fn text(diff: &DefinitionsDiff) -> String {
    let mut out = String::new();
    for tool in &diff.tools {
        let _ = writeln!(out, "{}", heading(tool));
        for change in &tool.changes {
            let _ = writeln!(out, "  {}", line(change, ShownLength::Short, quoted));
        }
    }
    for document in &diff.documents {
        let _ = writeln!(out, "changed  {}{}", one_line(&document.name), step_mark(document.step));
        for change in &document.changes {
            let _ = writeln!(out, "  {}", line(change, ShownLength::Short, quoted));
        }
    }
    let _ = writeln!(out, "{}", summary(diff));
    for check in &diff.versions {
        let _ = writeln!(out, "{}", version_line(check));
    }
    out
}

/// For a pull request: a heading for each tool, a list of its changes, and a table of versions.
/// What comes from a definition is inside of code spans, since the author of a pull request could
/// otherwise write links, images and mentions into the comment of a bot.
///
/// The summary comes first. A bar in a cell of the table is escaped, since it would end the cell
/// even inside a code span.
pub(super) fn markdown(diff: &DefinitionsDiff) -> String {
    let mut out = format!("**{}**\n", summary(diff));
    for tool in &diff.tools {
        let step = tool.step.name();
        let _ = writeln!(
            out,
            "\n### {} {} ({step})\n",
            tool.presence.name(),
            markdown_code(&one_line(&tool.id))
        );
        for change in &tool.changes {
            let _ = writeln!(out, "- {}", line(change, ShownLength::Short, markdown_code));
        }
    }
    for document in &diff.documents {
        let (name, step) = (markdown_code(&one_line(&document.name)), document.step.name());
        let _ = writeln!(out, "\n### changed {name} ({step})\n");
        for change in &document.changes {
            let _ = writeln!(out, "- {}", line(change, ShownLength::Short, markdown_code));
        }
    }
    if !diff.versions.is_empty() {
        out.push_str("\n| version of | from | to | needed | |\n|---|---|---|---|---|\n");
    }
    for check in &diff.versions {
        let cell = |text: &str| markdown_code(&one_line(text)).replace('|', "\\|");
        let mark = if check.is_taken() { "taken" } else { "**not taken**" };
        let (subject, old, new) = (cell(&check.subject), cell(&check.old), cell(&check.new));
        let _ = writeln!(out, "| {subject} | {old} | {new} | {} | {mark} |", check.demanded.name());
    }
    // Without blank lines twice, as Markdown is written.
    out.replace("\n\n\n", "\n\n")
}

/// The differences as JSON; docs/diff.md describes its members. Nothing is shortened here, and
/// control characters are escaped by the writer of JSON. A program finds the answer to "may this be
/// released?" in `versions[].ok`.
pub(super) fn json(diff: &DefinitionsDiff) -> Value {
    let tool = |tool: &ToolDiff| {
        json!({
            "id": tool.id, "change": tool.presence.name(), "step": tool.step.name(),
            "changes": tool.changes.iter().map(change_json).collect::<Vec<_>>(),
        })
    };
    let documents: Vec<Value> = diff
        .documents
        .iter()
        .map(|document| {
            json!({
                "name": document.name, "step": document.step.name(),
                "changes": document.changes.iter().map(change_json).collect::<Vec<_>>(),
            })
        })
        .collect();
    let versions: Vec<Value> = diff
        .versions
        .iter()
        .map(|check| {
            json!({
                "subject": check.subject, "old": check.old, "new": check.new,
                "demanded": check.demanded.name(), "taken": check.taken.name(),
                "ok": check.is_taken(),
            })
        })
        .collect();
    json!({
        "step": diff.step().name(),
        "unchanged": diff.unchanged,
        "tools": diff.tools.iter().map(tool).collect::<Vec<_>>(),
        "documents": documents,
        "versions": versions,
    })
}

/// One change as an object. `effect` is null for parts that are not schemas; in it, `shown` is
/// `yes` with a value that proves it, `no`, or `unknown` where neither could be shown. `at` is a
/// JSON Pointer inside the part; `renamedTo` is set for `renamed` only. `trust --json` has the same
/// objects.
pub(crate) fn change_json(change: &PartChange) -> Value {
    let verdict = |verdict: &Verdict| match verdict {
        Verdict::No => json!({ "shown": "no" }),
        Verdict::Yes(witness) => json!({ "shown": "yes", "witness": witness }),
        Verdict::NotShown => json!({ "shown": "unknown" }),
    };
    let effect = change.effect.as_ref().map(
        |effect| json!({ "wider": verdict(&effect.wider), "narrower": verdict(&effect.narrower) }),
    );
    let (kind, to) = match &change.kind {
        EditKind::Added => ("added", None),
        EditKind::Removed => ("removed", None),
        EditKind::Changed => ("changed", None),
        EditKind::NewOptional => ("new optional", None),
        EditKind::Renamed(name) => ("renamed", Some(name)),
    };
    json!({
        "part": change.part, "at": change.at, "kind": kind, "renamedTo": to,
        "old": change.old, "new": change.new, "effect": effect,
    })
}

/// The line with the totals: `2 tools changed, 1 added, 4 unchanged: breaking, needs a new major
/// version`. The step is the largest of all changes. With no change at all:
/// `nothing changed in 4 tools`.
fn summary(diff: &DefinitionsDiff) -> String {
    let count = |presence| diff.tools.iter().filter(|tool| tool.presence == presence).count();
    let mut parts = Vec::new();
    for (presence, word) in [
        (ToolPresence::Changed, "changed"),
        (ToolPresence::Added, "added"),
        (ToolPresence::Removed, "removed"),
    ] {
        let n = count(presence);
        if n > 0 {
            parts.push(format!("{} {word}", plural(n, "tool")));
        }
    }
    if diff.unchanged > 0 {
        parts.push(format!("{} unchanged", plural(diff.unchanged, "tool")));
    }
    match diff.step() {
        _ if diff.is_empty() => format!("nothing changed in {}", plural(diff.unchanged, "tool")),
        VersionStep::None => format!("{}; only versions changed", parts.join(", ")),
        VersionStep::Major => format!("{}: breaking, needs a new major version", parts.join(", ")),
        step => format!("{}: needs a new {} version", parts.join(", "), step.name()),
    }
}

/// `changed  fs:read_file  (minor)`: eight columns for the word, so that the ids are aligned.
fn heading(tool: &ToolDiff) -> String {
    format!("{:<8} {}{}", tool.presence.name(), one_line(&tool.id), step_mark(tool.step))
}

/// Nothing for a change that needs no new version.
fn step_mark(step: VersionStep) -> String {
    if step == VersionStep::None { String::new() } else { format!("  ({})", step.name()) }
}

/// Six sentences, because "not taken" has several reasons: the version stayed, went back, or grew
/// by too little.
///
/// ```text
/// demanded │ taken │ sentence ends in
/// major    │ major │ … is the new major version that is needed
/// major    │ minor │ … is a new minor version, a new major version is needed
/// major    │ none  │ still 1.2.0, a new major version is needed
/// none     │ any   │ the two versions
/// ```
fn version_line(check: &VersionCheck) -> String {
    let VersionCheck { subject, old, new, demanded, taken, .. } = check;
    let (subject, old, new) = (one_line(subject), one_line(old), one_line(new));
    let name = demanded.name();
    match (check.is_taken(), *taken) {
        (true, _) if *demanded == VersionStep::None => {
            format!("version of {subject}: {old} → {new}")
        }
        (true, _) => {
            format!("version of {subject}: {old} → {new} is the new {name} version that is needed")
        }
        (false, _) if *demanded == VersionStep::None => {
            format!("version of {subject}: {new} is earlier than {old}")
        }
        (false, VersionStep::None) if old == new => {
            format!("version of {subject}: still {old}, a new {name} version is needed")
        }
        (false, VersionStep::None) => {
            format!(
                "version of {subject}: {new} is not later than {old}, a new {name} version is \
                 needed"
            )
        }
        (false, taken) => format!(
            "version of {subject}: {old} → {new} is a new {} version, a new {name} version is \
             needed",
            taken.name()
        ),
    }
}

/// The counterpart of `markdown_code` for a terminal. Texts have no control characters by then.
fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// How much of a text is shown. Lists of `diff` are short, and `trust` shows all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownLength {
    /// As much as fits into a list of many changes.
    Short,
    /// All that changed: a person decides by it.
    Whole,
}

impl ShownLength {
    /// `most` is a number of characters, the ellipsis included.
    fn cut(self, text: &str, most: usize) -> String {
        match self {
            ShownLength::Short => shorten(text, most),
            ShownLength::Whole => text.to_owned(),
        }
    }
}

/// One change on one line. `quote` marks what comes from a definition. Texts with blanks in them
/// are compared word by word; other values are shown before and after.
///
/// ```text
/// description: `Returns [-the-]{+tomorrow's+} weather`
/// inputSchema `/properties/city/minLength` removed: `1`; wider, accepts `{"city":""}`
/// ```
///
/// The order of the arms matters: a text that changed is compared word by word before the arm for
/// other values could show it twice. A new optional property is shown without its schema in a list.
pub(crate) fn line(
    change: &PartChange,
    length: ShownLength,
    quote: impl Fn(&str) -> String,
) -> String {
    let value = |value: &Option<Value>| {
        let text = value.as_ref().map(Value::to_string).unwrap_or_default();
        quote(&length.cut(&one_line(&text), SHOWN_VALUE))
    };
    let mut out = match change.at.as_str() {
        "" => change.part.clone(),
        at => format!("{} {}", change.part, quote(&length.cut(&one_line(at), SHOWN_VALUE))),
    };
    match (&change.kind, &change.old, &change.new) {
        (EditKind::Renamed(name), ..) => {
            let _ = write!(out, " is named {} now", quote(&one_line(name)));
        }
        (EditKind::NewOptional, _, Some(_)) if length == ShownLength::Whole => {
            let _ = write!(out, " is new and optional: {}", value(&change.new));
        }
        (EditKind::NewOptional, ..) => out.push_str(" is new and optional"),
        (_, Some(Value::String(old)), Some(Value::String(new)))
            if old.contains(char::is_whitespace) || new.contains(char::is_whitespace) =>
        {
            let marked = length.cut(&marked_words(old, new), SHOWN_TEXT);
            let _ = write!(out, ": {}", quote(&marked));
        }
        (EditKind::Changed, Some(_), Some(_)) => {
            let _ = write!(out, ": {} → {}", value(&change.old), value(&change.new));
        }
        (EditKind::Changed, ..) => out.push_str(" changed"),
        (EditKind::Added, _, Some(_)) => {
            let _ = write!(out, " added: {}", value(&change.new));
        }
        (EditKind::Added, ..) => out.push_str(" added"),
        (EditKind::Removed, Some(_), _) => {
            let _ = write!(out, " removed: {}", value(&change.old));
        }
        (EditKind::Removed, ..) => out.push_str(" removed"),
    }
    // A new optional input narrows an open object, which nobody means by it.
    if let Some(effect) = change.effect.as_ref().filter(|_| change.kind != EditKind::NewOptional) {
        out.push_str(&effect_text(effect, quote));
    }
    out
}

/// What a change does to the accepted values. A value that proves it is shown, because "narrower"
/// alone leaves open for whom. Example: `; narrower, refuses {"depth":0}; perhaps wider`. A witness
/// is cut like every value.
fn effect_text(effect: &SchemaComparison, quote: impl Fn(&str) -> String) -> String {
    let shown = |witness: &Value| quote(&shorten(&one_line(&witness.to_string()), SHOWN_VALUE));
    let mut parts = Vec::new();
    match &effect.narrower {
        Verdict::Yes(witness) => {
            parts.push(format!("narrower, refuses {}", shown(witness)));
        }
        Verdict::NotShown => parts.push("perhaps narrower".to_owned()),
        Verdict::No => {}
    }
    match &effect.wider {
        Verdict::Yes(witness) => parts.push(format!("wider, accepts {}", shown(witness))),
        Verdict::NotShown => parts.push("perhaps wider".to_owned()),
        Verdict::No => {}
    }
    if parts.is_empty() {
        parts.push("accepts the same".to_owned());
    }
    format!("; {}", parts.join("; "))
}

/// The new text with what is gone as `[-…-]` and what is new as `{+…+}`, as `git diff --word-diff`
/// marks it. Long unchanged parts are left out. The comparison takes quadratic time at worst, so
/// after half a second it goes on with a coarser result.
///
/// Lines of both texts are joined before, so a different layout is no change.
fn marked_words(old: &str, new: &str) -> String {
    let (old, new) = (one_line(old), one_line(new));
    let diff = TextDiff::configure()
        .timeout(Duration::from_millis(500))
        .diff_words(old.as_str(), new.as_str());
    let mut out = String::new();
    let changes: Vec<_> = diff.iter_all_changes().collect();
    // The words of one kind that follow each other become one run, so that they share one pair of
    // marks.
    let runs: Vec<(ChangeTag, String)> = changes.iter().fold(Vec::new(), |mut runs, change| {
        match runs.last_mut() {
            Some((tag, text)) if *tag == change.tag() => text.push_str(change.value()),
            _ => runs.push((change.tag(), change.value().to_owned())),
        }
        runs
    });
    let last = runs.len().saturating_sub(1);
    for (index, (tag, text)) in runs.iter().enumerate() {
        match tag {
            ChangeTag::Delete => {
                let _ = write!(out, "[-{text}-]");
            }
            ChangeTag::Insert => {
                let _ = write!(out, "{{+{text}+}}");
            }
            ChangeTag::Equal => out.push_str(&without_middle(text, index == 0, index == last)),
        }
    }
    out
}

/// An unchanged run: its end before a change, its start after one. The first run has no change
/// before it and the last none after it, so these keep one side only. Example: of
/// `a b c d e f g h i j` between two changes `a b c d … g h i j`.
fn without_middle(text: &str, is_first: bool, is_last: bool) -> String {
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let before = if is_last { 0 } else { CONTEXT_WORDS };
    let after = if is_first { 0 } else { CONTEXT_WORDS };
    if words.len() <= before + after + 1 {
        return text.to_owned();
    }
    let start = words[..after].concat();
    let end = words[words.len() - before..].concat();
    format!("{start}… {end}").trim_end_matches(|c: char| is_last && c == ' ').to_owned()
}
