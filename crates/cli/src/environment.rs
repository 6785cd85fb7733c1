//! The environment variables of this process: those that `${NAME}` in configurations refers to, and
//! those that programs inherit. No other file of the project reads the environment.

use std::ffi::OsString;

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

/// The inherited variables that are set, with their values.
pub(crate) fn inherited_variables() -> Vec<(OsString, OsString)> {
    INHERITED
        .iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
        .collect()
}
