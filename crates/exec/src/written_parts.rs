//! Parts of a server's result as the server wrote them: parsed, a fraction or a number above 64
//! bits is rounded. All other parts are written from the parsed value.
//!
//! White space is left out, so that a message is one line. A part in which an object has two
//! members of one name is not kept: only one of them was checked, and clients may read the other.

use std::collections::BTreeMap;

use serde_json::Map;
use serde_json::value::RawValue;

use crate::{Json, json_size};

/// The parts of a server's result that are kept as text.
///
/// By member of the result and, in `content`, by the number of the block. Empty for results without
/// fractions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenParts(BTreeMap<(String, usize), WrittenPart>);

#[derive(Clone, Debug, PartialEq)]
struct WrittenPart {
    text: String,
    /// By how much it is longer than [`json_size`] counts.
    excess: usize,
}

impl WrittenParts {
    /// The parts of a result that was read from this text.
    pub(crate) fn of(text: &str, result: &Map<String, Json>) -> WrittenParts {
        let mut parts = WrittenParts::default();
        if result.values().any(has_float)
            && let Ok(texts) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text)
        {
            for (name, text) in texts {
                match (&result[&name], serde_json::from_str::<Vec<&RawValue>>(text.get())) {
                    (Json::Array(blocks), Ok(texts)) if name == "content" => {
                        let blocks = blocks.iter().zip(texts).enumerate();
                        blocks.for_each(|(n, (block, text))| parts.keep("content", n, block, text));
                    }
                    (value, _) => parts.keep(&name, 0, value, text),
                }
            }
        }
        parts
    }

    /// The number of members in the text and in the value are compared, which finds names that
    /// occur twice without a parser of our own.
    fn keep(&mut self, name: &str, n: usize, value: &Json, text: &RawValue) {
        if has_float(value) {
            let written = CompactText::of(text.get());
            let strings = StringSizes::of(value);
            // Parsing drops all but the last member of a name.
            if written.members == strings.members {
                let counted = json_size(value, usize::MAX).saturating_sub(strings.bytes);
                let excess = written.outside_strings.saturating_sub(counted);
                let part = WrittenPart { text: written.text, excess };
                self.0.insert((name.to_owned(), n), part);
            }
        }
    }

    /// By how much the parts of this name are longer than [`json_size`] counts.
    pub(crate) fn excess(&self, name: &str) -> usize {
        let parts = self.0.iter().filter(|((own, _), _)| own == name);
        parts.map(|(_, part)| part.excess).sum()
    }

    /// The text of a member of the result, or of the block with this number in `content`, if it is
    /// kept and still means this value.
    ///
    /// Parses the text once more, because steps after the call may have changed the value.
    pub fn text_of(&self, name: &str, n: usize, value: &Json) -> Option<Box<RawValue>> {
        // Nearly always.
        if self.0.is_empty() {
            return None;
        }
        let WrittenPart { text, .. } = self.0.get(&(name.to_owned(), n))?;
        let is_same = serde_json::from_str::<Json>(text).is_ok_and(|written| written == *value);
        RawValue::from_string(text.clone()).ok().filter(|_| is_same)
    }
}

/// JSON without white space, and what it consists of.
#[derive(Default)]
struct CompactText {
    text: String,
    /// The members of all objects.
    members: usize,
    /// The bytes of everything but strings. Their quotes count.
    outside_strings: usize,
}

impl CompactText {
    /// Of a text that is JSON.
    ///
    /// One pass over text that is known to be JSON: only strings have to be recognised, since
    /// everything else is copied without its white space.
    fn of(text: &str) -> CompactText {
        let mut compact = CompactText::default();
        let (mut is_string, mut is_escaped) = (false, false);
        compact.text.extend(text.chars().filter(|character| {
            if is_string {
                let ends = *character == '"' && !is_escaped;
                is_escaped = *character == '\\' && !is_escaped;
                is_string = !ends;
                compact.outside_strings += usize::from(ends);
                return true;
            }
            is_string = *character == '"';
            compact.members += usize::from(*character == ':');
            let is_kept = !character.is_ascii_whitespace();
            compact.outside_strings += usize::from(is_kept);
            is_kept
        }));
        compact
    }
}

/// The strings and names of a value.
#[derive(Default)]
struct StringSizes {
    /// The members of all objects.
    members: usize,
    /// The bytes of all strings and names.
    bytes: usize,
}

impl StringSizes {
    fn of(value: &Json) -> StringSizes {
        let mut sizes = StringSizes::default();
        sizes.add(value);
        sizes
    }

    fn add(&mut self, value: &Json) {
        match value {
            Json::String(text) => self.bytes += text.len(),
            Json::Array(items) => items.iter().for_each(|item| self.add(item)),
            Json::Object(members) => {
                for (name, value) in members {
                    self.members += 1;
                    self.bytes += name.len();
                    self.add(value);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}

/// Whether a value has a number that is not an integer of 64 bits.
pub(crate) fn has_float(value: &Json) -> bool {
    match value {
        Json::Number(number) => number.is_f64(),
        Json::Array(items) => items.iter().any(has_float),
        Json::Object(members) => members.values().any(has_float),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_digits_and_lose_white_space() {
        let text = "{ \"n\" : [1.50,\t2 ],\r\n\"a\\\\\" : \"x : \\\" y\" }";
        let part = |text: &str| {
            let value: Json = serde_json::from_str(text).expect("JSON");
            let result = Map::from_iter([("m".to_owned(), value.clone())]);
            let parts = WrittenParts::of(&format!("{{\"m\": {text}}}"), &result);
            parts.text_of("m", 0, &value).map(|kept| (kept.get().to_owned(), parts.excess("m")))
        };
        let kept = r#"{"n":[1.50,2],"a\\":"x : \" y"}"#;
        assert_eq!(part(text), Some((kept.to_owned(), 0)));
        assert_eq!(part("{\"n\": 1}"), None);
        assert_eq!(part("{\"n\": [{\"k\": 1, \"k\": 1.5}]}"), None);
        let digits = format!("0.{}", "1".repeat(98));
        let (kept, excess) = part(&format!("[{digits}]")).expect("a text");
        // The number counts as 8 bytes, with one for a comma.
        assert_eq!((kept.len(), excess), (102, 91));
    }
}
