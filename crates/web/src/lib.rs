//! The web for agents: pages fetched under guards, HTML as Markdown, search providers behind one
//! trait, and the process protocol that the three executables speak.
//!
//! What is not here: anything of the rest of the project, and the outside world. Arguments,
//! variables and standard streams come from the executables; a page comes from the network only
//! through [`fetch()`].
//!
//! ```
//! use toolwright_web::{Options, markdown};
//!
//! let page = "<h1>Tides</h1><p>High at <b>noon</b>, see <a href=table.html>the table</a>.</p>";
//! let base = url::Url::parse("https://example.com/harbour/").ok();
//! let text = markdown(page, base.as_ref(), &Options::default())?;
//! assert_eq!(text, "# Tides\n\nHigh at **noon**, see [the table](https://example.com/harbour/table.html).");
//! # Ok::<(), toolwright_web::ConversionError>(())
//! ```

mod fetch;
mod html;
mod markdown;
pub mod search;
pub mod tool;

pub use fetch::{FetchError, FetchOptions, Page, Proxies, decode, fetch};
pub use html::Document;
pub use markdown::{ConversionError, Options, markdown};
