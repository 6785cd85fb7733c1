//! The walk over a page. It goes by the links of the tree, not by recursion, so depth costs nothing; only a table calls it
//! again for its cells, in which no further table is laid out.

use url::Url;

use super::blocks::{Block, Blocks, Item, Spacing};
use super::inline::{Breaks, Inline, Span};
use super::links::Links;
use super::table::{self, declaration, is_blank};
use super::{ConversionError, Options, code, escape};
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
    links: Links,
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
            links: Links::new(base_url, tree.base.as_deref()),
            blocks: Blocks::new(),
            inline: Inline::new(),
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
        if self.blocks.out.len() > self.options.max_output {
            return Err(ConversionError::TooLarge);
        }
        self.options.check_time()
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
            Kind::Element { attr_count, .. } if attr_count > 0 && self.is_hidden(id) => return Ok(false),
            Kind::Element { tag, .. } => tag,
        };
        if tag == Tag::Hidden {
            return Ok(false);
        }
        if tag == Tag::Preformatted {
            self.preformatted(id);
            return Ok(false);
        }
        if tag.is_block() {
            return self.enter_block(id, tag);
        }
        Ok(self.enter_inline(id, tag))
    }

    fn is_hidden(&self, id: NodeId) -> bool {
        let hidden = self.tree.attr(id, AttrName::Hidden);
        let style = self.tree.attr(id, AttrName::Style);
        if hidden.is_none() && style.is_none() {
            return false;
        }
        // A page that hides itself as a whole does so until its script has run.
        let parent = self.tree.parent(id);
        let is_page = parent == Some(Tree::ROOT)
            || parent.and_then(|parent| self.tree.parent(parent)) == Some(Tree::ROOT);
        !is_page
            && (hidden.is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
                || style.is_some_and(|style| {
                    declaration(style, "display").is_some_and(|v| v.eq_ignore_ascii_case("none"))
                }))
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
            Tag::Item | Tag::Definition => self.begin_item(),
            Tag::Term => {
                if let Some(list) = self.lists.last_mut() {
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
                    self.summary(summary);
                }
            }
            Tag::Summary => {
                return Ok(self.tree.parent(id).and_then(|parent| self.summary_of(parent)) != Some(id));
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
                let span = self.link(id);
                self.anchors.push(span.is_some());
                if let Some(span) = span {
                    self.inline.open(span);
                }
            }
            Tag::Image => self.image(id),
            Tag::Embedded(name) => {
                self.embedded(id, name);
                return false;
            }
            Tag::LineBreak => {
                if self.leaf.is_none() && !self.inline.is_code() && self.inline.is_after_break() {
                    self.flush();
                } else {
                    self.inline.line_break();
                }
            }
            Tag::Checkbox => {
                let is_box =
                    self.tree.attr(id, AttrName::Type).is_some_and(|t| t.eq_ignore_ascii_case("checkbox"));
                let begins_item = self.items.last() == Some(&true) && self.blocks.is_fresh();
                if is_box && begins_item && self.leaf.is_none() && !self.inline.has_content() {
                    self.task = Some(self.tree.attr(id, AttrName::Checked).is_some());
                }
            }
            Tag::Choice => self.inline.space(),
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
        self.inline.write(out, prefix, Breaks::Lines);
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
        self.inline.write(out, prefix, Breaks::Tags);
        // Number signs at the end would be taken for the end of the heading.
        let text = out[start..].trim_end_matches('#').len();
        if start + text < out.len() && out[..start + text].ends_with(' ') {
            out.insert(start + text, '\\');
        }
        out.truncate(start + out[start..].trim_end_matches(' ').len());
    }

    fn begin_list(&mut self, id: NodeId, tag: Tag) {
        let tree = self.tree;
        let items =
            || tree.children(id).filter(|c| matches!(tree.tag(*c), Some(Tag::Item | Tag::Definition)));
        let has_paragraph = |item| tree.children(item).any(|c| tree.tag(c) == Some(Tag::Paragraph));
        let spacing = if items().any(has_paragraph) { Spacing::Loose } else { Spacing::Tight };
        let number = (tag == Tag::OrderedList).then(|| {
            let first = items().next().and_then(|item| tree.attr(item, AttrName::Value));
            let start = first.or_else(|| tree.attr(id, AttrName::Start));
            start.and_then(|n| n.trim().parse().ok()).filter(|n| *n <= 999_999_999).unwrap_or(1)
        });
        // An empty item, or another number than one, cannot follow a line of text.
        let joins = number.is_none_or(|n| n == 1) && items().next().is_some_and(|item| !is_blank(tree, item));
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
        self.lists.push(List { level, number, marker, spacing, first: true, joins, width: 2, inset });
    }

    fn begin_item(&mut self) {
        let list = self.lists.last_mut().filter(|list| list.level == self.blocks.depth());
        self.items.push(list.is_some());
        let Some(list) = list else { return };
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
        self.tree.children(details).find(|child| is_details && self.tree.tag(*child) == Some(Tag::Summary))
    }

    /// A summary has to be HTML like its surroundings, where Markdown is not read.
    fn summary(&mut self, id: NodeId) {
        let text = code::content(self.tree, id);
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        self.blocks.new_line();
        let plain = words.join(" ").replace('&', "&amp;").replace('<', "&lt;");
        self.blocks.out.extend(["<summary>", &plain, "</summary>"]);
    }

    fn preformatted(&mut self, id: NodeId) {
        let code = code::content(self.tree, id);
        if self.leaf.is_some() {
            self.separate();
            for line in code.lines().filter(|line| !line.trim().is_empty()) {
                self.inline.open_code();
                self.inline.text(line.trim_end());
                self.inline.close_code();
                self.separate();
            }
            return;
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
        }
        self.blocks.new_line();
        self.blocks.out.push_str(&fence);
    }

    /// Shows a table of data; others are left to the walk.
    fn table(&mut self, id: NodeId) -> Result<bool, ConversionError> {
        let Some(grid) = table::grid(self.tree, id) else { return Ok(false) };
        let caption = self.tree.children(id).find(|child| self.tree.tag(*child) == Some(Tag::Caption));
        if let Some(caption) = caption {
            self.walk(caption)?;
            self.flush();
        }
        self.leaf = Some(Leaf::Cell);
        let mut texts = Vec::with_capacity(grid.rows.len());
        let mut size = 0;
        for row in &grid.rows {
            let mut cells = Vec::with_capacity(row.len());
            for cell in row {
                let mut text = String::new();
                if let Some(cell) = cell {
                    self.walk(*cell)?;
                    self.inline.write(&mut text, "", Breaks::Tags);
                }
                size += text.len() + 3;
                cells.push(table::escape_pipes(text));
            }
            if size > self.options.max_output {
                return Err(ConversionError::TooLarge);
            }
            texts.push(cells);
        }
        self.leaf = None;
        self.blocks.begin(Block::Table, true);
        for (number, line) in grid.lines(&texts).iter().enumerate() {
            if number > 0 {
                self.blocks.new_line();
            }
            self.blocks.out.push_str(line);
        }
        Ok(true)
    }

    fn link(&self, id: NodeId) -> Option<Span> {
        let url = self.links.resolve(self.tree.attr(id, AttrName::Href)?)?;
        let title = self.tree.attr(id, AttrName::Title).unwrap_or_default().to_owned();
        Some(Span::Link { url, title })
    }

    fn image(&mut self, id: NodeId) {
        let attr = |name| self.tree.attr(id, name);
        // A page that loads images late has the real address elsewhere.
        let src = [AttrName::DataSrc, AttrName::Src]
            .into_iter()
            .find_map(|name| attr(name).filter(|s| !s.is_empty()));
        let alt = attr(AttrName::Alt).unwrap_or_default();
        let Some(url) = src.or(attr(AttrName::Src)).and_then(|src| self.links.resolve(src)) else {
            return self.inline.text(alt);
        };
        let mut image = String::from("![");
        escape::push_text(&mut image, alt.trim(), true);
        image.push_str("](");
        escape::push_destination(&mut image, &url);
        escape::push_title(&mut image, attr(AttrName::Title).unwrap_or_default());
        image.push(')');
        self.inline.raw(image);
    }

    fn embedded(&mut self, id: NodeId, name: &str) {
        let source = self.tree.children(id).find(|child| self.tree.tag(*child) == Some(Tag::Source));
        let src =
            [Some(id), source].into_iter().flatten().find_map(|node| self.tree.attr(node, AttrName::Src));
        let Some(url) = src.filter(|src| !src.is_empty()).and_then(|src| self.links.resolve(src)) else {
            return;
        };
        let title =
            self.tree.attr(id, AttrName::Title).filter(|title| !title.trim().is_empty()).unwrap_or(name);
        self.inline.open(Span::Link { url, title: String::new() });
        self.inline.text(title);
        self.inline.close();
    }
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
