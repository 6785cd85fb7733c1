//! What a page says about itself: title, author, date, language, canonical address, site.
//!
//! Three vocabularies are read: HTML's own elements and `<meta>` names, OpenGraph, and schema.org
//! as JSON-LD. A field is taken from the first source that has it; the order is from the most to
//! the least specific about the article.
//!
//! Nothing here is trusted: a page may claim any title, author or date. The values are shown as
//! front matter above the text, on one line each, and bounded.

use serde_json::Value as Json;
use url::Url;

use crate::html::{AttributeName, HtmlDocument, HtmlNodeId, HtmlNodeKind, HtmlTag, HtmlTree};

/// Bytes of JSON-LD that are parsed in all.
const MAX_JSON_LD: usize = 512 << 10;

/// Characters of one field. Longer values are not what their name says.
const MAX_FIELD: usize = 500;

/// Objects that are looked at within one JSON-LD document.
const MAX_OBJECTS: usize = 200;

/// What a page says about itself. Texts are on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageMetadata {
    /// The title of the article, or of the page.
    pub title: Option<String>,
    /// The address that the page wants to be known by, made absolute.
    pub canonical_url: Option<String>,
    /// Who wrote it; several names are separated by commas.
    pub author: Option<String>,
    /// When it was published, as the page writes it.
    pub date: Option<String>,
    /// The language, as a BCP 47 tag.
    pub language: Option<String>,
    /// The name of the site.
    pub site_name: Option<String>,
}

impl HtmlDocument {
    /// Reads what the page says about itself. `base_url` is the page's address.
    pub fn metadata(&self, base_url: Option<&Url>) -> PageMetadata {
        let mut found = Candidates::default();
        let tree = &self.tree;
        for node in tree.descendants(HtmlTree::ROOT) {
            if let HtmlNodeKind::Element { tag, .. } = tree.kind(node) {
                found.read(tree, node, tag);
            }
        }
        let resolve = |href: String| match base_url {
            Some(base) => base.join(&href).ok().map(String::from),
            None => Url::parse(&href).ok().map(String::from),
        };
        let canonical = found.canonical.or(found.open_graph_url);
        PageMetadata {
            title: found.open_graph_title.or(found.json_ld.title).or(found.title),
            canonical_url: canonical.and_then(resolve),
            author: found.json_ld.author.or(found.author),
            date: found.date.or(found.json_ld.date).or(found.time),
            language: found.language.or(found.json_ld.language),
            site_name: found.site_name.or(found.json_ld.site_name),
        }
    }

    /// The address of a `<meta http-equiv="refresh">` that leads elsewhere within a few seconds.
    pub(crate) fn refresh_target(&self) -> Option<String> {
        let tree = &self.tree;
        tree.descendants(HtmlTree::ROOT)
            .filter(|id| tree.tag(*id) == Some(HtmlTag::Meta))
            .filter(|id| {
                tree.attr(*id, AttributeName::HttpEquiv)
                    .is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"))
            })
            .find_map(|id| parse_refresh(tree.attr(id, AttributeName::Content)?))
    }
}

/// The address in `0; url=https://…`; `None` if the page only reloads itself, or waits longer than
/// a redirect does.
///
/// The grammar of the HTML standard is more lenient; this accepts what pages write.
fn parse_refresh(content: &str) -> Option<String> {
    let (delay, target) = content.split_once([';', ','])?;
    let delay: f64 = delay.trim().parse().ok()?;
    let target = target.trim();
    let after_name = target.get(..3).filter(|name| name.eq_ignore_ascii_case("url"));
    let target = match after_name {
        Some(_) => target[3..].trim_start().strip_prefix('=')?.trim(),
        None => target,
    };
    let target = target.trim_matches(['\'', '"']).trim();
    (delay <= 10.0 && !target.is_empty()).then(|| target.to_owned())
}

/// The first value of each field from each source. Which source wins is decided at the end, because
/// the sources may stand in any order in the page.
#[derive(Default)]
struct Candidates {
    title: Option<String>,
    open_graph_title: Option<String>,
    canonical: Option<String>,
    open_graph_url: Option<String>,
    author: Option<String>,
    date: Option<String>,
    /// From a `<time>` in the text.
    time: Option<String>,
    language: Option<String>,
    site_name: Option<String>,
    json_ld: JsonLdFields,
    /// Of all scripts so far; once it is above the limit, no further one is parsed.
    json_ld_bytes: usize,
}

/// The fields of the first article, else of the first page, in JSON-LD.
#[derive(Default)]
struct JsonLdFields {
    title: Option<String>,
    author: Option<String>,
    date: Option<String>,
    language: Option<String>,
    site_name: Option<String>,
}

/// Sets a field that has no value yet.
fn set(field: &mut Option<String>, value: Option<&str>) {
    if field.is_none() {
        *field = value.and_then(one_line);
    }
}

/// A text on one line, within [`MAX_FIELD`]; `None` if it is blank.
fn one_line(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.char_indices().nth(MAX_FIELD).map_or(text.len(), |(end, _)| end);
    (end > 0).then(|| text[..end].to_owned())
}

impl Candidates {
    /// Called for every element of the page, in document order.
    fn read(&mut self, tree: &HtmlTree, node: HtmlNodeId, tag: HtmlTag) {
        let attr = |name| tree.attr(node, name);
        match tag {
            HtmlTag::Html => set(&mut self.language, attr(AttributeName::Language)),
            HtmlTag::Title => set(&mut self.title, Some(&text_of(tree, node))),
            HtmlTag::LinkRelation => {
                let is_canonical = attr(AttributeName::Rel).is_some_and(|rel| {
                    rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"))
                });
                if is_canonical {
                    set(&mut self.canonical, attr(AttributeName::Href));
                }
            }
            HtmlTag::Meta => {
                let name = attr(AttributeName::MetaName).unwrap_or_default().to_ascii_lowercase();
                self.read_meta(name.trim(), attr(AttributeName::Content));
            }
            // Only `<time>` has this attribute among the controls.
            HtmlTag::Control => set(&mut self.time, attr(AttributeName::Datetime)),
            HtmlTag::JsonLd => {
                let text = text_of(tree, node);
                self.json_ld_bytes += text.len();
                if self.json_ld_bytes <= MAX_JSON_LD
                    && let Ok(json) = serde_json::from_str::<Json>(&text)
                {
                    self.json_ld.read(&json);
                }
            }
            _ => {}
        }
    }

    /// `name` is that of `name`, `property` or `itemprop`, in lower case; themes mix these up.
    fn read_meta(&mut self, name: &str, content: Option<&str>) {
        let field = match name {
            "og:title" | "twitter:title" => &mut self.open_graph_title,
            "og:url" => &mut self.open_graph_url,
            "og:site_name" | "application-name" => &mut self.site_name,
            "author" | "article:author" | "dc.creator" | "dcterms.creator" | "parsely-author" => {
                // OpenGraph wants the address of a profile here, which is not a name.
                if content.is_some_and(|text| text.contains("://")) {
                    return;
                }
                &mut self.author
            }
            "article:published_time"
            | "datepublished"
            | "date"
            | "dc.date"
            | "dcterms.date"
            | "dc.date.issued"
            | "parsely-pub-date"
            | "pubdate"
            | "og:published_time" => &mut self.date,
            "og:locale" | "content-language" => &mut self.language,
            _ => return,
        };
        set(field, content);
    }
}

impl JsonLdFields {
    /// Looks through a document, its lists and its `@graph`, for an article or a page.
    fn read(&mut self, document: &Json) {
        // A stack instead of recursion: JSON-LD is text of the page, and may be nested to any depth
        // that the JSON parser allows.
        let mut objects = Vec::new();
        let mut open = vec![document];
        while let Some(value) = open.pop() {
            if objects.len() >= MAX_OBJECTS {
                break;
            }
            match value {
                Json::Array(items) => open.extend(items.iter().rev().take(MAX_OBJECTS)),
                Json::Object(_) => {
                    objects.push(value);
                    open.extend(value.get("@graph"));
                }
                _ => {}
            }
        }
        let is_a = |object: &Json, word: &str| match &object["@type"] {
            Json::String(name) => name.contains(word),
            Json::Array(names) => {
                names.iter().any(|n| n.as_str().is_some_and(|n| n.contains(word)))
            }
            _ => false,
        };
        let article = ["Article", "Posting", "Recipe", "WebPage"]
            .iter()
            .find_map(|word| objects.iter().find(|object| is_a(object, word)));
        if let Some(article) = article {
            set(&mut self.title, article["headline"].as_str().or(article["name"].as_str()));
            set(&mut self.author, names(&article["author"]).as_deref());
            set(&mut self.date, article["datePublished"].as_str());
            set(&mut self.language, article["inLanguage"].as_str());
            set(&mut self.site_name, article["publisher"]["name"].as_str());
        }
    }
}

/// The names of one or several authors.
fn names(author: &Json) -> Option<String> {
    let name = |value: &Json| {
        value
            .as_str()
            .or(value["name"].as_str())
            .filter(|name| !name.contains("://"))
            .map(str::to_owned)
    };
    let names: Vec<String> = match author {
        Json::Array(authors) => authors.iter().take(20).filter_map(name).collect(),
        author => name(author).into_iter().collect(),
    };
    (!names.is_empty()).then(|| names.join(", "))
}

/// Only the direct text: titles and scripts have no elements inside.
fn text_of(tree: &HtmlTree, node: HtmlNodeId) -> String {
    tree.children(node)
        .filter_map(|child| match tree.kind(child) {
            HtmlNodeKind::Text { start, end } => Some(tree.text(start, end)),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::parse_refresh;

    #[test]
    fn a_refresh_is_a_redirect_only_with_an_address_and_without_a_long_wait() {
        for (content, expected) in [
            ("0; url=https://a.example/", Some("https://a.example/")),
            ("0;URL='/next'", Some("/next")),
            ("5, /next", Some("/next")),
            ("0.5;url = \"x\"", Some("x")),
            ("30", None),
            ("60; url=/next", None),
            ("0; url=", None),
            ("now; url=/x", None),
            ("0;é", Some("é")),
        ] {
            assert_eq!(parse_refresh(content).as_deref(), expected, "{content}");
        }
    }
}
