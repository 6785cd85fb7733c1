//! Shared by the rules about parameters: a walk over the object schemas inside an input schema.
//!
//! ```text
//! inputSchema ─┬─ properties ─▶ each property ─▶ its properties, items, …
//!              ├─ items, prefixItems, additionalProperties ─▶ the same
//!              ├─ anyOf, oneOf, allOf ─▶ the same, if there are no properties beside them
//!              └─ $defs, definitions ─▶ each definition (references are not followed)
//! ```
//!
//! Only the walk is here; each rule decides what is wrong with a schema. Definitions are visited
//! where they are declared and not at each `$ref`, so that each schema is visited once and cycles
//! do no harm.

use toolwright_model::{Json, Object};
use toolwright_schema::SchemaSide;
use toolwright_source::RecordPath;

use crate::Subject;
use crate::subject::{ToolPath, written_schema};

/// The most names that a message lists; it counts the rest. Five names fit on a line of a terminal;
/// a generated schema can have hundreds of parameters.
const MAX_NAMED: usize = 5;

/// One step from a schema to a schema directly inside it. A path of steps is cheap to copy, and
/// becomes a pointer only if something is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaStep<'s> {
    /// To the property of this name, under `properties`.
    Property(&'s str),
    /// To the schema of a keyword that applies to all members: `items`, `additionalProperties`.
    All(&'static str),
    /// To one schema of a keyword that holds a list: `prefixItems`, `anyOf`.
    One(&'static str, usize),
    /// To the definition of this name, under `$defs` or `definitions`.
    Definition(&'static str, &'s str),
}

/// The steps from an input schema to a schema inside it; empty for the input schema itself.
pub(super) type SchemaPath<'s> = [SchemaStep<'s>];

/// The pointer to the schema at the end of the path; `schema` points to the input schema. Example:
/// the steps `Property("filter")`, `All("items")` add `/properties/filter/items`.
pub(super) fn pointer_to(schema: &RecordPath, path: &SchemaPath<'_>) -> RecordPath {
    path.iter().fold(schema.clone(), |at, step| match *step {
        SchemaStep::Property(name) => at.child("properties").child(name),
        SchemaStep::All(keyword) => at.child(keyword),
        SchemaStep::One(keyword, n) => at.child(keyword).child(n),
        SchemaStep::Definition(keyword, name) => at.child(keyword).child(name),
    })
}

/// The schema at the end of the path as people write it: `filter.tags[].name`. Steps through
/// `anyOf` and the like add nothing, because a caller does not see them. Empty for the input schema
/// itself.
pub(super) fn display_name(path: &SchemaPath<'_>) -> String {
    let mut out = String::new();
    for step in path {
        match *step {
            SchemaStep::Property(name) | SchemaStep::Definition(_, name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
            // Values under free keys: `headers.*` is any member of `headers`.
            SchemaStep::All("additionalProperties") => {
                out.push_str(if out.is_empty() { "*" } else { ".*" })
            }
            SchemaStep::All(_) | SchemaStep::One("items" | "prefixItems", _) => out.push_str("[]"),
            SchemaStep::One(..) => {}
        }
    }
    out
}

/// The quoted names as part of a sentence, joined by commas and `and`; after the first few, how
/// many are left. Examples: `` `a` ``; `` `a` and `b` ``; `` `a`, `b`, `c`, `d`, `e` and 2 more ``.
pub(super) fn join_names(names: &[String]) -> String {
    let quoted = |name: &String| format!("`{}`", toolwright_source::words::shorten(name));
    let shown: Vec<String> = names.iter().take(MAX_NAMED).map(quoted).collect();
    match (names.len().saturating_sub(MAX_NAMED), shown.split_last()) {
        (0, Some((last, rest))) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        (0, _) => shown.concat(),
        (more, _) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The valid input schemas, each with the index of its tool. They include schemas that the reader
/// filled in where the document has none, such as the arguments of a program. The author cannot
/// improve those, so a rule must ask [`authored_path`] before it reports. It asks last, because
/// finding a value in the document is slower than most checks.
pub(super) fn valid_input_schemas<'s>(
    subject: &'s Subject<'_>,
) -> impl Iterator<Item = (usize, &'s Json)> {
    let tools = subject.toolset.tools.iter().enumerate();
    tools.filter_map(|(n, tool)| {
        let schema = written_schema(tool, SchemaSide::Input)?;
        subject.has_valid_schema(n, SchemaSide::Input).then_some((n, schema))
    })
}

/// The pointer to a tool's input schema. `None` if the reader filled the schema in. A filled-in
/// schema has no value in the document, which is how it is recognised.
pub(super) fn authored_path(subject: &Subject<'_>, tool: usize) -> Option<RecordPath> {
    let at = ToolPath(tool).child("inputSchema");
    subject.document_value(&at).is_some().then_some(at)
}

/// Visits every schema that may describe an object of parameters: the input schema, the schemas of
/// its properties and items, and its definitions. Each visit gets the schema and the path to it.
///
/// `anyOf`, `oneOf` and `allOf` beside `properties` are left out: such branches usually repeat some
/// of the properties to require one of them, and describe nothing new. `if` and `not` are left out
/// because they only decide whether something applies.
pub(super) fn visit_object_schemas<'s>(
    schema: &'s Json,
    visit: &mut dyn FnMut(&'s Object, &SchemaPath<'s>),
) {
    let mut path = Vec::new();
    walk(schema, &mut path, visit);
    // 2020-12 has `$defs`, draft-07 `definitions`; schemas in the wild mix both. Only those of the
    // root, which is where generators put them.
    for keyword in ["$defs", "definitions"] {
        for (name, definition) in
            schema.get(keyword).and_then(Json::as_object).into_iter().flatten()
        {
            path.push(SchemaStep::Definition(keyword, name));
            walk(definition, &mut path, visit);
            path.pop();
        }
    }
}

/// Visits a schema and the schemas inside it. The recursion is bounded: documents nest at most 128
/// levels deep. A schema that is `true` or `false` has no members and is not visited.
fn walk<'s>(
    schema: &'s Json,
    path: &mut Vec<SchemaStep<'s>>,
    visit: &mut dyn FnMut(&'s Object, &SchemaPath<'s>),
) {
    let Json::Object(members) = schema else { return };
    visit(members, path);
    // Without properties of its own, the schema is made of its branches, so these are the
    // parameters.
    let composed = !members.contains_key("properties");
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties", Json::Object(properties)) => {
                for (name, property) in properties {
                    walk_step(SchemaStep::Property(name), property, path, visit);
                }
            }
            ("items", Json::Object(_)) => walk_step(SchemaStep::All("items"), value, path, visit),
            ("additionalProperties", Json::Object(_)) => {
                walk_step(SchemaStep::All("additionalProperties"), value, path, visit);
            }
            // Draft-07 has the list under `items`, 2020-12 under `prefixItems`.
            ("items", Json::Array(list)) => walk_list("items", list, path, visit),
            ("prefixItems", Json::Array(list)) => walk_list("prefixItems", list, path, visit),
            ("anyOf", Json::Array(list)) if composed => walk_list("anyOf", list, path, visit),
            ("oneOf", Json::Array(list)) if composed => walk_list("oneOf", list, path, visit),
            ("allOf", Json::Array(list)) if composed => walk_list("allOf", list, path, visit),
            // Everything else describes no parameters: limits, annotations, conditions.
            _ => {}
        }
    }
}

/// Walks the schemas of a keyword that holds a list.
fn walk_list<'s>(
    keyword: &'static str,
    list: &'s [Json],
    path: &mut Vec<SchemaStep<'s>>,
    visit: &mut dyn FnMut(&'s Object, &SchemaPath<'s>),
) {
    for (n, schema) in list.iter().enumerate() {
        walk_step(SchemaStep::One(keyword, n), schema, path, visit);
    }
}

/// Walks one schema with its step on the path.
fn walk_step<'s>(
    step: SchemaStep<'s>,
    schema: &'s Json,
    path: &mut Vec<SchemaStep<'s>>,
    visit: &mut dyn FnMut(&'s Object, &SchemaPath<'s>),
) {
    path.push(step);
    walk(schema, path, visit);
    path.pop();
}
