//! Round trips: Markdown, rendered to HTML, converted to Markdown and rendered again, gives the
//! same HTML except for white space. The renderer is pulldown-cmark.

use std::path::Path;

use proptest::prelude::*;
use pulldown_cmark::{Parser, html};
use toolwright_web::{MarkdownOptions, markdown};

/// Renders CommonMark with GFM's extensions.
pub(crate) fn render(source: &str) -> String {
    use pulldown_cmark::Options as Extensions;
    let extensions =
        Extensions::ENABLE_TABLES | Extensions::ENABLE_TASKLISTS | Extensions::ENABLE_STRIKETHROUGH;
    let mut out = String::new();
    html::push_html(&mut out, Parser::new_ext(source, extensions));
    out
}

fn convert(html: &str) -> String {
    markdown(html, None, &MarkdownOptions::default()).expect("the page is within the limits")
}

/// Normalizes HTML: runs of white space become one space, and there is none around the tags of
/// blocks. Preformatted text stays as it is.
fn normalize(html: &str) -> String {
    let mut out = String::new();
    for (number, part) in html.split("<pre").enumerate() {
        let (code, text) = match part.split_once("</pre>") {
            Some((code, text)) if number > 0 => (format!("<pre{code}</pre>"), text),
            _ => (String::new(), part),
        };
        out.push_str(&code);
        let text = text.replace("<br />", "<br>").replace('\n', " ");
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let spaced = format!(" {} ", words.join(" "));
        out.push_str(&spaced);
    }
    let blocks = [
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "hr",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "pre",
        "details",
        "summary",
        "input",
    ];
    let mut result = String::new();
    let mut rest = out.as_str();
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at(open);
        let (tag, after) = tag.split_at(tag.find('>').map_or(tag.len(), |end| end + 1));
        let name =
            tag.trim_start_matches(['<', '/']).split([' ', '>', '/']).next().unwrap_or_default();
        let is_block = blocks.contains(&name);
        result.push_str(if is_block { before.trim_end_matches(' ') } else { before });
        result.push_str(tag);
        rest = if is_block && name != "pre" { after.trim_start_matches(' ') } else { after };
        if name == "pre" && tag.starts_with("<pre") {
            let end = rest.find("</pre>").unwrap_or(rest.len());
            result.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        if name == "pre" && tag.starts_with("</pre") {
            rest = rest.trim_start_matches(' ');
        }
    }
    result.push_str(rest);
    result.trim().to_owned()
}

#[test]
fn documents_survive_a_round_trip_through_html() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    let mut count = 0;
    let mut failures = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the documents") {
        let path = entry.expect("a file").path();
        let source = std::fs::read_to_string(&path).expect("UTF-8");
        let first = render(&source);
        let converted = convert(&first);
        let rendered = render(&converted);
        count += 1;
        if normalize(&first) != normalize(&rendered) {
            failures.push(format!(
                "== {}\n-- markdown\n{converted}\n-- html\n{}\n-- again\n{}\n",
                path.display(),
                normalize(&first),
                normalize(&rendered)
            ));
        }
    }
    assert!(count >= 60, "{count} documents");
    assert!(failures.is_empty(), "{} of {count} differ\n{}", failures.len(), failures.join("\n"));
}

/// The text of HTML, without white space.
fn text_of(html: &str) -> String {
    strip_tags(html).chars().filter(|c| !c.is_whitespace()).collect()
}

/// Removes tags and decodes entities.
fn strip_tags(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        rest = rest[open..].find('>').map_or("", |end| &rest[open + end + 1..]);
    }
    out.push_str(rest);
    out.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Text as HTML.
fn encode_entities(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Generates pages of nested blocks and formatting, whose text is full of characters that are
/// syntax in Markdown.
fn page() -> impl Strategy<Value = String> {
    let text = "([a-c.]|[ \n]|[*_`~#>+=|:!&;<\\[\\]()\\\\-]|1[.)] |é|。|€){1,8}"
        .prop_map(|text| encode_entities(&text));
    let leaf = prop_oneof![8 => text, 1 => Just("<br>".to_owned()), 1 => Just("<img src=x alt=i>".to_owned())];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let tags = prop::sample::select(vec![
            "p",
            "em",
            "strong",
            "del",
            "code",
            "a href=u",
            "ul><li",
            "ol><li",
            "blockquote",
            "h2",
            "div",
            "span",
            "sup",
            "i",
            "b",
            "li",
            "dl><dt",
            "dd",
            "table><tr><td",
            "table><tr><th",
            "pre",
            "details",
            "details><summary",
            "button",
            "dt",
            "section",
        ]);
        (tags, prop::collection::vec(inner, 1..4)).prop_map(|(tag, children)| {
            let close: Vec<&str> =
                tag.split("><").map(|t| t.split(' ').next().unwrap_or(t)).collect();
            let ends: String = close.iter().rev().map(|t| format!("</{t}>")).collect();
            format!("<{tag}>{}{ends}", children.concat())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn a_page_has_the_same_text_after_a_round_trip(pages in prop::collection::vec(page(), 1..4)) {
        let html = pages.concat();
        let converted = convert(&html);
        let rendered = render(&converted);
        prop_assert_eq!(text_of(&rendered), text_of(&html), "\n{}\n--\n{}\n--\n{}", html, converted, rendered);
    }
}
