//! What the jail lacks and a worker of a browser has. A body that uses one of these names runs in
//! such a worker; everything else that workers have is taken from it, so that a body sees the same
//! page, the same storage and the same network wherever it runs.

use crate::ScriptFacts;
use crate::lacking_members::global_of_member;

/// The globals, sorted. None of them leads out of the worker.
pub const WORKER_GLOBALS: &[&str] = &[
    "AbortController",
    "AbortSignal",
    "Atomics",
    "Blob",
    "ByteLengthQueuingStrategy",
    "CompressionStream",
    "CountQueuingStrategy",
    "Crypto",
    "CryptoKey",
    "DOMException",
    "DOMMatrix",
    "DOMPoint",
    "DOMQuad",
    "DOMRect",
    "DecompressionStream",
    "FinalizationRegistry",
    "FormData",
    "ImageData",
    "Intl",
    "OffscreenCanvas",
    "Path2D",
    "Performance",
    "ReadableStream",
    "SubtleCrypto",
    "TextDecoder",
    "TextDecoderStream",
    "TextEncoder",
    "TextEncoderStream",
    "TransformStream",
    "URL",
    "URLPattern",
    "WeakRef",
    "WebAssembly",
    "WritableStream",
    "atob",
    "btoa",
    "clearInterval",
    "crypto",
    "performance",
    "setInterval",
    "structuredClone",
];

/// What workers have, too, and the façade of a page defines anew: only bodies without a page lack
/// these in the jail. Sorted.
pub const WORKER_GLOBALS_OF_PAGES: &[&str] =
    &["CustomEvent", "Event", "EventTarget", "URLSearchParams", "clearTimeout", "setTimeout"];

fn is_worker_name(name: &str) -> bool {
    [WORKER_GLOBALS, WORKER_GLOBALS_OF_PAGES].iter().any(|all| all.binary_search(&name).is_ok())
}

impl ScriptFacts {
    /// The names that the code uses, that the jail lacks and that a worker has: not empty for a
    /// body that must run in a worker.
    pub fn worker_names(&self) -> Vec<&str> {
        let lacking = self.lacking.iter().filter_map(|member| global_of_member(&member.name));
        let mut names: Vec<&str> =
            self.free.iter().map(|free| &*free.name).chain(lacking).collect();
        names.retain(|name| is_worker_name(name));
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Whether the code may use such a name, without parsing it: it is in the text. Bodies without one
/// need no look at all.
pub fn mentions_worker_names(code: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    code.split(|c: char| !is_part(c)).any(is_worker_name)
        // An escape such as `\u0049ntl` is the name, too.
        || code.contains("\\u")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GLOBALS, PAGE_GLOBALS, ParseGoal, read};

    #[test]
    fn the_names_are_sorted_and_in_no_other_list() {
        assert!(WORKER_GLOBALS.is_sorted() && WORKER_GLOBALS_OF_PAGES.is_sorted());
        assert!(WORKER_GLOBALS_OF_PAGES.iter().all(|name| PAGE_GLOBALS.contains(name)));
        for name in WORKER_GLOBALS {
            assert!(!GLOBALS.contains(name) && !PAGE_GLOBALS.contains(name), "{name}");
        }
    }

    #[test]
    fn names_that_only_a_worker_has_are_found() {
        for (code, expected) in [
            ("export default () => document.title", &[][..]),
            ("export default () => new Intl.NumberFormat('de').format(1)", &["Intl"]),
            ("export default () => window.crypto.randomUUID()", &["crypto"]),
            ("export default () => self.Intl ?? globalThis.WebAssembly", &["Intl", "WebAssembly"]),
            ("export default () => setInterval(() => btoa('x'), 1)", &["btoa", "setInterval"]),
            ("export default () => \\u0049ntl.Locale", &["Intl"]),
            // A probe, a declaration of its own, a property, a text.
            ("export default () => typeof Intl", &[]),
            ("const URL = 1; export default () => URL", &[]),
            ("export default ({ crypto }) => crypto", &[]),
            ("export default (args) => args.Intl + 'Intl'", &[]),
            // What neither has.
            ("export default () => new WebSocket('ws://x')", &[]),
        ] {
            let facts = read(code, ParseGoal::Module, PAGE_GLOBALS);
            assert_eq!(facts.worker_names(), expected, "{code}");
            assert!(expected.is_empty() || mentions_worker_names(code), "{code}");
        }
        let without_page = read("export default () => setTimeout(f, 1)", ParseGoal::Module, &[]);
        assert_eq!(without_page.worker_names(), ["setTimeout"]);
        assert!(!mentions_worker_names("export default () => document.title"));
    }
}
