//! What holds for every schema and every target.

use proptest::prelude::*;
use serde_json::Value;
use toolwright_schema::{
    ChangeAction, RestoreStep, Schema, VendorTarget, adapt, restore, rewrite_for,
};

use super::instances::{Draw, instance};
use super::schemas::input_schema;
use super::{compile_for, has_action, leftover, same};

/// Instances drawn for each schema and target.
const INSTANCES: u64 = 12;

/// `PROPTEST_CASES` asks for more cases than usual.
fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    ProptestConfig {
        cases,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn targets_accept_what_is_written_for_them(schema in input_schema()) {
        for target in VendorTarget::ALL {
            let rewritten = rewrite_for(target, &schema);
            let left = leftover(target, &rewritten.schema);
            prop_assert!(left.is_empty(), "{}: {left:?}\n{:#}", target.id(), rewritten.schema);
            prop_assert_eq!(&rewritten, &rewrite_for(target, &schema), "not deterministic");
            let again = rewrite_for(target, &rewritten.schema);
            prop_assert!(leftover(target, &again.schema).is_empty(), "{} again", target.id());
            // In a source, `nullable` has no meaning and is dropped. What is left of a schema that
            // lost something may allow more rewrites.
            let losses = [ChangeAction::Widened, ChangeAction::Approximated];
            if target != VendorTarget::GeminiOpenapi && !has_action(&rewritten, &losses) {
                prop_assert_eq!(&again.schema, &rewritten.schema, "{} not idempotent", target.id());
                prop_assert!(again.changes.is_empty(), "{}: {:?}", target.id(), again.changes);
            }
            let steps: Result<Vec<RestoreStep>, _> =
                rewritten.steps.iter().map(|step| RestoreStep::from_json(&step.to_json())).collect();
            prop_assert_eq!(steps, Ok(rewritten.steps));
        }
    }

    #[test]
    fn calls_mean_the_same_unless_a_change_is_reported(
        schema in input_schema(),
        seed in any::<u64>(),
    ) {
        let Ok(source) = Schema::compile(&schema) else { return Ok(()) };
        for target in VendorTarget::ALL {
            check_calls(target, &schema, &source, seed)?;
        }
    }
}

fn check_calls(
    target: VendorTarget,
    schema: &Value,
    source: &Schema,
    seed: u64,
) -> Result<(), TestCaseError> {
    let rewritten = rewrite_for(target, schema);
    let compiled = compile_for(target, &rewritten.schema);
    let may_refuse = has_action(&rewritten, &[ChangeAction::Narrowed, ChangeAction::Approximated]);
    let may_accept = has_action(&rewritten, &[ChangeAction::Widened, ChangeAction::Approximated]);
    let show = |call: &Value| {
        format!("{} {call}\n{:#}\n{:?}", target.id(), rewritten.schema, rewritten.changes)
    };
    for number in 0..INSTANCES {
        let call = instance(schema, schema, &mut Draw(seed ^ number), 0);
        if !call.is_object() {
            continue;
        }
        let Ok(adapted) = adapt(&rewritten.steps, call.clone()) else { continue };
        let (before, after) = (source.is_valid(&call), compiled.is_valid(&adapted));
        if before && !may_refuse {
            prop_assert!(after, "refused: {adapted}\n{}", show(&call));
            let restored = restore(&rewritten.steps, adapted.clone());
            prop_assert!(
                restored.as_ref().is_ok_and(|restored| same(restored, &call)),
                "{restored:?} from {adapted}\n{}",
                show(&call)
            );
        }
        if after && !may_accept {
            let restored = restore(&rewritten.steps, adapted);
            prop_assert!(restored.is_ok_and(|call| source.is_valid(&call)), "{}", show(&call));
        }
        let drawn = instance(&rewritten.schema, &rewritten.schema, &mut Draw(seed ^ number), 0);
        if drawn.is_object() && compiled.is_valid(&drawn) && !may_accept {
            // A key that is given twice is an error of the call.
            if let Ok(restored) = restore(&rewritten.steps, drawn.clone()) {
                prop_assert!(
                    source.is_valid(&restored),
                    "accepted: {drawn} as {restored}\n{}",
                    show(&drawn)
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(300))]

    /// No JSON at all makes rewriting or restoring fail.
    #[test]
    fn any_json_is_survived(schema in any_json(), call in any_json()) {
        for target in VendorTarget::ALL {
            let rewritten = rewrite_for(target, &schema);
            if schema.is_object() {
                let left = leftover(target, &rewritten.schema);
                let rejected: Vec<_> =
                    left.iter().filter(|line| line.starts_with("rejects")).collect();
                prop_assert!(rejected.is_empty(), "{}: {rejected:?}", target.id());
            }
            let _ = restore(&rewritten.steps, call.clone());
            let _ = adapt(&rewritten.steps, call.clone());
        }
        let _ = RestoreStep::from_json(&schema);
    }
}

/// Values with keywords in all the wrong places.
fn any_json() -> impl Strategy<Value = Value> {
    let words = [
        "type",
        "object",
        "string",
        "array",
        "null",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "$ref",
        "#",
        "#/$defs/a",
        "$defs",
        "a",
        "enum",
        "const",
        "additionalProperties",
        "patternProperties",
        "minimum",
        "exclusiveMinimum",
        "multipleOf",
        "minItems",
        "prefixItems",
        "if",
        "then",
        "$schema",
        "http://json-schema.org/draft-07/schema#",
        "dependencies",
        "$id",
        "nullable",
        "description",
        "default",
        "unevaluatedProperties",
        "contains",
        "at",
        "choose",
        "steps",
    ];
    let word = proptest::sample::select(words.to_vec());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..6).prop_map(|members| {
                members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}
