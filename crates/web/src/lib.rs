//! The web for agents: fetching pages under limits, converting HTML to Markdown, and searching;
//! and the three executables that offer this to agents.
//!
//! ```text
//! bin/*  ─▶ tool      arguments and JSON in, JSON out
//!            ├─▶ fetch ─▶ html ─▶ markdown
//!            └─▶ search ─▶ fetch::client
//! ```
//!
//! The library reads no arguments, environment variables or standard streams: the executables pass
//! them in. It uses no other crate of the project, and does not deal with tool definitions.
//!
//! ```
//! use toolwright_web::{MarkdownOptions, markdown};
//!
//! let page = "<h1>Tides</h1><p>High at <b>noon</b>, see <a href=table.html>the table</a>.</p>";
//! let base = url::Url::parse("https://example.com/").ok();
//! let text = markdown(page, base.as_ref(), &MarkdownOptions::default())?;
//! let expected = "# Tides\n\nHigh at **noon**, see [the table](https://example.com/table.html).";
//! assert_eq!(text, expected);
//! # Ok::<(), toolwright_web::ConversionError>(())
//! ```

mod fetch;
mod html;
mod main_content;
mod markdown;
mod metadata;
mod paging;
pub mod search;
pub mod tool;

pub use fetch::{FetchError, FetchOptions, FetchedPage, ProxySettings, decode, fetch, is_special};
pub use html::HtmlDocument;
pub use main_content::{Omission, OmissionReason};
pub use markdown::{
    ConversionError, ConvertedPage, LinkStyle, MarkdownOptions, PageContent, convert, markdown,
};
pub use metadata::PageMetadata;
pub use paging::{PageExcerpt, PagingUnit, excerpt};
