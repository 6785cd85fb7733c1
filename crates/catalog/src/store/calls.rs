//! The table of calls: what a row holds, and how rows are put in and found.
//!
//! ```text
//! JournalLine (a line of JSON) ─ insert ─▶ table `calls` ─ find_calls ─▶ StoredCall
//! ```
//!
//! A row is named by its run and number, so a line that is carried over twice is one row.

use std::borrow::Cow;

use rusqlite::{Connection, Row, params};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::retention::DAY_IN_MICROS;
use super::{Store, StoreError};

/// Finds calls: from one row to another, then by the parts of a [`CallFilter`].
pub(super) const SELECT: &str = "\
    SELECT run, number, time, agent, session, tool, tool_hash, toolset_hash, code, micros, steps, \
    argument_bytes, result_bytes, arguments, grants FROM calls WHERE rowid > ?1 AND rowid <= ?2 \
    AND (?3 IS NULL OR time >= ?3) \
    AND (?4 IS NULL OR tool = ?4 OR substr(tool, -length(?4) - 1) = ':' || ?4) \
    AND (?5 IS NULL OR agent = ?5) AND (?6 IS NULL OR code = ?6) \
    ORDER BY time, run, number";

/// A call in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCall {
    /// When the caller asked, in microseconds since 1970.
    pub time: u64,
    /// Who called.
    pub agent: String,
    /// The session of the client in its process.
    pub session: Option<u64>,
    /// The id of the tool.
    pub tool: String,
    /// The content hash of the tool.
    pub tool_hash: Option<String>,
    /// The content hash of its toolset.
    pub toolset_hash: Option<String>,
    /// `OK`, or the code of the failure.
    pub code: String,
    /// The whole time, in microseconds.
    pub micros: u64,
    /// The microseconds of each step that was taken, by its name.
    pub steps: Json,
    /// The size of the arguments as the caller wrote them.
    pub argument_bytes: u64,
    /// The size of the result.
    pub result_bytes: u64,
    /// The arguments or their hash, if the configuration keeps them.
    pub arguments: Option<String>,
    /// The grants that it used, such as `dom:read (session)`.
    pub grants: Vec<String>,
}

/// A call as a line of a journal. Read and written without a tree of values in between, which would
/// take longer than the rest of what a record costs.
#[derive(serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JournalLine<'a, Steps> {
    /// The number of the record in its journal.
    pub(super) n: u64,
    pub(super) time: u64,
    #[serde(borrow)]
    pub(super) agent: Cow<'a, str>,
    pub(super) session: Option<u64>,
    #[serde(borrow)]
    pub(super) tool: Cow<'a, str>,
    pub(super) tool_hash: Option<&'a str>,
    pub(super) toolset_hash: Option<&'a str>,
    pub(super) code: &'a str,
    pub(super) micros: u64,
    pub(super) steps: Steps,
    pub(super) argument_bytes: u64,
    pub(super) result_bytes: u64,
    #[serde(borrow)]
    pub(super) arguments: Option<Cow<'a, str>>,
    /// For how many days it is kept. Lines of earlier versions have none.
    pub(super) keep: Option<u64>,
    /// Most calls use none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) grants: Vec<String>,
}

impl JournalLine<'_, &RawValue> {
    /// The time from which it is not kept any more.
    fn ends(&self) -> Option<u64> {
        Some(self.time.saturating_add(self.keep?.saturating_mul(DAY_IN_MICROS)))
    }

    /// Puts the call into the table, unless it is there already: run and number are unique
    /// together, and a record may be carried over twice.
    pub(super) fn insert(&self, database: &Connection, run: &str) -> rusqlite::Result<()> {
        let mut insert = database.prepare_cached(
            "INSERT OR IGNORE INTO calls (run, number, time, agent, session, tool, tool_hash, \
             toolset_hash, code, micros, steps, argument_bytes, result_bytes, arguments, grants, \
             ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        insert.execute(params![
            run,
            self.n.cast_signed(),
            self.time.cast_signed(),
            self.agent,
            self.session.map(u64::cast_signed),
            self.tool,
            self.tool_hash,
            self.toolset_hash,
            self.code,
            self.micros.cast_signed(),
            self.steps.get(),
            self.argument_bytes.cast_signed(),
            self.result_bytes.cast_signed(),
            self.arguments,
            (!self.grants.is_empty()).then(|| Json::from(self.grants.clone()).to_string()),
            self.ends().map(u64::cast_signed),
        ])?;
        Ok(())
    }
}

/// Which calls to find. Every part that is set must fit.
#[derive(Clone, Debug, Default)]
pub struct CallFilter {
    /// Calls since then, in microseconds since 1970.
    pub since: Option<u64>,
    /// The exact id of the tool, or its name without the namespace.
    pub tool: Option<String>,
    /// The exact name of the agent.
    pub agent: Option<String>,
    /// The code.
    pub code: Option<String>,
}

impl StoredCall {
    /// SQLite has signed integers only; the casts undo those of `insert`.
    ///
    /// A row with JSON that cannot be parsed, which this program does not write, has no steps or
    /// grants.
    fn from_row(row: &Row<'_>) -> rusqlite::Result<StoredCall> {
        let count = |name: &str| row.get::<_, i64>(name).map(i64::cast_unsigned);
        let steps: String = row.get("steps")?;
        let grants = row.get::<_, Option<String>>("grants")?.unwrap_or_default();
        Ok(StoredCall {
            time: count("time")?,
            agent: row.get("agent")?,
            session: row.get::<_, Option<i64>>("session")?.map(i64::cast_unsigned),
            tool: row.get("tool")?,
            tool_hash: row.get("tool_hash")?,
            toolset_hash: row.get("toolset_hash")?,
            code: row.get("code")?,
            micros: count("micros")?,
            steps: serde_json::from_str(&steps).unwrap_or_default(),
            argument_bytes: count("argument_bytes")?,
            result_bytes: count("result_bytes")?,
            arguments: row.get("arguments")?,
            grants: texts_of(&serde_json::from_str(&grants).unwrap_or_default()),
        })
    }
}

/// The texts of a list; none of anything else.
fn texts_of(value: &Json) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

impl Store {
    /// Hands all calls that fit to `each`, in the order in which they were made, until it returns
    /// false. Only those that arrived after the row `after`; returns the last row that exists,
    /// which is `after` of the next call for somebody who follows. The rows are read one by one, so
    /// memory does not grow with the table.
    ///
    /// # Errors
    /// If the database cannot be read.
    ///
    /// `length` and `substr` in the query find `ns:name` by `name`.
    pub fn find_calls(
        &self,
        filter: &CallFilter,
        after: i64,
        each: &mut dyn FnMut(StoredCall) -> bool,
    ) -> Result<i64, StoreError> {
        let database = self.database();
        let fail = |error| self.error(&error);
        let last = database
            .query_row("SELECT coalesce(max(rowid), 0) FROM calls", [], |row| row.get(0))
            .map_err(fail)?;
        let mut select = database.prepare(SELECT).map_err(fail)?;
        let since = filter.since.map(u64::cast_signed);
        let mut rows = select
            .query(params![after, last, since, filter.tool, filter.agent, filter.code])
            .map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            if !each(StoredCall::from_row(row).map_err(fail)?) {
                break;
            }
        }
        Ok(last)
    }
}
