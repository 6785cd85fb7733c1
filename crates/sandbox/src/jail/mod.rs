//! The jail of a worker: the worker locks itself in before it reads its first byte, and reports
//! which layers it could put around itself.
//!
//! Each layer alone would stop most attacks; together they hold if the guest finds a bug in the
//! engine, and a second one in a layer. A layer that the system lacks (an old kernel, a container
//! that forbids it, another system than Linux) does not keep the worker from running: the worker
//! reports it, and the parent decides with a [`JailPolicy`].

#[cfg(target_os = "linux")]
mod linux;

use serde_json::{Map, Value as Json};

use crate::limits::LEAST_ADDRESS_SPACE;

/// The layers of the jail, in the order in which they are entered. Seccomp must be the last, since
/// it forbids the system calls that set up the others. The score must be written while files can be
/// opened; capabilities are dropped after it, because nothing below needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JailLayer {
    /// The worker is killed when its parent dies.
    ParentDeath,
    /// The worker is in a process group of its own, out of reach of the terminal's signals.
    ProcessGroup,
    /// The worker has no environment variables.
    Environment,
    /// The worker has one open descriptor: the socket to its parent.
    Descriptors,
    /// The worker is the first process that the system ends when memory runs out.
    OomScore,
    /// No program that the worker starts could have more rights than it. Landlock and seccomp
    /// require this of processes without privileges.
    NoNewPrivileges,
    /// The worker has none of the rights of root, even if its user is root.
    Capabilities,
    /// The worker can open no path and use no port, through any system call.
    Landlock,
    /// The system limits the memory, descriptors, processes and files of the worker.
    ResourceLimits,
    /// The system refuses all but the few system calls, and arguments of them, that computing
    /// takes.
    Seccomp,
}

impl JailLayer {
    /// Every layer, in the order in which they are entered.
    pub const ALL: [JailLayer; 10] = [
        JailLayer::ParentDeath,
        JailLayer::ProcessGroup,
        JailLayer::Environment,
        JailLayer::Descriptors,
        JailLayer::OomScore,
        JailLayer::NoNewPrivileges,
        JailLayer::Capabilities,
        JailLayer::Landlock,
        JailLayer::ResourceLimits,
        JailLayer::Seccomp,
    ];

    /// The name in reports and errors.
    pub fn name(self) -> &'static str {
        match self {
            JailLayer::ParentDeath => "parent-death",
            JailLayer::ProcessGroup => "process-group",
            JailLayer::Environment => "environment",
            JailLayer::Descriptors => "descriptors",
            JailLayer::OomScore => "oom-score",
            JailLayer::NoNewPrivileges => "no-new-privileges",
            JailLayer::Capabilities => "capabilities",
            JailLayer::Landlock => "landlock",
            JailLayer::ResourceLimits => "resource-limits",
            JailLayer::Seccomp => "seccomp",
        }
    }

    /// What the layer prevents, to be read behind "protects from".
    pub fn protects_from(self) -> &'static str {
        match self {
            JailLayer::ParentDeath => "workers that go on after this program has ended",
            JailLayer::ProcessGroup => "signals of the terminal that end a worker during a call",
            JailLayer::Environment => "reading secrets in environment variables",
            JailLayer::Descriptors => "using files and connections that this program has open",
            JailLayer::OomScore => "the system ending this program, not the worker, for memory",
            JailLayer::NoNewPrivileges => "gaining rights by starting a privileged program",
            JailLayer::Capabilities => "using the rights of root where this program has them",
            JailLayer::Landlock => "opening files and ports, and signals to other processes",
            JailLayer::ResourceLimits => "using up the memory, processes or disk of the system",
            JailLayer::Seccomp => {
                "all other requests to the system, even after a bug of the engine"
            }
        }
    }

    /// What an operator can do where the layer is missing or holds only in part.
    pub fn remedy(self) -> &'static str {
        if cfg!(not(target_os = "linux")) {
            return "run this program on Linux, or in a virtual machine with Linux";
        }
        match self {
            JailLayer::Landlock => {
                "use Linux 6.12 or newer, with `landlock` in /sys/kernel/security/lsm; \
                 a container must allow the system calls `landlock_*`"
            }
            JailLayer::Seccomp => {
                "use a kernel with CONFIG_SECCOMP_FILTER; \
                 a container must allow the system calls `seccomp` and `prctl`"
            }
            JailLayer::OomScore => "mount /proc, writable for this user",
            JailLayer::ResourceLimits => "raise the hard limits that this program was started with",
            JailLayer::Descriptors => {
                "use Linux 5.9 or newer; a container must allow `close_range`"
            }
            JailLayer::Capabilities => {
                "start this program as another user than root, or allow the system call `capset`"
            }
            JailLayer::ParentDeath
            | JailLayer::ProcessGroup
            | JailLayer::Environment
            | JailLayer::NoNewPrivileges => "a container must allow the system call `prctl`",
        }
    }

    /// Whether [`JailPolicy::RequireEssential`] insists on the layer: without it a bug of the
    /// engine gives a program files and the network. Other systems than Linux have no such layer,
    /// and would never run anything.
    fn is_essential(self) -> bool {
        cfg!(target_os = "linux") && matches!(self, JailLayer::Landlock | JailLayer::Seccomp)
    }

    fn from_name(name: &str) -> Option<JailLayer> {
        JailLayer::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// Which jails a pool accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JailPolicy {
    /// Any, even one without layers.
    #[default]
    AcceptAny,
    /// On Linux, jails with seccomp and with landlock, which must at least restrict files. On other
    /// systems any jail.
    RequireEssential,
    /// Jails whose layers all hold completely.
    RequireAll,
}

/// How well one layer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerState {
    /// It forbids everything that it is meant to forbid.
    Active,
    /// In part. The text names what this system lacks.
    Partial(String),
    /// Not at all, for this reason.
    Missing(String),
}

impl LayerState {
    /// The reason why the layer does not hold completely; `None` if it does.
    pub fn reason(&self) -> Option<&str> {
        match self {
            LayerState::Active => None,
            LayerState::Partial(reason) | LayerState::Missing(reason) => Some(reason),
        }
    }
}

/// How well each layer holds a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JailReport {
    /// Every layer in order.
    layers: Vec<(JailLayer, LayerState)>,
}

impl JailReport {
    /// Every layer in order.
    pub fn layers(&self) -> impl Iterator<Item = (JailLayer, &LayerState)> {
        self.layers.iter().map(|(layer, state)| (*layer, state))
    }

    /// A sentence for each layer that does not hold completely.
    pub fn deficiencies(&self) -> impl Iterator<Item = String> {
        self.layers().filter_map(|(layer, state)| deficiency(layer, state))
    }

    /// Whether every layer holds completely.
    pub fn is_complete(&self) -> bool {
        self.deficiencies().next().is_none()
    }

    /// The first reason why a policy does not accept this jail; `None` if it does.
    pub fn refusal(&self, policy: JailPolicy) -> Option<String> {
        let refuses = |(layer, state): &(JailLayer, &LayerState)| match (policy, state) {
            (JailPolicy::AcceptAny, _) | (_, LayerState::Active) => false,
            (JailPolicy::RequireEssential, LayerState::Partial(_)) => false,
            (JailPolicy::RequireEssential, LayerState::Missing(_)) => layer.is_essential(),
            (JailPolicy::RequireAll, _) => true,
        };
        let (layer, state) = self.layers().find(refuses)?;
        deficiency(layer, state)
    }

    /// The report in the worker's greeting: an object with a value for each layer, `null` if it is
    /// active, the reason if it is missing, a list of the reason if it holds in part.
    pub(crate) fn to_json(&self) -> Json {
        let entry = |(layer, state): (JailLayer, &LayerState)| {
            let state = match state {
                LayerState::Active => Json::Null,
                LayerState::Partial(reason) => Json::Array(vec![reason.clone().into()]),
                LayerState::Missing(reason) => reason.clone().into(),
            };
            (layer.name().to_owned(), state)
        };
        Json::Object(self.layers().map(entry).collect::<Map<_, _>>())
    }

    /// Reads a worker's report; `None` if it is malformed. Layers that it does not mention are
    /// missing.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<JailReport> {
        let Json::Object(report) = serde_json::from_slice(bytes).ok()? else { return None };
        let are_names_known = report.keys().all(|name| JailLayer::from_name(name).is_some());
        let state = |layer: JailLayer| match report.get(layer.name()) {
            Some(Json::Null) => LayerState::Active,
            Some(Json::String(reason)) => LayerState::Missing(reason.clone()),
            Some(Json::Array(reason)) => {
                let reason = reason.first().and_then(Json::as_str).unwrap_or_default();
                LayerState::Partial(reason.to_owned())
            }
            _ => LayerState::Missing("the worker did not report it".to_owned()),
        };
        are_names_known.then(|| JailReport {
            layers: JailLayer::ALL.map(|layer| (layer, state(layer))).to_vec(),
        })
    }
}

/// The sentence about a layer that does not hold completely.
fn deficiency(layer: JailLayer, state: &LayerState) -> Option<String> {
    let name = layer.name();
    match state {
        LayerState::Active => None,
        LayerState::Partial(reason) => {
            Some(format!("the layer `{name}` of the jail holds only in part: {reason}"))
        }
        LayerState::Missing(reason) => Some(format!("the jail lacks its layer `{name}`: {reason}")),
    }
}

/// Locks this process in, as far as the system can. Must be called while the process has one thread
/// and no open file: some layers apply to the calling thread only. Layers in `without` are left
/// out, for tests.
pub(crate) fn enter(without: &[JailLayer]) -> JailReport {
    restore_crash_signals();
    let enter = |layer: JailLayer| {
        if without.contains(&layer) {
            return (layer, LayerState::Missing("left out on request".to_owned()));
        }
        let entered = enter_layer(layer);
        (layer, entered.unwrap_or_else(|error| LayerState::Missing(error.to_string())))
    };
    JailReport { layers: JailLayer::ALL.map(enter).to_vec() }
}

/// Removes the signal handlers that Rust's runtime installs for stack overflows. They end the
/// process by restoring the default action with a system call that the jail refuses; the crashing
/// instruction would then run again and again until the guest's time is up.
fn restore_crash_signals() {
    for signal in
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGABRT]
    {
        // SAFETY: sets the default action, so no code of ours runs in a handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// The limit of this process's address space in bytes, if it is too small for a worker, which
/// inherits it.
pub(crate) fn too_little_address_space() -> Option<u64> {
    #[cfg(target_os = "linux")]
    let limit = linux::address_space();
    #[cfg(not(target_os = "linux"))]
    let limit = u64::MAX;
    (limit < LEAST_ADDRESS_SPACE).then_some(limit)
}

#[cfg(target_os = "linux")]
use linux::enter_layer;

#[cfg(not(target_os = "linux"))]
fn enter_layer(layer: JailLayer) -> std::io::Result<LayerState> {
    // The parent starts every worker without variables and in a process group of its own.
    match layer {
        JailLayer::Environment | JailLayer::ProcessGroup => Ok(LayerState::Active),
        _ => Err(std::io::Error::other("only Linux has this layer")),
    }
}
