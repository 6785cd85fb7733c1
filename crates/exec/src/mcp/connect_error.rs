//! Words the errors of connections and requests for users: full sentences without secrets and
//! without the types of the operating system or the HTTP client.
//!
//! The words of a server are bounded before they are put into a message: a model reads them, and a
//! log keeps them. Errors that are passed on as errors of the protocol keep all their members up to
//! `MAX_ERROR_BYTES`.

use std::time::Duration;

use serde_json::json;
use toolwright_mcp::{RpcError, error_code};

use super::RequestError;
use crate::budget::{CAP_REMARK, CallClock, ReachedLimit};
use crate::{Failure, Json, code, json_size};

/// The longest error message of a server that is part of another sentence, in characters.
const MAX_ERROR_CHARS: usize = 4_000;
/// The largest error of a server that is passed on, in bytes: as large as a result may be.
const MAX_ERROR_BYTES: usize = 1 << 20;
/// The part of it that the message may use, in bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// The failure "the server cannot be reached", with the reason.
pub(super) fn unavailable(why: &str) -> Failure {
    let message = format!("the server cannot be reached: {why}");
    Failure::new(&code::UPSTREAM_UNAVAILABLE, message)
}

/// Why a server whose handshake took longer than `time` has no connection.
pub(super) fn not_ready(time: Duration) -> String {
    format!("it did not get ready within {}", seconds(time))
}

/// A time for messages: whole seconds where it has them.
pub(super) fn seconds(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{} s", time.as_secs()),
        _ => format!("{} ms", time.as_millis()),
    }
}

/// The failure of a handshake that the server answered with an error.
pub(super) fn refused(error: &RpcError) -> Failure {
    let message = format!("the server refused the connection: {}", clipped(&error.message));
    Failure::new(&code::UPSTREAM_UNAVAILABLE, message)
}

/// The failure of a request without a valid token: HTTP 401. The challenge of the server is not
/// shown, because it is meant for programs.
pub(super) fn token_required() -> Failure {
    let message = "the server requires a token, and none or a wrong one was sent";
    Failure::new(&code::UPSTREAM_UNAVAILABLE, message)
        .suggest("set `headers = { Authorization = \"Bearer …\" }` on its source")
}

/// The failure of a request whose connection ended. `why` may be empty if the reason is unknown.
pub(super) fn connection_lost(why: &str) -> Failure {
    let why = if why.is_empty() { "the connection is closed" } else { why };
    let message = format!("the server went away during the call: {why}");
    Failure::new(&code::UPSTREAM_UNAVAILABLE, message)
}

/// The failure of a request whose answer is larger than any message may be.
pub(super) fn answer_too_large() -> Failure {
    Failure::new(&code::OUTPUT_TOO_LARGE, "the answer is larger than any message may be")
}

/// The failure of a request whose time is over.
pub(super) fn no_answer(method: &str, clock: &CallClock) -> Failure {
    let within = match clock.reached_limit() {
        ReachedLimit::Deadline(time) => seconds(time),
        ReachedLimit::Cap(time) => format!("{}, {CAP_REMARK}", seconds(time)),
    };
    let message = format!("the server did not answer `{method}` within {within}");
    Failure::new(&code::TIMEOUT, message)
}

/// The failure of a call that has no result. An error of the server is kept.
pub(super) fn call_failure(error: RequestError) -> Failure {
    match error {
        RequestError::Failed(failure) => failure,
        RequestError::Answered(error) => {
            // The server's own words, bounded: the text goes to a model.
            let message = clipped(&error.message);
            let message = format!("the server answered with error {}: {message}", error.code);
            let mut failure = Failure::new(&code::TOOL_FAILED, message);
            failure.rpc_error = Some(Box::new(error));
            failure
        }
    }
}

/// The error of a server, with at most [`MAX_ERROR_BYTES`]. If it is larger, the message is
/// shortened, and the rest is replaced by a note.
pub(super) fn bounded(mut error: RpcError) -> RpcError {
    let rest = |error: &RpcError| {
        let data = error.data.as_ref().map_or(0, |data| json_size(data, MAX_ERROR_BYTES));
        let more = error.more.iter();
        let more = more.map(|(name, value)| name.len() + json_size(value, MAX_ERROR_BYTES));
        data + more.sum::<usize>()
    };
    if error.message.len() + rest(&error) <= MAX_ERROR_BYTES {
        return error;
    }
    shorten(&mut error.message);
    if error.message.len() + rest(&error) > MAX_ERROR_BYTES {
        error.more.clear();
        let note = format!("the data of the error is larger than {MAX_ERROR_BYTES} bytes");
        error.data = Some(json!({"toolwright/omitted": note}));
    }
    error
}

/// Shortens a text above [`MAX_MESSAGE_BYTES`].
fn shorten(text: &mut String) {
    let length = text.len();
    if length > MAX_MESSAGE_BYTES {
        text.truncate(text.floor_char_boundary(MAX_MESSAGE_BYTES));
        *text += &format!(" [shortened from {length} bytes]");
    }
}

/// Bounds the state of a task, without its result: the text of its status like the message of an
/// error, and the error that it failed with like any other ([`bounded`]).
///
/// # Errors
/// If the rest is too large.
pub(super) fn bound_task_state(state: &mut Json) -> Result<(), Failure> {
    if json_size(state, MAX_ERROR_BYTES) <= MAX_ERROR_BYTES {
        return Ok(());
    }
    if let Some(Json::String(status)) = state.get_mut("statusMessage") {
        shorten(status);
    }
    if let Some(Json::Object(members)) = state.get_mut("error") {
        let mut members = std::mem::take(members);
        let message = match members.shift_remove("message") {
            Some(Json::String(message)) => message,
            _ => String::new(),
        };
        let code = members.shift_remove("code").and_then(|code| code.as_i64());
        let mut error = RpcError::new(code.unwrap_or(error_code::INTERNAL_ERROR), message);
        error.data = members.shift_remove("data");
        *error.more = members;
        state["error"] = bounded(error).to_json();
    }
    // The error and what is around it.
    let most = 2 * MAX_ERROR_BYTES;
    if json_size(state, most) > most {
        let message = format!("the state of the task is larger than {most} bytes");
        return Err(Failure::new(&code::OUTPUT_TOO_LARGE, message));
    }
    Ok(())
}

fn clipped(text: &str) -> String {
    text.chars().take(MAX_ERROR_CHARS).collect()
}
