//! Search: what is asked, what is answered, and the providers behind one trait. Providers come and
//! go; the shape of question and answer stays.

mod brave;
mod dates;
mod domains;
mod google;
mod plain;

use std::time::{Duration, Instant};

use serde_json::Value as Json;
use url::Url;

use crate::fetch::{Answer, Client, FetchError, Proxies, Request, look_up};
pub use brave::Brave;
use domains::Domains;
pub use google::Google;

/// Bytes of an answer.
const MAX_BYTES: usize = 10 << 20;

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Query {
    /// The words.
    pub text: String,
    /// Only results from these domains count; none given means all.
    pub allowed_domains: Vec<String>,
    /// Results from these domains never count.
    pub blocked_domains: Vec<String>,
    /// How long it may take, all requests together.
    pub timeout: Duration,
}

impl Default for Query {
    fn default() -> Query {
        // Below the 30 s that callers of tools wait, so that they get to know why.
        let timeout = Duration::from_secs(25);
        Query {
            text: String::new(),
            allowed_domains: Vec::new(),
            blocked_domains: Vec::new(),
            timeout,
        }
    }
}

/// One result, its texts without markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The page's title.
    pub title: String,
    /// Where the page is.
    pub url: String,
    /// A sentence or two from the page.
    pub description: String,
    /// When it was published: RFC 3339, in UTC.
    pub published_date: Option<String>,
}

impl Hit {
    /// The result in the shape that agents get.
    pub fn to_json(&self) -> Json {
        let mut json = serde_json::json!({"title": self.title, "url": self.url, "description": self.description});
        if let Some(date) = &self.published_date {
            json["published_date"] = Json::from(date.as_str());
        }
        json
    }
}

/// Where values that are not in the question come from: variables of the environment and files in
/// the home directory.
pub struct Surroundings<'a> {
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The text of a file below `~/.config/ikigai/`.
    pub credential_file: &'a dyn Fn(&str) -> Option<String>,
}

impl Surroundings<'_> {
    /// A credential: the variable, else the file. Blank counts as missing.
    fn credential(&self, variable: &str, file: &str) -> Option<String> {
        // Some editors put a byte order mark before the key.
        let bare = |value: String| value.trim_start_matches('\u{feff}').trim().to_owned();
        let filled = |value: String| Some(bare(value)).filter(|value| !value.is_empty());
        (self.variable)(variable)
            .and_then(filled)
            .or_else(|| (self.credential_file)(file).and_then(filled))
    }

    /// Where a provider is, unless a variable says otherwise.
    fn base_url(&self, variable: &str, usual: &str) -> Result<Url, SearchError> {
        let text = (self.variable)(variable).filter(|value| !value.trim().is_empty());
        Url::parse(text.as_deref().unwrap_or(usual).trim())
            .map_err(|_| SearchError(format!("{variable} is not a URL")))
    }
}

/// Why there are no results; the text is for the agent and holds no credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SearchError(pub String);

/// A search engine.
pub trait Provider: Sync {
    /// What it is called in names, such as `brave`.
    fn id(&self) -> &'static str;

    /// What people call it, such as `Brave Search API`.
    fn title(&self) -> &'static str;

    /// Asks it. The results are already held against the domains of the query.
    fn search(&self, query: &Query, surroundings: &Surroundings) -> Result<Vec<Hit>, SearchError>;
}

/// One search's way to a provider.
struct Exchange<'a> {
    /// The provider's name, for messages.
    name: &'static str,
    /// What an answer of 401 or 403 means.
    rejected: String,
    /// What must never be in a message.
    secrets: &'a [&'a str],
    proxies: Proxies,
    deadline: Instant,
}

impl<'a> Exchange<'a> {
    fn new(
        name: &'static str,
        missing: &str,
        secrets: &'a [&'a str],
        surroundings: &Surroundings,
        timeout: Duration,
    ) -> Exchange<'a> {
        Exchange {
            name,
            rejected: missing.replacen("not found", "rejected", 1),
            secrets,
            proxies: Proxies::from_variables(surroundings.variable),
            deadline: Instant::now() + timeout,
        }
    }

    /// Sends a request and reads the JSON that comes back.
    fn get(&self, url: &Url, headers: &[(&str, &str)]) -> Result<Json, SearchError> {
        // The provider's address is chosen by whoever runs us, not by an agent.
        let client = Client {
            allow_private: true,
            trust_proxy: true,
            proxies: &self.proxies,
            deadline: self.deadline,
            max_bytes: MAX_BYTES,
            look_up,
        };
        let answer = client.get(&Request { url, headers, check: |_| Ok(()) });
        let answer = answer.map_err(|error| match error {
            FetchError::Timeout => self.error("timed out"),
            error => self.error(&format!("failed: {error}")),
        })?;
        self.json(&answer)
    }

    fn json(&self, answer: &Answer) -> Result<Json, SearchError> {
        let json: Option<Json> = serde_json::from_slice(&answer.body).ok();
        match (answer.status, json) {
            (401 | 403, _) => Err(SearchError(self.rejected.clone())),
            (400 | 422, Some(json)) if rejects_key(&json) => {
                Err(SearchError(self.rejected.clone()))
            }
            (429, _) => {
                let wait = answer.header("retry-after").and_then(wait).unwrap_or_default();
                Err(self.error(&format!("has had too many requests (HTTP 429){wait}")))
            }
            (200, Some(json)) if json.is_object() => Ok(json),
            (200, Some(_)) => Err(self.error("sent an unexpected answer")),
            (200, None) if answer.body.trim_ascii().is_empty() => {
                Err(self.error("sent an empty answer"))
            }
            (200, None) => Err(self.error("sent an answer that is not JSON")),
            (status, json) => {
                let message = json.as_ref().and_then(message).map(|message| format!(": {message}"));
                Err(self.error(&format!("answered HTTP {status}{}", message.unwrap_or_default())))
            }
        }
    }

    fn error(&self, what: &str) -> SearchError {
        SearchError(self.redact(format!("{} {what}", self.name)))
    }

    /// A result without the credentials, should the provider repeat them.
    fn redacted(&self, hit: Hit) -> Hit {
        Hit {
            title: self.redact(hit.title),
            url: self.redact(hit.url),
            description: self.redact(hit.description),
            published_date: hit.published_date,
        }
    }

    fn redact(&self, mut text: String) -> String {
        // What is shorter is no credential, and part of many words.
        for secret in self.secrets.iter().filter(|secret| secret.chars().count() >= 4) {
            let in_url: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            for form in [*secret, &in_url] {
                if text.contains(form) {
                    text = text.replace(form, "***");
                }
            }
        }
        text
    }
}

/// Whether an error that is no 401 says that the key is wrong, all the same.
fn rejects_key(json: &Json) -> bool {
    let error = &json["error"];
    let details = error["details"].as_array().map(Vec::as_slice).unwrap_or_default();
    error["code"] == "SUBSCRIPTION_TOKEN_INVALID"
        || details.iter().any(|detail| detail["reason"] == "API_KEY_INVALID")
        || error["message"].as_str().is_some_and(|text| text.starts_with("API key not valid"))
}

/// What `Retry-After` says: a number of seconds, or when.
fn wait(after: &str) -> Option<String> {
    let after = after.trim();
    if !after.is_empty() && after.bytes().all(|b| b.is_ascii_digit()) {
        return Some(format!("; retry after {after} seconds"));
    }
    dates::rfc3339(after).map(|_| format!("; retry after {after}"))
}

/// What a provider says about an error: each nests it in another way.
fn message(json: &Json) -> Option<&str> {
    let error = &json["error"];
    [&error["message"], &error["detail"], error, &json["message"], &json["detail"]]
        .into_iter()
        .find_map(Json::as_str)
        .map(|message| &message[..message.floor_char_boundary(500)])
}

/// Turns a provider's record into a result; without an address it is none.
fn hit(title: &Json, url: &Json, description: &Json, date: Option<String>) -> Option<Hit> {
    let text = |value: &Json| plain::text(value.as_str().unwrap_or_default());
    let url = url.as_str()?.to_owned();
    Some(Hit { title: text(title), url, description: text(description), published_date: date })
}
