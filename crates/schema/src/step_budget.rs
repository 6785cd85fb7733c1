//! A step budget for one validation.
//!
//! `jsonschema` has no way to stop an evaluation, but it reads an instance only through the traits
//! `Json`, `Node`, `Object` and `Array`. This file implements them for a representation that
//! counts: each read takes a step from a [`StepBudget`], so neither the schema nor `jsonschema` has
//! to be changed.
//!
//! ```text
//! run_within(budget) ─▶ Validator<BudgetedJson> ─ as_object(), get(), … ─▶ BudgetedNode ─▶ &Value
//!        ▲                                                                      │ one step each
//!        └─────────────── unwinds with BudgetExhausted at zero ◀────────────────┘
//! ```
//!
//! The traits have no way to return an error, so an exhausted budget unwinds the stack with a
//! private payload, which [`run_within`] catches. `resume_unwind` starts it, which runs no panic
//! hook: nothing is printed.

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp, unique};
use serde_json::{Map, Number, Value};

/// The evaluation took more steps than its budget holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BudgetExhausted;

/// The steps left for one evaluation of one instance.
pub(crate) struct StepBudget<'a> {
    /// A `Cell`, because the traits hand out shared references; an evaluation has one thread.
    left: Cell<u64>,
    /// The instance that is evaluated.
    root: &'a Value,
    /// Values in the instance: the cost of a copy of it.
    root_values: u64,
    /// Backtracks that a match may take; 0 where every pattern is matched in linear time.
    backtracks: u64,
}

/// Evaluates the instance of `budget` with `work`.
///
/// # Errors
/// The budget did not suffice. Any other panic of `work` continues.
pub(crate) fn run_within<'a, T>(
    budget: &'a StepBudget<'a>,
    work: impl FnOnce(BudgetedNode<'a>) -> T,
) -> Result<T, BudgetExhausted> {
    let root = BudgetedNode { value: budget.root, budget: Some(budget) };
    // Unwind safe: after an unwind, the only state that outlives `work` is the budget's counter.
    catch_unwind(AssertUnwindSafe(|| work(root))).map_err(|payload| {
        payload.downcast::<BudgetExhausted>().map_or_else(|other| resume_unwind(other), |own| *own)
    })
}

impl<'a> StepBudget<'a> {
    /// `steps` for evaluating `instance`, which holds `values` values.
    ///
    /// A budget is for one evaluation and is not refilled.
    pub(crate) fn new(
        steps: u64,
        instance: &'a Value,
        values: u64,
        backtracks: u64,
    ) -> StepBudget<'a> {
        StepBudget { left: Cell::new(steps), root: instance, root_values: values, backtracks }
    }

    /// Takes steps, or unwinds to [`run_within`] if there are not enough.
    fn spend(&self, steps: u64) {
        match self.left.get().checked_sub(steps) {
            Some(left) => self.left.set(left),
            None => resume_unwind(Box::new(BudgetExhausted)),
        }
    }

    /// Spends the worst case of matching `text`. Reading a string does not reveal whether it is
    /// going to be matched against a pattern, so every read pays for a match.
    fn spend_match(&self, text: &str) {
        self.spend(1 + worst_match_steps(self.backtracks, 1, text.len() as u64));
    }
}

/// Worst case of matching `strings`, which have `bytes` in all, with `backtracks` each: each
/// backtrack has a fixed cost and may scan the string.
///
/// A bound and not a measurement; 0 if patterns take linear time.
pub(crate) fn worst_match_steps(backtracks: u64, strings: u64, bytes: u64) -> u64 {
    backtracks.saturating_mul(strings.saturating_mul(5).saturating_add(bytes / 8))
}

/// The representation whose reads are counted.
pub(crate) struct BudgetedJson;

/// A value whose reads are counted. A property name that `propertyNames` evaluates is a temporary
/// value without a budget; iterating over the names has paid for it.
#[derive(Clone, Copy)]
pub(crate) struct BudgetedNode<'a> {
    value: &'a Value,
    budget: Option<&'a StepBudget<'a>>,
}

impl BudgetedNode<'_> {
    /// Nothing is spent for a temporary value.
    fn spend_one(&self) {
        if let Some(budget) = self.budget {
            budget.spend(1);
        }
    }
}

impl Json for BudgetedJson {
    type Node<'a> = BudgetedNode<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    /// A property name as a node, for `propertyNames`.
    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        f: impl FnOnce(BudgetedNode<'_>) -> T,
    ) -> T {
        *buffer = Value::String(string.to_owned());
        f(BudgetedNode { value: buffer, budget: None })
    }
}

impl<'a> Node<'a, BudgetedJson> for BudgetedNode<'a> {
    type Object = BudgetedObject<'a>;
    type Array = BudgetedArray<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<BudgetedObject<'a>> {
        self.spend_one();
        self.value.as_object().map(|members| BudgetedObject { members, budget: self.budget })
    }

    fn as_array(&self) -> Option<BudgetedArray<'a>> {
        self.spend_one();
        self.value.as_array().map(|items| BudgetedArray { items, budget: self.budget })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.value.as_str()?;
        if let Some(budget) = self.budget {
            budget.spend_match(text);
        }
        Some(Cow::Borrowed(text))
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.spend_one();
        self.value.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.value.as_bool()
    }

    fn is_null(&self) -> bool {
        self.value.is_null()
    }

    fn json_type(&self) -> JsonType {
        self.spend_one();
        JsonType::from(self.value)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        // One step, however large: the comparison ends where the schema's own value ends.
        self.spend_one();
        cmp::equal(self.value, expected)
    }

    /// The copy of a value for an error. Inside `anyOf` each branch would make one, so errors get
    /// `null` instead, and messages are written from the path. Only the root is real, because
    /// `jsonschema` reads it again to report a match that gave up; it costs a step per value.
    fn to_value(&self) -> Cow<'a, Value> {
        match self.budget {
            Some(budget) if std::ptr::eq(budget.root, self.value) => {
                budget.spend(budget.root_values);
                Cow::Borrowed(self.value)
            }
            Some(budget) => {
                budget.spend(1);
                Cow::Owned(Value::Null)
            }
            None => Cow::Borrowed(self.value),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.value) as usize))
    }
}

/// An object whose reads are counted.
pub(crate) struct BudgetedObject<'a> {
    members: &'a Map<String, Value>,
    budget: Option<&'a StepBudget<'a>>,
}

impl<'a> Object<'a, BudgetedJson> for BudgetedObject<'a> {
    type Node = BudgetedNode<'a>;
    type MemberName = &'a str;
    type MembersIter = BudgetedMembers<'a>;

    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&self, key: &String) -> Option<BudgetedNode<'a>> {
        // Also where the property is absent: a list of required names makes an error of each.
        if let Some(budget) = self.budget {
            budget.spend(1);
        }
        let value = self.members.get(key)?;
        Some(BudgetedNode { value, budget: self.budget })
    }

    fn members(&self) -> BudgetedMembers<'a> {
        BudgetedMembers { members: self.members.iter(), budget: self.budget }
    }
}

/// Iterates over the properties of an object. A name costs a match, because `patternProperties`
/// may match it.
pub(crate) struct BudgetedMembers<'a> {
    members: serde_json::map::Iter<'a>,
    budget: Option<&'a StepBudget<'a>>,
}

impl<'a> Iterator for BudgetedMembers<'a> {
    type Item = (&'a str, BudgetedNode<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.members.next()?;
        if let Some(budget) = self.budget {
            budget.spend_match(name);
        }
        Some((name, BudgetedNode { value, budget: self.budget }))
    }
}

/// An array whose reads are counted.
pub(crate) struct BudgetedArray<'a> {
    items: &'a [Value],
    budget: Option<&'a StepBudget<'a>>,
}

impl<'a> Array<'a, BudgetedJson> for BudgetedArray<'a> {
    type Node = BudgetedNode<'a>;
    type ElementsIter = BudgetedItems<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> BudgetedItems<'a> {
        BudgetedItems { items: self.items.iter(), budget: self.budget }
    }

    /// One step per item. A schema with `uniqueItems` never takes the direct route
    /// (`CostProfile::compares_values`), so the instance was measured before.
    fn is_unique(&self) -> bool {
        if let Some(budget) = self.budget {
            budget.spend(self.items.len() as u64);
        }
        unique::is_unique(self.items)
    }
}

/// Iterates over the items of an array.
pub(crate) struct BudgetedItems<'a> {
    items: std::slice::Iter<'a, Value>,
    budget: Option<&'a StepBudget<'a>>,
}

impl<'a> Iterator for BudgetedItems<'a> {
    type Item = BudgetedNode<'a>;

    fn next(&mut self) -> Option<BudgetedNode<'a>> {
        let value = self.items.next()?;
        if let Some(budget) = self.budget {
            budget.spend(1);
        }
        Some(BudgetedNode { value, budget: self.budget })
    }
}
