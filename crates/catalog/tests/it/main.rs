//! The tests of the catalog, one binary.

mod catalog;
mod reload;
