//! What is wrong with the settings of a server, found without starting it: secrets that stand in
//! them, packages without a version, downloads that a shell runs, and plain http.
//!
//! ```text
//! servers file ─ servers_file ─┐                       ┌─ secrets ─────▶ LITERAL_SECRET, …
//!                              ├─▶ WrittenServer<P> ───┼─ packages ────▶ UNPINNED_PACKAGE
//! toolwright.toml ─ config ────┘                       ├─ shells ──────▶ PIPE_TO_SHELL
//!                                                      └─ plain_http ──▶ PLAIN_HTTP
//! ```
//!
//! The rules see texts as they are written, with `${VAR}` and not its value: a value is the
//! business of the machine, the text is that of everybody who reads the file. They are advice, so
//! none keeps a server from starting. The only mistakes that do are in `start`: a command or a
//! directory that is missing. That is the only check that looks at the machine; it also finds
//! scripts that are missing.
//!
//! No message quotes a value. A label such as the name of a variable is quoted, unless it holds a
//! secret itself.

mod labels;
mod packages;
mod plain_http;
mod secrets;
mod shell_lines;
mod shells;
mod start;
mod value_parts;

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use toolwright_model::{Connection, Server};
use toolwright_source::words::split_words;
use toolwright_source::{
    Diagnostic, DiagnosticCode, DocumentPath, Edit, Finding, Fix, Safety, Source, TextEdit,
};

pub(crate) use labels::names_secret;
pub(crate) use secrets::{SecretVariables, masked_text, masked_words, replaced};
pub(crate) use start::{MissingPart, missing_parts};

use crate::config::ConfigPlace;

/// A text of the settings as it is written, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenText<P> {
    /// The text, with references such as `${VAR}` in it.
    pub(crate) text: String,
    /// Its place: a path in a servers file, bytes in a configuration.
    pub(crate) at: P,
}

/// How the client that owns a file refers to an environment variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReferenceStyle {
    /// `${VAR}`
    #[default]
    Plain,
    /// `${env:VAR}`, in VS Code and Cursor
    Env,
}

impl ReferenceStyle {
    /// The reference to a variable.
    fn reference(self, variable: &str) -> String {
        match self {
            ReferenceStyle::Plain => format!("${{{variable}}}"),
            ReferenceStyle::Env => format!("${{env:{variable}}}"),
        }
    }
}

/// The settings of one server as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenServer<P> {
    /// The name of the server, from which names of variables are made.
    pub(crate) name: String,
    /// The place of the whole entry.
    pub(crate) at: P,
    /// Whether the file switches it off. Its secrets are still in the file.
    pub(crate) disabled: bool,
    /// The program and its arguments.
    pub(crate) command: Vec<WrittenText<P>>,
    pub(crate) environment: Vec<(String, WrittenText<P>)>,
    pub(crate) headers: Vec<(String, WrittenText<P>)>,
    pub(crate) url: Option<WrittenText<P>>,
    pub(crate) directory: Option<WrittenText<P>>,
    /// The texts of settings that have no effect here, such as `oauth.clientSecret`, each with the
    /// key that it is the value of.
    pub(crate) other_values: Vec<(String, WrittenText<P>)>,
    /// How a fix has to write a reference in this file.
    pub(crate) style: ReferenceStyle,
}

impl<P> WrittenServer<P> {
    /// All texts in which references may stand.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let pairs = self.environment.iter().chain(&self.headers).chain(&self.other_values);
        let pairs = pairs.map(|(_, value)| value);
        let texts = self.command.iter().chain(pairs).chain(&self.url).chain(&self.directory);
        texts.map(|value| value.text.as_str())
    }
}

/// Something wrong with the settings of a server.
#[derive(Debug)]
pub(crate) struct ServerFinding<P> {
    pub(crate) code: &'static DiagnosticCode,
    pub(crate) at: P,
    pub(crate) message: String,
    pub(crate) help: String,
    /// Another text for the value at `at`, and what that does, as an imperative. It can change what
    /// the server does, so it is never made without being asked for.
    pub(crate) replacement: Option<(String, String)>,
    /// The bytes of each secret in the value, and the variable that stands for it in `replacement`.
    pub(crate) secrets: Vec<(Range<usize>, String)>,
}

impl<P: Clone> ServerFinding<P> {
    /// A finding without a replacement.
    fn new(
        code: &'static DiagnosticCode,
        at: &P,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ServerFinding<P> {
        ServerFinding {
            code,
            at: at.clone(),
            message: message.into(),
            help: help.into(),
            replacement: None,
            secrets: Vec::new(),
        }
    }
}

impl ServerFinding<DocumentPath> {
    /// The finding as one about a servers file.
    ///
    /// Its replacement becomes a repair by path, which is planned with the text of the file.
    pub(crate) fn in_file(self) -> Finding {
        let ServerFinding { code, at, message, help, replacement, .. } = self;
        let finding = Finding::new(code, at.clone(), message).help(help);
        match replacement {
            Some((title, text)) => {
                finding.repair(Safety::Unsafe, title, vec![Edit::Replace(at, text.into())])
            }
            None => finding,
        }
    }
}

impl ServerFinding<ConfigPlace> {
    /// The finding as one about the configuration with this text.
    ///
    /// A fix is offered only for a whole value: the bytes of a word in a command line are not
    /// known.
    pub(crate) fn in_config(self, source: &Arc<Source>) -> Diagnostic {
        let ServerFinding { code, at, message, help, replacement, .. } = self;
        let mut diagnostic = Diagnostic::at(code, source, at.span, message).help(help);
        diagnostic.path = at.path;
        // A string of JSON is one of TOML.
        diagnostic.fix = replacement.filter(|_| at.is_whole_value).map(|(title, text)| {
            let text = serde_json::Value::from(text).to_string();
            Fix { title, safe: false, edits: vec![TextEdit { span: at.span, text }] }
        });
        diagnostic
    }
}

/// Everything that is wrong with one server. `variables` are those of the whole file, to which the
/// variables of this server's secrets are added.
///
/// Also for a server that is switched off, as far as secrets go. The order of the findings is that
/// of the rules; callers sort by place.
pub(crate) fn check_server<P: Clone>(
    server: &WrittenServer<P>,
    variables: &mut SecretVariables,
) -> Vec<ServerFinding<P>> {
    let mut found = secrets::check(server, variables);
    // How a server is started does not matter while it is switched off.
    if !server.disabled {
        found.extend(packages::check(server));
        found.extend(shells::check(server));
        found.extend(plain_http::check(server));
    }
    found
}

/// The connection as messages and `show` may print it: with references instead of their values, and
/// with `***` instead of secrets. `like` tells which kind of connection it is.
///
/// Only the texts of `server` are used, so an expanded value can never be printed.
pub(crate) fn shown_connection<P>(server: &WrittenServer<P>, like: &Connection) -> Connection {
    let words = || {
        let words: Vec<&str> = server.command.iter().map(|word| word.text.as_str()).collect();
        secrets::masked_words(&words)
    };
    let url = || server.url.as_ref().map_or_else(String::new, |url| secrets::masked_url(&url.text));
    match like {
        Connection::Stdio { .. } => Connection::Stdio { command: words() },
        Connection::Http { .. } => Connection::Http { url: url() },
        Connection::Sse { .. } => Connection::Sse { url: url() },
        Connection::WebSocket { .. } => Connection::WebSocket { url: url() },
    }
}

/// A connection without its secrets, for servers of the command line and of definitions, whose
/// texts have no other form.
pub fn masked_connection(connection: &Connection) -> Connection {
    match connection {
        Connection::Stdio { command } => {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            Connection::Stdio { command: secrets::masked_words(&words) }
        }
        Connection::Http { url } => Connection::Http { url: secrets::masked_url(url) },
        Connection::Sse { url } => Connection::Sse { url: secrets::masked_url(url) },
        Connection::WebSocket { url } => Connection::WebSocket { url: secrets::masked_url(url) },
    }
}

/// A command line of the settings: the words, and the number of the argument that each is from.
/// Lines that a shell splits are split here, too.
///
/// Words that are borrowed are arguments as they are; words of a shell's line are made.
struct CommandLine<'t> {
    words: Vec<(usize, Cow<'t, str>)>,
}

/// Words of one command line that are looked at. Real ones have a few dozen.
const MAX_WORDS: usize = 1_000;

/// The last part of a path: `npx` for `/usr/bin/npx` and `npx.cmd`.
pub(crate) fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    [".exe", ".cmd", ".bat"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// What a server starts, as it is on every machine: the package with its version, or the program
/// and its script or module. Code in the words of the command, such as that of `sh -c`, counts by
/// its hash.
pub(crate) fn started_program(command: &[String], shown: &[String]) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    let lines = CommandLine::all(&words);
    let Some((own, in_shell)) = lines.split_first() else { return String::new() };
    let own = start::started(own);
    // As it is shown: a secret in it is not the same for everybody.
    let Some((_, text)) = shell_texts(&shown).into_iter().next() else { return own };
    let parts = in_shell.iter().map(start::started).filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.collect();
    let hash = crate::content_hash::hash(text);
    format!("{own} -c {} {hash}", parts.join(", "))
}

/// The file of the program that a server starts, behind `env` and the like. `path` is the `PATH`
/// that programs inherit.
pub fn started_path(server: &Server, path: Option<&str>) -> Option<PathBuf> {
    let Connection::Stdio { command } = &server.connection else { return None };
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let line = CommandLine::all(&words).into_iter().next()?;
    let (_, program) = line.words.first()?;
    let found = start::program_files(server, program, path).into_iter().find(|it| it.is_file())?;
    Some(std::path::absolute(&found).unwrap_or(found))
}

/// The parts of the texts that shells run in a command line.
pub(crate) fn shell_words(command: &[String]) -> Vec<String> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let parts = shell_texts(&words).into_iter();
    parts.flat_map(|(_, text)| text.split(SHELL_SEPARATORS).map(str::to_owned)).collect()
}

/// What separates commands in a line of a shell.
const SHELL_SEPARATORS: [char; 4] = ['|', '&', ';', '\n'];

/// The shells that run the text after `-c`.
const SHELLS: [&str; 7] = ["sh", "bash", "zsh", "dash", "ksh", "fish", "ash"];

/// The texts that a shell runs, with the number of the argument that each is.
///
/// ```text
/// ["bash", "-lc", "a | b"]              2: "a | b"
/// ["env", "A=1", "sh", "-c", "x"]       4: "x"
/// ["pwsh", "-Command", "y"]             2: "y"
/// ```
///
/// A shell is found at any place, so a word `sh` that is an argument counts as one, too: a rule
/// then looks at more than is run.
fn shell_texts<'t>(words: &[&'t str]) -> Vec<(usize, &'t str)> {
    let mut texts = Vec::new();
    for (n, word) in words.iter().enumerate().take(MAX_WORDS) {
        let name = program_name(word).to_ascii_lowercase();
        if SHELLS.contains(&name.as_str()) {
            // `-c`, `-lc`, `-l -c`: options come before the text.
            let options = words[n + 1..].iter().take_while(|word| word.starts_with('-')).count();
            let is_code = |word: &&str| !word.starts_with("--") && word.ends_with('c');
            if words[n + 1..n + 1 + options].iter().any(is_code)
                && let Some(text) = words.get(n + 1 + options)
            {
                texts.push((n + 1 + options, *text));
            }
        } else if ["powershell", "pwsh", "cmd"].contains(&name.as_str()) {
            // What follows the option is one line, in one word or in several.
            let option = words[n + 1..].iter().position(|word| {
                ["-command", "-c", "/c", "/k"].contains(&word.to_ascii_lowercase().as_str())
            });
            let first = option.map(|option| n + 1 + option + 1);
            texts.extend(first.and_then(|first| Some((first, *words.get(first)?))));
        }
    }
    texts
}

impl<'t> CommandLine<'t> {
    /// The command lines in the words of a command: that of the words themselves, without what
    /// only sets its environment, and those that shells run.
    fn all(words: &[&'t str]) -> Vec<CommandLine<'t>> {
        let own = words.iter().take(MAX_WORDS).enumerate();
        let own = own.map(|(n, word)| (n, Cow::Borrowed(*word))).collect();
        let mut lines = vec![CommandLine { words: own }];
        for (n, text) in shell_texts(words) {
            for part in text.split(SHELL_SEPARATORS).take(MAX_WORDS) {
                let words = split_words(part).unwrap_or_default();
                let words = words.into_iter().take(MAX_WORDS).map(|word| (n, word.into()));
                lines.push(CommandLine { words: words.collect() });
            }
        }
        lines.iter_mut().for_each(CommandLine::skip_wrappers);
        lines
    }

    /// Removes `env A=B`, `cmd /c`, `exec` and the like from the front.
    ///
    /// `["env", "A=1", "npx", "x"]` becomes `["npx", "x"]`. Options of a wrapper with a value in
    /// the next word are not known, and that word would be taken for the program.
    fn skip_wrappers(&mut self) {
        let mut start = 0;
        while let Some((_, word)) = self.words.get(start) {
            let is_setting = |word: &str| {
                word.split_once('=')
                    .is_some_and(|(name, _)| crate::text_forms::is_variable_name(name))
            };
            match program_name(word) {
                "env" | "exec" | "sudo" | "nohup" | "time" | "cmd" | "wsl" => {
                    start += 1;
                    let options = self.words[start..].iter();
                    start += options
                        .take_while(|(_, word)| {
                            word.starts_with('-') || matches!(&**word, "/c" | "/C" | "/k")
                        })
                        .count();
                }
                _ if start > 0 && is_setting(word) => start += 1,
                _ => break,
            }
        }
        self.words.drain(..start);
    }

    /// The name of the program.
    fn program(&self) -> &str {
        self.words.first().map_or("", |(_, word)| program_name(word))
    }
}
