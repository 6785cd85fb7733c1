//! Names, ids, tags and versions against tables of cases. Our own are in `tests/cases`. Where
//! `TOOLWRIGHT_SHARED` names a folder, those in its `facts` are tried as well: they were recorded
//! from the original implementation of toolfoundation. Where our reading of the specification
//! differs from the original, the test expects our reading and names the difference.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use toolwright_model::{NameError, Namespace, Tags, ToolId, ToolName, Version, VersionedRef};

/// The files of this name: ours, and the recorded one if there is one.
fn facts(name: &str) -> Vec<Json> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let recorded = std::env::var_os("TOOLWRIGHT_SHARED").map(|at| PathBuf::from(at).join("facts"));
    let folders = std::iter::once(ours).chain(recorded);
    let texts = folders.map(|at| std::fs::read_to_string(at.join(name)).expect("a file of cases"));
    texts.map(|text| serde_json::from_str(&text).expect("JSON")).collect()
}

/// The cases of a list in all files. An empty list would test nothing.
fn cases<'a>(facts: &'a [Json], list: &'a str) -> impl Iterator<Item = &'a Json> {
    facts.iter().flat_map(move |file| {
        let cases = file[list].as_array().expect("a list of cases");
        assert!(!cases.is_empty());
        cases
    })
}

#[test]
fn names_are_accepted_as_recorded() {
    let facts = facts("names.json");
    for case in cases(&facts, "cases") {
        let name = case["name"].as_str().expect("a name");
        let found = ToolName::parse(name);
        assert_eq!(found.is_ok(), case["origin"].is_null(), "{name}");
        let Err(error) = found else { continue };
        let message = case["origin"]["message"].as_str().expect("a message");
        match &error {
            NameError::Empty => assert!(message.contains("required"), "{message}"),
            // The readings check the characters before the length, the original the other way
            // round.
            NameError::Characters(bad) if message.contains("exceeds") => {
                assert!(bad.contains(&'é'), "{bad:?}")
            }
            NameError::Characters(bad) => {
                let listed = bad.iter().map(char::to_string).collect::<Vec<_>>().join(", ");
                assert_eq!(
                    message,
                    format!("invalid tool: name contains invalid characters: {listed}")
                );
            }
            NameError::TooLong(_) => assert!(message.contains("exceeds 128"), "{message}"),
        }
    }
}

/// Whether both parts of a recorded id are names, which our reading requires and the original does
/// not.
fn are_names(parts: &Json) -> bool {
    let ok = |part: &Json| ToolName::parse(part.as_str().unwrap_or_default()).is_ok();
    parts["error"].is_null()
        && ok(&parts["name"])
        && (parts["namespace"] == "" || ok(&parts["namespace"]))
}

#[test]
fn ids_and_versioned_references_are_split_as_recorded() {
    let facts = facts("ids.json");
    for case in cases(&facts, "cases") {
        let text = case["id"].as_str().expect("an id");
        let expected = &case["recommended_id"];
        let found = ToolId::parse(text);
        assert_eq!(found.is_ok(), are_names(expected), "{text}");
        if let Ok(id) = found {
            assert_eq!(
                id.namespace.as_ref().map_or("", Namespace::as_str),
                expected["namespace"],
                "{text}"
            );
            assert_eq!(id.name.as_str(), expected["name"], "{text}");
            assert_eq!(id.to_string(), text);
        }
        let expected = &case["recommended_versioned_ref"];
        let found = VersionedRef::parse(text);
        assert_eq!(found.is_ok(), are_names(expected), "{text} with a version");
        if let Ok(reference) = found {
            assert_eq!(reference.version.as_deref().unwrap_or(""), expected["version"], "{text}");
            assert_eq!(reference.id.name.as_str(), expected["name"], "{text}");
        }
    }
    for case in cases(&facts, "to_id") {
        let part = |key: &str| case[key].as_str().expect("a text");
        let namespace = Namespace::parse(part("namespace")).ok();
        let id = ToolId { namespace, name: ToolName::parse(part("name")).expect("a name") };
        // A version never becomes part of an id.
        assert_eq!(id.to_string(), part("origin_seed"));
    }
}

#[test]
fn tags_are_normalised_as_recorded() {
    let facts = facts("tags.json");
    let texts = |list: &Json| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut tried = 0;
    for case in cases(&facts, "cases") {
        // One case is not UTF-8.
        let Some(authored) = texts(&case["in"]) else { continue };
        let tags = Tags::new(authored.clone());
        let normalised: Vec<String> = tags.normalised().iter().map(ToString::to_string).collect();
        assert_eq!(normalised, texts(&case["recommended"]).expect("a list"), "{authored:?}");
        assert_eq!(tags.authored(), authored);
        // Every tag is kept as written, or listed among the changes.
        let changed: Vec<usize> = tags.changes().iter().map(|(n, _)| *n).collect();
        let kept = authored.iter().enumerate().filter(|(n, _)| !changed.contains(n));
        assert!(kept.clone().all(|(_, text)| normalised.contains(text)), "{authored:?}");
        tried += 1;
    }
    assert!(tried > 10);
}

#[test]
fn versions_are_parsed_and_compared_as_recorded() {
    let facts = facts("versions.json");
    for case in cases(&facts, "parse") {
        let text = case["in"].as_str().expect("a text");
        let found = Version::parse(text);
        assert_eq!(found.is_ok(), case["recommended_ok"], "{text:?}");
        assert!(
            found.is_err() || found.is_ok_and(|v| v.authored() == text && v.to_string() == text)
        );
    }
    for case in cases(&facts, "compare") {
        let parse =
            |key: &str| Version::parse(case[key].as_str().expect("a text")).expect("a version");
        let order = i64::from(parse("a").precedence(&parse("b")) as i8);
        if case["a"] == "1.0.0-a-b" {
            // The original compares bytes. SemVer compares identifier by identifier: `a` is the
            // start of `a-b`, so `a.b` comes first.
            assert_eq!((order, &case["recommended"]), (1, &Json::from(-1)), "{case}");
            continue;
        }
        assert_eq!(order, case["recommended"], "{case}");
    }
}

/// The rules for namespaces; `formats` tests those for whole records.
#[test]
fn namespaces_are_accepted_and_portable_by_their_characters() {
    for (text, ok, portable) in [
        ("fs", true, true),
        ("a.b-c_9", true, true),
        ("日本", true, false),
        ("ns/sub", true, false),
        ("", false, false),
        ("a:b", false, false),
        ("a b", false, false),
        ("a\u{3000}b", false, false),
        ("a\u{7f}", false, false),
    ] {
        let found = Namespace::parse(text);
        assert_eq!(found.is_ok(), ok, "{text:?}");
        assert_eq!(found.is_ok_and(|n| n.is_portable()), portable, "{text:?}");
    }
    assert!(Namespace::parse(&"é".repeat(128)).is_ok());
    assert!(Namespace::parse(&"é".repeat(129)).is_err());
}

/// Looking for each character in a list of those seen would take minutes here.
#[test]
fn a_name_with_very_many_different_characters_is_refused_quickly() {
    let text: String = ('\u{100}'..).take(400_000).collect();
    let Err(NameError::Characters(bad)) = ToolName::parse(&text) else { panic!("not a name") };
    assert_eq!(bad.len(), 400_000);
    assert!(NameError::Characters(bad).to_string().len() < 200, "a message names only a few");
}
