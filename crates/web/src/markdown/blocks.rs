//! Paragraphs, lists and quotes on lines: what separates two blocks, and what each line begins
//! with.

/// Lists and quotes within one another; deeper ones go on at the same indent, or lines would be
/// mostly indent.
const MAX_LEVELS: usize = 32;

/// As wide as the widest marker: nine digits, a dot and a space.
const SPACES: &str = "           ";

/// What a block is, as far as its neighbours care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Paragraph,
    Heading,
    Code,
    List,
    Quote,
    Rule,
    Table,
    Html,
}

/// Whether the blocks of a list item stand line by line or with blank lines between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    Tight,
    Loose,
}

/// A list item or a quote.
#[derive(Debug)]
struct Level {
    /// How long the prefix was outside.
    outer_prefix: usize,
    spacing: Spacing,
    /// The last block within it.
    last: Option<Block>,
    /// How the last list within it was marked.
    last_marker: Option<char>,
}

/// The lines written so far.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) out: String,
    prefix: String,
    levels: Vec<Level>,
    /// Whether the line at hand has its prefix and nothing else.
    fresh: bool,
}

impl Blocks {
    /// `size` is about how many bytes there will be.
    pub(super) fn new(size: usize) -> Blocks {
        let page =
            Level { outer_prefix: 0, spacing: Spacing::Loose, last: None, last_marker: None };
        Blocks {
            out: String::with_capacity(size),
            prefix: String::new(),
            levels: vec![page],
            fresh: true,
        }
    }

    /// How many lists and quotes are around.
    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Whether a list item or quote has begun and holds nothing yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether the last block was a list that `marker` goes on with.
    pub(super) fn is_after_item(&mut self, marker: char) -> bool {
        let level = self.level();
        level.last == Some(Block::List) && level.last_marker == Some(marker)
    }

    /// The output and the prefix of its lines, for writers of whole blocks.
    pub(super) fn parts(&mut self) -> (&mut String, &str) {
        (&mut self.out, &self.prefix)
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the page is never closed")
    }

    /// Begins a block. `joins` says that it may stand right below the line before, if the list is
    /// tight.
    pub(super) fn begin(&mut self, block: Block, joins: bool) {
        let Level { spacing, last, .. } = *self.level();
        self.level().last = Some(block);
        if std::mem::take(&mut self.fresh) {
            return;
        }
        let apart = match (last, block) {
            _ if spacing == Spacing::Loose || !joins => true,
            // HTML goes on up to a blank line.
            (Some(Block::Html), _) | (Some(Block::Quote), Block::Quote) => true,
            (_, Block::List | Block::Quote | Block::Code | Block::Heading) => false,
            (Some(Block::Heading | Block::Code), Block::Paragraph) => false,
            _ => true,
        };
        self.next_line(if apart { Spacing::Loose } else { Spacing::Tight });
    }

    /// Goes to the next line of the same block.
    pub(super) fn new_line(&mut self) {
        self.next_line(Spacing::Tight);
    }

    fn next_line(&mut self, spacing: Spacing) {
        self.out.push('\n');
        if spacing == Spacing::Loose {
            self.out.push_str(self.prefix.trim_end());
            self.out.push('\n');
        }
        self.out.push_str(&self.prefix);
    }

    /// Begins a quote; `end_level` ends it.
    pub(super) fn begin_quote(&mut self) {
        if self.is_deep() {
            return self.enter("", Spacing::Loose);
        }
        self.begin(Block::Quote, true);
        self.out.push_str("> ");
        self.enter("> ", Spacing::Loose);
        self.fresh = true;
    }

    /// Chooses how a list that begins here is marked: not like one right before it, or they would
    /// be one list.
    pub(super) fn choose_marker(&mut self, usual: char, other: char) -> char {
        let level = self.level();
        let taken = level.last == Some(Block::List) && level.last_marker == Some(usual);
        let chosen = if taken { other } else { usual };
        level.last_marker = Some(chosen);
        chosen
    }

    /// Begins an item of a list; `end_level` ends it.
    pub(super) fn begin_item(&mut self, marker: &str, place: Item) {
        if self.is_deep() {
            return self.enter("", place.spacing);
        }
        if place.first {
            self.begin(Block::List, place.joins);
        } else if !std::mem::take(&mut self.fresh) {
            // What stood between two items without being one ended the list.
            let goes_on = self.level().last == Some(Block::List);
            self.next_line(if goes_on { place.spacing } else { Spacing::Loose });
        }
        self.level().last = Some(Block::List);
        self.out.push_str(marker);
        self.enter(&SPACES[..marker.len().min(SPACES.len())], place.spacing);
        self.fresh = true;
    }

    /// Goes on at the indent of an item that was ended.
    pub(super) fn resume_item(&mut self, width: usize, spacing: Spacing) {
        let indent = if self.is_deep() { 0 } else { width.min(SPACES.len()) };
        self.enter(&SPACES[..indent], spacing);
        self.level().last = Some(Block::List);
    }

    fn is_deep(&self) -> bool {
        self.levels.len() > MAX_LEVELS
    }

    fn enter(&mut self, prefix: &str, spacing: Spacing) {
        // Deeper than the limit, blocks are separated as if the levels were not there.
        let last = if prefix.is_empty() { self.level().last } else { None };
        self.levels.push(Level {
            outer_prefix: self.prefix.len(),
            spacing,
            last,
            last_marker: None,
        });
        self.prefix.push_str(prefix);
    }

    /// Ends a quote or item.
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
                let end = self.out.trim_end_matches(' ').len();
                self.out.truncate(end);
            }
        }
    }
}

/// Where an item stands in its list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) first: bool,
    pub(super) spacing: Spacing,
    /// Whether the list may begin right below a line of text.
    pub(super) joins: bool,
}
