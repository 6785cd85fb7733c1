//! Articles in the markup of fourteen kinds of sites: their words, headings and code survive the
//! conversion to Markdown.

use std::collections::HashMap;
use std::path::Path;

use toolwright_web::{MarkdownOptions, markdown};

use crate::roundtrip::render;

/// Elements that are hidden, or that are converted to something without their text.
const NOT_COUNTED: [&str; 7] = ["math", "nav", "noscript", "script", "style", "svg", "video"];

/// The words of HTML, each with the number of times it occurs. Every tag ends a word.
fn words(html: &str) -> HashMap<String, usize> {
    let mut text = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        text.push(' ');
        let tag = &rest[open..];
        let name = tag[1..].split([' ', '>', '/']).next().unwrap_or_default().to_ascii_lowercase();
        let end = if NOT_COUNTED.contains(&name.as_str()) {
            format!("</{name}>")
        } else {
            ">".to_owned()
        };
        rest = tag.find(&end).map_or("", |at| &tag[at + end.len()..]);
    }
    text.push_str(rest);
    for (entity, character) in [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#8617;", "↩"),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    let mut words = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_owned()).or_default() += 1;
    }
    words
}

/// The share of the words of one text that also occur in another.
fn share(of: &HashMap<String, usize>, within: &HashMap<String, usize>) -> f64 {
    let found: usize =
        of.iter().map(|(word, count)| *count.min(within.get(word).unwrap_or(&0))).sum();
    found as f64 / of.values().sum::<usize>() as f64
}

fn headings(html: &str) -> usize {
    let html = html.to_ascii_lowercase();
    (1..=6).map(|level| html.matches(&format!("<h{level}")).count()).sum()
}

#[test]
fn articles_keep_their_words_headings_and_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/articles");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the articles") {
        let path = entry.expect("a file").path();
        let page = std::fs::read_to_string(&path).expect("UTF-8");
        let lower = page.to_ascii_lowercase();
        let (start, end) = (
            lower.find("<article").expect("its start"),
            lower.rfind("</article>").expect("its end"),
        );
        let article = &page[start..end];
        let converted = markdown(&page, None, &MarkdownOptions::default())
            .expect("the page is within the limits");
        let rendered = render(&converted);
        let survived = share(&words(article), &words(&rendered));
        assert!(survived >= 0.96, "{}: {survived}\n{converted}", path.display());
        let (theirs, kept) = (headings(article), headings(&rendered));
        assert!(kept >= theirs, "{}: {kept} of {theirs} headings\n{converted}", path.display());
        let pieces = article.to_ascii_lowercase().matches("<pre").count();
        let code = rendered.matches("<pre").count();
        assert!(
            code >= pieces.min(2),
            "{}: {code} of {pieces} pieces of code\n{converted}",
            path.display()
        );
        count += 1;
    }
    assert!(count >= 12, "{count} articles");
}
