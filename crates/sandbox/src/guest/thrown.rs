//! What was thrown, told without trusting it: anything can be thrown, its properties can lie, throw or never end.

use serde_json::{Map, Value as Json};

use super::failure::{Failure, cut};
use super::js::{Kind, Value};
use super::json::{Writer, number};
use super::state::State;
use crate::error::{Code, Place, TraceFrame};
use crate::limits::{MAX_DEPTH, whole};

/// The file name that the guest's program goes by in stack traces.
pub(super) const PROGRAM: &str = "program.js";
/// How much of a message is told.
const MESSAGE: usize = 4 << 10;
/// How much of the other properties is told.
const FIELDS: usize = 16 << 10;
/// How many frames of a stack are told.
const FRAMES: usize = 16;
/// How deep each of them may be nested: a failure wraps them twice.
const FIELD_DEPTH: usize = MAX_DEPTH - 2;

/// The failure that an exception stands for. `None`: the engine had no memory left to make one.
pub(super) fn failure(thrown: Option<Value>, state: &State) -> Failure {
    if let Some(over) = over(state) {
        return over;
    }
    let Some(thrown) = thrown else {
        return Failure::new(Code::MemoryLimit, "the engine ran out of memory");
    };
    let failure = if thrown.is_error() { error(&thrown, state) } else { other(&thrown, state) };
    // Its properties may have been a trap.
    over(state).unwrap_or(failure)
}

/// What ended the call, if it was no exception of its own.
pub(super) fn over(state: &State) -> Option<Failure> {
    if state.is_late() {
        let message = format!("the program used up its time, {:?} of the processor", whole(state.limit));
        return Some(Failure::new(Code::Timeout, message));
    }
    state.heap().exceeded().then(|| Failure::new(Code::MemoryLimit, "the program used up its memory"))
}

fn error(thrown: &Value, state: &State) -> Failure {
    let name = property(thrown, "name").unwrap_or_else(|| "Error".to_owned());
    let message = property(thrown, "message").unwrap_or_default();
    // The second is what the engine says of a regular expression.
    let is_overflow = matches!(
        (name.as_str(), message.as_str()),
        ("RangeError", "Maximum call stack size exceeded") | ("SyntaxError", "stack overflow")
    );
    let code = if is_overflow { Code::StackOverflow } else { Code::Threw };
    let mut failure = Failure::new(code, message);
    failure.name = Some(name);
    failure.trace = frames(stack(thrown).as_deref().unwrap_or_default());
    failure.fields = fields(thrown, state).map(Box::new);
    failure
}

fn other(thrown: &Value, state: &State) -> Failure {
    let trace = thrown.js().take_trace().and_then(|trace| trace.text().ok());
    let what = match thrown.kind() {
        Kind::String => format!("the string {:?}", cut(&thrown.text().unwrap_or_default(), MESSAGE)),
        Kind::Undefined => "`undefined`".to_owned(),
        Kind::Null => "`null`".to_owned(),
        Kind::Object if thrown.is_function() => "a function".to_owned(),
        Kind::Object => match property(thrown, "message") {
            Some(message) => format!("an object with the message {message:?}"),
            None => "an object".to_owned(),
        },
        Kind::Bool(value) => format!("`{value}`"),
        Kind::Number(value) => format!("`{}`", number(value)),
        Kind::BigInt => "a BigInt".to_owned(),
        Kind::Symbol => "a symbol".to_owned(),
        Kind::Other => "no value".to_owned(),
    };
    let mut failure = Failure::new(Code::Threw, format!("threw {what}, which is no Error"));
    failure.trace = frames(trace.as_deref().unwrap_or_default());
    if thrown.is_object() {
        failure.fields = fields(thrown, state).map(Box::new);
    }
    failure
}

/// A property that is a string, cut to what can be shown.
fn property(thrown: &Value, name: &str) -> Option<String> {
    match thrown.get_str(name) {
        Ok(value) if value.kind() == Kind::String => value.with_text(|text| cut(text, MESSAGE)).ok(),
        Ok(_) => None,
        Err(_) => {
            drop(thrown.js().take_exception());
            None
        }
    }
}

fn stack(thrown: &Value) -> Option<String> {
    let value = thrown.get_str("stack").ok().filter(|value| value.kind() == Kind::String);
    drop(thrown.js().take_exception());
    value?.text().ok()
}

/// The innermost frames of a stack.
fn frames(stack: &str) -> Vec<TraceFrame> {
    let frames = stack.lines().filter_map(|line| {
        if line.ends_with("(native)") {
            return Some(TraceFrame::Native);
        }
        let (_, place) = line.rsplit_once(&format!("{PROGRAM}:"))?;
        let (row, column) = place.trim_end_matches(')').split_once(':')?;
        let place = Place { line: row.parse().ok()?, column: column.parse().ok()? };
        (place.line > 0 && place.column > 0).then_some(TraceFrame::Program(place))
    });
    frames.take(FRAMES).collect()
}

/// Own properties that are JSON and whose reading runs no getter.
fn fields(thrown: &Value, state: &State) -> Option<Map<String, Json>> {
    // Whose properties are its items may have millions.
    let class = thrown.class_name().unwrap_or_default();
    if thrown.is_array() || class.ends_with("Array") || class == "String" {
        return None;
    }
    let mut fields = Map::new();
    let mut left = FIELDS;
    let names = thrown.names().ok()?;
    for index in 0..names.len().min(64) {
        let name = names.at(index);
        let Ok(text) = name.text() else { continue };
        if text.len() >= left || matches!(text.as_str(), "message" | "name" | "stack") {
            continue;
        }
        let Ok(Some((value, _))) = thrown.own_data(&name) else { continue };
        if let Ok(json) = Writer::write(&value, left, FIELD_DEPTH, state)
            && let Ok(json_value) = serde_json::from_slice(&json)
        {
            left = left.saturating_sub(json.len() + text.len());
            fields.insert(text, json_value);
        }
    }
    drop(thrown.js().take_exception());
    (!fields.is_empty()).then_some(fields)
}
