//! One tree for JSON and YAML: an arena of slots, filled by a [`TreeBuilder`], read through
//! [`Node`](crate::Node) handles.
//!
//! The tree keeps what a value-only parser loses: spans, key nodes, order, duplicates, raw scalar
//! text and style. Aliases are stored as references, never copied, and followed on the way.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::Span;

pub(crate) type NodeId = u32;
pub(crate) const NONE: NodeId = NodeId::MAX;

/// What a value is, by the rules of JSON or YAML's core schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool,
    /// Any number; its text is in [`crate::Node::raw`].
    Number,
    /// Text.
    String,
    /// A sequence.
    List,
    /// An object or mapping.
    Map,
}

impl ValueKind {
    /// The word messages use.
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Null => "null",
            ValueKind::Bool => "a boolean",
            ValueKind::Number => "a number",
            ValueKind::String => "a string",
            ValueKind::List => "a list",
            ValueKind::Map => "an object",
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
pub(crate) enum NodeData {
    /// Text range: in the source, or in `Tree::decoded` when `owned`.
    Scalar {
        start: u32,
        end: u32,
        owned: bool,
    },
    /// ChildIds are linked through `next`; a map's alternate key and value.
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
pub(crate) struct NodeSlot {
    pub(crate) span: Span,
    pub(crate) parent: NodeId,
    pub(crate) next: NodeId,
    pub(crate) kind: ValueKind,
    pub(crate) style: Style,
    pub(crate) is_key: bool,
    pub(crate) data: NodeData,
}

/// The arena. NodeSlot 0 is the root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) slots: Vec<NodeSlot>,
    pub(crate) decoded: String,
    pub(crate) comments: Vec<Span>,
    /// Members of large objects by name: a thousand findings in an object of a million keys must
    /// not be a thousand walks over it.
    pub(crate) indexes: Mutex<HashMap<NodeId, MemberIndex>>,
}

/// Key and value of the last member of each name.
pub(crate) type MemberIndex = HashMap<Box<str>, (NodeId, NodeId)>;

/// A container that is still being filled.
struct OpenContainer {
    id: NodeId,
    last: NodeId,
}

/// Fills a [`Tree`] in document order.
#[derive(Default)]
pub(crate) struct TreeBuilder {
    pub(crate) tree: Tree,
    open: Vec<OpenContainer>,
}

impl TreeBuilder {
    pub(crate) fn with_capacity(slots: usize) -> TreeBuilder {
        let mut builder = TreeBuilder::default();
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
    pub(crate) fn top(&self) -> Option<(NodeId, ValueKind, u32)> {
        let id = self.open.last()?.id;
        let slot = &self.tree.slots[id as usize];
        match slot.data {
            NodeData::Container { count, .. } => Some((id, slot.kind, count)),
            _ => None,
        }
    }

    /// The last child of the innermost open container.
    pub(crate) fn last_child(&self) -> Option<&NodeSlot> {
        let last = self.open.last()?.last;
        self.tree.slots.get(last as usize)
    }

    /// Whether any open container is of `kind`.
    pub(crate) fn has_open(&self, kind: ValueKind) -> bool {
        self.open.iter().any(|o| self.tree.slots[o.id as usize].kind == kind)
    }

    pub(crate) fn add(
        &mut self,
        kind: ValueKind,
        style: Style,
        span: Span,
        data: NodeData,
    ) -> NodeId {
        let id = NodeId::try_from(self.tree.slots.len()).unwrap_or(NONE);
        let (mut parent, mut is_key) = (NONE, false);
        if let Some(open) = self.open.last_mut() {
            parent = open.id;
            let last = std::mem::replace(&mut open.last, id);
            if last != NONE {
                self.tree.slots[last as usize].next = id;
            }
            let slot = &mut self.tree.slots[parent as usize];
            if let NodeData::Container { first, count, .. } = &mut slot.data {
                is_key = slot.kind == ValueKind::Map && *count % 2 == 0;
                if last == NONE {
                    *first = id;
                }
                *count += 1;
            }
        }
        self.tree.slots.push(NodeSlot { span, parent, next: NONE, kind, style, is_key, data });
        id
    }

    pub(crate) fn open(&mut self, kind: ValueKind, style: Style, span: Span) -> NodeId {
        let data = NodeData::Container { first: NONE, count: 0, merges: false };
        let id = self.add(kind, style, span, data);
        self.open.push(OpenContainer { id, last: NONE });
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
    pub(crate) fn intern(&mut self, text: &str) -> NodeData {
        let start = self.tree.decoded.len();
        self.tree.decoded.push_str(text);
        self.interned_from(start)
    }

    /// The text that was pushed to `decoded` since `start`.
    pub(crate) fn interned_from(&self, start: usize) -> NodeData {
        let span = Span::new(start, self.tree.decoded.len());
        NodeData::Scalar { start: span.start, end: span.end, owned: true }
    }

    /// A value that stands where one is missing.
    pub(crate) fn add_null(&mut self, at: usize) -> NodeId {
        let span = Span::new(at, at);
        let data = NodeData::Scalar { start: span.start, end: span.start, owned: false };
        self.add(ValueKind::Null, Style::Plain, span, data)
    }

    /// Pairs of key slots in the map `id` where the second repeats the first.
    pub(crate) fn duplicates(&self, id: NodeId, text: &str) -> Vec<(NodeId, NodeId)> {
        let NodeData::Container { count, .. } = self.tree.slots[id as usize].data else {
            return Vec::new();
        };
        if count <= 2 * 16 {
            return self.tree.duplicates_among_few(id, text);
        }
        let keys = self.tree.children(id).step_by(2);
        let mut keys: Vec<(&str, NodeId)> = keys.map(|k| (self.tree.raw(k, text), k)).collect();
        keys.sort_unstable();
        let groups = keys.chunk_by(|a, b| a.0 == b.0);
        let pairs_of =
            |same: &[(&str, NodeId)]| same[1..].iter().map(|k| (same[0].1, k.1)).collect();
        let mut pairs: Vec<_> = groups.flat_map::<Vec<_>, _>(pairs_of).collect();
        pairs.sort_unstable_by_key(|pair| pair.1);
        pairs
    }
}

impl Tree {
    fn duplicates_among_few(&self, id: NodeId, text: &str) -> Vec<(NodeId, NodeId)> {
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

    pub(crate) fn slot(&self, id: NodeId) -> &NodeSlot {
        &self.slots[id as usize]
    }

    /// The slots that aliases lead to.
    pub(crate) fn aliased(&self) -> impl Iterator<Item = NodeId> + '_ {
        let targets = self.slots.iter().filter_map(|slot| match slot.data {
            NodeData::Alias { target } => Some(target),
            _ => None,
        });
        targets.map(|target| self.resolve(target))
    }

    /// The slot behind any chain of aliases.
    pub(crate) fn resolve(&self, mut id: NodeId) -> NodeId {
        while let NodeData::Alias { target } = self.slot(id).data {
            id = target;
        }
        id
    }

    pub(crate) fn children(&self, id: NodeId) -> ChildIds<'_> {
        let next = match self.slot(id).data {
            NodeData::Container { first, .. } => first,
            _ => NONE,
        };
        ChildIds { tree: self, next }
    }

    /// The text of a scalar, decoded but not typed; empty for containers.
    pub(crate) fn raw<'t>(&'t self, id: NodeId, text: &'t str) -> &'t str {
        match self.slot(self.resolve(id)).data {
            NodeData::Scalar { start, end, owned } => {
                let from = if owned { self.decoded.as_str() } else { text };
                from.get(start as usize..end as usize).unwrap_or("")
            }
            _ => "",
        }
    }
}

pub(crate) struct ChildIds<'t> {
    tree: &'t Tree,
    next: NodeId,
}

impl Iterator for ChildIds<'_> {
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
