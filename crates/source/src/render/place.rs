//! Where a diagnostic lies, in words that mean something without the text: the source, the tool,
//! and the path inside the tool. The forms show it for what a server answered, whose lines nobody
//! can open.

use super::visible;
use crate::{Diagnostic, DocumentPath};

/// `notion › create_page › properties.parent`
pub fn place(d: &Diagnostic) -> String {
    let tool = d.tool.as_ref().map(|tool| tool.name.as_str());
    let path = path_in_words(&d.path_in_tool());
    let parts = [Some(d.source_name()), tool, Some(path.as_str())].into_iter().flatten();
    let parts =
        parts.filter(|part| !part.is_empty()).map(|part| shorten(&visible(part), MOST_CHARACTERS));
    parts.collect::<Vec<_>>().join(" › ")
}

/// The most characters of each part. Names and schemas of real tools stay below it; a hostile
/// server could fill the screen.
const MOST_CHARACTERS: usize = 120;

/// At most `most` characters, the last one an ellipsis if some are left out.
pub(super) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most.saturating_sub(1)) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        _ => text.to_owned(),
    }
}

/// A path with dots, and with brackets around the numbers of lists: `properties.ids.anyOf[0]`. The
/// schema of the input is where nearly all paths lead, so its name is left out.
///
/// ```text
/// /inputSchema/properties/ids/anyOf/0   ─▶   properties.ids.anyOf[0]
/// ```
pub fn path_in_words(path: &DocumentPath) -> String {
    let mut out = String::new();
    let mut tokens = path.tokens().peekable();
    tokens.next_if(|token| token == "inputSchema" && path.parent() != Some(DocumentPath::root()));
    for token in tokens {
        if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) {
            out += &format!("[{token}]");
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out += &token;
        }
    }
    out
}
