//! `toolwright-bench read`: reading definitions, from text to record and findings.
//!
//! The peers do less on purpose: serde_json only makes values, granit-parser only events. So the
//! ratio is what positions, detection of the format and the record cost on top of a parser.

use std::hint::black_box;
use std::sync::Arc;

use toolwright_formats::{DetectionResult, detect, read};
use toolwright_source::{Document, Syntax};

use crate::generated_definitions::{GeneratedDefinition, definitions};
use crate::timing::{compare, median, time};

/// How many definitions there are.
const COUNT: usize = 10_000;
const ROUNDS: usize = 15;

/// Parses, detects and reads one definition.
fn read_one(definition: &GeneratedDefinition) {
    let document = Arc::new(Document::parse("bench", definition.text.as_str(), definition.syntax));
    match detect(&document) {
        DetectionResult::Format(format) => {
            let reading = read(&document, format);
            assert!(reading.findings.is_empty(), "the definitions are clean");
            black_box(reading);
        }
        DetectionResult::Unreadable(finding) => panic!("{}", finding.message),
    }
}

/// Runs the parser of the peer and drops its events.
fn events(text: &str) {
    for event in granit_parser::Parser::new_from_str(text) {
        let _ = black_box(event.expect("the definitions are YAML"));
    }
}

pub(crate) fn run() {
    let all = definitions(COUNT);
    let of = |syntax| all.iter().filter(|d| d.syntax == syntax).collect::<Vec<_>>();
    let (json, yaml) = (of(Syntax::Json), of(Syntax::Yaml));
    let bytes = |list: &[&GeneratedDefinition]| list.iter().map(|d| d.text.len()).sum::<usize>();
    println!(
        "reading {COUNT} definitions, {:.1} MB, one core, median of {ROUNDS} rounds",
        mb(bytes(&json) + bytes(&yaml))
    );

    let (ours, peer, ratio) = compare(
        ROUNDS,
        || json.iter().for_each(|d| read_one(d)),
        || {
            json.iter().for_each(|d| {
                black_box(serde_json::from_str::<serde_json::Value>(&d.text).expect("JSON"));
            });
        },
    );
    let speed = |time: std::time::Duration, list: &[&GeneratedDefinition]| {
        mb(bytes(list)) / time.as_secs_f64()
    };
    println!(
        "  JSON           {:6.1} MB/s   serde_json, values    {:6.1} MB/s   {ratio:.2}x the time \
         (bound 2.00)",
        speed(ours, &json),
        speed(peer, &json)
    );

    // Simple YAML is read without a parser, and a tab makes a document not simple: with one in a
    // comment, the same documents are read by the parser.
    let tabbed = |d: &&GeneratedDefinition| GeneratedDefinition {
        syntax: d.syntax,
        text: format!("{}# \t\n", d.text),
    };
    let with_tab: Vec<GeneratedDefinition> = yaml.iter().map(tabbed).collect();
    for (name, list) in [("YAML, simple", yaml), ("YAML, parsed", with_tab.iter().collect())] {
        let (ours, peer, ratio) = compare(
            ROUNDS,
            || list.iter().for_each(|d| read_one(d)),
            || list.iter().for_each(|d| events(&d.text)),
        );
        println!(
            "  {name:13}  {:6.1} MB/s   granit-parser, events {:6.1} MB/s   {ratio:.2}x the time \
             (bound 2.00)",
            speed(ours, &list),
            speed(peer, &list)
        );
    }

    let scaling = median((0..ROUNDS).map(|_| two_threads(&all)).collect::<Vec<f64>>());
    println!("  two threads    {scaling:.2}x the speed of one thread");
}

/// Bytes as megabytes.
fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// How much faster two threads read everything than one.
fn two_threads(all: &[GeneratedDefinition]) -> f64 {
    let one = time(|| all.iter().for_each(read_one));
    let (left, right) = all.split_at(all.len() / 2);
    let two = time(|| {
        std::thread::scope(|scope| {
            scope.spawn(|| left.iter().for_each(read_one));
            right.iter().for_each(read_one);
        });
    });
    one.as_secs_f64() / two.as_secs_f64()
}
