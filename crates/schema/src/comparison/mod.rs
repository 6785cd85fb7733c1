//! Whether one schema accepts more or less than another, with an instance that shows it.
//!
//! ```text
//! first, second ─ equal? ─ witness: values at the edges of what differs ─ both judged ─▶ Yes
//!                              │ directions without a witness
//!                              ▼
//!                  containment: the canonical form proves that nothing is lost ────────▶ No
//!                              │ its difference as a schema: values of that, judged ───▶ Yes
//!                              ▼
//!                           NotShown
//! ```
//!
//! `Yes` is never taken from the canonical form alone: an instance is shown that the validator of
//! this crate, the one that tools run with, accepts by one schema and refuses by the other. `No` is
//! never taken from a search that found nothing.
//!
//! The work is counted, so that the same schemas give the same answer on every machine. The counts
//! are such that a comparison takes less than 50 ms on an ordinary processor.

mod containment;
mod edit_direction;
mod edit_effect;
mod edited_part;
mod upgrade;
mod witness;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;

pub use self::edit_effect::EditedSchema;
pub use self::upgrade::{DialectUpgrade, in_2020_12};

use serde_json::Value;

use self::containment::CanonicalPair;
use self::edit_effect::LastForm;
use self::edited_part::EditedPart;
use crate::limits::{MAX_CANONICAL_VALUES, MAX_DEPTH};
use crate::restore::{CallRestorer, RestoreStep, same_json};
use crate::{Dialect, Schema, measure, pointer, stack_space};

/// Values of a difference that is small enough to be shown.
const MAX_LOST_VALUES: u64 = 40;

/// Calls of one side that are adapted or restored to be judged.
const MAX_RESTORED: usize = 100;

/// Evaluations that may give up before a comparison does. Each takes a good part of a second.
const MAX_GIVEN_UP: u32 = 2;

/// Bytes of stack for each level of two schemas that are compared. Measured: the hostile tests pass
/// with half of it.
const COMPARISON_FRAME: usize = if cfg!(debug_assertions) { 64 * 1024 } else { 24 * 1024 };

/// What the second of two schemas accepts beyond the first, and what it refuses.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaComparison {
    /// Whether the second schema accepts values that the first refuses.
    pub wider: Verdict,
    /// Whether the second schema refuses values that the first accepts.
    pub narrower: Verdict,
}

impl SchemaComparison {
    /// Whether both schemas certainly accept the same values.
    pub fn is_equal(&self) -> bool {
        self.wider == Verdict::No && self.narrower == Verdict::No
    }
}

/// The answer about one direction.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Proved: there is no such value.
    No,
    /// The validator accepts this value by one schema and refuses it by the other.
    Yes(Box<Value>),
    /// Neither a proof nor a value was found.
    NotShown,
}

impl Verdict {
    /// The instance that shows it.
    pub fn witness(&self) -> Option<&Value> {
        match self {
            Verdict::Yes(witness) => Some(witness),
            Verdict::No | Verdict::NotShown => None,
        }
    }
}

/// Compares what two schemas accept. `format` is an annotation, as it is when tools run.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{Verdict, compare};
///
/// let first = json!({ "type": "string", "maxLength": 5 });
/// let second = json!({ "type": "string" });
/// let compared = compare(&first, &second);
/// assert_eq!(compared.wider, Verdict::Yes(Box::new(json!("aaaaaa"))));
/// assert_eq!(compared.narrower, Verdict::No);
/// ```
pub fn compare(first: &Value, second: &Value) -> SchemaComparison {
    let not_shown = || SchemaComparison { wider: Verdict::NotShown, narrower: Verdict::NotShown };
    let Some(depth) = depth_of_both(first, second) else { return not_shown() };
    if first == second {
        return SchemaComparison { wider: Verdict::No, narrower: Verdict::No };
    }
    let compared = with_stack(depth, || {
        // A schema that the runner refuses accepts nothing, but that is not what its author means.
        let compiled = (Schema::compile(first).ok()?, Schema::compile(second).ok()?);
        Some(compare_compiled(first, second, &compiled))
    });
    compared.flatten().unwrap_or_else(not_shown)
}

/// [`compare`] for schemas that are compiled already, on a stack that is large enough.
fn compare_compiled(
    first: &Value,
    second: &Value,
    compiled: &(Schema, Schema),
) -> SchemaComparison {
    let mut judge = Judge::new(&compiled.0, &compiled.1);
    let pair = UpgradedPair::new(first, second);
    if let Some(pair) = &pair {
        witness::search(&pair.first, &pair.second, &mut judge);
    }
    if let Some(pair) = pair.as_ref().filter(|_| !judge.is_decided()) {
        judge_by_canonical_form(pair, &mut judge);
    }
    judge.into_comparison()
}

/// Compares a schema with the one that was sent instead, where calls have another form there: calls
/// of the first are adapted, calls of the second restored, and judged then. This is a search and no
/// proof, so `No` is never an answer. The instances are calls of the first schema.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{Verdict, VendorTarget, compare_restored, rewrite_for};
///
/// let source = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
/// let sent = rewrite_for(VendorTarget::OpenAiStrict, &source);
/// // Strict mode closes the object, so calls with other properties cannot be sent.
/// let compared = compare_restored(&source, &sent.schema, &sent.steps);
/// assert!(matches!(compared.narrower, Verdict::Yes(_)));
/// assert_eq!(compared.wider, Verdict::NotShown);
/// ```
pub fn compare_restored(first: &Value, second: &Value, steps: &[RestoreStep]) -> SchemaComparison {
    let not_shown = || SchemaComparison { wider: Verdict::NotShown, narrower: Verdict::NotShown };
    let Some(depth) = depth_of_both(first, second) else { return not_shown() };
    let compared = with_stack(depth, || {
        let compiled = (Schema::compile(first).ok()?, Schema::compile(second).ok()?);
        compare_restored_compiled(first, second, &compiled, steps)
    });
    compared.flatten().unwrap_or_else(not_shown)
}

/// [`compare_restored`] for schemas that are compiled already, on a stack that is large enough.
///
/// ```text
/// narrower: a call of first  ─ adapt ─▶ refused by second, or restored to another call
/// wider:    a call of second ─ restore ─▶ refused by first
/// ```
///
/// `None` if a schema cannot be read as 2020-12.
fn compare_restored_compiled(
    first: &Value,
    second: &Value,
    (compiled_first, compiled_second): &(Schema, Schema),
    steps: &[RestoreStep],
) -> Option<SchemaComparison> {
    let pair = UpgradedPair::new(first, second)?;
    let mut found = SchemaComparison { wider: Verdict::NotShown, narrower: Verdict::NotShown };
    // An evaluation that gave up is neither.
    let given_up = Cell::new(0);
    let evaluate = |schema: &Schema, call: &Value| {
        if given_up.get() == MAX_GIVEN_UP {
            return None;
        }
        let verdict = schema.try_is_valid(call).ok();
        given_up.set(given_up.get() + u32::from(verdict.is_none()));
        verdict
    };
    let is_valid = |schema: &Schema, call: &Value| evaluate(schema, call) == Some(true);
    let is_invalid = |schema: &Schema, call: &Value| evaluate(schema, call) == Some(false);
    let objects = |schema: &Value| {
        let candidates = witness::candidates(schema, MAX_RESTORED);
        candidates.into_iter().filter(Value::is_object)
    };
    let restorer = CallRestorer::new(steps);
    // A restorer whose work is exhausted answers with errors, which show nothing about the call.
    let is_lost = |call: &Value| {
        let is_lost = match restorer.adapt(call.clone()) {
            Ok(adapted) if is_invalid(compiled_second, &adapted) => true,
            Ok(adapted) => !restorer.restore(adapted).is_ok_and(|back| same_json(&back, call)),
            Err(_) => true,
        };
        is_lost && !restorer.is_exhausted()
    };
    let mut calls = objects(&pair.first).filter(|call| is_valid(compiled_first, call));
    if let Some(call) = calls.find(is_lost) {
        found.narrower = Verdict::Yes(Box::new(call));
    }
    let sent = objects(&pair.second).filter(|call| is_valid(compiled_second, call));
    let mut restored = sent.filter_map(|call| restorer.restore(call).ok());
    let is_new = |call: &Value| is_invalid(compiled_first, call) && !restorer.is_exhausted();
    if let Some(call) = restored.find(is_new) {
        found.wider = Verdict::Yes(Box::new(call));
    }
    Some(found)
}

/// A call that a rewritten schema accepts and that cannot be restored: a list of pairs that has a
/// key twice. `None` if none was found.
pub fn unrestorable(sent: &Value, steps: &[RestoreStep]) -> Option<Value> {
    let depth = depth_of_both(sent, sent)?;
    let found = with_stack(depth, || {
        let compiled = Schema::compile(sent).ok()?;
        let pair = UpgradedPair::new(sent, sent)?;
        let restorer = CallRestorer::new(steps);
        let is_found = |call: &Value| {
            matches!(compiled.try_is_valid(call), Ok(true))
                && restorer.restore(call.clone()).is_err()
                && !restorer.is_exhausted()
        };
        // Most have no list of pairs, and cost nothing then.
        let calls = witness::candidates(&pair.first, witness::MAX_CANDIDATES).into_iter();
        let mut calls = calls.filter(Value::is_object).flat_map(with_a_pair_twice);
        calls.find(is_found)
    });
    found.flatten()
}

/// The value, once for each list of pairs in it, with the first pair of that list twice.
fn with_a_pair_twice(value: Value) -> Vec<Value> {
    /// Collects the pointers of all lists whose first item has a `key`.
    fn lists(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (name, inner) in members {
                    lists(inner, &pointer::join(at, name), found);
                }
            }
            Value::Array(items) => {
                if items.first().is_some_and(|item| item.get("key").is_some()) {
                    found.push(at.to_owned());
                }
                for (index, item) in items.iter().enumerate() {
                    lists(item, &format!("{at}/{index}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    lists(&value, "", &mut found);
    let twice = |at: String| {
        let mut changed = value.clone();
        let items = changed.pointer_mut(&at)?.as_array_mut()?;
        items.insert(1, items.first()?.clone());
        Some(changed)
    };
    found.into_iter().filter_map(twice).collect()
}

/// What the first schema accepts and the second refuses, as a schema. `None` if that is empty, not
/// known or too large to be shown to a person.
pub fn lost(first: &Value, second: &Value) -> Option<Value> {
    let depth = depth_of_both(first, second)?;
    let found = with_stack(depth, || {
        let pair = UpgradedPair::new(first, second)?;
        let canonical = CanonicalPair::new(&pair.first, &pair.second)?;
        canonical.only_in_first()
    });
    let mut found = found.flatten()?;
    if let Value::Object(members) = &mut found {
        members.shift_remove("$schema");
    }
    (measure::measure(&found).values <= MAX_LOST_VALUES).then_some(found)
}

/// The depth of the deeper schema, if neither is too large to be compared.
/// For every entry of this module: what nests too deep is not compared at all.
fn depth_of_both(first: &Value, second: &Value) -> Option<usize> {
    let depth = measure::depth_within(first, MAX_DEPTH)?;
    Some(depth.max(measure::depth_within(second, MAX_DEPTH)?))
}

/// Runs `work` with stack for schemas nested `depth` deep. `None` if there is none.
fn with_stack<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> Option<T> {
    stack_space::run_with_stack((depth + 2).saturating_mul(COMPARISON_FRAME), work).ok()
}

/// Both schemas as 2020-12, which all later steps read.
struct UpgradedPair<'a> {
    first: Cow<'a, Value>,
    second: Cow<'a, Value>,
}

impl<'a> UpgradedPair<'a> {
    /// `None` if they are too large, or draft-07 in a form that is not rewritten.
    fn new(first: &'a Value, second: &'a Value) -> Option<UpgradedPair<'a>> {
        let upgraded = |schema: &'a Value| {
            if measure::measure(schema).values > MAX_CANONICAL_VALUES {
                return None;
            }
            match Dialect::of(schema).ok()? {
                Dialect::Draft202012 => Some(Cow::Borrowed(schema)),
                Dialect::Draft7 => upgrade::from_draft7(schema).map(Cow::Owned),
            }
        };
        Some(UpgradedPair { first: upgraded(first)?, second: upgraded(second)? })
    }
}

/// Asks the canonical form about the directions that have no witness.
///
/// A proof ends a direction with `No`. If there is none, the difference of the schemas is itself a
/// schema, and values of that are good candidates. They are judged like all others.
fn judge_by_canonical_form(pair: &UpgradedPair<'_>, judge: &mut Judge<'_>) {
    let Some(canonical) = CanonicalPair::new(&pair.first, &pair.second) else { return };
    if judge.wider == Verdict::NotShown {
        if canonical.first_covers_second() {
            judge.wider = Verdict::No;
        } else if let Some(difference) = canonical.only_in_second() {
            witness::search_instances(&difference, judge);
        }
    }
    if judge.narrower == Verdict::NotShown {
        if canonical.second_covers_first() {
            judge.narrower = Verdict::No;
        } else if let Some(difference) = canonical.only_in_first() {
            witness::search_instances(&difference, judge);
        }
    }
}

/// Judges values by both compiled schemas, and keeps the first witness of each direction.
///
/// A search passes it one value after the other, and stops when it breaks. What counts as a witness
/// depends on the question: for two schemas, that they disagree; for one of several edits, also
/// that the last schema agrees (`last`) and that the edit has a share in it (`part`).
pub(crate) struct Judge<'a> {
    first: &'a Schema,
    /// `None` if values are judged by the last schema alone.
    second: Option<&'a Schema>,
    /// If the second schema is only a step to another one: a witness must hold there, too.
    last: Option<&'a LastForm<'a>>,
    /// If only differences count that an edit of this part has a share in.
    part: Option<&'a EditedPart>,
    wider: Verdict,
    narrower: Verdict,
    /// Whether a value was seen that shows the direction, but not in the last schema, or not by
    /// this edit.
    undone_wider: bool,
    undone_narrower: bool,
    /// Evaluations that gave up.
    given_up: u32,
}

impl<'a> Judge<'a> {
    fn new(first: &'a Schema, second: &'a Schema) -> Judge<'a> {
        Judge {
            first,
            second: Some(second),
            last: None,
            part: None,
            wider: Verdict::NotShown,
            narrower: Verdict::NotShown,
            undone_wider: false,
            undone_narrower: false,
            given_up: 0,
        }
    }

    fn is_decided(&self) -> bool {
        self.wider != Verdict::NotShown && self.narrower != Verdict::NotShown
    }

    /// Whether a direction is shown by values that the last schema judges otherwise, only.
    fn is_undone(&self) -> bool {
        self.wider == Verdict::NotShown && self.undone_wider
            || self.narrower == Verdict::NotShown && self.undone_narrower
    }

    /// Whether the schemas are too costly to go on.
    fn has_given_up(&self) -> bool {
        self.given_up >= MAX_GIVEN_UP
    }

    /// Judges one value. Breaks when nothing is left to be found, or the schemas are too costly.
    ///
    /// A value that shows a direction without counting for it is remembered in `undone_…`: another
    /// edit takes the effect back.
    fn judge(&mut self, value: Value) -> ControlFlow<()> {
        if self.has_given_up() {
            return ControlFlow::Break(());
        }
        // An evaluation that gave up is not a refusal.
        let second = match self.second {
            Some(second) => second.try_is_valid(&value).ok(),
            None => self.last.and_then(|last| last.accepts(&value)),
        };
        let first = self.first.try_is_valid(&value).ok();
        self.given_up += u32::from(first.is_none() || second.is_none());
        let (direction, undone, is_accepted) = match (first, second) {
            (Some(false), Some(true)) => (&mut self.wider, &mut self.undone_wider, true),
            (Some(true), Some(false)) => (&mut self.narrower, &mut self.undone_narrower, false),
            _ => return ControlFlow::Continue(()),
        };
        if *direction == Verdict::NotShown {
            let is_kept = self.second.is_none()
                || self.last.is_none_or(|last| last.accepts(&value) == Some(is_accepted));
            let is_own = || self.part.is_none_or(|part| part.explains(&value, is_accepted));
            match is_kept && is_own() {
                true => *direction = Verdict::Yes(Box::new(value)),
                false => *undone = true,
            }
        }
        if self.is_decided() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn into_comparison(self) -> SchemaComparison {
        SchemaComparison { wider: self.wider, narrower: self.narrower }
    }
}
