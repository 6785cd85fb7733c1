//! Repairs, file by file, until nothing is left to repair. A file is replaced by an atomic rename,
//! and only if it is still what was read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use similar::TextDiff;
use toolwright_catalog::{Load, Loaded, codes, read};
use toolwright_check::{MAX_FINDINGS, MAX_NOTES};
use toolwright_source::{Diagnostic, Document, Fix, Severity, Source, TextEdit, render, splice};

use super::selection::Selection;
use super::{between, judge, scripts};
use crate::args::CheckArgs;
use crate::output;

/// Rounds over one file; every round removes at least one diagnostic, so this is for what should
/// not happen: two repairs that undo each other.
const ROUNDS: usize = 1_000;

/// What is repaired, and what is done with it.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    /// Whether repairs that can change the meaning are made, too.
    risky: bool,
    /// Whether files stay as they are and the changes are shown.
    diff: bool,
}

/// What was repaired.
#[derive(Default)]
pub(super) struct Fixes {
    /// How many repairs were made.
    pub(super) applied: usize,
    /// The changes, where they are only to be shown.
    pub(super) diff: String,
    /// Files whose repairs were taken back: with them they would clash with others.
    pub(super) taken_back: Vec<usize>,
    /// Why files were not written that should have been.
    pub(super) refused: Vec<String>,
}

impl Mode {
    /// What the command line asks for, if it does.
    pub(super) fn of(args: &CheckArgs) -> Option<Mode> {
        (args.fix || args.unsafe_fixes || args.diff)
            .then_some(Mode { risky: args.unsafe_fixes, diff: args.diff })
    }
}

/// A file that was repaired in memory.
struct Repaired {
    before: Arc<Document>,
    applied: usize,
}

/// Repairs what can be repaired in all files. What could not be written is complained about.
pub(super) fn run(mode: Mode, load: &mut Load, selection: &Selection) -> Fixes {
    let mut repaired: BTreeMap<usize, Repaired> = BTreeMap::new();
    let clashes = clashes(&load.files);
    for n in 0..load.files.len() {
        let Some(before) = document(&load.files[n]) else { continue };
        let (after, applied) = repair(&load.files[n], &before, mode, selection);
        change(load, n, &after, applied, &mut repaired);
    }
    let taken_back = if mode.risky { Vec::new() } else { take_back(load, &mut repaired, &clashes) };
    // What a comment silences may be found only when all files are there.
    for _ in 0..ROUNDS {
        let found = load.files.iter().map(|file| file.diagnostics.clone()).collect();
        let judged = judge(&load.files, found, selection);
        let mut changed = false;
        for (n, diagnostics) in judged.iter().enumerate() {
            let Some(before) = document(&load.files[n]) else { continue };
            let useless =
                diagnostics.iter().filter(|d| is_about_silence(d)).filter_map(|d| d.fix.as_ref());
            let useless = useless.filter(|fix| fix.safe || mode.risky);
            let Some((after, applied)) = apply(&before, &useless.collect::<Vec<_>>()) else {
                continue;
            };
            change(load, n, &after, applied, &mut repaired);
            changed = true;
        }
        if !changed {
            break;
        }
    }
    Fixes { taken_back, ..finish(mode, load, repaired) }
}

/// What is wrong between files: in which one, and in what words.
fn clashes(files: &[Loaded]) -> HashSet<(usize, String)> {
    between(files).into_iter().map(|(n, diagnostic)| (n, diagnostic.message)).collect()
}

/// Takes back the repairs that make a document clash with another one as none of the `known` did,
/// and says in which.
fn take_back(
    load: &mut Load,
    repaired: &mut BTreeMap<usize, Repaired>,
    known: &HashSet<(usize, String)>,
) -> Vec<usize> {
    let mut taken_back = Vec::new();
    let new = |files: &[Loaded]| clashes(files).difference(known).count();
    let mut now = new(&load.files);
    for n in repaired.keys().copied().collect::<Vec<_>>() {
        let Some(after) = document(&load.files[n]).filter(|_| now > 0) else { break };
        put(&mut load.files[n], &repaired[&n].before);
        let then = new(&load.files);
        if then < now {
            now = then;
            repaired.remove(&n);
            taken_back.push(n);
        } else {
            put(&mut load.files[n], &after);
        }
    }
    taken_back
}

/// The document of a file that can be written.
fn document(file: &Loaded) -> Option<Arc<Document>> {
    file.path.as_ref()?;
    file.reading.as_ref().map(|reading| Arc::clone(reading.origin.document()))
}

fn is_about_silence(diagnostic: &Diagnostic) -> bool {
    diagnostic.code.name == toolwright_check::USELESS_SILENCE.name
}

/// Puts another document in the place of a file's.
fn change(
    load: &mut Load,
    n: usize,
    after: &Arc<Document>,
    applied: usize,
    repaired: &mut BTreeMap<usize, Repaired>,
) {
    let Some(before) = document(&load.files[n]).filter(|_| applied > 0) else { return };
    repaired.entry(n).or_insert(Repaired { before, applied: 0 }).applied += applied;
    put(&mut load.files[n], after);
}

fn put(file: &mut Loaded, document: &Arc<Document>) {
    *file = Loaded { path: file.path.take(), secret: file.secret, ..read(document, file.reader) };
}

/// Writes the repaired files, or shows what is different in them.
fn finish(mode: Mode, load: &mut Load, repaired: BTreeMap<usize, Repaired>) -> Fixes {
    let mut fixes = Fixes::default();
    for (n, Repaired { before, applied }) in repaired {
        let file = &mut load.files[n];
        let (Some(path), Some(after)) = (file.path.clone(), document(file)) else { continue };
        if mode.diff {
            fixes.applied += applied;
            fixes.diff += &difference(before.source(), after.source());
            put(file, &before);
            continue;
        }
        match replace(&path, before.source(), after.source()) {
            Ok(()) => fixes.applied += applied,
            Err(error) => {
                fixes.refused.push(format!("{error:#}"));
                output::complain(&error);
                put(file, &before);
            }
        }
    }
    fixes
}

/// A document with all repairs made that it can be judged for alone, and how many they were.
fn repair(
    file: &Loaded,
    before: &Arc<Document>,
    mode: Mode,
    selection: &Selection,
) -> (Arc<Document>, usize) {
    let (mut document, mut applied) = (Arc::clone(before), 0);
    for _ in 0..ROUNDS {
        let (patient, diagnostics) = Patient::new(file, &document, selection);
        let is_wanted = |d: &&Diagnostic| {
            !is_about_silence(d) && d.fix.as_ref().is_some_and(|fix| fix.safe || mode.risky)
        };
        let wanted: Vec<&Diagnostic> = diagnostics.iter().filter(is_wanted).collect();
        let made = if mode.risky {
            apply(&document, &fixes(&wanted))
        } else {
            let mut groups = patient.proven(&wanted);
            // What holds in groups may not hold together.
            if groups.len() > 1 && patient.holds(&chosen(&wanted, &groups.concat())) {
                groups = vec![groups.concat()];
            }
            groups.first().and_then(|group| apply(&document, &fixes(&chosen(&wanted, group))))
        };
        let Some((next, made)) = made else { break };
        document = next;
        applied += made;
    }
    (document, applied)
}

fn chosen<'d>(all: &[&'d Diagnostic], which: &[usize]) -> Vec<&'d Diagnostic> {
    which.iter().map(|n| all[*n]).collect()
}

fn fixes<'d>(diagnostics: &[&'d Diagnostic]) -> Vec<&'d Fix> {
    diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_ref()).collect()
}

/// Findings of a document by what they say, but for those about comments that silence others.
#[derive(Default)]
struct Told {
    /// How often each is there, and whether it is a note.
    times: HashMap<(&'static str, String), (usize, bool)>,
    notes: usize,
    others: usize,
}

impl Told {
    fn count(&self, code: &'static str, message: &str) -> usize {
        self.times.get(&(code, message.to_owned())).map_or(0, |(times, _)| *times)
    }

    /// Whether there may be more of them than are told, so that one less makes room for another.
    fn is_cut(&self, notes: bool) -> bool {
        if notes { self.notes >= MAX_NOTES } else { self.others >= MAX_FINDINGS }
    }
}

/// What is to be reported about a document by itself, and everything that is told about it whatever
/// of it was asked for, but for what the configuration has switched off.
fn look(file: &Loaded, document: &Arc<Document>, selection: &Selection) -> (Vec<Diagnostic>, Told) {
    let mut loaded = Loaded { path: file.path.clone(), ..read(document, file.reader) };
    let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
    diagnostics.extend(scripts::missing(&loaded));
    toolwright_check::silence(document, &mut diagnostics, codes::all());
    let mut told = Told::default();
    for diagnostic in diagnostics.iter().filter(|d| !is_about_silence(d)) {
        let is_note = diagnostic.severity == Severity::Info;
        *if is_note { &mut told.notes } else { &mut told.others } += 1;
        if !selection.is_off(diagnostic.code.name) {
            let what = (diagnostic.code.name, diagnostic.message.clone());
            told.times.entry(what).or_insert((0, is_note)).0 += 1;
        }
    }
    selection.apply(&mut diagnostics);
    render::sort(&mut diagnostics);
    (diagnostics, told)
}

/// A document on which repairs are tried.
struct Patient<'a> {
    file: &'a Loaded,
    document: &'a Arc<Document>,
    selection: &'a Selection,
    /// What is told about it as it is.
    known: Told,
}

impl<'a> Patient<'a> {
    /// A document of a file, and what is to be reported about it.
    fn new(
        file: &'a Loaded,
        document: &'a Arc<Document>,
        selection: &'a Selection,
    ) -> (Patient<'a>, Vec<Diagnostic>) {
        let (diagnostics, known) = look(file, document, selection);
        (Patient { file, document, selection, known }, diagnostics)
    }

    /// Whether these repairs can be made together, remove what they are for and add nothing.
    fn holds(&self, repairs: &[&Diagnostic]) -> bool {
        let made = apply(self.document, &fixes(repairs)).filter(|(_, made)| *made == repairs.len());
        let Some((next, _)) = made else { return false };
        let (_, now) = look(self.file, &next, self.selection);
        now.times.iter().all(|((code, message), (times, is_note))| {
            let removed =
                repairs.iter().filter(|d| d.code.name == *code && d.message == *message).count();
            let allowed = self.known.count(code, message).saturating_sub(removed);
            *times <= allowed || self.known.is_cut(*is_note)
        })
    }

    /// Which of the repairs hold, in groups that hold together. Of a group that does not, each half
    /// is tried by itself.
    fn proven(&self, repairs: &[&Diagnostic]) -> Vec<Vec<usize>> {
        let mut good = Vec::new();
        let mut groups = vec![(0..repairs.len()).collect::<Vec<usize>>()];
        for _ in 0..TRIALS {
            let Some(group) = groups.pop().filter(|group| !group.is_empty()) else { break };
            if self.holds(&chosen(repairs, &group)) {
                good.push(group);
            } else if group.len() > 1 {
                let (first, second) = group.split_at(group.len() / 2);
                groups.extend([second.to_vec(), first.to_vec()]);
            }
        }
        good
    }
}

/// How often repairs of one document are tried in a round; what was not tried is not safe.
const TRIALS: usize = 64;

/// Leaves as safe only the repairs of a file that were tried and add nothing: what had no meaning,
/// as a section with a misspelled name, may be wrong in other ways once it has one.
pub(super) fn prove(file: &Loaded, diagnostics: &mut [Diagnostic], selection: &Selection) {
    let is_claimed =
        |d: &Diagnostic| !is_about_silence(d) && d.fix.as_ref().is_some_and(|fix| fix.safe);
    let Some(reading) = file.reading.as_ref().filter(|_| diagnostics.iter().any(is_claimed)) else {
        return;
    };
    let (patient, _) = Patient::new(file, reading.origin.document(), selection);
    let claimed: Vec<&Diagnostic> = diagnostics.iter().filter(|d| is_claimed(d)).collect();
    let held: HashSet<usize> = patient.proven(&claimed).into_iter().flatten().collect();
    let fixes = diagnostics.iter_mut().filter(|d| is_claimed(d)).filter_map(|d| d.fix.as_mut());
    fixes.enumerate().for_each(|(n, fix)| fix.safe = held.contains(&n));
}

/// The document with as many of the repairs as go together, and how many those are; `None` if none
/// can be made. What would not parse is not made.
fn apply(document: &Arc<Document>, fixes: &[&Fix]) -> Option<(Arc<Document>, usize)> {
    let together = compatible(fixes);
    let edits: Vec<TextEdit> = together.iter().flat_map(|fix| fix.edits.iter().cloned()).collect();
    if let Some(next) = edited(document, edits) {
        return Some((next, together.len()));
    }
    together.into_iter().find_map(|fix| edited(document, fix.edits.clone()).map(|next| (next, 1)))
}

/// Those of the repairs that touch different places, in order.
fn compatible<'f>(fixes: &[&'f Fix]) -> Vec<&'f Fix> {
    let mut chosen: Vec<&Fix> = Vec::new();
    for fix in fixes {
        let meets =
            |a: &TextEdit, b: &TextEdit| a.span.start <= b.span.end && b.span.start <= a.span.end;
        let taken = chosen.iter().flat_map(|fix| &fix.edits);
        if !fix.edits.is_empty()
            && !taken.into_iter().any(|a| fix.edits.iter().any(|b| meets(a, b)))
        {
            chosen.push(fix);
        }
    }
    chosen
}

/// The document with its text edited; `None` if that changes nothing or breaks the text.
fn edited(document: &Arc<Document>, mut edits: Vec<TextEdit>) -> Option<Arc<Document>> {
    edits.sort();
    let source = document.source();
    let text = splice(source.text(), &edits);
    if text == source.text() {
        return None;
    }
    let next = Document::parse(source.name(), source.with_text(&text), document.syntax());
    (mistakes(&next) <= mistakes(document)).then(|| Arc::new(next))
}

fn mistakes(document: &Document) -> usize {
    document
        .problems()
        .iter()
        .filter(|problem: &&Diagnostic| problem.severity == Severity::Error)
        .count()
}

fn difference(before: &Source, after: &Source) -> String {
    let name = before.name();
    TextDiff::from_lines(before.text(), after.text())
        .unified_diff()
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

/// Writes the new text beside the file and renames it, if the file still holds the old one.
fn replace(path: &Path, before: &Source, after: &Source) -> anyhow::Result<()> {
    let name = path.display();
    // A link stays one: what it leads to is replaced.
    let target = fs::canonicalize(path).with_context(|| format!("cannot write `{name}`"))?;
    let now = fs::read(&target).with_context(|| format!("cannot write `{name}`"))?;
    if now != before.with_text(before.text()) {
        anyhow::bail!("`{name}` has changed since it was read, and was left alone (run it again)");
    }
    let beside = beside(&target);
    let written = write(&beside, &after.with_text(after.text()), &target)
        .and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write `{name}`"))
}

fn beside(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.toolwright-{}", std::process::id()))
}

fn write(path: &Path, bytes: &[u8], like: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.set_permissions(fs::metadata(like)?.permissions())?;
    file.write_all(bytes)?;
    file.sync_all()
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
        // What changes nothing would go on for ever.
        assert!(apply(&document, &[&fix(&[(6, 7, "1")])]).is_none());
    }

    #[test]
    fn fixes_that_meet_are_made_one_after_the_other() {
        let document = Arc::new(Document::parse("a.json", "{\"a\": 12}", Syntax::Json));
        let (first, second, far) = (fix(&[(6, 7, "3")]), fix(&[(7, 8, "4")]), fix(&[(2, 3, "b")]));
        let (next, made) = apply(&document, &[&first, &second, &far]).expect("two go together");
        assert_eq!((next.source().text(), made), ("{\"b\": 32}", 2));
    }
}
