//! The table of grants: what people have allowed until they revoke it.
//!
//! Several processes share it, so a grant that is revoked in one terminal must not hold in a server
//! that runs in another. [`Store::grants_version`] tells cheaply whether anything was written since
//! the last look.

use rusqlite::{OptionalExtension, params};

use super::{Store, StoreError};

/// Finds all grants.
pub(super) const SELECT: &str =
    "SELECT agent, toolset, hash, capability, time, origin FROM grants ORDER BY time, rowid";

/// A grant in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGrant {
    /// Who may.
    pub agent: String,
    /// The name of the toolset.
    pub toolset: String,
    /// The content hash of the toolset; `None` if the grant is for every toolset of this name.
    pub hash: Option<String>,
    /// What is allowed.
    pub capability: String,
    /// The origin of the pages that it is for, or `*` for all. `None` for what is not about pages.
    pub origin: Option<String>,
    /// When it was granted, in microseconds since 1970.
    pub time: u64,
}

/// Which grants to revoke. Every part that is set must fit.
#[derive(Clone, Debug, Default)]
pub struct GrantFilter {
    /// The name of the toolset, or its content hash.
    pub toolset: Option<String>,
    /// The capabilities; empty: all of them.
    pub capabilities: Vec<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The origin of pages.
    pub origin: Option<String>,
}

impl GrantFilter {
    pub(super) fn fits(&self, grant: &StoredGrant) -> bool {
        let is_toolset =
            |wanted: &String| *wanted == grant.toolset || Some(wanted) == grant.hash.as_ref();
        self.toolset.as_ref().is_none_or(is_toolset)
            && (self.capabilities.is_empty() || self.capabilities.contains(&grant.capability))
            && self.agent.as_ref().is_none_or(|agent| *agent == grant.agent)
            && (self.origin.is_none() || self.origin == grant.origin)
    }
}

impl Store {
    /// All grants, in the order in which they were given.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn grants(&self) -> Result<Vec<StoredGrant>, StoreError> {
        let database = self.database();
        let read = || -> rusqlite::Result<Vec<StoredGrant>> {
            let mut select = database.prepare_cached(SELECT)?;
            let rows = select.query_map([], |row| {
                Ok(StoredGrant {
                    agent: row.get(0)?,
                    toolset: row.get(1)?,
                    hash: Some(row.get::<_, String>(2)?).filter(|hash| !hash.is_empty()),
                    capability: row.get(3)?,
                    time: row.get::<_, i64>(4)?.cast_unsigned(),
                    origin: Some(row.get::<_, String>(5)?).filter(|origin| !origin.is_empty()),
                })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.error(&error))
    }

    /// Keeps a grant. One that is there already stays as it is.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn add_grant(&self, grant: &StoredGrant) -> Result<(), StoreError> {
        let add = self.database().execute(
            "INSERT OR IGNORE INTO grants (agent, toolset, hash, capability, time, origin) \
             VALUES (?, ?, ?, ?, ?, ?)",
            params![
                grant.agent,
                grant.toolset,
                grant.hash.as_deref().unwrap_or_default(),
                grant.capability,
                grant.time.cast_signed(),
                grant.origin.as_deref().unwrap_or_default(),
            ],
        );
        add.map(drop).map_err(|error| self.error(&error))
    }

    /// Removes the grants that fit, and returns them.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub fn revoke_grants(&self, filter: &GrantFilter) -> Result<Vec<StoredGrant>, StoreError> {
        let mut revoked = self.grants()?;
        revoked.retain(|grant| filter.fits(grant));
        let database = self.database();
        for grant in &revoked {
            let gone = database.execute(
                "DELETE FROM grants WHERE agent = ? AND toolset = ? AND hash = ? \
                 AND capability = ? AND origin = ?",
                params![
                    grant.agent,
                    grant.toolset,
                    grant.hash.as_deref().unwrap_or_default(),
                    grant.capability,
                    grant.origin.as_deref().unwrap_or_default(),
                ],
            );
            gone.map_err(|error| self.error(&error))?;
        }
        Ok(revoked)
    }

    /// A number that changes when another connection has written to the database, at the cost of a
    /// look into shared memory.
    pub(crate) fn grants_version(&self) -> Result<i64, StoreError> {
        let database = self.database();
        let read = || -> rusqlite::Result<Option<i64>> {
            let mut pragma = database.prepare_cached("PRAGMA data_version")?;
            pragma.query_row([], |row| row.get(0)).optional()
        };
        read().map(Option::unwrap_or_default).map_err(|error| self.error(&error))
    }
}
