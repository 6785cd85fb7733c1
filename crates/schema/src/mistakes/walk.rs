//! The walk over all subschemas that tells clean ones from candidates. Without recursion, and
//! without a pointer or a copy for subschemas that are clean.
//!
//! What one subschema shows by itself becomes a `LocalMistake` at once. What needs more (a compiled
//! schema, the graph, the canonical form) is only noted: as a candidate, or as a flag that says the
//! analysis is worth its cost. If nothing was noted, `mistakes` is done after this one pass.

use serde_json::{Map, Value};

use super::headers::HeaderNames;
use super::keywords::{self, types};
use super::{MAX_MISTAKES, MistakeKind};
use crate::error_message::quoted;
use crate::limits::MAX_SUBSCHEMAS;
use crate::subschema_keywords::{NamedSubschema, SubschemaTarget, keyword_value, named_subschemas};
use crate::{Dialect, SchemaSide, quick_check, satisfiability, subschema_keywords};

/// Texts up to this number are compared pair by pair, more, and other values, by a set.
const MAX_COMPARED_PAIRWISE: usize = 24;

/// The most unknown keywords that are collected: a document with more is not a schema at heart.
const MAX_UNKNOWN_KEYWORDS: usize = 200;

/// The most candidates of each kind that are examined.
const MAX_CANDIDATES: usize = 1_000;

/// What the walk knows about a subschema from the way that led to it.
#[derive(Clone, Copy)]
pub(super) struct WalkStep<'a> {
    pub value: &'a Value,
    /// Every step from the root was `properties`.
    pub by_properties: bool,
    /// The name of the property that it describes.
    pub property: Option<&'a str>,
    /// The schema that declares the property.
    owner: Option<&'a Map<String, Value>>,
    /// It is part of `not` or `if`, which restrict nothing by themselves.
    is_condition: bool,
}

impl WalkStep<'_> {
    /// Whether it describes a property that a caller must give.
    /// A `null` default of any other property is marked (`is_null_default`).
    fn is_required(&self) -> bool {
        let names = self.owner.and_then(|owner| owner.get("required")?.as_array());
        let name = self.property.unwrap_or_default();
        names.is_some_and(|names| names.iter().any(|listed| listed == name))
    }
}

/// A mistake that one subschema alone shows.
pub(super) struct LocalMistake<'a> {
    pub schema: &'a Value,
    /// The way from the subschema to the keyword or value.
    /// `["enum", "3"]` is the fourth listed value.
    pub path: Vec<String>,
    pub kind: MistakeKind,
}

/// Values under a keyword that are not certainly valid.
pub(super) struct ValueCandidate<'a> {
    pub schema: &'a Value,
    pub keyword: &'static str,
    /// Whether a caller must give the property that the subschema describes.
    pub is_required: bool,
}

/// The state and the results of the walk.
pub(super) struct SchemaWalk<'a> {
    root: &'a Value,
    dialect: Dialect,
    /// In the order of the walk.
    pub local: Vec<LocalMistake<'a>>,
    /// At most [`MAX_CANDIDATES`]; only compiling the subschema tells whether they are mistakes.
    pub values: Vec<ValueCandidate<'a>>,
    /// Subschemas whose own `properties` lack a name of `required`.
    pub requirements: Vec<&'a Value>,
    /// Whether there are definitions.
    pub definitions: bool,
    /// Whether there are references.
    pub references: bool,
    /// Whether keywords may contradict each other.
    pub contradictions: bool,
    /// How many unknown keywords were noted, up to [`MAX_UNKNOWN_KEYWORDS`].
    unknown_keywords: usize,
}

impl<'a> SchemaWalk<'a> {
    pub(super) fn new(root: &'a Value, dialect: Dialect) -> SchemaWalk<'a> {
        SchemaWalk {
            root,
            dialect,
            local: Vec::new(),
            values: Vec::new(),
            requirements: Vec::new(),
            definitions: false,
            references: false,
            contradictions: false,
            unknown_keywords: 0,
        }
    }

    /// Whether nothing needs a closer look.
    pub(super) fn is_clean(&self) -> bool {
        self.local.is_empty()
            && self.values.is_empty()
            && self.requirements.is_empty()
            && !self.definitions
            && !self.references
            && !self.contradictions
    }

    /// Visits all subschemas. Headers are annotations of arguments, so those of results are not
    /// looked at.
    ///
    /// Ends early at the limits and at an embedded schema of another dialect. What was found until
    /// then is kept.
    pub(super) fn run(&mut self, side: SchemaSide) {
        let mut headers = (side == SchemaSide::Input).then(HeaderNames::default);
        let mut pending = vec![WalkStep {
            value: self.root,
            by_properties: true,
            property: None,
            owner: None,
            is_condition: false,
        }];
        let mut visited = 0;
        while let Some(step) = pending.pop() {
            visited += 1;
            let Value::Object(members) = step.value else { continue };
            // Equal mistakes are joined later, so more than are reported are worth collecting.
            if is_end(members, visited) || self.local.len() > 20 * MAX_MISTAKES {
                return;
            }
            if let Some(headers) = &mut headers
                && let Some(header) = keyword_value(members, "x-mcp-header")
            {
                let is_root = visited == 1;
                if let Some(reason) = headers.check(header, members, &step, is_root) {
                    let kind = MistakeKind::InvalidHeader { reason };
                    self.report(step.value, vec!["x-mcp-header".to_owned()], kind);
                }
            }
            let has_ref = keyword_value(members, "$ref").is_some_and(Value::is_string);
            self.references |= has_ref || keyword_value(members, "$dynamicRef").is_some();
            if !is_only_reference(members, self.dialect) {
                self.check_subschema(step, members);
            }
            let first = pending.len();
            named_subschemas(members, self.dialect, |child| {
                pending.push(next_step(&step, members, &child));
            });
            // In the order of the text, which is the order of the findings.
            pending[first..].reverse();
        }
    }

    /// Notes a mistake at `path` in `schema`.
    fn report(&mut self, schema: &'a Value, path: Vec<String>, kind: MistakeKind) {
        self.local.push(LocalMistake { schema, path, kind });
    }

    /// Looks at the keywords of one subschema that is not a boolean: whether each is known, whether
    /// it has an effect on the types that are allowed, and whether the values it lists match.
    ///
    /// One loop over the members, because most of them need nothing but the lookup of the keyword.
    fn check_subschema(&mut self, step: WalkStep<'a>, members: &'a Map<String, Value>) {
        let allowed = keywords::allowed_types(keyword_value(members, "type"));
        for (keyword, value) in members {
            match keywords::types_of(keyword) {
                Some(types::ANY) => {}
                Some(applies) if applies & allowed == 0 && !keywords::is_empty(value) => {
                    let kind = MistakeKind::IneffectiveKeyword {
                        keyword: keyword.clone(),
                        applies_to: keywords::type_words(applies),
                        types: members.get("type").map(quoted).unwrap_or_default(),
                    };
                    self.report(step.value, vec![keyword.clone()], kind);
                }
                Some(_) => {}
                None => self.check_unknown(step.value, keyword),
            }
            match (keyword.as_str(), value) {
                ("enum", Value::Array(list)) => {
                    self.check_duplicates(step.value, list);
                    self.check_values(step, members, "enum", list);
                }
                ("examples", Value::Array(list)) => {
                    self.check_values(step, members, "examples", list);
                }
                ("default", value) => {
                    self.check_values(step, members, "default", std::slice::from_ref(value));
                }
                ("required", Value::Array(names)) if allowed & types::OBJECT != 0 => {
                    let is_declared = |name: &Value| {
                        let name = name.as_str().unwrap_or_default();
                        let own = keyword_value(members, "properties").and_then(Value::as_object);
                        own.is_some_and(|own| keyword_value(own, name).is_some())
                    };
                    if !step.is_condition
                        && self.requirements.len() < MAX_CANDIDATES
                        && !names.iter().all(is_declared)
                    {
                        self.requirements.push(step.value);
                    }
                }
                ("$defs" | "definitions", Value::Object(named)) => {
                    self.definitions |= !named.is_empty();
                }
                _ => {}
            }
        }
        self.contradictions = self.contradictions || satisfiability::may_contradict(members);
    }

    /// Notes a keyword that JSON Schema does not define. The caller that words the finding decides
    /// whether it is close to a defined one.
    fn check_unknown(&mut self, schema: &'a Value, keyword: &str) {
        if keywords::is_foreign(keyword)
            || keyword.len() > 64
            || self.unknown_keywords == MAX_UNKNOWN_KEYWORDS
        {
            return;
        }
        self.unknown_keywords += 1;
        let kind = MistakeKind::UnknownKeyword { keyword: keyword.to_owned() };
        self.report(schema, vec![keyword.to_owned()], kind);
    }

    /// Reports values that `enum` lists again. JSON Schema compares numbers by their value, so `1`
    /// and `1.0` are one.
    ///
    /// The short way is for the usual enum, a few texts: comparing them needs no memory.
    fn check_duplicates(&mut self, schema: &'a Value, list: &[Value]) {
        let mut repeated = Vec::new();
        if list.len() <= MAX_COMPARED_PAIRWISE && list.iter().all(Value::is_string) {
            repeated.extend((1..list.len()).filter(|n| list[..*n].contains(&list[*n])));
        } else {
            let mut seen = std::collections::HashSet::with_capacity(list.len());
            repeated.extend((0..list.len()).filter(|n| !seen.insert(comparable(&list[*n]))));
        }
        for n in repeated.into_iter().take(MAX_MISTAKES) {
            let kind = MistakeKind::DuplicateEnumValue { value: quoted(&list[n]) };
            self.report(schema, vec!["enum".to_owned(), n.to_string()], kind);
        }
    }

    /// Notes values that do not certainly match the subschema they belong to.
    ///
    /// Most defaults and examples are simple, so the test without compiling decides nearly all.
    fn check_values(
        &mut self,
        step: WalkStep<'a>,
        members: &Map<String, Value>,
        keyword: &'static str,
        values: &[Value],
    ) {
        let is_valid = |value| quick_check::is_certainly_valid_without(members, keyword, value);
        if self.values.len() < MAX_CANDIDATES && !values.iter().all(is_valid) {
            let is_required = step.is_required();
            self.values.push(ValueCandidate { schema: step.value, keyword, is_required });
        }
    }
}

/// Whether the walk ends at its `visited`th subschema: there are too many, or it is an embedded
/// schema of another dialect, because `$schema` has a meaning only beside `$id`.
fn is_end(members: &Map<String, Value>, visited: usize) -> bool {
    visited > MAX_SUBSCHEMAS || (visited > 1 && keyword_value(members, "$schema").is_some())
}

/// Whether everything else is ignored, as it is in draft-07 beside `$ref`.
fn is_only_reference(members: &Map<String, Value>, dialect: Dialect) -> bool {
    subschema_keywords::ref_ignores_siblings(dialect)
        && keyword_value(members, "$ref").is_some_and(Value::is_string)
}

/// What [`SchemaWalk`] notes about errors, after a walk that looks for nothing else.
#[derive(Default)]
pub(super) struct ErrorSigns {
    /// [`SchemaWalk::contradictions`].
    pub(super) contradictions: bool,
    /// [`SchemaWalk::references`].
    pub(super) references: bool,
}

impl ErrorSigns {
    /// The same walk as [`SchemaWalk::run`] for callers that look for errors only: it notes two
    /// flags and no mistake.
    pub(super) fn of(root: &Value, dialect: Dialect) -> ErrorSigns {
        let mut signs = ErrorSigns::default();
        let mut pending = vec![root];
        let mut visited = 0;
        while let Some(value) = pending.pop() {
            visited += 1;
            let Value::Object(members) = value else { continue };
            if is_end(members, visited) {
                return ErrorSigns::default();
            }
            let reference = keyword_value(members, "$ref").is_some_and(Value::is_string);
            signs.references |= reference || keyword_value(members, "$dynamicRef").is_some();
            signs.contradictions |=
                !is_only_reference(members, dialect) && satisfiability::may_contradict(members);
            let first = pending.len();
            named_subschemas(members, dialect, |child| pending.push(child.value));
            // The order of the other walk, because either may end early.
            pending[first..].reverse();
        }
        signs
    }
}

/// A text that is the same for values that JSON Schema takes for equal: `1.0` becomes `1`, and
/// members of objects are sorted.
fn comparable(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_f64() {
            // Below this, every whole number has a text of its own.
            Some(float) if float.fract() == 0.0 && float.abs() < (1u64 << 53) as f64 => {
                format!("{:.0}", float + 0.0)
            }
            _ => number.to_string(),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(comparable).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| format!("{key:?}:{}", comparable(value));
            let mut members: Vec<String> = members.iter().map(member).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_string(),
    }
}

/// The step from a subschema to one directly inside it.
///
/// `property` and `owner` are those of the property that the child describes. They are kept through
/// keywords that apply to the same value, and lost below all others.
fn next_step<'a>(
    from: &WalkStep<'a>,
    members: &'a Map<String, Value>,
    child: &NamedSubschema<'a>,
) -> WalkStep<'a> {
    let by_property = child.keyword == "properties";
    let (property, owner) = match child.target {
        // `allOf: [{…}]` describes the same property.
        SubschemaTarget::SameValue => (from.property, from.owner),
        _ if by_property => (child.name, Some(members)),
        _ => (None, None),
    };
    WalkStep {
        value: child.value,
        by_properties: from.by_properties && by_property,
        property,
        owner,
        is_condition: from.is_condition || matches!(child.keyword, "not" | "if"),
    }
}
