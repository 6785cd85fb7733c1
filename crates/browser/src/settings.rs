//! The settings of the browser, which the configuration gives under `[browser]`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How the browser is started and what it may use.
#[derive(Clone, Debug)]
pub struct BrowserSettings {
    /// The program; `None`: the first of the usual names on the PATH.
    pub program: Option<PathBuf>,
    /// The page that a new tab opens; `None`: an empty one.
    pub start: Option<String>,
    /// The origins that may be opened, such as `https://example.org`; empty: all.
    pub origins: Vec<String>,
    /// Which addresses are of this machine or its network. Their pages are opened only if `origins`
    /// or `start` name them; `None`: all are.
    pub is_private: Option<fn(IpAddr) -> bool>,
    /// Whether it runs without a window.
    pub headless: bool,
    /// The folder of the profile; `None`: a temporary one, removed at the end.
    pub profile: Option<PathBuf>,
    /// How long the browser is kept without a call.
    pub idle: Duration,
    /// Bytes of resident memory of all its processes, beyond which it is killed.
    pub memory: u64,
    /// The folders in which programs are looked for, as PATH lists them.
    pub path: Vec<PathBuf>,
    /// All other variables of its environment: those of the display, the language and the proxies.
    /// Nothing else is inherited, because other programs of its user can read them.
    pub environment: Vec<(String, String)>,
}
