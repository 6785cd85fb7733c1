//! The health check of a definition: one question that shows whether its server works, asked on
//! every new connection, before any call.
//!
//! ```text
//! handshake ─▶ expected_response is data ──▶ call the command ─▶ is it part of the result?
//!           └▶ it is prose, or missing ────▶ does the server list the command?
//! ```
//!
//! A check that fails is a failure to connect: the connection is closed, the tools of the source
//! answer with the reason, and the next attempt comes after the pause of every other failure. What
//! the server sends meanwhile is bounded as in any call; questions to a person are refused.

use std::time::Duration;

use toolwright_model::{HealthCheck, Server};

use super::connect_error::{call_failure, not_ready, unavailable};
use super::connection::UpstreamConnection;
use super::outgoing_request::{OutgoingRequest, ToolCall};
use super::request_sending::OWN_CALLER;
use super::server_lists::collect_pages;
use super::{ListKind, Upstream};
use crate::capped_texts::{shorten, shorten_json};
use crate::offload::offload;
use crate::{CallArguments, Failure, Json};

/// How long a check may take, unless the definition names another time. Never longer than the
/// server may take to start.
const TIME_FOR_CHECK: Duration = Duration::from_secs(10);
/// Characters of an answer that a message shows.
const SHOWN: usize = 200;

/// Makes the check of a server, if its definition has one that can be made.
///
/// # Errors
/// Why the server does not count as healthy.
pub(super) async fn run(connection: &UpstreamConnection, server: &Server) -> Result<(), Failure> {
    let Some(check) = &server.health_check else { return Ok(()) };
    let Some(command) = check.runnable_command() else { return Ok(()) };
    let own = check.timeout_ms.map_or(TIME_FOR_CHECK, Duration::from_millis);
    let time = own.min(server.settings.start_timeout);
    let checking = async {
        match &check.expected_response {
            Some(expected) if !expected.is_string() => {
                call(connection, command, check, expected).await
            }
            _ => find(connection, command).await,
        }
    };
    match tokio::time::timeout(time, checking).await {
        Ok(result) => result.map_err(|why| failed(command, &why)),
        Err(_) => Err(failed(command, &not_ready(time))),
    }
}

fn failed(command: &str, why: &str) -> Failure {
    let help = "look at the server, or correct `health_check` in its definition";
    unavailable(&format!("its health check `{command}` failed: {why}")).suggest(help)
}

/// Whether the server lists the command.
async fn find(connection: &UpstreamConnection, command: &str) -> Result<(), String> {
    let tools = collect_pages(ListKind::Tools, connection).await;
    let tools = tools.map_err(|error| call_failure(error).message)?;
    match tools.iter().any(|tool| tool["name"] == command) {
        true => Ok(()),
        false => Err("the server does not list it".to_owned()),
    }
}

/// Calls the command and compares the result.
async fn call(
    connection: &UpstreamConnection,
    command: &str,
    check: &HealthCheck,
    expected: &Json,
) -> Result<(), String> {
    let arguments = check.arguments.clone().filter(Json::is_object);
    let arguments = CallArguments::from(arguments.unwrap_or_else(|| serde_json::json!({})));
    let call = ToolCall { tool: command, arguments: &arguments, more: &[], task: None };
    let result = connection.request(&OutgoingRequest::call(&call), &OWN_CALLER).await;
    let result = result.map_err(|error| call_failure(error).message)?;
    let outcome = Upstream::read_outcome(result).await.map_err(|failure| failure.message)?;
    if outcome.is_error {
        return Err(format!("it answered with an error: {}", shorten(&outcome.texts(), SHOWN)));
    }
    let expected = expected.clone();
    let compare = move || {
        let actual = outcome.value();
        match contains(&actual, &expected) {
            true => Ok(()),
            false => Err(format!(
                "the answer is `{}`, expected `{}`",
                shorten_json(&actual, SHOWN),
                shorten_json(&expected, SHOWN)
            )),
        }
    };
    offload(crate::offload::WorkSize::Large, compare).await
}

/// Whether a value has everything that is expected: members of objects may be more, everything else
/// is equal. The depth is that of the definition.
fn contains(actual: &Json, expected: &Json) -> bool {
    match (actual, expected) {
        (Json::Object(actual), Json::Object(expected)) => expected
            .iter()
            .all(|(name, value)| actual.get(name).is_some_and(|own| contains(own, value))),
        (Json::Array(actual), Json::Array(expected)) => {
            actual.len() == expected.len()
                && actual.iter().zip(expected).all(|(own, value)| contains(own, value))
        }
        // YAML authors write 2 or 2.0.
        (Json::Number(actual), Json::Number(expected)) => {
            actual == expected || actual.as_f64() == expected.as_f64()
        }
        (actual, expected) => actual == expected,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_may_have_more_than_is_expected() {
        for (actual, expected, fits) in [
            (json!({"status": "ok", "up": 3}), json!({"status": "ok"}), true),
            (json!({"status": "down"}), json!({"status": "ok"}), false),
            (json!({"a": {"b": 2.0, "c": 1}}), json!({"a": {"b": 2}}), true),
            (json!({"list": [1, 2]}), json!({"list": [1]}), false),
            (json!("ok"), json!({"status": "ok"}), false),
            (json!({}), json!({}), true),
        ] {
            assert_eq!(contains(&actual, &expected), fits, "{actual} {expected}");
        }
    }
}
