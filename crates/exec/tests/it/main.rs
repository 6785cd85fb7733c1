//! The tests of running tools, as one binary. The programs and servers that they run are in
//! `crates/testing/examples`, with tables of their modes.

#![allow(clippy::unwrap_used)]

mod http;
mod load;
mod mcp;
mod policy;
mod process;
mod questions;
mod runner;
mod server_features;
mod support;
