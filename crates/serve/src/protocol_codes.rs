//! The codes of JSON-RPC errors that only revision 2026-07-28 has.

pub(crate) use toolwright_mcp::error_code::{MISSING_CAPABILITY, UNSUPPORTED_VERSION};

/// A standard header differs from the body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
