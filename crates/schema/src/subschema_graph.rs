//! The subschemas of a document as a graph: a node per subschema, an edge where one applies
//! another.
//!
//! ```text
//! { "properties": { "child": { "$ref": "#" } } }
//!
//!     root ── properties, child value ──▶ /properties/child
//!       ▲                                       │
//!       └──────────── $ref, same value ─────────┘
//! ```
//!
//! References are resolved by the resolver that `jsonschema` uses, so that `cost_analysis` sees
//! exactly what is going to run. The graph is built without recursion, because a document may chain
//! thousands of references. What loops, fan-out and depth mean is not decided here.

use std::collections::{HashMap, HashSet};

use referencing::{Registry, Resolver, ResourceRef, Uri};
use serde_json::{Map, Value};

use crate::limits::MAX_SUBSCHEMAS;
use crate::resource_registry::{
    self, RecordingRetriever, dialect_of, draft_of, is_meta_schema, lower_first,
};
use crate::subschema_keywords::{self, SubschemaTarget};
use crate::{Dialect, SchemaError, pointer};

/// All subschemas of a document and of the meta-schemas it refers to; the root is the first.
#[derive(Default)]
pub(crate) struct SubschemaGraph<'r> {
    /// Edges hold indices into this list.
    pub nodes: Vec<SubschemaNode<'r>>,
    /// How many schema resources (the document and embedded `$id`s) the nodes belong to.
    pub resources: usize,
}

impl SubschemaGraph<'_> {
    /// How many references there are.
    pub(crate) fn references(&self) -> usize {
        let edges = self.nodes.iter().flat_map(|node| &node.edges);
        edges.filter(|edge| edge.origin != EdgeOrigin::Keyword).count()
    }
}

/// One subschema.
pub(crate) struct SubschemaNode<'r> {
    /// The subschema as it is written.
    pub value: &'r Value,
    /// The subschemas it applies.
    pub edges: Vec<SubschemaEdge>,
    /// Number of the resource it belongs to, below [`SubschemaGraph::resources`].
    pub resource: usize,
}

/// One subschema applying another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubschemaEdge {
    /// Index of the applied subschema.
    pub to: usize,
    /// The part of the instance it is applied to.
    pub target: SubschemaTarget,
    /// How often evaluating the source evaluates the target: twice beside `unevaluated*`, which
    /// evaluates its siblings a second time to learn what they cover.
    pub times: u64,
    /// What makes the edge.
    pub origin: EdgeOrigin,
}

/// What makes an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeOrigin {
    /// A keyword that holds the subschema.
    Keyword,
    /// A reference that always resolves to it; the keyword is `$ref` or `$dynamicRef`.
    Reference(&'static str),
    /// A `$dynamicRef` that may resolve to it, depending on the schemas it was reached through.
    PossibleReference,
}

/// Builds the graph of `document` and everything it refers to, and passes it to `analyze`.
///
/// A callback and not a return value, because the graph borrows from a registry that lives in this
/// function: subschemas of meta-schemas belong to the registry, not to the document.
///
/// # Errors
/// References that leave the document or resolve to nothing, a document that claims the `$id` of a
/// meta-schema, too many subschemas, or whatever `analyze` returns.
///
/// First all subschemas of the document, then what references lead to, which may add subschemas of
/// meta-schemas, until no reference is pending.
pub(crate) fn with_graph<T>(
    document: &Value,
    dialect: Dialect,
    analyze: impl FnOnce(&SubschemaGraph<'_>) -> Result<T, SchemaError>,
) -> Result<T, SchemaError> {
    let retriever = RecordingRetriever::default();
    let draft = draft_of(dialect);
    let resource = ResourceRef::new(document, draft);
    let (registry, base) = resource_registry::prepare(resource, &retriever)
        .map_err(|error| resource_registry::invalid_uri_error(document, dialect, &error))?;
    if is_meta_schema(base.as_str()) {
        return Err(meta_schema_id_error("/$id".to_owned()));
    }
    let external_uris = retriever.requested_uris();
    let mut builder = GraphBuilder {
        document,
        registry: &registry,
        external_uris: &external_uris,
        graph: SubschemaGraph::default(),
        indices: HashMap::new(),
        resources: HashMap::new(),
        pending_subschemas: Vec::new(),
        pending_references: Vec::new(),
        dynamic_anchors: HashMap::new(),
        dynamic_references: Vec::new(),
    };
    let resolver = registry.resolver(base);
    builder.add_tree(document, resolver, dialect)?;
    builder.follow_references()?;
    builder.connect_dynamic_references();
    if let Some(uri) = external_uris.iter().next() {
        // `referencing` also looks for references under keywords that hold no subschemas for us.
        return Err(SchemaError::ExternalRef { at: String::new(), reference: uri.clone() });
    }
    let mut graph = builder.graph;
    graph.resources = builder.resources.len();
    analyze(&graph)
}

/// The graph under construction.
struct GraphBuilder<'r> {
    document: &'r Value,
    registry: &'r Registry<'r>,
    /// URIs outside of the document; a reference to one of them is an error.
    external_uris: &'r HashSet<String>,
    graph: SubschemaGraph<'r>,
    /// The node of each subschema, by its address: several references may lead to one subschema.
    indices: HashMap<*const Value, usize>,
    /// The number of each resource, by its base URI.
    resources: HashMap<String, usize>,
    /// Subschemas whose own subschemas are not added yet.
    pending_subschemas: Vec<(usize, Resolver<'r>, Dialect)>,
    /// References that are not resolved yet.
    pending_references: Vec<PendingReference<'r>>,
    /// All subschemas with a `$dynamicAnchor`, by its name.
    dynamic_anchors: HashMap<&'r str, Vec<usize>>,
    /// From, initial target and anchor name of each `$dynamicRef` whose target may vary.
    dynamic_references: Vec<(usize, usize, &'r str)>,
}

/// A reference and what is needed to resolve it.
struct PendingReference<'r> {
    /// The node that holds it.
    from: usize,
    /// `$ref` or `$dynamicRef`.
    keyword: &'static str,
    /// The URI reference as it is written.
    text: &'r str,
    /// Knows the base URI at its place.
    resolver: Resolver<'r>,
}

impl<'r> GraphBuilder<'r> {
    /// Adds `value` and all subschemas below it; the index of `value` comes back.
    fn add_tree(
        &mut self,
        value: &'r Value,
        resolver: Resolver<'r>,
        dialect: Dialect,
    ) -> Result<usize, SchemaError> {
        let root = self.add_node(value, resolver, dialect)?;
        while let Some((index, resolver, dialect)) = self.pending_subschemas.pop() {
            if let Value::Object(schema) = self.graph.nodes[index].value {
                self.add_edges(index, schema, &resolver, dialect)?;
            }
        }
        Ok(root)
    }

    /// Adds one subschema, unless it is there already.
    fn add_node(
        &mut self,
        value: &'r Value,
        resolver: Resolver<'r>,
        dialect: Dialect,
    ) -> Result<usize, SchemaError> {
        if let Some(&existing) = self.indices.get(&std::ptr::from_ref(value)) {
            return Ok(existing);
        }
        let index = self.graph.nodes.len();
        if index == MAX_SUBSCHEMAS {
            return Err(SchemaError::invalid("", format!("more than {MAX_SUBSCHEMAS} subschemas")));
        }
        let next_resource = self.resources.len();
        let base_uri = resolver.base_uri().as_str().to_owned();
        let resource = *self.resources.entry(base_uri).or_insert(next_resource);
        self.indices.insert(value, index);
        self.graph.nodes.push(SubschemaNode { value, edges: Vec::new(), resource });
        self.pending_subschemas.push((index, resolver, dialect));
        Ok(index)
    }

    /// Adds the subschemas directly inside `schema`, with an edge to each that it applies.
    fn add_edges(
        &mut self,
        from: usize,
        schema: &'r Map<String, Value>,
        resolver: &Resolver<'r>,
        dialect: Dialect,
    ) -> Result<(), SchemaError> {
        self.note_references(from, schema, resolver, dialect);
        let has_ref = schema.get("$ref").is_some_and(Value::is_string);
        // Beside a draft-07 `$ref` a subschema is not applied. It is still a node: a reference may
        // lead to it, and its own references are checked like all others.
        let ignored = has_ref && subschema_keywords::ref_ignores_siblings(dialect);
        let evaluates_twice = has_unevaluated(schema);
        let mut children = Vec::new();
        subschema_keywords::subschemas(schema, dialect, |target, child| {
            children.push((target, child));
        });
        for (target, child) in children {
            let (resolver, dialect) = self.enter(child, resolver, dialect)?;
            let to = self.add_node(child, resolver, dialect)?;
            if target != SubschemaTarget::Definition && !ignored {
                let in_place = target == SubschemaTarget::SameValue;
                let times = if evaluates_twice && in_place { 2 } else { 1 };
                let origin = EdgeOrigin::Keyword;
                self.graph.nodes[from].edges.push(SubschemaEdge { to, target, times, origin });
            }
        }
        Ok(())
    }

    /// Notes the references and the dynamic anchor of `schema`. They are resolved when the whole
    /// document has been walked, because anchors may follow their references.
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
                let resolver = resolver.clone();
                self.pending_references.push(PendingReference { from, keyword, text, resolver });
            }
        }
        let anchor = schema.get("$dynamicAnchor").and_then(Value::as_str);
        if let Some(name) = anchor.filter(|_| dialect == Dialect::Draft202012) {
            self.dynamic_anchors.entry(name).or_default().push(from);
        }
    }

    /// The resolver and dialect inside `child`, which may be a resource of its own.
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
        // Inside a meta-schema that a reference led to, every subschema has such a base URI.
        if is_meta_schema(inside.base_uri().as_str())
            && !is_meta_schema(resolver.base_uri().as_str())
        {
            return Err(meta_schema_id_error(self.pointer(child, "$id")));
        }
        Ok((inside, dialect_of(draft).unwrap_or(dialect)))
    }

    /// Resolves all references, and the ones in the subschemas that they lead to.
    fn follow_references(&mut self) -> Result<(), SchemaError> {
        while let Some(reference) = self.pending_references.pop() {
            let (target, resolver, dialect) = self.resolve(&reference)?;
            let to = self.add_tree(target, resolver, dialect)?;
            // A `$dynamicRef` is dynamic only if its fragment names the `$dynamicAnchor` of its
            // initial target (2020-12 core, 8.2.3.2); otherwise it behaves like a `$ref`.
            let dynamic = (reference.keyword == "$dynamicRef")
                .then(|| target.get("$dynamicAnchor").and_then(Value::as_str))
                .flatten()
                .filter(|name| {
                    reference.text.rsplit_once('#').is_some_and(|(_, fragment)| fragment == *name)
                });
            match dynamic {
                Some(name) => self.dynamic_references.push((reference.from, to, name)),
                None => {
                    self.add_reference(
                        reference.from,
                        to,
                        EdgeOrigin::Reference(reference.keyword),
                    );
                }
            }
        }
        Ok(())
    }

    /// The target of a reference, with the resolver and dialect inside of it.
    fn resolve(
        &self,
        reference: &PendingReference<'r>,
    ) -> Result<(&'r Value, Resolver<'r>, Dialect), SchemaError> {
        let PendingReference { from, keyword, text, resolver } = reference;
        let at = || self.pointer(self.graph.nodes[*from].value, keyword);
        let external = || SchemaError::ExternalRef { at: at(), reference: (*text).to_owned() };
        let invalid = |why: &str| SchemaError::invalid(at(), format!("`{keyword}` `{text}` {why}"));
        let absolute = resolver
            .resolve_uri(&resolver.base_uri().borrow(), text)
            .map_err(|_| invalid("is not a URI reference"))?;
        // The registry holds the schema `true` for these: looking them up would succeed.
        let document = absolute.as_str().split('#').next().unwrap_or_default();
        if self.external_uris.contains(document) {
            return Err(external());
        }
        let resolved = resolver.lookup(text).map_err(|error| match error {
            referencing::Error::Unretrievable { .. } => external(),
            _ => invalid("points to nothing"),
        })?;
        let (contents, inside, draft) = resolved.into_inner();
        // The registry also holds the meta-schemas of unsupported dialects.
        let dialect = dialect_of(draft).ok_or_else(external)?;
        if !(contents.is_object() || contents.is_boolean()) {
            return Err(invalid("does not point to a schema"));
        }
        // A fresh resolver: the dynamic scope of this one grows with every reference followed.
        let base = Uri::clone(&inside.base_uri());
        Ok((contents, self.registry.resolver(base), dialect))
    }

    /// Adds the edges of dynamic references. Which anchor a `$dynamicRef` resolves to depends on
    /// the dynamic scope, so unless only one anchor has the name, there is an edge to each.
    fn connect_dynamic_references(&mut self) {
        for (from, to, name) in std::mem::take(&mut self.dynamic_references) {
            let candidates = self.dynamic_anchors.get(name).cloned().unwrap_or_default();
            if candidates == [to] {
                self.add_reference(from, to, EdgeOrigin::Reference("$dynamicRef"));
            } else {
                for to in candidates {
                    self.add_reference(from, to, EdgeOrigin::PossibleReference);
                }
            }
        }
    }

    /// Adds the edge of a reference, which always applies to the same value.
    fn add_reference(&mut self, from: usize, to: usize, origin: EdgeOrigin) {
        let twice = self.graph.nodes[from].value.as_object().is_some_and(has_unevaluated);
        let (target, times) = (SubschemaTarget::SameValue, if twice { 2 } else { 1 });
        self.graph.nodes[from].edges.push(SubschemaEdge { to, target, times, origin });
    }

    /// The pointer of a keyword of `schema`, for an error.
    fn pointer(&self, schema: &Value, keyword: &str) -> String {
        // Not found means inside a meta-schema; those have no errors.
        let schema = pointer::pointer_to(self.document, schema).unwrap_or_default();
        pointer::join(&schema, keyword)
    }
}

/// Whether `schema` evaluates the subschemas that apply in place a second time.
fn has_unevaluated(schema: &Map<String, Value>) -> bool {
    schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems")
}

/// A document with the `$id` of a meta-schema would replace it in the registry, and with it the
/// rules that the document itself is checked by.
fn meta_schema_id_error(at: String) -> SchemaError {
    SchemaError::invalid(at, "`$id` is the address of a meta-schema")
}
