//! A health check can be made: its method is `tool_call`, and it names a command.
//!
//! Source: AIOS, MCP tools, whose only method is `tool_call`. A check of another kind, or of
//! nothing, is not made, so the author would rely on something that does not happen. Silent about a
//! method that is left out, which means `tool_call`.
//!
//! ```text
//! {method: http_get, command: status}    reported at the method
//! {method: tool_call}                    reported: no command
//! {command: status}                      fine: the method is `tool_call`
//! {method: tool_call, command: [a]}      not here: the shape reports the type
//! ```
//!
//! No repair: there is one method only, but the author may have meant a check that AIOS lacks.

use toolwright_model::HealthCheck;
use toolwright_source::words::shorten;
use toolwright_source::{RecordFinding, RecordPath, ValueKind};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    UNKNOWN_HEALTH_CHECK Warning
        "The `health_check` of an AIOS tool cannot be made: its `method` is not `tool_call`, or \
         it names no `command`. The server then counts as healthy as soon as it is connected.\n\n\
         Write `method: tool_call` and the `command` to call. With an object as \
         `expected_response` the command is called, and its result must contain that; otherwise \
         the server must list the command."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [status]
  mcp_specific:
    server_command: notes-server
    health_check: {method: http_get, command: status}
"#,
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  commands: [status]
  mcp_specific:
    server_command: notes-server
    health_check: {method: tool_call, command: status}
"#
    )
}

/// At most one finding: at the method if it is unknown, else at the check that names no command.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let server = subject.toolset.server.as_deref();
    let Some(check) = server.and_then(|server| server.health_check.as_ref()) else { return };
    if check.runnable_command().is_some() {
        return;
    }
    // In the section of the type or at the top, as the reader looks for it.
    let own = RecordPath::root().child("mcp_specific").child("health_check");
    let at = match subject.document_value(&own) {
        Some(_) => own,
        None => RecordPath::root().child("health_check"),
    };
    let method = check.method.as_deref().filter(|method| *method != HealthCheck::TOOL_CALL);
    let Some(method) = method else {
        // A command of another type was reported by its shape.
        let command = subject.document_value(&at.child("command"));
        if command.is_some_and(|it| ![ValueKind::Null, ValueKind::String].contains(&it.kind())) {
            return;
        }
        let message = "the health check names no command, so it is not made";
        let help = "add `command`: the tool of the server that is called or looked for";
        out.push(RecordFinding::new(&UNKNOWN_HEALTH_CHECK, at, message).help(help));
        return;
    };
    let message = format!("the health check has the unknown method `{}`", shorten(method));
    let help = format!("the only method is `{}`", HealthCheck::TOOL_CALL);
    let finding = RecordFinding::new(&UNKNOWN_HEALTH_CHECK, at.child("method"), message);
    out.push(finding.help(help));
}

#[cfg(test)]
mod tests {
    use crate::testing::found;

    #[test]
    fn a_health_check_that_cannot_be_made_is_reported() {
        let inside = |check: &str| {
            format!(
                "tool: {{id: a, type: mcp, mcp_specific: {{server_command: s, \
                 health_check: {check}}}}}"
            )
        };
        let outside = |check: &str| {
            format!(
                "tool: {{id: a, type: mcp, mcp_specific: {{server_command: s}}, \
                 health_check: {check}}}"
            )
        };
        for (text, expected) in [
            (inside("{method: tool_call, command: x}"), ""),
            (inside("{command: x}"), ""),
            (inside("{method: ping, command: x}"), "mcp_specific/health_check/method"),
            (inside("{method: tool_call}"), "mcp_specific/health_check"),
            (inside("{method: tool_call, command: ' '}"), "mcp_specific/health_check"),
            (outside("{expected_response: {status: ok}}"), "health_check"),
            (outside("{method: ping, command: x}"), "health_check/method"),
            ("tool: {id: a, type: cli, health_check: {method: ping}}".to_owned(), ""),
        ] {
            let expected: Vec<String> = match expected {
                "" => Vec::new(),
                at => vec![format!("UNKNOWN_HEALTH_CHECK at /tool/{at}")],
            };
            assert_eq!(found("UNKNOWN_HEALTH_CHECK", &text), expected, "{text}");
        }
    }
}
