//! The body of a tool that works on a page uses only what tools have of a page.
//!
//! Source: our own. Bodies run in the sandbox, with a `document` and a `window` that do what can be
//! held to grants. Rules read no files, so that the workspace asks for these findings together with
//! the others about bodies (`invalid_function_syntax::check_bodies`).
//!
//! `RULE` checks nothing: it is here so that the code is declared in one place with all others.
//!
//! ```text
//! document.write('x')       reported: pages have it, tools do not
//! new XMLHttpRequest()      reported
//! document.querySelector()  fine
//! OffscreenCanvas           fine: such a body runs in a worker of the browser, which has it
//! ```

use std::sync::Arc;

use toolwright_script::ScriptFacts;
use toolwright_source::{Diagnostic, Source, Span};

use crate::rule::Rule;

pub(crate) static RULE: Rule = Rule { codes: ALL, check: |_, _| {} };

toolwright_source::codes! {
    PAGE_API_UNAVAILABLE Warning
        "The body of a tool that works on a page uses something that pages have and tools do not, \
         such as `document.write` or `XMLHttpRequest`. Bodies run in the sandbox, \
         not in the page, and what they do to the page is checked operation by operation. The \
         call fails where the body uses it.\n\n\
         Use what tools have: the elements of `document`, `localStorage`, `fetch`, \
         `navigator.clipboard`, `setTimeout` and `btcp.dom`, `btcp.storage`, `btcp.clipboard`."
}

/// What is wrong with a body that was analysed with the names of a page.
///
/// `lacking` are members of `document` and the like that tools lack; `free` are names that nothing
/// declares.
pub(super) fn page_diagnostics(source: &Arc<Source>, facts: &ScriptFacts) -> Vec<Diagnostic> {
    // Code that does not parse has no reliable scopes.
    if !facts.problems.is_empty() {
        return Vec::new();
    }
    // A body that uses these runs where they are.
    let of_worker = facts.worker_names();
    let is_there =
        |name: &str| of_worker.contains(&name.split_once('.').map_or(name, |(_, global)| global));
    let missing = facts.lacking.iter().chain(&facts.free).filter(|it| !is_there(&it.name));
    let missing = missing.map(|missing| {
        let span = Span::new(missing.range.start, missing.range.end);
        let message = format!("`{}` is not available to tools: the call fails here", missing.name);
        Diagnostic::at(&PAGE_API_UNAVAILABLE, source, span, message)
    });
    missing.collect()
}
