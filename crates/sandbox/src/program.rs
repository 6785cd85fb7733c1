//! Compiled programs, and what can be read off their source text without the engine.
//!
//! Only a worker of our own makes bytecode, one that has never run a guest, and nothing here makes
//! a [`Program`] from bytes: the engine does not verify bytecode, so bytes of unknown origin would
//! control the worker. For the same reason bytecode is bound to the share whose source text it was
//! made from: source text that takes the compiler over gains control over its own workers only.

use std::collections::HashSet;
use std::sync::Arc;

use crate::request::CompiledCode;
use crate::{ShareId, TraceFrame};

/// How the source text is to be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramForm {
    /// A script: its entry point is in `module.exports`, is its value, or is the only function
    /// that it declares.
    Script,
    /// An ES module: its entry point is the default export. It cannot import anything.
    Module,
}

/// A compiled program. Cheap to clone, and independent of the worker that compiled it.
#[derive(Clone, Debug)]
pub struct Program(pub(crate) Arc<CompiledProgram>);

/// The contents of a [`Program`].
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    /// The share whose workers run it.
    pub(crate) share: ShareId,
    pub(crate) form: ProgramForm,
    /// The function to call if a script exports several; empty if the caller gave no name.
    pub(crate) entry: String,
    pub(crate) code: CompiledCode,
    /// The source text, kept only if it is not ASCII: then columns of the engine, which are bytes,
    /// have to be converted.
    pub(crate) source: Option<Box<str>>,
}

impl Program {
    /// How the source text was parsed.
    pub fn form(&self) -> ProgramForm {
        self.0.form
    }

    /// Bytes of bytecode, for caches that bound their memory.
    pub fn size(&self) -> usize {
        self.0.code.bytecode.len()
    }
}

/// Converts the columns of a trace from bytes, which the engine counts, to characters. The trace
/// has at most 16 frames, and each costs one search for a line.
pub(crate) fn columns_in_characters(source: &str, trace: &mut [TraceFrame]) {
    for frame in trace {
        if let TraceFrame::Program(position) = frame {
            let line = source.split('\n').nth(position.line as usize - 1).unwrap_or_default();
            let bytes = line.floor_char_boundary(position.column as usize - 1);
            position.column = line[..bytes].chars().count() as u32 + 1;
        }
    }
}

/// The identifier that belongs to an id: `check-issue-args` and `check_issue_args` become
/// `checkIssueArgs`.
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

/// Names that the source may declare, in the order of their first appearance.
///
/// A script's `let` and `const` are not properties of the global object, so the worker can only
/// find a declared function by evaluating its name. This scan yields the candidates by looking at
/// the characters around each word. It must not miss a name that is declared at the top level; it
/// may return others (of inner scopes, comments, strings), which the worker discards.
pub(crate) fn declared_names(source: &str) -> Vec<String> {
    let is_part = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
    let (mut seen, mut classes) = (HashSet::new(), HashSet::new());
    let mut names = Vec::new();
    let mut word_before = "";
    // The last two characters before the word that are not blank.
    let mut before = (' ', ' ');
    let mut rest = source;
    while let Some(start) = rest.find(is_part) {
        for c in rest[..start].chars().filter(|c| !c.is_whitespace()) {
            before = (before.1, c);
        }
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |length| start + length);
        let (word, after) = (&rest[start..end], rest[end..].trim_start());
        // `f = …`, but not `f == …`: the second name of `let a = 1, f = …`.
        let is_set = after.starts_with('=') && !after.starts_with("==");
        // `{ f }`, `{ g: f }`, `[f]`: a name in a destructuring pattern.
        let is_member =
            matches!(before.1, '{' | ',' | '[' | ':') && after.starts_with(['}', ',', ']']);
        let is_declared = matches!(word_before, "function" | "const" | "let" | "var");
        // `function /* comment */ f`: the keyword is not the word before.
        let follows_comment = before == ('*', '/');
        let is_candidate = is_declared || is_set || is_member || follows_comment;
        if word_before == "class" {
            classes.insert(word);
        } else if is_candidate && !word.starts_with(|c: char| c.is_numeric()) && seen.insert(word) {
            names.push(word.to_owned());
        }
        (word_before, before, rest) = (word, (' ', 'a'), &rest[end..]);
    }
    // A class cannot be called without `new`, so it is not an entry point.
    names.retain(|name| !classes.contains(name.as_str()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_names_are_found_by_their_surroundings() {
        let of = |source: &str| declared_names(source).join(" ");
        assert_eq!(of("function f() {} const g = 1, h = () => f == 2; class K {}"), "f g h");
        assert_eq!(of("function /* the check */ f(a) {}"), "the f");
        assert_eq!(of("const { a, b: c } = x; let [d,\n\te] = y;"), "a c d e");
        assert_eq!(of("class Bad {}\nfunction v() { return { Bad, x: [Bad, 1] }; }"), "v");
    }

    /// Takes milliseconds in linear time, and several minutes in quadratic time.
    #[test]
    fn scanning_for_names_takes_linear_time() {
        let began = std::time::Instant::now();
        let blanks = format!("function f() {{}}{}", " ".repeat(1 << 20));
        assert_eq!(declared_names(&blanks), ["f"]);
        declared_names(&"a ".repeat(1 << 19));
        assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
    }
}
