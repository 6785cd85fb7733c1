//! `check` on whole files as authors write them, with all their mistakes. Every error and warning
//! is listed with its place, so that one more or one less fails; notes are counted.
//!
//! The files of `crates/formats/tests/corpus` are always checked. The definitions that other people
//! published are checked where `TOOLWRIGHT_SHARED` names their folder; their texts are not in this
//! repository, so the tables below name them by file and pointer only.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_script::InProcessAnalyzer;
use toolwright_source::{Diagnostic, Severity, locate};
use toolwright_workspace::{LoadResult, ReadOptions, Workspace};

use crate::calling::run;
use crate::program::project;

/// What `check` should find in a document: lines of `SEVERITY CODE POINTER`. `E` is an error, `W` a
/// warning, `~` an error that `--compat` makes a warning. `3..5` in a pointer stands for `3`, `4`
/// and `5`. Documents without errors and warnings are not listed.
pub(crate) struct CheckedFile {
    pub(crate) file: &'static str,
    pub(crate) found: &'static str,
}

/// The number of notes of each code in a folder.
type NoteCounts = (&'static str, &'static [(&'static str, usize)]);

/// A collection of definitions, one folder for each format, with everything that is wrong in it.
struct Corpus {
    folder: PathBuf,
    cases: &'static [CheckedFile],
    notes: &'static [NoteCounts],
    /// The answer of a large server among the files, and the number of its tools.
    server: (&'static str, usize),
    /// What `test` says about the examples of the AIOS files: passed, failed, skipped.
    examples: [u64; 3],
}

/// Our own collection, and the shared one where it is at hand.
fn corpora(test: &str) -> Vec<Corpus> {
    let own = Corpus {
        folder: own_corpus(),
        cases: OWN,
        notes: OWN_NOTES,
        server: ("office-server", 12),
        examples: [10, 2, 7],
    };
    let shared = shared(test).map(|folder| Corpus {
        folder: folder.join("corpus"),
        cases: SHARED,
        notes: SHARED_NOTES,
        server: ("github-mcp-server", 117),
        examples: [16, 3, 2],
    });
    [own].into_iter().chain(shared).collect()
}

/// The definitions of this project that tests read.
pub(crate) fn own_corpus() -> PathBuf {
    project().join("crates/formats/tests/corpus")
}

const OWN: &[CheckedFile] = &[
    CheckedFile {
        file: "aios/archive-cli.yaml",
        found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy",
    },
    CheckedFile {
        file: "aios/library.yaml",
        found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy",
    },
    CheckedFile {
        file: "aios/weather.yaml",
        found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy",
    },
    // A workflow of steps among the examples, a mapping that is only prose, and an error that names
    // a validator by an earlier name.
    CheckedFile {
        file: "aios/boards.yaml",
        found: "~ MISSING_REQUIRED_FIELD /tool/api_complexity/field_mappings/column_name
                ~ MISSING_REQUIRED_FIELD /tool/examples/monday_routine/0..1/scenario
                ~ MISSING_REQUIRED_FIELD /tool/examples/monday_routine/1/input
                W UNRESOLVED_REFERENCE /tool/examples/add_card/1/error/validator",
    },
    // Checks in prose, which no program runs.
    CheckedFile {
        file: "aios/tables.yaml",
        found: "W UNKNOWN_CHECK /tool/executable_knowledge/validators/0/checks/1/row_count
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/1/checks/0/confirmation",
    },
    CheckedFile {
        file: "aios/choosing.yaml",
        found: "E MISSING_REQUIRED_FIELD /tool/type
                ~ EXTRA_ROOT_KEY /history
                ~ EXTRA_ROOT_KEY /models
                ~ EXTRA_ROOT_KEY /prices",
    },
    CheckedFile {
        file: "aios/nameless.yaml",
        found: "E MISSING_REQUIRED_FIELD /tool/description
                E MISSING_REQUIRED_FIELD /tool/id",
    },
    CheckedFile {
        file: "btcp/browser-tools.json",
        found: "E MISSING_REQUIRED_FIELD /0..2/capabilities
                W NAMING_CONVENTION /0..2/name
                E MISSING_REQUIRED_FIELD /1/examples/0..1/input
                E MISSING_REQUIRED_FIELD /2/examples/0/input",
    },
    // `code:run` and `dom:touch` are well-formed capabilities, and no runtime has them.
    CheckedFile {
        file: "btcp/server-tools.json",
        found: "E MISSING_REQUIRED_FIELD /0/capabilities
                W NAMING_CONVENTION /2/name
                W UNKNOWN_CAPABILITY /1..2/capabilities/0",
    },
    CheckedFile {
        file: "btcp/provider-fragment.json",
        found: "E MISSING_REQUIRED_FIELD /name
                E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities",
    },
    CheckedFile {
        file: "btcp/transport-fragment.json",
        found: "E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities
                W DUPLICATE_ID /name",
    },
    CheckedFile { file: "btcp/name-fragment.json", found: "E UNKNOWN_FORMAT" },
    CheckedFile {
        file: "btcp/capability-fragment.json",
        found: "E MISSING_REQUIRED_FIELD /description
                E MISSING_REQUIRED_FIELD /inputSchema",
    },
    // A null schema is an invalid one.
    CheckedFile {
        file: "webmcp/checkout.json",
        found: "~ INVALID_SCHEMA /tools/0/outputSchema
                E INVALID_SCHEMA /tools/1/inputSchema",
    },
    // A range that starts with a class is an error in Unicode mode, which JSON Schema requires.
    CheckedFile {
        file: "webmcp/invitations.json",
        found: "E INVALID_SCHEMA /tools/0/inputSchema/properties/people/items/pattern",
    },
];

const OWN_NOTES: &[NoteCounts] = &[
    ("aios", &[("MISSING_CATEGORY", 1), ("MISSING_SCENARIO", 4), ("UNKNOWN_FIELD", 19)]),
    (
        "btcp",
        &[
            ("MISSING_OUTPUT_SCHEMA", 6),
            ("MISSING_PARAMETER_DESCRIPTION", 1),
            ("NAMING_CONVENTION", 6),
            ("OPEN_OBJECT", 4),
            ("UNKNOWN_FIELD", 8),
        ],
    ),
    ("mcp", &[("OPEN_OBJECT", 11)]),
    ("webmcp", &[("MISSING_PARAMETER_DESCRIPTION", 1), ("OPEN_OBJECT", 3)]),
];

const SHARED: &[CheckedFile] = &[
    // All published version 1 tools have `declarative`.
    CheckedFile { file: "aios/browser.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    CheckedFile { file: "aios/context7.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    CheckedFile { file: "aios/desktop-commander.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    CheckedFile { file: "aios/exa.yaml", found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy" },
    // Commands such as `issue list`, which "List issues".
    CheckedFile {
        file: "aios/github-cli.yaml",
        found: "~ INVALID_ENUM_VALUE /tool/knowledge_strategy
                W UNINFORMATIVE_DESCRIPTION /tool/command_groups/issue/0..2/description",
    },
    // A workflow of steps among the examples, a mapping that is only prose, and errors that name
    // validators by earlier names.
    CheckedFile {
        file: "aios/clickup.yaml",
        found: "~ MISSING_REQUIRED_FIELD /tool/api_complexity/field_mappings/list_id
                ~ MISSING_REQUIRED_FIELD /tool/examples/story_creation_workflow/0..1/scenario
                W UNRESOLVED_REFERENCE /tool/examples/create_task/1/error/validator
                W UNRESOLVED_REFERENCE /tool/examples/update_task/1/error/validator",
    },
    CheckedFile {
        file: "aios/google-workspace.yaml",
        found: "W UNRESOLVED_REFERENCE /tool/examples/create_event/1/error/validator
                W UNRESOLVED_REFERENCE /tool/examples/create_file/1/error/validator
                W UNRESOLVED_REFERENCE /tool/examples/send_email/1/error/validator",
    },
    // Each validator has a check in prose, which no program runs.
    CheckedFile {
        file: "aios/supabase.yaml",
        found: "W UNKNOWN_CHECK /tool/executable_knowledge/validators/0/checks/1/sql_injection_prevention
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/1/checks/1/migration_name_format
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/2/checks/1/branch_name_format
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/3/checks/1/file_structure
                W UNKNOWN_CHECK /tool/executable_knowledge/validators/4/checks/1/region_validation",
    },
    // Nearly everything is beside `tool`, and the type is missing.
    CheckedFile {
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
    CheckedFile {
        file: "aios/tool-invalid.yaml",
        found: "E MISSING_REQUIRED_FIELD /tool/description
                E MISSING_REQUIRED_FIELD /tool/id",
    },
    // Tools in snake_case without capabilities; their examples have `params` instead of `input`.
    CheckedFile {
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
    // `code:execute` and `dom:interact` are well-formed capabilities, and no runtime has them.
    CheckedFile {
        file: "btcp/btcp-server_builtin-tools.json",
        found: "E MISSING_REQUIRED_FIELD /0/capabilities
                W NAMING_CONVENTION /2..16/name
                W UNKNOWN_CAPABILITY /1/capabilities/0
                W UNKNOWN_CAPABILITY /3..8/capabilities/0
                W UNKNOWN_CAPABILITY /16/capabilities/0",
    },
    // Fragments of a manual: each lacks what its page is not about.
    CheckedFile {
        file: "btcp/btcp-specification__docs_api_core_manifest.md__L145.json",
        found: "E MISSING_REQUIRED_FIELD /name
                E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities",
    },
    CheckedFile {
        file: "btcp/btcp-specification__docs_for-tool-providers.md__L216.json",
        found: "E UNKNOWN_FORMAT",
    },
    CheckedFile {
        file: "btcp/btcp-specification__docs_for-tool-providers.md__L224.json",
        found: "E UNKNOWN_FORMAT",
    },
    CheckedFile {
        file: "btcp/btcp-specification__docs_protocols_index.md__L200.json",
        found: "E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities",
    },
    CheckedFile {
        file: "btcp/btcp-specification__docs_protocols_index.md__L213.json",
        found: "E MISSING_REQUIRED_FIELD /version
                E MISSING_REQUIRED_FIELD /tools
                E MISSING_REQUIRED_FIELD /capabilities
                W DUPLICATE_ID /name",
    },
    CheckedFile {
        file: "btcp/btcp-specification__docs_server_mcp-bridge.md__L262.json",
        found: "E MISSING_REQUIRED_FIELD /description
                E MISSING_REQUIRED_FIELD /inputSchema",
    },
    CheckedFile {
        file: "mcp/github-mcp-server.json",
        found: "W UNINFORMATIVE_DESCRIPTION /tools/21/description
                W UNINFORMATIVE_DESCRIPTION /tools/36/description
                W UNINFORMATIVE_DESCRIPTION /tools/72/description
                W UNINFORMATIVE_DESCRIPTION /tools/99/description",
    },
    // A null schema is an invalid one.
    CheckedFile {
        file: "webmcp/webmcp-evals_examples_address-form_schema.json",
        found: "~ INVALID_SCHEMA /tools/0/outputSchema",
    },
    CheckedFile {
        file: "webmcp/webmcp-evals_examples_commerce_shopping_schema.json",
        found: "E INVALID_SCHEMA /tools/0/inputSchema
                E INVALID_SCHEMA /tools/4/inputSchema",
    },
    // A range that starts with a class is an error in Unicode mode, which JSON Schema requires.
    CheckedFile {
        file: "webmcp/webmcp-evals_examples_events_schema.json",
        found: "E INVALID_SCHEMA /tools/0/inputSchema/properties/guest_emails/items/pattern",
    },
    CheckedFile {
        file: "webmcp/webmcp-evals_examples_travel_schema.json",
        found: "E INVALID_SCHEMA /tools/0/inputSchema
                ~ INVALID_SCHEMA /tools/1..2/outputSchema
                E INVALID_SCHEMA /tools/2/inputSchema",
    },
];

const SHARED_NOTES: &[NoteCounts] = &[
    ("aios", &[("MISSING_SCENARIO", 15), ("NOT_RUNNABLE", 1), ("UNKNOWN_FIELD", 73)]),
    (
        "btcp",
        &[
            ("MISSING_OUTPUT_SCHEMA", 46),
            ("MISSING_PARAMETER_DESCRIPTION", 6),
            ("NAMING_CONVENTION", 43),
            ("OPEN_OBJECT", 44),
            ("UNKNOWN_FIELD", 55),
        ],
    ),
    ("mcp", &[("OPEN_OBJECT", 116)]),
    ("webmcp", &[("MISSING_PARAMETER_DESCRIPTION", 21), ("OPEN_OBJECT", 27)]),
];

/// The folder of definitions and specifications by other people, which the repository does not
/// contain. Where `TOOLWRIGHT_SHARED` does not name it, standard error says that the test read only
/// our own files.
pub(crate) fn shared(test: &str) -> Option<PathBuf> {
    let found = std::env::var_os("TOOLWRIGHT_SHARED").map(PathBuf::from);
    if found.is_none() {
        // `eprintln!` would be captured by the harness, which hides the output of passing tests.
        let line = format!("{test}: only our own files, TOOLWRIGHT_SHARED is not set");
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    found
}

/// `E CODE /3..4/a` as `error CODE /3/a` and `error CODE /4/a`, of all lines, sorted.
pub(crate) fn expected(lines: &str, compat: bool) -> Vec<String> {
    let mut all = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split(' ');
        let severity = match (words.next(), compat) {
            (Some("E"), _) | (Some("~"), false) => Severity::Error,
            (Some("W"), _) | (Some("~"), true) => Severity::Warning,
            other => panic!("{line}: `{other:?}` is not a severity"),
        };
        let (code, at) = (words.next().expect("a code"), words.next().unwrap_or_default());
        let start = format!("{} {code} ", severity.name());
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

/// The findings of the definitions in a folder, by file name: those of each file, and those that
/// only several files together have.
fn check_folder(folder: &Path, compat: bool) -> BTreeMap<String, Vec<Diagnostic>> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let workspace = Workspace::new(Arc::new(InProcessAnalyzer));
    let LoadResult { documents: mut files, failures, .. } =
        workspace.load(&paths, ReadOptions { compat, rules: true, ..ReadOptions::default() });
    assert!(failures.is_empty(), "{failures:?}");
    let read = files
        .iter()
        .enumerate()
        .filter_map(|(n, file)| Some((n, file.reading.as_ref()?)))
        .map(|(n, reading)| (n, workspace.subject(reading, ReadOptions::default())));
    let (places, subjects): (Vec<usize>, Vec<_>) = read.unzip();
    let between = toolwright_check::check_together(&subjects).into_iter().map(|(n, finding)| {
        let reading = files[places[n]].reading.as_ref().expect("it was read");
        (places[n], locate(finding, reading.origin.document()))
    });
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

/// The lines that are found and not expected, and those that are expected and not found.
pub(crate) fn difference(name: &str, found: &[String], expected: &[String]) -> Vec<String> {
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

/// Compares the errors and warnings of every file with its case.
fn assert_every_file(test: &str, compat: bool) {
    for corpus in corpora(test) {
        let mut cases: BTreeMap<&str, &str> =
            corpus.cases.iter().map(|case| (case.file, case.found)).collect();
        let mut wrong = Vec::new();
        for (folder, _) in corpus.notes {
            for (file, found) in check_folder(&corpus.folder.join(folder), compat) {
                let file = format!("{folder}/{file}");
                let expected = expected(cases.remove(file.as_str()).unwrap_or_default(), compat);
                wrong.extend(difference(&file, &serious(&found), &expected));
            }
        }
        assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
        assert!(cases.is_empty(), "a file of the corpus is missing: {cases:?}");
    }
}

#[test]
fn every_file_has_exactly_its_errors_and_warnings() {
    assert_every_file("corpus::every_file_has_exactly_its_errors_and_warnings", false);
}

#[test]
fn compat_mode_changes_only_severities() {
    assert_every_file("corpus::compat_mode_changes_only_severities", true);
}

#[test]
fn every_folder_has_its_notes_in_both_modes() {
    for corpus in corpora("corpus::every_folder_has_its_notes_in_both_modes") {
        for ((folder, expected), compat) in
            corpus.notes.iter().flat_map(|notes| [(notes, false), (notes, true)])
        {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let found = check_folder(&corpus.folder.join(folder), compat);
            for diagnostic in found.values().flatten().filter(|d| d.severity == Severity::Info) {
                *counts.entry(diagnostic.code.name).or_default() += 1;
            }
            assert_eq!(counts.into_iter().collect::<Vec<_>>(), *expected, "{folder}");
        }
    }
}

#[test]
fn the_tools_of_a_large_server_are_not_taken_for_poisoned() {
    for corpus in corpora("corpus::the_tools_of_a_large_server_are_not_taken_for_poisoned") {
        let (server, count) = corpus.server;
        let path = corpus.folder.join("mcp").join(format!("{server}.json"));
        let text = std::fs::read_to_string(&path).expect("the file is there");
        let written: Json = serde_json::from_str(&text).expect("JSON");
        assert_eq!(written["tools"].as_array().map(Vec::len), Some(count));
        let poison = ["HIDDEN_TEXT", "MODEL_INSTRUCTION", "SECRET_IN_DEFINITION", "LOOKALIKE_NAME"];
        let found = check_folder(&corpus.folder.join("mcp"), false);
        let found: Vec<_> =
            found.values().flatten().filter(|d| poison.contains(&d.code.name)).collect();
        assert!(found.is_empty(), "{found:?}");
        // Nor are they when they are used together with all other files.
        let paths: Vec<PathBuf> =
            corpus.notes.iter().map(|(folder, _)| corpus.folder.join(folder)).collect();
        let workspace = Workspace::new(Arc::new(InProcessAnalyzer));
        let load = workspace.load(&paths, ReadOptions { rules: true, ..ReadOptions::default() });
        let readings: Vec<_> =
            load.documents.iter().filter_map(|file| file.reading.as_ref()).collect();
        let subjects: Vec<_> = readings
            .iter()
            .map(|reading| workspace.subject(reading, ReadOptions::default()))
            .collect();
        for (n, finding) in toolwright_check::check_together(&subjects) {
            let file = readings[n].origin.document().source().name();
            assert!(
                !file.contains(server) && !finding.message.contains(server),
                "{file}: {finding:?}"
            );
        }
    }
}

#[test]
fn examples_of_the_definitions_pass_fail_and_are_skipped() {
    for corpus in corpora("corpus::examples_of_the_definitions_pass_fail_and_are_skipped") {
        let arguments = ["test", ".", "--compat", "--output-format", "json"];
        let run = run(&corpus.folder.join("aios"), &arguments);
        let sum: Json =
            serde_json::from_str(run.stdout.lines().last().expect("a sum")).expect("JSON");
        let counts =
            ["passed", "failed", "skipped"].map(|key| sum[key].as_u64().expect("a number"));
        assert_eq!((run.code, counts), (1, corpus.examples), "{}", run.stdout);
    }
}
