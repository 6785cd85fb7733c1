//! JSON text into a value, for schemas, instances and arguments of calls that are given as text.
//!
//! `serde_json` alone keeps the last of two properties with the same name. For a schema that means
//! that one of two rules silently disappears, so names that appear twice are an error here. Text
//! after the value and nesting beyond 128 levels are errors, too.
//!
//! Documents of users are not read here: `toolwright` parses them with positions for its messages
//! and passes decoded values.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Value};

/// Parses JSON text. Unlike `serde_json`, rejects an object in which a name appears twice.
///
/// ```
/// let error = toolwright_schema::decode(br#"{"a": 1, "a": 2}"#).unwrap_err();
/// assert_eq!(error, "not valid JSON: the name `a` appears twice at line 1 column 12");
/// ```
///
/// # Errors
/// What is wrong with it, with line and column, for a message.
pub fn decode(text: &[u8]) -> Result<Value, String> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let decoded = UniqueNames.deserialize(&mut deserializer);
    let value = decoded.and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| format!("not valid JSON: {error}"))
}

/// Builds a [`Value`] as `serde_json` does, but rejects names that appear twice in one object.
#[derive(Clone, Copy)]
struct UniqueNames;

impl<'de> DeserializeSeed<'de> for UniqueNames {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueNames {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            match map.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(members.next_value_seed(self)?);
                }
                Entry::Occupied(own) => {
                    let name = own.key();
                    return Err(A::Error::custom(format_args!("the name `{name}` appears twice")));
                }
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_text_is_read_as_serde_json_reads_it() {
        for text in [
            "null",
            "-0.0",
            "18446744073709551615",
            "-9223372036854775808",
            "1e300",
            r#" {"a": [1, -2, 3.5, true, "x\ud83d\ude00\n", {"a": {}}], "b": null} "#,
        ] {
            let expected: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(decode(text.as_bytes()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn bad_text_is_an_error_with_its_place() {
        for (text, expected) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("{} x", "trailing characters at line 1 column 4"),
            (r#"{"a": 1, "b": 2, "a": 3}"#, "the name `a` appears twice at line 1 column 20"),
            (r#"[{"a": {"b": 1, "b": 1}}]"#, "the name `b` appears twice at line 1 column 19"),
        ] {
            assert_eq!(decode(text.as_bytes()), Err(format!("not valid JSON: {expected}")));
        }
        let deep = "[".repeat(100_000);
        assert!(decode(deep.as_bytes()).is_err_and(|error| error.contains("recursion limit")));
    }
}
