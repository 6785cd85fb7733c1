//! The walk over a page: decides for each node what it becomes, in document order.
//!
//! ```text
//! enter <p>      flush the paragraph before
//! enter text     ─▶ InlineBuffer
//! enter <b>      ─▶ InlineBuffer: open Strong
//! …
//! leave <b>      ─▶ InlineBuffer: close
//! leave <p>      flush: BlockWriter begins a paragraph, InlineBuffer writes it
//! ```
//!
//! The walk follows the indices of the tree instead of recursing, so the depth of a page does not
//! matter. There are two exceptions, both of bounded depth: a table walks its cells one by one (a
//! table inside a cell is not laid out again), and `<details>` walks its summary first.
//!
//! Three parts share the work. The walker decides what a node is; `BlockWriter` knows the lines
//! that are open (quotes, items) and puts their prefix in front of each new line; `InlineBuffer`
//! collects the text of one paragraph and chooses its delimiters. The walker never writes a line
//! break itself.
//!
//! Every page ends in Markdown: there is no markup that this refuses. Only the limits of the
//! options make it fail, and both are checked every `NODES_PER_CHECK` nodes.

use url::Url;

use super::blocks::{BlockKind, BlockWriter, ItemPosition, ListSpacing};
use super::inline::{InlineBuffer, InlineSpan, LineBreakStyle};
use super::links::LinkWriter;
use super::visibility::{is_blank, is_hidden, is_hidden_by_markup};
use super::{ConversionError, LinkStyle, MarkdownOptions, code_block, table};
use crate::html::{AttributeName, HtmlDocument, HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};
use crate::main_content::ContentSelection;

/// Nodes between two checks of the deadline and the size of the output. Reading the clock for
/// every node would take a noticeable share of the time.
const NODES_PER_CHECK: u32 = 1024;

/// The largest number of a list item: CommonMark allows nine digits.
const MAX_LIST_NUMBER: u32 = 999_999_999;

/// A block that Markdown keeps on one line. Blocks inside of it become part of that line:
/// `enter_block` and `leave_block` only separate their texts then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SingleLineContext {
    /// A heading, with the element that ends it.
    Heading(HtmlNodeId),
    /// A table cell.
    Cell,
}

/// A list whose end has not been reached. Markdown has no lists, only items: what the reader of the
/// Markdown takes for one list follows from markers, numbers and blank lines, so these are chosen
/// here.
#[derive(Debug)]
struct OpenList {
    /// How many list items and quotes are around the list. An `<li>` belongs to the list only at
    /// the same level; in a quote within the list, it does not.
    level: usize,
    /// The number of the next item, if the list has numbers.
    number: Option<u32>,
    /// `-` or `*`, or the character after the number, `.` or `)`.
    marker: char,
    spacing: ListSpacing,
    /// Whether the next item begins a list of Markdown. Set again within a list of HTML where
    /// Markdown needs a new one, such as after a number that does not follow.
    first: bool,
    /// Whether the list may begin directly below a line of text.
    joins: bool,
    /// Bytes of the last item's marker: how far the content of the item is indented.
    width: usize,
    /// Whether it is a direct child of another list, without an item around it. Not valid HTML,
    /// but browsers indent it below the item before it, and editors write it.
    inset: bool,
}

/// What a walk has written.
pub(super) struct WalkedPage {
    pub(super) markdown: String,
    /// Elements with text that were not written because their markup hides them.
    pub(super) hidden_elements: usize,
}

/// Walks over a tree and writes it as Markdown. Made for one walk: `run` and `run_selection` take
/// it.
pub(super) struct MarkdownWalker<'a> {
    tree: &'a HtmlTree,
    options: &'a MarkdownOptions,
    links: LinkWriter<'a>,
    blocks: BlockWriter,
    inline: InlineBuffer,
    /// The lists that are open, outermost first.
    lists: Vec<OpenList>,
    /// How many `<li>` and `<dd>` are open.
    open_items: usize,
    /// For every `<a>` that is open, whether it opened a link. Those without a usable `href` did
    /// not.
    anchors: Vec<bool>,
    /// The heading or cell that the walk is in.
    single_line: Option<SingleLineContext>,
    /// How many code elements are open.
    code_depth: usize,
    /// A check box at the beginning of a list item, checked or not, until its text is written.
    task: Option<bool>,
    /// How many nodes were visited.
    visited: u32,
    /// By id, which nodes are not part of the selection; empty if all are.
    ///
    /// Decided by `main_content` before the walk.
    left_out: &'a [bool],
    hidden_elements: usize,
    /// Whether this is the document of a frame, in which no further frames are opened.
    is_frame: bool,
}

impl<'a> MarkdownWalker<'a> {
    /// `base_url` is the page's address, if it has one.
    pub(super) fn new(
        tree: &'a HtmlTree,
        base_url: Option<&Url>,
        options: &'a MarkdownOptions,
    ) -> MarkdownWalker<'a> {
        MarkdownWalker {
            tree,
            options,
            links: LinkWriter::new(tree, base_url, options.links),
            blocks: BlockWriter::new(tree.markdown_size_hint()),
            inline: InlineBuffer::new(options.max_output),
            lists: Vec::new(),
            open_items: 0,
            anchors: Vec::new(),
            single_line: None,
            code_depth: 0,
            task: None,
            visited: 0,
            left_out: &[],
            hidden_elements: 0,
            is_frame: false,
        }
    }

    /// Writes the main content: the heading, if it stands elsewhere, and what is in the scope.
    pub(super) fn run_selection(
        mut self,
        selection: &'a ContentSelection,
    ) -> Result<WalkedPage, ConversionError> {
        if let Some(heading) = selection.heading {
            self.single_line = Some(SingleLineContext::Heading(heading));
            self.walk(heading)?;
            self.single_line = None;
            self.heading(1);
        }
        self.left_out = &selection.left_out;
        self.walk(selection.scope)?;
        self.finish()
    }

    /// Writes the whole page. Fails only by the limits of the options.
    pub(super) fn run(mut self) -> Result<WalkedPage, ConversionError> {
        self.walk(HtmlTree::ROOT)?;
        self.finish()
    }

    /// What is left in the buffer is the last paragraph; footnotes of links come after it.
    fn finish(mut self) -> Result<WalkedPage, ConversionError> {
        self.flush();
        self.check()?;
        // An empty item at the end of the page leaves white space.
        let mut out = self.blocks.out;
        out.truncate(out.trim_end().len());
        self.links.push_definitions(&mut out, self.options)?;
        Ok(WalkedPage { markdown: out, hidden_elements: self.hidden_elements })
    }

    /// Fails if the output is too large or the deadline has passed.
    fn check(&self) -> Result<(), ConversionError> {
        self.check_size()?;
        self.options.check_time()
    }

    /// Counts what is written and what is collected: a page can be one long paragraph.
    fn check_size(&self) -> Result<(), ConversionError> {
        let fits = self.blocks.out.len() + self.inline.size_hint() <= self.options.max_output;
        fits.then_some(()).ok_or(ConversionError::TooLarge)
    }

    /// Writes everything below `root`, but not `root` itself.
    fn walk(&mut self, root: HtmlNodeId) -> Result<(), ConversionError> {
        let Some(mut at) = self.tree.first_child(root) else { return Ok(()) };
        loop {
            self.visited += 1;
            if self.visited.is_multiple_of(NODES_PER_CHECK) {
                self.check()?;
            }
            // Down to the first child; a node without children is left at once.
            if self.enter(at)? {
                if let Some(child) = self.tree.first_child(at) {
                    at = child;
                    continue;
                }
                self.leave(at);
            }
            // To the next sibling of the node, or of the nearest element around it that has one.
            // All elements on the way up are left.
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

    /// Whether a node is not part of the main content.
    fn is_left_out(&self, id: HtmlNodeId) -> bool {
        self.left_out.get(id as usize).copied().unwrap_or(false)
    }

    /// Begins a node. Returns whether to visit its children and to call `leave` after them; both or
    /// neither, so that everything which is opened here is closed there.
    ///
    /// # Errors
    /// Only those of the limits.
    fn enter(&mut self, id: HtmlNodeId) -> Result<bool, ConversionError> {
        let tag = match self.tree.kind(id) {
            HtmlNodeKind::Text { start, end } => {
                if !self.is_left_out(id) {
                    self.inline.text(self.tree.text(start, end));
                }
                return Ok(false);
            }
            HtmlNodeKind::Other => return Ok(false),
            // With everything below it: `false` skips the children.
            HtmlNodeKind::Element { tag, .. } if tag.is_hidden() => return Ok(false),
            HtmlNodeKind::Element { .. } if is_hidden_by_markup(self.tree, id) => {
                self.hidden_elements += usize::from(!is_blank(self.tree, id));
                return Ok(false);
            }
            HtmlNodeKind::Element { .. } if self.is_left_out(id) => return Ok(false),
            HtmlNodeKind::Element { tag, .. } => tag,
        };
        // The text of `<pre>` is copied, not walked: nothing in it is formatting.
        if tag == HtmlTag::Preformatted {
            self.preformatted(id)?;
            return Ok(false);
        }
        if tag.is_block() {
            return self.enter_block(id, tag);
        }
        if tag == HtmlTag::Embed("iframe")
            && !self.is_frame
            && self.single_line.is_none()
            && let Some(html) = self.tree.attr(id, AttributeName::Srcdoc)
        {
            self.inner_document(html)?;
            return Ok(false);
        }
        Ok(self.enter_inline(id, tag))
    }

    /// Begins an element that stands on lines of its own; returns the same as `enter`.
    fn enter_block(&mut self, id: HtmlNodeId, tag: HtmlTag) -> Result<bool, ConversionError> {
        if self.single_line.is_some() {
            self.separate();
            return Ok(true);
        }
        // Text before the block is a paragraph of its own, whatever element it is in.
        self.flush();
        match tag {
            // A heading is written when it ends. Until then, its text is collected.
            HtmlTag::Heading(_) => self.single_line = Some(SingleLineContext::Heading(id)),
            HtmlTag::Quote => self.blocks.begin_quote(),
            HtmlTag::List | HtmlTag::OrderedList | HtmlTag::DefinitionList => {
                self.begin_list(id, tag)
            }
            // An item that has only icons or hidden elements is not an item to a reader.
            HtmlTag::ListItem if self.has_nothing_to_show(id) => return Ok(false),
            HtmlTag::ListItem | HtmlTag::Definition => self.begin_item(id),
            HtmlTag::Term => {
                let level = self.blocks.depth();
                // A term stands outside of the list, so the definitions after it begin a new one.
                if let Some(list) = self.lists.last_mut().filter(|list| list.level == level) {
                    (list.first, list.joins) = (true, false);
                }
                self.inline.open(InlineSpan::Strong);
            }
            HtmlTag::ThematicBreak => {
                // `- ---` would be one thematic break, not a list item with one in it.
                let rule = if self.blocks.is_fresh() { "___" } else { "---" };
                self.blocks.begin(BlockKind::ThematicBreak, true);
                self.blocks.out.push_str(rule);
                return Ok(false);
            }
            // GitHub and others render `<details>` with Markdown in it. Browsers show the summary
            // first, wherever it stands.
            HtmlTag::Details => {
                self.blocks.begin(BlockKind::Html, true);
                self.blocks.out.push_str("<details>");
                if let Some(summary) = self.summary_of(id) {
                    self.summary(summary)?;
                }
            }
            HtmlTag::Summary => {
                // The first summary was written when its `<details>` began.
                return Ok(
                    self.tree.parent(id).and_then(|parent| self.summary_of(parent)) != Some(id)
                );
            }
            HtmlTag::Table => return self.table(id).map(|is_written| !is_written),
            // The other blocks, such as `<div>` and `<p>`, only end the paragraph before them.
            _ => {}
        }
        Ok(true)
    }

    /// Begins an element within a line. Returns whether to visit its children.
    ///
    /// Whatever opens a span here must close it in `leave`, under the same condition.
    fn enter_inline(&mut self, id: HtmlNodeId, tag: HtmlTag) -> bool {
        match tag {
            // Code within code is just code: a second pair of backticks would end the first.
            HtmlTag::Code => {
                if self.code_depth == 0 {
                    self.inline.open_code();
                }
                self.code_depth += 1;
            }
            HtmlTag::Link => {
                let has_href =
                    self.options.links != LinkStyle::Omitted && self.links.href(id).is_some();
                self.anchors.push(has_href);
                if has_href {
                    self.inline.open(InlineSpan::Link(id));
                }
            }
            HtmlTag::Image if !self.options.images => {}
            // An image without a usable address is its alternative text.
            HtmlTag::Image if self.links.href(id).is_some() => self.inline.image(id),
            HtmlTag::Image => {
                self.inline.text(self.tree.attr(id, AttributeName::Alt).unwrap_or_default())
            }
            HtmlTag::Embed(name) => return self.embed(id, name),
            HtmlTag::LineBreak => {
                // Two line breaks in a row are an empty line, which separates paragraphs.
                if self.single_line.is_none()
                    && !self.inline.is_code()
                    && self.inline.is_after_break()
                {
                    self.flush();
                } else {
                    self.inline.line_break();
                }
            }
            // A check box at the beginning of a list item makes it a task. Other inputs are empty
            // fields without anything to show.
            HtmlTag::Input => {
                let is_box = self
                    .tree
                    .attr(id, AttributeName::Type)
                    .is_some_and(|t| t.eq_ignore_ascii_case("checkbox"));
                // GitHub reads `[ ]` as a task only at the very beginning of an item.
                let begins_item = self.open_items > 0 && self.blocks.is_fresh();
                if is_box && begins_item && self.single_line.is_none() && !self.inline.has_content()
                {
                    self.task = Some(self.tree.attr(id, AttributeName::Checked).is_some());
                }
            }
            HtmlTag::SelectOption => self.inline.space(),
            // White space beside text is up to the page; only between two elements it is missing.
            HtmlTag::Control
                if self
                    .tree
                    .previous_sibling(id)
                    .is_some_and(|node| self.tree.tag(node).is_some()) =>
            {
                self.inline.space();
            }
            HtmlTag::InlineQuote => self.inline.text("\""),
            // The parts of a formula without their arrangement are hard to read, so `alttext` is
            // better if it is there.
            HtmlTag::Math => {
                if let Some(text) = self.tree.attr(id, AttributeName::AltText) {
                    self.inline.text(text);
                    return false;
                }
                if let Some(annotation) = self.tex_annotation(id) {
                    self.inline.text(code_block::code_text(self.tree, annotation).trim());
                    return false;
                }
            }
            // Formatting inside of code cannot be expressed and is dropped; its text is not.
            tag => {
                if let Some(span) = span_of(tag).filter(|_| !self.inline.is_code()) {
                    self.inline.open(span);
                }
            }
        }
        true
    }

    /// Ends a node that `enter` began, after its children.
    fn leave(&mut self, id: HtmlNodeId) {
        let Some(tag) = self.tree.tag(id) else { return };
        if tag.is_block() {
            return self.leave_block(id, tag);
        }
        match tag {
            HtmlTag::Code => {
                self.code_depth -= 1;
                if self.code_depth == 0 {
                    self.inline.close_code();
                }
            }
            HtmlTag::Link => {
                // Pushed for every `<a>`, so that the stack stays in step with the elements.
                if self.anchors.pop() == Some(true) {
                    self.inline.close();
                }
            }
            HtmlTag::SelectOption => self.inline.space(),
            HtmlTag::Control
                if self.tree.next_sibling(id).is_some_and(|node| self.tree.tag(node).is_some()) =>
            {
                self.inline.space();
            }
            HtmlTag::InlineQuote => self.inline.text("\""),
            tag => {
                if span_of(tag).is_some() && !self.inline.is_code() {
                    self.inline.close();
                }
            }
        }
    }

    /// Ends a block, mirroring `enter_block`: what that does not begin on a single line is not
    /// ended here. The heading that opened the single line ends it, which is why its id is kept.
    fn leave_block(&mut self, id: HtmlNodeId, tag: HtmlTag) {
        match self.single_line {
            Some(SingleLineContext::Heading(heading)) if heading == id => {
                self.single_line = None;
                if let HtmlTag::Heading(level) = tag {
                    self.heading(level);
                }
                return;
            }
            Some(_) => return self.separate(),
            None => {}
        }
        if tag == HtmlTag::Term {
            self.inline.close();
        }
        // Text at the end of the block is a paragraph in it.
        self.flush();
        match tag {
            HtmlTag::Quote => self.blocks.end_level(),
            HtmlTag::List | HtmlTag::OrderedList | HtmlTag::DefinitionList => {
                let list = self.lists.pop();
                if list.is_some_and(|list| list.inset) {
                    self.blocks.end_level();
                }
            }
            HtmlTag::ListItem | HtmlTag::Definition => {
                // A check box without text is dropped with its item.
                self.task = None;
                self.open_items -= 1;
                self.blocks.end_level();
            }
            HtmlTag::Details => {
                self.blocks.begin(BlockKind::Html, false);
                self.blocks.out.push_str("</details>");
            }
            _ => {}
        }
    }

    /// Writes the text collected so far as a paragraph, if there is any. Called wherever a block
    /// begins or ends; that is how text without `<p>` becomes a paragraph.
    fn flush(&mut self) {
        if !self.inline.has_content() {
            return;
        }
        self.blocks.begin(BlockKind::Paragraph, true);
        if let Some(done) = self.task.take() {
            self.blocks.out.push_str(if done { "[x] " } else { "[ ] " });
        }
        let (out, prefix) = self.blocks.parts();
        self.inline.write(out, prefix, LineBreakStyle::Newline, &self.links);
    }

    /// Separates the texts of two blocks that have to stay on one line: by a line break in a cell,
    /// by a space in a heading.
    fn separate(&mut self) {
        match self.single_line {
            Some(SingleLineContext::Cell) if !self.inline.is_after_break() => {
                self.inline.line_break()
            }
            _ => self.inline.space(),
        }
    }

    /// Writes the text collected so far as a heading.
    fn heading(&mut self, level: u8) {
        self.blocks.begin(BlockKind::Heading, true);
        // The text follows on the same line; line breaks in it become `<br>`.
        let (out, prefix) = self.blocks.parts();
        out.push_str(&"######"[..usize::from(level)]);
        let start = out.len();
        out.push(' ');
        self.inline.write(out, prefix, LineBreakStyle::Tag, &self.links);
        out.truncate(start + out[start..].trim_end().len());
        // `# a #` is a heading with the text `a`: `#` at the end closes it.
        let text_end = start + out[start..].trim_end_matches('#').len();
        if text_end < out.len() && out[..text_end].ends_with(' ') {
            out.insert(text_end, '\\');
        }
    }

    /// Begins a list: decides on spacing, first number and marker from its items. All of that has
    /// to be known before the first item is written, so the items are looked at twice.
    fn begin_list(&mut self, id: HtmlNodeId, tag: HtmlTag) {
        let tree = self.tree;
        let is_item = |id: &HtmlNodeId| {
            matches!(tree.tag(*id), Some(HtmlTag::ListItem | HtmlTag::Definition))
                && !is_hidden(tree, *id)
        };
        let items = || tree.children(id).filter(is_item);
        let has_paragraph =
            |item| tree.children(item).any(|c| tree.tag(c) == Some(HtmlTag::Paragraph));
        // Renderers put the text of a loose list into `<p>`, so a list with `<p>` has to be loose.
        let spacing =
            if items().any(has_paragraph) { ListSpacing::Loose } else { ListSpacing::Tight };
        // Markdown takes the number of the list from its first item.
        let number = (tag == HtmlTag::OrderedList).then(|| {
            let first = items().next().and_then(|item| tree.attr(item, AttributeName::Value));
            let start = first.or_else(|| tree.attr(id, AttributeName::Start));
            start.and_then(list_number).unwrap_or(1)
        });
        // CommonMark: a list can interrupt a paragraph only if its first item is not empty and, in
        // an ordered list, has the number one.
        let joins = number.is_none_or(|n| n == 1)
            && items().next().is_some_and(|item| !is_blank(tree, item));
        // A list directly in another list goes on at the indent of the item before it.
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
        self.lists.push(OpenList {
            level,
            number,
            marker,
            spacing,
            first: true,
            joins,
            // Not used before the first item, which sets it.
            width: 2,
            inset,
        });
    }

    /// Begins a list item with its marker, and advances the number of an ordered list. Items
    /// outside of any list are written with a bullet, as browsers draw them.
    fn begin_item(&mut self, id: HtmlNodeId) {
        self.open_items += 1;
        let Some(list) = self.lists.last_mut().filter(|list| list.level == self.blocks.depth())
        else {
            // An item without a list, which browsers draw with a bullet.
            let first = !self.blocks.is_after_item('-');
            let marker = if first { self.blocks.choose_marker('-', '*') } else { '-' };
            let position = ItemPosition { first, spacing: ListSpacing::Tight, joins: false };
            return self.blocks.begin_item(&format!("{marker} "), position);
        };
        let value = self.tree.attr(id, AttributeName::Value).and_then(list_number);
        if let (Some(next), Some(value)) = (&mut list.number, value)
            && *next != value
        {
            // Renderers number the items after the first by themselves, so another number needs
            // another list.
            *next = value;
            list.marker = if list.marker == '.' { ')' } else { '.' };
            (list.first, list.joins) = (true, false);
        }
        let marker = match &mut list.number {
            Some(number) => {
                let marker = format!("{number}{} ", list.marker);
                *number = (*number + 1).min(MAX_LIST_NUMBER);
                marker
            }
            None => format!("{} ", list.marker),
        };
        list.width = marker.len();
        let first = std::mem::take(&mut list.first);
        self.blocks
            .begin_item(&marker, ItemPosition { first, spacing: list.spacing, joins: list.joins });
    }

    /// Whether an item has elements, but none that a reader sees. An item without any content is
    /// kept: it is part of a list that counts.
    fn has_nothing_to_show(&self, item: HtmlNodeId) -> bool {
        let tree = self.tree;
        let mut elements =
            tree.children(item).filter(|child| tree.tag(*child).is_some()).peekable();
        elements.peek().is_some()
            && elements.all(|child| is_hidden(tree, child) || self.is_left_out(child))
            && tree.children(item).all(|child| match tree.kind(child) {
                HtmlNodeKind::Text { start, end } => tree.text(start, end).trim().is_empty(),
                _ => true,
            })
    }

    /// The annotation of a formula that has it as TeX.
    fn tex_annotation(&self, math: HtmlNodeId) -> Option<HtmlNodeId> {
        self.tree.descendants(math).find(|id| {
            let encoding = self.tree.attr(*id, AttributeName::Encoding).unwrap_or_default();
            self.tree.tag(*id) == Some(HtmlTag::Annotation)
                && encoding.to_ascii_lowercase().contains("tex")
        })
    }

    /// Writes the document of an `<iframe srcdoc>` as blocks. It is parsed by itself, under the
    /// same limits and the same deadline, so that its elements cannot close those of the page.
    /// Frames in it are not opened.
    fn inner_document(&mut self, html: &str) -> Result<(), ConversionError> {
        let options = MarkdownOptions {
            content: super::PageContent::Whole,
            links: LinkStyle::Inline,
            ..self.options.clone()
        };
        let document = HtmlDocument::parse(html, &options)?;
        let mut walker = MarkdownWalker::new(&document.tree, self.links.base_url(), &options);
        walker.is_frame = true;
        let walked = walker.run()?;
        self.hidden_elements += walked.hidden_elements;
        self.flush();
        for (index, line) in walked.markdown.lines().enumerate() {
            match index {
                0 => self.blocks.begin(BlockKind::Html, false),
                _ => self.blocks.new_line(),
            }
            self.blocks.out.push_str(line);
            self.check_size()?;
        }
        Ok(())
    }

    /// The summary of a `<details>` element: the first that is not hidden, as in browsers.
    fn summary_of(&self, details: HtmlNodeId) -> Option<HtmlNodeId> {
        let is_details = self.tree.tag(details) == Some(HtmlTag::Details);
        let is_summary = |id: &HtmlNodeId| {
            self.tree.tag(*id) == Some(HtmlTag::Summary) && !is_hidden(self.tree, *id)
        };
        self.tree.children(details).find(|child| is_details && is_summary(child))
    }

    /// Writes a summary. `<details>` stays HTML, and in HTML, Markdown is read only between blank
    /// lines. A summary with links or images is therefore written between blank lines; others are
    /// one line of HTML, which looks better where HTML is not rendered.
    fn summary(&mut self, id: HtmlNodeId) -> Result<(), ConversionError> {
        let needs_markdown = |tag| {
            matches!(tag, HtmlTag::Heading(_) | HtmlTag::Link | HtmlTag::Image | HtmlTag::Embed(_))
        };
        if self.tree.descendants(id).any(|node| self.tree.tag(node).is_some_and(needs_markdown)) {
            self.blocks.new_line();
            self.blocks.out.push_str("<summary>");
            self.walk(id)?;
            self.flush();
            self.blocks.begin(BlockKind::Html, false);
            self.blocks.out.push_str("</summary>");
            return Ok(());
        }
        // Without Markdown there is no formatting either; only entities have to be encoded again.
        let text = code_block::code_text(self.tree, id);
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        self.blocks.new_line();
        let plain = words.join(" ").replace('&', "&amp;").replace('<', "&lt;");
        self.blocks.out.extend(["<summary>", &plain, "</summary>"]);
        Ok(())
    }

    /// Writes `<pre>` as a fenced code block; on a single line, as a code span for each of its
    /// lines.
    fn preformatted(&mut self, id: HtmlNodeId) -> Result<(), ConversionError> {
        let code = code_block::code_text(self.tree, id);
        if self.single_line.is_some() {
            self.separate();
            for line in code.split('\n') {
                self.inline.code_line(line.trim_end());
                self.inline.line_break();
                self.check_size()?;
            }
            return Ok(());
        }
        self.flush();
        self.blocks.begin(BlockKind::Code, true);
        // Long enough that no line of the code can close it.
        let fence = code_block::fence(&code);
        let out = &mut self.blocks.out;
        out.push_str(&fence);
        out.push_str(code_block::language(self.tree, id).unwrap_or_default());
        for line in code.split('\n').filter(|_| !code.is_empty()) {
            self.blocks.new_line();
            // No white space at the end of an empty line; the prefix of a quote stays.
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

    /// Writes a table with its captions. Returns `false` for a layout table, whose content the
    /// walk then writes as if the table were not there.
    fn table(&mut self, id: HtmlNodeId) -> Result<bool, ConversionError> {
        let Some(layout) = table::lay_out_table(self.tree, id) else { return Ok(false) };
        let tree = self.tree;
        let captions = tree.children(id).filter(|child| tree.tag(*child) == Some(HtmlTag::Caption));
        // A caption is a paragraph before the table, since GFM has none.
        for caption in captions.filter(|caption| !is_hidden(tree, *caption)) {
            self.walk(caption)?;
            self.flush();
        }
        // `enter_block` calls this only outside of single lines, so there is nothing to restore.
        self.single_line = Some(SingleLineContext::Cell);
        self.blocks.begin(BlockKind::Table, true);
        let (header, body) = layout.header_and_body();
        self.row(header, layout.columns())?;
        self.blocks.new_line();
        self.blocks.out.push_str(&layout.delimiter_row());
        for row in body {
            self.blocks.new_line();
            self.row(row, layout.columns())?;
        }
        self.single_line = None;
        Ok(true)
    }

    /// Writes a row of a table: one cell for each column, empty where the page has none. Checked
    /// for every row, because a wide table is much larger in Markdown than in HTML.
    fn row(
        &mut self,
        cells: &[(usize, HtmlNodeId)],
        columns: usize,
    ) -> Result<(), ConversionError> {
        self.check()?;
        self.blocks.out.push('|');
        let mut cells = cells.iter().peekable();
        for column in 0..columns {
            self.blocks.out.push(' ');
            let start = self.blocks.out.len();
            // The last column can have several cells: those beyond the limit are joined to it.
            while let Some((_, cell)) = cells.next_if(|(at, _)| *at == column) {
                self.walk(*cell)?;
                self.separate();
            }
            self.inline.write(&mut self.blocks.out, "", LineBreakStyle::Tag, &self.links);
            table::escape_pipes(&mut self.blocks.out, start);
            self.blocks.out.push_str(" |");
        }
        Ok(())
    }

    /// Writes a link to embedded media. Returns whether to visit the children instead: without an
    /// address, the fallback content is shown. That of an `<iframe>` is never shown by browsers.
    fn embed(&mut self, id: HtmlNodeId, name: &str) -> bool {
        if self.options.links == LinkStyle::Omitted || self.links.href(id).is_none() {
            return name != "iframe";
        }
        // Without a title, the name of the element is all there is for a text.
        let title =
            self.tree.attr(id, AttributeName::Title).filter(|title| !title.trim().is_empty());
        self.inline.open(InlineSpan::Link(id));
        self.inline.text(title.unwrap_or(name));
        self.inline.close();
        false
    }
}

/// Reads the number in `start` or `value`, as browsers do: text after the digits is ignored.
/// `None` for numbers that Markdown cannot express.
fn list_number(text: &str) -> Option<u32> {
    let text = text.trim_ascii_start();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text[..digits].parse().ok().filter(|number| *number <= MAX_LIST_NUMBER)
}

/// The formatting that an element means, if it is one of the simple ones.
fn span_of(tag: HtmlTag) -> Option<InlineSpan> {
    match tag {
        HtmlTag::Emphasis => Some(InlineSpan::Emphasis),
        HtmlTag::Strong => Some(InlineSpan::Strong),
        HtmlTag::Deleted => Some(InlineSpan::Deleted),
        HtmlTag::RawHtml(name) => Some(InlineSpan::RawHtml(name)),
        _ => None,
    }
}
