//! The canonical record of a tool, and the parsed types it is made of.
//!
//! A reader fills [`Draft`]s, in which a field may be missing or bad; a draft without mistakes
//! becomes a [`Tool`]. Types that parse cannot hold an illegal value: a [`ToolName`] has been
//! checked, wherever it turns up. There are no spans here, no IO, and no format's spelling.
//!
//! ```
//! use toolwright_model::{Draft, FieldValue, InputSchema, Namespace, ToolName};
//!
//! let mut draft = Draft::default();
//! draft.name = FieldValue::Valid(ToolName::parse("read_file").unwrap());
//! draft.input = FieldValue::Valid(InputSchema::no_parameters());
//! let tool = draft.finish().unwrap();
//! let id = tool.id(Some(&Namespace::parse("fs").unwrap()));
//! assert_eq!(id.to_string(), "fs:read_file");
//! ```

mod annotations;
mod binding;
mod capability;
mod conventions;
mod detection;
mod example;
mod field_value;
mod knowledge;
mod limits;
mod name;
mod rest;
mod tag;
mod tool;
mod toolset;
mod version;

pub use annotations::{Annotations, Icon};
pub use binding::{Binding, Connection, HealthCheck, Server, Variable, redacted_url};
pub use capability::{Capabilities, Capability, CapabilityError, Risk};
pub use conventions::{Conventions, ExampleKind, NameStyle, UniqueTools};
pub use detection::{Detection, PayloadShape};
pub use example::{Example, ExpectedError};
pub use field_value::FieldValue;
pub use knowledge::{
    AntiPattern, FieldMapping, Function, Knowledge, KnowledgeStrategy, PayloadSchema, Processor,
    ProcessorStage, Quirk, Validator, ValidatorCheck,
};
pub use limits::{CallLimits, DeclaredLimits, FunctionLimits, OutputCheck, Sandbox};
pub use name::{IdError, NameError, Namespace, NamespaceError, ToolId, ToolName, VersionedRef};
pub use rest::{FormatId, Rest};
pub use tag::{Tag, TagChange, Tags};
pub use tool::{Deprecation, Details, Draft, DraftError, InputSchema, Tool};
pub use toolset::{Provider, Toolset};
pub use version::{Version, VersionError};

/// Any JSON value. Authored key order is kept.
pub type Json = serde_json::Value;
/// A JSON object.
pub type Object = serde_json::Map<String, Json>;
