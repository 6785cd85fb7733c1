//! Limits as a definition declares them: time, concurrency and isolation.
//!
//! These are requests of the author. The configuration caps them, and nothing that a definition
//! says raises a limit of the host; `exec` applies what is left.

/// How BTCP isolates the code of a tool in a browser. Outside a browser every script runs in the
/// same sandbox, which is at least as strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// A web worker.
    Worker,
    /// A frame with another origin.
    Iframe,
    /// Hardened JavaScript (Secure ECMAScript), in the same realm.
    Ses,
    /// WebAssembly.
    Wasm,
}

impl Sandbox {
    /// All variants, to find one by its name.
    pub const ALL: [Sandbox; 4] = [Sandbox::Worker, Sandbox::Iframe, Sandbox::Ses, Sandbox::Wasm];

    /// The name in definitions.
    pub fn name(self) -> &'static str {
        match self {
            Sandbox::Worker => "worker",
            Sandbox::Iframe => "iframe",
            Sandbox::Ses => "ses",
            Sandbox::Wasm => "wasm",
        }
    }
}

/// Limits as a tool or a toolset declares them. Absent ones have defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How long a call may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// How many calls may run at the same time.
    pub max_concurrent: Option<u32>,
    /// The isolation that the author prefers.
    pub sandbox: Option<Sandbox>,
}

impl Limits {
    /// How long a call may take if neither tool nor toolset declares it, in milliseconds.
    pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;
    /// How many calls of one toolset may run at the same time by default (BTCP).
    pub const DEFAULT_CONCURRENT: u32 = 3;

    /// How long a call may take, in milliseconds: what the tool declares, else what its toolset
    /// declares, else the default. The configuration's cap is applied later.
    pub fn timeout_ms(tool: &Limits, toolset: &Limits) -> u64 {
        tool.timeout_ms.or(toolset.timeout_ms).unwrap_or(Limits::DEFAULT_TIMEOUT_MS)
    }
}
