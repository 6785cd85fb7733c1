//! The program through its front door: arguments in, output and exit code out.

mod architecture;
mod definitions;
mod hostile;
mod program;
mod validation;
