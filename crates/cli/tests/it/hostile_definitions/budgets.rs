//! Functions that are within their limits one by one, and far beyond them together: what needs one
//! budget for all functions of a call.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::functions::{CLASSES, all_classes, programs};
use super::watched_server::WatchedServer;
use super::{HostileDefinition, LIT, definition, function, list, sources, validator};

/// The limits of the attacks on the budget: a call may take a second and a half.
const BUDGET_LIMITS: &str = "[limits]\ntimeout = 1500\n";
/// When a call with these limits must be over, on a busy machine.
const BUDGET_PATIENCE: Duration = Duration::from_secs(15);

/// Definitions whose functions are within their limits one by one, and far beyond them together.
fn budget_bombs() -> Vec<HostileDefinition> {
    let many = |count: usize, item: &dyn Fn(usize) -> Json| -> Vec<Json> {
        (0..count).map(item).collect()
    };
    let validators = |count: usize, code: &str| {
        let all = many(count, &|n| validator(&format!("v{n}"), "run", code));
        json!({"executable_knowledge": {"validators": all}})
    };
    let processors = |count: usize, stage: &str, code: &str| {
        let processor = |n: usize| {
            let mut function = function(&format!("p{n}"), code);
            function["processes"] = json!("run");
            function["stage"] = json!(stage);
            function
        };
        json!({"executable_knowledge": {"processors": many(count, &processor)}})
    };
    let fields = |count: usize, code: &str| {
        let mapping = |n: usize| (format!("f{n}"), json!({"extraction": "helpers.h"}));
        let mappings: serde_json::Map<String, Json> = (0..count).map(mapping).collect();
        json!({"executable_knowledge": {"helpers": [function("h", code)]},
               "api_complexity": {"field_mappings": mappings}})
    };
    let busy = "module.exports = () => { const end = Date.now() + 120; while (Date.now() < end); \
                return { valid: true, errors: [] }; };";
    let endless = "module.exports = () => { for (;;); };";
    let long_error = "module.exports = () => ({ valid: false, errors: ['e'.repeat(1e6)] });";
    let long_warning = "module.exports = () => ({ valid: true, errors: { x: 'w'.repeat(9e5) } });";
    let long_throw = "module.exports = () => { throw new Error('t'.repeat(8000)); };";
    let long_log = "module.exports = (a) => { for (let i = 0; i < 60; i++) \
                    console.log('l'.repeat(1000)); return { valid: true, errors: [] }; };";
    let long_text = "module.exports = () => 'x'.repeat(1e6);";
    let groups = list(75_000, "", |n| format!("(?<g{n}>)"));
    let slow_to_locate = format!("const r = /{groups}/; )");
    let shapes = many(5_000, &|n| {
        json!({"type": "t".repeat(2_000) + &n.to_string(),
                                          "detection": "nowhere exists"})
    });
    let mut unknown_shape = processors(1, "response", "module.exports = (d) => d;");
    unknown_shape["api_complexity"] = json!({"payload_schemas": shapes});
    let mut detected = processors(1, "response", "module.exports = (d) => d;");
    detected["executable_knowledge"]["helpers"] = json!([function("h", endless)]);
    let slow_shape = |n: usize| json!({"type": format!("t{n}"), "detection": "helpers.h"});
    detected["api_complexity"] = json!({"payload_schemas": many(50, &slow_shape)});
    let mut advice = validators(
        1,
        "module.exports = () => ({ valid: false, errors: ['colour must be a number'] });",
    );
    advice["anti_patterns"] = json!([{"pattern": "colour", "description": "colour ".repeat(300_000),
        "wrong": "run({colour})", "correct": "c".repeat(4_000_000), "category": "api_usage"}]);
    advice["api_complexity"] = json!({"api_quirks": [{"quirk": "colour",
        "description": "colour", "mitigation": "m".repeat(4_000_000)}]});
    let any: &[&str] = &[];
    vec![
        definition("slow-validators", validators(400, busy), any),
        definition("endless-validators", validators(40, endless), any),
        definition("long-errors", validators(50, long_error), any),
        definition("long-warnings", validators(50, long_warning), any),
        definition("long-exceptions", validators(400, long_throw), any),
        definition("long-logs", validators(100, long_log), any),
        definition("endless-requests", processors(40, "request", endless), any),
        definition("endless-responses", processors(40, "response", endless), any),
        definition("long-responses", processors(50, "response", long_text), any),
        definition("long-fields", fields(100, long_text), any),
        definition("many-fields", fields(9_000, "module.exports = () => 1;"), any),
        definition("endless-fields", fields(50, endless), any),
        definition("endless-detections", detected, any),
        definition("unknown-shape", unknown_shape, any),
        definition("long-advice", advice, any),
        definition("slow-to-locate", validators(6, &slow_to_locate), any),
    ]
}

/// Functions that are within their limits one by one, and far beyond them together: the call ends
/// at its own deadline, its answer is capped, and the quick tools answer meanwhile.
#[test]
fn budget_attacks() {
    let definitions = budget_bombs();
    let folder = sources(&definitions, BUDGET_LIMITS);
    let mut server = WatchedServer::start(folder.path());
    for definition in &definitions {
        let calls = [(format!("{}__run", definition.name), definition.arguments.clone())];
        let began = Instant::now();
        let answer = server.attack(&calls).pop().expect("one answer");
        let time = began.elapsed();
        println!("{}: {time:?}, {} bytes", definition.name, answer.to_string().len());
        server.expect(time < BUDGET_PATIENCE, || format!("{} took {time:?}", definition.name));
        server.expect(answer.get("result").is_some(), || format!("{}: {answer}", definition.name));
    }
    server.end();
    // The programs whose verdicts are larger than an answer may be.
    let folder = all_classes(true);
    let mut server = WatchedServer::start(folder.path());
    for class in CLASSES {
        for n in 0..programs(class, true).len() {
            let call = (format!("{class}__p{n}"), json!({"args": [], "stdin": LIT}));
            let answer = server.attack(&[call]).pop().expect("one answer");
            server.expect(answer["result"]["isError"] == true, || format!("{class} {n}"));
        }
    }
    server.end();
}
