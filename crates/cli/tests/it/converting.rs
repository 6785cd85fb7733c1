//! `toolwright convert` through the binary: every pair of formats, losses, denied losses, settings,
//! and documents that are not converted.

mod arguments;
mod completeness;
mod drawn_tools;
mod effects;
mod hidden_losses;
/// The generator of instances that the tests of the schema crate use.
#[path = "../../../schema/tests/it/rewriting/instances.rs"]
mod instances;
mod openapi;
mod properties;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_formats::WriteTarget;
use toolwright_script::InProcessAnalyzer;
use toolwright_source::Severity;
use toolwright_workspace::{LossEffect, ReadOptions, RuleScope, Workspace};

use crate::client::faulty_server;
use crate::fixing::documents;
use crate::program::{Run, folder, project, run_in};
use crate::rules::parse;

const TOOL: &str = r#"{"tools": [
  {"name": "read.file", "namespace": "fs", "version": "1.2.0", "tags": ["Files"], "title": "Read",
   "description": "Reads a text file below the folder",
   "inputSchema": {"type": "object", "properties": {
     "path": {"type": "string", "pattern": "^[a-z/]+$", "description": "The file"}},
     "required": ["path"], "additionalProperties": false},
   "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
   "annotations": {"readOnlyHint": true}, "x-owner": "team"}
]}"#;

fn convert(text: &str, args: &[&str]) -> Run {
    let name = if text.starts_with(['{', '[']) { "source.json" } else { "source.yaml" };
    let folder = folder(&[(name, text.as_bytes())]);
    let args = [&["convert", name], args].concat();
    run_in(folder.path(), &args, b"")
}

/// The report as JSON.
fn losses(text: &str, args: &[&str]) -> (Run, Json) {
    let run = convert(text, &[args, &["--losses", "json"]].concat());
    let line = run.stderr.lines().last().unwrap_or_default();
    let report = serde_json::from_str(line).unwrap_or(Json::Null);
    (run, report)
}

/// Reports are pasted into issues and printed by CI.
#[test]
fn reports_do_not_tell_how_a_server_is_reached() {
    let text = "tool:\n  id: mail-box\n  type: mcp\n  name: Mail box\n  version: 1.0.0\n  \
        description: Reads mail.\n  mcp_specific:\n    server_command: node s.js --key sk-one\n    \
        environment_variables:\n      - name: MAIL_TOKEN\n        value: sk-two\n";
    for target in ["openai", "ikigai"] {
        let (run, report) = losses(text, &["--to", target]);
        assert!(lines(&report).contains(&"dropped server".to_owned()), "{}", run.stderr);
        assert!(!run.stderr.contains("sk-"), "{}", run.stderr);
    }
}

/// `effect part` of each loss.
fn lines(report: &Json) -> Vec<String> {
    let losses = report["losses"].as_array().cloned().unwrap_or_default();
    let word = |loss: &Json, key: &str| loss[key].as_str().unwrap_or_default().to_owned();
    losses.iter().map(|loss| format!("{} {}", word(loss, "effect"), word(loss, "part"))).collect()
}

#[test]
fn the_result_is_on_stdout_and_the_report_on_stderr() {
    let run = convert(TOOL, &["--to", "anthropic"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let tools: Json = serde_json::from_str(&run.stdout).expect("JSON");
    let name = tools[0]["name"].as_str().expect("a name");
    assert!(name.starts_with("fs__read_file_"), "{name}");
    assert_eq!(tools[0]["input_schema"]["required"], json!(["path"]));
    run.assert_on_stderr("dropped: fs:read.file › outputSchema (source.json:7:20): ");
    run.assert_on_stderr("renamed: fs:read.file › name (source.json:2:12): ");
    run.assert_on_stderr("\n7 losses in 1 tool: 6 dropped, 1 renamed\n");
    let (_, report) = losses(TOOL, &["--to", "anthropic"]);
    let mut found = lines(&report);
    found.sort();
    assert_eq!(
        found,
        [
            "dropped annotations/readOnlyHint",
            "dropped outputSchema",
            "dropped tags/0",
            "dropped title",
            "dropped version",
            "dropped x-owner",
            "renamed name",
        ]
    );
    assert_eq!(report["names"]["fs:read.file"], json!(name));
    let markdown = convert(TOOL, &["--to", "anthropic", "--losses", "markdown"]).stderr;
    assert!(markdown.contains("| `fs:read.file` | `title` | 2 | dropped |"), "{markdown}");
    let none = convert(TOOL, &["--to", "anthropic", "--losses", "none"]);
    assert_eq!((none.stderr.as_str(), none.stdout), ("", run.stdout));
}

#[test]
fn the_same_format_gives_the_same_document() {
    let value = |text: &str| serde_json::from_str::<Json>(text).expect("JSON");
    for (target, text) in [
        ("mcp", TOOL),
        (
            "mcp",
            r#"{"jsonrpc": "2.0", "id": 7, "result": {"tools": [{"name": "a", "description": "", "inputSchema": {"type": "object"}, "tags": [], "annotations": {}}], "nextCursor": "c"}}"#,
        ),
        (
            "btcp",
            r#"{"btcp": "1.0", "name": "m", "version": "1.0.0", "capabilities": [], "x": 1, "config": {}, "tools": [{"name": "readIt", "description": "reads a thing", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}, "capabilities": [], "deprecated": false, "timeout": 60000.0}]}"#,
        ),
        (
            "ikigai",
            r#"{"name": "f", "description": "does a thing", "parameters": {"type": "object"}, "x": 1}"#,
        ),
    ] {
        let (run, report) = losses(text, &["--to", target]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!(value(&run.stdout), value(text), "{target}");
        assert_eq!(report["losses"], json!([]), "{target}");
        let again = convert(&run.stdout, &["--to", target]);
        assert_eq!(again.stdout, run.stdout, "{target}");
    }
    let aios = "# kept\ntool:\n  id: x\n  type: mcp\n  name: X\n  version: 1.0.0\n  description: |\n    d\n  more: {a: 1}\n";
    let run = convert(aios, &["--to", "aios"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, aios), "{}", run.stderr);
}

/// Every field of the fixtures is in the output of a target, or in its report.
#[test]
fn nothing_is_lost_in_silence_on_the_way_to_any_target() {
    let own = folder(&[
        ("responses.json", RESPONSES.as_bytes()),
        ("gemini.json", GEMINI.as_bytes()),
        ("openapi.json", OPENAPI_3_1.as_bytes()),
    ]);
    let examples = project().join("examples");
    let mut pairs = 0;
    for (format, path) in [
        ("btcp", examples.join("btcp/page-tools.json")),
        ("btcp", examples.join("btcp/count-words.json")),
        ("aios", examples.join("aios/slugs.yaml")),
        ("aios", examples.join("aios/git.yaml")),
        ("aios", examples.join("aios/tickets.yaml")),
        ("aios", examples.join("aios/triage.yaml")),
        ("ikigai", examples.join("ikigai/convert-units.json")),
        ("mcp", examples.join("mcp/read-file.json")),
        ("mcp", examples.join("mcp/clock.json")),
        ("webmcp", examples.join("webmcp/cart.json")),
        ("openai", examples.join("openai/route-tools.json")),
        ("openai", own.path().join("responses.json")),
        ("anthropic", examples.join("anthropic/library-tools.json")),
        ("gemini", own.path().join("gemini.json")),
        ("gemini", examples.join("gemini/garden-tools.json")),
        ("bedrock", examples.join("bedrock/parcel-tools.json")),
        ("openapi", examples.join("openapi/berths.yaml")),
        ("openapi", own.path().join("openapi.json")),
    ] {
        for target in WriteTarget::all() {
            let path = path.to_str().expect("UTF-8");
            assert_complete(format, path, target.id());
            pairs += 1;
        }
    }
    assert_eq!(pairs, 18 * 19);
}

/// Converts with the binary; gives what the first attempt names as missing.
fn assert_complete(format: &str, path: &str, target: &str) {
    let args = ["convert", path, "--format", format, "--to", target, "--losses", "json"];
    let mut args: Vec<String> = args.map(str::to_owned).to_vec();
    let convert = |args: &[String]| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        run_in(Path::new("/"), &args, b"")
    };
    let mut run = convert(&args);
    if run.code == 1 {
        let given = |line: &str| {
            let field = line.split_once("`--set ")?.1.split_once("=VALUE`")?.0.to_owned();
            let value = match field.rsplit('.').next() {
                Some("inputSchema") => r#"{"type": "object"}"#,
                Some("namespace") => "given",
                _ => "A description that was given",
            };
            Some(format!("--set={field}={value}"))
        };
        args.extend(run.stderr.lines().filter_map(given));
        run = convert(&args);
    }
    // A document for each tool.
    let files = folder(&[]);
    let is_several = target == "ikigai" && run.code == 2;
    if is_several {
        args.extend(["-o".to_owned(), files.path().to_str().expect("UTF-8").to_owned()]);
        run = convert(&args);
    }
    assert_eq!(run.code, 0, "{path} as {target}: {}", run.stderr);
    let report: Json =
        serde_json::from_str(run.stderr.lines().last().unwrap_or_default()).expect("JSON");
    let list = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let place = |entry: Json| entry["path"].as_str().expect("a path").to_owned();
    let lost = list("losses").into_iter().filter(|loss| loss["effect"] != "filled");
    // Of a parameter only the name is another one.
    let (names, lost): (Vec<Json>, Vec<Json>) = lost.partition(|loss| {
        let part = loss["part"].as_str().unwrap_or_default();
        loss["effect"] == "renamed" && part.starts_with("inputSchema")
    });
    let keyword = |one: &Json| one["keyword"].as_str().unwrap_or("properties").to_owned();
    let rewrites = list("rewrites").into_iter().chain(names);
    let reported = completeness::ReportedPlaces {
        losses: lost.into_iter().map(place).collect(),
        rewrites: rewrites.map(|one| (place(one.clone()), keyword(&one))).collect(),
    };
    let source = completeness::parsed(&std::fs::read_to_string(path).expect("a fixture"));
    let output = if is_several {
        let files =
            std::fs::read_dir(files.path()).expect("a folder").map(|file| file.expect("a file"));
        let texts = files.map(|file| std::fs::read_to_string(file.path()).expect("a text"));
        texts.map(|text| completeness::parsed(&text)).collect()
    } else {
        completeness::parsed(&run.stdout)
    };
    let missing = completeness::missing(format, &source, &output, &reported);
    assert!(missing.is_empty(), "{path} as {target}: neither written nor reported: {missing:#?}");
}

const RESPONSES: &str = r#"[{"type": "function", "name": "find_boat", "description": "Finds a boat in the harbour.",
  "parameters": {"type": "object", "properties": {"boat": {"type": "string"}}, "required": ["boat"]},
  "strict": false, "output_schema": {"type": "object", "properties": {"berth": {"type": "integer"}}},
  "defer_loading": true}]"#;

const GEMINI: &str = r#"[{"functionDeclarations": [{"name": "sow", "description": "Sows a bed with seeds.",
  "behavior": "NON_BLOCKING",
  "parametersJsonSchema": {"type": "object", "properties": {"seed": {"type": "string", "maxLength": 17}},
    "additionalProperties": false},
  "responseJsonSchema": {"type": "object", "properties": {"rows": {"type": "integer", "maximum": 40}}}}]},
  {"googleSearch": {}}]"#;

const OPENAPI_3_1: &str = r##"{"openapi": "3.1.0", "info": {"title": "Ferry", "version": "2.0.1"},
  "servers": [{"url": "https://ferry.example"}],
  "paths": {"/trips/{day}": {"post": {"operationId": "bookTrip", "description": "Books a trip of the ferry.",
    "parameters": [{"name": "day", "in": "path", "required": true, "schema": {"type": "string", "format": "date"}},
      {"name": "X-Key", "in": "header", "schema": {"type": ["string", "null"]}, "deprecated": true}],
    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Trip"}}}},
    "responses": {"201": {"description": "Booked", "content": {"application/json": {"schema":
      {"type": "object", "properties": {"ticket": {"type": "string", "pattern": "^T[0-9]+$"}}}}}}},
    "security": [{"key": []}], "x-rate": 12}}},
  "components": {"schemas": {"Trip": {"type": "object", "properties": {
      "seats": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9}, "day": {"const": "any"}},
      "required": ["seats"]}},
    "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}}"##;

/// What is written passes the check for its target, and reading it again gives the same tools.
#[test]
fn outputs_pass_the_check_of_their_target() {
    let folder = folder(&[("source.json", TOOL.as_bytes())]);
    for target in WriteTarget::all() {
        let out = format!(
            "{}.{}",
            target.id(),
            if target == WriteTarget::Aios { "yaml" } else { "json" }
        );
        let args = [
            "convert",
            "source.json",
            "--to",
            target.id(),
            "-o",
            &out,
            "--set",
            "description=Reads files",
            "--losses",
            "none",
        ];
        let run = run_in(folder.path(), &args, b"");
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}: {}", target.id(), run.stderr);
        let mut args = vec!["check", &out, "--format", target.format().0, "--fail-on", "error"];
        if target.vendor().is_some() {
            args.extend(["--target", target.id(), "--fail-on", "warning"]);
            args.retain(|word| *word != "error");
            let at = args.iter().position(|word| *word == "--fail-on").expect("it is there");
            args.remove(at);
        }
        let run = run_in(folder.path(), &args, b"");
        assert_eq!(run.code, 0, "{}: {}{}", target.id(), run.stdout, run.stderr);
    }
}

#[test]
fn schema_losses_have_an_effect_and_an_instance_that_shows_it() {
    let (run, report) = losses(TOOL, &["--to", "gemini-openapi"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let of_schema: Vec<&Json> = report["losses"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|loss| loss["part"].as_str().is_some_and(|part| part.starts_with("inputSchema")))
        .collect();
    let closed = of_schema
        .iter()
        .find(|loss| loss["part"] == "inputSchema/additionalProperties")
        .unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(closed["effect"], "widened", "{closed:#}");
    assert_eq!(closed["path"], "/tools/0/inputSchema/additionalProperties");
    assert_eq!(closed["enforcedByToolwright"], true);
    assert_eq!(closed["enforcedByTarget"], false);
    let witness = &closed["witnesses"][0];
    assert_eq!((&witness["source"], &witness["target"]), (&json!(false), &json!(true)));
    assert!(witness["value"].as_object().is_some_and(|value| value.len() > 1), "{witness}");
}

#[test]
fn a_denied_loss_writes_nothing() {
    let folder = folder(&[("source.json", TOOL.as_bytes()), ("out.json", b"before")]);
    let convert = |more: &[&str]| {
        let args = [&["convert", "source.json", "--to", "openai", "-o", "out.json"], more].concat();
        let run = run_in(folder.path(), &args, b"");
        (run, std::fs::read_to_string(folder.path().join("out.json")).expect("a file"))
    };
    for (deny, code) in [
        ("--deny-loss", 1),
        ("--deny-loss=dropped", 1),
        ("--deny-loss=widened,renamed", 1),
        ("--deny-loss=widened,narrowed", 0),
    ] {
        std::fs::write(folder.path().join("out.json"), "before").expect("a file");
        let (run, text) = convert(&[deny]);
        assert_eq!(run.code, code, "{deny}: {}", run.stderr);
        assert_eq!(text == "before", code == 1, "{deny}");
        assert_eq!(run.stdout, "", "{deny}");
        let is_reported = run.stderr.ends_with("toolwright: written: out.json\n");
        assert_eq!(is_reported, code == 0, "{deny}: {}", run.stderr);
    }
    // Where stderr is read by a program, it holds the report alone.
    for format in ["json", "markdown"] {
        let (run, _) = convert(&["--losses", format]);
        assert!(!run.stderr.contains("written"), "{format}: {}", run.stderr);
    }
    std::fs::write(folder.path().join("out.json"), "before").expect("a file");
    let (run, text) = convert(&["--deny-loss=gone"]);
    assert_eq!((run.code, text.as_str()), (2, "before"));
    run.assert_on_stderr("expected one of dropped, widened");
    // Nothing is left beside the file.
    let names: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(names.len(), 2);
    // Denying losses where there are none changes nothing.
    let run = convert_same(&["--deny-loss"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn every_effect_can_be_denied_and_help_names_it() {
    let help = run_in(Path::new("/"), &["convert", "--help"], b"").stdout;
    let help: String = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for effect in LossEffect::ALL {
        assert!(help.contains(&format!(" {}", effect.name())), "{}: {help}", effect.name());
        let run = convert(TOOL, &["--to", "mcp", &format!("--deny-loss={}", effect.name())]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
}

fn convert_same(args: &[&str]) -> Run {
    convert(TOOL, &[&["--to", "mcp"], args].concat())
}

#[test]
fn required_fields_of_the_target_have_to_be_given() {
    let bare = r#"{"name": "now", "inputSchema": {"type": "object"}}"#;
    let run = convert(bare, &["--to", "btcp"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    for field in ["`--set namespace=VALUE`", "`--set now.description=VALUE`"] {
        assert!(run.stderr.contains(field), "{}", run.stderr);
    }
    let set =
        ["--to", "btcp", "--set", "namespace=clock", "--set", "now.description=Tells the time"];
    let (run, report) = losses(bare, &set);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let manifest: Json = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        manifest,
        json!({
            "btcp": "1.0", "name": "clock", "version": "0.1.0", "capabilities": [],
            "tools": [{
                "name": "now", "description": "Tells the time", "inputSchema": {"type": "object"},
                "capabilities": []
            }]
        })
    );
    assert_eq!(lines(&report), ["filled version", "filled declares"]);
    let deferred = "tool:\n  id: x\n  type: mcp\n  name: X\n  version: 1.0.0\n  description: d\n  commands: [a.b]\n";
    let run = convert(deferred, &["--to", "openai"]);
    run.assert_on_stderr("`--set a.b.inputSchema=VALUE`");
    let set = ["--to", "openai", "--set", r#"a.b.inputSchema={"type": "object"}"#];
    assert_eq!(convert(deferred, &set).code, 0);
}

#[test]
fn wrong_settings_are_refused() {
    for (set, message) in [
        ("namespace", "expected FIELD=VALUE"),
        ("colour=red", "there is no such field"),
        ("read.file.colour=red", "there is no such field"),
        ("gone.description=x", "the source has no tool `gone`"),
        ("namespace=a b", "namespace"),
        ("version=1", "`--set version=…`"),
        ("read.file.inputSchema={", "`--set read.file.inputSchema=…`"),
        (r#"read.file.inputSchema={"type": "objekt"}"#, "`--set read.file.inputSchema=…`"),
    ] {
        let run = convert(TOOL, &["--to", "aios", "--set", set]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{set}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{set}: {}", run.stderr);
    }
}

#[test]
fn documents_with_errors_convert_nothing() {
    let bad = r#"{"tools": [
      {"name": "good", "description": "Does a thing", "inputSchema": {"type": "object"}},
      {"name": "bad", "description": "Does a thing", "inputSchema": {"type": "objekt"}}]}"#;
    let folder = folder(&[("source.json", bad.as_bytes()), ("out.json", b"before")]);
    let args = ["convert", "source.json", "--to", "openai", "-o", "out.json"];
    let run = run_in(folder.path(), &args, b"");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    run.assert_on_stderr("error[INVALID_SCHEMA]");
    run.assert_on_stderr("`--force` converts the tools without errors");
    let text = std::fs::read_to_string(folder.path().join("out.json")).expect("a file");
    assert_eq!(text, "before");
    let run = run_in(folder.path(), &[&args[..], &["--force"]].concat(), b"");
    assert_eq!(run.code, 1, "{}", run.stderr);
    run.assert_on_stderr("`bad` has errors and was left out");
    let text = std::fs::read_to_string(folder.path().join("out.json")).expect("a file");
    let tools: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (tools.as_array().map(Vec::len), &tools[0]["function"]["name"]),
        (Some(1), &json!("good"))
    );
    // Tools of one name are not mixed up: the first of them is converted.
    let tool = |description: &str| json!({"name": "same", "description": description, "inputSchema": {"type": "object"}});
    let same = json!({"tools": [tool("Does a thing"), tool("Does more"), tool("Does all")]});
    let run = convert(&same.to_string(), &["--to", "openai", "--force"]);
    for number in [2, 3] {
        run.assert_on_stderr(&format!("`same (tool {number})` has errors and was left out"));
    }
    // The same for the format of the source: the bad tool is not in it.
    let args = ["convert", "source.json", "--to", "mcp", "--force", "--losses", "none"];
    let run = run_in(folder.path(), &args, b"");
    assert!(run.stdout.contains("good") && !run.stdout.contains("bad"), "{}", run.stdout);
}

/// Files are first checked for errors alone, other sources for everything at once; what is shown is
/// the same.
#[test]
fn a_refusal_shows_warnings_and_notes_as_well() {
    let bad = r#"{"tools": [
      {"name": "good", "description": "Does a thing", "inputSchema": {"type": "object",
        "properties": {"n": {"type": "integer", "minLength": 1}}}},
      {"name": "bad", "description": "Does a thing", "inputSchema": {"type": "objekt"}}]}"#;
    let folder = folder(&[("source.json", bad.as_bytes())]);
    let findings = |lines: &str| -> Vec<String> {
        let line = |line: &str| {
            let json: Json = serde_json::from_str(line).expect("a line of JSON");
            format!("{} {} {}", json["severity"], json["code"], json["message"])
        };
        lines.lines().filter(|line| line.starts_with('{')).map(line).collect()
    };
    let check = ["check", "source.json", "--output-format", "json"];
    let expected = findings(&run_in(folder.path(), &check, b"").stdout);
    for severity in ["error", "warning", "info"] {
        let quoted = format!("\"{severity}\"");
        assert!(expected.iter().any(|line| line.starts_with(&quoted)), "{expected:?}");
    }
    for (source, input) in [("source.json", ""), (".", ""), ("-", bad)] {
        let args = ["convert", source, "--to", "openai", "--losses", "json"];
        let run = run_in(folder.path(), &args, input.as_bytes());
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{source}: {}", run.stderr);
        assert_eq!(findings(&run.stderr), expected, "{source}");
    }
}

/// A rule that can report an error and does not run for `RuleScope::Errors` would let `convert`
/// accept what `check` refuses.
#[test]
fn looking_for_errors_alone_finds_all_errors() {
    let workspace = Workspace::new(Arc::new(InProcessAnalyzer));
    let mut seen = HashSet::new();
    for (name, file, text) in documents() {
        let document = parse(&file, &text);
        let errors = |scope: RuleScope| -> Vec<String> {
            let options = ReadOptions { rules: true, scope, ..ReadOptions::default() };
            let found = workspace.read(&document, options).diagnostics;
            let errors = found.iter().filter(|d| d.severity == Severity::Error);
            errors.map(|d| format!("{} {} {}", d.code.name, d.path, d.message)).collect()
        };
        let all = errors(RuleScope::All);
        seen.extend(all.iter().filter_map(|line| line.split(' ').next().map(str::to_owned)));
        assert_eq!(errors(RuleScope::Errors), all, "{name}");
    }
    assert!(seen.len() > 20, "{seen:?}");
}

#[test]
fn broken_and_missing_documents_are_reported() {
    for (text, message) in [
        ("{\"tools\": [", "error[INVALID_SYNTAX]"),
        ("{\"x\": 1}", "error[UNKNOWN_FORMAT]"),
        (
            "{\"tools\": [{\"inputSchema\": {\"type\": \"object\"}}]}",
            "error[MISSING_REQUIRED_FIELD]",
        ),
    ] {
        let run = convert(text, &["--to", "openai"]);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{text}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{text}: {}", run.stderr);
    }
    let empty = folder(&[]);
    let run = run_in(empty.path(), &["convert", "gone.json", "--to", "openai"], b"");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    let two = folder(&[("a.json", TOOL.as_bytes()), ("b.json", TOOL.as_bytes())]);
    let run = run_in(two.path(), &["convert", "a.json", "b.json", "--to", "ikigai"], b"");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
    run.assert_on_stderr("the source has 2 documents");
    let run = convert(TOOL, &["--to", "gopher"]);
    assert_eq!(run.code, 2);
    run.assert_on_stderr("openai-strict");
}

#[test]
fn the_session_has_the_names_and_steps() {
    let folder = folder(&[("source.json", TOOL.as_bytes())]);
    let args =
        ["convert", "source.json", "--to", "openai-strict", "--session", "s.json", "-o", "o.json"];
    let run = run_in(folder.path(), &args, b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let text = std::fs::read_to_string(folder.path().join("s.json")).expect("a file");
    let session: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&session["version"], &session["target"]), (&json!(1), &json!("openai-strict")));
    assert_eq!(session["tools"][0]["id"], "fs:read.file");
    let name = session["tools"][0]["name"].as_str().expect("a name");
    assert!(name.starts_with("fs__read_file_"), "{name}");
    assert!(session["tools"][0]["steps"].is_array());
}

/// Two servers with many tools: what happens to each of them is one entry, and their places are
/// words, because what they answered is not a file.
#[test]
fn losses_of_one_kind_are_one_entry_for_people() {
    let server = json!({"command": faulty_server(), "args": ["mcp", "good"]});
    let servers = json!({"mcpServers": {"one": server, "two": server}}).to_string();
    let folder = folder(&[(".mcp.json", servers.as_bytes())]);
    let convert = |form: &str| {
        let args = ["convert", ".mcp.json", "--to", "openai", "--losses", form];
        let run = run_in(folder.path(), &args, b"");
        assert_eq!(run.code, 0, "{run:?}");
        run.stderr
    };
    let grouped = convert("text");
    let entry = "renamed 28 times, first in one › ";
    let start = grouped.find(entry).unwrap_or_else(|| panic!("no entry: {grouped}"));
    let lines: Vec<&str> = grouped[start..].lines().take(2).collect();
    let reason = "`; `toolwright call --as openai` restores it";
    assert!(lines[0].contains("› name: the target has the name `one__"), "{grouped}");
    assert!(lines[0].ends_with(reason), "{grouped}");
    assert!(lines[1].starts_with("  also in one › ") && lines[1].ends_with(" and 25 more"));
    assert!(grouped.contains("`--losses full` lists every loss\n"), "{grouped}");
    let full = convert("full");
    let names = full.lines().filter(|line| line.starts_with("renamed: one › "));
    assert_eq!(names.filter(|line| line.contains(" › name: ")).count(), 14, "{full}");
    // Both end with the same total, and name no line of a file that is not there.
    let total = full.lines().last().expect("a total");
    assert!(total.contains(" losses in 28 tools: ") && total.contains("30 renamed"), "{total}");
    assert_eq!(grouped.lines().last(), Some(total));
    assert!(grouped.lines().count() * 3 < full.lines().count(), "{grouped}");
    for text in [&grouped, &full] {
        assert!(!text.contains("one:1") && !text.contains("one:2"), "{text}");
    }
    let reports: Vec<Json> =
        convert("json").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(reports.len(), 2);
    assert_eq!((&reports[0]["source"], &reports[0]["file"]), (&json!("one"), &Json::Null));
    let losses = reports.iter().flat_map(|it| it["losses"].as_array().expect("a list"));
    assert!(losses.clone().all(|loss| loss["line"].is_null()), "{reports:?}");
    assert!(total.starts_with(&format!("{} losses ", losses.count())), "{total}");
}

#[test]
fn the_total_counts_the_tools_that_lose_something() {
    let tool = |name: &str, more: &str| {
        format!(
            r#"{{"name": "{name}", "description": "Does {name}"{more},
                 "inputSchema": {{"type": "object", "properties": {{}}}}}}"#
        )
    };
    let list = |tools: &[String]| format!("{{\"tools\": [{}]}}", tools.join(", "));
    let (plain, titled) = (tool("a", ""), tool("b", r#", "title": "B""#));
    for (tools, total) in [
        (vec![plain.clone(), titled.clone()], "1 loss in 1 of 2 tools: 1 dropped\n"),
        (vec![titled], "1 loss in 1 tool: 1 dropped\n"),
        (vec![plain], "1 tool: nothing was lost\n"),
    ] {
        let run = convert(&list(&tools), &["--to", "openai"]);
        assert!(run.stderr.ends_with(total), "{run:?}");
    }
}

/// A request to a vendor has the tools of all servers in one list.
#[test]
fn several_documents_become_one_list_of_a_vendor() {
    let tool = |name: &str| {
        format!(
            r#"{{"tools": [{{"name": "{name}", "description": "Does {name}",
                 "inputSchema": {{"type": "object", "additionalProperties": false}}}}]}}"#
        )
    };
    let (one, two) = (tool("one"), tool("two"));
    let folder = folder(&[("a.json", one.as_bytes()), ("b.json", two.as_bytes())]);
    for (target, names) in [
        ("openai", ["/0/function/name", "/1/function/name"]),
        ("anthropic", ["/0/name", "/1/name"]),
        ("gemini", ["/0/functionDeclarations/0/name", "/1/functionDeclarations/0/name"]),
        ("bedrock", ["/0/toolSpec/name", "/1/toolSpec/name"]),
    ] {
        let args = ["convert", "a.json", "b.json", "--to", target, "--session", "session.json"];
        let run = run_in(folder.path(), &args, b"");
        assert_eq!(run.code, 0, "{target}: {}", run.stderr);
        let written: Json = serde_json::from_str(&run.stdout).expect("JSON");
        let found = names.map(|name| written.pointer(name).cloned());
        assert_eq!(found, ["one", "two"].map(|name| Some(json!(name))), "{target}: {written}");
        let session = std::fs::read_to_string(folder.path().join("session.json")).expect("a file");
        assert!(session.contains("\"one\"") && session.contains("\"two\""), "{session}");
    }
    let run = run_in(folder.path(), &["convert", ".", "--to", "aios"], b"");
    assert_eq!(run.code, 2, "{}", run.stderr);
    run.assert_on_stderr("(./a.json, ./b.json), and each would become");
    std::fs::copy(folder.path().join("a.json"), folder.path().join("c.json")).expect("a copy");
    let args = ["convert", "a.json", "c.json", "--to", "openai"];
    let run = run_in(folder.path(), &args, b"");
    assert_ne!(run.code, 0, "{}", run.stdout);
    assert!(run.stdout.is_empty() && run.stderr.contains("one"), "{}", run.stderr);
}

/// Names are chosen over all files: versions of one tool are told apart, and each is called by its
/// own name.
#[test]
fn versions_in_several_files_become_one_list() {
    let tool = |version: &str, argument: &str| {
        json!({ "tools": [{
            "name": "greet", "namespace": "hello", "version": version,
            "description": "Greets a person", "inputSchema": {
                "type": "object", "properties": { argument: { "type": "string" } },
                "additionalProperties": false
            }
        }]})
        .to_string()
    };
    let other = r#"{"tools": [{"name": "hello__greet", "description": "Has the name of another",
        "inputSchema": {"type": "object"}}]}"#;
    let folder = folder(&[
        ("1.json", tool("1.0.0", "old").as_bytes()),
        ("2.json", tool("2.0.0", "new").as_bytes()),
        ("3.json", other.as_bytes()),
    ]);
    let args = ["convert", ".", "--to", "openai", "--session", "s.json", "--losses", "json"];
    let run = run_in(folder.path(), &args, b"");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let tools: Json = serde_json::from_str(&run.stdout).expect("JSON");
    let name = |n: usize| tools[n]["function"]["name"].as_str().expect("a name").to_owned();
    let (first, second, third) = (name(0), name(1), name(2));
    assert!(first.starts_with("hello__greet__1_0_0_"), "{first}");
    assert_eq!(second, "hello__greet");
    assert!(third.starts_with("hello__greet_"), "{third}");
    let report: Json =
        serde_json::from_str(run.stderr.lines().next().unwrap_or_default()).expect("JSON");
    let is_renamed = |loss: &Json| {
        loss["tool"] == "hello:greet:1.0.0" && loss["part"] == "name" && loss["effect"] == "renamed"
    };
    assert!(report["losses"].as_array().expect("a list").iter().any(is_renamed), "{report:#}");
    let call = |name: &str, argument: &str| {
        let arguments = json!({ argument: "x" }).to_string();
        json!({"id": name, "type": "function", "function": {"name": name, "arguments": arguments}})
    };
    let calls = json!([call(&first, "old"), call(&second, "new"), call(&second, "old")]);
    for session in [&[][..], &["--session", "s.json"]] {
        let args = [&["call", "--as", "openai", "--from", "."], session].concat();
        let run = run_in(folder.path(), &args, calls.to_string().as_bytes());
        let results: Json = serde_json::from_str(&run.stdout).expect("JSON");
        for (n, wanted) in ["NOT_RUNNABLE", "NOT_RUNNABLE", "INPUT_INVALID"].iter().enumerate() {
            let text = results[n]["content"].as_str().unwrap_or_default();
            assert!(text.contains(wanted), "{n}: {results:#} {}", run.stderr);
        }
    }
    // A setting of one tool is not an error for the files without it.
    let given = [&args[..4], &["--set", "hello__greet.description=Given here"]].concat();
    let run = run_in(folder.path(), &given, b"");
    assert!(run.code == 0 && run.stdout.contains("Given here"), "{}", run.stderr);
    let unknown = [&args[..4], &["--set", "nothing.description=x"]].concat();
    let run = run_in(folder.path(), &unknown, b"");
    run.assert_on_stderr("the source has no tool `nothing`");
}
