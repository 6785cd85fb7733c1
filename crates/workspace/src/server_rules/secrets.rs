//! LITERAL_SECRET: keys, tokens and passwords that stand in the settings of a server; and
//! PLACEHOLDER_VALUE where the settings still say what belongs there.
//!
//! A value is a secret in three ways. Its form shows it, wherever it stands: the tokens that
//! `toolwright_check::secrets_in` knows. Its place does: the password of a URL, a random segment in
//! the address of a server. Or its label does: the name of a variable, a header, an option, a
//! member of JSON or a parameter of an address. A label alone is not enough, so the value has to
//! look like one: not a reference, a path, a number, a switch, or the name of a setting.
//!
//! ```text
//! words of a command ─┬─ line of a shell, split into words ─┐
//!                     └─ label and value ───────────────────┤
//! variable, header ───── label and value ───────────────────┼─ text_parts ─▶ ValuePart
//! address ──────────────────────────────────────────────────┘
//! ```
//!
//! The replacement puts a reference in the place of the secret. Masking, for everything that prints
//! settings, uses the same parts, so a secret that is reported is never shown.

use std::ops::Range;

use toolwright_model::is_path_token;
use toolwright_source::words::shorten;

use super::labels::{PartKind, named_secret, url_password, words_of};
use super::{MAX_WORDS, ServerFinding, WrittenServer, WrittenText, program_name, shell_texts};
use crate::codes::{LITERAL_SECRET, PLACEHOLDER_VALUE};
use crate::text_forms::is_variable_name;

/// Reports the secrets and the placeholders of a server, one finding for each value.
pub(super) fn check<P: Clone>(server: &WrittenServer<P>) -> Vec<ServerFinding<P>> {
    let mut found = Vec::new();
    for (name, value) in &server.environment {
        let mut parts = labelled_value(name, &value.text, 0);
        // The whole value becomes the variable of the same name: that is what `env` is for.
        parts.sort_by_key(|part| !part.is_secret());
        parts.truncate(1);
        parts.iter_mut().for_each(|part| part.range = 0..value.text.len());
        let label = format!("`{}`", shorten(name));
        found.extend(finding(server, value, &parts, &label, |_| variable_name(name)));
    }
    for (name, value) in &server.headers {
        let parts = labelled_value(name, &value.text, 0);
        let label = format!("the header `{}`", shorten(name));
        let variable = |_: &ValuePart| variable_of(server, Some(name));
        found.extend(finding(server, value, &parts, &label, variable));
    }
    let by_label = |part: &ValuePart| variable_of(server, part.label.as_deref());
    let words: Vec<&str> = server.command.iter().map(|word| word.text.as_str()).collect();
    for (value, parts) in server.command.iter().zip(parts_of_words(&words, 0)) {
        let label = first_label(&parts);
        let label = label.map_or("an argument".to_owned(), |label| format!("`{}`", shorten(label)));
        found.extend(finding(server, value, &parts, &label, by_label));
    }
    if let Some(url) = &server.url {
        let parts = parts_of_url(&url.text);
        let label = first_label(&parts);
        let label = label.map_or("the address".to_owned(), |label| {
            format!("`{}` in the address", shorten(label))
        });
        found.extend(finding(server, url, &parts, &label, by_label));
    }
    found
}

/// The label of the first secret, or of the first placeholder if there is no secret.
fn first_label(parts: &[ValuePart]) -> Option<&str> {
    parts.iter().find(|part| part.is_secret()).or(parts.first())?.label.as_deref()
}

/// The finding about the parts of one value; `None` if it has none. `label` names the value, and
/// `variable` the environment variable that could hold a part.
fn finding<P: Clone>(
    server: &WrittenServer<P>,
    value: &WrittenText<P>,
    parts: &[ValuePart],
    label: &str,
    variable: impl Fn(&ValuePart) -> String,
) -> Option<ServerFinding<P>> {
    let secret = parts.iter().find(|part| part.is_secret());
    let first = server.style.reference(&variable(secret.or(parts.first())?));
    // A label may be made of a secret, as in `--ghp_…=1`.
    let label = if toolwright_check::secrets_in(label).is_empty() { label } else { "a value" };
    Some(match secret.map(|part| part.kind) {
        Some(PartKind::Secret(what)) => {
            let message = format!("{label} holds {what} in plain text");
            let help = format!(
                "write `{first}`, set the environment variable, and revoke the secret if others \
                 could read this file"
            );
            // All of them at once: an edit is printed, and must not have another secret in it.
            let mut secrets: Vec<(Range<usize>, String)> = Vec::new();
            for part in parts.iter().filter(|part| part.is_secret()) {
                let name = variable(part);
                let is_free = |name: &String| {
                    let same = |(range, known): &(Range<usize>, String)| {
                        known == name && value.text[range.clone()] != value.text[part.range.clone()]
                    };
                    !secrets.iter().any(same)
                };
                let numbered = (2..).map(|n| format!("{name}_{n}"));
                let mut names = std::iter::once(name.clone()).chain(numbered);
                let name = names.find(is_free).expect("the numbers do not end");
                secrets.push((part.range.clone(), name));
            }
            let text = replaced(&value.text, &secrets, |name| server.style.reference(name));
            let title = format!("replace the secret by `{first}`");
            ServerFinding {
                replacement: Some((title, text)),
                secrets,
                ..ServerFinding::new(&LITERAL_SECRET, &value.at, message, help)
            }
        }
        _ => {
            let message = format!("{label} still holds a placeholder");
            let help = format!("write `{first}` and set the environment variable");
            ServerFinding::new(&PLACEHOLDER_VALUE, &value.at, message, help)
        }
    })
}

/// The words of a command with `***` in the place of secrets.
pub(crate) fn masked_words(words: &[&str]) -> Vec<String> {
    let parts = parts_of_words(words, 0);
    words.iter().zip(parts).map(|(word, parts)| mask(word, &parts)).collect()
}

/// An address with `***` in the place of secrets.
pub(super) fn masked_url(url: &str) -> String {
    mask(url, &parts_of_url(url))
}

/// Any text of the settings, such as a misplaced name, with `***` in the place of secrets.
pub(crate) fn masked_text(text: &str) -> String {
    mask(text, &parts_of_words(&["", text], 0)[1])
}

fn mask(text: &str, parts: &[ValuePart]) -> String {
    let secrets = parts.iter().filter(|part| part.is_secret());
    let secrets: Vec<(Range<usize>, String)> =
        secrets.map(|part| (part.range.clone(), String::new())).collect();
    replaced(text, &secrets, |_| "***".to_owned())
}

/// The text with another one in the place of each secret, made of the variable that stands for it.
/// The secrets do not overlap and are sorted.
pub(crate) fn replaced(
    text: &str,
    secrets: &[(Range<usize>, String)],
    by: impl Fn(&str) -> String,
) -> String {
    let mut replaced = text.to_owned();
    // From the end, so that the places of the others stay right.
    for (range, variable) in secrets.iter().rev() {
        replaced.replace_range(range.clone(), &by(variable));
    }
    replaced
}

/// A part of a value that is a secret or stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ValuePart {
    range: Range<usize>,
    kind: PartKind,
    /// The option, header or parameter that it is the value of.
    label: Option<String>,
}

impl ValuePart {
    fn is_secret(&self) -> bool {
        matches!(self.kind, PartKind::Secret(_))
    }

    /// The same part of a longer text, in which this text begins at `start`.
    fn shifted(mut self, start: usize) -> ValuePart {
        self.range = start + self.range.start..start + self.range.end;
        self
    }
}

/// Parts that are kept for one text. A hostile text may have any number.
const MAX_PARTS: usize = 1_000;

/// Bytes of a URL inside of a text that are looked at, for the same reason.
const MAX_URL: usize = 8 << 10;

/// Adds parts, so that the list stays sorted and none overlaps another. Two that overlap become one
/// that covers both, with the label of the first: more is hidden rather than less.
fn add_parts(parts: &mut Vec<ValuePart>, new: impl IntoIterator<Item = ValuePart>) {
    for mut part in new {
        if part.range.is_empty() {
            continue;
        }
        let overlaps = |known: &ValuePart| {
            known.range.start < part.range.end && part.range.start < known.range.end
        };
        let (with, mut others): (Vec<_>, Vec<_>) = parts.drain(..).partition(overlaps);
        for known in with {
            part.range =
                known.range.start.min(part.range.start)..known.range.end.max(part.range.end);
            if known.is_secret() || !part.is_secret() {
                (part.kind, part.label) = (known.kind, known.label.or(part.label));
            }
        }
        if others.len() < MAX_PARTS {
            let at = others.partition_point(|known| known.range.start < part.range.start);
            others.insert(at, part);
        }
        *parts = others;
    }
}

/// The secrets in a text that show by their form.
fn known_secrets(text: &str) -> Vec<ValuePart> {
    let found = toolwright_check::secrets_in(text).into_iter();
    found
        // `url_parts` finds passwords of URLs, also short ones.
        .filter(|(_, what)| *what != "a URL with a password")
        .map(|(range, what)| {
            let secret = &text[range.clone()];
            // Of an Azure connection string only the key.
            let range = match what {
                "an Azure account key" => {
                    range.start + secret.find('=').map_or(0, |at| at + 1)..range.end
                }
                _ => range,
            };
            let what = if what == "a secret with its label" { "a secret" } else { what };
            ValuePart { range, kind: PartKind::Secret(what), label: None }
        })
        .collect()
}

/// The secrets in a text without a label of its own: tokens, parts of URLs, members of JSON, and
/// values of pairs such as `Password=…;`.
fn text_parts(text: &str) -> Vec<ValuePart> {
    let mut parts = known_secrets(text);
    parts.sort_by_key(|part| part.range.start);
    for (at, _) in text.match_indices("://").take(MAX_PARTS) {
        let before = text[..at].bytes().rev();
        let scheme =
            before.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'+').count();
        let is_end = |c: char| c.is_whitespace() || "\"'`".contains(c);
        let longest = &text[at..text.floor_char_boundary(at + MAX_URL)];
        let (start, end) = (at - scheme, at + longest.find(is_end).unwrap_or(longest.len()));
        let url = url_parts(&text[start..end], PathTokens::OfServers);
        add_parts(&mut parts, url.into_iter().map(|part| part.shifted(start)));
    }
    add_parts(&mut parts, json_parts(text));
    add_parts(&mut parts, pair_parts(text));
    parts
}

/// The secrets in a value with a label, and the value itself if the label says that it is one.
/// `start` is where the value begins in the text that the ranges are for.
fn labelled_value(label: &str, value: &str, start: usize) -> Vec<ValuePart> {
    let (quote, value) = unquoted(value);
    let mut parts = text_parts(value);
    // `--env=API_KEY=…`
    if let Some((inner, at)) = split_label(value) {
        let named = named_secret(inner, &value[at..]);
        let label = Some(inner.to_owned());
        let part = named.map(|(range, kind)| ValuePart { range, kind, label }.shifted(at));
        add_parts(&mut parts, part);
    }
    let named = named_secret(label, value);
    add_parts(&mut parts, named.map(|(range, kind)| ValuePart { range, kind, label: None }));
    for part in &mut parts {
        // The variable that `docker run --env=API_KEY=…` sets says more than the option.
        if !part.label.as_deref().is_some_and(is_upper_variable) {
            part.label = Some(label.to_owned());
        }
    }
    parts.into_iter().map(|part| part.shifted(start + quote)).collect()
}

/// A text without the quotes around it, and how many bytes were before it.
fn unquoted(text: &str) -> (usize, &str) {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner {
            return (1, inner);
        }
    }
    (0, text)
}

/// What ends a word and begins another command in the line of a shell.
const JOINS_COMMANDS: [char; 6] = [';', '|', '&', '(', ')', '`'];

/// Lines of shells inside of lines of shells that are looked into.
const MAX_SHELLS: usize = 3;

/// The secrets in the words of a command, a list for each word.
fn parts_of_words(words: &[&str], depth: usize) -> Vec<Vec<ValuePart>> {
    let program = words.first().map_or("", |word| program_name(word));
    let lines: Vec<usize> = shell_texts(words).into_iter().map(|(n, _)| n).collect();
    let parts = |(n, word): (usize, &&str)| {
        // A whole line in the place of the program is a mistake that is reported, too; and a
        // program that is unknown here may run its argument as a line.
        let has_gap = word.contains(char::is_whitespace);
        let is_line = lines.contains(&n) || has_gap && (n == 0 || word.contains(JOINS_COMMANDS));
        if is_line && depth < MAX_SHELLS {
            return parts_of_line(word, depth + 1);
        }
        let mut parts = text_parts(word);
        let option = n.checked_sub(1).filter(|before| *before > 0).map_or("", |n| words[n]);
        if let Some((label, start)) = split_label(word) {
            add_parts(&mut parts, labelled_value(label, &word[start..], start));
        } else if let Some(value) = attached_value(word) {
            add_parts(&mut parts, labelled_value(&word[..2], value, 2));
        } else if option.starts_with('-') && !option.contains('=') && !word.starts_with('-') {
            // Not an option with a value: what follows is the image.
            if option == "-t" && IMAGE_RUNNERS.contains(&program) {
                return parts;
            }
            // `--api-key VALUE`. The program itself is not an option.
            add_parts(&mut parts, labelled_value(option, word, 0));
        }
        parts
    };
    words.iter().enumerate().map(parts).collect()
}

/// Programs whose option `-t` asks for a terminal.
const IMAGE_RUNNERS: [&str; 3] = ["docker", "podman", "nerdctl"];

/// The value in `-pVALUE`, where only a random word is one.
fn attached_value(word: &str) -> Option<&str> {
    ["-p", "-k", "-t"].iter().find_map(|option| word.strip_prefix(option))
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
            (None, c) if c.is_whitespace() || "<>".contains(c) => {
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

/// The label in `--token=VALUE`, `TOKEN=VALUE`, `$env:TOKEN=VALUE` and `Authorization: VALUE`, and
/// where the value begins.
fn split_label(word: &str) -> Option<(&str, usize)> {
    // PowerShell, and `docker run -eTOKEN=VALUE`.
    let is_name = |at: usize| word[at..].starts_with(|c: char| c.is_ascii_uppercase());
    let start = match word {
        _ if word.starts_with("$env:") => 5,
        _ if word.starts_with("-e") && is_name(2) => 2,
        _ => 0,
    };
    let is_label = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let len = word[start..].find(|c: char| !is_label(c)).filter(|len| (1..=80).contains(len))?;
    let end = start + len;
    let rest = &word[end..];
    // `C:\x` and `https://x` have no label.
    let is_separator = rest.starts_with('=') || rest.starts_with(':') && !rest.starts_with("://");
    (is_separator && len > 1).then(|| {
        let blank = rest[1..].len() - rest[1..].trim_start().len();
        (&word[start..end], end + 1 + blank)
    })
}

/// The members `"label": "value"` of JSON in a text, as options of servers have it.
fn json_parts(text: &str) -> Vec<ValuePart> {
    let mut parts = Vec::new();
    // The places of the quotes: each of them may end a label, begin a value, or both.
    let quotes: Vec<usize> =
        text.match_indices('"').map(|(at, _)| at).take(4 * MAX_PARTS).collect();
    for places in quotes.windows(4) {
        let &[open, close, start, end] = places else { continue };
        let (label, between) = (&text[open + 1..close], &text[close + 1..start]);
        // Inside of another string every quote has a backslash.
        let label = label.trim_end_matches('\\');
        if between.trim_matches([' ', '\\', '\n']) == ":" && label.len() <= 80 {
            let value = text[start + 1..end].trim_end_matches('\\');
            let named = named_secret(label, value);
            parts.extend(named.map(|(range, kind)| {
                ValuePart { range, kind, label: Some(label.to_owned()) }.shifted(start + 1)
            }));
        }
    }
    parts
}

/// The values of pairs in a text, as in `host=h password=x` and `Server=h;Password=x;`.
fn pair_parts(text: &str) -> Vec<ValuePart> {
    let mut parts = Vec::new();
    let mut start = 0;
    // Also at what joins commands: a masked line must still show all that it runs. Nothing
    // begins at `&`: `url_parts` knows where the query of a URL ends.
    let is_end = |c: char| c.is_whitespace() || ";,|<>(){}`".contains(c);
    for piece in text.split(is_end).take(MAX_PARTS) {
        if let Some((label, at)) = split_label(piece).filter(|(_, at)| piece[..*at].ends_with('='))
        {
            // A quoted value with a space in it is cut here, and found whole elsewhere.
            let value = piece[at..].trim_start_matches(['"', '\'']);
            let at = piece.len() - value.len();
            let value = value.split('&').next().unwrap_or_default();
            let named = named_secret(label, value.trim_end_matches(['"', '\'']));
            parts.extend(named.map(|(range, kind)| {
                ValuePart { range, kind, label: Some(label.to_owned()) }.shifted(start + at)
            }));
        }
        start += piece.len();
        start += text[start..].chars().next().map_or(0, char::len_utf8);
    }
    parts
}

/// In which addresses a random segment of the path is a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathTokens {
    /// In every one: it is the address of the server itself.
    Always,
    /// In those that look like the address of a server: other ones have ids and hashes there.
    OfServers,
}

/// The secrets in the address of a server.
fn parts_of_url(url: &str) -> Vec<ValuePart> {
    let mut parts = url_parts(url, PathTokens::Always);
    add_parts(&mut parts, text_parts(url));
    parts
}

/// The secrets in an address: its password, values of its query, and tokens in its path.
fn url_parts(url: &str, tokens: PathTokens) -> Vec<ValuePart> {
    let mut parts = Vec::new();
    let authority = url.find("://").map_or(url.len(), |at| at + 3);
    let host = url[authority..].find(['/', '?', '#']).map_or(url.len(), |at| authority + at);
    // A password may have `/` in it although it must not: then there is no port before it.
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = &url[authority..host];
    let is_cut = !first.contains('@')
        && !first.starts_with('[')
        && first.split_once(':').is_some_and(|(_, port)| !is_port(port));
    let user = if is_cut { &url[authority..] } else { first };
    // From the right, because a password may have `@` in it.
    let user_end = user.rfind('@').map(|at| authority + at);
    let host_start = user_end.map_or(authority, |end| end + 1);
    let host = url[host_start..].find(['/', '?', '#']).map_or(url.len(), |at| host_start + at);
    if let Some(end) = user_end
        && let Some(colon) = url[authority..end].find(':')
    {
        let range = authority + colon + 1..end;
        let kind = url_password(&url[range.clone()]);
        parts.extend(kind.map(|kind| ValuePart { range, kind, label: None }));
    }
    let query = url.find('?').map_or(url.len(), |at| at + 1);
    let path_end = url[host..].find(['?', '#']).map_or(url.len(), |at| host + at);
    let path = &url[host..path_end];
    let names_server = |text: &str| text.split(['/', '.', '-', ':']).any(|it| it == "mcp");
    let is_server =
        names_server(path) || names_server(&url[host_start..host]) || path.ends_with("/sse");
    if tokens == PathTokens::Always || is_server {
        let mut start = host;
        for segment in path.split('/') {
            let range = start..start + segment.len();
            if is_path_token(segment) {
                let kind = PartKind::Secret("a token");
                add_parts(&mut parts, [ValuePart { range, kind, label: None }]);
            }
            start += segment.len() + 1;
        }
    }
    let end = url[query..].find('#').map_or(url.len(), |at| query + at);
    let mut start = query;
    for pair in url[query..end].split('&').take(MAX_PARTS) {
        if let Some((name, value)) = pair.split_once('=') {
            let named = named_secret(name, value);
            let known = known_secrets(value);
            let named = named.map(|(range, kind)| ValuePart { range, kind, label: None });
            let found = named.into_iter().chain(known).map(|part| ValuePart {
                label: Some(name.to_owned()),
                ..part.shifted(start + name.len() + 1)
            });
            add_parts(&mut parts, found);
        }
        start += pair.len() + 1;
    }
    parts
}

/// Whether a label is the name of a variable, such as `GITHUB_TOKEN`.
fn is_upper_variable(label: &str) -> bool {
    is_variable_name(label) && label.contains('_') && label == label.to_uppercase()
}

/// A name as that of a variable: `X-Api-Key` is `X_API_KEY`.
fn variable_name(name: &str) -> String {
    if is_variable_name(name) {
        return name.to_owned();
    }
    let name = words_of(name).join("_");
    if is_variable_name(&name) { name } else { "SECRET".to_owned() }
}

/// The variable for a secret with this label: `--api-key` of the server `maps` is `MAPS_API_KEY`.
fn variable_of<P>(server: &WrittenServer<P>, label: Option<&str>) -> String {
    // `docker run -e GITHUB_TOKEN=…`
    if let Some(label) = label.filter(|label| is_upper_variable(label)) {
        return label.to_owned();
    }
    let mut words = label.map(words_of).unwrap_or_default();
    words.retain(|word| word != "X");
    // `Authorization` says who, not what.
    if words.is_empty() || words == ["AUTHORIZATION"] || words == ["COOKIE"] {
        words = vec!["TOKEN".to_owned()];
    }
    let server = words_of(&server.name);
    if words.first() != server.first() {
        words.splice(..0, server);
    }
    words.truncate(8);
    variable_name(&words.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server_rules::ReferenceStyle;

    /// A GitHub token that nobody has, made up here so that no scanner finds it in this file.
    fn github_token() -> String {
        format!("ghp_{}", "q8Zr5Tn2Wk7Lp0Vx3Bc6Md9Hs4Jf1Gy8Ra2E")
    }

    /// The id of something.
    const UUID: &str = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

    fn server() -> WrittenServer<usize> {
        WrittenServer {
            name: "my maps".to_owned(),
            at: 0,
            disabled: false,
            command: Vec::new(),
            environment: Vec::new(),
            headers: Vec::new(),
            url: None,
            directory: None,
            style: ReferenceStyle::Plain,
        }
    }

    /// What becomes of the value at its place, or what else is said about it.
    fn outcome(server: &WrittenServer<usize>) -> String {
        let found = check(server);
        let one = |f: &ServerFinding<usize>| match &f.replacement {
            Some((_, text)) => text.clone(),
            None => f.code.name.to_owned(),
        };
        found.iter().map(one).collect::<Vec<_>>().join(" | ")
    }

    fn texts(list: &[&str]) -> Vec<WrittenText<usize>> {
        list.iter()
            .enumerate()
            .map(|(at, text)| WrittenText { text: text.to_string(), at })
            .collect()
    }

    fn text(text: &str) -> WrittenText<usize> {
        WrittenText { text: text.to_owned(), at: 0 }
    }

    #[test]
    fn variables_and_headers_with_secrets_become_references() {
        let token = github_token();
        for (name, value, expected) in [
            ("GITHUB_TOKEN", token.as_str(), "${GITHUB_TOKEN}"),
            ("ANYTHING", &token, "${ANYTHING}"),
            ("API_TOKEN", "tok-9f8e7d6c", "${API_TOKEN}"),
            ("apiKey", "0123abcd4567", "${apiKey}"),
            ("DB_PASSWORD", "correct horse", "${DB_PASSWORD}"),
            ("CLIENT_SECRET", "s3same", "${CLIENT_SECRET}"),
            ("MAP_KEY", "0a1b2c3d4e5f6a7b8c9d", "${MAP_KEY}"),
            ("EXA_API_KEY", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "${EXA_API_KEY}"),
            ("DATABASE_URL", "postgres://ann:s3same@db/x", "${DATABASE_URL}"),
            ("DATABASE_URL", "postgres://ann:horse@db/x", "${DATABASE_URL}"),
            ("DATABASE_URL", "redis://:pw@db", "${DATABASE_URL}"),
            ("DATABASE_URL", "postgres://ann:s3/me@db/x", "${DATABASE_URL}"),
            ("DSN", "host=db user=ann password=horse", "${DSN}"),
            ("DB", "Server=db;User Id=sa;Password=horse;", "${DB}"),
            ("PGPASSWORD", "horse", "${PGPASSWORD}"),
            ("MYSQL_PWD", "horse", "${MYSQL_PWD}"),
            ("SMTP_PASS", "horse", "${SMTP_PASS}"),
            ("CLIENTSECRET", "horse", "${CLIENTSECRET}"),
            ("AUTHTOKEN", "opensesame", "${AUTHTOKEN}"),
            ("API_KEY", "abc123x", "${API_KEY}"),
            ("API_KEY_2", "abc123x", "${API_KEY_2}"),
            ("TOKEN_PROD", "opensesame", "${TOKEN_PROD}"),
            ("OPENAIKEY", "8c1f9a2b7e", "${OPENAIKEY}"),
            ("DB_PASSWORD", "$3same!", "${DB_PASSWORD}"),
            ("SETTINGS", r#"{"exaApiKey": "8c1f9a2b7e"}"#, "${SETTINGS}"),
            // Near misses.
            ("GITHUB_TOKEN", "${GITHUB_PAT}", ""),
            ("GITHUB_TOKEN", "$GITHUB_PAT", ""),
            ("GITHUB_TOKEN", "${input:github-token}", ""),
            ("GITHUB_TOKEN", "", ""),
            ("GITHUB_TOKEN", "op://vault/github/token", ""),
            ("TOKEN_FILE", "0123abcd4567efab", ""),
            ("SSL_KEY", "/etc/ssl/private/key-2024.pem", ""),
            ("TOKEN_URL", "https://h/oauth/token", ""),
            ("MAX_TOKENS", "4096", ""),
            ("MAX_TOKEN", "0123abcd4567", ""),
            ("TOKEN", "4096000000", ""),
            ("PRIMARY_KEY", "id", ""),
            ("SORT_KEY", "created_at_2", ""),
            ("PUBLIC_KEY", "0a1b2c3d4e5f6a7b8c9d", ""),
            ("AUTH_TOKEN", "keychain", ""),
            ("USE_PASSWORD", "true", ""),
            ("NODE_ENV", "production", ""),
            ("REQUEST_ID", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", ""),
            ("DATABASE_URL", "postgres://localhost/x", ""),
            ("DATABASE_URL", "postgres://ann:${PGPASSWORD}@db/x", ""),
            ("DATABASE_URL", "postgres://ann:$PGPASSWORD@db/x", ""),
            ("DSN", "host=db user=ann password=${PGPASSWORD}", ""),
            ("PWD", "horse", ""),
            ("AUTH", "none", ""),
            ("API_KEY", "none", ""),
            ("AUTH_TOKEN", "in-memory", ""),
            ("BYPASS", "horse", ""),
            ("MONKEY", "projectname2", ""),
            ("PROJECT", "8c1f9a2b7e4d", ""),
            ("PAGE", "https://www.example.com/9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c", ""),
            // Placeholders.
            ("GITHUB_TOKEN", "<your-token>", "PLACEHOLDER_VALUE"),
            ("API_KEY", "YOUR_API_KEY", "PLACEHOLDER_VALUE"),
            ("API_KEY", "changeme", "PLACEHOLDER_VALUE"),
            ("API_KEY", "xxxxxxxxxxxxxxxx", "PLACEHOLDER_VALUE"),
            ("GITHUB_TOKEN", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "PLACEHOLDER_VALUE"),
            ("GITHUB_TOKEN", "GITHUB_TOKEN", "PLACEHOLDER_VALUE"),
            ("DATABASE_URL", "postgres://user:password@db/x", "PLACEHOLDER_VALUE"),
            ("DATABASE_URL", "postgres://user:<password>@db/x", "PLACEHOLDER_VALUE"),
        ] {
            let environment = vec![(name.to_owned(), text(value))];
            assert_eq!(
                outcome(&WrittenServer { environment, ..server() }),
                expected,
                "{name}={value}"
            );
        }
        for (name, value, expected) in [
            ("Authorization", "Bearer tok-9f8e7d6c", "Bearer ${MY_MAPS_TOKEN}"),
            ("authorization", "Basic YW5uOnMzc2FtZQ==", "Basic ${MY_MAPS_TOKEN}"),
            ("X-API-Key", "0123abcd4567", "${MY_MAPS_API_KEY}"),
            ("Cookie", "sid=0123abcd4567", "${MY_MAPS_TOKEN}"),
            ("Authorization", "Bearer ${TOKEN}", ""),
            ("Authorization", "Bearer <token>", "PLACEHOLDER_VALUE"),
            ("Authorization", "Bearer", ""),
            ("Accept", "application/json", ""),
            ("X-Trace-Id", "0123abcd4567", ""),
        ] {
            let headers = vec![(name.to_owned(), text(value))];
            assert_eq!(
                outcome(&WrittenServer { headers, ..server() }),
                expected,
                "{name}: {value}"
            );
        }
    }

    #[test]
    fn arguments_with_secrets_become_references() {
        let token = github_token();
        let wrapped = format!("--header=Authorization: Bearer {token}");
        for (words, expected, shown) in [
            (&["x", &token][..], "${MY_MAPS_TOKEN}", "x ***"),
            (&["x", "--token", "tok-9f8e7d6c"], "${MY_MAPS_TOKEN}", "x --token ***"),
            (&["x", "--api-key=0123abcd4567"], "--api-key=${MY_MAPS_API_KEY}", "x --api-key=***"),
            (
                &["docker", "run", "-e", "GITHUB_TOKEN=tok-9f8e7d6c"],
                "GITHUB_TOKEN=${GITHUB_TOKEN}",
                "docker run -e GITHUB_TOKEN=***",
            ),
            (
                &["mcp-remote", "--header", "Authorization: Bearer tok-9f8e7d6c"],
                "Authorization: Bearer ${MY_MAPS_TOKEN}",
                "mcp-remote --header Authorization: Bearer ***",
            ),
            (
                &["x", &wrapped],
                "--header=Authorization: Bearer ${MY_MAPS_HEADER}",
                "x --header=Authorization: Bearer ***",
            ),
            (
                &["x", "postgres://ann:s3same@db/x"],
                "postgres://ann:${MY_MAPS_TOKEN}@db/x",
                "x postgres://ann:***@db/x",
            ),
            (
                &["x", "postgres://ann:horse@db"],
                "postgres://ann:${MY_MAPS_TOKEN}@db",
                "x postgres://ann:***@db",
            ),
            (
                &["sh", "-c", "API_KEY=8c1f9a2b exec srv"],
                "API_KEY=${API_KEY} exec srv",
                "sh -c API_KEY=*** exec srv",
            ),
            (
                &["sh", "-c", "export DB_PASSWORD='correct horse' && srv"],
                "export DB_PASSWORD='${DB_PASSWORD}' && srv",
                "sh -c export DB_PASSWORD='***' && srv",
            ),
            (
                &["bash", "-lc", "cd /x; srv --token 8c1f9a2b -p \"S3cr3tPassw0rd\""],
                "cd /x; srv --token ${MY_MAPS_TOKEN} -p \"${MY_MAPS_P}\"",
                "bash -lc cd /x; srv --token *** -p \"***\"",
            ),
            (
                &["bash", "-c", "sh -c 'srv --token 8c1f9a2b'"],
                "sh -c 'srv --token ${MY_MAPS_TOKEN}'",
                "bash -c sh -c 'srv --token ***'",
            ),
            (
                &["sh", "-c", "srv --token 8c1f9a2b --token 7d6e5f4a"],
                "srv --token ${MY_MAPS_TOKEN} --token ${MY_MAPS_TOKEN_2}",
                "sh -c srv --token *** --token ***",
            ),
            (
                &["pwsh", "-Command", "$env:API_KEY='8c1f9a2b'; srv"],
                "$env:API_KEY='${API_KEY}'; srv",
                "pwsh -Command $env:API_KEY='***'; srv",
            ),
            (&["srv --token 8c1f9a2b"], "srv --token ${MY_MAPS_TOKEN}", "srv --token ***"),
            (&["x", "-p", "S3cr3tPassw0rd"], "${MY_MAPS_P}", "x -p ***"),
            (&["x", "-k", "8c1f9a2b7e4d"], "${MY_MAPS_K}", "x -k ***"),
            (&["x", "-t=8c1f9a2b7e4d"], "-t=${MY_MAPS_T}", "x -t=***"),
            (&["mysql", "-pS3cr3tPassw0rd"], "-p${MY_MAPS_P}", "mysql -p***"),
            (
                &["docker", "run", "-eAPI_KEY=8c1f9a2b"],
                "-eAPI_KEY=${API_KEY}",
                "docker run -eAPI_KEY=***",
            ),
            (
                &["docker", "run", "--env=API_KEY=8c1f9a2b"],
                "--env=API_KEY=${API_KEY}",
                "docker run --env=API_KEY=***",
            ),
            (
                &["cli", "--config", "{\"exaApiKey\":\"8c1f9a2b7e\"}"],
                "{\"exaApiKey\":\"${MY_MAPS_EXA_API_KEY}\"}",
                "cli --config {\"exaApiKey\":\"***\"}",
            ),
            (
                &["mcp-remote", "https://h/s/9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c/mcp"],
                "https://h/s/${MY_MAPS_TOKEN}/mcp",
                "mcp-remote https://h/s/***/mcp",
            ),
            (
                &["npx", "git+https://ann:s3same@h/r"],
                "git+https://ann:${MY_MAPS_TOKEN}@h/r",
                "npx git+https://ann:***@h/r",
            ),
            (&["x", "-p", "8080"], "", "x -p 8080"),
            (&["x", "-p", "projectname"], "", "x -p projectname"),
            (&["x", "-p", "my-project-2024"], "", "x -p my-project-2024"),
            (&["x", "-p", "test"], "", "x -p test"),
            (&["x", "-p", "./9f8a7b6c5d4e"], "", "x -p ./9f8a7b6c5d4e"),
            (&["x", "-t", UUID], "", "x -t f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
            (&["x", "--project", UUID], "", "x --project f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
            (&["npx", "-p", "pkg@9f8a7b6c5d4e3f2a"], "", "npx -p pkg@9f8a7b6c5d4e3f2a"),
            (&["npx", "pkg@9f8a7b6c5d4e3f2a"], "", "npx pkg@9f8a7b6c5d4e3f2a"),
            (&["docker", "run", "-t", "9f8a7b6c5d4e"], "", "docker run -t 9f8a7b6c5d4e"),
            (
                &["docker", "run", "img@sha256:9f8a7b6c5d4e"],
                "",
                "docker run img@sha256:9f8a7b6c5d4e",
            ),
            (
                &["x", "https://h/tree/9f8a7b6c5d4e3f2a1b0c"],
                "",
                "x https://h/tree/9f8a7b6c5d4e3f2a1b0c",
            ),
            (&["x", "--token", "--verbose"], "", "x --token --verbose"),
            (&["x", "--token", "keychain"], "", "x --token keychain"),
            (
                &["sh", "-c", "TOKEN=$(cat token) srv -p 80"],
                "",
                "sh -c TOKEN=$(cat token) srv -p 80",
            ),
            (&["sh", "-c", "srv --token \"$TOKEN\""], "", "sh -c srv --token \"$TOKEN\""),
            (&["x", "--token", "${TOKEN}"], "", "x --token ${TOKEN}"),
            (&["x", "--token=${TOKEN}"], "", "x --token=${TOKEN}"),
            (&["x", "--tokens", "4096"], "", "x --tokens 4096"),
            (&["x", "--key", "name"], "", "x --key name"),
            (&["x", "--token-file", "/run/x1y2z3a4"], "", "x --token-file /run/x1y2z3a4"),
            (&["-token", "x1y2z3a4b5"], "", "-token x1y2z3a4b5"),
            (&["npx", "-y", "server-token1@1.0.0"], "", "npx -y server-token1@1.0.0"),
        ] {
            let server = WrittenServer { command: texts(words), ..server() };
            assert_eq!(outcome(&server), expected, "{words:?}");
            assert_eq!(masked_words(words).join(" "), shown);
        }
    }

    #[test]
    fn addresses_with_secrets_become_references() {
        let token = github_token();
        let in_path = format!("https://h/{token}/mcp");
        for (url, expected, shown) in [
            (
                "https://h/mcp?a=1&api_key=0123abcd4567#x",
                "https://h/mcp?a=1&api_key=${MY_MAPS_API_KEY}#x",
                "https://h/mcp?a=1&api_key=***#x",
            ),
            (
                "https://ann:s3same@h/mcp",
                "https://ann:${MY_MAPS_TOKEN}@h/mcp",
                "https://ann:***@h/mcp",
            ),
            (&in_path, "https://h/${MY_MAPS_TOKEN}/mcp", "https://h/***/mcp"),
            (
                "https://h/s/9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c/x",
                "https://h/s/${MY_MAPS_TOKEN}/x",
                "https://h/s/***/x",
            ),
            ("https://ann:pw@h/mcp", "https://ann:${MY_MAPS_TOKEN}@h/mcp", "https://ann:***@h/mcp"),
            (
                "https://h/v1/projects/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/mcp",
                "",
                "https://h/v1/projects/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/mcp",
            ),
            ("https://h/mcp?token=${TOKEN}", "", "https://h/mcp?token=${TOKEN}"),
            ("https://ann:${PASSWORD}@h/mcp", "", "https://ann:${PASSWORD}@h/mcp"),
            ("https://ann@h/mcp", "", "https://ann@h/mcp"),
            ("https://h/mcp?page=0123abcd4567", "", "https://h/mcp?page=0123abcd4567"),
            ("https://h:8080/a@b", "", "https://h:8080/a@b"),
        ] {
            let server = WrittenServer { url: Some(text(url)), ..server() };
            assert_eq!(outcome(&server), expected, "{url}");
            assert_eq!(masked_url(url), shown);
        }
    }

    /// The person who is asked whether a command may run must see all that it runs.
    #[test]
    fn what_a_line_runs_is_never_hidden() {
        for line in [
            "API_KEY=kd93jf20qq&touch$IFS/x; exec srv",
            "API_KEY=kd93jf20qq&&{touch,/x};exec srv",
            "API_KEY=kd93jf20qq|touch /x",
            "PASSWORD=`touch /x` exec srv",
            "PASSWORD=$(touch /x) exec srv",
            "API_KEY=kd93jf20qq>/x touch",
        ] {
            let masked = masked_words(&["sh", "-c", line]);
            assert!(masked[2].contains("touch") && masked[2].contains("/x"), "{masked:?}");
            assert!(!masked[2].contains("kd93jf20qq"), "{masked:?}");
            let masked = masked_words(&["unknown", "-x", line]);
            assert!(masked[2].contains("touch"), "{masked:?}");
        }
    }

    #[test]
    fn no_message_quotes_a_secret() {
        let token = github_token();
        let label = format!("--{token}=0123abcd4567");
        let server = WrittenServer {
            command: texts(&["x", &token, "--password", &token, &label]),
            environment: vec![("A_TOKEN".to_owned(), text(&token))],
            headers: vec![("Authorization".to_owned(), text(&format!("Bearer {token}")))],
            url: Some(text(&format!("https://h/?token={token}"))),
            style: ReferenceStyle::Env,
            ..server()
        };
        let found = check(&server);
        assert!(found.len() >= 5, "{found:?}");
        for finding in found {
            let said = format!("{} {} {:?}", finding.message, finding.help, finding.replacement);
            assert!(!said.contains(&token[..12]), "{said}");
            assert!(finding.help.contains("${env:"), "{said}");
        }
    }
}
