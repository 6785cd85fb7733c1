//! Finds how a function's code offers the function to call.
//!
//! The order is that of the sandbox (aios seed, "entry point of a function"): what `module.exports`
//! holds, then the value of the script, then the only function that is declared at the top level.
//! Of several, the caller of this crate chooses the one that is named like the id.
//! This is a prediction from the text. The sandbox decides at run time, so a form that cannot be
//! seen here (`module.exports = make()`) is taken for an entry point: checks report only code that
//! certainly has none.
//!
//! ```text
//! module.exports = { check };             Exports(["check"])
//! module.exports = make();                Exports([]): something that cannot be seen
//! (function (args) { … })                 Value
//! function check(args) { … }              Declared("check")
//! function a() {}  function b() {}        Ambiguous(["a", "b"])
//! ```

use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, AssignmentExpression, CallExpression, Expression, MemberExpression, ObjectExpression,
    ObjectPropertyKind, Statement, VariableDeclarator,
};

use crate::facts::{MAX_LISTED, MAX_TEXT, shorten};
use crate::resolve::{FunctionNode, ResolvedTree, ResolvedValue};
use crate::{EntryPoint, ReturnFacts, return_values};

/// The entry point, and what a call of it returns.
pub(crate) fn find(tree: &ResolvedTree) -> (EntryPoint, ReturnFacts) {
    // The order decides: code that exports a function and also declares others calls the export.
    from_exports(tree)
        .or_else(|| from_value(tree))
        .or_else(|| from_declaration(tree))
        .unwrap_or((EntryPoint::None, ReturnFacts::UNKNOWN))
}

/// Everything that the code puts into `module.exports`, wherever in the code it does so.
#[derive(Default)]
struct ExportedFunctions<'a> {
    /// `module.exports` is, or may be, a function itself, or holds what cannot be seen.
    whole: bool,
    /// The names of members that are, or may be, functions.
    names: Vec<String>,
    /// The functions that may be called; `None` for one that cannot be seen.
    functions: Vec<Option<FunctionNode<'a>>>,
}

/// Looks at every assignment to the exports, in whatever function or branch it stands: a module
/// often fills them inside of a wrapper or an `if (typeof module …)`.
fn from_exports(tree: &ResolvedTree) -> Option<(EntryPoint, ReturnFacts)> {
    let mut exports = ExportedFunctions::default();
    for node in tree.nodes() {
        match node.kind() {
            AstKind::AssignmentExpression(assignment) => exports.visit_assignment(tree, assignment),
            AstKind::CallExpression(call) => exports.visit_call(tree, call),
            _ => {}
        }
    }
    // The functions of all exports together: which of them is called depends on the id.
    let returns = return_values::of_functions(tree, &exports.functions);
    match exports {
        // Only data was exported, such as a version. The search goes on with the next rule.
        ExportedFunctions { whole: false, names, .. } if names.is_empty() => None,
        ExportedFunctions { whole: false, names, .. } => {
            Some((EntryPoint::Exports(names), returns))
        }
        // An empty list of names stands for "the exports themselves, or something unseen": it is
        // always accepted.
        _ => Some((EntryPoint::Exports(Vec::new()), returns)),
    }
}

impl<'a> ExportedFunctions<'a> {
    /// `module.exports = …`, `module.exports.x = …`, `exports.x = …`
    fn visit_assignment(
        &mut self,
        tree: &ResolvedTree<'_, 'a>,
        assignment: &'a AssignmentExpression<'a>,
    ) {
        let Some(target) = assignment.left.as_member_expression() else { return };
        // `exports = …` alone is not an export: it only changes a variable.
        if is_module_exports(tree, target) {
            self.add_value(tree, last_assigned(&assignment.right));
        } else if is_exports(tree, target.object()) {
            self.add_member(tree, target.static_property_name(), last_assigned(&assignment.right));
        }
    }

    /// `Object.assign(module.exports, …)`. Any call whose first argument is the exports counts:
    /// helpers such as `extend` have the same order of arguments.
    fn visit_call(&mut self, tree: &ResolvedTree<'_, 'a>, call: &'a CallExpression<'a>) {
        let target = call.arguments.first().and_then(Argument::as_expression);
        if target.is_some_and(|target| is_exports(tree, target)) && call.arguments.len() > 1 {
            call.arguments[1..].iter().for_each(|argument| match argument.as_expression() {
                Some(source) => self.add_value(tree, source),
                None => self.add_unknown(),
            });
        }
    }

    /// `value` replaces or extends the exports as a whole.
    fn add_value(&mut self, tree: &ResolvedTree<'_, 'a>, value: &'a Expression<'a>) {
        match tree.resolve(value) {
            ResolvedValue::Expression(Expression::ObjectExpression(object)) => {
                self.add_members(tree, object)
            }
            // `module.exports = 3` offers nothing to call.
            ResolvedValue::Expression(data) if is_data(data) => {}
            // A function, or something that may be one.
            _ => {
                self.whole = true;
                self.functions.push(tree.function(value));
            }
        }
    }

    /// The members of an object that is assigned to the exports.
    fn add_members(&mut self, tree: &ResolvedTree<'_, 'a>, object: &'a ObjectExpression<'a>) {
        for member in &object.properties {
            match member {
                ObjectPropertyKind::ObjectProperty(property) => {
                    self.add_member(tree, property.key.static_name().as_deref(), &property.value);
                }
                // `{ ...helpers }` may add any function.
                ObjectPropertyKind::SpreadProperty(_) => self.add_unknown(),
            }
        }
    }

    /// One member of the exports. `name` is `None` where it is computed.
    fn add_member(
        &mut self,
        tree: &ResolvedTree<'_, 'a>,
        name: Option<&str>,
        value: &'a Expression<'a>,
    ) {
        if matches!(tree.resolve(value), ResolvedValue::Expression(data) if is_data(data)) {
            return;
        }
        match name {
            // Assigned twice, for example in two branches.
            Some(name) if self.names.iter().any(|known| known == name) => {}
            Some(name) if self.names.len() < MAX_LISTED && name.len() <= MAX_TEXT => {
                self.names.push(name.to_owned())
            }
            // Too many or too long to be listed is the same as not to be seen.
            _ => self.whole = true,
        }
        self.functions.push(tree.function(value));
    }

    /// Something that cannot be seen, such as a spread: it may be a function.
    fn add_unknown(&mut self) {
        self.whole = true;
        self.functions.push(None);
    }
}

/// The last value of chained assignments: `exports = module.exports = value`.
fn last_assigned<'a>(expression: &'a Expression<'a>) -> &'a Expression<'a> {
    let mut expression = expression;
    while let Expression::AssignmentExpression(assignment) = expression {
        expression = &assignment.right;
    }
    expression
}

/// Whether an expression is the object that the exports are put into: `exports` or
/// `module.exports`.
fn is_exports<'a>(tree: &ResolvedTree<'_, 'a>, expression: &Expression<'a>) -> bool {
    tree.global_name(expression) == Some("exports")
        || expression.as_member_expression().is_some_and(|member| is_module_exports(tree, member))
}

fn is_module_exports<'a>(tree: &ResolvedTree<'_, 'a>, member: &MemberExpression<'a>) -> bool {
    member.static_property_name() == Some("exports")
        && tree.global_name(member.object()) == Some("module")
}

/// Whether an expression is certainly not a function. Used to leave out exports such as `version:
/// "1.0"`, which the sandbox does not call either.
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

/// The value of a script is that of its last statement that has one (ECMA-262, completion values).
/// Declarations have none, and directives such as `'use strict'` are not statements of the tree.
///
/// ECMA-262 counts the last statement; `undefined` and a line of logging count as no value, so that
/// the search goes on.
fn from_value(tree: &ResolvedTree) -> Option<(EntryPoint, ReturnFacts)> {
    let body = &tree.semantic.nodes().program().body;
    let last = body.iter().rev().find(|statement| !has_no_value(statement))?;
    let returns = match last {
        Statement::ExpressionStatement(statement) => value_returns(tree, &statement.expression)?,
        // Nothing is left to call after a throw, and `debugger` has no value.
        Statement::ThrowStatement(_) | Statement::DebuggerStatement(_) => return None,
        // Blocks, `if`, loops: their value is that of the last statement that ran.
        _ => ReturnFacts::UNKNOWN,
    };
    Some((EntryPoint::Value, returns))
}

/// Whether a statement leaves the value of the script as it was.
fn has_no_value(statement: &Statement) -> bool {
    matches!(statement, Statement::EmptyStatement(_))
        || statement.is_declaration()
        || statement.is_module_declaration()
}

/// What a call of the value would return, or what the value is. `None` if it is certainly
/// `undefined`, which the sandbox does not take for a result of the script.
fn value_returns<'a>(
    tree: &ResolvedTree<'_, 'a>,
    value: &'a Expression<'a>,
) -> Option<ReturnFacts> {
    if let Some(function) = tree.function(value) {
        return Some(return_values::of_functions(tree, &[Some(function)]));
    }
    match value {
        Expression::CallExpression(call) => called_returns(tree, call),
        other if is_undefined(other) => None,
        other => Some(return_values::of_expression(tree, other)),
    }
}

/// The same for a value that is itself a call, usually of a function expression.
fn called_returns<'a>(
    tree: &ResolvedTree<'_, 'a>,
    call: &'a CallExpression<'a>,
) -> Option<ReturnFacts> {
    // A script that ends with a line of logging has no value; its function is found by the next
    // rule.
    if is_console(tree, call) {
        return None;
    }
    // A call of something unseen may return anything.
    let Some(function) = invoked(tree, call) else { return Some(ReturnFacts::UNKNOWN) };
    let returns = return_values::of_functions(tree, &[Some(function)]);
    // A call without `return` is `undefined`; of an async function it is a promise.
    let is_undefined = returns.found == 0 && !function.is_async() && !function.is_generator();
    (!is_undefined).then_some(returns)
}

/// The function of an immediately invoked function expression, `.call(this)` included.
fn invoked<'a>(
    tree: &ResolvedTree<'_, 'a>,
    call: &'a CallExpression<'a>,
) -> Option<FunctionNode<'a>> {
    tree.function(&call.callee).or_else(|| {
        let member = call.callee.as_member_expression()?;
        let calls = matches!(member.static_property_name(), Some("call" | "apply"));
        calls.then(|| tree.function(member.object())).flatten()
    })
}

/// `console.log(…)` and the like, which always evaluate to `undefined`.
fn is_console<'a>(tree: &ResolvedTree<'_, 'a>, call: &CallExpression<'a>) -> bool {
    let member = call.callee.as_member_expression();
    member.is_some_and(|member| tree.global_name(member.object()) == Some("console"))
}

/// `undefined` or `void …`.
fn is_undefined(expression: &Expression) -> bool {
    expression.is_undefined() || expression.is_void()
}

/// The only function at the top level, declared or assigned to a variable. Several are ambiguous.
fn from_declaration(tree: &ResolvedTree) -> Option<(EntryPoint, ReturnFacts)> {
    let mut functions = Vec::new();
    for statement in &tree.semantic.nodes().program().body {
        match statement {
            Statement::FunctionDeclaration(function) => {
                functions.extend(
                    function.name().map(|name| (name.as_str(), FunctionNode::Plain(function))),
                );
            }
            // `let` and `var` as well: a later assignment is not considered.
            Statement::VariableDeclaration(declaration) => {
                functions.extend(declaration.declarations.iter().filter_map(named_function));
            }
            _ => {}
        }
    }
    match functions.as_slice() {
        [(name, function)] => {
            let returns = return_values::of_functions(tree, &[Some(*function)]);
            Some((EntryPoint::Declared(shorten(name)), returns))
        }
        [] => None,
        several => {
            let names = several.iter().take(MAX_LISTED).map(|(name, _)| shorten(name)).collect();
            Some((EntryPoint::Ambiguous(names), ReturnFacts::UNKNOWN))
        }
    }
}

/// `const name = function …` or `const name = () => …`
fn named_function<'a>(
    declarator: &'a VariableDeclarator<'a>,
) -> Option<(&'a str, FunctionNode<'a>)> {
    Some((
        declarator.id.get_identifier_name()?.as_str(),
        FunctionNode::of(declarator.init.as_ref()?)?,
    ))
}
