//! The subschemas of a document and what each applies, with references resolved by the same
//! resolver the validator uses, so that the guards judge what will really run.
//!
//! Built without recursion. What the graph means (loops, fan-out, depth) is `analysis`'s business.

use std::collections::{HashMap, HashSet};

use referencing::{Registry, Resolver, ResourceRef, Uri};
use serde_json::{Map, Value};

use crate::keywords::{self, Applies};
use crate::limits::MAX_SUBSCHEMAS;
use crate::registry::{self, Stub, dialect_of, draft_of, is_meta_schema, lower_first};
use crate::{Dialect, SchemaError, shape};

/// All subschemas; the root is the first.
#[derive(Default)]
pub(crate) struct Graph<'r> {
    pub nodes: Vec<Node<'r>>,
    /// How many schema resources (the document and embedded `$id`s) the nodes belong to.
    pub resources: usize,
}

impl Graph<'_> {
    /// How many references there are.
    pub(crate) fn references(&self) -> usize {
        self.nodes.iter().flat_map(|node| &node.edges).filter(|edge| edge.by != By::Keyword).count()
    }
}

/// One subschema.
pub(crate) struct Node<'r> {
    pub value: &'r Value,
    pub edges: Vec<Edge>,
    pub resource: usize,
}

/// One subschema applying another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub to: usize,
    pub applies: Applies,
    /// How often evaluating the source evaluates the target: `unevaluated*` asks its siblings
    /// again.
    pub times: u64,
    pub by: By,
}

/// What makes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Keyword,
    Reference(&'static str),
    /// A `$dynamicRef` that may end here, depending on how it was reached.
    Perhaps,
}

/// Walks `document` and everything it refers to.
pub(crate) fn build<T>(
    document: &Value,
    dialect: Dialect,
    judge: impl FnOnce(&Graph<'_>) -> Result<T, SchemaError>,
) -> Result<T, SchemaError> {
    let stub = Stub::default();
    let draft = draft_of(dialect);
    let resource = ResourceRef::new(document, draft);
    let (registry, base) = registry::prepare(resource, &stub)
        .map_err(|error| registry::bad_uri(document, dialect, &error))?;
    if is_meta_schema(base.as_str()) {
        return Err(poses("/$id".to_owned()));
    }
    let asked = stub.asked();
    let mut walk = Walk {
        document,
        registry: &registry,
        asked: &asked,
        graph: Graph::default(),
        seen: HashMap::new(),
        resources: HashMap::new(),
        subschemas: Vec::new(),
        references: Vec::new(),
        dynamic_anchors: HashMap::new(),
        dynamic_references: Vec::new(),
    };
    let resolver = registry.resolver(base);
    walk.tree(document, resolver, dialect)?;
    walk.follow_references()?;
    walk.join_dynamic_references();
    if let Some(uri) = asked.iter().next() {
        // Asked for from a place that is no subschema to us.
        return Err(SchemaError::ExternalRef { at: String::new(), reference: uri.clone() });
    }
    let mut graph = walk.graph;
    graph.resources = walk.resources.len();
    judge(&graph)
}

struct Walk<'r> {
    document: &'r Value,
    registry: &'r Registry<'r>,
    /// URIs outside the document.
    asked: &'r HashSet<String>,
    graph: Graph<'r>,
    seen: HashMap<*const Value, usize>,
    resources: HashMap<String, usize>,
    /// Subschemas added but not looked into yet.
    subschemas: Vec<(usize, Resolver<'r>, Dialect)>,
    /// References not resolved yet.
    references: Vec<Reference<'r>>,
    dynamic_anchors: HashMap<&'r str, Vec<usize>>,
    dynamic_references: Vec<(usize, usize, &'r str)>,
}

struct Reference<'r> {
    from: usize,
    keyword: &'static str,
    text: &'r str,
    resolver: Resolver<'r>,
}

impl<'r> Walk<'r> {
    /// Adds `value` and all subschemas below it.
    fn tree(
        &mut self,
        value: &'r Value,
        resolver: Resolver<'r>,
        dialect: Dialect,
    ) -> Result<usize, SchemaError> {
        let root = self.add(value, resolver, dialect)?;
        while let Some((index, resolver, dialect)) = self.subschemas.pop() {
            if let Value::Object(schema) = self.graph.nodes[index].value {
                self.look_into(index, schema, &resolver, dialect)?;
            }
        }
        Ok(root)
    }

    fn add(
        &mut self,
        value: &'r Value,
        resolver: Resolver<'r>,
        dialect: Dialect,
    ) -> Result<usize, SchemaError> {
        if let Some(&known) = self.seen.get(&std::ptr::from_ref(value)) {
            return Ok(known);
        }
        let index = self.graph.nodes.len();
        if index == MAX_SUBSCHEMAS {
            return Err(SchemaError::invalid("", format!("more than {MAX_SUBSCHEMAS} subschemas")));
        }
        let resources = self.resources.len();
        let resource =
            *self.resources.entry(resolver.base_uri().as_str().to_owned()).or_insert(resources);
        self.seen.insert(value, index);
        self.graph.nodes.push(Node { value, edges: Vec::new(), resource });
        self.subschemas.push((index, resolver, dialect));
        Ok(index)
    }

    fn look_into(
        &mut self,
        from: usize,
        schema: &'r Map<String, Value>,
        resolver: &Resolver<'r>,
        dialect: Dialect,
    ) -> Result<(), SchemaError> {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let alone = reference.is_some() && keywords::reference_stands_alone(dialect);
        self.note_references(from, schema, resolver, dialect);
        let again = ["unevaluatedProperties", "unevaluatedItems"]
            .iter()
            .any(|name| schema.contains_key(*name));
        let mut children = Vec::new();
        keywords::subschemas(schema, dialect, |applies, child| children.push((applies, child)));
        for (applies, child) in children {
            let (resolver, dialect) = self.enter(child, resolver, dialect)?;
            let to = self.add(child, resolver, dialect)?;
            // Beside a draft-07 `$ref` a subschema is only a definition.
            if applies != Applies::Never && !alone {
                let times = if again && applies == Applies::InPlace { 2 } else { 1 };
                self.graph.nodes[from].edges.push(Edge { to, applies, times, by: By::Keyword });
            }
        }
        Ok(())
    }

    fn note_references(
        &mut self,
        from: usize,
        schema: &'r Map<String, Value>,
        resolver: &Resolver<'r>,
        dialect: Dialect,
    ) {
        let keywords: &[&'static str] = match dialect {
            Dialect::Draft7 => &["$ref"],
            Dialect::Draft202012 => &["$ref", "$dynamicRef"],
        };
        for &keyword in keywords {
            if let Some(text) = schema.get(keyword).and_then(Value::as_str) {
                self.references.push(Reference { from, keyword, text, resolver: resolver.clone() });
            }
        }
        let anchor = schema.get("$dynamicAnchor").and_then(Value::as_str);
        if let Some(name) = anchor.filter(|_| dialect == Dialect::Draft202012) {
            self.dynamic_anchors.entry(name).or_default().push(from);
        }
    }

    /// The resolver and dialect inside `child`.
    fn enter(
        &self,
        child: &'r Value,
        resolver: &Resolver<'r>,
        dialect: Dialect,
    ) -> Result<(Resolver<'r>, Dialect), SchemaError> {
        let draft = draft_of(dialect).detect(child);
        let inside = resolver.in_subresource(ResourceRef::new(child, draft)).map_err(|error| {
            SchemaError::invalid(self.pointer(child, "$id"), lower_first(&error.to_string()))
        })?;
        if is_meta_schema(inside.base_uri().as_str())
            && !is_meta_schema(resolver.base_uri().as_str())
        {
            return Err(poses(self.pointer(child, "$id")));
        }
        Ok((inside, dialect_of(draft).unwrap_or(dialect)))
    }

    fn follow_references(&mut self) -> Result<(), SchemaError> {
        while let Some(reference) = self.references.pop() {
            let (target, resolver, dialect) = self.resolve(&reference)?;
            let to = self.tree(target, resolver, dialect)?;
            let dynamic = (reference.keyword == "$dynamicRef")
                .then(|| target.get("$dynamicAnchor").and_then(Value::as_str))
                .flatten()
                .filter(|name| {
                    reference.text.rsplit_once('#').is_some_and(|(_, fragment)| fragment == *name)
                });
            match dynamic {
                Some(name) => self.dynamic_references.push((reference.from, to, name)),
                None => self.refer(reference.from, to, By::Reference(reference.keyword)),
            }
        }
        Ok(())
    }

    fn resolve(
        &self,
        reference: &Reference<'r>,
    ) -> Result<(&'r Value, Resolver<'r>, Dialect), SchemaError> {
        let Reference { from, keyword, text, resolver } = reference;
        let at = || self.pointer(self.graph.nodes[*from].value, keyword);
        let external = || SchemaError::ExternalRef { at: at(), reference: (*text).to_owned() };
        let nowhere = |why: &str| SchemaError::invalid(at(), format!("`{keyword}` `{text}` {why}"));
        let absolute = resolver
            .resolve_uri(&resolver.base_uri().borrow(), text)
            .map_err(|_| nowhere("is not a URI reference"))?;
        let document = absolute.as_str().split('#').next().unwrap_or_default();
        if self.asked.contains(document) {
            return Err(external());
        }
        let resolved = resolver.lookup(text).map_err(|error| match error {
            referencing::Error::Unretrievable { .. } => external(),
            _ => nowhere("points to nothing"),
        })?;
        let (contents, inside, draft) = resolved.into_inner();
        // The registry also knows the meta-schemas of dialects we refuse.
        let dialect = dialect_of(draft).ok_or_else(external)?;
        if !(contents.is_object() || contents.is_boolean()) {
            return Err(nowhere("does not point to a schema"));
        }
        // A fresh resolver: the dynamic scope would grow with every reference followed.
        let base = Uri::clone(&inside.base_uri());
        Ok((contents, self.registry.resolver(base), dialect))
    }

    /// A `$dynamicRef` ends at its own anchor when no other has the name, else at any of them.
    fn join_dynamic_references(&mut self) {
        for (from, to, name) in std::mem::take(&mut self.dynamic_references) {
            let candidates = self.dynamic_anchors.get(name).cloned().unwrap_or_default();
            if candidates == [to] {
                self.refer(from, to, By::Reference("$dynamicRef"));
            } else {
                candidates.into_iter().for_each(|to| self.refer(from, to, By::Perhaps));
            }
        }
    }

    fn refer(&mut self, from: usize, to: usize, by: By) {
        let schema = self.graph.nodes[from].value;
        let again = ["unevaluatedProperties", "unevaluatedItems"]
            .iter()
            .any(|name| schema.get(name).is_some());
        let times = if again { 2 } else { 1 };
        self.graph.nodes[from].edges.push(Edge { to, applies: Applies::InPlace, times, by });
    }

    fn pointer(&self, schema: &Value, keyword: &str) -> String {
        // Not found: inside a meta-schema, which is sound.
        let schema = shape::locate(self.document, schema).unwrap_or_default();
        shape::join(&schema, keyword)
    }
}

/// A document in a meta-schema's place would be judged by itself.
fn poses(at: String) -> SchemaError {
    SchemaError::invalid(at, "`$id` is the address of a meta-schema")
}
