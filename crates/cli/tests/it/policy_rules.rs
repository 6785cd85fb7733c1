//! Rules of the configuration about calls: which arguments they judge, what a person is asked when
//! several of them are about one call, and what happens if they change while somebody is asked.

use serde_json::{Value as Json, json};

use crate::client::{LONG, StdioClient, until};
use crate::granting::{Office, answer_form, error};
use crate::trusted_code::definition;

/// A tool whose request processor changes what it is given: its script repeats what it gets.
const SHELF: &str = "tool:
  schema_version: 2.0
  id: shelf
  type: local
  name: Shelf
  version: 1.0.0
  description: Puts things on a shelf.
  commands: [put]
  executable_knowledge:
    processors:
      - id: rename
        language: javascript
        processes: put
        stage: request
        function: |
          function rename(data) {
            const names = { alias: 'main', main: 'side' };
            return { ...data, branch: names[data.branch] ?? data.branch };
          }
          module.exports = { rename };
  local_specific: {runtime: sh, entry_point: ./shelf.sh}
";

const SHELF_SOURCE: &str = "[[source]]\nname = \"shelf\"\npath = \"shelf.yaml\"\n";

/// An office with the shelf, and a rule about the branch `main`.
fn with_shelf(action: &str) -> Office {
    let office = Office::new(&format!(
        "{SHELF_SOURCE}[[rule]]\ntool = \"shelf:*\"\naction = \"{action}\"\n[rule.arguments]\n\
         required = [\"branch\"]\nproperties.branch.const = \"main\"\n"
    ));
    std::fs::write(office.path().join("shelf.yaml"), SHELF).expect("a file");
    std::fs::write(office.path().join("shelf.sh"), "touch ran\ncat\n").expect("a file");
    office
}

#[test]
fn rules_judge_the_arguments_that_the_tool_gets() {
    let office = with_shelf("deny");
    let ran = || std::fs::remove_file(office.path().join("ran")).is_ok();
    for (branch, code) in [("alias", "CAPABILITY_DENIED"), ("main", "OK"), ("other", "OK")] {
        let found = office.code(&["shelf:put", &format!("branch={branch}")]);
        assert_eq!((found.as_str(), ran()), (code, code == "OK"), "{branch}");
    }
    // The person sees them, too.
    let office = with_shelf("ask");
    assert_eq!(office.code(&["shelf:put", "branch=main"]), "OK");
    let (text, status) = office.answer(&["call", "shelf:put", "branch=alias"], "o\n");
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("Its arguments: {\"branch\":\"main\"}\n"), "{text}");
    assert_eq!(text.matches("Allow it?").count(), 1, "{text}");
    let calls = office.calls();
    let grants: Vec<&Json> = calls.iter().map(|call| &call["grants"]).collect();
    assert_eq!(grants, [&json!([]), &json!(["rule shelf:* (once)"])], "{calls:#?}");
}

/// Calls `press:print` with a text, answers the question, and returns it with the code of the call.
fn ask(client: &mut StdioClient, text: &str, word: &str) -> (String, String) {
    let id = client.send_call("press__print", json!({"text": text}));
    let answer = json!({"action": "accept", "content": {"decision": word}});
    let message = answer_form(client, answer);
    let result = client.answer(&id)["result"].clone();
    (message, error(&result)["code"].as_str().unwrap_or("OK").to_owned())
}

const GRANT: &str = "[[grant]]\ntoolset = \"press\"\ncapabilities = [\"printer:print\"]\n";

#[test]
fn every_rule_that_asks_is_asked_and_on_record() {
    let office = Office::new(&format!(
        "{GRANT}[[rule]]\ntool = \"press:print\"\naction = \"ask\"\nreason = \"paper is dear\"\n\
         [[rule]]\ntool = \"press:*\"\naction = \"ask\"\n[rule.arguments]\n\
         required = [\"text\"]\nproperties.text.const = \"secret\"\n"
    ));
    let (paper, secret) = ("asked: press:print: paper is dear", "asked: press:*");
    let mut client = office.asking_client();
    let (message, code) = ask(&mut client, "plain", "session");
    assert!(message.contains(paper) && !message.contains(secret), "{message}");
    assert_eq!(code, "OK");
    // The answer to one rule is none to the other.
    for (word, expected) in [("no", "CAPABILITY_DENIED"), ("once", "OK")] {
        let (message, code) = ask(&mut client, "secret", word);
        assert!(!message.contains(paper) && message.contains(secret), "{message}");
        assert_eq!(code, expected);
    }
    drop(client);
    // One question names all of them, and its answer is for all of them.
    let mut client = office.asking_client();
    let (message, code) = ask(&mut client, "secret", "session");
    assert!(message.contains(paper) && message.contains(secret), "{message}");
    assert_eq!(code, "OK");
    for text in ["secret", "plain"] {
        assert_eq!(client.call("press__print", json!({"text": text}))["isError"], false, "{text}");
    }
    drop(client);
    let granted = "printer:print (configured)";
    let (paper, secret) = ("rule press:print: paper is dear", "rule press:*");
    let in_session = |rule: &str| format!("{rule} (session)");
    let calls = office.calls();
    let grants: Vec<&Json> = calls.iter().map(|call| &call["grants"]).collect();
    let expected = [
        json!([granted, in_session(paper)]),
        json!([]),
        json!([granted, in_session(paper), format!("{secret} (once)")]),
        json!([granted, in_session(paper), in_session(secret)]),
        json!([granted, in_session(paper), in_session(secret)]),
        json!([granted, in_session(paper)]),
    ];
    assert_eq!(grants, expected.iter().collect::<Vec<_>>(), "{calls:#?}");
    // Nobody is there to be asked: all of them are named.
    let refused = office.run(&["call", "press:print", "text=secret"]);
    refused.assert_on_stderr(
        "needs your consent by the rules `press:print: paper is dear`, `press:*`: no person can be asked",
    );
}

/// An agent writes the arguments: they must not look like others to the person.
#[test]
fn a_question_shows_what_arguments_hide() {
    let office =
        Office::new(&format!("{GRANT}[[rule]]\ntool = \"press:print\"\naction = \"ask\"\n"));
    let mut client = office.asking_client();
    let (message, code) = ask(&mut client, "a\u{202e}b\u{200b}c", "once");
    assert_eq!(code, "OK");
    assert!(message.ends_with(r#"Its arguments: {"text":"a\u{202e}b\u{200b}c"}"#), "{message}");
}

/// The author of a definition chooses its name.
#[test]
fn a_question_shows_what_names_hide() {
    let office = Office::new("[[source]]\nname = \"met\"\npath = \"met\"\n");
    std::fs::create_dir(office.path().join("met")).expect("a folder");
    let met = definition("\"ev\\u202eil\\u200b\"", "cli", "executable: /bin/echo");
    std::fs::write(office.path().join("met/it.yaml"), met).expect("a file");
    let mut client = office.asking_client();
    let name = client.names().into_iter().find(|name| name.starts_with("ev")).expect("a tool");
    let id = client.send_call(&name, json!({"args": []}));
    let message =
        answer_form(&mut client, json!({"action": "accept", "content": {"decision": "session"}}));
    assert!(message.contains(r"`ev\u{202e}il\u{200b}:hello`"), "{message}");
    assert!(message.contains(r"`ev\u{202e}il\u{200b}`"), "{message}");
    assert!(!message.contains(['\u{202e}', '\u{200b}']), "{message}");
    assert_eq!(client.answer(&id)["result"]["isError"], false);
    // It is granted to the toolset of that name.
    assert_eq!(client.call(&name, json!({"args": []}))["isError"], false);
}

/// The configuration changes while a person is asked: the answer does not cover what it wants now.
#[test]
fn an_answer_covers_only_what_was_asked() {
    let office = Office::new("");
    let mut client = office.asking_client();
    assert_eq!(client.call("press__count", json!({}))["isError"], false);
    let id = client.send_call("press__print", json!({"text": "x"}));
    let asked = client.find("a question", |it| it["method"] == "elicitation/create");
    let path = office.path().join("toolwright.toml");
    let text = std::fs::read_to_string(&path).expect("a file");
    let rules = "[[rule]]\ntool = \"press:count\"\naction = \"deny\"\n\
        [[rule]]\ntool = \"press:print\"\naction = \"ask\"\nreason = \"new\"\n";
    std::fs::write(&path, format!("{rules}{text}")).expect("a file");
    until("the rules", LONG, || {
        (client.call("press__count", json!({}))["isError"] == true).then_some(())
    });
    let yes = json!({"action": "accept", "content": {"decision": "once"}});
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes});
    client.line(reply.to_string().as_bytes());
    let message = answer_form(&mut client, json!({"action": "decline"}));
    assert!(message.contains("asked: press:print: new"), "{message}");
    let result = client.answer(&id)["result"].clone();
    assert_eq!(error(&result)["code"], "CAPABILITY_DENIED", "{result}");
}
