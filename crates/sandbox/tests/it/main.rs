//! The sandbox, through real worker processes.

mod host;
mod jail;
mod limits;
mod load;
mod programs;
mod start;
mod support;
