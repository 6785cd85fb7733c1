//! The revisions of the protocol, and in what they differ.

use std::fmt;

/// A revision of the protocol, ordered by date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first one: HTTP with a separate event stream.
    V2024_11_05,
    /// Streamable HTTP, batches, audio, annotations of tools.
    V2025_03_26,
    /// Structured results, elicitation, the version header; no batches any more.
    V2025_06_18,
    /// Icons, elicitation by URL, tasks as an experiment.
    V2025_11_25,
    /// Stateless: no handshake, every request carries version and capabilities of the client;
    /// servers ask for input in their results instead of sending requests.
    V2026_07_28,
}

impl Revision {
    /// All revisions, the oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];
    /// The newest one that starts with `initialize`.
    pub const NEWEST_WITH_HANDSHAKE: Revision = Revision::V2025_11_25;

    /// The revision with this name, such as `2025-06-18`.
    pub fn parse(name: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Its name, which is its date.
    pub fn name(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether a connection starts with `initialize` and has a session. Otherwise it is stateless.
    pub fn has_handshake(self) -> bool {
        self <= Revision::NEWEST_WITH_HANDSHAKE
    }

    /// Whether tasks are part of the protocol itself. In 2026-07-28 they are an extension.
    pub fn has_tasks(self) -> bool {
        self == Revision::V2025_11_25
    }

    /// Whether several messages may be sent as one JSON array.
    pub fn has_batches(self) -> bool {
        self <= Revision::V2025_03_26
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
