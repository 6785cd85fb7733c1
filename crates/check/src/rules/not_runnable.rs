//! A tool says how it is run (aios, type-specific extensions).

use toolwright_model::Binding;
use toolwright_source::{Node, RecordFinding, RecordPath, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    NOT_RUNNABLE Info "An AIOS tool does not say how it is run: the section of its type is missing, or lacks what running needs. The definition can be read, shown and converted, but no command of it can be called.\n\nAdd what is missing. A tool of type `mcp` needs `server_command` or a `connection` with a `url` under `mcp_specific`; `cli` needs `executable` under `cli_specific`; `local` needs `entry_point` under `local_specific`; `meta` needs `orchestration` under `meta_specific`."
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

/// What each type needs: its section, the field in it, and how a person would say it.
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

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let at = RecordPath::root().child("type");
    let Some(kind) =
        subject.document_value(&at).filter(|_| subject.is_format("aios")).and_then(Node::text)
    else {
        return;
    };
    // Another type is another finding.
    let Some((_, section, field, about)) = NEEDS.iter().find(|(name, ..)| *name == kind) else {
        return;
    };
    let written = subject
        .document_value(&RecordPath::root().child(section))
        .filter(|node| node.kind() != ValueKind::Null);
    // A section or a field of another type is another finding.
    let is_bad = |node: Node<'_>| node.kind() != ValueKind::Null && node.text().is_none();
    if written
        .is_some_and(|node| node.kind() != ValueKind::Map || node.get(field).is_some_and(is_bad))
    {
        return;
    }
    let given = written;
    let tools = &subject.toolset.tools;
    let is_bound = match tools.first() {
        Some(tool) => tool.details.binding != Binding::Unbound,
        // The commands of a server that is not connected are not known yet.
        None => given.is_some_and(|section| says(section, field)),
    };
    if is_bound {
        return;
    }
    let message = match given {
        Some(_) => format!("it cannot be run: `{section}` has no `{field}`"),
        None => format!("it cannot be run: a tool of type `{kind}` needs `{section}`"),
    };
    let help = format!("add `{section}` with `{field}`: {about}");
    out.push(RecordFinding::new(&NOT_RUNNABLE, at, message).help(help));
}

fn says(section: Node<'_>, field: &str) -> bool {
    let url = || section.get("connection").and_then(|connection| connection.get("url"));
    section.get(field).or_else(url).and_then(Node::text).is_some()
}

#[cfg(test)]
mod tests {
    use crate::testing::{count, findings, found, messages};

    fn tool(kind: &str, more: &str) -> String {
        format!("tool: {{id: notes, type: {kind}{more}}}")
    }

    #[test]
    fn what_running_needs() {
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
            // What is of another type is another finding.
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
        // An MCP list does not say how it is run, and need not.
        assert_eq!(found("NOT_RUNNABLE", r#"[{"name": "a", "inputSchema": {}}]"#), [""; 0]);
    }

    #[test]
    fn what_people_read() {
        let none = tool("cli", "");
        assert_eq!(
            messages("NOT_RUNNABLE", &none),
            ["it cannot be run: a tool of type `cli` needs `cli_specific`"]
        );
        let empty = tool("cli", ", cli_specific: {}");
        assert_eq!(
            messages("NOT_RUNNABLE", &empty),
            ["it cannot be run: `cli_specific` has no `executable`"]
        );
        let found = findings(&empty)
            .into_iter()
            .find(|f| f.code.name == "NOT_RUNNABLE")
            .expect("a finding");
        assert_eq!(found.help, ["add `cli_specific` with `executable`: the name of the program"]);
    }

    #[test]
    fn a_thousand_commands() {
        let commands: Vec<String> = (0..1_000).map(|n| format!("c{n}")).collect();
        let text = tool("cli", &format!(", commands: [{}]", commands.join(", ")));
        assert_eq!(count(&super::RULE, &text), 1);
    }
}
