//! LITERAL_SECRET: keys, tokens and passwords that stand in the settings of a server; and
//! PLACEHOLDER_VALUE where the settings still say what belongs there.
//!
//! A value is a secret in three ways. Its form shows it, wherever it stands: the tokens that
//! `toolwright_check::secrets_in` knows. Its place does: the password of a URL, a random segment or
//! parameter in the address of a server. Or its label does: the name of a variable, a header, an
//! option, a member of JSON or a parameter of an address. A label alone is not enough, so the value
//! has to look like one: not a reference, a path, a number, a switch, or the name of a setting.
//!
//! ```text
//! words of a command ─── shell_lines ──┐
//! variable, header, ... ───────────────┼─ value_parts, labels ─▶ ValuePart ─┬─▶ finding, fix
//! address ─────────────────────────────┘                                    └─▶ ***
//! ```
//!
//! The replacement puts a reference in the place of the secret. Masking, for everything that prints
//! settings, uses the same parts, so a secret that is reported is never shown.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use toolwright_source::words::shorten;

use super::labels::{PartKind, words_of};
use super::shell_lines::parts_of_words;
use super::value_parts::{ValuePart, is_upper_variable, labelled_value, parts_of_url};
use super::{ServerFinding, WrittenServer, WrittenText};
use crate::codes::{LITERAL_SECRET, PLACEHOLDER_VALUE};
use crate::text_forms::is_variable_name;

/// The variables of one file that stand for secrets. Two secrets never get the same variable, and a
/// secret that is found twice under one name gets one.
#[derive(Debug, Default)]
pub(crate) struct SecretVariables {
    /// The variables that the file refers to already. Their values are not known here.
    referred: HashSet<String>,
    /// The variables that stand for secrets, by the wanted name and the secret.
    given: HashMap<(String, String), String>,
    /// The names in `given`.
    taken: HashSet<String>,
    /// The last number behind a name, so that many secrets of one name take no longer.
    numbers: HashMap<String, usize>,
}

impl SecretVariables {
    /// The variables of a file with these servers, before any secret has one.
    ///
    /// The names that texts refer to are reserved: a secret must not be put in the place of another
    /// variable.
    pub(crate) fn of<P>(servers: &[WrittenServer<P>]) -> SecretVariables {
        let references = servers.iter().flat_map(WrittenServer::texts).flat_map(referred_variables);
        SecretVariables { referred: references.map(str::to_owned).collect(), ..Self::default() }
    }

    /// The variable for a secret of a server: the wanted one, unless it stands for something else.
    /// Then it gets the name of the server before it, or a number behind it.
    ///
    /// ```text
    /// TOKEN, free                                 TOKEN
    /// TOKEN, with another value, of `notes`       NOTES_TOKEN
    /// the same once more                          NOTES_TOKEN_2
    /// ```
    ///
    /// `given` is asked first, so one secret that stands at two places under one name becomes one
    /// variable.
    fn variable_for(
        &mut self,
        wanted: String,
        server: &str,
        part: &ValuePart,
        text: &str,
    ) -> String {
        // `${WANTED:-secret}` is a reference itself.
        let is_own = part.variable.is_some();
        let key = (wanted, text[part.range.clone()].to_owned());
        if let Some(known) = self.given.get(&key) {
            return known.clone();
        }
        let wanted = &key.0;
        let prefix = variable_name(&words_of(server).join("_"));
        let base = match wanted.starts_with(&prefix) {
            true => wanted.clone(),
            false => format!("{prefix}_{wanted}"),
        };
        let is_free = |name: &String| {
            !self.taken.contains(name)
                && (is_own && name == wanted || !self.referred.contains(name))
        };
        let name = match [wanted, &base].into_iter().find(|name| is_free(name)) {
            Some(name) => name.clone(),
            None => {
                let number = self.numbers.entry(base.clone()).or_insert(1);
                let mut numbers = *number + 1..;
                let free = numbers.find(|n| is_free(&format!("{base}_{n}")));
                *number = free.expect("the numbers do not end");
                format!("{base}_{number}")
            }
        };
        self.taken.insert(name.clone());
        self.given.insert(key, name.clone());
        name
    }
}

/// The variables that a text refers to as `${VAR}` or `${env:VAR}`.
fn referred_variables(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix("env:").unwrap_or(rest);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_word(c))?;
        Some(&rest[..end]).filter(|name| is_variable_name(name))
    })
}

/// Reports the secrets and the placeholders of a server, one finding for each value.
///
/// Parts of a value of `env` are not replaced one by one: the whole value becomes one reference,
/// because a program reads the variable as a whole. In all other places only the secret is
/// replaced.
pub(super) fn check<P: Clone>(
    server: &WrittenServer<P>,
    variables: &mut SecretVariables,
) -> Vec<ServerFinding<P>> {
    let mut found = Vec::new();
    for (name, value) in &server.environment {
        let mut parts = labelled_value(name, &value.text, 0);
        // The whole value becomes the variable of the same name: that is what `env` is for.
        parts.sort_by_key(|part| !part.is_secret());
        parts.truncate(1);
        for part in parts.iter_mut().filter(|part| part.variable.is_none()) {
            part.range = 0..value.text.len();
        }
        let label = format!("`{}`", shorten(name));
        found.extend(finding(server, value, &parts, &label, variables, |_| variable_name(name)));
    }
    for (name, value) in &server.headers {
        let parts = labelled_value(name, &value.text, 0);
        let label = format!("the header `{}`", shorten(name));
        let variable = |_: &ValuePart| variable_of(server, Some(name));
        found.extend(finding(server, value, &parts, &label, variables, variable));
    }
    let by_label = |part: &ValuePart| variable_of(server, part.label.as_deref());
    let words: Vec<&str> = server.command.iter().map(|word| word.text.as_str()).collect();
    for (value, parts) in server.command.iter().zip(parts_of_words(&words, 0)) {
        let label = first_label(&parts);
        let label = label.map_or("an argument".to_owned(), |label| format!("`{}`", shorten(label)));
        found.extend(finding(server, value, &parts, &label, variables, by_label));
    }
    if let Some(url) = &server.url {
        let parts = parts_of_url(&url.text);
        let label = first_label(&parts);
        let label = label.map_or("the address".to_owned(), |label| {
            format!("`{}` in the address", shorten(label))
        });
        found.extend(finding(server, url, &parts, &label, variables, by_label));
    }
    for (name, value) in &server.other_values {
        let parts = labelled_value(name, &value.text, 0);
        let label = format!("`{}`", shorten(name));
        found.extend(finding(server, value, &parts, &label, variables, by_label));
    }
    found
}

/// The label of the first secret, or of the first placeholder if there is no secret.
fn first_label(parts: &[ValuePart]) -> Option<&str> {
    parts.iter().find(|part| part.is_secret()).or(parts.first())?.label.as_deref()
}

/// The finding about the parts of one value; `None` if it has none. `label` names the value, and
/// `wanted` is the environment variable that could hold a part.
///
/// A value with a secret and a placeholder is reported for the secret. A placeholder has no fix:
/// the text is not a value that could be moved to a variable.
fn finding<P: Clone>(
    server: &WrittenServer<P>,
    value: &WrittenText<P>,
    parts: &[ValuePart],
    label: &str,
    variables: &mut SecretVariables,
    wanted: impl Fn(&ValuePart) -> String,
) -> Option<ServerFinding<P>> {
    let secret = parts.iter().find(|part| part.is_secret());
    let first_part = secret.or(parts.first())?;
    // A label may be made of a secret, as in `--ghp_…=1`.
    let label = if toolwright_check::secrets_in(label).is_empty() { label } else { "a value" };
    Some(match secret.map(|part| part.kind) {
        Some(PartKind::Secret(what)) => {
            // All of them at once: an edit is printed, and must not have another secret in it.
            let mut secrets: Vec<(Range<usize>, String)> = Vec::new();
            for part in parts.iter().filter(|part| part.is_secret()) {
                let name = part.variable.clone().unwrap_or_else(|| wanted(part));
                let name = variables.variable_for(name, &server.name, part, &value.text);
                secrets.push((part.range.clone(), name));
            }
            let first = server.style.reference(&secrets[0].1);
            let message = format!("{label} holds {what} in plain text");
            let help = format!(
                "write `{first}`, set the environment variable, and revoke the secret if others \
                 could read this file"
            );
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
            let first = server.style.reference(&wanted(first_part));
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

/// A part that belongs to a reference with a default keeps its variable: `${TOKEN:-***}`.
///
/// Placeholders stay, because they are no secrets and show what is missing.
fn mask(text: &str, parts: &[ValuePart]) -> String {
    let secrets = parts.iter().filter(|part| part.is_secret());
    let secrets: Vec<(Range<usize>, String)> = secrets
        .map(|part| (part.range.clone(), part.variable.clone().unwrap_or_default()))
        .collect();
    replaced(text, &secrets, |variable| match variable {
        "" => "***".to_owned(),
        variable => format!("${{{variable}:-***}}"),
    })
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

/// A name as that of a variable: `X-Api-Key` is `X_API_KEY`.
///
/// `SECRET` if nothing of the name can stand in a variable.
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
    // `curl -u ann:horse`: what is secret is the password.
    if words == ["U"] || words == ["USER"] {
        words = vec!["PASSWORD".to_owned()];
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
            other_values: Vec::new(),
            style: ReferenceStyle::Plain,
        }
    }

    /// The findings about a server that is alone in its file.
    fn check(server: &WrittenServer<usize>) -> Vec<ServerFinding<usize>> {
        super::check(server, &mut SecretVariables::of(std::slice::from_ref(server)))
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
                &["sh", "-c", "srv --token \"two words\""],
                "srv --token \"${MY_MAPS_TOKEN}\"",
                "sh -c srv --token \"***\"",
            ),
            (
                &["curl", "-u", "ann:horse", "https://h"],
                "ann:${MY_MAPS_PASSWORD}",
                "curl -u ann:*** https://h",
            ),
            (
                &["docker", "run", "-e", "DB_PASSWORD=correct horse"],
                "DB_PASSWORD=${DB_PASSWORD}",
                "docker run -e DB_PASSWORD=***",
            ),
            (&["x", "--token", "${X:-horse}"], "${X}", "x --token ${X:-***}"),
            (&["x", "--token=a${X:-horse}b"], "--token=a${X}b", "x --token=a${X:-***}b"),
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
            "API_KEY=kd93jf20qq touch /x",
            "PASSWORD=kd93jf20qq touch /x",
            "PASSWORD=\"kd93jf20qq$(touch$IFS/x)\" exec srv",
            "srv --token \"kd93jf20qq$(touch$IFS/x)\"",
            "srv --token ${X:-kd93jf20qq$(touch$IFS/x)}",
            "srv --token \"${X:-kd93jf20qq`touch$IFS/x`}\"",
            "curl -u ann:kd93jf20qq`touch$IFS/x` h",
            "curl \"https://u:kd93jf20qq$(touch$IFS/x)@h/\"",
            "curl \"https://h/mcp?t=kd93jf20qqkd93jf20qq&u=$(touch$IFS/x)\"",
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
