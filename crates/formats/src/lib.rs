//! The formats in which tools are written down. A format is a folder here and one line in
//! [`FORMATS`]; which one a document is in is settled by one ordered table, `detect`.
//!
//! Reading never fails: a document of a known format always gives a [`Reading`] whose drafts hold
//! what could be read, and findings for all that could not.
//!
//! ```
//! use std::sync::Arc;
//! use toolwright_formats::{Detected, detect, read};
//! use toolwright_source::{Document, Syntax};
//!
//! let text = r#"{"name": "now", "inputSchema": {"type": "object"}, "titel": "Clock"}"#;
//! let document = Arc::new(Document::parse("now.json", text, Syntax::Json));
//! let Detected::Format(format) = detect(&document) else { panic!("this is MCP") };
//! let reading = read(&document, format);
//! assert_eq!(reading.toolset.tools[0].name.ok().unwrap().as_str(), "now");
//! assert_eq!(reading.findings[0].code.name, "MISSPELLED_FIELD");
//! ```

mod aios;
mod btcp;
pub mod codes;
mod detect;
mod field;
mod findings;
mod ikigai;
mod mcp;
mod patterns;
mod shape;
mod take;

use std::sync::Arc;

use toolwright_model::{Draft, FormatId, Toolset};
use toolwright_source::{Document, Finding, Origin};

pub use detect::{Detected, LOOKED_FOR, detect, speaks_of_tools};
pub use field::{Field, FieldKind, Need, Pattern, TextFormat};

/// Items of one list and commands of one tool that are read. No definition comes near it; a
/// document with more is `TOO_LARGE`, so that a small file cannot become a record that fills the
/// memory.
pub const MAX_ITEMS: usize = 10_000;

/// A way of writing tools down.
pub trait Format: Sync {
    /// Its name, as `--format` takes it.
    fn id(&self) -> FormatId;

    /// One line on what it is.
    fn about(&self) -> &'static str;

    /// Its fields as data: the shape findings come from here, and so do docs and completion.
    fn fields(&self) -> &'static [Field];

    /// The record of a document in this format, and everything that is wrong with its shape.
    fn read(&self, document: &Arc<Document>) -> Reading;
}

/// What a format makes of a document.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The format it was read as.
    pub format: FormatId,
    /// The format's own version, where the document or its features tell.
    pub dialect: Option<String>,
    /// The record.
    pub toolset: Toolset<Draft>,
    /// Where each part of the record came from.
    pub origin: Origin,
    /// What is wrong, by pointers into the document.
    pub findings: Vec<Finding>,
}

/// All formats. Table tests walk this list.
pub static FORMATS: &[&dyn Format] = &[&btcp::Btcp, &aios::Aios, &ikigai::Ikigai, &mcp::Mcp];

/// The format called `name`.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.id().0 == name)
}

/// Reads `document` as `format`.
pub fn read(document: &Arc<Document>, format: FormatId) -> Reading {
    let format = by_name(format.0).unwrap_or(FORMATS[0]);
    let mut reading = format.read(document);
    reading.findings.retain(|finding| !is_guess(finding, document));
    reading
}

/// Where reading stopped inside an object, what it lacks may stand further down.
fn is_guess(finding: &Finding, document: &Document) -> bool {
    let around = || finding.at.parent().and_then(|parent| document.root().find(&parent));
    finding.code == &codes::MISSING_REQUIRED_FIELD
        && around().is_none_or(|node| document.is_unfinished(node))
}
