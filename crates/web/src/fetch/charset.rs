//! The character encoding of a page.
//!
//! The order is that of the HTML standard: a byte order mark, then the `charset` of the content
//! type, then what the page declares in its first bytes, and at last a guess from the bytes
//! themselves. The guess is chardetng, Firefox' detector. A wrong encoding never fails: what is
//! not a character of it becomes U+FFFD.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Bytes at the beginning of a page in which it can declare its encoding. The HTML standard asks
/// for 1024; pages with long scripts in front of their `<meta>` exist.
const PRESCAN_BYTES: usize = 4096;

/// The `charset` of a content type, in any case and with or without quotation marks. A header that
/// was sent twice arrives joined by a comma; the first one counts.
pub(super) fn charset_label(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.split(',').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Decodes a page. `label` is the `charset` of its content type; `is_html` allows declarations in
/// the page; `host` helps the guess, because `.jp` makes a Japanese encoding more likely.
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
            .or_else(|| utf16_tag(&bytes))
            .or_else(declared)
            .unwrap_or_else(|| guess(&bytes, host)),
    };
    // Most pages are valid UTF-8, and become text without being copied.
    if encoding == UTF_8 && !bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        return String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    }
    encoding.decode(&bytes).0.into_owned()
}

/// Whether bytes look like HTML: after a byte order mark and white space, they begin with a tag.
pub(super) fn begins_with_tag(bytes: &[u8]) -> bool {
    let text = match Encoding::for_bom(bytes) {
        Some((_, length)) => &bytes[length..],
        None => bytes,
    };
    text.trim_ascii_start().first() == Some(&b'<') || utf16_tag(text).is_some()
}

/// The encoding of a page that begins with a tag in UTF-16, without a byte order mark.
fn utf16_tag(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// The encoding that an XML declaration or a `<meta>` at the beginning of the page names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head =
        String::from_utf8_lossy(&bytes[..bytes.len().min(PRESCAN_BYTES)]).to_ascii_lowercase();
    let head = without_comments(&head);
    let xml = head
        .strip_prefix("<?xml")
        .and_then(|rest| attribute_value(rest.split('>').next()?, "encoding"));
    let meta = || {
        let tags = head
            .match_indices("<meta")
            .map(|(at, _)| head[at..].split('>').next().unwrap_or_default());
        tags.into_iter().find_map(|tag| attribute_value(tag, "charset"))
    };
    let encoding = Encoding::for_label(xml.or_else(meta)?.as_bytes())?;
    // The declaration was found by reading bytes as ASCII, so the page is not in UTF-16, whatever
    // it declares. The HTML standard assumes UTF-8 then.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// Removes comments, in which old declarations are often kept.
fn without_comments(html: &str) -> String {
    let mut parts = html.split("<!--");
    let first = parts.next().unwrap_or_default();
    parts.fold(first.to_owned(), |text, part| {
        text + part.split_once("-->").map_or("", |(_, after)| after)
    })
}

/// The word after `name=`, with or without quotation marks. It also finds `charset=` inside of a
/// `content` attribute.
fn attribute_value<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let rest = tag.split(name).skip(1).find_map(|rest| rest.trim_start().strip_prefix('='))?;
    let rest = rest.trim_start().trim_start_matches(['"', '\'']);
    let end = rest.find(|c: char| matches!(c, '"' | '\'' | ';' | '/') || c.is_ascii_whitespace());
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// Guesses the encoding from the bytes and from the last label of the host name.
fn guess(bytes: &[u8], host: Option<&str>) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    // ISO-2022-JP is off in browsers for security reasons that concern scripts, which are not run.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    // chardetng accepts only lower-case ASCII labels, and panics otherwise. Encoded international
    // labels (`xn--…`) have a dash and are left out, too.
    let country = host
        .and_then(|host| host.rsplit('.').next())
        .filter(|last| last.bytes().all(|b| b.is_ascii_lowercase()));
    detector.guess(country.map(str::as_bytes), Utf8Detection::Allow)
}
