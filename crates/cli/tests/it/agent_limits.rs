//! How many calls an `[[agent]]` may have at once.

use serde_json::{Value as Json, json};

use crate::client::HttpClient;
use crate::granting::{Office, error, new_agent};
use crate::orchestrations::meta;

/// The code of a call, or `OK`.
fn code(web: &HttpClient, name: &str) -> String {
    let answer = web.call(name, json!({}));
    error(&answer["result"])["code"].as_str().unwrap_or("OK").to_owned()
}

#[test]
fn an_agent_has_no_more_calls_at_once_than_it_may() {
    let office = Office::new("");
    let single = new_agent(&office, "single", "max_concurrent = 1\n");
    let other = new_agent(&office, "other", "");
    let mut web = HttpClient::start(office.path(), &[], &office.variables());
    web.token = Some(single.clone());
    // A call that waits for a person is one, however long that takes.
    let able = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let mut params = json!({"name": "press__print", "arguments": {}, "_meta": able});
    let asked = web.ask_modern(1, "tools/call", params.clone()).answer(&json!(1));
    let questions = asked["result"]["inputRequests"].as_object().expect("a question");
    let key = questions.keys().next().expect("a question").clone();
    let busy = web.call("press__count", json!({}));
    let busy = error(&busy["result"]);
    assert_eq!(busy["code"], "BUSY", "{busy}");
    assert_eq!(busy["message"], "the agent `single` may have 1 call at once");
    // Another agent has limits of its own.
    web.token = Some(other);
    assert_eq!(code(&web, "press__count"), "OK");
    web.token = Some(single);
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({key: {"action": "accept", "content": {"decision": "once"}}});
    let result = web.ask_modern(2, "tools/call", params).answer(&json!(2))["result"].clone();
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(code(&web, "press__count"), "OK");
    // What was refused is on record, too.
    let of_single = office.calls().into_iter().filter(|call| call["agent"] == "single");
    let mut codes: Vec<Json> = of_single.map(|call| call["code"].clone()).collect();
    codes.sort_by_key(Json::to_string);
    assert_eq!(codes, ["BUSY", "OK", "OK"]);
}

/// One call at a time is enough for a tool that calls others: they run in its place. They count as
/// calls of the agent in a minute.
#[test]
fn what_a_tool_calls_runs_in_the_place_of_its_call() {
    let office = Office::new("[[source]]\nname = \"all\"\npath = \"all.yaml\"\n");
    let helper = "async () => { await tools.call('press:count'); return 'done'; }";
    std::fs::write(office.path().join("all.yaml"), meta("all", "[press]", helper)).expect("a file");
    let token = new_agent(&office, "single", "max_concurrent = 1\ncalls_per_minute = 3\n");
    let mut web = HttpClient::start(office.path(), &[], &office.variables());
    web.token = Some(token);
    assert_eq!(code(&web, "all__all"), "OK");
    assert_eq!(code(&web, "press__count"), "OK");
    assert_eq!(code(&web, "press__count"), "BUSY");
}
