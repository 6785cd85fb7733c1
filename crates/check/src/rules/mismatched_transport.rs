//! The transport of an AIOS tool of type `mcp` fits what the definition says of its server: a
//! command line for `stdio`, an address of HTTP for `sse`, one of a WebSocket for `websocket`.
//!
//! Source: AIOS, MCP tools. The address is in `server_command` or in `connection.url`, as tools in
//! the wild write it.
//!
//! Silent about transports that do not exist and servers that are missing: the shape and
//! NOT_RUNNABLE report them.
//!
//! ```text
//! transport │ npx notes-server │ https://… │ wss://…
//! stdio     │ fits             │ reported  │ reported
//! sse       │ reported         │ fits      │ reported
//! websocket │ reported         │ reported  │ fits
//! ```
//!
//! No repair: either the transport or the address may be the wrong one. The help names the
//! transport that would fit.

use toolwright_source::words::shorten;
use toolwright_source::{Node, RecordFinding, RecordPath};

use crate::Subject;
use crate::report::Report;
use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check };

toolwright_source::codes! {
    MISMATCHED_TRANSPORT Warning
        "The `transport` of an AIOS tool does not fit its server. `stdio` starts a command line, \
         `sse` needs an address that starts with `http://` or `https://`, and `websocket` one \
         that starts with `ws://` or `wss://`. A server with the wrong one cannot be reached.\n\n\
         Correct `transport`, or `server_command` or `connection.url`."
    => (
        "tool.yaml",
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific:
    server_command: npx -y notes-server
    transport: sse
"#,
        r#"tool:
  id: notes
  type: mcp
  name: Notes
  version: 1.0.0
  description: Keeps notes
  mcp_specific:
    server_command: https://notes.example/sse
    transport: sse
"#
    )
}

/// What a server is reached by.
///
/// One for each transport of AIOS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerAddress {
    Command,
    Http,
    WebSocket,
}

impl ServerAddress {
    /// By the scheme, in any case. A text without one of the four schemes is a command line. `get`
    /// and not an index: the text may be shorter than a scheme, or have no character boundary
    /// there.
    fn of(text: &str) -> ServerAddress {
        let text = text.trim();
        let starts = |schemes: [&str; 2]| {
            schemes.iter().any(|scheme| {
                text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            })
        };
        match () {
            () if starts(["http://", "https://"]) => ServerAddress::Http,
            () if starts(["ws://", "wss://"]) => ServerAddress::WebSocket,
            () => ServerAddress::Command,
        }
    }

    /// The word for it in messages.
    fn words(self) -> &'static str {
        match self {
            ServerAddress::Command => "a command line",
            ServerAddress::Http => "an address of HTTP",
            ServerAddress::WebSocket => "an address of a WebSocket",
        }
    }
}

/// Reads the document and not the binding, because a binding has one connection, and the rule is
/// about two fields that contradict each other. The finding is at the transport.
///
/// If both `server_command` and `connection.url` are there, the one that the reader uses for this
/// transport is compared.
fn check(subject: &Subject<'_>, out: &mut Report<'_>) {
    let text = |path: &[&str]| {
        let at = path.iter().fold(RecordPath::root(), |at, name| at.child(*name));
        subject.document_value(&at).and_then(Node::text).map(|text| (at, text))
    };
    let is_server = text(&["type"]).is_some_and(|(_, kind)| kind == "mcp");
    if !is_server || !subject.has_typed_sections() {
        return;
    }
    let transport = text(&["mcp_specific", "transport"])
        .or_else(|| text(&["mcp_specific", "connection", "type"]));
    let Some((at, transport)) = transport else { return };
    let expected = match transport {
        "stdio" => ServerAddress::Command,
        "sse" => ServerAddress::Http,
        "websocket" => ServerAddress::WebSocket,
        _ => return,
    };
    let line = text(&["mcp_specific", "server_command"]);
    let url = text(&["mcp_specific", "connection", "url"]);
    // The order in which the reader looks for the server.
    let used = if expected == ServerAddress::Command { line.or(url) } else { url.or(line) };
    let Some((_, server)) = used else { return };
    let actual = ServerAddress::of(server);
    if actual != expected {
        let (needs, has) = (expected.words(), actual.words());
        let server = shorten(server);
        let message = format!("transport `{transport}` needs {needs}, and `{server}` is {has}");
        let fitting = match actual {
            ServerAddress::Command => "stdio",
            ServerAddress::Http => "sse",
            ServerAddress::WebSocket => "websocket",
        };
        let help = format!("write `transport: {fitting}`, or correct the server");
        out.push(RecordFinding::new(&MISMATCHED_TRANSPORT, at, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{found, messages};

    fn tool(section: &str) -> String {
        format!("tool: {{id: a, type: mcp, mcp_specific: {{{section}}}}}")
    }

    #[test]
    fn transports_fit_their_servers() {
        for (section, expected) in [
            ("transport: stdio, server_command: npx x", ""),
            ("transport: stdio, server_command: 'https://h/mcp'", "transport"),
            ("transport: sse, server_command: 'https://h/sse'", ""),
            ("transport: sse, connection: {url: 'http://h'}, server_command: x", ""),
            ("transport: sse, server_command: npx x", "transport"),
            ("transport: sse, server_command: 'wss://h'", "transport"),
            ("transport: websocket, connection: {url: 'WS://h'}", ""),
            ("transport: websocket, server_command: 'https://h'", "transport"),
            ("connection: {type: websocket, url: 'http://h'}", "connection/type"),
            ("transport: carrier-pigeon, server_command: x", ""),
            ("transport: sse", ""),
            ("server_command: x", ""),
        ] {
            let expected: Vec<String> = match expected {
                "" => Vec::new(),
                at => vec![format!("MISMATCHED_TRANSPORT at /tool/mcp_specific/{at}")],
            };
            assert_eq!(found("MISMATCHED_TRANSPORT", &tool(section)), expected, "{section}");
        }
        assert_eq!(
            messages("MISMATCHED_TRANSPORT", &tool("transport: sse, server_command: npx x")),
            ["transport `sse` needs an address of HTTP, and `npx x` is a command line"]
        );
    }
}
