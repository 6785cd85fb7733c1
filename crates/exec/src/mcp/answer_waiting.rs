//! Waits for the answer of a request that was sent, and passes on to the host what arrives before
//! it: progress, log messages, and questions of the server, whose answers go back to the server.
//!
//! ```text
//! dispatcher ─▶ OpenRequest ─▶ wait_for_answer ─▶ progress, log, questions ─▶ Host
//!                                     │ result or error          answers │
//!                                     ▼                                  ▼
//!                                   caller                        reply to the server
//! ```
//!
//! This loop runs in the task of the caller, so a host that is slow holds up only its own call.
//! Several questions may be open at a time, and answers come in any order. When the answer of the
//! request arrives, what is still open is refused, or handed to another call of the same client
//! that may have asked it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::future::{AbortHandle, Abortable};
use futures::stream::FuturesUnordered;
use serde_json::value::RawValue;
use toolwright_mcp::{Message, RequestId, RpcError, error_code, raw_json};

use super::NoRootsReason;
use super::connection::UpstreamConnection;
use super::http_client::HttpFailure;
use super::open_request::{OpenRequest, RequestEvent, ServerQuestion, UpstreamAnswer};
use super::questions::check_capability;
use super::request_sending::{AttemptError, RequestCaller};
use crate::{CallClock, ClientAnswer, ClockPause, ServerRequest};

/// How long a call may take to end without the answer to a doubtful question, so that it shows not
/// to have asked it.
const DOUBTFUL_HOLD: Duration = Duration::from_millis(500);

/// Why a question is refused that nobody waits for any more.
const CALL_ENDED: &str = "the call that asked has ended";

impl UpstreamConnection {
    /// Waits for the answer of a request, and passes on to the host what arrives before it.
    /// `exchange` carries the request over HTTP; its end without an answer is an error.
    ///
    /// Dropping the future drops the questions; the caller's `PendingRequest` cancels the request.
    pub(super) async fn wait_for_answer(
        &self,
        open: &OpenRequest,
        caller: &RequestCaller<'_>,
        exchange: impl Future<Output = Result<(), HttpFailure>>,
    ) -> Result<Box<RawValue>, AttemptError> {
        tokio::pin!(exchange);
        let mut is_exchanging = true;
        // Made at the first question: nearly all requests have none.
        let mut questions = None;
        let mut unanswered: Vec<UnansweredQuestion> = Vec::new();
        let mut pauses: Vec<(RequestId, ClockPause<'_>)> = Vec::new();
        loop {
            // Biased towards events: what came before the answer is passed on first.
            let event = tokio::select! {
                biased;
                event = open.next() => event,
                Some(answered) = next_answer(&mut questions) => {
                    // `Err`: the server has withdrawn the question.
                    if let Ok((id, mut answer)) = answered {
                        if let (Some(link), Ok(answer)) = (&open.task, &mut answer) {
                            link.hide(answer);
                        }
                        unanswered.retain(|question| question.id != id);
                        self.dispatcher.close_question(&id);
                        self.dispatcher.client_tasks.note(&answer);
                        self.reply(id, answer);
                        caller.clock.inspect(|clock| clock.restart());
                    }
                    continue;
                }
                ended = &mut exchange, if is_exchanging => match ended {
                    Ok(()) => {
                        is_exchanging = false;
                        continue;
                    }
                    Err(error) => return Err(AttemptError::Http(error)),
                },
            };
            match event {
                RequestEvent::Progress(progress) => {
                    caller.clock.inspect(|clock| clock.restart());
                    caller.host.progress(progress);
                }
                RequestEvent::Log(notification) => {
                    match notification.is_attributed || caller.host.wants_log(&notification.params)
                    {
                        true => caller.host.log(&notification.params),
                        false => self.dispatcher.pass_on_log(open, notification),
                    }
                }
                RequestEvent::Paused(id) => {
                    pauses.extend(caller.clock.map(|clock| (id, clock.pause())));
                }
                RequestEvent::Resumed(id) => pauses.retain(|(question, _)| *question != id),
                RequestEvent::Question(question) if self.ask_beyond_call(&question, caller) => {}
                RequestEvent::Question(question) => {
                    let (abort, registration) = AbortHandle::new_pair();
                    let id = question.id.clone();
                    unanswered.push(UnansweredQuestion { id, abort, question: question.clone() });
                    let asking = self.ask(question, caller);
                    questions
                        .get_or_insert_with(FuturesUnordered::new)
                        .push(Abortable::new(asking, registration));
                }
                RequestEvent::Withdrawn(id) => {
                    self.dispatcher.close_question(&id);
                    unanswered.extract_if(.., |it| it.id == id).for_each(|it| it.abort.abort());
                }
                RequestEvent::Answer(answer) => {
                    // The server must not wait for answers that nobody gives any more.
                    for UnansweredQuestion { id, question, .. } in unanswered {
                        let why = match question.is_doubtful {
                            true => self.dispatcher.log_unattributed(&question.method),
                            // Another call of the client may have asked.
                            false
                                if !question.is_attributed
                                    && self.dispatcher.pass_on_question(open, question) =>
                            {
                                continue;
                            }
                            false => CALL_ENDED.to_owned(),
                        };
                        self.reply(id, Err(RpcError::new(error_code::INVALID_REQUEST, why)));
                    }
                    return match answer {
                        UpstreamAnswer::Result(result) => Ok(result),
                        UpstreamAnswer::Error(error) => Err(AttemptError::Answered(error)),
                        UpstreamAnswer::TooLarge => Err(AttemptError::TooLarge),
                        UpstreamAnswer::ConnectionEnded => Err(AttemptError::Ended),
                    };
                }
            }
        }
    }

    /// Passes a question that may be of any open call of the client to the host, and waits for the
    /// answer in a task of its own. Returns false if this call has to ask. Every question comes by
    /// here, so this notes who is asked for roots.
    fn ask_beyond_call(&self, question: &ServerQuestion, caller: &RequestCaller<'_>) -> bool {
        let ServerQuestion { id, method, params, is_doubtful, is_attributed, withdrawal } =
            question;
        if let Some(session) = caller.host.session().filter(|_| method == "roots/list") {
            let asked = self.links.asked_for_roots.lock();
            asked.unwrap_or_else(PoisonError::into_inner).insert(session);
        }
        let capabilities = caller.host.client_capabilities();
        if *is_doubtful
            || *is_attributed
            || check_capability(&capabilities, method, params).is_err()
        {
            return false;
        }
        let (source, method, params) = (self.source.clone(), method.clone(), params.clone());
        let withdrawal = Arc::clone(withdrawal);
        let request = ServerRequest { key: None, source, method, params, withdrawal };
        let Some(asking) = caller.host.ask_beyond_call(&request) else { return false };
        // The server has withdrawn it.
        let Some(given_up) = self.dispatcher.share_question(id) else { return true };
        let (dispatcher, wire, id) =
            (Arc::clone(&self.dispatcher), self.wire().clone(), id.clone());
        tokio::spawn(async move {
            let answer = tokio::select! {
                answer = asking => answer,
                () = given_up.cancelled() => {
                    Err(RpcError::new(error_code::INVALID_REQUEST, CALL_ENDED))
                }
            };
            if dispatcher.close_question(&id) {
                dispatcher.client_tasks.note(&answer);
                wire.send_later(response(id, answer));
            }
        });
        true
    }

    /// Passes a question to the host, if its client can answer it.
    ///
    /// The clock of the call stands still while the client answers: a person may think. A doubtful
    /// question is held first, see `question_routing`.
    async fn ask(
        &self,
        question: ServerQuestion,
        caller: &RequestCaller<'_>,
    ) -> (RequestId, ClientAnswer) {
        let ServerQuestion { id, method, params, is_doubtful, withdrawal, .. } = question;
        let capabilities = caller.host.client_capabilities();
        if let Err(error) = check_capability(&capabilities, &method, &params) {
            match method == "roots/list" {
                true => self.links.log.no_roots(NoRootsReason::NoCapability, &error.message),
                false => self.links.log.line(&error.message),
            }
            return (id, Err(error));
        }
        if is_doubtful {
            tokio::time::sleep(DOUBTFUL_HOLD).await;
        }
        let _pause = caller.clock.map(CallClock::pause);
        let source = self.source.clone();
        let request = ServerRequest { key: None, source, method, params, withdrawal };
        let mut answers = caller.host.ask(vec![request]).await;
        let answer = answers.pop().unwrap_or_else(|| {
            Err(RpcError::new(error_code::INTERNAL_ERROR, "the client did not answer"))
        });
        (id, answer)
    }

    /// Answers a question of the server.
    fn reply(&self, id: RequestId, answer: ClientAnswer) {
        self.wire().send_later(response(id, answer));
    }

    /// Refuses questions of the server that nobody waits for any more.
    pub(super) fn refuse_questions(&self, ids: Vec<RequestId>) {
        for id in ids {
            self.reply(id, Err(RpcError::new(error_code::INVALID_REQUEST, CALL_ENDED)));
        }
    }
}

/// The answer to a question, as a message.
fn response(id: RequestId, answer: ClientAnswer) -> Vec<u8> {
    Message::response(id, answer.map(|result| raw_json(&result))).to_bytes()
}

/// A question that the client has not answered yet, and that only this call can ask.
///
/// Kept in order to refuse it, or to pass it on, when the call ends.
struct UnansweredQuestion {
    id: RequestId,
    /// Used when the server withdraws the question. The host's future is dropped then.
    abort: AbortHandle,
    question: ServerQuestion,
}

/// The next of the answers that are waited for; `None` if there are none.
async fn next_answer<F: Future>(waiting: &mut Option<FuturesUnordered<F>>) -> Option<F::Output> {
    match waiting {
        Some(waiting) => waiting.next().await,
        None => None,
    }
}
