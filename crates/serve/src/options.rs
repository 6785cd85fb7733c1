//! The settings of the server, filled in by the binary.

use std::time::Duration;

/// The settings of a [`Gateway`](crate::Gateway). The defaults are those of the program.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// How long a session may be idle before it ends.
    pub session_idle: Duration,
    /// How long after the start lists and calls wait for sources that are still loading.
    pub list_wait: Duration,
    /// The largest text of a tool's answer, in estimated tokens; 0 for no limit. A longer answer is
    /// stored, and the client gets its beginning.
    pub answer_tokens: usize,
    /// Values of `Host` that are accepted besides those of this machine, with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that are accepted besides those of this machine, such as
    /// `https://app.example`.
    pub allowed_origins: Vec<String>,
    /// How many items a page of a list has at most.
    pub page_size: usize,
}

impl Default for ServeOptions {
    fn default() -> ServeOptions {
        ServeOptions {
            session_idle: Duration::from_secs(24 * 60 * 60),
            list_wait: Duration::from_secs(30),
            answer_tokens: 20_000,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            page_size: 200,
        }
    }
}
