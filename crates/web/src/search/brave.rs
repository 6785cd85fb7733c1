//! Brave Search API: one request for 20 results, the most it gives. It cannot filter by domain, so
//! the results are filtered afterwards and may be fewer.

use serde_json::Value as Json;

use super::{
    DomainFilter, ProviderClient, SearchContext, SearchError, SearchHit, SearchProvider,
    SearchQuery, SearchResults, dates, search_hit,
};

/// The error without a key, prescribed by the tool's specification.
const MISSING: &str = "Authentication required: BRAVE_API_KEY not found. Set environment variable \
    or create ~/.config/ikigai/brave-api-key file. Get API key from https://brave.com/search/api/";

/// The provider behind `web_search_brave`.
#[derive(Clone, Copy, Debug)]
pub struct Brave;

impl SearchProvider for Brave {
    fn id(&self) -> &'static str {
        "brave"
    }

    fn title(&self) -> &'static str {
        "Brave Search API"
    }

    fn has_credentials(&self, context: &SearchContext) -> bool {
        key(context).is_some()
    }

    fn search(
        &self,
        query: &SearchQuery,
        context: &SearchContext,
    ) -> Result<SearchResults, SearchError> {
        // Checked before the key: an agent can repair its arguments, not the environment.
        let domains = DomainFilter::new(query)?;
        let key = key(context).ok_or_else(|| SearchError(MISSING.to_owned()))?;
        let mut url = context.endpoint(
            "TOOLWRIGHT_BRAVE_URL",
            "https://api.search.brave.com",
            "/res/v1/web/search",
        )?;
        url.query_pairs_mut().append_pair("q", &query.text).append_pair("count", "20");
        let secrets = [key.as_str()];
        let client = ProviderClient::new("Brave Search", MISSING, &secrets, context, query.timeout);
        let response = client
            .get(&url, &[("accept", "application/json"), ("x-subscription-token", key.as_str())])?;
        // `web` is missing if there are only results of other kinds, such as videos.
        let results = response["web"]["results"].as_array().map(Vec::as_slice).unwrap_or_default();
        let hits = results.iter().filter_map(parse_result).filter(|hit| domains.permits(&hit.url));
        let hits = hits.map(|hit| client.redacted(hit)).collect();
        Ok(SearchResults { hits, failures: Vec::new() })
    }
}

/// From the variable, else from the file in the home of the user.
fn key(context: &SearchContext) -> Option<String> {
    context.credential("BRAVE_API_KEY", "brave-api-key")
}

/// Converts an entry of the response. `page_age` is a date in spite of its name; `age` is text for
/// people ("3 days ago").
fn parse_result(result: &Json) -> Option<SearchHit> {
    let date = result["page_age"].as_str().and_then(dates::to_rfc3339);
    search_hit(&result["title"], &result["url"], &result["description"], date)
}
