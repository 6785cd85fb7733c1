//! The environment variables of this process: those that `${NAME}` in configurations refers to, and
//! those that programs inherit. No other file of the project reads the environment.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;
use toolwright_workspace::ClientFolders;

/// The variables that every program and server inherits: paths, language, time zone, certificates.
/// An allow-list, because environments hold API keys, and a tool must not see those of another. A
/// source gets other variables by naming them in its `env`.
const INHERITED: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The value of a variable; `None` if it is not set or not UTF-8.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The folders in which MCP clients keep their files, for a project in this folder.
///
/// # Errors
/// If the home of the user is unknown.
pub(crate) fn client_folders(project: PathBuf) -> anyhow::Result<ClientFolders> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = folder("HOME").context("the variable HOME is not set")?;
    let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let applications = match cfg!(target_os = "macos") {
        true => home.join("Library/Application Support"),
        false => config.clone(),
    };
    Ok(ClientFolders { home, config, applications, project })
}

/// The folder of this user for what can be computed again: `$XDG_CACHE_HOME/toolwright`, else
/// `~/.cache/toolwright`. `None` for a user without a home. It need not exist yet.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    // The XDG specification: a relative path is to be ignored.
    let named = named.filter(|folder| folder.is_absolute());
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir());
    Some(named.or_else(|| Some(home()?.join(".cache")))?.join("toolwright"))
}

/// The inherited variables that are set, with their values.
pub(crate) fn inherited_variables() -> Vec<(OsString, OsString)> {
    INHERITED
        .iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
        .collect()
}
