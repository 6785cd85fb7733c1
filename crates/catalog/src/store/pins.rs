//! The tables of pins: the parts of definitions that were accepted, and those that running programs
//! have seen instead and nobody has accepted yet. The second one shows `toolwright trust` what a
//! server changed in the middle of a session.
//!
//! A list that was pinned without any items has no rows of its own, so that a list is pinned is a
//! row, too (kind `list`). Otherwise an empty list would count as never used, and everything that
//! appears in it later as a first use.
//!
//! ```text
//! pins         subject, kind, name ─▶ hash, text of what is accepted;   kind `list`: no hash
//! seen_parts   subject, kind, name ─▶ hash, text of what was seen instead
//! ```
//!
//! The subject is `PinSubject::key`. A text is kept beside its hash for people only; comparisons
//! use hashes.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, params};
use toolwright_workspace::{PinKind, PinList, PinnedPart};

use super::{Store, StoreError};

/// Whether the table is ours.
pub(super) const SELECT: &str =
    "SELECT kind, name, hash, text FROM pins WHERE subject = ? ORDER BY kind, name";

/// Version 3 of the tables.
pub(super) const TABLES: &str = "
    CREATE TABLE pins (
        subject TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        hash TEXT NOT NULL,
        text TEXT NOT NULL,
        time INTEGER NOT NULL,
        accepted_by TEXT NOT NULL,
        PRIMARY KEY (subject, kind, name)
    );
    CREATE TABLE seen_parts (
        subject TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        hash TEXT NOT NULL,
        text TEXT NOT NULL,
        time INTEGER NOT NULL,
        PRIMARY KEY (subject, kind, name)
    );
";

/// The rows with this kind tell that a list was pinned, which may be empty.
const LIST: &str = "list";

/// How a part came to be accepted.
///
/// For people who look into the store; the comparison treats all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedBy {
    /// It was there when its toolset was used first.
    FirstUse,
    /// The lock has its hash.
    Lock,
    /// A person.
    Person,
}

impl AcceptedBy {
    fn word(self) -> &'static str {
        match self {
            AcceptedBy::FirstUse => "first use",
            AcceptedBy::Lock => "lock",
            AcceptedBy::Person => "person",
        }
    }
}

/// What the store has about one toolset.
///
/// Read as a whole, in one step: a subject has as many rows as its definition has tools.
#[derive(Clone, Debug, Default)]
pub struct StoredPins {
    /// The accepted parts, by kind and name: hash and text.
    pub accepted: BTreeMap<(PinKind, String), (String, String)>,
    /// Those that were seen instead.
    pub seen: BTreeMap<(PinKind, String), (String, String)>,
    /// The words of the lists that were pinned.
    lists: BTreeSet<String>,
}

impl StoredPins {
    /// Whether anything of it was pinned.
    pub fn has_lists(&self) -> bool {
        !self.lists.is_empty()
    }

    /// Whether something of this list is accepted.
    pub fn has_accepted(&self, list: PinList) -> bool {
        self.accepted.keys().any(|(kind, _)| kind.list() == list)
    }

    /// Whether something of this list was seen that is not accepted.
    pub fn has_seen(&self, list: PinList) -> bool {
        self.seen.keys().any(|(kind, _)| kind.list() == list)
    }

    /// Whether this list was pinned, with or without items.
    pub fn has_list(&self, list: PinList) -> bool {
        self.lists.contains(list.word())
    }
}

impl Store {
    /// What is known about a toolset.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn pins_of(&self, subject: &str) -> Result<StoredPins, StoreError> {
        let database = self.database();
        let read = || -> rusqlite::Result<StoredPins> {
            let mut pins = StoredPins::default();
            for row in rows(&database, SELECT, subject)? {
                match (PinKind::of_word(&row.0), row.0.as_str()) {
                    (Some(kind), _) => {
                        pins.accepted.insert((kind, row.1), (row.2, row.3));
                    }
                    (None, LIST) => {
                        pins.lists.insert(row.1);
                    }
                    (None, _) => {}
                }
            }
            let seen = "SELECT kind, name, hash, text FROM seen_parts WHERE subject = ?";
            for row in rows(&database, seen, subject)? {
                if let Some(kind) = PinKind::of_word(&row.0) {
                    pins.seen.insert((kind, row.1), (row.2, row.3));
                }
            }
            Ok(pins)
        };
        read().map_err(|error| self.error(&error))
    }

    /// Accepts parts of a toolset, and notes that these lists are pinned. Parts that were seen
    /// under the same name are forgotten.
    ///
    /// # Errors
    /// If the database cannot be written.
    ///
    /// One transaction: a list is never noted as pinned without its parts.
    pub fn accept_parts(
        &self,
        subject: &str,
        lists: &[PinList],
        parts: &[&PinnedPart],
        by: AcceptedBy,
    ) -> Result<(), StoreError> {
        self.change(|database| {
            for list in lists {
                let part = (LIST, list.word(), "", "");
                put(database, subject, part, by)?;
            }
            for part in parts {
                let (kind, name) = (part.kind.word(), part.name.as_str());
                put(database, subject, (kind, name, &part.hash, &part.text), by)?;
                forget(database, "seen_parts", subject, (kind, name))?;
            }
            Ok(())
        })
    }

    /// Removes accepted parts of a toolset, which are gone.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn remove_parts(
        &self,
        subject: &str,
        parts: &[(PinKind, String)],
    ) -> Result<(), StoreError> {
        self.change(|database| {
            for (kind, name) in parts {
                forget(database, "pins", subject, (kind.word(), name))?;
                forget(database, "seen_parts", subject, (kind.word(), name))?;
            }
            Ok(())
        })
    }

    /// Notes parts that differ from the accepted ones, and forgets those that do not any more.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn note_seen(
        &self,
        subject: &str,
        differing: &[&PinnedPart],
        others: &[&PinnedPart],
    ) -> Result<(), StoreError> {
        self.change(|database| {
            for part in differing {
                database.execute(
                    "INSERT OR REPLACE INTO seen_parts VALUES (?, ?, ?, ?, ?, ?)",
                    params![subject, part.kind.word(), part.name, part.hash, part.text, now()],
                )?;
            }
            for part in others {
                forget(database, "seen_parts", subject, (part.kind.word(), &part.name))?;
            }
            Ok(())
        })
    }

    /// A text that changes when another process or this one accepts something.
    ///
    /// # Errors
    /// If the database cannot be read.
    ///
    /// Made of the number of rows, the newest time and the largest row. A removal without another
    /// change shows in the number.
    pub fn pins_state(&self) -> Result<String, StoreError> {
        let database = self.database();
        let state = "SELECT count(*) || ' ' || coalesce(max(time), 0) || ' ' || \
                     coalesce(max(rowid), 0) FROM pins";
        database.query_row(state, [], |row| row.get(0)).map_err(|error| self.error(&error))
    }

    /// Runs `work` in a transaction that is for writing from its start: another process waits,
    /// instead of failing in the middle.
    fn change(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let mut database = self.database();
        let change = || -> rusqlite::Result<()> {
            let behavior = rusqlite::TransactionBehavior::Immediate;
            let transaction = database.transaction_with_behavior(behavior)?;
            work(&transaction)?;
            transaction.commit()
        };
        change().map_err(|error| self.error(&error))
    }
}

/// Kind, name, hash and text.
type PinRow = (String, String, String, String);

/// The rows of a subject by one of the two queries.
fn rows(database: &Connection, select: &str, subject: &str) -> rusqlite::Result<Vec<PinRow>> {
    let mut select = database.prepare_cached(select)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    select.query_map([subject], read)?.collect()
}

/// Writes or replaces an accepted part, with the time and how it came about.
fn put(
    database: &Connection,
    subject: &str,
    (kind, name, hash, text): (&str, &str, &str, &str),
    by: AcceptedBy,
) -> rusqlite::Result<()> {
    database.execute(
        "INSERT OR REPLACE INTO pins VALUES (?, ?, ?, ?, ?, ?, ?)",
        params![subject, kind, name, hash, text, now(), by.word()],
    )?;
    Ok(())
}

/// Removes a part from one of the two tables. `table` is a constant of this file.
fn forget(
    database: &Connection,
    table: &str,
    subject: &str,
    (kind, name): (&str, &str),
) -> rusqlite::Result<()> {
    let delete = format!("DELETE FROM {table} WHERE subject = ? AND kind = ? AND name = ?");
    database.execute(&delete, params![subject, kind, name])?;
    Ok(())
}

/// Microseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
