//! How a tool is run, as far as its definition states it. `exec` chooses the executor by it.
//!
//! A binding is data: reading a definition starts nothing and connects to nothing. Programs and
//! servers are started only by `exec`, and only if the configuration or the command line names the
//! definition.

use std::sync::Arc;
use std::time::Duration;

use crate::Json;

/// How a tool is run. Each kind belongs to one format or field; see the variants.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Binding {
    /// The definition does not state it. The tool can be checked, but not called, unless the
    /// catalog finds it on a server.
    #[default]
    Unbound,
    /// A JavaScript function with the tool's name, in a sandbox or in a web page (BTCP).
    Script,
    /// A program that reads JSON from standard input and writes JSON to standard output (ikigai).
    Executable {
        /// The program, if the definition was read from one. Otherwise the configuration names it.
        program: Option<String>,
    },
    /// A command-line program. A call appends its arguments to the words (aios, `type: cli`).
    Command {
        /// The program, by name or path.
        executable: String,
        /// The fixed words of this command, such as `repo list`.
        words: Vec<String>,
        /// Run before the first call.
        install_check: Option<InstallCheck>,
        /// How to install the program, shown when it is not installed.
        install_guide: Option<String>,
    },
    /// A script for an interpreter, with the same JSON protocol as an executable (aios,
    /// `type: local`).
    Local {
        /// The interpreter, such as `python3` or `node`.
        runtime: Option<String>,
        /// The script, relative to the folder of the definition.
        entry_point: String,
        /// The command to pass to the script, which may offer several.
        command: String,
        /// Packages that the script needs. They are looked for and never installed.
        dependencies: Vec<String>,
    },
    /// A tool of an MCP server (aios, `type: mcp`; MCP servers in the configuration).
    Server {
        /// The server, shared by all its tools.
        server: Arc<Server>,
        /// The name that the server gives to the tool. It may differ from ours.
        tool: String,
    },
    /// A function that calls other tools (aios, `type: meta`).
    Orchestration {
        /// The id of the helper function that is run.
        helper: String,
        /// The toolsets or tools that it may call.
        aggregates: Vec<String>,
    },
    /// A tool that the program itself brings along. No definition can state it: only a source of
    /// the configuration names a built-in toolset.
    Builtin {
        /// The name of the toolset, such as `web`.
        toolset: String,
        /// The name that the toolset gives to the tool.
        tool: String,
    },
}

impl Binding {
    /// One word for the kind, as it is shown in lists and in JSON output.
    pub fn kind(&self) -> &'static str {
        match self {
            Binding::Unbound => "none",
            Binding::Script => "script",
            Binding::Executable { .. } => "executable",
            Binding::Command { .. } => "command",
            Binding::Local { .. } => "local",
            Binding::Server { .. } => "mcp",
            Binding::Orchestration { .. } => "orchestration",
            Binding::Builtin { .. } => "builtin",
        }
    }

    /// Whether the tool was listed by what runs it, a server or a built-in toolset, and is not in
    /// a file that somebody here can edit.
    pub fn is_listed(&self) -> bool {
        matches!(self, Binding::Server { .. } | Binding::Builtin { .. })
    }
}

/// A command line that exits with 0 if a program is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallCheck {
    /// The line as it is written.
    pub line: String,
    /// Its words; empty if it needs a shell. Such a check is shown and not run.
    pub words: Vec<String>,
}

/// An MCP server and how to reach it. All tools of a definition share one, so it is in an `Arc`.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// A program on standard streams, or a URL.
    pub connection: Connection,
    /// The same as messages may show it, with references instead of their values and without
    /// secrets; `None` if it is no different, or if nobody has looked.
    pub shown: Option<Connection>,
    /// Environment variables that the server needs.
    pub environment: Vec<Variable>,
    /// Headers for every HTTP request. Their values may be secrets.
    pub headers: Vec<Variable>,
    /// The working directory of the process; only for standard streams.
    pub directory: Option<String>,
    /// A call that shows whether the server works, made on every new connection.
    pub health_check: Option<HealthCheck>,
    /// How its source wants it to be run.
    pub settings: ServerSettings,
}

/// How the source of a server wants it to be run. Part of a server's identity: two sources with one
/// command line are two processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The name of the source; empty where there is none, such as in a definition that was read
    /// without a configuration.
    pub source: String,
    /// How long it may take to start, to complete its handshake and to list its tools. Long,
    /// because `npx` and `uvx` may download the server first.
    pub start_timeout: Duration,
    /// How long a call may go without a result and without progress; `None`: what the limits of
    /// calls say.
    pub timeout: Option<Duration>,
    /// How long a call may take in all; `None`: what the limits of calls say.
    pub max_timeout: Option<Duration>,
    /// Which clients share a connection to it.
    pub isolation: Isolation,
    /// When it is started.
    pub start: StartMode,
}

impl Default for ServerSettings {
    fn default() -> ServerSettings {
        ServerSettings {
            source: String::new(),
            start_timeout: Duration::from_secs(60),
            timeout: None,
            max_timeout: None,
            isolation: Isolation::Shared,
            start: StartMode::Eager,
        }
    }
}

/// Which clients share a connection to a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// All clients share one connection.
    #[default]
    Shared,
    /// Each session has its own, for servers that keep state.
    Session,
}

/// When a server is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartMode {
    /// When `toolwright` starts.
    #[default]
    Eager,
    /// With the first request, if its lists are known from an earlier run.
    Lazy,
}

/// The transport to an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// A child process that speaks MCP on its standard streams.
    Stdio {
        /// The program and its arguments; no shell is involved.
        command: Vec<String>,
    },
    /// Streamable HTTP.
    Http {
        /// The URL of the endpoint.
        url: String,
    },
    /// The older transport over server-sent events. Streamable HTTP is tried first, because many
    /// servers offer both at one URL.
    Sse {
        /// The URL of the endpoint.
        url: String,
    },
    /// A web socket, which MCP does not specify.
    WebSocket {
        /// The URL of the endpoint.
        url: String,
    },
}

/// An environment variable or a header of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// The name, as the server expects it.
    pub name: String,
    /// Whether the server does not work without it.
    pub required: bool,
    /// What the variable is for.
    pub description: Option<String>,
    /// The value, if the definition contains one. It may be a secret.
    pub value: Option<String>,
}

/// A call that shows whether a server works. `exec` makes it on every new connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HealthCheck {
    /// The kind of check, as the definition names it.
    pub method: Option<String>,
    /// The tool to call.
    pub command: Option<String>,
    /// The arguments for that call.
    pub arguments: Option<Json>,
    /// What the result must contain. A text is documentation for people: then the check passes if
    /// the server lists the command.
    pub expected_response: Option<Json>,
    /// How long to wait for the result, in milliseconds.
    pub timeout_ms: Option<u64>,
}

impl HealthCheck {
    /// The only kind of check that is specified.
    pub const TOOL_CALL: &'static str = "tool_call";

    /// The command to ask for; `None` if the check names none, or is of an unknown kind and cannot
    /// be made.
    pub fn runnable_command(&self) -> Option<&str> {
        let is_known = self.method.as_deref().is_none_or(|method| method == HealthCheck::TOOL_CALL);
        self.command.as_deref().filter(|command| is_known && !command.trim().is_empty())
    }
}
