//! A definition has no text that its readers cannot see: no invisible, bidirectional or tag
//! characters, and no letters of another script that look like Latin ones.
//!
//! Source: our own advice, against tool poisoning. A model reads code points, a reviewer reads
//! glyphs; an attacker uses the difference.
//!
//! What counts as hidden is in `tool_poisoning::hidden_text`; here is how it is reported and
//! removed. Silent about joiners and selectors that emoji and scripts such as Arabic or Devanagari
//! need. Called by `texts` for each text of the document, also in fields that no format defines.

use toolwright_model::Json;
use toolwright_source::{Edit, Finding, Member, Node, Safety};

use crate::report::Report;
use crate::tool_poisoning::{SuspiciousText, find_hidden_text};

toolwright_source::codes! {
    HIDDEN_TEXT Warning
        "A text contains characters that a reader cannot see, or sees in another place than \
         they are: zero-width and tag characters, variation selectors after nothing, \
         bidirectional overrides, control characters, letters of one script that look like \
         letters of another. A model reads all of them, so they can carry instructions that no \
         reviewer notices.\n\n\
         Remove them, or ask the author what they are for. Joiners that emoji and many scripts \
         need are not reported. The repair removes the invisible characters. It is applied only \
         on request, because a person should read the text first."
    => (
        "tool.json",
        r#"{
  "name": "now",
  "description": "Returns the current time\u200b\u200c\u200b in UTC",
  "inputSchema": {"type": "object", "additionalProperties": false}
}
"#,
        r#"{
  "name": "now",
  "description": "Returns the current time in UTC",
  "inputSchema": {"type": "object", "additionalProperties": false}
}
"#
    )
}

/// Reports the hidden characters of a text value. All findings of one text carry the same repair,
/// which cleans the whole text: partial repairs would overlap. The repair is unsafe: it changes a
/// text whose author may want these characters.
pub(super) fn check_text(node: Node<'_>, text: &str, out: &mut Report<'_>) {
    let hits = find_hidden_text(text);
    if hits.is_empty() {
        return;
    }
    let at = node.pointer();
    // Computed once for all hits, because it searches the cleaned text again.
    let cleaned = cleaned(text, &hits);
    for hit in hits {
        let mut finding = Finding::new(&HIDDEN_TEXT, at.clone(), hit.message).within(hit.range);
        finding.help.extend(hit.help);
        out.push_in_document(match &cleaned {
            Some(text) => {
                let edit = Edit::Replace(at.clone(), Json::from(text.as_str()));
                finding.repair(Safety::Unsafe, "remove what cannot be seen", vec![edit])
            }
            None => finding,
        });
    }
}

/// Reports the hidden characters of a key. The finding marks the whole key, because ranges inside a
/// text count from the start of a value. No repair if the clean name is taken.
pub(super) fn check_key(entry: &Member<'_>, out: &mut Report<'_>) {
    let hits = find_hidden_text(entry.name());
    if hits.is_empty() {
        return;
    }
    let at = entry.value.pointer();
    let cleaned = cleaned(entry.name(), &hits);
    for hit in hits {
        let mut finding =
            Finding::new(&HIDDEN_TEXT, at.clone(), format!("key: {}", hit.message)).on_key();
        finding.help.extend(hit.help);
        // Without the hidden characters the key may equal another key, and a rename would create a
        // duplicate. An attacker may rely on exactly that.
        let free = |name: &&String| entry.value.parent().is_some_and(|owner| !owner.has(name));
        out.push_in_document(match cleaned.as_ref().filter(free) {
            Some(name) => {
                let edit = Edit::RenameKey(at.clone(), name.clone());
                finding.repair(Safety::Unsafe, "remove what cannot be seen", vec![edit])
            }
            None => finding,
        });
    }
}

/// The text without the invisible characters that were reported. `None` if the result would still
/// hide something, as letters of another script do: which letters were meant, a person must decide.
/// It is also `None` if nothing was removed.
fn cleaned(text: &str, hits: &[SuspiciousText]) -> Option<String> {
    // Only characters that were reported are removed: the same joiner is legitimate inside an emoji
    // and suspicious between two Latin letters.
    let is_hit = |at: usize| hits.iter().any(|hit| hit.range.contains(&at));
    let kept = text.char_indices().filter(|(at, c)| !(is_invisible(*c) && is_hit(*at)));
    let cleaned: String = kept.map(|(_, c)| c).collect();
    (cleaned.len() < text.len() && find_hidden_text(&cleaned).is_empty()).then_some(cleaned)
}

/// Whether a character has no glyph, so that removing it does not change how the text looks:
/// control characters, the default ignorable code points of Unicode, and bidirectional marks. Line
/// breaks and tabs are layout and stay.
fn is_invisible(c: char) -> bool {
    let layout = matches!(c, '\n' | '\t' | '\r');
    c.is_control() && !layout
        || matches!(
            c,
            // By block: soft hyphen, combining grapheme joiner, Arabic letter mark, Hangul fillers,
            // Khmer vowels, Mongolian selectors, zero-width and bidirectional marks, word joiners,
            // variation selectors, byte order mark, specials, shorthand and musical controls, tags.
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use toolwright_source::Edit;

    use crate::testing::{findings, found};

    /// An MCP tool with this description, which may contain JSON escapes.
    fn tool(description: &str) -> String {
        format!(
            r#"{{"name": "a", "description": "{description}", "inputSchema": {{"type": "object"}}}}"#
        )
    }

    #[test]
    fn hidden_characters_are_found_in_every_text_of_a_document() {
        for (text, places) in [
            ("Plain words, café, Größe, 日本語", 0),
            ("👩‍💻 and a flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿", 0),
            ("No\u{200b}thing to see", 1),
            ("Nothing\\u200b to see", 1),
            ("abc \u{202e}fed", 1),
            ("Tags \u{e0041}\u{e0042}\u{e0043}", 1),
            ("Bell \\u0007", 1),
        ] {
            assert_eq!(found("HIDDEN_TEXT", &tool(text)).len(), places, "{text:?}");
        }
        // The position is inside the text, also after an escape sequence.
        assert_eq!(
            found("HIDDEN_TEXT", &tool("a\\n\\u200bb")),
            ["HIDDEN_TEXT at /description:1:34"]
        );
        // Everywhere in the document: fields that no format defines, code, keys.
        for (text, at) in [
            ("tool:\n  id: t\n  anything: [{deep: \"a\\u200bb\"}]\n", "/tool/anything/0/deep:3:23"),
            (
                "tool:\n  id: t\n  executable_knowledge: {helpers: [{function: \"a\\u200bb\"}]}\n",
                "/tool/executable_knowledge/helpers/0/function:3:49",
            ),
            ("tool:\n  id: t\n  \"ke\\u200by\": 1\n", "/tool/ke\u{200b}y"),
        ] {
            assert_eq!(found("HIDDEN_TEXT", text), [format!("HIDDEN_TEXT at {at}")], "{text}");
        }
    }

    #[test]
    fn a_text_that_aliases_repeat_is_reported_once() {
        let text = "tool:\n  id: t\n  a: &a \"x\\u200by\"\n  b: *a\n  c: &c {d: \"x\\u200by\"}\n  e: *c\n  f: {<<: *c}\n";
        assert_eq!(
            found("HIDDEN_TEXT", text),
            ["HIDDEN_TEXT at /tool/a:3:11", "HIDDEN_TEXT at /tool/c/d:5:15"]
        );
    }

    #[test]
    fn the_repair_removes_invisible_characters() {
        let repairs = |text: &str| -> Vec<Edit> {
            let found = findings(text).into_iter().filter(|f| f.code.name == "HIDDEN_TEXT");
            found.filter_map(|f| f.repair).flat_map(|repair| repair.edits).collect()
        };
        let [Edit::Replace(at, value)] = &repairs(&tool("a\u{200b}b \u{200b}c"))[..] else {
            panic!("one replacement");
        };
        assert_eq!((at.as_str(), value.as_str()), ("/description", Some("ab c")));
        let [Edit::RenameKey(_, name)] = &repairs("tool:\n  id: t\n  \"ke\\u200by\": 1\n")[..]
        else {
            panic!("one key");
        };
        assert_eq!(name, "key");
        assert_eq!(repairs("tool:\n  id: t\n  \"ke\\u200by\": 1\n  key: 2\n"), []);
        // Letters of another script are visible. Which letters were meant, a person must decide.
        assert_eq!(repairs(&tool("Reads a раge from disk")), []);
    }
}
