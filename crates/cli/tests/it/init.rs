//! `init`: a configuration made of the files of MCP clients in a temporary home. What is copied
//! from them, and what is not.

use serde_json::json;

use crate::client::run_with;
use crate::client_files::{home, read, run, token};
use crate::found_sources::answered_in;

/// What `init` makes of the files in the first test.
const COLLECTED: &str = r#"# Written by `toolwright init` from the settings of MCP clients on this machine.
# `toolwright check toolwright.toml` checks these servers, `toolwright serve` serves them as one.
# `off` of Claude Desktop (~/.config/Claude/claude_desktop_config.json) is left out: it is switched off
# `envFile` of the server `remote` of Cursor (~/.cursor/mcp.json) is left out: a configuration has no such setting; put the variables into `env`, as `${VAR}` if they are secret
# `extension` of Zed (~/.config/zed/settings.json) is left out: it has neither a command nor an address
# `toolwright` of Gemini CLI (~/.gemini/settings.json) is left out: it is Toolwright itself

# from Claude Code (.mcp.json), Claude Desktop (~/.config/Claude/claude_desktop_config.json)
[[source]]
name = "files"
command = ["npx", "-y", "files@1.0.0", "."]

# from Claude Code (.mcp.json)
[[source]]
name = "My-Server"
command = ["./server"]
directory = "sub"

# from Claude Code (~/.claude.json)
[[source]]
name = "user"
command = ["u"]

# from Claude Code (~/.claude.json)
[[source]]
name = "local"
command = ["l"]

# from Cursor (~/.cursor/mcp.json)
[[source]]
name = "files-cursor"
command = ["npx", "-y", "other@2.0.0"]

# from Cursor (~/.cursor/mcp.json)
[[source]]
name = "remote"
url = "https://example.com/mcp"
headers = { X-Team = "blue" }

# from VS Code (~/.config/Code/User/mcp.json)
[[source]]
name = "asks"
command = ["asks"]
env = { KEY = "${API_KEY}" }

# from Codex (~/.codex/config.toml)
[[source]]
name = "docs"
url = "https://docs.example.com/mcp"
headers = { Authorization = "Bearer ${DOCS_TOKEN}" }

# from Codex (~/.codex/config.toml)
[[source]]
name = "tool"
command = ["t"]
env = { PASSED = "${PASSED}" }

# from Zed (~/.config/zed/settings.json)
[[source]]
name = "old"
command = ["z", "1"]

# from Gemini CLI (~/.gemini/settings.json)
[[source]]
name = "g"
command = ["g"]
env = { G_LEVEL = "${LEVEL}", N = "3" }

# from Gemini CLI (~/.gemini/settings.json)
[[source]]
name = "socket"
url = "wss://example.com"
"#;

#[test]
fn init_collects_the_servers_of_all_clients() {
    let home = home(&[]);
    let project = home.path().join("project").display().to_string();
    let files = [
        (
            "project/.mcp.json",
            json!({"mcpServers": {
                "files": {"command": "npx", "args": ["-y", "files@1.0.0", "."]},
                "My Server": {"command": "./server", "cwd": "${workspaceFolder}/sub"},
            }}),
        ),
        (
            ".claude.json",
            json!({"numStartups": 3, "mcpServers": {"user": {"command": "u"}},
            "projects": {&project: {"mcpServers": {"local": {"command": "l"}}},
                         "/elsewhere": {"mcpServers": {"foreign": {"command": "f"}}}}}),
        ),
        (
            ".config/Claude/claude_desktop_config.json",
            json!({"mcpServers": {
                "files": {"command": "npx", "args": ["-y", "files@1.0.0", "."]},
                "off": {"command": "x", "disabled": true},
            }}),
        ),
        (
            ".cursor/mcp.json",
            json!({"mcpServers": {
                "files": {"command": "npx", "args": ["-y", "other@2.0.0"]},
                "remote": {"url": "https://example.com/mcp", "headers": {"X-Team": "blue"},
                    "envFile": ".env"},
            }}),
        ),
        (
            ".gemini/settings.json",
            json!({"theme": "dark", "mcpServers": {
                "g": {"command": "g", "env": {"G_LEVEL": "$LEVEL", "N": 3}},
                "socket": {"type": "ws", "url": "wss://example.com"},
                "toolwright": {"command": "/usr/bin/toolwright", "args": ["serve"]},
            }}),
        ),
    ];
    for (name, document) in &files {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, format!("{document:#}")).expect("a file");
    }
    let vscode = home.path().join(".config/Code/User");
    std::fs::create_dir_all(&vscode).expect("a folder");
    let text = "// mine\n{\"inputs\": [{\"id\": \"api-key\", \"type\": \"promptString\"}], \"servers\": {\n  \
                \"asks\": {\"command\": \"asks\", \"env\": {\"KEY\": \"${input:api-key}\"}}, // why\n}}\n";
    std::fs::write(vscode.join("mcp.json"), text).expect("a file");
    let zed = home.path().join(".config/zed");
    std::fs::create_dir_all(&zed).expect("a folder");
    let text = "{ /* zed */ \"context_servers\": {\n  \"old\": {\"command\": {\"path\": \"z\", \"args\": [\"1\"]}},\n  \
                \"extension\": {\"settings\": {}}, } }\n";
    std::fs::write(zed.join("settings.json"), text).expect("a file");
    let codex = home.path().join(".codex");
    std::fs::create_dir_all(&codex).expect("a folder");
    let text = "model = \"x\"\n[mcp_servers.docs]\nurl = \"https://docs.example.com/mcp\"\n\
                bearer_token_env_var = \"DOCS_TOKEN\"\n[mcp_servers.tool]\ncommand = \"t\"\nenv_vars = [\"PASSED\"]\n";
    std::fs::write(codex.join("config.toml"), text).expect("a file");

    // Without a terminal and without consent the file is shown and not written.
    let shown = run(home.path(), &["init"]);
    assert_eq!(shown.code, 2, "{shown:?}");
    assert!(shown.stderr.ends_with("nothing was written: add `--yes` to write it\n"), "{shown:?}");
    assert!(!home.path().join("project/toolwright.toml").exists());
    let init = run(home.path(), &["init", "--yes"]);
    assert_eq!(init.code, 0, "{init:?}");
    let written = read(home.path(), "project/toolwright.toml");
    assert_eq!(init.stdout, written, "what is shown is what is written");
    assert_eq!(written, COLLECTED);
    // All commands accept it. Nothing of it can be started here.
    let variables = [("LEVEL", "1"), ("API_KEY", "k"), ("DOCS_TOKEN", "t"), ("PASSED", "p")];
    let check = run_with(
        &home.path().join("project"),
        &[
            "check",
            "--no-start",
            "--select",
            "UNKNOWN_KEY,INVALID_SOURCE,INVALID_TYPE,INVALID_PATTERN",
        ],
        &variables,
        "",
    );
    assert!(check.stdout.contains("nothing to report") || check.stdout.is_empty(), "{check:?}");
    // The file is not replaced by accident.
    let again = run(home.path(), &["init", "--yes"]);
    assert!(again.code == 2 && again.stderr.contains("`--force` replaces it"), "{again:?}");
    let forced = run(home.path(), &["init", "--yes", "--force"]);
    assert!(
        forced.code == 0 && forced.stderr.contains("this replaces the `toolwright.toml`"),
        "{forced:?}"
    );
}

/// Secrets stay where they are: the new file refers to variables, and says which.
#[test]
fn init_copies_no_secret() {
    let token = token();
    let other = token.replace("q8Zr", "Zr8q");
    let servers = json!({"mcpServers": {
        "github": {"command": "gh", "env": {"GITHUB_TOKEN": token, "MODE": "fast"}},
        "second": {"command": "gh", "args": ["--api-key", "0123abcd4567", &format!("--x={token}")],
                   "env": {"GITHUB_TOKEN": other}},
        "remote": {"url": "https://ann:s3same@example.com/mcp?api_key=0123abcd4567",
                   "headers": {"Authorization": format!("Bearer {token}")}},
    }});
    let home = home(&[(".cursor/mcp.json", &servers.to_string())]);
    let init = run(home.path(), &["init", "--yes"]);
    assert_eq!(init.code, 0, "{init:?}");
    let written = read(home.path(), "project/toolwright.toml");
    for text in [&written, &init.stdout, &init.stderr] {
        for secret in [&token[..], &other[..], "0123abcd4567", "s3same"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    for part in [
        "GITHUB_TOKEN = \"${GITHUB_TOKEN}\", MODE = \"fast\"",
        "\"--api-key\", \"${SECOND_API_KEY}\"",
        // Another value under the same name.
        "GITHUB_TOKEN = \"${SECOND_GITHUB_TOKEN}\"",
        "Authorization = \"Bearer ${REMOTE_TOKEN}\"",
        "# set the variable GITHUB_TOKEN: its value was not copied\n",
    ] {
        assert!(written.contains(part), "{part}: {written}");
    }
    assert!(init.stderr.contains("set the variable SECOND_API_KEY: its value is in the settings of Cursor (~/.cursor/mcp.json)"), "{init:?}");
}

#[test]
fn init_survives_hostile_files() {
    let hostile = json!({"mcpServers": {
        "a\u{1b}[2J\nb": {"command": "x\u{1b}]0;owned\u{7}", "args": ["\"\n[[source]]\nname = \"evil\"", "\u{7f}\u{202e}"]},
        "": {"command": "x"}, "list": [1], "none": {}, "number": 3,
        "bad env": {"command": "x", "env": {"A B\n": "1", "=": "2"}},
    }});
    let home = home(&[
        (".cursor/mcp.json", &hostile.to_string()),
        ("project/.mcp.json", "{\"mcpServers\": {\"x\": "),
        (".codex/config.toml", "[[[\n"),
        (".gemini/settings.json", "[1, 2]"),
        (".claude.json", &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
    ]);
    let init = run(home.path(), &["init", "--yes"]);
    assert_eq!(init.code, 0, "{init:?}");
    for text in [&init.stdout, &init.stderr] {
        assert!(
            !text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{text:?}"
        );
    }
    let written = read(home.path(), "project/toolwright.toml");
    assert_eq!(written.matches("\n[[source]]\n").count(), 1, "{written}");
    assert!(written.contains("name = \"a--2J-b\"\n"), "{written}");
    for place in
        ["`.mcp.json` is left out", "`~/.codex/config.toml` is left out", "`bad-env` of Cursor"]
    {
        assert!(init.stderr.contains(place), "{place}: {}", init.stderr);
    }
    let nothing = home_without_clients();
    let none = run(nothing.path(), &["init", "--yes"]);
    assert!(
        none.code == 2 && none.stderr.contains("server; looked into `.mcp.json`, `~/.claude.json`"),
        "{none:?}"
    );
}

fn home_without_clients() -> tempfile::TempDir {
    home(&[])
}

#[test]
fn init_asks_on_a_terminal() {
    let home = home(&[("project/.mcp.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#)]);
    let project = home.path().join("project");
    let variable = home.path().display().to_string();
    let (text, code) = answered_in(&project, &["init"], &[("HOME", &variable)], "n\n");
    assert!(code == 2 && text.contains("Write it to `toolwright.toml`? [y/N]"), "{text}");
    assert!(!project.join("toolwright.toml").exists());
    let (text, code) = answered_in(&project, &["init"], &[("HOME", &variable)], "y\n");
    assert_eq!(code, 0, "{text}");
    assert!(project.join("toolwright.toml").exists());
}

/// No other program has a workspace, so what `${workspaceFolder}` stands for is written down.
#[test]
fn the_folder_of_a_workspace_becomes_a_path() {
    let servers = json!({"servers": {
        "a": {"command": "${workspaceFolder}/bin/a", "args": ["--root=${workspaceFolder}/x", "${workspaceFolder}"]},
        "b": {"command": "${workspaceFolder}/b", "args": ["${workspaceFolder}/x"],
            "cwd": "${workspaceFolder}/sub/folder", "env": {"ROOT": "${workspaceFolder}"}},
        "c": {"command": "c", "args": ["${workspaceFolder}/x"], "cwd": "/srv"},
    }});
    let home = home(&[("project/.vscode/mcp.json", &servers.to_string())]);
    let init = run(home.path(), &["init", "--yes"]);
    assert_eq!(init.code, 0, "{init:?}");
    let written = read(home.path(), "project/toolwright.toml");
    assert!(!written.contains("workspaceFolder"), "{written}");
    let project = home.path().join("project").canonicalize().expect("it is there");
    for line in [
        r#"command = ["./bin/a", "--root=./x", "."]"#.to_owned(),
        r#"command = ["./b", "../../x"]"#.to_owned(),
        r#"env = { ROOT = "../.." }"#.to_owned(),
        r#"directory = "sub/folder""#.to_owned(),
        format!("command = [\"c\", \"{}/x\"]", project.display()),
    ] {
        assert!(written.contains(&line), "{line}: {written}");
    }
}
