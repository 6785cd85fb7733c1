//! The checks that follow from the tables in `keys`: each key exists, and its value has the right
//! type and range. Rules that relate two keys are in `config`.
//!
//! ```text
//! check_members ─ each member in the order of the text ─┬─ known ───▶ KeyForm::check ─▶ problems
//!                                                       └─ unknown ─▶ report_unknown_key
//! ```
//!
//! A check only reports. `config` reads the values afterwards, and takes a wrong one for a key that
//! is not set, so that one mistake does not hide another.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};
use toolwright_formats::codes::{
    INVALID_ENUM_VALUE, INVALID_PATTERN, INVALID_TYPE, MISSING_REQUIRED_FIELD, OUT_OF_RANGE,
};
use toolwright_model::Namespace;
use toolwright_schema::Schema;
use toolwright_source::codes::INVALID_SCHEMA;
use toolwright_source::words::{alternatives, nearest_word, shorten, split_words};
use toolwright_source::{Diagnostic, DiagnosticCode, DocumentPath, Severity, Source, Span};

use super::keys::{ConfigKey, KeyForm, RENAMED_KEYS, tables_with_key};
use super::policy_settings::{json_of, parse_grantable};
use super::{LEVEL_WORDS, OLD_NOTE};
use crate::codes::UNKNOWN_KEY;
use crate::server_rules::masked_text;
use crate::text_forms::is_address;

/// The diagnostics of one file. There is no bound as for definitions: a configuration is short, and
/// written by the person who reads them.
pub(super) struct ConfigProblems<'s> {
    /// The file, for spans and for the texts that messages quote.
    source: &'s Arc<Source>,
    /// In the order of reading; `Config::parse` sorts it. Its length before and after reading a
    /// table tells whether the table has a mistake.
    pub(super) list: Vec<Diagnostic>,
}

impl<'s> ConfigProblems<'s> {
    /// An empty list for the file `source`.
    pub(super) fn new(source: &'s Arc<Source>) -> ConfigProblems<'s> {
        ConfigProblems { source, list: Vec::new() }
    }

    /// Adds a diagnostic and returns it, so that the caller can add help and labels.
    pub(super) fn add(
        &mut self,
        code: &'static DiagnosticCode,
        place: Range<usize>,
        at: &DocumentPath,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        // The path is set as well: `SourcePlan::bad_limit` recognises errors in `[limits]` by it.
        let mut diagnostic = Diagnostic::at(code, self.source, span(&place), message);
        diagnostic.path = at.clone();
        self.list.push_mut(diagnostic)
    }

    /// The text at `place`.
    pub(super) fn text(&self, place: &Range<usize>) -> &'s str {
        self.source.slice(span(place))
    }
}

/// A range of the TOML parser as a span.
pub(super) fn span(range: &Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

/// The TOML type of a value with its article, such as "an integer".
pub(super) fn type_with_article(value: &DeValue<'_>) -> String {
    let name = value.type_str();
    // TOML's types are array, integer, string, float, boolean, table and datetime.
    let article = if name.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// A key and its value, both with positions.
type TomlMember<'t, 'i> = (&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>);

/// The members of a table in the order of the text. The parser sorts them by name, which would make
/// the order of diagnostics, and which of two exclusive keys counts as the first, look arbitrary.
pub(super) fn members_in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<TomlMember<'t, 'i>> {
    let mut members: Vec<TomlMember<'t, 'i>> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

/// Checks every member of a table by itself. Returns the keys that misspelled ones were probably
/// meant to be, so that the caller does not report those as missing, too.
///
/// `at` is the path of the table. A key that occurs twice was reported by the parser.
pub(super) fn check_members(
    table: &DeTable<'_>,
    keys: &'static [ConfigKey],
    at: &DocumentPath,
    problems: &mut ConfigProblems<'_>,
) -> Vec<&'static str> {
    // `nmae = "x"` is one mistake, not two: an unknown key and a missing `name`.
    let mut intended = Vec::new();
    for (key, value) in members_in_order(table) {
        let name = key.get_ref().as_ref();
        match keys.iter().find(|known| known.name == name) {
            Some(known) => {
                known.form.check(&KeyValue { name, value, at: at.child(name) }, problems)
            }
            None => {
                // A key that is present already cannot be what a misspelled one was meant to be.
                let others =
                    keys.iter().map(|known| known.name).filter(|name| !table.contains_key(*name));
                intended.extend(report_unknown_key(key, others, at, problems));
            }
        }
    }
    intended
}

/// Reports a key that does not exist. Returns the one of `known` that it was probably meant to be.
///
/// The help is the first of these that applies: the new name of a renamed key, a similar key of
/// this table, the tables that have the key, the keys that this table has.
pub(super) fn report_unknown_key(
    key: &Spanned<DeString<'_>>,
    known: impl Iterator<Item = &'static str> + Clone,
    at: &DocumentPath,
    problems: &mut ConfigProblems<'_>,
) -> Option<&'static str> {
    let name = key.get_ref().as_ref();
    let renamed = RENAMED_KEYS
        .iter()
        .find(|(table, old, _)| *old == name && at.as_str().strip_prefix('/') == Some(*table));
    if let Some((_, _, new)) = renamed {
        let message = format!("`{name}` has another name now");
        let diagnostic = problems.add(&UNKNOWN_KEY, key.span(), &at.child(name), message);
        diagnostic.help.push(format!("write {new}"));
        return None;
    }
    let suggestion = nearest_word(name, known.clone());
    // A similar key of the same table is likelier than the same key in the wrong table.
    let tables = tables_with_key(name);
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    let help = match suggestion {
        Some(suggestion) => format!("did you mean `{suggestion}`?"),
        None if tables.is_empty() => {
            format!("expected {}", alternatives(&known.collect::<Vec<_>>()))
        }
        None => format!("it belongs under {}", alternatives(&tables)),
    };
    let message = format!("unknown key `{}`", shorten(&masked_text(name)));
    problems.add(&UNKNOWN_KEY, key.span(), &at.child(name), message).help.push(help);
    suggestion
}

/// The code that a key of `[levels]` names; an unknown one is reported.
pub(super) fn code_of_key(
    key: &Spanned<DeString<'_>>,
    at: &DocumentPath,
    problems: &mut ConfigProblems<'_>,
) -> Option<&'static DiagnosticCode> {
    let name = key.get_ref().as_ref();
    // The error of `find` is the help text: the nearest code, or where all are listed.
    let known = crate::codes::find(name);
    if let Err(help) = &known {
        let message = format!("there is no code `{}`", shorten(name));
        problems.add(&UNKNOWN_KEY, key.span(), &at.child(name), message).help.push(help.clone());
    }
    known.ok()
}

/// The severity behind a code; an unknown one is reported.
///
/// `None` is a wrong value, `Some(None)` is `off`, `Some(Some(severity))` a severity.
///
/// The older word for a note is accepted and never suggested.
pub(super) fn level_of_value(
    key: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    at: &DocumentPath,
    problems: &mut ConfigProblems<'_>,
) -> Option<Option<Severity>> {
    let name = key.get_ref().as_ref();
    let word = value.get_ref().as_str();
    if word != Some(OLD_NOTE) {
        let words = LEVEL_WORDS.iter().map(|(word, _)| *word).filter(|word| *word != OLD_NOTE);
        // Reports every wrong value. What follows only reads, and gives `None` for a wrong one.
        let value = KeyValue { name, value, at: at.child(name) };
        check_choice(&value, &words.collect::<Vec<_>>(), problems);
    }
    let word = word?;
    LEVEL_WORDS.iter().find(|(known, _)| *known == word).map(|(_, level)| *level)
}

/// A value to be checked, with its key and its path.
struct KeyValue<'t, 'i> {
    name: &'t str,
    value: &'t Spanned<DeValue<'i>>,
    at: DocumentPath,
}

impl KeyValue<'_, '_> {
    /// Adds a diagnostic at the value.
    fn add<'r>(
        &self,
        code: &'static DiagnosticCode,
        message: impl Into<String>,
        problems: &'r mut ConfigProblems<'_>,
    ) -> &'r mut Diagnostic {
        problems.add(code, self.value.span(), &self.at, message)
    }

    /// Reports that the value is not `wanted`, a phrase such as "a string".
    fn report_wrong_type(&self, wanted: &str, problems: &mut ConfigProblems<'_>) {
        let message = format!(
            "`{}` is {}, expected {wanted}",
            shorten(self.name),
            type_with_article(self.value.get_ref())
        );
        self.add(&INVALID_TYPE, message, problems);
    }

    /// The string; anything else, and a blank one, is reported.
    fn text(&self, problems: &mut ConfigProblems<'_>) -> Option<&str> {
        let text = self.value.get_ref().as_str();
        match text {
            None => self.report_wrong_type("a string", problems),
            Some(text) if text.trim().is_empty() => self.report_blank(problems),
            Some(_) => return text,
        }
        None
    }

    /// Reports a blank value.
    fn report_blank(&self, problems: &mut ConfigProblems<'_>) {
        self.add(&MISSING_REQUIRED_FIELD, format!("`{}` is blank", self.name), problems);
    }
}

impl KeyForm {
    /// Reports everything that is wrong with the value.
    /// Lists are checked item by item, each at its own place.
    fn check(&self, value: &KeyValue<'_, '_>, problems: &mut ConfigProblems<'_>) {
        match self {
            KeyForm::Text => {
                value.text(problems);
            }
            KeyForm::Namespace => check_name(value, problems),
            KeyForm::Command => check_command(value, problems),
            KeyForm::Url => check_url(value, problems),
            // TOML has booleans, so `"true"` in quotes is a mistake and not a spelling.
            KeyForm::Flag if value.value.get_ref().is_bool() => {}
            KeyForm::Flag => value.report_wrong_type("a boolean", problems),
            KeyForm::Integer(min, max) => check_integer(value, *min, *max, problems),
            KeyForm::Choice(words) => check_choice(value, &words(), problems),
            KeyForm::Choices(words) => check_choices(value, &words(), problems),
            KeyForm::Code => check_code(value, problems),
            KeyForm::Capabilities => check_capabilities(value, problems),
            KeyForm::Schema => check_schema(value, problems),
            KeyForm::Form { allowed, what, .. } => {
                if let Some(text) = value.text(problems).filter(|text| !allowed(text)) {
                    // It may be the token itself, by mistake.
                    let message = format!(
                        "`{}` of {} characters is not {what}",
                        value.name,
                        text.chars().count()
                    );
                    value.add(&INVALID_PATTERN, message, problems);
                }
            }
            KeyForm::Texts { allowed, what, .. } => check_texts(value, *allowed, what, problems),
            KeyForm::TextList { allowed, what, .. } => {
                check_text_list(value, *allowed, what, problems)
            }
        }
    }
}

/// The name of a source is stricter than a namespace in a definition: users type it on command
/// lines.
fn check_name(value: &KeyValue<'_, '_>, problems: &mut ConfigProblems<'_>) {
    let Some(text) = value.value.get_ref().as_str() else {
        return value.report_wrong_type("a string", problems);
    };
    let why = match Namespace::parse(text) {
        // `Namespace` itself accepts names in all scripts, because collections in the wild have
        // them.
        Ok(name) if name.is_portable() => return,
        // Ids on the command line and in configurations accept these characters only.
        Ok(_) => "it may have letters, digits, `_`, `.` and `-`".to_owned(),
        Err(error) => error.to_string(),
    };
    let message = format!("`{}` cannot be the name of a source: {why}", shorten(text));
    value.add(&INVALID_PATTERN, message, problems);
}

/// A command needs a program. Its arguments may be blank.
///
/// Both forms are one command: `["npx", "-y", "x"]` and `"npx -y x"`. A quote that is not closed
/// can occur only in the second.
fn check_command(value: &KeyValue<'_, '_>, problems: &mut ConfigProblems<'_>) {
    match value.value.get_ref() {
        DeValue::Array(items) => {
            // Every word is checked, so that one run reports all of them.
            for (n, item) in items.iter().enumerate() {
                let message = match item.get_ref() {
                    // Arguments may be empty strings; the program may not.
                    DeValue::String(word) if n > 0 || !word.trim().is_empty() => continue,
                    DeValue::String(_) => "the program is blank".to_owned(),
                    other => {
                        format!("this word is {}, expected a string", type_with_article(other))
                    }
                };
                // A blank program is missing; anything else that is wrong with a word is its type.
                let code =
                    if item.get_ref().is_str() { &MISSING_REQUIRED_FIELD } else { &INVALID_TYPE };
                problems.add(code, item.span(), &value.at.child(n), message);
            }
            if items.is_empty() {
                value.report_blank(problems);
            }
        }
        DeValue::String(_) => {
            let Some(line) = value.text(problems) else { return };
            // Split only to find mistakes; `config` splits again when it builds the source.
            match split_words(line) {
                None => {
                    value.add(
                        &INVALID_PATTERN,
                        "`command` has a quote that is not closed",
                        problems,
                    );
                }
                Some(words) if words.first().is_none_or(|word| word.trim().is_empty()) => {
                    value.report_blank(problems)
                }
                Some(_) => {}
            }
        }
        _ => value.report_wrong_type("an array of strings or a string", problems),
    }
}

/// HTTP or a WebSocket. The older transport over SSE is named in servers files and definitions.
fn check_url(value: &KeyValue<'_, '_>, problems: &mut ConfigProblems<'_>) {
    let Some(text) = value.text(problems) else { return };
    if !is_address(text, &["http", "https", "ws", "wss"]) {
        let message = "`url` is not an `http`, `https`, `ws` or `wss` address";
        value
            .add(&INVALID_PATTERN, message, problems)
            .help
            .push("write it as `https://host/mcp`".to_owned());
    }
}

/// An integer in its range.
///
/// The parser keeps integers as text, so a negative one and one beyond any type are out of range
/// like the others.
fn check_integer(value: &KeyValue<'_, '_>, min: u64, max: u64, problems: &mut ConfigProblems<'_>) {
    // A float such as `1e3` is refused, also if it is a whole number.
    let DeValue::Integer(integer) = value.value.get_ref() else {
        return value.report_wrong_type("an integer", problems);
    };
    if !unsigned_integer(value.value.get_ref()).is_some_and(|number| (min..=max).contains(&number))
    {
        // As written, which may be beyond any integer type.
        let written = shorten(&integer.to_string());
        let message = format!("`{}` is {written}, expected {min} to {max}", value.name);
        value.add(&OUT_OF_RANGE, message, problems);
    }
}

/// The number of a key. Out of range has been reported and counts as not set.
///
/// `None` for a missing key, a wrong type and a number out of range: the caller uses its default.
pub(super) fn key_number(table: &DeTable<'_>, keys: &[ConfigKey], name: &str) -> Option<usize> {
    let key = keys.iter().find(|key| key.name == name)?;
    let number = unsigned_integer(table.get(name)?.get_ref()).filter(|n| key.allows(*n))?;
    usize::try_from(number).ok()
}

/// The number, if it is whole and not negative. TOML integers may be written as `0x10` or `1_000`.
fn unsigned_integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    // The parser has removed the underscores and the prefix of the radix. A minus sign makes this
    // fail.
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// One of `words`, with the nearest one as help.
///
/// Called for one key and, by `check_choices`, for every item of a list.
fn check_choice(
    value: &KeyValue<'_, '_>,
    words: &[&'static str],
    problems: &mut ConfigProblems<'_>,
) {
    let Some(text) = value.text(problems) else { return };
    if words.contains(&text) {
        return;
    }
    let message =
        format!("`{}` is `{}`, expected {}", value.name, shorten(text), alternatives(words));
    let diagnostic = value.add(&INVALID_ENUM_VALUE, message, problems);
    if let Some(suggestion) = nearest_word(text, words.iter().copied()) {
        diagnostic.help.push(format!("did you mean `{suggestion}`?"));
    }
}

/// A list of `words`; each wrong one is reported.
fn check_choices(
    value: &KeyValue<'_, '_>,
    words: &[&'static str],
    problems: &mut ConfigProblems<'_>,
) {
    let DeValue::Array(items) = value.value.get_ref() else {
        return value.report_wrong_type("an array of strings", problems);
    };
    for (n, item) in items.iter().enumerate() {
        let item = KeyValue { name: value.name, value: item, at: value.at.child(n) };
        check_choice(&item, words, problems);
    }
}

/// A list of strings of one form, which `what` describes; each wrong one is reported.
fn check_text_list(
    value: &KeyValue<'_, '_>,
    allowed: fn(&str) -> bool,
    what: &str,
    problems: &mut ConfigProblems<'_>,
) {
    let DeValue::Array(items) = value.value.get_ref() else {
        return value.report_wrong_type("an array of strings", problems);
    };
    for (n, item) in items.iter().enumerate() {
        let item = KeyValue { name: value.name, value: item, at: value.at.child(n) };
        let Some(text) = item.text(problems) else { continue };
        if !allowed(text) {
            let message = format!("`{}` is not {what}", shorten(text));
            item.add(&INVALID_PATTERN, message, problems);
        }
    }
}

/// A list of capabilities, each with the nearest one as help.
fn check_capabilities(value: &KeyValue<'_, '_>, problems: &mut ConfigProblems<'_>) {
    let DeValue::Array(items) = value.value.get_ref() else {
        return value.report_wrong_type("an array of strings", problems);
    };
    for (n, item) in items.iter().enumerate() {
        let item = KeyValue { name: value.name, value: item, at: value.at.child(n) };
        let Some(text) = item.text(problems) else { continue };
        if let Err(why) = parse_grantable(&shorten(text)) {
            item.add(&INVALID_PATTERN, why, problems);
        }
    }
}

/// A table that is a JSON Schema.
///
/// TOML has dates and numbers such as `inf` that JSON does not have, so the table may have no JSON
/// form at all. That is reported in the same way as a schema that does not compile.
fn check_schema(value: &KeyValue<'_, '_>, problems: &mut ConfigProblems<'_>) {
    if !value.value.get_ref().is_table() {
        return value.report_wrong_type("a table", problems);
    }
    let compiled = match json_of(value.value.get_ref()) {
        Some(schema) => Schema::compile(&schema).map(drop).map_err(|error| error.to_string()),
        None => Err("it has a date or a number that JSON does not have".to_owned()),
    };
    if let Err(why) = compiled {
        let message = format!("`{}` is not a usable JSON Schema: {why}", value.name);
        value.add(&INVALID_SCHEMA, message, problems);
    }
}

/// The name of a code, with the nearest one as help: there are too many to list.
fn check_code(value: &KeyValue<'_, '_>, problems: &mut ConfigProblems<'_>) {
    let Some(text) = value.text(problems) else { return };
    if let Err(help) = crate::codes::find(text) {
        let message = format!("there is no code `{}`", shorten(text));
        value.add(&INVALID_ENUM_VALUE, message, problems).help.push(help);
    }
}

/// A table of strings. The values may be secrets, so no message quotes one.
fn check_texts(
    value: &KeyValue<'_, '_>,
    allowed: fn(&str) -> bool,
    what: &str,
    problems: &mut ConfigProblems<'_>,
) {
    let DeValue::Table(table) = value.value.get_ref() else {
        return value.report_wrong_type("a table of strings", problems);
    };
    for (key, text) in members_in_order(table) {
        let name = key.get_ref().as_ref();
        let at = value.at.child(name);
        if !allowed(name) {
            // A whole setting may stand in the place of a name.
            let shown = masked_text(name);
            let message = format!("`{}` cannot be {what}", shorten(&shown));
            // A path is printed, too, and would have the secret in it.
            let place = if shown == name { &at } else { &value.at };
            problems.add(&INVALID_PATTERN, key.span(), place, message);
        }
        if !text.get_ref().is_str() {
            KeyValue { name, value: text, at }.report_wrong_type("a string", problems);
        }
    }
}
