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
    NobodyThere,
}

/// Prints `text` and a question to stderr, and reads one line. `text` ends with a line break and
/// holds no control characters but line breaks: the caller escapes what it quotes.
pub(crate) fn ask(text: &str, question: &str) -> Answer {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Answer::NobodyThere;
    }
    output::write_stderr(&format!("{text}{question} [y/N] "));
    let mut line = String::new();
    // A line that is not UTF-8, and a terminal that is gone, are a no.
    let read = io::stdin().lock().read_line(&mut line);
    let is_yes = ["y", "yes"].contains(&line.trim().to_ascii_lowercase().as_str());
    if read.is_ok() && is_yes { Answer::Yes } else { Answer::No }
}
