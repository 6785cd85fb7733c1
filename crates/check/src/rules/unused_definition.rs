//! Every definition under `$defs` or `definitions` is referred to.
//!
//! Source: our own advice. A definition that nothing refers to has no effect, but every request of
//! every conversation carries it.
//!
//! All unused definitions of a schema are one finding, at the first of them. A definition that only
//! unused ones refer to is unused as well.
//!
//! ```text
//! $defs: A, B, C   properties refer to A, B refers to C   one finding: `B` and `C`
//! ```
//!
//! The message counts bytes, because every request carries the definition. The finding carries the
//! number (`wastes`), so that a group of findings can state their sum.

use toolwright_model::{Json, Object};
use toolwright_schema::{MistakeKind, SchemaMistake};
use toolwright_source::{Edit, InRecord, RecordFinding, Safety};

use super::parameters::join_names;
use super::schemas::CheckedSchema;

toolwright_source::codes! {
    UNUSED_DEFINITION Warning
        "Nothing refers to a definition under `$defs` or `definitions`. It has no effect, but it \
         is part of what every request to a model carries; the message says how many bytes of \
         JSON that is.\n\n\
         Remove it, or refer to it where it is meant. References by `$anchor`, `$dynamicAnchor`, \
         `$id` and to a part of a definition count."
    => (
        "tool.json",
        r##"{
  "name": "move_piece",
  "description": "Moves a piece of the running game",
  "inputSchema": {
    "type": "object",
    "properties": {"to": {"$ref": "#/$defs/Square", "description": "Where to"}},
    "$defs": {
      "Square": {"type": "string", "pattern": "^[a-h][1-8]$"},
      "Colour": {"type": "string", "enum": ["white", "black"]}
    }
  }
}
"##,
        r##"{
  "name": "move_piece",
  "description": "Moves a piece of the running game",
  "inputSchema": {
    "type": "object",
    "properties": {"to": {"$ref": "#/$defs/Square", "description": "Where to"}},
    "$defs": {
      "Square": {"type": "string", "pattern": "^[a-h][1-8]$"}
    }
  }
}
"##
    )
}

/// One finding for all unused definitions of a schema. Its repair removes them together: without
/// one of them, a reference to it in another one would lead nowhere. `found` are all mistakes of
/// the schema; those of other kinds are left out. `None` if none is of this kind.
pub(super) fn finding(
    schema: &CheckedSchema<'_>,
    found: &[SchemaMistake],
) -> Option<RecordFinding> {
    let (mut names, mut total, mut places) = (Vec::new(), 0, Vec::new());
    for mistake in found {
        if let MistakeKind::UnusedDefinition { name, bytes } = &mistake.kind {
            names.push(name.clone());
            total += bytes * mistake.count;
            places.extend(mistake.places.iter());
        }
    }
    let at = schema.path(places.first()?);
    let (noun, verb) =
        if places.len() == 1 { ("definition", "costs") } else { ("definitions", "cost") };
    let names = join_names(&names);
    let message =
        format!("nothing in use refers to the {noun} {names}, which {verb} {total} bytes");
    let finding = RecordFinding::new(&UNUSED_DEFINITION, at, message).on_key().wastes(total);
    Some(finding.repair(
        // Safe: nothing refers to them, and a schema cannot be referred to from outside.
        Safety::Safe,
        format!("remove the {noun}"),
        removals(schema, &places),
    ))
}

/// The edits that remove definitions; where none is left, the keyword goes as well. An empty
/// `$defs` would be the next thing to clean up. Places of one keyword follow each other, so `dedup`
/// leaves one removal of it.
fn removals(schema: &CheckedSchema<'_>, places: &[&String]) -> Vec<Edit<InRecord>> {
    let owner = |at: &str| at.rsplit_once('/').map_or("", |(owner, _)| owner).to_owned();
    let is_emptied = |keyword: &str| {
        let all = schema.schema.pointer(keyword).and_then(Json::as_object).map_or(0, Object::len);
        places.iter().filter(|at| owner(at) == keyword).count() == all
    };
    let mut removed: Vec<String> = places
        .iter()
        .map(|at| Some(owner(at)).filter(|keyword| is_emptied(keyword)).unwrap_or((*at).clone()))
        .collect();
    removed.dedup();
    removed.iter().map(|at| Edit::Remove(schema.path(at))).collect()
}
