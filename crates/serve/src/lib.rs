//! Serves the tools, resources and prompts of a catalog to agents over MCP: revision 2026-07-28 and
//! back to 2024-11-05, on standard streams or as streamable HTTP.
//!
//! ```text
//!  stdio: stdio_server ───────────────────────────────┐
//!                                                     ▼            ┌─ tool_calls ─▶ exec's runner
//!  HTTP:  http_server ─▶ http_endpoint ─────────▶ dispatcher ──────┼─ offered_items ─▶ upstreams
//!         access_control, header_checks, sessions     │  ▲         └─ subscription_listeners
//!                                                     ▼  │
//!                 client ◀── sink, event_log, sse ◀─ call_host ◀─ progress, log, questions
//!                        └── answers ─▶ client_session, suspended_calls ─▶ call_host
//! ```
//!
//! There is one path for all methods, transports and revisions. A message is split into its
//! members, which stay the JSON they were; results are written once, into the bytes of the
//! response. So unknown members survive, and a short call costs no more than its tool.
//!
//! `gateway` is what all sessions share, `request_terms` what differs between revisions.
//! `notification_forwarder` tells clients what changed. `tool_listing` is the answer to
//! `tools/list`, with names from the catalog and pages from `list_pages`. `stored_results` keeps
//! answers that are too long for the context of a model, and `result_reader` reads them. Nothing
//! here decides whether a call may run, for how long, or how large its result may be: that is the
//! runner's task.

mod access_control;
mod busy_polling;
mod call_host;
mod client_session;
mod detached;
mod dispatcher;
mod event_log;
mod gateway;
mod grant_questions;
mod handles;
mod header_checks;
mod http_endpoint;
mod http_server;
mod http_sessions;
mod knowledge_documents;
mod list_pages;
mod log_level;
mod message_sink;
mod notification_forwarder;
mod offered_items;
mod options;
mod protocol_codes;
mod request_params;
mod request_queue;
mod request_terms;
mod resource_subscriptions;
mod result_body;
mod result_reader;
mod session_tasks;
mod sse;
mod standard_streams;
mod stdio_server;
mod stored_results;
mod subscription_listeners;
mod suspended_calls;
mod task_requests;
mod tool_calls;
mod tool_listing;
mod unclaimed_notifications;
mod write_deadline;

pub use gateway::Gateway;
pub use http_server::{AgentTokens, HttpError, HttpServer};
pub use options::ServeOptions;
pub use stdio_server::serve as serve_stdio;
pub use toolwright_catalog::ExposedNames;
