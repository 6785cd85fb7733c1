//! The client's side of a running call: progress and log messages go to the client, and the
//! questions of servers are put to it.
//!
//! ```text
//!                        ┌─ progress, log ─▶ queue of the request ─▶ sink ─▶ client
//! exec ─▶ CallHost (Host)┤
//!                        └─ ask ─┬─ handshake: request to the client, on the same stream
//!                                └─ stateless: SuspendedCalls, the request is answered first
//! ```
//!
//! Only requests whose capability the client declared are put to it.
//!
//! A call and its client run at different speeds and may end in any order. So nothing that an
//! executor reports waits for the client: messages go into a bounded queue, and a full queue loses
//! them. Only questions wait, because the call needs their answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::join_all;
use serde_json::{Map, Value as Json, json};
use toolwright_exec::{
    BoxFuture, ClientAnswer, ClientAsker, GivenReason, GrantAnswer, GrantQuestion, Host, Progress,
    ServerRequest, SessionNumber,
};
use toolwright_mcp::{Message, RequestId, RpcError, error_code, raw_json};

use crate::client_session::ClientSession;
use crate::grant_questions;
use crate::log_level::MessageLevel;
use crate::protocol_codes::MISSING_CAPABILITY;
use crate::request_queue::{MessageSender, WeakMessageSender, message_queue};
use crate::suspended_calls::QuestionQueue;

/// Messages that may wait for a client that reads slowly; further progress and log messages are
/// dropped. Questions wait for room instead.
pub(crate) const MAX_QUEUED: usize = 256;

/// The request that a call currently answers.
///
/// Dropped with the request. When the last sender of `queue` is gone, the loop that forwards
/// messages ends, and the response is sent after it.
pub(crate) struct RequestLink {
    /// Messages to the client, on the stream of its request.
    pub(crate) queue: MessageSender,
    /// Set if the client wants progress.
    pub(crate) progress_token: Option<Json>,
    /// The lowest level of log messages that the client wants; `None` for no messages at all.
    pub(crate) log_level: Option<MessageLevel>,
}

impl RequestLink {
    fn wants_log(&self, message: &Json) -> bool {
        self.log_level.is_some_and(|lowest| MessageLevel::of_message(message) >= lowest)
    }
}

/// How questions of servers reach the client.
///
/// Decided once per call, by the revision of its client.
pub(crate) enum AskMode {
    /// As requests on the stream of the call.
    Requests,
    /// As the answer to the request, which the client repeats with its answers.
    Suspension(QuestionQueue),
}

/// The client of one call, as the runner and its executors see it. Shared by everything that works
/// for the call, on any thread. See the file header.
pub(crate) struct CallHost {
    session: Arc<ClientSession>,
    /// What the client declared, with its handshake or with this request. Decides which questions
    /// reach it.
    capabilities: Arc<Json>,
    /// The `_meta` for servers, without the members that belong to this hop.
    meta: Option<Map<String, Json>>,
    ask_mode: AskMode,
    /// Replaced when a suspended call is resumed by another request; `None` in between.
    link: Mutex<Option<RequestLink>>,
    /// Why the client has cancelled the call. Empty until then, or if it gave no reason.
    cancel_reason: GivenReason,
}

impl CallHost {
    /// `link` is that of the request that begins the call.
    pub(crate) fn new(
        session: Arc<ClientSession>,
        capabilities: Arc<Json>,
        meta: Option<Map<String, Json>>,
        ask_mode: AskMode,
        link: RequestLink,
        cancel_reason: GivenReason,
    ) -> CallHost {
        let link = Mutex::new(Some(link));
        CallHost { session, capabilities, meta, ask_mode, link, cancel_reason }
    }

    fn link(&self) -> MutexGuard<'_, Option<RequestLink>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches the call to another request, or to none while it is suspended.
    ///
    /// Messages that the call sends while there is no link are lost, except for questions, which
    /// wait in the queue of `AskMode::Suspension`.
    pub(crate) fn set_link(&self, link: Option<RequestLink>) {
        *self.link() = link;
    }

    /// The token that the client chose for progress.
    pub(crate) fn progress_token(&self) -> Option<Json> {
        self.link().as_ref().and_then(|link| link.progress_token.clone())
    }

    /// Queues a message. Executors must not be blocked by a slow client, so a full queue loses it.
    ///
    /// Also lost if the client has left.
    fn notify(link: &RequestLink, method: &str, params: &Json) {
        let _ = link.queue.try_send(Message::notification(method, params).to_bytes());
    }

    /// Sends a request to the client and waits for its response.
    async fn ask_client(&self, request: ServerRequest) -> ClientAnswer {
        let queue = self.link().as_ref().map(|link| link.queue.clone());
        let Some(queue) = queue else { return Err(no_client()) };
        ask_client(Arc::clone(&self.session), queue, request).await
    }
}

/// Sends a request to a client, on the stream of a call, and waits for its response. When the
/// future is dropped, the client is notified that the question is withdrawn.
async fn ask_client(
    session: Arc<ClientSession>,
    queue: MessageSender,
    request: ServerRequest,
) -> ClientAnswer {
    let (id, answer) = session.open_question();
    let withdrawal = Arc::clone(&request.withdrawal);
    let question = OpenQuestion { session, id, queue: queue.downgrade(), withdrawal };
    // Clients refuse `null` where the server sent no parameters.
    let params = (!request.params.is_null()).then(|| raw_json(&request.params));
    let message = Message::request(RequestId::Number(id), &request.method, params);
    let sent = queue.send(message.to_bytes()).await;
    // The result of the call waits for all who can send before it.
    drop(queue);
    if sent.is_err() {
        return Err(no_client());
    }
    let answer = answer.await.unwrap_or_else(|_| Err(no_client()));
    drop(question);
    answer
}

/// Asks a client on the stream of its session, when no call of it is running.
///
/// For servers that ask for roots, say, outside of any call. The capabilities are those of the
/// handshake.
pub(crate) fn asker_beyond_calls(session: &Arc<ClientSession>) -> ClientAsker {
    let session = Arc::clone(session);
    Arc::new(move |request| {
        let session = Arc::clone(&session);
        Box::pin(async move {
            let capabilities = session.handshake().map(|it| it.capabilities).unwrap_or_default();
            if let Some(error) = missing_capability(&capabilities, &request) {
                return Err(error);
            }
            let (queue, mut messages) = message_queue(1);
            let sending = async {
                while let Some(message) = messages.receive().await {
                    session.sink.send(message.into()).await;
                }
            };
            let asking = ask_client(Arc::clone(&session), queue, request);
            futures::join!(asking, sending).0
        })
    })
}

/// A question without an answer. Dropped before the answer, it withdraws the question: on the
/// stream of the call, or on that of the session if the call has ended. The queue is weak, so that
/// a question does not keep the call's stream open.
struct OpenQuestion {
    session: Arc<ClientSession>,
    id: i64,
    queue: WeakMessageSender,
    /// What the server said.
    withdrawal: GivenReason,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if !self.session.close_question(self.id) {
            return;
        }
        let reason = self.withdrawal.get().map_or("the call has ended", String::as_str);
        let params = json!({"requestId": self.id, "reason": reason});
        let message = Message::notification("notifications/cancelled", &params).to_bytes();
        if let Some(queue) = self.queue.upgrade() {
            let _ = queue.try_send(message);
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let session = Arc::clone(&self.session);
            runtime.spawn(async move { session.sink.send(message.into()).await });
        }
    }
}

impl Host for CallHost {
    fn progress(&self, progress: Progress) {
        let link = self.link();
        let Some(link) = link.as_ref() else { return };
        let Some(token) = &link.progress_token else { return };
        let mut params = progress.given;
        params["progressToken"] = token.clone();
        CallHost::notify(link, "notifications/progress", &params);
    }

    fn wants_progress(&self) -> bool {
        self.link().as_ref().is_some_and(|link| link.progress_token.is_some())
    }

    fn log(&self, message: &Json) {
        let link = self.link();
        let Some(link) = link.as_ref() else { return };
        if link.wants_log(message) {
            CallHost::notify(link, "notifications/message", message);
        }
    }

    fn wants_log(&self, message: &Json) -> bool {
        self.link().as_ref().is_some_and(|link| link.wants_log(message))
    }

    fn client_capabilities(&self) -> Json {
        (*self.capabilities).clone()
    }

    fn ask<'a>(&'a self, requests: Vec<ServerRequest>) -> BoxFuture<'a, Vec<ClientAnswer>> {
        Box::pin(async move {
            let mut answers: Vec<Option<ClientAnswer>> = Vec::with_capacity(requests.len());
            let mut permitted = Vec::new();
            for request in requests {
                match missing_capability(&self.capabilities, &request) {
                    Some(missing) => answers.push(Some(Err(missing))),
                    None => {
                        answers.push(None);
                        permitted.push(request);
                    }
                }
            }
            let given = match &self.ask_mode {
                _ if permitted.is_empty() => Vec::new(),
                AskMode::Requests => {
                    join_all(permitted.into_iter().map(|request| self.ask_client(request))).await
                }
                AskMode::Suspension(queue) => queue.ask(permitted).await,
            };
            let mut given = given.into_iter();
            let answer = |known: Option<ClientAnswer>| {
                known.or_else(|| given.next()).unwrap_or_else(|| Err(no_client()))
            };
            answers.into_iter().map(answer).collect()
        })
    }

    fn ask_beyond_call(&self, request: &ServerRequest) -> Option<BoxFuture<'static, ClientAnswer>> {
        let AskMode::Requests = self.ask_mode else { return None };
        if missing_capability(&self.capabilities, request).is_some() {
            return None;
        }
        let queue = self.link().as_ref().map(|link| link.queue.clone())?;
        Some(Box::pin(ask_client(Arc::clone(&self.session), queue, request.clone())))
    }

    fn meta(&self) -> Option<Map<String, Json>> {
        self.meta.clone()
    }

    fn ask_grant<'a>(&'a self, question: &'a GrantQuestion) -> BoxFuture<'a, Option<GrantAnswer>> {
        Box::pin(grant_questions::ask(self, question))
    }

    fn agent(&self) -> &str {
        &self.session.agent
    }

    fn cancel_reason(&self) -> Option<String> {
        self.cancel_reason.get().cloned()
    }

    fn is_asked_in_results(&self) -> bool {
        matches!(self.ask_mode, AskMode::Suspension(_))
    }

    fn session(&self) -> Option<SessionNumber> {
        Some(self.session.number)
    }
}

/// The error for a question whose client has left.
pub(crate) fn no_client() -> RpcError {
    RpcError::new(error_code::INTERNAL_ERROR, "the client has left")
}

/// The error for a request of a server that the client did not declare to support.
///
/// `None` if the client can be asked. MCP forbids requests whose capability was not declared.
///
/// The data of the error names the capability in the form that 2026-07-28 defines.
pub(crate) fn missing_capability(capabilities: &Json, request: &ServerRequest) -> Option<RpcError> {
    let needed = match request.method.as_str() {
        "elicitation/create" => "elicitation",
        "sampling/createMessage" => "sampling",
        "roots/list" => "roots",
        "tasks/get" | "tasks/result" | "tasks/cancel" => "tasks",
        method => {
            let message = format!("clients do not answer `{method}`");
            return Some(RpcError::new(error_code::METHOD_NOT_FOUND, message));
        }
    };
    let declared = capabilities.get(needed).is_some_and(Json::is_object);
    // A client that names modes answers those; one that names none answers forms.
    let mode = request.params.get("mode").and_then(Json::as_str).unwrap_or("form");
    let modes = capabilities.get(needed).and_then(Json::as_object);
    let has_mode = needed != "elicitation"
        || modes.is_some_and(|modes| match mode {
            "form" => modes.contains_key("form") || !modes.contains_key("url"),
            mode => modes.contains_key(mode),
        });
    if declared && has_mode {
        return None;
    }
    let mut error = RpcError::new(
        MISSING_CAPABILITY,
        format!(
            "the client does not have the capability `{needed}` that `{}` needs",
            request.method
        ),
    );
    let required = match (needed, mode) {
        ("elicitation", "url") => json!({"elicitation": {"url": {}}}),
        (needed, _) => json!({needed: {}}),
    };
    error.data = Some(json!({"requiredCapabilities": required}));
    Some(error)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use toolwright_exec::LOCAL_AGENT;

    use super::*;
    use crate::message_sink::NullSink;
    use crate::request_queue::MessageReceiver;

    fn request(method: &str, params: Json) -> ServerRequest {
        let withdrawal = GivenReason::default();
        ServerRequest { key: None, source: "s".into(), method: method.into(), params, withdrawal }
    }

    fn host(capabilities: Json) -> (Arc<ClientSession>, CallHost, MessageReceiver) {
        let session = ClientSession::new(SessionNumber(1), Arc::new(NullSink), LOCAL_AGENT);
        let (queue, messages) = message_queue(MAX_QUEUED);
        let link =
            RequestLink { queue, progress_token: None, log_level: Some(MessageLevel::Warning) };
        let (own, mode) = (Arc::clone(&session), AskMode::Requests);
        (
            session,
            CallHost::new(own, Arc::new(capabilities), None, mode, link, GivenReason::default()),
            messages,
        )
    }

    #[tokio::test]
    async fn questions_become_requests_and_answers_keep_their_order() {
        let (session, host, mut messages) = host(json!({"elicitation": {}, "roots": {}}));
        let questions = vec![
            request("elicitation/create", json!({"message": "name?"})),
            request("sampling/createMessage", json!({})),
            request("roots/list", json!({})),
        ];
        let client = async {
            let mut asked = Vec::new();
            for _ in 0..2 {
                let message = messages.receive().await.expect("a question");
                let Ok(Message::Request(request)) = Message::parse(&message) else { panic!() };
                asked.push(request);
            }
            // Answered in the other order.
            for request in asked.into_iter().rev() {
                let outcome = Ok(raw_json(&json!({"to": request.method})));
                let id = Some(request.id);
                session.accept_response(toolwright_mcp::RpcResponse { id, outcome });
            }
        };
        let (answers, ()) = tokio::join!(host.ask(questions), client);
        assert_eq!(answers[0], Ok(json!({"to": "elicitation/create"})));
        let refused = answers[1].as_ref().expect_err("not declared");
        assert_eq!(refused.code, MISSING_CAPABILITY);
        assert_eq!(refused.data, Some(json!({"requiredCapabilities": {"sampling": {}}})));
        assert_eq!(answers[2], Ok(json!({"to": "roots/list"})));
    }

    #[tokio::test]
    async fn a_question_of_a_dropped_call_is_withdrawn() {
        let (_, host, mut messages) = host(json!({"elicitation": {}}));
        let asking = host.ask(vec![request("elicitation/create", json!({}))]);
        let asked = async { messages.receive().await.expect("the question") };
        let id = tokio::select! {
            _ = asking => panic!("nobody answers"),
            question = asked => match Message::parse(&question) {
                Ok(Message::Request(request)) => request.id,
                other => panic!("{other:?}"),
            },
        };
        let Ok(Message::Notification(withdrawn)) =
            Message::parse(&messages.receive().await.expect("a notification"))
        else {
            panic!()
        };
        assert_eq!(withdrawn.method, "notifications/cancelled");
        let params = withdrawn.params.expect("an object");
        assert!(params.get().contains(&format!("\"requestId\":{}", id.to_json())), "{params}");
    }

    #[test]
    fn log_messages_below_the_level_are_dropped() {
        let (_, host, mut messages) = host(json!({}));
        host.log(&json!({"level": "info", "data": "no"}));
        host.log(&json!({"level": "error", "data": "yes"}));
        let sent = messages.receive().now_or_never().flatten().expect("one message");
        assert!(String::from_utf8_lossy(&sent).contains("yes"));
        assert!(messages.receive().now_or_never().is_none());
    }

    #[test]
    fn modes_of_elicitation_must_be_declared() {
        let url = request("elicitation/create", json!({"mode": "url"}));
        let form = request("elicitation/create", json!({}));
        for (capabilities, has_form, has_url) in [
            (json!({}), false, false),
            (json!({"elicitation": {}}), true, false),
            (json!({"elicitation": {"form": {}}}), true, false),
            (json!({"elicitation": {"url": {}}}), false, true),
            (json!({"elicitation": {"form": {}, "url": {}}}), true, true),
        ] {
            let is_answered = |request| missing_capability(&capabilities, request).is_none();
            assert_eq!((is_answered(&form), is_answered(&url)), (has_form, has_url));
        }
    }
}
