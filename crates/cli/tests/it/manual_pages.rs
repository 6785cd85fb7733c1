//! `check` on the definitions in pages of manuals: whole ones as they are, sections put into a
//! small tool. Functions of the pages are also run.
//!
//! Every test reads a page of `crates/formats/tests/corpus/pages`, and the page of the published
//! specification where `TOOLWRIGHT_SHARED` names the folder that contains it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value as Json, json};
use toolwright_source::Severity;

use crate::calling::run;
use crate::corpus::{CheckedFile, difference, expected, own_corpus, shared};
use crate::program::folder;
use crate::rules::check;

/// The blocks of a page of ours.
fn own_blocks(page: &str, count: usize) -> Vec<String> {
    blocks(&own_corpus().join("pages").join(page), count)
}

/// The fenced blocks of a page, in order. The count is given so that a new block cannot go
/// unchecked.
fn blocks(path: &Path, count: usize) -> Vec<String> {
    let text = std::fs::read_to_string(path).expect("the page is there");
    let fenced = text.split("\n```").skip(1).step_by(2);
    let blocks: Vec<String> = fenced
        .map(|block| block.split_once('\n').map_or("", |(_, text)| text).to_owned() + "\n")
        .collect();
    assert_eq!(blocks.len(), count, "{}: give the new blocks a case", path.display());
    blocks
}

/// Compares the errors and warnings of every document with its case, with and without `--compat`.
/// Documents that are not listed have none.
fn assert_documents(documents: &[(String, String)], cases: &[CheckedFile]) {
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

/// One object with the members of several blocks.
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

fn named(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

#[test]
fn btcp_tools_and_manifests_have_exactly_these_findings() {
    let tools = own_blocks("btcp-tool.md", 9);
    let manifests = own_blocks("btcp-manifest.md", 7);
    let manifest: Json = serde_json::from_str(&manifests[6]).expect("JSON");
    let with_tools = json!({"tools": manifest["tools"]});
    assert_documents(
        &[
            named("list.json", &tools[7]),
            named("copy.json", &tools[8]),
            named("fields.json", &merged(&tools, &[1, 2, 3, 4, 5, 6], json!({}))),
            named("manifest.json", &manifests[6]),
            named("sections.json", &merged(&manifests, &[0, 1, 2, 3, 4, 5], with_tools)),
        ],
        &[
            // A null where the output schema requires a text.
            CheckedFile {
                file: "fields.json",
                found: "E EXAMPLE_OUTPUT_INVALID /examples/0/output/next",
            },
            // The section about capabilities declares one more than the tools need.
            CheckedFile { file: "sections.json", found: "W UNUSED_CAPABILITY /capabilities/2" },
        ],
    );

    let test = "manual_pages::btcp_tools_and_manifests_have_exactly_these_findings";
    let Some(shared) = shared(test) else { return };
    let tools = blocks(&shared.join("seeds/btcp-tool.md"), 15);
    let manifests = blocks(&shared.join("seeds/btcp-manifest.md"), 10);
    let manifest: Json = serde_json::from_str(&manifests[8]).expect("JSON");
    let with_tools = json!({"tools": manifest["tools"]});
    assert_documents(
        &[
            named("read.json", &tools[10]),
            named("write.json", &tools[11]),
            named("export.json", &tools[12]),
            named("fields.json", &merged(&tools, &[1, 2, 3, 4, 5, 6, 7, 8, 9], json!({}))),
            named("manifest.json", &manifests[8]),
            named("sections.json", &merged(&manifests, &[1, 2, 3, 4, 5, 6, 7], with_tools)),
        ],
        &[
            CheckedFile {
                file: "fields.json",
                found: "E EXAMPLE_OUTPUT_INVALID /examples/0/output/formula",
            },
            CheckedFile { file: "sections.json", found: "W UNUSED_CAPABILITY /capabilities/2" },
        ],
    );
}

/// Input schemas as tools of their own, and whole ikigai documents, have no errors and no warnings.
fn assert_clean(schemas: &[String], ikigai: &[String], tools: &[usize]) {
    let tool = |(n, schema): (usize, &String)| {
        let text = format!(
            r#"{{"name": "pattern", "description": "From a page", "inputSchema": {schema}}}"#
        );
        (format!("pattern-{n}.json"), text)
    };
    let mut documents: Vec<(String, String)> = schemas.iter().enumerate().map(tool).collect();
    documents.extend(tools.iter().map(|n| (format!("ikigai-{n}.json"), ikigai[*n].clone())));
    assert_documents(&documents, &[]);
}

#[test]
fn ikigai_documents_and_patterns_of_input_schemas_are_clean() {
    assert_clean(&own_blocks("input-schemas.md", 3), &own_blocks("ikigai.md", 5), &[0, 4]);
    let test = "manual_pages::ikigai_documents_and_patterns_of_input_schemas_are_clean";
    if let Some(shared) = shared(test) {
        let schemas = blocks(&shared.join("seeds/toolfoundation-schemas.md"), 6);
        let ikigai = blocks(&shared.join("seeds/ikigai-web-tools.md"), 11);
        assert_clean(&schemas, &ikigai, &[0, 4, 6]);
    }
}

/// The required fields except `type`, for sections that come without them.
const CORE: &str = "  id: page\n  name: Page\n  version: 1.0.0\n  description: From a page\n";

/// A section of an AIOS page as a definition of its own.
fn aios_section(block: &str, parent: &str) -> String {
    let (depth, parent) =
        if parent.is_empty() { (2, String::new()) } else { (4, format!("  {parent}:\n")) };
    let indented: String = block.lines().map(|line| format!("{:depth$}{line}\n", "")).collect();
    format!(
        "tool:\n  type: mcp\n{CORE}  mcp_specific: {{server_command: page}}\n{parent}{indented}"
    )
}

/// The functions in the pages of helpers, processors and validators.
struct PageFunctions {
    /// Ids of the helper and of the processor, each with the name that its code uses without
    /// declaring it: code of a manual that only its author could complete.
    helper: (&'static str, &'static str),
    processor: (&'static str, &'static str),
    /// Id of the validator, and the fields that its checks require. Its function requires the
    /// first, with the same message.
    validator: (&'static str, [&'static str; 2]),
}

/// Runs the functions of blocks 2, 3 and 4 with `eval`.
fn assert_functions(blocks: &[String], functions: &PageFunctions) {
    let documents =
        [2, 3, 4].map(|n| (format!("{n}.yaml"), aios_section(&blocks[n], "executable_knowledge")));
    let files: Vec<(&str, &[u8])> =
        documents.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let folder = folder(&files);
    let eval = |args: &[&str]| run(folder.path(), &[&["eval"], args].concat());
    for ((file, text), flag, (id, name)) in [
        (&documents[0], "--helper", functions.helper),
        (&documents[1], "--processor", functions.processor),
    ] {
        let ran = eval(&[file, flag, id]);
        let line = text.lines().position(|line| line.contains(&format!("return {name};")));
        let place = format!("--> {file}:{}:", line.expect("it is there") + 1);
        let message = format!("THREW: ReferenceError: {name} is not defined");
        assert!(ran.stderr.contains(&message), "{ran:?}");
        assert!(ran.code == 1 && ran.stderr.contains(&place), "{ran:?}");
    }
    let (id, fields) = functions.validator;
    let errors = fields.map(|field| format!("{field} is required"));
    let [first, second] = fields;
    for (arguments, verdict) in [
        (json!({}), json!({"valid": false, "errors": errors})),
        (json!({first: 1}), json!({"valid": false, "errors": [errors[1]]})),
        (json!({first: 1, second: 1}), json!({"valid": true, "errors": []})),
    ] {
        let ran = eval(&["4.yaml", "--validator", id, "--args", &arguments.to_string()]);
        assert_eq!(serde_json::from_str::<Json>(&ran.stdout).expect("JSON"), verdict, "{ran:?}");
    }
}

#[test]
fn functions_of_the_aios_pages_run() {
    assert_functions(
        &own_blocks("aios.md", 16),
        &PageFunctions {
            helper: ("lamp-label", "label"),
            processor: ("round-power", "rounded"),
            validator: ("check-dim", ["lamp", "level"]),
        },
    );
    if let Some(shared) = shared("manual_pages::functions_of_the_aios_pages_run") {
        assert_functions(
            &blocks(&shared.join("seeds/aios-tool-schema-v2.md"), 17),
            &PageFunctions {
                helper: ("helper-name", "result"),
                processor: ("processor-name", "processedData"),
                validator: ("validator-name", ["field1", "field2"]),
            },
        );
    }
}

/// The documents of an AIOS page: sections 2 to 9, the four types, and the whole tools; the last
/// whole tool also with its dots filled in.
fn aios_documents(blocks: &[String], whole: [usize; 4]) -> Vec<(String, String)> {
    let section =
        |n: usize, parent: &str| (format!("section-{n}.yaml"), aios_section(&blocks[n], parent));
    let mut documents: Vec<(String, String)> =
        (2..=4).map(|n| section(n, "executable_knowledge")).collect();
    documents.extend((5..=9).map(|n| section(n, "")));
    documents.extend((10..=13).map(|n| (format!("type-{n}.yaml"), format!("{}{CORE}", blocks[n]))));
    let [core, outline, version_1, version_2] = whole.map(|n| blocks[n].clone());
    let filled = version_2.replace("[...]", "[]").replace("{...}", "{}");
    let filled = filled.replacen("        ...\n", "        input: {}\n        output: {}\n", 1);
    let filled =
        filled.replacen("        ...\n", "        input: {}\n        error: {code: FAILED}\n", 1);
    for (name, text) in [
        ("core.yaml", core),
        ("outline.yaml", outline),
        ("version-1.yaml", version_1),
        ("version-2.yaml", version_2),
        ("filled.yaml", filled),
    ] {
        documents.push((name.to_owned(), text));
    }
    documents
}

/// Findings that pages share, because both use the notation of manuals.
const AIOS_CASES: [CheckedFile; 8] = [
    // Code that stands for code returns a name that nothing declares.
    CheckedFile {
        file: "section-2.yaml",
        found: "W NOT_SELF_CONTAINED /tool/executable_knowledge/helpers/0/function",
    },
    CheckedFile {
        file: "section-3.yaml",
        found: "W NOT_SELF_CONTAINED /tool/executable_knowledge/processors/0/function",
    },
    // A check of a format that does not name a field.
    CheckedFile {
        file: "section-4.yaml",
        found: "W UNKNOWN_CHECK /tool/executable_knowledge/validators/0/checks/1/format",
    },
    // Alternatives joined by bars are the notation of a manual, not a value.
    CheckedFile {
        file: "type-10.yaml",
        found: "E INVALID_ENUM_VALUE /tool/mcp_specific/transport",
    },
    CheckedFile { file: "core.yaml", found: "E INVALID_ENUM_VALUE /tool/type" },
    // The type `meta` names a helper that is in another section.
    CheckedFile {
        file: "type-13.yaml",
        found: "W UNRESOLVED_REFERENCE /tool/meta_specific/orchestration",
    },
    // `[...]` is a list of one text.
    CheckedFile {
        file: "outline.yaml",
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
    CheckedFile {
        file: "version-2.yaml",
        found: "E INVALID_SYNTAX
                E INVALID_TYPE /tool/anti_patterns/0
                E INVALID_TYPE /tool/api_complexity/api_quirks/0
                E INVALID_TYPE /tool/api_complexity/field_mappings/...
                E INVALID_TYPE /tool/api_complexity/payload_schemas/0
                E INVALID_TYPE /tool/executable_knowledge/helpers/0
                E INVALID_TYPE /tool/executable_knowledge/validators/0",
    },
];

/// The section of field mappings names a helper that is in another section.
const fn missing_helper(found: &'static str) -> CheckedFile {
    CheckedFile { file: "section-6.yaml", found }
}

#[test]
fn aios_sections_types_and_tools_have_exactly_these_findings() {
    let documents = aios_documents(&own_blocks("aios.md", 16), [0, 1, 14, 15]);
    let helper = missing_helper(
        "W UNRESOLVED_REFERENCE /tool/api_complexity/field_mappings/lamp_fields/colour/extraction",
    );
    let cases: Vec<CheckedFile> = AIOS_CASES.into_iter().chain([helper]).collect();
    assert_documents(&documents, &cases);

    let test = "manual_pages::aios_sections_types_and_tools_have_exactly_these_findings";
    let Some(shared) = shared(test) else { return };
    let blocks = blocks(&shared.join("seeds/aios-tool-schema-v2.md"), 17);
    let helper = missing_helper(
        "W UNRESOLVED_REFERENCE \
         /tool/api_complexity/field_mappings/custom_fields/location/extraction",
    );
    let cases: Vec<CheckedFile> = AIOS_CASES.into_iter().chain([helper]).collect();
    assert_documents(&aios_documents(&blocks, [0, 1, 15, 16]), &cases);
}
