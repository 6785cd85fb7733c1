//! The sandbox, through real worker processes.

mod pool;
mod semantics;
mod support;
