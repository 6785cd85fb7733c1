//! `toolwright audit`: lists the calls that are on record, and follows new ones.
//!
//! Also opens the journal of the commands that make calls. The records themselves are in
//! `toolwright_catalog::store`.
//!
//! ```text
//! journals of all processes ─ carry_over_all ─▶ store.db ─ find_calls, filter ─▶ text, JSON, CSV
//!                                                  ▲ again every 300 ms with --follow ─┘
//! ```
//!
//! Each process appends calls to a journal of its own, so that calls never wait for a lock of the
//! database. A process that reads the store moves the journals into it first.

use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use serde_json::json;
use toolwright_catalog::store::{CallFilter, Journal, Store, StoredCall};
use toolwright_exec::{AuditError, AuditLog, CallRecord, Log, code};
use toolwright_source::render::visible;
use toolwright_source::words::nearest_word;
use toolwright_workspace::AuditSettings;

use crate::args::{AuditArgs, AuditFormat};
use crate::output::ExitStatus;
use crate::{environment, messages, output};

/// The pause before a store that could not be opened is tried again.
const STORE_RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// How often `--follow` looks for new calls. Short enough to look immediate; each round reads only
/// the rows that are new.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(300);

/// The columns of the CSV output.
const COLUMNS: &str = "time,agent,session,tool,code,micros,argument_bytes,result_bytes,tool_hash,\
                       toolset_hash,arguments,grants\n";

/// The journal of this process; `None` if it cannot be opened and the configuration does not
/// require it. If it does, calls fail until the store works. `log` gets a line about a store that
/// does not.
///
/// ```text
/// store opens                  a journal
/// not, and required            a journal that refuses calls until the store opens
/// not, and not required        no journal, and one note on stderr
/// ```
pub(crate) fn open_journal(settings: &AuditSettings, log: &Log) -> Option<Arc<dyn AuditLog>> {
    match try_open(settings, log) {
        Ok(journal) => Some(Arc::new(journal)),
        Err(error) if settings.required => {
            log.line(&format!("calls cannot be recorded: {error:#}"));
            Some(RetryingJournal::start(settings, log, format!("{error:#}")))
        }
        Err(error) => {
            messages::print_note(&format!("calls are not recorded: {error:#}"));
            None
        }
    }
}

fn try_open(settings: &AuditSettings, log: &Log) -> anyhow::Result<Journal> {
    let folder = environment::state_folder()?;
    Ok(Journal::open(&folder, settings.clone(), log.clone())?)
}

/// A journal whose store could not be opened at the start. It is tried again, because a process
/// that holds the store may end; until then calls fail. Used only if `[audit] required` is set:
/// otherwise calls go on without a record.
struct RetryingJournal {
    /// Set once, by the thread that tries.
    journal: OnceLock<Journal>,
    /// For callers, until then.
    why_not: String,
}

impl RetryingJournal {
    /// The thread holds a weak reference: it ends when the last user of the journal is gone, or
    /// when the store could be opened.
    fn start(settings: &AuditSettings, log: &Log, why_not: String) -> Arc<RetryingJournal> {
        let late = Arc::new(RetryingJournal { journal: OnceLock::new(), why_not });
        let (weak, settings, log) = (Arc::downgrade(&late), settings.clone(), log.clone());
        // It ends when nobody makes calls any more.
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(STORE_RETRY_INTERVAL);
                let Some(late) = weak.upgrade() else { return };
                if let Ok(journal) = try_open(&settings, &log) {
                    log.line("calls are recorded again");
                    let _ = late.journal.set(journal);
                    return;
                }
            }
        });
        late
    }

    fn journal(&self) -> Result<&Journal, AuditError> {
        self.journal.get().ok_or_else(|| AuditError(self.why_not.clone()))
    }
}

/// Until the journal is set, `ready` fails, and the runner refuses the call before it starts.
impl AuditLog for RetryingJournal {
    fn ready(&self) -> Result<(), AuditError> {
        self.journal()?.ready()
    }

    fn keeps_arguments(&self) -> bool {
        self.journal().is_ok_and(AuditLog::keeps_arguments)
    }

    fn add(&self, record: &CallRecord<'_>) -> Result<Option<u64>, AuditError> {
        self.journal()?.add(record)
    }

    fn write(&self, number: u64) -> Result<(), AuditError> {
        self.journal()?.write(number)
    }

    fn close(&self) {
        if let Ok(journal) = self.journal() {
            journal.close();
        }
    }
}

/// The code of calls with this name, in whatever case it is typed. `OK` is the code of calls that
/// succeeded and is not in the list of failures.
///
/// # Errors
/// If there is none.
fn find_code(name: &str) -> anyhow::Result<&'static str> {
    let names = std::iter::once("OK").chain(code::ALL.iter().map(|code| code.name));
    let wanted = name.to_ascii_uppercase();
    if let Some(known) = names.clone().find(|known| *known == wanted) {
        return Ok(known);
    }
    match nearest_word(&wanted, names.clone()) {
        Some(near) => bail!("no call ends with the code `{name}` (did you mean `{near}`?)"),
        None => bail!(
            "no call ends with the code `{name}`; the codes of calls are {}",
            names.collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Prints the calls that fit, the oldest first.
///
/// With `--follow` it runs until it is interrupted or stdout is closed. Calls have increasing row
/// numbers, and each round continues after the last one, so no call is printed twice.
///
/// # Errors
/// If `--code` names no code of calls, or the store cannot be read.
pub(crate) fn run(args: &AuditArgs) -> anyhow::Result<ExitStatus> {
    let code = args.code.as_deref().map(find_code).transpose()?;
    let folder = environment::state_folder()?;
    let store = Store::open(&folder)?;
    let filter = CallFilter {
        since: args.since.map(micros_ago),
        tool: args.tool.clone(),
        agent: args.agent.clone(),
        code: code.map(str::to_owned),
    };
    if args.output_format == AuditFormat::Csv {
        output::print_unfiltered(COLUMNS)?;
    }
    let (mut after, mut count) = (0, 0);
    loop {
        store.carry_over_all()?;
        let mut failure = None;
        after = store.find_calls(&filter, after, &mut |call| {
            count += 1;
            failure = print_call(&call, args.output_format).err();
            failure.is_none()
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        if !args.follow {
            break;
        }
        std::thread::sleep(FOLLOW_INTERVAL);
    }
    if count == 0 && args.output_format == AuditFormat::Text {
        let path = store.path();
        messages::print_note(&format!("no such call is on record in `{}`", path.display()));
    }
    Ok(ExitStatus::Clean)
}

/// Reads an age, such as `90s`, `15m`, `1h` or `7d`. Only one unit: `1h30m` is not an age.
///
/// # Errors
/// If the text is not one.
pub(crate) fn parse_age(text: &str) -> anyhow::Result<Duration> {
    let help = "write a number and a unit, such as `90s`, `15m`, `1h` or `7d`";
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3_600,
        Some('d') => 86_400,
        _ => anyhow::bail!(help),
    };
    let number: u64 = text[..text.len() - 1].parse().ok().context(help)?;
    Ok(Duration::from_secs(number.checked_mul(unit).context(help)?))
}

/// The time of the start, in microseconds since 1970; 0 for ages that reach further back.
fn micros_ago(age: Duration) -> u64 {
    let time = SystemTime::now().checked_sub(age).unwrap_or(UNIX_EPOCH);
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Text goes through the filter for terminals; JSON escapes control characters itself, and CSV is
/// for programs.
fn print_call(call: &StoredCall, format: AuditFormat) -> anyhow::Result<()> {
    match format {
        AuditFormat::Text => output::print(&text_line(call)),
        AuditFormat::Json => output::print_unfiltered(&format!("{}\n", json_line(call))),
        AuditFormat::Csv => output::print_unfiltered(&csv_line(call)),
    }
}

/// The time with milliseconds, in UTC.
///
/// Sorts as text. Example: `2026-01-31T08:15:00.042Z`.
fn time_text(micros: u64) -> String {
    let seconds = messages::utc_time(micros / 1_000_000);
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), micros / 1_000 % 1_000)
}

/// Aligned for the usual lengths; longer names move the rest of their line. The grants that the
/// call used come last: `…, by dom:read (session)`.
///
/// ```text
/// TIME  agent  code  duration  tool  ARGUMENT B in, RESULT B out, by grants
/// ```
fn text_line(call: &StoredCall) -> String {
    let millis = call.micros as f64 / 1_000.0;
    let mut line = format!(
        "{}  {:<8} {:<14} {:>9.1} ms  {}",
        time_text(call.time),
        visible(&call.agent),
        visible(&call.code),
        millis,
        visible(&call.tool)
    );
    let _ = write!(line, "  {} B in, {} B out", call.argument_bytes, call.result_bytes);
    if !call.grants.is_empty() {
        let _ = write!(line, ", by {}", visible(&call.grants.join(", ")));
    }
    line.push('\n');
    line
}

/// Keys are part of the interface: docs/audit.md describes them. One object on a line. `steps` are
/// the times of the single steps of a call.
fn json_line(call: &StoredCall) -> serde_json::Value {
    // By destructuring, so that a new field cannot be forgotten here.
    let StoredCall {
        time,
        agent,
        session,
        tool,
        tool_hash,
        toolset_hash,
        code,
        micros,
        steps,
        argument_bytes,
        result_bytes,
        arguments,
        grants,
    } = call;
    json!({
        "time": time_text(*time),
        "agent": agent,
        "session": session,
        "tool": tool,
        "toolHash": tool_hash,
        "toolsetHash": toolset_hash,
        "code": code,
        "micros": micros,
        "steps": steps,
        "argumentBytes": argument_bytes,
        "resultBytes": result_bytes,
        "arguments": arguments,
        "grants": grants,
    })
}

/// In the order of `COLUMNS`. Without the times of single steps, which have no fixed columns.
fn csv_line(call: &StoredCall) -> String {
    let session = call.session.map(|session| session.to_string()).unwrap_or_default();
    let [micros, input, output] =
        [call.micros, call.argument_bytes, call.result_bytes].map(|count| count.to_string());
    let time = time_text(call.time);
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let fields = [
        time.as_str(),
        &call.agent,
        &session,
        &call.tool,
        &call.code,
        &micros,
        &input,
        &output,
        &optional(&call.tool_hash),
        &optional(&call.toolset_hash),
        &optional(&call.arguments),
        &call.grants.join("; "),
    ]
    .map(csv_field);
    fields.join(",") + "\n"
}

/// A value of a CSV line. One that a spreadsheet would take for a formula gets an apostrophe:
/// agents choose the names and arguments that are on record. Quoted as in RFC 4180 if it has a
/// comma, a quote or a line end.
fn csv_field(text: &str) -> String {
    let text = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
