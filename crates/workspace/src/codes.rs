//! The codes of mistakes in configurations and servers files, and of tools that cannot be loaded;
//! and the list of all codes, which `explain` and `[levels]` use. Codes about the shape of a value
//! are in `toolwright_formats`, those about the text itself in `toolwright_source`.

use toolwright_source::DiagnosticCode;
use toolwright_source::words::nearest_word;

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
    SUSPICIOUS_COMMAND Warning "`command` is the name of one program, spaces included, because no \
        shell splits it. Its arguments belong in `args`."
    COMMAND_NOT_ON_SERVER Error "The server that the definition names has no tool of this name. \
        The command is left out; the others are served."
    TOO_MANY_TOKENS Warning "A tool, or all tools together, cost more tokens than \
        `max_tool_tokens` or `max_total_tokens` under `[check]` in `toolwright.toml` allow. A \
        client sends the name, the description and the input schema of every tool with every \
        request; that is what is counted, with the vocabulary o200k. `toolwright cost` shows the \
        tokens of each tool and what would save most. Without a threshold nothing is counted."
    IGNORED_SETTING Warning "The setting has an effect in the MCP client that this file was \
        written for, but is ignored here."
}

/// All codes of all crates, those about the text first. The order is that of the stages which
/// report them: text, shape, rules, configuration.
pub fn all() -> impl Iterator<Item = &'static DiagnosticCode> + Clone {
    let text = toolwright_source::codes::ALL.iter().copied();
    let shape = toolwright_formats::codes::ALL.iter().copied();
    text.chain(shape).chain(toolwright_check::codes()).chain(ALL.iter().copied())
}

/// The code with this name.
///
/// # Errors
/// A help text for a name that does not exist: the nearest code, or where all are listed.
pub fn find(name: &str) -> Result<&'static DiagnosticCode, String> {
    let suggestion = || nearest_word(name, all().map(|code| code.name));
    all().find(|code| code.name == name).ok_or_else(|| match suggestion() {
        Some(suggestion) => format!("did you mean `{suggestion}`?"),
        None => "`toolwright explain` lists all codes".to_owned(),
    })
}
