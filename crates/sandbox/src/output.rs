//! What goes into a call and what comes out of it.

use std::time::Duration;

use crate::{Json, Program};

/// What a program gets.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The argument, which is also the global `args`.
    pub args: Json,
    /// The global `data`, for programs that process something.
    pub data: Option<Json>,
    /// Further globals.
    pub globals: Vec<(String, Json)>,
    /// A script that runs before the program, in the same realm: what it declares at the top is
    /// there for the program.
    pub prelude: Option<Program>,
}

impl Input {
    /// Nothing but arguments.
    pub fn args(args: Json) -> Input {
        Input { args, ..Input::default() }
    }
}

/// What a call came to.
#[derive(Clone, Debug)]
pub struct Output {
    /// The result.
    pub value: Json,
    /// What the program wrote to `console`.
    pub log: Vec<LogLine>,
    /// The guest's time of the processor.
    pub cpu: Duration,
    /// The most memory that the program used beyond its input.
    pub memory: usize,
}

/// A line of `console`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The function that was called.
    pub level: Level,
    /// Its arguments, with a space between them. A log that became too long ends in a line that
    /// says so.
    pub text: String,
}

/// The functions of `console`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
    /// `console.debug`
    Debug,
}

impl Level {
    pub(crate) fn of(byte: u8) -> Level {
        [Level::Log, Level::Info, Level::Warn, Level::Error, Level::Debug]
            .get(byte as usize)
            .copied()
            .unwrap_or(Level::Log)
    }
}
