//! The syntax tree with its names resolved: which global an expression is, which value a name
//! stands for, whether anything declares it.
//!
//! Resolution is deliberately simple. A name is followed only through declarations that are never
//! reassigned, and only [`MAX_STEPS`] times. There is no data flow: a value that was assigned
//! later, passed as an argument or computed is [`ResolvedValue::Unknown`], and every caller treats
//! unknown as "may be right".

use std::collections::BTreeSet;

use oxc_ast::AstKind;
use oxc_ast::ast::{Expression, IdentifierReference, MemberExpression, UnaryOperator};
use oxc_semantic::{AstNode, IsGlobalReference, NodeId, ReferenceId, Scoping, Semantic};

use crate::GLOBALS;

/// How many members or constants a name is followed through. Real code needs two or three; the
/// bound ends cycles (`const a = b, b = a`) and long chains.
const MAX_STEPS: usize = 8;

/// Names of the global object, in the sandbox, in Node and in browsers.
const GLOBAL_OBJECTS: &[&str] = &["globalThis", "global", "window", "self"];

/// A parsed script with its names resolved.
pub(crate) struct ResolvedTree<'s, 'a> {
    pub(crate) semantic: &'s Semantic<'a>,
    /// The text that the tree was parsed from.
    pub(crate) code: &'s str,
    /// Names that the caller adds to the globals of the sandbox.
    provided: &'s [&'s str],
    /// Names that non-strict code declares by assigning to them: `x = 1` makes a global.
    assigned: BTreeSet<&'s str>,
}

impl<'s, 'a> ResolvedTree<'s, 'a> {
    pub(crate) fn new(semantic: &'s Semantic<'a>, code: &'s str, provided: &'s [&'s str]) -> Self {
        Self {
            semantic,
            code,
            provided,
            assigned: names_declared_by_assignment(semantic.scoping()),
        }
    }

    /// All nodes of the tree. Parents come before their children.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &'s AstNode<'a>> {
        self.semantic.nodes().iter()
    }

    pub(crate) fn parent(&self, node: NodeId) -> AstKind<'a> {
        self.semantic.nodes().parent_kind(node)
    }

    /// The kinds of all nodes around a node, innermost first.
    pub(crate) fn ancestors(&self, node: NodeId) -> impl Iterator<Item = AstKind<'a>> + 's {
        self.semantic.nodes().ancestor_kinds(node)
    }

    /// Whether the caller provides this name beside the sandbox's own.
    pub(crate) fn is_provided_by_caller(&self, name: &str) -> bool {
        self.provided.contains(&name)
    }

    /// Whether the name exists before the code runs, from the sandbox or from the caller.
    pub(crate) fn is_provided(&self, name: &str) -> bool {
        self.is_provided_by_caller(name) || GLOBALS.binary_search(&name).is_ok()
    }

    /// Whether nothing in the code declares this name, so that it refers to a global.
    pub(crate) fn is_undeclared(&self, identifier: &IdentifierReference) -> bool {
        identifier.is_global_reference(self.semantic.scoping())
            && !self.assigned.contains(identifier.name.as_str())
    }

    /// Whether the node is the operand of `typeof`: that tests whether a name exists and never
    /// throws, so it is not a use.
    pub(crate) fn is_typeof_operand(&self, node: NodeId) -> bool {
        matches!(
            self.parent(node),
            AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Typeof
        )
    }

    /// The name of the global that an expression refers to: `require` for `require`,
    /// `globalThis.require` and, outside of functions, `this["require"]`.
    pub(crate) fn global_name(&self, expression: &Expression<'a>) -> Option<&'a str> {
        self.global_name_within(expression, MAX_STEPS)
    }

    /// `steps` bounds the recursion into chains such as `a.b.c`.
    fn global_name_within(&self, expression: &Expression<'a>, steps: usize) -> Option<&'a str> {
        let steps = steps.checked_sub(1)?;
        match expression {
            Expression::Identifier(identifier) => {
                self.is_undeclared(identifier).then_some(identifier.name.as_str())
            }
            Expression::ThisExpression(this) => {
                self.is_outside_of_functions(this.node_id.get()).then_some("globalThis")
            }
            Expression::ChainExpression(chain) => {
                self.property_of_global(chain.expression.as_member_expression()?, steps)
            }
            other => self.property_of_global(other.as_member_expression()?, steps),
        }
    }

    fn property_of_global(&self, member: &MemberExpression<'a>, steps: usize) -> Option<&'a str> {
        let name = member.static_property_name()?;
        let object = self.global_name_within(member.object(), steps)?;
        is_global_object(object).then_some(name)
    }

    /// Whether `this` is the global object here. Arrow functions do not count: they have no `this`
    /// of their own.
    fn is_outside_of_functions(&self, node: NodeId) -> bool {
        !self.ancestors(node).any(|kind| matches!(kind, AstKind::Function(_) | AstKind::Class(_)))
    }

    /// The value of an expression. A name is followed to its declaration if that is the only one
    /// and nothing assigns to it; every other expression is its own value.
    pub(crate) fn resolve(&self, expression: &'a Expression<'a>) -> ResolvedValue<'a> {
        let mut expression = expression;
        for _ in 0..MAX_STEPS {
            let Expression::Identifier(identifier) = expression else {
                return ResolvedValue::Expression(expression);
            };
            match self.only_declaration(identifier) {
                Some(AstKind::Function(function)) => {
                    return ResolvedValue::Function(FunctionNode::Plain(function));
                }
                Some(AstKind::VariableDeclarator(declarator))
                    if declarator.id.is_binding_identifier() =>
                {
                    match &declarator.init {
                        Some(init) => expression = init,
                        None => return ResolvedValue::Unknown,
                    }
                }
                _ => return ResolvedValue::Unknown,
            }
        }
        ResolvedValue::Unknown
    }

    /// The declaration of a name, if there is one and the value never changes.
    fn only_declaration(&self, identifier: &IdentifierReference) -> Option<AstKind<'a>> {
        let scoping = self.semantic.scoping();
        let symbol = scoping.get_reference(identifier.reference_id.get()?).symbol_id()?;
        let changes =
            scoping.symbol_is_mutated(symbol) || !scoping.symbol_redeclarations(symbol).is_empty();
        (!changes).then(|| self.semantic.symbol_declaration(symbol).kind())
    }

    /// The function that an expression evaluates to, if the code shows it.
    pub(crate) fn function(&self, expression: &'a Expression<'a>) -> Option<FunctionNode<'a>> {
        match self.resolve(expression) {
            ResolvedValue::Function(function) => Some(function),
            ResolvedValue::Expression(found) => FunctionNode::of(found),
            ResolvedValue::Unknown => None,
        }
    }
}

/// Names that have no declaration and are assigned to in non-strict code. In strict code such an
/// assignment throws.
fn names_declared_by_assignment(scoping: &Scoping) -> BTreeSet<&str> {
    let declares = |id: &ReferenceId| {
        let reference = scoping.get_reference(*id);
        let strict = scoping.scope_flags(reference.scope_id()).is_strict_mode();
        reference.is_write() && !reference.is_read() && !strict
    };
    let names = scoping.root_unresolved_references().iter();
    names.filter(|(_, ids)| ids.iter().any(declares)).map(|(name, _)| name.as_str()).collect()
}

/// Whether this global is the global object, whose members are globals.
pub(crate) fn is_global_object(name: &str) -> bool {
    GLOBAL_OBJECTS.contains(&name)
}

/// The value that an expression stands for.
pub(crate) enum ResolvedValue<'a> {
    /// A function declaration.
    Function(FunctionNode<'a>),
    /// An expression that is not a name.
    Expression(&'a Expression<'a>),
    /// Only running the code could determine it.
    Unknown,
}

/// The node of a function, in either of its two syntaxes.
#[derive(Clone, Copy)]
pub(crate) enum FunctionNode<'a> {
    /// `function`, methods included.
    Plain(&'a oxc_ast::ast::Function<'a>),
    Arrow(&'a oxc_ast::ast::ArrowFunctionExpression<'a>),
}

impl<'a> FunctionNode<'a> {
    /// The function that an expression is by its own syntax; names are not followed.
    pub(crate) fn of(expression: &'a Expression<'a>) -> Option<Self> {
        match expression {
            Expression::FunctionExpression(function) => Some(Self::Plain(function)),
            Expression::ArrowFunctionExpression(arrow) => Some(Self::Arrow(arrow)),
            _ => None,
        }
    }

    pub(crate) fn node_id(self) -> NodeId {
        match self {
            Self::Plain(function) => function.node_id.get(),
            Self::Arrow(arrow) => arrow.node_id.get(),
        }
    }

    pub(crate) fn is_async(self) -> bool {
        match self {
            Self::Plain(function) => function.r#async,
            Self::Arrow(arrow) => arrow.r#async,
        }
    }

    pub(crate) fn is_generator(self) -> bool {
        matches!(self, Self::Plain(function) if function.generator)
    }
}
