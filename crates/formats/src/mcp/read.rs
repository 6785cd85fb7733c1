//! MCP documents into the record.

use std::sync::Arc;

use toolwright_model::{Annotations, Details, Draft, Icon, Rest, Tags, Toolset};
use toolwright_source::{Document, Kind, Node, Origin, Pointer};

use super::{ANNOTATIONS, ENVELOPE, ICON, ID, LIST, TOOL};
use crate::findings::Findings;
use crate::{Reading, shape, take};

pub(super) fn read(document: &Arc<Document>) -> Reading {
    let root = document.root();
    let mut findings = Findings::default();
    let mut origin = Origin::whole(document);
    let mut toolset = Toolset::default();
    let tools = if take::object(root, "result").is_some() {
        shape::object(root, ENVELOPE, &mut findings);
        root.get("result").and_then(|result| result.get("tools"))
    } else if root.has("tools") {
        shape::object(root, LIST, &mut findings);
        take::keep(root, LIST, ID, &mut toolset.rest);
        root.get("tools")
    } else if root.kind() == Kind::List {
        root.items().for_each(|tool| shape::object(tool, TOOL, &mut findings));
        Some(root)
    } else {
        shape::object(root, TOOL, &mut findings);
        None
    };
    let list: Vec<Node<'_>> = tools.map_or_else(|| vec![root], |tools| tools.items().collect());
    for node in list.into_iter().filter(|node| node.kind() == Kind::Map) {
        toolset.tools.push(read_tool(node, toolset.tools.len(), &mut origin));
    }
    Reading { format: ID, dialect: None, toolset, origin, findings: findings.into_vec() }
}

fn read_tool(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    origin.note(Pointer::root().child("tools").child(index), node);
    let mut rest = Rest::default();
    take::keep(node, TOOL, ID, &mut rest);
    if let Some(execution) = node.get("execution") {
        rest.keep(ID, "execution", execution.to_json());
    }
    Draft {
        name: take::name(node, "name"),
        namespace: take::namespace(node, "namespace"),
        description: take::given(node, "description", |n| n.text().map(str::to_owned)),
        version: take::version(node),
        input: take::input_schema(node, "inputSchema"),
        output: take::output_schema(node, "outputSchema"),
        needs: Vec::new(),
        details: Details {
            title: take::text(node, "title"),
            tags: Tags::new(take::texts(node, "tags")),
            annotations: take::object(node, "annotations").map(read_annotations).unwrap_or_default(),
            icons: take::objects(node, "icons").map(read_icon).collect(),
            meta: take::object(node, "_meta").map(|meta| take::rest(meta, &[])),
            rest,
            ..Details::default()
        },
    }
}

fn read_annotations(node: Node<'_>) -> Annotations {
    let hint = |name| node.get(name).and_then(Node::boolean);
    Annotations {
        title: take::text(node, "title"),
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
        rest: take::unclaimed(node, ANNOTATIONS).into_iter().collect(),
    }
}

fn read_icon(node: Node<'_>) -> Icon {
    Icon {
        src: take::text(node, "src").unwrap_or_default(),
        mime_type: take::text(node, "mimeType"),
        sizes: take::texts(node, "sizes"),
        rest: take::rest(node, &ICON.iter().map(|f| f.name).filter(|n| *n != "theme").collect::<Vec<_>>()),
    }
}
