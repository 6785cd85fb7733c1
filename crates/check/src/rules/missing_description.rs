//! A tool says what it does, also where its format does not insist.

use toolwright_model::{Draft, FieldValue, InputSchema};
use toolwright_source::{RecordFinding, RecordPath, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { check };

toolwright_source::codes! {
    MISSING_DESCRIPTION Info "A tool has no description. The format allows that, but the description is what an agent goes by when it chooses between tools; without one it can only guess from the name.\n\nSay in a sentence or two what the tool does, when to use it and what it returns. A command of an AIOS tool is described under `tools`, with `id` and `description`. Commands whose server is asked for the rest of their definition are left out."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "inputSchema": {"type": "object", "additionalProperties": false}
}
"#,
        r#"{
  "name": "now",
  "description": "Returns the current time in UTC, in RFC 3339",
  "inputSchema": {"type": "object", "additionalProperties": false}
}
"#
    )
}

fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    // Where a description is required, its absence is MISSING_REQUIRED_FIELD.
    if subject.conventions().requires_description {
        return;
    }
    for (at, tool) in subject.tools().filter(|(_, tool)| lacks_description(tool)) {
        if is_reported_elsewhere(subject, at, tool) {
            continue;
        }
        let written = at.child("description");
        // A command that is described has its own place for it, even where another list names it.
        let own = at.child("id");
        let place = match subject.document_value(&written).is_some() {
            true => written,
            false
                if subject.conventions().inherits_description
                    && subject.document_value(&own).is_some() =>
            {
                own
            }
            false => at.child("name"),
        };
        let message = match tool.name.ok() {
            Some(name) => format!("tool `{name}` has no description"),
            None => "this tool has no description".to_owned(),
        };
        let finding = RecordFinding::new(&MISSING_DESCRIPTION, place, message);
        out.push(finding.help("agents choose tools by their descriptions"));
    }
}

/// A blank one was read as missing, a bad one is another finding.
fn lacks_description(tool: &Draft) -> bool {
    matches!(tool.description, FieldValue::Missing)
}

/// Whether its absence is another finding already, or will be made good by a server.
fn is_reported_elsewhere(subject: &Subject<'_>, at: ToolPath, tool: &Draft) -> bool {
    if subject.conventions().inherits_description {
        // A command that is the tool itself has the description that the tool must have.
        let span = |at: &RecordPath| subject.document_value(at).map(|node| node.span());
        let is_tool = span(&at.pointer())
            .is_some_and(|tool| Some(tool) == span(&RecordPath::root().child("namespace")));
        return is_tool || tool.input.ok() == Some(&InputSchema::Deferred);
    }
    // `null` is not a text: that was reported by its shape.
    subject
        .document_value(&at.child("description"))
        .is_some_and(|node| node.kind() == ValueKind::Null)
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    #[test]
    fn tools_of_mcp() {
        for (description, at) in [
            (r#""description": "Tells the time","#, None),
            ("", Some("/name")),
            (r#""description": "  ","#, Some("/description")),
            // Of the wrong type: another finding.
            (r#""description": 7,"#, None),
            (r#""description": null,"#, None),
        ] {
            let text =
                format!(r#"{{"name": "now", {description} "inputSchema": {{"type": "object"}}}}"#);
            let expected: Vec<String> =
                at.into_iter().map(|at| format!("MISSING_DESCRIPTION at {at}")).collect();
            assert_eq!(found("MISSING_DESCRIPTION", &text), expected, "{description}");
        }
        let nameless = r#"[{"name": 7, "inputSchema": {"type": "object"}}, {"inputSchema": {}}]"#;
        assert_eq!(messages("MISSING_DESCRIPTION", nameless), ["this tool has no description"; 2]);
        for required in
            [r#"{"name": "a", "capabilities": []}"#, r#"{"name": "a", "parameters": {}}"#]
        {
            assert_eq!(messages("MISSING_DESCRIPTION", required), [""; 0], "{required}");
        }
    }

    #[test]
    fn commands_of_aios() {
        for (body, at) in [
            // The server says.
            ("  type: mcp\n  commands: [a]\n", None),
            ("  type: mcp\n  tools: [{id: a}]\n", None),
            (
                "  type: mcp\n  tools: [{id: a, inputSchema: {type: object}}]\n",
                Some("/tool/tools/0/id"),
            ),
            ("  type: local\n  commands: [a]\n", Some("/tool/commands/0")),
            (
                "  type: local\n  tools: [{id: a, description: ' '}]\n",
                Some("/tool/tools/0/description"),
            ),
            ("  type: local\n  tools: [{id: a, description: Does it}]\n", None),
            (
                "  type: cli\n  command_groups: {x: [{command: a b}]}\n",
                Some("/tool/command_groups/x/0/command"),
            ),
            // The tool itself, whose description is required.
            ("  type: cli\n", None),
        ] {
            let text = format!("tool:\n  id: t\n{body}");
            let expected: Vec<String> =
                at.into_iter().map(|at| format!("MISSING_DESCRIPTION at {at}")).collect();
            assert_eq!(found("MISSING_DESCRIPTION", &text), expected, "{body}");
        }
    }
}
