//! What the bodies of tools that work on a page have beside [`GLOBALS`](crate::GLOBALS): the names
//! that the façade of the page defines, and members of them that pages have and tools do not.
//!
//! `exec` makes the façade fail with the names in [`LACKING_MEMBERS`]; a test compares
//! [`PAGE_GLOBALS`] with a running body.
//!
//! ```text
//! document.querySelector("p")     a member of the façade
//! document.write("x")             fails, and is reported by its name (LACKING_MEMBERS)
//! $("p")                          a name that nothing declares (free_names)
//! ```
//!
//! A lacking member is one that a page has. Without the list, code that works on a page would find
//! `undefined` and go wrong later, at another place.

/// The globals of such a body, sorted.
pub const PAGE_GLOBALS: &[&str] = &[
    "BTCPError",
    "CSS",
    "CustomEvent",
    "Document",
    "Element",
    "Event",
    "EventTarget",
    "FocusEvent",
    "HTMLAnchorElement",
    "HTMLButtonElement",
    "HTMLCollection",
    "HTMLElement",
    "HTMLFormElement",
    "HTMLImageElement",
    "HTMLInputElement",
    "HTMLSelectElement",
    "HTMLTableElement",
    "HTMLTextAreaElement",
    "Headers",
    "InputEvent",
    "KeyboardEvent",
    "MouseEvent",
    "Node",
    "NodeList",
    "PointerEvent",
    "Response",
    "SubmitEvent",
    "Text",
    "UIEvent",
    "URLSearchParams",
    "WheelEvent",
    "btcp",
    "clearTimeout",
    "document",
    "fetch",
    "getComputedStyle",
    "localStorage",
    "location",
    "navigator",
    "self",
    "sessionStorage",
    "setTimeout",
    "window",
];

/// Members that fail with their name, by the object that pages have them on.
pub const LACKING_MEMBERS: &[(&str, &[&str])] = &[
    (
        "document",
        &[
            "addEventListener",
            "adoptNode",
            "append",
            "attachShadow",
            "caretPositionFromPoint",
            "childNodes",
            "close",
            "createAttribute",
            "createComment",
            "createDocumentFragment",
            "createElementNS",
            "createEvent",
            "createNodeIterator",
            "createRange",
            "createTreeWalker",
            "currentScript",
            "designMode",
            "domain",
            "elementFromPoint",
            "elementsFromPoint",
            "evaluate",
            "execCommand",
            "exitFullscreen",
            "firstChild",
            "fonts",
            "getAnimations",
            "getSelection",
            "implementation",
            "importNode",
            "lastChild",
            "open",
            "prepend",
            "removeEventListener",
            "replaceChildren",
            "requestStorageAccess",
            "scrollingElement",
            "startViewTransition",
            "styleSheets",
            "timeline",
            "write",
            "writeln",
        ],
    ),
    (
        "element",
        &[
            "addEventListener",
            "animate",
            "attachInternals",
            "attachShadow",
            "childNodes",
            "cloneNode",
            "close",
            "contentDocument",
            "contentWindow",
            "files",
            "firstChild",
            "form",
            "getAnimations",
            "getClientRects",
            "getContext",
            "getRootNode",
            "hidePopover",
            "insertAdjacentHTML",
            "lastChild",
            "nextSibling",
            "normalize",
            "ownerDocument",
            "pause",
            "play",
            "previousSibling",
            "removeEventListener",
            "requestFullscreen",
            "reset",
            "scroll",
            "scrollBy",
            "scrollTo",
            "select",
            "setAttributeNS",
            "setHTMLUnsafe",
            "setRangeText",
            "setSelectionRange",
            "sheet",
            "showModal",
            "showPicker",
            "showPopover",
        ],
    ),
    ("location", &["ancestorOrigins", "assign", "reload", "replace"]),
    (
        "navigator",
        &[
            "bluetooth",
            "credentials",
            "geolocation",
            "locks",
            "mediaDevices",
            "mediaSession",
            "permissions",
            "platform",
            "registerProtocolHandler",
            "sendBeacon",
            "serviceWorker",
            "share",
            "storage",
            "usb",
            "userAgent",
            "userAgentData",
            "vibrate",
            "wakeLock",
        ],
    ),
    (
        "window",
        &[
            "addEventListener",
            "alert",
            "caches",
            "close",
            "confirm",
            "cookieStore",
            "createImageBitmap",
            "crypto",
            "customElements",
            "find",
            "focus",
            "frames",
            "getSelection",
            "history",
            "indexedDB",
            "matchMedia",
            "moveTo",
            "navigation",
            "open",
            "opener",
            "parent",
            "postMessage",
            "print",
            "prompt",
            "removeEventListener",
            "requestAnimationFrame",
            "requestIdleCallback",
            "resizeTo",
            "scheduler",
            "screen",
            "scroll",
            "scrollBy",
            "scrollTo",
            "setInterval",
            "showOpenFilePicker",
            "showSaveFilePicker",
            "speechSynthesis",
            "stop",
            "structuredClone",
            "top",
            "visualViewport",
        ],
    ),
];

/// Whether a body fails where it uses this member of a global object.
pub(crate) fn is_lacking(object: &str, member: &str) -> bool {
    let object = if object == "self" { "window" } else { object };
    let listed = LACKING_MEMBERS.iter().find(|(owner, _)| *owner == object);
    listed.is_some_and(|(_, members)| members.contains(&member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        assert!(PAGE_GLOBALS.is_sorted());
        assert!(LACKING_MEMBERS.is_sorted_by_key(|(object, _)| *object));
        for (object, members) in LACKING_MEMBERS {
            assert!(members.is_sorted(), "{object}");
        }
    }
}
