//! The plan of sources to load, from a configuration or from the command line. Making a plan
//! starts nothing.

#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;
use toolwright_model::{Connection, Server, Variable};
use toolwright_workspace::{ReadOptions, SourceArgument, SourcePlan, SourceSpec, SourceTarget};

/// A folder with these files; names that end in `-tool` can be executed.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        if name.ends_with("-tool") {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
    folder
}

fn variables(name: &str) -> Option<String> {
    (name == "TOKEN").then(|| "sesame".to_owned())
}

/// The plan, line by line: `name = source`, then the failures, with `~` for the folder.
fn lines(plan: &SourcePlan, folder: &TempDir) -> Vec<String> {
    let specs = plan.specs.iter().map(line);
    let diagnostics =
        plan.diagnostics.iter().map(|d| format!("{} {}", d.code.name, d.path.as_str()));
    let failures = plan.failures.iter().map(|failure| format!("failed: {failure}"));
    let all = specs.chain(diagnostics).chain(failures);
    all.map(|line| line.replace(folder.path().to_str().unwrap(), "~")).collect()
}

fn line(spec: &SourceSpec) -> String {
    let what = match &spec.target {
        SourceTarget::Definitions(path) => format!("definitions {}", path.display()),
        SourceTarget::Executables(path) => format!("executables {}", path.display()),
        SourceTarget::Program(path) => format!("program {}", path.display()),
        SourceTarget::Builtin(toolset, namespace) => format!("builtin {toolset} as {namespace}"),
        SourceTarget::Server(server, namespace) => {
            let namespace = namespace.as_ref().map_or("-", |namespace| namespace.as_str());
            format!("server {namespace} {}", way(server))
        }
    };
    let reader = match spec.options {
        ReadOptions { format: None, compat: false, .. } => String::new(),
        ReadOptions { format, compat, .. } => {
            format!(" as {} {compat}", format.map_or("-", |format| format.0))
        }
    };
    let environment: String =
        spec.environment.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    format!("{} = {what}{reader}{environment}", spec.name)
}

fn way(server: &Server) -> String {
    let way = match &server.connection {
        Connection::Stdio { command } => command.join(" "),
        Connection::Http { url } => format!("http {url}"),
        Connection::Sse { url } => format!("sse {url}"),
        Connection::WebSocket { url } => format!("ws {url}"),
    };
    let list = |variables: &[Variable]| -> String {
        variables
            .iter()
            .map(|v| format!(" {}={}", v.name, v.value.as_deref().unwrap_or("?")))
            .collect()
    };
    let directory =
        server.directory.as_ref().map(|directory| format!(" in {directory}")).unwrap_or_default();
    format!("{way}{}{}{directory}", list(&server.environment), list(&server.headers))
}

const SERVERS: &str = r#"{"mcpServers": {
    "one": {"command": "sh", "args": ["-x"], "env": {"KEY": "${TOKEN}"}},
    "off": {"command": "sh", "disabled": true},
    "bad": {"args": []},
    "two": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
}}"#;

#[test]
fn every_source_of_a_configuration_is_planned() {
    let folder = folder(&[
        (
            "toolwright.toml",
            r#"
            [[source]]
            name = "defs"
            path = "tools"
            format = "aios"
            compat = true
            env = { KEY = "${TOKEN}" }

            [[source]]
            name = "programs"
            executables = "bin"

            [[source]]
            name = "started"
            command = "sh 'a b' c"
            directory = "work"
            env = { KEY = "k" }

            [[source]]
            name = "reached"
            url = "https://h/mcp"
            headers = { Authorization = "Bearer ${TOKEN}" }

            [[source]]
            name = "others"
            mcp = "mcp.json"
            env = { MORE = "m", KEY = "not this" }

            [limits]
            timeout = 5000
            output = 2048

            [serve]
            list_wait = 7
            "#,
        ),
        ("mcp.json", SERVERS),
        ("work/x", ""),
    ]);
    let config = folder.path().join("toolwright.toml");
    let plan = SourcePlan::from_config(&config, ReadOptions::default(), &variables);
    assert_eq!(
        lines(&plan, &folder),
        [
            "defs = definitions ~/tools as aios true KEY=sesame",
            "programs = executables ~/bin",
            "started = server started sh a b c KEY=k in ~/work KEY=k",
            "reached = server reached http https://h/mcp Authorization=Bearer sesame",
            "one = server one sh -x KEY=sesame MORE=m",
            "two = server two sse https://h/mcp MORE=m KEY=not this Authorization=Bearer sesame",
            "MISSING_REQUIRED_FIELD /mcpServers/bad/command",
            "PLACEHOLDER_VALUE /source/2/env/KEY",
        ]
    );
    assert_eq!(plan.files, [config, folder.path().join("mcp.json")]);
    assert_eq!((plan.limits.timeout.as_millis(), plan.limits.output), (5_000, 2_048));
    assert_eq!(plan.serve.list_wait.as_millis(), 7);
}

#[test]
fn the_valid_sources_of_a_configuration_with_mistakes_are_planned() {
    for (text, expected) in [
        ("", vec![]),
        (
            "[[source]]\nname = \"a\"\npath = \"t\"\n[[source]]\nname = \"b\"\n",
            vec!["a = definitions ~/t", "MISSING_REQUIRED_FIELD /source/1"],
        ),
        (
            "[[source]]\nname = \"a\"\ncommand = \"sh\"\nenv = { X = \"${NOT_SET}\" }\n",
            vec!["UNSET_VARIABLE /source/0/env/X"],
        ),
        (
            "[[source]]\nname = \"a\"\nmcp = \"none.json\"\n",
            vec!["failed: cannot read `~/none.json`: there is no such file"],
        ),
        ("[[source]\n", vec!["INVALID_SYNTAX "]),
    ] {
        let folder = folder(&[("toolwright.toml", text)]);
        let plan = SourcePlan::from_config(
            &folder.path().join("toolwright.toml"),
            ReadOptions::default(),
            &variables,
        );
        assert_eq!(lines(&plan, &folder), expected, "{text}");
    }
}

#[test]
fn an_unreadable_configuration_is_an_error() {
    let folder = folder(&[("folder/x", "")]);
    let bytes = folder.path().join("bytes");
    std::fs::write(&bytes, b"name = \"\xff\"").unwrap();
    for (name, why) in [
        ("none.toml", "cannot read `~/none.toml`: there is no such file"),
        ("folder", "cannot read `~/folder`: it is a folder"),
        ("bytes", "cannot read `~/bytes`: "),
    ] {
        let path = folder.path().join(name);
        let plan = SourcePlan::from_config(&path, ReadOptions::default(), &variables);
        let lines = lines(&plan, &folder);
        assert!(
            matches!(&lines[..], [line] if line.starts_with(&format!("failed: {why}"))),
            "{lines:?}"
        );
        assert_eq!(plan.files, [path], "it may come");
    }
}

#[test]
fn arguments_of_the_command_line_are_classified() {
    for (word, expected) in [
        ("http://h/mcp", SourceArgument::Url("http://h/mcp".into())),
        ("HTTPS://h", SourceArgument::Url("HTTPS://h".into())),
        ("http:", SourceArgument::Path("http:".into())),
        ("ftp://h", SourceArgument::Path("ftp://h".into())),
        ("-", SourceArgument::Path("-".into())),
        ("é", SourceArgument::Path("é".into())),
        ("", SourceArgument::Path("".into())),
    ] {
        assert_eq!(SourceArgument::parse(word), expected);
    }
}

#[test]
fn every_source_of_a_command_line_is_planned() {
    let folder = folder(&[
        ("tools/a.json", "{}"),
        ("b.yaml", ""),
        ("echo-tool", "#!/bin/sh\n"),
        ("mcp.json", SERVERS),
        ("vscode.json", r#"{"servers": {"v": {"command": "sh"}}, "inputs": []}"#),
        (
            "talks-about.json",
            r#"{"name": "x", "description": "mcpServers", "tools": ["mcpServers"]}"#,
        ),
        ("empty.json", r#"{"mcpServers": {}}"#),
    ]);
    std::fs::write(folder.path().join("plain-tools"), "").unwrap();
    let at = |name: &str| SourceArgument::Path(folder.path().join(name));
    let as_mcp = ReadOptions {
        format: toolwright_formats::by_name("mcp").map(|format| format.id()),
        ..ReadOptions::default()
    };
    let none = ReadOptions::default();
    for (named, reader, expected) in [
        (at("tools"), none, vec!["~/tools = definitions ~/tools"]),
        (at("b.yaml"), none, vec!["~/b.yaml = definitions ~/b.yaml"]),
        (at("none.json"), none, vec!["failed: cannot read `~/none.json`: there is no such file"]),
        (at("echo-tool"), none, vec!["~/echo-tool = program ~/echo-tool"]),
        (at("plain-tools"), none, vec!["~/plain-tools = definitions ~/plain-tools"]),
        (
            at("mcp.json"),
            none,
            vec![
                "one = server one sh -x KEY=sesame",
                "two = server two sse https://h/mcp Authorization=Bearer sesame",
                "MISSING_REQUIRED_FIELD /mcpServers/bad/command",
            ],
        ),
        (at("vscode.json"), none, vec!["v = server v sh"]),
        (at("empty.json"), none, vec![]),
        (at("talks-about.json"), none, vec!["~/talks-about.json = definitions ~/talks-about.json"]),
        (at("mcp.json"), as_mcp, vec!["~/mcp.json = definitions ~/mcp.json as mcp false"]),
        (SourceArgument::Path(PathBuf::from("-")), none, vec!["<stdin> = definitions -"]),
        // The query may be a secret: it is sent, and not shown.
        (
            SourceArgument::Url("http://h/mcp?key=k#f".into()),
            none,
            vec!["http://h/mcp = server - http http://h/mcp?key=k#f"],
        ),
        (
            SourceArgument::Command(vec!["sh".into(), "-x".into()]),
            none,
            vec!["-- sh = server - sh -x"],
        ),
    ] {
        let plan = SourcePlan::from_arguments(std::slice::from_ref(&named), reader, &variables);
        assert_eq!(lines(&plan, &folder), expected, "{named:?}");
    }
}

#[test]
fn paths_of_programs_and_servers_files_are_live() {
    let folder = folder(&[
        ("echo-tool", ""),
        ("mcp.json", SERVERS),
        ("a.json", "{}"),
        ("folder-tool/x", ""),
    ]);
    for (name, expected) in [
        ("echo-tool", true),
        ("mcp.json", true),
        ("a.json", false),
        ("folder-tool", false),
        ("none-tool", false),
    ] {
        assert_eq!(
            SourcePlan::is_live(&folder.path().join(name), ReadOptions::default()),
            expected,
            "{name}"
        );
    }
}
