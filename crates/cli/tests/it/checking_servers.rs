//! `check` of running servers and of files that list servers: whom a finding is about, and where it
//! is shown.

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::checking::{NOW, assert_one_line, objects};
use crate::client::{UpstreamServer, faulty_server};
use crate::program::{Run, folder};

/// The mistakes of `faulty-server mcp bad-list`, by tool and by pointer into its answer. `file` and
/// `line` are those of the entry that names the server, or null.
fn in_the_bad_list(run: &Run, source: &str, file: Json, line: Json) {
    let errors: Vec<Json> = objects(run).into_iter().filter(|o| o["severity"] == "error").collect();
    let text = |o: &Json, key: &str| o[key].as_str().unwrap_or("").to_owned();
    let places: Vec<_> =
        errors.iter().map(|o| ["code", "tool", "path"].map(|key| text(o, key))).collect();
    assert_eq!(
        places,
        [
            ["MISSING_REQUIRED_FIELD", "", "/tools/2/name"],
            ["EXTERNAL_REF", "external_ref", "/tools/3/inputSchema/properties/x/$ref"],
        ],
        "{run:?}"
    );
    for error in &errors {
        let place = (&error["source"], &error["file"], &error["start"]["line"]);
        assert_eq!(place, (&json!(source), &file, &line), "{error}");
    }
}

#[test]
fn running_servers_are_checked() {
    let folder = folder(&[]);
    let program = faulty_server();
    let command = run(
        folder.path(),
        &["check", "--output-format", "json", "--", &program, "mcp", "bad-list"],
    );
    assert_eq!((command.code, command.stderr.as_str()), (1, ""));
    in_the_bad_list(&command, &format!("-- {program}"), Json::Null, Json::Null);
    // The server has the same findings over HTTP.
    let upstream = UpstreamServer::start("good");
    let url = run(folder.path(), &["check", "--output-format", "json", &upstream.url]);
    let same =
        run(folder.path(), &["check", "--output-format", "json", "--", &program, "mcp", "good"]);
    assert_eq!((url.code, url.stderr.as_str()), (0, ""), "{url:?}");
    assert!(objects(&url).iter().any(|o| o["path"] == "/tools/1/inputSchema"), "{url:?}");
    assert_eq!(url.stdout, same.stdout.replace(&format!("-- {program}"), &upstream.url));
    let config =
        format!("\n[[source]]\nname = \"up\"\ncommand = [\"{program}\", \"mcp\", \"bad-list\"]\n");
    std::fs::write(folder.path().join("toolwright.toml"), config).expect("a file");
    let check = ["check", "--output-format", "json", "toolwright.toml"];
    let configured = run(folder.path(), &check);
    assert_eq!((configured.code, configured.stderr.as_str()), (1, ""));
    in_the_bad_list(&configured, "up", json!("toolwright.toml"), json!(2));
    // A server has no file that could be fixed.
    let fixed = run(folder.path(), &[&check[..], &["--fix", "--unsafe-fixes"]].concat());
    assert_eq!((fixed.code, fixed.stdout), (1, configured.stdout));
    let said = "fixes change files: the tools of `up` can only be fixed where they are made\n";
    assert!(fixed.stderr.ends_with(said), "{}", fixed.stderr);
}

#[test]
fn servers_files_are_checked_and_keep_their_secrets() {
    const SECRET: &str = "tok-9f8e7d6c";
    let program = faulty_server();
    let servers = json!({"mcpServers": {
        "bad": {"command": program, "args": ["mcp", "bad-list"], "env": {"TOKEN": SECRET}},
        "gone": {"command": "/no/such/program", "env": {"TOKEN": SECRET}},
        "far": {"url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": SECRET}},
        "unset": {"command": "${NOT_SET}", "env": {"TOKEN": SECRET}},
    }});
    // The file is one line, so that showing any line would show all of it.
    let folder =
        folder(&[(".mcp.json", servers.to_string().as_bytes()), ("now.json", NOW.as_bytes())]);
    for form in ["full", "concise", "json", "sarif", "github"] {
        let run = run(folder.path(), &["check", ".mcp.json", "now.json", "--output-format", form]);
        assert_eq!(run.code, 2, "{form}");
        assert!(!format!("{run:?}").contains(SECRET), "{form}: {run:?}");
        // A program that is missing is found without an attempt to start it.
        for code in ["EXTERNAL_REF", "UNSET_VARIABLE", "COMMAND_NOT_FOUND"] {
            assert!(run.stdout.contains(code), "{form}: {run:?}");
        }
        let sentences: Vec<&str> = run.stderr.lines().collect();
        assert_eq!(sentences.len(), 1, "{form}: {run:?}");
        assert!(sentences[0].starts_with("toolwright: far: UPSTREAM_UNAVAILABLE"), "{run:?}");
    }
    let concise =
        run(folder.path(), &["check", ".mcp.json", "now.json", "--output-format", "concise"]);
    assert!(
        concise.stdout.contains(
            "6 tools of 1 server and 1 file, without 3 other servers (not started: gone, unset): "
        ),
        "{concise:?}"
    );
    // A server that cannot be reached is one line, and the others are checked.
    let alone = run(folder.path(), &["check", "http://127.0.0.1:1/mcp", "now.json"]);
    assert_one_line(&alone, &["UPSTREAM_UNAVAILABLE", "no server listens at this address"]);
    assert_eq!(alone.stdout, "1 tool in 1 file: nothing to report\n");
}

/// Tools of a server are findings of the entry that starts it, and findings about the entry itself
/// belong to the same source.
#[test]
fn findings_of_a_server_are_anchored_at_its_entry() {
    let program = faulty_server();
    let servers = format!(
        "{{\"mcpServers\": {{\n  \"good\": {{\"command\": \"{program}\", \"args\": [\"mcp\", \"good\"]}},\n  \
         \"my bad\": {{\"command\": \"{program}\", \"args\": [\"mcp\", \"bad-list\"], \"cmd\": 1}}\n}}}}"
    );
    let folder = folder(&[(".mcp.json", servers.as_bytes())]);
    let checked = |form| run(folder.path(), &["check", ".mcp.json", "--output-format", form]);
    let json = checked("json");
    in_the_bad_list(&json, "my-bad", json!(".mcp.json"), json!(3));
    let objects = objects(&json);
    let of = |code: &str| objects.iter().find(|o| o["code"] == code).expect(code);
    let entry = of("UNKNOWN_FIELD");
    assert_eq!(
        (&entry["source"], &entry["tool"], &entry["file"]),
        (&json!("my-bad"), &Json::Null, &json!(".mcp.json"))
    );
    let place = ".mcp.json:3:3: error[EXTERNAL_REF]: my-bad › external_ref › properties.x.$ref: ";
    assert!(checked("concise").stdout.contains(place), "{}", checked("concise").stdout);
    insta::assert_snapshot!("output_full_of_servers", checked("full").stdout);
    for (form, start) in [("github", "file="), ("sarif", "\"uri\": \"")] {
        let run = checked(form);
        let files: Vec<&str> = run
            .stdout
            .split(start)
            .skip(1)
            .filter_map(|rest| rest.split([',', '"']).next())
            .collect();
        assert!(!files.is_empty() && files.iter().all(|file| *file == ".mcp.json"), "{run:?}");
    }
}
