//! Tests of the library and of the three executables. Everything that talks HTTP talks to a real
//! server on the loopback interface (`http_server`); nothing needs the internet.

mod articles;
mod conversion;
mod executables;
mod fetching;
mod hostile;
mod http_server;
mod private_addresses;
mod protocol;
mod roundtrip;
mod searching;
