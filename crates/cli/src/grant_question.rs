//! Asks the person at the terminal whether a call may be made: what, who, and the risk, in plain
//! words.
//!
//! ```text
//! `local` calls `notes:write`.
//! The tools of `notes` want to:
//!   change files  high risk  fs:write
//! Allow it? [o]nce, [s]ession, [a]lways, [N]o
//! ```
//!
//! The words of the answers are those of `GrantAnswer`; which ones are offered depends on the
//! question.

use std::io;
use std::sync::OnceLock;

use tokio::sync::{Mutex, oneshot};
use toolwright_exec::{BoxFuture, GrantAnswer, GrantQuestion, Host, Progress};
use toolwright_source::render::visible;

use crate::output;
use crate::question::{is_interactive, read_answer};

/// Asks. Returns `None` if standard input or standard error is not a terminal. One question at a
/// time, also of calls that run side by side. An end of the input counts as a no.
pub(crate) async fn ask(question: &GrantQuestion) -> Option<GrantAnswer> {
    static TURN: OnceLock<Mutex<()>> = OnceLock::new();
    if !is_interactive() {
        return None;
    }
    let _turn = TURN.get_or_init(Mutex::default).lock().await;
    output::write_stderr(&text(question));
    // A thread of its own: a read of the terminal cannot be cancelled, and the end of the runtime
    // would wait for one of its own threads.
    let (sender, answer) = oneshot::channel();
    std::thread::spawn(move || drop(sender.send(read_answer())));
    let line: io::Result<String> = answer.await.ok()?;
    let word = line.unwrap_or_default().trim().to_ascii_lowercase();
    let offered = question.answers().iter().copied();
    // The whole word, or its first letter. Anything else is a no.
    let meant = offered.into_iter().find(|answer| {
        let name = answer.name();
        word == name || word == name[..1]
    });
    Some(meant.unwrap_or(GrantAnswer::No))
}

/// The question, ready to be answered on the same line.
///
/// Everything that a definition or a caller has written is shown with its control characters made
/// visible: the question decides about rights. Capabilities are aligned, each with its risk. Rules
/// of the configuration that ask are named, as the person may not know why a harmless call is asked
/// about.
fn text(question: &GrantQuestion) -> String {
    let GrantQuestion { agent, toolset, tool, capabilities, rules, arguments, .. } = question;
    let mut text = format!("`{}` calls `{}`.\n", visible(agent), visible(tool));
    if !capabilities.is_empty() {
        let place = question.page_origin().map(|it| format!(" on {}", visible(it)));
        let place = place.unwrap_or_default();
        text += &format!("The tools of `{}` want to{place}:\n", visible(toolset));
        let width = capabilities.iter().map(|it| it.meaning().len()).max().unwrap_or(0);
        for capability in capabilities {
            let (meaning, risk) = (capability.meaning(), capability.risk().name());
            text += &format!("  {meaning:width$}  {risk} risk  {capability}\n");
        }
    }
    if let Some(caution) = question.caution() {
        text += &format!("{caution}\n");
    }
    for rule in rules {
        text += &format!("Your configuration wants you to be asked: {}\n", visible(&rule.shown));
    }
    if let Some(arguments) = arguments {
        text += &format!("Its arguments: {}\n", visible(arguments));
    }
    let words: Vec<String> = question
        .answers()
        .iter()
        .map(|answer| match answer {
            GrantAnswer::No => "[N]o".to_owned(),
            answer => format!("[{}]{}", &answer.name()[..1], &answer.name()[1..]),
        })
        .collect();
    text + &format!("Allow it? {} ", words.join(", "))
}

/// A caller that shows nothing but questions.
///
/// Used by commands that make calls and have a person at the terminal, such as `test --run`.
pub(crate) struct TerminalHost;

impl Host for TerminalHost {
    fn progress(&self, _: Progress) {}

    fn wants_progress(&self) -> bool {
        false
    }

    fn ask_grant<'a>(&'a self, question: &'a GrantQuestion) -> BoxFuture<'a, Option<GrantAnswer>> {
        Box::pin(ask(question))
    }
}
