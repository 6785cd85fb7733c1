//! Preformatted text: its content line by line, and the language it is in.

use super::escape::{is_space, longest_run};
use super::shown::is_hidden;
use crate::html::{AttrName, Kind, NodeId, Tag, Tree};

/// The text below `id` as it stands there, without the new line that ends it.
pub(super) fn content(tree: &Tree, id: NodeId) -> String {
    let mut code = String::new();
    let mut at = tree.first_child(id);
    while let Some(node) = at {
        let mut descend = true;
        match tree.kind(node) {
            Kind::Text { start, end } => code.push_str(tree.text(start, end)),
            Kind::Element { tag: Tag::LineBreak, .. } => code.push('\n'),
            Kind::Element { .. } if is_hidden(tree, node) => descend = false,
            Kind::Element { tag, .. } if tag.is_block() && !code.is_empty() && !code.ends_with('\n') => {
                code.push('\n');
            }
            _ => {}
        }
        let child = if descend { tree.first_child(node) } else { None };
        at = child.or_else(|| tree.after(node, id));
    }
    if code.ends_with('\n') {
        code.pop();
    }
    code
}

/// The language that the element, its code or the boxes around it name in the ways that are common.
pub(super) fn language(tree: &Tree, id: NodeId) -> Option<&str> {
    let inner = tree.children(id).filter(|child| tree.tag(*child) == Some(Tag::Code));
    let named = |node: NodeId| {
        tree.attr(node, AttrName::Class)?.split_ascii_whitespace().find_map(|class| {
            ["language-", "lang-", "highlight-source-"].iter().find_map(|prefix| class.strip_prefix(prefix))
        })
    };
    let outer = std::iter::successors(tree.parent(id), |at| tree.parent(*at)).take(2);
    // Sphinx says `highlight-python` on a box around; other words in its place say that there is no language.
    let sphinx = |node: NodeId| {
        let mut classes = tree.attr(node, AttrName::Class)?.split_ascii_whitespace();
        let name = classes.find_map(|class| class.strip_prefix("highlight-"))?;
        (!matches!(name, "default" | "none" | "text" | "notranslate")).then_some(name)
    };
    let found = inner
        .chain([id])
        .chain(outer.clone())
        .find_map(named)
        .or_else(|| tree.attr(id, AttrName::Lang))
        .or_else(|| outer.into_iter().find_map(sphinx))?;
    let plain = !found.is_empty() && !found.contains('`') && !found.bytes().any(is_space);
    plain.then_some(found)
}

/// The fence around a piece of code: longer than any run of backticks in it.
pub(super) fn fence(code: &str) -> String {
    "`".repeat(longest_run(code, b'`').max(2) + 1)
}
