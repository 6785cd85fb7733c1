//! What keeps a server from being started: a program or a working directory that is not there.
//!
//! The search is that of the system (`execvp`): a name without `/` is looked for in the folders of
//! `PATH`, that of the server's own environment if it sets one.

use std::path::{Path, PathBuf};

use toolwright_model::{Connection, Server};
use toolwright_source::words::{nearest_word, shorten, split_words};

use super::{ServerFinding, WrittenServer};
use crate::codes::{COMMAND_NOT_FOUND, DIRECTORY_NOT_FOUND};

/// A part without which a server cannot be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MissingPart {
    /// Its program, and the files that would be it.
    Program(Vec<PathBuf>),
    /// Its working directory.
    Directory(PathBuf),
}

impl MissingPart {
    /// The finding about it. Quotes what the file says and not what its references stand for.
    pub(crate) fn finding<P: Clone>(&self, server: &WrittenServer<P>) -> ServerFinding<P> {
        let program = server.command.first().map_or("", |word| word.text.as_str());
        // It may be a whole command line, with a secret in it.
        let words = split_words(program).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = shorten(&super::masked_words(&words).join(" "));
        match self {
            MissingPart::Program(_) => {
                let at = server.command.first().map_or(&server.at, |word| &word.at);
                let message = match program.contains('/') {
                    true => format!("there is no program `{program}`"),
                    false => format!("the program `{program}` is not on `PATH`"),
                };
                let help = match INSTALLERS.iter().find(|(name, _)| *name == program) {
                    Some((_, what)) => {
                        format!("install {what}; until then the server is not started")
                    }
                    None => {
                        match nearest_word(&program, INSTALLERS.iter().map(|(name, _)| *name)) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => {
                                "install it, or correct its name; the server is not started".into()
                            }
                        }
                    }
                };
                ServerFinding::new(&COMMAND_NOT_FOUND, at, message, help)
            }
            MissingPart::Directory(directory) => {
                let text = server.directory.as_ref();
                let name = text.map_or_else(String::new, |text| shorten(&text.text));
                let is_not =
                    if directory.exists() { "is not a directory" } else { "does not exist" };
                let message = format!("the directory `{name}` {is_not}");
                let help = "create it, or correct its name; the server is not started";
                ServerFinding::new(
                    &DIRECTORY_NOT_FOUND,
                    text.map_or(&server.at, |t| &t.at),
                    message,
                    help,
                )
            }
        }
    }
}

/// Programs that start most servers, and what installs them.
const INSTALLERS: &[(&str, &str)] = &[
    ("npx", "Node.js"),
    ("node", "Node.js"),
    ("npm", "Node.js"),
    ("uvx", "uv"),
    ("uv", "uv"),
    ("pipx", "pipx"),
    ("python3", "Python"),
    ("python", "Python"),
    ("bunx", "Bun"),
    ("bun", "Bun"),
    ("deno", "Deno"),
    ("docker", "Docker"),
    ("podman", "Podman"),
    ("go", "Go"),
    ("java", "Java"),
    ("dotnet", ".NET"),
];

/// Folders of `PATH` that are searched. Nobody has that many; a hostile file may.
const MAX_FOLDERS: usize = 200;

/// The part that is missing. `path` is the `PATH` that programs inherit; without any, the system
/// searches a few folders of its own.
pub(crate) fn missing_part(server: &Server, path: Option<&str>) -> Option<MissingPart> {
    let Connection::Stdio { command } = &server.connection else { return None };
    let directory = server.directory.as_deref().map(Path::new);
    // First: without its directory a relative program is not there either, and only one of the two
    // is the reason.
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        return Some(MissingPart::Directory(directory.to_owned()));
    }
    let own = server.environment.iter().rev().find(|variable| variable.name == "PATH");
    let path =
        own.and_then(|variable| variable.value.as_deref()).or(path).unwrap_or("/bin:/usr/bin");
    let program = command.first()?;
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![directory.unwrap_or(Path::new("")).join(program)]
    } else {
        let folders = std::env::split_paths(path).take(MAX_FOLDERS);
        folders.map(|folder| folder.join(program)).collect()
    };
    let is_there = |file: &PathBuf| file.is_file();
    (!candidates.iter().any(is_there)).then_some(MissingPart::Program(candidates))
}

#[cfg(test)]
mod tests {
    use toolwright_model::{ServerSettings, Variable};

    use super::*;

    fn missing(
        program: &str,
        directory: Option<&str>,
        own_path: Option<&str>,
    ) -> Option<MissingPart> {
        let environment = own_path.map(|path| Variable {
            name: "PATH".to_owned(),
            value: Some(path.to_owned()),
            ..Variable::default()
        });
        let server = Server {
            connection: Connection::Stdio { command: vec![program.to_owned()] },
            shown: None,
            environment: environment.into_iter().collect(),
            headers: Vec::new(),
            directory: directory.map(str::to_owned),
            health_check: None,
            settings: ServerSettings::default(),
        };
        missing_part(&server, Some("/no/such:/bin"))
    }

    #[test]
    fn programs_are_searched_as_the_system_does() {
        for (program, directory, path) in [
            ("sh", None, None),
            ("/bin/sh", None, Some("/no")),
            ("sh", None, Some("/bin")),
            ("bin/sh", Some("/"), None),
            ("./sh", Some("/bin"), None),
        ] {
            assert_eq!(missing(program, directory, path), None, "{program}");
        }
        let program =
            |paths: &[&str]| Some(MissingPart::Program(paths.iter().map(PathBuf::from).collect()));
        assert_eq!(missing("no-such", None, None), program(&["/no/such/no-such", "/bin/no-such"]));
        assert_eq!(missing("sh", None, Some("/no")), program(&["/no/sh"]));
        assert_eq!(missing("./no-such", Some("/bin"), None), program(&["/bin/./no-such"]));
        // A folder is not a program.
        assert_eq!(missing("/bin", None, None), program(&["/bin"]));
        let directory = Some(MissingPart::Directory("/no/such".into()));
        assert_eq!(missing("no-such", Some("/no/such"), None), directory);
    }
}
