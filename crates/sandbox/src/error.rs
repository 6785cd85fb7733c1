//! What can go wrong with a call, each with a name that stays.

use std::fmt;
use std::time::Duration;

use crate::{Json, LogLine};

/// The stable names of what can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    /// The guest used up its time, of the processor or of the clock.
    Timeout,
    /// The guest wanted more memory than it may have.
    MemoryLimit,
    /// Calls were nested too deeply, and the guest did not catch that.
    StackOverflow,
    /// The guest threw, or its promise was rejected.
    Threw,
    /// The result cannot be written as JSON.
    NotJson,
    /// The program offers nothing that could be called.
    NoEntryPoint,
    /// The worker ended in the middle of the call.
    WorkerDied,
    /// Arguments and data are larger or deeper than allowed.
    InputTooLarge,
    /// The result is larger than allowed.
    OutputTooLarge,
    /// The source text is not JavaScript, or wants to import something.
    Syntax,
    /// A worker could not be started or lacks a layer of its jail.
    StartFailed,
}

impl Code {
    /// Every code, in the order of the manual.
    pub const ALL: [Code; 11] = [
        Code::Timeout,
        Code::MemoryLimit,
        Code::StackOverflow,
        Code::Threw,
        Code::NotJson,
        Code::NoEntryPoint,
        Code::WorkerDied,
        Code::InputTooLarge,
        Code::OutputTooLarge,
        Code::Syntax,
        Code::StartFailed,
    ];

    /// The name, as users see it.
    pub fn name(self) -> &'static str {
        match self {
            Code::Timeout => "TIMEOUT",
            Code::MemoryLimit => "MEMORY_LIMIT",
            Code::StackOverflow => "STACK_OVERFLOW",
            Code::Threw => "THREW",
            Code::NotJson => "NOT_JSON",
            Code::NoEntryPoint => "NO_ENTRY_POINT",
            Code::WorkerDied => "WORKER_DIED",
            Code::InputTooLarge => "INPUT_TOO_LARGE",
            Code::OutputTooLarge => "OUTPUT_TOO_LARGE",
            Code::Syntax => "SYNTAX",
            Code::StartFailed => "START_FAILED",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A place in the source text as it was given, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

/// Why there is no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Error {
    /// What went wrong, for programs.
    pub code: Code,
    /// What went wrong, for people.
    pub message: String,
    /// The `name` of the error that was thrown.
    pub name: Option<String>,
    /// Where: the innermost place in the program for what was thrown, the offending one for syntax.
    pub place: Option<Place>,
    /// The other own properties of the error that was thrown, as far as they are JSON and small: `code`, `suggestion` …
    pub fields: Option<Box<serde_json::Map<String, Json>>>,
    /// What the guest wrote to `console` until then.
    pub log: Vec<LogLine>,
    /// The guest's time of the processor, if the worker lived to tell.
    pub cpu: Duration,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            name: None,
            place: None,
            fields: None,
            log: Vec::new(),
            cpu: Duration::ZERO,
        }
    }

    pub(crate) fn start(message: impl Into<String>) -> Error {
        Error::new(Code::StartFailed, message)
    }
}
