//! What a caller gets back: why a schema is refused, and where an instance fails.

use std::fmt;

use thiserror::Error;

/// Why a schema was refused. `at` is a JSON pointer into the schema, `""` for its root.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// Not a schema of its dialect, or one no call could survive.
    #[error("invalid schema at {}: {message}", place(.at))]
    InvalidSchema {
        /// The offending place.
        at: String,
        /// What is wrong there.
        message: String,
    },
    /// `$schema` names neither draft-07 nor 2020-12.
    #[error("unsupported dialect at {}: `{dialect}`, expected draft-07 or 2020-12", place(.at))]
    UnsupportedDialect {
        /// The offending `$schema`.
        at: String,
        /// Its value.
        dialect: String,
    },
    /// A reference leaves the document. Nothing is ever fetched.
    #[error("external reference at {}: `{reference}` is not in this document", place(.at))]
    ExternalRef {
        /// The offending `$ref` or `$dynamicRef`.
        at: String,
        /// Its value.
        reference: String,
    },
}

impl SchemaError {
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

    /// JSON pointer of the offending place in the schema.
    pub fn at(&self) -> &str {
        match self {
            SchemaError::InvalidSchema { at, .. }
            | SchemaError::UnsupportedDialect { at, .. }
            | SchemaError::ExternalRef { at, .. } => at,
        }
    }
}

/// One way an instance fails. Both paths are JSON pointers, `""` for the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The failing value.
    pub instance_path: String,
    /// The keyword it fails, counted from the root of the schema resource that holds it.
    pub schema_path: String,
    /// The keyword's name; `falseSchema` where the schema is `false`, empty where a bound of this
    /// crate and not the schema refused the instance.
    pub keyword: String,
    /// What is wrong, in one line.
    pub message: String,
}

impl Failure {
    /// A failure of the whole instance against a bound of this crate.
    pub(crate) fn of_bound(message: impl Into<String>) -> Failure {
        Failure {
            instance_path: String::new(),
            schema_path: String::new(),
            keyword: String::new(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", place(&self.instance_path), self.message)
    }
}

/// Everything wrong with an instance; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Failures(Vec<Failure>);

impl Failures {
    /// `None` when `failures` is empty.
    pub(crate) fn new(failures: Vec<Failure>) -> Option<Failures> {
        (!failures.is_empty()).then_some(Failures(failures))
    }

    pub(crate) fn single(failure: Failure) -> Failures {
        Failures(vec![failure])
    }

    /// The first failure, in the order the validator met them.
    pub fn first(&self) -> &Failure {
        self.0.first().expect("the constructors refuse an empty list")
    }

    /// All failures.
    pub fn as_slice(&self) -> &[Failure] {
        &self.0
    }

    /// All failures.
    pub fn iter(&self) -> std::slice::Iter<'_, Failure> {
        self.0.iter()
    }

    /// All failures, owned.
    pub fn into_vec(self) -> Vec<Failure> {
        self.0
    }
}

impl IntoIterator for Failures {
    type Item = Failure;
    type IntoIter = std::vec::IntoIter<Failure>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Failures {
    type Item = &'a Failure;
    type IntoIter = std::slice::Iter<'a, Failure>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, failure) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            failure.fmt(f)?;
        }
        Ok(())
    }
}

/// A pointer as a message names it.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the root".to_owned() } else { format!("`{pointer}`") }
}
