//! The tests of the catalog, one binary.

mod config;
mod expand;
mod servers;
