//! The main content of a page: the article without menus, share bars, related links, notices and
//! comments.
//!
//! ```text
//! HtmlTree ─▶ PageSizes       text, links and prose of every node
//!         ─▶ leave out parts   by element, role, words, links, headings
//!         ─▶ choose the scope  `<main>`, the article, where the prose is
//!         ─▶ leave out columns beside the prose ─▶ ContentSelection
//! ```
//!
//! The evidence is that of the published readability heuristics (Arc90's Readability, Mozilla's
//! version of it; Kohlschütter et al., "Boilerplate Detection using Shallow Text Features", 2010):
//! how much text a part has, which share of it is links, whether it reads like sentences, what its
//! element and its classes are called. The difference is the direction: nothing is collected
//! around a best paragraph; the page is walked from the top, and a part is left out only for a
//! reason that can be named. What nobody recognises is therefore kept.
//!
//! Every step is linear in the number of nodes, and checks the deadline. If little survives, the
//! whole page is shown.
//!
//! The numbers in this file (shares, lengths) are heuristics. `tests/it/articles.rs` and
//! `main_content.rs` beside it show what a change of one does.

mod headings;
mod measure;

use crate::html::{ElementHints, HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};
use crate::markdown::{ConversionError, MarkdownOptions};
use measure::{PageSizes, TextSize};

/// Bytes of text below which a selection is too small to be an article.
const MIN_ARTICLE: u32 = 140;

/// Characters at the beginning of a part that identify it in an explanation.
const EXCERPT: usize = 60;

/// Parts that an explanation lists. A page of 750,000 elements has no reader for more.
const MAX_OMISSIONS: usize = 500;

/// Nodes of a part that are searched for code, and parts beside a section that are compared with
/// it.
const MAX_SECTION_NODES: usize = 200;

/// Levels around a list that are looked at for the section that it is in.
const MAX_SECTION_LEVELS: usize = 4;

/// Why a part was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmissionReason {
    /// Its element or role is not content: navigation, a footer, a dialog, a side column.
    Element,
    /// Its class or id names something beside the article.
    Name,
    /// Its class or id names comments.
    Comments,
    /// Most of its text is links.
    Links,
    /// Its heading announces links or a form, such as “Related articles”.
    Heading,
    /// It is a button or a form.
    Control,
    /// It stands beside the part with the text.
    Outside,
}

impl OmissionReason {
    /// The reason in a few words.
    pub fn text(self) -> &'static str {
        match self {
            OmissionReason::Element => "its element is not content",
            OmissionReason::Name => "its class or id names a part of the site",
            OmissionReason::Comments => "comments",
            OmissionReason::Links => "mostly links",
            OmissionReason::Heading => "its heading announces something else",
            OmissionReason::Control => "buttons or a form",
            OmissionReason::Outside => "beside the main text",
        }
    }
}

/// A part of the page that is not in the main content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// Why it was left out.
    pub reason: OmissionReason,
    /// How its text begins.
    pub excerpt: String,
    /// Bytes of its text, without white space.
    pub bytes: usize,
}

/// Which nodes are the main content. Node ids are those of the tree that was selected from.
pub(crate) struct ContentSelection {
    /// The element to write, without those left out.
    pub(crate) scope: HtmlNodeId,
    /// The heading of the article, if it stands outside of `scope`.
    pub(crate) heading: Option<HtmlNodeId>,
    /// By id, whether a node is left out with all below it.
    pub(crate) left_out: Vec<bool>,
    /// What was left out, for an explanation.
    pub(crate) omissions: Vec<Omission>,
}

/// How much evidence is needed to leave a part out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SelectionMode {
    /// Elements, words, headings and links.
    Strict,
    /// Only elements that are certain, and lists of links at the edges. For pages whose content has
    /// suspicious names, such as a forum that calls its posts comments.
    Lenient,
}

/// Selects the main content; `None` if little would be left, and the whole page is better.
///
/// Two attempts: a strict one, and a lenient one for pages whose article has suspicious names. A
/// result is accepted if it is large enough beside the whole page. The strict one has to keep a
/// fifth of the prose as well: if it keeps less, it has probably left the article out.
///
/// # Errors
/// Only those of the limits of the options.
pub(crate) fn select(
    tree: &HtmlTree,
    title: Option<&str>,
    options: &MarkdownOptions,
) -> Result<Option<ContentSelection>, ConversionError> {
    for mode in [SelectionMode::Strict, SelectionMode::Lenient] {
        let mut selector = ContentSelector {
            tree,
            sizes: PageSizes::measure(tree, options)?,
            left_out: vec![false; tree.node_count()],
            reasons: Vec::new(),
            title,
            mode,
        };
        let whole = selector.sizes.of(HtmlTree::ROOT);
        let scope = selector.run(options)?;
        let left = selector.sizes.of(scope);
        // An article of few words is fine on a page of few words, and a lenient second look is
        // better than a part that is small beside what was left out.
        let is_enough = left.prose >= MIN_ARTICLE.min(whole.prose / 2).max(1)
            && left.text >= MIN_ARTICLE.min(whole.text / 2)
            && (mode == SelectionMode::Lenient
                || (left.prose * 5 >= whole.prose
                    // An index is mostly links and has few sentences.
                    && (left.prose >= 500 || left.text * 6 >= whole.text)));
        if is_enough {
            return Ok(Some(selector.finish(scope)));
        }
    }
    Ok(None)
}

/// One attempt. `sizes` are computed again after parts were left out, so that a share is always one
/// of what is still there.
struct ContentSelector<'a> {
    tree: &'a HtmlTree,
    sizes: PageSizes,
    left_out: Vec<bool>,
    /// The nodes that were left out, with the reason and their size before.
    reasons: Vec<(HtmlNodeId, OmissionReason, TextSize)>,
    /// The title of the page.
    title: Option<&'a str>,
    mode: SelectionMode,
}

impl ContentSelector<'_> {
    fn run(&mut self, options: &MarkdownOptions) -> Result<HtmlNodeId, ConversionError> {
        self.leave_out_parts();
        self.sizes.sum(self.tree, &self.left_out, options)?;
        let scope = self.choose_scope();
        let scope = self.with_heading(scope);
        self.leave_out_columns(scope);
        self.sizes.sum(self.tree, &self.left_out, options)?;
        Ok(scope)
    }

    /// Leaves out the parts that are recognised by themselves.
    fn leave_out_parts(&mut self) {
        let page = self.sizes.of(HtmlTree::ROOT);
        let order = std::mem::take(&mut self.sizes.order);
        for node in order.iter().copied() {
            // In document order, so the parent is decided already.
            let parent = self.tree.parent(node);
            if parent.is_some_and(|parent| self.left_out[parent as usize]) {
                self.left_out[node as usize] = true;
            } else if let Some(reason) = self.reason_against(node, page) {
                self.leave_out(node, reason);
            }
        }
        self.sizes.order = order;
    }

    /// Whether `id` is below `ancestor`. The depth of a page is bounded.
    fn is_below(&self, id: HtmlNodeId, ancestor: HtmlNodeId) -> bool {
        std::iter::successors(self.tree.parent(id), |at| self.tree.parent(*at))
            .any(|at| at == ancestor)
    }

    fn leave_out(&mut self, node: HtmlNodeId, reason: OmissionReason) {
        self.left_out[node as usize] = true;
        self.reasons.push((node, reason, self.sizes.of(node)));
    }

    /// Why a node is not part of the main content, if it is not.
    ///
    /// Called in document order for nodes whose parents stay. The checks go from certain evidence
    /// (elements and roles) to weak (shares of links), and each is limited by the share of the
    /// prose that the part has: what holds most of the text is the article, whatever it is called.
    /// In lenient mode only the certain ones apply.
    fn reason_against(&self, node: HtmlNodeId, page: TextSize) -> Option<OmissionReason> {
        let HtmlNodeKind::Element { tag, hints, .. } = self.tree.kind(node) else { return None };
        let size = self.sizes.of(node);
        let is_heading = matches!(tag, HtmlTag::Heading(_));
        let is_named = hints.any(NOISE) && !hints.any(ElementHints::NOISE_BY_ID);
        if tag == HtmlTag::Html || (is_heading && !is_named) {
            return None;
        }
        // The body, and wrappers of nearly everything, have classes about the page.
        let share = f64::from(size.prose) / f64::from(page.prose.max(1));
        let is_small = share < 0.35;
        if tag == HtmlTag::Link {
            return self.is_permalink(node, size).then_some(OmissionReason::Links);
        }
        if hints.any(ElementHints::CONTROL) {
            return Some(OmissionReason::Control);
        }
        if hints.any(ElementHints::SITE_PART) && is_small {
            return Some(OmissionReason::Element);
        }
        // On a page with a short article, a side column may have half of the sentences.
        let is_column = share < 0.6;
        if hints.any(ElementHints::ASIDE) && is_column && !self.is_remark(node, hints, size) {
            return Some(OmissionReason::Element);
        }
        if hints.any(ElementHints::FORM) && is_small && size.prose < 400 {
            return Some(OmissionReason::Control);
        }
        if self.mode == SelectionMode::Lenient {
            return None;
        }
        let is_content = hints.any(CONTENT);
        if hints.any(ElementHints::COMMENT_WORD) && !is_content && share < 0.9 {
            return Some(OmissionReason::Comments);
        }
        // A section whose id was made of its heading reads like the rest of the text.
        let is_section = hints.any(ElementHints::NOISE_BY_ID)
            && size.prose.saturating_mul(2) > size.text
            && self.heading_level(node).is_some();
        if hints.any(ElementHints::NOISE_WORD) && !is_content && is_small && !is_section {
            return Some(OmissionReason::Name);
        }
        if !tag.is_block() || is_content || !is_small {
            return None;
        }
        let is_container = matches!(
            tag,
            HtmlTag::Block | HtmlTag::Cell | HtmlTag::List | HtmlTag::OrderedList | HtmlTag::Table
        );
        if !is_container || size.text == 0 {
            return None;
        }
        if !self.is_text_under_heading(node, size)
            && headings::announces_something_else(self.tree, node)
        {
            return Some(OmissionReason::Heading);
        }
        let is_weak = hints.any(ElementHints::WEAK_WORD | ElementHints::HEADER);
        let is_link_list = size.link_share() > if is_weak { 0.4 } else { 0.65 };
        // A list of links between paragraphs is part of the text; elsewhere it is a menu.
        let is_in_text = !is_weak && self.is_among_prose(node);
        let is_menu = is_link_list && size.prose * 4 < size.text && !is_in_text;
        if is_menu
            && !headings::has_title(self.tree, node, self.title)
            && (is_weak || !self.is_in_section(node))
        {
            return Some(OmissionReason::Links);
        }
        // A line about the article rather than of it: date, author, tags.
        if is_weak && size.prose == 0 && size.text < 120 && !self.has_heading(node) {
            return Some(OmissionReason::Name);
        }
        None
    }

    /// Whether a part reads like text, whatever its heading announces: a manual has a section about
    /// cookies. What such headings usually announce is short, or has links.
    fn is_text_under_heading(&self, node: HtmlNodeId, size: TextSize) -> bool {
        let has_code = || {
            let tag = |id: HtmlNodeId| self.tree.tag(id);
            let mut below = self.tree.descendants(node).take(MAX_SECTION_NODES);
            below.any(|id| tag(id) == Some(HtmlTag::Preformatted))
        };
        let is_prose = size.prose.saturating_mul(2) > size.text && size.link_share() < 0.15;
        is_prose && (size.prose >= 600 || has_code())
    }

    /// Whether a node is in a section of the text, such as one with references: it begins with a
    /// heading, and looks like two others beside it that have prose.
    fn is_in_section(&self, node: HtmlNodeId) -> bool {
        let around = std::iter::successors(Some(node), |at| self.tree.parent(*at));
        around.take(MAX_SECTION_LEVELS).any(|at| self.is_section_among_equals(at))
    }

    /// Whether a node is a section beside at least two others that look alike, have prose, and
    /// begin with a heading of the same level. Menus have no such siblings; references and
    /// appendices have.
    fn is_section_among_equals(&self, section: HtmlNodeId) -> bool {
        let (Some(parent), Some(level)) = (self.tree.parent(section), self.heading_level(section))
        else {
            return false;
        };
        let signature = self.tree.hints(section).signature;
        let equals = self.tree.children(parent).take(MAX_SECTION_NODES).filter(|id| {
            let size = self.sizes.of(*id);
            *id != section
                && self.tree.hints(*id).signature == signature
                && size.prose.saturating_mul(2) > size.text
                && self.heading_level(*id) == Some(level)
        });
        equals.take(2).count() == 2
    }

    /// The level of the heading that a part begins with.
    fn heading_level(&self, node: HtmlNodeId) -> Option<u8> {
        let elements = self.tree.descendants(node).filter(|id| self.tree.tag(*id).is_some());
        elements.take(4).find_map(|id| match self.tree.tag(id) {
            Some(HtmlTag::Heading(level)) => Some(level),
            _ => None,
        })
    }

    /// Whether an `<aside>` belongs to the text around it: a note, or a remark without links
    /// between paragraphs.
    fn is_remark(&self, node: HtmlNodeId, hints: ElementHints, size: TextSize) -> bool {
        hints.any(ElementHints::NOTE_WORD)
            || (!hints.any(NOISE | ElementHints::WEAK_WORD)
                && size.link_share() < 0.2
                && self.is_among_prose(node))
    }

    /// Whether the element directly before or after is a paragraph of prose.
    fn is_among_prose(&self, node: HtmlNodeId) -> bool {
        let is_prose = |id: Option<HtmlNodeId>| {
            id.is_some_and(|id| {
                matches!(self.tree.tag(id), Some(HtmlTag::Paragraph | HtmlTag::Preformatted))
                    && self.sizes.of(id).prose > 0
            })
        };
        let elements = |step: fn(&HtmlTree, HtmlNodeId) -> Option<HtmlNodeId>| {
            let tree = self.tree;
            std::iter::successors(step(tree, node), move |at| step(tree, *at))
                .take(6)
                .find(|id| tree.tag(*id).is_some_and(|tag| !matches!(tag, HtmlTag::Heading(_))))
        };
        is_prose(elements(HtmlTree::previous_sibling)) || is_prose(elements(HtmlTree::next_sibling))
    }

    /// Whether a link is the sign beside a heading that leads to the heading itself.
    fn is_permalink(&self, node: HtmlNodeId, size: TextSize) -> bool {
        let href = self.tree.attr(node, crate::html::AttributeName::Href).unwrap_or_default();
        if !href.contains('#') || size.text > 4 {
            return false;
        }
        let has_word = self.tree.descendants(node).any(|id| match self.tree.kind(id) {
            HtmlNodeKind::Text { start, end } => {
                self.tree.text(start, end).contains(|c: char| c.is_alphanumeric())
            }
            HtmlNodeKind::Element { tag, .. } => tag == HtmlTag::Image,
            HtmlNodeKind::Other => false,
        });
        !has_word
    }

    /// Within the first nodes only: a heading further down belongs to a section.
    fn has_heading(&self, node: HtmlNodeId) -> bool {
        self.tree
            .descendants(node)
            .take(64)
            .any(|id| matches!(self.tree.tag(id), Some(HtmlTag::Heading(_))))
    }

    /// The element that holds the article: by its element or class if the page is clear about it,
    /// else the whole body.
    ///
    /// Three rounds, each within the result of the one before: `<main>`, then `<article>`, then a
    /// class that names content. A candidate must hold most of the prose of what is around it, and
    /// must not have equals: one post of a thread is not the page.
    fn choose_scope(&self) -> HtmlNodeId {
        let mut scope = HtmlTree::ROOT;
        // From the outside in; each must hold nearly all prose of the one around it.
        for (bits, share) in [
            (ElementHints::MAIN, 0.5),
            (ElementHints::ARTICLE, 0.8),
            (ElementHints::CONTENT_WORD, 0.8),
        ] {
            let prose = self.sizes.of(scope).prose;
            let best = self
                .sizes
                .order
                .iter()
                .copied()
                .filter(|id| self.tree.hints(*id).any(bits) && *id != scope)
                .filter(|id| scope == HtmlTree::ROOT || self.is_below(*id, scope))
                .max_by_key(|id| (self.sizes.of(*id).prose, std::cmp::Reverse(*id)));
            if let Some(best) = best
                && f64::from(self.sizes.of(best).prose) >= share * f64::from(prose)
                && self.sizes.of(best).prose > 0
                && !self.has_equals(best, bits)
            {
                scope = best;
            }
        }
        scope
    }

    /// The element around `scope` that also holds the heading of the article, if there is little
    /// else in it: a subtitle, a summary.
    fn with_heading(&self, scope: HtmlNodeId) -> HtmlNodeId {
        let heading = headings::outside(self.tree, &self.sizes.order, scope, self.title);
        let around = heading.and_then(|heading| {
            std::iter::successors(self.tree.parent(scope), |at| self.tree.parent(*at))
                .find(|at| self.is_below(heading, *at))
        });
        let text = self.sizes.of(scope).text;
        around.filter(|at| self.sizes.of(*at).text <= text + text / 4 + 200).unwrap_or(scope)
    }

    /// Whether other elements with the same classes have prose, too: the posts of a thread, the
    /// sections of a manual.
    fn has_equals(&self, best: HtmlNodeId, bits: u16) -> bool {
        let hints = self.tree.hints(best);
        self.sizes.order.iter().copied().any(|id| {
            let other = self.tree.hints(id);
            id != best
                && other.any(bits)
                && other.signature == hints.signature
                && self.sizes.of(id).prose > 0
                && !self.is_below(id, best)
                && !self.is_below(best, id)
        })
    }

    /// Leaves out what stands beside the part with the prose, from `scope` inwards: columns that no
    /// word gives away, and loose lines such as a copyright notice.
    ///
    /// Follows the child with the most prose down, as long as one child has most of it. At each
    /// level its siblings are judged; where the prose is spread over several children, these are
    /// the sections of the article, and the walk ends.
    fn leave_out_columns(&mut self, scope: HtmlNodeId) {
        let mut at = scope;
        loop {
            let size = self.sizes.of(at);
            let blocks: Vec<HtmlNodeId> =
                self.tree.children(at).filter(|id| self.sizes.of(*id).text > 0).collect();
            let Some(top) = blocks
                .iter()
                .copied()
                .filter(|id| is_container(self.tree.tag(*id)))
                .max_by_key(|id| (self.sizes.of(*id).prose, std::cmp::Reverse(*id)))
            else {
                return;
            };
            let most = self.sizes.of(top);
            if f64::from(most.prose) < 0.6 * f64::from(size.prose) || most.prose < MIN_ARTICLE {
                return;
            }
            let holds_nearly_all = f64::from(most.prose) >= 0.85 * f64::from(size.prose);
            let top_index = blocks.iter().position(|id| *id == top).unwrap_or_default();
            for (index, block) in blocks.iter().copied().enumerate() {
                if block != top && self.is_beside(block, top, index < top_index, holds_nearly_all) {
                    self.leave_out(block, OmissionReason::Outside);
                }
            }
            at = top;
        }
    }

    /// Whether a child of a node is not part of the text that its child `top` has most of. The less
    /// certain a kind of element is, the more of the prose `top` must have (`holds_nearly_all`).
    fn is_beside(
        &self,
        block: HtmlNodeId,
        top: HtmlNodeId,
        is_before: bool,
        holds_nearly_all: bool,
    ) -> bool {
        let (size, most) = (self.sizes.of(block), self.sizes.of(top));
        let hints = self.tree.hints(block);
        let looks_alike = hints.signature == self.tree.hints(top).signature;
        match self.tree.tag(block) {
            // Loose text, such as a link to the content.
            None => holds_nearly_all && size.text < 40,
            Some(HtmlTag::Heading(_)) => false,
            Some(tag) if !tag.is_block() => holds_nearly_all && size.text < 60,
            tag if is_container(tag) => {
                let is_minor = f64::from(size.prose) < 0.15 * f64::from(most.prose);
                let is_linked = size.link_share() > 0.3;
                // The heading of the article often stands in a block of its own, before it.
                let is_heading = is_before && self.has_heading(block) && size.text < 400;
                is_minor && (is_linked || size.prose == 0) && !looks_alike && !is_heading
            }
            Some(HtmlTag::Paragraph) => holds_nearly_all && size.text < 60,
            Some(HtmlTag::List | HtmlTag::OrderedList) => {
                holds_nearly_all && size.link_share() > 0.5
            }
            _ => false,
        }
    }

    /// The explanation lists what was left out inside of the scope, and outside of it what had a
    /// reason of its own.
    fn finish(mut self, scope: HtmlNodeId) -> ContentSelection {
        let heading = headings::outside(self.tree, &self.sizes.order, scope, self.title);
        self.leave_out_lone_headings(scope);
        let mut omissions: Vec<Omission> = Vec::new();
        let reasons = std::mem::take(&mut self.reasons);
        for (node, reason, size) in reasons.iter().filter(|(_, _, size)| size.text > 0) {
            if omissions.len() == MAX_OMISSIONS {
                break;
            }
            let is_inside = scope == HtmlTree::ROOT || self.is_below(*node, scope);
            // What is outside of the scope is left out as a whole.
            if is_inside || *reason != OmissionReason::Outside {
                let excerpt = headings::excerpt(self.tree, *node, EXCERPT);
                omissions.push(Omission { reason: *reason, excerpt, bytes: size.text as usize });
            }
        }
        ContentSelection { scope, heading, left_out: self.left_out, omissions }
    }

    /// Leaves out headings after which nothing is left before the next heading of their level:
    /// those of lists that were left out.
    fn leave_out_lone_headings(&mut self, scope: HtmlNodeId) {
        let lists: Vec<HtmlNodeId> = self
            .reasons
            .iter()
            .filter(|(_, reason, _)| {
                use OmissionReason::{Comments, Links, Name};
                matches!(reason, Comments | Links | Name)
            })
            .map(|(node, ..)| *node)
            .collect();
        for list in lists {
            let before = std::iter::successors(self.tree.previous_sibling(list), |at| {
                self.tree.previous_sibling(*at)
            })
            .take(4)
            .find(|id| self.sizes.of(*id).text > 0);
            let after = std::iter::successors(self.tree.next_sibling(list), |at| {
                self.tree.next_sibling(*at)
            })
            .take(4)
            .find(|id| self.sizes.of(*id).text > 0);
            if let Some(heading) = before
                && let Some(HtmlTag::Heading(2..)) = self.tree.tag(heading)
                && !after.is_some_and(|id| !matches!(self.tree.tag(id), Some(HtmlTag::Heading(_))))
                && heading != scope
                // A longer one is a sentence, such as a subtitle.
                && self.sizes.of(heading).text <= 40
            {
                self.left_out[heading as usize] = true;
            }
        }
    }
}

/// Hints that name a part of the site.
const NOISE: u16 = ElementHints::NOISE_WORD | ElementHints::COMMENT_WORD;

/// Hints of content, which outweigh words against it: `main-content with-share-bar`.
const CONTENT: u16 = ElementHints::MAIN
    | ElementHints::ARTICLE
    | ElementHints::CONTENT_WORD
    | ElementHints::NOTE_WORD;

/// Whether an element only arranges others.
fn is_container(tag: Option<HtmlTag>) -> bool {
    use HtmlTag::{Block, Cell, Html, Row, Table, TableGroup};
    matches!(tag, Some(Block | Cell | Html | Row | Table | TableGroup))
}
