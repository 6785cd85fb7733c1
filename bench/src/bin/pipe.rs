//! Starts a program and copies its standard streams, unread: the least that anything between a
//! client and a server can do. What it costs is the price of a third process.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (program, arguments) = words.split_first().expect("a command line");
    let mut server = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let to_server = server.stdin.take().expect("a pipe");
    let from_server = server.stdout.take().expect("a pipe");
    // Without the buffers of the standard library, which split and copy what is written.
    let from_client = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let to_client = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    std::thread::spawn(move || copy(from_client, to_server));
    copy(from_server, to_client);
    server.wait()?;
    Ok(())
}

/// Passes on what has arrived, until one end is closed. Not `io::copy`: the kernel would move the
/// bytes, which a program that looks at messages cannot let it do.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..read]).is_err() {
            return;
        }
    }
}
