//! WebMCP: tools that a web page offers to the browser's agent. As JSON they have the shape of
//! MCP's tools with fewer fields, so no key tells the two apart: this format is read only if
//! `--format` names it. A tool without a schema takes nothing.
//!
//! The reader is MCP's, with other tables. `script` writes the JavaScript that registers the tools
//! in a page.

mod script;

use std::sync::Arc;

use toolwright_model::{Conventions, FormatId};
use toolwright_source::Document;

use crate::field::{Field, FieldKind, TEXT, optional, pattern, required};
use crate::function_tools::SCHEMA_OR_NULL;
use crate::mcp::{self, McpVariant};
use crate::patterns::TOOL_NAME;
use crate::{Format, Reading};

pub use script::webmcp_script;

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("webmcp");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct WebMcp;

/// Rules in which formats differ, for the checks that apply to all of them.
static CONVENTIONS: Conventions = Conventions { requires_object_input: true, ..Conventions::NONE };

/// The fields of a tool. Unlike MCP, a description is required and a schema is not.
static TOOL: &[Field] = &[
    required("name", pattern(&TOOL_NAME, 1, 128), "what the tool is called by"),
    optional("title", TEXT, "a display name"),
    required("description", TEXT, "what the tool does, for the agent to read"),
    optional("inputSchema", SCHEMA_OR_NULL, "the JSON Schema of the arguments"),
    optional("outputSchema", SCHEMA_OR_NULL, "the JSON Schema of the result"),
    optional("annotations", FieldKind::Object(mcp::ANNOTATIONS), "hints about its behaviour"),
];

/// The object around `tools`.
static LIST: &[Field] = &[required("tools", TOOLS, "the list of tools")];

/// A list of tools.
const TOOLS: FieldKind = FieldKind::List { of: &FieldKind::Object(TOOL), min: 0 };

/// How MCP's reader reads this format.
static VARIANT: McpVariant = McpVariant {
    id: ID,
    conventions: &CONVENTIONS,
    tool: TOOL,
    tools: &TOOLS,
    list: LIST,
    envelope: None,
    may_lack_input: true,
};

impl Format for WebMcp {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "WebMCP: the tools of a web page, in the shape of MCP; never detected"
    }

    fn fields(&self) -> &'static [Field] {
        TOOL
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        mcp::read_variant(document, &VARIANT)
    }
}
