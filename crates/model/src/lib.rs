//! The canonical record of a tool, and the parsed types it is made of.
//!
//! ```text
//! document ─ a reader in `formats` ─▶ Toolset<Draft> ─ Draft::finish ─▶ Tool
//!                                     fields may be missing or invalid   every field is parsed
//! ```
//!
//! Four formats are read into this one record, so that rules, executors and the server need not
//! distinguish them. The types follow "parse, don't validate": a [`ToolName`] cannot hold an
//! illegal name, so no later stage checks it again.
//!
//! Deliberately absent: positions in a file (`source::Origin` has them), IO, the field names of any
//! format, and `serde` derives, which would stop at the first mistake.
//!
//! ```
//! use toolwright_model::{Draft, FieldValue, InputSchema, Namespace, ToolName};
//!
//! let mut draft = Draft::default();
//! draft.name = FieldValue::Valid(ToolName::parse("read_file").unwrap());
//! draft.input = FieldValue::Valid(InputSchema::Deferred);
//! let tool = draft.finish().unwrap();
//! let id = tool.id(Some(&Namespace::parse("fs").unwrap()));
//! assert_eq!(id.to_string(), "fs:read_file");
//! ```

mod agent_text;
mod annotations;
mod binding;
mod capability;
mod content_hash;
mod conventions;
mod detection;
mod example;
mod field_value;
mod knowledge;
mod limits;
mod name;
mod redaction;
mod rest;
mod tag;
mod tool;
mod tool_builder;
mod toolset;
mod version;

pub use agent_text::{
    AgentTexts, CommandNames, MAX_EMBEDDED, ServedTool, commands_named_in, document_uri,
    has_document, knowledge_document,
};
pub use annotations::{Annotations, Icon};
pub use binding::{
    Binding, Connection, HealthCheck, InstallCheck, Isolation, Server, ServerSettings, StartMode,
    Variable,
};
pub use capability::{Capabilities, Capability, CapabilityError, Risk};
pub use content_hash::{ContentHash, hex};
pub use conventions::{Conventions, ExampleKind, NameStyle, UniqueTools};
pub use detection::{Detection, PayloadShape};
pub use example::{Example, ExpectedError};
pub use field_value::FieldValue;
pub use knowledge::{
    AntiPattern, FieldMapping, Function, Knowledge, KnowledgeStrategy, PayloadSchema, Processor,
    ProcessorStage, Quirk, Validator, ValidatorCheck,
};
pub use limits::{CallLimits, DeclaredLimits, FunctionLimits, OutputCheck, Sandbox};
pub use name::{
    IdError, NameError, Namespace, NamespaceError, ToolId, ToolName, VersionedRef, short_hash,
};
pub use redaction::{is_path_token, looks_random, redacted_url};
pub use rest::{FormatId, Rest};
pub use tag::{Tag, TagChange, Tags};
pub use tool::{Deprecation, Details, Draft, DraftError, InputSchema, Tool};
pub use tool_builder::{SchemaBuilder, ToolBuildError, ToolRecordBuilder};
pub use toolset::{Provider, Toolset};
pub use version::{Version, VersionError};

/// Any JSON value. Objects keep their keys in the order in which the author wrote them.
pub type Json = serde_json::Value;
/// A JSON object, with its keys in the order in which the author wrote them.
pub type Object = serde_json::Map<String, Json>;
