//! Values on both sides of what one keyword demands: what differs between two schemas shows there.
//!
//! ```text
//! minimum: 5                          4, 4.5, 5, 5.5, 6, 2.5, 10, …
//! maxLength: 3                        texts of 2, 3 and 4 characters
//! enum: ["a", "b"], other: ["a"]      "b" first, then values that are not listed, then "a"
//! required: ["a", "b"]                a small object without `a`, and one without `b`
//! ```
//!
//! A value may violate the keyword of the edge. All else in it is built to match the schema, as far
//! as possible: otherwise both schemas would refuse it for another reason, and it would show
//! nothing. So each function starts from a small instance and changes one thing.
//!
//! `other` is the value of the same keyword in the schema to compare with. Values at its edge
//! belong to the list, too, because what changed lies between the two.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::flat_schema::{FlatSchema, count, number, product, strings};
use super::{InstanceBuilder, MAX_MEMBERS, MAX_NESTING, json_number, padded};

/// Values of one `enum` that are tried.
const MAX_LISTED: usize = 64;

/// Members of an object or items of a tuple whose absence is tried one by one.
const MAX_ABSENT: usize = 64;

/// Strings that ordinary patterns tell apart.
const TEXTS: [&str; 9] = ["", "a", "A", "0", "-", " ", "é", "\n", "a b"];

/// Words of one pattern that are tried as they are.
const MAX_WORDS: usize = 8;

impl InstanceBuilder<'_> {
    /// Values on both sides of what `keyword` of `flat` demands. `other` is the value of the same
    /// keyword in a schema to compare with: what differs is tried first.
    ///
    /// Empty for a keyword that asserts nothing about the value itself.
    ///
    /// The order matters: the caller judges one value after the other and stops at the first that
    /// tells the schemas apart.
    pub(crate) fn values_at_edge(
        &self,
        flat: &FlatSchema,
        keyword: &str,
        other: Option<&Value>,
    ) -> Vec<Value> {
        let Some(value) = flat.get(keyword) else { return Vec::new() };
        match keyword {
            "type" => one_of_each_type(),
            "const" => {
                let mut values = vec![value.clone()];
                values.extend(besides(std::slice::from_ref(value)));
                values
            }
            "enum" => {
                let listed = value.as_array().map_or(&[][..], Vec::as_slice);
                let kept: HashSet<String> = other
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .map(Value::to_string)
                    .collect();
                let (same, differing): (Vec<&Value>, Vec<&Value>) =
                    listed.iter().partition(|value| kept.contains(&value.to_string()));
                let mut values: Vec<Value> =
                    differing.into_iter().take(MAX_LISTED).cloned().collect();
                values.extend(besides(listed));
                values.extend(same.into_iter().take(2).cloned());
                values
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                numbers_at_edge(flat, value, other)
            }
            "minLength" | "maxLength" | "pattern" => texts_at_edge(flat, value, other),
            "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
            | "maxContains" | "prefixItems" | "items" | "unevaluatedItems" => {
                self.arrays_at_edge(flat, value, other)
            }
            "not" => {
                let mut values: Vec<Value> = self
                    .alternatives(value)
                    .iter()
                    .filter_map(|inner| {
                        // What is refused, within what the rest of the schema allows.
                        let merged =
                            product(std::slice::from_ref(flat), std::slice::from_ref(inner));
                        merged.first().and_then(|merged| self.smallest_flat(merged))
                    })
                    .collect();
                values.extend(self.smallest(value));
                values.extend(one_of_each_type());
                values
            }
            "required"
            | "properties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "patternProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired" => self.objects_at_edge(flat, keyword, value, other),
            _ => Vec::new(),
        }
    }

    /// Arrays for the keywords about items: of every length that a bound states, each in several
    /// fillings, because the length alone may not tell two schemas apart.
    ///
    /// Each bound gives three lengths: one less, itself, and one more. Lengths above `MAX_MEMBERS`
    /// are left out by `array_of_length`.
    fn arrays_at_edge(
        &self,
        flat: &FlatSchema,
        value: &Value,
        other: Option<&Value>,
    ) -> Vec<Value> {
        let mut lengths: Vec<u64> = vec![0, 1, 2];
        for bound in [Some(value), other].into_iter().flatten().filter_map(Value::as_u64) {
            lengths.extend([bound.saturating_sub(1), bound, bound.saturating_add(1)]);
        }
        let tuple = flat.get("prefixItems").and_then(Value::as_array);
        let positions = tuple.map_or(0, Vec::len) as u64;
        lengths.extend([positions, positions + 1]);
        lengths.sort_unstable();
        lengths.dedup();
        // Up to five arrays per length: as the schema describes it; with items like the last one of
        // a tuple, or matching `contains`; without `contains`, with and without repetitions; of any
        // items.
        let mut open = flat.clone();
        open.remove("contains");
        // More items like the last one of a tuple, and items that all match `contains`.
        let mut longer = flat.clone();
        if let Some(last) = tuple.and_then(|tuple| tuple.last()) {
            longer.insert("items".to_owned(), last.clone());
        }
        let mut values = Vec::new();
        for length in lengths {
            values.extend(self.array_of_length(flat, length, MAX_NESTING));
            if flat.contains_key("contains") {
                longer.insert("minContains".to_owned(), length.into());
            }
            if longer != *flat {
                values.extend(self.array_of_length(&longer, length, MAX_NESTING));
            }
            // Items that are all the same, and none that `contains` wants.
            open.insert("uniqueItems".to_owned(), Value::Bool(false));
            values.extend(self.array_of_length(&open, length, MAX_NESTING));
            open.insert("uniqueItems".to_owned(), Value::Bool(true));
            values.extend(self.array_of_length(&open, length, MAX_NESTING));
            if length > 0 && length <= MAX_MEMBERS {
                let mut foreign = flat.clone();
                foreign.insert("items".to_owned(), Value::Bool(true));
                foreign.remove("prefixItems");
                values.extend(self.array_of_length(&foreign, length, MAX_NESTING));
            }
        }
        values
    }

    /// Objects for the keywords about properties: a small instance with one member more, less or
    /// different.
    ///
    /// Empty if no small instance can be built: every object around it would be refused anyway.
    ///
    /// ```text
    /// required: ["a", "b"]          an object without `a`, an object without `b`
    /// propertyNames: {maxLength: 3} an object with a name of 2, 3 and 4 characters
    /// maxProperties: 2              objects of 1, 2 and 3 members
    /// dependentRequired: {a: [b]}   an object with `a`, and one with `a` and `b`
    /// ```
    fn objects_at_edge(
        &self,
        flat: &FlatSchema,
        keyword: &str,
        value: &Value,
        other: Option<&Value>,
    ) -> Vec<Value> {
        let Some(base) = self.smallest_object(flat, MAX_NESTING) else { return Vec::new() };
        let with = |name: &str, member: Value| {
            let mut object = base.clone();
            object.insert(name.to_owned(), member);
            Value::Object(object)
        };
        let mut values = Vec::new();
        match keyword {
            "required" => {
                let kept: HashSet<&str> = strings(other).collect();
                let names = strings(Some(value)).filter(|name| !kept.contains(name));
                for name in names.take(MAX_ABSENT) {
                    let mut object = base.clone();
                    object.shift_remove(name);
                    values.push(Value::Object(object));
                }
            }
            "additionalProperties" | "unevaluatedProperties" => {
                let name = self.fresh_name(flat);
                values.extend(self.smallest(value).map(|member| with(&name, member)));
                values.extend(one_of_each_type().into_iter().map(|member| with(&name, member)));
            }
            "patternProperties" => {
                for (pattern, own) in value.as_object().into_iter().flatten().take(MAX_ABSENT) {
                    let Some(name) = jsonschema_regex::pattern_witness(pattern) else { continue };
                    values.extend(self.smallest(own).map(|member| with(&name, member)));
                    let others = one_of_each_type();
                    values.extend(others.into_iter().map(|member| with(&name, member)));
                }
            }
            "propertyNames" => {
                let flat_names = self.alternatives(value);
                let edges = flat_names.iter().flat_map(|names| {
                    let each = names.keys().map(String::as_str).collect::<Vec<_>>();
                    each.into_iter().flat_map(|keyword| self.values_at_edge(names, keyword, None))
                });
                let edges: Vec<Value> = edges.collect();
                let mut names: Vec<&str> = edges.iter().filter_map(Value::as_str).collect();
                names.extend(TEXTS);
                // As in `texts_at_edge`: validators disagree about these.
                names.sort_by_key(|name| name.ends_with('\n'));
                for name in names.into_iter().take(MAX_ABSENT) {
                    let member = self.smallest(self.member_schema(flat, name));
                    values.push(with(name, member.unwrap_or(Value::Null)));
                }
            }
            "minProperties" | "maxProperties" => {
                for bound in [Some(value), other].into_iter().flatten().filter_map(Value::as_u64) {
                    for length in [bound.saturating_sub(1), bound, bound.saturating_add(1)] {
                        let filled = self.fill(flat, base.clone(), length, MAX_NESTING);
                        values.extend(filled.map(Value::Object));
                    }
                }
            }
            "dependentRequired" => {
                for (name, wanted) in value.as_object().into_iter().flatten().take(MAX_ABSENT) {
                    let Some(member) = self.smallest(self.member_schema(flat, name)) else {
                        continue;
                    };
                    let mut object = base.clone();
                    object.insert(name.clone(), member);
                    values.push(Value::Object(object.clone()));
                    for wanted in strings(Some(wanted)) {
                        let member = self.smallest(self.member_schema(flat, wanted));
                        object.insert(wanted.to_owned(), member.unwrap_or(Value::Null));
                    }
                    values.push(Value::Object(object));
                }
            }
            // `properties` restricts only members, which callers look into.
            _ => values.push(Value::Object(base)),
        }
        values
    }
}

/// A value of each JSON type, a number with a fraction, and empty and filled containers.
/// They show what `type` does, and which types a keyword lets through.
fn one_of_each_type() -> Vec<Value> {
    vec![
        Value::Null,
        json!(0),
        json!("a"),
        json!(true),
        json!(0.5),
        json!([]),
        json!({}),
        json!([null]),
        json!({ "z": null }),
    ]
}

/// Values that are not listed: of the same types, then of others.
///
/// The number is larger than any listed one, and the text is a run of `a` that is not listed.
fn besides(listed: &[Value]) -> Vec<Value> {
    let mut text = "a".to_owned();
    while listed.iter().any(|value| value.as_str() == Some(&text)) && text.len() < 100 {
        text.push('a');
    }
    let largest = listed.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
    let mut values = Vec::new();
    if listed.iter().any(Value::is_number) {
        values.push(json_number(largest + 1.0));
    }
    values.push(text.into());
    values.push(json_number(largest + 1.5));
    values.extend([json!(false), json!(true)]);
    values.extend(one_of_each_type());
    values.retain(|value| !listed.contains(value));
    values
}

/// Numbers around a bound and around that of `other`. If `multipleOf` is there, the neighbours that
/// are multiples come first: all others are refused for another reason.
///
/// Around 5: 4, 4.5, 5, 5.5, 6, and half, twice and three times of it for `multipleOf`. Zero and
/// one are always tried.
fn numbers_at_edge(flat: &FlatSchema, value: &Value, other: Option<&Value>) -> Vec<Value> {
    let mut values = Vec::new();
    for edge in [Some(value), other].into_iter().flatten().filter_map(Value::as_f64) {
        let near = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|step| edge + step);
        values.extend(near);
        values.extend([edge / 2.0, edge * 2.0, edge * 3.0, edge * 1.5]);
    }
    // In the middle of two edges, where one of them moved.
    if let Some((one, other)) = value.as_f64().zip(other.and_then(Value::as_f64)) {
        values.extend([(one + other) / 2.0, one.max(other).floor(), one.min(other).ceil()]);
    }
    let divisor = number(flat, "multipleOf").filter(|divisor| *divisor > 0.0);
    let aligned: Vec<f64> = divisor.map_or_else(Vec::new, |divisor| {
        values
            .iter()
            .flat_map(|near| {
                let down = (near / divisor).floor() * divisor;
                [down, down + divisor]
            })
            .collect()
    });
    values.splice(0..0, aligned);
    values.extend([0.0, 1.0, -1.0]);
    values.retain(|value| value.is_finite());
    let mut edges: Vec<Value> = Vec::new();
    for value in values.into_iter().map(json_number) {
        if !edges.contains(&value) {
            edges.push(value);
        }
    }
    edges
}

/// Texts around a length, or around a pattern: a text that matches it, with something added or
/// removed, and words that the pattern contains.
///
/// `value` is a number for the two lengths and a text for a pattern; each loop takes what it can
/// read. `jsonschema_regex` makes a text that matches a pattern, if it can.
fn texts_at_edge(flat: &FlatSchema, value: &Value, other: Option<&Value>) -> Vec<Value> {
    let mut texts: Vec<String> = Vec::new();
    let pattern = flat.get("pattern").and_then(Value::as_str);
    // A text of the right length still has to match the pattern beside the bound.
    let model = pattern.and_then(jsonschema_regex::pattern_witness).unwrap_or_default();
    for bound in [Some(value), other].into_iter().flatten().filter_map(Value::as_u64) {
        for length in [bound.saturating_sub(1), bound, bound.saturating_add(1)] {
            texts.extend(padded(&model, length));
            texts.extend(padded("", length));
            // Where a pattern of another branch is about the letters of the others.
            texts.extend(padded("0", length));
        }
    }
    let least = count(flat, "minLength").unwrap_or(0);
    let patterns = [Some(value), other].into_iter().flatten().filter_map(Value::as_str);
    for pattern in patterns {
        let witness = jsonschema_regex::pattern_witness(pattern).unwrap_or_default();
        texts.extend(padded(&witness, least));
        texts.extend([format!("{witness}\n"), format!("{witness} "), format!(" {witness}")]);
        texts.push(format!("{witness}{witness}"));
        texts.extend(TEXTS.iter().filter_map(|text| padded(text, least)));
        texts.extend(TEXTS.iter().map(|text| format!("{witness}{text}")));
        // `^(?!internal)` refuses the word that it names.
        let words = pattern.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        texts.extend(words.take(MAX_WORDS).map(str::to_owned));
    }
    // Validators disagree whether `$` matches before a line break at the end, so these come last.
    texts.sort_by_key(|text| text.ends_with('\n'));
    texts.dedup();
    texts.into_iter().map(Value::from).collect()
}
