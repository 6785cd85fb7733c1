//! Sets of JSON types, and which types the keywords of a schema are about.
//!
//! Keywords of JSON Schema apply to one type and ignore values of all others: `minLength` accepts
//! every number. So a keyword tells which type an author had in mind, and a type tells which
//! keywords have an effect.

use serde_json::Value;

use super::source_tree::NodeKeywords;
use crate::vendors::keywords::traits_of;
pub(super) use crate::vendors::type_set::TypeSet;

impl TypeSet {
    /// The types that the `type` of a schema allows.
    pub(super) fn of(keywords: &NodeKeywords) -> TypeSet {
        keywords.data("type").map_or(TypeSet::ALL, TypeSet::of_keyword)
    }
}

/// Schemas inside each other that [`stated_types`] looks into: a branch of `allOf`, and what that
/// refers to.
const MAX_STATED: usize = 2;

/// The types that the keywords of a part of the schema `root` are about, as a value of `type`: what
/// a rewrite states where the source does not. `None` if they are about none.
///
/// ```
/// # use serde_json::json;
/// # use toolwright_schema::stated_types;
/// let part = json!({ "allOf": [{ "$ref": "#/$defs/named" }] });
/// let root = json!({ "$defs": { "named": { "required": ["name"] } } });
/// assert_eq!(stated_types(&part, &root), Some(json!("object")));
/// assert_eq!(stated_types(&json!({}), &root), None);
/// ```
pub fn stated_types(part: &Value, root: &Value) -> Option<Value> {
    let types = types_about(part, root, 0);
    (!types.is_empty()).then(|| types.to_keyword())
}

/// The types that the keywords of `part`, of the branches of its `allOf` and of the target of its
/// `$ref` are about.
fn types_about(part: &Value, root: &Value, depth: usize) -> TypeSet {
    let Value::Object(members) = part else { return TypeSet::NONE };
    let own =
        members.keys().filter_map(|name| traits_of(name).about).fold(TypeSet::NONE, TypeSet::or);
    if depth == MAX_STATED {
        return own;
    }
    let branches = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let reference = members.get("$ref").and_then(Value::as_str);
    let referred = reference.and_then(|text| root.pointer(text.strip_prefix('#')?));
    let inner = branches.chain(referred).map(|inner| types_about(inner, root, depth + 1));
    inner.fold(own, TypeSet::or)
}
