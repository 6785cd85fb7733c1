//! Subschemas that no value matches, by the canonical form that `jsonschema` makes of a schema.
//!
//! The canonical form decides contradictions between any keywords, references and branches. It is
//! costly and cannot be stopped, and schemas come from strangers. So two things limit it:
//! [`may_contradict`], a test of single subschemas that is false for nearly all of them, and the
//! size of the schema. Whatever is too large counts as satisfiable.
//!
//! Not reported: `false`, and `not: {}` alone, which people write to forbid a property, and what is
//! empty only because something inside it, or behind its `$ref`, is: the innermost one is the
//! mistake. `not: {}` beside a type forbids what the type describes, and at the top every call.
//!
//! ```text
//! mistakes: one walk ─ may_contradict? ─ no ──▶ nothing to do          nearly all schemas
//!                           │ yes
//!                           ▼
//! unsatisfiable_subschemas: is_too_large? ─ canonical form ─ innermost ─ describe
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};

use jsonschema::PatternOptions;
use jsonschema::canonical::{self, CanonicalizeOptions, Cause, UnsatisfiableReason};
use referencing::SPECIFICATIONS;
use serde_json::{Map, Value};

use crate::error_message::quoted;
use crate::limits::{
    LARGE_COMPILED_PATTERN_BYTES, MAX_CANONICAL_BRANCHES, MAX_CANONICAL_COMBINATIONS,
    MAX_CANONICAL_VALUES, MAX_DEPTH,
};
use crate::subschema_keywords::{SubschemaTarget, keyword_value};
use crate::{
    Dialect, measure, normalize, pointer, quick_check, resource_registry, stack_space,
    subschema_keywords,
};

/// Bytes of stack for each open subschema. Measured: the hostile tests pass with half of it.
const CANONICAL_FRAME: usize = if cfg!(debug_assertions) { 64 * 1024 } else { 24 * 1024 };

/// Backtracks of one match of a pattern with a value of an `enum`.
const BACKTRACKS: usize = 1_000;

/// A subschema that no value matches.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EmptySubschema {
    /// JSON pointer of the subschema.
    pub schema: String,
    /// JSON pointer of the last keyword, or branch, that takes part in the contradiction.
    pub keyword: String,
    /// The keywords that take part.
    pub reason: String,
}

/// Whether the keywords of one subschema may contradict each other. Rare contradictions between a
/// pattern and a length are missed. Definitions that require a value like themselves are found by
/// `mistakes::recursion`.
///
/// A needless `true` costs the canonical form, a wrong `false` leaves a mistake unreported.
pub(crate) fn may_contradict(members: &Map<String, Value>) -> bool {
    // One look at the names first: most subschemas have a type, a description and nothing else.
    // The loop only counts; each test below looks at the values once it is known to have something
    // to look at.
    let (mut bounds, mut values, mut object, mut array, mut branches) = (0, 0, 0, 0, 0);
    for keyword in members.keys() {
        match keyword.as_str() {
            "enum" | "const" => values += 1,
            "required" | "minProperties" => object += 1,
            "contains" | "minItems" => array += 1,
            "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "then"
            | "else"
            | "$ref"
            | "$dynamicRef"
            | "dependentSchemas"
            | "dependencies"
            | "unevaluatedProperties"
            | "unevaluatedItems" => branches += 1,
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
            | "maxContains" => bounds += 1,
            _ => {}
        }
    }
    (bounds > 0 && has_crossed_bounds(members))
        || (values > 0 && has_doubtful_values(members))
        || (object > 0 && has_doubtful_object(members))
        || (array > 0 && has_doubtful_array(members))
        || (branches > 0 && has_doubtful_branches(members))
}

/// `minimum` above `maximum` and the like.
///
/// Counts are compared pair by pair. Of the four bounds of a number, the tightest two are compared
/// as whole numbers; a number with a fraction between them is left to the canonical form.
fn has_crossed_bounds(members: &Map<String, Value>) -> bool {
    let mut counts: [[Option<f64>; 2]; 4] = Default::default();
    let [mut low, mut above, mut high, mut below] = [None; 4];
    for (keyword, value) in members {
        let bound = match keyword.as_str() {
            "minLength" => &mut counts[0][0],
            "maxLength" => &mut counts[0][1],
            "minItems" => &mut counts[1][0],
            "maxItems" => &mut counts[1][1],
            "minProperties" => &mut counts[2][0],
            "maxProperties" => &mut counts[2][1],
            "minContains" => &mut counts[3][0],
            "maxContains" => &mut counts[3][1],
            "minimum" => &mut low,
            "exclusiveMinimum" => &mut above,
            "maximum" => &mut high,
            "exclusiveMaximum" => &mut below,
            _ => continue,
        };
        *bound = value.as_f64();
    }
    if counts.iter().any(|[low, high]| low.zip(*high).is_some_and(|(low, high)| low > high)) {
        return true;
    }
    // The smallest and the largest whole number between the bounds. If there is one, the bounds do
    // not contradict each other, whatever the type is.
    let least = low.map(f64::ceil).into_iter().chain(above.map(|bound| bound.floor() + 1.0));
    let most = high.map(f64::floor).into_iter().chain(below.map(|bound| bound.ceil() - 1.0));
    let (Some(least), Some(most)) = (least.reduce(f64::max), most.reduce(f64::min)) else {
        return false;
    };
    // Above this, one more or less may be the same number.
    const EXACT: f64 = (1u64 << 53) as f64;
    least > most
        || least.abs().max(most.abs()) >= EXACT
        || keyword_value(members, "multipleOf").is_some()
}

/// Whether the schema has an `enum` or `const` without a value that certainly matches.
///
/// `{"type": "string", "enum": [1]}` has. `{"type": "string", "enum": ["a", 1]}` has not, because
/// its first value matches.
fn has_doubtful_values(members: &Map<String, Value>) -> bool {
    let matches =
        |keyword: &str, value| quick_check::is_certainly_valid_without(members, keyword, value);
    let no_member = match keyword_value(members, "enum") {
        Some(Value::Array(list)) => !list.iter().any(|value| matches("enum", value)),
        _ => false,
    };
    no_member || keyword_value(members, "const").is_some_and(|value| !matches("const", value))
}

/// An object that may require more than it allows: a required property that is `false` or, in a
/// closed object, not declared; or more properties than there can be. `propertyNames` is always
/// doubtful beside required names.
///
/// `{"required": ["a"], "properties": {"b": {}}, "additionalProperties": false}` is one.
fn has_doubtful_object(members: &Map<String, Value>) -> bool {
    let declared = keyword_value(members, "properties").and_then(Value::as_object);
    let required = keyword_value(members, "required").and_then(Value::as_array);
    let required = required.map_or(&[][..], Vec::as_slice);
    let closed = keyword_value(members, "additionalProperties") == Some(&Value::Bool(false))
        && keyword_value(members, "patternProperties").is_none();
    let is_refused = |name: &Value| {
        let own = declared.and_then(|declared| keyword_value(declared, name.as_str()?));
        own.map_or(closed, |own| own == &Value::Bool(false))
    };
    let count = |keyword: &str| keyword_value(members, keyword).and_then(Value::as_u64);
    required.iter().any(is_refused)
        || count("maxProperties").is_some_and(|most| most < required.len() as u64)
        || count("minProperties")
            .is_some_and(|least| closed && least > declared.map_or(0, Map::len) as u64)
        || (keyword_value(members, "propertyNames").is_some()
            && (!required.is_empty() || count("minProperties").is_some()))
        || (!required.is_empty() && has_forbidden_pattern(members))
}

/// Whether properties whose names match some pattern are refused.
fn has_forbidden_pattern(members: &Map<String, Value>) -> bool {
    let patterns = keyword_value(members, "patternProperties").and_then(Value::as_object);
    patterns.is_some_and(|patterns| patterns.values().any(|one| one == &Value::Bool(false)))
}

/// An array that may need items it does not allow. `contains` is always doubtful, and so are two
/// unique items.
fn has_doubtful_array(members: &Map<String, Value>) -> bool {
    let least = keyword_value(members, "minItems").and_then(Value::as_u64).unwrap_or(0);
    let is_closed = |keyword| keyword_value(members, keyword) == Some(&Value::Bool(false));
    keyword_value(members, "contains").is_some()
        || (least > 0 && (is_closed("items") || is_closed("additionalItems")))
        || (least > 1 && keyword_value(members, "uniqueItems") == Some(&Value::Bool(true)))
}

/// Branches or references beside keywords that may contradict them.
///
/// Two common forms are let through because they hardly ever contradict anything: a choice of
/// only `required`, and a choice beside a `type` that its branches repeat.
fn has_doubtful_branches(members: &Map<String, Value>) -> bool {
    let mut branching = None;
    let mut others = 0;
    for (keyword, value) in members {
        match keyword.as_str() {
            "not"
            | "then"
            | "else"
            | "dependentSchemas"
            | "dependencies"
            | "unevaluatedProperties"
            | "unevaluatedItems" => return true,
            // Two of them in one subschema.
            "allOf" | "anyOf" | "oneOf" | "$ref" | "$dynamicRef" if branching.is_some() => {
                return true;
            }
            "allOf" | "anyOf" | "oneOf" | "$ref" | "$dynamicRef" => {
                branching = Some((keyword, value));
            }
            name if restricts_nothing(name) => {}
            _ => others += 1,
        }
    }
    let Some((keyword, value)) = branching else { return false };
    let Value::Array(branches) = value else { return others > 0 };
    // The usual way to demand one of several properties.
    let only_requires = |branch: &Value| {
        branch.as_object().is_some_and(|own| own.len() == 1 && own.contains_key("required"))
    };
    if branches.iter().all(only_requires) {
        return false;
    }
    // A type that the branches repeat.
    let same_type =
        |branch: &Value| branch.get("type").is_none_or(|own| Some(own) == members.get("type"));
    let restates_type =
        others == 1 && members.contains_key("type") && branches.iter().all(same_type);
    match keyword.as_str() {
        "allOf" => branches.len() > 1 || others > 0,
        "oneOf" if branches.len() > 16 => true,
        "oneOf" => {
            let repeated = (1..branches.len()).any(|n| branches[..n].contains(&branches[n]));
            repeated || (others > 0 && !restates_type)
        }
        _ => others > 0 && !restates_type,
    }
}

/// Annotations, identifiers and definitions. An `if` has an effect with `then` or `else` only.
/// An unknown keyword is not among them, and counts as one that may contradict something.
fn restricts_nothing(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "format"
            | "contentEncoding"
            | "contentMediaType"
            | "contentSchema"
            | "if"
            | "definitions"
    ) || keyword.starts_with('$')
        || keyword.starts_with("x-")
}

/// The subschemas of a valid schema that no value matches, as far as that can be decided.
///
/// Empty if the schema is too large, too deep, or the canonical form fails: then nothing is known,
/// and nothing is reported.
pub(crate) fn unsatisfiable_subschemas(schema: &Value, dialect: Dialect) -> Vec<EmptySubschema> {
    let values = measure::measure(schema).values;
    if values > MAX_CANONICAL_VALUES || is_too_large(schema, dialect) {
        return Vec::new();
    }
    let Some(depth) = measure::depth_within(schema, MAX_DEPTH) else { return Vec::new() };
    let Ok(document) = normalize::normalize(Cow::Borrowed(schema), dialect) else {
        return Vec::new();
    };
    // References nest as well, and each value can be one.
    let open = depth.saturating_add(values as usize);
    let found = stack_space::run_with_stack(open.saturating_mul(CANONICAL_FRAME), || {
        // The canonical form is young: a panic of it must not be one of ours.
        catch_unwind(AssertUnwindSafe(|| empty_by_canonical_form(&document, dialect)))
    });
    let Ok(Ok(Some(found))) = found else { return Vec::new() };
    innermost(&document, &found)
}

/// What the canonical form finds empty. `None` if it cannot be made.
/// The keys are pointers of subschemas.
fn empty_by_canonical_form(
    document: &Value,
    dialect: Dialect,
) -> Option<BTreeMap<String, UnsatisfiableReason>> {
    canonical_options(dialect).prepare(document).ok()?.unsatisfiable().ok()
}

/// How a canonical form is made: nothing is fetched, and patterns are limited.
pub(crate) fn canonical_options(dialect: Dialect) -> CanonicalizeOptions<'static> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACKS)
        .size_limit(LARGE_COMPILED_PATTERN_BYTES)
        .dfa_size_limit(LARGE_COMPILED_PATTERN_BYTES);
    canonical::options()
        .offline()
        .with_registry(&SPECIFICATIONS)
        .with_draft(resource_registry::draft_of(dialect))
        .should_validate_formats(false)
        .with_pattern_options(patterns)
}

/// What the subschemas that apply to one value multiply to when they are combined.
#[derive(Default)]
struct ValueChoices {
    /// The product of the numbers of branches.
    product: u64,
    /// The largest of them: one union alone is a sum.
    largest: u64,
    references: usize,
    /// Whether another keyword restricts the value.
    is_restricted: bool,
}

impl ValueChoices {
    /// Adds a union of so many branches.
    fn multiply(&mut self, branches: usize) {
        let branches = branches.max(1) as u64;
        self.product = self.product.max(1).saturating_mul(branches);
        self.largest = self.largest.max(branches);
    }

    /// How many combinations of branches the canonical form would make. The largest union is taken
    /// out: alone it is a sum, which costs as much as it is long.
    fn combinations(&self) -> u64 {
        self.product / self.largest.max(1)
    }
}

/// Whether the canonical form may need too much time and memory.
///
/// The canonical form turns a schema into a union of cases. `allOf` over unions multiplies their
/// branches, and a conditional is a union of two. So the branches that apply to the same value are
/// multiplied, without making a single case:
///
/// ```text
/// {"allOf": [{"anyOf": [A, B, C]}, {"anyOf": [D, E]}]}   3 × 2 / 3 = 2 combinations
/// ```
pub(crate) fn is_too_large(schema: &Value, dialect: Dialect) -> bool {
    // One entry for each value that the schema describes. `allOf` may describe one property
    // several times, so the entry of a property is found by its name.
    let mut choices = vec![ValueChoices::default()];
    // `(group, name)`: the value of that property, or any item, inside the value of the group.
    let mut inner: HashMap<(usize, &str), usize> = HashMap::new();
    let mut branches = 0;
    let mut pending = vec![(schema, 0)];
    while let Some((value, group)) = pending.pop() {
        let Value::Object(members) = value else { continue };
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("anyOf" | "oneOf", Value::Array(list)) => choices[group].multiply(list.len()),
                ("if" | "not", _) => choices[group].multiply(3),
                ("dependentSchemas" | "dependencies", Value::Object(named)) => {
                    named.iter().for_each(|_| choices[group].multiply(2));
                }
                ("$ref" | "$dynamicRef", _) => choices[group].references += 1,
                ("type" | "properties" | "required" | "enum" | "const" | "allOf", _) => {
                    choices[group].is_restricted = true;
                }
                _ => {}
            }
        }
        subschema_keywords::named_subschemas(members, dialect, |child| {
            let to = match child.target {
                SubschemaTarget::SameValue => {
                    branches += 1;
                    group
                }
                SubschemaTarget::Definition => choices.len(),
                SubschemaTarget::ChildValue => {
                    *inner.entry((group, child.name.unwrap_or("[]"))).or_insert(choices.len())
                }
            };
            if to == choices.len() {
                choices.push(ValueChoices::default());
            }
            pending.push((child.value, to));
        });
    }
    // A reference combines what it refers to with what is beside it: then everything counts.
    // Where a reference stands beside something else, its target is expanded in place, so that the
    // branches of different values multiply as well.
    let combines_references = |group: &ValueChoices| {
        group.references > 1 || (group.references == 1 && group.is_restricted)
    };
    let mut all = ValueChoices::default();
    if choices.iter().any(combines_references) {
        for group in &choices {
            all.product = all.product.max(1).saturating_mul(group.product.max(1));
            all.largest = all.largest.max(group.largest);
        }
    }
    choices.push(all);
    branches > MAX_CANONICAL_BRANCHES
        || choices.iter().any(|group| group.combinations() > MAX_CANONICAL_COMBINATIONS)
}

/// The entries that are mistakes themselves and not consequences of another.
///
/// If `/properties/a` is empty and required, the root is empty, too. The canonical form reports
/// both, and only the first is worth a message. Dropped are: what was written to be empty, what is
/// inside a condition, what is empty behind a `$ref` alone, and what has an entry inside.
fn innermost(
    document: &Value,
    found: &BTreeMap<String, UnsatisfiableReason>,
) -> Vec<EmptySubschema> {
    let is_deliberate = |at: &str, reason: &UnsatisfiableReason| match reason {
        UnsatisfiableReason::Conflict(_) => false,
        _ => document.pointer(at).is_some_and(|schema| {
            schema.is_boolean() || (!at.is_empty() && only_refuses_everything(schema))
        }),
    };
    let is_reference = |reason: &UnsatisfiableReason| {
        matches!(reason, UnsatisfiableReason::Empty(cause)
            if cause.keywords.iter().any(|keyword| keyword == "$ref" || keyword == "$dynamicRef"))
    };
    let mistakes: Vec<(&String, &UnsatisfiableReason)> = found
        .iter()
        .filter(|(at, reason)| !is_deliberate(at, reason) && !is_in_condition(at))
        .collect();
    let has_inner = |at: &str| {
        mistakes
            .iter()
            .any(|(other, _)| other.strip_prefix(at).is_some_and(|inside| inside.starts_with('/')))
    };
    let own = || mistakes.iter().filter(|(_, reason)| !is_reference(reason));
    own()
        .filter(|(at, _)| !has_inner(at))
        .map(|(at, reason)| describe(document, at, reason))
        .collect()
}

/// `not: {}` or `not: true`.
///
/// Other keywords may stand beside it.
fn refuses_everything(schema: &Value) -> bool {
    match schema.get("not") {
        Some(Value::Object(members)) => members.is_empty(),
        other => other == Some(&Value::Bool(true)),
    }
}

/// `not: {}` with annotations, and nothing that describes a value.
fn only_refuses_everything(schema: &Value) -> bool {
    let mut keywords = schema.as_object().into_iter().flat_map(Map::keys);
    refuses_everything(schema) && keywords.all(|name| name == "not" || restricts_nothing(name))
}

/// Whether a pointer leads through `not` or `if`, where an empty schema restricts nothing.
///
/// A property that is called `not` is not one: `/properties/not` is a name.
pub(crate) fn is_in_condition(at: &str) -> bool {
    let mut is_name = false;
    at.split('/').any(|token| {
        let is_keyword = !std::mem::take(&mut is_name);
        is_name = is_keyword
            && matches!(
                token,
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            );
        is_keyword && matches!(token, "not" | "if")
    })
}

/// Puts an entry into words.
///
/// A value that is short is quoted: "`minimum` is `5` and `maximum` is `3`". Lists of objects and
/// subschemas are only named.
fn describe(document: &Value, at: &str, reason: &UnsatisfiableReason) -> EmptySubschema {
    if document.pointer(at).is_some_and(refuses_everything) {
        let reason = "`not` refuses every value".to_owned();
        return EmptySubschema { schema: at.to_owned(), keyword: pointer::join(at, "not"), reason };
    }
    let causes: &[Cause] = match reason {
        UnsatisfiableReason::Literal => &[],
        UnsatisfiableReason::Empty(cause) => std::slice::from_ref(cause),
        UnsatisfiableReason::Conflict(causes) => causes,
    };
    let (mut parts, mut unquoted) = (Vec::new(), Vec::new());
    for cause in causes {
        let inside = cause.pointer.strip_prefix(at).unwrap_or(&cause.pointer);
        let place = if inside.is_empty() { String::new() } else { format!(" at `{inside}`") };
        // The branch is `false`, or as good as that.
        if cause.keywords.is_empty() && !inside.is_empty() {
            parts.push(format!("nothing matches `{inside}`"));
        }
        for keyword in &cause.keywords {
            let value = document.pointer(&pointer::join(&cause.pointer, keyword));
            match value {
                // Too long to be quoted.
                Some(Value::Object(_)) | None => unquoted.push(format!("`{keyword}`{place}")),
                Some(Value::Array(list)) if list.iter().any(Value::is_object) => {
                    unquoted.push(format!("`{keyword}`{place}"));
                }
                Some(Value::Array(list)) if list.is_empty() => {
                    parts.push(format!("`{keyword}`{place} is empty"));
                }
                Some(value) => parts.push(format!("`{keyword}`{place} is {}", quoted(value))),
            }
        }
    }
    parts.dedup();
    unquoted.dedup();
    match parts.as_mut_slice() {
        [] => parts = unquoted,
        [only] if !unquoted.is_empty() => {
            only.push_str(&format!(", which contradicts {}", unquoted.join(" and ")));
        }
        // They say enough.
        _ => {}
    }
    let keyword = causes.last().map_or_else(
        || at.to_owned(),
        |cause| match cause.keywords.last() {
            Some(keyword) => pointer::join(&cause.pointer, keyword),
            None => cause.pointer.clone(),
        },
    );
    let reason = match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => parts.concat(),
    };
    EmptySubschema { schema: at.to_owned(), keyword, reason }
}
