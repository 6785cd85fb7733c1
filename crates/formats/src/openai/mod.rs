//! OpenAI's functions, in three shapes that share their fields:
//!
//! ```text
//! chat       {type: function, function: {name, description, parameters, strict}}
//! responses  {type: function, name, description, parameters, strict, output_schema}
//!            {type: namespace, name, description, tools: [functions of responses]}
//! functions  {functions: [{name, description, parameters}]}, the oldest
//! ```
//!
//! A document is one of them, a list, or a request with the list in `tools`. Mistral, Cohere,
//! Ollama and others take the chat shape. Tools of other types (`web_search`) are not functions:
//! they are kept and not read.
//!
//! ```text
//! root has `functions`            ─▶ each function        ─┐
//! root has `tools`, no `type`     ─▶ each tool by its shape ├─▶ ToolsReader::add ─▶ Draft
//! root is a list                  ─▶ each tool by its shape │
//! otherwise the root is a tool    ─▶ the tool by its shape ─┘
//! ```
//!
//! `table_of` decides the shape of a tool, for the check and for the reader alike.

mod write;

use std::sync::Arc;

use toolwright_model::{Conventions, Draft, FieldValue, FormatId, Namespace, Rest, Toolset};
use toolwright_source::{Document, DocumentPath, Node, Origin, ValueKind};

use crate::field::{
    CustomCheck, Field, FieldKind, TEXT, TEXTS, choice, optional, optional_or_null, pattern,
    required,
};
use crate::findings::FindingList;
use crate::function_tools::{
    FunctionTool, MissingInput, SCHEMA_OR_NULL, check_items, keep_around, keep_item, keep_members,
};
use crate::patterns::TOOL_NAME;
use crate::{Format, Reading, extract, shape};

pub(crate) use write::{write_chat, write_responses};

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("openai");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct OpenAi;

/// Rules in which formats differ, for the checks that apply to all of them.
static CONVENTIONS: Conventions = Conventions::NONE;

/// A function of the chat shape, below `function`, and of `functions`.
///
/// `strict` is kept in `rest`: whether a schema is enforced is a setting of a request.
static FUNCTION: &[Field] = &[
    required("name", pattern(&TOOL_NAME, 1, 128), "what the function is called by"),
    optional_or_null("description", TEXT, "what it does, for the model to read"),
    optional("parameters", SCHEMA_OR_NULL, "the JSON Schema of its arguments"),
    optional_or_null("strict", FieldKind::Boolean, "whether the schema is enforced"),
];

/// A tool of the chat shape.
static CHAT_TOOL: &[Field] = &[
    required("type", choice(&["function"]), "`function`"),
    required("function", FieldKind::Object(FUNCTION), "the function"),
];

/// A tool of the responses shape. Fields of the current API; a newer one is reported as unknown and
/// kept.
static RESPONSES_TOOL: &[Field] = &[
    required("type", choice(&["function"]), "`function`"),
    required("name", pattern(&TOOL_NAME, 1, 128), "what the function is called by"),
    optional_or_null("description", TEXT, "what it does, for the model to read"),
    optional("parameters", SCHEMA_OR_NULL, "the JSON Schema of its arguments"),
    optional_or_null("strict", FieldKind::Boolean, "whether the schema is enforced"),
    optional("output_schema", SCHEMA_OR_NULL, "the JSON Schema of its result"),
    optional_or_null("defer_loading", FieldKind::Boolean, "whether it is loaded on demand"),
    optional_or_null("allowed_callers", TEXTS, "who may call it"),
    optional_or_null("async", FieldKind::Boolean, "whether its result may come later"),
];

/// Tools under a common name (responses).
static NAMESPACE: &[Field] = &[
    required("type", choice(&["namespace"]), "`namespace`"),
    required("name", pattern(&TOOL_NAME, 1, 64), "what the ids of its tools start with"),
    optional_or_null("description", TEXT, "what its tools are for"),
    required("tools", TOOLS, "its tools"),
];

/// A request, as far as it is about tools. Other members of a request are unknown fields, which are
/// notes.
static REQUEST: &[Field] = &[
    required("tools", TOOLS, "the list of tools"),
    optional("model", FieldKind::Any, "the model that is asked"),
    optional("messages", FieldKind::Any, "the conversation"),
    optional("input", FieldKind::Any, "the conversation (responses)"),
    optional("instructions", FieldKind::Any, "the system prompt (responses)"),
    optional("tool_choice", FieldKind::Any, "which tool is to be called"),
    optional("parallel_tool_calls", FieldKind::Any, "whether several may be called at once"),
];

/// A request of the oldest shape.
static FUNCTIONS: &[Field] = &[
    required(
        "functions",
        FieldKind::List { of: &FieldKind::Object(FUNCTION), min: 0 },
        "the list of functions",
    ),
    optional("model", FieldKind::Any, "the model that is asked"),
    optional("messages", FieldKind::Any, "the conversation"),
    optional("function_call", FieldKind::Any, "which function is to be called"),
];

/// A list of tools of any shape.
const TOOLS: FieldKind =
    FieldKind::Custom { expects: "a list of tools", check: CustomCheck(tools) };

/// A tool, by its shape.
const TOOL: FieldKind = FieldKind::Custom { expects: "a tool", check: CustomCheck(tool) };

/// Checks a list of tools.
fn tools(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    match node.kind() {
        ValueKind::List => check_items(node, &TOOL, out),
        _ => shape::report_wrong_type(node, "a list", out),
    }
}

/// Checks a tool against the table of its shape.
fn tool(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if let Some(table) = table_of(node) {
        shape::check_object(node, table, out);
    }
}

/// The table of a tool; `None` for a tool of another type, which is not a function.
fn table_of(node: Node<'_>) -> Option<&'static [Field]> {
    match node.get("type").and_then(Node::text) {
        Some("namespace") => Some(NAMESPACE),
        Some("function") if node.has("function") => Some(CHAT_TOOL),
        Some("function") => Some(RESPONSES_TOOL),
        Some(_) => None,
        // Without a type: whatever its fields look like, so that the missing type is reported.
        None if node.has("function") => Some(CHAT_TOOL),
        None => Some(RESPONSES_TOOL),
    }
}

impl Format for OpenAi {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "OpenAI functions: chat, responses, `functions`; also Mistral, Cohere and Ollama"
    }

    fn fields(&self) -> &'static [Field] {
        CHAT_TOOL
    }

    // A namespace is a tool with `tools` in it; its `type` tells it from a request.
    fn read(&self, document: &Arc<Document>) -> Reading {
        let root = document.root();
        let mut findings = FindingList::default();
        let mut reader = ToolsReader {
            toolset: Toolset { conventions: &CONVENTIONS, ..Toolset::default() },
            origin: Origin::whole(document),
            dialect: None,
        };
        if root.has("functions") {
            shape::check_object(root, FUNCTIONS, &mut findings);
            keep_around(root, "functions", ID, &mut reader.toolset.rest);
            for node in extract::objects(root, "functions") {
                reader.add(node, node, FieldValue::Missing, "functions");
            }
        } else if root.has("tools") && !root.has("type") {
            shape::check_object(root, REQUEST, &mut findings);
            keep_around(root, "tools", ID, &mut reader.toolset.rest);
            root.get("tools").into_iter().flat_map(extract::items).for_each(|n| reader.read(n));
        } else if root.kind() == ValueKind::List {
            tools(root, root, &mut findings);
            extract::items(root).for_each(|node| reader.read(node));
        } else {
            match table_of(root) {
                Some(table) => shape::check_object(root, table, &mut findings),
                None => shape::check_object(root, RESPONSES_TOOL, &mut findings),
            }
            reader.read(root);
        }
        let ToolsReader { toolset, origin, dialect } = reader;
        let dialect = dialect.map(str::to_owned);
        Reading { format: ID, dialect, toolset, origin, findings: findings.into_vec() }
    }
}

/// The record while it is filled. One for each document.
struct ToolsReader {
    toolset: Toolset<Draft>,
    origin: Origin,
    /// The shape of the first tool.
    dialect: Option<&'static str>,
}

impl ToolsReader {
    /// One item of a list of tools. Tools of other types are kept in `rest`, so that writing the
    /// list back loses nothing.
    fn read(&mut self, node: Node<'_>) {
        match table_of(node).map(|table| table.as_ptr()) {
            // Something else than an object was reported.
            _ if node.kind() != ValueKind::Map => {}
            Some(table) if std::ptr::eq(table, NAMESPACE.as_ptr()) => self.read_namespace(node),
            Some(table) if std::ptr::eq(table, CHAT_TOOL.as_ptr()) => {
                let function = extract::object(node, "function").unwrap_or(node);
                self.add(node, function, FieldValue::Missing, "chat");
            }
            Some(_) => self.add(node, node, FieldValue::Missing, "responses"),
            None => keep_item(node, ID, &mut self.toolset.rest),
        }
    }

    /// The tools of a namespace. Its description has no place in the record. Each item in it is
    /// read as a function, whatever its type is.
    fn read_namespace(&mut self, node: Node<'_>) {
        let namespace =
            || extract::required_value(node, "name", |name| Namespace::parse(name.text()?).ok());
        keep_members(node, &["type", "name", "tools"], &node.pointer(), ID, &mut self.toolset.rest);
        for tool in extract::objects(node, "tools") {
            self.add(tool, tool, namespace(), "responses");
        }
    }

    /// A function; `item` is the object around it, or the function itself.
    fn add(
        &mut self,
        item: Node<'_>,
        function: Node<'_>,
        namespace: FieldValue<Namespace>,
        dialect: &'static str,
    ) {
        self.dialect = self.dialect.or(Some(dialect));
        let tool = FunctionTool {
            item,
            function,
            input: function.get("parameters"),
            output: function.get("output_schema").filter(|_| dialect == "responses"),
        };
        let index = self.toolset.tools.len();
        let mut draft = tool.draft(index, MissingInput::NoParameters, &mut self.origin);
        draft.namespace = namespace;
        draft.details.rest = rest(item, function, dialect);
        self.toolset.tools.push(draft);
    }
}

/// The fields that the record does not have: `strict`, and those of no table. Pointers are relative
/// to the tool, and in the chat shape begin with `/function` for members of the function.
fn rest(item: Node<'_>, function: Node<'_>, dialect: &str) -> Rest {
    let mut rest = Rest::default();
    let root = DocumentPath::root();
    let mut taken = vec!["name", "description", "parameters"];
    if dialect == "responses" {
        taken.extend(["type", "output_schema"]);
    }
    if dialect == "chat" {
        keep_members(item, &["type", "function"], &root, ID, &mut rest);
        keep_members(function, &taken, &root.child("function"), ID, &mut rest);
    } else {
        keep_members(function, &taken, &root, ID, &mut rest);
    }
    rest
}
