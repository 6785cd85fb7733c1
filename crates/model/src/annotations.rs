//! What a definition says about a tool for clients and people: hints and icons.

use crate::Object;

/// Hints about behaviour. They are claims of the author, never a reason to trust.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotations {
    /// A display name; a tool's own title comes first.
    pub title: Option<String>,
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Calling it twice is calling it once.
    pub idempotent: Option<bool>,
    /// It reaches the outside world.
    pub open_world: Option<bool>,
    /// Hints that only their author knows.
    pub rest: Object,
}

/// An image that stands for a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Icon {
    /// Where it is: a URL or a data URI.
    pub src: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    pub sizes: Vec<String>,
    /// Fields that only their author knows.
    pub rest: Object,
}
