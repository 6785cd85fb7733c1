//! Secrets in the settings of servers: every form in which people write them is found, and no
//! command prints one. The tables of values and of near misses are in `secret_values`.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::client::{faulty_server, run_with, script};
use crate::found_sources::answered_in;
use crate::program::{Run, folder};

/// A random word that no other output has, made up here so that scanners find none in this file.
fn random(n: usize) -> String {
    format!("9f8a{n}b7c6{n}d5e4f3a2{n}c1d0")
}

/// The secrets of [`servers`], each in another form.
fn secrets() -> Vec<String> {
    let hex = ["9f8a7b6c5d4e3f2a1b0c", "9d8e7f6a5b4c3d2e1f0a"].concat();
    let words = ["quagmire", "zeppelin", "marzipan", "pterodactyl", "rutabaga", "kumquatjam"];
    let others = ["gooseberry jam", "tamarillo", "mangosteen", "persimmon", "clementine"];
    let words = words.iter().chain(&others).map(|word| (*word).to_owned());
    (0..11).map(random).chain([hex]).chain(words).chain([random(11)]).collect()
}

/// Servers with every secret. Most of them work: what is shown of a tool names its server.
fn servers() -> Json {
    let secret = secrets();
    let server = |line: &str, args: &[&str]| {
        let line = format!("{line}exec '{}' mcp good", faulty_server());
        let args = [&["-c", line.as_str(), "x"], args].concat();
        json!({"command": "sh", "args": args})
    };
    let with = |mut server: Json, key: &str, value: Json| {
        server[key] = value;
        server
    };
    json!({"mcpServers": {
        "assigned": server(&format!("API_KEY={} true; ", secret[0]), &[]),
        "exported": server(&format!("export API_KEY='{}' && ", secret[1]), &[]),
        "option": server(&format!(": --token {}; ", secret[2]), &[]),
        "short": server("", &["-p", &secret[3], "-k", &secret[4], &format!("-t={}", secret[5])]),
        "json": server("", &["--config", &format!("{{\"exaApiKey\":\"{}\"}}", secret[6])]),
        "nested": server(&format!("sh -c 'true --api-key={}'; ", secret[7]), &[]),
        // The shell repeats its argument on stderr.
        "failing": {"command": "sh", "args": ["-c", "echo \"bad $1\" >&2; exit 3", "x",
            format!("--token={}", secret[8])]},
        "line": {"command": format!("no-such --token {}", secret[9])},
        "name": with(server("", &[]), "env", json!({format!("API_KEY={}", secret[10]): "x"})),
        "path": {"url": format!("http://127.0.0.1:1/s/{}/mcp", secret[11])},
        "url": server("", &[&format!("postgres://user:{}@host/db", secret[12])]),
        "env": with(server("", &[]), "env", json!({
            "DATABASE_URL": format!("postgres://user:{}@host/db", secret[13]),
            "PGPASSWORD": secret[14],
        })),
        "package": {"command": "npx", "args": [format!("git+https://user:{}@host/r", secret[15])]},
        "pairs": server("", &[&format!("host=h user=u password={}", secret[16])]),
        "header": {"url": "http://127.0.0.1:1/mcp",
            "headers": {"Authorization": format!("Basic {}", secret[17])}},
        "quoted": server(&format!(": --token \"{}\"; ", secret[18]), &[]),
        "user": server(&format!(": curl -u ann:{}; ", secret[19]), &[]),
        "default": server("", &["--token", &format!("${{NOT_SET:-{}}}", secret[20])]),
        "word": with(server("", &[]), "env", json!({"API_KEY": secret[21]})),
        "oauth": with(server("", &[]), "oauth", json!({"clientSecret": secret[22]})),
        "query": {"url": format!("http://127.0.0.1:1/mcp?t={}", secret[23])},
    }})
}

/// The same settings as a configuration, half of the commands as one line.
fn configuration() -> String {
    let mut text = String::new();
    for (n, (name, entry)) in
        servers()["mcpServers"].as_object().expect("servers").iter().enumerate()
    {
        text += &format!("[[source]]\nname = \"{name}\"\n");
        if let Some(url) = entry["url"].as_str() {
            text += &format!("url = {}\n", json!(url));
        } else {
            let mut words = vec![entry["command"].clone()];
            words.extend(entry["args"].as_array().into_iter().flatten().cloned());
            let quoted =
                |word: &Json| format!("'{}'", word.as_str().expect("text").replace('\'', r"'\''"));
            text += &match n % 2 == 0 {
                true => format!("command = {}\n", Json::from(words)),
                false => {
                    let line = words.iter().map(quoted).collect::<Vec<_>>().join(" ");
                    format!("command = {}\n", json!(line))
                }
            };
        }
        for key in ["env", "headers"] {
            let pairs = entry[key].as_object().into_iter().flatten();
            let pairs: Vec<String> =
                pairs.map(|(name, value)| format!("{} = {value}", json!(name))).collect();
            if !pairs.is_empty() {
                text += &format!("{key} = {{ {} }}\n", pairs.join(", "));
            }
        }
        text += "\n";
    }
    text
}

/// A folder with the servers file and, in `other`, the configuration.
fn settings() -> tempfile::TempDir {
    let servers = format!("{:#}", servers());
    let folder = folder(&[
        (".mcp.json", servers.as_bytes()),
        ("other/toolwright.toml", configuration().as_bytes()),
    ]);
    script(&folder.path().join("bin/npx"), "#!/bin/sh\nexit 1\n");
    folder
}

fn run(folder: &Path, args: &[&str]) -> Run {
    let path = format!("{}:/bin:/usr/bin", folder.join("bin").display());
    let home = folder.display().to_string();
    run_with(folder, args, &[("PATH", &path), ("HOME", &home)], "")
}

/// Asserts that a text has none of the secrets in it.
fn assert_no_secret(text: &str, what: &str) {
    for secret in secrets() {
        assert!(!text.contains(&secret), "{what} shows {secret}: {text}");
    }
}

#[test]
fn every_form_of_a_secret_is_found() {
    let folder = settings();
    for file in [".mcp.json", "other/toolwright.toml"] {
        let args = ["check", "--no-start", "--output-format", "json", "--select", "LITERAL_SECRET"];
        let found = run(folder.path(), &[&args[..], &[file]].concat());
        let lines = found.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let findings: Vec<Json> = lines.collect();
        for name in servers()["mcpServers"].as_object().expect("servers").keys() {
            // A misplaced setting is not a value: it is an error of its own.
            if name == "name" {
                continue;
            }
            let number = |wanted: &str| {
                let names = servers()["mcpServers"].as_object().expect("servers").clone();
                names.keys().position(|name| name == wanted).expect("it is there")
            };
            let places = [format!("/mcpServers/{name}/"), format!("/source/{}/", number(name))];
            let is_here = |finding: &&Json| {
                let path = finding["path"].as_str().expect("a path");
                places.iter().any(|place| path.starts_with(place.as_str()))
            };
            let expected = match name.as_str() {
                "short" => 3,
                "env" => 2,
                // A configuration has no such key.
                "oauth" if file != ".mcp.json" => 0,
                _ => 1,
            };
            assert_eq!(
                findings.iter().filter(is_here).count(),
                expected,
                "{file} {name}: {found:?}"
            );
        }
    }
}

#[test]
fn no_command_shows_a_secret() {
    let folder = settings();
    for file in [".mcp.json", "other/toolwright.toml"] {
        let mut commands: Vec<Vec<&str>> = vec![
            vec!["list", file],
            vec!["list", "--json", file],
            vec!["show", file],
            vec!["show", "--json", file],
            vec!["show", "--output-format", "json", file],
            vec!["cost", file],
            vec!["cost", "--json", file],
            vec!["test", file],
            vec!["test", "--run", file],
            vec!["serve", "--from", file],
            vec!["call", "assigned:add", "a=1", "b=2", "--from", file],
            vec!["call", "failing:add", "--from", file],
            vec!["call", "line:add", "--from", file],
            vec!["call", "path:add", "--from", file],
            vec!["convert", "--to", "aios", file],
            vec!["convert", "--to", "openai", file],
            vec!["diff", file, file],
            vec!["check", "--write-baseline", "known.json", file],
        ];
        for format in ["full", "concise", "json", "sarif", "github"] {
            commands.push(vec!["check", "--no-start", "--output-format", format, file]);
            commands.push(vec!["check", "--output-format", format, file]);
        }
        for format in ["full", "concise"] {
            let options = ["check", "--no-start", "--fix", "--diff", "--unsafe-fixes"];
            commands.push([&options[..], &["--output-format", format, file]].concat());
        }
        for args in commands {
            let run = run(folder.path(), &args);
            let text = format!("{}\n{}", run.stdout, run.stderr);
            assert!(!text.trim().is_empty(), "{args:?}");
            assert_no_secret(&text, &format!("{args:?}"));
        }
    }
    // A server that is named on the command line has settings, too.
    let secret = random(3);
    let echo = "echo \"bad $1\" >&2; exit 3";
    let named = run(folder.path(), &["list", "--", "sh", "-c", echo, "x", "--token", &secret]);
    assert!(!format!("{named:?}").contains(&secret), "{named:?}");
    let url = format!("http://127.0.0.1:1/s/{}/mcp", secrets()[11]);
    let named = run(folder.path(), &["check", &url]);
    assert!(!format!("{named:?}").contains(&secrets()[11]), "{named:?}");
    let known = std::fs::read_to_string(folder.path().join("known.json")).unwrap_or_default();
    assert_no_secret(&known, "the baseline");
}

/// One server alone can be written as a definition, which is made to be handed on.
#[test]
fn a_definition_made_of_a_server_has_no_secret() {
    let folder = settings();
    for name in ["assigned", "short", "env", "url"] {
        let one = json!({"mcpServers": {name: servers()["mcpServers"][name]}}).to_string();
        std::fs::write(folder.path().join("one.json"), one).expect("a file");
        let args = ["convert", "--to", "aios", "--force", "--losses", "full", "one.json"];
        let converted = run(folder.path(), &args);
        assert_no_secret(&format!("{converted:?}"), name);
        let sets = ["--set", "version=1.0.0", "--set", "category=other"];
        let converted = run(folder.path(), &[&args[..], &sets].concat());
        assert_no_secret(&format!("{converted:?}"), name);
    }
}

#[test]
fn a_question_and_a_new_configuration_show_no_secret() {
    let folder = settings();
    let path = format!("{}:/bin:/usr/bin", folder.path().join("bin").display());
    let home = folder.path().display().to_string();
    let variables = [("PATH", path.as_str()), ("HOME", home.as_str())];
    for place in [folder.path().to_owned(), folder.path().join("other")] {
        let (text, _) = answered_in(&place, &["list"], &variables, "n\n");
        assert!(text.contains("would start"), "{text}");
        assert_no_secret(&text, "the question");
    }
    let init = run(folder.path(), &["init", "--yes"]);
    assert_eq!(init.code, 0, "{init:?}");
    assert_no_secret(&format!("{init:?}"), "init");
    let written = std::fs::read_to_string(folder.path().join("toolwright.toml")).expect("the file");
    assert_no_secret(&written, "the configuration");
    for variable in ["API_KEY", "SHORT_P", "SHORT_K", "SHORT_T", "PGPASSWORD", "PATH_TOKEN"] {
        assert!(init.stderr.contains(&format!("set the variable {variable}:")), "{init:?}");
    }
}

/// `--unsafe-fixes` leaves no secret in a servers file, and a second run finds none.
#[test]
fn all_secrets_are_replaced() {
    let folder = settings();
    let fix = ["check", "--no-start", "--unsafe-fixes", ".mcp.json"];
    let fixed = run(folder.path(), &fix);
    assert_no_secret(&format!("{fixed:?}"), "the fix");
    let text = std::fs::read_to_string(folder.path().join(".mcp.json")).expect("the file");
    // What stands in the place of a name has no repair.
    for secret in secrets().into_iter().filter(|secret| *secret != random(10)) {
        assert!(!text.contains(&secret), "{secret}: {text}");
    }
    let again = run(folder.path(), &["check", "--no-start", ".mcp.json"]);
    assert!(!again.stdout.contains("LITERAL_SECRET"), "{again:?}");
}
