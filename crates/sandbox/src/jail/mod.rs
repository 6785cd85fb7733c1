//! How a worker locks itself in, before it reads its first byte, and what it says about that.

#[cfg(target_os = "linux")]
mod linux;

use serde_json::{Map, Value as Json};

use crate::limits::LEAST_ADDRESS_SPACE;

/// The layers of the jail, from the outside in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The worker is killed when its parent dies.
    ParentDeath,
    /// The worker is in a process group of its own, out of reach of the terminal's signals.
    ProcessGroup,
    /// The worker has no environment variables.
    Environment,
    /// The worker has one open descriptor: the socket to its parent.
    Descriptors,
    /// No program that it might start could have more rights than it.
    NoNewPrivileges,
    /// No path can be opened and no port used, whatever the system call.
    Landlock,
    /// Limits of memory, descriptors, processes and files, set by the system.
    ResourceLimits,
    /// Only the few system calls that computing takes are let through.
    Seccomp,
}

impl Layer {
    /// Every layer.
    pub const ALL: [Layer; 8] = [
        Layer::ParentDeath,
        Layer::ProcessGroup,
        Layer::Environment,
        Layer::Descriptors,
        Layer::NoNewPrivileges,
        Layer::Landlock,
        Layer::ResourceLimits,
        Layer::Seccomp,
    ];

    /// The name, as reports and errors spell it.
    pub fn name(self) -> &'static str {
        match self {
            Layer::ParentDeath => "parent-death",
            Layer::ProcessGroup => "process-group",
            Layer::Environment => "environment",
            Layer::Descriptors => "descriptors",
            Layer::NoNewPrivileges => "no-new-privileges",
            Layer::Landlock => "landlock",
            Layer::ResourceLimits => "resource-limits",
            Layer::Seccomp => "seccomp",
        }
    }

    /// What the layer is for, in half a sentence.
    pub fn purpose(self) -> &'static str {
        match self {
            Layer::ParentDeath => "dies with its parent",
            Layer::ProcessGroup => "has a process group of its own",
            Layer::Environment => "sees no environment variables",
            Layer::Descriptors => "has no open descriptor but the one to its parent",
            Layer::NoNewPrivileges => "can never gain privileges",
            Layer::Landlock => "can open no path and use no port",
            Layer::ResourceLimits => "has limits of memory, descriptors and processes",
            Layer::Seccomp => "can make no system call but those of computing",
        }
    }

    fn named(name: &str) -> Option<Layer> {
        Layer::ALL.into_iter().find(|layer| layer.name() == name)
    }
}

/// Which layers hold a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JailReport {
    /// Every layer, with the reason if it is missing.
    layers: Vec<(Layer, Option<String>)>,
}

impl JailReport {
    /// Every layer, and why it is missing if it is.
    pub fn layers(&self) -> impl Iterator<Item = (Layer, Option<&str>)> {
        self.layers.iter().map(|(layer, reason)| (*layer, reason.as_deref()))
    }

    /// The layers that are missing, with the reason.
    pub fn missing(&self) -> impl Iterator<Item = (Layer, &str)> {
        self.layers().filter_map(|(layer, reason)| Some((layer, reason?)))
    }

    /// Whether every layer holds.
    pub fn is_complete(&self) -> bool {
        self.missing().next().is_none()
    }

    pub(crate) fn to_json(&self) -> Json {
        let entry = |(layer, reason): &(Layer, Option<String>)| {
            (layer.name().to_owned(), reason.clone().map_or(Json::Null, Json::String))
        };
        Json::Object(self.layers.iter().map(entry).collect::<Map<_, _>>())
    }

    /// Reads a worker's report. What it does not mention is missing.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<JailReport> {
        let Json::Object(told) = serde_json::from_slice(bytes).ok()? else { return None };
        let known = told.keys().all(|name| Layer::named(name).is_some());
        let state = |layer: Layer| match told.get(layer.name()) {
            Some(Json::Null) => None,
            Some(Json::String(reason)) => Some(reason.clone()),
            _ => Some("the worker does not know it".to_owned()),
        };
        known.then(|| JailReport { layers: Layer::ALL.map(|layer| (layer, state(layer))).to_vec() })
    }
}

/// Locks this process in, as far as the system can. Layers in `without` are left out, which only
/// tests want.
pub(crate) fn enter(without: &[Layer]) -> JailReport {
    crash_at_once();
    let enter = |layer: Layer| {
        if without.contains(&layer) {
            return (layer, Some("left out on request".to_owned()));
        }
        (layer, enter_layer(layer).err().map(|error| error.to_string()))
    };
    JailReport { layers: Layer::ALL.map(enter).to_vec() }
}

/// Gives up the handlers of Rust's runtime for crashes. They hand back to the system with a call
/// that the jail refuses, and the crash would be tried again until the time is over.
fn crash_at_once() {
    for signal in
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGABRT]
    {
        // SAFETY: no handler is given.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// The addresses that this process may use, if they are too few for a worker.
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
fn enter_layer(layer: Layer) -> std::io::Result<()> {
    // The parent clears the environment and makes the process group everywhere.
    match layer {
        Layer::Environment | Layer::ProcessGroup => Ok(()),
        _ => Err(std::io::Error::other("only Linux has it")),
    }
}
