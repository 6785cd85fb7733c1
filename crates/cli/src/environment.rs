//! The environment of this process: variables that references in configurations are filled in from,
//! and those that programs are started with. No other file reads the environment.

use std::ffi::OsString;

/// Variables that every program is given: where things are and which language is spoken, no
/// secrets. Everything else stays out unless a source's `env` names it.
const PASSED_ON: [&str; 14] = [
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

/// The value of a variable, if it is set and is UTF-8.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The variables that every program is given.
pub(crate) fn passed_on() -> Vec<(OsString, OsString)> {
    PASSED_ON
        .iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
        .collect()
}
