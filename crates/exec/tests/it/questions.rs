//! What servers ask the client behind a call, and log messages of a call.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Semaphore;
use toolwright_exec::mcp::UpstreamEvent;
use toolwright_exec::{BoxFuture, ClientAnswer, ServerRequest, SessionNumber};

use crate::support::*;

/// A client that accepts everything it is asked, once it is allowed to.
struct AnsweringHost {
    capabilities: Json,
    session: Option<u64>,
    asked: Mutex<Vec<ServerRequest>>,
    logged: Mutex<Vec<Json>>,
    open: AtomicUsize,
    /// Permits to answer.
    answers: Semaphore,
}

impl AnsweringHost {
    fn new(session: Option<u64>) -> AnsweringHost {
        AnsweringHost {
            capabilities: json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}}),
            session,
            asked: Mutex::default(),
            logged: Mutex::default(),
            open: AtomicUsize::new(0),
            answers: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }

    /// One that does not answer before [`AnsweringHost::answers`] has permits.
    fn waiting(session: Option<u64>) -> AnsweringHost {
        AnsweringHost { answers: Semaphore::new(0), ..AnsweringHost::new(session) }
    }
}

impl Host for AnsweringHost {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }

    fn log(&self, message: &Json) {
        self.logged.lock().unwrap().push(message.clone());
    }

    fn client_capabilities(&self) -> Json {
        self.capabilities.clone()
    }

    fn ask<'a>(&'a self, requests: Vec<ServerRequest>) -> BoxFuture<'a, Vec<ClientAnswer>> {
        Box::pin(async move {
            let count = requests.len();
            self.asked.lock().unwrap().extend(requests);
            self.open.fetch_add(1, Ordering::SeqCst);
            self.answers.acquire().await.unwrap().forget();
            self.open.fetch_sub(1, Ordering::SeqCst);
            vec![Ok(json!({"action": "accept", "content": {"n": 1}})); count]
        })
    }

    fn session(&self) -> Option<SessionNumber> {
        self.session.map(SessionNumber)
    }
}

const ACCEPTED: &str = r#"{"action":"accept","content":{"n":1}}"#;

fn accepted() -> Json {
    serde_json::from_str(ACCEPTED).unwrap()
}

fn question(method: &str, times: u64) -> Json {
    json!({"method": method, "params": {"message": "how many?"}, "times": times})
}

/// A runner with the hidden tools of a server, as `it:TOOL`, and the process behind it.
async fn serve(transport: &str, mode: &str) -> (Option<TestHttpServer>, TestServer, TestRunner) {
    let test = TestRunner::with([]);
    let (http, mut server) = match transport {
        "http" => {
            let http = TestHttpServer::start(mode).await;
            let server = TestServer::http("it", &http.url, &[]);
            (Some(http), server)
        }
        _ => (None, TestServer::command("it", &[faulty_server(), "mcp", mode], &[])),
    };
    server.change_settings(|settings| settings.source = "surveys".to_owned());
    let tools = ["ask", "log", "echo", "sleep"].map(|tool| server.tool(tool));
    let test = test.tools(tools);
    (http, server, test)
}

#[tokio::test]
async fn questions_reach_the_client_of_their_call() {
    for (transport, mode) in [("stdio", "good"), ("http", "sse")] {
        let (_http, _, test) = serve(transport, mode).await;
        let methods = ["elicitation/create", "sampling/createMessage", "roots/list"];
        for method in methods {
            let host = AnsweringHost::new(None);
            let answer = test.runner.call(request("it:ask", question(method, 2)), &host).await;
            assert_eq!(value(answer), json!({"answers": [accepted(), accepted()]}), "{transport}");
            let asked = host.asked.into_inner().unwrap();
            assert_eq!(asked.len(), 2);
            assert_eq!((asked[0].method.as_str(), asked[0].source.as_str()), (method, "surveys"));
            assert_eq!((&asked[0].params["message"], &asked[0].key), (&json!("how many?"), &None));
        }
        test.runner.close().await;
    }
}

#[tokio::test]
async fn questions_that_the_client_cannot_answer_are_refused() {
    let (_, _, test) = serve("stdio", "good").await;
    let mut url = question("elicitation/create", 1);
    url["params"]["mode"] = "url".into();
    let host = AnsweringHost::new(None);
    let answer = value(test.runner.call(request("it:ask", url), &host).await);
    let error = &answer["answers"][0];
    assert_eq!(error["code"], -32021);
    assert!(error["message"].as_str().unwrap().contains("elicitation.url"), "{error}");
    // There is nobody behind this call.
    let answer = value(test.call("it:ask", question("sampling/createMessage", 1)).await);
    assert_eq!(answer["answers"][0]["code"], -32021);
    // A request that no client knows.
    let answer = value(test.runner.call(request("it:ask", question("x/y", 1)), &host).await);
    assert_eq!(answer["answers"][0]["code"], -32601);
    assert!(host.asked.into_inner().unwrap().is_empty());
    test.close().await;
}

/// On standard streams a question does not name its call.
#[tokio::test]
async fn questions_are_refused_if_they_may_be_for_several_clients() {
    for (session, expected) in [(1, accepted()), (2, json!(-32600))] {
        let (_, _, test) = serve("stdio", "good").await;
        let calls = test.file("calls");
        let server = TestServer::stdio("good", &[("CALL_LOG", &calls)]);
        let test = test.tools(["ask", "sleep"].map(|tool| server.tool(tool)));
        let (one, other) = (AnsweringHost::new(Some(1)), AnsweringHost::new(Some(session)));
        let sleep = test.runner.call(request("good:sleep", json!({"ms": 60_000})), &other);
        let ask = async {
            wait_until("the other call arrives", || count_lines(&test.path("calls")) == 1).await;
            let question = question("elicitation/create", 1);
            value(test.runner.call(request("good:ask", question), &one).await)
        };
        let answer = tokio::select! {
            answer = ask => answer["answers"][0].clone(),
            _ = sleep => panic!("it sleeps for a minute"),
        };
        if session == 1 {
            assert_eq!(answer, expected);
        } else {
            assert_eq!(answer["code"], expected);
            assert!(test.log().contains("cannot be attributed to a client"), "{}", test.log());
        }
        test.close().await;
    }
}

/// Over HTTP they arrive on the stream of their call.
#[tokio::test]
async fn over_http_questions_reach_the_client_of_their_call() {
    let (_http, _, test) = serve("http", "sse").await;
    let hosts: Vec<AnsweringHost> = (0..5).map(|n| AnsweringHost::new(Some(n))).collect();
    let calls = hosts
        .iter()
        .map(|host| test.runner.call(request("it:ask", question("elicitation/create", 1)), host));
    for answer in join_all(calls).await {
        assert_eq!(value(answer)["answers"], json!([accepted()]));
    }
    assert!(hosts.iter().all(|host| host.asked.lock().unwrap().len() == 1));
    test.runner.close().await;
}

/// A server closes idle connections, perhaps just when an answer is written to one. Without a
/// second try, the server would wait for the answer until the call is given up.
#[tokio::test]
async fn an_answer_that_is_lost_with_its_connection_is_sent_again() {
    let (_http, _, test) = serve("http", "loses-answers").await;
    let host = AnsweringHost::new(None);
    let call = request("it:ask", question("elicitation/create", 2));
    let answers = value(test.runner.call(call, &host).await);
    assert_eq!(answers, json!({"answers": [accepted(), accepted()]}));
    test.runner.close().await;
}

#[tokio::test]
async fn a_flood_of_questions_is_refused_and_logged_once() {
    let (_, _, test) = serve("stdio", "good").await;
    let host = AnsweringHost::waiting(None);
    let call = test.runner.call(request("it:ask", question("elicitation/create", 30)), &host);
    let release = async {
        wait_until("eight questions are open", || host.open.load(Ordering::SeqCst) == 8).await;
        wait_until("the others are refused", || test.log().contains("are refused")).await;
        // The refusals are in the server's input before the answers.
        host.answers.add_permits(1_000);
    };
    let (answer, ()) = tokio::join!(call, release);
    let answers = value(answer)["answers"].take();
    let answers = answers.as_array().unwrap();
    let ok = answers.iter().filter(|answer| **answer == accepted()).count();
    assert!((8..30).contains(&ok), "{ok} answers");
    assert_eq!(test.log().matches("are refused").count(), 1, "{}", test.log());
    // The bounds are those of one moment and of one call: many calls may ask.
    let host = AnsweringHost::new(None);
    let mut asked = 0;
    while asked < 80 {
        let answer = test.runner.call(request("it:ask", question("roots/list", 8)), &host).await;
        assert_eq!(word(&answer), "ok");
        asked += 8;
    }
    assert_eq!(host.asked.into_inner().unwrap().len(), 80);
    test.close().await;
}

#[tokio::test]
async fn input_that_a_stateless_server_requires_is_asked_for() {
    for transport in ["stdio", "http"] {
        let (_http, _, test) = serve(transport, "modern").await;
        let host = AnsweringHost::new(None);
        let call = request("it:ask", question("roots/list", 1));
        let expected = json!({
            "responses": {"first": accepted(), "second": accepted()},
            "state": "opaque",
        });
        assert_eq!(value(test.runner.call(call, &host).await), expected, "{transport}");
        let keys: Vec<Option<String>> =
            host.asked.into_inner().unwrap().into_iter().map(|asked| asked.key).collect();
        assert_eq!(keys, [Some("first".to_owned()), Some("second".to_owned())]);
        // Nobody is behind this call.
        let failure = failure(test.call("it:ask", question("roots/list", 1)).await);
        assert!(failure.starts_with("TOOL_FAILED: the server needs input"), "{failure}");
        // A server that is never content.
        let host = AnsweringHost::new(None);
        let endless = json!({"method": "roots/list", "params": {}, "endless": true});
        let ended = test.runner.call(request("it:ask", endless), &host).await.unwrap_err();
        assert!(ended.message.contains("asked for input 10 times"), "{ended}");
        test.runner.close().await;
    }
}

/// The server's own time limit is short, but a question stops it and an answer starts it again.
#[tokio::test]
async fn waiting_for_the_person_does_not_count() {
    let (_, mut server, test) = serve("stdio", "good").await;
    server.change_settings(|settings| settings.timeout = Some(Duration::from_secs(8)));
    let test = test.tools(["ask", "sleep"].map(|tool| server.tool(tool)));
    let (host, other) = (AnsweringHost::waiting(Some(1)), AnsweringHost::new(Some(2)));
    let call = test.runner.call(request("it:ask", question("elicitation/create", 1)), &host);
    let person = async {
        wait_until("the question arrives", || host.open.load(Ordering::SeqCst) == 1).await;
        // The same limit ends a call of another client that began after the question.
        let sleep = request("it:sleep", json!({"ms": 60_000}));
        assert_eq!(word(&test.runner.call(sleep, &other).await), "TIMEOUT");
        host.answers.add_permits(1);
    };
    let (answer, ()) = tokio::join!(call, person);
    assert_eq!(word(&answer), "ok");
    test.close().await;
}

#[tokio::test]
async fn log_messages_go_to_their_call_or_to_everyone() {
    for (transport, mode) in [("stdio", "good"), ("http", "sse")] {
        let (_http, server, test) = serve(transport, mode).await;
        let mut events = test.runner.context().upstreams.get(&server.server).events();
        let host = AnsweringHost::new(Some(1));
        let log = || request("it:log", json!({"data": "hello"}));
        assert_eq!(word(&test.runner.call(log(), &host).await), "ok");
        assert_eq!(host.logged.lock().unwrap()[0]["data"], "hello", "{transport}");
        assert!(events.try_recv().is_err());
        if transport == "stdio" {
            // Two clients at once: it may be for either.
            let other = AnsweringHost::new(Some(2));
            let sleep = test.runner.call(request("it:sleep", json!({"ms": 60_000})), &other);
            let event = async {
                loop {
                    assert_eq!(word(&test.runner.call(log(), &host).await), "ok");
                    if let Ok(event) = events.try_recv() {
                        return event;
                    }
                }
            };
            let event = tokio::select! {
                event = event => event,
                _ = sleep => panic!("it sleeps for a minute"),
            };
            assert!(matches!(event.event, UpstreamEvent::Log(log) if log["data"] == "hello"));
        }
        test.runner.close().await;
    }
}
