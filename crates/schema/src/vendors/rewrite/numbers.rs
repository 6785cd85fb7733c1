//! Bounds of numbers, for targets that have some of the keywords for them.
//!
//! ```text
//! number, multipleOf: 1                ─▶  integer
//! integer, minimum: 1, maximum: 3      ─▶  integer, enum: [1, 2, 3]
//! integer, exclusiveMinimum: 3         ─▶  integer, minimum: 4
//! number, exclusiveMinimum: 3          ─▶  number, minimum: 3, and "more than 3" in words
//! ```
//!
//! Each line applies only if the target refuses the keyword on the left. What is still refused
//! after that is dropped by `full`, in words.

use serde_json::{Number, Value};

use super::facts;
use super::source_tree::NodeKeywords;
use super::types::TypeSet;
use super::words::add_words;
use super::{ChangeAction, Rewriter};

/// The longest list that a range of integers becomes. More would cost more tokens than it helps.
const MAX_LISTED_RANGE: i64 = 20;

/// Integers up to here are exact as floating point numbers.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl<'t> Rewriter<'t> {
    /// Rewrites the bounds of a node that allows only numbers.
    ///
    /// A node that allows texts, too, keeps its bounds as they are: a listed range would refuse the
    /// texts.
    pub(super) fn rewrite_numbers(&mut self, keywords: &mut NodeKeywords<'t>, types: TypeSet) {
        if !TypeSet::NUMBER.or(TypeSet::NULL).has(types) || !keywords.has("type") {
            return;
        }
        let mut is_integer = !types.has(TypeSet::NUMBER);
        if !is_integer
            && self.refuses(&facts::MULTIPLE_OF)
            && keywords.data("multipleOf").and_then(Value::as_f64) == Some(1.0)
        {
            let reason = "a number that is a multiple of 1 is an integer";
            self.record(
                keywords.place_of("multipleOf"),
                "multipleOf",
                ChangeAction::Rewritten,
                reason,
            );
            keywords.take("multipleOf");
            let integers = types.both(TypeSet::INTEGER.or(TypeSet::NULL));
            keywords.set_data("type", integers.to_keyword());
            is_integer = true;
        }
        if is_integer {
            self.list_range(keywords);
        }
        if !self.refuses(&facts::EXCLUSIVE_BOUND) || self.refuses(&facts::MINIMUM_MAXIMUM) {
            return;
        }
        for (exclusive, inclusive) in
            [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")]
        {
            self.include_bound(keywords, exclusive, inclusive, is_integer);
        }
    }

    /// Writes an exclusive bound as an inclusive one, which is exact for integers.
    ///
    /// Beyond 2^53, a floating point number has no neighbour at a distance of one, so there the
    /// bound is only approximated, like that of a number with a fraction.
    ///
    /// An inclusive bound that is there already stays if it is at least as tight.
    fn include_bound(
        &mut self,
        keywords: &mut NodeKeywords<'t>,
        exclusive: &str,
        inclusive: &'static str,
        is_integer: bool,
    ) {
        let Some(bound) = keywords.data(exclusive).cloned() else { return };
        let Some(number) = bound.as_f64() else { return };
        let is_lower = inclusive == "minimum";
        let is_exact = is_integer && number.abs() < MAX_EXACT;
        let included = match (is_exact, is_lower) {
            (true, true) => whole(number.floor() + 1.0),
            (true, false) => whole(number.ceil() - 1.0),
            (false, _) => Some(bound.clone()),
        };
        let Some(included) = included else { return };
        let place = keywords.place_of(exclusive);
        keywords.take(exclusive);
        // The tighter of two bounds.
        let is_tighter = |own: &Value| match is_lower {
            true => own.as_f64() >= included.as_f64(),
            false => own.as_f64() <= included.as_f64(),
        };
        if !keywords.data(inclusive).is_some_and(is_tighter) {
            if keywords.has(inclusive) {
                let reason = "the other bound is tighter";
                let place = keywords.place_of(inclusive);
                self.record(place, inclusive, ChangeAction::Rewritten, reason);
            }
            keywords.set_data(inclusive, included);
        }
        if is_exact {
            let reason = "for integers an inclusive bound means the same";
            self.record(place, exclusive, ChangeAction::Rewritten, reason);
        } else {
            let words = format!("{} than {bound}", if is_lower { "more" } else { "less" });
            add_words(keywords, &words);
            let (action, words) = (ChangeAction::Widened, Some(words));
            let reason = "the target has inclusive bounds only";
            self.record_words(place, exclusive, action, reason, words);
        }
    }

    /// Lists the integers of a short range where the target does not take its bounds.
    ///
    /// `multipleOf` is applied: of 1 to 10 in steps of 4, it lists 4 and 8. A range without any
    /// integer is left alone.
    ///
    /// Lists at most `MAX_LISTED_RANGE` integers, and only if both ends are bounded. `null` is
    /// listed, too, if the type allows it: otherwise the list would refuse it.
    fn list_range(&mut self, keywords: &mut NodeKeywords<'t>) {
        let refuses_bounds = self.refuses(&facts::MINIMUM_MAXIMUM);
        let refuses_step = keywords.has("multipleOf") && self.refuses(&facts::MULTIPLE_OF);
        if (!refuses_bounds && !refuses_step) || keywords.has("enum") || keywords.has("const") {
            return;
        }
        let number = |name: &str| keywords.data(name).and_then(Value::as_f64);
        let exact = |number: &f64| number.abs() < MAX_EXACT;
        let low =
            [number("minimum").map(f64::ceil), number("exclusiveMinimum").map(|n| n.floor() + 1.0)];
        let high =
            [number("maximum").map(f64::floor), number("exclusiveMaximum").map(|n| n.ceil() - 1.0)];
        let low = low.into_iter().flatten().reduce(f64::max).filter(exact);
        let high = high.into_iter().flatten().reduce(f64::min).filter(exact);
        let (Some(low), Some(high)) = (low, high) else { return };
        let (low, high) = (low as i64, high as i64);
        let step = match keywords.data("multipleOf") {
            None => 1,
            Some(step) => match step.as_i64().filter(|step| *step > 0) {
                Some(step) => step,
                None => return,
            },
        };
        let first = low.div_euclid(step) * step;
        let first = if first < low { first.saturating_add(step) } else { first };
        let count = if first > high { 0 } else { (high - first) / step + 1 };
        if count == 0 || count > MAX_LISTED_RANGE {
            return;
        }
        let mut listed: Vec<Value> = (0..count).map(|n| Value::from(first + n * step)).collect();
        if TypeSet::of(keywords).has(TypeSet::NULL) {
            listed.push(Value::Null);
        }
        let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
        for name in bounds {
            if let Some(keyword) = keywords.take(name) {
                let reason = "the integers in the range are listed";
                self.record(keyword.place, name, ChangeAction::Rewritten, reason);
            }
        }
        keywords.set_data("enum", Value::Array(listed));
    }
}

/// A whole number as JSON, without a fraction.
/// `None` beyond 2^53, where it may not be the number that is meant.
fn whole(number: f64) -> Option<Value> {
    (number.abs() < MAX_EXACT).then(|| Value::Number(Number::from(number as i64)))
}
