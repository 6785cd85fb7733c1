//! Results of Google Custom Search, by the process protocol.

use std::process::ExitCode;

use toolwright_web::search::Google;
use toolwright_web::tool::{Tool, World, run};

fn main() -> ExitCode {
    let world = World {
        arguments: std::env::args_os()
            .skip(1)
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        variable: &|name| std::env::var(name).ok(),
        input: &mut std::io::stdin().lock(),
        output: &mut std::io::stdout().lock(),
        log: &mut std::io::stderr(),
    };
    ExitCode::from(run(Tool::Search(&Google), world))
}
