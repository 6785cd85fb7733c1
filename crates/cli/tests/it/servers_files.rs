//! Servers files, checked without starting anything: what is found in them, what is not, what keeps
//! a server from being started, and that no secret is ever shown.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::client::{configured, faulty_server, run_with, script};
use crate::program::{Run, folder};

/// A token that nobody has, put together here so that scanners do not find it in this file.
fn token() -> String {
    ["ghp", "_q8Zr5Tn2Wk7Lp0Vx3Bc6Md9Hs4Jf1Gy8Ra2E"].concat()
}

/// Runs in `folder`, with the programs of its folder `bin` on `PATH`.
fn run(folder: &Path, args: &[&str]) -> Run {
    let path = format!("{}:/bin:/usr/bin", folder.join("bin").display());
    run_with(folder, args, &[("PATH", &path), ("SET", "value")], "")
}

/// A folder with this servers file, and with programs that leave the file `started`.
fn with_file(name: &str, text: &str) -> tempfile::TempDir {
    let folder = folder(&[(name, text.as_bytes())]);
    std::fs::create_dir_all(folder.path().join("bin")).expect("a folder");
    for program in ["npx", "uvx", "pipx", "bunx", "docker", "deno", "node", "python3", "my-server"]
    {
        let started = folder.path().join("started");
        let text = format!("#!/bin/sh\ntouch '{}'\n", started.display());
        script(&folder.path().join("bin").join(program), &text);
    }
    folder
}

/// The findings of `check --no-start`, as `line:column severity[CODE]`.
fn findings(name: &str, text: &str) -> Vec<String> {
    let folder = with_file(name, text);
    let run = run(folder.path(), &["check", "--no-start", "--output-format", "json", name]);
    assert!(!folder.path().join("started").exists(), "{run:?}");
    let place = |line: &str| {
        let json: Json = serde_json::from_str(line).expect("a line of JSON");
        let (start, text) =
            (&json["start"], |key: &str| json[key].as_str().unwrap_or_default().to_owned());
        assert_eq!(text("file"), name);
        format!("{}:{} {}[{}]", start["line"], start["column"], text("severity"), text("code"))
    };
    run.stdout.lines().map(place).collect()
}

/// A servers file with one server on the third line.
fn one(entry: &str) -> String {
    format!("{{\"mcpServers\": {{\n\"a\":\n{entry}\n}}}}")
}

#[test]
fn every_defect_is_found_at_its_place() {
    let token = token();
    let cases: &[(&str, &str)] = &[
        // Secrets, by their form and by their label.
        (r#"{"command": "my-server", "env": {"X": "TOKEN"}}"#, "3:39 error[LITERAL_SECRET]"),
        (r#"{"command": "my-server", "args": ["TOKEN"]}"#, "3:35 error[LITERAL_SECRET]"),
        (r#"{"command": "my-server", "args": ["--key=TOKEN"]}"#, "3:35 error[LITERAL_SECRET]"),
        (
            r#"{"command": "my-server", "args": ["--token", "x1y2z3a4b5"]}"#,
            "3:46 error[LITERAL_SECRET]",
        ),
        (
            r#"{"command": "my-server", "env": {"DB_PASSWORD": "sesame"}}"#,
            "3:49 error[LITERAL_SECRET]",
        ),
        (r#"{"url": "https://h/mcp?api_key=x1y2z3a4b5"}"#, "3:9 error[LITERAL_SECRET]"),
        (r#"{"url": "https://ann:sesame@h/mcp"}"#, "3:9 error[LITERAL_SECRET]"),
        (
            r#"{"url": "https://h", "headers": {"Authorization": "Bearer x1y2z3a4b5"}}"#,
            "3:51 error[LITERAL_SECRET]",
        ),
        (
            r#"{"command": "my-server", "disabled": true, "env": {"X": "TOKEN"}}"#,
            "3:57 error[LITERAL_SECRET]",
        ),
        (
            r#"{"command": "my-server", "env": {"API_KEY": "<your-key>"}}"#,
            "3:45 info[PLACEHOLDER_VALUE]",
        ),
        // Packages.
        (
            r#"{"command": "npx", "args": ["-y", "@scope/server"]}"#,
            "3:35 warning[UNPINNED_PACKAGE]",
        ),
        (r#"{"command": "npx", "args": ["server@latest"]}"#, "3:29 warning[UNPINNED_PACKAGE]"),
        (r#"{"command": "uvx", "args": ["server"]}"#, "3:29 warning[UNPINNED_PACKAGE]"),
        (r#"{"command": "pipx", "args": ["run", "server"]}"#, "3:37 warning[UNPINNED_PACKAGE]"),
        (r#"{"command": "bunx", "args": ["server"]}"#, "3:30 warning[UNPINNED_PACKAGE]"),
        (
            r#"{"command": "docker", "args": ["run", "-i", "--rm", "img"]}"#,
            "3:53 warning[UNPINNED_PACKAGE]",
        ),
        (r#"{"command": "npx", "args": ["server@^1"]}"#, "3:29 warning[UNPINNED_PACKAGE]"),
        (r#"{"command": "uvx", "args": ["server>=1"]}"#, "3:29 warning[UNPINNED_PACKAGE]"),
        (
            r#"{"command": "deno", "args": ["run", "-A", "npm:server"]}"#,
            "3:43 warning[UNPINNED_PACKAGE]",
        ),
        // Scripts.
        (r#"{"command": "node", "args": ["/no/such.js"]}"#, "3:30 warning[SCRIPT_NOT_FOUND]"),
        (
            r#"{"command": "python3", "args": ["-u", "no-such.py"]}"#,
            "3:39 warning[SCRIPT_NOT_FOUND]",
        ),
        // Shells and addresses.
        (
            r#"{"command": "sh", "args": ["-c", "curl https://h/x | sh"]}"#,
            "3:34 warning[PIPE_TO_SHELL]",
        ),
        (r#"{"url": "http://example.com/mcp"}"#, "3:9 warning[PLAIN_HTTP]"),
        // What keeps it from being started.
        (r#"{"command": "no-such"}"#, "3:13 error[COMMAND_NOT_FOUND]"),
        (r#"{"command": "./no-such"}"#, "3:13 error[COMMAND_NOT_FOUND]"),
        (r#"{"command": "my-server", "cwd": "no-such"}"#, "3:33 error[DIRECTORY_NOT_FOUND]"),
        // The space is the reason why there is no such program.
        (r#"{"command": "npx -y server@1"}"#, "3:13 error[SUSPICIOUS_COMMAND]"),
        // The variable is needed only to start the server.
        (
            r#"{"command": "my-server", "env": {"API_KEY": "${NOT_SET}"}}"#,
            "3:45 info[UNSET_VARIABLE]",
        ),
    ];
    for (entry, expected) in cases {
        let entry = entry.replace("TOKEN", &token);
        assert_eq!(findings(".mcp.json", &one(&entry)), [*expected], "{entry}");
    }
}

#[test]
fn near_misses_are_not_found() {
    for entry in [
        r#"{"command": "my-server", "env": {"API_KEY": "${SET}", "TOKEN": "${env:SET}"}}"#,
        r#"{"command": "my-server", "env": {"TOKEN_FILE": "/run/secrets/x", "MAX_TOKENS": "4096"}}"#,
        r#"{"command": "my-server", "args": ["--token", "${SET}", "--key=${SET}"]}"#,
        r#"{"command": "my-server", "env": {"REQUEST_ID": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}}"#,
        r#"{"url": "https://h/mcp?token=${SET}", "headers": {"Authorization": "Bearer ${SET}"}}"#,
        r#"{"command": "npx", "args": ["-y", "@scope/server@1.2.3"]}"#,
        r#"{"command": "npx", "args": ["./server"]}"#,
        r#"{"command": "uvx", "args": ["server==1.0"]}"#,
        r#"{"command": "docker", "args": ["run", "--rm", "-e", "TOKEN", "img:1.2"]}"#,
        r#"{"command": "docker", "args": ["run", "img@sha256:0123"]}"#,
        r#"{"command": "sh", "args": ["-c", "cat x | grep sh"]}"#,
        r#"{"url": "http://localhost:3000/mcp"}"#,
        r#"{"url": "http://127.0.0.1:3000/mcp"}"#,
        r#"{"command": "no-such", "disabled": true}"#,
        r#"{"command": "my-server", "cwd": "bin"}"#,
        r#"{"command": "./my-server", "cwd": "bin"}"#,
        r#"{"command": "my-server", "args": ["a b"]}"#,
        r#"{"command": "deno", "args": ["run", "npm:server@1.2.3"]}"#,
        r#"{"command": "deno", "args": ["run", "server.ts"]}"#,
        r#"{"command": "node", "args": ["bin/my-server"]}"#,
        r#"{"command": "node", "args": ["my-server"], "cwd": "bin"}"#,
        r#"{"command": "python3", "args": ["-m", "server"]}"#,
        // What looks like a secret and is none.
        r#"{"command": "npx", "args": ["pkg@9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a"]}"#,
        r#"{"command": "npx", "args": ["-p", "pkg@9f8a7b6c5d4e3f2a1b0c", "run"]}"#,
        r#"{"command": "docker", "args": ["run", "-t", "img@sha256:9f8a7b6c5d4e3f2a1b0c9d8e"]}"#,
        r#"{"command": "my-server", "args": ["--project", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"]}"#,
        r#"{"command": "my-server", "args": ["-p", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"]}"#,
        r#"{"command": "my-server", "args": ["-p", "8080", "-t", "stdio", "-k", "./key.pem"]}"#,
        r#"{"command": "my-server", "args": ["-p", "projectname"]}"#,
        r#"{"command": "my-server", "args": ["-p", "my-project-2024", "-t", "v1.2.3-rc4"]}"#,
        r#"{"command": "my-server", "args": ["/data/9f8a7b6c5d4e3f2a1b0c/x"]}"#,
        r#"{"command": "my-server", "args": ["https://h/commit/9f8a7b6c5d4e3f2a1b0c9d8e"]}"#,
        r#"{"command": "my-server", "args": ["postgres://user:${SET}@host/db"]}"#,
        r#"{"command": "my-server", "env": {"AUTH": "none", "TOKEN": "none", "AUTH_TOKEN": "keychain"}}"#,
        r#"{"command": "my-server", "env": {"PGHOST": "db", "PGUSER": "user", "SORT_KEY": "created"}}"#,
        r#"{"command": "sh", "args": ["-c", "API_KEY=\"$SET\" exec my-server -p 80"]}"#,
        r#"{"url": "https://h/v1/projects/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/mcp"}"#,
        r#"{"url": "https://h/Meeting-Notes-9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c/mcp"}"#,
    ] {
        assert_eq!(findings(".mcp.json", &one(entry)), [""; 0], "{entry}");
    }
}

/// Two reasons are both reported: a person who mends one of them should not find the other next.
#[test]
fn a_missing_command_and_a_missing_directory_are_both_found() {
    let found = findings(".mcp.json", &one(r#"{"command": "no-such", "cwd": "gone"}"#));
    let expected = ["3:13 error[COMMAND_NOT_FOUND]", "3:31 error[DIRECTORY_NOT_FOUND]"];
    assert_eq!(found, expected);
    let relative = findings(".mcp.json", &one(r#"{"command": "./no-such", "cwd": "gone"}"#));
    assert_eq!(relative, ["3:33 error[DIRECTORY_NOT_FOUND]"]);
}

/// The same rules hold for the sources of a configuration, at their places in it.
#[test]
fn sources_of_the_configuration_are_checked_too() {
    let (folder, _) = configured(
        "[[source]]\nname = \"a\"\ncommand = [\"no-such\", \"--token\", \"x1y2z3a4b5\"]\n\
         env = { API_KEY = \"0123abcd4567\", OK = \"${SET:-x}\" }\n\n\
         [[source]]\nname = \"b\"\ncommand = \"sh -c 'curl https://h/x | sh'\"\ndirectory = \"gone\"\n\n\
         [[source]]\nname = \"c\"\nurl = \"http://example.com/mcp\"\nheaders = { Accept = \"x\" }\n",
    );
    let run = run(folder.path(), &["check", "--no-start", "--output-format", "concise"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    let expected = [
        "toolwright.toml:3:12: error[COMMAND_NOT_FOUND]: the program `no-such` is not on `PATH`",
        "toolwright.toml:3:34: error[LITERAL_SECRET]: `--token` holds a secret in plain text",
        "toolwright.toml:4:19: error[LITERAL_SECRET]: `API_KEY` holds a secret in plain text",
        "toolwright.toml:8:11: warning[PIPE_TO_SHELL]: a shell runs whatever another program prints",
        "toolwright.toml:9:13: error[DIRECTORY_NOT_FOUND]: the directory `gone` does not exist",
        "toolwright.toml:13:7: warning[PLAIN_HTTP]: the server is on another machine and is reached without TLS",
    ];
    for line in expected {
        assert!(lines.iter().any(|shown| shown.ends_with(line)), "{line}: {run:?}");
    }
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.ends_with("not started: 3 servers\n"), "{run:?}");
}

#[test]
fn nothing_is_started_and_the_number_is_reported() {
    let text = one(r#"{"command": "my-server"}, "b": {"command": "npx", "args": ["x@1"]},
        "c": {"url": "http://127.0.0.1:1/mcp"}, "d": {"command": "npx", "disabled": true}"#);
    let folder = with_file(".mcp.json", &text);
    script(&folder.path().join("mark-tool"), "#!/bin/sh\ntouch started\n");
    let file =
        r#"{"name": "now", "description": "Tells the time.", "inputSchema": {"type": "objekt"}}"#;
    std::fs::write(folder.path().join("now.json"), file).expect("a file");
    let args =
        ["check", "--no-start", "--output-format", "concise", "now.json", "mark-tool", ".mcp.json"];
    let run = run(folder.path(), &args);
    assert!(!folder.path().join("started").exists(), "{run:?}");
    assert!(run.stdout.contains("now.json:1:") && run.stdout.contains("INVALID_SCHEMA"), "{run:?}");
    assert!(run.stdout.ends_with("not started: 3 servers, 1 source of programs\n"), "{run:?}");
}

/// A server counts once, wherever it is written, and also with a mistake in its entry.
#[test]
fn servers_that_are_not_started_are_counted_once() {
    let text = one(r#"{"command": "my-server"}, "b": {"comand": "x"}, "a": {"command": "npx"},
        "c": {"url": "http://127.0.0.1:1/mcp"}, "d": {"command": "no-such"},
        "e": {"command": "my-server", "env": {"X": "${NOT_SET}"}},
        "f": {"command": "npx", "disabled": true}"#);
    let folder = with_file(".mcp.json", &text);
    let config = "[[source]]\nname = \"g\"\ncommand = \"my-server\"\nenv = { X = 3 }\n\n\
                  [[source]]\nname = \"h\"\nurl = \"https://h/mcp\"\n";
    std::fs::write(folder.path().join("other.toml"), config).expect("a file");
    for (sources, expected) in [
        (&[".mcp.json"][..], 5),
        (&["."], 5),
        (&[".mcp.json", ".mcp.json"], 5),
        (&[".mcp.json", "."], 5),
        (&["other.toml"], 2),
        (&[".mcp.json", "other.toml"], 7),
    ] {
        let run = run(folder.path(), &[&["check", "--no-start"], sources].concat());
        let line = format!("not started: {expected} servers\n");
        assert!(run.stdout.ends_with(&line), "{sources:?}: {run:?}");
    }
}

/// Comments and trailing commas are read where the client of the file reads them.
#[test]
fn comments_are_read_in_files_of_vs_code_and_zed() {
    let entry =
        "{\n// mine\n\"a\": {\"command\": \"my-server\", \"args\": [\"x\",], /* all */},\n}";
    for (name, text) in [
        (".vscode/mcp.json", format!("{{\"servers\": {entry},}}")),
        ("settings.json", format!("// top\n{{\"mcp\": {{\"servers\": {entry}}}}}")),
        ("x.code-workspace", format!("{{\"settings\": {{\"mcp\": {{\"servers\": {entry}}}}}}}")),
        ("zed.json", format!("{{\"context_servers\": {entry}}}")),
    ] {
        assert_eq!(findings(name, &text), [""; 0], "{name}");
    }
    let text = format!("{{\"mcpServers\": {entry}}}");
    assert_eq!(
        findings(".mcp.json", &text),
        [
            "2:1 error[INVALID_SYNTAX]",
            "3:43 error[INVALID_SYNTAX]",
            "3:45 error[INVALID_SYNTAX]",
            "3:57 error[INVALID_SYNTAX]"
        ]
    );
    // Gemini CLI drops comments, and reads what is left as plain JSON.
    assert_eq!(
        findings(".gemini/settings.json", &text),
        ["3:43 error[INVALID_SYNTAX]", "3:45 error[INVALID_SYNTAX]", "3:57 error[INVALID_SYNTAX]"]
    );
    let gemini = "{ // mine\n \"mcpServers\": /* all */ {\"a\": {\"command\": \"my-server\"}}}";
    assert_eq!(findings(".gemini/settings.json", gemini), [""; 0]);
    let folder = with_file(".mcp.json", &text);
    let shown =
        run(folder.path(), &["check", "--no-start", "--output-format", "json", ".mcp.json"]);
    assert_eq!(shown.stdout.matches("only VS Code and Zed allow comments").count(), 4, "{shown:?}");
    // Other mistakes stay mistakes everywhere.
    let broken = "{\"servers\": {\"a\": {\"command\": 'my-server'}}}";
    assert_eq!(findings(".vscode/mcp.json", broken), ["1:31 error[INVALID_SYNTAX]"]);
}

/// What VS Code asks its user for is a variable here, or the default of the input.
#[test]
fn inputs_of_vs_code_are_variables() {
    let file = |inputs: &str, value: &str| {
        format!(
            r#"{{"inputs": [{inputs}], "servers": {{"up": {{"command": "{}", "args": ["mcp", "good"],
                "cwd": "${{workspaceFolder}}", "env": {{"API_KEY": "{value}"}}}}}}}}"#,
            faulty_server()
        )
    };
    let call = |inputs: &str, value: &str| {
        let folder = with_file(".vscode/mcp.json", &file(inputs, value));
        run(folder.path(), &["call", "up:env", "--from", ".vscode/mcp.json"])
    };
    for (inputs, value, expected) in [
        (r#"{"type": "promptString", "id": "set", "password": true}"#, "${input:set}", "value"),
        (r#"{"type": "promptString", "id": "x", "default": "y"}"#, "${input:x}", "y"),
    ] {
        let run = call(inputs, value);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        let answer: Json = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(answer["env"]["API_KEY"], json!(expected));
    }
    let unset = call(r#"{"type": "promptString", "id": "api-key"}"#, "${input:api-key}");
    assert!(unset.stderr.contains("set environment variable `API_KEY`"), "{unset:?}");
    let misspelled = call(r#"{"type": "promptString", "id": "api-key"}"#, "${input:api-kye}");
    assert!(misspelled.stderr.contains("`inputs` has no input `api-kye`"), "{misspelled:?}");
    assert!(misspelled.stderr.contains("did you mean `api-key`?"), "{misspelled:?}");
}

/// Gemini CLI has references without braces; for other clients they are text.
#[test]
fn variables_of_gemini_have_no_braces() {
    let entry = json!({
        "command": faulty_server(), "args": ["mcp", "good"], "trust": false, "timeout": 30_000,
        "includeTools": ["env"], "env": {"API_KEY": "$TOKEN", "A": "$TOKEN${WORD}"}
    });
    let text = json!({"theme": "Dracula", "mcpServers": {"up": entry}}).to_string();
    let folder = with_file(".gemini/settings.json", &text);
    std::fs::write(folder.path().join("mcp.json"), &text).expect("a file");
    let called = |file: &str, variables: &[(&str, &str)]| {
        run_with(folder.path(), &["call", "up:env", "--from", file], variables, "")
    };
    // Short, because longer values are replaced where a server repeats them.
    let variables = [("TOKEN", "key"), ("WORD", "w")];
    for (file, key, other) in
        [(".gemini/settings.json", "key", "keyw"), ("mcp.json", "$TOKEN", "$TOKENw")]
    {
        let run = called(file, &variables);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{file}: {run:?}");
        let answer: Json = serde_json::from_str(&run.stdout).expect("JSON");
        let shown = (&answer["env"]["API_KEY"], &answer["env"]["A"]);
        assert_eq!(shown, (&json!(key), &json!(other)), "{file}");
    }
    let unset = called(".gemini/settings.json", &variables[1..]);
    assert!(unset.stderr.contains("environment variable `TOKEN` is not set"), "{unset:?}");
    let check = ["check", "--no-start", "--notes", "--output-format", "concise"];
    let found = run(folder.path(), &[&check[..], &[".gemini/settings.json"]].concat());
    assert!(!found.stdout.contains("LITERAL_SECRET"), "{found:?}");
}

/// Zed keeps its servers elsewhere and has had two forms for them.
#[test]
fn servers_of_zed_are_read() {
    let program = faulty_server();
    let text = format!(
        r#"{{"theme": "x", "context_servers": {{
            "new": {{"source": "custom", "command": "{program}", "args": ["mcp", "good"], "env": {{}}}},
            "old": {{"command": {{"path": "{program}", "args": ["mcp", "good"], "env": {{}}}}, "settings": {{}}}},
            "theirs": {{"source": "extension", "settings": {{}}}}}}}}"#
    );
    let folder = with_file("settings.json", &text);
    let list = run(folder.path(), &["list", "settings.json"]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.stdout.contains("new:add") && list.stdout.contains("old:add"), "{list:?}");
    let show = run(folder.path(), &["show", "settings.json"]);
    assert!(show.stderr.contains("only Zed can start it"), "{show:?}");
}

/// The findings are logged before servers are started, keep nothing from working, and show nothing.
#[test]
fn findings_are_logged_and_gate_nothing() {
    let token = token();
    let text = one(&format!(
        r#"{{"command": "sh", "args": ["-c", "exec '{}' mcp good", "x", "--token={token}"],
            "env": {{"X": "{token}"}}}}"#,
        faulty_server()
    ));
    let folder = with_file(".mcp.json", &text);
    for args in [
        &["call", "a:add", "a=1", "b=2", "--from", ".mcp.json"][..],
        &["list", ".mcp.json"],
        &["cost", ".mcp.json"],
        &["show", ".mcp.json"],
        &["show", "--json", ".mcp.json"],
        &["test", ".mcp.json"],
        &["serve", "--from", ".mcp.json"],
    ] {
        let run = run(folder.path(), args);
        // `test` fails where there is no example.
        assert!(run.code == 0 || args[0] == "test", "{args:?}: {run:?}");
        // `list` has one line about all problems.
        let (advice, lines) = if args[0] == "list" { (0, 1) } else { (2, 0) };
        assert_eq!(run.stderr.matches("LITERAL_SECRET").count(), advice, "{args:?}: {run:?}");
        let summary =
            run.stderr.lines().filter(|line| line.contains("`toolwright check .mcp.json`"));
        assert_eq!(summary.count(), lines, "{args:?}: {run:?}");
        assert!(!format!("{run:?}").contains(&token[..12]), "{args:?}: {run:?}");
    }
    let shown = run(folder.path(), &["show", ".mcp.json"]);
    assert!(shown.stdout.contains("x --token=***"), "{shown:?}");
    // References are shown as they are written.
    let text = text.replace(&token, "${SET}");
    std::fs::write(folder.path().join(".mcp.json"), text).expect("a file");
    let shown = run(folder.path(), &["show", ".mcp.json"]);
    assert!(shown.stdout.contains("--token=${SET}"), "{shown:?}");
}

/// No form of output shows a secret.
#[test]
fn no_output_form_shows_a_secret() {
    let token = token();
    let text = one(&format!(
        r#"{{"comand": "x", "env": {{"X": "{token}"}}, "url": "http://u:{token}@h/?k={token}",
            "args": ["{token}"], "headers": {{"Authorization": "Bearer {token}", "b c": "{token}"}}}}"#
    ));
    let folder = with_file(".mcp.json", &text);
    for format in ["full", "concise", "json", "sarif", "github"] {
        for option in [&[][..], &["--fix"]] {
            let args =
                [&["check", "--no-start", "--output-format", format, ".mcp.json"], option].concat();
            let run = run(folder.path(), &args);
            assert!(run.stdout.contains("LITERAL_SECRET"), "{args:?}: {run:?}");
            assert!(!format!("{run:?}").contains(&token[..12]), "{args:?}: {run:?}");
        }
    }
    let diff =
        run(folder.path(), &["check", "--no-start", "--diff", "--unsafe-fixes", ".mcp.json"]);
    assert!(diff.stdout.contains("+\"a\"") || diff.stdout.contains("${X}"), "{diff:?}");
    assert!(!format!("{diff:?}").contains(&token[..12]), "{diff:?}");
    // On request the secrets are replaced.
    let fixed = run(folder.path(), &["check", "--no-start", "--unsafe-fixes", ".mcp.json"]);
    assert!(!format!("{fixed:?}").contains(&token[..12]), "{fixed:?}");
    let text = std::fs::read_to_string(folder.path().join(".mcp.json")).expect("the file");
    assert!(!text.contains(&token), "{text}");
    assert!(text.contains(r#""env": {"X": "${X}"}"#), "{text}");
    assert!(text.contains(r#""Authorization": "Bearer ${A_TOKEN}""#), "{text}");
}

/// A missing command keeps its own server from being started, and no other.
#[test]
fn a_missing_command_stops_its_own_server() {
    let text = one(&format!(
        r#"{{"command": "no-such"}}, "b": {{"command": "my-server", "cwd": "gone"}},
            "c": {{"command": "{}", "args": ["mcp", "good"]}}"#,
        faulty_server()
    ));
    let folder = with_file(".mcp.json", &text);
    let list = run(folder.path(), &["list", ".mcp.json"]);
    assert_eq!(list.code, 1, "{list:?}");
    assert!(list.stdout.contains("c:add"), "{list:?}");
    assert!(list.stderr.contains("the program `no-such` is not on `PATH`"), "{list:?}");
    assert!(list.stderr.contains("the directory `gone` does not exist"), "{list:?}");
    assert!(!folder.path().join("started").exists(), "{list:?}");
    let call = run(folder.path(), &["call", "c:add", "a=1", "b=2", "--from", ".mcp.json"]);
    // Settings of servers that a call does not need are not mentioned.
    assert_eq!((call.code, call.stderr.as_str()), (0, ""), "{call:?}");
    let call = run(folder.path(), &["call", "a:add", "--from", ".mcp.json"]);
    assert!(call.code == 1 && call.stderr.contains("COMMAND_NOT_FOUND"), "{call:?}");
}

/// Every command that reads the configuration shows all of its problems, not the first.
#[test]
fn all_problems_of_a_configuration_are_shown_at_once() {
    let (folder, path) = configured(
        "[[source]]\nname = \"a\"\npth = \"x\"\n\n[[source]]\nname = \"b\"\nmcp = \"mcp.json\"\n\n\
         [[source]]\nname = \"c\"\npath = \"gone.json\"\n\n\
         [limit]\ntimeout = 5\n\n[limits]\ntimout = 5\nqueue = \"x\"\n\n[levels]\nOPEN_OBJET = \"off\"\n",
    );
    let servers = r#"{"mcpServers": {"x": {"comand": "y"}, "z": {"command": "sh", "env": []}}}"#;
    std::fs::write(path.join("mcp.json"), servers).expect("a file");
    std::fs::write(path.join("f.yaml"), "x: 1\n").expect("a file");
    for args in [
        &["check"][..],
        &["check", "--no-start"],
        &["call", "x:y"],
        &["serve"],
        &["test"],
        &["test", "--run"],
        &["show"],
        &["cost"],
    ] {
        let run = run(folder.path(), args);
        assert_ne!(run.code, 0, "{args:?}: {run:?}");
        assert_eq!(run.stderr.matches("unknown key `pth`").count(), 1, "{args:?}: {run:?}");
        for words in [
            "unknown key `pth`",
            "did you mean `path`?",
            "unknown key `limit`",
            "did you mean `limits`?",
            "unknown key `timout`",
            "did you mean `timeout`?",
            "`queue` is a string",
            "there is no code `OPEN_OBJET`",
            "did you mean `OPEN_OBJECT`?",
            "unknown field `comand`",
            "`env` is a list",
            "gone.json`: there is no such file",
        ] {
            assert!(run.stderr.contains(words), "{args:?}: {words}: {run:?}");
        }
    }
}

/// Opening a named pipe would wait for somebody to write into it.
#[test]
fn pipes_and_devices_end_with_a_sentence() {
    let folder = folder(&[("good.json", b"{}"), ("now.yaml", b"x: 1\n")]);
    let pipe = folder.path().join("pipe.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let cases: &[&[&str]] = &[
        &["check", "pipe.json"],
        &["check", "--no-start", "pipe.json"],
        &["show", "pipe.json"],
        &["list", "pipe.json"],
        &["validate", "pipe.json", "good.json"],
        &["validate", "good.json", "pipe.json"],
        &["eval", "pipe.json", "--helper", "x"],
        &["test", "pipe.json"],
        &["test", "--run", "pipe.json"],
        &["serve", "pipe.json"],
        &["call", "x", "--config", "pipe.json"],
        &["call", "x", "--from", "pipe.json"],
        &["check", "--config", "pipe.json", "good.json"],
        &["md", "pipe.json"],
    ];
    for args in cases {
        let run = run(folder.path(), args);
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        let sentence = "it is a named pipe, not a file";
        assert_eq!(run.stderr.matches(sentence).count(), 1, "{args:?}: {run:?}");
        assert!(!run.stderr.contains("TOOL_NOT_FOUND"), "{args:?}: {run:?}");
    }
    let device = run(folder.path(), &["check", "/dev/tty"]);
    assert_eq!(device.code, 2, "{device:?}");
    let device = run(folder.path(), &["check", "/dev/zero"]);
    assert!(device.stderr.contains("it is a device, not a file"), "{device:?}");
    std::fs::write(
        folder.path().join("toolwright.toml"),
        "[[source]]\nname='a'\nmcp='pipe.json'\n",
    )
    .expect("a file");
    let source = run(folder.path(), &["check"]);
    assert!(source.stderr.contains("it is a named pipe, not a file"), "{source:?}");
}
