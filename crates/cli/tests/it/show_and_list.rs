//! `show` and `list`: their output for people and for programs, and their exit codes.

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::program::{folder, run, run_in, toolwright};

const BROKEN: &str = r#"{
  "btcp": "1.0",
  "name": "Größen",
  "version": "1.2",
  "tools": [
    {
      "name": "get-size",
      "description": "Größe",
      "inputshcema": {"type": "object"},
      "capabilities": ["dom:read", "Dom:Read"],
      "timeout": 10
    }
  ],
  "capabilities": ["dom:read"]
}
"#;

#[test]
fn list_prints_one_line_per_example() {
    let run = run(&["list", "examples"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(run.stdout);
}

#[test]
fn show_prints_a_card_per_example() {
    for file in [
        "btcp/page-tools.json",
        "btcp/count-words.json",
        "aios/tickets.yaml",
        "aios/git.yaml",
        "aios/slugs.yaml",
        "aios/triage.yaml",
        "ikigai/convert-units.json",
        "mcp/clock.json",
        "mcp/read-file.json",
    ] {
        let run = run(&["show", &format!("examples/{file}")]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{file}");
        insta::assert_snapshot!(format!("card_of_{file}"), run.stdout);
    }
}

#[test]
fn show_prints_json_of_the_examples() {
    for file in [
        "btcp/page-tools.json",
        "aios/tickets.yaml",
        "aios/git.yaml",
        "ikigai/convert-units.json",
        "mcp/read-file.json",
    ] {
        let run = run(&["show", "--json", &format!("examples/{file}")]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{file}");
        insta::assert_snapshot!(format!("json_of_{file}"), run.stdout);
    }
}

/// The keys of docs/record.md, which every tool has, whatever its format.
#[test]
fn every_tool_has_the_documented_keys() {
    let keys = [
        "id",
        "namespace",
        "name",
        "title",
        "description",
        "servedDescription",
        "version",
        "tags",
        "capabilities",
        "inputSchema",
        "inputSchemaDeferred",
        "outputSchema",
        "examples",
        "limits",
        "binding",
        "annotations",
        "icons",
        "meta",
        "deprecated",
        "deprecationMessage",
        "knowledge",
        "extra",
        "invalid",
        "hash",
        "format",
        "toolset",
        "origin",
    ];
    let folder = folder(&[("bare.json", br#"{"inputSchema": {}}"#)]);
    let path = folder.path().join("bare.json").display().to_string();
    for args in [vec!["show", "--json", "examples"], vec!["show", "--json", &path]] {
        let record: Json = serde_json::from_str(&run(&args).stdout).expect("JSON");
        for tool in record["tools"].as_array().expect("tools") {
            let found: Vec<&str> =
                tool.as_object().expect("an object").keys().map(String::as_str).collect();
            assert_eq!(found, keys);
        }
    }
}

#[test]
fn every_mistake_is_shown_at_its_place() {
    let folder = folder(&[("page.json", BROKEN.as_bytes())]);
    let run = run_in(folder.path(), &["show", "page.json"], b"");
    assert_eq!(run.code, 1);
    insta::assert_snapshot!("mistakes__full", run.stderr);
    insta::assert_snapshot!("mistakes__card", run.stdout);
    let concise = run_in(folder.path(), &["show", "page.json", "--output-format", "concise"], b"");
    insta::assert_snapshot!("mistakes__concise", concise.stderr);
    let crlf = BROKEN.replace('\n', "\r\n");
    let from_stdin =
        run_in(folder.path(), &["show", "-", "--output-format", "concise"], crlf.as_bytes());
    assert_eq!(from_stdin.stderr.replace("<stdin>", "page.json"), concise.stderr);
}

#[test]
fn json_diagnostics_have_the_documented_shape() {
    let folder = folder(&[("page.json", BROKEN.as_bytes())]);
    let run = run_in(folder.path(), &["show", "page.json", "--output-format", "json"], b"");
    let lines: Vec<Json> =
        run.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 8);
    for line in &lines {
        let keys: Vec<&str> =
            line.as_object().expect("an object").keys().map(String::as_str).collect();
        let promised = "code severity message source tool file start end path help fix";
        assert_eq!(keys.join(" "), promised);
    }
    let misspelled = lines.iter().find(|line| line["code"] == "MISSPELLED_FIELD").expect("found");
    assert_eq!(misspelled["path"], "/tools/0/inputshcema");
    assert_eq!(misspelled["start"], json!({"line": 9, "column": 7, "byte": 144}));
    assert_eq!(misspelled["fix"]["safe"], true);
    assert_eq!(misspelled["fix"]["edits"][0]["text"], "\"inputSchema\"");
}

#[test]
fn compat_makes_common_deviations_warnings() {
    let text = "tool:\n  id: exa\n  type: mcp\n  name: Exa\n  version: 1.0.0\n  description: Search\n  knowledge_strategy: declarative\nmore: 1\n";
    let strict = run_in(std::path::Path::new("/"), &["show", "-"], text.as_bytes());
    assert_eq!(strict.code, 1, "{}", strict.stderr);
    let compat = run_in(std::path::Path::new("/"), &["show", "--compat", "-"], text.as_bytes());
    assert_eq!(compat.code, 0, "{}", compat.stderr);
    assert!(compat.stderr.contains("warning[INVALID_ENUM_VALUE]"), "{}", compat.stderr);
    assert!(compat.stderr.ends_with("0 tools in 1 file: 2 warnings\n"), "{}", compat.stderr);
}

#[test]
fn format_overrides_detection() {
    let list = br#"[{"name": "x", "description": "d", "parameters": {"type": "object"}}]"#;
    let ambiguous = run_in(std::path::Path::new("/"), &["show", "-"], list);
    assert_eq!(ambiguous.code, 1);
    assert!(ambiguous.stderr.contains("error[AMBIGUOUS_FORMAT]"), "{}", ambiguous.stderr);
    let named = run_in(std::path::Path::new("/"), &["list", "--format", "ikigai", "-"], list);
    assert_eq!((named.code, named.stdout.as_str()), (0, "x  ikigai  d\n"));
    let unknown = run(&["list", "--format", "yaml", "examples"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("[possible values: btcp, aios, ikigai, mcp, webmcp, openai, anthropic, gemini, bedrock, openapi]"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn an_unknown_format_lists_the_keys_that_were_looked_for() {
    let cases = [
        (
            "{\"a\": 1}",
            "not a known format: the document has none of the keys that tell a format apart",
        ),
        ("just text", "not a known format: the document has a string, not an object or a list"),
        (
            r#"{"mcpServers": {}}"#,
            "this is a list of servers to connect to, not a definition of tools",
        ),
    ];
    for (text, message) in cases {
        let run = run_in(std::path::Path::new("/"), &["show", "-"], text.as_bytes());
        assert_eq!(run.code, 1, "{text}");
        assert!(run.stderr.contains(message), "{text}: {}", run.stderr);
    }
}

#[test]
fn folders_are_walked_in_order_and_gitignore_is_honoured() {
    let tool = |name: &str| {
        format!(r#"{{"name": "{name}", "inputSchema": {{"type": "object"}}}}"#).into_bytes()
    };
    let folder = folder(&[
        ("b.json", &tool("b")),
        ("a.json", &tool("a")),
        ("sub/c.json", &tool("c")),
        ("sub/ignored.json", &tool("ignored")),
        ("build/d.json", &tool("d")),
        (".gitignore", b"build/\nignored.json\n"),
        ("package.json", br#"{"name": "x"}"#),
        ("broken.json", b"{"),
        ("latin1.yaml", b"a: \xE9\n"),
        ("notes.txt", b"no"),
    ]);
    for _ in 0..3 {
        let run = run_in(folder.path(), &["list", "."], b"");
        assert_eq!((run.code, run.stdout.as_str()), (0, "a  mcp\nb  mcp\nc  mcp\n"));
        let skipped = "1 file skipped: unknown format\n\
                       2 files skipped, cannot be parsed: ./broken.json, ./latin1.yaml\n";
        assert_eq!(run.stderr, skipped);
    }
    // Syntax errors count in files that have keys of a definition.
    let broken = br#"{"name": "e", "inputSchema": {"type": "object"},}"#;
    std::fs::write(folder.path().join("e.json"), broken).expect("a file");
    let run = run_in(folder.path(), &["show", "."], b"");
    assert_eq!(run.code, 1);
    run.assert_on_stderr("trailing `,` before `}`");
}

#[test]
fn sources_that_cannot_be_read_are_one_line_and_exit_code_2() {
    let folder = folder(&[
        ("empty/readme.md", b"nothing here"),
        ("others/package.json", br#"{"name": "x"}"#),
        ("picture.json", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("zeros.yaml", &[0; 64]),
    ]);
    let cases = [
        ("missing.json", "toolwright: cannot read `missing.json`: there is no such file\n"),
        ("empty", "toolwright: no definitions in `empty` (0 JSON or YAML files looked at)\n"),
        ("others", "toolwright: no definitions in `others` (1 JSON or YAML file looked at)\n"),
        ("picture.json", "toolwright: `picture.json` is a binary file, not a definition\n"),
        ("zeros.yaml", "toolwright: `zeros.yaml` is a binary file, not a definition\n"),
    ];
    for (path, message) in cases {
        for command in ["show", "list"] {
            let run = run_in(folder.path(), &[command, path], b"");
            assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (2, "", message));
        }
    }
    // The other files are still shown.
    let tool = folder.path().join("good.json");
    std::fs::write(&tool, br#"{"name": "a", "inputSchema": {}}"#).expect("a file");
    let run = run_in(folder.path(), &["list", "missing.json", "good.json"], b"");
    assert_eq!((run.code, run.stdout.as_str()), (2, "a  mcp  [quarantined: INVALID_SCHEMA]\n"));
}

#[test]
fn a_permission_error_is_one_line_and_exit_code_2() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[("secret.json", b"{}"), ("closed/tool.json", b"{}")]);
    let mode = |path: &str, mode| {
        let path = folder.path().join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
    };
    mode("", 0o755);
    mode("secret.json", 0o000);
    mode("closed", 0o000);
    // Root may read everything, so the program is run as another user: from a copy that they can
    // reach.
    let binary = folder.path().join("toolwright");
    std::fs::copy(env!("CARGO_BIN_EXE_toolwright"), &binary).expect("a copy");
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    for (path, message) in [
        ("secret.json", "toolwright: cannot read `secret.json`: permission denied\n"),
        ("closed", "toolwright: cannot read `closed`: permission denied\n"),
    ] {
        let mut command = std::process::Command::new(&binary);
        command.env_clear().current_dir(folder.path()).args(["list", path]);
        if is_root {
            command.uid(65534);
        }
        let output = command.output().expect("it starts");
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert_eq!(stderr, message);
    }
    mode("closed", 0o755);
}

#[test]
fn a_broken_pipe_is_silent() {
    for args in [["show", "examples"], ["list", "examples"]] {
        let mut child = toolwright()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the binary ends");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn an_invalid_encoding_names_the_byte() {
    let folder = folder(&[("a.json", b"{\"a\": \"\xE9\"}"), ("b.json", b"\xFF\xFE{\0}\0")]);
    for (file, message) in [
        ("a.json", "the file is not UTF-8: byte 0xE9 at byte 7"),
        ("b.json", "the file is not UTF-8: a UTF-16 byte order mark at byte 0"),
    ] {
        let run = run_in(folder.path(), &["show", file], b"");
        assert_eq!(run.code, 1);
        assert!(
            run.stderr.contains("error[INVALID_ENCODING]") && run.stderr.contains(message),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn without_arguments_help_is_printed() {
    for args in [vec![], vec!["call"], vec!["frobnicate"]] {
        let run = run(&args);
        assert_eq!(run.code, 2, "{args:?}");
        run.assert_on_stderr("Usage: toolwright");
    }
    let help = run(&["--help"]);
    assert_eq!(help.code, 0);
    insta::assert_snapshot!("help", help.stdout);
}

/// Texts of a document are printed without control characters, and secrets are not printed at all.
#[test]
fn documents_cannot_send_control_characters_or_show_secrets() {
    let hostile = r#"{"btcp": "1.0\u001b[31m", "name": "x", "version": "1.0.0", "capabilities": [],
        "description": "a\u202eb\u009bc\u0007", "tools": [{"name": "t\u001b[2J", "description": "\u200bhidden things"}]}"#;
    for command in ["show", "list"] {
        let run = run_in(std::path::Path::new("/"), &[command, "-"], hostile.as_bytes());
        let steers =
            |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
        assert!(!run.stdout.contains(steers), "{:?}", run.stdout);
        assert!(!run.stderr.contains(steers), "{:?}", run.stderr);
    }
    for kind in ["mcp", "mpc"] {
        let keys = format!(
            "tool:\n  id: a\n  type: {kind}\n  name: A\n  version: 1.0.0\n  description: d\n  commands: [x]\n  \
             mcp_specific:\n    server_command: run\n    env: {{KEY: sk-secret}}\n    environment_variables:\n      \
             - {{name: KEY, value: sk-secret, default: sk-secret}}\n"
        );
        let run = run_in(std::path::Path::new("/"), &["show", "--json", "-"], keys.as_bytes());
        assert!(
            run.stdout.contains("\"x\"") && !run.stdout.contains("sk-secret"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn fields_below_a_syntax_error_are_not_reported_as_missing() {
    let yaml =
        "tool:\n  id: a\n  type: mcp\n  name: A: broken\n  version: 1.0.0\n  description: d\n";
    let run = run_in(
        std::path::Path::new("/"),
        &["show", "-", "--output-format", "concise"],
        yaml.as_bytes(),
    );
    assert_eq!(run.code, 1);
    assert!(
        run.stderr.contains("INVALID_SYNTAX") && !run.stderr.contains("MISSING"),
        "{}",
        run.stderr
    );
    // In a complete object of the same document, a missing field is reported.
    let json = r#"{"tools": [{"name": "a"}, {"name": "b", "inputSchema": {}"#;
    let run = run_in(
        std::path::Path::new("/"),
        &["show", "-", "--output-format", "concise"],
        json.as_bytes(),
    );
    assert_eq!(run.stderr.matches("MISSING_REQUIRED_FIELD").count(), 1, "{}", run.stderr);
}

#[test]
fn names_that_no_tool_can_have_are_reported() {
    let yaml = "tool:\n  id: My Tool\n  type: mcp\n  name: A\n  version: 1.0.0\n  description: d\n  commands: [a, c d]\n";
    let run = run_in(
        std::path::Path::new("/"),
        &["show", "-", "--output-format", "concise"],
        yaml.as_bytes(),
    );
    assert_eq!(run.code, 1);
    run.assert_on_stderr(":2:7: error[INVALID_PATTERN]: `My Tool` cannot start the ids");
    run.assert_on_stderr(":7:17: error[INVALID_PATTERN]: command `c d` cannot be called");
}

#[test]
fn failures_are_json_when_the_output_format_is_json() {
    let run = run(&["show", "missing.json", "--output-format", "json"]);
    let line: Json = serde_json::from_str(&run.stderr).expect("one JSON object");
    assert_eq!((run.code, &line["code"]), (2, &json!("CANNOT_READ")));
}
