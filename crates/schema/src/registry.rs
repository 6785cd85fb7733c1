//! The document as a set of addressable resources, next to the meta-schemas, with nothing fetched:
//! what the resolver asks for from outside is noted instead.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use referencing::{Draft, Registry, ResourceRef, Retrieve, SPECIFICATIONS, Uri};
use serde_json::Value;

use crate::{Dialect, SchemaError, keywords, shape};

pub(crate) type Prepared<'a> = (Registry<'a>, Uri<String>);

/// The document beside the meta-schemas, and its base URI. What it asks for beyond that is in
/// `stub`.
pub(crate) fn prepare<'a>(
    resource: ResourceRef<'a>,
    stub: &Stub,
) -> Result<Prepared<'a>, referencing::Error> {
    let base = referencing::uri::from_str(resource.id().unwrap_or("json-schema:///"))?;
    let registry = SPECIFICATIONS
        .add(base.as_str(), resource)?
        .retriever(stub.clone())
        .draft(resource.draft())
        .prepare()?;
    Ok((registry, base))
}

/// Stands in for everything outside the document and remembers what was asked for.
#[derive(Clone, Default)]
pub(crate) struct Stub(Arc<Mutex<HashSet<String>>>);

impl Stub {
    /// The URIs asked for.
    pub(crate) fn asked(&self) -> HashSet<String> {
        self.0.lock().map(|asked| asked.clone()).unwrap_or_default()
    }
}

impl Retrieve for Stub {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        if let Ok(mut asked) = self.0.lock() {
            asked.insert(uri.as_str().to_owned());
        }
        Ok(Value::Bool(true))
    }
}

/// Whether `uri` is the address of a meta-schema, of any dialect.
pub(crate) fn is_meta_schema(uri: &str) -> bool {
    let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with("json-schema.org/draft"))
}

/// The place of the `$id` or reference that is no URI.
pub(crate) fn bad_uri(
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
                let at = shape::join(&shape::locate(document, value).unwrap_or_default(), keyword);
                return SchemaError::invalid(at, format!("`{keyword}` is not a URI reference"));
            }
        }
        keywords::subschemas(schema, dialect, |_, child| pending.push(child));
    }
    SchemaError::invalid("", lower_first(&error.to_string()))
}

/// `message` of the resolver, which starts with a capital.
pub(crate) fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

pub(crate) fn draft_of(dialect: Dialect) -> Draft {
    match dialect {
        Dialect::Draft7 => Draft::Draft7,
        Dialect::Draft202012 => Draft::Draft202012,
    }
}

pub(crate) fn dialect_of(draft: Draft) -> Option<Dialect> {
    match draft {
        Draft::Draft7 => Some(Dialect::Draft7),
        Draft::Draft202012 => Some(Dialect::Draft202012),
        _ => None,
    }
}
