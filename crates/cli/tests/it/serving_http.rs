//! `toolwright serve` on HTTP: what clients see, access control, and the end of calls and of
//! processes. As in `serving`, no test measures time.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener};

use serde_json::{Value as Json, json};

use crate::client::{
    EXIT, Gate, HttpClient, LONG, MODERN, REVISIONS, Reply, Session, configured, descendants,
    faulty_server, gone, handshake, names, pid_in, request, run_with, runs, signal, until,
};
use crate::program::folder;
use crate::scripted_servers::{ScriptedServers, question};
use crate::serving::{LONG_STARTUP, SHORT_STARTUP, config_with_tools, server};

#[test]
fn http_supports_every_revision() {
    let (folder, _) = config_with_tools(&["add"], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    for revision in REVISIONS {
        let session = web.session(revision);
        let list = session.ask(1, "tools/list", json!({})).answer(&json!(1));
        assert!(names(&list["result"]).contains(&"up__echo".to_owned()), "{revision}: {list}");
        let sum =
            session.ask(2, "tools/call", json!({"name": "add", "arguments": {"a": 1, "b": 2}}));
        assert_eq!(
            sum.answer(&json!(2))["result"]["structuredContent"],
            json!({"sum": 3}),
            "{revision}"
        );
        let unknown = session.ask(3, "tools/call", json!({"name": "nope"})).answer(&json!(3));
        assert_eq!(unknown["error"]["data"]["code"], "TOOL_NOT_FOUND", "{revision}: {unknown}");
        let reply = session.ask(
            4,
            "tools/call",
            json!({
                "name": "up__progress", "arguments": {"steps": 3, "ms": 1},
                "_meta": {"progressToken": "t"},
            }),
        );
        let methods: Vec<Json> = reply
            .messages()
            .into_iter()
            .map(|message| message["params"]["progress"].clone())
            .collect();
        assert_eq!(methods, [json!(1), json!(2), json!(3), Json::Null], "{revision}: {reply:?}");
        let deleted = web.exchange("DELETE", "/mcp", &session.headers(), "");
        assert!((200..300).contains(&deleted.status), "{deleted:?}");
        assert_eq!(session.ask(5, "tools/list", json!({})).status, 404, "the session is over");
    }
    let found = web.ask_modern(1, "server/discover", json!({})).answer(&json!(1));
    assert!(
        found["result"]["supportedVersions"]
            .as_array()
            .is_some_and(|list| list.contains(&json!(MODERN))),
        "{found}"
    );
    let list = web.ask_modern(2, "tools/list", json!({})).answer(&json!(2));
    assert!(names(&list["result"]).contains(&"add".to_owned()), "{list}");
    assert_eq!(
        web.call("add", json!({"a": 1, "b": 2}))["result"]["structuredContent"],
        json!({"sum": 3})
    );
    assert_eq!(web.call("nope", json!({}))["error"]["data"]["code"], "TOOL_NOT_FOUND");
    let failed = web.call("up__add", json!({}));
    assert_eq!(failed["result"]["_meta"]["toolwright/error"]["code"], "INPUT_INVALID", "{failed}");
    let progress = web.ask_modern(
        3,
        "tools/call",
        json!({
            "name": "up__progress", "arguments": {"steps": 2, "ms": 1},
            "_meta": {"progressToken": "t"},
        }),
    );
    assert_eq!(progress.messages().len(), 3, "{progress:?}");
    assert_eq!(web.running.stdout(), "", "stdout stays empty");
}

#[test]
fn http_notifies_of_list_changes() {
    let (folder, _) = configured(&(server("up", "changing") + LONG_STARTUP));
    let web = HttpClient::start(folder.path(), &[], &[]);
    let session = web.session("2025-06-18");
    session.ask(1, "tools/list", json!({}));
    let mut stream = web.connect();
    stream.write_all(&web.bytes("GET", "/mcp", &session.headers(), "")).expect("it reads");
    let mut reader = BufReader::new(stream);
    let head = Reply::read_head(&mut reader);
    assert_eq!((head.status, head.headers["content-type"].as_str()), (200, "text/event-stream"));
    session.ask(2, "tools/call", json!({"name": "up__echo", "arguments": {}}));
    let mut seen = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&seen).contains("notifications/tools/list_changed") {
        reader
            .read_exact(&mut byte)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&seen)));
        seen.push(byte[0]);
    }
    until("the added tool", LONG, || {
        let list = session.ask(3, "tools/list", json!({})).answer(&json!(3));
        names(&list["result"]).contains(&"up__added".to_owned()).then_some(())
    });
}

/// A web page must not reach the server through a browser, and every other mistake in a request has
/// its own status.
#[test]
fn http_rejects_foreign_and_malformed_requests() {
    let (folder, _) = config_with_tools(&[], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    let hello = request(&json!(0), "initialize", &handshake("2025-06-18")).to_string();
    let own = format!("http://127.0.0.1:{}", web.port);
    let by_name = format!("http://localhost:{}", web.port);
    let other_port = format!("http://127.0.0.1:{}", web.port ^ 1);
    let named = format!("localhost:{}", web.port);
    let list = request(&json!(1), "tools/list", &json!({})).to_string();
    let huge = format!("\"{}\"", "x".repeat(25 << 20));
    type Case<'c> = (&'c str, &'c str, &'c str, &'c [(&'c str, &'c str)], &'c str, &'c [u16]);
    let cases: &[Case<'_>] = &[
        ("a correct request", "POST", "/mcp", &[], &hello, &[200]),
        ("by name", "POST", "/mcp", &[("Host", &named)], &hello, &[200]),
        ("own origin", "POST", "/mcp", &[("Origin", &own)], &hello, &[200]),
        ("own origin by name", "POST", "/mcp", &[("Origin", &by_name)], &hello, &[200]),
        ("evil host", "POST", "/mcp", &[("Host", "evil.example")], &hello, &[403]),
        (
            "evil host, our port",
            "POST",
            "/mcp",
            &[("Host", "127.0.0.1.evil.example:80")],
            &hello,
            &[403],
        ),
        ("evil origin", "POST", "/mcp", &[("Origin", "http://evil.example")], &hello, &[403]),
        ("origin of a file", "POST", "/mcp", &[("Origin", "null")], &hello, &[403]),
        ("origin on another port", "POST", "/mcp", &[("Origin", &other_port)], &hello, &[403]),
        ("malformed origin", "POST", "/mcp", &[("Origin", "nonsense")], &hello, &[403]),
        ("evil host on GET", "GET", "/mcp", &[("Host", "evil.example")], "", &[403]),
        (
            "evil origin on DELETE",
            "DELETE",
            "/mcp",
            &[("Origin", "http://evil.example")],
            "",
            &[403],
        ),
        ("preflight", "OPTIONS", "/mcp", &[("Origin", "http://evil.example")], "", &[403]),
        ("no host", "POST", "/mcp", &[("Host", "")], &hello, &[400]),
        ("another path", "POST", "/", &[], &hello, &[404]),
        ("a path below", "POST", "/mcp/x", &[], &hello, &[404]),
        ("a path with dots", "GET", "/mcp/../etc/passwd", &[], "", &[404]),
        ("GET without a session", "GET", "/mcp", &[], "", &[400, 405]),
        ("GET of an unknown session", "GET", "/mcp", &[("Mcp-Session-Id", "nope")], "", &[404]),
        (
            "GET of the newest revision",
            "GET",
            "/mcp",
            &[("MCP-Protocol-Version", MODERN)],
            "",
            &[405],
        ),
        ("DELETE without a session", "DELETE", "/mcp", &[], "", &[400, 405]),
        ("PUT", "PUT", "/mcp", &[], &hello, &[405]),
        ("PATCH", "PATCH", "/mcp", &[], &hello, &[405]),
        ("an unknown method", "BREW", "/mcp", &[], &hello, &[405]),
        ("no session", "POST", "/mcp", &[], &list, &[400]),
        ("an unknown session", "POST", "/mcp", &[("Mcp-Session-Id", "nope")], &list, &[404]),
        (
            "an unknown revision",
            "POST",
            "/mcp",
            &[("MCP-Protocol-Version", "1999-01-01")],
            &list,
            &[400],
        ),
        ("the newest, bare", "POST", "/mcp", &[("MCP-Protocol-Version", MODERN)], &list, &[400]),
        ("not JSON", "POST", "/mcp", &[], "{nope", &[400, 415]),
        ("no body", "POST", "/mcp", &[], "", &[400, 415]),
        ("no message", "POST", "/mcp", &[], "[1]", &[400, 415]),
        ("text", "POST", "/mcp", &[("Content-Type", "text/plain")], &hello, &[415]),
        (
            "a form",
            "POST",
            "/mcp",
            &[("Content-Type", "application/x-www-form-urlencoded")],
            &hello,
            &[415],
        ),
        ("no type", "POST", "/mcp", &[("Content-Type", "")], &hello, &[415]),
        ("accepts other types only", "POST", "/mcp", &[("Accept", "text/html")], &hello, &[406]),
        ("too large", "POST", "/mcp", &[], &huge, &[413]),
    ];
    for (name, method, path, headers, body, statuses) in cases {
        let reply = web.exchange(method, path, headers, body);
        assert!(statuses.contains(&reply.status), "{name}: {reply:?}");
        assert!(!reply.headers.contains_key("access-control-allow-origin"), "{name}: {reply:?}");
    }
    // The limit also holds for a body in chunks, whose length is not known in advance.
    let mut stream = web.connect();
    let head = String::from_utf8(web.bytes("POST", "/mcp", &[], "")).expect("text");
    let head = head.replace("Content-Length: 0", "Transfer-Encoding: chunked");
    stream.write_all(head.as_bytes()).expect("it reads");
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    for _ in 0..25 {
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    assert_eq!(Reply::read(stream).status, 413);
    assert_eq!(
        web.call("up__echo", json!({}))["result"]["isError"],
        false,
        "the server still works"
    );
}

/// A page of a configured origin can use the server: its browser asks first, without the token, and
/// needs headers to let the page read the answers.
#[test]
fn pages_of_configured_origins_can_read_answers() {
    let settings = "[serve]\nallowed_origins = [\"https://app.example\"]\n";
    let (folder, _) = config_with_tools(&[], settings);
    let web = HttpClient::start(folder.path(), &[], &[("TOOLWRIGHT_TOKEN", "sesame-sesame")]);
    let page = ("Origin", "https://app.example");
    let wanted = ("Access-Control-Request-Headers", "authorization, mcp-session-id");
    let asked = web.exchange("OPTIONS", "/mcp", &[page, wanted, ("Authorization", "")], "");
    assert_eq!(asked.status, 204, "{asked:?}");
    assert_eq!(asked.headers["access-control-allow-origin"], page.1);
    assert_eq!(asked.headers["access-control-allow-headers"], wanted.1);
    assert!(asked.headers["access-control-allow-methods"].contains("POST"), "{asked:?}");
    let hello = request(&json!(0), "initialize", &handshake("2025-06-18"));
    let answered = web.post(&[page], &hello);
    assert_eq!((answered.status, &*answered.headers["access-control-allow-origin"]), (200, page.1));
    assert!(answered.headers["access-control-expose-headers"].contains("Mcp-Session-Id"));
    let refused = web.post(&[page, ("Authorization", "Bearer wrong-wrong")], &hello);
    assert_eq!(refused.status, 401, "{refused:?}");
    let foreign = web.exchange("OPTIONS", "/mcp", &[("Origin", "https://evil.example")], "");
    assert_eq!(foreign.status, 403, "{foreign:?}");
    assert!(!foreign.headers.contains_key("access-control-allow-origin"), "{foreign:?}");
}

/// `/proc/PID/environ` is closed to other users, but not to programs of root, as which tests may
/// run.
#[test]
fn the_token_cannot_be_read_from_the_environment_of_the_process() {
    const TOKEN: &str = "sesame-sesame-open";
    let (folder, _) = config_with_tools(&[], "");
    let web = HttpClient::start(folder.path(), &[], &[("TOOLWRIGHT_TOKEN", TOKEN)]);
    let shown = std::fs::read(format!("/proc/{}/environ", web.running.pid())).unwrap_or_default();
    let shown = String::from_utf8_lossy(&shown);
    assert!(!shown.contains(TOKEN), "{shown}");
    // It is still the token.
    let hello = request(&json!(0), "initialize", &handshake("2025-06-18"));
    assert_eq!(web.post(&[], &hello).status, 200);
    assert_eq!(web.post(&[("Authorization", "Bearer *")], &hello).status, 401);
}

#[test]
fn ambiguous_requests_are_refused_as_a_whole() {
    let (folder, _) = config_with_tools(&[], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    let session = web.session("2025-03-26");
    // Members by their position, which only some readers would accept.
    let listed =
        json!([null, "up__echo", {}, null, null, null, null, null, null, null, null, null]);
    let answer = session.ask(1, "tools/call", listed).answer(&json!(1));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert_eq!(message, "the parameters of `tools/call` are not an object");
    // Each member of a batch has its own answer, as JSON-RPC demands.
    let batch = json!([request(&json!(2), "ping", &json!({})), {"jsonrpc": "2.0", "id": 3}]);
    let reply = session.post(&batch);
    assert_eq!(reply.status, 200);
    let answers: Json = serde_json::from_str(&reply.body).expect("JSON");
    assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(2), &json!({})), "{answers}");
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(3), &json!(-32600)));
    let own = format!("127.0.0.1:{}", web.port);
    let hello = request(&json!(0), "initialize", &handshake("2025-06-18")).to_string();
    let bytes = String::from_utf8(web.bytes("POST", "/mcp", &[], &hello)).expect("text");
    let twice = bytes.replacen("Accept:", &format!("Host: {own}\r\nAccept:"), 1);
    let mut stream = web.connect();
    stream.write_all(twice.as_bytes()).expect("it reads");
    assert_eq!(Reply::read(stream).status, 400);
}

/// Calls are answered while other clients are idle, send half a request, do not read or send one
/// byte at a time. Those are disconnected after 10 s. The slow client still gets its answer at the
/// end, so no call can have waited until then.
#[test]
fn slow_and_idle_clients_do_not_delay_others() {
    let (folder, _) = config_with_tools(&[], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    web.ask_modern(1, "tools/list", json!({}));
    let idle: Vec<_> = (0..200).map(|_| web.connect()).collect();
    let mut halves: Vec<_> = (0..20).map(|_| web.connect()).collect();
    for half in &mut halves {
        half.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n")
            .expect("it reads");
    }
    let mut unread = web.connect();
    let big = web.modern_bytes(
        1,
        "tools/call",
        json!({"name": "up__big", "arguments": {"bytes": 900_000}}),
    );
    unread.write_all(&big).expect("it reads");
    let mut slow = web.connect();
    let bytes = web.modern_bytes(1, "tools/call", json!({"name": "up__echo", "arguments": {}}));
    for byte in bytes.chunks(1).take(8) {
        slow.write_all(byte).expect("it reads");
        for n in 0..3 {
            assert_eq!(
                web.call("up__echo", json!({"n": n}))["result"]["structuredContent"],
                json!({"echo": {"n": n}})
            );
        }
    }
    slow.write_all(&bytes[8..]).expect("it reads");
    assert_eq!(Reply::read(slow).status, 200);
    // The server did not answer by closing the others: all are still connected.
    for mut other in idle.into_iter().chain(halves) {
        other.set_nonblocking(true).expect("a socket");
        let read = other.read(&mut [0]);
        let is_open = read.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        assert!(is_open, "{read:?}");
    }
    drop(unread);
}

/// The number of connections is limited, so a client cannot keep one without sending a request.
#[test]
fn clients_that_send_no_request_are_disconnected() {
    let folder = folder(&[]);
    let web = HttpClient::start(folder.path(), &["--", &faulty_server(), "mcp", "good"], &[]);
    let beginnings: [(&str, &[u8]); 3] = [
        ("nothing", b""),
        ("half a line", b"POST /m"),
        ("half of its headers", b"POST /mcp HTTP/1.1\r\nHost: 127"),
    ];
    let streams = beginnings.map(|(name, bytes)| {
        let mut stream = web.connect();
        stream.write_all(bytes).expect("it reads");
        (name, stream)
    });
    for (name, mut stream) in streams {
        // The server waits for 10 s. A read error is the timeout of `connect`: 60 s.
        let end = stream.read(&mut [0; 512]);
        assert!(end.is_ok(), "a client that sent {name} is still connected after {LONG:?}");
    }
}

#[test]
fn the_token_is_required_and_never_shown() {
    const TOKEN: &str = "tok-4c3b2a19";
    let (folder, _) = config_with_tools(&[], "");
    let environment = [("TOOLWRIGHT_TOKEN", TOKEN)];
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let web = HttpClient::start_on(address, folder.path(), &[], &environment);
        let hello = request(&json!(0), "initialize", &handshake("2025-06-18"));
        for authorization in [
            "",
            "Bearer",
            "Bearer wrong",
            "Bearer tok-4c3b2a1",
            "Bearer tok-4c3b2a19x",
            "Basic tok-4c3b2a19",
            TOKEN,
        ] {
            let reply = web.post(&[("Authorization", authorization)], &hello);
            assert_eq!(reply.status, 401, "{authorization}: {reply:?}");
            let challenge =
                reply.headers.get("www-authenticate").map(String::as_str).unwrap_or_default();
            assert!(challenge.starts_with("Bearer"), "{authorization}: {reply:?}");
            assert!(!reply.body.contains(TOKEN), "{reply:?}");
        }
        for method in ["GET", "DELETE", "PUT"] {
            assert_eq!(
                web.exchange(method, "/mcp", &[("Authorization", "")], "").status,
                401,
                "{method}"
            );
        }
        assert_eq!(web.post(&[("Authorization", &format!("bearer {TOKEN}"))], &hello).status, 200);
        assert_eq!(web.call("up__echo", json!({}))["result"]["isError"], false);
        // Tools do not get it in their environment.
        assert!(!web.call("up__env", json!({})).to_string().contains(TOKEN));
        if address.starts_with("0.") {
            assert_eq!(
                web.post(&[("Host", "my.machine.example")], &hello).status,
                200,
                "any host name is accepted"
            );
            assert_eq!(web.post(&[("Origin", "http://evil.example")], &hello).status, 403);
        }
        signal(web.running.pid(), "TERM");
        let run = web.running.end(EXIT);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
        assert!(!run.stderr.contains(TOKEN), "{}", run.stderr);
    }
}

#[test]
fn unusable_addresses_are_reported_in_one_line_with_exit_code_2() {
    let (folder, _) = config_with_tools(&[], "");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().map(|address| (taken, address.to_string())).expect("an address");
    type Case<'c> = (&'c str, &'c [(&'c str, &'c str)], &'c str);
    let cases: &[Case<'_>] = &[
        ("0.0.0.0:0", &[], "so a token is needed: set TOOLWRIGHT_TOKEN, or listen on 127.0.0.1"),
        ("0.0.0.0:0", &[("TOOLWRIGHT_TOKEN", "  ")], "so a token is needed"),
        ("[::]:0", &[], "cannot|so a token is needed"),
        (&taken.1, &[], "cannot listen on"),
        ("nonsense", &[], "cannot listen on `nonsense`"),
        ("127.0.0.1", &[], "cannot listen on `127.0.0.1`"),
        ("127.0.0.1:99999", &[], "cannot listen on `127.0.0.1:99999`"),
    ];
    for (address, environment, words) in cases {
        let run = run_with(folder.path(), &["serve", "--http", address], environment, "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{address}: {run:?}");
        assert!(words.split('|').any(|words| run.stderr.contains(words)), "{address}: {run:?}");
        assert!(
            run.stderr.starts_with("toolwright: ") && run.stderr.lines().count() == 1,
            "{address}: {run:?}"
        );
    }
    let nothing = tempfile::tempdir().expect("a folder");
    std::fs::write(nothing.path().join("toolwright.toml"), "").expect("a file");
    let run = run_with(nothing.path(), &["serve"], &[], "");
    assert_eq!((run.code, run.stderr.as_str()), (2, "toolwright: there is no source to serve\n"));
}

/// A signal ends the listening, not the calls. The call ends only after the signal was handled.
#[test]
fn calls_finish_after_a_signal_on_http() {
    let (folder, path) = config_with_tools(&[], "");
    let mut gate = Gate::add(&path, "gate");
    for in_session in [false, true] {
        let web = HttpClient::start(folder.path(), &[], &[]);
        web.ask_modern(1, "tools/list", json!({}));
        let params = json!({"name": "gate", "arguments": {}});
        let mut stream = web.connect();
        if in_session {
            let session = web.session("2025-06-18");
            let body = request(&json!(1), "tools/call", &params).to_string();
            stream
                .write_all(&web.bytes("POST", "/mcp", &session.headers(), &body))
                .expect("it reads");
        } else {
            stream.write_all(&web.modern_bytes(1, "tools/call", params)).expect("it reads");
        }
        // The call is running when its program is.
        until("the tool's process", LONG, || {
            let all = descendants(web.running.pid());
            all.iter()
                .any(|pid| {
                    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                    String::from_utf8_lossy(&command).contains("gate-tool")
                })
                .then_some(())
        });
        signal(web.running.pid(), "TERM");
        until("the signal in the log", LONG, || {
            web.running.stderr().contains("toolwright: shutting down").then_some(())
        });
        gate.release();
        let reply = Reply::read(stream);
        let run = web.running.end(EXIT);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(reply.status, 200, "in a session: {in_session}: {reply:?}");
        let result = &reply.answer(&json!(1))["result"];
        assert_eq!(result["structuredContent"], json!({"released": true}), "{reply:?}");
    }
}

#[test]
fn a_signal_on_http_ends_all_processes() {
    let (folder, path) =
        config_with_tools(&["fork", "setsid"], &(server("stuck", "hang-start") + SHORT_STARTUP));
    let web = HttpClient::start(folder.path(), &[], &[]);
    until("the tools in the list", LONG, || {
        let list = web.ask_modern(1, "tools/list", json!({})).answer(&json!(1));
        let listed = names(&list["result"]);
        ["fork", "setsid"].iter().all(|name| listed.contains(&(*name).to_owned())).then_some(())
    });
    let mut pids = Vec::new();
    let mut streams = Vec::new();
    for mode in ["fork", "setsid"] {
        let file = path.join(mode);
        let mut stream = web.connect();
        let params = json!({"name": mode, "arguments": {"file": file.display().to_string()}});
        stream.write_all(&web.modern_bytes(1, "tools/call", params)).expect("it reads");
        pids.push(pid_in(&file));
        streams.push(stream);
    }
    pids.extend(descendants(web.running.pid()));
    signal(web.running.pid(), "TERM");
    // Calls that do not end have 3 s, and no more.
    let run = web.running.end(EXIT);
    assert_eq!(run.code, 0, "{run:?}");
    for pid in pids {
        gone("a process of the server", pid, EXIT);
    }
}

#[test]
fn concurrent_clients_get_their_own_answers() {
    let (folder, _) = config_with_tools(&["echo"], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    web.ask_modern(1, "tools/list", json!({}));
    let work = |who: u64| {
        let session = web.session("2025-11-25");
        for n in 0..15 {
            let arguments = json!({"who": who, "n": n});
            // All clients use the same ids, which are unique within one client only.
            let call = json!({"name": "up__echo", "arguments": arguments});
            let old = session.ask(n, "tools/call", call.clone()).answer(&json!(n));
            assert_eq!(old["result"]["structuredContent"]["echo"], arguments);
            let new = web.ask_modern(n, "tools/call", call).answer(&json!(n));
            assert_eq!(new["result"]["structuredContent"]["echo"], arguments);
        }
        session.id.clone()
    };
    let ids = std::thread::scope(|scope| {
        let work = &work;
        let clients: Vec<_> = (0..4).map(|who| scope.spawn(move || work(who))).collect();
        clients
            .into_iter()
            .map(|client| client.join().expect("its own answers"))
            .collect::<Vec<_>>()
    });
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), 4, "{ids:?}");
}

#[test]
fn disconnecting_ends_a_call_without_a_session_and_cancelling_one_with() {
    let (folder, path) = config_with_tools(&["fork", "daemon"], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    web.ask_modern(1, "tools/list", json!({}));
    for round in 0..3 {
        for mode in ["fork", "daemon"] {
            let file = path.join(format!("{mode}-{round}"));
            let params = json!({"name": mode, "arguments": {"file": file.display().to_string()}});
            let mut stream = web.connect();
            stream.write_all(&web.modern_bytes(1, "tools/call", params)).expect("it reads");
            let pid = pid_in(&file);
            assert!(runs(pid));
            stream.shutdown(Shutdown::Both).expect("ours");
            drop(stream);
            gone(mode, pid, EXIT);
        }
    }
    // In a session a client may reconnect, so only a notification cancels the call.
    let session = web.session("2025-06-18");
    let file = path.join("in-session");
    let params = json!({"name": "fork", "arguments": {"file": file.display().to_string()}});
    let mut stream = web.connect();
    let body = request(&json!(5), "tools/call", &params).to_string();
    stream.write_all(&web.bytes("POST", "/mcp", &session.headers(), &body)).expect("it reads");
    let pid = pid_in(&file);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    assert_eq!(session.post(&cancelled).status, 202);
    gone("a call in a session", pid, EXIT);
    let reply = Reply::read(stream);
    assert!(
        reply.status == 200 && reply.messages().is_empty(),
        "a cancelled call has no answer: {reply:?}"
    );
}

/// Sends a call of a session and returns the connection, from which nothing was read yet.
fn send_call(web: &HttpClient, session: &Session<'_>, id: u64, params: &Json) -> impl BufRead {
    let body = request(&json!(id), "tools/call", params).to_string();
    let mut stream = web.connect();
    stream.write_all(&web.bytes("POST", "/mcp", &session.headers(), &body)).expect("it reads");
    BufReader::new(stream)
}

/// Reconnects with the id of the last event that the client has received.
fn resume(web: &HttpClient, session: &Session<'_>, last_event: &str) -> impl BufRead + use<> {
    let mut headers = session.headers().to_vec();
    headers.push(("Last-Event-ID", last_event));
    let mut stream = web.connect();
    stream.write_all(&web.bytes("GET", "/mcp", &headers, "")).expect("it reads");
    let mut reader = BufReader::new(stream);
    assert_eq!(Reply::read_head(&mut reader).status, 200);
    reader
}

/// Reads lines until `wanted` was among them, and returns all.
fn read_until(reader: &mut impl BufRead, wanted: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(wanted) {
        assert!(reader.read_line(&mut seen).expect("more") > 0, "{seen}");
    }
    seen
}

fn content_type(reply: &Reply) -> &str {
    &reply.headers["content-type"]
}

/// A quick answer is JSON. On a busy machine a call may take longer than the 200 ms of a quick one,
/// so the first of many that is quick is taken.
#[test]
fn quick_calls_of_a_session_are_answered_as_json() {
    let (folder, _) = config_with_tools(&[], "");
    let web = HttpClient::start(folder.path(), &[], &[]);
    let session = web.session("2025-11-25");
    session.ask(1, "tools/list", json!({}));
    let echo = json!({"name": "up__echo", "arguments": {"a": 1}});
    let quick = (0..100)
        .map(|_| session.ask(2, "tools/call", echo.clone()))
        .find(|reply| reply.headers.contains_key("content-length"))
        .expect("one of the answers comes whole");
    assert_eq!(content_type(&quick), "application/json", "{quick:?}");
    // Headers that other revisions have do no harm.
    for header in [
        ("Origin", format!("http://127.0.0.1:{}", web.port)),
        ("Mcp-Method", "tools/call".to_owned()),
    ] {
        let mut headers = session.headers().to_vec();
        headers.push((header.0, &header.1));
        let unusual = web.post(&headers, &request(&json!(3), "tools/call", &echo));
        assert_eq!(
            unusual.answer(&json!(3))["result"],
            quick.answer(&json!(2))["result"],
            "{header:?}"
        );
    }
}

/// The number of a log in the first event id that a stream sends.
fn log_number(reader: &mut impl BufRead) -> String {
    let seen = read_until(reader, "id: call-");
    let id = seen.lines().find_map(|line| line.strip_prefix("id: call-")).expect("an id");
    id.rsplit_once('-').expect("log and event").0.to_owned()
}

#[test]
fn event_streams_of_a_session_can_be_resumed() {
    let (folder, path) = config_with_tools(&["fork"], "");
    let mut gate = Gate::add(&path, "gate");
    let web = HttpClient::start(folder.path(), &[], &[]);
    let session = web.session("2025-11-25");
    session.ask(1, "tools/list", json!({}));
    let wait = json!({"name": "gate", "arguments": {}});
    // The headers come before the answer: the call is still held at the gate.
    let mut reader = send_call(&web, &session, 4, &wait);
    assert_eq!(content_type(&Reply::read_head(&mut reader)), "text/event-stream");
    let log = log_number(&mut reader);
    drop(reader);
    gate.release();
    // The client may come back more than once with the same id.
    for _ in 0..2 {
        let mut resumed = resume(&web, &session, &format!("call-{log}-0"));
        let rest = read_until(&mut resumed, "\"id\":4");
        assert!(
            rest.contains("\"id\":4") && rest.contains("\"structuredContent\":{\"released\":true}"),
            "{rest}"
        );
    }
    // The log of a running call is kept while the client makes more calls than logs are kept.
    let mut reader = send_call(&web, &session, 5, &wait);
    Reply::read_head(&mut reader);
    let log = log_number(&mut reader);
    drop(reader);
    for n in 0..70 {
        session.ask(100 + n, "tools/call", json!({"name": "up__echo", "arguments": {"n": n}}));
    }
    gate.release();
    read_until(&mut resume(&web, &session, &format!("call-{log}-0")), "\"id\":5");
    // The end of a session ends its calls.
    let file = path.join("ended");
    let fork = json!({"name": "fork", "arguments": {"file": file.display().to_string()}});
    let reader = send_call(&web, &session, 6, &fork);
    let pid = pid_in(&file);
    web.exchange("DELETE", "/mcp", &session.headers(), "");
    gone("a call of a closed session", pid, EXIT);
    drop(reader);
}

/// What is remembered for clients of 2026-07-28 ends after `session_idle`, too.
#[test]
fn clients_without_a_session_are_forgotten_when_they_are_idle() {
    let text = server("up", "good") + "isolation = \"session\"\n" + LONG_STARTUP;
    let (folder, path) = configured(&(text + "session_idle = 1000\nanswer_tokens = 100\n"));
    let web = HttpClient::start(&path, &[], &[]);
    // A running request is not idle.
    let done = web.call("up__sleep", json!({"ms": 3000}));
    assert_eq!(done["result"]["structuredContent"], json!({"slept": 3000}), "{done}");
    let done = web.call("up__big", json!({"bytes": 5000}));
    let handle = done["result"]["_meta"]["toolwright/stored-result"]["handle"].clone();
    assert!(handle.is_string(), "{done}");
    let pid = || {
        let done = web.call("up__pid", json!({}));
        let pid = done["result"]["structuredContent"]["pid"].as_u64();
        u32::try_from(pid.unwrap_or_else(|| panic!("no pid: {done}"))).expect("a pid")
    };
    let own = pid();
    gone("the server of the idle clients", own, LONG);
    let list = web.ask_modern(1, "tools/list", json!({})).body;
    assert!(list.contains("up__big") && !list.contains("read_result"), "{list}");
    let read = web.call("read_result", json!({"handle": handle}));
    assert_eq!(read["error"]["code"], -32602, "{read}");
    assert_ne!(pid(), own);
    drop(folder);
}

/// Their call waits for the person, and other clients are idle for a shorter time.
#[test]
fn a_question_keeps_clients_without_a_session() {
    let results = (1..40).map(|id| {
        let content = json!([{"type": "text", "text": "answered"}]);
        json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}})
    });
    let script = json!({
        "tools/call": {"before": [question("elicitation/create")]},
        "answered": results.collect::<Vec<_>>(),
    });
    let isolated = server("own", "good") + "isolation = \"session\"\n";
    let servers = ScriptedServers::new(&[("up", &isolated, script)]);
    let file = servers.file("toolwright.toml");
    let text = std::fs::read_to_string(&file).expect("a file");
    std::fs::write(&file, text + "session_idle = 1000\n").expect("a file");
    let web = HttpClient::start(servers.path(), &[], &[]);
    let call = |more: Json| {
        let mut params = json!({"name": "up__t", "arguments": {}});
        params["_meta"] =
            json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
        for (name, value) in more.as_object().expect("members") {
            params[name] = value.clone();
        }
        web.ask_modern(1, "tools/call", params).answer(&json!(1))
    };
    let asked = call(json!({}));
    let questions = asked["result"]["inputRequests"].as_object().expect("questions");
    let name = questions.keys().next().expect("a question");
    let session = web.session("2025-06-18");
    let pid = json!({"name": "own__pid", "arguments": {}});
    let own = session.ask(2, "tools/call", pid).answer(&json!(2));
    let pid = own["result"]["structuredContent"]["pid"].as_u64().expect("a pid");
    gone("the server of the idle session", u32::try_from(pid).expect("a pid"), LONG);
    let done = call(json!({
        "requestState": asked["result"]["requestState"],
        "inputResponses": {name: {"action": "accept"}},
    }));
    assert_eq!(done["result"]["content"][0]["text"], "answered", "{done}");
}
