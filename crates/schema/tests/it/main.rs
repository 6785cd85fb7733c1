//! The crate from outside: tables of cases, the official suite, hostile input.

#![allow(clippy::print_stderr, reason = "a skipped test must say so")]

mod facts;
mod guards;
mod hostile;
mod messages;
mod plain;
mod rules;
mod suite;
mod vendors;
