//! The tree a page is parsed into: nodes in one vector, text in one string, links by index. No node
//! owns another, so a tree of any depth is dropped and walked without recursion.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::fmt;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, LocalName, Namespace, QualName, local_name, ns};

use super::tags::{AttrName, Tag};

/// The place of a node in its tree.
pub(crate) type NodeId = u32;

/// No node.
const NONE: NodeId = NodeId::MAX;

/// What a node is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A document, a template's content, a comment: nothing that is shown.
    Other,
    /// The bytes of the text in the tree's string.
    Text {
        start: u32,
        end: u32,
    },
    Element {
        tag: Tag,
        attrs: u32,
        attr_count: u16,
    },
}

#[derive(Debug)]
struct Node {
    parent: NodeId,
    previous: NodeId,
    next: NodeId,
    first: NodeId,
    last: NodeId,
    kind: Kind,
}

/// A parsed page.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    /// Wanted by html5ever, and gone when it is done.
    names: Vec<Option<QualName>>,
    text: String,
    attrs: Vec<(AttrName, StrTendril)>,
    /// What `<base>` says, the first time.
    pub(crate) base: Option<StrTendril>,
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tree")
            .field("nodes", &self.nodes.len())
            .field("text", &self.text.len())
            .finish()
    }
}

impl Tree {
    /// The document itself.
    pub(crate) const ROOT: NodeId = 0;

    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.nodes[id as usize].kind
    }

    /// The tag of an element; text and the rest have none.
    pub(crate) fn tag(&self, id: NodeId) -> Option<Tag> {
        match self.kind(id) {
            Kind::Element { tag, .. } => Some(tag),
            _ => None,
        }
    }

    /// About how many bytes of Markdown there are in it: its text, and a few signs for each
    /// element.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + 16 * self.nodes.len()
    }

    pub(crate) fn text(&self, start: u32, end: u32) -> &str {
        &self.text[start as usize..end as usize]
    }

    pub(crate) fn attr(&self, id: NodeId, name: AttrName) -> Option<&str> {
        let Kind::Element { attrs, attr_count, .. } = self.kind(id) else { return None };
        let own = &self.attrs[attrs as usize..attrs as usize + usize::from(attr_count)];
        own.iter().find(|(attr, _)| *attr == name).map(|(_, value)| &**value)
    }

    pub(crate) fn parent(&self, id: NodeId) -> Option<NodeId> {
        some(self.nodes[id as usize].parent)
    }

    pub(crate) fn first_child(&self, id: NodeId) -> Option<NodeId> {
        some(self.nodes[id as usize].first)
    }

    pub(crate) fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        some(self.nodes[id as usize].next)
    }

    pub(crate) fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        some(self.nodes[id as usize].previous)
    }

    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(id), |child| self.next_sibling(*child))
    }

    /// The node after `id` in document order that is not below it, within `root`.
    pub(crate) fn after(&self, id: NodeId, root: NodeId) -> Option<NodeId> {
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
    pub(crate) fn descendants(&self, root: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let next = move |at: &NodeId| self.first_child(*at).or_else(|| self.after(*at, root));
        std::iter::successors(self.first_child(root), next)
    }

    fn push(&mut self, kind: Kind, name: Option<QualName>) -> NodeId {
        let id = self.nodes.len() as NodeId;
        self.nodes.push(Node {
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

    fn detach(&mut self, id: NodeId) {
        let Node { parent, previous, next, .. } = self.nodes[id as usize];
        match some(previous) {
            Some(previous) => self.nodes[previous as usize].next = next,
            None if parent != NONE => self.nodes[parent as usize].first = next,
            None => {}
        }
        match some(next) {
            Some(next) => self.nodes[next as usize].previous = previous,
            None if parent != NONE => self.nodes[parent as usize].last = previous,
            None => {}
        }
        let node = &mut self.nodes[id as usize];
        (node.parent, node.previous, node.next) = (NONE, NONE, NONE);
    }

    /// Puts `id` below `parent`, before `next` or at the end.
    fn insert(&mut self, id: NodeId, parent: NodeId, next: NodeId) {
        self.detach(id);
        let previous = if next == NONE {
            self.nodes[parent as usize].last
        } else {
            self.nodes[next as usize].previous
        };
        let node = &mut self.nodes[id as usize];
        (node.parent, node.previous, node.next) = (parent, previous, next);
        match some(previous) {
            Some(previous) => self.nodes[previous as usize].next = id,
            None => self.nodes[parent as usize].first = id,
        }
        match some(next) {
            Some(next) => self.nodes[next as usize].previous = id,
            None => self.nodes[parent as usize].last = id,
        }
    }

    /// Puts text below `parent`, before `next` or at the end, joined to text that stands there
    /// already.
    fn insert_text(&mut self, text: &str, parent: NodeId, next: NodeId) {
        let before = if next == NONE {
            self.nodes[parent as usize].last
        } else {
            self.nodes[next as usize].previous
        };
        let here = self.text.len() as u32;
        if let Some(Kind::Text { start, end }) = some(before).map(|id| self.kind(id)) {
            // Text that is not the last of the string has to move there to grow.
            let start = if end == here {
                start
            } else {
                self.text.extend_from_within(start as usize..end as usize);
                here
            };
            self.text.push_str(text);
            self.nodes[before as usize].kind = Kind::Text { start, end: self.text.len() as u32 };
            return;
        }
        self.text.push_str(text);
        let id = self.push(Kind::Text { start: here, end: self.text.len() as u32 }, None);
        self.insert(id, parent, next);
    }

    fn element(&mut self, name: QualName, attributes: Vec<Attribute>) -> NodeId {
        let tag = match Tag::of(&name.ns, &name.local) {
            Tag::Inline if attributes.iter().any(|attr| is_drawing(&name.local, attr)) => {
                Tag::Hidden
            }
            tag => tag,
        };
        let attrs = self.attrs.len() as u32;
        for attribute in attributes {
            if let Some(attr) = AttrName::of(tag, &attribute.name.local) {
                self.attrs.push((attr, attribute.value));
            }
        }
        let attr_count = (self.attrs.len() as u32 - attrs) as u16;
        if tag == Tag::Base && self.base.is_none() {
            let href =
                self.attrs[attrs as usize..].iter().find(|(attr, _)| *attr == AttrName::Href);
            self.base = href.map(|(_, value)| value.clone());
        }
        self.push(Kind::Element { tag, attrs, attr_count }, Some(name))
    }
}

/// Whether an element is a formula drawn for the eye, beside the same formula in MathML: KaTeX and
/// MathJax have both.
fn is_drawing(name: &LocalName, attr: &Attribute) -> bool {
    match attr.name.local {
        local_name!("class") => &*attr.value == "katex-html",
        local_name!("aria-hidden") => *name == local_name!("nobr") && &*attr.value == "true",
        _ => false,
    }
}

fn some(id: NodeId) -> Option<NodeId> {
    (id != NONE).then_some(id)
}

/// Builds a tree under html5ever's direction, up to a number of nodes and bytes of text.
pub(super) struct Builder {
    tree: RefCell<Tree>,
    max_nodes: usize,
    max_text: usize,
    /// Whether the page wanted more than it may have; the rest is not built.
    full: Cell<bool>,
}

impl Builder {
    pub(super) fn new(max_nodes: usize, max_text: usize) -> Builder {
        let mut tree = Tree::default();
        tree.push(Kind::Other, None);
        Builder { tree: RefCell::new(tree), max_nodes, max_text, full: Cell::new(false) }
    }

    pub(super) fn is_full(&self) -> bool {
        self.full.get()
    }

    fn grow(&self) -> std::cell::RefMut<'_, Tree> {
        let tree = self.tree.borrow_mut();
        if tree.nodes.len() >= self.max_nodes || tree.text.len() >= self.max_text {
            self.full.set(true);
        }
        tree
    }

    fn place(&self, parent: NodeId, next: NodeId, child: NodeOrText<NodeId>) {
        let mut tree = self.grow();
        match child {
            NodeOrText::AppendNode(id) => tree.insert(id, parent, next),
            NodeOrText::AppendText(text) => tree.insert_text(&text, parent, next),
        }
    }
}

/// The name of an element, borrowed from the tree.
pub(super) struct Name<'a>(Ref<'a, QualName>);

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.local.fmt(f)
    }
}

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// What `elem_name` answers for a node without a name; html5ever never asks.
static NAMELESS: QualName = QualName { prefix: None, ns: ns!(), local: local_name!("") };

impl TreeSink for Builder {
    type Handle = NodeId;
    type Output = Tree;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Tree {
        let mut tree = self.tree.into_inner();
        tree.names = Vec::new();
        tree
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        Tree::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name<'a> {
        Name(Ref::map(self.tree.borrow(), |tree| {
            tree.names[*target as usize].as_ref().unwrap_or(&NAMELESS)
        }))
    }

    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, _: ElementFlags) -> NodeId {
        self.grow().element(name, attrs)
    }

    fn create_comment(&self, _: StrTendril) -> NodeId {
        self.grow().push(Kind::Other, None)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> NodeId {
        self.grow().push(Kind::Other, None)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.place(*parent, NONE, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let parent = self.tree.borrow().parent(*element);
        match parent {
            Some(parent) => self.place(parent, *element, child),
            None => self.place(*previous, NONE, child),
        }
    }

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.tree.borrow().parent(*sibling);
        if let Some(parent) = parent {
            self.place(parent, *sibling, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        // A template is never shown, so its content needs no tree of its own.
        *target
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        x == y
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn add_attrs_if_missing(&self, _: &NodeId, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &NodeId) {
        self.tree.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let mut tree = self.tree.borrow_mut();
        while let Some(child) = tree.first_child(*node) {
            tree.insert(child, *new_parent, NONE);
        }
    }
}
