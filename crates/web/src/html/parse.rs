//! Parsing under guards. html5ever bounds nothing, and its tree builder takes time quadratic in the
//! depth of a page. So the depth is held between tokenizer and tree builder, nodes and text are
//! held in the tree, and time between pieces of input.

use std::cell::{Cell, RefCell};

use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    Tag as TagToken, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts, TreeSink};
use html5ever::{Attribute, LocalName, TokenizerResult, local_name};

use super::tree::{Builder, Kind, NodeId, Tree};
use crate::markdown::{ConversionError, Options};

/// Bytes between two looks at the clock. A tag of many attributes takes quadratic time in the
/// tokenizer, where nothing else can stop it.
const PIECE: usize = 8 << 10;

/// A parsed page, ready to be written as Markdown any number of times.
#[derive(Debug)]
pub struct Document {
    pub(crate) tree: Tree,
}

impl Document {
    /// Parses a page as browsers do. Elements deeper than the limit lose their tags and keep their
    /// text.
    pub fn parse(html: &str, options: &Options) -> Result<Document, ConversionError> {
        let builder = Builder::new(options.max_nodes, options.max_output);
        let guard = Guard {
            builder: TreeBuilder::new(builder, TreeBuilderOpts::default()),
            max_depth: options.max_depth,
            room: Cell::new(options.max_depth),
            dropped: RefCell::default(),
            xhtml: Cell::new(options.xhtml),
        };
        let tokenizer = Tokenizer::new(guard, TokenizerOpts::default());
        let input = BufferQueue::default();
        let mut rest = html;
        while !rest.is_empty() {
            options.check_time()?;
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE).max(1));
            rest = after;
            input.push_back(StrTendril::from_slice(piece));
            // A script or a word on the encoding interrupts; neither is of interest.
            while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
            if tokenizer.sink.builder.sink.is_full() {
                return Err(ConversionError::TooLarge);
            }
        }
        tokenizer.end();
        Ok(Document { tree: tokenizer.sink.builder.sink.finish() })
    }
}

impl Document {
    /// All text of the page, as it stands there.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for node in self.tree.descendants(Tree::ROOT) {
            if let Kind::Text { start, end } = self.tree.kind(node) {
                text.push_str(self.tree.text(start, end));
            }
        }
        text
    }
}

/// Stands between tokenizer and tree builder and swallows tags that would nest too deep.
struct Guard {
    builder: TreeBuilder<NodeId, Builder>,
    max_depth: usize,
    /// How many more tags can open before the depth has to be measured again.
    room: Cell<usize>,
    /// The start tags that were swallowed, whose end tags go the same way.
    dropped: RefCell<Vec<LocalName>>,
    /// Whether `<script/>` is the whole element, as it is in XML.
    xhtml: Cell<bool>,
}

impl TokenSink for Guard {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        match &token {
            _ if self.builder.sink.is_full() => return TokenSinkResult::Continue,
            Token::TagToken(tag) if !self.lets_through(tag) => return TokenSinkResult::Continue,
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                if let Some(end) = self.end_of(tag) {
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
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Guard {
    fn lets_through(&self, tag: &TagToken) -> bool {
        match tag.kind {
            TagKind::StartTag if !nests(&tag.name) => true,
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

    /// The end tag that XML has within a start tag, where HTML does not see it.
    fn end_of(&self, tag: &TagToken) -> Option<TagToken> {
        if tag.name == local_name!("html") {
            let says_so = |attr: &Attribute| {
                attr.name.local == local_name!("xmlns")
                    && &*attr.value == "http://www.w3.org/1999/xhtml"
            };
            self.xhtml.set(self.xhtml.get() || tag.attrs.iter().any(says_so));
        }
        // Drawings and formulas are read as XML anyway, and the end of a line break would be
        // another.
        let is_html = tag.self_closing
            && self.xhtml.get()
            && !matches!(tag.name, local_name!("br") | local_name!("svg") | local_name!("math"))
            && !self.builder.adjusted_current_node_present_but_not_in_html_namespace();
        is_html.then(|| TagToken {
            kind: TagKind::EndTag,
            name: tag.name.clone(),
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        })
    }

    /// The open elements and the formatting that is to be opened again: what the tree builder walks
    /// for every tag.
    fn depth(&self) -> usize {
        struct Count(Cell<usize>);
        impl Tracer for Count {
            type Handle = NodeId;
            fn trace_handle(&self, _: &NodeId) {
                self.0.set(self.0.get() + 1);
            }
        }
        let count = Count(Cell::new(0));
        self.builder.trace_handles(&count);
        count.0.get()
    }
}

/// Whether an element can hold others: those that cannot add no depth, and some of them change how
/// the text behind them is to be read.
fn nests(name: &LocalName) -> bool {
    !matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("hr")
            | local_name!("iframe")
            | local_name!("img")
            | local_name!("input")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("noscript")
            | local_name!("plaintext")
            | local_name!("script")
            | local_name!("source")
            | local_name!("style")
            | local_name!("textarea")
            | local_name!("title")
            | local_name!("track")
            | local_name!("wbr")
            | local_name!("xmp")
    )
}
