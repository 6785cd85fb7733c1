//! Files that decide what agents may do, and that a tool of theirs could write: the configuration,
//! the files and programs that it names, the lock beside it and the user's store, in a folder that
//! a server is given. `doctor` reports them.
//!
//! ```text
//! server of the configuration or of a definition ─▶ its arguments and variables
//!    ─▶ the paths in them: words, lists, `-v a:b`, `file:` URLs, the text of `sh -c`
//!    ─▶ does one of them hold a guarded file?
//! ```
//!
//! It is a look at what servers are given, not a proof: a server can write wherever the user can.
//!
//! False alarms are cheap (a person reads the sentence), so texts are split generously, and only
//! names of existing files count. Missed cases are possible: a program may have its folder compiled
//! in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolwright_model::{Connection, Server};
use toolwright_workspace::{ReadOptions, SourcePlan, SourceSpec, SourceTarget};
use url::Url;

use crate::environment::{self, variable};
use crate::sources;

/// What separates the words of a command line, and the items of lists in JSON and in shells.
const BETWEEN_WORDS: &[char] =
    &[' ', '\t', '\n', '"', '\'', '`', ';', '&', '|', '<', '>', '(', ')', '[', ']', '{', '}'];

/// What separates the commands of a shell.
const BETWEEN_COMMANDS: &[char] = &[';', '&', '|', '(', '\n'];

/// What separates the parts of a word: `--root=a,b`, `host:container`, `a:b`.
const BETWEEN_PARTS: &[char] = &['=', ',', ':'];

/// A sentence about each file in reach of a server of the configuration `path`.
///
/// One sentence for each pair of file and server, with the first folder that holds the file. Links
/// are resolved on both sides. Servers that are reached by HTTP have no files here.
pub(crate) fn report(path: &Path) -> Vec<String> {
    let plan = SourcePlan::from_config(path, ReadOptions::default(), &variable);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut guarded = vec![path.to_owned(), folder.join("toolwright.lock")];
    let named: BTreeSet<PathBuf> = plan.specs.iter().flat_map(named_files).collect();
    let own = path.canonicalize().ok();
    guarded.extend(named.into_iter().filter(|file| file.canonicalize().ok() != own));
    guarded.extend(environment::state_folder().ok().map(|folder| folder.join("store.db")));
    // A lock that does not exist cannot be changed; making one is noticed.
    guarded.retain(|file| file.exists());
    let mut sentences = Vec::new();
    for (name, server) in plan.specs.iter().flat_map(servers_of) {
        let Connection::Stdio { command } = &server.connection else { continue };
        let working = server.directory.as_deref().map_or(folder, Path::new);
        let values = server.environment.iter().filter_map(|variable| variable.value.as_deref());
        let arguments = command.windows(2).map(|pair| match is_script_option(&pair[0]) {
            true => without_source_commands(&pair[1]),
            false => pair[1].clone(),
        });
        let texts = arguments.chain(values.map(str::to_owned));
        let given: Vec<PathBuf> = texts.flat_map(|text| named_paths(&text, working)).collect();
        for file in &guarded {
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            if let Some(place) = given.iter().find(|place| real.starts_with(place)) {
                sentences.push(format!(
                    "`{}` lies in `{}`, which the server `{name}` is given: an agent could change \
                     by it what it may do",
                    file.display(),
                    place.display(),
                ));
            }
        }
    }
    sentences
}

/// What naming a source is the consent to start, whatever it becomes: its file, or the programs in
/// its folder; and the servers file that it is from. A definition in a folder that is walked asks
/// again when it changes.
fn named_files(spec: &SourceSpec) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        spec.anchor.iter().map(|anchor| anchor.source.name().into()).collect();
    match &spec.target {
        SourceTarget::Definitions(path) if path.is_dir() => {}
        SourceTarget::Definitions(path)
        | SourceTarget::Program(path)
        | SourceTarget::Executables(path) => files.push(path.clone()),
        SourceTarget::Server(..) | SourceTarget::Builtin(..) => {}
    }
    files
}

/// The servers of a source: itself, or those that its definitions name. Other sources have no
/// server whose arguments could name a folder.
fn servers_of(spec: &SourceSpec) -> Vec<(String, Arc<Server>)> {
    match &spec.target {
        SourceTarget::Server(server, _) => vec![(spec.name.clone(), Arc::clone(server))],
        SourceTarget::Definitions(path) => {
            let load = sources::workspace().load(std::slice::from_ref(path), spec.options);
            let readings = load.documents.iter().filter_map(|document| document.reading.as_ref());
            let named = readings.filter_map(|reading| {
                let toolset = &reading.toolset;
                let name = toolset.namespace.ok().map(ToString::to_string);
                Some((name.unwrap_or_else(|| spec.name.clone()), toolset.server.clone()?))
            });
            named.collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the next argument is the text of a shell: `-c`, also `-lc`.
fn is_script_option(word: &str) -> bool {
    let letters = word.strip_prefix('-').and_then(|rest| rest.strip_suffix('c'));
    letters.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_alphabetic()))
}

/// The text of a shell without the command `.`, which reads a file and is not a folder. Without
/// this, `. ./env.sh` would name the working directory.
fn without_source_commands(text: &str) -> String {
    let commands = text.split_inclusive(BETWEEN_COMMANDS).map(|command| {
        let begin = command.trim_start();
        begin.strip_prefix('.').filter(|rest| rest.starts_with([' ', '\t'])).unwrap_or(command)
    });
    commands.collect()
}

/// The files and folders that a text names which a server is given. Only those that exist count, so
/// that a text may be split wherever one could begin.
///
/// ```text
/// --root=/home/me/x      /home/me/x
/// -v/data:/data:ro       nothing: it is mounted to be read
/// ["a","b"]              a, b, below the working directory
/// file:///srv/x          /srv/x
/// ```
fn named_paths(text: &str, working: &Path) -> Vec<PathBuf> {
    let home = variable("HOME").unwrap_or_default();
    let mut text = text.to_owned();
    for (reference, value) in [
        ("${HOME}", home.as_str()),
        ("$HOME", &home),
        ("${PWD}", "."),
        ("$PWD", "."),
        ("$(pwd)", "."),
        ("`pwd`", "."),
    ] {
        text = text.replace(reference, value);
    }
    let mut names = vec![text.clone()];
    // What is mounted to be read cannot be changed.
    let is_read_only = |word: &str| {
        word.ends_with(":ro") || word.split(',').any(|option| ["ro", "readonly"].contains(&option))
    };
    let words = text.split(BETWEEN_WORDS).filter(|word| !is_read_only(word));
    for word in words {
        let part = word.split_once('=').map_or(word, |(_, value)| value);
        let url = [word, part].iter().find_map(|it| Url::parse(it).ok());
        let file = url.filter(|url| url.scheme() == "file").and_then(|url| url.to_file_path().ok());
        names.extend(file.map(|path| path.display().to_string()));
        names.push(part.to_owned());
        names.extend(word.split(BETWEEN_PARTS).map(str::to_owned));
        // A value right behind a short option: `-v/data:/data`.
        let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let value = short.and_then(|rest| rest.get(1..)).and_then(|it| it.split(':').next());
        names.extend(value.map(str::to_owned));
    }
    let path_of = |name: String| {
        let path = match name.strip_prefix('~').filter(|it| it.is_empty() || it.starts_with('/')) {
            Some(below) => PathBuf::from(format!("{home}{below}")),
            None => working.join(&name),
        };
        (!name.is_empty()).then(|| path.canonicalize().ok())?
    };
    names.into_iter().filter_map(path_of).collect()
}
