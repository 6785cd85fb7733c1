//! Destinations of links and images, made absolute.
//!
//! Joining a base and a relative address with the `url` crate takes about a microsecond, as long
//! as the rest of a link. Most addresses are simple enough that joining them is putting two
//! strings one after the other (`BaseUrl::join_simple`); a property test compares that with the
//! crate. All others go through the crate.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use url::Url;

use super::escape::{push_destination, push_text, push_title};
use super::{ConversionError, LinkStyle, MarkdownOptions};
use crate::html::{AttributeName, HtmlNodeId, HtmlTag, HtmlTree};

/// Writes the links and images of one page.
///
/// Addresses are made absolute only when they are written. Keeping the absolute addresses of a
/// whole paragraph until it is complete could take many times the size of the page: a base address
/// of 60 kB and a hundred thousand links are 6 GB.
#[derive(Debug)]
pub(super) struct LinkWriter<'a> {
    tree: &'a HtmlTree,
    base: Option<BaseUrl>,
    /// The addresses of the page, if they are written at its end: the number of each, and an
    /// element that has it. The addresses as the page writes them, for the reason above.
    footnotes: Option<RefCell<Footnotes<'a>>>,
}

#[derive(Debug, Default)]
struct Footnotes<'a> {
    numbers: HashMap<&'a str, usize>,
    elements: Vec<HtmlNodeId>,
}

/// The address that relative addresses are relative to, with the parts of it that simple ones
/// need.
#[derive(Debug)]
struct BaseUrl {
    url: Url,
    /// Scheme, host and port.
    origin: String,
    /// The base up to the last slash of its path.
    directory: String,
    /// The base without its fragment.
    page: String,
}

impl<'a> LinkWriter<'a> {
    /// `page` is the page's own address. A `<base>` element takes precedence, unless it cannot
    /// serve as a base (`data:` URLs cannot). Without either, addresses stay as they are.
    pub(super) fn new(tree: &'a HtmlTree, page: Option<&Url>, style: LinkStyle) -> LinkWriter<'a> {
        let is_base = |url: &Url| !url.cannot_be_a_base();
        let declared =
            tree.base.as_deref().and_then(|href| Url::options().base_url(page).parse(href).ok());
        let url = declared.filter(is_base).or_else(|| page.cloned().filter(is_base));
        let footnotes = (style == LinkStyle::Footnotes).then(RefCell::default);
        LinkWriter { tree, base: url.map(BaseUrl::new), footnotes }
    }

    /// The address that relative ones are relative to.
    pub(super) fn base_url(&self) -> Option<&Url> {
        self.base.as_ref().map(|base| &base.url)
    }

    /// The address of a link, an image or embedded media, as the page writes it. `None` if it has
    /// none, or if following it would run code.
    pub(super) fn href(&self, id: HtmlNodeId) -> Option<&'a str> {
        let attr = |name| self.tree.attr(id, name);
        let filled =
            |name| attr(name).filter(|href| !href.trim_ascii().is_empty() && is_safe(href));
        match self.tree.tag(id)? {
            HtmlTag::Link => attr(AttributeName::Href).filter(|href| is_safe(href)),
            // Where images are loaded by a script, `src` is a placeholder, if there is one at all.
            HtmlTag::Image => filled(AttributeName::LazySrc)
                .or_else(|| filled(AttributeName::Src))
                .or_else(|| attr(AttributeName::Srcset).and_then(first_srcset_url))
                .filter(|href| is_safe(href)),
            HtmlTag::Embed(_) => filled(AttributeName::LazySrc)
                .or_else(|| filled(AttributeName::Src))
                .or_else(|| {
                    let sources = self
                        .tree
                        .children(id)
                        .filter(|child| self.tree.tag(*child) == Some(HtmlTag::MediaSource));
                    sources
                        .into_iter()
                        .find_map(|source| self.tree.attr(source, AttributeName::Src))
                }),
            _ => None,
        }
    }

    /// Appends the part of a link or an image after its text: `](destination "title")`.
    pub(super) fn push_target(&self, out: &mut String, id: HtmlNodeId) {
        if let Some(footnotes) = &self.footnotes {
            let mut footnotes = footnotes.borrow_mut();
            let next = footnotes.elements.len() + 1;
            let href = self.href(id).unwrap_or_default();
            let number = *footnotes.numbers.entry(href).or_insert(next);
            if number == next {
                footnotes.elements.push(id);
            }
            out.push_str(&format!("][{number}]"));
            return;
        }
        out.push_str("](");
        self.push_address(out, id);
        // The title of embedded media is the text of the link already.
        if !matches!(self.tree.tag(id), Some(HtmlTag::Embed(_))) {
            push_title(out, self.tree.attr(id, AttributeName::Title).unwrap_or_default());
        }
        out.push(')');
    }

    /// Appends the absolute address of a link, an image or embedded media.
    fn push_address(&self, out: &mut String, id: HtmlNodeId) {
        let href = self.href(id).unwrap_or_default();
        // As browsers do: white space and control characters around an address are not part of it.
        let href = href.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
        match self.base.as_ref().and_then(|base| base.join_simple(href)) {
            Some((front, href)) => push_destination(out, &[front, href]),
            None => push_destination(out, &[&self.resolve(href)]),
        }
    }

    /// Appends the addresses that the text refers to by number.
    pub(super) fn push_definitions(
        &self,
        out: &mut String,
        options: &MarkdownOptions,
    ) -> Result<(), ConversionError> {
        let Some(footnotes) = &self.footnotes else { return Ok(()) };
        for (index, element) in footnotes.borrow().elements.iter().enumerate() {
            out.push_str(if index == 0 { "\n\n" } else { "\n" });
            out.push_str(&format!("[{}]: ", index + 1));
            self.push_address(out, *element);
            if out.len() > options.max_output {
                return Err(ConversionError::TooLarge);
            }
        }
        Ok(())
    }

    /// Appends an image, with `alt` as its text.
    pub(super) fn push_image(&self, out: &mut String, id: HtmlNodeId) {
        out.push_str("![");
        push_text(out, self.tree.attr(id, AttributeName::Alt).unwrap_or_default().trim(), true);
        self.push_target(out, id);
    }

    /// Makes an address absolute. An invalid one stays as the page has it: the reader may still
    /// guess what was meant.
    fn resolve<'h>(&self, href: &'h str) -> Cow<'h, str> {
        let joined = self.base.as_ref().and_then(|base| base.url.join(href).ok());
        joined.map_or(Cow::Borrowed(href), |url| Cow::Owned(url.into()))
    }
}

/// Whether an address can be followed without running code: it has none of the schemes that
/// browsers execute. `data:` is one of them, because it can contain HTML with scripts.
fn is_safe(href: &str) -> bool {
    let href = href.trim_start_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
    // The scheme ends at the first colon, and there is none if another of these comes first. None
    // of the schemes in question contains a dot, so that a dot can end the search, too.
    let end = href
        .bytes()
        .position(|b| matches!(b, b':' | b'/' | b'?' | b'#' | b'.'))
        .unwrap_or(href.len());
    let (scheme, rest) = href.split_at(end);
    !rest.starts_with(':')
        || !["javascript", "vbscript", "data"].iter().any(|bad| {
            // Browsers ignore tabs and line breaks within a scheme.
            let letters = scheme.bytes().filter(|b| !matches!(b, b'\t' | b'\n' | b'\r'));
            letters.map(|b| b.to_ascii_lowercase()).eq(bad.bytes())
        })
}

/// The first address of a `srcset` attribute (`a.png 1x, b.png 2x`).
fn first_srcset_url(set: &str) -> Option<&str> {
    let first = set.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
    let first = first.split_ascii_whitespace().next()?.trim_end_matches(',');
    (!first.is_empty()).then_some(first)
}

impl BaseUrl {
    /// Prepares the parts. `url` must be able to serve as a base.
    fn new(url: Url) -> BaseUrl {
        let mut page = url.clone();
        page.set_fragment(None);
        let origin = page[..url::Position::BeforePath].to_owned();
        let path = &page[..url::Position::AfterPath];
        let directory = path[..path.rfind('/').map_or(path.len(), |slash| slash + 1)].to_owned();
        BaseUrl { page: page.into(), origin, directory, url }
    }

    /// The two parts whose concatenation is the absolute address; `None` where `url` has to
    /// decide.
    ///
    /// A simple address has only characters that `url` leaves as they are, does not begin with
    /// `//` (another host) or `?` (another query of the same page), and has no `.` or `..` as a
    /// segment of its path, not even percent-encoded.
    fn join_simple<'s>(&'s self, href: &'s str) -> Option<(&'s str, &'s str)> {
        let is_plain = |b: u8| {
            b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'%' | b'=' | b'&')
        };
        let (host, href) =
            match href.strip_prefix("https://").or_else(|| href.strip_prefix("http://")) {
                Some(rest) => href.split_at(href.len() - rest.len() + rest.find('/')?),
                None => ("", href),
            };
        let (path, rest) = href.split_at(href.find(['?', '#']).unwrap_or(href.len()));
        let simple = !href.is_empty()
            && path.bytes().all(is_plain)
            && rest.bytes().all(|b| is_plain(b) || matches!(b, b'?' | b'#' | b',' | b'+' | b':'))
            && !path.starts_with("//")
            // `.` and `..`, and `%2e`, which means the same.
            && !path.starts_with('.')
            && !path.as_bytes().windows(2).any(|pair| matches!(pair, b"/." | b"%2"))
            && !(path.is_empty() && rest.starts_with('?'));
        // A fragment belongs to the page itself, a path to the host, everything else to the
        // directory.
        let front = match href.as_bytes() {
            _ if !simple || !self.url.scheme().starts_with("http") => return None,
            _ if !host.is_empty() => return is_canonical_origin(host).then_some((host, href)),
            [b'#', ..] => self.page.as_str(),
            [b'/', ..] => &self.origin,
            _ => &self.directory,
        };
        Some((front, href))
    }
}

/// Whether scheme and host are written as `url` would write them. A host whose last label is not
/// all letters is left to `url`, because `http://0x7f.1/` is an IP address.
fn is_canonical_origin(host: &str) -> bool {
    let name = host.rsplit('/').next().unwrap_or_default();
    let last = name.rsplit('.').next().unwrap_or_default();
    name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
        && !last.is_empty()
        && last.bytes().all(|b| b.is_ascii_lowercase())
        && !name.starts_with(['.', '-'])
        // `xn--` begins an international name, whose encoding `url` checks.
        && !name.as_bytes().windows(2).any(|pair| matches!(pair, b"--" | b".."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::{BaseUrl, is_safe};

    #[test]
    fn addresses_that_run_code_are_not_safe() {
        for bad in [
            "javascript:alert(1)",
            " JavaScript:x",
            "java\tscript:x",
            "\u{1}javascript:x",
            "vbscript:x",
            "data:text/html,x",
        ] {
            assert!(!is_safe(bad), "{bad}");
        }
        for fine in ["mailto:a@b.c", "/a:b", "x", "https://a/data:x", ""] {
            assert!(is_safe(fine), "{fine}");
        }
    }

    proptest! {
        #[test]
        fn simple_joins_equal_those_of_the_url_crate(
            href in "(https?://[a-z0-9.-]{1,6}/)?[a-zA-Z0-9./?#%&=:_ é-]{0,12}",
            page in "/?([a-z.]{1,3}/){0,3}[a-z]{0,3}([?]q=1)?",
        ) {
            let page = Url::parse("http://example.com:81/").unwrap().join(&page).unwrap();
            let href = href.trim();
            let base = BaseUrl::new(page.clone());
            if let (Some((front, rest)), Ok(theirs)) = (base.join_simple(href), page.join(href)) {
                prop_assert_eq!([front, rest].concat(), theirs.to_string(), "{} on {}", href, page);
            }
        }
    }
}
