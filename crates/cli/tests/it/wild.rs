//! `check` on what others wrote: the examples of the five seeds, and the definitions of the corpus
//! with all their mistakes. Every error and warning is listed with its place, so that one more or
//! one less is seen; of the rest, how many there are. Each line was held against the readings.
//!
//! Nothing of those texts is copied here: files, blocks and pointers name what is meant.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use toolwright_source::{Diagnostic, Severity, locate};
use toolwright_workspace::{LoadResult, ReadOptions, Workspace};

use crate::rules::check;

/// What a document should give: lines of `WEIGHT CODE POINTER`. `E` is an error, `W` a warning, `~`
/// an error that `--compat` makes a warning. `3..5` in a pointer stands for `3`, `4` and `5`.
struct Case {
    file: &'static str,
    found: &'static str,
}

/// Files in which nothing is wrong are not listed.
const CORPUS: &[Case] = &[
    // All version 1 tools in the wild say `declarative`.
    Case { file: "aios/browser.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    Case { file: "aios/context7.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    Case { file: "aios/desktop-commander.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    Case { file: "aios/exa.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    Case { file: "aios/github-cli.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    // A workflow with steps among the examples, a mapping that only has prose, and errors that name
    // validators by what they were called once.
    Case {
        file: "aios/clickup.yaml",
        found: "~ MISSING_REQUIRED_FIELD /tool/api_complexity/field_mappings/list_id
                ~ MISSING_REQUIRED_FIELD /tool/examples/story_creation_workflow/0..1/scenario
                W UNRESOLVED_REFERENCE /tool/examples/create_task/1/error/validator
                W UNRESOLVED_REFERENCE /tool/examples/update_task/1/error/validator",
    },
    Case {
        file: "aios/google-workspace.yaml",
        found: "W UNRESOLVED_REFERENCE /tool/examples/create_event/1/error/validator
                W UNRESOLVED_REFERENCE /tool/examples/create_file/1/error/validator
                W UNRESOLVED_REFERENCE /tool/examples/send_email/1/error/validator",
    },
    // Each validator has a check that says what its function does and that nobody runs.
    Case {
        file: "aios/supabase.yaml",
        found: "W UNKNOWN_CHECK /tool/executable_knowledge/validators/0/checks/1/sql_injection_prevention
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/1/checks/1/migration_name_format
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/2/checks/1/branch_name_format
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/3/checks/1/file_structure
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/4/checks/1/region_validation",
    },
    // Nearly everything stands beside `tool`, and no type is said at all.
    Case {
        file: "aios/llm-routing.yaml",
        found: "E MISSING_REQUIRED_FIELD /tool/type
                ~ EXTRA_ROOT_KEY /capabilities
                ~ EXTRA_ROOT_KEY /configuration
                ~ EXTRA_ROOT_KEY /cost_comparison
                ~ EXTRA_ROOT_KEY /health_check
                ~ EXTRA_ROOT_KEY /installation
                ~ EXTRA_ROOT_KEY /integration
                ~ EXTRA_ROOT_KEY /metadata
                ~ EXTRA_ROOT_KEY /related_docs
                ~ EXTRA_ROOT_KEY /troubleshooting
                ~ EXTRA_ROOT_KEY /usage",
    },
    Case {
        file: "aios/tool-invalid.yaml",
        found: "E MISSING_REQUIRED_FIELD /tool/description
                E MISSING_REQUIRED_FIELD /tool/id",
    },
    // Tools in snake_case without capabilities; their examples have `params` for `input`.
    Case {
        file: "btcp/btcp-chrome_tools.json",
        found: "E MISSING_REQUIRED_FIELD /0..26/capabilities
                W NAMING_CONVENTION /0..26/name
                E MISSING_REQUIRED_FIELD /4/examples/0..1/input
                E MISSING_REQUIRED_FIELD /5/examples/0..3/input
                E MISSING_REQUIRED_FIELD /6/examples/0..2/input
                E MISSING_REQUIRED_FIELD /7/examples/0..1/input
                E MISSING_REQUIRED_FIELD /10/examples/0/input
                E MISSING_REQUIRED_FIELD /12/examples/0..1/input
                E MISSING_REQUIRED_FIELD /14..15/examples/0/input
                E MISSING_REQUIRED_FIELD /18/examples/0/input
                E MISSING_REQUIRED_FIELD /19/examples/0..2/input
                E MISSING_REQUIRED_FIELD /20/examples/0..1/input
                E MISSING_REQUIRED_FIELD /22..23/examples/0..1/input",
    },
    // `code:execute` and `dom:interact` are well-formed, and no runtime has them.
    Case {
        file: "btcp/btcp-server_builtin-tools.json",
        found: "E MISSING_REQUIRED_FIELD /0/capabilities
                W NAMING_CONVENTION /2..16/name
                W UNKNOWN_CAPABILITY /1/capabilities/0
                W UNKNOWN_CAPABILITY /3..8/capabilities/0
                W UNKNOWN_CAPABILITY /16/capabilities/0",
    },
    // Fragments of a manual: each lacks what its page does not talk about.
    Case {
        file: "btcp/btcp-specification__docs_api_core_manifest.md__L145.json",
        found: "E MISSING_REQUIRED_FIELD /name
                E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities",
    },
    Case {
        file: "btcp/btcp-specification__docs_for-tool-providers.md__L216.json",
        found: "E UNKNOWN_FORMAT",
    },
    Case {
        file: "btcp/btcp-specification__docs_for-tool-providers.md__L224.json",
        found: "E UNKNOWN_FORMAT",
    },
    Case {
        file: "btcp/btcp-specification__docs_protocols_index.md__L200.json",
        found: "E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities",
    },
    Case {
        file: "btcp/btcp-specification__docs_protocols_index.md__L213.json",
        found: "E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities",
    },
    Case {
        file: "btcp/btcp-specification__docs_server_mcp-bridge.md__L262.json",
        found: "E MISSING_REQUIRED_FIELD /description
                E MISSING_REQUIRED_FIELD /inputSchema",
    },
    // A null schema is an invalid one.
    Case {
        file: "webmcp/webmcp-evals_examples_address-form_schema.json",
        found: "E INVALID_SCHEMA /tools/0/outputSchema",
    },
    Case {
        file: "webmcp/webmcp-evals_examples_commerce_shopping_schema.json",
        found: "E INVALID_SCHEMA /tools/0/inputSchema
                E INVALID_SCHEMA /tools/4/inputSchema",
    },
    // A range that starts with a class: no regular expression in Unicode mode, which schemas use.
    Case {
        file: "webmcp/webmcp-evals_examples_events_schema.json",
        found: "E INVALID_SCHEMA /tools/0/inputSchema/properties/guest_emails/items/pattern",
    },
    Case {
        file: "webmcp/webmcp-evals_examples_travel_schema.json",
        found: "E INVALID_SCHEMA /tools/0/inputSchema
                E INVALID_SCHEMA /tools/1..2/outputSchema
                E INVALID_SCHEMA /tools/2/inputSchema",
    },
];

/// The notes, by folder.
const NOTES: &[(&str, &[(&str, usize)])] = &[
    ("aios", &[("MISSING_SCENARIO", 15), ("NOT_RUNNABLE", 1), ("UNKNOWN_FIELD", 73)]),
    (
        "btcp",
        &[
            ("MISSING_OUTPUT_SCHEMA", 46),
            ("MISSING_PARAMETER_DESCRIPTION", 6),
            ("NAMING_CONVENTION", 43),
            ("OPEN_OBJECT", 44),
            ("UNKNOWN_FIELD", 55),
            ("VENDOR_INCOMPATIBLE", 14),
        ],
    ),
    ("mcp", &[("OPEN_OBJECT", 116), ("VENDOR_INCOMPATIBLE", 18)]),
    (
        "webmcp",
        &[("MISSING_PARAMETER_DESCRIPTION", 21), ("OPEN_OBJECT", 27), ("VENDOR_INCOMPATIBLE", 1)],
    ),
];

/// The folder of shared material; says loudly when it is not there.
pub(crate) fn shared(test: &str) -> Option<PathBuf> {
    let found = std::env::var_os("TOOLWRIGHT_SHARED").map(PathBuf::from);
    if found.is_none() {
        // Past the harness, which hides what a passing test prints.
        let _ = writeln!(std::io::stderr(), "SKIPPED wild::{test}: TOOLWRIGHT_SHARED is not set");
    }
    found
}

/// `E CODE /3..4/a` as `error CODE /3/a` and `error CODE /4/a`, of all lines, sorted.
fn expected(lines: &str, compat: bool) -> Vec<String> {
    let mut all = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let weight = match (words.next(), compat) {
            (Some("E"), _) | (Some("~"), false) => Severity::Error,
            (Some("W"), _) | (Some("~"), true) => Severity::Warning,
            other => panic!("{line}: what weight is {other:?}?"),
        };
        let (code, at) = (words.next().expect("a code"), words.next().unwrap_or_default());
        let start = format!("{} {code} ", weight.name());
        let range = |step: &str| {
            let (first, last) = step.split_once("..")?;
            Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
        };
        let spread = |lines: Vec<String>, step: &str| match range(step) {
            Some(range) => lines
                .iter()
                .flat_map(|line| range.clone().map(move |n| format!("{line}/{n}")))
                .collect(),
            None => lines.iter().map(|line| format!("{line}/{step}")).collect(),
        };
        all.extend(at.split('/').skip(1).fold(vec![start], spread));
    }
    all.sort();
    all
}

/// The definitions below a folder, each named on its own, and what is wrong between them.
fn together(folder: &Path, compat: bool) -> BTreeMap<String, Vec<Diagnostic>> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let workspace = Workspace::default();
    let LoadResult { documents: mut files, failures, .. } =
        workspace.load(&paths, ReadOptions { format: None, compat, rules: true });
    assert!(failures.is_empty(), "{failures:?}");
    let read = files
        .iter()
        .enumerate()
        .filter_map(|(n, file)| Some((n, workspace.subject(file.reading.as_ref()?))));
    let (places, subjects): (Vec<usize>, Vec<_>) = read.unzip();
    let between = toolwright_check::check_together(&subjects)
        .into_iter()
        .map(|(n, finding)| (places[n], locate(finding, subjects[n].origin.document())));
    for (n, diagnostic) in between.collect::<Vec<_>>() {
        files[n].diagnostics.push(diagnostic);
    }
    let name =
        |path: &Path| path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    let named = files
        .into_iter()
        .map(|file| (name(file.path.as_deref().expect("a file")), file.diagnostics));
    named.collect()
}

/// The errors and warnings, sorted.
fn serious(found: &[Diagnostic]) -> Vec<String> {
    let serious = found.iter().filter(|d| d.severity != Severity::Info);
    let mut lines: Vec<String> =
        serious.map(|d| format!("{} {} {}", d.severity.name(), d.code.name, d.path)).collect();
    lines.sort();
    lines
}

/// What is found and not expected, and the other way round.
fn difference(name: &str, found: &[String], expected: &[String]) -> Vec<String> {
    let lacks = |list: &[String], line: &String| list.iter().all(|other| other != line);
    let more = found
        .iter()
        .filter(|line| lacks(expected, line))
        .map(|line| format!("{name}: more: {line}"));
    let less = expected
        .iter()
        .filter(|line| lacks(found, line))
        .map(|line| format!("{name}: less: {line}"));
    let count = format!("{name}: {} found, {} expected", found.len(), expected.len());
    let count = (found.len() != expected.len()).then_some(count);
    more.chain(less).chain(count).collect()
}

fn every_file(test: &str, compat: bool) {
    let Some(shared) = shared(test) else { return };
    let mut expectations: BTreeMap<&str, &str> =
        CORPUS.iter().map(|case| (case.file, case.found)).collect();
    let mut wrong = Vec::new();
    for (folder, _) in NOTES {
        for (file, found) in together(&shared.join("corpus").join(folder), compat) {
            let file = format!("{folder}/{file}");
            let expected = expected(expectations.remove(file.as_str()).unwrap_or_default(), compat);
            wrong.extend(difference(&file, &serious(&found), &expected));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(expectations.is_empty(), "a file of the corpus is gone: {expectations:?}");
}

#[test]
fn every_file_of_the_corpus() {
    every_file("every_file_of_the_corpus", false);
}

#[test]
fn every_file_of_the_corpus_in_compat_mode() {
    every_file("every_file_of_the_corpus_in_compat_mode", true);
}

#[test]
fn notes_on_the_corpus() {
    let Some(shared) = shared("notes_on_the_corpus") else { return };
    for (folder, expected) in NOTES {
        for compat in [false, true] {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let found = together(&shared.join("corpus").join(folder), compat);
            for diagnostic in found.values().flatten().filter(|d| d.severity == Severity::Info) {
                *counts.entry(diagnostic.code.name).or_default() += 1;
            }
            assert_eq!(counts.into_iter().collect::<Vec<_>>(), *expected, "{folder}");
        }
    }
}

#[test]
fn no_poison_in_the_tools_of_a_large_server() {
    let Some(shared) = shared("no_poison_in_the_tools_of_a_large_server") else { return };
    let path = shared.join("corpus/mcp/github-mcp-server.json");
    let text = std::fs::read_to_string(&path).expect("the file is there");
    let written: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["tools"].as_array().map(Vec::len), Some(117));
    let poison = ["HIDDEN_TEXT", "MODEL_INSTRUCTION", "SECRET_IN_DEFINITION", "LOOKALIKE_NAME"];
    let found = together(&shared.join("corpus/mcp"), false);
    let found: Vec<_> =
        found.values().flatten().filter(|d| poison.contains(&d.code.name)).collect();
    assert!(found.is_empty(), "{found:?}");
    // Nor when they are used together with everything else.
    let paths: Vec<PathBuf> =
        NOTES.iter().map(|(folder, _)| shared.join("corpus").join(folder)).collect();
    let workspace = Workspace::default();
    let load = workspace.load(&paths, ReadOptions { format: None, compat: false, rules: true });
    let subjects: Vec<_> = load
        .documents
        .iter()
        .filter_map(|file| Some(workspace.subject(file.reading.as_ref()?)))
        .collect();
    for (n, finding) in toolwright_check::check_together(&subjects) {
        let server = "github-mcp-server";
        let file = subjects[n].origin.document().source().name();
        assert!(!file.contains(server) && !finding.message.contains(server), "{file}: {finding:?}");
    }
}

/// The fenced blocks of a seed, in order.
fn blocks(shared: &Path, seed: &str, count: usize) -> Vec<String> {
    let path = shared.join("seeds").join(seed);
    let text = std::fs::read_to_string(path).expect("the seed is there");
    let fenced = text.split("\n```").skip(1).step_by(2);
    let blocks: Vec<String> = fenced
        .map(|block| block.split_once('\n').map_or("", |(_, text)| text).to_owned() + "\n")
        .collect();
    assert_eq!(blocks.len(), count, "{seed}: look at the new blocks and give each a line");
    blocks
}

/// Holds every document of a seed against its lines; what is not listed has none.
fn hold(documents: &[(String, String)], cases: &[Case]) {
    let mut wrong = Vec::new();
    for compat in [false, true] {
        let mut expectations: BTreeMap<&str, &str> =
            cases.iter().map(|case| (case.file, case.found)).collect();
        for (name, text) in documents {
            let found = check(name, text, compat);
            let serious = found.iter().filter(|f| f.severity != Severity::Info.name());
            let mut serious: Vec<String> =
                serious.map(|f| format!("{} {} {}", f.severity, f.code, f.at)).collect();
            serious.sort();
            let expected = expected(expectations.remove(name.as_str()).unwrap_or_default(), compat);
            let name = format!("{name}{}", if compat { " with --compat" } else { "" });
            wrong.extend(difference(&name, &serious, &expected));
        }
        assert!(expectations.is_empty(), "no such document: {expectations:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Blocks of JSON objects put into one.
fn merged(blocks: &[String], parts: &[usize], mut whole: Json) -> String {
    for n in parts {
        let part: Json = serde_json::from_str(&blocks[*n]).expect("JSON");
        whole
            .as_object_mut()
            .expect("an object")
            .extend(part.as_object().expect("an object").clone());
    }
    whole.to_string()
}

#[test]
fn examples_of_the_btcp_seeds() {
    let Some(shared) = shared("examples_of_the_btcp_seeds") else { return };
    let tools = blocks(&shared, "btcp-tool.md", 15);
    let manifests = blocks(&shared, "btcp-manifest.md", 10);
    let manifest: Json = serde_json::from_str(&manifests[8]).expect("JSON");
    let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let documents = [
        named("read.json", &tools[10]),
        named("write.json", &tools[11]),
        named("export.json", &tools[12]),
        named("fields.json", &merged(&tools, &[1, 2, 3, 4, 5, 6, 7, 8, 9], json!({}))),
        named("manifest.json", &manifests[8]),
        named(
            "sections.json",
            &merged(&manifests, &[1, 2, 3, 4, 5, 6, 7], json!({"tools": manifest["tools"]})),
        ),
    ];
    let cases = [
        // A formula that is null, where the schema wants a text.
        Case { file: "fields.json", found: "E EXAMPLE_OUTPUT_INVALID /examples/0/output/formula" },
        // The section about capabilities declares one more than the tools of the whole example
        // need.
        Case { file: "sections.json", found: "W UNUSED_CAPABILITY /capabilities/2" },
    ];
    hold(&documents, &cases);
}

#[test]
fn examples_of_the_other_json_seeds() {
    let Some(shared) = shared("examples_of_the_other_json_seeds") else { return };
    let ikigai = blocks(&shared, "ikigai-web-tools.md", 11);
    let schemas = blocks(&shared, "toolfoundation-schemas.md", 6);
    let tool = |(n, schema): (usize, &String)| {
        let text = format!(
            r#"{{"name": "pattern", "description": "From the seed", "inputSchema": {schema}}}"#
        );
        (format!("pattern-{n}.json"), text)
    };
    let mut documents: Vec<(String, String)> = schemas.iter().enumerate().map(tool).collect();
    documents.extend([0, 4, 6].map(|n| (format!("ikigai-{n}.json"), ikigai[n].clone())));
    hold(&documents, &[]);
}

/// The five required fields and a way to be run, for sections that come without.
const CORE: &str = "  id: seed\n  name: Seed\n  version: 1.0.0\n  description: From the seed\n";

/// A part of the seed as a definition of its own.
fn aios_section(block: &str, parent: &str) -> String {
    let (depth, parent) =
        if parent.is_empty() { (2, String::new()) } else { (4, format!("  {parent}:\n")) };
    let indented: String = block.lines().map(|line| format!("{:depth$}{line}\n", "")).collect();
    format!(
        "tool:\n  type: mcp\n{CORE}  mcp_specific: {{server_command: seed}}\n{parent}{indented}"
    )
}

/// They export their function, and the first two use a name that only their author could fill in.
#[test]
fn functions_of_the_aios_seed_run() {
    let Some(shared) = shared("functions_of_the_aios_seed") else { return };
    let blocks = blocks(&shared, "aios-tool-schema-v2.md", 17);
    let documents =
        [2, 3, 4].map(|n| (format!("{n}.yaml"), aios_section(&blocks[n], "executable_knowledge")));
    let files: Vec<(&str, &[u8])> =
        documents.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let folder = crate::program::folder(&files);
    let eval = |args: &[&str]| crate::calling::run(folder.path(), &[&["eval"], args].concat());
    for (file, flag, id, name) in [
        ("2.yaml", "--helper", "helper-name", "result"),
        ("3.yaml", "--processor", "processor-name", "processedData"),
    ] {
        let ran = eval(&[file, flag, id]);
        let line = documents.iter().find(|(known, _)| known == file).and_then(|(_, text)| {
            text.lines().position(|line| line.contains(&format!("return {name};")))
        });
        let place = format!("--> {file}:{}:", line.expect("it is there") + 1);
        assert!(
            ran.stderr.contains(&format!("THREW: ReferenceError: {name} is not defined")),
            "{ran:?}"
        );
        assert!(ran.code == 1 && ran.stderr.contains(&place), "{ran:?}");
    }
    for (args, verdict) in [
        ("{}", json!({"valid": false, "errors": ["field1 is required"]})),
        (r#"{"field1": 1}"#, json!({"valid": true, "errors": []})),
    ] {
        let ran = eval(&["4.yaml", "--validator", "validator-name", "--args", args]);
        assert_eq!(serde_json::from_str::<Json>(&ran.stdout).expect("JSON"), verdict, "{ran:?}");
    }
}

#[test]
fn examples_of_the_aios_seed() {
    let Some(shared) = shared("examples_of_the_aios_seed") else { return };
    let blocks = blocks(&shared, "aios-tool-schema-v2.md", 17);
    let section =
        |n: usize, parent: &str| (format!("section-{n}.yaml"), aios_section(&blocks[n], parent));
    let mut documents: Vec<(String, String)> =
        (2..=4).map(|n| section(n, "executable_knowledge")).collect();
    documents.extend((5..=9).map(|n| section(n, "")));
    documents.extend((10..=13).map(|n| (format!("type-{n}.yaml"), format!("{}{CORE}", blocks[n]))));
    documents.extend([0, 1, 15, 16].map(|n| (format!("whole-{n}.yaml"), blocks[n].clone())));
    let filled = blocks[16].replace("[...]", "[]").replace("{...}", "{}");
    let filled = filled.replacen("        ...\n", "        input: {}\n        output: {}\n", 1);
    let filled =
        filled.replacen("        ...\n", "        input: {}\n        error: {code: FAILED}\n", 1);
    documents.push(("filled-16.yaml".to_owned(), filled));
    let cases = [
        // Code that stands for code returns what nobody declared.
        Case {
            file: "section-2.yaml",
            found: "W NOT_SELF_CONTAINED /tool/executable_knowledge/helpers/0/function",
        },
        Case {
            file: "section-3.yaml",
            found: "W NOT_SELF_CONTAINED /tool/executable_knowledge/processors/0/function",
        },
        // A format, but of which field?
        Case {
            file: "section-4.yaml",
            found: "W UNKNOWN_CHECK /tool/executable_knowledge/validators/0/checks/1/format",
        },
        // Sections name helpers that stand in no section.
        Case {
            file: "section-6.yaml",
            found: "W UNRESOLVED_REFERENCE \
                    /tool/api_complexity/field_mappings/custom_fields/location/extraction",
        },
        Case {
            file: "type-13.yaml",
            found: "W UNRESOLVED_REFERENCE /tool/meta_specific/orchestration",
        },
        // Alternatives joined by bars are the manual's notation, not a value.
        Case { file: "type-10.yaml", found: "E INVALID_ENUM_VALUE /tool/mcp_specific/transport" },
        Case { file: "whole-0.yaml", found: "E INVALID_ENUM_VALUE /tool/type" },
        // `[...]` is a list of one text.
        Case {
            file: "whole-1.yaml",
            found: "E INVALID_TYPE /tool/executable_knowledge/helpers/0
                    E INVALID_TYPE /tool/executable_knowledge/processors/0
                    E INVALID_TYPE /tool/executable_knowledge/validators/0
                    E MISSING_REQUIRED_FIELD /tool/description
                    E MISSING_REQUIRED_FIELD /tool/id
                    E MISSING_REQUIRED_FIELD /tool/name
                    E MISSING_REQUIRED_FIELD /tool/type
                    E MISSING_REQUIRED_FIELD /tool/version",
        },
        // Dots in the place of a key end the YAML there: nothing behind them is missing.
        Case {
            file: "whole-16.yaml",
            found: "E INVALID_SYNTAX
                    E INVALID_TYPE /tool/anti_patterns/0
                    E INVALID_TYPE /tool/api_complexity/api_quirks/0
                    E INVALID_TYPE /tool/api_complexity/field_mappings/...
                    E INVALID_TYPE /tool/api_complexity/payload_schemas/0
                    E INVALID_TYPE /tool/executable_knowledge/helpers/0
                    E INVALID_TYPE /tool/executable_knowledge/validators/0",
        },
    ];
    hold(&documents, &cases);
}
