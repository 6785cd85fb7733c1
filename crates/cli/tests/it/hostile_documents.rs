//! Hostile documents: each is read within bounded processor time and memory, and ends with the
//! right diagnostic.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::program::{folder, toolwright};

/// The most processor time that a document may take: two seconds for an optimised build, a few
/// times as much without optimisation. Time on the clock would depend on what else runs on the
/// machine.
const SECONDS: u64 = if cfg!(debug_assertions) { 12 } else { 2 };
/// The most memory that the process may use.
const MEGABYTES: u64 = 300;

/// A document, and the code of a diagnostic that it must get.
struct HostileDocument {
    name: &'static str,
    text: Vec<u8>,
    code: &'static str,
}

fn documents() -> Vec<HostileDocument> {
    let deep = 100_000;
    let laughs = (1..10).fold(
        "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned(),
        |text, n| {
            let of = vec![format!("*a{}", n - 1); 9].join(", ");
            format!("{text}a{n}: &a{n} [{of}]\n")
        },
    );
    let keys_json = (0..1_000_000).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
    let keys_yaml =
        (0..1_000_000).fold(String::new(), |text, n| text + "k" + &n.to_string() + ": 1\n");
    let hostile =
        |name, text: String, code| HostileDocument { name, text: text.into_bytes(), code };
    // Ten thousand commands, each with what the section says.
    let shared = |kind: &str, section: String| {
        let commands = (0..10_000).map(|n| format!("c{n}")).collect::<Vec<_>>().join(",");
        format!(
            "tool: {{id: x, type: {kind}, name: X, version: 1.0.0, description: Does much, \
             {kind}_specific: {{{section}}}, commands: [{commands}]}}"
        )
    };
    let guide = format!("executable: x, install_guide: {}", "x".repeat(1 << 20));
    let dependencies = format!("entry_point: x, dependencies: [{}]", "a,".repeat(10_000));
    let check = format!(
        "server_command: x, health_check: {{command: c1, expected_response: {{a: {}}}}}",
        "x".repeat(1 << 20)
    );
    vec![
        hostile("laughs.yaml", format!("tool: &t\n  id: x\n{laughs}"), "TOO_LARGE"),
        hostile(
            "long-line.json",
            format!("{{\"name\": \"{}\"}}", "x".repeat(100_000_000)),
            "TOO_LARGE",
        ),
        hostile("long-line.yaml", format!("name: {}", "x".repeat(100_000_000)), "TOO_LARGE"),
        hostile(
            "allowed-line.json",
            format!("{{\"name\": \"{}\", \"inputSchema\": 7}}", "x".repeat(16_000_000)),
            "INVALID_TYPE",
        ),
        hostile(
            "allowed-line.yaml",
            format!("{{name: \"{}\", inputSchema: 7}}", "x ".repeat(8_000_000)),
            "INVALID_TYPE",
        ),
        hostile("shared-guide.yaml", shared("cli", guide), "TOO_LARGE"),
        hostile("shared-dependencies.yaml", shared("local", dependencies), "TOO_LARGE"),
        hostile("shared-check.yaml", shared("mcp", check), "TOO_LARGE"),
        hostile("deep-list.json", "[".repeat(deep), "TOO_DEEP"),
        hostile("deep-object.json", "{\"a\":".repeat(deep), "TOO_DEEP"),
        hostile("deep-flow.yaml", "[".repeat(deep), "TOO_DEEP"),
        hostile("deep-flow-map.yaml", "{a: ".repeat(deep), "TOO_DEEP"),
        hostile("deep-dashes.yaml", "- ".repeat(deep), "TOO_DEEP"),
        hostile(
            "deep-indent.yaml",
            (0..1_000).fold(String::new(), |t, n| t + &" ".repeat(n) + "a:\n"),
            "TOO_DEEP",
        ),
        HostileDocument {
            name: "nul.json",
            text: b"{\"name\": \"a\0b\", \"inputSchema\": {}}".to_vec(),
            code: "INVALID_SYNTAX",
        },
        HostileDocument {
            name: "nul.yaml",
            text: b"name: a\0b\ninputSchema: {}\n".to_vec(),
            code: "INVALID_SYNTAX",
        },
        hostile(
            "surrogate.json",
            "{\"name\": \"\\ud800\", \"inputSchema\": {}}".into(),
            "INVALID_SYNTAX",
        ),
        hostile("surrogate.yaml", "name: \"\\ud800\"\ninputSchema: {}\n".into(), "INVALID_SYNTAX"),
        hostile("cyclic.yaml", "tool: &t\n  id: a\n  self: *t\n".into(), "INVALID_SYNTAX"),
        hostile("keys.json", format!("{{{keys_json}}}"), "TOO_LARGE"),
        hostile("keys.yaml", keys_yaml, "TOO_LARGE"),
        hostile(
            "unknown-keys.json",
            format!(
                "{{\"name\": \"a\", \"inputSchema\": {{}}, {}}}",
                (0..400_000).map(|n| format!("\"k{n}\":1")).collect::<Vec<_>>().join(",")
            ),
            "UNKNOWN_FIELD",
        ),
        hostile(
            "bad-tools.json",
            format!("{{\"tools\": [{{\"inputSchema\": 1}}{}]}}", ",1".repeat(900_000)),
            "INVALID_TYPE",
        ),
        hostile(
            "duplicates.yaml",
            format!("btcp: 1\n{}", "a: 1\n".repeat(400_000)),
            "DUPLICATE_KEY",
        ),
        hostile(
            "duplicates.json",
            format!("{{\"btcp\": 1{}}}", ", \"a\": 1".repeat(400_000)),
            "DUPLICATE_KEY",
        ),
        HostileDocument {
            name: "latin1.json",
            text: b"{\"name\": \"\xE9\"}".to_vec(),
            code: "INVALID_ENCODING",
        },
        hostile(
            "crlf.yaml",
            "tool:\r\n  id: a\r\n  type: nothing\r\n".into(),
            "INVALID_ENUM_VALUE",
        ),
        hostile("bom.json", "\u{feff}{\"name\": 1, \"inputSchema\": {}}".into(), "INVALID_TYPE"),
        hostile("brackets.yaml", "]".repeat(1_000_000), "INVALID_SYNTAX"),
        hostile("quotes.json", "\"\\\"".repeat(1_000_000), "INVALID_SYNTAX"),
        hostile("colons.json", "{\"a\"::".repeat(500_000), "INVALID_SYNTAX"),
        hostile("commas.json", format!("[{}]", ",".repeat(2_000_000)), "INVALID_SYNTAX"),
        hostile(
            "comments.yaml",
            format!("{}name: 1\ninputSchema: {{}}\n", "# c\n".repeat(900_000)),
            "INVALID_TYPE",
        ),
        hostile(
            "aliases.yaml",
            format!("a: &a x\nname: 1\ninputSchema: {{}}\nlist: [{}]\n", "*a,".repeat(240_000)),
            "INVALID_TYPE",
        ),
        // Each of these characters is judged by the whole text.
        hostile(
            "isolates.json",
            format!(
                "[{{\"name\": \"get_a\", \"description\": \"{}\", \"inputSchema\": {{}}}}, \
                 {{\"name\": \"get_b\", \"inputSchema\": 7}}]",
                "\u{2068}a\u{2069}".repeat(200_000)
            ),
            "INVALID_TYPE",
        ),
        hostile("names.json", references_with_one_last_word(8_000), "INVALID_SCHEMA"),
    ]
}

/// An OpenAPI document whose definitions would all have the same name, and a reference to nothing.
fn references_with_one_last_word(count: usize) -> String {
    let each = |one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<Vec<_>>().join(",");
    let properties =
        each(&|n| format!("\"p{n}\":{{\"$ref\":\"#/components/schemas/S{n}/properties/Pet\"}}"));
    let schemas = each(&|n| format!("\"S{n}\":{{\"properties\":{{\"Pet\":{{}}}}}}"));
    format!(
        "{{\"openapi\":\"3.1.0\",\"info\":{{\"title\":\"t\",\"version\":\"1\"}},\"paths\":{{\"/a\":{{\"post\":{{\
         \"requestBody\":{{\"content\":{{\"application/json\":{{\"schema\":{{\"type\":\"object\",\
         \"properties\":{{{properties}}}}}}}}}}},\
         \"responses\":{{\"200\":{{\"$ref\":\"#/components/responses/None\"}}}}}}}}}},\
         \"components\":{{\"schemas\":{{{schemas}}}}}}}"
    )
}

#[test]
fn hostile_documents_are_read_within_bounded_time_and_memory() {
    let folder = folder(&[]);
    let mut failures = Vec::new();
    let (mut most, mut measured) = (0, Duration::ZERO);
    for HostileDocument { name, text, code } in documents() {
        let path = folder.path().join(name);
        std::fs::write(&path, &text).expect("a file");
        drop(text);
        for command in ["show", "list", "check"] {
            let (stderr, time, megabytes, ended) = measure(&path, command);
            measured = measured.max(time);
            most = most.max(megabytes);
            let fits = time.as_secs() <= SECONDS && megabytes <= MEGABYTES;
            // `list` counts the problems and leaves the codes to `check`.
            let code = if command == "list" { "` shows " } else { code };
            if !(fits && stderr.contains(code) && ended) {
                let start: String = stderr.chars().take(300).collect();
                failures.push(format!(
                    "{command} {name}: {time:?}, {megabytes} MB, expected {code}: {start}"
                ));
            }
        }
        std::fs::remove_file(path).expect("it is ours");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(most > 16, "memory is not measured: {most} MB is less than the largest text");
    assert!(!measured.is_zero(), "processor time is not measured");
}

/// Runs the program on a file; its diagnostics, its processor time, its peak memory in megabytes,
/// and whether it ended with an exit code of its own.
fn measure(path: &Path, command: &str) -> (String, Duration, u64, bool) {
    let mut program = toolwright();
    program.arg(command).arg(path).stdout(Stdio::null()).stderr(Stdio::piped());
    if command == "check" {
        program.stdout(Stdio::piped()).stderr(Stdio::null());
    }
    let mut child = program.spawn().expect("the binary starts");
    let out = child.stdout.take().map(|out| Box::new(out) as Box<dyn std::io::Read + Send>);
    let err = child.stderr.take().map(|err| Box::new(err) as Box<dyn std::io::Read + Send>);
    let mut diagnostics = out.or(err).expect("one of them is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        diagnostics.read_to_string(&mut text).map(|_| text)
    });
    let (mut time, mut peak) = (Duration::ZERO, 0);
    let status = loop {
        // The kernel adds both up; the last look before the end is close enough.
        time = time.max(processor_time(child.id()));
        peak = peak.max(peak_memory(child.id()));
        if let Some(status) = child.try_wait().expect("our child") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let text = reader.join().expect("the reader does not panic").expect("UTF-8");
    (text, time, peak / 1024, matches!(status.code(), Some(1 | 0)))
}

/// In kB; zero while the child still runs in our memory: `spawn` returns a moment before it has
/// its own, and it gets its name only after that.
pub(crate) fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    if !status.starts_with("Name:\ttoolwright\n") {
        return 0;
    }
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// User and system time of all threads: fields 14 and 15 of `stat`, in hundredths of a second. The
/// second field, the name in parentheses, may contain spaces.
fn processor_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks =
        behind_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}
