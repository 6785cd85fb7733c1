//! Anthropic's tools: one tool, a list, or a request with the list in `tools`. Tools of Anthropic's
//! own (`type: web_search_20250305`) have no schema: they are kept and not read.
//!
//! ```text
//! {name, input_schema}               a tool
//! […]                                a list
//! {tools: […], model, messages}      a request
//! ```
//!
//! `input_examples` are arguments alone. In the record each is an example without a result.

mod write;

use std::sync::Arc;

use toolwright_model::{Conventions, Draft, Example, FormatId, Rest, Toolset};
use toolwright_source::{Document, DocumentPath, Node, Origin, RecordPath, ValueKind};

use crate::field::{
    CustomCheck, FREE, Field, FieldKind, TEXT, TEXTS, choice, optional, optional_or_null, pattern,
    required,
};
use crate::findings::FindingList;
use crate::function_tools::{
    FunctionTool, MissingInput, check_items, keep_around, keep_item, keep_members,
};
use crate::patterns::TOOL_NAME;
use crate::{Format, Reading, extract, shape};

pub(crate) use write::write;

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("anthropic");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct Anthropic;

/// The API requires that the input schema has the type `object`.
static CONVENTIONS: Conventions = Conventions { requires_object_input: true, ..Conventions::NONE };

/// The fields of a tool (`ToolParam` of anthropic 2.8.0).
///
/// What is about a request and not about the tool (`cache_control`, `strict`) is kept in `rest`.
static TOOL: &[Field] = &[
    required("name", pattern(&TOOL_NAME, 1, 128), "what the tool is called by"),
    optional("description", TEXT, "what the tool does, for the model to read"),
    required("input_schema", FieldKind::Schema, "the JSON Schema of the arguments"),
    optional_or_null("type", choice(&["custom"]), "`custom`, or absent"),
    optional("input_examples", FieldKind::List { of: &FREE, min: 0 }, "examples of arguments"),
    optional("strict", FieldKind::Boolean, "whether the schema is enforced"),
    optional_or_null("cache_control", FREE, "where the prompt is cached"),
    optional("defer_loading", FieldKind::Boolean, "whether it is loaded on demand"),
    optional_or_null("eager_input_streaming", FieldKind::Boolean, "whether arguments are streamed"),
    optional("allowed_callers", TEXTS, "who may call it"),
];

/// A request, as far as it is about tools.
static REQUEST: &[Field] = &[
    required("tools", TOOLS, "the list of tools"),
    optional("model", FieldKind::Any, "the model that is asked"),
    optional("max_tokens", FieldKind::Any, "the longest answer"),
    optional("messages", FieldKind::Any, "the conversation"),
    optional("system", FieldKind::Any, "the system prompt"),
    optional("tool_choice", FieldKind::Any, "which tool is to be called"),
];

/// A list of tools.
const TOOLS: FieldKind =
    FieldKind::Custom { expects: "a list of tools", check: CustomCheck(tools) };

/// A tool, unless it is one of Anthropic's own.
const ITEM: FieldKind = FieldKind::Custom { expects: "a tool", check: CustomCheck(item) };

/// Checks a list of tools.
fn tools(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    match node.kind() {
        ValueKind::List => check_items(node, &ITEM, out),
        _ => shape::report_wrong_type(node, "a list", out),
    }
}

/// Checks a tool that has a schema. Those of Anthropic have fields of their own, which change. A
/// tool with an unknown `type` and a schema is checked as one of the user's.
fn item(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if !is_server_tool(node) {
        shape::check_object(node, TOOL, out);
    }
}

/// Whether it is a tool that Anthropic defines and, for most, runs: it has a type of its own and no
/// schema. Such a `type` has a date in it, so there is no list of them.
fn is_server_tool(node: Node<'_>) -> bool {
    let kind = node.get("type").and_then(Node::text);
    kind.is_some_and(|kind| kind != "custom") && !node.has("input_schema")
}

impl Format for Anthropic {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "Anthropic tools: one, a list, or a request with `tools`"
    }

    fn fields(&self) -> &'static [Field] {
        TOOL
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        let root = document.root();
        let mut findings = FindingList::default();
        let mut origin = Origin::whole(document);
        let mut toolset = Toolset { conventions: &CONVENTIONS, ..Toolset::default() };
        let list: Vec<Node<'_>> = if root.has("tools") {
            shape::check_object(root, REQUEST, &mut findings);
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
            if is_server_tool(node) {
                keep_item(node, ID, &mut toolset.rest);
            } else {
                toolset.tools.push(read_tool(node, toolset.tools.len(), &mut origin));
            }
        }
        Reading { format: ID, dialect: None, toolset, origin, findings: findings.into_vec() }
    }
}

/// One tool. `index` is its place in the toolset. Items of `input_examples` that are not objects
/// were reported, and have no place in the record.
fn read_tool(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    let tool =
        FunctionTool { item: node, function: node, input: node.get("input_schema"), output: None };
    let mut draft = tool.draft(index, MissingInput::Error, origin);
    let at = RecordPath::root().child("tools").child(index).child("examples");
    let mut examples = Vec::new();
    for input in extract::objects(node, "input_examples") {
        // In the record, the arguments are a field of the example.
        origin.note(at.child(examples.len()).child("input"), input);
        examples.push(Example { input: Some(input.to_json()), ..Example::default() });
    }
    if let Some(list) = node.get("input_examples") {
        origin.note(at, list);
    }
    draft.details.examples = examples;
    let mut rest = Rest::default();
    let taken = ["name", "description", "input_schema", "input_examples"];
    keep_members(node, &taken, &DocumentPath::root(), ID, &mut rest);
    draft.details.rest = rest;
    draft
}
