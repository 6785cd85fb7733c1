//! The table of grants for sessions: a copy of what running processes hold in memory, so that a
//! person can list and revoke them from another terminal.
//!
//! The process decides by its own memory. It drops a grant whose row is gone, and removes its rows
//! when a session ends. Rows of a process that is gone, such as after `kill -9`, say nothing: they
//! are left out, and removed when the next process adds one.

use rusqlite::params;

use super::grants::{GrantFilter, StoredGrant};
use super::{Store, StoreError};

/// Finds all rows.
pub(super) const SELECT: &str = "SELECT number, process, session, agent, toolset, hash, \
                                 capability, time, origin FROM session_grants ORDER BY number";

/// Version 5 of the tables. A number is never used again: a process knows its grants by them.
pub(super) const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS session_grants (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        process TEXT NOT NULL,
        session INTEGER,
        agent TEXT NOT NULL,
        toolset TEXT NOT NULL,
        hash TEXT NOT NULL,
        capability TEXT NOT NULL,
        time INTEGER NOT NULL,
        origin TEXT
    );
";

/// A grant that a running process holds for one of its sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionGrantRow {
    /// Its number in the store.
    pub number: i64,
    /// The id of the process.
    pub process: u32,
    /// The number of the session in that process; `None` on a terminal.
    pub session: Option<u64>,
    /// What is granted to whom. For the answer to a rule, the tool and `rule`.
    pub grant: StoredGrant,
}

/// A process as the store names it: its id, and when it started, because ids are used again. `None`
/// if there is no such process.
fn process_name(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program is in parentheses and may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?;
    // One that nobody has waited for yet is gone all the same.
    (!["Z", "X", "x"].contains(&state)).then(|| format!("{id} {started}"))
}

impl Store {
    /// Keeps a grant for a session of this process. Returns the number of its row.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub(crate) fn add_session_grant(
        &self,
        session: Option<u64>,
        grant: &StoredGrant,
    ) -> Result<i64, StoreError> {
        // Also those of processes that were killed.
        for row in self.all_session_grants()? {
            if row.0.is_none() {
                self.remove_session_grants(&[row.1.number])?;
            }
        }
        let process = std::process::id();
        let process = process_name(process).unwrap_or_else(|| process.to_string());
        let database = self.database();
        let add = database.execute(
            "INSERT INTO session_grants \
             (process, session, agent, toolset, hash, capability, time, origin) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                process,
                session.map(u64::cast_signed),
                grant.agent,
                grant.toolset,
                grant.hash.as_deref().unwrap_or_default(),
                grant.capability,
                grant.time.cast_signed(),
                grant.origin,
            ],
        );
        add.map(|_| database.last_insert_rowid()).map_err(|error| self.error(&error))
    }

    /// The grants for sessions of all processes that run.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn session_grants(&self) -> Result<Vec<SessionGrantRow>, StoreError> {
        let rows = self.all_session_grants()?.into_iter();
        Ok(rows.filter_map(|(process, row)| process.map(|_| row)).collect())
    }

    /// All rows, each with its process if that still runs.
    fn all_session_grants(&self) -> Result<Vec<(Option<String>, SessionGrantRow)>, StoreError> {
        let database = self.database();
        let read = || -> rusqlite::Result<Vec<(String, SessionGrantRow)>> {
            let mut select = database.prepare_cached(SELECT)?;
            let rows = select.query_map([], |row| {
                let process: String = row.get(1)?;
                let id = process.split(' ').next().and_then(|id| id.parse().ok());
                let grant = StoredGrant {
                    agent: row.get(3)?,
                    toolset: row.get(4)?,
                    hash: Some(row.get::<_, String>(5)?).filter(|hash| !hash.is_empty()),
                    capability: row.get(6)?,
                    time: row.get::<_, i64>(7)?.cast_unsigned(),
                    origin: row.get(8)?,
                };
                let session = row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned);
                let (number, id) = (row.get(0)?, id.unwrap_or_default());
                Ok((process, SessionGrantRow { number, process: id, session, grant }))
            })?;
            rows.collect()
        };
        let rows = read().map_err(|error| self.error(&error))?.into_iter();
        Ok(rows
            .map(|(name, row)| (process_name(row.process).filter(|it| *it == name), row))
            .collect())
    }

    /// Removes rows.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub(crate) fn remove_session_grants(&self, numbers: &[i64]) -> Result<(), StoreError> {
        let database = self.database();
        for number in numbers {
            let gone = database.execute("DELETE FROM session_grants WHERE number = ?", [number]);
            gone.map_err(|error| self.error(&error))?;
        }
        Ok(())
    }

    /// Removes the grants for sessions that fit, and returns them. Their processes notice it with
    /// the next call.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn revoke_session_grants(
        &self,
        filter: &GrantFilter,
    ) -> Result<Vec<SessionGrantRow>, StoreError> {
        let mut revoked = self.session_grants()?;
        revoked.retain(|row| filter.fits(&row.grant));
        let numbers: Vec<i64> = revoked.iter().map(|row| row.number).collect();
        self.remove_session_grants(&numbers)?;
        Ok(revoked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_gone_has_no_grants() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("a store");
        let grant = StoredGrant {
            agent: "local".to_owned(),
            toolset: "press".to_owned(),
            hash: None,
            capability: "printer:print".to_owned(),
            origin: None,
            time: 1,
        };
        let own = store.add_session_grant(Some(7), &grant).expect("a row");
        // The id of this process, which another one had before.
        let name = format!("{} 1", std::process::id());
        let change = "UPDATE session_grants SET process = ?";
        assert_eq!(store.session_grants().expect("rows").len(), 1);
        store.database().execute(change, [name]).expect("changed");
        assert!(store.session_grants().expect("rows").is_empty());
        let next = store.add_session_grant(None, &grant).expect("a row");
        assert!(next > own);
        let left = store.all_session_grants().expect("rows");
        assert_eq!(left.iter().map(|(_, row)| row.number).collect::<Vec<_>>(), [next]);
    }
}
