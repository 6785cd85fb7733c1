//! The main content of sixty pages: thirty kinds of sites (`tests/sites`), each with two of six
//! articles (`tests/site_articles`). The sites are written in the markup of real themes and
//! generators; more than half have neither `<main>` nor `<article>`.

use std::collections::HashMap;
use std::path::Path;

use toolwright_web::{
    ConvertedPage, LinkStyle, MarkdownOptions, OmissionReason, PageContent, convert,
};

/// A paragraph that some sites have apart from the rest: in a second section, an answer, a note.
const MORE: &str = "<p>A reader who gets this far may want to know that the old drawings are kept in \
    the office, where they can be seen on weekdays, and copied for the price of the paper.</p>";
/// The line below the title that some sites have.
const LEAD: &str = "A short account of what was done, by whom, and what it cost in the end.";

fn main_options() -> MarkdownOptions {
    MarkdownOptions { content: PageContent::Main, ..MarkdownOptions::default() }
}

fn main_of(html: &str) -> ConvertedPage {
    convert(html.to_owned(), None, &main_options()).expect("within the limits")
}

fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| {
            let path = entry.expect("a file").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("UTF-8"))
        })
        .collect();
    files.sort();
    files
}

/// The words of Markdown or HTML, without tags, addresses and syntax, each with its count.
fn words(text: &str) -> HashMap<String, usize> {
    let mut words = HashMap::new();
    // Tags, and the destinations of links and images.
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['<', ']']) {
        plain.push_str(&rest[..at]);
        plain.push(' ');
        let end = match &rest[at..] {
            tag if tag.starts_with('<') => tag.find('>').map(|end| end + 1),
            link if link.starts_with("](") => link.find(')').map(|end| end + 1),
            _ => Some(1),
        };
        rest = &rest[at + end.unwrap_or(1)..];
    }
    plain.push_str(rest);
    for word in plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    words
}

/// The share of the words of one text that also occur in another.
fn share(of: &HashMap<String, usize>, within: &HashMap<String, usize>) -> f64 {
    let found: usize =
        of.iter().map(|(word, count)| *count.min(within.get(word).unwrap_or(&0))).sum();
    found as f64 / of.values().sum::<usize>().max(1) as f64
}

#[test]
fn the_article_of_sixty_pages_is_found_and_little_else() {
    let (sites, articles) = (files("sites"), files("site_articles"));
    assert_eq!((sites.len(), articles.len()), (30, 6));
    let (mut pages, mut fallbacks) = (0, Vec::new());
    let (mut kept_sum, mut article_sum) = (0.0, 0.0);
    let mut poor = Vec::new();
    for (index, (site, shell)) in sites.iter().enumerate() {
        for (article, body) in [&articles[index % 6], &articles[(index + 3) % 6]] {
            let (heading, body) = body.split_once("</h1>").expect("a heading");
            let title = heading.trim_start_matches("<h1>");
            let page = shell
                .replace("{{title}}", title)
                .replace("{{body}}", body)
                .replace("{{more}}", MORE)
                .replace("{{lead}}", LEAD);
            let mut expected = format!("{title} {body}");
            for (mark, text) in [("{{more}}", MORE), ("{{lead}}", LEAD)] {
                if shell.contains(mark) {
                    expected.push_str(text);
                }
            }
            let found = main_of(&page);
            if found.is_fallback {
                fallbacks.push(format!("{site} with {article}"));
            }
            let (expected, output) = (words(&expected), words(&found.markdown));
            let (kept, of_article) = (share(&expected, &output), share(&output, &expected));
            pages += 1;
            kept_sum += kept;
            article_sum += of_article;
            // Single pages may be a little worse than the whole.
            if kept < 0.95 || of_article < 0.85 {
                poor.push(format!(
                    "{site} with {article}: kept {kept:.3}, article {of_article:.3}\n{}\n",
                    found.markdown
                ));
            }
        }
    }
    let (kept, of_article) = (kept_sum / f64::from(pages), article_sum / f64::from(pages));
    assert!(poor.is_empty(), "{}", poor.join("\n"));
    assert!(fallbacks.len() <= 3, "{fallbacks:?}");
    assert!(kept >= 0.97 && of_article >= 0.93, "kept {kept}, article {of_article}");
}

#[test]
fn a_page_without_an_article_is_shown_whole() {
    let menu = "<nav>x</nav><div class=menu><a href=/a>One</a> <a href=/b>Two</a></div>";
    let page = main_of(menu);
    assert!(page.is_fallback, "{page:?}");
    assert_eq!(page.markdown, "[One](/a) [Two](/b)");
    assert_eq!(main_of("").markdown, "");
}

#[test]
fn omissions_name_what_was_left_out_and_why() {
    let text =
        "<p>The water came up to the door, and stayed there for two days, until it went.</p>";
    let page = format!(
        "<div class=menu><a href=/>Home</a></div><div><h1>Flood</h1>{}<div class=share-bar>Tell a \
         friend</div><div><h3>Related articles</h3><p>One more thing to read about all this \
         water.</p></div><button>Like</button></div><footer><script>let x;</script>Imprint and so on</footer>",
        text.repeat(4)
    );
    let page = main_of(&page);
    assert!(page.markdown.starts_with("# Flood\n\nThe water"), "{}", page.markdown);
    for (start, reason) in [
        ("Home", OmissionReason::Name),
        ("Tell a friend", OmissionReason::Name),
        ("Related articles", OmissionReason::Heading),
        ("Like", OmissionReason::Control),
        // Not the text of its script.
        ("Imprint", OmissionReason::Element),
    ] {
        let found = page.omissions.iter().find(|omission| omission.excerpt.starts_with(start));
        assert_eq!(found.map(|omission| omission.reason), Some(reason), "{start}: {page:?}");
        assert!(!page.markdown.contains(start), "{start}: {}", page.markdown);
    }
}

/// Cards whose link is around a heading and a paragraph, in blocks without a telling name.
#[test]
fn teasers_inside_of_links_are_not_part_of_the_article() {
    let text = "<p>The water came up to the door of the mill, and stayed there for two days.</p>";
    let card = |n: u32| {
        format!(
            "<div class=x><a href=/{n}><h3>Story {n}</h3><p>What else happened in the valley in \
             that week, told by people who were there.</p></a></div>"
        )
    };
    let cards: String = (1..5).map(card).collect();
    let page = format!("<div><h1>Flood</h1>{}</div><div class=y>{cards}</div>", text.repeat(8));
    let found = main_of(&page);
    assert!(!found.markdown.contains("Story"), "{}", found.markdown);
    assert_eq!(found.markdown.matches("The water").count(), 8, "{}", found.markdown);
    // A link that nobody closed holds the whole article.
    let open = format!("<div class=y>{cards}</div><div><a href=/top>{}</div>", text.repeat(20));
    assert_eq!(main_of(&open).markdown.matches("The water").count(), 20);
}

/// Parts of manuals that look like parts of sites: a section about cookies, a list of references.
#[test]
fn sections_of_a_manual_are_kept_whatever_they_are_about() {
    let text = "<p>The jar keeps what the server has sent, and sends it back with the next request \
                to the same host.</p>";
    let section = |title: &str| format!("<div class=sect><h2>{title}</h2>{}</div>", text.repeat(4));
    let references = "<div class=sect><h2>References</h2><div><ul><li><a href=/1>The first \
        document on state</a></li><li><a href=/2>The second document on state</a></li></ul></div>\
        </div>";
    let cookies = format!("<section><h2>Cookies</h2>{text}<pre>jar.get('x')</pre>{text}</section>");
    let page = format!("{}{}{cookies}{references}", section("Requests"), section("Sessions"));
    let found = main_of(&format!("<h1>State</h1><div>{page}</div>"));
    for part in ["jar.get('x')", "The second document"] {
        assert!(found.markdown.contains(part), "{part}: {}", found.markdown);
    }
    // The same words announce a notice, and the same list is a menu, where nothing looks like it.
    let notice = "<div><h2>Cookies</h2><p>We and our partners want to keep some of them here.</p>\
                  <a href=/yes>Yes</a></div>";
    let menu = references.replace("sect", "x").replace("References", "Elsewhere");
    let page = format!("<h1>State</h1>{}{}", section("Requests"), section("Sessions"));
    let found = main_of(&format!("<div>{page}</div>{notice}<div>{menu}</div>"));
    for part in ["partners", "The second document"] {
        assert!(!found.markdown.contains(part), "{part}: {}", found.markdown);
    }
}

/// A live feed has as many sentences as a short article beside it.
#[test]
fn a_side_column_with_many_sentences_is_not_the_article() {
    let text = "<p>The water came up to the door of the mill, and stayed there for two days.</p>";
    let feed = "<div>An hour ago somebody said something about another thing altogether.</div>";
    let page =
        format!("<div><h1>Flood</h1>{}</div><aside>{}</aside>", text.repeat(6), feed.repeat(5));
    let found = main_of(&page);
    assert!(!found.markdown.contains("An hour ago"), "{}", found.markdown);
    // What is nearly all of the page is the page, whatever its element.
    let page = format!("<div><h1>Flood</h1></div><aside>{}</aside>", text.repeat(6));
    assert!(main_of(&page).markdown.contains("The water"));
}

#[test]
fn formulas_of_mathjax_are_kept() {
    let text = "<p>The area of a circle is what this paragraph is about, as so many others.</p>";
    let formula = "<div class='MathJax CtxtMenu_Attached_0'><math><mi>A</mi><mo>=</mo><mi>π</mi>\
                   <msup><mi>r</mi><mn>2</mn></msup></math></div>";
    let page = main_of(&format!("<h1>Circles</h1>{text}{formula}{text}"));
    assert!(page.markdown.contains('π'), "{}", page.markdown);
}

#[test]
fn links_and_images_are_written_as_asked() {
    let page = "<p>See <a href=/a>one</a>, <a href=/b>two</a> and <a href=/a>one again</a>. <img \
                src=/i.png alt=Pier></p>";
    let options = |links, images| MarkdownOptions { links, images, ..MarkdownOptions::default() };
    let base = url::Url::parse("https://example.com/x").ok();
    for (links, images, expected) in [
        (
            LinkStyle::Footnotes,
            false,
            "See [one][1], [two][2] and [one again][1].\n\n[1]: https://example.com/a\n[2]: \
             https://example.com/b",
        ),
        (
            LinkStyle::Omitted,
            true,
            "See one, two and one again. ![Pier](https://example.com/i.png)",
        ),
        (LinkStyle::Omitted, false, "See one, two and one again."),
    ] {
        let page = convert(page.to_owned(), base.as_ref(), &options(links, images)).unwrap();
        assert_eq!(page.markdown, expected);
    }
}
