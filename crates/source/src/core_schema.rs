//! The type of a plain YAML scalar, by the core schema of YAML 1.2 (section 10.3).
//!
//! Deliberately not YAML 1.1: `yes`, `no`, `on`, `off`, `12:30` and `1_000` are strings, `0o17` is
//! octal and `017` is decimal. The patterns of the specification are written as small functions,
//! because this runs for every scalar and readers contain no regex engine.
//!
//! | text | kind |
//! |---|---|
//! | empty, `~`, `null` | null |
//! | `true`, `False` | boolean |
//! | `12`, `-1.5e3`, `0x1f`, `0o17`, `.inf`, `.nan` | number |
//! | `yes`, `1.0.0`, `12:30`, `2024-01-01` | string |

use crate::tree::ValueKind;

/// The kind of an unquoted, untagged scalar. The first byte rules out most candidates, so that
/// ordinary words cost one comparison.
pub(crate) fn kind_of(text: &str) -> ValueKind {
    let bytes = text.as_bytes();
    match bytes.first() {
        None => ValueKind::Null,
        Some(b'~' | b'n' | b'N') if matches!(text, "~" | "null" | "Null" | "NULL") => {
            ValueKind::Null
        }
        Some(b't' | b'T') if matches!(text, "true" | "True" | "TRUE") => ValueKind::Bool,
        Some(b'f' | b'F') if matches!(text, "false" | "False" | "FALSE") => ValueKind::Bool,
        Some(b'0'..=b'9' | b'-' | b'+' | b'.') if is_number(text) => ValueKind::Number,
        _ => ValueKind::String,
    }
}

/// Whether the text is an integer or a float of the core schema: decimal, octal, hexadecimal, with
/// a fraction or an exponent, infinite, or not a number.
fn is_number(text: &str) -> bool {
    let all =
        |digits: &str, ok: fn(&u8) -> bool| !digits.is_empty() && digits.bytes().all(|b| ok(&b));
    // Hexadecimal and octal numbers have no sign in the core schema.
    if let Some(digits) = text.strip_prefix("0x") {
        return all(digits, u8::is_ascii_hexdigit);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return all(digits, |b| matches!(b, b'0'..=b'7'));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    // `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, which covers decimal
    // integers, too.
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if !all(digits, u8::is_ascii_digit) {
            return false;
        }
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_get_the_kind_of_the_core_schema() {
        let cases: [(ValueKind, &[&str]); 4] = [
            (ValueKind::Null, &["", "~", "null", "Null", "NULL"]),
            (ValueKind::Bool, &["true", "False", "TRUE"]),
            (
                ValueKind::Number,
                &[
                    "0", "-1", "+12", "2.0", "1.", ".5", "1e3", "1.5E-7", "0x1f", "0o17", ".inf",
                    "-.INF", ".nan", "007",
                ],
            ),
            (
                ValueKind::String,
                &[
                    "1.0.0",
                    "v1",
                    "yes",
                    "no",
                    "on",
                    "nULL",
                    "-",
                    "+",
                    ".",
                    "..",
                    "1e",
                    "e1",
                    "0b1",
                    "0x",
                    "0o8",
                    "1_000",
                    "+.nan",
                    "12:30",
                    "2024-01-01",
                    "- 1",
                    "1 2",
                ],
            ),
        ];
        for (kind, texts) in cases {
            for text in texts {
                assert_eq!(kind_of(text), kind, "{text:?}");
            }
        }
    }
}
