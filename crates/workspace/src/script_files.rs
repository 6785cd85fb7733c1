//! JavaScript files: those that the user names, those that local tools run, and the bodies of BTCP
//! tools. Only the syntax of the first two is checked: what they may do depends on how they are
//! run. Bodies run in the sandbox here, so everything is.
//!
//! ```text
//! files named by the user ─┐
//! entry points of tools ───┴─ each once ─ batches ─ check_scripts ─▶ diagnostics of their own
//! bodies beside a manifest ── by place ── batches ─ check_bodies ──▶ noted at their documents, too
//! ```

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_check::BodyPlace;
use toolwright_formats::Reading;
use toolwright_model::{Binding, Capability, Draft};
use toolwright_script::{PAGE_GLOBALS, ParseGoal, ScriptAnalyzer, mentions_worker_names};
use toolwright_source::{Diagnostic, RecordFinding, RecordPath, Severity, Source, locate};

use crate::Workspace;
use crate::files::{self, LoadError};
use crate::load::{LoadResult, LoadedDocument, in_parallel};

/// Scripts that are read and analyzed together.
const BATCH_SCRIPTS: usize = 16;
/// Bodies of one document that are looked for.
const MAX_BODIES: usize = 1_000;

/// Whether a file is JavaScript by its name. These are the endings that Node runs as JavaScript.
/// The test needs no file: the command line uses it to sort arguments before anything is read.
pub fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|known| ending == *known))
}

impl Workspace {
    /// Checks the scripts in `named` and those that local tools of `load` run, each of them once,
    /// and adds their diagnostics to `load`.
    ///
    /// Called by `check` after all documents are loaded. Each script becomes a document without a
    /// record. A script that cannot be read is a failure.
    pub(crate) fn check_scripts(&self, named: &[PathBuf], load: &mut LoadResult) {
        // By real path: a script may be named on the command line and by two tools, under different
        // relative paths.
        let mut seen = HashSet::new();
        let of_tools: BTreeSet<PathBuf> = load
            .documents
            .iter()
            .filter_map(script_of)
            // A missing script is reported by `missing_script`, and one in another language cannot
            // be checked.
            .filter(|path| is_script(path) && path.is_file())
            .collect();
        let mut paths: Vec<PathBuf> = named.iter().cloned().chain(of_tools).collect();
        paths.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
        // Several at a time, because the analyzer works in another process.
        let batches: Vec<&[PathBuf]> = paths.chunks(BATCH_SCRIPTS).collect();
        let checked = in_parallel(&batches, |batch| {
            let (mut sources, mut failures) = (Vec::new(), Vec::new());
            for read in batch.iter().map(|path| read_source(path)) {
                match read {
                    Ok(source) => sources.push(Arc::new(source)),
                    Err(error) => failures.push(error),
                }
            }
            (toolwright_check::check_scripts(&sources, &*self.analyzer), failures)
        });
        for (diagnostics, failures) in checked {
            // Documents without a record: they are shown like any other, and no rule runs on them.
            load.documents.extend(diagnostics.into_iter().map(LoadedDocument::only_diagnostics));
            load.failures.extend(failures);
        }
        let found = self.check_bodies(&mut load.documents);
        load.documents.extend(found.into_iter().map(LoadedDocument::only_diagnostics));
    }

    /// Checks the bodies that exist, notes what is wrong with them at their documents, and returns
    /// it for each body with a mistake.
    ///
    /// A body is checked for the place where it runs: what it may use differs between the sandbox,
    /// a page through the broker, and the page itself.
    pub(crate) fn check_bodies(&self, documents: &mut [LoadedDocument]) -> Vec<Vec<Diagnostic>> {
        let mut reports = self.check_bodies_for(BodyPlace::Sandbox, documents);
        reports.extend(self.check_bodies_for(BodyPlace::Page, documents));
        reports.extend(self.check_bodies_for(BodyPlace::FullPage, documents));
        reports
    }

    /// The same for the bodies that run there, in the order of their paths.
    ///
    /// A body that two manifests share is read once and noted at both. One that cannot be read is
    /// an error at the tool's name.
    fn check_bodies_for(
        &self,
        place: BodyPlace,
        documents: &mut [LoadedDocument],
    ) -> Vec<Vec<Diagnostic>> {
        // Two manifests in one folder may have a tool of the same name.
        let mut users: BTreeMap<PathBuf, Vec<(usize, usize)>> = BTreeMap::new();
        for (document, loaded) in documents.iter().enumerate() {
            let bodies = bodies_of(loaded, place).into_iter();
            for (n, path, _) in bodies.filter(|(_, _, exists)| *exists) {
                users.entry(path).or_default().push((document, n));
            }
        }
        let paths: Vec<&PathBuf> = users.keys().collect();
        let batches: Vec<&[&PathBuf]> = paths.chunks(BATCH_SCRIPTS).collect();
        let checked = in_parallel(&batches, |batch| {
            let mut sources = Vec::new();
            let mut read = Vec::new();
            for path in *batch {
                let source = read_source(path).map(|source| sources.push(Arc::new(source)));
                read.push(source.map_err(|error| error.to_string()));
            }
            let found = toolwright_check::check_bodies(&sources, place, &*self.analyzer);
            let mut found = found.into_iter();
            let of_each = read.into_iter().map(|it| it.map(|()| found.next().unwrap_or_default()));
            of_each.collect::<Vec<Result<Vec<Diagnostic>, String>>>()
        });
        let mut reports = Vec::new();
        for (users, found) in users.into_values().zip(checked.into_iter().flatten()) {
            for (document, n) in users {
                let loaded = &mut documents[document];
                match &found {
                    Ok(found) => {
                        loaded.in_bodies.extend(found.iter().map(|it| (n, it.clone())));
                    }
                    Err(why) => loaded.diagnostics.extend(at_name(loaded, n, |at| {
                        let help = "write a file of UTF-8 text there";
                        RecordFinding::new(&toolwright_check::UNRESOLVED_REFERENCE, at, why)
                            .severity(Severity::Error)
                            .help(help)
                    })),
                }
            }
            reports.extend(found.ok().filter(|found| !found.is_empty()));
        }
        reports
    }
}

/// The bodies of the tools of a document that run there: the number of each tool, its file, and
/// whether that exists.
///
/// Empty for documents that are not files: nothing is beside the answer of a server.
fn bodies_of(document: &LoadedDocument, place: BodyPlace) -> Vec<(usize, PathBuf, bool)> {
    let Some((path, reading)) = document.path.as_ref().zip(document.reading.as_ref()) else {
        return Vec::new();
    };
    let folder = document.bodies.as_deref().or(path.parent()).unwrap_or(Path::new(""));
    let tools = reading
        .toolset
        .tools
        .iter()
        .enumerate()
        .filter(|(_, tool)| tool.details.binding == Binding::Script && place_of(tool) == place);
    let file = |(n, tool): (usize, &Draft)| {
        // A valid name has no `/`, so the path stays inside the folder.
        let path = folder.join(format!("{}.js", tool.name.ok()?));
        let exists = path.exists();
        Some((n, path, exists))
    };
    tools.filter_map(file).take(MAX_BODIES).collect()
}

/// Where the body of a tool runs.
///
/// The capabilities decide, and the one that needs most counts.
fn place_of(tool: &Draft) -> BodyPlace {
    let needs = || tool.needs.iter().filter_map(|need| need.ok());
    if needs().any(Capability::is_full_page) {
        BodyPlace::FullPage
    } else if needs().any(Capability::needs_page) {
        BodyPlace::Page
    } else {
        BodyPlace::Sandbox
    }
}

/// For each tool whose body runs in a worker of the browser: its number, and the names for which it
/// does.
///
/// Only bodies whose text mentions such a name are analyzed.
pub fn worker_bodies(
    document: &LoadedDocument,
    analyzer: &dyn ScriptAnalyzer,
) -> Vec<(usize, Vec<String>)> {
    const OWN: &[&str] = &["BTCPError"];
    let places = [(BodyPlace::Sandbox, OWN), (BodyPlace::Page, PAGE_GLOBALS)];
    let bodies = places.into_iter().flat_map(|(place, provided)| {
        let bodies = bodies_of(document, place).into_iter().filter(|(_, _, exists)| *exists);
        bodies.map(move |(n, path, _)| (n, path, provided))
    });
    let names = |(n, path, provided): (usize, PathBuf, &'static [&'static str])| {
        let source = read_source(&path).ok().filter(|it| mentions_worker_names(it.text()))?;
        let facts = analyzer.analyze(source.text(), ParseGoal::Module, provided);
        let names: Vec<String> = facts.worker_names().into_iter().map(str::to_owned).collect();
        (!names.is_empty()).then_some((n, names))
    };
    bodies.filter_map(names).collect()
}

/// A diagnostic for each tool whose body is missing. That is an error where the configuration names
/// the folder of the bodies. Where all are missing beside their manifest, they are probably
/// elsewhere, in a page or in another folder, which is a note.
///
/// ```text
/// folder named in `implementations`    UNRESOLVED_REFERENCE, an error
/// some bodies beside the manifest      UNRESOLVED_REFERENCE, with its own severity
/// none beside the manifest             NOT_RUNNABLE
/// ```
pub(crate) fn missing_bodies(document: &LoadedDocument) -> Vec<Diagnostic> {
    // The body of a tool that works on a page may be a part of the page.
    let bodies = bodies_of(document, BodyPlace::Sandbox);
    let is_named = document.bodies.is_some();
    let code = match is_named || bodies.iter().any(|(_, _, exists)| *exists) {
        true => &toolwright_check::UNRESOLVED_REFERENCE,
        false => &toolwright_check::NOT_RUNNABLE,
    };
    let severity = if is_named { Severity::Error } else { code.severity };
    let missing = bodies.into_iter().filter(|(_, _, exists)| !exists);
    let diagnostic = |(n, path, _): (usize, PathBuf, bool)| {
        at_name(document, n, |at| {
            let message = format!("there is no body `{}`", path.display());
            let help = "write one with a default export, or name its folder in `implementations`";
            RecordFinding::new(code, at, message).severity(severity).help(help)
        })
    };
    missing.filter_map(diagnostic).collect()
}

/// A finding at the name of a tool, with its place.
fn at_name(
    document: &LoadedDocument,
    n: usize,
    finding: impl FnOnce(RecordPath) -> RecordFinding,
) -> Option<Diagnostic> {
    let reading = document.reading.as_ref()?;
    let at = RecordPath::root().child("tools").child(n).child("name");
    Some(locate(reading.origin.in_document(finding(at)), reading.origin.document()))
}

/// The text of a script.
fn read_source(path: &Path) -> Result<Source, LoadError> {
    let name = path.display();
    let bytes = files::read(path)?;
    Source::decode(&name.to_string(), bytes)
        .map_err(|error| LoadError::new(format!("cannot read `{name}`: {error}")))
}

/// A diagnostic at the entry point of a local tool whose script does not exist.
pub(crate) fn missing_script(document: &LoadedDocument) -> Option<Diagnostic> {
    // The check touches the file system, which rules never do; so it is here and not a rule.
    let script = script_of(document).filter(|script| !script.is_file())?;
    let reading = document.reading.as_ref()?;
    // All commands of a tool share the entry point, so one diagnostic is enough.
    let (n, _) = entry_point(reading)?;
    let at = RecordPath::root().child("tools").child(n).child("binding").child("entryPoint");
    let message = format!("there is no script `{}`", script.display());
    let finding = RecordFinding::new(&toolwright_check::UNRESOLVED_REFERENCE, at, message);
    Some(locate(reading.origin.in_document(finding), reading.origin.document()))
}

/// The script that the local tool of a document runs, relative to the folder of the document.
fn script_of(document: &LoadedDocument) -> Option<PathBuf> {
    let folder = document.path.as_ref()?.parent().unwrap_or(Path::new(""));
    let (_, entry_point) = entry_point(document.reading.as_ref()?)?;
    // Collecting the components drops the `./` that people write in front.
    Some(folder.join(entry_point).components().collect())
}

/// The first tool that runs a script, by its number, and the script as the definition writes it.
fn entry_point(reading: &Reading) -> Option<(usize, &str)> {
    reading.toolset.tools.iter().enumerate().find_map(|(n, tool)| match &tool.details.binding {
        Binding::Local { entry_point, .. } => Some((n, entry_point.as_str())),
        _ => None,
    })
}
