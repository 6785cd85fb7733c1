//! Whether a reader of the page sees an element.
//!
//! One rule: text that the element's own markup hides from people does not reach the model. That
//! is `hidden`; a `style` that draws nothing (`display: none`, `visibility: hidden`, no size, no
//! opacity, clipped, outside of the screen); and short pieces that are `aria-hidden`, which are
//! icons and copies of other text. Style sheets are not read: what a class hides is shown, so that
//! headings for screen readers and the panels of tabs are kept.
//!
//! Two mistakes are possible, and they are not equally bad. Text that is shown although people do
//! not see it may carry instructions for a model; text that is hidden although people see it is
//! missing from the page. So what the markup itself states is believed, and what only a style sheet
//! could tell is not guessed.

use super::escape::is_html_whitespace;
use crate::html::{AttributeName, ElementHints, HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};

/// Bytes of text up to which an `aria-hidden` element is taken for decoration. A longer one, or one
/// with paragraphs or lists, is a panel that readers can open, or a page behind a dialog.
const MAX_DECORATION: usize = 200;

/// Nodes that are looked at to find that out.
const MAX_DECORATION_NODES: usize = 64;

/// Whether an element is hidden, and with it all below it.
pub(crate) fn is_hidden(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    match tree.kind(id) {
        HtmlNodeKind::Element { tag, .. } if tag.is_hidden() => true,
        _ => is_hidden_by_markup(tree, id),
    }
}

/// Whether an element that could be shown is hidden by its attributes.
pub(crate) fn is_hidden_by_markup(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    match tree.kind(id) {
        HtmlNodeKind::Element { hints, .. }
            if hints.any(ElementHints::ARIA_HIDDEN) && is_decoration(tree, id) =>
        {
            true
        }
        // Most elements have no attributes, and this runs for every element.
        HtmlNodeKind::Element { attr_count: 1.., .. } => is_hidden_by_attribute(tree, id),
        _ => false,
    }
}

/// Looks at the element alone; the caller skips everything below a hidden one.
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
    // `until-found` means that the browser reveals the element when a search finds text in it.
    !is_page
        && (hidden.is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
            || style.is_some_and(draws_nothing))
}

/// Whether an `aria-hidden` element is an icon or a copy of other text: short, and without blocks.
fn is_decoration(tree: &HtmlTree, id: HtmlNodeId) -> bool {
    let mut bytes = 0;
    for (count, node) in tree.descendants(id).enumerate() {
        match tree.kind(node) {
            HtmlNodeKind::Text { start, end } => bytes += (end - start) as usize,
            HtmlNodeKind::Element { tag, .. } if is_structure(tag) => return false,
            _ => {}
        }
        if bytes > MAX_DECORATION || count > MAX_DECORATION_NODES {
            return false;
        }
    }
    true
}

fn is_structure(tag: HtmlTag) -> bool {
    use HtmlTag::{DefinitionList, Heading, List, OrderedList, Paragraph, Preformatted, Table};
    matches!(
        tag,
        DefinitionList | Heading(_) | List | OrderedList | Paragraph | Preformatted | Table
    )
}

/// Whether a `style` attribute makes an element invisible. Each property is judged by itself, as
/// written: neither inheritance nor the cascade is computed.
fn draws_nothing(style: &str) -> bool {
    let get = |property| style_property(style, property);
    let is = |property, values: &[&str]| {
        get(property).is_some_and(|value| values.iter().any(|v| value.eq_ignore_ascii_case(v)))
    };
    let is_zero = |property| get(property).and_then(number).is_some_and(|n| n == 0.0);
    let at_most = |property, limit| get(property).and_then(number).is_some_and(|n| n <= limit);
    if is("display", &["none"]) || is("visibility", &["hidden", "collapse"]) {
        return true;
    }
    // Together with a transformation it is the first frame of an animation: the text appears when
    // the reader scrolls to it.
    if is_zero("opacity") && get("transform").is_none() && get("-webkit-transform").is_none() {
        return true;
    }
    if is_zero("font-size") || at_most("text-indent", -500.0) {
        return true;
    }
    let is_clipped = get("clip").is_some_and(|value| {
        let inner = value.trim_start_matches(|c: char| c != '(').trim_matches(['(', ')']);
        !inner.is_empty()
            && inner.split([',', ' ']).all(|part| number(part).is_none_or(|n| n <= 1.0))
    }) || get("clip-path").is_some_and(|value| {
        let value = value.to_ascii_lowercase();
        value.starts_with("inset(")
            && number(&value["inset(".len()..]).is_some_and(|percent| percent >= 50.0)
    });
    // Pixels and ems alike: an element that far out is on no screen.
    let is_away = ["left", "top", "right", "bottom", "margin-left", "margin-top"]
        .into_iter()
        .any(|side| at_most(side, -500.0));
    if is("position", &["absolute", "fixed"]) && (is_clipped || is_away) {
        return true;
    }
    let has_no_size = at_most("width", 1.0) || at_most("height", 1.0);
    is("overflow", &["hidden", "clip"]) && has_no_size && !is("display", &["inline"])
}

/// The number at the beginning of a value, whatever its unit; `None` for words.
fn number(value: &str) -> Option<f64> {
    let value = value.trim();
    let end = value
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(value.len());
    value[..end].parse().ok()
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

#[cfg(test)]
mod tests {
    use super::draws_nothing;

    #[test]
    fn styles_that_draw_nothing_are_recognised() {
        for hidden in [
            "display:none",
            "color: red; DISPLAY : None !important",
            "visibility:hidden",
            "opacity: 0",
            "opacity:0.0;color:red",
            "font-size:0px",
            "position:absolute;left:-9999px",
            "position: fixed; top: -100em; left: -1000em",
            "text-indent:-9999px",
            "position:absolute;clip:rect(0 0 0 0)",
            "position:absolute; clip: rect(1px, 1px, 1px, 1px)",
            "position:absolute;clip-path:inset(50%)",
            "height:1px;width:1px;overflow:hidden",
            "max-height:9px;height:0;overflow:hidden",
        ] {
            assert!(draws_nothing(hidden), "{hidden}");
        }
        for shown in [
            "",
            "display:block",
            "opacity:0.5",
            "opacity:0;transform:translateY(20px)",
            "position:absolute;left:-20px;top:0",
            "font-size:0.9em",
            "text-indent:-2em",
            "position:absolute;clip:auto",
            "height:1px",
            "overflow:hidden;width:100%",
            "overflow:hidden;height:auto",
        ] {
            assert!(!draws_nothing(shown), "{shown}");
        }
    }
}
