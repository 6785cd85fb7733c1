//! An AIOS tool has the section and the field that running it needs. The workspace reports the same
//! code for a BTCP manifest without bodies, because rules read no files.
//!
//! Source: AIOS, type-specific extensions. The specification makes the sections optional, and a
//! definition without them is useful as documentation, so this is a note.
//!
//! Silent about: unknown types, and sections or fields of another type (the shape reports both),
//! and other formats, where a definition does not contain how it is run.
//!
//! ```text
//! type: cli                                  a note: `cli_specific` is missing
//! type: cli, cli_specific: {}                a note: `executable` is missing
//! type: mcp, mcp_specific: {connection: …}   fine, with a `url`: a server that runs already
//! type: cli, cli_specific: [x]               not here: the shape reports the list
//! ```

use toolwright_model::Binding;
use toolwright_source::{Node, RecordFinding, RecordPath, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    NOT_RUNNABLE Info
        "Nothing here says how a tool is run. In AIOS the section for its type is missing, or \
         lacks the field that running needs; of a BTCP manifest no body was found. The \
         definition can be read, shown and converted, but its tools cannot be called.\n\n\
         For a BTCP tool write the body, `NAME.js` beside the manifest, or name the folder of the \
         bodies as `implementations` of the source. In AIOS add the missing field. A tool of type `mcp` needs `server_command`, or a `connection` \
         with a `url`, under `mcp_specific`; `cli` needs `executable` under `cli_specific`; \
         `local` needs `entry_point` under `local_specific`; `meta` needs `orchestration` under \
         `meta_specific`."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
"#,
        r#"tool:
  id: notes
  type: cli
  name: Notes
  version: 1.0.0
  description: Keeps notes
  cli_specific: {executable: notes}
"#
    )
}

/// For each type: its section, the field that running needs, and what that field holds. Type `mcp`
/// has an alternative, `connection.url`, which [`has_command_or_url`] knows. The last part
/// completes the help: "add `cli_specific` with `executable`: the name of …".
const NEEDS: [(&str, &str, &str, &str); 4] = [
    (
        "mcp",
        "mcp_specific",
        "server_command",
        "the command line that starts the server, or its URL",
    ),
    ("cli", "cli_specific", "executable", "the name of the program"),
    ("local", "local_specific", "entry_point", "the script, relative to this file"),
    ("meta", "meta_specific", "orchestration", "the helper that calls the other tools"),
];

/// At most one finding for a document. The order of the tests matters: what another rule or the
/// shape reports ends the check before a binding is asked for.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // The finding points to `type`, because the section that is missing has no position, and the
    // type is the reason why the section is needed.
    let at = RecordPath::root().child("type");
    let Some(kind) =
        // From the document: the record has no field for the type, only the binding that follows
        // from it.
        subject.document_value(&at).filter(|_| subject.has_typed_sections()).and_then(Node::text)
    else {
        return;
    };
    // An unknown type was reported by its shape.
    let Some((_, section, field, about)) = NEEDS.iter().find(|(name, ..)| *name == kind) else {
        return;
    };
    let written = subject
        .document_value(&RecordPath::root().child(section))
        // A YAML key with nothing behind it is null. The author has not written the section yet.
        .filter(|node| node.kind() != ValueKind::Null);
    // A section or a field of another type was reported by its shape.
    let is_malformed = |node: Node<'_>| node.kind() != ValueKind::Null && node.text().is_none();
    if written.is_some_and(|node| {
        node.kind() != ValueKind::Map || node.get(field).is_some_and(is_malformed)
    }) {
        return;
    }
    let tools = &subject.toolset.tools;
    let is_bound = match tools.first() {
        // All commands of a tool share one binding, so the first one is enough.
        Some(tool) => tool.details.binding != Binding::Unbound,
        // A server that is not connected has no commands yet, so there is no tool to ask.
        None => written.is_some_and(|section| has_command_or_url(section, field)),
    };
    if is_bound {
        return;
    }
    let message = match written {
        // The message names the smallest thing that is missing: the field if the section is there,
        // otherwise the section.
        Some(_) => format!("the tool cannot be run: `{section}` has no `{field}`"),
        None => format!("the tool cannot be run: type `{kind}` needs `{section}`"),
    };
    let help = format!("add `{section}` with `{field}`: {about}");
    out.push(RecordFinding::new(&NOT_RUNNABLE, at, message).help(help));
}

/// Whether a section has the field, or the URL of a server that is running already.
fn has_command_or_url(section: Node<'_>, field: &str) -> bool {
    let url = || section.get("connection").and_then(|connection| connection.get("url"));
    section.get(field).or_else(url).and_then(Node::text).is_some()
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, findings, found, messages};

    /// An AIOS tool of this type; `more` continues the object.
    fn tool(kind: &str, more: &str) -> String {
        format!("tool: {{id: notes, type: {kind}{more}}}")
    }

    #[test]
    fn a_tool_without_the_section_of_its_type_is_reported() {
        for (kind, fine) in [
            ("mcp", ", mcp_specific: {server_command: npx server}"),
            ("mcp", ", mcp_specific: {server_command: npx server}, commands: [a]"),
            ("mcp", ", mcp_specific: {connection: {url: 'http://localhost'}}"),
            (
                "mcp",
                ", mcp_specific: {transport: sse, connection: {url: 'http://localhost'}}, commands: [a]",
            ),
            ("cli", ", cli_specific: {executable: notes}"),
            ("local", ", local_specific: {entry_point: notes.py}"),
            ("meta", ", meta_specific: {orchestration: helpers.x}"),
            // Values of another type are reported by their shape.
            ("cli", ", cli_specific: [], commands: [a, b, c]"),
            ("cli", ", cli_specific: {executable: 7}"),
            ("mpc", ""),
            ("''", ""),
            ("[cli]", ""),
            ("", ""),
        ] {
            assert_eq!(found("NOT_RUNNABLE", &tool(kind, fine)), [""; 0], "{kind} {fine}");
        }
        for (kind, bad) in [
            ("mcp", ""),
            ("mcp", ", commands: [a, b]"),
            ("mcp", ", mcp_specific: {}"),
            ("mcp", ", mcp_specific: {transport: stdio}, commands: [a]"),
            ("cli", ""),
            ("cli", ", cli_specific: null"),
            ("local", ", cli_specific: {executable: notes}"),
            ("local", ", local_specific: {runtime: node}"),
            ("meta", ", meta_specific: {aggregates: [a]}"),
        ] {
            assert_eq!(
                found("NOT_RUNNABLE", &tool(kind, bad)),
                ["NOT_RUNNABLE at /tool/type"],
                "{kind} {bad}"
            );
        }
        // A list of MCP tools does not contain how it is run.
        assert_eq!(found("NOT_RUNNABLE", r#"[{"name": "a", "inputSchema": {}}]"#), [""; 0]);
    }

    #[test]
    fn messages_name_the_missing_section_or_field() {
        let none = tool("cli", "");
        assert_eq!(
            messages("NOT_RUNNABLE", &none),
            ["the tool cannot be run: type `cli` needs `cli_specific`"]
        );
        let empty = tool("cli", ", cli_specific: {}");
        assert_eq!(
            messages("NOT_RUNNABLE", &empty),
            ["the tool cannot be run: `cli_specific` has no `executable`"]
        );
        let found = findings(&empty)
            .into_iter()
            .find(|f| f.code.name == "NOT_RUNNABLE")
            .expect("a finding");
        assert_eq!(found.help, ["add `cli_specific` with `executable`: the name of the program"]);
    }

    #[test]
    fn a_tool_with_a_thousand_commands_is_reported_once() {
        let commands: Vec<String> = (0..1_000).map(|n| format!("c{n}")).collect();
        let text = tool("cli", &format!(", commands: [{}]", commands.join(", ")));
        assert_eq!(count(&super::RULE, &text), 1);
    }
}
