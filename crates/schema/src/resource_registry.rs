//! The URIs of a schema document: which resource each one names, with nothing fetched.
//!
//! A document is one or more *resources* (the document itself and every subschema with an `$id`).
//! The `referencing` crate, which `jsonschema` uses too, keeps them in a registry beside the
//! meta-schemas. Preparing that registry asks a retriever for every URI outside of it; ours answers
//! each with the schema `true` and records the URI, so that the walk over the document can report
//! the reference with its pointer.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use referencing::{Draft, Registry, ResourceRef, Retrieve, SPECIFICATIONS, Uri};
use serde_json::Value;

use crate::{Dialect, SchemaError, pointer, subschema_keywords};

/// A registry that holds the document and the meta-schemas, and the base URI of the document.
pub(crate) type PreparedRegistry<'a> = (Registry<'a>, Uri<String>);

/// Registers the document. The URIs it refers to outside of itself are in `retriever` afterwards.
///
/// # Errors
/// An `$id` or a reference is not a URI; [`invalid_uri_error`] finds out which.
pub(crate) fn prepare<'a>(
    resource: ResourceRef<'a>,
    retriever: &RecordingRetriever,
) -> Result<PreparedRegistry<'a>, referencing::Error> {
    // The base URI that `jsonschema` gives to a document without an `$id`.
    let base = referencing::uri::from_str(resource.id().unwrap_or("json-schema:///"))?;
    let registry = SPECIFICATIONS
        .add(base.as_str(), resource)?
        .retriever(retriever.clone())
        .draft(resource.draft())
        .prepare()?;
    Ok((registry, base))
}

/// Answers every request for a document outside of the registry with `true`, and records the URI.
///
/// An error instead would end the preparation at the first one, without saying where it is used.
#[derive(Clone, Default)]
pub(crate) struct RecordingRetriever(Arc<Mutex<HashSet<String>>>);

impl RecordingRetriever {
    /// The URIs that were requested.
    pub(crate) fn requested_uris(&self) -> HashSet<String> {
        self.0.lock().map(|requested| requested.clone()).unwrap_or_default()
    }
}

impl Retrieve for RecordingRetriever {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        if let Ok(mut requested) = self.0.lock() {
            requested.insert(uri.as_str().to_owned());
        }
        Ok(Value::Bool(true))
    }
}

/// Whether `uri` is the address of a meta-schema, of any dialect.
pub(crate) fn is_meta_schema(uri: &str) -> bool {
    let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with("json-schema.org/draft"))
}

/// The error for a document that could not be registered, with the pointer of the `$id` or
/// reference that is not a URI. `referencing` reports the bad text, not its place.
pub(crate) fn invalid_uri_error(
    document: &Value,
    dialect: Dialect,
    error: &referencing::Error,
) -> SchemaError {
    let mut pending = vec![document];
    while let Some(value) = pending.pop() {
        let Value::Object(schema) = value else {
            continue;
        };
        for keyword in ["$id", "$ref"] {
            let text = schema.get(keyword).and_then(Value::as_str);
            if text.is_some_and(|text| referencing::uri::from_str(text).is_err()) {
                let at = pointer::pointer_to(document, value).unwrap_or_default();
                return SchemaError::invalid(
                    pointer::join(&at, keyword),
                    format!("`{keyword}` is not a URI reference"),
                );
            }
        }
        subschema_keywords::subschemas(schema, dialect, |_, child| pending.push(child));
    }
    SchemaError::invalid("", lower_first(&error.to_string()))
}

/// A message of `referencing` in our style, which starts in lower case.
pub(crate) fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The `referencing` crate's name of a dialect.
pub(crate) fn draft_of(dialect: Dialect) -> Draft {
    match dialect {
        Dialect::Draft7 => Draft::Draft7,
        Dialect::Draft202012 => Draft::Draft202012,
    }
}

/// The reverse of [`draft_of`]; `None` for the drafts that this crate rejects.
pub(crate) fn dialect_of(draft: Draft) -> Option<Dialect> {
    match draft {
        Draft::Draft7 => Some(Dialect::Draft7),
        Draft::Draft202012 => Some(Dialect::Draft202012),
        _ => None,
    }
}
