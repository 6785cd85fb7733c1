//! Text with places: JSON and YAML become one spanned tree, findings become diagnostics, edits by
//! pointer become edits of bytes.
//!
//! ```text
//! bytes ─ text ─▶ Source ─ json | yaml ─▶ Tree ─▶ Document ─▶ Node (read by readers and rules)
//!                                                   │
//! Finding (by pointer) ─ origin::locate ────────────┼─▶ Diagnostic (by byte) ─ render ─▶ text
//! Edit    (by pointer) ─ edit::plan     ────────────┴─▶ TextEdit   (by byte) ─ splice ─▶ text
//! ```
//!
//! The crate is independent of what the text is about, but for one thing: a diagnostic names the
//! tool that it lies in, if its caller found one ([`ToolPlace`]). It does no IO: a caller passes
//! bytes and receives a [`Document`]. A document exists for every input, however broken; mistakes
//! of the text are in [`Document::problems`]. Parsing therefore returns no `Result`.
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

mod canonical;
pub mod codes;
mod core_schema;
mod decoded_offset;
mod diagnostic;
mod document;
mod edit;
mod finding;
mod json;
mod json_document;
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
mod yaml_text;

pub use diagnostic::{Diagnostic, Fix, Label, ToolPlace};
pub use document::{Document, Syntax};
pub use edit::{Edit, EditError, TextEdit, plan, splice};
pub use finding::{
    CodeSample, DiagnosticCode, Finding, FindingPart, RecordFinding, Repair, Safety, Severity,
    SharedId,
};
pub use json_document::json_document;
pub use node::{Member, Node};
pub use origin::{Location, Origin, locate, plan_repair};
pub use pointer::{
    DocumentPath, InDocument, InRecord, Pointer, PointerToken, RecordPath, escape_token,
    unescape_token,
};
pub use text::{Anchor, EncodingError, LineColumn, Source, Span, TextOrigin};
pub use tree::{Style, ValueKind};
pub use yaml_text::yaml_document;

/// Levels of nested containers, aliases counted as if written out; a deeper document is `TOO_DEEP`.
/// Recursion over a parsed tree is safe because of this bound: 128 frames fit every stack.
pub const MAX_DEPTH: usize = 128;
/// Bytes of one document (16 MiB); a larger one is `TOO_LARGE` and not parsed. No definition that a
/// person wrote comes near it, and every offset fits a `u32` below it.
pub const MAX_BYTES: usize = 16 << 20;
/// Values in one document, keys included. [`MAX_BYTES`] alone would allow millions of empty
/// lists; together the two bound the memory of a tree.
pub const MAX_NODES: usize = 1_000_000;
/// Values that YAML aliases may add by repetition. A few hundred bytes of nested aliases (the
/// "billion laughs") would otherwise become gigabytes in [`Node::to_json`]. For the same reason
/// they may repeat [`MAX_BYTES`] of text.
pub const MAX_ALIASED_NODES: usize = 250_000;
/// Problems of the text that are kept per document. Reading stops at the next one: such a file is
/// usually not JSON or YAML at all.
pub const MAX_PROBLEMS: usize = 100;
