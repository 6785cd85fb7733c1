//! The program through its front door: arguments in, output and exit code out.

mod architecture;
mod calling;
mod client;
mod definitions;
mod hostile;
mod program;
mod serving;
mod validation;
