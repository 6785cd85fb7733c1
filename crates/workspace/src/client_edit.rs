//! Edits one entry in the file of an MCP client, for `install`. Everything else in the file stays
//! as it is, to the byte: people keep comments and secrets there.
//!
//! ```text
//! text ─ JSON: edits by path (toolwright_source::edit) ─┐
//!      └ TOML: the lines of one table ──────────────────┴▶ new text ─ parsed again, compared
//! ```
//!
//! The new text is parsed, and used only if it holds the old values and the entry, no more and no
//! less. So an odd spelling of a file leads to a refusal and never to a damaged file.

use serde_json::{Map, Value as Json, json};
use similar::TextDiff;
use toml::de::{DeTable, DeValue};
use toolwright_source::{
    Document, DocumentPath, Edit, Node, Severity, Span, Syntax, TextEdit, plan, splice,
};

use crate::client_files::{ClientFile, ClientFolders, ClientSyntax};

/// Why an entry cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientEditError {
    /// The file is not JSON or TOML.
    #[error("it cannot be parsed: {0}")]
    Unparseable(String),
    /// Something else stands where the servers should be.
    #[error("`{0}` in it is not an object")]
    NotAnObject(String),
    /// The edit would change something else.
    #[error("it is written in a way that cannot be edited without changing something else")]
    Refused,
}

/// The text of a file of a client, and where its servers are.
pub struct ClientText<'t> {
    /// The text; empty if there is no file.
    pub text: &'t str,
    syntax: ClientSyntax,
    servers: DocumentPath,
}

impl<'t> ClientText<'t> {
    /// The text of a client's file.
    pub fn new(file: &ClientFile, folders: &ClientFolders, text: &'t str) -> ClientText<'t> {
        ClientText { text, syntax: file.syntax, servers: file.servers(folders) }
    }

    /// All values of the file. A blank file is an empty object.
    ///
    /// # Errors
    /// If the file cannot be parsed.
    fn values(&self) -> Result<Json, ClientEditError> {
        let values = match self.syntax {
            _ if self.text.trim().is_empty() => Json::Object(Map::new()),
            ClientSyntax::Json => self.document()?.root().to_json(),
            ClientSyntax::Toml => toml_values(self.text)?,
        };
        match values.is_object() {
            true => Ok(values),
            false => Err(ClientEditError::NotAnObject("the whole file".to_owned())),
        }
    }

    /// The JSON document.
    fn document(&self) -> Result<Document, ClientEditError> {
        let document = Document::parse("the file", self.text, Syntax::Jsonc);
        match document.problems().iter().find(|problem| problem.severity == Severity::Error) {
            Some(problem) => Err(ClientEditError::Unparseable(problem.message.clone())),
            None => Ok(document),
        }
    }

    /// The entry of this name.
    ///
    /// # Errors
    /// If the file cannot be parsed, or has no object where servers are.
    pub fn entry(&self, name: &str) -> Result<Option<Json>, ClientEditError> {
        let values = self.values()?;
        Ok(self.servers_of(&values)?.and_then(|servers| servers.get(name)).cloned())
    }

    /// The servers among the values; `None` if there are none yet.
    fn servers_of<'j>(&self, values: &'j Json) -> Result<Option<&'j Json>, ClientEditError> {
        let mut at = values;
        for key in self.servers.tokens() {
            at = match at.get(&*key) {
                Some(value) if value.is_object() => value,
                Some(_) => return Err(ClientEditError::NotAnObject(key.into_owned())),
                None => return Ok(None),
            };
        }
        Ok(Some(at))
    }

    /// The text with the entry of this name set to another value, or removed.
    ///
    /// # Errors
    /// If the file cannot be parsed, or cannot be edited without changing something else.
    ///
    /// The values are changed first, then the text; the text is used only if parsing it gives those
    /// values. So every shortcut in editing text is safe: at worst the edit is refused.
    ///
    /// An entry that is there already gives the same text, so installing twice changes nothing.
    pub fn with_entry(&self, name: &str, entry: Option<&Json>) -> Result<String, ClientEditError> {
        let before = self.values()?;
        let present = self.servers_of(&before)?.and_then(|servers| servers.get(name));
        if present == entry {
            return Ok(self.text.to_owned());
        }
        let keys: Vec<String> = self.servers.tokens().map(|key| key.into_owned()).collect();
        let mut after = before.clone();
        set_entry(&mut after, &keys, name, entry);
        let text = match (self.syntax, entry) {
            (ClientSyntax::Json, Some(_)) if before == Json::Object(Map::new()) => {
                format!("{after:#}\n")
            }
            (ClientSyntax::Json, _) => self.edited_json(&before, &keys, name, entry)?,
            (ClientSyntax::Toml, _) => edited_toml(self.text, &keys, name, entry),
        };
        let edited = ClientText { text: &text, syntax: self.syntax, servers: self.servers.clone() };
        // In TOML, an empty table can be removed as well.
        let mut pruned = after.clone();
        let first = keys.first().map_or("", String::as_str);
        if pruned[first] == Json::Object(Map::new()) {
            set_entry(&mut pruned, &[], first, None);
        }
        match edited.values() {
            Ok(values) if values == after || values == pruned => Ok(text),
            _ => Err(ClientEditError::Refused),
        }
    }

    /// The text of a JSON file with the entry replaced, inserted or removed.
    ///
    /// Objects that are missing on the way (`mcpServers`) are inserted with the entry in them.
    ///
    /// An edit that would take a comment with it is changed so that the comment stays: see
    /// `behind_comment` and `around_comments`.
    fn edited_json(
        &self,
        before: &Json,
        keys: &[String],
        name: &str,
        entry: Option<&Json>,
    ) -> Result<String, ClientEditError> {
        let document = self.document()?;
        // The longest part of the path that exists.
        let mut at = DocumentPath::root();
        let mut value = Some(before);
        let mut missing: Vec<&str> = Vec::new();
        for key in keys.iter().map(String::as_str).chain([name]) {
            value = value.and_then(|value| value.get(key));
            match value {
                Some(_) => at = at.child(key),
                None => missing.push(key),
            }
        }
        let edit = match (missing.split_first(), entry) {
            (None, Some(entry)) => Edit::Replace(at, entry.clone()),
            (None, None) => Edit::Remove(at),
            (Some((first, rest)), Some(entry)) => {
                let wrap =
                    |value, key: &&str| Json::Object(Map::from_iter([(key.to_string(), value)]));
                Edit::Insert(at.child(*first), rest.iter().rev().fold(entry.clone(), wrap))
            }
            (Some(_), None) => return Ok(self.text.to_owned()),
        };
        let planned = plan(&document, std::slice::from_ref(&edit));
        let planned = planned.map_err(|_| ClientEditError::Refused)?.into_iter();
        let edits: Vec<TextEdit> = match edit {
            Edit::Insert(..) => planned.flat_map(|it| behind_comment(&document, it)).collect(),
            Edit::Remove(at) => {
                planned.flat_map(|it| around_comments(&document, it, &at)).collect()
            }
            _ => planned.collect(),
        };
        Ok(splice(self.text, &edits))
    }
}

/// Removes a member and leaves the comments around it where they are.
///
/// ```text
/// "a": 1, // about a          "a": 1 // about a
/// // a note            ─▶     // a note
/// "b": 2                      }
/// }
/// ```
///
/// `edit` is what the planner would remove: the member with the white space and comma around it.
/// Only comments inside of that and outside of the member are kept. The removal is split into the
/// spans between them.
fn around_comments(document: &Document, edit: TextEdit, at: &DocumentPath) -> Vec<TextEdit> {
    let text = document.source().text();
    let Some(node) = document.root().find(at) else { return vec![edit] };
    let own = Span::new(node.key().unwrap_or(node).span().start as usize, node.span().end as usize);
    let span = edit.span;
    let is_inside =
        |comment: &Span, span: Span| span.start <= comment.start && comment.end <= span.end;
    let mut kept = document
        .comments()
        .iter()
        .filter(|it| is_inside(it, span) && !is_inside(it, own))
        .peekable();
    if kept.peek().is_none() {
        return vec![edit];
    }
    // The last member of an object leaves `{}` behind, but not where a comment is.
    let (mut from, mut end) = match edit.text.is_empty() {
        true => (edit.span.start as usize, edit.span.end as usize),
        false => (own.start as usize, own.end as usize),
    };
    // A trailing comma goes with the member, and the comma of the member before it stays.
    let behind = &text[own.end as usize..];
    let mut keeps_comma = behind.trim_start().starts_with(',') && end == own.end as usize;
    if keeps_comma {
        end += behind.find(',').map_or(0, |at| at + 1);
    }
    let mut edits = Vec::new();
    let mut remove = |from: usize, to: usize| {
        if from < to {
            edits.push(TextEdit { span: Span::new(from, to), text: String::new() });
        }
    };
    for comment in kept.filter(|it| edit.text.is_empty() && it.end as usize <= end) {
        let start = comment.start as usize;
        if !std::mem::take(&mut keeps_comma) {
            remove(from, text[..start].trim_end_matches([' ', '\t']).len().max(from));
        }
        // If the line ends in CR LF, the comment includes the CR.
        from = start + text[start..comment.end as usize].trim_end_matches('\r').len();
    }
    remove(from, end);
    edits
}

/// Moves a new member behind the comment on the line of the member before it, which is about that
/// member:
///
/// ```text
/// "a": 1 // why          "a": 1, // why
/// }                 ─▶   "new": 2
///                        }
/// ```
///
/// Without it the new member would stand before the comment, which would then look as if it were
/// about the new one.
fn behind_comment(document: &Document, edit: TextEdit) -> Vec<TextEdit> {
    let text = document.source().text();
    let at = edit.span.start as usize;
    let line_end = text[at..].find(['\r', '\n']).map_or(text.len(), |n| at + n);
    // A comment that goes on behind the line would swallow the member.
    let on_line = |comment: &&Span| {
        let (start, end) = (comment.start as usize, comment.end as usize);
        (at..line_end).contains(&start) && (end <= line_end || text[start..].starts_with("//"))
    };
    let Some(member) = edit.text.strip_prefix(',').filter(|_| edit.span.start == edit.span.end)
    else {
        return vec![edit];
    };
    let Some(comment) = document.comments().iter().find(on_line) else { return vec![edit] };
    let insert =
        |at: usize, text: &str| TextEdit { span: Span::new(at, at), text: text.to_owned() };
    match &text[at..comment.start as usize] {
        between if between.trim().is_empty() => vec![insert(at, ","), insert(line_end, member)],
        // The member has a trailing comma already, and the new one gets one, too.
        between if between.trim() == "," => vec![insert(line_end, &format!("{member},"))],
        _ => vec![edit],
    }
}

/// Sets a member below `keys`, or removes it. Objects that are missing on the way are made.
///
/// The same change on the values that the text edit has to have; the two results are compared.
fn set_entry(values: &mut Json, keys: &[String], name: &str, entry: Option<&Json>) {
    let mut at = values;
    for key in keys {
        let Json::Object(members) = at else { return };
        at = members.entry(key.clone()).or_insert_with(|| Json::Object(Map::new()));
    }
    let Json::Object(members) = at else { return };
    match entry {
        Some(entry) => drop(members.insert(name.to_owned(), entry.clone())),
        // Keeps the order of the others.
        None => drop(members.shift_remove(name)),
    }
}

/// The values of a TOML text.
///
/// # Errors
/// If it is not TOML.
pub(crate) fn toml_values(text: &str) -> Result<Json, ClientEditError> {
    let table = DeTable::parse(text)
        .map_err(|error| ClientEditError::Unparseable(error.message().to_owned()))?;
    Ok(table_json(table.get_ref()))
}

/// A TOML table as JSON.
fn table_json(table: &DeTable<'_>) -> Json {
    let members =
        table.iter().map(|(key, value)| (key.get_ref().to_string(), value_json(value.get_ref())));
    Json::Object(members.collect())
}

/// A TOML value as JSON. What JSON does not have becomes something that cannot be written as TOML:
/// it can be compared, and an entry with it is not written. The recursion is bounded by the parser,
/// which refuses 80 levels.
fn value_json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::String(text.to_string()),
        DeValue::Boolean(flag) => Json::Bool(*flag),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Json::from(number),
            Err(_) => json!([null, number.to_string()]),
        },
        DeValue::Float(number) => json!([null, number.to_string()]),
        DeValue::Datetime(time) => json!([null, time.to_string()]),
        DeValue::Array(items) => items.iter().map(|item| value_json(item.get_ref())).collect(),
        DeValue::Table(table) => table_json(table),
    }
}

/// The TOML text with the table `[keys.name]` replaced, appended or removed.
///
/// ```text
/// [mcp_servers.notes]         the header, and all lines below it up to another header
/// command = "npx"
///
/// [mcp_servers.notes.env]     is below it, and is removed with it
/// ```
///
/// Works on lines, since no editing TOML parser is used. What it gets wrong is found when the text
/// is parsed: `with_entry` refuses it.
fn edited_toml(text: &str, keys: &[String], name: &str, entry: Option<&Json>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let header = format!("[{}.{name}]", keys.join("."));
    let block = entry.map(|entry| toml_table(&header, entry, newline)).unwrap_or_default();
    match table_lines(text, &header) {
        Some(lines) => {
            let behind = &text[lines.end..];
            let rest = behind.strip_prefix(newline).filter(|_| block.is_empty());
            format!("{}{}{}", &text[..lines.start], block.trim_end(), rest.unwrap_or(behind))
        }
        None if text.trim().is_empty() => block,
        None => format!("{}{newline}{newline}{block}", text.trim_end()),
    }
}

/// The bytes from the header of a table to its last line before a header that is not below it.
/// Blank lines and comments behind that line belong to what follows.
///
/// `None` if there is no such table, also if it is written inline.
fn table_lines(text: &str, header: &str) -> Option<std::ops::Range<usize>> {
    let below = format!("{}.", header.trim_end_matches(']'));
    let mut lines: Option<std::ops::Range<usize>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        // `[a . "b"] # c` is the same header as `[a.b]`. Where that is not right, the values of the
        // new text are wrong, and the edit is refused.
        let code = line.split('#').next().unwrap_or("");
        let code: String = code.chars().filter(|c| !" \t\"'\r\n".contains(*c)).collect();
        let end = at + line.trim_end().len();
        match &mut lines {
            None if code == header => lines = Some(at..end),
            Some(_) if code.starts_with('[') && code != header && !code.starts_with(&below) => {
                break;
            }
            Some(lines) if !code.is_empty() => lines.end = end,
            _ => {}
        }
        at += line.len();
    }
    lines
}

/// A table, `command` first: the order does not depend on the one in which the entry was read.
fn toml_table(header: &str, entry: &Json, newline: &str) -> String {
    let mut members: Vec<(&String, &Json)> = entry.as_object().into_iter().flatten().collect();
    members.sort_by_key(|(key, _)| (*key != "command", *key));
    let line = |(key, value): (&String, &Json)| {
        format!("{} = {}{newline}", toml_key(key), toml_value(value))
    };
    format!("{header}{newline}") + &members.into_iter().map(line).collect::<String>()
}

/// A value as TOML writes it on one line. Strings of JSON are strings of TOML.
pub(crate) fn toml_value(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", "))
        }
        Json::Object(members) => {
            let member = |(key, value): (&String, &Json)| {
                format!("{} = {}", toml_key(key), toml_value(value))
            };
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        // JSON leaves DEL as it is; TOML does not allow it.
        other => other.to_string().replace('\u{7f}', "\\u007f"),
    }
}

/// A key as TOML writes it.
pub(crate) fn toml_key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => toml_value(&Json::from(name)),
    }
}

/// What an edit changes, as a unified diff. Other values of the file may be secrets: of a JSON file
/// all strings outside of the entry are masked, of a TOML file only lines that differ are shown.
pub fn entry_diff(
    name: &str,
    before: &ClientText<'_>,
    after: &ClientText<'_>,
    entry: &str,
) -> String {
    let (old, new) = (before.masked(entry), after.masked(entry));
    let context = if before.syntax == ClientSyntax::Toml { 0 } else { 3 };
    TextDiff::from_lines(old.as_str(), new.as_str())
        .unified_diff()
        .context_radius(context)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

impl ClientText<'_> {
    /// The text with `…` in place of the strings that are not part of the entry.
    ///
    /// All of these strings get the same text, so a line in which only they differ is not shown.
    fn masked(&self, entry: &str) -> String {
        let Ok(document) = self.document() else { return self.text.to_owned() };
        if self.syntax == ClientSyntax::Toml {
            return self.text.to_owned();
        }
        let own = self.servers.child(entry);
        let own = document.root().find(&own).map(Node::span);
        let mut edits = Vec::new();
        let mut open = vec![document.root()];
        while let Some(node) = open.pop() {
            if own.is_some_and(|own| own == node.span()) {
                continue;
            }
            if node.text().is_some() {
                edits.push(TextEdit { span: node.span(), text: "\"…\"".to_owned() });
            }
            open.extend(node.items());
            open.extend(node.members().into_iter().map(|member| member.value));
        }
        edits.sort();
        splice(self.text, &edits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, syntax: ClientSyntax) -> ClientText<'_> {
        ClientText { text, syntax, servers: DocumentPath::root().child("s") }
    }

    /// The text with an entry, and the text after it was removed again.
    fn with_and_without(before: &str, syntax: ClientSyntax) -> (String, String) {
        let entry = json!({"command": "t"});
        let with = text(before, syntax).with_entry("t", Some(&entry)).expect("it can be edited");
        assert_eq!(text(&with, syntax).entry("t"), Ok(Some(entry)), "{with}");
        let without = text(&with, syntax).with_entry("t", None).expect("it can be edited");
        (with, without)
    }

    #[test]
    fn entries_are_written_beside_others_and_removed() {
        let cases = [
            // Comments stay with the member that they are about.
            (
                "{\n  \"s\": {\n    \"a\": {} // about a\n  }\n}\n",
                "{\n  \"s\": {\n    \"a\": {}, // about a\n    \"t\": {\n      \"command\": \"t\"\n    }\n  }\n}\n",
                "{\n  \"s\": {\n    \"a\": {} // about a\n  }\n}\n",
            ),
            // A trailing comma stays one.
            (
                "{\r\n\t\"s\": {\r\n\t\t\"a\": {}, // keep\r\n\t},\r\n}\r\n",
                "{\r\n\t\"s\": {\r\n\t\t\"a\": {}, // keep\r\n\t\t\"t\": {\r\n\t\t\t\"command\": \"t\"\r\n\t\t},\r\n\t},\r\n}\r\n",
                "{\r\n\t\"s\": {\r\n\t\t\"a\": {}, // keep\r\n\t},\r\n}\r\n",
            ),
            (
                "{\"s\":{\"a\":{}}}",
                "{\"s\":{\"a\":{}, \"t\":{\"command\": \"t\"}}}",
                "{\"s\":{\"a\":{}}}",
            ),
        ];
        for (before, with, without) in cases {
            let made = with_and_without(before, ClientSyntax::Json);
            assert_eq!(made, (with.to_owned(), without.to_owned()));
        }
    }

    #[test]
    fn tables_of_toml_are_replaced_and_removed_by_their_lines() {
        let cases = [
            ("", "[s.t]\ncommand = \"t\"\n", ""),
            ("# c\na = 1", "# c\na = 1\n\n[s.t]\ncommand = \"t\"\n", "# c\na = 1\n\n"),
            (
                "[s . \"t\"] # old\nargs = []\n[s.t.env]\nA = \"1\"\n\n# z\n[z]\ny = 1\n",
                "[s.t]\ncommand = \"t\"\n\n# z\n[z]\ny = 1\n",
                "\n# z\n[z]\ny = 1\n",
            ),
        ];
        for (before, with, without) in cases {
            let made = with_and_without(before, ClientSyntax::Toml);
            assert_eq!(made, (with.to_owned(), without.to_owned()), "{before}");
        }
        // What cannot be appended to, and what only looks like a header.
        for odd in [
            "s = { a = {} }\n",
            "[s]\nt = { x = 1 }\n",
            "x = \"\"\"\n[s.t]\n\"\"\"\n[s.t]\nx = 1\n",
        ] {
            let edited =
                text(odd, ClientSyntax::Toml).with_entry("t", Some(&json!({"command": "t"})));
            assert_eq!(edited, Err(ClientEditError::Refused), "{odd}");
        }
    }

    #[test]
    fn a_diff_shows_no_other_values() {
        let before = "{\"s\": {\"a\": {\"env\": {\"TOKEN\": \"secret\"}}}}";
        let before = text(before, ClientSyntax::Json);
        let after =
            before.with_entry("t", Some(&json!({"command": "t"}))).expect("it can be edited");
        let diff = entry_diff("x.json", &before, &text(&after, ClientSyntax::Json), "t");
        assert!(!diff.contains("secret") && diff.contains("\"command\": \"t\""), "{diff}");
    }
}
