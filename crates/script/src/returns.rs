//! What a function returns, as far as a validator's verdict `{ valid, errors }` is concerned.

use std::collections::BTreeSet;
use std::ops::Range;

use oxc_ast::AstKind;
use oxc_ast::ast::{AssignmentOperator, Expression, ObjectExpression, ObjectPropertyKind};
use oxc_semantic::NodeId;
use oxc_span::{GetSpan, Span};

use crate::scene::{Func, Meaning, Scene};

/// The values that the entry point can return; each branch of a `?:` or `||` counts for itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Returns {
    /// All of them, `return;` included.
    pub found: usize,
    /// Objects that have both `valid` and `errors`, neither of them visibly of another type.
    pub shaped: usize,
    /// Those that only running the code would tell, and exceptions that are thrown.
    pub unknown: usize,
    /// Where those stand that are surely something else.
    pub wrong: Vec<Range<usize>>,
}

impl Returns {
    /// Nothing was looked at.
    pub(crate) const UNJUDGED: Self = Self { found: 0, shaped: 0, unknown: 1, wrong: Vec::new() };

    /// Whether any of them is, or may be, `{ valid, errors }`. A function without `return` has
    /// none.
    pub fn can_be_verdict(&self) -> bool {
        self.shaped + self.unknown > 0
    }

    fn add(&mut self, judged: Judged, at: Span) {
        self.found += 1;
        match judged {
            Judged::Shaped => self.shaped += 1,
            Judged::Unknown => self.unknown += 1,
            Judged::Other => self.wrong.push(at.start as usize..at.end as usize),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    Shaped,
    Other,
    Unknown,
}

/// What these functions return; `None` is a function that cannot be seen.
pub(crate) fn of_functions<'a>(scene: &Scene<'_, 'a>, functions: &[Option<Func<'a>>]) -> Returns {
    let mut returns = Returns::default();
    let mut blocks = BTreeSet::new();
    for function in functions {
        match function {
            Some(Func::Arrow(arrow)) if arrow.is_expression() => {
                arrow
                    .get_expression()
                    .into_iter()
                    .for_each(|value| add_branches(scene, value, &mut returns));
            }
            Some(function) if !function.is_generator() => {
                blocks.insert(function.node_id());
            }
            _ => returns.unknown += 1,
        }
    }
    if !blocks.is_empty() {
        add_statements(scene, &blocks, &mut returns);
    }
    if functions.len() > 1 {
        // Which of them is called is not told by the code alone.
        returns.wrong.clear();
    }
    returns
}

/// What an expression can be.
pub(crate) fn of_expression<'a>(scene: &Scene<'_, 'a>, expression: &'a Expression<'a>) -> Returns {
    let mut returns = Returns::default();
    add_branches(scene, expression, &mut returns);
    returns
}

/// The `return` and `throw` statements of these functions.
fn add_statements(scene: &Scene, functions: &BTreeSet<NodeId>, returns: &mut Returns) {
    let is_ours = |node| around(scene, node).is_some_and(|function| functions.contains(&function));
    for node in scene.nodes() {
        match node.kind() {
            AstKind::ReturnStatement(statement) if is_ours(node.id()) => {
                match &statement.argument {
                    Some(argument) => add_branches(scene, argument, returns),
                    None => returns.add(Judged::Other, statement.span),
                }
            }
            // A validator that throws means invalid.
            AstKind::ThrowStatement(_) if is_ours(node.id()) => returns.unknown += 1,
            _ => {}
        }
    }
}

/// The innermost function around a node.
fn around(scene: &Scene, node: NodeId) -> Option<NodeId> {
    scene.ancestors(node).find_map(|kind| match kind {
        AstKind::Function(function) => Some(function.node_id.get()),
        AstKind::ArrowFunctionExpression(arrow) => Some(arrow.node_id.get()),
        _ => None,
    })
}

fn add_branches<'a>(scene: &Scene<'_, 'a>, expression: &'a Expression<'a>, returns: &mut Returns) {
    let mut open = vec![expression];
    while let Some(expression) = open.pop() {
        match expression {
            Expression::ConditionalExpression(choice) => {
                open.extend([&choice.consequent, &choice.alternate]);
            }
            Expression::LogicalExpression(logical) => open.extend([&logical.left, &logical.right]),
            Expression::SequenceExpression(sequence) => open.extend(sequence.expressions.last()),
            Expression::AssignmentExpression(assignment)
                if assignment.operator == AssignmentOperator::Assign =>
            {
                open.push(&assignment.right);
            }
            other => returns.add(judge(scene, other), other.span()),
        }
    }
}

fn judge<'a>(scene: &Scene<'_, 'a>, expression: &'a Expression<'a>) -> Judged {
    if let Expression::ObjectExpression(object) = expression {
        return judge_object(object);
    }
    if expression.is_undefined() {
        return Judged::Other;
    }
    match scene.resolve(expression) {
        Meaning::Function(_) => Judged::Other,
        // It may have got its members since.
        Meaning::Expression(Expression::ObjectExpression(object)) => match judge_object(object) {
            Judged::Shaped => Judged::Shaped,
            _ => Judged::Unknown,
        },
        Meaning::Expression(value) if is_no_object(value) => Judged::Other,
        _ => Judged::Unknown,
    }
}

fn judge_object(object: &ObjectExpression) -> Judged {
    let value = |name| {
        object.properties.iter().rev().find_map(|member| match member {
            ObjectPropertyKind::ObjectProperty(property)
                if property.key.is_specific_static_name(name) =>
            {
                Some(&property.value)
            }
            _ => None,
        })
    };
    let open = object.properties.iter().any(|member| match member {
        ObjectPropertyKind::ObjectProperty(property) => property.key.static_name().is_none(),
        ObjectPropertyKind::SpreadProperty(_) => true,
    });
    match (value("valid"), value("errors")) {
        (Some(valid), Some(errors)) if is_no_boolean(valid) || is_no_list_of_texts(errors) => {
            Judged::Other
        }
        (Some(_), Some(_)) => Judged::Shaped,
        _ if open => Judged::Unknown,
        _ => Judged::Other,
    }
}

fn is_no_boolean(expression: &Expression) -> bool {
    let literal = expression.is_literal() && !matches!(expression, Expression::BooleanLiteral(_));
    literal || is_made_of_others(expression)
}

fn is_no_list_of_texts(expression: &Expression) -> bool {
    match expression {
        Expression::ArrayExpression(list) => list.elements.iter().any(|element| {
            element.as_expression().is_some_and(|item| {
                item.is_literal() && !item.is_string_literal()
                    || matches!(
                        item,
                        Expression::ObjectExpression(_) | Expression::ArrayExpression(_)
                    )
            })
        }),
        other => other.is_literal() || is_made_of_others(other),
    }
}

fn is_made_of_others(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::ObjectExpression(_)
            | Expression::ArrayExpression(_)
            | Expression::TemplateLiteral(_)
    )
}

/// Whether it is surely something else than an object with members of its own.
fn is_no_object(expression: &Expression) -> bool {
    expression.is_literal()
        || expression.is_function()
        || matches!(
            expression,
            Expression::ArrayExpression(_)
                | Expression::TemplateLiteral(_)
                | Expression::BinaryExpression(_)
                | Expression::UnaryExpression(_)
                | Expression::UpdateExpression(_)
                | Expression::ClassExpression(_)
        )
}
