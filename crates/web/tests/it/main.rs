//! Tests of the library and of the three executables. Everything that talks HTTP talks to a real
//! server on the loopback interface (`http_server`); nothing needs the internet.

mod articles;
mod conversion;
mod executables;
mod fetching;
mod hidden_text;
mod hostile;
mod http_server;
mod main_content;
mod private_addresses;
mod protocol;
mod roundtrip;
mod searching;

/// Does `work` on another thread, so that work that never ends fails the test instead of blocking
/// it. The limit is wide, because the machine may be busy with other work.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(std::time::Duration::from_secs(90)).expect("the work ends")
}
