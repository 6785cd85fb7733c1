//! Validating tool arguments, against the bare validator. `cases` hands the same work to ajv.

use std::hint::black_box;

use serde_json::{Value as Json, json};
use toolwright_schema::Schema;

use crate::timing::compare;

const CALLS: usize = 20_000;
const ROUNDS: usize = 31;

/// Schemas with arguments that fit: the argument schemas of the examples.
fn pairs() -> Vec<(Json, Json)> {
    let tool = |text: &str, pointer: &str| {
        let document: Json = serde_json::from_str(text).expect("examples are JSON");
        document.pointer(pointer).expect("examples have schemas").clone()
    };
    let page_tools = include_str!("../../examples/btcp/page-tools.json");
    let units = include_str!("../../examples/ikigai/convert-units.json");
    let clock = include_str!("../../examples/mcp/clock.json");
    let file = include_str!("../../examples/mcp/read-file.json");
    vec![
        (tool(page_tools, "/tools/0/inputSchema"), json!({"contains": "docs", "limit": 10})),
        (
            tool(page_tools, "/tools/0/outputSchema"),
            json!({"links": [
                {"text": "Docs", "href": "https://example.org/docs"},
                {"text": "Home", "href": "https://example.org/"}
            ]}),
        ),
        (tool(page_tools, "/tools/1/inputSchema"), json!({"field": "E-mail", "value": "ada@example.org"})),
        (tool(units, "/parameters"), json!({"value": 12.5, "from": "km", "to": "mi"})),
        (tool(clock, "/tools/0/inputSchema"), json!({"timezone": "Europe/Berlin"})),
        (tool(clock, "/tools/1/inputSchema"), json!({"seconds": 2.5})),
        (tool(file, "/inputSchema"), json!({"path": "src/main.rs", "encoding": "utf8"})),
    ]
}

/// The same work for another program: `[{"schema":…,"instance":…}]`.
pub(crate) fn cases() -> Json {
    pairs().into_iter().map(|(schema, instance)| json!({"schema": schema, "instance": instance})).collect()
}

pub(crate) fn run() {
    let pairs = pairs();
    let ours: Vec<Schema> =
        pairs.iter().map(|(s, _)| Schema::compile(s).expect("examples compile")).collect();
    let bare: Vec<jsonschema::Validator> =
        pairs.iter().map(|(s, _)| jsonschema::validator_for(s).expect("examples compile")).collect();
    let calls = (CALLS * pairs.len()) as f64;
    let (us, peer, ratio) = compare(
        ROUNDS,
        || {
            for (schema, (_, instance)) in ours.iter().zip(&pairs) {
                (0..CALLS).for_each(|_| assert!(schema.validate(black_box(instance)).is_ok()));
            }
        },
        || {
            for (validator, (_, instance)) in bare.iter().zip(&pairs) {
                (0..CALLS).for_each(|_| assert!(validator.validate(black_box(instance)).is_ok()));
            }
        },
    );
    let nanoseconds = |time: std::time::Duration| time.as_nanos() as f64 / calls;
    println!("validating arguments of {} schemas, median of {ROUNDS} rounds", pairs.len());
    println!(
        "  ours {:.0} ns a call   bare jsonschema {:.0} ns   {ratio:.2}x its time (bound 1.20)",
        nanoseconds(us),
        nanoseconds(peer)
    );
    // For the script that runs ajv next to this.
    println!("  ours-ns {:.1}", nanoseconds(us));
}
