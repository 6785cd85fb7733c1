//! HTML as Markdown: CommonMark with GFM's tables, task lists and strike-through.
//!
//! ```text
//! HtmlTree ─▶ MarkdownWalker ─┬─ text, formatting ─▶ InlineBuffer ─┐
//!                             └─ lists, quotes ────▶ BlockWriter ◀─┴─▶ String
//! ```
//!
//! The aim is that the Markdown, rendered again, has the text and the structure of the page. Text
//! that looks like markup is therefore escaped, and what Markdown has no syntax for stays HTML.
//! Nothing is left out because it seems unimportant: this is the page, not an excerpt of it.

mod blocks;
mod code_block;
mod escape;
mod inline;
mod links;
mod table;
mod visibility;
mod walker;

use std::time::Instant;

use url::Url;

use crate::html::HtmlDocument;
use walker::MarkdownWalker;

/// How a page is read, and how much work is done before it is given up. The defaults suit pages up
/// to 10 MiB.
#[derive(Clone, Debug)]
pub struct MarkdownOptions {
    /// How many elements can be inside of one another. Deeper ones lose their tags and keep their
    /// text.
    pub max_depth: usize,
    /// Elements, comments and pieces of text in all.
    pub max_nodes: usize,
    /// Bytes of Markdown, and bytes of text in the parsed page.
    pub max_output: usize,
    /// Whether the page is XHTML, where `<script/>` is complete without an end tag. Pages whose
    /// `xmlns` declares XHTML are always read like that.
    pub xhtml: bool,
    /// When the work has to be done; `None` for no limit.
    pub deadline: Option<Instant>,
}

impl Default for MarkdownOptions {
    fn default() -> MarkdownOptions {
        MarkdownOptions {
            // Chromium stops nesting at the same depth.
            max_depth: 512,
            // With these two, a conversion stays below 128 MiB of memory whatever the page.
            max_nodes: 750_000,
            max_output: 16 << 20,
            xhtml: false,
            deadline: None,
        }
    }
}

impl MarkdownOptions {
    /// Fails once the deadline has passed.
    pub(crate) fn check_time(&self) -> Result<(), ConversionError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(ConversionError::TooSlow),
            _ => Ok(()),
        }
    }
}

/// Why a page was not converted. Every text is valid HTML, so only the limits are left; pages that
/// people write do not reach them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// More nodes, or more text, than [`MarkdownOptions`] allow.
    #[error("the page has too many elements or too much text")]
    TooLarge,
    /// The deadline in [`MarkdownOptions`] passed.
    #[error("the page takes too long to convert")]
    TooSlow,
}

/// Converts a page. Links become absolute if the page's address is given, or if the page has a
/// `<base>` with an absolute address.
pub fn markdown(
    html: &str,
    base_url: Option<&Url>,
    options: &MarkdownOptions,
) -> Result<String, ConversionError> {
    HtmlDocument::parse(html, options)?.to_markdown(base_url, options)
}

impl HtmlDocument {
    /// Writes the page as Markdown, without a line break at the end.
    pub fn to_markdown(
        &self,
        base_url: Option<&Url>,
        options: &MarkdownOptions,
    ) -> Result<String, ConversionError> {
        MarkdownWalker::new(&self.tree, base_url, options).run()
    }
}
