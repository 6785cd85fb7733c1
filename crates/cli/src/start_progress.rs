//! One line on a terminal while sources start, which may take a minute if a server has to be
//! downloaded first. It is replaced in place and removed at the end, and shown only if stderr is a
//! terminal.
//!
//! Everything else that writes to stderr meanwhile goes through `suspend`, or the two would mix.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::ProgressBar;
use toolwright_source::render::visible;

/// The line that is shown, if any. One per process, as there is one stderr.
static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A poisoned lock is used all the same: a wrong line does no harm.
fn with_line<T>(work: impl FnOnce(&mut Option<ProgressBar>) -> T) -> T {
    work(&mut LINE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Shows this text, in place of the one before.
pub(crate) fn show(text: String) {
    if !std::io::stderr().is_terminal() {
        return;
    }
    with_line(|line| {
        let bar = line.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            // Turns even while nothing happens, to show that the program is alive.
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(text);
    });
}

/// Removes the line.
pub(crate) fn clear() {
    with_line(|line| {
        if let Some(bar) = line.take() {
            bar.finish_and_clear();
        }
    });
}

/// Writes something else to stderr, with the line out of the way. Works without a line, too, so
/// that callers need not know whether there is one.
pub(crate) fn suspend(write: impl FnOnce()) {
    with_line(|line| match line {
        Some(bar) => bar.suspend(write),
        None => write(),
    });
}

/// "starting 3 of 5 sources", as far as sources are still starting.
pub(crate) fn text(starting: usize, all: usize) -> String {
    format!("starting {starting} of {}", crate::report::plural(all, "source"))
}

/// The same, with the names of those that are still starting.
pub(crate) fn text_with_names(starting: &[String], all: usize) -> String {
    format!("{}: {}", text(starting.len(), all), listed(starting))
}

/// The first names of a list, on one line. At most five, then their number:
/// `a, b, c, d, e and 2 more`.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| visible(name)).collect();
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}
