//! Turns an exception of the guest into a failure. Any value can be thrown, and its properties can
//! be false, can throw, or can be getters that never return. So every read may fail, and every
//! text and list is cut: the whole failure must fit below the parent's cap for such frames.

use serde_json::{Map, Value as Json};

use super::call_state::GuestCallState;
use super::engine::{JsContext, JsValue, JsValueKind};
use super::failure::{GuestFailure, MAX_TRACE, shorten};
use super::json_writer::{GuestJsonWriter, number_text};
use crate::error::{CodePosition, SandboxErrorCode, TraceFrame};
use crate::limits::{MAX_DEPTH, whole_milliseconds};

/// The file name of the program in stack traces, as `GuestRunner::compile` gives it. Frames of
/// other files, such as the prelude, are not reported.
const PROGRAM_FILE: &str = "program.js";
/// Bytes of a message.
const MAX_MESSAGE: usize = 4 << 10;
/// Bytes of the other own properties together, as JSON.
const MAX_FIELDS: usize = 16 << 10;
/// Own properties that are looked at.
const MAX_FIELD_COUNT: u32 = 64;
/// Bytes of the name of a class or a function.
const MAX_NAME: usize = 64;
/// Errors of an `AggregateError`.
const MAX_ERRORS: i64 = 8;
/// Causes in a chain of causes.
const MAX_CAUSES: usize = 4;
/// Bytes of each of them. As JSON a text may become six times as long.
const MAX_SUMMARY: usize = 512;
/// Levels of an own property: the failure wraps it in two more.
const MAX_FIELD_DEPTH: usize = MAX_DEPTH - 2;

/// The failure of the exception that is pending in the engine.
pub(super) fn take_failure(js: JsContext, state: &GuestCallState) -> GuestFailure {
    failure_of(js.take_exception(), state)
}

/// The failure that a thrown value stands for. If the time is up, that is the failure, whatever
/// was thrown; then there may be no value.
pub(super) fn failure_of(thrown: Option<JsValue>, state: &GuestCallState) -> GuestFailure {
    if let Some(mut timeout) = timeout_failure(state) {
        // The stack shows where the program was when its time was up. If reading it runs code of
        // the program, the engine interrupts that at once.
        if let Some(thrown) = thrown.as_ref().filter(|thrown| thrown.is_error()) {
            timeout.trace = parse_stack(stack_text(thrown).as_deref().unwrap_or_default());
        }
        return timeout;
    }
    let Some(thrown) = thrown else {
        let message = "the engine failed without an exception";
        return GuestFailure::new(SandboxErrorCode::Threw, message);
    };
    let failure = if thrown.is_error() {
        failure_of_error(&thrown, state)
    } else {
        failure_of_value(&thrown, state)
    };
    // Reading its properties may have used up the time.
    timeout_failure(state).unwrap_or(failure)
}

/// The failure of a guest that used up its time; `None` if it has not.
pub(super) fn timeout_failure(state: &GuestCallState) -> Option<GuestFailure> {
    state.is_late().then(|| {
        let limit = whole_milliseconds(state.cpu_limit);
        let message = format!("the program used up its processor time of {limit:?}");
        GuestFailure::new(SandboxErrorCode::Timeout, message)
    })
}

/// The failure of a thrown `Error`.
fn failure_of_error(thrown: &JsValue, state: &GuestCallState) -> GuestFailure {
    let name = text_property(thrown, "name").unwrap_or_else(|| "Error".to_owned());
    let mut message = text_property(thrown, "message").unwrap_or_default();
    let errors =
        own_property(thrown, "errors").map(|errors| summaries(&errors)).unwrap_or_default();
    // `Promise.any` throws an `AggregateError` without a message.
    if message.is_empty() && !errors.is_empty() {
        message = shorten(&errors.join("; "), MAX_MESSAGE);
    }
    let code = match (name.as_str(), message.as_str()) {
        ("RangeError", "Maximum call stack size exceeded") => SandboxErrorCode::StackOverflow,
        // The engine's message for a regular expression that is nested too deeply.
        ("SyntaxError", "stack overflow") => SandboxErrorCode::StackOverflow,
        // A string longer than the engine supports: it throws without requesting memory.
        ("InternalError", "out of memory") => SandboxErrorCode::MemoryLimit,
        _ => SandboxErrorCode::Threw,
    };
    let mut failure = GuestFailure::new(code, message);
    failure.name = Some(name);
    failure.trace = parse_stack(stack_text(thrown).as_deref().unwrap_or_default());
    failure.class = class_name(thrown);
    let mut fields = json_fields(thrown, state).unwrap_or_default();
    // Both are own properties that are not enumerable, so `json_fields` has left them out. If the
    // program defined them itself as JSON, that stays.
    if let Some(cause) = own_property(thrown, "cause") {
        fields.entry("cause").or_insert_with(|| Json::String(summary(&cause, MAX_CAUSES)));
    }
    if !errors.is_empty() {
        fields.entry("errors").or_insert_with(|| errors.into());
    }
    failure.fields = (!fields.is_empty()).then(|| Box::new(fields));
    failure
}

/// The failure of a thrown value that is not an `Error`. It has no stack of its own; the engine
/// remembers that of its last exception.
fn failure_of_value(thrown: &JsValue, state: &GuestCallState) -> GuestFailure {
    let trace = thrown.js().take_trace().and_then(|trace| trace.text().ok());
    let what = describe_value(thrown);
    let message = format!("threw {what}, which is not an Error");
    let mut failure = GuestFailure::new(SandboxErrorCode::Threw, message);
    failure.trace = parse_stack(trace.as_deref().unwrap_or_default());
    if thrown.is_object() {
        failure.fields = json_fields(thrown, state).map(Box::new);
    }
    failure
}

/// The name of the class of an error, by its constructor.
fn class_name(thrown: &JsValue) -> Option<String> {
    let class = thrown.get_str("constructor");
    let name =
        class.ok().filter(JsValue::is_function).and_then(|class| text_property(&class, "name"));
    drop(thrown.js().take_exception());
    name.map(|name| shorten(&name, MAX_NAME))
}

/// An own property, if it is not `undefined` and reading it runs no code.
fn own_property<'r>(thrown: &JsValue<'r>, name: &str) -> Option<JsValue<'r>> {
    let found = thrown.js().atom(name).and_then(|name| thrown.own_data(&name));
    drop(thrown.js().take_exception());
    let value = found.ok().flatten().map(|(value, _)| value);
    value.filter(|value| value.kind() != JsValueKind::Undefined)
}

/// One line for each of the first errors of a list.
fn summaries(errors: &JsValue) -> Vec<String> {
    if !errors.is_array() {
        return Vec::new();
    }
    let count = errors.length().unwrap_or_default().min(MAX_ERRORS);
    let lines =
        (0..count).filter_map(|index| Some(summary(&errors.get_index(index).ok()?, 1))).collect();
    drop(errors.js().take_exception());
    lines
}

/// An error in one line, followed by up to `causes` - 1 of its causes.
fn summary(thrown: &JsValue, causes: usize) -> String {
    if !thrown.is_error() {
        return shorten(&describe_value(thrown), MAX_SUMMARY);
    }
    let name = text_property(thrown, "name").unwrap_or_else(|| "Error".to_owned());
    let message = text_property(thrown, "message").unwrap_or_default();
    let text = shorten(&format!("{name}: {message}"), MAX_SUMMARY);
    match own_property(thrown, "cause").filter(|_| causes > 1) {
        Some(cause) => format!("{text}, caused by {}", summary(&cause, causes - 1)),
        None => text,
    }
}

/// A value that is not an `Error`, in words.
fn describe_value(thrown: &JsValue) -> String {
    match thrown.kind() {
        JsValueKind::String => {
            format!("the string {:?}", shorten(&thrown.text().unwrap_or_default(), MAX_MESSAGE))
        }
        JsValueKind::Undefined => "`undefined`".to_owned(),
        JsValueKind::Null => "`null`".to_owned(),
        JsValueKind::Object if thrown.is_function() => "a function".to_owned(),
        JsValueKind::Object => match text_property(thrown, "message") {
            Some(message) => format!("an object with the message {message:?}"),
            None => "an object".to_owned(),
        },
        JsValueKind::Bool(value) => format!("`{value}`"),
        JsValueKind::Number(value) => format!("`{}`", number_text(value)),
        JsValueKind::BigInt => "a BigInt".to_owned(),
        JsValueKind::Symbol => "a symbol".to_owned(),
        JsValueKind::Internal => "an internal value of the engine".to_owned(),
    }
}

/// A property that is a string, cut to the length of a message. Other values are not converted:
/// that would run code of the program.
fn text_property(thrown: &JsValue, name: &str) -> Option<String> {
    match thrown.get_str(name) {
        Ok(value) if value.kind() == JsValueKind::String => {
            value.with_text(|text| shorten(text, MAX_MESSAGE)).ok()
        }
        Ok(_) => None,
        // The getter threw. Its exception must not stay pending in the engine.
        Err(_) => {
            drop(thrown.js().take_exception());
            None
        }
    }
}

/// The property `stack`, which the engine sets when an error is created.
fn stack_text(thrown: &JsValue) -> Option<String> {
    let value = thrown.get_str("stack").ok().filter(|value| value.kind() == JsValueKind::String);
    drop(thrown.js().take_exception());
    value?.text().ok()
}

/// The innermost frames of a stack. Its lines are `    at name (program.js:2:13)`, or
/// `    at name (native)` for functions of the language. Other lines are skipped: the program can
/// write any text there.
fn parse_stack(stack: &str) -> Vec<TraceFrame> {
    let frames = stack.lines().filter_map(|line| {
        if let Some(native) =
            line.trim_start().strip_prefix("at ").and_then(|line| line.strip_suffix(" (native)"))
        {
            return Some(TraceFrame::Native(shorten(native, MAX_NAME).into()));
        }
        let (_, position) = line.rsplit_once(&format!("{PROGRAM_FILE}:"))?;
        let (line, column) = position.trim_end_matches(')').split_once(':')?;
        let position = CodePosition { line: line.parse().ok()?, column: column.parse().ok()? };
        (position.line > 0 && position.column > 0).then_some(TraceFrame::Program(position))
    });
    frames.take(MAX_TRACE).collect()
}

/// Own properties of a thrown object that are JSON and whose reading runs no getter.
fn json_fields(thrown: &JsValue, state: &GuestCallState) -> Option<Map<String, Json>> {
    // The properties of these are their items; there may be millions.
    let class = thrown.class_name().unwrap_or_default();
    if thrown.is_array() || class.ends_with("Array") || class == "String" {
        return None;
    }
    let mut fields = Map::new();
    let mut bytes_left = MAX_FIELDS;
    let names = thrown.property_names().ok()?;
    for index in 0..names.len().min(MAX_FIELD_COUNT) {
        let name = names.at(index);
        let Ok(text) = name.text() else { continue };
        if text.len() >= bytes_left || matches!(text.as_str(), "message" | "name" | "stack") {
            continue;
        }
        let Ok(Some((value, _))) = thrown.own_data(&name) else { continue };
        // Values without a JSON form, such as methods, are left out.
        if let Ok(json) = GuestJsonWriter::write(&value, bytes_left, MAX_FIELD_DEPTH, state)
            && let Ok(json_value) = serde_json::from_slice(&json)
        {
            bytes_left = bytes_left.saturating_sub(json.len() + text.len());
            fields.insert(text, json_value);
        }
    }
    drop(thrown.js().take_exception());
    (!fields.is_empty()).then_some(fields)
}
