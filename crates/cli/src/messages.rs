//! One-line messages on stderr, for the commands that run tools: events of the catalog, and
//! diagnostics where there is no room for the lines of a file. `report` prints diagnostics in full.
//!
//! ```text
//! 2026-07-28T09:30:00Z toolwright: github: 41 tools     serve, with the time
//! toolwright: written: tools.json                       other commands
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use toolwright_catalog::CatalogEvent;
use toolwright_source::{Diagnostic, Severity, render};
use toolwright_workspace::{SourcePlan, codes};

use crate::{output, start_progress};

/// Writes the message of an event to stderr.
pub(crate) fn print_event(event: &CatalogEvent) {
    if let Some(text) = event_text(event) {
        print_note(&text);
    }
}

/// The message of an event; `None` for a successful load, which only `serve` logs.
pub(crate) fn event_text(event: &CatalogEvent) -> Option<String> {
    match event {
        // Without the lines of the file: they may hold secrets, and stderr of `serve` usually ends
        // up in a log file.
        CatalogEvent::Problem(diagnostic) | CatalogEvent::PlanProblem(diagnostic) => {
            let help: String =
                diagnostic.help.iter().map(|help| format!(" (help: {help})")).collect();
            Some(format!("{}{help}", render::concise(diagnostic)))
        }
        CatalogEvent::SourceFailure(failure) => Some(failure.to_string()),
        CatalogEvent::LoadFailure(error) => Some(error.to_string()),
        CatalogEvent::Note(text) => Some(text.clone()),
        CatalogEvent::Loaded { .. } => None,
    }
}

/// The error of a command that cannot go on because of its configuration. All other problems are
/// printed first, so that they can be corrected together. Called only if there is one. The last
/// problem becomes the error, and so is printed after the others.
pub(crate) fn plan_error(plan: &SourcePlan) -> anyhow::Error {
    let mut lines = plan_problems(plan, |diagnostic| diagnostic.severity > Severity::Info);
    let last = lines.pop().unwrap_or_else(|| "the configuration cannot be used".to_owned());
    lines.iter().for_each(|line| print_note(line));
    anyhow::anyhow!("{last}")
}

/// Writes the mistakes of a configuration to stderr, for a command that does not read its sources.
pub(crate) fn print_plan_mistakes(plan: &SourcePlan) {
    plan_problems(plan, codes::is_mistake).iter().for_each(|line| print_note(line));
}

/// The diagnostics of a plan that are `reported`, and what it could not read, a line each. Order:
/// diagnostics, failures, missing files.
fn plan_problems(plan: &SourcePlan, reported: fn(&Diagnostic) -> bool) -> Vec<String> {
    let lines = plan.diagnostics.iter().filter(|it| reported(it)).map(diagnostic_line);
    let missing = plan.missing_paths();
    let missing =
        missing.map(|path| format!("cannot read `{}`: there is no such file", path.display()));
    let failures = plan.failures.iter().map(ToString::to_string);
    lines.chain(failures).chain(missing).collect()
}

/// A diagnostic on one line, with its help. The lines of the file are left out, as they may hold
/// secrets.
pub(crate) fn diagnostic_line(diagnostic: &Diagnostic) -> String {
    let help: String = diagnostic.help.iter().map(|help| format!(" ({help})")).collect();
    format!("{}{help}", render::concise(diagnostic))
}

/// Writes a line to stderr, with control characters made visible. Line ends in the text become
/// ` | `, so that every line of a log starts with the name of the program.
pub(crate) fn print_note(text: &str) {
    let time = time_prefix();
    let line = format!("{time}toolwright: {}\n", render::visible(&text.replace('\n', " | ")));
    start_progress::suspend(|| output::write_stderr(&line));
}

/// Whether lines start with the time.
static WITH_TIMES: AtomicBool = AtomicBool::new(false);

/// Lets every line from now on start with the time, for a process that runs for long.
pub(crate) fn log_with_times() {
    WITH_TIMES.store(true, Ordering::Relaxed);
}

/// The time that a line of the log starts with, and a space; empty for commands without a log. UTC,
/// so that logs of several machines can be merged.
pub(crate) fn time_prefix() -> String {
    if !WITH_TIMES.load(Ordering::Relaxed) {
        return String::new();
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc_time(since.as_secs()) + " "
}

/// Seconds since 1970 as RFC 3339, such as `2026-07-28T09:30:00Z`.
pub(crate) fn utc_time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant, "chrono-compatible low-level date algorithms": years start in March, so that
    // the leap day is the last day of a year, and 400 years are an era of 146,097 days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::utc_time;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, time) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc_time(seconds), time);
        }
    }
}
