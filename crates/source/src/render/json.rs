//! One JSON object per line and diagnostic, for programs.
//!
//! Positions have a line, a column in code points and a byte. Bytes count from the start of the
//! file, its byte order mark included, so that a program can apply a fix to the bytes it has read
//! itself. Text is passed on as it is: escaping for a terminal is up to the program that shows it.
//!
//! `file` is a file that exists, or null. For the answer of a server, file and position are those
//! of its entry in a servers file, while `path` leads into the answer; edits of an answer have no
//! file to be made in and are left out.

use serde_json::{Value as Json, json};

use crate::{Diagnostic, Fix, Source, Span};

/// `{"code","severity","message","source","tool","file","start","end","path","help","fix"}`
pub fn json(d: &Diagnostic) -> String {
    let is_answer = d.source.is_answer();
    let file = d.file();
    // Standard input has lines, but no name that a program could open.
    let (source, span) = file.unwrap_or((&d.source, d.span.filter(|_| !is_answer)));
    let place = |byte: Option<u32>| byte.map_or(Json::Null, |byte| position(source, byte));
    let fix = d.fix.as_ref().filter(|_| !is_answer);
    line(&json!({
        "code": d.code.name,
        "severity": d.severity.name(),
        "message": d.message,
        "source": d.source_name(),
        "tool": d.tool.as_ref().map(|tool| tool.name.as_str()),
        "file": file.map(|(source, _)| source.name()),
        "start": place(span.map(|s| s.start)),
        "end": place(span.map(|s| s.end)),
        "path": d.path.as_str(),
        "help": d.help,
        "fix": fix.map_or(Json::Null, |fix| fix_json(fix, &d.source)),
    }))
}

/// JSON on one line for every reader. `serde_json` leaves three characters unescaped that some
/// readers take for line breaks (U+0085, U+2028, U+2029).
pub fn line(json: &Json) -> String {
    let text = json.to_string();
    if !text.contains(['\u{85}', '\u{2028}', '\u{2029}']) {
        return text;
    }
    text.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A byte of the text as a position in the file.
fn position(source: &Source, byte: u32) -> Json {
    let at = source.line_column(byte as usize);
    json!({"line": at.line, "column": at.column, "byte": source.offset() + byte as usize})
}

/// A fix with its edits; `start` and `end` as for a diagnostic.
fn fix_json(fix: &Fix, source: &Source) -> Json {
    let place = |span: Span| (position(source, span.start), position(source, span.end));
    let edits: Vec<Json> = fix
        .edits
        .iter()
        .map(|edit| {
            let (start, end) = place(edit.span);
            json!({"start": start, "end": end, "text": edit.text})
        })
        .collect();
    json!({"title": fix.title, "safe": fix.safe, "edits": edits})
}
