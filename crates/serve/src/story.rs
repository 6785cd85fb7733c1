//! What is said about one call over HTTP. It is kept while it may be asked for again: a client that
//! lost its connection comes back with the id of the last event that it has seen, and hears the
//! rest.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{self, Stream};
use hyper::body::Bytes;
use rmcp::model::ServerJsonRpcMessage;
use tokio::sync::watch;

use crate::calls::Sink;

/// Messages that are kept for a client that is not there or is slow to read. It misses the oldest
/// beyond them, which are notices of progress: the answer is the last.
const KEPT: usize = 256;

pub(crate) struct Story {
    number: u64,
    told: watch::Sender<Told>,
}

#[derive(Default)]
struct Told {
    /// How many are no longer kept.
    gone: usize,
    /// As JSON.
    messages: VecDeque<Bytes>,
    bytes: usize,
    /// Whether the last of them is the answer.
    answered: bool,
    /// Nothing more will be said.
    over: bool,
}

impl Story {
    pub(crate) fn new(number: u64) -> Arc<Story> {
        Arc::new(Story { number, told: watch::Sender::default() })
    }

    /// The id of its `n`th event. The one before the first says nothing: it only has an id.
    pub(crate) fn event(&self, n: usize) -> String {
        format!("call-{}-{n}", self.number)
    }

    /// Which story an event is of, and its place in it.
    pub(crate) fn place(event: &str) -> Option<(u64, usize)> {
        let (number, n) = event.strip_prefix("call-")?.split_once('-')?;
        Some((number.parse().ok()?, n.parse().ok()?))
    }

    pub(crate) fn is(&self, number: u64) -> bool {
        self.number == number
    }

    /// Waits until something has been said, or nothing ever will.
    pub(crate) async fn begun(&self) {
        let _ = self.told.subscribe().wait_for(|told| told.over || !told.messages.is_empty()).await;
    }

    /// Whether nothing more will be said.
    pub(crate) fn is_over(&self) -> bool {
        self.told.borrow().over
    }

    /// How much of it is kept.
    pub(crate) fn bytes(&self) -> usize {
        self.told.borrow().bytes
    }

    /// The answer, if that is all that was said; `Err` if nothing was and nothing will be.
    pub(crate) fn answer_alone(&self) -> Result<Option<Bytes>, Cancelled> {
        let told = self.told.borrow();
        match told.messages.front() {
            None if told.over => Err(Cancelled),
            Some(only) if told.answered && told.gone + told.messages.len() == 1 => {
                Ok(Some(only.clone()))
            }
            _ => Ok(None),
        }
    }

    /// What is said after the `n`th event, with the places of the events.
    pub(crate) fn after(
        self: &Arc<Self>,
        n: usize,
    ) -> impl Stream<Item = (usize, Bytes)> + Send + Sync + use<> {
        let heard = self.told.subscribe();
        stream::unfold((n, heard, Arc::clone(self)), async |(n, mut heard, story)| {
            let told = heard
                .wait_for(|told| told.gone + told.messages.len() > n || told.over)
                .await
                .ok()?;
            let n = n.max(told.gone);
            let message = told.messages.get(n - told.gone).cloned()?;
            drop(told);
            Some(((n + 1, message), (n + 1, heard, story)))
        })
    }
}

/// A call that nobody waits for any more.
pub(crate) struct Cancelled;

fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}

/// Tells a story; when it is dropped, the story is over.
pub(crate) struct Teller(pub(crate) Arc<Story>);

impl Sink for Teller {
    async fn send(&self, message: ServerJsonRpcMessage) {
        let text: Bytes = serde_json::to_vec(&message).expect("it is made of JSON").into();
        self.0.told.send_modify(|told| {
            told.answered = is_answer(&message);
            told.bytes += text.len();
            told.messages.push_back(text);
            if told.messages.len() > KEPT {
                told.bytes -= told.messages.pop_front().map_or(0, |oldest| oldest.len());
                told.gone += 1;
            }
        });
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.0.told.send_modify(|told| told.over = true);
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use rmcp::model::{EmptyResult, RequestId, ServerResult};

    use super::*;

    fn answer(id: i64) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::response(
            ServerResult::EmptyResult(EmptyResult {}),
            RequestId::Number(id),
        )
    }

    #[tokio::test]
    async fn who_comes_back_hears_the_rest() {
        let story = Story::new(7);
        let teller = Teller(Arc::clone(&story));
        assert!(matches!(story.answer_alone(), Ok(None)));
        teller.send(answer(1)).await;
        assert!(matches!(story.answer_alone(), Ok(Some(_))));
        teller.send(answer(2)).await;
        drop(teller);
        let places = |from| story.after(from).map(|(n, _)| n).collect::<Vec<_>>();
        assert_eq!(
            (places(0).await, places(1).await, places(2).await),
            (vec![1, 2], vec![2], vec![])
        );
        assert_eq!(Story::place(&story.event(2)), Some((7, 2)));
        assert_eq!((Story::place("0/3"), Story::place("call-x-1")), (None, None));
    }

    #[tokio::test]
    async fn a_long_story_is_kept_from_its_end() {
        let story = Story::new(1);
        let teller = Teller(Arc::clone(&story));
        for id in 0..300 {
            teller.send(answer(id)).await;
        }
        drop(teller);
        let places: Vec<usize> = story.after(3).map(|(n, _)| n).collect().await;
        assert_eq!(places, (45..=300).collect::<Vec<_>>());
        assert!(matches!(story.answer_alone(), Ok(None)));
    }

    #[tokio::test]
    async fn a_story_that_ends_untold_was_cancelled() {
        let story = Story::new(1);
        drop(Teller(Arc::clone(&story)));
        story.begun().await;
        assert!(story.answer_alone().is_err());
        assert_eq!(story.after(0).count().await, 0);
    }
}
