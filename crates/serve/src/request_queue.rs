//! The messages of one request that go to its client before the response: progress, log messages
//! and questions.
//!
//! ```text
//! CallHost ─ MessageSender ─┐
//! questions ─ its clones ───┴─▶ queue (bounded) ─ MessageReceiver ─▶ sink ─▶ client
//! ```
//!
//! A queue of its own instead of a channel of tokio's: one is made for every request, and nearly
//! none is used. A channel allocates its first block and a semaphore, aligned to lines of the
//! cache, which takes as long as parsing a short request.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Adds messages to the queue. The receiver ends when all clones are dropped.
pub(crate) struct MessageSender(Arc<MessageQueue>);

/// A sender that does not keep the receiver from ending.
pub(crate) struct WeakMessageSender(Arc<MessageQueue>);

/// Takes messages from the queue.
pub(crate) struct MessageReceiver(Arc<MessageQueue>);

/// The message cannot be delivered: the request has ended, or the queue is full.
#[derive(Debug)]
pub(crate) struct Undelivered;

struct MessageQueue {
    capacity: usize,
    state: Mutex<QueueState>,
}

struct QueueState {
    messages: VecDeque<Vec<u8>>,
    senders: usize,
    has_receiver: bool,
    /// The task that waits for a message.
    reader: Option<Waker>,
    /// Tasks that wait for a place.
    writers: Vec<Waker>,
}

/// A queue for this many messages.
pub(crate) fn message_queue(capacity: usize) -> (MessageSender, MessageReceiver) {
    let state = QueueState {
        messages: VecDeque::new(),
        senders: 1,
        has_receiver: true,
        reader: None,
        writers: Vec::new(),
    };
    let queue = Arc::new(MessageQueue { capacity, state: Mutex::new(state) });
    (MessageSender(Arc::clone(&queue)), MessageReceiver(queue))
}

impl MessageQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        // Nothing here panics while it holds the lock, so a poisoned one is still valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes a task, without the lock: the task may take it at once.
fn wake(mut state: MutexGuard<'_, QueueState>) {
    let reader = state.reader.take();
    drop(state);
    reader.into_iter().for_each(Waker::wake);
}

impl MessageSender {
    /// Adds a message if there is a place for it.
    pub(crate) fn try_send(&self, message: Vec<u8>) -> Result<(), Undelivered> {
        let mut state = self.0.state();
        if !state.has_receiver || state.messages.len() >= self.0.capacity {
            return Err(Undelivered);
        }
        state.messages.push_back(message);
        wake(state);
        Ok(())
    }

    /// Adds a message when there is a place for it.
    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), Undelivered> {
        let mut message = Some(message);
        poll_fn(|context| {
            let mut state = self.0.state();
            if !state.has_receiver {
                return Poll::Ready(Err(Undelivered));
            }
            if state.messages.len() >= self.0.capacity {
                state.writers.push(context.waker().clone());
                return Poll::Pending;
            }
            state.messages.extend(message.take());
            wake(state);
            Poll::Ready(Ok(()))
        })
        .await
    }

    pub(crate) fn downgrade(&self) -> WeakMessageSender {
        WeakMessageSender(Arc::clone(&self.0))
    }
}

impl Clone for MessageSender {
    fn clone(&self) -> MessageSender {
        self.0.state().senders += 1;
        MessageSender(Arc::clone(&self.0))
    }
}

impl Drop for MessageSender {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.senders -= 1;
        if state.senders == 0 {
            wake(state);
        }
    }
}

impl WeakMessageSender {
    /// A sender, if another one is left.
    pub(crate) fn upgrade(&self) -> Option<MessageSender> {
        let mut state = self.0.state();
        if state.senders == 0 {
            return None;
        }
        state.senders += 1;
        drop(state);
        Some(MessageSender(Arc::clone(&self.0)))
    }
}

impl MessageReceiver {
    /// The next message; `None` when the queue is empty and has no sender. Safe to cancel.
    pub(crate) async fn receive(&mut self) -> Option<Vec<u8>> {
        poll_fn(|context| {
            let mut state = self.0.state();
            if let Some(message) = state.messages.pop_front() {
                let writers = std::mem::take(&mut state.writers);
                drop(state);
                writers.into_iter().for_each(Waker::wake);
                return Poll::Ready(Some(message));
            }
            if state.senders == 0 {
                return Poll::Ready(None);
            }
            match &state.reader {
                Some(reader) if reader.will_wake(context.waker()) => {}
                _ => state.reader = Some(context.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}

impl Drop for MessageReceiver {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.has_receiver = false;
        state.messages.clear();
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        writers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_arrive_in_order_until_the_last_sender_is_gone() {
        let (sender, mut receiver) = message_queue(2);
        let weak = sender.downgrade();
        let sending = tokio::spawn(async move {
            for n in 0..100 {
                sender.send(vec![n]).await.expect("it is received");
            }
        });
        for n in 0..100 {
            assert_eq!(receiver.receive().await, Some(vec![n]));
        }
        assert_eq!(receiver.receive().await, None);
        sending.await.expect("no panic");
        assert!(weak.upgrade().is_none());
    }

    #[tokio::test]
    async fn a_full_queue_refuses_messages_and_makes_senders_wait() {
        let (sender, mut receiver) = message_queue(1);
        sender.try_send(vec![1]).expect("a place");
        sender.try_send(vec![2]).expect_err("full");
        let other = sender.downgrade().upgrade().expect("a sender is left");
        let (sent, received) = tokio::join!(other.send(vec![3]), receiver.receive());
        sent.expect("a place was made");
        assert_eq!((received, receiver.receive().await), (Some(vec![1]), Some(vec![3])));
        drop(receiver);
        sender.try_send(vec![4]).expect_err("nobody receives it");
        other.send(vec![5]).await.expect_err("nobody receives it");
    }
}
