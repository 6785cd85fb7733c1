//! Sets of JSON types, and which types the keywords of a schema are about.
//!
//! Keywords of JSON Schema apply to one type and ignore values of all others: `minLength` accepts
//! every number. So a keyword tells which type an author had in mind, and a type tells which
//! keywords have an effect.

use serde_json::Value;

use super::source_tree::NodeKeywords;

/// Some of the JSON types. Numbers are two bits, integers and all others: `number` is both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

impl TypeSet {
    pub(super) const NONE: TypeSet = TypeSet(0);
    pub(super) const ALL: TypeSet = TypeSet(0b111_1111);
    pub(super) const OBJECT: TypeSet = TypeSet(1);
    pub(super) const ARRAY: TypeSet = TypeSet(2);
    pub(super) const STRING: TypeSet = TypeSet(4);
    pub(super) const INTEGER: TypeSet = TypeSet(8);
    pub(super) const NUMBER: TypeSet = TypeSet(8 | 16);
    pub(super) const BOOLEAN: TypeSet = TypeSet(32);
    pub(super) const NULL: TypeSet = TypeSet(64);

    /// The names of JSON Schema, in the order in which lists are written.
    const NAMES: [(TypeSet, &'static str); 7] = [
        (TypeSet::STRING, "string"),
        (TypeSet::NUMBER, "number"),
        (TypeSet::INTEGER, "integer"),
        (TypeSet::BOOLEAN, "boolean"),
        (TypeSet::OBJECT, "object"),
        (TypeSet::ARRAY, "array"),
        (TypeSet::NULL, "null"),
    ];

    /// The types that a value of `type` names; all for a value that names none.
    pub(super) fn of_keyword(value: &Value) -> TypeSet {
        let by_name = |name: &Value| {
            let known = TypeSet::NAMES.iter().find(|(_, known)| name == known);
            known.map_or(TypeSet::NONE, |(types, _)| *types)
        };
        let types = match value {
            Value::Array(names) => {
                names.iter().fold(TypeSet::NONE, |types, name| types.or(by_name(name)))
            }
            name => by_name(name),
        };
        if types.is_empty() { TypeSet::ALL } else { types }
    }

    /// The types that the `type` of a schema allows.
    pub(super) fn of(keywords: &NodeKeywords) -> TypeSet {
        keywords.data("type").map_or(TypeSet::ALL, TypeSet::of_keyword)
    }

    /// The smallest type of a value that JSON Schema has a name for.
    ///
    /// A number without a fraction is an integer, however it is written: `1.0` is one.
    pub(super) fn of_value(value: &Value) -> TypeSet {
        match value {
            Value::Null => TypeSet::NULL,
            Value::Bool(_) => TypeSet::BOOLEAN,
            Value::String(_) => TypeSet::STRING,
            Value::Array(_) => TypeSet::ARRAY,
            Value::Object(_) => TypeSet::OBJECT,
            Value::Number(number) => {
                let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
                if !number.is_f64() || is_whole { TypeSet::INTEGER } else { TypeSet::NUMBER }
            }
        }
    }

    /// The value of `type`: a name, or a list of names.
    pub(super) fn to_keyword(self) -> Value {
        let mut names = self.each().map(|(_, name)| Value::from(name));
        match (names.next(), names.next()) {
            (Some(only), None) => only,
            (first, second) => first.into_iter().chain(second).chain(names).collect(),
        }
    }

    /// The types one by one, with their names.
    ///
    /// `integer` is left out if `number` is there, because it is a part of that.
    pub(super) fn each(self) -> impl Iterator<Item = (TypeSet, &'static str)> {
        let is_number = self.has(TypeSet::NUMBER);
        TypeSet::NAMES.into_iter().filter(move |(types, _)| {
            self.has(*types) && !(is_number && *types == TypeSet::INTEGER)
        })
    }

    /// Whether all of `types` are in the set.
    pub(super) fn has(self, types: TypeSet) -> bool {
        self.0 & types.0 == types.0
    }

    /// Whether any of `types` is in the set.
    pub(super) fn has_any(self, types: TypeSet) -> bool {
        self.0 & types.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn or(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    pub(super) fn both(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    pub(super) fn without(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & !other.0)
    }
}

/// The type that a keyword is about; `None` if it is about all.
pub(super) fn keyword_type(name: &str) -> Option<TypeSet> {
    Some(match name {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "minProperties"
        | "maxProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => TypeSet::OBJECT,
        "items" | "prefixItems" | "contains" | "minContains" | "maxContains" | "minItems"
        | "maxItems" | "uniqueItems" | "unevaluatedItems" => TypeSet::ARRAY,
        "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding"
        | "contentMediaType" => TypeSet::STRING,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            TypeSet::NUMBER
        }
        _ => return None,
    })
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
    let own = members.keys().filter_map(|name| keyword_type(name)).fold(TypeSet::NONE, TypeSet::or);
    if depth == MAX_STATED {
        return own;
    }
    let branches = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let reference = members.get("$ref").and_then(Value::as_str);
    let referred = reference.and_then(|text| root.pointer(text.strip_prefix('#')?));
    let inner = branches.chain(referred).map(|inner| types_about(inner, root, depth + 1));
    inner.fold(own, TypeSet::or)
}
