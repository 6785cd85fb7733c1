//! Values out of the tree, leniently: what has the wrong type was reported by `shape` already, and
//! is simply not there for the record.

use toolwright_model::{
    Capability, FieldValue, FormatId, InputSchema, Json, Namespace, Object, Rest, ToolName, Version,
};
use toolwright_source::{DocumentPath, Node, Origin, RecordPath, ValueKind};

use crate::MAX_ITEMS;
use crate::field::{Field, FieldKind};

/// A text that is there and is a string.
pub(crate) fn text(parent: Node<'_>, name: &str) -> Option<String> {
    parent.get(name)?.text().map(str::to_owned)
}

/// A text that is there and not blank.
pub(crate) fn non_blank_text(parent: Node<'_>, name: &str) -> FieldValue<String> {
    required_value(parent, name, |node| {
        node.text().filter(|t| !t.trim().is_empty()).map(str::to_owned)
    })
}

/// A required value by a parser; null and blank are missing, what does not parse is bad.
pub(crate) fn required_value<'d, T>(
    parent: Node<'d>,
    name: &str,
    parse: impl FnOnce(Node<'d>) -> Option<T>,
) -> FieldValue<T> {
    match parent.get(name) {
        Some(node) if !is_blank(node) => {
            parse(node).map_or_else(|| FieldValue::Invalid(as_written(node)), FieldValue::Valid)
        }
        _ => FieldValue::Missing,
    }
}

/// An optional value by a parser: whatever stands there and does not parse is bad.
fn optional_value<'d, T>(
    parent: Node<'d>,
    name: &str,
    parse: impl FnOnce(Node<'d>) -> Option<T>,
) -> FieldValue<T> {
    match parent.get(name) {
        Some(node) => {
            parse(node).map_or_else(|| FieldValue::Invalid(as_written(node)), FieldValue::Valid)
        }
        None => FieldValue::Missing,
    }
}

/// A bad value to be shown: of a number every digit, because `version: 1.10` is not 1.1.
fn as_written(node: Node<'_>) -> Json {
    if node.kind() == ValueKind::Number { Json::from(node.raw()) } else { node.to_json() }
}

fn is_blank(node: Node<'_>) -> bool {
    node.kind() == ValueKind::Null || node.text().is_some_and(|text| text.trim().is_empty())
}

pub(crate) fn name(parent: Node<'_>, field: &str) -> FieldValue<ToolName> {
    required_value(parent, field, |node| ToolName::parse(node.text()?).ok())
}

pub(crate) fn namespace(parent: Node<'_>, field: &str) -> FieldValue<Namespace> {
    required_value(parent, field, |node| Namespace::parse(node.text()?).ok())
}

/// A namespace that a tool need not have.
pub(crate) fn optional_namespace(parent: Node<'_>) -> FieldValue<Namespace> {
    optional_value(parent, "namespace", |node| Namespace::parse(node.text()?).ok())
}

/// A version that a tool need not have, `v1.2.3` included.
pub(crate) fn optional_version(parent: Node<'_>) -> FieldValue<Version> {
    optional_value(parent, "version", |node| Version::parse(node.text()?).ok())
}

/// A version without `v`.
pub(crate) fn bare_version(parent: Node<'_>) -> FieldValue<Version> {
    required_value(parent, "version", |node| Version::parse_bare(node.text()?).ok())
}

pub(crate) fn input_schema(parent: Node<'_>, field: &str) -> FieldValue<InputSchema> {
    optional_value(parent, field, schema).map(InputSchema::Written)
}

pub(crate) fn output_schema(parent: Node<'_>, field: &str) -> FieldValue<Json> {
    optional_value(parent, field, schema)
}

fn schema(node: Node<'_>) -> Option<Json> {
    (node.kind() == ValueKind::Map).then(|| node.to_json())
}

/// The items of a list, up to the bound that `shape` reports.
pub(crate) fn items<'d>(list: Node<'d>) -> impl Iterator<Item = Node<'d>> {
    list.items().take(MAX_ITEMS)
}

/// The strings of a list; other items are left out.
pub(crate) fn texts(parent: Node<'_>, name: &str) -> Vec<String> {
    let items = parent.get(name).into_iter().flat_map(items);
    items.filter_map(|item| item.text().map(str::to_owned)).collect()
}

/// A list of capabilities, each good or bad.
pub(crate) fn capabilities(list: Node<'_>) -> Vec<FieldValue<Capability>> {
    let read = |item: Node<'_>| item.text().and_then(|text| Capability::parse(text).ok());
    items(list)
        .map(|item| {
            read(item).map_or_else(|| FieldValue::Invalid(item.to_json()), FieldValue::Valid)
        })
        .collect()
}

/// The object at `name`, if it is one.
pub(crate) fn object<'d>(parent: Node<'d>, name: &str) -> Option<Node<'d>> {
    parent.get(name).filter(|node| node.kind() == ValueKind::Map)
}

/// The objects in the list at `name`.
pub(crate) fn objects<'d>(parent: Node<'d>, name: &str) -> impl Iterator<Item = Node<'d>> {
    parent.get(name).into_iter().flat_map(items).filter(|item| item.kind() == ValueKind::Map)
}

/// The members that `known` does not name, to be kept.
pub(crate) fn members_except(parent: Node<'_>, known: &[&str]) -> Object {
    let entries = parent.members();
    let kept = entries.iter().filter(|entry| !known.iter().any(|name| entry.is(name)));
    kept.map(|entry| (entry.name().to_owned(), entry.value.to_json())).collect()
}

/// The members that are not in the table, by name.
pub(crate) fn members_outside(parent: Node<'_>, fields: &'static [Field]) -> Object {
    let members = parent.members();
    let kept = members.iter().filter(|member| !fields.iter().any(|field| member.is(field.name)));
    kept.map(|member| (member.name().to_owned(), member.value.to_json())).collect()
}

/// Keeps the members that are not in the table. `at` is the pointer of `parent`, counted as
/// [`Rest`] counts: from the tool's own object, or from the root of the document.
pub(crate) fn keep_unknown(
    parent: Node<'_>,
    fields: &'static [Field],
    at: &DocumentPath,
    format: FormatId,
    rest: &mut Rest,
) {
    for (name, value) in members_outside(parent, fields) {
        rest.keep(format, at.child(&name).as_str(), value);
    }
}

/// The same for an object that has no place in the record, nested objects included:
/// `/section/member`, `/section/list/0/member`.
pub(crate) fn keep_unknown_nested(
    node: Node<'_>,
    fields: &'static [Field],
    at: &DocumentPath,
    format: FormatId,
    rest: &mut Rest,
) {
    for member in node.members() {
        let at = at.child(member.name());
        match fields.iter().find(|field| field.name == member.name()).map(|field| field.kind) {
            None => rest.keep(format, at.as_str(), member.value.to_json()),
            Some(FieldKind::Object(fields)) => {
                keep_unknown_nested(member.value, fields, &at, format, rest);
            }
            Some(FieldKind::List { of: FieldKind::Object(fields), .. }) => {
                for (n, item) in items(member.value).enumerate() {
                    keep_unknown_nested(item, fields, &at.child(n), format, rest);
                }
            }
            Some(_) => {}
        }
    }
}

/// Notes the items of a list of which only those of one kind are taken, where others stand between
/// them: their places in the record and in the document differ then.
pub(crate) fn note_filtered_items(
    origin: &mut Origin,
    record: &RecordPath,
    list: Option<Node<'_>>,
    kind: ValueKind,
) {
    let Some(list) = list.filter(|list| items(*list).any(|item| item.kind() != kind)) else {
        return;
    };
    let taken = items(list).filter(|item| item.kind() == kind);
    taken.enumerate().for_each(|(n, item)| origin.note(record.child(n), item));
}

/// Notes where a part of the record came from, if it is there.
pub(crate) fn note_if_present(origin: &mut Origin, record: &str, node: Option<Node<'_>>) {
    if let (Some(pointer), Some(node)) = (RecordPath::parse(record), node) {
        origin.note(pointer, node);
    }
}
