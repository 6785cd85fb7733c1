//! Objects: closed ones, optional properties, open maps, and names that a target does not accept.
//!
//! `write_object` runs these steps; those in brackets concern some targets only:
//!
//! ```text
//! declare_required      {"required": ["a"]}             ─▶  "properties": {"a": {}}
//! map_to_entries        {"additionalProperties": S}     ─▶  "entries": a list of {key, value: S}
//! settle_additional     no `additionalProperties`       ─▶  [closed in strict modes]
//! drop_impossible_…     "properties": {"a": false}      ─▶  without `a`
//! rename_properties     "größe", at the root            ─▶  ["gr__e"]
//! require_all           {"properties": {"a": S}}        ─▶  ["a" required, and nullable]
//! ```
//!
//! Three of them change the form of calls and push a step that restores it. `NullMeansAbsent` is
//! pushed before the properties are written, the other two after that: the header of `restore`
//! explains the order.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Value, json};

use super::facts;
use super::full::NodeContext;
use super::merge::{MAX_MATCHES, both, property_schema};
use super::source_tree::{NodeContent, NodeKeyword, NodeKeywords, SchemaNode, Shared};
use super::words::{add_words, keyword_words};
use super::{ChangeAction, FullStyle, Rewriter, TooLarge, VendorTarget, accepted_name, rules};
use crate::restore::RestoreAction;

/// The property that lists what a map holds.
const ENTRIES_PROPERTY: &str = "entries";

impl<'t> Rewriter<'t> {
    /// Writes a node that allows objects.
    ///
    /// The order matters: required names are declared before a map is looked for, since a declared
    /// name is no part of the map, and names are changed after all steps that match them with
    /// patterns.
    pub(super) fn write_object(
        &mut self,
        mut keywords: NodeKeywords<'t>,
        context: NodeContext,
    ) -> Result<Value, TooLarge> {
        let style = context.style;
        self.declare_required(&mut keywords, style);
        let entries = self.map_to_entries(&mut keywords, context);
        self.settle_additional(&mut keywords, context, entries.is_some());
        let impossible = self.drop_impossible_properties(&mut keywords, style);
        let renamed =
            if context.is_root { self.rename_properties(&mut keywords) } else { Vec::new() };
        let mut optional = Vec::new();
        if style == FullStyle::OpenAiStrict {
            optional = self.require_all(&mut keywords);
        }
        if !optional.is_empty() {
            let properties = optional.iter().map(|name| name.to_string()).collect();
            self.push_step(RestoreAction::NullMeansAbsent { properties });
        }
        let optional = NameSet::of(optional.iter().map(|name| &**name));
        let declared = keywords.named("properties");
        let written = self.write_members(keywords, context, &|name| optional.contains(name))?;
        if let Some(entries) = entries {
            let names = declared.iter().map(|(name, _)| name.to_string());
            let declared = names.filter(|name| *name != entries).chain(impossible).collect();
            self.push_step(RestoreAction::EntriesToProperties { property: entries, declared });
        }
        if !renamed.is_empty() {
            self.push_step(RestoreAction::Rename { names: renamed });
        }
        Ok(written)
    }

    /// Declares the properties that are required and not named, where that is an error.
    ///
    /// Its schema is what patterns and `additionalProperties` demand of that name. Ollama does not
    /// ask for it, unless the object is a map, whose entries must not hold the name.
    fn declare_required(&mut self, keywords: &mut NodeKeywords<'t>, style: FullStyle) {
        let is_map = keywords.has("patternProperties")
            || matches!(keywords.one("additionalProperties"), Some(SchemaNode::Keywords(_)));
        if style == FullStyle::Ollama && !is_map {
            return;
        }
        let declared = keywords.named("properties");
        let known = NameSet::of(declared.iter().map(|(name, _)| &**name));
        let mut seen = HashSet::new();
        let required = keywords.required().into_iter();
        let missing: Vec<Shared<'t, str>> = required
            .filter(|name| !known.contains(name) && seen.insert(*name))
            .map(|name| name.to_owned().into())
            .collect();
        if missing.is_empty() {
            return;
        }
        let place = keywords.place_of("required");
        let reason = "the target wants every required property to be declared";
        self.record(place, "required", ChangeAction::Rewritten, reason);
        let patterns = self.few_patterns(keywords, missing.len());
        let others = keywords.one("additionalProperties").cloned();
        let mut properties = declared.to_vec();
        for name in missing {
            let node = property_schema(None, &patterns, others.as_ref(), &name, place);
            properties.push((name, node));
        }
        keywords.set("properties", NodeContent::Named(properties.into()));
    }

    /// The patterns of a node, unless matching them with so many names would take long.
    ///
    /// Each pattern is compiled once per name.
    fn few_patterns(
        &self,
        keywords: &NodeKeywords<'t>,
        names: usize,
    ) -> super::source_tree::NamedNodes<'t> {
        let patterns = keywords.named("patternProperties");
        if patterns.len().saturating_mul(names) > MAX_MATCHES { Rc::default() } else { patterns }
    }

    /// Makes a list of pairs out of the properties that have no name in the schema; the name of the
    /// property that holds it comes back.
    ///
    /// ```text
    /// {"type": "object", "additionalProperties": S}
    ///   ─▶  {"type": "object",
    ///        "properties": {"entries": {"type": "array", "items": {key: a text, value: S}}},
    ///        "required": ["entries"], "additionalProperties": false}
    /// a call: {"entries": [{"key": "a", "value": 1}]}  ─▶  {"a": 1}
    /// ```
    ///
    /// Each pattern of `patternProperties` is a kind of entry with that pattern for its key.
    /// Several kinds are the branches of an `anyOf`, which widens: nothing keeps a key that matches
    /// a pattern from being sent as an entry of another kind. `None` if the object is not a map.
    ///
    /// `minProperties` and `maxProperties` become bounds of the list, if the object has no declared
    /// properties beside the map.
    fn map_to_entries(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        context: NodeContext,
    ) -> Option<String> {
        let style = context.style;
        let patterns = keywords.named("patternProperties");
        let others = keywords.one("additionalProperties").cloned();
        let has_properties = keywords.names_any("properties");
        let named = keywords.named("properties").len() as u64;
        let demands_others =
            keywords.data("minProperties").and_then(Value::as_u64).is_some_and(|min| min > named);
        let is_map = match &others {
            Some(SchemaNode::Keywords(_)) => true,
            Some(SchemaNode::All(_)) => style.is_strict(),
            Some(SchemaNode::Nothing(_)) => !patterns.is_empty(),
            // An object without any rule for its properties is a map of any values. At the top it
            // is a tool without parameters. Closed, one that demands more of them matches nothing.
            None => {
                let is_free = demands_others || !has_properties && !context.is_root;
                !patterns.is_empty() || (style.is_strict() && is_free)
            }
        };
        if !is_map {
            return None;
        }
        let place = match patterns.is_empty() {
            true => keywords.place_of("additionalProperties"),
            false => keywords.place_of("patternProperties"),
        };
        self.apply_patterns(keywords, &patterns);
        let mut kinds: Vec<(Option<Shared<'t, str>>, SchemaNode<'t>)> = Vec::new();
        kinds.extend(patterns.iter().map(|(pattern, node)| (Some(pattern.clone()), node.clone())));
        match others {
            Some(SchemaNode::Nothing(_)) => {}
            Some(node) => kinds.push((None, node)),
            None => kinds.push((None, SchemaNode::All(place))),
        }
        let reason = "the target has no maps; the properties are sent as a list of key and value";
        let keyword =
            if patterns.is_empty() { "additionalProperties" } else { "patternProperties" };
        let action = match kinds.len() {
            // With several kinds of keys, a key may match the schema of another kind.
            2.. => ChangeAction::Widened,
            _ => ChangeAction::Restored,
        };
        self.record(place, keyword, action, reason);
        if !patterns.is_empty() && keywords.has("additionalProperties") {
            let place = keywords.place_of("additionalProperties");
            let reason = "the list of key and value has it as its last kind, or none for `false`";
            self.record(place, "additionalProperties", ChangeAction::Rewritten, reason);
        }
        let names = self.take_key_names(keywords, has_properties);
        let entry = |(pattern, value): (Option<Shared<'t, str>>, SchemaNode<'t>)| {
            let mut key = NodeKeywords::new(place);
            key.set_data("type", "string".into());
            if let Some(pattern) = pattern {
                key.set_data("pattern", Value::String(pattern.to_string()));
            }
            let key = names.iter().fold(key.into_node(), |key, names| both(&key, names));
            let mut entry = NodeKeywords::new(place);
            entry.set_data("type", "object".into());
            let pair: Vec<(Shared<'t, str>, SchemaNode<'t>)> =
                vec![("key".into(), key), ("value".into(), value)];
            entry.set("properties", NodeContent::Named(pair.into()));
            entry.set_data("required", json!(["key", "value"]));
            entry.set("additionalProperties", NodeContent::One(SchemaNode::Nothing(place)));
            entry.into_node()
        };
        let mut entries: Vec<SchemaNode<'t>> = kinds.into_iter().map(entry).collect();
        let entry = match (entries.pop(), entries.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                entries.extend(last);
                let mut choice = NodeKeywords::new(place);
                choice.set("anyOf", NodeContent::List(entries.into()));
                choice.into_node()
            }
        };
        let mut list = NodeKeywords::new(place);
        list.set_data("type", "array".into());
        list.set_data("description", "properties by name".into());
        list.set("items", NodeContent::One(entry));
        for (own, other) in [("minProperties", "minItems"), ("maxProperties", "maxItems")] {
            let Some(count) = keywords.take(own) else { continue };
            if has_properties {
                // The list counts as one property, and so does each of the others.
                let words = keyword_words(&count, &self.tree.definitions);
                words.iter().for_each(|words| add_words(keywords, words));
                let reason = "the entries are not counted as properties";
                self.record_words(count.place, own, ChangeAction::Widened, reason, words);
            } else {
                let reason = "the entries are counted instead";
                self.record(count.place, own, ChangeAction::Rewritten, reason);
                list.push(NodeKeyword { name: other.into(), ..count });
            }
        }
        Some(self.add_entries_property(keywords, list))
    }

    /// Declares and requires the property that holds a list of pairs, and closes the object.
    /// Returns its name, which has a number if the object has a property `entries` already.
    fn add_entries_property(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        list: NodeKeywords<'t>,
    ) -> String {
        let place = list.place;
        let mut properties = keywords.named("properties").to_vec();
        let is_used = |name: &str| properties.iter().any(|(own, _)| &**own == name);
        let name = accepted_name(ENTRIES_PROPERTY, is_used);
        properties.push((name.clone().into(), list.into_node()));
        keywords.set("properties", NodeContent::Named(properties.into()));
        let mut required = keywords.data("required").and_then(Value::as_array).cloned();
        required.get_or_insert_default().push(name.as_str().into());
        keywords.set_data("required", required.into());
        keywords.take("patternProperties");
        keywords.set("additionalProperties", NodeContent::One(SchemaNode::Nothing(place)));
        name
    }

    /// Adds what patterns demand of declared properties to those.
    ///
    /// They become a list of entries afterwards, and so would no longer apply to declared names.
    ///
    /// `{"properties": {"x-a": A}, "patternProperties": {"^x-": B}}` declares `x-a` with `A` and
    /// `B`.
    fn apply_patterns(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        patterns: &super::source_tree::NamedNodes<'t>,
    ) {
        let declared = keywords.named("properties");
        if patterns.is_empty() || declared.is_empty() {
            return;
        }
        let few = self.few_patterns(keywords, declared.len());
        if few.is_empty() {
            let place = keywords.place_of("patternProperties");
            let reason = "there are too many patterns to match them with the declared properties";
            self.record(place, "patternProperties", ChangeAction::Widened, reason);
            return;
        }
        let with_patterns = |(name, node): &(Shared<'t, str>, SchemaNode<'t>)| {
            (name.clone(), property_schema(Some(node), &few, None, name, node.place()))
        };
        let properties: Vec<_> = declared.iter().map(with_patterns).collect();
        keywords.set("properties", NodeContent::Named(properties.into()));
    }

    /// Takes `propertyNames`, to apply it to keys.
    ///
    /// A map becomes a list of entries, in which the names are values: `propertyNames` applies to
    /// the `key` of each entry then.
    fn take_key_names(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        has_properties: bool,
    ) -> Option<SchemaNode<'t>> {
        let names = keywords.take("propertyNames")?;
        let action = match has_properties {
            // It is no longer applied to the names of declared properties.
            true => ChangeAction::Widened,
            false => ChangeAction::Restored,
        };
        self.record(names.place, "propertyNames", action, "it is applied to the keys of entries");
        match names.content {
            NodeContent::One(node) => Some(node),
            _ => None,
        }
    }

    /// Brings `additionalProperties` into the form that the target wants.
    ///
    /// The form depends on the target: strict modes want `false`, others reject it or do not have
    /// the keyword. Where a map has become entries, the object is closed already.
    ///
    /// Maps have become entries before, so `additionalProperties` is a boolean here.
    fn settle_additional(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        context: NodeContext,
        has_entries: bool,
    ) {
        let place = keywords.place_of("additionalProperties");
        let name = "additionalProperties";
        match keywords.one(name) {
            Some(SchemaNode::Nothing(_)) if self.refuses(&facts::ADDITIONAL_PROPERTIES_FALSE) => {
                keywords.take(name);
                // Restoring ignores other properties of the objects that rewriting made, and
                // refuses those beside a list of pairs.
                if place != keywords.place && !has_entries {
                    // No words: a model sends the properties it reads of.
                    let reason = "the target does not have this keyword";
                    self.record(place, name, ChangeAction::Widened, reason);
                }
            }
            Some(SchemaNode::Nothing(_)) => {}
            // Ollama's client drops it, which means the same.
            Some(_)
                if self.refuses(&facts::ADDITIONAL_PROPERTIES_TRUE)
                    || context.style == FullStyle::Ollama =>
            {
                keywords.take(name);
                let reason = "other properties are allowed without it, too";
                self.record(place, name, ChangeAction::Rewritten, reason);
            }
            Some(_) => {}
            None if context.style.is_strict() => {
                let reason = "strict mode wants closed objects; properties without a name here cannot be sent";
                self.record(keywords.place, name, ChangeAction::Narrowed, reason);
                let closed = SchemaNode::Nothing(keywords.place);
                keywords.set(name, NodeContent::One(closed));
            }
            None => {}
        }
        if context.is_root && !keywords.has("properties") && self.refuses(&facts::NO_PROPERTIES) {
            let reason = "the target wants `properties`, if only empty ones";
            self.record(keywords.place, "properties", ChangeAction::Rewritten, reason);
            keywords.set("properties", NodeContent::Named(Rc::default()));
        }
    }

    /// Drops properties whose schema is `false`, and returns their names. In a closed object, which
    /// strict modes want, that means the same. A required one stays, and is written by
    /// `write_nothing`.
    ///
    /// The names are kept for the step of a map: an entry must not have the name of a property that
    /// has to be absent.
    fn drop_impossible_properties(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        style: FullStyle,
    ) -> Vec<String> {
        let properties = keywords.named("properties");
        if !properties.iter().any(|(_, node)| matches!(node, SchemaNode::Nothing(_))) {
            return Vec::new();
        }
        let required = NameSet::of(keywords.required());
        let is_dropped = |(name, node): &&(Shared<'t, str>, SchemaNode<'t>)| {
            matches!(node, SchemaNode::Nothing(_)) && !required.contains(name)
        };
        let mut names = Vec::new();
        for (name, node) in properties.iter().filter(is_dropped) {
            names.push(name.to_string());
            let action = match style.is_strict() {
                true => ChangeAction::Rewritten,
                false => ChangeAction::Widened,
            };
            let reason = "a property that must be absent is left out";
            self.record(node.place(), "properties", action, reason);
        }
        if !names.is_empty() {
            let left = properties.iter().filter(|one| !is_dropped(one)).cloned().collect();
            keywords.set("properties", NodeContent::Named(left));
        }
        names
    }

    /// Renames the parameters whose names the target does not accept: pairs of new and old name.
    ///
    /// Renames only the root, because only the names of parameters are restricted (Anthropic,
    /// Gemini). `required` follows.
    ///
    /// Other properties keep their names, and a new name never equals one of those: calls are
    /// renamed back by name alone.
    fn rename_properties(&mut self, keywords: &mut NodeKeywords<'t>) -> Vec<(String, String)> {
        let target = self.target;
        let declared = keywords.named("properties");
        if declared.iter().all(|(name, _)| accepts_name(target, name)) {
            return Vec::new();
        }
        let mut properties = declared.to_vec();
        let mut used: HashSet<Shared<'t, str>> =
            properties.iter().map(|(name, _)| name.clone()).collect();
        let mut renamed = Vec::new();
        for (name, node) in &mut properties {
            if accepts_name(target, name) {
                continue;
            }
            let new = accepted_name(name, |name| used.contains(name));
            self.record_new_name(node.place(), &new);
            renamed.push((new.clone(), name.to_string()));
            *name = new.into();
            used.insert(name.clone());
        }
        keywords.set("properties", NodeContent::Named(properties.into()));
        let new_name = |name: &Value| {
            let found = renamed.iter().find(|(_, old)| name == old.as_str());
            found.map_or_else(|| name.clone(), |(new, _)| Value::String(new.clone()))
        };
        if let Some(names) = keywords.data("required").and_then(Value::as_array) {
            let names: Vec<Value> = names.iter().map(new_name).collect();
            keywords.set_data("required", Value::Array(names));
        }
        renamed
    }

    /// Requires all properties, in the order of their declaration, which OpenAI's own helper
    /// writes; those that were optional come back.
    ///
    /// A model that has nothing to say sends `null`, which restoring removes (`NullMeansAbsent`).
    fn require_all(&mut self, keywords: &mut NodeKeywords<'t>) -> Vec<Shared<'t, str>> {
        let required = NameSet::of(keywords.required());
        let properties = keywords.named("properties");
        let mut optional = Vec::new();
        for (name, node) in properties.iter() {
            if !required.contains(name) {
                let reason = "strict mode wants all properties; `null` means that it is absent";
                self.record(node.place(), "required", ChangeAction::Restored, reason);
                optional.push(name.clone());
            }
        }
        let names = properties.iter().map(|(name, _)| Value::from(&**name)).collect();
        keywords.set_data("required", Value::Array(names));
        optional
    }
}

/// Names to look up. Hashing a few names takes longer than comparing them.
///
/// The bound of 16 keeps the usual object, with a few properties, out of hashing, and an object
/// with thousands of them out of a quadratic search.
enum NameSet<'n> {
    Few(Vec<&'n str>),
    Many(HashSet<&'n str>),
}

impl<'n> NameSet<'n> {
    fn of(names: impl IntoIterator<Item = &'n str>) -> NameSet<'n> {
        let names: Vec<&str> = names.into_iter().collect();
        match names.len() {
            0..=16 => NameSet::Few(names),
            _ => NameSet::Many(names.into_iter().collect()),
        }
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            NameSet::Few(names) => names.contains(&name),
            NameSet::Many(names) => names.contains(name),
        }
    }
}

/// Whether the target accepts the name of a parameter.
pub(super) fn accepts_name(target: VendorTarget, name: &str) -> bool {
    match target {
        VendorTarget::Anthropic | VendorTarget::AnthropicStrict => rules::is_anthropic_name(name),
        VendorTarget::GeminiOpenapi => rules::is_gemini_name(name),
        _ => true,
    }
}
