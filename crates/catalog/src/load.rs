//! Documents to readings: every file is parsed, detected and read, on as many threads as there are
//! cores, and comes out in a stable order.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use toolwright_check::Subject;
use toolwright_formats::{Detected, Reading, detect};
use toolwright_model::FormatId;
use toolwright_source::{Diagnostic, Document, Finding, Origin, Severity, locate};

use crate::files::{self, LoadError};

/// What one document gave: a file, or what a server or a program answered.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    /// The record; nothing if nobody knows what the document is.
    pub reading: Option<Reading>,
    /// What is wrong with it, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether its lines may hold secrets and are not to be shown.
    pub secret: bool,
    /// How it was read.
    pub reader: Reader,
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
#[derive(Debug, Default)]
pub struct Load {
    /// What was read, in a stable order.
    pub files: Vec<Loaded>,
    /// How many files of walked folders are in no known format.
    pub skipped: usize,
    /// Files of walked folders that could not be parsed, so that nobody knows what they are.
    pub unparsed: Vec<String>,
    /// What could not be read at all.
    pub failures: Vec<LoadError>,
}

/// How definitions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// As this format, instead of detecting it.
    pub format: Option<FormatId>,
    /// Whether what definitions in the wild do all the time is only a warning.
    pub compat: bool,
    /// Whether the rules of `check` are held against what is read.
    pub rules: bool,
}

/// Whether a file was named, or met on a walk: there most files are none of our business.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Named,
    Walked,
}

/// Reads files and folders.
pub fn load(paths: &[PathBuf], reader: Reader) -> Load {
    load_and(paths, reader, |_| {})
}

/// Reads files and folders, and does `then` with each as soon as it is read, where it was read. Who
/// drops there what nobody needs any more lets the next file have its memory.
pub fn load_and(paths: &[PathBuf], reader: Reader, then: impl Fn(&mut Loaded) + Sync) -> Load {
    let mut load = Load::default();
    let mut jobs: Vec<(PathBuf, Found)> = Vec::new();
    let mut folders: Vec<(&Path, std::ops::Range<usize>)> = Vec::new();
    for path in paths {
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
    let batches: Vec<&[(PathBuf, Found)]> = jobs.chunks(batch_size(jobs.len())).collect();
    let results = in_parallel(&batches, |batch| read_files(batch, reader, &then));
    let results: Vec<Result<Looked, LoadError>> = results.into_iter().flatten().collect();
    for (folder, range) in folders {
        let read = results[range.clone()].iter().any(|r| matches!(r, Ok(Looked::Read(_))));
        if !read {
            let looked = match range.len() {
                1 => "1 JSON or YAML file".to_owned(),
                n => format!("{n} JSON or YAML files"),
            };
            let message = format!("no definitions in `{}` ({looked} looked at)", folder.display());
            load.failures.push(LoadError::new(message));
        }
    }
    load.files.reserve_exact(results.len());
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

/// Applies `work` to every job on as many threads as there are cores, or as can be had; results in
/// the order of the jobs.
pub fn in_parallel<J: Sync, R: Send + Sync>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let results: Vec<OnceLock<R>> = jobs.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let threads = cores().min(jobs.len());
    let worker = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(n) else { break };
            let _ = results[n].set(work(job));
        }
    };
    std::thread::scope(|scope| {
        // The work is done on this thread, if need be.
        (1..threads).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, worker)));
        worker();
    });
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// How many of `count` files one thread takes at a time: as many as are worth it, and no more than
/// leave enough for the others.
fn batch_size(count: usize) -> usize {
    (count / (4 * cores())).clamp(1, BATCH)
}

/// Documents that are held against the rules together, and how many bytes of them: more would not
/// stay in a processor's cache, and hostile ones would all be in memory at once.
const BATCH: usize = 32;
const BATCH_BYTES: usize = 64 * 1024;

/// Parses, detects and reads some files.
fn read_files(
    mut files: &[(PathBuf, Found)],
    reader: Reader,
    then: &impl Fn(&mut Loaded),
) -> Vec<Result<Looked, LoadError>> {
    let mut looked = Vec::with_capacity(files.len());
    while !files.is_empty() {
        let (mut documents, mut parsed, mut bytes) = (Vec::new(), Vec::new(), 0);
        while bytes < BATCH_BYTES
            && let Some((file, rest)) = files.split_first()
        {
            files = rest;
            let document = files::parse(&file.0).map(Arc::new);
            bytes += document.as_ref().map_or(0, |document| document.source().text().len());
            documents.extend(document.as_ref().ok().cloned());
            parsed.push((file, document));
        }
        let mut read = read_all(&documents, reader).into_iter();
        looked.extend(parsed.into_iter().map(|((path, found), document)| match document {
            Ok(document) => {
                let mut looked =
                    place(path, *found, &document, read.next().expect("one for each document"));
                if let Looked::Read(loaded) = &mut looked {
                    then(loaded);
                }
                Ok(looked)
            }
            Err(LoadError::Binary(_)) if *found == Found::Walked => Ok(Looked::Skipped),
            Err(error) => Err(error),
        }));
    }
    looked
}

/// What a file is, now that it was read.
fn place(path: &Path, found: Found, document: &Document, mut loaded: Loaded) -> Looked {
    loaded.path = (!files::is_stdin(path)).then(|| path.to_owned());
    if loaded.reading.is_none() && found == Found::Walked {
        if !is_broken(document.problems()) {
            return Looked::Skipped;
        }
        if !toolwright_formats::speaks_of_tools(document.source().text()) {
            return Looked::Unparsed(files::display_name(path));
        }
    }
    Looked::Read(Box::new(loaded))
}

/// Detects and reads one document.
pub fn read(document: &Arc<Document>, reader: Reader) -> Loaded {
    read_all(std::slice::from_ref(document), reader).pop().expect("one for each document")
}

/// Detects and reads some documents; together that is much quicker, if they are small.
pub fn read_all(documents: &[Arc<Document>], reader: Reader) -> Vec<Loaded> {
    let readings: Vec<Result<Reading, Option<Box<Finding>>>> =
        documents.iter().map(|document| read_record(document, reader.format)).collect();
    let subjects: Vec<Subject<'_>> = readings.iter().flatten().map(subject).collect();
    let found = if reader.rules { toolwright_check::check_each(&subjects) } else { Vec::new() };
    let mut found = found.into_iter();
    let loaded = |(document, reading): (&Arc<Document>, Result<Reading, Option<Box<Finding>>>)| {
        let mut diagnostics = document.problems().to_vec();
        let whole = Origin::whole(document);
        let mut tell = |finding| diagnostics.push(locate(soften(finding, reader.compat), &whole));
        match &reading {
            Ok(reading) => {
                reading.findings.iter().cloned().for_each(&mut tell);
                found.next().into_iter().flatten().for_each(tell);
            }
            Err(finding) => finding.iter().map(|finding| Finding::clone(finding)).for_each(tell),
        }
        toolwright_source::render::sort(&mut diagnostics);
        Loaded { path: None, reading: reading.ok(), diagnostics, secret: false, reader }
    };
    documents.iter().zip(readings).map(loaded).collect()
}

/// The record of a document, or why nobody knows what it is.
fn read_record(
    document: &Arc<Document>,
    format: Option<FormatId>,
) -> Result<Reading, Option<Box<Finding>>> {
    match format.map_or_else(|| detect(document), Detected::Format) {
        Detected::Format(format) => Ok(toolwright_formats::read(document, format)),
        // A file that could not be parsed is not also of an unknown format.
        Detected::Unreadable(_) if is_broken(document.problems()) => Err(None),
        Detected::Unreadable(finding) => Err(Some(Box::new(finding))),
    }
}

/// A reading as the rules look at it.
pub fn subject(reading: &Reading) -> Subject<'_> {
    Subject::new(reading.format, reading.dialect.as_deref(), &reading.toolset, &reading.origin)
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
