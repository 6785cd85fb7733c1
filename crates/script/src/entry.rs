//! How a function's code offers what is to be called. The order is that of the sandbox: exports,
//! then the value of the script, then the one function that is declared.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, AssignmentExpression, CallExpression, Expression, MemberExpression, ObjectExpression,
    ObjectPropertyKind, Statement, VariableDeclarator,
};

use crate::returns::Returns;
use crate::scene::{Func, Meaning, Scene};
use crate::{Entry, returns};

/// The entry point, and what it returns.
pub(crate) fn find(scene: &Scene) -> (Entry, Returns) {
    from_exports(scene)
        .or_else(|| from_value(scene))
        .or_else(|| from_declaration(scene))
        .unwrap_or((Entry::None, Returns::UNJUDGED))
}

/// What is put into `module.exports`.
#[derive(Default)]
struct Exports<'a> {
    /// `module.exports` is, or may be, a function itself, or holds what cannot be seen.
    whole: bool,
    names: Vec<String>,
    functions: Vec<Option<Func<'a>>>,
}

fn from_exports(scene: &Scene) -> Option<(Entry, Returns)> {
    let mut exports = Exports::default();
    for node in scene.nodes() {
        match node.kind() {
            AstKind::AssignmentExpression(assignment) => exports.assigned(scene, assignment),
            AstKind::CallExpression(call) => exports.merged(scene, call),
            _ => {}
        }
    }
    let returns = returns::of_functions(scene, &exports.functions);
    match exports {
        Exports { whole: false, names, .. } if names.is_empty() => None,
        Exports { whole: false, names, .. } => Some((Entry::Exports(names), returns)),
        _ => Some((Entry::Exports(Vec::new()), returns)),
    }
}

impl<'a> Exports<'a> {
    /// `module.exports = …`, `module.exports.x = …`, `exports.x = …`
    fn assigned(&mut self, scene: &Scene<'_, 'a>, assignment: &'a AssignmentExpression<'a>) {
        let Some(target) = assignment.left.as_member_expression() else { return };
        if is_module_exports(scene, target) {
            self.all(scene, end_of_chain(&assignment.right));
        } else if is_exports(scene, target.object()) {
            self.one(scene, target.static_property_name(), end_of_chain(&assignment.right));
        }
    }

    /// `Object.assign(module.exports, …)`
    fn merged(&mut self, scene: &Scene<'_, 'a>, call: &'a CallExpression<'a>) {
        let target = call.arguments.first().and_then(Argument::as_expression);
        if target.is_some_and(|target| is_exports(scene, target)) && call.arguments.len() > 1 {
            call.arguments[1..].iter().for_each(|argument| match argument.as_expression() {
                Some(source) => self.all(scene, source),
                None => self.unseen(),
            });
        }
    }

    fn all(&mut self, scene: &Scene<'_, 'a>, value: &'a Expression<'a>) {
        match scene.resolve(value) {
            Meaning::Expression(Expression::ObjectExpression(object)) => {
                self.members(scene, object)
            }
            Meaning::Expression(data) if is_data(data) => {}
            _ => {
                self.whole = true;
                self.functions.push(scene.function(value));
            }
        }
    }

    fn members(&mut self, scene: &Scene<'_, 'a>, object: &'a ObjectExpression<'a>) {
        for member in &object.properties {
            match member {
                ObjectPropertyKind::ObjectProperty(property) => {
                    self.one(scene, property.key.static_name().as_deref(), &property.value);
                }
                ObjectPropertyKind::SpreadProperty(_) => self.unseen(),
            }
        }
    }

    fn one(&mut self, scene: &Scene<'_, 'a>, name: Option<&str>, value: &'a Expression<'a>) {
        if matches!(scene.resolve(value), Meaning::Expression(data) if is_data(data)) {
            return;
        }
        match name {
            Some(name) if self.names.iter().all(|known| known != name) => {
                self.names.push(name.to_owned())
            }
            Some(_) => {}
            None => self.whole = true,
        }
        self.functions.push(scene.function(value));
    }

    fn unseen(&mut self) {
        self.whole = true;
        self.functions.push(None);
    }
}

/// `exports = module.exports = value`
fn end_of_chain<'a>(expression: &'a Expression<'a>) -> &'a Expression<'a> {
    let mut expression = expression;
    while let Expression::AssignmentExpression(assignment) = expression {
        expression = &assignment.right;
    }
    expression
}

fn is_exports<'a>(scene: &Scene<'_, 'a>, expression: &Expression<'a>) -> bool {
    scene.global_name(expression) == Some("exports")
        || expression.as_member_expression().is_some_and(|member| is_module_exports(scene, member))
}

fn is_module_exports<'a>(scene: &Scene<'_, 'a>, member: &MemberExpression<'a>) -> bool {
    member.static_property_name() == Some("exports")
        && scene.global_name(member.object()) == Some("module")
}

/// Whether it is surely no function.
fn is_data(expression: &Expression) -> bool {
    expression.is_literal()
        || matches!(
            expression,
            Expression::ArrayExpression(_)
                | Expression::ObjectExpression(_)
                | Expression::TemplateLiteral(_)
                | Expression::BinaryExpression(_)
                | Expression::UnaryExpression(_)
                | Expression::UpdateExpression(_)
        )
}

/// The value of a script is that of its last statement that has one; declarations have none, nor do
/// directives here.
fn from_value(scene: &Scene) -> Option<(Entry, Returns)> {
    let body = &scene.semantic.nodes().program().body;
    let last = body.iter().rev().find(|statement| !has_no_value(statement))?;
    let returns = match last {
        Statement::ExpressionStatement(statement) => value_returns(scene, &statement.expression)?,
        Statement::ThrowStatement(_) | Statement::DebuggerStatement(_) => return None,
        _ => Returns::UNJUDGED,
    };
    Some((Entry::Value, returns))
}

fn has_no_value(statement: &Statement) -> bool {
    matches!(statement, Statement::EmptyStatement(_))
        || statement.is_declaration()
        || statement.is_module_declaration()
}

/// What a call of the value would return, or what the value is; nothing if it is surely undefined.
fn value_returns<'a>(scene: &Scene<'_, 'a>, value: &'a Expression<'a>) -> Option<Returns> {
    if let Some(function) = scene.function(value) {
        return Some(returns::of_functions(scene, &[Some(function)]));
    }
    match value {
        Expression::CallExpression(call) => called_returns(scene, call),
        other if is_undefined(other) => None,
        other => Some(returns::of_expression(scene, other)),
    }
}

fn called_returns<'a>(scene: &Scene<'_, 'a>, call: &'a CallExpression<'a>) -> Option<Returns> {
    if is_console(scene, call) {
        return None;
    }
    let Some(function) = invoked(scene, call) else { return Some(Returns::UNJUDGED) };
    let returns = returns::of_functions(scene, &[Some(function)]);
    let is_undefined = returns.found == 0 && !function.is_async() && !function.is_generator();
    (!is_undefined).then_some(returns)
}

/// The function of an IIFE, `.call(this)` included.
fn invoked<'a>(scene: &Scene<'_, 'a>, call: &'a CallExpression<'a>) -> Option<Func<'a>> {
    scene.function(&call.callee).or_else(|| {
        let member = call.callee.as_member_expression()?;
        let calls = matches!(member.static_property_name(), Some("call" | "apply"));
        calls.then(|| scene.function(member.object())).flatten()
    })
}

fn is_console<'a>(scene: &Scene<'_, 'a>, call: &CallExpression<'a>) -> bool {
    let member = call.callee.as_member_expression();
    member.is_some_and(|member| scene.global_name(member.object()) == Some("console"))
}

fn is_undefined(expression: &Expression) -> bool {
    expression.is_undefined() || expression.is_void()
}

fn from_declaration(scene: &Scene) -> Option<(Entry, Returns)> {
    let mut functions = Vec::new();
    for statement in &scene.semantic.nodes().program().body {
        match statement {
            Statement::FunctionDeclaration(function) => {
                functions
                    .extend(function.name().map(|name| (name.as_str(), Func::Plain(function))));
            }
            Statement::VariableDeclaration(declaration) => {
                functions.extend(declaration.declarations.iter().filter_map(named_function));
            }
            _ => {}
        }
    }
    match functions.as_slice() {
        [(name, function)] => {
            let returns = returns::of_functions(scene, &[Some(*function)]);
            Some((Entry::Declared((*name).to_owned()), returns))
        }
        _ => None,
    }
}

fn named_function<'a>(declarator: &'a VariableDeclarator<'a>) -> Option<(&'a str, Func<'a>)> {
    Some((declarator.id.get_identifier_name()?.as_str(), Func::of(declarator.init.as_ref()?)?))
}
