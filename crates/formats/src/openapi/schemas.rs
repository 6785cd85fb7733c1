//! Schemas of an OpenAPI document as JSON Schemas that stand alone: what they refer to in the
//! document comes with them under `$defs`.
//!
//! ```text
//! {$ref: "#/components/schemas/Pet"}  ─▶  {$ref: "#/$defs/Pet"}, $defs: {Pet: …}
//! ```
//!
//! A reference is not replaced by what it refers to, because schemas may contain themselves. A
//! reference that leads nowhere or out of the document stays as it is; the checks report it.
//!
//! ```text
//! Definitions::schema ─ turn_reference ─▶ waiting ─ finish ─▶ read ─ add_to ─▶ $defs
//!        ▲                                   │ schema of each, which may add more
//!        └───────────────────────────────────┘
//! ```

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use toolwright_model::{Json, Object};
use toolwright_source::{DocumentPath, Node, Severity};

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
    /// The objects with a reference that leads nowhere or out of the document, and how much that
    /// matters. The checks find those of schemas.
    pub(super) unresolved: Vec<(Node<'d>, Severity)>,
}

/// References from objects that are not schemas are followed this often: `$ref` to a `$ref` is
/// rare, and a loop ends here.
const MAX_HOPS: usize = 16;

impl<'d> OpenApiSchemas<'d> {
    /// The object that `first` is or refers to. A reference that cannot be followed is noted with
    /// the severity.
    pub(super) fn resolve(&mut self, first: Node<'d>, severity: Severity) -> Node<'d> {
        let mut node = first;
        for _ in 0..MAX_HOPS {
            let Some(reference) = node.get("$ref").and_then(Node::text) else { return node };
            match self.target(reference) {
                Some(target) => node = target,
                None => break,
            }
        }
        self.unresolved.push((first, severity));
        node
    }

    /// The value that a reference inside the document leads to. `None` for a reference to another
    /// document, and for `#` alone.
    fn target(&self, reference: &str) -> Option<Node<'d>> {
        let pointer = reference.strip_prefix('#').filter(|pointer| pointer.starts_with('/'))?;
        self.root.find(&DocumentPath::parse(&percent_decoded(pointer)?)?)
    }

    /// Whether a property of this schema is never sent in this direction. The reference of a
    /// property is followed once: `readOnly` stands in the schema that it names.
    fn is_left_out(&self, property: &Json, direction: SchemaUse) -> bool {
        let keyword = match direction {
            SchemaUse::Request => "readOnly",
            SchemaUse::Response => "writeOnly",
        };
        let target = property.get("$ref").and_then(Json::as_str).and_then(|text| self.target(text));
        match target {
            Some(target) => target.get(keyword).and_then(Node::boolean) == Some(true),
            None => property.get(keyword) == Some(&Json::Bool(true)),
        }
    }

    /// The schema as JSON Schema, or `None` if the budget is spent. Counted before anything else is
    /// done with the copy.
    fn read(&mut self, node: Node<'d>) -> Option<Json> {
        let mut schema = node.to_json();
        self.budget = self.budget.checked_sub(count_values(&schema))?;
        if self.is_version_3_0 {
            to_json_schema(&mut schema, SchemaVariant::OpenApi30);
        }
        Some(schema)
    }
}

/// What a schema describes.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SchemaUse {
    /// What is sent.
    Request,
    /// What comes back.
    Response,
}

/// A pointer in the fragment of a URI, without its escapes (RFC 6901, section 6); `None` if that is
/// not a text. A `%` without two hexadecimal digits stays as it is.
fn percent_decoded(pointer: &str) -> Option<Cow<'_, str>> {
    if !pointer.contains('%') {
        return Some(Cow::Borrowed(pointer));
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(high)
                    .zip(digit(low))
                    .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// How many values a value consists of. The value itself counts. Recursive: documents nest at most
/// 128 levels.
fn count_values(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(count_values).sum(),
        Json::Object(members) => members.values().map(count_values).sum(),
        _ => 0,
    }
}

/// The definitions of one tool's schema. One for the input and one for the output of each tool.
pub(super) struct Definitions<'d> {
    direction: SchemaUse,
    /// The name of each, by the pointer that refers to it.
    names: HashMap<String, String>,
    /// How many names were made of each last word, so that the next one is not searched for: a
    /// document may have ten thousand references with one last word.
    numbers: HashMap<String, usize>,
    /// All names.
    taken: HashSet<String>,
    /// Those whose schema was not read yet.
    waiting: Vec<(String, Node<'d>)>,
    /// The schemas by name, with the values that they came from.
    pub(super) read: Vec<(String, Json, Node<'d>)>,
}

impl<'d> Definitions<'d> {
    pub(super) fn new(direction: SchemaUse) -> Definitions<'d> {
        Definitions {
            direction,
            names: HashMap::new(),
            numbers: HashMap::new(),
            taken: HashSet::new(),
            waiting: Vec::new(),
            read: Vec::new(),
        }
    }

    /// The schema with its references turned to definitions; `None` if the budget is spent.
    ///
    /// In 3.0, what is never sent in this direction is no longer required. Then each reference is
    /// turned into one to `$defs`, and its target waits to be read by `finish`.
    pub(super) fn schema(
        &mut self,
        node: Node<'d>,
        context: &mut OpenApiSchemas<'d>,
    ) -> Option<Json> {
        let mut schema = context.read(node)?;
        each_subschema(&mut schema, &mut |members| {
            if context.is_version_3_0 {
                require_what_is_sent(members, self.direction, context);
            }
            self.turn_reference(members, context);
        });
        Some(schema)
    }

    /// `{"$ref": "#/components/schemas/Pet"}` becomes `{"$ref": "#/$defs/Pet"}`. The same reference
    /// gets the same name; a new one is queued. Schemas may refer to each other in a circle, so
    /// nothing is read here.
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

    /// The last word of the reference, of characters that need no escape in a pointer. Example:
    /// `#/components/schemas/Pet~1Owner` gives `Pet_1Owner`; a second one with the last word `Pet`
    /// becomes `Pet_2`.
    fn free_name(&mut self, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or_default();
        let allowed =
            |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let base: String = last.chars().map(allowed).collect();
        let number = self.numbers.entry(base.clone()).or_default();
        loop {
            *number += 1;
            let name = if *number == 1 { base.clone() } else { format!("{base}_{number}") };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Reads the definitions, and those that they refer to. Returns `None` if the budget is spent.
    /// Ends, because each reference is queued once.
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

/// OpenAPI 3.0: if a property is `readOnly` and required, "the required will take effect on the
/// response only", and the other way round for `writeOnly`. In 3.1 both are annotations.
fn require_what_is_sent(members: &mut Object, direction: SchemaUse, context: &OpenApiSchemas<'_>) {
    let Some(Json::Object(properties)) = members.get("properties") else { return };
    let left_out: HashSet<String> = properties
        .iter()
        .filter(|(_, property)| context.is_left_out(property, direction))
        .map(|(name, _)| name.clone())
        .collect();
    if left_out.is_empty() {
        return;
    }
    if let Some(Json::Array(names)) = members.get_mut("required") {
        names.retain(|name| !name.as_str().is_some_and(|name| left_out.contains(name)));
        if names.is_empty() {
            members.shift_remove("required");
        }
    }
}
