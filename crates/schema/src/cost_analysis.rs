//! What evaluating a schema can cost, computed from its graph before anything runs.
//!
//! Three things make a schema dangerous, and each is found here:
//!
//! - a loop of references that consumes nothing of the instance (`{"$ref": "#"}`): rejected;
//! - fan-out, where each level applies the next one twice, so that one value is evaluated
//!   exponentially often: rejected above [`MAX_IN_PLACE_PATHS`];
//! - recursion, which is fine, but lets the instance decide how deep and how often: noted in the
//!   [`CostProfile`], which later decides about stack size and step budget.
//!
//! All sums run over the graph without recursion, with the edges that close a loop left out.
//!
//! ```text
//! $defs: a = {allOf: [b, b]}, b = {allOf: [c, c]}, c = {allOf: [d, d]}, …   fan-out
//!   paths: d 1, c 3, b 7, a 15, …                     doubles with each definition
//! ```

use std::collections::HashSet;

use serde_json::Value;

use crate::limits::{MAX_IN_PLACE_PATHS, MAX_RESOURCE_WORK, MAX_UNBUDGETED_PATHS};
use crate::subschema_graph::{EdgeOrigin, SubschemaEdge, SubschemaGraph};
use crate::subschema_keywords::SubschemaTarget;
use crate::{SchemaError, pointer};

/// What evaluating a schema can cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CostProfile {
    /// A subschema can be reached from itself, so the instance decides how deep evaluation goes.
    pub recursive: bool,
    /// Even the yes-or-no answer could take too long without a step budget.
    pub needs_budget: bool,
    /// Values are compared with each other (`uniqueItems`), which recurses as deep as they nest.
    pub compares_values: bool,
    /// The most subschemas open at once for one value of the instance.
    pub open_per_value: usize,
    /// The most subschemas open at once for the whole instance, where not recursive.
    pub open_in_all: usize,
    /// The number of subschemas.
    pub subschemas: usize,
    /// Checks along all paths from the root, an upper bound of what one value of an instance can
    /// cost: a subschema, and each name or value that it lists, counts one.
    pub checks_per_value: u64,
    /// Every distinct pattern.
    pub patterns: Vec<SchemaPattern>,
}

/// A regular expression of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaPattern {
    /// The expression as it is written.
    pub text: String,
    /// JSON pointer of its first use.
    pub at: String,
}

/// Analyzes `graph`.
///
/// # Errors
/// Evaluating an instance could loop forever or take exponential time.
pub(crate) fn analyze(
    graph: &SubschemaGraph<'_>,
    document: &Value,
) -> Result<CostProfile, SchemaError> {
    let all: Vec<usize> = (0..graph.nodes.len()).collect();
    let one = |_: &Value| 1;
    // Only edges that are certainly followed: a `$dynamicRef` that merely may close a loop is not
    // rejected, it gets a step budget instead.
    let certain = sum_paths(graph, &all, one, |edge| {
        edge.target == SubschemaTarget::SameValue && edge.origin != EdgeOrigin::PossibleReference
    });
    if let Some((node, keyword)) = certain.reference_in_loop {
        let at = pointer::pointer_to(document, graph.nodes[node].value).unwrap_or_default();
        let message = format!("`{keyword}` refers back to itself without entering the instance");
        return Err(SchemaError::invalid(pointer::join(&at, keyword), message));
    }
    let in_place = sum_paths(graph, &all, one, |edge| edge.target == SubschemaTarget::SameValue);
    let (widest, &paths) = in_place
        .paths
        .iter()
        .enumerate()
        .max_by_key(|(_, paths)| **paths)
        .expect("a graph has a root");
    if paths > MAX_IN_PLACE_PATHS {
        let at = pointer::pointer_to(document, graph.nodes[widest].value).unwrap_or_default();
        let message = format!(
            "references fan out: one value would be evaluated more than {MAX_IN_PLACE_PATHS} times"
        );
        return Err(SchemaError::invalid(at, message));
    }
    check_resource_chains(graph)?;
    // Unlike the sums above, these follow every edge: what one instance can cost in all.
    let from_root = sum_paths(graph, &[0], one, |_| true);
    let checks = sum_paths(graph, &[0], checks_of, |_| true);
    Ok(CostProfile {
        recursive: from_root.has_loop,
        needs_budget: from_root.paths[0] > MAX_UNBUDGETED_PATHS || in_place.has_loop,
        compares_values: graph
            .nodes
            .iter()
            .any(|node| node.value.get("uniqueItems") == Some(&Value::Bool(true))),
        open_per_value: in_place.longest.iter().copied().max().unwrap_or(1),
        open_in_all: from_root.longest[0],
        subschemas: graph.nodes.len(),
        checks_per_value: checks.paths[0],
        patterns: distinct_patterns(graph, document),
    })
}

/// The checks that one subschema makes itself: one for itself, one per listed name or value. What
/// is listed deeper, such as the names of `dependentRequired`, counts with its keyword's length.
fn checks_of(subschema: &Value) -> u64 {
    let listed = |keyword: &Value| match keyword {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    let keywords = subschema.as_object().into_iter().flatten().map(|(_, keyword)| listed(keyword));
    1 + keywords.sum::<usize>() as u64
}

/// Sums over the paths of a graph, without the edges that close a loop.
struct PathSums {
    /// For each node, the sum of the weights of the nodes at the ends of all paths that start
    /// there, the empty one included. With a weight of one that is the number of paths.
    paths: Vec<u64>,
    /// For each node, the number of nodes on the longest path that starts there.
    longest: Vec<usize>,
    /// Whether there is a loop.
    has_loop: bool,
    /// The node and keyword of a reference that is part of a loop.
    reference_in_loop: Option<(usize, &'static str)>,
}

/// The state of a node in a depth-first search.
#[derive(Clone, Copy, PartialEq)]
enum VisitState {
    New,
    /// On the current path: an edge to it closes a loop.
    Open,
    /// Its sums are final.
    Done,
}

/// Sums over all paths from `starts` along the edges that `follow` accepts; a node counts as much
/// as `weight` says.
///
/// A depth-first search in post-order: when a node is done, its sums are added to the node that led
/// to it. `open` is the search's stack, which would otherwise be the thread's.
fn sum_paths(
    graph: &SubschemaGraph<'_>,
    starts: &[usize],
    weight: impl Fn(&Value) -> u64,
    follow: impl Fn(&SubschemaEdge) -> bool,
) -> PathSums {
    let count = graph.nodes.len();
    let mut states = vec![VisitState::New; count];
    let mut sums = PathSums {
        paths: graph.nodes.iter().map(|node| weight(node.value)).collect(),
        longest: vec![1; count],
        has_loop: false,
        reference_in_loop: None,
    };
    // The nodes on the current path, each with the number of its edges already taken.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for &start in starts {
        if states[start] == VisitState::New {
            states[start] = VisitState::Open;
            open.push((start, 0));
        }
        while let Some((node, taken)) = open.last_mut() {
            let node = *node;
            let Some(edge) = graph.nodes[node].edges.get(*taken) else {
                states[node] = VisitState::Done;
                open.pop();
                if let Some(&(parent, taken)) = open.last() {
                    sums.add(parent, &graph.nodes[parent].edges[taken - 1]);
                }
                continue;
            };
            *taken += 1;
            if !follow(edge) {
                continue;
            }
            match states[edge.to] {
                VisitState::New => {
                    states[edge.to] = VisitState::Open;
                    open.push((edge.to, 0));
                }
                VisitState::Done => sums.add(node, edge),
                VisitState::Open => {
                    sums.has_loop = true;
                    sums.reference_in_loop =
                        sums.reference_in_loop.or_else(|| find_reference(graph, &open, edge.to));
                }
            }
        }
    }
    sums
}

impl PathSums {
    /// Adds the sums of the target of `edge` to `node`. They saturate: a number this large is
    /// rejected anyway.
    fn add(&mut self, node: usize, edge: &SubschemaEdge) {
        let paths = self.paths[edge.to].saturating_mul(edge.times);
        self.paths[node] = self.paths[node].saturating_add(paths);
        self.longest[node] = self.longest[node].max(self.longest[edge.to].saturating_add(1));
    }
}

/// A reference on the current path since `from`, the node where a loop starts. Subschemas only
/// nest, so every loop has a reference; `None` if it only has possible ones.
fn find_reference(
    graph: &SubschemaGraph<'_>,
    open: &[(usize, usize)],
    from: usize,
) -> Option<(usize, &'static str)> {
    let since = open.iter().rposition(|(node, _)| *node == from)?;
    open[since..].iter().find_map(|&(node, taken)| {
        match graph.nodes[node].edges[taken - 1].origin {
            EdgeOrigin::Reference(keyword) => Some((node, keyword)),
            _ => None,
        }
    })
}

/// Rejects documents whose resources refer to each other in too many orders.
///
/// `jsonschema` compiles a reference target once for each chain of resources it is reached through,
/// so twelve resources that all refer to each other would be compiled 12! times. This walks the
/// same chains and adds up the sizes, but stops at [`MAX_RESOURCE_WORK`].
fn check_resource_chains(graph: &SubschemaGraph<'_>) -> Result<(), SchemaError> {
    // Two resources have at most two chains.
    if graph.resources < 3 {
        return Ok(());
    }
    let mut sizes = vec![0_u64; graph.resources];
    let mut links = vec![HashSet::new(); graph.resources];
    for node in &graph.nodes {
        sizes[node.resource] += 1;
        for edge in &node.edges {
            let to = graph.nodes[edge.to].resource;
            if to != node.resource {
                links[node.resource].insert(to);
            }
        }
    }
    // A depth-first search through all chains without repetition. Its time is what it measures, so
    // the bound stops it as well.
    let links: Vec<Vec<usize>> = links.into_iter().map(|set| set.into_iter().collect()).collect();
    // The document is resource 0: its root was added first.
    let mut work = sizes[0];
    let mut in_chain = vec![false; graph.resources];
    in_chain[0] = true;
    let mut open = vec![(0, 0)];
    while let Some((resource, taken)) = open.last_mut() {
        let Some(&next) = links[*resource].get(*taken) else {
            in_chain[*resource] = false;
            open.pop();
            continue;
        };
        *taken += 1;
        if !in_chain[next] {
            in_chain[next] = true;
            work = work.saturating_add(sizes[next]);
            open.push((next, 0));
        }
        if work > MAX_RESOURCE_WORK {
            return Err(SchemaError::invalid(
                "",
                "embedded `$id` resources refer to each other in too many ways",
            ));
        }
    }
    Ok(())
}

/// Every distinct pattern under `pattern` and `patternProperties`, with the pointer of its first
/// use. Subschemas only: a `pattern` inside `const` is data.
fn distinct_patterns(graph: &SubschemaGraph<'_>, document: &Value) -> Vec<SchemaPattern> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for node in &graph.nodes {
        let Value::Object(schema) = node.value else {
            continue;
        };
        let own = schema.get("pattern").and_then(Value::as_str).map(|text| ("pattern", text));
        let names = schema.get("patternProperties").and_then(Value::as_object);
        let names = names
            .into_iter()
            .flat_map(|names| names.keys().map(|text| ("patternProperties", text.as_str())));
        for (keyword, text) in own.into_iter().chain(names) {
            if seen.insert(text) {
                found.push((node.value, keyword, text));
            }
        }
    }
    // Most schemas have no pattern; the pass over the document is only for those that do.
    if found.is_empty() {
        return Vec::new();
    }
    let schemas: Vec<&Value> = found.iter().map(|(value, ..)| *value).collect();
    let pointers = pointer::pointers_to(document, &schemas);
    let at = |pointer: Option<String>, keyword: &str, text: &str| {
        let at = pointer::join(&pointer.unwrap_or_default(), keyword);
        // Under `patternProperties` the pattern is the name of a property.
        if keyword == "pattern" { at } else { pointer::join(&at, text) }
    };
    found
        .iter()
        .zip(pointers)
        .map(|((_, keyword, text), pointer)| SchemaPattern {
            text: (*text).to_owned(),
            at: at(pointer, keyword, text),
        })
        .collect()
}
