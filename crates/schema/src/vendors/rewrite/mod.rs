//! Rewrites the input schema of a tool so that a target accepts it, and reports every change.
//!
//! ```text
//! source ─ source_tree ─▶ nodes ─┬─ light: parts that the target rejects ────┬─▶ schema, changes,
//!                                └─ full: merge ─ choices ─ objects ─ arrays ┘   restoring steps
//!                                         numbers ─ values ─ types ─ words
//! ```
//!
//! Three kinds of targets: those that pass a schema on to the model as text reject little, so
//! little is changed (`light`). Strict modes want closed objects, and Gemini's `parameters` and
//! Ollama have few keywords: for them the schema is rebuilt node by node (`full`). Bedrock, Mistral
//! and Cohere take every schema.
//!
//! A rewrite is exact, or exact once the call is restored (`restore`), or it drops a keyword. What
//! is dropped is added in words to the description, because a model can follow those. Which values
//! a dropped keyword lets in is not decided here: the actions say in which direction the meaning
//! changed, and comparing the two schemas shows what it comes to.
//!
//! Every result passes `incompatibilities`: a schema beyond the limits becomes one property that
//! takes the arguments as JSON text.

mod arrays;
mod choices;
mod conditions;
mod full;
mod light;
mod merge;
mod normalize_node;
mod numbers;
mod objects;
mod source_tree;
mod types;
mod values;
mod words;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::facts::{self, VendorFact};
use super::{VendorSupport, VendorTarget, is_compatible, is_rejected, rules};
use crate::limits::MAX_DEPTH;
use crate::restore::{CallPathPart, RestoreAction, RestoreStep};
use crate::{Dialect, measure, stack_space};

use source_tree::{NodeContent, NodeKeyword, SchemaDefinition, Shared, SourcePlace, SourceTree};
pub use types::stated_types;

/// Subschemas that are written at most. References may multiply those of the source.
const MAX_WRITTEN: usize = 100_000;

/// Bytes of values (enums, texts) that are written at most.
const MAX_WRITTEN_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of pointers and words of all changes together.
const MAX_CHANGE_BYTES: usize = 4 * 1024 * 1024;

/// Nested subschemas that are written at most.
const MAX_WRITTEN_DEPTH: usize = MAX_DEPTH;

/// Bytes of stack for each open subschema. Measured: the hostile tests pass with half of it.
const REWRITE_FRAME: usize = if cfg!(debug_assertions) { 48 * 1024 } else { 12 * 1024 };

/// Nested subschemas that are rewritten on the caller's stack.
const SHALLOW: usize = stack_space::CALLER_STACK / REWRITE_FRAME;

/// The property that holds the whole call where the root of a schema cannot be sent as it is.
const WRAPPING_PROPERTY: &str = "input";

/// A schema for a target.
#[derive(Debug, Clone, PartialEq)]
pub struct RewrittenSchema {
    /// What to send.
    pub schema: Value,
    /// What differs from the source, in the order in which it was found.
    pub changes: Vec<SchemaChange>,
    /// How calls become calls of the source, for [`restore`](crate::restore()).
    pub steps: Vec<RestoreStep>,
}

/// One difference between a schema and what is sent instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaChange {
    /// JSON pointer in the source schema: of the keyword, or of the schema that lacked it.
    pub at: String,
    /// The keyword; `null` or `false` where that value or schema has no place in the target.
    pub keyword: String,
    /// How the meaning changed.
    pub action: ChangeAction,
    /// Why, as a part of a sentence.
    pub reason: &'static str,
    /// Who states that the target wants it so.
    pub source: &'static str,
    /// What was added to the description instead.
    pub words: Option<String>,
    /// The name of the property in what is sent, if that is what changed.
    pub new_name: Option<String>,
}

/// How a change affects the meaning of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeAction {
    /// The same values match.
    Rewritten,
    /// The same values match once the call is restored.
    Restored,
    /// A property has another name. The same values match once the call is restored.
    Renamed,
    /// The same values match, and something that described them is gone.
    Dropped,
    /// More calls match.
    Widened,
    /// Fewer calls match.
    Narrowed,
    /// Other calls match.
    Approximated,
}

impl ChangeAction {
    /// What tells this change from others in a [`ChangeList`]. A definition may be used in places
    /// where the same change widens and narrows; those are one change.
    fn key(self, at: &str, keyword: &str) -> ChangeKey {
        use ChangeAction::{Approximated, Narrowed, Widened};
        let is_directed = matches!(self, Widened | Narrowed | Approximated);
        (at.to_owned(), keyword.to_owned(), (!is_directed).then_some(self))
    }
}

/// Rewrites `schema`, the input schema of a tool, for `target`.
///
/// The result is deterministic. A schema that the target accepts as it is comes back unchanged;
/// so does a value that is not a schema.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{ChangeAction, VendorTarget, rewrite_for};
///
/// let source = json!({
///     "type": "object",
///     "properties": { "unit": { "const": "C" } },
///     "required": ["unit"]
/// });
/// let rewritten = rewrite_for(VendorTarget::Ollama, &source);
/// assert_eq!(rewritten.schema["properties"]["unit"], json!({ "enum": ["C"] }));
/// assert_eq!(rewritten.changes[0].at, "/properties/unit/const");
/// assert_eq!(rewritten.changes[0].action, ChangeAction::Rewritten);
/// ```
pub fn rewrite_for(target: VendorTarget, schema: &Value) -> RewrittenSchema {
    rewrite_if_needed(target, schema, ChangeReport::Wanted).unwrap_or_else(|| RewrittenSchema {
        schema: schema.clone(),
        changes: Vec::new(),
        steps: Vec::new(),
    })
}

/// Whether a rewrite lists its changes. Spelling out where each one is takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeReport {
    /// All changes are listed.
    Wanted,
    /// The list stays empty.
    Unwanted,
}

/// [`rewrite_for`] for callers that have the schema already, or need no changes. `None` if the
/// schema stays unchanged.
///
/// Up to three attempts, each with more room: a shallow schema on the caller's stack; any schema on
/// a stack of its own; at last the whole call as JSON text, which every target accepts.
pub fn rewrite_if_needed(
    target: VendorTarget,
    schema: &Value,
    report: ChangeReport,
) -> Option<RewrittenSchema> {
    let style = RewriteStyle::of(target);
    let depth = measure::depth_within(schema, MAX_DEPTH);
    let is_fine = || match style {
        RewriteStyle::Nothing => true,
        RewriteStyle::Light => is_compatible(schema, target),
        RewriteStyle::Full(_) => !(schema.is_object() || schema.is_boolean()),
    };
    let Some(depth) = depth else { return Some(as_json_text(target, report)) };
    if is_fine() {
        return None;
    }
    // Inlined references nest deeper than the source, so a shallow attempt may fail.
    let attempt = |max_depth: usize| {
        let mut changes = ChangeList::new(target, report);
        let rewritten =
            rewrite(target, style, SchemaRole::Arguments, schema, max_depth, &mut changes);
        rewritten.map(|(schema, steps)| RewrittenSchema { schema, changes: changes.list, steps })
    };
    let mut rewritten = if depth <= SHALLOW { attempt(SHALLOW) } else { Err(TooLarge) };
    if rewritten.is_err() {
        let stack = MAX_WRITTEN_DEPTH * REWRITE_FRAME;
        let deep = stack_space::run_with_stack(stack, || attempt(MAX_WRITTEN_DEPTH));
        // A subschema is two levels of JSON, so the result may be too deep. A shallow one is not.
        let fits = |it: &RewrittenSchema| measure::depth_within(&it.schema, MAX_DEPTH).is_some();
        rewritten =
            deep.unwrap_or(Err(TooLarge)).and_then(|it| fits(&it).then_some(it).ok_or(TooLarge));
    }
    Some(match rewritten {
        // A bug or a limit of sizes is the only reason why not.
        Ok(rewritten) if !is_rejected(&rewritten.schema, target) => rewritten,
        _ => as_json_text(target, report),
    })
}

/// `schema`, written for `target`, in standard JSON Schema with the meaning it has there: of
/// Gemini's `parameters` it states `nullable` as a type. Other targets use standard keywords only.
pub fn standard_form(target: VendorTarget, schema: &Value) -> Value {
    if target != VendorTarget::GeminiOpenapi {
        return schema.clone();
    }
    let Value::Object(members) = schema else { return schema.clone() };
    let below = |value: &Value| standard_form(target, value);
    let mut standard: Map<String, Value> = members
        .iter()
        .map(|(name, value)| {
            let value = match (name.as_str(), value) {
                ("properties", Value::Object(named)) => {
                    Value::Object(named.iter().map(|(n, v)| (n.clone(), below(v))).collect())
                }
                ("anyOf", Value::Array(branches)) => branches.iter().map(below).collect(),
                ("items", value) => below(value),
                (_, value) => value.clone(),
            };
            (name.clone(), value)
        })
        .collect();
    match standard.shift_remove("nullable") {
        Some(Value::Bool(true)) => values::make_nullable(Value::Object(standard)),
        _ => Value::Object(standard),
    }
}

/// Rewrites the schema of a tool's result for `target`. `None` if the target cannot state it:
/// results have no other form there, so a rewrite that would have to be restored is of no use.
///
/// Fails if any step would be needed, or if the result nests too deep or is refused.
pub fn rewrite_result(target: VendorTarget, schema: &Value) -> Option<Value> {
    let style = RewriteStyle::of(target);
    if !matches!(style, RewriteStyle::Full(_)) {
        return Some(schema.clone());
    }
    measure::depth_within(schema, MAX_DEPTH)?;
    let attempt = || {
        let mut changes = ChangeList::new(target, ChangeReport::Unwanted);
        rewrite(target, style, SchemaRole::Result, schema, MAX_WRITTEN_DEPTH, &mut changes).ok()
    };
    let stack = MAX_WRITTEN_DEPTH * REWRITE_FRAME;
    let (schema, steps) = stack_space::run_with_stack(stack, attempt).ok().flatten()?;
    let fits = measure::depth_within(&schema, MAX_DEPTH).is_some();
    // Only arguments have to be an object.
    let is_accepted = || !is_rejected(&wrapped(target, schema.clone()), target);
    (steps.is_empty() && fits && is_accepted()).then_some(schema)
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaRole {
    /// The arguments of a call, which are an object.
    Arguments,
    /// The result, which is any value.
    Result,
}

/// How much of a schema has to be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RewriteStyle {
    /// The target takes every schema.
    Nothing,
    /// The target rejects a few parts.
    Light,
    /// The target has a small language of its own.
    Full(FullStyle),
}

/// The languages that schemas are rebuilt in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FullStyle {
    /// OpenAI's strict mode: closed objects, all properties required.
    OpenAiStrict,
    /// Anthropic's strict mode: closed objects.
    AnthropicStrict,
    /// Gemini's `parameters`: one type per schema, no references.
    Gemini,
    /// Ollama: no references, few keywords.
    Ollama,
}

impl RewriteStyle {
    fn of(target: VendorTarget) -> RewriteStyle {
        use VendorTarget::*;
        match target {
            OpenAi | OpenAiResponses | Anthropic | Gemini => RewriteStyle::Light,
            OpenAiStrict | OpenAiResponsesStrict => RewriteStyle::Full(FullStyle::OpenAiStrict),
            AnthropicStrict => RewriteStyle::Full(FullStyle::AnthropicStrict),
            GeminiOpenapi => RewriteStyle::Full(FullStyle::Gemini),
            Ollama => RewriteStyle::Full(FullStyle::Ollama),
            Bedrock | Mistral | Cohere => RewriteStyle::Nothing,
        }
    }
}

/// The schema is beyond a limit.
#[derive(Debug, Clone, Copy)]
struct TooLarge;

/// Reads `schema` and rewrites it in one style. Fails if the result is beyond a limit.
fn rewrite(
    target: VendorTarget,
    style: RewriteStyle,
    role: SchemaRole,
    schema: &Value,
    max_depth: usize,
    changes: &mut ChangeList,
) -> Result<(Value, Vec<RestoreStep>), TooLarge> {
    let dialect = Dialect::of(schema).unwrap_or(Dialect::Draft202012);
    let tree = SourceTree::read(schema, dialect, changes)?;
    let mut rewriter = Rewriter {
        target,
        tree: &tree,
        changes,
        max_depth,
        written: 0,
        written_bytes: 0,
        steps: Vec::new(),
        path: Vec::new(),
        open_definitions: Vec::new(),
        used_definitions: Vec::new(),
    };
    match style {
        RewriteStyle::Nothing => Ok((schema.clone(), Vec::new())),
        RewriteStyle::Light => rewriter.light(),
        RewriteStyle::Full(style) => rewriter.full(style, role),
    }
}

/// The last resort: the whole call as one text.
///
/// The arguments are a text under `input`, which restoring parses and puts in the place of the
/// call.
fn as_json_text(target: VendorTarget, report: ChangeReport) -> RewrittenSchema {
    let mut changes = ChangeList::new(target, report);
    let reason = "the schema is too large; the call is one JSON text";
    changes.add(String::new, "type", ChangeAction::Widened, reason, None);
    let text = json!({ "type": "string", "description": "The arguments as JSON text" });
    let input = vec![CallPathPart::Property(WRAPPING_PROPERTY.to_owned())];
    let property = WRAPPING_PROPERTY.to_owned();
    RewrittenSchema {
        schema: wrapped(target, text),
        changes: changes.list,
        steps: vec![
            RestoreStep { at: input, action: RestoreAction::ParseJson },
            RestoreStep { at: Vec::new(), action: RestoreAction::Unwrap { property } },
        ],
    }
}

/// An object with `schema` as its only property.
fn wrapped(target: VendorTarget, schema: Value) -> Value {
    let mut root = json!({
        "type": "object",
        "properties": { WRAPPING_PROPERTY: schema },
        "required": [WRAPPING_PROPERTY],
    });
    let false_is_accepted = !is_refused(target, &facts::ADDITIONAL_PROPERTIES_FALSE);
    if let (true, Value::Object(members)) = (false_is_accepted, &mut root) {
        members.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    root
}

/// Whether the target rejects or ignores something.
///
/// For facts about the form of a schema, such as an open object. `refuses_keyword` is for keywords.
fn is_refused(target: VendorTarget, fact: &VendorFact) -> bool {
    matches!(fact.support[target as usize], VendorSupport::Rejected | VendorSupport::Ignored)
}

/// Whether the target rejects or ignores a keyword, wherever it is, with its content.
///
/// Facts about a keyword depend on its value for `pattern`, `format` and `minItems`.
fn refuses_keyword(target: VendorTarget, keyword: &NodeKeyword) -> bool {
    let name = &*keyword.name;
    if target == VendorTarget::Ollama {
        return !facts::OLLAMA_FIELDS.contains(&name);
    }
    let data = match &keyword.content {
        NodeContent::Data(value) => Some(&**value),
        _ => None,
    };
    let text = data.and_then(Value::as_str);
    let fact = match name {
        "pattern" => text.map(rules::pattern_fact),
        "format" => text.map(rules::format_fact),
        "minItems" => Some(match data.and_then(Value::as_u64) {
            Some(0 | 1) => &facts::MIN_ITEMS_SMALL,
            _ => &facts::MIN_ITEMS,
        }),
        _ => keyword.fact(),
    };
    // An annotation that is ignored does no harm.
    fact.is_some_and(|fact| match fact.support[target as usize] {
        VendorSupport::Rejected => true,
        VendorSupport::Ignored => !fact.is_annotation(),
        _ => false,
    })
}

/// What makes two changes the same one: the place, the keyword, and the action unless it depends on
/// where a definition is used.
type ChangeKey = (String, String, Option<ChangeAction>);

/// The changes so far, each once.
///
/// The list is bounded by bytes, not by a count: a pointer may be as long as the document. The last
/// entry of a list that was cut says so.
struct ChangeList {
    target: VendorTarget,
    /// Without a report, only `inexact` is counted.
    report: ChangeReport,
    /// How many of them are not exact, counted without a report, too.
    inexact: usize,
    list: Vec<SchemaChange>,
    /// The number of each change in the list.
    seen: HashMap<ChangeKey, usize>,
    /// Bytes of pointers, keywords and words in the list; above `MAX_CHANGE_BYTES` it is closed.
    bytes: usize,
}

impl ChangeList {
    fn new(target: VendorTarget, report: ChangeReport) -> ChangeList {
        ChangeList { target, report, inexact: 0, list: Vec::new(), seen: HashMap::new(), bytes: 0 }
    }

    /// Adds a change. Inlined definitions, and a root that is a definition, too, repeat the same
    /// one, so it is listed once. `at` spells the pointer, if it is needed. `text` is the new name
    /// of what is renamed, else what was added to the description.
    fn add(
        &mut self,
        at: impl FnOnce() -> String,
        keyword: &str,
        action: ChangeAction,
        reason: &'static str,
        text: Option<String>,
    ) {
        self.inexact += usize::from(action != ChangeAction::Rewritten);
        if self.report == ChangeReport::Unwanted || self.bytes > MAX_CHANGE_BYTES {
            return;
        }
        let at = at();
        match self.seen.entry(action.key(&at, keyword)) {
            Entry::Occupied(same) => {
                // What widens in one place and narrows in another does both.
                if self.list[*same.get()].action != action {
                    self.list[*same.get()].action = ChangeAction::Approximated;
                }
                return;
            }
            Entry::Vacant(entry) => {
                entry.insert(self.list.len());
            }
        }
        self.bytes += at.len() + text.as_ref().map_or(0, String::len) + keyword.len() + 64;
        let source = facts::authority(self.target);
        let keyword = keyword.to_owned();
        let (words, new_name) = match action {
            ChangeAction::Renamed => (None, text),
            _ => (text, None),
        };
        self.list.push(SchemaChange { at, keyword, action, reason, source, words, new_name });
        if self.bytes > MAX_CHANGE_BYTES {
            let (at, keyword) = (String::new(), String::new());
            let (action, reason) = (ChangeAction::Approximated, "more changes are not listed");
            let (words, new_name) = (None, None);
            self.list.push(SchemaChange { at, keyword, action, reason, source, words, new_name });
        }
    }
}

/// A part of the way to the current node: a [`CallPathPart`] that shares the name, because few
/// nodes have a step.
enum WritePathPart<'t> {
    Property(Shared<'t, str>),
    EveryItem,
}

/// One rewrite of one schema.
///
/// It holds what the steps of a rewrite share: how much was written, where the current node is, and
/// the results. The steps are in the other files of this folder, each an `impl` of it.
struct Rewriter<'t> {
    target: VendorTarget,
    tree: &'t SourceTree<'t>,
    changes: &'t mut ChangeList,
    /// Nested subschemas beyond which the rewrite fails: as many as the stack has room for.
    max_depth: usize,
    /// Subschemas written so far, up to `MAX_WRITTEN`.
    written: usize,
    /// Bytes of values written so far, up to `MAX_WRITTEN_BYTES`.
    written_bytes: usize,
    /// The steps of the current scope: the root, a definition, or a branch of a choice.
    steps: Vec<RestoreStep>,
    /// Where values of the current node are, from the start of the scope.
    path: Vec<WritePathPart<'t>>,
    /// The definitions that the current node is written inside of, by inlining.
    open_definitions: Vec<usize>,
    /// The definitions that references in the result lead to, in the order they were met.
    used_definitions: Vec<usize>,
}

impl<'t> Rewriter<'t> {
    fn record(
        &mut self,
        place: SourcePlace,
        keyword: &str,
        action: ChangeAction,
        reason: &'static str,
    ) {
        self.record_words(place, keyword, action, reason, None);
    }

    /// Adds a change with words: see [`ChangeList::add`] for `text`.
    fn record_words(
        &mut self,
        place: SourcePlace,
        keyword: &str,
        action: ChangeAction,
        reason: &'static str,
        text: Option<String>,
    ) {
        let tree = self.tree;
        self.changes.add(|| tree.pointer(place), keyword, action, reason, text);
    }

    /// Records that a parameter has another name.
    fn record_new_name(&mut self, place: SourcePlace, name: &str) {
        let reason = "the target does not accept the name of the parameter";
        let (action, name) = (ChangeAction::Renamed, Some(name.to_owned()));
        self.record_words(place, "properties", action, reason, name);
    }

    fn refuses(&self, fact: &VendorFact) -> bool {
        is_refused(self.target, fact)
    }

    /// Adds a step for the values of the current node.
    ///
    /// The order of the calls is the order in which a call is restored; the header of `restore` has
    /// the rules.
    fn push_step(&mut self, action: RestoreAction) {
        self.steps.push(RestoreStep { at: self.call_path(), action });
    }

    /// Where values of the current node are, for a step.
    fn call_path(&self) -> Vec<CallPathPart> {
        let part = |part: &WritePathPart<'t>| match part {
            WritePathPart::Property(name) => CallPathPart::Property(name.to_string()),
            WritePathPart::EveryItem => CallPathPart::EveryItem,
        };
        self.path.iter().map(part).collect()
    }

    /// Counts a subschema that is written.
    ///
    /// # Errors
    /// `TooLarge`, which ends this attempt: the next one has more room, or the call is sent as
    /// text.
    fn count_node(&mut self, depth: usize) -> Result<(), TooLarge> {
        self.written += 1;
        match self.written > MAX_WRITTEN || depth > self.max_depth {
            true => Err(TooLarge),
            false => Ok(()),
        }
    }

    /// A copy of a value, counted. For values of the source; `taken` moves what a rewrite made.
    fn copied(&mut self, value: &Value) -> Result<Value, TooLarge> {
        self.count_bytes(value)?;
        Ok(value.clone())
    }

    /// The value itself if a rewrite made it, otherwise a copy; counted.
    fn taken(&mut self, value: Shared<'t, Value>) -> Result<Value, TooLarge> {
        self.count_bytes(&value)?;
        Ok(match value {
            Shared::Source(value) => value.clone(),
            Shared::Made(value) => Rc::unwrap_or_clone(value),
        })
    }

    /// Counts a value before it is copied: a definition with a long `enum` may be inlined many
    /// times.
    fn count_bytes(&mut self, value: &Value) -> Result<(), TooLarge> {
        let bytes = match value {
            Value::String(text) => text.len() as u64 + 8,
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
            Value::Array(_) | Value::Object(_) => {
                let size = measure::measure(value);
                size.string_bytes.saturating_add(size.values.saturating_mul(8))
            }
        };
        self.written_bytes =
            self.written_bytes.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX));
        match self.written_bytes > MAX_WRITTEN_BYTES {
            true => Err(TooLarge),
            false => Ok(()),
        }
    }

    /// A reference to a definition.
    ///
    /// The definition is noted as used, so that it is written under `$defs`.
    fn reference(&mut self, index: usize) -> Value {
        if !self.used_definitions.contains(&index) {
            self.used_definitions.push(index);
        }
        Value::String(format!("#/$defs/{}", self.definition(index).name))
    }

    fn definition(&self, index: usize) -> &SchemaDefinition<'t> {
        &self.tree.definitions[index]
    }

    /// Runs `work` for values below the current node.
    ///
    /// Steps that it pushes get `part` in their paths.
    fn below<T>(
        &mut self,
        part: WritePathPart<'t>,
        work: impl FnOnce(&mut Self) -> Result<T, TooLarge>,
    ) -> Result<T, TooLarge> {
        self.path.push(part);
        let done = work(self);
        self.path.pop();
        done
    }

    /// Runs `work` in a scope of its own, whose steps come back.
    ///
    /// Paths start anew in it. Definitions and branches of a choice are scopes, because their steps
    /// run for a value wherever it is.
    fn in_scope<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, TooLarge>,
    ) -> Result<(T, Vec<RestoreStep>), TooLarge> {
        let outer = (std::mem::take(&mut self.steps), std::mem::take(&mut self.path));
        let done = work(self);
        let steps = std::mem::replace(&mut self.steps, outer.0);
        self.path = outer.1;
        done.map(|value| (value, steps))
    }
}

/// A new name for a property that the target does not accept: its characters as far as they are
/// accepted, and a number if another property has the name.
///
/// `größe` becomes `gr__e`, `2nd` becomes `_2nd`. At most 56 characters before the number, as both
/// vendors accept 64.
fn accepted_name(name: &str, is_used: impl Fn(&str) -> bool) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut base: String = name.chars().map(fits).take(56).collect();
    if base.is_empty() || base.starts_with(|first: char| first.is_ascii_digit()) {
        base.insert(0, '_');
    }
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    std::iter::once(base.clone()).chain(numbered).find(|name| !is_used(name)).unwrap_or(base)
}
