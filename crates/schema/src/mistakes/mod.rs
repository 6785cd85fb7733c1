//! Mistakes in schemas that compile: what a compiler of a programming language would warn about.
//!
//! ```text
//! schema ─ one walk ─┬─▶ keywords: misspelled, without effect; values listed twice
//!                    ├─▶ headers: annotations that break the MCP specification
//!                    └─▶ candidates ─┬─▶ values: a default that breaks its schema   (compiles)
//!                                    ├─▶ references: required, unused, without end   (graph)
//!                                    └─▶ satisfiability: no value can match     (canonical form)
//! ```
//!
//! Nearly all schemas are clean, so the walk only decides what is certainly right and collects the
//! rest; the three analyses on the right, which cost far more, run on those candidates alone. All
//! of them are bounded, and stay silent about what they cannot decide.
//!
//! Deliberately absent: the wording of findings, suggestions for misspelled words, and repairs. The
//! rules of the checker have these. Also absent are schemas that do not compile: the error says
//! what is wrong with them.

mod headers;
mod keywords;
mod recursion;
mod references;
mod values;
mod walk;

use serde_json::Value;

use crate::{Dialect, SchemaSide, pointer, satisfiability};

pub(crate) use keywords::is_keyword;
pub use keywords::keyword_names;

use walk::SchemaWalk;

/// The most different mistakes reported for one schema. A hostile one can have a million, and a
/// person corrects the first fifty before looking for more.
const MAX_MISTAKES: usize = 50;

/// The most places that one mistake lists.
const MAX_PLACES: usize = 100;

/// One mistake, with all its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaMistake {
    /// What is wrong.
    pub kind: MistakeKind,
    /// JSON pointers into the schema: a keyword, or a value that it lists. Never empty, at most a
    /// hundred.
    pub places: Vec<String>,
    /// How often it occurs.
    pub count: usize,
}

/// The kinds of mistakes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MistakeKind {
    /// `required` lists a name that no schema for the same value declares.
    RequiredNotDeclared {
        /// The name.
        name: String,
        /// The names that are declared.
        declared: Vec<String>,
        /// Whether the schema states that other names are allowed, so that only a name that looks
        /// misspelled is a mistake.
        is_open: bool,
    },
    /// No value matches. The place is the last keyword that takes part in the contradiction.
    Unsatisfiable {
        /// The keywords that contradict each other, in words.
        reason: String,
    },
    /// A value under `default`, `enum` or `examples` does not match the schema beside it.
    InvalidValue {
        /// The keyword that holds it.
        keyword: &'static str,
        /// Why it does not match.
        reason: String,
        /// It is `null`, and the default of a property that a caller may leave out.
        is_null_default: bool,
    },
    /// A keyword that JSON Schema does not define.
    UnknownKeyword {
        /// As it is written.
        keyword: String,
    },
    /// A keyword for values of another type than `type` allows.
    IneffectiveKeyword {
        /// The keyword.
        keyword: String,
        /// The types that it is for.
        applies_to: &'static str,
        /// The value of `type`.
        types: String,
    },
    /// `enum` lists a value again. The place is the later one.
    DuplicateEnumValue {
        /// The value as JSON.
        value: String,
    },
    /// A definition that nothing refers to.
    UnusedDefinition {
        /// Its name.
        name: String,
        /// How long it is as JSON text.
        bytes: usize,
    },
    /// An `x-mcp-header` that the MCP specification does not allow.
    InvalidHeader {
        /// What is wrong with it.
        reason: String,
    },
}

/// The mistakes of `schema`, a schema of a tool that compiles. Equal mistakes are one entry.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{MistakeKind, SchemaSide, mistakes};
///
/// let found = mistakes(
///     &json!({"type": "object", "properties": {"n": {"type": "integer", "minLength": 1}}}),
///     SchemaSide::Input,
/// );
/// assert_eq!(found[0].places, ["/properties/n/minLength"]);
/// assert!(matches!(found[0].kind, MistakeKind::IneffectiveKeyword { .. }));
/// ```
pub fn mistakes(schema: &Value, side: SchemaSide) -> Vec<SchemaMistake> {
    let Ok(dialect) = Dialect::of(schema) else { return Vec::new() };
    let mut walk = SchemaWalk::new(schema, dialect);
    walk.run(side);
    if walk.is_clean() {
        return Vec::new();
    }
    let mut found = MistakeList::default();
    let SchemaWalk { local, values, requirements, definitions, references, contradictions, .. } =
        walk;
    // First, so that no number of other mistakes pushes an error out of the list.
    let unsatisfiable = match contradictions {
        true => satisfiability::unsatisfiable_subschemas(schema, dialect),
        false => Vec::new(),
    };
    let is_unsatisfiable = |at: &str| unsatisfiable.iter().any(|empty| empty.schema == at);
    found.add_unsatisfiable(&unsatisfiable);
    let places: Vec<&Value> = local.iter().map(|entry| entry.schema).collect();
    for (entry, at) in local.iter().zip(pointer::pointers_to(schema, &places)) {
        let at = entry.path.iter().fold(at.unwrap_or_default(), |at, key| pointer::join(&at, key));
        found.add(entry.kind.clone(), at);
    }
    if !requirements.is_empty() || definitions || references {
        references::check(schema, dialect, &requirements, &mut |schema_at, kind, at| {
            // A contradiction between `required` and a closed object is reported already.
            let is_unused = matches!(kind, MistakeKind::UnusedDefinition { .. });
            if is_unused || !is_unsatisfiable(schema_at) {
                found.add(kind, at);
            }
        });
    }
    values::check(schema, dialect, &values, &mut |schema_at, kind, at| {
        if !is_unsatisfiable(schema_at) {
            found.add(kind, at);
        }
    });
    found.0
}

/// The mistakes of `schema` of the kind [`MistakeKind::Unsatisfiable`], as [`mistakes`] finds them,
/// without looking for others.
pub fn contradictions(schema: &Value) -> Vec<SchemaMistake> {
    let Ok(dialect) = Dialect::of(schema) else { return Vec::new() };
    let mut found = MistakeList::default();
    let signs = walk::ErrorSigns::of(schema, dialect);
    let mut unsatisfiable = Vec::new();
    if signs.contradictions {
        unsatisfiable = satisfiability::unsatisfiable_subschemas(schema, dialect);
        found.add_unsatisfiable(&unsatisfiable);
    }
    if signs.references {
        references::check(schema, dialect, &[], &mut |schema_at, kind, at| {
            let is_known = unsatisfiable.iter().any(|empty| empty.schema == schema_at);
            if matches!(kind, MistakeKind::Unsatisfiable { .. }) && !is_known {
                found.add(kind, at);
            }
        });
    }
    found.0
}

/// Different mistakes, each with its places.
#[derive(Default)]
struct MistakeList(Vec<SchemaMistake>);

impl MistakeList {
    fn add(&mut self, kind: MistakeKind, at: String) {
        if let Some(known) = self.0.iter_mut().find(|known| known.kind == kind) {
            known.count += 1;
            if known.places.len() < MAX_PLACES {
                known.places.push(at);
            }
        } else if self.0.len() < MAX_MISTAKES {
            self.0.push(SchemaMistake { kind, places: vec![at], count: 1 });
        }
    }

    fn add_unsatisfiable(&mut self, subschemas: &[satisfiability::EmptySubschema]) {
        for empty in subschemas {
            let kind = MistakeKind::Unsatisfiable { reason: empty.reason.clone() };
            self.add(kind, empty.keyword.clone());
        }
    }
}
