//! Articles in the markup that sites use: what the article says is in the Markdown.

use std::collections::HashMap;
use std::path::Path;

use toolwright_web::{Options, markdown};

use crate::roundtrip::render;

/// What no reader of an article sees, or sees in another form.
const UNSEEN: [&str; 7] = ["math", "nav", "noscript", "script", "style", "svg", "video"];

/// The words of HTML and how often each is there; every tag ends a word.
fn words(html: &str) -> HashMap<String, usize> {
    let mut text = String::new();
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        text.push(' ');
        let tag = &rest[open..];
        let name = tag[1..].split([' ', '>', '/']).next().unwrap_or_default().to_ascii_lowercase();
        let end =
            if UNSEEN.contains(&name.as_str()) { format!("</{name}>") } else { ">".to_owned() };
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

/// The share of the words of one text that are in another.
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
fn articles_survive() {
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
        let ours = markdown(&page, None, &Options::default()).expect("no guard stops it");
        let again = render(&ours);
        let survived = share(&words(article), &words(&again));
        assert!(survived >= 0.96, "{}: {survived}\n{ours}", path.display());
        let (theirs, kept) = (headings(article), headings(&again));
        assert!(kept >= theirs, "{}: {kept} of {theirs} headings\n{ours}", path.display());
        let pieces = article.to_ascii_lowercase().matches("<pre").count();
        let code = again.matches("<pre").count();
        assert!(
            code >= pieces.min(2),
            "{}: {code} of {pieces} pieces of code\n{ours}",
            path.display()
        );
        count += 1;
    }
    assert!(count >= 12, "{count} articles");
}
