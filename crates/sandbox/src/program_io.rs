//! The values that enter and leave one call of a program. How they travel to the worker is in
//! `request` and `worker_call`; how large they may be is in `limits`.

use std::sync::Arc;
use std::time::Duration;

use crate::Json;

/// The values that a program can read during one call. They are shared, so that a large one is
/// neither copied nor written on the thread of the caller.
#[derive(Clone, Debug, Default)]
pub struct ProgramInput {
    /// The argument of the entry point, also visible as the global `args`.
    pub args: Arc<Json>,
    /// The global `data`, for programs that process a result; not defined if `None`.
    pub data: Option<Arc<Json>>,
    /// Further globals, by name. Later ones overwrite earlier ones of the same name.
    pub globals: Vec<(String, Arc<Json>)>,
}

impl ProgramInput {
    /// Input that consists of arguments only.
    pub fn args(args: impl Into<Arc<Json>>) -> ProgramInput {
        ProgramInput { args: args.into(), ..ProgramInput::default() }
    }
}

/// The result of a successful call, and what the call used.
#[derive(Clone, Debug)]
pub struct ProgramOutput {
    /// The returned value; a promise has been awaited.
    pub value: Json,
    /// What the program wrote to `console`, in order.
    pub log: Vec<LogLine>,
    /// Processor time of the guest, as the worker measured it: from the arrival of the request to
    /// the serialized result.
    pub cpu: Duration,
    /// The most bytes that the program used at a time, beyond its input.
    pub memory: usize,
}

/// One call of a `console` function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The function that was called.
    pub level: LogLevel,
    /// Its arguments, separated by spaces. If the log reached its limit, the last line ends in
    /// `… [log cut here]`.
    pub text: String,
}

/// The functions of `console`. Frames of the log carry the position in this list as one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
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

impl LogLevel {
    /// The level of a log frame. Unknown bytes count as `Log`: only a worker that was taken over
    /// sends them, and it may write what it likes to its own log anyway.
    pub(crate) fn from_byte(byte: u8) -> LogLevel {
        [LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error, LogLevel::Debug]
            .get(byte as usize)
            .copied()
            .unwrap_or(LogLevel::Log)
    }
}
