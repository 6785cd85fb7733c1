//! What a person meets in the first hour: words in the wrong place, servers that do not start, and
//! options that are tried because other programs have them. Each is answered with what to type.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::calling::{run, terminal};
use crate::client::{
    LONG, RunningProgram, StdioClient, faulty_server, process_tool, run_with, script, until,
};
use crate::program::folder;

/// A folder with an `.mcp.json` of these servers, where `SERVER` stands for a good one.
fn project(servers: &Json) -> tempfile::TempDir {
    let text = json!({ "mcpServers": servers }).to_string();
    let folder = folder(&[(".mcp.json", text.as_bytes())]);
    let server = format!("#!/bin/sh\nexec {} mcp good\n", faulty_server());
    script(&folder.path().join("server"), &server);
    folder
}

/// Runs, and compares the exit code; every one of the texts is in the output.
fn expect(folder: &Path, args: &[&str], code: i32, texts: &[&str]) {
    let run = run(folder, args);
    assert_eq!(run.code, code, "{args:?}: {run:?}");
    for text in texts {
        assert!((run.stdout.clone() + &run.stderr).contains(text), "{args:?}: {text}: {run:?}");
    }
}

#[test]
fn call_and_serve_name_the_servers_file_that_is_here() {
    let here = project(&json!({ "up": {"command": "./server"} }));
    let here = here.path();
    expect(here, &["serve"], 2, &["`toolwright serve .mcp.json`", "`toolwright init`"]);
    expect(here, &["call", "up:add", "a=1"], 2, &["`toolwright call up:add --from .mcp.json`"]);
    let elsewhere = folder(&[]);
    let texts = ["`toolwright init`", "`toolwright call x --from SOURCE`"];
    expect(elsewhere.path(), &["call", "x"], 2, &texts);
    // A source in the place of the id.
    let meant = "is a file, and the id of a tool is expected here: `toolwright call";
    expect(
        here,
        &["call", ".mcp.json", "up:add", "a=1"],
        2,
        &[meant, "call up:add --from .mcp.json`"],
    );
    expect(here, &["call", ".mcp.json"], 2, &[meant, "call ID --from .mcp.json`"]);
    let url = run(here, &["call", "https://example.com/mcp?key=secret", "add"]);
    assert!(url.code == 2 && url.stderr.contains("is a URL, and the id of a tool"), "{url:?}");
    assert!(!url.stderr.contains("secret"), "{url:?}");
    // A file may have the name of a tool.
    std::fs::write(here.join("echo"), "").expect("a file");
    expect(here, &["call", "echo", "--from", ".mcp.json"], 0, &[]);
}

#[test]
fn serve_takes_sources_as_words() {
    let here = project(&json!({ "up": {"command": "./server"} }));
    let mut client = StdioClient::start(here.path(), &[".mcp.json"], &[]);
    assert!(client.names().contains(&"up__add".to_owned()));
    drop(client);
    expect(here.path(), &["serve", ".mcp.json", "--config", "x.toml"], 2, &["cannot be used with"]);
    let texts = ["`8080` is not an address; write `127.0.0.1:8080`"];
    expect(here.path(), &["serve", ".mcp.json", "--http", "8080"], 2, &texts);
}

#[test]
fn servers_that_are_not_started_are_counted_and_named() {
    let servers = json!({
        "up": {"command": "./server"},
        "unset": {"command": "./server", "env": {"KEY": "${NOT_SET_HERE}"}},
        "missing": {"command": "./no-such-server"},
        "off": {"command": "./server", "disabled": true},
    });
    let here = project(&servers);
    let here = here.path();
    let summary = "14 tools of 1 server, without 3 other servers (not started: unset, missing; disabled: off): ";
    expect(here, &["check", ".mcp.json"], 1, &[summary]);
    let unstarted = run(here, &["check", "--no-start", ".mcp.json"]);
    assert!(unstarted.stdout.contains("not started: 3 servers\n"), "{unstarted:?}");
    assert!(!unstarted.stdout.contains(" of 4 servers"), "{unstarted:?}");
    // A call says why its server was not started, and not that there is no such tool.
    for (id, why) in [
        ("unset", ".mcp.json:1:87: error[UNSET_VARIABLE]: environment variable `NOT_SET_HERE`"),
        ("missing", ".mcp.json:1:128: error[COMMAND_NOT_FOUND]: there is no program"),
        ("off", "it is disabled"),
    ] {
        let args = ["call", &format!("{id}:add"), "--from", ".mcp.json", "a=1", "b=2"];
        let call = run(here, &args);
        assert_eq!(call.code, 1, "{call:?}");
        let start = format!("UPSTREAM_UNAVAILABLE: the server `{id}` was not started: {why}");
        assert!(call.stderr.starts_with(&start), "{start}: {call:?}");
    }
    expect(here, &["call", "up:none", "--from", ".mcp.json"], 1, &["TOOL_NOT_FOUND"]);
    // The same for a configuration.
    let config = "[[source]]\nname = \"db\"\ncommand = \"./server\"\nenv.KEY = \"${NOT_SET_HERE}\"\n\
                  [[source]]\nname = \"up\"\ncommand = \"./server\"\n";
    std::fs::write(here.join("toolwright.toml"), config).expect("a file");
    expect(
        here,
        &["check", "toolwright.toml"],
        1,
        &["14 tools of 1 server, without 1 other server (not started: db): "],
    );
    expect(here, &["call", "db:add"], 1, &["the server `db` was not started: toolwright.toml:4:"]);
}

/// A command line in `command` is an error with and without an unset variable beside it, and none
/// if there is such a program.
#[test]
fn a_command_line_in_command_has_one_severity() {
    let servers = json!({
        "a": {"command": "npx -y x@1", "env": {"KEY": "${NOT_SET_HERE}"}},
        "b": {"command": "npx -y x@1"},
        "c": {"command": "./my server"},
        "d": {"command": "npx -y x@1", "disabled": true},
    });
    let here = project(&servers);
    std::fs::copy(here.path().join("server"), here.path().join("my server")).expect("a copy");
    for option in ["--no-start", "--notes"] {
        let check = run(here.path(), &["check", ".mcp.json", option]);
        assert_eq!(check.stdout.matches("error[SUSPICIOUS_COMMAND]").count(), 2, "{check:?}");
        assert_eq!(check.stdout.matches("[SUSPICIOUS_COMMAND]").count(), 2, "{check:?}");
        assert_eq!(check.stdout.matches("\nb\n").count(), 1, "{check:?}");
    }
}

#[test]
fn a_program_that_fails_on_its_schema_is_quoted() {
    let here = folder(&[]);
    let tool = "#!/bin/sh\necho '{\"error\": \"PYTHONPATH is not set\"}'\nexit 1\n";
    script(&here.path().join("x-tool"), tool);
    expect(here.path(), &["list", "./x-tool"], 2, &["`--schema`: PYTHONPATH is not set"]);
}

#[test]
fn diff_fails_on_the_asked_step() {
    let tool = |description: &str, required: &[&str]| {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}},
            "required": required, "additionalProperties": false});
        json!({"tools": [{"name": "now", "description": description, "inputSchema": schema}]})
    };
    let here = folder(&[
        ("old.json", tool("Returns the time.", &[]).to_string().as_bytes()),
        ("text.json", tool("Returns the time in UTC.", &[]).to_string().as_bytes()),
        ("strict.json", tool("Returns the time.", &["a"]).to_string().as_bytes()),
    ]);
    for (new, step, code) in [
        ("text.json", None, 0),
        ("text.json", Some("patch"), 1),
        ("text.json", Some("minor"), 0),
        ("strict.json", None, 0),
        ("strict.json", Some("major"), 1),
        ("strict.json", Some("patch"), 1),
        ("old.json", Some("patch"), 0),
    ] {
        let mut args = vec!["diff", "old.json", new];
        args.extend(step.iter().flat_map(|step| ["--fail-on", step]));
        expect(here.path(), &args, code, &[]);
    }
    let breaking = ["1 tool changed: breaking, needs a new major version\n"];
    expect(here.path(), &["diff", "old.json", "strict.json"], 0, &breaking);
}

#[test]
fn wrong_arguments_are_named_in_words_of_the_command_line() {
    let here = folder(&[]);
    let schema = json!({
        "name": "now", "description": "Returns the time.",
        "parameters": {"type": "object", "additionalProperties": false,
            "required": ["timezone", "paths"],
            "properties": {"timezone": {"type": "string"}, "paths": {"type": "array"},
                "filter": {"type": "object"}}},
    });
    process_tool(&here.path().join("now-tool"), &schema, "sleep 1000");
    let call = |args: &[&str]| {
        run(here.path(), &[&["call", "now", "--from", "./now-tool"], args].concat()).stderr
    };
    let wrong = call(&["timezon=UTC", "paths=/x", "filter=y"]);
    for line in [
        "- missing argument `timezone` (string)\n",
        "- unknown argument `timezon`; did you mean `timezone`?\n",
        "- /paths: `\"/x\"` is not of type `array`; write JSON after `:=`, such as `paths:='[\"/x\"]'`\n",
        "`filter:='{\"key\":\"y\"}'`\n",
    ] {
        assert!(wrong.contains(line), "{line}{wrong}");
    }
    assert!(call(&["a=1", "b=2"]).contains("- unknown arguments `a`, `b`\n"), "{wrong}");
    let slow = call(&["timezone=UTC", "paths:=[]", "--timeout", "100"]);
    assert!(slow.contains("help: ask for less at once, or allow more time with `--timeout MS`"));
    let help = run(here.path(), &["call", "--help"]).stdout;
    assert!(help.contains(r#"`paths:='["a.txt", "b.txt"]'`"#), "{help}");
}

#[test]
fn list_prints_json_and_one_tool() {
    let here = project(&json!({ "up": {"command": "./server"} }));
    let here = here.path();
    let listed = |args: &[&str]| {
        let list = run(here, &[&["list", ".mcp.json", "--json"], args].concat());
        assert_eq!(list.code, 0, "{list:?}");
        let json: Json = serde_json::from_str(&list.stdout).expect("JSON");
        json["tools"].as_array().expect("a list").clone()
    };
    assert_eq!(listed(&[]).len(), 14);
    for id in ["up:add", "add"] {
        let found = listed(&["--tool", id]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&found[0]["id"], &found[0]["format"]), (&json!("up:add"), &json!("mcp")));
        assert_eq!(found[0]["deprecated"], json!(false));
    }
    assert_eq!(listed(&["--tool", "none"]), Vec::<Json>::new());
    // `--` starts a server here, so that an unknown option must not be moved behind it.
    let unknown = run(here, &["list", "--jsn"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("'--json'"), "{unknown:?}");
    assert!(!unknown.stderr.contains("-- --jsn"), "{unknown:?}");
}

#[test]
fn show_prints_one_tool_and_the_place_of_its_server() {
    let here = project(&json!({ "up": {"command": "./server"} }));
    let here = here.path();
    let show = run(here, &["show", ".mcp.json", "--tool", "up:add"]);
    assert_eq!(show.code, 0, "{show:?}");
    assert!(show.stdout.contains("\nup:add\n") && !show.stdout.contains("up:echo"), "{show:?}");
    assert!(show.stdout.contains("  file        .mcp.json:1\n"), "{show:?}");
    assert!(show.stdout.contains("  from        .mcp.json:1\n"), "{show:?}");
    assert!(show.stdout.contains(" (* required)\n"), "{show:?}");
    let json = run(here, &["show", ".mcp.json", "--tool", "add", "--json"]).stdout;
    let json: Json = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["tools"].as_array().map(Vec::len), Some(1), "{json}");
    expect(
        here,
        &["show", ".mcp.json", "--tool", "none"],
        2,
        &["no tool has the id or name `none`"],
    );
    for command in ["show", "list"] {
        let hint = format!("`toolwright {command} --tool up:add`");
        expect(here, &[command, "up:add"], 2, &["there is no such file", &hint]);
    }
    expect(here, &["list", "none.json"], 2, &["cannot read `none.json`: there is no such file\n"]);
}

#[test]
fn show_spells_out_small_types() {
    let properties = json!({
        "unit": {"enum": ["mi", "km"]},
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "many": {"type": "string", "enum": ["a", "b", "c", "d", "e", "f", "g", "h"]},
        "deep": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    });
    let tool = json!({"name": "convert", "description": "Converts a length.",
        "inputSchema": {"type": "object", "properties": properties}});
    let here = folder(&[("tool.json", tool.to_string().as_bytes())]);
    let row = "  input       unit \"mi\" or \"km\", name string or null, \
               many \"a\" or \"b\" or \"c\" or \"d\" or \"e\" or \"f\" or 2 more, deep any\n";
    expect(here.path(), &["show", "tool.json"], 0, &[row]);
}

/// A folder in the place of a file, and a folder without definitions.
#[test]
fn folders_in_the_wrong_place_are_named() {
    let tool = json!({"name": "now", "description": "Returns the time of the day.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false}});
    let here = folder(&[
        ("tool.json", tool.to_string().as_bytes()),
        ("empty/notes.txt", b""),
        ("project/toolwright.toml", b"[[source]]\nname = \"a\"\npath = \"../tool.json\"\n"),
    ]);
    let none = "no definitions in `empty` (0 JSON or YAML files looked at)";
    let hint = "it is a folder; name the file in it: `project/toolwright.toml`";
    for (args, sentence) in [
        (
            &["check", "tool.json", "--write-baseline", "empty"][..],
            "cannot write `empty`: it is a folder",
        ),
        (
            &["convert", "tool.json", "--to", "openai", "-o", "empty"],
            "cannot write `empty`: it is a folder",
        ),
        (&["serve", "--config", "empty"], "cannot read the configuration `empty`: it is a folder"),
        (&["serve", "--config", "project"], hint),
        (&["md", "empty"], "cannot read `empty`: it is a folder"),
        (&["md", "none.html"], "cannot read `none.html`: there is no such file"),
        (&["call", "now", "--from", "empty"], none),
        (&["serve", "empty"], none),
        (&["test", "--run", "empty"], none),
    ] {
        let run = run(here.path(), args);
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert!(lines.len() == 1 && lines[0].ends_with(sentence), "{args:?}: {run:?}");
    }
    // Another source has tools: then it is the name that is wrong, and serving goes on.
    let other = ["call", "none", "--from", "empty", "--from", "tool.json"];
    expect(here.path(), &other, 1, &[none, "TOOL_NOT_FOUND"]);
    let mut client = StdioClient::start(here.path(), &["empty", "tool.json"], &[]);
    assert_eq!(client.names(), ["now"]);
}

/// `show` is there to read what a model reads.
#[test]
fn show_prints_descriptions_whole_and_names_tasks() {
    let long = format!("Returns the time.\n\n  - of {}\n  runs as     nothing\n", "x".repeat(300));
    let properties: serde_json::Map<String, Json> =
        (0..12).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let tool = |name: &str, support: &str| {
        json!({"name": name, "description": long, "execution": {"taskSupport": support},
            "inputSchema": {"type": "object", "properties": properties}})
    };
    let tools = json!({"tools": [tool("must", "required"), tool("may", "optional"),
        tool("plain", "forbidden")]});
    let here = folder(&[("tools.json", tools.to_string().as_bytes())]);
    let text = |name: &str| {
        let run = run(here.path(), &["show", "tools.json", "--tool", name]);
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout
    };
    let must = text("must");
    let about = format!(
        "  about       Returns the time.\n\n                - of {}\n                runs as     nothing\n",
        "x".repeat(300)
    );
    assert!(must.contains(&about), "{must}");
    assert!(must.contains("p11 string\n"), "{must}");
    assert!(must.contains("\n  task        required: each call is a task of its server"), "{must}");
    assert!(text("may").contains("\n  task        optional: "), "{}", text("may"));
    assert!(!text("plain").contains("  task "), "{}", text("plain"));
}

/// The examples of the repository, copied without the programs that they wrap: as with a server
/// that cannot be reached, the others are checked and the exit code is 2.
#[test]
fn a_copy_of_the_examples_names_the_programs_that_are_missing() {
    let here = folder(&[]);
    let examples = crate::program::project().join("examples");
    for name in ["built", "web/web-fetch-tool", "btcp/count-words.json", "btcp/countWords.js"] {
        let copy = here.path().join("copy").join(name);
        std::fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        std::fs::copy(examples.join(name), &copy).expect("a copy");
    }
    let config = "[[source]]\nname = \"web\"\nexecutables = \"web\"\n\
                  [[source]]\nname = \"text\"\npath = \"btcp/count-words.json\"\n";
    std::fs::write(here.path().join("copy/toolwright.toml"), config).expect("a file");
    for (command, others) in [
        (&["check", "toolwright.toml"][..], "1 tool in 1 file: nothing to report"),
        (&["test", "toolwright.toml"], "2 examples: 2 passed, 0 failed"),
        (&["test", "--run", "toolwright.toml"], "2 examples: 2 passed, 0 failed"),
    ] {
        let run = run(&here.path().join("copy"), command);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stdout.contains(others), "{command:?}: {run:?}");
        let missing = "the program web-fetch-tool is not installed; in the repository of \
                       Toolwright, `cargo install --path crates/web` installs it";
        assert_eq!(run.stderr.matches(missing).count(), 1, "{command:?}: {run:?}");
    }
}

/// A misspelled folder is not made.
#[test]
fn files_are_written_into_folders_that_are_there() {
    let tool = json!({"name": "now", "description": "Returns the time of the day.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false}});
    let here = folder(&[("tool.json", tool.to_string().as_bytes())]);
    for args in [
        &["convert", "tool.json", "--to", "openai", "-o", "no/such/x.json"][..],
        &["check", "tool.json", "--write-baseline", "no/such/x.json"],
    ] {
        let texts = ["cannot write `no/such/x.json`: there is no folder `no/such`"];
        expect(here.path(), args, 2, &texts);
        assert!(!here.path().join("no").exists(), "{args:?}");
    }
}

#[test]
fn a_server_that_does_not_start_is_quoted_with_its_first_error() {
    let here = folder(&[]);
    let trace = "#!/bin/sh\nfor line in 'node:internal/modules/cjs/loader:1228' '  throw err;' \
                 \"Error: Cannot find module '/x/server.js'\" '    at a' '    at b' '    at c' \
                 '    at d' '    at e' 'Node.js v22.0.0'; do echo \"$line\" >&2; done\nexit 1\n";
    script(&here.path().join("server"), trace);
    let texts = [
        "its stderr ends with: Error: Cannot find module '/x/server.js' | … | at b",
        "at e | Node.js v22.0.0",
        "run its command by hand (`./server …`) and read what it prints",
    ];
    expect(here.path(), &["list", "--", "./server", "--token=secret"], 2, &texts);
    let list = run(here.path(), &["list", "--", "./server", "--token=secret"]);
    assert!(!list.stderr.contains("secret"), "{list:?}");
    assert!(!list.stderr.contains("tried again"), "{list:?}");
}

#[test]
fn notes_are_called_notes() {
    let tool = r#"{"name": "now", "description": "Returns the time of the day.",
        "inputSchema": {"type": "object",
            "properties": {"zone": {"type": "string", "description": "The time zone."}}}}"#;
    let here = folder(&[("tool.json", tool.as_bytes())]);
    let here = here.path();
    for format in ["full", "concise"] {
        let check = run(here, &["check", "tool.json", "--notes", "--output-format", format]);
        assert!(check.stdout.contains("note[OPEN_OBJECT]"), "{check:?}");
        assert!(!check.stdout.contains("info["), "{check:?}");
    }
    // Programs know the other word.
    let json = run(here, &["check", "tool.json", "--output-format", "json"]).stdout;
    assert!(json.contains(r#""severity":"info""#), "{json}");
    for word in ["note", "info"] {
        expect(here, &["check", "tool.json", "--fail-on", word], 1, &[]);
        let config = format!("[levels]\nOPEN_OBJECT = \"{word}\"\n");
        std::fs::write(here.join("toolwright.toml"), config).expect("a file");
        expect(here, &["check", "tool.json"], 0, &["note[OPEN_OBJECT]"]);
        std::fs::remove_file(here.join("toolwright.toml")).expect("it is there");
    }
    expect(here, &["explain", "OPEN_OBJECT"], 0, &["OPEN_OBJECT (note)"]);
}

#[test]
fn small_words_are_understood() {
    let here = folder(&[("tool.json", b"{}")]);
    let cost = run_with(here.path(), &["cost", "nope.json"], &[], "");
    assert_eq!((cost.code, cost.stdout.as_str()), (2, ""), "{cost:?}");
    for (args, suggested) in [
        (&["convert", "tool.json", "--to", "claude"][..], "'anthropic'"),
        (&["convert", "tool.json", "--to", "ChatGPT"], "'openai'"),
        (&["check", "tool.json", "--target", "aws"], "'bedrock'"),
    ] {
        expect(here.path(), args, 2, &["a similar value exists: ", suggested]);
    }
    for (command, text) in [
        ("show", "Show every tool in full: parameters, limits, how it runs"),
        ("convert", "report what is lost"),
        ("convert", "dropped, widened, narrowed, approximated, renamed, filled"),
        ("init", "from the servers configured in your MCP clients"),
        ("check", "with commas between them"),
        ("check", "such as `null` for an optional field"),
    ] {
        let help = run(here.path(), &[command, "--help"]).stdout;
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(text), "{command}: {text}: {help}");
    }
}

#[test]
fn the_servers_files_of_a_folder_are_checked_and_not_started() {
    let servers = json!({
        "up": {"command": "./server", "env": {"KEY": "${NOT_SET_HERE}"}},
        "gone": {"command": "./no-such-server"},
    });
    let here = project(&servers);
    let starts = "#!/bin/sh\ntouch started\n";
    script(&here.path().join("server"), starts);
    let alone = run(here.path(), &["check", "."]);
    assert_eq!(alone.code, 1, "{alone:?}");
    assert!(alone.stdout.contains("error[COMMAND_NOT_FOUND] .mcp.json:1:"), "{alone:?}");
    assert!(alone.stdout.contains("note[UNSET_VARIABLE]"), "{alone:?}");
    let tool = r#"{"name": "now", "description": "Returns the time of the day.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false}}"#;
    std::fs::write(here.path().join("now.json"), tool).expect("a file");
    expect(here.path(), &["check", "."], 1, &["error[COMMAND_NOT_FOUND]", "1 tool in 1 file: "]);
    // Another folder, and the same one without its servers file.
    let path = here.path().display().to_string();
    expect(Path::new("/"), &["check", &path], 1, &["error[COMMAND_NOT_FOUND]"]);
    std::fs::remove_file(here.path().join(".mcp.json")).expect("it is there");
    expect(here.path(), &["check", "."], 0, &["1 tool in 1 file: nothing to report"]);
    assert!(!here.path().join("started").exists());
}

/// The key that is missing around the servers is named, instead of the keys of definitions.
#[test]
fn servers_without_the_key_around_them_are_recognised() {
    let text = r#"{"git": {"command": "git-server"}, "web": {"url": "https://mcp.example/mcp"}}"#;
    let here = folder(&[(".mcp.json", text.as_bytes())]);
    let run = run(here.path(), &["check", ".mcp.json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("servers belong under `mcpServers`"), "{run:?}");
    assert!(!run.stdout.contains("looked for"), "{run:?}");
}

/// A list that this program cannot read is reported as such, with whom to tell.
#[test]
fn a_list_that_nests_too_deeply_is_named_as_such() {
    let deep =
        format!("{}{}", r#"{"properties":{"a":"#.repeat(100), "{}".to_owned() + &"}}".repeat(100));
    let here = folder(&[]);
    let server = format!(
        r#"#!/bin/sh
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}' ;;
    *'"tools/list"'*) result='{{"tools":[{{"name":"t","inputSchema":{deep}}}]}}' ;;
    *'"id"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"no"}}}}\n' "$id"; continue ;;
    *) continue ;;
  esac
  printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$result"
done
"#
    );
    script(&here.path().join("server"), &server);
    let run = run(here.path(), &["check", "--", "./server"]);
    let message = "the server's list of tools cannot be read: recursion limit exceeded";
    assert!(run.code == 2 && run.stderr.contains(message), "{run:?}");
    assert!(run.stderr.contains("report it to the author of the server"), "{run:?}");
}

/// One finding says whose file it is, not one for each of its keys.
#[test]
fn a_configuration_of_codex_is_named() {
    let codex = "model = \"m\"\n[mcp_servers.up]\ncommand = \"./server\"\nargs = [\"--x\"]\n";
    let here = folder(&[("config.toml", codex.as_bytes())]);
    for command in ["check", "list"] {
        let run = run(here.path(), &[command, "config.toml"]);
        assert_ne!(run.code, 0, "{run:?}");
        let all = format!("{}{}", run.stdout, run.stderr);
        let message = "this is a configuration of Codex, not of Toolwright";
        assert_eq!(all.matches("error[").count(), 1, "{all}");
        assert!(all.contains(message) && all.contains("`toolwright init`"), "{all}");
    }
}

/// Nothing else shows what takes so long: on a terminal a line that changes, otherwise one line.
#[test]
fn a_silent_server_is_named_after_a_while() {
    let here = folder(&[]);
    // It ends when its input does, so that no process is left behind.
    script(&here.path().join("silent"), "#!/bin/sh\nwhile read -r line; do :; done\n");
    let config = format!(
        "[[source]]\nname = \"silent\"\ncommand = \"./silent\"\nstart_timeout = 120000\n\
         [[source]]\nname = \"prompt\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        faulty_server()
    );
    std::fs::write(here.path().join("toolwright.toml"), config).expect("a file");
    for command in ["check", "list"] {
        let waiting = RunningProgram::start(here.path(), &[command, "toolwright.toml"], &[]);
        until("the server is named", LONG, || {
            waiting.stderr().contains("toolwright: waiting for: silent\n").then_some(())
        });
        assert_eq!(waiting.stdout(), "");
    }
    // Where programs read stderr, every line is an object.
    let config = "[[source]]\nname = \"silent\"\ncommand = \"./silent\"\nstart_timeout = 4500\n";
    std::fs::write(here.path().join("short.toml"), config).expect("a file");
    let shown = run(here.path(), &["show", "short.toml", "--output-format", "json"]);
    for line in shown.stderr.lines() {
        assert!(serde_json::from_str::<Json>(line).is_ok(), "{line}");
    }
    let quiet = run(here.path(), &["list", "-q", "short.toml"]);
    assert!(!quiet.stderr.contains("waiting for"), "{}", quiet.stderr);
    let mut command = terminal(here.path(), &["check", "toolwright.toml"], "");
    command.stdin(std::process::Stdio::piped());
    let waiting = RunningProgram::of(&mut command);
    until("the server is named on the terminal", LONG, || {
        waiting.stdout().contains("starting 1 of 2 sources: silent").then_some(())
    });
}

/// A call that succeeds prints its result alone, whatever is wrong with other servers; and no help
/// proposes to write a secret into the file.
#[test]
fn a_call_is_silent_about_variables_of_other_servers() {
    let good = format!(
        "[[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        faulty_server()
    );
    let other =
        "[[source]]\nname = \"other\"\ncommand = \"x\"\nenv = { A_TOKEN = \"${A_TOKEN}\" }\n";
    let config = good + other;
    let here = folder(&[("toolwright.toml", config.as_bytes())]);
    let called = run(here.path(), &["call", "up:add", "a=1", "b=2"]);
    assert_eq!((called.code, called.stderr.as_str()), (0, ""), "{called:?}");
    let unset = "environment variable `A_TOKEN` is not set";
    for id in ["other:add", "up:no_such_tool"] {
        let failed = run(here.path(), &["call", id]);
        assert!(failed.code != 0 && failed.stderr.contains(unset), "{failed:?}");
    }
    let check = run(here.path(), &["check", "toolwright.toml"]);
    assert!(check.stdout.contains("  = set it where this program is started\n"), "{check:?}");
}
