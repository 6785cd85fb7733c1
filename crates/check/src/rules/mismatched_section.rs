//! An AIOS tool has the section of its own type only.
//!
//! Source: AIOS, type-specific extensions: each type has one section. That of another type has no
//! effect, and most often the `type` is what was meant to be changed.
//!
//! Silent about unknown types, which the shape reports, and about empty sections.
//!
//! ```text
//! type: mcp   cli_specific: {executable: notes}   reported
//! type: mcp   cli_specific:                       fine: null is not written yet
//! type: mpc   cli_specific: {…}                   not here: the type is unknown
//! ```

use toolwright_source::{Node, RecordFinding, RecordPath, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    MISMATCHED_SECTION Warning
        "An AIOS tool has the section of another type, such as `cli_specific` in a tool of type \
         `mcp`. Only the section of the tool's own type has an effect, so the other one is \
         ignored.\n\n\
         Remove the section, or correct `type`."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
  mcp_specific: {server_command: notes-server}
"#,
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific: {server_command: notes-server}
"#
    )
}

/// The types that have a section.
const TYPES: [&str; 4] = ["mcp", "cli", "local", "meta"];

/// A finding at each section of another type than the tool has. No repair: either the section or
/// the type is wrong. The help names both.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let at = RecordPath::root().child("type");
    let Some(kind) =
        subject.document_value(&at).filter(|_| subject.has_typed_sections()).and_then(Node::text)
    else {
        return;
    };
    if !TYPES.contains(&kind) {
        return;
    }
    for other in TYPES.into_iter().filter(|other| *other != kind) {
        let section = format!("{other}_specific");
        let at = RecordPath::root().child(&section);
        // A YAML key with nothing behind it is null.
        let is_written = |node: &Node<'_>| node.kind() != ValueKind::Null;
        if subject.document_value(&at).filter(is_written).is_some() {
            let message = format!("`{section}` has no effect: the type of the tool is `{kind}`");
            let help = format!("remove the section, or set `type: {other}`");
            out.push(RecordFinding::new(&MISMATCHED_SECTION, at, message).on_key().help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    #[test]
    fn the_section_of_another_type_is_reported() {
        let text = "tool: {id: a, type: cli, cli_specific: {executable: x}, \
                    mcp_specific: {server_command: s}, meta_specific: null}";
        assert_eq!(found("MISMATCHED_SECTION", text), ["MISMATCHED_SECTION at /tool/mcp_specific"]);
        assert_eq!(
            messages("MISMATCHED_SECTION", text),
            ["`mcp_specific` has no effect: the type of the tool is `cli`"]
        );
        for fine in [
            "tool: {id: a, type: cli, cli_specific: {executable: x}}",
            "tool: {id: a, type: clu, mcp_specific: {server_command: x}}",
            "tool: {id: a, mcp_specific: {server_command: x}}",
        ] {
            assert_eq!(found("MISMATCHED_SECTION", fine), Vec::<String>::new(), "{fine}");
        }
    }
}
