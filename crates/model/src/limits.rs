//! Limits: what a definition asks for ([`DeclaredLimits`]), and what the configuration allows
//! ([`CallLimits`]). A declared limit is a request; the configuration caps it, and nothing that an
//! agent, a tool or a document says raises the cap.

use std::time::Duration;

use crate::{Binding, ServerSettings};

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
pub struct DeclaredLimits {
    /// How long a call may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Calls of the toolset that may run at once.
    pub max_concurrent: Option<u32>,
    /// The same where the definition does not say, if its format prescribes a default (BTCP: 3).
    pub default_concurrent: Option<u32>,
    /// The isolation that the author prefers; the tool never gets a weaker one.
    pub sandbox: Option<Sandbox>,
}

impl DeclaredLimits {
    /// How long a call may take if neither tool nor toolset declares it, in milliseconds.
    pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;
    /// Calls of one toolset at once that BTCP prescribes where a manifest does not say.
    pub const DEFAULT_CONCURRENT: u32 = 3;

    /// Calls of the toolset that may run at once: the definition's own number, else the default
    /// that its format prescribes, else `None`.
    pub fn concurrent(&self) -> Option<u32> {
        self.max_concurrent.or(self.default_concurrent)
    }
}

/// What happens to a result that breaks the tool's output schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputCheck {
    /// The call fails.
    #[default]
    Enforce,
    /// The result is passed on with a warning.
    Warn,
    /// The result is not checked.
    Off,
}

/// The limits of calls, from `[limits]` in the configuration. A request or a definition can only
/// ask for less than the maxima here.
#[derive(Clone, Debug, PartialEq)]
pub struct CallLimits {
    /// The time limit of a call for which neither the caller nor the definition sets one.
    pub timeout: Duration,
    /// The same for tools of MCP servers, whose sources do not set one: `timeout` if that is
    /// configured, else longer, because a server that works reports progress.
    pub server_timeout: Duration,
    /// The longest time limit of any call, and the longest wait for a permit.
    pub max_timeout: Duration,
    /// Largest size of a result, in bytes, without its media.
    pub output: usize,
    /// Largest size of the images, sounds and files in a result, decoded, in bytes.
    pub media: usize,
    /// Whether missing arguments get the defaults of the input schema.
    pub defaults: bool,
    /// What happens to a result that breaks the output schema.
    pub output_check: OutputCheck,
    /// Calls of one toolset that run at once, if its definition does not set a number.
    pub max_concurrent: usize,
    /// Calls of one toolset that may wait for a permit.
    pub queue: usize,
    /// The limits of JavaScript functions in definitions.
    pub functions: FunctionLimits,
}

impl CallLimits {
    /// How long a call may take if the caller sets no limit: what the tool declares, else what its
    /// toolset declares, else what the source of its server sets, else the default; never more than
    /// the maximum. A call to a server may take this long without a sign of life, see
    /// [`CallLimits::cap`].
    pub fn time_limit(
        &self,
        tool: &DeclaredLimits,
        toolset: &DeclaredLimits,
        binding: &Binding,
    ) -> Duration {
        let server = server_settings(binding)
            .map_or(self.timeout, |settings| settings.timeout.unwrap_or(self.server_timeout));
        self.declared(tool, toolset).unwrap_or(server).min(self.cap(binding))
    }

    /// The limit that a definition declares, if it does: signs of life do not move it.
    pub fn declared(&self, tool: &DeclaredLimits, toolset: &DeclaredLimits) -> Option<Duration> {
        tool.timeout_ms.or(toolset.timeout_ms).map(Duration::from_millis)
    }

    /// The longest time that a call of a tool with this binding may take in all.
    pub fn cap(&self, binding: &Binding) -> Duration {
        server_settings(binding).and_then(|it| it.max_timeout).unwrap_or(self.max_timeout)
    }
}

impl Default for CallLimits {
    fn default() -> CallLimits {
        CallLimits {
            timeout: Duration::from_millis(DeclaredLimits::DEFAULT_TIMEOUT_MS),
            server_timeout: Duration::from_secs(60),
            max_timeout: Duration::from_secs(300),
            output: 1 << 20,
            media: 16 << 20,
            defaults: false,
            output_check: OutputCheck::Enforce,
            max_concurrent: 64,
            queue: 1024,
            functions: FunctionLimits::default(),
        }
    }
}

/// The settings of the server that runs a tool, if one does.
fn server_settings(binding: &Binding) -> Option<&ServerSettings> {
    match binding {
        Binding::Server { server, .. } => Some(&server.settings),
        _ => None,
    }
}

/// What the JavaScript functions of definitions may use. Only the configuration changes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionLimits {
    /// Processor time of a validator.
    pub validator: Duration,
    /// Processor time of a helper or a processor.
    pub function: Duration,
    /// Bytes of memory of all three, beyond their input.
    pub memory: usize,
    /// Bytes of memory of a tool's body, beyond its input. Its time is that of the call.
    pub body_memory: usize,
    /// Bytes of a result as JSON. The input may have a few times as much, because a processor is
    /// given its data twice.
    pub output: usize,
}

impl Default for FunctionLimits {
    // aios seed, Executable Knowledge: 1000 ms, validators 500 ms, 8 MB.
    fn default() -> FunctionLimits {
        FunctionLimits {
            validator: Duration::from_millis(500),
            function: Duration::from_millis(1_000),
            memory: 8 << 20,
            body_memory: 64 << 20,
            output: 1 << 20,
        }
    }
}
