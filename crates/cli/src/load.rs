//! Paths to readings: every file is parsed, detected and read, on as many threads as there are
//! cores, and comes out in a stable order.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::anyhow;
use toolwright_formats::{Detected, Reading, by_name, detect};
use toolwright_model::FormatId;
use toolwright_source::{Diagnostic, Finding, Origin, Severity, locate};

use crate::args::Inputs;
use crate::files;

/// What one file gave.
pub(crate) struct Loaded {
    pub(crate) reading: Option<Reading>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What came of looking at one file.
enum Looked {
    Read(Box<Loaded>),
    /// Met on a walk, and in no known format.
    Skipped,
    /// Met on a walk, and broken.
    Unparsed(String),
}

/// What all paths gave.
#[derive(Default)]
pub(crate) struct Load {
    pub(crate) files: Vec<Loaded>,
    /// How many files of walked folders are in no known format.
    pub(crate) skipped: usize,
    /// Files of walked folders that could not be parsed, so that nobody knows what they are.
    pub(crate) unparsed: Vec<String>,
    /// What could not be read at all.
    pub(crate) failures: Vec<anyhow::Error>,
}

/// Whether a file was named, or met on a walk: there most files are none of our business.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Named,
    Walked,
}

/// Reads everything that `inputs` names.
pub(crate) fn load(inputs: &Inputs) -> Load {
    let mut load = Load::default();
    let mut jobs: Vec<(PathBuf, Found)> = Vec::new();
    let mut folders: Vec<(&Path, std::ops::Range<usize>)> = Vec::new();
    for path in &inputs.paths {
        if !files::is_stdin(path) && path.is_dir() {
            let (paths, errors) = files::walk(path);
            let start = jobs.len();
            jobs.extend(paths.into_iter().map(|path| (path, Found::Walked)));
            // What could not be looked into is the better reason for finding nothing.
            if errors.is_empty() {
                folders.push((path, start..jobs.len()));
            }
            load.failures.extend(errors);
        } else {
            jobs.push((path.clone(), Found::Named));
        }
    }
    let format = inputs.format.as_deref().and_then(by_name).map(|format| format.id());
    let results = in_parallel(&jobs, |(path, found)| read_file(path, *found, format, inputs.compat));
    for (folder, range) in folders {
        let read = results[range.clone()].iter().any(|r| matches!(r, Ok(Looked::Read(_))));
        if !read {
            let looked = crate::report::plural(range.len(), "JSON or YAML file");
            load.failures.push(anyhow!("no definitions in `{}` ({looked} looked at)", folder.display()));
        }
    }
    for result in results {
        match result {
            Ok(Looked::Read(loaded)) => load.files.push(*loaded),
            Ok(Looked::Skipped) => load.skipped += 1,
            Ok(Looked::Unparsed(name)) => load.unparsed.push(name),
            Err(error) => load.failures.push(error),
        }
    }
    load
}

/// Applies `work` to every job, results in the order of the jobs.
fn in_parallel<J: Sync, R: Send + Sync>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let results: Vec<OnceLock<R>> = jobs.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(jobs.len());
    let worker = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(n) else { break };
            let _ = results[n].set(work(job));
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(worker)));
        worker();
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Parses, detects and reads one file.
fn read_file(path: &Path, found: Found, format: Option<FormatId>, compat: bool) -> anyhow::Result<Looked> {
    let document = match files::parse(path) {
        Ok(document) => Arc::new(document),
        Err(error) if found == Found::Walked && error.is::<files::Binary>() => return Ok(Looked::Skipped),
        Err(error) => return Err(error),
    };
    let detected = format.map_or_else(|| detect(&document), Detected::Format);
    let mut diagnostics = document.problems().to_vec();
    let reading = match detected {
        Detected::Format(format) => Some(toolwright_formats::read(&document, format)),
        Detected::Unreadable(_) if found == Found::Walked => {
            let name = files::display_name(path);
            return Ok(if is_broken(&diagnostics) { Looked::Unparsed(name) } else { Looked::Skipped });
        }
        // A file that could not be parsed is not also of an unknown format.
        Detected::Unreadable(_) if is_broken(&diagnostics) => None,
        Detected::Unreadable(finding) => {
            diagnostics.push(locate(finding, &Origin::whole(&document)));
            None
        }
    };
    if let Some(reading) = &reading {
        let whole = Origin::whole(&document);
        let findings = reading.findings.iter().cloned();
        diagnostics.extend(findings.map(|finding| locate(soften(finding, compat), &whole)));
    }
    toolwright_source::render::sort(&mut diagnostics);
    Ok(Looked::Read(Box::new(Loaded { reading, diagnostics })))
}

fn is_broken(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// In compat mode, what the wild does all the time is a warning.
fn soften(mut finding: Finding, compat: bool) -> Finding {
    if compat && finding.tolerable {
        finding.severity = finding.severity.min(Severity::Warning);
    }
    finding
}
