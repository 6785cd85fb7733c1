//! What was thrown, told without trusting it: anything can be thrown, its properties can lie, throw
//! or never end.

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
/// How much of the name of a class or a function is told.
const NAME: usize = 64;
/// How many errors of an error of many are told, and how many causes of a cause.
const ERRORS: i64 = 8;
const CAUSES: usize = 4;
/// How much of each of them is told. As JSON it may be six times as long, and a failure has a cap.
const SHORT: usize = 512;
/// How many frames of a stack are told.
const FRAMES: usize = 16;
/// How deep each of them may be nested: a failure wraps them twice.
const FIELD_DEPTH: usize = MAX_DEPTH - 2;

/// The failure that an exception stands for. `None`: the engine had no memory left to make one.
pub(super) fn failure(thrown: Option<Value>, state: &State) -> Failure {
    if let Some(mut over) = over(state) {
        // Where it was when its time was over. Reading that runs at most what the engine stops at
        // once.
        if let (Code::Timeout, Some(thrown)) =
            (over.code, thrown.as_ref().filter(|thrown| thrown.is_error()))
        {
            over.trace = frames(stack(thrown).as_deref().unwrap_or_default());
        }
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
        let message =
            format!("the program used up its time, {:?} of the processor", whole(state.limit));
        return Some(Failure::new(Code::Timeout, message));
    }
    state.heap().exceeded().then(Failure::out_of_memory)
}

fn error(thrown: &Value, state: &State) -> Failure {
    let name = property(thrown, "name").unwrap_or_else(|| "Error".to_owned());
    let mut message = property(thrown, "message").unwrap_or_default();
    let errors = own(thrown, "errors").map(|errors| texts(&errors)).unwrap_or_default();
    if message.is_empty() && !errors.is_empty() {
        message = cut(&errors.join("; "), MESSAGE);
    }
    // The second is what the engine says of a regular expression.
    let is_overflow = matches!(
        (name.as_str(), message.as_str()),
        ("RangeError", "Maximum call stack size exceeded") | ("SyntaxError", "stack overflow")
    );
    let code = match (name.as_str(), message.as_str()) {
        _ if is_overflow => Code::StackOverflow,
        // What the engine refuses without asking for memory: a text longer than it has numbers for.
        ("InternalError", "out of memory") => Code::MemoryLimit,
        _ => Code::Threw,
    };
    let mut failure = Failure::new(code, message);
    failure.name = Some(name);
    failure.trace = frames(stack(thrown).as_deref().unwrap_or_default());
    failure.class = class(thrown);
    let mut fields = fields(thrown, state).unwrap_or_default();
    if let Some(cause) = own(thrown, "cause") {
        fields.entry("cause").or_insert_with(|| Json::String(in_words(&cause, CAUSES)));
    }
    if !errors.is_empty() {
        fields.entry("errors").or_insert_with(|| errors.into());
    }
    failure.fields = (!fields.is_empty()).then(|| Box::new(fields));
    failure
}

/// The name of the class of an error.
fn class(thrown: &Value) -> Option<String> {
    let class = thrown.get_str("constructor");
    let name = class.ok().filter(Value::is_function).and_then(|class| property(&class, "name"));
    drop(thrown.js().take_exception());
    name.map(|name| cut(&name, NAME))
}

/// An own property whose reading runs no code.
fn own<'r>(thrown: &Value<'r>, name: &str) -> Option<Value<'r>> {
    let found = thrown.js().atom(name).and_then(|name| thrown.own_data(&name));
    drop(thrown.js().take_exception());
    found.ok().flatten().map(|(value, _)| value).filter(|value| value.kind() != Kind::Undefined)
}

/// What a list of errors says, as far as it is short.
fn texts(errors: &Value) -> Vec<String> {
    if !errors.is_array() {
        return Vec::new();
    }
    let count = errors.length().unwrap_or_default().min(ERRORS);
    let texts = (0..count).filter_map(|index| Some(in_words(&errors.get_index(index).ok()?, 1)));
    let texts = texts.collect();
    drop(errors.js().take_exception());
    texts
}

/// An error in one line, with what it was caused by.
fn in_words(thrown: &Value, causes: usize) -> String {
    if !thrown.is_error() {
        return cut(&value_in_words(thrown), SHORT);
    }
    let name = property(thrown, "name").unwrap_or_else(|| "Error".to_owned());
    let message = property(thrown, "message").unwrap_or_default();
    let text = cut(&format!("{name}: {message}"), SHORT);
    match own(thrown, "cause").filter(|_| causes > 1) {
        Some(cause) => format!("{text}, caused by {}", in_words(&cause, causes - 1)),
        None => text,
    }
}

fn other(thrown: &Value, state: &State) -> Failure {
    let trace = thrown.js().take_trace().and_then(|trace| trace.text().ok());
    let what = value_in_words(thrown);
    let mut failure = Failure::new(Code::Threw, format!("threw {what}, which is no Error"));
    failure.trace = frames(trace.as_deref().unwrap_or_default());
    if thrown.is_object() {
        failure.fields = fields(thrown, state).map(Box::new);
    }
    failure
}

/// What is no error, in words.
fn value_in_words(thrown: &Value) -> String {
    match thrown.kind() {
        Kind::String => {
            format!("the string {:?}", cut(&thrown.text().unwrap_or_default(), MESSAGE))
        }
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
    }
}

/// A property that is a string, cut to what can be shown.
fn property(thrown: &Value, name: &str) -> Option<String> {
    match thrown.get_str(name) {
        Ok(value) if value.kind() == Kind::String => {
            value.with_text(|text| cut(text, MESSAGE)).ok()
        }
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
        if let Some(native) =
            line.trim_start().strip_prefix("at ").and_then(|line| line.strip_suffix(" (native)"))
        {
            return Some(TraceFrame::Native(cut(native, NAME).into()));
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
