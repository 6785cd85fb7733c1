//! Proofs by the canonical form that `jsonschema` makes of a schema: the only place besides
//! `satisfiability.rs` that names it.
//!
//! The canonical form cannot be stopped and schemas come from strangers, so the size of both
//! schemas together is limited before it is made, by the same limits as there. It is young, so a
//! panic of it counts as no answer.
//!
//! `covers` answers "is every value of this schema a value of that one?", and `subtract` makes the
//! schema of what only one of them accepts. Only a certain yes is used. "Unknown" and "no" are the
//! same to callers, who then search for an instance.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::canonical::{CanonicalSchema, Containment, Satisfiability};
use serde_json::{Value, json};

use crate::limits::MAX_CANONICAL_VALUES;
use crate::{Dialect, measure, normalize, satisfiability};

/// Values of both schemas up to which their difference is made. Making it takes time in the product
/// of their sizes.
const MAX_DIFFERENCE_VALUES: u64 = 1_000;

/// The canonical forms of two schemas of 2020-12.
pub(super) struct CanonicalPair {
    first: CanonicalSchema,
    second: CanonicalSchema,
    has_small_operands: bool,
}

impl CanonicalPair {
    /// `None` if a schema has no canonical form, or they are too large for it.
    pub(super) fn new(first: &Value, second: &Value) -> Option<CanonicalPair> {
        let values = measure::measure(first).values + measure::measure(second).values;
        // Comparing intersects both, which multiplies the branches of one with those of the other.
        let both = json!({ "allOf": [first, second] });
        if values > MAX_CANONICAL_VALUES
            || satisfiability::is_too_large(&both, Dialect::Draft202012)
        {
            return None;
        }
        Some(CanonicalPair {
            first: canonical_form(first)?,
            second: canonical_form(second)?,
            has_small_operands: values <= MAX_DIFFERENCE_VALUES,
        })
    }

    /// Whether the first schema certainly accepts everything that the second accepts.
    pub(super) fn first_covers_second(&self) -> bool {
        covers(&self.first, &self.second)
    }

    /// Whether the second schema certainly accepts everything that the first accepts.
    pub(super) fn second_covers_first(&self) -> bool {
        covers(&self.second, &self.first)
    }

    /// What only the first schema accepts, as a schema. `None` if it is empty or unknown.
    pub(super) fn only_in_first(&self) -> Option<Value> {
        self.difference(&self.first, &self.second)
    }

    /// What only the second schema accepts, likewise.
    pub(super) fn only_in_second(&self) -> Option<Value> {
        self.difference(&self.second, &self.first)
    }

    fn difference(&self, taken: &CanonicalSchema, removed: &CanonicalSchema) -> Option<Value> {
        if !self.has_small_operands {
            return None;
        }
        guarded(|| {
            let difference = taken.subtract(removed).ok()?;
            let is_empty = difference.satisfiability() == Satisfiability::No;
            (!is_empty).then(|| difference.to_json_schema())
        })
    }
}

/// `None` if the schema has none: it uses something that the canonical form does not model.
fn canonical_form(schema: &Value) -> Option<CanonicalSchema> {
    let document = normalize::normalize(Cow::Borrowed(schema), Dialect::Draft202012).ok()?;
    guarded(|| {
        let options = satisfiability::canonical_options(Dialect::Draft202012);
        options.canonicalize(&document).ok()
    })
}

/// Whether `outer` certainly accepts all that `inner` accepts.
fn covers(outer: &CanonicalSchema, inner: &CanonicalSchema) -> bool {
    guarded(|| outer.covers(inner).ok()) == Some(Containment::Yes)
}

/// Runs work of the canonical form. A panic in it counts as no answer.
fn guarded<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok().flatten()
}
