//! The crate from outside: tables of cases, the official test suite, hostile input.
//!
//! Every test runs on cases of this repository. Some of them also run on larger collections where
//! an environment variable names a copy: `JSON_SCHEMA_TEST_SUITE` and `TOOLWRIGHT_SHARED`.

#![allow(clippy::print_stderr, reason = "a test reports which larger collections it did not run")]

mod comparison;
mod hostile_input;
mod loops_and_fan_out;
mod messages;
mod official_suite;
mod quick_check;
mod research_cases;
mod rewriting;
mod validator;
mod validity;
mod vendors;
