//! `toolwright diff`: every kind of change, in every output format; versions; every kind of source.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

use crate::client::faulty_server;
use crate::program::{Run, folder, run_in, toolwright};

/// A manifest with a tool of each fate.
fn manifest() -> Json {
    json!({
        "btcp": "1.0",
        "name": "shop",
        "version": "1.2.0",
        "description": "Tools of a shop",
        "tools": [
            {
                "name": "findItems",
                "description": "Finds the items whose name contains a text, the cheapest first",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "text": { "type": "string", "maxLength": 80, "description": "What to find" },
                        "order": { "type": "string", "enum": ["price", "name", "age"] },
                        "limit": { "type": "integer", "minimum": 1 },
                        "shop": { "type": "string", "minLength": 2 }
                    },
                    "required": ["text"],
                    "additionalProperties": false
                },
                "outputSchema": {
                    "type": "object",
                    "properties": { "items": { "type": "array" } },
                    "required": ["items"]
                },
                "capabilities": ["dom:read"],
                "timeout": 5000,
                "tags": ["shop"]
            },
            {
                "name": "countItems",
                "description": "Counts all items",
                "inputSchema": { "type": "object", "properties": {} },
                "capabilities": []
            },
            {
                "name": "openItem",
                "description": "Opens one item",
                "inputSchema": { "type": "object", "properties": { "id": { "type": "string" } } },
                "capabilities": []
            }
        ],
        "capabilities": ["dom:read"]
    })
}

/// The manifest after many changes.
fn changed_manifest() -> Json {
    let mut new = manifest();
    new["version"] = json!("1.2.1");
    new["description"] = json!("All tools of a shop");
    new["capabilities"] = json!(["dom:read", "dom:write"]);
    let tool = &mut new["tools"][0];
    tool["description"] =
        json!("Finds the items whose title contains a text, the cheapest first, at most 100");
    tool["capabilities"] = json!(["dom:read", "dom:write"]);
    tool["timeout"] = json!(9000);
    tool["tags"] = json!(["shop", "search"]);
    let input = &mut tool["inputSchema"];
    input["properties"]["text"]["maxLength"] = json!(40);
    input["properties"]["text"]["description"] = json!("What to look for");
    input["properties"]["order"]["enum"] = json!(["price", "name", "size"]);
    input["properties"]["page"] = json!({ "type": "integer" });
    let shop = input["properties"].as_object_mut().and_then(|all| all.shift_remove("shop"));
    input["properties"]["store"] = shop.expect("a property");
    input["required"] = json!(["text", "limit"]);
    tool["outputSchema"]["required"] = json!([]);
    let tools = new["tools"].as_array_mut().expect("a list");
    tools[2]["name"] = json!("showItem");
    new
}

fn text(value: &Json) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Compares two documents.
fn diff(old: &Json, new: &Json, options: &[&str]) -> Run {
    let folder = folder(&[("old.json", &text(old)), ("new.json", &text(new))]);
    let arguments = [&["diff", "old.json", "new.json"], options].concat();
    run_in(folder.path(), &arguments, b"")
}

#[test]
fn every_kind_of_change_is_shown_in_every_format() {
    for format in ["text", "json", "markdown"] {
        let run = diff(&manifest(), &changed_manifest(), &["--output-format", format]);
        // A removed tool and a patch step.
        assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
        insta::assert_snapshot!(format!("diff_as_{format}"), run.stdout);
    }
}

#[test]
fn the_same_definitions_have_no_changes() {
    let old = manifest();
    let run = diff(&old, &old, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, "nothing changed in 3 tools\nversion of new.json: 1.2.0 → 1.2.0\n");
    // Layout and the order of keys are not changes.
    let mut reordered = json!({ "tools": old["tools"], "description": old["description"] });
    for key in ["capabilities", "name", "btcp", "version"] {
        reordered[key] = old[key].clone();
    }
    let reordered = reordered.to_string();
    let folder = folder(&[("old.json", &text(&old)), ("new.json", reordered.as_bytes())]);
    let run = run_in(folder.path(), &["diff", "old.json", "new.json"], b"");
    assert!(run.stdout.starts_with("nothing changed"), "{}", run.stdout);
}

/// The new version that a change needs, and whether the exit status says that it was taken.
#[test]
fn the_declared_version_must_announce_the_changes() {
    let property = |new: &mut Json, name: &str, schema: Json| {
        new["tools"][0]["inputSchema"]["properties"][name] = schema;
    };
    type Change<'a> = &'a dyn Fn(&mut Json);
    let cases: &[(&str, Change<'_>, &str, i32)] = &[
        ("1.2.0", &|_| {}, "none", 0),
        ("1.2.1", &|new| new["tools"][0]["description"] = json!("Finds other items"), "patch", 0),
        ("1.2.0", &|new| new["tools"][0]["description"] = json!("Finds other items"), "patch", 1),
        ("1.3.0", &|new| property(new, "page", json!({ "type": "integer" })), "minor", 0),
        ("1.2.9", &|new| property(new, "page", json!({ "type": "integer" })), "minor", 1),
        ("1.3.0", &|new| property(new, "limit", json!({ "type": "integer" })), "minor", 0),
        ("1.3.0", &|new| property(new, "text", json!({ "type": "integer" })), "major", 1),
        ("2.0.0", &|new| property(new, "text", json!({ "type": "integer" })), "major", 0),
        (
            "1.3.0",
            &|new| new["tools"][0]["inputSchema"]["required"] = json!(["text", "limit"]),
            "major",
            1,
        ),
        ("1.3.0", &|new| new["tools"][0]["outputSchema"]["required"] = json!([]), "major", 1),
        ("1.3.0", &|new| new["tools"][1]["capabilities"] = json!(["dom:read"]), "major", 1),
        ("1.2.1", &|new| new["tools"][0]["capabilities"] = json!([]), "patch", 0),
        // A schema whose effect nothing decides: two patterns.
        (
            "1.3.0",
            &|new| {
                property(
                    new,
                    "text",
                    json!({ "type": "string", "maxLength": 80, "pattern": "^(?=a)" }),
                )
            },
            "major",
            1,
        ),
        (
            "1.3.0",
            &|new| {
                let tools = new["tools"].as_array_mut().expect("a list");
                let mut tool = tools[1].clone();
                tool["name"] = json!("newTool");
                tools.push(tool);
            },
            "minor",
            0,
        ),
        ("2.0.0", &|new| drop(new["tools"].as_array_mut().expect("a list").pop()), "major", 0),
        ("1.1.0", &|new| new["tools"][0]["description"] = json!("Finds other items"), "patch", 1),
        // A version that goes down is wrong by itself.
        ("1.1.0", &|_| {}, "none", 1),
    ];
    for (version, change, step, code) in cases {
        let mut new = manifest();
        change(&mut new);
        new["version"] = json!(version);
        let run = diff(&manifest(), &new, &["--output-format", "json"]);
        let found: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!((found["step"].as_str(), run.code), (Some(*step), *code), "{version} {found:#}");
    }
}

#[test]
fn without_a_declared_version_the_step_is_only_named() {
    let tool = |description: &str| {
        json!({ "tools": [{
            "name": "now", "description": description,
            "inputSchema": { "type": "object", "properties": {} }
        }]})
    };
    let run = diff(&tool("Returns the time in UTC"), &tool("Returns the time in seconds"), &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(run.stdout, @r"
    changed  now  (patch)
      description: `Returns the time in [-UTC-]{+seconds+}`
    1 tool changed: needs a new patch version
    ");
}

/// Edits that take each other back are not called wider or narrower.
#[test]
fn a_rewritten_schema_that_means_the_same_has_no_effect() {
    let tool = |schema: Json| {
        let input = json!({
            "type": "object", "properties": { "x": schema, "y": { "type": "string" } },
            "$defs": { "s": { "type": "string" } }
        });
        json!({ "tools": [{ "name": "t", "description": "Does it", "inputSchema": input }] })
    };
    let pair = json!([{ "type": "integer" }, { "type": "integer" }]);
    let cases = [
        (json!({ "const": "a" }), json!({ "enum": ["a"] })),
        (
            json!({ "type": ["string", "null"] }),
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
        ),
        (json!({ "type": "string" }), json!({ "$ref": "#/$defs/s" })),
        (
            json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 }),
            json!({ "type": "array", "prefixItems": pair, "items": false, "minItems": 2 }),
        ),
        (
            json!({ "type": "integer", "minimum": 5 }),
            json!({ "type": "integer", "exclusiveMinimum": 4 }),
        ),
    ];
    for (old, new) in cases {
        let run = diff(&tool(old), &tool(new), &[]);
        assert!(!run.stdout.contains("wider"), "{}", run.stdout);
        assert!(!run.stdout.contains("narrower"), "{}", run.stdout);
        assert!(run.stdout.contains("needs a new patch version"), "{}", run.stdout);
    }
    // Beside a change that does have an effect, too.
    let mut new = tool(json!({ "enum": ["a"] }));
    new["tools"][0]["inputSchema"]["properties"]["y"]["maxLength"] = json!(3);
    let run = diff(&tool(json!({ "const": "a" })), &new, &[]);
    let effects: Vec<&str> = run.stdout.lines().filter(|line| line.contains("rower")).collect();
    assert_eq!(effects.len(), 1, "{}", run.stdout);
    assert!(effects[0].contains("maxLength"), "{}", run.stdout);
}

/// A removed keyword is not called narrower because of what another edit refuses.
#[test]
fn the_effect_of_an_edit_is_its_own() {
    let tool = |schema: Json| {
        let tool = json!({ "name": "t", "description": "Does it", "inputSchema": schema });
        json!({ "tools": [tool] })
    };
    let text = json!({ "type": "string" });
    let old = tool(json!({
        "type": "object", "properties": { "id": text, "body": text },
        "required": ["id", "body"], "additionalProperties": false
    }));
    let new = tool(json!({
        "type": "object",
        "properties": {
            "id": text, "body": { "type": "string", "minLength": 1 },
            "mood": { "enum": ["good", "bad"] }
        },
        "required": ["id"]
    }));
    let run = diff(&old, &new, &[]);
    let narrower: Vec<&str> = run.stdout.lines().filter(|it| it.contains("narrower")).collect();
    assert_eq!(narrower.len(), 1, "{}", run.stdout);
    assert!(narrower[0].contains("minLength"), "{}", run.stdout);
    let removed = run.stdout.lines().find(|it| it.contains("`/additionalProperties` removed"));
    assert!(removed.is_some_and(|it| it.contains("wider")), "{}", run.stdout);
}

/// Versions of one tool, each with the name of a property of its own.
type VersionList<'v> = &'v [(&'v str, &'v str)];

/// A tool list with these versions of one tool.
fn versions(list: VersionList<'_>) -> Json {
    let tool = |(version, property): &(&str, &str)| {
        json!({
            "name": "greet", "namespace": "hello", "version": version,
            "description": "Greets a person by name",
            "inputSchema": { "type": "object", "properties": { (*property): { "type": "string" } },
                "additionalProperties": false }
        })
    };
    json!({ "tools": list.iter().map(tool).collect::<Vec<_>>() })
}

/// Versions of one tool are told apart: each is compared with itself, then with the next one of its
/// major version, then the newest with the newest.
#[test]
fn versions_of_one_tool_are_paired_by_version() {
    let one_and_two = [("1.0.0", "a"), ("2.0.0", "b")];
    let cases: [(VersionList<'_>, VersionList<'_>, &str); 6] = [
        // The order of the document does not matter.
        (&one_and_two, &[("2.0.0", "b"), ("1.0.0", "a")], "nothing changed in 2 tools\n"),
        (
            &one_and_two,
            &[("3.0.0", "c"), ("2.0.0", "b"), ("1.0.0", "a")],
            "added    hello:greet:3.0.0  (minor)\n1 tool added, 2 tools unchanged: needs a new \
             minor version\n",
        ),
        (
            &one_and_two,
            &[("2.0.0", "b")],
            "removed  hello:greet:1.0.0  (major)\n1 tool removed, 1 tool unchanged: breaking, \
             needs a new major version\n",
        ),
        (
            &one_and_two,
            &[("2.0.0", "b"), ("1.0.1", "a")],
            "changed  hello:greet:1.0.1\n  version: `\"1.0.0\"` → `\"1.0.1\"`\n1 tool changed, 1 tool \
             unchanged; only versions changed\nversion of hello:greet: 1.0.0 → 1.0.1\n",
        ),
        (
            &one_and_two,
            &[("1.0.0", "a"), ("3.0.0", "b")],
            "changed  hello:greet:3.0.0\n  version: `\"2.0.0\"` → `\"3.0.0\"`\n1 tool changed, 1 tool \
             unchanged; only versions changed\nversion of hello:greet: 2.0.0 → 3.0.0\n",
        ),
        (
            &[("1.0.0", "a")],
            &[("2.0.0", "a")],
            "changed  hello:greet\n  version: `\"1.0.0\"` → `\"2.0.0\"`\n1 tool changed; only versions \
             changed\nversion of hello:greet: 1.0.0 → 2.0.0\n",
        ),
    ];
    for (old, new, expected) in cases {
        let run = diff(&versions(old), &versions(new), &[]);
        assert_eq!((run.stdout.as_str(), run.code), (expected, 0), "{old:?} {new:?} {run:?}");
    }
    // An earlier version that was added is not what the removed one became.
    let run = diff(&versions(&one_and_two), &versions(&[("0.9.0", "a"), ("2.0.0", "b")]), &[]);
    assert!(run.stdout.contains("added    hello:greet:0.9.0"), "{}", run.stdout);
    assert!(run.stdout.contains("removed  hello:greet:1.0.0"), "{}", run.stdout);
    // A version that was changed in place is one that callers use.
    let run = diff(&versions(&one_and_two), &versions(&[("1.0.0", "z"), ("2.0.0", "b")]), &[]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("changed  hello:greet:1.0.0  (major)"), "{}", run.stdout);
    assert!(run.stdout.contains("still 1.0.0, a new major version is needed"), "{}", run.stdout);
}

#[test]
fn a_live_server_is_compared_with_a_file() {
    let folder = folder(&[]);
    let server = faulty_server();
    let listed = run_in(folder.path(), &["show", "--json", "--", &server, "mcp", "good"], b"");
    let record: Json = serde_json::from_str(&listed.stdout).expect("JSON");
    let tools: Vec<Json> = record["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| {
            json!({
                "name": tool["name"], "description": tool["description"],
                "inputSchema": tool["inputSchema"]
            })
        })
        .collect();
    assert!(!tools.is_empty(), "{}", listed.stderr);
    let mut saved = json!({ "tools": tools });
    saved["tools"][0]["inputSchema"] =
        json!({ "type": "object", "properties": { "x": {} }, "required": ["x"] });
    std::fs::write(folder.path().join("saved.json"), saved.to_string()).expect("a file");
    let run = run_in(
        folder.path(),
        &["diff", "--output-format", "json", "saved.json", "--", &server, "mcp", "good"],
        b"",
    );
    let found: Json = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!((run.code, &found["versions"]), (0, &json!([])), "{found:#}");
    let ids: Vec<&Json> =
        found["tools"].as_array().expect("a list").iter().map(|t| &t["id"]).collect();
    assert!(ids.contains(&&saved["tools"][0]["name"]), "{found:#}");
    let first = found["tools"]
        .as_array()
        .and_then(|all| all.iter().find(|t| t["id"] == saved["tools"][0]["name"]));
    assert_eq!(first.map(|tool| &tool["change"]), Some(&json!("changed")), "{found:#}");
}

/// Runs git in a folder, with nothing of the settings of this machine.
fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs with git to be found.
fn run_with_git(folder: &Path, arguments: &[&str]) -> Run {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = toolwright();
    command.current_dir(folder).env("PATH", path).args(arguments);
    Run::of(command.stdin(Stdio::null()).output().expect("the binary runs"))
}

#[test]
fn files_and_folders_of_a_revision_are_read_by_git() {
    let mut other = manifest();
    other["name"] = json!("other");
    let folder = folder(&[
        ("tools/shop.json", &text(&manifest())),
        ("tools/other.json", &text(&other)),
        ("tools/package.json", b"{\"private\": true}"),
    ]);
    let at = folder.path();
    git(at, &["init", "--quiet"]);
    git(at, &["add", "."]);
    git(at, &["commit", "--quiet", "-m", "first"]);
    git(at, &["tag", "v1.2.0"]);
    std::fs::write(at.join("tools/shop.json"), text(&changed_manifest())).expect("a file");
    let run = run_with_git(at, &["diff", "HEAD:tools/shop.json", "tools/shop.json"]);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{}", run.stdout);
    let same = diff(&manifest(), &changed_manifest(), &[]).stdout;
    assert_eq!(run.stdout, same.replace("new.json", "tools/shop.json"));
    let run = run_with_git(at, &["diff", "v1.2.0:tools/shop.json", "HEAD:tools/shop.json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.starts_with("nothing changed in 3 tools"), "{}", run.stdout);
    // A folder: a file that is not a definition is left out.
    let run = run_with_git(at, &["diff", "HEAD:tools", "tools"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("showItem"), "{}", run.stdout);
    assert!(run.stdout.contains("unchanged"), "{}", run.stdout);
    for (word, reason) in [
        ("v9:tools/shop.json", "cannot read `v9:tools/shop.json`"),
        ("HEAD:tools/none.json", "cannot read `HEAD:tools/none.json`"),
    ] {
        let run = run_with_git(at, &["diff", word, "tools/shop.json"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }
}

#[test]
fn a_side_that_cannot_be_read_is_an_error() {
    let folder = folder(&[("good.json", &text(&manifest())), ("other.json", b"{\"a\": 1}")]);
    let run = |arguments: &[&str]| run_in(folder.path(), arguments, b"");
    for (arguments, reason) in [
        (["diff", "good.json", "none.json"], "none.json"),
        (["diff", "none.json", "good.json"], "none.json"),
        (["diff", "good.json", "other.json"], "other.json"),
        (["diff", "-", "-"], "only one of the two can be standard input"),
    ] {
        let run = run(&arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?} {run:?}");
        assert!(run.stderr.contains(reason), "{arguments:?} {}", run.stderr);
    }
    // Standard input is a side like any other.
    let piped = run_in(folder.path(), &["diff", "-", "good.json"], &text(&manifest()));
    assert_eq!(piped.code, 0, "{piped:?}");
    // A definition with an error is compared as far as it can be read.
    let mut broken = manifest();
    broken["tools"][1]["inputSchema"] = json!({ "type": "objekt" });
    let run = diff(&manifest(), &broken, &[]);
    assert!(run.stdout.contains("perhaps narrower"), "{}", run.stdout);
    assert_eq!(run.code, 1, "a schema that cannot be compared needs a major version");
}
