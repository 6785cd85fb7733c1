//! The formats in which tools are written down. A format is a folder here and one entry in
//! [`FORMATS`]:
//!
//! ```text
//! field.rs      the fields of a format as data
//! shape.rs      a value + a table of fields ─▶ findings
//! extract.rs    typed values out of the tree, for the record
//! detect.rs     which format a document is in: one ordered list of rules
//! live.rs       what a running server lists: the same, with other severities
//! <format>/     its tables, a reader that fills `Toolset<Draft>` and `Origin`, and a writer
//! write.rs      which targets there are, and what all writers share
//! ```
//!
//! Reading never fails: a document of a known format always gives a [`Reading`] whose drafts hold
//! what could be read, with findings for everything that could not. Checking and extracting are
//! separate passes over the same tree. A reader that did both would have to decide at each value
//! whether to go on, and would report less.
//!
//! Not here: rules that relate two values (crate `check`), and what is lost when a definition of
//! one format is written as another (`workspace::convert`).
//!
//! To add a format: write its tables and its reader (`ikigai` is the template), add it to
//! [`FORMATS`], and give it rules in `detect::RULES`, before every rule that would also match its
//! documents. The tests of tables, detection and hostile input then cover it without changes.
//!
//! ```
//! use std::sync::Arc;
//! use toolwright_formats::{DetectionResult, detect, read};
//! use toolwright_source::{Document, Syntax};
//!
//! let text = r#"{"name": "now", "inputSchema": {"type": "object"}, "titel": "Clock"}"#;
//! let document = Arc::new(Document::parse("now.json", text, Syntax::Json));
//! let DetectionResult::Format(format) = detect(&document) else { panic!("this is MCP") };
//! let reading = read(&document, format);
//! assert_eq!(reading.toolset.tools[0].name.ok().unwrap().as_str(), "now");
//! assert_eq!(reading.findings[0].code.name, "MISSPELLED_FIELD");
//! ```

mod aios;
mod anthropic;
mod bedrock;
mod btcp;
pub mod codes;
mod detect;
mod extract;
mod field;
mod findings;
mod function_tools;
mod gemini;
mod ikigai;
pub mod live;
mod mcp;
mod openai;
mod openapi;
mod openapi_schema;
mod patterns;
mod shape;
mod webmcp;
mod write;

use std::sync::Arc;

use toolwright_model::{Draft, FormatId, Toolset};
use toolwright_source::{Document, Finding, Origin};

pub use btcp::btcp_origins;
pub use detect::{DetectionResult, RECOGNISED_KEYS, detect, looks_like_definition};
pub use field::{Field, FieldKind, FieldPresence, TextFormat, TextPattern};
pub use webmcp::webmcp_script;
pub use write::{MissingField, NameShape, NameStart, WriteTarget, WrittenDocument, write};

/// The most items of one list, and commands of one tool, that are read; a document with more gets
/// the finding `TOO_LARGE`. Without a bound, a small YAML file with aliases could become a record
/// that fills the memory. Real definitions have a few hundred at most.
/// `shape::report_too_many_items` reports what `extract::items` cuts.
pub const MAX_ITEMS: usize = 10_000;

/// A format: its name, its fields and its reader.
///
/// A format has no state, so all methods of one are functions of their arguments.
pub trait Format: Sync {
    /// The name that `--format` takes.
    fn id(&self) -> FormatId;

    /// One line that describes it, for `--help`.
    fn about(&self) -> &'static str;

    /// The table of its root object.
    fn fields(&self) -> &'static [Field];

    /// Reads a document, whatever it holds. The findings cover the shape of the document and
    /// nothing else.
    fn read(&self, document: &Arc<Document>) -> Reading;
}

/// A document, read as one format.
///
/// Findings of rules are added later, by `check`; paths in the record lead to the document through
/// `origin` alone.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The format it was read as.
    pub format: FormatId,
    /// The version of the format, where the document states it or its features imply it.
    pub dialect: Option<String>,
    /// The record: the tools, and what the document states about all of them.
    pub toolset: Toolset<Draft>,
    /// Which value of the document each part of the record came from.
    pub origin: Origin,
    /// Mistakes of shape, by pointers into the document.
    pub findings: Vec<Finding>,
}

/// All formats that can be read. The order is that of `--help`; detection has an order of its own.
pub static FORMATS: &[&dyn Format] = &[
    &btcp::Btcp,
    &aios::Aios,
    &ikigai::Ikigai,
    &mcp::Mcp,
    &webmcp::WebMcp,
    &openai::OpenAi,
    &anthropic::Anthropic,
    &gemini::Gemini,
    &bedrock::Bedrock,
    &openapi::OpenApi,
];

/// The format whose id is `name`. `None` for an unknown one, which the parser of arguments has
/// refused already.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.id().0 == name)
}

/// Reads `document` as `format`. An id that is not in `FORMATS` reads as the first format; ids come
/// from `detect` or `by_name`.
pub fn read(document: &Arc<Document>, format: FormatId) -> Reading {
    let format = by_name(format.0).unwrap_or(FORMATS[0]);
    let mut reading = format.read(document);
    reading.findings.retain(|finding| !may_be_unfinished(finding, document));
    reading
}

/// Whether a missing field may be in text that was not read. YAML is read up to its first syntax
/// error, so an object that is open there may have the field further down; reporting it as missing
/// would send the author after a mistake that does not exist.
fn may_be_unfinished(finding: &Finding, document: &Document) -> bool {
    let around = || finding.at.parent().and_then(|parent| document.root().find(&parent));
    finding.code == &codes::MISSING_REQUIRED_FIELD
        && around().is_none_or(|node| document.is_unfinished(node))
}
