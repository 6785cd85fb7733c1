//! The sandbox, through real worker processes.

mod host_functions;
mod jail;
mod limits;
mod load;
mod programs;
mod start;
mod support;
