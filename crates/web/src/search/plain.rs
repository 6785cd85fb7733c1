//! Titles and snippets as plain text: the tags that search engines put in are taken out, entities
//! decoded.

use crate::html::Document;
use crate::markdown::Options;

/// Tags that stand in titles and snippets, in pairs. Others are text: `Vec<u8>` is a title, too.
const TAGS: [&str; 20] = [
    "a", "abbr", "b", "bdi", "cite", "code", "div", "em", "font", "i", "li", "mark", "p", "s",
    "small", "span", "strong", "sub", "sup", "u",
];
/// Those that stand alone.
const BREAKS: [&str; 2] = ["br", "wbr"];

/// Bytes of a tag; no search engine writes longer ones.
const MAX_TAG: usize = 300;

/// A tag in a text.
struct Tag<'a> {
    start: usize,
    end: usize,
    name: &'a str,
    closes: bool,
}

impl Tag<'_> {
    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.eq_ignore_ascii_case(self.name))
    }
}

/// The text of a snippet, on one line.
pub(super) fn text(html: &str) -> String {
    let tags: Vec<Tag> =
        html.match_indices('<').filter_map(|(start, _)| tag(html, start)).collect();
    let mut bare = String::new();
    let mut done = 0;
    for tag in formatting(&tags) {
        bare.push_str(&html[done..tag.start].replace('<', "&lt;"));
        if tag.is(&["br"]) {
            bare.push(' ');
        }
        done = tag.end;
    }
    bare.push_str(&html[done..].replace('<', "&lt;"));
    let decoded =
        Document::parse(&bare, &Options::default()).map_or(bare, |document| document.text());
    decoded.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tags that format: line breaks, and pairs. A tag that is alone is what the text is about.
fn formatting<'a>(tags: &'a [Tag<'a>]) -> impl Iterator<Item = &'a Tag<'a>> {
    let mut open: Vec<usize> = Vec::new();
    let mut formats = vec![false; tags.len()];
    for (index, tag) in tags.iter().enumerate() {
        let same = |other: &usize| tags[*other].is(&[tag.name]);
        if tag.is(&BREAKS) {
            formats[index] = true;
        } else if !tag.closes {
            open.push(index);
        } else if let Some(place) = open.iter().rposition(same) {
            formats[open.remove(place)] = true;
            formats[index] = true;
        }
    }
    tags.iter().zip(formats).filter_map(|(tag, formats)| formats.then_some(tag))
}

/// The tag that begins at `start`, if one of those that matter.
fn tag(text: &str, start: usize) -> Option<Tag<'_>> {
    let near = &text[start + 1..text.floor_char_boundary(start + MAX_TAG)];
    let inner = &near[..near.find('>')?];
    let end = start + 1 + inner.len() + 1;
    let (closes, bare) = inner.strip_prefix('/').map_or((false, inner), |bare| (true, bare));
    let name = bare.split([' ', '/', '\t', '\n']).next()?;
    Some(Tag { start, end, name, closes }).filter(|tag| tag.is(&TAGS) || tag.is(&BREAKS))
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
            ("<b>: The Bring Attention To element", "<b>: The Bring Attention To element"),
            ("</b> without <i>its <i>like</i>", "</b> without <i>its like"),
            ("<b", "<b"),
            ("one<br>two<wbr>", "one two"),
            ("<p>the <code>main</code> of <a href=x>it</a></p>", "the main of it"),
            ("<STRONG>a</strong> <b>b</b>", "a b"),
        ] {
            assert_eq!(text(html), expected, "{html}");
        }
    }
}
