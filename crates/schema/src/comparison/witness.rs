//! The search for an instance that one of two schemas accepts and the other refuses.
//!
//! Both schemas are walked together. Where they differ, values at the edge of the differing keyword
//! are planted into a small instance of the whole, and judged. A part that is equal in both is
//! skipped, so the work follows the size of the difference, not of the schemas.
//!
//! The walk starts once from each side: a keyword that only one of them has is seen from there.
//!
//! ```text
//! first   {"properties": {"a": {"maxLength": 3}, "b": S}}
//! second  {"properties": {"a": {"maxLength": 5}, "b": S}}
//!
//! compare: `b` is equal, so down to `a` ─▶ `maxLength` differs ─▶ texts of 2 to 6 characters
//!          each placed: {"a": "aaaa"} ─▶ Judge: first refuses it, second accepts it
//! ```

use std::ops::ControlFlow;

use serde_json::Value;

use super::Judge;
use crate::instances::{FlatSchema, InstanceBuilder};
use crate::measure;

/// Values judged from one side.
pub(super) const MAX_CANDIDATES: usize = 1_500;

/// Values and text, in units of sixteen bytes, that all candidates of one side have together.
const MAX_CANDIDATE_SIZE: u64 = 150_000;

/// Flat schemas looked into from one side.
const MAX_LOOKS: usize = 300;

/// Levels that the walk descends.
const MAX_LEVELS: usize = 10;

/// Searches for a witness of each direction.
pub(super) fn search(first: &Value, second: &Value, judge: &mut Judge<'_>) {
    for (own, other) in [(first, second), (second, first)] {
        let mut budget = CandidateBudget::default();
        let _ = Walk::new(own, other).compare(own, Some(other), MAX_LEVELS, &mut |value| {
            budget.charge(&value)?;
            judge.judge(value)
        });
        if judge.is_decided() {
            return;
        }
    }
}

/// Searches among the instances of one schema.
pub(super) fn search_instances(schema: &Value, judge: &mut Judge<'_>) {
    let mut budget = CandidateBudget::default();
    let _ = Walk::new(schema, schema).compare(schema, None, MAX_LEVELS, &mut |value| {
        budget.charge(&value)?;
        judge.judge(value)
    });
}

/// Values in and around a schema, at most so many.
/// Used where no second schema is compared: for calls that are adapted or restored.
pub(super) fn candidates(schema: &Value, most: usize) -> Vec<Value> {
    let mut found = Vec::new();
    let mut budget = CandidateBudget { candidates: most, ..CandidateBudget::default() };
    let _ = Walk::new(schema, schema).compare(schema, None, MAX_LEVELS, &mut |value| {
        budget.charge(&value)?;
        found.push(value);
        ControlFlow::Continue(())
    });
    found
}

/// What is left for the candidates of one side.
struct CandidateBudget {
    candidates: usize,
    size: u64,
}

impl Default for CandidateBudget {
    fn default() -> CandidateBudget {
        CandidateBudget { candidates: MAX_CANDIDATES, size: MAX_CANDIDATE_SIZE }
    }
}

impl CandidateBudget {
    /// Breaks when the candidate is one too many.
    fn charge(&mut self, value: &Value) -> ControlFlow<()> {
        let size = measure::measure(value);
        let cost = size.values + size.string_bytes / 16;
        match (self.candidates.checked_sub(1), self.size.checked_sub(cost)) {
            (Some(candidates), Some(size)) => {
                *self = CandidateBudget { candidates, size };
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        }
    }
}

/// Receives a candidate: each level inserts it into the instance around it, and the last one judges
/// the whole.
type Emit<'e> = dyn FnMut(Value) -> ControlFlow<()> + 'e;

/// A walk through `own`, beside the same places of `other`.
struct Walk<'a> {
    own: InstanceBuilder<'a>,
    other: InstanceBuilder<'a>,
    /// Flat schemas that may still be looked into.
    looks: usize,
}

impl<'a> Walk<'a> {
    fn new(own: &'a Value, other: &'a Value) -> Walk<'a> {
        Walk {
            own: InstanceBuilder::new(own),
            other: InstanceBuilder::new(other),
            looks: MAX_LOOKS,
        }
    }

    /// Emits values for `own` where it differs from `other`; everywhere if there is no other.
    ///
    /// Both are expanded to flat schemas. One that both have is skipped. The others are compared
    /// with the one at the same position, since an edit seldom changes the order of branches.
    fn compare(
        &mut self,
        own: &Value,
        other: Option<&Value>,
        levels: usize,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        let Some(levels) = levels.checked_sub(1) else { return ControlFlow::Continue(()) };
        let flats = self.own.alternatives(own);
        let others = other.map(|other| self.other.alternatives(other)).unwrap_or_default();
        for (index, flat) in flats.iter().enumerate() {
            self.looks = match self.looks.checked_sub(1) {
                Some(left) => left,
                None => return ControlFlow::Break(()),
            };
            // Also for equal schemas: a whole branch may be what the other schema lacks.
            if let Some(smallest) = self.own.smallest_flat(flat) {
                emit(smallest)?;
            }
            if others.iter().any(|other| is_same(flat, other)) {
                continue;
            }
            let counterpart = others.get(index).or(others.first());
            self.compare_flat(flat, counterpart, levels, emit)?;
        }
        ControlFlow::Continue(())
    }

    /// Emits values at the edge of each keyword that differs, then goes down into members that
    /// differ.
    fn compare_flat(
        &mut self,
        flat: &FlatSchema,
        other: Option<&FlatSchema>,
        levels: usize,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        for (keyword, value) in flat {
            let theirs = other.and_then(|other| other.get(keyword));
            if theirs == Some(value) && !has_reference(value) {
                continue;
            }
            for candidate in self.own.values_at_edge(flat, keyword, theirs) {
                emit(candidate)?;
            }
        }
        let counterpart = other.map(|other| Value::Object(other.clone()));
        for member in self.own.members(flat) {
            let theirs = counterpart.as_ref().and_then(|other| other.pointer(&member.path));
            if theirs == Some(member.schema) && !has_reference(member.schema) {
                continue;
            }
            let place = &member.place;
            // The levels above are closures around `emit`, each of which places the value one level
            // up.
            self.compare(member.schema, theirs, levels, &mut |value| emit(place.plant(value)))?;
        }
        ControlFlow::Continue(())
    }
}

/// Whether two flat schemas accept the same values because they are written the same way.
/// References make equal texts differ, because the definitions may have changed.
fn is_same(one: &FlatSchema, other: &FlatSchema) -> bool {
    one == other && !one.values().any(has_reference)
}

/// Whether a part refers to a definition, which may differ though the reference does not.
fn has_reference(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.contains_key("$ref")
                || members.contains_key("$dynamicRef")
                || members.values().any(has_reference)
        }
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}
