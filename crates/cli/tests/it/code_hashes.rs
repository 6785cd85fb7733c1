//! Which files are part of a content hash, and that what runs is what was hashed.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::client::{LONG, StdioClient, faulty_server, script, until};
use crate::trusted_code::{ENFORCE, Workshop, code_of, definition, hashes, press};

#[test]
fn what_a_command_line_runs_is_part_of_the_hash() {
    let shell = "#!/bin/sh\necho 1\n";
    for (kind, section, file, text) in [
        ("mcp", "server_command: sh job", "job", "echo 1\n"),
        ("mcp", "server_command: timeout 5 /bin/sh -x job data.db", "job", "echo 1\n"),
        ("mcp", "server_command: run job.ksh", "job.ksh", "echo 1\n"),
        ("mcp", "server_command: run srv.pyw", "srv.pyw", "1\n"),
        ("mcp", "server_command: python3 srvmod", "srvmod/__main__.py", "1\n"),
        ("mcp", "server_command: python3 -mlib", "lib.py", "1\n"),
        ("mcp", "server_command: python3 -m lib", "lib/__main__.py", "1\n"),
        ("mcp", "server_command: python3 -um lib.sub", "lib/__init__.py", "1\n"),
        ("mcp", "server_command: node srv", "srv/index.js", "1\n"),
        ("mcp", "server_command: sh -c '$PWD/job x'", "job", shell),
        ("mcp", "server_command: sh -c 'cd sub && sh job'", "sub/job", "echo 1\n"),
        ("mcp", "server_command: HERE/sub/../job", "job", shell),
        ("mcp", "server_command: strace -f sh job", "job", "echo 1\n"),
        ("mcp", "server_command: go run srv.go", "srv.go", "1\n"),
        ("mcp", "server_command: tsx srv", "srv.ts", "1\n"),
        ("cli", "executable: sh", "hello", "echo 1\n"),
        ("local", "runtime: python3\n    entry_point: ./srv", "srv/__main__.py", "1\n"),
    ] {
        let workshop = Workshop::new(&[(file, text), ("data.db", "1"), ("sub/x", "")]);
        let here = workshop.folder.path().display().to_string();
        workshop.write("it.yaml", &definition("it", kind, &section.replace("HERE", &here)));
        let first = hashes(&workshop, "it.yaml");
        workshop.write(file, &text.replace('1', "2"));
        assert_ne!(hashes(&workshop, "it.yaml"), first, "{section}");
        workshop.write(file, text);
        workshop.write("data.db", "2");
        assert_eq!(hashes(&workshop, "it.yaml"), first, "{section}");
    }
}

#[test]
fn names_of_commands_and_programs_of_the_system_are_not_part_of_the_hash() {
    let workshop = Workshop::new(&[
        ("hello", "#!/bin/sh\n"),
        ("it.yaml", &definition("it", "cli", "executable: /bin/ls")),
    ]);
    let first = hashes(&workshop, "it.yaml");
    workshop.write("hello", "#!/bin/sh\nexit\n");
    assert_eq!(hashes(&workshop, "it.yaml"), first);
    // However the file is named, `/bin/ls` does not lie below its folder.
    assert_eq!(hashes(&workshop, "./it.yaml"), first);
    std::fs::remove_file(workshop.file("hello")).expect("removed");
    assert_eq!(hashes(&workshop, "it.yaml"), first);
}

#[test]
fn a_script_without_a_name_of_its_own_needs_a_new_grant_when_it_changes() {
    let workshop = Workshop::new(&[
        ("met/it.yaml", &definition("it", "cli", "executable: sh")),
        ("hello", "echo one\n"),
    ]);
    let call = &["it:hello", "--from", "met", "args:=[]"][..];
    workshop.grant(call);
    assert_eq!(workshop.code(call), "OK");
    workshop.write("hello", "echo two\n");
    assert_eq!(workshop.code(call), "CAPABILITY_DENIED");
}

#[test]
fn two_files_of_one_name_cannot_be_swapped() {
    let workshop =
        Workshop::new(&[("met/it.yaml", &definition("it", "cli", "executable: ./say.sh"))]);
    let (one, two) = ("#!/bin/sh\necho one\n", "#!/bin/sh\necho two\n");
    script(&workshop.file("say.sh"), one);
    script(&workshop.file("met/say.sh"), two);
    let call = &["it:hello", "--from", "met", "args:=[]"][..];
    workshop.grant(call);
    assert_eq!(workshop.code(call), "OK");
    script(&workshop.file("say.sh"), two);
    script(&workshop.file("met/say.sh"), one);
    assert_eq!(workshop.code(call), "CAPABILITY_DENIED");
    // Where both places have the file that was granted, there is nothing to ask.
    script(&workshop.file("met/say.sh"), two);
    workshop.grant(call);
    std::fs::remove_file(workshop.file("met/say.sh")).expect("removed");
    assert_eq!(workshop.code(call), "OK");
}

#[test]
fn what_warn_uses_is_not_accepted() {
    let config = |mode: &str, path: &str| {
        format!("[trust]\npin = \"{mode}\"\n[[source]]\nname = \"met\"\npath = \"{path}\"\n")
    };
    let say = |id: &str| definition(id, "cli", "executable: /bin/echo");
    let workshop = Workshop::new(&[
        ("toolwright.toml", &config("enforce", "met")),
        ("warn.toml", &config("warn", "met")),
        ("around.toml", &config("enforce", ".")),
        ("met/a.yaml", &say("a")),
    ]);
    let allow = ["args:=[]", "--allow", "process:spawn"];
    let call = |tool: &str, more: &[&str]| workshop.code(&[&[tool], &allow[..], more].concat());
    assert_eq!(call("a:hello", &[]), "OK");
    workshop.write("met/b.yaml", &say("b"));
    assert_eq!(call("b:hello", &[]), "QUARANTINED");
    let warn = ["--config", "warn.toml"];
    let run = workshop.run(&[&["call", "b:hello"], &allow[..], &warn].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.assert_on_stderr(
        "`hello` is new, the definition outside of its tools; still served, because `pin` is `warn`",
    );
    // Naming the file is the consent to start it, and no more.
    let named = workshop.run(&["call", "b:hello", "args:=[]", "--from", "met/b.yaml"]);
    assert_eq!(named.code, 0, "{named:?}");
    named.assert_on_stderr("`hello` is new, the definition outside of its tools");
    assert_eq!(call("a:hello", &warn), "OK");
    assert_eq!(call("b:hello", &[]), "QUARANTINED");
    // Nor by a walk that begins further up.
    assert_eq!(call("b:hello", &["--config", "around.toml"]), "QUARANTINED");
    assert_eq!(workshop.run(&["trust", "toolwright.toml", "--all"]).code, 0);
    assert_eq!(call("b:hello", &[]), "OK");
}

#[test]
fn the_lock_notices_another_program_of_a_configured_server() {
    let server = format!("#!/bin/sh\nexec {} mcp good\n", faulty_server());
    for (command, file) in [
        (json!(["./bin/server.sh"]), "bin/server.sh"),
        (json!(["sh", "bin/server.sh"]), "bin/server.sh"),
        (json!(["env", "A=1", "sh", "job"]), "job"),
    ] {
        let config = format!("[[source]]\nname = \"up\"\ncommand = {command}\n");
        let workshop = Workshop::new(&[("toolwright.toml", &config)]);
        script(&workshop.file(file), &server);
        let locked = workshop.run(&["trust", "toolwright.toml", "--lock"]);
        assert_eq!(locked.code, 0, "{locked:?}");
        let check = || workshop.run(&["trust", "--check", "toolwright.toml"]);
        assert_eq!(check().code, 0, "{command}");
        assert_eq!(workshop.code(&["up:echo", "text=a"]), "OK", "{command}");
        script(&workshop.file(file), &server.replace("exec", "true; exec"));
        let drift = check();
        assert_eq!(drift.code, 1, "{drift:?}");
        assert!(drift.stdout.contains("changed  up: the program that is started"), "{drift:?}");
        assert_eq!(workshop.code(&["up:echo", "text=a"]), "QUARANTINED", "{command}");
        let listed = workshop.run(&["list", "--config", "toolwright.toml"]);
        listed.assert_on_stderr("the program that is started");
        script(&workshop.file(file), &server);
        assert_eq!(workshop.code(&["up:echo", "text=a"]), "OK", "{command}");
    }
}

/// Makes `link` lead to `target`, at one moment.
fn lead(link: &Path, target: &str) {
    let new = link.with_extension("new");
    symlink(target, &new).expect("a link");
    std::fs::rename(&new, link).expect("renamed");
}

#[test]
fn a_link_that_changes_all_the_time_does_not_start_another_program() {
    let config = format!("{ENFORCE}[[source]]\nname = \"it\"\npath = \"it.yaml\"\n");
    for (section, link) in [("executable: ./say.sh", "say.sh"), ("executable: sh", "hello")] {
        let workshop = Workshop::new(&[
            ("toolwright.toml", &config),
            ("it.yaml", &definition("it", "cli", section)),
        ]);
        script(&workshop.file("one.sh"), "#!/bin/sh\necho one\n");
        script(&workshop.file("two.sh"), "#!/bin/sh\necho two\n");
        let link = workshop.file(link);
        lead(&link, "one.sh");
        let mut client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
        let call = |client: &mut StdioClient| client.call("it__hello", json!({"args": []}));
        assert!(call(&mut client).to_string().contains("one"));
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    lead(&link, "two.sh");
                    lead(&link, "one.sh");
                }
            });
            let others = (0..100).filter(|_| call(&mut client).to_string().contains("two\\n"));
            let others = others.count();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(others, 0, "{section}");
        });
        lead(&link, "two.sh");
        until("another program", LONG, || {
            (code_of(&call(&mut client)) == "QUARANTINED").then_some(())
        });
        lead(&link, "one.sh");
        until("the first program", LONG, || (code_of(&call(&mut client)) == "OK").then_some(()));
    }
}

#[test]
fn a_program_behind_a_link_knows_its_name() {
    let workshop = Workshop::new(&[
        ("it.yaml", &definition("it", "cli", "executable: ./names")),
        ("hello", "tr '\\0' ' ' < /proc/$$/cmdline\n"),
    ]);
    symlink("/bin/sh", workshop.file("names")).expect("a link");
    let run = workshop.run(&["call", "it:hello", "--from", "it.yaml", "args:=[]"]);
    assert!(run.stdout.contains("./names hello"), "{run:?}");
}

#[test]
fn a_script_that_appears_right_before_a_call_does_not_run() {
    let config = "[[source]]\nname = \"met\"\npath = \"met\"\n";
    let workshop = Workshop::new(&[
        ("toolwright.toml", config),
        ("met/it.yaml", &definition("it", "cli", "executable: sh")),
    ]);
    workshop.grant(&["it:hello", "args:=[]"]);
    let mut client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
    let call = |client: &mut StdioClient| {
        code_of(&client.call("it__hello", json!({"args": []}))).to_owned()
    };
    // The shell does not find it.
    assert_eq!(call(&mut client), "TOOL_FAILED");
    workshop.write("hello", "echo one\n");
    let first = call(&mut client);
    assert!(["QUARANTINED", "CAPABILITY_DENIED"].contains(&first.as_str()), "{first}");
    until("a question", LONG, || (call(&mut client) == "CAPABILITY_DENIED").then_some(()));
}

#[test]
fn a_grant_by_name_is_not_for_another_definition_while_the_named_one_cannot_be_read() {
    let config = "[[grant]]\ntoolset = \"*\"\ncapabilities = [\"printer:print\"]\n\
        [[source]]\nname = \"own\"\npath = \"own.json\"\n\
        [[source]]\nname = \"met\"\npath = \"met\"\n";
    let own = press("press", "print");
    let workshop = Workshop::new(&[
        ("toolwright.toml", config),
        ("own.json", &own),
        ("print.js", "export default () => 1;"),
        ("met/evil.json", &press("press", "steal")),
        ("met/steal.js", "export default () => 1;"),
        ("met/other.json", &press("other", "copy")),
        ("met/copy.js", "export default () => 1;"),
    ]);
    assert_eq!(workshop.code(&["press:steal"]), "CAPABILITY_DENIED");
    assert_eq!(workshop.code(&["other:copy"]), "OK");
    for damaged in [Some("{"), Some(&*own.replace("\"press\"", "7")), Some("{}"), None] {
        match damaged {
            Some(text) => workshop.write("own.json", text),
            None => std::fs::remove_file(workshop.file("own.json")).expect("removed"),
        }
        assert_eq!(workshop.code(&["press:steal"]), "CAPABILITY_DENIED", "{damaged:?}");
        // Which name the file has is not known.
        assert_eq!(workshop.code(&["other:copy"]), "CAPABILITY_DENIED", "{damaged:?}");
    }
    let client = StdioClient::start(workshop.folder.path(), &[], &workshop.variables());
    until("a line of the log", LONG, || {
        client.stderr().contains("not all of `own` could be read").then_some(())
    });
    workshop.write("own.json", &own);
    assert_eq!(workshop.code(&["press:print"]), "OK");
    assert_eq!(workshop.code(&["other:copy"]), "OK");
}
