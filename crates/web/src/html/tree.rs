//! The tree that a page is parsed into.
//!
//! ```text
//! nodes: [document, html, body, text, …]   parent, siblings and children as indices
//! text:  "High at noon, see the table."    a text node is a range of it
//! attrs: [(Href, "table.html"), …]         an element has a range of it
//! ```
//!
//! All nodes are in one vector and refer to each other by index. No node owns another, so a tree
//! of any depth is walked and dropped without recursion, which a hostile page could use to
//! overflow the stack. It also takes a few large allocations instead of one for each node.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::fmt;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

use super::hints::ElementHints;
use super::invisible::drop_invisible;
use super::tags::{AttributeName, HtmlTag};

/// The index of a node in its tree. 32 bits keep nodes small, which hold five indices each; pages
/// have fewer than a million nodes (`MarkdownOptions::max_nodes`).
pub(crate) type HtmlNodeId = u32;

/// Stands for a missing parent, sibling or child. `Option<u32>` would take twice the space.
const NONE: HtmlNodeId = HtmlNodeId::MAX;

/// Bytes of one attribute. An address that is longer is dropped, because a part of it would be
/// another address; other texts are cut. Without this limit, a `<base>` of 10 MiB would be copied
/// several times when it is parsed as a URL, and again for every link.
const MAX_ATTRIBUTE_BYTES: u32 = 64 << 10;

/// What a node is, with the data of that kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HtmlNodeKind {
    /// The document itself, a comment or a processing instruction: never shown.
    Other,
    /// Text: a range of bytes of the tree's string. It never stands next to other text.
    Text { start: u32, end: u32 },
    /// An element: `attr_count` attributes of the tree's list belong to it, from `attrs` on.
    Element { tag: HtmlTag, attrs: u32, attr_count: u8, hints: ElementHints },
}

/// A node and its place in the tree; [`NONE`] where there is no such neighbour.
///
/// Five indices and the kind; a page of 750,000 elements has one of these for each, and for each
/// text.
#[derive(Debug)]
struct HtmlNode {
    parent: HtmlNodeId,
    /// The sibling before it.
    previous: HtmlNodeId,
    /// The sibling after it.
    next: HtmlNodeId,
    /// Its first child.
    first: HtmlNodeId,
    /// Its last child.
    last: HtmlNodeId,
    kind: HtmlNodeKind,
}

/// A parsed page.
#[derive(Default)]
pub(crate) struct HtmlTree {
    nodes: Vec<HtmlNode>,
    /// The name of each node, parallel to `nodes`. html5ever asks for names while it parses; they
    /// are freed when parsing is done, because the writer works with `HtmlTag`.
    names: Vec<Option<QualName>>,
    /// The text of all nodes, in the order in which it was inserted.
    text: String,
    attrs: Vec<(AttributeName, StrTendril)>,
    /// The `href` of the first `<base>`; the HTML standard ignores further ones.
    pub(crate) base: Option<StrTendril>,
    /// Whether `<noscript>` is shown.
    show_noscript: bool,
    /// How many invisible characters were dropped from texts and attributes.
    pub(crate) dropped_characters: u32,
    /// The last character of `text`, also before parts of it were moved.
    last_character: char,
}

// Sizes only: the content of a page would drown every message it is part of.
impl fmt::Debug for HtmlTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HtmlTree")
            .field("nodes", &self.nodes.len())
            .field("text", &self.text.len())
            .finish()
    }
}

impl HtmlTree {
    /// The document, which every tree has.
    pub(crate) const ROOT: HtmlNodeId = 0;

    /// What the node is.
    pub(crate) fn kind(&self, id: HtmlNodeId) -> HtmlNodeKind {
        self.nodes[id as usize].kind
    }

    /// The tag of an element; `None` for text, comments and the document.
    pub(crate) fn tag(&self, id: HtmlNodeId) -> Option<HtmlTag> {
        match self.kind(id) {
            HtmlNodeKind::Element { tag, .. } => Some(tag),
            _ => None,
        }
    }

    /// What the name and the classes of an element tell; nothing for other nodes.
    pub(crate) fn hints(&self, id: HtmlNodeId) -> ElementHints {
        match self.kind(id) {
            HtmlNodeKind::Element { hints, .. } => hints,
            _ => ElementHints::default(),
        }
    }

    /// How many nodes there are. The ids of all nodes are below it.
    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// An estimate of the Markdown's length in bytes: the text, and some syntax for each element.
    /// The output is allocated with it, so that it seldom has to grow.
    pub(crate) fn markdown_size_hint(&self) -> usize {
        self.text.len() + 16 * self.nodes.len()
    }

    /// The text between two byte offsets, as [`HtmlNodeKind::Text`] has them.
    pub(crate) fn text(&self, start: u32, end: u32) -> &str {
        &self.text[start as usize..end as usize]
    }

    /// The value of an attribute; `None` if the element does not have it, or if
    /// [`AttributeName::of`] did not keep it for this kind of element.
    pub(crate) fn attr(&self, id: HtmlNodeId, name: AttributeName) -> Option<&str> {
        let HtmlNodeKind::Element { attrs, attr_count, .. } = self.kind(id) else { return None };
        let attrs = &self.attrs[attrs as usize..attrs as usize + usize::from(attr_count)];
        attrs.iter().find(|(attr, _)| *attr == name).map(|(_, value)| &**value)
    }

    /// The node that holds this one.
    pub(crate) fn parent(&self, id: HtmlNodeId) -> Option<HtmlNodeId> {
        as_option(self.nodes[id as usize].parent)
    }

    /// The first node below this one.
    pub(crate) fn first_child(&self, id: HtmlNodeId) -> Option<HtmlNodeId> {
        as_option(self.nodes[id as usize].first)
    }

    /// The next node with the same parent.
    pub(crate) fn next_sibling(&self, id: HtmlNodeId) -> Option<HtmlNodeId> {
        as_option(self.nodes[id as usize].next)
    }

    /// The previous node with the same parent.
    pub(crate) fn previous_sibling(&self, id: HtmlNodeId) -> Option<HtmlNodeId> {
        as_option(self.nodes[id as usize].previous)
    }

    /// The nodes directly below this one, in order.
    pub(crate) fn children(&self, id: HtmlNodeId) -> impl Iterator<Item = HtmlNodeId> + '_ {
        std::iter::successors(self.first_child(id), |child| self.next_sibling(*child))
    }

    /// The next node in document order that is not below `id`; `None` when the subtree of `root`
    /// ends with `id`.
    pub(crate) fn next_after_subtree(
        &self,
        id: HtmlNodeId,
        root: HtmlNodeId,
    ) -> Option<HtmlNodeId> {
        let mut at = id;
        while at != root {
            if let Some(next) = self.next_sibling(at) {
                return Some(next);
            }
            at = self.parent(at)?;
        }
        None
    }

    /// All nodes below `root`, in document order.
    ///
    /// Without a stack: the way back up is found by the parents.
    pub(crate) fn descendants(&self, root: HtmlNodeId) -> impl Iterator<Item = HtmlNodeId> + '_ {
        let next = move |at: &HtmlNodeId| {
            self.first_child(*at).or_else(|| self.next_after_subtree(*at, root))
        };
        std::iter::successors(self.first_child(root), next)
    }

    /// Adds a node that is not part of the tree yet; html5ever creates nodes first and inserts
    /// them later.
    fn push(&mut self, kind: HtmlNodeKind, name: Option<QualName>) -> HtmlNodeId {
        let id = self.nodes.len() as HtmlNodeId;
        self.nodes.push(HtmlNode {
            parent: NONE,
            previous: NONE,
            next: NONE,
            first: NONE,
            last: NONE,
            kind,
        });
        self.names.push(name);
        id
    }

    /// Takes a node, with all below it, out of the tree. Does nothing if it is not in it.
    fn detach(&mut self, id: HtmlNodeId) {
        let HtmlNode { parent, previous, next, .. } = self.nodes[id as usize];
        match as_option(previous) {
            Some(previous) => self.nodes[previous as usize].next = next,
            None if parent != NONE => self.nodes[parent as usize].first = next,
            None => {}
        }
        match as_option(next) {
            Some(next) => self.nodes[next as usize].previous = previous,
            None if parent != NONE => self.nodes[parent as usize].last = previous,
            None => {}
        }
        let node = &mut self.nodes[id as usize];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    /// Moves `id` below `parent`: before its child `next`, or to the end if that is [`NONE`].
    fn insert(&mut self, id: HtmlNodeId, parent: HtmlNodeId, next: HtmlNodeId) {
        self.detach(id);
        let previous = if next == NONE {
            self.nodes[parent as usize].last
        } else {
            self.nodes[next as usize].previous
        };
        let node = &mut self.nodes[id as usize];
        (node.parent, node.previous, node.next) = (parent, previous, next);
        match as_option(previous) {
            Some(previous) => self.nodes[previous as usize].next = id,
            None => self.nodes[parent as usize].first = id,
        }
        match as_option(next) {
            Some(next) => self.nodes[next as usize].previous = id,
            None => self.nodes[parent as usize].last = id,
        }
    }

    /// Inserts text below `parent`: before its child `next`, or at the end if that is [`NONE`].
    /// Text that stands there already is extended, so two text nodes are never neighbours.
    ///
    /// html5ever hands over text in pieces, so this is called several times for one text node.
    fn insert_text(&mut self, text: &str, parent: HtmlNodeId, next: HtmlNodeId) {
        let before = if next == NONE {
            self.nodes[parent as usize].last
        } else {
            self.nodes[next as usize].previous
        };
        let (text, dropped) = drop_invisible(text, &mut self.last_character);
        self.dropped_characters = self.dropped_characters.saturating_add(dropped);
        let here = self.text.len() as u32;
        if let Some(HtmlNodeKind::Text { start, end }) = as_option(before).map(|id| self.kind(id)) {
            // Only the last text of the string can grow in place. Other text is copied to the end;
            // the old bytes stay unused, and count against the limit like any other text.
            let start = if end == here {
                start
            } else {
                self.text.extend_from_within(start as usize..end as usize);
                here
            };
            self.text.push_str(&text);
            self.nodes[before as usize].kind =
                HtmlNodeKind::Text { start, end: self.text.len() as u32 };
            return;
        }
        self.text.push_str(&text);
        let id = self.push(HtmlNodeKind::Text { start: here, end: self.text.len() as u32 }, None);
        self.insert(id, parent, next);
    }

    /// Adds an element with those of its attributes that are of use.
    fn push_element(&mut self, name: QualName, attributes: Vec<Attribute>) -> HtmlNodeId {
        let hints = ElementHints::of(&name.ns, &name.local, &attributes);
        let tag = match HtmlTag::of(&name.ns, &name.local) {
            // A declarative shadow root is shown; other templates are not.
            HtmlTag::Hidden if hints.any(ElementHints::SHADOW_ROOT) => HtmlTag::Block,
            HtmlTag::Noscript if self.show_noscript => HtmlTag::Block,
            HtmlTag::Script if attributes.iter().any(is_json_ld) => HtmlTag::JsonLd,
            HtmlTag::Inline
                if attributes.iter().any(|attr| is_visual_formula(&name.local, attr)) =>
            {
                HtmlTag::Hidden
            }
            tag => tag,
        };
        // The attributes of an element are pushed together, so a range identifies them.
        let attrs = self.attrs.len() as u32;
        for attribute in attributes {
            if let Some(attr) = AttributeName::of(tag, &attribute.name.local)
                && let Some(value) = bounded_value(attr, attribute.value)
            {
                let (visible, dropped) = drop_invisible(&value, &mut ' ');
                self.dropped_characters = self.dropped_characters.saturating_add(dropped);
                let visible = (dropped > 0).then(|| StrTendril::from_slice(&visible));
                self.attrs.push((attr, visible.unwrap_or(value)));
            }
        }
        // Each kind of attribute is kept once per element, and there are fewer than twenty kinds.
        let attr_count = (self.attrs.len() as u32 - attrs) as u8;
        if tag == HtmlTag::Base && self.base.is_none() {
            let href =
                self.attrs[attrs as usize..].iter().find(|(attr, _)| *attr == AttributeName::Href);
            self.base = href.map(|(_, value)| value.clone());
        }
        self.push(HtmlNodeKind::Element { tag, attrs, attr_count, hints }, Some(name))
    }
}

/// The value of an attribute within [`MAX_ATTRIBUTE_BYTES`].
fn bounded_value(attr: AttributeName, value: StrTendril) -> Option<StrTendril> {
    if value.len32() <= MAX_ATTRIBUTE_BYTES {
        return Some(value);
    }
    let end = value.floor_char_boundary(MAX_ATTRIBUTE_BYTES as usize);
    // Copied, because a part of a tendril would keep all of it in memory.
    (!attr.is_address()).then(|| StrTendril::from_slice(&value[..end]))
}

/// Whether an element is the visual version of a formula. KaTeX and MathJax write each formula
/// twice, once in MathML and once as positioned text; shown together, every formula would be
/// doubled.
fn is_visual_formula(name: &LocalName, attr: &Attribute) -> bool {
    match attr.name.local {
        local_name!("class") => &*attr.value == "katex-html",
        local_name!("aria-hidden") => *name == local_name!("nobr") && &*attr.value == "true",
        _ => false,
    }
}

/// Whether a script is structured data of schema.org, not code.
fn is_json_ld(attr: &Attribute) -> bool {
    attr.name.local == local_name!("type")
        && attr.value.trim().eq_ignore_ascii_case("application/ld+json")
}

/// Turns [`NONE`] into `None`.
fn as_option(id: HtmlNodeId) -> Option<HtmlNodeId> {
    (id != NONE).then_some(id)
}

/// The sink that html5ever's tree builder writes into.
///
/// The sink's methods cannot fail, so exceeding a limit sets a flag; the parser checks the flag
/// after every piece of input and then gives up. html5ever takes the sink by shared reference,
/// which is why there are cells.
pub(super) struct HtmlTreeBuilder {
    tree: RefCell<HtmlTree>,
    max_nodes: usize,
    max_text: usize,
    /// Whether a limit was reached.
    full: Cell<bool>,
}

impl HtmlTreeBuilder {
    /// Starts with the document as the only node. `show_noscript` makes `<noscript>` a block like
    /// others.
    pub(super) fn new(max_nodes: usize, max_text: usize, show_noscript: bool) -> HtmlTreeBuilder {
        let mut tree = HtmlTree { show_noscript, ..HtmlTree::default() };
        tree.push(HtmlNodeKind::Other, None);
        HtmlTreeBuilder { tree: RefCell::new(tree), max_nodes, max_text, full: Cell::new(false) }
    }

    /// Whether the page has more nodes or more text than allowed.
    pub(super) fn is_full(&self) -> bool {
        self.full.get()
    }

    /// Borrows the tree for an addition, after checking the limits.
    fn grow(&self) -> std::cell::RefMut<'_, HtmlTree> {
        let tree = self.tree.borrow_mut();
        if tree.nodes.len() >= self.max_nodes || tree.text.len() >= self.max_text {
            self.full.set(true);
        }
        tree
    }

    fn insert(&self, parent: HtmlNodeId, next: HtmlNodeId, child: NodeOrText<HtmlNodeId>) {
        let mut tree = self.grow();
        match child {
            NodeOrText::AppendNode(id) => tree.insert(id, parent, next),
            NodeOrText::AppendText(text) => tree.insert_text(&text, parent, next),
        }
    }
}

/// The name of an element, in the form that html5ever asks for it.
pub(super) struct ElementName<'a>(Ref<'a, QualName>);

impl fmt::Debug for ElementName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.local.fmt(f)
    }
}

impl ElemName for ElementName<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// The name of nodes without one. html5ever asks only for names of elements, but the type of
/// `elem_name` leaves no other answer.
static NAMELESS: QualName = QualName { prefix: None, ns: ns!(), local: local_name!("") };

impl TreeSink for HtmlTreeBuilder {
    type Handle = HtmlNodeId;
    type Output = HtmlTree;
    type ElemName<'a> = ElementName<'a>;

    fn finish(self) -> HtmlTree {
        let mut tree = self.tree.into_inner();
        tree.names = Vec::new();
        tree
    }

    // Every page has parse errors, and browsers repair them silently.
    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> HtmlNodeId {
        HtmlTree::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a HtmlNodeId) -> ElementName<'a> {
        ElementName(Ref::map(self.tree.borrow(), |tree| {
            tree.names[*target as usize].as_ref().unwrap_or(&NAMELESS)
        }))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> HtmlNodeId {
        self.grow().push_element(name, attrs)
    }

    // A comment needs a node because html5ever inserts it; its text is dropped.
    fn create_comment(&self, _: StrTendril) -> HtmlNodeId {
        self.grow().push(HtmlNodeKind::Other, None)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> HtmlNodeId {
        self.grow().push(HtmlNodeKind::Other, None)
    }

    fn append(&self, parent: &HtmlNodeId, child: NodeOrText<HtmlNodeId>) {
        self.insert(*parent, NONE, child);
    }

    // Foster parenting: text in a table but outside of its cells moves before the table.
    fn append_based_on_parent_node(
        &self,
        element: &HtmlNodeId,
        previous: &HtmlNodeId,
        child: NodeOrText<HtmlNodeId>,
    ) {
        let parent = self.tree.borrow().parent(*element);
        match parent {
            Some(parent) => self.insert(parent, *element, child),
            None => self.insert(*previous, NONE, child),
        }
    }

    // Moves content before a table; the table is always in the tree then.
    fn append_before_sibling(&self, sibling: &HtmlNodeId, child: NodeOrText<HtmlNodeId>) {
        let parent = self.tree.borrow().parent(*sibling);
        if let Some(parent) = parent {
            self.insert(parent, *sibling, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &HtmlNodeId) -> HtmlNodeId {
        // A template is hidden with all below it, so its content needs no document of its own.
        *target
    }

    fn same_node(&self, x: &HtmlNodeId, y: &HtmlNodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    // Called for a second `<html>` or `<body>`, whose attributes the writer does not use.
    fn add_attrs_if_missing(&self, _: &HtmlNodeId, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &HtmlNodeId) {
        self.tree.borrow_mut().detach(*target);
    }

    // Part of the standard's repair of misnested formatting (the "adoption agency algorithm").
    fn reparent_children(&self, node: &HtmlNodeId, new_parent: &HtmlNodeId) {
        let mut tree = self.tree.borrow_mut();
        while let Some(child) = tree.first_child(*node) {
            tree.insert(child, *new_parent, NONE);
        }
    }
}
