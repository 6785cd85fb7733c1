//! Google Custom Search API. It can be narrowed to one domain per request, so several domains are
//! several requests. Google has announced its end for 2027-01-01.

use std::collections::HashSet;

use serde_json::Value as Json;
use url::Url;

use super::{Domains, Exchange, Hit, Provider, Query, SearchError, Surroundings, dates, hit};

/// What is said without key or engine.
const MISSING: &str = "Authentication required: GOOGLE_SEARCH_API_KEY or GOOGLE_SEARCH_ENGINE_ID not found. Set environment variables or create ~/.config/ikigai/google-api-key and ~/.config/ikigai/google-engine-id files. Get credentials from https://developers.google.com/custom-search";

/// Where pages say when they were published, the best first.
const DATES: [&str; 8] = [
    "article:published_time",
    "og:published_time",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.date",
    "datepublished",
    "pubdate",
];

/// The provider behind `web_search_google`.
#[derive(Clone, Copy, Debug)]
pub struct Google;

impl Provider for Google {
    fn id(&self) -> &'static str {
        "google"
    }

    fn title(&self) -> &'static str {
        "Google Custom Search API"
    }

    fn search(&self, query: &Query, surroundings: &Surroundings) -> Result<Vec<Hit>, SearchError> {
        let domains = Domains::new(query)?;
        let missing = || SearchError(MISSING.to_owned());
        let key = surroundings
            .credential("GOOGLE_SEARCH_API_KEY", "google-api-key")
            .ok_or_else(missing)?;
        let engine = surroundings
            .credential("GOOGLE_SEARCH_ENGINE_ID", "google-engine-id")
            .ok_or_else(missing)?;
        let base = surroundings.base_url("TOOLWRIGHT_GOOGLE_URL", "https://www.googleapis.com")?;
        let mut url = base
            .join("/customsearch/v1")
            .map_err(|_| SearchError("invalid base URL".to_owned()))?;
        url.query_pairs_mut()
            .append_pair("key", &key)
            .append_pair("cx", &engine)
            .append_pair("q", &query.text)
            .append_pair("num", "10")
            .append_pair("start", "1");
        let secrets = [key.as_str(), engine.as_str()];
        let exchange =
            Exchange::new("Google Custom Search", MISSING, &secrets, surroundings, query.timeout);
        let answers: Vec<Result<Json, SearchError>> = requests(&url, &domains)
            .iter()
            .map(|url| exchange.get(url, &[("accept", "application/json")]))
            .collect();
        let lists = merge_errors(answers)?;
        let lists = lists.iter().map(|answer| {
            let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            let hits = items.iter().filter_map(read).filter(|hit| domains.permit(&hit.url));
            hits.map(|hit| exchange.redacted(hit)).collect()
        });
        Ok(round_robin(lists.collect()))
    }
}

/// One request for each allowed domain; without any, one for all.
fn requests(url: &Url, domains: &Domains) -> Vec<Url> {
    let narrowed = |site: &str, filter: &str| {
        let mut url = url.clone();
        url.query_pairs_mut()
            .append_pair("siteSearch", site)
            .append_pair("siteSearchFilter", filter);
        url
    };
    match (domains.allowed(), domains.blocked()) {
        ([], [blocked]) => vec![narrowed(blocked, "e")],
        ([], _) => vec![url.clone()],
        (allowed, _) => allowed.iter().map(|site| narrowed(site, "i")).collect(),
    }
}

/// The answers that came; an error only if none did.
fn merge_errors(answers: Vec<Result<Json, SearchError>>) -> Result<Vec<Json>, SearchError> {
    let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    match bad.into_iter().find_map(Result::err) {
        Some(error) if good.is_empty() => Err(error),
        _ => Ok(good.into_iter().flatten().collect()),
    }
}

/// The first of each list, then the second of each, and no page twice.
fn round_robin(lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut seen = HashSet::new();
    let places =
        (0..longest).flat_map(|place| lists.iter().filter_map(move |list| list.get(place)));
    places.filter(|hit| seen.insert(hit.url.clone())).cloned().collect()
}

fn read(item: &Json) -> Option<Hit> {
    let tags = &item["pagemap"]["metatags"][0];
    let article = &item["pagemap"]["article"][0]["datepublished"];
    let named = DATES.iter().map(|name| &tags[*name]).chain([article]);
    let date = named.filter_map(Json::as_str).find_map(dates::rfc3339);
    hit(&item["title"], &item["link"], &item["snippet"], date)
}

#[cfg(test)]
mod tests {
    use super::{Hit, round_robin};

    #[test]
    fn lists_are_merged_in_turn() {
        let list = |urls: &str| {
            let hit = |url: &str| Hit {
                title: String::new(),
                url: url.to_owned(),
                description: String::new(),
                published_date: None,
            };
            urls.split(' ').map(hit).collect()
        };
        let merged = round_robin(vec![list("a b c"), list("d"), list("e a f")]);
        let urls: Vec<&str> = merged.iter().map(|hit| hit.url.as_str()).collect();
        assert_eq!(urls, ["a", "d", "e", "b", "c", "f"]);
    }
}
