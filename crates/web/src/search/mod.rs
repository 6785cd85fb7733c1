//! Web search: a query, its results, and the providers behind one trait.
//!
//! ```text
//! SearchQuery ─▶ SearchProvider (brave, google) ─▶ ProviderClient ─▶ HTTP
//!                     │ the provider's JSON
//!                     ▼
//!       DomainFilter, snippet, dates ─▶ SearchHit
//! ```
//!
//! Agents see the same schema and the same results whichever provider answers, so one can replace
//! the other. What differs between providers (URL, credentials, field names) is in their files.

mod brave;
mod dates;
mod domain_filter;
mod google;
mod snippet;

use std::time::{Duration, Instant};

use serde_json::Value as Json;
use url::Url;

use crate::fetch::{
    self, FetchClient, FetchError, FetchRequest, FetchResponse, ProxySettings, look_up_host,
};
pub use brave::Brave;
use domain_filter::DomainFilter;
pub use google::Google;

/// Bytes of a provider's response, as for pages. Real ones have less than a hundredth of it.
const MAX_BYTES: usize = 10 << 20;

/// A search, as an agent asks for it.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// The words, at least two characters; passed to the provider as they are.
    pub text: String,
    /// Only results from these domains are returned. If empty, all domains are allowed.
    pub allowed_domains: Vec<String>,
    /// Results from these domains are never returned, even if they are allowed as well.
    pub blocked_domains: Vec<String>,
    /// How long all requests of the search may take together.
    pub timeout: Duration,
}

impl Default for SearchQuery {
    fn default() -> SearchQuery {
        SearchQuery {
            text: String::new(),
            allowed_domains: Vec::new(),
            blocked_domains: Vec::new(),
            timeout: fetch::DEFAULT_TIMEOUT,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResults {
    /// The results, best first.
    pub hits: Vec<SearchHit>,
    /// The requests of the search that failed although others succeeded, one line each.
    pub failures: Vec<String>,
}

/// One result. Its texts are plain: without tags, with entities decoded, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// The page's title.
    pub title: String,
    /// The page's address.
    pub url: String,
    /// A sentence or two from the page; can be empty.
    pub description: String,
    /// When the page was published, in RFC 3339 and UTC, if the provider has it.
    pub published_date: Option<String>,
}

impl SearchHit {
    /// The result with the field names of the tool's specification.
    pub fn to_json(&self) -> Json {
        let mut json = serde_json::json!({
            "title": self.title,
            "url": self.url,
            "description": self.description,
        });
        if let Some(date) = &self.published_date {
            json["published_date"] = Json::from(date.as_str());
        }
        json
    }
}

/// Access to credentials and settings, which come from the environment and from files. Functions,
/// so that tests need neither.
pub struct SearchContext<'a> {
    /// Returns the value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the content of a file in `~/.config/ikigai/`.
    pub credential_file: &'a dyn Fn(&str) -> Option<String>,
}

impl SearchContext<'_> {
    /// A credential from the variable, or else from the file. A blank value counts as missing.
    fn credential(&self, variable: &str, file: &str) -> Option<String> {
        // Some editors write a byte order mark at the beginning of a file.
        let bare = |value: String| value.trim_start_matches('\u{feff}').trim().to_owned();
        let filled = |value: String| Some(bare(value)).filter(|value| !value.is_empty());
        (self.variable)(variable)
            .and_then(filled)
            .or_else(|| (self.credential_file)(file).and_then(filled))
    }

    /// The URL of a provider's `path`. The base is `default`, unless the variable has another, as
    /// in tests or behind a gateway.
    fn endpoint(&self, variable: &str, default: &str, path: &str) -> Result<Url, SearchError> {
        let text = (self.variable)(variable).filter(|value| !value.trim().is_empty());
        Url::parse(text.as_deref().unwrap_or(default).trim())
            .and_then(|base| base.join(path))
            .map_err(|_| SearchError(format!("{variable} is not a URL")))
    }
}

/// Why a search failed. The text is for the agent; it never contains a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SearchError(pub String);

/// A search engine. To add one, implement this in a file of its own and add an executable.
pub trait SearchProvider: Sync {
    /// A short name for the tool's name, such as `brave`.
    fn id(&self) -> &'static str;

    /// The name in the tool's description, such as `Brave Search API`.
    fn title(&self) -> &'static str;

    /// Whether its credentials are there. Whether they are valid shows only in a search.
    fn has_credentials(&self, context: &SearchContext) -> bool;

    /// Searches. Returns only results from domains that the query allows.
    fn search(
        &self,
        query: &SearchQuery,
        context: &SearchContext,
    ) -> Result<SearchResults, SearchError>;
}

/// All providers, in the order in which one is chosen if several have credentials.
pub(crate) static PROVIDERS: [&dyn SearchProvider; 2] = [&Brave, &Google];

/// Sends the requests of one search, and turns failures into messages without credentials.
struct ProviderClient<'a> {
    /// The provider's name at the beginning of messages.
    name: &'static str,
    /// The error for HTTP 401 and 403.
    rejected: String,
    /// Credentials, which are removed from everything that is returned.
    secrets: &'a [&'a str],
    proxies: ProxySettings,
    user_agent: String,
    deadline: Instant,
}

impl<'a> ProviderClient<'a> {
    /// `missing` is the message for missing credentials. The one for rejected credentials differs
    /// from it in a single word, and helps in the same way.
    fn new(
        name: &'static str,
        missing: &str,
        secrets: &'a [&'a str],
        context: &SearchContext,
        timeout: Duration,
    ) -> ProviderClient<'a> {
        ProviderClient {
            name,
            rejected: missing.replacen("not found", "rejected", 1),
            secrets,
            proxies: ProxySettings::from_variables(context.variable),
            user_agent: fetch::user_agent(context.variable),
            deadline: Instant::now() + timeout,
        }
    }

    /// Sends a GET request and returns the JSON object of the response.
    fn get(&self, url: &Url, headers: &[(&str, &str)]) -> Result<Json, SearchError> {
        // The user chose the provider's address, not an agent, so it may be a private one.
        let client = FetchClient {
            allow_private: true,
            trust_proxy: true,
            proxies: &self.proxies,
            user_agent: &self.user_agent,
            deadline: self.deadline,
            max_bytes: MAX_BYTES,
            look_up_host,
        };
        let response = client.get(&FetchRequest { url, headers, check: |_| Ok(()) });
        let response = response.map_err(|error| match error {
            FetchError::Timeout => self.error("timed out"),
            error => self.error(&format!("failed: {error}")),
        })?;
        self.json(&response)
    }

    /// Reads the response, or turns its status into an error.
    fn json(&self, response: &FetchResponse) -> Result<Json, SearchError> {
        let json: Option<Json> = serde_json::from_slice(&response.body).ok();
        match (response.status, json) {
            (401 | 403, json) => Err(self.rejection(json.as_ref())),
            (400 | 422, Some(json)) if rejects_key(&json) => Err(self.rejection(None)),
            // The rate limit of the provider; agents can act on the time.
            (429, _) => {
                let advice =
                    response.header("retry-after").and_then(retry_advice).unwrap_or_default();
                Err(self.error(&format!("received too many requests (HTTP 429){advice}")))
            }
            (200, Some(json)) if json.is_object() => Ok(json),
            (200, Some(_)) => Err(self.error("sent a response that is not a JSON object")),
            (200, None) if response.body.trim_ascii().is_empty() => {
                Err(self.error("sent an empty response"))
            }
            (200, None) => Err(self.error("sent a response that is not JSON")),
            (status, json) => {
                let message =
                    json.as_ref().and_then(error_message).map(|message| format!(": {message}"));
                Err(self.error(&format!("answered HTTP {status}{}", message.unwrap_or_default())))
            }
        }
    }

    /// The error for a rejected key. The status alone does not tell an exhausted quota from a wrong
    /// key or an API that is not enabled, so the provider's own words follow.
    fn rejection(&self, json: Option<&Json>) -> SearchError {
        let message = json.and_then(error_message).map(str::trim).filter(|text| !text.is_empty());
        SearchError(match message {
            Some(message) => {
                self.redact(format!("{} {} answered: {message}", self.rejected, self.name))
            }
            None => self.rejected.clone(),
        })
    }

    /// An error that begins with the provider's name.
    fn error(&self, what: &str) -> SearchError {
        SearchError(self.redact(format!("{} {what}", self.name)))
    }

    /// Removes credentials from a result, in case the provider repeats them.
    fn redacted(&self, hit: SearchHit) -> SearchHit {
        SearchHit {
            title: self.redact(hit.title),
            url: self.redact(hit.url),
            description: self.redact(hit.description),
            published_date: hit.published_date,
        }
    }

    fn redact(&self, mut text: String) -> String {
        // A shorter secret is not a real credential, and part of many words.
        for secret in self.secrets.iter().filter(|secret| secret.chars().count() >= 4) {
            let in_url: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            // In a URL, a secret with special characters is percent-encoded.
            for form in [*secret, &in_url] {
                if text.contains(form) {
                    text = text.replace(form, "***");
                }
            }
        }
        text
    }
}

/// Whether an error means that the key is invalid although its status is not 401: Brave sends 422
/// then, Google 400.
fn rejects_key(json: &Json) -> bool {
    let error = &json["error"];
    let details = error["details"].as_array().map(Vec::as_slice).unwrap_or_default();
    error["code"] == "SUBSCRIPTION_TOKEN_INVALID"
        || details.iter().any(|detail| detail["reason"] == "API_KEY_INVALID")
        || error["message"].as_str().is_some_and(|text| text.starts_with("API key not valid"))
}

/// The end of a message about `Retry-After`, which is a number of seconds or a date; `None` if it
/// is neither.
fn retry_advice(after: &str) -> Option<String> {
    let after = after.trim();
    if !after.is_empty() && after.bytes().all(|b| b.is_ascii_digit()) {
        return Some(format!("; retry after {after} seconds"));
    }
    dates::to_rfc3339(after).map(|_| format!("; retry after {after}"))
}

/// The provider's message in an error response, at most 500 bytes. Providers and gateways put it
/// into different fields.
fn error_message(json: &Json) -> Option<&str> {
    let error = &json["error"];
    [&error["message"], &error["detail"], error, &json["message"], &json["detail"]]
        .into_iter()
        .find_map(Json::as_str)
        .map(|message| &message[..message.floor_char_boundary(500)])
}

/// Makes a result of the provider's fields; `None` without an address. Other fields may be
/// missing.
fn search_hit(
    title: &Json,
    url: &Json,
    description: &Json,
    date: Option<String>,
) -> Option<SearchHit> {
    let text = |value: &Json| snippet::strip_markup(value.as_str().unwrap_or_default());
    let url = url.as_str()?.to_owned();
    Some(SearchHit {
        title: text(title),
        url,
        description: text(description),
        published_date: date,
    })
}
