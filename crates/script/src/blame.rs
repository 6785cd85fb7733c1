//! Where an exception came from, for an engine that tells only the last place it noted.
//!
//! It notes names, what follows the bracket of a call, the right side of operators, what is thrown
//! and the beginnings of statements, in the order of the text; not members, patterns, `this`,
//! literals, nor the call when its arguments are done. So for everything that could have thrown
//! such an error, what was noted last before it is computed from the tree, and compared with what
//! the engine says.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    AssignmentTarget, BindingPattern, Class, Expression, MethodDefinitionKind, StringLiteral,
    UnaryOperator,
};
use oxc_semantic::{AstNode, NodeId, Semantic};
use oxc_span::{GetSpan, SourceType, Span};

use crate::syntax::parse;

/// What an engine tells of an error, and what the program was given.
#[derive(Clone, Copy)]
pub struct Clue<'a> {
    /// The functions that were running, innermost first.
    pub frames: &'a [Frame<'a>],
    /// In the engine's words, or the author's.
    pub message: &'a str,
    /// The name of its class, if that is known.
    pub class: Option<&'a str>,
    /// Whether the argument of the program has something at a path that is not `null`.
    pub is_given: &'a (dyn Fn(&[String]) -> bool + Sync),
}

/// A function that was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// One of the program: the byte of what was noted last in it.
    Program(usize),
    /// One of the language: its name.
    Native(&'a str),
}

/// The byte of `code` that an error is to be blamed on; `None` if no function of the program was
/// running.
pub fn blame(code: &str, is_module: bool, clue: Clue) -> Option<usize> {
    let told = clue.frames.iter().find_map(|frame| frame.byte())?;
    let found = with_tree(code, is_module, |tree| tree.error(&clue)).flatten();
    Some(found.map_or(told, |at| at as usize))
}

/// The byte of what threw something that is no error, told in these words. `at` is what the engine
/// noted, which may be of an earlier exception.
pub fn blame_throw(code: &str, is_module: bool, at: Option<usize>, words: &str) -> Option<usize> {
    let found = with_tree(code, is_module, |tree| tree.throw(at.map(|at| at as u32), words));
    found.flatten().map(|at| at as usize)
}

/// The byte of what wanted to import this module.
pub fn blame_import(code: &str, name: &str) -> Option<usize> {
    with_tree(code, true, |tree| tree.import(name)).flatten().map(|at| at as usize)
}

/// Looks at the tree of code, if it has one and is not so long that a failure would cost more than
/// the call.
fn with_tree<T: Send>(
    code: &str,
    is_module: bool,
    look: impl FnOnce(Tree) -> T + Send,
) -> Option<T> {
    if code.len() > MAX_BYTES {
        return None;
    }
    let extent = crate::guard::measure(code).ok()?;
    let found = crate::room::with_room(extent, || {
        let allocator = Allocator::default();
        let kind = if is_module { SourceType::mjs() } else { SourceType::script() };
        let semantic = parse(&allocator, code, kind).semantic?;
        Some(look(Tree::new(&semantic, code)))
    });
    found.ok().flatten()
}

impl Frame<'_> {
    fn byte(&self) -> Option<usize> {
        match self {
            Frame::Program(byte) => Some(*byte),
            Frame::Native(_) => None,
        }
    }
}

/// What can be wrong, by the engine's own words.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wrong<'a> {
    /// A member of `undefined` or `null` was read.
    Read(&'a str),
    /// A member was set of what cannot have it.
    Set(Option<&'a str>),
    /// A pattern for objects met `undefined` or `null`, or a member of them was deleted.
    NoObject,
    /// What is no list was gone through.
    NoList,
    /// What was called is no function, or with `new` no class.
    NoFunction,
    /// A function of the language of this name threw.
    Native(&'a str),
    /// A name; the engine notes those.
    Name,
    /// Something that the author made.
    Own(Option<&'a str>),
}

impl<'a> Wrong<'a> {
    fn of(clue: &Clue<'a>) -> Wrong<'a> {
        let message = clue.message;
        let natives = clue.frames.iter().map_while(|frame| match frame {
            Frame::Native(name) => Some(*name),
            Frame::Program(_) => None,
        });
        if let Some(name) = natives.last() {
            return Wrong::Native(name);
        }
        if !matches!(clue.class, Some("TypeError" | "ReferenceError")) {
            return Wrong::Own(clue.class);
        }
        let quoted = || message.split('\'').nth(1);
        match message {
            "Cannot convert undefined or null to object" => Wrong::NoObject,
            "not a function" | "not a constructor" => Wrong::NoFunction,
            "object is not extensible" => Wrong::Set(None),
            _ if message.starts_with("cannot read property 'Symbol.iterator' of ") => Wrong::NoList,
            "value is not iterable" | "object is not iterable" => Wrong::NoList,
            _ if message.starts_with("cannot read property '") => {
                Wrong::Read(quoted().unwrap_or_default())
            }
            _ if message.starts_with("cannot set property '") => Wrong::Set(quoted()),
            _ if message.ends_with("' is read-only") => Wrong::Set(quoted()),
            _ if message.ends_with(" is not defined") => Wrong::Set(message.split(' ').next()),
            _ if message.ends_with(" is not initialized") => Wrong::Name,
            _ => Wrong::Own(clue.class),
        }
    }
}

/// Something that may have thrown.
struct Suspect {
    /// The byte up to which the engine had noted things then.
    noted_until: u32,
    /// The byte to blame.
    place: u32,
    /// Whether the name in the message is its name, not one that it may have come to.
    is_sure: bool,
}

/// One whose name is known.
fn sure(noted_until: u32, place: u32) -> Option<Suspect> {
    Some(Suspect { noted_until, place, is_sure: true })
}

struct Tree<'s, 'a> {
    semantic: &'s Semantic<'a>,
    code: &'s str,
    /// The function that each node is in, by the node's number.
    owners: Vec<Option<NodeId>>,
    classes: HashMap<&'a str, (NodeId, &'a Class<'a>)>,
}

impl<'s, 'a> Tree<'s, 'a> {
    fn new(semantic: &'s Semantic<'a>, code: &'s str) -> Tree<'s, 'a> {
        let nodes = semantic.nodes();
        let mut owners: Vec<Option<NodeId>> = Vec::with_capacity(nodes.len());
        let mut classes = HashMap::new();
        // A node comes after the one that it is part of.
        for node in nodes.iter() {
            let parent = nodes.parent_id(node.id());
            let of_parent = owners.get(parent.index()).copied().flatten();
            owners.push(if is_function(nodes.kind(parent)) { Some(parent) } else { of_parent });
            if let AstKind::Class(class) = node.kind()
                && let Some(name) = class_name(nodes.kind(parent), class)
            {
                classes.entry(name).or_insert((node.id(), class));
            }
        }
        Tree { semantic, code, owners, classes }
    }

    fn error(&self, clue: &Clue) -> Option<u32> {
        let clue = &Clue { frames: self.without_constructors(clue), ..*clue };
        let mut places = clue.frames.iter().filter_map(Frame::byte).map(|byte| byte as u32);
        let (at, caller) = (places.next()?, places.next());
        let own = self.function_at(at);
        let wrong = match Wrong::of(clue) {
            wrong @ Wrong::Native(_) => wrong,
            // An author may use the engine's words.
            _ if self.is_making(own, clue.class, at) => Wrong::Own(clue.class),
            wrong => wrong,
        };
        // An argument that is called where it is passed is told at the same place as the call.
        let is_called_here = caller == Some(at);
        let beginning = self
            .functions()
            .filter(|function| self.is_beginning(at, is_called_here, wrong, *function));
        let functions: Vec<Option<NodeId>> =
            beginning.take(NEAREST).map(Some).chain([own]).collect();
        let suspects: Vec<Vec<Suspect>> = functions
            .iter()
            .map(|function| self.suspects(*function, wrong, caller.is_none(), clue))
            .collect();
        let found = functions.iter().zip(&suspects).find_map(|(function, suspects)| {
            let noted = self.noted(*function);
            let is_it = |suspect: &&Suspect| {
                let before = noted.partition_point(|noted| *noted.end() < suspect.noted_until);
                match before.checked_sub(1) {
                    Some(last) => noted[last].contains(&at),
                    None => *function != own || self.is_start(*function, at),
                }
            };
            suspects.iter().find(is_it)
        });
        // The engine threw it, and it notes things in an order of its own now and then: if there is
        // only one, that is it.
        let only = || {
            let mut sure = suspects.iter().flatten().filter(|suspect| suspect.is_sure);
            sure.next().filter(|_| {
                sure.next().is_none() && !matches!(wrong, Wrong::Own(_) | Wrong::Native(_))
            })
        };
        Some(found.or_else(only).map_or(at, |suspect| suspect.place))
    }

    /// Whether an error of this class is made around a place.
    fn is_making(&self, function: Option<NodeId>, class: Option<&str>, at: u32) -> bool {
        let makes =
            |node: &AstNode<'a>| class.is_some() && callee(node.kind()).and_then(called) == class;
        self.within(function).any(|node| holds(node.kind().span(), at) && makes(node))
    }

    /// An error is made where its constructor is called, not in it.
    fn without_constructors<'c>(&self, clue: &Clue<'c>) -> &'c [Frame<'c>] {
        let mut frames = clue.frames;
        let made = clue.class.map(|name| self.ancestry(name)).unwrap_or_default();
        let is_class_call = clue.message == "class constructors must be invoked with 'new'";
        while let [Frame::Program(byte), rest @ ..] = frames
            && rest.iter().any(|frame| frame.byte().is_some())
            && let Some(class) = self.constructor_at(*byte as u32)
            && (made.contains(&class) || (is_class_call && frames.len() == clue.frames.len()))
        {
            frames = rest;
        }
        frames
    }

    /// A class of the program and the classes of the program that it is derived from.
    fn ancestry(&self, name: &str) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut name = name;
        while let Some((id, class)) = self.classes.get(name)
            && found.len() < GENERATIONS
        {
            found.push(*id);
            match class.heritage.as_ref().map(|heritage| &heritage.expression) {
                Some(Expression::Identifier(parent)) => name = parent.name.as_str(),
                _ => break,
            }
        }
        found
    }

    /// The class whose constructor a place is in; the engine names one that is not written by the
    /// class or its end.
    fn constructor_at(&self, at: u32) -> Option<NodeId> {
        let around = self.nodes().filter(|node| {
            let span = node.kind().span();
            span.start <= at && at <= span.end
        });
        let innermost = around.filter_map(|node| match node.kind() {
            AstKind::Class(class) => {
                let in_member = class.body.body.iter().any(|member| holds(member.span(), at));
                (!in_member).then_some((node.kind().span().start, node.id()))
            }
            AstKind::MethodDefinition(method)
                if method.kind == MethodDefinitionKind::Constructor =>
            {
                let nodes = self.semantic.nodes();
                let class = nodes
                    .ancestors(node.id())
                    .find(|node| matches!(node.kind(), AstKind::Class(_)))?;
                Some((method.span.start, class.id()))
            }
            _ => None,
        });
        innermost.max_by_key(|(start, _)| *start).map(|(_, class)| class)
    }

    fn nodes(&self) -> impl Iterator<Item = &AstNode<'a>> {
        self.semantic.nodes().iter()
    }

    fn functions(&self) -> impl Iterator<Item = NodeId> {
        self.nodes().filter(|node| is_function(node.kind())).map(AstNode::id)
    }

    /// What belongs to a function and to none within it; the program itself for `None`.
    fn within(&self, function: Option<NodeId>) -> impl Iterator<Item = &AstNode<'a>> {
        self.nodes().filter(move |node| self.function_of(node.id()) == function)
    }

    /// What the engine notes in a function, in order.
    fn noted(&self, function: Option<NodeId>) -> Vec<RangeInclusive<u32>> {
        let mut noted: Vec<u32> = self
            .within(function)
            .filter_map(|node| match node.kind() {
                AstKind::IdentifierReference(name) => {
                    let parent = self.semantic.nodes().parent_kind(node.id());
                    let is_short =
                        matches!(parent, AstKind::ObjectProperty(property) if property.shorthand);
                    (!is_short).then_some(name.span.start)
                }
                AstKind::CallExpression(call) => Some(
                    call.arguments.first().map_or(call.span.end - 1, |first| first.span().start),
                ),
                AstKind::TaggedTemplateExpression(tagged) => Some(tagged.quasi.span.start),
                AstKind::NewExpression(new) => Some(new.callee.span().start),
                AstKind::BinaryExpression(binary) => Some(binary.right.span().start),
                AstKind::ThrowStatement(throw) => Some(throw.argument.span().start),
                AstKind::ExpressionStatement(statement) => Some(statement.span.start),
                _ => None,
            })
            .collect();
        noted.sort_unstable();
        noted.into_iter().map(|at| self.column(at)..=at).collect()
    }

    /// The column that the engine has for a token: its own for names and after a blank, else that
    /// of the name before it.
    fn column(&self, at: u32) -> u32 {
        let before = &self.code.as_bytes()[..(at as usize + 1).min(self.code.len())];
        let is_part = |byte: u8| {
            byte == b'_' || byte == b'$' || !byte.is_ascii() || byte.is_ascii_alphanumeric()
        };
        let starts = |n: &usize| {
            let is_first = *n == 0 || before[n - 1].is_ascii_whitespace();
            is_first
                || (is_part(before[*n]) && !before[*n].is_ascii_digit() && !is_part(before[n - 1]))
        };
        let nearest = before.len().saturating_sub(GAP)..before.len();
        let start = nearest.rev().find(starts).unwrap_or(at as usize);
        (start as u32).saturating_sub(1)
    }

    /// What of a function may have thrown such an error, in order. `is_first` is the function that
    /// is given the arguments.
    fn suspects(
        &self,
        function: Option<NodeId>,
        wrong: Wrong,
        is_first: bool,
        clue: &Clue,
    ) -> Vec<Suspect> {
        let is_innocent = |node: &AstNode<'a>| {
            is_first
                && matches!(wrong, Wrong::NoObject | Wrong::NoList)
                && self.path(node, function).is_some_and(|path| (clue.is_given)(&path))
        };
        let nodes = self.within(function).filter(|node| !is_innocent(node));
        let mut suspects: Vec<Suspect> =
            nodes.filter_map(|node| self.suspect(node, wrong)).collect();
        // What is an argument is called before what it is an argument of.
        let order = |place: u32| if wrong == Wrong::NoFunction { u32::MAX - place } else { place };
        suspects.sort_by_key(|suspect| (!suspect.is_sure, order(suspect.place)));
        suspects
    }

    fn suspect(&self, node: &AstNode<'a>, wrong: Wrong) -> Option<Suspect> {
        let (kind, parent) = (node.kind(), self.semantic.nodes().parent_kind(node.id()));
        let span = kind.span();
        match wrong {
            Wrong::Name => None,
            Wrong::Read(name) => match kind {
                _ if is_target(parent, span) => None,
                AstKind::StaticMemberExpression(member) if member.property.name == name => {
                    sure(member.property.span.start, member.property.span.start)
                }
                AstKind::ComputedMemberExpression(member) if is_named(&member.expression, name) => {
                    let is_sure = member.expression.is_literal();
                    Some(Suspect {
                        noted_until: span.end,
                        place: member.expression.span().start,
                        is_sure,
                    })
                }
                _ => None,
            },
            Wrong::Set(name) => {
                let AstKind::AssignmentExpression(assignment) = kind else { return None };
                let is_it = |found: &str| name.is_none_or(|name| found == name);
                let place = match &assignment.left {
                    AssignmentTarget::AssignmentTargetIdentifier(target) if is_it(&target.name) => {
                        target.span.start
                    }
                    AssignmentTarget::StaticMemberExpression(target)
                        if is_it(&target.property.name) =>
                    {
                        target.property.span.start
                    }
                    AssignmentTarget::ComputedMemberExpression(target)
                        if name.is_none_or(|name| is_named(&target.expression, name)) =>
                    {
                        target.expression.span().start
                    }
                    _ => return None,
                };
                sure(span.end, place)
            }
            Wrong::NoObject => match kind {
                // What is caught is an object.
                AstKind::ObjectPattern(_) if matches!(parent, AstKind::CatchParameter(_)) => None,
                _ if is_of_literal(parent) => None,
                AstKind::ObjectPattern(_) | AstKind::ObjectAssignmentTarget(_) => {
                    sure(self.when_matched(node), span.start)
                }
                AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Delete => {
                    sure(span.end, span.start)
                }
                _ => None,
            },
            Wrong::NoList => match kind {
                _ if is_of_literal(parent) => None,
                AstKind::ArrayPattern(_) | AstKind::ArrayAssignmentTarget(_) => {
                    sure(self.when_matched(node), span.start)
                }
                AstKind::ForOfStatement(of)
                    if !matches!(of.right, Expression::ArrayExpression(_)) =>
                {
                    sure(of.right.span().end, of.right.span().start)
                }
                AstKind::SpreadElement(spread) => sure(span.end, spread.argument.span().start),
                AstKind::YieldExpression(yielded) if yielded.delegate => sure(span.end, span.start),
                _ => None,
            },
            Wrong::NoFunction => match kind {
                AstKind::CallExpression(call) if !self.is_of_language(&call.callee) => {
                    sure(span.end, name_place(&call.callee))
                }
                AstKind::TaggedTemplateExpression(tagged) => {
                    sure(span.end, name_place(&tagged.tag))
                }
                AstKind::NewExpression(new) if !self.is_of_language(&new.callee) => {
                    sure(span.end, span.start)
                }
                _ => None,
            },
            Wrong::Native(name) => match kind {
                AstKind::CallExpression(call) if called(&call.callee) == Some(name) => {
                    sure(span.end, name_place(&call.callee))
                }
                AstKind::NewExpression(new) if called(&new.callee) == Some(name) => {
                    sure(span.end, span.start)
                }
                _ => None,
            },
            Wrong::Own(class) => {
                let name = callee(kind).and_then(called)?;
                if class.map_or(is_error(name), |class| class == name) {
                    sure(span.end, span.start)
                } else {
                    None
                }
            }
        }
    }

    /// The path in the argument of a function to what a pattern meets, if it is seen.
    fn path(&self, node: &AstNode<'a>, function: Option<NodeId>) -> Option<Vec<String>> {
        if !matches!(node.kind(), AstKind::ObjectPattern(_) | AstKind::ArrayPattern(_)) {
            return None;
        }
        let params = match self.semantic.nodes().kind(function?) {
            AstKind::Function(function) => &function.params,
            AstKind::ArrowFunctionExpression(arrow) => &arrow.params,
            _ => return None,
        };
        let first = params.items.first()?;
        let span = node.kind().span();
        let mut path = Vec::new();
        for around in self.semantic.nodes().ancestor_kinds(node.id()).take(STEPS) {
            match around {
                AstKind::ObjectPattern(_) | AstKind::AssignmentPattern(_) => {}
                AstKind::BindingProperty(property) => {
                    path.push(property.key.static_name()?.into_owned())
                }
                AstKind::ArrayPattern(list) => {
                    let holds = |item: &Option<BindingPattern>| {
                        item.as_ref().is_some_and(|item| item.span().contains_inclusive(span))
                    };
                    path.push(list.elements.iter().position(holds)?.to_string());
                }
                AstKind::FormalParameter(parameter) if parameter.span == first.span => break,
                AstKind::VariableDeclarator(declarator) => {
                    let name = first.pattern.get_binding_identifier()?.name.as_str();
                    let mut value = declarator.init.as_ref()?;
                    while let Expression::StaticMemberExpression(member) = value {
                        path.push(member.property.name.to_string());
                        value = &member.object;
                    }
                    if !value.is_specific_id(name) {
                        return None;
                    }
                    break;
                }
                _ => return None,
            }
        }
        path.reverse();
        Some(path)
    }

    /// Up to where things were noted when a pattern is met: its own beginning, but the end of what
    /// a `for … of` goes through.
    fn when_matched(&self, pattern: &AstNode<'a>) -> u32 {
        let span = pattern.kind().span();
        let loops =
            self.semantic.nodes().ancestor_kinds(pattern.id()).find_map(|kind| match kind {
                AstKind::ForOfStatement(of) if of.left.span().contains_inclusive(span) => {
                    Some(of.right.span().end)
                }
                _ => None,
            });
        loops.unwrap_or(span.start)
    }

    /// Whether this is a function that the language has: `String`, `JSON.parse`, `[1].map`.
    fn is_of_language(&self, callee: &Expression<'a>) -> bool {
        let name = match callee {
            Expression::Identifier(name) => name,
            Expression::StaticMemberExpression(member) => match &member.object {
                Expression::Identifier(name) => name,
                Expression::ArrayExpression(_)
                | Expression::StringLiteral(_)
                | Expression::TemplateLiteral(_) => {
                    return METHODS.contains(&member.property.name.as_str());
                }
                _ => return false,
            },
            _ => return false,
        };
        let scoping = self.semantic.scoping();
        let is_declared = name
            .reference_id
            .get()
            .is_some_and(|id| scoping.get_reference(id).symbol_id().is_some());
        !is_declared
            && crate::GLOBALS.binary_search(&name.name.as_str()).is_ok()
            && name.name != "args"
    }

    /// The innermost function that a place is in, but not at the beginning of.
    fn function_at(&self, at: u32) -> Option<NodeId> {
        let around = self.functions().filter(|function| {
            let span = self.semantic.nodes().kind(*function).span();
            span.start < at && at < span.end
        });
        around.max_by_key(|function| self.semantic.nodes().kind(*function).span().start)
    }

    /// Whether nothing was noted in a function yet: the engine names it by its beginning.
    fn is_start(&self, function: Option<NodeId>, at: u32) -> bool {
        function.is_none_or(|function| {
            let start = self.semantic.nodes().kind(function).span().start;
            at.abs_diff(start) <= 1
        })
    }

    /// Whether a place stands for the beginning of a function. The engine names that of an arrow
    /// function with brackets one or two tokens early, others by what stands before them on the
    /// line, and a call whose first argument is a function by the same place: the call's own,
    /// unless the function is called there.
    fn is_beginning(&self, at: u32, is_called_here: bool, wrong: Wrong, function: NodeId) -> bool {
        let start = self.semantic.nodes().kind(function).span().start;
        let Some(gap) = self.code.get(at as usize..start as usize).filter(|gap| gap.len() <= GAP)
        else {
            return false;
        };
        let words = gap.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
        let words = words.filter(|word| !matches!(*word, "" | "async" | "static" | "get" | "set"));
        let is_arrow =
            matches!(self.semantic.nodes().kind(function), AstKind::ArrowFunctionExpression(_));
        // Patterns have no names that would tell them apart.
        let is_plain = is_arrow && matches!(wrong, Wrong::NoObject | Wrong::NoList);
        let most = if is_plain || gap.contains('\n') { 1 } else { 3 };
        let is_near = words.count() <= most && !gap.contains([';', ')', '}']);
        let parent = self.semantic.nodes().parent_kind(function);
        is_near && (is_called_here || !matches!(parent, AstKind::CallExpression(_)))
    }

    fn function_of(&self, node: NodeId) -> Option<NodeId> {
        self.owners[node.index()]
    }

    /// The `throw` that a place is in; if that cannot be, the only thing in the program that could
    /// be it.
    fn throw(&self, at: Option<u32>, words: &str) -> Option<u32> {
        let may_be = |value: &Expression| match value {
            Expression::NewExpression(new) => {
                !called(&new.callee).is_some_and(|name| self.is_error_class(name))
            }
            Expression::StringLiteral(text) => {
                words.contains(&format!("{:?}", text.value.as_str()))
            }
            _ => true,
        };
        let (mut thrown, mut rejected) = (Vec::new(), Vec::new());
        for node in self.nodes() {
            match node.kind() {
                AstKind::ThrowStatement(throw) if may_be(&throw.argument) => {
                    thrown.push(throw.span)
                }
                AstKind::CallExpression(call)
                    if call.callee.is_specific_member_access("Promise", "reject") =>
                {
                    rejected.push(call.span);
                }
                // Whatever its function calls what rejects it.
                AstKind::NewExpression(new) if new.callee.is_specific_id("Promise") => {
                    rejected.push(new.span)
                }
                AstKind::CallExpression(call)
                    if call.callee.is_specific_member_access("Promise", "withResolvers") =>
                {
                    rejected.push(call.span);
                }
                _ => {}
            }
        }
        let around = |at| thrown.iter().rfind(|span| holds(**span, at));
        let only = || match (thrown.as_slice(), rejected.as_slice()) {
            ([only], []) | ([], [only]) => Some(only),
            _ => None,
        };
        at.and_then(around).or_else(only).map(|span| span.start)
    }

    /// Whether a class is one of errors.
    fn is_error_class(&self, name: &str) -> bool {
        let classes = self.ancestry(name);
        match classes.last().map(|id| self.semantic.nodes().kind(*id)) {
            Some(AstKind::Class(class)) => class.heritage.is_some(),
            _ => ERRORS.contains(&name),
        }
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
        let computed = |kind: AstKind| matches!(kind, AstKind::ImportExpression(import) if !import.source.is_literal());
        let first = |fits: &dyn Fn(AstKind<'a>) -> bool| {
            self.nodes()
                .map(AstNode::kind)
                .filter(|kind| fits(*kind))
                .map(|kind| kind.span().start)
                .min()
        };
        first(&fits).or_else(|| first(&computed))
    }
}

/// Code that is longer is not read again for a failure: this takes some milliseconds.
const MAX_BYTES: usize = 128 << 10;
/// How deep a pattern is followed.
const STEPS: usize = 64;
/// How many classes are followed from the one that was thrown.
const GENERATIONS: usize = 16;
/// How far before a function or another token the engine may name it, and how many functions that
/// may be.
const GAP: usize = 256;
const NEAREST: usize = 4;

/// The errors of the language.
const ERRORS: [&str; 9] = [
    "AggregateError",
    "Error",
    "EvalError",
    "InternalError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "TypeError",
    "URIError",
];

/// What is often done with a list or a text on the spot.
const METHODS: [&str; 12] = [
    "concat", "every", "filter", "find", "flatMap", "forEach", "includes", "join", "map", "reduce",
    "some", "split",
];

/// What a class is called.
fn class_name<'a>(parent: AstKind<'a>, class: &'a Class<'a>) -> Option<&'a str> {
    match (&class.id, parent) {
        (Some(name), _) => Some(name.name.as_str()),
        (None, AstKind::VariableDeclarator(declarator)) => {
            declarator.id.get_binding_identifier().map(|name| name.name.as_str())
        }
        _ => None,
    }
}

/// Whether this looks like the name of an error.
fn is_error(name: &str) -> bool {
    ERRORS.contains(&name) || name.ends_with("Error") || name.ends_with("Exception")
}

fn is_function(kind: AstKind) -> bool {
    matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_))
}

fn holds(span: Span, at: u32) -> bool {
    (span.start..span.end).contains(&at)
}

/// Whether a pattern is met by what is written out beside it.
fn is_of_literal(parent: AstKind) -> bool {
    let AstKind::VariableDeclarator(declarator) = parent else { return false };
    matches!(
        declarator.init,
        Some(Expression::ObjectExpression(_) | Expression::ArrayExpression(_))
    )
}

/// Whether something is only written to.
fn is_target(parent: AstKind, span: Span) -> bool {
    matches!(parent, AstKind::AssignmentExpression(assignment)
        if assignment.operator.is_assign() && assignment.left.span() == span)
}

/// Whether what stands in brackets may be this name.
fn is_named(expression: &Expression, name: &str) -> bool {
    match expression {
        Expression::StringLiteral(text) => text.value == name,
        Expression::NumericLiteral(number) => number.value.to_string() == name,
        _ => true,
    }
}

/// What is called, with `new` or without.
fn callee<'a>(kind: AstKind<'a>) -> Option<&'a Expression<'a>> {
    match kind {
        AstKind::NewExpression(new) => Some(&new.callee),
        AstKind::CallExpression(call) => Some(&call.callee),
        _ => None,
    }
}

/// The name of what is called.
fn called<'e>(callee: &'e Expression) -> Option<&'e str> {
    match callee {
        Expression::Identifier(name) => Some(name.name.as_str()),
        Expression::StaticMemberExpression(member) => Some(member.property.name.as_str()),
        _ => None,
    }
}

/// Where the name of what is called stands.
fn name_place(callee: &Expression) -> u32 {
    match callee {
        Expression::StaticMemberExpression(member) => member.property.span.start,
        callee => callee.span().start,
    }
}
