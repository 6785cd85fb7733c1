//! The facts about one piece of code, as plain data.
//!
//! Nothing here refers to the parser, borrows from the source text or computes anything about
//! JavaScript: strings, numbers and byte ranges only. That is the contract between this crate and
//! its users, and it is what an analyzer in another process sends over a socket (`wire`).
//!
//! All ranges are in bytes of the code that was analyzed and lie on character boundaries, so
//! `&code[range]` never panics (held by the property tests).

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// What the code is for, which decides how it is parsed and which facts are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParseGoal {
    /// The `function` of a helper, processor or validator: a classic script in the sandbox. All
    /// facts are looked for.
    Function,
    /// The body of a tool: an ES module in the sandbox. Syntax, forbidden calls, free names, the
    /// codes of its errors, and whether it has its entry point, the default export, are looked for.
    Module,
    /// A file that Node runs, a CommonJS or an ES module by its own syntax. Only the syntax is
    /// looked at: Node has files, modules and globals of its own.
    File,
}

/// Everything that the source text alone says about a piece of code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptFacts {
    /// Syntax errors in source order, at most [`MAX_PROBLEMS`].
    pub problems: Vec<SyntaxProblem>,
    /// Uses of what the sandbox does not allow, in source order, at most [`MAX_LISTED`].
    pub forbidden: Vec<ForbiddenCall>,
    /// Names that neither the code declares nor the sandbox provides, in the order of their first
    /// use, at most [`MAX_LISTED`]. A name that `forbidden` reports already is not repeated here.
    pub free: Vec<FreeName>,
    /// Members of the page that tools do not have, such as `document.write`, in source order, at
    /// most [`MAX_LISTED`]. Only looked for in bodies that are given the names of a page.
    pub lacking: Vec<FreeName>,
    /// How the code offers the function to call.
    pub entry: EntryPoint,
    /// What the entry point returns.
    pub returns: ReturnFacts,
    /// The codes that a body gives to `BTCPError` as texts, in source order, at most
    /// [`MAX_LISTED`].
    pub error_codes: Vec<ErrorCodeText>,
    /// The members of the global `helpers` that a function uses, if the caller provides it, in
    /// source order, at most [`MAX_LISTED`].
    pub helper_names: Vec<HelperName>,
    /// The `export` statements of a module in source order, at most [`MAX_LISTED`].
    pub exports: Vec<ExportStatement>,
}

/// An `export` of a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportStatement {
    /// The bytes that make it an export: without them the rest declares the same names.
    pub range: Range<usize>,
    /// The bytes of the value behind `export default`, if it declares no name.
    pub value: Option<Range<usize>>,
    /// The name of what is the default export, if it has one.
    pub default_name: Option<String>,
}

/// A helper that a function uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelperName {
    /// The name as it is written, shortened.
    pub name: String,
    /// The bytes of it.
    pub range: Range<usize>,
}

/// A code of an error that a body throws.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCodeText {
    /// The code, shortened.
    pub code: String,
    /// The bytes of its literal.
    pub range: Range<usize>,
}

/// The most problems that are reported for one piece of code: a parser that lost its way reports
/// one after another, and only the first ones help.
pub const MAX_PROBLEMS: usize = 20;

/// The most items of every other list: hostile code would otherwise make facts of a hundred times
/// its size.
pub const MAX_LISTED: usize = 100;

/// The most bytes of a message, an excerpt or a name. Longer ones are cut and end in `…`.
pub const MAX_TEXT: usize = 400;

/// The text, cut to [`MAX_TEXT`] bytes.
pub(crate) fn shorten(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT - '…'.len_utf8())])
}

impl ScriptFacts {
    /// Facts about code that could not be looked at beyond its problems, or needs no further look.
    pub(crate) fn only_problems(problems: Vec<SyntaxProblem>) -> Self {
        Self {
            problems,
            forbidden: Vec::new(),
            free: Vec::new(),
            lacking: Vec::new(),
            entry: EntryPoint::Unknown,
            returns: ReturnFacts::UNKNOWN,
            error_codes: Vec::new(),
            helper_names: Vec::new(),
            exports: Vec::new(),
        }
    }

    /// Facts about code that was not read at all, with the reason.
    pub(crate) fn unread(kind: SyntaxProblemKind, message: String) -> Self {
        let message = shorten(&message);
        Self::only_problems(vec![SyntaxProblem { kind, message, range: 0..0, help: None }])
    }

    /// The first error for which the sandbox's engine refuses to compile the code, static imports
    /// included. `None` if the parser finds nothing wrong, or the code exceeds a limit of this
    /// crate.
    ///
    /// Used to report an engine's syntax error at an exact position: the engine itself stops at the
    /// first token that it cannot read, which may be far behind the mistake.
    pub fn first_error(&self) -> Option<SyntaxProblem> {
        let imports = self.forbidden.iter().filter(|call| call.kind == ForbiddenKind::Import);
        let imports = imports.map(|call| SyntaxProblem {
            kind: SyntaxProblemKind::Syntax,
            message: format!("`{}` imports something: a program has only what is in it", call.what),
            range: call.range.clone(),
            help: None,
        });
        let problems = self.problems.iter().filter(|p| p.kind == SyntaxProblemKind::Syntax);
        problems.cloned().chain(imports).min_by_key(|problem| problem.range.start)
    }
}

/// A syntax error, or code that exceeds a limit. Early errors (a name declared twice, `break`
/// outside of a loop) are syntax errors too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyntaxProblem {
    /// Whether the code is wrong, or only more than this crate reads.
    pub kind: SyntaxProblemKind,
    /// What is wrong, on one line, lower case, literals in backticks.
    pub message: String,
    /// The bytes of the code that the message is about; empty at the start for the code as a whole.
    pub range: Range<usize>,
    /// How to correct it, where that is known.
    pub help: Option<String>,
}

/// Whether a problem is an error of the code or a limit of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SyntaxProblemKind {
    /// The engine refuses this code.
    Syntax,
    /// The code may be right, but is larger or more complex than this crate reads. No other fact
    /// about it is known.
    Limit,
    /// The analysis does not work on this machine, whatever the code is. No other fact is known.
    Unavailable,
}

/// A use of something that the sandbox does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForbiddenCall {
    /// Which kind of access it is.
    pub kind: ForbiddenKind,
    /// The code that does it, such as `require('fs')`: its first line, shortened.
    pub what: String,
    /// Its bytes in the code.
    pub range: Range<usize>,
}

/// The kinds of access that the sandbox does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForbiddenKind {
    /// `require`, also through `module` or the global object.
    Require,
    /// An `import` declaration or `export … from`. The engine refuses the whole program.
    Import,
    /// `import(…)` or `import.meta`. In a module this fails when it is evaluated, not before.
    DynamicImport,
    /// A global or member that leads to files of the machine.
    FileAccess,
    /// A method whose result depends on the language of the user. The sandbox has no `Intl`, so it
    /// exists and returns something else than a browser or Node.
    Locale,
}

/// A name that is used and that nothing declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeName {
    /// The identifier.
    pub name: String,
    /// The bytes of its first use.
    pub range: Range<usize>,
}

/// How the code offers the function to call (aios seed, "entry point of a function"). Where only
/// running the code could decide, the code gets the benefit of the doubt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryPoint {
    /// `module.exports` is a function, or holds functions of these names. Empty when it is the
    /// function itself, or the names cannot be seen or are more than [`MAX_LISTED`].
    Exports(Vec<String>),
    /// The value of the script is the function, or already the result.
    Value,
    /// The only function that is declared at the top level.
    Declared(String),
    /// Functions of these names are declared at the top level and none is exported, so which one
    /// is meant is not certain. At most [`MAX_LISTED`] names.
    Ambiguous(Vec<String>),
    /// The code offers nothing to call.
    None,
    /// Not looked for: the code does not parse, or its goal has another kind of entry point.
    Unknown,
}

/// The values that the entry point can return, as far as a validator's verdict `{ valid, errors }`
/// is concerned. Each branch of a `?:`, `&&`, `||` or `??` counts as a value of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnFacts {
    /// All values that were seen: `return;` and the end of a block that can be reached included.
    pub found: usize,
    /// Objects that have both `valid` and `errors`, neither of them visibly of another type.
    pub shaped: usize,
    /// Values that only running the code could determine, and `throw` statements.
    pub unknown: usize,
    /// The positions of values that are certainly not a verdict, at most [`MAX_LISTED`].
    pub wrong: Vec<Range<usize>>,
}

impl ReturnFacts {
    /// The facts about code that was not looked at: anything is possible.
    pub(crate) const UNKNOWN: Self = Self { found: 0, shaped: 0, unknown: 1, wrong: Vec::new() };

    /// Whether any of the values is, or may be, `{ valid, errors }`. False for a function without
    /// `return`.
    pub fn can_be_verdict(&self) -> bool {
        self.shaped + self.unknown > 0
    }
}
