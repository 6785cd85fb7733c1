//! Looks at what functions return: is it a validator's verdict `{ valid, errors }` (aios seed,
//! Validators)?
//!
//! Every `return` of the entry point is judged by its syntax, and so is the end of its block if
//! control can reach it. Only what is certainly wrong is
//! reported: a value that comes from a call, an argument or a spread may be right, and a validator
//! that throws means "invalid", which is a verdict as well.
//!
//! ```text
//! return { valid: true, errors: [] };     Verdict
//! return true;                            Other: reported
//! return check(args);                     Unknown
//! return ok && { valid, errors };         Other for `ok`, and what is on the right
//! throw new Error("no");                  Unknown: a verdict as well
//! }                                       Other, if control can reach the end
//! ```

use std::collections::BTreeSet;

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrowFunctionBody, AssignmentOperator, Expression, FunctionBody, LogicalOperator,
    ObjectExpression, ObjectPropertyKind, Statement,
};
use oxc_semantic::NodeId;
use oxc_span::{GetSpan, Span};

use crate::parse::range;
use crate::resolve::{FunctionNode, ResolvedTree, ResolvedValue};
use crate::{MAX_LISTED, ReturnFacts};

impl ReturnFacts {
    /// Counts a value. The range of a wrong one is kept, up to [`MAX_LISTED`] of them.
    fn add(&mut self, shape: ReturnShape, at: Span) {
        self.found += 1;
        match shape {
            ReturnShape::Verdict => self.shaped += 1,
            ReturnShape::Unknown => self.unknown += 1,
            ReturnShape::Other if self.wrong.len() < MAX_LISTED => self.wrong.push(range(at)),
            ReturnShape::Other => {}
        }
    }
}

/// The judgement about one returned value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReturnShape {
    /// An object with `valid` and `errors`.
    Verdict,
    /// Certainly something else.
    Other,
    /// Only running the code could determine it.
    Unknown,
}

/// What these functions return together; `None` is a function that cannot be seen. Several
/// functions come from `module.exports` with several members.
pub(crate) fn of_functions<'a>(
    tree: &ResolvedTree<'_, 'a>,
    functions: &[Option<FunctionNode<'a>>],
) -> ReturnFacts {
    let mut returns = ReturnFacts::default();
    // Functions with a block are collected first: their `return` statements are then found in one
    // pass over the tree, however many functions there are.
    let mut blocks = BTreeSet::new();
    for function in functions {
        match function {
            // `args => value` has no `return` statement to find.
            Some(FunctionNode::Arrow(arrow)) if arrow.is_expression() => {
                arrow
                    .get_expression()
                    .into_iter()
                    .for_each(|value| add_branches(tree, value, &mut returns));
            }
            Some(function) if !function.is_generator() => {
                blocks.insert(function.node_id());
            }
            // A generator returns an iterator, and what that yields is not looked at.
            _ => returns.unknown += 1,
        }
    }
    if !blocks.is_empty() {
        add_statements(tree, &blocks, &mut returns);
    }
    // A function that can end without a `return` gives `undefined`. One without any is a case of
    // its own: it never gave a thought to its result.
    if returns.found + returns.unknown > 0 {
        for body in functions.iter().flatten().filter_map(|function| block_of(*function)) {
            if ControlFlow::of_list(&body.statements).completes {
                let brace = Span::new(body.span.end.saturating_sub(1), body.span.end);
                returns.add(ReturnShape::Other, brace);
            }
        }
    }
    if functions.len() > 1 {
        // The id of the definition's function decides which one is called, and it is not known
        // here. Values of the others must not be reported as wrong.
        returns.wrong.clear();
    }
    returns
}

/// The block of a function that is neither a generator nor an arrow with an expression.
fn block_of<'a>(function: FunctionNode<'a>) -> Option<&'a FunctionBody<'a>> {
    match function {
        FunctionNode::Plain(function) if !function.generator => function.body.as_deref(),
        FunctionNode::Arrow(arrow) => match &arrow.body {
            ArrowFunctionBody::FunctionBody(body) => Some(body),
            _ => None,
        },
        _ => None,
    }
}

/// Labels of one function that are followed. More are those of hostile code.
const MAX_LABELS: usize = 100;

/// Where control can go from the end of a statement.
#[derive(Default)]
struct ControlFlow<'a> {
    /// To what follows.
    completes: bool,
    /// Out of the innermost loop or `switch`.
    breaks: bool,
    /// To the next round of the innermost loop.
    continues: bool,
    /// Out of the statements with these labels.
    labels: Vec<&'a str>,
}

impl<'a> ControlFlow<'a> {
    fn to_next() -> ControlFlow<'a> {
        ControlFlow { completes: true, ..ControlFlow::default() }
    }

    /// Adds where a part leads besides what follows it.
    fn add_jumps(&mut self, part: &ControlFlow<'a>) {
        self.breaks |= part.breaks;
        self.continues |= part.continues;
        let new = part.labels.iter().filter(|label| !self.labels.contains(label));
        let new: Vec<&str> =
            new.take(MAX_LABELS.saturating_sub(self.labels.len())).copied().collect();
        self.labels.extend(new);
    }

    /// The flow of one part or another.
    fn or(mut self, other: &ControlFlow<'a>) -> ControlFlow<'a> {
        self.add_jumps(other);
        self.completes |= other.completes;
        self
    }

    /// That of a loop with this body, which the test may end (`ends`) unless it is always true.
    fn of_loop(body: ControlFlow<'a>, ends: bool) -> ControlFlow<'a> {
        let completes = ends || body.breaks;
        ControlFlow { completes, breaks: false, continues: false, labels: body.labels }
    }

    /// That of statements one after the other.
    fn of_list(statements: &'a [Statement<'a>]) -> ControlFlow<'a> {
        let mut flow = ControlFlow::to_next();
        for statement in statements {
            let next = ControlFlow::of(statement);
            flow.add_jumps(&next);
            if !next.completes {
                flow.completes = false;
                break;
            }
        }
        flow
    }

    /// That of one statement. Where only running the code could tell, control does not go on: calls
    /// that never return, for example.
    fn of(statement: &'a Statement<'a>) -> ControlFlow<'a> {
        match statement {
            Statement::ReturnStatement(_) | Statement::ThrowStatement(_) => ControlFlow::default(),
            Statement::BreakStatement(jump) => match &jump.label {
                Some(label) => {
                    ControlFlow { labels: vec![label.name.as_str()], ..ControlFlow::default() }
                }
                None => ControlFlow { breaks: true, ..ControlFlow::default() },
            },
            Statement::ContinueStatement(_) => {
                ControlFlow { continues: true, ..ControlFlow::default() }
            }
            Statement::BlockStatement(block) => ControlFlow::of_list(&block.body),
            Statement::IfStatement(choice) => {
                let other = choice.alternate.as_ref();
                let other = other.map_or_else(ControlFlow::to_next, ControlFlow::of);
                ControlFlow::of(&choice.consequent).or(&other)
            }
            Statement::TryStatement(attempt) => {
                let mut flow = ControlFlow::of_list(&attempt.block.body);
                if let Some(handler) = &attempt.handler {
                    flow = flow.or(&ControlFlow::of_list(&handler.body.body));
                }
                match &attempt.finalizer {
                    Some(last) => {
                        let last = ControlFlow::of_list(&last.body);
                        // What leaves the last block leaves all of it.
                        if !last.completes {
                            return last;
                        }
                        flow.add_jumps(&last);
                        flow
                    }
                    None => flow,
                }
            }
            Statement::SwitchStatement(choice) => {
                let mut flow = ControlFlow::default();
                // The end of a case is the start of the next; that of the last one is the end.
                let mut last = true;
                for case in &choice.cases {
                    let case = ControlFlow::of_list(&case.consequent);
                    flow.add_jumps(&case);
                    last = case.completes;
                }
                let has_default = choice.cases.iter().any(|case| case.test.is_none());
                flow.completes = last || !has_default || flow.breaks;
                ControlFlow { breaks: false, ..flow }
            }
            Statement::WhileStatement(repeat) => {
                let ends = constant(&repeat.test) != Some(true);
                ControlFlow::of_loop(ControlFlow::of(&repeat.body), ends)
            }
            Statement::DoWhileStatement(repeat) => {
                let body = ControlFlow::of(&repeat.body);
                let is_tested = body.completes || body.continues;
                let ends = is_tested && constant(&repeat.test) != Some(true);
                ControlFlow::of_loop(body, ends)
            }
            Statement::ForStatement(repeat) => {
                let test = repeat.test.as_ref();
                let ends = test.is_some_and(|test| constant(test) != Some(true));
                ControlFlow::of_loop(ControlFlow::of(&repeat.body), ends)
            }
            Statement::ForInStatement(repeat) => {
                ControlFlow::of_loop(ControlFlow::of(&repeat.body), true)
            }
            Statement::ForOfStatement(repeat) => {
                ControlFlow::of_loop(ControlFlow::of(&repeat.body), true)
            }
            Statement::LabeledStatement(labeled) => {
                let mut flow = ControlFlow::of(&labeled.body);
                let own = labeled.label.name.as_str();
                flow.completes |= flow.labels.contains(&own);
                flow.labels.retain(|label| *label != own);
                flow
            }
            Statement::WithStatement(inner) => ControlFlow::of(&inner.body),
            _ => ControlFlow::to_next(),
        }
    }
}

/// What a test always is, if it is written as a number or a boolean.
fn constant(test: &Expression) -> Option<bool> {
    match test {
        Expression::BooleanLiteral(literal) => Some(literal.value),
        Expression::NumericLiteral(literal) => Some(literal.value != 0.0),
        // `while ("text")`: nobody writes it, so nothing is said about it.
        other => other.is_literal().then_some(true),
    }
}

/// What an expression can evaluate to, for scripts whose value is the result itself.
pub(crate) fn of_expression<'a>(
    tree: &ResolvedTree<'_, 'a>,
    expression: &'a Expression<'a>,
) -> ReturnFacts {
    let mut returns = ReturnFacts::default();
    add_branches(tree, expression, &mut returns);
    returns
}

/// Adds the `return` and `throw` statements that belong to these functions and not to functions
/// inside of them.
///
/// One pass over all nodes, however many functions are looked at.
fn add_statements(tree: &ResolvedTree, functions: &BTreeSet<NodeId>, returns: &mut ReturnFacts) {
    // A `return` belongs to the innermost function around it.
    let is_ours =
        |node| innermost_function(tree, node).is_some_and(|function| functions.contains(&function));
    for node in tree.nodes() {
        match node.kind() {
            AstKind::ReturnStatement(statement) if is_ours(node.id()) => {
                match &statement.argument {
                    Some(argument) => add_branches(tree, argument, returns),
                    // `return;` gives `undefined`, which is not a verdict.
                    None => returns.add(ReturnShape::Other, statement.span),
                }
            }
            // A validator that throws refuses the arguments (aios seed, Validators).
            AstKind::ThrowStatement(_) if is_ours(node.id()) => returns.unknown += 1,
            _ => {}
        }
    }
}

/// The innermost function around a node.
fn innermost_function(tree: &ResolvedTree, node: NodeId) -> Option<NodeId> {
    tree.ancestors(node).find_map(|kind| match kind {
        AstKind::Function(function) => Some(function.node_id.get()),
        AstKind::ArrowFunctionExpression(arrow) => Some(arrow.node_id.get()),
        _ => None,
    })
}

/// Adds every value that an expression can evaluate to. Iterative: `a || b || c …` may be a chain
/// of 100,000 links.
fn add_branches<'a>(
    tree: &ResolvedTree<'_, 'a>,
    expression: &'a Expression<'a>,
    returns: &mut ReturnFacts,
) {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        match expression {
            Expression::ConditionalExpression(choice) => {
                pending.extend([&choice.consequent, &choice.alternate]);
            }
            // `ok && verdict` is `ok` where that is falsy, and nothing falsy is a verdict.
            Expression::LogicalExpression(logical) if logical.operator == LogicalOperator::And => {
                pending.push(&logical.right);
                if !is_truthy(&logical.left) {
                    returns.add(ReturnShape::Other, logical.left.span());
                }
            }
            Expression::LogicalExpression(logical) => {
                pending.extend([&logical.left, &logical.right])
            }
            // `(log(), verdict)`
            Expression::SequenceExpression(sequence) => pending.extend(sequence.expressions.last()),
            Expression::AssignmentExpression(assignment)
                if assignment.operator == AssignmentOperator::Assign =>
            {
                pending.push(&assignment.right);
            }
            other => returns.add(shape_of(tree, other), other.span()),
        }
    }
}

/// Whether an expression is certainly truthy.
fn is_truthy(expression: &Expression) -> bool {
    match expression {
        Expression::BooleanLiteral(literal) => literal.value,
        Expression::ObjectExpression(_)
        | Expression::ArrayExpression(_)
        | Expression::NewExpression(_) => true,
        other => other.is_function(),
    }
}

/// The shape of one value without branches. A name is followed to its declaration.
fn shape_of<'a>(tree: &ResolvedTree<'_, 'a>, expression: &'a Expression<'a>) -> ReturnShape {
    if let Expression::ObjectExpression(object) = expression {
        return shape_of_object(object);
    }
    // Before `resolve`, for which `undefined` would be a name without a declaration.
    if expression.is_undefined() {
        return ReturnShape::Other;
    }
    match tree.resolve(expression) {
        // A function instead of its result: the parentheses of a call are missing.
        ResolvedValue::Function(_) => ReturnShape::Other,
        // A variable: members may have been added since it was declared.
        ResolvedValue::Expression(Expression::ObjectExpression(object)) => {
            match shape_of_object(object) {
                ReturnShape::Verdict => ReturnShape::Verdict,
                _ => ReturnShape::Unknown,
            }
        }
        ResolvedValue::Expression(value) if is_not_object(value) => ReturnShape::Other,
        _ => ReturnShape::Unknown,
    }
}

/// The shape of an object literal: both members must be there, and neither visibly of a wrong type.
fn shape_of_object(object: &ObjectExpression) -> ReturnShape {
    // The last of several members with one name is the one that counts.
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
    // A spread or a computed key may add any member.
    let is_open = object.properties.iter().any(|member| match member {
        ObjectPropertyKind::ObjectProperty(property) => property.key.static_name().is_none(),
        ObjectPropertyKind::SpreadProperty(_) => true,
    });
    match (value("valid"), value("errors")) {
        (Some(valid), Some(errors)) if is_not_boolean(valid) || is_not_string_list(errors) => {
            ReturnShape::Other
        }
        (Some(_), Some(_)) => ReturnShape::Verdict,
        // `{ ...result, valid: true }` may have `errors` from the spread.
        _ if is_open => ReturnShape::Unknown,
        _ => ReturnShape::Other,
    }
}

/// Whether an expression is certainly not a boolean.
fn is_not_boolean(expression: &Expression) -> bool {
    let literal = expression.is_literal() && !matches!(expression, Expression::BooleanLiteral(_));
    literal || is_object_list_or_template(expression)
}

/// Whether an expression is certainly not a list of strings.
fn is_not_string_list(expression: &Expression) -> bool {
    match expression {
        // Holes and spreads are not expressions and are accepted.
        Expression::ArrayExpression(list) => list.elements.iter().any(|element| {
            element.as_expression().is_some_and(|item| {
                item.is_literal() && !item.is_string_literal()
                    || matches!(
                        item,
                        Expression::ObjectExpression(_) | Expression::ArrayExpression(_)
                    )
            })
        }),
        // `errors: "text"` is a frequent mistake: one text instead of a list of texts. Anything
        // that is not written out, such as a variable, may be a list.
        other => other.is_literal() || is_object_list_or_template(other),
    }
}

/// Whether an expression makes an object, a list or a text, whatever its parts are.
fn is_object_list_or_template(expression: &Expression) -> bool {
    matches!(
        expression,
        Expression::ObjectExpression(_)
            | Expression::ArrayExpression(_)
            | Expression::TemplateLiteral(_)
    )
}

/// Whether an expression is certainly not a plain object with members.
fn is_not_object(expression: &Expression) -> bool {
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
