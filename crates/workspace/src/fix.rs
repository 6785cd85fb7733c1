//! Repairs, document by document, until nothing is left to repair.
//!
//! A rule proposes a repair and says whether it is safe. That is not taken on trust: a repair is
//! *tried* on a copy of the document, and counts as safe only if the finding is gone afterwards and
//! no new one has appeared. (A section with a misspelled name, for example, was not checked; once
//! it has its right name, mistakes inside it are found.) A file is replaced by an atomic rename,
//! and only if it still holds what was read.
//!
//! ```text
//! diagnostics ─ wanted ─▶ FixTrial: apply to a copy, read and check it again ─▶ groups that hold
//!      ▲                                                                            │ apply
//!      └──────────────────────── next round, until nothing changes ◀────────────────┘
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use similar::TextDiff;
use toolwright_check::{MAX_FINDINGS, MAX_NOTES};
use toolwright_source::{Diagnostic, Document, Fix, Severity, Source, TextEdit, render, splice};

use crate::load::{LoadResult, LoadedDocument};
use crate::selection::CodeSelection;
use crate::{Workspace, codes, files, script_files};

/// Rounds over one file. Every round removes at least one diagnostic, so this bound is only reached
/// by two repairs that undo each other.
const ROUNDS: usize = 1_000;

/// How often repairs of one document are tried in a round. A repair that was not tried is not safe.
/// Each trial reads and checks the whole document again. Halving finds one bad repair among a
/// thousand in about 20 trials, so 64 is enough for a few bad ones.
const TRIALS: usize = 64;

/// Which repairs are made, and whether files are written.
#[derive(Clone, Copy, Debug)]
pub struct FixMode {
    /// Whether to make repairs that can change the meaning, too.
    pub unsafe_fixes: bool,
    /// Whether to leave the files as they are and return a diff instead.
    pub diff: bool,
}

/// The repairs that were made.
#[derive(Debug, Default)]
pub struct FixReport {
    /// How many repairs were made.
    pub applied: usize,
    /// The changes as a unified diff, if they were only to be shown.
    pub diff: String,
    /// Documents (by number) whose repairs were reverted, because with them the document would
    /// clash with another one. The caller marks their repairs as unsafe.
    pub reverted: Vec<usize>,
    /// Why files were not written although they had repairs, a sentence each.
    pub refused: Vec<String>,
}

/// A document that was repaired in memory.
struct RepairedDocument {
    before: Arc<Document>,
    applied: usize,
}

/// Repairs what can be repaired in all documents that are files, and writes them.
pub(crate) fn run(
    workspace: &Workspace,
    mode: FixMode,
    load: &mut LoadResult,
    selection: &CodeSelection,
) -> FixReport {
    let mut fixer = Fixer { workspace, mode, load, selection, repaired: BTreeMap::new() };
    // Taken before anything changes: a clash that was there already is not the fault of a repair.
    let clashes = fixer.clashes();
    fixer.repair_each();
    // With unsafe repairs, the user accepts changes of names, and new clashes with them.
    let reverted = if mode.unsafe_fixes { Vec::new() } else { fixer.revert_clashing(&clashes) };
    fixer.remove_useless_silences();
    FixReport { reverted, ..fixer.finish() }
}

/// The repair of many documents: what was changed so far, and in which mode.
struct Fixer<'a> {
    workspace: &'a Workspace,
    mode: FixMode,
    load: &'a mut LoadResult,
    selection: &'a CodeSelection,
    /// By number of the document.
    repaired: BTreeMap<usize, RepairedDocument>,
}

impl Fixer<'_> {
    /// Makes the repairs that concern one document alone.
    fn repair_each(&mut self) {
        for n in 0..self.load.documents.len() {
            let Some(before) = document_of(&self.load.documents[n]) else { continue };
            let (after, applied) = self.repair(&self.load.documents[n], &before);
            self.replace(n, &after, applied);
        }
    }

    /// A document with all repairs made that concern it alone, and how many they were.
    fn repair(&self, file: &LoadedDocument, before: &Arc<Document>) -> (Arc<Document>, usize) {
        let (mut document, mut applied) = (Arc::clone(before), 0);
        for _ in 0..ROUNDS {
            // Each round starts from a fresh check, because a repair moves the positions of all
            // findings behind it.
            let (trial, diagnostics) =
                FixTrial::new(self.workspace, file, &document, self.selection);
            let is_wanted = |d: &&Diagnostic| {
                !is_about_silence(d)
                    && d.fix.as_ref().is_some_and(|fix| fix.safe || self.mode.unsafe_fixes)
            };
            let wanted: Vec<&Diagnostic> = diagnostics.iter().filter(is_wanted).collect();
            // Unsafe repairs need no trial: nothing is claimed about them.
            let made = if self.mode.unsafe_fixes {
                apply(&document, &fixes_of(&wanted))
            } else {
                let mut groups = trial.safe_groups(&wanted);
                // Groups that are safe one by one may not be safe together.
                if groups.len() > 1 && trial.is_safe(&choose(&wanted, &groups.concat())) {
                    groups = vec![groups.concat()];
                }
                groups
                    // One group for each round. The others are found again in the next round, on
                    // the new text.
                    .first()
                    .and_then(|group| apply(&document, &fixes_of(&choose(&wanted, group))))
            };
            // Nothing left that can be applied: done.
            let Some((next, made)) = made else { break };
            document = next;
            applied += made;
        }
        (document, applied)
    }

    /// What is wrong between documents: in which one, and the message.
    fn clashes(&self) -> HashSet<(usize, String)> {
        let between = self.workspace.check_between(&self.load.documents);
        // By message and not by position: repairs move positions.
        between.into_iter().map(|(n, diagnostic)| (n, diagnostic.message)).collect()
    }

    /// Reverts the repairs of each document that would cause a clash with another one which was not
    /// there before. Returns the numbers of these documents.
    fn revert_clashing(&mut self, before: &HashSet<(usize, String)>) -> Vec<usize> {
        let mut reverted = Vec::new();
        // Tries each repaired document without its repairs, and keeps it that way only if that
        // removes a clash. The loop ends as soon as no new clash is left.
        let mut new_clashes = self.clashes().difference(before).count();
        for n in self.repaired.keys().copied().collect::<Vec<_>>() {
            let Some(after) = document_of(&self.load.documents[n]).filter(|_| new_clashes > 0)
            else {
                break;
            };
            self.put(n, &Arc::clone(&self.repaired[&n].before));
            let without = self.clashes().difference(before).count();
            if without < new_clashes {
                new_clashes = without;
                self.repaired.remove(&n);
                reverted.push(n);
            } else {
                self.put(n, &after);
            }
        }
        reverted
    }

    /// Removes comments that silence nothing. What a comment silences may be a finding between
    /// documents, so this comes when all other repairs are made.
    fn remove_useless_silences(&mut self) {
        for _ in 0..ROUNDS {
            let documents = &self.load.documents;
            let found = documents.iter().map(|file| file.diagnostics.clone()).collect();
            let (reported, _) = self.workspace.report(documents, found, self.selection);
            let mut changed = false;
            for (n, diagnostics) in reported.iter().enumerate() {
                let Some(before) = document_of(&self.load.documents[n]) else { continue };
                // Removing a comment is never called safe (see `silence` in the crate `check`), so
                // this changes something only with unsafe repairs.
                let useless = diagnostics.iter().filter(|d| is_about_silence(d));
                let fixes = useless.filter_map(|d| d.fix.as_ref());
                let fixes = fixes.filter(|fix| fix.safe || self.mode.unsafe_fixes);
                let fixes: Vec<&Fix> = fixes.collect();
                let Some((after, applied)) = apply(&before, &fixes) else { continue };
                self.replace(n, &after, applied);
                changed = true;
            }
            if !changed {
                break;
            }
        }
    }

    /// Puts the repaired text in place of a document's, and remembers the original.
    fn replace(&mut self, n: usize, after: &Arc<Document>, applied: usize) {
        let Some(before) = document_of(&self.load.documents[n]).filter(|_| applied > 0) else {
            return;
        };
        // `or_insert`: several steps may repair a document, and the original is the text before the
        // first of them.
        self.repaired.entry(n).or_insert(RepairedDocument { before, applied: 0 }).applied +=
            applied;
        self.put(n, after);
    }

    /// Reads another text in place of a document's.
    fn put(&mut self, n: usize, document: &Arc<Document>) {
        let file = &mut self.load.documents[n];
        // Reading makes a document without a path, and does not know whether its lines are secret.
        let (path, secret, bodies) = (file.path.take(), file.secret, file.bodies.take());
        let in_bodies = std::mem::take(&mut file.in_bodies);
        let read = self.workspace.read(document, file.options);
        *file = LoadedDocument { path, secret, bodies, in_bodies, ..read };
    }

    /// Writes the repaired files, or shows what is different in them.
    fn finish(mut self) -> FixReport {
        let mut report = FixReport::default();
        for (n, RepairedDocument { before, applied }) in std::mem::take(&mut self.repaired) {
            let file = &self.load.documents[n];
            let (Some(path), Some(after)) = (file.path.clone(), document_of(file)) else {
                continue;
            };
            if self.mode.diff {
                report.applied += applied;
                // Only shown: the document is put back, because its diagnostics must be about the
                // file as it is.
                report.diff += &unified_diff(before.source(), after.source());
                self.put(n, &before);
                continue;
            }
            let bytes = |document: &Document| document.source().with_text(document.source().text());
            match files::replace_file(&path, Some(&bytes(&before)), &bytes(&after)) {
                Ok(()) => report.applied += applied,
                Err(reason) => {
                    report.refused.push(reason);
                    self.put(n, &before);
                }
            }
        }
        report
    }
}

/// The document of a file that can be written. `None` for answers of servers and for files of
/// unknown format: there is nothing to write.
fn document_of(file: &LoadedDocument) -> Option<Arc<Document>> {
    file.path.as_ref()?;
    file.reading.as_ref().map(|reading| Arc::clone(reading.origin.document()))
}

fn is_about_silence(diagnostic: &Diagnostic) -> bool {
    diagnostic.code.name == toolwright_check::USELESS_SILENCE.name
}

/// The diagnostics with these indexes.
fn choose<'d>(all: &[&'d Diagnostic], which: &[usize]) -> Vec<&'d Diagnostic> {
    which.iter().map(|n| all[*n]).collect()
}

fn fixes_of<'d>(diagnostics: &[&'d Diagnostic]) -> Vec<&'d Fix> {
    diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_ref()).collect()
}

/// How often a document has each finding, by code and message. Findings about comments that silence
/// others do not count.
#[derive(Default)]
struct FindingCounts {
    /// The count, and whether the finding is a note.
    by_message: HashMap<(&'static str, String), (usize, bool)>,
    /// The count by code, of notes and of other findings.
    by_code: HashMap<(&'static str, bool), usize>,
}

impl FindingCounts {
    fn count(&self, code: &'static str, message: &str) -> usize {
        self.by_message.get(&(code, message.to_owned())).map_or(0, |(count, _)| *count)
    }

    /// Whether the findings of a code were cut at their bound: then removing one makes room for
    /// another that is not new.
    fn is_cut(&self, code: &'static str, is_note: bool) -> bool {
        let bound = if is_note { MAX_NOTES } else { MAX_FINDINGS };
        self.by_code.get(&(code, is_note)).is_some_and(|count| *count >= bound)
    }
}

/// A document on which repairs are tried.
struct FixTrial<'a> {
    workspace: &'a Workspace,
    file: &'a LoadedDocument,
    document: &'a Arc<Document>,
    selection: &'a CodeSelection,
    /// The findings before any repair.
    before: FindingCounts,
}

impl<'a> FixTrial<'a> {
    /// A trial on a document of `file`, and the diagnostics to report about the document.
    fn new(
        workspace: &'a Workspace,
        file: &'a LoadedDocument,
        document: &'a Arc<Document>,
        selection: &'a CodeSelection,
    ) -> (FixTrial<'a>, Vec<Diagnostic>) {
        let before = FindingCounts::default();
        let mut trial = FixTrial { workspace, file, document, selection, before };
        let (diagnostics, counts) = trial.check(document);
        trial.before = counts;
        (trial, diagnostics)
    }

    /// Checks a version of the document. Returns what is to be reported, and counts of everything
    /// that was found, also of codes that were not asked for, except those that the configuration
    /// switches off.
    fn check(&self, document: &Arc<Document>) -> (Vec<Diagnostic>, FindingCounts) {
        // With the options of the file, so that `--format` and `--compat` hold for the copy, too.
        let read = self.workspace.read(document, self.file.options);
        let (path, bodies) = (self.file.path.clone(), self.file.bodies.clone());
        let mut loaded = LoadedDocument { path, bodies, ..read };
        let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
        diagnostics.extend(script_files::missing_script(&loaded));
        diagnostics.extend(script_files::missing_bodies(&loaded));
        toolwright_check::silence(document, &mut diagnostics, codes::all());
        let mut counts = FindingCounts::default();
        for diagnostic in diagnostics.iter().filter(|d| !is_about_silence(d)) {
            let is_note = diagnostic.severity == Severity::Info;
            *counts.by_code.entry((diagnostic.code.name, is_note)).or_default() += 1;
            if !self.selection.is_off(diagnostic.code.name) {
                let key = (diagnostic.code.name, diagnostic.message.clone());
                counts.by_message.entry(key).or_insert((0, is_note)).0 += 1;
            }
        }
        self.selection.apply(&mut diagnostics);
        render::sort(&mut diagnostics);
        (diagnostics, counts)
    }

    /// Whether these repairs can be made together, remove the findings they are for, and add none.
    fn is_safe(&self, repairs: &[&Diagnostic]) -> bool {
        // All or nothing: a repair that overlaps another one cannot be judged together with it.
        let made = apply(self.document, &fixes_of(repairs)).filter(|(_, n)| *n == repairs.len());
        let Some((next, _)) = made else { return false };
        let (_, after) = self.check(&next);
        // For each finding of the new text: it may occur as often as before, less the number that
        // the repairs were meant to remove. So a new finding fails, and so does a repair without
        // effect.
        after.by_message.iter().all(|((code, message), (count, is_note))| {
            let is_it = |d: &&&Diagnostic| d.code.name == *code && d.message == *message;
            let removed = repairs.iter().filter(is_it).count();
            let allowed = self.before.count(code, message).saturating_sub(removed);
            *count <= allowed || self.before.is_cut(code, *is_note)
        })
    }

    /// Which of the repairs are safe, in groups that are safe together. A group that is not is
    /// halved and each half tried, at most [`TRIALS`] times in all.
    fn safe_groups(&self, repairs: &[&Diagnostic]) -> Vec<Vec<usize>> {
        let mut safe = Vec::new();
        // A stack of groups still to be tried; in the best case the whole set passes at once.
        let mut groups = vec![(0..repairs.len()).collect::<Vec<usize>>()];
        for _ in 0..TRIALS {
            let Some(group) = groups.pop().filter(|group| !group.is_empty()) else { break };
            if self.is_safe(&choose(repairs, &group)) {
                safe.push(group);
            } else if group.len() > 1 {
                let (first, second) = group.split_at(group.len() / 2);
                // The first half is on top, so that repairs come in the order of the text.
                groups.extend([second.to_vec(), first.to_vec()]);
            }
        }
        safe
    }
}

/// Marks as unsafe the repairs of a document that were called safe and do not stand the trial.
pub(crate) fn keep_proven_safe(
    workspace: &Workspace,
    file: &LoadedDocument,
    diagnostics: &mut [Diagnostic],
    selection: &CodeSelection,
) {
    let is_claimed =
        |d: &Diagnostic| !is_about_silence(d) && d.fix.as_ref().is_some_and(|fix| fix.safe);
    let Some(reading) = file.reading.as_ref().filter(|_| diagnostics.iter().any(is_claimed)) else {
        return;
    };
    let (trial, _) = FixTrial::new(workspace, file, reading.origin.document(), selection);
    let claimed: Vec<&Diagnostic> = diagnostics.iter().filter(|d| is_claimed(d)).collect();
    // What was not reached within the bound of trials counts as not proven.
    let proven: HashSet<usize> = trial.safe_groups(&claimed).into_iter().flatten().collect();
    let fixes = diagnostics.iter_mut().filter(|d| is_claimed(d)).filter_map(|d| d.fix.as_mut());
    fixes.enumerate().for_each(|(n, fix)| fix.safe = proven.contains(&n));
}

/// The document with as many of the repairs as go together, and how many those are; `None` if none
/// can be made. A repair that would break the syntax is not made.
fn apply(document: &Arc<Document>, fixes: &[&Fix]) -> Option<(Arc<Document>, usize)> {
    let together = compatible(fixes);
    let edits: Vec<TextEdit> = together.iter().flat_map(|fix| fix.edits.iter().cloned()).collect();
    if let Some(next) = edited(document, edits) {
        return Some((next, together.len()));
    }
    // Together they break the syntax. One alone may be right; the next round tries the others.
    together.into_iter().find_map(|fix| edited(document, fix.edits.clone()).map(|next| (next, 1)))
}

/// Those of the repairs that touch different bytes, in order.
pub(crate) fn compatible<'f>(fixes: &[&'f Fix]) -> Vec<&'f Fix> {
    let mut chosen: Vec<&Fix> = Vec::new();
    for fix in fixes {
        // Touching counts as overlapping: two insertions at one byte have no defined order.
        let overlaps =
            |a: &TextEdit, b: &TextEdit| a.span.start <= b.span.end && b.span.start <= a.span.end;
        let taken = chosen.iter().flat_map(|fix| &fix.edits);
        if !fix.edits.is_empty()
            && !taken.into_iter().any(|a| fix.edits.iter().any(|b| overlaps(a, b)))
        {
            chosen.push(fix);
        }
    }
    chosen
}

/// The document with its text edited; `None` if that changes nothing or breaks the text.
pub(crate) fn edited(document: &Arc<Document>, mut edits: Vec<TextEdit>) -> Option<Arc<Document>> {
    edits.sort();
    let source = document.source();
    let text = splice(source.text(), &edits);
    if text == source.text() {
        return None;
    }
    let (name, origin) = (source.name(), source.origin().clone());
    let next = Document::parse_from(name, origin, source.with_text(&text), document.syntax());
    // Not zero: a document with syntax errors can be repaired elsewhere, as long as it gets no
    // worse.
    (errors_in_syntax(&next) <= errors_in_syntax(document)).then(|| Arc::new(next))
}

fn errors_in_syntax(document: &Document) -> usize {
    document
        .problems()
        .iter()
        .filter(|problem: &&Diagnostic| problem.severity == Severity::Error)
        .count()
}

/// The changes of a file.
pub(crate) fn unified_diff(before: &Source, after: &Source) -> String {
    let name = before.name();
    TextDiff::from_lines(before.text(), after.text())
        .unified_diff()
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use toolwright_source::{Span, Syntax};

    use super::*;

    fn fix(edits: &[(usize, usize, &str)]) -> Fix {
        let edit = |&(start, end, text): &(usize, usize, &str)| TextEdit {
            span: Span::new(start, end),
            text: text.to_owned(),
        };
        Fix { title: String::new(), safe: true, edits: edits.iter().map(edit).collect() }
    }

    #[test]
    fn a_fix_that_would_not_parse_is_refused() {
        let document = Arc::new(Document::parse("a.json", "{\"a\": 1}", Syntax::Json));
        let (bad, good) = (fix(&[(6, 7, "[")]), fix(&[(2, 3, "b")]));
        assert!(apply(&document, &[&bad]).is_none());
        // It does not take others down with it.
        let (next, made) = apply(&document, &[&bad, &good]).expect("one of them is fine");
        assert_eq!((next.source().text(), made), ("{\"b\": 1}", 1));
        // A fix that changes nothing is refused: it would be applied for ever.
        assert!(apply(&document, &[&fix(&[(6, 7, "1")])]).is_none());
    }

    #[test]
    fn fixes_that_overlap_are_made_one_after_the_other() {
        let document = Arc::new(Document::parse("a.json", "{\"a\": 12}", Syntax::Json));
        let (first, second, far) = (fix(&[(6, 7, "3")]), fix(&[(7, 8, "4")]), fix(&[(2, 3, "b")]));
        let (next, made) = apply(&document, &[&first, &second, &far]).expect("two go together");
        assert_eq!((next.source().text(), made), ("{\"b\": 32}", 2));
    }
}
