//! `toolwright cost`, the thresholds of `[check]`, and the cache of counts.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value as Json;

use crate::client::faulty_server;
use crate::program::{Run, folder, toolwright};

/// One tool.
const NOW: &str = r#"{"name": "now", "description": "Returns the time", "inputSchema": {"type": "object", "properties": {}}}"#;

/// Runs in `folder` with its own cache folder.
fn run(folder: &Path, args: &[&str]) -> Run {
    let mut command = toolwright();
    command.current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache")).args(args);
    Run::of(command.stdin(Stdio::null()).output().expect("the binary runs"))
}

fn cost(folder: &Path, args: &[&str]) -> Json {
    let args: Vec<&str> = ["cost", "--json"].iter().chain(args).copied().collect();
    let run = run(folder, &args);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    serde_json::from_str(&run.stdout).expect("JSON")
}

#[test]
fn a_tool_costs_its_name_description_and_input_schema() {
    let more = NOW.replace(
        r#""inputSchema""#,
        r#""title": "The time", "outputSchema": {"type": "object"}, "inputSchema""#,
    );
    let folder = folder(&[("one.json", NOW.as_bytes()), ("more.json", more.as_bytes())]);
    // The same text by tiktoken: {"name":"now","description":"Returns the
    // time","input_schema":{"type":"object","properties":{}}}
    assert_eq!(cost(folder.path(), &["one.json"])["tokens"], NOW_TOKENS);
    assert_eq!(cost(folder.path(), &["more.json"])["tokens"], NOW_TOKENS, "nothing else counts");
    let both = cost(folder.path(), &["one.json", "more.json"]);
    assert_eq!(both["tokens"], 2 * NOW_TOKENS);
    assert_eq!(both["tokenizer"], "o200k");
    assert_eq!(both["sources"][0]["tools"][0]["name"], "now");
    assert_eq!(both["savings"], serde_json::json!([]));
}

/// A server's list with what could be left out.
fn wasteful() -> String {
    let long = "Returns one more thing that a reader may want to know about it. ".repeat(20);
    serde_json::json!({ "tools": [
        {
            "name": "search", "description": long,
            "inputSchema": {
                "type": "object", "title": "SearchArguments",
                "properties": {
                    "query": { "type": "string", "title": "Query", "description": long },
                    // A property of this name is not the keyword.
                    "title": { "type": "string", "description": "The title to look for" }
                },
                "$defs": { "Used": { "type": "string" }, "Unused": { "type": "object" } }
            }
        },
        { "name": "now", "description": "Returns the time", "inputSchema": {
            "type": "object", "title": "NowArguments", "properties": {}
        } }
    ] })
    .to_string()
}

#[test]
fn savings_are_listed_largest_first() {
    let folder = folder(&[("list.json", wasteful().as_bytes())]);
    let cost = cost(folder.path(), &["list.json"]);
    let savings: Vec<(&str, usize)> = cost["savings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (it["kind"].as_str().expect("text"), it["tools"].as_array().expect("list").len()))
        .collect();
    assert_eq!(
        savings,
        [
            ("long-parameter-descriptions", 1),
            ("long-descriptions", 1),
            ("needless-keywords", 2),
            ("unused-definitions", 1),
        ]
    );
    let tokens = |at: usize| cost["savings"][at]["tokens"].as_u64().expect("a number");
    // 20 sentences of 14 tokens each.
    assert_eq!((tokens(0), tokens(1)), (SENTENCES - 40, SENTENCES - 100));
    let sum: u64 = (0..4).map(tokens).sum();
    assert!(sum < cost["tokens"].as_u64().expect("a number"));
}

#[test]
fn the_text_ends_with_the_total_and_the_savings() {
    let folder = folder(&[("list.json", wasteful().as_bytes()), ("now.json", NOW.as_bytes())]);
    let run = run(folder.path(), &["cost", "list.json", "now.json"]);
    insta::assert_snapshot!("text", run.stdout);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn a_server_is_counted_as_such_and_notes_about_its_settings_are_left_to_check() {
    let entry = serde_json::json!({
        "command": faulty_server(), "args": ["mcp", "good"], "env": {"API_KEY": "<your-key>"}
    });
    let servers = serde_json::json!({ "mcpServers": { "up": entry } }).to_string();
    let folder = folder(&[(".mcp.json", servers.as_bytes()), ("now.json", NOW.as_bytes())]);
    let both = run(folder.path(), &["cost", ".mcp.json", "now.json"]);
    assert!(both.stdout.contains(" tools of 1 server and 1 file (o200k)\n"), "{both:?}");
    assert!(both.code == 0 && !both.stderr.contains("PLACEHOLDER_VALUE"), "{both:?}");
    let check = run(folder.path(), &["check", "--no-start", ".mcp.json"]);
    assert!(check.stdout.contains("note[PLACEHOLDER_VALUE]"), "{check:?}");
}

#[test]
fn without_sources_those_of_the_configuration_are_counted() {
    let config = "[[source]]\nname = \"clock\"\npath = \"now.json\"\n";
    let folder = folder(&[("toolwright.toml", config.as_bytes()), ("now.json", NOW.as_bytes())]);
    let found = run(folder.path(), &["cost", "--json"]);
    assert_eq!((found.code, found.stderr.as_str()), (0, "toolwright: reading `toolwright.toml`\n"));
    let found: Json = serde_json::from_str(&found.stdout).expect("JSON");
    assert_eq!(found["tokens"], NOW_TOKENS);
    std::fs::write(folder.path().join("toolwright.toml"), config.replace("path", "pth"))
        .expect("a file");
    let broken = run(folder.path(), &["cost"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (2, ""), "as `list` and `show`: {broken:?}");
    let nowhere = run(folder.path(), &["cost", "missing.json"]);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.stderr.contains("missing.json"), "{}", nowhere.stderr);
}

#[test]
fn errors_of_a_definition_are_counted_with_the_command_that_shows_them() {
    let broken = NOW.replace("}}}", "}}");
    let wrong = NOW.replace("\"now\"", "\"n o w\"").replace("\"Returns the time\"", "5");
    let folder = folder(&[("one.json", broken.as_bytes()), ("two.json", wrong.as_bytes())]);
    for (file, note) in [
        ("one.json", "toolwright: 1 error: `toolwright check one.json` shows it\n"),
        ("two.json", "toolwright: 2 errors: `toolwright check two.json` shows them\n"),
    ] {
        let run = run(folder.path(), &["cost", file]);
        assert_eq!(run.stderr, note, "{}", run.stdout);
    }
}

#[test]
fn hostile_texts_are_counted_and_shown_safely() {
    let spaces = " ".repeat(2_000_000);
    let tool = format!(
        r#"{{"tools": [{{"name": "a\u001b[31m", "description": "x{spaces}", "inputSchema": {{"type": "object"}}}}, {NOW}]}}"#
    );
    let folder = folder(&[("list.json", tool.as_bytes())]);
    let run = run(folder.path(), &["cost", "list.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stdout.contains('\u{1b}') && run.stdout.contains("now"), "{}", run.stdout);
}

#[test]
fn counts_are_kept_and_a_damaged_file_is_replaced() {
    let folder = folder(&[("now.json", NOW.as_bytes())]);
    let file = folder.path().join("cache/toolwright/tokens");
    let first = cost(folder.path(), &["now.json"]);
    let kept = std::fs::read(&file).expect("the counts are kept");
    for damaged in [&kept[..kept.len() - 1], b"", b"something else"] {
        std::fs::write(&file, damaged).expect("a file");
        assert_eq!(cost(folder.path(), &["now.json"]), first);
        assert_eq!(std::fs::read(&file).expect("a file"), kept, "it is whole again");
    }
    // A folder in its place: nothing is kept, and nothing is said about it.
    std::fs::remove_file(&file).expect("a file");
    std::fs::create_dir(&file).expect("a folder");
    assert_eq!(cost(folder.path(), &["now.json"]), first);
}

#[test]
fn commands_that_do_not_count_keep_nothing() {
    let folder = folder(&[("now.json", NOW.as_bytes())]);
    assert_eq!(run(folder.path(), &["check", "now.json"]).code, 0);
    assert!(!folder.path().join("cache").exists());
}

#[test]
fn check_warns_above_the_thresholds_of_the_configuration() {
    for (config, expected) in [
        (format!("[check]\nmax_tool_tokens = {NOW_TOKENS}\n"), vec![]),
        (
            format!("[check]\nmax_tool_tokens = {}\n", NOW_TOKENS - 1),
            vec![
                format!(
                    "a.json:1:10: warning[TOO_MANY_TOKENS]: the tool costs {NOW_TOKENS} tokens, more than {}",
                    NOW_TOKENS - 1
                ),
                format!(
                    "b.json:1:10: warning[TOO_MANY_TOKENS]: the tool costs {NOW_TOKENS} tokens, more than {}",
                    NOW_TOKENS - 1
                ),
            ],
        ),
        (format!("[check]\nmax_total_tokens = {}\n", 2 * NOW_TOKENS), vec![]),
        (
            "[check]\nmax_total_tokens = 30\n".to_owned(),
            vec![format!(
                "b.json:1:10: warning[TOO_MANY_TOKENS]: all tools together cost {} tokens, more than 30; this one costs most, {NOW_TOKENS}",
                2 * NOW_TOKENS
            )],
        ),
        (
            "[check]\nmax_total_tokens = 30\n[levels]\nTOO_MANY_TOKENS = \"off\"\n".to_owned(),
            vec![],
        ),
    ] {
        let folder = folder(&[
            ("toolwright.toml", config.as_bytes()),
            ("a.json", NOW.as_bytes()),
            ("b.json", NOW.as_bytes()),
        ]);
        let args = [
            "check",
            "--select",
            "TOO_MANY_TOKENS",
            "--output-format",
            "concise",
            "a.json",
            "b.json",
        ];
        // A code that is selected by name is reported even if it is off.
        let args =
            if config.contains("off") { [&args[..1], &args[3..]].concat() } else { args.to_vec() };
        let run = run(folder.path(), &args);
        let found: Vec<&str> =
            run.stdout.lines().filter(|line| line.contains("TOO_MANY_TOKENS")).collect();
        assert_eq!(found, expected, "{config}{}", run.stderr);
    }
    let zero = folder(&[
        ("toolwright.toml", b"[check]\nmax_tool_tokens = 0\n"),
        ("a.json", NOW.as_bytes()),
    ]);
    let run = run(zero.path(), &["check", "a.json"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`max_tool_tokens` is 0, expected 1 to 1000000"), "{}", run.stderr);
}

/// Tokens of [`NOW`].
const NOW_TOKENS: u64 = 23;
/// Tokens of the long text of [`wasteful`].
const SENTENCES: u64 = 281;
