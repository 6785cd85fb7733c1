//! HTML as Markdown: CommonMark with GFM's tables, task lists and strike-through.
//!
//! ```text
//! HtmlTree ─▶ MarkdownWalker ─┬─ text, formatting ─▶ InlineBuffer ─┐
//!                             └─ lists, quotes ────▶ BlockWriter ◀─┴─▶ String
//! ```
//!
//! The aim is that the Markdown, rendered again, has the text and the structure of the page. Text
//! that looks like markup is therefore escaped, and what Markdown has no syntax for stays HTML.
//! Nothing is left out because it seems unimportant, unless the caller asks for the main content:
//! `main_content` then selects what the walk visits.

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

use crate::html::{HtmlDocument, HtmlNodeKind, HtmlTag, HtmlTree};
use crate::main_content::{self, Omission};
use crate::metadata::PageMetadata;
pub(crate) use visibility::is_hidden;
use walker::MarkdownWalker;

/// Bytes of text below which a page with scripts counts as empty: a title, or a request to enable
/// scripts.
const NEARLY_EMPTY: usize = 200;

/// Which part of a page is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageContent {
    /// All that a reader sees.
    #[default]
    Whole,
    /// The article, without menus, share bars, related links, notices and comments.
    Main,
}

/// How links are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkStyle {
    /// `[text](address)`.
    #[default]
    Inline,
    /// `[text][1]`, with the addresses at the end of the page, each once.
    Footnotes,
    /// Only their text.
    Omitted,
}

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
    /// Which part of the page is written.
    pub content: PageContent,
    /// How links are written.
    pub links: LinkStyle,
    /// Whether images are written.
    pub images: bool,
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
            content: PageContent::Whole,
            links: LinkStyle::Inline,
            images: true,
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

/// A page as Markdown, with what there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConvertedPage {
    /// The Markdown, without a line break at the end.
    pub markdown: String,
    /// What the page says about itself.
    pub metadata: PageMetadata,
    /// Whether the main content was asked for and not found, so that this is the whole page.
    pub is_fallback: bool,
    /// The parts that are not in the main content.
    pub omissions: Vec<Omission>,
    /// How many elements with text were left out because their markup hides them from readers.
    pub hidden_elements: usize,
    /// How many invisible characters were left out.
    pub hidden_characters: usize,
    /// Whether the page has scripts and nearly no text, so that a browser would show more.
    pub needs_script: bool,
}

/// Converts a page, and reads what it says about itself. The source is freed as soon as it is
/// parsed. A page that is empty without scripts is read again as a browser without scripts does.
pub fn convert(
    html: String,
    base_url: Option<&Url>,
    options: &MarkdownOptions,
) -> Result<ConvertedPage, ConversionError> {
    let document = HtmlDocument::parse(&html, options)?;
    if !document.is_nearly_empty() {
        drop(html);
        return document.convert(base_url, options);
    }
    let has = |tag| document.has(tag);
    let needs_script = has(HtmlTag::Script) || has(HtmlTag::Noscript);
    let mut page = document.convert(base_url, options)?;
    if has(HtmlTag::Noscript) {
        let without_script =
            HtmlDocument::parse_with(&html, options, true)?.convert(base_url, options)?;
        if without_script.markdown.len() > page.markdown.len() {
            page = without_script;
        }
    }
    page.needs_script = needs_script && page.markdown.len() < NEARLY_EMPTY;
    Ok(page)
}

impl HtmlDocument {
    /// Writes the page as Markdown, without a line break at the end.
    pub fn to_markdown(
        &self,
        base_url: Option<&Url>,
        options: &MarkdownOptions,
    ) -> Result<String, ConversionError> {
        match options.content {
            PageContent::Whole => MarkdownWalker::new(&self.tree, base_url, options)
                .run()
                .map(|walked| walked.markdown),
            PageContent::Main => self.convert(base_url, options).map(|page| page.markdown),
        }
    }

    /// Writes the page as Markdown, and reads what it says about itself.
    pub fn convert(
        &self,
        base_url: Option<&Url>,
        options: &MarkdownOptions,
    ) -> Result<ConvertedPage, ConversionError> {
        let metadata = self.metadata(base_url);
        let selection = match options.content {
            PageContent::Whole => None,
            PageContent::Main => {
                main_content::select(&self.tree, metadata.title.as_deref(), options)?
            }
        };
        let walker = MarkdownWalker::new(&self.tree, base_url, options);
        let walked = match &selection {
            Some(selection) => walker.run_selection(selection)?,
            None => walker.run()?,
        };
        Ok(ConvertedPage {
            markdown: walked.markdown,
            metadata,
            is_fallback: options.content == PageContent::Main && selection.is_none(),
            omissions: selection.map(|selection| selection.omissions).unwrap_or_default(),
            hidden_elements: walked.hidden_elements,
            hidden_characters: self.tree.dropped_characters as usize,
            needs_script: false,
        })
    }

    /// Whether a reader sees nearly no text. Stops at the first few words of an ordinary page.
    pub(crate) fn is_nearly_empty(&self) -> bool {
        let tree = &self.tree;
        let mut bytes = 0;
        let mut at = tree.first_child(HtmlTree::ROOT);
        while let Some(node) = at {
            at = match tree.kind(node) {
                HtmlNodeKind::Text { start, end } => {
                    bytes += tree.text(start, end).trim().len();
                    if bytes >= NEARLY_EMPTY {
                        return false;
                    }
                    tree.next_after_subtree(node, HtmlTree::ROOT)
                }
                _ if is_hidden(tree, node) => tree.next_after_subtree(node, HtmlTree::ROOT),
                _ => {
                    tree.first_child(node).or_else(|| tree.next_after_subtree(node, HtmlTree::ROOT))
                }
            };
        }
        true
    }

    fn has(&self, tag: HtmlTag) -> bool {
        self.tree.descendants(HtmlTree::ROOT).any(|node| self.tree.tag(node) == Some(tag))
    }
}
