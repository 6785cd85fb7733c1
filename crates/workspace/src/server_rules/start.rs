//! What keeps a server from being started: a program or a working directory that is not there; and
//! a script that is not there, with which its interpreter ends at once.
//!
//! The search is that of the system (`execvp`): a name without `/` is looked for in the folders of
//! `PATH`, that of the server's own environment if it sets one. A script counts only if it is
//! written as a path of a file: interpreters have many options, and what is not certain is not
//! reported.
//!
//! ```text
//! missing_parts   command, directory, PATH ─▶ MissingPart ─▶ finding
//! started         the words of a command   ─▶ what a person accepts, and the lock holds
//! ```

use std::path::{Path, PathBuf};

use toolwright_model::{Connection, Server};
use toolwright_source::words::{nearest_word, shorten, split_words};

use super::{CommandLine, SHELLS, ServerFinding, WrittenServer, masked_text, program_name};
use crate::code_files::SCRIPT_ENDINGS;
use crate::codes::{COMMAND_NOT_FOUND, DIRECTORY_NOT_FOUND, SCRIPT_NOT_FOUND};

/// A part without which a server cannot be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MissingPart {
    /// Its program, and the files that would be it.
    Program(Vec<PathBuf>),
    /// Its working directory.
    Directory(PathBuf),
    /// The script that its program runs: the number of the word.
    Script(usize),
}

impl MissingPart {
    /// The finding about it. Quotes what the file says and not what its references stand for.
    ///
    /// The place is the word, or the directory, if the file has one. A known program has advice how
    /// to install it, or a similar one as a suggestion.
    pub(crate) fn finding<P: Clone>(&self, server: &WrittenServer<P>) -> ServerFinding<P> {
        let program = server.command.first().map_or("", |word| word.text.as_str());
        // It may be a whole command line, with a secret in it.
        let words = split_words(program).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = shorten(&super::masked_words(&words).join(" "));
        match self {
            MissingPart::Script(n) => {
                let at = server.command.get(*n).map_or(&server.at, |word| &word.at);
                let script = server.command.get(*n).map_or("", |word| word.text.as_str());
                let message = format!("there is no file `{}`", shorten(&masked_text(script)));
                let help = format!("correct its name: `{program}` ends at once without it");
                ServerFinding::new(&SCRIPT_NOT_FOUND, at, message, help)
            }
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

/// The parts that are missing. `path` is the `PATH` that programs inherit; without any, the system
/// searches a few folders of its own.
///
/// A relative path depends on the working directory, so below a missing directory only that one is
/// reported.
///
/// Empty for servers that are reached over the network. Looks at the disk each time it is called;
/// the plan is made again when one of the places changes.
pub(crate) fn missing_parts(server: &Server, path: Option<&str>) -> Vec<MissingPart> {
    let Connection::Stdio { command } = &server.connection else { return Vec::new() };
    let directory = server.directory.as_deref().map(Path::new);
    let mut missing = Vec::new();
    let is_missing = directory.is_some_and(|directory| !directory.is_dir());
    missing
        .extend(directory.filter(|_| is_missing).map(|it| MissingPart::Directory(it.to_owned())));
    // What is relative to a directory that is missing is not there either, and only one of the two
    // is the reason.
    let is_known = |file: &str| !is_missing || Path::new(file).is_absolute();
    let in_directory = |file: &str| directory.unwrap_or(Path::new("")).join(file);
    let Some(program) = command.first() else { return missing };
    let candidates = match program.contains('/') && !is_known(program) {
        true => Vec::new(),
        false => program_files(server, program, path),
    };
    if !candidates.is_empty() && !candidates.iter().any(|file| file.is_file()) {
        missing.push(MissingPart::Program(candidates));
    }
    let is_there = |n: usize| {
        let script = &command[n];
        // `node server` also runs `server.js`.
        let file = in_directory(script);
        file.exists() || ["js", "mjs", "cjs"].iter().any(|end| with_ending(&file, end).exists())
    };
    let script = script_of(command).filter(|n| is_known(&command[*n]) && !is_there(*n));
    missing.extend(script.map(MissingPart::Script));
    missing
}

/// The files that a program of a server may be, in the order in which the system looks for them.
///
/// A program with `/` is one file. `env` of the server wins over `path`, as for `execvp` of the
/// child.
pub(super) fn program_files(server: &Server, program: &str, path: Option<&str>) -> Vec<PathBuf> {
    if program.contains('/') {
        return vec![Path::new(server.directory.as_deref().unwrap_or("")).join(program)];
    }
    let own = server.environment.iter().rev().find(|variable| variable.name == "PATH");
    let path =
        own.and_then(|variable| variable.value.as_deref()).or(path).unwrap_or("/bin:/usr/bin");
    std::env::split_paths(path).take(MAX_FOLDERS).map(|folder| folder.join(program)).collect()
}

/// What one command line starts: `npx pkg@1.2.0`, `python3 -m pkg`, `node server.js`, `server`.
///
/// ```text
/// /usr/bin/node ./dist/server.js --port 1   ─▶  node dist/server.js
/// npx -y server@1.2.0                       ─▶  npx server@1.2.0
/// python3 -m server                         ─▶  python3 -m server
/// node -e 'code'                            ─▶  node -e HASH
/// ```
///
/// It is the same on every machine of a team: absolute folders and the arguments of the script are
/// left out.
///
/// Code in the words counts by its hash. The result is for the lock, where a person reads it.
pub(super) fn started(line: &CommandLine<'_>) -> String {
    if let Some(package) = super::packages::package_of(line) {
        return package;
    }
    let words: Vec<String> = line.words.iter().map(|(_, word)| word.to_string()).collect();
    let program = words.first().map_or_else(String::new, |word| on_every_machine(word));
    let is_interpreter = INTERPRETERS.iter().any(|(name, _)| *name == line.program());
    // Behind a script they are its own options.
    let mut options = words.iter().skip(1).take_while(|word| word.starts_with('-'));
    let inline = options.position(|word| INLINE_CODE.contains(&word.as_str())).map(|n| n + 1);
    if let Some(n) = inline.filter(|_| is_interpreter)
        && let Some(text) = words.get(n + 1)
    {
        return match words[n].as_str() {
            "-m" => format!("{program} -m {text}"),
            option => format!("{program} {option} {}", crate::content_hash::hash(text)),
        };
    }
    let is_script = |word: &&String| {
        let ending = Path::new(word.as_str()).extension().and_then(|ending| ending.to_str());
        !word.starts_with('-') && ending.is_some_and(|it| SCRIPT_ENDINGS.contains(&it))
    };
    let script = match script_of(&words) {
        Some(n) => words.get(n),
        None if SHELLS.contains(&line.program()) => {
            words.iter().skip(1).find(|word| !word.starts_with('-')).filter(|it| !it.contains(' '))
        }
        None => words.iter().skip(1).find(is_script),
    };
    match script {
        Some(script) => format!("{program} {}", on_every_machine(script)),
        None => program,
    }
}

/// The options of interpreters that have code, or a module, as the next word.
const INLINE_CODE: [&str; 6] = ["-m", "-c", "-e", "-p", "--eval", "--print"];

/// A path as it is on the machine of everybody who works on a project: what is relative to its
/// folder as it is, of others the name alone.
///
/// `/usr/bin/node` gives `node`, `./dist/server.js` gives `dist/server.js`.
fn on_every_machine(word: &str) -> String {
    match Path::new(word).is_absolute() || word.starts_with('~') || word.contains('\\') {
        true => program_name(word).to_owned(),
        false => {
            let path = word.trim_start_matches("./");
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            match folder {
                "" => program_name(name).to_owned(),
                folder => format!("{folder}/{}", program_name(name)),
            }
        }
    }
}

/// The path with an ending behind the one that it has.
fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// The programs that run a script, with the options whose value is the next word.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("node", &["-r", "--require", "--import", "--loader", "--experimental-loader", "-C"]),
    ("python", &["-W", "-X"]),
    ("python3", &["-W", "-X"]),
    ("bun", &["-r", "--preload"]),
    ("tsx", &["--tsconfig"]),
    ("ts-node", &["-P", "--project"]),
    ("ruby", &["-I", "-r"]),
    ("php", &["-d", "-c"]),
];

/// The number of the word that is the script of an interpreter, if it is written as the path of a
/// file.
///
/// Skips the options of the interpreter. `None` for code, modules and standard input, and for a
/// word that does not look like a path: it may be a command of the interpreter.
pub(super) fn script_of(command: &[String]) -> Option<usize> {
    const ENDINGS: [&str; 9] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".py", ".rb", ".php"];
    let program = program_name(command.first()?);
    let (_, options) = INTERPRETERS.iter().find(|(name, _)| *name == program)?;
    let mut n = 1;
    loop {
        let word = command.get(n)?.as_str();
        match word {
            // Code, a module or standard input in the place of a script.
            "-c" | "-m" | "-e" | "-p" | "--eval" | "--print" | "-" => return None,
            _ if options.contains(&word) => n += 2,
            _ if word.starts_with('-') => n += 1,
            // `bun run server.ts`
            "run" if n == 1 && program == "bun" => n += 1,
            _ => break,
        }
    }
    let word = &command[n];
    let is_file = word.starts_with(['/', '.']) || ENDINGS.iter().any(|end| word.ends_with(end));
    (is_file && !word.contains("://")).then_some(n)
}

#[cfg(test)]
mod tests {
    use toolwright_model::{ServerSettings, Variable};

    use super::*;

    fn missing(program: &str, directory: Option<&str>, own_path: Option<&str>) -> Vec<MissingPart> {
        let environment = own_path.map(|path| Variable {
            name: "PATH".to_owned(),
            value: Some(path.to_owned()),
            ..Variable::default()
        });
        let server = Server {
            connection: Connection::Stdio {
                command: program.split(' ').map(str::to_owned).collect(),
            },
            shown: None,
            environment: environment.into_iter().collect(),
            headers: Vec::new(),
            directory: directory.map(str::to_owned),
            health_check: None,
            settings: ServerSettings::default(),
        };
        missing_parts(&server, Some("/no/such:/bin"))
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
            assert!(missing(program, directory, path).is_empty(), "{program}");
        }
        let program =
            |paths: &[&str]| [MissingPart::Program(paths.iter().map(PathBuf::from).collect())];
        assert_eq!(missing("no-such", None, None), program(&["/no/such/no-such", "/bin/no-such"]));
        assert_eq!(missing("sh", None, Some("/no")), program(&["/no/sh"]));
        assert_eq!(missing("./no-such", Some("/bin"), None), program(&["/bin/./no-such"]));
        // A folder is not a program.
        assert_eq!(missing("/bin", None, None), program(&["/bin"]));
        let directory = || MissingPart::Directory("/no/such".into());
        let [program] = program(&["/no/such/no-such", "/bin/no-such"]);
        assert_eq!(missing("no-such", Some("/no/such"), None), [directory(), program]);
        assert_eq!(missing("sh", Some("/no/such"), None), [directory()]);
        // It may be there once the directory is.
        assert_eq!(missing("./sh", Some("/no/such"), None), [directory()]);
    }

    #[test]
    fn what_a_command_line_starts() {
        let started = |words: &[String]| super::super::started_program(words, words);
        for (line, expected) in [
            ("npx -y @acme/notes@1.2.0 --x", "npx @acme/notes@1.2.0"),
            ("env A=1 B=2 npx notes@1", "npx notes@1"),
            ("pipx run --spec notes==1.0 run", "pipx run notes==1.0"),
            ("docker run --rm ghcr.io/a/b:1", "docker run ghcr.io/a/b:1"),
            ("python3 -m notes --port 1", "python3 -m notes"),
            ("/usr/bin/env python3 -u /srv/a/server.py", "python3 server.py"),
            ("node ./tools/server.js x.js", "node tools/server.js"),
            ("python3 server.py -m x -c y", "python3 server.py"),
            ("./bin/server -v", "bin/server"),
            ("/opt/bin/server", "server"),
            ("uv run server.py", "uv server.py"),
            ("java -jar app.jar", "java app.jar"),
            ("bash tools/run.sh x", "bash tools/run.sh"),
            ("server --db notes.db", "server"),
            ("", ""),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(started(&words), expected, "{line}");
        }
        let shell = |text: &str| started(&["sh", "-c", text].map(str::to_owned));
        let several = shell("cd /srv && npx -y notes@1");
        assert!(several.starts_with("sh -c cd, npx notes@1 v1:"), "{several}");
        assert_ne!(shell("exec server a"), shell("exec server b"));
        let code = |text: &str| started(&["node", "-e", text].map(str::to_owned));
        assert!(code("1").starts_with("node -e v1:"), "{}", code("1"));
        assert_ne!(code("1"), code("2"));
    }

    #[test]
    fn scripts_are_searched_as_their_interpreters_do() {
        let scripts = tempfile::tempdir().expect("a folder");
        for name in ["node", "python3", "bun", "here.js", "here.py"] {
            std::fs::write(scripts.path().join(name), "").expect("a file");
        }
        let folder = scripts.path().display().to_string();
        for (line, expected) in [
            ("node /no/such.js", Some(1)),
            ("node --enable-source-maps -r ./hook.js /no/such.js x.js", Some(4)),
            ("node such.js", Some(1)),
            ("python3 -u /no/such.py", Some(2)),
            ("bun run ./such.ts", Some(2)),
            ("node here.js", None),
            ("node ./here", None),
            ("python3 here.py", None),
            ("python3 -m such.py", None),
            ("node -e such.js", None),
            ("node server", None),
            ("bun run start", None),
            ("sh such.js", None),
        ] {
            let found = missing(line, Some(&folder), Some(&format!("{folder}:/bin")));
            let expected: Vec<MissingPart> =
                expected.into_iter().map(MissingPart::Script).collect();
            assert_eq!(found, expected, "{line}");
        }
    }
}
