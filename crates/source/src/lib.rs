//! Text with places: JSON and YAML become one spanned tree, findings become
//! diagnostics, edits by pointer become bytes.
//!
//! Nothing here knows what the text is about. There is no IO either: a caller hands in bytes and
//! gets back a [`Document`], which exists for every input, however broken: what is wrong with the
//! text is in [`Document::problems`].
//!
//! ```
//! use toolwright_source::{Document, Syntax};
//!
//! let doc = Document::parse("pet.yaml", b"name: Rex\nlegs: 4\nlegs: 3\n", Syntax::Yaml);
//! let root = doc.root();
//! assert_eq!(root.get("name").and_then(|n| n.text()), Some("Rex"));
//! assert_eq!(doc.problems()[0].code.name, "DUPLICATE_KEY");
//! assert_eq!(doc.problems()[0].line_column(), Some((3, 1)));
//! ```

pub mod codes;
mod core_schema;
mod decoded_offset;
mod diagnostic;
mod document;
mod edit;
mod finding;
mod json;
mod node;
mod number;
mod origin;
mod pointer;
mod problems;
pub mod render;
mod text;
mod tree;
mod value_text;
pub mod words;
mod yaml;

pub use diagnostic::{Diagnostic, Fix, Label};
pub use document::{Document, Syntax};
pub use edit::{Edit, EditError, TextEdit, plan, splice};
pub use finding::{
    CodeSample, DiagnosticCode, Finding, FindingPart, RecordFinding, Repair, Safety, Severity,
};
pub use node::{Member, Node};
pub use origin::{Location, Origin, locate};
pub use pointer::{DocumentPath, InDocument, InRecord, Pointer, PointerToken, RecordPath};
pub use text::{EncodingError, LineColumn, Source, Span};
pub use tree::{Style, ValueKind};

/// Containers may be nested this deep; a deeper document is `TOO_DEEP`.
pub const MAX_DEPTH: usize = 128;
/// A document larger than this is `TOO_LARGE` and not parsed: nothing that people write comes near
/// it.
pub const MAX_BYTES: usize = 16 << 20;
/// Values in one document; together with [`MAX_BYTES`] this bounds memory.
pub const MAX_NODES: usize = 1_000_000;
/// Values that YAML aliases may add by repetition (a billion laughs stops here).
pub const MAX_ALIASED_NODES: usize = 250_000;
/// ProblemCollector of the text that are kept per document; a file with more is not worth reading on.
pub const MAX_PROBLEMS: usize = 100;
