//! Serves the tools of a catalog to agents over MCP: revision 2026-07-28 and back to 2024-11-05, on
//! standard streams or as streamable HTTP.
//!
//! ```text
//!  stdio: stdio_server ─┬─ plain tools/call after the handshake ─▶ fast_calls ─┐
//!                       └─ everything else ─▶ rmcp's service ─▶ handler ───────┤
//!                                                                              ▼
//!  HTTP:  http_server ─┬─ plain tools/call of a session ─▶ http_sessions   McpHandler::call
//!         (token,      │      └─▶ fast_calls, event_log, sse ──────────────▶   │
//!          limits)     └─ everything else ─▶ rmcp's service ─▶ handler ────▶   ▼
//!                                                                         exec's runner
//! ```
//!
//! There are two paths because rmcp's service hands a request from task to task, which costs more
//! than a short call. The fast path takes the common case only: `tools/call` of a client that has
//! completed the handshake, with nothing unusual in the request. rmcp answers the rest, errors
//! included. Both paths end in the same method, so they give the same results.
//!
//! `tool_listing` is the answer to `tools/list`, with names from `catalog`. Nothing here
//! decides whether a call may run, for how long, or how large its result may be: that is the
//! runner's task.

mod detached;
mod event_log;
mod fast_calls;
mod handler;
mod http_server;
mod http_sessions;
mod sse;
mod stdio_server;
mod tool_listing;

pub use handler::McpHandler;
pub use http_server::{HttpError, HttpServer};
pub use stdio_server::serve as serve_stdio;
pub use toolwright_catalog::ExposedNames;
