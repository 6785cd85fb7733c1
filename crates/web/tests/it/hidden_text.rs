//! Text that readers do not see, pages that need scripts, and what pages say about themselves.

use toolwright_web::{ConvertedPage, MarkdownOptions, PageMetadata, convert};

fn page(html: &str) -> ConvertedPage {
    let base = url::Url::parse("https://example.com/a/b").ok();
    convert(html.to_owned(), base.as_ref(), &MarkdownOptions::default()).expect("within limits")
}

#[test]
fn text_that_the_markup_hides_is_dropped_and_counted() {
    for hidden in [
        "<p hidden>secret</p>",
        "<p style='display:none'>secret</p>",
        "<p style='visibility: hidden'>secret</p>",
        "<p style='opacity:0'>secret</p>",
        "<p style='font-size:0'>secret</p>",
        "<div style='position:absolute;left:-9999px'><p>secret</p></div>",
        "<p style='text-indent:-10000px'>secret</p>",
        "<p>a <span aria-hidden=true>secret</span></p>",
        "<ul><li style='width:0;height:0;overflow:hidden'>secret</li></ul>",
    ] {
        let page = page(&format!("<p>shown</p>{hidden}"));
        assert!(!page.markdown.contains("secret"), "{hidden}: {}", page.markdown);
        assert_eq!(page.hidden_elements, 1, "{hidden}");
    }
    // Text that only a class hides is for screen readers, and panels can be opened.
    for shown in [
        "<h2 class='sr-only'>kept</h2>",
        "<div aria-hidden=true><p>kept</p></div>",
        "<p style='opacity:0;transform:translateY(9px)'>kept</p>",
        "<p hidden=until-found>kept</p>",
    ] {
        let page = page(shown);
        assert!(page.markdown.contains("kept"), "{shown}");
        assert_eq!(page.hidden_elements, 0, "{shown}");
    }
    assert_eq!(page("<p style='opacity:0'> </p><script>x</script>").hidden_elements, 0);
}

#[test]
fn invisible_and_control_characters_are_dropped_and_counted() {
    let html = "<p>a\u{200b}b\u{e0041}c\u{202e}d\u{1b}[31m &#8203;e</p><pre>x\u{9b}y</pre><img \
                src=i alt='p\u{e0042}q'>";
    let found = page(html);
    assert!(found.markdown.starts_with("abcd\\[31m e"), "{:?}", found.markdown);
    assert!(found.markdown.contains("xy") && found.markdown.contains("![pq]"), "{found:?}");
    assert!(!found.markdown.chars().any(|c| c.is_control() && c != '\n'), "{found:?}");
    assert_eq!(found.hidden_characters, 7);
    assert_eq!(page("<p>plain é 日本").hidden_characters, 0);
}

#[test]
fn a_page_that_is_empty_without_scripts_is_reported_and_its_noscript_is_used() {
    let app = "<div id=root></div><script src=app.js></script>";
    assert!(page(app).needs_script);
    let with_text =
        format!("{app}<noscript><p>{}</p></noscript>", "Read the text version. ".repeat(20));
    let page_with_text = page(&with_text);
    assert!(page_with_text.markdown.starts_with("Read the text version."), "{page_with_text:?}");
    assert!(!page_with_text.needs_script);
    let short = page(&format!("{app}<noscript>Please enable JavaScript.</noscript>"));
    assert_eq!((short.markdown.as_str(), short.needs_script), ("Please enable JavaScript.", true));
    let article =
        format!("<p>{}</p>{app}<noscript>x</noscript>", "Some text of the page. ".repeat(20));
    let article = page(&article);
    assert!(!article.needs_script && !article.markdown.contains("\n\nx"), "{article:?}");
    assert!(!page("<p>short</p>").needs_script);
}

#[test]
fn metadata_comes_from_elements_open_graph_and_structured_data() {
    let text = |value: &str| Some(value.to_owned());
    let full = page(
        "<html lang=en-GB><title>Ferry | Post</title><link rel='x canonical' href=/ferry><meta \
         property=og:site_name content='The Post'><meta property=og:title content='Ferry \n \
         returns'><meta property='article:published_time' content=2026-03-03><script \
         type=application/ld+json>{\"@graph\": [{\"@type\": \"Person\"}, {\"@type\": \
         [\"NewsArticle\"], \"author\": [{\"name\": \"Ines Holt\"}, \"Olaf\"]}]}</script><p>x",
    );
    assert_eq!(
        full.metadata,
        PageMetadata {
            title: text("Ferry returns"),
            canonical_url: text("https://example.com/ferry"),
            author: text("Ines Holt, Olaf"),
            date: text("2026-03-03"),
            language: text("en-GB"),
            site_name: text("The Post"),
        }
    );
    assert_eq!(full.markdown, "x");
    let broken =
        page("<title>T</title><script type='application/ld+json'>{</script><time datetime=2026>");
    assert_eq!((broken.metadata.title, broken.metadata.date), (text("T"), text("2026")));
    assert_eq!(page("<p>x").metadata, PageMetadata::default());
}

#[test]
fn frames_shadow_roots_formulas_and_icons_become_text() {
    for (html, expected) in [
        ("<iframe srcdoc='<h2>Inner</h2><p>text'></iframe><p>after", "## Inner\n\ntext\n\nafter"),
        ("<x-card><template shadowrootmode=open><p>shadow</p></template></x-card>", "shadow"),
        ("<template><p>never</p></template><p>x", "x"),
        (
            "<math><semantics><mrow><mi>x</mi></mrow><annotation encoding='application/x-tex'>\
             x+1</annotation></semantics></math>",
            "x+1",
        ),
        ("<ul><li><svg><text>i</text></svg></li><li>a</li></ul>", "- a"),
    ] {
        assert_eq!(page(html).markdown, expected, "{html}");
    }
}
