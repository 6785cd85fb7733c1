//! What the label of a value says about it: whether a variable, header, option or parameter of this
//! name holds a secret, and whether this value can be one or only stands for it.

use std::ops::Range;

/// How much a label says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelKind {
    /// `DB_PASSWORD`: whatever its value is, it is secret.
    Password,
    /// `GITHUB_TOKEN`, `API_KEY`: its value is secret if it is not a word.
    Token,
    /// `MAP_KEY`: its value is secret if it is long and mixed.
    Key,
}

/// The words of a name in upper case: `apiKey`, `api-key` and `API_KEY` are `API` and `KEY`.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars().take(200) {
        let starts_word = !c.is_ascii_alphanumeric() || c.is_uppercase() && before.is_lowercase();
        if starts_word {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_uppercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a label says; `None` for one that says nothing about secrets. The last word counts:
/// `TOKEN_URL` and `KEY_FILE` are not secret.
fn label_kind(label: &str) -> Option<LabelKind> {
    let words = words_of(label);
    let mut backwards = words.iter().rev().map(String::as_str);
    let (last, before) = (backwards.next()?, backwards.next().unwrap_or_default());
    if words.iter().any(|word| matches!(word.as_str(), "PUBLIC" | "PUBLISHABLE" | "MAX")) {
        return None;
    }
    match (before, last) {
        (_, "PASSWORD" | "PASSWD" | "PASSPHRASE" | "SECRET") => Some(LabelKind::Password),
        (_, "TOKEN" | "PAT" | "JWT" | "APIKEY" | "AUTHORIZATION" | "COOKIE" | "CREDENTIALS")
        | (
            "API" | "ACCESS" | "SECRET" | "PRIVATE" | "AUTH" | "ACCOUNT" | "MASTER" | "ENCRYPTION"
            | "SIGNING" | "SUBSCRIPTION" | "LICENSE" | "SERVICE",
            "KEY",
        ) => Some(LabelKind::Token),
        (_, "KEY" | "AUTH" | "BEARER" | "CREDENTIAL") => Some(LabelKind::Key),
        _ => None,
    }
}

/// Whether a value is a secret or stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// What it is, with its article.
    Secret(&'static str),
    Placeholder,
}

/// The bytes of the value that are a secret or a placeholder, judged by its label.
pub(super) fn named_secret(label: &str, value: &str) -> Option<(Range<usize>, PartKind)> {
    let kind = label_kind(label)?;
    // The scheme of an `Authorization` header is not secret.
    let start = ["bearer ", "basic ", "token ", "apikey ", "api-key "]
        .into_iter()
        .find(|scheme| value.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)))
        .map_or(0, str::len);
    let secret = value[start..].trim();
    if secret.is_empty() || is_reference(secret) {
        return None;
    }
    let part = |kind| {
        let start = start + value[start..].len() - value[start..].trim_start().len();
        Some((start..start + secret.len(), kind))
    };
    if is_placeholder(secret) {
        return part(PartKind::Placeholder);
    }
    let what = match kind {
        LabelKind::Password => "a password",
        LabelKind::Token | LabelKind::Key => "a secret",
    };
    looks_secret(secret, kind).then(|| part(PartKind::Secret(what))).flatten()
}

/// Whether a value refers to something that is kept elsewhere: `${VAR}`, `$VAR`, `%VAR%`, `{{x}}`,
/// `op://vault/item`, `/run/secrets/x`.
fn is_reference(value: &str) -> bool {
    let path = ["/", "./", "../", "~", "file:", "\\"].iter().any(|start| value.starts_with(start))
        || value.as_bytes().get(1..3) == Some(b":\\");
    path || value.contains("${")
        || value.contains("{{")
        || value.starts_with('$')
        || value.starts_with('%') && value.ends_with('%')
        || value.contains("://")
}

/// Words that only a placeholder has, in lower case.
#[rustfmt::skip]
const PLACEHOLDER_PARTS: &[&str] = &[
    "your", "example", "changeme", "change-me", "change_me", "placeholder", "xxx", "replace",
    "insert", "dummy", "todo", "...", "…", "***", "redacted", "sample", "-here", "_here", " here",
    "goeshere", "fixme", "notreal",
];

/// Whole values that nobody keeps secret.
#[rustfmt::skip]
const PLACEHOLDER_WORDS: &[&str] = &[
    "token", "secret", "password", "passwd", "pass", "key", "apikey", "api_key", "api-key", "test",
    "demo", "none", "null", "mytoken", "mysecret", "mypassword", "my_token", "my-token", "abc123",
    "foobar", "value", "string",
];

/// Whether a value says what belongs in its place: `<your-token>`, `YOUR_API_KEY`, `changeme`.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let same = value.chars().all(|c| value.starts_with(c));
    // `GITHUB_TOKEN` as the value of `GITHUB_TOKEN`.
    let is_name = value.contains('_') && value.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    value.starts_with(['<', '[', '{', '('])
        || same
        || is_name
        || PLACEHOLDER_WORDS.contains(&lower.as_str())
        || PLACEHOLDER_PARTS.iter().any(|part| lower.contains(part))
}

/// Whether a value can be a secret of this kind.
fn looks_secret(value: &str, kind: LabelKind) -> bool {
    let is_switch = ["true", "false", "yes", "no", "on", "off", "enabled", "disabled", "auto"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word));
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let upper = value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let blank = value.contains(char::is_whitespace);
    match kind {
        _ if is_switch => false,
        LabelKind::Password => value.len() >= 4,
        // `keychain` and `in-memory` are settings; a number is a limit.
        LabelKind::Token => value.len() >= 8 && letter && (digit || upper) && !blank,
        LabelKind::Key => value.len() >= 16 && letter && digit && !blank,
    }
}
