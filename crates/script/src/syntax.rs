//! From code to a tree, and from the parser's words to ours.

use std::cell::Cell;
use std::ops::Range;

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{AstNode, Semantic, SemanticBuilder};
use oxc_span::{GetSpan, LabeledSpan, SourceType, Span};

use crate::scene::Scene;
use crate::{ForbiddenKind, MAX_PROBLEMS, Problem, ProblemKind, Script, entry, forbidden, free};

thread_local! {
    /// The memory of trees: a definition has several functions, and each would ask for its own.
    static MEMORY: Cell<Option<Allocator>> = const { Cell::new(None) };
}

/// More than this is given back: one long file must not keep its memory for ever.
const KEPT: usize = 256 * 1024;

/// Reads what the sandbox runs: a script, in which `import` and `export` are no syntax.
pub(crate) fn read_function(code: &str, lent: &[&str]) -> Script {
    let mut allocator = MEMORY.take().unwrap_or_default();
    let script = read_function_in(&allocator, code, lent);
    if allocator.capacity() <= KEPT {
        allocator.reset();
        MEMORY.set(Some(allocator));
    }
    script
}

fn read_function_in(allocator: &Allocator, code: &str, lent: &[&str]) -> Script {
    let parsed = parse(allocator, code, SourceType::script());
    let Some(semantic) = parsed.semantic else {
        return Script::of(in_order(parsed.problems));
    };
    let scene = Scene::new(&semantic, code, lent);
    let (forbidden, spoken_for) = forbidden::find(&scene);
    let mut problems = parsed.problems;
    problems.extend(newer_than_the_engine(&semantic));
    // An import is reported as what is forbidden, once.
    let imports: Vec<_> =
        forbidden.iter().filter(|found| found.kind == ForbiddenKind::Import).collect();
    problems
        .retain(|problem| !imports.iter().any(|found| found.range.contains(&problem.range.start)));
    let free = free::find(&scene, &spoken_for);
    let (entry, returns) = entry::find(&scene);
    Script { problems: in_order(problems), forbidden, free, entry, returns }
}

/// Reads what Node runs. Its way to tell the two apart: a file that is no CommonJS module and
/// parses as an ES module is one.
pub(crate) fn read_file(code: &str) -> Script {
    let allocator = Allocator::default();
    let common = parse(&allocator, code, SourceType::cjs());
    if common.problems.is_empty() {
        return Script::of(Vec::new());
    }
    let other = parse(&allocator, code, SourceType::unambiguous());
    let parsed = if other.is_module || other.problems.is_empty() { other } else { common };
    Script::of(in_order(parsed.problems))
}

/// What is wrong with an ES module.
pub(crate) fn read_module(code: &str) -> Vec<Problem> {
    let allocator = Allocator::default();
    in_order(parse(&allocator, code, SourceType::mjs()).problems)
}

pub(crate) struct Parsed<'a> {
    problems: Vec<Problem>,
    /// Nothing when the parser gave up.
    pub(crate) semantic: Option<Semantic<'a>>,
    is_module: bool,
}

pub(crate) fn parse<'a>(allocator: &'a Allocator, code: &'a str, kind: SourceType) -> Parsed<'a> {
    let options = ParseOptions {
        parse_regular_expression: true,
        preserve_parens: false,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(allocator, code, kind).with_options(options).parse();
    let is_module = parsed.program.source_type.is_module();
    let mut problems: Vec<Problem> = parsed
        .diagnostics
        .iter()
        .map(|d| problem(code, &d.message, &d.labels, d.help.as_deref()))
        .collect();
    if parsed.panicked {
        return Parsed { problems, semantic: None, is_module };
    }
    let built = SemanticBuilder::new()
        .with_build_nodes(true)
        .with_check_syntax_error(true)
        .build(allocator.alloc(parsed.program));
    let early =
        built.diagnostics.iter().map(|d| problem(code, &d.message, &d.labels, d.help.as_deref()));
    problems.extend(early);
    Parsed { problems, semantic: Some(built.semantic), is_module }
}

fn in_order(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| (problem.range.start, problem.range.end));
    problems.dedup();
    problems.truncate(MAX_PROBLEMS);
    problems
}

fn problem(code: &str, message: &str, labels: &[LabeledSpan], help: Option<&str>) -> Problem {
    // The other label of a second declaration is the first one.
    let label =
        if message.contains("already been declared") { labels.last() } else { labels.first() };
    let range =
        label.map_or(0..0, |label| within(code, label.offset() as usize, label.len() as usize));
    let message = in_our_words(message, &code[range.clone()], range.start == code.len());
    let help = help.map(plain).or_else(|| remedy(&message));
    Problem { kind: ProblemKind::Syntax, message, range, help }
}

/// A range of the code, whatever the parser said.
fn within(code: &str, offset: usize, len: usize) -> Range<usize> {
    let start = code.floor_char_boundary(offset);
    let end = code.ceil_char_boundary(offset.saturating_add(len));
    start..end.max(start)
}

fn in_our_words(message: &str, text: &str, at_end: bool) -> String {
    let message = plain(message).replace("but found `EOF`", "but the code ends");
    match message.as_str() {
        "unexpected token" if at_end => "unexpected end of the code".to_owned(),
        "unexpected token" if is_one_token(text) => format!("unexpected token `{text}`"),
        _ => message,
    }
}

fn is_one_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= 40 && !text.contains(['`', '\n', '\r'])
}

/// Lower case, literals in backticks, no full stop.
fn plain(message: &str) -> String {
    let message = message.trim().trim_end_matches('.').replace('\'', "`");
    let sentences: Vec<String> = message.split(": ").map(lower_first).collect();
    sentences.join(": ")
}

fn lower_first(sentence: &str) -> String {
    let mut chars = sentence.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => sentence.to_owned(),
    }
}

fn remedy(message: &str) -> Option<String> {
    let help = if message.starts_with("cannot use export") {
        "assign what is to be called to `module.exports`"
    } else if message.contains("`return` statement") {
        "wrap the code in a function: `(function () { … })()`"
    } else {
        return None;
    };
    Some(help.to_owned())
}

/// Proposals that the parser takes and the sandbox's engine does not.
fn newer_than_the_engine(semantic: &Semantic) -> Vec<Problem> {
    semantic.nodes().iter().filter_map(newer).collect()
}

fn newer(node: &AstNode) -> Option<Problem> {
    let what = match node.kind() {
        AstKind::Decorator(_) => "decorators are",
        AstKind::AccessorProperty(_) => "`accessor` is",
        AstKind::VariableDeclaration(declaration) if declaration.kind.is_using() => "`using` is",
        _ => return None,
    };
    let message = format!("{what} not part of the language that the sandbox runs");
    Some(Problem {
        kind: ProblemKind::Syntax,
        message,
        range: range(node.kind().span()),
        help: None,
    })
}

/// A span of the tree, in bytes.
pub(crate) fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}
