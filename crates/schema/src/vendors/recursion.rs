//! Which references make a schema contain itself. Only references by pointer are followed, which is
//! how recursive schemas are written; the compiler's graph (`subschema_graph`) would resolve all of
//! them, at several times the cost.
//!
//! ```text
//! {"properties": {"next": {"$ref": "#/$defs/node"}},
//!  "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}}
//!
//! recursive_references  ─▶  ["#/$defs/node"]
//! ```

use serde_json::Value;

use crate::Dialect;
use crate::limits::MAX_DEPTH;
use crate::subschema_keywords::{self, SubschemaTarget};

/// The most references that are compared with each other. A schema with more is not judged: the
/// work is quadratic, and the largest published schemas have some forty.
const MAX_REFERENCES: usize = 256;

/// The distinct values of `$ref` in `schema` that lead back to themselves, in the order they are
/// written.
///
/// The references are the nodes of a graph: one leads to another if the schema it refers to
/// contains that one. A search from each node tells whether it can be reached again.
pub(super) fn recursive_references(schema: &Value, dialect: Dialect) -> Vec<&str> {
    let mut all = Vec::new();
    references(schema, dialect, Descend::IntoDefinitions, 0, &mut all);
    if all.is_empty() || all.len() > MAX_REFERENCES {
        return Vec::new();
    }
    // For each reference, the numbers of the references in the schema that it refers to.
    let inside = |reference: &&str| -> Vec<usize> {
        let target = reference.strip_prefix('#').and_then(|pointer| schema.pointer(pointer));
        let mut found = Vec::new();
        if let Some(target) = target {
            references(target, dialect, Descend::PastDefinitions, 0, &mut found);
        }
        found.iter().filter_map(|one| all.iter().position(|other| other == one)).collect()
    };
    let edges: Vec<Vec<usize>> = all.iter().map(inside).collect();
    let reaches_itself = |start: usize| {
        let (mut seen, mut pending) = (vec![false; edges.len()], edges[start].clone());
        while let Some(next) = pending.pop() {
            if next == start {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                pending.extend(&edges[next]);
            }
        }
        false
    };
    (0..all.len()).filter(|n| reaches_itself(*n)).map(|n| all[n]).collect()
}

/// Whether definitions inside a schema count as a part of it. They do not apply unless referred to.
#[derive(Clone, Copy, PartialEq)]
enum Descend {
    IntoDefinitions,
    PastDefinitions,
}

/// Adds the distinct references in `schema` and the schemas inside it to `found`.
fn references<'a>(
    schema: &'a Value,
    dialect: Dialect,
    descend: Descend,
    depth: usize,
    found: &mut Vec<&'a str>,
) {
    // Over the limit the result is not used.
    let Value::Object(members) = schema else { return };
    if depth > MAX_DEPTH || found.len() > MAX_REFERENCES {
        return;
    }
    let reference = members.get("$ref").and_then(Value::as_str);
    found.extend(reference.filter(|one| !found.contains(one)));
    subschema_keywords::subschemas(members, dialect, |target, value| {
        if descend == Descend::IntoDefinitions || target != SubschemaTarget::Definition {
            references(value, dialect, descend, depth + 1, found);
        }
    });
}
