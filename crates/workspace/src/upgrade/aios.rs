//! AIOS 1.0 becomes 2.0 by the migration path of its specification: the root key `tool`,
//! `schema_version: 2.0`, and scenarios of examples that show which one they are.
//!
//! Deliberately absent: new examples, knowledge and anti-patterns, which only an author can write.
//!
//! ```text
//! id: notes          tool:                     tool:
//! commands: [a]  ─▶    id: notes          ─▶     schema_version: 2.0
//!                      commands: [a]             id: notes
//!                                                commands: [a]
//! ```
//!
//! In YAML blocks a key moves under another one by its indent, so lines are indented as text and
//! keep their comments. Everything else is edits by path.

use std::fmt::Write;

use serde_json::{Map, Value as Json};
use toolwright_formats::Reading;
use toolwright_source::{
    Document, Edit, Member, Node, RecordPath, Style, Syntax, ValueKind, words,
};

use super::{StepChange, UpgradeStep};

/// The tool of a document.
fn tool(reading: &Reading) -> Option<Node<'_>> {
    reading.origin.value(&RecordPath::root())
}

/// Puts everything under `tool:`, if that key is missing.
///
/// Three layouts: a YAML block is indented below `tool:`, a YAML flow map is put in braces, and
/// JSON in braces on lines of its own if the document has lines.
pub(super) fn add_root_key(reading: &Reading) -> Vec<UpgradeStep> {
    let root = reading.origin.document().root();
    let Some(tool) = tool(reading).filter(|_| root.kind() == ValueKind::Map && !root.has("tool"))
    else {
        return Vec::new();
    };
    let mut value = Map::new();
    value.insert("tool".to_owned(), tool.to_json());
    let document = reading.origin.document();
    let (text, span) = (document.source().text(), root.span().range());
    // In a block, what is behind the root, such as comments, is indented as well.
    let (head, body, tail) = (&text[..span.start], &text[span.clone()], &text[span.end..]);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let text = if is_block(root) {
        format!("{head}tool:{newline}{}{}", indented(body, "  ", true), indented(tail, "  ", false))
    } else if document.syntax() == Syntax::Yaml {
        format!("{head}{{tool: {body}}}{tail}")
    } else {
        let unit = indent_unit(body);
        match body.contains('\n') {
            true => format!(
                "{head}{{{newline}{unit}\"tool\": {}{newline}}}{tail}",
                indented(body, unit, false)
            ),
            false => format!("{head}{{\"tool\": {body}}}{tail}"),
        }
    };
    vec![UpgradeStep {
        titles: vec!["put everything under the root key `tool`".to_owned()],
        change: StepChange::Text(text, Json::Object(value)),
    }]
}

/// Moves the keys behind `tool` under it. Keys before it stay, and are left to the author.
///
/// ```text
/// tool:              tool:
///   id: notes   ─▶     id: notes
/// commands: [a]        commands: [a]
/// ```
pub(super) fn move_under_root_key(reading: &Reading) -> Vec<UpgradeStep> {
    let document = reading.origin.document();
    let root = document.root();
    let is_filled = |tool: &Node<'_>| tool.kind() == ValueKind::Map && !tool.is_empty();
    let Some(tool) = root.get("tool").filter(is_filled) else { return Vec::new() };
    let behind: Vec<Member<'_>> = root
        .members()
        .into_iter()
        .filter(|member| member.key.span().start > tool.span().start)
        .filter(|member| member.name() != "tool")
        .collect();
    // A key that both have would get another value.
    if behind.is_empty() || behind.iter().any(|member| tool.has(member.name())) {
        return Vec::new();
    }
    let mut titles = Vec::new();
    for member in &behind {
        titles.push(format!("move `{}` under `tool`", words::shorten(member.name())));
    }
    let change = match is_block(root) && is_block(tool) {
        true => moved_lines(document, tool, &behind),
        false => {
            let at = tool.pointer();
            let mut edits: Vec<Edit> =
                behind.iter().map(|member| Edit::Remove(member.value.pointer())).collect();
            edits.extend(
                behind
                    .iter()
                    .map(|member| Edit::Insert(at.child(member.name()), member.value.to_json())),
            );
            StepChange::Edits(edits)
        }
    };
    vec![UpgradeStep { titles, change }]
}

/// The text with the lines behind the tool indented as far as its members.
///
/// The value is computed beside it. `try_step` parses the text and compares: a layout in which
/// indenting means something else, such as a block scalar, is refused there.
fn moved_lines(document: &Document, tool: Node<'_>, behind: &[Member<'_>]) -> StepChange {
    let text = document.source().text();
    let root = document.root();
    let first = tool.span().start as usize;
    let line = text[..first].rfind('\n').map_or(0, |at| at + 1);
    let indent = " ".repeat(text[line..first].chars().count());
    // From the first comment or key behind the tool: its last line belongs to it.
    let end = tool.span().end as usize;
    let from = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let moved = format!("{}{}", &text[..from], indented(&text[from..], &indent, true));
    let mut value = root.to_json();
    let mut own = tool.to_json();
    for member in behind {
        if let (Json::Object(all), Json::Object(own)) = (&mut value, &mut own)
            && let Some(moved) = all.shift_remove(member.name())
        {
            own.insert(member.name().to_owned(), moved);
        }
    }
    value["tool"] = own;
    StepChange::Text(moved, value)
}

/// Whether a collection is written in lines, not in brackets.
fn is_block(node: Node<'_>) -> bool {
    node.style() == Style::Block
}

/// The text with `indent` before every line that is not blank. `first` is whether the text starts
/// a line.
fn indented(text: &str, indent: &str, first: bool) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for (n, line) in text.split_inclusive('\n').enumerate() {
        let is_indented = (n > 0 || first) && !line.trim().is_empty();
        let _ = write!(out, "{}{line}", if is_indented { indent } else { "" });
    }
    out
}

/// One step of indent of a JSON text.
fn indent_unit(text: &str) -> &str {
    let step = text.lines().skip(1).map(|line| &line[..line.len() - line.trim_start().len()]);
    step.into_iter().find(|step| !step.is_empty()).unwrap_or("  ")
}

/// States version 2.0, and the scenarios that it demands of examples.
///
/// One step with all edits, because version 2.0 without the scenarios would be an error.
pub(super) fn raise_version(reading: &Reading) -> Vec<UpgradeStep> {
    let Some(tool) = tool(reading).filter(|_| reading.dialect.as_deref() == Some("1.0")) else {
        return Vec::new();
    };
    let at = tool.pointer().child("schema_version");
    let mut titles = vec!["set `schema_version` to 2.0".to_owned()];
    let mut edits = vec![match tool.get("schema_version") {
        // Quoted as it was.
        Some(node) if node.kind() == ValueKind::String => Edit::Replace(at, Json::from("2.0")),
        Some(_) => Edit::Replace(at, Json::from(2.0)),
        None => Edit::InsertFirst(at, Json::from(2.0)),
    }];
    let commands = tool.get("examples").map(Node::members).unwrap_or_default();
    for command in &commands {
        for (n, example) in command.value.items().enumerate() {
            let Some(scenario) = scenario(example) else { continue };
            titles.push(format!(
                "add the scenario `{scenario}` to example {} of `{}`",
                n + 1,
                words::shorten(command.name())
            ));
            let at = example.pointer().child("scenario");
            edits.push(Edit::InsertFirst(at, Json::from(scenario)));
        }
    }
    vec![UpgradeStep { titles, change: StepChange::Edits(edits) }]
}

/// The scenario of an example that states none, where its outcome shows it. The codes are those of
/// the specification's own examples.
fn scenario(example: Node<'_>) -> Option<&'static str> {
    if example.kind() != ValueKind::Map || example.has("scenario") {
        return None;
    }
    match (example.get("output"), example.get("error")) {
        (Some(_), None) => Some("success"),
        (None, Some(error)) => match error.get("code").and_then(Node::text)? {
            "VALIDATION_ERROR" => Some("failure_invalid_param"),
            "API_ERROR" => Some("failure_api_error"),
            _ => None,
        },
        _ => None,
    }
}
