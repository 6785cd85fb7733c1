//! The dialect of a schema: `$schema` decides, and only draft-07 and 2020-12 are accepted.
//!
//! `jsonschema` also implements draft-04, draft-06 and 2019-09 and follows custom meta-schemas.
//! None of that is reachable, because every schema passes [`Dialect::of`] first. Guessing a dialect
//! from the keywords of a schema is deliberately absent: the same keyword means different things in
//! two dialects (`items`, `$ref` with siblings), and a wrong guess would accept wrong arguments.

use std::fmt;

use serde_json::Value;

use crate::SchemaError;

/// A dialect that this crate validates with the dialect's own semantics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// JSON Schema draft-07.
    Draft7,
    /// JSON Schema 2020-12, also when `$schema` is absent or empty.
    Draft202012,
}

impl Dialect {
    /// The canonical `$schema` value, character for character as the meta-schema has its `$id`.
    pub fn uri(self) -> &'static str {
        match self {
            Dialect::Draft7 => "http://json-schema.org/draft-07/schema#",
            Dialect::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The dialect that `schema` declares. One trailing `#` and `http` for `https` do not matter:
    /// published schemas use all these spellings. Any other URI is rejected.
    ///
    /// # Errors
    /// [`SchemaError::UnsupportedDialect`] for another URI, [`SchemaError::InvalidSchema`] for a
    /// `$schema` that is not a string.
    pub fn of(schema: &Value) -> Result<Dialect, SchemaError> {
        match schema.get("$schema") {
            None => Ok(Dialect::Draft202012),
            Some(Value::String(uri)) => Dialect::from_uri(uri).ok_or_else(|| {
                SchemaError::UnsupportedDialect { at: "/$schema".to_owned(), dialect: uri.clone() }
            }),
            Some(_) => Err(SchemaError::invalid("/$schema", "`$schema` is not a string")),
        }
    }

    /// The dialect of a `$schema` value; `None` if it is not supported. Upper and lower case
    /// differ: `HTTPS://` is not accepted.
    pub(crate) fn from_uri(uri: &str) -> Option<Dialect> {
        if uri.is_empty() {
            return Some(Dialect::Draft202012);
        }
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match rest {
            "json-schema.org/draft-07/schema" => Some(Dialect::Draft7),
            "json-schema.org/draft/2020-12/schema" => Some(Dialect::Draft202012),
            _ => None,
        }
    }
}

/// The name that people use for it, for messages.
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Draft7 => "draft-07",
            Dialect::Draft202012 => "2020-12",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_two_meta_schemas_are_accepted_in_several_spellings() {
        let draft7 = Some(Dialect::Draft7);
        let latest = Some(Dialect::Draft202012);
        let cases = [
            ("", latest),
            ("https://json-schema.org/draft/2020-12/schema", latest),
            ("https://json-schema.org/draft/2020-12/schema#", latest),
            ("http://json-schema.org/draft/2020-12/schema", latest),
            ("http://json-schema.org/draft-07/schema#", draft7),
            ("http://json-schema.org/draft-07/schema", draft7),
            ("https://json-schema.org/draft-07/schema#", draft7),
            ("https://json-schema.org/draft-07/schema", draft7),
            ("http://json-schema.org/draft-07/schema##", None),
            ("HTTPS://json-schema.org/draft/2020-12/schema", None),
            ("https://json-schema.org/draft/2020-12/meta/core", None),
            ("https://json-schema.org/draft/2019-09/schema", None),
            ("https://json-schema.org/schema", None),
            ("http://json-schema.org/draft-07/links", None),
            ("http://json-schema.org/draft-06/schema#", None),
            ("http://json-schema.org/draft-04/schema#", None),
            ("https://example.com/mine", None),
            ("#", None),
        ];
        for (uri, expected) in cases {
            assert_eq!(Dialect::from_uri(uri), expected, "{uri}");
        }
    }

    #[test]
    fn errors_point_at_the_schema_keyword() {
        let error = Dialect::of(&json!({ "$schema": 7 })).expect_err("not a string");
        assert_eq!((error.code(), error.at()), ("INVALID_SCHEMA", "/$schema"));
        let error =
            Dialect::of(&json!({ "$schema": "https://example.com/mine" })).expect_err("unknown");
        assert_eq!((error.code(), error.at()), ("UNSUPPORTED_DIALECT", "/$schema"));
    }
}
