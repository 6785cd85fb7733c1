//! Schemas rewritten for a target: tables of what comes out, and properties that hold for all
//! schemas.

mod corpus;
mod instances;
mod properties;
mod schemas;
mod tables;

use serde_json::Value;
use toolwright_schema::{
    ChangeAction, RewrittenSchema, Schema, VendorEffect, VendorTarget, incompatibilities,
    standard_form,
};

/// Equality as JSON Schema has it: `1` is `1.0`, and properties have no order.
fn same(first: &Value, second: &Value) -> bool {
    Schema::compile(&serde_json::json!({ "const": first })).expect("compiles").is_valid(second)
}

/// Whether one of the changes has one of the actions.
fn has_action(rewritten: &RewrittenSchema, actions: &[ChangeAction]) -> bool {
    rewritten.changes.iter().any(|change| actions.contains(&change.action))
}

/// What the target still rejects or ignores.
fn leftover(target: VendorTarget, schema: &Value) -> Vec<String> {
    let found = incompatibilities(schema, [target].into_iter().collect());
    let effect = |(_, effect): &(VendorTarget, VendorEffect)| match effect {
        VendorEffect::Rejects => "rejects",
        VendorEffect::Ignores => "ignores",
    };
    found
        .iter()
        .map(|found| format!("{} {} {:?}", effect(&found.effects[0]), found.at, found.part))
        .collect()
}

/// The rewritten schema, compiled with the meaning that it has for the target.
fn compile_for(target: VendorTarget, schema: &Value) -> Schema {
    Schema::compile(&standard_form(target, schema))
        .unwrap_or_else(|error| panic!("{}: {error}\n{schema:#}", target.id()))
}
