//! Parses code with oxc and collects the facts from the tree, once per
//! [`ParseGoal`](crate::ParseGoal).
//!
//! Each goal has its own grammar: `import` is an error in a script, `with` is an error in a module,
//! and Node decides between the two by looking at the file.
//!
//! Nothing here is bounded. The parser recurses as deep as the code is nested, and its time grows
//! with the square of the number of named groups of a regular expression. So nothing but a worker
//! process may come here with hostile code; see `worker_analyzer`.
//!
//! ```text
//! code ─ parse ─▶ tree ─ SemanticBuilder ─▶ names resolved ─ ResolvedTree ─┬─ forbidden_calls
//!          │                                                                ├─ free_names
//!          └─ problems                                                      ├─ entry_point
//!                                                                           └─ …
//! ```
//!
//! The searches run in a fixed order: what is reported as a forbidden call is not reported as a
//! free name again, and an `import` is not reported as a syntax error again.

use std::cell::Cell;
use std::ops::Range;

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, Expression};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{AstNode, Semantic, SemanticBuilder};
use oxc_span::{GetSpan, SourceType, Span};

use crate::facts::shorten;
use crate::problem_messages::problem_of_diagnostic;
use crate::resolve::ResolvedTree;
use crate::{
    EntryPoint, ErrorCodeText, ForbiddenCall, ForbiddenKind, HelperName, MAX_LISTED, MAX_PROBLEMS,
    ReturnFacts, ScriptFacts, SyntaxProblem, SyntaxProblemKind, entry_point, forbidden_calls,
    free_names, lacking_members, module_function,
};

thread_local! {
    /// The memory of the last tree, for the next one on this thread: a definition has several
    /// functions, and each would allocate an arena of its own.
    static ARENA: Cell<Option<Allocator>> = const { Cell::new(None) };
}

/// Bytes of an arena that is kept for the next tree. A larger one is freed: one long file must not
/// hold its memory as long as the thread lives.
const MAX_KEPT_ARENA: usize = 256 * 1024;

/// Reads a function of a definition: a classic script, in which `import` and `export` are errors.
pub(crate) fn read_function(code: &str, provided: &[&str]) -> ScriptFacts {
    in_kept_arena(|arena| {
        let parsed = parse(arena, code, SourceType::script());
        let Some(semantic) = parsed.semantic else {
            return ScriptFacts::only_problems(in_order(parsed.problems));
        };
        let tree = ResolvedTree::new(&semantic, code, provided);
        let (forbidden, reported_names) = forbidden_calls::find(&tree);
        let free = free_names::find(&tree, &reported_names);
        let (entry, returns) = entry_point::find(&tree);
        let problems = all_problems(parsed.problems, &semantic, &forbidden);
        ScriptFacts {
            problems,
            forbidden,
            free,
            lacking: Vec::new(),
            entry,
            returns,
            error_codes: Vec::new(),
            helper_names: helper_names(&tree),
            exports: Vec::new(),
        }
    })
}

/// Reads the body of a tool: an ES module, whose entry point is its default export.
pub(crate) fn read_module(code: &str, provided: &[&str]) -> ScriptFacts {
    in_kept_arena(|arena| {
        let parsed = parse(arena, code, SourceType::mjs());
        let Some(semantic) = parsed.semantic else {
            return ScriptFacts::only_problems(in_order(parsed.problems));
        };
        let tree = ResolvedTree::new(&semantic, code, provided);
        let (forbidden, reported_names) = forbidden_calls::find(&tree);
        let problems = all_problems(parsed.problems, &semantic, &forbidden);
        ScriptFacts {
            problems,
            forbidden,
            free: free_names::find(&tree, &reported_names),
            lacking: lacking_members::find(&tree),
            entry: if has_default_export(&semantic) { EntryPoint::Value } else { EntryPoint::None },
            returns: ReturnFacts::UNKNOWN,
            error_codes: error_codes(&semantic),
            helper_names: Vec::new(),
            exports: module_function::exports(semantic.nodes().program()),
        }
    })
}

/// The members of the global `helpers` that the code names, if the caller provides it.
fn helper_names(tree: &ResolvedTree) -> Vec<HelperName> {
    if !tree.is_provided_by_caller("helpers") {
        return Vec::new();
    }
    let names = tree.nodes().filter_map(|node| {
        let (object, name, span) = match node.kind() {
            AstKind::StaticMemberExpression(it) => {
                (&it.object, it.property.name.as_str(), it.property.span)
            }
            AstKind::ComputedMemberExpression(it) => {
                (&it.object, it.static_property_name()?.as_str(), it.expression.span())
            }
            _ => return None,
        };
        let is_helper = tree.global_name(object) == Some("helpers");
        // Asking whether there is such a helper is not using it.
        (is_helper && !tree.is_typeof_operand(node.id()))
            .then(|| HelperName { name: shorten(name), range: range(span) })
    });
    let mut names: Vec<HelperName> = names.take(MAX_LISTED).collect();
    names.sort_by_key(|it| it.range.start);
    names
}

/// Whether a module exports something as its default.
fn has_default_export(semantic: &Semantic) -> bool {
    semantic.nodes().iter().any(|node| match node.kind() {
        AstKind::ExportDefaultDeclaration(_) => true,
        AstKind::ExportSpecifier(specifier) => specifier.exported.name() == "default",
        _ => false,
    })
}

/// The texts that are given to `BTCPError` as codes.
///
/// `new BTCPError("not_found", …)` gives `not_found`. A code that is not a literal is not seen.
fn error_codes(semantic: &Semantic) -> Vec<ErrorCodeText> {
    let codes = semantic.nodes().iter().filter_map(|node| {
        let AstKind::NewExpression(made) = node.kind() else { return None };
        let Expression::Identifier(class) = &made.callee else { return None };
        let Some(Argument::StringLiteral(code)) = made.arguments.first() else { return None };
        let is_error = class.name == "BTCPError";
        is_error.then(|| ErrorCodeText { code: shorten(&code.value), range: range(code.span) })
    });
    codes.take(MAX_LISTED).collect()
}

/// Reads a file that Node runs. Node's own rule: a file that is not a valid CommonJS module and
/// parses as an ES module is an ES module.
pub(crate) fn read_file(code: &str) -> ScriptFacts {
    let arena = Allocator::default();
    // Most scripts of local tools are CommonJS, so the second parse is rare.
    let common_js = parse(&arena, code, SourceType::cjs());
    if common_js.problems.is_empty() {
        return ScriptFacts::only_problems(Vec::new());
    }
    // Errors are reported in the grammar that the author seems to have meant.
    let either = parse(&arena, code, SourceType::unambiguous());
    let parsed = if either.is_module || either.problems.is_empty() { either } else { common_js };
    ScriptFacts::only_problems(in_order(parsed.problems))
}

/// Lends the thread's arena to `work`, and keeps it for the next call unless it grew too large.
fn in_kept_arena(work: impl FnOnce(&Allocator) -> ScriptFacts) -> ScriptFacts {
    let mut arena = ARENA.take().unwrap_or_default();
    let facts = work(&arena);
    if arena.capacity() <= MAX_KEPT_ARENA {
        arena.reset();
        ARENA.set(Some(arena));
    }
    facts
}

/// What the parser returns for one piece of code.
///
/// The tree borrows from the arena and the code.
struct ParsedCode<'a> {
    problems: Vec<SyntaxProblem>,
    /// `None` when the parser gave up in the middle; then there is no tree to look at.
    semantic: Option<Semantic<'a>>,
    /// Whether the code is an ES module: by the grammar, or by its own syntax if that is open.
    is_module: bool,
}

/// Parses code in one grammar and resolves its names.
fn parse<'a>(arena: &'a Allocator, code: &'a str, grammar: SourceType) -> ParsedCode<'a> {
    let options = ParseOptions {
        // A wrong regular expression literal is a syntax error for the engine, too.
        parse_regular_expression: true,
        // `(a)` and `a` are the same expression for every search in the tree.
        preserve_parens: false,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(arena, code, grammar).with_options(options).parse();
    let is_module = parsed.program.source_type.is_module();
    let mut problems: Vec<SyntaxProblem> = parsed
        .diagnostics
        .iter()
        .map(|d| problem_of_diagnostic(code, &d.message, &d.labels, d.help.as_deref()))
        .collect();
    if parsed.panicked {
        return ParsedCode { problems, semantic: None, is_module };
    }
    // Early errors (names declared twice, stray `break`) are found when names are resolved.
    let built = SemanticBuilder::new()
        .with_build_nodes(true)
        .with_check_syntax_error(true)
        .build(arena.alloc(parsed.program));
    let early_errors = built
        .diagnostics
        .iter()
        .map(|d| problem_of_diagnostic(code, &d.message, &d.labels, d.help.as_deref()));
    problems.extend(early_errors);
    ParsedCode { problems, semantic: Some(built.semantic), is_module }
}

/// The problems of the parser and those that only the sandbox's engine has with the code.
fn all_problems(
    mut problems: Vec<SyntaxProblem>,
    semantic: &Semantic,
    forbidden: &[ForbiddenCall],
) -> Vec<SyntaxProblem> {
    problems.extend(semantic.nodes().iter().filter_map(unsupported_syntax));
    // An import in a script is both a syntax error and forbidden. It is reported once, as
    // forbidden: that message says why.
    let imports: Vec<&Range<usize>> = forbidden
        .iter()
        .filter(|call| matches!(call.kind, ForbiddenKind::Import | ForbiddenKind::DynamicImport))
        .map(|call| &call.range)
        .collect();
    problems.retain(|problem| !imports.iter().any(|range| range.contains(&problem.range.start)));
    in_order(problems)
}

/// Problems in source order, without repeats, at most [`MAX_PROBLEMS`].
fn in_order(mut problems: Vec<SyntaxProblem>) -> Vec<SyntaxProblem> {
    problems.sort_by_key(|problem| (problem.range.start, problem.range.end));
    problems.dedup();
    problems.truncate(MAX_PROBLEMS);
    problems
}

/// The problem with a node whose syntax is a proposal: the parser accepts it, QuickJS does not.
fn unsupported_syntax(node: &AstNode) -> Option<SyntaxProblem> {
    let what = match node.kind() {
        AstKind::Decorator(_) => "decorators are",
        AstKind::AccessorProperty(_) => "`accessor` is",
        AstKind::VariableDeclaration(declaration) if declaration.kind.is_using() => "`using` is",
        _ => return None,
    };
    let message = format!("{what} not part of the language that the sandbox runs");
    let range = range(node.kind().span());
    Some(SyntaxProblem { kind: SyntaxProblemKind::Syntax, message, range, help: None })
}

/// The bytes of a span of the tree.
pub(crate) fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}
