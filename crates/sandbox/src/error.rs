//! The errors of a call. Each has a code for programs, which stays stable, and a message for
//! people, which may change.

use std::fmt;
use std::time::Duration;

use crate::{Json, LogLine};

/// The stable codes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SandboxErrorCode {
    /// The guest used up its processor time or its wall-clock time.
    Timeout,
    /// The guest requested more memory than its limit. Catching the exception does not help.
    MemoryLimit,
    /// Calls were nested too deeply, and the guest did not catch the `RangeError`.
    StackOverflow,
    /// The guest threw, or its promise was rejected.
    Threw,
    /// The result cannot be written as JSON.
    NotJson,
    /// The program has no function that could be called, or several.
    NoEntryPoint,
    /// The worker process ended during the call, or broke the protocol and was killed.
    WorkerDied,
    /// Source, arguments or data are larger or deeper than allowed.
    InputTooLarge,
    /// The result is larger than allowed.
    OutputTooLarge,
    /// The source is not valid JavaScript, or it imports a module.
    Syntax,
    /// A worker could not be started, or it lacks a required layer of its jail.
    StartFailed,
    /// No further guest may exist at the moment, and the call may not wait because a guest waits
    /// for it.
    Busy,
}

impl SandboxErrorCode {
    /// Every code, in the order of the manual.
    pub const ALL: [SandboxErrorCode; 12] = [
        SandboxErrorCode::Timeout,
        SandboxErrorCode::MemoryLimit,
        SandboxErrorCode::StackOverflow,
        SandboxErrorCode::Threw,
        SandboxErrorCode::NotJson,
        SandboxErrorCode::NoEntryPoint,
        SandboxErrorCode::WorkerDied,
        SandboxErrorCode::InputTooLarge,
        SandboxErrorCode::OutputTooLarge,
        SandboxErrorCode::Syntax,
        SandboxErrorCode::StartFailed,
        SandboxErrorCode::Busy,
    ];

    /// The name that users see. It is also the name in frames between worker and parent.
    pub fn name(self) -> &'static str {
        match self {
            SandboxErrorCode::Timeout => "TIMEOUT",
            SandboxErrorCode::MemoryLimit => "MEMORY_LIMIT",
            SandboxErrorCode::StackOverflow => "STACK_OVERFLOW",
            SandboxErrorCode::Threw => "THREW",
            SandboxErrorCode::NotJson => "NOT_JSON",
            SandboxErrorCode::NoEntryPoint => "NO_ENTRY_POINT",
            SandboxErrorCode::WorkerDied => "WORKER_DIED",
            SandboxErrorCode::InputTooLarge => "INPUT_TOO_LARGE",
            SandboxErrorCode::OutputTooLarge => "OUTPUT_TOO_LARGE",
            SandboxErrorCode::Syntax => "SYNTAX",
            SandboxErrorCode::StartFailed => "START_FAILED",
            SandboxErrorCode::Busy => "BUSY",
        }
    }

    /// The code of that name, for the failure frame of a worker.
    pub(crate) fn from_name(name: &str) -> Option<SandboxErrorCode> {
        SandboxErrorCode::ALL.into_iter().find(|code| code.name() == name)
    }
}

impl fmt::Display for SandboxErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A position in the source text of a program, both numbers counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePosition {
    /// The number of the line.
    pub line: u32,
    /// The character within the line. The engine counts bytes; `program::columns_in_characters`
    /// converts them before an error leaves this crate.
    pub column: u32,
}

impl CodePosition {
    /// The position of a byte of `text`. A byte inside of a character counts as its first; one
    /// beyond the end as the end.
    pub fn of_byte(text: &str, byte: usize) -> CodePosition {
        let before = &text[..text.floor_char_boundary(byte)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() as u32 + 1;
        CodePosition { line, column: before[line_start..].chars().count() as u32 + 1 }
    }

    /// The byte of `text` at this position. If the text has no such position, the last byte that
    /// comes before it: positions come from a worker and may not exist.
    pub fn byte_offset(self, text: &str) -> usize {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        let start = starts.take(self.line.max(1) as usize).last().unwrap_or_default();
        let rest = &text[start..];
        let within = rest.char_indices().nth(self.column.max(1) as usize - 1);
        start + within.map_or(rest.len(), |(at, _)| at)
    }
}

/// One function on the call stack of an exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFrame {
    /// A function of the program, and the position that it had reached.
    Program(CodePosition),
    /// A built-in function of the language, by name.
    Native(Box<str>),
}

impl TraceFrame {
    /// The position, if this is a function of the program.
    pub fn position(&self) -> Option<CodePosition> {
        match self {
            TraceFrame::Program(position) => Some(*position),
            TraceFrame::Native(_) => None,
        }
    }
}

/// The second half of the message for a refused import; the first half is the name of the module
/// in backticks. [`SandboxError::refused_import`] takes the message apart again.
pub(crate) const IMPORT_REFUSED: &str = "` cannot be imported: a program has only what is in it";

/// The reason why a call has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{code}: {message}")]
pub struct SandboxError {
    /// The kind of failure, for programs.
    pub code: SandboxErrorCode,
    /// The failure in words. For [`SandboxErrorCode::Threw`] the message of the exception.
    pub message: String,
    /// The property `name` of the thrown error.
    pub name: Option<Box<str>>,
    /// The functions that were running, innermost first, at most 16. For an `Error` the stack
    /// where it was created; for a syntax error the offending position. The engine records
    /// positions only at some instructions, so the innermost may lie a little before the cause.
    /// For a thrown value that is not an `Error` it may be the trace of an earlier exception that a
    /// promise swallowed.
    pub trace: Box<[TraceFrame]>,
    /// The name of the class of the thrown error, which `name` need not be.
    pub class: Option<Box<str>>,
    /// The other own properties of the thrown error, such as `code` or `suggestion`: those that
    /// are JSON and small. `cause`, and `errors` of an `AggregateError`, are converted to text.
    pub fields: Option<Box<serde_json::Map<String, Json>>>,
    /// What the guest wrote to `console` before it failed.
    pub log: Box<[LogLine]>,
    /// Processor time of the guest. Zero if the worker ended without reporting it.
    pub cpu: Duration,
}

impl SandboxError {
    /// An error without details. Also for callers that refuse a program before it is compiled.
    pub fn new(code: SandboxErrorCode, message: impl Into<String>) -> SandboxError {
        SandboxError {
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

    /// The position in the innermost function of the program.
    pub fn position(&self) -> Option<CodePosition> {
        self.trace.iter().find_map(TraceFrame::position)
    }

    /// The name of the module, if the program failed because it imports one. At most 128
    /// characters of it.
    pub fn refused_import(&self) -> Option<&str> {
        self.message.strip_suffix(IMPORT_REFUSED)?.strip_prefix('`')
    }

    /// A worker that could not be started.
    pub(crate) fn start_failed(message: impl Into<String>) -> SandboxError {
        SandboxError::new(SandboxErrorCode::StartFailed, message)
    }
}

#[cfg(test)]
mod tests {
    use super::CodePosition;

    #[test]
    fn positions_convert_to_bytes_and_back() {
        let text = "a\nÄb c\n";
        for (line, column, byte) in
            [(1, 1, 0), (1, 2, 1), (2, 1, 2), (2, 2, 4), (2, 99, 8), (3, 1, 8), (9, 1, 8)]
        {
            let position = CodePosition { line, column };
            assert_eq!(position.byte_offset(text), byte, "{line}:{column}");
        }
        for (byte, line, column) in
            [(0, 1, 1), (1, 1, 2), (2, 2, 1), (3, 2, 1), (4, 2, 2), (99, 3, 1)]
        {
            assert_eq!(CodePosition::of_byte(text, byte), CodePosition { line, column }, "{byte}");
        }
    }
}
