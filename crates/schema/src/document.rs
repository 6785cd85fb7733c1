//! The document as it is compiled: the schema given, with the spellings settled that the validator
//! underneath would read differently from us.
//!
//! Only three things ever change, and pointers stay the same: `$schema` becomes canonical at the
//! root, is dropped where the specification gives it no standing (below the root, without `$id`),
//! and an empty reference becomes `#`.

use serde_json::{Map, Value};

use crate::{Dialect, SchemaError, keywords, shape};

/// A copy of `schema` ready to compile.
pub(crate) fn settle(schema: &Value, dialect: Dialect) -> Result<Value, SchemaError> {
    let edits = find_edits(schema, dialect)?;
    let mut document = schema.clone();
    if edits.is_empty() {
        return Ok(document);
    }
    let places: Vec<&Value> = edits.iter().map(|(place, _)| *place).collect();
    for (pointer, (_, edit)) in shape::locate_all(schema, &places).into_iter().zip(&edits) {
        let place = pointer.and_then(|pointer| document.pointer_mut(&pointer));
        if let Some(Value::Object(members)) = place {
            edit.apply(members);
        }
    }
    Ok(document)
}

enum Edit {
    CanonicalDialect(Dialect),
    DropDialect,
    RootReference(&'static str),
}

impl Edit {
    fn apply(&self, schema: &mut Map<String, Value>) {
        match self {
            Edit::CanonicalDialect(dialect) => {
                schema.insert("$schema".to_owned(), dialect.uri().into());
            }
            Edit::DropDialect => {
                schema.shift_remove("$schema");
            }
            Edit::RootReference(keyword) => {
                schema.insert((*keyword).to_owned(), "#".into());
            }
        }
    }
}

/// The edits, each with the subschema it applies to; at most one of a kind per subschema.
fn find_edits(root: &Value, dialect: Dialect) -> Result<Vec<(&Value, Edit)>, SchemaError> {
    let mut edits = Vec::new();
    let mut pending = vec![(root, dialect)];
    while let Some((value, enclosing)) = pending.pop() {
        let Value::Object(schema) = value else {
            continue;
        };
        let mut dialect = enclosing;
        if let Some(Value::String(uri)) = schema.get("$schema") {
            if std::ptr::eq(value, root) {
                if uri != dialect.uri() {
                    edits.push((value, Edit::CanonicalDialect(dialect)));
                }
            } else if is_resource(schema, enclosing) {
                dialect = embedded_dialect(uri, || shape::locate(root, value).unwrap_or_default())?;
                if uri != dialect.uri() {
                    edits.push((value, Edit::CanonicalDialect(dialect)));
                }
            } else {
                edits.push((value, Edit::DropDialect));
            }
        }
        for keyword in ["$ref", "$dynamicRef"] {
            if schema.get(keyword).and_then(Value::as_str) == Some("") {
                edits.push((value, Edit::RootReference(keyword)));
            }
        }
        keywords::subschemas(schema, dialect, |_, child| pending.push((child, dialect)));
    }
    Ok(edits)
}

/// Whether `schema` is the root of an embedded resource, the only other place `$schema` may stand.
fn is_resource(schema: &Map<String, Value>, dialect: Dialect) -> bool {
    let ignored = keywords::reference_stands_alone(dialect) && schema.contains_key("$ref");
    let id = schema.get("$id").and_then(Value::as_str);
    !ignored && id.is_some_and(|id| !id.starts_with('#'))
}

fn embedded_dialect(uri: &str, at: impl Fn() -> String) -> Result<Dialect, SchemaError> {
    Dialect::from_uri(uri).ok_or_else(|| SchemaError::UnsupportedDialect {
        at: shape::join(&at(), "$schema"),
        dialect: uri.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settles_spellings_and_nothing_else() {
        let draft7 = "http://json-schema.org/draft-07/schema#";
        let cases = [
            (json!({ "type": "string" }), json!({ "type": "string" })),
            (
                json!({ "$schema": "https://json-schema.org/draft-07/schema" }),
                json!({ "$schema": draft7 }),
            ),
            (
                json!({ "properties": { "a": { "$schema": "http://json-schema.org/draft-04/schema#" } } }),
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
            assert_eq!(settle(&schema, dialect).expect("settles"), expected);
        }
    }

    #[test]
    fn an_embedded_resource_cannot_smuggle_a_dialect_in() {
        let schema = json!({ "$defs": { "a": { "$id": "a", "$schema": "http://json-schema.org/draft-04/schema#" } } });
        let error = settle(&schema, Dialect::Draft202012).expect_err("draft-04");
        assert_eq!((error.code(), error.at()), ("UNSUPPORTED_DIALECT", "/$defs/a/$schema"));
    }
}
