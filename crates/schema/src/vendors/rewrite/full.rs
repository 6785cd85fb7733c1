//! Rebuilds a schema in the small language of a strict mode, of Gemini's `parameters` or of
//! Ollama.
//!
//! A node is normalized first, so that it has no references (except those that are kept) and no
//! `allOf`. Then each part is brought into the form the target has, and what is left over is
//! dropped. Below a node nothing else than `properties`, `items` and `anyOf` is written, so every
//! rewrite is in a place where dropping a keyword lets in more values, never fewer.
//!
//! ```text
//! write ── a reference that the target takes? ──▶ write_reference
//!   │ normalize
//!   ▼
//! write_keywords: anyOf ─▶ enum, const ─▶ type ─▶ bounds ─▶ items ─▶ write_object ─▶ write_members
//! ```
//!
//! The order matters. A choice may turn into an `enum`, an `enum` may need a type, and whether a
//! keyword is about objects or arrays depends on the type. `write_members` comes last: it asks
//! whether the target takes a keyword (`drop_refused`), and puts a dropped one into words. The
//! earlier steps only bring a keyword into a form that the target takes.
//!
//! An example for OpenAI's strict mode:
//!
//! ```text
//! {"type": "object", "properties": {"n": {"type": "integer", "minLength": 2}}}
//!   ─▶  {"type": "object", "properties": {"n": {"type": ["integer", "null"]}},
//!        "required": ["n"], "additionalProperties": false}
//!       and a step: `null` for `n` means that it is absent
//! ```

use serde_json::{Map, Value, json};

use super::choices::Branches;
use super::normalize_node::{NormalNode, is_normal};
use super::source_tree::{NodeContent, NodeKeyword, NodeKeywords, SchemaNode, SourcePlace};
use super::types::TypeSet;
use super::words::{add_words, keyword_words, with_words};
use super::{
    ChangeAction, FullStyle, Rewriter, SchemaRole, TooLarge, WRAPPING_PROPERTY, WritePathPart,
    refuses_keyword, values, wrapped,
};
use crate::restore::{RestoreAction, RestoreStep};

/// Objects inside each other that OpenAI's strict mode accepts (O1).
const MAX_OBJECT_LEVELS: usize = 10;

/// The longest minimal length that becomes a pattern. Anthropic refuses patterns with large counts
/// (A1), and does not document how large.
const MAX_PATTERN_LENGTH: u64 = 32;

/// Where a node is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeContext {
    /// The language to write. The same for all nodes of a schema.
    pub style: FullStyle,
    /// Subschemas around it in what is written. `Rewriter::count_node` refuses more than
    /// `Rewriter::max_depth`.
    pub depth: usize,
    /// Objects around it, for the limit of OpenAI's strict mode.
    pub object_levels: usize,
    /// It describes the arguments themselves: only there names are changed, and `properties` is
    /// added where it is missing.
    pub is_root: bool,
}

impl NodeContext {
    /// The context of a definition, which starts to count anew. Callers at the root set
    /// `is_root` themselves.
    pub(super) fn new(style: FullStyle) -> NodeContext {
        NodeContext { style, depth: 0, object_levels: 0, is_root: false }
    }

    /// The context of the nodes inside.
    pub(super) fn below(self) -> NodeContext {
        NodeContext { depth: self.depth + 1, is_root: false, ..self }
    }

    /// The context of the properties of an object.
    pub(super) fn inside_object(self) -> NodeContext {
        NodeContext { object_levels: self.object_levels + 1, ..self.below() }
    }
}

impl FullStyle {
    /// Whether objects have to be closed.
    pub(super) fn is_strict(self) -> bool {
        matches!(self, FullStyle::OpenAiStrict | FullStyle::AnthropicStrict)
    }
}

impl<'t> Rewriter<'t> {
    /// Rewrites the whole schema.
    ///
    /// The root comes first. Each definition that a reference in the result leads to is then
    /// written once, in a scope of its own: its restoring steps have paths that start at the
    /// definition, because values of it can be at many places of a call.
    ///
    /// A definition that no written reference leads to is not written: it was inlined everywhere,
    /// and that is reported once, at the definition.
    pub(super) fn full(
        &mut self,
        style: FullStyle,
        role: SchemaRole,
    ) -> Result<(Value, Vec<RestoreStep>), TooLarge> {
        let (mut schema, mut steps) = self.in_scope(|rewriter| match role {
            SchemaRole::Arguments => rewriter.write_root(style),
            SchemaRole::Result => {
                let root = rewriter.tree.root.clone();
                rewriter.write(&root, NodeContext { is_root: true, ..NodeContext::new(style) })
            }
        })?;
        let mut definitions = Vec::new();
        // Writing a definition may refer to more of them.
        while let Some(&index) = self.used_definitions.get(definitions.len()) {
            let node = self.definition(index).node.clone();
            let name = self.definition(index).name.clone();
            let context = NodeContext::new(style);
            let (schema, steps) = self.in_scope(|rewriter| rewriter.write(&node, context))?;
            definitions.push((name, schema, steps));
        }
        for index in 0..self.tree.definitions.len() {
            if !self.used_definitions.contains(&index) {
                let place = self.definition(index).node.place();
                let reason = "the definition is written where it is used";
                self.record(place, "$defs", ChangeAction::Rewritten, reason);
            }
        }
        if let (false, Value::Object(members)) = (definitions.is_empty(), &mut schema) {
            let all = definitions.iter().map(|(name, schema, _)| (name.clone(), schema.clone()));
            members.insert("$defs".to_owned(), Value::Object(all.collect()));
        }
        add_definition_steps(&mut steps, definitions);
        Ok((schema, steps))
    }

    /// Writes the schema of the arguments: an object, if need be around the schema itself.
    ///
    /// ```text
    /// {"anyOf": [A, B]}  ─▶  {"type": "object", "properties": {"input": {"anyOf": [A', B']}}, …}
    /// ```
    ///
    /// A model that answers `{"input": x}` means the call `x`: that is the step `Unwrap`. A choice
    /// with one possible branch needs no such object. The loop looks through four of them inside
    /// each other, and more are wrapped.
    fn write_root(&mut self, style: FullStyle) -> Result<Value, TooLarge> {
        let context = NodeContext { is_root: true, ..NodeContext::new(style) };
        let mut node = self.tree.root.clone();
        let mut inlined = Vec::new();
        // A choice with a single branch is that branch.
        for _ in 0..4 {
            let mut keywords = match self.normalize(&node, &mut inlined)? {
                NormalNode::Nothing => break,
                NormalNode::All => NodeKeywords::new(node.place()),
                NormalNode::Keywords(keywords) => keywords,
            };
            if !TypeSet::of(&keywords).has(TypeSet::OBJECT) {
                break;
            }
            if keywords.data("type").is_none_or(|kind| kind != "object") {
                let reason = "the arguments of a call are an object";
                self.record(keywords.place_of("type"), "type", ChangeAction::Rewritten, reason);
                keywords.set_data("type", "object".into());
            }
            if !keywords.has("anyOf") {
                if keywords.has("enum") || keywords.has("const") {
                    break;
                }
                return self.with_definitions(inlined, |rewriter| {
                    rewriter.write_keywords(keywords, context)
                });
            }
            self.push_into_branches(&mut keywords);
            match self.possible_branches(&keywords.nodes("anyOf"), style)? {
                Branches::Some(branches) if branches.len() == 1 => node = branches[0].clone(),
                _ => break,
            }
        }
        let place = SourcePlace::ROOT;
        let reason = "the target accepts nothing but an object with properties at the top";
        self.record(place, "type", ChangeAction::Restored, reason);
        let root = self.tree.root.clone();
        let input = WritePathPart::Property(WRAPPING_PROPERTY.into());
        let inside = context.inside_object();
        let schema = self.below(input, |rewriter| rewriter.write(&root, inside))?;
        self.push_step(RestoreAction::Unwrap { property: WRAPPING_PROPERTY.to_owned() });
        Ok(wrapped(self.target, schema))
    }

    /// Runs `work` inside of the definitions that were inlined.
    /// While it runs, a reference to one of them is a recursion, which `normalize` cuts.
    fn with_definitions<T>(
        &mut self,
        inlined: Vec<usize>,
        work: impl FnOnce(&mut Self) -> Result<T, TooLarge>,
    ) -> Result<T, TooLarge> {
        let outer = self.open_definitions.len();
        self.open_definitions.extend(inlined);
        let done = work(self);
        self.open_definitions.truncate(outer);
        done
    }

    /// Whether the node is a reference that is written as one.
    ///
    /// Only the strict modes have references, and only without assertions beside them. All others
    /// are inlined when the node is normalized.
    ///
    /// The answer has to be the same wherever it is asked: `write`, and the steps that would
    /// otherwise merge such a reference with something and inline it.
    pub(super) fn is_kept_reference(&self, node: &SchemaNode<'t>, style: FullStyle) -> bool {
        let Some(keywords) = node.keywords().filter(|_| style.is_strict()) else { return false };
        let is_alone = keywords.iter().all(|one| !one.is_assertion() || &*one.name == "$ref");
        match keywords.get("$ref").map(|keyword| &keyword.content) {
            Some(NodeContent::Reference(Some(index))) if is_alone => {
                // A1: no recursive schemas.
                style == FullStyle::OpenAiStrict || !self.definition(*index).is_recursive
            }
            _ => false,
        }
    }

    /// Writes a node.
    ///
    /// This is the only entry for nodes below the root, so it is where nodes are counted.
    pub(super) fn write(
        &mut self,
        node: &SchemaNode<'t>,
        context: NodeContext,
    ) -> Result<Value, TooLarge> {
        self.count_node(context.depth)?;
        if self.is_kept_reference(node, context.style) {
            return self.write_reference(node, context.style);
        }
        let mut inlined = Vec::new();
        let normal = self.normalize(node, &mut inlined)?;
        self.with_definitions(inlined, |rewriter| match normal {
            NormalNode::All => rewriter.write_keywords(NodeKeywords::new(node.place()), context),
            NormalNode::Nothing => Ok(rewriter.write_nothing(node.place())),
            NormalNode::Keywords(keywords) => rewriter.write_keywords(keywords, context),
        })
    }

    /// Writes a reference with annotations beside it.
    ///
    /// OpenAI takes nothing beside `$ref`, Anthropic takes annotations:
    ///
    /// ```text
    /// OpenAI     {"$ref": R, "description": D}  ─▶  {"description": D, "anyOf": [{"$ref": R}]}
    /// Anthropic  {"$ref": R, "description": D}  ─▶  {"description": D, "$ref": R}
    /// ```
    fn write_reference(
        &mut self,
        node: &SchemaNode<'t>,
        style: FullStyle,
    ) -> Result<Value, TooLarge> {
        let mut keywords = node.keywords().cloned().unwrap_or(NodeKeywords::new(node.place()));
        let reference = keywords.take("$ref");
        let Some(NodeContent::Reference(Some(index))) = reference.as_ref().map(|it| &it.content)
        else {
            return Ok(self.write_nothing(node.place()));
        };
        let definition = self.definition(*index).name.clone();
        self.push_step(RestoreAction::Follow { definition });
        let target = json!({ "$ref": self.reference(*index) });
        let mut members = self.annotations(&keywords, style)?;
        if members.is_empty() {
            return Ok(target);
        }
        if style == FullStyle::AnthropicStrict {
            members.extend(target.as_object().cloned().unwrap_or_default());
            return Ok(Value::Object(members));
        }
        let reason = "nothing may be beside `$ref`, so it is the only branch of an `anyOf`";
        self.record(keywords.place_of("$ref"), "$ref", ChangeAction::Rewritten, reason);
        members.insert("anyOf".to_owned(), json!([target]));
        Ok(Value::Object(members))
    }

    /// The annotations of a node as the target takes them. Those that it refuses are added to the
    /// description in words. Assertions are not in `keywords`: the caller has a reference that
    /// stands alone.
    fn annotations(
        &mut self,
        keywords: &NodeKeywords<'t>,
        style: FullStyle,
    ) -> Result<Map<String, Value>, TooLarge> {
        let mut members = Map::new();
        let mut words = Vec::new();
        for keyword in keywords {
            if let NodeContent::Data(value) = &keyword.content
                && !self.drop_refused(keyword, style, &mut words)
            {
                members.insert(keyword.name.to_string(), self.copied(value)?);
            }
        }
        append_words(&mut members, &words);
        Ok(members)
    }

    /// Writes what no value matches. No target has a schema for it.
    ///
    /// `{"type": "null"}` lets `null` in, so the change is reported as approximated.
    pub(super) fn write_nothing(&mut self, place: SourcePlace) -> Value {
        let reason = "the target has no schema that nothing matches";
        self.record(place, "false", ChangeAction::Approximated, reason);
        json!({ "type": "null", "description": "no value is valid here" })
    }

    /// Writes a normalized node.
    ///
    /// Returns early where a step decides the whole node: a choice, a list of values, JSON text, or
    /// Gemini's several types. The header of the file has the order of the steps.
    ///
    /// May call itself with fewer keywords (Gemini, without `null`) and ends, because each such
    /// call removes what led to it.
    pub(super) fn write_keywords(
        &mut self,
        mut keywords: NodeKeywords<'t>,
        context: NodeContext,
    ) -> Result<Value, TooLarge> {
        let style = context.style;
        if keywords.has("anyOf") {
            self.choice_to_values(&mut keywords);
        }
        if keywords.has("anyOf") {
            let alone = style.is_strict() || style == FullStyle::Gemini;
            if alone {
                self.push_into_branches(&mut keywords);
            }
            match self.possible_branches(&keywords.nodes("anyOf"), style)? {
                Branches::Trivial => {
                    let place = keywords.place_of("anyOf");
                    let reason = "one branch matches every value";
                    self.record(place, "anyOf", ChangeAction::Rewritten, reason);
                    keywords.take("anyOf");
                }
                Branches::Some(branches) if branches.is_empty() => {
                    return Ok(self.write_nothing(keywords.place));
                }
                Branches::Some(branches) if alone => {
                    return self.write_choice(keywords, branches, context);
                }
                Branches::Some(branches) => {
                    keywords.set("anyOf", NodeContent::List(branches.into()));
                }
            }
        }
        if keywords.has("enum") || keywords.has("const") {
            if let Some(written) = self.write_values(&mut keywords, style)? {
                return Ok(written);
            }
        } else if !keywords.has("type") && style != FullStyle::Ollama {
            self.infer_type(&mut keywords);
        }
        let types = TypeSet::of(&keywords);
        let is_untyped = !["type", "enum", "const"].iter().any(|name| keywords.has(name));
        if is_untyped && style != FullStyle::Ollama {
            let reason = "a value of any type is sent as JSON text";
            self.record(keywords.place, "type", ChangeAction::Restored, reason);
            return self.write_json_text(keywords, context);
        }
        if style == FullStyle::Gemini && keywords.has("type") {
            let others = types.without(TypeSet::NULL);
            if others.each().count() > 1 {
                return self.split_types(keywords, types, context);
            }
            if types.has(TypeSet::NULL) && !others.is_empty() {
                let reason = "`nullable` states that `null` is valid, too";
                self.record(keywords.place_of("type"), "type", ChangeAction::Rewritten, reason);
                keywords.set_data("type", others.to_keyword());
                let written = self.write_keywords(keywords, context)?;
                return Ok(gemini_nullable(written));
            }
        }
        self.drop_other_types(&mut keywords, types);
        let describes_object = types.has(TypeSet::OBJECT) && keywords.has("type")
            || keywords.iter().any(|one| one.about() == Some(TypeSet::OBJECT));
        if style == FullStyle::OpenAiStrict
            && describes_object
            && context.object_levels >= MAX_OBJECT_LEVELS
        {
            let reason = "strict mode accepts ten levels of objects; this one is sent as JSON text";
            self.record(keywords.place, "type", ChangeAction::Widened, reason);
            return self.write_json_text(keywords, context);
        }
        let had_values = keywords.has("enum");
        self.rewrite_numbers(&mut keywords, types);
        if keywords.has("enum") && !had_values {
            // A range of integers has become a list.
            if let Some(written) = self.write_values(&mut keywords, style)? {
                return Ok(written);
            }
        }
        if types.has(TypeSet::ARRAY) {
            self.rewrite_arrays(&mut keywords, types, style);
        }
        if style == FullStyle::AnthropicStrict {
            self.min_length_to_pattern(&mut keywords);
        }
        if describes_object {
            return self.write_object(keywords, context);
        }
        self.write_members(keywords, context, &|_| false)
    }

    /// Turns a minimal length into a pattern. Anthropic reads patterns, and not this keyword.
    ///
    /// `minLength: 3` becomes the pattern `^[\s\S]{3}`: three characters of any kind, line breaks
    /// included, then anything. A node with a pattern of its own keeps that one, because two
    /// patterns cannot be one; its minimal length is dropped later, in words. So is a length above
    /// `MAX_PATTERN_LENGTH`.
    fn min_length_to_pattern(&mut self, keywords: &mut NodeKeywords<'t>) {
        let length = keywords.data("minLength").and_then(Value::as_u64);
        let Some(length) = length.filter(|length| (1..=MAX_PATTERN_LENGTH).contains(length)) else {
            return;
        };
        if keywords.has("pattern") {
            return;
        }
        let reason = "a pattern demands as many characters";
        let place = keywords.place_of("minLength");
        self.record(place, "minLength", ChangeAction::Rewritten, reason);
        let pattern = Value::String(format!("^[\\s\\S]{{{length}}}"));
        keywords.replace("minLength", "pattern", NodeContent::Data(pattern.into()));
    }

    /// Writes `anyOf` with nothing but annotations beside it.
    ///
    /// ```text
    /// {"anyOf": [A], "description": D}                    ─▶  A with D
    /// Gemini: {"anyOf": [A, {"type": "null"}]}            ─▶  A with "nullable": true
    /// Gemini: {"anyOf": [A, B], "description": D}         ─▶  {"anyOf": [A with D, B with D]}
    /// ```
    ///
    /// A single branch that is a kept reference stays a choice: merged with the annotations, it
    /// would be inlined.
    ///
    /// Gemini states `null` as `nullable`, so a branch that only matches `null` is taken apart from
    /// the others here. With several others it stays a branch, written last.
    fn write_choice(
        &mut self,
        mut keywords: NodeKeywords<'t>,
        branches: Vec<SchemaNode<'t>>,
        context: NodeContext,
    ) -> Result<Value, TooLarge> {
        let place = keywords.place_of("anyOf");
        let is_gemini = context.style == FullStyle::Gemini;
        let mut others = Vec::new();
        let mut null = None;
        for branch in &branches {
            match is_gemini && self.is_null_only(branch)? {
                true => null = Some(branch.clone()),
                false => others.push(branch.clone()),
            }
        }
        let is_single = match others.as_slice() {
            [one] => !self.is_kept_reference(one, context.style),
            _ => false,
        };
        if is_single {
            let reason = match null {
                Some(_) => "`nullable` states that `null` is valid, too",
                None => "a choice with one branch is that branch",
            };
            self.record(place, "anyOf", ChangeAction::Rewritten, reason);
            // The annotations here win over those of the branch.
            keywords.take("anyOf");
            let annotated = super::merge::both(&keywords.into_node(), &others[0]);
            let written =
                self.write(&annotated, NodeContext { depth: context.depth + 1, ..context })?;
            return Ok(if null.is_some() { gemini_nullable(written) } else { written });
        }
        if !is_gemini {
            keywords.set("anyOf", NodeContent::List(branches.into()));
            return self.write_members(keywords, context, &|_| false);
        }
        // Gemini accepts nothing beside `anyOf`, so what describes the choice goes to each branch.
        let beside = keywords.iter().filter(|one| &*one.name != "anyOf").cloned();
        let annotations = NodeKeywords::of(keywords.place, beside);
        if !annotations.is_empty() {
            let reason = "the target wants nothing beside `anyOf`; it is moved into the branches";
            self.record(place, "anyOf", ChangeAction::Rewritten, reason);
        }
        let annotations = annotations.into_node();
        let described: Vec<SchemaNode<'t>> =
            others.iter().map(|branch| super::merge::both(branch, &annotations)).collect();
        let mut all: Vec<SchemaNode<'t>> = described;
        all.extend(null);
        let written = self.write_branches(&all, context)?;
        Ok(Value::Object(Map::from_iter([("anyOf".to_owned(), written.into())])))
    }

    /// Whether `null` is the only value that may match, by the type or by the list of values.
    fn is_null_only(&mut self, node: &SchemaNode<'t>) -> Result<bool, TooLarge> {
        let accepts_only_null = |keywords: &NodeKeywords<'t>| {
            let values = super::merge::listed_values(keywords);
            let only_null = |values: &Vec<Value>| values.iter().all(Value::is_null);
            !TypeSet::of(keywords).has_any(TypeSet::ALL.without(TypeSet::NULL))
                || values.as_ref().is_some_and(only_null)
        };
        if let Some(keywords) = node.keywords().filter(|own| is_normal(own)) {
            return Ok(accepts_only_null(keywords));
        }
        Ok(match self.normalize(node, &mut Vec::new())? {
            NormalNode::Keywords(keywords) => accepts_only_null(&keywords),
            _ => false,
        })
    }

    /// Writes a node of several types as one branch for each, with the keywords about that type.
    ///
    /// ```text
    /// {"type": ["string", "integer"], "minLength": 2}
    ///   ─▶  {"anyOf": [{"type": "string", "minLength": 2}, {"type": "integer"}]}
    /// ```
    fn split_types(
        &mut self,
        keywords: NodeKeywords<'t>,
        types: TypeSet,
        context: NodeContext,
    ) -> Result<Value, TooLarge> {
        let reason = "the target has one type per schema, so each type is a branch of `anyOf`";
        self.record(keywords.place_of("type"), "type", ChangeAction::Rewritten, reason);
        let branch = |(one, name): (TypeSet, &str)| {
            let mut branch = keywords.clone();
            branch.retain(|keyword| keyword.about().is_none_or(|about| about.has_any(one)));
            branch.set_data("type", name.into());
            branch.into_node()
        };
        let branches: Vec<SchemaNode<'t>> = types.each().map(branch).collect();
        let mut choice = NodeKeywords::new(keywords.place);
        choice.set("anyOf", NodeContent::List(branches.clone().into()));
        self.write_choice(choice, branches, context.below())
    }

    /// States the types that the keywords of a node are about: `{"minLength": 2}` gets
    /// `type: string`.
    ///
    /// That narrows: without a type, the source accepts a number, too, whatever its length. If no
    /// keyword is about a type, nothing is changed here, and the node is sent as JSON text.
    fn infer_type(&mut self, keywords: &mut NodeKeywords<'t>) {
        let types = keywords.iter().filter_map(NodeKeyword::about).fold(TypeSet::NONE, TypeSet::or);
        if types.is_empty() {
            return;
        }
        let reason = "the target wants a type; values of other types cannot be sent";
        self.record(keywords.place, "type", ChangeAction::Narrowed, reason);
        keywords.set_data("type", types.to_keyword());
    }

    /// Drops keywords about types that the node does not allow. They have no effect.
    /// `{"type": "string", "minimum": 3}` becomes `{"type": "string"}`.
    fn drop_other_types(&mut self, keywords: &mut NodeKeywords<'t>, types: TypeSet) {
        let is_idle =
            |keyword: &NodeKeyword<'t>| keyword.about().is_some_and(|about| !types.has_any(about));
        if !keywords.iter().any(is_idle) {
            return;
        }
        for keyword in keywords.iter().filter(|one| is_idle(one)) {
            let reason = "has no effect on values of this type";
            // Authors write `format: int64`, too, which describes.
            let action = match keyword.is_assertion() {
                true => ChangeAction::Rewritten,
                false => ChangeAction::Dropped,
            };
            self.record(keyword.place, &keyword.name, action, reason);
        }
        keywords.retain(|keyword| !is_idle(keyword));
    }

    /// Whether values of any type are sent as JSON text.
    /// True for the strict modes. For Gemini, too, a node without a type is written as JSON text,
    /// but a recursive schema that is cut gets a type there instead (`inline` in `normalize_node`).
    pub(super) fn sends_untyped_as_text(&self) -> bool {
        use super::VendorTarget::*;
        matches!(self.target, OpenAiStrict | OpenAiResponsesStrict | AnthropicStrict)
    }

    /// Writes a node as JSON text. What it demands is checked only when a call is restored.
    ///
    /// `{"description": "any filter"}` becomes
    /// `{"type": "string", "description": "any filter (JSON text)"}`, with a `ParseJson` step.
    /// Annotations stay, but for those that would be read as statements about the text.
    fn write_json_text(
        &mut self,
        mut keywords: NodeKeywords<'t>,
        context: NodeContext,
    ) -> Result<Value, TooLarge> {
        for keyword in keywords.iter().filter(|one| one.is_assertion()) {
            let reason = "the value is sent as JSON text, which has no schema";
            self.record(keyword.place, &keyword.name, ChangeAction::Widened, reason);
        }
        keywords.retain(|keyword| !keyword.is_assertion());
        // They are about the value, not about its text.
        for name in ["format", "default"] {
            let Some(keyword) = keywords.take(name) else { continue };
            let words = keyword_words(&keyword, &self.tree.definitions);
            words.iter().for_each(|words| add_words(&mut keywords, words));
            let (action, reason) = (ChangeAction::Dropped, "the value is sent as JSON text");
            self.record_words(keyword.place, name, action, reason, words);
        }
        add_words(&mut keywords, "JSON text");
        keywords.prepend(NodeKeyword {
            name: "type".into(),
            place: keywords.place,
            content: NodeContent::Data(Value::from("string").into()),
        });
        self.push_step(RestoreAction::ParseJson);
        self.write_members(keywords, context, &|_| false)
    }

    /// Writes the keywords of a node in their order. `is_optional` names the properties that become
    /// nullable.
    ///
    /// Subschemas are written below `properties`, `items` and `anyOf` alone. Any other keyword with
    /// subschemas is dropped here, if an earlier step has not replaced it.
    ///
    /// Words for what was dropped are added at the end, when all members are known, so that the
    /// description may come before or after the dropped keyword.
    pub(super) fn write_members(
        &mut self,
        keywords: NodeKeywords<'t>,
        context: NodeContext,
        is_optional: &dyn Fn(&str) -> bool,
    ) -> Result<Value, TooLarge> {
        let mut members = Map::with_capacity(keywords.len());
        let mut words = Vec::new();
        for keyword in keywords {
            let name = &*keyword.name;
            let value = match (name, &keyword.content) {
                ("properties", NodeContent::Named(properties)) => {
                    let mut written = Map::with_capacity(properties.len());
                    for (name, node) in properties.iter() {
                        let part = WritePathPart::Property(name.clone());
                        let inside = context.inside_object();
                        let mut schema = self.below(part, |below| below.write(node, inside))?;
                        if is_optional(name) {
                            self.report_lost_null(node, &schema);
                            schema = values::make_nullable(schema);
                        }
                        written.insert(name.to_string(), schema);
                    }
                    Value::Object(written)
                }
                ("items", NodeContent::One(node)) => {
                    let inside = context.below();
                    self.below(WritePathPart::EveryItem, |below| below.write(node, inside))?
                }
                ("anyOf", NodeContent::List(branches)) => {
                    Value::Array(self.write_branches(branches, context)?)
                }
                ("additionalProperties", NodeContent::One(SchemaNode::Nothing(_))) => {
                    Value::Bool(false)
                }
                ("additionalProperties", NodeContent::One(SchemaNode::All(_))) => Value::Bool(true),
                ("type" | "enum" | "required" | "title" | "description" | "nullable", _)
                | (_, NodeContent::Data(_)) => {
                    if self.drop_refused(&keyword, context.style, &mut words) {
                        continue;
                    }
                    let name = name.to_owned();
                    let NodeContent::Data(value) = keyword.content else { continue };
                    members.insert(name, self.taken(value)?);
                    continue;
                }
                _ => {
                    self.drop_keyword(&keyword, ChangeAction::Widened, &mut words);
                    continue;
                }
            };
            members.insert(name.to_owned(), value);
        }
        append_words(&mut members, &words);
        Ok(Value::Object(members))
    }

    /// Drops a keyword that the target refuses; `false` if it stays.
    ///
    /// `words` collects what the dropped keywords demand; the caller appends them to the
    /// description.
    fn drop_refused(
        &mut self,
        keyword: &NodeKeyword<'t>,
        style: FullStyle,
        words: &mut Vec<String>,
    ) -> bool {
        let name = &*keyword.name;
        let is_refused = match (style, name) {
            (FullStyle::Ollama, "title") => true,
            (_, "type" | "enum" | "required" | "title" | "description") => false,
            // Sources disagree (O3 against O1), and it has no effect on what is valid.
            (FullStyle::OpenAiStrict, "default") => true,
            // Written by us only. In the source these have no meaning, for Gemini they have.
            (
                FullStyle::Gemini,
                "nullable" | "any_of" | "max_items" | "max_length" | "max_properties" | "min_items"
                | "min_length" | "min_properties" | "property_ordering",
            ) => true,
            // A schema that the rules of strict modes would be applied to.
            (FullStyle::OpenAiStrict | FullStyle::AnthropicStrict, "contentSchema") => true,
            // Undocumented there. Closed objects below a condition would change what it means.
            (FullStyle::AnthropicStrict, "dependentRequired") => true,
            _ => refuses_keyword(self.target, keyword),
        };
        if is_refused {
            let action = match name {
                // The target has one dialect.
                "$schema" => ChangeAction::Rewritten,
                _ if !keyword.is_assertion() => ChangeAction::Dropped,
                _ if is_idle(keyword) => ChangeAction::Rewritten,
                _ => ChangeAction::Widened,
            };
            self.drop_keyword(keyword, action, words);
        }
        is_refused
    }

    /// Drops a keyword, with what it demands in words.
    pub(super) fn drop_keyword(
        &mut self,
        keyword: &NodeKeyword<'t>,
        action: ChangeAction,
        words: &mut Vec<String>,
    ) {
        let own = match is_idle(keyword) {
            true => None,
            false => keyword_words(keyword, &self.tree.definitions),
        };
        words.extend(own.iter().cloned());
        let reason = "the target does not have this keyword, or not with this value";
        self.record_words(keyword.place, &keyword.name, action, reason, own);
    }
}

/// Whether a keyword has a value with which it restricts nothing, such as `minLength: 0`. Dropping
/// it changes no meaning and needs no words.
fn is_idle(keyword: &NodeKeyword) -> bool {
    let NodeContent::Data(value) = &keyword.content else { return false };
    match &*keyword.name {
        "minLength" | "minItems" | "minProperties" => value.as_f64() == Some(0.0),
        "uniqueItems" => **value == Value::Bool(false),
        "dependentRequired" => value.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Adds words to the description of a written schema, in one pair of brackets: `"Tags"` and
/// `["at most 5 items", "no item twice"]` become `"Tags (at most 5 items, no item twice)"`.
pub(super) fn append_words(members: &mut Map<String, Value>, words: &[String]) {
    let joined;
    let words = match words {
        [] => return,
        [one] => one,
        several => {
            joined = several.join(", ");
            &joined
        }
    };
    let old = members.iter_mut().find(|(name, _)| *name == "description");
    match old {
        Some((_, old)) => *old = with_words(old.as_str(), words).into(),
        None => drop(members.insert("description".to_owned(), with_words(None, words).into())),
    }
}

/// A schema that also accepts `null`, as Gemini writes it: with `nullable: true`, or with one more
/// branch of `anyOf`, beside which nothing may be.
fn gemini_nullable(mut schema: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        match members.get_mut("anyOf") {
            Some(Value::Array(branches)) => branches.push(json!({ "type": "null" })),
            _ => drop(members.insert("nullable".to_owned(), Value::Bool(true))),
        }
    }
    schema
}

/// Adds the steps of definitions, and drops those that lead to nothing.
///
/// Most definitions need no step, and a `Follow` to one of them would be work on every call. A
/// recursive definition follows itself, so "has an effect" is found by repeating until nothing
/// changes, from the definitions that have a step of another kind. A choice needs the schemas of
/// all definitions even then: those of its branches may refer to them.
fn add_definition_steps(
    steps: &mut Vec<RestoreStep>,
    mut definitions: Vec<(String, Value, Vec<RestoreStep>)>,
) {
    // A definition has an effect if one of its steps has, directly or through another definition.
    let mut effective: Vec<String> = Vec::new();
    loop {
        let is_new = |(name, _, steps): &&(String, Value, Vec<RestoreStep>)| {
            !effective.contains(name) && steps.iter().any(|step| has_effect(step, &effective))
        };
        let Some((name, ..)) = definitions.iter().find(is_new) else { break };
        effective.push(name.clone());
    }
    prune(steps, &effective);
    for (_, _, own) in &mut definitions {
        prune(own, &effective);
    }
    let is_needed = !effective.is_empty() || steps.iter().any(has_choice);
    for (definition, schema, steps_of_it) in definitions {
        if is_needed {
            let action = RestoreAction::Define { definition, schema, steps: steps_of_it };
            steps.push(RestoreStep { at: Vec::new(), action });
        }
    }
}

fn has_choice(step: &RestoreStep) -> bool {
    matches!(step.action, RestoreAction::Choose { .. })
}

/// Whether a step may change a value. `effective` names the definitions known to have such steps.
fn has_effect(step: &RestoreStep, effective: &[String]) -> bool {
    match &step.action {
        RestoreAction::Follow { definition } => effective.contains(definition),
        RestoreAction::Choose { branches } => branches
            .iter()
            .any(|branch| branch.steps.iter().any(|step| has_effect(step, effective))),
        _ => true,
    }
}

/// Removes steps without effect.
fn prune(steps: &mut Vec<RestoreStep>, effective: &[String]) {
    steps.retain(|step| has_effect(step, effective));
    for step in steps {
        if let RestoreAction::Choose { branches } = &mut step.action {
            branches.iter_mut().for_each(|branch| prune(&mut branch.steps, effective));
        }
    }
}
