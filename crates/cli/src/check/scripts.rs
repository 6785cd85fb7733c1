//! JavaScript files: those that are named, and those that local tools run. Only their syntax is
//! looked at; what they may do is a matter of how they are run.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_catalog::{Load, LoadError, Loaded, Reader};
use toolwright_formats::Reading;
use toolwright_model::Binding;
use toolwright_source::{Diagnostic, Finding, Pointer, Source, locate};

/// Whether a file is JavaScript by its name.
pub(super) fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["js", "mjs", "cjs"].iter().any(|known| ending == *known))
}

/// Adds what is wrong with the scripts that are named and those of local tools, each of them once.
pub(super) fn add(named: &[String], load: &mut Load) {
    let mut seen = HashSet::new();
    let of_tools: BTreeSet<PathBuf> = load
        .files
        .iter()
        .filter_map(script)
        .filter(|path| is_script(path) && path.is_file())
        .collect();
    for path in named.iter().map(PathBuf::from).chain(of_tools) {
        if seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            read(&path, load);
        }
    }
}

fn read(path: &Path, load: &mut Load) {
    let name = path.display();
    let source =
        toolwright_catalog::read_file(path).map_err(|error| error.to_string()).and_then(|bytes| {
            Source::decode(&name.to_string(), bytes)
                .map_err(|error| format!("cannot read `{name}`: {error}"))
        });
    match source {
        Ok(source) => {
            let diagnostics = toolwright_check::check_script(&Arc::new(source));
            load.files.push(Loaded {
                path: None,
                reading: None,
                diagnostics,
                secret: false,
                reader: Reader::default(),
            });
        }
        Err(error) => load.failures.push(LoadError::Unreadable(error)),
    }
}

/// That the script of a local tool is not there, told where it is named.
pub(super) fn missing(file: &Loaded) -> Option<Diagnostic> {
    let script = script(file).filter(|script| !script.is_file())?;
    let at = Pointer::root().child("local_specific").child("entry_point");
    let message = format!("there is no script `{}`", script.display());
    let finding = Finding::new(&toolwright_check::UNRESOLVED_REFERENCE, at, message);
    Some(locate(finding, &file.reading.as_ref()?.origin))
}

/// What the local tool of a file runs.
fn script(file: &Loaded) -> Option<PathBuf> {
    let folder = file.path.as_ref()?.parent().unwrap_or(Path::new(""));
    let script = folder.join(entry_point(file.reading.as_ref()?)?);
    // Without the `./` that people put in front.
    Some(script.components().collect())
}

fn entry_point(reading: &Reading) -> Option<&str> {
    reading.toolset.tools.iter().find_map(|tool| match &tool.details.binding {
        Binding::Local { entry_point, .. } => Some(entry_point.as_str()),
        _ => None,
    })
}
