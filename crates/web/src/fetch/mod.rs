//! Pages fetched under guards: which addresses, how many redirects, how many bytes, how long. Every
//! hop is checked anew, and what is checked is the very address that is connected to.

mod address;
mod charset;
mod client;
mod target;

use std::time::{Duration, Instant};

use url::Url;

use crate::markdown::{self, ConversionError};
pub(crate) use client::{Answer, Client, Request, look_up};
pub use client::{FetchError, Proxies};
use target::Target;

/// The variable that allows addresses which are not on the public internet.
pub(crate) const ALLOW_PRIVATE: &str = "TOOLWRIGHT_WEB_ALLOW_PRIVATE";
/// The variable that leaves it to the proxy what may be asked.
pub(crate) const TRUST_PROXY: &str = "TOOLWRIGHT_WEB_TRUST_PROXY";
/// Redirects that are followed.
const MAX_REDIRECTS: usize = 10;
/// How long a page may take to convert. One of 10 MiB takes a fraction of a second; what takes
/// longer was made to.
const CONVERSION: Duration = Duration::from_secs(5);
/// What we take, and what we would rather have.
const ACCEPT: &str = "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/json;q=0.9, */*;q=0.1";

/// Who may be asked, and for how long.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// Whether addresses that are not on the public internet may be connected to.
    pub allow_private: bool,
    /// Whether a proxy alone decides what may be connected to; otherwise names are looked up and
    /// judged before it is asked.
    pub trust_proxy: bool,
    /// The proxies to go through.
    pub proxies: Proxies,
    /// For everything, from looking up the name to the last byte of Markdown.
    pub timeout: Duration,
    /// Bytes of a page, after decompression.
    pub max_bytes: usize,
}

impl Default for FetchOptions {
    fn default() -> FetchOptions {
        FetchOptions {
            allow_private: false,
            trust_proxy: false,
            proxies: Proxies::default(),
            timeout: Duration::from_secs(30),
            max_bytes: 10 << 20,
        }
    }
}

impl FetchOptions {
    /// What the environment says: `TOOLWRIGHT_WEB_ALLOW_PRIVATE`, `TOOLWRIGHT_WEB_TRUST_PROXY` and
    /// the variables of proxies.
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> FetchOptions {
        let is_on =
            |name| variable(name).is_some_and(|value| matches!(value.trim(), "1" | "true" | "yes"));
        FetchOptions {
            allow_private: is_on(ALLOW_PRIVATE),
            trust_proxy: is_on(TRUST_PROXY),
            proxies: Proxies::from_variables(variable),
            ..FetchOptions::default()
        }
    }
}

/// What a page is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Html,
    Xhtml,
    Text,
}

/// A page that was fetched.
#[derive(Debug)]
pub struct Page {
    /// Where it came from in the end, after all redirects.
    pub url: Url,
    content: Content,
    text: String,
    deadline: Instant,
}

impl Page {
    /// The page as Markdown; what is text already stays as it is.
    pub fn into_markdown(self) -> Result<String, ConversionError> {
        let Page { url, content, text, deadline } = self;
        if content == Content::Text {
            return Ok(text);
        }
        let deadline = deadline.min(Instant::now() + CONVERSION);
        let xhtml = content == Content::Xhtml;
        let options =
            markdown::Options { deadline: Some(deadline), xhtml, ..markdown::Options::default() };
        let document = crate::html::Document::parse(&text, &options)?;
        // The source is not needed any more, and may be large.
        drop(text);
        document.to_markdown(Some(&url), &options)
    }
}

/// Fetches a page with GET, following redirects.
pub fn fetch(url: &str, options: &FetchOptions) -> Result<Page, FetchError> {
    let deadline = Instant::now() + options.timeout;
    let mut target = Target::parse(url, options.allow_private)?;
    for _ in 0..=MAX_REDIRECTS {
        let client = Client {
            allow_private: options.allow_private,
            trust_proxy: options.trust_proxy,
            proxies: &options.proxies,
            deadline,
            max_bytes: options.max_bytes,
            look_up,
        };
        let request =
            Request { url: target.url(), headers: &[("accept", ACCEPT)], check: check_answer };
        let answer = client.get(&request)?;
        match redirect(&answer, target.url())? {
            Some(next) => target = Target::parse(&next, options.allow_private)?,
            None => return page(answer, target.into_url(), deadline),
        }
    }
    Err(FetchError::Other(format!("more than {MAX_REDIRECTS} redirects")))
}

/// Decides by the headers alone whether the body is worth reading.
fn check_answer(answer: &Answer) -> Result<(), FetchError> {
    match answer.status {
        300..400 => Ok(()),
        200..300 => content_of(answer.header("content-type"), &[]).map(|_| ()),
        status => Err(FetchError::Status(status)),
    }
}

fn redirect(answer: &Answer, from: &Url) -> Result<Option<String>, FetchError> {
    // Some servers write what is not ASCII as it is.
    let location = String::from_utf8_lossy(answer.bytes_of("location").unwrap_or_default());
    match (answer.status, location.trim()) {
        (status @ (301 | 302 | 303 | 307 | 308), "") => {
            Err(FetchError::Other(format!("HTTP {status} without a location")))
        }
        (301 | 302 | 303 | 307 | 308, location) => {
            let next = from.join(location);
            let next =
                next.map_err(|_| FetchError::Other("redirected to an invalid URL".to_owned()))?;
            Ok(Some(next.into()))
        }
        (300.., _) => Err(FetchError::Status(answer.status)),
        _ => Ok(None),
    }
}

fn page(answer: Answer, url: Url, deadline: Instant) -> Result<Page, FetchError> {
    let content_type = answer.header("content-type").map(str::to_owned);
    let content = content_of(content_type.as_deref(), &answer.body)?;
    let label = content_type.as_deref().and_then(charset::label_of);
    let text = charset::decode(answer.body, label, content != Content::Text, url.domain());
    Ok(Page { url, content, text, deadline })
}

/// Decodes an HTML file by its byte order mark, its own word, or a guess.
pub fn decode(bytes: Vec<u8>) -> String {
    charset::decode(bytes, None, true, None)
}

/// Reads a content type; `body` is looked at where there is none.
fn content_of(content_type: Option<&str>, body: &[u8]) -> Result<Content, FetchError> {
    let kind = content_type.unwrap_or_default().split([';', ',']).next().unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/html" => Ok(Content::Html),
        "application/xhtml+xml" => Ok(Content::Xhtml),
        "application/json" | "application/markdown" | "application/x-ndjson" => Ok(Content::Text),
        "" if charset::begins_with_tag(body) => Ok(Content::Html),
        "" if body.contains(&0)
            && !body.starts_with(&[0xff, 0xfe])
            && !body.starts_with(&[0xfe, 0xff]) =>
        {
            Err(FetchError::Other("the page is binary and does not say what it is".to_owned()))
        }
        "" => Ok(Content::Text),
        kind if kind.starts_with("text/") || kind.ends_with("+json") => Ok(Content::Text),
        kind => Err(FetchError::Other(format!("content type `{kind}` is not text"))),
    }
}
