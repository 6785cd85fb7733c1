//! Whether a reader of the page sees an element.
//!
//! Style sheets are not read, only the `style` attribute: what a class hides is shown. Text that
//! is there for screen readers only is therefore kept, and so is text that a script would reveal.

use super::escape::is_html_whitespace;
use crate::html::{AttributeName, HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};

/// Whether an element is hidden, and with it all below it.
pub(super) fn is_hidden(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    match tree.kind(id) {
        HtmlNodeKind::Element { tag: HtmlTag::Hidden, .. } => true,
        // Most elements have no attributes, and this runs for every element.
        HtmlNodeKind::Element { attr_count: 1.., .. } => is_hidden_by_attribute(tree, id),
        _ => false,
    }
}

fn is_hidden_by_attribute(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    let hidden = tree.attr(id, AttributeName::Hidden);
    let style = tree.attr(id, AttributeName::Style);
    if hidden.is_none() && style.is_none() {
        return false;
    }
    // Some pages hide `<html>` or `<body>` until their script has run. The page would be empty.
    let parent = tree.parent(id);
    let is_page = parent == Some(HtmlTree::ROOT)
        || parent.and_then(|parent| tree.parent(parent)) == Some(HtmlTree::ROOT);
    let display = style.and_then(|style| style_property(style, "display"));
    // `until-found` means that the browser reveals the element when a search finds text in it.
    !is_page
        && (hidden.is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
            || display.is_some_and(|value| value.eq_ignore_ascii_case("none")))
}

/// The value of a property in a `style` attribute, without `!important`.
pub(super) fn style_property<'a>(style: &'a str, property: &str) -> Option<&'a str> {
    style.split(';').find_map(|declaration| {
        let (name, value) = declaration.split_once(':')?;
        let value = value.trim().trim_end_matches("!important").trim();
        name.trim().eq_ignore_ascii_case(property).then_some(value)
    })
}

/// Whether nothing below a node would be written: no text other than white space, and no element
/// that is content without text.
pub(super) fn is_blank(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    !tree.descendants(id).any(|node| match tree.kind(node) {
        HtmlNodeKind::Text { start, end } => !tree.text(start, end).bytes().all(is_html_whitespace),
        HtmlNodeKind::Element { tag, .. } => matches!(
            tag,
            HtmlTag::Image | HtmlTag::ThematicBreak | HtmlTag::Preformatted | HtmlTag::Heading(_)
        ),
        HtmlNodeKind::Other => false,
    })
}
