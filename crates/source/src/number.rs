//! Numbers from their text: the JSON value, and whether a machine type holds it exactly.
//!
//! The tree keeps the text of a number, so nothing is lost until it is converted to JSON. Programs
//! that read a definition hold numbers in `i64`, `u64` or `f64`; where none of them has the number
//! as written, `NUMBER_PRECISION` warns. No arbitrary-precision arithmetic is needed for that: a
//! number is exact if the shortest text of the nearest double denotes the same decimal.

use serde_json::{Number, Value as Json};

/// The number as JSON; reads JSON's grammar and YAML's additions (`+1`, `0x1F`, `0o17`, `.5`). An
/// integer beyond 64 bits becomes the nearest double, one beyond all doubles `null`, and so do
/// YAML's infinities and `.nan`, which JSON cannot express.
pub(crate) fn to_json(text: &str) -> Json {
    if let Some(n) = integer(text) {
        return Json::Number(n);
    }
    let plain = text.strip_prefix('+').unwrap_or(text);
    let float = plain.parse::<f64>().ok().and_then(Number::from_f64);
    float.map_or(Json::Null, Json::Number)
}

/// The number as an integer of 64 bits; `None` if it has a fraction or an exponent, or is larger.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = match digits.get(..2) {
        Some("0x") => u64::from_str_radix(&digits[2..], 16).ok()?,
        Some("0o") => u64::from_str_radix(&digits[2..], 8).ok()?,
        _ => decimal(digits)?,
    };
    if !negative {
        return Some(Number::from(magnitude));
    }
    // `-0` is a float in JSON as serde_json reads it: an integer has no negative zero.
    let value = 0i64.checked_sub_unsigned(magnitude)?;
    (value != 0).then(|| Number::from(value))
}

/// Decimal digits as a number. `parse` alone would accept a second sign.
fn decimal(digits: &str) -> Option<u64> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if all_digits { digits.parse().ok() } else { None }
}

/// Whether JSON writes the number so: YAML has other forms, too.
pub(crate) fn is_json(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent),
        None => (unsigned, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && is_digits(fraction)
        && is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
}

/// Whether a program that reads the text into `i64`, `u64` or `f64` still has the number as
/// written.
pub(crate) fn is_exact(text: &str) -> bool {
    // The quick way out for nearly every number: a double keeps any 15 significant digits while the
    // exponent stays inside its range (about ±308; 280 leaves room for the digits before and behind
    // the point). `.inf` and `.nan` contain an `n` and are never exact.
    let exponent =
        text.split_once(['e', 'E']).map_or(Ok(0), |(_, exponent)| exponent.parse::<i16>());
    if text.len() <= 15
        && !text.contains(['n', 'N'])
        && exponent.is_ok_and(|e| e.unsigned_abs() < 280)
    {
        return true;
    }
    // Any integer of 64 bits is exact, even beyond the 53 bits of a double.
    if integer(text).is_some() {
        return true;
    }
    let plain = text.strip_prefix('+').unwrap_or(text);
    match plain.parse::<f64>() {
        // `{:e}` prints the shortest decimal that reads back as this double.
        Ok(float) if float.is_finite() => canonical(plain) == canonical(&format!("{float:e}")),
        _ => false,
    }
}

/// Sign, significant digits, and the power of ten of the last digit: equal for equal numbers,
/// however they are written. `None` for text with an exponent beyond `i64`.
fn canonical(text: &str) -> Option<(bool, String, i64)> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |t| (true, t));
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    // Zeros at the end move into the power of ten: `100` and `1e2` are one number.
    let kept = digits.trim_end_matches('0');
    let power = exponent.saturating_add((digits.len() - kept.len()) as i64 - fraction.len() as i64);
    let kept = kept.trim_start_matches('0');
    // Every zero is the same number, whatever its sign and exponent.
    if kept.is_empty() {
        return Some((false, String::new(), 0));
    }
    Some((negative, kept.to_owned(), power))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values() {
        let cases = [
            ("0", json!(0)),
            ("-1", json!(-1)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("1.0", json!(1.0)),
            ("1e3", json!(1000.0)),
            ("+12", json!(12)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("1e400", Json::Null),
            (".inf", Json::Null),
            ("-0", json!(-0.0)),
        ];
        for (text, value) in cases {
            assert_eq!(to_json(text), value, "{text}");
            let is_json = serde_json::from_str::<Json>(text).is_ok() || text == "1e400";
            assert_eq!(super::is_json(text), is_json, "{text}");
        }
    }

    #[test]
    fn exactness_is_about_reading_back_the_same_number() {
        let exact = [
            "0.1",
            "1e300",
            "-0",
            "0e999999",
            "9007199254740993",
            "18446744073709551615",
            "1.50",
            "123456789012345678",
            "100000000000000000000000",
            "1E5",
            "2.5e-3",
            "0.30000000000000004",
        ];
        let lossy = [
            "18446744073709551616",
            "0.1000000000000000055511151231257827",
            "1e400",
            "1e-400",
            "9007199254740993.0",
            ".nan",
            ".inf",
            "3.14159265358979323846",
        ];
        for text in exact {
            assert!(is_exact(text), "{text} is exact");
        }
        for text in lossy {
            assert!(!is_exact(text), "{text} is not exact");
        }
    }
}
