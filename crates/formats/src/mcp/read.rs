//! MCP documents into the record.

use std::sync::Arc;

use toolwright_model::{Annotations, Details, Draft, Example, Icon, Rest, Tags, Toolset};
use toolwright_source::{Document, DocumentPath, Node, Origin, RecordPath, ValueKind};

use super::{ANNOTATIONS, CONVENTIONS, ENVELOPE, ICON, ID, LIST, TOOL, TOOLS};
use crate::findings::Findings;
use crate::{Reading, shape, take};

pub(super) fn read(document: &Arc<Document>) -> Reading {
    let root = document.root();
    let mut findings = Findings::default();
    let mut origin = Origin::whole(document);
    let mut toolset = Toolset { conventions: &CONVENTIONS, ..Toolset::default() };
    let list: Vec<Node<'_>> = if take::object(root, "result").is_some() {
        shape::object(root, ENVELOPE, &mut findings);
        keep_list(root.get("result"), &mut toolset.rest);
        take::keep(root, ENVELOPE, &DocumentPath::root(), ID, &mut toolset.rest);
        root.get("result")
            .map(|result| take::objects(result, "tools").collect())
            .unwrap_or_default()
    } else if root.has("tools") {
        shape::object(root, LIST, &mut findings);
        keep_list(Some(root), &mut toolset.rest);
        take::objects(root, "tools").collect()
    } else if root.kind() == ValueKind::List {
        shape::value(root, root, &TOOLS, &mut findings);
        take::items(root).collect()
    } else {
        shape::object(root, TOOL, &mut findings);
        vec![root]
    };
    for node in list.into_iter().filter(|node| node.kind() == ValueKind::Map) {
        toolset.tools.push(read_tool(node, toolset.tools.len(), &mut origin));
    }
    Reading { format: ID, dialect: None, toolset, origin, findings: findings.into_vec() }
}

/// Keeps everything around a list of tools.
fn keep_list(list: Option<Node<'_>>, rest: &mut Rest) {
    let members = list.map(Node::members).unwrap_or_default();
    for member in members.iter().filter(|member| member.name() != "tools") {
        let at = list.map(Node::pointer).unwrap_or_default().child(member.name());
        rest.keep(ID, at.as_str(), member.value.to_json());
    }
}

fn read_tool(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    let at = RecordPath::root().child("tools").child(index);
    take::note_taken(origin, &at.child("tags"), node.get("tags"), ValueKind::String);
    origin.note(at.clone(), node);
    let mut rest = Rest::default();
    let examples = examples(node);
    if examples.is_some() {
        take::note_taken(origin, &at.child("examples"), node.get("examples"), ValueKind::Map);
    }
    for (name, value) in take::unclaimed(node, TOOL) {
        if name != "examples" || examples.is_none() {
            rest.keep(ID, DocumentPath::root().child(&name).as_str(), value);
        }
    }
    if let Some(execution) = node.get("execution") {
        rest.keep(ID, "/execution", execution.to_json());
    }
    Draft {
        name: take::name(node, "name"),
        namespace: take::own_namespace(node),
        description: take::given(node, "description", |n| n.text().map(str::to_owned)),
        version: take::own_version(node),
        input: take::input_schema(node, "inputSchema"),
        output: take::output_schema(node, "outputSchema"),
        needs: Vec::new(),
        details: Details {
            title: take::text(node, "title"),
            tags: Tags::new(take::texts(node, "tags")),
            examples: examples.unwrap_or_default(),
            annotations: take::object(node, "annotations")
                .map(read_annotations)
                .unwrap_or_default(),
            icons: take::objects(node, "icons").map(read_icon).collect(),
            meta: take::object(node, "_meta").map(|meta| take::rest(meta, &[])),
            rest,
            ..Details::default()
        },
    }
}

/// Calls that show how it is used, written as BTCP writes them. MCP says nothing about the field,
/// so anything else in it is not ours.
fn examples(node: Node<'_>) -> Option<Vec<Example>> {
    let list = node.get("examples").filter(|list| list.kind() == ValueKind::List)?;
    let example = |item: Node<'_>| {
        let input = item.get("input").filter(|input| input.kind() == ValueKind::Map)?.to_json();
        Some(Example {
            description: take::text(item, "description"),
            input: Some(input),
            output: item.get("output").map(Node::to_json),
            rest: take::rest(item, &["description", "input", "output"]),
            ..Example::default()
        })
    };
    take::items(list).map(example).collect()
}

fn read_annotations(node: Node<'_>) -> Annotations {
    let hint = |name| node.get(name).and_then(Node::boolean);
    Annotations {
        title: take::text(node, "title"),
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
        rest: take::unclaimed(node, ANNOTATIONS),
    }
}

fn read_icon(node: Node<'_>) -> Icon {
    Icon {
        src: take::text(node, "src").unwrap_or_default(),
        mime_type: take::text(node, "mimeType"),
        sizes: take::texts(node, "sizes"),
        rest: take::rest(
            node,
            &ICON.iter().map(|f| f.name).filter(|n| *n != "theme").collect::<Vec<_>>(),
        ),
    }
}
