//! One node without references and `allOf`: the definition is inlined, the branches are merged,
//! `oneOf` and some conditions become `anyOf`. What is below the node stays as it is.
//!
//! ```text
//! {"$ref": "#/$defs/d", "minimum": 3}, where d is {"type": "integer", "minimum": 1}
//!   ─▶  {"minimum": 3, "type": "integer"}
//! ```
//!
//! A node is normalized when it is written, from the root down, so a definition that is used at two
//! places is normalized twice. That is what makes recursion an issue: `inlined` collects the
//! definitions that the result consists of, the caller opens them while it writes the nodes below
//! (`with_definitions`), and a reference to an open one is cut. Without the cut, a schema that
//! contains itself would be written without end.

use serde_json::Value;

use super::choices::requires_unknown;
use super::merge::{listed_values, merge};
use super::source_tree::{BOTH, NameFilter, NodeContent, NodeKeyword, NodeKeywords, SchemaNode};
use super::types::TypeSet;
use super::words::{add_words, keyword_words};
use super::{ChangeAction, Rewriter, TooLarge};
use crate::restore::same_json;

/// The keywords that normalizing a node does something about. Most nodes have none of
/// these, and are returned as they are, without a look at any step below.
const NORMALIZED: NameFilter = NameFilter::of_all(&[
    BOTH,
    "oneOf",
    "$ref",
    "allOf",
    "unevaluatedProperties",
    "unevaluatedItems",
    // With `required`, no value may match.
    "additionalProperties",
    "not",
    "if",
    "dependentRequired",
]);

/// Whether normalizing a node certainly changes nothing.
pub(super) fn is_normal(keywords: &NodeKeywords) -> bool {
    !keywords.may_have_any(NORMALIZED)
}

/// A node that has been normalized.
pub(super) enum NormalNode<'t> {
    /// Every value matches.
    All,
    /// No value matches: a part is `false`, or the merged parts contradict each other.
    Nothing,
    /// Neither `$ref`, `allOf` nor `oneOf` is in it, and at least one keyword is.
    Keywords(NodeKeywords<'t>),
}

impl<'t> Rewriter<'t> {
    /// Normalizes a node: the entry for `full`, and for the steps that only ask what a branch is
    /// like. The definitions that were inlined are added to `inlined`: the nodes below are inside
    /// of them.
    ///
    /// Only the node itself becomes normal. Its properties, items and branches stay as they are in
    /// the source, and are normalized when they are written.
    pub(super) fn normalize(
        &mut self,
        node: &SchemaNode<'t>,
        inlined: &mut Vec<usize>,
    ) -> Result<NormalNode<'t>, TooLarge> {
        self.normalize_inside(node, &mut Vec::new(), inlined)
    }

    /// `chain` holds the definitions that lead to this node without anything between: `a`, whose
    /// only content is a reference to `b`, whose only content is one to `a`. Its length counts as
    /// depth.
    ///
    /// The order of the steps: parts are merged after `oneOf` has become `anyOf`, because `merge`
    /// knows how to merge two choices of that kind; `unevaluated…` and conditions are read last,
    /// from all keywords that the node then has.
    ///
    /// # Errors
    /// More nodes or a longer chain than the limits of the rewrite. References can make the result
    /// exponentially larger than the source, so each visit counts.
    fn normalize_inside(
        &mut self,
        node: &SchemaNode<'t>,
        chain: &mut Vec<usize>,
        inlined: &mut Vec<usize>,
    ) -> Result<NormalNode<'t>, TooLarge> {
        self.count_node(chain.len())?;
        let mut keywords = match node {
            SchemaNode::All(_) => return Ok(NormalNode::All),
            SchemaNode::Nothing(_) => return Ok(NormalNode::Nothing),
            SchemaNode::Keywords(keywords) => NodeKeywords::clone(keywords),
        };
        if is_normal(&keywords) {
            return Ok(match keywords.is_empty() {
                true => NormalNode::All,
                false => NormalNode::Keywords(keywords),
            });
        }
        self.one_of_to_any_of(&mut keywords);
        let mut parts = Vec::new();
        if let Some(reference) = keywords.take("$ref") {
            self.inline(reference, &mut keywords, chain, inlined, &mut parts)?;
        }
        for name in ["allOf", BOTH] {
            let Some(all) = keywords.take(name) else { continue };
            if name == "allOf" {
                let reason = "the schemas that all have to match are merged into one";
                self.record(all.place, "allOf", ChangeAction::Rewritten, reason);
            }
            if let NodeContent::List(branches) = &all.content {
                for branch in branches.iter() {
                    parts.push(self.normalize_inside(branch, chain, inlined)?);
                }
            }
        }
        for part in parts {
            match part {
                NormalNode::All => {}
                NormalNode::Nothing => return Ok(NormalNode::Nothing),
                NormalNode::Keywords(part) => {
                    self.count_node(0)?;
                    let merged = merge(keywords, &part);
                    let Some(result) = merged.keywords else { return Ok(NormalNode::Nothing) };
                    keywords = result;
                    for lost in merged.lost_annotations {
                        let reason = "another schema that is merged with this one has it, too";
                        self.record(lost.place, &lost.name, ChangeAction::Widened, reason);
                    }
                    self.drop_conflicts(&mut keywords, merged.conflicts);
                }
            }
        }
        self.unevaluated_to_additional(&mut keywords);
        // A closed object that requires a name it does not allow: `{"required": ["a"],
        // "additionalProperties": false}` with no property `a`.
        let only_objects = TypeSet::of(&keywords) == TypeSet::OBJECT;
        let is_impossible = only_objects && requires_unknown(&keywords, &keywords);
        if is_impossible || !self.subtract_not(&mut keywords) {
            return Ok(NormalNode::Nothing);
        }
        self.conditions_to_choices(&mut keywords);
        Ok(match keywords.is_empty() {
            true => NormalNode::All,
            false => NormalNode::Keywords(keywords),
        })
    }

    /// Adds the definition that a reference leads to to `parts`, normalized.
    ///
    /// A definition that is open already is cut: what is left is its type, and words. Strict modes
    /// need no type there, because they send a node without one as JSON text.
    ///
    /// A reference that leads to nothing adds no part: the node then matches more, and what the
    /// author meant is unknown, so the change is an approximation.
    fn inline(
        &mut self,
        reference: NodeKeyword<'t>,
        keywords: &mut NodeKeywords<'t>,
        chain: &mut Vec<usize>,
        inlined: &mut Vec<usize>,
        parts: &mut Vec<NormalNode<'t>>,
    ) -> Result<(), TooLarge> {
        let NodeContent::Reference(Some(index)) = reference.content else {
            let reason = "the reference leads to nothing in this document";
            self.record(reference.place, "$ref", ChangeAction::Approximated, reason);
            return Ok(());
        };
        if chain.contains(&index) || self.open_definitions.contains(&index) {
            let words = format!("nested like `{}`", self.definition(index).name);
            add_words(keywords, &words);
            let reason = "a schema that contains itself is cut where it would repeat";
            let (action, words) = (ChangeAction::Widened, Some(words));
            self.record_words(reference.place, "$ref", action, reason, words);
            let own = self.definition(index).node.keywords();
            let types = own.map_or(TypeSet::ALL, TypeSet::of);
            if !keywords.has("type") && !self.sends_untyped_as_text() {
                let types = if types == TypeSet::ALL { TypeSet::OBJECT } else { types };
                keywords.set_data("type", types.to_keyword());
            }
            return Ok(());
        }
        let reason = "the definition is written where it is used";
        self.record(reference.place, "$ref", ChangeAction::Rewritten, reason);
        let definition = self.definition(index).node.clone();
        inlined.push(index);
        chain.push(index);
        let part = self.normalize_inside(&definition, chain, inlined);
        chain.pop();
        parts.push(part?);
        Ok(())
    }

    /// Reports what could not be merged, and says it in words. More values match then.
    ///
    /// Two patterns, for example: the first stays the keyword `pattern`, and the description ends
    /// with words about the second.
    fn drop_conflicts(&mut self, keywords: &mut NodeKeywords<'t>, conflicts: Vec<NodeKeyword<'t>>) {
        for conflict in conflicts {
            let words = keyword_words(&conflict, &self.tree.definitions);
            if let Some(words) = &words {
                add_words(keywords, words);
            }
            let reason = "cannot be merged with another keyword of the same name";
            let action = ChangeAction::Widened;
            self.record_words(conflict.place, &conflict.name, action, reason, words);
        }
    }

    /// Where all properties and items are known, `unevaluated…` means the same as the keyword for
    /// all others.
    ///
    /// Called when `allOf` and `$ref` are merged. With `anyOf`, `if` or `dependentSchemas`, which
    /// evaluate properties of some values only, nothing is changed.
    fn unevaluated_to_additional(&mut self, keywords: &mut NodeKeywords<'t>) {
        let in_place = ["anyOf", "if", "dependentSchemas"];
        if in_place.iter().any(|name| keywords.has(name)) {
            return;
        }
        for (name, other) in
            [("unevaluatedProperties", "additionalProperties"), ("unevaluatedItems", "items")]
        {
            // In 2020-12 the items that match `contains` are evaluated.
            if name == "unevaluatedItems" && keywords.has("contains") {
                continue;
            }
            let Some(keyword) = keywords.take(name) else { continue };
            let reason = "nothing is evaluated elsewhere, so a simpler keyword means the same";
            self.record(keyword.place, name, ChangeAction::Rewritten, reason);
            if !keywords.has(other) {
                keywords.push(NodeKeyword { name: other.into(), ..keyword });
            }
        }
    }

    /// Removes the values of `not` from those that are listed; `false` if none is left:
    /// `{"enum": ["a", "b"], "not": {"const": "b"}}` becomes `{"enum": ["a"]}`.
    ///
    /// Any other `not` stays, and is dropped in words where the target refuses it.
    fn subtract_not(&mut self, keywords: &mut NodeKeywords<'t>) -> bool {
        let excluded = keywords.one("not").and_then(SchemaNode::keywords).and_then(|not| {
            let only_values = not.iter().all(|keyword| {
                !keyword.is_assertion() || matches!(&*keyword.name, "enum" | "const")
            });
            listed_values(not).filter(|_| only_values)
        });
        let Some(excluded) = excluded else { return true };
        let Some(listed) = listed_values(keywords) else { return true };
        let is_excluded = |value: &Value| excluded.iter().any(|other| same_json(other, value));
        let left: Vec<Value> = listed.into_iter().filter(|value| !is_excluded(value)).collect();
        if let Some(not) = keywords.take("not") {
            let reason = "the values are left out of the list";
            self.record(not.place, "not", ChangeAction::Rewritten, reason);
        }
        let is_possible = !left.is_empty();
        // A `const` with a value left is that value.
        if !keywords.has("const") {
            keywords.set_data("enum", Value::Array(left));
        }
        is_possible
    }
}
