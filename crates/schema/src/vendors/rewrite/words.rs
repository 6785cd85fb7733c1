//! Keywords in a few words, for descriptions: a model follows a constraint that it can read, even
//! where the target has no keyword for it.
//!
//! `{"type": "array", "minItems": 2}`, without a keyword for it, gets the description
//! `at least 2 items`. With a description `Tags` it becomes `Tags (at least 2 items)`.
//!
//! Words are short or left out: they are sent with every request.

use serde_json::Value;

use super::source_tree::{NodeContent, NodeKeyword, NodeKeywords, SchemaDefinition, SchemaNode};

/// The longest JSON text or pattern that is quoted.
const MAX_QUOTED: usize = 100;

/// Subschemas and values of the largest schema that is quoted.
const MAX_QUOTED_PARTS: usize = 24;

/// What a keyword demands, in words; `None` if it demands nothing, or if the words would be long.
///
/// References below the keyword are written as `#/$defs/…`. A schema of more than
/// `MAX_QUOTED_PARTS` parts is too long to quote.
pub(super) fn keyword_words<'t>(
    keyword: &NodeKeyword<'t>,
    definitions: &[SchemaDefinition<'t>],
) -> Option<String> {
    let name = &*keyword.name;
    match &keyword.content {
        NodeContent::Data(value) => data_words(name, value),
        NodeContent::Reference(_) => None,
        NodeContent::One(SchemaNode::Nothing(_)) => None,
        _ => {
            let holder = NodeKeywords::of(keyword.place, [keyword.clone()]);
            let mut budget = MAX_QUOTED_PARTS;
            let holder = holder.into_node().to_value(definitions, &mut budget)?;
            data_words(name, holder.get(name)?)
        }
    }
}

/// The words for a keyword with this value. `None` for keywords that no short phrase states.
///
/// Bounds are sentences that people use: "at least 3 characters". `not`, `contains` and others are
/// quoted as JSON Schema, which models read as well. What would be long in any case, or means
/// nothing without its neighbours (`then`), has no words.
fn data_words(name: &str, value: &Value) -> Option<String> {
    let counted = |bound: &str, what: &str| {
        let number = value.as_f64()?;
        let ending = if number == 1.0 { "" } else { "s" };
        let what = if what == "property" && number != 1.0 { "propertie" } else { what };
        Some(format!("{bound} {value} {what}{ending}"))
    };
    match name {
        "minLength" => counted("at least", "character"),
        "maxLength" => counted("at most", "character"),
        "minItems" => counted("at least", "item"),
        "maxItems" => counted("at most", "item"),
        "minProperties" => counted("at least", "property"),
        "maxProperties" => counted("at most", "property"),
        "minimum" => Some(format!("at least {value}")),
        "maximum" => Some(format!("at most {value}")),
        "exclusiveMinimum" => Some(format!("more than {value}")),
        "exclusiveMaximum" => Some(format!("less than {value}")),
        "multipleOf" => Some(format!("a multiple of {value}")),
        "uniqueItems" => value.as_bool().filter(|unique| *unique).map(|_| "no item twice".into()),
        "pattern" => quoted("matches", value.as_str()?),
        "format" => quoted("format", value.as_str()?),
        "default" if value.is_null() => None,
        "default" => short(value).map(|text| format!("default: {text}")),
        "dependentRequired" => dependencies(value),
        "minContains"
        | "maxContains"
        | "then"
        | "else"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "if"
        | "type"
        | "properties"
        | "required"
        | "anyOf"
        | "oneOf"
        | "allOf" => None,
        "not" | "contains" | "propertyNames" | "patternProperties" | "prefixItems"
        | "dependentSchemas" => short(value).map(|text| format!("`{name}`: {text}")),
        _ => None,
    }
}

/// `None` if the text is longer than `MAX_QUOTED` bytes.
///
/// `("matches", "^a+$")` gives `` matches `^a+$` ``.
fn quoted(verb: &str, text: &str) -> Option<String> {
    (text.len() <= MAX_QUOTED).then(|| format!("{verb} `{text}`"))
}

/// The value as JSON, if that is short.
fn short(value: &Value) -> Option<String> {
    let text = value.to_string();
    (text.len() <= MAX_QUOTED).then_some(text)
}

/// `dependentRequired` as a sentence: ``{"a": ["b", "c"]}`` gives `` `a` needs `b` and `c` ``.
fn dependencies(value: &Value) -> Option<String> {
    let rules = value.as_object()?.iter().map(|(name, names)| {
        let names: Vec<String> = names
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .map(|name| format!("`{name}`"))
            .collect();
        Some(format!("`{name}` needs {}", names.join(" and ")))
    });
    let text = rules.collect::<Option<Vec<String>>>()?.join(", ");
    (!text.is_empty() && text.len() <= MAX_QUOTED).then_some(text)
}

/// Adds words to the description of a node.
///
/// The description is added if there is none.
pub(super) fn add_words<'t>(keywords: &mut NodeKeywords<'t>, words: &str) {
    let old = keywords.data("description").and_then(Value::as_str);
    let new = with_words(old, words);
    keywords.set_data("description", Value::String(new));
}

/// A description with words added. Words that are there already are not repeated.
///
/// `("Tags (at least 2 items)", "at least 2 items")` stays as it is: a definition that is inlined
/// into a node is given its words once.
pub(super) fn with_words(description: Option<&str>, words: &str) -> String {
    let Some(text) = description.map(str::trim_end).filter(|text| !text.is_empty()) else {
        return words.to_owned();
    };
    let is_in_brackets = |(at, _): (usize, &str)| {
        text[..at].ends_with('(') && text[at + words.len()..].starts_with(')')
    };
    let has_brackets = || text.contains('(') && text.match_indices(words).any(is_in_brackets);
    if text == words || has_brackets() {
        return text.to_owned();
    }
    [text, " (", words, ")"].concat()
}
