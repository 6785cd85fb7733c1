//! Where tools come from, for `call`, `show` and `list`: the configuration, servers files and live
//! servers, the environment of programs, and secrets, which are never shown.

use serde_json::{Value as Json, json};

use crate::calling::{PAGE, folder_with_tools, run};
use crate::client::{UpstreamServer, add_tools, configured, faulty_server, run_with, script};
use crate::program::{Run, folder};

#[test]
fn the_nearest_configuration_is_used() {
    let folder = folder_with_tools(&["echo"]);
    let deep = folder.path().join("a/b/c");
    std::fs::create_dir_all(&deep).expect("folders");
    let from_below = run(&deep, &["call", "echo", "x=1"]);
    assert_eq!((from_below.code, from_below.stderr.as_str()), (0, ""));
    // The nearest configuration is used, even when it is empty.
    std::fs::write(folder.path().join("a/toolwright.toml"), "").expect("a file");
    let empty = run(&deep, &["call", "echo"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (2, ""), "{empty:?}");
    assert!(
        empty.stderr.starts_with("toolwright: ") && empty.stderr.lines().count() == 1,
        "{empty:?}"
    );
    let named = run(&deep, &["call", "echo", "--config", "../../../toolwright.toml"]);
    assert_eq!(named.code, 0, "relative paths start at the file: {named:?}");
    let cases: &[(&[&str], &str)] = &[
        (
            &["call", "echo", "--config", "no.toml"],
            "toolwright: there is no configuration file `no.toml`\n",
        ),
        (
            &["serve", "--config", "no.toml"],
            "toolwright: there is no configuration file `no.toml`\n",
        ),
        (
            &["call", "echo", "--config", "tools"],
            "toolwright: cannot read the configuration `tools`: it is a folder\n",
        ),
    ];
    for (args, message) in cases {
        let run = run(folder.path(), args);
        assert_eq!(
            (run.code, run.stdout.as_str(), run.stderr.as_str()),
            (2, "", *message),
            "{args:?}"
        );
    }
    let elsewhere = tempfile::tempdir().expect("a folder");
    for command in [&["call", "echo"][..], &["serve"]] {
        let run = run(elsewhere.path(), command);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(
            run.stderr.starts_with("toolwright: there is no `toolwright.toml` here or above"),
            "{run:?}"
        );
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
}

#[test]
fn mistakes_in_the_configuration_leave_the_other_sources_loaded() {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"typo\"\nexecutabels = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{0}\", \"mcp\", \"good\"]\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{0}\", \"mcp\", \"exit-start\"]\n",
        faulty_server()
    ));
    let call = run(folder.path(), &["call", "up:add", "a=1", "b=2"]);
    assert_eq!((call.code, call.stdout.as_str()), (0, "{\n  \"sum\": 3\n}\n"), "{call:?}");
    for words in [
        "toolwright.toml:3:1: error[UNKNOWN_KEY]: unknown key `executabels`",
        "toolwright.toml:10:8: error[DUPLICATE_SOURCE]: two sources have the name `up`",
    ] {
        assert!(call.stderr.contains(words), "{words}: {}", call.stderr);
    }
    // Without a limit that cannot be read, calls would have a looser one: nothing runs.
    let good = format!(
        "[[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        faulty_server()
    );
    for (limit, words) in [
        (
            "timeout = \"long\"",
            "toolwright.toml:5:11: error[INVALID_TYPE]: `timeout` is a string, expected an integer",
        ),
        ("validator_timeout = \"x\"", "`validator_timeout` is a string, expected an integer"),
        ("max_concurent = 3", "unknown key `max_concurent` (did you mean `max_concurrent`?)"),
    ] {
        std::fs::write(path.join("toolwright.toml"), format!("{good}[limits]\n{limit}\n"))
            .expect("a file");
        for command in [&["call", "up:echo"][..], &["serve"], &["test", "--run"]] {
            let refused = run(folder.path(), command);
            assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{refused:?}");
            assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
        }
    }
    std::fs::write(path.join("toolwright.toml"), "[[source]\nname = ").expect("a file");
    for command in [&["call", "echo"][..], &["serve"]] {
        let broken = run(folder.path(), command);
        assert_eq!((broken.code, broken.stdout.as_str()), (2, ""), "{broken:?}");
        assert!(
            broken.stderr.contains("toolwright.toml:1:10: error[INVALID_SYNTAX]"),
            "{broken:?}"
        );
    }
}

/// A misspelled key gets a suggestion from every command that reads the configuration.
#[test]
fn an_unknown_key_comes_with_a_suggestion() {
    let (folder, _) = configured(&format!(
        "[[source]]\nname = \"typo\"\nexecutabels = \"tools\"\n\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        faulty_server()
    ));
    for args in [&["call", "up:echo"][..], &["serve"]] {
        let run = run(folder.path(), args);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stderr.contains("did you mean `executables`?"), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn programs_get_only_the_documented_environment() {
    let (folder, path) = configured(&format!(
        "[[source]]\nname = \"tools\"\nexecutables = \"tools\"\nenv = {{ ALLOWED = \"yes\", FILLED = \"${{SECRET}}!\" }}\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\nenv = {{ ALLOWED = \"also\" }}\n",
        faulty_server()
    ));
    add_tools(&path, &["echo-env"]);
    let environment = [
        ("SECRET", "xyz"),
        ("LANG", "C.UTF-8"),
        ("HOME", "/nowhere"),
        ("AWS_ACCESS_KEY_ID", "key"),
    ];
    let own = ["TOOLWRIGHT_RUN", "PATH", "LANG", "HOME"];
    for (id, allowed) in [
        ("echo_env", &[("ALLOWED", "yes"), ("FILLED", "xyz!")][..]),
        ("up:env", &[("ALLOWED", "also")]),
    ] {
        let run = run_with(folder.path(), &["call", id], &environment, "");
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{id}");
        let answer: Json = serde_json::from_str(&run.stdout).expect("JSON");
        let seen = answer["env"].as_object().expect("an object");
        for (name, value) in allowed {
            assert_eq!(seen.get(*name), Some(&json!(value)), "{id}");
        }
        let others: Vec<&String> = seen
            .keys()
            .filter(|name| !own.contains(&name.as_str()) && !allowed.iter().any(|(a, _)| a == name))
            .collect();
        assert!(others.is_empty(), "{id} sees {others:?}");
    }
    // Without a configuration, no further variable is passed on.
    let bare = run_with(
        folder.path(),
        &["call", "echo_env", "--from", "tools/echo-env-tool"],
        &environment,
        "",
    );
    assert!(
        bare.code == 0 && !bare.stdout.contains("xyz") && !bare.stdout.contains("ALLOWED"),
        "{bare:?}"
    );
}

/// A secret of the configuration is neither printed nor logged.
#[test]
fn secrets_of_the_configuration_are_never_shown() {
    const SECRET: &str = "tok-9f8e7d6c";
    let token = UpstreamServer::start("token");
    let broken = UpstreamServer::start("500");
    let page = UpstreamServer::start("html");
    let elsewhere = UpstreamServer::start("redirect-evil");
    let program = faulty_server();
    let server = |key: &str, value: &str, rest: &str| {
        format!("[[source]]\nname = \"s\"\n{key} = {value}\n{rest}\n")
    };
    let headers = format!("headers = {{ Authorization = \"Bearer {SECRET}\" }}");
    let environment = format!("env = {{ TOKEN = \"{SECRET}\" }}");
    let url = |url: &str| server("url", &format!("\"{url}\""), &headers);
    let command = |mode: &str| {
        server("command", &format!("[\"{program}\", \"mcp\", \"{mode}\"]"), &environment)
    };
    let cases = [
        ("refused", url(&token.url)),
        ("500", url(&broken.url)),
        ("html", url(&page.url)),
        ("redirect", url(&elsewhere.url)),
        ("nobody", url("http://127.0.0.1:1/mcp")),
        ("query", server("url", &format!("\"http://127.0.0.1:1/mcp?key={SECRET}\""), "")),
        ("userinfo", server("url", &format!("\"http://user:{SECRET}@127.0.0.1:1/mcp\""), "")),
        (
            "bad header",
            server(
                "url",
                "\"http://127.0.0.1:1/mcp\"",
                &format!("headers = {{ A = \"{SECRET}\\n\" }}"),
            ),
        ),
        ("exit", command("exit-start")),
        ("dies", command("dies-every-call")),
        ("no program", server("command", "[\"/no/such\"]", &environment)),
        (
            "arguments",
            server(
                "command",
                &format!("[\"{program}\", \"mcp\", \"exit-start\", \"--key={SECRET}\"]"),
                "",
            ),
        ),
        ("executables", server("executables", "\"nowhere\"", &environment)),
        ("mistake before", server("pth", "\"x\"", &environment)),
        ("mistake beside", server("url", "\"http://127.0.0.1:1/mcp\"", &environment)),
        (
            "mistake inside",
            server(
                "url",
                "\"x\"",
                &format!("headers = {{ A = \"{SECRET}\", \"b c\" = \"{SECRET}\", D = 5 }}"),
            ),
        ),
        ("wrong type", server("command", "\"x\"", &format!("env = [\"{SECRET}\"]"))),
        ("not TOML", server("command", "\"x\"", &format!("env = {{ A = \"{SECRET}\""))),
        (
            "bad reference",
            server("command", "\"x\"", &format!("env = {{ A = \"{SECRET}${{nope\" }}")),
        ),
        ("duplicate", command("good") + &command("good")),
    ];
    for (name, text) in &cases {
        let (folder, _) = configured(text);
        for args in [&["call", "s:echo"][..], &["call", "s:echo", "--json"], &["serve"]] {
            let run = run(folder.path(), args);
            let all = format!("{}{}", run.stdout, run.stderr);
            assert!(!all.contains(SECRET), "{name}, {args:?}: {all}");
        }
    }
}

/// Servers files with a secret in each, and a mistake or a server that fails.
fn servers_files(secret: &str, token: &UpstreamServer) -> Vec<(&'static str, Json)> {
    let file = |server: Json| json!({"mcpServers": {"s": server}});
    let program = faulty_server();
    vec![
        (
            "refused",
            file(
                json!({"url": token.url, "headers": {"Authorization": format!("Bearer {secret}")}}),
            ),
        ),
        (
            "exit",
            file(
                json!({"command": program, "args": ["mcp", "exit-start"], "env": {"TOKEN": secret}}),
            ),
        ),
        (
            "no program",
            file(json!({"command": "/no/such", "args": [secret], "env": {"TOKEN": secret}})),
        ),
        ("misspelled", file(json!({"comand": "x", "env": {"TOKEN": secret}}))),
        ("unset", file(json!({"command": "${NOT_SET}", "env": {"TOKEN": secret}}))),
        ("bad name", file(json!({"command": "x", "env": {"A=B": secret}}))),
        ("bad value", file(json!({"command": "x", "env": {"A": [secret]}}))),
    ]
}

/// Runs each of `commands` on each of these files, written on one line and on many.
fn no_secret_is_shown(commands: &[&[&str]]) {
    const SECRET: &str = "tok-9f8e7d6c";
    let token = UpstreamServer::start("token");
    let folder = folder(&[]);
    for (name, document) in servers_files(SECRET, &token) {
        for text in [document.to_string(), format!("{document:#}")] {
            std::fs::write(folder.path().join("mcp.json"), text).expect("a file");
            for args in commands {
                let run = run(folder.path(), args);
                let all = format!("{}{}", run.stdout, run.stderr);
                assert!(!all.contains(SECRET), "{name}, {args:?}: {all}");
            }
        }
    }
}

#[test]
fn secrets_of_servers_files_are_never_shown() {
    no_secret_is_shown(&[
        &["show", "--json", "mcp.json", "--output-format", "concise"],
        &["show", "mcp.json", "--output-format", "json"],
        &["call", "s:echo", "--from", "mcp.json"],
    ]);
}

/// Diagnostics of servers files do not show lines, because those have secrets.
#[test]
fn lines_of_servers_files_are_not_shown_with_their_secrets() {
    no_secret_is_shown(&[&["list", "mcp.json"]]);
}

#[test]
fn secrets_in_addresses_are_never_shown() {
    let folder = folder(&[]);
    for url in
        ["http://127.0.0.1:1/mcp?key=tok-9f8e7d6c", "http://user:tok-9f8e7d6c@127.0.0.1:1/mcp"]
    {
        let run = run(folder.path(), &["list", url]);
        assert_eq!(run.code, 2);
        assert!(!run.stderr.contains("tok-9f8e7d6c"), "{}", run.stderr);
    }
}

/// The ids that `list` printed.
fn ids(run: &Run) -> Vec<&str> {
    run.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn live_servers_are_listed_and_shown() {
    let folder = folder(&[]);
    let upstream = UpstreamServer::start("good");
    let modern = UpstreamServer::start("modern");
    let program = faulty_server();
    for args in [
        vec!["--", program.as_str(), "mcp", "good"],
        vec!["--", &program, "mcp", "paged"],
        vec![upstream.url.as_str()],
        vec![modern.url.as_str()],
    ] {
        let list: Vec<&str> = ["list"].iter().chain(&args).copied().collect();
        let run_list = run(folder.path(), &list);
        assert_eq!(run_list.code, 0, "{args:?}");
        assert!(run_list.stderr.lines().count() <= 1, "{args:?}: {}", run_list.stderr);
        let listed = ids(&run_list);
        assert!(listed.len() >= 14 && listed[..2] == ["echo", "add"], "{listed:?}");
        let show: Vec<&str> = ["show", "--json"].iter().chain(&args).copied().collect();
        let shown = run(folder.path(), &show);
        assert_eq!((shown.code, shown.stderr.as_str()), (0, ""), "{args:?}");
        let record: Json = serde_json::from_str(&shown.stdout).expect("JSON");
        let shown: Vec<&str> = record["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|tool| tool["id"].as_str())
            .collect();
        assert_eq!(shown, listed, "{args:?}");
    }
    let list = run(folder.path(), &["list", "--", &program, "mcp", "good"]);
    insta::assert_snapshot!("list_of_a_server", list.stdout);
}

#[test]
fn servers_files_of_every_client_are_read() {
    let upstream = UpstreamServer::start("token");
    let program = faulty_server();
    let started =
        json!({"command": "${BIN}", "args": ["mcp", "${MODE:-good}"], "env": {"A": "${env:A}"}});
    let reached = json!({"type": "http", "url": "${URL}", "headers": {"Authorization": "Bearer ${env:WORD}"}});
    let files = [
        ("claude/.mcp.json", json!({"mcpServers": {"one": started, "two": reached}})),
        (
            "cursor/.cursor/mcp.json",
            json!({"mcpServers": {
                "one": {"command": "${workspaceFolder}/bin/server", "args": ["mcp", "good"], "env": {"A": "${env:A}"}},
                "two": {"url": "${URL}", "headers": {"Authorization": "Bearer ${env:WORD}"}},
            }}),
        ),
        (
            "code/.vscode/mcp.json",
            json!({"inputs": [], "servers": {
                "one": {"type": "stdio", "command": "${env:BIN}", "args": ["mcp", "good"], "env": {"A": "${env:A}"}},
                "two": reached,
            }}),
        ),
        (
            "code/settings.json",
            json!({"editor.tabSize": 2, "mcp": {"servers": {"one": started, "two": reached}}}),
        ),
    ];
    let folder = folder(&[]);
    std::fs::create_dir_all(folder.path().join("cursor/bin")).expect("a folder");
    std::os::unix::fs::symlink(&program, folder.path().join("cursor/bin/server")).expect("a link");
    let environment =
        [("BIN", program.as_str()), ("URL", &upstream.url), ("WORD", "sesame"), ("A", "value")];
    for (name, document) in &files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, format!("{document:#}")).expect("a file");
        let list = run_with(folder.path(), &["list", name], &environment, "");
        assert_eq!((list.code, list.stderr.lines().count()), (0, 1), "{name}: {list:?}");
        list.assert_on_stderr(&format!(" warnings: `toolwright check {name}` shows them"));
        let listed = ids(&list);
        assert_eq!(
            listed.iter().filter(|id| id.starts_with("one:")).count(),
            14,
            "{name}: {listed:?}"
        );
        assert_eq!(
            listed.iter().filter(|id| id.starts_with("two:")).count(),
            14,
            "{name}: {listed:?}"
        );
        let called =
            run_with(folder.path(), &["call", "one:env", "--from", name], &environment, "");
        let answer: Json = serde_json::from_str(&called.stdout).expect("JSON");
        assert_eq!(answer["env"]["A"], "value", "{name}: {called:?}");
        let called = run_with(
            folder.path(),
            &["call", "two:add", "a=1", "b=2", "--from", name],
            &environment,
            "",
        );
        assert_eq!(
            (called.code, called.stdout.as_str()),
            (0, "{\n  \"sum\": 3\n}\n"),
            "{name}: {called:?}"
        );
    }
}

#[test]
fn an_unset_variable_leaves_one_server_out() {
    let program = faulty_server();
    let document = json!({"mcpServers": {
        "unset": {"command": "${NOT_SET}"},
        "whole": {"command": program, "args": ["mcp", "good"]},
        "asks": {"command": program, "args": ["${input:token}"]},
        "off": {"command": "${NOT_SET_EITHER}", "disabled": true},
    }});
    let folder = folder(&[("mcp.json", format!("{document:#}").as_bytes())]);
    let list = run(folder.path(), &["list", "mcp.json"]);
    assert_eq!(list.code, 1, "{list:?}");
    assert!(
        ids(&list).len() == 14 && ids(&list).iter().all(|id| id.starts_with("whole:")),
        "{list:?}"
    );
    insta::assert_snapshot!("unset_variable", run(folder.path(), &["show", "mcp.json"]).stderr);
}

#[test]
fn a_server_that_cannot_be_reached_is_one_line_and_exit_code_2() {
    let folder = folder(&[("page.json", PAGE.replace("12", "\"object\"").as_bytes())]);
    let [broken, html, token, garbage, dropped] =
        ["500", "html", "token", "garbage", "drop"].map(UpstreamServer::start);
    let program = faulty_server();
    let cases: &[(&str, &[&str], &str)] = &[
        (
            "nobody",
            &["http://127.0.0.1:1/mcp"],
            "no server listens at this address (connection refused)",
        ),
        ("no host", &["http://no-such-host.invalid/mcp"], "UPSTREAM_UNAVAILABLE"),
        ("500", &[&broken.url], "HTTP 500"),
        ("html", &[&html.url], "text/html"),
        ("token", &[&token.url], "requires a token"),
        ("garbage", &[&garbage.url], "HTTP 200 (application/json)"),
        ("drop", &[&dropped.url], "broke in the middle of the answer"),
        (
            "exit-start",
            &["--", &program, "mcp", "exit-start"],
            "its stderr ends with: cannot find the database",
        ),
        ("no program", &["--", "/no/such/program"], "SPAWN_FAILED"),
        ("not a server", &["--", "/bin/true"], "the server's process ended with status 0"),
    ];
    for (name, source, words) in cases {
        for command in ["list", "show"] {
            let args: Vec<&str> = [command, "page.json"].iter().chain(*source).copied().collect();
            let run = run(folder.path(), &args);
            assert_eq!(run.code, 2, "{name}: {run:?}");
            let sentences: Vec<&str> =
                run.stderr.lines().filter(|line| line.starts_with("toolwright: ")).collect();
            assert_eq!(sentences.len(), 1, "{name}: {run:?}");
            assert!(sentences[0].contains(words), "{name}: {run:?}");
            assert!(run.stderr.lines().count() == 1, "{name}: {run:?}");
            assert!(run.stdout.contains("page:read"), "the others are still there: {run:?}");
        }
    }
    let run = run(folder.path(), &["list", "http://127.0.0.1:1/mcp"]);
    insta::assert_snapshot!("unreachable_server", run.stderr);
}

#[test]
fn programs_are_run_only_when_they_are_named() {
    let folder = folder(&[("tools/page.json", PAGE.replace("12", "\"object\"").as_bytes())]);
    let marker = folder.path().join("it-ran");
    let schema =
        json!({"name": "marks", "description": "Leaves a mark.", "parameters": {"type": "object"}});
    let program = folder.path().join("tools/marking-tool");
    script(
        &program,
        &format!(
            "#!/bin/sh\ntouch '{}'\ncat >/dev/null\nprintf '%s' '{schema}'\n",
            marker.display()
        ),
    );
    // No program of a folder that is listed is run.
    for command in
        [&["list", "tools"][..], &["show", "tools"], &["call", "marks", "--from", "tools"]]
    {
        let run = run(folder.path(), command);
        assert!(!marker.exists(), "{command:?} ran it: {run:?}");
        assert!(!run.stdout.contains("marks"), "{command:?}: {run:?}");
    }
    let named = run(folder.path(), &["list", "tools/marking-tool"]);
    assert_eq!((named.code, ids(&named).as_slice()), (0, &["marks"][..]), "{named:?}");
    assert!(marker.exists());
    std::fs::remove_file(&marker).expect("it is there");
    // Files that are not executable, or have another name, are not run either.
    let text = std::fs::read(&program).expect("ours");
    std::fs::write(folder.path().join("plain-tool"), &text).expect("a file");
    script(&folder.path().join("marking"), &String::from_utf8(text).expect("UTF-8"));
    for name in ["plain-tool", "marking"] {
        for command in [&["list", name][..], &["call", "marks", "--from", name]] {
            let run = run(folder.path(), command);
            assert!(run.code != 0 && !marker.exists(), "{command:?}: {run:?}");
            assert!(run.stderr.contains(name), "{command:?}: {run:?}");
        }
    }
    // A program without a schema is one line.
    add_tools(folder.path(), &["schema-exit", "schema-garbage", "schema-hang", "schema-big"]);
    for (mode, words) in [
        ("exit", "`--schema`: the program ended with status 1: cannot tell the schema"),
        ("garbage", "`--schema` printed no description of a tool"),
        ("hang", "`--schema` printed nothing within"),
        ("big", "`--schema` printed more than 8192 bytes"),
    ] {
        let run = run(folder.path(), &["list", &format!("tools/schema-{mode}-tool")]);
        assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
    }
}
