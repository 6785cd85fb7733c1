//! The step of a call in which the policy decides: nothing is reached without a grant, and a person
//! is asked once.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolwright_exec::{
    BoxFuture, Call, CallLimits, CallPolicy, CallRequest, ConcurrencyLimit, EXECUTORS, Executor,
    ExecutorContext, ExecutorKind, Failure, GrantAnswer, GrantQuestion, GrantTerm, Host, NoHost,
    Outcome, PolicyDecision, PolicyRequest, Progress, RegisteredTool, Runner, ToolRegistry,
    ToolTrust, UsedGrant, question_for,
};
use toolwright_model::{Binding, Capability, Connection, Server, ServerSettings, Tool};

/// Must not be reached. Its tools need something, also those of a source that was named.
#[derive(Default)]
struct PanickingExecutor {
    needs: &'static [&'static str],
}

impl Executor for PanickingExecutor {
    fn needs(&self, _: &Tool) -> &'static [&'static str] {
        self.needs
    }

    fn run<'a>(
        &'a self,
        call: Call<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        panic!("`{}` was reached", call.tool.name.as_str())
    }
}

/// Answers `{}`, after as many milliseconds as the call says.
struct AnsweringExecutor;

impl Executor for AnsweringExecutor {
    fn run<'a>(
        &'a self,
        call: Call<'a>,
        _: &'a dyn Host,
    ) -> BoxFuture<'a, Result<Outcome, Failure>> {
        let ms = call.arguments["ms"].as_u64().unwrap_or(0);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(Outcome::json(json!({})))
        })
    }
}

/// The kinds of the program, with another executor in each.
fn kinds_with(build: fn(&ExecutorContext) -> Arc<dyn Executor>) -> &'static [ExecutorKind] {
    let kinds = EXECUTORS.iter().map(|kind| ExecutorKind { build, ..*kind });
    Box::leak(kinds.collect::<Box<[_]>>())
}

/// A binding of every kind that a definition can have.
fn bindings() -> Vec<Binding> {
    let server = Server {
        connection: Connection::Stdio { command: vec!["server".into()] },
        shown: None,
        environment: Vec::new(),
        headers: Vec::new(),
        directory: None,
        health_check: None,
        settings: ServerSettings::default(),
    };
    vec![
        Binding::Script,
        Binding::Executable { program: Some("/bin/true".into()) },
        Binding::Command {
            executable: "true".into(),
            words: Vec::new(),
            install_check: None,
            install_guide: None,
        },
        Binding::Local {
            runtime: None,
            entry_point: "x".into(),
            command: "x".into(),
            dependencies: Vec::new(),
        },
        Binding::Server { server: Arc::new(server), tool: "it".into() },
        Binding::Orchestration { helper: "h".into(), aggregates: vec!["other".into()] },
        Binding::Builtin { toolset: "web".into(), tool: "fetch".into() },
    ]
}

/// A tool with this binding, which declares these capabilities.
fn tool(name: &str, binding: &Binding, needs: &[&str], is_named: bool) -> Arc<RegisteredTool> {
    let mut tool = Tool::builder(name).namespace("set").build().expect("a tool");
    tool.details.binding = binding.clone();
    tool.input = json!({"type": "object"}).into();
    tool.needs = needs.iter().map(|need| Capability::parse(need).expect("a name")).collect();
    let declared = tool.needs.clone().into();
    let concurrency = Arc::new(ConcurrencyLimit::new(64, 1024));
    let id = tool.id(None);
    let mut entry =
        RegisteredTool::new(id, tool, Default::default(), concurrency).expect("its schema is fine");
    entry.trust = ToolTrust { declared, is_named, ..ToolTrust::default() };
    Arc::new(entry)
}

fn runner_with(kinds: &'static [ExecutorKind], tools: Vec<Arc<RegisteredTool>>) -> Runner {
    let runner = Runner::with_executors(ExecutorContext::default(), CallLimits::default(), kinds);
    let mut registry = ToolRegistry::default();
    tools.into_iter().for_each(|tool| registry.add(tool).expect("no name comes twice"));
    runner.set_tools(registry);
    runner
}

/// Asks for what a tool needs, and remembers what was granted for a session.
#[derive(Default)]
struct AskingPolicy {
    granted: Mutex<HashSet<Capability>>,
}

impl CallPolicy for AskingPolicy {
    fn may_see(&self, agent: &str, tool: &RegisteredTool) -> bool {
        agent != "blind" || tool.id.name.as_str() == "seen"
    }

    fn admit(&self, agent: &str, _: bool) -> Result<Option<OwnedSemaphorePermit>, Failure> {
        assert_eq!(agent, "local");
        Ok(Arc::new(Semaphore::new(1)).try_acquire_owned().ok())
    }

    fn decide(&self, request: &PolicyRequest<'_>) -> PolicyDecision {
        let mut missing = request.needs();
        let granted = self.granted.lock().expect("no panic");
        missing.retain(|need| !granted.contains(need));
        match missing.is_empty() {
            true => PolicyDecision::Allow(Vec::new()),
            false => PolicyDecision::Ask(Box::new(question_for(request, missing))),
        }
    }

    fn record(
        &self,
        _: &PolicyRequest<'_>,
        question: &GrantQuestion,
        answer: GrantAnswer,
    ) -> Result<Vec<UsedGrant>, Failure> {
        match answer.term() {
            None => Err(question.refusal("it was refused")),
            Some(term) => {
                if term != GrantTerm::Once {
                    let grants = question.capabilities.iter().cloned();
                    self.granted.lock().expect("no panic").extend(grants);
                }
                Ok(Vec::new())
            }
        }
    }
}

/// A person who takes some time to answer.
struct Person {
    asked: AtomicUsize,
    answer: GrantAnswer,
    time: Duration,
}

impl Person {
    fn new(answer: GrantAnswer, time: Duration) -> Person {
        Person { asked: AtomicUsize::new(0), answer, time }
    }

    fn was_asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Host for Person {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }

    fn ask_grant<'a>(&'a self, _: &'a GrantQuestion) -> BoxFuture<'a, Option<GrantAnswer>> {
        Box::pin(async {
            self.asked.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(self.time).await;
            Some(self.answer)
        })
    }
}

fn code(result: &Result<Outcome, Failure>) -> &'static str {
    result.as_ref().map_or_else(|failure| failure.code.name, |_| "OK")
}

#[tokio::test]
async fn no_kind_of_executor_is_reached_without_a_grant() {
    let reached = kinds_with(|_| Arc::<PanickingExecutor>::default());
    let answering = kinds_with(|_| Arc::new(AnsweringExecutor));
    let mut seen = HashSet::new();
    let needs = |binding: Binding| (binding, "printer:print");
    // A script that needs a page has an executor of its own.
    let on_page = (Binding::Script, "dom:read");
    for (binding, need) in bindings().into_iter().map(needs).chain([on_page]) {
        let declaring = tool("declaring", &binding, &[need], true);
        let kind = EXECUTORS.iter().find(|kind| (kind.accepts)(&declaring.tool));
        let kind = kind.expect("some kind");
        seen.insert(kind.id);
        let met = tool("met", &binding, &[], false);
        let needs_to_start = !(kind.needs)(&met.tool).is_empty();
        assert_eq!(needs_to_start, ["mcp", "process", "meta"].contains(&kind.id), "{}", kind.id);
        let mut tools = vec![declaring];
        tools.extend(needs_to_start.then_some(met));
        let ids: Vec<String> = tools.iter().map(|tool| tool.id.to_string()).collect();
        let bare = runner_with(reached, tools.clone());
        let asking =
            runner_with(reached, tools.clone()).with_policy(Arc::<AskingPolicy>::default());
        let granting = runner_with(answering, tools).with_policy(Arc::<AskingPolicy>::default());
        for id in ids {
            // Without a policy, without anybody to ask, and with a person who refuses.
            let result = bare.call(CallRequest::new(&id), &NoHost).await;
            assert_eq!(code(&result), "CAPABILITY_DENIED", "{} {id}", kind.id);
            assert_eq!(result.expect_err("refused").code.number, -32001);
            let result = asking.call(CallRequest::new(&id), &NoHost).await;
            assert_eq!(code(&result), "CAPABILITY_DENIED", "{} {id}", kind.id);
            let refusing = Person::new(GrantAnswer::No, Duration::ZERO);
            let result = asking.call(CallRequest::new(&id), &refusing).await;
            assert_eq!((code(&result), refusing.was_asked()), ("CAPABILITY_DENIED", 1), "{id}");
            let once = Person::new(GrantAnswer::Once, Duration::ZERO);
            for n in 1..3 {
                let result = granting.call(CallRequest::new(&id), &once).await;
                assert_eq!((code(&result), once.was_asked()), ("OK", n), "{} {id}", kind.id);
            }
            let session = Person::new(GrantAnswer::Session, Duration::ZERO);
            for _ in 0..2 {
                let result = granting.call(CallRequest::new(&id), &session).await;
                assert_eq!((code(&result), session.was_asked()), ("OK", 1), "{} {id}", kind.id);
            }
        }
    }
    assert_eq!(seen.len(), EXECUTORS.len(), "a kind of executor has no binding here: {seen:?}");
    // What an executor itself knows that a tool needs, such as a built-in one of a browser.
    let needing = kinds_with(|_| Arc::new(PanickingExecutor { needs: &["page:navigate"] }));
    for binding in bindings() {
        let undeclared = tool("undeclared", &binding, &[], true);
        let id = undeclared.id.to_string();
        let asking =
            runner_with(needing, vec![undeclared]).with_policy(Arc::<AskingPolicy>::default());
        let refusing = Person::new(GrantAnswer::No, Duration::ZERO);
        let result = asking.call(CallRequest::new(&id), &refusing).await;
        let found = (code(&result), refusing.was_asked());
        assert_eq!(found, ("CAPABILITY_DENIED", 1), "{binding:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_need_the_same_grant_ask_once() {
    let kinds = kinds_with(|_| Arc::new(AnsweringExecutor));
    for (answer, expected) in [
        (GrantAnswer::Once, "OK"),
        (GrantAnswer::Session, "OK"),
        (GrantAnswer::No, "CAPABILITY_DENIED"),
    ] {
        let tools = ["a", "b"].map(|it| tool(it, &Binding::Script, &["printer:print"], true));
        let runner = runner_with(kinds, tools.into()).with_policy(Arc::<AskingPolicy>::default());
        let person = Person::new(answer, Duration::from_secs(60));
        let calls = (0..20).map(|n| {
            let id = if n % 2 == 0 { "set:a" } else { "set:b" };
            runner.call(CallRequest::new(id), &person)
        });
        for result in futures::future::join_all(calls).await {
            assert_eq!(code(&result), expected, "{answer:?}");
        }
        // "Once" is for one call; every other answer is for all that wait.
        let asked = if answer == GrantAnswer::Once { 20 } else { 1 };
        assert_eq!(person.was_asked(), asked, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waited_asks_if_the_one_that_asked_goes_away() {
    let kinds = kinds_with(|_| Arc::new(AnsweringExecutor));
    let tools = vec![tool("a", &Binding::Script, &["printer:print"], true)];
    let runner = runner_with(kinds, tools).with_policy(Arc::<AskingPolicy>::default());
    let person = Person::new(GrantAnswer::Session, Duration::from_secs(60));
    let first = CallRequest::new("set:a");
    let cancel = first.cancel.clone();
    let giving_up = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (gone, stayed, ()) = tokio::join!(
        runner.call(first, &person),
        runner.call(CallRequest::new("set:a"), &person),
        giving_up
    );
    assert_eq!((code(&gone), code(&stayed)), ("CANCELLED", "OK"));
    assert_eq!(person.was_asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_the_person_is_not_that_of_the_tool() {
    let kinds = kinds_with(|_| Arc::new(AnsweringExecutor));
    let tools = vec![tool("a", &Binding::Script, &["printer:print"], true)];
    let runner = runner_with(kinds, tools).with_policy(Arc::<AskingPolicy>::default());
    let person = Person::new(GrantAnswer::Once, Duration::from_secs(500));
    // The default is 30 s; a caller's own limit counts everything else since the request.
    for (timeout, ms, expected) in [
        (None, 29_000, "OK"),
        (None, 31_000, "TIMEOUT"),
        (Some(Duration::from_secs(2)), 1_000, "OK"),
        (Some(Duration::from_secs(2)), 3_000, "TIMEOUT"),
    ] {
        let arguments = json!({"ms": ms}).into();
        let request = CallRequest { timeout, arguments, ..CallRequest::new("set:a") };
        let result = runner.call(request, &person).await;
        assert_eq!(code(&result), expected, "{timeout:?} {ms}");
    }
    // Nobody waits for ever.
    let asleep = Person::new(GrantAnswer::Once, Duration::from_secs(6_000));
    let refused = runner.call(CallRequest::new("set:a"), &asleep).await.expect_err("refused");
    assert!(refused.message.ends_with("nobody has answered within 10 minutes"), "{refused}");
}
