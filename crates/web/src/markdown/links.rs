//! Addresses of links and images, made absolute. Most are put together from pieces; only the
//! unusual ones are parsed, which takes a microsecond each.

use std::borrow::Cow;

use url::Url;

use super::escape::{push_destination, push_text, push_title};
use crate::html::{AttrName, NodeId, Tag, Tree};

/// The addresses of a page. They are put together only when they are written: those of a whole
/// paragraph could be many times as large as the page.
#[derive(Debug)]
pub(super) struct Links<'a> {
    tree: &'a Tree,
    base: Option<Base>,
}

#[derive(Debug)]
struct Base {
    url: Url,
    /// Scheme, host and port.
    origin: String,
    /// The base up to the last slash of its path.
    directory: String,
    /// The base without its fragment.
    page: String,
}

impl<'a> Links<'a> {
    pub(super) fn new(tree: &'a Tree, page: Option<&Url>) -> Links<'a> {
        let is_base = |url: &Url| !url.cannot_be_a_base();
        let declared =
            tree.base.as_deref().and_then(|href| Url::options().base_url(page).parse(href).ok());
        let url = declared.filter(is_base).or_else(|| page.cloned().filter(is_base));
        Links { tree, base: url.map(Base::new) }
    }

    /// Where a link, an image or something embedded leads, as the page writes it; none if nowhere,
    /// or if following it would run code.
    pub(super) fn target(&self, id: NodeId) -> Option<&'a str> {
        let attr = |name| self.tree.attr(id, name);
        let filled =
            |name| attr(name).filter(|href| !href.trim_ascii().is_empty() && is_harmless(href));
        match self.tree.tag(id)? {
            Tag::Link => attr(AttrName::Href).filter(|href| is_harmless(href)),
            // A page that loads images late has the real address elsewhere.
            Tag::Image => filled(AttrName::LateSrc)
                .or_else(|| filled(AttrName::Src))
                .or_else(|| attr(AttrName::Srcset).and_then(first_of_set))
                .filter(|href| is_harmless(href)),
            Tag::Embedded(_) => {
                filled(AttrName::LateSrc).or_else(|| filled(AttrName::Src)).or_else(|| {
                    let sources = self
                        .tree
                        .children(id)
                        .filter(|child| self.tree.tag(*child) == Some(Tag::Source));
                    sources.into_iter().find_map(|source| self.tree.attr(source, AttrName::Src))
                })
            }
            _ => None,
        }
    }

    /// Appends the destination and the title of a link.
    pub(super) fn push_target(&self, out: &mut String, id: NodeId) {
        out.push_str("](");
        let href = self.target(id).unwrap_or_default();
        let href = href.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
        match self.base.as_ref().and_then(|base| base.quick(href)) {
            Some((front, href)) => push_destination(out, &[front, href]),
            None => push_destination(out, &[&self.resolve(href)]),
        }
        // An embedded thing's title is the text of its link.
        if !matches!(self.tree.tag(id), Some(Tag::Embedded(_))) {
            push_title(out, self.tree.attr(id, AttrName::Title).unwrap_or_default());
        }
        out.push(')');
    }

    /// Appends an image.
    pub(super) fn push_image(&self, out: &mut String, id: NodeId) {
        out.push_str("![");
        push_text(out, self.tree.attr(id, AttrName::Alt).unwrap_or_default().trim(), true);
        self.push_target(out, id);
    }

    fn resolve<'h>(&self, href: &'h str) -> Cow<'h, str> {
        let joined = self.base.as_ref().and_then(|base| base.url.join(href).ok());
        joined.map_or(Cow::Borrowed(href), |url| Cow::Owned(url.into()))
    }
}

/// Whether following an address shows something rather than runs it.
fn is_harmless(href: &str) -> bool {
    let href = href.trim_start_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
    // None of the schemes in question has a dot.
    let end = href
        .bytes()
        .position(|b| matches!(b, b':' | b'/' | b'?' | b'#' | b'.'))
        .unwrap_or(href.len());
    let (scheme, rest) = href.split_at(end);
    !rest.starts_with(':')
        || !["javascript", "vbscript", "data"].iter().any(|bad| {
            // Browsers skip new lines and tabs within a scheme.
            let letters = scheme.bytes().filter(|b| !matches!(b, b'\t' | b'\n' | b'\r'));
            letters.map(|b| b.to_ascii_lowercase()).eq(bad.bytes())
        })
}

/// The first address of a `srcset`.
fn first_of_set(set: &str) -> Option<&str> {
    let first = set.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
    let first = first.split_ascii_whitespace().next()?.trim_end_matches(',');
    (!first.is_empty()).then_some(first)
}

impl Base {
    fn new(url: Url) -> Base {
        let mut page = url.clone();
        page.set_fragment(None);
        let origin = page[..url::Position::BeforePath].to_owned();
        let path = &page[..url::Position::AfterPath];
        let directory = path[..path.rfind('/').map_or(path.len(), |slash| slash + 1)].to_owned();
        Base { page: page.into(), origin, directory, url }
    }

    /// The two parts of the address, where putting them together is what parsing would give.
    fn quick<'s>(&'s self, href: &'s str) -> Option<(&'s str, &'s str)> {
        let plain = |b: u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'%' | b'=' | b'&')
        };
        let (host, href) =
            match href.strip_prefix("https://").or_else(|| href.strip_prefix("http://")) {
                Some(rest) => href.split_at(href.len() - rest.len() + rest.find('/')?),
                None => ("", href),
            };
        let (path, rest) = href.split_at(href.find(['?', '#']).unwrap_or(href.len()));
        let simple = !href.is_empty()
            && path.bytes().all(plain)
            && rest.bytes().all(|b| plain(b) || matches!(b, b'?' | b'#' | b',' | b'+' | b':'))
            && !path.starts_with("//")
            // Dots can lead upwards, percent signs can hide them.
            && !path.starts_with('.')
            && !path.as_bytes().windows(2).any(|pair| matches!(pair, b"/." | b"%2"))
            && !(path.is_empty() && rest.starts_with('?'));
        let front = match href.as_bytes() {
            _ if !simple || !self.url.scheme().starts_with("http") => return None,
            _ if !host.is_empty() => return is_plain_host(host).then_some((host, href)),
            [b'#', ..] => self.page.as_str(),
            [b'/', ..] => &self.origin,
            _ => &self.directory,
        };
        Some((front, href))
    }
}

/// Whether a scheme and host are written as parsing would write them. Numbers at the end may be an
/// address in disguise.
fn is_plain_host(host: &str) -> bool {
    let name = host.rsplit('/').next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
        && !last.is_empty()
        && last.bytes().all(|b| b.is_ascii_lowercase())
        && !name.starts_with(['.', '-'])
        // Two dashes may be an international name.
        && !name.as_bytes().windows(2).any(|pair| matches!(pair, b"--" | b".."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::{Base, is_harmless};

    #[test]
    fn what_would_run_code_is_no_link() {
        for bad in [
            "javascript:alert(1)",
            " JavaScript:x",
            "java\tscript:x",
            "\u{1}javascript:x",
            "vbscript:x",
            "data:text/html,x",
        ] {
            assert!(!is_harmless(bad), "{bad}");
        }
        for fine in ["mailto:a@b.c", "/a:b", "x", "https://a/data:x", ""] {
            assert!(is_harmless(fine), "{fine}");
        }
    }

    proptest! {
        #[test]
        fn quick_addresses_are_those_that_parsing_gives(href in "(https?://[a-z0-9.-]{1,6}/)?[a-zA-Z0-9./?#%&=:_ é-]{0,12}", page in "/?([a-z.]{1,3}/){0,3}[a-z]{0,3}([?]q=1)?") {
            let page = Url::parse("http://example.com:81/").unwrap().join(&page).unwrap();
            let href = href.trim();
            if let (Some((front, rest)), Ok(theirs)) = (Base::new(page.clone()).quick(href), page.join(href)) {
                prop_assert_eq!([front, rest].concat(), theirs.to_string(), "{} on {}", href, page);
            }
        }
    }
}
