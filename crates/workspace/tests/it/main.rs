//! The tests of the workspace, one binary.

mod config;
mod expand;
mod plan;
mod servers;
