//! The journal of one process: its calls that are not in the database yet, one JSON object a line.
//!
//! ```text
//! record ─ one write ─▶ journals/<run> ─ carry_over ─▶ store.db ─▶ the journal is emptied
//! ```
//!
//! The file is locked as long as its process lives. A journal that nobody has locked is that of a
//! process that was killed: the next one carries it over and removes it. A last line without its
//! end was being written when the process died; its result never left.
//!
//! A thread carries the records over when no call was made for a second, or when the journal is
//! large: under load, records cost their write and nothing else. The same thread carries over what
//! killed processes have left, so that the start does not wait for it.
//!
//! Records are named by run and number, and the table ignores a name that it has. So every step may
//! be repeated: a process that dies between writing to the database and emptying its journal leaves
//! both, and nothing is counted twice.
//!
//! If records cannot be kept, `[audit] required` decides: calls are refused, or go on without a
//! record. Either way the log gets one line when it begins and one when it ends.

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
/// The bytes above which nothing is added: the database has been out of order for long.
const MAX_JOURNAL: u64 = 256 << 20;
/// The pause before the database is tried again.
const RETRY: Duration = Duration::from_secs(5);
/// The bytes of arguments that are kept. The rest of longer ones is left out.
const MAX_ARGUMENTS: usize = 64 << 10;
/// Bytes of an id that are kept. Callers can make up any.
const MAX_ID: usize = 300;

/// Keeps the records of this process. `record` runs on the thread of a call and costs one write;
/// everything else is done by a thread named `journal`. Dropping it closes it and waits for that
/// thread.
pub struct Journal {
    shared: Arc<JournalShared>,
    /// Taken by the first `close`.
    carrier: Mutex<Option<JoinHandle<()>>>,
}

/// Shared by calls and the thread. Locks are taken one at a time.
struct JournalShared {
    store: Store,
    settings: AuditSettings,
    /// The name of this process in records: nobody else has it. Also the name of the file.
    run: String,
    file: Mutex<JournalFile>,
    /// Wakes the thread that carries records over.
    wake: Condvar,
    /// Why records cannot be carried over at present.
    trouble: Mutex<Option<StoreError>>,
    /// The same as whether `trouble` is set, for calls, which look at it each time.
    has_trouble: AtomicBool,
    log: Log,
}

/// What a call needs to write its record, under one lock: numbers in the file are in order.
struct JournalFile {
    file: Arc<File>,
    /// The length of the file; also where half a line is cut off.
    bytes: u64,
    /// The number of the next record.
    next: u64,
    /// Records that come later are refused. Set once.
    is_closed: bool,
    /// Reused for every line.
    line: Vec<u8>,
}

impl Journal {
    /// A journal of this process for the store in `folder`. `log` gets a line when the store stops
    /// working, or works again.
    ///
    /// # Errors
    /// If the store cannot be used.
    ///
    /// The file is made and locked before the thread starts, so no other process takes it for an
    /// abandoned one.
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
            line: Vec::new(),
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
    /// Asked before a call: with `required` it must not run if it could not be recorded.
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

    /// Without `required` a record that cannot be written is lost.
    fn record(&self, record: &CallRecord<'_>) -> Result<(), AuditError> {
        let written = self.shared.append(record);
        match written {
            Err(error) if self.shared.settings.required => {
                Err(AuditError(format!("the journal of calls cannot be written: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// May be called twice: the second time there is no thread to wait for.
    fn close(&self) {
        {
            let mut file = self.shared.file();
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

    /// The file of this process, by its name. It may have been removed by somebody.
    fn path(&self) -> PathBuf {
        self.store.folder.join(FOLDER).join(&self.run)
    }

    /// One `write` of a whole line with its end. A crash can therefore leave at most one incomplete
    /// line, at the end, which the reader does not take.
    ///
    /// # Errors
    /// If the journal is closed or full, or the disk is.
    ///
    /// The lock is held for the write, so lines of different calls never mix.
    fn append(&self, record: &CallRecord<'_>) -> io::Result<()> {
        let arguments = self.arguments(record);
        let mut own = self.file();
        let JournalFile { file, bytes, next, line, is_closed } = &mut *own;
        if *is_closed {
            return Err(io::Error::other("the store is closed"));
        }
        if *bytes > MAX_JOURNAL {
            return Err(io::Error::other("the journal is full"));
        }
        line.clear();
        let keep = retention::days_of(&self.settings);
        write_line(line, (*next, keep), record, arguments.as_deref())?;
        if let Err(error) = (&**file).write_all(line) {
            // Half a line would spoil the next one.
            let _ = file.set_len(*bytes);
            return Err(error);
        }
        *next += 1;
        *bytes += line.len() as u64;
        // The thread sleeps while there is nothing to carry over.
        if *next == 1 || *bytes == line.len() as u64 || *bytes > LARGE {
            self.wake.notify_all();
        }
        Ok(())
    }

    /// What is kept of the arguments, by `[audit] arguments`: nothing, a hash, or the text. In the
    /// text, the values of secrets are replaced wherever they occur.
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
    ///
    /// A round waits for records, puts them into the database and tells calls whether that worked.
    /// At the end there is one last round; if it fails, the journal stays for the next process.
    fn carry_over_until_closed(&self) {
        // If this fails, so does what follows, and that is reported.
        let _ = self.store.carry_over_abandoned();
        let _ = self.store.note_size(&self.settings);
        loop {
            let is_closed = self.wait_for_quiet();
            let result = self.carry_over_own(is_closed);
            let is_down = result.is_err();
            self.note_trouble(result.err());
            if is_closed || (is_down && self.is_closed_within(RETRY)) {
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
    /// Returns whether this is the end.
    ///
    /// The journal is looked at every `QUIET`: as long as its number grows, calls are under way.
    fn wait_for_quiet(&self) -> bool {
        let mut file = self.file();
        loop {
            if file.is_closed || file.bytes > LARGE {
                return file.is_closed;
            }
            // After trouble it is tried again, also if there is nothing to carry over.
            if file.bytes == 0 && !self.has_trouble.load(Ordering::Relaxed) {
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
    ///
    /// Reads without the lock, and takes it only to empty the file, after it has seen that nothing
    /// was added. A call therefore waits for a truncation at most, never for the database.
    ///
    /// # Errors
    /// If the database or the file cannot be written. The journal keeps everything then.
    fn carry_over_own(&self, is_last: bool) -> Result<(), StoreError> {
        let path = self.path();
        let fail = |error: io::Error| StoreError::folder(&path, &error);
        let mut reached = 0;
        loop {
            // By its handle: the file may have been removed.
            let own = Arc::clone(&self.file().file);
            reached = self.store.carry_over(
                JournalReader { file: &own, at: reached },
                &path,
                &self.run,
            )?;
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
///
/// It has a position of its own, so appending through the same handle is not disturbed.
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

impl Store {
    /// Puts the records of all journals into the database: those of running processes, too, which
    /// keep theirs, and those of dead ones, which are removed.
    ///
    /// # Errors
    /// If the database cannot be written.
    ///
    /// Called by commands that read the table, such as `audit`, so that they see calls of a moment
    /// ago.
    pub fn carry_over_all(&self) -> Result<(), StoreError> {
        for (path, run) in self.journals()? {
            // If it is gone, its process has ended meanwhile, and carried it over itself.
            let Ok(file) = File::open(&path) else { continue };
            self.carry_over(JournalReader { file: &file, at: 0 }, &path, &run)?;
        }
        self.carry_over_abandoned()
    }

    /// Puts the journals of processes that were killed into the database, and removes them.
    ///
    /// The lock of a file tells whether its process lives, since the system releases it at the end
    /// of the process, however that ends.
    fn carry_over_abandoned(&self) -> Result<(), StoreError> {
        for (path, run) in self.journals()? {
            // A process that carries over the same one holds the lock meanwhile.
            let Ok(file) = File::open(&path) else { continue };
            if file.try_lock().is_ok() {
                self.carry_over(JournalReader { file: &file, at: 0 }, &path, &run)?;
                fs::remove_file(&path).map_err(|error| StoreError::folder(&path, &error))?;
            }
        }
        Ok(())
    }

    /// The files in the folder of journals. A hidden one is being made and has no records yet.
    fn journals(&self) -> Result<Vec<(PathBuf, String)>, StoreError> {
        let folder = self.folder.join(FOLDER);
        let entries = fs::read_dir(&folder).map_err(|error| StoreError::folder(&folder, &error))?;
        let journals = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_journal = !name.starts_with('.') && entry.file_type().ok()?.is_file();
            is_journal.then(|| (entry.path(), name))
        });
        Ok(journals.collect())
    }

    /// Puts the complete lines of a journal into the database. Returns where the last one ends.
    /// `path` is for messages.
    ///
    /// Each transaction takes `RECORDS_PER_TRANSACTION` lines, so that other processes are not
    /// locked out for long.
    ///
    /// Stops before a last line without its end: its process is writing it, or died while it did.
    fn carry_over(
        &self,
        journal: JournalReader<'_>,
        path: &Path,
        run: &str,
    ) -> Result<u64, StoreError> {
        let fail = |error: io::Error| StoreError::folder(path, &error);
        let mut end = journal.at;
        let mut lines = BufReader::new(journal);
        let mut line = Vec::new();
        let write = |error| self.error(&error);
        loop {
            let mut database = self.database();
            let transaction = database
                .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
                .map_err(write)?;
            for _ in 0..RECORDS_PER_TRANSACTION {
                line.clear();
                let read = lines.read_until(b'\n', &mut line).map_err(fail)?;
                if read == 0 || line.last() != Some(&b'\n') {
                    transaction.commit().map_err(write)?;
                    return Ok(end);
                }
                // A line that was damaged by something else is not worth losing the others.
                if let Ok(call) = serde_json::from_slice::<JournalLine<&RawValue>>(&line) {
                    call.insert(&transaction, run).map_err(write)?;
                }
                end += read as u64;
            }
            transaction.commit().map_err(write)?;
        }
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
