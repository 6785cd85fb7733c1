//! Titles and snippets as plain text: the tags that search engines put in are taken out, entities decoded.

use crate::html::Document;
use crate::markdown::Options;

/// Tags that stand in titles and snippets. Others are text: `Vec<u8>` is a title, too.
const TAGS: [&str; 22] = [
    "a", "abbr", "b", "bdi", "br", "cite", "code", "div", "em", "font", "i", "li", "mark", "p", "s", "small",
    "span", "strong", "sub", "sup", "u", "wbr",
];

/// The text of a snippet, on one line.
pub(super) fn text(html: &str) -> String {
    let mut bare = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        bare.push_str(&rest[..open]);
        rest = &rest[open..];
        match tag(rest) {
            Some(length) => rest = &rest[length..],
            None => {
                bare.push_str("&lt;");
                rest = &rest[1..];
            }
        }
    }
    bare.push_str(rest);
    let decoded = Document::parse(&bare, &Options::default()).map_or(bare, |document| document.text());
    decoded.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of a tag at the beginning of `text`.
fn tag(text: &str) -> Option<usize> {
    let end = text.find('>')?;
    let name = text[1..end].trim_start_matches('/').split([' ', '/', '\t', '\n']).next()?;
    TAGS.contains(&name.to_ascii_lowercase().as_str()).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn markup_of_snippets() {
        for (html, expected) in [
            ("plain", "plain"),
            ("<strong>bold</strong> word", "bold word"),
            ("Tom &amp; Jerry &#39;s &quot;show&quot; &nbsp;x", "Tom & Jerry 's \"show\" \u{a0}x"),
            ("1 &lt; 2 and <b>3</b>", "1 < 2 and 3"),
            ("Vec<u8> and <B class=x>this</B>", "Vec<u8> and this"),
            ("a < b", "a < b"),
            ("one<br/>\n two", "one two"),
            ("&lt;script&gt;", "<script>"),
            ("<script>alert(1)</script>", "<script>alert(1)</script>"),
            ("", ""),
            ("<", "<"),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }
}
