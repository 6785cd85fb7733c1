//! Both searches against a server that sends responses in the form of the providers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value as Json, json};
use toolwright_web::search::{Brave, Google, SearchContext, SearchProvider, SearchQuery};
use url::Url;

use crate::executables::{BRAVE, GOOGLE, ToolRun, run};
use crate::http_server::{Authority, PageServer, Wire, hold_open, response};
use crate::in_time;

const KEY: &str = "k3y-that-must-not-be-seen";
const ENGINE: &str = "engine-0123";
const NO_BRAVE: &str = "Authentication required: BRAVE_API_KEY not found. Set environment variable or create ~/.config/ikigai/brave-api-key file. Get API key from https://brave.com/search/api/";
const NO_GOOGLE: &str = "Authentication required: GOOGLE_SEARCH_API_KEY or GOOGLE_SEARCH_ENGINE_ID not found. Set environment variables or create ~/.config/ikigai/google-api-key and ~/.config/ikigai/google-engine-id files. Get credentials from https://developers.google.com/custom-search";

/// A response in the form of the Brave Search API, with fields that are not used and results that
/// lack some.
fn brave_response() -> Json {
    json!({
        "type": "search",
        "query": {"original": "tides", "more_results_available": true},
        "web": {"type": "search", "results": [
            {"title": "Tides &amp; <strong>currents</strong>", "url": "https://www.harbour.example/tides",
             "is_source_local": false, "description": "High <strong>tide</strong> at noon.\n &quot;Low&quot; at six.",
             "page_age": "2026-01-16T12:00:00", "age": "January 16, 2026", "language": "en",
             "profile": {"name": "Harbour"}, "extra_snippets": ["more"]},
            {"title": "No date", "url": "https://spam.example/x", "description": "d"},
            {"title": "Only a day", "url": "https://docs.harbour.example/", "description": "", "page_age": "2025-12-31"},
            {"title": "Bad date", "url": "https://other.example/", "page_age": "yesterday"},
            {"title": "No address", "description": "is no result"},
            {"url": "https://bare.example/"}
        ]},
        "mixed": {"main": []}
    })
}

/// A response in the form of the Google Custom Search API.
fn google_response() -> Json {
    let item = |title: &str, link: &str, pagemap: Json| {
        json!({"kind": "customsearch#result", "title": title, "htmlTitle": "<b>x</b>", "link": link,
               "snippet": "Snippet &amp; <b>more</b> ...", "pagemap": pagemap})
    };
    json!({
        "kind": "customsearch#search",
        "searchInformation": {"totalResults": "4"},
        "items": [
            item("One", "https://a.example/1", json!({"metatags": [{"article:published_time": "2026-01-16T12:00:00+01:00", "date": "2020-01-01"}]})),
            item("Two", "https://www.a.example/2", json!({"metatags": [{"date": "2025-05-05"}]})),
            item("Three", "https://b.example/3", json!({"article": [{"datepublished": "2024-04-04"}], "metatags": [{"og:title": "x"}]})),
            item("Four", "https://c.example/4", json!({})),
        ]
    })
}

fn json_response(status: &str, body: &Json) -> Vec<u8> {
    response(status, &["Content-Type: application/json"], body.to_string())
}

/// Runs a search with credentials against a server, and checks that they are in no output.
fn search(program: &str, server: &PageServer, input: &Json) -> ToolRun {
    let base = server.url("");
    let variables = [
        ("BRAVE_API_KEY", KEY),
        ("GOOGLE_SEARCH_API_KEY", KEY),
        ("GOOGLE_SEARCH_ENGINE_ID", ENGINE),
        ("TOOLWRIGHT_BRAVE_URL", base.as_str()),
        ("TOOLWRIGHT_GOOGLE_URL", base.as_str()),
    ];
    let run = run(program, &[], &variables, &input.to_string());
    for secret in [KEY, ENGINE] {
        assert!(!run.stdout.contains(secret) && !run.stderr.contains(secret), "{run:?}");
    }
    run
}

fn titles(run: &ToolRun) -> Vec<String> {
    let json = run.json();
    let results = json["results"].as_array().unwrap_or_else(|| panic!("{run:?}"));
    results.iter().map(|hit| hit["title"].as_str().unwrap_or_default().to_owned()).collect()
}

fn parameters(head: &str) -> Vec<(String, String)> {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let url = Url::parse("http://x").and_then(|base| base.join(path)).expect("a URL");
    url.query_pairs().into_owned().collect()
}

#[test]
fn brave_results_are_converted_and_filtered() {
    let server = PageServer::fixed(json_response("200 OK", &brave_response()));
    let run = search(BRAVE, &server, &json!({"query": "tides & currents", "more": 1}));
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.json(),
        json!({"results": [
            {"title": "Tides & currents", "url": "https://www.harbour.example/tides",
             "description": "High tide at noon. \"Low\" at six.", "published_date": "2026-01-16T12:00:00Z"},
            {"title": "No date", "url": "https://spam.example/x", "description": "d"},
            {"title": "Only a day", "url": "https://docs.harbour.example/", "description": "",
             "published_date": "2025-12-31T00:00:00Z"},
            {"title": "Bad date", "url": "https://other.example/", "description": ""},
            {"title": "", "url": "https://bare.example/", "description": ""}
        ]})
    );
    let head = server.requests().remove(0);
    assert!(head.starts_with("GET /res/v1/web/search?"), "{head}");
    let lower = head.to_ascii_lowercase();
    assert!(
        lower.contains(&format!("\r\nx-subscription-token: {KEY}\r\n"))
            && lower.contains("\r\naccept: application/json\r\n")
    );
    let expected =
        [("q", "tides & currents"), ("count", "20")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(parameters(&head), expected);
    for (allowed, blocked, expected) in [
        (json!(["harbour.example"]), json!([]), vec!["Tides & currents", "Only a day"]),
        (
            json!(["HTTPS://Harbour.example/path"]),
            json!(["docs.harbour.example"]),
            vec!["Tides & currents"],
        ),
        (json!([]), json!(["harbour.example", "spam.example", "bare.example"]), vec!["Bad date"]),
        (json!(["nothing.example"]), json!([]), vec![]),
    ] {
        let input =
            json!({"query": "tides", "allowed_domains": allowed, "blocked_domains": blocked});
        assert_eq!(titles(&search(BRAVE, &server, &input)), expected, "{input}");
    }
}

#[test]
fn google_results_are_converted() {
    let server = PageServer::fixed(json_response("200 OK", &google_response()));
    let run = search(GOOGLE, &server, &json!({"query": "tides"}));
    let snippet = "Snippet & more ...";
    assert_eq!(
        run.json(),
        json!({"results": [
            {"title": "One", "url": "https://a.example/1", "description": snippet, "published_date": "2026-01-16T11:00:00Z"},
            {"title": "Two", "url": "https://www.a.example/2", "description": snippet, "published_date": "2025-05-05T00:00:00Z"},
            {"title": "Three", "url": "https://b.example/3", "description": snippet, "published_date": "2024-04-04T00:00:00Z"},
            {"title": "Four", "url": "https://c.example/4", "description": snippet}
        ]})
    );
    let head = server.requests().remove(0);
    assert!(head.starts_with("GET /customsearch/v1?"), "{head}");
    let expected = [("key", KEY), ("cx", ENGINE), ("q", "tides"), ("num", "10"), ("start", "1")];
    assert_eq!(parameters(&head), expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
}

#[test]
fn google_gets_one_request_for_each_allowed_domain() {
    let answer = |head: &str, wire: &mut dyn Wire| {
        let site = parameters(head)
            .into_iter()
            .find(|(name, _)| name == "siteSearch")
            .map(|(_, value)| value);
        let item = |n: u8, host: &str| json!({"title": format!("{host} {n}"), "link": format!("https://{host}/{n}"), "snippet": ""});
        let body = match site.as_deref() {
            Some("fails.example") => {
                return drop(wire.write_all(&json_response("500 Oops", &json!({}))));
            }
            Some(site) => json!({"items": [item(1, site), item(2, site), item(1, "both.example")]}),
            None => json!({}),
        };
        let _ = wire.write_all(&json_response("200 OK", &body));
    };
    let sites = |server: &PageServer| -> Vec<(String, String)> {
        let heads = server.requests();
        let of = |head: &String| {
            let find = |name: &str| {
                parameters(head)
                    .into_iter()
                    .find(|(key, _)| key == name)
                    .map(|(_, value)| value)
                    .unwrap_or_default()
            };
            (find("siteSearch"), find("siteSearchFilter"))
        };
        heads.iter().map(of).collect()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    for (allowed, blocked, asked, expected) in [
        (
            json!(["a.example"]),
            json!([]),
            vec![pair("a.example", "i")],
            vec!["a.example 1", "a.example 2"],
        ),
        (
            json!(["a.example", "https://B.example/x", "a.example"]),
            json!([]),
            vec![pair("a.example", "i"), pair("b.example", "i")],
            vec!["a.example 1", "b.example 1", "a.example 2", "b.example 2"],
        ),
        (
            json!(["a.example", "fails.example"]),
            json!([]),
            vec![pair("a.example", "i"), pair("fails.example", "i")],
            vec!["a.example 1", "a.example 2"],
        ),
        (json!([]), json!(["a.example"]), vec![pair("a.example", "e")], vec!["both.example 1"]),
        (json!([]), json!(["a.example", "b.example"]), vec![pair("", "")], vec![]),
        (
            json!(["a.example", "both.example"]),
            json!(["both.example"]),
            vec![pair("a.example", "i"), pair("both.example", "i")],
            vec!["a.example 1", "a.example 2"],
        ),
    ] {
        let server = PageServer::start(answer);
        let input =
            json!({"query": "tides", "allowed_domains": allowed, "blocked_domains": blocked});
        let run = search(GOOGLE, &server, &input);
        assert_eq!(titles(&run), expected, "{input}");
        assert_eq!(sites(&server), asked, "{input}");
    }
    // If every request fails, the search fails; it does not return an empty list.
    let server = PageServer::start(answer);
    let run =
        search(GOOGLE, &server, &json!({"query": "tides", "allowed_domains": ["fails.example"]}));
    assert_eq!(run.error(), "Google Custom Search answered HTTP 500");
}

#[test]
fn domains_that_fail_are_named_and_more_than_ten_are_refused() {
    let server = PageServer::start(|head, wire| {
        let _ = match head.contains("siteSearch=fails.example") {
            true => wire.write_all(&response("500 Oops", &[], "")),
            false => wire.write_all(&json_response("200 OK", &google_response())),
        };
    });
    let input = json!({"query": "ab", "allowed_domains": ["a.example", "fails.example"]});
    let run = search(GOOGLE, &server, &input);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stderr,
        "web-search-google-tool: no results from `fails.example`: Google Custom Search answered \
         HTTP 500\n"
    );
    let domains: Vec<String> = (0..11).map(|n| format!("{n}.example")).collect();
    let requests = server.connections();
    let run = search(GOOGLE, &server, &json!({"query": "ab", "allowed_domains": domains}));
    assert_eq!(
        run.error(),
        "`allowed_domains` has 11 domains; Google Custom Search takes at most 10, because each is \
         a request of its own"
    );
    assert_eq!(server.connections(), requests);
}

#[test]
fn googles_reason_for_a_rejection_is_passed_on() {
    let body = json!({"error": {"code": 403, "message": format!("Quota exceeded for key {KEY}")}});
    let server = PageServer::fixed(json_response("403 Forbidden", &body));
    let error = search(GOOGLE, &server, &json!({"query": "ab"})).error();
    assert!(
        error.ends_with("Google Custom Search answered: Quota exceeded for key ***"),
        "{error}"
    );
    // Where Google says that it is the quota, no advice about keys is given.
    for error in [
        json!({"message": "Quota exceeded", "errors": [{"reason": "dailyLimitExceeded"}]}),
        json!({"message": "Quota exceeded", "details": [{"reason": "RATE_LIMIT_EXCEEDED"}]}),
        json!({"message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}),
    ] {
        let body = json!({ "error": error });
        let server = PageServer::fixed(json_response("403 Forbidden", &body));
        assert_eq!(
            search(GOOGLE, &server, &json!({"query": "ab"})).error(),
            "Google Custom Search has no quota left (HTTP 403): Quota exceeded"
        );
    }
}

#[test]
fn empty_responses_are_empty_lists() {
    for body in [
        json!({}),
        json!({"web": {}}),
        json!({"web": {"results": []}, "items": []}),
        json!({"items": null, "web": null}),
    ] {
        let server = PageServer::fixed(json_response("200 OK", &body));
        for program in [BRAVE, GOOGLE] {
            assert_eq!(
                search(program, &server, &json!({"query": "ab"})).json(),
                json!({"results": []}),
                "{body}"
            );
        }
    }
}

#[test]
fn errors_of_providers_become_messages_without_credentials() {
    let brave_error = json!({"type": "ErrorResponse", "error": {"code": "X", "detail": format!("bad token {KEY}"), "status": 422}});
    let google_error = json!({"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID"}});
    let rejected_brave = NO_BRAVE.replace("not found", "rejected");
    let rejected_google = NO_GOOGLE.replace("not found", "rejected");
    for (bytes, brave, google) in [
        (response("401 Unauthorized", &[], "no"), rejected_brave.clone(), rejected_google.clone()),
        (
            json_response("403 Forbidden", &google_error),
            format!("{rejected_brave} Brave Search answered: Request contains an invalid argument."),
            format!("{rejected_google} Google Custom Search answered: Request contains an invalid argument."),
        ),
        (
            response("429 Too Many", &["Retry-After: 17"], "{}"),
            "Brave Search received too many requests (HTTP 429); retry after 17 seconds".to_owned(),
            "Google Custom Search received too many requests (HTTP 429); retry after 17 seconds".to_owned(),
        ),
        (
            response("429 Too Many", &[], "slow down"),
            "Brave Search received too many requests (HTTP 429)".to_owned(),
            "Google Custom Search received too many requests (HTTP 429)".to_owned(),
        ),
        (
            json_response("422 Bad", &brave_error),
            "Brave Search answered HTTP 422: bad token ***".to_owned(),
            "Google Custom Search answered HTTP 422: bad token ***".to_owned(),
        ),
        (
            json_response("400 Bad", &google_error),
            "Brave Search answered HTTP 400: Request contains an invalid argument.".to_owned(),
            "Google Custom Search answered HTTP 400: Request contains an invalid argument.".to_owned(),
        ),
        (
            json_response("422 Bad", &json!({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The provided token is invalid."}})),
            rejected_brave.clone(),
            rejected_google.clone(),
        ),
        (
            json_response("400 Bad", &json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
                "errors": [{"reason": "badRequest"}], "status": "INVALID_ARGUMENT"}})),
            rejected_brave.clone(),
            rejected_google.clone(),
        ),
        (
            json_response("400 Bad", &json!({"error": {"message": "no", "details": [{"reason": "API_KEY_INVALID"}]}})),
            rejected_brave,
            rejected_google,
        ),
        (
            response("429 Too Many", &["Retry-After: Wed, 21 Oct 2026 07:28:00 GMT"], "{}"),
            "Brave Search received too many requests (HTTP 429); retry after Wed, 21 Oct 2026 07:28:00 GMT".to_owned(),
            "Google Custom Search received too many requests (HTTP 429); retry after Wed, 21 Oct 2026 07:28:00 GMT".to_owned(),
        ),
        (
            response("429 Too Many", &["Retry-After:"], "{}"),
            "Brave Search received too many requests (HTTP 429)".to_owned(),
            "Google Custom Search received too many requests (HTTP 429)".to_owned(),
        ),
        (
            response("429 Too Many", &["Retry-After: soon1"], "{}"),
            "Brave Search received too many requests (HTTP 429)".to_owned(),
            "Google Custom Search received too many requests (HTTP 429)".to_owned(),
        ),
        (
            json_response("200 OK", &json!([])),
            "Brave Search sent a response that is not a JSON object".to_owned(),
            "Google Custom Search sent a response that is not a JSON object".to_owned(),
        ),
        (
            response("500 Oops", &[], "<html>oops</html>"),
            "Brave Search answered HTTP 500".to_owned(),
            "Google Custom Search answered HTTP 500".to_owned(),
        ),
        (
            response("302 Found", &["Location: https://elsewhere.example/"], ""),
            "Brave Search answered HTTP 302".to_owned(),
            "Google Custom Search answered HTTP 302".to_owned(),
        ),
        (
            response("200 OK", &[], ""),
            "Brave Search sent an empty response".to_owned(),
            "Google Custom Search sent an empty response".to_owned(),
        ),
        (
            response("200 OK", &[], "{\"web\": {\"results\": ["),
            "Brave Search sent a response that is not JSON".to_owned(),
            "Google Custom Search sent a response that is not JSON".to_owned(),
        ),
    ] {
        let server = PageServer::fixed(bytes);
        assert_eq!(search(BRAVE, &server, &json!({"query": "ab"})).error(), brave);
        assert_eq!(search(GOOGLE, &server, &json!({"query": "ab"})).error(), google);
    }
    for dropped in ["", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", "nonsense\r\n\r\n"] {
        let server = PageServer::fixed(dropped);
        for (program, name) in
            [(BRAVE, "Brave Search failed: "), (GOOGLE, "Google Custom Search failed: ")]
        {
            let error = search(program, &server, &json!({"query": "ab"})).error();
            assert!(error.starts_with(name), "{error}");
        }
    }
}

#[test]
fn a_search_ends_when_the_provider_does_not_answer() {
    let server = PageServer::start(|_, wire| hold_open(wire));
    for (provider, expected) in [
        (&Brave as &'static dyn SearchProvider, "Brave Search timed out"),
        (&Google, "Google Custom Search timed out"),
    ] {
        let base = server.url("");
        let error = in_time(move || {
            let variable = |name: &str| match name.to_ascii_uppercase() {
                proxy if proxy.ends_with("PROXY") => None,
                url if url.ends_with("_URL") => Some(base.clone()),
                _ => Some(KEY.to_owned()),
            };
            let context = SearchContext { variable: &variable, credential_file: &|_| None };
            let query = SearchQuery {
                text: "ab".to_owned(),
                timeout: Duration::from_millis(500),
                ..SearchQuery::default()
            };
            provider.search(&query, &context).unwrap_err()
        });
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn credentials_come_from_variables_then_files() {
    let server = PageServer::fixed(json_response("200 OK", &json!({})));
    let base = server.url("");
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/ikigai");
    std::fs::create_dir_all(&folder).unwrap();
    let write =
        |name: &str, text: &str| std::fs::write(Path::new(&folder).join(name), text).unwrap();
    let go = |program: &str, variables: &[(&str, &str)]| {
        let mut all = vec![
            ("HOME", home.path().to_str().unwrap()),
            ("TOOLWRIGHT_BRAVE_URL", base.as_str()),
            ("TOOLWRIGHT_GOOGLE_URL", base.as_str()),
        ];
        all.extend_from_slice(variables);
        run(program, &[], &all, r#"{"query": "ab"}"#)
    };
    for blank in ["", "  "] {
        assert_eq!(go(BRAVE, &[("BRAVE_API_KEY", blank)]).error(), NO_BRAVE);
        assert_eq!(
            go(GOOGLE, &[("GOOGLE_SEARCH_API_KEY", KEY), ("GOOGLE_SEARCH_ENGINE_ID", blank)])
                .error(),
            NO_GOOGLE
        );
        assert_eq!(
            go(GOOGLE, &[("GOOGLE_SEARCH_API_KEY", blank), ("GOOGLE_SEARCH_ENGINE_ID", ENGINE)])
                .error(),
            NO_GOOGLE
        );
        write("brave-api-key", blank);
    }
    assert_eq!(go(BRAVE, &[]).error(), NO_BRAVE);
    assert_eq!(server.connections(), 0);
    write("brave-api-key", "\u{feff}from-file\n");
    write("google-api-key", "from-file\n");
    write("google-engine-id", "engine-from-file\n");
    let asked = || server.requests().pop().unwrap();
    assert_eq!(go(BRAVE, &[]).code, 0);
    assert!(asked().to_ascii_lowercase().contains("x-subscription-token: from-file\r\n"));
    assert_eq!(go(BRAVE, &[("BRAVE_API_KEY", "from-variable")]).code, 0);
    assert!(asked().to_ascii_lowercase().contains("x-subscription-token: from-variable\r\n"));
    assert_eq!(go(GOOGLE, &[("GOOGLE_SEARCH_API_KEY", "from-variable")]).code, 0);
    assert!(asked().contains("key=from-variable&cx=engine-from-file&"));
    // Without HOME, there are no credential files.
    let without_home =
        run(BRAVE, &[], &[("TOOLWRIGHT_BRAVE_URL", base.as_str())], r#"{"query": "ab"}"#);
    assert_eq!(without_home.error(), NO_BRAVE);
}

#[test]
fn credentials_in_results_are_replaced_by_stars() {
    let url = format!("https://a.example/?key={KEY}");
    let body = json!({
        "web": {"results": [{"title": format!("your key {KEY}"), "url": url, "description": format!("<b>{KEY}</b>")}]},
        "items": [{"title": format!("your key {KEY}"), "link": url, "snippet": format!("and {ENGINE}")}]
    });
    let server = PageServer::fixed(json_response("200 OK", &body));
    for program in [BRAVE, GOOGLE] {
        let run = search(program, &server, &json!({"query": "ab"}));
        assert_eq!(titles(&run), ["your key ***"], "{run:?}");
        assert_eq!(run.json()["results"][0]["url"], "https://a.example/?key=***");
    }
    // A key of one letter is not replaced: every message would be full of stars.
    let base = PageServer::fixed(response("500 Oops", &[], "")).url("");
    let variables = [("BRAVE_API_KEY", "e"), ("TOOLWRIGHT_BRAVE_URL", base.as_str())];
    let run = run(BRAVE, &[], &variables, r#"{"query": "ab"}"#);
    assert_eq!(run.error(), "Brave Search answered HTTP 500");
}

#[test]
fn titles_about_tags_keep_them() {
    let title = "<b>: The Bring Attention To element";
    let body = json!({
        "web": {"results": [{"title": title.replace('<', "&lt;").replace('>', "&gt;"), "url": "https://a.example/"}]},
        "items": [{"title": title, "link": "https://a.example/"}]
    });
    let server = PageServer::fixed(json_response("200 OK", &body));
    for program in [BRAVE, GOOGLE] {
        assert_eq!(titles(&search(program, &server, &json!({"query": "ab"}))), [title]);
    }
}

#[test]
fn both_searches_over_https() {
    let authority = Authority::new();
    let bodies =
        Arc::new(json!({"web": brave_response()["web"], "items": google_response()["items"]}));
    let server = PageServer::start_tls(&authority, move |_, wire| {
        drop(wire.write_all(&json_response("200 OK", &bodies)))
    });
    let base = server.url("");
    let file = authority.file();
    let variables = [
        ("BRAVE_API_KEY", KEY),
        ("GOOGLE_SEARCH_API_KEY", KEY),
        ("GOOGLE_SEARCH_ENGINE_ID", ENGINE),
        ("TOOLWRIGHT_BRAVE_URL", base.as_str()),
        ("TOOLWRIGHT_GOOGLE_URL", base.as_str()),
        ("SSL_CERT_FILE", file.to_str().unwrap()),
    ];
    for (program, count) in [(BRAVE, 5), (GOOGLE, 4)] {
        let run = run(program, &[], &variables, r#"{"query": "tides"}"#);
        assert_eq!(titles(&run).len(), count, "{run:?}");
    }
    // An untrusted certificate, an unknown host, a closed port: no message contains the key.
    for (program, name) in
        [(BRAVE, "Brave Search failed: "), (GOOGLE, "Google Custom Search failed: ")]
    {
        for base in [
            server.url(""),
            "http://no-such-name.invalid".to_owned(),
            "https://127.0.0.1:1".to_owned(),
        ] {
            let variables = variables
                .map(|(k, v)| if k.ends_with("_URL") { (k, base.as_str()) } else { (k, v) });
            let other = Authority::new();
            let other = other.file();
            let variables = variables.map(|(k, v)| {
                if k == "SSL_CERT_FILE" { (k, other.to_str().unwrap()) } else { (k, v) }
            });
            let error = run(program, &[], &variables, r#"{"query": "tides"}"#).error();
            assert!(
                error.starts_with(name) && !error.contains(KEY) && !error.contains(ENGINE),
                "{error}"
            );
        }
    }
    let bad = run(
        BRAVE,
        &[],
        &[("BRAVE_API_KEY", KEY), ("TOOLWRIGHT_BRAVE_URL", "no url")],
        r#"{"query": "tides"}"#,
    );
    assert_eq!(bad.error(), "TOOLWRIGHT_BRAVE_URL is not a URL");
    let newline = run(
        BRAVE,
        &[],
        &[("BRAVE_API_KEY", "a\nb"), ("TOOLWRIGHT_BRAVE_URL", &server.url(""))],
        r#"{"query": "tides"}"#,
    );
    assert!(!newline.error().contains("a\nb"));
}
