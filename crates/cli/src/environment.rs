//! The environment variables of this process: those that `${NAME}` in configurations refers to, and
//! those that programs inherit. No other file of the project reads the environment.
//!
//! ```text
//! this process ─ INHERITED, --env ─▶ every program and server ◀─ `env` of its source
//!      └─ variable(NAME) ─▶ ${NAME} in configurations, settings such as TOOLWRIGHT_TOKEN
//! ```

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::Context;
use toolwright_workspace::ClientFolders;

/// The variables that every program and server inherits, by what they are for. The page
/// docs/configuration.md has the same table. An allow-list, because environments hold API keys, and
/// a tool must not see those of another. A source gets other variables by naming them in its `env`.
///
/// Proxies and mirrors may have a password in their address. They are passed on all the same:
/// without them no server can be downloaded or reached in a company's network.
const INHERITED: &[(&str, &[&str])] = &[
    ("finding programs and files", &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM"]),
    ("language and time zone", &["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"]),
    (
        "proxies",
        &[
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "no_proxy",
        ],
    ),
    (
        "certificates",
        &[
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "PIP_CERT",
        ],
    ),
    (
        "mirrors of npm",
        &[
            "npm_config_registry",
            "NPM_CONFIG_REGISTRY",
            "npm_config_cafile",
            "NPM_CONFIG_CAFILE",
            "npm_config_proxy",
            "NPM_CONFIG_PROXY",
            "npm_config_https_proxy",
            "NPM_CONFIG_HTTPS_PROXY",
            "npm_config_noproxy",
            "NPM_CONFIG_NOPROXY",
            "npm_config_userconfig",
            "NPM_CONFIG_USERCONFIG",
            "npm_config_cache",
            "NPM_CONFIG_CACHE",
        ],
    ),
    (
        "mirrors of pip",
        &[
            "PIP_INDEX_URL",
            "PIP_EXTRA_INDEX_URL",
            "PIP_CONFIG_FILE",
            "PIP_TRUSTED_HOST",
            "PIP_PROXY",
            "PIP_NO_INDEX",
            "PIP_FIND_LINKS",
        ],
    ),
    (
        "mirrors of uv",
        &[
            "UV_INDEX",
            "UV_DEFAULT_INDEX",
            "UV_INDEX_URL",
            "UV_EXTRA_INDEX_URL",
            "UV_FIND_LINKS",
            "UV_CONFIG_FILE",
            "UV_NATIVE_TLS",
            "UV_SYSTEM_CERTS",
            "UV_INSECURE_HOST",
            "UV_OFFLINE",
            "UV_CACHE_DIR",
            "UV_PYTHON_INSTALL_MIRROR",
            "UV_PYPY_INSTALL_MIRROR",
            "UV_PYTHON_DOWNLOADS",
        ],
    ),
];

/// What `--env` names, with its values. Set once, before anything is started. A second call has no
/// effect.
static PASSED_ON: OnceLock<Vec<(String, OsString)>> = OnceLock::new();

/// Passes these variables on to everything that is started: `NAME`, with the value that it has
/// here, or `NAME=VALUE`. Called once, by `main`. The last one of a name counts, as in the
/// environment of a shell.
///
/// # Errors
/// If a variable is not set, or cannot have this name.
pub(crate) fn pass_on(words: &[String]) -> anyhow::Result<()> {
    let variable = |word: &String| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (word.as_str(), std::env::var_os(word)),
        };
        // The word may be a value by mistake, so it is not quoted if it cannot be a name.
        anyhow::ensure!(!name.is_empty(), "`--env` needs the name of a variable");
        let value = value.with_context(|| {
            format!("`--env {name}`: the environment variable `{name}` is not set")
        })?;
        Ok((name.to_owned(), value))
    };
    let passed: Vec<_> = words.iter().map(variable).collect::<anyhow::Result<_>>()?;
    let _ = PASSED_ON.set(passed);
    Ok(())
}

/// Empty before `pass_on`, as in tests.
fn passed_on() -> &'static [(String, OsString)] {
    PASSED_ON.get().map_or(&[], Vec::as_slice)
}

/// The value of a variable; `None` if it is not set or not UTF-8.
pub(crate) fn variable(name: &str) -> Option<String> {
    // What the command line sets counts for references, too.
    let passed = passed_on().iter().rev().find(|(known, _)| known == name);
    match passed {
        Some((_, value)) => value.to_str().map(str::to_owned),
        None => std::env::var(name).ok(),
    }
}

/// The folders in which MCP clients keep their files, for a project in this folder. Relative paths
/// in the variables are ignored, as the XDG specification wants it.
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
/// `~/.cache/toolwright`. `None` for a user without a home. It need not exist yet. A missing cache
/// costs time only, so this is not an error.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    // The XDG specification: a relative path is to be ignored.
    let named = named.filter(|folder| folder.is_absolute());
    let home = || std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir());
    Some(named.or_else(|| Some(home()?.join(".cache")))?.join("toolwright"))
}

/// The folder of this user for what must last, such as the records of calls:
/// `$XDG_STATE_HOME/toolwright`, else `~/.local/state/toolwright`. It need not exist yet. An error
/// here and not `None`: without this folder, grants and records would silently be lost.
///
/// # Errors
/// If the user has no home.
pub(crate) fn state_folder() -> anyhow::Result<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || folder("HOME").filter(|home| home.is_dir());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")));
    let state = state.context("the user has no home folder: set XDG_STATE_HOME or HOME")?;
    Ok(state.join("toolwright"))
}

/// The path of this program as it was called. A link to it stays one, because it is likely to lead
/// to the next version, too. Used for the entries of clients, which would otherwise name the folder
/// of one version.
///
/// # Errors
/// If the system does not know the program.
pub(crate) fn own_path() -> std::io::Result<PathBuf> {
    let resolved = std::env::current_exe()?.canonicalize()?;
    let called = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    let folders = match called.components().count() {
        1 => std::env::var_os("PATH").unwrap_or_default(),
        _ => OsString::from("."),
    };
    let mut candidates = std::env::split_paths(&folders).map(|folder| folder.join(&called));
    // The caller chooses the first argument freely.
    let is_this = |file: &PathBuf| file.canonicalize().is_ok_and(|file| file == resolved);
    let found = candidates.find(is_this).and_then(|file| std::path::absolute(file).ok());
    Ok(found.unwrap_or(resolved))
}

/// The inherited variables that are set, with their values, and those of `--env`. A name may occur
/// twice.
pub(crate) fn inherited_variables() -> Vec<(OsString, OsString)> {
    let names = INHERITED.iter().flat_map(|(_, names)| *names);
    let inherited = names.filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    // Later entries override earlier ones.
    let passed = passed_on().iter().map(|(name, value)| (name.into(), value.clone()));
    inherited.chain(passed).collect()
}

/// The values of `--env`. What is given in this way may be a secret.
pub(crate) fn values_passed_on() -> Vec<String> {
    passed_on().iter().filter_map(|(_, value)| value.to_str().map(str::to_owned)).collect()
}

/// The names of the variables that are set here and that programs do not get.
pub(crate) fn withheld_variables() -> Vec<OsString> {
    let passed = inherited_variables();
    let is_withheld = |name: &OsString| !passed.iter().any(|(known, _)| known == name);
    std::env::vars_os().map(|(name, _)| name).filter(is_withheld).collect()
}

#[cfg(test)]
mod tests {
    use super::INHERITED;

    #[test]
    fn the_manual_has_the_same_table() {
        let manual = include_str!("../../../docs/configuration.md");
        let mut rows = Vec::new();
        for (what, names) in INHERITED {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            rows.push(format!("| {what} | {} |", names.join(", ")));
        }
        let table = rows.join("\n");
        assert!(manual.contains(&table), "docs/configuration.md lacks the table\n{table}");
    }

    #[test]
    fn no_inherited_variable_holds_a_key() {
        for name in INHERITED.iter().flat_map(|(_, names)| *names) {
            let name = name.to_ascii_uppercase();
            for word in ["TOKEN", "SECRET", "PASSWORD", "KEY", "AUTH", "CREDENTIAL"] {
                assert!(!name.contains(word), "{name}");
            }
        }
    }
}
