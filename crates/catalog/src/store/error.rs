//! Why the store cannot be used, in one sentence that names the file and what to do.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// The store cannot be used. Nothing in it was changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Its folder or a file in it cannot be made, read or written.
    #[error("`{}` cannot be used: {why}", path.display())]
    Files {
        /// The folder or file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// Another process holds it.
    #[error("`{}` was locked by another process for 5 s", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// It is not a database, or its content is damaged.
    #[error(
        "`{}` is damaged ({why}); move it away, and a new one is made", path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite says.
        why: String,
    },
    /// It was made by a newer version of this program.
    #[error("the store has format {version}, which a newer version of toolwright made: update it")]
    Newer {
        /// The version of its tables.
        version: i64,
    },
}

impl StoreError {
    pub(super) fn folder(path: &Path, error: &io::Error) -> StoreError {
        StoreError::Files { path: path.to_owned(), why: error.to_string() }
    }

    pub(super) fn database(path: &Path, error: &rusqlite::Error) -> StoreError {
        let (path, why) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                StoreError::Damaged { path, why }
            }
            // A table or column is missing, although the version is ours.
            _ if matches!(error, rusqlite::Error::SqlInputError { .. }) => {
                StoreError::Damaged { path, why: "its tables are not those of a store".to_owned() }
            }
            _ => StoreError::Files { path, why },
        }
    }
}
