//! Dates of publication, in the one form that results have.
//!
//! Providers pass on what pages declare, so dates come with and without time, zone and fraction of
//! a second. A date that cannot be read is left out of the result; guessing would be worse.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Converts a date to RFC 3339 in UTC, to the second. Without a zone it is taken as UTC, without a
/// time as midnight. `None` if it is in none of the known forms: ISO 8601, RFC 2822.
pub(super) fn to_rfc3339(text: &str) -> Option<String> {
    let text = text.trim();
    let in_utc = |date: DateTime| date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    // From the most to the least specific form: a date with a zone must not be read without it.
    let stamp = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(in_utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| in_utc(date.at(0, 0, 0, 0))))
        .or_else(|| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok())?;
    // Fractions of a second are dropped, since no page is dated that exactly.
    Timestamp::from_second(stamp.as_second()).ok().map(|seconds| seconds.to_string())
}

#[cfg(test)]
mod tests {
    use super::to_rfc3339;

    #[test]
    fn dates_are_converted_from_the_forms_that_pages_use() {
        for (text, expected) in [
            ("2026-01-16T12:00:00Z", Some("2026-01-16T12:00:00Z")),
            ("2026-01-16T12:00:00.123Z", Some("2026-01-16T12:00:00Z")),
            ("2026-01-16T12:00:00+02:00", Some("2026-01-16T10:00:00Z")),
            ("2026-01-16T12:00:00", Some("2026-01-16T12:00:00Z")),
            ("2026-01-16 12:00:00", Some("2026-01-16T12:00:00Z")),
            ("2026-01-16", Some("2026-01-16T00:00:00Z")),
            (" 2026-01-16 ", Some("2026-01-16T00:00:00Z")),
            ("20260116", Some("2026-01-16T00:00:00Z")),
            ("Fri, 16 Jan 2026 12:00:00 +0000", Some("2026-01-16T12:00:00Z")),
            ("2026-02-30", None),
            ("3 days ago", None),
            ("January 16, 2026", None),
            ("", None),
        ] {
            assert_eq!(to_rfc3339(text).as_deref(), expected, "{text}");
        }
    }
}
