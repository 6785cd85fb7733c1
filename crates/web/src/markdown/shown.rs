//! What a reader of the page gets to see.

use super::escape::is_space;
use crate::html::{AttrName, Kind, NodeId, Tag, Tree};

/// Whether an element and all below it is not shown.
pub(super) fn is_hidden(tree: &Tree, id: NodeId) -> bool {
    match tree.kind(id) {
        Kind::Element { tag: Tag::Hidden, .. } => true,
        Kind::Element { attr_count: 1.., .. } => hides_itself(tree, id),
        _ => false,
    }
}

fn hides_itself(tree: &Tree, id: NodeId) -> bool {
    let hidden = tree.attr(id, AttrName::Hidden);
    let style = tree.attr(id, AttrName::Style);
    if hidden.is_none() && style.is_none() {
        return false;
    }
    // A page that hides itself as a whole does so until its script has run.
    let parent = tree.parent(id);
    let is_page = parent == Some(Tree::ROOT)
        || parent.and_then(|parent| tree.parent(parent)) == Some(Tree::ROOT);
    let display = style.and_then(|style| declaration(style, "display"));
    !is_page
        && (hidden.is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
            || display.is_some_and(|value| value.eq_ignore_ascii_case("none")))
}

/// What a `style` says about a property.
pub(super) fn declaration<'a>(style: &'a str, property: &str) -> Option<&'a str> {
    style.split(';').find_map(|declaration| {
        let (name, value) = declaration.split_once(':')?;
        let value = value.trim().trim_end_matches("!important").trim();
        name.trim().eq_ignore_ascii_case(property).then_some(value)
    })
}

/// Whether there is anything to see below a node.
pub(super) fn is_blank(tree: &Tree, id: NodeId) -> bool {
    !tree.descendants(id).any(|node| match tree.kind(node) {
        Kind::Text { start, end } => !tree.text(start, end).bytes().all(is_space),
        Kind::Element { tag, .. } => {
            matches!(tag, Tag::Image | Tag::Rule | Tag::Preformatted | Tag::Heading(_))
        }
        Kind::Other => false,
    })
}
