//! A worker for tests: `--without LAYER…` lacks layers of the jail.

use toolwright_sandbox::{Layer, worker_main_lacking};

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(2).collect();
    let lacking: Vec<Layer> =
        Layer::ALL.into_iter().filter(|layer| words.iter().any(|word| word == layer.name())).collect();
    worker_main_lacking(&lacking)
}
