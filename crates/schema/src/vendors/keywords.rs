//! What is known about each keyword: how it holds subschemas, which values it is about, whether it
//! can make one invalid, and what the targets do with it wherever it is.
//!
//! Rewriting and judging a schema ask this for every keyword of every subschema, several times. The
//! row of a name is found by a hash of a few of its bytes, because comparing with all seventy names
//! took longer than writing the keyword.

use super::facts::{self, VendorFact};
use super::type_set::TypeSet;

/// An `allOf` that rewriting made, and that is not in the source.
pub(super) const BOTH: &str = "allOf (both)";

/// What is known about a keyword.
pub(super) struct KeywordTraits {
    name: &'static str,
    /// `None` if it holds no subschemas, or only definitions.
    pub shape: Option<KeywordShape>,
    /// The types of the values that it is about; `None` if it is about all.
    pub about: Option<TypeSet>,
    /// Whether it can make a value invalid. All others describe.
    pub is_assertion: bool,
    /// The fact about it wherever it is and whatever its value; `None` if every target accepts it,
    /// or if the facts depend on the value.
    pub fact: Option<&'static VendorFact>,
}

/// By name, because the facts are long.
impl std::fmt::Debug for KeywordTraits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeywordTraits({:?})", self.name)
    }
}

/// The shape in which a keyword of 2020-12 holds subschemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeywordShape {
    One,
    List,
    Named,
}

/// A keyword without subschemas that can make a value invalid.
const fn rule(
    name: &'static str,
    about: Option<TypeSet>,
    fact: Option<&'static VendorFact>,
) -> KeywordTraits {
    KeywordTraits { name, shape: None, about, is_assertion: true, fact }
}

/// A keyword with subschemas.
const fn holder(
    name: &'static str,
    shape: KeywordShape,
    about: Option<TypeSet>,
    fact: Option<&'static VendorFact>,
) -> KeywordTraits {
    KeywordTraits { name, shape: Some(shape), about, is_assertion: true, fact }
}

/// A keyword that describes.
const fn note(
    name: &'static str,
    about: Option<TypeSet>,
    fact: Option<&'static VendorFact>,
) -> KeywordTraits {
    KeywordTraits { name, shape: None, about, is_assertion: false, fact }
}

const OBJECT: Option<TypeSet> = Some(TypeSet::OBJECT);
const ARRAY: Option<TypeSet> = Some(TypeSet::ARRAY);
const STRING: Option<TypeSet> = Some(TypeSet::STRING);
const NUMBER: Option<TypeSet> = Some(TypeSet::NUMBER);

use KeywordShape::{List, Named, One};

static KEYWORDS: [KeywordTraits; 72] = [
    rule("type", None, None),
    rule("enum", None, None),
    rule("const", None, Some(&facts::CONST)),
    holder("anyOf", List, None, None),
    holder("oneOf", List, None, Some(&facts::ONE_OF)),
    holder("allOf", List, None, Some(&facts::ALL_OF)),
    rule(BOTH, None, Some(&facts::NO_FIELD)),
    holder("not", One, None, Some(&facts::CONDITION)),
    holder("if", One, None, Some(&facts::CONDITION)),
    holder("then", One, None, Some(&facts::CONDITION)),
    holder("else", One, None, Some(&facts::CONDITION)),
    rule("$ref", None, Some(&facts::NO_FIELD)),
    rule("$dynamicRef", None, Some(&facts::DYNAMIC_UNEVALUATED)),
    note("$dynamicAnchor", None, Some(&facts::DYNAMIC_UNEVALUATED)),
    note("$vocabulary", None, Some(&facts::DYNAMIC_UNEVALUATED)),
    note("$defs", None, Some(&facts::DEFINITIONS)),
    note("definitions", None, Some(&facts::DEFINITIONS)),
    // Objects.
    holder("properties", Named, OBJECT, None),
    rule("required", OBJECT, None),
    holder("additionalProperties", One, OBJECT, Some(&facts::NO_FIELD)),
    holder("patternProperties", Named, OBJECT, Some(&facts::PATTERN_PROPERTIES)),
    holder("propertyNames", One, OBJECT, Some(&facts::PROPERTY_NAMES)),
    rule("minProperties", OBJECT, Some(&facts::PROPERTY_COUNT)),
    rule("maxProperties", OBJECT, Some(&facts::PROPERTY_COUNT)),
    rule("dependentRequired", OBJECT, Some(&facts::CONDITION)),
    holder("dependentSchemas", Named, OBJECT, Some(&facts::CONDITION)),
    rule("dependencies", None, Some(&facts::CONDITION)),
    holder("unevaluatedProperties", One, OBJECT, Some(&facts::DYNAMIC_UNEVALUATED)),
    // Arrays.
    holder("items", One, ARRAY, None),
    rule("additionalItems", None, Some(&facts::ADDITIONAL_ITEMS)),
    holder("prefixItems", List, ARRAY, Some(&facts::PREFIX_ITEMS)),
    holder("contains", One, ARRAY, Some(&facts::UNIQUE_CONTAINS)),
    rule("minContains", ARRAY, Some(&facts::UNIQUE_CONTAINS)),
    rule("maxContains", ARRAY, Some(&facts::UNIQUE_CONTAINS)),
    rule("minItems", ARRAY, None),
    rule("maxItems", ARRAY, Some(&facts::MAX_ITEMS)),
    rule("uniqueItems", ARRAY, Some(&facts::UNIQUE_CONTAINS)),
    holder("unevaluatedItems", One, ARRAY, Some(&facts::DYNAMIC_UNEVALUATED)),
    // Texts.
    rule("minLength", STRING, Some(&facts::LENGTH)),
    rule("maxLength", STRING, Some(&facts::LENGTH)),
    rule("pattern", STRING, None),
    note("format", STRING, None),
    note("contentEncoding", STRING, Some(&facts::ANNOTATION)),
    note("contentMediaType", STRING, Some(&facts::ANNOTATION)),
    note("contentSchema", None, Some(&facts::ANNOTATION)),
    // Numbers.
    rule("minimum", NUMBER, Some(&facts::MINIMUM_MAXIMUM)),
    rule("maximum", NUMBER, Some(&facts::MINIMUM_MAXIMUM)),
    rule("exclusiveMinimum", NUMBER, Some(&facts::EXCLUSIVE_BOUND)),
    rule("exclusiveMaximum", NUMBER, Some(&facts::EXCLUSIVE_BOUND)),
    rule("multipleOf", NUMBER, Some(&facts::MULTIPLE_OF)),
    // Annotations.
    note("title", None, None),
    note("description", None, None),
    note("default", None, Some(&facts::DEFAULT)),
    note("nullable", None, Some(&facts::NULLABLE)),
    note("example", None, None),
    note("examples", None, Some(&facts::ANNOTATION)),
    note("readOnly", None, Some(&facts::ANNOTATION)),
    note("writeOnly", None, Some(&facts::ANNOTATION)),
    note("deprecated", None, Some(&facts::ANNOTATION)),
    note("$schema", None, Some(&facts::ANNOTATION)),
    note("$id", None, Some(&facts::ANNOTATION)),
    note("$anchor", None, Some(&facts::ANNOTATION)),
    note("$comment", None, Some(&facts::ANNOTATION)),
    // Fields of G1; the JSON mapping of protocol buffers accepts both spellings of a field.
    note("propertyOrdering", None, None),
    note("property_ordering", None, None),
    note("any_of", None, None),
    note("max_items", None, None),
    note("max_length", None, None),
    note("max_properties", None, None),
    note("min_items", None, None),
    note("min_length", None, None),
    note("min_properties", None, None),
];

/// All other names.
static UNKNOWN: KeywordTraits = note("", None, Some(&facts::NO_FIELD));

/// What is known about the keyword `name`.
pub(super) fn traits_of(name: &str) -> &'static KeywordTraits {
    let mut slot = name_hash(name) as usize % SLOT_COUNT;
    loop {
        match KEYWORDS.get(usize::from(SLOTS[slot])) {
            Some(traits) if traits.name == name => return traits,
            Some(_) => slot = (slot + 1) % SLOT_COUNT,
            None => return &UNKNOWN,
        }
    }
}

/// A hash of the length and three bytes, which differs for nearly all keywords. For a name that the
/// compiler knows it is a constant.
#[inline]
pub(super) const fn name_hash(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let last = match bytes.len() {
        0 => return 0,
        length => length - 1,
    };
    let second = bytes[if last == 0 { 0 } else { 1 }] as u32;
    let (middle, end) = (bytes[bytes.len() / 2] as u32, bytes[last] as u32);
    24 * (last as u32 + 1) + 11 * second + 21 * middle + 22 * end
}

const SLOT_COUNT: usize = 256;

/// No keyword has a hash for the slot.
const EMPTY: u8 = u8::MAX;

/// The number of the keyword in each slot of a hash table; the next free slot has a second one of
/// the same hash.
static SLOTS: [u8; SLOT_COUNT] = {
    let mut slots = [EMPTY; SLOT_COUNT];
    let mut number = 0;
    while number < KEYWORDS.len() {
        let mut slot = name_hash(KEYWORDS[number].name) as usize % SLOT_COUNT;
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOT_COUNT;
        }
        slots[slot] = number as u8;
        number += 1;
    }
    slots
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_its_own_row() {
        for traits in &KEYWORDS {
            assert!(std::ptr::eq(traits_of(traits.name), traits), "{traits:?}");
        }
        for name in ["", "x", "typ", "types", "tipe", "ANYOF", "é", "properties "] {
            assert!(std::ptr::eq(traits_of(name), &UNKNOWN), "{name:?}");
        }
    }
}
