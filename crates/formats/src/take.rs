//! Values out of the tree, leniently: what has the wrong type was reported by `shape` already, and
//! is simply not there for the record.

use toolwright_model::{
    Capability, FormatId, Given, InputSchema, Json, Namespace, Object, Rest, ToolName, Version,
};
use toolwright_source::{Kind, Node, Origin, Pointer};

use crate::MAX_ITEMS;
use crate::field::{Field, Kind as FieldKind};

/// A text that is there and is a string.
pub(crate) fn text(parent: Node<'_>, name: &str) -> Option<String> {
    parent.get(name)?.text().map(str::to_owned)
}

/// A text that is there and not blank.
pub(crate) fn given_text(parent: Node<'_>, name: &str) -> Given<String> {
    given(parent, name, |node| node.text().filter(|t| !t.trim().is_empty()).map(str::to_owned))
}

/// A required value by a parser; null and blank are missing, what does not parse is bad.
pub(crate) fn given<'d, T>(
    parent: Node<'d>,
    name: &str,
    parse: impl FnOnce(Node<'d>) -> Option<T>,
) -> Given<T> {
    match parent.get(name) {
        Some(node) if !is_blank(node) => {
            parse(node).map_or_else(|| Given::Bad(as_written(node)), Given::Ok)
        }
        _ => Given::Missing,
    }
}

/// An optional value by a parser: whatever stands there and does not parse is bad.
fn written<'d, T>(
    parent: Node<'d>,
    name: &str,
    parse: impl FnOnce(Node<'d>) -> Option<T>,
) -> Given<T> {
    match parent.get(name) {
        Some(node) => parse(node).map_or_else(|| Given::Bad(as_written(node)), Given::Ok),
        None => Given::Missing,
    }
}

/// A bad value to be shown: of a number every digit, because `version: 1.10` is not 1.1.
fn as_written(node: Node<'_>) -> Json {
    if node.kind() == Kind::Number { Json::from(node.raw()) } else { node.to_json() }
}

fn is_blank(node: Node<'_>) -> bool {
    node.kind() == Kind::Null || node.text().is_some_and(|text| text.trim().is_empty())
}

pub(crate) fn name(parent: Node<'_>, field: &str) -> Given<ToolName> {
    given(parent, field, |node| ToolName::parse(node.text()?).ok())
}

pub(crate) fn namespace(parent: Node<'_>, field: &str) -> Given<Namespace> {
    given(parent, field, |node| Namespace::parse(node.text()?).ok())
}

/// A namespace that a tool need not have.
pub(crate) fn own_namespace(parent: Node<'_>) -> Given<Namespace> {
    written(parent, "namespace", |node| Namespace::parse(node.text()?).ok())
}

/// A version that a tool need not have, `v1.2.3` included.
pub(crate) fn own_version(parent: Node<'_>) -> Given<Version> {
    written(parent, "version", |node| Version::parse(node.text()?).ok())
}

/// A version without `v`.
pub(crate) fn bare_version(parent: Node<'_>) -> Given<Version> {
    given(parent, "version", |node| Version::parse_bare(node.text()?).ok())
}

pub(crate) fn input_schema(parent: Node<'_>, field: &str) -> Given<InputSchema> {
    written(parent, field, schema).map(InputSchema::Written)
}

pub(crate) fn output_schema(parent: Node<'_>, field: &str) -> Given<Json> {
    written(parent, field, schema)
}

fn schema(node: Node<'_>) -> Option<Json> {
    (node.kind() == Kind::Map).then(|| node.to_json())
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
pub(crate) fn capabilities(list: Node<'_>) -> Vec<Given<Capability>> {
    let read = |item: Node<'_>| item.text().and_then(|text| Capability::parse(text).ok());
    items(list)
        .map(|item| read(item).map_or_else(|| Given::Bad(item.to_json()), Given::Ok))
        .collect()
}

/// The object at `name`, if it is one.
pub(crate) fn object<'d>(parent: Node<'d>, name: &str) -> Option<Node<'d>> {
    parent.get(name).filter(|node| node.kind() == Kind::Map)
}

/// The objects in the list at `name`.
pub(crate) fn objects<'d>(parent: Node<'d>, name: &str) -> impl Iterator<Item = Node<'d>> {
    parent.get(name).into_iter().flat_map(items).filter(|item| item.kind() == Kind::Map)
}

/// The members that `known` does not name, to be kept.
pub(crate) fn rest(parent: Node<'_>, known: &[&str]) -> Object {
    let entries = parent.entries();
    let kept = entries.iter().filter(|entry| !known.iter().any(|name| entry.is(name)));
    kept.map(|entry| (entry.name().to_owned(), entry.value.to_json())).collect()
}

/// The members that are not in the table, each with its name.
pub(crate) fn unclaimed(parent: Node<'_>, fields: &'static [Field]) -> Vec<(String, Json)> {
    let entries = parent.entries();
    let kept = entries.iter().filter(|entry| !fields.iter().any(|field| entry.is(field.name)));
    kept.map(|entry| (entry.name().to_owned(), entry.value.to_json())).collect()
}

/// Keeps the members that are not in the table.
pub(crate) fn keep(parent: Node<'_>, fields: &'static [Field], format: FormatId, rest: &mut Rest) {
    for (name, value) in unclaimed(parent, fields) {
        rest.keep(format, name, value);
    }
}

/// Keeps what an object that has no rest of its own holds beyond its table, nested objects
/// included: `section.member`, `section.list.0.member`.
pub(crate) fn keep_within(
    node: Node<'_>,
    fields: &'static [Field],
    prefix: &str,
    format: FormatId,
    rest: &mut Rest,
) {
    for entry in node.entries() {
        let name = format!("{prefix}.{}", entry.name());
        match fields.iter().find(|field| field.name == entry.name()).map(|field| field.kind) {
            None => rest.keep(format, name, entry.value.to_json()),
            Some(FieldKind::Object(fields)) => {
                keep_within(entry.value, fields, &name, format, rest)
            }
            Some(FieldKind::List { of: FieldKind::Object(fields), .. }) => {
                for (n, item) in items(entry.value).enumerate() {
                    keep_within(item, fields, &format!("{name}.{n}"), format, rest);
                }
            }
            Some(_) => {}
        }
    }
}

/// Notes the items of a list of which only those of one kind are taken, where others stand between
/// them: their places in the record and in the document differ then.
pub(crate) fn note_taken(
    origin: &mut Origin,
    record: &Pointer,
    list: Option<Node<'_>>,
    kind: Kind,
) {
    let Some(list) = list.filter(|list| items(*list).any(|item| item.kind() != kind)) else {
        return;
    };
    let taken = items(list).filter(|item| item.kind() == kind);
    taken.enumerate().for_each(|(n, item)| origin.note(record.child(n), item));
}

/// Notes where a part of the record came from, if it is there.
pub(crate) fn note(origin: &mut Origin, record: &str, node: Option<Node<'_>>) {
    if let (Some(pointer), Some(node)) = (Pointer::parse(record), node) {
        origin.note(pointer, node);
    }
}
