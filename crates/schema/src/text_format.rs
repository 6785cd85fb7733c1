//! The formats of JSON Schema as a question about one text, for checks that are not schemas.
//!
//! A schema with only `format` is built for each question, so that the answer is that of the
//! validator.

use serde_json::{Value, json};

/// The formats that can be checked.
pub const TEXT_FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "json-pointer",
    "regex",
    "time",
    "uri",
    "uri-reference",
    "uuid",
];

/// Whether a text has a format; `None` if the format is not one of [`TEXT_FORMATS`].
pub fn has_format(format: &str, text: &str) -> Option<bool> {
    if !TEXT_FORMATS.contains(&format) {
        return None;
    }
    let check = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .build(&json!({ "format": format }))
        .ok()?;
    Some(check.is_valid(&Value::from(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_accepts_and_refuses_something() {
        let good = [
            ("date", "2024-02-29"),
            ("date-time", "2024-02-29T10:00:00Z"),
            ("duration", "P1DT2H"),
            ("email", "a@example.com"),
            ("hostname", "example.com"),
            ("ipv4", "127.0.0.1"),
            ("ipv6", "::1"),
            ("json-pointer", "/a/0"),
            ("regex", "^a+$"),
            ("time", "10:00:00Z"),
            ("uri", "https://example.com/a"),
            ("uri-reference", "../a"),
            ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
        ];
        assert_eq!(good.map(|(format, _)| format), TEXT_FORMATS);
        for (format, text) in good {
            assert_eq!(has_format(format, text), Some(true), "{format}");
            assert_eq!(has_format(format, "(\\ %zz"), Some(false), "{format}");
        }
        assert_eq!(has_format("emial", "a@example.com"), None);
    }
}
