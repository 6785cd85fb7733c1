//! One tree for JSON and YAML: an arena of slots, read through [`Node`] handles.
//!
//! The tree keeps what a value-only parser loses: spans, key nodes, order, duplicates, raw scalar
//! text and style. Aliases are stored as references, never copied, and followed on the way.

use std::collections::HashSet;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value as Json;

use crate::document::Document;
use crate::{Pointer, Span, number};

pub(crate) type NodeId = u32;
pub(crate) const NONE: NodeId = NodeId::MAX;

/// What a value is, by the rules of JSON or YAML's core schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool,
    /// Any number; its text is in [`Node::raw`].
    Number,
    /// Text.
    String,
    /// A sequence.
    List,
    /// An object or mapping.
    Map,
}

impl Kind {
    /// The word messages use.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::List => "a list",
            Kind::Map => "an object",
        }
    }
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// `|` block scalar.
    Literal,
    /// `>` block scalar.
    Folded,
    /// `{…}` or `[…]`, in JSON always.
    Flow,
    /// An indented YAML collection.
    Block,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Data {
    /// Text range: in the source, or in `Tree::decoded` when `owned`.
    Scalar {
        start: u32,
        end: u32,
        owned: bool,
    },
    /// Children are linked through `next`; a map's alternate key and value.
    Container {
        first: NodeId,
        count: u32,
        merges: bool,
    },
    Alias {
        target: NodeId,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) span: Span,
    pub(crate) parent: NodeId,
    pub(crate) next: NodeId,
    pub(crate) kind: Kind,
    pub(crate) style: Style,
    pub(crate) is_key: bool,
    pub(crate) data: Data,
}

/// The arena. Slot 0 is the root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) slots: Vec<Slot>,
    pub(crate) decoded: String,
    pub(crate) comments: Vec<Span>,
    /// Members of large objects by name: a thousand findings in an object of a million keys must not
    /// be a thousand walks over it.
    indexes: Mutex<HashMap<NodeId, Index>>,
}

/// Key and value of the last member of each name.
type Index = HashMap<Box<str>, (NodeId, NodeId)>;

/// Above this an object's members are found by index.
const MANY_MEMBERS: usize = 64;

/// A container that is still being filled.
struct Open {
    id: NodeId,
    last: NodeId,
}

/// Fills a [`Tree`] in document order.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) tree: Tree,
    open: Vec<Open>,
}

impl Builder {
    pub(crate) fn with_capacity(slots: usize) -> Builder {
        let mut builder = Builder::default();
        builder.tree.slots.reserve(slots);
        builder
    }

    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.tree.slots.len() >= crate::MAX_NODES
    }

    /// The innermost open container and how many children it has.
    pub(crate) fn top(&self) -> Option<(NodeId, Kind, u32)> {
        let id = self.open.last()?.id;
        let slot = &self.tree.slots[id as usize];
        match slot.data {
            Data::Container { count, .. } => Some((id, slot.kind, count)),
            _ => None,
        }
    }

    /// The last child of the innermost open container.
    pub(crate) fn last_child(&self) -> Option<&Slot> {
        let last = self.open.last()?.last;
        self.tree.slots.get(last as usize)
    }

    /// Whether any open container is of `kind`.
    pub(crate) fn has_open(&self, kind: Kind) -> bool {
        self.open.iter().any(|o| self.tree.slots[o.id as usize].kind == kind)
    }

    pub(crate) fn add(&mut self, kind: Kind, style: Style, span: Span, data: Data) -> NodeId {
        let id = NodeId::try_from(self.tree.slots.len()).unwrap_or(NONE);
        let (mut parent, mut is_key) = (NONE, false);
        if let Some(open) = self.open.last_mut() {
            parent = open.id;
            let last = std::mem::replace(&mut open.last, id);
            if last != NONE {
                self.tree.slots[last as usize].next = id;
            }
            let slot = &mut self.tree.slots[parent as usize];
            if let Data::Container { first, count, .. } = &mut slot.data {
                is_key = slot.kind == Kind::Map && *count % 2 == 0;
                if last == NONE {
                    *first = id;
                }
                *count += 1;
            }
        }
        self.tree.slots.push(Slot { span, parent, next: NONE, kind, style, is_key, data });
        id
    }

    pub(crate) fn open(&mut self, kind: Kind, style: Style, span: Span) -> NodeId {
        let data = Data::Container { first: NONE, count: 0, merges: false };
        let id = self.add(kind, style, span, data);
        self.open.push(Open { id, last: NONE });
        id
    }

    /// Ends the innermost container at byte `end` and returns it.
    pub(crate) fn close(&mut self, end: usize) -> Option<NodeId> {
        let open = self.open.pop()?;
        let span = &mut self.tree.slots[open.id as usize].span;
        *span = Span::new(span.start as usize, end);
        Some(open.id)
    }

    /// Stores decoded text and returns where.
    pub(crate) fn intern(&mut self, text: &str) -> Data {
        let start = self.tree.decoded.len();
        self.tree.decoded.push_str(text);
        self.interned_from(start)
    }

    /// The text that was pushed to `decoded` since `start`.
    pub(crate) fn interned_from(&self, start: usize) -> Data {
        let span = Span::new(start, self.tree.decoded.len());
        Data::Scalar { start: span.start, end: span.end, owned: true }
    }

    /// A value that stands where one is missing.
    pub(crate) fn add_null(&mut self, at: usize) -> NodeId {
        let span = Span::new(at, at);
        let data = Data::Scalar { start: span.start, end: span.start, owned: false };
        self.add(Kind::Null, Style::Plain, span, data)
    }

    /// Pairs of key slots in the map `id` where the second repeats the first.
    pub(crate) fn duplicates(&self, id: NodeId, text: &str) -> Vec<(NodeId, NodeId)> {
        let Data::Container { count, .. } = self.tree.slots[id as usize].data else {
            return Vec::new();
        };
        if count <= 2 * 16 {
            return self.tree.few_duplicates(id, text);
        }
        let keys = self.tree.children(id).step_by(2);
        let mut keys: Vec<(&str, NodeId)> = keys.map(|k| (self.tree.raw(k, text), k)).collect();
        keys.sort_unstable();
        let groups = keys.chunk_by(|a, b| a.0 == b.0);
        let pairs_of = |same: &[(&str, NodeId)]| same[1..].iter().map(|k| (same[0].1, k.1)).collect();
        let mut pairs: Vec<_> = groups.flat_map::<Vec<_>, _>(pairs_of).collect();
        pairs.sort_unstable_by_key(|pair| pair.1);
        pairs
    }
}

impl Tree {
    fn few_duplicates(&self, id: NodeId, text: &str) -> Vec<(NodeId, NodeId)> {
        let mut seen: [(&str, NodeId); 16] = [("", NONE); 16];
        let mut found = Vec::new();
        for (n, key) in self.children(id).step_by(2).enumerate() {
            let name = self.raw(key, text);
            if let Some((_, first)) = seen[..n].iter().find(|(s, _)| *s == name) {
                found.push((*first, key));
            }
            if let Some(slot) = seen.get_mut(n) {
                *slot = (name, key);
            }
        }
        found
    }

    pub(crate) fn slot(&self, id: NodeId) -> &Slot {
        &self.slots[id as usize]
    }

    /// The slot behind any chain of aliases.
    pub(crate) fn resolve(&self, mut id: NodeId) -> NodeId {
        while let Data::Alias { target } = self.slot(id).data {
            id = target;
        }
        id
    }

    pub(crate) fn children(&self, id: NodeId) -> Children<'_> {
        let next = match self.slot(id).data {
            Data::Container { first, .. } => first,
            _ => NONE,
        };
        Children { tree: self, next }
    }

    /// The text of a scalar, decoded but not typed; empty for containers.
    pub(crate) fn raw<'t>(&'t self, id: NodeId, text: &'t str) -> &'t str {
        match self.slot(self.resolve(id)).data {
            Data::Scalar { start, end, owned } => {
                let from = if owned { self.decoded.as_str() } else { text };
                from.get(start as usize..end as usize).unwrap_or("")
            }
            _ => "",
        }
    }
}

pub(crate) struct Children<'t> {
    tree: &'t Tree,
    next: NodeId,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        if self.next == NONE {
            return None;
        }
        let id = self.next;
        self.next = self.tree.slot(id).next;
        Some(id)
    }
}

/// A value in a [`Document`]. Copy it freely; it is two words.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    pub(crate) doc: &'d Document,
    pub(crate) id: NodeId,
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'d> {
    /// The key, with its own place.
    pub key: Node<'d>,
    /// The value.
    pub value: Node<'d>,
}

impl<'d> Entry<'d> {
    /// The key's text.
    pub fn name(&self) -> &'d str {
        self.key.raw()
    }
}

impl<'d> Node<'d> {
    fn with(self, id: NodeId) -> Node<'d> {
        Node { doc: self.doc, id }
    }

    fn tree(self) -> &'d Tree {
        &self.doc.tree
    }

    pub(crate) fn slot(self) -> &'d Slot {
        self.tree().slot(self.id)
    }

    fn target(self) -> &'d Slot {
        self.tree().slot(self.tree().resolve(self.id))
    }

    /// The value itself, which for an alias is the anchored one.
    pub(crate) fn home(self) -> Node<'d> {
        self.with(self.tree().resolve(self.id))
    }

    /// What it is; an alias is what it refers to.
    pub fn kind(self) -> Kind {
        self.target().kind
    }

    /// How it is written.
    pub fn style(self) -> Style {
        self.target().style
    }

    /// Where it stands; an alias stands where `*name` does.
    pub fn span(self) -> Span {
        self.slot().span
    }

    /// The text of a scalar without quotes and escapes, whatever its type; empty for containers.
    pub fn raw(self) -> &'d str {
        self.tree().raw(self.id, self.doc.source().text())
    }

    /// The text, if it is a string.
    pub fn text(self) -> Option<&'d str> {
        (self.kind() == Kind::String).then(|| self.raw())
    }

    /// The truth value, if it is one.
    pub fn boolean(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw().eq_ignore_ascii_case("true"))
    }

    /// Items of a list; none for anything else.
    pub fn items(self) -> impl Iterator<Item = Node<'d>> {
        let id = self.tree().resolve(self.id);
        let list = self.tree().slot(id).kind == Kind::List;
        let children = list.then(|| self.tree().children(id));
        children.into_iter().flatten().map(move |id| self.with(id))
    }

    /// Members of an object in order, duplicates included; none for anything else. Members that
    /// a YAML merge key (`<<`) brings in follow, unless the object has its own.
    pub fn entries(self) -> Vec<Entry<'d>> {
        let mut out: Vec<Entry<'d>> = self.own_entries().collect();
        if self.merges() {
            let merged = self.merged();
            out.retain(|e| !e.is_merge());
            let mut seen: HashSet<&str> = out.iter().map(Entry::name).collect();
            out.extend(merged.into_iter().flat_map(Node::entries).filter(|e| seen.insert(e.name())));
        }
        out
    }

    fn merges(self) -> bool {
        matches!(self.target().data, Data::Container { merges: true, .. })
    }

    pub(crate) fn own_entries(self) -> impl Iterator<Item = Entry<'d>> {
        let id = self.tree().resolve(self.id);
        let map = self.tree().slot(id).kind == Kind::Map;
        let mut children = map.then(|| self.tree().children(id));
        std::iter::from_fn(move || {
            let children = children.as_mut()?;
            let (key, value) = (children.next()?, children.next()?);
            Some(Entry { key: self.with(key), value: self.with(value) })
        })
    }

    /// The values directly inside it in the text; aliases are not followed.
    pub(crate) fn own_members(self) -> impl Iterator<Item = Node<'d>> {
        let step = if self.slot().kind == Kind::Map { 2 } else { 1 };
        self.tree().children(self.id).skip(step - 1).step_by(step).map(move |id| self.with(id))
    }

    /// The maps that `<<` names, nearest first.
    fn merged(self) -> Vec<Node<'d>> {
        let values = self.own_entries().filter(Entry::is_merge).map(|e| e.value);
        values
            .flat_map(|value| match value.kind() {
                Kind::List => value.items().collect(),
                _ => vec![value],
            })
            .collect()
    }

    /// The value of member `name`; of duplicates the last, as most parsers have it.
    pub fn get(self, name: &str) -> Option<Node<'d>> {
        self.entry(name).map(|entry| entry.value)
    }

    /// Member `name` with its key.
    pub fn entry(self, name: &str) -> Option<Entry<'d>> {
        let own = if self.len() > MANY_MEMBERS {
            self.indexed_entry(name)
        } else {
            self.own_entries().filter(|e| e.name() == name).last()
        };
        if own.is_some() || !self.merges() {
            return own;
        }
        self.merged().into_iter().find_map(|map| map.entry(name))
    }

    /// The same for a large object, whose keys are indexed when they are first asked for.
    fn indexed_entry(self, name: &str) -> Option<Entry<'d>> {
        let id = self.tree().resolve(self.id);
        let mut indexes = self.tree().indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let index = indexes.entry(id).or_insert_with(|| {
            self.own_entries().map(|entry| (entry.name().into(), (entry.key.id, entry.value.id))).collect()
        });
        let (key, value) = *index.get(name)?;
        Some(Entry { key: self.with(key), value: self.with(value) })
    }

    /// Whether it has member `name`.
    pub fn has(self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// The value `pointer` leads to from here, and how many tokens of it could be followed.
    pub(crate) fn walk(self, pointer: &Pointer) -> (Node<'d>, usize) {
        let (mut node, mut steps) = (self, 0);
        for token in pointer.tokens() {
            let next = match node.kind() {
                Kind::Map => node.get(&token),
                Kind::List => index(&token).and_then(|n| node.items().nth(n)),
                _ => None,
            };
            let Some(next) = next else { break };
            node = next;
            steps += 1;
        }
        (node, steps)
    }

    /// The value at `pointer` below this one.
    pub fn find(self, pointer: &Pointer) -> Option<Node<'d>> {
        let (node, steps) = self.walk(pointer);
        (steps == pointer.tokens().count()).then_some(node)
    }

    /// The path to it. Below an alias it is the path of the anchored text, where the words are.
    pub fn pointer(self) -> Pointer {
        let mut tokens = Vec::new();
        let mut node = self;
        while let Some(parent) = node.parent() {
            let tree = node.tree();
            let place = || tree.children(parent.id).position(|id| id == node.id).unwrap_or(0);
            tokens.push(match node.key() {
                Some(key) => key.raw().to_owned(),
                None => place().to_string(),
            });
            node = parent;
        }
        tokens.iter().rev().fold(Pointer::root(), |at, token| at.child(token))
    }

    /// The value of the member whose key this is, or itself.
    pub(crate) fn value(self) -> Node<'d> {
        if self.slot().is_key { self.with(self.slot().next) } else { self }
    }

    /// The container it stands in.
    pub fn parent(self) -> Option<Node<'d>> {
        let parent = self.slot().parent;
        (parent != NONE).then(|| self.with(parent))
    }

    /// The key of the member whose value this is; `None` for keys and items. Keys are scalars, so a
    /// key's slot is the one right before its value's.
    pub fn key(self) -> Option<Node<'d>> {
        let parent = self.parent()?;
        let is_value = parent.slot().kind == Kind::Map && !self.slot().is_key;
        is_value.then(|| self.with(self.id.saturating_sub(1)))
    }

    /// The value as JSON, aliases followed. A number that no machine type holds becomes the
    /// nearest double (it was reported when it was read), one beyond all doubles becomes `null`.
    pub fn to_json(self) -> Json {
        match self.kind() {
            Kind::Null => Json::Null,
            Kind::Bool => Json::Bool(self.boolean().unwrap_or(false)),
            Kind::Number => number::to_json(self.raw()),
            Kind::String => Json::String(self.raw().to_owned()),
            Kind::List => Json::Array(self.items().map(Node::to_json).collect()),
            Kind::Map => {
                let mut map = serde_json::Map::with_capacity(self.len());
                if self.merges() {
                    let entries = self.entries();
                    map.extend(entries.iter().map(|e| (e.name().to_owned(), e.value.to_json())));
                } else {
                    map.extend(self.own_entries().map(|e| (e.name().to_owned(), e.value.to_json())));
                }
                Json::Object(map)
            }
        }
    }

    /// How many items or members it has.
    pub fn len(self) -> usize {
        match (self.target().data, self.kind()) {
            (Data::Container { count, .. }, Kind::Map) => count as usize / 2,
            (Data::Container { count, .. }, _) => count as usize,
            _ => 0,
        }
    }

    /// Whether it is a container without members, or a scalar.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A list index as RFC 6901 writes it: no sign, no leading zero.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| plain)
}

impl Entry<'_> {
    pub(crate) fn is_merge(&self) -> bool {
        self.key.style() == Style::Plain && self.key.raw() == "<<"
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {:?}", self.kind(), self.span())
    }
}
