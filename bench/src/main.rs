//! Figures against peers, measured side by side in one run, because machines are noisy: each round
//! times us and the peer right after one another, and the median over the rounds is printed.

#![allow(clippy::print_stdout, reason = "figures are this program's output")]

mod calls;
mod checking;
mod client;
mod definitions;
mod knowledge;
mod processes;
mod proxies;
mod reading;
mod sandbox;
mod timing;
mod validating;
mod web;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["read"] => reading::run(),
        ["validate"] => validating::run(),
        ["cases"] => println!("{}", validating::cases()),
        ["check", peers] => checking::run(peers.as_ref()),
        ["calls"] => calls::run(),
        ["sandbox", peers] => sandbox::run(peers.as_ref()),
        ["knowledge"] => knowledge::run(),
        ["web", peers] => web::run(peers.as_ref()),
        ["proxies", peers] => proxies::run(peers.as_ref()),
        ["client", url] => proxies::measure_one(url),
        _ => {
            println!(
                "usage: toolwright-bench read|validate|cases|check PEERS|calls|sandbox PEERS|knowledge|web PEERS|proxies PEERS|client URL"
            );
            std::process::exit(2);
        }
    }
}
