//! Tests of the library and of the three executables.

mod addresses;
mod articles;
mod fetching;
mod hostile;
mod pages;
mod program;
mod protocol;
mod roundtrip;
mod searching;
mod server;
