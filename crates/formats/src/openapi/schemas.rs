//! Schemas of an OpenAPI document as JSON Schemas that stand alone: what they refer to in the
//! document comes with them under `$defs`.
//!
//! ```text
//! {$ref: "#/components/schemas/Pet"}  ─▶  {$ref: "#/$defs/Pet"}, $defs: {Pet: …}
//! ```
//!
//! A reference is not replaced by what it refers to, because schemas may contain themselves. A
//! reference that leads nowhere or out of the document stays as it is; the checks report it.

use std::collections::HashMap;

use toolwright_model::{Json, Object};
use toolwright_source::{DocumentPath, Node};

use crate::openapi_schema::{SchemaVariant, each_subschema, to_json_schema};

/// What all schemas of a document share.
pub(super) struct OpenApiSchemas<'d> {
    /// The root of the document.
    pub(super) root: Node<'d>,
    /// Whether schemas are OpenAPI's own (3.0) and not JSON Schema.
    pub(super) is_version_3_0: bool,
    /// How many more values may be copied. Each tool has its own copies, so that a small document
    /// could otherwise become a record that fills the memory.
    pub(super) budget: usize,
}

/// References from objects that are not schemas are followed this often: `$ref` to a `$ref` is
/// rare, and a loop ends here.
const MAX_HOPS: usize = 16;

impl<'d> OpenApiSchemas<'d> {
    /// The object that `node` is or refers to.
    pub(super) fn resolve(&self, mut node: Node<'d>) -> Node<'d> {
        for _ in 0..MAX_HOPS {
            let target = node.get("$ref").and_then(Node::text).and_then(|text| self.target(text));
            match target {
                Some(target) => node = target,
                None => break,
            }
        }
        node
    }

    /// The value that a reference inside the document leads to.
    fn target(&self, reference: &str) -> Option<Node<'d>> {
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.starts_with('/'))?;
        self.root.find(&DocumentPath::parse(pointer)?)
    }

    /// The schema as JSON Schema, or `None` if the budget is spent.
    fn read(&mut self, node: Node<'d>) -> Option<Json> {
        let mut schema = node.to_json();
        self.budget = self.budget.checked_sub(count_values(&schema))?;
        if self.is_version_3_0 {
            to_json_schema(&mut schema, SchemaVariant::OpenApi30);
        }
        Some(schema)
    }
}

/// How many values a value consists of.
fn count_values(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(count_values).sum(),
        Json::Object(members) => members.values().map(count_values).sum(),
        _ => 0,
    }
}

/// The definitions of one tool's schema.
#[derive(Default)]
pub(super) struct Definitions<'d> {
    /// The name of each, by the pointer that refers to it.
    names: HashMap<String, String>,
    /// Those whose schema was not read yet.
    waiting: Vec<(String, Node<'d>)>,
    /// The schemas by name, with the values that they came from.
    pub(super) read: Vec<(String, Json, Node<'d>)>,
}

impl<'d> Definitions<'d> {
    /// The schema with its references turned to definitions; `None` if the budget is spent.
    pub(super) fn schema(
        &mut self,
        node: Node<'d>,
        context: &mut OpenApiSchemas<'d>,
    ) -> Option<Json> {
        let mut schema = context.read(node)?;
        each_subschema(&mut schema, &mut |members| self.turn_reference(members, context));
        Some(schema)
    }

    fn turn_reference(&mut self, members: &mut Object, context: &OpenApiSchemas<'d>) {
        let Some(Json::String(reference)) = members.get_mut("$ref") else { return };
        let Some(target) = context.target(reference) else { return };
        let name = match self.names.get(reference.as_str()) {
            Some(name) => name.clone(),
            None => {
                let name = self.free_name(reference);
                self.names.insert(reference.clone(), name.clone());
                self.waiting.push((name.clone(), target));
                name
            }
        };
        *reference = format!("#/$defs/{name}");
    }

    /// The last word of the reference, of characters that need no escape in a pointer.
    fn free_name(&self, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or_default();
        let allowed =
            |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let base: String = last.chars().map(allowed).collect();
        let is_free = |name: &String| self.names.values().all(|other| other != name);
        let numbered = (2..).map(|n| format!("{base}_{n}"));
        std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base)
    }

    /// Reads the definitions, and those that they refer to. Returns `None` if the budget is spent.
    pub(super) fn finish(&mut self, context: &mut OpenApiSchemas<'d>) -> Option<()> {
        while let Some((name, node)) = self.waiting.pop() {
            let schema = self.schema(node, context)?;
            self.read.push((name, schema, node));
        }
        // In an order that does not depend on where they are used.
        self.read.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        Some(())
    }

    /// Adds the definitions to a schema.
    pub(super) fn add_to(&self, schema: &mut Object) {
        if !self.read.is_empty() {
            let schemas =
                self.read.iter().map(|(name, schema, _)| (name.clone(), schema.clone())).collect();
            schema.insert("$defs".to_owned(), Json::Object(schemas));
        }
    }
}
