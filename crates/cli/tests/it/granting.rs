//! Capabilities that are granted: on a terminal, by elicitation, and without either; by the
//! configuration, the command line and the store; and what agents cannot get by themselves.

use std::path::Path;

use serde_json::{Value as Json, json};
use toolwright_model::Capability;

use crate::client::{
    HttpClient, LONG, StdioClient, faulty_server, handshake, names, request, run_with, script,
    until,
};
use crate::found_sources::answered_in;
use crate::program::{Run, folder, project};
use crate::serving::server;

/// A manifest of tools that run without a page, and of some that need one.
const PRESS: &str = r#"{
  "btcp": "1.0", "name": "press", "version": "1.0.0",
  "capabilities": ["printer:print", "dom:read", "dom:write"],
  "tools": [
    {"name": "print", "description": "Prints a text on paper.", "capabilities": ["printer:print"],
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "count", "description": "Counts the sheets.", "capabilities": [],
     "inputSchema": {"type": "object"}},
    {"name": "look", "description": "Looks at the page.", "capabilities": ["dom:read"],
     "inputSchema": {"type": "object"}},
    {"name": "draw", "description": "Draws on the page.", "capabilities": ["dom:write"],
     "inputSchema": {"type": "object"}}
  ]
}
"#;

const PRINT: &str = "export default ({ text }) => ({ printed: text ?? 'nothing' });";

/// A folder with the press, and a user of its own.
pub(crate) struct Office {
    folder: tempfile::TempDir,
    state: String,
}

impl Office {
    /// With `more` in the configuration.
    pub(crate) fn new(more: &str) -> Office {
        let config = format!(
            "[[source]]\nname = \"press\"\npath = \"press.json\"\n{}\n{more}\n\
             [serve]\nlist_wait = 60000\n",
            server("up", "good")
        );
        let folder = folder(&[
            ("toolwright.toml", config.as_bytes()),
            ("press.json", PRESS.as_bytes()),
            ("print.js", PRINT.as_bytes()),
            ("count.js", b"export default () => ({ sheets: 3 });"),
        ]);
        let state = folder.path().join("state").display().to_string();
        Office { folder, state }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn variables(&self) -> [(&str, &str); 1] {
        [("XDG_STATE_HOME", &self.state)]
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        run_with(self.path(), args, &self.variables(), "")
    }

    /// The code of a call, or `OK`.
    pub(crate) fn code(&self, args: &[&str]) -> String {
        let run = self.run(&[&["call", "--json"], args].concat());
        let answer: Json = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        answer["error"]["code"].as_str().unwrap_or("OK").to_owned()
    }

    /// What a terminal shows of a call at which this is typed, and the exit code.
    pub(crate) fn answer(&self, args: &[&str], typed: &str) -> (String, i32) {
        answered_in(self.path(), args, &self.variables(), typed)
    }

    fn client(&self) -> StdioClient {
        StdioClient::start(self.path(), &[], &self.variables())
    }

    /// A client that can show forms.
    pub(crate) fn asking_client(&self) -> StdioClient {
        let mut client = StdioClient::bare(self.path(), &[], &self.variables());
        let mut params = handshake("2025-06-18");
        params["capabilities"] = json!({"elicitation": {}});
        client.ask("initialize", params);
        client.notify("notifications/initialized", json!({}));
        client
    }

    /// The calls on record.
    pub(crate) fn calls(&self) -> Vec<Json> {
        let run = self.run(&["audit", "--output-format", "json"]);
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// The structured error of a result.
pub(crate) fn error(result: &Json) -> &Json {
    &result["_meta"]["toolwright/error"]
}

#[test]
fn a_person_at_a_terminal_is_asked_in_plain_words() {
    let call = ["call", "press:print", "text=hi"];
    for (typed, code) in [
        ("o\n", 0),
        ("once\n", 0),
        ("s\n", 0),
        ("SESSION\n", 0),
        ("n\n", 1),
        ("\n", 1),
        ("yes\n", 1),
        ("all\n", 1),
    ] {
        let office = Office::new("");
        let (text, status) = office.answer(&call, typed);
        assert_eq!(status, code, "{typed:?}: {text}");
        assert_eq!(text.contains("\"printed\": \"hi\""), code == 0, "{typed:?}: {text}");
        assert_eq!(text.contains("CAPABILITY_DENIED"), code == 1, "{typed:?}: {text}");
        // None of them lasts.
        assert_eq!(office.code(&["press:print"]), "CAPABILITY_DENIED", "{typed:?}");
    }
    let office = Office::new("");
    let (text, status) = office.answer(&call, "a\n");
    assert_eq!(status, 0, "{text}");
    for part in [
        "`local` calls `press:print`.\nThe tools of `press` want to:\n",
        "do something that only its host defines  high risk  printer:print\n",
        "read what is on the page                 low risk  dom:read\n",
        "change what is on the page               medium risk  dom:write\n",
        "Allow it? [o]nce, [s]ession, [a]lways, [N]o ",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    // It holds, for the whole manifest, and for nobody else.
    assert_eq!(office.code(&["press:print"]), "OK");
    assert_eq!(office.code(&["press:look"]), "BROWSER_REQUIRED");
    let granted = office.run(&["grants", "list", "--output-format", "json"]);
    assert_eq!(granted.stdout.lines().count(), 3, "{granted:?}");
    assert!(granted.stdout.lines().all(|line| line.contains("\"term\":\"always\"")), "{granted:?}");
    let calls = office.calls();
    let grants: Vec<&Json> = calls.iter().map(|call| &call["grants"]).collect();
    let always = json!(["printer:print (always)"]);
    assert_eq!(grants, [&always, &always, &json!(["dom:read (always)"])], "{calls:#?}");
    assert!(calls[0]["steps"]["policy"].is_u64(), "{calls:#?}");
    let text = office.run(&["audit"]).stdout;
    assert!(text.contains(", by printer:print (always)\n"), "{text}");
    let csv = office.run(&["audit", "--output-format", "csv"]).stdout;
    assert!(csv.lines().nth(1).is_some_and(|it| it.ends_with(",printer:print (always)")), "{csv}");
    // Another content is another toolset.
    std::fs::write(office.path().join("print.js"), "export default () => 'changed';")
        .expect("a file");
    assert_eq!(office.code(&["press:print"]), "CAPABILITY_DENIED");
}

#[test]
fn examples_ask_too_and_once_for_all_of_them() {
    let office = Office::new("");
    let example = r#""capabilities": ["printer:print"], "examples": [
        {"description": "a", "input": {"text": "a"}, "output": {"printed": "a"}},
        {"description": "b", "input": {"text": "b"}, "output": {"printed": "b"}}],"#;
    let with = PRESS.replacen(r#""capabilities": ["printer:print"],"#, example, 1);
    std::fs::write(office.path().join("press.json"), with).expect("a file");
    let test = ["test", "--run", "press.json", "--jobs", "1"];
    let (text, status) = office.answer(&test, "s\n");
    assert!(status == 0 && text.matches("Allow it?").count() == 1, "{text}");
    assert!(text.contains("2 passed"), "{text}");
    let skipped = office.run(&test);
    assert!(skipped.stdout.contains("2 skipped"), "{skipped:?}");
    let allowed = office.run(&[&test[..], &["--allow", "printer:print"]].concat());
    assert!(allowed.stdout.contains("2 passed"), "{allowed:?}");
}

#[test]
fn a_refusal_names_the_command_that_grants_it() {
    let office = Office::new("");
    let refused = office.run(&["call", "press:print"]);
    refused.assert_on_stderr(
        "CAPABILITY_DENIED: `press:print` needs `printer:print`, `dom:read`, `dom:write`, which is \
         not granted to the agent `local`: no person can be asked here",
    );
    assert_eq!((refused.code, office.code(&["press:count"]).as_str()), (1, "OK"));
    // The same through a client that cannot show a form.
    let mut client = office.client();
    let result = client.call("press__print", json!({}));
    assert_eq!((&result["isError"], &error(&result)["number"]), (&json!(true), &json!(-32001)));
    let help = error(&result)["suggestion"].as_str().expect("a text").to_owned();
    let command = help.split('`').nth(1).expect("a command").to_owned();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(words[..4], ["grants", "add", "press", "printer:print,dom:read,dom:write"]);
    let granted = office.run(&words);
    assert_eq!(granted.code, 0, "{granted:?}");
    granted.assert_on_stderr("`local` may read what is on the page with the tools of `press`");
    // The server that runs learns of it, and of the end of it.
    assert_eq!(client.call("press__print", json!({}))["isError"], false);
    let revoked = office.run(&["grants", "revoke", "press", "printer:print"]);
    revoked.assert_on_stderr("revoked: `printer:print` of `press` for `local`");
    assert_eq!(error(&client.call("press__print", json!({})))["code"], "CAPABILITY_DENIED");
    assert_eq!(error(&client.call("press__look", json!({})))["code"], "BROWSER_REQUIRED");
}

#[test]
fn a_capability_includes_what_the_readings_say_and_nothing_else() {
    let office = Office::new("");
    for (allowed, tool, code) in [
        ("dom:read", "press:look", "BROWSER_REQUIRED"),
        ("dom:write", "press:look", "BROWSER_REQUIRED"),
        ("dom:write", "press:draw", "BROWSER_REQUIRED"),
        ("dom:read", "press:draw", "CAPABILITY_DENIED"),
        ("dom:observe,clipboard:write", "press:look", "CAPABILITY_DENIED"),
        ("printer:print", "press:print", "OK"),
        ("printer:scan", "press:print", "CAPABILITY_DENIED"),
    ] {
        assert_eq!(office.code(&[tool, "--allow", allowed]), code, "{allowed} {tool}");
        let config = format!(
            "[[grant]]\ntoolset = \"pre*\"\ncapabilities = {}\n",
            json!(allowed.split(',').collect::<Vec<_>>())
        );
        let office = Office::new(&config);
        assert_eq!(office.code(&[tool]), code, "{config} {tool}");
    }
    // A grant to another agent, or for another toolset.
    for other in ["agent = \"http\"\ntoolset = \"press\"", "toolset = \"pres\""] {
        let office = Office::new(&format!("[[grant]]\n{other}\ncapabilities = [\"dom:read\"]\n"));
        assert_eq!(office.code(&["press:look"]), "CAPABILITY_DENIED", "{other}");
    }
}

/// Answers the next question of a client's server.
pub(crate) fn answer_form(client: &mut StdioClient, answer: Json) -> String {
    let asked = client.find("a question", |it| it["method"] == "elicitation/create");
    let params = &asked["params"];
    let offered = &params["requestedSchema"]["properties"]["decision"]["enum"];
    assert_eq!(*offered, json!(["once", "session", "no"]), "{asked}");
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
    client.line(reply.to_string().as_bytes());
    params["message"].as_str().expect("a text").to_owned()
}

#[test]
fn a_client_that_can_show_forms_is_asked_by_elicitation() {
    let office = Office::new("");
    let mut client = office.asking_client();
    let accept = |word: &str| json!({"action": "accept", "content": {"decision": word}});
    for (answer, code) in [
        (accept("once"), "OK"),
        (accept("no"), "CAPABILITY_DENIED"),
        // What was not offered cannot be given.
        (accept("always"), "CAPABILITY_DENIED"),
        (json!({"action": "accept", "content": {"decision": "once", "agent": "root"}}), "OK"),
        (json!({"action": "accept"}), "CAPABILITY_DENIED"),
        (json!({"action": "decline", "content": {"decision": "session"}}), "CAPABILITY_DENIED"),
        (json!({"action": "cancel"}), "CAPABILITY_DENIED"),
        (accept("session"), "OK"),
    ] {
        let id = client.send_call("press__print", json!({"text": "x"}));
        let message = answer_form(&mut client, answer.clone());
        let result = client.answer(&id)["result"].clone();
        assert_eq!(error(&result)["code"].as_str().unwrap_or("OK"), code, "{answer}");
        assert!(
            message.starts_with("The agent `local` wants to call `press:print`.")
                && message.contains("\n- change what is on the page (dom:write, medium risk)"),
            "{message}"
        );
    }
    // For the whole manifest, in this session.
    assert_eq!(client.call("press__print", json!({}))["isError"], false);
    assert_eq!(error(&client.call("press__look", json!({})))["code"], "BROWSER_REQUIRED");
    let mut other = office.asking_client();
    let id = other.send_call("press__print", json!({}));
    answer_form(&mut other, accept("no"));
    assert_eq!(error(&other.answer(&id)["result"])["code"], "CAPABILITY_DENIED");
    // Nothing of it lasts.
    let listed = office.run(&["grants", "list"]).stdout;
    assert!(listed.lines().all(|line| line.contains(" session ")), "{listed}");
    // Without a session the question is the result, and the answer comes with the next request.
    let web = HttpClient::start(office.path(), &[], &office.variables());
    let able = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let params = json!({"name": "press__print", "arguments": {}, "_meta": able});
    let asked = web.ask_modern(7, "tools/call", params.clone()).answer(&json!(7));
    let questions = asked["result"]["inputRequests"].as_object().expect("questions").clone();
    let (key, question) = questions.iter().next().expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    // Another client is asked, too, and does not wait for the first one's answer.
    let other = web.ask_modern(9, "tools/call", params.clone()).answer(&json!(9));
    let others = other["result"]["inputRequests"].as_object().expect("questions").clone();
    assert!(others.len() == 1 && !others.contains_key(key), "{other}");
    let mut again = params;
    again["requestState"] = asked["result"]["requestState"].clone();
    // A key that can be guessed would let a client answer before anybody is asked.
    assert!(key.len() >= 32 && !key.contains("question"), "{key}");
    again["inputResponses"] = json!({key: accept("once")});
    let result = web.ask_modern(8, "tools/call", again).answer(&json!(8))["result"].clone();
    assert_eq!(result["isError"], false, "{result}");
    // The configuration can turn it off.
    let silent = Office::new("[policy]\nelicit = false\n");
    let result = silent.asking_client().call("press__print", json!({}));
    assert_eq!(error(&result)["code"], "CAPABILITY_DENIED", "{result}");
}

/// A definition that starts a program, in a folder of definitions.
const SAY: &str = "tool:\n  schema_version: 2.0\n  id: say\n  type: cli\n  name: Say\n  \
    version: 1.0.0\n  description: Prints what it is given.\n  commands: [hello]\n  \
    cli_specific:\n    executable: /bin/echo\n";

#[test]
fn a_definition_met_in_a_folder_starts_nothing_by_itself() {
    let office = Office::new("");
    let path = office.path();
    let program = path.join("server");
    script(
        &program,
        &format!(
            "#!/bin/sh\ntouch {}/started\nexec {} mcp good\n",
            path.display(),
            faulty_server()
        ),
    );
    let remote = format!(
        "tool:\n  schema_version: 2.0\n  id: remote\n  type: mcp\n  name: Remote\n  \
         version: 1.0.0\n  description: Uses a server of its own.\n  commands: [echo]\n  \
         mcp_specific:\n    server_command: \"{}\"\n    transport: stdio\n",
        program.display()
    );
    std::fs::create_dir(path.join("met")).expect("a folder");
    std::fs::write(path.join("met/say.yaml"), SAY).expect("a file");
    std::fs::write(path.join("met/remote.yaml"), remote).expect("a file");
    let started = || std::fs::remove_file(path.join("started")).is_ok();
    for (tool, file, need) in [
        ("say:hello", "met/say.yaml", "process:spawn"),
        ("remote:echo", "met/remote.yaml", "mcp:connect"),
    ] {
        let refused = office.run(&["call", tool, "args:=[]", "--from", "met"]);
        refused.assert_on_stderr(&format!("`{tool}` needs `{need}`"));
        assert!(refused.code == 1 && !started(), "{refused:?}");
        // Naming the file is the consent, and so is an answer, once for this content.
        assert_eq!(office.code(&[tool, "args:=[]", "--from", file]), "OK");
        assert_eq!(office.code(&[tool, "args:=[]", "--from", "met", "--allow", need]), "OK");
        started();
        let (text, status) = office.answer(&["call", tool, "args:=[]", "--from", "met"], "a\n");
        assert!(status == 0 && text.contains(need), "{text}");
        assert_eq!(office.code(&[tool, "args:=[]", "--from", "met"]), "OK");
        started();
        let text = std::fs::read_to_string(path.join(file)).expect("a file");
        std::fs::write(path.join(file), text.replace("1.0.0", "1.0.1")).expect("a file");
        assert_eq!(office.code(&[tool, "args:=[]", "--from", "met"]), "CAPABILITY_DENIED");
        assert!(!started(), "{tool}");
    }
    // A server that runs starts it when it is allowed.
    let mut client = StdioClient::start(path, &["met"], &office.variables());
    assert!(client.names().contains(&"remote__echo".to_owned()));
    assert!(!started());
    until("the line about it", LONG, || {
        client
            .stderr()
            .contains("`remote` was found in a folder and names its own server")
            .then_some(())
    });
    let granted = office.run(&["grants", "add", "remote", "mcp:connect", "--from", "met"]);
    assert_eq!(granted.code, 0, "{granted:?}");
    until("the server", LONG, || started().then_some(()));
}

#[test]
fn rules_and_annotations_need_a_person() {
    let rules = "[[rule]]\ntool = \"up:*\"\naction = \"deny\"\nreason = \"no secrets\"\n\
        [rule.arguments]\nrequired = [\"text\"]\nproperties.text.pattern = \"secret\"\n\
        [[rule]]\ntool = \"up:add\"\naction = \"ask\"\n\
        [[rule]]\ntool = \"press:count\"\nagent = \"http\"\naction = \"deny\"\n";
    let office = Office::new(rules);
    assert_eq!(office.code(&["up:echo", "text=hello"]), "OK");
    let denied = office.run(&["call", "up:echo", "text=my secret"]);
    denied.assert_on_stderr("CAPABILITY_DENIED: the rule `up:*` of the configuration refuses");
    denied.assert_on_stderr("help: no secrets");
    assert_eq!(office.code(&["up:add", "a=1", "b=2"]), "CAPABILITY_DENIED");
    assert_eq!(office.code(&["press:count"]), "OK");
    let (text, status) = office.answer(&["call", "up:add", "a=1", "b=2"], "o\n");
    assert!(status == 0, "{text}");
    assert!(text.contains("Your configuration wants you to be asked: up:add"), "{text}");
    assert!(text.contains("Allow it? [o]nce, [s]ession, [N]o "), "{text}");
    // `exit` states that it is destructive and does more than read.
    for (need, capability) in
        [("destructive", "tool:destructive"), ("not_read_only", "tool:unmarked")]
    {
        let office = Office::new(&format!("[policy]\nneed_grant = [\"{need}\"]\n"));
        assert_eq!(office.code(&["up:echo", "text=a"]), "OK", "{need}");
        assert_eq!(office.code(&["up:exit"]), "CAPABILITY_DENIED", "{need}");
        let allowed = office.code(&["up:exit", "--allow", capability]);
        assert_eq!(allowed, "UPSTREAM_UNAVAILABLE", "{need}");
    }
    for (wrong, part) in [
        ("[policy]\nneed_grant = [\"destruct\"]\n", "expected `destructive`, `open_world`"),
        ("[[rule]]\ntool = \"x\"\naction = \"aks\"\n", "did you mean `ask`?"),
        ("[[rule]]\naction = \"ask\"\n", "the rule has no `tool`"),
        ("[[rule]]\ntool = \"x\"\naction = \"ask\"\narguments = { type = 5 }\n", "JSON Schema"),
        ("[[grant]]\ntoolset = \"x\"\ncapabilities = [\"dom:raed\"]\n", "did you mean `dom:read`?"),
        (
            "[[grant]]\nagent = \"htp\"\ntoolset = \"x\"\ncapabilities = []\n",
            "did you mean `http`?",
        ),
        ("[[agent]]\nname = \"local\"\ntoken_sha256 = \"00\"\n", "of an agent is taken"),
    ] {
        let run = Office::new(wrong).run(&["call", "press:count"]);
        assert_eq!(run.code, 2, "{wrong}: {run:?}");
        run.assert_on_stderr(part);
    }
}

#[test]
fn misspelled_grants_suggest_the_nearest() {
    let office = Office::new("");
    for (args, part) in [
        (vec!["add", "press", "dom:raed"], "did you mean `dom:read`?"),
        (
            vec!["add", "pres", "dom:read"],
            "there is no toolset or tool `pres`; did you mean `press`?",
        ),
        (vec!["add", "press:lok", "dom:read"], "did you mean `press:look`?"),
        (vec!["add", "press", "dom:read", "--agent", "loca"], "did you mean `local`?"),
        (
            vec!["add", "press", "printer:prnt"],
            "no tool of `press` needs `printer:prnt`; did you mean `printer:print`?",
        ),
        (vec!["add", "press", "dom:read", "--hash", "v1:12"], "is not a content hash"),
        (vec!["revoke", "press"], "nothing was revoked: there is no such grant"),
    ] {
        let run = office.run(&[&["grants"], &args[..]].concat());
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        run.assert_on_stderr(part);
    }
    assert_eq!(office.run(&["grants", "add", "press:look", "dom:read"]).code, 0);
    office.run(&["grants", "revoke", "prss"]).assert_on_stderr("did you mean `press`?");
    assert_eq!(office.code(&["press:look"]), "BROWSER_REQUIRED");
    let list = office.run(&["grants", "list"]).stdout;
    assert!(list.starts_with("local      press") && list.contains("dom:read"), "{list}");
    assert_eq!(office.run(&["grants", "revoke", "--all"]).code, 0);
    assert_eq!(office.code(&["press:look"]), "CAPABILITY_DENIED");
    // By name it holds for every content.
    assert_eq!(office.run(&["grants", "add", "press", "dom:read", "--by-name"]).code, 0);
    std::fs::write(office.path().join("print.js"), "export default () => 1;").expect("a file");
    assert_eq!(office.code(&["press:look"]), "BROWSER_REQUIRED");
    let wrong = office.run(&["call", "press:look", "--allow", "dom:raed"]);
    wrong.assert_on_stderr("did you mean `dom:read`?");
    let wrong = office.run(&["call", "press:print", "--allow", "printer:prnt"]);
    wrong.assert_on_stderr("(`--allow printer:prnt` does nothing; did you mean `printer:print`?)");
    let log = StdioClient::start(office.path(), &["--allow", "printer:prnt"], &office.variables());
    let part = "`--allow printer:prnt` does nothing; did you mean `printer:print`?";
    until("the log says so", LONG, || log.stderr().contains(part).then_some(()));
    // By the hash, as refusals name it. That of something else can be granted anything.
    let refused = office.run(&["call", "press:print"]).stderr;
    let hash = refused.split("--hash ").nth(1).expect("a command");
    let hash = &hash[..hash.find(|c: char| c != ':' && !c.is_alphanumeric()).expect("an end")];
    let other = format!("v1:{}", "0".repeat(64));
    for (hash, code) in [(hash, 2), (other.as_str(), 0)] {
        let run = office.run(&["grants", "add", "press", "printer:prnt", "--hash", hash]);
        assert_eq!(run.code, code, "{run:?}");
        assert_eq!(run.stderr.contains("did you mean `printer:print`?"), code == 2, "{run:?}");
    }
    // One that only hosts know, in the configuration.
    let grant =
        "[[grant]]\ntoolset = \"press\"\ncapabilities = [\"printer:prnt\", \"dom:shadow\"]\n";
    let check = Office::new(grant).run(&["check", "toolwright.toml"]);
    check.assert_on_stderr("fits `printer:prnt`; did you mean `printer:print`?");
    assert!(!check.stderr.contains("dom:shadow"), "{check:?}");
}

/// An agent with a token, as `agent add` makes it.
pub(crate) fn new_agent(office: &Office, name: &str, more: &str) -> String {
    let run = office.run(&["agent", "add", name, "--write"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains(&format!("+name = \"{name}\"\n")), "{run:?}");
    let token = run.stdout.rsplit("token: ").next().expect("a token").trim().to_owned();
    let path = office.path().join("toolwright.toml");
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(!text.contains(&token) && text.contains("token_sha256"), "{text}");
    std::fs::write(&path, text + more).expect("a file");
    token
}

#[test]
fn an_agent_has_its_own_tools_grants_and_limits() {
    let office = Office::new("");
    let narrow = new_agent(&office, "narrow", "tools = [\"press:*\"]\n");
    let slow = new_agent(&office, "slow", "sources = [\"up\"]\ncalls_per_minute = 3\n");
    let taken = office.run(&["agent", "add", "slow"]);
    taken.assert_on_stderr("there is an agent `slow` already");
    let mut web = HttpClient::start(office.path(), &[], &office.variables());
    // Who has no token, or a wrong one, is nobody.
    let stranger = request(&json!(1), "tools/list", &json!({}));
    for headers in
        [vec![], vec![("Authorization", "Bearer local")], vec![("Authorization", "Bearer narrow")]]
    {
        assert_eq!(web.post(&headers, &stranger).status, 401, "{headers:?}");
    }
    let call = |web: &HttpClient, name: &str, arguments: Json| web.call(name, arguments);
    web.token = Some(slow.clone());
    let list = web.ask_modern(1, "tools/list", json!({})).answer(&json!(1))["result"].clone();
    assert!(names(&list).iter().all(|name| name.starts_with("up__")), "{list}");
    assert_eq!(call(&web, "up__echo", json!({"text": "a"}))["result"]["isError"], false);
    // A tool of others does not exist, in suggestions neither.
    let hidden = call(&web, "press__count", json!({}));
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
    assert!(!hidden.to_string().contains("press:print"), "{hidden}");
    // Its session is its own.
    let session = web.session("2025-06-18");
    let id = session.id.clone();
    assert_eq!(call(&web, "up__echo", json!({"text": "b"}))["result"]["isError"], false);
    let over = call(&web, "up__echo", json!({"text": "c"}));
    let over = error(&over["result"]);
    assert_eq!(over["code"], "BUSY", "{over}");
    assert_eq!(over["message"], "the agent `slow` may make 3 calls in a minute");
    let bearer = format!("Bearer {narrow}");
    let foreign = [("Mcp-Session-Id", id.as_str()), ("Authorization", &bearer)];
    assert_eq!(web.post(&foreign, &stranger).status, 404);
    // What a client says of itself changes nothing.
    web.token = Some(narrow);
    let mut claim = handshake("2025-06-18");
    claim["clientInfo"] = json!({"name": "local", "version": "1", "agent": "local"});
    claim["_meta"] = json!({"agent": "local"});
    let session = web.session_with(claim);
    let params = json!({
        "name": "press__print",
        "arguments": {"text": "x", "agent": "local", "grants": ["printer:print"]},
        "_meta": {"agent": "local", "toolwright/agent": "local", "grants": ["printer:print"]},
        "agent": "local",
    });
    let headers = [
        ("Mcp-Session-Id", session.id.as_str()),
        ("X-Agent", "local"),
        ("X-Forwarded-User", "local"),
        ("From", "local"),
    ];
    let reply = web.post(&headers, &request(&json!(5), "tools/call", &params));
    let refused = error(&reply.answer(&json!(5))["result"]).clone();
    assert_eq!(refused["code"], "CAPABILITY_DENIED", "{refused}");
    let help = refused["suggestion"].as_str().expect("a text");
    assert!(help.ends_with("--agent narrow`"), "{help}");
    for method in ["resources/list", "prompts/list", "logging/setLevel"] {
        let answer = session.ask(6, method, json!({"level": "debug"})).answer(&json!(6));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    // A grant to one agent is none for another.
    assert_eq!(office.run(&["grants", "add", "press", "printer:print"]).code, 0);
    let again = call(&web, "press__print", json!({}));
    assert_eq!(error(&again["result"])["code"], "CAPABILITY_DENIED", "{again}");
    let add = ["grants", "add", "press", "printer:print", "--agent", "narrow"];
    assert_eq!(office.run(&add).code, 0);
    assert_eq!(call(&web, "press__print", json!({}))["result"]["isError"], false);
    let agents: Vec<Json> = office.calls().iter().map(|call| call["agent"].clone()).collect();
    assert!(agents.contains(&json!("narrow")) && agents.contains(&json!("slow")), "{agents:?}");
    assert!(!agents.contains(&json!("local")) && !agents.contains(&json!("http")), "{agents:?}");
    // An agent that leaves the configuration has nothing left.
    let path = office.path().join("toolwright.toml");
    let text = std::fs::read_to_string(&path).expect("a file");
    let (before, _) = text.split_once("[[agent]]").expect("agents");
    std::fs::write(&path, before).expect("a file");
    until("the end of the agent", LONG, || {
        let reply = session.ask(9, "tools/call", json!({"name": "press__print", "arguments": {}}));
        match reply.status {
            200 => (error(&reply.answer(&json!(9))["result"])["code"] != Json::Null
                || reply.answer(&json!(9)).get("error").is_some())
            .then_some(()),
            _ => Some(()),
        }
    });
}

/// How many calls the next test makes: as many as the variable says, for `make soak`.
fn load() -> usize {
    std::env::var("TOOLWRIGHT_TEST_CALLS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

#[test]
fn every_call_of_many_has_one_result_and_one_record() {
    let office = Office::new(
        "[[grant]]\ntoolset = \"*\"\ncapabilities = [\"printer:print\", \"process:spawn\"]\n\
         [[source]]\nname = \"met\"\npath = \"met\"\n[limits]\nqueue = 2000\n",
    );
    std::fs::create_dir(office.path().join("met")).expect("a folder");
    std::fs::write(office.path().join("met/say.yaml"), SAY).expect("a file");
    let mut client = office.client();
    client.names();
    let (all, at_once) = (load(), 200);
    let mut open = std::collections::HashMap::new();
    let (mut sent, mut results) = (0, 0);
    while results < all {
        while sent < all && open.len() < at_once {
            let (name, arguments) = match sent % 20 {
                0 => ("say__hello", json!({"args": [sent.to_string()]})),
                1 | 2 => ("press__print", json!({"text": sent.to_string()})),
                3 => ("press__draw", json!({})),
                4 => ("up__add", json!({"a": "wrong"})),
                _ => ("up__echo", json!({"text": sent.to_string()})),
            };
            open.insert(client.send_call(name, arguments).to_string(), sent);
            sent += 1;
        }
        let answer = client.find("a result", |message| message.get("id").is_some());
        let n = open.remove(&answer["id"].to_string()).expect("a call has one result");
        let code = error(&answer["result"])["code"].as_str().unwrap_or("OK").to_owned();
        let expected = match n % 20 {
            3 => "CAPABILITY_DENIED",
            4 => "INPUT_INVALID",
            _ => "OK",
        };
        assert_eq!(code, expected, "{answer}");
        if expected == "OK" {
            assert!(answer["result"].to_string().contains(&n.to_string()), "{n}: {answer}");
        }
        results += 1;
    }
    drop(client);
    let calls = office.calls();
    assert_eq!(calls.len(), all);
    let with = |code: &str| calls.iter().filter(|call| call["code"] == code).count();
    assert_eq!(with("CAPABILITY_DENIED"), all / 20);
    assert_eq!(with("INPUT_INVALID"), all / 20);
    assert_eq!(with("OK"), all - all / 10);
}

#[test]
fn the_page_about_trust_lists_every_capability() {
    let page = std::fs::read_to_string(project().join("docs/trust.md")).expect("the page");
    let mut rows = 0;
    for name in Capability::all_grantable() {
        let capability = Capability::parse(name).expect("a name");
        let (risk, meaning) = (capability.risk().name(), capability.meaning());
        let row = format!("| `{name}` | {risk} | {meaning} |\n");
        assert!(page.contains(&row), "docs/trust.md lacks {row}");
        rows += 1;
    }
    let (_, table) = page.split_once("| capability | risk |").expect("the table");
    assert_eq!(table.split("\n\n").next().map(|table| table.matches("\n| `").count()), Some(rows));
}

#[test]
fn a_store_of_the_first_version_gets_the_table_of_grants() {
    let office = Office::new("");
    assert_eq!(office.code(&["press:count"]), "OK");
    let store = office.path().join("state/toolwright/store.db");
    let database = rusqlite::Connection::open(&store).expect("a database");
    let older = "DROP TABLE pins; DROP TABLE seen_parts; DROP TABLE grants; \
                 DROP TABLE retention; DROP INDEX calls_by_end; \
                 ALTER TABLE calls DROP COLUMN ends; \
                 ALTER TABLE calls DROP COLUMN grants; PRAGMA user_version = 1";
    database.execute_batch(older).expect("an older store");
    drop(database);
    assert_eq!(office.run(&["grants", "add", "press", "printer:print"]).code, 0);
    assert_eq!(office.code(&["press:print"]), "OK");
    let calls = office.calls();
    let grants: Vec<&Json> = calls.iter().map(|call| &call["grants"]).collect();
    assert_eq!(grants, [&json!([]), &json!(["printer:print (always)"])]);
}

/// How a server of the configuration can be given a folder.
#[test]
fn doctor_reports_settings_in_reach_of_a_server() {
    let office = Office::new("");
    let path = office.path().join("toolwright.toml");
    let text = std::fs::read_to_string(&path).expect("a file");
    let safe = office.run(&["doctor"]);
    assert!(!safe.stdout.contains("trust:"), "{safe:?}");
    assert_eq!(office.code(&["press:count"]), "OK");
    let here = office.path().canonicalize().expect("a folder").display().to_string();
    for given in [
        "--root=.".to_owned(),
        here.clone(),
        format!("file://{here}"),
        format!("--uri=file://localhost{here}/%2E"),
        format!("/nowhere,{here}"),
        format!("/nowhere:{here}"),
        format!("{here}:/data"),
        format!("-v{here}:/data"),
        format!("type=bind,source={here},target=/data"),
        format!("cd {here} && exec server"),
        format!("server '{here}'"),
        "server --root \"$PWD\"".to_owned(),
        json!([here]).to_string(),
    ] {
        let command = format!("\"mcp\", \"good\", {}]", json!(given));
        let with = text.replace("\"mcp\", \"good\"]", &command);
        assert_ne!(with, text);
        std::fs::write(&path, with).expect("a file");
        let run = office.run(&["doctor"]);
        assert_eq!(run.code, 1, "{given}: {run:?}");
        for file in ["toolwright.toml", "state/toolwright/store.db"] {
            let part = format!("{file}` lies in `");
            assert!(run.stdout.contains(&part), "{given}: {file}: {run:?}");
        }
        assert!(run.stdout.contains("which the server `up` is given"), "{given}: {run:?}");
    }
    let command = "\"mcp\", \"good\", \"-c\", \". ./env; exec server .\"]";
    std::fs::write(&path, text.replace("\"mcp\", \"good\"]", command)).expect("a file");
    let run = office.run(&["doctor"]);
    assert!(run.stdout.contains("which the server `up` is given"), "{run:?}");
    // A near miss: other folders, and a mount that cannot be written to.
    for given in [
        json!(format!("{here}:/data:ro")).to_string(),
        json!(format!("{here}/state/nothing")).to_string(),
        "\"good\"".to_owned(),
        // The command `.` reads a file.
        "\"-c\", \". ./env\"".to_owned(),
        "\"-lc\", \"set -a; . ./env && exec server\"".to_owned(),
    ] {
        let command = format!("\"mcp\", \"good\", {given}]");
        std::fs::write(&path, text.replace("\"mcp\", \"good\"]", &command)).expect("a file");
        let run = office.run(&["doctor"]);
        assert!(!run.stdout.contains("trust:"), "{given}: {run:?}");
    }
    // Its environment, and the server that a definition names.
    let with_env = text.replace("[serve]", &format!("env = {{ ROOTS = \"/no:{here}\" }}\n[serve]"));
    std::fs::write(&path, with_env).expect("a file");
    let run = office.run(&["doctor"]);
    assert!(run.stdout.contains("which the server `up` is given"), "{run:?}");
    let remote = format!(
        "tool:\n  schema_version: 2.0\n  id: remote\n  type: mcp\n  name: Remote\n  \
         version: 1.0.0\n  description: Uses a server of its own.\n  commands: [echo]\n  \
         mcp_specific:\n    server_command: \"server {here}\"\n    transport: stdio\n"
    );
    std::fs::create_dir(office.path().join("met")).expect("a folder");
    std::fs::write(office.path().join("met/remote.yaml"), remote).expect("a file");
    std::fs::write(&path, format!("{text}\n[[source]]\nname = \"met\"\npath = \"met\"\n"))
        .expect("a file");
    let run = office.run(&["doctor"]);
    assert!(run.stdout.contains("which the server `remote` is given"), "{run:?}");
}
