//! ikigai: the description that an executable tool prints when it is run with `--schema`. A call of
//! the tool goes over its standard streams, which is the business of `exec`.
//!
//! This is the smallest format and a good template for a new one: a table of fields, the
//! conventions of the format, and a reader that checks the shape first and then fills the record.

mod write;

use std::sync::Arc;

use toolwright_model::{Binding, Conventions, Details, Draft, FieldValue, FormatId, Rest, Toolset};
use toolwright_source::{Document, DocumentPath, Node, Origin, RecordPath, ValueKind};

use crate::field::{Field, FieldKind, TEXT, pattern, required};
use crate::findings::FindingList;
use crate::patterns::TOOL_NAME;
use crate::{Format, Reading, extract, shape};

pub(crate) use write::write;

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("ikigai");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct Ikigai;

/// Rules in which formats differ, for the checks that apply to all of them.
static CONVENTIONS: Conventions = Conventions { requires_description: true, ..Conventions::NONE };

/// The fields of a tool.
static TOOL: &[Field] = &[
    required("name", pattern(&TOOL_NAME, 1, 128), "what the tool is called by"),
    required("description", TEXT, "what the tool does, for the agent to read"),
    required("parameters", FieldKind::Schema, "the JSON Schema of the arguments"),
];

/// The object around a list of tools. Detection never chooses ikigai for a list, which would be
/// ambiguous, but `--format ikigai` may.
static LIST: &[Field] = &[required("tools", TOOLS, "the list of tools")];

/// A list of tools.
const TOOLS: FieldKind = FieldKind::List { of: &FieldKind::Object(TOOL), min: 0 };

impl Format for Ikigai {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "ikigai: the document that an executable tool prints for `--schema`"
    }

    fn fields(&self) -> &'static [Field] {
        TOOL
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        let root = document.root();
        let mut findings = FindingList::default();
        let mut origin = Origin::whole(document);
        let mut toolset = Toolset { conventions: &CONVENTIONS, ..Toolset::default() };
        // What a program prints is one tool. The other two forms come from files that collect
        // several descriptions.
        let list: Vec<Node<'_>> = if root.has("tools") {
            shape::check_object(root, LIST, &mut findings);
            extract::keep_unknown(root, LIST, &DocumentPath::root(), ID, &mut toolset.rest);
            extract::objects(root, "tools").collect()
        } else if root.kind() == ValueKind::List {
            shape::check_value(root, root, &TOOLS, &mut findings);
            extract::items(root).collect()
        } else {
            shape::check_object(root, TOOL, &mut findings);
            vec![root]
        };
        for node in list.into_iter().filter(|node| node.kind() == ValueKind::Map) {
            toolset.tools.push(read_tool(node, toolset.tools.len(), &mut origin));
        }
        Reading { format: ID, dialect: None, toolset, origin, findings: findings.into_vec() }
    }
}

/// One tool. `index` is its place in the toolset.
fn read_tool(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    let at = RecordPath::root().child("tools").child(index);
    // The key differs from the record's, so the origin must be noted; parts with equal names are
    // found by walking the tree.
    if let Some(parameters) = node.get("parameters") {
        origin.note(at.child("inputSchema"), parameters);
    }
    origin.note(at, node);
    let mut rest = Rest::default();
    extract::keep_unknown(node, TOOL, &DocumentPath::root(), ID, &mut rest);
    Draft {
        name: extract::name(node, "name"),
        description: extract::non_blank_text(node, "description"),
        input: extract::input_schema(node, "parameters"),
        // The format has no place for the schema of the result.
        output: FieldValue::Missing,
        details: Details {
            // The document does not name its program. The loader, which ran it, fills in the path.
            binding: Binding::Executable { program: None },
            rest,
            ..Details::default()
        },
        ..Draft::default()
    }
}
