//! The settings of a source as they are written, for `server_rules`. Values of the wrong type are
//! left out: `keys` reports them.
//!
//! `config` reads the same table with references expanded. This is the other view of it, for rules
//! that judge what the author wrote (`server_rules`): nothing is expanded, and every text has the
//! place at which it can be replaced.

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolwright_source::DocumentPath;

use super::key_checks::{members_in_order, span};
use super::{ConfigPlace, words};
use crate::server_rules::{ReferenceStyle, WrittenServer, WrittenText};

/// The settings of the source at `at`.
///
/// Made for every `[[source]]` that is a table, before its keys are checked: a secret in a source
/// with a mistake is reported as well.
pub(super) fn source(
    table: &DeTable<'_>,
    item: &Spanned<DeValue<'_>>,
    at: &DocumentPath,
) -> WrittenServer<ConfigPlace> {
    let text = |key: &str| {
        let value = table.get(key)?;
        Some(written(value, value.get_ref().as_str()?, at.child(key), true))
    };
    WrittenServer {
        name: text("name").map_or_else(String::new, |name| name.text),
        at: ConfigPlace { span: span(&item.span()), path: at.clone(), is_whole_value: false },
        disabled: false,
        command: command(table, at),
        environment: pairs(table, "env", at),
        headers: pairs(table, "headers", at),
        url: text("url"),
        directory: text("directory"),
        other_values: other_values(table, at),
        style: ReferenceStyle::Plain,
    }
}

/// The strings of keys that neither start nor reach a server, each with its key. Most of these keys
/// are mistakes, and a secret is one wherever it stands.
///
/// A walk without recursion. A text in a list has the key of the list.
fn other_values(table: &DeTable<'_>, at: &DocumentPath) -> Vec<(String, WrittenText<ConfigPlace>)> {
    const USED: [&str; 6] = ["name", "command", "env", "headers", "url", "directory"];
    let mut values = Vec::new();
    let mut open = members_backwards(table, at);
    open.retain(|(name, ..)| !USED.contains(&name.as_str()));
    while let Some((key, value, at)) = open.pop() {
        match value.get_ref() {
            DeValue::String(text) => values.push((key, written(value, text, at, true))),
            DeValue::Table(table) => open.extend(members_backwards(table, &at)),
            DeValue::Array(items) => {
                let item = |(n, item)| (key.clone(), item, at.child(n));
                open.extend(items.iter().enumerate().map(item).rev());
            }
            _ => {}
        }
    }
    values
}

/// The members of a table, the last one first, each with its key and its path.
/// Backwards, because the walk takes them from the end of a list.
fn members_backwards<'t, 'i>(
    table: &'t DeTable<'i>,
    at: &DocumentPath,
) -> Vec<(String, &'t Spanned<DeValue<'i>>, DocumentPath)> {
    let member = |(name, value): (&Spanned<_>, &'t Spanned<DeValue<'i>>)| {
        let name: &str = AsRef::<str>::as_ref(name.get_ref());
        (name.to_owned(), value, at.child(name))
    };
    members_in_order(table).into_iter().map(member).rev().collect()
}

/// A text at the place of its value. `is_whole_value` is false for a word of a command line, which
/// shares its place with the others.
fn written(
    value: &Spanned<DeValue<'_>>,
    text: &str,
    path: DocumentPath,
    is_whole_value: bool,
) -> WrittenText<ConfigPlace> {
    let at = ConfigPlace { span: span(&value.span()), path, is_whole_value };
    WrittenText { text: text.to_owned(), at }
}

/// The words of `command`: each at its place in a list, all at one place in a line.
///
/// `is_whole_value` is false for words of a line, so that no fix is offered there.
fn command(table: &DeTable<'_>, at: &DocumentPath) -> Vec<WrittenText<ConfigPlace>> {
    let Some(value) = table.get("command") else { return Vec::new() };
    let at = at.child("command");
    match value.get_ref() {
        DeValue::Array(items) => {
            let word = |(n, item): (usize, &Spanned<DeValue<'_>>)| {
                Some(written(item, item.get_ref().as_str()?, at.child(n), true))
            };
            items.iter().enumerate().filter_map(word).collect()
        }
        line => {
            let words = words(line).unwrap_or_default();
            words.iter().map(|word| written(value, word, at.clone(), false)).collect()
        }
    }
}

/// The strings of the table at `key`.
fn pairs(
    table: &DeTable<'_>,
    key: &str,
    at: &DocumentPath,
) -> Vec<(String, WrittenText<ConfigPlace>)> {
    let Some(DeValue::Table(values)) = table.get(key).map(Spanned::get_ref) else {
        return Vec::new();
    };
    let pair = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &str = AsRef::<str>::as_ref(name.get_ref());
        let path = at.child(key).child(name);
        Some((name.to_owned(), written(value, value.get_ref().as_str()?, path, true)))
    };
    members_in_order(values).into_iter().filter_map(pair).collect()
}
