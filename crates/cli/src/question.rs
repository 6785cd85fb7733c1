//! Questions to the person at the terminal. A command that asks must also say what to write where
//! nobody can answer, so a question has three outcomes.

use std::io::{self, BufRead, IsTerminal};

use crate::output;

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    /// Anything but `y` or `yes`, and the end of input.
    No,
    /// Standard input or standard error is not a terminal. Nothing was printed.
    NotATerminal,
}

/// Prints `text` and a question to stderr, and reads one line. `text` ends with a line break and
/// holds no control characters but line breaks: the caller escapes what it quotes. The default is
/// no, so pressing Enter changes nothing.
pub(crate) fn ask(text: &str, question: &str) -> Answer {
    if !is_interactive() {
        return Answer::NotATerminal;
    }
    output::write_stderr(&format!("{text}{question} [y/N] "));
    // A line that is not UTF-8, and a terminal that is gone, are a no.
    let line = read_answer().unwrap_or_default();
    let is_yes = ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str());
    if is_yes { Answer::Yes } else { Answer::No }
}

/// Whether a person can be asked: standard input and standard error are a terminal.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Reads the line with the answer.
///
/// # Errors
/// If the terminal is gone, or the line is not UTF-8.
pub(crate) fn read_answer() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}
