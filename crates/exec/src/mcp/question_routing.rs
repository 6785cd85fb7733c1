//! Decides which client a question of a server belongs to (`elicitation/create`,
//! `sampling/createMessage`, `roots/list`), and keeps it until it is answered or withdrawn.
//!
//! ```text
//! on the stream of a POST ───────▶ the request of that POST
//! names a task ──────────────────▶ the open `tasks/result` of that task, once there is one;
//!                                  of a task that is being created, once it is known
//! all open requests of one client ▶ the newest of them, on behalf of all
//! anything else ─────────────────▶ refused, and logged
//! ```
//!
//! On standard streams and on the stream of a GET, a question does not name its request (the
//! progress token in its `_meta` is the server's own). It is passed on only if all open requests
//! are of one client, because the wrong person must never be asked. It is put to the client on the
//! stream of the newest of them, and belongs to all: it stays open until it is answered or the last
//! of them has ended, and their clocks stand still meanwhile.
//!
//! Many servers ask for the roots on their own, once, soon after the handshake. So the first
//! `roots/list` of a shared connection is doubtful: it is held back for a moment, and refused if
//! the call is answered without it (`answer_waiting`). After a client's roots have changed, the
//! next `roots/list` is answered by that client without a call, unless it may be of another's.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use toolwright_mcp::{Message, RequestId, RpcError, RpcRequest, error_code, raw_json};

use super::NoRootsReason;
use super::client_tasks::is_task_request;
use super::dispatcher::{ConnectionSharing, Dispatcher, LaterReply, NextStep, parse_params};
use super::open_request::{OpenRequest, RequestEvent, RequestOwner, ServerQuestion};
use super::tasks::related_task;
use crate::{ClientAsker, GivenReason, Json, ServerRequest, SessionNumber};

/// How long after a change of roots the server may ask for them without a call.
const TIME_TO_ASK_FOR_ROOTS: Duration = Duration::from_secs(10);
/// How long the client may take to answer that.
const TIME_TO_GIVE_ROOTS: Duration = Duration::from_secs(60);

/// How long a question about an unknown task waits for the answer that creates the task. A server
/// that starts a task before it answers may be that much ahead of itself.
const TIME_TO_CREATE_TASK: Duration = Duration::from_secs(5);

/// A client whose roots have changed.
pub(super) struct ChangedRoots {
    since: Instant,
    session: SessionNumber,
    /// `None` if those of another client have changed, too: it is not known whose are asked for.
    ask: Option<ClientAsker>,
}

impl Dispatcher {
    pub(super) fn receive_request(
        self: &Arc<Self>,
        request: RpcRequest,
        of: Option<i64>,
    ) -> NextStep {
        if let disconnect @ NextStep::Disconnect(_) = self.count_unrequested() {
            return disconnect;
        }
        let RpcRequest { id, method, params } = request;
        let refuse = |code, why: String| {
            NextStep::Reply(Message::response(id.clone(), Err(RpcError::new(code, why))))
        };
        match method.as_str() {
            "ping" => {
                let empty = raw_json(&serde_json::json!({}));
                NextStep::Reply(Message::response(id, Ok(empty)))
            }
            "elicitation/create" | "sampling/createMessage" | "roots/list" => {
                let mut params = parse_params(params.as_deref());
                // By the specification `task` is ignored where tasks were not announced. A client
                // that saw it would answer with a task that nobody can follow.
                let is_accepted =
                    self.sharing.session().is_some() && self.client_tasks.accepts(&method);
                if let Some(members) = params.as_object_mut().filter(|_| !is_accepted) {
                    members.shift_remove("task");
                }
                self.receive_question(id, method, params, of)
            }
            method if is_task_request(method) && self.sharing.session().is_some() => {
                let params = parse_params(params.as_deref());
                match params["taskId"].as_str().is_some_and(|task| self.client_tasks.has(task)) {
                    true => self.receive_question(id, method.to_owned(), params, of),
                    false => {
                        let why = "the client has made no such task for this server";
                        refuse(error_code::INVALID_PARAMS, why.to_owned())
                    }
                }
            }
            _ => refuse(error_code::METHOD_NOT_FOUND, format!("there is no method `{method}`")),
        }
    }

    /// Passes a question to the client that it belongs to, keeps it, or refuses it.
    fn receive_question(
        self: &Arc<Self>,
        id: RequestId,
        method: String,
        mut params: Json,
        of: Option<i64>,
    ) -> NextStep {
        let is_roots = method == "roots/list" && of.is_none();
        let is_doubtful = is_roots && self.expects_own_roots.swap(false, Ordering::Relaxed);
        if is_roots && let Some(reply) = self.ask_for_changed_roots(&id, &params) {
            return NextStep::ReplyLater(reply);
        }
        let task = related_task(&params);
        let is_early = task.as_deref().is_some_and(|task| self.table().is_early(task, of));
        let found = match is_early {
            true => None,
            false => self.request_about(&mut params, of),
        };
        let is_attributed = found.as_ref().is_none_or(|(_, is_attributed)| *is_attributed);
        let withdrawal = GivenReason::default();
        let question =
            ServerQuestion { id, method, params, is_doubtful, is_attributed, withdrawal };
        match (found, task) {
            (Some((request, _)), _) => {
                let refusal = self.put_question(&request, question);
                refusal.map_or(NextStep::Continue, NextStep::Reply)
            }
            (None, Some(task)) if is_early => self.hold_early_question(task, question, of),
            // It becomes the question of the request for the result of the task.
            (None, Some(task)) if self.table().is_own_task(&task) => {
                let id = question.id.clone();
                match self.table().hold_question(task, question) {
                    Ok(()) => NextStep::Continue,
                    Err(why) => NextStep::Reply(refusal(id, why)),
                }
            }
            _ => NextStep::Reply(self.refuse_unattributed(question, of)),
        }
    }

    /// Puts a question to the client behind a request. Returns the refusal if it is one too many.
    ///
    /// Limits of open questions are per request and in all; see `RequestTable::open_question`.
    fn put_question(&self, request: &OpenRequest, question: ServerQuestion) -> Option<Message> {
        let opened = self.table().open_question(request, &question);
        if let Err(why) = opened {
            if !self.flood_logged.swap(true, Ordering::Relaxed) {
                self.log.line(&format!("requests of the server are refused: {why}"));
            }
            return Some(refusal(question.id, why));
        }
        request.push(RequestEvent::Question(question));
        None
    }

    /// Keeps a question about a task whose creation was not answered yet. If the task is still
    /// unknown after [`TIME_TO_CREATE_TASK`], the question is treated as if it named none.
    ///
    /// A question that the server withdraws meanwhile, or that the table gives up, is gone when the
    /// time is over, and nothing is sent.
    fn hold_early_question(
        self: &Arc<Self>,
        task: String,
        question: ServerQuestion,
        of: Option<i64>,
    ) -> NextStep {
        let id = question.id.clone();
        if let Err(why) = self.table().hold_question(task.clone(), question) {
            return NextStep::Reply(refusal(id, why));
        }
        let own = Arc::clone(self);
        NextStep::ReplyLater(LaterReply(Box::pin(async move {
            tokio::time::sleep(TIME_TO_CREATE_TASK).await;
            let mut table = own.table();
            if table.is_own_task(&task) {
                return None;
            }
            // Withdrawn, or asked meanwhile.
            let question = table.take_held_question(&task, &id)?;
            drop(table);
            let is_shared = own.sharing == ConnectionSharing::AllSessions;
            match own.request_of(of).filter(|_| of.is_some() || !is_shared) {
                Some(request) => own.put_question(&request, question),
                None => Some(own.refuse_unattributed(question, of)),
            }
        })))
    }

    /// The refusal of a question that belongs to nobody. It is logged.
    fn refuse_unattributed(&self, question: ServerQuestion, of: Option<i64>) -> Message {
        let ServerQuestion { id, method, .. } = question;
        let is_roots = method == "roots/list" && of.is_none();
        let why = match is_roots && !self.has_callers() {
            true => {
                let why = "`roots/list` is refused: no client has an open call";
                let line = format!("{why}; many servers ask at their start");
                self.log.no_roots(NoRootsReason::NoCall, &line);
                why.to_owned()
            }
            false => self.log_unattributed(&method),
        };
        refusal(id, why)
    }

    /// The request that a message belongs to, and whether it can be no other. A message that names
    /// a task belongs to the request for the result of that task; without one, to nobody.
    pub(super) fn request_about(
        &self,
        params: &mut Json,
        of: Option<i64>,
    ) -> Option<(Arc<OpenRequest>, bool)> {
        let Some(task) = related_task(params) else {
            return self.request_of(of).map(|request| (request, of.is_some()));
        };
        let waits_for = |request: &&Arc<OpenRequest>| {
            request.task.as_ref().is_some_and(|link| link.own == task)
        };
        let waiting = self.table().open.values().find(waits_for).cloned();
        let is_shared = self.sharing == ConnectionSharing::AllSessions;
        let request = match waiting {
            None if of.is_none() && is_shared => None,
            None => self.request_of(of),
            waiting => waiting,
        }?;
        if let Some(link) = &request.task {
            link.expose(params);
        }
        Some((request, true))
    }

    /// The request that a message without a name of its request belongs to.
    ///
    /// `None` if the open requests belong to more than one client, or to nobody: asking the wrong
    /// person would show one client's data to another.
    fn request_of(&self, of: Option<i64>) -> Option<Arc<OpenRequest>> {
        let table = self.table();
        if let Some(id) = of {
            return table.open.get(&id).filter(|it| it.owner != RequestOwner::Own).cloned();
        }
        let mut callers = table.open.values().filter(|it| it.owner != RequestOwner::Own);
        let mut newest = callers.next()?;
        for request in callers {
            // Two callers without a session may be two people.
            let is_same = request.owner == newest.owner
                && matches!(request.owner, RequestOwner::Caller(Some(_)));
            if !is_same {
                return None;
            }
            if request.id > newest.id {
                newest = request;
            }
        }
        Some(Arc::clone(newest))
    }

    /// Notes that the server is about to ask for the roots of this session.
    pub(super) fn expect_roots_of(&self, session: SessionNumber, ask: ClientAsker) {
        let mut changed = self.changed_roots.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_other = changed.as_ref().is_some_and(|other| {
            other.session != session && other.since.elapsed() < TIME_TO_ASK_FOR_ROOTS
        });
        let ask = (!is_of_other).then_some(ask);
        *changed = Some(ChangedRoots { since: Instant::now(), session, ask });
    }

    /// The answer to `roots/list` by the client whose roots have changed, unless an open request
    /// of another one may have asked.
    ///
    /// Each change answers one question. The lock is held while the requests are looked at, so that
    /// two questions cannot both take it.
    fn ask_for_changed_roots(&self, id: &RequestId, params: &Json) -> Option<LaterReply> {
        let mut changed = self.changed_roots.lock().unwrap_or_else(PoisonError::into_inner);
        let ChangedRoots { since, session, ask } = changed.take()?;
        let ask = ask.filter(|_| since.elapsed() < TIME_TO_ASK_FOR_ROOTS)?;
        let is_of_other = |request: &Arc<OpenRequest>| {
            !matches!(request.owner, RequestOwner::Own)
                && request.owner != RequestOwner::Caller(Some(session))
        };
        if self.table().open.values().any(is_of_other) {
            return None;
        }
        let (id, source) = (id.clone(), self.log.name.clone());
        let method = "roots/list".to_owned();
        let (params, withdrawal) = (params.clone(), GivenReason::default());
        let asking = ask(ServerRequest { key: None, source, method, params, withdrawal });
        Some(LaterReply(Box::pin(async move {
            let answer = tokio::time::timeout(TIME_TO_GIVE_ROOTS, asking).await;
            let answer = answer.unwrap_or_else(|_| {
                Err(RpcError::new(error_code::INTERNAL_ERROR, "the client did not answer"))
            });
            Some(Message::response(id, answer.map(|roots| raw_json(&roots))))
        })))
    }

    /// Logs that a question is refused because nobody can be asked, and returns the reason.
    pub(super) fn log_unattributed(&self, method: &str) -> String {
        let why = format!("`{method}` cannot be attributed to a client");
        let remedy = "`isolation = \"session\"` gives each client a server of its own";
        self.log.line(&format!("a request of the server was refused: {why}; {remedy}"));
        why
    }

    /// The server cancelled one of its questions.
    ///
    /// A question that nobody knows any more was answered already, and the notification is ignored.
    pub(super) fn withdraw(&self, id: &Json, reason: Option<&str>) {
        let Some(id) = RequestId::from_json(id) else { return };
        let mut table = self.table();
        table.held.retain(|held| held.question.id != id);
        let Some(question) = table.asked.get(&id) else { return };
        if let Some(reason) = reason {
            let _ = question.withdrawal.set(reason.to_owned());
        }
        let shared = question.shared.clone();
        let request = table.open.get(&question.request).cloned();
        drop(table);
        if let Some(shared) = shared {
            self.close_question(&id);
            shared.cancel();
        } else if let Some(request) = request {
            request.push(RequestEvent::Withdrawn(id));
        }
    }

    /// Notes that a question was answered or given up. Returns whether it was still open.
    pub(super) fn close_question(&self, id: &RequestId) -> bool {
        let mut table = self.table();
        let Some(question) = table.asked.remove(id) else { return false };
        if question.shared.is_some() {
            table
                .of_owner(question.owner)
                .for_each(|request| request.push(RequestEvent::Resumed(id.clone())));
        }
        true
    }

    /// Makes a question one of all requests of its client. The returned token is cancelled when it
    /// is given up; `None` if that has happened.
    ///
    /// The clocks of all these requests stand still until it is answered: any of them may be
    /// waiting for it.
    pub(super) fn share_question(&self, id: &RequestId) -> Option<CancellationToken> {
        let mut table = self.table();
        let question = table.asked.get_mut(id)?;
        let (owner, shared) = (question.owner, CancellationToken::new());
        question.shared = Some(shared.clone());
        table.of_owner(owner).for_each(|request| request.push(RequestEvent::Paused(id.clone())));
        Some(shared)
    }

    /// Passes a question of a request that has ended to another one of the same client. Returns
    /// false if there is none.
    pub(super) fn pass_on_question(&self, ended: &OpenRequest, question: ServerQuestion) -> bool {
        let mut table = self.table();
        let Some(other) = table.of_owner(ended.owner).max_by_key(|it| it.id).cloned() else {
            return false;
        };
        let Some(known) = table.asked.get_mut(&question.id) else { return false };
        known.request = other.id;
        other.push(RequestEvent::Question(question));
        true
    }
}

/// The answer to a question that nobody is asked.
fn refusal(id: RequestId, why: String) -> Message {
    Message::response(id, Err(RpcError::new(error_code::INVALID_REQUEST, why)))
}
