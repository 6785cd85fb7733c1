//! Serves the tools of a catalog to agents, over MCP: revision 2026-07-28 and back to 2024-11-05, on
//! standard streams or as streamable HTTP.
//!
//! `agent` answers requests, `names` gives every tool a name that every client takes, `listing` is
//! what `tools/list` says, `stdio` and `http` are the two ways in. Nothing here decides whether a
//! call may run: that is the runner's.

mod agent;
mod http;
mod listing;
mod names;
mod stdio;

pub use agent::Agent;
pub use http::{Http, HttpError};
pub use names::Names;
pub use stdio::serve as serve_stdio;
