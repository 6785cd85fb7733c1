//! Google Custom Search API: up to 10 results for each request.
//!
//! A request can be restricted to one domain, or exclude one. For several allowed domains there
//! are several requests, one after the other under one deadline, and their results take turns.
//! Google has announced the end of this API for 2027-01-01.

use std::collections::HashSet;

use serde_json::Value as Json;
use url::Url;

use super::{
    DomainFilter, ProviderClient, SearchContext, SearchError, SearchHit, SearchProvider,
    SearchQuery, SearchResults, dates, search_hit,
};

/// The error without a key or an engine, prescribed by the tool's specification.
///
/// Agents look for this text to tell a person what to set up.
const MISSING: &str = "Authentication required: GOOGLE_SEARCH_API_KEY or \
    GOOGLE_SEARCH_ENGINE_ID not found. Set environment variables or create \
    ~/.config/ikigai/google-api-key and ~/.config/ikigai/google-engine-id files. Get credentials \
    from https://developers.google.com/custom-search";

/// The `<meta>` names under which pages declare their date of publication, the most specific
/// first.
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

/// Allowed domains of one search. Each is a request that costs quota and time.
const MAX_DOMAINS: usize = 10;

/// The provider behind `web_search_google`.
#[derive(Clone, Copy, Debug)]
pub struct Google;

impl SearchProvider for Google {
    fn id(&self) -> &'static str {
        "google"
    }

    fn title(&self) -> &'static str {
        "Google Custom Search API"
    }

    fn has_credentials(&self, context: &SearchContext) -> bool {
        key_and_engine(context).is_some()
    }

    fn search(
        &self,
        query: &SearchQuery,
        context: &SearchContext,
    ) -> Result<SearchResults, SearchError> {
        // Checked before the credentials: an agent can repair its arguments, not the environment.
        let domains = DomainFilter::new(query)?;
        if domains.allowed().len() > MAX_DOMAINS {
            return Err(SearchError(format!(
                "`allowed_domains` has {} domains; Google Custom Search takes at most \
                 {MAX_DOMAINS}, because each is a request of its own",
                domains.allowed().len()
            )));
        }
        let missing = || SearchError(MISSING.to_owned());
        let (key, engine) = key_and_engine(context).ok_or_else(missing)?;
        let mut url = context.endpoint(
            "TOOLWRIGHT_GOOGLE_URL",
            "https://www.googleapis.com",
            "/customsearch/v1",
        )?;
        url.query_pairs_mut()
            .append_pair("key", &key)
            .append_pair("cx", &engine)
            .append_pair("q", &query.text)
            .append_pair("num", "10")
            .append_pair("start", "1");
        // The key is part of the URL, so no message may contain the URL.
        let secrets = [key.as_str(), engine.as_str()];
        let client =
            ProviderClient::new("Google Custom Search", MISSING, &secrets, context, query.timeout);
        // One after the other: few queries have more than two domains, and threads would make the
        // provider's rate limit more likely.
        let responses: Vec<Result<Json, SearchError>> = requests(&url, &domains)
            .iter()
            .map(|url| client.get(url, &[("accept", "application/json")]))
            .collect();
        let (responses, failures) = successes_or_error(responses, domains.allowed())?;
        let lists = responses.iter().map(|response| {
            // Without results, the field is missing.
            let items = response["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            let hits = items.iter().filter_map(parse_item).filter(|hit| domains.permits(&hit.url));
            hits.map(|hit| client.redacted(hit)).collect()
        });
        Ok(SearchResults { hits: round_robin(lists.collect()), failures })
    }
}

/// Both or neither: one of the two alone cannot search.
fn key_and_engine(context: &SearchContext) -> Option<(String, String)> {
    let key = context.credential("GOOGLE_SEARCH_API_KEY", "google-api-key")?;
    Some((key, context.credential("GOOGLE_SEARCH_ENGINE_ID", "google-engine-id")?))
}

/// The URLs to request: one for each allowed domain, or one for all domains. A single blocked
/// domain is left to Google, which then finds other results instead; several can only be filtered
/// here.
fn requests(url: &Url, domains: &DomainFilter) -> Vec<Url> {
    // `i` includes only the site, `e` excludes it.
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

/// The successful responses, and a line for each of the others, with the domain that it was for.
/// The first error if all failed: some results are better than none.
fn successes_or_error(
    responses: Vec<Result<Json, SearchError>>,
    domains: &[String],
) -> Result<(Vec<Json>, Vec<String>), SearchError> {
    let (mut successes, mut failures, mut first_error) = (Vec::new(), Vec::new(), None);
    for (index, response) in responses.into_iter().enumerate() {
        match response {
            Ok(json) => successes.push(json),
            Err(error) => {
                let domain = domains.get(index).map_or("", String::as_str);
                failures.push(format!("no results from `{domain}`: {error}"));
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if successes.is_empty() => Err(error),
        _ => Ok((successes, failures)),
    }
}

/// Merges lists: the first of each, then the second of each, and so on. An address that was there
/// already is left out.
fn round_robin(lists: Vec<Vec<SearchHit>>) -> Vec<SearchHit> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    // Searches for `example.com` and `www.example.com` can find the same page.
    let mut seen = HashSet::new();
    let in_turn = (0..longest).flat_map(|rank| lists.iter().filter_map(move |list| list.get(rank)));
    in_turn.filter(|hit| seen.insert(hit.url.clone())).cloned().collect()
}

/// Converts an entry of the response. The date is not a field of its own; it is in the metadata of
/// the page, if Google has that.
fn parse_item(item: &Json) -> Option<SearchHit> {
    let tags = &item["pagemap"]["metatags"][0];
    // From the structured data of the page (schema.org), which fewer pages have.
    let article = &item["pagemap"]["article"][0]["datepublished"];
    let named = DATES.iter().map(|name| &tags[*name]).chain([article]);
    let date = named.filter_map(Json::as_str).find_map(dates::to_rfc3339);
    search_hit(&item["title"], &item["link"], &item["snippet"], date)
}

#[cfg(test)]
mod tests {
    use super::{SearchHit, round_robin};

    #[test]
    fn lists_are_merged_in_turn() {
        let list = |urls: &str| {
            let hit = |url: &str| SearchHit {
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
