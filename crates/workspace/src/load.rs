//! Files and folders to readings.
//!
//! Every file is parsed, its format detected and its record read, on as many threads as there are
//! cores; results come out in a stable order. Documents are held against the rules in batches,
//! because all rules together are far more code than a processor keeps at hand.
//!
//! ```text
//! paths ─ walk ─▶ files ─ batches, one a thread ─▶ parse ─ detect ─ read ─ rules ─▶ LoadedDocument
//! ```

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use toolwright_check::{RuleScope, Subject};
use toolwright_formats::{DetectionResult, Reading, detect, live};
use toolwright_model::{Binding, Connection, FieldValue, FormatId, InputSchema, Server};
use toolwright_schema::{SchemaSide, TargetSet};
use toolwright_source::{
    Diagnostic, Document, Finding, RecordPath, Severity, Source, TextOrigin, locate, render,
};

use crate::Workspace;
use crate::check::DefinitionAuthors;
use crate::files::{self, LoadError};
use crate::plan::UnstartedServer;
use crate::tool_places::fill_in_tools;

/// What was read from one document: a file, or the answer of a server or a program.
#[derive(Clone, Debug)]
pub struct LoadedDocument {
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    /// The record; `None` if the document's format is unknown.
    pub reading: Option<Reading>,
    /// What is wrong with it, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether its lines may hold secrets, so that renderers must not quote them.
    pub secret: bool,
    /// How it was read; a repair reads the new text in the same way.
    pub options: ReadOptions,
    /// The folder with the bodies of its tools, if that is not its own.
    pub bodies: Option<PathBuf>,
    /// What is wrong in the bodies of its tools, each with the number of the tool. The places are
    /// those in the bodies.
    pub in_bodies: Vec<(usize, Diagnostic)>,
}

impl LoadedDocument {
    /// Diagnostics without a record: of a configuration, or of a script.
    pub fn only_diagnostics(diagnostics: Vec<Diagnostic>) -> LoadedDocument {
        LoadedDocument {
            path: None,
            reading: None,
            diagnostics,
            secret: false,
            options: ReadOptions::default(),
            bodies: None,
            in_bodies: Vec::new(),
        }
    }

    /// The text that was read; `None` for scripts and configurations.
    pub(crate) fn source(&self) -> Option<&Source> {
        Some(self.reading.as_ref()?.origin.document().source())
    }
}

/// The outcome of reading one file.
///
/// The counts and lists of [`LoadResult`] are made of these, in the order of the files.
enum FileOutcome {
    /// It is a definition, or was named by the user and is reported whatever it is.
    Read(Box<LoadedDocument>),
    /// Found on a walk, and of no known format.
    Skipped,
    /// Found on a walk, not parseable, and without a word that only definitions have. Holds
    /// the name of the file. Most such files are templates or data of other programs, so they are
    /// only listed, without their syntax errors.
    Unparsed(String),
}

/// Everything that was read from some paths, or from all sources of a plan.
#[derive(Debug, Default)]
pub struct LoadResult {
    /// The documents, in a stable order.
    pub documents: Vec<LoadedDocument>,
    /// How many files of walked folders are of no known format.
    pub skipped: usize,
    /// Files of walked folders that could not be parsed, so that their format is unknown.
    pub unparsed: Vec<String>,
    /// What could not be read at all.
    pub failures: Vec<LoadError>,
    /// How many servers its author wrote down, also those that were not started.
    pub servers: usize,
    /// Those that were not started.
    pub unstarted: Vec<UnstartedServer>,
}

/// How definitions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Read as this format instead of detecting it.
    pub format: Option<FormatId>,
    /// Compat mode: what many published definitions do is a warning instead of an error. Only
    /// findings that their rule or table marks as tolerable are affected.
    pub compat: bool,
    /// Whether the rules of `check` are held against what is read.
    pub rules: bool,
    /// Which findings of the rules are looked for.
    pub scope: RuleScope,
    /// The APIs that the tools are going to be sent to. With none, no rule is about them.
    pub targets: TargetSet,
    /// Whether something that is used together with it was not read, and may define what it names.
    pub beside_unread: bool,
}

/// How a file came to be read. On a walk, most files are not definitions and are skipped silently.
#[derive(Clone, Copy, PartialEq)]
enum FoundBy {
    /// The user named it, so it is reported even if it is not a definition.
    Name,
    /// It was found in a folder.
    Walk,
}

impl Workspace {
    /// Reads files and folders.
    pub fn load(&self, paths: &[PathBuf], options: ReadOptions) -> LoadResult {
        self.load_each(paths, options, |_| {})
    }

    /// Reads files and folders, and calls `then` with each document on the thread that read it. A
    /// caller who drops there what it does not need lets the next file have the memory.
    ///
    /// A folder with no definition at all is a failure, unless part of it could not be read.
    pub fn load_each(
        &self,
        paths: &[PathBuf],
        options: ReadOptions,
        then: impl Fn(&mut LoadedDocument) + Sync,
    ) -> LoadResult {
        let mut load = LoadResult::default();
        let mut files: Vec<(PathBuf, FoundBy)> = Vec::new();
        let mut folders: Vec<(&Path, Range<usize>)> = Vec::new();
        for path in paths {
            // `-` could be the name of a folder, but on a command line it is standard input.
            if !files::is_stdin(path) && path.is_dir() {
                let (paths, errors) = self.overlay.walk(path);
                let start = files.len();
                files.extend(paths.into_iter().map(|path| (path, FoundBy::Walk)));
                // If a folder could not be looked into, that is the reason for finding nothing.
                if errors.is_empty() {
                    folders.push((path, start..files.len()));
                }
                load.failures.extend(errors);
            } else {
                files.push((path.clone(), FoundBy::Name));
            }
        }
        // Chunks keep the order of the files, so flattening the results restores it.
        let batches: Vec<&[(PathBuf, FoundBy)]> = files.chunks(batch_size(files.len())).collect();
        let outcomes = in_parallel(&batches, |batch| self.read_files(batch, options, &then));
        let outcomes: Vec<Result<FileOutcome, LoadError>> =
            outcomes.into_iter().flatten().collect();
        // A folder without any definition is probably the wrong folder. Silence would look like
        // success.
        for (folder, range) in folders {
            if !outcomes[range.clone()].iter().any(|it| matches!(it, Ok(FileOutcome::Read(_)))) {
                load.failures.push(no_definitions(folder, range.len()));
            }
        }
        // Exact, because with ten thousand documents the spare room of a growing list is large.
        load.documents.reserve_exact(outcomes.len());
        for outcome in outcomes {
            match outcome {
                Ok(FileOutcome::Read(document)) => load.documents.push(*document),
                Ok(FileOutcome::Skipped) => load.skipped += 1,
                Ok(FileOutcome::Unparsed(name)) => load.unparsed.push(name),
                Err(error) => load.failures.push(error),
            }
        }
        load
    }

    /// Parses, detects and reads some files, in batches of [`BATCH_BYTES`].
    ///
    /// All rules run over the documents of a batch before the next file is parsed.
    fn read_files(
        &self,
        mut files: &[(PathBuf, FoundBy)],
        options: ReadOptions,
        then: &impl Fn(&mut LoadedDocument),
    ) -> Vec<Result<FileOutcome, LoadError>> {
        let mut outcomes = Vec::with_capacity(files.len());
        while !files.is_empty() {
            let (mut documents, mut parsed, mut bytes) = (Vec::new(), Vec::new(), 0);
            while bytes < BATCH_BYTES
                && let Some((file, rest)) = files.split_first()
            {
                files = rest;
                let document = self.overlay.parse(&file.0).map(Arc::new);
                // A file that cannot be read costs nothing, and stays in its position among the
                // others.
                bytes += document.as_ref().map_or(0, |document| document.source().text().len());
                documents.extend(document.as_ref().ok().cloned());
                parsed.push((file, document));
            }
            // One reading for each document that was parsed, in the same order.
            let mut read = self.read_all(&documents, options).into_iter();
            outcomes.extend(parsed.into_iter().map(|((path, found), document)| match document {
                Ok(document) => {
                    let loaded = read.next().expect("one reading for each document");
                    let mut outcome = classify(path, *found, &document, loaded);
                    if let FileOutcome::Read(loaded) = &mut outcome {
                        then(loaded);
                    }
                    Ok(outcome)
                }
                // In a folder, a binary file is skipped like any file of no known format. One that
                // the user named is an error.
                Err(LoadError::Binary(_)) if *found == FoundBy::Walk => Ok(FileOutcome::Skipped),
                Err(error) => Err(error),
            }));
        }
        outcomes
    }

    /// Detects the format of one document and reads it.
    pub fn read(&self, document: &Arc<Document>, options: ReadOptions) -> LoadedDocument {
        let mut read = self.read_all(std::slice::from_ref(document), options);
        read.pop().expect("one reading for each document")
    }

    /// Reads what a running server answered to `tools/list`, which nobody here can edit. The format
    /// of `options` does not count.
    ///
    /// Severities are lowered by `formats::live`: a user cannot fix what a server lists.
    pub fn read_live(&self, document: &Arc<Document>, options: ReadOptions) -> LoadedDocument {
        let mut read = self.read_as(std::slice::from_ref(document), options, ReadMode::Live);
        read.pop().expect("one reading for each document")
    }

    /// Detects the formats of some documents and reads them. With small documents this is much
    /// faster than one at a time: each rule runs over all of them before the next rule starts.
    pub fn read_all(
        &self,
        documents: &[Arc<Document>],
        options: ReadOptions,
    ) -> Vec<LoadedDocument> {
        let mode = if options.compat { ReadMode::Compat } else { ReadMode::Strict };
        self.read_as(documents, options, mode)
    }

    /// The readings of documents, in their order, with everything that was found.
    ///
    /// ```text
    /// each: detect ─ read ─▶ Reading     all: rules, one after the other     each: locate, sort
    /// ```
    ///
    /// A document without a format has no record, so the rules never see it; the lists are matched
    /// by counting the readings only.
    fn read_as(
        &self,
        documents: &[Arc<Document>],
        options: ReadOptions,
        mode: ReadMode,
    ) -> Vec<LoadedDocument> {
        let read = |document: &Arc<Document>| match mode {
            ReadMode::Live => Ok(live::read_live(document)),
            ReadMode::Strict | ReadMode::Compat => read_record(document, options.format),
        };
        let mut readings: Vec<Result<Reading, Option<Box<Finding>>>> =
            documents.iter().map(read).collect();
        if !matches!(mode, ReadMode::Strict) {
            readings.iter_mut().flatten().for_each(tolerate_schemas);
        }
        let subjects: Vec<Subject<'_>> =
            readings.iter().flatten().map(|reading| self.subject(reading, options)).collect();
        let found = if options.rules {
            toolwright_check::check_each(&subjects, &*self.analyzer, options.scope)
        } else {
            Vec::new()
        };
        // They borrow the readings, which are moved below.
        drop(subjects);
        // One list for each document that has a record. Without rules it is empty, and `next` then
        // gives nothing for every document.
        let mut found = found.into_iter();
        let loaded =
            |(document, reading): (&Arc<Document>, Result<Reading, Option<Box<Finding>>>)| {
                let mut diagnostics = document.problems().to_vec();
                let mut report = |finding| {
                    diagnostics.push(locate(mode.adapt(finding, document), document));
                };
                match &reading {
                    Ok(reading) => {
                        reading.findings.iter().cloned().for_each(&mut report);
                        found.next().into_iter().flatten().for_each(report);
                    }
                    Err(finding) => {
                        finding.iter().map(|finding| Finding::clone(finding)).for_each(report);
                    }
                }
                if let Ok(reading) = &reading {
                    fill_in_tools(reading, &mut diagnostics);
                }
                render::sort(&mut diagnostics);
                LoadedDocument {
                    path: None,
                    reading: reading.ok(),
                    diagnostics,
                    secret: false,
                    options,
                    bodies: None,
                    in_bodies: Vec::new(),
                }
            };
        documents.iter().zip(readings).map(loaded).collect()
    }

    /// Adds what the rules find in documents that were read without them.
    ///
    /// For documents whose record was needed before, such as those of running servers. The
    /// severities are those that reading with rules would have given.
    pub(crate) fn run_rules(
        &self,
        documents: &mut [LoadedDocument],
        scope: RuleScope,
        authors: DefinitionAuthors,
    ) {
        let read = documents.iter().filter_map(|it| Some((it.reading.as_ref()?, it.options)));
        let subjects: Vec<Subject<'_>> =
            read.map(|(reading, options)| self.subject(reading, options)).collect();
        let found = toolwright_check::check_each(&subjects, &*self.analyzer, scope);
        drop(subjects);
        let with_record = documents.iter_mut().filter(|document| document.reading.is_some());
        for (loaded, found) in with_record.zip(found) {
            let mode = match authors {
                DefinitionAuthors::Foreign => ReadMode::Live,
                DefinitionAuthors::Reachable if loaded.options.compat => ReadMode::Compat,
                DefinitionAuthors::Reachable => ReadMode::Strict,
            };
            let Some(reading) = &loaded.reading else { continue };
            let document = reading.origin.document();
            let located = found.into_iter().map(|it| locate(mode.adapt(it, document), document));
            loaded.diagnostics.extend(located);
        }
    }

    /// A reading as the rules see it.
    pub fn subject<'a>(&'a self, reading: &'a Reading, options: ReadOptions) -> Subject<'a> {
        let subject = Subject::new(reading.dialect.as_deref(), &reading.toolset, &reading.origin);
        subject.for_targets(options.targets).beside_unread(options.beside_unread)
    }
}

/// The failure for a folder in which nothing is a definition.
fn no_definitions(folder: &Path, files: usize) -> LoadError {
    let looked_at = match files {
        1 => "1 JSON or YAML file".to_owned(),
        n => format!("{n} JSON or YAML files"),
    };
    LoadError::NoDefinitions(format!("`{}` ({looked_at} looked at)", folder.display()))
}

/// Applies `work` to every job on as many threads as there are cores, or as the system grants;
/// results in the order of the jobs.
pub fn in_parallel<J: Sync, R: Send + Sync>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let results: Vec<OnceLock<R>> = jobs.iter().map(|_| OnceLock::new()).collect();
    // Threads take the next job from a shared counter: jobs differ much in size, so equal shares
    // would leave some threads idle.
    let next = AtomicUsize::new(0);
    let threads = cores().min(jobs.len());
    let worker = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(n) else { break };
            // Cannot fail: each number is handed out once.
            let _ = results[n].set(work(job));
        }
    };
    std::thread::scope(|scope| {
        // If no thread can be started, this one does all the work.
        (1..threads).for_each(|_| drop(std::thread::Builder::new().spawn_scoped(scope, worker)));
        worker();
    });
    // A panic of a worker ends the scope with a panic, so every cell is filled here.
    results.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Asked once: the system reads several files to answer.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// How many of `count` files one thread takes at a time: a full batch if there are enough files,
/// fewer if otherwise some threads would get none.
fn batch_size(count: usize) -> usize {
    // Four batches for each core, so that a slow batch at the end does not keep all others waiting.
    (count / (4 * cores())).clamp(1, BATCH_FILES)
}

/// Documents that are held against the rules together, and bytes of them. More would not stay in a
/// processor's cache, and hostile ones would all be in memory at once.
const BATCH_FILES: usize = 32;
const BATCH_BYTES: usize = 64 * 1024;

/// Decides whether a file that was read is a definition.
fn classify(
    path: &Path,
    found: FoundBy,
    document: &Document,
    mut loaded: LoadedDocument,
) -> FileOutcome {
    loaded.path = (!files::is_stdin(path)).then(|| path.to_owned());
    if loaded.reading.is_none() && found == FoundBy::Walk {
        if !has_errors(document.problems()) {
            return FileOutcome::Skipped;
        }
        // A broken file that mentions what only definitions have is reported with its mistakes.
        if !toolwright_formats::looks_like_definition(document.source().text()) {
            return FileOutcome::Unparsed(files::display_name(path));
        }
    }
    FileOutcome::Read(Box::new(loaded))
}

/// The record of a document, or the finding that its format is unknown.
fn read_record(
    document: &Arc<Document>,
    format: Option<FormatId>,
) -> Result<Reading, Option<Box<Finding>>> {
    match format.map_or_else(|| detect(document), DetectionResult::Format) {
        DetectionResult::Format(format) => {
            let mut reading = toolwright_formats::read(document, format);
            start_beside_document(&mut reading);
            Ok(reading)
        }
        // A file that could not be parsed is not also of an unknown format.
        DetectionResult::Unreadable(_) if has_errors(document.problems()) => Err(None),
        DetectionResult::Unreadable(finding) => Err(Some(Box::new(finding))),
    }
}

/// Sets the folder of the document as the working directory of its own server: where this program
/// was started must not change which script the server runs.
fn start_beside_document(reading: &mut Reading) {
    let source = reading.origin.document().source();
    let folder = Path::new(source.name()).parent().filter(|it| !it.as_os_str().is_empty());
    let (TextOrigin::File, Some(folder)) = (source.origin(), folder) else { return };
    let Some(server) = &reading.toolset.server else { return };
    if !matches!(server.connection, Connection::Stdio { .. }) || server.directory.is_some() {
        return;
    }
    let directory = Some(folder.display().to_string());
    let moved = Arc::new(Server { directory, ..Server::clone(server) });
    for tool in &mut reading.toolset.tools {
        if let Binding::Server { server, .. } = &mut tool.details.binding {
            *server = Arc::clone(&moved);
        }
    }
    reading.toolset.server = Some(moved);
}

/// Reads the schemas of a document as they are meant, where that is evident, and reports what is
/// wrong with them.
fn tolerate_schemas(reading: &mut Reading) {
    let mut room = toolwright_check::MAX_FINDINGS;
    for (n, tool) in reading.toolset.tools.iter_mut().enumerate() {
        for side in [SchemaSide::Input, SchemaSide::Output] {
            let schema = match side {
                SchemaSide::Input => tool.input.ok().and_then(InputSchema::written),
                SchemaSide::Output => tool.output.ok(),
            };
            let Some(tolerated) = schema.and_then(toolwright_schema::tolerate) else { continue };
            let at = RecordPath::path(&[&"tools", &n, &side.field()]);
            let mistakes = tolerated.mistakes.iter().take(room);
            room -= mistakes.len();
            reading.findings.extend(mistakes.map(|mistake| {
                let mut finding = toolwright_check::tolerated_schema_finding(mistake, &at);
                // What is done about it, in place of what the author could do.
                finding.help =
                    vec![toolwright_check::tolerated_schema_reading(&mistake.correction)];
                reading.origin.in_document(finding)
            }));
            match side {
                SchemaSide::Input => tool.input = FieldValue::Valid(tolerated.schema.into()),
                SchemaSide::Output => tool.output = FieldValue::Valid(tolerated.schema),
            }
        }
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// The help of an error that is a warning with [`ReadOptions::compat`].
pub const COMPAT_HELP: &str = "`--compat` makes this a warning";

/// How strictly a document is read.
#[derive(Clone, Copy)]
enum ReadMode {
    /// As its format demands.
    Strict,
    /// As [`ReadOptions::compat`] describes.
    Compat,
    /// As [`toolwright_formats::live`] describes.
    Live,
}

impl ReadMode {
    /// The finding with the severity and the help that it has in this mode.
    fn adapt(self, mut finding: Finding, document: &Document) -> Finding {
        // `min`: a note stays a note.
        match self {
            ReadMode::Live => {
                finding.severity = finding.severity.min(live::severity(&finding, document));
            }
            ReadMode::Compat if finding.tolerable => {
                finding.severity = finding.severity.min(Severity::Warning);
            }
            ReadMode::Strict if finding.tolerable && finding.severity == Severity::Error => {
                finding.help.push(COMPAT_HELP.to_owned());
            }
            ReadMode::Strict | ReadMode::Compat => {}
        }
        finding
    }
}
