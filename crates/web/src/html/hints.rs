//! What the name and the attributes of an element tell about its part in the page.
//!
//! `class` and `id` are read once, when the element is created, and kept as a few bits: the words
//! themselves would be the larger half of many trees. The words are those that themes and
//! generators share; they are evidence, not proof, and `main_content` weighs them against text and
//! links.
//!
//! What is a word: `articleShare_bar2` has `article`, `share` and `bar`. Words are compared as a
//! whole or as a stem, never inside of other words, so `shadow` is not an `ad`. A word that may
//! also name the text of an article belongs to the weak ones.

use html5ever::{Attribute, LocalName, Namespace, local_name, ns};

use super::tags::any_of;

/// A set of the constants below, and a hash of tag and classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ElementHints {
    bits: u16,
    /// Equal for elements with the same name and classes, and rarely for others. Sections of one
    /// article usually look alike; an article and a side column do not.
    pub(crate) signature: u8,
}

impl ElementHints {
    /// `<main>` or its role.
    pub(crate) const MAIN: u16 = 1;
    /// `<article>`, its role, or schema.org's `articleBody`.
    pub(crate) const ARTICLE: u16 = 1 << 1;
    /// `<aside>` or its role: a side column, or a remark within an article.
    pub(crate) const ASIDE: u16 = 1 << 2;
    /// A part of the site: footer, navigation, search, dialog, banner.
    pub(crate) const SITE_PART: u16 = 1 << 3;
    /// `<header>`, of the page or of an article.
    pub(crate) const HEADER: u16 = 1 << 4;
    /// Buttons and fields.
    pub(crate) const CONTROL: u16 = 1 << 5;
    /// `<form>`.
    pub(crate) const FORM: u16 = 1 << 6;
    /// Words that name the text of an article.
    pub(crate) const CONTENT_WORD: u16 = 1 << 7;
    /// Words that name something beside the article: share bars, related links, notices.
    pub(crate) const NOISE_WORD: u16 = 1 << 8;
    /// Words that name the comments of readers.
    pub(crate) const COMMENT_WORD: u16 = 1 << 9;
    /// Words that often, but not always, name something beside the article.
    pub(crate) const WEAK_WORD: u16 = 1 << 10;
    /// Words that name a remark within an article.
    pub(crate) const NOTE_WORD: u16 = 1 << 11;
    /// `aria-hidden="true"`.
    pub(crate) const ARIA_HIDDEN: u16 = 1 << 12;
    /// `<template shadowrootmode>`, whose content browsers show in place of its parent's.
    pub(crate) const SHADOW_ROOT: u16 = 1 << 13;

    /// `NOISE_WORD` or `COMMENT_WORD` comes from the id alone. Generators make ids of headings, so
    /// that a section about cookies has such an id, too.
    pub(crate) const NOISE_BY_ID: u16 = 1 << 14;

    /// Whether any of the given constants holds.
    pub(crate) fn any(self, bits: u16) -> bool {
        self.bits & bits != 0
    }

    /// Reads the hints of an element.
    pub(super) fn of(ns: &Namespace, name: &LocalName, attributes: &[Attribute]) -> ElementHints {
        let mut bits = if *ns == ns!(html) { by_name(name) } else { 0 };
        let mut signature = name.bytes().fold(7, mix);
        let mut id_words = 0;
        for attribute in attributes {
            let value = &*attribute.value;
            bits |= match attribute.name.local {
                local_name!("class") => {
                    signature = value.bytes().take(256).fold(signature, mix);
                    by_words(value)
                }
                local_name!("id") => {
                    id_words = by_words(value);
                    0
                }
                local_name!("role") => by_role(value),
                local_name!("itemprop") if value == "articleBody" || value == "text" => {
                    ElementHints::CONTENT_WORD
                }
                local_name!("aria-hidden") if value.eq_ignore_ascii_case("true") => {
                    ElementHints::ARIA_HIDDEN
                }
                // html5ever has no atom for `shadowrootmode`.
                _ if &*attribute.name.local == "shadowrootmode" => ElementHints::SHADOW_ROOT,
                _ => 0,
            };
        }
        let against = ElementHints::NOISE_WORD | ElementHints::COMMENT_WORD;
        let is_new = bits & against == 0 && id_words & against != 0;
        bits |= id_words | if is_new { ElementHints::NOISE_BY_ID } else { 0 };
        ElementHints { bits, signature }
    }
}

/// Not a good hash, and it need not be: a collision makes two sections look alike that are not,
/// which is one weak piece of evidence.
fn mix(hash: u8, byte: u8) -> u8 {
    hash.rotate_left(3).wrapping_mul(5) ^ byte
}

fn by_name(name: &LocalName) -> u16 {
    match *name {
        local_name!("main") => ElementHints::MAIN,
        local_name!("article") => ElementHints::ARTICLE,
        local_name!("aside") => ElementHints::ASIDE,
        any_of! { "dialog" | "footer" | "nav" | "search" } => ElementHints::SITE_PART,
        local_name!("header") => ElementHints::HEADER,
        local_name!("form") => ElementHints::FORM,
        any_of! { "button" | "select" | "textarea" } => ElementHints::CONTROL,
        _ => 0,
    }
}

/// The roles of WAI-ARIA; they are set on purpose, and weigh as much as elements.
fn by_role(role: &str) -> u16 {
    match role.trim() {
        "main" => ElementHints::MAIN,
        "article" => ElementHints::ARTICLE,
        "complementary" => ElementHints::ASIDE,
        "note" => ElementHints::NOTE_WORD,
        "alertdialog" | "banner" | "contentinfo" | "dialog" | "menu" | "menubar" | "navigation"
        | "search" | "tablist" | "toolbar" => ElementHints::SITE_PART,
        "button" => ElementHints::CONTROL,
        _ => 0,
    }
}

/// The hints of the words in `class` or `id`.
fn by_words(value: &str) -> u16 {
    // Longer values are lists of utility classes or generated names.
    let value = &value[..value.floor_char_boundary(512)];
    let mut bits = 0;
    for class in value.split_ascii_whitespace() {
        // `has-sidebar` is a class of the element beside the sidebar.
        let is_about_others = ["has-", "with-", "no-", "without-", "is-", "hide-", "show-", "js-"]
            .iter()
            .any(|prefix| class.starts_with(prefix));
        if is_about_others || class.contains(':') {
            continue;
        }
        bits |= by_class(class);
    }
    bits
}

/// The hints of one class, by the whole of it and by its words.
fn by_class(class: &str) -> u16 {
    let whole = match class {
        "entry-content" | "post-content" | "article-content" | "article-body" | "article__body"
        | "post-body" | "story-body" | "markdown-body" | "mw-parser-output" | "rst-content"
        | "td-post-content" | "theme-doc-markdown" | "available-content" | "content-body"
        | "page-content" | "mw-content-text" | "bodyContent" | "articleBody" | "story-content"
        | "md-content" | "post__content" | "entry__content" | "blog-post-content"
        | "body-content" | "field--name-body" | "main-content" | "maincontent" | "postbody" => {
            return ElementHints::CONTENT_WORD;
        }
        // Parts of content that have a suspicious word in their names.
        "wp-block-media-text" | "table-of-figures" => return 0,
        // MathJax marks every formula, for the menu of its context.
        class if class.starts_with("CtxtMenu") => return 0,
        "sr-only" | "screen-reader-text" | "visually-hidden" | "headerlink" | "mw-editsection" => {
            return ElementHints::NOISE_WORD;
        }
        _ => 0,
    };
    words_of(class).fold(whole, |bits, word| bits | by_word(word.as_str()))
}

/// In lower case. The three tables are ordered by certainty: noise, weak, and remarks that belong
/// to the text.
fn by_word(word: &str) -> u16 {
    // Stems, because themes write `commentlist`, `sharedaddy`, `sidebar1`.
    const NOISE: [&str; 27] = [
        "addthis",
        "addtoany",
        "advert",
        "breadcrumb",
        "consent",
        "cookie",
        "footer",
        "gdpr",
        "jumplink",
        "navbar",
        "navbox",
        "navigat",
        "newsletter",
        "outbrain",
        "pagination",
        "paywall",
        "popup",
        "recommend",
        "related",
        "sharebar",
        "sharedaddy",
        "sharethis",
        "sidebar",
        "sponsor",
        "subscri",
        "taboola",
        "upsell",
    ];
    const COMMENT: [&str; 3] = ["comment", "disqus", "replies"];
    match word {
        "ad" | "ads" | "share" | "shares" | "sharing" | "nav" | "menu" | "social" | "promo"
        | "promos" | "toc" | "skip" | "modal" | "masthead" | "signup" | "login" | "catlinks"
        | "printfooter" | "pager" | "trending" | "carousel" | "overlay" | "toolbar" | "crumbs"
        | "socials" | "cta" | "respond" | "lightbox" | "offcanvas" | "drawer" | "megamenu"
        | "topbar" | "sitenav" | "teaser" | "teasers" | "backlink" | "backlinks" | "siblings"
        | "prevnext" | "feedback" | "foot" => ElementHints::NOISE_WORD,
        "widget" | "widgets" | "tags" | "tag" | "categories" | "bio" | "follow" | "rating"
        | "ratings" | "vote" | "votes" | "edit" | "print" | "banner" | "popular" | "latest"
        | "more" | "author" | "next" | "previous" | "prev" | "tools" | "actions" | "controls"
        | "metadata" | "meta" | "links" | "aside" | "secondary" | "extra" | "rail" | "notice"
        | "alert" | "donate" | "header" | "index" | "contents" | "permalink" | "anchor"
        | "byline" => ElementHints::WEAK_WORD,
        "note" | "tip" | "warning" | "caution" | "admonition" | "callout" | "hint"
        | "important" | "danger" | "infobox" | "footnote" | "footnotes" | "references"
        | "reflist" | "pullquote" | "recipe" | "ingredients" => ElementHints::NOTE_WORD,
        word if COMMENT.iter().any(|stem| word.starts_with(stem)) => ElementHints::COMMENT_WORD,
        word if NOISE.iter().any(|stem| word.starts_with(stem)) => ElementHints::NOISE_WORD,
        _ => 0,
    }
}

/// A word of a class in lower case. Longer words are cut: no word of the tables is longer.
struct ClassWord {
    bytes: [u8; 16],
    length: usize,
}

impl ClassWord {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

/// The words of a class: `articleShare_bar2` has the words `article`, `share` and `bar`.
fn words_of(class: &str) -> impl Iterator<Item = ClassWord> + '_ {
    let bytes = class.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !bytes[at].is_ascii_alphabetic() {
            at += 1;
        }
        if at == bytes.len() {
            return None;
        }
        let mut word = ClassWord { bytes: [0; 16], length: 0 };
        let start = at;
        // A capital begins a new word, except after another capital.
        while at < bytes.len()
            && bytes[at].is_ascii_alphabetic()
            && (at == start
                || !bytes[at].is_ascii_uppercase()
                || bytes[at - 1].is_ascii_uppercase())
        {
            if word.length < word.bytes.len() {
                word.bytes[word.length] = bytes[at].to_ascii_lowercase();
                word.length += 1;
            }
            at += 1;
        }
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::{ElementHints, by_words, words_of};

    #[test]
    fn classes_are_read_word_by_word() {
        let words: Vec<String> =
            words_of("articleShare_bar2 XMLFeed").map(|word| word.as_str().to_owned()).collect();
        assert_eq!(words, ["article", "share", "bar", "xmlfeed"]);
        let noise = ElementHints::NOISE_WORD;
        for (value, expected) in [
            ("sharedaddy sd-block", noise),
            ("has-sidebar", 0),
            ("shared-libraries", 0),
            ("commentlist", ElementHints::COMMENT_WORD),
            ("post entry-content", ElementHints::CONTENT_WORD),
            ("adjacent address", 0),
            ("foot foot-right", noise),
            ("footprint", 0),
            ("md:sidebar", 0),
            ("MathJax CtxtMenu_Attached_0", 0),
            ("admonition note", ElementHints::NOTE_WORD),
        ] {
            assert_eq!(by_words(value), expected, "{value}");
        }
    }
}
