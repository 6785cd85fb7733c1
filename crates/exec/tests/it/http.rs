//! Tools of MCP servers over HTTP.

use futures::future::join_all;

use crate::mcp::{ProgressRecorder, steps};
use crate::support::*;

/// The time limit of calls that must exceed it, in milliseconds.
const SHORT: u64 = 2_500;

/// A server in this mode, and a runner with its tools as `it:TOOL`.
async fn serve(mode: &str, headers: &[(&str, &str)]) -> (TestHttpServer, TestServer, TestRunner) {
    let test = TestRunner::with([]);
    let http = TestHttpServer::start(mode).await;
    let server = TestServer::http("it", &http.url, headers);
    let test = test.tools(server.tools());
    (http, server, test)
}

#[tokio::test]
async fn every_mode_ends_with_its_code() {
    let late = "TIMEOUT: ";
    let unready = "UPSTREAM_UNAVAILABLE: the server cannot be reached";
    let lost = "UPSTREAM_UNAVAILABLE: the call did not get through";
    let modes = [
        ("good", "ok", ""),
        ("sse", "ok", ""),
        ("modern", "ok", ""),
        ("huge", "ok", ""),
        ("huge-sse", "ok", ""),
        ("expires", "ok", ""),
        ("hang", late, ""),
        ("slow", late, ""),
        ("hang-call", late, ""),
        ("slow-call", late, ""),
        ("drop", unready, "broke in the middle"),
        ("html", unready, "text/html"),
        ("500", unready, "HTTP 500 (text/plain): it broke"),
        ("garbage", unready, "application/json"),
        ("redirect-evil", unready, "HTTP 307"),
        ("drop-call", lost, "broke in the middle"),
        ("html-call", lost, "Please sign in"),
        ("500-call", lost, "HTTP 500 (text/plain): it broke"),
        ("garbage-call", lost, "application/json"),
    ];
    let test = TestRunner::with([]);
    let servers = join_all(modes.map(|(mode, ..)| TestHttpServer::start(mode))).await;
    let tools = servers
        .iter()
        .zip(modes)
        .map(|(server, (mode, ..))| TestServer::http(mode, &server.url, &[]).tool("echo"));
    let test = test.tools(tools);
    let calls = modes.map(|(mode, says, also)| {
        let test = &test;
        async move {
            let id = format!("{mode}:echo");
            let result = match says == late {
                true => test.call_within(&id, json!({"n": 1}), SHORT).await,
                false => test.call(&id, json!({"n": 1})).await,
            };
            if says == "ok" {
                return assert_eq!(value(result), json!({"echo": {"n": 1}}), "{mode}");
            }
            let failure = failure(result);
            assert!(failure.starts_with(says) && failure.contains(also), "{mode}: {failure}");
        }
    });
    join_all(calls).await;
    test.runner.close().await;
}

#[tokio::test]
async fn a_failed_call_does_not_break_the_connection() {
    for mode in ["drop-call", "html-call", "500-call", "garbage-call", "hang-call"] {
        let (_server, upstream, test) = serve(mode, &[]).await;
        for _ in 0..3 {
            let (result, expected) = match mode {
                "hang-call" => (test.call_within("it:echo", json!({}), 400).await, "TIMEOUT"),
                _ => (test.call("it:echo", json!({})).await, "UPSTREAM_UNAVAILABLE"),
            };
            assert_eq!(word(&result), expected, "{mode}");
            let list = test.runner.context().upstreams.get(&upstream.server).list().await;
            assert!(list.is_ok(), "{mode}: {list:?}");
        }
        test.runner.close().await;
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported_without_secrets_of_its_url() {
    // An address that was bound and released, so nothing listens there.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, says) in [
        (
            format!("http://{address}/mcp?key=sesame"),
            "no server listens at this address (connection refused)",
        ),
        ("http://no-such-host.invalid/mcp?key=sesame".to_owned(), "UPSTREAM_UNAVAILABLE"),
        ("not a url sesame".to_owned(), "UPSTREAM_UNAVAILABLE"),
    ] {
        let test = TestRunner::with(TestServer::http("it", &url, &[]).tools());
        let failure = failure(test.call("it:echo", json!({})).await);
        assert!(failure.contains(says), "{url}: {failure}");
        let everything = format!("{failure}{}", test.log());
        assert!(!everything.contains("sesame"), "a secret of the address is in: {everything}");
    }
}

#[tokio::test]
async fn a_token_is_sent_and_never_shown() {
    for (token, expected) in [
        ("Bearer sesame", "ok"),
        ("Bearer wr0ng-s3cret", "UPSTREAM_UNAVAILABLE"),
        ("", "UPSTREAM_UNAVAILABLE"),
    ] {
        let headers: &[(&str, &str)] =
            if token.is_empty() { &[] } else { &[("Authorization", token)] };
        let (_server, _, test) = serve("token", headers).await;
        for _ in 0..2 {
            let answer = test.call("it:echo", json!({})).await;
            assert_eq!(word(&answer), expected, "{answer:?}");
            if let Err(failure) = answer {
                let everything = format!(
                    "{failure:?} {} {} {}",
                    failure.to_text(),
                    failure.to_json(),
                    test.log()
                );
                assert!(!everything.contains("s3cret"), "{everything}");
                assert!(
                    failure.message.starts_with("the server requires a token"),
                    "{}",
                    failure.message
                );
                assert!(failure.suggestion.contains("headers"), "{}", failure.suggestion);
            }
        }
        test.runner.close().await;
    }
}

#[tokio::test]
async fn an_invalid_header_is_reported_without_its_value() {
    for (name, value, says) in [
        (
            "X-Key",
            "s3cret\nsplit",
            "the value of the header `X-Key` has characters that headers cannot have",
        ),
        ("bad name", "s3cret", "`bad name` is not a valid header name"),
    ] {
        let test = TestRunner::with(
            TestServer::http("it", "http://127.0.0.1:1/mcp", &[(name, value)]).tools(),
        );
        let failure = test.call("it:echo", json!({})).await.unwrap_err();
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(!format!("{failure:?}{}", test.log()).contains("s3cret"));
    }
}

#[tokio::test]
async fn redirects_to_another_origin_are_not_followed() {
    let (server, _, test) = serve("redirect-evil", &[("Authorization", "Bearer s3cret")]).await;
    for _ in 0..2 {
        let failure = failure(test.call("it:echo", json!({})).await);
        assert!(
            failure.starts_with("UPSTREAM_UNAVAILABLE") && !failure.contains("s3cret"),
            "{failure}"
        );
    }
    let requests = server.requests();
    assert!(requests.iter().any(|request| request["at"] == "front"));
    let evil: Vec<&Json> = requests.iter().filter(|request| request["at"] == "evil").collect();
    assert!(evil.is_empty(), "{evil:#?}");
}

#[tokio::test]
async fn configured_headers_go_with_every_request() {
    for mode in ["good", "sse", "modern"] {
        let (server, upstream, test) = serve(mode, &[("X-Key", "k1")]).await;
        assert_eq!(word(&test.call("it:echo", json!({})).await), "ok");
        assert!(test.runner.context().upstreams.get(&upstream.server).list().await.is_ok());
        let without: Vec<Json> = server
            .requests()
            .into_iter()
            .filter(|request| request["headers"]["x-key"] != "k1")
            .collect();
        assert!(without.is_empty(), "{mode}: {without:#?}");
        test.runner.close().await;
    }
}

#[tokio::test]
async fn progress_arrives_in_order_and_complete() {
    for mode in ["sse", "modern"] {
        let (_server, _, test) = serve(mode, &[]).await;
        let host = ProgressRecorder::default();
        let request = request("it:progress", json!({"steps": 100, "ms": 0}));
        assert_eq!(value(test.runner.call(request, &host).await), json!({"steps": 100}));
        assert_eq!(host.0.into_inner().unwrap(), steps(100), "{mode}");
        test.runner.close().await;
    }
}

/// Also for callers that do not show it: a sign of life moves the deadline.
#[tokio::test]
async fn progress_is_always_requested() {
    let (server, _, test) = serve("sse", &[]).await;
    let host = ProgressRecorder::default();
    let request = || request("it:progress", json!({"steps": 3, "ms": 1}));
    assert_eq!(word(&test.runner.call(request(), &host).await), "ok");
    assert_eq!(host.0.into_inner().unwrap(), steps(3));
    assert_eq!(word(&test.run(request()).await), "ok");
    let requests = server.requests();
    let bodies = requests.iter().map(|request| request["body"].as_str().unwrap());
    let calls: Vec<&str> = bodies.filter(|body| body.contains("tools/call")).collect();
    assert!(calls.len() == 2 && calls.iter().all(|body| body.contains("progressToken")));
}

#[tokio::test]
async fn changes_of_the_list_are_counted() {
    for mode in ["sse", "modern"] {
        let (_http, server, test) = serve(mode, &[]).await;
        let upstream = test.runner.context().upstreams.get(&server.server);
        let changes = upstream.changes();
        assert_eq!(upstream.list().await.unwrap()["tools"].as_array().unwrap().len(), 15);
        // The server announces it as soon as the stream for notifications is open.
        assert_eq!(word(&test.call("it:change", json!({})).await), "ok");
        wait_until("the change is announced", || *changes.borrow() > 0).await;
        assert_eq!(upstream.list().await.unwrap()["tools"].as_array().unwrap().len(), 16);
        assert_eq!(*changes.borrow(), 1, "{mode}");
        test.runner.close().await;
    }
}

#[tokio::test]
async fn calls_that_are_given_up_are_cancelled_at_the_server() {
    for mode in ["good", "sse", "modern"] {
        let (http, _, test) = serve(mode, &[]).await;
        let arrived = || http.count_requests("\"sleep\"");
        assert_eq!(word(&test.call("it:echo", json!({})).await), "ok");
        // On a busy machine the limit can be over before the request is sent; then there is
        // nothing to cancel, and a longer limit is tried.
        for ms in [200, 1_000, 5_000, 25_000] {
            let result = test.call_within("it:sleep", json!({"ms": 60_000}), ms).await;
            assert_eq!(word(&result), "TIMEOUT");
            if arrived() > 0 {
                break;
            }
        }
        wait_until(&format!("{mode} cancels a call that timed out"), || {
            http.count_cancelled() == 1
        })
        .await;
        let (call, cancel) = test.start("it:sleep", json!({"ms": 60_000}));
        wait_until("the second call arrives", || arrived() == 2).await;
        cancel.cancel();
        assert_eq!(word(&call.await.unwrap()), "CANCELLED");
        wait_until(&format!("{mode} cancels a cancelled call"), || http.count_cancelled() == 2)
            .await;
        test.runner.close().await;
    }
}

#[tokio::test]
async fn an_expired_session_is_opened_again() {
    let (server, _, test) = serve("expires", &[]).await;
    for n in 0..5 {
        let answer = test.call("it:echo", json!({"n": n})).await;
        assert_eq!(value(answer), json!({"echo": {"n": n}}), "call {n}");
    }
    let opened = server.count_requests("\"initialize\"");
    assert!(opened >= 5, "{opened} sessions");
}

#[tokio::test]
async fn an_answer_of_a_hundred_megabytes_is_refused_and_not_buffered() {
    for mode in ["huge", "huge-sse"] {
        let test = TestRunner::exclusive();
        let server = TestHttpServer::start(mode).await;
        let test = test.tools(TestServer::http("it", &server.url, &[]).tools());
        let pid = value(test.call("it:pid", json!({})).await);
        let before = status("VmHWM");
        for bytes in [100_000_000, 16 << 20, (16 << 20) + 1, 5_000_000] {
            let result = test.call("it:big", json!({"bytes": bytes})).await;
            assert_eq!(word(&result), "OUTPUT_TOO_LARGE", "{mode} {bytes}: {result:?}");
        }
        let grown = (status("VmHWM") - before) / 1024;
        assert!(grown < 150, "{mode}: {grown} MB more at the peak");
        assert_eq!(value(test.call("it:pid", json!({})).await), pid);
        test.runner.close().await;
    }
}

#[tokio::test]
async fn fifty_first_calls_share_one_session() {
    let (server, _, test) = serve("good", &[]).await;
    let answers = join_all((0..50).map(|n| test.call("it:echo", json!({"n": n})))).await;
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(value(answer), json!({"echo": {"n": n}}));
    }
    let opened = server.count_requests("\"initialize\"");
    assert_eq!(opened, 1);
    test.runner.close().await;
}

#[tokio::test]
async fn closing_the_connection_deletes_the_session() {
    let (server, _, test) = serve("good", &[]).await;
    assert_eq!(word(&test.call("it:echo", json!({})).await), "ok");
    test.runner.close().await;
    wait_until("the session is deleted", || {
        server.requests().iter().any(|r| r["method"] == "DELETE")
    })
    .await;
}

#[tokio::test]
async fn an_sse_url_is_used_with_streamable_http() {
    let test = TestRunner::with([]);
    let server = TestHttpServer::start("good").await;
    let test =
        test.tools(TestServer::over("it", Connection::Sse { url: server.url.clone() }).tools());
    assert_eq!(value(test.call("it:echo", json!({"n": 1})).await), json!({"echo": {"n": 1}}));
    test.runner.close().await;
}

#[tokio::test]
async fn arguments_reach_a_server_over_http_as_they_were_written() {
    let server = TestHttpServer::start("good").await;
    let web = TestServer::http("web", &server.url, &[]);
    let runner = TestRunner::with(web.tools());
    let text = r#"{"n": 12345678901234567890123, "z": -0.0, "d": 0.10}"#;
    let arguments = CallArguments::parse(text).unwrap();
    let call = CallRequest { arguments, ..CallRequest::new("web:echo") };
    assert_eq!(word(&runner.run(call).await), "ok");
    assert_eq!(server.count_requests(&format!(r#""arguments":{text}"#)), 1);
    // Arguments that were made as a value are written out.
    assert_eq!(word(&runner.call("web:echo", json!({"n": 7})).await), "ok");
    assert_eq!(server.count_requests(r#""arguments":{"n":7}"#), 1);
    runner.close().await;
}
