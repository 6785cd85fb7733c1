//! The readers from outside: documents in, records and findings out.

mod corpus;
mod detection;
mod hostile;
mod mistakes;
mod mutations;
mod records;
mod seeds;
mod support;
mod tables;
