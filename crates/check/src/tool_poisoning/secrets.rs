//! SECRET_IN_DEFINITION: keys, tokens, private keys and passwords.
//!
//! A long random word alone is not a secret: hashes, ids and examples look the same. A value counts
//! only where its form or its label shows that it is one, in three ways:
//!
//! - a prefix that its issuer gives to all its tokens, with the right length and alphabet
//!   ([`ISSUED_TOKENS`]);
//! - a frame, such as that of a private key, a JSON Web Token or a URL with a password;
//! - a label, as in `api_key: "…"`, before a value that is long and mixed ([`find_labelled`]).
//!
//! Placeholders are never secrets ([`is_placeholder`]). Messages show six characters at most,
//! because they end up in logs. Not found: secrets without prefix, frame and label, and short
//! passwords.
//!
//! ```text
//! text ─ Aho-Corasick, all marks at once ─▶ mark ─ its function ─▶ range and kind, or nothing
//! ```
//!
//! The rules about settings of servers, in `workspace`, use `secrets_in`, too.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{MAX_FOUND, SuspiciousText, has_long_run, near};

/// Finds secrets in `text`, for a report about a definition. The rule shortens what the message
/// shows once more.
pub(crate) fn find_secrets(text: &str) -> Vec<SuspiciousText> {
    let found = secrets_in(text).into_iter().map(|(range, what)| {
        // Enough to find the secret in the file, too few to be of use to a reader of the log.
        let shown: String = text[range.clone()].chars().take(6).collect();
        let message = format!("`{shown}…` looks like {what}");
        let help =
            "revoke it and remove it: everybody who can read the definition can use it".to_owned();
        SuspiciousText { range, message, help: Some(help) }
    });
    found.collect()
}

/// The bytes of each secret in `text`, and what it is, with its article. Where two overlap, the
/// first one found is returned.
///
/// All marks are searched at once, so the cost does not grow with the list of issuers. At most
/// `MAX_FOUND`.
pub fn secrets_in(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let mut found: Vec<FoundSecret> = Vec::new();
    // Every secret is one long run, except a password in a URL and a private key on several lines,
    // and those have one of these signs. The fold looks at all bytes without returning early, so
    // that the compiler can compare many at once.
    if !has_long_run(text)
        && !text.bytes().fold(false, |any, byte| any | matches!(byte, b':' | b'-'))
    {
        return found;
    }
    for mark in MARKS.find_overlapping_iter(text) {
        if found.len() == MAX_FOUND {
            break;
        }
        let index = mark.pattern().as_usize();
        let secret = match index.checked_sub(ISSUED_TOKENS.len()) {
            None => match_issued_token(text, mark.start(), &ISSUED_TOKENS[index]),
            Some(index) => OTHER_MARKS[index].1(text, mark.range()),
        };
        let Some((range, what)) = secret else { continue };
        // `sk-ant-…` matches `sk-` as well, and a labelled token matches its prefix and its label.
        if !found.iter().any(|(other, _)| other.start < range.end && range.start < other.end) {
            found.push((range, what));
        }
    }
    found
}

/// A kind of token that its issuer begins with a fixed prefix. A prefix alone is not enough: `sk-`
/// begins many words.
struct IssuedToken {
    prefix: &'static str,
    /// What it is, with its article, for messages.
    what: &'static str,
    /// How many bytes follow the prefix, at least and at most, and which are allowed. Shorter ones
    /// are placeholders or other words.
    min_len: usize,
    max_len: usize,
    /// The alphabet of the issuer; a byte outside of it ends the token.
    is_body: fn(u8) -> bool,
}

/// One line of [`ISSUED_TOKENS`].
const fn issued(
    prefix: &'static str,
    what: &'static str,
    min_len: usize,
    max_len: usize,
    is_body: fn(u8) -> bool,
) -> IssuedToken {
    IssuedToken { prefix, what, min_len, max_len, is_body }
}

/// Prefixes and lengths as the issuers document them, or as their tokens have been for years. The
/// upper bounds leave room where issuers have announced longer tokens.
///
/// To add an issuer, add a line; `MARKS` is built from it.
#[rustfmt::skip]
const ISSUED_TOKENS: &[IssuedToken] = &[
    issued("AKIA", "an AWS access key", 16, 16, is_upper),
    issued("ASIA", "an AWS access key", 16, 16, is_upper),
    issued("ghp_", "a GitHub token", 36, 255, is_alnum),
    issued("gho_", "a GitHub token", 36, 255, is_alnum),
    issued("ghu_", "a GitHub token", 36, 255, is_alnum),
    issued("ghs_", "a GitHub token", 36, 255, is_alnum),
    issued("ghr_", "a GitHub token", 36, 255, is_alnum),
    issued("github_pat_", "a GitHub token", 60, 255, is_word),
    issued("glpat-", "a GitLab token", 20, 64, is_dashed),
    issued("xoxb-", "a Slack token", 24, 255, is_dashed),
    issued("xoxp-", "a Slack token", 24, 255, is_dashed),
    issued("xoxa-", "a Slack token", 24, 255, is_dashed),
    issued("xoxs-", "a Slack token", 24, 255, is_dashed),
    issued("xapp-", "a Slack token", 24, 255, is_dashed),
    issued("sk-ant-", "an Anthropic API key", 32, 255, is_dashed),
    issued("sk-proj-", "an OpenAI API key", 32, 255, is_dashed),
    issued("sk-", "an API key", 32, 255, is_alnum),
    issued("AIza", "a Google API key", 35, 35, is_dashed),
    issued("ya29.", "a Google access token", 32, 1024, is_dashed),
    issued("npm_", "an npm token", 36, 36, is_alnum),
    issued("pypi-AgE", "a PyPI token", 48, 512, is_dashed),
    issued("hf_", "a Hugging Face token", 30, 64, is_alnum),
    issued("dop_v1_", "a DigitalOcean token", 64, 64, is_alnum),
    issued("shpat_", "a Shopify token", 32, 32, is_alnum),
    issued("sk_live_", "a Stripe key", 20, 255, is_alnum),
    issued("rk_live_", "a Stripe key", 20, 255, is_alnum),
    issued("whsec_", "a webhook secret", 28, 128, is_alnum),
    issued("SG.", "a SendGrid key", 60, 80, is_dotted),
    issued("lin_api_", "a Linear API key", 32, 64, is_alnum),
    issued("ntn_", "a Notion token", 40, 64, is_alnum),
    issued("tvly-", "a Tavily API key", 24, 64, is_dashed),
    issued("gsk_", "a Groq API key", 40, 64, is_alnum),
    issued("figd_", "a Figma token", 36, 64, is_dashed),
    issued("sbp_", "a Supabase token", 40, 48, is_alnum),
    issued("sntryu_", "a Sentry token", 64, 64, is_alnum),
    issued("glsa_", "a Grafana token", 40, 64, is_word),
    issued("dckr_pat_", "a Docker token", 27, 40, is_dashed),
    issued("pplx-", "a Perplexity API key", 40, 64, is_alnum),
    issued("ATATT3x", "an Atlassian token", 100, 255, is_dashed),
    issued("https://hooks.slack.com/services/T", "a Slack webhook", 30, 90, is_path),
    issued("https://discord.com/api/webhooks/", "a Discord webhook", 70, 120, is_path),
];

/// The bytes of a secret, and what it is.
type FoundSecret = (Range<usize>, &'static str);

/// Looks for a secret at the bytes of its mark. `None` if there is no secret at the mark.
type SecretFinder = fn(&str, Range<usize>) -> Option<FoundSecret>;

/// Marks near which a secret may be, and the function that looks. Labels lack their first letter
/// where it may be upper or lower case. A mark is short and common; the function decides.
const OTHER_MARKS: &[(&str, SecretFinder)] = &[
    ("eyJ", find_json_web_token),
    ("-----BEGIN ", find_private_key),
    ("://", find_url_password),
    ("AccountKey=", find_account_key),
    ("earer ", find_bearer_token),
    ("assword", find_labelled),
    ("asswd", find_labelled),
    ("ASSWORD", find_labelled),
    ("ecret", find_labelled),
    ("ECRET", find_labelled),
    ("oken", find_labelled),
    ("OKEN", find_labelled),
    ("api_key", find_labelled),
    ("API_KEY", find_labelled),
    ("apiKey", find_labelled),
    ("api-key", find_labelled),
    ("API key", find_labelled),
    ("access_key", find_labelled),
    ("ACCESS_KEY", find_labelled),
];

/// All prefixes, then all other marks. Overlapping, because `sk-` is a prefix of `sk-ant-`. Built
/// on first use, as most runs check few texts with a mark.
static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let prefixes = ISSUED_TOKENS.iter().map(|token| token.prefix);
    let marks = prefixes.chain(OTHER_MARKS.iter().map(|(mark, _)| *mark));
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(marks)
        .expect("a few dozen short marks")
});

/// The token of this kind whose prefix begins at `start`.
///
/// A body that is longer than `max_len` is not a token either: it is something else that begins in
/// the same way.
fn match_issued_token(text: &str, start: usize, token: &IssuedToken) -> Option<FoundSecret> {
    let bytes = text.as_bytes();
    // Inside a longer word the prefix is a coincidence.
    if start > 0 && (is_word(bytes[start - 1]) || bytes[start - 1] == b'-') {
        return None;
    }
    let body = start + token.prefix.len();
    let longest = bytes[body..].iter().take(token.max_len + 1);
    let len = longest.take_while(|byte| (token.is_body)(**byte)).count();
    let fits = (token.min_len..=token.max_len).contains(&len);
    (fits && is_random(&text[body..body + len])).then_some((start..body + len, token.what))
}

/// `eyJ…` is `{"` in Base64: header and payload of a JSON Web Token begin with it. Three parts with
/// dots between them; the signature has at least 32 characters.
fn find_json_web_token(text: &str, mark: Range<usize>) -> Option<FoundSecret> {
    // The second part begins with it, too; and a run of them is not to be read again from each.
    if mark.start > 0 && is_dotted(text.as_bytes()[mark.start - 1]) {
        return None;
    }
    let end = end_of_run(text, mark.start, is_dotted);
    let mut parts = text[mark.start..end].split('.');
    // Without a signature it is an example.
    let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let long = header.len() >= 16 && payload.len() >= 16 && signature.len() >= 32;
    (long && payload.starts_with("eyJ") && is_random(signature))
        .then_some((mark.start..end, "a JSON Web Token"))
}

/// A private key in PEM. It counts if its body is there: documentation often shows the frame alone.
/// `None` for a certificate or a public key, whose title ends in another word.
fn find_private_key(text: &str, mark: Range<usize>) -> Option<FoundSecret> {
    // `RSA PRIVATE KEY`, `OPENSSH PRIVATE KEY`, `PGP PRIVATE KEY BLOCK`; certificates and public
    // keys are not secret.
    let (title, body) = text[mark.end..].split_once("-----")?;
    if title.len() > 40 || !title.ends_with("PRIVATE KEY") && !title.ends_with("PRIVATE KEY BLOCK")
    {
        return None;
    }
    // In JSON and in shell scripts the line breaks of a key are often written as `\n`.
    let body: String = body.split("-----").next()?.replace("\\n", "").split_whitespace().collect();
    // A key without an end marker, cut off by its author, is still a key.
    let after = near(text, mark.end, MAX_SECRET);
    let end = mark.end + after.find("-----END").unwrap_or(after.len());
    let is_key = body.len() >= 40
        && body.bytes().all(|byte| is_base64(byte) || byte == b':' || byte == b'-' || byte == b',')
        // Not `is_random`: keys of OpenSSH begin with zeros, which look like a placeholder.
        && is_varied(&body);
    is_key.then_some((mark.start..end, "a private key"))
}

/// `scheme://user:password@host`, unless the password is a word that only examples use. The address
/// is reported from its scheme to the end of the host.
fn find_url_password(text: &str, mark: Range<usize>) -> Option<FoundSecret> {
    let authority = &text[mark.end..end_of_run(text, mark.end, |byte| {
        byte > b' ' && !b"/?#\"'`<>()".contains(&byte) && byte < 0x7F
    })];
    // From the right, because a password may contain `@`.
    let (user_info, host) = authority.rsplit_once('@')?;
    let (user, password) = user_info.split_once(':')?;
    // The scheme stands before the mark and is part of what is reported.
    let start = text[..mark.start]
        .bytes()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'+')
        .count();
    let example_passwords = [
        "password", "passwd", "pass", "pwd", "pw", "secret", "token", "user", "postgres", "root",
        "admin", "guest", "test", "p",
    ];
    let lower = password.to_ascii_lowercase();
    // Documentation of databases is full of `postgres://postgres:postgres@localhost`.
    let is_example = example_passwords.contains(&lower.as_str())
        || lower == user.to_ascii_lowercase()
        || password.len() < 4;
    let end = mark.end + authority.len();
    (!is_example && !host.is_empty() && !is_placeholder(password))
        .then_some((mark.start - start..end, "a URL with a password"))
}

/// `AccountKey=…` of an Azure connection string. At least 40 characters of Base64.
fn find_account_key(text: &str, mark: Range<usize>) -> Option<FoundSecret> {
    let end = end_of_run(text, mark.end, is_base64);
    (end - mark.end >= 40 && is_random(&text[mark.end..end]))
        .then_some((mark.start..end, "an Azure account key"))
}

/// `Bearer …` of an `Authorization` header. At least 24 characters. Only the token is reported, and
/// not the word before it.
fn find_bearer_token(text: &str, mark: Range<usize>) -> Option<FoundSecret> {
    let end = end_of_run(text, mark.end, is_dotted);
    (end - mark.end >= 24
        && is_random(&text[mark.end..end])
        // A phrase in which words are joined by `-` has no digit.
        && has_digit_and_letter(&text[mark.end..end]))
    .then_some((mark.end..end, "a bearer token"))
}

/// `password: hunter2…`, `API_KEY="…"`: a label, `=` or `:` and a value that does not look made up:
/// at least 16 bytes with letters and digits, random, and neither a path nor a UUID.
///
/// ```text
/// api_key: "f3Kq9…"                           a secret
/// "token_value": "f3Kq9…"                     a secret: the label may go on
/// token: the-token-of-the-next-page           prose: lower-case letters only
/// password: /run/secrets/db2Key               a path
/// ```
fn find_labelled(text: &str, mark: Range<usize>) -> Option<FoundSecret> {
    // Label and value are neighbours; further away the label belongs to something else.
    let rest = near(text, mark.end, 25);
    // The label may go on (`token_value`) and be quoted, as in JSON.
    let after = rest.trim_start_matches(|c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '"' | '\'' | '`')
    });
    let after = after.trim_start_matches(' ');
    let value = after.strip_prefix(['=', ':'])?.trim_start_matches([' ', '"', '\'', '`', '=']);
    if value.is_empty() {
        return None;
    }
    let start = mark.end + rest.len() - value.len();
    let end = end_of_run(text, start, |byte| {
        is_base64(byte) || is_dashed(byte) || b".!$%^&*~".contains(&byte)
    });
    let value = text[start..end].trim_end_matches(['.', '!']);
    // A value of lower-case letters only is prose: `token: the-token-of-the-next-page`.
    let kinds = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit]
        .iter()
        .filter(|kind| value.bytes().any(|byte| kind(&byte)))
        .count();
    let is_value = value.len() >= 16
        && kinds >= 2
        && has_digit_and_letter(value)
        && !value.contains('/')
        && is_random(value)
        && !is_uuid(value);
    is_value.then(|| (start..start + value.len(), "a secret with its label"))
}

/// Bytes of the longest secret. Private keys are the longest; without a bound a hostile text would
/// be read again from each mark.
const MAX_SECRET: usize = 8 << 10;

/// Where the bytes from `start` on end that satisfy `is_part`, at most [`MAX_SECRET`] of them.
fn end_of_run(text: &str, start: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let longest = text.as_bytes()[start..].iter().take(MAX_SECRET);
    start + longest.take_while(|byte| is_part(**byte)).count()
}

/// Words that only a placeholder contains, in lower case. A real secret has one of them by chance
/// only, and then it is not found.
#[rustfmt::skip]
const PLACEHOLDER_WORDS: &[&str] = &[
    "example", "xxx", "your", "placeholder", "changeme", "change-me", "dummy", "sample", "redacted",
    "todo", "insert", "replace", "fake", "test", "abcdef", "123456", "0000", "1111", "aaaa", "...",
    "***", "foobar", "secret", "password", "token", "${", "{{", "<", "mypass", "my_", "my-",
    "notreal",
];

/// Whether a value stands for a secret instead of being one: `${TOKEN}`, `<your key>`, `xxxx`.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['$', '{', '<', '%', '*', '['])
        || PLACEHOLDER_WORDS.iter().any(|word| lower.contains(word))
}

/// Whether a value is not a placeholder and has as many different characters as chance would give.
fn is_random(value: &str) -> bool {
    is_varied(value) && !is_placeholder(value)
}

/// Whether a value has at least 8 different bytes, or if it is shorter than 16 bytes, half as many
/// different ones as bytes and at least 6.
fn is_varied(value: &str) -> bool {
    let mut seen = [false; 256];
    value.bytes().for_each(|byte| seen[byte as usize] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    // A random value of 16 bytes has far more than 8 different ones; `aaaabbbb…` has few.
    different >= 8.min(value.len() / 2).max(6)
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a value is a UUID: those identify things and are not secret. 8-4-4-4-12 hexadecimal
/// digits.
fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() }
        })
}

// The alphabets of tokens. Each issuer uses one, and a byte outside of it ends the token.
fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_dashed(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_dotted(byte: u8) -> bool {
    is_dashed(byte) || byte == b'.'
}

fn is_path(byte: u8) -> bool {
    is_dashed(byte) || byte == b'/'
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
