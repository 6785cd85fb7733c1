//! Dates as pages write them, in one form.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A date in RFC 3339 and UTC; none if it cannot be read. What names no zone is taken for UTC, a
/// mere date for its midnight.
pub(super) fn rfc3339(text: &str) -> Option<String> {
    let text = text.trim();
    let in_utc = |date: DateTime| date.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let stamp = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(in_utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| in_utc(date.at(0, 0, 0, 0))))
        .or_else(|| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok())?;
    Timestamp::from_second(stamp.as_second()).ok().map(|seconds| seconds.to_string())
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn dates_in_the_forms_that_pages_use() {
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
            assert_eq!(rfc3339(text).as_deref(), expected, "{text}");
        }
    }
}
