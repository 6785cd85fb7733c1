//! The words of a command line that may name files with code. Looks at words only; whether the
//! files exist is looked at in `code_files`.
//!
//! | word | counts |
//! |---|---|
//! | the program | with a `/`: the system looks for other names in `PATH` alone |
//! | what an interpreter runs: `sh job`, `python3 srv`, `node srv` | in any case |
//! | a module: `python3 -m srv`, `-msrv` | as the files that Python looks for |
//! | the value of `NAME=value` and `--name=value` | like another word |
//! | another word | if its file looks like code |
//!
//! The text of `sh -c` is split into command lines of its own; what follows `cd folder` is looked
//! for in that folder, too. An author can start code in ways that are not seen here, such as a
//! Makefile: this is for definitions that were honest when somebody allowed them.

use std::path::Path;

use toolwright_source::words::split_words;

use crate::code_files::has_ending;
use crate::server_rules::{program_name, shell_words};

/// Words of all command lines of a command that are looked at. Real ones have a few dozen.
const MAX_WORDS: usize = 2_000;

/// Bytes of a part of a path; longer ones cannot be files.
const MAX_NAME: usize = 255;

/// A word that may name a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeWord {
    /// The path as the command line has it.
    pub(crate) path: String,
    /// Whether an interpreter runs it, whatever the file looks like.
    pub(crate) is_script: bool,
}

/// What the words behind the program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlainWords {
    /// Any of them may be a file.
    Files,
    /// Names of commands, such as `status`, of which a definition may have thousands: only those
    /// with a `/` or the ending of a script, and what an interpreter runs.
    Commands,
}

/// The words of a command line that may name files with code.
///
/// A word may be listed twice, as plain and as a script: `code_files` looks at each place once.
///
/// What some commands add besides their plain words:
///
/// ```text
/// ["python3", "-m", "srv"]         srv.py, srv/__main__.py, srv/__init__.py
/// ["sh", "-c", "cd app && ./run"]  ./run, app/./run
/// ["tool", "--config=a.json"]      --config=a.json (dropped, it is an option), a.json
/// ```
///
/// The result has at most `MAX_WORDS` words. It may name files that do not exist.
pub(crate) fn code_words(command: &[String], plain: PlainWords) -> Vec<CodeWord> {
    let command = &command[..command.len().min(MAX_WORDS)];
    let own = match command.split_first() {
        Some((program, words)) if !program.contains('/') => words,
        _ => command,
    };
    let is_program = |n: usize| own.len() == command.len() && n == 0;
    let is_file = |n: usize, word: &str| {
        is_program(n)
            || plain == PlainWords::Files
            || word.contains('/')
            || has_ending(Path::new(word))
    };
    let own = own.iter().enumerate().filter(|(n, word)| is_file(*n, word));
    let mut found: Vec<CodeWord> = own.map(|(_, word)| data_or_code(word)).collect();
    found.extend(run_words(command, plain));
    let mut folder = String::new();
    for text in shell_words(command) {
        let line = split_words(&text).unwrap_or_default();
        let words =
            line.iter().map(|word| data_or_code(word)).chain(run_words(&line, PlainWords::Files));
        let words: Vec<CodeWord> = words.collect();
        if !folder.is_empty() {
            let in_folder = words.iter().filter(|word| !word.path.starts_with('/'));
            found.extend(in_folder.map(|word| CodeWord {
                path: format!("{folder}/{}", word.path),
                is_script: word.is_script,
            }));
        }
        found.extend(words);
        if let [cd, to, ..] = line.as_slice()
            && cd == "cd"
        {
            folder = match to.starts_with('/') || folder.is_empty() {
                true => to.clone(),
                false => format!("{folder}/{to}"),
            };
        }
    }
    let value = |word: &CodeWord| {
        let (_, path) = word.path.split_once('=')?;
        Some(CodeWord { path: path.to_owned(), is_script: word.is_script })
    };
    let values: Vec<CodeWord> = found.iter().filter_map(value).collect();
    found.extend(values);
    found.retain(|word| may_be_file(&word.path));
    found.truncate(MAX_WORDS);
    found
}

/// What an interpreter runs for this word: the file itself, and what it looks for in its place.
pub(crate) fn script_words(interpreter: &str, script: &str) -> Vec<CodeWord> {
    let files = Interpreter::of(interpreter).map_or(&[][..], |it| it.files);
    let others = files.iter().map(|end| format!("{}{end}", script.trim_end_matches('/')));
    let all = std::iter::once(script.to_owned()).chain(others);
    all.map(|path| CodeWord { path, is_script: true }).collect()
}

/// A word whose file counts only if it looks like code.
fn data_or_code(word: &str) -> CodeWord {
    CodeWord { path: word.to_owned(), is_script: false }
}

/// Whether a word can be the path of a file. It is not looked for otherwise.
///
/// A `-` at the start is an option; its value after `=` is looked at as a word of its own.
fn may_be_file(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with('-')
        && !word.contains(['\0', '\n'])
        && word.split('/').all(|part| part.len() <= MAX_NAME)
}

/// The script or module that the interpreter of a command line runs.
///
/// `python3 -m pkg.srv` gives `pkg/srv.py`, `pkg/srv/__main__.py` and the `__init__.py` around
/// them.
///
/// `-m` names a module behind any program if words may be files, because wrappers such as `uv run`
/// start Python with other names.
fn run_words(line: &[String], plain: PlainWords) -> Vec<CodeWord> {
    let interpreter = interpreter_of(line, plain);
    let mut found = Vec::new();
    for (n, word) in line.iter().enumerate() {
        let is_python = interpreter.is_some_and(|(at, it)| it.has_modules && at < n);
        let module = match word.as_str() {
            // `uv run -m server`, but not `git commit -m message`
            "-m" if plain == PlainWords::Files => line.get(n + 1).map(String::as_str),
            // `-mserver`, `-um server`
            word if is_python => attached_module(word).and_then(|module| match module {
                "" => line.get(n + 1).map(String::as_str),
                module => Some(module),
            }),
            _ => None,
        };
        found.extend(module.into_iter().flat_map(module_files));
    }
    if let Some((at, interpreter)) = interpreter
        && let Some(script) = interpreter.script(&line[at + 1..])
    {
        found.extend(script_words(&line[at], script));
    }
    found
}

/// The module in options of Python that are written as one word; empty if it is the next word.
fn attached_module(word: &str) -> Option<&str> {
    let (flags, module) = word.strip_prefix('-')?.split_once('m')?;
    // Of the options before it, none has a value.
    flags.chars().all(|flag| "bBdEiIOPqsSuvx".contains(flag)).then_some(module)
}

/// The files that Python looks for when it runs a module: those of the packages around it run, too.
fn module_files(module: &str) -> Vec<CodeWord> {
    let path = module.replace('.', "/");
    let mut files =
        [".py", "/__main__.py", "/__init__.py"].map(|end| format!("{path}{end}")).to_vec();
    let folders = path.match_indices('/').take(20).map(|(end, _)| &path[..end]);
    files.extend(folders.map(|folder| format!("{folder}/__init__.py")));
    files.into_iter().map(|path| CodeWord { path, is_script: true }).collect()
}

/// A program that runs a script.
struct Interpreter {
    /// Its names, without a version.
    names: &'static [&'static str],
    /// The options whose value is the next word.
    values: &'static [&'static str],
    /// The last letters of short options that stand in the place of a script: code, or the input.
    inline: &'static [char],
    /// What may stand before the script: `deno run`.
    commands: &'static [&'static str],
    /// What it runs for the word `srv` besides that file: `srv.js`.
    files: &'static [&'static str],
    /// Whether `-m` is about a module.
    has_modules: bool,
}

/// One without commands, further files and modules.
const fn interpreter(
    names: &'static [&'static str],
    values: &'static [&'static str],
    inline: &'static [char],
) -> Interpreter {
    Interpreter { names, values, inline, commands: &[], files: &[], has_modules: false }
}

/// By name and not by what is installed: the same definition has the same files on every machine.
const INTERPRETERS: &[Interpreter] = &[
    interpreter(
        &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", ".", "source"],
        &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
        &['c', 's'],
    ),
    Interpreter {
        files: &["/__main__.py"],
        has_modules: true,
        ..interpreter(
            &["python", "pythonw", "pypy"],
            &["-W", "-X", "--check-hash-based-pycs"],
            &['c', 'm'],
        )
    },
    Interpreter {
        commands: &["watch"],
        files: &[".js", "/index.js", "/package.json"],
        ..interpreter(
            &["node", "nodejs"],
            &["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "-P"],
            &['e', 'p'],
        )
    },
    Interpreter {
        commands: &["watch"],
        files: &[".ts", ".js", ".tsx", "/index.ts", "/index.js", "/package.json"],
        ..interpreter(
            &["tsx", "ts-node"],
            &["-r", "--require", "--import", "--loader", "-C", "-P"],
            &['e', 'p'],
        )
    },
    Interpreter {
        commands: &["run"],
        files: &[".ts", ".js", ".tsx", "/index.ts", "/index.js", "/package.json"],
        ..interpreter(&["bun"], &["-r", "--preload", "-c"], &['e', 'p'])
    },
    Interpreter {
        commands: &["run", "serve"],
        ..interpreter(&["deno"], &["-c", "--config", "--import-map", "--lock"], &[])
    },
    interpreter(&["ruby", "jruby"], &["-I", "-r", "-C", "-E"], &['e']),
    interpreter(&["perl"], &["-I"], &['e']),
    interpreter(&["php"], &["-d", "-c"], &['r']),
    interpreter(&["lua", "luajit"], &["-l", "-e"], &[]),
    interpreter(&["rscript"], &["-e"], &[]),
    interpreter(&["julia"], &["-J", "-L", "-p", "-t"], &['e', 'E']),
    interpreter(&["tclsh", "wish", "expect"], &[], &['c']),
];

/// Programs and words of a shell that start the command behind them.
///
/// The list only matters for definitions of commands: elsewhere an interpreter is looked for behind
/// any program.
const WRAPPERS: [&str; 27] = [
    "env", "exec", "command", "sudo", "doas", "nohup", "time", "nice", "ionice", "timeout",
    "stdbuf", "setsid", "taskset", "busybox", "xvfb-run", "uv", "poetry", "pipenv", "npx", "bunx",
    "if", "then", "else", "do", "!", "{", "(",
];

impl Interpreter {
    /// The interpreter of this name, with a version or not: `/usr/bin/python3.12`.
    fn of(word: &str) -> Option<&'static Interpreter> {
        let name = program_name(word).to_ascii_lowercase();
        let plain = match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "" => name.as_str(),
            plain => plain,
        };
        INTERPRETERS.iter().find(|it| it.names.contains(&plain))
    }

    /// The script among the words behind the interpreter.
    ///
    /// ```text
    /// python3 -W ignore srv.py    srv.py: `-W` has a value
    /// python3 -c CODE             none: the code is in the command
    /// deno run srv.ts             srv.ts: `run` may stand before it
    /// node -- srv.js              srv.js
    /// ```
    fn script<'w>(&self, words: &'w [String]) -> Option<&'w str> {
        let mut n = 0;
        loop {
            let word = words.get(n)?.as_str();
            match word {
                "-" | "--eval" | "--print" | "-E" if self.inline.contains(&'e') => return None,
                "-" => return None,
                "--" => return words.get(n + 1).map(String::as_str),
                _ if self.values.contains(&word) => n += 2,
                _ if self.is_inline(word) => return None,
                _ if word.starts_with(['-', '+']) => n += 1,
                _ if n == 0 && self.commands.contains(&word) => n += 1,
                _ => return Some(word),
            }
        }
    }

    /// Whether a group of short options ends with one that has code: `-lc`, `-ne`. Options with a
    /// value in the same word, such as `-Mstrict`, begin with a capital letter.
    fn is_inline(&self, word: &str) -> bool {
        let letters = word.strip_prefix('-').unwrap_or_default();
        letters.chars().all(|c| c.is_ascii_lowercase()) && letters.ends_with(self.inline)
    }
}

/// The interpreter of a command line, and which word it is: the first one, or one behind `env`,
/// `timeout 5`, `A=1` and the like. Behind any program where words are not names of commands:
/// `strace -f sh job`.
fn interpreter_of(line: &[String], plain: PlainWords) -> Option<(usize, &'static Interpreter)> {
    let first = line.first()?;
    if let Some(interpreter) = Interpreter::of(first) {
        return Some((0, interpreter));
    }
    let is_wrapper = WRAPPERS.contains(&program_name(first)) || first.contains('=');
    if plain == PlainWords::Commands && !is_wrapper {
        return None;
    }
    let mut words = line.iter().enumerate().skip(1);
    words.find_map(|(n, word)| Some((n, Interpreter::of(word)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(line: &str) -> Vec<String> {
        let words = split_words(line).expect("words");
        let found = code_words(&words, PlainWords::Commands).into_iter();
        found.filter(|word| word.is_script).map(|word| word.path).collect()
    }

    #[test]
    fn what_an_interpreter_runs() {
        for (line, expected) in [
            ("sh job", &["job"][..]),
            ("sh -x -o errexit job data", &["job"]),
            ("/bin/bash -- job", &["job"]),
            ("env A=1 ksh93 job", &["job"]),
            ("timeout 5 sh job", &["job"]),
            ("python3.12 -u srv data", &["srv", "srv/__main__.py"]),
            ("python3 -W ignore srv/", &["srv/", "srv/__main__.py"]),
            ("node srv", &["srv", "srv.js", "srv/index.js", "srv/package.json"]),
            ("deno run -A job", &["job"]),
            ("perl -Mstrict -w job", &["job"]),
            ("php -f job", &["job"]),
            ("sh -c 'exec sh job'", &["job"]),
            ("sh -c 'strace -f sh job'", &["job"]),
            ("julia -t 4 --project=. job", &["job"]),
            ("tclsh8.6 job", &["job"]),
            ("sh -c 'cd a && cd b; . ./job'", &["a/b/./job", "./job"]),
            ("python3 -mlib", &["lib.py", "lib/__main__.py", "lib/__init__.py"]),
            ("python3 -um lib", &["lib.py", "lib/__main__.py", "lib/__init__.py"]),
            (
                "python3 -m a.b x",
                &["a/b.py", "a/b/__main__.py", "a/b/__init__.py", "a/__init__.py"],
            ),
            // Not scripts: code, input, names of commands and data.
            ("sh -c job", &[]),
            ("bash -s job", &[]),
            ("perl -ne code job", &[]),
            ("node -e code job", &[]),
            ("git status sh", &[]),
            ("python3", &[]),
        ] {
            assert_eq!(scripts(line), expected, "{line}");
        }
    }

    #[test]
    fn words_that_cannot_be_files_are_not_looked_for() {
        let words = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let found = code_words(&words, PlainWords::Commands).into_iter();
            found.map(|it| it.path).collect::<Vec<String>>()
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(words(&["git", "status"]), none);
        assert_eq!(words(&["sh", &"x".repeat(300)]), none);
        assert_eq!(words(&["sh", "a\nb"]), none);
        assert_eq!(words(&["git", "a/b", "c.py"]), ["a/b", "c.py"]);
        assert_eq!(words(&["./git", "status"]), ["./git"]);
    }
}
