//! A value in a document: the handle that readers and rules hold.
//!
//! A [`Node`] is a reference to the document and a slot number. It follows YAML's aliases and merge
//! keys, so that code above this crate never has to distinguish `*defaults` from the object itself,
//! nor YAML from JSON. Two views exist on the members of an object:
//!
//! - [`Node::members`] and [`Node::get`] see what the document means, merged members included;
//! - [`Node::written_members`] sees the text, for code that reports or edits what stands there.
//!
//! Only [`Node::members`], [`Node::pointer`] and [`Node::to_json`] build new values; the other
//! methods read the arena in place.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::PoisonError;

use serde_json::Value as Json;

use crate::document::Document;
use crate::pointer::unescape_token;
use crate::tree::{NONE, NodeData, NodeId, NodeSlot, Style, Tree, ValueKind};
use crate::{DocumentPath, Span, number, value_text};

/// Objects with more members than this are searched by index; below it a scan is faster than
/// hashing, because most keys already differ in length.
const MANY_MEMBERS: usize = 64;

/// A value in a [`Document`]. Copy it freely: it is a reference and a number.
#[derive(Clone, Copy)]
pub struct Node<'d> {
    pub(crate) doc: &'d Document,
    pub(crate) id: NodeId,
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Member<'d> {
    /// The key, with its own place.
    pub key: Node<'d>,
    /// The value, with aliases followed.
    pub value: Node<'d>,
}

impl<'d> Member<'d> {
    /// The key's text.
    pub fn name(&self) -> &'d str {
        self.key.raw()
    }

    /// Whether the key is `name`. Readers compare hundreds of keys for each document, and most of
    /// them already differ in length, so the length is compared before any text is touched.
    pub fn is(&self, name: &str) -> bool {
        match self.key.slot().data {
            NodeData::Scalar { start, end, .. } if (end - start) as usize != name.len() => false,
            _ => self.name() == name,
        }
    }
}

impl<'d> Node<'d> {
    /// The node of another slot of the same document.
    fn at_id(self, id: NodeId) -> Node<'d> {
        Node { doc: self.doc, id }
    }

    fn tree(self) -> &'d Tree {
        &self.doc.tree
    }

    /// The slot itself; for an alias, that of the alias.
    pub(crate) fn slot(self) -> &'d NodeSlot {
        self.tree().slot(self.id)
    }

    /// The slot behind any aliases.
    fn target_slot(self) -> &'d NodeSlot {
        self.tree().slot(self.tree().resolve(self.id))
    }

    /// The value itself: for an alias the anchored one, with the span of its text.
    pub(crate) fn resolved(self) -> Node<'d> {
        self.at_id(self.tree().resolve(self.id))
    }

    /// The kind of the value; an alias has the kind of its target.
    pub fn kind(self) -> ValueKind {
        self.target_slot().kind
    }

    /// How it is written; an alias has the style of its target.
    pub fn style(self) -> Style {
        self.target_slot().style
    }

    /// Where it stands in the text; for an alias, where `*name` stands.
    pub fn span(self) -> Span {
        self.slot().span
    }

    /// The text of a scalar without quotes and escapes, whatever its type; empty for containers.
    pub fn raw(self) -> &'d str {
        self.tree().raw(self.id, self.doc.source().text())
    }

    /// The text, if it is a string.
    pub fn text(self) -> Option<&'d str> {
        (self.kind() == ValueKind::String).then(|| self.raw())
    }

    /// The truth value, if it is one.
    pub fn boolean(self) -> Option<bool> {
        (self.kind() == ValueKind::Bool).then(|| self.raw().eq_ignore_ascii_case("true"))
    }

    /// Items of a list; none for anything else.
    pub fn items(self) -> impl Iterator<Item = Node<'d>> {
        let id = self.tree().resolve(self.id);
        let list = self.tree().slot(id).kind == ValueKind::List;
        let children = list.then(|| self.tree().children(id));
        children.into_iter().flatten().map(move |id| self.at_id(id))
    }

    /// Members of an object in order, duplicates included; empty for anything else. Members that a
    /// YAML merge key (`<<`) brings in follow, unless the object has its own of that name.
    pub fn members(self) -> Vec<Member<'d>> {
        let mut out = Vec::with_capacity(self.len());
        out.extend(self.own_members());
        if self.has_merge_key() {
            let merged = self.merge_sources();
            // Own members win over merged ones, and of several merged objects the first wins (the
            // YAML merge-key specification), whichever order they stand in.
            out.retain(|e| !e.is_merge());
            let mut seen: HashSet<&str> = out.iter().map(Member::name).collect();
            out.extend(
                merged.into_iter().flat_map(Node::members).filter(|e| seen.insert(e.name())),
            );
        }
        out
    }

    /// Members that are written in the object itself, without the merge key and the members it
    /// brings in.
    pub fn written_members(self) -> impl Iterator<Item = Member<'d>> {
        let merges = self.has_merge_key();
        self.own_members().filter(move |entry| !(merges && entry.is_merge()))
    }

    /// Whether one of its keys is `<<`. The parser notes this once, so that the common object
    /// without one is read in a single pass.
    fn has_merge_key(self) -> bool {
        matches!(self.target_slot().data, NodeData::Container { merges: true, .. })
    }

    /// Pairs of key and value as they stand in the text, the merge key included.
    pub(crate) fn own_members(self) -> impl Iterator<Item = Member<'d>> {
        let id = self.tree().resolve(self.id);
        let map = self.tree().slot(id).kind == ValueKind::Map;
        let mut children = map.then(|| self.tree().children(id));
        std::iter::from_fn(move || {
            let children = children.as_mut()?;
            // The parsers never leave a key without a value, so no member is dropped here.
            let (key, value) = (children.next()?, children.next()?);
            Some(Member { key: self.at_id(key), value: self.at_id(value) })
        })
    }

    /// The values directly inside it in the text, without keys; aliases are not followed.
    pub(crate) fn child_values(self) -> impl Iterator<Item = Node<'d>> {
        let step = if self.slot().kind == ValueKind::Map { 2 } else { 1 };
        self.tree().children(self.id).skip(step - 1).step_by(step).map(move |id| self.at_id(id))
    }

    /// The objects that `<<` names, nearest first. Values that cannot be merged were reported by
    /// the YAML reader; their members are simply empty here.
    fn merge_sources(self) -> Vec<Node<'d>> {
        let values = self.own_members().filter(Member::is_merge).map(|e| e.value);
        values
            .flat_map(|value| match value.kind() {
                ValueKind::List => value.items().collect(),
                _ => vec![value],
            })
            .collect()
    }

    /// The value of member `name`; of duplicates the last, as most parsers have it.
    /// (`DUPLICATE_KEY` is reported either way.)
    pub fn get(self, name: &str) -> Option<Node<'d>> {
        self.member(name).map(|entry| entry.value)
    }

    /// Member `name` with its key.
    pub fn member(self, name: &str) -> Option<Member<'d>> {
        let own = if self.len() > MANY_MEMBERS {
            self.indexed_member(name)
        } else {
            self.last_member(name)
        };
        if own.is_some() || !self.has_merge_key() {
            return own;
        }
        self.merge_sources().into_iter().find_map(|map| map.member(name))
    }

    /// The last member of a name, by a scan over the slots. Written without the iterators above:
    /// readers look for hundreds of members in every document, and this loop is where they spend
    /// their time.
    fn last_member(self, name: &str) -> Option<Member<'d>> {
        let slots = self.tree().slots.as_slice();
        let target = self.target_slot();
        let (ValueKind::Map, NodeData::Container { first, .. }) = (target.kind, target.data) else {
            return None;
        };
        let (mut id, mut found) = (first, None);
        // `NONE` is past the end of the arena, so the lookup ends behind the last member.
        while let Some(key) = slots.get(id as usize)
            && let Some(value) = slots.get(key.next as usize)
        {
            let member = Member { key: self.at_id(id), value: self.at_id(key.next) };
            if member.is(name) {
                found = Some(member);
            }
            id = value.next;
        }
        found
    }

    /// [`Node::last_member`] for a large object, whose keys are indexed on first use.
    fn indexed_member(self, name: &str) -> Option<Member<'d>> {
        let id = self.tree().resolve(self.id);
        // A panic while the lock was held leaves the map whole: entries are inserted in one step.
        let mut indexes = self.tree().indexes.lock().unwrap_or_else(PoisonError::into_inner);
        let index = indexes.entry(id).or_insert_with(|| {
            self.own_members()
                .map(|entry| (entry.name().into(), (entry.key.id, entry.value.id)))
                .collect()
        });
        let (key, value) = *index.get(name)?;
        Some(Member { key: self.at_id(key), value: self.at_id(value) })
    }

    /// Whether it has member `name`.
    pub fn has(self, name: &str) -> bool {
        self.member(name).is_some()
    }

    /// The value `pointer` leads to from here, or the nearest one around it.
    pub fn nearest(self, pointer: &DocumentPath) -> Node<'d> {
        self.walk(pointer.as_str()).0
    }

    /// Follows the text of a pointer from here as far as it leads. Returns the last value on the
    /// way and the rest of the text that could not be followed, empty if all of it could. On text,
    /// not on a parsed pointer, so that a lookup allocates nothing.
    ///
    /// ```text
    /// {"a": {"b": 1}} and `/a/x/y`   ─▶   the value of `a`, and `/x/y`
    /// ```
    pub(crate) fn walk(self, pointer: &str) -> (Node<'d>, &str) {
        let (mut node, mut rest) = (self, pointer);
        while let Some(path) = rest.strip_prefix('/') {
            let end = path.as_bytes().iter().position(|byte| *byte == b'/').unwrap_or(path.len());
            let token = unescape_token(&path[..end]);
            let next = match node.kind() {
                ValueKind::Map => node.get(&token),
                ValueKind::List => index(&token).and_then(|n| node.items().nth(n)),
                _ => None,
            };
            let Some(next) = next else { break };
            node = next;
            rest = &path[end..];
        }
        (node, rest)
    }

    /// The value at `pointer` below this one.
    pub fn find(self, pointer: &DocumentPath) -> Option<Node<'d>> {
        let (node, rest) = self.walk(pointer.as_str());
        rest.is_empty().then_some(node)
    }

    /// The path to it. For a value below an alias it is the path of the anchored text, because a
    /// slot has one parent only.
    pub fn pointer(self) -> DocumentPath {
        let mut tokens = Vec::new();
        let mut node = self;
        while let Some(parent) = node.parent() {
            let tree = node.tree();
            // Only items of lists need their index; for members it would be a walk for nothing.
            let place = || tree.children(parent.id).position(|id| id == node.id).unwrap_or(0);
            tokens.push(match node.key() {
                Some(key) => Cow::Borrowed(key.raw()),
                None => Cow::Owned(place().to_string()),
            });
            node = parent;
        }
        DocumentPath::of(tokens.iter().rev().map(|token| Cow::Borrowed(&**token)))
    }

    /// For a key the value of its member, otherwise the node itself.
    pub(crate) fn value(self) -> Node<'d> {
        if self.slot().is_key { self.at_id(self.slot().next) } else { self }
    }

    /// The container it stands in; `None` for the root.
    pub fn parent(self) -> Option<Node<'d>> {
        let parent = self.slot().parent;
        (parent != NONE).then(|| self.at_id(parent))
    }

    /// The key of the member whose value this is; `None` for keys, items and the root. Keys are
    /// scalars, so a key's slot is the one right before its value's.
    pub fn key(self) -> Option<Node<'d>> {
        let parent = self.parent()?;
        // The root and items of lists have no key, and a key is not its own.
        let is_value = parent.slot().kind == ValueKind::Map && !self.slot().is_key;
        is_value.then(|| self.at_id(self.id.saturating_sub(1)))
    }

    /// The value as JSON, aliases and merge keys followed. A number that no machine type holds
    /// becomes the nearest double (`NUMBER_PRECISION` was reported when it was read), one beyond
    /// all doubles becomes `null`. Recursive: [`crate::MAX_DEPTH`] bounds the depth.
    pub fn to_json(self) -> Json {
        match self.kind() {
            ValueKind::Null => Json::Null,
            ValueKind::Bool => Json::Bool(self.boolean().unwrap_or(false)),
            ValueKind::Number => number::to_json(self.raw()),
            ValueKind::String => Json::String(self.raw().to_owned()),
            ValueKind::List => Json::Array(self.items().map(Node::to_json).collect()),
            ValueKind::Map => {
                let mut map = serde_json::Map::with_capacity(self.len());
                if self.has_merge_key() {
                    let entries = self.members();
                    map.extend(entries.iter().map(|e| (e.name().to_owned(), e.value.to_json())));
                } else {
                    map.extend(
                        self.own_members().map(|e| (e.name().to_owned(), e.value.to_json())),
                    );
                }
                Json::Object(map)
            }
        }
    }

    /// The numbers in this value that no machine type holds as they are written.
    pub fn inexact_numbers(self) -> Vec<Node<'d>> {
        let (mut found, mut waiting) = (Vec::new(), vec![self]);
        while let Some(node) = waiting.pop() {
            if node.kind() == ValueKind::Number && !number::is_exact(node.raw()) {
                found.push(node);
            }
            waiting.extend(node.child_values());
        }
        found.sort_by_key(|node| node.span().start);
        found
    }

    /// The value as JSON text, with two spaces for each level. Numbers that JSON can write are
    /// written as they are in the document, so none loses digits.
    pub fn json_text(self) -> String {
        let mut out = String::new();
        self.write_json(&mut out, 0);
        out
    }

    /// The recursion is bounded, because documents nest at most 128 levels.
    fn write_json(self, out: &mut String, depth: usize) {
        let next = |out: &mut String, n: usize| {
            out.push_str(if n == 0 { "\n" } else { ",\n" });
            out.extend(std::iter::repeat_n("  ", depth + 1));
        };
        let close = |out: &mut String, bracket: char| {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
            out.push(bracket);
        };
        match self.kind() {
            ValueKind::Number if number::is_json(self.raw()) => out.push_str(self.raw()),
            ValueKind::List if !self.is_empty() => {
                out.push('[');
                for (n, item) in self.items().enumerate() {
                    next(out, n);
                    item.write_json(out, depth + 1);
                }
                close(out, ']');
            }
            ValueKind::Map if !self.is_empty() => {
                out.push('{');
                for (n, member) in self.members().iter().enumerate() {
                    next(out, n);
                    out.push_str(&value_text::quoted(member.name()));
                    out.push_str(": ");
                    member.value.write_json(out, depth + 1);
                }
                close(out, '}');
            }
            _ => out.push_str(&self.to_json().to_string()),
        }
    }

    /// How many items or members it has.
    pub fn len(self) -> usize {
        match (self.target_slot().data, self.kind()) {
            (NodeData::Container { count, .. }, ValueKind::Map) => count as usize / 2,
            (NodeData::Container { count, .. }, _) => count as usize,
            _ => 0,
        }
    }

    /// Whether it is a container without members, or a scalar.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// A list index as RFC 6901 writes it: no sign, no leading zero. `usize::from_str` alone would
/// accept `+1` and `01`.
fn index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| plain)
}

impl Member<'_> {
    /// Whether the key is YAML's merge key. A quoted `"<<"` is an ordinary key. JSON has no plain
    /// keys, so this is never true there.
    pub(crate) fn is_merge(&self) -> bool {
        self.key.style() == Style::Plain && self.key.raw() == "<<"
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {:?}", self.kind(), self.span())
    }
}
