//! The sandbox, through real worker processes.

mod host_functions;
mod jail;
mod jailed_function;
mod limits;
mod load;
mod programs;
mod start;
mod support;
