//! Gemini's function declarations: one, a list, `functionDeclarations` around a list, a list of
//! such objects, or a request with it in `tools`. Both spellings are read, that of the API
//! (`functionDeclarations`) and that of Python (`function_declarations`).
//!
//! A schema is either JSON Schema (`parametersJsonSchema`, `responseJsonSchema`) or Gemini's
//! variant of OpenAPI's (`parameters`, `response`), which becomes JSON Schema in the record. Tools
//! of Google's own (`googleSearch`) are kept and not read.
//!
//! ```text
//! {tools: […]}                     a request   ─┐
//! […]                              a list       ├─▶ items ─┬─ with a list of declarations: each
//! {functionDeclarations: […]}      a tool       │          ├─ a declaration: itself
//! {name, parameters}               a declaration┘          └─ anything else: kept in `Rest`
//! ```

mod write;

use std::sync::Arc;

use toolwright_model::{Conventions, Draft, FieldValue, FormatId, Json, Rest, ToolId, Toolset};
use toolwright_source::{Document, DocumentPath, Finding, Node, Origin, ValueKind, words};

use crate::field::{
    CustomCheck, Field, FieldKind, TEXT, choice, optional, optional_or_null, required,
};
use crate::findings::FindingList;
use crate::function_tools::{
    FunctionTool, MissingInput, SCHEMA_OR_NULL, check_items, keep_around, keep_item, keep_members,
};
use crate::openapi_schema::{SchemaVariant, to_json_schema};
use crate::{Format, Reading, codes, extract, shape};

pub(crate) use write::{SchemaField, write};

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("gemini");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct Gemini;

/// Rules in which formats differ, for the checks that apply to all of them.
static CONVENTIONS: Conventions = Conventions { has_openapi_schemas: true, ..Conventions::NONE };

/// The fields of a declaration (`FunctionDeclaration` of google-genai 3.1.0).
///
/// The spellings of Python are fields of their own.
static DECLARATION: &[Field] = &[
    required("name", NAME, "what the function is called by"),
    optional_or_null("description", TEXT, "what it does, for the model to read"),
    optional("parameters", SCHEMA_OR_NULL, "the schema of its arguments, a subset of OpenAPI's"),
    optional("parametersJsonSchema", SCHEMA_OR_NULL, "the JSON Schema of its arguments"),
    optional("response", SCHEMA_OR_NULL, "the schema of its result, a subset of OpenAPI's"),
    optional("responseJsonSchema", SCHEMA_OR_NULL, "the JSON Schema of its result"),
    optional_or_null(
        "behavior",
        choice(&["UNSPECIFIED", "BLOCKING", "NON_BLOCKING"]),
        "whether the model waits for the result",
    ),
    optional("parameters_json_schema", SCHEMA_OR_NULL, "the JSON Schema of its arguments (Python)"),
    optional("response_json_schema", SCHEMA_OR_NULL, "the JSON Schema of its result (Python)"),
];

/// A list of declarations.
const DECLARATIONS: FieldKind = FieldKind::List { of: &FieldKind::Object(DECLARATION), min: 0 };

/// A tool: all functions of a request are in one. Google's own tools stand beside them and are
/// reported as unknown fields, which are notes.
static TOOL: &[Field] = &[
    optional("functionDeclarations", DECLARATIONS, "the functions"),
    optional("function_declarations", DECLARATIONS, "the functions (Python)"),
];

/// A request, as far as it is about tools.
static REQUEST: &[Field] = &[
    required("tools", TOOLS, "the list of tools"),
    optional("model", FieldKind::Any, "the model that is asked"),
    optional("contents", FieldKind::Any, "the conversation"),
    optional("toolConfig", FieldKind::Any, "how functions are called"),
    optional("systemInstruction", FieldKind::Any, "the system prompt"),
    optional("generationConfig", FieldKind::Any, "how the model answers"),
];

/// A list of tools or of declarations.
const TOOLS: FieldKind =
    FieldKind::Custom { expects: "a list of tools", check: CustomCheck(tools) };

/// An item of the list.
const ITEM: FieldKind =
    FieldKind::Custom { expects: "a tool or a declaration", check: CustomCheck(item) };

/// A name, which may have one `:` as an id has.
const NAME: FieldKind = FieldKind::Custom {
    expects: "letters, digits, `_`, `.` and `-`, and at most one `:`",
    check: CustomCheck(name),
};

/// The spellings of the list of declarations.
const LISTS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// Checks a list whose items are tools or declarations.
fn tools(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    match node.kind() {
        ValueKind::List => check_items(node, &ITEM, out),
        _ => shape::report_wrong_type(node, "a list", out),
    }
}

/// Checks an item as what it looks like. An object that is neither is one of Google's own tools. An
/// item that is not an object is checked as a declaration, which reports its type.
fn item(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if LISTS.iter().any(|list| node.has(list)) {
        shape::check_object(node, TOOL, out);
    } else if node.kind() != ValueKind::Map || is_declaration(node) {
        shape::check_object(node, DECLARATION, out);
    }
}

/// Checks a name. The table has no pattern for it, because a name may be an id, `ns:name`.
fn name(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if node.kind() != ValueKind::String {
        return shape::report_wrong_type(node, "a string", out);
    }
    if let Err(error) = ToolId::parse(node.raw()) {
        let message = format!("`{}` is not a name: {error}", words::shorten(node.raw()));
        out.push(Finding::new(&codes::INVALID_PATTERN, node.pointer(), message));
    }
}

/// Whether it is a declaration and not a tool of Google's own, which has no such field. A single
/// known field is enough, so that a declaration without a name is still checked.
fn is_declaration(node: Node<'_>) -> bool {
    DECLARATION.iter().any(|field| node.has(field.name))
}

impl Format for Gemini {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "Gemini function declarations, with `parameters` or `parametersJsonSchema`"
    }

    fn fields(&self) -> &'static [Field] {
        TOOL
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        let root = document.root();
        let mut findings = FindingList::default();
        let mut origin = Origin::whole(document);
        let mut toolset = Toolset { conventions: &CONVENTIONS, ..Toolset::default() };
        let has_list = LISTS.iter().any(|list| root.has(list));
        let items: Vec<Node<'_>> = if root.has("tools") && !has_list {
            shape::check_object(root, REQUEST, &mut findings);
            keep_around(root, "tools", ID, &mut toolset.rest);
            root.get("tools").into_iter().flat_map(extract::items).collect()
        } else if root.kind() == ValueKind::List {
            tools(root, root, &mut findings);
            extract::items(root).collect()
        } else {
            match has_list {
                true => shape::check_object(root, TOOL, &mut findings),
                false => shape::check_object(root, DECLARATION, &mut findings),
            }
            vec![root]
        };
        for node in items.into_iter().filter(|node| node.kind() == ValueKind::Map) {
            // Both spellings may be in one item; then the functions of both are read.
            let declarations: Vec<Node<'_>> =
                LISTS.iter().flat_map(|list| extract::objects(node, list)).collect();
            let is_tool = LISTS.iter().any(|list| node.has(list));
            if is_tool {
                // Google's own tools may stand beside the functions.
                keep_members(node, &LISTS, &node.pointer(), ID, &mut toolset.rest);
            } else if !is_declaration(node) {
                keep_item(node, ID, &mut toolset.rest);
                continue;
            }
            for declaration in if is_tool { declarations } else { vec![node] } {
                let draft = read_declaration(declaration, toolset.tools.len(), &mut origin);
                toolset.tools.push(draft);
            }
        }
        Reading { format: ID, dialect: None, toolset, origin, findings: findings.into_vec() }
    }
}

/// A schema in Gemini's variant, as JSON Schema. Types in upper case, `nullable` and enum values as
/// texts become what JSON Schema has.
fn to_plain(mut schema: Json) -> Json {
    to_json_schema(&mut schema, SchemaVariant::Gemini);
    schema
}

/// One declaration. `index` is its place in the toolset.
///
/// With both kinds of schema, the other one is kept in `Rest`, and left out when it is written.
///
/// ```text
/// name: notes:add   ─▶  namespace `notes`, name `add`
/// name: add         ─▶  name `add`
/// ```
fn read_declaration(node: Node<'_>, index: usize, origin: &mut Origin) -> Draft {
    // JSON Schema first, as the field that says more.
    let find = |names: [&'static str; 3]| names.into_iter().find(|name| node.has(name));
    let input = find(["parametersJsonSchema", "parameters_json_schema", "parameters"]);
    let output = find(["responseJsonSchema", "response_json_schema", "response"]);
    let tool = FunctionTool {
        item: node,
        function: node,
        input: input.and_then(|name| node.get(name)),
        output: output.and_then(|name| node.get(name)),
    };
    let mut draft = tool.draft(index, MissingInput::NoParameters, origin);
    if input == Some("parameters") {
        draft.input = draft.input.map(|schema| to_plain(schema.to_json()).into());
    }
    if output == Some("response") {
        draft.output = draft.output.map(to_plain);
    }
    // `ns:name` is what the record writes for a name in a namespace.
    if let Some(Ok(id)) = node.get("name").and_then(Node::text).map(ToolId::parse) {
        draft.namespace = id.namespace.map_or(FieldValue::Missing, FieldValue::Valid);
        draft.name = FieldValue::Valid(id.name);
    }
    let mut rest = Rest::default();
    let taken: Vec<&str> = ["name", "description"].into_iter().chain(input).chain(output).collect();
    keep_members(node, &taken, &DocumentPath::root(), ID, &mut rest);
    draft.details.rest = rest;
    draft
}
