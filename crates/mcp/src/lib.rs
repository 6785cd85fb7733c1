//! The Model Context Protocol on the wire, for both sides: `exec` talks to servers with it, `serve`
//! to clients.
//!
//! A message is split into its envelope (id, method, error code) and its content, which stays the
//! JSON text that was received. So nothing that the protocol may get in the future is lost on the
//! way, numbers stay as they were written, and forwarding a result costs one copy of its bytes.
//!
//! ```text
//! bytes ─ lines, sse ─▶ text of one message ─ Message::parse ─▶ envelope + RawValue
//!                                                                    │ only where it is needed
//!                                                                    ▼
//!                                                               serde_json::Value
//! ```
//!
//! No connection, no session and no notion of a tool: those are in `exec::mcp` and `serve`.
//!
//! ```
//! use toolwright_mcp::{Message, RequestId};
//!
//! let text = br#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":0.10}}"#;
//! let Ok(Message::Request(request)) = Message::parse(text) else { panic!() };
//! assert_eq!((request.id, request.method.as_str()), (RequestId::Number(7), "ping"));
//! assert_eq!(request.params.unwrap().get(), r#"{"x":0.10}"#);
//! ```

mod id_finder;
mod line_queue;
mod message;
mod message_lines;
pub mod meta;
mod revision;
mod sse;
pub mod standard_headers;

pub use line_queue::LineQueue;
pub use message::{
    MAX_VALUES, MalformedMessage, Message, RequestId, RpcError, RpcNotification, RpcRequest,
    RpcResponse, error_code, has_too_many_values, raw_json,
};
pub use message_lines::{MAX_MESSAGE, MessageLine, MessageLines};
pub use revision::Revision;
pub use sse::{SseData, SseEvent, SseParser};
