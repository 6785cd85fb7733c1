//! A document as lines of text: keys, blocks and paths are found by indentation, without a parser
//! of the program.

use std::ops::Range;
use std::sync::Arc;

use serde_json::json;
use toolwright_script::InProcessAnalyzer;
use toolwright_workspace::{ReadOptions, Workspace};

use super::tables::{FIELDS, FOLLOWS, KNOWN};
use crate::program::project;
use crate::rules::{RuleTable, parse};

/// Replaces the lines `range` of the base by `lines`. A finding on one of them moves to line `heir`
/// of the new ones, or disappears.
#[derive(Clone, Debug)]
pub(super) struct LineEdit {
    pub(super) range: Range<usize>,
    pub(super) lines: Vec<String>,
    pub(super) heir: Option<usize>,
}

impl LineEdit {
    pub(super) fn new(range: Range<usize>, lines: Vec<String>) -> LineEdit {
        LineEdit { range, lines, heir: None }
    }
}

/// What becomes of a document when a field that its format is detected by is broken.
pub(super) enum FormatChange {
    Nothing,
    Unknown,
    /// A document of another format, with rules of its own.
    Other,
}

/// A line of the mutated text: one of the base, or one of the edit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    At(usize),
    Own(usize),
}
use Place::At;

/// A line with a key. Lines are counted from 0.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) at: usize,
    /// Behind the last line of its value.
    pub(super) end: usize,
    pub(super) column: usize,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) path: String,
    /// The line of the object around it.
    pub(super) owner: usize,
    /// Whether a list item starts here, in YAML.
    pub(super) dash: bool,
}

/// A finding: code, line from 1, message.
pub(super) type FoundLine = (String, usize, String);

/// A valid document.
pub(super) struct Base {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) format: &'static str,
    pub(super) lines: Vec<String>,
    pub(super) keys: Vec<Line>,
    pub(super) found: Vec<FoundLine>,
}

impl Base {
    pub(super) fn load(format: &'static str, source: &str, name: &str) -> Base {
        let (file, text) = match source {
            "examples" => {
                let path = project().join("examples").join(name);
                (name.to_owned(), std::fs::read_to_string(path).expect("an example"))
            }
            _ => RuleTable::load(source).mutant(&json!({"on": name}), &json!({})),
        };
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let keys = outline(&lines, file.ends_with(".json"));
        let found = check(&file, &text);
        Base { name: format!("{source}/{name}"), file, format, lines, keys, found }
    }

    pub(super) fn is_json(&self) -> bool {
        self.file.ends_with(".json")
    }

    /// A path as the tables write it.
    fn spelled(&self, path: &str) -> String {
        let listed = self.keys.iter().any(|line| line.key == "tools") || self.lines[0] == "[";
        let inside =
            ["tools[].", "result.tools[].", "[]."].iter().find_map(|list| path.strip_prefix(list));
        match inside {
            _ if self.format == "aios" => path.to_owned(),
            Some(path) => format!("@.{path}"),
            None if listed => path.to_owned(),
            None => format!("@.{path}"),
        }
    }

    /// Whether a path of this document matches a path of the tables.
    pub(super) fn is(&self, line: &str, path: &str) -> bool {
        let spelled = self.spelled(line);
        let (mut have, mut want) = (spelled.split('.'), path.split('.'));
        loop {
            match (have.next(), want.next()) {
                (None, None) => return true,
                (Some(_), Some("*")) => {}
                (Some(have), Some("*[]")) if have.ends_with("[]") => {}
                (Some(have), Some(want)) if have == want => {}
                _ => return false,
            }
        }
    }

    /// The type of a field and whether it is required, if it is in the tables.
    pub(super) fn field(&self, line: &Line) -> Option<(&'static str, bool)> {
        FIELDS.lines().filter(|row| !row.is_empty()).find_map(|row| {
            let mut words = row.split(' ');
            let (format, object) = (words.next()?, words.next()?);
            let mut kind = "";
            words.find_map(|word| {
                if let Some(name) = word.strip_suffix(':') {
                    kind = name;
                    return None;
                }
                let name = word.trim_end_matches('!');
                let path = if object == "." { name.to_owned() } else { format!("{object}.{name}") };
                (format == self.format && self.is(&line.path, &path))
                    .then_some((kind, name != word))
            })
        })
    }

    /// The line with another key or value.
    pub(super) fn line(&self, line: &Line, key: &str, value: &str) -> String {
        let start = if line.dash { line.column - 2 } else { line.column };
        let dash = if line.dash { "- " } else { "" };
        let key = if self.is_json() { format!("\"{key}\"") } else { key.to_owned() };
        format!("{}{dash}{key}: {value}", " ".repeat(start)).trim_end().to_owned()
    }

    /// The field with another value.
    pub(super) fn with(&self, line: &Line, value: &str) -> LineEdit {
        LineEdit::new(line.at..line.end, vec![self.line(line, &line.key, value)])
    }

    /// Another field of the same object.
    pub(super) fn sibling(&self, line: &Line, key: &str) -> Option<&Line> {
        let path = format!("{}{key}", line.path.strip_suffix(&line.key)?);
        self.keys.iter().find(|other| other.path == path && other.owner == line.owner)
    }

    /// Further findings when this field is absent.
    pub(super) fn follows(&self, line: &Line) -> Vec<(&'static str, Place)> {
        let mut follows = Vec::new();
        for row in FOLLOWS.lines().filter(|row| !row.is_empty()) {
            let words: Vec<&'static str> = row.split(' ').collect();
            if words[0] != self.format || !self.is(&line.path, words[1]) {
                continue;
            }
            let place = match words[3] {
                "." => line.owner,
                "..type" => {
                    self.keys.iter().find(|line| line.path == "tool.type").expect("a type").at
                }
                name => self.sibling(line, name).expect("it is there").at,
            };
            follows.push((words[2], At(place)));
        }
        for name in self.named(line) {
            let (helper, validator) = (format!("helpers.{name}"), format!("validator: {name}"));
            let refers = |other: &&Line| match other.key.as_str() {
                "validates" | "processes" | "command" => {
                    line.key == "commands" && other.value == name
                }
                key if other.path.starts_with("tool.examples.") && key == name => {
                    line.key == "commands"
                }
                _ => other.value == helper || other.value.contains(&validator),
            };
            let lines = self.keys.iter().filter(refers).map(|other| other.at);
            follows.extend(lines.map(|at| ("UNRESOLVED_REFERENCE", At(at))));
            // Functions call helpers by the name in camelCase.
            let mut words = name.split('-');
            let mut called = format!("helpers.{}", words.next().unwrap_or_default());
            for word in words.filter(|_| line.key == "id") {
                called += &word[..1].to_uppercase();
                called += &word[1..];
            }
            if called.len() > "helpers.".len() + name.find('-').unwrap_or(name.len()) {
                let lines = self.lines.iter().enumerate();
                let calls = lines.filter(|(_, text)| text.contains(&called));
                follows.extend(calls.map(|(at, _)| ("UNRESOLVED_REFERENCE", At(at))));
            }
        }
        // Only the helper that `orchestration` names may call tools.
        let orchestrates = line.path.starts_with("tool.meta_specific")
            || self.keys.iter().any(|other| other.value == format!("helpers.{}", line.value));
        let calls = self.lines.iter().position(|text| text.contains("tools.call("));
        if orchestrates && line.key != "aggregates" {
            follows.extend(calls.map(|at| ("NOT_SELF_CONTAINED", At(at))));
        }
        follows
    }

    /// The names that a field defines and nothing else does: ids of functions, and commands.
    fn named(&self, line: &Line) -> Vec<&str> {
        if line.path == "tool.commands" && self.keys.iter().any(|other| other.path == "tool.tools")
        {
            let items = self.lines[line.at + 1..line.end]
                .iter()
                .map(|text| text.trim().trim_start_matches("- "));
            let is_described =
                |item: &&str| self.keys.iter().any(|id| id.key == "id" && id.value == **item);
            return items.filter(|item| !is_described(item)).collect();
        }
        let inside = self.keys.iter().filter(|other| (line.at..line.end).contains(&other.at));
        let ids =
            inside.filter(|id| id.key == "id" && id.path.starts_with("tool.executable_knowledge"));
        ids.map(|id| id.value.as_str()).collect()
    }

    /// The row of `KNOWN` about a mutant.
    pub(super) fn known(&self, kind: &str, path: &str) -> Option<&'static str> {
        KNOWN.lines().find(|row| {
            let words: Vec<&str> = row.split(' ').collect();
            words.len() > 2 && words[..2] == [self.format, kind] && self.is(path, words[2])
        })
    }

    /// What becomes of the document when this field is broken.
    pub(super) fn format_change(&self, line: &Line, kind: &str) -> FormatChange {
        let has = |keys: &[&str]| {
            self.keys.iter().filter(|other| keys.contains(&other.key.as_str())).count()
        };
        let absent = matches!(kind, "drop" | "misspell");
        match (self.format, line.key.as_str()) {
            ("mcp", "tools" | "result") if absent || matches!(kind, "retype" | "blank") => {
                FormatChange::Unknown
            }
            ("mcp", "inputSchema") if absent && has(&["inputSchema"]) == 1 => FormatChange::Unknown,
            ("ikigai", "parameters") if absent => FormatChange::Unknown,
            // The smallest BTCP tool differs from an MCP tool in this field only.
            ("btcp", "capabilities")
                if absent
                    && has(&["btcp", "examples", "timeout"]) == 0
                    && has(&["capabilities"]) == 1 =>
            {
                FormatChange::Other
            }
            _ => FormatChange::Nothing,
        }
    }
}

/// The lines with keys. Reads YAML in block style, and JSON with one member or one object per line.
fn outline(lines: &[String], json: bool) -> Vec<Line> {
    let indent = |text: &str| text.len() - text.trim_start().len();
    let mut keys: Vec<Line> = Vec::new();
    let mut around: Vec<(usize, String, usize)> = Vec::new();
    let mut behind = 0;
    for (at, text) in lines.iter().enumerate() {
        let (start, body) = (indent(text), text.trim().trim_end_matches(','));
        if at < behind || body.is_empty() || body.starts_with(['#', '}', ']']) {
            continue;
        }
        around.retain(|(column, ..)| *column < start);
        let above = around.last().map_or("", |(_, path, _)| path).to_owned();
        let dash = body.starts_with("- ");
        if dash || body == "{" || body == "[" {
            let path = if around.is_empty() { String::new() } else { format!("{above}[]") };
            around.push((start, path, at));
        }
        let (column, body) = if dash { (start + 2, &body[2..]) } else { (start, body) };
        let Some((key, value)) =
            body.split_once(':').filter(|(key, _)| !key.contains(['{', '[', ' ']))
        else {
            continue;
        };
        let (key, value) = (key.trim_matches('"').to_owned(), value.trim().to_owned());
        let (above, owner) =
            around.last().map_or((String::new(), 0), |(_, path, at)| (path.clone(), *at));
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        let inside = |text: &&String| text.trim().is_empty() || indent(text) > column;
        let mut end = at + 1 + lines[at + 1..].iter().take_while(inside).count();
        while lines[end - 1].trim().is_empty() {
            end -= 1;
        }
        end += usize::from(json && value.ends_with(['{', '[']));
        if value == "|" {
            behind = end;
        }
        around.push((column, path.clone(), at));
        keys.push(Line { at, end, column, key, value, path, owner, dash });
    }
    keys
}

/// The findings of `check`.
pub(super) fn check(file: &str, text: &str) -> Vec<FoundLine> {
    let loaded = Workspace::new(Arc::new(InProcessAnalyzer))
        .read(&parse(file, text), ReadOptions { rules: true, ..ReadOptions::default() });
    let line = |d: &toolwright_source::Diagnostic| d.line_column().map_or(0, |(line, _)| line);
    loaded
        .diagnostics
        .iter()
        .map(|d| (d.code.name.to_owned(), line(d), d.message.clone()))
        .collect()
}
