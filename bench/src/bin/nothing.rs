//! A program that does nothing: what every start costs.

fn main() {}
