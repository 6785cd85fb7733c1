//! The codes of JSON-RPC errors that only revision 2026-07-28 has.

pub(crate) use toolwright_mcp::error_code::MISSING_CAPABILITY;

/// A standard header differs from the body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// The server does not support the revision that the request names.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
