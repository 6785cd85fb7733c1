//! The caller's side of a running call: where progress goes.
//!
//! MCP lets a client ask for progress notifications of a call. The crate `serve` implements
//! [`Host`] for such clients, `cli` for a terminal; everyone else passes [`NoHost`].

/// One progress report of a tool, with the fields of MCP's `notifications/progress`.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report of a call, in a unit that the tool chooses.
    pub done: f64,
    /// The value of `done` at the end of the call, if the tool can tell.
    pub total: Option<f64>,
    /// A short text for people.
    pub message: Option<String>,
}

/// Receives what a tool reports while it runs.
pub trait Host: Send + Sync {
    /// Receives one progress report. Called on the task of the connection that delivers it, which
    /// other calls share: an implementation must not block.
    fn progress(&self, progress: Progress);

    /// Whether reports are of any use. If not, the request to an MCP server carries no progress
    /// token, which spares the server the work.
    fn wants_progress(&self) -> bool;
}

/// A caller that waits for the result and ignores progress.
pub struct NoHost;

impl Host for NoHost {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }
}
