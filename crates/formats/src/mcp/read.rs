//! Reads MCP documents into the record.
//!
//! ```text
//! {jsonrpc, result: {tools: […]}}  ─ ENVELOPE ─┐
//! {tools: […], nextCursor}         ─ LIST ─────┼─▶ tool nodes ─ read_tool ─▶ drafts
//! […]                              ─ TOOLS ────┤
//! {name, inputSchema}              ─ TOOL ─────┘
//! ```
//!
//! Shape findings come from the first step alone, so `read_tool` ignores what does not fit.

use std::sync::Arc;

use toolwright_model::{
    Annotations, Details, Draft, Example, FieldValue, FormatId, Icon, Rest, Tags, Toolset,
};
use toolwright_source::{Document, DocumentPath, Node, Origin, RecordPath, ValueKind};

use super::{ANNOTATIONS, ICON, McpVariant};
use crate::findings::FindingList;
use crate::function_tools::no_parameters;
use crate::{Reading, extract, shape};

/// Reads a document in any of the four forms. All forms give the same record, apart from what is
/// kept around the list.
pub(super) fn read(document: &Arc<Document>, variant: &'static McpVariant) -> Reading {
    let root = document.root();
    let mut findings = FindingList::default();
    let mut origin = Origin::whole(document);
    let mut toolset = Toolset { conventions: variant.conventions, ..Toolset::default() };
    let id = variant.id;
    // The envelope is recognised by `result` alone, so that a response without `jsonrpc` is read,
    // too.
    let envelope = variant.envelope.filter(|_| extract::object(root, "result").is_some());
    let list: Vec<Node<'_>> = if let Some(envelope) = envelope {
        shape::check_object(root, envelope, &mut findings);
        keep_list(root.get("result"), id, &mut toolset.rest);
        extract::keep_unknown(root, envelope, &DocumentPath::root(), id, &mut toolset.rest);
        root.get("result")
            .map(|result| extract::objects(result, "tools").collect())
            .unwrap_or_default()
    // The order goes from the outside to the inside: a response also has a list, and a list has
    // tools.
    } else if root.has("tools") {
        shape::check_object(root, variant.list, &mut findings);
        keep_list(Some(root), id, &mut toolset.rest);
        extract::objects(root, "tools").collect()
    } else if root.kind() == ValueKind::List {
        shape::check_value(root, root, variant.tools, &mut findings);
        extract::items(root).collect()
    } else {
        shape::check_object(root, variant.tool, &mut findings);
        vec![root]
    };
    // Other items were reported. `index` counts the tools that are read.
    for node in list.into_iter().filter(|node| node.kind() == ValueKind::Map) {
        toolset.tools.push(read_tool(node, toolset.tools.len(), variant, &mut origin));
    }
    Reading { format: id, dialect: None, toolset, origin, findings: findings.into_vec() }
}

/// Keeps everything around a list of tools, known fields included: the record has no place for
/// `nextCursor` and `_meta`. `list` is the object that has `tools`; nothing is kept without one.
fn keep_list(list: Option<Node<'_>>, format: FormatId, rest: &mut Rest) {
    let members = list.map(Node::members).unwrap_or_default();
    for member in members.iter().filter(|member| member.name() != "tools") {
        let at = list.map(Node::pointer).unwrap_or_default().child(member.name());
        rest.keep(format, at.as_str(), member.value.to_json());
    }
}

/// One tool. `index` is its place in the toolset. A value that does not fit is missing or `Invalid`
/// in the draft, and never ends the reading.
fn read_tool(
    node: Node<'_>,
    index: usize,
    variant: &'static McpVariant,
    origin: &mut Origin,
) -> Draft {
    let at = RecordPath::root().child("tools").child(index);
    extract::note_filtered_items(origin, &at.child("tags"), node.get("tags"), ValueKind::String);
    origin.note(at.clone(), node);
    let mut rest = Rest::default();
    let examples = examples(node);
    if examples.is_some() {
        extract::note_filtered_items(
            origin,
            &at.child("examples"),
            node.get("examples"),
            ValueKind::Map,
        );
    }
    // `examples` is not in the table. It goes into the record if it has BTCP's form, otherwise it
    // is kept.
    for (name, value) in extract::members_outside(node, variant.tool) {
        if name != "examples" || examples.is_none() {
            rest.keep(variant.id, DocumentPath::root().child(&name).as_str(), value);
        }
    }
    // In the table, so it is checked, but not in the record.
    if let Some(execution) = node.get("execution") {
        rest.keep(variant.id, "/execution", execution.to_json());
    }
    let is_absent =
        |name: &str| node.get(name).is_none_or(|schema| schema.kind() == ValueKind::Null);
    let input = match variant.may_lack_input && is_absent("inputSchema") {
        true => FieldValue::Valid(no_parameters().into()),
        false => extract::input_schema(node, "inputSchema"),
    };
    let output = match variant.may_lack_input && is_absent("outputSchema") {
        true => FieldValue::Missing,
        false => extract::output_schema(node, "outputSchema"),
    };
    Draft {
        name: extract::name(node, "name"),
        namespace: extract::optional_namespace(node),
        description: extract::required_value(node, "description", |n| n.text().map(str::to_owned)),
        version: extract::optional_version(node),
        input,
        output,
        // MCP has no capabilities of tools.
        needs: Vec::new(),
        details: Details {
            title: extract::text(node, "title"),
            tags: Tags::new(extract::texts(node, "tags")),
            examples: examples.unwrap_or_default(),
            annotations: extract::object(node, "annotations")
                .map(read_annotations)
                .unwrap_or_default(),
            icons: extract::objects(node, "icons").map(read_icon).collect(),
            // All members, because `_meta` belongs to the author of the tool.
            meta: extract::object(node, "_meta").map(|meta| extract::members_except(meta, &[])),
            rest,
            ..Details::default()
        },
    }
}

/// The examples of a tool in the form that BTCP gives them. MCP does not define the field, so this
/// returns `None`, and the field is kept as unknown, if a single item has another form. All or
/// nothing: a list that is read in part could not be written back as it was.
fn examples(node: Node<'_>) -> Option<Vec<Example>> {
    let list = node.get("examples").filter(|list| list.kind() == ValueKind::List)?;
    let example = |item: Node<'_>| {
        let input = item.get("input").filter(|input| input.kind() == ValueKind::Map)?.to_json();
        Some(Example {
            description: extract::text(item, "description"),
            input: Some(input),
            output: item.get("output").map(Node::to_json),
            rest: extract::members_except(item, &["description", "input", "output"]),
            ..Example::default()
        })
    };
    extract::items(list).map(example).collect()
}

/// The hints, each unset if it is absent. One that is not a boolean, such as `"true"`, is read as
/// the more dangerous one: policies and clients decide by it, and `check` reports it.
///
/// ```text
/// readOnlyHint: "true"      not read-only
/// destructiveHint: "no"     destructive
/// idempotentHint: 1         not idempotent
/// openWorldHint: "false"    open world
/// ```
fn read_annotations(node: Node<'_>) -> Annotations {
    let hint = |name, dangerous: bool| {
        let value = node.get(name).filter(|value| value.kind() != ValueKind::Null)?;
        Some(value.boolean().unwrap_or(dangerous))
    };
    Annotations {
        title: extract::text(node, "title"),
        read_only: hint("readOnlyHint", false),
        destructive: hint("destructiveHint", true),
        idempotent: hint("idempotentHint", false),
        open_world: hint("openWorldHint", true),
        rest: extract::members_outside(node, ANNOTATIONS),
    }
}

/// An icon. `theme` is in the table but not in the record, so it is kept with the unknown members.
fn read_icon(node: Node<'_>) -> Icon {
    Icon {
        // A missing address was reported. The icon is kept, so that writing it back loses nothing.
        src: extract::text(node, "src").unwrap_or_default(),
        mime_type: extract::text(node, "mimeType"),
        sizes: extract::texts(node, "sizes"),
        rest: extract::members_outside_and(node, ICON, "theme"),
    }
}
