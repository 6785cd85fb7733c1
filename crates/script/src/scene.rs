//! What a name stands for: the questions that all findings ask the tree.

use std::collections::BTreeSet;

use oxc_ast::AstKind;
use oxc_ast::ast::{Expression, IdentifierReference, MemberExpression, UnaryOperator};
use oxc_semantic::{AstNode, IsGlobalReference, NodeId, ReferenceId, Scoping, Semantic};

use crate::GLOBALS;

/// How far a name is followed through members and constants.
const STEPS: usize = 8;

/// Names under which the global object is known, here or elsewhere.
const GLOBAL_OBJECTS: &[&str] = &["globalThis", "global", "window", "self"];

/// The tree with its names resolved.
pub(crate) struct Scene<'s, 'a> {
    pub(crate) semantic: &'s Semantic<'a>,
    pub(crate) code: &'s str,
    lent: &'s [&'s str],
    /// Names that sloppy code declares by assigning to them.
    assigned: BTreeSet<&'s str>,
}

impl<'s, 'a> Scene<'s, 'a> {
    pub(crate) fn new(semantic: &'s Semantic<'a>, code: &'s str, lent: &'s [&'s str]) -> Self {
        Self { semantic, code, lent, assigned: assigned(semantic.scoping()) }
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = &'s AstNode<'a>> {
        self.semantic.nodes().iter()
    }

    pub(crate) fn parent(&self, node: NodeId) -> AstKind<'a> {
        self.semantic.nodes().parent_kind(node)
    }

    pub(crate) fn ancestors(&self, node: NodeId) -> impl Iterator<Item = AstKind<'a>> + 's {
        self.semantic.nodes().ancestor_kinds(node)
    }

    pub(crate) fn is_lent(&self, name: &str) -> bool {
        self.lent.contains(&name)
    }

    /// Whether the sandbox has this name.
    pub(crate) fn is_known(&self, name: &str) -> bool {
        self.is_lent(name) || GLOBALS.binary_search(&name).is_ok()
    }

    /// Whether nothing in the code declares it.
    pub(crate) fn is_free(&self, identifier: &IdentifierReference) -> bool {
        identifier.is_global_reference(self.semantic.scoping())
            && !self.assigned.contains(identifier.name.as_str())
    }

    /// `typeof name` asks whether there is such a name; it does not use it.
    pub(crate) fn is_probe(&self, node: NodeId) -> bool {
        matches!(self.parent(node), AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Typeof)
    }

    /// The name of the global that an expression is: `require`, `globalThis.require`,
    /// `this["require"]`.
    pub(crate) fn global_name(&self, expression: &Expression<'a>) -> Option<&'a str> {
        self.global_name_within(expression, STEPS)
    }

    fn global_name_within(&self, expression: &Expression<'a>, steps: usize) -> Option<&'a str> {
        let steps = steps.checked_sub(1)?;
        match expression {
            Expression::Identifier(identifier) => {
                self.is_free(identifier).then_some(identifier.name.as_str())
            }
            Expression::ThisExpression(this) => {
                self.is_top(this.node_id.get()).then_some("globalThis")
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

    /// Whether `this` is here what it is outside of all functions.
    fn is_top(&self, node: NodeId) -> bool {
        !self.ancestors(node).any(|kind| matches!(kind, AstKind::Function(_) | AstKind::Class(_)))
    }

    /// What an expression is, when it is a name for something that is declared once and never
    /// changed.
    pub(crate) fn resolve(&self, expression: &'a Expression<'a>) -> Meaning<'a> {
        let mut expression = expression;
        for _ in 0..STEPS {
            let Expression::Identifier(identifier) = expression else {
                return Meaning::Expression(expression);
            };
            match self.declared(identifier) {
                Some(AstKind::Function(function)) => {
                    return Meaning::Function(Func::Plain(function));
                }
                Some(AstKind::VariableDeclarator(declarator))
                    if declarator.id.is_binding_identifier() =>
                {
                    match &declarator.init {
                        Some(init) => expression = init,
                        None => return Meaning::Unknown,
                    }
                }
                _ => return Meaning::Unknown,
            }
        }
        Meaning::Unknown
    }

    fn declared(&self, identifier: &IdentifierReference) -> Option<AstKind<'a>> {
        let scoping = self.semantic.scoping();
        let symbol = scoping.get_reference(identifier.reference_id.get()?).symbol_id()?;
        let changes =
            scoping.symbol_is_mutated(symbol) || !scoping.symbol_redeclarations(symbol).is_empty();
        (!changes).then(|| self.semantic.symbol_declaration(symbol).kind())
    }

    /// The function that an expression is, if that can be seen.
    pub(crate) fn function(&self, expression: &'a Expression<'a>) -> Option<Func<'a>> {
        match self.resolve(expression) {
            Meaning::Function(function) => Some(function),
            Meaning::Expression(found) => Func::of(found),
            Meaning::Unknown => None,
        }
    }
}

fn assigned(scoping: &Scoping) -> BTreeSet<&str> {
    let declares = |id: &ReferenceId| {
        let reference = scoping.get_reference(*id);
        let strict = scoping.scope_flags(reference.scope_id()).is_strict_mode();
        reference.is_write() && !reference.is_read() && !strict
    };
    let names = scoping.root_unresolved_references().iter();
    names.filter(|(_, ids)| ids.iter().any(declares)).map(|(name, _)| name.as_str()).collect()
}

/// Whether members of this global are globals themselves.
pub(crate) fn is_global_object(name: &str) -> bool {
    GLOBAL_OBJECTS.contains(&name)
}

/// What a name turned out to be.
pub(crate) enum Meaning<'a> {
    Function(Func<'a>),
    Expression(&'a Expression<'a>),
    Unknown,
}

/// A function, however it is written.
#[derive(Clone, Copy)]
pub(crate) enum Func<'a> {
    Plain(&'a oxc_ast::ast::Function<'a>),
    Arrow(&'a oxc_ast::ast::ArrowFunctionExpression<'a>),
}

impl<'a> Func<'a> {
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
