//! The baseline of a project: findings that are known, so that continuous integration fails on new
//! ones only.
//!
//! ```text
//! findings ─ write ─▶ FILE: {"version": 1, "findings": [one per line, sorted]}
//! findings ─ Baseline::remove_known ◀─ read ─ FILE          ─▶ new findings, and what is stale
//! ```
//!
//! A finding is known by its source, tool, code, path below the tool and message. Lines and columns
//! are left out, and so is the position of a tool in its list: editing something else does not make
//! a known finding new. The message is part of it, because another text in the same place is
//! another finding: a description that tells the model something else, for instance.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use toolwright_source::{Diagnostic, Document, Source, Span, Syntax};

use crate::codes::STALE_BASELINE;
use crate::files::{self, LoadError};
use crate::ignore_list::portable_name;
use crate::{Coverage, LoadResult, LoadedDocument};

/// The version of the file's form.
const VERSION: u64 = 1;

/// What a finding is recognised by, in the order in which the file is sorted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    /// As `portable_name` gives it.
    source: String,
    /// Empty outside of tools.
    tool: String,
    code: String,
    /// The pointer below the tool, or that in the document outside of tools.
    path: String,
    message: String,
}

impl FindingKey {
    /// The key of a diagnostic, in a baseline in `folder`.
    fn of(diagnostic: &Diagnostic, folder: &Path) -> FindingKey {
        let tool = diagnostic.tool.as_ref().map(|tool| tool.name.clone());
        FindingKey {
            source: portable_name(&diagnostic.source, diagnostic.about.as_deref(), folder),
            tool: tool.unwrap_or_default(),
            code: diagnostic.code.name.to_owned(),
            path: diagnostic.path_in_tool().to_string(),
            message: diagnostic.message.clone(),
        }
    }

    /// The key of an entry in the file.
    fn from_json(entry: &Json) -> Option<FindingKey> {
        let text = |name: &str| entry.get(name)?.as_str().map(str::to_owned);
        Some(FindingKey {
            source: text("source")?,
            tool: text("tool")?,
            code: text("code")?,
            path: text("path")?,
            message: text("message")?,
        })
    }
}

/// The known findings of a file.
#[derive(Debug)]
pub struct Baseline {
    source: Arc<Source>,
    /// The folder of the file. Paths of sources are relative to it.
    folder: PathBuf,
    /// How often each finding is known, and the place of its entry in the file.
    known: BTreeMap<FindingKey, (usize, Span)>,
}

impl Baseline {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read, or [`write()`] has not written it.
    ///
    /// The parser of definitions is used, so that a finding about an entry has a place.
    pub fn read(path: &Path) -> Result<Baseline, LoadError> {
        let name = path.display();
        if !path.exists() {
            let message = format!("there is no baseline `{name}` (`--write-baseline` writes it)");
            return Err(LoadError::new(message));
        }
        let document =
            Document::parse(&files::display_name(path), files::read(path)?, Syntax::Json);
        let broken = |why: &str| {
            LoadError::new(format!("`{name}` is not a baseline: {why} (write it again)"))
        };
        if let Some(problem) = document.problems().first() {
            return Err(broken(&problem.message));
        }
        match document.root().get("version").map(|version| version.to_json()) {
            Some(version) if version == json!(VERSION) => {}
            Some(version) if version.is_u64() => {
                return Err(broken(&format!("its version is {version}, expected {VERSION}")));
            }
            _ => return Err(broken("it has no version")),
        }
        let findings = document.root().get("findings").ok_or_else(|| broken("no `findings`"))?;
        let mut known = BTreeMap::new();
        for entry in findings.items() {
            let json = entry.to_json();
            let count = json.get("count").and_then(Json::as_u64);
            let key = FindingKey::from_json(&json).zip(count.and_then(|n| usize::try_from(n).ok()));
            let Some((key, count)) = key else {
                let line = document.source().line_column(entry.span().start as usize).line;
                return Err(broken(&format!("line {line} is not a finding")));
            };
            known.insert(key, (count, entry.span()));
        }
        let source = Arc::clone(document.source());
        Ok(Baseline { source, folder: folder_of(path), known })
    }

    /// Removes the known findings, each as often as it is known, and returns how many they were.
    /// Adds one finding if some are no longer found: in sources that were read, or in all of them.
    ///
    /// A finding that is known twice and found three times is reported once. What was not read
    /// cannot be stale: a run that names one file says nothing about the others.
    pub fn remove_known(&self, load: &mut LoadResult, coverage: Coverage) -> usize {
        let mut left: BTreeMap<&FindingKey, usize> =
            self.known.iter().map(|(key, (count, _))| (key, *count)).collect();
        let mut removed = 0;
        for document in &mut load.documents {
            document.diagnostics.retain(|diagnostic| {
                let count = left.get_mut(&FindingKey::of(diagnostic, &self.folder));
                let known = count.filter(|count| **count > 0);
                removed += usize::from(known.is_some());
                known.map(|count| *count -= 1).is_none()
            });
        }
        let read: HashSet<String> = load
            .documents
            .iter()
            .filter_map(|document| Some(portable_name(document.source()?, None, &self.folder)))
            .collect();
        let complete = coverage == Coverage::Everything && load.failures.is_empty();
        let is_judged = |key: &FindingKey| complete || read.contains(&key.source);
        let stale = left.iter().filter(|(key, count)| **count > 0 && is_judged(key));
        let stale: Vec<(&FindingKey, usize)> = stale.map(|(key, count)| (*key, *count)).collect();
        if let Some((first, _)) = stale.first() {
            let number: usize = stale.iter().map(|(_, count)| count).sum();
            let findings = if number == 1 { "finding is" } else { "findings are" };
            let message = format!("{number} known {findings} no longer found");
            let place = self.known.get(first).map(|(_, span)| *span).unwrap_or_default();
            let diagnostic = Diagnostic::at(&STALE_BASELINE, &self.source, place, message)
                .help("`--write-baseline` again removes them");
            // `secret` keeps the last line from counting it: it is not a file of definitions.
            let document = LoadedDocument::only_diagnostics(vec![diagnostic]);
            load.documents.push(LoadedDocument { secret: true, ..document });
        }
        removed
    }
}

/// Writes all findings to the file at `path` and returns their number. A reader sees either the old
/// file or the new one.
///
/// # Errors
/// If it cannot be written.
///
/// Findings of all severities are written, sorted by their keys, with the number of each.
pub fn write(path: &Path, load: &LoadResult) -> Result<usize, LoadError> {
    let folder = folder_of(path);
    let mut counts: BTreeMap<FindingKey, usize> = BTreeMap::new();
    for diagnostic in load.documents.iter().flat_map(|document| &document.diagnostics) {
        *counts.entry(FindingKey::of(diagnostic, &folder)).or_default() += 1;
    }
    // One finding per line, so that a change of one is a change of one line.
    let line = |(key, count): (&FindingKey, &usize)| {
        let FindingKey { source, tool, code, path, message } = key;
        let entry = json!({
            "source": source, "tool": tool, "code": code, "path": path, "message": message,
            "count": count,
        });
        format!("\n    {entry}")
    };
    let lines: Vec<String> = counts.iter().map(line).collect();
    let end = if lines.is_empty() { "" } else { "\n  " };
    let text =
        format!("{{\n  \"version\": {VERSION},\n  \"findings\": [{}{end}]\n}}\n", lines.join(","));
    let before = std::fs::read(path).ok();
    files::replace_file(path, before.as_deref(), text.as_bytes()).map_err(LoadError::new)?;
    Ok(counts.values().sum())
}

/// The folder that a file is in, as an absolute path.
fn folder_of(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.parent().map(Path::to_owned).unwrap_or_default()
}
