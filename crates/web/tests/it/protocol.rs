//! The process protocol, which all three tools share: schema, help, bad input.

use serde_json::{Value as Json, json};

use crate::executables::{BRAVE, FETCH, GOOGLE, run};

fn schema(program: &str) -> Json {
    let run = run(program, &["--schema"], &[], "");
    assert_eq!(run.code, 0);
    assert!(run.stdout.len() < 8 << 10);
    run.json()
}

#[test]
fn schemas_are_those_of_the_specification() {
    let domains = |description: &str| json!({"type": "array", "items": {"type": "string"}, "description": description});
    let brave = json!({
        "name": "web_search_brave",
        "description": "Search the web using Brave Search API and use the results to inform responses. Provides up-to-date information for current events and recent data. Returns search result information formatted as search result blocks, including links as markdown hyperlinks.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The search query to use", "minLength": 2},
                "allowed_domains": domains("Only include search results from these domains"),
                "blocked_domains": domains("Never include search results from these domains")
            },
            "required": ["query"]
        }
    });
    assert_eq!(schema(BRAVE), brave);
    let fetch = json!({
        "name": "web_fetch",
        "description": "Fetches content from a specified URL and returns it as markdown. Converts HTML to markdown using libxml2. Supports pagination via offset and limit parameters similar to file_read.",
        "parameters": {
            "type": "object",
            "properties": {
                "url": {"type": "string", "format": "uri", "description": "The URL to fetch content from"},
                "offset": {"type": "integer", "description": "Line number to start reading from (1-based)", "minimum": 1},
                "limit": {"type": "integer", "description": "Maximum number of lines to return", "minimum": 1}
            },
            "required": ["url"]
        }
    });
    assert_eq!(schema(FETCH), fetch);
}

#[test]
fn the_two_searches_differ_in_name_and_provider_only() {
    let text = |program: &str| run(program, &["--schema"], &[], "").stdout;
    let (brave, google) = (text(BRAVE), text(GOOGLE));
    assert_ne!(brave, google);
    let neutral = brave.replacen("\"web_search_brave\"", "\"web_search_google\"", 1).replacen(
        "Brave Search API",
        "Google Custom Search API",
        1,
    );
    assert_eq!(neutral, google, "byte for byte");
}

#[test]
fn help_and_version_are_printed_as_text() {
    for (program, name) in [
        (FETCH, "web-fetch-tool"),
        (BRAVE, "web-search-brave-tool"),
        (GOOGLE, "web-search-google-tool"),
    ] {
        let help = run(program, &["--help"], &[], "");
        assert_eq!(help.code, 0);
        assert!(help.stdout.contains(&format!("Usage: {name}")), "{help:?}");
        assert_eq!(help.stdout.contains("--allow-private"), program == FETCH);
        let version = run(program, &["--version"], &[], "");
        assert_eq!(version.stdout, format!("{name} {}\n", env!("CARGO_PKG_VERSION")));
        let unknown = run(program, &["--nonsense"], &[], "{}");
        assert!(unknown.error().contains("unknown argument `--nonsense`"));
    }
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for program in [FETCH, BRAVE, GOOGLE] {
        for argument in ["--schema", "--help", "--version"] {
            let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
            let mut command = std::process::Command::new(program);
            let output = command.arg(argument).stdout(full).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{program} {argument}");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("cannot write the response: "), "{said}");
        }
    }
}

#[test]
fn input_that_is_not_a_json_object_is_an_error() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("{{\"query\": \"{}\"}}", "x".repeat(2 << 20));
    for (input, expected) in [
        ("", "the input is empty"),
        ("\u{feff}[]", "the input is not a JSON object"),
        ("  \n ", "the input is empty"),
        ("query", "the input is not JSON"),
        ("{\"query\":", "the input is not JSON"),
        ("{} {}", "the input is not JSON"),
        ("\u{1}", "the input is not JSON"),
        (&deep, "the input is not JSON"),
        (&long, "the input is larger than 1 MiB"),
        ("[]", "the input is not a JSON object"),
        ("null", "the input is not a JSON object"),
        ("\"text\"", "the input is not a JSON object"),
    ] {
        for program in [FETCH, BRAVE, GOOGLE] {
            let error = run(program, &[], &[], input).error();
            assert!(error.starts_with(expected), "{error} for {:.40}", input);
        }
    }
}

#[test]
fn errors_name_the_invalid_field_of_a_search() {
    for (input, expected) in [
        (json!({}), "`query` is missing"),
        (json!({"query": null}), "`query` is not a string"),
        (json!({"query": 7}), "`query` is not a string"),
        (json!({"query": ["a"]}), "`query` is not a string"),
        (json!({"query": ""}), "`query` is empty"),
        (json!({"query": "   "}), "`query` is empty"),
        (json!({"query": "x"}), "`query` is shorter than 2 characters"),
        (json!({"query": "é"}), "`query` is shorter than 2 characters"),
        (
            json!({"query": "ab", "allowed_domains": "a.com"}),
            "`allowed_domains` is not a list of strings",
        ),
        (
            json!({"query": "ab", "allowed_domains": [1]}),
            "`allowed_domains` is not a list of strings",
        ),
        (
            json!({"query": "ab", "blocked_domains": {}}),
            "`blocked_domains` is not a list of strings",
        ),
        (
            json!({"query": "ab", "blocked_domains": null}),
            "`blocked_domains` is not a list of strings",
        ),
        (
            json!({"query": "ab", "allowed_domains": ["a.com", "exa mple"]}),
            "`allowed_domains` contains `exa mple`, which is not a domain",
        ),
        (
            json!({"query": "ab", "blocked_domains": ["site:a.com"]}),
            "`blocked_domains` contains `site:a.com`, which is not a domain",
        ),
        (
            json!({"query": "ab", "blocked_domains": ["a.*"]}),
            "`blocked_domains` contains `a.*`, which is not a domain",
        ),
        (
            json!({"query": "ab", "blocked_domains": ["https://"]}),
            "`blocked_domains` contains `https://`, which is not a domain",
        ),
    ] {
        for program in [BRAVE, GOOGLE] {
            assert_eq!(run(program, &[], &[], &input.to_string()).error(), expected, "{input}");
        }
    }
}

#[test]
fn errors_name_the_invalid_field_of_a_fetch() {
    let url = "http://127.0.0.1:1/";
    for (input, expected) in [
        (json!({}), "`url` is missing"),
        (json!({"url": 1}), "`url` is not a string"),
        (json!({"url": " "}), "`url` is empty"),
        (json!({"url": url, "offset": 0}), "`offset` is not a whole number greater than 0"),
        (json!({"url": url, "offset": -1}), "`offset` is not a whole number greater than 0"),
        (json!({"url": url, "offset": 1.5}), "`offset` is not a whole number greater than 0"),
        (json!({"url": url, "offset": "1"}), "`offset` is not a whole number greater than 0"),
        (json!({"url": url, "limit": null}), "`limit` is not a whole number greater than 0"),
        (json!({"url": url, "limit": 0}), "`limit` is not a whole number greater than 0"),
        (
            json!({"url": "example.com/page"}),
            "Failed to fetch URL: invalid URL: it has no scheme; write `https://…`",
        ),
        (json!({"url": "http://"}), "Failed to fetch URL: invalid URL: empty host"),
        (json!({"url": "https:///"}), "Failed to fetch URL: invalid URL: empty host"),
        (
            json!({"url": "file:///etc/passwd"}),
            "Failed to fetch URL: `file` URLs are not supported, only `http` and `https`",
        ),
        (
            json!({"url": "javascript:alert(1)"}),
            "Failed to fetch URL: `javascript` URLs are not supported, only `http` and `https`",
        ),
        (
            json!({"url": "data:text/html,x"}),
            "Failed to fetch URL: `data` URLs are not supported, only `http` and `https`",
        ),
        (
            json!({"url": "ftp://example.com/"}),
            "Failed to fetch URL: `ftp` URLs are not supported, only `http` and `https`",
        ),
        (
            json!({"url": "http://user:secret@example.com/"}),
            "Failed to fetch URL: URLs with credentials are not supported",
        ),
        (
            json!({"url": "http://user@example.com/"}),
            "Failed to fetch URL: URLs with credentials are not supported",
        ),
        (
            json!({"url": "http://example.com:0/"}),
            "Failed to fetch URL: invalid URL: port 0 cannot be connected to",
        ),
        (
            json!({"url": "http://example.com:99999/"}),
            "Failed to fetch URL: invalid URL: invalid port number",
        ),
        (
            json!({"url": "http://exa mple.com/"}),
            "Failed to fetch URL: invalid URL: invalid international domain name",
        ),
    ] {
        assert_eq!(
            run(FETCH, &["--allow-private"], &[], &input.to_string()).error(),
            expected,
            "{input}"
        );
    }
}
