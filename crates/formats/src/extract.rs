//! Takes values out of the tree for the record, leniently: a value of the wrong type is treated as
//! absent, because `shape` has reported it, and everything else of the tool is still worth having.
//!
//! Required parts of a tool are [`FieldValue`]s, which tell three cases apart. Later stages need
//! the difference: a missing name and a name that is a number are different mistakes, and only one
//! of them has a value to show.
//!
//! ```text
//! absent, null, blank ─▶ Missing
//! does not parse      ─▶ Invalid(the value as written)
//! parses              ─▶ Valid(T)
//! ```
//!
//! Members that no table has are kept as they are (`keep_unknown`), so that writing a document back
//! loses nothing.
//!
//! ```text
//! document: tags: [a, 7, b]      record: tags [a, b]
//! note_filtered_items            record /tags/1 is document /tags/2
//! ```

use toolwright_model::{
    Capability, FieldValue, FormatId, InputSchema, Json, Namespace, Object, Rest, ToolName, Version,
};
use toolwright_source::{DocumentPath, Member, Node, Origin, RecordPath, ValueKind};

use crate::MAX_ITEMS;
use crate::field::{Field, FieldKind};

/// The string at `name`, blank or not.
pub(crate) fn text(parent: Node<'_>, name: &str) -> Option<String> {
    parent.get(name)?.text().map(str::to_owned)
}

/// The string at `name`; a blank one counts as missing. For texts that a model or a person must be
/// able to read, such as descriptions.
pub(crate) fn non_blank_text(parent: Node<'_>, name: &str) -> FieldValue<String> {
    required_value(parent, name, |node| {
        node.text().filter(|t| !t.trim().is_empty()).map(str::to_owned)
    })
}

/// A required value, parsed by `parse`. Null and blank count as missing. `parse` gets neither null
/// nor a blank text.
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

/// An optional value, parsed by `parse`. Null and blank are invalid here: an author who writes an
/// optional field means something by it, and ignoring it would hide that.
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

/// An invalid value as the record shows it. A number keeps its digits, because the author of
/// `version: 1.10` must not be shown 1.1. A text of the digits, since a JSON number would lose the
/// zero.
fn as_written(node: Node<'_>) -> Json {
    if node.kind() == ValueKind::Number { Json::from(node.raw()) } else { node.to_json() }
}

/// Whether a required value counts as missing.
fn is_blank(node: Node<'_>) -> bool {
    node.kind() == ValueKind::Null || node.text().is_some_and(|text| text.trim().is_empty())
}

/// The name of a tool.
pub(crate) fn name(parent: Node<'_>, field: &str) -> FieldValue<ToolName> {
    required_value(parent, field, |node| ToolName::parse(node.text()?).ok())
}

/// The namespace of a toolset, which its tools inherit.
pub(crate) fn namespace(parent: Node<'_>, field: &str) -> FieldValue<Namespace> {
    required_value(parent, field, |node| Namespace::parse(node.text()?).ok())
}

/// The namespace of a single tool (toolfoundation).
pub(crate) fn optional_namespace(parent: Node<'_>) -> FieldValue<Namespace> {
    optional_value(parent, "namespace", |node| Namespace::parse(node.text()?).ok())
}

/// The version of a single tool (toolfoundation), `v1.2.3` included.
pub(crate) fn optional_version(parent: Node<'_>) -> FieldValue<Version> {
    optional_value(parent, "version", |node| Version::parse(node.text()?).ok())
}

/// The version of a toolset, without `v`.
pub(crate) fn bare_version(parent: Node<'_>) -> FieldValue<Version> {
    required_value(parent, "version", |node| Version::parse_bare(node.text()?).ok())
}

/// The schema of the arguments. Whether it is a valid one is checked later. `optional_value` and
/// not `required_value`: a schema that is `null` is a mistake of its own, and must not be taken for
/// a tool without a schema.
pub(crate) fn input_schema(parent: Node<'_>, field: &str) -> FieldValue<InputSchema> {
    optional_value(parent, field, schema).map(InputSchema::from)
}

/// The schema of the results.
pub(crate) fn output_schema(parent: Node<'_>, field: &str) -> FieldValue<Json> {
    optional_value(parent, field, schema)
}

/// A schema is an object. JSON Schema allows `true` and `false` too, but MCP does not for tools.
fn schema(node: Node<'_>) -> Option<Json> {
    (node.kind() == ValueKind::Map).then(|| node.to_json())
}

/// The items of a list, up to the bound that `shape::report_too_many_items` reports. Also used by
/// `objects`, `texts` and `capabilities`.
pub(crate) fn items<'d>(list: Node<'d>) -> impl Iterator<Item = Node<'d>> {
    list.items().take(MAX_ITEMS)
}

/// The strings of a list, without its other items. A caller that reports positions must also call
/// [`note_filtered_items`], because the numbers of the texts differ from those of the items if
/// items are left out.
pub(crate) fn texts(parent: Node<'_>, name: &str) -> Vec<String> {
    let items = parent.get(name).into_iter().flat_map(items);
    items.filter_map(|item| item.text().map(str::to_owned)).collect()
}

/// A list of capabilities. Invalid items are kept as such, so that later checks can tell "declares
/// nothing" from "declares something unreadable".
pub(crate) fn capabilities(list: Node<'_>) -> Vec<FieldValue<Capability>> {
    let read = |item: Node<'_>| item.text().and_then(|text| Capability::parse(text).ok());
    items(list)
        .map(|item| {
            read(item).map_or_else(|| FieldValue::Invalid(item.to_json()), FieldValue::Valid)
        })
        .collect()
}

/// The object at `name`.
pub(crate) fn object<'d>(parent: Node<'d>, name: &str) -> Option<Node<'d>> {
    parent.get(name).filter(|node| node.kind() == ValueKind::Map)
}

/// The objects in the list at `name`, without its other items. As with [`texts`], the numbers may
/// differ from those in the document.
pub(crate) fn objects<'d>(parent: Node<'d>, name: &str) -> impl Iterator<Item = Node<'d>> {
    parent.get(name).into_iter().flat_map(items).filter(|item| item.kind() == ValueKind::Map)
}

/// The members of an object that `keep` selects, for the record's `rest`. With values as JSON, so
/// that they can be written back.
fn members_where(parent: Node<'_>, keep: impl Fn(&Member<'_>) -> bool) -> Object {
    let members = parent.members();
    let kept = members.iter().filter(|member| keep(member));
    kept.map(|member| (member.name().to_owned(), member.value.to_json())).collect()
}

/// The members of an object whose names are not in `known`.
pub(crate) fn members_except(parent: Node<'_>, known: &[&str]) -> Object {
    members_where(parent, |member| !known.iter().any(|name| member.is(name)))
}

/// The members of an object that are not in the table.
pub(crate) fn members_outside(parent: Node<'_>, fields: &'static [Field]) -> Object {
    members_where(parent, |member| !fields.iter().any(|field| member.is(field.name)))
}

/// The members of an object that are not in the table, and the member `also`: one that the table
/// has, so that its type is checked, but that the record has no field for.
pub(crate) fn members_outside_and(
    parent: Node<'_>,
    fields: &'static [Field],
    also: &str,
) -> Object {
    members_where(parent, |member| {
        member.is(also) || !fields.iter().any(|field| member.is(field.name))
    })
}

/// Keeps the members that are not in the table. `at` is the pointer of `parent` as [`Rest`] counts:
/// from the tool's own object for members of a tool, otherwise from the root of the document.
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

/// Does the same for an object that the record keeps only in part, nested objects included, so that
/// the pointers become `/section/member` and `/section/list/0/member`.
///
/// The recursion follows the tables, whose depth is fixed, and not the document.
pub(crate) fn keep_unknown_nested(
    node: Node<'_>,
    fields: &'static [Field],
    at: &DocumentPath,
    format: FormatId,
    rest: &mut Rest,
) {
    for member in node.members() {
        let at = at.child(member.name());
        // Known members that are scalars are in the record already.
        match fields.iter().find(|field| field.name == member.name()).map(|field| field.kind) {
            None => rest.keep(format, at.as_str(), member.value.to_json()),
            Some(FieldKind::Object(fields)) => {
                keep_unknown_nested(member.value, fields, &at, format, rest);
            }
            // Only lists of objects can have unknown members; maps with arbitrary keys have no
            // unknown ones.
            Some(FieldKind::List { of: FieldKind::Object(fields), .. }) => {
                for (n, item) in items(member.value).enumerate() {
                    keep_unknown_nested(item, fields, &at.child(n), format, rest);
                }
            }
            Some(_) => {}
        }
    }
}

/// Notes the origin of each item of a list from which only the items of one kind were taken.
/// Without other items between them, item `n` of the record is item `n` of the document, and
/// `Origin` finds it by walking the tree; so nothing is noted, which keeps reading a correct
/// document cheap.
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

/// Notes which value the part `record` of the record came from, if the value is present.
pub(crate) fn note_if_present(origin: &mut Origin, record: &str, node: Option<Node<'_>>) {
    if let (Some(pointer), Some(node)) = (RecordPath::parse(record), node) {
        origin.note(pointer, node);
    }
}
