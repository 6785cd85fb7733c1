//! Hints and icons: what a definition says about a tool for clients and people. Nothing here
//! changes how a tool is run.
//!
//! The hints are those of MCP. `None` means that the author did not set one; MCP has defaults for
//! that case, and they are applied by the client, not here.

use crate::Object;

/// Hints about behaviour. They are claims of the author: nothing is permitted because of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// A display name, used if the tool has no title of its own.
    pub title: Option<String>,
    /// The tool does not change its environment.
    pub read_only: Option<bool>,
    /// The tool may delete or overwrite something.
    pub destructive: Option<bool>,
    /// A second call with the same arguments has no further effect.
    pub idempotent: Option<bool>,
    /// The tool interacts with things outside the host, such as the web.
    pub open_world: Option<bool>,
    /// Hints that are not part of MCP, as they were written.
    pub rest: Object,
}

/// An image that clients show next to a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Icon {
    /// A URL or a data URI. It is passed on, never fetched.
    pub src: String,
    /// The media type, such as `image/png`.
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    pub sizes: Vec<String>,
    /// Fields that are not part of MCP, as they were written.
    pub rest: Object,
}
