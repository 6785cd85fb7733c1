//! Parsing a page under limits.
//!
//! html5ever has no limits, and its tree builder takes time quadratic in the depth of a page. The
//! limits are therefore enforced at three places:
//!
//! - depth: between tokenizer and tree builder, by [`DepthLimiter`];
//! - nodes and bytes of text: in the tree, which sets a flag and stops growing;
//! - time: between pieces of input, because a call into html5ever cannot be interrupted.

use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag as TagToken, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, LocalName, TokenizerResult, local_name};

use super::tags::any_of;
use super::tree::{HtmlNodeId, HtmlNodeKind, HtmlTree, HtmlTreeBuilder};
use crate::markdown::{ConversionError, MarkdownOptions};

/// Bytes of input between two checks of the deadline. The tokenizer compares each attribute of a
/// tag with all before it, so one tag with many attributes takes quadratic time; small pieces keep
/// the time between two checks short even then.
const PIECE_BYTES: usize = 8 << 10;

/// A parsed page, which can be written as Markdown any number of times.
#[derive(Debug)]
pub struct HtmlDocument {
    pub(crate) tree: HtmlTree,
}

impl HtmlDocument {
    /// Parses a page as browsers do. Elements deeper than `max_depth` lose their tags and keep
    /// their text.
    ///
    /// Fails only by the limits in `options`: every text is valid HTML to a browser.
    pub fn parse(html: &str, options: &MarkdownOptions) -> Result<HtmlDocument, ConversionError> {
        HtmlDocument::parse_with(html, options, false)
    }

    /// Parses a page; with `noscript`, as a browser without scripts does, which shows the content
    /// of `<noscript>`.
    pub(crate) fn parse_with(
        html: &str,
        options: &MarkdownOptions,
        noscript: bool,
    ) -> Result<HtmlDocument, ConversionError> {
        let builder = HtmlTreeBuilder::new(options.max_nodes, options.max_output, noscript);
        let limiter = DepthLimiter {
            builder: TreeBuilder::new(
                builder,
                // Without scripts, the content of `<noscript>` is parsed like any other.
                TreeBuilderOpts { scripting_enabled: !noscript, ..TreeBuilderOpts::default() },
            ),
            max_depth: options.max_depth,
            room: Cell::new(options.max_depth),
            dropped: RefCell::default(),
            xhtml: Cell::new(options.xhtml),
            is_xml: options.xhtml,
        };
        let tokenizer = Tokenizer::new(limiter, TokenizerOpts::default());
        let input = BufferQueue::default();
        let mut rest = html;
        while !rest.is_empty() {
            options.check_time()?;
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES).max(1));
            rest = after;
            input.push_back(StrTendril::from_slice(piece));
            // The tokenizer returns early at a script, which a browser would run now, and at a
            // `<meta>` that names an encoding. The text is decoded already and scripts are not
            // run, so parsing simply continues.
            while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
            if tokenizer.sink.builder.sink.is_full() {
                return Err(ConversionError::TooLarge);
            }
        }
        tokenizer.end();
        Ok(HtmlDocument { tree: tokenizer.sink.builder.sink.finish() })
    }

    /// All text of the page, white space and hidden elements included. Search results use it to
    /// decode entities.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for node in self.tree.descendants(HtmlTree::ROOT) {
            if let HtmlNodeKind::Text { start, end } = self.tree.kind(node) {
                text.push_str(self.tree.text(start, end));
            }
        }
        text
    }
}

/// Stands between tokenizer and tree builder and drops tags that would nest too deep.
///
/// Measuring the depth means counting the builder's stack, so it is not done for every tag: after
/// a measurement, `room` counts down the start tags that cannot exceed the limit even if nothing
/// is closed in between.
struct DepthLimiter {
    builder: TreeBuilder<HtmlNodeId, HtmlTreeBuilder>,
    max_depth: usize,
    /// How many more tags can open before the depth has to be measured again.
    room: Cell<usize>,
    /// Names of the start tags dropped since the last one that was not. Their end tags have to be
    /// dropped too, or they would close elements further out.
    dropped: RefCell<Vec<LocalName>>,
    /// Whether `<script/>` is a complete element, as in XML.
    xhtml: Cell<bool>,
    /// Whether the page was served as XML, where `<![CDATA[` is text. In HTML it is a comment, even
    /// on pages that declare XHTML.
    is_xml: bool,
}

impl TokenSink for DepthLimiter {
    type Handle = HtmlNodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<HtmlNodeId> {
        match &token {
            _ if self.builder.sink.is_full() => return TokenSinkResult::Continue,
            Token::TagToken(tag) if !self.admits(tag) => return TokenSinkResult::Continue,
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                if let Some(end) = self.xml_end_tag(tag) {
                    // The answer to a start tag may be "the following is raw text", as for
                    // `<script>`. An element that ends at once has no text, so it is ignored.
                    let _ = self.builder.process_token(token, line);
                    let _ = self.builder.process_token(Token::TagToken(end), line);
                    return TokenSinkResult::Continue;
                }
            }
            _ => {}
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        // The tokenizer asks for this at `<![CDATA[`, and only there.
        self.is_xml || self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl DepthLimiter {
    /// Whether a tag may reach the tree builder.
    fn admits(&self, tag: &TagToken) -> bool {
        match tag.kind {
            TagKind::StartTag if !can_contain_elements(&tag.name) => true,
            TagKind::StartTag => {
                if self.room.get() == 0 {
                    self.room.set(self.max_depth.saturating_sub(self.depth()));
                }
                if self.room.get() == 0 {
                    self.dropped.borrow_mut().push(tag.name.clone());
                    return false;
                }
                self.room.set(self.room.get() - 1);
                if !self.dropped.borrow().is_empty() {
                    self.dropped.borrow_mut().clear();
                }
                true
            }
            TagKind::EndTag => {
                let mut dropped = self.dropped.borrow_mut();
                let is_dropped = dropped.last() == Some(&tag.name);
                if is_dropped {
                    dropped.pop();
                }
                !is_dropped
            }
        }
    }

    /// The end tag that XML sees in `<title/>`, where HTML ignores the slash and reads on until
    /// `</title>`: without it, an XHTML page would be one long title.
    ///
    /// Pages are often served as HTML and declare XHTML only by `xmlns` on their first element.
    fn xml_end_tag(&self, tag: &TagToken) -> Option<TagToken> {
        if tag.name == local_name!("html") {
            let declares_xhtml = |attr: &Attribute| {
                attr.name.local == local_name!("xmlns")
                    && &*attr.value == "http://www.w3.org/1999/xhtml"
            };
            self.xhtml.set(self.xhtml.get() || tag.attrs.iter().any(declares_xhtml));
        }
        // Inside SVG and MathML, html5ever honours the slash itself. And `</br>` is a line break
        // of its own to browsers, so `<br/>` would become two.
        let needs_end_tag = tag.self_closing
            && self.xhtml.get()
            && !matches!(tag.name, local_name!("br") | local_name!("svg") | local_name!("math"))
            && !self.builder.adjusted_current_node_present_but_not_in_html_namespace();
        needs_end_tag.then(|| TagToken {
            kind: TagKind::EndTag,
            name: tag.name.clone(),
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        })
    }

    /// Counts what the tree builder walks for every tag: the open elements, and the formatting
    /// elements that it has to open again in the next paragraph. Garbage collection is what
    /// html5ever offers this traversal for; it is the only way to see its private stack.
    fn depth(&self) -> usize {
        struct HandleCounter(Cell<usize>);
        impl Tracer for HandleCounter {
            type Handle = HtmlNodeId;
            fn trace_handle(&self, _: &HtmlNodeId) {
                self.0.set(self.0.get() + 1);
            }
        }
        let counter = HandleCounter(Cell::new(0));
        self.builder.trace_handles(&counter);
        counter.0.get()
    }
}

/// Whether an element can hold others. Those that cannot are admitted at any depth: they add none,
/// and some of them (`<script>`, `<title>`, …) change how the tokenizer reads the text after them,
/// which must happen even in the deepest part of a page.
fn can_contain_elements(name: &LocalName) -> bool {
    !matches!(
        *name,
        any_of! {
            "area" | "base" | "br" | "col" | "embed" | "hr" | "iframe" | "img" | "input" | "link"
                | "meta" | "noembed" | "noframes" | "noscript" | "plaintext" | "script" | "source"
                | "style" | "textarea" | "title" | "track" | "wbr" | "xmp"
        }
    )
}
