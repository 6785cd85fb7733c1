//! Headings as evidence: those that announce something other than the article, and the heading of
//! the article itself.
//!
//! Announcements are compared by the words with which a heading begins, in English; headings of
//! other languages are not recognised, and the parts below them are judged by the other evidence.

use crate::html::{HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};
use crate::markdown::is_hidden;

/// Nodes at the beginning of a part that are searched for its heading.
const MAX_NODES: usize = 12;

/// How headings begin that announce links, forms or comments. In lower case. A blank at the end
/// keeps longer words out.
const ANNOUNCEMENTS: [&str; 63] = [
    "about the author",
    "advertisement",
    "also in this",
    "also read",
    "around the web",
    "comments",
    "continue reading",
    "cookie",
    "discussion (",
    "don't miss",
    "don’t miss",
    "editor's pick",
    "editors' pick",
    "editors’ pick",
    "editor’s pick",
    "explore more",
    "filed under",
    "follow us",
    "from around",
    "from the web",
    "further reading on",
    "get the newsletter",
    "in this article",
    "in this section",
    "join the",
    "keep reading",
    "latest ",
    "leave a comment",
    "leave a reply",
    "more from",
    "more in ",
    "more news",
    "more on this",
    "more stories",
    "most commented",
    "most popular",
    "most read",
    "most shared",
    "most viewed",
    "newsletter",
    "on this page",
    "other posts",
    "paid content",
    "partner offers",
    "people also",
    "popular ",
    "read next",
    "recent posts",
    "recommended",
    "related",
    "share this",
    "sign up",
    "similar ",
    "sponsored",
    "subscribe",
    "table of contents",
    "trending",
    "up next",
    "we use cookies",
    "what to read next",
    "you may also",
    "you may like",
    "you might also",
];

/// Whether a part begins with a heading, or a short bold line, that announces something other than
/// the article.
///
/// Looks at the first text of the part only. The caller has excluded parts that read like an
/// article.
pub(super) fn announces_something_else(tree: &HtmlTree, part: HtmlNodeId) -> bool {
    let first = tree.descendants(part).take(MAX_NODES).find(|id| match tree.kind(*id) {
        HtmlNodeKind::Text { start, end } => !tree.text(start, end).trim().is_empty(),
        _ => false,
    });
    let Some(first) = first else { return false };
    // The element that the text is in has to be a heading or set apart; a paragraph may begin with
    // the same words.
    let is_heading = std::iter::successors(tree.parent(first), |at| tree.parent(*at))
        .take_while(|at| *at != part)
        .take(4)
        .any(|at| {
            matches!(tree.tag(at), Some(HtmlTag::Heading(_) | HtmlTag::Strong | HtmlTag::Term))
        });
    let HtmlNodeKind::Text { start, end } = tree.kind(first) else { return false };
    let text = tree.text(start, end).trim();
    let is_alone = text.len() < 60
        && tree.next_sibling(first).is_none()
        && tree.parent(first) != Some(part)
        && matches!(
            tree.parent(first).and_then(|parent| tree.tag(parent)),
            Some(HtmlTag::Paragraph | HtmlTag::Block | HtmlTag::Inline)
        );
    (is_heading || is_alone) && is_announcement(text)
}

fn is_announcement(text: &str) -> bool {
    let text: String = text.chars().take(32).collect::<String>().to_lowercase();
    // A plural or a colon may follow; another letter makes it another word.
    ANNOUNCEMENTS.iter().any(|start| text.starts_with(start))
}

/// The heading of the article, if it stands outside of `scope`: an `<h1>` with which the page's
/// title begins. Others are the name of the site. `order` are all nodes in document order. `None`
/// also if there is an `<h1>` inside of the scope: that one is the heading.
pub(super) fn outside(
    tree: &HtmlTree,
    order: &[HtmlNodeId],
    scope: HtmlNodeId,
    title: Option<&str>,
) -> Option<HtmlNodeId> {
    if scope == HtmlTree::ROOT {
        return None;
    }
    let is_h1 = |id: &HtmlNodeId| tree.tag(*id) == Some(HtmlTag::Heading(1));
    let title = normalized(title?);
    let mut found = None;
    for heading in order.iter().copied().filter(is_h1) {
        let in_scope = std::iter::successors(tree.parent(heading), |at| tree.parent(*at))
            .any(|at| at == scope);
        if in_scope {
            return None;
        }
        let text = normalized(&excerpt(tree, heading, 300));
        if found.is_none() && !text.is_empty() && title.starts_with(&text) {
            found = Some(heading);
        }
    }
    found
}

/// Whether the heading of the article is below a node. On some sites it is a link to the page
/// itself, which is not a menu.
pub(super) fn has_title(tree: &HtmlTree, node: HtmlNodeId, title: Option<&str>) -> bool {
    let heading = tree
        .descendants(node)
        .take(MAX_NODES)
        .find(|id| matches!(tree.tag(*id), Some(HtmlTag::Heading(1 | 2))));
    let text = heading.map(|heading| normalized(&excerpt(tree, heading, 300)));
    match (text, title) {
        (Some(text), Some(title)) => !text.is_empty() && normalized(title).starts_with(&text),
        _ => false,
    }
}

/// Titles and headings differ in white space and case.
fn normalized(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The first characters of the text below a node, on one line, with an ellipsis if there are more.
/// Looks at a thousand nodes at most, so it is cheap for any part of a page.
pub(super) fn excerpt(tree: &HtmlTree, node: HtmlNodeId, characters: usize) -> String {
    let mut text = String::new();
    for id in tree.descendants(node).take(1000) {
        // Scripts and styles have text, too.
        let is_shown = tree.parent(id).is_none_or(|parent| !is_hidden(tree, parent));
        if let (HtmlNodeKind::Text { start, end }, true) = (tree.kind(id), is_shown) {
            for word in tree.text(start, end).split_whitespace() {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.extend(word.chars().take(characters));
            }
        }
        if text.len() >= characters {
            break;
        }
    }
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}
