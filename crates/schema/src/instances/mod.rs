//! Values made for a schema: its smallest instances, and values at the edge of one keyword.
//!
//! ```text
//! schema ─ alternatives ─▶ flat schemas: no `$ref`, `allOf`, `anyOf`, `oneOf`, `if` at the top
//!                              │ smallest           one instance of a flat schema
//!                              └ values_at_edge     values around what a keyword demands
//! ```
//!
//! Everything here is a proposal: a value may fail the schema (`not`, two patterns, crossed
//! bounds), so callers let the validator judge each. What cannot be built is left out. The work is
//! counted, and limited by depth, by the number of alternatives and by the size of a value.
//!
//! Deliberately absent: random values, and draft-07. A schema of draft-07 is rewritten first
//! (`comparison/upgrade.rs`).
//!
//! The caller is `comparison`, which looks for a value that tells two schemas apart. It starts from
//! these values instead of random ones, because values near a keyword are the ones that show its
//! effect.

mod edges;
mod flat_schema;

use std::cell::Cell;
use std::rc::Rc;

use serde_json::{Value, json};

pub(crate) use self::flat_schema::FlatSchema;
use self::flat_schema::{
    MAX_ALTERNATIVES, count, has_type, is_flat_assertion, item_schema, number, object, product,
    strings, types_of,
};
use crate::{Schema, measure, pointer};

/// References and branches followed in place, and nested values built.
const MAX_NESTING: usize = 12;

/// Characters of a string that is built.
const MAX_TEXT: u64 = 1 << 17;

/// Items of an array, and members of an object, that are built.
const MAX_MEMBERS: u64 = 1_000;

/// Items of a tuple that are looked into.
const MAX_TUPLE: usize = 64;

/// Values of schemas that one builder looks at, each as often as it is looked at.
const MAX_WORK: u64 = 40_000;

/// Builds values for the schemas of one document.
pub(crate) struct InstanceBuilder<'a> {
    /// The document that references are resolved in.
    root: &'a Value,
    /// What is left of [`MAX_WORK`]. Without any, nothing more is built.
    work: Cell<u64>,
}

impl<'a> InstanceBuilder<'a> {
    /// A builder with all of its budget. The budget is shared by everything that it builds.
    pub(crate) fn new(root: &'a Value) -> InstanceBuilder<'a> {
        InstanceBuilder { root, work: Cell::new(MAX_WORK) }
    }

    /// The flat schemas whose union is the schema, as far as keywords can be merged.
    pub(crate) fn alternatives(&self, schema: &Value) -> Vec<FlatSchema> {
        self.expand(schema, MAX_NESTING)
    }

    /// The flat schemas of `schema`, with references and branches followed up to `depth`.
    ///
    /// Starts with the keywords of the schema itself, then multiplies with each applicator in turn:
    ///
    /// ```text
    /// own × $ref × allOf × (anyOf) × (oneOf) × (if and then, or else) × dependentSchemas
    /// ```
    ///
    /// A list in brackets is a union. `oneOf` counts as `anyOf`, and `else` stands without the
    /// negated condition: both let values in that the schema refuses, which the validator finds out
    /// later.
    fn expand(&self, schema: &Value, depth: usize) -> Vec<FlatSchema> {
        let cost = measure::measure(schema).values;
        // Schemas that refer to each other are looked at once per way that leads to them.
        let Some(left) = self.work.get().checked_sub(cost) else {
            self.work.set(0);
            return Vec::new();
        };
        self.work.set(left);
        let members = match schema {
            Value::Bool(false) => return Vec::new(),
            Value::Object(members) => members,
            _ => return vec![FlatSchema::new()],
        };
        let own = members.iter().filter(|(keyword, _)| is_flat_assertion(keyword));
        let own: FlatSchema = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut found = vec![own];
        if depth == 0 {
            return found;
        }
        let branches = |keyword: &str| members.get(keyword).and_then(Value::as_array);
        for reference in ["$ref", "$dynamicRef"] {
            if let Some(target) = members.get(reference).and_then(|target| self.resolve(target)) {
                found = product(&found, &self.expand(target, depth - 1));
            }
        }
        for branch in branches("allOf").into_iter().flatten() {
            found = product(&found, &self.expand(branch, depth - 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(list) = branches(keyword) {
                let union = list.iter().take(MAX_ALTERNATIVES);
                let union: Vec<_> = union.flat_map(|one| self.expand(one, depth - 1)).collect();
                found = product(&found, &union);
            }
        }
        if let Some(condition) = members.get("if") {
            let branch = |keyword| members.get(keyword).unwrap_or(&Value::Bool(true));
            let mut cases = product(
                &self.expand(condition, depth - 1),
                &self.expand(branch("then"), depth - 1),
            );
            cases.extend(self.expand(branch("else"), depth - 1));
            found = product(&found, &cases);
        }
        for (trigger, dependent) in object(members, "dependentSchemas").into_iter().flatten() {
            let mut present = FlatSchema::new();
            present.insert("required".to_owned(), json!([trigger]));
            let mut cases = vec![FlatSchema::new()];
            cases.extend(product(&[present], &self.expand(dependent, depth - 1)));
            found = product(&found, &cases);
        }
        found
    }

    /// The schema that a reference inside of the document leads to.
    ///
    /// `None` for an anchor and for a reference to another document: the caller goes on without it.
    fn resolve(&self, target: &Value) -> Option<&'a Value> {
        let at = target.as_str()?.strip_prefix('#')?;
        // Names with a `%` are rare; without the schema they refer to, values are only less apt.
        if at.is_empty() || at.starts_with('/') { self.root.pointer(at) } else { None }
    }

    /// A small instance of the schema.
    ///
    /// `None` if the depth or the budget is used up, or no type is possible. What is returned may
    /// still fail the schema; see the header of the file.
    pub(crate) fn smallest(&self, schema: &Value) -> Option<Value> {
        self.smallest_within(schema, MAX_NESTING)
    }

    /// [`Self::smallest`] with `depth` levels left. The first alternative that can be built is
    /// taken.
    fn smallest_within(&self, schema: &Value, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        let flats = self.expand(schema, depth);
        let mut found = flats.iter().filter_map(|flat| self.smallest_flat_within(flat, depth));
        let first = found.next()?;
        if !may_match_several(schema, &flats, &first) {
            return Some(first);
        }
        let Ok(compiled) = Schema::compile(schema) else { return Some(first) };
        let is_valid = |value: &Value| compiled.is_valid(value);
        match is_valid(&first) {
            true => Some(first),
            false => found.find(is_valid).or(Some(first)),
        }
    }

    /// A small instance of a flat schema.
    pub(crate) fn smallest_flat(&self, flat: &FlatSchema) -> Option<Value> {
        self.smallest_flat_within(flat, MAX_NESTING)
    }

    /// A listed value if there is one, else a value of the first possible type.
    fn smallest_flat_within(&self, flat: &FlatSchema, depth: usize) -> Option<Value> {
        let types = types_of(flat);
        if let Some(value) = flat.get("const") {
            return Some(value.clone());
        }
        if let Some(listed) = flat.get("enum").and_then(Value::as_array) {
            return listed.iter().find(|value| has_type(value, &types)).cloned();
        }
        types.iter().find_map(|name| match *name {
            "null" => Some(Value::Null),
            "boolean" => Some(Value::Bool(true)),
            "integer" | "number" => smallest_number(flat, *name == "integer"),
            "string" => smallest_text(flat),
            "array" => self.smallest_array(flat, depth),
            _ => self.smallest_object(flat, depth).map(Value::Object),
        })
    }

    /// The shortest array that `minItems` and `contains` allow.
    fn smallest_array(&self, flat: &FlatSchema, depth: usize) -> Option<Value> {
        let contains = flat.get("contains").map_or(0, |_| count(flat, "minContains").unwrap_or(1));
        let length = count(flat, "minItems").unwrap_or(0).max(contains);
        self.array_of_length(flat, length, depth)
    }

    /// An array of `length` items; the first ones match `contains`.
    fn array_of_length(&self, flat: &FlatSchema, length: u64, depth: usize) -> Option<Value> {
        if length > MAX_MEMBERS {
            return None;
        }
        let contains = flat.get("contains").map_or(0, |_| count(flat, "minContains").unwrap_or(1));
        let unique = flat.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        for index in 0..length as usize {
            let own = item_schema(flat, index);
            let wanted = match flat.get("contains") {
                Some(wanted) if (index as u64) < contains => wanted,
                _ => own,
            };
            let mut item = self.smallest_within(wanted, depth)?;
            // `uniqueItems`, and the smallest instance is there already.
            if unique && items.contains(&item) {
                item = self.another(wanted, &items, depth)?;
            }
            items.push(item);
        }
        Some(Value::Array(items))
    }

    /// An instance of the schema that is not among `taken`, for arrays with `uniqueItems`.
    ///
    /// Tries what is listed, then a value made from the number of taken ones: a larger number, a
    /// longer text or list, an object that differs in its first property.
    ///
    /// An array of distinct items would otherwise repeat the smallest instance, and be refused for
    /// that reason instead of the one that is looked for.
    fn another(&self, schema: &Value, taken: &[Value], depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        for flat in self.expand(schema, depth) {
            let listed = flat.get("enum").and_then(Value::as_array);
            let listed = listed.into_iter().flatten().cloned();
            let nth = taken.len() as u64;
            let types = types_of(&flat);
            let made = types.iter().filter_map(|name| match *name {
                "integer" | "number" => {
                    let step = number(&flat, "multipleOf").unwrap_or(1.0);
                    let first = smallest_number(&flat, *name == "integer")?.as_f64()?;
                    Some(json_number(first + step * nth as f64))
                }
                "string" => {
                    let first = smallest_text(&flat)?;
                    Some(format!("{}{nth}", first.as_str()?).into())
                }
                "boolean" => Some(Value::Bool(false)),
                "array" => self.array_of_length(&flat, nth + 1, depth),
                "object" => {
                    let mut built = self.smallest_object(&flat, depth)?;
                    // The first property whose value can differ.
                    let (name, inner) = object(&flat, "properties")?.iter().next()?;
                    let others: Vec<Value> =
                        taken.iter().filter_map(|one| one.get(name)).cloned().collect();
                    built.insert(name.clone(), self.another(inner, &others, depth)?);
                    Some(Value::Object(built))
                }
                _ => None,
            });
            // A made value is not in the list, so it would not be an instance.
            let open = if flat.contains_key("enum") || flat.contains_key("const") { 0 } else { 8 };
            let fresh = listed.chain(made.take(open)).find(|value| !taken.contains(value));
            if fresh.is_some() {
                return fresh;
            }
        }
        None
    }

    /// An object with the required properties and no others, as far as `minProperties` allows.
    fn smallest_object(&self, flat: &FlatSchema, depth: usize) -> Option<FlatSchema> {
        let mut built = FlatSchema::new();
        let mut wanted: Vec<&str> = strings(flat.get("required")).collect();
        let mut next = 0;
        // `dependentRequired` may add names while the list is worked off.
        while let Some(name) = wanted.get(next).copied() {
            next += 1;
            if built.contains_key(name) {
                continue;
            }
            let value = self.smallest_within(self.member_schema(flat, name), depth)?;
            built.insert(name.to_owned(), value);
            let dependent = object(flat, "dependentRequired").and_then(|all| all.get(name));
            wanted.extend(strings(dependent));
        }
        self.fill(flat, built, count(flat, "minProperties").unwrap_or(0), depth)
    }

    /// Adds members until there are `length`: declared ones first, then others.
    ///
    /// `None` if one of them cannot be built, or for more than `MAX_MEMBERS`.
    fn fill(
        &self,
        flat: &FlatSchema,
        mut built: FlatSchema,
        length: u64,
        depth: usize,
    ) -> Option<FlatSchema> {
        if length > MAX_MEMBERS {
            return None;
        }
        let declared = object(flat, "properties").into_iter().flatten();
        for (name, own) in declared {
            if (built.len() as u64) < length
                && !built.contains_key(name)
                && let Some(value) = self.smallest_within(own, depth)
            {
                built.insert(name.clone(), value);
            }
        }
        for number in built.len() as u64..length {
            let name = format!("{}{number}", self.fresh_name(flat));
            let value = self.smallest_within(self.member_schema(flat, &name), depth)?;
            built.insert(name, value);
        }
        Some(built)
    }

    /// The schema of a member. Patterns of names are not matched here: that the name was made for
    /// the pattern is the usual case.
    ///
    /// That of the property, else `additionalProperties`.
    fn member_schema<'s>(&self, flat: &'s FlatSchema, name: &str) -> &'s Value {
        object(flat, "properties")
            .and_then(|declared| declared.get(name))
            .or_else(|| flat.get("additionalProperties"))
            .unwrap_or(&Value::Bool(true))
    }

    /// A name that `properties` does not declare.
    ///
    /// Matches `propertyNames` as far as its smallest instance does; the letters added to make it
    /// new may break that.
    fn fresh_name(&self, flat: &FlatSchema) -> String {
        let named = flat.get("propertyNames").and_then(|names| self.smallest(names));
        let mut name = named.and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default();
        if name.is_empty() {
            name.push('z');
        }
        let declared = object(flat, "properties");
        while declared.is_some_and(|declared| declared.contains_key(&name)) && name.len() < 200 {
            name.push('z');
        }
        name
    }

    /// The values inside an instance of `flat` that have schemas of their own: the schema, and how
    /// a value for it is put into a small instance of `flat`.
    ///
    /// This is how a walk goes down: it makes values for the subschema, and `place` puts each into
    /// an instance of the whole, which can then be judged.
    pub(crate) fn members<'s>(&self, flat: &'s FlatSchema) -> Vec<SchemaMember<'s>> {
        let mut found = Vec::new();
        let object_base = || self.smallest_object(flat, MAX_NESTING).unwrap_or_default();
        let named = ["properties", "patternProperties"];
        if named.iter().chain(["additionalProperties"].iter()).any(|key| flat.contains_key(*key)) {
            let base = Rc::new(object_base());
            for (name, schema) in object(flat, "properties").into_iter().flatten() {
                let place = MemberPlace::Property(Rc::clone(&base), name.clone());
                let path = pointer::join("/properties", name);
                found.push(SchemaMember { path, schema, place });
            }
            for (pattern, schema) in object(flat, "patternProperties").into_iter().flatten() {
                if let Some(name) = jsonschema_regex::pattern_witness(pattern) {
                    let place = MemberPlace::Property(Rc::clone(&base), name);
                    let path = pointer::join("/patternProperties", pattern);
                    found.push(SchemaMember { path, schema, place });
                }
            }
            for keyword in ["additionalProperties", "unevaluatedProperties"] {
                if let Some(schema) = flat.get(keyword).filter(|schema| schema.is_object()) {
                    let place = MemberPlace::Property(Rc::clone(&base), self.fresh_name(flat));
                    found.push(SchemaMember { path: format!("/{keyword}"), schema, place });
                }
            }
        }
        // The other items have to match, too, or the array would be refused for another reason.
        let array_base = |length: usize| {
            let least = count(flat, "minItems").unwrap_or(0).max(length as u64);
            match self.array_of_length(flat, least, MAX_NESTING) {
                Some(Value::Array(items)) => items,
                _ => vec![Value::Null; length],
            }
        };
        let tuple =
            flat.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (index, schema) in tuple.iter().enumerate().take(MAX_TUPLE) {
            let place = MemberPlace::Item(array_base(index + 1).into(), index);
            found.push(SchemaMember { path: format!("/prefixItems/{index}"), schema, place });
        }
        for keyword in ["items", "contains", "unevaluatedItems"] {
            if let Some(schema) = flat.get(keyword).filter(|schema| schema.is_object()) {
                let place = MemberPlace::Item(array_base(tuple.len() + 1).into(), tuple.len());
                found.push(SchemaMember { path: format!("/{keyword}"), schema, place });
            }
        }
        if let Some(schema) = flat.get("not") {
            let place = MemberPlace::Whole;
            found.push(SchemaMember { path: "/not".to_owned(), schema, place });
        }
        found
    }
}

/// A subschema of a flat schema, and the place of its values in an instance.
///
/// Made by `InstanceBuilder::members`.
pub(crate) struct SchemaMember<'s> {
    /// JSON pointer below the flat schema, which finds the same subschema in another.
    pub path: String,
    pub schema: &'s Value,
    pub place: MemberPlace,
}

/// Where a value goes in the instance around it.
pub(crate) enum MemberPlace {
    Property(Rc<FlatSchema>, String),
    Item(Rc<[Value]>, usize),
    /// It is the instance: the subschema applies in place.
    Whole,
}

impl MemberPlace {
    /// The instance around `value`.
    pub(crate) fn plant(&self, value: Value) -> Value {
        match self {
            MemberPlace::Property(base, name) => {
                let mut object = FlatSchema::clone(base);
                object.insert(name.clone(), value);
                Value::Object(object)
            }
            MemberPlace::Item(base, index) => {
                let mut items = base.to_vec();
                if let Some(item) = items.get_mut(*index) {
                    *item = value;
                } else {
                    items.push(value);
                }
                Value::Array(items)
            }
            MemberPlace::Whole => value,
        }
    }
}

/// Whether a value for one branch of `oneOf` may match another one, too, so that it is none of the
/// whole. Branches of different types are the usual case.
fn may_match_several(schema: &Value, flats: &[FlatSchema], value: &Value) -> bool {
    let is_choice = schema.as_object().is_some_and(|members| members.contains_key("oneOf"));
    is_choice && flats.iter().filter(|flat| has_type(value, &types_of(flat))).nth(1).is_some()
}

/// The text with its last character repeated until it is `length` characters long.
///
/// `None` above `MAX_TEXT`. A longer text is returned as it is.
fn padded(text: &str, length: u64) -> Option<String> {
    if length > MAX_TEXT {
        return None;
    }
    let missing = (length as usize).saturating_sub(text.chars().count());
    let last = text.chars().next_back().unwrap_or('a');
    let mut longer = text.to_owned();
    longer.extend(std::iter::repeat_n(last, missing));
    Some(longer)
}

/// A text that matches the pattern, made longer for `minLength`. The two may contradict each other.
fn smallest_text(flat: &FlatSchema) -> Option<Value> {
    let pattern = flat.get("pattern").and_then(Value::as_str);
    let text = pattern.and_then(jsonschema_regex::pattern_witness).unwrap_or_default();
    let least = count(flat, "minLength").unwrap_or(0);
    padded(&text, least).map(Value::from)
}

/// The first number that keeps the bounds and is a multiple, among zero, one and a few near the
/// bounds.
///
/// `None` if no candidate fits, such as with crossed bounds.
fn smallest_number(flat: &FlatSchema, integer: bool) -> Option<Value> {
    let step = number(flat, "multipleOf").filter(|step| *step > 0.0);
    let step = step.or(integer.then_some(1.0));
    let above = number(flat, "exclusiveMinimum");
    let below = number(flat, "exclusiveMaximum");
    let low = [number(flat, "minimum"), above].into_iter().flatten().reduce(f64::max);
    let high = [number(flat, "maximum"), below].into_iter().flatten().reduce(f64::min);
    let fits = |value: f64| {
        low.is_none_or(|low| value >= low)
            && high.is_none_or(|high| value <= high)
            && above != Some(value)
            && below != Some(value)
    };
    let mut near = vec![0.0, 1.0];
    for edge in [low, high].into_iter().flatten() {
        let step = step.unwrap_or(1.0);
        let aligned = (edge / step).ceil() * step;
        near.extend([edge, aligned, aligned + step, aligned - step, aligned - 2.0 * step]);
    }
    near.extend(low.zip(high).map(|(low, high)| (low + high) / 2.0));
    let whole = |value: &f64| step.is_none_or(|step| (value / step).fract() == 0.0);
    near.into_iter().filter(whole).find(|value| fits(*value)).map(json_number)
}

/// A number as JSON spells it: without a fraction where it has none.
fn json_number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT { json!(value as i64) } else { json!(value) }
}
