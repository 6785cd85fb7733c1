//! `toolwright-bench validate`: validating the arguments of calls, against the bare validator that
//! ours is built on. `toolwright-bench cases` prints the same work for ajv, which `ajv_calls.cjs`
//! measures.
//!
//! The work is that of a large server: schemas of the sizes and shapes that tools have, called in
//! turn, with other arguments each time. How ajv compares depends on the number of calls per
//! schema: in a tight loop over one schema, or after thousands of calls of each, V8's optimising
//! compiler has compiled its code, and it is three times as fast as ours; before that it is a few
//! times slower.

use std::hint::black_box;

use serde_json::{Map, Value as Json, json};
use toolwright_schema::SchemaValidator;

use crate::timing::compare;

const TOOLS: u64 = 120;
const CALLS_EACH: u64 = 4;
const ROUNDS: usize = 101;

const WORDS: [&str; 24] = [
    "path",
    "query",
    "owner",
    "repo",
    "title",
    "body",
    "labels",
    "state",
    "page",
    "limit",
    "cursor",
    "filter",
    "since",
    "branch",
    "message",
    "content",
    "format",
    "depth",
    "recursive",
    "assignees",
    "milestone",
    "sort",
    "direction",
    "fields",
];

/// Pseudo-random numbers (xorshift) with a fixed seed: the same work in every run.
struct PseudoRandom(u64);

impl PseudoRandom {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// The schema of a property and a valid value. The shares are those of a large published server:
/// seven in ten are strings, some of them with an `enum`, two in ten are numbers.
fn property(random: &mut PseudoRandom, nested: bool) -> (Json, Json) {
    let word = WORDS[random.below(WORDS.len())];
    let number = random.below(90) + 1;
    match random.below(if nested { 95 } else { 100 }) {
        0..50 => {
            (json!({"type": "string", "description": word}), json!(format!("{word} {number}")))
        }
        50..55 => (
            json!({"type": "string", "minLength": 1, "maxLength": 200}),
            json!(format!("{word}/{number}.txt")),
        ),
        55..70 => (json!({"type": "string", "enum": ["open", "closed", "all"]}), json!("closed")),
        70..92 => (json!({"type": "number", "minimum": 1, "maximum": 100}), json!(number)),
        92..95 => (json!({"type": "boolean", "default": false}), json!(number.is_multiple_of(2))),
        95..99 => {
            (json!({"type": "array", "items": {"type": "string"}}), json!([word, "bug", "urgent"]))
        }
        _ => {
            let (schema, value) = object(random, 3, true);
            (json!({"type": "array", "items": schema}), json!([value.clone(), value]))
        }
    }
}

/// The schema of an object with up to `most` + 1 properties, half of them required, and a valid
/// value with those and some of the others.
fn object(random: &mut PseudoRandom, most: usize, nested: bool) -> (Json, Json) {
    let (mut properties, mut value, mut required) = (Map::new(), Map::new(), Vec::new());
    let first = random.below(WORDS.len());
    for n in 0..=random.below(most) {
        let name = WORDS[(first + n * 5) % WORDS.len()];
        let (schema, fits) = property(random, nested);
        properties.insert(name.to_owned(), schema);
        let needed = random.below(2) == 0;
        if needed {
            required.push(name);
        }
        if needed || random.below(2) == 0 {
            value.insert(name.to_owned(), fits);
        }
    }
    let closed = random.below(2) == 0;
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if closed {
        schema["additionalProperties"] = json!(false);
    }
    (schema, Json::Object(value))
}

/// The schemas of all tools, each with a few valid arguments.
fn tools() -> Vec<(Json, Vec<Json>)> {
    let one = |tool: u64| {
        let (schema, value) = object(&mut PseudoRandom(tool * 7919 + 17), 10, false);
        let calls = (0..CALLS_EACH).map(|n| varied(&value, n)).collect();
        (schema, calls)
    };
    (0..TOOLS).map(one).collect()
}

/// The same arguments with other free text, so that no call repeats the one before. Values of an
/// `enum` stay.
fn varied(value: &Json, n: u64) -> Json {
    match value {
        Json::String(text) if text.contains([' ', '/']) => json!(format!("{text}{n}")),
        Json::Array(items) => items.iter().map(|item| varied(item, n)).collect(),
        Json::Object(map) => {
            map.iter().map(|(name, item)| (name.clone(), varied(item, n))).collect()
        }
        other => other.clone(),
    }
}

/// The same work as JSON, for another program: `[{"schema":…,"instances":[…]}]`.
pub(crate) fn cases() -> Json {
    tools()
        .into_iter()
        .map(|(schema, instances)| json!({"schema": schema, "instances": instances}))
        .collect()
}

/// Measures both validators and prints the figures.
pub(crate) fn run() {
    let tools = tools();
    let compile = |schema| SchemaValidator::new(schema, None::<&Json>).expect("they compile");
    let ours: Vec<SchemaValidator> = tools.iter().map(|(schema, _)| compile(schema)).collect();
    let bare: Vec<jsonschema::Validator> =
        tools.iter().map(|(s, _)| jsonschema::validator_for(s).expect("they compile")).collect();
    let (us, peer, ratio) = compare(
        ROUNDS,
        || {
            for (validator, (_, calls)) in ours.iter().zip(&tools) {
                let is_valid = |call| validator.validate_input(black_box(call)).is_ok();
                calls.iter().for_each(|call| assert!(is_valid(call)));
            }
        },
        || {
            for (validator, (_, calls)) in bare.iter().zip(&tools) {
                calls.iter().for_each(|call| assert!(validator.validate(black_box(call)).is_ok()));
            }
        },
    );
    let nanoseconds =
        |time: std::time::Duration| time.as_nanos() as f64 / (TOOLS * CALLS_EACH) as f64;
    println!(
        "validating the arguments of calls, {TOOLS} schemas in turn; median of {ROUNDS} rounds"
    );
    println!(
        "  ours {:.0} ns per call   jsonschema alone {:.0} ns   {ratio:.2}x the time (bound 1.20)",
        nanoseconds(us),
        nanoseconds(peer)
    );
    // For `bench/run`, which passes it to the script that measures ajv.
    println!("ours_ns_per_call {:.1}", nanoseconds(us));
}
