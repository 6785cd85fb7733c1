//! MCP tools: one tool, a list of tools, or the response to `tools/list`, with or without the
//! JSON-RPC envelope. toolfoundation's definitions are MCP tools with `namespace`, `version` and
//! `tags`, so they share this table instead of being a format of their own.
//!
//! ```text
//! VARIANT (mcp)    TOOL, LIST, ENVELOPE          read ─┐
//! webmcp::VARIANT  its own tables, no envelope   read ─┴─▶ read::read, one reader for both
//! ```
//!
//! Fields of all revisions are in one table: which revision a list is of cannot be seen in it.

mod read;
mod write;

use std::sync::Arc;

use toolwright_model::{Conventions, FormatId, Namespace};
use toolwright_source::{Document, Finding, Node, ValueKind, words};

use crate::field::{
    CustomCheck, FREE, Field, FieldKind, TEXT, TEXTS, TextFormat, address, choice, optional,
    pattern, required,
};
use crate::findings::FindingList;
use crate::patterns::TOOL_NAME;
use crate::{Format, Reading, codes, shape};

pub(crate) use write::{McpFields, write, write_example};

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("mcp");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct Mcp;

/// MCP requires that the input schema has the type `object`.
static CONVENTIONS: Conventions = Conventions { requires_object_input: true, ..Conventions::NONE };

impl Format for Mcp {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "Model Context Protocol: a tool, a list, a `tools/list` result; toolfoundation's fields too"
    }

    fn fields(&self) -> &'static [Field] {
        TOOL
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        read::read(document, &VARIANT)
    }
}

/// A format with the shape of MCP.
///
/// A difference that is not a table is a member here and never a test of the id.
pub(crate) struct McpVariant {
    /// The name that `--format` takes.
    pub(crate) id: FormatId,
    /// What it demands beyond the shape.
    pub(crate) conventions: &'static Conventions,
    /// The fields of a tool, and a list of tools.
    pub(crate) tool: &'static [Field],
    pub(crate) tools: &'static FieldKind,
    /// The object around `tools`.
    pub(crate) list: &'static [Field],
    /// The JSON-RPC response around that, if the format has one.
    pub(crate) envelope: Option<&'static [Field]>,
    /// Whether a tool without a schema takes nothing, and is not a mistake. For a schema that is
    /// null, too.
    pub(crate) may_lack_input: bool,
}

/// MCP itself.
static VARIANT: McpVariant = McpVariant {
    id: ID,
    conventions: &CONVENTIONS,
    tool: TOOL,
    tools: &TOOLS,
    list: LIST,
    envelope: Some(ENVELOPE),
    may_lack_input: false,
};

/// Reads a document of a format with the shape of MCP.
pub(crate) fn read_variant(document: &Arc<Document>, variant: &'static McpVariant) -> Reading {
    read::read(document, variant)
}

/// The hints of a tool. Authors often leave out the suffix `Hint`, hence the misspellings.
pub(crate) static ANNOTATIONS: &[Field] = &[
    optional("title", TEXT, "a display name"),
    optional("readOnlyHint", FieldKind::Boolean, "it changes nothing").misspelled_as("readOnly"),
    optional("destructiveHint", FieldKind::Boolean, "it may destroy something")
        .misspelled_as("destructive"),
    optional("idempotentHint", FieldKind::Boolean, "calling it twice is calling it once")
        .misspelled_as("idempotent"),
    optional("openWorldHint", FieldKind::Boolean, "it reaches the outside world")
        .misspelled_as("openWorld"),
];

/// An image of a tool. The images are not fetched.
pub(crate) static ICON: &[Field] = &[
    required("src", address(TextFormat::Uri), "the URL of the image"),
    optional("mimeType", TEXT, "its media type"),
    optional("sizes", TEXTS, "sizes such as `48x48`, or `any`"),
    optional("theme", choice(&["light", "dark"]), "the background it is made for"),
];

/// How a tool can be run. The record does not use it; it is kept for writing back. The executor of
/// MCP servers reads it, to run calls as tasks.
static EXECUTION: &[Field] = &[optional(
    "taskSupport",
    choice(&["forbidden", "optional", "required"]),
    "whether it can run as a task",
)];

/// The fields of a tool. `since` names the revision of the specification that introduced a field.
pub(crate) static TOOL: &[Field] = &[
    required("name", pattern(&TOOL_NAME, 1, 128), "what the tool is called by"),
    optional("title", TEXT, "a display name"),
    optional("description", TEXT, "what the tool does, for the agent to read"),
    required("inputSchema", FieldKind::Schema, "the JSON Schema of the arguments"),
    optional("outputSchema", FieldKind::Schema, "the JSON Schema of structured results")
        .since("2025-06-18"),
    optional("annotations", FieldKind::Object(ANNOTATIONS), "hints about its behaviour")
        .since("2025-03-26"),
    optional(
        "icons",
        FieldKind::List { of: &FieldKind::Object(ICON), min: 0 },
        "images that stand for it",
    )
    .since("2025-11-25"),
    optional("execution", FieldKind::Object(EXECUTION), "how it can be run").since("2025-11-25"),
    optional("_meta", FREE, "free metadata"),
    optional("namespace", NAMESPACE, "what its id starts with (toolfoundation)"),
    optional(
        "version",
        FieldKind::Version { v_prefix: true },
        "its semantic version (toolfoundation)",
    ),
    optional("tags", TEXTS, "words to find it by (toolfoundation)"),
];

/// A list of tools.
pub(crate) const TOOLS: FieldKind = FieldKind::List { of: &FieldKind::Object(TOOL), min: 0 };

/// The object around `tools`: the result of `tools/list`.
pub(crate) static LIST: &[Field] = &[
    required("tools", TOOLS, "the list of tools"),
    optional("nextCursor", TEXT, "where the next page starts"),
    optional("_meta", FREE, "free metadata"),
];

/// The JSON-RPC response around that result. `jsonrpc` is optional, as saved answers often lack it.
pub(crate) static ENVELOPE: &[Field] = &[
    optional("jsonrpc", choice(&["2.0"]), "the version of JSON-RPC"),
    optional("id", FieldKind::Any, "the request it answers"),
    required("result", FieldKind::Object(LIST), "the list of tools"),
];

/// toolfoundation prescribes no pattern for namespaces. A tool's id is `namespace:name`, so at
/// least `:` cannot be part of one.
const NAMESPACE: FieldKind = FieldKind::Custom {
    expects: "a text without `:`, white space and control characters",
    check: CustomCheck(namespace),
};

/// Checks a namespace. One that only some programs accept is a warning. Not a pattern of a table,
/// because there are two kinds of mistakes with different severities.
fn namespace(_: Node<'_>, node: Node<'_>, out: &mut FindingList) {
    if node.kind() != ValueKind::String {
        return shape::report_wrong_type(node, "a string", out);
    }
    // Three results: accepted everywhere, accepted by toolfoundation only, not a namespace.
    match Namespace::parse(node.raw()) {
        Ok(namespace) if namespace.is_portable() => {}
        // Legal for toolfoundation, but other programs refuse such characters in names.
        Ok(_) => out.push(
            shape::naming_warning(
                node,
                format!(
                    "namespace `{}` has characters that other programs refuse",
                    words::shorten(node.raw())
                ),
            )
            .help("letters, digits, `_`, `.` and `-` are accepted everywhere"),
        ),
        Err(error) => {
            let message = format!("`{}` is not a namespace: {error}", words::shorten(node.raw()));
            out.push(Finding::new(&codes::INVALID_PATTERN, node.pointer(), message));
        }
    }
}
