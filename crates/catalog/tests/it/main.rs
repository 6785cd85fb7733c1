//! The tests of the catalog, one binary.

mod builtins;
mod catalog;
mod reload;
mod server_definitions;
mod support;
