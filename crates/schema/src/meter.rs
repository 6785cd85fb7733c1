//! A JSON representation that counts. The validator reads an instance only through its nodes, so
//! counting there meters an evaluation without touching the schema or the validator.
//!
//! When the ticks are spent, the evaluation is left by unwinding with a private payload, which
//! [`metered`] catches; no panic hook runs.

use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp, unique};
use serde_json::{Map, Number, Value};

/// The ticks are spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spent;

/// Ticks left for one evaluation.
pub(crate) struct Meter<'a> {
    left: Cell<u64>,
    root: &'a Value,
    root_values: u64,
    /// Backtracking steps a match may take, where patterns can backtrack.
    match_steps: u64,
}

/// Runs `work` on `instance` with `ticks` to spend. `values` is the number of values in the
/// instance.
pub(crate) fn metered<'a, T>(
    meter: &'a Meter<'a>,
    work: impl FnOnce(Counted<'a>) -> T,
) -> Result<T, Spent> {
    let root = Counted { value: meter.root, meter: Some(meter) };
    catch_unwind(AssertUnwindSafe(|| work(root))).map_err(|payload| {
        payload.downcast::<Spent>().map_or_else(|other| resume_unwind(other), |spent| *spent)
    })
}

impl<'a> Meter<'a> {
    pub(crate) fn new(ticks: u64, instance: &'a Value, values: u64, match_steps: u64) -> Meter<'a> {
        Meter { left: Cell::new(ticks), root: instance, root_values: values, match_steps }
    }

    fn spend(&self, ticks: u64) {
        match self.left.get().checked_sub(ticks) {
            Some(left) => self.left.set(left),
            None => resume_unwind(Box::new(Spent)),
        }
    }

    /// The worst a match against `text` can cost.
    fn spend_match(&self, text: &str) {
        self.spend(1 + match_ticks(self.match_steps, 1, text.len() as u64));
    }
}

/// Worst case of matching `strings` of `bytes` in all with `steps` each: a step may scan the
/// string.
pub(crate) fn match_ticks(steps: u64, strings: u64, bytes: u64) -> u64 {
    steps.saturating_mul(strings.saturating_mul(5).saturating_add(bytes / 8))
}

/// The counting representation.
pub(crate) struct Metered;

/// A value whose readings count. A property name judged by `propertyNames` has no meter; the pass
/// over the names paid for it.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'a> {
    value: &'a Value,
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Counted<'a> {
    fn tick(&self) {
        if let Some(meter) = self.meter {
            meter.spend(1);
        }
    }
}

impl Json for Metered {
    type Node<'a> = Counted<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(
        buffer: &mut Value,
        string: &str,
        f: impl FnOnce(Counted<'_>) -> T,
    ) -> T {
        *buffer = Value::String(string.to_owned());
        f(Counted { value: buffer, meter: None })
    }
}

impl<'a> Node<'a, Metered> for Counted<'a> {
    type Object = Members<'a>;
    type Array = Items<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        self.tick();
        self.value.as_object().map(|members| Members { members, meter: self.meter })
    }

    fn as_array(&self) -> Option<Items<'a>> {
        self.tick();
        self.value.as_array().map(|items| Items { items, meter: self.meter })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.value.as_str()?;
        if let Some(meter) = self.meter {
            meter.spend_match(text);
        }
        Some(Cow::Borrowed(text))
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.tick();
        self.value.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.value.as_bool()
    }

    fn is_null(&self) -> bool {
        self.value.is_null()
    }

    fn json_type(&self) -> JsonType {
        self.tick();
        JsonType::from(self.value)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        self.tick();
        cmp::equal(self.value, expected)
    }

    /// Errors carry no copy of the instance: inside `anyOf` each branch would make one. The message
    /// is written from the path. Only the root is real, because the validator looks into it to
    /// report a match that gave up; it pays for the copy.
    fn to_value(&self) -> Cow<'a, Value> {
        match self.meter {
            Some(meter) if std::ptr::eq(meter.root, self.value) => {
                meter.spend(meter.root_values);
                Cow::Borrowed(self.value)
            }
            Some(meter) => {
                meter.spend(1);
                Cow::Owned(Value::Null)
            }
            None => Cow::Borrowed(self.value),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.value) as usize))
    }
}

/// The properties of a counted object.
pub(crate) struct Members<'a> {
    members: &'a Map<String, Value>,
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Object<'a, Metered> for Members<'a> {
    type Node = Counted<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&self, key: &String) -> Option<Counted<'a>> {
        let value = self.members.get(key)?;
        if let Some(meter) = self.meter {
            meter.spend(1);
        }
        Some(Counted { value, meter: self.meter })
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter { members: self.members.iter(), meter: self.meter }
    }
}

/// Iterates over counted properties; a name may be matched, so it is paid for as one.
pub(crate) struct MembersIter<'a> {
    members: serde_json::map::Iter<'a>,
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Counted<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.members.next()?;
        if let Some(meter) = self.meter {
            meter.spend_match(name);
        }
        Some((name, Counted { value, meter: self.meter }))
    }
}

/// The items of a counted array.
pub(crate) struct Items<'a> {
    items: &'a [Value],
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Array<'a, Metered> for Items<'a> {
    type Node = Counted<'a>;
    type ElementsIter = ItemsIter<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ItemsIter<'a> {
        ItemsIter { items: self.items.iter(), meter: self.meter }
    }

    fn is_unique(&self) -> bool {
        if let Some(meter) = self.meter {
            meter.spend(self.items.len() as u64);
        }
        unique::is_unique(self.items)
    }
}

/// Iterates over counted items.
pub(crate) struct ItemsIter<'a> {
    items: std::slice::Iter<'a, Value>,
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Iterator for ItemsIter<'a> {
    type Item = Counted<'a>;

    fn next(&mut self) -> Option<Counted<'a>> {
        let value = self.items.next()?;
        if let Some(meter) = self.meter {
            meter.spend(1);
        }
        Some(Counted { value, meter: self.meter })
    }
}
