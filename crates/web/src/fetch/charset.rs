//! Bytes into text: by the byte order mark, the header, the page's own word, and at last by a
//! guess.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Where a page may say in which encoding it is.
const PRESCAN: usize = 4096;

/// The `charset` of a content type.
pub(super) fn label_of(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.split(',').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Decodes a page; what is no character of the encoding becomes U+FFFD.
pub(super) fn decode(
    bytes: Vec<u8>,
    label: Option<&str>,
    is_html: bool,
    host: Option<&str>,
) -> String {
    let named = |label: &str| Encoding::for_label(label.as_bytes());
    let declared = || if is_html { declared(&bytes) } else { None };
    let encoding = match Encoding::for_bom(&bytes) {
        Some((encoding, _)) => encoding,
        None => label
            .and_then(named)
            .or_else(|| wide_tag(&bytes))
            .or_else(declared)
            .unwrap_or_else(|| guess(&bytes, host)),
    };
    if encoding == UTF_8 && !bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        return String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    }
    encoding.decode(&bytes).0.into_owned()
}

/// Whether bytes look like HTML: a tag comes first, in any encoding.
pub(super) fn begins_with_tag(bytes: &[u8]) -> bool {
    let text = match Encoding::for_bom(bytes) {
        Some((_, length)) => &bytes[length..],
        None => bytes,
    };
    text.trim_ascii_start().first() == Some(&b'<') || wide_tag(text).is_some()
}

/// The encoding of a page that begins with a tag whose characters take two bytes each.
pub(super) fn wide_tag(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// What `<meta>` or an XML declaration at the beginning says.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN)]).to_ascii_lowercase();
    let head = without_comments(&head);
    let xml =
        head.strip_prefix("<?xml").and_then(|rest| value(rest.split('>').next()?, "encoding"));
    let meta = || {
        let tags = head
            .match_indices("<meta")
            .map(|(at, _)| head[at..].split('>').next().unwrap_or_default());
        tags.into_iter().find_map(|tag| value(tag, "charset"))
    };
    let encoding = Encoding::for_label(xml.or_else(meta)?.as_bytes())?;
    // Whoever could read this far did not read UTF-16.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

fn without_comments(html: &str) -> String {
    let mut parts = html.split("<!--");
    let first = parts.next().unwrap_or_default();
    parts.fold(first.to_owned(), |text, part| {
        text + part.split_once("-->").map_or("", |(_, after)| after)
    })
}

/// The word behind `name=`, quoted or not.
fn value<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let rest = tag.split(name).skip(1).find_map(|rest| rest.trim_start().strip_prefix('='))?;
    let rest = rest.trim_start().trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| matches!(c, '"' | '\'' | ';' | '/') || c.is_ascii_whitespace());
    Some(&rest[..end.unwrap_or(rest.len())])
}

fn guess(bytes: &[u8], host: Option<&str>) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    let country = host
        .and_then(|host| host.rsplit('.').next())
        .filter(|last| last.bytes().all(|b| b.is_ascii_lowercase()));
    detector.guess(country.map(str::as_bytes), Utf8Detection::Allow)
}
