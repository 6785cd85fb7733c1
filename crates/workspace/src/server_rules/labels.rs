//! What the label of a value says about it: whether a variable, header, option or parameter of this
//! name holds a secret, and whether this value can be one or only stands for it.
//!
//! | label and value | judged as |
//! |---|---|
//! | `DB_PASSWORD=x` | a password, with any value |
//! | `GITHUB_TOKEN=ghx81k2` | a secret |
//! | `GITHUB_TOKEN=${TOKEN}`, `KEY_FILE=key.pem` | a reference, or no secret at all |
//! | `SORT_KEY=name`, `AUTH=none` | settings |
//! | `API_KEY=<your-key>` | a placeholder |
//!
//! The lists below decide between a finding that is wrong and a secret that is missed. They are
//! words from settings of real servers.

use std::ops::Range;

use toolwright_model::looks_random;

use crate::text_forms::is_variable_name;

/// How much a label says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LabelKind {
    /// `DB_PASSWORD`, `PGPASSWORD`: whatever its value is, it is secret.
    Password,
    /// `GITHUB_TOKEN`, `STRIPE_KEY`: its value is secret if it is not the name of a setting.
    Token,
    /// `COOKIE`, `CREDENTIALS`: the same, but short words are names and kinds.
    Credential,
    /// `SORT_KEY`, `OPENAIKEY`: its value is secret if it is long and mixed.
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

/// Words before `KEY` that say that it selects something, or that its value is the name of a file.
#[rustfmt::skip]
const SELECTING_KEYS: &[&str] = &[
    "SORT", "PRIMARY", "FOREIGN", "UNIQUE", "PARTITION", "ROW", "RANGE", "HASH", "CACHE", "INDEX",
    "GROUP", "GROUPING", "ORDER", "LOOKUP", "JOIN", "DICT", "OBJECT", "STATE", "FIELD", "COLUMN",
    "ATTRIBUTE", "PROPERTY", "ROUTING", "HOT", "SHORTCUT", "MODIFIER", "LEADER", "TOGGLE", "PUSH",
    "ISSUE", "PROJECT", "SPACE", "BOARD", "TRANSLATION", "MESSAGE", "EVENT", "JSON", "METADATA",
    "TAG", "LABEL", "FEATURE", "FLAG", "HEADER", "QUERY", "SEARCH", "FILTER", "DEDUP",
    "IDEMPOTENCY", "NAME", "ID", "TYPE", "CONFIG", "SETTING", "SETTINGS", "REGISTRY", "SSH", "GPG",
    "PGP", "HOST",
];

/// Words before `TOKEN` that say that it is a token of a text, or a place in a list.
#[rustfmt::skip]
const TEXT_TOKENS: &[&str] = &[
    "PAD", "EOS", "BOS", "UNK", "MASK", "SEP", "CLS", "STOP", "START", "END", "SPECIAL", "NEXT",
    "PAGE", "CONTINUATION", "SYNC",
];

/// What a label says; `None` for one that says nothing about secrets. The last word counts:
/// `TOKEN_URL` and `KEY_FILE` are not secret.
///
/// | label | kind |
/// |---|---|
/// | `TOKEN_PROD_2` | that of `TOKEN`: suffixes are skipped |
/// | `NEXT_PAGE_TOKEN` | none: the word before says what kind of token |
/// | `SORT_KEY`, `SSH_KEY` | the weak `Key`: the word before says that it selects something |
/// | `PUBLIC_KEY`, `MAX_TOKENS` | none |
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
    match last {
        // The working directory of a shell.
        "PWD" if before.is_empty() => None,
        "PASS" | "PWD" => Some(LabelKind::Password),
        _ if ends_with(&["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET"]) => {
            Some(LabelKind::Password)
        }
        "JWT" | "COOKIE" | "CREDENTIALS" => Some(LabelKind::Credential),
        "TOKEN" if TEXT_TOKENS.contains(&before) => None,
        "PAT" | "AUTHORIZATION" => Some(LabelKind::Token),
        _ if ends_with(&["TOKEN", "APIKEY"]) => Some(LabelKind::Token),
        "KEY" if !before.is_empty() && !SELECTING_KEYS.contains(&before) => Some(LabelKind::Token),
        "AUTH" | "BEARER" | "CREDENTIAL" | "SIG" | "SIGNATURE" => Some(LabelKind::Key),
        _ if ends_with(&["KEY", "KEYS", "TOKENS", "SECRETS", "PASSWORDS"]) => Some(LabelKind::Key),
        _ => None,
    }
}

/// Whether a variable of this name holds a secret, whatever its value looks like.
pub(crate) fn names_secret(variable: &str) -> bool {
    matches!(label_kind(variable), Some(LabelKind::Password | LabelKind::Token))
}

/// Whether a value is a secret or stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// What it is, with its article.
    Secret(&'static str),
    /// The documentation's text, such as `<your-token>`: not a secret, but the server will fail.
    Placeholder,
}

/// The bytes of the value that are a secret or a placeholder, judged by its label.
///
/// `Bearer abc` in an `Authorization` header is judged without its scheme, and only `abc` is the
/// secret: its range is what a fix replaces.
pub(super) fn named_secret(label: &str, value: &str) -> Option<(Range<usize>, PartKind)> {
    let kind = label_kind(label)?;
    // The scheme of an `Authorization` header is not secret.
    let start = ["bearer ", "basic ", "token ", "apikey ", "api-key "]
        .into_iter()
        .find(|scheme| value.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)))
        .map_or(0, str::len);
    let secret = before_substitution(value[start..].trim()).trim_end();
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
        LabelKind::Password if !label.to_ascii_uppercase().contains("SECRET") => "a password",
        _ => "a secret",
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

/// The text before a command whose output a shell would put in its place. A secret ends there: what
/// runs is never hidden.
pub(super) fn before_substitution(text: &str) -> &str {
    let end = text.find('`').into_iter().chain(text.find("$(")).min();
    &text[..end.unwrap_or(text.len())]
}

/// A reference to a variable with a default, such as `${TOKEN:-secret}`.
pub(super) struct ReferenceWithDefault<'t> {
    pub(super) range: Range<usize>,
    pub(super) variable: &'t str,
    pub(super) default: &'t str,
    /// Whether it has its closing brace. A line of a shell is split inside of a default, too.
    pub(super) is_closed: bool,
}

/// The references with a default in a text. Besides the forms that clients expand, those of shells.
pub(super) fn references_with_default(
    text: &str,
) -> impl Iterator<Item = ReferenceWithDefault<'_>> {
    // Each looks for its end, and a hostile text may consist of beginnings.
    const MAX_REFERENCES: usize = 1_000;
    text.match_indices("${").take(MAX_REFERENCES).filter_map(|(start, _)| {
        let inner = &text[start + 2..];
        let end = inner.find('}');
        let inner = &inner[..end.unwrap_or(inner.len())];
        let named = inner.strip_prefix("env:").unwrap_or(inner);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (variable, rest) = named.split_at(named.find(|c| !is_word(c))?);
        let default = [":-", ":=", "-", "="].iter().find_map(|sign| rest.strip_prefix(sign))?;
        let is_closed = end.is_some();
        let range = start..start + 2 + inner.len() + usize::from(is_closed);
        let reference = ReferenceWithDefault { range, variable, default, is_closed };
        is_variable_name(variable).then_some(reference)
    })
}

/// Parameters of addresses whose values look random and are not secret: ids, revisions, hashes.
#[rustfmt::skip]
const RANDOM_PARAMETERS: &[&str] = &[
    "ID", "IDS", "UUID", "GUID", "REF", "REV", "REVISION", "COMMIT", "SHA", "SHA1", "SHA256",
    "HASH", "MD5", "VERSION", "V", "BRANCH", "TAG", "ETAG", "CHECKSUM", "DIGEST", "INTEGRITY",
    "CURSOR", "PAGE", "PROJECT", "ACCOUNT", "TENANT", "WORKSPACE", "ORG", "ORGANIZATION", "TEAM",
    "NODE", "FILE", "MODEL", "DEPLOYMENT", "CHANNEL", "USER", "NAME",
];

/// Whether a parameter of an address is a secret by its value alone, as in `?t=8c1f9a2b7e4d3f6a`.
pub(super) fn is_random_parameter(name: &str, value: &str) -> bool {
    let is_id = || {
        let words = words_of(name);
        words.last().is_none_or(|last| RANDOM_PARAMETERS.contains(&last.as_str()))
    };
    // Shorter ones are dates, sizes and versions more often than tokens.
    value.len() >= 16
        && before_substitution(value) == value
        && !is_reference(value)
        && !is_placeholder(value)
        && looks_random(value)
        && !is_id()
}

/// Endings of the names of files in which keys are kept.
const KEY_FILES: &[&str] = &[
    ".pem", ".key", ".pub", ".crt", ".cer", ".der", ".p8", ".p12", ".pfx", ".json", ".txt", ".env",
    ".yaml", ".yml", ".toml",
];

/// Whether a value refers to something that is kept elsewhere: `${VAR}`, `$VAR`, `$(command)`,
/// `%VAR%`, `{{x}}`, `op://vault/item`, `env:VAR`, `/run/secrets/x`, `key.pem`.
fn is_reference(value: &str) -> bool {
    let kinds = ["arn:", "env:", "vault:", "keychain:", "keyring:", "secretmanager:", "ssm:"];
    let is_kind = || kinds.iter().any(|kind| value.starts_with(kind));
    let is_file =
        || !value.contains(char::is_whitespace) && KEY_FILES.iter().any(|end| value.ends_with(end));
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
        || is_kind()
        || is_file()
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
    "optional", "required", "basic", "static", "dynamic", "remote", "device", "name", "id", "stdin",
    "iam", "cli", "ask", "config", "automatic", "generated", "internal",
];

/// Whether a value can be a secret of this kind.
///
/// The weaker the label, the more the value has to look like a random text.
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
    let is_setting = || {
        value.to_lowercase().split(['-', '_', '.', ' ']).any(|word| SETTING_WORDS.contains(&word))
    };
    match kind {
        _ if is_switch => false,
        LabelKind::Password => true,
        // `keychain` and `in-memory` are settings; a number is a limit, many words are a remark.
        LabelKind::Token => {
            let words = value.split_whitespace().count();
            let is_mixed = value.len() >= 6 && (digit || upper) && !blank;
            letter && value.len() >= 3 && words <= 4 && (is_mixed || !is_setting())
        }
        LabelKind::Credential => {
            let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
            let is_secret_word = || value.len() >= 8 && is_word && !is_setting();
            letter && !blank && (value.len() >= 6 && (digit || upper) || is_secret_word())
        }
        LabelKind::Key => letter && !blank && (value.len() >= 16 && digit || looks_random(value)),
        LabelKind::ShortOption => !blank && looks_random(value),
    }
}
