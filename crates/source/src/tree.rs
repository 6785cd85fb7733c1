//! One tree for JSON and YAML: an arena of slots, filled by a [`TreeBuilder`], read through
//! [`Node`](crate::Node) handles.
//!
//! The tree keeps what a value-only parser loses: spans, key nodes, order, duplicates, the raw text
//! of scalars and their style. `{"a": [1, 2]}` becomes five slots, in the order of the text:
//!
//! ```text
//! id     0: map ──first──▶ 1: key "a" ──next──▶ 2: list ──first──▶ 3: 1 ──next──▶ 4: 2
//! parent    –                 0                    0                  2              2
//! ```
//!
//! Keys and values of a map alternate in one chain of siblings. A key is a scalar and has no
//! children, so its slot is always the one right before its value's; `Node::key` relies on that. An
//! alias is stored as a reference to the anchored slot and never copied, which keeps a tree as
//! small as its text. Nothing here parses, and no slot is removed or moved once it is added.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::Span;

/// An index into [`Tree::slots`]. Four bytes instead of eight, because a slot holds several.
pub(crate) type NodeId = u32;
/// Stands for "no slot" (no parent, no next sibling, no child); [`crate::MAX_NODES`] is far below.
pub(crate) const NONE: NodeId = NodeId::MAX;

/// What a value is, by the rules of JSON or YAML's core schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`, `~`, an empty YAML value, or a value that could not be read.
    Null,
    /// `true` or `false`.
    Bool,
    /// Any number. It stays text ([`crate::Node::raw`]), because converting it may lose digits.
    Number,
    /// Text, in quotes or not.
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

/// How a value is written. Edits keep the style of the value or key that they replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: numbers and words of JSON, plain scalars of YAML, and aliases.
    Plain,
    /// `'…'`, which YAML folds over lines and JSON does not have.
    Single,
    /// `"…"`, with escapes.
    Double,
    /// A `|` block scalar: line breaks are kept.
    Literal,
    /// A `>` block scalar: single line breaks become spaces.
    Folded,
    /// `{…}` or `[…]`, in JSON always.
    Flow,
    /// An indented YAML collection.
    Block,
}

/// What a slot holds besides its place. Small on purpose, see [`NodeSlot`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeData {
    /// A range of text: in the source, or in [`Tree::decoded`] when `owned`. Text without escapes
    /// stays in the source, so most strings are never copied.
    Scalar { start: u32, end: u32, owned: bool },
    /// A map or a list. Its children are linked through `next`; `count` counts keys and values of a
    /// map separately. `merges` is set if one of its keys is YAML's `<<`.
    Container { first: NodeId, count: u32, merges: bool },
    /// A YAML alias; `target` is the slot of the anchored value.
    Alias { target: NodeId },
}

/// One value or key. 32 bytes: the size of a slot decides how many documents fit into memory when
/// `check` holds thousands of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeSlot {
    pub(crate) span: Span,
    /// The container it is in; [`NONE`] for the root.
    pub(crate) parent: NodeId,
    /// The next sibling; [`NONE`] for the last one.
    pub(crate) next: NodeId,
    /// For an alias, the kind of its target.
    pub(crate) kind: ValueKind,
    pub(crate) style: Style,
    /// Whether it is the key of a member rather than a value.
    pub(crate) is_key: bool,
    pub(crate) data: NodeData,
}

/// The arena. Slot 0 is the root, and the slots are in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) slots: Vec<NodeSlot>,
    /// The text of all scalars that had escapes, quotes inside or folded lines, one after another.
    pub(crate) decoded: String,
    /// Where comments stand, in order. Fixes that touch one are unsafe, and `check` reads its
    /// silences from them.
    pub(crate) comments: Vec<Span>,
    /// Members of large objects by name, made on first use: a thousand findings in an object of a
    /// million keys must not become a thousand walks over it. Behind a lock because documents are
    /// read from several threads.
    pub(crate) indexes: Mutex<HashMap<NodeId, MemberIndex>>,
}

/// The key and the value of the last member of each name.
pub(crate) type MemberIndex = HashMap<Box<str>, (NodeId, NodeId)>;

/// A container that is still being filled. `last` is its last child so far, to which the next one
/// is linked; [`NONE`] while it has no children.
struct OpenContainer {
    id: NodeId,
    last: NodeId,
}

/// Fills a [`Tree`] in the order of the text. Both parsers drive it; the stack of open containers
/// is here, so that neither of them needs recursion.
#[derive(Default)]
pub(crate) struct TreeBuilder {
    pub(crate) tree: Tree,
    open: Vec<OpenContainer>,
}

impl TreeBuilder {
    /// A builder with room for `slots` slots, as estimated from the length of the text.
    pub(crate) fn with_capacity(slots: usize) -> TreeBuilder {
        let mut builder = TreeBuilder::default();
        builder.tree.slots.reserve(slots);
        builder
    }

    /// How many containers are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether the document has as many values as it may have; the parser stops then.
    pub(crate) fn is_full(&self) -> bool {
        self.tree.slots.len() >= crate::MAX_NODES
    }

    /// The innermost open container, its kind, and how many children it has so far (in a map keys
    /// and values count separately, so that an odd number means that a value is due).
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

    /// Whether any open container is of `kind`: a closing bracket without one closes nothing.
    pub(crate) fn has_open(&self, kind: ValueKind) -> bool {
        self.open.iter().any(|o| self.tree.slots[o.id as usize].kind == kind)
    }

    /// Appends a value (or, in a map where a key is due, a key) to the innermost open container.
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
            // Link it behind the last child; the parent links only its first one.
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

    /// Appends an empty container and makes it the innermost one. Its span is only a start until
    /// [`TreeBuilder::close`].
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

    /// The text that was pushed to [`Tree::decoded`] since `start`, for a parser that decodes
    /// straight into it.
    pub(crate) fn interned_from(&self, start: usize) -> NodeData {
        let span = Span::new(start, self.tree.decoded.len());
        NodeData::Scalar { start: span.start, end: span.end, owned: true }
    }

    /// Adds an empty `null` where the text lacks a value, so that keys and values still alternate.
    pub(crate) fn add_null(&mut self, at: usize) -> NodeId {
        let span = Span::new(at, at);
        let data = NodeData::Scalar { start: span.start, end: span.start, owned: false };
        self.add(ValueKind::Null, Style::Plain, span, data)
    }

    /// Pairs of key slots in the map `id`, in the order of the text: the first key of a name, and
    /// another one that repeats it. Linear or `n log n`, because a hostile document may have a
    /// million equal keys.
    pub(crate) fn duplicates(&self, id: NodeId, text: &str) -> Vec<(NodeId, NodeId)> {
        let NodeData::Container { count, .. } = self.tree.slots[id as usize].data else {
            return Vec::new();
        };
        // Nearly all objects are small, and comparing each key with the few before it needs no
        // memory.
        if count <= 2 * 16 {
            return self.tree.duplicates_among_few(id, text);
        }
        let keys = self.tree.children(id).step_by(2);
        let mut keys: Vec<(&str, NodeId)> = keys.map(|k| (self.tree.raw(k, text), k)).collect();
        // Sorted by name and then by id, so that the first of each group is the first in the text.
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
    /// [`TreeBuilder::duplicates`] for at most 16 members, without allocation.
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

    /// The slot of an id. Ids come from the builder of this tree, so the index is always valid.
    pub(crate) fn slot(&self, id: NodeId) -> &NodeSlot {
        &self.slots[id as usize]
    }

    /// The slots that aliases lead to: editing one of them changes several places at once.
    pub(crate) fn aliased(&self) -> impl Iterator<Item = NodeId> + '_ {
        let targets = self.slots.iter().filter_map(|slot| match slot.data {
            NodeData::Alias { target } => Some(target),
            _ => None,
        });
        targets.map(|target| self.resolve(target))
    }

    /// The slot behind any chain of aliases. The chain ends, because an alias can only refer to a
    /// value before it in the text (a cycle is reported and read as `null`).
    pub(crate) fn resolve(&self, mut id: NodeId) -> NodeId {
        while let NodeData::Alias { target } = self.slot(id).data {
            id = target;
        }
        id
    }

    /// The children of a container in order, keys and values alternating in a map; none for a
    /// scalar or an alias.
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

/// The ids of a container's children, see [`Tree::children`].
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
