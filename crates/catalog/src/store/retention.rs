//! How long records of calls are kept.
//!
//! The store is that of the user, and each project has a configuration of its own. One that keeps
//! records for a day must not remove those of other projects: somebody else may have written it,
//! and an agent that can change it could remove the records of what it did.
//!
//! | `[audit]` | holds for |
//! |---|---|
//! | `keep_days` | the records that were made under it: each row has its end |
//! | `max_bytes` | the store, and the largest one that is in use counts |
//!
//! If the store is too large, calls that did not run are forgotten first: whoever may call nothing
//! could otherwise push out the records of others with calls that are refused.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::params;
use toolwright_workspace::AuditSettings;

use super::{Store, StoreError};

/// Version 6 of the tables. `ends` is the time in microseconds from which a record is not kept any
/// more, empty for those of earlier versions. `retention` has the largest size of each
/// configuration, and until when it counts.
pub(super) const TABLES: &str = "
    ALTER TABLE calls ADD COLUMN ends INTEGER;
    CREATE INDEX calls_by_end ON calls (ends, time);
    CREATE TABLE retention (
        max_bytes INTEGER PRIMARY KEY,
        until INTEGER NOT NULL
    );
";

pub(super) const DAY_IN_MICROS: u64 = 24 * 60 * 60 * 1_000_000;

/// For how many days records are kept.
pub(super) fn days_of(settings: &AuditSettings) -> u64 {
    settings.keep.as_secs() / (24 * 60 * 60)
}

/// What was removed because the store was too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EvictedCalls {
    /// How many calls.
    pub(super) count: usize,
    /// How large the store may be.
    pub(super) max_bytes: u64,
}

impl Store {
    /// Lets the size of this configuration count as long as its records are kept.
    pub(super) fn note_size(&self, settings: &AuditSettings) -> Result<(), StoreError> {
        let until = microseconds_at(SystemTime::now() + settings.keep);
        let noted = self.database().execute(
            "INSERT INTO retention (max_bytes, until) VALUES (?1, ?2) \
             ON CONFLICT (max_bytes) DO UPDATE SET until = max(until, ?2)",
            params![settings.max_bytes.cast_signed(), until],
        );
        noted.map(drop).map_err(|error| self.error(&error))
    }

    /// Removes calls whose time is over, and a part of the calls in a store that is too large.
    pub(super) fn forget_old(
        &self,
        settings: &AuditSettings,
    ) -> Result<Option<EvictedCalls>, StoreError> {
        let now = microseconds_at(SystemTime::now());
        let oldest = SystemTime::now().checked_sub(settings.keep).map_or(0, microseconds_at);
        let database = self.database();
        let forget = || -> rusqlite::Result<Option<EvictedCalls>> {
            let mut gone = database.execute("DELETE FROM calls WHERE ends < ?", [now])?;
            gone +=
                database.execute("DELETE FROM calls WHERE ends IS NULL AND time < ?", [oldest])?;
            let max: i64 = database.query_row(
                "SELECT max(?1, coalesce(max(max_bytes), 0)) FROM retention WHERE until >= ?2",
                params![settings.max_bytes.cast_signed(), now],
                |row| row.get(0),
            )?;
            // Pages that are free already do not count: they are used again.
            let used: i64 = database.query_row(
                "SELECT (p.page_count - f.freelist_count) * s.page_size \
                 FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s",
                [],
                |row| row.get(0),
            )?;
            let mut evicted = None;
            if used > max {
                // A quarter at once: the next time is far away.
                let count = database.execute(
                    "DELETE FROM calls WHERE rowid IN (SELECT rowid FROM calls \
                     ORDER BY instr(steps, 'run') > 0, time \
                     LIMIT (SELECT count(*) / 4 + 1 FROM calls))",
                    [],
                )?;
                gone += count;
                evicted = Some(EvictedCalls { count, max_bytes: max.cast_unsigned() });
            }
            if gone > 0 {
                database.execute_batch("PRAGMA incremental_vacuum")?;
            }
            Ok(evicted)
        };
        forget().map_err(|error| self.error(&error))
    }
}

/// Microseconds since 1970.
fn microseconds_at(time: SystemTime) -> i64 {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since_1970.as_micros()).unwrap_or(i64::MAX)
}
