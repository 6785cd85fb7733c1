//! Large documents made to be slow: reading stays linear in their size, and the number of findings
//! is bounded.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use toolwright_formats::MAX_ITEMS;

use crate::support::{findings, format_ids, read_as};

const MANY: usize = 100_000;

/// The most that reading one of them may take. Linear reading takes a second without optimisation;
/// quadratic reading takes minutes, so the bound tells them apart on a busy machine, too.
const PATIENCE: Duration = Duration::from_secs(60);

/// `count` items, each made from its number.
fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

#[test]
fn reading_time_is_linear_in_the_size_of_a_document() {
    let aios = |more: &str| format!("{{\"tool\": {{\"id\": \"x\", \"type\": \"cli\", {more}}}}}");
    let names = list(MANY, |n| format!("\"c{n}\""));
    let distinct: String = ('\u{100}'..).take(200_000).collect();
    let cases: Vec<(&str, String)> = vec![
        ("many commands", aios(&format!("\"commands\": [{names}]"))),
        (
            "many described commands",
            aios(&format!("\"tools\": [{}]", list(MANY, |n| format!("{{\"id\": \"c{n}\"}}")))),
        ),
        (
            "many examples",
            aios(&format!(
                "\"examples\": {{{}}}",
                list(MANY, |n| format!("\"c{n}\": [{{\"scenario\": \"success\"}}]"))
            )),
        ),
        (
            "many commands with examples of others",
            aios(&format!(
                "\"commands\": [{names}], \"examples\": {{{}}}",
                list(MANY, |n| format!("\"d{n}\": []"))
            )),
        ),
        (
            "one command with many empty examples",
            aios(&format!(
                "\"examples\": {{\"a\": [{{\"scenario\": \"success\"}},{}]}}",
                list(MANY, |_| "{}".into())
            )),
        ),
        (
            "many mappings without structure",
            aios(&format!(
                "\"api_complexity\": {{\"field_mappings\": {{{}}}}}",
                list(MANY, |n| format!("\"f{n}\": {{}}"))
            )),
        ),
        (
            "many groups",
            aios(&format!("\"command_groups\": {{{}}}", list(MANY, |n| format!("\"g{n}\": 1")))),
        ),
        (
            "many unknown fields",
            format!("{{\"btcp\": \"1.0\", {}}}", list(MANY, |n| format!("\"f{n}\": 1"))),
        ),
        (
            "one key many times",
            format!("{{\"inputSchema\": {{}}, {}}}", list(MANY, |_| "\"name\": 1".into())),
        ),
        (
            "many tools without anything",
            format!("[{{\"inputSchema\": 1}},{}]", list(MANY, |_| "{}".into())),
        ),
        (
            "many bad capabilities",
            format!("{{\"name\": \"n\", \"capabilities\": [{}]}}", list(MANY, |_| "1".into())),
        ),
        (
            "many tags",
            format!(
                "{{\"name\": \"n\", \"inputSchema\": {{}}, \"tags\": [{}]}}",
                list(MANY, |n| format!("\"T {n}\""))
            ),
        ),
        (
            "a name of many characters",
            format!(
                "{{\"name\": \"{distinct}\", \"inputSchema\": {{}}, \"namespace\": \"{distinct}\"}}"
            ),
        ),
    ];
    for (what, text) in &cases {
        for id in format_ids() {
            let start = Instant::now();
            let reading = read_as(id, "x.json", text.as_str());
            let took = start.elapsed();
            assert!(took < PATIENCE, "{what} as {id} took {took:?}");
            let mut counts: HashMap<_, usize> = HashMap::new();
            for finding in &reading.findings {
                *counts.entry((finding.code.name, finding.severity)).or_default() += 1;
            }
            assert!(counts.values().all(|count| *count <= 1_000), "{what} as {id}: {counts:?}");
            assert!(reading.findings.len() <= 5_000, "{what} as {id}: {counts:?}");
        }
    }
}

/// A mistake under an anchor is one finding, however many aliases repeat it.
#[test]
fn aliases_do_not_multiply_findings() {
    let aliases = list(2_000, |_| "*a".into());
    let text = format!(
        "- &a {{name: 1, description: does a thing, inputSchema: {{}}, capabilities: []}}\n- {{}}\n- [{aliases}]\n"
    );
    let text = format!("{text}{}", "- *a\n".repeat(500));
    let found = findings(&read_as("btcp", "x.yaml", text));
    assert_eq!(
        found.iter().filter(|line| line.starts_with("INVALID_TYPE /0/name")).count(),
        1,
        "{found:?}"
    );
}

/// Of a list of tools, commands or examples that is too long, the first items are read, and a
/// finding reports the rest.
#[test]
fn lists_are_read_up_to_their_bound() {
    let more = MAX_ITEMS + 1;
    let tool = |body: String| format!("{{\"tool\": {{\"id\": \"x\", \"type\": \"cli\", {body}}}}}");
    let group = |g: &str, count: usize| {
        format!("\"{g}\": [{}]", list(count, |n| format!("{{\"command\": \"{g} {n}\"}}")))
    };
    let cases: Vec<(&str, &str, String, &str)> = vec![
        ("tools", "mcp", format!("[{}]", list(more, |_| "{}".into())), "TOO_LARGE"),
        (
            "tools",
            "mcp",
            format!("{{\"tools\": [{}]}}", list(more, |_| "{}".into())),
            "TOO_LARGE /tools",
        ),
        ("tools", "btcp", format!("[{}]", list(more, |_| "{}".into())), "TOO_LARGE"),
        (
            "tools",
            "btcp",
            format!("{{\"btcp\": \"1.0\", \"tools\": [{}]}}", list(more, |_| "{}".into())),
            "TOO_LARGE /tools",
        ),
        ("tools", "ikigai", format!("[{}]", list(more, |_| "{}".into())), "TOO_LARGE"),
        (
            "commands",
            "aios",
            tool(format!("\"commands\": [{}]", list(more, |n| format!("\"c{n}\"")))),
            "TOO_LARGE /tool/commands",
        ),
        (
            "commands of two groups",
            "aios",
            tool(format!("\"command_groups\": {{{}, {}}}", group("a", MAX_ITEMS), group("b", 1))),
            "TOO_LARGE /tool",
        ),
    ];
    for (what, id, text, expected) in cases {
        let reading = read_as(id, "x.json", text);
        assert_eq!(reading.toolset.tools.len(), MAX_ITEMS, "{what} of {id}");
        assert!(
            findings(&reading).iter().any(|line| line.trim_end() == expected),
            "{what} of {id}: {expected}"
        );
    }
    let text = tool(format!(
        "\"commands\": [\"a\"], \"examples\": {{\"a\": [{}]}}",
        list(more, |_| "{}".into())
    ));
    let reading = read_as("aios", "x.json", text);
    assert_eq!(reading.toolset.tools[0].details.examples.len(), MAX_ITEMS);
    assert!(findings(&reading).contains(&"TOO_LARGE /tool/examples/a".to_owned()));
    // A list of exactly the bound has no finding.
    let reading = read_as(
        "mcp",
        "x.json",
        format!("[{}]", list(MAX_ITEMS, |_| "{\"name\": \"a\", \"inputSchema\": {}}".into())),
    );
    assert_eq!((reading.toolset.tools.len(), reading.findings.len()), (MAX_ITEMS, 0));
}
