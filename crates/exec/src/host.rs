//! What an executor may ask of whoever called.

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every notice.
    pub done: f64,
    /// What it grows to, where that is known.
    pub total: Option<f64>,
    /// A few words.
    pub message: Option<String>,
}

/// The caller's side of a call.
pub trait Host: Send + Sync {
    /// Takes a notice of progress; must not block.
    fn progress(&self, progress: Progress);

    /// Whether notices are wanted at all: a server is asked for them only then.
    fn wants_progress(&self) -> bool;
}

/// A caller who waits for the result and nothing else.
pub struct Quiet;

impl Host for Quiet {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }
}
