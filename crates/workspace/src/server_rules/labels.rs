//! What the label of a value says about it: whether a variable, header, option or parameter of this
//! name holds a secret, and whether this value can be one or only stands for it.

use std::ops::Range;

use toolwright_model::looks_random;

use crate::text_forms::is_variable_name;

/// How much a label says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelKind {
    /// `DB_PASSWORD`, `PGPASSWORD`: whatever its value is, it is secret.
    Password,
    /// `GITHUB_TOKEN`, `API_KEY`: its value is secret if it is not the name of a setting.
    Token,
    /// `MAP_KEY`: its value is secret if it is long and mixed.
    Key,
    /// `-p`, `-k`, `-t`: its value is secret if it looks random. They also stand for ports,
    /// projects and types.
    ShortOption,
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

/// Words behind the one that counts: `API_KEY_2`, `TOKEN_PROD`, `SECRET_KEY_BASE`.
const SUFFIXES: &[&str] =
    &["V1", "V2", "PROD", "PRODUCTION", "DEV", "STAGING", "LIVE", "BASE", "VALUE", "DEFAULT"];

/// What a label says; `None` for one that says nothing about secrets. The last word counts:
/// `TOKEN_URL` and `KEY_FILE` are not secret.
fn label_kind(label: &str) -> Option<LabelKind> {
    if matches!(label, "-p" | "-k" | "-t") {
        return Some(LabelKind::ShortOption);
    }
    let words = words_of(label);
    let is_suffix =
        |word: &&str| SUFFIXES.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit());
    let mut backwards = words.iter().rev().map(String::as_str).skip_while(is_suffix);
    let (last, before) = (backwards.next()?, backwards.next().unwrap_or_default());
    if words.iter().any(|word| matches!(word.as_str(), "PUBLIC" | "PUBLISHABLE" | "MAX")) {
        return None;
    }
    // Names are often written without a separator: `PGPASSWORD`, `CLIENTSECRET`, `authtoken`.
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| last.ends_with(ending));
    let is_key_of = matches!(
        before,
        "API"
            | "ACCESS"
            | "SECRET"
            | "PRIVATE"
            | "AUTH"
            | "ACCOUNT"
            | "MASTER"
            | "ENCRYPTION"
            | "SIGNING"
            | "SUBSCRIPTION"
            | "LICENSE"
            | "SERVICE"
    );
    match last {
        // The working directory of a shell.
        "PWD" if before.is_empty() => None,
        "PASS" | "PWD" => Some(LabelKind::Password),
        _ if ends_with(&["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET"]) => {
            Some(LabelKind::Password)
        }
        "PAT" | "JWT" | "AUTHORIZATION" | "COOKIE" | "CREDENTIALS" => Some(LabelKind::Token),
        _ if ends_with(&["TOKEN", "APIKEY"]) => Some(LabelKind::Token),
        "KEY" if is_key_of => Some(LabelKind::Token),
        "AUTH" | "BEARER" | "CREDENTIAL" | "SIG" | "SIGNATURE" => Some(LabelKind::Key),
        _ if ends_with(&["KEY", "KEYS", "TOKENS", "SECRETS", "PASSWORDS"]) => Some(LabelKind::Key),
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
        // `-p test` is about a project as often as about a password.
        return part(PartKind::Placeholder).filter(|_| kind != LabelKind::ShortOption);
    }
    let what = match kind {
        LabelKind::Password => "a password",
        LabelKind::Token | LabelKind::Key | LabelKind::ShortOption => "a secret",
    };
    looks_secret(secret, kind).then(|| part(PartKind::Secret(what))).flatten()
}

/// The password of a URL, which is secret whatever it looks like.
pub(super) fn url_password(password: &str) -> Option<PartKind> {
    if password.is_empty() || is_reference(password) {
        return None;
    }
    Some(match is_placeholder(password) {
        true => PartKind::Placeholder,
        false => PartKind::Secret("a password"),
    })
}

/// Whether a value refers to something that is kept elsewhere: `${VAR}`, `$VAR`, `$(command)`,
/// `%VAR%`, `{{x}}`, `op://vault/item`, `/run/secrets/x`.
fn is_reference(value: &str) -> bool {
    let path = ["/", "./", "../", "~", "file:", "\\"].iter().any(|start| value.starts_with(start))
        || value.as_bytes().get(1..3) == Some(b":\\");
    // A shell splits `$(command)`, and its `$` stands alone here.
    let is_variable =
        |name: &str| name.is_empty() || name.starts_with('(') || is_variable_name(name);
    path || value.contains("${")
        || value.contains("{{")
        || value.strip_prefix('$').is_some_and(is_variable)
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
    "demo", "mytoken", "mysecret", "mypassword", "my_token", "my-token", "abc123",
    "foobar", "value", "string",
];

/// Whether a value says what belongs in its place: `<your-token>`, `YOUR_API_KEY`, `changeme`.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let same = value.chars().all(|c| value.starts_with(c));
    // A drawn value may have `xxx` in it by chance.
    let says = || PLACEHOLDER_PARTS.iter().any(|part| lower.contains(part));
    // `GITHUB_TOKEN` as the value of `GITHUB_TOKEN`.
    let is_name = value.contains('_') && value.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    value.starts_with(['<', '[', '{', '('])
        || same
        || is_name
        || PLACEHOLDER_WORDS.contains(&lower.as_str())
        || says() && !looks_random(value)
}

/// Words that say where a token comes from, or that there is none.
#[rustfmt::skip]
const SETTING_WORDS: &[&str] = &[
    "keychain", "keyring", "memory", "vault", "oauth", "environment", "env", "file", "local",
    "default", "prompt", "interactive", "external", "managed", "inherit", "header", "headers",
    "cookie", "bearer", "session", "browser", "system", "provider", "anonymous", "public", "guest",
    "optional", "required", "basic", "static", "dynamic", "remote", "device",
];

/// Whether a value can be a secret of this kind.
fn looks_secret(value: &str, kind: LabelKind) -> bool {
    const SWITCHES: [&str; 13] = [
        "true", "false", "yes", "no", "on", "off", "enabled", "disabled", "auto", "none", "null",
        "0", "1",
    ];
    let is_switch = SWITCHES.iter().any(|word| value.eq_ignore_ascii_case(word));
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let upper = value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
    let blank = value.contains(char::is_whitespace);
    let is_setting =
        || value.to_lowercase().split(['-', '_', '.']).any(|word| SETTING_WORDS.contains(&word));
    match kind {
        _ if is_switch => false,
        LabelKind::Password => true,
        // `keychain` and `in-memory` are settings; a number is a limit.
        LabelKind::Token => {
            let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
            let is_secret_word = || value.len() >= 8 && is_word && !is_setting();
            letter && !blank && (value.len() >= 6 && (digit || upper) || is_secret_word())
        }
        LabelKind::Key => letter && !blank && (value.len() >= 16 && digit || looks_random(value)),
        LabelKind::ShortOption => !blank && looks_random(value),
    }
}
