//! JSON Schema for the tools agents call: real draft-07 and 2020-12, compiled once, shared by
//! threads.
//!
//! What is here: the gate that decides which dialect a schema is written in ([`Dialect`]), the
//! guards that refuse a schema no call could survive, compiling ([`Schema`]), validating with every
//! failing path ([`Failures`]), and the pair of schemas a tool carries ([`SchemaValidator`]).
//!
//! What is not: no network, no file, no clock, nothing printed, no text parsing, and no notion of a
//! tool record. A schema and an instance are `serde_json` values.
//!
//! Whatever comes in, a call ends: nesting, reference loops, fan-out, patterns and the size of an
//! error list are bounded (the numbers are in `limits.rs`). Running out of a bound is an answer
//! (an [`SchemaError`] or a [`Failure`]), never a hang, an abort or a silent "valid". The last
//! bound leaves an evaluation by unwinding, so build with the default `panic = "unwind"`.
//!
//! ```
//! use serde_json::json;
//! use toolwright_schema::Schema;
//!
//! let schema = Schema::compile(&json!({
//!     "type": "object",
//!     "properties": { "path": { "type": "string" } },
//!     "required": ["path"],
//!     "additionalProperties": false
//! }))?;
//! assert!(schema.is_valid(&json!({ "path": "/tmp/x" })));
//!
//! let failures = schema.validate(&json!({ "path": 7 })).unwrap_err();
//! let first = failures.first();
//! assert_eq!(first.instance_path, "/path");
//! assert_eq!(first.schema_path, "/properties/path/type");
//! assert_eq!(first.message, "`7` is not of type `string`");
//! # Ok::<(), toolwright_schema::SchemaError>(())
//! ```

mod analysis;
mod dialect;
mod document;
mod engine;
mod error;
mod graph;
mod keywords;
mod limits;
mod message;
mod meter;
mod patterns;
mod plain;
mod registry;
mod schema;
mod shape;
mod stack;
mod validator;
mod vendors;

pub use dialect::Dialect;
pub use error::{Failure, Failures, SchemaError};
pub use plain::{is_plain, is_plainly_valid};
pub use schema::{Formats, Options, Schema};
pub use validator::SchemaValidator;
pub use vendors::{Effect, Incompatibility, Vendor, incompatibilities};

/// The JSON value schemas and instances are given as.
pub type Json = serde_json::Value;
