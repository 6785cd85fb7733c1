//! Who may call what: the step of a call in which the capabilities that a tool needs are compared
//! with what a person has granted to the agent that calls.
//!
//! ```text
//! RegisteredTool: declared capabilities ─┐
//! ExecutorKind::needs, unless named ─────┼─ CallPolicy::decide ─┬─ Allow ─▶ the call goes on
//! [policy], [[rule]] ────────────────────┘                      ├─ Deny ──▶ Failure
//!                                                               └─ Ask ─ Host::ask_grant ─ person
//!                                                                          └─ CallPolicy::record
//! ```
//!
//! A call whose arguments request processors change is decided about twice ([`PolicyScope`]): its
//! grants before any code of the definition runs, its rules when the arguments of the executor are
//! known.
//!
//! Without a policy nothing is granted: a tool that needs a capability is refused. Calls that need
//! the same grant at the same time ask once and share the answer.
//!
//! Not here: where grants are kept (the crate `catalog` implements [`CallPolicy`]), and how a
//! person is asked (`cli` on a terminal, `serve` by elicitation).

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, watch};
use toolwright_model::{Capability, ContentHash};

use crate::{BoxFuture, Failure, Host, Json, RegisteredTool, SessionNumber, code};

/// How long a person may take to answer.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(10 * 60);

/// What the policy has to know of a tool besides its definition.
#[derive(Clone, Debug)]
pub struct ToolTrust {
    /// The name of its source.
    pub source: Arc<str>,
    /// The content hash of the definition that grants are for. For a definition that names its
    /// server it does not depend on what the server lists: the person was asked about the former.
    pub toolset_hash: Option<ContentHash>,
    /// All capabilities that its toolset declares, which are asked for at once.
    pub declared: Arc<[Capability]>,
    /// Whether the command line or the configuration names the definition itself, which is the
    /// consent to start what it names. False for a definition that was found in a folder.
    pub is_named: bool,
    /// The origins of the pages that its manifest wants it to work on; empty: all.
    pub origins: Arc<[String]>,
    /// Whether it was found in a folder and another toolset has its name. Grants by name do not
    /// hold for it then: anybody who can write to the folder could take the name of a granted
    /// toolset.
    pub shares_name: bool,
}

/// A tool that the caller of this crate made itself.
impl Default for ToolTrust {
    fn default() -> ToolTrust {
        ToolTrust {
            source: "".into(),
            toolset_hash: None,
            declared: Arc::default(),
            is_named: true,
            origins: Arc::default(),
            shares_name: false,
        }
    }
}

/// Tells whether the files with a tool's code are still those of its content hash, which grants and
/// pins are for.
pub trait LoadedCode: fmt::Debug + Send + Sync {
    /// Whether only accepted code may run, whatever is granted.
    fn is_enforced(&self) -> bool;

    /// The first file that has changed or appeared since it was loaded. Looks at the files; cheap
    /// if none has.
    fn changed_file(&self) -> Option<String>;

    /// The file to start in the place of this word of a command line, if links led to it when it
    /// was loaded: they may have been changed since the comparison.
    fn file_behind_links(&self, word: &str) -> Option<&Path>;
}

/// Refuses a call of a tool whose code has changed since it was loaded, if somebody has granted or
/// accepted the code: there is a moment before a change is noticed and the definition loaded again.
pub(crate) fn check_code(tool: &RegisteredTool, is_granted: bool) -> Result<(), Failure> {
    let Some(code) = tool.code.as_ref().filter(|code| is_granted || code.is_enforced()) else {
        return Ok(());
    };
    let Some(file) = code.changed_file() else { return Ok(()) };
    let message = format!("`{}` is quarantined: `{file}` has just changed", tool.id);
    let failure = Failure::new(&code::QUARANTINED, message);
    Err(failure.suggest("call it again in a second: the definition is loaded again"))
}

/// Which part of the policy decides about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyScope {
    /// All of it.
    Whole,
    /// Capabilities, and rules that deny whatever the arguments are: request processors will change
    /// the arguments.
    Grants,
    /// Rules, after [`PolicyScope::Grants`].
    Rules,
}

/// A call, as the policy sees it.
pub struct PolicyRequest<'a> {
    /// Who calls: [`Host::agent`].
    pub agent: &'a str,
    /// The session of the client.
    pub session: Option<SessionNumber>,
    /// The tool.
    pub tool: &'a RegisteredTool,
    /// What the executor needs and naming the source has not granted, such as `process:spawn`.
    pub starts: &'static [&'static str],
    /// The origin of the page that the tool would work on. What it may do there is granted for this
    /// origin only.
    pub origin: Option<&'a str>,
    /// The arguments that the executor gets. With [`PolicyScope::Grants`] those that the caller
    /// wrote.
    pub arguments: &'a Json,
    /// Which part of the policy decides.
    pub scope: PolicyScope,
}

impl PolicyRequest<'_> {
    /// What the tool declares, and what its executor needs; nothing if only rules decide.
    pub fn needs(&self) -> Vec<Capability> {
        if self.scope == PolicyScope::Rules {
            return Vec::new();
        }
        let mut needs = self.tool.tool.needs.clone();
        let starts = self.starts.iter().filter_map(|name| Capability::parse(name).ok());
        needs.extend(starts.filter(|own| !self.tool.tool.needs.contains(own)));
        needs
    }
}

/// How long a grant holds, or where it was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantTerm {
    /// For one call.
    Once,
    /// As long as the session of the client.
    Session,
    /// Until it is revoked: it is in the user's store.
    Always,
    /// For this run, by `--allow`.
    Run,
    /// By `[[grant]]` of the configuration.
    Configured,
}

impl GrantTerm {
    /// The word in records.
    pub fn name(self) -> &'static str {
        match self {
            GrantTerm::Once => "once",
            GrantTerm::Session => "session",
            GrantTerm::Always => "always",
            GrantTerm::Run => "run",
            GrantTerm::Configured => "configured",
        }
    }
}

/// A grant that a call has used. Its text, such as `dom:read (session)`, is in the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedGrant {
    /// What the call needed.
    pub capability: Box<str>,
    /// The grant that gave it.
    pub term: GrantTerm,
}

impl fmt::Display for UsedGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.capability, self.term.name())
    }
}

/// What a person is asked before a call, as data: the words are those of the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GrantQuestion {
    /// Who would be allowed.
    pub agent: String,
    /// The name of the toolset: the namespace of its tools.
    pub toolset: String,
    /// Its content hash. A grant is for this content.
    pub toolset_hash: Option<ContentHash>,
    /// The id of the tool that was called.
    pub tool: String,
    /// All capabilities of the toolset that are not granted yet.
    pub capabilities: Vec<Capability>,
    /// The origin of the page that they are for, as far as they are about a page.
    pub origin: Option<String>,
    /// The rules of the configuration that ask about this call and are not answered yet.
    pub rules: Vec<RuleQuestion>,
    /// The arguments that the tool would get, as JSON, if a rule asks.
    pub arguments: Option<String>,
    /// Whether a client may be asked by elicitation.
    pub may_elicit: bool,
    /// Why the grants that were given before are not known.
    pub store_error: Option<String>,
    /// Sentences about grants of this run that are spelled nearly like one of the capabilities.
    pub misspelled: Vec<String>,
}

/// The part of a question that a `[[rule]]` makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleQuestion {
    /// The rule, as a person recognises it: its tools and its reason.
    pub shown: String,
    /// All parts of the rule: another one may be about the same tools for the same reason.
    pub key: String,
}

impl GrantQuestion {
    /// The answers that can be given: what a rule asks is asked again in every session.
    pub fn answers(&self) -> &'static [GrantAnswer] {
        match !self.rules.is_empty() || self.toolset_hash.is_none() {
            true => &[GrantAnswer::Once, GrantAnswer::Session, GrantAnswer::No],
            false => &GrantAnswer::ALL,
        }
    }

    /// The command that grants the capabilities until they are revoked; `None` if there is none.
    pub fn command(&self) -> Option<String> {
        let hash = self.toolset_hash.as_ref().filter(|_| !self.capabilities.is_empty())?;
        let names: Vec<&str> = self.capabilities.iter().map(Capability::as_str).collect();
        let mut command = format!(
            "toolwright grants add {} {} --hash {hash}",
            quoted(&self.toolset),
            names.join(",")
        );
        if let Some(origin) = self.page_origin() {
            command += &format!(" --origin {}", quoted(origin));
        }
        if self.agent != crate::LOCAL_AGENT {
            command += &format!(" --agent {}", quoted(&self.agent));
        }
        Some(command)
    }

    /// The origin of the page, if one of the capabilities is about a page.
    pub fn page_origin(&self) -> Option<&str> {
        let is_about_page = self.capabilities.iter().any(Capability::needs_page);
        self.origin.as_deref().filter(|_| is_about_page)
    }

    /// What a grant cannot hold a tool to, for the person who is asked.
    pub fn caution(&self) -> Option<&'static str> {
        if self.capabilities.iter().any(Capability::is_full_page) {
            return Some(
                "The code of the tool would run in the page itself, where nothing holds it: it \
                 can read, change and send whatever you can there.",
            );
        }
        let writes = self.capabilities.iter().any(|it| it.as_str() == "dom:write");
        writes.then_some(
            "Clicking and submitting run the page's own code, which may send, buy or delete.",
        )
    }

    /// The failure of the call if the answer is no, or nobody was there to give one.
    pub fn refusal(&self, why: &str) -> Failure {
        let names: Vec<String> = self.capabilities.iter().map(|it| format!("`{it}`")).collect();
        let mut what = Vec::new();
        if !names.is_empty() {
            let place = self.page_origin().map(|it| format!(" on {it}")).unwrap_or_default();
            what.push(format!(
                "needs {}, which is not granted to the agent `{}`{place}",
                names.join(", "),
                self.agent
            ));
        }
        let rules: Vec<String> = self.rules.iter().map(|it| format!("`{}`", it.shown)).collect();
        if !rules.is_empty() {
            let word = if rules.len() == 1 { "rule" } else { "rules" };
            what.push(format!("needs your consent by the {word} {}", rules.join(", ")));
        }
        let mut message = format!("`{}` {}: {why}", self.tool, what.join(" and "));
        if let Some(error) = &self.store_error {
            message += &format!(" (stored grants could not be read: {error})");
        }
        for sentence in &self.misspelled {
            message += &format!(" ({sentence})");
        }
        let failure = Failure::new(&code::CAPABILITY_DENIED, message);
        match self.command() {
            Some(command) => failure.suggest(format!("a person can grant it with `{command}`")),
            None => failure,
        }
    }

    /// Whether an answer to this question also answers another one about the same call.
    pub(crate) fn includes(&self, other: &GrantQuestion) -> bool {
        other.capabilities.iter().all(|it| self.capabilities.contains(it))
            && other.rules.iter().all(|it| self.rules.contains(it))
    }

    /// What two calls have in common whose answer is the same.
    fn shared(&self) -> GrantQuestion {
        GrantQuestion { tool: String::new(), ..self.clone() }
    }
}

/// A word of a command line, in quotes if a shell would read it as something else.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The answer of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrantAnswer {
    /// This call only.
    Once,
    /// All calls of this session.
    Session,
    /// Until it is revoked. Only a person at a terminal can say so.
    Always,
    /// The call is refused.
    No,
}

impl GrantAnswer {
    /// All answers, in the order in which they are offered.
    pub const ALL: [GrantAnswer; 4] =
        [GrantAnswer::Once, GrantAnswer::Session, GrantAnswer::Always, GrantAnswer::No];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            GrantAnswer::Once => "once",
            GrantAnswer::Session => "session",
            GrantAnswer::Always => "always",
            GrantAnswer::No => "no",
        }
    }

    /// The term of the grant that it makes; `None` for a no.
    pub fn term(self) -> Option<GrantTerm> {
        match self {
            GrantAnswer::Once => Some(GrantTerm::Once),
            GrantAnswer::Session => Some(GrantTerm::Session),
            GrantAnswer::Always => Some(GrantTerm::Always),
            GrantAnswer::No => None,
        }
    }
}

/// What the policy says to a call.
#[derive(Debug)]
pub enum PolicyDecision {
    /// It may be made, by these grants.
    Allow(Vec<UsedGrant>),
    /// A person has to be asked.
    Ask(Box<GrantQuestion>),
    /// It is refused, whatever a person says.
    Deny(Box<Failure>),
}

/// Decides which agent may call which tool.
pub trait CallPolicy: Send + Sync {
    /// Whether the tool exists for this agent. A call of another one fails as if it did not.
    fn may_see(&self, agent: &str, tool: &RegisteredTool) -> bool;

    /// Counts a call against the limits of its agent. Called once for every call; the permit is
    /// held until the call ends. A call that a tool makes (`is_inner`) runs in the place of the
    /// call that waits for it, and needs none of its own.
    ///
    /// # Errors
    /// If the agent has too many calls, now or in this minute.
    fn admit(&self, agent: &str, is_inner: bool) -> Result<Option<OwnedSemaphorePermit>, Failure>;

    /// Decides about a call. Called again after a question was answered for another call.
    fn decide(&self, request: &PolicyRequest<'_>) -> PolicyDecision;

    /// Keeps the answer to a question as long as it holds. Returns the grants that the call uses.
    ///
    /// # Errors
    /// If the answer is no, or cannot be kept.
    fn record(
        &self,
        request: &PolicyRequest<'_>,
        question: &GrantQuestion,
        answer: GrantAnswer,
    ) -> Result<Vec<UsedGrant>, Failure>;

    /// Forgets the grants of a session that has ended.
    fn end_session(&self, _: SessionNumber) {}
}

/// The question of a tool that needs something, where there is no policy: nothing is granted.
pub(crate) fn without_policy(request: &PolicyRequest<'_>) -> Result<(), Failure> {
    let needs = request.needs();
    if needs.is_empty() {
        return Ok(());
    }
    Err(question_for(request, needs).refusal("nothing is granted here"))
}

/// A question about these capabilities.
pub fn question_for(request: &PolicyRequest<'_>, capabilities: Vec<Capability>) -> GrantQuestion {
    GrantQuestion {
        agent: request.agent.to_owned(),
        toolset: toolset_name(request.tool),
        toolset_hash: request.tool.trust.toolset_hash.clone(),
        tool: request.tool.id.to_string(),
        capabilities,
        origin: request.origin.map(str::to_owned),
        rules: Vec::new(),
        arguments: None,
        may_elicit: false,
        store_error: None,
        misspelled: Vec::new(),
    }
}

/// The name of a tool's toolset in grants: its namespace, or the name of a tool that has none.
pub fn toolset_name(tool: &RegisteredTool) -> String {
    match &tool.id.namespace {
        Some(namespace) => namespace.to_string(),
        None => tool.id.name.to_string(),
    }
}

/// A question and the session in which it is asked.
type QuestionKey = (GrantQuestion, Option<SessionNumber>);

/// The grants that a call uses by an answer, or its refusal.
type SettledAnswer = Result<Vec<UsedGrant>, Failure>;

/// The answer to an open question, once it is there.
type SharedAnswer = watch::Receiver<Option<Option<GrantAnswer>>>;

/// The questions that wait for an answer. A call that needs the same as another one waits with it.
#[derive(Default)]
pub(crate) struct OpenQuestions(Mutex<HashMap<QuestionKey, SharedAnswer>>);

impl OpenQuestions {
    /// Asks the person behind `host`, or waits for the answer to the same question. `settle` keeps
    /// the answer; it is called before anybody else can ask the same. Returns `None` if the policy
    /// has to decide again: the answer was given meanwhile, the call that asked went away, or
    /// `settle` returned none.
    pub(crate) fn ask<'a>(
        &'a self,
        question: &'a GrantQuestion,
        host: &'a dyn Host,
        is_open: &'a (dyn Fn() -> bool + Sync),
        settle: &'a (dyn Fn(Option<GrantAnswer>) -> Option<SettledAnswer> + Sync),
    ) -> BoxFuture<'a, Option<SettledAnswer>> {
        Box::pin(async move {
            // A rule asks about one call with its arguments: another one has other arguments. Who
            // is asked in results can allow one call, and shares the session with other clients:
            // none of them may wait for the answer of another.
            if !question.rules.is_empty() || host.is_asked_in_results() {
                return settle(host.ask_grant(question).await);
            }
            let key = (question.shared(), host.session());
            let joined = {
                let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                match open.get(&key) {
                    Some(answer) => Err(answer.clone()),
                    None => {
                        let (sender, answer) = watch::channel(None);
                        open.insert(key.clone(), answer);
                        Ok(sender)
                    }
                }
            };
            match joined {
                Ok(sender) => {
                    // Removed before the sender is dropped, also if this call is cancelled.
                    let _entry = OpenEntry { questions: self, key };
                    if !is_open() {
                        return None;
                    }
                    let given = host.ask_grant(question).await;
                    let settled = settle(given);
                    let _ = sender.send(Some(given));
                    settled
                }
                Err(mut answer) => {
                    let given = answer.wait_for(Option::is_some).await.ok()?.flatten();
                    match given {
                        // That was for the other call.
                        Some(GrantAnswer::Once) => None,
                        given => settle(given),
                    }
                }
            }
        })
    }
}

/// Removes an open question when it is dropped.
struct OpenEntry<'q> {
    questions: &'q OpenQuestions,
    key: QuestionKey,
}

impl Drop for OpenEntry<'_> {
    fn drop(&mut self) {
        self.questions.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
