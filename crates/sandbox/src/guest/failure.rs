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
    pub(crate) class: Option<String>,
    pub(crate) fields: Option<Box<Map<String, Json>>>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Failure {
        let message = cut(&message.into(), MESSAGE);
        Failure { code, message, name: None, trace: Vec::new(), class: None, fields: None }
    }

    pub(crate) fn out_of_memory() -> Failure {
        Failure::new(Code::MemoryLimit, "the program used up its memory")
    }

    pub(crate) fn input_too_large() -> Failure {
        Failure::new(Code::InputTooLarge, "the input takes too much memory")
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({
            "code": self.code.name(),
            "message": self.message,
            "name": self.name,
            "trace": self.trace.iter().map(told).collect::<Vec<_>>(),
            "class": self.class,
            "fields": self.fields,
        })
    }

    /// Reads what a worker said; `None` if it makes no sense.
    pub(crate) fn from_json(bytes: &[u8]) -> Option<Error> {
        let Json::Object(mut told) = serde_json::from_slice(bytes).ok()? else { return None };
        let code = Code::named(told.get("code")?.as_str()?)?;
        let mut error = Error::new(code, told.get("message")?.as_str()?);
        error.name = told.get("name").and_then(Json::as_str).map(Into::into);
        error.trace = told.get("trace")?.as_array()?.iter().map(frame).collect::<Option<_>>()?;
        error.class = told.get("class").and_then(Json::as_str).map(Into::into);
        if let Some(Json::Object(fields)) = told.remove("fields") {
            error.fields = Some(Box::new(fields));
        }
        Some(error)
    }
}

/// A line and a column, or the name of a function of the language.
fn told(frame: &TraceFrame) -> Json {
    match frame {
        TraceFrame::Program(place) => json!([place.line, place.column]),
        TraceFrame::Native(name) => json!(name),
    }
}

/// What `told` tells.
fn frame(told: &Json) -> Option<TraceFrame> {
    if let Some(name) = told.as_str() {
        return Some(TraceFrame::Native(name.into()));
    }
    let part =
        |index: usize| u32::try_from(told.get(index)?.as_u64()?).ok().filter(|part| *part > 0);
    Some(TraceFrame::Program(Place { line: part(0)?, column: part(1)? }))
}

/// Text up to about `most` bytes, and a sign where it was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
