//! Which keywords hold subschemas, in both dialects, and how each applies them.
//!
//! Everything not named here is data: a `$ref` inside `const`, `enum`, `default` or `examples` is
//! not a reference.

use serde_json::{Map, Value};

use crate::Dialect;

/// How a keyword applies the subschemas it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Applies {
    /// To the same place of the instance.
    InPlace,
    /// To something inside it, or to its property names.
    Below,
    /// Not at all: a definition.
    Never,
}

/// The shape a keyword holds its subschemas in.
enum Holds {
    One,
    List,
    Map,
    /// Draft-07's `items`.
    OneOrList,
}

/// Calls `visit` for every subschema directly inside `schema`.
pub(crate) fn subschemas<'a>(
    schema: &'a Map<String, Value>,
    dialect: Dialect,
    mut visit: impl FnMut(Applies, &'a Value),
) {
    for (keyword, value) in schema {
        let Some((applies, holds)) = role(keyword, dialect) else {
            continue;
        };
        match (holds, value) {
            (Holds::List | Holds::OneOrList, Value::Array(items)) => {
                items.iter().for_each(|item| visit(applies, item));
            }
            // `dependencies` may list property names instead of holding a schema.
            (Holds::Map, Value::Object(members)) => members
                .values()
                .filter(|member| !(keyword == "dependencies" && member.is_array()))
                .for_each(|member| visit(applies, member)),
            (Holds::One | Holds::OneOrList, Value::Object(_) | Value::Bool(_)) => {
                visit(applies, value);
            }
            // The wrong shape: the meta-schema reports it.
            _ => {}
        }
    }
}

/// Whether the other keywords beside a `$ref` are ignored.
pub(crate) fn reference_stands_alone(dialect: Dialect) -> bool {
    dialect == Dialect::Draft7
}

fn role(keyword: &str, dialect: Dialect) -> Option<(Applies, Holds)> {
    use Applies::{Below, InPlace, Never};
    Some(match (keyword, dialect) {
        ("not" | "if" | "then" | "else", _) => (InPlace, Holds::One),
        ("allOf" | "anyOf" | "oneOf", _) => (InPlace, Holds::List),
        // 2020-12 dropped `dependencies`; the validator still applies it, so it counts.
        ("dependencies", _) | ("dependentSchemas", Dialect::Draft202012) => (InPlace, Holds::Map),
        ("properties" | "patternProperties", _) => (Below, Holds::Map),
        ("additionalProperties" | "propertyNames" | "contains", _) => (Below, Holds::One),
        ("items", Dialect::Draft7) => (Below, Holds::OneOrList),
        ("additionalItems", Dialect::Draft7) => (Below, Holds::One),
        (
            "items" | "unevaluatedItems" | "unevaluatedProperties" | "contentSchema",
            Dialect::Draft202012,
        ) => (Below, Holds::One),
        ("prefixItems", Dialect::Draft202012) => (Below, Holds::List),
        ("definitions", _) | ("$defs", Dialect::Draft202012) => (Never, Holds::Map),
        _ => return None,
    })
}
