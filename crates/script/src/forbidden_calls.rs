//! Finds uses of what the sandbox does not allow: `require`, `import`, and ways to files. Methods
//! that depend on a language are among them, because the sandbox knows none.
//!
//! The search looks at the tree, not at the text, so strings, comments and property names are never
//! reported, nor names that the code declares itself. A static search cannot find everything
//! (`globalThis['req' + 'uire']`), and it does not have to: the sandbox has none of these things.
//! The findings tell an author before the first run, not an attacker.

use std::collections::BTreeSet;

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, Expression, VariableDeclarator};
use oxc_semantic::{AstNode, NodeId};
use oxc_span::{GetSpan, Span};

use crate::parse::range;
use crate::resolve::{ResolvedTree, is_global_object};
use crate::{ForbiddenCall, ForbiddenKind, MAX_LISTED};

/// Members of Node's `process` that lead to files, modules or native code. The others, such as
/// `process.env`, are only free names. Example: `process.binding("fs")` gives the file system
/// without `require`.
const FORBIDDEN_PROCESS_MEMBERS: &[&str] = &[
    "_linkedBinding",
    "binding",
    "chdir",
    "dlopen",
    "getBuiltinModule",
    "loadEnvFile",
    "mainModule",
    "moduleLoadList",
    "openStdin",
    "report",
];

/// The longest excerpt of code in a finding, in characters. A forbidden call may span many lines;
/// the range marks all of it, and the message quotes its start.
const MAX_EXCERPT: usize = 60;

/// Methods whose results differ from those of engines with `Intl`.
const LOCALE_METHODS: &[&str] =
    &["localeCompare", "toLocaleDateString", "toLocaleString", "toLocaleTimeString"];

/// Methods that are right for English, the only language here: with the name of another language
/// they give another result elsewhere.
const ENGLISH_METHODS: &[&str] = &["toLocaleLowerCase", "toLocaleUpperCase"];

/// The name of a method that is called and whose result depends on the language of the user, also
/// in `text['localeCompare'](other)`.
fn locale_method(call: &CallExpression) -> Option<Span> {
    let (at, name) = call.callee.as_member_expression()?.static_property_info()?;
    let is_other_language = || match call.arguments.first().and_then(Argument::as_expression) {
        None => false,
        Some(Expression::StringLiteral(language)) => !language.value.starts_with("en"),
        Some(other) => !other.is_undefined(),
    };
    let depends =
        LOCALE_METHODS.contains(&name) || ENGLISH_METHODS.contains(&name) && is_other_language();
    depends.then_some(at)
}

/// All forbidden calls in source order, and the names that they were reached by, which need not be
/// reported again as free names.
pub(crate) fn find<'a>(tree: &ResolvedTree<'_, 'a>) -> (Vec<ForbiddenCall>, BTreeSet<&'a str>) {
    let mut search =
        ForbiddenCallSearch { tree, calls: Vec::new(), reported_names: BTreeSet::new() };
    tree.nodes().for_each(|node| search.visit(node));
    search.calls.sort_by_key(|call| call.range.start);
    // `fs.open('r', 'file:x')` is found twice, by its name and by its URL: one finding is enough.
    search.calls.dedup_by_key(|call| call.range.start);
    search.calls.truncate(MAX_LISTED);
    (search.calls, search.reported_names)
}

/// The state of one pass over the tree.
struct ForbiddenCallSearch<'c, 's, 'a> {
    tree: &'c ResolvedTree<'s, 'a>,
    calls: Vec<ForbiddenCall>,
    reported_names: BTreeSet<&'a str>,
}

impl<'a> ForbiddenCallSearch<'_, '_, 'a> {
    /// Looks at one node by itself. Chains such as `globalThis.process.binding` need no state: each
    /// member resolves its own object.
    fn visit(&mut self, node: &AstNode<'a>) {
        let span = node.kind().span();
        match node.kind() {
            // `import x from …`, `export { x } from …` and `export * from …` all load a module.
            AstKind::ImportDeclaration(_)
            | AstKind::ExportFromDeclaration(_)
            | AstKind::ExportAllDeclaration(_) => self.add(ForbiddenKind::Import, span),
            AstKind::ImportExpression(_) | AstKind::ImportMeta(_) => {
                self.add(ForbiddenKind::DynamicImport, span);
            }
            // Undeclared: a parameter or variable of the same name hides the global.
            AstKind::IdentifierReference(identifier) if self.tree.is_undeclared(identifier) => {
                let name = identifier.name.as_str();
                self.add_use(self.kind_of_global(name), node.id(), Some(name));
            }
            // `module.require`, `globalThis.require`, `process.binding`.
            AstKind::StaticMemberExpression(member) => {
                let kind = self.kind_of_member(&member.object, member.property.name.as_str());
                self.add_use(kind, node.id(), leftmost_name(&member.object));
            }
            AstKind::ComputedMemberExpression(member) => {
                // `module['require']`, but not `module[name]`, which only running it could decide.
                if let Some(property) = member.static_property_name() {
                    let kind = self.kind_of_member(&member.object, property.as_str());
                    self.add_use(kind, node.id(), leftmost_name(&member.object));
                }
            }
            AstKind::CallExpression(call) if locale_method(call).is_some() => {
                locale_method(call).into_iter().for_each(|it| self.add(ForbiddenKind::Locale, it));
            }
            AstKind::VariableDeclarator(declarator) => self.visit_destructuring(declarator),
            AstKind::CallExpression(call) if self.opens_file_url(call) => {
                self.reported_names.extend(leftmost_name(&call.callee));
                self.add(ForbiddenKind::FileAccess, span);
            }
            _ => {}
        }
    }

    /// `const { require } = module`
    fn visit_destructuring(&mut self, declarator: &VariableDeclarator<'a>) {
        let (BindingPattern::ObjectPattern(pattern), Some(init)) =
            (&declarator.id, &declarator.init)
        else {
            return;
        };
        for property in &pattern.properties {
            // The name of the member and not of the new variable: `const { require: r } = module`.
            let kind = property.key.static_name().and_then(|name| self.kind_of_member(init, &name));
            if let Some(kind) = kind {
                self.reported_names.extend(leftmost_name(init));
                self.add(kind, property.span);
            }
        }
    }

    /// What is forbidden about a global of this name; nothing if the caller provides the name.
    fn kind_of_global(&self, name: &str) -> Option<ForbiddenKind> {
        match name {
            // First, because a name that the runner lends may be one of those below.
            _ if self.tree.is_provided_by_caller(name) => None,
            "require" => Some(ForbiddenKind::Require),
            "fs" | "Deno" | "Bun" | "__dirname" | "__filename" => Some(ForbiddenKind::FileAccess),
            _ => None,
        }
    }

    /// What is forbidden about a member of an object, if the object is a known global.
    fn kind_of_member(&self, object: &Expression<'a>, property: &str) -> Option<ForbiddenKind> {
        match self.tree.global_name(object)? {
            "module" if property == "require" => Some(ForbiddenKind::Require),
            "process" if FORBIDDEN_PROCESS_MEMBERS.contains(&property) => {
                Some(ForbiddenKind::FileAccess)
            }
            // `globalThis.require` is the same as `require`.
            object if is_global_object(object) => self.kind_of_global(property),
            _ => None,
        }
    }

    /// `fetch("file:…")`, and `open("GET", "file:…")` of an `XMLHttpRequest`.
    fn opens_file_url(&self, call: &CallExpression<'a>) -> bool {
        let url = if self.tree.global_name(&call.callee) == Some("fetch") {
            call.arguments.first()
        } else {
            let member = call.callee.as_member_expression();
            member
                // The object need not be known: a URL with `file:` as the second argument says
                // enough.
                .filter(|member| member.static_property_name() == Some("open"))
                .and(call.arguments.get(1))
        };
        url.is_some_and(is_file_url)
    }

    /// Reports the use of a name or member: the whole call where it is called, else the name alone.
    /// `typeof require` is not a use.
    fn add_use(&mut self, kind: Option<ForbiddenKind>, node: NodeId, name: Option<&'a str>) {
        let Some(kind) = kind else { return };
        if self.tree.is_typeof_operand(node) {
            return;
        }
        self.reported_names.extend(name);
        // `f(require)` passes it on: there the call around it is not the finding.
        let own = self.tree.semantic.nodes().kind(node).span();
        let span = match self.tree.parent(node) {
            AstKind::CallExpression(call) if call.callee.span() == own => call.span,
            _ => own,
        };
        self.add(kind, span);
    }

    fn add(&mut self, kind: ForbiddenKind, span: Span) {
        let range = range(span);
        let what = excerpt(&self.tree.code[range.clone()]);
        self.calls.push(ForbiddenCall { kind, what, range });
    }
}

/// The name at the left end of a chain of members: `a` of `a.b?.c[0]`. `None` if the chain starts
/// with a call or another expression.
fn leftmost_name<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    let mut expression = expression;
    loop {
        expression = match expression {
            Expression::Identifier(identifier) => return Some(identifier.name.as_str()),
            Expression::ChainExpression(chain) => chain.expression.as_member_expression()?.object(),
            other => other.as_member_expression()?.object(),
        };
    }
}

/// Whether an argument is a text that starts with `file:`. The scheme of a URL is case-insensitive,
/// and leading white space is ignored (WHATWG URL standard).
fn is_file_url(argument: &Argument) -> bool {
    let text = match argument {
        Argument::StringLiteral(literal) => literal.value.as_str(),
        Argument::TemplateLiteral(template) => {
            // Only the text before the first `${…}`, which holds the scheme if it is literal.
            template.quasis.first().map_or("", |part| part.value.raw.as_str())
        }
        _ => return false,
    };
    // `get`, because the text may be shorter or have a multi-byte character there.
    text.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// The first line of the code, cut to [`MAX_EXCERPT`] characters.
fn excerpt(code: &str) -> String {
    let line = code.lines().next().unwrap_or_default();
    let mut text: String = line.chars().take(MAX_EXCERPT).collect();
    // Compared in bytes: shorter means that something was cut off, a line or the end.
    if text.len() < code.len() {
        text.push('…');
    }
    text
}
