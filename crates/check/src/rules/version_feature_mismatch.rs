//! A tool that declares AIOS 1.0 has no sections of version 2.0.
//!
//! Source: AIOS, schema detection logic and version compatibility. An explicit version wins over
//! detection, so such a tool is read as 1.0 although detection would say 2.0.
//!
//! An empty section counts, null does not. `examples` exist in both versions; those of version 2.0
//! are recognised by the two scenario names that the detection logic uses. Silent about tools
//! without a version, which are detected as 2.0, and about malformed versions.
//!
//! ```text
//! schema_version: 1.0 and anti_patterns: []        reported
//! schema_version: 1.0 and anti_patterns:           fine: null
//! schema_version: 1.0 and other examples           fine: without the two scenarios of 2.0
//! no version, and anti_patterns                    fine: detected as 2.0
//! ```

use toolwright_model::Json;
use toolwright_source::{Edit, Node, RecordFinding, RecordPath, Safety, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    VERSION_FEATURE_MISMATCH Warning
        "An AIOS tool declares `schema_version: 1.0`, but has sections that exist only since \
         version 2.0. It is read as version 1.0: programs that support only version 1.0 ignore \
         these sections, and the stricter rules of version 2.0 are not applied to its examples. \
         The sections themselves are still checked. An empty section counts, a section that is \
         null does not.\n\n\
         Write `schema_version: 2.0`, or remove the field: the version is then detected from \
         the sections."
    => (
        "tool.yaml",
        r#"tool:
  schema_version: 1.0
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
  anti_patterns:
    - pattern: title_in_text
      description: Writing the title into the text
      wrong: "add --text 'Title: x'"
      correct: "add --title x"
"#,
        r#"tool:
  schema_version: 2.0
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
  anti_patterns:
    - pattern: title_in_text
      description: Writing the title into the text
      wrong: "add --text 'Title: x'"
      correct: "add --title x"
"#
    )
}

/// Sections of version 2.0, in the order of the specification. `examples` counts by its content.
/// The scenarios are the same two by which the reader detects version 2.0, so a tool without
/// `schema_version` and with one of these sections is never read as 1.0.
const SECTIONS: [&str; 4] = ["executable_knowledge", "api_complexity", "anti_patterns", "examples"];

/// One finding for the document, at the version, with each section of the newer version beside it.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // Dialect 1.0 together with a section below implies that the document declares the version.
    if !subject.has_typed_sections() || subject.dialect != Some("1.0") {
        return;
    }
    // From the document: the record has an empty list for a section that is empty and for one that
    // is missing.
    let is_new = |name: &&str| {
        let section = subject.document_value(&RecordPath::root().child(name));
        section.is_some_and(|node| {
            if *name == "examples" { has_scenarios(node) } else { node.kind() != ValueKind::Null }
        })
    };
    let sections: Vec<&str> = SECTIONS.into_iter().filter(is_new).collect();
    let at = RecordPath::root().child("schema_version");
    let Some(version) = subject.document_value(&at).filter(|_| !sections.is_empty()) else {
        return;
    };
    // The repair keeps the way the version is written: as a text or as a number.
    let new = if version.kind() == ValueKind::String { Json::from("2.0") } else { Json::from(2.0) };
    let edit = Edit::Replace(at.clone(), new);
    // One finding for all sections: one change of the version removes all of them.
    let quoted: Vec<String> = sections.iter().map(|name| format!("`{name}`")).collect();
    let verb = if sections.len() > 1 { "are" } else { "is" };
    let message =
        format!("`schema_version` is 1.0, but {} {verb} of version 2.0", quoted.join(" and "));
    let mut finding = RecordFinding::new(&VERSION_FEATURE_MISMATCH, at, message);
    for section in sections {
        finding = finding.related(RecordPath::root().child(section), "only since version 2.0");
    }
    // Not safe: version 2.0 has stricter rules, so new errors may appear.
    out.push(finding.repair(Safety::Unsafe, "write 2.0", vec![edit]));
}

/// Whether the examples have one of the two scenarios by which version 2.0 is detected.
fn has_scenarios(examples: Node<'_>) -> bool {
    examples.members().iter().flat_map(|entry| entry.value.items()).any(|example| {
        let scenario = example.get("scenario").and_then(Node::text);
        matches!(scenario, Some("success" | "failure_invalid_param"))
    })
}

#[cfg(test)]
mod tests {
    use toolwright_model::Json;
    use toolwright_source::Edit;

    use crate::testing::{findings, found, messages};

    /// An AIOS tool; `version` precedes the id and `more` continues the object.
    fn tool(version: &str, more: &str) -> String {
        format!("tool: {{{version}id: notes, type: cli{more}}}")
    }

    #[test]
    fn sections_of_version_2_in_a_tool_of_version_1_are_reported() {
        let expected = ["VERSION_FEATURE_MISMATCH at /tool/schema_version"];
        for section in [
            ", executable_knowledge: {}",
            ", api_complexity: {}",
            ", anti_patterns: []",
            ", anti_patterns: 7",
            ", examples: {a: [{scenario: success}]}",
            ", examples: {a: [7], b: [{}, {scenario: failure_invalid_param}]}",
        ] {
            for one in ["schema_version: 1.0, ", "schema_version: 1, ", "schema_version: '1.0', "] {
                assert_eq!(
                    found("VERSION_FEATURE_MISMATCH", &tool(one, section)),
                    expected,
                    "{one}{section}"
                );
            }
            // Other versions, none, or malformed ones.
            for other in [
                "",
                "schema_version: 2.0, ",
                "schema_version: null, ",
                "schema_version: '', ",
                "schema_version: 3, ",
            ] {
                assert_eq!(
                    found("VERSION_FEATURE_MISMATCH", &tool(other, section)),
                    [""; 0],
                    "{other}{section}"
                );
            }
        }
        for fine in [
            "",
            ", executable_knowledge: null",
            ", anti_patterns:",
            ", examples: {a: [{scenario: edge_case}]}",
            ", examples: {success: [{}]}",
            ", examples: [{scenario: success}]",
            ", examples: 7",
        ] {
            let text = tool("schema_version: 1.0, ", fine);
            assert_eq!(found("VERSION_FEATURE_MISMATCH", &text), [""; 0], "{fine}");
        }
    }

    #[test]
    fn the_message_names_all_sections_of_version_2() {
        let text = tool("schema_version: 1.0, ", ", anti_patterns: [], api_complexity: {}");
        let expected =
            "`schema_version` is 1.0, but `api_complexity` and `anti_patterns` are of version 2.0";
        assert_eq!(messages("VERSION_FEATURE_MISMATCH", &text), [expected]);
        for (written, new) in [("1.0", Json::from(2.0)), ("'1.0'", Json::from("2.0"))] {
            let text = tool(&format!("schema_version: {written}, "), ", anti_patterns: []");
            let all = findings(&text);
            let found = all
                .into_iter()
                .find(|f| f.code.name == "VERSION_FEATURE_MISMATCH")
                .expect("a finding");
            assert_eq!(found.related[0].0.as_str(), "/tool/anti_patterns");
            assert_eq!(found.repair.expect("a repair").edits, [Edit::Replace(found.at, new)]);
        }
    }
}
