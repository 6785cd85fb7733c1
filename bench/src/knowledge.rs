//! `toolwright-bench knowledge`: what a validator adds to a call through `toolwright serve`.
//!
//! The same MCP server is served once directly, and once behind a definition whose validator, a
//! JavaScript function, runs in the sandbox before every call. Both are measured in every round.

use std::path::Path;

use crate::processes::built_program;
use crate::proxies::{ProxyTransport, calls_of};
use crate::timing::median;

const ROUNDS: usize = 7;

/// A definition with a validator of the size that published ones have.
const DEFINITION: &str = r#"tool:
  schema_version: 2.0
  id: bench
  type: mcp
  name: Bench
  version: 1.0.0
  description: A server whose calls are validated first.
  commands: [echo]
  executable_knowledge:
    validators:
      - id: judge-echo
        validates: echo
        language: javascript
        checks:
          - required_fields: [query]
        function: |
          function judgeEcho(args) {
            const errors = [];
            const query = args.query;
            if (typeof query !== 'string') {
              errors.push('query must be a text');
            } else if (query.trim().length < 2) {
              errors.push('query must have at least two characters');
            } else if (!/^[\w .:-]+$/.test(query)) {
              errors.push('query has characters that the search does not take');
            }
            if (args.labels !== undefined) {
              if (!Array.isArray(args.labels)) {
                errors.push('labels must be a list');
              } else {
                const seen = new Set();
                for (const label of args.labels) {
                  if (typeof label !== 'string') errors.push('every label is a text');
                  if (seen.has(label)) errors.push(`label ${label} is there twice`);
                  seen.add(label);
                }
              }
            }
            if (!Number.isInteger(args.limit) || args.limit < 1 || args.limit > 100) {
              errors.push('limit must be a whole number from 1 to 100');
            }
            return { valid: errors.length === 0, errors };
          }
          module.exports = { judgeEcho };
  mcp_specific:
    server_command: "SERVER mcp good"
    transport: stdio
"#;

/// Measures both and prints what the validator adds.
pub(crate) fn run() {
    let folder = std::env::temp_dir().join(format!("toolwright-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("bench.yaml");
    let server = toolwright_testing::faulty_server();
    std::fs::write(&file, DEFINITION.replace("SERVER", server)).expect("a file");
    let (plain, validated) =
        (words(&format!("-- {server} mcp good")), words(&format!("--from {}", shown(&file))));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let measure = |words: &[String]| {
        runtime.block_on(calls_of(ProxyTransport::Stdio, words)).expect("calls succeed")
    };
    let rounds: Vec<_> = (0..ROUNDS).map(|_| (measure(&plain), measure(&validated))).collect();
    std::fs::remove_dir_all(&folder).expect("it is ours");
    println!(
        "calls through `serve` over stdio, with and without a validator of 30 lines; median of \
         {ROUNDS} rounds"
    );
    for (n, in_flight) in [1, 8, 32].into_iter().enumerate() {
        let of = |which: fn(&(Loads, Loads)) -> &Loads, what: fn(&(f64, f64, f64)) -> f64| {
            median(rounds.iter().map(|round| what(&which(round)[n])).collect())
        };
        let (without, with) =
            (of(|round| &round.0, |load| load.0), of(|round| &round.1, |load| load.0));
        let rate = of(|round| &round.1, |load| load.2);
        println!(
            "  {in_flight:2} in flight   without {without:7.0} µs p50   with {with:7.0} µs p50   \
             adds {:5.0} µs   \
             with {rate:6.0} calls/s",
            with - without
        );
    }
}

/// Figures of 1, 8 and 32 calls in flight: p50 and p99 in microseconds, calls per second.
type Loads = [(f64, f64, f64); 3];

/// The command line of `toolwright serve`.
fn words(rest: &str) -> Vec<String> {
    format!("{} serve {rest}", built_program("toolwright")).split(' ').map(str::to_owned).collect()
}

/// A path as text.
fn shown(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}
