//! Measures Toolwright against other programs that do the same work ("peers").
//!
//! Machines are noisy, so a time alone says little. Each round measures ours and the peer right
//! after one another, and the figure is the median over the rounds; where a bound is known, it is
//! printed with `ok` or `MISSED`. Nothing fails because of a figure: a benchmark is never a gate.
//!
//! `bench/run` builds everything, installs the peers and runs all subcommands. One file per
//! subcommand; `timing` and `processes` are shared.

#![allow(clippy::print_stdout, reason = "figures are this program's output")]

mod browser;
mod calls;
mod checking;
mod converting;
mod cost;
mod fairness;
mod generated_definitions;
mod knowledge;
mod mcp_client;
mod processes;
mod proxies;
mod reading;
mod sandbox;
mod soak;
mod timing;
mod validating;
mod web;
mod wrong_calls;

fn main() {
    // PEERS is the folder into which `bench/run` installs other programs.
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["read"] => reading::run(),
        ["validate"] => validating::run(),
        ["cases"] => println!("{}", validating::cases()),
        ["check", peers] => checking::run(peers.as_ref()),
        ["convert"] => converting::run(),
        ["cost"] => cost::run(),
        ["servers-file"] => checking::servers_file(),
        ["calls"] => calls::run(),
        ["sandbox", peers] => sandbox::run(peers.as_ref()),
        ["knowledge"] => knowledge::run(),
        ["wrong-calls", folder] => wrong_calls::run(folder.as_ref()),
        ["fairness"] => fairness::run(),
        ["web", peers] => web::run(peers.as_ref()),
        ["browser", peers] => browser::run(peers.as_ref()),
        ["proxies", peers] => proxies::run(peers.as_ref()),
        ["soak"] => soak::run(200_000),
        ["soak", calls] => soak::run(calls.parse().expect("a number of calls")),
        ["client", url] => proxies::measure_one(url),
        ["client", "--", command @ ..] => proxies::measure_command(command),
        _ => {
            println!(
                "usage: toolwright-bench read | validate | cases | check PEERS | convert | cost | \
                 servers-file | calls | sandbox PEERS | knowledge | wrong-calls FOLDER | fairness | \
                 web PEERS | browser PEERS | proxies PEERS | soak [CALLS] | client URL | \
                 client -- COMMAND"
            );
            std::process::exit(2);
        }
    }
}
