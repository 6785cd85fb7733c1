//! What a connection remembers between messages: the requests that are open, the questions of the
//! server that have no answer yet, and the tasks of clients. The dispatcher has one, behind a lock.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;
use toolwright_mcp::RequestId;

use super::client_tasks::is_task_request;
use super::open_request::{MAX_QUESTIONS, OpenRequest, RequestOwner, ServerQuestion};
use crate::GivenReason;

/// Questions of one call that may be open at the same time.
const MAX_OPEN_QUESTIONS: usize = 8;
/// Questions of one connection that may be open at the same time. Stateless clients can leave calls
/// behind that wait for an answer, and those must not keep others from being asked.
const MAX_OPEN_IN_ALL: usize = 1_000;
/// Questions about tasks that are kept until a client waits for the result.
const MAX_HELD: usize = 256;

/// What one connection has to remember.
#[derive(Default)]
pub(super) struct RequestTable {
    pub(super) open: HashMap<i64, Arc<OpenRequest>>,
    /// The questions that were passed on and have no answer yet.
    pub(super) asked: HashMap<RequestId, AskedQuestion>,
    /// Calls that were given up, and whose answer may be a task that must not go on. The oldest
    /// first.
    pub(super) abandoned: VecDeque<i64>,
    /// The tasks of clients whose result was not fetched.
    pub(super) tasks: HashMap<String, KeptTask>,
    /// The ids of the newest tasks, the oldest first: a question about one of them may come before
    /// its creator has read that it exists.
    pub(super) new_tasks: VecDeque<String>,
    /// Questions that wait for a request for the result of their task.
    pub(super) held: Vec<HeldQuestion>,
    /// How many requests were made; ids count from here.
    pub(super) made: i64,
    /// Set when the connection has ended, so that no request is added that nobody would end.
    pub(super) ended: bool,
}

/// A task of a client.
pub(super) struct KeptTask {
    /// The time until which it is kept.
    pub(super) until: Instant,
    /// Whether it runs, as far as is known.
    pub(super) is_running: bool,
}

/// A question about a task whose result no client waits for yet.
pub(super) struct HeldQuestion {
    task: String,
    pub(super) question: ServerQuestion,
}

/// A question that was passed on.
pub(super) struct AskedQuestion {
    /// The request that it was passed to.
    pub(super) request: i64,
    pub(super) owner: RequestOwner,
    /// Set if it belongs to all requests of the owner. Cancelled when the question is given up.
    pub(super) shared: Option<CancellationToken>,
    pub(super) withdrawal: GivenReason,
}

impl RequestTable {
    /// Whether a request of ours has created this task.
    pub(super) fn is_own_task(&self, task: &str) -> bool {
        self.tasks.contains_key(task) || self.new_tasks.iter().any(|own| own == task)
    }

    /// Notes a question, unless it is one too many.
    pub(super) fn open_question(
        &mut self,
        request: &OpenRequest,
        question: &ServerQuestion,
    ) -> Result<(), String> {
        let id = &question.id;
        let of_call = self.asked.values().filter(|it| it.request == request.id).count();
        for (open, most) in [(of_call, MAX_OPEN_QUESTIONS), (self.asked.len(), MAX_OPEN_IN_ALL)] {
            if open >= most {
                return Err(format!("{most} requests of the server are open already"));
            }
        }
        if self.is_asked(id) {
            return Err("the id of its request is in use".to_owned());
        }
        // A server that follows a task of the client asks for it again and again.
        if !is_task_request(&question.method) && !request.may_ask() {
            return Err(format!("it asked {MAX_QUESTIONS} times during one call"));
        }
        let question = AskedQuestion {
            request: request.id,
            owner: request.owner,
            shared: None,
            withdrawal: Arc::clone(&question.withdrawal),
        };
        self.asked.insert(id.clone(), question);
        Ok(())
    }

    /// Whether a question with this id has no answer yet.
    pub(super) fn is_asked(&self, id: &RequestId) -> bool {
        self.asked.contains_key(id) || self.held.iter().any(|held| held.question.id == *id)
    }

    /// Keeps a question until a client waits for the result of its task, unless too many are kept.
    pub(super) fn hold_question(
        &mut self,
        task: String,
        question: ServerQuestion,
    ) -> Result<(), String> {
        let of_task = self.held.iter().filter(|held| held.task == task).count();
        for (held, most) in [(of_task, MAX_OPEN_QUESTIONS), (self.held.len(), MAX_HELD)] {
            if held >= most {
                return Err(format!("{most} requests of the server are open already"));
            }
        }
        if self.is_asked(&question.id) {
            return Err("the id of its request is in use".to_owned());
        }
        self.held.push(HeldQuestion { task, question });
        Ok(())
    }

    /// Whether a question about this unknown task may have come before the answer that creates the
    /// task. `of` is the request on whose stream it came.
    pub(super) fn is_early(&self, task: &str, of: Option<i64>) -> bool {
        let may_create = |request: &Arc<OpenRequest>| {
            request.creates_task && of.is_none_or(|of| of == request.id)
        };
        let is_awaited =
            |request: &Arc<OpenRequest>| request.task.as_ref().is_some_and(|link| link.own == task);
        !self.is_own_task(task)
            && !self.open.values().any(is_awaited)
            && self.open.values().any(may_create)
    }

    /// Removes one of the questions that are kept for a task.
    pub(super) fn take_held_question(
        &mut self,
        task: &str,
        id: &RequestId,
    ) -> Option<ServerQuestion> {
        let is_it = |held: &HeldQuestion| held.task == task && held.question.id == *id;
        let at = self.held.iter().position(is_it)?;
        Some(self.held.remove(at).question)
    }

    /// Removes the questions that are kept for a task.
    pub(super) fn take_held(&mut self, task: &str) -> Vec<ServerQuestion> {
        self.held.extract_if(.., |held| held.task == task).map(|held| held.question).collect()
    }

    /// The open requests of a client.
    pub(super) fn of_owner(&self, owner: RequestOwner) -> impl Iterator<Item = &Arc<OpenRequest>> {
        self.open.values().filter(move |request| request.owner == owner)
    }

    /// Gives up the questions that no open request can have asked any more. `id` has ended.
    pub(super) fn give_up_questions(&mut self, id: i64) {
        let open = &self.open;
        self.asked.retain(|_, question| match &question.shared {
            Some(shared) => {
                if !open.values().any(|request| request.owner == question.owner) {
                    // The task that waits for the answer removes it and replies.
                    shared.cancel();
                }
                true
            }
            None => question.request != id,
        });
    }
}
