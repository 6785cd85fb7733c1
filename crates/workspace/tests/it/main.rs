//! The tests of the workspace, one binary.

mod config;
mod content_hash;
mod expand;
mod overlay;
mod plan;
mod servers;
