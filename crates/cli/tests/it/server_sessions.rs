//! Subscriptions to resources, and servers that have a process for each session of a client.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::client::{
    HttpClient, LONG, Reply, Session, StdioClient, UpstreamServer, configured, until,
};
use crate::scripted_servers::{ScriptedServers, notification, texts};
use crate::serving::{LONG_STARTUP, server};

/// A client that gets what a session is sent outside of requests.
struct SessionStream(BufReader<TcpStream>);

impl SessionStream {
    fn open(web: &HttpClient, session: &Session<'_>) -> SessionStream {
        let mut stream = web.connect();
        let changes = [&session.headers()[..], &[("Accept", "text/event-stream")]].concat();
        stream.write_all(&web.bytes("GET", "/mcp", &changes, "")).expect("it reads");
        let mut reader = BufReader::new(stream);
        assert_eq!(Reply::read_head(&mut reader).status, 200);
        SessionStream(reader)
    }

    /// The next message of one of these methods.
    fn next(&mut self, methods: &[&str]) -> Json {
        let deadline = Instant::now() + LONG;
        loop {
            // Comments keep the stream alive.
            assert!(Instant::now() < deadline, "none of {methods:?} came");
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("more") > 0, "the stream has ended");
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let Ok(message) = serde_json::from_str::<Json>(data) else { continue };
            if message["method"].as_str().is_some_and(|method| methods.contains(&method)) {
                return message;
            }
        }
    }
}

#[test]
fn what_the_process_of_a_session_reports_reaches_no_other() {
    let late = ["notifications/message", "notifications/elicitation/complete"];
    let params = json!({"level": "error", "data": "private $N", "elicitationId": "private $N"});
    let after: Vec<Json> = late.iter().map(|method| notification(method, params.clone())).collect();
    let script = json!({"tools/call": {
        "result": {"content": [{"type": "text", "text": "called"}]}, "after": after,
    }});
    let servers = ScriptedServers::new(&[("up", "isolation = \"session\"", script)]);
    let web = HttpClient::start(servers.path(), &[], &[]);
    let (one, two) = (web.session("2025-06-18"), web.session("2025-06-18"));
    let mut streams = [SessionStream::open(&web, &one), SessionStream::open(&web, &two)];
    let mut call = |session: &Session<'_>, stream: usize| -> Vec<Json> {
        let params = json!({"name": "up__t", "arguments": {}});
        session.ask(1, "tools/call", params).answer(&json!(1));
        late.iter().map(|_| streams[stream].next(&late)["params"]["data"].clone()).collect()
    };
    // The processes count alike, so what came from the first one would be there twice.
    let first = call(&one, 0);
    assert_eq!(call(&two, 1), first);
    assert_ne!(call(&two, 1), first);
}

#[test]
fn a_session_subscribes_to_its_own_process() {
    let up = server("up", "full") + "isolation = \"session\"\n" + LONG_STARTUP;
    let (folder, _) = configured(&up);
    let web = HttpClient::start(folder.path(), &[], &[]);
    let (one, two) = (web.session("2025-06-18"), web.session("2025-06-18"));
    let mut stream = SessionStream::open(&web, &one);
    let updated = "notifications/resources/updated";
    let touch = |session: &Session<'_>, uri: &str| {
        let params = json!({"name": "up__touch", "arguments": {"uri": uri}});
        session.ask(1, "tools/call", params).answer(&json!(1));
    };
    for (session, uri) in [(&one, "test://a"), (&one, "test://b"), (&two, "test://a")] {
        let answer = session.ask(1, "resources/subscribe", json!({"uri": uri}));
        assert_eq!(answer.answer(&json!(1))["result"], json!({}));
    }
    touch(&two, "test://a");
    touch(&one, "test://b");
    assert_eq!(stream.next(&[updated])["params"]["uri"], "test://b", "the other is not ours");
    touch(&one, "test://a");
    assert_eq!(stream.next(&[updated])["params"]["uri"], "test://a");
}

#[test]
fn the_end_of_a_session_starts_no_process() {
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-06-18", "capabilities": {"resources": {"subscribe": true}},
            "serverInfo": {"name": "x", "version": "1"},
        }},
        "resources/list": {"result": {"resources": [{"uri": "x://y", "name": "y"}]}},
        "resources/subscribe": {"result": {}},
    });
    let servers = ScriptedServers::new(&[("up", "isolation = \"session\"", script)]);
    let web = HttpClient::start(servers.path(), &[], &[]);
    let subscribe = || {
        let session = web.session("2025-06-18");
        let answer = session.ask(1, "resources/subscribe", json!({"uri": "x://y"}));
        assert_eq!(answer.answer(&json!(1))["result"], json!({}));
        session
    };
    for _ in 0..4 {
        let session = subscribe();
        assert_eq!(web.exchange("DELETE", "/mcp", &session.headers(), "").status, 204);
    }
    // Begun after the others have ended, and takes as long as a process for one of them.
    subscribe();
    let sent = servers.sent_to("up");
    let starts = sent.iter().filter(|message| message["method"] == "initialize").count();
    assert_eq!(starts, 1 + 5, "one for the lists, and one for each session");
}

#[test]
fn only_the_first_and_the_last_client_concern_the_server() {
    let script = json!({
        "initialize": {"result": {
            "protocolVersion": "2025-06-18", "capabilities": {"resources": {"subscribe": true}},
            "serverInfo": {"name": "x", "version": "1"},
        }},
        "resources/list": {"result": {"resources": [{"uri": "x://y", "name": "y"}]}},
        "resources/subscribe": {"result": {}},
        "resources/unsubscribe": {"result": {}},
    });
    let servers = ScriptedServers::new(&[("up", "", script)]);
    let web = HttpClient::start(servers.path(), &[], &[]);
    let (one, two) = (web.session("2025-06-18"), web.session("2025-06-18"));
    let ask = |session: &Session<'_>, method: &str| {
        let answer = session.ask(1, &format!("resources/{method}"), json!({"uri": "x://y"}));
        assert_eq!(answer.answer(&json!(1))["result"], json!({}));
        let sent = servers.sent_to("up").into_iter();
        sent.filter(|message| message["method"] == format!("resources/{method}")).count()
    };
    assert_eq!((ask(&one, "subscribe"), ask(&two, "subscribe")), (1, 1));
    // A client that asks again has reason to.
    assert_eq!(ask(&two, "subscribe"), 2);
    assert_eq!((ask(&two, "unsubscribe"), ask(&two, "unsubscribe")), (0, 0));
    assert_eq!((ask(&one, "unsubscribe"), ask(&one, "unsubscribe")), (1, 1));
}

#[test]
fn subscriptions_survive_changes_of_the_configuration() {
    let up = |more: &str| server("up", "full") + more + LONG_STARTUP;
    let (folder, path) = configured(&up(""));
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let answer = client.ask("resources/subscribe", json!({"uri": "test://a"}));
    assert_eq!(answer["result"], json!({}), "{answer}");
    let pid = |client: &mut StdioClient| {
        client.call("up__pid", json!({}))["structuredContent"]["pid"].as_u64()
    };
    // Touched until the update arrives: the new server is asked for it after its start.
    let updates = |client: &mut StdioClient| {
        until("an update", LONG, || {
            client.call("up__touch", json!({"uri": "test://a"}));
            let is_update = |message: &Json| message["method"] == "notifications/resources/updated";
            let update = client.find_within(Duration::from_millis(200), &is_update)?;
            assert_eq!(update["params"]["uri"], "test://a", "{update}");
            Some(())
        });
        client.kept.clear();
    };
    updates(&mut client);
    let before = pid(&mut client);
    std::fs::write(path.join("toolwright.toml"), up("env = { CHANGED = \"1\" }\n"))
        .expect("a file");
    until("the new server", LONG, || (pid(&mut client) != before).then_some(()));
    updates(&mut client);
    // Another server with the same URI: the name for clients changes, the subscription stays.
    let both = server("other", "full") + &up("env = { CHANGED = \"1\" }\n");
    std::fs::write(path.join("toolwright.toml"), both).expect("a file");
    until("the other server", LONG, || {
        let list = client.ask("resources/list", json!({}));
        (texts(&list, "resources", "uri").len() == 4).then_some(())
    });
    client.kept.clear();
    updates(&mut client);
}

#[test]
fn a_server_that_forgot_its_session_is_asked_again() {
    let (folder, path) = configured("");
    let log = path.join("requests");
    let variables = [("REQUEST_LOG", log.to_str().expect("UTF-8"))];
    let upstream = UpstreamServer::start_with("expires-full", &variables);
    let text = format!("[[source]]\nname = \"up\"\nurl = \"{}\"\n{LONG_STARTUP}", upstream.url);
    std::fs::write(path.join("toolwright.toml"), text).expect("a file");
    let mut client = StdioClient::start(folder.path(), &[], &[]);
    let answer = client.ask("resources/subscribe", json!({"uri": "test://a"}));
    assert_eq!(answer["result"], json!({}), "{answer}");
    // The sessions in which a method was used.
    let sessions = |method: &str| -> Vec<String> {
        let text = std::fs::read_to_string(&log).expect("a file");
        let requests = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
        let own = requests.filter(|request| {
            let body = request["body"].as_str().unwrap_or_default();
            serde_json::from_str::<Json>(body).is_ok_and(|body| body["method"] == method)
        });
        own.filter_map(|it| Some(it["headers"]["mcp-session-id"].as_str()?.to_owned())).collect()
    };
    let before = sessions("resources/subscribe");
    for n in 0..2 {
        let done = client.call("up__echo", json!({"n": n}));
        assert_eq!(done["structuredContent"]["echo"]["n"], n, "{done}");
    }
    for method in ["resources/subscribe", "tools/list", "resources/list"] {
        until(method, LONG, || {
            sessions(method).iter().any(|session| !before.contains(session)).then_some(())
        });
    }
}
