//! The policy of calls: which agent may do what, by the configuration, the command line, the
//! answers of people, and the user's store.
//!
//! ```text
//! --allow (this run) ─┐
//! [[grant]] ──────────┤
//! answers: session ───┼─ GrantPolicy::decide ─▶ all needs covered ─▶ Allow, with the grants used
//! store: always ──────┘        │                 something missing ─▶ Ask, for the whole toolset
//!                              └ [[rule]] deny ─▶ Deny
//! ```
//!
//! A grant is for the content of a toolset, by its hash: a definition that changes asks again.
//! Only `[[grant]]` and `grants add --by-name` are for a name, and not for a definition that was
//! found in a folder under a name that another one has, too. What a grant includes is
//! [`Capability::implied`], and nothing else. A grant about pages is for one origin, or for all
//! with `*`.
//!
//! The store is shared with other processes. It is looked at only if a call needs something that
//! nothing else covers, and read again only if somebody has written to it, so that a grant that is
//! revoked elsewhere does not hold for the next call here.
//!
//! What is deliberately not here: asking a person (`exec::Host::ask_grant`), the form of the
//! question (`exec::policy`), and the tables of the store (`store::grants`). This file answers two
//! questions, may this call run, and may this agent call at all; and it keeps answers.
//!
//! Where two locks are held together, that of `sessions` is the outer one. A store that fails never
//! allows anything: what it would have covered counts as missing, and the question says why.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value as Json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolwright_exec::{
    CallPolicy, Failure, GrantAnswer, GrantQuestion, GrantTerm, HTTP_AGENT, LOCAL_AGENT,
    PolicyDecision, PolicyRequest, PolicyScope, RegisteredTool, RuleQuestion, SessionNumber,
    ToolTrust, UsedGrant, code, question_for, toolset_name,
};
use toolwright_model::Capability;
use toolwright_schema::Schema;
use toolwright_source::render::visible;
use toolwright_source::words::nearest_word;
use toolwright_workspace::{
    AgentConfig, AnnotatedNeed, PolicyRule, PolicySettings, PolicySubjects, RuleAction, fits_glob,
};

use crate::live_sources::while_blocking;
use crate::store::{Store, StoreError, StoredGrant};

/// Characters of the arguments that a question shows.
const SHOWN_ARGUMENTS: usize = 2_000;

/// The minute of `calls_per_minute`.
const MINUTE: Duration = Duration::from_secs(60);

/// Decides about calls. One per process, shared by all sessions and used on all threads. `decide`
/// is called by the runner for every call, `record` when a person has answered.
pub struct GrantPolicy {
    /// Replaced as a whole when the configuration changes; a decision uses one version throughout.
    settings: RwLock<Arc<CompiledSettings>>,
    /// What `--allow` grants to every agent of this run.
    run: Vec<Capability>,
    /// What people have allowed for a session, with the number of its copy in the store: other
    /// processes can list and revoke the copy. `None` if it could not be copied.
    sessions: Mutex<HashMap<SessionGrant, Option<i64>>>,
    /// The grants that hold until they are revoked. Empty while the store could not be opened; see
    /// `GrantPolicy::store`.
    store: OnceLock<GrantSnapshot>,
    /// Why the store could not be opened at the start.
    why_no_store: String,
    /// Where the store is opened later, if it could not be at the start.
    store_folder: Option<PathBuf>,
    /// The calls of agents with limits. Entries stay for the life of the process; there are as many
    /// as configured agents.
    usage: Mutex<HashMap<String, AgentUsage>>,
}

/// The settings, with the schemas of rules compiled. Immutable.
struct CompiledSettings {
    settings: PolicySettings,
    /// For each rule; `None` if it is about all arguments.
    schemas: Vec<Option<Schema>>,
}

impl CompiledSettings {
    fn new(settings: PolicySettings) -> CompiledSettings {
        // A mistake in a schema has stopped the program before.
        let schema = |rule: &PolicyRule| Schema::compile(rule.arguments.as_ref()?).ok();
        let schemas = settings.rules.iter().map(schema).collect();
        CompiledSettings { settings, schemas }
    }

    /// Only agents with an `[[agent]]`: `local` and `http` have none.
    fn agent(&self, name: &str) -> Option<&AgentConfig> {
        self.settings.agents.iter().find(|agent| agent.name == name)
    }

    /// All rules that are about this call. Before the final arguments are known
    /// (`PolicyScope::Grants`), only the rules that deny it regardless of arguments: a processor of
    /// the definition may still change the arguments.
    ///
    /// They are in the order of the configuration, which matters for the reason that a refusal
    /// gives.
    fn rules(&self, request: &PolicyRequest<'_>) -> Vec<&PolicyRule> {
        if self.settings.rules.is_empty() {
            return Vec::new();
        }
        let id = request.tool.id.to_string();
        let fits_arguments = |rule: &PolicyRule, schema: &Option<Schema>| match request.scope {
            PolicyScope::Grants => rule.action == RuleAction::Deny && schema.is_none(),
            _ => schema.as_ref().is_none_or(|schema| matches(schema, request.arguments)),
        };
        let is_about = |(rule, schema): &(&PolicyRule, &Option<Schema>)| {
            fits_glob(&rule.tool, &id)
                && rule.agent.as_ref().is_none_or(|agent| fits_glob(agent, request.agent))
                && fits_arguments(rule, schema)
        };
        let rules = self.settings.rules.iter().zip(&self.schemas);
        rules.filter(is_about).map(|(rule, _)| rule).collect()
    }

    /// The rules that ask about this call.
    ///
    /// For `record`, which looks at them again.
    fn asking_rules(&self, request: &PolicyRequest<'_>) -> Vec<RuleQuestion> {
        let rules = self.rules(request).into_iter();
        rules.filter(|rule| rule.action == RuleAction::Ask).map(question_of).collect()
    }

    /// What the tool states of itself that needs a grant, by `[policy] need_grant`. An absent
    /// annotation counts only for `read_only`, where the absence is what needs the grant.
    ///
    /// A tool without annotations is `tool:unmarked` if the configuration asks for `not_read_only`.
    fn annotated_needs(&self, tool: &RegisteredTool) -> Vec<Capability> {
        let hints = &tool.tool.details.annotations;
        let name = |need: &AnnotatedNeed| match need {
            AnnotatedNeed::Destructive if hints.destructive == Some(true) => "tool:destructive",
            AnnotatedNeed::OpenWorld if hints.open_world == Some(true) => "tool:openworld",
            AnnotatedNeed::NotReadOnly if hints.read_only != Some(true) => "tool:unmarked",
            _ => "",
        };
        let needs = self.settings.need_grant.iter().map(name);
        needs.filter_map(|name| Capability::parse(name).ok()).collect()
    }
}

/// Whether arguments match the schema of a rule. Also if that takes too long to tell: an agent
/// must not get around a rule by arguments that are hard to check.
fn matches(schema: &Schema, arguments: &Json) -> bool {
    let validate = || match schema.validate(arguments) {
        Ok(()) => true,
        Err(errors) => errors.iter().any(|error| error.message.contains("gave up")),
    };
    match schema.is_quick_for(toolwright_exec::json_size(arguments, 32 << 10)) {
        true => validate(),
        false => while_blocking(validate),
    }
}

/// A grant for a session of an agent. Without a session (`None`) it holds for all calls of this
/// agent that have none.
#[derive(PartialEq, Eq, Hash)]
struct SessionGrant {
    agent: String,
    session: Option<SessionNumber>,
    subject: GrantSubject,
}

/// What a grant is for. Two grants for the same subject are one.
///
/// A part of the key in `GrantPolicy::sessions`; nothing is parsed back from it.
#[derive(PartialEq, Eq, Hash)]
enum GrantSubject {
    /// A capability for a toolset: its content hash, or its name if it has none; and the origin of
    /// the page, for what is about pages.
    Capability(String, Capability, Option<String>),
    /// A tool, and the rule that asks about it.
    Rule(String, String),
}

/// The question that a rule asks.
///
/// `shown` is for the person; an answer is kept under `key`, so a rule that is edited asks again.
fn question_of(rule: &PolicyRule) -> RuleQuestion {
    let shown = match &rule.reason {
        Some(reason) => format!("{}: {reason}", rule.tool),
        None => rule.tool.clone(),
    };
    RuleQuestion { shown, key: format!("{rule:?}") }
}

/// What an answer to a rule is kept for.
fn rule_subject(request: &PolicyRequest<'_>, rule: &RuleQuestion) -> GrantSubject {
    GrantSubject::Rule(request.tool.id.to_string(), rule.key.clone())
}

/// The consents to rules that a call has used, for its record.
fn used_consents(rules: &[RuleQuestion], term: GrantTerm) -> impl Iterator<Item = UsedGrant> {
    let capability = |rule: &RuleQuestion| format!("rule {}", rule.shown).into();
    rules.iter().map(move |rule| UsedGrant { capability: capability(rule), term })
}

/// The arguments of a call, for the person who is asked about it. Clients show them as they are.
fn shown_arguments(arguments: &serde_json::Value) -> String {
    let text = visible(&arguments.to_string());
    match text.char_indices().nth(SHOWN_ARGUMENTS) {
        Some((end, _)) => format!("{}… ({} bytes in all)", &text[..end], text.len()),
        None => text,
    }
}

/// What stands for a toolset in a session.
///
/// The hash, so that a definition which changes in the middle of a session asks again.
fn toolset_key(request: &PolicyRequest<'_>) -> String {
    match &request.tool.trust.toolset_hash {
        Some(hash) => hash.to_string(),
        None => format!("name:{}", toolset_name(request.tool)),
    }
}

/// The grants of the store as they were read last, and how to notice that they are outdated.
struct GrantSnapshot {
    store: Store,
    /// The version of the store at which they were read; `None` if they must be read again in any
    /// case.
    read: Mutex<(Option<i64>, Arc<Vec<StoredGrant>>)>,
    /// The version of the store at which the grants for sessions were looked at.
    sessions_version: Mutex<Option<i64>>,
}

impl GrantSnapshot {
    /// Nothing is read yet: the first call that needs the store does.
    fn new(store: Store) -> GrantSnapshot {
        GrantSnapshot { store, read: Mutex::default(), sessions_version: Mutex::default() }
    }

    /// The grants as they are now. Asking for the version is one cheap query; the rows are read
    /// only if another connection has written.
    ///
    /// # Errors
    /// If the store cannot be read. The snapshot is not used then, since a revocation may be
    /// missing in it.
    fn current(&self) -> Result<Arc<Vec<StoredGrant>>, StoreError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.store.grants_version()?;
        if read.0 != Some(version) {
            *read = (Some(version), Arc::new(self.store.grants()?));
        }
        Ok(Arc::clone(&read.1))
    }

    /// The numbers of all grants for sessions, if another process has written to the store since
    /// the last look. One that cannot be read has changed nothing.
    fn session_grants_if_changed(&self) -> Option<HashSet<i64>> {
        let mut seen = self.sessions_version.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.store.grants_version().ok()?;
        if *seen == Some(version) {
            return None;
        }
        let rows = self.store.session_grants().ok()?;
        *seen = Some(version);
        Some(rows.iter().map(|row| row.number).collect())
    }

    /// Writes a lasting grant. The next look reads all of them again.
    fn add(&self, grant: &StoredGrant) -> Result<(), StoreError> {
        self.store.add_grant(grant)?;
        // What this connection writes does not change the version that it sees.
        self.read.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
        Ok(())
    }
}

/// The running and recent calls of one agent. A new limit takes effect at once for new calls;
/// running ones keep the permits of the old semaphore.
struct AgentUsage {
    running: Arc<Semaphore>,
    /// The limit that `running` was made for.
    max_running: usize,
    /// When its calls of the last minute began.
    ///
    /// At most `calls_per_minute` of them, the oldest first.
    recent: VecDeque<Instant>,
}

/// A number of calls, in words.
fn calls(number: usize) -> String {
    format!("{number} call{}", if number == 1 { "" } else { "s" })
}

/// Whether a grant of `have` includes `need`: the same capability, or the one that it implies, one
/// step and no more.
fn gives(have: &Capability, need: &Capability) -> bool {
    have == need || have.implied().as_ref() == Some(need)
}

impl GrantPolicy {
    /// A policy by these settings. `run` is granted to every agent. `store` is the user's, or why
    /// there is none.
    ///
    /// A store that is missing refuses nothing by itself: calls that need nothing of it go on.
    pub fn new(
        settings: PolicySettings,
        run: Vec<Capability>,
        store: Result<Store, String>,
    ) -> GrantPolicy {
        let (store, why_no_store) = match store {
            Ok(store) => (OnceLock::from(GrantSnapshot::new(store)), String::new()),
            Err(why) => (OnceLock::new(), why),
        };
        GrantPolicy {
            settings: RwLock::new(Arc::new(CompiledSettings::new(settings))),
            run,
            sessions: Mutex::default(),
            store,
            why_no_store,
            store_folder: None,
            usage: Mutex::default(),
        }
    }

    /// Opens the store in this folder later, if it cannot be opened now: a process that holds it
    /// may end.
    #[must_use]
    pub fn with_store_folder(mut self, folder: PathBuf) -> GrantPolicy {
        self.store_folder = Some(folder);
        self
    }

    /// The store, or why there is none. One that could not be opened before is tried again, without
    /// waiting for a process that holds it: a call must not stand still for that.
    fn store(&self) -> Result<&GrantSnapshot, String> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let folder = self.store_folder.as_ref().ok_or_else(|| self.why_no_store.clone())?;
        let store = Store::open_if_free(folder).map_err(|error| error.to_string())?;
        Ok(self.store.get_or_init(|| GrantSnapshot::new(store)))
    }

    /// Replaces the settings, after a change of the configuration.
    pub fn apply(&self, settings: PolicySettings) {
        let compiled = Arc::new(CompiledSettings::new(settings));
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = compiled;
    }

    fn settings(&self) -> Arc<CompiledSettings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What people have allowed for a session and nobody has revoked since. Each look compares with
    /// the store first, if another process has written to it.
    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionGrant, Option<i64>>> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = self.store.get()
            && !sessions.is_empty()
            && let Some(left) = store.session_grants_if_changed()
        {
            sessions.retain(|_, number| number.is_none_or(|number| left.contains(&number)));
        }
        sessions
    }

    /// Keeps the answer of a person for a session. One that cannot be copied to the store holds,
    /// but cannot be listed, and can only be revoked by ending the session.
    ///
    /// A second answer for the same subject replaces the first, and the older copy in the store is
    /// removed.
    fn allow_in_session(&self, request: &PolicyRequest<'_>, subject: GrantSubject) {
        let agent = request.agent.to_owned();
        let (toolset, hash, capability, origin) = match &subject {
            GrantSubject::Capability(_, capability, origin) => {
                let hash = request.tool.trust.toolset_hash.as_ref().map(ToString::to_string);
                (toolset_name(request.tool), hash, capability.to_string(), origin.clone())
            }
            GrantSubject::Rule(tool, _) => (tool.clone(), None, "rule".to_owned(), None),
        };
        let time = now_in_micros();
        let grant = StoredGrant { agent: agent.clone(), toolset, hash, capability, origin, time };
        let session = request.session.map(|session| session.0);
        let store = self.store().ok();
        let number = store.and_then(|it| it.store.add_session_grant(session, &grant).ok());
        let key = SessionGrant { agent, session: request.session, subject };
        let before = self.sessions().insert(key, number).flatten();
        self.forget_copies(before.into_iter().collect());
    }

    /// Removes the copies of grants in the store.
    ///
    /// A failure is ignored: a copy of a session that has ended has no effect.
    fn forget_copies(&self, numbers: Vec<i64>) {
        if let Some(store) = self.store.get()
            && !numbers.is_empty()
        {
            let _ = store.store.remove_session_grants(&numbers);
        }
    }

    /// A sentence about each rule, grant and agent limit that matches no loaded tool.
    pub(crate) fn ineffective_entries(&self, subjects: &PolicySubjects) -> Vec<String> {
        let mut found = self.settings().settings.ineffective_entries(subjects);
        found.extend(self.misspelled(subjects.capabilities.iter().map(String::as_str)));
        found
    }

    /// A sentence about each capability of `--allow` that only hosts know, and that is spelled
    /// nearly like one of these.
    ///
    /// Capabilities that this program does not know are allowed, because hosts define their own. So
    /// a typing mistake cannot be refused; it is reported if it is near to a name that some tool
    /// declares.
    fn misspelled<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
        let is_unknown = |it: &&Capability| {
            Capability::all_grantable().all(|known| known != it.as_str())
                && names.clone().all(|declared| declared != it.as_str())
        };
        let near = |it: &Capability| {
            let near = nearest_word(it.as_str(), names.clone())?;
            Some(format!("`--allow {it}` does nothing; did you mean `{near}`?"))
        };
        self.run.iter().filter(is_unknown).filter_map(near).collect()
    }

    /// Whether there are agents with tokens of their own.
    pub fn has_agents(&self) -> bool {
        !self.settings().settings.agents.is_empty()
    }

    /// The agents with tokens of their own: names, and the SHA-256 of their tokens.
    pub fn agent_tokens(&self) -> Vec<(Arc<str>, [u8; 32])> {
        let settings = self.settings();
        let agents = settings.settings.agents.iter();
        agents.map(|agent| (agent.name.as_str().into(), agent.token_hash)).collect()
    }

    /// Whether an agent may use some tools only. One that is not configured any more is restricted,
    /// to nothing. The two agents without tokens of their own never are.
    pub fn is_restricted(&self, agent: &str) -> bool {
        let is_own = [LOCAL_AGENT, HTTP_AGENT].contains(&agent);
        let settings = self.settings();
        let of_agent = settings.agent(agent);
        !is_own && of_agent.is_none_or(|it| it.sources.is_some() || it.tools.is_some())
    }

    /// Whether the server that a definition names may be started before anybody calls it: it was
    /// named, or some agent may connect to it. A definition that was merely found in a folder would
    /// otherwise run a program of its author's choice.
    ///
    /// Not asked for one agent: the grant of any agent is enough.
    pub(crate) fn may_start(&self, trust: &ToolTrust, toolset: &str) -> bool {
        let Ok(need) = Capability::parse("mcp:connect") else { return false };
        let settings = self.settings();
        let configured = || {
            let mut grants = settings.settings.grants.iter().filter(|_| !trust.shares_name);
            grants.any(|it| fits_glob(&it.toolset, toolset) && it.capabilities.contains(&need))
        };
        let stored = || {
            let grants = self.store().ok().and_then(|store| store.current().ok());
            grants.is_some_and(|grants| {
                let mut grants = grants.iter().filter(|it| it.capability == need.as_str());
                grants.any(|grant| is_for(grant, trust, toolset))
            })
        };
        trust.is_named || self.run.contains(&need) || configured() || stored()
    }

    /// The grants that an agent has for a toolset, by the least lasting one first: this run, the
    /// configuration, the session, the store. Each source is asked only for what those before it do
    /// not cover, so the store is not read for calls that need nothing of it.
    ///
    /// ```text
    /// run          --allow                          every agent
    /// configured   [[grant]]                        agent, glob for the toolset, origin
    /// session      answers of people                agent, session, hash of the toolset, origin
    /// always       store                            agent, hash or name of the toolset, origin
    /// ```
    ///
    /// In the second and the last line a name counts only if `shares_name` is not set.
    fn granted(&self, request: &PolicyRequest<'_>, needs: &[Capability]) -> GrantCoverage {
        let mut granted = GrantCoverage { terms: vec![None; needs.len()], store_error: None };
        granted.cover(needs, GrantTerm::Run, &mut self.run.iter());
        if granted.is_complete() {
            return granted;
        }
        let toolset = toolset_name(request.tool);
        let settings = self.settings();
        let configured = settings.settings.grants.iter();
        let configured = configured
            .filter(|_| !request.tool.trust.shares_name)
            .filter(|it| it.agent == request.agent && fits_glob(&it.toolset, &toolset))
            .flat_map(|it| {
                let origins = it.origins.iter().map(String::as_str);
                it.capabilities
                    .iter()
                    .filter(move |have| holds_on(have, origins.clone(), request.origin))
            });
        granted.cover(needs, GrantTerm::Configured, &mut configured.into_iter());
        if granted.is_complete() {
            return granted;
        }
        let key = toolset_key(request);
        let sessions = self.sessions();
        let own =
            sessions.keys().filter(|it| it.agent == request.agent && it.session == request.session);
        let own = own.filter_map(|it| match &it.subject {
            GrantSubject::Capability(toolset, capability, origin)
                if *toolset == key
                    && holds_on(capability, origin.as_deref().into_iter(), request.origin) =>
            {
                Some(capability)
            }
            _ => None,
        });
        granted.cover(needs, GrantTerm::Session, &mut own.into_iter());
        drop(sessions);
        if granted.is_complete() {
            return granted;
        }
        match self.store().map(GrantSnapshot::current) {
            Ok(Ok(grants)) => {
                let own = grants.iter().filter(|grant| {
                    grant.agent == request.agent && is_for(grant, &request.tool.trust, &toolset)
                });
                let own = own.filter_map(|grant| {
                    let have = Capability::parse(&grant.capability).ok()?;
                    let origins = grant.origin.as_deref().into_iter();
                    holds_on(&have, origins, request.origin).then_some(have)
                });
                let own: Vec<Capability> = own.collect();
                granted.cover(needs, GrantTerm::Always, &mut own.iter());
            }
            Ok(Err(error)) => granted.store_error = Some(error.to_string()),
            Err(why) => granted.store_error = Some(why),
        }
        granted
    }

    /// What a call needs: what its tool declares, what its executor starts, and what its
    /// annotations state if the configuration wants that. If it is empty, the call needs neither a
    /// grant nor the store.
    ///
    /// It may hold names that no definition writes: `tool:destructive` and others stand for
    /// annotations.
    fn needs(&self, request: &PolicyRequest<'_>) -> Vec<Capability> {
        let mut needs = request.needs();
        let settings = self.settings();
        if !settings.settings.need_grant.is_empty() && request.scope != PolicyScope::Rules {
            needs.extend(settings.annotated_needs(request.tool));
        }
        // Code in the page itself can do what the page can, whatever else was granted.
        if needs.iter().any(Capability::is_full_page) {
            needs.retain(|need| need.is_full_page() || !need.needs_page());
        }
        needs
    }

    /// Everything that the toolset would be asked for: the needs of the call, and what its manifest
    /// declares besides, so that a person is asked once and not for every tool. The page itself is
    /// asked for alone, and only where a tool needs it: that right is too large to be granted along
    /// with others.
    fn all_needs(request: &PolicyRequest<'_>, needs: &[Capability]) -> Vec<Capability> {
        let mut all = needs.to_vec();
        if !needs.iter().any(Capability::is_full_page) {
            let declared = request.tool.trust.declared.iter();
            let others = declared.filter(|it| !needs.contains(it) && !it.is_full_page());
            all.extend(others.cloned());
        }
        all
    }

    /// Whether a person has allowed what this rule asks about, for this session.
    fn is_rule_allowed(&self, request: &PolicyRequest<'_>, rule: &RuleQuestion) -> bool {
        self.sessions().contains_key(&SessionGrant {
            agent: request.agent.to_owned(),
            session: request.session,
            subject: rule_subject(request, rule),
        })
    }
}

/// Whether a grant for these origins holds on the page of a call. A capability that is not about
/// pages ignores origins. Without a page all grants hold: the call then fails when it runs.
///
/// `page` is the origin of the page that the call is about.
fn holds_on<'o>(
    have: &Capability,
    mut origins: impl Iterator<Item = &'o str>,
    page: Option<&str>,
) -> bool {
    match page.filter(|_| have.needs_page()) {
        Some(page) => origins.any(|origin| origin == "*" || origin == page),
        None => true,
    }
}

/// Whether a stored grant is for this toolset. By hash if it has one: then the name means nothing.
/// A grant by name does not hold for a definition that was found in a folder under a name that
/// another one has, too.
fn is_for(grant: &StoredGrant, trust: &ToolTrust, toolset: &str) -> bool {
    match &grant.hash {
        Some(hash) => trust.toolset_hash.as_ref().is_some_and(|own| own.as_str() == hash),
        None => grant.toolset == toolset && !trust.shares_name,
    }
}

/// Which needs are granted.
///
/// Filled in by `cover`, one source of grants after the other.
struct GrantCoverage {
    /// For each need, by what.
    terms: Vec<Option<GrantTerm>>,
    /// Why the store could not be read.
    store_error: Option<String>,
}

impl GrantCoverage {
    /// The first grant that covers a need gives its term; later ones change nothing.
    fn cover(
        &mut self,
        needs: &[Capability],
        term: GrantTerm,
        grants: &mut dyn Iterator<Item = &Capability>,
    ) {
        for have in grants {
            for (need, own) in needs.iter().zip(&mut self.terms) {
                if own.is_none() && gives(have, need) {
                    *own = Some(term);
                }
            }
        }
    }

    /// Whether every need has a grant. True without needs.
    fn is_complete(&self) -> bool {
        self.terms.iter().all(Option::is_some)
    }

    /// The grants that a call with these needs uses. `answered` covers the rest.
    fn used(&self, needs: &[Capability], answered: Option<GrantTerm>) -> Vec<UsedGrant> {
        let used = needs.iter().zip(&self.terms).filter_map(|(need, term)| {
            Some(UsedGrant { capability: need.as_str().into(), term: term.or(answered)? })
        });
        used.collect()
    }
}

impl CallPolicy for GrantPolicy {
    /// Both lists of an agent must allow it, if they are set: that of sources and that of tools.
    fn may_see(&self, agent: &str, tool: &RegisteredTool) -> bool {
        if [LOCAL_AGENT, HTTP_AGENT].contains(&agent) {
            return true;
        }
        let settings = self.settings();
        // An agent that has left the configuration may nothing, although its session is open.
        let Some(agent) = settings.agent(agent) else { return false };
        let id = tool.id.to_string();
        let allows = |globs: &Option<Vec<String>>, text: &str| {
            globs.as_ref().is_none_or(|globs| globs.iter().any(|glob| fits_glob(glob, text)))
        };
        allows(&agent.sources, &tool.trust.source) && allows(&agent.tools, &id)
    }

    /// Limits of agents, checked before anything else of a call. Calls that a tool makes count in
    /// the minute and need no permit: their caller holds one, and waiting for another could take as
    /// long as the caller waits. A call over the limit is refused at once, never queued.
    ///
    /// # Errors
    /// `BUSY`, or `CAPABILITY_DENIED` for an agent that was removed.
    ///
    /// The permit is held until the call ends. A call that is refused because of the minute is not
    /// counted; one that is refused because of the calls at once is.
    fn admit(&self, agent: &str, is_inner: bool) -> Result<Option<OwnedSemaphorePermit>, Failure> {
        if [LOCAL_AGENT, HTTP_AGENT].contains(&agent) {
            return Ok(None);
        }
        let settings = self.settings();
        let Some(config) = settings.agent(agent) else {
            let message = format!("there is no agent `{agent}` any more");
            return Err(Failure::new(&code::CAPABILITY_DENIED, message));
        };
        let mut usage = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let max = config.max_concurrent.unwrap_or(Semaphore::MAX_PERMITS);
        let new = || AgentUsage {
            running: Arc::new(Semaphore::new(max)),
            max_running: max,
            recent: VecDeque::new(),
        };
        let own = usage.entry(agent.to_owned()).or_insert_with(new);
        if own.max_running != max {
            own.running = Arc::new(Semaphore::new(max));
            own.max_running = max;
        }
        if let Some(most) = config.calls_per_minute {
            let now = Instant::now();
            while own.recent.front().is_some_and(|then| now.duration_since(*then) >= MINUTE) {
                own.recent.pop_front();
            }
            if own.recent.len() >= most {
                let oldest = own.recent.front().map_or(MINUTE, |then| now.duration_since(*then));
                let wait = MINUTE.saturating_sub(oldest).as_secs() + 1;
                let message = format!("the agent `{agent}` may make {} in a minute", calls(most));
                return Err(Failure::new(&code::BUSY, message)
                    .suggest(format!("call again in {wait} seconds")));
            }
            own.recent.push_back(now);
        }
        if is_inner {
            return Ok(None);
        }
        match Arc::clone(&own.running).try_acquire_owned() {
            Ok(permit) => Ok(Some(permit)),
            Err(_) => {
                let message = format!("the agent `{agent}` may have {} at once", calls(max));
                Err(Failure::new(&code::BUSY, message))
            }
        }
    }

    /// The order: a rule that denies, then rules that ask, then grants. A rule that asks wants an
    /// answer even if all needs are granted. What is missing becomes one question for the whole
    /// toolset.
    ///
    /// ```text
    /// a rule denies                           Deny, with the reason of the rule
    /// no needs and no rule                    Allow; nothing else is looked at
    /// all needs granted, all rules answered   Allow, with the grants that were used
    /// otherwise                               Ask: what is missing, rules without an answer
    /// ```
    fn decide(&self, request: &PolicyRequest<'_>) -> PolicyDecision {
        let settings = self.settings();
        let rules = settings.rules(request);
        if let Some(rule) = rules.iter().find(|rule| rule.action == RuleAction::Deny) {
            let message =
                format!("the rule `{}` of the configuration refuses this call", rule.tool);
            let failure = Failure::new(&code::CAPABILITY_DENIED, message);
            return PolicyDecision::Deny(Box::new(match &rule.reason {
                Some(reason) => failure.suggest(reason.as_str()),
                None => failure.suggest("do without this call, or change the configuration"),
            }));
        }
        let needs = self.needs(request);
        if needs.is_empty() && rules.is_empty() {
            return PolicyDecision::Allow(Vec::new());
        }
        let rules = rules.into_iter().map(question_of);
        let (allowed, asking): (Vec<_>, Vec<_>) =
            rules.partition(|rule| self.is_rule_allowed(request, rule));
        let granted = self.granted(request, &needs);
        if granted.is_complete() && asking.is_empty() {
            let mut used = granted.used(&needs, None);
            used.extend(used_consents(&allowed, GrantTerm::Session));
            return PolicyDecision::Allow(used);
        }
        let mut missing = Vec::new();
        if !granted.is_complete() {
            missing = GrantPolicy::all_needs(request, &needs);
            let all = self.granted(request, &missing);
            let mut terms = all.terms.into_iter();
            missing.retain(|_| terms.next().flatten().is_none());
        }
        let mut question = question_for(request, missing);
        // The author of a definition chooses them, and clients show them as they are.
        question.toolset = visible(&question.toolset);
        question.tool = visible(&question.tool);
        question.may_elicit = settings.settings.elicit;
        if !asking.is_empty() {
            question.arguments = Some(shown_arguments(request.arguments));
        }
        question.rules = asking;
        question.store_error = granted.store_error;
        let missing = question.capabilities.iter().map(Capability::as_str);
        question.misspelled = self.misspelled(missing);
        PolicyDecision::Ask(Box::new(question))
    }

    /// Called with the answer to the question that `decide` returned. A term beyond this call is
    /// kept first, and the call goes on only if that worked. The result lists everything that the
    /// call used, for its record.
    ///
    /// # Errors
    /// The refusal, or that the answer could not be kept.
    ///
    /// ```text
    /// refused    the refusal
    /// once       nothing is kept
    /// session    capabilities and rules are kept for the session
    /// always     capabilities in the store, rules for the session
    /// ```
    fn record(
        &self,
        request: &PolicyRequest<'_>,
        question: &GrantQuestion,
        answer: GrantAnswer,
    ) -> Result<Vec<UsedGrant>, Failure> {
        let Some(term) = answer.term() else { return Err(question.refusal("it was refused")) };
        let needs = self.needs(request);
        let granted = self.granted(request, &needs);
        let mut answered = self.settings().asking_rules(request);
        answered.retain(|rule| self.is_rule_allowed(request, rule));
        // Lasting grants of rules do not exist: the configuration asks in every session.
        if term != GrantTerm::Once {
            for rule in &question.rules {
                self.allow_in_session(request, rule_subject(request, rule));
            }
        }
        match term {
            GrantTerm::Session => {
                let key = toolset_key(request);
                for capability in &question.capabilities {
                    let origin = origin_of(question, capability);
                    let subject = GrantSubject::Capability(key.clone(), capability.clone(), origin);
                    self.allow_in_session(request, subject);
                }
            }
            GrantTerm::Always => {
                let fail =
                    |why: String| question.refusal(&format!("the answer cannot be kept: {why}"));
                let store = self.store().map_err(fail)?;
                for capability in &question.capabilities {
                    let grant = StoredGrant {
                        agent: request.agent.to_owned(),
                        toolset: question.toolset.clone(),
                        hash: question.toolset_hash.as_ref().map(ToString::to_string),
                        capability: capability.to_string(),
                        origin: origin_of(question, capability),
                        time: now_in_micros(),
                    };
                    store.add(&grant).map_err(|error| fail(error.to_string()))?;
                }
            }
            _ => {}
        }
        let mut used = granted.used(&needs, Some(term));
        used.extend(used_consents(&answered, GrantTerm::Session));
        let term = if term == GrantTerm::Always { GrantTerm::Session } else { term };
        used.extend(used_consents(&question.rules, term));
        Ok(used)
    }

    /// Also removes the copies in the store, which nobody else would.
    fn end_session(&self, session: SessionNumber) {
        let mut copies = Vec::new();
        self.sessions().retain(|grant, number| {
            let has_ended = grant.session == Some(session);
            copies.extend(number.filter(|_| has_ended));
            !has_ended
        });
        self.forget_copies(copies);
    }
}

/// A process that ends holds nothing any more.
impl Drop for GrantPolicy {
    fn drop(&mut self) {
        let numbers = self.sessions().values().flatten().copied().collect();
        self.forget_copies(numbers);
    }
}

/// The origin that an answer is kept for, if the capability is about pages. A person who allows a
/// tool to read one page has not allowed it all pages.
fn origin_of(question: &GrantQuestion, capability: &Capability) -> Option<String> {
    question.origin.clone().filter(|_| capability.needs_page())
}

/// Microseconds since 1970.
pub fn now_in_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
