//! `[[ignore]]` of the configuration: findings that a project has decided to live with, by source,
//! tool and code, each with a reason. Unlike `[levels]` it leaves the code in force elsewhere, and
//! unlike a comment it reaches JSON files and servers.
//!
//! As with comments, an entry that hits nothing is reported, so that none outlives its cause. A run
//! that did not read everything cannot know that, see `IgnoreList::problems`.
//!
//! ```text
//! Config ─ new ─▶ IgnoreList ─ hits: is this finding silenced? ─▶ counted per entry
//!                            └ problems, at the end ─▶ entries that hit nothing
//! ```

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolwright_check::USELESS_SILENCE;
use toolwright_source::words::shorten;
use toolwright_source::{Diagnostic, Source, Span, TextOrigin};

use crate::config::SourceKind;
use crate::load::{LoadResult, LoadedDocument};
use crate::{Config, Coverage};

/// One `[[ignore]]`. Its reason is for readers of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreEntry {
    /// A glob for the source; every source without one.
    pub source: Option<String>,
    /// A glob for the name of the tool; without one, all tools and what lies outside of tools.
    pub tool: Option<String>,
    /// The name of the code.
    pub code: &'static str,
    /// The entry in the file.
    pub span: Span,
}

/// The entries of a configuration, and how often each was needed.
#[derive(Debug, Default)]
pub struct IgnoreList {
    /// Atomic, because `hits` gets a shared list.
    entries: Vec<(IgnoreEntry, AtomicUsize)>,
    /// The configuration; `None` without one.
    config: Option<Arc<Source>>,
    /// Its folder. Paths of files are compared relative to it.
    folder: PathBuf,
    /// The sources of files that it names, by which entries can name these files, too.
    sources: Vec<(String, PathBuf)>,
    /// Whether it names any source: then a run that names others does not read all of them.
    has_sources: bool,
    /// Mistakes in the entries. One with a mistake is not among `entries`.
    wrong: Vec<Diagnostic>,
}

impl IgnoreList {
    /// The entries of `config`, whose text is `source` and whose folder is `folder`. `problems` are
    /// its mistakes.
    pub(crate) fn new(
        config: &Config,
        source: &Arc<Source>,
        folder: &Path,
        problems: &[Diagnostic],
    ) -> IgnoreList {
        let is_ignore = |d: &&Diagnostic| d.path.tokens().next() == Some("ignore".into());
        let files = config.sources.iter().filter_map(|source| match &source.kind {
            SourceKind::Definitions { path, .. } => Some((source.name.to_string(), path.clone())),
            _ => None,
        });
        let entry = |entry: &IgnoreEntry| (entry.clone(), AtomicUsize::new(0));
        IgnoreList {
            entries: config.ignores.iter().map(entry).collect(),
            config: Some(Arc::clone(source)),
            folder: folder.to_owned(),
            sources: files.collect(),
            has_sources: !config.sources.is_empty(),
            wrong: problems.iter().filter(is_ignore).cloned().collect(),
        }
    }

    /// Whether an entry is about this finding. Every such entry counts as needed.
    ///
    /// All entries are asked, and not only up to the first: two that overlap are both in use.
    pub(crate) fn hits(&self, diagnostic: &Diagnostic) -> bool {
        let mut names = None;
        let mut hit = false;
        for (entry, hits) in self.entries.iter().filter(|(e, _)| e.code == diagnostic.code.name) {
            let tool = diagnostic.tool.as_ref().map(|tool| tool.name.as_str());
            let of_tool =
                entry.tool.as_ref().is_none_or(|glob| tool.is_some_and(|t| fits(glob, t)));
            let names = names.get_or_insert_with(|| {
                self.names_of(&diagnostic.source, diagnostic.about.as_deref())
            });
            if of_tool && entry.is_about(names) {
                hits.fetch_add(1, Ordering::Relaxed);
                hit = true;
            }
        }
        hit
    }

    /// Forgets what was hit so far: repairs look at findings that they then remove.
    pub(crate) fn reset(&self) {
        self.entries.iter().for_each(|(_, hits)| hits.store(0, Ordering::Relaxed));
    }

    /// A finding for each entry that hit nothing. In a run that names its sources, only entries are
    /// judged whose source was read as a whole as far as one can tell: a single file, or any source
    /// if the configuration itself names none. Such a run does not report mistakes of the
    /// configuration either, except for those in entries, which concern all sources.
    pub(crate) fn problems(&self, load: &LoadResult, coverage: Coverage) -> Vec<Diagnostic> {
        let unused = |hits: &AtomicUsize| hits.load(Ordering::Relaxed) == 0;
        let was_read = |entry: &IgnoreEntry| {
            let sources = load.documents.iter().filter_map(LoadedDocument::source);
            sources.into_iter().any(|source| entry.is_about(&self.names_of(source, None)))
        };
        let is_judged = |entry: &IgnoreEntry| match &entry.source {
            _ if coverage == Coverage::Everything && load.failures.is_empty() => true,
            Some(name) if self.is_one_source(name) => was_read(entry),
            _ => !self.has_sources && (entry.source.is_none() || was_read(entry)),
        };
        let Some(config) = &self.config else { return Vec::new() };
        let useless = self.entries.iter().filter(|(entry, hits)| unused(hits) && is_judged(entry));
        let useless = useless.map(|(entry, _)| {
            let message = format!("this silences no finding `{}`", entry.code);
            Diagnostic::at(&USELESS_SILENCE, config, entry.span, message).help(entry.advice())
        });
        let wrong = self.wrong.iter().filter(|_| coverage == Coverage::Named);
        wrong.cloned().chain(useless).collect()
    }

    /// Whether the glob names one file or server.
    ///
    /// A name of a `[[source]]` may stand for a folder.
    fn is_one_source(&self, glob: &str) -> bool {
        !glob.contains(['*', '?']) && !self.sources.iter().any(|(name, _)| name == glob)
    }

    /// The names that entries can use for a source: that of a server, or the path of a file from
    /// the folder of the configuration and the name of the `[[source]]` that it lies in.
    fn names_of(&self, source: &Source, about: Option<&str>) -> Vec<String> {
        let name = portable_name(source, about, &self.folder);
        let path = self.folder.join(&name);
        let of_sources = self.sources.iter().filter(|(_, folder)| path.starts_with(folder));
        of_sources.map(|(name, _)| name.clone()).chain([name.clone()]).collect()
    }
}

impl IgnoreEntry {
    /// Whether one of the names of a source fits. An entry without a source is about all.
    fn is_about(&self, names: &[String]) -> bool {
        self.source.as_ref().is_none_or(|glob| names.iter().any(|name| fits(glob, name)))
    }

    /// What to look at if the entry hits nothing.
    fn advice(&self) -> String {
        let globs = [("source", &self.source), ("tool", &self.tool)];
        let globs: Vec<String> = globs
            .into_iter()
            .filter_map(|(key, glob)| Some(format!("{key} `{}`", shorten(glob.as_ref()?))))
            .collect();
        match globs.is_empty() {
            true => "remove it".to_owned(),
            false => format!("remove it, or correct its {}", globs.join(" and ")),
        }
    }
}

/// The name of a source that is the same on every machine and in every working directory: the path
/// of a file from `folder`, or the name of a server. `about` is the server that a finding in
/// another file is about.
///
/// Used for baselines as well, which are shared by a team.
pub(crate) fn portable_name(source: &Source, about: Option<&str>, folder: &Path) -> String {
    let name = about.unwrap_or_else(|| source.name());
    let is_file = about.is_none() && matches!(source.origin(), TextOrigin::File);
    // Programs are named by their paths, too.
    if !is_file && !name.starts_with(['/', '.']) {
        return name.to_owned();
    }
    let path = normalized(Path::new(name));
    match path.strip_prefix(normalized(folder)) {
        Ok(below) => {
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            parts.join("/")
        }
        Err(_) => path.display().to_string(),
    }
}

/// The absolute path without `.` and `..`. Nothing is read, so a file may be gone.
fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).components() {
        match part {
            Component::ParentDir => _ = out.pop(),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Whether a text fits a glob, in which `*` stands for any characters, `/` included, and `?` for
/// one. Takes at most the product of both lengths: only the last `*` is ever tried again.
pub fn fits(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut g, mut t) = (0, 0);
    // Where the last `*` is, and how much of the text stands before what it has taken.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, t));
                g += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (g, t) = (g + 1, t + 1),
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                (g, t) = (at + 1, taken + 1);
            }
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_fit_whole_texts() {
        for (glob, text, expected) in [
            ("now", "now", true),
            ("now", "nowhere", false),
            ("no*", "nowhere", true),
            ("*where", "nowhere", true),
            ("*o*e*e", "nowhere", true),
            ("*o*z", "nowhere", false),
            ("n?w", "now", true),
            ("n?w", "nw", false),
            ("*", "", true),
            ("**", "a/b", true),
            ("tools/*.json", "tools/a/b.json", true),
            ("tools/*", "tool", false),
            ("é?", "éà", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(glob, text), expected, "{glob} {text}");
        }
        let (glob, text) = ("*a".repeat(200) + "b", "a".repeat(5_000));
        assert!(!fits(&glob, &text));
    }

    #[test]
    fn names_are_relative_to_a_folder() {
        let file = |name: &str| Source::new(name, String::new());
        let name = |name: &str, folder: &str| portable_name(&file(name), None, Path::new(folder));
        assert_eq!(name("/p/tools/./a.json", "/p"), "tools/a.json");
        assert_eq!(name("/p/x/../tools/a.json", "/p/"), "tools/a.json");
        assert_eq!(name("/q/a.json", "/p"), "/q/a.json");
        assert_eq!(name("./a.json", "."), "a.json");
        assert_eq!(portable_name(&file("/p/.mcp.json"), Some("git"), Path::new("/p")), "git");
    }
}
