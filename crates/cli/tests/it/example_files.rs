//! The complete examples of the specifications, as the files of `examples/` express them, run end
//! to end, and what keeps tools like them to what they declare. Those of other features are tested
//! with these.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::client::{StdioClient, configured};
use crate::program::project;

/// What a call gave: its structured result, the text of a failure that the tool reports, or the
/// code of any other failure.
fn result_of(answer: &Json) -> &Json {
    match &answer["_meta"]["toolwright/error"]["btcpCode"] {
        Json::Null if answer["isError"] == true => &answer["content"][0]["text"],
        Json::Null => &answer["structuredContent"],
        code => code,
    }
}

/// The example of version 1, whose server has a tool for each common shape of schemas.
#[test]
fn the_example_of_a_simple_mcp_tool_works() {
    let root = project();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let file = root.join("examples/aios/library.yaml");
    let mut client = StdioClient::start(elsewhere.path(), &[&file.display().to_string()], &[]);
    let ascii = json!({"titles": ["Emma", "Kristin Lavransdatter ? Kransen", "Middlemarch"]});
    for (name, args, expected) in [
        ("count_books", json!({}), json!({"titles": 3})),
        ("count_books", json!({"of": "all"}), json!("INPUT_INVALID")),
        ("find_book", json!({"title": "Emma"}), json!({"copies": 2})),
        ("find_book", json!({}), json!("INPUT_INVALID")),
        ("find_book", json!({"title": "Emma", "year": 1815}), json!("INPUT_INVALID")),
        ("find_book", json!({"title": "Ulysses"}), json!("there is no copy of Ulysses")),
        ("list_titles", json!({"encoding": "ascii"}), ascii),
        ("list_titles", json!({"encoding": "latin1"}), json!("INPUT_INVALID")),
        ("add_books", json!({"items": [{"title": "Ulysses", "copies": 2}]}), json!({"titles": 4})),
        ("add_books", json!({"items": [{"copies": 2}]}), json!("INPUT_INVALID")),
        ("add_books", json!({"items": [{"title": "A", "year": 1}]}), json!("INPUT_INVALID")),
        ("lend_book", json!({"title": "Emma", "term": "long"}), json!({"weeks": 8})),
        ("lend_book", json!({"title": "Emma", "term": 3}), json!({"weeks": 3})),
        ("lend_book", json!({"title": "Ulysses", "term": 11}), json!("INPUT_INVALID")),
        ("lend_book", json!({"title": "Ulysses", "term": "ever"}), json!("INPUT_INVALID")),
        ("find_book", json!({"title": "Emma"}), json!("there is no copy of Emma")),
    ] {
        let answer = client.call(&format!("library__{name}"), args.clone());
        assert_eq!(result_of(&answer), &expected, "{name} {args}: {answer}");
    }
    let checked = run(&root, &["check", "examples/aios/library.yaml"]);
    assert!(checked.code == 0 && checked.stdout.contains("nothing to report"), "{checked:?}");
}

/// Serves a page at every address, and returns its origin.
fn page_server(page: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A browser also opens connections that it does not use.
            let page = page.clone();
            std::thread::spawn(move || answer_with(&page, stream));
        }
    });
    origin
}

fn answer_with(page: &str, stream: TcpStream) {
    let mut lines = BufReader::new(&stream).lines();
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
    let length = page.len();
    let _ = write!(&stream, "{head}\r\ncontent-length: {length}\r\n\r\n{page}");
}

/// The Chromium to test with; without one, a line on stderr.
fn chromium() -> Option<OsString> {
    let chromium = std::env::var_os("TOOLWRIGHT_CHROMIUM");
    if chromium.is_none() {
        let line = "skipped: TOOLWRIGHT_CHROMIUM does not name a Chromium";
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    chromium
}

/// Everything is granted, but a tool is given no more than it declares.
#[test]
fn a_tool_gets_no_more_than_it_declares() {
    let tool = |name: &str, needs: &[&str]| {
        json!({
            "name": name, "description": "A tool for trying rights.", "capabilities": needs,
            "inputSchema": {"type": "object", "additionalProperties": false},
        })
    };
    let manifest = json!({
        "btcp": "1.0", "name": "desk", "version": "1.0.0",
        "capabilities": ["dom:read", "dom:write"],
        "tools": [
            tool("tryNothing", &[]), tool("tryRead", &["dom:read"]),
            tool("tryWrite", &["dom:read", "dom:write"]),
        ],
    });
    let body = "export default () => {
  const heading = document.querySelector('h1');
  const before = heading.textContent;
  heading.textContent = 'after';
  return { before, after: heading.textContent };
};";
    let browser = chromium().map(|chromium| {
        let origin = page_server("<h1>before</h1>".to_owned());
        format!("[browser]\nprogram = {chromium:?}\nstart = \"{origin}/\"\n")
    });
    let source = "[[source]]\nname = \"desk\"\npath = \"desk.json\"\n";
    let (folder, path) = configured(&(browser.clone().unwrap_or_default() + source));
    std::fs::write(path.join("desk.json"), manifest.to_string()).expect("a file");
    for name in ["tryNothing", "tryRead", "tryWrite"] {
        std::fs::write(path.join(format!("{name}.js")), body).expect("a file");
    }
    let allow = ["--allow", "dom:read,dom:write"];
    let mut client = StdioClient::start(folder.path(), &allow, &[]);
    let mut call = |name: &str| client.call(&format!("desk__{name}"), json!({}));
    // What declares nothing has no page at all.
    let nothing = call("tryNothing");
    let text = nothing["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("ReferenceError: document is not defined"), "{nothing}");
    if browser.is_none() {
        return;
    }
    let read = call("tryRead");
    let error = &read["_meta"]["toolwright/error"];
    assert_eq!((&error["code"], &error["number"]), (&json!("CAPABILITY_DENIED"), &json!(-32001)));
    // Nothing was changed by the one that was refused.
    let written = call("tryWrite");
    let expected = json!({"before": "before", "after": "after"});
    assert_eq!(written["structuredContent"], expected, "{written}");
}

/// What `setSeat` returns.
fn changed(before: Json, after: Json) -> Json {
    json!({"success": true, "previousGuest": before, "newGuest": after})
}

/// What `copyPlan` returns.
fn copied(rows: u8, bytes: u8) -> Json {
    json!({"success": true, "rowCount": rows, "columnCount": 2, "byteSize": bytes})
}

/// The manifest with tools that read, write and copy what a page shows, in a real browser.
#[test]
fn the_example_of_a_manifest_for_pages_works() {
    let Some(chromium) = chromium() else { return };
    let examples = project().join("examples/btcp");
    let page = std::fs::read_to_string(examples.join("seat-plan.html")).expect("a page");
    let browser =
        format!("[browser]\nprogram = {chromium:?}\nstart = \"{}/\"\n", page_server(page));
    let path = examples.join("seat-plan.json");
    let source = format!("[[source]]\nname = \"seat-plan\"\npath = {path:?}\n");
    let (folder, _) = configured(&(browser + &source));
    let allow = ["--allow", "dom:read,dom:write,clipboard:write"];
    let mut client = StdioClient::start(folder.path(), &allow, &[]);
    let ada = json!({"guest": "Ada", "price": 30, "shown": "Ada"});
    let selected = json!({"range": "B1:B2", "rows": 1, "columns": 2, "guests": [["Grace", "Ada"]]});
    for (name, args, expected) in [
        ("getPlanTitle", json!({}), json!({"title": "Seats for the spring dinner"})),
        ("getSeat", json!({"seat": "B2"}), ada),
        ("getSeat", json!({"seat": "b2"}), json!("INPUT_INVALID")),
        ("getSeat", json!({"seat": "Z9"}), json!("SEAT_NOT_FOUND")),
        ("setSeat", json!({"seat": "A1", "guest": "Lise"}), changed(json!(null), json!("Lise"))),
        ("setSeat", json!({"seat": "A1", "guest": null}), changed(json!("Lise"), json!(null))),
        ("setSeat", json!({"seat": "A2", "guest": "Lise"}), json!("SEAT_LOCKED")),
        ("getSelectedSeats", json!({}), selected),
        ("copyPlan", json!({"selector": "#seats"}), copied(3, 30)),
        ("copyPlan", json!({"selector": "#seats", "includeHeaders": false}), copied(2, 18)),
        ("copyPlan", json!({"selector": "#none"}), json!("TABLE_NOT_FOUND")),
    ] {
        let answer = client.call(&format!("seat-plan__{name}"), args.clone());
        assert_eq!(result_of(&answer), &expected, "{name} {args}: {answer}");
    }
}
