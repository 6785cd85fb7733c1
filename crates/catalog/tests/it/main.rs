//! The tests of the catalog, one binary.

mod catalog;
mod config;
mod expand;
mod plan;
mod servers;
