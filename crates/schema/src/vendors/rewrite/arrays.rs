//! Arrays: tuples as one schema for all items, and `items` where the target wants it.
//!
//! ```text
//! prefixItems: [S, S], items: false   ─▶  items: S, maxItems: 2           exact
//! prefixItems: [A, B], items: false   ─▶  items: A or B, maxItems: 2      wider, and in words
//! prefixItems: [A, B]                 ─▶  items: any                      wider, and in words
//! items: false                        ─▶  items: any, maxItems: 0         exact
//! ```

use serde_json::Value;

use super::facts;
use super::source_tree::{NodeContent, NodeKeyword, NodeKeywords, SchemaNode};
use super::types::TypeSet;
use super::words::{add_words, keyword_words};
use super::{ChangeAction, FullStyle, Rewriter};

/// Subschemas and values of the largest items that are compared.
const MAX_COMPARED_PARTS: usize = 500;

impl<'t> Rewriter<'t> {
    /// Rewrites the keywords about items of a node that allows arrays.
    ///
    /// `items: false` after a tuple is gone when the second step looks for it: `tuple_to_items` has
    /// replaced it by `maxItems`. Anthropic's strict mode has `minItems` of 0 and 1 only (A1), so a
    /// larger one is cut to 1.
    pub(super) fn rewrite_arrays(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        types: TypeSet,
        style: FullStyle,
    ) {
        if let Some(prefix) = keywords.take("prefixItems") {
            self.tuple_to_items(keywords, prefix);
        }
        if let Some(SchemaNode::Nothing(_)) = keywords.one("items") {
            let place = keywords.place_of("items");
            let reason = "an array without items has at most none";
            self.record(place, "items", ChangeAction::Rewritten, reason);
            keywords.set_data("maxItems", 0.into());
            keywords.set("items", NodeContent::One(SchemaNode::All(place)));
        }
        let is_array = keywords.has("type") && types.has(TypeSet::ARRAY);
        if is_array && !keywords.has("items") && self.refuses(&facts::NO_ITEMS) {
            let reason = "the target wants `items` in every array";
            self.record(keywords.place, "items", ChangeAction::Rewritten, reason);
            keywords.set("items", NodeContent::One(SchemaNode::All(keywords.place)));
        }
        let least = keywords.data("minItems").and_then(Value::as_u64);
        if let (FullStyle::AnthropicStrict, Some(least @ 2..)) = (style, least) {
            let words = format!("at least {least} items");
            add_words(keywords, &words);
            let (action, words) = (ChangeAction::Widened, Some(words));
            let reason = "the target has `minItems` 0 and 1 only";
            self.record_words(keywords.place_of("minItems"), "minItems", action, reason, words);
            keywords.set_data("minItems", 1.into());
        }
    }

    /// Replaces `prefixItems` by one schema for all items.
    ///
    /// That is exact if all positions have the same one, and the items after them have it, too, or
    /// are forbidden: by `items: false`, or by `maxItems`, as Pydantic writes it. Schemas are
    /// compared as JSON text of at most `MAX_COMPARED_PARTS` parts; larger ones count as different.
    ///
    /// Where the positions differ, a value of any position is let through at every position; an
    /// open tuple accepts anything after its positions, so its items become free.
    fn tuple_to_items(&mut self, keywords: &mut NodeKeywords<'t>, prefix: NodeKeyword<'t>) {
        let NodeContent::List(nodes) = &prefix.content else { return };
        let Some(first) = nodes.first() else { return };
        let rest = keywords.one("items").cloned();
        let text = |node: &SchemaNode<'t>| {
            let mut budget = MAX_COMPARED_PARTS;
            node.to_value(&self.tree.definitions, &mut budget)
        };
        let first_text = text(first);
        let is_first = |node: &SchemaNode<'t>| first_text.is_some() && text(node) == first_text;
        let are_equal = nodes.iter().all(is_first);
        let length = u64::try_from(nodes.len()).unwrap_or(u64::MAX);
        let most = keywords.data("maxItems").and_then(Value::as_u64);
        let is_closed =
            matches!(rest, Some(SchemaNode::Nothing(_))) || most.is_some_and(|most| most <= length);
        let is_exact = are_equal && (is_closed || rest.as_ref().is_some_and(is_first));
        let items = match (are_equal && is_exact, &rest) {
            (true, _) => first.clone(),
            (false, None | Some(SchemaNode::All(_))) if !is_closed => SchemaNode::All(prefix.place),
            (false, _) => {
                let mut all: Vec<SchemaNode<'t>> = nodes.to_vec();
                all.extend(rest.clone().filter(|_| !is_closed));
                let mut choice = NodeKeywords::new(prefix.place);
                choice.set("anyOf", NodeContent::List(all.into()));
                choice.into_node()
            }
        };
        if is_closed {
            let place = keywords.place_of("items");
            match most {
                Some(own) => keywords.set_data("maxItems", own.min(length).into()),
                // It says what `items` said, and so it has the place of that.
                None => keywords.push(NodeKeyword {
                    name: "maxItems".into(),
                    place,
                    content: NodeContent::Data(Value::from(length).into()),
                }),
            }
        }
        keywords.set("items", NodeContent::One(items));
        if is_exact {
            let reason = "all positions have the same schema";
            self.record(prefix.place, "prefixItems", ChangeAction::Rewritten, reason);
            return;
        }
        let words = keyword_words(&prefix, &self.tree.definitions);
        words.iter().for_each(|words| add_words(keywords, words));
        let reason = "the target has one schema for all items";
        self.record_words(prefix.place, "prefixItems", ChangeAction::Widened, reason, words);
    }
}
