//! `install`: the files of MCP clients, in a temporary home. What stays as it was when an entry is
//! written into them, and what `--undo` does.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::client::run_with;
use crate::program::{Run, folder};

/// A token that nobody has, made up here so that no scanner finds it in this file.
pub(crate) fn token() -> String {
    format!("ghp_{}", "q8Zr5Tn2Wk7Lp0Vx3Bc6Md9Hs4Jf1Gy8Ra2E")
}

/// A home with a project in it, with these files.
pub(crate) fn home(files: &[(&str, &str)]) -> tempfile::TempDir {
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let home = folder(&files);
    std::fs::create_dir_all(home.path().join("project")).expect("a folder");
    home
}

/// A run in the project.
pub(crate) fn run(home: &Path, args: &[&str]) -> Run {
    let variable = home.display().to_string();
    run_with(&home.join("project"), args, &[("HOME", &variable)], "")
}

pub(crate) fn read(home: &Path, name: &str) -> String {
    std::fs::read_to_string(home.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The file of each client, as its client would write it, with what must stay in it.
const FILES: &[(&str, &str, &str)] = &[
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}\n  }\n}\n",
    ),
    ("claude-desktop", ".config/Claude/claude_desktop_config.json", "{}\n"),
    ("cursor", ".cursor/mcp.json", "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "// servers\r\n{\r\n\t\"servers\": {\r\n\t\t\"a\": {\"command\": \"a\"}, // keep\r\n\t},\r\n}\r\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "# mine\nmodel = \"o\"   # spaced\n\n[mcp_servers.a]\ncommand = \"a\"\n\n[tui]\nx = 1\n",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "{\n  // a comment\n  \"theme\": \"One Dark\",\n  \"context_servers\": {\n    \"a\": {\"command\": \"a\"} // about a\n  }\n}\n",
    ),
    ("gemini", ".gemini/settings.json", "{\n  \"theme\": \"dark\"\n}\n"),
];

#[test]
fn install_keeps_the_rest_of_each_file_and_undo_restores_it() {
    for &(client, file, text) in FILES {
        let home = home(&[(file, text), ("project/toolwright.toml", "")]);
        let path = home.path().join(file);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("ours");
        let shown = run(home.path(), &["install", client]);
        assert_eq!(
            (shown.code, read(home.path(), file).as_str()),
            (2, text),
            "{client}: {shown:?}"
        );
        let done = run(home.path(), &["install", client, "--yes"]);
        assert_eq!(done.code, 0, "{client}: {done:?}");
        let written = read(home.path(), file);
        // Every line is there as before, up to a comma behind it.
        let lines: Vec<&str> = written.lines().collect();
        if client != "cursor" && client != "claude-desktop" {
            for line in text.lines().filter(|line| !line.is_empty()) {
                let with_comma = format!("{line},");
                let comment = line.replace(" // about", ", // about");
                assert!(
                    lines
                        .iter()
                        .any(|other| *other == line || *other == with_comma || *other == comment),
                    "{client}: {line:?} is gone: {written}"
                );
            }
        }
        assert!(
            written.contains("serve") && written.contains("toolwright.toml"),
            "{client}: {written}"
        );
        assert!(
            done.stdout.contains("+") && done.stdout.contains("\"toolwright\"")
                || client == "codex",
            "{done:?}"
        );
        assert_eq!(std::fs::metadata(&path).expect("a file").mode() & 0o777, 0o640, "{client}");
        // The second time there is nothing to do.
        let again = run(home.path(), &["install", client, "--yes"]);
        assert!(
            again.code == 0 && again.stdout.contains("has this entry already"),
            "{client}: {again:?}"
        );
        assert_eq!(read(home.path(), file), written);
        let undone = run(home.path(), &["install", client, "--undo", "--yes"]);
        assert_eq!(
            (undone.code, read(home.path(), file).as_str()),
            (0, text),
            "{client}: {undone:?}"
        );
        let nothing = run(home.path(), &["install", client, "--undo", "--yes"]);
        assert!(
            nothing.code == 2 && nothing.stderr.contains("nothing to undo"),
            "{client}: {nothing:?}"
        );
        let files =
            std::fs::read_dir(path.parent().expect("a folder")).expect("a folder").flatten();
        let left = files.map(|file| file.file_name().to_string_lossy().into_owned());
        assert_eq!(left.filter(|name| name.contains("toolwright")).count(), 0, "{client}");
    }
}

/// The file of a project, and what is in it but white space. It has no absolute paths.
const PROJECT_FILES: &[(&str, &str, &str)] = &[
    (
        "claude-code",
        ".mcp.json",
        r#"{"mcpServers":{"toolwright":{"type":"stdio","command":"toolwright","args":["serve","--config","toolwright.toml"]}}}"#,
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        r#"{"mcpServers":{"toolwright":{"command":"toolwright","args":["serve","--config","${workspaceFolder}/toolwright.toml"]}}}"#,
    ),
    (
        "vscode",
        ".vscode/mcp.json",
        r#"{"servers":{"toolwright":{"type":"stdio","command":"toolwright","args":["serve","--config","${workspaceFolder}/toolwright.toml"]}}}"#,
    ),
    (
        "codex",
        ".codex/config.toml",
        r#"[mcp_servers.toolwright]command="toolwright"args=["serve","--config","toolwright.toml"]"#,
    ),
    (
        "zed",
        ".zed/settings.json",
        r#"{"context_servers":{"toolwright":{"source":"custom","command":"toolwright","args":["serve","--config","toolwright.toml"]}}}"#,
    ),
    (
        "gemini",
        ".gemini/settings.json",
        r#"{"mcpServers":{"toolwright":{"command":"toolwright","args":["serve","--config","toolwright.toml"]}}}"#,
    ),
];

/// The entry as each client reads it, in a new file of the user and in one of a project.
#[test]
fn install_creates_the_file_and_undo_removes_it() {
    for &(client, file, _) in FILES {
        let home = home(&[("project/toolwright.toml", ""), ("project/sub/x", "")]);
        let done = run_with(
            &home.path().join("project/sub"),
            &["install", client, "--yes"],
            &[("HOME", &home.path().display().to_string())],
            "",
        );
        assert_eq!(done.code, 0, "{client}: {done:?}");
        let text = read(home.path(), file);
        let config = home.path().join("project/toolwright.toml").display().to_string();
        assert!(
            text.contains(env!("CARGO_BIN_EXE_toolwright")) && text.contains(&config),
            "{client}: {text}"
        );
        let undone = run(home.path(), &["install", client, "--undo", "--yes"]);
        assert_eq!(
            (undone.code, home.path().join(file).exists()),
            (0, false),
            "{client}: {undone:?}"
        );
        let project = run(home.path(), &["install", client, "--project", "--yes"]);
        if client == "claude-desktop" {
            assert!(
                project.code == 2 && project.stderr.contains("has no file for a project"),
                "{project:?}"
            );
            continue;
        }
        assert_eq!(project.code, 0, "{client}: {project:?}");
        let (_, file, expected) =
            PROJECT_FILES.iter().find(|(id, ..)| *id == client).expect("a row");
        let written = read(home.path(), &format!("project/{file}"));
        let words: String = written.split_whitespace().collect();
        assert_eq!(words, *expected, "{client}: {written}");
    }
}

#[test]
fn an_entry_is_replaced_and_put_back() {
    let earlier = "{\n  \"mcpServers\": {\n    \"toolwright\": {\"command\": \"old\"},\n    \"b\": {\"command\": \"b\"}\n  }\n}\n";
    let home = home(&[(".cursor/mcp.json", earlier), ("project/toolwright.toml", "")]);
    assert_eq!(run(home.path(), &["install", "cursor", "--yes"]).code, 0);
    // The client has changed the file since.
    let changed = read(home.path(), ".cursor/mcp.json")
        .replace("\"b\": {\"command\": \"b\"}", "\"c\": {\"command\": \"c\"}");
    std::fs::write(home.path().join(".cursor/mcp.json"), &changed).expect("a file");
    assert_eq!(run(home.path(), &["install", "cursor", "--undo", "--yes"]).code, 0);
    let values: Json = serde_json::from_str(&read(home.path(), ".cursor/mcp.json")).expect("JSON");
    assert_eq!(
        values,
        json!({"mcpServers": {"toolwright": {"command": "old"}, "c": {"command": "c"}}})
    );
    // Comments around the entry stay where they are.
    let (client, file, text) = FILES.iter().find(|(client, ..)| *client == "zed").expect("a row");
    std::fs::create_dir_all(home.path().join(".config/zed")).expect("a folder");
    std::fs::write(home.path().join(file), text).expect("a file");
    assert_eq!(run(home.path(), &["install", client, "--yes"]).code, 0);
    let changed = read(home.path(), file).replace("One Dark", "Ayu");
    std::fs::write(home.path().join(file), changed).expect("a file");
    assert_eq!(run(home.path(), &["install", client, "--undo", "--yes"]).code, 0);
    assert_eq!(read(home.path(), file), text.replace("One Dark", "Ayu"));
    // The same for a table of TOML with tables below it.
    let toml = "[mcp_servers.toolwright]\ncommand = \"old\"\n[mcp_servers.toolwright.env]\nA = \"1\"\n\n[z]\ny = 1\n";
    std::fs::create_dir_all(home.path().join(".codex")).expect("a folder");
    std::fs::write(home.path().join(".codex/config.toml"), toml).expect("a file");
    assert_eq!(run(home.path(), &["install", "codex", "--yes"]).code, 0);
    let written = read(home.path(), ".codex/config.toml");
    assert!(
        written.starts_with("[mcp_servers.toolwright]\ncommand = ")
            && written.ends_with("]\n\n[z]\ny = 1\n"),
        "{written}"
    );
    assert_eq!(run(home.path(), &["install", "codex", "--undo", "--yes"]).code, 0);
    assert_eq!(read(home.path(), ".codex/config.toml"), toml);
}

#[test]
fn install_shows_no_secrets_and_follows_links() {
    let token = token();
    let text = format!(
        "{{\"mcpServers\": {{\"a\": {{\"command\": \"a\", \"env\": {{\"TOKEN\": \"{token}\"}}}}}}}}"
    );
    let toml = format!("[mcp_servers.a.env]\nTOKEN = \"{token}\"\n");
    let home = home(&[
        ("dotfiles/mcp.json", &text),
        (".codex/config.toml", &toml),
        ("project/toolwright.toml", ""),
        (".cursor/x", ""),
    ]);
    symlink("../dotfiles/mcp.json", home.path().join(".cursor/mcp.json")).expect("a link");
    for client in ["cursor", "codex"] {
        for args in [&["--yes"][..], &["--undo", "--yes"]] {
            let done = run(home.path(), &[&["install", client], args].concat());
            assert_eq!(done.code, 0, "{done:?}");
            assert!(!done.stdout.contains(&token) && !done.stderr.contains(&token), "{done:?}");
        }
    }
    assert!(home.path().join(".cursor/mcp.json").is_symlink());
    assert_eq!(read(home.path(), "dotfiles/mcp.json"), text);
}

#[test]
fn files_that_cannot_be_edited_are_left_alone() {
    let cases = [
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": ", "it cannot be parsed"),
        ("cursor", ".cursor/mcp.json", "[]", "is not an object"),
        (
            "cursor",
            ".cursor/mcp.json",
            "{\"mcpServers\": []}",
            "`mcpServers` in it is not an object",
        ),
        ("codex", ".codex/config.toml", "[[[", "it cannot be parsed"),
        (
            "codex",
            ".codex/config.toml",
            "mcp_servers = { a = { command = \"a\" } }\n",
            "cannot be edited",
        ),
        (
            "codex",
            ".codex/config.toml",
            "[mcp_servers]\ntoolwright = { command = \"a\" }\n",
            "cannot be edited",
        ),
    ];
    for (client, file, text, words) in cases {
        let home = home(&[(file, text), ("project/toolwright.toml", "")]);
        let refused = run(home.path(), &["install", client, "--yes"]);
        assert!(refused.code == 2 && refused.stderr.contains(words), "{text}: {refused:?}");
        assert_eq!(read(home.path(), file), text);
    }
    let home = home(&[]);
    let none = run(home.path(), &["install", "cursor", "--yes"]);
    assert!(none.code == 2 && none.stderr.contains("`toolwright init` writes one"), "{none:?}");
    let unknown = run(home.path(), &["install", "emacs"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("claude-code"), "{unknown:?}");
}

/// A link is called because it leads to the newest version; what it leads to today is not written.
#[test]
fn install_keeps_the_path_that_was_called() {
    let home = home(&[("project/toolwright.toml", "")]);
    let link = home.path().join("tw");
    symlink(env!("CARGO_BIN_EXE_toolwright"), &link).expect("a link");
    let status = std::process::Command::new(&link)
        .args(["install", "cursor", "--yes"])
        .current_dir(home.path().join("project"))
        .env_clear()
        .env("HOME", home.path())
        .output()
        .expect("it runs");
    assert!(status.status.success(), "{status:?}");
    let entry: Json = serde_json::from_str(&read(home.path(), ".cursor/mcp.json")).expect("JSON");
    let command = entry["mcpServers"]["toolwright"]["command"].as_str().expect("a text");
    assert_eq!(Path::new(command), link);
}

#[test]
fn install_warns_of_servers_that_the_client_starts_twice() {
    let config = "[[source]]\nname = \"a\"\ncommand = \"true\"\n\
                  [[source]]\nname = \"b\"\ncommand = \"true\"\n";
    let servers = r#"{"mcpServers": {"a": {"command": "true"}, "c": {"command": "true"}}}"#;
    let home = home(&[("project/toolwright.toml", config), ("project/.mcp.json", servers)]);
    let path = std::env::var("PATH").unwrap_or_default();
    let variables = [("HOME", home.path().to_str().expect("UTF-8")), ("PATH", path.as_str())];
    let install = |client: &str| {
        let args = ["install", client, "--project", "--yes"];
        run_with(&home.path().join("project"), &args, &variables, "")
    };
    let done = install("claude-code");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains("Claude Code sees the tools of `a` twice: "), "{done:?}");
    assert_eq!(install("cursor").stderr, "");
    // The client reads the file of the project beside the one that is changed here.
    let args = ["install", "claude-code", "--yes"];
    let done = run_with(&home.path().join("project"), &args, &variables, "");
    assert_eq!(done.code, 0, "{done:?}");
    let words = "Claude Code sees the tools of `a` twice: `.mcp.json` lists them, too";
    assert!(done.stderr.contains(words), "{done:?}");
}
