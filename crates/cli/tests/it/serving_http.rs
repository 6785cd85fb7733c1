//! `toolwright serve` on HTTP: what agents see there, who is let in, and what is left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::client::{
    LONG, MODERN, REVISIONS, Reply, Web, configured, descendants, faulty_server, gone, handshake,
    names, pid_in, request, run_with, runs, signal, until,
};
use crate::program::folder;
use crate::serving::{END, SOON, server, workshop};

#[test]
fn http_speaks_every_revision() {
    let (folder, _) = workshop(&["add"], "");
    let web = Web::start(folder.path(), &[], &[]);
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
                "name": "up__progress", "arguments": {"steps": 3, "ms": 1}, "_meta": {"progressToken": "t"},
            }),
        );
        let methods: Vec<Json> = reply
            .messages()
            .into_iter()
            .map(|message| message["params"]["progress"].clone())
            .collect();
        assert_eq!(
            methods,
            [json!(1.0), json!(2.0), json!(3.0), Json::Null],
            "{revision}: {reply:?}"
        );
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
            "name": "up__progress", "arguments": {"steps": 2, "ms": 1}, "_meta": {"progressToken": "t"},
        }),
    );
    assert_eq!(progress.messages().len(), 3, "{progress:?}");
    assert_eq!(web.running.stdout(), "", "nothing is on stdout");
}

#[test]
fn http_tells_of_changes() {
    let (folder, _) = configured(&server("up", "changing"));
    let web = Web::start(folder.path(), &[], &[]);
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

/// No web page can reach it through a browser, and nobody gets an answer that is none.
#[test]
fn http_refuses_what_it_must() {
    let (folder, _) = workshop(&[], "");
    let web = Web::start(folder.path(), &[], &[]);
    let hello = request(&json!(0), "initialize", &handshake("2025-06-18")).to_string();
    let own = format!("http://127.0.0.1:{}", web.port);
    let by_name = format!("http://localhost:{}", web.port);
    let other_port = format!("http://127.0.0.1:{}", web.port ^ 1);
    let named = format!("localhost:{}", web.port);
    let list = request(&json!(1), "tools/list", &json!({})).to_string();
    let huge = format!("\"{}\"", "x".repeat(5 << 20));
    type Case<'c> = (&'c str, &'c str, &'c str, &'c [(&'c str, &'c str)], &'c str, &'c [u16]);
    let cases: &[Case<'_>] = &[
        ("as it should be", "POST", "/mcp", &[], &hello, &[200]),
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
        ("origin that is none", "POST", "/mcp", &[("Origin", "nonsense")], &hello, &[403]),
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
        ("a path that climbs", "GET", "/mcp/../etc/passwd", &[], "", &[404]),
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
        ("a method of its own", "BREW", "/mcp", &[], &hello, &[405]),
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
        ("accepts nothing of it", "POST", "/mcp", &[("Accept", "text/html")], &hello, &[406]),
        ("too large", "POST", "/mcp", &[], &huge, &[413]),
    ];
    for (name, method, path, headers, body, statuses) in cases {
        let reply = web.exchange(method, path, headers, body);
        assert!(statuses.contains(&reply.status), "{name}: {reply:?}");
        assert!(!reply.headers.contains_key("access-control-allow-origin"), "{name}: {reply:?}");
    }
    // In chunks, without a length, it is too large all the same.
    let mut stream = web.connect();
    let head = String::from_utf8(web.bytes("POST", "/mcp", &[], "")).expect("text");
    let head = head.replace("Content-Length: 0", "Transfer-Encoding: chunked");
    stream.write_all(head.as_bytes()).expect("it reads");
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    for _ in 0..5 {
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    assert_eq!(Reply::read(stream).status, 413);
    assert_eq!(
        web.call("up__echo", json!({}))["result"]["isError"],
        false,
        "and the server is well"
    );
}

#[test]
fn slow_and_idle_clients_disturb_nobody() {
    let (folder, _) = workshop(&[], "");
    let web = Web::start(folder.path(), &[], &[]);
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
    let mut worst = Duration::ZERO;
    for byte in bytes.chunks(1).take(8) {
        slow.write_all(byte).expect("it reads");
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(200) {
            let started = Instant::now();
            assert_eq!(
                web.call("up__echo", json!({"x": 1}))["result"]["structuredContent"],
                json!({"echo": {"x": 1}})
            );
            worst = worst.max(started.elapsed());
        }
    }
    assert!(worst < Duration::from_millis(300), "a call took {worst:?}");
    // Slow as it was, it gets its answer.
    slow.write_all(&bytes[8..]).expect("it reads");
    assert_eq!(Reply::read(slow).status, 200);
    drop((idle, halves, unread));
}

/// There are only so many places, so nobody may keep one without saying anything.
#[test]
fn clients_that_say_nothing_are_let_go() {
    let folder = folder(&[]);
    let web = Web::start(folder.path(), &["--", &faulty_server(), "mcp", "good"], &[]);
    let beginnings: [(&str, &[u8]); 3] = [
        ("nothing", b""),
        ("half a line", b"POST /m"),
        ("half of its headers", b"POST /mcp HTTP/1.1\r\nHost: 127"),
    ];
    let started = Instant::now();
    let streams = beginnings.map(|(name, bytes)| {
        let mut stream = web.connect();
        stream.write_all(bytes).expect("it reads");
        (name, stream)
    });
    for (name, mut stream) in streams {
        let left = Duration::from_millis(11_500)
            .saturating_sub(started.elapsed())
            .max(Duration::from_millis(100));
        stream.set_read_timeout(Some(left)).expect("a timeout");
        let end = stream.read(&mut [0; 512]);
        assert!(end.is_ok(), "who sent {name} is still connected after {:?}", started.elapsed());
    }
}

#[test]
fn the_token_is_asked_for_and_never_shown() {
    const TOKEN: &str = "tok-4c3b2a19";
    let (folder, _) = workshop(&[], "");
    let environment = [("TOOLWRIGHT_TOKEN", TOKEN)];
    for address in ["127.0.0.1:0", "0.0.0.0:0"] {
        let web = Web::start_on(address, folder.path(), &[], &environment);
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
        // Programs do not see it either.
        assert!(!web.call("up__env", json!({})).to_string().contains(TOKEN));
        if address.starts_with("0.") {
            assert_eq!(
                web.post(&[("Host", "my.machine.example")], &hello).status,
                200,
                "any name will do"
            );
            assert_eq!(web.post(&[("Origin", "http://evil.example")], &hello).status, 403);
        }
        signal(web.running.pid(), "TERM");
        let run = web.running.end(END);
        assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
        assert!(!run.stderr.contains(TOKEN), "{}", run.stderr);
    }
}

#[test]
fn addresses_that_will_not_do_are_one_sentence_and_exit_2() {
    let (folder, _) = workshop(&[], "");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().map(|address| (taken, address.to_string())).expect("an address");
    type Case<'c> = (&'c str, &'c [(&'c str, &'c str)], &'c str);
    let cases: &[Case<'_>] = &[
        (
            "0.0.0.0:0",
            &[],
            "so a token is needed: put one into TOOLWRIGHT_TOKEN, or listen on 127.0.0.1",
        ),
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
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (2, "toolwright: there is no source that could be served\n")
    );
}

/// The first signal ends the listening, not the calls.
#[test]
fn http_ends_when_its_calls_have_ended() {
    let (folder, path) = workshop(&["sleep"], "");
    let answered = |session: bool| {
        let web = Web::start(folder.path(), &[], &[]);
        web.ask_modern(1, "tools/list", json!({}));
        let marker = path.join("pid");
        let _ = std::fs::remove_file(&marker);
        let params = json!({"name": "sleep", "arguments": {"ms": 500}});
        let mut stream = web.connect();
        if session {
            let session = web.session("2025-06-18");
            let body = request(&json!(1), "tools/call", &params).to_string();
            stream
                .write_all(&web.bytes("POST", "/mcp", &session.headers(), &body))
                .expect("it reads");
        } else {
            stream.write_all(&web.modern_bytes(1, "tools/call", params)).expect("it reads");
        }
        // The call is under way when its program runs.
        until("the tool's process", LONG, || {
            let all = descendants(web.running.pid());
            all.iter()
                .any(|pid| {
                    std::fs::read(format!("/proc/{pid}/cmdline"))
                        .is_ok_and(|line| line.ends_with(b"sleep-tool\0"))
                })
                .then_some(())
        });
        signal(web.running.pid(), "TERM");
        let reply = Reply::read(stream);
        let run = web.running.end(END);
        assert_eq!(run.code, 0, "{run:?}");
        reply
    };
    for session in [false, true] {
        let reply = answered(session);
        assert_eq!(reply.status, 200, "session: {session}: {reply:?}");
        assert_eq!(
            reply.answer(&json!(1))["result"]["structuredContent"],
            json!({"slept": 500}),
            "{reply:?}"
        );
    }
}

#[test]
fn http_leaves_nothing_behind() {
    let (folder, path) = workshop(&["fork", "setsid"], &(server("stuck", "hang-start") + SOON));
    let web = Web::start(folder.path(), &[], &[]);
    web.ask_modern(1, "tools/list", json!({}));
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
    // Calls that do not end have a moment, and no more.
    let run = web.running.end(Duration::from_secs(8));
    assert_eq!(run.code, 0, "{run:?}");
    for pid in pids {
        gone("what was started", pid, Duration::from_millis(500));
    }
}

#[test]
fn two_clients_get_their_own_answers() {
    let (folder, _) = workshop(&["echo"], "");
    let web = Web::start(folder.path(), &[], &[]);
    web.ask_modern(1, "tools/list", json!({}));
    let work = |who: u64| {
        let session = web.session("2025-11-25");
        for n in 0..15 {
            let arguments = json!({"who": who, "n": n});
            // The same ids on purpose: they count within one client only.
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
fn a_client_that_hangs_up_ends_its_call() {
    let (folder, path) = workshop(&["fork", "daemon"], "");
    let web = Web::start(folder.path(), &[], &[]);
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
            gone(mode, pid, Duration::from_secs(2));
        }
    }
    // In a session the connection may be lost and found again; there the call is cancelled by a
    // message.
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
    gone("a call in a session", pid, Duration::from_secs(2));
    let reply = Reply::read(stream);
    assert!(
        reply.status == 200 && reply.messages().is_empty(),
        "nobody waits for an answer: {reply:?}"
    );
}

#[test]
fn calls_of_a_session_are_answered_in_one_piece_or_as_they_go() {
    let (folder, path) = workshop(&["fork"], "");
    let web = Web::start(folder.path(), &[], &[]);
    let session = web.session("2025-11-25");
    session.ask(1, "tools/list", json!({}));
    let kind = |reply: &Reply| reply.headers["content-type"].clone();
    let quick = session.ask(2, "tools/call", json!({"name": "up__echo", "arguments": {"a": 1}}));
    assert_eq!(
        (kind(&quick).as_str(), quick.headers.contains_key("content-length")),
        ("text/event-stream", true),
        "{quick:?}"
    );
    // A client of this revision is told first what it could come back with; one of an older
    // revision is not.
    assert!(
        quick.body.starts_with("id: call-0-0\nretry: 3000\ndata: \n\nid: call-0-1\ndata: {"),
        "{quick:?}"
    );
    let older = web.session("2025-06-18");
    let older = older.ask(2, "tools/call", json!({"name": "up__echo", "arguments": {"a": 1}}));
    assert!(older.body.starts_with("id: call-1-1\ndata: {"), "{older:?}");
    // Whoever asks in an unusual way gets the same answer in rmcp's way.
    for header in [
        ("Origin", format!("http://127.0.0.1:{}", web.port)),
        ("Mcp-Method", "tools/call".to_owned()),
    ] {
        let mut headers = session.headers().to_vec();
        headers.push((header.0, &header.1));
        let body =
            request(&json!(3), "tools/call", &json!({"name": "up__echo", "arguments": {"a": 1}}));
        let unusual = web.post(&headers, &body);
        assert!(
            kind(&unusual) == "text/event-stream" && !unusual.body.contains("id: call-"),
            "{header:?}"
        );
        assert_eq!(
            unusual.answer(&json!(3))["result"],
            quick.answer(&json!(2))["result"],
            "{header:?}"
        );
    }
    // The headers of an answer that takes its time come before it.
    let params = json!({"name": "up__progress", "arguments": {"steps": 1, "ms": 3_000}});
    let began = Instant::now();
    let mut stream = web.connect();
    let body = request(&json!(4), "tools/call", &params).to_string();
    stream.write_all(&web.bytes("POST", "/mcp", &session.headers(), &body)).expect("it reads");
    let mut reader = BufReader::new(stream);
    let head = Reply::read_head(&mut reader);
    assert_eq!(kind(&head), "text/event-stream");
    assert!(began.elapsed() < Duration::from_millis(2_900), "{:?}", began.elapsed());
    // Who loses the connection meanwhile comes back with the last id, once and again, and hears the
    // rest.
    let until = |reader: &mut dyn BufRead, wanted: &str| {
        let mut seen = String::new();
        while !seen.contains(wanted) {
            assert!(reader.read_line(&mut seen).expect("more") > 0, "{seen}");
        }
        seen
    };
    until(&mut reader, "id: call-2-0\n");
    drop(reader);
    for _ in 0..2 {
        let mut headers = session.headers().to_vec();
        headers.push(("Last-Event-ID", "call-2-0"));
        let mut stream = web.connect();
        stream.write_all(&web.bytes("GET", "/mcp", &headers, "")).expect("it reads");
        let mut reader = BufReader::new(stream);
        assert_eq!(Reply::read_head(&mut reader).status, 200);
        let rest = until(&mut reader, "call-2-1\n");
        assert!(
            rest.contains("\"id\":4") && rest.contains("\"structuredContent\":{\"steps\":1}"),
            "{rest}"
        );
    }
    // So does who has made many other calls meanwhile; those that are over make room.
    let mut early = web.connect();
    let body = request(
        &json!(5),
        "tools/call",
        &json!({"name": "up__progress", "arguments": {"steps": 1, "ms": 5000}}),
    )
    .to_string();
    early.write_all(&web.bytes("POST", "/mcp", &session.headers(), &body)).expect("it reads");
    let mut early = BufReader::new(early);
    Reply::read_head(&mut early);
    until(&mut early, "id: call-3-0\n");
    drop(early);
    for n in 0..70 {
        session.ask(100 + n, "tools/call", json!({"name": "up__echo", "arguments": {"n": n}}));
    }
    let mut headers = session.headers().to_vec();
    headers.push(("Last-Event-ID", "call-3-0"));
    let mut stream = web.connect();
    stream.write_all(&web.bytes("GET", "/mcp", &headers, "")).expect("it reads");
    let rest = until(&mut BufReader::new(stream), "call-3-1\n");
    assert!(rest.contains("\"id\":5"), "{rest}");
    // A session that is ended takes its calls along.
    let file = path.join("ended");
    let params = json!({"name": "fork", "arguments": {"file": file.display().to_string()}});
    let mut stream = web.connect();
    let body = request(&json!(5), "tools/call", &params).to_string();
    stream.write_all(&web.bytes("POST", "/mcp", &session.headers(), &body)).expect("it reads");
    let pid = pid_in(&file);
    web.exchange("DELETE", "/mcp", &session.headers(), "");
    gone("a call of a session that is over", pid, Duration::from_secs(2));
}
