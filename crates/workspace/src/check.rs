//! All that `toolwright check` says about definitions, as one call.
//!
//! Each document is checked by itself while it is read (`load`). Here follows what needs all of
//! them: rules between documents, comments that silence a code, the severities of the
//! configuration, repairs, and the syntax of scripts.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use toolwright_check::{HIDDEN_TEXT, MODEL_INSTRUCTION, RuleScope, Subject};
use toolwright_formats::Reading;
use toolwright_model::{Details, Draft, Toolset};
use toolwright_source::{Diagnostic, Severity, locate, render};

use crate::cost::TokenLimits;
use crate::fix::{self, FixMode, FixReport};
use crate::load::{LoadResult, LoadedDocument, ReadOptions, in_parallel};
use crate::selection::CodeSelection;
use crate::tool_places::fill_in_tools;
use crate::{Workspace, codes, is_script, script_files};

/// How definitions are checked.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// How they are read. The rules always run.
    pub read: ReadOptions,
    /// Which codes are reported, and with which severity.
    pub selection: CodeSelection,
    /// How many tokens tools may cost.
    pub tokens: TokenLimits,
    /// Which repairs are made; `None` makes none.
    pub fix: Option<FixMode>,
    /// Whether each repair that its rule calls safe is tried before it is reported as safe. That
    /// reads and checks every such document again, so callers ask for it only where they show it.
    pub try_fixes: bool,
    /// Whether all sources are checked.
    pub coverage: Coverage,
    /// Whether sources were left out, because they would have to be started.
    pub left_out: bool,
    /// Whether records are kept whole for the caller, which takes more memory.
    pub keep_records: bool,
}

/// Whether a check reads everything: only then is it certain that a silence hits nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coverage {
    /// All sources of the configuration.
    Everything,
    /// Sources that were named or could be read, which may be some of many.
    #[default]
    Named,
}

/// Whether the authors of definitions can be expected to correct them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionAuthors {
    /// Files and programs of the user.
    Reachable,
    /// What a running server lists.
    Foreign,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// The documents with their diagnostics, ready to show.
    pub load: LoadResult,
    /// The repairs that were made.
    pub fixes: FixReport,
    /// How many findings comments and the configuration silence.
    pub silenced: usize,
}

impl CheckReport {
    /// The diagnostics of all documents, in order.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.load.documents.iter().flat_map(|document| &document.diagnostics)
    }

    /// Those that are errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl Workspace {
    /// Reads and checks files, folders and scripts.
    pub fn check(&self, paths: &[PathBuf], options: &CheckOptions) -> CheckReport {
        // Scripts are not definitions: detection would report an unknown format.
        let (scripts, definitions): (Vec<PathBuf>, Vec<PathBuf>) =
            paths.iter().cloned().partition(|path| is_script(path));
        let read = ReadOptions { rules: true, ..options.read };
        // To be repaired or counted, records are kept whole. Otherwise each document gives most of
        // its memory back as soon as its own rules have run.
        let keeps = options.keep_records || options.fix.is_some() || options.tokens.are_set();
        let load = match keeps {
            true => self.load(&definitions, read),
            false => self.load_each(&definitions, read, drop_unneeded_parts),
        };
        // One path cannot hold a file twice, and asking the system for ten thousand real paths
        // takes its time.
        let load = if definitions.len() == 1 { load } else { without_duplicates(load) };
        self.finish(load, &scripts, options)
    }

    /// Checks documents that were read with `rules`, which is how the answers of servers come in,
    /// and the scripts in `scripts`.
    pub fn check_loaded(
        &self,
        load: LoadResult,
        scripts: &[PathBuf],
        options: &CheckOptions,
    ) -> CheckReport {
        self.finish(without_duplicates(load), scripts, options)
    }

    /// Everything that comes after reading.
    fn finish(
        &self,
        mut load: LoadResult,
        scripts: &[PathBuf],
        options: &CheckOptions,
    ) -> CheckReport {
        let beside_unread = options.left_out || !load.failures.is_empty();
        load.documents.iter_mut().for_each(|it| it.options.beside_unread = beside_unread);
        // Scripts have no record, so no repair touches them.
        self.check_scripts(scripts, &mut load);
        let selection = &options.selection;
        let fixes = match options.fix {
            Some(mode) => fix::run(self, mode, &mut load, selection),
            None => FixReport::default(),
        };
        // After repairs, so that the tools are counted as they are now.
        for (n, diagnostic) in self.check_tokens(&load.documents, options.tokens) {
            load.documents[n].diagnostics.push(diagnostic);
        }
        // Taken out, because `report` borrows the documents while it changes the diagnostics.
        let found: Vec<Vec<Diagnostic>> =
            load.documents.iter_mut().map(|it| std::mem::take(&mut it.diagnostics)).collect();
        // Repairs have looked at findings, too, some of which are gone now.
        selection.ignores.reset();
        let (mut reported, silenced) = self.report(&load.documents, found, selection);
        let mut about_silences = selection.ignores.problems(&load, options.coverage);
        // After the selection, so that only repairs which are shown are tried.
        if options.fix.is_some() || options.try_fixes {
            for_each_document(&load.documents, &mut reported, |document, diagnostics| {
                fix::keep_proven_safe(self, document, diagnostics, selection);
            });
        }
        // These repairs pass the trial on their own document. They were reverted because of another
        // document, so a report must not offer them as safe.
        for n in &fixes.reverted {
            let fixes = reported[*n].iter_mut().filter_map(|diagnostic| diagnostic.fix.as_mut());
            fixes.for_each(|fix| fix.safe = false);
        }
        for (document, diagnostics) in load.documents.iter_mut().zip(reported) {
            document.diagnostics = diagnostics;
            keep_errors_in_bodies(document, selection);
        }
        selection.apply(&mut about_silences);
        if !about_silences.is_empty() {
            // Without the lines of the configuration, which may hold tokens.
            let document = LoadedDocument::only_diagnostics(about_silences);
            load.documents.push(LoadedDocument { secret: true, ..document });
        }
        CheckReport { load, fixes, silenced }
    }

    /// The diagnostics to report about each document, given those `found` in it alone: adds the
    /// rules between documents, drops what is silenced, sets severities. Also returns how many were
    /// silenced.
    pub(crate) fn report(
        &self,
        documents: &[LoadedDocument],
        mut found: Vec<Vec<Diagnostic>>,
        selection: &CodeSelection,
    ) -> (Vec<Vec<Diagnostic>>, usize) {
        let silenced = AtomicUsize::new(0);
        // The order matters: comments can silence findings between documents, too, and a level set
        // in the configuration applies to whatever is left.
        for (n, diagnostic) in self.check_between(documents) {
            found[n].push(diagnostic);
        }
        for_each_document(documents, &mut found, |document, diagnostics| {
            diagnostics.extend(script_files::missing_script(document));
            diagnostics.extend(script_files::missing_bodies(document));
            if let Some(reading) = &document.reading {
                // Those that were added here; the others have their tools.
                fill_in_tools(reading, diagnostics);
                let document = reading.origin.document();
                let by_comments = toolwright_check::silence(document, diagnostics, codes::all());
                silenced.fetch_add(by_comments, Ordering::Relaxed);
            }
            silenced.fetch_add(selection.apply(diagnostics), Ordering::Relaxed);
            render::sort(diagnostics);
        });
        (found, silenced.into_inner())
    }

    /// Completes the diagnostics of documents that were read without rules, for the gate of the
    /// catalog: adds all errors of `check`, drops what is silenced and sets the severities of the
    /// configuration. What servers list is held against the rules only if the configuration makes
    /// the findings of a code errors: nobody here can edit it.
    pub fn check_for_gate(
        &self,
        documents: &mut [LoadedDocument],
        selection: &CodeSelection,
        authors: DefinitionAuthors,
    ) {
        let own: Vec<HashSet<_>> = documents
            .iter()
            .map(|it| it.diagnostics.iter().map(|d| (d.code.name, d.path.clone())).collect())
            .collect();
        let raises = selection.raises_to_error();
        if raises || authors == DefinitionAuthors::Reachable {
            let scope = if raises { RuleScope::All } else { RuleScope::Errors };
            self.run_rules(documents, scope, authors);
        }
        self.check_bodies(documents);
        let found = documents.iter_mut().map(|it| std::mem::take(&mut it.diagnostics)).collect();
        let (reported, _) = self.report(documents, found, selection);
        for ((document, mut diagnostics), own) in documents.iter_mut().zip(reported).zip(own) {
            // Warnings and notes of the rules are the business of `check`.
            diagnostics.retain(|d| {
                d.severity == Severity::Error || own.contains(&(d.code.name, d.path.clone()))
            });
            document.diagnostics = diagnostics;
            keep_errors_in_bodies(document, selection);
        }
    }

    /// What is wrong between documents, each with the number of the document it is reported at.
    pub(crate) fn check_between(&self, documents: &[LoadedDocument]) -> Vec<(usize, Diagnostic)> {
        // `check_together` counts subjects, callers count documents. Scripts and files of unknown
        // format have no subject, so the numbers differ.
        let read: Vec<(usize, &Reading)> = documents
            .iter()
            .enumerate()
            .filter_map(|(n, document)| Some((n, document.reading.as_ref()?)))
            .collect();
        let subjects: Vec<_> =
            read.iter().map(|(n, reading)| self.subject(reading, documents[*n].options)).collect();
        let found = toolwright_check::check_together(&subjects);
        let located = found.into_iter().map(|(n, finding)| {
            let (document, reading) = read[n];
            (document, locate(finding, reading.origin.document()))
        });
        located.collect()
    }
}

/// Applies the levels and silences to what was found in the bodies of a document's tools, and keeps
/// the errors, for the gate.
fn keep_errors_in_bodies(document: &mut LoadedDocument, selection: &CodeSelection) {
    document.in_bodies.retain_mut(|(_, diagnostic)| {
        let mut one = vec![diagnostic.clone()];
        selection.apply(&mut one);
        one.pop().is_some_and(|kept| {
            *diagnostic = kept;
            diagnostic.severity == Severity::Error
        })
    });
}

/// The texts of a document that look like an attack on the model that reads them: what `check`
/// reports as `HIDDEN_TEXT` or `MODEL_INSTRUCTION`, without the time of all other rules.
pub fn find_suspicious_texts(reading: &Reading, selection: &CodeSelection) -> Vec<Diagnostic> {
    let document = reading.origin.document();
    let subject = Subject::new(reading.dialect.as_deref(), &reading.toolset, &reading.origin);
    let found = toolwright_check::check_texts(&subject);
    let mut found: Vec<Diagnostic> =
        found.into_iter().map(|finding| locate(finding, document)).collect();
    fill_in_tools(reading, &mut found);
    toolwright_check::silence(document, &mut found, codes::all());
    selection.apply(&mut found);
    // The same rules find secrets, and comments about other codes seem useless here.
    found.retain(|d| [HIDDEN_TEXT.name, MODEL_INSTRUCTION.name].contains(&d.code.name));
    found
}

/// Drops the parts of a record that are not needed once its own rules have run: rules between
/// documents look at names, versions, descriptions and bindings. Ten thousand whole records are a
/// quarter of a gigabyte.
fn drop_unneeded_parts(loaded: &mut LoadedDocument) {
    let Some(reading) = &mut loaded.reading else { return };
    let Toolset { namespace, conventions, tools, server, .. } =
        std::mem::take(&mut reading.toolset);
    let names = |Draft { name, namespace, description, version, needs, details, .. }| {
        let details = Details { binding: details.binding, ..Details::default() };
        Draft { name, namespace, description, version, needs, details, ..Draft::default() }
    };
    let mut tools: Vec<Draft> = tools.into_iter().map(names).collect();
    tools.shrink_to_fit();
    reading.toolset = Toolset { namespace, conventions, tools, server, ..Toolset::default() };
    // They have been turned into diagnostics.
    reading.findings = Vec::new();
}

/// A file that was named twice, or lies in a folder that was named as well, is one file.
fn without_duplicates(mut load: LoadResult) -> LoadResult {
    let mut seen = HashSet::new();
    load.documents.retain(|document| {
        let path = document.path.as_ref().and_then(|path| path.canonicalize().ok());
        // A document without a path is the answer of a server or standard input, and always counts.
        path.is_none_or(|path| seen.insert(path))
    });
    load
}

/// Changes the diagnostics of each document, on all cores.
fn for_each_document(
    documents: &[LoadedDocument],
    found: &mut [Vec<Diagnostic>],
    work: impl Fn(&LoadedDocument, &mut Vec<Diagnostic>) + Sync,
) {
    // The mutexes are never contended: each is locked by the one thread that has its document.
    let each: Vec<_> = documents.iter().zip(found.iter_mut().map(Mutex::new)).collect();
    in_parallel(&each, |(document, diagnostics)| {
        work(document, &mut diagnostics.lock().unwrap_or_else(PoisonError::into_inner));
    });
}
