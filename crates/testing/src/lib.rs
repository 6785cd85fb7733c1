//! Test programs that play the tools and MCP servers which Toolwright runs, well-behaved or faulty
//! in one way at a time. Tests start them with
//!
//! ```text
//! faulty_tool()    a process tool: `faulty-tool MODE [--schema]`, or a link `MODE-tool` to it
//! faulty_server()  an MCP server: `faulty-server mcp MODE`, `faulty-server http MODE ADDRESS`
//! ```
//!
//! The tables of modes are in `examples/faulty-tool/main.rs` and `examples/faulty-server/main.rs`.
//!
//! The library has two parts: [`programs`] finds the executables for tests, and builds them if they
//! are missing; [`actions`] and [`descendants`] are what both programs have in common. Nothing of
//! the crates under test is used here, so that a mistake in one of them cannot hide in its test.

pub mod actions;
pub mod descendants;
pub mod programs;

pub use programs::{faulty_server, faulty_tool};
