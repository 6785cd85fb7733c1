//! `[[source]] builtin = "web"`: the tools that the program brings along, in every command.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::client::{LONG, StdioClient, until};
use crate::program::{Run, folder, run_in};

/// An article among menus; its last line is long.
const PAGE: &str = "<html lang=en><title>Flood</title><div class=menu><a href=/>Home</a></div>\
    <div><h1>Flood</h1><p>The water came up to the door of <a href=/mill>the mill</a>, and stayed \
    there for two days.</p><p>Then it went, and left <img src=/mud.png alt=mud> mud in all the \
    rooms of the house, and a boat.</p></div>";

/// A server that answers by the path: a page, the results of a search, or nothing.
fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let length = stream.read(&mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or_default();
            let (kind, body) = match path.split(['/', '?']).nth(1).unwrap_or_default() {
                "silent" => {
                    silent.push(stream);
                    continue;
                }
                "res" => ("application/json", search_results(&head)),
                "app" => ("text/html", "<div id=root></div><script src=a.js></script>".to_owned()),
                "long" => ("text/plain", "0123456789".repeat(150_000)),
                _ => ("text/html", PAGE.to_owned()),
            };
            let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\n\r\n{body}");
        }
    });
    address
}

/// What Brave answers. The key comes back in a title, as a careless provider might do it.
fn search_results(head: &str) -> String {
    let key = head.lines().find_map(|line| line.strip_prefix("x-subscription-token: "));
    let title = format!("High tide {}", key.unwrap_or("without a key"));
    let hit = json!({"title": title, "url": "https://tides.example/", "description": "Six"});
    json!({"web": {"results": [hit]}}).to_string()
}

/// A project with the built-in source, and variables for it.
fn project(env: &str) -> tempfile::TempDir {
    let config = format!("[[source]]\nname = \"web\"\nbuiltin = \"web\"\nenv = {{ {env} }}\n");
    folder(&[("toolwright.toml", config.as_bytes())])
}

const PRIVATE: &str = "TOOLWRIGHT_WEB_ALLOW_PRIVATE = \"1\"";

fn run(folder: &Path, args: &[&str]) -> Run {
    run_in(folder, args, b"")
}

#[test]
fn fetch_is_listed_shown_checked_and_called() {
    let project = project(PRIVATE);
    let run = |args: &[&str]| run(project.path(), args);
    let list = run(&["list"]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.stdout.starts_with("web:fetch"), "{list:?}");
    // Without credentials, no agent is offered a search.
    assert_eq!(list.stdout.lines().count(), 1, "{list:?}");
    let show = run(&["show", "--tool", "web:fetch"]);
    assert!(show.stdout.contains("a built-in tool of the toolset web"), "{show:?}");
    let record = run(&["show", "--json"]);
    let record: Json = serde_json::from_str(&record.stdout).expect("JSON");
    let binding = &record.pointer("/tools/0/binding").or(record.pointer("/0/tools/0/binding"));
    assert!(binding.is_some_and(|it| it["kind"] == "builtin" && it["tool"] == "fetch"), "{record}");
    let check = run(&["check"]);
    assert_eq!(check.code, 0, "{check:?}");
    let address = server();
    let url = format!("url=http://{address}/flood");
    let page = run(&["call", "web:fetch", &url]);
    assert_eq!(
        page.stdout,
        format!(
            "---\ntitle: \"Flood\"\nurl: \"http://{address}/flood\"\nlanguage: \"en\"\n\
             total_lines: 5\ntotal_characters: {}\nmore: false\n---\n\n# Flood\n\nThe water came \
             up to the door of [the mill](http://{address}/mill), and stayed there for two \
             days.\n\nThen it went, and left ![mud](http://{address}/mud.png) mud in all the rooms \
             of the house, and a boat.\n",
            179 + 2 * format!("http://{address}").len()
        )
    );
    let bare = ["front_matter=false", "links=none", "images=false"];
    let part = [&["call", "web:fetch", &url, "offset=3", "limit=1"][..], &bare].concat();
    assert_eq!(
        run(&part).stdout,
        "The water came up to the door of the mill, and stayed there for two days.\n"
    );
    let characters = ["unit=characters", "offset=3", "limit=5"];
    let part = [&["call", "web:fetch", &url][..], &bare, &characters].concat();
    assert_eq!(run(&part).stdout, "Flood\n");
    let whole = [&["call", "web:fetch", &url, "content=whole"][..], &bare].concat();
    assert!(run(&whole).stdout.starts_with("Home\n"), "{:?}", run(&whole));
    let notes = run(&["call", "web:fetch", &format!("url=http://{address}/app")]);
    assert!(notes.stdout.contains("Note: the page has nearly no text without JavaScript"));
    let url = format!("url=http://{address}/long");
    let long = run(&["call", "web:fetch", &url]);
    long.assert_on_stderr("OUTPUT_TOO_LARGE");
    long.assert_on_stderr("the page has 1 lines and 1500000 characters");
    let end = ["unit=characters", "offset=1499996", "front_matter=false"];
    let end = run(&[&["call", "web:fetch", &url][..], &end].concat());
    assert_eq!(end.stdout, "56789\n");
    let wrong = run(&["call", "web:fetch", &url, "contnet=whole"]);
    wrong.assert_on_stderr("did you mean `content`");
}

#[test]
fn addresses_of_this_machine_are_refused_unless_the_source_allows_them() {
    let project = project("");
    let url = format!("url=http://{}/", server());
    let refused = run(project.path(), &["call", "web:fetch", &url]);
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""));
    refused.assert_on_stderr("TOOL_FAILED");
    refused.assert_on_stderr("the address is private, local or otherwise special");
    refused.assert_on_stderr("TOOLWRIGHT_WEB_ALLOW_PRIVATE=1");
}

/// The tool's own time is up before that of the call, so that the caller learns what was slow.
#[test]
fn the_tool_gives_up_before_its_caller_does() {
    let project = project(PRIVATE);
    let url = format!("url=http://{}/silent", server());
    let slow = run(project.path(), &["call", "web:fetch", &url, "--timeout", "3000"]);
    assert_eq!(slow.code, 1, "{slow:?}");
    slow.assert_on_stderr("TIMEOUT: cannot fetch `http://");
    slow.assert_on_stderr("Connection timeout");
}

#[test]
fn search_is_offered_with_the_credentials_of_a_provider() {
    let address = server();
    let with_key = project(&format!(
        "BRAVE_API_KEY = \"k3y-of-brave\", TOOLWRIGHT_BRAVE_URL = \"http://{address}\""
    ));
    let list = run(with_key.path(), &["list"]);
    assert!(list.stdout.contains("web:search"), "{list:?}");
    let found = run(with_key.path(), &["call", "web:search", "query=tides"]);
    let found: Json = serde_json::from_str(&found.stdout).unwrap_or_else(|_| panic!("{found:?}"));
    assert_eq!(
        found,
        json!({"results": [{
            "title": "High tide ***", "url": "https://tides.example/", "description": "Six",
        }]})
    );
    let short = run(with_key.path(), &["call", "web:search", "query=x"]);
    short.assert_on_stderr("INPUT_INVALID");
    // Google needs a key and an engine.
    let half = project("GOOGLE_SEARCH_API_KEY = \"k3y-of-google\"");
    assert!(!run(half.path(), &["list"]).stdout.contains("web:search"));
    let both = project("GOOGLE_SEARCH_API_KEY = \"key\", GOOGLE_SEARCH_ENGINE_ID = \"engine\"");
    assert!(run(both.path(), &["list"]).stdout.contains("web:search"));
    let shown = run(both.path(), &["show", "--tool", "web:search"]);
    assert!(shown.stdout.contains("Google Custom Search API"), "{shown:?}");
}

#[test]
fn clients_of_serve_get_the_tools_and_changes_of_the_configuration() {
    let project = project(PRIVATE);
    let address = server();
    let mut client = StdioClient::start(project.path(), &[], &[]);
    let tools = client.ask("tools/list", json!({}));
    let tool = &tools["result"]["tools"][0];
    assert_eq!(tool["name"], "web__fetch", "{tools}");
    assert_eq!(
        (&tool["annotations"]["readOnlyHint"], &tool["annotations"]["openWorldHint"]),
        (&json!(true), &json!(true))
    );
    let answer = client.call("web__fetch", json!({"url": format!("http://{address}/")}));
    let text = answer["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("# Flood") && !text.contains("Home"), "{answer}");
    let refused = client.call("web__fetch", json!({"url": "file:///etc/passwd"}));
    assert_eq!(refused["isError"], true, "{refused}");
    let config = "[[source]]\nname = \"net\"\nbuiltin = \"web\"\n";
    std::fs::write(project.path().join("toolwright.toml"), config).expect("written");
    until("the new name", LONG, || (client.names() == ["net__fetch"]).then_some(()));
}

#[test]
fn a_wrong_name_is_reported_with_the_one_that_was_meant() {
    let config = b"[[source]]\nname = \"web\"\nbuiltin = \"wbe\"\n";
    let project = folder(&[("toolwright.toml", config)]);
    let check = run(project.path(), &["check"]);
    assert_eq!(check.code, 1, "{check:?}");
    let text = format!("{}{}", check.stdout, check.stderr);
    assert!(text.contains("`builtin` is `wbe`") && text.contains("did you mean `web`?"), "{text}");
}

#[test]
fn the_list_is_pinned_like_any_other() {
    let project = project(PRIVATE);
    let run = |args: &[&str]| run(project.path(), args);
    let locked = run(&["trust", "--lock"]);
    assert_eq!(locked.code, 0, "{locked:?}");
    let path = project.path().join("toolwright.lock");
    let lock = std::fs::read_to_string(&path).expect("the lock");
    assert!(lock.contains("[builtin.web]\n\n[builtin.web.tools]\nfetch = \"v1:"), "{lock}");
    assert_eq!(run(&["trust", "--check"]).code, 0);
    let start = lock.find("v1:").expect("a hash") + 3;
    let digit = if &lock[start..=start] == "0" { "1" } else { "0" };
    let changed = format!("{}{digit}{}", &lock[..start], &lock[start + 1..]);
    std::fs::write(&path, changed).expect("written");
    assert_eq!(run(&["trust", "--check"]).code, 1);
    let url = format!("url=http://{}/", server());
    let aside = run(&["call", "web:fetch", &url]);
    assert_eq!(aside.code, 1, "{aside:?}");
    aside.assert_on_stderr("toolwright trust web");
}
