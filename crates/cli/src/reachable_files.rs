//! Files that decide what agents may do, and that a tool of theirs could write: the configuration,
//! the lock beside it and the user's store, in a folder that a server is given as an argument.
//! `doctor` reports them.
//!
//! It is a look at the arguments of servers, not a proof: a server can write wherever the user can.

use std::path::{Path, PathBuf};

use toolwright_model::Connection;
use toolwright_workspace::{ReadOptions, SourcePlan, SourceTarget};

use crate::environment::{self, variable};

/// A sentence about each file in reach of a server of the configuration `path`.
pub(crate) fn report(path: &Path) -> Vec<String> {
    let plan = SourcePlan::from_config(path, ReadOptions::default(), &variable);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut guarded = vec![path.to_owned(), folder.join("toolwright.lock")];
    guarded.extend(environment::state_folder().ok().map(|folder| folder.join("store.db")));
    // A lock that does not exist cannot be changed; making one is noticed.
    guarded.retain(|file| file.exists());
    let mut sentences = Vec::new();
    for spec in &plan.specs {
        let SourceTarget::Server(server, _) = &spec.target else { continue };
        let Connection::Stdio { command } = &server.connection else { continue };
        let working = server.directory.as_deref().map_or(folder, Path::new);
        let folders: Vec<PathBuf> =
            command.iter().skip(1).filter_map(|word| named_folder(word, working)).collect();
        for file in &guarded {
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            if let Some(folder) = folders.iter().find(|folder| real.starts_with(folder)) {
                sentences.push(format!(
                    "`{}` lies in `{}`, which the server `{}` is given: an agent could change by \
                     it what it may do",
                    file.display(),
                    folder.display(),
                    spec.name
                ));
            }
        }
    }
    sentences
}

/// The folder that a word of a command line names, also as the value of an option.
fn named_folder(word: &str, working: &Path) -> Option<PathBuf> {
    let value = word.rsplit_once('=').map_or(word, |(_, value)| value);
    let path = working.join(value);
    (!value.is_empty() && path.is_dir()).then(|| path.canonicalize().ok())?
}
