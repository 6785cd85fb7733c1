//! A program that was compiled, by one of our own workers: bytecode is never taken from anybody
//! else, so there is no way to make one from bytes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::TraceFrame;

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
pub(crate) fn in_characters(source: &str, trace: &mut [TraceFrame]) {
    for frame in trace {
        if let TraceFrame::Program(place) = frame {
            let line = source.split('\n').nth(place.line as usize - 1).unwrap_or_default();
            let bytes = line.floor_char_boundary(place.column as usize - 1);
            place.column = line[..bytes].chars().count() as u32 + 1;
        }
    }
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

/// Names that may be declared, by what stands around them in the text: what is declared at the top
/// is among them. Whether it is, the worker sees when the program has run.
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
        // `f =` and not `f ==`; a member of a pattern; behind a comment.
        let is_set = after.starts_with('=') && !after.starts_with("==");
        let is_member =
            matches!(before.1, '{' | ',' | '[' | ':') && after.starts_with(['}', ',', ']']);
        let declares = matches!(word_before, "function" | "const" | "let" | "var");
        let may_be = declares || is_set || is_member || before == ('*', '/');
        if word_before == "class" {
            classes.insert(word);
        } else if may_be && !word.starts_with(|c: char| c.is_numeric()) && seen.insert(word) {
            names.push(word.to_owned());
        }
        (word_before, before, rest) = (word, (' ', 'a'), &rest[end..]);
    }
    // A class is called with `new` only.
    names.retain(|name| !classes.contains(name.as_str()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_what_stands_around_them() {
        let of = |source: &str| declared_names(source).join(" ");
        assert_eq!(of("function f() {} const g = 1, h = () => f == 2; class K {}"), "f g h");
        assert_eq!(of("function /* the check */ f(a) {}"), "the f");
        assert_eq!(of("const { a, b: c } = x; let [d,\n\te] = y;"), "a c d e");
        assert_eq!(of("class Bad {}\nfunction v() { return { Bad, x: [Bad, 1] }; }"), "v");
    }

    #[test]
    fn blanks_take_no_time() {
        let source = format!("function f() {{}}{}", " ".repeat(1 << 20));
        let began = std::time::Instant::now();
        assert_eq!(declared_names(&source), ["f"]);
        let source = "a ".repeat(1 << 19);
        declared_names(&source);
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
