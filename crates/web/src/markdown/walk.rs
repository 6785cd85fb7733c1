//! The walk over a page. It goes by the links of the tree, not by recursion, so depth costs
//! nothing; only a table calls it again for its cells, in which no further table is laid out, and a
//! box with details for its summary.

use url::Url;

use super::blocks::{Block, Blocks, Item, Spacing};
use super::inline::{Breaks, Inline, Span};
use super::links::Links;
use super::shown::{is_blank, is_hidden};
use super::{ConversionError, Options, code, table};
use crate::html::{AttrName, Kind, NodeId, Tag, Tree};

/// Nodes between two looks at the clock and at the size of the output.
const STEPS: u32 = 1024;

/// What holds all text on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    Heading(NodeId),
    Cell,
}

/// A list that is open.
#[derive(Debug)]
struct List {
    /// The level its items stand on.
    level: usize,
    /// The number of the next item, if it has numbers.
    number: Option<u32>,
    marker: char,
    spacing: Spacing,
    first: bool,
    joins: bool,
    /// How wide the last item's marker was.
    width: usize,
    /// Whether it stands within another list without an item around it.
    inset: bool,
}

/// Writes a tree as Markdown.
pub(super) struct Walker<'a> {
    tree: &'a Tree,
    options: &'a Options,
    links: Links<'a>,
    blocks: Blocks,
    inline: Inline,
    lists: Vec<List>,
    /// For every `<li>` and `<dd>` that is open, whether it is an item of a list.
    items: Vec<bool>,
    /// For every `<a>` that is open, whether it leads anywhere.
    anchors: Vec<bool>,
    leaf: Option<Leaf>,
    code_depth: usize,
    /// The box of a task whose text is still to come.
    task: Option<bool>,
    steps: u32,
}

impl<'a> Walker<'a> {
    pub(super) fn new(tree: &'a Tree, base_url: Option<&Url>, options: &'a Options) -> Walker<'a> {
        Walker {
            tree,
            options,
            links: Links::new(tree, base_url),
            blocks: Blocks::new(tree.size()),
            inline: Inline::new(options.max_output),
            lists: Vec::new(),
            items: Vec::new(),
            anchors: Vec::new(),
            leaf: None,
            code_depth: 0,
            task: None,
            steps: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<String, ConversionError> {
        self.walk(Tree::ROOT)?;
        self.flush();
        self.check()?;
        let mut out = self.blocks.out;
        out.truncate(out.trim_end().len());
        Ok(out)
    }

    fn check(&self) -> Result<(), ConversionError> {
        self.check_size()?;
        self.options.check_time()
    }

    fn check_size(&self) -> Result<(), ConversionError> {
        let fits = self.blocks.out.len() + self.inline.pending() <= self.options.max_output;
        fits.then_some(()).ok_or(ConversionError::TooLarge)
    }

    /// Shows everything below `root`.
    fn walk(&mut self, root: NodeId) -> Result<(), ConversionError> {
        let Some(mut at) = self.tree.first_child(root) else { return Ok(()) };
        loop {
            self.steps += 1;
            if self.steps.is_multiple_of(STEPS) {
                self.check()?;
            }
            if self.enter(at)? {
                if let Some(child) = self.tree.first_child(at) {
                    at = child;
                    continue;
                }
                self.leave(at);
            }
            loop {
                if let Some(next) = self.tree.next_sibling(at) {
                    at = next;
                    break;
                }
                match self.tree.parent(at) {
                    Some(parent) if parent != root => at = parent,
                    _ => return Ok(()),
                }
                self.leave(at);
            }
        }
    }

    /// Begins a node; the answer is whether its content is to be shown, and `leave` called.
    fn enter(&mut self, id: NodeId) -> Result<bool, ConversionError> {
        let tag = match self.tree.kind(id) {
            Kind::Text { start, end } => {
                self.inline.text(self.tree.text(start, end));
                return Ok(false);
            }
            Kind::Other => return Ok(false),
            Kind::Element { .. } if is_hidden(self.tree, id) => return Ok(false),
            Kind::Element { tag, .. } => tag,
        };
        if tag == Tag::Preformatted {
            self.preformatted(id)?;
            return Ok(false);
        }
        if tag.is_block() {
            return self.enter_block(id, tag);
        }
        Ok(self.enter_inline(id, tag))
    }

    fn enter_block(&mut self, id: NodeId, tag: Tag) -> Result<bool, ConversionError> {
        if self.leaf.is_some() {
            self.separate();
            return Ok(true);
        }
        self.flush();
        match tag {
            Tag::Heading(_) => self.leaf = Some(Leaf::Heading(id)),
            Tag::Quote => self.blocks.begin_quote(),
            Tag::List | Tag::OrderedList | Tag::DefinitionList => self.begin_list(id, tag),
            Tag::Item | Tag::Definition => self.begin_item(id),
            Tag::Term => {
                let level = self.blocks.depth();
                if let Some(list) = self.lists.last_mut().filter(|list| list.level == level) {
                    (list.first, list.joins) = (true, false);
                }
                self.inline.open(Span::Strong);
            }
            Tag::Rule => {
                // Behind a marker of dashes, more dashes would make the whole line a rule.
                let rule = if self.blocks.is_fresh() { "___" } else { "---" };
                self.blocks.begin(Block::Rule, true);
                self.blocks.out.push_str(rule);
                return Ok(false);
            }
            Tag::Details => {
                self.blocks.begin(Block::Html, true);
                self.blocks.out.push_str("<details>");
                if let Some(summary) = self.summary_of(id) {
                    self.summary(summary)?;
                }
            }
            Tag::Summary => {
                return Ok(
                    self.tree.parent(id).and_then(|parent| self.summary_of(parent)) != Some(id)
                );
            }
            Tag::Table => return self.table(id).map(|shown| !shown),
            _ => {}
        }
        Ok(true)
    }

    fn enter_inline(&mut self, id: NodeId, tag: Tag) -> bool {
        match tag {
            Tag::Code => {
                if self.code_depth == 0 {
                    self.inline.open_code();
                }
                self.code_depth += 1;
            }
            Tag::Link => {
                let leads = self.links.target(id).is_some();
                self.anchors.push(leads);
                if leads {
                    self.inline.open(Span::Link(id));
                }
            }
            Tag::Image if self.links.target(id).is_some() => self.inline.image(id),
            Tag::Image => self.inline.text(self.tree.attr(id, AttrName::Alt).unwrap_or_default()),
            Tag::Embedded(name) => return self.embedded(id, name),
            Tag::LineBreak => {
                if self.leaf.is_none() && !self.inline.is_code() && self.inline.is_after_break() {
                    self.flush();
                } else {
                    self.inline.line_break();
                }
            }
            Tag::Checkbox => {
                let is_box = self
                    .tree
                    .attr(id, AttrName::Type)
                    .is_some_and(|t| t.eq_ignore_ascii_case("checkbox"));
                let begins_item = self.items.last() == Some(&true) && self.blocks.is_fresh();
                if is_box && begins_item && self.leaf.is_none() && !self.inline.has_content() {
                    self.task = Some(self.tree.attr(id, AttrName::Checked).is_some());
                }
            }
            Tag::Choice => self.inline.space(),
            Tag::Control
                if self
                    .tree
                    .previous_sibling(id)
                    .is_some_and(|node| self.tree.tag(node).is_some()) =>
            {
                self.inline.space();
            }
            Tag::Quotation => self.inline.text("\""),
            Tag::Math => {
                if let Some(text) = self.tree.attr(id, AttrName::AltText) {
                    self.inline.text(text);
                    return false;
                }
            }
            tag => {
                if let Some(span) = span(tag).filter(|_| !self.inline.is_code()) {
                    self.inline.open(span);
                }
            }
        }
        true
    }

    fn leave(&mut self, id: NodeId) {
        let Some(tag) = self.tree.tag(id) else { return };
        if tag.is_block() {
            return self.leave_block(id, tag);
        }
        match tag {
            Tag::Code => {
                self.code_depth -= 1;
                if self.code_depth == 0 {
                    self.inline.close_code();
                }
            }
            Tag::Link => {
                if self.anchors.pop() == Some(true) {
                    self.inline.close();
                }
            }
            Tag::Choice => self.inline.space(),
            Tag::Control
                if self.tree.next_sibling(id).is_some_and(|node| self.tree.tag(node).is_some()) =>
            {
                self.inline.space();
            }
            Tag::Quotation => self.inline.text("\""),
            tag => {
                if span(tag).is_some() && !self.inline.is_code() {
                    self.inline.close();
                }
            }
        }
    }

    fn leave_block(&mut self, id: NodeId, tag: Tag) {
        match self.leaf {
            Some(Leaf::Heading(heading)) if heading == id => {
                self.leaf = None;
                if let Tag::Heading(level) = tag {
                    self.heading(level);
                }
                return;
            }
            Some(_) => return self.separate(),
            None => {}
        }
        if tag == Tag::Term {
            self.inline.close();
        }
        self.flush();
        match tag {
            Tag::Quote => self.blocks.end_level(),
            Tag::List | Tag::OrderedList | Tag::DefinitionList => {
                let list = self.lists.pop();
                if list.is_some_and(|list| list.inset) {
                    self.blocks.end_level();
                }
            }
            Tag::Item | Tag::Definition => {
                self.task = None;
                if self.items.pop() == Some(true) {
                    self.blocks.end_level();
                }
            }
            Tag::Details => {
                self.blocks.begin(Block::Html, false);
                self.blocks.out.push_str("</details>");
            }
            _ => {}
        }
    }

    /// Ends the paragraph at hand, if there is one.
    fn flush(&mut self) {
        if !self.inline.has_content() {
            return;
        }
        self.blocks.begin(Block::Paragraph, true);
        if let Some(done) = self.task.take() {
            self.blocks.out.push_str(if done { "[x] " } else { "[ ] " });
        }
        let (out, prefix) = self.blocks.parts();
        self.inline.write(out, prefix, Breaks::Lines, &self.links);
    }

    /// Keeps what two boxes hold apart, where all has to stay on one line.
    fn separate(&mut self) {
        match self.leaf {
            Some(Leaf::Cell) if !self.inline.is_after_break() => self.inline.line_break(),
            _ => self.inline.space(),
        }
    }

    fn heading(&mut self, level: u8) {
        self.blocks.begin(Block::Heading, true);
        let (out, prefix) = self.blocks.parts();
        out.push_str(&"######"[..usize::from(level)]);
        let start = out.len();
        out.push(' ');
        self.inline.write(out, prefix, Breaks::Tags, &self.links);
        out.truncate(start + out[start..].trim_end().len());
        // Number signs at the end would be taken for the end of the heading.
        let text = out[start..].trim_end_matches('#').len();
        if start + text < out.len() && out[..start + text].ends_with(' ') {
            out.insert(start + text, '\\');
        }
    }

    fn begin_list(&mut self, id: NodeId, tag: Tag) {
        let tree = self.tree;
        let is_item = |id: &NodeId| {
            matches!(tree.tag(*id), Some(Tag::Item | Tag::Definition)) && !is_hidden(tree, *id)
        };
        let items = || tree.children(id).filter(is_item);
        let has_paragraph = |item| tree.children(item).any(|c| tree.tag(c) == Some(Tag::Paragraph));
        let spacing = if items().any(has_paragraph) { Spacing::Loose } else { Spacing::Tight };
        let number = (tag == Tag::OrderedList).then(|| {
            let first = items().next().and_then(|item| tree.attr(item, AttrName::Value));
            let start = first.or_else(|| tree.attr(id, AttrName::Start));
            start.and_then(number).unwrap_or(1)
        });
        // An empty item, or another number than one, cannot follow a line of text.
        let joins = number.is_none_or(|n| n == 1)
            && items().next().is_some_and(|item| !is_blank(tree, item));
        let inset = match self.lists.last() {
            Some(outer) if outer.level == self.blocks.depth() && !outer.first => {
                self.blocks.resume_item(outer.width, outer.spacing);
                true
            }
            _ => false,
        };
        let marker = match number {
            Some(_) => self.blocks.choose_marker('.', ')'),
            None => self.blocks.choose_marker('-', '*'),
        };
        let level = self.blocks.depth();
        self.lists.push(List {
            level,
            number,
            marker,
            spacing,
            first: true,
            joins,
            width: 2,
            inset,
        });
    }

    fn begin_item(&mut self, id: NodeId) {
        self.items.push(true);
        let Some(list) = self.lists.last_mut().filter(|list| list.level == self.blocks.depth())
        else {
            // An item without a list is shown as one of a list all the same.
            let first = !self.blocks.is_after_item('-');
            let marker = if first { self.blocks.choose_marker('-', '*') } else { '-' };
            let place = Item { first, spacing: Spacing::Tight, joins: false };
            return self.blocks.begin_item(&format!("{marker} "), place);
        };
        let value = self.tree.attr(id, AttrName::Value).and_then(number);
        if let (Some(next), Some(value)) = (&mut list.number, value)
            && *next != value
        {
            // Readers count on by themselves, so another number needs another list.
            *next = value;
            list.marker = if list.marker == '.' { ')' } else { '.' };
            (list.first, list.joins) = (true, false);
        }
        let marker = match &mut list.number {
            Some(number) => {
                let marker = format!("{number}{} ", list.marker);
                *number = (*number + 1).min(999_999_999);
                marker
            }
            None => format!("{} ", list.marker),
        };
        list.width = marker.len();
        let first = std::mem::take(&mut list.first);
        self.blocks.begin_item(&marker, Item { first, spacing: list.spacing, joins: list.joins });
    }

    /// The summary that a box with details is closed to.
    fn summary_of(&self, details: NodeId) -> Option<NodeId> {
        let is_details = self.tree.tag(details) == Some(Tag::Details);
        let is_summary =
            |id: &NodeId| self.tree.tag(*id) == Some(Tag::Summary) && !is_hidden(self.tree, *id);
        self.tree.children(details).find(|child| is_details && is_summary(child))
    }

    /// A summary is HTML like its surroundings, where Markdown is read only between blank lines.
    fn summary(&mut self, id: NodeId) -> Result<(), ConversionError> {
        let is_more =
            |tag| matches!(tag, Tag::Heading(_) | Tag::Link | Tag::Image | Tag::Embedded(_));
        if self.tree.descendants(id).any(|node| self.tree.tag(node).is_some_and(is_more)) {
            self.blocks.new_line();
            self.blocks.out.push_str("<summary>");
            self.walk(id)?;
            self.flush();
            self.blocks.begin(Block::Html, false);
            self.blocks.out.push_str("</summary>");
            return Ok(());
        }
        let text = code::content(self.tree, id);
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        self.blocks.new_line();
        let plain = words.join(" ").replace('&', "&amp;").replace('<', "&lt;");
        self.blocks.out.extend(["<summary>", &plain, "</summary>"]);
        Ok(())
    }

    fn preformatted(&mut self, id: NodeId) -> Result<(), ConversionError> {
        let code = code::content(self.tree, id);
        if self.leaf.is_some() {
            self.separate();
            for line in code.split('\n') {
                self.inline.code_line(line.trim_end());
                self.inline.line_break();
                self.check_size()?;
            }
            return Ok(());
        }
        self.flush();
        self.blocks.begin(Block::Code, true);
        let fence = code::fence(&code);
        let out = &mut self.blocks.out;
        out.push_str(&fence);
        out.push_str(code::language(self.tree, id).unwrap_or_default());
        for line in code.split('\n').filter(|_| !code.is_empty()) {
            self.blocks.new_line();
            if line.is_empty() {
                let end = self.blocks.out.trim_end_matches(' ').len();
                self.blocks.out.truncate(end);
            }
            self.blocks.out.push_str(line);
            self.check_size()?;
        }
        self.blocks.new_line();
        self.blocks.out.push_str(&fence);
        Ok(())
    }

    /// Shows a table of data; others are left to the walk.
    fn table(&mut self, id: NodeId) -> Result<bool, ConversionError> {
        let Some(grid) = table::grid(self.tree, id) else { return Ok(false) };
        let tree = self.tree;
        let captions = tree.children(id).filter(|child| tree.tag(*child) == Some(Tag::Caption));
        for caption in captions.filter(|caption| !is_hidden(tree, *caption)) {
            self.walk(caption)?;
            self.flush();
        }
        self.leaf = Some(Leaf::Cell);
        self.blocks.begin(Block::Table, true);
        let (header, body) = grid.parts();
        self.row(header, grid.columns())?;
        self.blocks.new_line();
        self.blocks.out.push_str(&grid.rule());
        for row in body {
            self.blocks.new_line();
            self.row(row, grid.columns())?;
        }
        self.leaf = None;
        Ok(true)
    }

    fn row(&mut self, cells: &[(usize, NodeId)], columns: usize) -> Result<(), ConversionError> {
        self.check()?;
        self.blocks.out.push('|');
        let mut cells = cells.iter().peekable();
        for column in 0..columns {
            self.blocks.out.push(' ');
            let start = self.blocks.out.len();
            while let Some((_, cell)) = cells.next_if(|(at, _)| *at == column) {
                self.walk(*cell)?;
                self.separate();
            }
            self.inline.write(&mut self.blocks.out, "", Breaks::Tags, &self.links);
            table::escape_pipes(&mut self.blocks.out, start);
            self.blocks.out.push_str(" |");
        }
        Ok(())
    }

    /// Shows where something embedded is; the answer is whether what stands in for it is to be
    /// shown instead.
    fn embedded(&mut self, id: NodeId, name: &str) -> bool {
        if self.links.target(id).is_none() {
            return name != "iframe";
        }
        let title = self.tree.attr(id, AttrName::Title).filter(|title| !title.trim().is_empty());
        self.inline.open(Span::Link(id));
        self.inline.text(title.unwrap_or(name));
        self.inline.close();
        false
    }
}

/// A number of a list, as far as Markdown has it: what follows the digits does not count.
fn number(text: &str) -> Option<u32> {
    let text = text.trim_ascii_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text[..digits].parse().ok().filter(|number| *number <= 999_999_999)
}

/// The formatting that a tag stands for.
fn span(tag: Tag) -> Option<Span> {
    match tag {
        Tag::Emphasis => Some(Span::Emphasis),
        Tag::Strong => Some(Span::Strong),
        Tag::Deleted => Some(Span::Deleted),
        Tag::Kept(name) => Some(Span::Kept(name)),
        _ => None,
    }
}
