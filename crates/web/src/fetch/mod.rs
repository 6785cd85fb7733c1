//! Fetching a page under limits: which addresses, how many redirects, how many bytes, how long.
//!
//! ```text
//! URL ─▶ FetchTarget ─▶ FetchClient ─▶ FetchResponse ─▶ charset ─▶ FetchedPage ─▶ Markdown
//!            ▲                               │
//!            └────────── redirect ───────────┘
//! ```
//!
//! ureq's own redirects are turned off, so that every hop is checked like the first URL. The
//! resolver checks the addresses of a name at the moment of connecting, and ureq connects to
//! exactly those: a name server that gives another answer the second time gains nothing.

mod charset;
mod client;
mod error;
mod feed;
mod proxy;
mod resolver;
mod special_addresses;
mod target;

use std::borrow::Cow;
use std::time::{Duration, Instant};

use url::Url;

use crate::html::drop_invisible;
use crate::markdown::{self, ConversionError, ConvertedPage, MarkdownOptions, PageContent};
pub(crate) use client::{FetchClient, FetchRequest, FetchResponse, USER_AGENT};
pub use error::FetchError;
pub use proxy::ProxySettings;
pub(crate) use resolver::look_up_host;
pub use special_addresses::is_special;
use target::FetchTarget;

/// The variable that allows addresses which are not on the public internet.
pub(crate) const ALLOW_PRIVATE: &str = "TOOLWRIGHT_WEB_ALLOW_PRIVATE";
/// The variable that lets the proxy decide which addresses may be fetched.
pub(crate) const TRUST_PROXY: &str = "TOOLWRIGHT_WEB_TRUST_PROXY";
/// The variable with the `User-Agent` of all requests.
pub(crate) const USER_AGENT_VARIABLE: &str = "TOOLWRIGHT_WEB_USER_AGENT";
/// Redirects that are followed. Ordinary pages need one or two.
const MAX_REDIRECTS: usize = 10;
/// How long everything may take. Agents usually give a tool 30 seconds; ending earlier lets them
/// see the reason.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(25);
/// How long the conversion to Markdown may take. An ordinary page of 10 MiB takes a fraction of a
/// second; only pages made to be slow take longer.
const CONVERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of a page that can be a redirect.
const MAX_REFRESH_PAGE: usize = 64 << 10;
/// The content types that can be returned, with HTML and Markdown preferred. `*/*` is last,
/// because some servers answer HTTP 406 to a list that does not contain what they have.
const ACCEPT: &str = "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, \
    application/json;q=0.9, */*;q=0.1";

/// Which addresses may be fetched, through which proxies, and within which limits.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// Whether addresses that are not on the public internet may be connected to.
    pub allow_private: bool,
    /// Whether the proxy alone decides which addresses may be connected to. Otherwise names are
    /// looked up and checked here before the proxy gets the request.
    pub trust_proxy: bool,
    /// The proxies that requests go through.
    pub proxies: ProxySettings,
    /// The `User-Agent` of the requests.
    pub user_agent: String,
    /// For everything together, from looking up the name to the last byte of Markdown.
    pub timeout: Duration,
    /// Bytes of a page, after decompression.
    pub max_bytes: usize,
}

impl Default for FetchOptions {
    fn default() -> FetchOptions {
        FetchOptions {
            allow_private: false,
            trust_proxy: false,
            proxies: ProxySettings::default(),
            user_agent: USER_AGENT.to_owned(),
            timeout: DEFAULT_TIMEOUT,
            max_bytes: 10 << 20,
        }
    }
}

impl FetchOptions {
    /// Reads `TOOLWRIGHT_WEB_ALLOW_PRIVATE`, `TOOLWRIGHT_WEB_TRUST_PROXY`,
    /// `TOOLWRIGHT_WEB_USER_AGENT` and the variables that name proxies. `variable` returns the
    /// value of an environment variable.
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> FetchOptions {
        let is_on =
            |name| variable(name).is_some_and(|value| matches!(value.trim(), "1" | "true" | "yes"));
        FetchOptions {
            allow_private: is_on(ALLOW_PRIVATE),
            trust_proxy: is_on(TRUST_PROXY),
            proxies: ProxySettings::from_variables(variable),
            user_agent: user_agent(variable),
            ..FetchOptions::default()
        }
    }
}

/// The `User-Agent` of requests: the variable's, or the default if that is blank.
pub(crate) fn user_agent(variable: &dyn Fn(&str) -> Option<String>) -> String {
    let own = variable(USER_AGENT_VARIABLE).map(|value| value.trim().to_owned());
    own.filter(|value| !value.is_empty()).unwrap_or_else(|| USER_AGENT.to_owned())
}

/// What the body of a page is, by its content type.
///
/// Decides how the page is converted; everything that is none of these was refused before its body
/// was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageFormat {
    Html,
    Xhtml,
    /// XML: a feed becomes a list of its entries, anything else is text.
    Xml,
    /// Anything that an agent can read as it is: plain text, Markdown, JSON, CSV, …
    Text,
}

/// A page that was fetched, decoded but not converted.
#[derive(Debug)]
pub struct FetchedPage {
    /// The address after all redirects, which relative links are relative to.
    pub url: Url,
    /// By the content type; without one, by the first bytes.
    format: PageFormat,
    text: String,
    /// That of the whole fetch; the conversion has to be done by then, too.
    deadline: Instant,
}

impl FetchedPage {
    /// Where the page leads by `<meta http-equiv="refresh">`, as a page does that has nothing else
    /// or is only there for browsers without scripts.
    fn refresh_target(&self) -> Option<String> {
        let is_html = matches!(self.format, PageFormat::Html | PageFormat::Xhtml);
        if !is_html || self.text.len() > MAX_REFRESH_PAGE {
            return None;
        }
        if !self.text.to_ascii_lowercase().contains("refresh") {
            return None;
        }
        let options = MarkdownOptions { deadline: Some(self.deadline), ..Default::default() };
        let document = crate::html::HtmlDocument::parse_with(&self.text, &options, true).ok()?;
        let next = self.url.join(&document.refresh_target()?).ok()?;
        // A page that reloads itself is the page.
        let is_other = next[..url::Position::AfterQuery] != self.url[..url::Position::AfterQuery];
        (is_other && document.is_nearly_empty()).then(|| next.into())
    }

    /// The page as Markdown, with the options for it; their deadline and syntax are set here. Text,
    /// Markdown and JSON are returned as they are, without invisible characters.
    pub fn convert(self, options: &MarkdownOptions) -> Result<ConvertedPage, ConversionError> {
        let FetchedPage { url, format, text, deadline } = self;
        let is_html = matches!(format, PageFormat::Html | PageFormat::Xhtml);
        let feed = if format == PageFormat::Xml { feed::feed_as_html(&text) } else { None };
        if is_html || feed.is_some() {
            let options = MarkdownOptions {
                deadline: Some(deadline.min(Instant::now() + CONVERSION_TIMEOUT)),
                xhtml: format == PageFormat::Xhtml,
                // All of a feed is content.
                content: if is_html { options.content } else { PageContent::Whole },
                ..options.clone()
            };
            return markdown::convert(feed.unwrap_or(text), Some(&url), &options);
        }
        let (markdown, dropped) = match drop_invisible(&text, &mut ' ') {
            (Cow::Owned(visible), dropped) => (visible, dropped),
            (Cow::Borrowed(_), dropped) => (text, dropped),
        };
        Ok(ConvertedPage {
            markdown,
            hidden_characters: dropped as usize,
            ..ConvertedPage::default()
        })
    }
}

/// Fetches a page with GET and follows redirects. Blocks until the page is there or
/// `options.timeout` has passed.
///
/// Redirects of HTTP and those of `<meta http-equiv="refresh">` count together, and every target is
/// checked as if the caller had named it: a public page may redirect to a private address.
///
/// # Errors
/// `Refused` for such an address, `Timeout`, the status of the server, or another reason in words.
pub fn fetch(url: &str, options: &FetchOptions) -> Result<FetchedPage, FetchError> {
    // One deadline for all hops, so that redirects cannot multiply the time.
    let deadline = Instant::now() + options.timeout;
    let mut target = FetchTarget::parse(url, options.allow_private)?;
    for _ in 0..=MAX_REDIRECTS {
        let client = FetchClient {
            allow_private: options.allow_private,
            trust_proxy: options.trust_proxy,
            proxies: &options.proxies,
            user_agent: &options.user_agent,
            deadline,
            max_bytes: options.max_bytes,
            look_up_host,
        };
        let request = FetchRequest {
            url: target.url(),
            headers: &[("accept", ACCEPT)],
            check: check_headers,
        };
        let response = client.get(&request)?;
        if let Some(next) = redirect(&response, target.url())? {
            target = FetchTarget::parse(&next, options.allow_private)?;
            continue;
        }
        let page = into_page(response, target.into_url(), deadline)?;
        match page.refresh_target() {
            Some(next) => target = FetchTarget::parse(&next, options.allow_private)?,
            None => return Ok(page),
        }
    }
    Err(FetchError::Other(format!("more than {MAX_REDIRECTS} redirects")))
}

/// Decides by status and headers whether the body is read: a video is refused before it is
/// downloaded.
fn check_headers(response: &FetchResponse) -> Result<(), FetchError> {
    match response.status {
        300..400 => Ok(()),
        200..300 => page_format(response.header("content-type"), &[]).map(|_| ()),
        status => Err(FetchError::Status(status)),
    }
}

/// The address that a response redirects to, made absolute; `None` if the response is the page.
fn redirect(response: &FetchResponse, from: &Url) -> Result<Option<String>, FetchError> {
    // Some servers write UTF-8 into this header, although only ASCII is allowed.
    let location = String::from_utf8_lossy(response.header_bytes("location").unwrap_or_default());
    match (response.status, location.trim()) {
        (status @ (301 | 302 | 303 | 307 | 308), "") => {
            Err(FetchError::Other(format!("HTTP {status} without a location")))
        }
        (301 | 302 | 303 | 307 | 308, location) => {
            let next = from.join(location);
            let next =
                next.map_err(|_| FetchError::Other("redirected to an invalid URL".to_owned()))?;
            Ok(Some(next.into()))
        }
        // Other statuses from 300 on have no page: 304 Not Modified, 300 Multiple Choices.
        (300.., _) => Err(FetchError::Status(response.status)),
        _ => Ok(None),
    }
}

/// The body was read within the limits; this decodes it.
fn into_page(
    response: FetchResponse,
    url: Url,
    deadline: Instant,
) -> Result<FetchedPage, FetchError> {
    let content_type = response.header("content-type").map(str::to_owned);
    let format = page_format(content_type.as_deref(), &response.body)?;
    let label = content_type.as_deref().and_then(charset::charset_label);
    let text = charset::decode(response.body, label, format != PageFormat::Text, url.domain());
    Ok(FetchedPage { url, format, text, deadline })
}

/// Decodes an HTML file that did not come from a server: by its byte order mark, its own
/// declaration, or a guess.
pub fn decode(bytes: Vec<u8>) -> String {
    charset::decode(bytes, None, true, None)
}

/// The format of a page, by its content type. Without a content type, `body` decides. Fails for
/// content that is not text.
fn page_format(content_type: Option<&str>, body: &[u8]) -> Result<PageFormat, FetchError> {
    let kind = content_type.unwrap_or_default().split([';', ',']).next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/html" => Ok(PageFormat::Html),
        "application/xhtml+xml" => Ok(PageFormat::Xhtml),
        "application/xml"
        | "text/xml"
        | "application/rss+xml"
        | "application/atom+xml"
        | "application/rdf+xml" => Ok(PageFormat::Xml),
        "application/json"
        | "application/markdown"
        | "application/x-ndjson"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/javascript"
        | "application/x-javascript"
        | "application/ecmascript"
        | "application/sql"
        | "application/x-sh" => Ok(PageFormat::Text),
        "application/pdf" => Err(FetchError::Other(
            "the page is a PDF, which cannot be converted; look for an HTML version of it"
                .to_owned(),
        )),
        "" if body.starts_with(b"%PDF-") => page_format(Some("application/pdf"), &[]),
        // Some servers send no content type. Browsers look at the body then, and so does this.
        "" if charset::begins_with_tag(body) => Ok(PageFormat::Html),
        "" if body.contains(&0)
            && !body.starts_with(&[0xff, 0xfe])
            && !body.starts_with(&[0xfe, 0xff]) =>
        {
            Err(FetchError::Other("the page is binary and has no content type".to_owned()))
        }
        "" => Ok(PageFormat::Text),
        // `text/css` or `text/csv` are of use to an agent, too, as is `application/ld+json`.
        kind if kind.starts_with("text/") || kind.ends_with("+json") || kind.ends_with("+yaml") => {
            Ok(PageFormat::Text)
        }
        // A drawing is XML, too, and not text.
        kind if kind.ends_with("+xml") && !kind.starts_with("image/") => Ok(PageFormat::Xml),
        kind => Err(FetchError::Other(format!("content type `{kind}` is not text"))),
    }
}
