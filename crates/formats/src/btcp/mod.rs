//! BTCP, the Browser Tool Calling Protocol: tools that run in a browser, one by one or gathered in
//! a manifest. Bounds such as 64 characters or 300,000 milliseconds are the specification's; a test
//! derives JSON Schemas from these tables and compares them with the published ones.
//!
//! ```text
//! MANIFEST ─┬─ tools ────▶ TOOL ─ examples ─▶ EXAMPLE
//!           ├─ provider ─▶ PROVIDER
//!           └─ config ───▶ CONFIG
//! LIST ──────── tools ────▶ TOOL      without a manifest
//! ```

mod read;
mod write;

use std::sync::Arc;

use toolwright_model::{Conventions, FormatId, NameStyle, Rest, UniqueTools};
use toolwright_source::Document;

use crate::field::{
    FREE, Field, FieldKind, TextFormat, address, choice, length, optional, pattern, required,
};
use crate::field::{TEXT, TEXTS};
use crate::patterns::{BTCP_MANIFEST_NAME, BTCP_PROTOCOL, BTCP_TOOL_NAME, CAPABILITY, ORIGIN};
use crate::{Format, Reading};

pub(crate) use write::{write_manifest, write_tools};

/// The name that `--format` takes.
pub(crate) const ID: FormatId = FormatId("btcp");

/// The format's entry in `crate::FORMATS`.
pub(crate) struct Btcp;

/// Rules in which formats differ, for the checks that apply to all of them.
static CONVENTIONS: Conventions = Conventions {
    names: NameStyle::CamelCaseVerbs,
    unique_tools: UniqueTools::ByName,
    wants_output_schema: true,
    requires_description: true,
    ..Conventions::NONE
};

impl Format for Btcp {
    fn id(&self) -> FormatId {
        ID
    }

    fn about(&self) -> &'static str {
        "Browser Tool Calling Protocol: a manifest, one tool, or a list of tools"
    }

    fn fields(&self) -> &'static [Field] {
        MANIFEST
    }

    fn read(&self, document: &Arc<Document>) -> Reading {
        read::read(document)
    }
}

/// A list of capabilities, which may be empty.
const CAPABILITIES: FieldKind =
    FieldKind::List { of: &pattern(&CAPABILITY, 0, usize::MAX), min: 0 };
/// A time-out in milliseconds: 1 second to 5 minutes. The reader repeats the bounds, because the
/// record must not hold a value outside of them.
const TIMEOUT: FieldKind = FieldKind::Integer { min: 1_000, max: 300_000 };

/// An example of a call.
pub(crate) static EXAMPLE: &[Field] = &[
    optional("description", TEXT, "what the example shows"),
    required("input", FREE, "the arguments of the call"),
    optional("output", FieldKind::Any, "the result that is expected"),
];

/// The fields of a tool.
pub(crate) static TOOL: &[Field] = &[
    // Shorter than the 128 characters of MCP, so not every MCP tool is a BTCP tool.
    required("name", pattern(&BTCP_TOOL_NAME, 1, 64), "what the tool is called by"),
    required("description", length(10, 1_000), "what the tool does, for the agent to read"),
    required("inputSchema", FieldKind::Schema, "the JSON Schema of the arguments"),
    optional("outputSchema", FieldKind::Schema, "the JSON Schema of the result"),
    // Required even if empty, so that a tool without needs states that on purpose.
    required("capabilities", CAPABILITIES, "the list of what the tool needs, `[]` if nothing"),
    optional(
        "examples",
        FieldKind::List { of: &FieldKind::Object(EXAMPLE), min: 0 },
        "calls that show how it is used",
    ),
    optional("deprecated", FieldKind::Boolean, "whether it should no longer be used"),
    optional("deprecationMessage", TEXT, "what to use instead"),
    optional("tags", TEXTS, "words to find it by"),
    optional("timeout", TIMEOUT, "milliseconds a call may take"),
];

/// The object around a list of tools that is not a manifest.
pub(crate) static LIST: &[Field] = &[required("tools", TOOLS, "the list of tools")];

/// A list of tools, which may be empty; that of a manifest may not.
pub(crate) const TOOLS: FieldKind = FieldKind::List { of: &FieldKind::Object(TOOL), min: 0 };

/// The provider of a manifest.
pub(crate) static PROVIDER: &[Field] = &[
    required("name", length(0, 100), "the provider's display name"),
    optional("url", address(TextFormat::Uri), "the provider's web site"),
    optional("contact", address(TextFormat::Email), "where to write to"),
    optional("icon", address(TextFormat::Uri), "the URL of an icon"),
];

/// Limits that hold for all tools of a manifest. The `timeout` that a tool states itself takes
/// precedence.
pub(crate) static CONFIG: &[Field] = &[
    optional("timeout", TIMEOUT, "milliseconds a call may take"),
    // The isolation is a preference: the sandbox here is the same for all of them.
    optional("sandbox", choice(&["worker", "iframe", "ses", "wasm"]), "the isolation it prefers"),
    optional("maxConcurrent", FieldKind::Integer { min: 1, max: 10 }, "calls that may run at once"),
];

/// The root of a manifest.
pub(crate) static MANIFEST: &[Field] = &[
    required("btcp", pattern(&BTCP_PROTOCOL, 0, usize::MAX), "the version of the protocol, `1.0`"),
    required("name", pattern(&BTCP_MANIFEST_NAME, 1, 64), "what the manifest is called by"),
    required(
        "version",
        FieldKind::Version { v_prefix: false },
        "the semantic version of the manifest",
    ),
    optional("description", length(0, 500), "what the tools are for"),
    optional("provider", FieldKind::Object(PROVIDER), "who offers them"),
    required(
        "tools",
        // Its own kind and not `TOOLS`: a manifest without tools offers nothing.
        FieldKind::List { of: &FieldKind::Object(TOOL), min: 1 },
        "the list of tools, at least one",
    ),
    required("capabilities", CAPABILITIES, "the list of all capabilities its tools need"),
    optional("config", FieldKind::Object(CONFIG), "limits that hold for all its tools"),
    // Not in the specification.
    optional("match", ORIGINS, "the origins of the pages its tools work on"),
];

/// A list of origins, such as `https://example.org`.
const ORIGINS: FieldKind = FieldKind::List { of: &pattern(&ORIGIN, 0, usize::MAX), min: 1 };

/// The origins of the pages that the tools of a manifest work on, from the fields that only BTCP
/// has; empty: all. In lower case and without a slash at the end, so that they can be compared as
/// texts.
pub fn btcp_origins(rest: &Rest) -> Vec<String> {
    let listed = rest.get(ID, "/match").and_then(|list| list.as_array());
    let texts = listed.into_iter().flatten().filter_map(|item| item.as_str());
    texts.map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect()
}
