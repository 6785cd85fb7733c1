//! The parts of a value that are secrets: tokens by their form, passwords and tokens of addresses,
//! and values whose label says it, in JSON, in pairs and in defaults of references.
//!
//! ```text
//! word of a command ─ shell_lines ─┐
//! variable, header ── label ───────┼─▶ text_parts, labelled_value ─▶ ValuePart ─▶ secrets
//! address ─────────────────────────┘
//! ```
//!
//! What a label says is in `labels`; commands and their options are in `shell_lines`.
//!
//! Several searches may find the same secret: `--token=ghp_…` is one by its form and by its label.
//! `add_parts` merges what overlaps, so that a fix replaces each byte once and masking leaves none.

use std::ops::Range;

use toolwright_model::is_path_token;

use super::labels::{
    PartKind, ReferenceWithDefault, before_substitution, is_random_parameter, named_secret,
    references_with_default, url_password,
};
use crate::text_forms::is_variable_name;

/// A part of a value that is a secret or stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValuePart {
    /// Bytes of the value.
    pub(super) range: Range<usize>,
    pub(super) kind: PartKind,
    /// The option, header or parameter that it is the value of.
    pub(super) label: Option<String>,
    /// The variable of `${VARIABLE:-secret}`, in which case the part is the whole reference.
    pub(super) variable: Option<String>,
}

impl ValuePart {
    pub(super) fn new((range, kind): (Range<usize>, PartKind), label: Option<&str>) -> ValuePart {
        ValuePart { range, kind, label: label.map(str::to_owned), variable: None }
    }

    pub(super) fn is_secret(&self) -> bool {
        matches!(self.kind, PartKind::Secret(_))
    }

    /// The same part of a longer text, in which this text begins at `start`.
    pub(super) fn shifted(mut self, start: usize) -> ValuePart {
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
///
/// A list that is full takes no new part; one that overlaps a known part is still merged.
pub(super) fn add_parts(parts: &mut Vec<ValuePart>, new: impl IntoIterator<Item = ValuePart>) {
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
            ValuePart::new((range, PartKind::Secret(what)), None)
        })
        .collect()
}

/// The secrets in a text without a label of its own: tokens, parts of URLs, members of JSON, and
/// values of pairs such as `Password=…;`.
///
/// An address is cut at white space or a quote, and at `MAX_URL` bytes.
pub(super) fn text_parts(text: &str) -> Vec<ValuePart> {
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
    add_parts(&mut parts, default_parts(text, None));
    parts
}

/// The references of a text whose default is a secret, as in `${TOKEN:-secret}`. The label of the
/// text says so, or else the name of the variable.
///
/// In a reference that is closed the whole of it is the part, since the fix is `${TOKEN}` without a
/// default. In one that is not closed, only the secret is.
fn default_parts(text: &str, label: Option<&str>) -> Vec<ValuePart> {
    let mut parts = Vec::new();
    for reference in references_with_default(text) {
        let ReferenceWithDefault { range: whole, variable, default, is_closed } = reference;
        let named = named_secret(label.unwrap_or(variable), default);
        let Some((range, kind @ PartKind::Secret(_))) = named else { continue };
        let start = whole.end - usize::from(is_closed) - default.len();
        parts.push(match is_closed && before_substitution(default) == default {
            true => ValuePart {
                variable: Some(variable.to_owned()),
                ..ValuePart::new((whole, kind), Some(variable))
            },
            // What runs has to stay in view.
            false => ValuePart::new((range, kind), Some(variable)).shifted(start),
        });
    }
    parts
}

/// The secrets in a value with a label, and the value itself if the label says that it is one.
/// `start` is where the value begins in the text that the ranges are for.
///
/// `("Authorization", "Bearer abc…", 0)` gives one part, with the label `Authorization`. Quotes
/// around the value do not count.
pub(super) fn labelled_value(label: &str, value: &str, start: usize) -> Vec<ValuePart> {
    let (quote, value) = unquoted(value);
    let mut parts = text_parts(value);
    // `--env=API_KEY=…`
    if let Some((inner, at)) = split_label(value) {
        let named = named_secret(inner, &value[at..]);
        add_parts(&mut parts, named.map(|it| ValuePart::new(it, Some(inner)).shifted(at)));
    }
    add_parts(&mut parts, named_secret(label, value).map(|named| ValuePart::new(named, None)));
    add_parts(&mut parts, default_parts(value, Some(label)));
    for part in &mut parts {
        // The variable that `docker run --env=API_KEY=…` sets says more than the option.
        if !part.label.as_deref().is_some_and(is_upper_variable) {
            part.label = Some(label.to_owned());
        }
    }
    parts.into_iter().map(|part| part.shifted(start + quote)).collect()
}

/// A text without the quotes around it, and how many bytes were before it.
pub(super) fn unquoted(text: &str) -> (usize, &str) {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        if let Some(inner) = inner {
            return (1, inner);
        }
    }
    (0, text)
}

/// The label in `--token=VALUE`, `TOKEN=VALUE`, `$env:TOKEN=VALUE` and `Authorization: VALUE`, and
/// where the value begins.
pub(super) fn split_label(word: &str) -> Option<(&str, usize)> {
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
///
/// Not by a JSON parser: the JSON may stand inside of a command line, cut off or with escaped
/// quotes. Every window of four quotes is looked at, so most of them are no member.
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
            parts.extend(named.map(|it| ValuePart::new(it, Some(label)).shifted(start + 1)));
        }
    }
    parts
}

/// The values of pairs in a text, as in `host=h password=x` and `Server=h;Password=x;`.
///
/// A pair needs `=`: `split_label` also knows `label: value`, which is not meant here.
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
            parts.extend(named.map(|it| ValuePart::new(it, Some(label)).shifted(start + at)));
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
pub(super) fn parts_of_url(url: &str) -> Vec<ValuePart> {
    let mut parts = url_parts(url, PathTokens::Always);
    add_parts(&mut parts, text_parts(url));
    parts
}

/// The secrets in an address: its password, values of its query, and tokens in its path.
///
/// ```text
/// https://ann:horse@host/mcp/8c1f9a2b7e4d3f6a5b0c9d2e?token=s3cr3t&page=2#x
///             ^^^^^          ^^^^^^^^^^^^^^^^^^^^^^^^       ^^^^^^
/// ```
///
/// Not by a URL library: the text may be no valid URL, and its secrets must be found all the same.
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
        let start = authority + colon + 1;
        let password = before_substitution(&url[start..end]);
        let kind = url_password(password);
        parts.extend(kind.map(|it| ValuePart::new((start..start + password.len(), it), None)));
    }
    let query = url.find('?').map_or(url.len(), |at| at + 1);
    let path_end = url[host..].find(['?', '#']).map_or(url.len(), |at| host + at);
    let path = &url[host..path_end];
    let names_server = |text: &str| text.split(['/', '.', '-', ':']).any(|it| it == "mcp");
    let is_server =
        names_server(path) || names_server(&url[host_start..host]) || path.ends_with("/sse");
    if tokens == PathTokens::Always || is_server {
        let (mut start, mut before) = (host, "");
        for segment in path.split('/') {
            let range = start..start + segment.len();
            let is_revision = is_revision(segment, before, &url[host_start..host]);
            let is_whole = before_substitution(segment) == segment;
            if is_path_token(segment) && is_whole && !is_revision {
                let part = ValuePart::new((range, PartKind::Secret("a token")), None);
                add_parts(&mut parts, [part]);
            }
            start += segment.len() + 1;
            before = segment;
        }
    }
    let end = url[query..].find('#').map_or(url.len(), |at| query + at);
    let mut start = query;
    for pair in url[query..end].split('&').take(MAX_PARTS) {
        if let Some((name, value)) = pair.split_once('=') {
            let random = || {
                let whole = (0..value.len(), PartKind::Secret("a secret"));
                is_random_parameter(name, value).then_some(whole)
            };
            let named = named_secret(name, value).or_else(random);
            let known = known_secrets(value);
            let named = named.map(|named| ValuePart::new(named, None));
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

/// Segments of a path before the hash of a revision or of an object, on servers of repositories.
#[rustfmt::skip]
const BEFORE_REVISIONS: &[&str] = &[
    "blob", "blobs", "tree", "trees", "commit", "commits", "raw", "archive", "compare", "src",
    "resolve", "zip", "tar.gz", "legacy.tar.gz", "legacy.zip", "rev", "revision", "ref", "refs",
    "objects", "sha1", "sha256",
];

/// Hosts whose paths have the hash of a revision behind the name of a repository.
const HOSTS_OF_REVISIONS: &[&str] = &["raw.githubusercontent.com", "gist.githubusercontent.com"];

/// Whether a segment of a path is the hash of a revision, as in `/blob/<hash>/file`, and not a
/// token: both are random.
///
/// `segment` is the part of the path, `before` the part before it.
fn is_revision(segment: &str, before: &str, host: &str) -> bool {
    // `/compare/<hash>...<hash>`
    let is_hash = |word: &str| {
        (word.is_empty() || matches!(word.len(), 32 | 40 | 64))
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    segment.split('.').all(is_hash)
        && (BEFORE_REVISIONS.contains(&before) || HOSTS_OF_REVISIONS.contains(&host))
}

/// Whether a label is the name of a variable, such as `GITHUB_TOKEN`.
pub(super) fn is_upper_variable(label: &str) -> bool {
    is_variable_name(label) && label.contains('_') && label == label.to_uppercase()
}
