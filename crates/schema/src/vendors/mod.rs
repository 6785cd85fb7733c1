//! Which parts of a tool's input schema the APIs of OpenAI, Anthropic and Gemini reject or ignore.
//!
//! Assumed is a request that contains the schema unchanged: as OpenAI's `parameters` without
//! `strict`, as Anthropic's `input_schema` without `strict`, and as `parameters` of a Gemini
//! function declaration in the HTTP API. `facts` lists what the vendors do not accept, `rules`
//! recognizes it in a schema, and this file walks the schema and collects the results.
//!
//! Deliberately absent:
//!
//! - The strict modes of OpenAI and Anthropic. A request chooses them for each tool, and they
//!   require a rewritten schema (every property required, every object closed). Hardly any
//!   published schema passes, and reporting that would hide the schemas that fail in every mode.
//! - Gemini's `parametersJsonSchema`, which accepts JSON Schema.
//! - Names, descriptions and the number of tools, which are not part of the schema.

mod facts;
mod rules;

use serde_json::{Map, Value};

use crate::limits::MAX_DEPTH;
use crate::{Dialect, pointer, subschema_keywords};

use facts::VendorFact;

/// The most incompatibilities reported for a schema. The vocabularies have some sixty keywords; a
/// schema with more has invented ones.
const MAX_INCOMPATIBILITIES: usize = 64;

/// A company whose models call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// OpenAI: the chat completions and responses APIs.
    OpenAi,
    /// Anthropic: the messages API.
    Anthropic,
    /// Google: the Gemini API.
    Gemini,
}

impl Vendor {
    /// The name for messages: `OpenAI`, `Anthropic` or `Gemini`.
    pub fn name(self) -> &'static str {
        match self {
            Vendor::OpenAi => "OpenAI",
            Vendor::Anthropic => "Anthropic",
            Vendor::Gemini => "Gemini",
        }
    }
}

/// What a vendor does with a part of a schema that it does not accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VendorEffect {
    /// The whole request fails, with all the tools in it.
    Rejects,
    /// The request succeeds, and the keyword has no effect.
    Ignores,
}

/// A part of a schema that at least one vendor does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incompatibility {
    /// JSON pointer of its first occurrence: of the keyword, or of the schema that lacks it.
    pub at: String,
    /// The keyword; for a boolean schema `true` or `false`.
    pub keyword: String,
    /// The vendors that do not accept it.
    pub vendors: &'static [(Vendor, VendorEffect)],
    /// Why, and what to write instead.
    pub note: &'static str,
    /// The number of occurrences in the schema.
    pub count: usize,
}

/// The parts of `schema`, a tool's input schema, that some vendor does not accept, in the order
/// they are written.
///
/// One entry per keyword and reason, with its first occurrence and the number of occurrences.
/// Visits subschemas only, never `const`, `enum`, `default` or `examples`, and no deeper than a
/// schema may nest. A schema of an unknown dialect is read as 2020-12: reporting the dialect is not
/// this function's task.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{VendorEffect, Vendor, incompatibilities};
///
/// let found = incompatibilities(&json!({
///     "type": "object",
///     "properties": { "unit": { "type": "string", "const": "C" } }
/// }));
/// assert_eq!(found[0].at, "/properties/unit/const");
/// assert_eq!(found[0].vendors, [(Vendor::Gemini, VendorEffect::Rejects)]);
/// ```
pub fn incompatibilities(schema: &Value) -> Vec<Incompatibility> {
    let dialect = Dialect::of(schema).unwrap_or(Dialect::Draft202012);
    let mut findings = VendorFindings::default();
    match schema {
        Value::Object(members) => {
            let top = ObjectSubschema { value: schema, members, is_top: true };
            walk(top, dialect, 0, &mut findings);
        }
        Value::Bool(_) => findings.add(&facts::NOT_AN_OBJECT, "type", SchemaPlace::of(schema)),
        // Not a schema: compiling it reports that.
        _ => {}
    }
    findings.into_incompatibilities(schema)
}

/// A subschema that is not a boolean.
#[derive(Clone, Copy)]
struct ObjectSubschema<'a> {
    /// The subschema as a value, for its pointer.
    value: &'a Value,
    members: &'a Map<String, Value>,
    /// It is the input schema itself, for which vendors have stricter rules.
    is_top: bool,
}

/// Visits `schema` and the subschemas below it. The recursion ends at the depth that a schema may
/// have, so 256 KiB of stack suffice, and schemas without a finding need no heap memory.
fn walk<'a>(
    schema: ObjectSubschema<'a>,
    dialect: Dialect,
    depth: usize,
    findings: &mut VendorFindings<'a>,
) {
    rules::check_subschema(schema, findings);
    if depth == MAX_DEPTH {
        return;
    }
    subschema_keywords::subschemas(schema.members, dialect, |_, value| {
        if let Value::Object(members) = value {
            let child = ObjectSubschema { value, members, is_top: false };
            walk(child, dialect, depth + 1, findings);
        }
    });
}

/// A place in the schema: a subschema, or a keyword of it, or a name under that keyword.
#[derive(Clone, Copy)]
struct SchemaPlace<'a> {
    value: &'a Value,
    keyword: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> SchemaPlace<'a> {
    /// The subschema itself.
    fn of(value: &'a Value) -> SchemaPlace<'a> {
        SchemaPlace { value, keyword: None, name: None }
    }
}

/// An [`Incompatibility`] whose pointer is not known yet.
struct VendorFinding<'a> {
    fact: &'static VendorFact,
    keyword: &'a str,
    first: SchemaPlace<'a>,
    count: usize,
}

/// The findings so far.
#[derive(Default)]
struct VendorFindings<'a> {
    list: Vec<VendorFinding<'a>>,
}

impl<'a> VendorFindings<'a> {
    /// Adds a finding, or counts another occurrence of it. Facts are statics, so the address tells
    /// them apart.
    fn add(&mut self, fact: &'static VendorFact, keyword: &'a str, place: SchemaPlace<'a>) {
        let is_same =
            |other: &VendorFinding<'_>| std::ptr::eq(other.fact, fact) && other.keyword == keyword;
        if let Some(existing) = self.list.iter_mut().find(|other| is_same(other)) {
            existing.count += 1;
        } else if self.list.len() < MAX_INCOMPATIBILITIES {
            self.list.push(VendorFinding { fact, keyword, first: place, count: 1 });
        }
    }

    /// Adds the pointers, in one pass over the document, and none for a schema without findings.
    fn into_incompatibilities(self, document: &Value) -> Vec<Incompatibility> {
        if self.list.is_empty() {
            return Vec::new();
        }
        let places: Vec<&Value> = self.list.iter().map(|finding| finding.first.value).collect();
        let pointers = pointer::pointers_to(document, &places);
        let findings = self.list.iter().zip(pointers);
        findings.map(|(finding, pointer)| finding.to_incompatibility(pointer)).collect()
    }
}

impl VendorFinding<'_> {
    fn to_incompatibility(&self, pointer: Option<String>) -> Incompatibility {
        let mut at = pointer.unwrap_or_default();
        for key in self.first.keyword.into_iter().chain(self.first.name) {
            pointer::extend(&mut at, key);
        }
        Incompatibility {
            at,
            keyword: self.keyword.to_owned(),
            vendors: self.fact.vendors,
            note: self.fact.note,
            count: self.count,
        }
    }
}
