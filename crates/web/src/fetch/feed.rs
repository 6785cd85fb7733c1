//! RSS and Atom as a page: the feed's title and a list of its entries.
//!
//! A feed is read with a scanner for the few elements that both formats share, not with an XML
//! parser: feeds are often not well-formed, and nothing here depends on namespaces. The result is
//! HTML, which goes through the same conversion as a page.
//!
//! ```text
//! XML ─ XmlScanner ─▶ tags and texts ─ feed_as_html ─▶ FeedEntry of the feed, and of each entry
//!                                                        └─ as_html ─▶ <h1>, <p>, <ul> of links
//! ```
//!
//! The scanner never goes back and keeps no stack, so its time is that of one pass. Texts are
//! escaped when they become HTML, so nothing in a feed is taken for markup of ours; `decoded`
//! removes what the feed itself has as markup.

use crate::html::HtmlDocument;
use crate::markdown::MarkdownOptions;

/// Entries that are shown. Feeds that people write have fewer than a hundred.
const MAX_ENTRIES: usize = 500;
/// Fields that are read in all, of the feed and of its entries.
const MAX_FIELDS: usize = 20_000;
/// Bytes of one field that are read, and characters of a summary that are shown.
const MAX_FIELD: usize = 16 << 10;
const MAX_SUMMARY: usize = 400;

/// One entry, or the feed itself. Texts are plain and on one line; empty where the feed has
/// nothing.
#[derive(Default)]
struct FeedEntry {
    title: String,
    /// As the feed writes it. The conversion to Markdown makes it absolute, by the address of the
    /// feed.
    link: String,
    date: String,
    summary: String,
}

/// The feed as HTML; `None` if the text is other XML.
///
/// Only the first `MAX_ENTRIES` entries and `MAX_FIELDS` fields are read. A feed that is cut off in
/// the middle gives the entries before the cut.
pub(super) fn feed_as_html(xml: &str) -> Option<String> {
    let mut scanner = XmlScanner { rest: xml };
    let root = std::iter::from_fn(|| scanner.next()).find_map(|piece| match piece {
        XmlPiece::Start { name, .. } => Some(name),
        _ => None,
    })?;
    if !matches!(local(root), "rss" | "feed" | "RDF") {
        return None;
    }
    let (mut feed, mut entries) = (FeedEntry::default(), Vec::new());
    // While this is set, fields are those of the entry, and otherwise those of the feed.
    let mut entry: Option<FeedEntry> = None;
    // The field whose text is being read, and the text.
    let mut field: Option<(&str, String)> = None;
    // Depth within an image or an author, whose titles are not the entry's.
    let (mut skipped, mut fields) = (0_usize, 0_usize);
    while let Some(piece) = scanner.next() {
        if entries.len() == MAX_ENTRIES || fields == MAX_FIELDS {
            break;
        }
        match piece {
            XmlPiece::Start { name, attributes, is_empty } => {
                let name = local(name);
                if skipped > 0 || matches!(name, "image" | "author" | "source" | "textInput") {
                    skipped += usize::from(!is_empty);
                    continue;
                }
                match name {
                    "item" | "entry" => entry = Some(FeedEntry::default()),
                    // Atom has the address in an attribute; other relations are not the page.
                    "link" if attributes.contains("href") => {
                        let relation = attribute(attributes, "rel").unwrap_or("alternate");
                        let target = entry.as_mut().unwrap_or(&mut feed);
                        if relation == "alternate" && target.link.is_empty() {
                            target.link =
                                decoded(attribute(attributes, "href").unwrap_or_default());
                        }
                    }
                    _ if !is_empty && field.is_none() && is_field(name) => {
                        field = Some((name, String::new()));
                    }
                    _ => {}
                }
            }
            XmlPiece::End(_) if skipped > 0 => skipped -= 1,
            XmlPiece::End(name) => {
                let name = local(name);
                if let Some((open, _)) = &field
                    && *open == name
                    && let Some((_, text)) = field.take()
                {
                    set_field(entry.as_mut().unwrap_or(&mut feed), name, &decoded(&text));
                    fields += 1;
                }
                if matches!(name, "item" | "entry")
                    && let Some(done) = entry.take()
                {
                    entries.push(done);
                }
            }
            // Decoded when the field is complete: a call for every piece would take too long.
            XmlPiece::Text(text) => push_field(&mut field, cut(text)),
            XmlPiece::CData(text) => {
                let text = cut(text).replace('&', "&amp;").replace('<', "&lt;");
                push_field(&mut field, &text);
            }
        }
    }
    Some(as_html(&feed, &entries))
}

/// Text outside of a field, and beyond `MAX_FIELD`, is dropped.
fn push_field(field: &mut Option<(&str, String)>, text: &str) {
    if let Some((_, value)) = field
        && value.len() < MAX_FIELD
    {
        value.push_str(text);
    }
}

/// Whether an element is one of those that `set_field` reads.
fn is_field(name: &str) -> bool {
    matches!(
        name,
        "title"
            | "link"
            | "pubDate"
            | "published"
            | "updated"
            | "date"
            | "description"
            | "summary"
            | "subtitle"
            | "content"
            | "encoded"
    )
}

/// Sets a field once; the first of several that mean the same counts. Atom has `published` and
/// `updated`, RSS `description` and `content:encoded`; in either order, the first is good enough.
fn set_field(entry: &mut FeedEntry, name: &str, text: &str) {
    // Titles and summaries are HTML, in one of several encodings.
    let (target, value) = match name {
        "title" => (&mut entry.title, decoded(text)),
        "link" => (&mut entry.link, text.to_owned()),
        "pubDate" | "published" | "updated" | "date" => (&mut entry.date, text.to_owned()),
        "description" | "summary" | "subtitle" | "content" | "encoded" => {
            let plain = decoded(text);
            let end = plain.char_indices().nth(MAX_SUMMARY);
            let cut = end.map(|(end, _)| format!("{}…", plain[..end].trim_end()));
            (&mut entry.summary, cut.unwrap_or(plain))
        }
        _ => return,
    };
    if target.is_empty() {
        *target = value.trim().to_owned();
    }
}

fn as_html(feed: &FeedEntry, entries: &[FeedEntry]) -> String {
    let mut html = String::new();
    if !feed.title.is_empty() {
        html.push_str(&format!("<h1>{}</h1>", escaped(&feed.title)));
    }
    if !feed.summary.is_empty() {
        html.push_str(&format!("<p>{}</p>", escaped(&feed.summary)));
    }
    html.push_str("<ul>");
    for FeedEntry { title, link, date, summary } in entries {
        let title = if title.is_empty() { link } else { title };
        let heading = match link.is_empty() {
            true => escaped(title),
            false => format!("<a href=\"{}\">{}</a>", escaped(link), escaped(title)),
        };
        html.push_str(&format!("<li>{heading}"));
        if !date.is_empty() {
            html.push_str(&format!(" ({})", escaped(date)));
        }
        if !summary.is_empty() {
            html.push_str(&format!("<br>{}", escaped(summary)));
        }
        html.push_str("</li>");
    }
    html.push_str("</ul>");
    html
}

/// The text without tags and entities, on one line. Feeds escape HTML once or twice.
fn decoded(text: &str) -> String {
    if !text.contains(['&', '<']) {
        return text.to_owned();
    }
    let document = HtmlDocument::parse(text, &MarkdownOptions::default());
    document.map(|document| document.text()).unwrap_or_default()
}

/// Quotation marks too: the text may be in an attribute.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// The byte after the cut may begin a character, so the boundary is looked for.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_FIELD)]
}

/// The name without its prefix: `dc:date` is `date`.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The value of an attribute, with quotation marks, in the text after a tag's name.
fn attribute<'x>(attributes: &'x str, name: &str) -> Option<&'x str> {
    attributes.match_indices(name).find_map(|(at, _)| {
        let is_whole = at == 0 || attributes[..at].ends_with(|c: char| c.is_ascii_whitespace());
        let rest = attributes[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        is_whole.then(|| rest[1..].split(quote).next().unwrap_or_default())
    })
}

/// A piece of XML. Names keep their prefix; attributes are the text behind the name, not parsed.
enum XmlPiece<'x> {
    Start { name: &'x str, attributes: &'x str, is_empty: bool },
    End(&'x str),
    Text(&'x str),
    CData(&'x str),
}

/// Splits XML into tags and texts; comments, declarations and instructions are skipped.
struct XmlScanner<'x> {
    rest: &'x str,
}

impl<'x> XmlScanner<'x> {
    /// `None` at the end of the text. A tag, comment or section without its end reaches to the end
    /// of the text. A `>` inside of an attribute ends the tag early, which feeds do not have.
    fn next(&mut self) -> Option<XmlPiece<'x>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            if !self.rest.starts_with('<') {
                let end = self.rest.find('<').unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(end);
                self.rest = rest;
                return Some(XmlPiece::Text(text));
            }
            let end_after = |text: &str, end: &str| text.find(end).map(|at| at + end.len());
            if let Some(cdata) = self.rest.strip_prefix("<![CDATA[") {
                let end = cdata.find("]]>").unwrap_or(cdata.len());
                self.rest = cdata.get(end + 3..).unwrap_or_default();
                return Some(XmlPiece::CData(&cdata[..end]));
            }
            let end = if self.rest.starts_with("<!--") {
                end_after(self.rest, "-->")
            } else {
                end_after(self.rest, ">")
            };
            let (tag, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest;
            let inner = tag[1..].trim_end_matches('>');
            if inner.starts_with(['!', '?']) {
                continue;
            }
            if let Some(name) = inner.strip_prefix('/') {
                return Some(XmlPiece::End(name.trim()));
            }
            let is_empty = inner.ends_with('/');
            let inner = inner.trim_end_matches('/');
            let at = inner.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inner.len());
            let (name, attributes) = inner.split_at(at);
            return Some(XmlPiece::Start { name, attributes: attributes.trim_start(), is_empty });
        }
    }
}
