//! The codes of mistakes in configurations and servers files, and of tools that cannot be loaded;
//! and the list of all codes, which `explain` and `[levels]` use. Codes about the shape of a value
//! are in `toolwright_formats`, those about the text itself in `toolwright_source`.
//!
//! Codes about settings of servers have a servers file as their sample; those without a sample need
//! a folder, a program or two files to be shown, and a test of their own.

use toolwright_source::words::nearest_word;
use toolwright_source::{Diagnostic, DiagnosticCode, Severity};

toolwright_source::codes! {
    UNKNOWN_KEY Error "The configuration has no such key. A key without effect would mislead its \
        author, so this is an error."
    DUPLICATE_SOURCE Error "Two sources have the same name. The ids of tools start with it, so it \
        must be unique. Rename one of them."
    INVALID_SOURCE Error "A source or server must name exactly one place for its tools. This one \
        names none or several, or has a key that does not belong to the one it names."
    UNSET_VARIABLE Error "A `${VAR}` refers to an environment variable that is not set. Set it, or \
        write `${VAR:-default}`."
    INVALID_REFERENCE Error "A `${…}` cannot be expanded here. Supported are `${VAR}`, \
        `${VAR:-default}`, `${env:VAR}`, `${userHome}`, `${workspaceFolder}`, \
        `${workspaceFolderBasename}`, `${pathSeparator}` and `${/}`."
    SUSPICIOUS_COMMAND Error "`command` is the name of one program, spaces included, because no \
        shell splits it, and there is no program of this name. Its arguments belong in `args`."
    LITERAL_SECRET Error "A token, key or password stands in the settings of a server. Everybody \
        who can read the file can use it: colleagues, backups, the history of the repository. \
        Write `${VAR}` (`${env:VAR}` in VS Code and Cursor) and set the variable where the client \
        is started; revoke the secret if others could read the file. Claude Desktop and Zed do not \
        expand references; for them, a small program that sets the variable and then starts the \
        server keeps the secret out of the file."
    => (
        ".mcp.json",
        r#"{
  "mcpServers": {
    "notes": {"url": "https://notes.example.com/mcp", "headers": {"X-Api-Key": "9f8e7d6c5b4a"}}
  }
}
"#,
        r#"{
  "mcpServers": {
    "notes": {"url": "https://notes.example.com/mcp", "headers": {"X-Api-Key": "${NOTES_KEY}"}}
  }
}
"#
    )
    PLACEHOLDER_VALUE Info "A setting that has to be a secret still holds the placeholder of its \
        documentation, such as `<your-token>` or `YOUR_API_KEY`. The server gets that text as its \
        token and will be refused."
    => (
        ".mcp.json",
        r#"{
  "mcpServers": {
    "notes": {"url": "https://notes.example.com/mcp", "headers": {"X-Api-Key": "<your-key>"}}
  }
}
"#,
        r#"{
  "mcpServers": {
    "notes": {"url": "https://notes.example.com/mcp", "headers": {"X-Api-Key": "${NOTES_KEY}"}}
  }
}
"#
    )
    UNPINNED_PACKAGE Warning "The command fetches a package and runs it without naming a version. \
        Whatever is released next runs on this machine at the next start, with the variables and \
        files of the server: also if an attacker has taken over the account of its author. With a \
        version, such as `server@1.2.3`, `server==1.2.3` or `image:1.2.3`, everybody runs the \
        same, and an update is a change of this file that can be reviewed. A range such as `^1` \
        or `>=1` is not a version."
    PIPE_TO_SHELL Warning "A shell runs what another program prints, usually a download. Nothing \
        says what that will be: there is no version and no checksum, and if the connection breaks, \
        half of it runs. Install the server once, and start what was installed."
    => (
        ".mcp.json",
        r#"{
  "mcpServers": {
    "notes": {"command": "sh", "args": ["-c", "curl -s https://notes.example.com/run | sh"]}
  }
}
"#,
        r#"{
  "mcpServers": {
    "notes": {"command": "sh", "args": ["-c", "exec notes-server"]}
  }
}
"#
    )
    PLAIN_HTTP Warning "The server is on another machine and is reached over http, without TLS. \
        Everybody on the way can read the tokens that are sent, and can change what the tools \
        answer. Use `https`. Addresses of this machine, such as `http://localhost`, are fine."
    => (
        ".mcp.json",
        r#"{
  "mcpServers": {
    "notes": {"url": "http://notes.example.com/mcp"}
  }
}
"#,
        r#"{
  "mcpServers": {
    "notes": {"url": "https://notes.example.com/mcp"}
  }
}
"#
    )
    COMMAND_NOT_FOUND Error "The program of a server is not there: a name without `/` is looked \
        for in the folders of `PATH`. The server is not started. Install the program, or correct \
        its name."
    => (
        ".mcp.json",
        r#"{
  "mcpServers": {
    "notes": {"command": "./no-such-program"}
  }
}
"#,
        r#"{
  "mcpServers": {
    "notes": {"command": "sh"}
  }
}
"#
    )
    DIRECTORY_NOT_FOUND Error "The working directory of a server does not exist, or is not a \
        directory. The server is not started."
    => (
        ".mcp.json",
        r#"{
  "mcpServers": {
    "notes": {"command": "sh", "cwd": "/no/such/directory"}
  }
}
"#,
        r#"{
  "mcpServers": {
    "notes": {"command": "sh", "cwd": "/"}
  }
}
"#
    )
    SCRIPT_NOT_FOUND Warning "The script that the program of a server runs, as in `node server.js`, \
        is not there. The program ends at once, with a message on its own standard error only. \
        Relative paths start at the working directory of the server."
    COMMAND_NOT_ON_SERVER Error "The server that the definition names has no tool of this name. \
        The command is left out; the others are served."
    TOO_MANY_TOKENS Warning "A tool, or all tools together, cost more tokens than \
        `max_tool_tokens` or `max_total_tokens` under `[check]` in `toolwright.toml` allow. A \
        client sends the name, the description and the input schema of every tool with every \
        request; that is what is counted, with the vocabulary o200k. `toolwright cost` shows the \
        tokens of each tool and what would save most. Without a threshold nothing is counted."
    STALE_BASELINE Warning "The baseline lists findings that are no longer found. Write it again \
        with `--write-baseline`, so that they are reported if they come back."
    IGNORED_SETTING Warning "The setting has an effect in the MCP client that this file was \
        written for, but is ignored here."
}

/// All codes of all crates, those about the text first. The order is that of the stages which
/// report them: text, shape, rules, configuration.
///
/// Users name a code without its crate, so a name must not be in two of the four lists.
pub fn all() -> impl Iterator<Item = &'static DiagnosticCode> + Clone {
    let text = toolwright_source::codes::ALL.iter().copied();
    let shape = toolwright_formats::codes::ALL.iter().copied();
    text.chain(shape).chain(toolwright_check::codes()).chain(ALL.iter().copied())
}

/// Whether a finding under this code is advice about the settings of a server: whatever its
/// severity is, it keeps nothing from being started, listed or called.
pub fn is_advice(code: &DiagnosticCode) -> bool {
    [
        &LITERAL_SECRET,
        &PLACEHOLDER_VALUE,
        &UNPINNED_PACKAGE,
        &PIPE_TO_SHELL,
        &PLAIN_HTTP,
        &SCRIPT_NOT_FOUND,
    ]
    .contains(&code)
}

/// Whether a finding about a configuration or servers file is a mistake in it, and not a note or
/// advice.
///
/// A note has the severity `Info`.
pub fn is_mistake(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity > Severity::Info && !is_advice(diagnostic.code)
}

/// Whether a finding under this code is about the settings of a server that could be started: what
/// `server_rules` finds.
///
/// Beside advice, those are the parts that are missing on this machine.
pub fn is_about_server(code: &DiagnosticCode) -> bool {
    is_advice(code) || [&COMMAND_NOT_FOUND, &DIRECTORY_NOT_FOUND].contains(&code)
}

/// Whether a finding under this code is about a reference such as `${VAR}` that has no value.
pub fn is_about_reference(code: &DiagnosticCode) -> bool {
    [&UNSET_VARIABLE, &INVALID_REFERENCE].contains(&code)
}

/// The code with this name.
///
/// # Errors
/// A help text for a name that does not exist: the nearest code, or where all are listed.
///
/// For `explain`, `--select`, `[levels]` and comments that silence a code.
pub fn find(name: &str) -> Result<&'static DiagnosticCode, String> {
    let suggestion = || nearest_word(name, all().map(|code| code.name));
    all().find(|code| code.name == name).ok_or_else(|| match suggestion() {
        Some(suggestion) => format!("did you mean `{suggestion}`?"),
        None => "`toolwright explain` lists all codes".to_owned(),
    })
}
