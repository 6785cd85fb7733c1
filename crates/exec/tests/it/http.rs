//! Tools of MCP servers behind a URL.

use std::time::Duration;

use futures::future::join_all;

use crate::mcp::{Noting, steps};
use crate::support::*;

/// More than anything here may take beyond its time limit.
const IN_TIME: Duration = Duration::from_secs(8);

/// A server in this mode, and its tools under `it:`.
async fn serve(mode: &str, headers: &[(&str, &str)]) -> (HttpServer, Upstream, Bench) {
    let bench = Bench::with([]);
    let server = HttpServer::start(mode).await;
    let upstream = Upstream::at("it", &server.url, headers);
    let bench = bench.put(upstream.tools());
    (server, upstream, bench)
}

#[tokio::test]
async fn every_mode_ends_with_its_code_in_time() {
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
    let bench = Bench::with([]);
    let servers = join_all(modes.map(|(mode, ..)| HttpServer::start(mode))).await;
    let tools = servers
        .iter()
        .zip(modes)
        .map(|(server, (mode, ..))| Upstream::at(mode, &server.url, &[]).tool("echo"));
    let bench = bench.put(tools);
    let calls = modes.map(|(mode, says, also)| {
        let bench = &bench;
        async move {
            let id = format!("{mode}:echo");
            let (took, answer) = timed(bench.call_within(&id, json!({"n": 1}), 2_500)).await;
            assert!(took < IN_TIME, "{mode} took {took:?}");
            if says == "ok" {
                return assert_eq!(value(answer), json!({"echo": {"n": 1}}), "{mode}");
            }
            let failure = failure(answer);
            assert!(failure.starts_with(says) && failure.contains(also), "{mode}: {failure}");
        }
    });
    join_all(calls).await;
    bench.runner.close().await;
}

#[tokio::test]
async fn a_call_that_went_wrong_does_not_spoil_the_next() {
    for mode in ["drop-call", "html-call", "500-call", "garbage-call", "hang-call"] {
        let (_server, upstream, bench) = serve(mode, &[]).await;
        for _ in 0..3 {
            let (took, answer) = timed(bench.call_within("it:echo", json!({}), 400)).await;
            let expected = if mode == "hang-call" { "TIMEOUT" } else { "UPSTREAM_UNAVAILABLE" };
            assert_eq!(word(&answer), expected, "{mode}");
            assert!(took < IN_TIME, "{mode} took {took:?}");
            let list = bench.runner.parts().upstreams.get(&upstream.server).list().await;
            assert!(list.is_ok(), "{mode}: {list:?}");
        }
        bench.runner.close().await;
    }
}

#[tokio::test]
async fn nobody_there_is_said_to_be_so() {
    // Bound and let go of again: nobody listens there.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, says) in [
        (
            format!("http://{address}/mcp?key=sesame"),
            "no server listens at this address (connection refused)",
        ),
        ("http://no-such-host.invalid/mcp?key=sesame".to_owned(), "UPSTREAM_UNAVAILABLE"),
        ("not a url sesame".to_owned(), "UPSTREAM_UNAVAILABLE"),
    ] {
        let bench = Bench::with(Upstream::at("it", &url, &[]).tools());
        let failure = failure(bench.call_within("it:echo", json!({}), 5_000).await);
        assert!(failure.contains(says), "{url}: {failure}");
        let everything = format!("{failure}{}", bench.log());
        assert!(!everything.contains("sesame"), "a secret of the address is in: {everything}");
    }
}

#[tokio::test]
async fn a_token_opens_the_door_and_is_never_shown() {
    for (token, expected) in [
        ("Bearer sesame", "ok"),
        ("Bearer wr0ng-s3cret", "UPSTREAM_UNAVAILABLE"),
        ("", "UPSTREAM_UNAVAILABLE"),
    ] {
        let headers: &[(&str, &str)] =
            if token.is_empty() { &[] } else { &[("Authorization", token)] };
        let (_server, _, bench) = serve("token", headers).await;
        for _ in 0..2 {
            let answer = bench.call_within("it:echo", json!({}), 5_000).await;
            assert_eq!(word(&answer), expected, "{answer:?}");
            if let Err(failure) = answer {
                let everything = format!(
                    "{failure:?} {} {} {}",
                    failure.to_text(),
                    failure.to_json(),
                    bench.log()
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
        bench.runner.close().await;
    }
}

#[tokio::test]
async fn a_header_that_is_none_is_said_without_its_value() {
    for (name, value, says) in [
        (
            "X-Key",
            "s3cret\nsplit",
            "the value of the header `X-Key` has characters that headers cannot have",
        ),
        ("bad name", "s3cret", "`bad name` is not a valid header name"),
    ] {
        let bench =
            Bench::with(Upstream::at("it", "http://127.0.0.1:1/mcp", &[(name, value)]).tools());
        let failure = bench.call("it:echo", json!({})).await.unwrap_err();
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(!format!("{failure:?}{}", bench.log()).contains("s3cret"));
    }
}

#[tokio::test]
async fn no_redirect_leads_to_another_place() {
    let (server, _, bench) = serve("redirect-evil", &[("Authorization", "Bearer s3cret")]).await;
    for _ in 0..2 {
        let failure = failure(bench.call_within("it:echo", json!({}), 5_000).await);
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
async fn headers_go_with_every_request() {
    for mode in ["good", "sse", "modern"] {
        let (server, upstream, bench) = serve(mode, &[("X-Key", "k1")]).await;
        assert_eq!(word(&bench.call("it:echo", json!({})).await), "ok");
        assert!(bench.runner.parts().upstreams.get(&upstream.server).list().await.is_ok());
        let without: Vec<Json> = server
            .requests()
            .into_iter()
            .filter(|request| request["headers"]["x-key"] != "k1")
            .collect();
        assert!(without.is_empty(), "{mode}: {without:#?}");
        bench.runner.close().await;
    }
}

#[tokio::test]
async fn progress_arrives_in_order_and_complete() {
    for mode in ["sse", "modern"] {
        let (_server, _, bench) = serve(mode, &[]).await;
        let host = Noting::default();
        let request = ask("it:progress", json!({"steps": 100, "ms": 0}));
        assert_eq!(value(bench.runner.call(request, &host).await), json!({"steps": 100}));
        assert_eq!(host.0.into_inner().unwrap(), steps(100), "{mode}");
        bench.runner.close().await;
    }
}

/// A server is asked for progress only by who wants it: it may cost it something.
#[tokio::test]
async fn progress_is_asked_for_only_when_it_is_wanted() {
    let (server, _, bench) = serve("sse", &[]).await;
    let asked = |server: &HttpServer| {
        let requests = server.requests();
        let call = requests
            .iter()
            .rev()
            .find(|r| r["body"].as_str().unwrap().contains("tools/call"))
            .unwrap();
        call["body"].as_str().unwrap().contains("progressToken")
    };
    let request = || ask("it:progress", json!({"steps": 3, "ms": 1}));
    let host = Noting::default();
    assert_eq!(word(&bench.runner.call(request(), &host).await), "ok");
    assert_eq!((asked(&server), host.0.into_inner().unwrap()), (true, steps(3)));
    assert_eq!(word(&bench.ask(request()).await), "ok");
    assert!(!asked(&server), "nobody wanted to hear of it");
}

#[tokio::test]
async fn changes_of_the_list_are_told() {
    for mode in ["sse", "modern"] {
        let (_server, upstream, bench) = serve(mode, &[]).await;
        let upstream = bench.runner.parts().upstreams.get(&upstream.server);
        let changes = upstream.changes();
        assert_eq!(upstream.list().await.unwrap()["tools"].as_array().unwrap().len(), 15);
        // The stream of news may open a moment after the connection.
        let told = async {
            while *changes.borrow() == 0 {
                assert_eq!(word(&bench.call("it:echo", json!({})).await), "ok");
                assert_eq!(word(&bench.call("it:change", json!({})).await), "ok");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(3), told).await;
        assert_eq!(upstream.list().await.unwrap()["tools"].as_array().unwrap().len(), 16);
        assert_eq!(*changes.borrow(), 1, "{mode}");
        bench.runner.close().await;
    }
}

#[tokio::test]
async fn whoever_gives_up_tells_the_server() {
    for mode in ["good", "sse", "modern"] {
        let (server, _, bench) = serve(mode, &[]).await;
        let cancelled =
            || std::fs::read_to_string(&server.cancelled).unwrap_or_default().lines().count();
        assert_eq!(word(&bench.call("it:echo", json!({})).await), "ok");
        assert_eq!(
            word(&bench.call_within("it:sleep", json!({"ms": 60_000}), 100).await),
            "TIMEOUT"
        );
        until(&format!("{mode} hears of a call that took too long"), || cancelled() == 1).await;
        let (call, cancel) = bench.start("it:sleep", json!({"ms": 60_000}));
        let calls = || {
            server
                .requests()
                .iter()
                .filter(|r| r["body"].as_str().unwrap().contains("\"sleep\""))
                .count()
        };
        until("the second call has arrived", || calls() == 2).await;
        cancel.cancel();
        assert_eq!(word(&call.await.unwrap()), "CANCELLED");
        until(&format!("{mode} hears of a cancelled call"), || cancelled() == 2).await;
        bench.runner.close().await;
    }
}

#[tokio::test]
async fn a_session_that_expired_is_opened_again() {
    let (server, _, bench) = serve("expires", &[]).await;
    for n in 0..5 {
        let answer = bench.call_within("it:echo", json!({"n": n}), 5_000).await;
        assert_eq!(value(answer), json!({"echo": {"n": n}}), "call {n}");
    }
    let opened = server
        .requests()
        .iter()
        .filter(|r| r["body"].as_str().unwrap().contains("\"initialize\""))
        .count();
    assert!(opened >= 5, "{opened} sessions");
}

#[tokio::test]
async fn an_answer_of_a_hundred_megabytes_is_refused_and_not_kept() {
    for mode in ["huge", "huge-sse"] {
        let bench = Bench::alone(Limits::default());
        let server = HttpServer::start(mode).await;
        let bench = bench.put(Upstream::at("it", &server.url, &[]).tools());
        let pid = value(bench.call("it:pid", json!({})).await);
        let before = status("VmHWM");
        for bytes in [100_000_000, 16 << 20, (16 << 20) + 1, 5_000_000] {
            let (took, answer) = timed(bench.call("it:big", json!({"bytes": bytes}))).await;
            assert_eq!(word(&answer), "OUTPUT_TOO_LARGE", "{mode} {bytes}: {answer:?}");
            assert!(took < Duration::from_secs(15), "{mode} {bytes} took {took:?}");
        }
        let grown = (status("VmHWM") - before) / 1024;
        assert!(grown < 150, "{mode}: {grown} MB more at the peak");
        assert_eq!(value(bench.call("it:pid", json!({})).await), pid);
        bench.runner.close().await;
    }
}

#[tokio::test]
async fn fifty_who_come_first_share_one_session() {
    let (server, _, bench) = serve("good", &[]).await;
    let answers = join_all((0..50).map(|n| bench.call("it:echo", json!({"n": n})))).await;
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(value(answer), json!({"echo": {"n": n}}));
    }
    let opened = server
        .requests()
        .iter()
        .filter(|r| r["body"].as_str().unwrap().contains("\"initialize\""))
        .count();
    assert_eq!(opened, 1);
    bench.runner.close().await;
}

#[tokio::test]
async fn a_session_ends_when_the_connection_does() {
    let (server, _, bench) = serve("good", &[]).await;
    assert_eq!(word(&bench.call("it:echo", json!({})).await), "ok");
    bench.runner.close().await;
    until("the session is given back", || {
        server.requests().iter().any(|r| r["method"] == "DELETE")
    })
    .await;
}

#[tokio::test]
async fn an_address_of_the_older_kind_is_tried_in_the_new_way() {
    let bench = Bench::with([]);
    let server = HttpServer::start("good").await;
    let bench =
        bench.put(Upstream::over("it", Connection::Sse { url: server.url.clone() }).tools());
    assert_eq!(value(bench.call("it:echo", json!({"n": 1})).await), json!({"echo": {"n": 1}}));
    bench.runner.close().await;
}
