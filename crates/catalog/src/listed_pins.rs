//! Pins of tools that are only listed: what `list` marks as set aside. Nothing is accepted here,
//! since a person who looks at a list has not used anything yet.
//!
//! `serve` compares what its sources load (`pins`), and knows for each document which source it
//! belongs to. Here there are only documents, so the key of each is worked out again from what it
//! is and where it came from; the result must be the key that `PinSubject::of` makes, or the pins
//! are not found.

use std::path::PathBuf;
use std::sync::Arc;

use toolwright_formats::Reading;
use toolwright_model::{Binding, Draft};
use toolwright_source::TextOrigin;
use toolwright_workspace::code_files::DocumentCode;
use toolwright_workspace::pinned_parts::{pinned_names, program_part, tool_parts};
use toolwright_workspace::{LoadedDocument, LockSection, PinList, TrustSettings};

use crate::pin_subject::{FoundIn, PinSubject, absolute, configured_code, folder_key};
use crate::pins::{PinPlan, PinPurpose, Pins};
use crate::store::Store;

/// Compares documents that are only listed, and accepts nothing. Returns for each of them why each
/// of its tools is set aside, in the order of its tools (an empty list if that is not known), and
/// lines for stderr. A store that does not exist is not made, and without a store and a lock
/// nothing is compared. Problems of either become lines: a list is shown in any case.
///
/// ```text
/// no lock and no store          nothing is known: empty lists
/// neither can be used           the same, with the reason as a line
/// a document without a subject  an empty list for it alone
/// otherwise                     for each tool a reason, or `None`
/// ```
pub fn compare_listed(
    folder: Result<PathBuf, String>,
    settings: TrustSettings,
    lock_path: Option<PathBuf>,
    documents: &[LoadedDocument],
) -> (Vec<Vec<Option<String>>>, Vec<String>) {
    let has_lock = lock_path.as_ref().is_some_and(|path| path.exists());
    let has_store = folder.as_ref().is_ok_and(|folder| Store::path_in(folder).exists());
    let nothing = (vec![Vec::new(); documents.len()], Vec::new());
    if !has_lock && !has_store {
        return nothing;
    }
    let plan = PinPlan { settings, lock_path };
    let (pins, note) = match Pins::open(folder, plan, PinPurpose::List) {
        Ok((Some(pins), note)) => (pins, note),
        Ok((None, note)) => return (nothing.0, note.into_iter().collect()),
        Err(error) => return (nothing.0, vec![error.to_string()]),
    };
    let mut lines: Vec<String> = note.into_iter().collect();
    let mut aside = Vec::new();
    for document in documents {
        let Some((subject, reading)) = listed_subject(document) else {
            aside.push(Vec::new());
            continue;
        };
        let mut parts = tool_parts(reading, &DocumentCode::read(reading, None));
        let server = reading.toolset.tools.iter().find_map(|tool| match &tool.details.binding {
            Binding::Server { server, .. } if document.path.is_none() => Some(server),
            _ => None,
        });
        let anchor = match reading.origin.document().source().origin() {
            TextOrigin::Answer(anchor) => anchor.as_ref(),
            _ => None,
        };
        let program = |server: &Arc<_>| program_part(server, &configured_code(server, anchor));
        parts.extend(server.map(program));
        lines.extend(pins.observe(&subject, PinList::Tools, parts));
        let reason = |name: String| pins.listed_reason(&subject.key, &name);
        let reasons = pinned_names(reading).into_iter().map(reason);
        aside.push(reasons.collect());
    }
    (aside, lines)
}

/// What a listed document is pinned under; `None` if that is not known, such as for standard input
/// and for a server that only the command line names.
///
/// The keys have to be those of `PinSubject`: `file PATH`, `server FILE NAME`, `builtin FILE NAME`.
/// A file counts as found in its folder, because a list does not know whether it was named.
fn listed_subject(document: &LoadedDocument) -> Option<(PinSubject, &Reading)> {
    let reading = document.reading.as_ref()?;
    let source = reading.origin.document().source();
    let is_on_server = |tool: &Draft| matches!(tool.details.binding, Binding::Server { .. });
    let is_listed = |tool: &Draft| tool.details.binding.is_listed();
    let words = |file: &str, name: &str| match file {
        "toolwright.toml" => name.to_owned(),
        file => file.to_owned(),
    };
    let (key, lock_key, words) = match (&document.path, source.origin()) {
        (Some(path), _) => {
            let path = absolute(&path.display().to_string());
            let words = source.name().to_owned();
            (format!("file {path}"), (LockSection::File, path), words)
        }
        (None, TextOrigin::Answer(Some(anchor))) if reading.toolset.tools.iter().any(is_listed) => {
            let (file, name) = (anchor.source.name(), source.name());
            let (word, section) = match reading.toolset.tools.iter().any(is_on_server) {
                true => ("server", LockSection::Server),
                false => ("builtin", LockSection::Builtin),
            };
            let key = format!("{word} {} {name}", absolute(file));
            (key, (section, name.to_owned()), words(file, name))
        }
        _ => return None,
    };
    let label = source.name().to_owned();
    let folders = document.path.as_ref().and_then(|path| path.parent());
    let found_in = folders.map(|folder| FoundIn::Folder(folder_key(folder)));
    Some((PinSubject { key: key.into(), lock_key, label, words, path: None, found_in }, reading))
}
