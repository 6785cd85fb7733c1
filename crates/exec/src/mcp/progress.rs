//! Notices of progress, from the connection to the call they belong to, in order.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::mpsc;

use crate::Progress;

/// Notices kept for a call that has been sent and not said yet that it listens.
const EARLY: usize = 64;
/// Notices a call may be behind; a caller who is slower misses some.
const BEHIND: usize = 256;

/// Characters of a notice's words that are kept.
const WORDS: usize = 1_000;

/// Which call listens to which token.
#[derive(Debug, Default)]
pub(super) struct ProgressBook(Mutex<Book>);

#[derive(Debug, Default)]
struct Book {
    listening: HashMap<ProgressToken, mpsc::Sender<Progress>>,
    early: VecDeque<(ProgressToken, Progress)>,
}

/// The notices of one call; it no longer listens when this is dropped.
pub(super) struct Notices {
    book: Arc<ProgressBook>,
    token: ProgressToken,
    receiver: mpsc::Receiver<Progress>,
}

impl ProgressBook {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a notice from the connection.
    pub(super) fn note(&self, notice: ProgressNotificationParam) {
        let message = notice.message.map(|text| text.chars().take(WORDS).collect());
        let progress = Progress { done: notice.progress, total: notice.total, message };
        let mut book = self.book();
        if let Some(listener) = book.listening.get(&notice.progress_token) {
            let _ = listener.try_send(progress);
            return;
        }
        if book.early.len() == EARLY {
            book.early.pop_front();
        }
        book.early.push_back((notice.progress_token, progress));
    }

    /// The notices of a call, those that were early included.
    pub(super) fn listen(self: &Arc<Self>, token: ProgressToken) -> Notices {
        let (sender, receiver) = mpsc::channel(BEHIND);
        let mut book = self.book();
        for (_, progress) in book.early.iter().filter(|(early, _)| *early == token) {
            let _ = sender.try_send(progress.clone());
        }
        book.early.retain(|(early, _)| *early != token);
        book.listening.insert(token.clone(), sender);
        drop(book);
        Notices { book: Arc::clone(self), token, receiver }
    }
}

impl Notices {
    /// The next notice.
    pub(super) async fn next(&mut self) -> Option<Progress> {
        self.receiver.recv().await
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.book.book().listening.remove(&self.token);
    }
}
