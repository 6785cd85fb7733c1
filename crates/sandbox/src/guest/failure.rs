//! The failure of a call on its way from the worker to the parent: as JSON in a `Failed` frame.

use serde_json::{Map, Value as Json, json};

use crate::error::{CodePosition, SandboxError, SandboxErrorCode, TraceFrame};

/// Bytes of a message at most: the parent refuses failure frames beyond a cap.
const MAX_MESSAGE: usize = 8 << 10;
/// Functions of a trace at most. The parent looks for the line of each in the source text.
pub(super) const MAX_TRACE: usize = 16;

/// The part of a [`SandboxError`] that comes from the worker. The log has been sent line by line,
/// and the time is in the frame beside the failure.
pub(crate) struct GuestFailure {
    pub(crate) code: SandboxErrorCode,
    /// At most [`MAX_MESSAGE`] bytes.
    pub(crate) message: String,
    /// The next four are those of a thrown error, and empty for other failures.
    pub(crate) name: Option<String>,
    pub(crate) trace: Vec<TraceFrame>,
    pub(crate) class: Option<String>,
    pub(crate) fields: Option<Box<Map<String, Json>>>,
}

impl GuestFailure {
    /// A failure with only a code and a message, which is cut if it is too long.
    pub(crate) fn new(code: SandboxErrorCode, message: impl Into<String>) -> GuestFailure {
        let message = shorten(&message.into(), MAX_MESSAGE);
        GuestFailure { code, message, name: None, trace: Vec::new(), class: None, fields: None }
    }

    /// The body of the frame. The other direction is [`from_json`](Self::from_json).
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "code": self.code.name(),
            "message": self.message,
            "name": self.name,
            "trace": self.trace.iter().map(frame_to_json).collect::<Vec<_>>(),
            "class": self.class,
            "fields": self.fields,
        })
    }

    /// Reads the failure that a worker sent. `None` if it is malformed: the worker may have been
    /// taken over.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<SandboxError> {
        let Json::Object(mut failure) = serde_json::from_slice(bytes).ok()? else { return None };
        let code = SandboxErrorCode::from_name(failure.get("code")?.as_str()?)?;
        let mut error = SandboxError::new(code, failure.get("message")?.as_str()?);
        error.name = failure.get("name").and_then(Json::as_str).map(Into::into);
        let trace = failure.get("trace")?.as_array().filter(|trace| trace.len() <= MAX_TRACE)?;
        error.trace = trace.iter().map(frame_from_json).collect::<Option<_>>()?;
        error.class = failure.get("class").and_then(Json::as_str).map(Into::into);
        if let Some(Json::Object(fields)) = failure.remove("fields") {
            error.fields = Some(Box::new(fields));
        }
        Some(error)
    }
}

/// `[line, column]`, or the name of a built-in function.
fn frame_to_json(frame: &TraceFrame) -> Json {
    match frame {
        TraceFrame::Program(position) => json!([position.line, position.column]),
        TraceFrame::Native(name) => json!(name),
    }
}

/// The reverse of [`frame_to_json`]. Positions count from 1; the conversion of columns relies on
/// that.
fn frame_from_json(json: &Json) -> Option<TraceFrame> {
    if let Some(name) = json.as_str() {
        return Some(TraceFrame::Native(name.into()));
    }
    let number =
        |index: usize| u32::try_from(json.get(index)?.as_u64()?).ok().filter(|number| *number > 0);
    Some(TraceFrame::Program(CodePosition { line: number(0)?, column: number(1)? }))
}

/// The first `most` bytes of a text, and `…` if it is longer.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
