//! HTML into a tree.
//!
//! ```text
//! text ─▶ tokenizer ─▶ DepthLimiter ─▶ tree builder ─▶ HtmlTreeBuilder ─▶ HtmlTree
//!         html5ever                    html5ever
//! ```
//!
//! html5ever implements the parsing algorithm of the HTML standard, so a broken page is repaired
//! as a browser would repair it. It sets no limits, though: this module adds one on depth, on
//! nodes, on text and on time. Nothing here depends on Markdown, except that only the elements and
//! attributes that the Markdown writer uses are kept (`tags`).

mod hints;
mod invisible;
mod parse;
mod tags;
mod tree;

pub(crate) use hints::ElementHints;
pub(crate) use invisible::drop_invisible;
pub use parse::HtmlDocument;
pub(crate) use tags::{AttributeName, HtmlTag};
pub(crate) use tree::{HtmlNodeId, HtmlNodeKind, HtmlTree};
