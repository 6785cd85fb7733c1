//! Questions of a server to the person or model behind a call: which of them a client can answer,
//! and the two ways in which they arrive.
//!
//! - Up to 2025-11-25 a server sends requests (`elicitation/create`, …) while a call runs.
//! - Since 2026-07-28 it answers the call with `resultType: "input_required"` and the questions,
//!   and the client repeats the call with the answers.

use std::collections::HashSet;

use serde_json::value::RawValue;
use serde_json::{Map, json};
use toolwright_mcp::{RpcError, error_code};

use super::RequestError;
use super::client_tasks::is_task_request;
use super::outgoing_request::InputRound;
use crate::{Failure, GivenReason, Host, Json, ServerRequest, code};

/// How often a server may answer one request with questions.
pub(super) const MAX_ROUNDS: usize = 10;
/// Questions of one round.
const MAX_QUESTIONS: usize = 64;

/// Whether a client with these capabilities can answer a request.
///
/// # Errors
/// MISSING_CAPABILITY, with the capability in its data as 2026-07-28 demands. Never a reason to end
/// the call: the server decides what the refusal means.
pub(super) fn check_capability(
    capabilities: &Json,
    method: &str,
    params: &Json,
) -> Result<(), RpcError> {
    let has = |path: &[&str]| {
        path.iter()
            .try_fold(capabilities, |value, key| value.get(key))
            .is_some_and(|value| !value.is_null() && *value != Json::Bool(false))
    };
    let has_tools = method == "sampling/createMessage"
        && ["tools", "toolChoice"].iter().any(|name| params.get(name).is_some());
    let (is_able, what) = match method {
        "elicitation/create" if params["mode"] == "url" => {
            (has(&["elicitation", "url"]), "cannot open URLs for a server (`elicitation.url`)")
        }
        // A client that names no mode can show forms.
        "elicitation/create" => {
            let is_form = has(&["elicitation", "form"]) || !has(&["elicitation", "url"]);
            (has(&["elicitation"]) && is_form, "cannot ask the person (`elicitation`)")
        }
        _ if has_tools => {
            let what = "does not let its model use the tools of a server (`sampling.tools`)";
            (has(&["sampling", "tools"]), what)
        }
        "sampling/createMessage" => {
            (has(&["sampling"]), "does not let servers use its model (`sampling`)")
        }
        "roots/list" => (has(&["roots"]), "has no roots (`roots`)"),
        method if is_task_request(method) => {
            (has(&["tasks", "requests"]), "makes no tasks for servers (`tasks.requests`)")
        }
        _ => (false, "does not know this method"),
    };
    if is_able {
        return Ok(());
    }
    let message = format!("`{method}` is refused: the client {what}");
    let mut error = RpcError::new(error_code::MISSING_CAPABILITY, message);
    // Servers of older revisions pass the error on as they do with any other.
    if let Some((capability, _)) = method.split_once('/') {
        let required = match has_tools {
            true => serde_json::json!({"tools": {}}),
            false => serde_json::json!({}),
        };
        error.data = Some(serde_json::json!({"requiredCapabilities": {capability: required}}));
    }
    Err(error)
}

/// The questions in a result of the stateless protocol.
pub(super) struct InputRequired {
    questions: Map<String, Json>,
    /// Opaque: given back to the server with the answers. It may carry all that the server has to
    /// remember.
    state: Option<Json>,
}

impl InputRequired {
    /// Reads a result. `None` for one that is complete.
    ///
    /// A search for the word decides first, and the JSON only if it occurs.
    pub(super) fn read(result: &RawValue) -> Option<InputRequired> {
        // Most results are complete and are not parsed here.
        if !result.get().contains("input_required") {
            return None;
        }
        let mut result: Map<String, Json> = serde_json::from_str(result.get()).ok()?;
        if result.get("resultType").and_then(Json::as_str) != Some("input_required") {
            return None;
        }
        let questions = match result.remove("inputRequests") {
            Some(Json::Object(questions)) => questions,
            _ => Map::new(),
        };
        Some(InputRequired { questions, state: result.remove("requestState") })
    }

    /// Reads the error with which a server of 2025-11-25 asks for visits of URLs. `None` if it has
    /// no URLs.
    pub(super) fn of_url_error(error: &RpcError) -> Option<InputRequired> {
        let elicitations = error.data.as_ref()?.get("elicitations")?.as_array()?;
        let question = |(n, params): (usize, &Json)| {
            let question = json!({"method": "elicitation/create", "params": params});
            (format!("url-{}", n + 1), question)
        };
        let questions: Map<_, _> = elicitations.iter().enumerate().map(question).collect();
        (!questions.is_empty()).then_some(InputRequired { questions, state: None })
    }

    /// The ids with which the server reports the end of its elicitations.
    pub(super) fn elicitation_ids(&self) -> HashSet<String> {
        let ids = self.questions.values().filter_map(|it| it["params"]["elicitationId"].as_str());
        ids.map(str::to_owned).collect()
    }

    /// Passes all questions to the host at once and returns what the next round sends.
    ///
    /// # Errors
    /// If the client cannot answer one of them: the protocol has no place for an error there.
    pub(super) async fn ask(
        self,
        host: &dyn Host,
        source: &str,
    ) -> Result<InputRound, RequestError> {
        let InputRequired { questions, state } = self;
        let failed = |message: String| {
            let failure = Failure::new(&code::TOOL_FAILED, message)
                .suggest("use a client that can answer the server's questions");
            RequestError::Failed(failure)
        };
        if questions.is_empty() {
            return Ok(InputRound { responses: None, state });
        }
        if questions.len() > MAX_QUESTIONS {
            return Err(failed(format!("the server asks {} questions at once", questions.len())));
        }
        let capabilities = host.client_capabilities();
        let mut requests = Vec::with_capacity(questions.len());
        for (key, mut question) in questions {
            let method = question["method"].as_str().unwrap_or_default().to_owned();
            let params = question.get_mut("params").map(Json::take).unwrap_or_default();
            check_capability(&capabilities, &method, &params).map_err(|error| {
                failed(format!("the server needs input from the client: {}", error.message))
            })?;
            let source = source.to_owned();
            let withdrawal = GivenReason::default();
            requests.push(ServerRequest { key: Some(key), source, method, params, withdrawal });
        }
        let keys: Vec<String> = requests.iter().filter_map(|it| it.key.clone()).collect();
        let answers = host.ask(requests).await;
        let mut responses = Map::new();
        for (key, answer) in keys.into_iter().zip(answers) {
            let answer = answer.map_err(|error| {
                failed(format!("the client did not answer the server: {}", error.message))
            })?;
            responses.insert(key, answer);
        }
        Ok(InputRound { responses: Some(responses), state })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check_capability;

    #[test]
    fn only_what_the_client_declares_is_asked() {
        let url = json!({"mode": "url"});
        let form = json!({"mode": "form"});
        let none = json!({});
        let tools = json!({"tools": [], "toolChoice": {}});
        for (capabilities, method, params, expected) in [
            (json!({}), "elicitation/create", &form, false),
            (json!({"elicitation": {}}), "elicitation/create", &form, true),
            (json!({"elicitation": {}}), "elicitation/create", &none, true),
            (json!({"elicitation": {}}), "elicitation/create", &url, false),
            (json!({"elicitation": {"url": {}}}), "elicitation/create", &url, true),
            (json!({"elicitation": {"url": {}}}), "elicitation/create", &form, false),
            (json!({"elicitation": {"form": {}, "url": {}}}), "elicitation/create", &form, true),
            (json!({"sampling": {}}), "sampling/createMessage", &none, true),
            (json!({"roots": {}}), "sampling/createMessage", &none, false),
            (json!({"sampling": {}}), "sampling/createMessage", &tools, false),
            (json!({"sampling": {"tools": {}}}), "sampling/createMessage", &tools, true),
            (json!({"sampling": {"tools": {}}}), "sampling/createMessage", &none, true),
            (json!({"roots": {"listChanged": true}}), "roots/list", &none, true),
            (json!({"tools": {}}), "tools/list", &none, false),
        ] {
            let able = check_capability(&capabilities, method, params).is_ok();
            assert_eq!(able, expected, "{capabilities} {method} {params}");
        }
    }
}
