//! The tests of running tools, one binary. What they run is the program `misbehave`, whose table of
//! modes is in `tests/misbehave/main.rs`.

#![allow(clippy::unwrap_used)]

mod http;
mod load;
mod mcp;
mod process;
mod runner;
mod support;
