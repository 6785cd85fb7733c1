//! Titles and snippets of search results, as plain text.
//!
//! Providers put formatting into them (`<strong>tides</strong>`) and encode entities, but not all
//! do so consistently: a title about HTML can contain `<b>` as text. So only well-known formatting
//! tags are removed, and only in pairs; a tag without its counterpart is what the text is about.
//! What remains is decoded by the HTML parser.

use crate::html::HtmlDocument;
use crate::markdown::MarkdownOptions;

/// Tags that providers use for formatting. Others are text: `Vec<u8>` is a likely title.
const FORMATTING_TAGS: [&str; 20] = [
    "a", "abbr", "b", "bdi", "cite", "code", "div", "em", "font", "i", "li", "mark", "p", "s",
    "small", "span", "strong", "sub", "sup", "u",
];
/// Tags without an end tag.
const BREAK_TAGS: [&str; 2] = ["br", "wbr"];

/// Bytes of a tag. Providers write short ones, and a limit keeps a text of many `<` from taking
/// quadratic time.
const MAX_TAG_BYTES: usize = 300;

/// A tag in a snippet that may be formatting.
struct SnippetTag<'a> {
    /// The offset of `<`.
    start: usize,
    /// The offset after `>`.
    end: usize,
    name: &'a str,
    is_end_tag: bool,
}

impl SnippetTag<'_> {
    fn is_any_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.eq_ignore_ascii_case(self.name))
    }
}

/// The text of a snippet on one line, without formatting tags and with entities decoded.
pub(super) fn strip_markup(html: &str) -> String {
    let tags: Vec<SnippetTag> =
        html.match_indices('<').filter_map(|(start, _)| parse_tag(html, start)).collect();
    let mut bare = String::new();
    let mut done = 0;
    for tag in formatting_tags(&tags) {
        // Every `<` that is left is text, and has to survive the HTML parser.
        bare.push_str(&html[done..tag.start].replace('<', "&lt;"));
        // `<wbr>` marks where a long word may be broken, which is not a space.
        if tag.is_any_of(&["br"]) {
            bare.push(' ');
        }
        done = tag.end;
    }
    bare.push_str(&html[done..].replace('<', "&lt;"));
    // Parsing fails only at limits that a snippet does not reach. Its text is better than nothing
    // then.
    let decoded = HtmlDocument::parse(&bare, &MarkdownOptions::default())
        .map_or(bare, |document| document.text());
    decoded.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tags that are formatting: line breaks, and start tags together with their end tags.
fn formatting_tags<'a>(tags: &'a [SnippetTag<'a>]) -> impl Iterator<Item = &'a SnippetTag<'a>> {
    let mut open: Vec<usize> = Vec::new();
    let mut is_formatting = vec![false; tags.len()];
    for (index, tag) in tags.iter().enumerate() {
        let has_same_name = |other: &usize| tags[*other].is_any_of(&[tag.name]);
        if tag.is_any_of(&BREAK_TAGS) {
            is_formatting[index] = true;
        } else if !tag.is_end_tag {
            open.push(index);
        // The nearest open tag of the name, so that nested tags are paired as in HTML.
        } else if let Some(position) = open.iter().rposition(has_same_name) {
            is_formatting[open.remove(position)] = true;
            is_formatting[index] = true;
        }
    }
    tags.iter().zip(is_formatting).filter_map(|(tag, formats)| formats.then_some(tag))
}

/// The tag that begins at `start`, if it is one of the known ones.
fn parse_tag(text: &str, start: usize) -> Option<SnippetTag<'_>> {
    let near = &text[start + 1..text.floor_char_boundary(start + MAX_TAG_BYTES)];
    let inner = &near[..near.find('>')?];
    let end = start + 1 + inner.len() + 1;
    let (is_end_tag, bare) = inner.strip_prefix('/').map_or((false, inner), |bare| (true, bare));
    let name = bare.split([' ', '/', '\t', '\n']).next()?;
    Some(SnippetTag { start, end, name, is_end_tag })
        .filter(|tag| tag.is_any_of(&FORMATTING_TAGS) || tag.is_any_of(&BREAK_TAGS))
}

#[cfg(test)]
mod tests {
    use super::strip_markup;

    #[test]
    fn formatting_is_removed_and_other_tags_are_text() {
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
            ("<b>: The Bring Attention To element", "<b>: The Bring Attention To element"),
            ("</b> without <i>its <i>like</i>", "</b> without <i>its like"),
            ("<b", "<b"),
            ("one<br>two<wbr>", "one two"),
            ("<p>the <code>main</code> of <a href=x>it</a></p>", "the main of it"),
            ("<STRONG>a</strong> <b>b</b>", "a b"),
        ] {
            assert_eq!(strip_markup(html), expected, "{html}");
        }
    }
}
