//! `faulty-server`: MCP servers that work or fail, one way at a time. Written by hand on `std` and
//! `serde_json`, so that tests control every byte on the wire; no protocol library is involved.
//!
//! ```text
//! faulty-server mcp MODE             on stdin and stdout
//! faulty-server scripted FILE        the same, with the answers in a file, see `scripted.rs`
//! faulty-server tasks                the same, with tasks of 2025-11-25, see `tasks.rs`
//! faulty-server http MODE ADDRESS    on http://ADDRESS/mcp; ADDRESS may end in `:0`
//! ```
//!
//! Servers end when stdin is closed, unless the mode differs: give an HTTP server a pipe as stdin,
//! not `/dev/null`. A watchdog ends the process after 120 s, and no process it leaves behind lives
//! longer than 60 s.
//!
//! ```text
//! stdio ─┐                      ┌─ tools (what a call does)
//!        ├─ protocol (methods) ─┘
//! http ──┘
//! ```
//!
//! The answer comes from `protocol`; `stdio` and `http` spoil it on its way out if the mode says
//! so.
//!
//! Every call of a tool appends its name to the file `$CALL_LOG`, every cancelled one a line to
//! `$CANCEL_LOG`, and every answer to a request of the server itself to `$ANSWER_LOG`, if these
//! variables are set.
//!
//! Tools that are not in the list: `ask` (requests to the client), `log`, `leak` (an error with
//! `$API_KEY`), `task`, `media`.
//!
//! # MCP servers on stdio
//! The tools are `echo`, `add`, `sleep`, `progress`, `big`, `fail`, `rpc-error`, `lie`, `env`,
//! `pid`, `exit`, `image`, `dotted.name` and one whose name has 128 characters (see `tools.rs`).
//!
//! | mode | what it does |
//! |---|---|
//! | `good` | nothing wrong |
//! | `paged` | lists its tools three at a time |
//! | `modern` | 2026-07-28 only; the tool `change` adds `added` and notifies subscribers |
//! | `modern-dies`, `modern-stuck` | `modern`, useless once it has refused `initialize` |
//! | `asks-roots` | lists `ask`; sends `roots/list` on its own with its first answer to a call |
//! | `full`, `modern-full` | resources, prompts and `touch`, which reports a change of one |
//! | `hang-start` | never answers |
//! | `exit-start` | `cannot find the database` on stderr, exit 1 |
//! | `slow-start` | waits `$START_MS` before it reads |
//! | `garbage` | a line that is not JSON at the start and before every message |
//! | `garbage-only` | answers every request with a line that is not JSON |
//! | `never` | never answers `tools/call` |
//! | `flood-err` | 50 MB on stderr at the start, 1 MB with every call |
//! | `flood-out` | answers `tools/call` with endless notifications |
//! | `flood-log` | answers `tools/call` with endless log messages |
//! | `huge`, `huge-first` | `big` answers one line of exactly `bytes`, the `id` last or first |
//! | `ignore-term` | ignores SIGTERM, SIGINT, SIGHUP and the end of stdin |
//! | `forks` | starts a child in a session of its own, its pid in `$PID_FILE` |
//! | `changing` | after the first `echo` adds the tool `added` and sends `tools/list_changed` |
//! | `changing-bad` | the same, with two unusable tools and a duplicate in the new list |
//! | `bad-list` | `echo`; tools without schema, without name, with external `$ref`, odd fields |
//! | `odd-list` | tools with everything that servers get wrong; each can be called |
//! | `contradictory` | only the tool `roll`, whose schema nothing matches |
//! | `dies-every-call` | a line on stderr and exit 9 at every `tools/call` |
//! | `close-stdout` | closes stdout at the first `tools/call`, keeps running |
//! | `close-stdout-start` | closes stdout before anything else, keeps running |
//! | `wrong-id` | answers `tools/call` under another id |
//! | `double` | answers `tools/call` twice |
//! | `notanobject` | the result of `tools/call` is a string |
//! | `die-mid` | writes half of the answer to `tools/call`, exit 1 |
//! | `ignore-term-inner`, `drain` | what `ignore-term` and `close-stdout` run after their shell |
//!
//! # MCP servers on streamable HTTP
//! `listening http://ADDR/mcp` is the first line on stdout. With `$REQUEST_LOG`, every request is
//! appended to that file as a line of JSON: `at`, `method`, `path`, `headers`, `body`.
//!
//! | mode | what it does |
//! |---|---|
//! | `good` | answers in JSON; `initialize` starts a session |
//! | `sse` | answers `tools/call` in an event stream; `change` notifies streams opened with GET |
//! | `modern` | 2026-07-28 only, no session; `progress` answers in an event stream |
//! | `resume` | breaks the stream of every `tools/call`; the answer is in the rest of it |
//! | `token` | 401 without `Authorization: Bearer sesame` |
//! | `huge` | `big` answers a body of exactly `bytes` |
//! | `huge-sse` | `big` answers one event whose data has exactly `bytes` |
//! | `hang` | accepts, never answers |
//! | `slow` | one byte of the body every 100 ms |
//! | `drop` | closes the connection in the middle of the body |
//! | `html` | 200 and a web page |
//! | `500` | 500 and a line of text |
//! | `garbage` | a body that claims to be JSON and is not |
//! | `hang-call`, `slow-call`, … | these six, for `tools/call` only |
//! | `redirect-evil` | 307 to another port, whose server prints `evil {request}` on stdout |
//! | `expires` | forgets the session after its first `tools/call`: 404 |
//! | `expires-full` | the same, with resources and prompts |

#![allow(clippy::unwrap_used)]

mod http;
mod http_connection;
mod odd_list;
mod protocol;
mod scripted;
mod stdio;
mod tasks;
mod tools;

use toolwright_testing::actions::{refuse, start_watchdog};

fn main() {
    start_watchdog();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["mcp", mode] => stdio::serve(mode),
        ["scripted", file] => scripted::serve(file),
        ["tasks"] => tasks::serve(),
        ["http", mode, address] => http::serve(mode, address),
        _ => refuse("usage: faulty-server mcp MODE | scripted FILE | tasks | http MODE ADDRESS"),
    }
}
