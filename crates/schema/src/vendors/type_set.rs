//! Sets of JSON types.

use serde_json::Value;

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
        let by_name = |name: &Value| match name.as_str() {
            Some("object") => TypeSet::OBJECT,
            Some("array") => TypeSet::ARRAY,
            Some("string") => TypeSet::STRING,
            Some("integer") => TypeSet::INTEGER,
            Some("number") => TypeSet::NUMBER,
            Some("boolean") => TypeSet::BOOLEAN,
            Some("null") => TypeSet::NULL,
            _ => TypeSet::NONE,
        };
        let types = match value {
            Value::Array(names) => {
                names.iter().fold(TypeSet::NONE, |types, name| types.or(by_name(name)))
            }
            name => by_name(name),
        };
        if types.is_empty() { TypeSet::ALL } else { types }
    }

    /// The smallest type of a value that JSON Schema has a name for.
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
