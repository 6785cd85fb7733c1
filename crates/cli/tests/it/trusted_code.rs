//! What a grant or a pin is for: the code that runs, under the name that it was given.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::client::{
    HttpClient, LONG, StdioClient, faulty_server, handshake, run_with, script, until,
};
use crate::orchestrations::meta;
use crate::program::{Run, folder, project};
use crate::running_programs::process_tool;
use crate::scripted_servers::ScriptedServers;

/// A folder with files, and a user of its own.
pub(crate) struct Workshop {
    pub(crate) folder: tempfile::TempDir,
    state: String,
}

impl Workshop {
    pub(crate) fn new(files: &[(&str, &str)]) -> Workshop {
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        let folder = folder(&files);
        let state = folder.path().join("state").display().to_string();
        Workshop { folder, state }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn variables(&self) -> [(&str, &str); 1] {
        [("XDG_STATE_HOME", &self.state)]
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        run_with(self.folder.path(), args, &self.variables(), "")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).expect("a file");
    }

    /// The code of a call, or `OK`.
    pub(crate) fn code(&self, args: &[&str]) -> String {
        let run = self.run(&[&["call", "--json"], args].concat());
        let answer: Json = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        answer["error"]["code"].as_str().unwrap_or("OK").to_owned()
    }

    /// Grants what the refusal of this call names.
    pub(crate) fn grant(&self, args: &[&str]) {
        let refused = self.run(&[&["call"], args].concat());
        let command = refused.stderr.split('`').find(|it| it.starts_with("toolwright grants add"));
        let command = command.unwrap_or_else(|| panic!("{refused:?}"));
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        assert_eq!(self.run(&words).code, 0, "{command}");
    }

    /// A client of `serve` that can show forms.
    fn asking_client(&self) -> StdioClient {
        let mut client = StdioClient::bare(self.folder.path(), &[], &self.variables());
        let mut params = handshake("2025-06-18");
        params["capabilities"] = json!({"elicitation": {}});
        client.ask("initialize", params);
        client.notify("notifications/initialized", json!({}));
        client
    }
}

pub(crate) fn code_of(result: &Json) -> &str {
    result["_meta"]["toolwright/error"]["code"].as_str().unwrap_or("OK")
}

/// A definition of this type.
pub(crate) fn definition(id: &str, kind: &str, section: &str) -> String {
    format!(
        "tool:\n  schema_version: 2.0\n  id: {id}\n  type: {kind}\n  name: Name\n  version: 1.0.0\n  \
         description: Does something.\n  commands: [hello]\n  {kind}_specific:\n    {section}\n"
    )
}

/// All hashes that `show` prints.
pub(crate) fn hashes(workshop: &Workshop, file: &str) -> Vec<String> {
    let shown = workshop.run(&["show", file, "--json"]).stdout;
    let found = shown.split('"').filter(|word| word.starts_with("v1:")).map(str::to_owned);
    let found: Vec<String> = found.collect();
    assert!(!found.is_empty(), "{shown}");
    found
}

#[test]
fn a_grant_is_for_the_programs_that_a_definition_names() {
    let server = format!("#!/bin/sh\nexec {} mcp good\n", faulty_server());
    for (name, text, kind, section, tool) in [
        ("say.sh", "#!/bin/sh\necho one\n", "cli", "executable: ./say.sh", "it:hello"),
        ("say.sh", "#!/bin/sh\necho one\n", "cli", "executable: met/../say.sh", "it:hello"),
        ("serve.sh", server.as_str(), "mcp", "server_command: ./serve.sh x", "it:echo"),
        ("serve.sh", server.as_str(), "mcp", "server_command: sh serve.sh x", "it:echo"),
        ("serve.sh", server.as_str(), "mcp", "server_command: env A=1 ./serve.sh", "it:echo"),
        ("serve.sh", server.as_str(), "mcp", "server_command: sh -c './serve.sh x'", "it:echo"),
    ] {
        let text_of = definition("it", kind, section).replace("[hello]", "[hello, echo]");
        let workshop = Workshop::new(&[("met/it.yaml", &text_of)]);
        // A server is started in the folder of its definition.
        let name = if kind == "cli" { name.to_owned() } else { format!("met/{name}") };
        script(&workshop.file(&name), text);
        let given = if kind == "cli" { "args:=[]" } else { "text=a" };
        let call = &[tool, "--from", "met", given][..];
        assert_eq!(workshop.code(call), "CAPABILITY_DENIED", "{section}");
        workshop.grant(call);
        assert_eq!(workshop.code(call), "OK", "{section}");
        // Another program under the same name is another toolset.
        script(&workshop.file(&name), &text.replace("exec", "true; exec").replace("one", "two"));
        assert_eq!(workshop.code(call), "CAPABILITY_DENIED", "{section}");
        script(&workshop.file(&name), text);
        assert_eq!(workshop.code(call), "OK", "{section}");
    }
}

#[test]
fn a_program_beside_its_definition_is_part_of_its_hash() {
    let cli = definition("it", "cli", "executable: ./say.sh");
    let workshop = Workshop::new(&[("met/it.yaml", &cli), ("met/data.db", "1")]);
    // Computed before files counted: an upgrade does not change it.
    let none = hashes(&workshop, "met/it.yaml");
    script(&workshop.file("met/say.sh"), "echo one");
    let one = hashes(&workshop, "met/it.yaml");
    script(&workshop.file("met/say.sh"), "echo two");
    let two = hashes(&workshop, "met/it.yaml");
    assert!(none != one && one != two && none != two, "{none:?} {one:?} {two:?}");
    // Data is not code, and programs of the system are not part of a definition.
    for section in ["server_command: /bin/cat met/data.db", "server_command: cat data.db"] {
        workshop.write("met/it.yaml", &definition("it", "mcp", section));
        let before = hashes(&workshop, "met/it.yaml");
        workshop.write("met/data.db", section);
        assert_eq!(hashes(&workshop, "met/it.yaml"), before, "{section}");
    }
}

pub(crate) const ENFORCE: &str = "[trust]\npin = \"enforce\"\n";

#[test]
fn a_pin_is_for_the_code_of_programs_and_servers() {
    let server = format!("#!/bin/sh\nexec {} mcp good\n", faulty_server());
    let config = format!(
        "{ENFORCE}[[source]]\nname = \"bin\"\nexecutables = \"bin\"\n\
         [[source]]\nname = \"said\"\npath = \"said.yaml\"\n\
         [[source]]\nname = \"served\"\npath = \"served.yaml\"\n"
    );
    let workshop = Workshop::new(&[
        ("toolwright.toml", &config),
        ("said.yaml", &definition("said", "cli", "executable: ./say.sh")),
        ("served.yaml", &definition("served", "mcp", "server_command: ./serve.sh")),
    ]);
    script(&workshop.file("say.sh"), "#!/bin/sh\necho one\n");
    script(&workshop.file("serve.sh"), &server);
    let schema = json!({"name": "tell", "description": "Tells.", "parameters": {"type": "object"}});
    let program = workshop.file("bin/tell-tool");
    process_tool(&program, &schema, "echo '{\"told\": 1}'");
    for (tool, file, text) in [
        ("said:hello", "say.sh", "#!/bin/sh\necho two\n".to_owned()),
        ("served:echo", "serve.sh", server.replace("exec", "true; exec")),
        ("tell", "bin/tell-tool", String::new()),
    ] {
        let call: Vec<&str> = match tool {
            "said:hello" => vec![tool, "args:=[]"],
            "served:echo" => vec![tool, "text=a"],
            _ => vec![tool],
        };
        let call = call.as_slice();
        assert_eq!(workshop.code(call), "OK", "{tool}");
        match text.as_str() {
            "" => process_tool(&program, &schema, "echo '{\"told\": 2}'"),
            text => script(&workshop.file(file), text),
        }
        let refused = workshop.run(&[&["call"], call].concat());
        refused.assert_on_stderr("QUARANTINED");
        let accepted = workshop.run(&["trust", "toolwright.toml", "--all"]);
        assert!(accepted.code == 0 && accepted.stdout.contains("code"), "{accepted:?}");
        assert_eq!(workshop.code(call), "OK", "{tool}");
    }
}

#[test]
fn a_script_that_is_replaced_right_before_a_call_does_not_run() {
    let local = definition("it", "local", "runtime: sh\n    entry_point: ./it.sh");
    let config = format!("{ENFORCE}[[source]]\nname = \"it\"\npath = \"it.yaml\"\n");
    let workshop = Workshop::new(&[
        ("toolwright.toml", &config),
        ("it.yaml", &local),
        ("it.sh", "echo '{\"run\": \"first\"}'\n"),
    ]);
    let mut client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
    assert_eq!(code_of(&client.call("it__hello", json!({}))), "OK");
    // A file of the same size in its place, as a hostile one would be.
    workshop.write("other.sh", "echo '{\"run\": \"other\"}'\n");
    std::fs::rename(workshop.file("other.sh"), workshop.file("it.sh")).expect("renamed");
    for _ in 0..3 {
        let refused = client.call("it__hello", json!({}));
        assert_eq!(code_of(&refused), "QUARANTINED", "{refused}");
    }
    // The first one again, without a restart.
    workshop.write("it.sh", "echo '{\"run\": \"first\"}'\n");
    until("the first script", LONG, || {
        (code_of(&client.call("it__hello", json!({}))) == "OK").then_some(())
    });
}

/// A manifest with one tool that needs `printer:print`.
pub(crate) fn press(name: &str, tool: &str) -> String {
    json!({
        "btcp": "1.0", "name": name, "version": "1.0.0", "capabilities": ["printer:print"],
        "tools": [{
            "name": tool, "description": "Prints a text on paper.",
            "capabilities": ["printer:print"], "inputSchema": {"type": "object"},
        }],
    })
    .to_string()
}

#[test]
fn a_grant_by_name_is_not_for_another_definition_that_takes_the_name() {
    let config = "[[grant]]\ntoolset = \"*\"\ncapabilities = [\"printer:print\"]\n\
        [[source]]\nname = \"own\"\npath = \"own.json\"\n\
        [[source]]\nname = \"met\"\npath = \"met\"\n[serve]\nlist_wait = 60000\n";
    let workshop = Workshop::new(&[
        ("toolwright.toml", config),
        ("own.json", &press("press", "print")),
        ("print.js", "export default () => 1;"),
        ("met/other.json", &press("other", "copy")),
        ("met/copy.js", "export default () => 1;"),
        ("met/steal.js", "export default () => 1;"),
    ]);
    assert_eq!(workshop.code(&["press:print"]), "OK");
    assert_eq!(workshop.code(&["other:copy"]), "OK");
    workshop.write("met/evil.json", &press("press", "steal"));
    assert_eq!(workshop.code(&["press:steal"]), "CAPABILITY_DENIED");
    assert_eq!(workshop.code(&["press:print"]), "OK");
    assert_eq!(workshop.code(&["other:copy"]), "OK");
    let checked = workshop.run(&["check", "toolwright.toml"]);
    assert!(checked.stdout.contains("`press` is also the name of the tools in"), "{checked:?}");
    // In the store, too, and for two that were met.
    let (_, sources) = config.split_once("capabilities = [\"printer:print\"]\n").expect("a grant");
    workshop.write("toolwright.toml", sources);
    let add = ["grants", "add", "press", "printer:print", "--by-name", "--from", "own.json"];
    assert_eq!(workshop.run(&add).code, 0);
    assert_eq!(workshop.code(&["press:print"]), "OK");
    assert_eq!(workshop.code(&["press:steal"]), "CAPABILITY_DENIED");
    let client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
    until("a line of the log", LONG, || {
        client.stderr().contains("`press` is the name of several toolsets (").then_some(())
    });
    // A hash names the content.
    workshop.grant(&["press:steal"]);
    assert_eq!(workshop.code(&["press:steal"]), "OK");
}

#[test]
fn a_server_and_a_file_of_one_name_are_a_finding() {
    let config = format!(
        "[[grant]]\ntoolset = \"up\"\ncapabilities = [\"printer:print\"]\n\
         [[source]]\nname = \"up\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n\
         [[source]]\nname = \"met\"\npath = \"met\"\n",
        faulty_server()
    );
    let workshop = Workshop::new(&[
        ("toolwright.toml", &config),
        ("met/evil.json", &press("up", "steal")),
        ("met/steal.js", "export default () => 1;"),
    ]);
    assert_eq!(workshop.code(&["up:steal"]), "CAPABILITY_DENIED");
    let checked = workshop.run(&["check", "toolwright.toml"]);
    assert!(checked.stdout.contains("`up` is also the name of the tools in"), "{checked:?}");
    assert!(checked.stdout.contains("DUPLICATE_ID"), "{checked:?}");
}

#[test]
fn a_file_that_is_renamed_is_new() {
    let config = format!("{ENFORCE}[[source]]\nname = \"met\"\npath = \"met\"\n");
    let say = |id: &str| definition(id, "cli", "executable: /bin/echo");
    let allow = ["--allow", "process:spawn"];
    let call =
        |workshop: &Workshop, tool| workshop.code(&[&[tool, "args:=[]"], &allow[..]].concat());
    let workshop = Workshop::new(&[
        ("toolwright.toml", &config),
        ("met/a.yaml", &say("a")),
        ("met/b.yaml", &say("b")),
    ]);
    assert_eq!(call(&workshop, "a:hello"), "OK");
    assert_eq!(call(&workshop, "b:hello"), "OK");
    std::fs::rename(workshop.file("met/b.yaml"), workshop.file("met/c.yaml")).expect("renamed");
    assert_eq!(call(&workshop, "b:hello"), "QUARANTINED");
    assert_eq!(call(&workshop, "a:hello"), "OK");
    let listed = workshop.run(&["list", "--config", "toolwright.toml"]);
    assert!((listed.stdout.clone() + &listed.stderr).contains("is new"), "{listed:?}");
    let checked = workshop.run(&["trust", "--check", "toolwright.toml"]);
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(checked.stdout.contains("c.yaml:hello\n"), "{checked:?}");
    // Nobody is here to accept it, and `trust` does not do it by itself.
    assert_eq!(workshop.run(&["trust", "toolwright.toml"]).code, 1);
    assert_eq!(call(&workshop, "b:hello"), "QUARANTINED");
    assert_eq!(workshop.run(&["trust", "toolwright.toml", "--all"]).code, 0);
    assert_eq!(call(&workshop, "b:hello"), "OK");
    assert_eq!(workshop.run(&["trust", "--check", "toolwright.toml"]).code, 0);
    // In the middle of a session, too.
    let mut client = StdioClient::start(workshop.folder.path(), &allow, &workshop.variables());
    assert_eq!(code_of(&client.call("a__hello", json!({"args": []}))), "OK");
    std::fs::rename(workshop.file("met/a.yaml"), workshop.file("met/z.yaml")).expect("renamed");
    until("the renamed file", LONG, || {
        (code_of(&client.call("a__hello", json!({"args": []}))) == "QUARANTINED").then_some(())
    });
}

#[test]
fn the_lock_holds_what_is_started() {
    let server = faulty_server();
    let sources: String = [
        ("plain", json!([server, "mcp", "good"])),
        ("with-env", json!(["env", "A=1", server, "mcp", "good"])),
        ("shell", json!(["sh", "-c", format!("exec {server} mcp good")])),
        ("relative", json!(["./bin/server.sh"])),
        ("script", json!(["sh", "bin/server.sh"])),
    ]
    .iter()
    .map(|(name, command)| format!("[[source]]\nname = \"{name}\"\ncommand = {command}\n"))
    .collect();
    let workshop = Workshop::new(&[("toolwright.toml", &sources)]);
    script(&workshop.file("bin/server.sh"), &format!("#!/bin/sh\nexec {server} mcp good\n"));
    let locked = workshop.run(&["trust", "toolwright.toml", "--lock"]);
    assert_eq!(locked.code, 0, "{locked:?}");
    let lock = std::fs::read_to_string(workshop.file("toolwright.lock")).expect("a lock");
    let entry = |name: &str| {
        let (_, rest) = lock.split_once(&format!("[server.{name}]\n")).expect("an entry");
        let value = |key: &str| {
            let line = rest.lines().find(|line| line.starts_with(key)).expect("a line");
            line.split('"').nth(1).expect("a text").to_owned()
        };
        (value("starts"), value("path"))
    };
    let at = |path: &Path| path.display().to_string();
    assert_eq!(entry("plain"), ("faulty-server".to_owned(), server.clone()));
    assert_eq!(entry("with-env"), ("faulty-server".to_owned(), server.clone()));
    let (starts, path) = entry("relative");
    assert!(starts.starts_with("server.sh v1:"), "{starts}");
    let real = |path: &str| Path::new(path).canonicalize().expect("a file");
    assert_eq!(real(&path), real(&at(&workshop.file("bin/server.sh"))));
    assert!(Path::new(&path).is_absolute(), "{path}");
    assert!(entry("script").0.starts_with("sh bin/server.sh v1:"), "{lock}");
    let (starts, path) = entry("shell");
    assert!(starts.starts_with("sh -c faulty-server v1:") && path.ends_with("/sh"), "{starts}");
    // Another text for the shell is another program.
    assert_eq!(workshop.run(&["trust", "--check", "toolwright.toml"]).code, 0);
    workshop.write("toolwright.toml", &sources.replace("exec ", "true; exec "));
    let drift = workshop.run(&["trust", "--check", "toolwright.toml"]);
    assert_eq!(drift.code, 1, "{drift:?}");
    assert!(drift.stdout.contains("changed  shell: the program that is started"), "{drift:?}");
}

#[test]
fn the_whole_of_what_changed_is_shown() {
    let long = |end: &str| format!("{} ends with {end}.", "Lorem ipsum dolor. ".repeat(3_000));
    let tool = |end: &str| {
        json!([{"name": "talk", "description": long(end), "inputSchema": {
            "type": "object", "properties": {"a": {"description": "x".repeat(900) + end}},
        }}])
    };
    let scripted = ScriptedServers::new(&[(
        "up",
        "",
        json!({"tools/list": {"result": {"tools": tool("peace")}}}),
    )]);
    let state = scripted.path().join("own-state").display().to_string();
    let variables = [("XDG_STATE_HOME", state.as_str())];
    let run = |args: &[&str]| run_with(scripted.path(), args, &variables, "");
    let accepted = run(&["trust", "toolwright.toml"]);
    assert_eq!(accepted.code, 0, "{}", accepted.stderr);
    let file = scripted.file("up.json");
    let text = std::fs::read_to_string(&file).expect("a script");
    std::fs::write(&file, text.replace("peace", "war")).expect("a script");
    let shown = run(&["trust", "toolwright.toml"]);
    assert_eq!(shown.code, 1, "{}", shown.stderr);
    assert!(shown.stdout.contains("ends with [-peace"), "{}", shown.stdout.len());
    assert!(shown.stdout.contains("xxxpeace") && shown.stdout.contains("xxxwar"));
}

#[test]
fn a_hint_that_cannot_be_read_is_the_dangerous_one() {
    let tool = |name: &str, hints: Json| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": hints});
    let tools = json!([
        tool("quoted", json!({"destructiveHint": "true", "readOnlyHint": true})),
        tool("number", json!({"openWorldHint": 1, "readOnlyHint": true})),
        tool("unset", json!({"destructiveHint": null, "readOnlyHint": true})),
        tool(
            "safe",
            json!({"destructiveHint": false, "openWorldHint": false, "readOnlyHint": true})
        ),
        tool("claims", json!({"readOnlyHint": "true"})),
    ]);
    let scripted = ScriptedServers::new(&[(
        "up",
        "",
        json!({
            "tools/list": {"result": {"tools": tools}},
            "tools/call": {"result": {"content": []}},
        }),
    )]);
    let path = scripted.file("toolwright.toml");
    let text = std::fs::read_to_string(&path).expect("a file");
    let policy = "[policy]\nelicit = false\n\
                  need_grant = [\"destructive\", \"open_world\", \"not_read_only\"]\n";
    std::fs::write(&path, format!("{policy}{text}")).expect("a file");
    let mut client = scripted.serve();
    for (name, code) in [
        ("up__quoted", "CAPABILITY_DENIED"),
        ("up__number", "CAPABILITY_DENIED"),
        ("up__claims", "CAPABILITY_DENIED"),
        ("up__unset", "OK"),
        ("up__safe", "OK"),
    ] {
        let result = client.call(name, json!({}));
        assert_eq!(code_of(&result), code, "{name}: {result}");
    }
}

#[test]
fn rules_and_grants_about_nothing_are_reported() {
    let config = "[[source]]\nname = \"press\"\npath = \"press.json\"\n\
        [[grant]]\ntoolset = \"pres\"\ncapabilities = [\"printer:print\"]\n\
        [[rule]]\ntool = \"press:prnt\"\naction = \"deny\"\n\
        [[rule]]\ntool = \"press:*\"\nagent = \"locl\"\naction = \"ask\"\n\
        [[rule]]\ntool = \"press:p*\"\naction = \"ask\"\n";
    let workshop = Workshop::new(&[
        ("toolwright.toml", config),
        ("press.json", &press("press", "print")),
        ("print.js", "export default () => 1;"),
    ]);
    let expected = [
        "the `[[grant]]` for `local` does nothing: no toolset fits `pres`; did you mean `press`?",
        "the `[[rule]]` about `press:prnt` does nothing: no tool fits `press:prnt`; did you mean \
         `press:print`?",
        "the `[[rule]]` about `press:*` does nothing: no agent fits `locl`; did you mean `local`?",
    ];
    for args in [&["check"][..], &["check", "toolwright.toml"], &["doctor", "toolwright.toml"]] {
        let run = workshop.run(args);
        assert_eq!(run.stderr.matches("does nothing").count(), 3, "{args:?}: {run:?}");
        expected.iter().for_each(|line| run.assert_on_stderr(line));
    }
    // A part of the sources says nothing about the others.
    assert!(!workshop.run(&["check", "press.json"]).stderr.contains("does nothing"));
    let client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
    for line in expected {
        until(line, LONG, || client.stderr().contains(line).then_some(()));
    }
}

/// Answers the next question of a client's server.
fn answer(client: &mut StdioClient, word: &str) {
    let asked = client.find("a question", |it| it["method"] == "elicitation/create");
    let answer = json!({"action": "accept", "content": {"decision": word}});
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
    client.line(reply.to_string().as_bytes());
}

fn one_press(more: &str) -> Workshop {
    let config = format!("{more}\n[[source]]\nname = \"press\"\npath = \"press.json\"\n");
    Workshop::new(&[
        ("toolwright.toml", &config),
        ("press.json", &press("press", "print")),
        ("print.js", "export default ({ text }) => text ?? 'nothing';"),
    ])
}

#[test]
fn grants_for_a_session_are_listed_and_revoked() {
    let workshop = one_press("");
    let mut client = workshop.asking_client();
    let id = client.send_call("press__print", json!({}));
    answer(&mut client, "session");
    assert_eq!(code_of(&client.answer(&id)["result"]), "OK");
    assert_eq!(code_of(&client.call("press__print", json!({}))), "OK");
    let list = || workshop.run(&["grants", "list", "--output-format", "json"]).stdout;
    let listed: Json = serde_json::from_str(&list()).expect("one grant");
    assert_eq!((&listed["term"], &listed["toolset"]), (&json!("session"), &json!("press")));
    assert_eq!(listed["process"], client.pid(), "{listed}");
    let text = workshop.run(&["grants", "list"]).stdout;
    assert!(text.contains(&format!("process {}", client.pid())), "{text}");
    // Revoked in another terminal, it does not hold for the next call.
    let revoked = workshop.run(&["grants", "revoke", "press"]);
    revoked.assert_on_stderr("revoked: `printer:print` of `press` for `local`");
    assert_eq!(list(), "");
    let id = client.send_call("press__print", json!({}));
    answer(&mut client, "session");
    assert_eq!(code_of(&client.answer(&id)["result"]), "OK");
    assert_eq!(list().lines().count(), 1);
    // A process that is gone holds nothing.
    crate::running_programs::signal(client.pid(), "KILL");
    until("the end of the process", LONG, || list().is_empty().then_some(()));
}

#[test]
fn an_answer_to_one_rule_is_none_to_another() {
    let rule = |text: &str| {
        format!(
            "[[rule]]\ntool = \"press:print\"\naction = \"ask\"\n[rule.arguments]\n\
             required = [\"text\"]\nproperties.text.const = \"{text}\"\n"
        )
    };
    let workshop = one_press(&format!(
        "[[grant]]\ntoolset = \"press\"\ncapabilities = [\"printer:print\"]\n{}{}",
        rule("a"),
        rule("b")
    ));
    let mut client = workshop.asking_client();
    let id = client.send_call("press__print", json!({"text": "a"}));
    answer(&mut client, "session");
    assert_eq!(code_of(&client.answer(&id)["result"]), "OK");
    assert_eq!(code_of(&client.call("press__print", json!({"text": "a"}))), "OK");
    let id = client.send_call("press__print", json!({"text": "b"}));
    answer(&mut client, "no");
    assert_eq!(code_of(&client.answer(&id)["result"]), "CAPABILITY_DENIED");
}

#[test]
fn a_rule_that_denies_holds_for_a_question_that_is_open() {
    let workshop = one_press("[[source]]\nname = \"say\"\npath = \"say.yaml\"\n");
    workshop.write("say.yaml", &definition("say", "cli", "executable: /bin/echo"));
    let mut client = workshop.asking_client();
    assert_eq!(code_of(&client.call("say__hello", json!({"args": []}))), "OK");
    let id = client.send_call("press__print", json!({}));
    let asked = client.find("a question", |it| it["method"] == "elicitation/create");
    let path = workshop.file("toolwright.toml");
    let text = std::fs::read_to_string(&path).expect("a file");
    let deny = "[[rule]]\ntool = \"*\"\naction = \"deny\"\nreason = \"not today\"\n";
    std::fs::write(&path, format!("{deny}{text}")).expect("a file");
    until("the rule", LONG, || {
        let result = client.call("say__hello", json!({"args": []}));
        (code_of(&result) == "CAPABILITY_DENIED").then_some(())
    });
    let yes = json!({"action": "accept", "content": {"decision": "session"}});
    let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes});
    client.line(reply.to_string().as_bytes());
    let result = client.answer(&id)["result"].clone();
    assert_eq!(code_of(&result), "CAPABILITY_DENIED", "{result}");
    assert!(result.to_string().contains("not today"), "{result}");
}

#[test]
fn the_last_agent_that_leaves_has_nothing_left() {
    let workshop = one_press("");
    let path = workshop.file("toolwright.toml");
    let without = std::fs::read_to_string(&path).expect("a file");
    let made = workshop.run(&["agent", "add", "only", "--write"]);
    let token = made.stdout.rsplit("token: ").next().expect("a token").trim().to_owned();
    let mut web = HttpClient::start(workshop.folder.path(), &[], &workshop.variables());
    web.token = Some(token.clone());
    let list = |web: &HttpClient| web.ask_modern(1, "tools/list", json!({})).status;
    assert_eq!(list(&web), 200);
    let session = web.session("2025-06-18");
    std::fs::write(&path, without).expect("a file");
    until("the end of the agent", LONG, || {
        let reply = session.ask(9, "tools/call", json!({"name": "press__print", "arguments": {}}));
        let is_over = reply.status != 200 || {
            let answer = reply.answer(&json!(9));
            let text = answer.to_string();
            // Neither allowed nor asked for a grant that could be given to it.
            text.contains("no agent `only`")
                || text.contains("no tool")
                || answer.get("error").is_some()
        };
        is_over.then_some(())
    });
    let served = session.ask(10, "tools/list", json!({}));
    if served.status == 200 {
        let answer = served.answer(&json!(10));
        assert!(!answer.to_string().contains("press__print"), "{answer}");
    }
}

#[test]
fn two_agents_cannot_have_one_token() {
    let token = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let upper = token.to_uppercase();
    let workshop = one_press(&format!(
        "[[agent]]\nname = \"a\"\ntoken_sha256 = \"{token}\"\n\
         [[agent]]\nname = \"b\"\ntoken_sha256 = \"{upper}\"\n"
    ));
    let refused = workshop.run(&["serve", "--http", "127.0.0.1:0"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    refused.assert_on_stderr("another agent has the same token");
}

#[test]
fn the_commands_of_the_page_about_trust_work_without_a_terminal() {
    let config = format!(
        "[[source]]\nname = \"notes\"\ncommand = [\"{}\", \"mcp\", \"good\"]\n",
        faulty_server()
    );
    let page = std::fs::read_to_string(project().join("docs/trust.md")).expect("the page");
    let (_, section) = page.split_once("### Accepting a change").expect("a section");
    let block = section.split("```").nth(1).expect("a block");
    let commands: Vec<&str> = block
        .lines()
        .filter_map(|line| line.split(" #").next()?.trim().strip_prefix("toolwright "))
        .collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let workshop = Workshop::new(&[("toolwright.toml", &config)]);
        assert_eq!(workshop.run(&["trust", "toolwright.toml", "--lock"]).code, 0);
        let before = std::fs::read_to_string(workshop.file("toolwright.lock")).expect("a lock");
        if command.contains("--accept add") {
            let other = before.replace("\nadd = \"v1:", "\nadd = \"v1:0");
            assert_ne!(before, other);
            workshop.write("toolwright.lock", &other);
        }
        let words: Vec<&str> = command.split_whitespace().collect();
        let run = workshop.run(&words);
        assert_eq!(run.code, 0, "{command}: {run:?}");
        let after = std::fs::read_to_string(workshop.file("toolwright.lock")).expect("a lock");
        assert_eq!(after, before, "{command}");
    }
}

/// How many calls the next test makes: as many as the variable says, for `make soak`.
fn load() -> usize {
    std::env::var("TOOLWRIGHT_TEST_CALLS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

#[test]
fn programs_scripts_and_orchestrations_leave_one_record_each() {
    let config = "[[source]]\nname = \"bin\"\nexecutables = \"bin\"\n\
        [[source]]\nname = \"local\"\npath = \"local.yaml\"\n\
        [[source]]\nname = \"all\"\npath = \"all.yaml\"\n\
        [[source]]\nname = \"web\"\nbuiltin = \"web\"\n[limits]\nqueue = 20000\n\
        [[grant]]\ntoolset = \"*\"\ncapabilities = [\"tool:call\", \"process:spawn\"]\n";
    let local = definition("local", "local", "runtime: sh\n    entry_point: ./local.sh");
    let code = "async function runIt({ n }) {
  return { n, inner: await tools.call('local:hello', {}) };
}
module.exports = { runIt };";
    let workshop = Workshop::new(&[
        ("toolwright.toml", config),
        ("local.yaml", &local),
        ("local.sh", "cat\n"),
        ("all.yaml", &meta("all", "[local]", code)),
    ]);
    let schema = json!({"name": "tell", "description": "Tells.", "parameters": {"type": "object"}});
    process_tool(&workshop.file("bin/tell-tool"), &schema, "cat");
    let mut client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
    client.names();
    let all = load() / 10;
    let mut open: Vec<(Json, &str)> = Vec::new();
    let (mut sent, mut inner) = (0, 0);
    while sent < all || !open.is_empty() {
        while sent < all && open.len() < 200 {
            let (name, arguments) = match sent % 4 {
                0 => ("tell", json!({"n": sent})),
                1 => ("local__hello", json!({"n": sent})),
                2 => ("all__all", json!({"n": sent})),
                // An address that is refused without a look at it.
                _ => ("web__fetch", json!({"url": "http://127.0.0.1:1/"})),
            };
            inner += usize::from(name == "all__all");
            open.push((client.send_call(name, arguments), name));
            sent += 1;
        }
        let result = client.find("a result", |message| message.get("id").is_some());
        let place = open.iter().position(|(id, _)| *id == result["id"]);
        let (_, name) = open.swap_remove(place.expect("one result for a call"));
        let is_refused = result["result"]["isError"] == true;
        assert_eq!(is_refused, name == "web__fetch", "{result}");
    }
    drop(client);
    let records = workshop.run(&["audit", "--output-format", "json"]).stdout;
    // What an orchestration calls is on record, too.
    assert_eq!(records.lines().count(), all + inner);
}

#[test]
fn doctor_reports_a_lock_in_reach_of_a_server() {
    let config = format!(
        "[[source]]\nname = \"up\"\ncommand = [\"sh\", \"serve.sh\", \"{}\", \".\"]\n",
        faulty_server()
    );
    let script = "exec \"$1\" mcp good\n";
    let workshop = Workshop::new(&[("toolwright.toml", &config), ("serve.sh", script)]);
    let run = workshop.run(&["trust", "toolwright.toml", "--lock"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = workshop.run(&["doctor"]);
    assert!(run.code == 1 && run.stdout.contains("toolwright.lock` lies in `"), "{run:?}");
    // The configuration of another folder, if it is named.
    let elsewhere = folder(&[]);
    let path = workshop.file("toolwright.toml").display().to_string();
    let run = run_with(elsewhere.path(), &["doctor", "--config", &path], &[], "");
    assert!(run.stdout.contains("toolwright.lock` lies in `"), "{run:?}");
}

/// A server that starts while another process holds the store reads the grants when it is free.
#[test]
fn grants_hold_when_a_store_that_was_locked_at_the_start_is_free() {
    for required in ["true", "false"] {
        let workshop = one_press(&format!("[audit]\nrequired = {required}\n"));
        workshop.grant(&["press:print"]);
        let store = workshop.file("state/toolwright/store.db");
        let holder = rusqlite::Connection::open(store).expect("a database");
        holder.execute_batch("BEGIN EXCLUSIVE").expect("it is free");
        let mut client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
        let refused = client.call("press__print", json!({}));
        assert_eq!(refused["isError"], true, "{refused}");
        drop(holder);
        until("the grant holds", LONG, || {
            let result = client.call("press__print", json!({}));
            (result["isError"] != true).then_some(())
        });
    }
}
