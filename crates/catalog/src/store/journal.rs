//! The journal of one process: its calls that are not in the database yet, one JSON object a line.
//!
//! ```text
//! add ─▶ lines ─ one write ─▶ journals/<run> ─ carry_over ─▶ store.db ─▶ the journal is emptied
//! ```
//!
//! The file is locked as long as its process lives. A journal that nobody has locked is that of a
//! process that was killed: the next one carries it over and removes it. A last line without its
//! end was being written when the process died; its result never left.
//!
//! Records are named by run and number, and the table ignores a name that it has. So every step may
//! be repeated: a process that dies between writing to the database and emptying its journal leaves
//! both, and nothing is counted twice.
//!
//! Records of calls that end together are written together: a write takes as long as half of all
//! else that is done with a record. No result leaves before its record is written.
//!
//! A thread carries the records over when no call was made for a second, or when the journal is
//! large: under load, records cost their write and nothing else. The same thread carries over what
//! killed processes have left, and stops when a call is made: to carry over the records of a long
//! load takes seconds, in which the calls of this process would have half of two processors.
//!
//! If records cannot be kept, `[audit] required` decides: calls are refused, or go on without a
//! record. Either way the log gets one line when it begins and one when it ends.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use toolwright_exec::{AuditError, AuditLog, CallRecord, CallStep, Log};
use toolwright_model::hex;
use toolwright_workspace::{AuditSettings, RecordedArguments};

use super::calls::JournalLine;
use super::{Store, StoreError, retention};

/// The folder of the journals, in that of the store.
pub(super) const FOLDER: &str = "journals";

/// The time without a call after which records are carried over.
const QUIET: Duration = Duration::from_secs(1);
/// The bytes above which they are carried over at once: some 300,000 calls. To carry a record over
/// takes as much time as two calls, so a burst should end first.
const LARGE: u64 = 128 << 20;
/// The records of one transaction: a fraction of a second, in which other processes of the user
/// wait if they write to the database.
const RECORDS_PER_TRANSACTION: usize = 10_000;
/// The bytes of a killed process that are carried over by one that ends before it was idle: a
/// moment. More would delay its end, and a later one or `toolwright audit` does it.
const SMALL: u64 = 1 << 20;
/// The bytes above which nothing is added: the database has been out of order for long.
const MAX_JOURNAL: u64 = 256 << 20;
/// The pause before the database is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// The bytes of arguments that are kept. The rest of longer ones is left out.
const MAX_ARGUMENTS: usize = 64 << 10;
/// Bytes of an id that are kept. Callers can make up any.
const MAX_ID: usize = 300;

/// Keeps the records of this process.
pub struct Journal {
    shared: Arc<JournalShared>,
    carrier: Mutex<Option<JoinHandle<()>>>,
}

struct JournalShared {
    store: Store,
    settings: AuditSettings,
    /// The name of this process in records: nobody else has it.
    run: String,
    file: Mutex<JournalFile>,
    /// Wakes the thread that carries records over.
    wake: Condvar,
    /// Why records cannot be carried over at present.
    trouble: Mutex<Option<StoreError>>,
    has_trouble: AtomicBool,
    log: Log,
}

struct JournalFile {
    file: Arc<File>,
    /// Those that are written.
    bytes: u64,
    /// The number of the next record.
    next: u64,
    is_closed: bool,
    /// Records that were added and not written yet.
    lines: Vec<u8>,
    /// The number of the first of them.
    first: u64,
    /// Records that could not be written, and why, until their calls ask.
    lost: HashMap<u64, Arc<str>>,
}

impl JournalFile {
    /// Writes what was added.
    fn write_lines(&mut self) {
        if let Err(error) = (&*self.file).write_all(&self.lines) {
            // Half a line would spoil the next one.
            let _ = self.file.set_len(self.bytes);
            let why: Arc<str> = error.to_string().into();
            self.lost.extend((self.first..self.next).map(|number| (number, Arc::clone(&why))));
        } else {
            self.bytes += self.lines.len() as u64;
        }
        self.first = self.next;
        self.lines.clear();
        // Arguments may have been long.
        self.lines.shrink_to(MAX_ARGUMENTS);
    }
}

impl Journal {
    /// A journal of this process for the store in `folder`. `log` gets a line when the store stops
    /// working, or works again.
    ///
    /// # Errors
    /// If the store cannot be used.
    pub fn open(folder: &Path, settings: AuditSettings, log: Log) -> Result<Journal, StoreError> {
        let store = Store::open(folder)?;
        let mut name = [0; 12];
        getrandom::fill(&mut name).map_err(|error| StoreError::Files {
            path: folder.to_owned(),
            why: error.to_string(),
        })?;
        let run = hex(&name);
        let path = folder.join(FOLDER).join(&run);
        let file = new_locked_file(&path).map_err(|error| StoreError::folder(&path, &error))?;
        let file = JournalFile {
            file: Arc::new(file),
            bytes: 0,
            next: 0,
            is_closed: false,
            lines: Vec::new(),
            first: 0,
            lost: HashMap::new(),
        };
        let shared = Arc::new(JournalShared {
            store,
            settings,
            run,
            file: Mutex::new(file),
            wake: Condvar::new(),
            trouble: Mutex::new(None),
            has_trouble: AtomicBool::new(false),
            log,
        });
        let own = Arc::clone(&shared);
        let carrier = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || own.carry_over_until_closed())
            .map_err(|error| StoreError::folder(folder, &error))?;
        Ok(Journal { shared, carrier: Mutex::new(Some(carrier)) })
    }
}

/// Makes the file of a journal. It gets its name when it is locked: before, another process would
/// take it for one that was left behind.
fn new_locked_file(path: &Path) -> io::Result<File> {
    let hidden =
        path.with_file_name(format!(".{}", path.file_name().unwrap_or_default().display()));
    let mut options = File::options();
    let file = options.read(true).append(true).create_new(true).mode(0o600).open(&hidden)?;
    file.try_lock()?;
    fs::rename(&hidden, path)?;
    Ok(file)
}

impl AuditLog for Journal {
    fn ready(&self) -> Result<(), AuditError> {
        if !self.shared.has_trouble.load(Ordering::Relaxed) {
            return Ok(());
        }
        match &*self.shared.trouble.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) if self.shared.settings.required => Err(AuditError(error.to_string())),
            _ => Ok(()),
        }
    }

    fn keeps_arguments(&self) -> bool {
        self.shared.settings.arguments == RecordedArguments::Full
    }

    fn add(&self, record: &CallRecord<'_>) -> Result<Option<u64>, AuditError> {
        match self.shared.add(record) {
            Ok(number) => Ok(Some(number)),
            Err(error) => self.shared.accept_loss(&error).map(|()| None),
        }
    }

    fn write(&self, number: u64) -> Result<(), AuditError> {
        let written = self.shared.write(number);
        written.or_else(|error| self.shared.accept_loss(&error))
    }

    fn close(&self) {
        {
            let mut file = self.shared.file();
            file.write_lines();
            file.is_closed = true;
            self.shared.wake.notify_all();
        }
        let carrier = self.carrier.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(carrier) = carrier {
            // It ends after it has carried the rest over, or has failed to.
            let _ = carrier.join();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.close();
    }
}

impl JournalShared {
    fn file(&self) -> MutexGuard<'_, JournalFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self) -> PathBuf {
        self.store.folder.join(FOLDER).join(&self.run)
    }

    /// Adds a record to those that are written next. Returns its number.
    ///
    /// # Errors
    /// If the journal is closed or full.
    fn add(&self, record: &CallRecord<'_>) -> io::Result<u64> {
        let arguments = self.arguments(record);
        let mut file = self.file();
        if file.is_closed {
            return Err(io::Error::other("the store is closed"));
        }
        if file.bytes > MAX_JOURNAL {
            return Err(io::Error::other("the journal is full"));
        }
        let number = file.next;
        let before = file.lines.len();
        let keep = retention::days_of(&self.settings);
        let numbers = (number, keep);
        if let Err(error) = write_line(&mut file.lines, numbers, record, arguments.as_deref()) {
            file.lines.truncate(before);
            return Err(error);
        }
        file.next += 1;
        Ok(number)
    }

    /// Writes the record with this number, and all others that were added, with one `write` of
    /// whole lines. A crash can leave at most one incomplete line, at the end, which the reader
    /// does not take.
    fn write(&self, number: u64) -> io::Result<()> {
        let mut file = self.file();
        if number >= file.first {
            let was_empty = file.bytes == 0;
            file.write_lines();
            // The thread sleeps while there is nothing to carry over.
            if was_empty || file.bytes > LARGE {
                self.wake.notify_all();
            }
        }
        match file.lost.remove(&number) {
            Some(why) => Err(io::Error::other(&*why)),
            None => Ok(()),
        }
    }

    /// Whether calls go on although a record is not kept.
    fn accept_loss(&self, error: &io::Error) -> Result<(), AuditError> {
        match self.settings.required {
            true => Err(AuditError(format!("the journal of calls cannot be written: {error}"))),
            false => Ok(()),
        }
    }

    /// What is kept of the arguments.
    fn arguments(&self, record: &CallRecord<'_>) -> Option<String> {
        let text = match self.settings.arguments {
            RecordedArguments::None => return None,
            _ => record.arguments.to_text(),
        };
        if self.settings.arguments == RecordedArguments::Hash {
            let digest = Sha256::digest(text.as_bytes());
            return Some(format!("sha256:{}", hex(&digest)));
        }
        let mut text = text.into_owned();
        for secret in &record.secrets {
            text = text.replace(secret.as_str(), "***");
        }
        if text.len() > MAX_ARGUMENTS {
            text.truncate(text.floor_char_boundary(MAX_ARGUMENTS));
            text.push('…');
        }
        Some(text)
    }

    /// The work of the thread.
    fn carry_over_until_closed(&self) {
        // If this fails, so does what follows, and that is reported.
        let _ = self.store.note_size(&self.settings);
        // Those of killed processes; `None` before the first look.
        let mut abandoned: Option<Vec<OtherJournal>> = None;
        loop {
            let has_more = abandoned.as_ref().is_none_or(|left| !left.is_empty());
            let is_closed = self.wait_for_quiet(has_more);
            let result = self.carry_over_own(is_closed);
            let is_down = result.is_err();
            if has_more && !is_down {
                let others = || self.store.journals().unwrap_or_default();
                self.carry_over_abandoned(abandoned.get_or_insert_with(others), is_closed);
            }
            self.note_trouble(result.err());
            if is_closed || (is_down && self.is_closed_within(RETRY)) {
                return;
            }
        }
    }

    /// Carries over what killed processes have left, as long as no call is made, and removes it
    /// from the list.
    fn carry_over_abandoned(&self, left: &mut Vec<OtherJournal>, is_closed: bool) {
        let seen = self.file().next;
        while let Some(journal) = left.last_mut() {
            let is_done = match is_closed && journal.bytes_left() > SMALL {
                true => true,
                // A journal that cannot be read is not worth more than one attempt.
                false => self.store.carry_over_part_of_abandoned(journal).unwrap_or(true),
            };
            if is_done {
                left.pop();
            }
            let file = self.file();
            if !is_closed && (file.is_closed || file.next != seen) {
                return;
            }
        }
    }

    /// Lets calls know whether the store works, and the log if that has changed.
    fn note_trouble(&self, trouble: Option<StoreError>) {
        match (&trouble, self.has_trouble.load(Ordering::Relaxed)) {
            (Some(error), false) => self.log.line(&format!("calls cannot be recorded: {error}")),
            (None, true) => self.log.line("calls are recorded again"),
            _ => {}
        }
        self.has_trouble.store(trouble.is_some(), Ordering::Relaxed);
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    /// Waits this long. Returns early, with true, if the journal is closed.
    fn is_closed_within(&self, time: Duration) -> bool {
        let waited = self.wake.wait_timeout_while(self.file(), time, |file| !file.is_closed);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }

    /// Waits until there are records, and no further one for a second or very many of them.
    /// `has_more`: does not wait for a first record. Returns whether this is the end.
    fn wait_for_quiet(&self, has_more: bool) -> bool {
        let mut file = self.file();
        loop {
            if file.is_closed || file.bytes > LARGE {
                return file.is_closed;
            }
            // After trouble it is tried again, also if there is nothing to carry over.
            if file.bytes == 0 && !has_more && !self.has_trouble.load(Ordering::Relaxed) {
                file = self.wake.wait(file).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let seen = file.next;
            let waited = self.wake.wait_timeout(file, QUIET);
            file = waited.unwrap_or_else(PoisonError::into_inner).0;
            if file.next == seen {
                return file.is_closed;
            }
        }
    }

    /// Puts the records of this process into the database, and empties the journal.
    fn carry_over_own(&self, is_last: bool) -> Result<(), StoreError> {
        let path = self.path();
        let fail = |error: io::Error| StoreError::folder(&path, &error);
        // Trouble ends when the database can be written again, and only then.
        if !is_last && self.file().bytes == 0 && !self.has_trouble.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut reached = 0;
        loop {
            // By its handle: the file may have been removed.
            let own = Arc::clone(&self.file().file);
            reached = self.store.carry_over(&own, reached, &path, &self.run)?;
            let mut file = self.file();
            // Calls that came meanwhile are carried over in the next round.
            if file.bytes > reached {
                continue;
            }
            file.file.set_len(0).map_err(fail)?;
            file.bytes = 0;
            if is_last {
                let _ = fs::remove_file(&path);
            } else if !path.exists() {
                // What is in a file without a name is lost with the process.
                fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(fail)?;
                file.file = Arc::new(new_locked_file(&path).map_err(fail)?);
            }
            drop(file);
            if let Some(evicted) = self.store.forget_old(&self.settings)? {
                self.log.line(&format!(
                    "the store has more than {} bytes: {} records of calls were removed before \
                     their time (`max_bytes` under `[audit]`)",
                    evicted.max_bytes, evicted.count
                ));
            }
            return Ok(());
        }
    }
}

/// Reads a journal from a position on, whatever its process writes meanwhile.
struct JournalReader<'f> {
    file: &'f File,
    at: u64,
}

impl Read for JournalReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The journal of another process, which may live.
struct OtherJournal {
    path: PathBuf,
    run: String,
    /// Where the first record begins that was not carried over.
    at: u64,
}

impl OtherJournal {
    fn bytes_left(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |data| data.len().saturating_sub(self.at))
    }
}

impl Store {
    /// Puts the records of all journals into the database: those of running processes, too, which
    /// keep theirs, and those of dead ones, which are removed.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn carry_over_all(&self) -> Result<(), StoreError> {
        for mut journal in self.journals()? {
            // If it is gone, its process has ended meanwhile, and carried it over itself.
            let Ok(file) = File::open(&journal.path) else { continue };
            journal.at = self.carry_over(&file, 0, &journal.path, &journal.run)?;
            while !self.carry_over_part_of_abandoned(&mut journal)? {}
        }
        Ok(())
    }

    /// Puts the next records of a process that was killed into the database, and removes the
    /// journal after the last one. Returns whether nothing is left to do.
    fn carry_over_part_of_abandoned(&self, own: &mut OtherJournal) -> Result<bool, StoreError> {
        // A process that carries over the same one holds the lock meanwhile.
        let Ok(file) = File::open(&own.path) else { return Ok(true) };
        if file.try_lock().is_err() {
            return Ok(true);
        }
        let (end, is_whole) = self.carry_over_part(&file, own.at, &own.path, &own.run)?;
        own.at = end;
        if is_whole {
            fs::remove_file(&own.path).map_err(|error| StoreError::folder(&own.path, &error))?;
        }
        Ok(is_whole)
    }

    fn journals(&self) -> Result<Vec<OtherJournal>, StoreError> {
        let folder = self.folder.join(FOLDER);
        let entries = fs::read_dir(&folder).map_err(|error| StoreError::folder(&folder, &error))?;
        let journals = entries.flatten().filter_map(|entry| {
            let run = entry.file_name().into_string().ok()?;
            let is_journal = !run.starts_with('.') && entry.file_type().ok()?.is_file();
            is_journal.then(|| OtherJournal { path: entry.path(), run, at: 0 })
        });
        Ok(journals.collect())
    }

    /// Puts the complete lines of a journal from `at` on into the database. Returns where the last
    /// one ends. `path` is for messages.
    fn carry_over(
        &self,
        journal: &File,
        mut at: u64,
        path: &Path,
        run: &str,
    ) -> Result<u64, StoreError> {
        loop {
            let (end, is_whole) = self.carry_over_part(journal, at, path, run)?;
            if is_whole {
                return Ok(end);
            }
            at = end;
        }
    }

    /// Does so in one transaction. Also returns whether no complete line is left.
    fn carry_over_part(
        &self,
        journal: &File,
        at: u64,
        path: &Path,
        run: &str,
    ) -> Result<(u64, bool), StoreError> {
        let fail = |error: io::Error| StoreError::folder(path, &error);
        let write = |error| self.error(&error);
        let mut end = at;
        let mut lines = BufReader::new(JournalReader { file: journal, at });
        let mut line = Vec::new();
        let mut database = self.database();
        let transaction = database
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(write)?;
        let mut is_whole = false;
        for _ in 0..RECORDS_PER_TRANSACTION {
            line.clear();
            let read = lines.read_until(b'\n', &mut line).map_err(fail)?;
            is_whole = read == 0 || line.last() != Some(&b'\n');
            if is_whole {
                break;
            }
            // A line that was damaged by something else is not worth losing the others.
            if let Ok(call) = serde_json::from_slice::<JournalLine<&RawValue>>(&line) {
                call.insert(&transaction, run).map_err(write)?;
            }
            end += read as u64;
        }
        transaction.commit().map_err(write)?;
        Ok((end, is_whole))
    }
}

/// Microseconds of the steps that were taken, by their names.
struct StepTimes([Option<Duration>; CallStep::ALL.len()]);

impl serde::Serialize for StepTimes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let steps = CallStep::ALL.iter().zip(self.0);
        serializer
            .collect_map(steps.filter_map(|(step, time)| Some((step.name(), microseconds(time?)))))
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Writes a record as one line, with its number and the days for which it is kept.
///
/// The sizes are recorded even if the arguments are not kept.
fn write_line(
    line: &mut Vec<u8>,
    (number, keep): (u64, u64),
    record: &CallRecord<'_>,
    arguments: Option<&str>,
) -> io::Result<()> {
    let call = JournalLine {
        n: number,
        time: microseconds(record.time.duration_since(UNIX_EPOCH).unwrap_or_default()),
        agent: record.agent.into(),
        session: record.session,
        tool: record.tool[..record.tool.floor_char_boundary(MAX_ID)].into(),
        tool_hash: record.tool_hash.map(|hash| hash.as_str()),
        toolset_hash: record.toolset_hash.map(|hash| hash.as_str()),
        code: record.code,
        micros: microseconds(record.total),
        steps: StepTimes(record.steps),
        argument_bytes: record.arguments.to_text().len() as u64,
        result_bytes: record.result_bytes as u64,
        arguments: arguments.map(Into::into),
        keep: Some(keep),
        grants: record.grants.iter().map(ToString::to_string).collect(),
    };
    serde_json::to_writer(&mut *line, &call)?;
    line.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Instant, SystemTime};

    use tempfile::TempDir;
    use toolwright_exec::{CallArguments, OK};

    use super::*;
    use crate::store::{CallFilter, StoredCall};

    fn open(folder: &TempDir) -> Journal {
        Journal::open(folder.path(), AuditSettings::default(), Log::default()).expect("a store")
    }

    fn add(journal: &Journal, tool: &str) -> u64 {
        let arguments = CallArguments::from(serde_json::json!({}));
        let record = CallRecord {
            time: SystemTime::now(),
            agent: "local",
            session: None,
            tool,
            tool_hash: None,
            toolset_hash: None,
            code: OK,
            total: Duration::ZERO,
            steps: [None; CallStep::ALL.len()],
            grants: &[],
            arguments: &arguments,
            secrets: Vec::new(),
            result_bytes: 0,
        };
        journal.add(&record).expect("it is open").expect("it has a number")
    }

    /// The tools of all calls in the database.
    fn tools(folder: &TempDir) -> Vec<String> {
        let store = Store::open(folder.path()).expect("a store");
        let mut tools = Vec::new();
        let mut each = |call: StoredCall| {
            tools.push(call.tool);
            true
        };
        store.find_calls(&CallFilter::default(), 0, &mut each).expect("it can be read");
        tools
    }

    /// Leaves a journal behind as a process does that is killed. Returns its path.
    fn leave_journal(folder: &TempDir, records: u64) -> PathBuf {
        let journal = open(folder);
        for _ in 0..records {
            let number = add(&journal, "left");
            journal.shared.write(number).expect("it can be written");
        }
        let text = fs::read(journal.shared.path()).expect("it has a name");
        drop(journal);
        // What it has carried over when it was closed was never made.
        fs::remove_file(folder.path().join("store.db")).expect("it was made");
        let path = folder.path().join(FOLDER).join("killed");
        fs::write(&path, text).expect("it can be written");
        path
    }

    #[test]
    fn one_write_is_for_all_records_that_were_added() {
        let folder = TempDir::new().expect("a folder");
        let journal = open(&folder);
        let path = journal.shared.path();
        let numbers = ["a", "b", "c"].map(|tool| add(&journal, tool));
        assert_eq!(fs::read(&path).expect("it exists"), b"");
        journal.write(numbers[1]).expect("written");
        let lines = fs::read_to_string(&path).expect("it exists");
        assert_eq!(lines.lines().count(), 3);
        journal.write(numbers[0]).expect("written before");
        journal.write(numbers[2]).expect("written before");
        assert_eq!(fs::read_to_string(&path).expect("it exists"), lines);
        add(&journal, "d");
        drop(journal);
        assert_eq!(tools(&folder), ["a", "b", "c", "d"]);
    }

    #[test]
    fn each_call_of_a_write_that_fails_learns_of_it() {
        let folder = TempDir::new().expect("a folder");
        let journal = open(&folder);
        let (a, b) = (add(&journal, "a"), add(&journal, "b"));
        let unwritable = File::open(journal.shared.path()).expect("it exists");
        let good = std::mem::replace(&mut journal.shared.file().file, Arc::new(unwritable));
        journal.write(b).expect_err("it cannot be written");
        journal.shared.file().file = good;
        let c = add(&journal, "c");
        journal.write(c).expect("it can be written again");
        journal.write(a).expect_err("it was lost with the other");
        assert!(journal.shared.file().lost.is_empty());
        drop(journal);
        assert_eq!(tools(&folder), ["c"]);
    }

    #[test]
    fn an_idle_process_carries_over_what_a_killed_one_has_left() {
        let folder = TempDir::new().expect("a folder");
        let path = leave_journal(&folder, 3_000);
        let journal = open(&folder);
        let began = Instant::now();
        while path.exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "it is still there");
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(journal);
        assert_eq!(tools(&folder).len(), 3_000);
    }

    #[test]
    fn a_process_that_ends_at_once_carries_over_only_what_takes_a_moment() {
        let folder = TempDir::new().expect("a folder");
        let path = leave_journal(&folder, 10);
        drop(open(&folder));
        assert!(!path.exists());
        assert_eq!(tools(&folder).len(), 10);
        let folder = TempDir::new().expect("a folder");
        let path = leave_journal(&folder, 20_000);
        assert!(fs::metadata(&path).expect("it exists").len() > SMALL);
        drop(open(&folder));
        assert!(path.exists());
        let store = Store::open(folder.path()).expect("a store");
        store.carry_over_all().expect("it can be written");
        assert!(!path.exists());
        assert_eq!(tools(&folder).len(), 20_000);
    }
}
