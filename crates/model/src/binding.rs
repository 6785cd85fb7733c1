//! How a tool is run, as far as its definition says so. Running it is elsewhere.

use std::sync::Arc;

use crate::Json;

/// How a tool is run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Binding {
    /// The definition does not say.
    #[default]
    Unbound,
    /// A JavaScript function with the tool's name, in a sandbox or a page.
    Script,
    /// A program that takes JSON on standard input and gives JSON on standard output.
    Executable {
        /// The program, when the source it was read from names one.
        program: Option<String>,
    },
    /// A command line; arguments follow the words.
    Command {
        /// The program.
        executable: String,
        /// The words of this very command.
        words: Vec<String>,
        /// A command that succeeds when the program is there.
        install_check: Option<String>,
        /// What to tell who does not have it.
        install_guide: Option<String>,
    },
    /// A script run by an interpreter, speaking the same JSON protocol as an executable.
    Local {
        /// The interpreter.
        runtime: Option<String>,
        /// The script, relative to the definition.
        entry_point: String,
        /// Which of its commands this is.
        command: String,
        /// Packages it wants.
        dependencies: Vec<String>,
    },
    /// A tool of an MCP server.
    Server {
        /// The server, shared by all its tools.
        server: Arc<Server>,
        /// The tool's name over there.
        tool: String,
    },
    /// A function that calls other tools.
    Orchestration {
        /// The helper that does it.
        helper: String,
        /// The toolsets or tools it may call.
        aggregates: Vec<String>,
    },
}

impl Binding {
    /// One word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Binding::Unbound => "none",
            Binding::Script => "script",
            Binding::Executable { .. } => "executable",
            Binding::Command { .. } => "command",
            Binding::Local { .. } => "local",
            Binding::Server { .. } => "mcp",
            Binding::Orchestration { .. } => "orchestration",
        }
    }
}

/// An MCP server and how to reach it.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// The way to it.
    pub connection: Connection,
    /// Environment it wants.
    pub environment: Vec<Variable>,
    /// Headers it wants with every request; their values may be secrets.
    pub headers: Vec<Variable>,
    /// The folder it is started in.
    pub directory: Option<String>,
    /// How to tell that it works.
    pub health_check: Option<HealthCheck>,
}

/// The way to an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Start it and talk over its standard streams.
    Stdio {
        /// The program and its arguments.
        command: Vec<String>,
    },
    /// Streamable HTTP.
    Http {
        /// Where it listens.
        url: String,
    },
    /// Server-sent events; streamable HTTP is tried first.
    Sse {
        /// Where it listens.
        url: String,
    },
    /// A web socket.
    WebSocket {
        /// Where it listens.
        url: String,
    },
}

/// An environment variable or a header that a server wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether the server cannot do without it.
    pub required: bool,
    /// What it is for.
    pub description: Option<String>,
    /// Its value, where the definition carries one.
    pub value: Option<String>,
}

/// A call that tells whether a server works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HealthCheck {
    /// How it is asked.
    pub method: Option<String>,
    /// The tool to call.
    pub command: Option<String>,
    /// The arguments to call it with.
    pub arguments: Option<Json>,
    /// What must be in the answer; prose is documentation.
    pub expected_response: Option<Json>,
    /// Milliseconds to wait.
    pub timeout_ms: Option<u64>,
}

/// A URL as messages may show it: without user, password, query and fragment, which is where URLs
/// carry secrets.
pub fn redacted_url(url: &str) -> String {
    let place = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}
