//! JavaScript source: syntax with places, the form of its entry point, forbidden calls and free
//! names. There is no engine here and nothing is ever run; what code does at run time is for the
//! sandbox to find out.
//!
//! ```
//! use toolwright_script::{Entry, ForbiddenKind, Goal, read};
//!
//! let code = "function check(args) {\n  const fs = require('fs');\n  return { valid: isOk(args), errors: [] };\n}";
//! let script = read(code, Goal::Function, &[]);
//!
//! assert!(script.problems.is_empty());
//! assert_eq!(script.entry, Entry::Declared("check".to_owned()));
//! assert!(script.returns.can_be_verdict());
//! assert_eq!(script.forbidden[0].kind, ForbiddenKind::Require);
//! assert_eq!(script.forbidden[0].what, "require('fs')");
//! assert_eq!(&code[script.free[0].range.clone()], "isOk");
//! ```

mod blame;
mod entry;
mod forbidden;
mod free;
mod globals;
mod guard;
mod returns;
mod room;
mod scene;
mod syntax;

use std::ops::Range;

pub use blame::{Clue, Frame, blame, blame_import, blame_throw};
pub use globals::GLOBALS;
pub use guard::{MAX_BYTES, MAX_DEPTH, MAX_TOKENS};
pub use returns::Returns;

/// What the code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The `function` of a helper, processor or validator: a script in the sandbox.
    Function,
    /// A file that Node runs, a CommonJS or an ES module by its own syntax. Only its syntax is
    /// looked at.
    File,
}

/// All that the source alone tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// What is no JavaScript, in source order, at most [`MAX_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// What the sandbox does not allow, in source order.
    pub forbidden: Vec<Forbidden>,
    /// Names that are neither declared nor lent by the sandbox, in the order of their first use.
    pub free: Vec<Free>,
    /// How the code offers what is to be called.
    pub entry: Entry,
    /// What the entry point returns.
    pub returns: Returns,
}

/// The most problems that are reported.
pub const MAX_PROBLEMS: usize = 20;

/// A mistake of syntax, early errors such as a name declared twice included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the code is wrong, or only more than we read.
    pub kind: ProblemKind,
    /// What is wrong, on one line.
    pub message: String,
    /// The bytes of the code that it is about.
    pub range: Range<usize>,
    /// What to do about it.
    pub help: Option<String>,
}

/// Whether a problem is the code's or ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// No engine takes this.
    Syntax,
    /// The code may be right, but is larger or deeper than we read. Nothing else is said about it.
    Limit,
}

/// Something that the sandbox does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forbidden {
    /// What sort of thing.
    pub kind: ForbiddenKind,
    /// The code that does it, such as `require('fs')`, shortened.
    pub what: String,
    /// Its bytes in the code.
    pub range: Range<usize>,
}

/// The sorts of things that the sandbox does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForbiddenKind {
    /// `require`, under whatever name it is reached.
    Require,
    /// `import`, static or dynamic.
    Import,
    /// A way to files of the machine.
    FileAccess,
}

/// A name that nothing declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Free {
    /// The name.
    pub name: String,
    /// The bytes of its first use.
    pub range: Range<usize>,
}

/// How the code offers what is to be called (aios: "entry point of a function"). Where only running
/// the code would tell, the benefit of the doubt is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// `module.exports` is a function, or holds functions of these names. Empty when it is the
    /// function itself or the names cannot be seen.
    Exports(Vec<String>),
    /// The value of the script is the function, or already the result.
    Value,
    /// The one function that is declared at the top.
    Declared(String),
    /// Nothing can be called.
    None,
    /// Not looked for: the code does not parse, or is a file.
    Unknown,
}

/// Reads code for its goal. `lent` are names that exist beside [`GLOBALS`], such as `tools` for
/// orchestrations.
pub fn read(code: &str, goal: Goal, lent: &[&str]) -> Script {
    let extent = match guard::measure(code) {
        Ok(extent) => extent,
        Err(problem) => return Script::unread(problem),
    };
    let script = room::with_room(extent, || match goal {
        Goal::Function => syntax::read_function(code, lent),
        Goal::File => syntax::read_file(code),
    });
    script.unwrap_or_else(|error| {
        let message = format!("no memory to read the code: {error}");
        Script::unread(Problem { kind: ProblemKind::Limit, message, range: 0..0, help: None })
    })
}

/// The first thing that is wrong with code which the sandbox's engine does not take.
pub fn mistake(code: &str, is_module: bool) -> Option<Problem> {
    if is_module {
        let extent = guard::measure(code).ok()?;
        return room::with_room(extent, || syntax::read_module(code)).ok()?.into_iter().next();
    }
    let script = read(code, Goal::Function, &[]);
    let import = script.forbidden.into_iter().find(|found| found.what.starts_with("import "));
    let import = import.map(|found| Problem {
        kind: ProblemKind::Syntax,
        message: format!("`{}` imports something: a program has only what is in it", found.what),
        range: found.range,
        help: None,
    });
    let problems =
        script.problems.into_iter().filter(|problem| problem.kind == ProblemKind::Syntax);
    problems.chain(import).min_by_key(|problem| problem.range.start)
}

impl Script {
    fn unread(problem: Problem) -> Self {
        Self::of(vec![problem])
    }

    /// A script of which nothing is known but its problems.
    fn of(problems: Vec<Problem>) -> Self {
        Self {
            problems,
            forbidden: Vec::new(),
            free: Vec::new(),
            entry: Entry::Unknown,
            returns: Returns::UNJUDGED,
        }
    }
}
