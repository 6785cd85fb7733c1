//! A worker whose function does what its request says, for the tests of `JailedFunction`.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolwright_sandbox::jailed_function_main(obey)
}

/// The first word of the request is an order, the rest its operand.
fn obey(request: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(request);
    let (order, operand) = text.split_once(' ').unwrap_or((&text, ""));
    let number = || operand.parse::<usize>().unwrap_or_default();
    match order {
        "echo" => operand.as_bytes().to_vec(),
        "length" => request.len().to_string().into_bytes(),
        "answer" => vec![b'x'; number()],
        "loop" => loop {
            std::hint::spin_loop();
        },
        // Optimisation must not remove either.
        "recurse" => std::hint::black_box(recurse(number())).to_string().into_bytes(),
        "allocate" => std::hint::black_box(vec![1_u8; number()]).len().to_string().into_bytes(),
        "open" => std::fs::read("/etc/passwd").map_or(b"refused".to_vec(), |_| b"DONE".to_vec()),
        "exit" => std::process::exit(3),
        _ => panic!("an unknown order"),
    }
}

/// Uses a kilobyte of stack for each level.
fn recurse(levels: usize) -> usize {
    let frame = std::hint::black_box([levels as u8; 1024]);
    if levels == 0 { 0 } else { usize::from(frame[levels % 1024] > 0) + recurse(levels - 1) }
}
