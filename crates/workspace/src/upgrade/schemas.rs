//! Schemas in draft-07 become schemas in 2020-12, the dialect that MCP and BTCP assume. What the
//! rewritten schema accepts is compared afterwards, with that of all other steps.

use serde_json::Value as Json;
use toolwright_formats::Reading;
use toolwright_model::Draft;
use toolwright_schema::{Dialect, Schema, in_2020_12};
use toolwright_source::{DocumentPath, Edit, RecordPath};

use super::{StepChange, UpgradeStep, written_input};

/// Rewrites the schemas of the formats that are read as 2020-12.
pub(super) fn leave_draft_07(reading: &Reading) -> Vec<UpgradeStep> {
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
            let change = match in_2020_12(schema) {
                Some(upgraded) => {
                    let mut edits = Vec::new();
                    collect_edits(schema, &upgraded, &node.pointer(), &mut edits);
                    StepChange::Edits(edits)
                }
                // A schema that cannot be used is an error already.
                None if Dialect::of(schema).ok() == Some(Dialect::Draft7)
                    && Schema::compile(schema).is_ok() =>
                {
                    StepChange::Impossible(
                        "a part of it, such as an `$id` below the root, has no counterpart there",
                    )
                }
                None => continue,
            };
            steps.push(UpgradeStep { titles: vec![title(tool, field)], change });
        }
    }
    steps
}

fn title(tool: &Draft, field: &str) -> String {
    let name = tool.name.ok().map_or("", |name| name.as_str());
    format!("rewrite the `{field}` of `{name}` from draft-07 to 2020-12")
}

/// The edits that make `after` of `before`, as deep as possible, so that comments stay. A member
/// that has another name and the same value is renamed.
fn collect_edits(before: &Json, after: &Json, at: &DocumentPath, edits: &mut Vec<Edit>) {
    match (before, after) {
        (Json::Object(old), Json::Object(new)) => {
            // A name may move on to another member: `items` to `prefixItems`, and
            // `additionalItems` to `items`.
            let renamed = |name: &str, value: &Json| {
                let moved = match name {
                    "items" => "prefixItems",
                    "additionalItems" => "items",
                    "dependencies" if new.contains_key("dependentRequired") => "dependentRequired",
                    "dependencies" => "dependentSchemas",
                    _ => return None,
                };
                let is_new = moved == "items" || !old.contains_key(moved);
                (new.get(moved) == Some(value) && is_new).then_some(moved)
            };
            let mut made = Vec::new();
            for (name, value) in old {
                let own = at.child(name);
                if let Some(moved) = renamed(name, value).filter(|_| new.get(name) != Some(value)) {
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
        _ if before == after => {}
        _ => edits.push(Edit::Replace(at.clone(), after.clone())),
    }
}
