//! Why a call has no result, as a worker tells its parent.

use serde_json::{Map, Value as Json, json};

use crate::error::{Code, Error, Place, TraceFrame};

/// No message is longer, whatever went into it: what a worker tells has a cap.
const MESSAGE: usize = 8 << 10;

/// The worker's half of an [`Error`]; log and time travel apart.
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) name: Option<String>,
    pub(crate) trace: Vec<TraceFrame>,
    pub(crate) fields: Option<Box<Map<String, Json>>>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Failure {
        let message = cut(&message.into(), MESSAGE);
        Failure { code, message, name: None, trace: Vec::new(), fields: None }
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({
            "code": self.code.name(),
            "message": self.message,
            "name": self.name,
            "trace": self.trace.iter().map(|frame| frame.place().map(|place| [place.line, place.column])).collect::<Vec<_>>(),
            "fields": self.fields,
        })
    }

    /// Reads what a worker said; `None` if it makes no sense.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<Error> {
        let Json::Object(mut told) = serde_json::from_slice(bytes).ok()? else { return None };
        let code = Code::named(told.get("code")?.as_str()?)?;
        let mut error = Error::new(code, told.get("message")?.as_str()?);
        error.name = told.get("name").and_then(Json::as_str).map(str::to_owned);
        error.trace = told.get("trace")?.as_array()?.iter().map(frame).collect::<Option<_>>()?;
        if let Some(Json::Object(fields)) = told.remove("fields") {
            error.fields = Some(Box::new(fields));
        }
        Some(error)
    }
}

/// `null`, or a line and a column.
fn frame(told: &Json) -> Option<TraceFrame> {
    let part = |index: usize| u32::try_from(told.get(index)?.as_u64()?).ok().filter(|part| *part > 0);
    if told.is_null() {
        return Some(TraceFrame::Native);
    }
    Some(TraceFrame::Program(Place { line: part(0)?, column: part(1)? }))
}

/// Text up to about `most` bytes, and a sign where it was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
