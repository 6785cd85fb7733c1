//! How much text, links and prose every node of a page has, in two linear passes.
//!
//! ```text
//! order:  html body div p text a text …      visible nodes in document order
//! sizes:  each node, from the last to the first, adds itself to its parent
//! ```
//!
//! Every descendant of a node comes after it in `order`, so the second pass finds each node
//! complete when it is added to its parent. Sizes are bytes of text without white space.

use crate::html::{HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};
use crate::markdown::{ConversionError, MarkdownOptions, is_hidden};

/// Nodes between two checks of the deadline.
const NODES_PER_CHECK: usize = 4096;

/// Bytes of running text from which a block is prose. Shorter ones are labels, titles, entries of
/// menus.
const MIN_PROSE: u32 = 40;

/// Bytes of text in a link up to which its paragraphs are a teaser and not prose.
const MAX_TEASER: u32 = 1000;

/// The text of a node with all below it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextSize {
    /// All text.
    pub(super) text: u32,
    /// The text of links.
    pub(super) link: u32,
    /// The text of blocks that read like sentences: long enough, and mostly not links.
    pub(super) prose: u32,
    /// Text that belongs to the block that the node is in; for a block, what it has directly.
    own: u32,
    /// The part of `own` that is in links.
    own_link: u32,
}

impl TextSize {
    /// The share of the text that is links, from 0 to 1.
    pub(super) fn link_share(self) -> f64 {
        f64::from(self.link) / f64::from(self.text.max(1))
    }
}

/// The sizes of all visible nodes.
pub(super) struct PageSizes {
    /// The visible nodes in document order.
    pub(super) order: Vec<HtmlNodeId>,
    sizes: Vec<TextSize>,
}

impl PageSizes {
    /// Measures a page. Hidden elements have no size, and neither has anything below them.
    pub(super) fn measure(
        tree: &HtmlTree,
        options: &MarkdownOptions,
    ) -> Result<PageSizes, ConversionError> {
        let mut order = Vec::with_capacity(tree.node_count());
        let mut at = Some(HtmlTree::ROOT);
        while let Some(node) = at {
            if order.len().is_multiple_of(NODES_PER_CHECK) {
                options.check_time()?;
            }
            at = if is_hidden(tree, node) {
                tree.next_after_subtree(node, HtmlTree::ROOT)
            } else {
                order.push(node);
                tree.first_child(node).or_else(|| tree.next_after_subtree(node, HtmlTree::ROOT))
            };
        }
        let mut sizes = PageSizes { order, sizes: Vec::new() };
        sizes.sum(tree, &[], options)?;
        Ok(sizes)
    }

    /// The size of a node; nothing if it is hidden or left out.
    pub(super) fn of(&self, id: HtmlNodeId) -> TextSize {
        self.sizes[id as usize]
    }

    /// Measures again without the nodes that are `left_out`, by their ids.
    pub(super) fn sum(
        &mut self,
        tree: &HtmlTree,
        left_out: &[bool],
        options: &MarkdownOptions,
    ) -> Result<(), ConversionError> {
        self.sizes.clear();
        self.sizes.resize(tree.node_count(), TextSize::default());
        for (count, node) in self.order.iter().copied().enumerate().rev() {
            if count.is_multiple_of(NODES_PER_CHECK) {
                options.check_time()?;
            }
            // Also clears what its children have added.
            if left_out.get(node as usize).copied().unwrap_or(false) {
                self.sizes[node as usize] = TextSize::default();
                continue;
            }
            let size = complete(tree, node, self.sizes[node as usize]);
            self.sizes[node as usize] = size;
            if let Some(parent) = tree.parent(node) {
                let is_block = tree.tag(node).is_some_and(HtmlTag::is_block);
                add(&mut self.sizes[parent as usize], size, is_block);
            }
        }
        Ok(())
    }
}

/// The size of a node whose children have all been added.
fn complete(tree: &HtmlTree, node: HtmlNodeId, mut size: TextSize) -> TextSize {
    match tree.kind(node) {
        HtmlNodeKind::Text { start, end } => {
            let text = tree.text(start, end);
            let bytes = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() as u32;
            TextSize { text: bytes, own: bytes, ..size }
        }
        HtmlNodeKind::Element { tag: HtmlTag::Link, .. } => {
            // Paragraphs inside of a link are a teaser of what it leads to. A link that holds more
            // was left open by mistake.
            let prose = if size.text <= MAX_TEASER { 0 } else { size.prose };
            TextSize { link: size.text, own_link: size.own, prose, ..size }
        }
        // Code is content whatever it looks like.
        HtmlNodeKind::Element { tag: HtmlTag::Preformatted, .. } => {
            TextSize { prose: size.text, ..size }
        }
        HtmlNodeKind::Element { tag, .. } if tag.is_block() => {
            let is_prose = size.own >= MIN_PROSE
                && size.own_link.saturating_mul(2) < size.own
                && !matches!(tag, HtmlTag::Heading(_));
            if is_prose {
                size.prose = size.prose.saturating_add(size.own - size.own_link);
            }
            size
        }
        _ => size,
    }
}

fn add(parent: &mut TextSize, child: TextSize, is_block: bool) {
    parent.text = parent.text.saturating_add(child.text);
    parent.link = parent.link.saturating_add(child.link);
    parent.prose = parent.prose.saturating_add(child.prose);
    // The text of a block is not part of the line around it.
    if !is_block {
        parent.own = parent.own.saturating_add(child.own);
        parent.own_link = parent.own_link.saturating_add(child.own_link);
    }
}
