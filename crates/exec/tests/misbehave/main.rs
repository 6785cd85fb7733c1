//! `misbehave`: tools and servers that behave well or badly, one way at a time, for the tests of
//! this crate. Written by hand on `std` and `serde_json`, so that every byte on the wire is ours;
//! no protocol library is here, and nothing of the crate under test either.
//!
//! ```text
//! misbehave process MODE [--schema]     a process tool; so is a symlink `MODE-tool` to this program
//! misbehave mcp MODE                    an MCP server on stdin and stdout
//! misbehave http MODE ADDR              an MCP server on http://ADDR/mcp; ADDR may end in `:0`
//! ```
//!
//! Servers end when stdin closes, unless the mode says otherwise: give an HTTP server a pipe, not
//! `/dev/null`. Whatever the mode, a watchdog ends the process after 120 s, and no process it
//! leaves behind lives longer than 60 s.
//!
//! # Process tools
//! | mode | input | what it does |
//! |---|---|---|
//! | `echo` | any | answers `{"echo": input}` |
//! | `echo-env` | any | answers `{"env": {its environment}}` |
//! | `add` | `a`, `b` | answers `{"sum": a + b}` |
//! | `big` | `bytes` | answers `{"data": "x" * bytes}` |
//! | `sleep` | `ms` | answers `{"slept": ms}` after `ms` |
//! | `late` | `ms` | answers `{"late": ms}` after `ms`, for calls whose deadline is sooner |
//! | `hang` | – | never reads, never answers |
//! | `ignore-term` | – | the same, and ignores SIGTERM, SIGHUP and SIGINT |
//! | `garbage` | – | prints `this is not json`, exit 0 |
//! | `empty` | – | prints nothing, exit 0 |
//! | `half` | – | prints half of a JSON object, exit 0 |
//! | `die` | – | prints nothing, exit 3 |
//! | `error-exit` | – | prints `{"error":"it broke"}`, exit 1 |
//! | `error-zero` | – | prints `{"error":"it broke"}`, exit 0 |
//! | `stderr-exit` | – | three lines on stderr, exit 2 |
//! | `crash` | – | dies of SIGABRT |
//! | `flood-out` | – | writes to stdout for ever |
//! | `flood-err` | – | 200 MB on stderr, then `{"ok":true}` |
//! | `flood-both` | – | 20 MB on stderr and on stdout by turns, stdout being `{"data":"x…"}` |
//! | `no-read` | – | answers `{"ok":true}` without reading stdin |
//! | `slow-read` | any | reads 64 KiB at a time, 5 ms apart, answers `{"bytes": n}` |
//! | `fork` | `file` | starts a grandchild, its pid in `file`, then hangs |
//! | `fork-exit` | `file` | the same, but answers `{"ok":true}`; the grandchild holds stdout |
//! | `setsid`, `setsid-exit` | `file` | these two with a grandchild in a session of its own |
//! | `daemon`, `daemon-exit` | `file` | these two with an orphan in a session of its own |
//! | `daemon-clean` | `file` | `daemon`, the orphan's environment being empty |
//! | `close-stdin` | – | closes stdin, lives 30 s |
//! | `close-out` | – | closes stdout, lives 30 s |
//! | `schema-hang` | any | never answers `--schema`; called, it is `echo` |
//! | `schema-garbage` | any | prints no JSON on `--schema`; called, it is `echo` |
//! | `schema-big` | any | a good schema of 100 KB; called, it is `echo` |
//! | `schema-exit` | any | a line on stderr and exit 1 on `--schema`; called, it is `echo` |
//!
//! # MCP servers on stdio
//! The tools are `echo`, `add`, `sleep`, `progress`, `big`, `fail`, `rpc-error`, `lie`, `env`,
//! `pid`, `exit`, `image`, `dotted.name` and one whose name has 128 characters (see [`tools`]).
//!
//! | mode | what it does |
//! |---|---|
//! | `good` | nothing wrong |
//! | `paged` | lists its tools three at a time |
//! | `modern` | speaks 2026-07-28 only; one tool more, `change`, which adds `added` and tells subscribers |
//! | `hang-start` | never answers |
//! | `exit-start` | `cannot find the database` on stderr, exit 1 |
//! | `slow-start` | waits `$START_MS` before it reads |
//! | `garbage` | a line that is not JSON at the start and before every message |
//! | `garbage-only` | answers every request with a line that is not JSON |
//! | `never` | never answers `tools/call` |
//! | `flood-err` | 50 MB on stderr at the start, 1 MB with every call |
//! | `flood-out` | answers `tools/call` with notifications without end |
//! | `huge`, `huge-first` | `big` answers one line of exactly `bytes`, the `id` last or first |
//! | `ignore-term` | ignores SIGTERM, SIGINT, SIGHUP and the end of stdin |
//! | `forks` | starts a grandchild in a session of its own, its pid in `$PID_FILE` |
//! | `changing` | after the first `echo` adds the tool `added` and says so |
//! | `changing-bad` | the same, with two unusable tools and a duplicate in the new list |
//! | `bad-list` | `echo`, and tools without schema, without name, with an external `$ref`, with odd fields |
//! | `dies-every-call` | a line on stderr and exit 9 at every `tools/call` |
//! | `close-stdout` | closes stdout at the first `tools/call`, lives on |
//! | `close-stdout-start` | closes stdout before anything else, lives on |
//! | `wrong-id` | answers `tools/call` under another id |
//! | `double` | answers `tools/call` twice |
//! | `notanobject` | the result of `tools/call` is a string |
//! | `die-mid` | writes half of the answer to `tools/call`, exit 1 |
//! | `ignore-term-inner`, `drain` | what `ignore-term` and `close-stdout` turn into |
//!
//! # MCP servers on streamable HTTP
//! `listening http://ADDR/mcp` is the first line on stdout. With `$REQUEST_LOG`, every request is
//! appended to that file as a line of JSON: `at`, `method`, `path`, `headers`, `body`.
//!
//! | mode | what it does |
//! |---|---|
//! | `good` | answers in JSON; a session from `initialize` on |
//! | `sse` | answers `tools/call` in an event stream; `change` tells those who opened one with GET |
//! | `modern` | 2026-07-28 only, no session; `progress` and `subscriptions/listen` answer in event streams |
//! | `token` | 401 without `Authorization: Bearer sesame` |
//! | `huge` | `big` answers a body of exactly `bytes` |
//! | `huge-sse` | `big` answers one event whose data has exactly `bytes` |
//! | `hang` | accepts, never answers |
//! | `slow` | one byte of the body every 100 ms |
//! | `drop` | closes the connection in the middle of the body |
//! | `html` | 200 and a web page |
//! | `500` | 500 and a line of text |
//! | `garbage` | calls it JSON, and it is not |
//! | `hang-call`, `slow-call`, `drop-call`, `html-call`, `500-call`, `garbage-call` | the same, for `tools/call` only |
//! | `redirect-evil` | 307 to another port, whose server is `good` and prints `evil {request}` on stdout |
//! | `expires` | forgets the session after its first `tools/call`: 404 |

#![allow(clippy::unwrap_used)]

mod http;
mod mcp;
mod offspring;
mod process;
mod stdio;
mod tools;
mod wire;

use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// No test takes this long; a process that does was forgotten.
const LONGEST_LIFE: Duration = Duration::from_secs(120);

fn main() {
    std::thread::spawn(|| {
        std::thread::sleep(LONGEST_LIFE);
        std::process::exit(124);
    });
    let arguments: Vec<String> = std::env::args().collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Some(mode) = arguments.first().and_then(|program| mode_of_tool(program)) {
        return process::run(mode, &arguments[1..]);
    }
    match arguments.get(1..).unwrap_or_default() {
        ["process", mode, rest @ ..] => process::run(mode, rest),
        ["mcp", mode] => stdio::serve(mode),
        ["http", mode, address] => http::serve(mode, address),
        _ => refuse("usage: misbehave process MODE [--schema] | mcp MODE | http MODE ADDR"),
    }
}

/// `some/folder/echo-env-tool` → `echo-env`.
fn mode_of_tool(program: &str) -> Option<&str> {
    Path::new(program).file_name()?.to_str()?.strip_suffix("-tool")
}

/// Ends a program that was started the wrong way, with a status no mode uses.
fn refuse(complaint: &str) -> ! {
    complain(complaint);
    std::process::exit(64);
}

/// A line on stderr, whether or not anybody reads it.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Sleeps until the watchdog or a signal ends the process.
fn hang() -> ! {
    loop {
        std::thread::sleep(LONGEST_LIFE);
    }
}

/// Writes `bytes` of `x` in lines of 64 KiB to stderr; goes on when nobody reads them.
fn flood_stderr(bytes: usize) {
    let mut line = vec![b'x'; 64 * 1024];
    *line.last_mut().unwrap() = b'\n';
    let mut stderr = std::io::stderr();
    for _ in 0..bytes.div_ceil(line.len()) {
        if stderr.write_all(&line).is_err() {
            return;
        }
    }
}

/// Replaces this process by `/bin/sh -c SCRIPT` with `$0` and `$1…` set to `arguments`.
fn become_shell(script: &str, arguments: &[&str]) -> ! {
    use std::os::unix::process::CommandExt;
    let error = std::process::Command::new("/bin/sh").arg("-c").arg(script).args(arguments).exec();
    refuse(&format!("cannot become a shell: {error}"));
}

/// Where this program is, for scripts that run it again.
fn myself() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}
