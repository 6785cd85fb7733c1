//! Which big vendor refuses or ignores which part of a tool's input schema.
//!
//! The question is what breaks when the tool is simply passed on: OpenAI's `parameters` without
//! `strict`, Anthropic's `input_schema` without `strict`, and `parameters` of a Gemini function
//! declaration as the HTTP API takes it. What is known is in `facts`, which schema shows it in
//! `rules`.
//!
//! Not here: OpenAI's and Anthropic's strict modes. They are asked for tool by tool and want the
//! schema rewritten (every property required, every object closed), so hardly a schema as published
//! passes, and reporting that by default would drown what really breaks. Nor Gemini's
//! `parametersJsonSchema`, which takes JSON Schema. Nor names, descriptions and the number of
//! tools: they are not the schema's.

mod facts;
mod rules;

use serde_json::{Map, Value};

use crate::keywords;
use crate::limits::MAX_DEPTH;
use crate::{Dialect, shape};

use facts::Fact;

/// Entries at most. The vocabularies have some sixty keywords; only made-up ones come in thousands.
const MAX_ENTRIES: usize = 64;

/// Whose models are to call the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// OpenAI: chat completions and responses.
    OpenAi,
    /// Anthropic: messages.
    Anthropic,
    /// Google: the Gemini API.
    Gemini,
}

impl Vendor {
    /// The name people know it by.
    pub fn name(self) -> &'static str {
        match self {
            Vendor::OpenAi => "OpenAI",
            Vendor::Anthropic => "Anthropic",
            Vendor::Gemini => "Gemini",
        }
    }
}

/// What a vendor does with what it does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The whole request fails, with all its tools.
    Rejects,
    /// The request passes, the keyword has no effect.
    Ignores,
}

/// Something in a schema that at least one vendor does not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incompatibility {
    /// JSON pointer of the first place: of the keyword, or of the schema that lacks it.
    pub at: String,
    /// The keyword; for a boolean schema `true` or `false`.
    pub keyword: String,
    /// Every vendor concerned.
    pub vendors: &'static [(Vendor, Effect)],
    /// Why, and what to write instead.
    pub note: &'static str,
    /// How many places of the schema show it.
    pub count: usize,
}

/// What of `schema`, a tool's input schema, is lost on some vendor, in the order it is written.
///
/// One entry per keyword and reason, with its first place and the number of places. Looks at
/// subschemas only, never into `const`, `enum`, `default` or `examples`, and no deeper than a
/// schema may nest. A schema of an unknown dialect is read as 2020-12.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{Effect, Vendor, incompatibilities};
///
/// let found = incompatibilities(&json!({
///     "type": "object",
///     "properties": { "unit": { "type": "string", "const": "C" } }
/// }));
/// assert_eq!(found[0].at, "/properties/unit/const");
/// assert_eq!(found[0].vendors, [(Vendor::Gemini, Effect::Rejects)]);
/// ```
pub fn incompatibilities(schema: &Value) -> Vec<Incompatibility> {
    let dialect = Dialect::of(schema).unwrap_or(Dialect::Draft202012);
    let mut findings = Findings::default();
    match schema {
        Value::Object(members) => {
            walk(Subschema { value: schema, members, top: true }, dialect, 0, &mut findings)
        }
        Value::Bool(_) => findings.add(&facts::NOT_AN_OBJECT, "type", Place::of(schema)),
        // Not a schema: compiling says so.
        _ => {}
    }
    findings.located(schema)
}

/// A subschema that is not a boolean.
#[derive(Clone, Copy)]
struct Subschema<'a> {
    value: &'a Value,
    members: &'a Map<String, Value>,
    /// The input schema itself.
    top: bool,
}

/// Recursion ends where nesting does, so 256 KB of stack are plenty and good schemas need no heap.
fn walk<'a>(schema: Subschema<'a>, dialect: Dialect, depth: usize, findings: &mut Findings<'a>) {
    rules::judge(schema, findings);
    if depth == MAX_DEPTH {
        return;
    }
    keywords::subschemas(schema.members, dialect, |_, value| {
        if let Value::Object(members) = value {
            walk(Subschema { value, members, top: false }, dialect, depth + 1, findings);
        }
    });
}

/// A value of the document, and what to append to its pointer.
#[derive(Clone, Copy)]
struct Place<'a> {
    value: &'a Value,
    keyword: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> Place<'a> {
    fn of(value: &'a Value) -> Place<'a> {
        Place { value, keyword: None, name: None }
    }
}

struct Finding<'a> {
    fact: &'static Fact,
    keyword: &'a str,
    first: Place<'a>,
    count: usize,
}

#[derive(Default)]
struct Findings<'a> {
    list: Vec<Finding<'a>>,
}

impl<'a> Findings<'a> {
    fn add(&mut self, fact: &'static Fact, keyword: &'a str, place: Place<'a>) {
        let same = |known: &Finding<'_>| std::ptr::eq(known.fact, fact) && known.keyword == keyword;
        if let Some(known) = self.list.iter_mut().find(|known| same(known)) {
            known.count += 1;
        } else if self.list.len() < MAX_ENTRIES {
            self.list.push(Finding { fact, keyword, first: place, count: 1 });
        }
    }

    /// Pointers are found in one pass at the end, so a schema that suits everybody pays nothing.
    fn located(self, document: &Value) -> Vec<Incompatibility> {
        if self.list.is_empty() {
            return Vec::new();
        }
        let places: Vec<&Value> = self.list.iter().map(|finding| finding.first.value).collect();
        let pointers = shape::locate_all(document, &places);
        self.list.iter().zip(pointers).map(|(finding, pointer)| finding.located(pointer)).collect()
    }
}

impl Finding<'_> {
    fn located(&self, pointer: Option<String>) -> Incompatibility {
        let mut at = pointer.unwrap_or_default();
        self.first
            .keyword
            .into_iter()
            .chain(self.first.name)
            .for_each(|key| shape::extend(&mut at, key));
        Incompatibility {
            at,
            keyword: self.keyword.to_owned(),
            vendors: self.fact.vendors,
            note: self.fact.note,
            count: self.count,
        }
    }
}
