//! What a definition asks for in time and concurrency: requests, which the configuration caps.

/// How a tool's code is kept apart from its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// A worker.
    Worker,
    /// A frame of its own.
    Iframe,
    /// Hardened JavaScript.
    Ses,
    /// WebAssembly.
    Wasm,
}

impl Sandbox {
    /// All of them.
    pub const ALL: [Sandbox; 4] = [Sandbox::Worker, Sandbox::Iframe, Sandbox::Ses, Sandbox::Wasm];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Sandbox::Worker => "worker",
            Sandbox::Iframe => "iframe",
            Sandbox::Ses => "ses",
            Sandbox::Wasm => "wasm",
        }
    }
}

/// Limits as declared by a tool or a toolset; absent ones have defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Milliseconds a call may take.
    pub timeout_ms: Option<u64>,
    /// Calls that may run at once.
    pub max_concurrent: Option<u32>,
    /// The isolation it would like; it never gets a weaker one.
    pub sandbox: Option<Sandbox>,
}

impl Limits {
    /// Milliseconds a call may take when nobody says otherwise.
    pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;
    /// Calls of one toolset at once when nobody says otherwise.
    pub const DEFAULT_CONCURRENT: u32 = 3;

    /// The time for a call: the tool's own word, else its toolset's, else the default.
    pub fn timeout_ms(tool: &Limits, toolset: &Limits) -> u64 {
        tool.timeout_ms.or(toolset.timeout_ms).unwrap_or(Limits::DEFAULT_TIMEOUT_MS)
    }
}
