//! Conditions as choices. No target with a language of its own has `if` or `dependentRequired`, but
//! some conditions mean the same as an `anyOf` whose branches exclude each other:
//!
//! ```text
//! closed object, dependentRequired: {a: [b]}  ─▶  without `a`  |  with `a` and `b`
//! `kind` required and listed, if kind is x    ─▶  kind is x, then  |  kind is another, else
//! ```
//!
//! Other conditions are dropped later, with words. At the top of a schema a choice would have to be
//! wrapped in a property, which serves a model less than a sentence, so nothing is done there.

use serde_json::Value;

use super::merge::{listed_values, merge};
use super::source_tree::{
    BOTH, NodeContent, NodeKeyword, NodeKeywords, SchemaNode, Shared, SourcePlace,
};
use super::types::TypeSet;
use super::{ChangeAction, Rewriter};
use crate::restore::same_json;

/// Keywords that have to be looked into before a node is merged.
const NOT_FLAT: [&str; 7] = ["$ref", "allOf", BOTH, "oneOf", "anyOf", "if", "not"];

impl<'t> Rewriter<'t> {
    /// Replaces a condition of a normalized node by a choice that means the same.
    ///
    /// All assertions of the node move into the branches, so each branch is complete in itself.
    ///
    /// Nothing is done for a node that has a choice already, or that may be something else than an
    /// object: the branches state objects only.
    pub(super) fn conditions_to_choices(&mut self, keywords: &mut NodeKeywords<'t>) {
        let is_open = keywords.place != SourcePlace::ROOT
            && !keywords.has("anyOf")
            && TypeSet::of(keywords) == TypeSet::OBJECT;
        if !is_open {
            return;
        }
        let found = if_branches(keywords).map(|branches| ("if", branches)).or_else(|| {
            // Elsewhere an object cannot be closed, so no branch can exclude a property.
            let branches = self.sends_untyped_as_text().then(|| dependency_branches(keywords));
            branches.flatten().map(|branches| ("dependentRequired", branches))
        });
        let Some((name, branches)) = found else { return };
        let reason = "the cases exclude each other, so `anyOf` means the same";
        for name in [name, "then", "else"] {
            if let Some(keyword) = keywords.get(name) {
                self.record(keyword.place, name, ChangeAction::Rewritten, reason);
            }
        }
        keywords.retain(|keyword| !keyword.is_assertion());
        keywords.set("anyOf", NodeContent::List(branches.into()));
    }
}

/// The branches for `dependentRequired: {a: [b]}`: the object without the property `a`, and the
/// object with `a` and `b` required.
///
/// Exact in a closed object only: in an open one, the first branch would accept `a` as a property
/// that it does not name. `None` with several triggers, which would need a branch for each
/// combination.
fn dependency_branches<'t>(keywords: &NodeKeywords<'t>) -> Option<Vec<SchemaNode<'t>>> {
    let depending = keywords.data("dependentRequired")?.as_object()?;
    let (Some((trigger, demanded)), 1) = (depending.iter().next(), depending.len()) else {
        return None;
    };
    let is_closed = matches!(keywords.one("additionalProperties"), Some(SchemaNode::Nothing(_)))
        && !keywords.names_any("patternProperties");
    let properties = keywords.named("properties");
    let is_trigger = |(name, _): &&(Shared<'t, str>, SchemaNode<'t>)| **name == **trigger;
    let is_optional = !keywords.required().contains(&trigger.as_str());
    if !is_closed || !is_optional || !properties.iter().any(|one| is_trigger(&one)) {
        return None;
    }
    let mut without = keywords.clone();
    without.take("dependentRequired");
    let others = properties.iter().filter(|one| !is_trigger(one)).cloned().collect();
    without.set("properties", NodeContent::Named(others));
    let mut with = keywords.clone();
    with.take("dependentRequired");
    let mut required: Vec<Value> = Vec::new();
    let own = keywords.required();
    let demanded = demanded.as_array()?.iter().filter_map(Value::as_str);
    for name in own.into_iter().chain([trigger.as_str()]).chain(demanded) {
        if !required.iter().any(|known| known == name) {
            required.push(name.into());
        }
    }
    with.set_data("required", Value::Array(required));
    Some(vec![without.into_node(), with.into_node()])
}

/// The branches for a condition about a required property that lists its values.
///
/// ```text
/// {"properties": {"kind": {"enum": ["x", "y", "z"]}}, "required": ["kind"],
///  "if": {"properties": {"kind": {"const": "x"}}}, "then": {"required": ["path"]}}
///   ─▶  kind is x, path required  |  kind is y or z
/// ```
///
/// `None` if the test looks at anything else, or if a consequence cannot be merged without loss.
fn if_branches<'t>(keywords: &NodeKeywords<'t>) -> Option<Vec<SchemaNode<'t>>> {
    let test = keywords.one("if")?.keywords()?;
    let named = test.named("properties");
    let [(key, tested)] = &*named else { return None };
    let is_about_key = |keyword: &NodeKeyword<'t>| match &*keyword.name {
        "properties" => true,
        "type" => test.data("type").is_some_and(|kind| kind == "object"),
        "required" => test.required().iter().all(|name| **name == **key),
        _ => !keyword.is_assertion(),
    };
    let properties = keywords.named("properties");
    let (_, own) = properties.iter().find(|(name, _)| name == key)?;
    let is_required = keywords.required().contains(&&**key);
    if !is_required || !test.iter().all(is_about_key) {
        return None;
    }
    let (listed, tested) = (only_values(own)?, only_values(tested)?);
    let is_tested = |value: &Value| tested.iter().any(|other| same_json(other, value));
    let (matching, others): (Vec<Value>, Vec<Value>) = listed.into_iter().partition(is_tested);
    let mut branches = Vec::new();
    for (values, name) in [(matching, "then"), (others, "else")] {
        // No value leads to this branch.
        if values.is_empty() {
            continue;
        }
        let mut branch = keywords.clone();
        ["if", "then", "else"].iter().for_each(|name| drop(branch.take(name)));
        let mut chosen = own.keywords()?.clone();
        chosen.take("const");
        chosen.set_data("enum", Value::Array(values));
        let chosen = chosen.into_node();
        let changed = properties.iter().map(|(name, node)| match name == key {
            true => (name.clone(), chosen.clone()),
            false => (name.clone(), node.clone()),
        });
        branch.set("properties", NodeContent::Named(changed.collect()));
        match keywords.one(name) {
            None | Some(SchemaNode::All(_)) => branches.push(branch.into_node()),
            Some(SchemaNode::Nothing(_)) => {}
            Some(SchemaNode::Keywords(consequence)) => {
                if NOT_FLAT.iter().any(|name| consequence.has(name)) {
                    return None;
                }
                let merged = merge(branch, consequence);
                if !merged.conflicts.is_empty() || !merged.lost_annotations.is_empty() {
                    return None;
                }
                branches.extend(merged.keywords.map(NodeKeywords::into_node));
            }
        }
    }
    (!branches.is_empty()).then_some(branches)
}

/// The values of a node that demands nothing else.
///
/// `None` if it lists none, or has another assertion beside them.
fn only_values(node: &SchemaNode) -> Option<Vec<Value>> {
    let keywords = node.keywords()?;
    let is_value = |one: &NodeKeyword<'_>| {
        matches!(&*one.name, "type" | "enum" | "const") || !one.is_assertion()
    };
    listed_values(keywords).filter(|_| keywords.iter().all(is_value))
}
