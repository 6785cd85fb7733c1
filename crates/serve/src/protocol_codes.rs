//! The codes of JSON-RPC errors that only revision 2026-07-28 has.

/// A standard header differs from the body.
pub(crate) const HEADER_MISMATCH: i64 = -32020;
/// The client lacks a capability that the request needs.
pub(crate) const MISSING_CAPABILITY: i64 = -32021;
/// The server does not support the revision that the request names.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
