//! A browser for tools: Chromium, started on first use and driven over its debugging pipe.
//!
//! ```text
//! executor ── Tab::operate("dom.text", […], origin) ─▶ broker in an isolated world of the page
//!          ── Tab::navigate, screenshot, html, …    ─▶ commands of the debugging protocol
//!          ── Browser::run_worker(code, host)       ─▶ a worker without network
//! ```
//!
//! This crate decides nothing about rights: [`OPERATIONS`] states which capability each operation
//! takes, and `exec` looks it up before it calls [`Tab::operate`]. This crate does not know tools.
//!
//! Pages are not trusted. [`Tab::take_notices`] reports their dialogs, windows, downloads and
//! navigations that were refused. A page that crashes, hangs or takes too much memory fails the
//! calls to it, and the next call finds a new page.

mod body_worker;
mod browser;
mod connection;
mod error;
mod operations;
mod origin_rules;
mod page_target;
mod process;
mod profile;
mod program;
mod running;
mod settings;
mod tab;

pub use body_worker::{HostAnswer, WorkerCode, WorkerHost};
pub use browser::Browser;
pub use error::{PageError, PageErrorCode};
pub use operations::{ElementScope, OPERATIONS, Operation, OperationNeed};
pub use process::is_browser_process;
pub use profile::is_root;
pub use program::find_browser;
pub use settings::BrowserSettings;
pub use tab::{PageMarkup, PageTool, Tab, TabInfo};

/// A JSON value.
pub(crate) type Json = serde_json::Value;
