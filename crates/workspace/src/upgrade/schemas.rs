//! Schemas of older dialects become schemas in 2020-12, the dialect that MCP and BTCP assume. What
//! a schema of draft-07 accepts is compared afterwards, with that of all other steps; the runner
//! does not have the other dialects, whose rewrites are exact by their definitions.
//!
//! ```text
//! {"items": [A, B], "additionalItems": false}   ─▶   rename `items` to `prefixItems`,
//!                                                    rename `additionalItems` to `items`
//! ```
//!
//! The new schema is compared with the old one member by member, and becomes edits. So a comment
//! beside a keyword stays where it is.

use serde_json::Value as Json;
use toolwright_formats::Reading;
use toolwright_model::Draft;
use toolwright_schema::{DialectUpgrade, in_2020_12};
use toolwright_source::{DocumentPath, Edit, RecordPath, words};

use super::{StepChange, UpgradeStep, written_input};

/// Rewrites the schemas of the formats that are read as 2020-12.
///
/// One step for each schema: if one of them cannot be rewritten, the others still are.
pub(super) fn leave_older_dialects(reading: &Reading) -> Vec<UpgradeStep> {
    if !["mcp", "webmcp", "btcp"].contains(&reading.format.0) {
        return Vec::new();
    }
    let mut steps = Vec::new();
    for (n, tool) in reading.toolset.tools.iter().enumerate() {
        for (field, schema) in
            [("inputSchema", written_input(tool)), ("outputSchema", tool.output.ok())]
        {
            let at = RecordPath::root().child("tools").child(n).child(field);
            let node = reading.origin.value(&at);
            let (Some(schema), Some(node)) = (schema, node) else { continue };
            let (title, change) = match in_2020_12(schema) {
                DialectUpgrade::NotNeeded => continue,
                DialectUpgrade::Rewritten { from, schema: upgraded, note } => {
                    let mut edits = Vec::new();
                    collect_edits(schema, &upgraded, &node.pointer(), &mut edits);
                    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
                    (title(tool, field, from) + &note, StepChange::Edits(edits))
                }
                DialectUpgrade::Impossible { from, reason } => {
                    (title(tool, field, &words::shorten(&from)), StepChange::Impossible(reason))
                }
            };
            steps.push(UpgradeStep { titles: vec![title], change });
        }
    }
    steps
}

/// What the step does, as an imperative.
fn title(tool: &Draft, field: &str, dialect: &str) -> String {
    let name = tool.name.ok().map_or("", |name| name.as_str());
    format!("rewrite the `{field}` of `{name}` from {dialect} to 2020-12")
}

/// The edits that make `after` of `before`, as deep as possible, so that comments stay. A member
/// that has another name is renamed, and edited where it is.
///
/// The recursion is as deep as the schema.
///
/// Renaming comes after the edits of what is inside: they name the place by the old path.
fn collect_edits(before: &Json, after: &Json, at: &DocumentPath, edits: &mut Vec<Edit>) {
    match (before, after) {
        _ if before == after => {}
        (Json::Object(old), Json::Object(new)) => {
            // A name may move on to another member: `items` to `prefixItems`, and
            // `additionalItems` to `items`.
            let renamed = |name: &str, value: &Json| {
                let moved = match name {
                    "items" if value.is_array() => "prefixItems",
                    "additionalItems" => "items",
                    "dependencies" if new.contains_key("dependentRequired") => "dependentRequired",
                    "dependencies" => "dependentSchemas",
                    "id" if new.contains_key("$id") => "$id",
                    "id" | "$id" => "$anchor",
                    "$recursiveRef" => "$ref",
                    _ => return None,
                };
                let is_new = moved == "items" || !old.contains_key(moved);
                new.get(moved).filter(|_| is_new).map(|next| (moved, next))
            };
            let mut made = Vec::new();
            for (name, value) in old {
                let own = at.child(name);
                let is_gone = !new.contains_key(name) || name == "items";
                if let Some((moved, next)) = renamed(name, value).filter(|_| is_gone) {
                    collect_edits(value, next, &own, edits);
                    edits.push(Edit::RenameKey(own, moved.to_owned()));
                    made.push(moved);
                } else if let Some(next) = new.get(name) {
                    collect_edits(value, next, &own, edits);
                    made.push(name);
                } else {
                    edits.push(Edit::Remove(own));
                }
            }
            let added = new.iter().filter(|(name, _)| !made.contains(&name.as_str()));
            edits.extend(added.map(|(name, value)| Edit::Insert(at.child(name), value.clone())));
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            for (n, (old, new)) in old.iter().zip(new).enumerate() {
                collect_edits(old, new, &at.child(n), edits);
            }
        }
        _ => edits.push(Edit::Replace(at.clone(), after.clone())),
    }
}
