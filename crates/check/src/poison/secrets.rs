//! SECRET_IN_DEFINITION: keys, tokens, private keys and passwords, as their issuers write them.
//! Placeholders are not secrets, and neither is a long word: a value counts only where its form or
//! its label says so.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Hit, has_long_run};

/// Secrets in `text`.
pub(crate) fn secrets(text: &str) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    // Only a password in a URL and a private key on many lines can do without one, and both have a
    // sign.
    if !has_long_run(text)
        && !text.bytes().fold(false, |any, byte| any | matches!(byte, b':' | b'-'))
    {
        return hits;
    }
    for mark in MARKS.find_overlapping_iter(text) {
        let found = match mark.pattern().as_usize().checked_sub(TOKENS.len()) {
            None => token(text, mark.start(), &TOKENS[mark.pattern().as_usize()]),
            Some(index) => OTHERS[index].1(text, mark.range()),
        };
        let Some((range, what)) = found else { continue };
        if hits.iter().any(|hit| hit.range.start < range.end && range.start < hit.range.end) {
            continue;
        }
        let shown: String = text[range.clone()].chars().take(6).collect();
        let message = format!("`{shown}…` looks like {what}");
        let help = "revoke it and take it out; whoever can read the definition has it".to_owned();
        hits.push(Hit { range, message, help: Some(help) });
    }
    hits
}

/// A token that its beginning gives away.
struct Token {
    prefix: &'static str,
    what: &'static str,
    /// Characters of the rest, and what they may be.
    least: usize,
    most: usize,
    is_body: fn(u8) -> bool,
}

const fn issued(
    prefix: &'static str,
    what: &'static str,
    least: usize,
    most: usize,
    is_body: fn(u8) -> bool,
) -> Token {
    Token { prefix, what, least, most, is_body }
}

#[rustfmt::skip]
const TOKENS: &[Token] = &[
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
    issued("https://hooks.slack.com/services/T", "a Slack webhook", 30, 90, is_path),
    issued("https://discord.com/api/webhooks/", "a Discord webhook", 70, 120, is_path),
];

type Finder = fn(&str, Range<usize>) -> Option<(Range<usize>, &'static str)>;

/// Secrets that need a closer look.
const OTHERS: &[(&str, Finder)] = &[
    ("eyJ", json_web_token),
    ("-----BEGIN ", private_key),
    ("://", url_password),
    ("AccountKey=", account_key),
    ("earer ", bearer),
    ("assword", labelled),
    ("asswd", labelled),
    ("ASSWORD", labelled),
    ("ecret", labelled),
    ("ECRET", labelled),
    ("oken", labelled),
    ("OKEN", labelled),
    ("api_key", labelled),
    ("API_KEY", labelled),
    ("apiKey", labelled),
    ("api-key", labelled),
    ("API key", labelled),
    ("access_key", labelled),
    ("ACCESS_KEY", labelled),
];

static MARKS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let marks = TOKENS.iter().map(|token| token.prefix).chain(OTHERS.iter().map(|(mark, _)| *mark));
    AhoCorasick::builder()
        .match_kind(MatchKind::Standard)
        .build(marks)
        .expect("a few dozen short marks")
});

fn token(text: &str, start: usize, token: &Token) -> Option<(Range<usize>, &'static str)> {
    let bytes = text.as_bytes();
    if start > 0 && (is_word(bytes[start - 1]) || bytes[start - 1] == b'-') {
        return None;
    }
    let body = start + token.prefix.len();
    let len = bytes[body..].iter().take_while(|byte| (token.is_body)(**byte)).count();
    let fits = (token.least..=token.most).contains(&len);
    (fits && is_random(&text[body..body + len])).then_some((start..body + len, token.what))
}

fn json_web_token(text: &str, mark: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let end = extent(text, mark.start, is_dotted);
    let mut parts = text[mark.start..end].split('.');
    let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let long = header.len() >= 16 && payload.len() >= 16 && signature.len() >= 32;
    (long && payload.starts_with("eyJ") && is_random(signature))
        .then_some((mark.start..end, "a JSON Web Token"))
}

/// A key is there if its body is: documentation often shows the frame alone.
fn private_key(text: &str, mark: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let (title, body) = text[mark.end..].split_once("-----")?;
    if title.len() > 40 || !title.ends_with("PRIVATE KEY") && !title.ends_with("PRIVATE KEY BLOCK")
    {
        return None;
    }
    let body: String = body.split("-----").next()?.replace("\\n", "").split_whitespace().collect();
    let end = text[mark.end..].find("-----END").map_or(text.len(), |len| mark.end + len);
    let is_key = body.len() >= 40
        && body.bytes().all(|byte| is_base64(byte) || byte == b':' || byte == b'-' || byte == b',')
        // Keys of OpenSSH begin with zeros, which look like a stand-in.
        && is_varied(&body);
    is_key.then_some((mark.start..end, "a private key"))
}

fn url_password(text: &str, mark: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let authority = &text[mark.end..extent(text, mark.end, |byte| {
        byte > b' ' && !b"/?#\"'`<>()".contains(&byte) && byte < 0x7F
    })];
    let (user_info, host) = authority.rsplit_once('@')?;
    let (user, password) = user_info.split_once(':')?;
    let start = text[..mark.start]
        .bytes()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'+')
        .count();
    let known = [
        "password", "passwd", "pass", "pwd", "pw", "secret", "token", "user", "postgres", "root",
        "admin", "guest", "test", "p",
    ];
    let lower = password.to_ascii_lowercase();
    let plain =
        known.contains(&lower.as_str()) || lower == user.to_ascii_lowercase() || password.len() < 4;
    let end = mark.end + authority.len();
    (!plain && !host.is_empty() && !is_placeholder(password))
        .then_some((mark.start - start..end, "a URL with a password"))
}

fn account_key(text: &str, mark: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let end = extent(text, mark.end, is_base64);
    (end - mark.end >= 40 && is_random(&text[mark.end..end]))
        .then_some((mark.start..end, "an Azure account key"))
}

fn bearer(text: &str, mark: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let end = extent(text, mark.end, is_dotted);
    (end - mark.end >= 24
        && is_random(&text[mark.end..end])
        && has_digit_and_letter(&text[mark.end..end]))
    .then_some((mark.end..end, "a bearer token"))
}

/// `password: hunter2…`, `API_KEY="…"`: a label, `=` or `:` and a value no one would make up as an
/// example.
fn labelled(text: &str, mark: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let rest = &text[mark.end..];
    let after = rest.trim_start_matches(|c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '"' | '\'' | '`')
    });
    let after = after.trim_start_matches(' ');
    let value = after.strip_prefix(['=', ':'])?.trim_start_matches([' ', '"', '\'', '`', '=']);
    let start = text.len() - value.len();
    // A label and its value stand close together.
    if start - mark.end > 24 {
        return None;
    }
    let end = extent(text, start, |byte| {
        is_base64(byte) || is_dashed(byte) || b".!$%^&*~".contains(&byte)
    });
    let value = text[start..end].trim_end_matches(['.', '!']);
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

fn extent(text: &str, start: usize, is_part: impl Fn(u8) -> bool) -> usize {
    start + text.as_bytes()[start..].iter().take_while(|byte| is_part(**byte)).count()
}

/// Words by which a value says that it only stands for one.
const STAND_INS: &[&str] = &[
    "example",
    "xxx",
    "your",
    "placeholder",
    "changeme",
    "change-me",
    "dummy",
    "sample",
    "redacted",
    "todo",
    "insert",
    "replace",
    "fake",
    "test",
    "abcdef",
    "123456",
    "0000",
    "1111",
    "aaaa",
    "...",
    "***",
    "foobar",
    "secret",
    "password",
    "token",
    "${",
    "{{",
    "<",
    "mypass",
    "my_",
    "my-",
    "notreal",
];

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['$', '{', '<', '%', '*', '['])
        || STAND_INS.iter().any(|word| lower.contains(word))
}

/// Not a placeholder, and as many different characters as chance would give.
fn is_random(value: &str) -> bool {
    is_varied(value) && !is_placeholder(value)
}

fn is_varied(value: &str) -> bool {
    let mut seen = [false; 256];
    value.bytes().for_each(|byte| seen[byte as usize] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    different >= 8.min(value.len() / 2).max(6)
}

fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Ids of things are not secrets.
fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| {
            if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() }
        })
}

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
