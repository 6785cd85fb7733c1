//! Changes the few parts of a schema that a target rejects, and leaves the rest as it is written.
//!
//! Conditions stay, and dropping a keyword inside of them may refuse values instead of letting them
//! in. So the direction is tracked on the way down. A negation stays if all of it does: with a
//! keyword less it could refuse everything.
//!
//! ```text
//! light_root: merge `allOf` ─▶ an object? ─▶ names ─▶ or the root in a property, if one fails
//!    │
//!    ▼ light_node, for each subschema
//! `items` added ─▶ `$ref` set apart ─▶ patterns ─▶ refused keywords dropped, in words
//! ```
//!
//! For example, dropping `pattern` in `{"if": {"pattern": P}, "then": S}` applies `S` to all
//! values: fewer match than before. Inside `not`, dropping a keyword makes the negated schema wider
//! and the whole one narrower.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::full::append_words;
use super::normalize_node::NormalNode;
use super::objects::accepts_name;
use super::source_tree::{
    BOTH, NodeContent, NodeKeyword, NodeKeywords, SchemaNode, Shared, SourcePlace,
};
use super::types::TypeSet;
use super::words::keyword_words;
use super::{
    ChangeAction, Rewriter, TooLarge, WRAPPING_PROPERTY, accepted_name, facts, is_refused,
    refuses_keyword, rules, wrapped,
};
use crate::restore::{RestoreAction, RestoreStep};

/// What happens to the meaning of the whole schema where a part accepts more values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// The whole accepts more, too: outside of `not` and conditions.
    AcceptsMore,
    /// The whole accepts less: inside `not`.
    AcceptsLess,
    /// Unknown: inside `if`, `oneOf` and `contains`, and in definitions, which may be used
    /// anywhere.
    Either,
}

impl Direction {
    /// The direction inside a `not` that is at a place of this direction.
    fn negated(self) -> Direction {
        match self {
            Direction::AcceptsMore => Direction::AcceptsLess,
            Direction::AcceptsLess => Direction::AcceptsMore,
            Direction::Either => Direction::Either,
        }
    }

    /// The effect of dropping an assertion at such a place.
    fn of_dropping(self) -> ChangeAction {
        match self {
            Direction::AcceptsMore => ChangeAction::Widened,
            Direction::AcceptsLess => ChangeAction::Narrowed,
            Direction::Either => ChangeAction::Approximated,
        }
    }
}

impl<'t> Rewriter<'t> {
    /// Rewrites the whole schema.
    ///
    /// References stay references. The definitions that they lead to are written below `$defs` of
    /// the root.
    pub(super) fn light(&mut self) -> Result<(Value, Vec<RestoreStep>), TooLarge> {
        let mut schema = self.light_root()?;
        let mut definitions = Map::new();
        // Writing a definition may refer to more of them.
        while let Some(&index) = self.used_definitions.get(definitions.len()) {
            let node = self.definition(index).node.clone();
            let name = self.definition(index).name.clone();
            let schema = self.light_node(&node, Direction::Either, 0)?;
            definitions.insert(name, schema);
        }
        if let (false, Value::Object(members)) = (definitions.is_empty(), &mut schema) {
            members.insert("$defs".to_owned(), Value::Object(definitions));
        }
        Ok((schema, std::mem::take(&mut self.steps)))
    }

    /// Writes the root in the form that the target accepts at the top.
    ///
    /// What the target refuses there is first rewritten in place: an `allOf` is merged, the type is
    /// stated, parameters are renamed. If that is not possible, the root becomes a property of
    /// another object, where the target accepts more.
    fn light_root(&mut self) -> Result<Value, TooLarge> {
        let mut keywords = match &self.tree.root {
            SchemaNode::Keywords(keywords) => NodeKeywords::clone(keywords),
            node => {
                let mut keywords = NodeKeywords::new(SourcePlace::ROOT);
                if matches!(node, SchemaNode::Nothing(_)) {
                    keywords.set("not", NodeContent::One(SchemaNode::All(SourcePlace::ROOT)));
                }
                keywords
            }
        };
        if self.refuses(&facts::TOP_ONE_OF_ALL_OF) && keywords.has("allOf") {
            keywords = self.merged_root(keywords);
        }
        if self.refuses(&facts::NOT_AN_OBJECT) {
            let types = TypeSet::of(&keywords);
            if types.has(TypeSet::OBJECT)
                && keywords.data("type").is_none_or(|kind| kind != "object")
            {
                let reason = "the arguments of a call are an object";
                self.record(keywords.place_of("type"), "type", ChangeAction::Rewritten, reason);
                let is_new = !keywords.has("type");
                keywords.set_data("type", "object".into());
                if is_new {
                    // Where people write it.
                    keywords.last_to_front();
                }
            }
            if !types.has(TypeSet::OBJECT) || self.refused_at_top(&keywords) {
                return self.wrap_light_root(keywords);
            }
        }
        if self.refuses(&facts::NO_PROPERTIES) && !keywords.has("properties") {
            let reason = "the target wants `properties`, if only empty ones";
            self.record(keywords.place, "properties", ChangeAction::Rewritten, reason);
            keywords.set("properties", NodeContent::Named(Rc::default()));
        }
        if !self.rename_light(&mut keywords) {
            return self.wrap_light_root(keywords);
        }
        self.light_node(&keywords.into_node(), Direction::AcceptsMore, 0)
    }

    /// The root with its `allOf` merged, if that loses nothing and leaves no other choice.
    ///
    /// Merging records changes as it goes. If the attempt is not used, they are taken back.
    ///
    /// `{"allOf": [{"properties": {"a": A}}, {"properties": {"b": B}}]}` becomes an object with
    /// both. An `allOf` of choices is not: its result would have an `anyOf` that may be refused,
    /// too.
    fn merged_root(&mut self, keywords: NodeKeywords<'t>) -> NodeKeywords<'t> {
        let (before, inexact) = (self.changes.list.len(), self.changes.inexact);
        let node = keywords.clone().into_node();
        let merged = self.normalize(&node, &mut Vec::new());
        let is_exact = self.changes.inexact == inexact;
        match merged {
            Ok(NormalNode::Keywords(merged)) if is_exact && !self.refused_at_top(&merged) => merged,
            _ => {
                self.forget_changes(before);
                keywords
            }
        }
    }

    /// Removes the changes from the list that come after the first `kept`.
    /// `seen` must forget them, too, or the same change could not be recorded again.
    fn forget_changes(&mut self, kept: usize) {
        for change in self.changes.list.split_off(kept) {
            self.changes.seen.remove(&change.action.key(&change.at, &change.keyword));
        }
    }

    /// Whether the target rejects a keyword of the root at the top.
    /// At the top vendors are stricter than below it, so the keyword itself may be fine elsewhere.
    fn refused_at_top(&self, keywords: &NodeKeywords<'t>) -> bool {
        let refused = [
            (["anyOf"].as_slice(), &facts::TOP_ANY_OF),
            (&["oneOf", "allOf"], &facts::TOP_ONE_OF_ALL_OF),
            (&["enum", "const", "not"], &facts::TOP_VALUE),
        ];
        refused
            .iter()
            .any(|(names, fact)| self.refuses(fact) && names.iter().any(|name| keywords.has(name)))
    }

    /// Writes the root as the only property of another object.
    /// `{"anyOf": [A, B]}` becomes `{"properties": {"input": {"anyOf": [A, B]}}, …}`.
    fn wrap_light_root(&mut self, keywords: NodeKeywords<'t>) -> Result<Value, TooLarge> {
        let reason = "the target does not accept this at the top; it is moved into a property";
        self.record(SourcePlace::ROOT, "type", ChangeAction::Restored, reason);
        let schema = self.light_node(&keywords.into_node(), Direction::AcceptsMore, 1)?;
        self.push_step(RestoreAction::Unwrap { property: WRAPPING_PROPERTY.to_owned() });
        Ok(wrapped(self.target, schema))
    }

    /// Renames parameters; `false` if other keywords may depend on their names.
    ///
    /// A `oneOf` or a reference beside `properties` may name a parameter in a place that is not
    /// rewritten here. Then the root is wrapped: inside a property, any name is accepted.
    ///
    /// `required` is the only other keyword that names parameters and is changed with them.
    fn rename_light(&mut self, keywords: &mut NodeKeywords<'t>) -> bool {
        let target = self.target;
        let mut properties = keywords.named("properties").to_vec();
        if properties.iter().all(|(name, _)| accepts_name(target, name)) {
            return true;
        }
        let by_name = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "dependentSchemas",
            "dependentRequired",
            "patternProperties",
            "propertyNames",
            "unevaluatedProperties",
        ];
        if by_name.iter().any(|name| keywords.has(name)) {
            return false;
        }
        let mut used: HashSet<Shared<'t, str>> =
            properties.iter().map(|(name, _)| name.clone()).collect();
        let mut names = Vec::new();
        for (name, node) in &mut properties {
            if !accepts_name(target, name) {
                let new = accepted_name(name, |name| used.contains(name));
                self.record_new_name(node.place(), &new);
                names.push((new.clone(), name.to_string()));
                *name = new.into();
                used.insert(name.clone());
            }
        }
        keywords.set("properties", NodeContent::Named(properties.into()));
        let new_name = |name: &Value| {
            let found = names.iter().find(|(_, old)| name == old.as_str());
            found.map_or_else(|| name.clone(), |(new, _)| Value::String(new.clone()))
        };
        if let Some(required) = keywords.data("required").and_then(Value::as_array) {
            let required: Vec<Value> = required.iter().map(new_name).collect();
            keywords.set_data("required", Value::Array(required));
        }
        self.push_step(RestoreAction::Rename { names });
        true
    }

    /// Writes a subschema. Its keywords stay in their order, and what is dropped is added to the
    /// description in words.
    ///
    /// `direction` tells what happens to the whole schema if this one accepts more. A `not` whose
    /// content would change, beyond an exact rewrite, is dropped as a whole.
    ///
    /// An `allOf` that was written and one that rewriting made (`BOTH`) become one keyword.
    ///
    /// # Errors
    /// More subschemas or a deeper one than the limits of the rewrite.
    fn light_node(
        &mut self,
        node: &SchemaNode<'t>,
        direction: Direction,
        depth: usize,
    ) -> Result<Value, TooLarge> {
        self.count_node(depth)?;
        let SchemaNode::Keywords(keywords) = node else {
            return Ok(Value::Bool(matches!(node, SchemaNode::All(_))));
        };
        // Copied only if it changes.
        let mut keywords = Cow::Borrowed(&**keywords);
        let is_array = keywords.has("type") && TypeSet::of(&keywords).has(TypeSet::ARRAY);
        if is_array && !keywords.has("items") && self.refuses(&facts::NO_ITEMS) {
            let reason = "the target wants `items` in every array";
            self.record(keywords.place, "items", ChangeAction::Rewritten, reason);
            let any = NodeKeywords::new(keywords.place).into_node();
            keywords.to_mut().set("items", NodeContent::One(any));
        }
        if keywords.has("$ref") {
            self.set_reference_apart(keywords.to_mut());
        }
        if keywords.has("patternProperties") {
            self.drop_patterns(keywords.to_mut());
        }
        let mut members = Map::with_capacity(keywords.len());
        let mut words = Vec::new();
        for keyword in keywords.iter() {
            let name = &*keyword.name;
            if self.is_dropped(keyword) {
                let action = match keyword.is_assertion() {
                    true => direction.of_dropping(),
                    false => ChangeAction::Dropped,
                };
                let own = keyword_words(keyword, &self.tree.definitions);
                words.extend(own.iter().cloned());
                let reason = "the target rejects or ignores this keyword, or this value of it";
                self.record_words(keyword.place, name, action, reason, own);
                continue;
            }
            let inside = match name {
                "not" => direction.negated(),
                "oneOf" | "if" | "contains" => Direction::Either,
                _ => direction,
            };
            let (before, inexact) = (self.changes.list.len(), self.changes.inexact);
            let value = self.light_content(&keyword.content, inside, depth)?;
            if name == "not" && self.changes.inexact != inexact {
                self.forget_changes(before);
                let own = keyword_words(keyword, &self.tree.definitions);
                words.extend(own.clone());
                let reason = "without a part that the target rejects or ignores, it would refuse \
                              other values";
                self.record_words(keyword.place, name, direction.of_dropping(), reason, own);
                continue;
            }
            if name != BOTH {
                members.insert(name.to_owned(), value);
                continue;
            }
            match (members.get_mut("allOf"), value) {
                (Some(Value::Array(all)), Value::Array(more)) => all.extend(more),
                (_, value) => drop(members.insert("allOf".to_owned(), value)),
            }
        }
        append_words(&mut members, &words);
        Ok(Value::Object(members))
    }

    /// Writes what a keyword holds, subschemas included.
    ///
    /// A reference that leads to nothing is never written: `is_dropped` takes it out before.
    fn light_content(
        &mut self,
        content: &NodeContent<'t>,
        direction: Direction,
        depth: usize,
    ) -> Result<Value, TooLarge> {
        Ok(match content {
            NodeContent::Data(value) => self.copied(value)?,
            NodeContent::One(node) => self.light_node(node, direction, depth + 1)?,
            NodeContent::List(nodes) => {
                let mut written = Vec::new();
                for node in nodes.iter() {
                    written.push(self.light_node(node, direction, depth + 1)?);
                }
                Value::Array(written)
            }
            NodeContent::Named(nodes) => {
                let mut written = Map::with_capacity(nodes.len());
                for (name, node) in nodes.iter() {
                    written.insert(name.to_string(), self.light_node(node, direction, depth + 1)?);
                }
                Value::Object(written)
            }
            NodeContent::Reference(Some(index)) => self.reference(*index),
            NodeContent::Reference(None) => Value::Null,
        })
    }

    /// Whether a keyword is left out.
    ///
    /// Keywords of structure stay: their facts are about values or neighbours, and other steps
    /// handle those.
    fn is_dropped(&self, keyword: &NodeKeyword<'t>) -> bool {
        let name = &*keyword.name;
        match (&keyword.content, name) {
            (NodeContent::Reference(reference), _) => reference.is_none(),
            // These have facts of their own.
            (_, "type" | "enum" | "items" | "properties" | "required" | "additionalProperties") => {
                false
            }
            (_, "anyOf" | "oneOf" | "allOf") => false,
            _ => refuses_keyword(self.target, keyword),
        }
    }

    /// Moves a reference into a branch of its own where nothing may be beside it (G2).
    ///
    /// `{"$ref": R, "description": D}` becomes `{"description": D, "anyOf": [{"$ref": R}]}`. Beside
    /// an `anyOf`, the reference is added to `allOf` instead.
    fn set_reference_apart(&mut self, keywords: &mut NodeKeywords<'t>) {
        let has_siblings = keywords.iter().any(|one| !one.name.starts_with('$'));
        if !keywords.has("$ref") || !has_siblings || !self.refuses(&facts::REFERENCE_SIBLINGS) {
            return;
        }
        let Some(reference) = keywords.take("$ref") else { return };
        let reason = "nothing may be beside `$ref`, so it is a branch of its own";
        self.record(reference.place, "$ref", ChangeAction::Rewritten, reason);
        let alone = NodeKeywords::of(reference.place, [reference]).into_node();
        let (name, mut branches) = match keywords.has("anyOf") {
            true => ("allOf", keywords.nodes("allOf").to_vec()),
            false => ("anyOf", Vec::new()),
        };
        branches.push(alone);
        keywords.set(name, NodeContent::List(branches.into()));
    }

    /// Drops the patterns of `patternProperties` that the target cannot read.
    ///
    /// The names that a dropped pattern is about are no longer checked, and the schema for
    /// additional properties would now apply to them. That one is dropped as well, so the meaning
    /// changes in an unknown direction.
    fn drop_patterns(&mut self, keywords: &mut NodeKeywords<'t>) {
        let patterns = keywords.named("patternProperties");
        let target = self.target;
        let is_bad = |pattern: &str| is_refused(target, rules::pattern_fact(pattern));
        if !patterns.iter().any(|(pattern, _)| is_bad(pattern)) {
            return;
        }
        for (_, node) in patterns.iter().filter(|(pattern, _)| is_bad(pattern)) {
            let reason = "the target cannot read the pattern";
            let action = ChangeAction::Approximated;
            self.record(node.place(), "patternProperties", action, reason);
        }
        let left = patterns.iter().filter(|(pattern, _)| !is_bad(pattern)).cloned().collect();
        keywords.set("patternProperties", NodeContent::Named(left));
        // Without its pattern, a name would count as an additional one.
        if let Some(others) = keywords.take("additionalProperties") {
            let reason = "without a pattern it would apply to more names";
            let action = ChangeAction::Approximated;
            self.record(others.place, "additionalProperties", action, reason);
        }
    }
}
