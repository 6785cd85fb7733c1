//! Figures against peers, measured side by side in one run, because machines are noisy: each round
//! times us and the peer right after one another, and the median ratio over the rounds is printed.

#![allow(clippy::print_stdout, reason = "figures are this program's output")]

mod definitions;
mod reading;
mod timing;
mod validating;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("read") => reading::run(),
        Some("validate") => validating::run(),
        Some("cases") => println!("{}", validating::cases()),
        _ => {
            println!("usage: toolwright-bench read|validate|cases");
            std::process::exit(2);
        }
    }
}
