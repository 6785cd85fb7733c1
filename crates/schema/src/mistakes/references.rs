//! What only the graph of all subschemas shows: names that `required` lists and nothing declares,
//! definitions that nothing refers to, and values without end (`recursion`).
//!
//! A name may be declared far from where it is required: beside an `allOf`, behind a `$ref`, in
//! another branch. So all subschemas that apply to the same value are taken together, in whatever
//! direction they refer to each other, and a name counts as declared if one of them declares it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{MAX_MISTAKES, MistakeKind, recursion};
use crate::subschema_graph::{SubschemaGraph, with_graph};
use crate::subschema_keywords::SubschemaTarget;
use crate::{Dialect, normalize, pointer};

/// The most declared names that a mistake carries, for suggestions.
const MAX_DECLARED: usize = 200;

/// Examines the subschemas of `requirements`, and all definitions. Reports with the pointer of the
/// subschema, the mistake and its place.
pub(super) fn check(
    schema: &Value,
    dialect: Dialect,
    requirements: &[&Value],
    report: &mut dyn FnMut(&str, MistakeKind, String),
) {
    // The graph is made of the schema as it is compiled, which is a copy. Pointers lead from one to
    // the other.
    let pointers: Vec<String> =
        pointer::pointers_to(schema, requirements).into_iter().flatten().collect();
    let Ok(document) = normalize::normalize(Cow::Borrowed(schema), dialect) else { return };
    let examined = with_graph(&document, dialect, |graph| {
        if !pointers.is_empty() {
            check_requirements(&document, graph, &pointers, report);
        }
        check_definitions(&document, graph, report);
        recursion::check(&document, graph, report);
        Ok(())
    });
    // A schema without a graph does not compile, which is reported elsewhere.
    drop(examined);
}

/// The subschemas that apply to one value, taken together.
#[derive(Default)]
struct ValueGroup<'a> {
    /// The names in `properties` of all its subschemas.
    declared: HashSet<&'a str>,
    /// One of them states that other names are allowed.
    is_open: bool,
}

/// Reports the names in `required` of the subschemas at `pointers` that no schema for the same
/// value declares.
///
/// The graph has nodes, the candidates have pointers; both meet by the address of the subschema in
/// `document`. A finding carries all declared names, from which a rule makes its suggestion.
fn check_requirements(
    document: &Value,
    graph: &SubschemaGraph<'_>,
    pointers: &[String],
    report: &mut dyn FnMut(&str, MistakeKind, String),
) {
    let indices: HashMap<*const Value, usize> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(n, node)| (std::ptr::from_ref(node.value), n))
        .collect();
    let group_of = group_nodes(graph);
    let mut groups: HashMap<usize, ValueGroup<'_>> = HashMap::new();
    for (n, node) in graph.nodes.iter().enumerate() {
        if let Value::Object(members) = node.value {
            let group = groups.entry(group_of[n]).or_default();
            let own = members.get("properties").and_then(Value::as_object);
            group.declared.extend(own.into_iter().flat_map(Map::keys).map(String::as_str));
            group.is_open |= allows_other_names(members);
        }
    }
    for at in pointers {
        let Some(value) = document.pointer(at) else { continue };
        let Some(group) = indices.get(&std::ptr::from_ref(value)).map(|n| group_of[*n]) else {
            continue;
        };
        let Some(group) = groups.get(&group) else { continue };
        let required = value.get("required").and_then(Value::as_array).into_iter().flatten();
        for (n, name) in required.enumerate().take(MAX_MISTAKES) {
            let Some(name) = name.as_str().filter(|name| !group.declared.contains(name)) else {
                continue;
            };
            let mut declared: Vec<String> =
                group.declared.iter().take(MAX_DECLARED).map(ToString::to_string).collect();
            declared.sort_unstable();
            let (name, is_open) = (name.to_owned(), group.is_open);
            let kind = MistakeKind::RequiredNotDeclared { name, declared, is_open };
            report(at, kind, format!("{at}/required/{n}"));
        }
    }
}

/// Whether an object schema states which names it allows beyond `properties`.
/// Then a name that is not declared is legal, and a mistake only if it looks misspelled.
fn allows_other_names(members: &Map<String, Value>) -> bool {
    let is_stated = |keyword: &str| {
        members.get(keyword).is_some_and(|value| value.is_object() || value == &Value::Bool(true))
    };
    ["additionalProperties", "unevaluatedProperties", "propertyNames"].into_iter().any(is_stated)
        || members
            .get("patternProperties")
            .and_then(Value::as_object)
            .is_some_and(|patterns| !patterns.is_empty())
}

/// For each node, the number of its group: of the nodes that edges to the same value connect.
///
/// Connected components of an undirected graph: `allOf` and `$ref` are followed both ways, since a
/// branch may declare what the schema around it requires, and the other way round.
///
/// Two subschemas are in one group if a chain of them applies to the same value, in either
/// direction.
fn group_nodes(graph: &SubschemaGraph<'_>) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for (from, node) in graph.nodes.iter().enumerate() {
        for edge in node.edges.iter().filter(|edge| edge.target == SubschemaTarget::SameValue) {
            neighbours[from].push(edge.to);
            neighbours[edge.to].push(from);
        }
    }
    let mut group_of = vec![usize::MAX; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        let mut pending = vec![start];
        while let Some(node) = pending.pop() {
            if group_of[node] == usize::MAX {
                group_of[node] = start;
                pending.extend(&neighbours[node]);
            }
        }
    }
    group_of
}

/// Reports definitions that cannot be reached from the root. A reference to a part of a definition
/// is a reference to it.
///
/// The search starts at the root and follows every edge, so a definition that only refers to itself
/// counts as unused. Definitions inside an unused one are not reported: removing it removes them.
fn check_definitions(
    document: &Value,
    graph: &SubschemaGraph<'_>,
    report: &mut dyn FnMut(&str, MistakeKind, String),
) {
    let mut reached = vec![false; graph.nodes.len()];
    let mut pending = vec![0];
    let mut addresses: HashSet<*const Value> = HashSet::new();
    while let Some(n) = pending.pop() {
        if !std::mem::replace(&mut reached[n], true) {
            addresses.insert(graph.nodes[n].value);
            pending.extend(graph.nodes[n].edges.iter().map(|edge| edge.to));
        }
    }
    let mut unused: Vec<(&str, &str, &Value, &Value)> = Vec::new();
    for (n, node) in graph.nodes.iter().enumerate() {
        let Value::Object(members) = node.value else { continue };
        for keyword in ["$defs", "definitions"] {
            let Some(Value::Object(named)) = members.get(keyword).filter(|_| reached[n]) else {
                continue;
            };
            unused.extend(
                named
                    .iter()
                    .filter(|(_, definition)| !holds_any(definition, &addresses))
                    .map(|(name, definition)| (keyword, name.as_str(), definition, node.value)),
            );
        }
    }
    unused.truncate(MAX_MISTAKES);
    let owners: Vec<&Value> = unused.iter().map(|(.., owner)| *owner).collect();
    for ((keyword, name, definition, _), at) in
        unused.iter().zip(pointer::pointers_to(document, &owners))
    {
        // A definition of a meta-schema is not part of the document.
        let Some(at) = at else { continue };
        // With its name, the quotes and the colon.
        let bytes = definition.to_string().len() + name.len() + 3;
        let place = pointer::join(&pointer::join(&at, keyword), name);
        let kind = MistakeKind::UnusedDefinition { name: (*name).to_owned(), bytes };
        report(&at, kind, place);
    }
}

/// Whether a value, or one inside it, is at one of the addresses.
/// A reference may lead into a definition instead of to it, hence the values inside.
fn holds_any(value: &Value, addresses: &HashSet<*const Value>) -> bool {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if addresses.contains(&std::ptr::from_ref(value)) {
            return true;
        }
        match value {
            Value::Object(members) => pending.extend(members.values()),
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    false
}
