//! Every tool has a description, also in formats that do not require one.
//!
//! Source: our own advice; MCP makes the description optional. Formats that require it report its
//! absence as `MISSING_REQUIRED_FIELD`.
//!
//! Silent about: descriptions of another type (the shape reports them), AIOS commands whose server
//! supplies the rest of their definition, and the command that is the AIOS tool itself, which has
//! the tool's own description.
//!
//! No repair, for the reason that makes it a finding: an agent chooses by this text, so it must not
//! be invented.

use toolwright_model::{Draft, FieldValue, InputSchema};
use toolwright_source::{RecordFinding, RecordPath, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;
use crate::subject::ToolPath;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    MISSING_DESCRIPTION Info
        "A tool has no description. The format allows that, but an agent chooses between tools \
         by their descriptions; without one it has to guess from the name.\n\n\
         Write in a sentence or two what the tool does, when to use it and what it returns. \
         Describe a command of an AIOS tool under `tools`, with `id` and `description`. \
         Commands that get their definition from a server are not reported."
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

/// One finding for each tool, at the place where its author would write the text.
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
        // Where to point: at a blank description if there is one; else, for a command of AIOS, at
        // its entry under `tools`, which is where a description belongs, even if `commands` names
        // the command, too; else at the name.
        let own = at.child("id");
        // A note at the wrong line makes authors add the text where it has no effect.
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
            // The name is missing or malformed, which was reported; the position identifies the
            // tool.
            None => "this tool has no description".to_owned(),
        };
        let finding = RecordFinding::new(&MISSING_DESCRIPTION, place, message);
        out.push(finding.help("agents choose tools by their descriptions"));
    }
}

/// Whether the description is missing. Readers treat a blank text as missing; a value of another
/// type is `Invalid` and was reported.
fn lacks_description(tool: &Draft) -> bool {
    matches!(tool.description, FieldValue::Missing)
}

/// Whether another rule reports the missing description, or a server will supply it. It decides by
/// the document where the record cannot: two values that were read from one place have the same
/// span.
fn is_reported_elsewhere(subject: &Subject<'_>, at: ToolPath, tool: &Draft) -> bool {
    if subject.conventions().inherits_description {
        // An AIOS tool without commands is its only command. It was read from the same value as the
        // namespace, and its description is a required field of the tool.
        let span = |at: &RecordPath| subject.document_value(at).map(|node| node.span());
        let is_tool = span(&at.pointer())
            .is_some_and(|tool| Some(tool) == span(&RecordPath::root().child("namespace")));
        // A deferred schema means that a server supplies the rest of the definition, including the
        // description.
        return is_tool || tool.input.ok() == Some(&InputSchema::Deferred);
    }
    // `null` is read as missing, but its shape was reported as well.
    subject
        .document_value(&at.child("description"))
        .is_some_and(|node| node.kind() == ValueKind::Null)
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    #[test]
    fn mcp_tools_without_a_description_are_reported() {
        for (description, at) in [
            (r#""description": "Tells the time","#, None),
            ("", Some("/name")),
            (r#""description": "  ","#, Some("/description")),
            // Values of the wrong type are reported by their shape.
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
    fn aios_commands_without_a_description_are_reported() {
        for (body, at) in [
            // The server supplies the description.
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
            // The command is the tool itself, whose description is required.
            ("  type: cli\n", None),
        ] {
            let text = format!("tool:\n  id: t\n{body}");
            let expected: Vec<String> =
                at.into_iter().map(|at| format!("MISSING_DESCRIPTION at {at}")).collect();
            assert_eq!(found("MISSING_DESCRIPTION", &text), expected, "{body}");
        }
    }
}
