//! Commands without a source: what they find, what they ask before they start it, and what they
//! print where nobody can answer. Also a configuration that is named as a source.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value as Json, json};

use crate::calling::{run, terminal};
use crate::client::{faulty_server, run_with, script};
use crate::program::{folder, run_in};

/// A folder with these files and a program `server`, an MCP server that leaves the file `started`.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let folder = folder(&files);
    let server =
        format!("#!/bin/sh\ntouch \"${{0%/*}}/started\"\nexec {} mcp good\n", faulty_server());
    script(&folder.path().join("server"), &server);
    folder
}

/// Whether the server was started since the last time.
fn was_started(folder: &Path) -> bool {
    std::fs::remove_file(folder.join("started")).is_ok()
}

/// The output of a run on a terminal at which this answer is typed, and its exit code.
fn answered(folder: &Path, args: &[&str], answer: &str) -> (String, i32) {
    answered_in(folder, args, &[], answer)
}

/// The same, with these variables.
pub(crate) fn answered_in(
    folder: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
    answer: &str,
) -> (String, i32) {
    let mut command = terminal(folder, args, "");
    command.envs(variables.iter().copied()).stdin(Stdio::piped());
    let mut child = command.spawn().expect("`script` is installed");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(answer.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    let text = String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n");
    (text, output.status.code().expect("not killed by a signal"))
}

const SERVERS: &str = r#"{"mcpServers": {"up": {"command": "./server", "args": ["${WORD:-x}"]}}}"#;
const CONFIG: &str = "[[source]]\nname = \"up\"\ncommand = \"./server\"\n";
const TOOL: &str = r#"{"name": "now", "description": "Tells the time.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false}}"#;

#[test]
fn a_servers_file_that_was_only_found_starts_nothing() {
    for (file, text) in [
        (".mcp.json", SERVERS.to_owned()),
        (".vscode/mcp.json", SERVERS.replace("mcpServers", "servers")),
    ] {
        let folder = project(&[(file, &text)]);
        for command in ["list", "show", "check", "test"] {
            let found = run(folder.path(), &[command]);
            let words = format!("to start them: `toolwright {command} {file}`\n");
            assert_eq!((found.code, found.stdout.as_str()), (2, ""), "{found:?}");
            assert!(found.stderr.ends_with(&words), "{found:?}");
            assert_eq!(found.stderr.lines().count(), 1, "{found:?}");
            assert!(!was_started(folder.path()), "{command} has started it");
        }
        // Nothing has to be asked where nothing is started.
        let unstarted = run(folder.path(), &["check", "--no-start"]);
        assert_eq!(unstarted.stderr, format!("toolwright: reading `{file}`\n"), "{unstarted:?}");
        assert!(unstarted.stdout.contains("not started: 1 server"), "{unstarted:?}");
        assert!(!was_started(folder.path()));
        let named = run(folder.path(), &["list", file]);
        assert!(named.code == 0 && named.stdout.contains("up:add"), "{named:?}");
        assert!(was_started(folder.path()));
    }
}

/// The command that is printed does what was asked for.
#[test]
fn the_command_that_starts_what_was_found_keeps_the_options() {
    for (file, text) in [(".mcp.json", SERVERS), ("toolwright.toml", CONFIG)] {
        let folder = project(&[(file, text)]);
        for (given, kept) in [
            (&["check", "--output-format", "json"][..], "check --output-format json"),
            (&["check", "--target", "gemini", "--notes"], "check --target gemini --notes"),
            (&["list", "--tool", "a b's"], r"list --tool 'a b'\''s'"),
            (&["convert", "--to", "openai"], "convert --to openai"),
        ] {
            let found = run(folder.path(), given);
            let words = format!("to start them: `toolwright {kept} {file}`\n");
            assert!(found.code == 2 && found.stderr.ends_with(&words), "{found:?}");
            assert!(!was_started(folder.path()));
        }
        // The printed command works as it is.
        let found = run(folder.path(), &["list", "--tool", "up:add"]);
        let printed = found.stderr.split('`').nth(3).expect("a command").to_owned();
        let words: Vec<&str> = printed.split(' ').skip(1).collect();
        let named = run(folder.path(), &words);
        assert!(named.code == 0 && named.stdout.starts_with("up:add "), "{printed}: {named:?}");
        assert_eq!(named.stdout.lines().count(), 1, "{named:?}");
    }
}

#[test]
fn on_a_terminal_the_person_decides() {
    let folder = project(&[(".mcp.json", SERVERS)]);
    for (answer, starts) in [("n\n", false), ("\n", false), ("yes please\n", false), ("y\n", true)]
    {
        let (text, code) = answered(folder.path(), &["list"], answer);
        assert!(
            text.contains(
                "`.mcp.json` was found here and would start:\n  up  ./server ${WORD:-x}\n"
            ),
            "{text}"
        );
        assert!(text.contains("Start them? [y/N]"), "{text}");
        assert_eq!(
            (code, text.contains("up:add")),
            if starts { (0, true) } else { (2, false) },
            "{text}"
        );
        assert_eq!(was_started(folder.path()), starts, "{answer:?}: {text}");
    }
    let (text, code) = answered(folder.path(), &["check"], "n\n");
    assert!(code == 2 && text.contains("nothing was started"), "{text}");
}

/// What a question quotes cannot control the terminal, and shows no values of variables.
#[test]
fn a_question_shows_no_control_characters_and_no_secrets() {
    let hostile = json!({"mcpServers": {
        "a": {"command": "/bin/sh",
            "args": ["evil\u{1b}[2J\u{1b}[1A\rgood\u{202e}", "x\ny", "${HOME}"]},
        "b": {"url": "https://user:tok-9f8e@example.com/mcp?key=tok-9f8e"},
        "c": {"url": "${ADDRESS}"},
        "d": {"command": "off", "disabled": true},
    }});
    let folder = project(&[(".mcp.json", &hostile.to_string())]);
    let mut command = terminal(folder.path(), &["list"], "");
    command.env("HOME", "/home/tok-9f8e").env("ADDRESS", "https://tok-9f8e.example.com");
    let mut child = command.stdin(Stdio::piped()).spawn().expect("`script` is installed");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"n\n").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n");
    assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    assert!(!text.contains("tok-9f8e"), "{text}");
    for part in ["  a  /bin/sh evil", "x y ${HOME}\n", "  b  a connection to https://", "  c  "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("off"), "{text}");
}

#[test]
fn a_configuration_is_found_and_named() {
    let folder = project(&[("toolwright.toml", CONFIG), ("sub/x.txt", "")]);
    let sub = folder.path().join("sub");
    for command in ["list", "show", "check", "test", "cost"] {
        let found = run(folder.path(), &[command]);
        let words = format!("to start them: `toolwright {command} toolwright.toml`\n");
        assert!(found.code == 2 && found.stderr.ends_with(&words), "{found:?}");
        assert!(!was_started(folder.path()), "{command} has started it");
    }
    let below = run(&sub, &["list"]);
    assert!(below.stderr.contains("`toolwright list ../toolwright.toml`"), "{below:?}");
    // Nothing has to be asked where nothing is started.
    let unstarted = run(folder.path(), &["check", "--no-start"]);
    assert_eq!(
        (unstarted.code, unstarted.stderr.as_str()),
        (0, "toolwright: reading `toolwright.toml`\n")
    );
    assert!(unstarted.stdout.ends_with("not started: 1 server\n"), "{unstarted:?}");
    assert!(!was_started(folder.path()), "{unstarted:?}");
    // `call` and `serve` are what it is written for.
    let call = run(folder.path(), &["call", "up:add", "a=1", "b=2"]);
    assert_eq!((call.code, call.stderr.as_str()), (0, ""), "{call:?}");
    assert!(was_started(folder.path()));
    for command in ["check", "test"] {
        let (text, code) = answered(folder.path(), &[command], "n\n");
        assert!(code == 2 && text.contains("nothing was started"), "{text}");
        assert!(!was_started(folder.path()), "{text}");
        let (text, _) = answered(folder.path(), &[command], "y\n");
        assert!(text.contains("toolwright: reading `toolwright.toml`\n"), "{text}");
        assert!(was_started(folder.path()), "{command} has not started it: {text}");
    }
    for args in [
        &["list", "toolwright.toml"][..],
        &["list", "--config", "toolwright.toml"],
        &["show", "toolwright.toml"],
        &["check", "toolwright.toml"],
        &["check", "--config", "toolwright.toml"],
        &["call", "--from", "toolwright.toml", "up:add", "a=1", "b=2"],
    ] {
        let named = run(folder.path(), args);
        assert_eq!((named.code, named.stderr.as_str()), (0, ""), "{args:?}");
        assert!(was_started(folder.path()), "{args:?}");
    }
    let (text, _) = answered(folder.path(), &["list"], "y\n");
    assert!(was_started(folder.path()) && text.contains("up:add"), "{text}");
}

/// What lies in `/tmp` could be anybody's, and would decide what is started in all folders below.
#[test]
fn a_configuration_of_another_user_in_an_open_folder_has_to_be_named() {
    let folder = project(&[("toolwright.toml", CONFIG), ("sub/x.txt", "")]);
    let path = folder.path().join("toolwright.toml");
    // Only root can give a file away.
    if std::os::unix::fs::chown(&path, Some(65_534), None).is_err() {
        return;
    }
    let open = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), mode).expect("its owner may");
    };
    let call = &["call", "up:add", "a=1", "b=2"][..];
    open(0o1777);
    for below in ["", "sub"] {
        for args in [call, &["serve"], &["list"], &["check"], &["doctor"]] {
            let refused = run(&folder.path().join(below), args);
            assert_eq!(refused.code, 2, "{args:?}: {refused:?}");
            refused.assert_on_stderr("toolwright.toml` belongs to another user and lies in a");
            assert!(!was_started(folder.path()), "{args:?}");
        }
    }
    let named = [call, &["--config", "toolwright.toml"]].concat();
    assert_eq!(run(folder.path(), &named).code, 0);
    assert!(was_started(folder.path()));
    // Nobody else can put anything here.
    open(0o755);
    assert_eq!(run(folder.path(), call).code, 0);
    assert!(was_started(folder.path()));
    // One's own.
    open(0o1777);
    std::os::unix::fs::chown(&path, Some(0), None).expect("root may");
    assert_eq!(run(folder.path(), call).code, 0);
    assert!(was_started(folder.path()));
}

#[test]
fn a_configuration_of_files_is_read_without_a_question() {
    let config = "[[source]]\nname = \"here\"\npath = \"now.json\"\n";
    let folder =
        project(&[("toolwright.toml", config), ("now.json", TOOL), (".mcp.json", SERVERS)]);
    let list = run(folder.path(), &["list"]);
    assert_eq!(
        (list.code, list.stdout.as_str(), list.stderr.as_str()),
        (0, "now  mcp  Tells the time.\n", "toolwright: reading `toolwright.toml`\n")
    );
    let quiet = run(folder.path(), &["list", "-q"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
    let json = run(folder.path(), &["show", "--output-format", "json"]);
    assert_eq!((json.code, json.stderr.as_str()), (0, ""), "stderr holds objects only");
    assert_eq!(
        run(folder.path(), &["list", "toolwright.toml", "now.json"]).stdout.lines().count(),
        1,
        "a file that is named twice is read once"
    );
    // A configuration that names no source leaves the choice to the servers file.
    std::fs::write(folder.path().join("toolwright.toml"), "[limits]\ntimeout = 1000\n")
        .expect("a file");
    let found = run(folder.path(), &["list"]);
    assert!(found.code == 2 && found.stderr.contains("`toolwright list .mcp.json`"), "{found:?}");
    assert!(!was_started(folder.path()));
}

/// The mistakes of a configuration are those of `check`: `list` only counts them.
#[test]
fn a_broken_configuration_is_reported_by_all_commands() {
    let config = "[[source]]\nname = \"here\"\npath = \"now.json\"\nfromat = \"mcp\"\n";
    let folder = project(&[("toolwright.toml", config), ("now.json", TOOL)]);
    for args in [&["list"][..], &["list", "toolwright.toml"]] {
        let list = run(folder.path(), args);
        assert_eq!(list.code, 1, "{list:?}");
        let words = "toolwright: 1 error: `toolwright check toolwright.toml` shows it\n";
        assert!(list.stderr.ends_with(words), "{list:?}");
    }
    let check = run(folder.path(), &["check", "toolwright.toml"]);
    assert!(check.stdout.contains("unknown key `fromat`"), "{check:?}");
}

#[test]
fn list_shows_the_first_paragraph_on_one_line() {
    let long = "ein Wort und\n".repeat(20);
    let descriptions = [
        ("wrapped", "Shows a workbook, module by\n  module.\n\nMore.", "module by module."),
        ("labelled", "\n Purpose:\n\n  1. Finds orders.\n\nOften", "Purpose: 1. Finds orders."),
        ("titled", "# Orders\n\nFinds orders.\n\n## More\nMuch", "Orders Finds orders."),
        ("plain", "Finds orders.\n\n# Usage\nOften", "Finds orders."),
        ("label_only", "Purpose:", "Purpose:"),
        ("empty", "", "mcp"),
        ("long", long.as_str(), "ein Wort und ein Wort und e…"),
    ];
    let schema = json!({ "type": "object" });
    let tools: Vec<Json> = descriptions
        .iter()
        .map(|(name, text, _)| json!({"name": name, "description": text, "inputSchema": schema}))
        .collect();
    let list = json!({ "tools": tools }).to_string();
    let here = folder(&[("list.json", list.as_bytes())]);
    let listed = run_in(here.path(), &["list", "-q", "list.json"], b"");
    assert_eq!(listed.stdout.lines().count(), descriptions.len(), "{listed:?}");
    for ((name, _, end), line) in descriptions.iter().zip(listed.stdout.lines()) {
        assert!(line.starts_with(name) && line.ends_with(end), "{line}");
    }
}

#[test]
fn list_filters_tools_and_counts_problems() {
    let tool = |name: &str, rest: &str| {
        format!(
            "{{\"name\": \"{name}\", \"description\": \"Does a thing to the page.\", \"inputSchema\": {{\"type\": \"object\"}}, \
             \"capabilities\": [\"dom:read\"]{rest}}}"
        )
    };
    let tools = [
        tool("plain", ""),
        tool("tagged", ", \"tags\": [\"web-search\", \"fast\"]"),
        tool("old", ", \"deprecated\": true, \"deprecationMessage\": \"use plain\""),
        tool("writes", "").replace("dom:read", "dom:write"),
        tool("bad", "").replace("\"object\"", "\"objekt\""),
    ];
    let page = format!(
        "{{\"btcp\": \"1.0\", \"name\": \"page\", \"version\": \"1.0.0\", \
         \"capabilities\": [\"dom:read\", \"dom:write\"], \"tools\": [{}]}}",
        tools.join(", ")
    );
    let folder = folder(&[
        ("page.json", page.as_bytes()),
        ("broken.json", b"{\"name\": 3, \"inputSchema\": {},}"),
    ]);
    let listed = |args: &[&str]| {
        let list = run(folder.path(), &[&["list", "page.json"], args].concat());
        // The schema of one tool is an error, whichever tools are listed.
        assert_eq!((list.code, list.stderr.contains('^')), (1, false), "{list:?}");
        let ids = list.stdout.lines().filter_map(|line| line.split_whitespace().next());
        ids.map(|id| id.trim_start_matches("page:").to_owned()).collect::<Vec<_>>().join(" ")
    };
    for (args, expected) in [
        (&[][..], "plain tagged old writes bad"),
        (&["--tag", "fast"], "tagged"),
        (&["--tag", "Web-Search", "--tag", "fast"], "tagged"),
        (&["--tag", "fast", "--deprecated"], ""),
        (&["--capability", "dom:write"], "writes"),
        (&["--deprecated"], "old"),
    ] {
        assert_eq!(listed(args), expected, "{args:?}");
    }
    let nothing = run(folder.path(), &["list", "page.json", "--tag", "none"]);
    assert!(nothing.stderr.starts_with("toolwright: no tool of 5 matches\n"), "{nothing:?}");
    let all = run(folder.path(), &["list", "page.json"]);
    assert!(all.stdout.contains("[inputSchema not usable] Does a thing to the page.\n"), "{all:?}");
    assert!(all.stdout.contains("[deprecated: use plain] Does a thing to the page.\n"), "{all:?}");
    let show = run(folder.path(), &["show", "page.json"]);
    assert!(
        show.stdout.contains("  input       not usable: invalid schema at `/type`"),
        "{show:?}"
    );
    let broken = run(folder.path(), &["list", "broken.json"]);
    assert_eq!(broken.code, 1);
    assert_eq!(broken.stderr, "toolwright: 3 errors: `toolwright check broken.json` shows them\n");
    let quiet = run(folder.path(), &["list", "--quiet", "broken.json"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (1, ""));
}

#[test]
fn show_prints_the_time_limit_that_holds() {
    let page = r#"{"btcp": "1.0", "name": "page", "version": "1.0.0", "capabilities": [], "tools": [
        {"name": "slow", "description": "Does a thing to the page.", "inputSchema": {"type": "object"}, "capabilities": [], "timeout": 60000},
        {"name": "plain", "description": "Does a thing to the page.", "inputSchema": {"type": "object"}, "capabilities": []}]}"#;
    let folder = folder(&[("page.json", page.as_bytes())]);
    let limits = |args: &[&str]| {
        let show = run(folder.path(), &[&["show", "page.json"], args].concat());
        let rows = show.stdout.lines().filter_map(|line| line.strip_prefix("  time limit  "));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(limits(&[]), ["60 s", "30 s"]);
    std::fs::write(folder.path().join("toolwright.toml"), "[limits]\nmax_timeout = 10000\n")
        .expect("a file");
    assert_eq!(limits(&[]), ["10 s (it asks for 60 s)", "10 s"]);
    let json = run(folder.path(), &["show", "--json", "page.json"]);
    let record: Json = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(
        record["tools"][0]["limits"],
        json!({"timeoutMs": 10000, "declaredTimeoutMs": 60000})
    );
    std::fs::write(folder.path().join("other.toml"), "[limits]\ntimeout = 2000\n").expect("a file");
    assert_eq!(limits(&["--config", "other.toml"]), ["60 s", "2 s"]);
    std::fs::write(folder.path().join("other.toml"), "[limits]\ntimeout = 0\n").expect("a file");
    let wrong = run(folder.path(), &["show", "page.json", "--config", "other.toml"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("OUT_OF_RANGE"), "{wrong:?}");
}

/// Mistakes are shown although nothing is started.
#[test]
fn a_configuration_that_is_not_started_shows_its_mistakes() {
    let config = format!("{CONFIG}\n[[source]]\nname = \"x\"\nmcp = \".mcp.json\"\nonly = 1\n");
    let folder = project(&[("toolwright.toml", &config), (".mcp.json", SERVERS)]);
    for command in ["check", "list", "show", "test", "cost"] {
        let found = run(folder.path(), &[command]);
        assert_eq!(found.code, 2, "{found:?}");
        assert_eq!(found.stderr.matches("unknown key `only`").count(), 1, "{found:?}");
        assert!(found.stderr.contains("not started without your consent"), "{found:?}");
        assert!(!was_started(folder.path()), "{command} has started it");
    }
}

/// A run without examples is neither a success nor a failed example.
#[test]
fn a_test_run_without_examples_is_not_a_success() {
    let folder = project(&[("now.json", TOOL), ("mcp.json", SERVERS)]);
    for (source, tools) in [("now.json", "1 tool"), ("mcp.json", "14 tools")] {
        for form in ["tree", "json", "junit"] {
            let test = run_with(folder.path(), &["test", source, "--output-format", form], &[], "");
            assert_eq!(test.code, 2, "{test:?}");
            let words =
                format!("toolwright: there is nothing to test: {tools} without an example\n");
            assert_eq!(test.stderr, words, "{source}");
            // Programs read a document without examples; a person reads the sentence alone.
            assert_eq!(test.stdout.is_empty(), form == "tree", "{test:?}");
        }
    }
}
