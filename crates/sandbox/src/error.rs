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

impl Place {
    /// The place of a byte of a text.
    pub fn of(text: &str, byte: usize) -> Place {
        let before = &text[..text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() as u32 + 1;
        Place { line, column: before[line_start..].chars().count() as u32 + 1 }
    }

    /// The byte of a text that is at this place, its end if there is none.
    pub fn byte_in(self, text: &str) -> usize {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        let start = starts.take(self.line.max(1) as usize).last().unwrap_or_default();
        let rest = &text[start..];
        let within = rest.char_indices().nth(self.column.max(1) as usize - 1);
        start + within.map_or(rest.len(), |(at, _)| at)
    }
}

/// A function that was running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFrame {
    /// One of the program, which had come to this place.
    Program(Place),
    /// One of the language, of this name.
    Native(Box<str>),
}

impl TraceFrame {
    /// Where in the program it was.
    pub fn place(&self) -> Option<Place> {
        match self {
            TraceFrame::Program(place) => Some(*place),
            TraceFrame::Native(_) => None,
        }
    }
}

/// What follows the name of a module in quotes.
pub(crate) const REFUSED: &str = "` cannot be imported: a program has only what is in it";

/// Why there is no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Error {
    /// What went wrong, for programs.
    pub code: Code,
    /// What went wrong, for people.
    pub message: String,
    /// The `name` of the error that was thrown.
    pub name: Option<Box<str>>,
    /// What was running, innermost first, as far as it fits: for an `Error` that was thrown where
    /// it was made; for syntax the offending place. The engine knows the last place that it noted,
    /// which may be a little before. For what is no `Error` it may be a trace of an earlier
    /// exception that a promise swallowed.
    pub trace: Box<[TraceFrame]>,
    /// The name of the class of the error that was thrown, whatever its `name` says.
    pub class: Option<Box<str>>,
    /// The other own properties of the error that was thrown, as far as they are JSON and small:
    /// `code`, `suggestion` … Its `cause` and the `errors` of an `AggregateError` are told in
    /// words.
    pub fields: Option<Box<serde_json::Map<String, Json>>>,
    /// What the guest wrote to `console` until then.
    pub log: Box<[LogLine]>,
    /// The guest's time of the processor, if the worker lived to tell.
    pub cpu: Duration,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            name: None,
            trace: Box::default(),
            class: None,
            fields: None,
            log: Box::default(),
            cpu: Duration::ZERO,
        }
    }

    /// The innermost place in the program.
    pub fn place(&self) -> Option<Place> {
        self.trace.iter().find_map(TraceFrame::place)
    }

    /// The module that the program wanted to import, if that is what went wrong. Cut if it is long.
    pub fn refused_import(&self) -> Option<&str> {
        self.message.strip_suffix(REFUSED)?.strip_prefix('`')
    }

    pub(crate) fn start(message: impl Into<String>) -> Error {
        Error::new(Code::StartFailed, message)
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn lines_and_columns_are_bytes() {
        let text = "a\nÄb c\n";
        for (line, column, byte) in
            [(1, 1, 0), (1, 2, 1), (2, 1, 2), (2, 2, 4), (2, 99, 8), (3, 1, 8), (9, 1, 8)]
        {
            assert_eq!(Place { line, column }.byte_in(text), byte, "{line}:{column}");
        }
        for (byte, line, column) in
            [(0, 1, 1), (1, 1, 2), (2, 2, 1), (3, 2, 1), (4, 2, 2), (99, 3, 1)]
        {
            assert_eq!(Place::of(text, byte), Place { line, column }, "{byte}");
        }
    }
}
