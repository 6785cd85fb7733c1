//! The task that keeps one server loaded: its tools, and what it offers besides them.
//!
//! ```text
//! answer_cache ─▶ cached answers ─ load ─▶ first lists, before the server has started
//!                                  │
//! upstream ─ all lists ─────────── load ─▶ catalog, if they differ; answer_cache
//!    │ events()                    ▲
//!    ├─ ListChanged ─ ChangedLists ┘ after a pause; then passed on as a notification
//!    └─ everything else ───────────▶ notifications of the catalog
//! ```
//!
//! A server with `start = "lazy"` and cached answers is left alone until something else, such as a
//! call, has opened a connection to it.
//!
//! Two futures run side by side in one task. One passes events on at once; the other loads lists,
//! with pauses, and learns from the first which lists have changed. So a server that answers slowly
//! does not delay its own notifications, and one that announces changes all the time is asked three
//! times a second at most.
//!
//! The task outlives its server in the configuration: clients may still wait for tasks that the
//! removed server runs, and what it reports about them is passed on until they have ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolwright_exec::mcp::{ListKind, Upstream, UpstreamEvent, UpstreamNotification, task_of};
use toolwright_model::{Server, StartMode};
use toolwright_workspace::SourceSpec;

use crate::answer_cache::ServerAnswers;
use crate::catalog::{Catalog, CatalogEvent};
use crate::draining::DRAIN_CHECK;
use crate::live_sources::{self, SourceFailure, ToolAnswer};
use crate::offers::ServerNotification;
use crate::pin_subject::PinSubject;
use crate::server_definition::ServerDefinition;
use crate::server_offers::ServerOffers;

/// The pause between a server's notification that a list changed and the next request for the list.
/// Bounds the load that a server with constant notifications can cause.
const LIST_CHANGE_PAUSE: Duration = Duration::from_millis(300);
/// The pause before a server that could not be loaded is tried again. It doubles with every
/// failure.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// The upper bound of that pause.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// How long the connection of a removed server may take to close after its last task: its end is
/// reported to clients.
const TIME_TO_CLOSE: Duration = Duration::from_secs(5);

/// How long the tools of a server wait for its other lists before they are published.
const OFFERS_BEFORE_TOOLS: Duration = Duration::from_secs(3);

/// What a server belongs to.
pub(crate) enum ServerOwner {
    /// A source that is the server itself.
    Source(SourceSpec, Arc<Server>),
    /// A definition that names the server, and the source of the definition.
    Definition(SourceSpec, Arc<ServerDefinition>),
}

impl ServerOwner {
    /// The server that is kept loaded.
    fn server(&self) -> &Arc<Server> {
        match self {
            ServerOwner::Source(_, server) => server,
            ServerOwner::Definition(_, definition) => &definition.server,
        }
    }

    /// The source that it comes from.
    pub(crate) fn spec(&self) -> &SourceSpec {
        match self {
            ServerOwner::Source(spec, _) | ServerOwner::Definition(spec, _) => spec,
        }
    }

    /// The pin subject of its lists.
    pub(crate) fn pin_subject(&self) -> PinSubject {
        match self {
            ServerOwner::Source(spec, _) => PinSubject::of(spec, ""),
            ServerOwner::Definition(spec, definition) => definition.pin_subject(spec),
        }
    }

    /// Its name in messages.
    fn name(&self) -> String {
        match self {
            ServerOwner::Source(spec, _) => spec.name.clone(),
            ServerOwner::Definition(_, definition) => definition.namespace.to_string(),
        }
    }
}

/// The lists that have changed and were not loaded again yet.
///
/// Kinds may be in it several times; that costs nothing. `changed` keeps one permit, so a change
/// that is marked while nobody waits is not lost.
#[derive(Default)]
struct ChangedLists {
    kinds: Mutex<Vec<ListKind>>,
    changed: Notify,
}

impl ChangedLists {
    /// Called by the future that passes events on.
    fn mark(&self, kinds: &[ListKind]) {
        let mut all = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(kinds);
        drop(all);
        self.changed.notify_one();
    }

    /// Waits for a change, and a little longer for others that come with it.
    async fn next(&self) -> Vec<ListKind> {
        self.changed.notified().await;
        tokio::time::sleep(LIST_CHANGE_PAUSE).await;
        self.take()
    }

    /// What has changed since the last look, without waiting.
    fn take(&self) -> Vec<ListKind> {
        std::mem::take(&mut *self.kinds.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where the published tools of a server come from. Tools that are equal to those of the last run
/// need not be published again; those of an earlier connection are, so that the log shows that the
/// server works again.
#[derive(Clone, Copy)]
enum PublishedTools {
    OfLastRun,
    /// With its number: a server that was started again has another one.
    OfConnection(u64),
}

/// Whether an event may be about a task of a client.
///
/// Only such events are passed on once the server was removed from the configuration.
fn concerns_tasks(event: &UpstreamEvent) -> bool {
    match event {
        UpstreamEvent::ConnectionEnded => true,
        UpstreamEvent::Other { method, .. } if method == "notifications/progress" => true,
        event => task_of(event).is_some(),
    }
}

impl Catalog {
    /// Loads what a server has, again after each of its notifications that something changed, and
    /// after a growing pause while loading fails. When it is `removed`, only passes on what it
    /// reports of its last tasks, and ends with them, or when the server is configured again: then
    /// it has another task, also after it is removed once more.
    ///
    /// ```text
    /// until removed    pass_on_events  ║  follow_lists
    /// afterwards       events of tasks ║  waits until nothing drains, and TIME_TO_CLOSE longer
    /// ```
    pub(crate) async fn keep_server_loaded(
        &self,
        owner: &ServerOwner,
        removed: &CancellationToken,
    ) {
        let upstream = self.runner().context().upstreams.get(owner.server());
        // Subscribed before the first load: a notification that arrives during a load may mean that
        // the list is outdated already.
        let (events, changes) = (upstream.events(), upstream.changes());
        let lists = ChangedLists::default();
        let until_gone = async {
            removed.run_until_cancelled(self.follow_lists(&upstream, owner, &lists)).await;
            let mut last_used = Instant::now();
            while last_used.elapsed() < TIME_TO_CLOSE && !self.has_server(owner.server()) {
                tokio::time::sleep(DRAIN_CHECK).await;
                if self.is_draining(owner.server()) {
                    last_used = Instant::now();
                }
            }
        };
        tokio::select! {
            () = self.pass_on_events(&upstream, events, changes, &lists, removed) => {}
            () = until_gone => {}
        }
    }

    /// Notes which lists change, and passes on everything else to the receivers of notifications.
    ///
    /// Returns only when the upstream has gone. A list that changed is not passed on here: clients
    /// would ask for it before it is loaded. `load_lists` reports it afterwards.
    async fn pass_on_events(
        &self,
        upstream: &Arc<Upstream>,
        mut events: broadcast::Receiver<UpstreamNotification>,
        mut changes: watch::Receiver<u64>,
        lists: &ChangedLists,
        removed: &CancellationToken,
    ) {
        let mut has_events = true;
        loop {
            tokio::select! {
                changed = changes.changed() => match changed {
                    Ok(()) => lists.mark(&[ListKind::Tools]),
                    Err(_) => return,
                },
                event = events.recv(), if has_events => match event {
                    Ok(notification) if removed.is_cancelled() => {
                        // A server that is configured again has another task.
                        let is_removed = !self.has_server(upstream.server());
                        if concerns_tasks(&notification.event) && is_removed {
                            self.notify(upstream, notification);
                        }
                    }
                    Ok(notification) => match notification.event {
                        UpstreamEvent::ListChanged(kind) if notification.session.is_none() => {
                            lists.mark(&[kind]);
                        }
                        // Lists come from the shared connection.
                        UpstreamEvent::ListChanged(_) => {}
                        _ => self.notify(upstream, notification),
                    },
                    // Some of those that were missed may have been about lists, or the end of a
                    // connection.
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        lists.mark(&ListKind::ALL);
                        self.notify(upstream, UpstreamNotification::connection_ended());
                    }
                    Err(broadcast::error::RecvError::Closed) => has_events = false,
                },
            }
        }
    }

    /// The receiver is the forwarder of `serve`; commands that load once have none.
    fn notify(&self, upstream: &Upstream, notification: UpstreamNotification) {
        let UpstreamNotification { session, connection, event, is_of_hidden_task } = notification;
        // Its call reads them itself.
        if is_of_hidden_task {
            return;
        }
        let server = Arc::clone(upstream.server());
        // An error means that nobody listens.
        let _ = self.notifications.send(ServerNotification { server, session, connection, event });
    }

    /// Never returns. Failures are logged where they are published; here they only lengthen the
    /// pause.
    ///
    /// The first answers may be those of the last run. A lazy server that has them is not asked
    /// before something else opens a connection. After a failure the lists that changed meanwhile
    /// are asked for together with those that failed.
    async fn follow_lists(
        &self,
        upstream: &Arc<Upstream>,
        owner: &ServerOwner,
        lists: &ChangedLists,
    ) {
        let mut known = self.load_cached(owner).await;
        let mut published = known.is_some().then_some(PublishedTools::OfLastRun);
        if known.is_some() && owner.server().settings.start == StartMode::Lazy {
            upstream.wait_until_open().await;
        }
        let (mut wanted, mut pause) = (ListKind::ALL.to_vec(), FIRST_RETRY);
        loop {
            match self.load_lists(upstream, owner, &wanted, (known.as_ref(), published)).await {
                Ok(answers) => {
                    let connection = upstream.connection_number(None);
                    self.keep_answers(owner, &answers, known.as_ref()).await;
                    (known, published) =
                        (Some(answers), Some(PublishedTools::OfConnection(connection)));
                    pause = FIRST_RETRY;
                    wanted = lists.next().await;
                }
                Err(_) => {
                    // That it works again is worth a line in the log.
                    published = None;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_RETRY);
                    wanted.extend(lists.take());
                }
            }
        }
    }

    /// Asks the server for the lists of `wanted`, and publishes them. `known` are the answers
    /// before; tools that this start of the server has published already are published again only
    /// if they differ.
    ///
    /// Tools decide about success: a server whose other lists fail is loaded, and keeps what it had
    /// of them.
    ///
    /// # Errors
    /// If the server gave no list of tools.
    ///
    /// ```text
    /// tools asked ─ other lists, up to OFFERS_BEFORE_TOOLS ─ tools published ─ the other lists
    ///                                                        └─ if they differ, or were not yet
    /// ```
    async fn load_lists(
        &self,
        upstream: &Arc<Upstream>,
        owner: &ServerOwner,
        wanted: &[ListKind],
        (known, published): (Option<&ServerAnswers>, Option<PublishedTools>),
    ) -> Result<ServerAnswers, Vec<SourceFailure>> {
        let tools = match known {
            Some(known) if !wanted.contains(&ListKind::Tools) => Ok(Arc::clone(&known.tools)),
            _ => live_sources::ask_tools(upstream).await.map(Arc::new),
        };
        let before = known.map(|known| Arc::clone(&known.offers)).unwrap_or_default();
        // A source counts as loaded when its tools are published, and clients ask once which
        // capabilities there are. So the other lists come first, unless the server is slow.
        let mut asking = Box::pin(before.ask(upstream, wanted));
        let early = match &tools {
            Ok(_) => tokio::time::timeout(OFFERS_BEFORE_TOOLS, &mut asking).await.ok(),
            Err(_) => None,
        };
        let early = early.map(|asked| self.accept_offers(owner, &before, asked));
        let is_published = match published {
            // Zero: the connection ended after the answer. The next one has a number of its own.
            Some(PublishedTools::OfConnection(number)) => {
                [0, number].contains(&upstream.connection_number(None))
            }
            Some(PublishedTools::OfLastRun) => true,
            None => false,
        };
        let tools = match (tools, known) {
            (Ok(tools), Some(known)) if tools == known.tools && is_published => tools,
            (Ok(tools), Some(_)) if !wanted.contains(&ListKind::Tools) => tools,
            (answer, _) => self.load_tools(owner, answer)?,
        };
        let offers = match early {
            Some(offers) => offers,
            None => self.accept_offers(owner, &before, asking.await),
        };
        if known.is_some() {
            let changed = |kind: &ListKind| match kind {
                ListKind::Tools => known.is_some_and(|known| known.tools != tools),
                ListKind::Resources => before.resources != offers.resources,
                ListKind::ResourceTemplates => before.templates != offers.templates,
                ListKind::Prompts => before.prompts != offers.prompts,
            };
            for kind in ListKind::ALL.into_iter().filter(changed) {
                self.notify(upstream, UpstreamNotification::list_changed(kind));
            }
        }
        Ok(ServerAnswers { tools, offers })
    }

    /// Publishes what a server offers besides tools, and logs what was wrong with it.
    ///
    /// Equal offers keep their old pointer, so that nothing is merged again.
    fn accept_offers(
        &self,
        owner: &ServerOwner,
        before: &Arc<ServerOffers>,
        (mut offers, notes): (ServerOffers, Vec<String>),
    ) -> Arc<ServerOffers> {
        for note in notes {
            self.publish_event(CatalogEvent::Note(format!("{}: {note}", owner.name())));
        }
        self.check_instructions(owner, &mut offers);
        let offers = if offers == **before { Arc::clone(before) } else { Arc::new(offers) };
        self.set_offers(owner, &offers);
        offers
    }

    /// Publishes the tools of an answer, whether it comes from the server or from the cache.
    ///
    /// # Errors
    /// The failures of the load, if there is no answer. They are published already.
    fn load_tools(
        &self,
        owner: &ServerOwner,
        answer: Result<Arc<ToolAnswer>, toolwright_exec::Failure>,
    ) -> Result<Arc<ToolAnswer>, Vec<SourceFailure>> {
        let failures = match owner {
            ServerOwner::Source(spec, _) => self.load_answer(spec, answer.clone()),
            ServerOwner::Definition(spec, definition) => {
                self.load_definition_answer(spec, definition, answer.clone())
            }
        };
        answer.map_err(|_| failures)
    }

    /// Notes whether the instructions of a server give orders to the model, and logs it if they are
    /// withheld for that reason.
    ///
    /// Whether they are withheld is decided when offers are merged: the configuration may change.
    fn check_instructions(&self, owner: &ServerOwner, offers: &mut ServerOffers) {
        let text = offers.description.as_ref().and_then(|it| it.instructions.clone());
        let Some(text) = text else { return };
        offers.instructions_give_orders = live_sources::gives_orders(&text, self.workspace());
        if offers.instructions_give_orders && self.withholds_orders() {
            let message = "its instructions are withheld from clients: they carry orders to the \
                           model (MODEL_INSTRUCTION)";
            self.publish_event(CatalogEvent::Note(format!("{}: {message}", owner.name())));
        }
    }

    /// Publishes the answers that the server gave in an earlier run, if there are any.
    ///
    /// `None` without a cache, without a file, and if the cached tools cannot be loaded.
    async fn load_cached(&self, owner: &ServerOwner) -> Option<ServerAnswers> {
        let cache = self.cache()?.clone();
        let server = Arc::clone(owner.server());
        let read = tokio::task::spawn_blocking(move || cache.read(&server));
        let mut answers = read.await.ok()??;
        let mut offers = (*answers.offers).clone();
        self.check_instructions(owner, &mut offers);
        answers.offers = Arc::new(offers);
        // Before the tools, as in `load_lists`.
        self.set_offers(owner, &answers.offers);
        self.load_tools(owner, Ok(Arc::clone(&answers.tools))).ok()?;
        let message = "until it answers, its tools are listed as they were in the last run";
        self.publish_event(CatalogEvent::Note(format!("{}: {message}", owner.name())));
        Some(answers)
    }

    /// Keeps the answers of a server for the next run.
    ///
    /// Answers that are equal to the last ones only get a new time, so that they are not removed as
    /// unused.
    async fn keep_answers(
        &self,
        owner: &ServerOwner,
        answers: &ServerAnswers,
        known: Option<&ServerAnswers>,
    ) {
        let Some(cache) = self.cache().cloned() else { return };
        let (server, answers) = (Arc::clone(owner.server()), answers.clone());
        let is_known = known == Some(&answers);
        let write = tokio::task::spawn_blocking(move || match is_known {
            true => {
                cache.touch(&server);
                Ok(())
            }
            false => cache.write(&server, &answers),
        });
        // A full disk or a read-only home must not stop anything; the next run is slower.
        if let Ok(Err(error)) = write.await {
            let reason = toolwright_workspace::io_reason(&error);
            let message = format!("its answers cannot be kept for the next start: {reason}");
            self.publish_event(CatalogEvent::Note(format!("{}: {message}", owner.name())));
        }
    }
}
