//! Brave Search API: one request, filtered here.

use serde_json::Value as Json;

use super::{Domains, Exchange, Hit, Provider, Query, SearchError, Surroundings, dates, hit};

/// What is said without a key.
const MISSING: &str = "Authentication required: BRAVE_API_KEY not found. Set environment variable or create ~/.config/ikigai/brave-api-key file. Get API key from https://brave.com/search/api/";

/// The provider behind `web_search_brave`.
#[derive(Clone, Copy, Debug)]
pub struct Brave;

impl Provider for Brave {
    fn id(&self) -> &'static str {
        "brave"
    }

    fn title(&self) -> &'static str {
        "Brave Search API"
    }

    fn search(&self, query: &Query, surroundings: &Surroundings) -> Result<Vec<Hit>, SearchError> {
        let domains = Domains::new(query)?;
        let key = surroundings
            .credential("BRAVE_API_KEY", "brave-api-key")
            .ok_or_else(|| SearchError(MISSING.to_owned()))?;
        let base = surroundings.base_url("TOOLWRIGHT_BRAVE_URL", "https://api.search.brave.com")?;
        let mut url = base
            .join("/res/v1/web/search")
            .map_err(|_| SearchError("invalid base URL".to_owned()))?;
        url.query_pairs_mut().append_pair("q", &query.text).append_pair("count", "20");
        let secrets = [key.as_str()];
        let exchange =
            Exchange::new("Brave Search", MISSING, &secrets, surroundings, query.timeout);
        let answer = exchange
            .get(&url, &[("accept", "application/json"), ("x-subscription-token", key.as_str())])?;
        let results = answer["web"]["results"].as_array().map(Vec::as_slice).unwrap_or_default();
        let hits = results.iter().filter_map(read).filter(|hit| domains.permit(&hit.url));
        Ok(hits.map(|hit| exchange.redacted(hit)).collect())
    }
}

fn read(result: &Json) -> Option<Hit> {
    let date = result["page_age"].as_str().and_then(dates::rfc3339);
    hit(&result["title"], &result["url"], &result["description"], date)
}
