//! The changes between two versions of a schema, each with its effect.
//!
//! Both are walked together, and every keyword that differs is one edit. The effect of an edit is
//! found by making it alone, in the old schema, and looking for values that both this copy and the
//! new schema judge differently than the old one (`toolwright_schema::EditedSchema`). So a dropped
//! keyword that narrows, as below `not`, is reported as what it is, and an edit that another one
//! takes back has no effect. The effect of all edits together is compared once more.
//!
//! ```text
//! old  {"properties": {"a": {"type": "string", "maxLength": 5}, "b": S}, "required": ["a"]}
//! new  {"properties": {"a": {"type": "string"}, "c": S, "d": T}, "required": ["a"]}
//!
//! /properties/a/maxLength   Removed               it accepts more
//! /properties/b             Renamed("c")          the same schema under another name
//! /properties/d             NewOptional           no caller has to change
//! ```

use serde_json::{Map, Value, json};
use toolwright_schema::{EditedSchema, SchemaComparison, Verdict, compare};
use toolwright_source::{escape_token, unescape_token};

use super::VersionStep;

/// Edits of one schema whose effect is found; the others are listed without.
///
/// Finding an effect compiles schemas and searches for values, which takes far longer than the
/// walk.
const MAX_COMPARED: usize = 60;

/// What was done to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another value.
    Changed,
    /// The property has this name now.
    Renamed(String),
    /// It is a new property that callers may leave out.
    NewOptional,
}

/// One difference between two schemas.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaEdit {
    /// JSON pointer of the keyword or property, in the schema that has it.
    pub at: String,
    /// What was done to it.
    pub kind: EditKind,
    /// The value before.
    pub old: Option<Value>,
    /// The value now.
    pub new: Option<Value>,
    /// What the edit does to the accepted values; `None` for an annotation, and where there
    /// are too many edits.
    pub effect: Option<SchemaComparison>,
}

/// All differences of two schemas.
pub(super) struct SchemaDiff {
    /// In the order of the new schema; what is gone comes after what is there.
    pub edits: Vec<SchemaEdit>,
    /// What all edits together do, apart from new optional properties.
    pub effect: SchemaComparison,
}

impl SchemaDiff {
    /// Compares two schemas.
    ///
    /// A new optional property refuses values that the old schema accepted: those that had another
    /// value under this name. Callers do not send such values, so these properties are taken out
    /// before the whole is compared.
    ///
    /// The steps: find the edits, join renamed properties, set optional properties apart, then find
    /// the effect of each edit alone, and that of all together.
    pub(super) fn new(old: &Value, new: &Value) -> SchemaDiff {
        let mut edits = Vec::new();
        walk(old, new, "", &mut edits);
        merge_renames(&mut edits);
        let mut rest = new.clone();
        for edit in &mut edits {
            if edit.kind == EditKind::Added && is_optional_input(&edit.at, new) {
                edit.kind = EditKind::NewOptional;
                remove(&mut rest, &edit.at);
            }
        }
        // Definitions that are new do nothing alone, and edits may refer to them.
        let mut base = old.clone();
        for keyword in ["$defs", "definitions"] {
            add_definitions(&mut base, new, keyword);
        }
        // One budget for all edits: it stops comparing where a schema costs too much.
        let whole = EditedSchema::new(&base, new, &[]);
        let asserting = edits.iter_mut().filter(|edit| !is_annotation(&edit.at));
        for edit in asserting.take(MAX_COMPARED) {
            let alone = made_alone(&base, new, edit);
            edit.effect = Some(whole.effect_of(&edit.at, alone.as_ref(), false));
        }
        SchemaDiff { edits, effect: compare(old, &rest) }
    }

    /// What the change of an input demands.
    ///
    /// Accepting less can break a caller: a major step. Accepting more is a minor one, an
    /// annotation a patch. What is undecided counts as if it were so.
    pub(super) fn input_step(&self) -> VersionStep {
        let has_new = self.edits.iter().any(|edit| edit.kind == EditKind::NewOptional);
        if self.effect.narrower != Verdict::No {
            VersionStep::Major
        } else if self.effect.wider != Verdict::No || has_new {
            VersionStep::Minor
        } else if self.edits.is_empty() {
            VersionStep::None
        } else {
            VersionStep::Patch
        }
    }

    /// What the change of an output demands: callers rely on both directions.
    ///
    /// A result that may have other values can break a caller as well as one that may have fewer,
    /// and a new optional property is another value.
    pub(super) fn output_step(&self) -> VersionStep {
        let has_new = self.edits.iter().any(|edit| edit.kind == EditKind::NewOptional);
        if !self.effect.is_equal() || has_new {
            VersionStep::Major
        } else if self.edits.is_empty() {
            VersionStep::None
        } else {
            VersionStep::Patch
        }
    }
}

/// Keywords that hold subschemas by name.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords that hold one subschema.
const SINGLE: [&str; 11] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "additionalItems",
];

/// Keywords that hold a list of subschemas.
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords that change nothing about what is accepted.
const ANNOTATIONS: [&str; 10] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "format",
    "contentMediaType",
];

/// Adds an edit for every keyword or named subschema that differs, at the deepest place where both
/// sides can still be matched: lists of branches only if they are equally long.
///
/// An added branch of `anyOf` therefore makes the whole list one edit: nothing tells which old
/// branch became which new one. Recursive; both schemas have the depth of a parsed document.
fn walk(old: &Value, new: &Value, at: &str, edits: &mut Vec<SchemaEdit>) {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        if old != new {
            edits.push(edit(at.to_owned(), Some(old), Some(new)));
        }
        return;
    };
    for keyword in keys_of_both(old, new) {
        let at = joined(at, keyword);
        match (old.get(keyword), new.get(keyword)) {
            (old, new) if old == new => {}
            (Some(Value::Object(old)), Some(Value::Object(new))) if NAMED.contains(&keyword) => {
                for name in keys_of_both(old, new) {
                    let at = joined(&at, name);
                    match (old.get(name), new.get(name)) {
                        (Some(old), Some(new)) => walk(old, new, &at, edits),
                        (old, new) => edits.push(edit(at, old, new)),
                    }
                }
            }
            (Some(old @ Value::Object(_)), Some(new @ Value::Object(_)))
                if SINGLE.contains(&keyword) =>
            {
                walk(old, new, &at, edits);
            }
            (Some(Value::Array(old)), Some(Value::Array(new)))
                if LISTS.contains(&keyword) && old.len() == new.len() =>
            {
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    walk(old, new, &format!("{at}/{index}"), edits);
                }
            }
            (old, new) => edits.push(edit(at, old, new)),
        }
    }
}

/// An edit without its effect.
fn edit(at: String, old: Option<&Value>, new: Option<&Value>) -> SchemaEdit {
    let kind = match (old, new) {
        (None, _) => EditKind::Added,
        (_, None) => EditKind::Removed,
        _ => EditKind::Changed,
    };
    SchemaEdit { at, kind, old: old.cloned(), new: new.cloned(), effect: None }
}

/// The keys of both objects: those of the new one in its order, then those that are gone.
pub(super) fn keys_of_both<'a>(
    old: &'a Map<String, Value>,
    new: &'a Map<String, Value>,
) -> Vec<&'a str> {
    let gone = old.keys().filter(|key| !new.contains_key(*key));
    new.keys().chain(gone).map(String::as_str).collect()
}

/// A pointer with one more token, escaped by RFC 6901.
pub(super) fn joined(at: &str, token: &str) -> String {
    format!("{at}/{}", escape_token(token))
}

/// Turns a property that is gone and a new one with the same schema into one edit.
///
/// Both must be in the same `properties`. Of several candidates the first is taken.
///
/// The schemas have to be equal, descriptions included. So two properties that only look alike,
/// such as `{"type": "string"}`, may be taken for one that was renamed.
fn merge_renames(edits: &mut Vec<SchemaEdit>) {
    let mut index = 0;
    while index < edits.len() {
        let gone = &edits[index];
        let same = |other: &SchemaEdit| {
            gone.kind == EditKind::Removed
                && other.kind == EditKind::Added
                && other.new == gone.old
                && is_property(&gone.at)
                && parent(&other.at) == parent(&gone.at)
        };
        if let Some(found) = edits.iter().position(same) {
            let name = last_name(&edits[found].at);
            edits[index].kind = EditKind::Renamed(name);
            edits[index].new = None;
            edits.remove(found);
            if found < index {
                index -= 1;
            }
        }
        index += 1;
    }
}

/// Whether the pointer names an entry of `properties`.
fn is_property(at: &str) -> bool {
    parent(at).ends_with("/properties")
}

/// The pointer without its last token; empty for the root.
fn parent(at: &str) -> &str {
    at.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last token of a pointer, unescaped.
fn last_name(at: &str) -> String {
    at.rsplit_once('/').map_or(String::new(), |(_, name)| unescape_token(name).into_owned())
}

/// Whether the edit changes no set of values: a keyword such as `description`.
fn is_annotation(at: &str) -> bool {
    let name = last_name(at);
    (ANNOTATIONS.contains(&name.as_str()) || name.starts_with("x-")) && !is_property(at)
}

/// Whether a new property is one that callers may leave out, where callers write it: below nothing
/// but properties and items.
///
/// `/properties/a/items/properties/b` is such a place; one below `anyOf` or `not` is not, because
/// an additional property can have any effect there.
fn is_optional_input(at: &str, new: &Value) -> bool {
    let object = parent(parent(at));
    let mut tokens = object.split('/').skip(1);
    while let Some(token) = tokens.next() {
        match token {
            "items" => {}
            "properties" if tokens.next().is_some() => {}
            _ => return false,
        }
    }
    let name = last_name(at);
    let required = new.pointer(object).and_then(|object| object.get("required"));
    let required = required.and_then(Value::as_array);
    is_property(at) && !required.is_some_and(|names| names.contains(&json!(name)))
}

/// Adds the definitions of the new schema that the old one lacks.
///
/// `base` is then a schema in which an edit that refers to a new definition can be made alone.
fn add_definitions(base: &mut Value, new: &Value, keyword: &str) {
    let Some(Value::Object(added)) = new.get(keyword) else { return };
    let Value::Object(members) = base else { return };
    let own = members.entry(keyword).or_insert_with(|| json!({}));
    if let Value::Object(own) = own {
        for (name, definition) in added {
            own.entry(name.clone()).or_insert_with(|| definition.clone());
        }
    }
}

/// The old schema with this edit alone. `None` if it cannot be made there.
///
/// A renamed property takes its place in `required` along.
///
/// An edit at an item of a list needs that item to exist, which `walk` makes sure of: it compares
/// lists of one length.
fn made_alone(base: &Value, new: &Value, edit: &SchemaEdit) -> Option<Value> {
    let mut edited = base.clone();
    match &edit.kind {
        EditKind::Renamed(name) => {
            let properties = parent(&edit.at);
            let schema = edit.old.clone()?;
            let gone = last_name(&edit.at);
            remove(&mut edited, &edit.at);
            let members = edited.pointer_mut(properties)?.as_object_mut()?;
            members.insert(name.clone(), schema);
            // What requires it is part of the renaming.
            let object = parent(properties);
            let wanted = new.pointer(object)?.get("required").and_then(Value::as_array);
            if let Some(Value::Array(names)) = edited.pointer_mut(&format!("{object}/required")) {
                let was_required = names.contains(&json!(gone));
                names.retain(|required| *required != json!(gone));
                if was_required && wanted.is_some_and(|wanted| wanted.contains(&json!(name))) {
                    names.push(json!(name));
                }
            }
        }
        EditKind::Removed => remove(&mut edited, &edit.at),
        EditKind::Added | EditKind::Changed | EditKind::NewOptional => {
            let value = edit.new.clone()?;
            if edit.at.is_empty() {
                return Some(value);
            }
            match edited.pointer_mut(parent(&edit.at))? {
                Value::Object(members) => {
                    members.insert(last_name(&edit.at), value);
                }
                Value::Array(items) => {
                    *items.get_mut(last_name(&edit.at).parse::<usize>().ok()?)? = value;
                }
                _ => return None,
            }
        }
    }
    Some(edited)
}

/// Removes a member at a pointer; items of lists stay, since removing one would move the others.
fn remove(schema: &mut Value, at: &str) {
    if let Some(Value::Object(members)) = schema.pointer_mut(parent(at)) {
        members.shift_remove(&last_name(at));
    }
}
