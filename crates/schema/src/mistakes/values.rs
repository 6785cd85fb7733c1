//! Values under `default`, `enum` and `examples` against the subschema they belong to.
//!
//! A subschema that holds references cannot be compiled alone: it is compiled as a reference into
//! the whole document, which gets an address for that. The work is counted in values of compiled
//! schemas, and what exceeds the budget is not examined.
//!
//! ```text
//! {"type": "integer", "default": "5"}      a mistake: the default does not match
//! {"type": "string", "enum": ["a", 1]}     a mistake: 1 cannot be sent
//! {"type": "string", "enum": [1, 2]}       not one of these: nothing matches (satisfiability)
//! ```

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::MistakeKind;
use super::walk::ValueCandidate;
use crate::{Dialect, Schema, ValidationErrors, measure, pointer};

/// Values of schemas that are compiled for one document.
const COMPILED_VALUES: u64 = 50_000;

/// The address of the document inside of the schema that is compiled.
const ADDRESS: &str = "https://toolwright.invalid/schema";

/// The most values of one list that are examined.
const MAX_LISTED: usize = 200;

/// Examines `candidates`, and reports with the pointer of the subschema, the mistake and its place.
///
/// The walk has let everything through that is certainly right, so most documents have no candidate
/// and nothing is compiled.
pub(super) fn check(
    document: &Value,
    dialect: Dialect,
    candidates: &[ValueCandidate<'_>],
    report: &mut dyn FnMut(&str, MistakeKind, String),
) {
    if candidates.is_empty() {
        return;
    }
    let schemas: Vec<&Value> = candidates.iter().map(|candidate| candidate.schema).collect();
    let whole = measure::measure(document).values;
    let mut left = COMPILED_VALUES;
    for (candidate, at) in candidates.iter().zip(pointer::pointers_to(document, &schemas)) {
        let Some(at) = at else { continue };
        let Value::Object(members) = candidate.schema else { continue };
        // The end of the budget ends the examination: to measure the other candidates is work, too.
        let Some(rest) = left.checked_sub(measure::measure(candidate.schema).values) else {
            return;
        };
        // Compiled with the whole document, a candidate costs as much as the document.
        let alone = !has_references(candidate.schema);
        let Some(rest) = rest.checked_sub(if alone { 0 } else { whole }) else { return };
        left = rest;
        let Some(schema) = compile(document, dialect, members, &at, candidate.keyword, alone)
        else {
            continue;
        };
        check_keyword(candidate, members, &schema, &at, report);
    }
}

/// Examines the values of one keyword of one subschema.
///
/// `null` as the default of an optional property is marked: many generators write it for "not
/// given", so the rule only reports a note.
///
/// Of each value the first error is reported, with the place inside of the value in the text.
fn check_keyword(
    candidate: &ValueCandidate<'_>,
    members: &Map<String, Value>,
    schema: &Schema,
    at: &str,
    report: &mut dyn FnMut(&str, MistakeKind, String),
) {
    let keyword = candidate.keyword;
    let place = pointer::join(at, keyword);
    let mut report_value = |value: &Value, errors: &ValidationErrors, place: String| {
        let is_null_default = keyword == "default" && value.is_null() && !candidate.is_required;
        let first = errors.first();
        let reason = match first.instance_path.as_str() {
            "" => first.message.clone(),
            inside => format!("{} (at `{inside}`)", first.message),
        };
        report(at, MistakeKind::InvalidValue { keyword, reason, is_null_default }, place);
    };
    match members.get(keyword) {
        Some(Value::Array(list)) if keyword != "default" => {
            let failed: Vec<(usize, ValidationErrors)> = list
                .iter()
                .take(MAX_LISTED)
                .enumerate()
                .filter_map(|(n, value)| Some((n, schema.validate(value).err()?)))
                .collect();
            // An `enum` without any valid member is a contradiction, which is reported as one.
            if keyword == "enum" && failed.len() == list.len() {
                return;
            }
            for (n, errors) in failed {
                report_value(&list[n], &errors, pointer::join(&place, &n.to_string()));
            }
        }
        Some(value) => {
            if let Err(errors) = schema.validate(&with_inner_defaults(members, value)) {
                report_value(value, &errors, place);
            }
        }
        None => {}
    }
}

/// A default object together with the defaults of the properties it leaves out: generators that
/// describe results list such properties as required.
///
/// `{"a": {}}` with a default of 1 for `b` is judged as `{"a": {}, "b": 1}`.
fn with_inner_defaults<'v>(members: &Map<String, Value>, value: &'v Value) -> Cow<'v, Value> {
    let (Value::Object(given), Some(Value::Object(declared))) = (value, members.get("properties"))
    else {
        return Cow::Borrowed(value);
    };
    let mut filled = given.clone();
    for (name, property) in declared {
        if let Some(inner) = property.get("default") {
            filled.entry(name.clone()).or_insert_with(|| inner.clone());
        }
    }
    Cow::Owned(Value::Object(filled))
}

/// The subschema at `at`, compiled. Without `enum`, if its members are examined: each of them
/// matches the list it is in.
///
/// With references, the whole document becomes a definition of an outer schema, and a `$ref` leads
/// to the subschema by the address of the document. The references inside resolve as before.
///
/// `None` if the subschema does not compile alone, which is reported elsewhere.
fn compile(
    document: &Value,
    dialect: Dialect,
    members: &Map<String, Value>,
    at: &str,
    keyword: &str,
    alone: bool,
) -> Option<Schema> {
    if alone {
        let mut own = members.clone();
        if keyword == "enum" {
            own.shift_remove("enum");
        }
        own.insert("$schema".to_owned(), dialect.uri().into());
        return Schema::compile(&Value::Object(own)).ok();
    }
    let mut document = document.clone();
    if keyword == "enum" {
        document.pointer_mut(at)?.as_object_mut()?.shift_remove("enum");
    }
    let root = document.as_object_mut()?;
    let address = match root.get("$id") {
        Some(Value::String(id)) => id.trim_end_matches('#').to_owned(),
        _ => ADDRESS.to_owned(),
    };
    root.insert("$id".to_owned(), address.clone().into());
    root.insert("$schema".to_owned(), dialect.uri().into());
    // `at` is a fragment of a URI now.
    let fragment = at.replace('%', "%25").replace('"', "%22").replace(' ', "%20");
    let definitions = match dialect {
        Dialect::Draft7 => "definitions",
        Dialect::Draft202012 => "$defs",
    };
    let outer = json!({
        "$schema": dialect.uri(),
        definitions: { "document": document },
        "allOf": [{ "$ref": format!("{address}#{fragment}") }]
    });
    Schema::compile(&outer).ok()
}

/// Whether a schema holds a reference or an identifier. Looks at data as well, which costs time and
/// nothing else.
fn has_references(schema: &Value) -> bool {
    let mut pending = vec![schema];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(members) => {
                if ["$ref", "$dynamicRef", "$id"].iter().any(|key| members.contains_key(*key)) {
                    return true;
                }
                pending.extend(members.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    false
}
