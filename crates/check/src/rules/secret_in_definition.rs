//! A definition contains no secrets: no keys, tokens, private keys or passwords.
//!
//! Source: our own advice. Definitions are published, logged and sent to models.
//!
//! What counts as a secret is in `tool_poisoning::secrets`; here is how it is reported. The message
//! shows the first four characters only, because output of a checker ends up in logs. There is no
//! repair: removing the text would hide that the secret must be revoked.
//!
//! Silent about: placeholders, ids, addresses of schemas, code, and `mcpServers`, where clients
//! keep the environment of servers.

use toolwright_source::{Finding, Node};

use crate::report::Report;
use crate::tool_poisoning::{SuspiciousText, find_secrets};

/// The length, in bytes, of the shortest text that can contain a secret: a URL with a password.
const MIN_TEXT_BYTES: usize = 12;

/// How many characters of a secret a message may show. Enough to recognise the kind (`ghp_`,
/// `sk-…`), too few to be of use.
const SHOWN_CHARS: usize = 4;

toolwright_source::codes! {
    SECRET_IN_DEFINITION Warning
        "A text looks like a key, a token, a private key or a password. Definitions are \
         published, logged and sent to models, so everyone who reads one has the secret. \
         Placeholders and ids are not reported. The message shows only the first characters.\n\n\
         Revoke the secret first, because others may have read it already. Then remove it: name \
         the environment variable that holds it, or write a placeholder such as `<your token>` \
         in an example."
    => (
        "tool.json",
        r#"{
  "name": "listRepos",
  "description": "Lists the repositories of an account",
  "inputSchema": {"type": "object", "properties": {"token": {"type": "string"}}},
  "capabilities": [],
  "examples": [{"input": {"token": "ghp_9tQz4LmW7rXk2VbN8sYc3HjD6fGp1AqEuR5T"}}]
}
"#,
        r#"{
  "name": "listRepos",
  "description": "Lists the repositories of an account",
  "inputSchema": {"type": "object", "properties": {"token": {"type": "string"}}},
  "capabilities": [],
  "examples": [{"input": {"token": "<your token>"}}]
}
"#
    )
}

/// Reports the secrets in the text of a value. `label` is the name of the variable that has this
/// value, if the definition names one.
pub(super) fn check_text(node: Node<'_>, text: &str, label: Option<&str>, out: &mut Report<'_>) {
    if text.len() < MIN_TEXT_BYTES {
        return;
    }
    let mut hits = find_secrets(text);
    // With the label only if the text alone shows nothing, so that a secret is not reported twice.
    if let Some(label) = label.filter(|_| hits.is_empty()) {
        hits = find_labelled_secrets(label, text);
    }
    for hit in hits {
        // `get` and not an index: a range that does not fit the text must not end the check.
        let message = masked(&hit.message, text.get(hit.range.clone()).unwrap_or_default());
        let mut finding =
            Finding::new(&SECRET_IN_DEFINITION, node.pointer(), message).within(hit.range);
        finding.help.extend(hit.help);
        out.push_in_document(finding);
    }
}

/// The secrets of a text whose label is in another field. Detection looks for `label=value`, so the
/// text is put in this form, and the ranges are moved back to the text alone.
fn find_labelled_secrets(label: &str, text: &str) -> Vec<SuspiciousText> {
    let lead = format!("{label}=");
    let mut hits = find_secrets(&format!("{lead}{text}"));
    // A hit inside the label is not about the text, and has no position there.
    hits.retain(|hit| hit.range.start >= lead.len());
    for hit in &mut hits {
        hit.range = hit.range.start - lead.len()..hit.range.end - lead.len();
    }
    hits
}

/// The message with at most the first [`SHOWN_CHARS`] characters of the secret, however much of it
/// the detector quotes. A second line of defence: detectors shorten secrets themselves. Example:
/// "`ghp_16…` looks like a GitHub token" becomes "`ghp_…` looks like a GitHub token".
fn masked(message: &str, secret: &str) -> String {
    let end = secret.char_indices().nth(SHOWN_CHARS).map_or(secret.len(), |(at, _)| at);
    let (shown, rest) = secret.split_at(end);
    // The message quotes the start of the secret somewhere. If it does not, it stays as it is.
    let Some((before, after)) = message.split_once(shown).filter(|_| !shown.is_empty()) else {
        return message.to_owned();
    };
    // How much of the rest follows literally; that part is removed.
    let same = after.chars().zip(rest.chars()).take_while(|(a, b)| a == b);
    let quoted: usize = same.map(|(c, _)| c.len_utf8()).sum();
    format!("{before}{shown}{}", &after[quoted..])
}

#[cfg(test)]
mod tests {
    use super::masked;
    use crate::testing::{found, messages};

    const TOKEN: &str = "ghp_9tQz4LmW7rXk2VbN8sYc3HjD6fGp1AqEuR5T";

    #[test]
    fn secrets_are_found_at_their_position_in_a_text() {
        for (text, at) in [
            (
                r#"{"name": "a", "examples": [{"input": {"t": "TOKEN"}}]}"#,
                Some("/examples/0/input/t:1:45"),
            ),
            (
                r#"{"name": "a", "examples": [{"output": "is TOKEN."}]}"#,
                Some("/examples/0/output:1:43"),
            ),
            (
                r#"{"name": "a", "inputSchema": {"default": "TOKEN"}}"#,
                Some("/inputSchema/default:1:43"),
            ),
            (r#"{"name": "a", "inputSchema": {"$id": "TOKEN"}}"#, None),
            (r#"{"name": "a", "inputSchema": {"properties": {"$ref": {"$ref": "TOKEN"}}}}"#, None),
            (
                r#"{"name": "a", "inputSchema": {}, "mcpServers": {"x": {"env": {"T": "TOKEN"}}}}"#,
                None,
            ),
            (
                "tool:\n  id: t\n  mcp_specific:\n    environment_variables: [{name: T, value: TOKEN}]\n",
                Some("/tool/mcp_specific/environment_variables/0/value:4:46"),
            ),
            (
                "tool:\n  id: t\n  mcp_specific:\n    environment_variables: [{name: API_KEY, value: q7Zp2Lw9Xv4Kt8Rm}]\n",
                Some("/tool/mcp_specific/environment_variables/0/value:4:52"),
            ),
            (
                "tool:\n  id: t\n  mcp_specific:\n    environment_variables: [{name: API_KEY, value: \"<your API key>\"}]\n",
                None,
            ),
            (
                "tool:\n  id: t\n  mcp_specific: {connection: {url: \"https://u:q7Zp2Lw9@x.test/\"}}\n",
                Some("/tool/mcp_specific/connection/url:3:37"),
            ),
        ] {
            let expected: Vec<String> =
                at.into_iter().map(|at| format!("SECRET_IN_DEFINITION at {at}")).collect();
            assert_eq!(
                found("SECRET_IN_DEFINITION", &text.replace("TOKEN", TOKEN)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn messages_show_only_the_start_of_a_secret() {
        for value in [TOKEN, "https://u:q7Zp2Lw9@x.test/", "password: q7Zp2Lw9Xv4Kt8Rm"] {
            let text = format!(r#"{{"name": "a", "description": "{value}", "inputSchema": {{}}}}"#);
            let message = messages("SECRET_IN_DEFINITION", &text).concat();
            assert!(
                !message.is_empty()
                    && !message.contains("ghp_9")
                    && !message.contains("q7Zp2")
                    && !message.contains("https"),
                "{message}"
            );
        }
        assert_eq!(masked("`abcdef…` looks like it", "abcdefgh"), "`abcd…` looks like it");
        assert_eq!(masked("`abc` looks like it", "abc"), "`abc` looks like it");
        assert_eq!(masked("nothing", ""), "nothing");
        assert_eq!(masked("`äöüßé…`", "äöüßéa"), "`äöüß…`");
    }
}
