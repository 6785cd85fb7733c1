//! Which parts of a tool the APIs of model vendors reject or ignore.
//!
//! For [`incompatibilities`], assumed is a request that contains the tool unchanged, in the mode
//! that the target names. An incompatibility is a property of the pair of tool and target, so every
//! question names targets.
//!
//! ```text
//! targets: the list    facts: target × part of a schema    limits: names, counts, sizes
//!                        ▲ rules: recognizes the parts in one subschema
//!                        └ here: walks the schema, collects what the targets do not accept
//!                          rewrite/: a schema that a target accepts, instead of one it does not
//! ```

mod facts;
mod keywords;
mod limits;
mod recursion;
mod rewrite;
mod rules;
mod targets;
mod type_set;

use serde_json::{Map, Value};

use crate::limits::MAX_DEPTH;
use crate::{Dialect, pointer, subschema_keywords};

use facts::VendorFact;
pub use limits::{NameRule, RequestPart, SchemaCounts};
pub use rewrite::{
    ChangeAction, ChangeReport, RewrittenSchema, SchemaChange, rewrite_for, rewrite_if_needed,
    rewrite_result, standard_form, stated_types,
};
pub use targets::{TargetSet, VendorTarget};

/// The most incompatibilities reported for a schema. The vocabularies have some sixty keywords; a
/// schema with more has invented ones.
const MAX_INCOMPATIBILITIES: usize = 64;

/// What a target does with a part of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum VendorSupport {
    /// Documented as supported.
    Kept,
    /// Handed to the model as text, and not enforced.
    Passed,
    /// Accepted or dropped without any effect.
    Ignored,
    /// The whole request fails.
    Rejected,
    /// Nobody documents it, or the sources disagree.
    Undocumented,
}

/// What a target does with a part of a schema that it does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VendorEffect {
    /// The whole request fails, with all the tools in it.
    Rejects,
    /// The request succeeds, and the keyword has no effect.
    Ignores,
}

/// What is not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncompatiblePart {
    /// A keyword, or its value.
    Keyword(String),
    /// A keyword that is missing.
    Missing(&'static str),
    /// A name under `properties` or `patternProperties`.
    Name(String),
    /// A property that is not required.
    OptionalProperty(String),
    /// The schema `true` or `false`.
    Boolean(bool),
    /// More of something than a schema may have.
    TooMany {
        /// What is counted, in the plural.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        max: usize,
    },
}

/// A part of a schema that at least one of the targets does not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incompatibility {
    /// JSON pointer of its first occurrence: of the keyword, or of the schema that lacks it.
    pub at: String,
    /// The keyword, value or property of the request that is not accepted.
    pub part: IncompatiblePart,
    /// The targets that do not accept it, in the order of [`VendorTarget::ALL`].
    pub effects: Vec<(VendorTarget, VendorEffect)>,
    /// Why, and what to write instead.
    pub note: &'static str,
    /// The number of occurrences in the schema.
    pub count: usize,
}

/// The parts of `schema`, a tool's input schema, that some of `targets` do not accept, in the order
/// they are written.
///
/// One entry per keyword and reason, with its first occurrence and the number of occurrences.
/// Visits subschemas only, never `const`, `enum`, `default` or `examples`, and no deeper than a
/// schema may nest. A schema of an unknown dialect is read as 2020-12: reporting the dialect is not
/// this function's task.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{VendorEffect, VendorTarget, incompatibilities};
///
/// let schema = json!({
///     "type": "object",
///     "properties": { "unit": { "type": "string", "const": "C" } }
/// });
/// let found = incompatibilities(&schema, VendorTarget::by_id("ollama").into_iter().collect());
/// assert_eq!(found[0].at, "/properties/unit/const");
/// assert_eq!(found[0].effects, [(VendorTarget::Ollama, VendorEffect::Ignores)]);
/// ```
pub fn incompatibilities(schema: &Value, targets: TargetSet) -> Vec<Incompatibility> {
    let mut found = find(schema, targets, WantedFindings::All).into_incompatibilities(schema);
    found.extend(too_large(schema, targets));
    found
}

/// Whether [`incompatibilities`] finds nothing. Faster, because it needs no pointers.
fn is_compatible(schema: &Value, target: VendorTarget) -> bool {
    let targets = [target].into_iter().collect();
    find(schema, targets, WantedFindings::First).list.is_empty()
        && too_large(schema, targets).is_empty()
}

/// Whether [`incompatibilities`] finds a part because of which the whole request fails.
fn is_rejected(schema: &Value, target: VendorTarget) -> bool {
    let targets = [target].into_iter().collect();
    !find(schema, targets, WantedFindings::FirstRejected).list.is_empty()
        || !too_large(schema, targets).is_empty()
}

/// The findings about a schema and all schemas inside it, without pointers. References are looked
/// for only if a target has a fact about recursion.
fn find(schema: &Value, targets: TargetSet, wanted: WantedFindings) -> VendorFindings<'_> {
    let dialect = Dialect::of(schema).unwrap_or(Dialect::Draft202012);
    let mut findings = VendorFindings { targets, wanted, list: Vec::new() };
    match schema {
        Value::Object(members) => {
            let recursive = match targets.contains(VendorTarget::AnthropicStrict) {
                true => recursion::recursive_references(schema, dialect),
                // No other target has a fact about it.
                false => Vec::new(),
            };
            let top = ObjectSubschema { value: schema, members, is_top: true };
            walk(top, &SchemaContext { dialect, recursive }, 0, &mut findings);
        }
        Value::Bool(_) => {
            findings.add(&facts::NOT_AN_OBJECT, PartKey::Missing("type"), SchemaPlace::of(schema))
        }
        // Not a schema: compiling it reports that.
        _ => {}
    }
    findings
}

/// What exceeds the limits on the size of one schema.
fn too_large(schema: &Value, targets: TargetSet) -> Vec<Incompatibility> {
    let strict = [VendorTarget::OpenAiStrict, VendorTarget::OpenAiResponsesStrict];
    let strict = strict.into_iter().filter(|target| targets.contains(*target));
    if strict.clone().next().is_none() {
        return Vec::new();
    }
    let beyond = |(count, max, what)| Incompatibility {
        at: String::new(),
        part: IncompatiblePart::TooMany { what, count, max },
        effects: strict.clone().map(|target| (target, VendorEffect::Rejects)).collect(),
        note: "split the tool, or move what is rarely used into a tool of its own",
        count: 1,
    };
    SchemaCounts::of(schema).beyond_openai_strict().map(beyond).collect()
}

/// What the rules need to know about the whole schema.
struct SchemaContext<'a> {
    dialect: Dialect,
    /// The values of `$ref` through which a schema contains itself.
    recursive: Vec<&'a str>,
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
    context: &SchemaContext<'a>,
    depth: usize,
    findings: &mut VendorFindings<'a>,
) {
    rules::check_subschema(schema, context, findings);
    if depth == MAX_DEPTH || findings.is_enough() {
        return;
    }
    subschema_keywords::subschemas(schema.members, context.dialect, |_, value| {
        if let Value::Object(members) = value {
            let child = ObjectSubschema { value, members, is_top: false };
            walk(child, context, depth + 1, findings);
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

/// An [`IncompatiblePart`] without the name, by which occurrences of the same mistake are counted.
#[derive(Clone, Copy, PartialEq)]
enum PartKey<'a> {
    Keyword(&'a str),
    Missing(&'static str),
    Name,
    OptionalProperty,
    Boolean(bool),
}

/// An [`Incompatibility`] whose pointer is not known yet.
struct VendorFinding<'a> {
    fact: &'static VendorFact,
    part: PartKey<'a>,
    first: SchemaPlace<'a>,
    effects: Vec<(VendorTarget, VendorEffect)>,
    count: usize,
}

/// How many findings the caller looks at.
#[derive(Clone, Copy, PartialEq)]
enum WantedFindings {
    All,
    /// One: whether there is any.
    First,
    /// One that a target rejects, instead of ignoring it.
    FirstRejected,
}

/// The findings so far.
struct VendorFindings<'a> {
    targets: TargetSet,
    wanted: WantedFindings,
    list: Vec<VendorFinding<'a>>,
}

impl<'a> VendorFindings<'a> {
    /// Whether more findings would change nothing.
    fn is_enough(&self) -> bool {
        self.wanted != WantedFindings::All && !self.list.is_empty()
    }

    /// Adds a finding if a target does not accept the part, or counts another occurrence of it.
    /// Facts are statics, so the address tells them apart.
    fn add(&mut self, fact: &'static VendorFact, part: PartKey<'a>, place: SchemaPlace<'a>) {
        let is_rejected =
            |target: VendorTarget| fact.support[target as usize] == VendorSupport::Rejected;
        let is_wanted = match self.wanted {
            WantedFindings::All => true,
            WantedFindings::First => self.list.is_empty(),
            WantedFindings::FirstRejected => {
                self.list.is_empty() && self.targets.iter().any(is_rejected)
            }
        };
        if !is_wanted {
            return;
        }
        let is_same =
            |other: &VendorFinding<'_>| std::ptr::eq(other.fact, fact) && other.part == part;
        if let Some(existing) = self.list.iter_mut().find(|other| is_same(other)) {
            existing.count += 1;
            return;
        }
        let is_annotation =
            matches!(part, PartKey::Keyword(keyword) if facts::is_annotation(keyword));
        let effect = |target: VendorTarget| match fact.support[target as usize] {
            VendorSupport::Rejected => Some((target, VendorEffect::Rejects)),
            VendorSupport::Ignored if !is_annotation => Some((target, VendorEffect::Ignores)),
            _ => None,
        };
        let effects: Vec<_> = self.targets.iter().filter_map(effect).collect();
        if !effects.is_empty() && self.list.len() < MAX_INCOMPATIBILITIES {
            self.list.push(VendorFinding { fact, part, first: place, effects, count: 1 });
        }
    }

    /// Adds the pointers, in one pass over the document, and none for a schema without findings.
    fn into_incompatibilities(self, document: &Value) -> Vec<Incompatibility> {
        if self.list.is_empty() {
            return Vec::new();
        }
        let places: Vec<&Value> = self.list.iter().map(|finding| finding.first.value).collect();
        let pointers = pointer::pointers_to(document, &places);
        let findings = self.list.into_iter().zip(pointers);
        findings.map(|(finding, pointer)| finding.into_incompatibility(pointer)).collect()
    }
}

impl VendorFinding<'_> {
    /// `pointer` leads to the subschema; the keyword and the name below it are added.
    fn into_incompatibility(self, pointer: Option<String>) -> Incompatibility {
        let mut at = pointer.unwrap_or_default();
        for key in self.first.keyword.into_iter().chain(self.first.name) {
            pointer::extend(&mut at, key);
        }
        let name = || self.first.name.unwrap_or_default().to_owned();
        let part = match self.part {
            PartKey::Keyword(keyword) => IncompatiblePart::Keyword(keyword.to_owned()),
            PartKey::Missing(keyword) => IncompatiblePart::Missing(keyword),
            PartKey::Name => IncompatiblePart::Name(name()),
            PartKey::OptionalProperty => IncompatiblePart::OptionalProperty(name()),
            PartKey::Boolean(all) => IncompatiblePart::Boolean(all),
        };
        Incompatibility { at, part, effects: self.effects, note: self.fact.note, count: self.count }
    }
}
