//! The secrets in the words of a command: values of options, and those in lines that a shell runs,
//! which are split into commands and words first.
//!
//! The person who is asked whether a command may run must see all that it runs. So an argument that
//! may be a line of commands is split like one, and no secret reaches beyond its word or into
//! `$(…)`.

use std::ops::Range;

use super::labels::{before_substitution, url_password};
use super::value_parts::{ValuePart, add_parts, labelled_value, split_label, text_parts, unquoted};
use super::{MAX_WORDS, program_name, shell_texts};
use crate::text_forms::is_variable_name;

/// What ends a word in the line of a shell, so that what follows may be a command.
const JOINS_COMMANDS: [char; 8] = [';', '|', '&', '(', ')', '`', '<', '>'];

/// Lines of shells inside of lines of shells that are looked into.
const MAX_SHELLS: usize = 3;

/// The secrets in the words of a command, a list for each word.
///
/// The first of these that applies decides about a word:
///
/// ```text
/// it may be a line of a shell      split, and each command judged like this one
/// -u ann:horse                     the password behind the colon
/// --token=x, TOKEN=x               the label before the sign
/// -px                              the short option, if the rest looks random
/// x behind --token                 the option before it
/// ```
///
/// `depth` counts lines inside of lines.
pub(super) fn parts_of_words(words: &[&str], depth: usize) -> Vec<Vec<ValuePart>> {
    let lines: Vec<usize> = shell_texts(words).into_iter().map(|(n, _)| n).collect();
    let programs = ProgramsOfOptions::of(words);
    let parts = |(n, word): (usize, &&str)| {
        // `--api-key VALUE`. The program itself is not an option.
        let before = n.checked_sub(1).filter(|before| *before > 0).map_or("", |n| words[n]);
        let is_value = before.starts_with('-') && !before.contains('=') && !word.starts_with('-');
        let option = Some(before).filter(|_| is_value).unwrap_or_default();
        // A whole line in the place of the program is a mistake that is reported, too; and a
        // program that is unknown here may run its argument as a line.
        let has_gap = word.contains(char::is_whitespace);
        let is_line = lines.contains(&n)
            || has_gap && (n == 0 || word.contains(JOINS_COMMANDS) || sets_variable(option, word));
        if is_line && depth < MAX_SHELLS {
            return parts_of_line(word, depth + 1);
        }
        let mut parts = text_parts(word);
        if let Some((option, start)) = programs.user_option(option, word) {
            add_parts(&mut parts, programs.user_password(option, &word[start..], start));
        } else if let Some((label, start)) = split_label(word) {
            add_parts(&mut parts, labelled_value(label, &word[start..], start));
        } else if let Some(option) = attached_option(word).filter(|it| !programs.knows(it)) {
            add_parts(&mut parts, labelled_value(option, &word[2..], 2));
        }
        // `--token 123456:VALUE` has a label before the colon that says nothing.
        if parts.is_empty() && !option.is_empty() && !programs.knows(option) {
            parts = labelled_value(option, word, 0);
        }
        parts
    };
    words.iter().enumerate().map(parts).collect()
}

/// Whether a word is `NAME=value command` as a shell reads it, and not the value of an option that
/// sets a variable.
fn sets_variable(option: &str, word: &str) -> bool {
    let Some((name, value)) = word.split_once('=') else { return false };
    !matches!(option, "-e" | "--env") && is_variable_name(name) && !value.starts_with(['"', '\''])
}

/// The option in `-pVALUE`, where only a random word is a secret.
fn attached_option(word: &str) -> Option<&str> {
    ["-p", "-k", "-t"].into_iter().find(|option| word.starts_with(option))
}

/// What short options mean to the programs of a command line. Any word may be the program: others
/// such as `sudo` and `npx` come before it.
struct ProgramsOfOptions {
    /// Options that have nothing to do with secrets.
    known: Vec<&'static str>,
    is_curl: bool,
}

impl ProgramsOfOptions {
    /// Programs whose options `-t`, `-p`, `-k` or `-u` stand for a terminal, a patch or a user, so
    /// that a container, pod, revision or group follows, or nothing.
    const KNOWN: &[(&str, &[&str])] = &[
        ("docker", &["-t", "-u", "--user"]),
        ("docker-compose", &["-t", "-u", "--user"]),
        ("podman", &["-t", "-u", "--user"]),
        ("nerdctl", &["-t", "-u", "--user"]),
        ("kubectl", &["-t", "-p", "-k", "-u", "--user"]),
        ("oc", &["-t", "-p", "-k", "-u", "--user"]),
        ("ssh", &["-t"]),
        ("tmux", &["-t"]),
        ("git", &["-t", "-p", "-k", "-u"]),
        ("python", &["-u"]),
        ("python3", &["-u"]),
        ("sudo", &["-u", "--user"]),
    ];

    fn of(words: &[&str]) -> ProgramsOfOptions {
        let mut programs = ProgramsOfOptions { known: Vec::new(), is_curl: false };
        for word in words.iter().take(MAX_WORDS) {
            let name = program_name(word);
            let options = ProgramsOfOptions::KNOWN.iter().filter(|(known, _)| *known == name);
            programs.known.extend(options.flat_map(|(_, options)| options.iter()));
            programs.is_curl |= name == "curl";
        }
        programs
    }

    /// Whether the option has a meaning to a program of the line that is not a secret.
    fn knows(&self, option: &str) -> bool {
        self.known.contains(&option)
    }

    /// The option that a word gives a user and a password to, and where they begin in it, as in
    /// `curl -u ann:horse`. `before` is the option before the word, if any.
    ///
    /// Forms: `-u ann:horse`, `--user=ann:horse`, and of curl also `-uann:horse`.
    fn user_option<'w>(&self, before: &'w str, word: &'w str) -> Option<(&'w str, usize)> {
        let is_user = |option: &str| matches!(option, "-u" | "--user");
        let found = match word.split_once('=') {
            _ if is_user(before) => (before, 0),
            Some((option, _)) if is_user(option) => (option, option.len() + 1),
            _ if self.is_curl && word.starts_with("-u") => (&word[..2], 2),
            _ => return None,
        };
        (self.is_curl || !self.knows(found.0)).then_some(found)
    }

    /// The password in `user:password`. Of programs other than curl it may be something else with a
    /// colon: a port, a group, or a path on another machine.
    fn user_password(&self, option: &str, value: &str, start: usize) -> Option<ValuePart> {
        let (quote, value) = unquoted(value);
        let (user, rest) = value.split_once(':')?;
        let (inner_quote, rest) = unquoted(rest);
        let password = before_substitution(rest);
        let is_number = password.bytes().all(|byte| byte.is_ascii_digit());
        if !self.is_curl && (is_number || password == user || rest.contains(['/', ':'])) {
            return None;
        }
        let start = start + quote + user.len() + 1 + inner_quote;
        let named = (start..start + password.len(), url_password(password)?);
        Some(ValuePart::new(named, Some(option)))
    }
}

/// The secrets in a line that a shell runs.
fn parts_of_line(line: &str, depth: usize) -> Vec<ValuePart> {
    let mut parts = Vec::new();
    for command in commands_of_line(line) {
        let words: Vec<&str> = command.iter().map(|range| &line[range.clone()]).collect();
        for (range, found) in command.iter().zip(parts_of_words(&words, depth)) {
            add_parts(&mut parts, found.into_iter().map(|part| part.shifted(range.start)));
        }
    }
    parts
}

/// The commands of a line for a shell, each as the ranges of its words, without quotes around them.
/// Other than `split_words` it keeps the places and undoes no escapes.
///
/// ```text
/// A=1 run --token x | tee log     ─▶   [A=1, run, --token, x], [tee, log]
/// ```
///
/// Quotes are followed so that a separator inside of one is text. A line that ends inside a quote
/// ends its last word there.
fn commands_of_line(line: &str) -> Vec<Vec<Range<usize>>> {
    let mut commands: Vec<Vec<Range<usize>>> = vec![Vec::new()];
    let (mut start, mut quote) = (None, None);
    let end_word = |start: &mut Option<usize>, end: usize, command: &mut Vec<Range<usize>>| {
        let Some(start) = start.take() else { return };
        let (quote, inner) = unquoted(&line[start..end]);
        command.push(start + quote..start + quote + inner.len());
    };
    let mut words = 0;
    for (at, c) in line.char_indices() {
        let command = commands.last_mut().expect("it never is empty");
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => {
                quote = Some(c);
                start.get_or_insert(at);
            }
            (None, c) if c.is_whitespace() || matches!(c, '<' | '>') => {
                end_word(&mut start, at, command);
            }
            (None, c) if JOINS_COMMANDS.contains(&c) => {
                end_word(&mut start, at, command);
                commands.push(Vec::new());
            }
            (None, _) if start.is_none() => {
                start = Some(at);
                words += 1;
            }
            _ => {}
        }
        if words > MAX_WORDS {
            return commands;
        }
    }
    let command = commands.last_mut().expect("it never is empty");
    end_word(&mut start, line.len(), command);
    commands
}
