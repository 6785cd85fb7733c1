//! The program through its front door: arguments in, output and exit code out.

mod architecture;
mod bodies;
mod calling;
mod checking;
mod client;
mod codes;
mod definitions;
mod evaluating;
mod examples;
mod fixing;
mod hostile;
mod knowing;
mod md;
mod mutations;
mod program;
mod rules;
mod sandbox;
mod serving;
mod serving_http;
mod silencing;
mod sources;
mod validation;
mod wild;
