//! Schemas that only an endless value would match: an object that requires another one like itself.
//!
//! A subschema has a value if everything that it demands of every value has one: the target of its
//! `$ref`, all of `allOf`, one of `anyOf`, the properties that an object requires, the items that
//! an array needs. Values are finite, so this is the least fixed point: start with the subschemas
//! that demand nothing, add those whose demands are met, until nothing changes. What is left over
//! is endless.
//!
//! ```text
//! Node = {type: object, required: [next], properties: {next: {$ref: Node}}}
//!
//!     Node ── required `next` ──▶ /properties/next ── $ref ──▶ Node
//! ```
//!
//! Deliberately absent: everything else that makes a schema empty, which `satisfiability` finds,
//! and whatever a keyword such as `if` or `not` may rule out. Those demands count as met.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{MAX_MISTAKES, MistakeKind};
use crate::pointer;
use crate::satisfiability::is_in_condition;
use crate::subschema_graph::{EdgeOrigin, SubschemaGraph};

/// Something that every value of a subschema needs: a value of one of these subschemas.
struct Demand<'a> {
    /// Indices of nodes. Several are the branches of a choice; one has to have a value.
    one_of: Vec<usize>,
    /// The keyword that demands a value inside the value, with the name of the property.
    inner: Option<(&'static str, &'a str)>,
}

/// Reports one subschema of each endless cycle.
///
/// The walk from each start follows one unmet demand after the other and marks what it visits with
/// its number, so all walks together are linear.
pub(super) fn check(
    document: &Value,
    graph: &SubschemaGraph<'_>,
    report: &mut dyn FnMut(&str, MistakeKind, String),
) {
    let demands = demands(graph);
    let has_value = subschemas_with_a_value(&demands);
    // Each endless subschema has a demand that leads to another one. Following it, a cycle is
    // reached; each cycle is one mistake.
    let next = |node: usize| -> Option<(usize, Option<(&'static str, &str)>)> {
        let unmet = demands[node].iter().find(|it| it.one_of.iter().all(|to| !has_value[*to]))?;
        Some((*unmet.one_of.first()?, unmet.inner))
    };
    // In which walk a subschema was visited; 0 for none.
    let mut visited = vec![0; demands.len()];
    let mut cycles = 0;
    for start in 0..demands.len() {
        let mut node = start;
        while !has_value[node] && visited[node] == 0 {
            visited[node] = start + 1;
            let Some((to, _)) = next(node) else { break };
            node = to;
        }
        if has_value[node] || visited[node] != start + 1 {
            continue;
        }
        // To find the places of a cycle takes as long as the document is.
        cycles += 1;
        if cycles > MAX_MISTAKES {
            return;
        }
        let mut cycle = Vec::new();
        let first = node;
        while let Some((to, inner)) = next(node) {
            cycle.extend(inner.map(|inner| (node, inner)));
            node = to;
            if node == first {
                break;
            }
        }
        let values: Vec<&Value> = cycle.iter().map(|(n, _)| graph.nodes[*n].value).collect();
        let places = pointer::pointers_to(document, &values).into_iter().zip(&cycle);
        let places = places.filter_map(|(at, (_, inner))| Some((at?, *inner)));
        // The outermost one: the others are inside of it or definitions like it.
        let place = places
            .filter(|(at, _)| !is_in_condition(at))
            .min_by(|(one, _), (other, _)| (one.len(), one).cmp(&(other.len(), other)));
        if let Some((at, (keyword, name))) = place {
            let reason = match keyword {
                "required" => {
                    format!(
                        "a value for the required `{name}` must contain another one, without end"
                    )
                }
                _ => "an item must contain another one, without end".to_owned(),
            };
            let place = pointer::join(&at, keyword);
            report(&at, MistakeKind::Unsatisfiable { reason }, place);
        }
    }
}

/// Which subschemas a finite value can match, as far as their demands decide it. Each demand that
/// is met is counted once, so this takes linear time.
fn subschemas_with_a_value(demands: &[Vec<Demand<'_>>]) -> Vec<bool> {
    let mut unmet: Vec<usize> = demands.iter().map(Vec::len).collect();
    let mut is_met: Vec<Vec<bool>> = demands.iter().map(|own| vec![false; own.len()]).collect();
    let mut dependents = vec![Vec::new(); demands.len()];
    for (from, own) in demands.iter().enumerate() {
        for (n, demand) in own.iter().enumerate() {
            demand.one_of.iter().for_each(|to| dependents[*to].push((from, n)));
        }
    }
    let mut has_value: Vec<bool> = unmet.iter().map(|count| *count == 0).collect();
    let mut pending: Vec<usize> = (0..demands.len()).filter(|n| has_value[*n]).collect();
    while let Some(node) = pending.pop() {
        for (from, n) in &dependents[node] {
            if !std::mem::replace(&mut is_met[*from][*n], true) {
                unmet[*from] -= 1;
                if unmet[*from] == 0 {
                    has_value[*from] = true;
                    pending.push(*from);
                }
            }
        }
    }
    has_value
}

/// The demands of each subschema.
///
/// Only demands that hold for every value of the subschema are listed. Leaving one out is safe: a
/// subschema then counts as having a value, and nothing is reported.
fn demands<'a>(graph: &SubschemaGraph<'a>) -> Vec<Vec<Demand<'a>>> {
    let indices: HashMap<*const Value, usize> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(n, node)| (std::ptr::from_ref(node.value), n))
        .collect();
    let index = |value: &Value| indices.get(&std::ptr::from_ref(value)).copied();
    let of_node = |node: &crate::subschema_graph::SubschemaNode<'a>| {
        let mut found = Vec::new();
        let Value::Object(members) = node.value else { return found };
        let references = node.edges.iter().filter(|edge| edge.origin != EdgeOrigin::Keyword);
        for edge in references {
            // A reference with several possible targets demands one of them at most.
            if matches!(edge.origin, EdgeOrigin::Reference(_)) {
                found.push(Demand { one_of: vec![edge.to], inner: None });
            }
        }
        // Beside a draft-07 `$ref` nothing is applied.
        let targets: HashSet<usize> = node.edges.iter().map(|edge| edge.to).collect();
        let is_applied = |value: &Value| index(value).filter(|to| targets.contains(to));
        // A listed value is finite.
        if members.contains_key("enum") || members.contains_key("const") {
            return found;
        }
        let list = |keyword: &str| members.get(keyword).and_then(Value::as_array);
        for branch in list("allOf").into_iter().flatten() {
            found.extend(is_applied(branch).map(|to| Demand { one_of: vec![to], inner: None }));
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches: Option<Vec<usize>> =
                list(keyword).and_then(|branches| branches.iter().map(is_applied).collect());
            found.extend(branches.map(|one_of| Demand { one_of, inner: None }));
        }
        // Of several types, another one is without demands.
        let inner: Vec<((&'static str, &'a str), &'a Value)> = match members.get("type") {
            Some(Value::String(word)) if word == "object" => required_values(members),
            Some(Value::String(word)) if word == "array" => needed_item(members),
            _ => Vec::new(),
        };
        for (cause, value) in inner {
            let to = is_applied(value);
            found.extend(to.map(|to| Demand { one_of: vec![to], inner: Some(cause) }));
        }
        found
    };
    graph.nodes.iter().map(of_node).collect()
}

/// The schemas of the properties that an object must have.
///
/// A required name without a schema of its own demands nothing here.
fn required_values(members: &Map<String, Value>) -> Vec<((&'static str, &str), &Value)> {
    let names = members.get("required").and_then(Value::as_array).into_iter().flatten();
    let schema = |name: &str| members.get("properties")?.get(name);
    names
        .filter_map(Value::as_str)
        .filter_map(|name| Some((("required", name), schema(name)?)))
        .collect()
}

/// The schema of the first item that an array must have.
///
/// Empty if the array may be empty.
fn needed_item(members: &Map<String, Value>) -> Vec<((&'static str, &str), &Value)> {
    let least = members.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let first = members.get("prefixItems").and_then(|list| list.get(0));
    let item = first.or_else(|| members.get("items").filter(|items| items.is_object()));
    item.filter(|_| least > 0).map(|item| (("minItems", ""), item)).into_iter().collect()
}
