//! The schema as it is compiled: a copy whose spellings `jsonschema` reads as this crate does.
//!
//! Only three things ever change:
//!
//! - `$schema` of a resource gets its canonical spelling, so that `jsonschema` reads the same
//!   dialect from it as [`Dialect::of`].
//! - `$schema` below the root without an `$id` is dropped. The specification gives it no meaning
//!   there, but `jsonschema` would switch to that dialect, including the ones [`Dialect`] rejects.
//! - An empty reference becomes `#`, the usual spelling for the root.
//!
//! No value moves, so a pointer into the copy is a pointer into the schema that the caller gave.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{Dialect, SchemaError, pointer, subschema_keywords};

/// A copy of `schema` that is ready to compile. An owned schema is changed in place.
///
/// # Errors
/// An embedded resource (a subschema with its own `$id`) declares a dialect that is not supported.
pub(crate) fn normalize(schema: Cow<'_, Value>, dialect: Dialect) -> Result<Value, SchemaError> {
    let edits = find_edits(&schema, dialect)?;
    // Edits are found on borrowed values and applied by pointer, because the document cannot be
    // walked and changed at the same time. Nearly all schemas have none.
    let places: Vec<&Value> = edits.iter().map(|(place, _)| *place).collect();
    let pointers =
        if places.is_empty() { Vec::new() } else { pointer::pointers_to(&schema, &places) };
    let edits: Vec<NormalizingEdit> = edits.into_iter().map(|(_, edit)| edit).collect();
    let mut document = schema.into_owned();
    for (pointer, edit) in pointers.into_iter().zip(&edits) {
        let place = pointer.and_then(|pointer| document.pointer_mut(&pointer));
        if let Some(Value::Object(members)) = place {
            edit.apply(members);
        }
    }
    Ok(document)
}

/// One change to one subschema.
enum NormalizingEdit {
    /// Write the canonical URI of the dialect into `$schema`.
    CanonicalDialect(Dialect),
    /// Remove a `$schema` without meaning.
    DropDialect,
    /// Write `#` into this reference keyword.
    RootReference(&'static str),
}

impl NormalizingEdit {
    /// Makes the edit in the subschema that it was found for.
    fn apply(&self, schema: &mut Map<String, Value>) {
        match self {
            NormalizingEdit::CanonicalDialect(dialect) => {
                schema.insert("$schema".to_owned(), dialect.uri().into());
            }
            NormalizingEdit::DropDialect => {
                // Not `swap_remove`: the order of keywords is the order of errors.
                schema.shift_remove("$schema");
            }
            NormalizingEdit::RootReference(keyword) => {
                schema.insert((*keyword).to_owned(), "#".into());
            }
        }
    }
}

/// The edits, each with the subschema to edit; at most one of each kind per subschema.
fn find_edits(
    root: &Value,
    dialect: Dialect,
) -> Result<Vec<(&Value, NormalizingEdit)>, SchemaError> {
    let mut edits = Vec::new();
    let mut pending = vec![(root, dialect)];
    while let Some((value, enclosing)) = pending.pop() {
        let Value::Object(schema) = value else {
            continue;
        };
        let mut dialect = enclosing;
        if let Some(Value::String(uri)) = schema.get("$schema") {
            let is_root = std::ptr::eq(value, root);
            if is_root || is_resource(schema, enclosing) {
                // The caller determined the root's dialect; an embedded resource has its own.
                if !is_root {
                    dialect = embedded_dialect(uri, || {
                        pointer::pointer_to(root, value).unwrap_or_default()
                    })?;
                }
                if uri != dialect.uri() {
                    edits.push((value, NormalizingEdit::CanonicalDialect(dialect)));
                }
            } else {
                edits.push((value, NormalizingEdit::DropDialect));
            }
        }
        for keyword in ["$ref", "$dynamicRef"] {
            if schema.get(keyword).and_then(Value::as_str) == Some("") {
                edits.push((value, NormalizingEdit::RootReference(keyword)));
            }
        }
        subschema_keywords::subschemas(schema, dialect, |_, child| pending.push((child, dialect)));
    }
    Ok(edits)
}

/// Whether `schema` is the root of an embedded resource, the only place besides the root of the
/// document where `$schema` has a meaning.
fn is_resource(schema: &Map<String, Value>, dialect: Dialect) -> bool {
    // Beside a draft-07 `$ref`, `$id` is ignored as well; an `$id` that starts with `#` is an
    // anchor.
    let ignored = subschema_keywords::ref_ignores_siblings(dialect) && schema.contains_key("$ref");
    let id = schema.get("$id").and_then(Value::as_str);
    !ignored && id.is_some_and(|id| !id.starts_with('#'))
}

/// The dialect of an embedded resource. `resource_pointer` is called only for the error.
fn embedded_dialect(
    uri: &str,
    resource_pointer: impl Fn() -> String,
) -> Result<Dialect, SchemaError> {
    Dialect::from_uri(uri).ok_or_else(|| SchemaError::UnsupportedDialect {
        at: pointer::join(&resource_pointer(), "$schema"),
        dialect: uri.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changes_three_spellings_and_nothing_else() {
        let draft7 = "http://json-schema.org/draft-07/schema#";
        let cases = [
            (json!({ "type": "string" }), json!({ "type": "string" })),
            (
                json!({ "$schema": "https://json-schema.org/draft-07/schema" }),
                json!({ "$schema": draft7 }),
            ),
            (
                json!({
                    "properties": { "a": { "$schema": "http://json-schema.org/draft-04/schema#" } }
                }),
                json!({ "properties": { "a": {} } }),
            ),
            (
                json!({ "$defs": { "a": { "$id": "a", "$schema": draft7 } } }),
                json!({ "$defs": { "a": { "$id": "a", "$schema": draft7 } } }),
            ),
            (json!({ "items": { "$ref": "" } }), json!({ "items": { "$ref": "#" } })),
            (json!({ "const": { "$ref": "" } }), json!({ "const": { "$ref": "" } })),
        ];
        for (schema, expected) in cases {
            let dialect = Dialect::of(&schema).expect("supported");
            assert_eq!(normalize(Cow::Borrowed(&schema), dialect).expect("normalizes"), expected);
        }
    }

    #[test]
    fn an_embedded_resource_in_an_unsupported_dialect_is_rejected() {
        let schema = json!({
            "$defs": { "a": { "$id": "a", "$schema": "http://json-schema.org/draft-04/schema#" } }
        });
        let error = normalize(Cow::Owned(schema), Dialect::Draft202012).expect_err("draft-04");
        assert_eq!((error.code(), error.at()), ("UNSUPPORTED_DIALECT", "/$defs/a/$schema"));
    }
}
