//! Which version of the AIOS schema a tool is in: what it says, or what it uses.

use toolwright_source::{Finding, Node, ValueKind, words};

use crate::codes;
use crate::findings::FindingList;

/// The two versions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaVersion {
    V1,
    V2,
}

impl SchemaVersion {
    pub(super) fn name(self) -> &'static str {
        match self {
            SchemaVersion::V1 => "1.0",
            SchemaVersion::V2 => "2.0",
        }
    }

    /// Whether examples are by scenario: always in version 2, and in version 1 where they are.
    pub(super) fn uses_scenarios(self, tool: Node<'_>) -> bool {
        self == SchemaVersion::V2 || has_scenario_examples(tool)
    }
}

/// The version a tool is read as. What it says comes first, then its features.
pub(super) fn detect_version(tool: Node<'_>) -> SchemaVersion {
    match tool.get("schema_version").filter(|n| !is_absent(*n)).and_then(parse_explicit) {
        Some(version) => version,
        None if has_v2_sections(tool) => SchemaVersion::V2,
        None => SchemaVersion::V1,
    }
}

fn is_absent(node: Node<'_>) -> bool {
    node.kind() == ValueKind::Null || node.text().is_some_and(str::is_empty)
}

/// Typed from the raw text: `2`, `2.0` and `"2.0"` are the same word.
fn parse_explicit(node: Node<'_>) -> Option<SchemaVersion> {
    let scalar = matches!(node.kind(), ValueKind::Number | ValueKind::String);
    match node.raw() {
        "1" | "1.0" if scalar => Some(SchemaVersion::V1),
        "2" | "2.0" if scalar => Some(SchemaVersion::V2),
        _ => None,
    }
}

pub(super) fn check_explicit(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if is_absent(node) || parse_explicit(node).is_some() {
        return;
    }
    let given = match node.kind() {
        ValueKind::List | ValueKind::Map => node.kind().name().to_owned(),
        _ => format!("`{}`", words::shorten(node.raw())),
    };
    let message = format!("`schema_version` is {given}, expected 1.0 or 2.0");
    out.push(Finding::new(&codes::INVALID_ENUM_VALUE, node.pointer(), message));
}

/// A version 2 section counts even when it is empty, but not when it is null.
fn has_v2_sections(tool: Node<'_>) -> bool {
    let sections = ["executable_knowledge", "api_complexity", "anti_patterns"];
    let present = |name: &&str| tool.get(name).is_some_and(|node| node.kind() != ValueKind::Null);
    sections.iter().any(present) || has_scenario_examples(tool)
}

fn has_scenario_examples(tool: Node<'_>) -> bool {
    let lists = tool.get("examples").map(Node::members).unwrap_or_default();
    let mut examples = lists.iter().flat_map(|entry| entry.value.items());
    examples.any(|example| {
        let scenario = example.get("scenario").and_then(Node::text);
        matches!(scenario, Some("success" | "failure_invalid_param"))
    })
}
