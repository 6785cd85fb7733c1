//! The errors of this crate: why a schema is rejected, and where an instance does not match.
//!
//! ```text
//! SchemaError        the schema is unusable: code, pointer into the schema
//! ToolSchemaError    the same, and whether the input or the output schema of a tool is meant
//! ValidationErrors   the schema is fine, the instance is not: one ValidationError per failing path
//! ValidateError      one of the two, for calls that take a schema and an instance together
//! ```
//!
//! All pointers are JSON pointers (RFC 6901). Lines and columns are not here: a caller that has the
//! text of a document maps the pointer back to its place in the file.

use std::fmt;

use thiserror::Error;

use crate::{error_message, pointer};

/// Why a schema was rejected. `at` is a JSON pointer into the schema, `""` for its root.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// Not a schema of its dialect, or a schema whose evaluation could hang or overflow the stack.
    #[error("invalid schema at {}: {message}", display_pointer(.at))]
    InvalidSchema {
        /// The offending value.
        at: String,
        /// What is wrong there, in one line.
        message: String,
    },
    /// `$schema` names neither draft-07 nor 2020-12.
    #[error(
        "unsupported dialect at {}: `{dialect}`, expected draft-07 or 2020-12",
        display_pointer(.at)
    )]
    UnsupportedDialect {
        /// The offending `$schema`.
        at: String,
        /// Its value.
        dialect: String,
    },
    /// A reference leaves the document. References are never fetched.
    #[error(
        "external reference at {}: `{reference}` is not in this document",
        display_pointer(.at)
    )]
    ExternalRef {
        /// The offending `$ref` or `$dynamicRef`.
        at: String,
        /// Its value.
        reference: String,
    },
}

impl SchemaError {
    /// An [`SchemaError::InvalidSchema`], the most frequent of the three.
    pub(crate) fn invalid(at: impl Into<String>, message: impl Into<String>) -> SchemaError {
        SchemaError::InvalidSchema { at: at.into(), message: message.into() }
    }

    /// The stable code: `INVALID_SCHEMA`, `UNSUPPORTED_DIALECT` or `EXTERNAL_REF`.
    pub fn code(&self) -> &'static str {
        match self {
            SchemaError::InvalidSchema { .. } => "INVALID_SCHEMA",
            SchemaError::UnsupportedDialect { .. } => "UNSUPPORTED_DIALECT",
            SchemaError::ExternalRef { .. } => "EXTERNAL_REF",
        }
    }

    /// JSON pointer to the offending value in the schema.
    pub fn at(&self) -> &str {
        match self {
            SchemaError::InvalidSchema { at, .. }
            | SchemaError::UnsupportedDialect { at, .. }
            | SchemaError::ExternalRef { at, .. } => at,
        }
    }
}

/// Which of the two schemas of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchemaSide {
    /// The schema of the arguments.
    Input,
    /// The schema of the result.
    Output,
}

impl SchemaSide {
    /// The field of a tool definition that holds it: `inputSchema` or `outputSchema`.
    pub fn field(self) -> &'static str {
        match self {
            SchemaSide::Input => "inputSchema",
            SchemaSide::Output => "outputSchema",
        }
    }
}

/// Why [`SchemaValidator::new`](crate::SchemaValidator::new) rejected the schemas of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}`: {error}", .side.field())]
pub struct ToolSchemaError {
    /// The schema at fault.
    pub side: SchemaSide,
    /// What is wrong with it.
    pub error: SchemaError,
}

/// Why [`SchemaValidator::validate`](crate::SchemaValidator::validate) failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ValidateError {
    /// The schema is unusable; the instance was not looked at.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The instance does not match the schema.
    #[error(transparent)]
    Instance(#[from] ValidationErrors),
}

/// One way in which an instance fails. Both paths are JSON pointers, `""` for the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationError {
    /// The failing value.
    pub instance_path: String,
    /// The keyword it fails, counted from the root of the schema resource that holds it.
    pub schema_path: String,
    /// The keyword's name; `falseSchema` where the schema is `false`. Empty where not the schema
    /// but a limit of this crate rejects the instance, or where the instance is not JSON.
    pub keyword: String,
    /// What is wrong, in one line.
    pub message: String,
    /// The members of the failing value that should not be there, if that is the mistake.
    pub unexpected: Vec<String>,
    /// The member that the failing value lacks, if that is the mistake.
    pub missing: Option<String>,
}

/// A value, or a key, that an error is shown at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorPlace {
    /// JSON pointer into the instance.
    pub path: String,
    /// Whether the key is wrong and not its value.
    pub is_key: bool,
    /// What is wrong there, in one line.
    pub message: String,
}

/// The most keys of one value that are shown one by one.
const MAX_KEYS: usize = 20;

impl ValidationError {
    /// Where to show the error in the text of the instance: each unexpected property at its key,
    /// everything else at the failing value.
    pub fn places(&self) -> Vec<ErrorPlace> {
        let whole = |message: String| ErrorPlace {
            path: self.instance_path.clone(),
            is_key: false,
            message,
        };
        let key = |name: &String| ErrorPlace {
            path: pointer::join(&self.instance_path, name),
            is_key: true,
            message: format!("unexpected property `{}`", error_message::shorten(name)),
        };
        let mut places: Vec<ErrorPlace> = self.unexpected.iter().take(MAX_KEYS).map(key).collect();
        match self.unexpected.len().saturating_sub(MAX_KEYS) {
            0 if places.is_empty() => places.push(whole(self.message.clone())),
            0 => {}
            more => places.push(whole(format!("{more} more unexpected properties"))),
        }
        places
    }

    /// An error about the whole instance that no keyword of the schema causes.
    pub(crate) fn without_keyword(message: impl Into<String>) -> ValidationError {
        ValidationError {
            instance_path: String::new(),
            schema_path: String::new(),
            keyword: String::new(),
            message: message.into(),
            unexpected: Vec::new(),
            missing: None,
        }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", display_pointer(&self.instance_path), self.message)
    }
}

/// Everything wrong with an instance; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct ValidationErrors(Vec<ValidationError>);

impl ValidationErrors {
    /// `None` when `errors` is empty: the type promises at least one.
    pub(crate) fn new(errors: Vec<ValidationError>) -> Option<ValidationErrors> {
        (!errors.is_empty()).then_some(ValidationErrors(errors))
    }

    pub(crate) fn single(error: ValidationError) -> ValidationErrors {
        ValidationErrors(vec![error])
    }

    /// The first error, in the order of evaluation.
    pub fn first(&self) -> &ValidationError {
        self.0.first().expect("the constructors reject an empty list")
    }

    /// All errors, in the order of evaluation.
    pub fn as_slice(&self) -> &[ValidationError] {
        &self.0
    }

    /// Iterates over all errors, in the order of evaluation.
    pub fn iter(&self) -> std::slice::Iter<'_, ValidationError> {
        self.0.iter()
    }

    /// All errors, owned.
    pub fn into_vec(self) -> Vec<ValidationError> {
        self.0
    }
}

impl IntoIterator for ValidationErrors {
    type Item = ValidationError;
    type IntoIter = std::vec::IntoIter<ValidationError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a ValidationErrors {
    type Item = &'a ValidationError;
    type IntoIter = std::slice::Iter<'a, ValidationError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// All errors on one line, separated by `; `.
impl fmt::Display for ValidationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

/// A pointer for a message: in backticks, and with words for the root, whose pointer is empty.
fn display_pointer(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { format!("`{pointer}`") }
}
