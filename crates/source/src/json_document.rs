//! A value as a JSON document with two spaces for each level: the text of
//! `serde_json::to_string_pretty`, with each indentation written at once instead of level by level.
//! Schemas nest deeply, so indentation is most of what writing one costs.
//!
//! ```text
//! {"a": [1], "b": {}}   ─▶   {
//!                              "a": [
//!                                1
//!                              ],
//!                              "b": {}
//!                            }
//! ```

use serde_json::Value as Json;

/// Why writing a text or number does not fail.
const TAKES_ALL: &str = "a vector takes all bytes";

/// The value as JSON, with a line end. The recursion is as deep as the value.
pub fn json_document(value: &Json) -> String {
    let mut out = Vec::with_capacity(1024);
    write_value(&mut out, value, 0);
    out.push(b'\n');
    String::from_utf8(out).expect("JSON of strings is UTF-8")
}

/// Writes a value that starts on a line indented by `depth` levels. Empty containers stay on it.
fn write_value(out: &mut Vec<u8>, value: &Json, depth: usize) {
    match value {
        Json::Array(items) if !items.is_empty() => {
            out.push(b'[');
            for (n, item) in items.iter().enumerate() {
                start_line(out, n > 0, depth + 1);
                write_value(out, item, depth + 1);
            }
            start_line(out, false, depth);
            out.push(b']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push(b'{');
            for (n, (name, member)) in members.iter().enumerate() {
                start_line(out, n > 0, depth + 1);
                serde_json::to_writer(&mut *out, name).expect(TAKES_ALL);
                out.extend_from_slice(b": ");
                write_value(out, member, depth + 1);
            }
            start_line(out, false, depth);
            out.push(b'}');
        }
        scalar => serde_json::to_writer(out, scalar).expect(TAKES_ALL),
    }
}

/// Starts a line at `depth` levels, after a comma if it is not the first item.
fn start_line(out: &mut Vec<u8>, is_next: bool, depth: usize) {
    if is_next {
        out.push(b',');
    }
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_is_that_of_serde_json() {
        let values = [
            json!(null),
            json!([]),
            json!({}),
            json!("a \"quoted\"\n\u{1}\u{7f} ü 😀 \\ line"),
            json!([1, -2.5, 1e300, true, [], {}, [[]], [{}]]),
            json!({"": {"a": [1, {"b": {"c": null}}], "\t": "x"}, "ü": [[["deep"]], "end"]}),
        ];
        for value in values {
            let theirs = serde_json::to_string_pretty(&value).expect("a value");
            assert_eq!(json_document(&value), theirs + "\n");
        }
    }
}
