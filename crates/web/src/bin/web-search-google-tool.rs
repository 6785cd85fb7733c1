//! The executable `web-search-google-tool`: searches with the Google Custom Search API. Only the
//! access to arguments, environment and standard streams is here; the library does the rest.

use std::process::ExitCode;

use toolwright_web::search::Google;
use toolwright_web::tool::{ToolEnvironment, WebTool, run};

fn main() -> ExitCode {
    let environment = ToolEnvironment {
        // Arguments that are not UTF-8 are unknown anyway; lossy text is enough to name them.
        arguments: std::env::args_os()
            .skip(1)
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        variable: &|name| std::env::var(name).ok(),
        input: &mut std::io::stdin().lock(),
        output: &mut std::io::stdout().lock(),
        log: &mut std::io::stderr(),
    };
    ExitCode::from(run(WebTool::Search(&Google), environment))
}
