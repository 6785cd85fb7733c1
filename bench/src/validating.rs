//! Validating tool arguments, against the bare validator. `cases` hands the same work to ajv.
//!
//! The work is what a large server does: schemas of the sizes and shapes that tools have, called in
//! turn with other arguments each time. It is the number of schemas that decides against ajv: in a
//! tight loop over one of them, or after thousands of calls of each, its code is compiled by V8's
//! optimising compiler and three times as fast as ours; below that it is a few times slower.

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

/// Numbers without chance: the same work in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

/// A property's schema and a value that fits it. The shares are those of a large published server:
/// seven in ten are strings, some of them with an `enum`, two numbers, few anything else.
fn property(dice: &mut Dice, nested: bool) -> (Json, Json) {
    let word = WORDS[dice.roll(WORDS.len())];
    let number = dice.roll(90) + 1;
    match dice.roll(if nested { 95 } else { 100 }) {
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
            let (schema, value) = object(dice, 3, true);
            (json!({"type": "array", "items": schema}), json!([value.clone(), value]))
        }
    }
}

/// Up to `most` properties, half of them required; the arguments have those and some of the others.
fn object(dice: &mut Dice, most: usize, nested: bool) -> (Json, Json) {
    let (mut properties, mut value, mut required) = (Map::new(), Map::new(), Vec::new());
    let first = dice.roll(WORDS.len());
    for n in 0..=dice.roll(most) {
        let name = WORDS[(first + n * 5) % WORDS.len()];
        let (schema, fits) = property(dice, nested);
        properties.insert(name.to_owned(), schema);
        let needed = dice.roll(2) == 0;
        if needed {
            required.push(name);
        }
        if needed || dice.roll(2) == 0 {
            value.insert(name.to_owned(), fits);
        }
    }
    let closed = dice.roll(2) == 0;
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if closed {
        schema["additionalProperties"] = json!(false);
    }
    (schema, Json::Object(value))
}

/// Schemas, each with a few arguments that fit: values of the same schema rolled anew.
fn tools() -> Vec<(Json, Vec<Json>)> {
    let one = |tool: u64| {
        let (schema, value) = object(&mut Dice(tool * 7919 + 17), 10, false);
        let calls = (0..CALLS_EACH).map(|n| varied(&value, n)).collect();
        (schema, calls)
    };
    (0..TOOLS).map(one).collect()
}

/// The same arguments with other free text; what a schema pins down stays.
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

/// The same work for another program: `[{"schema":…,"instances":[…]}]`.
pub(crate) fn cases() -> Json {
    tools()
        .into_iter()
        .map(|(schema, instances)| json!({"schema": schema, "instances": instances}))
        .collect()
}

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
    println!("validating arguments, {TOOLS} schemas in turn, median of {ROUNDS} rounds");
    println!(
        "  ours {:.0} ns per call   bare jsonschema {:.0} ns   {ratio:.2}x its time (bound 1.20)",
        nanoseconds(us),
        nanoseconds(peer)
    );
    // For the script that runs ajv next to this.
    println!("  ours-ns {:.1}", nanoseconds(us));
}
