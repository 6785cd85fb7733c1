//! Which keywords hold subschemas, in both dialects, and how each applies them.
//!
//! Every walk over a schema (`normalize`, `subschema_graph`, `vendors`, `mistakes`) goes through
//! [`named_subschemas`], so all of them agree on what a subschema is. Everything that is not named
//! here is data: a `$ref` inside `const`, `enum`, `default` or `examples` is not a reference.
//!
//! ```text
//! {"properties": {"a": A}, "not": B, "$defs": {"d": D}, "default": {"$ref": "x"}}
//!   A  ChildValue, `properties`, name `a`
//!   B  SameValue, `not`
//!   D  Definition, `$defs`, name `d`
//! ```

use serde_json::{Map, Value};

use crate::Dialect;

/// To which part of the instance a keyword applies its subschemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubschemaTarget {
    /// To the value that the keyword's own schema is applied to (`allOf`, `if`). Only a chain of
    /// these can be followed forever without consuming any of the instance.
    SameValue,
    /// To a value inside it, or to its property names (`properties`, `items`).
    ChildValue,
    /// To nothing: a definition that only references apply (`$defs`).
    Definition,
}

/// The JSON shape in which a keyword holds its subschemas.
enum SubschemaContainer {
    One,
    List,
    Map,
    /// Draft-07's `items`: one schema for all items, or a list with one per position.
    OneOrList,
}

/// A subschema directly inside a schema.
#[derive(Clone, Copy)]
pub(crate) struct NamedSubschema<'a> {
    pub target: SubschemaTarget,
    /// The keyword that holds it.
    pub keyword: &'a str,
    /// Its key, where the keyword holds an object of subschemas.
    pub name: Option<&'a str>,
    pub value: &'a Value,
}

/// Calls `visit` for every subschema directly inside `schema`, in the order they are written.
pub(crate) fn subschemas<'a>(
    schema: &'a Map<String, Value>,
    dialect: Dialect,
    mut visit: impl FnMut(SubschemaTarget, &'a Value),
) {
    named_subschemas(schema, dialect, |found| visit(found.target, found.value));
}

/// [`subschemas`] with the keyword and the name of each.
///
/// A keyword whose value has the wrong shape is skipped. A name is given only for objects of
/// subschemas; items of a list have none.
pub(crate) fn named_subschemas<'a>(
    schema: &'a Map<String, Value>,
    dialect: Dialect,
    mut visit: impl FnMut(NamedSubschema<'a>),
) {
    for (keyword, value) in schema {
        let Some((target, container)) = keyword_role(keyword, dialect) else {
            continue;
        };
        let keyword = keyword.as_str();
        let mut visit = |name, value| visit(NamedSubschema { target, keyword, name, value });
        match (container, value) {
            (SubschemaContainer::List | SubschemaContainer::OneOrList, Value::Array(items)) => {
                items.iter().for_each(|item| visit(None, item));
            }
            // `dependencies` may list property names instead of holding a schema.
            (SubschemaContainer::Map, Value::Object(members)) => members
                .iter()
                .filter(|(_, member)| !(keyword == "dependencies" && member.is_array()))
                .for_each(|(name, member)| visit(Some(name.as_str()), member)),
            (
                SubschemaContainer::One | SubschemaContainer::OneOrList,
                Value::Object(_) | Value::Bool(_),
            ) => visit(None, value),
            // The wrong shape: validating the schema by its meta-schema reports it.
            _ => {}
        }
    }
}

/// The value of a keyword. Most schemas have a few keywords, which are compared faster than one is
/// hashed.
pub(crate) fn keyword_value<'a>(
    schema: &'a Map<String, Value>,
    keyword: &str,
) -> Option<&'a Value> {
    const FEW: usize = 12;
    match schema.len() {
        0..=FEW => schema.iter().find(|(name, _)| *name == keyword).map(|(_, value)| value),
        _ => schema.get(keyword),
    }
}

/// Calls `visit` for every subschema directly inside `schema`, to be changed: with its keyword, and
/// its key or index if the keyword holds several. `null` counts, too.
pub(crate) fn subschemas_mut(
    schema: &mut Map<String, Value>,
    dialect: Dialect,
    mut visit: impl FnMut(&str, Option<&str>, &mut Value),
) {
    use SubschemaContainer::{List, Map, One, OneOrList};
    for (keyword, value) in schema {
        let Some((_, container)) = keyword_role(keyword, dialect) else { continue };
        match (container, value) {
            (List | OneOrList, Value::Array(items)) => {
                for (n, item) in items.iter_mut().enumerate() {
                    visit(keyword, Some(&n.to_string()), item);
                }
            }
            (Map, Value::Object(members)) => {
                for (name, member) in members.iter_mut().filter(|(_, member)| !member.is_array()) {
                    visit(keyword, Some(name), member);
                }
            }
            (One | OneOrList, value) => visit(keyword, None, value),
            _ => {}
        }
    }
}

/// Whether the keywords beside a `$ref` are ignored. Draft-07 prescribes it (section 8.3 of its
/// core specification); 2020-12 applies them.
pub(crate) fn ref_ignores_siblings(dialect: Dialect) -> bool {
    dialect == Dialect::Draft7
}

/// How `keyword` holds and applies subschemas; `None` if it holds none.
///
/// The dialects differ: `additionalItems` means something in draft-07 only, `prefixItems` and
/// `unevaluated…` in 2020-12 only. A keyword that its dialect does not have holds data.
fn keyword_role(keyword: &str, dialect: Dialect) -> Option<(SubschemaTarget, SubschemaContainer)> {
    use SubschemaContainer::{List, Map, One, OneOrList};
    use SubschemaTarget::{ChildValue, Definition, SameValue};
    Some(match (keyword, dialect) {
        ("not" | "if" | "then" | "else", _) => (SameValue, One),
        ("allOf" | "anyOf" | "oneOf", _) => (SameValue, List),
        // 2020-12 dropped `dependencies`, but `jsonschema` still applies it there.
        ("dependencies", _) | ("dependentSchemas", Dialect::Draft202012) => (SameValue, Map),
        ("properties" | "patternProperties", _) => (ChildValue, Map),
        ("additionalProperties" | "propertyNames" | "contains", _) => (ChildValue, One),
        ("items", Dialect::Draft7) => (ChildValue, OneOrList),
        ("additionalItems", Dialect::Draft7) => (ChildValue, One),
        (
            "items" | "unevaluatedItems" | "unevaluatedProperties" | "contentSchema",
            Dialect::Draft202012,
        ) => (ChildValue, One),
        ("prefixItems", Dialect::Draft202012) => (ChildValue, List),
        ("definitions", _) | ("$defs", Dialect::Draft202012) => (Definition, Map),
        _ => return None,
    })
}
