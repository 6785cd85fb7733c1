//! `check --target` and `[check] targets`: what the APIs of vendors reject, VENDOR_INCOMPATIBLE.

use crate::calling::run;
use crate::program::{Run, folder, run_in};

const CONST: &str = r#"{"name": "weather", "description": "Returns the weather", "inputSchema": {
  "type": "object",
  "properties": {"unit": {"type": "string", "const": "C", "description": "Celsius"}},
  "required": ["unit"],
  "additionalProperties": false
}}"#;

/// The findings about vendors of one file, without its name and position, and the run.
fn found(text: &str, config: &str, args: &[&str]) -> (Vec<String>, Run) {
    let files = [("tool.json", text.as_bytes()), ("toolwright.toml", config.as_bytes())];
    let common = ["check", "--output-format", "concise", "--select", "VENDOR_INCOMPATIBLE"];
    let args: Vec<&str> = common.iter().chain(args).chain(&["tool.json"]).copied().collect();
    let run = run(folder(&files).path(), &args);
    let of_tool = |line: &str| {
        let (_, message) = line.split_once("warning[VENDOR_INCOMPATIBLE]: ")?;
        Some(message.to_owned())
    };
    (run.stdout.lines().filter_map(of_tool).collect(), run)
}

#[test]
fn each_target_gets_its_own_findings() {
    for (target, expected) in [
        ("openai", vec![]),
        ("openai-responses", vec![]),
        ("openai-strict", vec![]),
        ("openai-responses-strict", vec![]),
        ("anthropic", vec![]),
        ("anthropic-strict", vec![]),
        ("gemini", vec![]),
        (
            "gemini-openapi",
            vec![
                "`additionalProperties` makes gemini-openapi reject the request",
                "`const` makes gemini-openapi reject the request",
            ],
        ),
        ("bedrock", vec![]),
        ("mistral", vec![]),
        ("cohere", vec![]),
        ("ollama", vec!["ollama ignores `additionalProperties`", "ollama ignores `const`"]),
        (
            "gemini-openapi,ollama",
            vec![
                "`additionalProperties` makes gemini-openapi reject the request; ollama ignores it",
                "`const` makes gemini-openapi reject the request; ollama ignores it",
            ],
        ),
    ] {
        let (mut lines, run) = found(CONST, "", &["--target", target]);
        lines.sort();
        assert_eq!(lines, expected, "{target}");
        assert_eq!(run.code, 0, "a warning does not fail the check");
    }
    let (_, run) = found(CONST, "", &["--target", "ollama", "--fail-on", "warning"]);
    assert_eq!(run.code, 1);
}

#[test]
fn without_a_target_nothing_is_said_about_vendors() {
    assert_eq!(found(CONST, "", &[]).0, [""; 0]);
    assert_eq!(found(CONST, "[check]\ntargets = []\n", &[]).0, [""; 0]);
}

#[test]
fn the_configuration_names_targets_and_the_command_line_replaces_them() {
    let config = "[check]\ntargets = [\"ollama\"]\n";
    assert_eq!(found(CONST, config, &[]).0.len(), 2);
    let (lines, _) = found(CONST, config, &["--target", "gemini-openapi"]);
    assert!(lines.iter().all(|line| !line.contains("ollama")), "{lines:?}");
    assert_eq!(lines.len(), 2);
}

#[test]
fn targets_hold_for_the_sources_of_the_configuration() {
    let config =
        "[check]\ntargets = [\"ollama\"]\n[[source]]\nname = \"w\"\npath = \"tool.json\"\n";
    let files = [("tool.json", CONST.as_bytes()), ("toolwright.toml", config.as_bytes())];
    let check = |args: &[&str]| {
        let args: Vec<&str> =
            ["check", "--output-format", "concise"].iter().chain(args).copied().collect();
        run(folder(&files).path(), &args).stdout
    };
    assert!(check(&[]).contains("ollama ignores `const`"), "{}", check(&[]));
    let replaced = check(&["--target", "gemini-openapi"]);
    assert!(replaced.contains("`const` makes gemini-openapi reject"), "{replaced}");
}

#[test]
fn unknown_targets_are_refused() {
    let (_, run) = found(CONST, "", &["--target", "openia"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("invalid value 'openia'"), "{}", run.stderr);
    assert!(run.stderr.contains("openai-responses-strict"), "{}", run.stderr);
    for (config, words) in [
        ("[check]\ntargets = [\"olama\"]\n", "did you mean `ollama`?"),
        ("[check]\ntargets = \"ollama\"\n", "`targets` is a string, expected an array of strings"),
        ("[check]\ntargts = []\n", "did you mean `targets`?"),
        ("targets = []\n", "it belongs under `[check]`"),
        ("check = 1\n", "`check` is an integer, expected a table"),
    ] {
        let (_, run) = found(CONST, config, &[]);
        assert_eq!(run.code, 2, "{config}");
        assert!(run.stderr.contains(words), "{config}: {}", run.stderr);
    }
}

#[test]
fn tools_are_counted_over_all_documents() {
    let tools = |names: std::ops::Range<usize>| {
        let tool = |n: usize| {
            format!(
                r#"{{"name": "tool_{n}", "description": "Tool {n}", "inputSchema": {{"type": "object", "properties": {{}}}}}}"#
            )
        };
        format!(r#"{{"tools": [{}]}}"#, names.map(tool).collect::<Vec<_>>().join(",\n"))
    };
    let (one, two) = (tools(0..100), tools(100..129));
    let folder = folder(&[("one.json", one.as_bytes()), ("two.json", two.as_bytes())]);
    let check = |files: &[&str]| {
        let args = ["check", "--output-format", "concise", "--target", "openai"];
        let args: Vec<&str> = args.iter().chain(files).copied().collect();
        run_in(folder.path(), &args, b"").stdout
    };
    assert!(!check(&["one.json"]).contains("VENDOR_INCOMPATIBLE"));
    let both = check(&["one.json", "two.json"]);
    assert!(
        both.contains(
            "two.json:29:10: warning[VENDOR_INCOMPATIBLE]: sending all 129 tools, more than 128, \
             makes openai reject the request"
        ),
        "{both}"
    );
}
