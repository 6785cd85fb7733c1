//! Preformatted text: its content as lines, and the programming language it is in.
//!
//! HTML has no standard way to name the language of code, and none to separate its lines: sites
//! use line breaks, `<br>`, one `<div>` or `<li>` for each line, or `display: block`. This file
//! implements the conventions of common highlighters.

use super::escape::{is_html_whitespace, longest_run};
use super::visibility::{is_hidden, style_property};
use crate::html::{AttributeName, HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};

/// Classes that highlighters put on code. The language is then a class of its own, as in
/// `hljs rust`.
const HIGHLIGHTERS: [&str; 3] = ["highlight", "hljs", "sourceCode"];

/// Classes that stand in the same places and are not languages.
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

/// The text below `id`, white space included, without the line break at its end.
pub(super) fn code_text(tree: &HtmlTree, id: HtmlNodeId) -> String {
    // A walk like that of `MarkdownWalker`, but over text only.
    let mut lines = CodeCollector::default();
    let mut at = tree.first_child(id);
    while let Some(node) = at {
        let is_own_line = is_on_own_line(tree, node);
        let mut child = None;
        match tree.kind(node) {
            HtmlNodeKind::Text { start, end } => {
                lines.text(tree.text(start, end), is_in_list(tree, node))
            }
            HtmlNodeKind::Element { tag: HtmlTag::LineBreak, .. } => lines.code.push('\n'),
            HtmlNodeKind::Element { .. } if !is_hidden(tree, node) => {
                lines.begin(is_own_line);
                child = tree.first_child(node);
                if child.is_none() {
                    lines.end(is_own_line);
                }
            }
            _ => {}
        }
        at = child.or_else(|| next_node(tree, node, id, &mut lines));
    }
    let mut code = lines.code;
    if code.ends_with('\n') {
        code.pop();
    }
    code
}

/// The node after `node` in document order, not below it; `None` at the end of `root`. Elements
/// that end on the way end their lines in `lines`.
fn next_node(
    tree: &HtmlTree,
    node: HtmlNodeId,
    root: HtmlNodeId,
    lines: &mut CodeCollector,
) -> Option<HtmlNodeId> {
    let mut at = node;
    loop {
        if let Some(next) = tree.next_sibling(at) {
            return Some(next);
        }
        at = tree.parent(at).filter(|parent| *parent != root)?;
        lines.end(is_on_own_line(tree, at));
    }
}

/// Whether an element begins a new line and ends it: it is a block, or its style makes it one.
fn is_on_own_line(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    let style =
        || tree.attr(id, AttributeName::Style).and_then(|style| style_property(style, "display"));
    tree.tag(id).is_some_and(|tag| tag.is_block() || style() == Some("block"))
}

/// Whether a text stands directly in a list. White space there is the source's indent, which
/// browsers do not show even in preformatted text.
fn is_in_list(tree: &HtmlTree, text: HtmlNodeId) -> bool {
    let tag = tree.parent(text).and_then(|parent| tree.tag(parent));
    matches!(tag, Some(HtmlTag::List | HtmlTag::OrderedList))
}

/// Collects code, adding the line breaks that elements stand for.
#[derive(Default)]
struct CodeCollector {
    code: String,
    /// The length of the code when the innermost element with its own line began, until such an
    /// element ends. It tells an empty element, which is an empty line, from one after text.
    begun: Option<usize>,
    /// Whether an element has just ended its line. A line break in the text after it is that same
    /// line break.
    ended: bool,
}

impl CodeCollector {
    /// Adds text; `in_list` if it stands directly in a list.
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

    /// Begins an element; `is_own_line` if it begins a new line.
    fn begin(&mut self, is_own_line: bool) {
        if !is_own_line {
            return;
        }
        // Text before the element, on the same line of the source, is a line of its own.
        if !self.code.is_empty() && !self.code.ends_with('\n') {
            self.code.push('\n');
        }
        (self.begun, self.ended) = (Some(self.code.len()), false);
    }

    /// Ends an element; `is_own_line` if it ends its line.
    fn end(&mut self, is_own_line: bool) {
        if !is_own_line {
            return;
        }
        // An empty element is an empty line. One with text ends its line, unless the text did.
        let is_empty = self.begun.take() == Some(self.code.len());
        if is_empty || !self.code.ends_with('\n') {
            self.code.push('\n');
        }
        self.ended = true;
    }
}

/// The programming language of a `<pre>` element, in the words of the page; `None` if it names
/// none, or nothing that can stand after a fence.
///
/// The most explicit convention wins over the nearest element: first a prefixed class on the code,
/// the `<pre>` or two elements around it, then a language attribute on those, then a bare class
/// beside a highlighter's, up to six elements out, and at last Sphinx' class.
pub(super) fn language(tree: &HtmlTree, id: HtmlNodeId) -> Option<&str> {
    // Innermost first: `<pre><code>`, then the `<pre>`, then what is around it.
    let inner = tree.children(id).filter(|child| tree.tag(*child) == Some(HtmlTag::Code));
    let outer = || std::iter::successors(tree.parent(id), |at| tree.parent(*at));
    let class = |node: HtmlNodeId| tree.attr(node, AttributeName::Class);
    let near: Vec<HtmlNodeId> = inner.chain([id]).chain(outer().take(2)).collect();
    let found = near
        .iter()
        .find_map(|node| class(*node).and_then(prefixed_language))
        .or_else(|| near.iter().find_map(|node| tree.attr(*node, AttributeName::Language)))
        .or_else(|| {
            near.iter()
                .copied()
                .chain(outer().skip(2).take(4))
                .find_map(|n| language_beside_highlighter(class(n)?))
        })
        .or_else(|| near.iter().find_map(|node| class(*node).and_then(sphinx_language)))?;
    // A backtick or a space would end the language's name in the Markdown.
    let is_word =
        !found.is_empty() && !found.contains('`') && !found.bytes().any(is_html_whitespace);
    is_word.then_some(found)
}

/// The language in classes such as `language-rust` (the HTML standard's suggestion), `lang-rust`,
/// `highlight-source-rust` (GitHub) or `brush: rust` (SyntaxHighlighter).
fn prefixed_language(classes: &str) -> Option<&str> {
    let words = || classes.split(|c: char| c == ';' || c.is_ascii_whitespace());
    // SyntaxHighlighter's classes look like declarations: `brush: js; toolbar: false`.
    let prefixes = ["language-", "lang-", "highlight-source-", "brush:"];
    let named =
        words().find_map(|word| prefixes.iter().find_map(|prefix| word.strip_prefix(prefix)));
    named
        .filter(|name| !name.is_empty())
        .or_else(|| words().skip_while(|word| *word != "brush:").nth(1))
}

/// The language in classes such as `hljs rust`: the one class beside the highlighter's. With more
/// than one, which of them is the language is a guess, so there is no answer.
fn language_beside_highlighter(classes: &str) -> Option<&str> {
    let words = || classes.split_ascii_whitespace();
    let mut others =
        words().filter(|word| !HIGHLIGHTERS.contains(word) && !NO_LANGUAGE.contains(word));
    // Names of languages have no dashes; classes that themes add usually do.
    let found = others.next().filter(|word| !word.contains(['-', '_']))?;
    (others.next().is_none() && words().any(|word| HIGHLIGHTERS.contains(&word))).then_some(found)
}

/// The language in Sphinx' `highlight-python`. Last, because `highlight-` is a common prefix.
fn sphinx_language(classes: &str) -> Option<&str> {
    let name =
        classes.split_ascii_whitespace().find_map(|class| class.strip_prefix("highlight-"))?;
    (!NO_LANGUAGE.contains(&name)).then_some(name)
}

/// The fence around a code block: three backticks, or more if the code has as many in a row.
pub(super) fn fence(code: &str) -> String {
    "`".repeat(longest_run(code, b'`').max(2) + 1)
}
