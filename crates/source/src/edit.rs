//! Edits by pointer into edits of bytes, for JSON and for YAML in block and flow style.
//!
//! ```text
//! Edit (pointer, value) ─ plan ─▶ TextEdit (span, text) ─ splice ─▶ the new text
//! ```
//!
//! Everything that is not edited stays as it is, to the byte: comments, indents, line ends. That is
//! why a document is never written from its tree. New text imitates its surroundings instead: the
//! newline of the file, the indent of the siblings, the quotes of the value it replaces, the colon
//! of the member beside it.
//!
//! Property tests and a fuzz target hold the rule that makes this safe: after any edit, the text
//! parses to the value that the same edit makes of the parsed document. Where that cannot be
//! promised, an edit is refused ([`EditError`]), and the finding is shown without a fix.

use serde_json::Value as Json;

use crate::tree::NodeId;
use crate::value_text::{self, JsonLayout};
use crate::yaml::skip_blank;
use crate::{
    Document, DocumentPath, InDocument, Member, Node, Pointer, Span, Style, Syntax, ValueKind,
};

/// A change to a document, by path. Rules of the checker make theirs by paths into the record;
/// [`crate::Origin::in_document`] turns these into paths into the document.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit<Space = InDocument> {
    /// Puts another value in place of the one at the pointer.
    Replace(Pointer<Space>, Json),
    /// Adds a member (`/config/timeout`) or a last item (`/tags/-`).
    Insert(Pointer<Space>, Json),
    /// Adds a member before the others of its object.
    InsertFirst(Pointer<Space>, Json),
    /// Removes the member or item at the pointer.
    Remove(Pointer<Space>),
    /// Gives another key to the member at the pointer.
    RenameKey(Pointer<Space>, String),
}

impl<Space> Edit<Space> {
    /// The value that the edit changes.
    pub(crate) fn pointer(&self) -> &Pointer<Space> {
        match self {
            Edit::Replace(p, _)
            | Edit::Insert(p, _)
            | Edit::InsertFirst(p, _)
            | Edit::Remove(p)
            | Edit::RenameKey(p, _) => p,
        }
    }

    /// The same edit at another path.
    pub(crate) fn map_pointer<Other>(
        self,
        map: impl Fn(&Pointer<Space>) -> Pointer<Other>,
    ) -> Edit<Other> {
        match self {
            Edit::Replace(p, value) => Edit::Replace(map(&p), value),
            Edit::Insert(p, value) => Edit::Insert(map(&p), value),
            Edit::InsertFirst(p, value) => Edit::InsertFirst(map(&p), value),
            Edit::Remove(p) => Edit::Remove(map(&p)),
            Edit::RenameKey(p, name) => Edit::RenameKey(map(&p), name),
        }
    }
}

/// Replaces a range of bytes by another text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextEdit {
    /// The bytes to replace; empty for an insertion.
    pub span: Span,
    /// The text to put there; empty for a removal.
    pub text: String,
}

/// Why an edit cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The document has no value at the path (or already has one, for an insertion).
    #[error("there is nothing at `{0}` to edit")]
    NoSuchPlace(DocumentPath),
    /// Two edits touch the same text.
    #[error("two edits touch the same text")]
    Overlap,
    /// YAML and editors disagree about where lines or indents begin, so "the line of a member" has
    /// no certain meaning.
    #[error(
        "the text has a lone carriage return, a byte order mark in its middle, \
         or a tab before a line's first word"
    )]
    OddLines,
}

/// Whether the lines and indents of a YAML text depend on who reads it. YAML breaks a line at a
/// lone carriage return, and parsers disagree about byte order marks and tabs.
fn has_ambiguous_lines(document: &Document) -> bool {
    let text = document.source().text();
    let lone = |(at, _): (usize, _)| text.as_bytes().get(at + 1) != Some(&b'\n');
    document.syntax() == Syntax::Yaml
        && (text.match_indices('\r').any(lone)
            || text.contains('\u{feff}')
            || has_tab_indents(document))
}

/// Whether a tab stands before the first word of a line: some parsers take it for white space,
/// others for an indent. Inside a block scalar it is text and does no harm.
fn has_tab_indents(document: &Document) -> bool {
    let text = document.source().text();
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let tabbed = |start: &usize| {
        let line = text[*start..].split('\n').next().unwrap_or_default();
        line.trim_start_matches(' ').starts_with('\t') && !line.trim().is_empty()
    };
    let mut tabbed = starts.filter(tabbed).peekable();
    if tabbed.peek().is_none() {
        return false;
    }
    let mut blocks = Vec::new();
    collect_blocks(document.root(), &mut blocks);
    tabbed.any(|start| {
        !blocks.iter().any(|block| block.start as usize <= start && start < block.end as usize)
    })
}

/// The spans of all block scalars.
fn collect_blocks(node: Node<'_>, blocks: &mut Vec<Span>) {
    if matches!(node.slot().style, Style::Literal | Style::Folded) {
        blocks.push(node.span());
    }
    node.child_values().for_each(|member| collect_blocks(member, blocks));
}

/// Turns edits by pointer into edits of bytes, sorted and free of overlap. Every pointer is meant
/// as of the text before all edits, so the order of `edits` only matters for two insertions at one
/// place. All or nothing: one impossible edit refuses them all.
pub fn plan(document: &Document, edits: &[Edit]) -> Result<Vec<TextEdit>, EditError> {
    if has_ambiguous_lines(document) {
        return Err(EditError::OddLines);
    }
    let mut planner = EditPlanner::new(document);
    let mut out = edits.iter().map(|edit| planner.edit(edit)).collect::<Result<Vec<_>, _>>()?;
    out.sort_by_key(|edit| (edit.span.start, edit.span.end));
    // Insertions at the same byte do not overlap: they keep the order of the edits (the sort is
    // stable).
    let overlap = out.windows(2).any(|w| w[1].span.start < w[0].span.end);
    if overlap { Err(EditError::Overlap) } else { Ok(out) }
}

/// Applies planned edits to the text they were planned for.
pub fn splice(text: &str, edits: &[TextEdit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        // Spans of another text would be out of range or inside a character; `get` keeps that from
        // being a panic.
        out.push_str(text.get(at..edit.span.start as usize).unwrap_or(""));
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// The document that is edited, and what earlier edits of the same plan did to it.
struct EditPlanner<'d> {
    document: &'d Document,
    text: &'d str,
    /// The line break of the file, taken from its first line.
    newline: &'static str,
    /// Empty flow collections that got their first member from an earlier edit of this plan: the
    /// next one needs a comma.
    no_longer_empty: Vec<NodeId>,
}

impl<'d> EditPlanner<'d> {
    /// A planner for edits of `document`, without any edit planned yet.
    fn new(document: &'d Document) -> EditPlanner<'d> {
        let text = document.source().text();
        // A file with mixed line ends gets the one it begins with.
        let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        EditPlanner {
            document,
            text,
            newline: if crlf { "\r\n" } else { "\n" },
            no_longer_empty: Vec::new(),
        }
    }

    /// Plans one edit.
    fn edit(&mut self, edit: &Edit) -> Result<TextEdit, EditError> {
        match edit {
            Edit::Replace(at, value) => Ok(self.replace(self.node(at)?, value)),
            Edit::Insert(at, value) => self.insert(at, value),
            Edit::InsertFirst(at, value) => self.insert_first(at, value),
            Edit::Remove(at) => self.remove(self.node(at)?),
            Edit::RenameKey(at, name) => {
                let missing = || EditError::NoSuchPlace(at.clone());
                let key = self.node(at)?.key().ok_or_else(missing)?;
                // YAML has keys that are not written at all: a `?` alone.
                if key.span().start == key.span().end {
                    return Err(missing());
                }
                Ok(TextEdit { span: key.span(), text: self.key_text(name, key.style()) })
            }
        }
    }

    /// The value at a path, or the error that there is none.
    fn node(&self, at: &DocumentPath) -> Result<Node<'d>, EditError> {
        self.document.root().find(at).ok_or_else(|| EditError::NoSuchPlace(at.clone()))
    }

    /// Whether new text has to be JSON; otherwise it is YAML.
    fn is_json(&self) -> bool {
        self.document.syntax() != Syntax::Yaml
    }

    /// A key in the syntax of the document, in the style of its neighbour where possible.
    fn key_text(&self, name: &str, style: Style) -> String {
        if self.is_json() { value_text::quoted(name) } else { value_text::yaml_string(name, style) }
    }

    /// A value in the syntax of the document. YAML gets flow style on one line: correct at every
    /// indent.
    fn value_text(&self, value: &Json, style: Style, layout: JsonLayout<'_>) -> String {
        if self.is_json() {
            value_text::json(value, layout)
        } else {
            value_text::yaml(value, style)
        }
    }

    /// Plans a value in place of another one, or in place of a missing one.
    fn replace(&self, node: Node<'d>, value: &Json) -> TextEdit {
        let span = node.span();
        // `style` is that of the old value, so that a quoted string stays quoted.
        let text = self.value_text(value, node.style(), self.layout_at(span.start as usize));
        let lead = if span.start == span.end {
            self.separator_before(node)
        } else {
            self.indent_if_flush(node)
        };
        // Nothing is written at all: not even a stray byte order mark may stay behind a value.
        if node.parent().is_none()
            && self.text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').is_empty()
        {
            return TextEdit { span: Span::new(0, self.text.len()), text };
        }
        let tail = match &self.text[span.end as usize..] {
            // A comment needs white space before it.
            rest if rest.starts_with('#') => " ",
            // The end of a document without a value needs a line of its own.
            rest if span.start == span.end && rest.starts_with("...") => self.newline,
            _ => "",
        };
        TextEdit { span, text: lead + &text + tail }
    }

    /// The text that must stand before a new value where none is written: a space, or a colon with
    /// its space for a key whose `:` is missing too (`? key`).
    fn separator_before(&self, node: Node<'d>) -> String {
        let at = node.span().start as usize;
        let key = node.key().map(|key| key.span().end as usize);
        let block = node.parent().is_some_and(|parent| parent.style() == Style::Block);
        match key {
            Some(key) if key == at && block => {
                // The key was written as `? key`, and its `:` must begin a line at the column of
                // the `?`.
                let column = self.column(self.line_start(at)) + self.indent_of(at);
                format!("{}{}: ", self.newline, " ".repeat(column))
            }
            Some(key) if key == at => ": ".to_owned(),
            _ if self.text[..at].ends_with([' ', '\t', '\n', '\r']) || at == 0 => String::new(),
            _ => " ".to_owned(),
        }
    }

    /// Two spaces, if the value is a list at the column of its key. Only a block list may stand
    /// there; the flow collection or scalar that replaces it must be indented:
    ///
    /// ```text
    /// tags:          tags:
    /// - a       ─▶     []
    /// ```
    fn indent_if_flush(&self, node: Node<'d>) -> String {
        let start = node.span().start as usize;
        // On another line than its key, and not further right.
        let flush = |key: Node<'d>| {
            let key = key.span().start as usize;
            self.line_start(key) != self.line_start(start) && self.column(start) <= self.column(key)
        };
        let flush = node.slot().style == Style::Block && node.key().is_some_and(flush);
        if flush { "  ".to_owned() } else { String::new() }
    }

    /// Plans a new member or item. The path of an insertion ends in a name that the object does not
    /// have, or in `-` (RFC 6901) for a list.
    fn insert(&mut self, at: &DocumentPath, value: &Json) -> Result<TextEdit, EditError> {
        let missing = || EditError::NoSuchPlace(at.clone());
        let parent = self.node(&at.parent().ok_or_else(missing)?)?.resolved();
        let name = at.last().ok_or_else(missing)?;
        let member = match parent.kind() {
            ValueKind::Map if !parent.has(&name) => Some(name.as_ref()),
            ValueKind::List if name == "-" => None,
            _ => return Err(missing()),
        };
        if parent.style() == Style::Block {
            Ok(self.insert_block(parent, member, value))
        } else {
            Ok(self.insert_flow(parent, member, value))
        }
    }

    /// Plans a new first member of an object; an empty one has room for it anywhere.
    ///
    /// The text is put in front of the first member, with that member's indent behind it.
    fn insert_first(&mut self, at: &DocumentPath, value: &Json) -> Result<TextEdit, EditError> {
        let missing = || EditError::NoSuchPlace(at.clone());
        let parent = self.node(&at.parent().ok_or_else(missing)?)?.resolved();
        let name = at.last().ok_or_else(missing)?;
        if parent.kind() != ValueKind::Map || parent.has(&name) {
            return Err(missing());
        }
        let has_brackets = self.text[parent.span().range()].starts_with('{');
        let Some(&(start, _)) = self.member_ranges(parent).first() else {
            return self.insert(at, value);
        };
        let is_block = parent.style() == Style::Block;
        let (layout, separator) = match self.indent_before(start).filter(|_| !is_block) {
            _ if is_block => {
                let indent = " ".repeat(self.column(parent.span().start as usize));
                (JsonLayout::Inline, format!("{}{indent}", self.newline))
            }
            Some(indent) => (self.pretty_at(indent), format!(",{}{indent}", self.newline)),
            None => (JsonLayout::Inline, ", ".to_owned()),
        };
        let member_text = self.member_text(parent, Some(&name), value, layout);
        if !is_block && !has_brackets {
            // `[a: 1]` holds an object without its brackets.
            let span = parent.span();
            let text = format!("{{{member_text}, {}}}", &self.text[span.range()]);
            return Ok(TextEdit { span, text });
        }
        Ok(TextEdit { span: Span::new(start, start), text: member_text + &separator })
    }

    /// The bytes of each member or item, from its `-`, `?`, anchor or tag to the end of its value.
    /// The tree has the spans of keys and values only; what stands before them is found by scanning
    /// from the end of the previous member.
    fn member_ranges(&self, parent: Node<'d>) -> Vec<(usize, usize)> {
        let block = parent.style() == Style::Block;
        // The end of the previous member, or the opening bracket: the next one begins behind it.
        let mut from = parent.span().start as usize;
        if !block && self.text[from..].starts_with(['[', '{']) {
            from += 1;
        }
        let range = |member: Node<'d>| {
            let mut start = skip_blank(self.text, from);
            if !block && self.text[start..].starts_with(',') {
                start = skip_blank(self.text, start + 1);
            }
            // A member that is not written (a lone `-`) has an empty span, which may lie before the
            // text that the scan finds next.
            let own = member.key().unwrap_or(member).span().start as usize;
            from = member.span().end as usize;
            // JSON has nothing before a key or an item but comments of the previous member.
            (if self.is_json() { own } else { start.min(own) }, from)
        };
        parent.child_values().map(range).collect()
    }

    /// Plans a new last member of a flow collection: behind the last one, on a line of its own if
    /// that one has a line of its own.
    ///
    /// ```text
    /// [a, b]          ─▶  [a, b, c]
    /// {}              ─▶  {x: 1}
    /// {               ─▶  {
    ///   "a": 1              "a": 1,
    /// }                     "x": 1
    ///                     }
    /// ```
    fn insert_flow(&mut self, parent: Node<'d>, member: Option<&str>, value: &Json) -> TextEdit {
        let ranges = self.member_ranges(parent);
        let span = parent.span();
        let Some(&(start, end)) = ranges.last() else {
            let member_text = self.member_text(parent, member, value, JsonLayout::Inline);
            // The collection has no members: the new one goes between the brackets.
            let close = span.end as usize - 1;
            if self.no_longer_empty.contains(&parent.id) {
                return TextEdit {
                    span: Span::new(close, close),
                    text: format!(", {member_text}"),
                };
            }
            self.no_longer_empty.push(parent.id);
            let open = span.start as usize + 1;
            // White space between empty brackets is replaced, a comment there is kept.
            let from = if self.has_comment(open, close) { close } else { open };
            return TextEdit { span: Span::new(from, close), text: member_text };
        };
        let indent = self.indent_before(start);
        let (layout, separator) = match indent {
            Some(indent) => (self.pretty_at(indent), format!(",{}{indent}", self.newline)),
            None => (JsonLayout::Inline, ", ".to_owned()),
        };
        let member_text = self.member_text(parent, member, value, layout);
        if !self.text[span.range()].starts_with(['[', '{']) {
            // `[a: 1]` holds an object without its brackets, which has room for one member only.
            return TextEdit {
                span,
                text: format!("{{{}, {member_text}}}", &self.text[span.range()]),
            };
        }
        TextEdit { span: Span::new(end, end), text: format!("{separator}{member_text}") }
    }

    /// The text of a new member or item, in the style of the first member.
    fn member_text(
        &self,
        parent: Node<'d>,
        member: Option<&str>,
        value: &Json,
        layout: JsonLayout<'_>,
    ) -> String {
        let sibling = parent.own_members().next();
        let value = self.value_text(value, Style::Plain, layout);
        let Some(name) = member else { return value };
        let style = sibling.map_or(Style::Plain, |e| e.key.style());
        let colon = sibling.map_or(": ", |e| self.colon_like(e));
        format!("{}{colon}{value}", self.key_text(name, style))
    }

    /// The colon and white space between a sibling's key and its value, to write the same. A line
    /// break or comment between them is not imitated, and in YAML a colon needs a space behind it.
    fn colon_like(&self, sibling: Member<'d>) -> &'d str {
        let between = sibling.key.span().end as usize..sibling.value.span().start as usize;
        match self.text.get(between) {
            Some(text)
                if text.trim() == ":"
                    && !text.contains('\n')
                    && (self.is_json() || !text.ends_with(':')) =>
            {
                text
            }
            _ => ": ",
        }
    }

    /// Plans a new last member or item of a block collection, on a line of its own.
    ///
    /// ```text
    /// a: 1          ─▶  a: 1
    ///                   x: 2
    /// ```
    fn insert_block(&self, parent: Node<'d>, member: Option<&str>, value: &Json) -> TextEdit {
        let member_text = match member {
            Some(_) => self.member_text(parent, member, value, JsonLayout::Inline),
            None => format!("- {}", self.value_text(value, Style::Plain, JsonLayout::Inline)),
        };
        // A block collection starts at its first key or dash, and all entries share that column.
        let column = self.column(parent.span().start as usize);
        let at = self.end_of_lines(parent, BlankLines::Leave);
        let text = format!("{}{}{member_text}", self.newline, " ".repeat(column));
        TextEdit { span: Span::new(at, at), text }
    }

    /// The end of the line that `node` ends on. Blank lines behind it are skipped as well if a
    /// block scalar at its end owns them, or if `blanks` is [`BlankLines::Take`].
    fn end_of_lines(&self, node: Node<'d>, blanks: BlankLines) -> usize {
        let mut end = self.line_end(node.span().end as usize);
        let all = blanks == BlankLines::Take || self.keeps_breaks(node);
        let in_block_scalar =
            matches!(last_leaf(node).slot().style, Style::Literal | Style::Folded);
        while let Some(line) = self.text[end..].find('\n').map(|n| end + n + 1) {
            let next = self.line_end(line);
            // A line with text belongs to the next member, or is a comment; both stay.
            let is_text = !self.text[line..next].trim().is_empty();
            // A line of spaces may be text of the block scalar before it.
            let passed = all || (in_block_scalar && line < next);
            if is_text || !passed || line == self.text.len() {
                break;
            }
            end = next;
        }
        end
    }

    /// Whether the blank lines behind `node` are part of it: its last text is a `|+` or `>+`.
    fn keeps_breaks(&self, node: Node<'d>) -> bool {
        let leaf = last_leaf(node);
        let header = self.text[leaf.span().range()].split_ascii_whitespace().next().unwrap_or("");
        matches!(leaf.slot().style, Style::Literal | Style::Folded) && header.contains('+')
    }

    /// The byte of the line break behind `at`, or the end of the text.
    fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        at + rest.find(['\n', '\r']).unwrap_or(rest.len())
    }

    /// The byte behind the line break before `at`.
    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind(['\n', '\r']).map_or(0, |n| n + 1)
    }

    /// How many characters stand before `at` on its line.
    fn column(&self, at: usize) -> usize {
        self.text[self.line_start(at)..at].chars().count()
    }

    /// How far the line of byte `at` is indented.
    fn indent_of(&self, at: usize) -> usize {
        let line = &self.text[self.line_start(at)..];
        line.len() - line.trim_start_matches(' ').len()
    }

    /// The white space before `start`, if nothing else stands before it on its line.
    fn indent_before(&self, start: usize) -> Option<&'d str> {
        let line = self.line_start(start);
        let before = &self.text[line..start];
        (line > 0 && before.trim().is_empty()).then_some(before)
    }

    /// The layout for a value that begins at `start`: pretty-printed at the indent of its line.
    fn layout_at(&self, start: usize) -> JsonLayout<'d> {
        let line = self.line_start(start);
        let indent = self.text[line..start].len() - self.text[line..start].trim_start().len();
        self.pretty_at(&self.text[line..line + indent])
    }

    /// Pretty-printed at `indent`, in steps of the first indent in the file; on one line if the
    /// whole file is one line.
    fn pretty_at(&self, indent: &'d str) -> JsonLayout<'d> {
        if !self.text.contains('\n') {
            return JsonLayout::Inline;
        }
        let steps = self.text.lines().map(|line| &line[..line.len() - line.trim_start().len()]);
        let unit = steps.into_iter().find(|step| !step.is_empty()).unwrap_or("  ");
        JsonLayout::Pretty { newline: self.newline, indent, unit }
    }

    /// Plans the removal of a member or item, with its comma or its lines. The last one leaves `{}`
    /// or `[]` behind, because a block collection without entries would be `null`.
    ///
    /// ```text
    /// [a, b, c] without b     ─▶  [a, c]        up to the start of the next item
    /// [a, b, c] without c     ─▶  [a, b]        from the end of the item before
    /// [a] without a           ─▶  []
    /// ```
    fn remove(&self, node: Node<'d>) -> Result<TextEdit, EditError> {
        let missing = || EditError::NoSuchPlace(node.pointer());
        let parent = node.parent().ok_or_else(missing)?;
        let ranges = self.member_ranges(parent);
        let index = parent.child_values().position(|n| n.id == node.id).ok_or_else(missing)?;
        let (start, end) = ranges[index];
        let span = if ranges.len() == 1 {
            let empty = if parent.kind() == ValueKind::Map { "{}" } else { "[]" };
            return Ok(TextEdit {
                span: parent.span(),
                text: self.indent_if_flush(parent) + empty,
            });
        } else if parent.style() == Style::Block {
            self.lines_of_member(parent, &ranges, index)
        } else if let Some(next) = ranges.get(index + 1) {
            let comma = skip_blank(self.text, end) + 1;
            Span::new(start, if self.has_comment(end, next.0) { comma } else { next.0 })
        } else {
            let before = ranges[index - 1].1;
            let comma = skip_blank(self.text, end);
            // The comma before the member is removed with it, unless a comment stands between the
            // two: then it stays, which YAML allows before a closing bracket.
            match self.has_comment(before, start) {
                true if self.text[comma..].starts_with(',') => Span::new(start, comma + 1),
                true => Span::new(start, end),
                false => Span::new(before, end),
            }
        };
        Ok(TextEdit { span, text: String::new() })
    }

    /// Whether the text between two members may hold a comment. A `#` inside a tag or anchor counts
    /// too, which only makes the edit more careful. JSON has no comments; where a file has some
    /// anyway, `origin` marks a fix that touches one as unsafe.
    fn has_comment(&self, from: usize, to: usize) -> bool {
        !self.is_json() && self.text[from..to].contains('#')
    }

    /// The lines of a member or item. The first member of an item shares its line with the `-`;
    /// when it is removed, the next member moves up to the dash.
    fn lines_of_member(&self, parent: Node<'d>, ranges: &[(usize, usize)], index: usize) -> Span {
        let (from, end) = ranges[index];
        // Whether the member begins its line. If not, a dash stands before it.
        let alone = self.text[self.line_start(from)..from].trim().is_empty();
        if let Some(next) = ranges.get(index + 1).filter(|_| !alone) {
            return Span::new(from, if self.has_comment(end, next.0) { end } else { next.0 });
        }
        let node = |n: usize| parent.child_values().nth(n).unwrap_or(parent);
        // Blank lines left behind would become text of a block scalar that keeps them.
        let follows_block = index > 0 && self.keeps_breaks(node(index - 1));
        let blank_lines = if follows_block { BlankLines::Take } else { BlankLines::Leave };
        let end = self.end_of_lines(node(index), blank_lines);
        let break_len = match &self.text.as_bytes()[end..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        Span::new(self.line_start(from), end + break_len)
    }
}

/// What to do with the blank lines behind a value.
#[derive(Clone, Copy, PartialEq)]
enum BlankLines {
    /// They stay: they separate the next member from the one before.
    Leave,
    /// They go with the value.
    Take,
}

/// The innermost value whose text ends where `node` ends.
fn last_leaf(mut node: Node<'_>) -> Node<'_> {
    while let Some(last) = node.child_values().last() {
        node = last;
    }
    node
}
