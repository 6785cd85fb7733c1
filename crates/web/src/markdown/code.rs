//! Preformatted text: its content line by line, and the language it is in.

use super::escape::{is_space, longest_run};
use super::shown::{declaration, is_hidden};
use crate::html::{AttrName, Kind, NodeId, Tag, Tree};

/// Classes that mark code, beside which the language stands by itself.
const HIGHLIGHTERS: [&str; 3] = ["highlight", "hljs", "sourceCode"];

/// Words beside them, and in the place of a language, that name none.
const NO_LANGUAGE: [&str; 11] = [
    "code",
    "default",
    "literalinclude",
    "no-highlight",
    "nohighlight",
    "none",
    "notranslate",
    "numberLines",
    "numberSource",
    "plaintext",
    "text",
];

/// The text below `id` as it stands there, without the new line that ends it.
pub(super) fn content(tree: &Tree, id: NodeId) -> String {
    let mut lines = Lines::default();
    let mut at = tree.first_child(id);
    while let Some(node) = at {
        let is_line = is_line(tree, node);
        let mut child = None;
        match tree.kind(node) {
            Kind::Text { start, end } => lines.text(tree.text(start, end), is_in_list(tree, node)),
            Kind::Element { tag: Tag::LineBreak, .. } => lines.code.push('\n'),
            Kind::Element { .. } if !is_hidden(tree, node) => {
                lines.begin(is_line);
                child = tree.first_child(node);
                if child.is_none() {
                    lines.end(is_line);
                }
            }
            _ => {}
        }
        at = child.or_else(|| next(tree, node, id, &mut lines));
    }
    let mut code = lines.code;
    if code.ends_with('\n') {
        code.pop();
    }
    code
}

/// The node after `node` in document order; elements that end before it are ended.
fn next(tree: &Tree, node: NodeId, root: NodeId, lines: &mut Lines) -> Option<NodeId> {
    let mut at = node;
    loop {
        if let Some(next) = tree.next_sibling(at) {
            return Some(next);
        }
        at = tree.parent(at).filter(|parent| *parent != root)?;
        lines.end(is_line(tree, at));
    }
}

/// Whether an element stands on lines of its own.
fn is_line(tree: &Tree, id: NodeId) -> bool {
    let style = || tree.attr(id, AttrName::Style).and_then(|style| declaration(style, "display"));
    tree.tag(id).is_some_and(|tag| tag.is_block() || style() == Some("block"))
}

/// Whether white space only stands between the items of a list.
fn is_in_list(tree: &Tree, text: NodeId) -> bool {
    let tag = tree.parent(text).and_then(|parent| tree.tag(parent));
    matches!(tag, Some(Tag::List | Tag::OrderedList))
}

/// Code as it is collected.
#[derive(Default)]
struct Lines {
    code: String,
    /// How long the code was when the last line began, if nothing has come since.
    begun: Option<usize>,
    /// Whether an element has just ended its line: a new line behind it is the same one.
    ended: bool,
}

impl Lines {
    fn text(&mut self, text: &str, in_list: bool) {
        let text = if std::mem::take(&mut self.ended) {
            text.strip_prefix('\n').unwrap_or(text)
        } else {
            text
        };
        if !(in_list && text.trim_ascii().is_empty()) {
            self.code.push_str(text);
        }
    }

    fn begin(&mut self, is_line: bool) {
        if !is_line {
            return;
        }
        if !self.code.is_empty() && !self.code.ends_with('\n') {
            self.code.push('\n');
        }
        (self.begun, self.ended) = (Some(self.code.len()), false);
    }

    fn end(&mut self, is_line: bool) {
        if !is_line {
            return;
        }
        let is_empty = self.begun.take() == Some(self.code.len());
        if is_empty || !self.code.ends_with('\n') {
            self.code.push('\n');
        }
        self.ended = true;
    }
}

/// The language that the element, its code or the boxes around it name in the ways that are common.
pub(super) fn language(tree: &Tree, id: NodeId) -> Option<&str> {
    let inner = tree.children(id).filter(|child| tree.tag(*child) == Some(Tag::Code));
    let outer = || std::iter::successors(tree.parent(id), |at| tree.parent(*at));
    let class = |node: NodeId| tree.attr(node, AttrName::Class);
    let near: Vec<NodeId> = inner.chain([id]).chain(outer().take(2)).collect();
    let found = near
        .iter()
        .find_map(|node| class(*node).and_then(named))
        .or_else(|| near.iter().find_map(|node| tree.attr(*node, AttrName::Language)))
        .or_else(|| {
            near.iter().copied().chain(outer().skip(2).take(4)).find_map(|n| beside(class(n)?))
        })
        .or_else(|| near.iter().find_map(|node| class(*node).and_then(sphinx)))?;
    let plain = !found.is_empty() && !found.contains('`') && !found.bytes().any(is_space);
    plain.then_some(found)
}

/// `language-rust`, `brush: rust`.
fn named(classes: &str) -> Option<&str> {
    let words = || classes.split(|c: char| c == ';' || c.is_ascii_whitespace());
    let prefixes = ["language-", "lang-", "highlight-source-", "brush:"];
    let named =
        words().find_map(|word| prefixes.iter().find_map(|prefix| word.strip_prefix(prefix)));
    named
        .filter(|name| !name.is_empty())
        .or_else(|| words().skip_while(|word| *word != "brush:").nth(1))
}

/// `hljs rust`: one word beside that of a highlighter.
fn beside(classes: &str) -> Option<&str> {
    let words = || classes.split_ascii_whitespace();
    let mut others =
        words().filter(|word| !HIGHLIGHTERS.contains(word) && !NO_LANGUAGE.contains(word));
    let found = others.next().filter(|word| !word.contains(['-', '_']))?;
    (others.next().is_none() && words().any(|word| HIGHLIGHTERS.contains(&word))).then_some(found)
}

/// Sphinx says `highlight-python`.
fn sphinx(classes: &str) -> Option<&str> {
    let name =
        classes.split_ascii_whitespace().find_map(|class| class.strip_prefix("highlight-"))?;
    (!NO_LANGUAGE.contains(&name)).then_some(name)
}

/// The fence around a piece of code: longer than any run of backticks in it.
pub(super) fn fence(code: &str) -> String {
    "`".repeat(longest_run(code, b'`').max(2) + 1)
}
