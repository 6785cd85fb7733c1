//! What the graph of subschemas means for a call: loops that never end, fan-out that nearly never
//! ends, and how deep an evaluation can go.

use std::collections::HashSet;

use serde_json::Value;

use crate::graph::{By, Edge, Graph};
use crate::keywords::Applies;
use crate::limits::{MAX_IN_PLACE_PATHS, MAX_RESOURCE_WORK, METERED_PATHS};
use crate::{SchemaError, shape};

/// What evaluation has to expect of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outlook {
    /// A subschema can be reached from itself, so the instance decides how deep evaluation goes.
    pub recursive: bool,
    /// Even the yes-or-no answer could take too long without a meter.
    pub metered: bool,
    /// Values are compared with each other (`uniqueItems`), however deep they are.
    pub compares: bool,
    /// Subschemas open at once at one place of the instance.
    pub chain: usize,
    /// Subschemas open at once over all, where not recursive.
    pub longest: usize,
    /// Subschemas in all.
    pub subschemas: usize,
    /// Every pattern, once.
    pub patterns: Vec<Pattern>,
}

/// A regular expression of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub text: String,
    pub at: String,
}

/// Judges `graph`, refusing what no call could survive.
pub(crate) fn judge(graph: &Graph<'_>, document: &Value) -> Result<Outlook, SchemaError> {
    let all: Vec<usize> = (0..graph.nodes.len()).collect();
    let certain =
        fold(graph, &all, |edge| edge.applies == Applies::InPlace && edge.by != By::Perhaps);
    if let Some((node, keyword)) = certain.reference_in_loop {
        let at = shape::locate(document, graph.nodes[node].value).unwrap_or_default();
        let message =
            format!("`{keyword}` leads back to the same place without looking at anything");
        return Err(SchemaError::invalid(shape::join(&at, keyword), message));
    }
    let in_place = fold(graph, &all, |edge| edge.applies == Applies::InPlace);
    let (widest, &paths) = in_place
        .paths
        .iter()
        .enumerate()
        .max_by_key(|(_, paths)| **paths)
        .expect("a graph has a root");
    if paths > MAX_IN_PLACE_PATHS {
        let at = shape::locate(document, graph.nodes[widest].value).unwrap_or_default();
        let message = format!(
            "references fan out: one value would be judged more than {MAX_IN_PLACE_PATHS} times"
        );
        return Err(SchemaError::invalid(at, message));
    }
    check_resources(graph)?;
    let whole = fold(graph, &[0], |_| true);
    Ok(Outlook {
        recursive: whole.looped,
        metered: whole.paths[0] > METERED_PATHS || in_place.looped,
        compares: graph
            .nodes
            .iter()
            .any(|node| node.value.get("uniqueItems") == Some(&Value::Bool(true))),
        chain: in_place.chain.iter().copied().max().unwrap_or(1),
        longest: whole.chain[0],
        subschemas: graph.nodes.len(),
        patterns: patterns(graph, document),
    })
}

/// Sums over the graph with the edges that close a loop cut.
struct Fold {
    /// Ways from a node to any node, itself included.
    paths: Vec<u64>,
    /// Nodes on the longest way from a node.
    chain: Vec<usize>,
    looped: bool,
    /// A reference that is part of a loop.
    reference_in_loop: Option<(usize, &'static str)>,
}

fn fold(graph: &Graph<'_>, starts: &[usize], follow: impl Fn(&Edge) -> bool) -> Fold {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let count = graph.nodes.len();
    let mut state = vec![State::New; count];
    let mut sums = Fold {
        paths: vec![1; count],
        chain: vec![1; count],
        looped: false,
        reference_in_loop: None,
    };
    // Open nodes, each with the number of its edges already taken.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for &start in starts {
        if state[start] == State::New {
            state[start] = State::Open;
            open.push((start, 0));
        }
        while let Some((node, taken)) = open.last_mut() {
            let node = *node;
            let Some(edge) = graph.nodes[node].edges.get(*taken) else {
                state[node] = State::Done;
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
            match state[edge.to] {
                State::New => {
                    state[edge.to] = State::Open;
                    open.push((edge.to, 0));
                }
                State::Done => sums.add(node, edge),
                State::Open => {
                    sums.looped = true;
                    sums.reference_in_loop =
                        sums.reference_in_loop.or_else(|| reference_among(graph, &open, edge.to));
                }
            }
        }
    }
    sums
}

impl Fold {
    fn add(&mut self, node: usize, edge: &Edge) {
        let ways = self.paths[edge.to].saturating_mul(edge.times);
        self.paths[node] = self.paths[node].saturating_add(ways);
        self.chain[node] = self.chain[node].max(self.chain[edge.to].saturating_add(1));
    }
}

/// A reference among the edges taken since `from` was opened.
fn reference_among(
    graph: &Graph<'_>,
    open: &[(usize, usize)],
    from: usize,
) -> Option<(usize, &'static str)> {
    let since = open.iter().rposition(|(node, _)| *node == from)?;
    open[since..].iter().find_map(|&(node, taken)| match graph.nodes[node].edges[taken - 1].by {
        By::Reference(keyword) => Some((node, keyword)),
        _ => None,
    })
}

/// The validator compiles a reference target once per chain of resources it is reached through, so
/// resources that refer to each other in many orders multiply.
fn check_resources(graph: &Graph<'_>) -> Result<(), SchemaError> {
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
    let links: Vec<Vec<usize>> = links.into_iter().map(|set| set.into_iter().collect()).collect();
    let mut work = sizes[0];
    let mut on_way = vec![false; graph.resources];
    on_way[0] = true;
    let mut open = vec![(0, 0)];
    while let Some((resource, taken)) = open.last_mut() {
        let Some(&next) = links[*resource].get(*taken) else {
            on_way[*resource] = false;
            open.pop();
            continue;
        };
        *taken += 1;
        if !on_way[next] {
            on_way[next] = true;
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

fn patterns(graph: &Graph<'_>, document: &Value) -> Vec<Pattern> {
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
    let places: Vec<&Value> = found.iter().map(|(value, ..)| *value).collect();
    let pointers =
        if places.is_empty() { Vec::new() } else { shape::locate_all(document, &places) };
    let at = |pointer: Option<String>, keyword: &str, text: &str| {
        let at = shape::join(&pointer.unwrap_or_default(), keyword);
        if keyword == "pattern" { at } else { shape::join(&at, text) }
    };
    found
        .iter()
        .zip(pointers)
        .map(|((_, keyword, text), pointer)| Pattern {
            text: (*text).to_owned(),
            at: at(pointer, keyword, text),
        })
        .collect()
}
