//! The keys of `_meta` that the protocol itself defines. All others belong to applications and
//! travel unchanged.

/// The revision of a stateless request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Name and version of the client of a stateless request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// What the client of a stateless request can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The level of log messages that a stateless request asks for.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Name and version of the server, in results of the stateless protocol.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The subscription that a notification belongs to: the id of its `subscriptions/listen`.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task that a message belongs to (2025-11-25).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The token of progress notifications, chosen by the one who sends the request.
pub const PROGRESS_TOKEN: &str = "progressToken";

/// The extension for tasks, in the capabilities of clients and servers of 2026-07-28.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The extension MCP Apps: interfaces of tools, which are resources.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// Whether a key of a request's `_meta` is about one hop of the connection and must not be passed
/// on: the next hop has its own.
pub fn is_of_one_hop(key: &str) -> bool {
    [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL, PROGRESS_TOKEN].contains(&key)
}
