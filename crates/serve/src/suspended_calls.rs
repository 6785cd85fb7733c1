//! Calls of stateless clients that wait for an answer of the person.
//!
//! Such a client cannot be sent requests. Its call is answered with the questions instead
//! (`input_required`), goes on waiting here, and is continued by another request:
//!
//! ```text
//! tools/call ─▶ call runs ─▶ asks ─▶ answer: input_required, requestState = handle ─┐
//!                  ▲                                                                │ 10 minutes
//! tools/call with inputResponses and requestState ─▶ SuspendedCalls::take ◀─────────┘ at most
//!                  └─▶ answer: its next questions, or its result
//! ```
//!
//! A server with a handshake sends its questions one by one, so a call is suspended a moment after
//! the last one ([`GATHER_TIME`]): the client gets all of them in one result.
//!
//! A handle is random, belongs to one session and is used once. A call that is not continued in
//! time is cancelled, and so is the oldest if there are too many.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toolwright_exec::{ClientAnswer, ServerRequest, SessionNumber};
use toolwright_mcp::RpcError;

use crate::call_host::{CallHost, no_client};
use crate::handles::random_handle;
use crate::result_body::ResultBody;

/// How long a call waits to be continued.
const MAX_WAIT: Duration = Duration::from_secs(10 * 60);
/// How many calls may wait at once.
const MAX_WAITING: usize = 1000;

/// How long a call waits for further questions of a server that asks one by one.
pub(crate) const GATHER_TIME: Duration = Duration::from_millis(100);

/// The result of a method.
pub(crate) type MethodResult = Result<ResultBody, RpcError>;

/// Questions that a server asked together, and where their answers go.
pub(crate) struct QuestionRound {
    /// Each with the key under which the client answers it.
    questions: Vec<(String, ServerRequest)>,
    /// Answers that were given already, by key.
    answers: HashMap<String, ClientAnswer>,
    reply: oneshot::Sender<Vec<ClientAnswer>>,
    /// Whether others may follow that belong to it.
    pub(crate) may_grow: bool,
}

impl QuestionRound {
    /// Takes the answers to its questions out of those of a client: an answer counts once, because
    /// a server may ask again under the same key. Answers that are not objects and keys that nobody
    /// asked for are left. Returns the round if answers are still missing.
    pub(crate) fn answer(mut self, responses: &mut Map<String, Json>) -> Option<QuestionRound> {
        for (key, _) in &self.questions {
            if responses.get(key).is_some_and(Json::is_object)
                && let Some(response) = responses.remove(key)
            {
                self.answers.entry(key.clone()).or_insert(Ok(response));
            }
        }
        if self.questions.iter().any(|(key, _)| !self.answers.contains_key(key)) {
            return Some(self);
        }
        let mut answers = self.answers;
        let in_order = self.questions.iter().map(|(key, _)| answers.remove(key));
        let in_order = in_order.map(|answer| answer.unwrap_or_else(|| Err(no_client()))).collect();
        // The call may have ended meanwhile.
        let _ = self.reply.send(in_order);
        None
    }

    /// Whether nobody waits for the answers any more.
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.reply.is_closed()
    }

    /// The questions without an answer, as members of `inputRequests` in a result.
    fn to_json(&self) -> Map<String, Json> {
        let open = self.questions.iter().filter(|(key, _)| !self.answers.contains_key(key));
        let open = open.map(|(key, request)| {
            let mut question = json!({"method": request.method});
            if !request.params.is_null() {
                question["params"] = request.params.clone();
            }
            (key.clone(), question)
        });
        open.collect()
    }
}

/// The end of a call where its questions go in.
pub(crate) struct QuestionQueue {
    rounds: mpsc::UnboundedSender<QuestionRound>,
    /// Questions so far, so that each has a key of its own.
    asked: AtomicUsize,
}

impl QuestionQueue {
    /// A queue and the end where questions come out.
    pub(crate) fn new() -> (QuestionQueue, mpsc::UnboundedReceiver<QuestionRound>) {
        let (sender, rounds) = mpsc::unbounded_channel();
        (QuestionQueue { rounds: sender, asked: AtomicUsize::new(0) }, rounds)
    }

    /// Asks and waits for all answers.
    pub(crate) async fn ask(&self, requests: Vec<ServerRequest>) -> Vec<ClientAnswer> {
        let count = requests.len();
        let mut questions: Vec<(String, ServerRequest)> = Vec::with_capacity(count);
        // A server that gives keys asks everything at once.
        let may_grow = requests.iter().all(|request| request.key.is_none());
        for request in requests {
            let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
            // Keys of servers are kept, so that a client recognises a question that is repeated.
            let is_free = |key: &String| questions.iter().all(|(known, _)| known != key);
            let key = request.key.clone().filter(is_free);
            questions.push((key.unwrap_or_else(|| format!("question-{number}")), request));
        }
        let (reply, answers) = oneshot::channel();
        let round = QuestionRound { questions, answers: HashMap::new(), reply, may_grow };
        let lost = || (0..count).map(|_| Err(no_client())).collect();
        if self.rounds.send(round).is_err() {
            return lost();
        }
        answers.await.unwrap_or_else(|_| lost())
    }
}

/// A call in a task of its own. Dropping this ends the call.
pub(crate) struct DetachedCall {
    pub(crate) rounds: mpsc::UnboundedReceiver<QuestionRound>,
    pub(crate) task: JoinHandle<MethodResult>,
    pub(crate) host: Arc<CallHost>,
}

impl Drop for DetachedCall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A call that waits for its client.
pub(crate) struct SuspendedCall {
    pub(crate) session: SessionNumber,
    /// The method and its subject, such as the name of a tool: a retry must name the same.
    pub(crate) subject: (String, String),
    pub(crate) rounds: Vec<QuestionRound>,
    pub(crate) call: DetachedCall,
}

/// All calls that wait, by handle.
#[derive(Default)]
pub(crate) struct SuspendedCalls(Mutex<HashMap<String, (Instant, SuspendedCall)>>);

impl SuspendedCalls {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, (Instant, SuspendedCall)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Suspends a call and returns the answer to its request.
    pub(crate) fn suspend(&self, call: SuspendedCall) -> ResultBody {
        call.call.host.set_link(None);
        let handle = random_handle();
        let questions: Map<String, Json> =
            call.rounds.iter().flat_map(QuestionRound::to_json).collect();
        let result = json!({
            "resultType": "input_required",
            "inputRequests": questions,
            "requestState": handle,
        });
        let mut waiting = self.waiting();
        remove_expired(&mut waiting);
        if waiting.len() >= MAX_WAITING {
            let oldest = waiting.iter().min_by_key(|(_, (since, _))| *since);
            let oldest = oldest.map(|(handle, _)| handle.clone());
            oldest.map(|handle| waiting.remove(&handle));
        }
        waiting.insert(handle, (Instant::now(), call));
        ResultBody::Json(result)
    }

    /// The call with this handle, if it belongs to this session and request. The handle is used up;
    /// a guess at the handle of another session is not.
    pub(crate) fn take(
        &self,
        handle: &str,
        session: SessionNumber,
        subject: &(String, String),
    ) -> Option<SuspendedCall> {
        let mut waiting = self.waiting();
        remove_expired(&mut waiting);
        let (_, call) = waiting.get(handle)?;
        if call.session != session || call.subject != *subject {
            return None;
        }
        waiting.remove(handle).map(|(_, call)| call)
    }

    /// Cancels the calls of a session that has ended.
    pub(crate) fn end_session(&self, session: SessionNumber) {
        self.waiting().retain(|_, (_, call)| call.session != session);
    }

    /// Whether a call of this session waits for its client.
    pub(crate) fn has_calls_of(&self, session: SessionNumber) -> bool {
        let mut waiting = self.waiting();
        remove_expired(&mut waiting);
        waiting.values().any(|(_, call)| call.session == session)
    }

    /// Cancels the calls that were not continued in time.
    pub(crate) fn remove_expired(&self) {
        remove_expired(&mut self.waiting());
    }
}

fn remove_expired(waiting: &mut HashMap<String, (Instant, SuspendedCall)>) {
    waiting.retain(|_, (since, _)| since.elapsed() < MAX_WAIT);
}

#[cfg(test)]
mod tests {
    use toolwright_exec::{GivenReason, LOCAL_AGENT};

    use super::*;
    use crate::call_host::{AskMode, RequestLink};
    use crate::client_session::ClientSession;
    use crate::message_sink::NullSink;
    use crate::request_queue::message_queue;

    fn request(key: Option<&str>) -> ServerRequest {
        ServerRequest {
            key: key.map(str::to_owned),
            source: "s".into(),
            method: "elicitation/create".into(),
            params: json!({"message": "?"}),
            withdrawal: GivenReason::default(),
        }
    }

    fn responses(pairs: Json) -> Map<String, Json> {
        pairs.as_object().expect("an object").clone()
    }

    #[tokio::test]
    async fn a_round_is_answered_when_all_questions_are() {
        let (queue, mut rounds) = QuestionQueue::new();
        let asking = queue.ask(vec![request(Some("a")), request(None), request(Some("a"))]);
        let client = async {
            let round = rounds.recv().await.expect("a round");
            assert_eq!(
                round.to_json().keys().collect::<Vec<_>>(),
                ["a", "question-2", "question-3"]
            );
            let mut first = responses(json!({"a": {"n": 1}, "question-2": 5, "other": {}}));
            let round = round.answer(&mut first).expect("one is missing and one is not an object");
            assert_eq!(round.to_json().len(), 2);
            assert_eq!(first.keys().collect::<Vec<_>>(), ["other", "question-2"]);
            let mut rest = responses(json!({"question-2": {"n": 2}, "question-3": {"n": 3}}));
            assert!(round.answer(&mut rest).is_none());
        };
        let (answers, ()) = tokio::join!(asking, client);
        let expected: Vec<ClientAnswer> = (1..=3).map(|n| Ok(json!({"n": n}))).collect();
        assert_eq!(answers, expected);
    }

    /// A call that never ends, suspended for this session; its task sends when it is dropped.
    async fn suspended(session: u64) -> (SuspendedCall, oneshot::Receiver<()>) {
        let (ended, end) = oneshot::channel();
        let (queue, mut rounds) = QuestionQueue::new();
        let owner = ClientSession::new(SessionNumber(session), Arc::new(NullSink), LOCAL_AGENT);
        let (link, _) = message_queue(1);
        let link = RequestLink { queue: link, progress_token: None, log_level: None };
        let mode = AskMode::Suspension(queue);
        let (able, reason) = (Arc::new(json!({"elicitation": {}})), GivenReason::default());
        let host = Arc::new(CallHost::new(owner, able, None, mode, link, reason));
        let asker = Arc::clone(&host);
        let task = tokio::spawn(async move {
            // Moved into the task, so that it is dropped with it.
            let _ended = ended;
            toolwright_exec::Host::ask(&*asker, vec![request(Some("a"))]).await;
            std::future::pending().await
        });
        let asked = vec![rounds.recv().await.expect("the question")];
        let call = DetachedCall { rounds, task, host };
        let subject = ("tools/call".to_owned(), "x".to_owned());
        (SuspendedCall { session: SessionNumber(session), subject, rounds: asked, call }, end)
    }

    fn handle_of(result: &ResultBody) -> String {
        let ResultBody::Json(result) = result else { panic!() };
        assert_eq!(result["resultType"], "input_required");
        result["requestState"].as_str().expect("a handle").to_owned()
    }

    #[tokio::test]
    async fn a_handle_belongs_to_its_session_and_request_and_is_used_once() {
        let calls = SuspendedCalls::default();
        let (call, end) = suspended(1).await;
        let subject = call.subject.clone();
        let handle = handle_of(&calls.suspend(call));
        let other = ("tools/call".to_owned(), "y".to_owned());
        assert!(calls.take(&handle, SessionNumber(2), &subject).is_none());
        assert!(calls.take(&handle, SessionNumber(1), &other).is_none());
        assert!(calls.take(&format!("{handle}x"), SessionNumber(1), &subject).is_none());
        let taken = calls.take(&handle, SessionNumber(1), &subject);
        assert!(taken.is_some());
        assert!(calls.take(&handle, SessionNumber(1), &subject).is_none());
        drop(taken);
        assert!(end.await.is_err(), "dropping a call ends its task");
    }

    #[tokio::test]
    async fn the_oldest_of_too_many_calls_is_cancelled() {
        let calls = SuspendedCalls::default();
        let (first, end) = suspended(1).await;
        let subject = first.subject.clone();
        let first = handle_of(&calls.suspend(first));
        for _ in 0..MAX_WAITING {
            calls.suspend(suspended(2).await.0);
        }
        assert!(end.await.is_err());
        assert!(calls.take(&first, SessionNumber(1), &subject).is_none());
        calls.end_session(SessionNumber(2));
        assert!(calls.waiting().is_empty());
    }
}
