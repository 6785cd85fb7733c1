//! Calls of a rewritten schema, turned back into calls of the schema it was made from.
//!
//! A target that does not accept a schema gets another one (`vendors::rewrite`). Where that changes
//! the form of calls, the rewrite records a [`RestoreStep`]:
//!
//! ```text
//! model ── call in the target's form ──▶ restore: steps, first to last ──▶ call of the source
//! example of the source ──▶ adapt: steps, last to first, each reversed ──▶ call in target's form
//! ```
//!
//! A step names the values it is about by a path in the *target's* form. Steps that keep names and
//! nesting come before those below them, steps that change names or nesting after them, so that
//! each step finds the form that its path describes, in both directions.
//!
//! Restoring is tolerant: a value without the expected form is left as it is, because the source
//! schema judges the restored call anyway. Only what has no counterpart at all is an error.
//!
//! Deliberately absent: validating the restored call, and names of tools.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use crate::measure::values_in;
use crate::{Schema, json_text, pointer};

/// The most definitions that are open inside each other: as many as arguments may be nested, with
/// room for definitions that only refer to others.
const MAX_FOLLOWED: usize = 512;

/// The most actions on one call. Steps that are read from a file may name definitions that refer to
/// each other without end.
const MAX_ACTIONS: usize = 5_000_000;

/// The most work of a [`CallRestorer`]: actions, and values of schemas that are compiled. About a
/// second; the largest definitions of real tools take a hundredth of it.
const MAX_WORK: usize = 1_000_000;

/// One change to a call, and the values it is about.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoreStep {
    /// Where the values are, in the form of the target.
    pub at: Vec<CallPathPart>,
    /// What to do with each.
    pub action: RestoreAction,
}

/// One part of the path to values of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallPathPart {
    /// A property of an object.
    Property(String),
    /// Every item of an array.
    EveryItem,
}

/// What restoring does with a value. Adapting does the reverse.
#[derive(Debug, Clone, PartialEq)]
pub enum RestoreAction {
    /// Removes these properties of an object where they are `null`.
    NullMeansAbsent {
        /// The names in the target's form.
        properties: Vec<String>,
    },
    /// Replaces an object by the value of its only property.
    Unwrap {
        /// The name of that property.
        property: String,
    },
    /// Renames properties of an object.
    Rename {
        /// Pairs of the name that the target uses and the name in the source.
        names: Vec<(String, String)>,
    },
    /// Moves a list of `key` and `value` in a property of an object into the object itself.
    EntriesToProperties {
        /// The property that holds the list.
        property: String,
        /// The other properties of the target's form, which are never part of the list.
        declared: Vec<String>,
    },
    /// Replaces a string by the value whose JSON text it is. A string that is not JSON stays: a
    /// model that is asked for any value may write a plain text.
    ParseJson,
    /// Replaces a string by the value it stands for. Without an exact match, a match that ignores
    /// case counts if it is the only one.
    TextToValue {
        /// Pairs of text and value.
        values: Vec<(String, Value)>,
    },
    /// Applies the steps of the first branch whose schema accepts the value.
    Choose {
        /// In the order in which they are tried.
        branches: Vec<RestoreBranch>,
    },
    /// Applies the steps of a definition.
    Follow {
        /// The name that [`RestoreAction::Define`] gives it.
        definition: String,
    },
    /// Declares a definition. Does nothing by itself; its path is empty.
    Define {
        /// Its name under `$defs`.
        definition: String,
        /// Its schema in the target's form, for branches that refer to it.
        schema: Value,
        /// The steps for values of it.
        steps: Vec<RestoreStep>,
    },
}

/// One branch of [`RestoreAction::Choose`].
#[derive(Debug, Clone, PartialEq)]
pub struct RestoreBranch {
    /// What the branch accepts, in the target's form and in standard JSON Schema.
    pub schema: Value,
    /// The steps for values of it.
    pub steps: Vec<RestoreStep>,
}

/// Why a call cannot be restored or adapted, as a sentence that a model can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RestoreError(String);

/// Turns a call of the rewritten schema into one of the source schema.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{VendorTarget, restore, rewrite_for};
///
/// let source = json!({
///     "type": "object",
///     "properties": { "page": { "type": "integer" } },
///     "additionalProperties": false
/// });
/// let rewritten = rewrite_for(VendorTarget::OpenAiStrict, &source);
/// assert_eq!(rewritten.schema["required"], json!(["page"]));
/// assert_eq!(restore(&rewritten.steps, json!({ "page": null })), Ok(json!({})));
/// ```
///
/// # Errors
/// A part of the call has no counterpart: a key that is given twice.
pub fn restore(steps: &[RestoreStep], mut arguments: Value) -> Result<Value, RestoreError> {
    let mut branches = CompiledBranches::unbounded();
    StepRun::new(steps, &mut branches).restore_all(steps, &mut arguments)?;
    Ok(arguments)
}

/// Turns a call of the source schema into one of the rewritten schema.
///
/// # Errors
/// A part of the call has no counterpart: a property that has the name another one gets.
pub fn adapt(steps: &[RestoreStep], mut arguments: Value) -> Result<Value, RestoreError> {
    let mut branches = CompiledBranches::unbounded();
    StepRun::new(steps, &mut branches).adapt_all(steps, &mut arguments)?;
    Ok(arguments)
}

/// Restores and adapts many calls of one schema, as comparing two schemas does. Branches are
/// compiled once, and the work for all calls is bounded: ten definitions with two branches each can
/// have a thousand ways through them.
///
/// The lock makes it `Sync`: a comparison passes references to a thread with a larger stack.
pub(crate) struct CallRestorer<'a> {
    steps: &'a [RestoreStep],
    branches: Mutex<CompiledBranches>,
}

impl<'a> CallRestorer<'a> {
    /// With the whole of `MAX_WORK`.
    pub(crate) fn new(steps: &'a [RestoreStep]) -> CallRestorer<'a> {
        let branches = CompiledBranches { work_left: MAX_WORK, ..CompiledBranches::unbounded() };
        CallRestorer { steps, branches: Mutex::new(branches) }
    }

    /// [`restore`]; the result means nothing if the work [`is_exhausted`](Self::is_exhausted).
    pub(crate) fn restore(&self, mut call: Value) -> Result<Value, RestoreError> {
        let mut branches = self.branches();
        StepRun::new(self.steps, &mut branches).restore_all(self.steps, &mut call)?;
        Ok(call)
    }

    /// [`adapt`]; the result means nothing if the work [`is_exhausted`](Self::is_exhausted).
    pub(crate) fn adapt(&self, mut call: Value) -> Result<Value, RestoreError> {
        let mut branches = self.branches();
        StepRun::new(self.steps, &mut branches).adapt_all(self.steps, &mut call)?;
        Ok(call)
    }

    /// Whether the bound of the work is reached.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.branches().work_left == 0
    }

    /// Held for one call at a time.
    fn branches(&self) -> MutexGuard<'_, CompiledBranches> {
        self.branches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The schemas of branches, kept from one value to the next: a list may have many values for the
/// same branches.
struct CompiledBranches {
    /// By the address of the branch; `None` if its schema does not compile.
    /// An address identifies a branch, because the steps are borrowed for as long as this exists.
    schemas: HashMap<usize, Option<Schema>>,
    /// Actions and values of schemas that may still be used.
    work_left: usize,
}

impl CompiledBranches {
    /// For a single call, which is bounded by `MAX_ACTIONS`.
    fn unbounded() -> CompiledBranches {
        CompiledBranches { schemas: HashMap::new(), work_left: usize::MAX }
    }

    /// Never below zero: an exhausted budget stays so.
    fn use_up(&mut self, work: usize) {
        self.work_left = self.work_left.saturating_sub(work);
    }
}

/// One pass over one call.
struct StepRun<'a, 'b> {
    /// The schema and the steps of each definition, by its name.
    definitions: HashMap<&'a str, (&'a Value, &'a [RestoreStep])>,
    branches: &'b mut CompiledBranches,
    /// Definitions that are open inside each other.
    followed: usize,
    /// Actions so far, up to `MAX_ACTIONS`.
    actions: usize,
}

impl<'a, 'b> StepRun<'a, 'b> {
    /// Definitions are declared by steps of their own, at any place of the list.
    fn new(steps: &'a [RestoreStep], branches: &'b mut CompiledBranches) -> StepRun<'a, 'b> {
        let definition = |step: &'a RestoreStep| match &step.action {
            RestoreAction::Define { definition, schema, steps } => {
                Some((definition.as_str(), (schema, steps.as_slice())))
            }
            _ => None,
        };
        StepRun {
            definitions: steps.iter().filter_map(definition).collect(),
            branches,
            followed: 0,
            actions: 0,
        }
    }

    /// Runs steps on a value, first to last. An error names the place of its value.
    fn restore_all(
        &mut self,
        steps: &'a [RestoreStep],
        value: &mut Value,
    ) -> Result<(), RestoreError> {
        steps.iter().try_for_each(|step| {
            at_path(value, &step.at, &mut |value| self.restore_one(&step.action, value))
                .map_err(|error| error.below(&step.at))
        })
    }

    /// Reverses steps on a value, last to first: the last change of form is the first to be made.
    fn adapt_all(
        &mut self,
        steps: &'a [RestoreStep],
        value: &mut Value,
    ) -> Result<(), RestoreError> {
        steps.iter().rev().try_for_each(|step| {
            at_path(value, &step.at, &mut |value| self.adapt_one(&step.action, value))
                .map_err(|error| error.below(&step.at))
        })
    }

    /// Runs one action on a value that its path leads to.
    ///
    /// ```text
    /// NullMeansAbsent      {"a": 1, "b": null}                     ─▶  {"a": 1}
    /// Unwrap               {"input": x}                            ─▶  x
    /// Rename               {"gr__e": 1}                            ─▶  {"größe": 1}
    /// EntriesToProperties  {"entries": [{"key": "a", "value": 1}]} ─▶  {"a": 1}
    /// ParseJson            "[1, 2]"                                ─▶  [1, 2]
    /// TextToValue          "5"                                     ─▶  5
    /// ```
    fn restore_one(
        &mut self,
        action: &'a RestoreAction,
        value: &mut Value,
    ) -> Result<(), RestoreError> {
        self.count_action()?;
        match action {
            RestoreAction::NullMeansAbsent { properties } => {
                if let Value::Object(members) = value {
                    let is_null = |name: &&String| members.get(*name).is_some_and(Value::is_null);
                    let absent: Vec<&String> = properties.iter().filter(is_null).collect();
                    absent.into_iter().for_each(|name| drop(members.shift_remove(name)));
                }
            }
            RestoreAction::Unwrap { property } => {
                let inner =
                    value.as_object_mut().and_then(|members| members.shift_remove(property));
                *value = inner.ok_or_else(|| {
                    RestoreError(format!("the call is not an object with `{property}`"))
                })?;
            }
            RestoreAction::Rename { names } => {
                let names = names.iter().map(|(target, source)| (target, source));
                rename(value, names)?;
            }
            RestoreAction::EntriesToProperties { property, declared } => {
                if let Value::Object(members) = value {
                    let entries = members.shift_remove(property);
                    insert_entries(members, entries, property, declared)?;
                }
            }
            RestoreAction::ParseJson => {
                if let Value::String(text) = value
                    && let Ok(parsed) = json_text::decode(text.as_bytes())
                {
                    *value = parsed;
                }
            }
            RestoreAction::TextToValue { values } => {
                if let Some(known) = value.as_str().and_then(|text| by_text(values, text)) {
                    *value = known.clone();
                }
            }
            RestoreAction::Choose { branches } => {
                let chosen = branches.iter().find(|branch| self.accepts(branch, value));
                if let Some(branch) = chosen {
                    self.restore_all(&branch.steps, value)?;
                }
            }
            RestoreAction::Follow { definition } => {
                self.follow(definition, |run, steps| run.restore_all(steps, value))?;
            }
            RestoreAction::Define { .. } => {}
        }
        Ok(())
    }

    /// Reverses one action. A choice is the only one that cannot simply be reversed: the branch is
    /// unknown, so each is tried, and one counts only if restoring leads back to the same value.
    ///
    /// ```text
    /// NullMeansAbsent      {"a": 1}, `b` optional  ─▶  {"a": 1, "b": null}
    /// Unwrap               x                       ─▶  {"input": x}
    /// EntriesToProperties  {"a": 1}                ─▶  {"entries": [{"key": "a", "value": 1}]}
    /// ParseJson            [1, 2]                  ─▶  "[1, 2]"
    /// ```
    fn adapt_one(
        &mut self,
        action: &'a RestoreAction,
        value: &mut Value,
    ) -> Result<(), RestoreError> {
        self.count_action()?;
        match action {
            RestoreAction::NullMeansAbsent { properties } => {
                if let Value::Object(members) = value {
                    for name in properties
                        .iter()
                        .filter(|name| !members.contains_key(*name))
                        .collect::<Vec<_>>()
                    {
                        members.insert(name.clone(), Value::Null);
                    }
                }
            }
            RestoreAction::Unwrap { property } => {
                let inner = value.take();
                *value = json!({ property.as_str(): inner });
            }
            RestoreAction::Rename { names } => {
                let names = names.iter().map(|(target, source)| (source, target));
                rename(value, names)?;
            }
            RestoreAction::EntriesToProperties { property, declared } => {
                if let Value::Object(members) = value {
                    let all = std::mem::take(members);
                    let (declared, others): (Map<_, _>, Map<_, _>) =
                        all.into_iter().partition(|(name, _)| declared.contains(name));
                    let entry = |(key, value)| json!({ "key": key, "value": value });
                    *members = declared;
                    members.insert(property.clone(), others.into_iter().map(entry).collect());
                }
            }
            RestoreAction::ParseJson => *value = Value::String(value.to_string()),
            RestoreAction::TextToValue { values } => {
                let known = values.iter().find(|(_, known)| same_json(known, value));
                if let Some((text, _)) = known {
                    *value = Value::String(text.clone());
                }
            }
            RestoreAction::Choose { branches } => {
                for branch in branches {
                    let mut adapted = value.clone();
                    if self.adapt_all(&branch.steps, &mut adapted).is_err()
                        || !self.accepts(branch, &adapted)
                    {
                        continue;
                    }
                    // An earlier branch may claim the adapted value when it is restored.
                    let mut restored = adapted.clone();
                    let back = self.restore_one(action, &mut restored);
                    if back.is_ok() && same_json(&restored, value) {
                        *value = adapted;
                        break;
                    }
                }
            }
            RestoreAction::Follow { definition } => {
                self.follow(definition, |run, steps| run.adapt_all(steps, value))?;
            }
            RestoreAction::Define { .. } => {}
        }
        Ok(())
    }

    /// Counts an action against the bound of this call and against that of all calls.
    fn count_action(&mut self) -> Result<(), RestoreError> {
        self.actions += 1;
        self.branches.use_up(1);
        match self.actions > MAX_ACTIONS || self.branches.work_left == 0 {
            true => Err(RestoreError("restoring the call takes too long".to_owned())),
            false => Ok(()),
        }
    }

    /// Runs the steps of a definition. An unknown one has no steps.
    ///
    /// # Errors
    /// More than `MAX_FOLLOWED` definitions inside each other, which only a hostile list of steps
    /// has.
    fn follow(
        &mut self,
        definition: &str,
        run: impl FnOnce(&mut StepRun<'a, 'b>, &'a [RestoreStep]) -> Result<(), RestoreError>,
    ) -> Result<(), RestoreError> {
        let Some((_, steps)) = self.definitions.get(definition).copied() else { return Ok(()) };
        if self.followed == MAX_FOLLOWED {
            return Err(RestoreError("the call is nested too deeply".to_owned()));
        }
        self.followed += 1;
        let done = run(self, steps);
        self.followed -= 1;
        done
    }

    /// Whether the schema of a branch accepts the value. A schema that does not compile accepts
    /// nothing.
    ///
    /// Compiled on first use, and kept for all values of this run or restorer.
    fn accepts(&mut self, branch: &'a RestoreBranch, value: &Value) -> bool {
        let address = std::ptr::from_ref(branch).addr();
        if !self.branches.schemas.contains_key(&address) {
            let compiled = self.compile(branch);
            self.branches.schemas.insert(address, compiled);
        }
        let compiled = self.branches.schemas.get(&address).and_then(Option::as_ref);
        compiled.is_some_and(|schema| schema.is_valid(value))
    }

    /// The schema of a branch together with the definitions, if there is work left for it.
    fn compile(&mut self, branch: &RestoreBranch) -> Option<Schema> {
        let of_definitions = self.definitions.values().map(|(schema, _)| values_in(schema));
        self.branches.use_up(values_in(&branch.schema) + of_definitions.sum::<usize>());
        if self.branches.work_left == 0 {
            return None;
        }
        let mut schema = branch.schema.clone();
        if let Value::Object(members) = &mut schema
            && !self.definitions.is_empty()
        {
            let all = self
                .definitions
                .iter()
                .map(|(name, (schema, _))| ((*name).to_owned(), Value::clone(schema)));
            members.insert("$defs".to_owned(), Value::Object(all.collect()));
        }
        Schema::compile(&schema).ok()
    }
}

/// Calls `change` for every value at `path`. Values that the path does not fit have none.
///
/// A path with [`CallPathPart::EveryItem`] leads to many values; the recursion is as deep as the
/// path.
///
/// `[Property("a"), EveryItem]` leads to 1 and 2 in `{"a": [1, 2]}`, and to nothing in `{"a": 5}`.
fn at_path(
    value: &mut Value,
    path: &[CallPathPart],
    change: &mut dyn FnMut(&mut Value) -> Result<(), RestoreError>,
) -> Result<(), RestoreError> {
    match (path, value) {
        ([], value) => change(value),
        ([CallPathPart::Property(name), rest @ ..], Value::Object(members)) => {
            members.get_mut(name).map_or(Ok(()), |inner| at_path(inner, rest, change))
        }
        ([CallPathPart::EveryItem, rest @ ..], Value::Array(items)) => {
            items.iter_mut().try_for_each(|item| at_path(item, rest, change))
        }
        _ => Ok(()),
    }
}

/// Renames members of an object and keeps their order.
///
/// # Errors
/// Two properties get the same name.
fn rename<'n>(
    value: &mut Value,
    names: impl Iterator<Item = (&'n String, &'n String)>,
) -> Result<(), RestoreError> {
    let Value::Object(members) = value else { return Ok(()) };
    let names: HashMap<&String, &String> = names.collect();
    let mut renamed = Map::new();
    for (name, inner) in std::mem::take(members) {
        let name = names.get(&name).map_or(name, |other| (*other).clone());
        if renamed.contains_key(&name) {
            return Err(RestoreError(format!("two properties get the name `{name}`")));
        }
        renamed.insert(name, inner);
    }
    *members = renamed;
    Ok(())
}

/// Adds the pairs of a list to an object.
///
/// The target's form has checked `declared` properties by their own schemas and everything in the
/// list by the schema of entries. So a name must not change sides: a key that is declared, or a
/// property that is neither the list nor declared, is an error.
fn insert_entries(
    members: &mut Map<String, Value>,
    entries: Option<Value>,
    property: &str,
    declared: &[String],
) -> Result<(), RestoreError> {
    let entries = match entries {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(RestoreError(format!("`{property}` is not a list"))),
    };
    // Some targets cannot close an object. Nothing was checked of what stands there.
    if let Some(other) = members.keys().find(|name| !declared.contains(name)) {
        return Err(RestoreError(format!("`{other}` is beside `{property}` instead of in it")));
    }
    for mut entry in entries {
        let value = entry.get_mut("value").map(Value::take);
        let key = entry.get("key").and_then(Value::as_str);
        let (Some(key), Some(value)) = (key, value) else {
            return Err(RestoreError(format!(
                "an entry of `{property}` is not an object with a text `key` and a `value`"
            )));
        };
        if members.contains_key(key) {
            return Err(RestoreError(format!("`{property}` gives `{key}` a second value")));
        }
        // Otherwise the schema of its own property would not have been applied to it.
        if declared.iter().any(|name| name == key) {
            return Err(RestoreError(format!("`{key}` in `{property}` has a property of its own")));
        }
        members.insert(key.to_owned(), value);
    }
    Ok(())
}

/// The value that a text stands for. An exact match comes first: `a` and `A` may both be listed.
///
/// `None` if no text fits, or several that differ in case alone. The value then stays a text, and
/// the source schema judges it.
fn by_text<'v>(values: &'v [(String, Value)], text: &str) -> Option<&'v Value> {
    if let Some((_, value)) = values.iter().find(|(known, _)| known == text) {
        return Some(value);
    }
    let lower = text.to_lowercase();
    let mut similar = values.iter().filter(|(known, _)| known.to_lowercase() == lower);
    let first = similar.next()?;
    similar.next().is_none().then_some(&first.1)
}

/// Equality as JSON Schema defines it: numbers by value, objects without order.
///
/// Not `==` of `serde_json`, for which `1` and `1.0` differ.
pub(crate) fn same_json(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| same_json(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| {
                    other.get(name).is_some_and(|other| same_json(value, other))
                })
        }
        _ => first == second,
    }
}

impl RestoreError {
    /// The error with the place of the value in front.
    fn below(self, path: &[CallPathPart]) -> RestoreError {
        if path.is_empty() {
            return self;
        }
        let mut at = String::new();
        for part in path {
            match part {
                CallPathPart::Property(name) => pointer::extend(&mut at, name),
                CallPathPart::EveryItem => at.push_str("/*"),
            }
        }
        RestoreError(format!("`{at}`: {}", self.0))
    }
}

// ---- Steps as JSON ----

impl RestoreStep {
    /// The step as JSON, for a file that is read back with [`RestoreStep::from_json`]. In `at`, a
    /// string is a property and `true` every item.
    ///
    /// ```text
    /// {"at": ["user", true], "nullMeansAbsent": ["name"]}
    /// {"at": [], "rename": [["gr__e", "größe"]]}
    /// ```
    pub fn to_json(&self) -> Value {
        let part = |part: &CallPathPart| match part {
            CallPathPart::Property(name) => Value::String(name.clone()),
            CallPathPart::EveryItem => Value::Bool(true),
        };
        let (name, detail) = self.action.to_json();
        json!({ "at": self.at.iter().map(part).collect::<Vec<_>>(), name: detail })
    }

    /// Reads what [`RestoreStep::to_json`] writes.
    ///
    /// # Errors
    /// It is something else.
    pub fn from_json(step: &Value) -> Result<RestoreStep, RestoreError> {
        StepJson(step).step(0)
    }
}

impl RestoreAction {
    /// The key of the action in JSON, and the value under it.
    fn to_json(&self) -> (&'static str, Value) {
        let all =
            |steps: &[RestoreStep]| -> Value { steps.iter().map(RestoreStep::to_json).collect() };
        match self {
            RestoreAction::NullMeansAbsent { properties } => ("nullMeansAbsent", json!(properties)),
            RestoreAction::Unwrap { property } => ("unwrap", json!(property)),
            RestoreAction::Rename { names } => ("rename", json!(names)),
            RestoreAction::EntriesToProperties { property, declared } => {
                ("entriesToProperties", json!({ "property": property, "declared": declared }))
            }
            RestoreAction::ParseJson => ("parseJson", Value::Bool(true)),
            RestoreAction::TextToValue { values } => ("textToValue", json!(values)),
            RestoreAction::Choose { branches } => {
                let branch = |branch: &RestoreBranch| json!({ "schema": branch.schema, "steps": all(&branch.steps) });
                ("choose", branches.iter().map(branch).collect())
            }
            RestoreAction::Follow { definition } => ("follow", json!(definition)),
            RestoreAction::Define { definition, schema, steps } => (
                "define",
                json!({ "definition": definition, "schema": schema, "steps": all(steps) }),
            ),
        }
    }
}

/// A part of a step as JSON.
#[derive(Clone, Copy)]
struct StepJson<'a>(&'a Value);

/// Branches inside branches that are read. A file written here has as many as its schema.
const MAX_STEP_DEPTH: usize = 128;

impl<'a> StepJson<'a> {
    /// A step, with the steps of its branches below it.
    ///
    /// # Errors
    /// What was expected instead.
    fn step(self, depth: usize) -> Result<RestoreStep, RestoreError> {
        let part = |part: StepJson<'_>| match part.0 {
            Value::Bool(true) => Ok(CallPathPart::EveryItem),
            _ => part.text().map(CallPathPart::Property),
        };
        let at = self.member("at")?.list(part)?;
        let mut others = self.0.as_object().into_iter().flatten().filter(|(key, _)| *key != "at");
        match (others.next(), others.next()) {
            (Some((name, detail)), None) if depth < MAX_STEP_DEPTH => {
                Ok(RestoreStep { at, action: StepJson(detail).action(name, depth)? })
            }
            _ => Err(self.unexpected("a step with `at` and one action")),
        }
    }

    /// The action under the key `name`.
    fn action(self, name: &str, depth: usize) -> Result<RestoreAction, RestoreError> {
        let steps = |json: StepJson<'_>| json.list(|step| step.step(depth + 1));
        Ok(match name {
            "nullMeansAbsent" => {
                RestoreAction::NullMeansAbsent { properties: self.list(StepJson::text)? }
            }
            "unwrap" => RestoreAction::Unwrap { property: self.text()? },
            "rename" => RestoreAction::Rename {
                names: self.list(|pair| Ok((pair.item(0)?.text()?, pair.item(1)?.text()?)))?,
            },
            "entriesToProperties" => RestoreAction::EntriesToProperties {
                property: self.member("property")?.text()?,
                declared: self.member("declared")?.list(StepJson::text)?,
            },
            "parseJson" => RestoreAction::ParseJson,
            "textToValue" => RestoreAction::TextToValue {
                values: self.list(|pair| Ok((pair.item(0)?.text()?, pair.item(1)?.0.clone())))?,
            },
            "choose" => {
                let branch = |branch: StepJson<'_>| {
                    Ok(RestoreBranch {
                        schema: branch.member("schema")?.0.clone(),
                        steps: steps(branch.member("steps")?)?,
                    })
                };
                RestoreAction::Choose { branches: self.list(branch)? }
            }
            "follow" => RestoreAction::Follow { definition: self.text()? },
            "define" => RestoreAction::Define {
                definition: self.member("definition")?.text()?,
                schema: self.member("schema")?.0.clone(),
                steps: steps(self.member("steps")?)?,
            },
            _ => return Err(RestoreError(format!("`{name}` is not an action of a step"))),
        })
    }

    /// The member of an object.
    fn member(self, name: &str) -> Result<StepJson<'a>, RestoreError> {
        let member = self.0.get(name).map(StepJson);
        member.ok_or_else(|| self.unexpected(format_args!("an object with `{name}`")))
    }

    /// An item of a pair.
    fn item(self, index: usize) -> Result<StepJson<'a>, RestoreError> {
        self.0.get(index).map(StepJson).ok_or_else(|| self.unexpected("a pair"))
    }

    fn text(self) -> Result<String, RestoreError> {
        self.0.as_str().map(str::to_owned).ok_or_else(|| self.unexpected("a text"))
    }

    fn list<T>(
        self,
        read: impl Fn(StepJson<'a>) -> Result<T, RestoreError>,
    ) -> Result<Vec<T>, RestoreError> {
        let items = self.0.as_array().ok_or_else(|| self.unexpected("a list"))?;
        items.iter().map(|item| read(StepJson(item))).collect()
    }

    fn unexpected(self, expected: impl fmt::Display) -> RestoreError {
        let found = crate::error_message::quoted(self.0);
        RestoreError(format!("{found} is not {expected}"))
    }
}
