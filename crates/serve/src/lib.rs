//! Serves the tools of a catalog to agents, over MCP: revision 2026-07-28 and back to 2024-11-05,
//! on standard streams or as streamable HTTP.
//!
//! `agent` answers requests, `names` gives every tool a name that every client takes, `listing` is
//! what `tools/list` says, `stdio` and `http` are the two ways in. `calls` answers `tools/call` of
//! clients that have shaken hands past rmcp's own loop, for `stdio` and for the `sessions` of
//! `http`; a `story` is what the latter are told of one call. Nothing here decides whether a call
//! may run: that is the runner's.

mod agent;
mod calls;
mod http;
mod listing;
mod names;
mod sessions;
mod stdio;
mod story;

pub use agent::Agent;
pub use http::{Http, HttpError};
pub use names::Names;
pub use stdio::serve as serve_stdio;
