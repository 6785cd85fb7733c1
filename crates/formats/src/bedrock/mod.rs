//! The tools of Amazon Bedrock's Converse API: one `toolSpec`, a list, a `toolConfig` with the list
//! in `tools`, or a request with that in `toolConfig`. Tools of Bedrock's own (`systemTool`) and
//! cache points are kept and not read.
//!
//! ```text
//! {toolSpec: {name, inputSchema: {json}}}     a tool
//! […]                                         a list
//! {tools: […], toolChoice}                    a `toolConfig`
//! {toolConfig: {tools: […]}, messages}        a request
//! ```

mod write;

use std::sync::Arc;

use toolwright_model::{Conventions, Draft, FormatId, Rest, Toolset};
use toolwright_source::{Document, DocumentPath, Node, Origin, ValueKind};

use crate::field::{CustomCheck, Field, FieldKind, TEXT, length, optional, pattern, required};
use crate::findings::FindingList;
use crate::function_tools::{
    FunctionTool, MissingInput, check_items, is_object_with, keep_around, keep_item, keep_members,
};
use crate::patterns::TOOL_NAME;
use crate::{Format, Reading, extract, shape};

pub(crate) use write::write;

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("bedrock");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct Bedrock;

/// The API requires that the input schema has the type `object`.
static CONVENTIONS: Conventions = Conventions { requires_object_input: true, ..Conventions::NONE };

/// The fields of a function (`ToolSpecification` of botocore 1.44.0).
///
/// The description must not be empty if it is there: the API refuses that.
static TOOL_SPEC: &[Field] = &[
    required("name", pattern(&TOOL_NAME, 1, 128), "what the tool is called by"),
    optional("description", length(1, usize::MAX), "what the tool does, for the model to read"),
    required("inputSchema", FieldKind::Object(INPUT_SCHEMA), "the schema of the arguments"),
    optional("strict", FieldKind::Boolean, "whether the schema is enforced"),
];

/// The schema, one level down.
static INPUT_SCHEMA: &[Field] =
    &[required("json", FieldKind::Schema, "the JSON Schema of the arguments")];

/// An item of the list that is a function.
static TOOL: &[Field] = &[required("toolSpec", FieldKind::Object(TOOL_SPEC), "the function")];

/// The object around the list.
static TOOL_CONFIG: &[Field] = &[
    required("tools", TOOLS, "the list of tools"),
    optional("toolChoice", FieldKind::Any, "which tool is to be called"),
];

/// A request, as far as it is about tools.
static REQUEST: &[Field] = &[
    required("toolConfig", FieldKind::Object(TOOL_CONFIG), "the tools"),
    optional("modelId", TEXT, "the model that is asked"),
    optional("messages", FieldKind::Any, "the conversation"),
    optional("system", FieldKind::Any, "the system prompt"),
    optional("inferenceConfig", FieldKind::Any, "how the model answers"),
];

/// A list of tools.
const TOOLS: FieldKind =
    FieldKind::Custom { expects: "a list of tools", check: CustomCheck(tools) };

/// An item of the list.
const ITEM: FieldKind = FieldKind::Custom { expects: "a tool", check: CustomCheck(item) };

/// Checks a list of tools.
fn tools(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    match node.kind() {
        ValueKind::List => check_items(node, &ITEM, out),
        _ => shape::report_wrong_type(node, "a list", out),
    }
}

/// Checks an item that is a function.
fn item(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if !is_other_tool(node) {
        shape::check_object(node, TOOL, out);
    }
}

/// Whether it is an item of the list that is not a function.
fn is_other_tool(node: Node<'_>) -> bool {
    is_object_with(node, "systemTool") || is_object_with(node, "cachePoint")
}

impl Format for Bedrock {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "Amazon Bedrock Converse: `toolSpec`, a list, or a `toolConfig`"
    }

    fn fields(&self) -> &'static [Field] {
        TOOL
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        let root = document.root();
        let mut findings = FindingList::default();
        let mut origin = Origin::whole(document);
        let mut toolset = Toolset { conventions: &CONVENTIONS, ..Toolset::default() };
        let list: Vec<Node<'_>> = if let Some(config) = extract::object(root, "toolConfig") {
            shape::check_object(root, REQUEST, &mut findings);
            keep_around(root, "toolConfig", ID, &mut toolset.rest);
            keep_around(config, "tools", ID, &mut toolset.rest);
            config.get("tools").into_iter().flat_map(extract::items).collect()
        } else if root.has("tools") {
            shape::check_object(root, TOOL_CONFIG, &mut findings);
            keep_around(root, "tools", ID, &mut toolset.rest);
            root.get("tools").into_iter().flat_map(extract::items).collect()
        } else if root.kind() == ValueKind::List {
            tools(root, root, &mut findings);
            extract::items(root).collect()
        } else {
            shape::check_object(root, TOOL, &mut findings);
            vec![root]
        };
        for node in list.into_iter().filter(|node| node.kind() == ValueKind::Map) {
            if is_other_tool(node) {
                keep_item(node, ID, &mut toolset.rest);
            } else {
                toolset.tools.push(read_tool(node, toolset.tools.len(), &mut origin));
            }
        }
        Reading { format: ID, dialect: None, toolset, origin, findings: findings.into_vec() }
    }
}

/// One tool. `index` is its place in the toolset. An item without `toolSpec` was reported; its
/// members are read in place of those of the function, so that its other mistakes are found, too.
fn read_tool(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    let function = extract::object(node, "toolSpec").unwrap_or(node);
    let schema = extract::object(function, "inputSchema");
    let tool = FunctionTool {
        item: node,
        function,
        input: schema.and_then(|schema| schema.get("json")),
        output: None,
    };
    let mut draft = tool.draft(index, MissingInput::Error, origin);
    let mut rest = Rest::default();
    let at = DocumentPath::root();
    keep_members(node, &["toolSpec"], &at, ID, &mut rest);
    // Without a `toolSpec`, the item itself was read as the function, and nothing is below it.
    if function.pointer() != node.pointer() {
        let at = at.child("toolSpec");
        keep_members(function, &["name", "description", "inputSchema"], &at, ID, &mut rest);
        if let Some(schema) = schema {
            keep_members(schema, &["json"], &at.child("inputSchema"), ID, &mut rest);
        }
    }
    draft.details.rest = rest;
    draft
}
