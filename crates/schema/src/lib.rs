//! JSON Schema for the tools that agents call: draft-07 and 2020-12 with their own semantics,
//! compiled once and shared between threads.
//!
//! Programs use [`SchemaValidator`]: it compiles the schemas of a tool and validates the arguments
//! and results of its calls, each given as a value or as JSON text.
//!
//! ```
//! use serde_json::json;
//! use toolwright_schema::SchemaValidator;
//!
//! let input = json!({
//!     "type": "object",
//!     "properties": { "path": { "type": "string" } },
//!     "required": ["path"],
//!     "additionalProperties": false
//! });
//! let validator = SchemaValidator::new(&input, None::<&str>)?;
//! assert!(validator.validate_input(json!({ "path": "/tmp/x" })).is_ok());
//!
//! let errors = validator.validate_input(r#"{ "path": 7 }"#).unwrap_err();
//! let first = errors.first();
//! assert_eq!(first.instance_path, "/path");
//! assert_eq!(first.schema_path, "/properties/path/type");
//! assert_eq!(first.message, "`7` is not of type `string`");
//! # Ok::<(), toolwright_schema::ToolSchemaError>(())
//! ```
//!
//! Below it are [`Schema`], one compiled schema, for checks that keep schemas by other rules; the
//! quick check of schemas that need not be compiled ([`is_certainly_valid_schema`]); what is wrong
//! with a schema that compiles ([`mistakes()`]), and what is meant by one that does not
//! ([`tolerate`]); what the APIs of model vendors reject ([`incompatibilities`], [`VendorTarget`]),
//! and schemas that they accept instead ([`rewrite_for`], [`restore()`]); and which of two schemas
//! accepts more ([`compare`]).
//!
//! Deliberately absent: the network, files, the clock, printing, and the record of a tool. A `$ref`
//! is never fetched.
//!
//! Every call ends, whatever the schema and the instance: nesting, reference loops, fan-out,
//! patterns and the length of an error list are limited (`limits.rs` has the numbers). Reaching a
//! limit is an error like any other, never a hang, an abort or a silent "valid". The last limit, a
//! step budget, leaves an evaluation by unwinding, so build with the default `panic = "unwind"`.

mod comparison;
mod cost_analysis;
mod dialect;
mod error;
mod error_message;
mod instances;
mod json_text;
mod jsonschema_engine;
mod limits;
mod measure;
mod mistakes;
mod normalize;
mod pattern_check;
mod pointer;
mod published;
mod quick_check;
mod resource_registry;
mod restore;
mod satisfiability;
mod schema;
mod stack_space;
mod step_budget;
mod subschema_graph;
mod subschema_keywords;
mod text_format;
mod tolerance;
mod validator;
mod vendors;

pub use comparison::{
    DialectUpgrade, EditedSchema, SchemaComparison, Verdict, compare, compare_restored, in_2020_12,
    lost, unrestorable,
};
pub use dialect::Dialect;
pub use error::{
    ErrorPlace, SchemaError, SchemaSide, ToolSchemaError, ValidateError, ValidationError,
    ValidationErrors,
};
pub use json_text::decode;
pub use mistakes::{MistakeKind, SchemaMistake, contradictions, keyword_names, mistakes};
pub use quick_check::{is_certainly_valid_instance, is_certainly_valid_schema};
pub use restore::{
    CallPathPart, RestoreAction, RestoreBranch, RestoreError, RestoreStep, adapt, restore,
};
pub use schema::{FormatAssertion, Schema, SchemaOptions};
pub use text_format::{TEXT_FORMATS, has_format};
pub use tolerance::{
    SchemaCorrection, TYPES, ToleratedMistake, ToleratedSchema, tolerate, type_meant,
};
pub use validator::{InstanceSource, SchemaSource, SchemaValidator};
pub use vendors::{
    ChangeAction, ChangeReport, Incompatibility, IncompatiblePart, NameRule, RequestPart,
    RewrittenSchema, SchemaChange, SchemaCounts, TargetSet, VendorEffect, VendorTarget,
    incompatibilities, rewrite_for, rewrite_if_needed, rewrite_result, standard_form, stated_types,
};
