//! A program that was compiled, by one of our own workers: bytecode is never taken from anybody else, so there is no way to
//! make one from bytes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Place;

/// How the source text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A script with `module.exports`, a value, or one declared function.
    Script,
    /// An ES module with a default export. It can import nothing.
    Module,
}

/// A compiled program. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Program(pub(crate) Arc<Compiled>);

#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) form: Form,
    /// What to call if there are several exports.
    pub(crate) entry: String,
    pub(crate) bytecode: Vec<u8>,
    /// The source text, if columns in it are not bytes.
    pub(crate) source: Option<Box<str>>,
    /// Names that may be those of functions declared at the top.
    pub(crate) names: Vec<String>,
}

impl Program {
    /// How it was read.
    pub fn form(&self) -> Form {
        self.0.form
    }

    /// Bytes it takes in memory.
    pub fn size(&self) -> usize {
        self.0.bytecode.len()
    }
}

/// The engine counts the bytes of a line; people count characters.
pub(crate) fn in_characters(source: &str, place: Place) -> Place {
    let line = source.split('\n').nth(place.line as usize - 1).unwrap_or_default();
    let bytes = line.floor_char_boundary(place.column as usize - 1);
    Place { column: line[..bytes].chars().count() as u32 + 1, ..place }
}

/// `check-issue-args` and `check_issue_args` are called `checkIssueArgs` in JavaScript.
pub(crate) fn camel_case(id: &str) -> String {
    let mut words = id.split(['-', '_', '.', ' ']).filter(|word| !word.is_empty());
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.push_str(letters.as_str());
    }
    name
}

/// Names that may be declared, by what stands around them in the text: what is declared at the top is among them. Whether it
/// is, the worker sees when the program has run.
pub(crate) fn declared_names(source: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut declares = false;
    let is_part = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
    let mut names = Vec::new();
    let mut at = 0;
    for part in source.split_inclusive(|c: char| !is_part(c)) {
        let word = part.trim_end_matches(|c: char| !is_part(c));
        let (before, after) = (source[..at].trim_end(), source[at + word.len()..].trim_start());
        at += part.len();
        if word.is_empty() {
            continue;
        }
        // `f =` and not `f ==`; a member of a pattern; behind a comment.
        let is_set = after.starts_with('=') && !after.starts_with("==");
        let is_member = before.ends_with(['{', ',', '[', ':']) && after.starts_with(['}', ',', ']']);
        let may_be = declares || is_set || is_member || before.ends_with("*/");
        if may_be && !word.starts_with(|c: char| c.is_numeric()) && seen.insert(word) {
            names.push(word.to_owned());
        }
        declares = matches!(word, "function" | "const" | "let" | "var");
    }
    names
}
