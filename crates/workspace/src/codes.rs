//! The codes of mistakes in configurations and servers files, and of what keeps a tool from being
//! loaded. Those about the shape of a value are
//! in `toolwright_formats`, those of the text itself in `toolwright_source`.

use toolwright_source::DiagnosticCode;
use toolwright_source::words::nearest_word;

toolwright_source::codes! {
    UNKNOWN_KEY Error "The configuration has no such key. A key that is not read would be a wish that nobody hears, so it is an error."
    DUPLICATE_SOURCE Error "Two sources have the same name, and ids start with it. Rename one of them."
    INVALID_SOURCE Error "A source or server does not say one way to its tools: it names none or several, or has a key that does not go with the one it names."
    UNSET_VARIABLE Error "A `${VAR}` refers to an environment variable that is not set. Set it, or write `${VAR:-default}`."
    INVALID_REFERENCE Error "A `${…}` cannot be filled in here. `${VAR}`, `${VAR:-default}`, `${env:VAR}`, `${userHome}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${pathSeparator}` and `${/}` can."
    SUSPICIOUS_COMMAND Warning "`command` is the name of one program, spaces included, because no shell takes it apart. Its arguments belong into `args`."
    COMMAND_NOT_ON_SERVER Error "The server that the definition names has no tool of this name. Such a command is set aside; the others are served."
    IGNORED_SETTING Warning "The client this file was written for heeds the setting, and it is not heeded here."
}

/// Every code there is, those of the text first.
pub fn all() -> impl Iterator<Item = &'static DiagnosticCode> + Clone {
    let text = toolwright_source::codes::ALL.iter().copied();
    let shape = toolwright_formats::codes::ALL.iter().copied();
    text.chain(shape).chain(toolwright_check::codes()).chain(ALL.iter().copied())
}

/// The code with this name.
///
/// # Errors
/// What to do when there is none: the nearest one, or where they are listed.
pub fn find(name: &str) -> Result<&'static DiagnosticCode, String> {
    let meant = || nearest_word(name, all().map(|code| code.name));
    all().find(|code| code.name == name).ok_or_else(|| match meant() {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`toolwright explain` lists all codes".to_owned(),
    })
}
