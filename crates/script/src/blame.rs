//! Where an exception came from, for an engine that tells only the last place it noted. It notes names, calls, operators and
//! the beginnings of statements, in the order of the text; what comes after such a place and throws is found in the tree.

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{Expression, StringLiteral};
use oxc_semantic::{AstNode, NodeId, Semantic};
use oxc_span::{GetSpan, SourceType, Span};

use crate::syntax::parse;

/// Errors whose place the engine does not note.
#[derive(Clone, Copy, PartialEq)]
enum Vague {
    /// An object pattern met `undefined` or `null`.
    Object,
    /// A list pattern, `for … of` or `...` met what is no list.
    List,
    /// What was called is no function.
    Function,
}

impl Vague {
    /// By the engine's own words.
    fn of(message: &str) -> Option<Vague> {
        match message {
            "Cannot convert undefined or null to object" => Some(Vague::Object),
            "not a function" => Some(Vague::Function),
            _ if message.starts_with("cannot read property 'Symbol.iterator' of ") => Some(Vague::List),
            _ if message.ends_with("is not iterable") => Some(Vague::List),
            _ => None,
        }
    }
}

/// What an engine tells of an exception.
#[derive(Debug, Clone, Copy)]
pub enum Thrown<'a> {
    /// An error, from a function of the program.
    Error {
        /// The last place that the engine noted in it, as a byte.
        at: usize,
        /// The last place in the function of the program that called it.
        caller: Option<usize>,
        /// In the engine's words.
        message: &'a str,
    },
    /// Something else, told in these words, in the `throw` at this byte unless the engine is mistaken.
    Other(Option<usize>, &'a str),
    /// A module of this name was wanted.
    Import(&'a str),
}

/// The byte of `code` that an exception is to be blamed on; `None` if the engine cannot be right, or the code has no such
/// thing.
pub fn blame(code: &str, is_module: bool, thrown: Thrown) -> Option<usize> {
    let (told, vague) = match thrown {
        Thrown::Error { at, message, .. } => (Some(at), Vague::of(message)),
        Thrown::Other(..) | Thrown::Import(_) => (None, None),
    };
    if told.is_some() && vague.is_none() {
        return told;
    }
    let Ok(extent) = crate::guard::measure(code) else { return told };
    let found = crate::room::with_room(extent, || {
        let allocator = Allocator::default();
        // Where imports are no syntax, they are what is looked for.
        let is_module = is_module || matches!(thrown, Thrown::Import(_));
        let kind = if is_module { SourceType::mjs() } else { SourceType::script() };
        let semantic = parse(&allocator, code, kind).semantic?;
        let tree = Tree { semantic: &semantic, code };
        match thrown {
            Thrown::Error { at, caller, .. } => {
                let is_called_here = caller == Some(at);
                tree.error(at as u32, is_called_here, vague?)
            }
            Thrown::Other(at, words) => tree.other(at.map(|at| at as u32), words),
            Thrown::Import(name) => tree.import(name),
        }
    });
    found.ok().flatten().map(|at| at as usize).or(told)
}

struct Tree<'s, 'a> {
    semantic: &'s Semantic<'a>,
    code: &'s str,
}

impl<'a> Tree<'_, 'a> {
    fn error(&self, at: u32, is_called_here: bool, vague: Vague) -> Option<u32> {
        if self.around(at).any(|kind| matches!(kind, AstKind::NewExpression(_))) {
            // Its author made it here.
            return None;
        }
        match vague {
            Vague::Object => self.pattern(at, is_called_here, |kind| {
                matches!(kind, AstKind::ObjectPattern(_) | AstKind::ObjectAssignmentTarget(_))
            }),
            Vague::List if self.iterates(at) => None,
            Vague::List => self.pattern(at, is_called_here, |kind| {
                matches!(kind, AstKind::ArrayPattern(_) | AstKind::ArrayAssignmentTarget(_))
            }),
            Vague::Function => self.callee(at),
        }
    }

    fn nodes(&self) -> impl Iterator<Item = &AstNode<'a>> {
        self.semantic.nodes().iter()
    }

    /// What a place is in, as far as its own function goes.
    fn around(&self, at: u32) -> impl Iterator<Item = AstKind<'a>> {
        let function = self.function_at(at);
        let around = self.nodes().filter(move |node| holds(node.kind().span(), at));
        around.filter(move |node| self.function_of(node.id()) == function).map(AstNode::kind)
    }

    /// The first pattern after a place, in the same function. That of a `for … of` stands before what the engine noted.
    fn pattern(&self, at: u32, is_called_here: bool, is_wanted: impl Fn(AstKind<'a>) -> bool) -> Option<u32> {
        let of_loop = self.nodes().find(|node| {
            let loops = self.semantic.nodes().ancestor_kinds(node.id()).find_map(|kind| match kind {
                AstKind::ForOfStatement(of) => Some(of),
                _ => None,
            });
            is_wanted(node.kind())
                && loops.is_some_and(|of| {
                    holds(of.right.span(), at) && of.left.span().contains_inclusive(node.kind().span())
                })
        });
        let function = self.function_at(at);
        let is_near = |node: &&AstNode<'a>| {
            let own = self.function_of(node.id());
            own == function || own.is_some_and(|own| self.is_beginning(at, is_called_here, own))
        };
        let after = || {
            let patterns = self.nodes().filter(|node| is_wanted(node.kind())).filter(is_near);
            patterns.map(|node| node.kind().span().start).filter(|start| *start >= at).min()
        };
        of_loop.map(|node| node.kind().span().start).or_else(after)
    }

    /// Whether what is at a place is gone through as a list itself.
    fn iterates(&self, at: u32) -> bool {
        self.around(at).any(|kind| match kind {
            AstKind::ForOfStatement(of) => holds(of.right.span(), at),
            AstKind::SpreadElement(_) => true,
            AstKind::YieldExpression(yielded) => yielded.delegate,
            _ => false,
        })
    }

    /// What was to be called, where the engine noted something in the brackets of one call only, or just before them.
    fn callee(&self, at: u32) -> Option<u32> {
        let function = self.function_at(at);
        let mut calls = self.nodes().filter_map(|node| {
            let AstKind::CallExpression(call) = node.kind() else { return None };
            let (from, name) = match &call.callee {
                Expression::StaticMemberExpression(member) => {
                    (member.object.span().end, member.property.span.start)
                }
                callee => (callee.span().end, callee.span().start),
            };
            let is_in = (from..call.span.end).contains(&at) && self.function_of(node.id()) == function;
            is_in.then_some(name)
        });
        let name = calls.next()?;
        calls.next().is_none().then_some(name)
    }

    /// The `throw` that a place is in; if that cannot be, the only thing in the program that could be it.
    fn other(&self, at: Option<u32>, words: &str) -> Option<u32> {
        let may_be = |value: &Expression| match value {
            Expression::NewExpression(_) => false,
            Expression::StringLiteral(text) => words.contains(text.value.as_str()),
            _ => true,
        };
        let mut thrown = Vec::new();
        for node in self.nodes() {
            match node.kind() {
                AstKind::ThrowStatement(throw) if may_be(&throw.argument) => thrown.push(throw.span),
                AstKind::CallExpression(call)
                    if call.callee.is_specific_member_access("Promise", "reject") =>
                {
                    thrown.push(call.span);
                }
                // Whatever its function calls what rejects it.
                AstKind::NewExpression(new) if new.callee.is_specific_id("Promise") => thrown.push(new.span),
                _ => {}
            }
        }
        let around = |at| thrown.iter().rfind(|span| holds(**span, at));
        let only = || if let [only] = thrown.as_slice() { Some(only) } else { None };
        at.and_then(around).or_else(only).map(|span| span.start)
    }

    fn import(&self, name: &str) -> Option<u32> {
        let names = |literal: &StringLiteral| literal.value.starts_with(name);
        let fits = |kind: AstKind| match kind {
            AstKind::ImportDeclaration(import) => names(&import.source),
            AstKind::ExportFromDeclaration(export) => names(&export.source),
            AstKind::ExportAllDeclaration(export) => names(&export.source),
            AstKind::ImportExpression(import) => match &import.source {
                Expression::StringLiteral(source) => names(source),
                _ => false,
            },
            _ => false,
        };
        let computed =
            |kind: AstKind| matches!(kind, AstKind::ImportExpression(import) if !import.source.is_literal());
        let first = |fits: &dyn Fn(AstKind<'a>) -> bool| {
            self.nodes().map(AstNode::kind).filter(|kind| fits(*kind)).map(|kind| kind.span().start).min()
        };
        first(&fits).or_else(|| first(&computed))
    }

    /// The innermost function that a place is in, but not at the beginning of.
    fn function_at(&self, at: u32) -> Option<NodeId> {
        let functions = self.nodes().filter(|node| is_function(node.kind()));
        let around = functions.filter(|node| {
            let span = node.kind().span();
            span.start < at && at < span.end
        });
        around.max_by_key(|node| node.kind().span().start).map(AstNode::id)
    }

    /// Whether a place stands for the beginning of a function. The engine names that of an arrow function with brackets one or
    /// two tokens early, and a call whose first argument is a function by the same place: the call's own, unless the function is
    /// called there.
    fn is_beginning(&self, at: u32, is_called_here: bool, function: NodeId) -> bool {
        let start = self.semantic.nodes().kind(function).span().start;
        let Some(gap) = self.code.get(at as usize..start as usize) else { return false };
        let words = gap.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        let is_near = words.filter(|word| !word.is_empty()).count() <= 1 && !gap.contains([';', ')', '}']);
        let parent = self.semantic.nodes().parent_kind(function);
        is_near && (is_called_here || !matches!(parent, AstKind::CallExpression(_)))
    }

    fn function_of(&self, node: NodeId) -> Option<NodeId> {
        let nodes = self.semantic.nodes();
        nodes.ancestors(node).find(|ancestor| is_function(ancestor.kind())).map(AstNode::id)
    }
}

fn is_function(kind: AstKind) -> bool {
    matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_))
}

fn holds(span: Span, at: u32) -> bool {
    (span.start..span.end).contains(&at)
}
