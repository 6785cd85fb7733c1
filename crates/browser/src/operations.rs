//! The operations that can be done on a page, each with the capability that it takes. The broker
//! (`broker.js`) implements them; a test compares the two lists.
//!
//! A `target` argument is a reference that an operation returned, `{"$element": 7}`, or a CSS
//! selector. References belong to one call and one document: another call's are `NoElement`, and so
//! are all after a navigation.
//!
//! This list is the whole of what a guest can do to a page, and the only place where a capability
//! is assigned. `exec` asks `Operation::capability` before it calls `Tab::operate`, so an operation
//! that is not here does not exist, whatever the broker would accept.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::Json;

/// The call that references to elements belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementScope(pub(crate) u64);

impl ElementScope {
    /// A scope of its own, never given out before in this process. No `Default`: two scopes are
    /// never equal.
    #[allow(clippy::new_without_default)]
    pub fn new() -> ElementScope {
        static LAST: AtomicU64 = AtomicU64::new(0);
        ElementScope(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// Which capability an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationNeed {
    /// This one.
    Capability(&'static str),
    /// The first for an address of the page's own origin, the second for any other. The address is
    /// the first argument.
    ByAddress(&'static str, &'static str),
}

/// One operation.
///
/// `arguments` and `meaning` are texts for the manual; the broker checks the arguments.
#[derive(Debug)]
pub struct Operation {
    /// Its name, as guests call it below `btcp`: `dom.query`.
    pub name: &'static str,
    /// What it takes.
    pub need: OperationNeed,
    /// Its arguments, for the manual: `selector, within?`.
    pub arguments: &'static str,
    /// What it does and returns, in a few words.
    pub meaning: &'static str,
}

impl Operation {
    /// The operation of this name.
    pub fn named(name: &str) -> Option<&'static Operation> {
        OPERATIONS.iter().find(|operation| operation.name == name)
    }

    /// The capability that it takes with these arguments on a page of this origin. Addresses are
    /// read as browsers read them; one that cannot be read counts as another origin.
    pub fn capability(&self, arguments: &[Json], origin: &str) -> &'static str {
        match self.need {
            OperationNeed::Capability(capability) => capability,
            OperationNeed::ByAddress(own, other) => {
                let address = arguments.first().and_then(Json::as_str).unwrap_or_default();
                if is_own_origin(address, origin) { own } else { other }
            }
        }
    }
}

/// Whether an address, absolute or relative to a page of this origin, is of the same origin.
///
/// Opaque origins (`null`) are never equal to anything, also not to themselves.
pub(crate) fn is_own_origin(address: &str, origin: &str) -> bool {
    let Ok(page) = url::Url::parse(origin) else { return false };
    let url = address_on(address, origin);
    url.is_some_and(|url| url.origin().is_tuple() && url.origin() == page.origin())
}

/// An address that is absolute or relative to a page of this origin, as browsers read it. A
/// WebSocket counts as a request of http or https, which it begins as.
pub(crate) fn address_on(address: &str, origin: &str) -> Option<url::Url> {
    let mut url = url::Url::parse(origin).ok()?.join(address).ok()?;
    let scheme = match url.scheme() {
        "ws" => "http",
        "wss" => "https",
        _ => return Some(url),
    };
    url.set_scheme(scheme).ok()?;
    Some(url)
}

macro_rules! operations {
    ($($capability:literal: $($name:literal ($arguments:literal) $meaning:literal,)+;)+) => {
        &[$($(Operation {
            name: $name,
            need: OperationNeed::Capability($capability),
            arguments: $arguments,
            meaning: $meaning,
        },)+)+
        Operation {
            name: "fetch",
            need: OperationNeed::ByAddress(
                "network:fetch:same-origin",
                "network:fetch:cross-origin",
            ),
            arguments: "address, options?",
            meaning: "sends a request; returns status, headers, text, url",
        },
        Operation {
            name: "websocket",
            need: OperationNeed::ByAddress(
                "network:websocket:same-origin",
                "network:websocket:cross-origin",
            ),
            arguments: "address, messages, options?",
            meaning: "connects, sends texts, returns the answers; closes then",
        }]
    };
}

/// All operations.
pub static OPERATIONS: &[Operation] = operations! {
    "dom:read":
        "dom.page" ("") "title, url, referrer, ready state, language",
        "dom.query" ("selector, within?") "the first match, or null",
        "dom.queryAll" ("selector, within?") "all matches",
        "dom.text" ("target, visible?") "textContent, or innerText",
        "dom.html" ("target, outer?") "the markup, as text",
        "dom.attribute" ("target, name") "an attribute, or null",
        "dom.attributes" ("target") "all attributes, as an object",
        "dom.property" ("target, name") "value, checked, tagName and other listed properties",
        "dom.value" ("target") "the value of a form field",
        "dom.rect" ("target") "position and size",
        "dom.style" ("target, name") "a computed style",
        "dom.relative" ("target, relation, selector?")
            "parent, children, next, previous, first, last, closest",
        "dom.matches" ("target, selector") "whether it matches",
        "dom.contains" ("target, other") "whether it contains the other",
        "dom.active" ("") "the element that has the focus",
    ;
    "dom:write":
        "dom.setText" ("target, text") "replaces the content by a text",
        "dom.setValue" ("target, value") "fills a form field, with input and change events",
        "dom.setChecked" ("target, checked") "ticks a box, with input and change events",
        "dom.setHTML" ("target, markup") "replaces the content by sanitised markup",
        "dom.setAttribute" ("target, name, value") "sets a listed attribute",
        "dom.removeAttribute" ("target, name") "removes a listed attribute",
        "dom.setClass" ("target, name, present") "adds or removes a class",
        "dom.setStyle" ("target, name, value") "sets an inline style, without addresses",
        "dom.create" ("tag") "a new element of a listed kind",
        "dom.append" ("parent, child, before?") "moves an element into another",
        "dom.remove" ("target") "removes an element",
        "dom.click" ("target") "clicks, which runs code of the page",
        "dom.submit" ("target") "submits a form, which runs code of the page",
        "dom.focus" ("target, focused?") "gives or takes the focus",
        "dom.scroll" ("target") "scrolls it into view",
        "dom.dispatch" ("target, event, options?") "sends an event, which runs code of the page",
    ;
    "dom:observe":
        "dom.observe" ("target, milliseconds?") "waits for changes; returns what changed",
    ;
    "dom:shadow":
        "dom.shadow" ("target") "the open shadow root, or null",
    ;
    "storage:local:read":
        "storage.local.get" ("key") "a value, or null",
        "storage.local.keys" ("") "all keys",
    ;
    "storage:local:write":
        "storage.local.set" ("key, value") "keeps a value",
        "storage.local.remove" ("key?") "removes a value, or all",
    ;
    "storage:session:read":
        "storage.session.get" ("key") "a value, or null",
        "storage.session.keys" ("") "all keys",
    ;
    "storage:session:write":
        "storage.session.set" ("key, value") "keeps a value",
        "storage.session.remove" ("key?") "removes a value, or all",
    ;
    "storage:indexed:read":
        "storage.indexed.databases" ("") "names, versions and stores",
        "storage.indexed.get" ("database, store, key") "a record, or null",
        "storage.indexed.all" ("database, store, most?") "records with their keys",
    ;
    "storage:indexed:write":
        "storage.indexed.put" ("database, store, value, key?") "keeps a record",
        "storage.indexed.remove" ("database, store, key") "removes a record",
    ;
    "storage:cookie:read":
        "storage.cookie.get" ("") "the cookies that the page itself can read, as text",
    ;
    "storage:cookie:write":
        "storage.cookie.set" ("cookie") "sets a cookie, as the page could",
    ;
    "clipboard:read":
        "clipboard.read" ("") "the text of the clipboard",
    ;
    "clipboard:write":
        "clipboard.write" ("text") "replaces the text of the clipboard",
    ;
};
