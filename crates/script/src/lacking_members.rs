//! Members of the page's objects that a tool's body uses although the façade has none of them, such
//! as `document.write`. What an element lacks cannot be seen here: only running the code tells
//! which expressions are elements.

use oxc_ast::AstKind;

use crate::facts::shorten;
use crate::page_globals::is_lacking;
use crate::parse::range;
use crate::resolve::{ResolvedTree, is_global_object};
use crate::{FreeName, MAX_LISTED, WORKER_GLOBALS};

/// The uses in source order, as `document.write`. Only globals that the caller provides count.
pub(crate) fn find(tree: &ResolvedTree<'_, '_>) -> Vec<FreeName> {
    let mut found = Vec::new();
    for node in tree.nodes() {
        let AstKind::StaticMemberExpression(member) = node.kind() else { continue };
        let name = member.property.name.as_str();
        // Also behind `window.`.
        let Some(object) = tree.global_name(&member.object) else { continue };
        let is_probed = tree.is_typeof_operand(node.id());
        let is_lacking = tree.is_provided_by_caller(object) && is_lacking(object, name);
        // Only a worker has these, under every name of the global object.
        let is_of_worker = is_global_object(object) && WORKER_GLOBALS.binary_search(&name).is_ok();
        if (is_lacking || is_of_worker) && !is_probed {
            let name = shorten(&format!("{object}.{name}"));
            found.push(FreeName { name, range: range(member.span) });
        }
    }
    found.sort_by_key(|it| it.range.start);
    found.truncate(MAX_LISTED);
    found
}

/// The global that a member of the global object is: `crypto` of `window.crypto`.
pub(crate) fn global_of_member(member: &str) -> Option<&str> {
    let (object, name) = member.split_once('.')?;
    is_global_object(object).then_some(name)
}
