//! The table of values in settings of servers that are secrets, and of near misses that are not.
//! Every row is a server of one servers file, which is checked without starting anything.

use serde_json::{Value as Json, json};

use crate::calling::run;
use crate::program::folder;

/// The entry of a server with a variable.
fn env(name: &str, value: &str) -> Json {
    json!({"command": "srv", "env": {name: value}})
}

/// The entry of a server with these words as its command.
fn words(words: &[&str]) -> Json {
    json!({"command": words[0], "args": words[1..]})
}

/// The entry of a server that a shell starts.
fn line(line: &str) -> Json {
    words(&["sh", "-c", line])
}

fn url(url: &str) -> Json {
    json!({"url": url})
}

fn header(name: &str, value: &str) -> Json {
    json!({"url": "https://h.example/mcp", "headers": {name: value}})
}

/// The entry of a server with a setting of another client.
fn with(key: &str, value: Json) -> Json {
    json!({"command": "srv", key: value})
}

/// A random word, in parts so that scanners find none in this file.
fn random() -> String {
    ["kd93jf20", "qq7Zx4Lm"].concat()
}

/// A commit.
fn hash() -> String {
    ["9f8a7b6c5d4e3f2a1b0c", "9d8e7f6a5b4c3d2e1f0a"].concat()
}

/// Entries with the secret that is found in each.
fn secrets() -> Vec<(Json, String)> {
    let r = random();
    let own = |entry: Json, secret: &str| (entry, secret.to_owned());
    vec![
        // Lines of shells.
        own(line("srv --token \"rutabaga stew\""), "rutabaga stew"),
        own(line("srv --token='rutabaga stew' --port 80"), "rutabaga stew"),
        own(line("export API_KEY=\"rutabaga stew\"; srv"), "rutabaga stew"),
        own(line("curl -u ann:kumquat https://h/x"), "kumquat"),
        own(line("curl -s -uann:kumquat https://h/x"), "kumquat"),
        own(line("cd /x && curl --user 'ann:kum/quat' https://h/x"), "kum/quat"),
        own(line(&format!("srv --token ${{TOKEN:-{r}}}")), &r),
        own(line("srv --password \"kumquat$(date)\""), "kumquat"),
        own(line("curl \"https://ann:kumquat$(date)@h/x\""), "kumquat"),
        // Options.
        own(words(&["srv", "--token", "rutabaga stew"]), "rutabaga stew"),
        own(words(&["srv", "-u", "elastic:kumquat"]), "kumquat"),
        own(words(&["srv", "--user=elastic:kumquat"]), "kumquat"),
        own(words(&["curl", "-u", "ann:12345", "https://h/x"]), "12345"),
        own(words(&["srv", "--token", &format!("${{TOKEN:-{r}}}")]), &r),
        own(words(&["srv", "--token=${SOME_TOKEN:-kumquat}"]), "kumquat"),
        own(words(&["srv", "--password", "${X-kumquat}"]), "kumquat"),
        own(words(&["srv", "${API_KEY:-kumquat}"]), "kumquat"),
        own(words(&["srv", "--bot-token", "123456789:AAkumquat"]), "AAkumquat"),
        own(words(&["srv", "--stripe-key", "kumquat"]), "kumquat"),
        own(words(&["srv", &format!("https://h/x?t={r}")]), &r),
        own(words(&["mcp-remote", &format!("https://h/s/{}/mcp", hash())]), &hash()),
        // Variables.
        own(env("API_KEY", "horse"), "horse"),
        own(env("OPENAI_KEY", "kumquat"), "kumquat"),
        own(env("GITHUB_TOKEN", "horse"), "horse"),
        own(env("SLACK_BOT_TOKEN", "marzipan-cake"), "marzipan-cake"),
        own(env("WEBHOOK_SECRET", "horse"), "horse"),
        own(env("DB_PASSWORD", "horse"), "horse"),
        own(env("ENCRYPTION_KEY", "horse battery"), "horse battery"),
        own(env("API_KEY", "${API_KEY:-kumquat}"), "kumquat"),
        own(env("DATABASE_URL", "postgres://ann:${PGPASSWORD:-kumquat}@db/x"), "kumquat"),
        own(env("LICENSE_KEY", "Kumquat"), "Kumquat"),
        // Headers and addresses.
        own(header("Authorization", "Bearer horse"), "horse"),
        own(header("X-Api-Key", "${API_KEY:-kumquat}"), "kumquat"),
        own(url(&format!("https://h.example/mcp?t={r}")), &r),
        own(url(&format!("https://h.example/mcp?a=1&k={r}#x")), &r),
        own(url("https://h.example/mcp?token=kumquat"), "kumquat"),
        // Settings of other clients.
        own(with("oauth", json!({"clientId": "my-app", "clientSecret": "kumquat"})), "kumquat"),
        own(with("oauth", json!({"client_secret": "kumquat"})), "kumquat"),
        own(with("auth", json!({"type": "key", "apiKey": "kumquat"})), "kumquat"),
        own(with("settings", json!({"list": [{"api_key": "kumquat"}]})), "kumquat"),
        own(with("initOptions", json!({"url": "https://ann:kumquat@h/x"})), "kumquat"),
    ]
}

/// Entries that look like those with a secret, and have none.
fn near_misses() -> Vec<Json> {
    let (hash, r) = (hash(), random());
    let in_url = |path: &str| words(&["srv", &path.replace("HASH", &hash)]);
    vec![
        // Options that stand for something else.
        words(&["kubectl", "exec", "-t", "api-7f8a9b6c5d-x2k4q", "--", "srv"]),
        words(&["kubectl", "exec", "-t", &r]),
        words(&["sudo", "docker", "run", "-t", &r]),
        line(&format!("kubectl exec -t {r} -- srv")),
        words(&["docker", "run", "-u", "node:staff", "img"]),
        words(&["docker", "run", "--user=node:staff", "img"]),
        words(&["srv", "-u", "1000:1000"]),
        words(&["srv", "-u", "localhost:8080"]),
        words(&["srv", "-u", "host:/srv/data"]),
        words(&["curl", "-u", "ann:${PASSWORD}", "https://h/x"]),
        words(&["curl", "-u", "ann", "https://h/x"]),
        words(&["git", "log", "-p", &hash]),
        words(&["srv", "--token", "env:GITHUB_TOKEN"]),
        words(&["srv", "--stop-token", "END"]),
        words(&["srv", "--sort-key", "name"]),
        words(&["srv", "--key", "name"]),
        words(&["srv", "--ssl-key", "server.key"]),
        // Commits.
        words(&["srv", "--rev", &hash]),
        words(&["srv", &format!("--ref={hash}")]),
        words(&["npx", &format!("github:o/r#{hash}")]),
        words(&["uvx", "--from", &format!("git+https://github.com/o/mcp@{hash}"), "srv"]),
        in_url("https://github.com/o/mcp/blob/HASH/x.py"),
        in_url("https://github.com/o/mcp/tree/HASH"),
        in_url("https://github.com/o/mcp/compare/HASH...HASH"),
        in_url("https://raw.githubusercontent.com/o/mcp/HASH/x.json"),
        in_url("https://gitlab.com/o/mcp/-/raw/HASH/x.json"),
        in_url("https://h.example/mcp?ref=HASH"),
        in_url("https://h.example/mcp?project_id=HASH"),
        url(&format!("https://h.example/mcp?v={r}")),
        url("https://h.example/mcp?t=short"),
        url("https://h.example/mcp?t=${TOKEN}"),
        url("https://h.example/mcp?region=eu-central-1-production"),
        // Defaults.
        words(&["srv", "--token", "${TOKEN:-}"]),
        words(&["srv", "--token", "${TOKEN:-none}"]),
        words(&["srv", "--port", "${PORT:-8080}"]),
        words(&["srv", "--model", "${MODEL:-kumquat}"]),
        env("API_KEY", "${API_KEY}"),
        // Values that are not secret.
        env("KEY", "true"),
        env("USE_API_KEY", "false"),
        env("SORT_KEY", "name"),
        env("PARTITION_KEY", "tenant"),
        env("JIRA_PROJECT_KEY", "ABC"),
        env("CACHE_KEY", "weather"),
        env("PUBLIC_KEY_PATH", "/etc/keys/id.pub"),
        env("SSH_KEY", "id_ed25519"),
        env("TLS_KEY", "server.key"),
        env("PUBLIC_KEY", "kumquat"),
        env("EOS_TOKEN", "</s>"),
        env("MAX_TOKEN", "kumquat"),
        env("TOKEN_LIMIT", "kumquat"),
        env("AUTH_TOKEN", "keychain"),
        env("API_TOKEN", ""),
        env("API_TOKEN", "4096"),
        env("API_KEY", "<your-key>"),
        env("API_KEY", "YOUR_API_KEY"),
        env("API_KEY", "changeme"),
        env("DB_PASSWORD", "arn:aws:secretsmanager:eu:1:secret:x"),
        header("Authorization", "Bearer ${TOKEN}"),
        header("Authorization", "Bearer"),
        header("Cookie", "theme=dark"),
        with("oauth", json!({"clientId": "my-app", "scopes": ["read", "write"]})),
        with("oauth", json!({"clientSecret": "${CLIENT_SECRET}"})),
        with("settings", json!({"apiKey": "", "sortKey": "name", "apiKeyFile": "kumquat"})),
    ]
}

/// A servers file of these entries, each named by its number.
fn servers<'e>(entries: impl Iterator<Item = &'e Json>) -> String {
    let named = entries.enumerate().map(|(n, entry)| (format!("s{n}"), entry.clone()));
    let named: serde_json::Map<String, Json> = named.collect();
    format!("{:#}\n", json!({ "mcpServers": named }))
}

/// Whether there is an error about a secret in the server of this number.
fn is_found(findings: &[Json], n: usize) -> bool {
    let place = format!("/mcpServers/s{n}/");
    findings.iter().any(|it| {
        it["severity"] == "error" && it["path"].as_str().is_some_and(|at| at.starts_with(&place))
    })
}

#[test]
fn secrets_are_found_hidden_and_replaced() {
    let rows = secrets();
    assert!(rows.len() >= 30);
    let folder = folder(&[(".mcp.json", servers(rows.iter().map(|row| &row.0)).as_bytes())]);
    let select = ["--select", "LITERAL_SECRET", ".mcp.json"];
    let check = ["check", "--no-start", "--output-format", "json"];
    let found = run(folder.path(), &[&check[..], &select].concat());
    let findings: Vec<Json> =
        found.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for (n, (entry, secret)) in rows.iter().enumerate() {
        assert!(is_found(&findings, n), "{entry}");
        // Short words of English are in messages for other reasons.
        assert!(secret == "horse" || !found.stdout.contains(secret.as_str()), "{secret}");
    }
    let diff = ["check", "--no-start", "--unsafe-fixes", "--diff", ".mcp.json"];
    let diff = run(folder.path(), &diff);
    let fixed = run(folder.path(), &["check", "--no-start", "--unsafe-fixes", ".mcp.json"]);
    let text = std::fs::read_to_string(folder.path().join(".mcp.json")).expect("the file");
    for (_, secret) in &rows {
        for shown in [&text, &diff.stdout, &diff.stderr, &fixed.stdout, &fixed.stderr] {
            assert!(!shown.contains(secret.as_str()), "{secret}: {shown}");
        }
    }
    let again = run(folder.path(), &[&check[..], &select].concat());
    assert_eq!(again.stdout, "", "a second run finds nothing");
}

#[test]
fn near_misses_are_not_secrets() {
    let rows = near_misses();
    assert!(rows.len() >= 30);
    let folder = folder(&[(".mcp.json", servers(rows.iter()).as_bytes())]);
    let args = ["check", "--no-start", "--output-format", "json", "--select", "LITERAL_SECRET"];
    let found = run(folder.path(), &[&args[..], &[".mcp.json"]].concat());
    let findings: Vec<Json> =
        found.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for (n, entry) in rows.iter().enumerate() {
        assert!(!is_found(&findings, n), "{entry}");
    }
    assert_eq!(found.stdout, "");
}

/// Two secrets never become one variable, and a secret that stands in two places stays one.
#[test]
fn different_secrets_get_different_variables() {
    let entries = [
        env("API_KEY", "kumquat"),
        env("API_KEY", "rutabaga"),
        env("API_KEY", "kumquat"),
        json!({"command": "srv", "env": {"OTHER_KEY": "${OTHER_KEY}"}}),
        env("OTHER_KEY", "marzipan"),
        words(&["srv", "--token", "${SOME_TOKEN:-kumquat}"]),
        words(&["srv", "--token", "${SOME_TOKEN:-rutabaga}"]),
    ];
    let folder = folder(&[(".mcp.json", servers(entries.iter()).as_bytes())]);
    run(folder.path(), &["check", "--no-start", "--unsafe-fixes", ".mcp.json"]);
    let text = std::fs::read_to_string(folder.path().join(".mcp.json")).expect("the file");
    let fixed: Json = serde_json::from_str(&text).expect("JSON");
    let of = |n: usize| {
        let server = &fixed["mcpServers"][format!("s{n}")];
        let value = server["env"].as_object().and_then(|env| env.values().next());
        value.unwrap_or(&server["args"][1]).as_str().expect("a text").to_owned()
    };
    let values: Vec<String> = (0..entries.len()).map(of).collect();
    assert_eq!(
        values,
        [
            "${API_KEY}",
            "${S1_API_KEY}",
            "${API_KEY}",
            "${OTHER_KEY}",
            "${S4_OTHER_KEY}",
            "${SOME_TOKEN}",
            "${S6_SOME_TOKEN}",
        ]
    );
    // A configuration is fixed in the same way.
    let source = |name: &str, secret: &str| {
        format!(
            "[[source]]\nname = \"{name}\"\ncommand = \"srv\"\nenv = {{ API_KEY = \"{secret}\" }}\n"
        )
    };
    let config = source("one", "kumquat") + &source("two", "rutabaga");
    std::fs::write(folder.path().join("toolwright.toml"), config).expect("a file");
    run(folder.path(), &["check", "--no-start", "--unsafe-fixes", "toolwright.toml"]);
    let text = std::fs::read_to_string(folder.path().join("toolwright.toml")).expect("the file");
    assert_eq!(text, source("one", "${API_KEY}") + &source("two", "${TWO_API_KEY}"),);
}
