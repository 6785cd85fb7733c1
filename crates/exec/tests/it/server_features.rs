//! What servers have besides tools, what a result may hold, and connections of single sessions.

use std::time::{Duration, Instant};

use toolwright_exec::SessionNumber;
use toolwright_exec::mcp::{ListKind, RequestError, UpstreamEvent};
use toolwright_model::Isolation;

use crate::support::*;

fn members(value: Json) -> serde_json::Map<String, Json> {
    value.as_object().unwrap().clone()
}

#[tokio::test]
async fn resources_and_prompts_are_listed_and_requested() {
    for mode in ["full", "modern-full"] {
        let server = TestServer::stdio(mode, &[]);
        let test = TestRunner::with([server.tool("touch")]);
        let upstream = test.runner.context().upstreams.get(&server.server);
        let description = upstream.description().await.unwrap();
        assert!(description.has("resources.subscribe") && !description.has("completions"));
        assert_eq!(description.info["name"], "faulty-server");
        let resources = upstream.items(ListKind::Resources).await.unwrap();
        let names: Vec<&Json> = resources.iter().map(|item| &item["name"]).collect();
        assert_eq!((names, &resources[0]["odd"]), (vec![&json!("a"), &json!("b")], &json!(1)));
        // The server has the capability, but not this list.
        assert_eq!(upstream.items(ListKind::ResourceTemplates).await.unwrap(), [] as [Json; 0]);
        assert_eq!(upstream.items(ListKind::Prompts).await.unwrap(), [json!({"name": "greet"})]);

        let read =
            |uri: &str| upstream.request("resources/read", members(json!({"uri": uri})), &NoHost);
        assert_eq!(read("test://a").await.unwrap()["contents"][0]["text"], "A");
        let Err(RequestError::Answered(error)) = read("test://x").await else { panic!() };
        assert_eq!((error.code, error.data), (-32002, Some(json!({"uri": "test://x"}))));

        let mut events = upstream.events();
        let subscribe =
            |method| upstream.request(method, members(json!({"uri": "test://a"})), &NoHost);
        subscribe("resources/subscribe").await.unwrap();
        let id = format!("{mode}:touch");
        let touch = || test.call(&id, json!({"uri": "test://a"}));
        assert_eq!(word(&touch().await), "ok");
        let event = tokio::time::timeout(PATIENCE, events.recv()).await.unwrap().unwrap();
        let expected =
            UpstreamEvent::ResourceUpdated { uri: "test://a".into(), more: members(json!({})) };
        assert_eq!((event.session, event.event), (None, expected), "{mode}");
        subscribe("resources/unsubscribe").await.unwrap();
        assert_eq!(word(&touch().await), "ok");
        assert!(events.try_recv().is_err(), "{mode}");
        test.close().await;
    }
}

#[tokio::test]
async fn unknown_members_of_results_and_errors_are_kept_whole() {
    let server = TestServer::stdio("good", &[("API_KEY", "s3cret-sesame")]);
    let test = TestRunner::with(["task", "leak", "rpc-error"].map(|tool| server.tool(tool)));
    let task = test.call("good:task", json!({})).await.unwrap();
    let expected = json!({
        "resultType": "task",
        "task": {"taskId": "t1", "status": "working"},
        "future": [1, 2],
    });
    assert_eq!(Json::Object(task.rest), expected);
    let failure = test.call("good:leak", json!({})).await.unwrap_err();
    let error = failure.rpc_error.as_deref().unwrap();
    assert_eq!((error.code, error.message.as_str()), (-32051, "bad key ***"));
    assert_eq!(error.data, Some(json!({"key": "***"})));
    let everything = format!("{failure:?}{}{}", failure.to_json(), test.log());
    assert!(!everything.contains("sesame"), "{everything}");
    test.close().await;
}

#[tokio::test]
async fn media_have_a_limit_of_their_own() {
    let server = TestServer::stdio("good", &[]);
    let test = TestRunner::with([server.tool("media"), server.tool("big")]);
    assert_eq!(word(&test.call("good:media", json!({"bytes": 8_000_000})).await), "ok");
    let too_large = test.call("good:media", json!({"bytes": 23_000_000})).await;
    assert!(failure(too_large).contains("images"));
    assert_eq!(word(&test.call("good:big", json!({"bytes": 2_000_000})).await), "OUTPUT_TOO_LARGE");
    test.close().await;
}

/// The time limit of a server is that without a sign of life.
#[tokio::test]
async fn progress_moves_the_deadline_up_to_the_cap() {
    let mut server = TestServer::stdio("good", &[]);
    server.change_settings(|settings| {
        settings.timeout = Some(Duration::from_secs(3));
        settings.max_timeout = Some(Duration::from_secs(10));
    });
    let test = TestRunner::with([server.tool("progress")]);
    let call = |arguments: Json| test.call("good:progress", arguments);
    assert_eq!(word(&call(json!({"steps": 50, "ms": 100})).await), "ok");
    let endless = call(json!({"steps": 1_000, "ms": 100}));
    assert_eq!(word(&endless.await), "TIMEOUT");
    test.close().await;
}

/// After a pause, although the server asks for none: it could break the stream without end.
#[tokio::test]
async fn a_broken_stream_is_resumed() {
    let test = TestRunner::with([]);
    let server = TestHttpServer::start("resume").await;
    let web = TestServer::http("it", &server.url, &[]);
    let test = test.tools(web.tools());
    for n in 0..3 {
        let began = Instant::now();
        let answer = test.call("it:echo", json!({"n": n})).await;
        assert_eq!(value(answer), json!({"echo": {"n": n}}));
        assert!(began.elapsed() >= Duration::from_millis(100), "{:?}", began.elapsed());
    }
    assert_eq!(server.count_requests("tools/call"), 3);
    test.runner.close().await;
}

/// A caller of one session.
struct SessionHost(u64);

impl Host for SessionHost {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }

    fn session(&self) -> Option<SessionNumber> {
        Some(SessionNumber(self.0))
    }
}

#[tokio::test]
async fn sessions_have_connections_of_their_own() {
    let mut server = TestServer::stdio("good", &[]);
    server.change_settings(|settings| settings.isolation = Isolation::Session);
    let test = TestRunner::with([server.tool("pid")]);
    let pid = async |session: u64| {
        value(test.runner.call(request("good:pid", json!({})), &SessionHost(session)).await)
    };
    let (one, two) = (pid(1).await, pid(2).await);
    assert_ne!(one, two);
    assert_eq!(pid(1).await, one);
    // Lists and calls of the program itself use another.
    assert_ne!(value(test.call("good:pid", json!({})).await), one);
    assert_eq!(test.processes().len(), 3);
    test.runner.context().upstreams.end_session(SessionNumber(1));
    wait_until("the server of the session ends", || test.processes().len() == 2).await;
    assert_eq!(pid(2).await, two);
    assert_ne!(pid(1).await, one);
    test.close().await;
}
