//! What the sandbox does not allow, found in the tree: never in strings, comments, property names
//! or under names that the code declares itself.

use std::collections::BTreeSet;

use oxc_ast::AstKind;
use oxc_ast::ast::{Argument, BindingPattern, CallExpression, Expression, VariableDeclarator};
use oxc_semantic::{AstNode, NodeId};
use oxc_span::{GetSpan, Span};

use crate::scene::{Scene, is_global_object};
use crate::syntax::range;
use crate::{Forbidden, ForbiddenKind};

/// Members of `process` that lead to files, modules or native code.
const PROCESS_DOORS: &[&str] = &[
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

/// The longest excerpt, in characters.
const EXCERPT: usize = 60;

/// All findings in source order, and the free names that they speak for.
pub(crate) fn find<'a>(scene: &Scene<'_, 'a>) -> (Vec<Forbidden>, BTreeSet<&'a str>) {
    let mut search = Search { scene, found: Vec::new(), names: BTreeSet::new() };
    scene.nodes().for_each(|node| search.look_at(node));
    search.found.sort_by_key(|found| found.range.start);
    search.found.dedup_by_key(|found| found.range.start);
    (search.found, search.names)
}

struct Search<'c, 's, 'a> {
    scene: &'c Scene<'s, 'a>,
    found: Vec<Forbidden>,
    names: BTreeSet<&'a str>,
}

impl<'a> Search<'_, '_, 'a> {
    fn look_at(&mut self, node: &AstNode<'a>) {
        let span = node.kind().span();
        match node.kind() {
            AstKind::ImportExpression(_)
            | AstKind::ImportDeclaration(_)
            | AstKind::ExportFromDeclaration(_)
            | AstKind::ExportAllDeclaration(_) => self.add(ForbiddenKind::Import, span),
            AstKind::ImportMeta(_) => self.add(ForbiddenKind::Import, span),
            AstKind::IdentifierReference(identifier) if self.scene.is_free(identifier) => {
                let name = identifier.name.as_str();
                self.add_use(self.global(name), node.id(), Some(name));
            }
            AstKind::StaticMemberExpression(member) => {
                let property = member.property.name.as_str();
                self.add_use(
                    self.member(&member.object, property),
                    node.id(),
                    root(&member.object),
                );
            }
            AstKind::ComputedMemberExpression(member) => {
                if let Some(property) = member.static_property_name() {
                    let kind = self.member(&member.object, property.as_str());
                    self.add_use(kind, node.id(), root(&member.object));
                }
            }
            AstKind::VariableDeclarator(declarator) => self.look_at_parts(declarator),
            AstKind::CallExpression(call) if self.opens_file_url(call) => {
                self.names.extend(root(&call.callee));
                self.add(ForbiddenKind::FileAccess, span);
            }
            _ => {}
        }
    }

    /// `const { require } = module`
    fn look_at_parts(&mut self, declarator: &VariableDeclarator<'a>) {
        let (BindingPattern::ObjectPattern(pattern), Some(init)) =
            (&declarator.id, &declarator.init)
        else {
            return;
        };
        for property in &pattern.properties {
            let kind = property.key.static_name().and_then(|name| self.member(init, &name));
            if let Some(kind) = kind {
                self.names.extend(root(init));
                self.add(kind, property.span);
            }
        }
    }

    fn global(&self, name: &str) -> Option<ForbiddenKind> {
        match name {
            _ if self.scene.is_lent(name) => None,
            "require" => Some(ForbiddenKind::Require),
            "fs" | "Deno" | "Bun" | "__dirname" | "__filename" => Some(ForbiddenKind::FileAccess),
            _ => None,
        }
    }

    fn member(&self, object: &Expression<'a>, property: &str) -> Option<ForbiddenKind> {
        match self.scene.global_name(object)? {
            "module" if property == "require" => Some(ForbiddenKind::Require),
            "process" if PROCESS_DOORS.contains(&property) => Some(ForbiddenKind::FileAccess),
            object if is_global_object(object) => self.global(property),
            _ => None,
        }
    }

    /// `fetch("file:…")`, and `open("GET", "file:…")` of an `XMLHttpRequest`.
    fn opens_file_url(&self, call: &CallExpression<'a>) -> bool {
        let url = if self.scene.global_name(&call.callee) == Some("fetch") {
            call.arguments.first()
        } else {
            let member = call.callee.as_member_expression();
            member
                .filter(|member| member.static_property_name() == Some("open"))
                .and(call.arguments.get(1))
        };
        url.is_some_and(is_file_url)
    }

    fn add_use(&mut self, kind: Option<ForbiddenKind>, node: NodeId, name: Option<&'a str>) {
        let Some(kind) = kind else { return };
        if self.scene.is_probe(node) {
            return;
        }
        self.names.extend(name);
        let own = self.scene.semantic.nodes().kind(node).span();
        let span = match self.scene.parent(node) {
            AstKind::CallExpression(call) if call.callee.span() == own => call.span,
            _ => own,
        };
        self.add(kind, span);
    }

    fn add(&mut self, kind: ForbiddenKind, span: Span) {
        let range = range(span);
        let what = excerpt(&self.scene.code[range.clone()]);
        self.found.push(Forbidden { kind, what, range });
    }
}

/// The name at the left end of a chain of members, as far as such chains go.
fn root<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    let mut expression = expression;
    loop {
        expression = match expression {
            Expression::Identifier(identifier) => return Some(identifier.name.as_str()),
            Expression::ChainExpression(chain) => chain.expression.as_member_expression()?.object(),
            other => other.as_member_expression()?.object(),
        };
    }
}

fn is_file_url(argument: &Argument) -> bool {
    let text = match argument {
        Argument::StringLiteral(literal) => literal.value.as_str(),
        Argument::TemplateLiteral(template) => {
            template.quasis.first().map_or("", |part| part.value.raw.as_str())
        }
        _ => return false,
    };
    text.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

fn excerpt(code: &str) -> String {
    let line = code.lines().next().unwrap_or_default();
    let mut text: String = line.chars().take(EXCERPT).collect();
    if text.len() < code.len() {
        text.push('…');
    }
    text
}
