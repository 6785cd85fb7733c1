//! All diagnostics as one SARIF 2.1.0 document, for code scanning and for viewers in editors.
//!
//! ```text
//! run ─┬─ rules               one per code that occurs, with its manual
//!      ├─ invocations         failures: what could not be looked at
//!      └─ results             one per diagnostic ─▶ ruleIndex, locations, fixes, fingerprint
//! ```
//!
//! Columns count UTF-16 code units, because viewers take them for indices into their own strings
//! and few look at `columnKind`. For the same reason braces in messages are not doubled, though
//! section 3.11.5 asks for it: viewers would show both.
//!
//! A result names a file only if there is one: that of the definition, or the file that names the
//! server whose answer it is about. The tool is a logical location.

use std::path::{Component, Path};

use serde_json::{Value as Json, json};

use super::{place, visible};
use crate::{Diagnostic, DiagnosticCode, DocumentPath, Fix, Severity, Source, Span, TextOrigin};

/// The schema that the document says it follows; viewers and upload services use it to recognise
/// the version.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// A document with one run. `version` is that of Toolwright; `failures` are messages about files
/// that could not be looked at, which make the run unsuccessful.
pub fn sarif<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    failures: &[String],
    version: &str,
) -> String {
    let mut codes: Vec<&DiagnosticCode> = Vec::new();
    let mut results = Vec::new();
    for d in diagnostics {
        // A linear search: there are about a hundred codes, and results refer to them by index.
        let known = codes.iter().position(|code| code.name == d.code.name);
        let index = known.unwrap_or_else(|| {
            codes.push(d.code);
            codes.len() - 1
        });
        results.push(result(d, index));
    }
    let rules: Vec<Json> = codes.into_iter().map(rule).collect();
    let notices =
        failures.iter().map(|text| json!({"level": "error", "message": {"text": visible(text)}}));
    let notices: Vec<Json> = notices.collect();
    let run = json!({
        "invocations": [{
            "executionSuccessful": failures.is_empty(),
            "toolExecutionNotifications": notices,
        }],
        "tool": {"driver": {"name": "toolwright", "version": version, "rules": rules}},
        "columnKind": "utf16CodeUnits",
        "results": results,
    });
    format!("{:#}", json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}))
}

/// A code as a reporting descriptor. The first sentence of its manual is the title of alerts.
fn rule(code: &DiagnosticCode) -> Json {
    json!({
        "id": code.name,
        "shortDescription": {"text": code.title()},
        "fullDescription": {"text": code.manual},
        // The page of an alert on GitHub shows this one.
        "help": {"text": code.manual},
        "defaultConfiguration": {"level": level(code.severity)},
    })
}

/// SARIF's word for a severity.
fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A diagnostic as a result; `rule` is the index of its code among the rules.
fn result(d: &Diagnostic, rule: usize) -> Json {
    let mut result = json!({
        "ruleId": d.code.name,
        "ruleIndex": rule,
        "level": level(d.severity),
        "message": {"text": without_links(&message_with_help(d))},
        "locations": [location(d)],
        "partialFingerprints": fingerprints(d),
    });
    // Labels and edits count bytes of the source, so they need it to be a file.
    if !matches!(d.source.origin(), TextOrigin::File) {
        return result;
    }
    if !d.labels.is_empty() {
        let labels = d.labels.iter().map(|label| {
            json!({
                "message": {"text": without_links(&visible(&label.text))},
                "physicalLocation": physical_location(&d.source, Some(label.span)),
            })
        });
        result["relatedLocations"] = labels.collect();
    }
    if let Some(fix) = d.fix.as_ref().filter(|fix| !fix.edits.is_empty()) {
        result["fixes"] = json!([fix_json(fix, &d.source)]);
    }
    result
}

/// The message, and below it each sentence of help, with hidden characters shown. SARIF and GitHub
/// have no field for help. For an answer the place in it comes first: the file and line are those
/// of the server, and the same for all of its tools.
pub(super) fn message_with_help(d: &Diagnostic) -> String {
    let place = if d.source.is_answer() { place(d) + ": " } else { String::new() };
    let help = d.help.iter().map(|help| format!("\nhelp: {}", visible(help)));
    std::iter::once(place + &visible(&d.message)).chain(help).collect()
}

/// SARIF 3.11.6 makes a link of `[text](target)`. Text of a definition must not become one, so the
/// bracket is escaped.
fn without_links(text: &str) -> String {
    text.replace("](", "\\](")
}

/// The place in the file, and as its logical locations the path into the document and the tool.
fn location(d: &Diagnostic) -> Json {
    let mut location = json!({});
    if let Some((source, span)) = d.file() {
        location["physicalLocation"] = physical_location(source, span);
    }
    let mut logical = Vec::new();
    if d.path != DocumentPath::root() {
        logical.push(json!({"fullyQualifiedName": d.path.as_str()}));
    }
    // SARIF 3.33.7 has no kind for a tool; what a model calls is a function.
    let source = d.source_name();
    if let Some(tool) = &d.tool {
        let full = format!("{source}:{}", tool.name);
        logical.push(json!({"name": tool.name, "kind": "function", "fullyQualifiedName": full}));
    } else if d.about.is_some() || d.source.is_answer() {
        logical.push(json!({"kind": "module", "fullyQualifiedName": source}));
    }
    if !logical.is_empty() {
        location["logicalLocations"] = logical.into();
    }
    location
}

/// The file, and the place in it if there is one.
fn physical_location(source: &Source, span: Option<Span>) -> Json {
    let mut physical = json!({"artifactLocation": {"uri": uri(source.name())}});
    if let Some(span) = span {
        physical["region"] = Utf16Region::of(source, span).json();
    }
    physical
}

/// A fix with one change of the file. Whether it is safe goes into the property bag, because SARIF
/// has no field for it.
fn fix_json(fix: &Fix, source: &Source) -> Json {
    let replacements = fix.edits.iter().map(|edit| {
        let region = Utf16Region::of(source, edit.span).json();
        json!({"deletedRegion": region, "insertedContent": {"text": edit.text}})
    });
    json!({
        "description": {"text": without_links(&visible(&fix.title))},
        "artifactChanges": [{
            "artifactLocation": {"uri": uri(source.name())},
            "replacements": replacements.collect::<Vec<Json>>(),
        }],
        "properties": {"safe": fix.safe},
    })
}

/// A span in whole characters: as line and column in UTF-16 code units, both from 1, and in bytes
/// of the file.
pub(super) struct Utf16Region {
    /// Line and column of the first character.
    pub(super) start: (usize, usize),
    /// Line and column behind the last character.
    pub(super) end: (usize, usize),
    /// From the start of the file, byte order mark included.
    byte: usize,
    /// In bytes.
    length: usize,
}

impl Utf16Region {
    /// The region of a span; a span inside a character is widened to the whole one.
    pub(super) fn of(source: &Source, span: Span) -> Utf16Region {
        let text = source.text();
        let start = text.floor_char_boundary(span.start as usize);
        let end = text.ceil_char_boundary(span.end as usize).max(start);
        // `line_column` counts code points; each character beyond U+FFFF on the line adds one unit.
        let place = |byte: usize| {
            let at = source.line_column(byte);
            let line_start = source.line(at.line).map_or(byte, |(start, _)| start);
            (at.line, at.column + surrogate_pairs(&text[line_start..byte]))
        };
        Utf16Region {
            start: place(start),
            end: place(end),
            byte: source.offset() + start,
            length: end - start,
        }
    }

    /// The region object of SARIF 3.30.
    fn json(&self) -> Json {
        json!({
            "startLine": self.start.0,
            "startColumn": self.start.1,
            "endLine": self.end.0,
            "endColumn": self.end.1,
            "byteOffset": self.byte,
            "byteLength": self.length,
        })
    }
}

/// How many characters take two units in UTF-16: those that take four bytes in UTF-8, and these are
/// the only ones with a byte from 0xF0 on.
fn surrogate_pairs(text: &str) -> usize {
    // In pieces whose count fits into a byte, so that the compiler vectorizes the sum: ten times as
    // fast, and a line may have 16 MiB.
    let count = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte >= 0xF0)).sum::<u8>();
    text.as_bytes().chunks(192).map(|piece| usize::from(count(piece))).sum()
}

/// Identifies a diagnostic across versions of a file: code, pointer and message, none of which
/// changes when lines move. Services store it and compare, so the formula never changes under its
/// key. The answers of several servers can have one file and one line, and a server may list its
/// tools in another order next time, so for them the formula is another one.
fn fingerprints(d: &Diagnostic) -> Json {
    let (code, message) = (d.code.name, d.message.as_str());
    if d.source.is_answer() {
        let tool = d.tool.as_ref().map_or("", |tool| tool.name.as_str());
        let path = d.path_in_tool();
        let parts = [code, d.source_name(), tool, path.as_str(), message];
        return json!({"toolwright/answer/v1": hash(&parts)});
    }
    json!({"toolwright/v1": hash(&[code, d.path.as_str(), message])})
}

/// FNV-1a with 64 bits.
fn hash(parts: &[&str]) -> String {
    // No text holds the byte 0xFF, so it keeps the parts apart.
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xFF]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The name of a source as a URI reference (RFC 3986). A URL is one already; anything else is a
/// path, relative if the caller's was, because code scanning resolves it against the repository.
fn uri(name: &str) -> String {
    if is_url(name) {
        return name.to_owned();
    }
    let mut out = String::new();
    // By components, so that `./a//b` becomes `a/b` and every segment is encoded by itself.
    for component in Path::new(name).components() {
        match component {
            Component::CurDir => {}
            Component::RootDir => out.push_str("file://"),
            other => {
                if !out.is_empty() {
                    out.push('/');
                }
                push_encoded(&mut out, &other.as_os_str().to_string_lossy());
            }
        }
    }
    out
}

/// Appends a path segment with everything encoded that is not plain.
fn push_encoded(out: &mut String, segment: &str) {
    for byte in segment.bytes() {
        if is_url_byte(byte) || byte == b'@' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// `unreserved` and `sub-delims` of RFC 3986, which a segment of a path may hold.
fn is_url_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

/// Whether it is a well-formed URL of a server (RFC 3986), without a fragment. Anything that only
/// resembles one is encoded as a path, so that the document stays valid.
fn is_url(name: &str) -> bool {
    fluent_uri::Uri::parse(name).is_ok_and(|uri| {
        matches!(uri.scheme().as_str(), "http" | "https")
            && uri.authority().is_some_and(|authority| !authority.host().is_empty())
            && !uri.has_fragment()
    })
}
