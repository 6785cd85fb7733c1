//! The jail of a worker: the worker locks itself in before it reads its first byte, and reports
//! which layers it could put around itself.
//!
//! Each layer alone would stop most attacks; together they hold if the guest finds a bug in the
//! engine, and a second one in a layer. A layer that the system lacks (an old kernel, a container
//! that forbids it, another system than Linux) does not keep the worker from running: the parent
//! decides with [`PoolOptions::require_jail`](crate::PoolOptions::require_jail).

#[cfg(target_os = "linux")]
mod linux;

use serde_json::{Map, Value as Json};

use crate::limits::LEAST_ADDRESS_SPACE;

/// The layers of the jail, in the order in which they are entered. Seccomp must be the last, since
/// it forbids the system calls that set up the others.
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
    /// No program that the worker starts could have more rights than it. Landlock and seccomp
    /// require this of processes without privileges.
    NoNewPrivileges,
    /// The worker can open no path and use no port, through any system call.
    Landlock,
    /// The system limits the memory, descriptors, processes and files of the worker.
    ResourceLimits,
    /// The system refuses all but the few system calls that computing takes.
    Seccomp,
}

impl JailLayer {
    /// Every layer, in the order in which they are entered.
    pub const ALL: [JailLayer; 8] = [
        JailLayer::ParentDeath,
        JailLayer::ProcessGroup,
        JailLayer::Environment,
        JailLayer::Descriptors,
        JailLayer::NoNewPrivileges,
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
            JailLayer::NoNewPrivileges => "no-new-privileges",
            JailLayer::Landlock => "landlock",
            JailLayer::ResourceLimits => "resource-limits",
            JailLayer::Seccomp => "seccomp",
        }
    }

    /// What the layer achieves, as the end of a sentence about the worker.
    pub fn purpose(self) -> &'static str {
        match self {
            JailLayer::ParentDeath => "dies with its parent",
            JailLayer::ProcessGroup => "has a process group of its own",
            JailLayer::Environment => "sees no environment variables",
            JailLayer::Descriptors => "has no open descriptor but the one to its parent",
            JailLayer::NoNewPrivileges => "can never gain privileges",
            JailLayer::Landlock => "can open no path and use no port",
            JailLayer::ResourceLimits => "has limits of memory, descriptors and processes",
            JailLayer::Seccomp => "can make no system call but those of computing",
        }
    }

    fn from_name(name: &str) -> Option<JailLayer> {
        JailLayer::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// The layers that hold a worker, and the reasons why others are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JailReport {
    /// Every layer in order; the reason if it is missing.
    layers: Vec<(JailLayer, Option<String>)>,
}

impl JailReport {
    /// Every layer in order; the reason if it is missing.
    pub fn layers(&self) -> impl Iterator<Item = (JailLayer, Option<&str>)> {
        self.layers.iter().map(|(layer, reason)| (*layer, reason.as_deref()))
    }

    /// The layers that are missing, with the reason.
    pub fn missing(&self) -> impl Iterator<Item = (JailLayer, &str)> {
        self.layers().filter_map(|(layer, reason)| Some((layer, reason?)))
    }

    /// Whether every layer holds.
    pub fn is_complete(&self) -> bool {
        self.missing().next().is_none()
    }

    /// The report in the worker's greeting: an object of layers, `null` or the reason.
    pub(crate) fn to_json(&self) -> Json {
        let entry = |(layer, reason): &(JailLayer, Option<String>)| {
            (layer.name().to_owned(), reason.clone().map_or(Json::Null, Json::String))
        };
        Json::Object(self.layers.iter().map(entry).collect::<Map<_, _>>())
    }

    /// Reads a worker's report; `None` if it is malformed. Layers that it does not mention are
    /// missing.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<JailReport> {
        let Json::Object(report) = serde_json::from_slice(bytes).ok()? else { return None };
        let are_names_known = report.keys().all(|name| JailLayer::from_name(name).is_some());
        let state = |layer: JailLayer| match report.get(layer.name()) {
            Some(Json::Null) => None,
            Some(Json::String(reason)) => Some(reason.clone()),
            _ => Some("the worker did not report it".to_owned()),
        };
        are_names_known.then(|| JailReport {
            layers: JailLayer::ALL.map(|layer| (layer, state(layer))).to_vec(),
        })
    }
}

/// Locks this process in, as far as the system can. Must be called while the process has one thread
/// and no open file: some layers apply to the calling thread only. Layers in `without` are left
/// out, for tests.
pub(crate) fn enter(without: &[JailLayer]) -> JailReport {
    restore_crash_signals();
    let enter = |layer: JailLayer| {
        if without.contains(&layer) {
            return (layer, Some("left out on request".to_owned()));
        }
        (layer, enter_layer(layer).err().map(|error| error.to_string()))
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
fn enter_layer(layer: JailLayer) -> std::io::Result<()> {
    // The parent starts every worker without variables and in a process group of its own.
    match layer {
        JailLayer::Environment | JailLayer::ProcessGroup => Ok(()),
        _ => Err(std::io::Error::other("only Linux has this layer")),
    }
}
