//! LITERAL_SECRET: keys, tokens and passwords that stand in the settings of a server; and
//! PLACEHOLDER_VALUE where the settings still say what belongs there.
//!
//! A value is a secret in two ways. Its form shows it, wherever it stands: the tokens that
//! `toolwright_check::secrets_in` knows. Or its label does: the name of a variable, a header, an
//! option or a parameter of an address. A label alone is not enough, so the value has to look like
//! one: not a reference, a path, a number, a switch, or a plain word where keys are never words.
//!
//! The replacement puts a reference in the place of the secret. Masking, for `show`, uses the same
//! places, so a secret that is reported is never shown.

use std::ops::Range;

use toolwright_source::words::shorten;

use super::labels::{PartKind, named_secret, words_of};
use super::{ServerFinding, WrittenServer, WrittenText};
use crate::codes::{LITERAL_SECRET, PLACEHOLDER_VALUE};
use crate::text_forms::is_variable_name;

/// Reports the secrets and the placeholders of a server, one finding for each value.
pub(super) fn check<P: Clone>(server: &WrittenServer<P>) -> Vec<ServerFinding<P>> {
    let mut found = Vec::new();
    for (name, value) in &server.environment {
        let mut parts = labelled_value(name, &value.text, 0);
        // The whole value becomes the variable of the same name: that is what `env` is for.
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
    for (value, parts) in server.command.iter().zip(parts_of_words(&words)) {
        let label = parts.first().and_then(|part| part.label.as_deref());
        let label = label.map_or("an argument".to_owned(), |label| format!("`{}`", shorten(label)));
        found.extend(finding(server, value, &parts, &label, by_label));
    }
    if let Some(url) = &server.url {
        let parts = parts_of_url(&url.text);
        let label = parts.first().and_then(|part| part.label.as_deref());
        let label = label.map_or("the address".to_owned(), |label| {
            format!("`{}` in the address", shorten(label))
        });
        found.extend(finding(server, url, &parts, &label, by_label));
    }
    found
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
    let reference = |part: &ValuePart| server.style.reference(&variable(part));
    let secret = parts.iter().find(|part| part.is_secret());
    let first = reference(secret.or(parts.first())?);
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
            let text = replace_secrets(&value.text, parts, reference);
            let title = format!("replace the secret by `{first}`");
            ServerFinding {
                replacement: Some((title, text)),
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
    let parts = parts_of_words(words);
    words.iter().zip(parts).map(|(word, parts)| mask(word, &parts)).collect()
}

/// An address with `***` in the place of secrets.
pub(super) fn masked_url(url: &str) -> String {
    mask(url, &parts_of_url(url))
}

fn mask(text: &str, parts: &[ValuePart]) -> String {
    replace_secrets(text, parts, |_| "***".to_owned())
}

/// The text with another one in the place of each secret. The parts do not overlap.
fn replace_secrets(text: &str, parts: &[ValuePart], by: impl Fn(&ValuePart) -> String) -> String {
    let mut parts: Vec<&ValuePart> = parts.iter().filter(|part| part.is_secret()).collect();
    parts.sort_by_key(|part| part.range.start);
    let mut replaced = text.to_owned();
    // From the end, so that the places of the others stay right.
    for part in parts.into_iter().rev() {
        replaced.replace_range(part.range.clone(), &by(part));
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

    fn overlaps(&self, range: &Range<usize>) -> bool {
        self.range.start < range.end && range.start < self.range.end
    }
}

/// The secrets in a text that show by their form.
fn known_secrets(text: &str) -> Vec<ValuePart> {
    let found = toolwright_check::secrets_in(text).into_iter();
    found
        .map(|(range, what)| {
            let secret = &text[range.clone()];
            // Of a URL only the password, of an Azure connection string only the key.
            let range = match what {
                "a URL with a password" => {
                    let user = secret.find("://").map_or(0, |at| at + 3);
                    let start = secret[user..].find(':').map_or(0, |at| user + at + 1);
                    let end = secret.rfind('@').unwrap_or(secret.len());
                    range.start + start..range.start + end.max(start)
                }
                "an Azure account key" => {
                    range.start + secret.find('=').map_or(0, |at| at + 1)..range.end
                }
                _ => range,
            };
            let what = if what == "a URL with a password" { "a password" } else { what };
            let what = if what == "a secret with its label" { "a secret" } else { what };
            ValuePart { range, kind: PartKind::Secret(what), label: None }
        })
        .collect()
}

/// The secrets in a value with a label: those that show by their form, else the value itself if
/// the label says that it is one. `start` is where the value begins in the text that the ranges are
/// for.
fn labelled_value(label: &str, value: &str, start: usize) -> Vec<ValuePart> {
    let mut parts = known_secrets(value);
    if parts.is_empty() {
        let named = named_secret(label, value);
        parts.extend(named.map(|(range, kind)| ValuePart { range, kind, label: None }));
    }
    for part in &mut parts {
        part.range = start + part.range.start..start + part.range.end;
        part.label = Some(label.to_owned());
    }
    parts
}

/// The secrets in the words of a command, a list for each word.
fn parts_of_words(words: &[&str]) -> Vec<Vec<ValuePart>> {
    let parts = |(n, word): (usize, &&str)| match split_label(word) {
        Some((label, start)) => labelled_value(label, &word[start..], start),
        // `--api-key VALUE`. The program itself is not an option.
        None if n > 1 && words[n - 1].starts_with('-') && !words[n - 1].contains('=') => {
            labelled_value(words[n - 1], word, 0)
        }
        None => known_secrets(word),
    };
    words.iter().enumerate().map(parts).collect()
}

/// The label in `--token=VALUE`, `TOKEN=VALUE` and `Authorization: VALUE`, and where the value
/// begins.
fn split_label(word: &str) -> Option<(&str, usize)> {
    let is_label = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = word.find(|c: char| !is_label(c)).filter(|end| (1..=80).contains(end))?;
    let rest = &word[end..];
    // `C:\x` and `https://x` have no label.
    let is_separator = rest.starts_with('=') || rest.starts_with(':') && !rest.starts_with("://");
    (is_separator && end > 1).then(|| {
        let blank = rest[1..].len() - rest[1..].trim_start().len();
        (&word[..end], end + 1 + blank)
    })
}

/// The secrets in an address: its password, values of its query, and tokens anywhere in it.
fn parts_of_url(url: &str) -> Vec<ValuePart> {
    let mut parts = known_secrets(url);
    let query = url.find('?').map_or(url.len(), |at| at + 1);
    let end = url[query..].find('#').map_or(url.len(), |at| query + at);
    let mut start = query;
    for pair in url[query..end].split('&') {
        if let Some((name, value)) = pair.split_once('=') {
            let values = labelled_value(name, value, start + name.len() + 1);
            // A labelled token is among the known secrets as well.
            let is_new = |new: &ValuePart| {
                !parts
                    .iter()
                    .any(|old| old.range.start < new.range.end && new.range.start < old.range.end)
            };
            let values: Vec<ValuePart> = values.into_iter().filter(is_new).collect();
            parts.extend(values);
        }
        start += pair.len() + 1;
    }
    // `user:password@host`, also where the password is short.
    let authority = url.find("://").map_or(url.len(), |at| at + 3);
    let host = url[authority..].find(['/', '?', '#']).map_or(url.len(), |at| authority + at);
    if let Some(at) = url[authority..host].rfind('@')
        && let Some(colon) = url[authority..authority + at].find(':')
    {
        let range = authority + colon + 1..authority + at;
        let is_new = !parts.iter().any(|part| part.overlaps(&range));
        if let Some((_, kind)) = named_secret("password", &url[range.clone()]).filter(|_| is_new) {
            parts.push(ValuePart { range, kind, label: None });
        }
    }
    parts
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
    let is_variable = |label: &&str| is_variable_name(label) && label.contains('_');
    if let Some(label) = label.filter(is_variable).filter(|label| **label == label.to_uppercase()) {
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
            // Placeholders.
            ("GITHUB_TOKEN", "<your-token>", "PLACEHOLDER_VALUE"),
            ("API_KEY", "YOUR_API_KEY", "PLACEHOLDER_VALUE"),
            ("API_KEY", "changeme", "PLACEHOLDER_VALUE"),
            ("API_KEY", "xxxxxxxxxxxxxxxx", "PLACEHOLDER_VALUE"),
            ("GITHUB_TOKEN", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "PLACEHOLDER_VALUE"),
            ("GITHUB_TOKEN", "GITHUB_TOKEN", "PLACEHOLDER_VALUE"),
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
