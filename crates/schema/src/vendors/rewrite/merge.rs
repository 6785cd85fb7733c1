//! Several schemas that all have to match, as one: what `allOf` and a `$ref` with something beside
//! it mean.
//!
//! Only one level is merged at a time: two subschemas for the same property become an `allOf` of
//! both, which is merged when the property is rewritten. A property that only one side names has
//! to match what the other side demands of properties it does not name.
//!
//! Two keywords that cannot be one (two patterns) are a conflict: the second is dropped, which
//! widens, and reported.
//!
//! ```text
//! {"minimum": 1} and {"minimum": 3}              ─▶  {"minimum": 3}
//! {"enum": ["a", "b"]} and {"const": "b"}        ─▶  {"enum": ["b"]}
//! {"properties": {"a": S}} and                   ─▶  {"properties": {"a": both(S, T)},
//!     {"additionalProperties": T}                     "additionalProperties": T}
//! {"pattern": P} and {"pattern": Q}              ─▶  {"pattern": P}, Q is a conflict
//! ```

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Value, json};

use super::source_tree::{
    BOTH, NamedNodes, NodeContent, NodeKeyword, NodeKeywords, SchemaNode, Shared, SourcePlace,
};
use super::types::TypeSet;
use crate::Schema;
use crate::restore::same_json;

/// The most branches that two merged choices may have together.
const MAX_PRODUCT: usize = 32;

/// The most names that are matched with patterns.
pub(super) const MAX_MATCHES: usize = 1_000;

/// The result of merging.
pub(super) struct Merged<'t> {
    /// `None` if no value can match.
    pub keywords: Option<NodeKeywords<'t>>,
    /// What could not be merged and was left out.
    pub conflicts: Vec<NodeKeyword<'t>>,
    /// Annotations that were left out, because the first schema has others.
    pub lost_annotations: Vec<NodeKeyword<'t>>,
}

/// One schema that means `allOf: [first, second]`. Where both describe, `first` wins.
///
/// Keywords that depend on each other are merged together, before the others: those about
/// properties, those about items, and `enum` with `const`. The order of `first` is kept, and what
/// only `second` has comes after it.
///
/// `normalize` calls it once for each branch of an `allOf`, with the result so far as `first`;
/// `choices` and `conditions` call it to see what two schemas demand together.
pub(super) fn merge<'t>(first: NodeKeywords<'t>, second: &NodeKeywords<'t>) -> Merged<'t> {
    // `keywords` stays `None` on every early return: a contradiction.
    let mut merged = Merged { keywords: None, conflicts: Vec::new(), lost_annotations: Vec::new() };
    let mut result = first.clone();
    if !merge_properties(&mut result, &first, second, &mut merged.conflicts)
        || !merge_items(&mut result, &first, second)
        || !merge_values(&mut result, second)
    {
        return merged;
    }
    for keyword in second {
        let name = &*keyword.name;
        if matches!(
            name,
            "properties"
                | "patternProperties"
                | "additionalProperties"
                | "items"
                | "prefixItems"
                | "enum"
                | "const"
        ) {
            continue;
        }
        // Parts of one condition belong together.
        let group = match name {
            "if" | "then" | "else" => "if",
            "contains" | "minContains" | "maxContains" => "contains",
            _ => "",
        };
        if first.has(group) && second.has(group) {
            merged.conflicts.push(keyword.clone());
            continue;
        }
        // Only one side has it.
        let Some(own) = result.get(name).map(|own| &own.content) else {
            result.push(keyword.clone());
            continue;
        };
        match combine(name, own, &keyword.content) {
            Combined::Content(content) => {
                // The tighter of two bounds is the one that counts, and that may be dropped.
                let is_second =
                    !is_same_value(own, &content) && is_same_value(&content, &keyword.content);
                let place = if is_second { keyword.place } else { result.place_of(name) };
                result.set_at(keyword.name, place, content);
            }
            Combined::Nothing => return merged,
            Combined::Conflict if keyword.is_assertion() => merged.conflicts.push(keyword.clone()),
            Combined::Conflict if !same_content(own, &keyword.content) => {
                merged.lost_annotations.push(keyword.clone());
            }
            Combined::Conflict => {}
        }
    }
    merged.keywords = Some(result);
    merged
}

/// Whether both hold the same value.
fn is_same_value(first: &NodeContent<'_>, second: &NodeContent<'_>) -> bool {
    match (first, second) {
        (NodeContent::Data(one), NodeContent::Data(other)) => same_json(one, other),
        _ => false,
    }
}

/// Whether the second text says nothing that the first one lacks. Then leaving it out is no loss
/// that has to be reported.
fn same_content<'t>(first: &NodeContent<'t>, second: &NodeContent<'t>) -> bool {
    match (first, second) {
        (NodeContent::Data(one), NodeContent::Data(other)) => {
            let texts = one.as_str().zip(other.as_str());
            same_json(one, other) || texts.is_some_and(|(one, other)| one.contains(other))
        }
        _ => false,
    }
}

/// One keyword of both schemas.
enum Combined<'t> {
    /// One keyword that states both.
    Content(NodeContent<'t>),
    /// No value matches both.
    Nothing,
    /// One keyword cannot state both.
    Conflict,
}

/// A keyword that both schemas have, as one that states both. A keyword without a rule of its own
/// is a conflict, unless both have the same value.
fn combine<'t>(name: &str, first: &NodeContent<'t>, second: &NodeContent<'t>) -> Combined<'t> {
    use NodeContent::{Data, List, Named, One, Reference};
    let data = |value: Value| Combined::Content(Data(value.into()));
    match (name, first, second) {
        ("type", Data(one), Data(other)) => {
            match TypeSet::of_keyword(one).both(TypeSet::of_keyword(other)) {
                types if types.is_empty() => Combined::Nothing,
                types => data(types.to_keyword()),
            }
        }
        (
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties"
            | "minContains",
            Data(one),
            Data(other),
        ) => data(larger(one, other)),
        (
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
            | "maxContains",
            Data(one),
            Data(other),
        ) => data(smaller(one, other)),
        ("multipleOf", Data(one), Data(other)) => match common_multiple(one, other) {
            Some(value) => data(value),
            None => Combined::Conflict,
        },
        ("uniqueItems", Data(one), Data(other)) => {
            data(Value::Bool(one.as_bool() == Some(true) || other.as_bool() == Some(true)))
        }
        ("required", Data(one), Data(other)) => data(united(one, other)),
        // Both describe the value, so both texts are kept.
        ("description", Data(one), Data(other)) => match (one.as_str(), other.as_str()) {
            (Some(one), Some(other)) if !one.contains(other) => {
                data(format!("{one}\n{other}").into())
            }
            _ => Combined::Conflict,
        },
        ("dependentRequired", Data(one), Data(other)) => {
            let mut all = one.as_object().cloned().unwrap_or_default();
            for (name, names) in other.as_object().into_iter().flatten() {
                let both = all.get(name).map_or_else(|| names.clone(), |own| united(own, names));
                all.insert(name.clone(), both);
            }
            data(Value::Object(all))
        }
        ("propertyNames" | "unevaluatedItems" | "unevaluatedProperties", One(one), One(other)) => {
            Combined::Content(One(both(one, other)))
        }
        ("not", One(one), One(other)) => {
            let mut either = NodeKeywords::new(one.place());
            either.set("anyOf", List([one.clone(), other.clone()].into()));
            Combined::Content(One(either.into_node()))
        }
        ("dependentSchemas", Named(one), Named(other)) => {
            Combined::Content(Named(united_nodes(one, other)))
        }
        ("anyOf", List(one), List(other)) => {
            if one.len().saturating_mul(other.len()) > MAX_PRODUCT {
                return Combined::Conflict;
            }
            let pairs = one.iter().flat_map(|one| other.iter().map(move |other| both(one, other)));
            Combined::Content(List(pairs.collect()))
        }
        ("allOf" | BOTH, List(one), List(other)) => {
            Combined::Content(List(one.iter().chain(other.iter()).cloned().collect()))
        }
        (_, Data(one), Data(other)) if same_json(one, other) => Combined::Content(first.clone()),
        (_, Reference(one), Reference(other)) if one == other => Combined::Content(first.clone()),
        _ => Combined::Conflict,
    }
}

/// `allOf` of two nodes, without a branch that changes nothing.
pub(super) fn both<'t>(first: &SchemaNode<'t>, second: &SchemaNode<'t>) -> SchemaNode<'t> {
    match (first, second) {
        (SchemaNode::All(_), other) | (other, SchemaNode::All(_)) => other.clone(),
        (nothing @ SchemaNode::Nothing(_), _) | (_, nothing @ SchemaNode::Nothing(_)) => {
            nothing.clone()
        }
        (SchemaNode::Keywords(one), SchemaNode::Keywords(other)) if Rc::ptr_eq(one, other) => {
            first.clone()
        }
        _ => {
            let mut keywords = NodeKeywords::new(first.place());
            keywords.set(BOTH, NodeContent::List([first.clone(), second.clone()].into()));
            keywords.into_node()
        }
    }
}

/// What a schema demands of the properties of an object.
struct PropertyRules<'t> {
    /// `properties`
    named: HashMap<Shared<'t, str>, SchemaNode<'t>>,
    /// `patternProperties`
    patterns: NamedNodes<'t>,
    /// `None` where nothing is said, which allows everything.
    others: Option<SchemaNode<'t>>,
}

impl<'t> PropertyRules<'t> {
    fn of(keywords: &NodeKeywords<'t>) -> PropertyRules<'t> {
        PropertyRules {
            named: keywords.named("properties").iter().cloned().collect(),
            patterns: keywords.named("patternProperties"),
            others: keywords.one("additionalProperties").cloned(),
        }
    }

    /// The schema of the property `name`.
    fn schema_of(&self, name: &Shared<'t, str>, place: SourcePlace) -> SchemaNode<'t> {
        property_schema(self.named.get(name), &self.patterns, self.others.as_ref(), name, place)
    }
}

/// The schema of the property `name`, by its own schema and those of all properties.
///
/// The schemas of JSON Schema for a name: its own and those of all patterns that match it apply
/// together, `additionalProperties` only if none of these is there.
pub(super) fn property_schema<'t>(
    own: Option<&SchemaNode<'t>>,
    patterns: &NamedNodes<'t>,
    others: Option<&SchemaNode<'t>>,
    name: &str,
    place: SourcePlace,
) -> SchemaNode<'t> {
    let matching = patterns.iter().filter(|(pattern, _)| matches_pattern(pattern, name));
    let all: Vec<&SchemaNode<'t>> = own.into_iter().chain(matching.map(|(_, node)| node)).collect();
    match all.split_first() {
        Some((first, rest)) => rest.iter().fold(SchemaNode::clone(first), |a, b| both(&a, b)),
        None => others.cloned().unwrap_or(SchemaNode::All(place)),
    }
}

/// Whether a name matches a pattern. A pattern that does not compile matches nothing.
/// Compiles the pattern on every call, hence `MAX_MATCHES`.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    Schema::compile(&json!({ "pattern": pattern }))
        .is_ok_and(|schema| schema.is_valid(&Value::String(name.to_owned())))
}

/// Merges what both schemas demand of properties. `false` never: an impossible property may still
/// be absent.
///
/// Each named property has to match what either schema demands of that name: by its own schema, by
/// patterns, or by `additionalProperties` if nothing else applies. Patterns of both sides can be
/// merged only if one side has none or both sides are open. Otherwise a name would have to match a
/// pattern of each side, which no keyword states. What cannot be merged goes to `conflicts`.
fn merge_properties<'t>(
    result: &mut NodeKeywords<'t>,
    first: &NodeKeywords<'t>,
    second: &NodeKeywords<'t>,
    conflicts: &mut Vec<NodeKeyword<'t>>,
) -> bool {
    let has_names = ["properties", "patternProperties"].iter().any(|name| second.names_any(name));
    if !has_names && second.one("additionalProperties").is_none() {
        return true;
    }
    let (one, other) = (PropertyRules::of(first), PropertyRules::of(second));
    let mut names: Vec<(Shared<'t, str>, SourcePlace)> = Vec::new();
    let mut seen = HashSet::new();
    for (name, node) in first.named("properties").iter().chain(second.named("properties").iter()) {
        if seen.insert(name.clone()) {
            names.push((name.clone(), node.place()));
        }
    }
    let is_laborious = names.len() * (one.patterns.len() + other.patterns.len()) > MAX_MATCHES;
    let names = if is_laborious { Vec::new() } else { names };
    let properties: Vec<(Shared<'t, str>, SchemaNode<'t>)> = names
        .into_iter()
        .map(|(name, place)| {
            let merged = both(&one.schema_of(&name, place), &other.schema_of(&name, place));
            (name, merged)
        })
        .collect();
    let patterns: Option<Vec<_>> = match (&one.others, &other.others) {
        _ if is_laborious => None,
        _ if one.patterns.is_empty() && other.patterns.is_empty() => Some(Vec::new()),
        // Where both are open, a name has to match the patterns of both.
        (None | Some(SchemaNode::All(_)), None | Some(SchemaNode::All(_))) => {
            Some(united_nodes(&one.patterns, &other.patterns).to_vec())
        }
        // Where one has no patterns, its rule for all other names holds beside each pattern.
        _ if other.patterns.is_empty() => Some(with_others(&one.patterns, other.others.as_ref())),
        _ if one.patterns.is_empty() => Some(with_others(&other.patterns, one.others.as_ref())),
        _ => None,
    };
    let Some(patterns) = patterns else {
        let parts = ["properties", "patternProperties", "additionalProperties"];
        conflicts.extend(parts.iter().filter_map(|name| second.get(name)).cloned());
        return true;
    };
    let others = match (&one.others, &other.others) {
        (Some(one), Some(other)) => Some(both(one, other)),
        (one, other) => one.as_ref().or(other.as_ref()).cloned(),
    };
    let mut put = |name: &'static str, content: Option<NodeContent<'t>>| {
        if let Some(content) = content {
            let place = if first.has(name) { first.place_of(name) } else { second.place_of(name) };
            result.set_at(name.into(), place, content);
        }
    };
    put("properties", (!properties.is_empty()).then(|| NodeContent::Named(properties.into())));
    put("patternProperties", (!patterns.is_empty()).then(|| NodeContent::Named(patterns.into())));
    put("additionalProperties", others.map(NodeContent::One));
    true
}

/// Patterns whose properties also have to match `others`.
fn with_others<'t>(
    patterns: &NamedNodes<'t>,
    others: Option<&SchemaNode<'t>>,
) -> Vec<(Shared<'t, str>, SchemaNode<'t>)> {
    let with =
        |node: &SchemaNode<'t>| others.map_or_else(|| node.clone(), |others| both(node, others));
    patterns.iter().map(|(pattern, node)| (pattern.clone(), with(node))).collect()
}

/// The schemas of both maps; those of the same name as one.
fn united_nodes<'t>(first: &NamedNodes<'t>, second: &NamedNodes<'t>) -> NamedNodes<'t> {
    let mut all = first.to_vec();
    for (name, node) in second.iter() {
        match all.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) => *own = both(own, node),
            None => all.push((name.clone(), node.clone())),
        }
    }
    all.into()
}

/// Merges what both schemas demand of items, position by position.
///
/// ```text
/// prefixItems: [A], items: B  and  items: C   ─▶  prefixItems: [both(A, C)], items: both(B, C)
/// ```
fn merge_items<'t>(
    result: &mut NodeKeywords<'t>,
    first: &NodeKeywords<'t>,
    second: &NodeKeywords<'t>,
) -> bool {
    let (one, other) = (first.nodes("prefixItems"), second.nodes("prefixItems"));
    let (one_rest, other_rest) = (first.one("items"), second.one("items"));
    if other.is_empty() && other_rest.is_none() {
        return true;
    }
    let at = |nodes: &[SchemaNode<'t>], rest: Option<&SchemaNode<'t>>, index: usize| {
        let place = first.place;
        nodes.get(index).or(rest).cloned().unwrap_or(SchemaNode::All(place))
    };
    let length = one.len().max(other.len());
    let prefix: Vec<SchemaNode<'t>> = (0..length)
        .map(|index| both(&at(&one, one_rest, index), &at(&other, other_rest, index)))
        .collect();
    if !prefix.is_empty() {
        result.set("prefixItems", NodeContent::List(prefix.into()));
    }
    let rest = match (one_rest, other_rest) {
        (Some(one), Some(other)) => Some(both(one, other)),
        (one, other) => one.or(other).cloned(),
    };
    if let Some(rest) = rest {
        result.set("items", NodeContent::One(rest));
    }
    true
}

/// Merges `enum` and `const` into the values that both list. Returns `false` if there are none.
///
/// If `first` has a `const`, that one stays as it is, because at most this value is left.
fn merge_values<'t>(result: &mut NodeKeywords<'t>, second: &NodeKeywords<'t>) -> bool {
    let Some(other) = listed_values(second) else { return true };
    let Some(own) = listed_values(result) else {
        let values = second.iter().filter(|one| matches!(&*one.name, "enum" | "const"));
        values.for_each(|one| result.push(one.clone()));
        return true;
    };
    let kept: Vec<Value> =
        own.into_iter().filter(|value| other.iter().any(|one| same_json(one, value))).collect();
    let is_possible = !kept.is_empty();
    if result.has("const") {
        result.take("enum");
    } else {
        result.set_data("enum", Value::Array(kept));
    }
    is_possible
}

/// The values that `enum` and `const` allow; `None` without either.
/// With both keywords, the values in both.
pub(super) fn listed_values(keywords: &NodeKeywords) -> Option<Vec<Value>> {
    let listed = keywords.data("enum").and_then(Value::as_array);
    match (keywords.data("const"), listed) {
        (None, None) => None,
        (None, Some(listed)) => Some(listed.clone()),
        (Some(value), None) => Some(vec![value.clone()]),
        (Some(value), Some(listed)) => {
            Some(listed.iter().filter(|one| same_json(one, value)).cloned().collect())
        }
    }
}

fn larger(first: &Value, second: &Value) -> Value {
    if second.as_f64() > first.as_f64() { second.clone() } else { first.clone() }
}

fn smaller(first: &Value, second: &Value) -> Value {
    if second.as_f64() < first.as_f64() { second.clone() } else { first.clone() }
}

/// The union of two lists of names. Keeps the order of the first list.
fn united(first: &Value, second: &Value) -> Value {
    let mut names = first.as_array().cloned().unwrap_or_default();
    let mut seen: HashSet<String> =
        names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    for name in second.as_array().into_iter().flatten() {
        if name.as_str().is_some_and(|name| seen.insert(name.to_owned())) {
            names.push(name.clone());
        }
    }
    Value::Array(names)
}

/// The least common multiple of two positive integers; for other numbers only if they are equal.
fn common_multiple(first: &Value, second: &Value) -> Option<Value> {
    if same_json(first, second) {
        return Some(first.clone());
    }
    let (one, other) = (first.as_u64().filter(|n| *n > 0)?, second.as_u64().filter(|n| *n > 0)?);
    let (mut a, mut b) = (one, other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (one / a).checked_mul(other).map(Value::from)
}
