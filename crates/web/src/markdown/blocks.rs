//! Blocks on lines: what separates two blocks, and what each line begins with.
//!
//! ```text
//! > - High water at six.      a quote and, in it, a list item: the prefix is "> " + "  "
//! >
//! >   Low water at noon.      a further line begins with the prefix
//! ```
//!
//! CommonMark calls quotes and list items *container blocks*. [`BlockWriter`] keeps a stack of
//! those that are open; each adds its part to the prefix of the lines inside of it.

/// Quotes and list items inside of one another. Deeper ones add no further prefix, or the lines of
/// a page with hundreds of nested lists would be mostly indent.
const MAX_LEVELS: usize = 32;

/// Source of indents. As wide as the widest marker: nine digits, a dot and a space.
const SPACES: &str = "           ";

/// The kinds of blocks, as far as they matter for the distance to the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Paragraph,
    Heading,
    Code,
    List,
    Quote,
    ThematicBreak,
    Table,
    Html,
}

/// Whether blank lines separate the items of a list and the blocks in them. The terms are
/// CommonMark's: renderers put the text of a loose list into paragraphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListSpacing {
    Tight,
    Loose,
}

/// A list item or a quote that is open, or the page itself.
#[derive(Debug)]
struct ContainerBlock {
    /// Bytes of the prefix outside of it, to which the prefix returns at its end.
    outer_prefix: usize,
    spacing: ListSpacing,
    /// The last block directly in it.
    last: Option<BlockKind>,
    /// The marker of the last list directly in it.
    last_marker: Option<char>,
}

/// Writes blocks into the output, with prefixes and blank lines.
#[derive(Debug)]
pub(super) struct BlockWriter {
    /// The Markdown written so far. It never ends with a line break, except in code: a block
    /// begins by ending the line before it.
    pub(super) out: String,
    /// What every new line begins with.
    prefix: String,
    /// The open containers, outermost first. The first is the page.
    levels: Vec<ContainerBlock>,
    /// Whether the current line has its prefix or marker and nothing else, so that the next block
    /// begins on it.
    fresh: bool,
}

impl BlockWriter {
    /// `capacity` is an estimate of the bytes that will be written.
    pub(super) fn new(capacity: usize) -> BlockWriter {
        let page = ContainerBlock {
            outer_prefix: 0,
            spacing: ListSpacing::Loose,
            last: None,
            last_marker: None,
        };
        BlockWriter {
            out: String::with_capacity(capacity),
            prefix: String::new(),
            levels: vec![page],
            fresh: true,
        }
    }

    /// How many containers are open, the page included.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Whether a container has begun and holds nothing yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether the last block was a list with this marker, so that an item with the same marker
    /// would continue it.
    pub(super) fn is_after_item(&mut self, marker: char) -> bool {
        let level = self.level();
        level.last == Some(BlockKind::List) && level.last_marker == Some(marker)
    }

    /// The output and the prefix of its lines, for writers of whole blocks.
    pub(super) fn parts(&mut self) -> (&mut String, &str) {
        (&mut self.out, &self.prefix)
    }

    fn level(&mut self) -> &mut ContainerBlock {
        self.levels.last_mut().expect("the page is never closed")
    }

    /// Begins a block on a new line, or on the current one if that is fresh. `joins` allows that
    /// no blank line precedes it in a tight list.
    pub(super) fn begin(&mut self, block: BlockKind, joins: bool) {
        let ContainerBlock { spacing, last, .. } = *self.level();
        self.level().last = Some(block);
        if std::mem::take(&mut self.fresh) {
            return;
        }
        // A blank line always separates two blocks, but makes a tight list loose. Without it, some
        // blocks would be read as part of the one before.
        let needs_blank_line = match (last, block) {
            _ if spacing == ListSpacing::Loose || !joins => true,
            // HTML ends at the next blank line; two quotes in a row would be one.
            (Some(BlockKind::Html), _) | (Some(BlockKind::Quote), BlockKind::Quote) => true,
            // These can interrupt a paragraph.
            (_, BlockKind::List | BlockKind::Quote | BlockKind::Code | BlockKind::Heading) => false,
            // These end by themselves, so a paragraph after them is not taken for their
            // continuation.
            (Some(BlockKind::Heading | BlockKind::Code), BlockKind::Paragraph) => false,
            _ => true,
        };
        self.next_line(if needs_blank_line { ListSpacing::Loose } else { ListSpacing::Tight });
    }

    /// Goes to the next line of the same block.
    pub(super) fn new_line(&mut self) {
        self.next_line(ListSpacing::Tight);
    }

    /// Begins a line with its prefix, after a blank line if `spacing` is loose. A blank line in a
    /// quote has the quote's prefix too, without white space at its end.
    fn next_line(&mut self, spacing: ListSpacing) {
        self.out.push('\n');
        if spacing == ListSpacing::Loose {
            self.out.push_str(self.prefix.trim_end());
            self.out.push('\n');
        }
        self.out.push_str(&self.prefix);
    }

    /// Begins a quote; `end_level` ends it.
    pub(super) fn begin_quote(&mut self) {
        if self.is_too_deep() {
            return self.enter("", ListSpacing::Loose);
        }
        self.begin(BlockKind::Quote, true);
        self.out.push_str("> ");
        self.enter("> ", ListSpacing::Loose);
        self.fresh = true;
    }

    /// Chooses the marker of a list that begins here: `other` if the last block is a list with the
    /// `usual` marker, because Markdown would read the two as one list.
    pub(super) fn choose_marker(&mut self, usual: char, other: char) -> char {
        let level = self.level();
        let is_taken = level.last == Some(BlockKind::List) && level.last_marker == Some(usual);
        let chosen = if is_taken { other } else { usual };
        level.last_marker = Some(chosen);
        chosen
    }

    /// Begins a list item; `end_level` ends it. `marker` includes the space after it.
    pub(super) fn begin_item(&mut self, marker: &str, position: ItemPosition) {
        if self.is_too_deep() {
            return self.enter("", position.spacing);
        }
        if position.first {
            self.begin(BlockKind::List, position.joins);
        } else if !std::mem::take(&mut self.fresh) {
            // Text between two items, which is not valid HTML, has ended the list.
            let goes_on = self.level().last == Some(BlockKind::List);
            self.next_line(if goes_on { position.spacing } else { ListSpacing::Loose });
        }
        self.level().last = Some(BlockKind::List);
        self.out.push_str(marker);
        self.enter(&SPACES[..marker.len().min(SPACES.len())], position.spacing);
        self.fresh = true;
    }

    /// Continues at the indent of an item that has ended; `width` is that of its marker. Used for
    /// a list that follows the item instead of being in it.
    pub(super) fn resume_item(&mut self, width: usize, spacing: ListSpacing) {
        let indent = if self.is_too_deep() { 0 } else { width.min(SPACES.len()) };
        self.enter(&SPACES[..indent], spacing);
        self.level().last = Some(BlockKind::List);
    }

    fn is_too_deep(&self) -> bool {
        self.levels.len() > MAX_LEVELS
    }

    fn enter(&mut self, prefix: &str, spacing: ListSpacing) {
        // Without a prefix, the content continues the container outside of it, so its first block
        // has to be separated from that container's last one.
        let last = if prefix.is_empty() { self.level().last } else { None };
        self.levels.push(ContainerBlock {
            outer_prefix: self.prefix.len(),
            spacing,
            last,
            last_marker: None,
        });
        self.prefix.push_str(prefix);
    }

    /// Ends a quote or an item. The page itself stays open.
    pub(super) fn end_level(&mut self) {
        if self.levels.len() == 1 {
            return;
        }
        if let Some(level) = self.levels.pop() {
            let had_prefix = self.prefix.len() > level.outer_prefix;
            self.prefix.truncate(level.outer_prefix);
            if !had_prefix {
                self.level().last = level.last;
            } else if std::mem::take(&mut self.fresh) {
                // The container was empty: only its marker is on the line, with a space after it.
                let end = self.out.trim_end_matches(' ').len();
                self.out.truncate(end);
            }
        }
    }
}

/// Where an item stands in its list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemPosition {
    /// Whether it begins the list.
    pub(super) first: bool,
    pub(super) spacing: ListSpacing,
    /// Whether the list may begin directly below a line of text.
    pub(super) joins: bool,
}
