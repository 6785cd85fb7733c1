//! Edits by pointer into edits of bytes, for JSON and for YAML in block and flow style.
//!
//! Everything that is not edited stays as it is, to the byte: comments, indents, line ends.

use serde_json::Value as Json;

use crate::tree::Entry;
use crate::write::{self, Layout};
use crate::{Document, Kind, Node, Pointer, Span, Style, Syntax};

/// A change to a document, by pointer.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Another value in place of the one at the pointer.
    Replace(Pointer, Json),
    /// A new member (`/config/timeout`) or a new last item (`/tags/-`).
    Insert(Pointer, Json),
    /// Without the member or item at the pointer.
    Remove(Pointer),
    /// Another key for the member at the pointer.
    RenameKey(Pointer, String),
}

impl Edit {
    /// The same edit with its pointer mapped.
    pub(crate) fn with_pointer(&self, map: impl Fn(&Pointer) -> Pointer) -> Edit {
        match self {
            Edit::Replace(p, value) => Edit::Replace(map(p), value.clone()),
            Edit::Insert(p, value) => Edit::Insert(map(p), value.clone()),
            Edit::Remove(p) => Edit::Remove(map(p)),
            Edit::RenameKey(p, name) => Edit::RenameKey(map(p), name.clone()),
        }
    }
}

/// Another text for a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextEdit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// What comes in its place.
    pub text: String,
}

/// Why an edit cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The document has no such place.
    #[error("there is nothing at `{0}` to edit")]
    NoSuchPlace(Pointer),
    /// Two edits touch the same text.
    #[error("two edits touch the same text")]
    Overlap,
}

/// The edits as changes of bytes, sorted and free of overlap.
pub fn plan(document: &Document, edits: &[Edit]) -> Result<Vec<TextEdit>, EditError> {
    let page = Page::new(document);
    let mut out = edits.iter().map(|edit| page.edit(edit)).collect::<Result<Vec<_>, _>>()?;
    out.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let overlap = out.windows(2).any(|w| w[1].span.start < w[0].span.end);
    if overlap { Err(EditError::Overlap) } else { Ok(out) }
}

/// The text with planned edits applied.
pub fn splice(text: &str, edits: &[TextEdit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.span.start as usize).unwrap_or(""));
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// A document as something to write on.
struct Page<'d> {
    document: &'d Document,
    text: &'d str,
    newline: &'static str,
}

impl<'d> Page<'d> {
    fn new(document: &'d Document) -> Page<'d> {
        let text = document.source().text();
        let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        Page { document, text, newline: if crlf { "\r\n" } else { "\n" } }
    }

    fn edit(&self, edit: &Edit) -> Result<TextEdit, EditError> {
        match edit {
            Edit::Replace(at, value) => Ok(self.replace(self.node(at)?, value)),
            Edit::Insert(at, value) => self.insert(at, value),
            Edit::Remove(at) => self.remove(self.node(at)?),
            Edit::RenameKey(at, name) => {
                let missing = || EditError::NoSuchPlace(at.clone());
                let key = self.node(at)?.key().ok_or_else(missing)?;
                Ok(TextEdit { span: key.span(), text: self.key_text(name, key.style()) })
            }
        }
    }

    fn node(&self, at: &Pointer) -> Result<Node<'d>, EditError> {
        self.document.root().find(at).ok_or_else(|| EditError::NoSuchPlace(at.clone()))
    }

    fn is_json(&self) -> bool {
        self.document.syntax() == Syntax::Json
    }

    fn key_text(&self, name: &str, style: Style) -> String {
        if self.is_json() { write::quoted(name) } else { write::yaml_string(name, style) }
    }

    fn value_text(&self, value: &Json, style: Style, layout: Layout<'_>) -> String {
        if self.is_json() { write::json(value, layout) } else { write::yaml(value, style) }
    }

    fn replace(&self, node: Node<'d>, value: &Json) -> TextEdit {
        let span = node.span();
        let mut text = self.value_text(value, node.style(), self.layout_at(span.start as usize));
        // An empty YAML value sits right behind its `:` or `-`.
        let before = self.text[..span.start as usize].chars().next_back();
        if span.start == span.end && matches!(before, Some(':' | '-')) {
            text.insert(0, ' ');
        }
        TextEdit { span, text }
    }

    fn insert(&self, at: &Pointer, value: &Json) -> Result<TextEdit, EditError> {
        let missing = || EditError::NoSuchPlace(at.clone());
        let parent = self.node(&at.parent().ok_or_else(missing)?)?;
        let name = at.last().ok_or_else(missing)?;
        let member = match parent.kind() {
            Kind::Map if !parent.has(&name) => Some(name.as_ref()),
            Kind::List if name == "-" => None,
            _ => return Err(missing()),
        };
        if parent.style() == Style::Block {
            Ok(self.insert_block(parent, member, value))
        } else {
            Ok(self.insert_flow(parent, member, value))
        }
    }

    /// The start of each member or item, and the end of its value.
    fn extents(&self, parent: Node<'d>) -> Vec<(usize, usize)> {
        let ends = |start: Node<'d>, end: Node<'d>| (start.span().start as usize, end.span().end as usize);
        match parent.kind() {
            Kind::Map => parent.entries().iter().map(|e| ends(e.key, e.value)).collect(),
            _ => parent.items().map(|item| ends(item, item)).collect(),
        }
    }

    fn insert_flow(&self, parent: Node<'d>, member: Option<&str>, value: &Json) -> TextEdit {
        let extents = self.extents(parent);
        let Some(&(start, end)) = extents.last() else {
            let entry = self.entry_text(parent, member, value, Layout::Inline);
            let (open, close) = if member.is_some() { ('{', '}') } else { ('[', ']') };
            return TextEdit { span: parent.span(), text: format!("{open}{entry}{close}") };
        };
        let indent = self.indent_before(start);
        let (layout, separator) = match indent {
            Some(indent) => (self.lines(indent), format!(",{}{indent}", self.newline)),
            None => (Layout::Inline, ", ".to_owned()),
        };
        let entry = self.entry_text(parent, member, value, layout);
        TextEdit { span: Span::new(end, end), text: format!("{separator}{entry}") }
    }

    fn entry_text(&self, parent: Node<'d>, member: Option<&str>, value: &Json, layout: Layout<'_>) -> String {
        let sibling = parent.entries().first().copied();
        let value = self.value_text(value, Style::Plain, layout);
        let Some(name) = member else { return value };
        let style = sibling.map_or(Style::Plain, |e| e.key.style());
        let colon = sibling.map_or(": ", |e| self.colon(e));
        format!("{}{colon}{value}", self.key_text(name, style))
    }

    /// What stands between a sibling's key and its value, to write the same.
    fn colon(&self, sibling: Entry<'d>) -> &'d str {
        let between = sibling.key.span().end as usize..sibling.value.span().start as usize;
        match self.text.get(between) {
            Some(text)
                if text.trim() == ":" && !text.contains('\n') && (self.is_json() || text.len() > 1) =>
            {
                text
            }
            _ => ": ",
        }
    }

    fn insert_block(&self, parent: Node<'d>, member: Option<&str>, value: &Json) -> TextEdit {
        let extents = self.extents(parent);
        let (first, _) = extents.first().copied().unwrap_or_default();
        let (_, last) = extents.last().copied().unwrap_or_default();
        let entry = match member {
            Some(_) => self.entry_text(parent, member, value, Layout::Inline),
            None => format!("- {}", self.value_text(value, Style::Plain, Layout::Inline)),
        };
        let column = self.column(if member.is_some() { first } else { self.dash(first) });
        let at = self.end_of_lines(parent, last);
        let text = format!("{}{}{entry}", self.newline, " ".repeat(column));
        TextEdit { span: Span::new(at, at), text }
    }

    /// The end of the line that byte `at` is on; behind a block scalar that keeps its trailing
    /// line breaks, the end of those.
    fn end_of_lines(&self, parent: Node<'d>, at: usize) -> usize {
        let keeps = last_leaf(parent).is_some_and(|leaf| {
            let head = self.text[leaf.span().range()].lines().next().unwrap_or("");
            matches!(leaf.style(), Style::Literal | Style::Folded) && head.contains('+')
        });
        let mut end = self.line_end(at);
        while keeps && end < self.text.len() {
            let next = self.line_end(end + self.newline.len().min(self.text.len() - end));
            if next == end || !self.text[end..next].trim().is_empty() {
                break;
            }
            end = next;
        }
        end
    }

    fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let line = rest.split('\n').next().unwrap_or("");
        at + line.strip_suffix('\r').unwrap_or(line).len()
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |n| n + 1)
    }

    fn column(&self, at: usize) -> usize {
        self.text[self.line_start(at)..at].chars().count()
    }

    /// The `-` of the block list item that starts at `item`, past any anchor or tag between.
    fn dash(&self, item: usize) -> usize {
        let line = self.line_start(item);
        let before = &self.text[line..item];
        let dash = before
            .rfind("- ")
            .or_else(|| before.trim_end().ends_with('-').then(|| before.trim_end().len() - 1));
        dash.map_or(item, |n| line + n)
    }

    /// The white space before `start`, if nothing else stands before it on its line.
    fn indent_before(&self, start: usize) -> Option<&'d str> {
        let line = self.line_start(start);
        let before = &self.text[line..start];
        (line > 0 && before.trim().is_empty()).then_some(before)
    }

    fn layout_at(&self, start: usize) -> Layout<'d> {
        let line = self.line_start(start);
        let indent = self.text[line..start].len() - self.text[line..start].trim_start().len();
        self.lines(&self.text[line..line + indent])
    }

    /// Pretty-printed at `indent`, in steps of the first indent in the file.
    fn lines(&self, indent: &'d str) -> Layout<'d> {
        if !self.text.contains('\n') {
            return Layout::Inline;
        }
        let steps = self.text.lines().map(|line| &line[..line.len() - line.trim_start().len()]);
        let unit = steps.into_iter().find(|step| !step.is_empty()).unwrap_or("  ");
        Layout::Lines { newline: self.newline, indent, unit }
    }

    fn remove(&self, node: Node<'d>) -> Result<TextEdit, EditError> {
        let missing = || EditError::NoSuchPlace(node.pointer());
        let parent = node.parent().ok_or_else(missing)?;
        let extents = self.extents(parent);
        let start = node.key().unwrap_or(node).span().start as usize;
        let index = extents.iter().position(|e| e.0 == start).ok_or_else(missing)?;
        let span = if extents.len() == 1 {
            let empty = if parent.kind() == Kind::Map { "{}" } else { "[]" };
            return Ok(TextEdit { span: parent.span(), text: empty.to_owned() });
        } else if parent.style() == Style::Block {
            self.block_extent(parent, &extents, index)
        } else if let Some(next) = extents.get(index + 1) {
            Span::new(start, next.0)
        } else {
            Span::new(extents[index - 1].1, extents[index].1)
        };
        Ok(TextEdit { span, text: String::new() })
    }

    /// The lines of a member or item; the first of an item's members shares its line with the `-`,
    /// so there the next one moves up.
    fn block_extent(&self, parent: Node<'d>, extents: &[(usize, usize)], index: usize) -> Span {
        let start =
            |n: usize| if parent.kind() == Kind::Map { extents[n].0 } else { self.dash(extents[n].0) };
        let (from, end) = (start(index), extents[index].1);
        let alone = self.text[self.line_start(from)..from].trim().is_empty();
        if !alone && index + 1 < extents.len() {
            return Span::new(from, start(index + 1));
        }
        let end = self.line_end(end);
        let break_len = self.text[end..].find('\n').map_or(0, |n| n + 1);
        Span::new(self.line_start(from), end + break_len)
    }
}

fn last_leaf(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        node = match node.kind() {
            Kind::Map => node.entries().last()?.value,
            Kind::List => node.items().last()?,
            _ => return Some(node),
        };
    }
}
