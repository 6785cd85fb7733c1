//! The user's store: the records of calls, grants, and the pins of definitions, in an SQLite
//! database that all processes of the user share.
//!
//! ```text
//! call ─▶ journal of this process (append) ─▶ result leaves
//!                 └─ now and then: into the database, by the process itself, the next one that
//!                    starts, or `toolwright audit`
//! $XDG_STATE_HOME/toolwright/store.db            calls, grants, pins
//! $XDG_STATE_HOME/toolwright/journals/<run>      what is not in it yet, one file per process
//! ```
//!
//! A record is safe once it is in the journal: that is one write to a file, which outlives the
//! process. A transaction of the database for every call would take longer than most calls. The
//! name of the journal and the number of the record in it are unique in the database, so several
//! processes can copy the same journal, several times, and each record is there once.

mod calls;
mod error;
mod grants;
mod journal;
mod pins;
mod retention;
mod session_grants;

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

pub use self::calls::{CallFilter, StoredCall};
pub use self::error::StoreError;
pub use self::grants::{GrantFilter, StoredGrant};
pub use self::journal::Journal;
pub use self::pins::{AcceptedBy, StoredPins};
pub use self::session_grants::SessionGrantRow;

/// How long to wait for another process that holds the database.
const BUSY: Duration = Duration::from_secs(5);

/// The database that this process has waited for in vain, and when. A command opens it for its
/// journal, its grants and its pins: together they wait no longer than one of them.
static FOUND_BUSY: Mutex<Option<(PathBuf, Instant)>> = Mutex::new(None);

/// How long to wait for the database at `path` now.
fn patience(path: &Path) -> Duration {
    let found = FOUND_BUSY.lock().unwrap_or_else(PoisonError::into_inner);
    match &*found {
        Some((busy, when)) if busy == path && when.elapsed() < BUSY => Duration::ZERO,
        _ => BUSY,
    }
}

/// What each version of the tables adds to the one before, beginning with version 1. A database
/// with a higher version was made by a newer program. A step is never changed: databases that have
/// taken it exist.
const MIGRATIONS: &[&str] =
    &[CALLS, GRANTS, pins::TABLES, GRANTS_BY_ORIGIN, session_grants::TABLE, retention::TABLES];

/// Version 1. `run` and `number` name a record; `rowid` is the order in which records arrived here.
const CALLS: &str = "
    CREATE TABLE calls (
        run TEXT NOT NULL,
        number INTEGER NOT NULL,
        time INTEGER NOT NULL,
        agent TEXT NOT NULL,
        session INTEGER,
        tool TEXT NOT NULL,
        tool_hash TEXT,
        toolset_hash TEXT,
        code TEXT NOT NULL,
        micros INTEGER NOT NULL,
        steps TEXT NOT NULL,
        argument_bytes INTEGER NOT NULL,
        result_bytes INTEGER NOT NULL,
        arguments TEXT,
        UNIQUE (run, number)
    );
    CREATE INDEX calls_by_time ON calls (time);
";

/// Version 2. `hash` is empty for a grant by name; `grants` are those that a call has used, as a
/// JSON list.
const GRANTS: &str = "
    CREATE TABLE grants (
        agent TEXT NOT NULL,
        toolset TEXT NOT NULL,
        hash TEXT NOT NULL,
        capability TEXT NOT NULL,
        time INTEGER NOT NULL,
        UNIQUE (agent, toolset, hash, capability)
    );
    ALTER TABLE calls ADD COLUMN grants TEXT;
";

/// Version 4. `origin` is that of the pages that a grant is for, or `*`; empty for a grant of what
/// is not about pages. Older grants name none, so that they hold on no page.
const GRANTS_BY_ORIGIN: &str = "
    CREATE TABLE grants_by_origin (
        agent TEXT NOT NULL,
        toolset TEXT NOT NULL,
        hash TEXT NOT NULL,
        capability TEXT NOT NULL,
        time INTEGER NOT NULL,
        origin TEXT NOT NULL DEFAULT '',
        UNIQUE (agent, toolset, hash, capability, origin)
    );
    INSERT INTO grants_by_origin (agent, toolset, hash, capability, time)
        SELECT agent, toolset, hash, capability, time FROM grants ORDER BY rowid;
    DROP TABLE grants;
    ALTER TABLE grants_by_origin RENAME TO grants;
";

/// The store of one user.
pub struct Store {
    folder: PathBuf,
    database: Mutex<Connection>,
}

impl Store {
    /// Opens the store in this folder, and makes it if it does not exist. Waits up to five seconds
    /// for a process that holds it.
    ///
    /// # Errors
    /// If it cannot be used. Nothing in it was changed then.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        Store::open_within(folder, patience(&Store::path_in(folder)))
    }

    /// Like [`Store::open`], but does not wait.
    pub(crate) fn open_if_free(folder: &Path) -> Result<Store, StoreError> {
        Store::open_within(folder, Duration::ZERO)
    }

    fn open_within(folder: &Path, patience: Duration) -> Result<Store, StoreError> {
        let journals = folder.join(journal::FOLDER);
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&journals);
        made.map_err(|error| StoreError::folder(folder, &error))?;
        let path = Store::path_in(folder);
        let fail = |error| StoreError::database(&path, &error);
        let mut database = Connection::open(&path).map_err(fail)?;
        database.busy_timeout(patience).map_err(fail)?;
        let prepared = prepare(&mut database).map_err(fail);
        if matches!(prepared, Err(StoreError::Busy { .. })) && !patience.is_zero() {
            let found = (path.clone(), Instant::now());
            *FOUND_BUSY.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
        prepared??;
        database.busy_timeout(BUSY).map_err(fail)?;
        // Only the user may read what agents did. SQLite gives its other files the same mode.
        let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o600));
        Ok(Store { folder: folder.to_owned(), database: Mutex::new(database) })
    }

    /// The file of the database.
    pub fn path(&self) -> PathBuf {
        Store::path_in(&self.folder)
    }

    /// The file of the database of a store in this folder.
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join("store.db")
    }

    fn database(&self) -> MutexGuard<'_, Connection> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::database(&self.path(), error)
    }
}

/// Makes the tables of a new database, brings an older one up to date, and refuses one of a newer
/// program.
fn prepare(database: &mut Connection) -> rusqlite::Result<Result<(), StoreError>> {
    // A commit is one write to a file; the disk is not waited for. After a power failure the last
    // records may be missing, but the database is whole.
    let version = |database: &Connection| {
        database.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
    };
    let newest = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let found = version(database)?;
    if found > newest || found < 0 {
        return Ok(Err(StoreError::Newer { version: found }));
    }
    if found == 0 {
        // Before the first table: a file that has pages cannot be changed to it.
        database.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        database.pragma_update(None, "journal_mode", "WAL")?;
    }
    if found < newest {
        let make = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have been first.
        let done = usize::try_from(version(&make)?).unwrap_or(usize::MAX);
        for step in MIGRATIONS.iter().skip(done) {
            make.execute_batch(step)?;
        }
        if done < MIGRATIONS.len() {
            make.pragma_update(None, "user_version", newest)?;
        }
        make.commit()?;
    }
    database.pragma_update(None, "synchronous", "NORMAL")?;
    // Whether its tables are ours.
    drop(database.prepare(calls::SELECT)?);
    drop(database.prepare(pins::SELECT)?);
    drop(database.prepare(grants::SELECT)?);
    drop(database.prepare(session_grants::SELECT)?);
    // Whether it can be written to: a process that holds it is noticed before a call is made.
    let probe = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    probe.rollback()?;
    Ok(Ok(()))
}
