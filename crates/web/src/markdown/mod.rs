//! HTML as Markdown: CommonMark with GFM's tables, task lists and strike-through, such that a
//! reader of Markdown sees the text and the structure that a reader of the page sees.

mod blocks;
mod code;
mod escape;
mod inline;
mod links;
mod shown;
mod table;
mod walk;

use std::time::Instant;

use url::Url;

use crate::html::Document;
use walk::Walker;

/// How much of a page is converted before it is given up. The defaults suit pages up to 10 MiB.
#[derive(Clone, Debug)]
pub struct Options {
    /// Elements within one another; deeper ones lose their tags and keep their text.
    pub max_depth: usize,
    /// Elements and pieces of text in all.
    pub max_nodes: usize,
    /// Bytes of Markdown.
    pub max_output: usize,
    /// Whether the page is XHTML, where `<script/>` has no end tag to wait for. Pages that say so
    /// by `xmlns` are read like it anyway.
    pub xhtml: bool,
    /// When the work has to be done; without it there is no limit.
    pub deadline: Option<Instant>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            max_depth: 512,
            max_nodes: 750_000,
            max_output: 16 << 20,
            xhtml: false,
            deadline: None,
        }
    }
}

impl Options {
    pub(crate) fn check_time(&self) -> Result<(), ConversionError> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(ConversionError::TooSlow),
            _ => Ok(()),
        }
    }
}

/// Why a page is not converted: it is no page that a person would write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// More nodes, or more text, than [`Options`] allow.
    #[error("the page has too many elements or too much text")]
    TooLarge,
    /// The deadline of [`Options`] passed.
    #[error("the page takes too long to convert")]
    TooSlow,
}

/// Converts a page. Links become absolute if the address of the page is given; `<base>` is
/// honoured.
pub fn markdown(
    html: &str,
    base_url: Option<&Url>,
    options: &Options,
) -> Result<String, ConversionError> {
    Document::parse(html, options)?.to_markdown(base_url, options)
}

impl Document {
    /// Writes the page as Markdown, without a new line at the end.
    pub fn to_markdown(
        &self,
        base_url: Option<&Url>,
        options: &Options,
    ) -> Result<String, ConversionError> {
        Walker::new(&self.tree, base_url, options).run()
    }
}
