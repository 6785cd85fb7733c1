//! The schema version of an AIOS tool. `schema_version` is optional, so a tool that does not state
//! it is of version 2.0 if it uses anything that version 1.0 does not have. The version decides how
//! strictly examples are checked, and is shown as the dialect.

use toolwright_source::{Finding, Node, ValueKind, words};

use crate::codes;
use crate::findings::FindingList;

/// The versions of the AIOS schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaVersion {
    V1,
    V2,
}

impl SchemaVersion {
    /// The version as documents write it.
    pub(super) fn name(self) -> &'static str {
        match self {
            SchemaVersion::V1 => "1.0",
            SchemaVersion::V2 => "2.0",
        }
    }

    /// Whether examples must have the fields of version 2.0: in that version always, and in version
    /// 1.0 if they have scenarios, which only version 2.0 defines.
    pub(super) fn uses_scenarios(self, tool: Node<'_>) -> bool {
        self == SchemaVersion::V2 || has_scenario_examples(tool)
    }
}

/// The version a tool is read as: the one it states, otherwise the one its features imply. An
/// invalid statement has been reported and does not count.
pub(super) fn detect_version(tool: Node<'_>) -> SchemaVersion {
    match tool.get("schema_version").filter(|n| !is_absent(*n)).and_then(parse_explicit) {
        // A stated version wins, also if the sections contradict it: VERSION_FEATURE_MISMATCH
        // reports that.
        Some(version) => version,
        None if has_v2_sections(tool) => SchemaVersion::V2,
        None => SchemaVersion::V1,
    }
}

/// Whether `schema_version` is there in name only: YAML reads a key with nothing behind it as null.
fn is_absent(node: Node<'_>) -> bool {
    node.kind() == ValueKind::Null || node.text().is_some_and(str::is_empty)
}

/// The stated version. YAML reads `2.0` as a number and `"2.0"` as a string; comparing the raw text
/// treats them alike.
fn parse_explicit(node: Node<'_>) -> Option<SchemaVersion> {
    let scalar = matches!(node.kind(), ValueKind::Number | ValueKind::String);
    match node.raw() {
        // YAML authors write `1` and `1.0` for the same version.
        "1" | "1.0" if scalar => Some(SchemaVersion::V1),
        "2" | "2.0" if scalar => Some(SchemaVersion::V2),
        _ => None,
    }
}

/// Reports a stated version that does not exist.
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

/// Whether the tool uses version 2.0. A section counts even if it is empty, but not if it is null.
fn has_v2_sections(tool: Node<'_>) -> bool {
    let sections = ["executable_knowledge", "api_complexity", "anti_patterns"];
    // An empty section counts, a key with nothing behind it does not.
    let present = |name: &&str| tool.get(name).is_some_and(|node| node.kind() != ValueKind::Null);
    sections.iter().any(present) || has_scenario_examples(tool)
}

/// Whether any example names one of the two scenarios that version 2.0 prescribes. Another word is
/// not enough: examples of version 1.0 have arbitrary fields, and `scenario` may be one of them.
fn has_scenario_examples(tool: Node<'_>) -> bool {
    let lists = tool.get("examples").map(Node::members).unwrap_or_default();
    let mut examples = lists.iter().flat_map(|member| member.value.items());
    examples.any(|example| {
        let scenario = example.get("scenario").and_then(Node::text);
        matches!(scenario, Some("success" | "failure_invalid_param"))
    })
}
