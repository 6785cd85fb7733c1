//! A browser for tools: Chromium, started on first use and driven over its debugging pipe.
//!
//! ```text
//! executor ── Tab::operate("dom.text", […], origin) ─▶ broker in an isolated world of the page
//!          ── Tab::navigate, screenshot, html, …    ─▶ commands of the debugging protocol
//! ```
//!
//! This crate decides nothing about rights: [`OPERATIONS`] states which capability each operation
//! takes, and `exec` looks it up before it calls [`Tab::operate`]. There is no notion of a tool.

mod browser;
mod error;
mod operations;
mod settings;
mod tab;

pub use browser::Browser;
pub use error::{PageError, PageErrorCode};
pub use operations::{OPERATIONS, Operation, OperationNeed};
pub use settings::BrowserSettings;
pub use tab::{PageMarkup, PageTool, Tab, TabInfo};

/// A JSON value.
pub(crate) type Json = serde_json::Value;
