//! The source schema as the rewrites read it: a tree in 2020-12, in which every part knows its
//! place in the document and every reference its definition.
//!
//! Rewrites move parts of a schema (merging `allOf`, inlining a definition), and a report has to
//! name where each part was written. So places travel with the parts. Parts are shared, not
//! copied: a definition that is inlined a hundred times is one tree.
//!
//! Draft-07 becomes 2020-12 here, which is exact: both dialects can say the same in other words.
//! Rewrites for a target are deliberately absent.
//!
//! ```text
//! Value ── reference_targets ──▶ where each `$ref` leads
//!   │ TreeReader::node, one keyword after the other
//!   ▼
//! SourceTree { root, definitions, places }
//! ```
//!
//! A definition is read once, when the first reference to it is met, and then has a number: a
//! `$ref` is that number from here on. Definitions that nothing refers to are not read at all.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::{ChangeAction, ChangeList, ChangeReport, TooLarge, VendorFact};
use crate::limits::MAX_SUBSCHEMAS;
use crate::subschema_graph::{self, EdgeOrigin};
use crate::subschema_keywords::{self, keyword_value};
pub(super) use crate::vendors::keywords::BOTH;
use crate::vendors::keywords::{KeywordShape, KeywordTraits, name_hash, traits_of};
use crate::vendors::type_set::TypeSet;
use crate::{Dialect, pointer};

/// Keywords of one subschema above which the schema is not rewritten: looking one up is linear.
const MAX_KEYWORDS: usize = 1_000;

/// Definitions above which the schema is not rewritten: finding the recursive ones is quadratic.
const MAX_DEFINITIONS: usize = 2_000;

/// A place in the source document, an index into [`SourceTree::places`].
///
/// Places are numbered even if no change is reported: rewrites ask whether a node is at the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SourcePlace(u32);

impl SourcePlace {
    /// The root of the document.
    pub(super) const ROOT: SourcePlace = SourcePlace(0);
}

/// A text or value that is a part of the source, or that a rewrite made.
#[derive(Debug)]
pub(super) enum Shared<'s, T: ?Sized> {
    /// A part of the document, not copied until it is written.
    Source(&'s T),
    /// Made by a rewrite, such as a description with words added.
    Made(Rc<T>),
}

// By hand, because the derived one would ask for `T: Clone`.
impl<T: ?Sized> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Shared::Source(part) => Shared::Source(part),
            Shared::Made(part) => Shared::Made(part.clone()),
        }
    }
}

impl<T: ?Sized> Deref for Shared<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Shared::Source(part) => part,
            Shared::Made(part) => part,
        }
    }
}

impl<'s, T: ?Sized> From<&'s T> for Shared<'s, T> {
    fn from(part: &'s T) -> Self {
        Shared::Source(part)
    }
}

// What a rewrite makes: texts and values of its own.
impl From<String> for Shared<'_, str> {
    fn from(text: String) -> Self {
        Shared::Made(text.into())
    }
}

impl From<Value> for Shared<'_, Value> {
    fn from(value: Value) -> Self {
        Shared::Made(Rc::new(value))
    }
}

// Equal texts are equal, wherever they come from.
impl PartialEq for Shared<'_, str> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Shared<'_, str> {}

impl Hash for Shared<'_, str> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

// Maps by name are searched with a `&str`. Hash and equality above are those of `str`, as `Borrow`
// demands.
impl Borrow<str> for Shared<'_, str> {
    fn borrow(&self) -> &str {
        self
    }
}

/// A subschema.
///
/// Cloning one is cheap: keywords are behind an `Rc`. Rewrites clone a node and change the clone.
#[derive(Debug, Clone)]
pub(super) enum SchemaNode<'s> {
    /// `true`: everything matches.
    All(SourcePlace),
    /// `false`: nothing matches.
    Nothing(SourcePlace),
    /// An object. It may be empty, which means the same as `true`.
    Keywords(Rc<NodeKeywords<'s>>),
}

/// The keywords of a subschema, in the order they are written. A list, not a map: nodes have few
/// keywords, and a rewrite must not change their order.
#[derive(Debug, Clone)]
pub(super) struct NodeKeywords<'s> {
    /// Of the subschema; that of the first one if a rewrite merged several.
    pub place: SourcePlace,
    list: Vec<NodeKeyword<'s>>,
    /// The keywords that were ever in the list, and others by chance.
    names: NameFilter,
}

/// One keyword, with the name that it has in 2020-12. `place` is where it is written in the source,
/// which may be under an older name.
#[derive(Debug, Clone)]
pub(super) struct NodeKeyword<'s> {
    /// A standard name, one that no specification knows, or [`BOTH`].
    pub name: KeywordName<'s>,
    pub place: SourcePlace,
    pub content: NodeContent<'s>,
}

/// The name of a keyword, and what is known about it. Every rewrite asks that of every keyword.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeywordName<'s> {
    text: &'s str,
    traits: &'static KeywordTraits,
}

impl<'s> From<&'s str> for KeywordName<'s> {
    fn from(text: &'s str) -> Self {
        KeywordName { text, traits: traits_of(text) }
    }
}

impl Deref for KeywordName<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.text
    }
}

/// A set of names that may contain others by chance: one bit for each hash. Most keywords that a
/// rewrite looks for are missing, and this filter shows it without comparing texts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NameFilter(u64);

impl NameFilter {
    #[inline]
    const fn of(name: &str) -> NameFilter {
        NameFilter(1 << (name_hash(name) % u64::BITS))
    }

    /// The names of a list.
    pub(super) const fn of_all(names: &[&str]) -> NameFilter {
        let (mut filter, mut n) = (NameFilter(0), 0);
        while n < names.len() {
            filter.0 |= NameFilter::of(names[n]).0;
            n += 1;
        }
        filter
    }

    fn add(&mut self, name: &str) {
        self.0 |= NameFilter::of(name).0;
    }

    #[inline]
    const fn may_share_any(self, other: NameFilter) -> bool {
        self.0 & other.0 != 0
    }
}

/// What a keyword holds, by the shape of the keyword and not by that of the value: an unknown
/// keyword is `Data`, whatever is in it.
#[derive(Debug, Clone)]
pub(super) enum NodeContent<'s> {
    /// A value without subschemas, such as that of `type`, `enum` or an unknown keyword.
    Data(Shared<'s, Value>),
    /// `items`, `not`, `additionalProperties` and the like.
    One(SchemaNode<'s>),
    /// `allOf`, `anyOf`, `oneOf` and `prefixItems`.
    List(Rc<[SchemaNode<'s>]>),
    /// `properties`, `patternProperties` and `dependentSchemas`.
    Named(NamedNodes<'s>),
    /// The index of a definition; `None` if the reference leads to nothing in this document.
    Reference(Option<usize>),
}

/// Subschemas by name.
pub(super) type NamedNodes<'s> = Rc<[(Shared<'s, str>, SchemaNode<'s>)]>;

/// A subschema that references lead to.
#[derive(Debug)]
pub(super) struct SchemaDefinition<'s> {
    /// Its name under `$defs`.
    /// It is unique in the tree, and consists of characters that need no escaping in a pointer.
    pub name: String,
    /// As read. It may refer to other definitions, and to itself, by their index.
    pub node: SchemaNode<'s>,
    /// Whether it leads back to itself. References to it can be kept, but not inlined without end.
    pub is_recursive: bool,
}

/// The whole document.
#[derive(Debug)]
pub(super) struct SourceTree<'s> {
    /// The document itself. Its `$defs` are not among its keywords.
    pub root: SchemaNode<'s>,
    /// By the index in [`NodeContent::Reference`], in the order in which references led to them.
    pub definitions: Vec<SchemaDefinition<'s>>,
    /// The place above each place, and its last token. Empty if no change is reported.
    places: Vec<(SourcePlace, Shared<'s, str>)>,
}

impl<'s> SourceTree<'s> {
    /// Reads a schema. What the change of dialect leaves out goes to `changes`.
    ///
    /// Recursive. The caller has measured the depth of the document and provides the stack.
    /// Definitions are read in a loop, each after the part that refers to it, so a chain of
    /// references does not add to the depth.
    ///
    /// # Errors
    /// More subschemas, definitions or keywords in one subschema than the limits above.
    pub(super) fn read(
        document: &'s Value,
        dialect: Dialect,
        changes: &mut ChangeList,
    ) -> Result<SourceTree<'s>, TooLarge> {
        let mut reader = TreeReader {
            document,
            dialect,
            targets: None,
            indices: HashMap::new(),
            pending: Vec::new(),
            places: Vec::new(),
            next_place: 0,
            subschemas: 0,
            changes,
        };
        reader.below(SourcePlace::ROOT, || "".into());
        let root = reader.node(document, dialect, SourcePlace::ROOT)?;
        let mut definitions = Vec::new();
        // Reading a definition may add more.
        while let Some(at) = reader.pending.get(definitions.len()).cloned() {
            let place = reader.place_of(&at);
            let node = match document.pointer(&at) {
                Some(value) => reader.node(value, dialect, place)?,
                None => SchemaNode::All(place),
            };
            if definitions.len() == MAX_DEFINITIONS {
                return Err(TooLarge);
            }
            let name = unused_name(&definitions, &at);
            definitions.push(SchemaDefinition { name, node, is_recursive: false });
        }
        reader.report_unused_definitions(document);
        let places = reader.places;
        mark_recursive(&mut definitions);
        Ok(SourceTree { root, definitions, places })
    }

    /// The JSON pointer of a place.
    pub(super) fn pointer(&self, place: SourcePlace) -> String {
        spell_out(&self.places, place)
    }
}

/// The JSON pointer of a place: its last token, preceded by that of the place above, up to the
/// root. Without a list of places, only the root can be spelled out.
fn spell_out(places: &[(SourcePlace, Shared<'_, str>)], place: SourcePlace) -> String {
    let mut tokens = Vec::new();
    let mut place = place;
    while place != SourcePlace::ROOT {
        let (above, token) = &places[place.0 as usize];
        tokens.push(token);
        place = *above;
    }
    let mut pointer = String::new();
    tokens.into_iter().rev().for_each(|token| pointer::extend(&mut pointer, token));
    pointer
}

impl<'s> SchemaNode<'s> {
    pub(super) fn place(&self) -> SourcePlace {
        match self {
            SchemaNode::All(place) | SchemaNode::Nothing(place) => *place,
            SchemaNode::Keywords(keywords) => keywords.place,
        }
    }

    /// The keywords; `None` for `true` and `false`.
    pub(super) fn keywords(&self) -> Option<&NodeKeywords<'s>> {
        match self {
            SchemaNode::Keywords(keywords) => Some(keywords),
            _ => None,
        }
    }

    /// The node as JSON Schema, with references as `#/$defs/…`; `None` if it has more than
    /// `budget` subschemas and values.
    ///
    /// The budget keeps a text for a description, or a comparison of two items, from growing with
    /// the schema. The definitions are not in the result, so a caller that compiles it gets an
    /// error if there is a reference.
    pub(super) fn to_value(
        &self,
        definitions: &[SchemaDefinition<'s>],
        budget: &mut usize,
    ) -> Option<Value> {
        *budget = budget.checked_sub(1)?;
        let SchemaNode::Keywords(keywords) = self else {
            return Some(Value::Bool(matches!(self, SchemaNode::All(_))));
        };
        let mut members = Map::new();
        for keyword in keywords.iter() {
            *budget = budget.checked_sub(1)?;
            let value = match &keyword.content {
                NodeContent::Data(value) => Value::clone(value),
                NodeContent::One(node) => node.to_value(definitions, budget)?,
                NodeContent::List(nodes) => nodes
                    .iter()
                    .map(|node| node.to_value(definitions, budget))
                    .collect::<Option<_>>()?,
                NodeContent::Named(nodes) => {
                    let named = nodes.iter().map(|(name, node)| {
                        Some((name.to_string(), node.to_value(definitions, budget)?))
                    });
                    Value::Object(named.collect::<Option<_>>()?)
                }
                NodeContent::Reference(index) => {
                    let name = index.and_then(|index| definitions.get(index)).map(|it| &*it.name);
                    Value::String(format!("#/$defs/{}", name.unwrap_or_default()))
                }
            };
            let name = if &*keyword.name == BOTH { "allOf" } else { &*keyword.name };
            members.insert(name.to_owned(), value);
        }
        Some(Value::Object(members))
    }
}

impl<'s> NodeKeyword<'s> {
    /// Whether it can make a value invalid. All others describe.
    pub(super) fn is_assertion(&self) -> bool {
        self.name.traits.is_assertion
    }

    /// The types of the values that it is about; `None` if it is about all.
    pub(super) fn about(&self) -> Option<TypeSet> {
        self.name.traits.about
    }

    /// What the targets do with it, unless that depends on its value.
    pub(super) fn fact(&self) -> Option<&'static VendorFact> {
        self.name.traits.fact
    }
}

impl<'k, 's> IntoIterator for &'k NodeKeywords<'s> {
    type Item = &'k NodeKeyword<'s>;
    type IntoIter = std::slice::Iter<'k, NodeKeyword<'s>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<'s> IntoIterator for NodeKeywords<'s> {
    type Item = NodeKeyword<'s>;
    type IntoIter = std::vec::IntoIter<NodeKeyword<'s>>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'s> NodeKeywords<'s> {
    /// No keywords: a node that a rewrite builds.
    pub(super) fn new(place: SourcePlace) -> NodeKeywords<'s> {
        NodeKeywords::with_capacity(place, 0)
    }

    fn with_capacity(place: SourcePlace, keywords: usize) -> NodeKeywords<'s> {
        let list = Vec::with_capacity(keywords);
        NodeKeywords { place, list, names: NameFilter::default() }
    }

    /// Some keywords in a schema of their own.
    pub(super) fn of(
        place: SourcePlace,
        keywords: impl IntoIterator<Item = NodeKeyword<'s>>,
    ) -> NodeKeywords<'s> {
        let mut own = NodeKeywords::new(place);
        keywords.into_iter().for_each(|keyword| own.push(keyword));
        own
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, NodeKeyword<'s>> {
        self.list.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// `false` if certainly none of the names is that of a keyword.
    #[inline]
    pub(super) fn may_have_any(&self, names: NameFilter) -> bool {
        self.names.may_share_any(names)
    }

    /// Linear, because nodes have few keywords: `MAX_KEYWORDS` bounds those of hostile ones.
    #[inline]
    fn index_of(&self, name: &str) -> Option<usize> {
        match self.may_have_any(NameFilter::of(name)) {
            true => self.list.iter().position(|keyword| &*keyword.name == name),
            false => None,
        }
    }

    #[inline]
    pub(super) fn get(&self, name: &str) -> Option<&NodeKeyword<'s>> {
        self.index_of(name).map(|index| &self.list[index])
    }

    #[inline]
    pub(super) fn has(&self, name: &str) -> bool {
        self.index_of(name).is_some()
    }

    /// Adds a keyword that the schema does not have.
    pub(super) fn push(&mut self, keyword: NodeKeyword<'s>) {
        self.names.add(&keyword.name);
        self.list.push(keyword);
    }

    /// Adds a keyword before all others.
    pub(super) fn prepend(&mut self, keyword: NodeKeyword<'s>) {
        self.names.add(&keyword.name);
        self.list.insert(0, keyword);
    }

    /// Moves the last keyword before all others.
    pub(super) fn last_to_front(&mut self) {
        self.list.rotate_right(1);
    }

    /// Keeps the keywords that `is_kept` selects.
    pub(super) fn retain(&mut self, is_kept: impl FnMut(&NodeKeyword<'s>) -> bool) {
        self.list.retain(is_kept);
    }

    /// Gives a keyword another name and content, where it is written.
    pub(super) fn replace(&mut self, name: &str, new_name: &'static str, content: NodeContent<'s>) {
        let Some(index) = self.index_of(name) else { return };
        self.names.add(new_name);
        self.list[index].name = new_name.into();
        self.list[index].content = content;
    }

    /// The value of a keyword that holds no subschemas.
    pub(super) fn data(&self, name: &str) -> Option<&Value> {
        match &self.get(name)?.content {
            NodeContent::Data(value) => Some(value),
            _ => None,
        }
    }

    /// The subschema of a keyword that holds one.
    pub(super) fn one(&self, name: &str) -> Option<&SchemaNode<'s>> {
        match &self.get(name)?.content {
            NodeContent::One(node) => Some(node),
            _ => None,
        }
    }

    /// The subschemas of a keyword that holds a list; empty without it.
    pub(super) fn nodes(&self, name: &str) -> Rc<[SchemaNode<'s>]> {
        match self.get(name).map(|keyword| &keyword.content) {
            Some(NodeContent::List(nodes)) => nodes.clone(),
            _ => Rc::default(),
        }
    }

    /// The subschemas of a keyword that names them; empty without it.
    pub(super) fn named(&self, name: &str) -> NamedNodes<'s> {
        match self.get(name).map(|keyword| &keyword.content) {
            Some(NodeContent::Named(nodes)) => nodes.clone(),
            _ => Rc::default(),
        }
    }

    /// Whether a keyword names at least one subschema.
    pub(super) fn names_any(&self, name: &str) -> bool {
        let content = self.get(name).map(|keyword| &keyword.content);
        matches!(content, Some(NodeContent::Named(nodes)) if !nodes.is_empty())
    }

    /// The names in `required`, with repetitions. Empty if it is missing, and what is not a text is
    /// left out: compiling the source reports that.
    pub(super) fn required(&self) -> Vec<&str> {
        let names = self.data("required").and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).collect()
    }

    /// Removes a keyword and returns it.
    pub(super) fn take(&mut self, name: &str) -> Option<NodeKeyword<'s>> {
        self.index_of(name).map(|index| self.list.remove(index))
    }

    /// Replaces the content of a keyword where it is written, or adds it at the end. An added one
    /// is said to be at the place of the subschema, since the source has no other place for it.
    pub(super) fn set(&mut self, name: &'static str, content: NodeContent<'s>) {
        match self.index_of(name) {
            Some(index) => self.list[index].content = content,
            None => self.push(NodeKeyword { name: name.into(), place: self.place, content }),
        }
    }

    /// As [`NodeKeywords::set`], for a keyword that is written at `place`.
    pub(super) fn set_at(
        &mut self,
        name: KeywordName<'s>,
        place: SourcePlace,
        content: NodeContent<'s>,
    ) {
        match self.index_of(&name) {
            Some(index) => self.list[index] = NodeKeyword { name, place, content },
            None => self.push(NodeKeyword { name, place, content }),
        }
    }

    /// [`Self::set`] with a value that holds no subschemas.
    pub(super) fn set_data(&mut self, name: &'static str, value: Value) {
        self.set(name, NodeContent::Data(value.into()));
    }

    /// The place of a keyword; that of the schema if the keyword is missing.
    pub(super) fn place_of(&self, name: &str) -> SourcePlace {
        self.get(name).map_or(self.place, |keyword| keyword.place)
    }

    /// From here on the keywords are shared. A later change clones them first.
    pub(super) fn into_node(self) -> SchemaNode<'s> {
        SchemaNode::Keywords(Rc::new(self))
    }
}

/// Whether any member is called `$ref` or `$dynamicRef`. May be true for a property of that name.
/// A quick test, because most schemas have no reference and need no graph.
fn mentions_reference(document: &Value) -> bool {
    let mut pending = vec![document];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => {
                for (name, value) in members {
                    if matches!(name.as_str(), "$ref" | "$dynamicRef") {
                        return true;
                    }
                    if value.is_array() || value.is_object() {
                        pending.push(value);
                    }
                }
            }
            _ => {}
        }
    }
    false
}

/// The pointer of the target of each reference, by the address of the subschema that holds it and
/// the keyword.
type ReferenceTargets = HashMap<(*const Value, &'static str), String>;

/// Where the references of a document lead; empty if it does not compile, because they lead nowhere
/// then.
///
/// An address identifies a subschema here, because the document is borrowed and does not move while
/// it is read.
fn reference_targets(document: &Value, dialect: Dialect) -> ReferenceTargets {
    let found = subschema_graph::with_graph(document, dialect, |graph| {
        let mut holders = Vec::new();
        let mut targets = Vec::new();
        for node in &graph.nodes {
            for edge in &node.edges {
                if let EdgeOrigin::Reference(keyword) = edge.origin {
                    holders.push((std::ptr::from_ref(node.value), keyword));
                    targets.push(graph.nodes[edge.to].value);
                }
            }
        }
        let pointers = pointer::pointers_to(document, &targets);
        let found = holders.into_iter().zip(pointers);
        // A meta-schema is not a part of the document.
        Ok(found.filter_map(|(holder, pointer)| Some((holder, pointer?))).collect())
    });
    found.unwrap_or_default()
}

/// A name for the definition at `pointer` that no other has: the last token, with only the
/// characters that need no escaping anywhere: `#/$defs/Größe` becomes `Gr__e`, and a second one of
/// that name `Gr__e_2`. `root` for the document itself.
fn unused_name(definitions: &[SchemaDefinition], pointer: &str) -> String {
    let last = pointer.rsplit('/').next().unwrap_or_default();
    let fits = |c: char| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    let mut base: String = last.chars().map(fits).take(64).collect();
    if base.is_empty() {
        base.push_str("root");
    }
    let is_used = |name: &str| definitions.iter().any(|other| other.name == name);
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    std::iter::once(base.clone()).chain(numbered).find(|name| !is_used(name)).unwrap_or(base)
}

/// Marks the definitions that lead back to themselves.
///
/// One search per definition, over the references between definitions: quadratic, which is what
/// `MAX_DEFINITIONS` is for. A search ends at the first reference back to its start, and a set of
/// visited definitions keeps other cycles from running without end.
fn mark_recursive<'s>(definitions: &mut [SchemaDefinition<'s>]) {
    let edges: Vec<Vec<usize>> = definitions
        .iter()
        .map(|definition| {
            let mut found = Vec::new();
            let mut pending = vec![definition.node.clone()];
            while let Some(node) = pending.pop() {
                for keyword in node.keywords().into_iter().flatten() {
                    match &keyword.content {
                        NodeContent::Data(_) => {}
                        NodeContent::One(node) => pending.push(node.clone()),
                        NodeContent::List(nodes) => pending.extend(nodes.iter().cloned()),
                        NodeContent::Named(nodes) => {
                            pending.extend(nodes.iter().map(|(_, node)| node.clone()));
                        }
                        NodeContent::Reference(index) => found.extend(index),
                    }
                }
            }
            found.sort_unstable();
            found.dedup();
            found
        })
        .collect();
    for start in 0..definitions.len() {
        let (mut seen, mut pending) = (vec![false; edges.len()], edges[start].clone());
        while let Some(next) = pending.pop() {
            if next == start {
                definitions[start].is_recursive = true;
                break;
            }
            if !std::mem::replace(&mut seen[next], true) {
                pending.extend(&edges[next]);
            }
        }
    }
}

/// Reads a document into a tree: the state of [`SourceTree::read`], which makes one per document.
struct TreeReader<'s, 'c> {
    document: &'s Value,
    /// The dialect of the document.
    dialect: Dialect,
    /// Where references lead, once it is needed: most schemas have none.
    targets: Option<ReferenceTargets>,
    indices: HashMap<String, usize>,
    /// The pointers of the definitions, by index.
    pending: Vec<String>,
    /// Grows in step with `next_place`, or stays empty; see `below`.
    places: Vec<(SourcePlace, Shared<'s, str>)>,
    /// The number of places.
    next_place: u32,
    /// The number of subschemas read so far; more than `MAX_SUBSCHEMAS` are refused.
    subschemas: usize,
    /// Where the changes of the dialect go. It also knows whether anybody wants them.
    changes: &'c mut ChangeList,
}

impl<'s> TreeReader<'s, '_> {
    /// Where references lead.
    fn targets(&mut self) -> &ReferenceTargets {
        let (document, dialect) = (self.document, self.dialect);
        self.targets.get_or_insert_with(|| match mentions_reference(document) {
            true => reference_targets(document, dialect),
            false => HashMap::new(),
        })
    }

    /// A new place. How to spell it is kept only if changes are reported.
    fn below(
        &mut self,
        above: SourcePlace,
        token: impl FnOnce() -> Shared<'s, str>,
    ) -> SourcePlace {
        let place = SourcePlace(self.next_place);
        self.next_place = self.next_place.saturating_add(1);
        if self.changes.report == ChangeReport::Wanted {
            self.places.push((above, token()));
        }
        place
    }

    /// The place of a part that is known by its pointer, such as the target of a reference. Makes
    /// new places for all tokens on the way, so two places may be spelled alike.
    fn place_of(&mut self, pointer: &str) -> SourcePlace {
        let tokens = pointer.split('/').skip(1);
        let tokens = tokens.map(|token| token.replace("~1", "/").replace("~0", "~"));
        tokens.fold(SourcePlace::ROOT, |above, token| self.below(above, || token.into()))
    }

    /// Records a change that the step to 2020-12 makes. All of them are exact.
    fn note(&mut self, place: SourcePlace, keyword: &str, reason: &'static str) {
        let at = || spell_out(&self.places, place);
        self.changes.add(at, keyword, ChangeAction::Rewritten, reason, None);
    }

    /// Reads a subschema and all subschemas below it. A value that is not a schema reads as `true`;
    /// compiling the source reports it.
    ///
    /// In draft-07 assertions beside a `$ref` have no effect, so they are left out here: kept, they
    /// would become effective in 2020-12. An embedded resource may declare its own dialect.
    fn node(
        &mut self,
        value: &'s Value,
        dialect: Dialect,
        place: SourcePlace,
    ) -> Result<SchemaNode<'s>, TooLarge> {
        self.subschemas += 1;
        if self.subschemas > MAX_SUBSCHEMAS {
            return Err(TooLarge);
        }
        let members = match value {
            Value::Bool(false) => return Ok(SchemaNode::Nothing(place)),
            Value::Object(members) => members,
            _ => return Ok(SchemaNode::All(place)),
        };
        if members.len() > MAX_KEYWORDS {
            return Err(TooLarge);
        }
        let dialect = embedded_dialect(members).unwrap_or(dialect);
        let mut keywords = NodeKeywords::with_capacity(place, members.len());
        let ignores_siblings = subschema_keywords::ref_ignores_siblings(dialect)
            && members.get("$ref").is_some_and(Value::is_string);
        for (name, content) in members {
            let at = self.below(place, || name.as_str().into());
            if ignores_siblings && is_assertion(name) && name != "$ref" {
                self.note(at, name, "draft-07 ignores what is beside `$ref`");
                continue;
            }
            self.keyword(&mut keywords, value, (name, content), dialect, at)?;
        }
        Ok(keywords.into_node())
    }

    /// Adds one keyword as 2020-12 has it.
    ///
    /// ```text
    /// draft-07                               2020-12
    /// items: [A, B], additionalItems: C      prefixItems: [A, B], items: C
    /// dependencies: {a: ["b"], c: S}         dependentRequired: {a: ["b"]}
    ///                                        dependentSchemas: {c: S}
    /// $ref and $dynamicRef in one schema     $ref, and allOf with the other one
    /// ```
    ///
    /// `items: [A, B]` is recognized by the value of `items` in `holder`, because `additionalItems`
    /// may be written before it.
    fn keyword(
        &mut self,
        keywords: &mut NodeKeywords<'s>,
        holder: &Value,
        (name, value): (&'s str, &'s Value),
        dialect: Dialect,
        place: SourcePlace,
    ) -> Result<(), TooLarge> {
        let is_draft7 = dialect == Dialect::Draft7;
        let has_items_list = is_draft7 && holder.get("items").is_some_and(Value::is_array);
        let new_name = match name {
            "$ref" | "$dynamicRef" if value.is_string() => {
                let keyword = if name == "$ref" { "$ref" } else { "$dynamicRef" };
                let target = self.targets().get(&(std::ptr::from_ref(holder), keyword)).cloned();
                let index = target.map(|target| self.definition(target));
                let content = NodeContent::Reference(index);
                // Both may be present; the second is one of the schemas that all have to match.
                let content_name = if keywords.has("$ref") { "allOf" } else { "$ref" };
                if content_name == "allOf" {
                    let reference = NodeKeyword { name: "$ref".into(), place, content };
                    push_branch(keywords, NodeKeywords::of(place, [reference]).into_node());
                } else {
                    keywords.push(NodeKeyword { name: "$ref".into(), place, content });
                }
                return Ok(());
            }
            // Definitions are read where references lead to them.
            "$defs" | "definitions" => return Ok(()),
            // References go to `$defs` from here on, so these names have no use, and an `$id` would
            // change what a reference below it means.
            "$id" | "$anchor" | "$dynamicAnchor"
                if keywords.place != SourcePlace::ROOT && !self.targets().is_empty() =>
            {
                let at = || spell_out(&self.places, place);
                let reason = "references lead to `$defs` instead";
                self.changes.add(at, name, ChangeAction::Dropped, reason, None);
                return Ok(());
            }
            "$schema" if is_draft7 => {
                self.note(place, name, "the schema is written in 2020-12");
                return Ok(());
            }
            "prefixItems"
            | "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "minContains"
            | "maxContains"
            | "$dynamicAnchor"
            | "$anchor"
                if is_draft7 =>
            {
                self.note(place, name, "not a keyword of draft-07");
                return Ok(());
            }
            "items" if has_items_list => "prefixItems",
            "additionalItems" if has_items_list => "items",
            "additionalItems" if is_draft7 => {
                self.note(place, name, "draft-07 ignores it without a list in `items`");
                return Ok(());
            }
            "dependencies" => return self.dependencies(keywords, value, dialect, place),
            _ => name,
        };
        if new_name != name {
            self.note(place, name, "the schema is written in 2020-12");
        }
        let new_name = KeywordName::from(new_name);
        let content = match (new_name.traits.shape, value) {
            (None, _) => NodeContent::Data(value.into()),
            (Some(KeywordShape::One), Value::Bool(_) | Value::Object(_)) => {
                NodeContent::One(self.node(value, dialect, place)?)
            }
            (Some(KeywordShape::List), Value::Array(items)) => {
                let mut nodes = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let at = self.below(place, || index.to_string().into());
                    nodes.push(self.node(item, dialect, at)?);
                }
                if &*new_name == "allOf" && keywords.has("allOf") {
                    nodes.into_iter().for_each(|node| push_branch(keywords, node));
                    return Ok(());
                }
                NodeContent::List(nodes.into())
            }
            (Some(KeywordShape::Named), Value::Object(members)) => {
                let mut nodes: Vec<(Shared<'s, str>, SchemaNode<'s>)> =
                    Vec::with_capacity(members.len());
                for (key, member) in members {
                    let at = self.below(place, || key.as_str().into());
                    nodes.push((key.as_str().into(), self.node(member, dialect, at)?));
                }
                NodeContent::Named(nodes.into())
            }
            // Not a schema; compiling the source reports it.
            _ => {
                self.note(place, name, "its value is not a schema");
                return Ok(());
            }
        };
        keywords.push(NodeKeyword { name: new_name, place, content });
        Ok(())
    }

    /// Splits `dependencies` into the two keywords of 2020-12.
    /// Each member is a list of names or a schema; those of a kind become one keyword.
    fn dependencies(
        &mut self,
        keywords: &mut NodeKeywords<'s>,
        value: &'s Value,
        dialect: Dialect,
        place: SourcePlace,
    ) -> Result<(), TooLarge> {
        self.note(place, "dependencies", "the schema is written in 2020-12");
        let (mut names, mut schemas) = (Map::new(), Vec::new());
        for (key, member) in value.as_object().into_iter().flatten() {
            match member {
                Value::Array(_) => drop(names.insert(key.clone(), member.clone())),
                _ => {
                    let at = self.below(place, || key.as_str().into());
                    schemas.push((key.as_str().into(), self.node(member, dialect, at)?));
                }
            }
        }
        let mut push = |name: &'static str, content| {
            keywords.push(NodeKeyword { name: name.into(), place, content });
        };
        if !names.is_empty() {
            push("dependentRequired", NodeContent::Data(Value::Object(names).into()));
        }
        if !schemas.is_empty() {
            push("dependentSchemas", NodeContent::Named(schemas.into()));
        }
        Ok(())
    }

    /// The number of the definition at `pointer`. A new one is read later, by `SourceTree::read`:
    /// reading it here would recur without end if it refers to itself.
    fn definition(&mut self, pointer: String) -> usize {
        *self.indices.entry(pointer).or_insert_with_key(|pointer| {
            self.pending.push(pointer.clone());
            self.pending.len() - 1
        })
    }

    /// Reports the definitions at the root that nothing refers to: they are left out.
    fn report_unused_definitions(&mut self, document: &Value) {
        // `/$defs/a/properties/b` uses the definition `a`, too.
        let first_two = |at: &String| at.split('/').take(3).collect::<Vec<_>>().join("/");
        let used: HashSet<String> = self.indices.keys().map(first_two).collect();
        for keyword in ["$defs", "definitions"] {
            let own = document.as_object().and_then(|own| keyword_value(own, keyword));
            let names = own.and_then(Value::as_object).into_iter();
            let unused: Vec<String> = names
                .flat_map(Map::keys)
                .map(|name| pointer::join(&pointer::join("", keyword), name))
                .filter(|at| !used.contains(at))
                .collect();
            for at in unused {
                let reason = "nothing refers to it";
                self.changes.add(|| at, keyword, ChangeAction::Rewritten, reason, None);
            }
        }
    }
}

/// Adds a schema to those that all have to match. Needed where two keywords of the source become
/// one: a second reference, and an `allOf` that is written after it.
fn push_branch<'s>(keywords: &mut NodeKeywords<'s>, branch: SchemaNode<'s>) {
    let mut branches = keywords.nodes("allOf").to_vec();
    branches.push(branch);
    keywords.set("allOf", NodeContent::List(branches.into()));
}

/// The dialect of an embedded resource, if it declares one.
fn embedded_dialect(members: &Map<String, Value>) -> Option<Dialect> {
    // Most subschemas have neither, and a few keys are compared faster than one is hashed.
    members.keys().find(|name| *name == "$id")?;
    members.get("$schema").and_then(Value::as_str).and_then(Dialect::from_uri)
}

/// Whether a keyword can make a value invalid. All others describe.
pub(super) fn is_assertion(name: &str) -> bool {
    traits_of(name).is_assertion
}
